"""Implicit time integrators: their order, their losses, what ENERGY MOMENTUM conserves, supports, heat and damping."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.model import Dynamic
from fem.solve.schemes import SCHEMES
from tests.decks import chain, run_text
from tests.solve.test_order_and_energy import PULLED

IMPLICIT = {
    "NEWMARK": "TIME INTEGRATOR=NEWMARK",
    "HHT": "TIME INTEGRATOR=HHT, ALPHA=-0.1",
    "GENERALIZED ALPHA": "TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.8",
    "BACKWARD EULER": "TIME INTEGRATOR=BACKWARD EULER",
    "ENERGY MOMENTUM": "TIME INTEGRATOR=ENERGY MOMENTUM",
}
ROUND_OFF = "TIME INTEGRATOR=ENERGY MOMENTUM"


def pulled(integrator: str, *, dt: float, strain: str = "GREEN", mass: str = "LUMPED", to_floor: bool = False) -> str:
    """The deck in which everything acts at once, with an integrator."""
    text = PULLED.format(strain=strain, mass=mass, dt=dt).replace("DIRECT", f"DIRECT, {integrator}")
    return text.replace("RESI_GLOB_RELA=1e-11, ", "") if to_floor else text


def energy_momentum(deck: str, periods: float = 1.0) -> fem.Model:
    """SDNL100 with ENERGY MOMENTUM at T/40, iterated to round-off."""
    model = fem.read_deck(deck)
    step = model.steps[0]
    assert isinstance(step.procedure, Dynamic)
    procedure = replace(step.procedure, integrator="ENERGY MOMENTUM", period=periods * step.procedure.period)
    controls = replace(step.controls, residual_relative=None)
    return replace(model, steps=(replace(step, procedure=procedure, controls=controls),))


@pytest.mark.parametrize(
    ("strain", "mass"), [("GREEN", "LUMPED"), ("ENGINEERING", "CONSISTENT"), ("LOG", "CONSISTENT")]
)
@pytest.mark.parametrize("name", IMPLICIT)
@pytest.mark.sampled
def test_order_with_everything_acting(name, strain, mass):
    """Springs, dashpots, both dampings, heat, a moving support, loads and gravity that vary in time.

    Against dt/8 of the same scheme for the second-order ones: that error is 1/64 of the finer one and shifts the
    observed order by log2((1 - 1/256)/(1 - 1/64)) = 0.017. The first-order rule is compared with the second-order end.
    """
    order = SCHEMES[name](Dynamic(1.0, 1.0)).order
    counts, other = ((1600, 3200), "NEWMARK") if order == 1 else ((200, 400), name)
    exact = run_text(pulled(IMPLICIT[other], dt=1 / 3200, strain=strain, mass=mass)).u[-1]
    coarse, fine = (
        np.abs(run_text(pulled(IMPLICIT[name], dt=1 / n, strain=strain, mass=mass)).u[-1] - exact).max() for n in counts
    )
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize("name", IMPLICIT)
def test_order_with_cables(name):
    """A hanging line of cables that never goes slack, released with a side load; chain solver."""
    text = chain(4, young=2e3, dt=0.004, period=0.2, both_ends=True, dynamic=f", {IMPLICIT[name]}")
    text = text.replace("*SOLID", "*NO COMPRESSION\n*SOLID")
    text = text.replace("*STEP", "*INITIAL CONDITIONS, TYPE=STRESS\nLINE, 100.\n*STEP")
    order = SCHEMES[name](Dynamic(1.0, 1.0)).order
    best = text.replace(IMPLICIT[name], IMPLICIT["NEWMARK"] if order == 1 else IMPLICIT[name])
    exact = run_text(best.replace("0.004, 0.2", "1.5625e-5, 0.2")).u[-1]
    steps = ("3.125e-5", "1.5625e-5") if order == 1 else ("5e-4", "2.5e-4")
    coarse, fine = (np.abs(run_text(text.replace("0.004, 0.2", f"{dt}, 0.2")).u[-1] - exact).max() for dt in steps)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize(
    ("strain", "mass", "solver"),
    [("GREEN", "LUMPED", "AUTO"), ("ENGINEERING", "CONSISTENT", "CG"), ("LOG", "CONSISTENT", "DIRECT")],
)
def test_energy_momentum_closes_the_balance_with_everything_acting(strain, mass, solver):
    """Work of supports, heat and loads and both dampings close to round-off at any increment; damping never feeds."""
    history = run_text(pulled(ROUND_OFF, dt=0.02, strain=strain, mass=mass, to_floor=True), solver=solver)
    assert np.abs(history.energy_error).max() < 2e-12 * np.abs(history.energy).max()
    dissipated = history.energy[:, 4]
    assert np.all(np.diff(dissipated) >= 0.0) and dissipated[-1] > 0.1


def test_energy_momentum_closes_the_balance_on_a_jerking_support_with_equations():
    """The support's velocity jumps within increments; half of its motion is passed on by an equation."""
    text = pulled(ROUND_OFF, dt=0.02, strain="LOG", mass="CONSISTENT", to_floor=True)
    start, stop = text.index("*AMPLITUDE, NAME=SHAKE"), text.index("*AMPLITUDE, NAME=PUSH")
    jerk = "*AMPLITUDE, NAME=SHAKE\n0., 0., 0.13, 0.3, 0.47, -0.2, 0.6, -0.2, 1., 0.5\n"
    text = text[:start] + jerk + text[stop:]
    history = run_text(text.replace("*STEP", "*EQUATION\n2\n3, 2, 1., 1, 2, -0.5\n*STEP"))
    assert np.abs(history.energy_error).max() < 2e-12 * np.abs(history.energy).max()


