"""One bar pulled along its axis: force against stretch in the three strain measures, and back.

With stretch r = l/L0, f = F/(E A), F the force along the bar and e_0 a strain without stress (heating):
  GREEN        e = (r^2 - 1)/2,  F = N r                       f = r ((r^2 - 1)/2 - e_0)
  ENGINEERING  e = r - 1,        F = N                         f = r - 1 - e_0
  LOG          e = ln r,         area A/r (constant volume)    f = (ln r - e_0)/r
Source: Crisfield, Non-linear Finite Element Analysis, vol. 1, ch. 3. Unheated, the GREEN bar has a limit point at
r = 1/sqrt(3), the LOG bar at r = e; the branch through r = 1 is returned.
"""

from __future__ import annotations

import numpy as np
from scipy.special import lambertw

MEASURES = ("GREEN", "ENGINEERING", "LOG")


def strain(measure: str, stretch: float) -> float:
    """The strain e of a stretch."""
    r = stretch
    return {"GREEN": (r * r - 1) / 2, "ENGINEERING": r - 1, "LOG": float(np.log(r))}[measure]


def force(measure: str, stretch: float, free_strain: float = 0.0) -> float:
    """f = F/(E A) at a given stretch."""
    lever = {"GREEN": stretch, "ENGINEERING": 1.0, "LOG": 1 / stretch}[measure]
    return lever * (strain(measure, stretch) - free_strain)


def stretch(measure: str, f: float, free_strain: float = 0.0) -> float:
    """The stretch that carries f = F/(E A); ValueError past the limit point."""
    if measure == "ENGINEERING":
        return 1 + free_strain + f
    if measure == "LOG":  # ln r = e_0 + f r  <=>  (-f r) exp(-f r) = -f exp(e_0)
        argument = -f * np.exp(free_strain)
        if argument < -np.exp(-1):
            raise ValueError("a LOG bar carries at most E A / e")
        return float(np.exp(free_strain - lambertw(argument).real))
    # r^3 - p r - 2 f = 0, the largest root: Viete's cosine, or cosh where it is the only one; one Newton step polishes.
    p = 1 + 2 * free_strain
    c = f * np.sqrt(27 / p**3)
    if c < -1:
        raise ValueError("a GREEN bar carries at most E A / sqrt(27) in compression")
    r = 2 * np.sqrt(p / 3) * (np.cos(np.arccos(c) / 3) if c <= 1 else np.cosh(np.arccosh(c) / 3))
    slope = 3 * r * r - p
    return float(r - (r**3 - p * r - 2 * f) / slope) if slope > 1e-6 else float(r)
