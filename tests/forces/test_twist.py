"""Lines that twist: laws of their forces, closed forms, motion in free flight, clamps that turn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
from fem.assembly.system import assemble
from fem.cli import main
from fem.forces.families import FAMILIES
from fem.forces.protocol import BOOKS, Tangent, Trial
from fem.forces.twist import OF_ANGLE, OF_FRAME, TURNED, TWIST
from fem.model.twists import find_twists
from fem.runs.record import NO_WISHES, SilentSink
from fem.solve.loop import Run
from tests.forces.families.test_families import ask, dense

PLACES = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [1.9, 0.5, 0.3], [2.5, 1.2, 0.4], [2.6, 2.1, 0.9]])
N1 = np.array([0.1, 0.3, 1.0])


def rod(
    places: np.ndarray = PLACES, n1: np.ndarray | None = N1, *, order: tuple[int, ...] = (1, -1, 1, 1),
    numbers: str = "1., 0.01, 0., 0.025, 0.02", coupling: float = 0.0, young: float = 1000.0, shear: float = 400.0,
    density: float = 1.0, supports: str = "1, ENCASTRE", more: str = "", steps: str = "*STEP\n*STATIC\n*END STEP",
    flags: str = "",
) -> str:  # fmt: skip
    """A line through places; order: which elements run along it (1) and which back (-1)."""
    nodes = "\n".join(f"{i + 1}, " + ", ".join(map(repr, map(float, x))) for i, x in enumerate(places))
    ways = [(i + 1, i + 2) if order[i % len(order)] > 0 else (i + 2, i + 1) for i in range(len(places) - 1)]
    elements = "\n".join(f"{i + 1}, {a}, {b}" for i, (a, b) in enumerate(ways))
    side = "" if n1 is None else ", ".join(map(repr, map(float, n1)))
    return f"""*NODE, NSET=ALL
{nodes}
*ELEMENT, TYPE=B31, ELSET=LINE
{elements}
*BEAM GENERAL SECTION, ELSET=LINE, DENSITY={density!r}, COUPLING={coupling!r}{flags}
{numbers}
{side}
{young!r}, {shear!r}
{more}
*BOUNDARY
{supports}
{steps}
"""


def asked(system, u0, u1, state, rate=0.0):
    """Energy, force, dense tangent and state of everything but bars, in statics."""
    size, after = len(u1), state.copy()
    tangent = Tangent(
        system.bars.nodes, np.zeros((10, len(system.bars.nodes))), np.zeros(0), np.zeros((size // 3, 9)), system.pairs,
        np.zeros((len(system.pairs), 18)),
    )  # fmt: skip
    zeros, many = np.zeros(size), np.zeros(len(system.bars.nodes))
    trial = Trial(
        False, 1.0, rate, rate**2, 0.0, 0.0, 1.0, 0.0, u0, zeros, zeros, u1, zeros, zeros, many, many,
        system.coordinates.ravel(), state, after, np.zeros(BOOKS),
    )  # fmt: skip
    force = np.zeros(size)
    energy = ask(trial, system.springs, system.families, force, zeros.copy(), tangent)
    return energy, force, dense(tangent, size), after


def moved(system, seed, size=0.1):
    """Displacements, and spins three times as large; what is held stays."""
    u = size * np.random.default_rng(seed).normal(size=system.size)
    spins = u[3 * system.shown :].reshape(-1, 3)
    spins[:, 0] *= 3.0 * system.twists.radius
    spins[:, 1:] = 0.0
    return u


ON_BODY = (
    "5, 4, 6\n*NODE\n9, -1., 0., 0.\n*NSET, NSET=TIED\n1\n*RIGID BODY, REF NODE=9, TIE NSET=TIED\n*BOUNDARY\n9, 1, 6"
)


@pytest.mark.parametrize(
    ("coupling", "supports"), [(0.0, "1, ENCASTRE\n5, 4, 6"), (0.3, "1, ENCASTRE\n5, 4, 6"), (0.0, ON_BODY)]
)
def test_statics_has_the_gradient_of_the_energy_and_a_symmetric_tangent(coupling, supports):
    """After an increment, by differences of fourth order, step 1e-4; elements run both ways, two clamps, one on a body
    (whose nodes move as they like here)."""
    system = assemble(fem.parse_deck(rod(coupling=coupling, young=10.0, shear=4.0, supports=supports)))
    still = np.zeros(system.size)
    assert np.abs(asked(system, still, still, system.state)[1]).max() < 1e-14
    u0 = moved(system, 1)
    state = asked(system, still, u0, system.state)[3]
    u1 = u0 + moved(system, 2)
    _, force, tangent, _ = asked(system, u0, u1, state)
    assert np.abs(tangent - tangent.T).max() < 1e-14 * np.abs(tangent).max()
    open_dofs = np.arange(system.size) < 3 * system.shown
    open_dofs[3 * system.shown :: 3] = True
    for dof in np.flatnonzero(open_dofs):
        found = []
        for h in (1e-4, -1e-4, 2e-4, -2e-4):
            u = u1.copy()
            u[dof] += h
            energy, own, _, _ = asked(system, u0, u, state)
            found.append(np.append(energy, own))
        slope = (8.0 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-4
        assert slope[0] == pytest.approx(force[dof], abs=1e-9 * np.abs(force).max())
        assert slope[1:][open_dofs] == pytest.approx(tangent[open_dofs, dof], abs=1e-9 * np.abs(tangent).max())


def test_a_model_that_is_rotated_has_the_same_forces_rotated():
    """With its section, after two increments: round-off."""
    turn = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()
    one, other = (
        assemble(fem.parse_deck(rod(PLACES @ axes.T, axes @ N1, young=10.0, shear=4.0))) for axes in (np.eye(3), turn)
    )
    states, before = [one.state, other.state], np.zeros(one.size)
    for seed in (1, 2):
        u = before + moved(one, seed)
        turned = u.copy()
        turned[: 3 * one.shown] = (u[: 3 * one.shown].reshape(-1, 3) @ turn.T).ravel()
        energy, force, _, states[0] = asked(one, before, u, states[0])
        energy2, force2, _, states[1] = asked(other, before, turned, states[1])
        before = u
    nodes = 3 * one.shown
    assert energy2 == pytest.approx(energy, rel=1e-12)
    assert force2[:nodes].reshape(-1, 3) @ turn == pytest.approx(force[:nodes].reshape(-1, 3), abs=1e-12)
    assert force2[nodes:] == pytest.approx(force[nodes:], abs=1e-12)


def test_elements_that_run_back_change_nothing_but_the_sign_of_spins():
    """Of spins about themselves, that is: their unknowns change sign."""
    ways = (1, 1, 1, 1), (1, -1, -1, 1)
    one, other = (assemble(fem.parse_deck(rod(order=way, coupling=0.3, young=10.0, shear=4.0))) for way in ways)
    u, v = moved(one, 3), moved(one, 3)
    sign = np.array(ways[1], float)[one.twists.bars]
    v[3 * one.shown :: 3] *= sign
    energy, force, _, _ = asked(one, 0.0 * u, u, one.state)
    energy2, force2, _, _ = asked(other, 0.0 * v, v, other.state)
    force2[3 * one.shown :: 3] *= sign
    assert energy2 == pytest.approx(energy, rel=1e-12)
    assert force2 == pytest.approx(force, abs=1e-12)


STATIC = """*STEP, NLGEOM
*STATIC
{increment!r}, 1.
*CONTROLS, RESI_GLOB_RELA=1e-10
{acting}
*NODE PRINT, NSET=ALL
U, SKT, SMT
*END STEP"""


def arc(radius: float, angle: float, bars: int) -> np.ndarray:
    """Places along an arc in x, y that begins at (radius, 0, 0) along y."""
    f = np.linspace(0.0, angle, bars + 1)
    return radius * np.column_stack([np.cos(f), np.sin(f), 0.0 * f])


def order_of(errors):
    return np.log2(np.abs(errors[:-1]) / np.abs(errors[1:]))


def test_quarter_circle_with_a_load_across_its_plane():
    """Its tip moves by P R^3 (pi/(4 EI) + (3 pi/4 - 2)/GJ) (Castigliano); the torque at the clamp is P R."""
    push, errors = 1e-5, []
    exact = push * (np.pi / 4.0 + (3.0 * np.pi / 4.0 - 2.0) / 0.8)
    for bars in (10, 20):
        text = rod(
            arc(1.0, np.pi / 2.0, bars), None, order=(1,), numbers="1e3, 1e-3, 0., 1e-3, 1e-3", shear=800.0,
            steps=STATIC.format(increment=1.0, acting=f"*CLOAD\n{bars + 1}, 3, {push!r}"),
        )  # fmt: skip
        history = fem.run(fem.parse_deck(text))
        errors.append(history.of_node(bars + 1)[-1][2] / exact - 1.0)
    assert order_of(np.array(errors)) == pytest.approx(2.0, abs=0.1)
    assert abs(errors[1]) < 1.5e-3
    moments = history.of_node(1, "SMT")[-1]
    assert abs(moments[2]) == pytest.approx(push, rel=0.06)  # at the middle of half a bar: first order


BEND = {300.0: (58.7802, 22.2453, 40.1894), 600.0: (47.1522, 15.6854, 53.4718)}
"""Tip of a bend of 45 degrees, R = 100, EI = GJ = 1e7/12, EA = 1e7: a Kirchhoff rod, by shooting."""


def test_bend_of_45_degrees_with_a_load_across_its_plane():
    """Bathe and Bolourchi, Int. J. Numer. Methods Eng. 14 (1979) 961; published with shear (47.2, 15.9, 53.4)."""
    for load, exact in BEND.items():
        errors = []
        for bars in (8, 16):
            places = arc(100.0, np.pi / 4.0, bars)
            places = np.column_stack([places[:, 1], 100.0 - places[:, 0], 0.0 * places[:, 2]])
            text = rod(
                places, None, order=(1,), numbers="1., 0.0833333333333333, 0., 0.0833333333333333, 0.166666666666667",
                young=1e7, shear=5e6, steps=STATIC.format(increment=0.25, acting=f"*CLOAD\n{bars + 1}, 3, {load!r}"),
            )  # fmt: skip
            tip = places[-1] + fem.run(fem.parse_deck(text)).of_node(bars + 1)[-1]
            errors.append(np.linalg.norm(tip - exact) / 100.0)
        assert errors[1] < 4e-3
        assert order_of(np.array(errors)) == pytest.approx(2.0, abs=0.3)


def test_torsional_frequencies():
    """(2n - 1)/(4 L) sqrt(GJ/Ip), clamped and free; a round line with one clamp has none, as nothing twists it."""
    errors = []
    for bars in (10, 20):
        places = np.column_stack([np.linspace(0.0, 1.0, bars + 1), *np.zeros((2, bars + 1))])
        text = rod(
            places, None, order=(1,), numbers="1e4, 0.1, 0., 0.2, 8e-4", shear=1000.0, density=1.0,
            supports="1, ENCASTRE\nALL, 1, 3",
            steps="*STEP, PERTURBATION\n*FREQUENCY\n2\n*END STEP",
        )  # fmt: skip
        omega = fem.run(fem.parse_deck(text)).modes[0].omega
        errors.append(omega / (np.array([0.5, 1.5]) * np.pi * np.sqrt(0.8 / 0.3)) - 1.0)
    assert np.abs(errors[1]).max() < 5e-3
    assert order_of(np.array(errors)[:, 0]) == pytest.approx(2.0, abs=0.1)


SPEEDS = np.random.default_rng(2).normal(size=(5, 3))
SPEEDS -= SPEEDS.mean(axis=0)


def flying(scheme: str, dt: float, period: float = 0.05, wind: np.ndarray | float = 0.0) -> fem.Model:
    """A bent rod with three stiffnesses in free flight, with a velocity more at all nodes."""
    moves = np.ndenumerate(SPEEDS + wind)
    speeds = "\n".join(f"{i + 1}, {c + 1}, {float(v)!r}" for (i, c), v in moves)
    steps = f"*STEP, NLGEOM\n*DYNAMIC, DIRECT, {scheme}\n{dt!r}, {period!r}\n*CONTROLS, RESI_GLOB_RELA=1e-12"
    text = rod(supports="", steps=f"*INITIAL CONDITIONS, TYPE=VELOCITY\n{speeds}\n{steps}\n*END STEP")
    return fem.parse_deck(text.replace("*BOUNDARY\n\n", ""))


def flight(scheme: str, dt: float) -> tuple[float, float]:
    """Errors of energy and angular momentum, relative."""
    run = Run(flying(scheme, dt), SilentSink(), NO_WISHES)
    system, count = run.system, run.system.shown
    spin = angular(system, np.zeros(system.size), np.concatenate([SPEEDS.ravel(), np.zeros(system.size - 3 * count)]))
    run.run()
    motion, energies = run.progress.motion, run.progress.motion.energies
    began = 0.5 * (system.mass[:count] * (SPEEDS**2).sum(axis=1)).sum()
    off = np.abs(angular(system, motion.u, motion.v) - spin).max() / np.abs(spin).max()
    return abs(energies[0] + energies[1] + energies[4] - began) / began, off


def angular(system, u, v):
    """Angular momentum of nodes and of spins about their bars, Ip L a' t."""
    count, twists = system.shown, system.twists
    place, speed = (system.coordinates + u.reshape(-1, 3))[:count], v.reshape(-1, 3)[:count]
    ends = system.element_nodes[twists.bars]
    way = place[ends[:, 1]] - place[ends[:, 0]]
    own = system.mass[count:] * twists.radius * v.reshape(-1, 3)[count:, 0]
    spins = own[:, None] * way / np.linalg.norm(way, axis=1, keepdims=True)
    return (system.mass[:count, None] * np.cross(place, speed)).sum(axis=0) + spins.sum(axis=0)


