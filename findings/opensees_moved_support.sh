#!/usr/bin/env bash
# OpenSeesPy 3.7.1.2: a support that is moved by sp in a pattern (timeSeries Path, constraints Transformation) has the
# place that is prescribed and the velocity 0, all the time. Whatever depends on velocities beside it, a dashpot or the
# eta of a uniaxialMaterial, takes the support for at rest.
#
# A mass of 1 behind a dashpot of 5 whose other end is moved at a speed of 0.5, from rest, with the trapezoidal rule
# and dt = 0.01. At t = 1 the end has moved by 0.5, and the mass by (1 - (1 - exp(-5))/5)/2 = 0.4007.
# Seen with openseespy 3.7.1.2 (it says 3.7.1), Python 3.11, Debian 12 (needs libblas.so.3 and liblapack.so.3); 3.8.0.0
# with Python 3.12 does the same:
#                              end moved by   its velocity   mass moved by
#   sp alone                   0.5000         0.0000         0.0000
#   with setNodeVel of 0.5     0.5000         0.5000         0.4007
#
# Who shakes a damped structure at its supports by prescribed displacements gets another damping: relative to the ground
# as it would be at rest. Nothing is said; the velocity has to be set by setNodeVel beside the displacement.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet openseespy==3.7.1.2
cat > "$work/pull.py" <<'PY'
import openseespy.opensees as ops


def pull(set_velocity):
    ops.wipe()
    ops.model("basic", "-ndm", 1, "-ndf", 1)
    ops.node(1, 0.0)
    ops.node(2, 1.0)
    ops.uniaxialMaterial("Elastic", 1, 1e-9, 5.0)
    ops.element("Truss", 1, 1, 2, 1.0, 1)
    ops.mass(2, 1.0)
    ops.timeSeries("Path", 1, "-time", 0.0, 10.0, "-values", 0.0, 5.0)
    ops.pattern("Plain", 1, 1)
    ops.sp(1, 1, 1.0)
    if set_velocity:
        ops.setNodeVel(1, 1, 0.5, "-commit")
        ops.setNodeAccel(2, 1, 2.5, "-commit")
    ops.constraints("Transformation")
    ops.numberer("Plain")
    ops.system("FullGeneral")
    ops.test("NormUnbalance", 1e-11, 20)
    ops.algorithm("Newton")
    ops.integrator("Newmark", 0.5, 0.25)
    ops.analysis("Transient")
    assert ops.analyze(100, 0.01) == 0
    return ops.nodeDisp(1, 1), ops.nodeVel(1, 1), ops.nodeDisp(2, 1)


for set_velocity in (False, True):
    print("velocity", "set" if set_velocity else "as it is:", *(f"{value + 0.0:.4f}" for value in pull(set_velocity)))
PY
"$work/venv/bin/python" "$work/pull.py" 2> /dev/null | grep velocity > "$work/seen"
cat "$work/seen"
diff "$work/seen" - <<'SEEN'
velocity as it is: 0.5000 0.0000 0.0000
velocity set 0.5000 0.5000 0.4007
SEEN
echo "as described"
