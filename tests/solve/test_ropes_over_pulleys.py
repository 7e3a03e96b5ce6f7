"""Ropes of constant length over pulleys: closed forms, own integrations, laws of impacts, every scheme and solver."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.errors import FemError
from fem.runner import run_to_files
from fem.runs import write as run_files
from validation.references.pulley_ropes import GRAVITY, taut_motion

DECK = """
*NODE
1, {first}
2, 0., 0., 0.
3, {second}
*ELEMENT, TYPE=PULLEY, ELSET=R
1, 1, 2, 3
*ELEMENT, TYPE=MASS, ELSET=A
11, 1
*ELEMENT, TYPE=MASS, ELSET=B
12, 3
*MASS, ELSET=A
{m1}
*MASS, ELSET=B
{m2}
*MATERIAL, NAME=M
*INEXTENSIBLE{restitution}
*NO COMPRESSION
*SOLID SECTION, ELSET=R, MATERIAL=M
1e-4
*BOUNDARY
2, 1, 3
{fixed}
{more}
*STEP, NLGEOM, INC=1000000
*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}
{dt}, {period}
*DLOAD
, GRAV, 9.81, 0., 0., -1.
*NODE PRINT
U, V, A, RF
*EL PRINT
E, T, T2
*END STEP
"""
SCHEMES = (
    "NEWMARK", "HHT, ALPHA=-0.05", "GENERALIZED ALPHA, RHO=0.9", "ENERGY MOMENTUM", "BACKWARD EULER",
)  # fmt: skip
EXACT = SCHEMES[:4]
"""Those of second order."""


def deck(
    first=(0.0, 0.0, -1.0), second=(0.0, 0.0, -2.0), masses=(1.0, 3.0), scheme="NEWMARK", dt=1e-3, period=0.3,
    restitution="", fixed="1, 1, 2\n3, 1, 2", more="",
):  # fmt: skip
    first, second = (", ".join(map(repr, map(float, x))) for x in (first, second))
    return DECK.format(
        first=first, second=second, m1=masses[0], m2=masses[1], scheme=scheme, dt=dt, period=period,
        restitution=restitution, fixed=fixed, more=more,
    )  # fmt: skip


def run(**given):
    return fem.run(fem.parse_deck(deck(**given)))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_atwood_machine(scheme):
    """a = (m2 - m1) g/(m1 + m2), T = 2 m1 m2 g/(m1 + m2): constant, which every scheme of second order has exactly."""
    h = run(scheme=scheme, period=0.2)
    a, pull = 2.0 * GRAVITY / 4.0, 6.0 * GRAVITY / 4.0
    assert h.of_element(1, "T") == pytest.approx(pull, rel=1e-9)
    assert h.of_element(1, "T2") == pytest.approx(pull, rel=1e-9)
    assert h.of_node(1, "A")[1:, 2] == pytest.approx(a, rel=1e-8)
    tolerance = 0.5 * a * 1e-3 * 0.2 * 1.1 if scheme == "BACKWARD EULER" else 1e-10
    assert h.of_node(1)[:, 2] == pytest.approx(0.5 * a * h.time**2, abs=tolerance)
    assert h.of_node(3)[:, 2] == pytest.approx(-h.of_node(1)[:, 2], abs=1e-12)
    assert h.of_node(2, "RF")[:, 2] == pytest.approx(2.0 * pull, rel=1e-9)  # the pulley bears both branches
    assert np.abs(h.of_element(1, "E")).max() < 1e-12


SWINGING = (0.8, 0.0, -0.6), (0.0, 0.0, -1.0)


@pytest.fixture(scope="module")
def swinging():
    """Places and tensions every 4 ms."""
    free, times = ((1.0, 0.0, 1.0), (0.0, 0.0, 1.0)), np.arange(126) * 4e-3
    return taut_motion((1.0, 2.5), SWINGING, np.zeros((2, 3)), free, times)


@pytest.mark.parametrize("scheme", EXACT)
def test_swinging_atwood_machine_converges_to_dop853(scheme, swinging):
    first, second = SWINGING
    errors, pulls = [], []
    for every in (2, 1):
        h = run(
            first=first, second=second, masses=(1.0, 2.5), scheme=scheme, dt=4e-3 * every, period=0.496,
            fixed="1, 2\n3, 1, 2",
        )  # fmt: skip
        places, exact = (each[::every][: len(h.time)] for each in swinging)
        off = np.array([h.of_node(1), h.of_node(3)]).transpose(1, 0, 2) + SWINGING - places
        errors.append(np.abs(off).max())
        pulls.append(np.abs(h.of_element(1, "T")[1:] - exact[1:]).max() / exact.max())
        assert np.abs(h.of_element(1, "E")).max() < 1e-11
    assert errors[1] < 1e-4 and pulls[1] < (1e-2 if scheme == "ENERGY MOMENTUM" else 4e-4)
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_mass_on_a_table_that_hangs_another_through_a_hole():
    """r'' as of a planet: T from 16.34 to 23.84 N, angular momentum kept."""
    v = 3.6019057455741397
    h = run(
        first=(0.5, 0.0, 0.0), masses=(1.0, 2.0), dt=2e-3, period=0.7, fixed="1, 3, 3\n3, 1, 2",
        more=f"*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 2, {v!r}",
    )  # fmt: skip
    free = (1.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    places, exact = taut_motion((1.0, 2.0), ((0.5, 0, 0), (0, 0, -2.0)), ((0, v, 0), (0, 0, 0)), free, h.time)
    assert h.of_element(1, "T") == pytest.approx(exact, rel=1e-3)
    assert (exact.min(), exact.max()) == pytest.approx((16.34, 23.84), abs=0.01)
    assert h.of_node(1) + (0.5, 0.0, 0.0) == pytest.approx(places[:, 0], abs=1e-4)


@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_rope_that_becomes_taut_meets_an_impact(e):
    """Mass 1 is thrown up: the rope is slack, both fall freely; then J = (1 + e)(l1' + l2')/(1/m1 + 1/m2)."""
    m1, m2, up = 1.0, 3.0, 4.0
    h = run(
        first=(0.0, 0.0, -3.0), masses=(m1, m2), dt=2e-3, period=0.5, restitution=f", RESTITUTION={e}",
        more=f"*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 3, {up}\n3, 3, -1.",
    )  # fmt: skip
    # l1' + l2' = -4 + 1 + 2 g t while it is slack: taut again at t = 3/g, with l1' = -4 + g t = -1, l2' = 1 + g t = 4
    instant, s = 3.0 / GRAVITY, 3.0
    impulse = (1.0 + e) * s / (1.0 / m1 + 1.0 / m2)
    (found,) = [each for each in h.events if each.event == "impact"][:1]
    assert found.time == pytest.approx(instant, abs=1e-8)
    lost = 0.5 * (1.0 - e * e) * s * s / (1.0 / m1 + 1.0 / m2)
    assert found.energy_loss == pytest.approx(lost, abs=1e-8 * 10)
    k = int(np.searchsorted(h.time, instant))
    dt = h.time[k] - instant
    pull = 0.0 if e else 2.0 * m1 * m2 / (m1 + m2) * GRAVITY
    for node, m, rate in ((1, m1, -1.0), (3, m2, 4.0)):  # of l
        after = -(rate - impulse / m) - GRAVITY * dt + pull / m * dt
        assert h.of_node(node, "V")[k, 2] == pytest.approx(after, abs=1e-7)
    assert abs(h.energy_error[-1]) < 1e-9


def test_no_choice_of_solver_changes_the_motion():
    """A band, a border (an equation couples masses), and a saddle matrix that pivots."""
    given = {"first": (0.8, 0.0, -0.6), "second": (0.0, 0.0, -1.0), "dt": 4e-3, "period": 0.2}
    given["fixed"] = "1, 2\n3, 1, 2"
    model = fem.parse_deck(deck(**given))
    band = fem.run(model)
    for solver in ("BORDER", "SUPERLU"):
        other = fem.run(model, solver=solver)
        assert other.u == pytest.approx(band.u, abs=1e-12), solver
        assert other.of_element(1, "T") == pytest.approx(band.of_element(1, "T"), rel=1e-9)


def test_a_pulley_that_moves():
    """Node 3 is fixed, the pulley carries M: with m on the other end, 2 z_p' = z_1', T = 3 m M g/(4 m + M)."""
    m, big = 2.0, 3.0
    text = deck(
        first=(0.0, 0.0, -1.0), second=(0.0, 0.0, 2.0), masses=(m, 1.0), dt=1e-3, period=0.1, fixed="1, 1, 2\n3, 1, 3",
        more=f"*ELEMENT, TYPE=MASS, ELSET=P\n13, 2\n*MASS, ELSET=P\n{big}",
    ).replace("2, 1, 3\n1, 1, 2", "2, 1, 2\n1, 1, 2")  # fmt: skip
    # The end at z = -1 below the pulley at 0 that hangs by the rope from z = 2: l1 = z_p - z_1, l2 = 2 - z_p, so
    # l1 + l2 = 2 - z_1 is constant whatever the pulley does: the end hangs still, and the pulley runs down the rope.
    h = fem.run(fem.parse_deck(text))
    assert np.abs(h.of_node(1)).max() < 1e-12
    assert h.of_element(1, "T") == pytest.approx(m * GRAVITY, rel=1e-10)
    assert h.of_node(2)[:, 2] == pytest.approx(-0.5 * GRAVITY * h.time**2, abs=1e-12)


def test_momentum_of_a_free_system_and_its_energy():
    """Three free masses, one of them the pulley: nothing acts from outside."""
    text = deck(
        first=(1.0, 0.2, -0.3), second=(-0.4, 0.9, 0.5), masses=(1.0, 2.0), dt=2e-3, period=0.4, fixed="",
        more="*ELEMENT, TYPE=MASS, ELSET=P\n13, 2\n*MASS, ELSET=P\n0.7\n"
        "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 1, 0.5\n1, 2, 2.0\n3, 3, -1.0\n2, 1, -0.3",
        scheme="ENERGY MOMENTUM", restitution=", RESTITUTION=0.5",
    ).replace("*BOUNDARY\n2, 1, 3\n\n", "").replace("*DLOAD\n, GRAV, 9.81, 0., 0., -1.\n", "")  # fmt: skip
    h = fem.run(fem.parse_deck(text))
    masses, v = np.array([1.0, 0.7, 2.0]), h.v.reshape(-1, 3, 3)
    places, momentum = h.u.reshape(-1, 3, 3) + h.mesh.coordinates, (masses[:, None] * v).sum(axis=1)
    spin = (masses[:, None] * np.cross(places, v)).sum(axis=1)
    assert momentum == pytest.approx(np.tile(momentum[1], (len(h.time), 1)), abs=1e-11)
    assert spin == pytest.approx(np.tile(spin[1], (len(h.time), 1)), abs=1e-9)
    assert abs(h.energy_error[-1]) < 1e-9


def test_statics_finds_the_equilibrium():
    """A mass on a ring that slides: the rope from 1 over the pulley to 3 between two walls; T from the closed form."""
    text = deck(
        first=(-0.3, 0.0, -1.0), second=(0.0, 0.0, -1.5), masses=(1.0, 1.5), fixed="1, 2\n3, 1, 2",
        more="*ELEMENT, TYPE=SPRING1, ELSET=S\n9, 3\n*SPRING, ELSET=S\n3\n200.",
    ).replace("*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.001, 0.3", "*STATIC\n1., 1.")  # fmt: skip
    h = fem.run(fem.parse_deck(text))
    # Mass 1 hangs straight below the pulley: T = m1 g; 200 u3 = T - m2 g; the length is kept
    assert h.of_element(1, "T")[-1] == pytest.approx(GRAVITY, rel=1e-9)
    lift = (GRAVITY - 1.5 * GRAVITY) / 200.0
    assert h.of_node(3)[-1][2] == pytest.approx(lift, rel=1e-9)
    below = -(np.hypot(0.3, 1.0) + lift)
    assert h.of_node(1)[-1] + (-0.3, 0.0, -1.0) == pytest.approx((0.0, 0.0, below), abs=1e-9)


HUNG = deck(
    first=(0.0, 0.0, -0.7), second=(0.0, 0.0, -1.6), masses=(2.0, 2.0), fixed="1, 2\n3, 2",
    more="*ELEMENT, TYPE=SPRING1, ELSET=S\n9, 3\n*SPRING, ELSET=S\n3\n200.",
).replace("*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.001, 0.3", "*STATIC\n1., 1.")  # fmt: skip
"""Equal masses at rest, T = m g; a spring holds the second one upwards."""


def test_modes_about_an_equilibrium():
    """Both masses swing, omega^2 = g/l; the rope runs against the spring, omega^2 = k/(2 m)."""
    h = fem.run(fem.parse_deck(HUNG + "*STEP, NLGEOM\n*FREQUENCY\n3\n*END STEP\n"))
    expected = np.sort(np.sqrt([GRAVITY / 0.7, GRAVITY / 1.6, 200.0 / 4.0]))
    assert h.modes[0].omega == pytest.approx(expected, rel=1e-9)


def test_steady_state_about_an_equilibrium():
    """F cos wt on the second mass: u3 = F/(k - 2 m w^2), and the other mass has T = m g + m a: m w^2 u3."""
    step = "*STEP, NLGEOM\n*STEADY STATE DYNAMICS, DIRECT, FREQUENCY SCALE=LINEAR\n0.5, 0.5, 1\n*CLOAD\n3, 3, 0.3\n"
    h = fem.run(fem.parse_deck(HUNG + step + "*NODE PRINT\nU\n*EL PRINT\nE, T\n*END STEP\n"))
    (found,), w = h.responses, np.pi
    moved = 0.3 / (200.0 - 4.0 * w * w)
    assert found.motion[0, 2, 2] == pytest.approx(moved, rel=1e-9)
    assert found.motion[0, 0, 2] == pytest.approx(-moved, rel=1e-9)
    assert found.values[0, [0, 3]] == pytest.approx([0.0, 2.0 * w * w * moved], rel=1e-9, abs=1e-15)


class Cut(Exception):
    """The process is gone."""


def test_a_run_that_was_stopped_goes_on_bit_for_bit(tmp_path, monkeypatch):
    given = {"first": (0.0, 0.0, -3.0), "dt": 2e-3, "period": 0.5, "restitution": ", RESTITUTION=0.5"}
    given["more"] = "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 3, 4.\n3, 3, -1."
    path, write_it, count = tmp_path / "deck.inp", run_files.write_checkpoint, iter(range(100))
    path.write_text(deck(**given).replace("*NODE PRINT", "*RESTART, WRITE, FREQUENCY=60\n*NODE PRINT"))

    def cut(*what):
        write_it(*what)
        if next(count) == 2:
            raise Cut

    run_to_files(path, tmp_path / "whole", quiet=True)
    monkeypatch.setattr(run_files, "write_checkpoint", cut)
    with pytest.raises(Cut):
        run_to_files(path, tmp_path / "cut", quiet=True)
    monkeypatch.setattr(run_files, "write_checkpoint", write_it)
    run_to_files(path, tmp_path / "cut", quiet=True, goes_on=True)
    for name in ("nodes.csv", "elements.csv", "events.csv", "increments.csv"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert "impact" in (tmp_path / "whole" / "events.csv").read_text()


@pytest.mark.parametrize(
    "old, new, what",
    [
        ("*NO COMPRESSION", "*NO COMPRESSION\n*DENSITY\n7.", "has \\*DENSITY"),
        ("*BOUNDARY", "*PULLEY, ELSET=R\n0.2\n*BOUNDARY", "runs without friction"),
        ("*DLOAD", "*WINCH\nR, 0.1\n*DLOAD", "has \\*INEXTENSIBLE"),
        ("*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.001", "*DYNAMIC, EXPLICIT, DIRECT\n1e-4", "EXPLICIT does not"),
        ("*DYNAMIC", "*CONTROLS, IMPACT=MOREAU\n*DYNAMIC", "IMPACT=MOREAU steps over impacts"),
        ("*NO COMPRESSION", "*NO TENSION", "\\*NO TENSION is for bars"),
        ("1, 0.0, 0.0, -1.0", "1, 0.0, 0.0, 0.0", "element 1 has no length"),
    ],
)
def test_what_such_ropes_do_not_have_is_refused_by_name(old, new, what):
    text = deck()
    assert old in text
    with pytest.raises(FemError, match=what):
        fem.run(fem.parse_deck(text.replace(old, new, 1)))


def test_without_no_compression_it_pushes_and_says_so():
    text = deck(period=0.05, more="*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 3, 1.\n3, 3, -1.")
    model = fem.parse_deck(text.replace("*NO COMPRESSION\n", ""))
    assert any("it pushes where it would go slack" in text for text in model.notices)
    assert fem.run(model).of_element(1, "T") == pytest.approx(1.5 * GRAVITY, rel=1e-9)


def test_an_end_that_reaches_the_pulley_stops_the_run():
    with pytest.raises(FemError, match="node 1 has reached the pulley, node 2, of element 1"):
        run(first=(0.0, 0.0, -0.1), period=1.0)


def test_initial_velocities_that_lengthen_it_meet_an_impact():
    h = run(more="*INITIAL CONDITIONS, TYPE=VELOCITY\n3, 3, -2.", period=0.02)
    # e = 0: J = 2/(1/1 + 1/3), both go on with 2 - J/3 = 1.5
    assert h.of_node(1, "V")[0, 2] == pytest.approx(1.5, rel=1e-12)
    assert h.of_node(3, "V")[0, 2] == pytest.approx(-1.5, rel=1e-12)
    assert [each.event for each in h.events] == ["impact"]
    assert h.events[0].energy_loss == pytest.approx(0.5 * 4.0 * 0.75, rel=1e-12)