def test_free_flight_keeps_energy_and_angular_momentum():
    """ENERGY MOMENTUM: energy to round-off (its Newton stops at 1e-12 of the forces), momentum to second order."""
    scheme = "TIME INTEGRATOR=ENERGY MOMENTUM"
    energies, momenta = np.transpose([flight(scheme, dt) for dt in (0.005, 0.0025)])
    assert energies.max() < 1e-11
    assert order_of(momenta) == pytest.approx(2.0, abs=0.2)
    assert momenta[1] < 1e-5
    _, momenta = np.transpose([flight("TIME INTEGRATOR=NEWMARK", dt) for dt in (0.005, 0.0025)])
    assert order_of(momenta) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("scheme", ["TIME INTEGRATOR=ENERGY MOMENTUM", "ALPHA=-0.05"])
def test_a_uniform_velocity_changes_nothing(scheme):
    wind = np.array([3.0, -2.0, 1.0])
    still, blown = (fem.run(flying(scheme, 0.005, wind=each)) for each in (0.0 * wind, wind))
    assert np.abs(still.u[-1]).max() > 0.05
    drift = still.time[:, None, None] * wind
    assert blown.u.reshape(len(drift), -1, 3)[:, :5] - drift == pytest.approx(
        still.u.reshape(len(drift), -1, 3)[:, :5], abs=1e-11
    )


