#!/usr/bin/env bash
# meshio 5.3.5 reads bulk data of Nastran without a word about what it leaves out: of a CROD and a CONROD between the
# same kinds of points (both two-node rods; CONROD has its area in its own card) only the CROD is there, and of GRID
# whose coordinates are given in a cylindrical system (field CP, here CORD2C 7) the numbers are taken as x, y, z.
#
# Seen with meshio 5.3.5, numpy 2.3.5, Python 3.11:
#   cells: [('line', 1)]
#   point 3: [2.0, 90.0, 0.0]      (r = 2, theta = 90 degrees: it lies at 0, 2, 0)
#
# Who turns such files into models of rods by meshio loses members, and misplaces nodes, without an error.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet meshio==5.3.5 numpy==2.3.5
cat > "$work/truss.bdf" <<'BDF'
BEGIN BULK
CORD2C  7       0       0.0     0.0     0.0     0.0     0.0     1.0
        1.0     0.0     0.0
GRID    1               0.0     0.0     0.0
GRID    2               1.0     0.0     0.0
GRID    3       7       2.0     90.0    0.0
CROD    1       1       1       2
CONROD  2       2       3       1       1.0E-4
PROD    1       1       1.0E-4
MAT1    1       2.1E11          0.3     7850.0
ENDDATA
BDF
"$work/venv/bin/python" - "$work/truss.bdf" > "$work/seen" <<'PY'
import sys
import meshio

mesh = meshio.read(sys.argv[1], "nastran")
print("cells:", [(block.type, len(block.data)) for block in mesh.cells])
print("point 3:", mesh.points[2].tolist())
PY
cat "$work/seen"
diff "$work/seen" - <<'SEEN'
cells: [('line', 1)]
point 3: [2.0, 90.0, 0.0]
SEEN
echo "as described"