SLACK = """*NODE
1,0,0,0
2,1,0,0
3,2,0,0
*ELEMENT, TYPE=T3D2, ELSET=LINE
1,1,2
2,2,3
*ELEMENT, TYPE=SPRINGA, ELSET=TABLE
3, 1, 3
*SPRING, ELSET=TABLE, NONLINEAR
-30., -0.5
0., 0.
10., 0.05
12., 0.4
*MATERIAL, NAME=M
*ELASTIC
2000.
*DENSITY
1.
*EXPANSION
2e-3
*NO COMPRESSION, RATIO={ratio}
*DAMPING, BETA={beta}
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN={strain}
1.
*BOUNDARY
1, 1, 3
*AMPLITUDE, NAME=WAVE, DEFINITION=PERIODIC
1, 9., 0., 0.
0., 1.
*STEP, NLGEOM={nlgeom}
*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM
0.02, 2.
*DLOAD
LINE, GRAV, 9.81, 0, 0, -1
*BOUNDARY, AMPLITUDE=WAVE
1, 3, 3, 0.1
*TEMPERATURE, AMPLITUDE=WAVE
1, 20.
2, 20.
*END STEP
"""


@pytest.mark.parametrize("beta", [0.0, 0.01])
@pytest.mark.parametrize(
    ("nlgeom", "strain", "ratio"),
    [("YES", "GREEN", 0.0), ("YES", "ENGINEERING", 0.2), ("YES", "LOG", 0.0), ("NO", "GREEN", 0.0)],
)
def test_energy_momentum_through_slack_and_tables(nlgeom, strain, ratio, beta):
    """Cables that go slack and taut under heat and on a moving support, and a tabulated spring across its corners."""
    text = SLACK.format(nlgeom=nlgeom, strain=strain, ratio=ratio, beta=beta)
    history = run_text(text)
    force = history.elements[:, :2, 3]
    assert nlgeom == "NO" or ((force > 1.0).any() and (force < 0.3).any())
    assert np.abs(history.energy_error).max() < 1e-11 * np.abs(history.energy).max()
    assert np.all(np.diff(history.energy[:, 4]) >= 0.0)