def test_a_clamp_that_turns_once_brings_a_loaded_bent_rod_back():
    """A cantilever, bent at rest, whose clamp turns by 2 pi about its line."""
    places = np.vstack([[1.0, -0.2, 0.0], arc(1.0, np.pi / 2.0, 6)])
    steps = STATIC.format(increment=0.5, acting="*CLOAD\n8, 3, -0.2") + STATIC.format(
        increment=1.0 / 12.0, acting="*BOUNDARY\n1, 5, 5, 6.283185307179586"
    ).replace("*STEP", "\n*STEP").replace("*NLGEOM", "*NLGEOM")
    text = rod(places, None, order=(1, -1), numbers="1e2, 1e-3, 0., 1e-3, 1e-3", shear=800.0, steps=steps)
    history = fem.run(fem.parse_deck(text))
    begun = next(k for k, time in enumerate(history.time) if time == pytest.approx(1.0))
    assert np.abs(history.u[len(history.u) - 6] - history.u[begun]).max() > 0.5
    assert history.u[-1] == pytest.approx(history.u[begun], abs=1e-9)


def test_twist_of_a_straight_line_between_clamps():
    """Turned by a quarter: the torque is GJ/L times that, constant along the line, and right-handed."""
    places = np.column_stack([np.linspace(0.0, 2.0, 6), *np.zeros((2, 6))])
    for end, sign in ((6, 1.0), (1, -1.0)):
        text = rod(
            places, None, order=(1, -1, -1), numbers="1., 0.01, 0., 0.01, 0.02", supports="1, ENCASTRE\n6, ENCASTRE",
            steps=STATIC.format(increment=1.0, acting=f"*BOUNDARY\n{end}, 4, 4, 0.7853981633974483"),
        ).replace("SMT", "SMT, SPT, SDT")  # fmt: skip
        history = fem.run(fem.parse_deck(text))
        torque = np.array([history.of_node(node, "SMT")[-1][2] for node in range(1, 7)])
        assert torque == pytest.approx(sign * 8.0 * 0.25 * np.pi / 2.0, rel=1e-9)
        one, two, twist = np.array([history.of_node(node, "SPT")[-1] for node in range(1, 7)]).T
        assert twist[1:-1] == pytest.approx(sign * 0.05 * np.pi, rel=1e-9)  # a bar is a fifth of the line
        ways = np.array([1.0, -1.0, -1.0, 1.0, -1.0])
        assert ways[1:] * two[1:-1] - ways[:-1] * one[1:-1] == pytest.approx(twist[1:-1], rel=1e-9)
        director = np.array([history.of_node(node, "SDT")[-1] for node in range(2, 6)])
        assert np.abs(director @ [1.0, 0.0, 0.0]).max() < 1e-15
        turn = np.arctan2(*director[:, [2, 1]].T)
        assert np.abs(np.diff(turn)) == pytest.approx(0.05 * np.pi, rel=1e-9)


