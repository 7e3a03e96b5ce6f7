"""The examples of docs/examples.md run and print what the page says; the coupled floater against DOP853."""

from __future__ import annotations

import re
import runpy
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import RectBivariateSpline
from scipy.optimize import root

import fem
from tests.test_pages import DOCS, NUMBER

ROOT = DOCS.parent
PAGE = (DOCS / "examples.md").read_text(encoding="utf-8")
SCRIPTS = sorted((DOCS / "examples").glob("*.py"))
PRINTED = dict(re.findall(r"^```\{literalinclude\} examples/(\w+)\.py\n```\n\n```text\n(.*?)^```", PAGE, re.S | re.M))
LONGEST = 40
"""Lines of an example, without blank ones."""
SNAPS = 3e-2
"""Part of the largest force of a chain that snaps taut by which round-off changes it: 1 % was seen."""


@pytest.mark.long_cases("fit")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
@pytest.mark.sampled(3)
def test_example_prints_what_the_page_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines()) <= LONGEST
    if path.stem == "fmu":
        pytest.importorskip("pythonfmu3")
        pytest.importorskip("fmpy")
    shutil.copytree(ROOT / "inputs", tmp_path / "inputs")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    found, shown = capsys.readouterr().out, PRINTED[path.stem]
    assert NUMBER.sub("#", found) == NUMBER.sub("#", shown)
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (found, shown)]
    close = SNAPS if path.stem == "tank_chain" else 5e-3
    assert numbers[0] == pytest.approx(numbers[1], rel=close, abs=1e-8)


