#!/usr/bin/env bash
# MoorDyn 2.7.2 (MoorDyn-C): FrictionCoefficient alone gives next to no friction on the bottom. What acts is a damper of
# FricDamp (default 200 N s/m a node); Coulomb's force mu W only limits it. At the speeds of moorings the limit is never
# reached: a chain that lies on the bottom is pulled along itself with a force in proportion to its speed.
#
# 100 m of chain on the bottom, mu = 0.5, mu W L = 45.1 kN, pulled at one end, the other end free. Tension at the pulled
# end after 20 s, seen with moordyn 2.7.2, Python 3.11:
#   speed m/s   FricDamp as it is   FricDamp 1e5
#   0.01        20 N                9.9 kN
#   0.1         200 N               43.9 kN
#   1           1999 N              43.9 kN
#
# Who gives a coefficient of friction and nothing else holds no anchor load back; FricDamp has to be raised until the
# answer no longer depends on it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet moordyn==2.7.2
cat > "$work/pull.py" <<'PY'
import sys
from pathlib import Path

import moordyn

TEXT = """A chain on the bottom
--- LINE TYPES ---
TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
chain 0.1 100 1e7 -0.8 0 0.0 0.0 0.0 0.0
--- POINTS ---
ID Type X Y Z Mass Volume CdA CA
(#) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Free 0 0 -50 0 0 0 0
2 Coupled 100 0 -50 0 0 0 0
--- LINES ---
ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs
(#) (name) (#) (#) (m) (-) (-)
1 chain 1 2 100 20 -
--- OPTIONS ---
1e-4 dtM
3e6 kBot
3e5 cBot
50 WtrDpth
0 TmaxIC
0.5 FrictionCoefficient
{more}
--- OUTPUTS ---
FairTen1
--- END ---
"""


def tension(speed, more=""):
    Path("pull.txt").write_text(TEXT.format(more=more))
    system = moordyn.Create("pull.txt")
    moordyn.Init(system, [100.0, 0.0, -50.0], [0.0, 0.0, 0.0])
    line, dt, found = moordyn.GetLine(system, 1), 0.05, []
    for k in range(400):
        moordyn.Step(system, [100.0 + speed * k * dt, 0.0, -50.0], [speed, 0.0, 0.0], k * dt, dt)
        found.append(moordyn.GetLineFairTen(line))
    moordyn.Close(system)
    return sum(found[-100:]) / 100


for speed in (0.01, 0.1, 1.0):
    plain, stiff = tension(speed), tension(speed, "1e5 FricDamp")
    print(f"{speed:g} m/s: {plain:.0f} N, with FricDamp 1e5 {stiff / 1000.0:.1f} kN", file=sys.stderr)
PY
(cd "$work" && ./venv/bin/python pull.py 2> seen > /dev/null) || { cat "$work/seen"; exit 1; }
grep "m/s" "$work/seen" > "$work/lines"
cat "$work/lines"
diff "$work/lines" - <<'SEEN'
0.01 m/s: 20 N, with FricDamp 1e5 9.9 kN
0.1 m/s: 200 N, with FricDamp 1e5 43.9 kN
1 m/s: 1999 N, with FricDamp 1e5 43.9 kN
SEEN
echo "as described"