@pytest.mark.parametrize(
    ("numbers", "supports", "twists"),
    [
        ("1., 0.01, 0., 0.01, 0.", "1, ENCASTRE\n5, ENCASTRE", False),
        ("1., 0.01, 0., 0.01, 0.02", "1, ENCASTRE\n5, 1, 3", False),
        ("1., 0.01, 0., 0.01, 0.02", "1, ENCASTRE\n5, 1, 3\n5, 5, 6", False),
        ("1., 0.01, 0., 0.01, 0.02", "1, ENCASTRE\n5, ENCASTRE", True),
        ("1., 0.01, 0., 0.02, 0.02", "1, 1, 3\n5, 1, 3", True),
    ],
)
def test_a_straight_line_twists_where_something_twists_it(numbers, supports, twists):
    """Without J, or held against twist at one place only, it only bends. 5 and 6 held: a swivel."""
    places = np.column_stack([np.linspace(0.0, 2.0, 5), *np.zeros((2, 5))])
    system = assemble(fem.parse_deck(rod(places, None, numbers=numbers, supports=supports)))
    assert (system.twists is not None) == twists
    assert (len(system.coordinates) > 5) == twists


def test_a_hung_rope_untwists():
    """With weight W at a free end and its own weight w: - C (W L + w L^2/2)/(EA GJ - C^2) of the whole end; exact."""
    stretch, torsion, coupling, length, bars = 1e3, 0.5, 8.0, 10.0, 5
    places = np.column_stack([*np.zeros((2, bars + 1)), -np.linspace(0.0, length, bars + 1)])
    text = rod(
        places, None, order=(1, -1), numbers="1., 1e-5, 0., 1e-5, 1e-3", young=stretch, shear=torsion / 1e-3,
        coupling=coupling, density=3.0,
        steps="*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, RESI_GLOB_RELA=1e-10\n*DLOAD\nLINE, GRAV, 1., 0., 0., -1.\n"
        "*CLOAD\n6, 3, -5.\n*END STEP",
    ).replace("COUPLING=8.0", "COUPLING=8.0, STRAIN=ENGINEERING")  # fmt: skip
    run = Run(fem.parse_deck(text), SilentSink(), NO_WISHES)
    run.run()
    system, u = run.system, run.progress.motion.u
    spins = u[3 * system.shown :: 3] / system.twists.radius
    place = (system.coordinates + u.reshape(-1, 3))[:6]
    half = 0.5 * length / bars
    strain = np.linalg.norm(place[5] - place[4]) / (2.0 * half) - 1.0
    end = spins[4] - coupling * strain / torsion * half  # the spin is that of the middle of the last bar
    exact = -coupling * (5.0 * length + 1.5 * length**2) / (stretch * torsion - coupling**2)
    assert end == pytest.approx(exact, rel=1e-9)


BODY = """*NODE
9, 2., 0., 0.
*NSET, NSET=TIED
6
*RIGID BODY, REF NODE=9, TIE NSET=TIED
"""
STRAIGHT = np.column_stack([np.linspace(0.0, 2.0, 6), *np.zeros((2, 6))])


def test_a_body_that_turns_twists_the_line():
    """By 0.5 about it: the torque GJ/L times that, also as the moment of the body."""
    text = rod(
        STRAIGHT, None, order=(1, -1, -1), numbers="1., 0.01, 0., 0.01, 0.02", more=BODY,
        supports="1, ENCASTRE\n9, 1, 3\n9, 5, 6",
        steps=STATIC.format(increment=0.5, acting="*BOUNDARY\n9, 4, 4, 0.5").replace("SMT", "SMT, RM"),
    )  # fmt: skip
    history = fem.run(fem.parse_deck(text))
    assert [history.of_node(node, "SMT")[-1][2] for node in range(1, 7)] == pytest.approx([2.0] * 6, rel=1e-9)
    assert history.of_node(9, "RM")[-1] == pytest.approx([2.0, 0.0, 0.0], abs=1e-8)


INERTIA = """*ELEMENT, TYPE=MASS, ELSET=M
20, 9
*MASS, ELSET=M
2.
*ELEMENT, TYPE=ROTARYI, ELSET=R
21, 9
*ROTARY INERTIA, ELSET=R
0.3, 0.4, 0.5
"""


