#!/usr/bin/env bash
# MoorPy 1.3.0: catenary() takes a line whose ends are one above the other (XF/ZF < 1e-4) for a taut pendulum: the
# horizontal stiffness of its upper end is VF/ZF, also where the line is longer than the distance and hangs in a loop
# below its lower end. Such a loop has next to no horizontal stiffness: 27 times less.
#
# A hose of 25 m, 100 N/m, EA = 1e9 N, from a point to another one 20 m above it and X beside it, no seabed in reach.
# Closed form (inextensible): H = w X/(2 q) with sinh(q)/q = sqrt(L^2 - Z^2)/X; its derivative by differences.
# Force along x and horizontal stiffness, seen with moorpy 1.3.0, numpy 2.3.5, scipy 1.16.3, Python 3.11:
#   X, m     MoorPy H    closed form    MoorPy K    closed form
#   0.001    0.0000      0.0039         112.50      4.21
#   0.01     0.0483      0.0483         5.35        5.35
#   0.1      0.6450      0.6450         7.41        7.41
#
# Hoses and droopers are drawn with one end above the other. Who takes modes or offsets of a buoy from the stiffness that
# MoorPy gives there has a horizontal spring in them that does not exist, and that is gone a centimetre beside it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet moorpy==1.3.0 numpy==2.3.5 scipy==1.16.3
cat > "$work/hose.py" <<'PY'
from math import sinh, sqrt

from moorpy.Catenary import catenary
from scipy.optimize import brentq

LENGTH, HEIGHT, WEIGHT = 25.0, 20.0, 100.0


def closed_form(x):
    q = brentq(lambda q: sinh(q) / q - sqrt(LENGTH**2 - HEIGHT**2) / x, 1e-6, 60.0, xtol=1e-14)
    return WEIGHT * x / (2.0 * q)


for x in (0.001, 0.01, 0.1):
    _, _, force, _, found = catenary(x, HEIGHT, LENGTH, 1e9, WEIGHT, CB=-1000.0)
    slope = (closed_form(1.001 * x) - closed_form(0.999 * x)) / (0.002 * x)
    print(f"X {x}: H {abs(force):.4f} {closed_form(x):.4f} K {found['stiffnessB'][0, 0]:.2f} {slope:.2f}")
PY
"$work/venv/bin/python" "$work/hose.py" > "$work/seen"
cat "$work/seen"
diff "$work/seen" - <<'SEEN'
X 0.001: H 0.0000 0.0039 K 112.50 4.21
X 0.01: H 0.0483 0.0483 K 5.35 5.35
X 0.1: H 0.6450 0.6450 K 7.41 7.41
SEEN
echo "as described"
