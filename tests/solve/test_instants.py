"""To which instant every printed number belongs, and that they belong together.

U and V are those of the end of an increment. So are A, RF, T and N, except that ENERGY MOMENTUM gives A, RF and the T
of rods for its middle.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import fem
from fem.arrays import Floats
from fem.assembly.system import assemble
from fem.model import Dynamic
from fem.solve.schemes import SCHEMES
from tests.decks import run_text

CARDS = {
    "NEWMARK": ["TIME INTEGRATOR=NEWMARK", "TIME INTEGRATOR=NEWMARK, BETA=0.3025, GAMMA=0.6"],
    "HHT": ["TIME INTEGRATOR=HHT", "TIME INTEGRATOR=HHT, ALPHA=-0.3"],
    "GENERALIZED ALPHA": [f"TIME INTEGRATOR=GENERALIZED ALPHA, RHO={rho}" for rho in (0, 0.5, 0.8, 1)],
    "BACKWARD EULER": ["TIME INTEGRATOR=BACKWARD EULER"],
    "ENERGY MOMENTUM": ["TIME INTEGRATOR=ENERGY MOMENTUM"],
    "CENTRAL DIFFERENCE": ["EXPLICIT"],
}
MIDDLE = "TIME INTEGRATOR=ENERGY MOMENTUM"
BODIES = {"elastic": "EEE", "rods": "RRR", "mixed": "RER"}
MATERIAL = {"E": "*ELASTIC\n60.", "R": "*INEXTENSIBLE"}
BAR = """*ELEMENT, TYPE=T3D2, ELSET=E{k}
{k}, {k}, {j}
*MATERIAL, NAME=M{k}
{material}
*DENSITY
{density}
*DAMPING, ALPHA=0.3
*SOLID SECTION, ELSET=E{k}, MATERIAL=M{k}, MASS={mass}
1.
*ELSET, ELSET=BARS
E{k}
"""
DECK = """*NODE, NSET=ALL
1, 0, 0, 0
2, 0.5, 0, -0.1
3, 1.0, 0.1, 0
4, 1.5, 0, 0.2
{bars}*ELEMENT, TYPE=MASS, ELSET=P
9, 3
*MASS, ELSET=P
0.3
*AMPLITUDE, NAME=SHAKEN, DEFINITION=PERIODIC
1, 6., 0., -0.1
0.1, 0.
*AMPLITUDE, NAME=PUSHED, DEFINITION=PERIODIC
1, 5., 0., 1.
0., 0.5
*BOUNDARY
1, 1, 2
{more}*STEP, NLGEOM
*DYNAMIC, DIRECT, {card}
{dt!r}, {period!r}
*CONTROLS, {tolerance}ENERGY DRIFT=OFF
*BOUNDARY, AMPLITUDE=SHAKEN
1, 3, 3, 1.
*DLOAD
BARS, GRAV, 9.81, 0.1, 0., -1.
P, GRAV, 9.81, 0.1, 0., -1.
*CLOAD, AMPLITUDE=PUSHED
4, 2, 1.
*END STEP
"""


def deck(body: str, mass: str, card: str, dt: float, period: float, more: str = "") -> str:
    """Three bars on a shaken support under loads that vary, with damping and a point mass."""
    bars = "".join(
        BAR.format(k=k, j=k + 1, material=MATERIAL[kind], density=1.0 + 0.5 * (k == 2), mass=mass)
        for k, kind in enumerate(BODIES[body], 1)
    )
    tolerance = "" if card == MIDDLE else "RESI_GLOB_RELA=1e-11, "
    return DECK.format(bars=bars, card=card, dt=dt, period=period, tolerance=tolerance, more=more)


def printed(history: fem.History, times: Floats) -> dict[str, Floats]:
    """Every printed quantity at given times, interpolated from the ends of increments (cubic, so without a loss)."""
    from scipy.interpolate import CubicSpline

    columns = {
        "U": history.u, "V": history.v, "A": history.a, "RF": history.reactions, "T": history.elements[:, :3, 3],
        "N": history.elements[:, :3, 2],
    }  # fmt: skip
    return {name: CubicSpline(history.time, values)(times) for name, values in columns.items()}


@cache
def reference(body: str, mass: str) -> fem.History:
    return run_text(deck(body, mass, "TIME INTEGRATOR=NEWMARK", 0.000125, 0.252))


@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("card", [card for name in SCHEMES for card in CARDS[name]])
@pytest.mark.sampled
def test_observed_order_of_every_printed_quantity(card, body, mass):
    """Each at its instant; first order for backward Euler and gamma = 0.6, second for all others.

    Reference: NEWMARK with dt/8 of the finer one, whose own error of 1/64 shifts an order by at most 0.02 (first order,
    dt/64: 1/64 of it by its own order of two is far below).
    """
    if mass == "CONSISTENT" and card == "EXPLICIT":
        pytest.skip("EXPLICIT has lumped masses only")
    name = next(name for name in SCHEMES if card in CARDS[name])
    order = 1 if "GAMMA" in card else SCHEMES[name](Dynamic(1.0, 1.0)).order
    times = np.array([0.08, 0.12, 0.16, 0.2, 0.24])
    exact, errors = reference(body, mass), []
    is_rod = np.array([kind == "R" for kind in BODIES[body]])
    for dt in (0.002, 0.001) if order == 2 else (0.00025, 0.000125):
        found = printed(run_text(deck(body, mass, card, dt, 0.252)), times)
        ends, middles = (printed(exact, times - shift) for shift in (0.0, 0.5 * dt))
        if card == MIDDLE:
            ends |= {name: middles[name] for name in ("A", "RF")}
            ends |= {name: np.where(is_rod, middles[name], ends[name]) for name in ("T", "N")}
        errors.append({name: np.abs(found[name] - ends[name]).max() for name in found})
    for name in errors[0]:
        assert np.log2(errors[0][name] / errors[1][name]) == pytest.approx(order, abs=0.12), name


def imbalance(text: str, solver: str = "AUTO") -> tuple[Floats, Floats]:
    """(k, 3) sum of M A + C V - loads - RF over all nodes and its moment about the origin, as printed; over the largest
    reaction.

    Both vanish where what is printed belongs to one instant: what bars do to their nodes is central.
    """
    model = fem.parse_deck(text)
    system, history = assemble(model), fem.run(model, solver=solver)
    mass, damping = np.diag(system.mass), np.diag(system.damping)
    for e, (i, j) in enumerate(system.bars.nodes if len(system.bars.off_mass) else ()):
        for matrix, off in ((mass, system.bars.off_mass[e]), (damping, system.bars.off_damping[e])):
            matrix[i, j] += off
            matrix[j, i] += off
    u, v, a, reactions = (
        array.reshape(len(history), -1, 3) for array in (history.u, history.v, history.a, history.reactions)
    )
    weight = np.zeros(len(system.mass))
    np.add.at(weight, system.element_nodes, 0.5 * system.element_mass[:, None])
    loads = np.zeros_like(u)
    loads += weight[:, None] * 9.81 * np.array([0.1, 0.0, -1.0]) / np.sqrt(1.01)
    loads[:, 3, 1] += 1.0 + 0.5 * np.sin(5.0 * history.time)
    place = model.mesh.coordinates + u
    if MIDDLE in text:
        later = slice(1, None)
        for array in (v, loads, place):
            array[later] = 0.5 * (array[later] + array[:-1])
    force = np.einsum("ij,kjc->kic", mass, a) + np.einsum("ij,kjc->kic", damping, v) - loads - reactions
    size = np.abs(reactions).max()
    return force.sum(axis=1) / size, np.cross(place, force).sum(axis=1) / size


@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT", "ONE POINT"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("card", [card for name in SCHEMES for card in CARDS[name]])
@pytest.mark.sampled
def test_accelerations_and_reactions_balance_the_loads_from_increment_0_on(card, body, mass):
    if mass != "LUMPED" and card == "EXPLICIT":
        pytest.skip("EXPLICIT has lumped masses only")
    """To the residual that Newton's iterations leave, 1e-11 of the largest force; the arms are up to 1.5 long."""
    force, moment = imbalance(deck(body, mass, card, 0.004, 0.2))
    assert np.abs(force).max() < 1e-10
    assert np.abs(moment).max() < 3e-10