@pytest.mark.parametrize(("moments", "is_told"), [("0., 0.4, 0.4", True), ("0.3, 0.4, 0.5", False)])
def test_a_slender_body_is_a_swivel_and_this_is_told(moments, is_told):
    more = BODY.replace("*RIGID", INERTIA.replace("0.3, 0.4, 0.5", moments) + "*RIGID")
    text = rod(STRAIGHT, None, order=(1, -1, -1), numbers="1., 0.01, 0., 0.01, 0.02", more=more)
    model = fem.parse_deck(text)
    told = "the free body of node 9 is slender, with no rotation about its axis: it is a swivel for the line at node 6"
    assert any(told in notice for notice in model.notices) == is_told


@pytest.mark.parametrize(("places", "numbers", "is_told"), [
    (PLACES, "1., 0.01, 0., 0.025, 0.02", True), (PLACES, "1., 0.01, 0., 0.01, 0.02", False),
    (PLACES * [1.0, 1.0, 0.0], "1., 0.01, 0., 0.025, 0.02", False),
])  # fmt: skip
def test_where_numbers_of_elements_decide_how_a_section_lies_this_is_told(places, numbers, is_told):
    """n1 is carried along a line that is curved in space from the element with the lowest number. In a plane it is
    the same from all; numbers that do not begin at an end of the line give another line."""
    n1 = np.array([0.0, 0.0, 1.0]) if not places[:, 2].any() else N1
    text = rod(places, n1, numbers=numbers)
    told = "is not round is curved in space: n1 is carried along it from element 1"
    assert any(told in notice for notice in fem.parse_deck(text).notices) == is_told
    ends = text.split("*ELEMENT, TYPE=B31, ELSET=LINE\n")
    other = ends[0] + "*ELEMENT, TYPE=B31, ELSET=LINE\n" + ends[1].replace("1, 1, 2\n", "9, 1, 2\n", 1)
    if "0.025" in numbers:
        models = [fem.parse_deck(deck) for deck in (text, other)]
        found = [find_twists(each).director for each in models]
        assert (abs(found[0][3] @ found[1][2]) < 1.0 - 1e-3) == is_told  # element 4 in both


def test_a_clamp_that_turns_in_a_step_of_buckling_is_refused_once():
    """It was also told that bars have no rotations to prescribe, which lines that twist have."""
    steps = "*STEP, PERTURBATION\n*BUCKLE\n1\n*CLOAD\n4, 1, -1.\n*BOUNDARY\n6, 4, 4, 1.\n*END STEP"
    text = rod(STRAIGHT, None, numbers="1., 0.01, 0., 0.01, 0.02", supports="1, ENCASTRE\n6, ENCASTRE", steps=steps)
    with pytest.raises(fem.DeckError) as refused:
        fem.parse_deck(text)
    assert "a support that moves in a *BUCKLE step" in str(refused.value)
    assert str(refused.value).count("error:") == 1


def test_a_body_that_spins_on_a_line_is_a_torsion_pendulum():
    """sqrt(GJ/(I L)); the line is light. 300 increments in a period: 1e-3 of the amplitude; ENERGY MOMENTUM: energy."""
    omega = np.sqrt(4.0 / 0.3)
    text = rod(
        STRAIGHT, None, order=(1, -1, -1), numbers="1., 0.01, 0., 0.01, 0.02", density=1e-6,
        more=BODY.replace("*RIGID", INERTIA + "*RIGID"),
        steps="*INITIAL CONDITIONS, TYPE=VELOCITY\n9, 4, 0.2\n*STEP, NLGEOM, INC=1000\n"
        "*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.006, 1.8\n*CONTROLS, RESI_GLOB_RELA=1e-11\n"
        "*NODE PRINT, NSET=ALL\nU, UR\n*END STEP",
    )  # fmt: skip
    history = fem.run(fem.parse_deck(text))
    exact = 0.2 / omega * np.sin(omega * history.time)
    assert history.of_node(9, "UR")[:, 0] == pytest.approx(exact, abs=1e-3 * 0.2 / omega)
    whole = history.energy @ [1.0, 1.0, 1.0, -1.0, 1.0]
    assert np.abs(whole - whole[0]).max() < 1e-10 * whole[0]


@pytest.mark.parametrize("second", [0.01, 0.0025])
def test_kink_says_how_near_a_line_is_to_a_loop(tmp_path, capsys, monkeypatch, second):
    """Stretched to T = 5 and twisted to M = 2 with EI = 10: M/(2 sqrt(EI T)) at every node; T and M grow together. The
    smaller EI counts."""
    monkeypatch.chdir(tmp_path)
    steps = STATIC.format(increment=0.25, acting="*BOUNDARY\n6, 1, 1, 0.01\n6, 4, 4, 0.5")
    steps = steps.replace("\n*END STEP", "\n*EL PRINT, ELSET=LINE\nT\n*END STEP").replace("U, SKT, SMT", "U, SM3")
    text = rod(
        STRAIGHT, None, order=(1, -1, -1), numbers=f"1., 0.01, 0., {second}, 0.02", supports="1, ENCASTRE\n6, 2, 6",
        flags=", STRAIN=ENGINEERING", steps=steps,
    )  # fmt: skip
    Path("deck.inp").write_text(text)
    assert main(["run", "deck.inp", "--output", "out"]) == 0
    assert main(["post", "kink", "out", "--set", "LINE"]) == 0
    rows = np.genfromtxt("out/kink_LINE.csv", delimiter=",", names=True)
    margin = 2.0 / (2.0 * np.sqrt(1e3 * second * 5.0))
    assert rows["margin"] == pytest.approx(margin, rel=1e-6)
    assert f"at most {margin:.4g} at node" in capsys.readouterr().out


