"""The three lines of VolturnUS-S for an hour: tensions by CableDyn 0.3.0 (``benchmarks/peer_platform.py`` made them).

At 50 bars a line, increments of 0.1 s, its generalised-alpha scheme with rho = 0.4 and a residual of 1e-8.
"""

from __future__ import annotations

SECONDS, SETTLED = 3600.0, 360.0
"""Duration, and what is left out at its start."""
FORCES = {
    "largest": (2861532.692548434, 2719464.4854893205),
    "least": (2060862.9541359022, 2171302.443373102),
    "mean": (2445002.0054775546, 2436713.5440783957),
}
"""At the fairlead of the line towards -x, and of each of the two others [N]."""