FREE = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0.2, 0.
3, 2., 0., 0.3
4, 3., 0.1, 0.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
3, 3, 4
*MATERIAL, NAME=M
*ELASTIC
100.
*DENSITY
1.
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN={strain}, MASS={mass}
1.
*INITIAL CONDITIONS, TYPE=VELOCITY
1, 2, 3.
2, 3, 0.5
3, 1, 0.3
4, 2, -2.
4, 3, 1.
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM
0.02, {period!r}
*END STEP
"""


def momenta(history: fem.History, mass: str) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum (k, 3) of the chain ``FREE``."""
    x0 = np.array([[0, 0, 0], [1, 0.2, 0], [2, 0, 0.3], [3, 0.1, 0]])
    length = np.linalg.norm(np.diff(x0, axis=0), axis=1)
    diagonal, off = {"LUMPED": (1 / 2, 0.0), "CONSISTENT": (1 / 3, 1 / 6)}[mass]
    matrix = np.zeros((4, 4))
    for e in range(3):
        matrix[e : e + 2, e : e + 2] += length[e] * np.array([[diagonal, off], [off, diagonal]])
    x, v = x0 + history.u.reshape(-1, 4, 3), history.v.reshape(-1, 4, 3)
    p = np.einsum("ij,kjc->kic", matrix, v)
    return p.sum(axis=1), np.cross(x, p).sum(axis=1)


@pytest.mark.parametrize(("strain", "mass"), [("GREEN", "LUMPED"), ("ENGINEERING", "CONSISTENT"), ("LOG", "LUMPED")])
def test_energy_momentum_conserves_what_its_name_says(strain, mass):
    """A free-flying chain of elastic bars through 10,000 increments: energy and momenta to 1e-12 of their size."""
    history = fem.run(fem.parse_deck(FREE.format(strain=strain, mass=mass, period=200.0)), output_every=50)
    total = history.energy[:, 0] + history.energy[:, 1]
    assert np.abs(history.energy_error).max() < 1e-12 * total[0]
    assert history.energy[:, 1].max() > 1e-2 * total[0]
    linear, angular = momenta(history, mass)
    assert np.abs(linear - linear[0]).max() < 1e-12 * np.abs(linear[0]).max()
    assert np.abs(angular - angular[0]).max() < 1e-12 * np.abs(angular[0]).max()


def test_sdnl100_keeps_its_energy_for_a_hundred_periods():
    history = fem.run(energy_momentum("inputs/sdnl100.inp", 100.0), output_every=10)
    assert np.abs(history.energy_error).max() < 1e-11
    assert history.iterations.mean() < 8.5


@pytest.mark.parametrize(
    ("card", "loss", "tolerance"),
    [("HHT, ALPHA=-0.1", -0.036, 8e-4), ("GENERALIZED ALPHA, RHO=0.8", -0.0026, 1e-4)],
)
def test_known_losses_of_sdnl100(card, loss, tolerance):
    """Regression: energy after one period at T/40 of an independent prototype of both schemes."""
    text = Path("inputs/sdnl100.inp").read_text(encoding="utf-8")
    text = text.replace("TIME INTEGRATOR=NEWMARK, BETA=0.25, GAMMA=0.5", f"TIME INTEGRATOR={card}")
    assert run_text(text).energy_error[-1] == pytest.approx(loss, abs=tolerance)