def writhe(x):
    """Of a closed polygon, exactly: solid angles of all pairs of bars (Klenin and Langowski, Biopolymers 54, 2000)."""
    n, total, y = len(x), 0.0, np.roll(x, -1, 0)
    for i in range(n):
        for j in range(i + 2, n if i else n - 1):
            r = [x[j] - x[i], y[j] - x[i], y[j] - y[i], x[j] - y[i]]
            c = [np.cross(r[k], r[(k + 1) % 4]) for k in range(4)]
            c = [v / (np.linalg.norm(v) + 1e-300) for v in c]
            angle = sum(np.arcsin(np.clip(c[k] @ c[(k + 1) % 4], -1.0, 1.0)) for k in range(4))
            total += angle * np.sign(np.dot(np.cross(y[j] - x[j], y[i] - x[i]), r[0])) / (2.0 * np.pi)
    return total


def test_a_closed_line_keeps_twist_and_writhe_together():
    """A ring becomes a pretzel in 12 large increments, its bars spinning at will: to round-off."""
    f = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)

    def shape(p):
        x, y = np.cos(f) + 0.8 * p * np.cos(2.0 * f), np.sin(f) - 0.8 * p * np.sin(2.0 * f)
        return np.column_stack([x, y, 0.6 * p * np.sin(3.0 * f)])

    text = rod(shape(0.0), None, order=(1, 1, -1), numbers="1., 1e-3, 0., 1e-3, 1e-3", supports="1, 1, 3")
    system = assemble(fem.parse_deck(text.replace("11, 11, 12\n", "11, 11, 12\n13, 1, 12\n")))
    first = int(system.families[FAMILIES.index(TWIST)].first[0]) + OF_FRAME * len(system.twists.spin)
    own = slice(first + TURNED, None, OF_ANGLE)
    state, u = system.state, np.zeros(system.size)
    begun = state[own].sum() + 2.0 * np.pi * writhe(shape(0.0))
    for p in np.linspace(0.0, 1.0, 13)[1:]:
        before, u = u, u.copy()
        u[: 3 * system.shown] = (shape(p) - shape(0.0)).ravel()
        u[3 * system.shown :: 3] += 0.3 * np.random.default_rng(3).normal(size=12) * system.twists.radius
        state = asked(system, before, u, state)[3]
    assert abs(writhe(shape(1.0))) > 0.1
    assert state[own].sum() + 2.0 * np.pi * writhe(shape(1.0)) == pytest.approx(begun, abs=1e-12)


@pytest.mark.parametrize("dt", [1e-3, 1e-5])
def test_small_increments_of_energy_momentum_do_not_magnify_rounding_errors(dt):
    """From rest in a bent shape, whose far end hardly moves yet: (E1 - E0 - g.dz)/|dz| is noise there."""
    steps = f"*STEP, NLGEOM\n*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n{dt!r}, {3.0 * dt!r}\n"
    text = rod(
        arc(1.0, 2.0, 12), None, order=(1,), numbers="1., 1e-3, 0., 1e-3, 1e-3", flags=", STRAIN=ENGINEERING",
        steps=STATIC.format(increment=0.1, acting="*CLOAD\n13, 3, 0.2") + f"\n{steps}*CLOAD\n13, 3, 0.\n*END STEP",
    )  # fmt: skip
    history = fem.run(fem.parse_deck(text))
    assert history.iterations[-3:].max() <= 7
    assert np.abs(history.energy_error[-3:]).max() < 1e-13 * history.energy[-1, 1]


@pytest.mark.parametrize(
    ("more", "supports"), [("", "1, ENCASTRE"), (INERTIA + BODY, "1, ENCASTRE"), ("", "1, ENCASTRE\n6, 1, 2\n6, 4, 6")]
)
def test_tension_and_torque_of_a_line_with_coupling(more, supports):
    """T = EA e + C tau is the load at every bar, the torque C e + GJ tau is 0 with a free end or body, and C e between
    clamps; the tension at the support (TE) agrees."""
    stretch, torsion, coupling, load = 1e3, 0.5, 8.0, 5.0
    text = rod(
        STRAIGHT[:, [1, 2, 0]] * [1, 1, -1], None, order=(1, -1), numbers="1., 1e-5, 0., 1e-5, 1e-3", young=stretch,
        shear=torsion / 1e-3, coupling=coupling, density=1e-9, supports=supports, flags=", STRAIN=ENGINEERING",
        more=more.replace("9, 2., 0., 0.", "9, 0., 0., -2."),
        steps="*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, RESI_GLOB_RELA=1e-11\n"
        f"*CLOAD\n{9 if more else 6}, 3, {-load!r}\n*NODE PRINT, NSET=ALL\nU, SKT, SMT, TE, RF\n"
        "*EL PRINT, ELSET=LINE\nE, T, SF\n*END STEP",
    )  # fmt: skip
    history = fem.run(fem.parse_deck(text))
    tensions = np.array([history.of_element(bar, "T")[-1] for bar in range(1, 6)])
    assert tensions == pytest.approx(load, rel=1e-9)
    assert history.of_node(1, "TE")[-1] == pytest.approx(load, rel=1e-9)
    torque = np.array([history.of_node(node, "SMT")[-1][2] for node in range(1, 6)])
    twist = np.array([history.of_node(node, "SKT")[-1][2] for node in range(1, 6)])
    strains = np.array([history.of_element(bar, "E")[-1] for bar in range(1, 6)])
    if "6, 4, 6" in supports:
        assert torque == pytest.approx(coupling * load / stretch, rel=1e-9)
        assert np.abs(twist).max() < 1e-12
    else:
        assert np.abs(torque).max() < 1e-9
        assert twist == pytest.approx(-coupling * strains / torsion, rel=1e-9)