@pytest.mark.parametrize("solver", ["CHAIN", "BAND", "DIRECT", "CG"])
@pytest.mark.parametrize("card", [CARDS["HHT"][1], CARDS["GENERALIZED ALPHA"][1]])
def test_every_solver_finds_the_accelerations_of_the_end(card, solver):
    force, moment = imbalance(deck("elastic", "CONSISTENT", card, 0.004, 0.1), solver)
    assert max(np.abs(force).max(), np.abs(moment).max()) < 1e-10


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("card", [CARDS["HHT"][1], CARDS["GENERALIZED ALPHA"][0], CARDS["NEWMARK"][0]])
def test_dependent_dofs_have_the_accelerations_of_the_end(card, body):
    """Node 4 follows node 3 across; what the equation does to both is in no sum but that along the other axes."""
    more = "*EQUATION\n2\n4, 2, 1., 3, 2, -1.\n"
    force, _ = imbalance(deck(body, "CONSISTENT", card, 0.004, 0.1, more))
    assert np.abs(force).max() < 1e-10


@pytest.mark.parametrize("card", [card for name in SCHEMES for card in CARDS[name]])
def test_reactions_at_increment_0_count_the_pulls_of_rods(card):
    """Two rods hang at rest, 1 kg each, half of it at either end: the support carries 19.62 N from the start."""
    text = deck("rods", "LUMPED", card, 0.01, 0.05)
    text = text[: text.index("*NODE")] + (
        "*NODE\n1, 0, 0, 0\n2, 0, 0, -1\n3, 0, 0, -2\n*ELEMENT, TYPE=T3D2, ELSET=BARS\n1, 1, 2\n2, 2, 3\n"
        "*MATERIAL, NAME=M\n*INEXTENSIBLE\n*DENSITY\n1.\n*SOLID SECTION, ELSET=BARS, MATERIAL=M\n1.\n"
        f"*BOUNDARY\n1, 1, 3\n*STEP, NLGEOM\n*DYNAMIC, DIRECT, {card}\n0.01, 0.05\n*DLOAD\n"
        "BARS, GRAV, 9.81, 0, 0, -1\n*END STEP\n"
    )
    history = run_text(text)
    assert history.of_node(1, "reactions")[:, 2] == pytest.approx(19.62, abs=1e-12)
    assert history.of_element(1, "T") == pytest.approx(14.715, abs=1e-12)


