"""Static paths: limit points and bifurcations against closed forms and laws; jumps at given loads; verdicts.

Two bars of EA from (+-b, 0, 0) to (0, 0, h), pulled down by P at the top (L^2 = b^2 + h^2):
the limit load is 2 EA h^3 / (3 sqrt 3 L^3) (GREEN), 2 EA ((L/b)^(2/3) - 1)^(3/2) b / L (ENGINEERING);
the top sways where 2 (EA b^2 / L^3 + N / L0) = 0, at P = 2 EA b^2 sqrt(h^2 - 2 b^2) / L^3 (GREEN), if h^2 > 2 b^2.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csc_array
from scipy.spatial.transform import Rotation

import fem
from fem.linear.inertia import Spectrum
from fem.runner import run_to_files
from fem.runs.read import open_results
from tests.decks import run_text

EA = 1e6
STRAIGHT = np.eye(3)
TURNED = Rotation.from_rotvec([0.4, -0.7, 0.9]).as_matrix()


def truss(
    h: float, load: float, procedure: str, *, strain: str = "GREEN", labels: tuple[int, int, int] = (1, 2, 3),
    turn: np.ndarray = STRAIGHT, unit: float = 1.0, force: float = 1.0,
) -> str:  # fmt: skip
    """That truss, held in its plane; perhaps in other units, turned, numbered otherwise."""
    left, right, top = labels
    places = unit * np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, h]]) @ turn.T
    nodes = [f"{label}, {x!r}, {y!r}, {z!r}" for label, (x, y, z) in zip(labels, places.tolist(), strict=True)]
    plane = ["*EQUATION", "3", ", ".join(f"{top}, {axis + 1}, {float(turn[axis, 1])!r}" for axis in range(3))]
    held = [f"{left}, 1, 3", f"{right}, 1, 3", *([] if turn[0, 1] else [f"{top}, 2"])]
    pull = -force * load * turn[:, 2]
    loads = [f"{top}, {axis + 1}, {float(pull[axis])!r}" for axis in range(3) if pull[axis]]
    lines = [
        "*NODE", *nodes, "*ELEMENT, TYPE=T3D2, ELSET=BARS", f"1, {left}, {top}", f"2, {top}, {right}",
        *(plane if turn[0, 1] else []), "*MATERIAL, NAME=M", "*ELASTIC", repr(EA * force / unit**2),
        f"*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN={strain}", repr(unit**2), "*BOUNDARY", *held,
        "*STEP, NLGEOM, INC=4000", procedure, "*CLOAD", *loads, "*END STEP",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def tower(load: float, procedure: str) -> str:
    """Two such trusses, h = 0.1, the supports of the second one on top of the first."""
    return f"""*NODE
1, -1., 0., 0.
2, 1., 0., 0.
3, 0., 0., 0.1
4, -1., 0., 0.1
5, 1., 0., 0.1
6, 0., 0., 0.2
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 3
2, 3, 2
3, 4, 6
4, 6, 5
*EQUATION
2
4, 3, 1., 3, 3, -1.
*EQUATION
2
5, 3, 1., 3, 3, -1.
*MATERIAL, NAME=M
*ELASTIC
{EA!r}
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
2, 1, 3
3, 1, 2
4, 1, 2
5, 1, 2
6, 1, 2
*STEP, NLGEOM, INC=4000
{procedure}
*CLOAD
6, 3, {-load!r}
*END STEP
"""


def limit_load(h: float, strain: str) -> float:
    length = np.hypot(1.0, h)
    if strain == "GREEN":
        return float(2.0 * EA * h**3 / (3.0 * np.sqrt(3.0) * length**3))
    return float(2.0 * EA * (length ** (2 / 3) - 1.0) ** 1.5 / length)


def sway_load(h: float) -> float:
    return float(2.0 * EA * np.sqrt(h * h - 2.0) / np.hypot(1.0, h) ** 3)


def critical(text: str, kind: str) -> list[float]:
    return [each.load_factor for each in run_text(text).events if each.event == kind]


@pytest.mark.parametrize(("strain", "known"), [("GREEN", 379.1980130), ("ENGINEERING", 381.0871904)])
def test_limit_loads(strain, known):
    """Closed forms, and their published digits; both limits, whatever the length of the arcs."""
    assert limit_load(0.1, strain) == pytest.approx(known, rel=1e-9)
    for data in ("0.05, 1., , 0.05", "1., 1., , "):
        found = critical(truss(0.1, 400.0, f"*STATIC, RIKS\n{data}, , 3, 3, -0.22", strain=strain), "limit")
        np.testing.assert_allclose(found, [known / 400.0, -known / 400.0], rtol=1e-9)


@pytest.mark.parametrize(
    "changes",
    [{}, {"labels": (7, 3, 5)}, {"turn": TURNED}, {"unit": 1e3, "force": 1e-3}, {"force": 1e6}],
)
def test_a_steep_truss_sways(changes):
    """Where: the closed form, whatever the numbers of nodes, the direction, the units; the load turns later."""
    history = run_text(truss(2.0, 2.78e5, "*STATIC, RIKS\n0.1, 1., , 0.2", **changes))
    found = [(each.event, each.load_factor) for each in history.events if each.event != "cutback"]
    assert found[0][0] == "bifurcation" and found[1][0] == "limit"
    assert found[0][1] == pytest.approx(sway_load(2.0) / 2.78e5, rel=1e-8)
    assert found[1][1] == pytest.approx(limit_load(2.0, "GREEN") / 2.78e5, rel=1e-8)
    assert any("bifurcation at load factor 0.9100" in notice for notice in history.notices)


def test_points_of_a_path_that_turns_often():
    """Two trusses on top of each other, first arc as long as the load: every limit load is that of one truss."""
    history = run_text(tower(1000.0, "*STATIC, RIKS\n1., 1."))
    found = [each.load_factor for each in history.events if each.event == "limit"]
    assert len(found) >= 4
    np.testing.assert_allclose(np.abs(found), limit_load(0.1, "GREEN") / 1000.0, rtol=1e-8)
    assert history.load_factor[-1] == pytest.approx(1.0, abs=1e-12)


def test_a_path_at_given_loads_tells_its_bifurcation(tmp_path: Path):
    """Symmetry keeps Newton's method on the path: the run must not be called completed and no more."""
    for number, procedure in enumerate(("*STATIC\n1., 1.", "*STATIC, DIRECT\n0.1, 1.")):
        (tmp_path / "deck.inp").write_text(truss(2.0, 2.6e5, procedure))
        run_to_files(tmp_path / "deck.inp", tmp_path / str(number), quiet=True)
        record = json.loads((tmp_path / str(number) / "run.json").read_text())
        assert record["verdict"] == "completed, past a bifurcation"
        (event,) = open_results(tmp_path / str(number)).events
        assert event.event == "bifurcation" and event.time == pytest.approx(sway_load(2.0) / 2.6e5, rel=1e-8)
    assert not any("jumps" in notice for notice in record["notices"])


