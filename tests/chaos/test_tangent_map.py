"""The tangent map of an increment is its derivative: for every scheme, bars, rods, dampers, moving supports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fem
from fem.errors import CommandError
from fem.runs.record import SilentSink
from fem.solve.ropes.watched import copy_of
from fem.solve.start import small_or_sparse_mass
from fem.study.growth import Varied, map_over
from fem.study.trajectory import Trajectory
from fem.study.variation.linearise import DA, DU, DV
from fem.study.variation.saltation import consistent

INCREMENTS = 12
STEP = 1e-5
SCHEMES = {
    "NEWMARK": "TIME INTEGRATOR=NEWMARK",
    "NEWMARK 0.3": "TIME INTEGRATOR=NEWMARK, BETA=0.3025, GAMMA=0.6",
    "HHT": "TIME INTEGRATOR=HHT, ALPHA=-0.1",
    "GENERALIZED ALPHA": "TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.6",
    "BACKWARD EULER": "TIME INTEGRATOR=BACKWARD EULER",
    "ENERGY MOMENTUM": "TIME INTEGRATOR=ENERGY MOMENTUM",
}
DECK = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.2
3, 1.8, 0.3, 0.
*ELEMENT, TYPE=T3D2, ELSET=FIRST
1, 1, 2
*ELEMENT, TYPE=T3D2, ELSET=SECOND
2, 2, 3
*ELEMENT, TYPE=DASHPOT1, ELSET=DRAG
3, 2
*DASHPOT, ELSET=DRAG
3
0.7
*SOLID SECTION, ELSET=FIRST, MATERIAL=A, MASS=CONSISTENT, STRAIN={strain}
1.
*SOLID SECTION, ELSET=SECOND, MATERIAL=B, MASS=LUMPED
1.
*MATERIAL, NAME=A
*DENSITY
1.
{first}
*DAMPING, ALPHA=0.3
*MATERIAL, NAME=B
*DENSITY
1.
{second}
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, 5., 0., -1.
1., 0.3
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, {scheme}
0.02, 100.
*CONTROLS, ENERGY DRIFT=OFF, RESI_GLOB_MAXI=1.E-11
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, 0.2
*DLOAD
FIRST, GRAV, 9.81, 0., 0., -1.
SECOND, GRAV, 9.81, 0., 0., -1.
*END STEP
"""
ELASTIC = "*ELASTIC\n{modulus}\n*DAMPING, BETA={viscous}, ALPHA=0.3"
BODIES = {
    "springs": (ELASTIC.format(modulus=200.0, viscous=0.0), ELASTIC.format(modulus=300.0, viscous=0.0), "GREEN"),
    "bending": (ELASTIC.format(modulus=200.0, viscous=0.0), ELASTIC.format(modulus=300.0, viscous=0.0), "GREEN"),
    "viscous": (
        ELASTIC.format(modulus=200.0, viscous=0.02),
        ELASTIC.format(modulus=300.0, viscous=0.01),
        "ENGINEERING",
    ),
    "viscous cables": (
        "*NO COMPRESSION\n" + ELASTIC.format(modulus=200.0, viscous=0.02),
        "*NO COMPRESSION, RATIO=0.2\n" + ELASTIC.format(modulus=300.0, viscous=0.01),
        "ENGINEERING",
    ),
    "rods": ("*INEXTENSIBLE\n*DAMPING, ALPHA=0.3", "*INEXTENSIBLE", "GREEN"),
    "rod and spring": ("*INEXTENSIBLE\n*DAMPING, ALPHA=0.3", ELASTIC.format(modulus=300.0, viscous=0.01), "GREEN"),
}

CASES = [pytest.param(body, marks=pytest.mark.long if body == "bending" else ()) for body in BODIES]
"""Lines that bend have kernels of their own, which take ten seconds to compile."""


def model_of(body: str, scheme: str) -> fem.Model:
    first, second, strain = BODIES[body]
    first = first.replace("*DAMPING, ALPHA=0.3\n", "")
    text = DECK.format(first=first, second=second, strain=strain, scheme=SCHEMES[scheme])
    if body == "bending":
        text = text.replace("T3D2", "B31").replace("*SOLID SECTION", "*BEAM GENERAL SECTION, STRAIGHT AT REST")
        text = text.replace("\n1.\n*BEAM", "\n1., 0.01\n*BEAM").replace(
            "\n1.\n*MATERIAL, NAME=A", "\n1., 0.01\n*MATERIAL, NAME=A"
        )
    return fem.parse_deck(text.replace("ALPHA=0.3\n*DAMPING, ALPHA=0.3", "ALPHA=0.3"))


def started(model: fem.Model) -> Trajectory:
    trajectory = Trajectory(model, SilentSink(), Varied)
    trajectory.open()
    return trajectory