def test_chain_led_by_the_program_is_the_chain_of_the_deck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two turns of the circle, forces at the wheel. Where the chain snaps taut single ones depend on round-off."""
    shutil.copytree(ROOT / "inputs", tmp_path / "inputs")
    monkeypatch.chdir(tmp_path)
    led = runpy.run_path(str(DOCS / "examples" / "tank_chain.py"))
    forces = np.array(led["forces"])
    run = fem.run(tmp_path / "inputs" / "bergdahl.inp", parameters={"turns": 2})
    rows = run.of_step(2)
    own = np.linalg.norm(run.of_node(67, "RF")[rows], axis=1)
    at = led["INTERVAL"] * np.arange(1, len(forces) + 1)
    apart = forces - np.interp(at, run.time[rows] - run.time[rows][0], own)
    assert np.sqrt((apart**2).mean()) < SNAPS * own.max()
    slack = (at > 0.5) & (at < 0.75)
    assert forces[slack] == pytest.approx(forces[slack] - apart[slack], rel=5e-3)


FLOATER: dict[str, Any] = runpy.run_path(str(DOCS / "examples" / "floater.py"))
DURATION, EVERY = 24.0, 2.0
BARS, LENGTH, STIFFNESS = 20, 250.0, 2e8
WEIGHT = 9.80665 * (50.0 - 1025.0 * np.pi / 4.0 * 0.09**2) * LENGTH / BARS
"""Of a bar of inputs/coupled_line.inp in water [N]."""


@cache
def catenary() -> Any:
    """Force of the line on the floater, from the place of its fairlead, as a table of elastic catenaries of 20 bars.

    Bar k carries (H, V + k w), and has the natural length L/n times 1 + T/EA: two equations for H and V.
    """
    surge, heave = np.linspace(-1.5, 1.5, 11), np.linspace(-2.0, 2.0, 11)
    table = np.empty((2, 11, 11))

    def miss(pull: np.ndarray, x: float, z: float) -> list[float]:
        upwards = pull[1] + np.arange(BARS) * WEIGHT
        tension = np.hypot(pull[0], upwards)
        share = LENGTH / BARS * (1.0 / tension + 1.0 / STIFFNESS)
        return [(share * pull[0]).sum() - 240.0 - x, (share * upwards).sum() - 35.0 - z]

    pull = np.array([117e3, -37e3])
    for i, k in np.ndindex(11, 11):
        found = root(miss, pull, (surge[i], heave[k]), tol=1e-12)
        assert found.success or np.abs(found.fun).max() < 1e-9
        pull = found.x
        table[:, i, k] = -pull[0], -(pull[1] + (BARS - 0.5) * WEIGHT)  # half a bar's weight at the fairlead
    splines = [RectBivariateSpline(surge, heave, each, kx=5, ky=5) for each in table]
    return lambda place: np.array([float(spline.ev(*place)) for spline in splines])


@cache
def monolithic() -> np.ndarray:
    """(13, 2, 2) motion of floater and quasi-static line in one system, by DOP853, every 2 s."""
    line = catenary()
    at_rest = line((0.0, 0.0))

    def rate(time: float, state: np.ndarray) -> np.ndarray:
        return np.ravel(FLOATER["rate"](time, state.reshape(2, 2), line(state[:2]) - at_rest))

    times, states = np.arange(0.0, DURATION + 1.0, EVERY), [np.zeros((1, 4))]
    for piece in (times[times <= 20.0], times[times >= 20.0]):  # the waves have a kink there
        found = solve_ivp(rate, piece[[0, -1]], states[-1][-1], "DOP853", piece, rtol=1e-10, atol=1e-12)
        states.append(found.y.T[1:])
    return np.concatenate(states).reshape(-1, 2, 2)


class Straight:
    """A stepper whose inputs lose their rates."""

    def __init__(self, sim: fem.driven.Stepper) -> None:
        self._sim = sim

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sim, name)

    def __setitem__(self, name: str, value: tuple[float, float]) -> None:
        self._sim[name] = value[0]


def quasi_static(interval: float, tmp_path: Path) -> Path:
    """The deck of the line, its second step static, with an increment for each interval."""
    text = (ROOT / "inputs" / "coupled_line.inp").read_text(encoding="utf-8").replace("U, V, RF", "U, RF")
    step = f"*STATIC, DIRECT\n{interval}, {DURATION}\n*CONTROLS, RESI_GLOB_RELA=1.E-10\n"
    changed, count = re.subn(r"\*DYNAMIC.*\n.*\n", step, text)
    assert count == 1
    path = tmp_path / "line.inp"
    path.write_text(changed, encoding="utf-8")
    return path


def errors(deck: Path, interval: float, exact: np.ndarray, is_straight: bool, **options: Any) -> np.ndarray:
    """Largest errors of surge and heave [m]."""
    with fem.stepper(deck) as sim:
        count = round(DURATION / interval)
        motion = FLOATER["coupled"](Straight(sim) if is_straight else sim, interval, count, **options)
    return np.asarray(np.abs(motion[:: round(EVERY / interval), 0] - exact[:, 0]).max(axis=0))


@pytest.mark.long_cases("iterated")
@pytest.mark.parametrize(("most", "order", "largest"), [(20, 2, 1e-4), (1, 1, 2e-3)], ids=["iterated", "explicit"])
def test_floater_on_a_quasi_static_line(most: int, order: int, largest: float, tmp_path: Path) -> None:
    """Law: the motion of the monolithic system, at second order in the interval with iteration, at first without. The
    way of the fairlead within an interval does not matter to a quasi-static line.
    """
    exact = monolithic()
    assert np.abs(exact[:, 0]).max() > 0.2
    found = [errors(quasi_static(each, tmp_path), each, exact, False, most=most) for each in (0.5, 0.25, 0.125)]
    rates = np.log2(np.array(found[:-1]) / found[1:])
    assert rates[-1, 0] == pytest.approx(order, abs=0.25)
    assert found[1].max() < largest
    straight = errors(quasi_static(0.25, tmp_path), 0.25, exact, True, most=most)
    np.testing.assert_allclose(straight, found[1], rtol=1e-3)


def test_each_repetition_reduces_the_change_of_the_force(tmp_path: Path) -> None:
    """Law: by k H^2/(6 M), as a force that grows along a straight line moves the floater by H^2/(6 M) of its growth."""
    interval, line = 2.0, catenary()
    stiffness = (line((-0.01, 0.0)) - line((0.01, 0.0)))[0] / 0.02
    with fem.stepper(quasi_static(interval, tmp_path)) as sim:
        at_rest, start, force, changes = -sim.reaction(21)[::2], sim.save(), np.zeros(2), []
        for _ in range(4):
            state = FLOATER["advance"](0.0, np.zeros((2, 2)), interval, np.zeros(2), force)
            sim.restore(start)
            sim["SURGE"], sim["HEAVE"] = zip(*state, strict=True)
            sim.advance(interval)
            before, force = force, -sim.reaction(21)[::2] - at_rest
            changes.append((force - before)[0])
    assert -changes[3] / changes[2] == pytest.approx(stiffness * interval**2 / (6.0 * FLOATER["MASS"]), rel=0.1)


def test_floater_on_a_line_that_moves_fast_enough_is_that_of_a_quasi_static_one(tmp_path: Path) -> None:
    """The step stays dynamic: the same weight with 1/400 and 1/1600 of the mass, without drag and added mass, comes
    closer to the monolithic system, until the error is that of the exchange.
    """
    exact = monolithic()
    text = re.sub(r"CHAIN, F.*\n", "", (ROOT / "inputs" / "coupled_line.inp").read_text(encoding="utf-8"))
    at_rest, found = errors(quasi_static(0.25, tmp_path), 0.25, exact, False), []
    for share in (400, 1600):
        lighter = text.replace("*DENSITY\n50.", f"*DENSITY\n{50.0 / share}")
        lighter = lighter.replace("GRAV, 9.80665", f"GRAV, {9.80665 * share}")
        assert lighter.count(str(9.80665 * share)) == lighter.count(str(50.0 / share)) == 1
        path = tmp_path / "light.inp"
        path.write_text(lighter, encoding="utf-8")
        found.append(errors(path, 0.25, exact, False))
    assert (found[1] < 1.2 * at_rest).all()
    assert (found[0] > found[1]).all()


@pytest.mark.long
def test_floater_on_a_line_with_inertia_and_drag_needs_rates() -> None:
    """Iterated, by value and rate: second order or better, towards one increment for each interval. Straight lines, in
    which the fairlead has no acceleration and its velocity jumps, are far worse.
    """
    deck = ROOT / "inputs" / "coupled_line.inp"
    with fem.stepper(deck) as sim:
        fine = FLOATER["coupled"](sim, 0.05, round(DURATION / 0.05))[:: round(EVERY / 0.05)]
    half, quarter = (errors(deck, each, fine, False) for each in (0.5, 0.25))
    assert (half / quarter > 3.5).all()
    assert (errors(deck, 0.25, fine, True) > 20.0 * quarter).all()
