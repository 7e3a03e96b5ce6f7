"""Small models for openseespy, run by themselves: writes what it does as JSON, name -> numbers."""

import json
import math
import sys
from pathlib import Path

import openseespy.opensees as ops


def mass_on_truss(kind="corotTruss", stiffness=100.0, mass=1.0, **more):
    """A mass at x = 1 on a bar of length 1 along x, which moves along x."""
    ops.wipe()
    ops.model("basic", "-ndm", 3, "-ndf", 3)
    ops.node(1, 0.0, 0.0, 0.0)
    ops.node(2, 1.0, 0.0, 0.0)
    ops.fix(1, *more.get("fix", (1, 1, 1)))
    ops.fix(2, 0, 1, 1)
    ops.uniaxialMaterial("Elastic", 1, stiffness, more.get("eta", 0.0), *more.get("eneg", ()))
    ops.element(kind, 1, 1, 2, 1.0, 1, *more.get("words", ()))
    if mass:
        ops.mass(2, mass, mass, mass)


def march(dt, time, *integrator, constraints="Plain"):
    ops.constraints(constraints)
    ops.numberer("Plain")
    ops.system("FullGeneral")
    ops.test("NormUnbalance", 1e-11, 50, 0)
    ops.algorithm("Newton")
    ops.integrator(*(integrator or ("Newmark", 0.5, 0.25)))
    ops.analysis("Transient")
    return ops.analyze(round(time / dt), dt)


def rest(increment, count):
    ops.constraints("Plain")
    ops.numberer("Plain")
    ops.system("FullGeneral")
    ops.test("NormUnbalance", 1e-9, 20, 0)
    ops.algorithm("Newton")
    ops.integrator("LoadControl", increment)
    ops.analysis("Static")
    return ops.analyze(count)


def start():
    """Force and acceleration of a mass that begins displaced."""
    mass_on_truss()
    ops.setNodeDisp(2, 1, 0.1, "-commit")
    return ops.basicForce(1)[0], ops.nodeAccel(2, 1)


def errors(accelerated, displaced):
    """Of u at t = 1 with dt = 0.01 and 0.005: let go at 0.1, or pushed by a force of 10 from t = 0 on."""
    found = []
    for dt in (0.01, 0.005):
        mass_on_truss("Truss")
        if displaced:
            ops.setNodeDisp(2, 1, 0.1, "-commit")
        else:
            ops.timeSeries("Constant", 1)
            ops.pattern("Plain", 1, 1)
            ops.load(2, 10.0, 0.0, 0.0)
        if accelerated:
            ops.setNodeAccel(2, 1, -10.0 if displaced else 10.0, "-commit")
        march(dt, 1.0)
        exact = 0.1 * math.cos(10.0) if displaced else 0.1 * (1.0 - math.cos(10.0))
        found.append(ops.nodeDisp(2, 1) - exact)
    return found


def moved_support():
    """Displacement and velocity of a node that sp moves at a speed of 0.5."""
    mass_on_truss(fix=(0, 1, 1))
    ops.timeSeries("Path", 1, "-time", 0.0, 10.0, "-values", 0.0, 5.0)
    ops.pattern("Plain", 1, 1)
    ops.sp(1, 1, 1.0)
    march(0.01, 1.0, constraints="Transformation")
    return ops.nodeDisp(1, 1), ops.nodeVel(1, 1)


def behind_dashpot(set_velocity):
    """u at t = 1 of a mass of 1 behind a dashpot of 5 whose other end moves at 0.5; exact 0.40067."""
    mass_on_truss(stiffness=1e-9, eta=5.0, fix=(0, 1, 1))
    ops.timeSeries("Path", 1, "-time", 0.0, 10.0, "-values", 0.0, 5.0)
    ops.pattern("Plain", 1, 1)
    ops.sp(1, 1, 1.0)
    if set_velocity:
        ops.setNodeVel(1, 1, 0.5, "-commit")
        ops.setNodeAccel(2, 1, 2.5, "-commit")
    march(0.01, 1.0, constraints="Transformation")
    return ops.nodeDisp(2, 1)


def path_after_end(*words):
    """u under Path of value 1 up to t = 1, at t = 2, statically; stiffness 100, load 100."""
    mass_on_truss()
    ops.timeSeries("Path", 1, *words)
    ops.pattern("Plain", 1, 1)
    ops.load(2, 100.0, 0.0, 0.0)
    rest(0.5, 4)
    return ops.nodeDisp(2, 1)


def swing(*integrator, words=(), rayleigh=0.0):
    """Largest u of the tenth period over that at the start."""
    mass_on_truss("Truss", words=words)
    if rayleigh:
        ops.rayleigh(0.0, rayleigh, 0.0, 0.0)
    ops.setNodeDisp(2, 1, 0.1, "-commit")
    ops.setNodeAccel(2, 1, -10.0, "-commit")
    march(0.02, 5.6, *integrator)
    largest = 0.0
    for _ in range(32):
        ops.analyze(1, 0.02)
        largest = max(largest, abs(ops.nodeDisp(2, 1)))
    return largest / 0.1


