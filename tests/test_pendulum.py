"""``fem pendulum``: what its decks say, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.lines.pendulums import BODIES, Pendulum, body_of, coefficients, deck_text, per_link

LENGTHS, MASSES, ANGLES, SPEEDS = (1.0, 0.5, 2.0), (2.0, 3.0, 0.25), (30.0, -75.0, 100.0), (10.0, 0.0, -40.0)
UNEQUAL = {"lengths": LENGTHS, "masses": MASSES, "angles": ANGLES, "speeds": SPEEDS}


def elastic(**changes):
    """Model of an elastic pendulum."""
    return fem.parse_deck(deck_text(Pendulum(**{**UNEQUAL, "stiffness": 1e6, **changes})))


def initial_velocities(model):
    found = np.zeros((len(model.mesh.node_labels), 3))
    for condition in model.initial_conditions:
        assert condition.kind == "VELOCITY"
        found[model.mesh.nodes_of(int(condition.target)), condition.dof - 1] = condition.value
    return found


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("absolute", [False, True])
def test_joints_and_velocities_are_those_of_the_links(body, absolute):
    model = elastic(body=body, absolute=absolute)
    theta, omega = (np.radians(values if absolute else np.cumsum(values)) for values in (ANGLES, SPEEDS))
    d = np.diff(model.mesh.coordinates, axis=0)
    assert model.mesh.coordinates[0].tolist() == [0, 0, 0]
    assert d[:, 0] == pytest.approx(np.array(LENGTHS) * np.sin(theta), abs=1e-14)
    assert d[:, 2] == pytest.approx(-np.array(LENGTHS) * np.cos(theta), abs=1e-14)
    w = np.diff(initial_velocities(model), axis=0)
    assert (d * w).sum(1) == pytest.approx(np.zeros(3), abs=1e-14)  # no link is stretched
    assert d[:, 0] * w[:, 2] - d[:, 2] * w[:, 0] == pytest.approx(omega * np.square(LENGTHS), abs=1e-14)


@pytest.mark.parametrize("masses", [MASSES, (2.0,) * 3])
def test_masses_of_bars_and_points(masses):
    bars = elastic(masses=masses)
    density = [bars.materials[section.material].density * section.area for section in bars.sections]
    by_link = density * (3 if len(density) == 1 else 1)
    assert np.array(by_link) * LENGTHS == pytest.approx(masses)
    assert {section.mass_rule for section in bars.sections} == {"CONSISTENT"}
    points = elastic(masses=masses, body="point")
    given = [mass.mass for mass in points.masses]
    assert given * (3 if len(given) == 1 else 1) == pytest.approx(masses)
    assert all(points.materials[section.material].density == 0 for section in points.sections)
    assert {section.mass_rule for section in elastic(masses=masses, body="centre").sections} == {"ONE POINT"}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_its_motion_obeys_the_equations_of_its_coefficients(body, damping):
    """M (cos (theta'' + c theta') + sin theta'^2) + g G sin theta = 0; derivatives are differences, of second order."""
    pendulum, dt, worst = Pendulum(**UNEQUAL, body=body, damping=damping), 1e-3, []
    inertia, weight = map(np.array, coefficients(pendulum))
    for refined in (1, 2):
        h = dt / refined
        model = fem.parse_deck(deck_text(replace(pendulum, time=40 * dt, dt=h, integrator="NEWMARK")))
        history = fem.run(model)
        place = model.mesh.coordinates + np.stack([history.of_node(node) for node in range(1, 5)], axis=1)
        d = np.diff(place, axis=1)
        theta = np.unwrap(np.arctan2(d[..., 0], -d[..., 2]), axis=0)
        rate, turn = (theta[2:] - theta[:-2]) / (2 * h), (theta[2:] - 2 * theta[1:-1] + theta[:-2]) / h**2
        between = theta[1:-1, :, None] - theta[1:-1, None, :]
        left = np.einsum("ij,kij,kj->ki", inertia, np.cos(between), turn + damping * rate)
        left += np.einsum("ij,kij,kj->ki", inertia, np.sin(between), rate**2)
        left += 9.81 * weight * np.sin(theta[1:-1])
        worst.append(np.abs(left).max() / (9.81 * weight.max()))
    assert worst[1] < 1e-4 and worst[0] / worst[1] > 3.0


def test_alike_links_share_their_parameters():
    text = deck_text(Pendulum((1.0,) * 5, (1.0,) * 5, (30.0,) * 5))
    assert "angle = 30.0" in text and "angle_1" not in text and "speed =" not in text and "VELOCITY" not in text
    assert text.count("*SOLID SECTION") == 1


def test_parameters_turn_the_deck():
    text = deck_text(Pendulum((1.0,) * 2, (1.0,) * 2, (30.0,) * 2, stiffness=1e6))
    turned = fem.parse_deck(text, {"angle": 90.0, "length": 2.0}).mesh.coordinates
    assert turned == pytest.approx(np.array([[0, 0, 0], [2, 0, 0], [2, 0, 2]]), abs=1e-14)


def test_everything_that_figures_need_is_printed():
    requests = {(output.kind, output.target): output.variables for output in elastic().steps[0].outputs}
    assert set(requests["NODE PRINT", "JOINTS"]) == {"U", "V", "A", "RF"}
    assert set(requests["EL PRINT", "LINKS"]) == {"E", "S", "N", "T"}


@pytest.mark.parametrize("body", BODIES)
def test_decks_of_rods_say_so(body):
    text = deck_text(Pendulum(**UNEQUAL, body=body))
    assert "*INEXTENSIBLE" in text and "*ELASTIC" not in text and "STRAIN=" not in text
    assert "TIME INTEGRATOR=ENERGY MOMENTUM" in text
    # All but these two is known already.
    known = text.replace("*INEXTENSIBLE", "*ELASTIC\n1e6").replace("ENERGY MOMENTUM", "NEWMARK")
    assert fem.parse_deck(known).mesh == elastic(body=body).mesh


@pytest.mark.parametrize("body", BODIES)
def test_decks_of_rods_are_read(body):
    model = fem.parse_deck(deck_text(Pendulum(**UNEQUAL, body=body)))
    assert all(model.materials[section.material].is_inextensible for section in model.sections)
    assert model.mesh == elastic(body=body).mesh


@pytest.mark.parametrize(("body", "square"), [("point", 9.81), ("bar", 1.5 * 9.81)])
def test_damping_is_that_of_the_linear_equation(body, square, tmp_path):
    """theta'' + c theta' + square theta = 0 of small swings, solved by hand; what is lost is dissipated."""
    deck = fem.pendulum(1, angles=0.5, body=body, damping=0.8, time=2.0, dt=2e-3, output=tmp_path / "damped.inp")
    history = fem.run(deck)
    angle, omega = np.arcsin(history.positions(2)[:, 0]), np.sqrt(square - 0.4**2)
    swing = np.cos(omega * history.time) + 0.4 / omega * np.sin(omega * history.time)
    expected = np.radians(0.5) * np.exp(-0.4 * history.time) * swing
    assert angle == pytest.approx(expected, abs=2e-4 * np.radians(0.5))
    assert np.abs(history.energy_error).max() < 1e-12 * history.of_energy("dissipated")[-1] + 1e-14
    assert "damping = 0.8" in deck.read_text() and "DAMPING" not in deck_text(Pendulum((1.0,), (1.0,), (0.5,)))


def test_an_elastic_bar_swings_with_the_period_of_a_slender_rod(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = ["--angles", "-5", "--body", "elastic:1e5", "--time", "0.9", "--dt", "5e-3", "--run"]
    assert main(["pendulum", "--links", "1", *arguments]) == 0
    assert "wrote pendulum_1.inp" in capsys.readouterr().out
    assert (tmp_path / "results" / "pendulum_1" / "nodes.csv").is_file()
    history = fem.run(tmp_path / "pendulum_1.inp")
    x = history.positions(2)[:, 0]
    # Half a period of small swings: pi sqrt(2 L/(3 g)) = 0.8190 s, 1 + (5 degrees)^2/16 longer.
    turn = history.time[np.argmax(x)]
    assert turn == pytest.approx(0.8194, abs=0.01)
    assert x.max() == pytest.approx(np.sin(np.radians(5)), rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--links"),
        (["--links", "0"], "'0' is not a whole number of at least 1"),
        (["--links", "2.5"], "'2.5' is not a whole number"),
        (["--links", "2", "--angles", "30,a"], "'a' is not a number"),
        (["--links", "2", "--angles", "30,,30"], "'' is not a number"),
        (["--links", "2", "--mass", "1,inf"], "'inf' is not a finite number"),
        (["--links", "2", "--damping", "-1"], "is not a number that is zero or positive"),
    ],
)
def test_what_is_no_number_is_exit_2(arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        main(["pendulum", *arguments])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--links", "2", "--angles", "-30,20,10"], "angles has 3 values for 2 links; give one for all, or one per"),
        (["--links", "1", "--speeds", "1,2"], "speeds has 2 values for 1 link;"),
        (["--links", "2", "--length", "1,-1"], "a length must be positive, got -1"),
        (["--links", "2", "--mass", "0"], "a mass must be positive, got 0"),
        (["--links", "2", "--dt", "0"], "the increment must be positive"),
        (["--links", "2", "--dt", "2", "--time", "1"], "at most the time"),
        (
            ["--links", "2", "--body", "beam"],
            "unknown body 'beam'; known are bar, point, centre, elastic:EA, point:EA and centre:EA",
        ),
        (["--links", "2", "--body", "elastic"], "unknown body 'elastic'"),
        (["--links", "2", "--body", "elastic:soft"], "EA in 'elastic:soft' must be a positive number"),
        (["--links", "2", "--output", "."], "is a folder"),
    ],
)
def test_what_cannot_be_is_exit_2_and_writes_nothing(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["pendulum", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_default_file_is_not_written_over(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["pendulum", "--links", "2"]) == 0
    assert main(["pendulum", "--links", "2"]) == 0  # the same deck
    before = (tmp_path / "pendulum_2.inp").read_bytes()
    assert main(["pendulum", "--links", "2", "--angles", "40"]) == 2
    assert (
        "pendulum_2.inp exists and contains another deck; choose another with --output FILE.inp"
        in capsys.readouterr().err
    )
    assert (tmp_path / "pendulum_2.inp").read_bytes() == before
    assert main(["pendulum", "--links", "2", "--angles", "-40,10", "--output", "pendulum_2.inp"]) == 2
    assert (tmp_path / "pendulum_2.inp").read_bytes() == before
    assert main(["pendulum", "--links", "2", "--angles", "-40,10", "--output", "pendulum_2.inp", "--force"]) == 0
    assert "angle_1 = -40.0" in (tmp_path / "pendulum_2.inp").read_text()


def test_lists_and_bodies():
    assert per_link([2.0], 3, "mass") == (2.0, 2.0, 2.0)
    assert body_of("bar") == ("bar", None)
    assert body_of("Elastic:1e6") == ("bar", 1e6)
    assert body_of("point:5") == ("point", 5.0)
    assert body_of("centre") == ("centre", None)
    with pytest.raises(CommandError, match="3 of length, 2 of mass"):
        Pendulum(LENGTHS, (1.0, 1.0), ANGLES)