JUMP = """*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=B
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=P
2, 2
*MASS, ELSET=P
1.
*MATERIAL, NAME=M
{law}
*SOLID SECTION, ELSET=B, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP
*DYNAMIC, DIRECT, {card}
{dt!r}, 0.6
*CONTROLS, ENERGY DRIFT=OFF
*BOUNDARY
1, 1, 1, 0.1
*END STEP
"""


@pytest.mark.parametrize(
    "card", [card for cards in CARDS.values() for card in cards if "GAMMA" not in card and "EULER" not in card]
)
def test_a_support_displaced_at_once_moves_before_the_first_increment(card):
    """u = 0.1 (1 - cos(10 t)) to second order, as under a load at once; the jump stores 100 0.1^2/2, all of it work.

    Increment 0 keeps the displacements of before.
    """
    errors = []
    for dt in (0.01, 0.005):
        history = run_text(JUMP.format(law="*ELASTIC\n100.", card=card, dt=dt))
        errors.append(np.abs(history.of_node(2)[:, 0] - 0.1 * (1.0 - np.cos(10.0 * history.time))).max())
        assert history.of_node(1)[:, 0] == pytest.approx([0.0] + [0.1] * (len(history) - 1), abs=1e-15)
        assert history.of_element(1, "T")[0] == 0.0
        assert history.of_energy("external_work") == pytest.approx(0.5, abs=1e-12)
        assert history.of_node(2, "a")[0, 0] == pytest.approx(10.0)
        assert any("it jumps" in notice for notice in history.notices)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_rods_follow_at_once_and_the_notice_says_so():
    history = run_text(JUMP.format(law="*INEXTENSIBLE", card="TIME INTEGRATOR=NEWMARK", dt=0.01))
    assert history.of_node(2)[:, 0] == pytest.approx(history.of_node(1)[:, 0])
    assert any("rods move their nodes to the nearest places" in notice for notice in history.notices)


@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
def test_energy_momentum_with_rods_starts_with_the_velocity_of_the_deck(mass):
    """A rod about its end at 1.5 rad/s, no load: V and the energy are the deck's, T = m L w^2/2 or m L w^2/3.

    Neither rings, although the rates of stretch of the motion do.
    """
    text = f"""*NODE
1, 0, 0, 0
2, 0.6, 0, -0.8
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
*MATERIAL, NAME=M
*INEXTENSIBLE
*DENSITY
1.
*SOLID SECTION, ELSET=BARS, MATERIAL=M, MASS={mass}
1.
*BOUNDARY
1, 1, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 1, 1.2
2, 3, 0.9
*STEP, NLGEOM
*DYNAMIC, DIRECT, {MIDDLE}
0.01, 1.
*END STEP
"""
    history = run_text(text)
    share = 0.5 if mass == "LUMPED" else 1.0 / 3.0
    assert history.of_node(2, "v")[0] == pytest.approx([1.2, 0.0, 0.9], abs=1e-15)
    assert history.of_energy("kinetic") == pytest.approx(0.5 * share * 2.25, rel=1e-13)
    assert np.abs(history.energy_error).max() < 1e-14
    tension = history.of_element(1, "T")[1:]
    assert tension == pytest.approx(share * 2.25, rel=1e-4)
    assert np.abs(np.diff(tension)).max() < 1e-11