def pulled(load, **more):
    """Axial force and u of the bar under a static load."""
    mass_on_truss(**more)
    ops.timeSeries("Constant", 1)
    ops.pattern("Plain", 1, 1)
    ops.load(2, load, 0.0, 0.0)
    return rest(1.0, 1), ops.eleResponse(1, "axialForce")[0], ops.nodeDisp(2, 1)


def frequency(*words):
    """omega^2 of a bar of mass 6 held at one end, stiffness 100."""
    mass_on_truss(mass=0.0, words=("-rho", 6.0, *words))
    ops.system("FullGeneral")
    return ops.eigen("-fullGenLapack", 1)[0]


def across(kind):
    """Axial force of a bar whose end is moved by 0.5 across it."""
    mass_on_truss(kind, fix=(1, 1, 1))
    ops.remove("sp", 2, 2)
    ops.timeSeries("Constant", 1)
    ops.pattern("Plain", 1, 1)
    ops.sp(2, 2, 0.5)
    march(0.01, 0.01, constraints="Transformation")
    return ops.eleResponse(1, "axialForce")[0]


def beyond_table():
    """Force of ElasticMultiLinear (0, 0), (1, 10) at an elongation of 2."""
    ops.wipe()
    ops.uniaxialMaterial("ElasticMultiLinear", 1, "-strain", -1.0, 0.0, 1.0, "-stress", -10.0, 0.0, 10.0)
    ops.testUniaxialMaterial(1)
    ops.setStrain(2.0)
    return ops.getStress()


def initial_strain():
    """Stress at rest of InitStrainMaterial with strain 0.1 on a modulus of 100."""
    ops.wipe()
    ops.uniaxialMaterial("Elastic", 1, 100.0)
    ops.uniaxialMaterial("InitStrainMaterial", 2, 1, 0.1)
    ops.testUniaxialMaterial(2)
    ops.setStrain(0.0)
    return ops.getStress()


def slack_damping():
    """Stress of Elastic with no modulus in compression and eta 5, at strain -1 and a rate of -2."""
    ops.wipe()
    ops.uniaxialMaterial("Elastic", 1, 100.0, 5.0, 0.0)
    ops.testUniaxialMaterial(1)
    ops.setStrain(-1.0, -2.0)
    return ops.getStress()


def unsolvable():
    """What analyze returns where there is no equilibrium: a bar without stiffness in compression is pushed."""
    return pulled(-10.0, kind="Truss", eneg=(0.0,))[0]


def one_step(*integrator):
    """y after a step of 0.2 of a mass of 1 that is let go at y = 0.5, at the end of a corotTruss of 100."""
    mass_on_truss(fix=(1, 1, 1))
    ops.remove("sp", 2, 2)
    ops.fix(2, 1, 0, 0)
    ops.setNodeDisp(2, 2, 0.5, "-commit")
    ops.setNodeAccel(2, 2, -100.0 * (1.0 - 1.0 / math.sqrt(1.25)) * 0.5, "-commit")
    march(0.2, 0.2, *integrator)
    return ops.nodeDisp(2, 2)


found = {
    "one step": (one_step("HHT", 0.7), one_step("GeneralizedAlpha", 1.5, 1.0 / 1.2)),
    "version": ops.version(),
    "start": start(),
    "let go": errors(False, True),
    "let go, accelerated": errors(True, True),
    "pushed": errors(False, False),
    "pushed, accelerated": errors(True, False),
    "moved support": moved_support(),
    "behind dashpot": (behind_dashpot(False), behind_dashpot(True)),
    "path": path_after_end("-time", 0.0, 1.0, "-values", 1.0, 1.0),
    "path, useLast": path_after_end("-time", 0.0, 1.0, "-values", 1.0, 1.0, "-useLast"),
    "path, dt, useLast": path_after_end("-dt", 0.5, "-values", 1.0, 1.0, 1.0, "-useLast"),
    "rayleigh": (swing(rayleigh=0.01), swing(rayleigh=0.01, words=("-doRayleigh", 1)), swing()),
    "hht": (swing("HHT", 1.0), swing("HHT", 0.7)),
    "pulled": pulled(10.0),
    "lumped, consistent": (frequency(), frequency("-cMass", 1)),
    "across": (across("Truss"), across("corotTruss")),
    "beyond table": beyond_table(),
    "initial strain": initial_strain(),
    "slack damping": slack_damping(),
    "unsolvable": unsolvable(),
}
Path(sys.argv[1]).write_text(json.dumps(found))
