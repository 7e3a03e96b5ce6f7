#!/usr/bin/env bash
# MoorDyn 2.7.2 (MoorDyn-C): a table of tension over strain (a file in place of EA) that ends with a line end, as editors
# and most programs write text, is refused: "Bad curve point '', 2 fields required, but just 0 are provided". Its first
# two lines are headings whatever stands there: a table with one heading loses its first point (0, 0) without a word.
#
# A rope of 100 m without weight between two fixed points 102 m apart, one segment; points of the table (0, 0),
# (0.01, 100 kN), (0.03, 900 kN), (0.05, 2500 kN). At the strain 0.02 the tension is 500 kN. Seen with moordyn 2.7.2,
# Python 3.11:
#   headings   last line without a line end   with a line end
#   2          500.0 kN                       refused
#   1          900.0 kN, no message           refused
#
# Who writes such tables has to leave out the last line end, and to count headings.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet moordyn==2.7.2
cat > "$work/table.py" <<'PY'
import sys
from pathlib import Path

import moordyn

TEXT = """A rope with a table of tension over strain
---------------------- LINE TYPES ---------------------
TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
rope 0.1 40 rope.dat 1e5 0.0 0.0 0.0 0.0 0.0
---------------------- POINTS ---------------------
ID Type X Y Z Mass Volume CdA CA
(#) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed 0.0 0 -5.0 0 0 0 0
2 Fixed 102.0 0 -5.0 0 0 0 0
---------------------- LINES ---------------------
ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs
(#) (name) (#) (#) (m) (-) (-)
1 rope 1 2 100.0 1 -
---------------------- OPTIONS ---------------------
0 g
70 WtrDpth
0 TmaxIC
---------------------- END ---------------------
"""
POINTS = "0 0\n0.01 1e5\n0.03 9e5\n0.05 25e5"
HEADINGS = "Strain Tension\n", "(-) (N)\n"


def tension(headings, end):
    """In kN; None: the file is refused."""
    Path("rope.dat").write_text("".join(HEADINGS[:headings]) + POINTS + end)
    Path("rope.txt").write_text(TEXT)
    try:
        system = moordyn.Create("rope.txt")
    except RuntimeError:
        return None
    moordyn.Init(system, [], [])
    moordyn.Step(system, [], [], 0.0, 0.1)
    found = moordyn.GetLineFairTen(moordyn.GetLine(system, 1))
    moordyn.Close(system)
    return round(found / 1000.0, 3)


for headings in (2, 1):
    print(headings, tension(headings, ""), tension(headings, "\n"), file=sys.stderr)
PY
(cd "$work" && ./venv/bin/python table.py 2> seen > /dev/null) || { cat "$work/seen"; exit 1; }
grep -E '^[12] ' "$work/seen" > "$work/lines"
cat "$work/lines"
diff "$work/lines" - <<'SEEN'
2 500.0 None
1 900.0 None
SEEN
echo "as described"