@pytest.mark.parametrize(
    ("coupling", "supports"), [(0.0, "1, ENCASTRE"), (3.0, "1, ENCASTRE\n5, 4, 6"), (3.0, ON_BODY)]
)
def test_harmonic_motion_of_a_line_that_twists(coupling, supports):
    """At 1e-4 of the lowest frequency its amplitude is the static change of places and of T, to which C belongs."""
    push, load = 1e-4, "*CLOAD\n5, 2, {0!r}\n5, 3, {1!r}"
    asks = "*NODE PRINT, NSET=ALL\nU\n*EL PRINT, ELSET=LINE\nE, T\n*END STEP"
    still = f"*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, RESI_GLOB_RELA=1e-12\n{{0}}\n{asks}"
    bent = [rod(coupling=coupling, supports=supports, steps=still.format(load.format(at, 0.3))) for at in (push, -push)]
    one, two = (fem.run(fem.parse_deck(text)) for text in bent)
    steady = f"\n*STEP\n*STEADY STATE DYNAMICS, DIRECT\n1e-5, 1e-5, 1\n*CLOAD\n5, 2, {push!r}\n{asks}"
    text = rod(coupling=coupling, supports=supports, steps=still.format(load.format(0.0, 0.3)) + steady)
    answer = fem.run(fem.parse_deck(text)).responses[0]
    change = 0.5 * (one.of_node(5)[-1] - two.of_node(5)[-1])
    assert answer.motion[0, 4] == pytest.approx(change, abs=1e-4 * np.abs(change).max())
    pulls = [0.5 * (one.of_element(bar, "T")[-1] - two.of_element(bar, "T")[-1]) for bar in range(1, 5)]
    assert answer.values[:, 3] == pytest.approx(np.array(pulls), abs=1e-4 * np.abs(pulls).max())


@pytest.mark.parametrize(("torsion", "order"), [(0.02, (1, -1)), (0.02, (-1, 1)), (0.0, (1, -1))])
def test_moments_of_a_clamp_balance_those_of_the_loads(torsion, order):
    """RM, about the clamp: exact for a curved line with three stiffnesses, and for one that only bends."""
    places, push = PLACES if torsion else STRAIGHT[:5], np.array([0.5, 2.0, -1.5])
    acting = "*CLOAD\n" + "\n".join(f"5, {axis}, {float(force)!r}" for axis, force in enumerate(push, 1))
    steps = STATIC.format(increment=0.25, acting=acting).replace("SMT", "SMT, RM")
    numbers = f"1., 0.01, 0., {0.025 if torsion else 0.01}, {torsion}"
    text = rod(places, N1 if torsion else None, order=order, numbers=numbers, steps=steps)
    history = fem.run(fem.parse_deck(text))
    exact = -np.cross(places[4] + history.of_node(5)[-1] - places[0], push)
    assert history.of_node(1, "RM")[-1] == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())
    assert np.abs(history.of_node(5)[-1]).max() > 0.2


@pytest.mark.parametrize(("dof", "stiffness"), [(5, 25.0), (6, 10.0)])
def test_a_body_holds_a_flat_section_by_its_axes(dof, stiffness):
    """A moment on a body at the tip turns it by M L/EI about this axis and no other; of second order, 5 bars."""
    moment = 0.5
    more, acting = INERTIA + BODY, f"*CLOAD\n9, {dof}, {moment!r}"
    steps = STATIC.format(increment=0.5, acting=acting).replace("U,", "U, UR,")
    text = rod(STRAIGHT, np.array([0.0, 0.0, 1.0]), numbers="1., 0.01, 0., 0.025, 0.02", more=more, steps=steps)
    turn = fem.run(fem.parse_deck(text)).of_node(9, "UR")[-1]
    assert turn[dof - 4] == pytest.approx(moment * 2.0 / stiffness, rel=2e-2)
    assert np.abs(np.delete(turn, dof - 4)).max() < 1e-9