def marched(trajectory: Trajectory, count: int) -> Trajectory:
    trajectory.progress.chunk = count
    trajectory.last.advance()
    return trajectory


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("body", CASES)
@pytest.mark.sampled
def test_tangent_map_is_the_derivative_of_the_increments(body, scheme):
    model = model_of(body, scheme)
    varied = marched(started(model), 5)
    varied.last.perturb(2)
    varied.last.every = 10**9
    vectors = varied.last.variation.vectors
    if "rod" in body:  # positions on the constraints: move velocities only
        vectors[:, DU] = 0.0
    # ENERGY MOMENTUM: velocities along rods are left out on purpose, so that later increments differ.
    is_projected = "rod" in body and scheme == "ENERGY MOMENTUM"
    increments = 1 if is_projected else INCREMENTS
    distance = 0.1 * STEP if "cable" in body else STEP  # cables have kinks in between
    starts = vectors.copy()
    marched(varied, increments)
    for start, end in zip(starts, vectors, strict=True):
        ends = []
        for sign in (1.0, -1.0):
            other = marched(started(model), 5)
            motion = other.progress.motion
            motion.u[:] += sign * distance * start[DU]
            motion.v[:] += sign * distance * start[DV]
            ends.append(marched(other, increments).progress.motion)
        for row, name in ((DU, "u"),) if is_projected else ((DU, "u"), (DV, "v")):
            slope = (getattr(ends[0], name) - getattr(ends[1], name)) / (2.0 * distance)
            # The difference quotient has an error of STEP^2 times third derivatives and of round-off / STEP.
            assert np.abs(slope - end[row]).max() < 2e-6 * np.abs(end[row]).max(), (row, slope, end[row])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_random_perturbations_keep_lengths_and_rates_after_an_increment(scheme):
    """Those of exponents: G du = 0 and G dv + dG v = 0, to round-off, whatever they start from."""
    varied = marched(started(model_of("rods", scheme)), 5)
    varied.last.perturb(2)
    marched(varied, 1)
    motion, places = varied.progress.motion, varied.model.mesh.coordinates
    for vector in varied.last.variation.vectors:
        link, rate, du, dv = (
            np.diff(x.reshape(-1, 3), axis=0) for x in (places.ravel() + motion.u, motion.v, vector[DU], vector[DV])
        )
        size = np.abs(vector[[DU, DV]]).max()
        assert np.abs((link * du).sum(1)).max() < 1e-11 * size
        assert np.abs((link * dv + du * rate).sum(1)).max() < 1e-10 * size


@pytest.mark.parametrize("body", CASES)
def test_accelerations_of_perturbations_are_the_derivative_of_those_of_the_motion(body):
    model = model_of(body, "NEWMARK")
    fine = replace(model.steps[0], procedure=replace(model.steps[0].procedure, dt=1e-3))
    varied = marched(started(replace(model, steps=(fine,))), 60)
    last, motion, now = varied.last, varied.progress.motion, varied.progress.time
    last.begin(np.random.default_rng(3).standard_normal((2, 2, 9)))
    mass, size = small_or_sparse_mass(last.stage), 1e-6
    for vector in last.variation.vectors:
        found = []
        for way in (size, -size):
            state = copy_of(motion)
            state.u[:] += way * vector[DU]
            state.v[:] += way * vector[DV]
            found.append(consistent(last.stage, state, now, mass).a)
        slope = (found[0] - found[1]) / (2.0 * size)
        # Rods: the march leaves viscous forces at the velocities before their projection, which is dt^2 of them.
        assert np.abs(slope - vector[DA]).max() < (5e-6 if "rod" in body else 1e-7) * np.abs(slope).max()


@pytest.mark.parametrize("scheme", ["NEWMARK", "ENERGY MOMENTUM"])
def test_map_over_increments_is_the_derivative_of_the_state_at_their_end(scheme):
    """Of a motion that starts with accelerations in equilibrium, whatever its velocities."""
    model, ends = model_of("viscous", scheme), []
    starts = np.zeros((1, 2, 9))
    starts[0, :, 3:] = np.random.default_rng(4).standard_normal((2, 6))
    for way in (STEP, -STEP):
        nudged = [
            fem.model.InitialCondition(kind, node + 1, way * starts[0, row, 3 * node + dof], dof + 1)
            for row, kind in enumerate(("DISPLACEMENT", "VELOCITY"))
            for node in (1, 2)
            for dof in range(3)
        ]
        motion = marched(started(replace(model, initial_conditions=tuple(nudged))), INCREMENTS).progress.motion
        ends.append(np.array([motion.u, motion.v]))
    found = map_over(started(model).last, INCREMENTS, starts)[0]
    slope = (ends[0] - ends[1]) / (2.0 * STEP)
    assert np.abs(slope - found).max() < 2e-6 * np.abs(found).max()


def test_what_has_no_tangent_map_is_refused():
    model = model_of("springs", "NEWMARK")
    with pytest.raises(CommandError, match="12 Lyapunov exponents, not 13"):
        started(model).last.perturb(13)
    step = model.steps[0]
    explicit = replace(step, procedure=replace(step.procedure, integrator="CENTRAL DIFFERENCE", dt=0.001))
    lumped = tuple(replace(section, mass_rule="LUMPED") for section in model.sections)
    with pytest.raises(CommandError, match="--method two"):
        started(replace(model, steps=(explicit,), sections=lumped)).last.perturb(1)