@pytest.mark.parametrize(("alpha", "left"), [(-0.05, 0.95 / 1.05), (-1 / 3, 0.5), (-0.41421, 0.70709), (-0.5, 1.0)])
def test_hht_never_grows_and_leaves_of_fast_motion_what_is_known(alpha, left):
    """Spectral radius: at most 1 for any increment, and the known limit for long ones.

    Of (u, v dt, a dt^2) of a linear oscillator. Limits: (1 + alpha)/(1 - alpha) down to alpha = -1/3, there on
    -alpha/(1 + alpha) (Hughes, The Finite Element Method, section 9.3: the roots of the amplification at w dt -> oo).
    """
    beta, gamma = (1 - alpha) ** 2 / 4, 0.5 - alpha
    radius = []
    for square in np.geomspace(1e-6, 1e12, 400):  # (w dt)^2
        after = np.array([[1.0, 0.0, -beta], [0.0, 1.0, -gamma], [(1 + alpha) * square, 0.0, 1.0]])
        before = np.array([[1.0, 1.0, 0.5 - beta], [0.0, 1.0, 1.0 - gamma], [alpha * square, 0.0, 0.0]])
        radius.append(np.abs(np.linalg.eigvals(np.linalg.solve(after, before))).max())
    assert max(radius) <= 1.0 + 1e-6 and radius[-1] == pytest.approx(left, abs=2e-4)
    row = SCHEMES["HHT"](Dynamic(1, 1, alpha=alpha)).coefficients
    assert row.wf == row.wc == 1 + alpha


def test_limits_of_the_families_are_the_trapezoidal_rule():
    """HHT with alpha = 0 is Newmark's row; so is generalized alpha with rho = 1 for its amplification."""
    assert SCHEMES["HHT"](Dynamic(1, 1, alpha=0.0)).coefficients == SCHEMES["NEWMARK"](Dynamic(1, 1)).coefficients
    row = SCHEMES["GENERALIZED ALPHA"](Dynamic(1, 1, rho=1.0)).coefficients
    assert row[:9] == pytest.approx([2, -1, 0, 4, -4, -1, 0.5, 0.5, 0.5])


def test_reactions_and_accelerations_of_energy_momentum_belong_to_the_increment():
    """The impulse of reactions and weight is the change of momentum, to round-off."""
    dt = 0.01
    text = chain(3, young=1e4, dt=dt, period=0.3, dynamic=", TIME INTEGRATOR=ENERGY MOMENTUM")
    history = run_text(text.replace("RESI_GLOB_RELA=1e-9, ", ""))
    mass = np.repeat([0.05, 0.1, 0.1, 0.05], 3)
    momentum = (mass * history.v).reshape(-1, 4, 3).sum(axis=1)
    pull = history.reactions.reshape(-1, 4, 3).sum(axis=1)[1:] + np.array([0, 0, -9.81 * 0.3])
    assert np.abs(np.diff(momentum, axis=0) - dt * pull).max() < 1e-13
    assert np.abs(np.diff(history.v, axis=0) - dt * history.a[1:]).max() < 1e-13


STEPS = """*STEP, NLGEOM
*STATIC
*DLOAD
LINE, GRAV, 9.81, 0, 0, -1
*END STEP
*STEP, NLGEOM{extrapolation}
*DYNAMIC, DIRECT, TIME INTEGRATOR={first}
0.002, 0.1
*CLOAD
3, 2, 0.5
*END STEP
*STEP, NLGEOM{extrapolation}
*DYNAMIC, DIRECT, TIME INTEGRATOR={second}, INITIAL=NO
0.002, 0.1
*END STEP
"""


def in_steps(**words: str) -> fem.History:
    """Statics, then two dynamic steps."""
    stress = "*INITIAL CONDITIONS, TYPE=STRESS\nLINE, 100.\n"
    text = chain(4, young=2e3, both_ends=True, extra=stress)
    return run_text(text[: text.index("*STEP")] + STEPS.format(**{"extrapolation": "", **words}))


def test_integrators_follow_one_another_and_statics():
    """The end of the second dynamic step depends on the integrators to second order only."""
    names = ("NEWMARK", "HHT", "GENERALIZED ALPHA", "ENERGY MOMENTUM")
    reference = in_steps(first="NEWMARK", second="NEWMARK")
    size = np.abs(reference.u[-1] - reference.u[0]).max()
    for first, second in zip(names, (*names[1:], names[0]), strict=True):
        history = in_steps(first=first, second=second)
        assert np.abs(history.u[-1] - reference.u[-1]).max() < 5e-3 * size
        assert np.abs(history.energy_error[-1]) < 1e-3


