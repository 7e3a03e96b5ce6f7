"""The four chains of ``inputs/moored_vessel.inp``: tensions by CableDyn 0.3.0 (made by ``benchmarks/peer_vessel.py``).

At 40 bars a line, its generalised-alpha scheme with rho = 0.4 and a residual of 1e-8, with the motion of the fairleads
and the regular waves of the sea in files.
"""

from __future__ import annotations

SECONDS, DT, SETTLED, BARS = 200.0, 0.1, 60.0, 40
"""Duration, increment, what is left out at its start (the ramp of the waves), bars of a line."""
FORCES: dict[str, tuple[float, ...]] = {
    "largest": (658493.26, 520345.09, 396444.81, 477319.44),
    "least": (454672.21, 427641.42, 328337.95, 358666.94),
    "mean": (556457.6124714285, 469472.1546999987, 361986.8679428572, 417561.3081500002),
}
"""At the four fairleads, in the order of the lines [N]."""