@pytest.mark.parametrize("turn", [0.5, 0.5 * np.pi])
def test_sections_that_lie_differently_meet(turn):
    """Tip of a straight cantilever of two halves: the sum of squares of arms over both stiffnesses of each half."""
    errors = []
    for bars in (10, 20):
        places = np.column_stack([np.linspace(0.0, 2.0, bars + 1), *np.zeros((2, bars + 1))])
        second = np.array([0.0, np.sin(turn), np.cos(turn)])
        half = ", ".join(map(str, range(bars // 2 + 1, bars + 1)))
        more = f"*ELSET, ELSET=FAR\n{half}\n*BEAM GENERAL SECTION, ELSET=FAR, DENSITY=1.\n1., 0.002, 0., 0.02, 0.02\n"
        more += ", ".join(map(repr, map(float, second))) + "\n1000., 400."
        near = ", ".join(map(str, range(1, bars // 2 + 1)))
        near = f"*ELSET, ELSET=NEAR\n{near}\n*BEAM GENERAL SECTION, ELSET=NEAR"
        steps = STATIC.format(increment=1.0, acting=f"*CLOAD\n{bars + 1}, 2, 1e-4")
        text = rod(
            places, np.array([0.0, 0.0, 1.0]), order=(1,), numbers="1., 0.01, 0., 0.004, 0.02", more=more, steps=steps
        )
        text = text.replace("*BEAM GENERAL SECTION, ELSET=LINE", near, 1)
        tip = fem.run(fem.parse_deck(text)).of_node(bars + 1)[-1]
        exact = np.zeros(3)
        for n1, (i1, i2), arms in (([0.0, 0.0, 1.0], (10.0, 4.0), 7.0), (second, (2.0, 20.0), 1.0)):
            n2 = np.cross([1.0, 0.0, 0.0], n1)
            exact += 1e-4 * arms / 3.0 * (n2[1] * n2 / i1 + n1[1] * np.array(n1) / i2)
        errors.append(np.abs(tip - exact).max() / np.abs(exact).max())
    assert errors[1] < 4e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_a_ring_that_is_turned_inside_out_has_the_energy_of_its_bending():
    """Round, bent at rest to R = 1, all its bars spun by pi (GJ = 1e4 EI): 2 pi R EI (2/R)^2/2 = 4 pi EI/R; second
    order."""
    errors = []
    for count in (20, 40):
        f = np.pi * (2.0 * np.arange(count) + 1.0) / count
        corners = np.column_stack([np.sin(f), 1.0 - np.cos(f), 0.0 * f]) / np.cos(np.pi / count)
        cut = 0.5 * (corners[:1] + corners[-1:])
        places = np.vstack([cut, corners, cut]).round(12)
        end = len(places)
        steps = f"*STEP, NLGEOM\n*STATIC\n0.02, 1.\n*BOUNDARY\n1, 4, 4, {np.pi!r}\n{end}, 4, 4, {np.pi!r}\n*END STEP"
        held = f"1, ENCASTRE\n{end}, ENCASTRE\n" + "\n".join(f"{node}, 3" for node in range(2, end))
        stiff = {"numbers": "1e4, 1., 0., 1., 1.", "young": 1.0, "shear": 1e4}
        text = rod(places, None, order=(1,), supports=held, steps=steps, **stiff)
        errors.append(float(fem.run(fem.parse_deck(text)).of_energy("strain")[-1]) / (4.0 * np.pi) - 1.0)
    assert abs(errors[1]) < 3e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_a_body_that_turns_about_an_oblique_line_is_a_clamp_that_turns():
    """A bent rod whose end a body turns by 2.5 about its line, in turned axes, against a clamp about x."""

    def moved_by(q, body):
        x = np.linspace(0.0, 1.0, 11)
        places = np.column_stack([x, 0.2 * np.sin(np.pi * x) ** 2, 0.0 * x])
        places[[0, 1, -2, -1], 1] = 0.0
        turns = ["11, 4, 4, 2.5"]
        more, supports = "", "1, ENCASTRE\n11, ENCASTRE"
        if body:
            reference = ", ".join(map(repr, (q @ [1.3, 0.0, 0.0]).tolist()))
            more = f"*NODE\n99, {reference}\n*NSET, NSET=TIED\n11\n"
            more += "*RIGID BODY, REF NODE=99, TIE NSET=TIED, ROTATION=VECTOR"
            turns = [f"99, {4 + i}, {4 + i}, {part!r}" for i, part in enumerate((2.5 * q[:, 0]).tolist())]
            turns, supports = ["99, 1, 3", *turns], "1, ENCASTRE"
        loads = "\n".join(f"6, {i}, {part!r}" for i, part in enumerate((q @ [0.1, -0.5, 0.2]).tolist(), 1))
        steps = "*STEP, NLGEOM\n*STATIC\n0.05, 1.\n*CONTROLS, RESI_GLOB_RELA=1e-11\n*BOUNDARY\n" + "\n".join(turns)
        steps += f"\n*CLOAD\n{loads}\n*NODE PRINT\nU\n*END STEP"
        stiff = {"numbers": "1e3, 1., 0., 2., 1.5", "young": 1.0, "shear": 0.8}
        text = rod(places @ q.T, q[:, 2], supports=supports, more=more, steps=steps, **stiff)
        return fem.run(fem.parse_deck(text)).u[-1].reshape(-1, 3)[:11] @ q

    clamped = moved_by(np.eye(3), False)
    assert np.abs(clamped).max() > 0.1
    for q in (np.eye(3), Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()):
        assert np.abs(moved_by(q, True) - clamped).max() < 1e-13


def test_a_line_without_torsion_moves_beside_one_that_twists_as_it_does_alone():
    """Lines without J are straight at rest, however they are drawn; beside a line with J they were refused."""
    hose = (
        "*NODE\n21, 0., 5., 0.\n29, 3., 5., 0.\n*NGEN, LINE=CATENARY\n21, 29, 1, 3.5\n*ELEMENT, TYPE=B31\n21, 21, 22\n"
        "*ELGEN, ELSET=HOSE\n21, 8\n*BEAM GENERAL SECTION, ELSET=HOSE, DENSITY=1.\n1., 0.01, 0., 0.01, 0.\n\n1000.\n"
        "*NSET, NSET=HELD\n21, 29\n*NSET, NSET=HOSE, GENERATE\n21, 29\n*BOUNDARY\nHELD, PINNED\n"
    )
    step = "*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, RESI_GLOB_RELA=1e-11\n*DLOAD\n, GRAV, 1., 0., 0., -1.\n"
    step += "*NODE PRINT, NSET=HOSE\nU, SK\n*END STEP\n"
    alone, beside = (fem.run(fem.parse_deck(text)) for text in (hose + step, rod(more=hose, steps=step)))
    for name in ("U", "SK"):
        assert beside.of_node(25, name) == pytest.approx(alone.of_node(25, name), rel=1e-8, abs=1e-10)