@pytest.mark.parametrize("name", IMPLICIT)
def test_energies_do_not_depend_on_where_a_step_ends(name):
    """Also what schemes that average have dissipated: their damping forces lag behind those of the increments."""
    damping = "*DAMPING, ALPHA=0.5, BETA=1e-2"
    text = chain(4, young=2e3, both_ends=True, material=damping, extra="*INITIAL CONDITIONS, TYPE=STRESS\nLINE, 100.\n")
    step = f"*STEP, NLGEOM\n*DYNAMIC, DIRECT, {IMPLICIT[name]}{{how}}\n0.01, {{period}}\n{{loads}}*END STEP\n"
    loads, head = "*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1\n", text[: text.index("*STEP")]
    whole = run_text(head + step.format(how="", period=0.4, loads=loads))
    parts = step.format(how="", period=0.2, loads=loads) + step.format(how=", INITIAL=NO", period=0.2, loads="")
    split = run_text(head + parts)
    for kind in ("kinetic", "strain", "external_work", "dissipated"):
        assert split.of_energy(kind)[-1] == pytest.approx(whole.of_energy(kind)[-1], rel=1e-12)


@pytest.mark.parametrize("word", ["LINEAR", "PARABOLIC"])
def test_extrapolation_with_every_integrator(word):
    """It moves the first guess: the answer stays, and in sum solves are spared."""
    spared = 0
    for name in ("HHT", "GENERALIZED ALPHA", "BACKWARD EULER", "ENERGY MOMENTUM"):
        plain = in_steps(first=name, second=name)
        better = in_steps(first=name, second=name, extrapolation=f", EXTRAPOLATION={word}")
        assert np.abs(better.u - plain.u).max() < 1e-6
        spared += plain.iterations.sum() - better.iterations.sum()
    assert spared > 0


def test_energy_momentum_with_a_given_tolerance_stops_there():
    plain = run_text(chain(3, dynamic=", TIME INTEGRATOR=ENERGY MOMENTUM"))
    text = chain(3, dynamic=", TIME INTEGRATOR=ENERGY MOMENTUM").replace("RESI_GLOB_RELA=1e-9, ", "")
    to_floor = run_text(text)
    assert to_floor.iterations[1:].mean() > plain.iterations[1:].mean()
    assert not any("round-off" in notice for notice in to_floor.notices)


def test_energy_momentum_goes_on_to_round_off_but_not_beyond():
    """A linear chain so damped that only its first nodes move: each solve leaves what is left of the one before.

    Residuals fell to 1e-44 of the forces, in nine solves, where one has left less than their last digit.
    """
    drive = "*AMPLITUDE, NAME=A\n0, 0, 5, 1, 10, 0"
    text = chain(
        30, dt=1.0, period=20.0, young=1.0, material="*DAMPING, ALPHA=1e5", extra=drive,
        dynamic=", TIME INTEGRATOR=ENERGY MOMENTUM",
    )  # fmt: skip
    text = text.replace("RESI_GLOB_RELA=1e-9, ", "").replace("NLGEOM=YES", "NLGEOM=NO")
    history = run_text(text.replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1", "*BOUNDARY, AMPLITUDE=A\n1, 1, 1, 0.01"))
    assert history.iterations.max() <= 2
    assert history.residual_norm.max() < 1e-15


def test_unsymmetric_nets_iterate_and_agree_with_the_direct_solver():
    text = Path("inputs/cable_net.inp").read_text(encoding="utf-8")
    model = fem.parse_deck(text)
    steps = tuple(
        replace(
            step,
            procedure=replace(step.procedure, integrator="ENERGY MOMENTUM", period=10 * step.procedure.dt),
            controls=replace(step.controls, residual_relative=None),
        )
        if isinstance(step.procedure, Dynamic)
        else step
        for step in model.steps
    )
    model = replace(model, steps=steps)
    direct, iterative = fem.run(model, solver="DIRECT"), fem.run(model, solver="CG")
    size = np.abs(direct.u).max()
    assert np.abs(direct.u - iterative.u).max() < 1e-9 * size
