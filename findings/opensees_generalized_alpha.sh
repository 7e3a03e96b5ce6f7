#!/usr/bin/env bash
# OpenSeesPy 3.7.1.2: integrator("GeneralizedAlpha", alphaM, alphaF) takes the inertia of the end of the increment.
# alphaM changes beta and gamma (and the tangent), but not the instant at which M a stands in the equation of motion, so
# that the scheme is not that of Chung and Hulbert (1993), whose inertia is alphaM a1 + (1 - alphaM) a0. The source
# (SRC/analysis/integrator/GeneralizedAlpha.cpp, update) hands the acceleration of the end to the elements.
#
# A mass of 1 on a spring of 100, thrown with a speed of 1 from rest, dt = 0.1, rho = 0.2: alphaM = (2 - rho)/(1 + rho),
# alphaF = 1/(1 + rho), with the beta and gamma that OpenSees takes from them. The recursion by hand in Python beside it.
# Displacement after 1, 2 and 10 increments, seen with openseespy 3.7.1.2 (it says 3.7.1), Python 3.11, Debian 12 (needs
# libblas.so.3 and liblapack.so.3):
#   OpenSees                              0.063343  0.066315  0.008401
#   Chung and Hulbert                     0.072160  0.085392  0.043546
#   with the inertia of the end           0.063343  0.066315  0.008401
# Its tangent has alphaM M all the same, so that Newton's method needs more than ten iterations for this linear problem.
#
# Who chooses rho for its spectral radius at infinity gets other damping and another order than the textbook's.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet openseespy==3.7.1.2
cat > "$work/throw.py" <<'PY'
import openseespy.opensees as ops

RHO, DT, K = 0.2, 0.1, 100.0
AM, AF = (2.0 - RHO) / (1.0 + RHO), 1.0 / (1.0 + RHO)
GAMMA, BETA = 0.5 + AM - AF, 0.25 * (1.0 + AM - AF) ** 2


def opensees(steps):
    ops.wipe()
    ops.model("basic", "-ndm", 1, "-ndf", 1)
    ops.node(1, 0.0)
    ops.node(2, 1.0)
    ops.fix(1, 1)
    ops.uniaxialMaterial("Elastic", 1, K)
    ops.element("Truss", 1, 1, 2, 1.0, 1)
    ops.mass(2, 1.0)
    ops.setNodeVel(2, 1, 1.0, "-commit")
    ops.constraints("Plain")
    ops.numberer("Plain")
    ops.system("FullGeneral")
    ops.test("NormDispIncr", 1e-11, 200)
    ops.algorithm("Newton")
    ops.integrator("GeneralizedAlpha", AM, AF)
    ops.analysis("Transient")
    found = []
    for _ in range(steps):
        assert ops.analyze(1, DT) == 0
        found.append(ops.nodeDisp(2, 1))
    return found, ops.testIter()


def scheme(steps, am):
    """am a1 + (1 - am) a0 + K (AF u1 + (1 - AF) u0) = 0 with Newmark's u1 and v1."""
    u, v, a, found = 0.0, 1.0, 0.0, []
    for _ in range(steps):
        up, vp = u + DT * v + DT**2 * (0.5 - BETA) * a, v + DT * (1.0 - GAMMA) * a
        a1 = -((1.0 - am) * a + K * (AF * up + (1.0 - AF) * u)) / (am + K * AF * BETA * DT**2)
        u, v, a = up + BETA * DT**2 * a1, vp + DT * GAMMA * a1, a1
        found.append(u)
    return found


theirs, iterations = opensees(10)
for name, its in (("OpenSees", theirs), ("Chung and Hulbert", scheme(10, AM)), ("inertia of the end", scheme(10, 1.0))):
    print("u:", name, *(f"{its[n]:.6f}" for n in (0, 1, 9)))
print("u: more than 10 iterations:", iterations > 10)
PY
"$work/venv/bin/python" "$work/throw.py" 2> /dev/null | grep "u:" > "$work/seen"
cat "$work/seen"
diff "$work/seen" - <<'SEEN'
u: OpenSees 0.063343 0.066315 0.008401
u: Chung and Hulbert 0.072160 0.085392 0.043546
u: inertia of the end 0.063343 0.066315 0.008401
u: more than 10 iterations: True
SEEN
echo "as described"
