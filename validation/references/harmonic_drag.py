"""A mass on a spring with quadratic drag, driven harmonically: its first harmonic in closed form.

Over a cycle |v| v of v = V cos(w t) has the first harmonic 8/(3 pi) V^2: with u the amplitude and r = |u|^2,

    (k - m w^2 + i c w^2 |u|) u = F,   c = 8 d/(3 pi),   r ((k - m w^2)^2 + c^2 w^4 r) = F^2

a quadratic in r. Source: Krylov & Bogoliubov (1937); Nayfeh & Mook, Nonlinear Oscillations (1979), section 3.3.
"""

from __future__ import annotations

import math


def response(omega: float, stiffness: float, mass: float, drag: float, force: float) -> complex:
    """Complex amplitude of the displacement; ``drag``: force over the square of the speed."""
    free, brake = stiffness - mass * omega**2, 8.0 * drag / (3.0 * math.pi) * omega**2
    half = 0.5 * free**2
    square = force**2 / (half + math.sqrt(half**2 + (brake * force) ** 2))
    return force / (free + 1j * brake * math.sqrt(square))
