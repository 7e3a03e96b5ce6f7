#!/usr/bin/env bash
# OpenSeesPy 3.7.1.2: the argument weight of element("CatenaryCable", ..., weight, E, A, L0, ...) acts along +z, upwards,
# and without any load pattern. As soon as a pattern has eleLoad("-beamUniform", 0, 0, q) for the element, q times the
# load factor is the whole weight: the argument, and its sign, have no effect any more. Of two patterns with such loads
# the last one is the whole weight.
#
# A cable of two elements, 11 m between supports that are 10 m apart on a level, EA = 1e6 N, one static step. The elastic
# catenary for 10 N/m: 55.000 N up and 65.466 N along at each support, the middle 2.004 m below. Force of the left
# support along x, along z, and height of the middle, seen with openseespy 3.7.1.2 (it says 3.7.1), Python 3.11, Debian 12
# (needs libblas.so.3 and liblapack.so.3); 3.8.0.0 with Python 3.12 does the same:
#   weight 10, no load             -65.466  -55.000   2.004     it hangs upwards
#   weight -10, no load            -65.466   55.000  -2.004     right
#   weight 10, eleLoad of -1        -6.549    5.500  -2.003     a tenth of it: 1 N/m
#   weight -10, eleLoad of -1       -6.549    5.500  -2.003     the same
#   weight 3, eleLoad of -10       -65.466   55.000  -2.004     right
#   weight -10, -10 and -2         -13.098   11.000  -2.003     2 N/m, in place of 12 or 22
#
# Who gives the weight as a positive number and the load -1 for "downwards, once" gets cables of 1 N/m, whatever they
# weigh; snow or ice by eleLoad takes the place of the weight, where it should be added.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet openseespy==3.7.1.2
cat > "$work/hang.py" <<'PY'
import openseespy.opensees as ops


def hang(weight, *loads):
    ops.wipe()
    ops.model("basic", "-ndm", 3, "-ndf", 3)
    for tag, place in enumerate(((0.0, 0.0, 0.0), (5.0, 0.0, -2.0), (10.0, 0.0, 0.0)), 1):
        ops.node(tag, *place)
    ops.fix(1, 1, 1, 1)
    ops.fix(3, 1, 1, 1)
    for tag in (1, 2):
        ops.element("CatenaryCable", tag, tag, tag + 1, weight, 1e6, 1.0, 5.5, 1e-6, 0.0, 0.0, 1e-8, 20, 0)
    for tag, load in enumerate(loads, 1):
        ops.timeSeries("Linear", tag)
        ops.pattern("Plain", tag, tag)
        ops.eleLoad("-ele", 1, 2, "-type", "-beamUniform", 0.0, 0.0, load)
    ops.constraints("Plain")
    ops.numberer("Plain")
    ops.system("FullGeneral")
    ops.test("NormUnbalance", 1e-6, 200)
    ops.algorithm("Newton")
    ops.integrator("LoadControl", 1.0)
    ops.analysis("Static")
    assert ops.analyze(1) == 0
    ops.reactions()
    return ops.nodeReaction(1, 1), ops.nodeReaction(1, 3), ops.nodeCoord(2, 3) + ops.nodeDisp(2, 3)


for case in ((10.0,), (-10.0,), (10.0, -1.0), (-10.0, -1.0), (3.0, -10.0), (-10.0, -10.0, -2.0)):
    print("weight", ", loads ".join(map(str, case)), "gives", *(f"{value:.3f}" for value in hang(*case)))
PY
"$work/venv/bin/python" "$work/hang.py" 2> /dev/null | grep "^weight" > "$work/seen"
cat "$work/seen"
diff "$work/seen" - <<'SEEN'
weight 10.0 gives -65.466 -55.000 2.004
weight -10.0 gives -65.466 55.000 -2.004
weight 10.0, loads -1.0 gives -6.549 5.500 -2.003
weight -10.0, loads -1.0 gives -6.549 5.500 -2.003
weight 3.0, loads -10.0 gives -65.466 55.000 -2.004
weight -10.0, loads -10.0, loads -2.0 gives -13.098 11.000 -2.003
SEEN
echo "as described"
