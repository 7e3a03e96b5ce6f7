#!/usr/bin/env bash
# MoorDyn 2.7.2 (MoorDyn-C): the static solve at the start ends where its residual stops changing, not where it is small.
# A free point that is drawn on a slack line falls with a constant acceleration: the residual does not change from the
# first step to the second, and the solve ends there, however small threshIC is, with half of g left. Its log has a line
# "Remaining error after 2 s = 4.905 m/s2", no warning, and the run goes on from there.
#
# A mass of 1000 kg (no volume, in air) on a line of 10 m, EA = 1e6 N, below a fixed point at z = -10, drawn at
# z = -19. At rest it hangs at -20 - 10 * 9810/1e6 = -20.0981. Where Init puts it, seen with moordyn 2.7.2, Python 3.11:
#   0 TmaxIC                       -19.0000   (as drawn)
#   600 TmaxIC, 1e-3 threshIC      -19.4181
#   600 TmaxIC, 1e-14 threshIC     -19.4181
#   60 TmaxIC, 0 threshIC          -20.0981
#
# Who trusts the start, or makes threshIC smaller to be safe, begins with a fall: only 0 lets the solve take all its steps.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet moordyn==2.7.2
cat > "$work/hang.py" <<'PY'
import sys
from pathlib import Path

import moordyn

TEXT = """A mass on a line
--- LINE TYPES ---
TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
line 1e-4 1e-3 1e6 1e4 0 0.0 0.0 0.0 0.0
--- POINTS ---
ID Type X Y Z Mass Volume CdA CA
(#) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed 0 0 -10 0 0 0 0
2 Free 0 0 -19 1000 0 0 0
--- LINES ---
ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs
(#) (name) (#) (#) (m) (-) (-)
1 line 1 2 10 1 -
--- OPTIONS ---
1e-3 dtM
9.81 g
0 WtrDnsty
50 WtrDpth
{options}
--- OUTPUTS ---
FairTen1
--- END ---
"""
for number, options in enumerate(("0 TmaxIC", "600 TmaxIC, 1e-3 threshIC", "600 TmaxIC, 1e-14 threshIC",
                                  "60 TmaxIC, 0 threshIC")):
    Path(f"hang{number}.txt").write_text(TEXT.format(options=options.replace(", ", "\n")))
    system = moordyn.Create(f"hang{number}.txt")
    moordyn.Init(system, [], [])
    z = moordyn.GetLineNodePos(moordyn.GetLine(system, 1), 1)[2]
    moordyn.Close(system)
    print(f"seen: {options}: z = {z:.4f}", file=sys.stderr)
PY
(cd "$work" && ./venv/bin/python hang.py 2> seen > /dev/null) || { cat "$work/seen"; exit 1; }
grep "^seen" "$work/seen" > "$work/lines"
cat "$work/lines"
diff "$work/lines" - <<'SEEN'
seen: 0 TmaxIC: z = -19.0000
seen: 600 TmaxIC, 1e-3 threshIC: z = -19.4181
seen: 600 TmaxIC, 1e-14 threshIC: z = -19.4181
seen: 60 TmaxIC, 0 threshIC: z = -20.0981
SEEN
echo "as described"