@pytest.mark.parametrize("way", [-0.9, -4.1])
def test_a_path_at_given_displacements(way):
    """The top is moved: it sways at a height of sqrt(2) b, and on the other side stands again from -sqrt(2) b on."""
    moved = truss(2.0, 1.0, "*STATIC\n1., 1.").replace("*CLOAD\n3, 3, -1.0", f"*BOUNDARY\n3, 3, 3, {way}")
    found = [(each.event, each.time) for each in run_text(moved).events]
    places = [height for height in (np.sqrt(2.0), -np.sqrt(2.0)) if height > 2.0 + way]
    assert found == [("bifurcation", pytest.approx((height - 2.0) / way, rel=1e-8)) for height in places]


@pytest.mark.parametrize("load", [400.0, 800.0, 6000.0, 12000.0])
def test_an_increment_beyond_the_limit_load_jumps(load):
    """Also where Newton's method arrives in three solves, on the line through both equilibria."""
    history = run_text(truss(0.1, load, "*STATIC\n1., 1."))
    limit, jump = history.events
    assert (limit.event, jump.event) == ("limit", "jump")
    assert limit.time == pytest.approx(limit_load(0.1, "GREEN") / load, abs=1e-6)
    assert any("jumps to another equilibrium" in notice for notice in history.notices)


def test_steps_that_cannot_go_on_say_where_their_path_ends():
    """Newton's method does not find the other side within its iterations."""
    with pytest.raises(fem.NoConvergence, match=r"the path from its start ends in a limit point at t = 0\.94799"):
        run_text(truss(0.1, 400.0, "*STATIC, DIRECT\n0.1, 1.\n*CONTROLS, ITER_GLOB_MAXI=8"))


@pytest.mark.parametrize("load", [300.0, -5e5])
def test_paths_without_critical_points_are_silent(load):
    history = run_text(truss(0.1, load, "*STATIC\n1., 1."))
    assert not history.events and not any("jump" in notice or "bifurc" in notice for notice in history.notices)


@pytest.mark.parametrize("size", [12, 120])
def test_inertia(size):
    """Against all eigenvalues (LAPACK), small and large; vectors by their residual. An unsymmetric matrix has none."""
    rng = np.random.default_rng(size)
    dense = np.diag(rng.standard_normal(size)) + np.diag(rng.standard_normal(size - 2), 2)
    dense = dense + dense.T
    values = np.linalg.eigvalsh(dense)
    spectrum = Spectrum(csc_array(dense))
    count = spectrum.negative
    assert count == np.count_nonzero(values < 0.0)
    for number in (count - 1, count):
        value, v = spectrum.pair(number)
        assert value == pytest.approx(values[number], abs=1e-10)
        assert v is not None and np.abs(dense @ v - value * v).max() < 1e-9
    right = rng.standard_normal(size)
    np.testing.assert_allclose(dense @ spectrum.solve(right), right, atol=1e-8)
    assert Spectrum(csc_array(dense + np.diag(np.ones(size - 1), 1))).negative == -1


SWELLS = "*AMPLITUDE, NAME=A, DEFINITION=PERIODIC\n1, 20., 0., 0.\n0., 1.\n*STEP, NLGEOM, INC=4000"


@pytest.mark.parametrize(
    ("h", "load", "dt", "swells", "seen"),
    [
        (2.0, 2.6e5, 0.0025, False, "bifurcation"),
        (0.1, 1500.0, 0.01, False, "jump"),
        (0.1, 500.0, 0.005, True, "ends in a limit point"),
        (0.1, 300.0, 0.005, True, ""),
    ],
)
def test_many_increments_looked_at_together_show_what_each_shows_alone(h, load, dt, swells, seen, monkeypatch):
    """Also where a load comes and goes; all printed digits are the same."""
    text = truss(h, load, f"*STATIC, DIRECT\n{dt}, 1.")
    if swells:
        text = text.replace("*STEP, NLGEOM, INC=4000", SWELLS).replace("*CLOAD", "*CLOAD, AMPLITUDE=A")

    def told():
        try:
            found = run_text(text)
        except fem.NoConvergence as error:
            return str(error)
        return found.events, found.notices, found.u.tolist()

    together = told()
    assert seen in str(together)
    monkeypatch.setattr("fem.solve.paths.PathWatch._is_steady", lambda *_: False)
    assert together == told()
