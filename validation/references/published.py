"""Published targets of the smaller cases, with their origin."""

from __future__ import annotations

# SSNL114A: heavy cable, heated. Code_Aster astest/ssnl114a.comm, tolerance 1e-3. The cold value is that of a continuous
# catenary (-6.35216), the hot one that of about 20 bars (the catenary has -8.19265): see catenary.py and chain.py.
SSNL114A_COLD = -6.352
SSNL114A_HOT = -8.1955
SSNL114A_TOLERANCE = 1e-3
# The same with exactly 20 GREEN bars: an independent calculation, 7 digits (confirmed by shooting).
SSNL114A_COLD_20_BARS = -6.354236
SSNL114A_HOT_20_BARS = -8.195538

# SSNL105A: tension-only bracing. Code_Aster astest/ssnl105a.comm.
SSNL105A_FORCES = {"01-03": 1414.2, "03-04": -1000.0, "01-02": 0.0, "02-03": 0.0, "04-01": 0.0, "04-02": 0.0}
SSNL105A_RELATIVE = 3e-4
SSNL105A_ABSOLUTE = 1e-3

# SDLL135E: axial wave in a pipe. Code_Aster astest/sdll135e.comm. (time, end displacement along X and Y
# of a bar at 45 degrees; the same number along the bar when the force along it is 1/sqrt(2) instead of 1)
SDLL135E_DISPLACEMENT = ((1e-4, 1.83475279002e-10), (1.5e-4, 2.75212918502e-10), (2e-4, 3.66950558002e-10))
SDLL135E_TOLERANCE = 1e-3

# SDNL138: modes of a prestressed cable. Code_Aster astest/sdnl138a.comm. tension [N] -> computed by
# Code_Aster with 15 bars (printed to 6 digits there, recomputed to 7), Hz
SDNL138_MODES = {6171.050459855: 62.96259, 12345.2954376: 89.05408}
SDNL138_TOLERANCE = 5e-3

# SSNL118A: a bar on four springs in a gust of wind. Code_Aster astest/ssnl118a.comm, its 12 references, which a bar
# that keeps its length meets to 6e-8. time -> displacement of node 1 along x, y, of node 2 along x, y
SSNL118A = {
    1.0: (-0.209175093, 0.3276320833, -0.1418188594, 0.1964749538),
    2.0: (-0.2885084311, 0.5049895661, -0.1941954279, 0.3104827444),
    3.0: (-0.3501852941, 0.6890068255, -0.2327077743, 0.432447259),
}
