"""Chain, band, conjugate gradients and direct solvers give the same motion, but for CG with the same counts."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fem
from fem.errors import CommandError
from fem.linear import choice, sparse
from tests.decks import chain, run_text

SLOW = {
    "span_response", "mooring_response", "inclined_roller", "chain_dropped", "bergdahl", "grown_riser", "moving_rope",
    "two_parts", "galloping_spans", "moored_vessel", "moored_buoy", "lazy_wave_laid", "lazy_wave", "moored_platform",
    "moored_spar", "spinning_body", "ball_on_two_ropes", "galloping", "bouncing_ball", "line_section", "broken_wire",
    "crane", "sdnl138", "twisted_cable", "ridge_mooring",
}  # fmt: skip
INPUTS = [
    pytest.param(path, id=path.stem, marks=pytest.mark.long if path.stem in SLOW else ())
    for path in sorted((Path(__file__).resolve().parents[2] / "inputs").glob("*.inp"))
]
SOME_INCREMENTS = 200
"""Decks with more are cut short by INC=, which ends them with exit code 3 and the motion so far."""
LIBRARIES = [
    "SUPERLU",
    pytest.param("PARDISO", marks=pytest.mark.skipif(find_spec("pypardiso") is None, reason="extra direct")),
]

TREE = """*NODE
1,0,0,0
2,1,0,0
3,1,1,0
4,2,0,0.5
5,3,0,0
6,3,1,1
7,3,-1,1
*ELEMENT, TYPE=T3D2, ELSET=LINE
1,1,2
2,3,2
3,2,4
4,4,5
5,6,5
6,5,7
*ELEMENT, TYPE=MASS, ELSET=TIP
20, 7
*MASS, ELSET=TIP, ALPHA=0.3
5.
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
30, 4
*SPRING, ELSET=GROUND
2
700.
*MATERIAL, NAME=M
*ELASTIC
1e5
*DENSITY
1.
*DAMPING, ALPHA=0.1
*NO COMPRESSION, RATIO=0.2
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=LOG, MASS=CONSISTENT
1.
*BOUNDARY
1, 1, 3
6, 2
3, 1, 3
*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
0.01, 0.6
*CONTROLS, RESI_GLOB_RELA=1e-9, ENERGY DRIFT=OFF
*DLOAD
LINE, GRAV, 9.81, 0, -0.3, -1
*CLOAD
5, 1, 30.
*END STEP
"""
DECKS = {
    "falling chain": chain(12),
    "pinned at both ends": chain(9, both_ends=True, mass="CONSISTENT", strain="ENGINEERING"),
    "stiff, pinned at both ends": chain(9, both_ends=True, young=1e10, dt=0.002, period=0.1),
    "one point mass": chain(5, mass="ONE POINT", period=0.3),
    "tree": TREE,
}


@pytest.mark.parametrize("deck", DECKS.values(), ids=DECKS)
def test_chain_band_and_direct_agree(deck):
    """Displacements to 1e-9 of the span, counts equal; blocks do not pivot: but for 2 of 46, of a motion that rings."""
    reference = run_text(deck, solver="DIRECT")
    for solver in ("CHAIN", "BAND", "BORDER"):
        history, most = run_text(deck, solver=solver), 2 if solver == "BORDER" else 0
        assert np.abs(history.iterations - reference.iterations).max() <= most, solver
        assert np.abs(history.u - reference.u).max() < 1e-9, solver


@pytest.mark.parametrize("deck", DECKS.values(), ids=DECKS)
def test_chains_eliminated_from_one_end_agree_with_both(deck, monkeypatch):
    """Chains beyond the caches have their root at an end: the same motion and counts."""
    both = run_text(deck, solver="CHAIN")
    monkeypatch.setattr(choice, "IN_CACHE", 0)
    one = run_text(deck, solver="CHAIN")
    assert np.array_equal(one.iterations, both.iterations)
    assert np.abs(one.u - both.u).max() < 1e-9


@st.composite
def forests(draw):
    """Trees of bars between nodes with masses, held anywhere, in any direction; damped, sprung and coupled or not."""
    count = draw(st.integers(2, 9))
    bars, held = [], ["1, 1, 3"]
    place = [(0.0, 0.0, 0.0)]
    for k in range(2, count + 1):
        parent = draw(st.integers(1, k - 1))
        step = draw(st.sampled_from([(1.0, 0.1, 0.0), (0.2, 1.0, -0.3), (-0.5, 0.4, 0.9), (0.3, -1.0, 0.2)]))
        place.append(tuple(a + b for a, b in zip(place[parent - 1], step, strict=True)))
        if draw(st.integers(0, 7)) > 0:  # else the root of another tree
            bars.append((parent, k) if draw(st.booleans()) else (k, parent))
        first = draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3]))
        if first:
            held.append(f"{k}, {first}, {draw(st.sampled_from([first, 3]))}")
    bars = bars or [(1, 2)]
    nodes = [f"{k},{x!r},{y!r},{z!r}" for k, (x, y, z) in enumerate(place, start=1)]
    alpha, beta = draw(st.sampled_from([(0.0, 0.0), (0.3, 0.0), (0.2, 1e-3)]))
    lines = [
        "*NODE, NSET=ALL", *nodes, "*ELEMENT, TYPE=T3D2, ELSET=BARS",
        *(f"{e},{i},{j}" for e, (i, j) in enumerate(bars, start=1)),
        "*ELEMENT, TYPE=MASS, ELSET=POINTS", *(f"{100 + k},{k}" for k in range(1, count + 1)),
        "*MASS, ELSET=POINTS", "0.5", "*MATERIAL, NAME=M", "*ELASTIC", "1e5", "*DENSITY", "1.",
        f"*DAMPING, ALPHA={alpha}, BETA={beta}",
        f"*SOLID SECTION, ELSET=BARS, MATERIAL=M, MASS={draw(st.sampled_from(['LUMPED', 'CONSISTENT']))}", "1.",
    ]  # fmt: skip
    if draw(st.booleans()):
        lines += ["*ELEMENT, TYPE=SPRING1, ELSET=GROUND", "200,2", "*SPRING, ELSET=GROUND", "2", "300."]
    lines += [
        "*BOUNDARY", *held, "*STEP, NLGEOM=YES", "*DYNAMIC, DIRECT", "0.01, 0.05",
        "*CONTROLS, RESI_GLOB_RELA=1e-9, ENERGY DRIFT=OFF", "*DLOAD", "BARS, GRAV, 9.81, 0.3, -0.5, -1",
        "*CLOAD", f"{count}, 2, 20.", "*END STEP", "",
    ]  # fmt: skip
    return "\n".join(lines)


@st.composite
def bordered(draw):
    """Such trees, also with bars that close rings, whose nodes are tied by equations and rigid links."""
    deck, rng = draw(forests()), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = deck.split("*ELEMENT", 1)[0].count("\n") - 1
    held = {line.split(",")[0] for line in deck.split("*BOUNDARY\n")[1].split("*STEP")[0].splitlines()}
    loose = [k for k in range(1, count + 1) if str(k) not in held]
    place = {int(line.split(",")[0]): line.split(",")[1:] for line in deck.split("*ELEMENT", 1)[0].splitlines()[1:]}
    rings = {tuple(sorted(rng.choice(count, 2, replace=False) + 1)) for _ in range(draw(st.integers(0, 2)))}
    rings = {(i, j) for i, j in rings if place[i] != place[j]}
    bars = "".join(f"{e},{i},{j}\n" for e, (i, j) in enumerate(sorted(rings), start=50))
    deck = deck.replace("*ELEMENT, TYPE=MASS", f"{bars}*ELEMENT, TYPE=MASS")
    ties, slaves = "", rng.permutation(loose)[: draw(st.integers(0, 3))].tolist()
    for slave in slaves:
        others = [k for k in range(1, count + 1) if k not in slaves]
        for axis in (1, 2, 3) if draw(st.booleans()) else (2,):
            named = rng.choice(others, min(len(others), draw(st.integers(1, 3))), replace=False)
            terms = "".join(f", {k}, {rng.integers(1, 4)}, {rng.normal():.3f}" for k in named)
            ties += f"*EQUATION\n{1 + len(named)}\n{slave}, {axis}, 1.{terms}\n"
    free = [k for k in loose if k not in slaves]
    linked = rng.choice(free, 2, replace=False).tolist() if len(free) > 1 and draw(st.booleans()) else []
    if linked and place[linked[0]] != place[linked[1]]:
        ties += f"*MPC\nLINK, {linked[0]}, {linked[1]}\n"
    return deck.replace("*BOUNDARY\n", f"{ties}*BOUNDARY\n")


@settings(max_examples=25)
@given(bordered(), st.booleans())
def test_nodes_are_eliminated_up_to_equations_and_links_as_the_direct_solver_does(deck, is_static):
    """Rings, equations, links: to 1e-9 of the size, counts equal, or the same error."""
    if is_static:  # all nodes on springs to the ground
        labels = [line.split(",")[0] for line in deck.split("*ELEMENT", 1)[0].splitlines()[1:]]
        springs = "".join(
            f"*ELEMENT, TYPE=SPRING1, ELSET=BED{axis}\n"
            + "".join(f"{300 + 10 * int(label) + axis},{label}\n" for label in labels)
            + f"*SPRING, ELSET=BED{axis}\n{axis}\n2000.\n"
            for axis in (1, 2, 3)
        )
        deck = deck.replace("*BOUNDARY", f"{springs}*BOUNDARY", 1)
        deck = deck.replace("*DYNAMIC, DIRECT\n0.01, 0.05", "*STATIC, DIRECT\n0.2, 1.")
    made = []
    for solver in ("DIRECT", "BORDER"):
        try:
            made.append(run_text(deck, solver=solver))
        except (fem.NoConvergence, fem.ModelError) as error:
            made.append(str(error))
    reference, history = made
    if isinstance(reference, str):
        assert history == reference
        return
    assert np.array_equal(history.iterations, reference.iterations)
    assert np.abs(history.u - reference.u).max() < 1e-9


@settings(max_examples=40)
@given(forests())
def test_any_forest_is_eliminated_as_the_direct_solver_solves_it(deck):
    """Whatever hangs on what and is held where: to 1e-9 of the size, counts equal."""
    reference = run_text(deck, solver="DIRECT")
    history = run_text(deck, solver="CHAIN")
    assert np.array_equal(history.iterations, reference.iterations)
    assert np.abs(history.u - reference.u).max() < 1e-9


def net(cells: int, stress: float, time: str = "0.002, 0.04") -> str:
    """A square net, edges pinned, mass rule CONSISTENT (off-diagonal mass), under its weight."""
    size = cells + 1
    at = {(i, j): i * size + j + 1 for i in range(size) for j in range(size)}
    bars = [(at[i, j], at[i, j + 1]) for i in range(size) for j in range(cells)]
    bars += [(at[i, j], at[i + 1, j]) for i in range(cells) for j in range(size)]
    edge = [at[i, j] for i, j in at if i in (0, cells) or j in (0, cells)]
    return "\n".join(
        ["*NODE", *(f"{label}, {0.1 * i!r}, {0.1 * j!r}, 0." for (i, j), label in at.items())]
        + ["*ELEMENT, TYPE=T3D2, ELSET=NET", *(f"{k + 1}, {i}, {j}" for k, (i, j) in enumerate(bars))]
        + ["*NSET, NSET=EDGE", *map(str, edge), "*MATERIAL, NAME=M", "*ELASTIC", "1e4", "*DENSITY", "1."]
        + ["*SOLID SECTION, ELSET=NET, MATERIAL=M, STRAIN=ENGINEERING, MASS=CONSISTENT", "1."]
        + ["*BOUNDARY", "EDGE, 1, 3", "*INITIAL CONDITIONS, TYPE=STRESS", f"NET, {stress}"]
        + ["*STEP, NLGEOM=YES", "*DYNAMIC, DIRECT", time, "*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF", "*DLOAD"]
        + ["NET, GRAV, 9.81, 0.2, 0, -1", "*END STEP", ""]
    )


def test_conjugate_gradients_agree_with_the_direct_solver():
    """Inexact Newton may take other counts; at a residual of 1e-10 the motion is the same to 1e-10 of the size."""
    deck = net(12, 10.0)
    reference, history = run_text(deck, solver="DIRECT"), run_text(deck, solver="CG")
    assert np.abs(history.u - reference.u).max() < 1e-10
    assert history.iterations.sum() <= 2 * reference.iterations.sum()


def test_indefinite_tangents_go_to_the_direct_solver():
    """Strongly compressed bars buckle: negative curvature, no wrong answer."""
    deck = net(8, -150.0, "0.02, 0.1")
    reference, history = run_text(deck, solver="DIRECT"), run_text(deck, solver="CG")
    assert np.abs(history.u - reference.u).max() < 1e-8
    assert reference.elements[-1, :, 3].min() < -100.0
    assert any("a direct solver" in notice for notice in history.notices)


def test_history_does_not_depend_on_the_size_of_chunks(monkeypatch):
    from fem.solve import step_run

    whole = run_text(DECKS["tree"])
    monkeypatch.setattr(step_run, "LONGEST_CHUNK", 3)
    parts = run_text(DECKS["tree"])
    assert np.array_equal(whole.u, parts.u)
    assert np.array_equal(whole.energy, parts.energy)
    assert np.array_equal(whole.iterations, parts.iterations)


def history_of(path, solver):
    """The first increments of a deck."""
    text = re.sub(r", INC=\d+", "", path.read_text(encoding="utf-8"))
    text = text.replace("*STEP", f"*STEP, INC={SOME_INCREMENTS}")
    try:
        return fem.run(fem.parse_deck(text, folder=path.parent), solver=solver)
    except fem.NoConvergence as error:
        assert isinstance(error, fem.EnergyDrift) or "INC=" in str(error)
        return error.history


def at_times(reference, history):
    """(k, 3n) displacements of a history at the times of another one, as long as both last."""
    times = reference.time[reference.time <= history.time[-1]]
    return np.stack([np.interp(times, history.time, each) for each in history.u.T], axis=1)


@pytest.mark.parametrize("path", INPUTS)
@pytest.mark.sampled(27)
def test_every_deck_has_one_answer(path):
    """1e-9 of the largest displacement and equal counts; conjugate gradients only as exact as the deck asks for.

    Where a residual ends within round-off of its bound, one more solve may be taken: at most in one of 100 increments.
    Runs that ask for less than round-off, and are told so, count as it falls. Automatic increments follow what is
    known of the error to those digits, and times differ, too.
    """
    reference = history_of(path, "SUPERLU")
    extent = float(np.ptp(reference.mesh.coordinates, axis=0).max())
    size = max(float(np.abs(reference.u).max(initial=0.0)), 1e-9 * extent)  # of what does not move
    for solver in ("AUTO", "CHAIN", "BAND", "BORDER", "CG"):
        history = history_of(path, solver)
        bound, u = (1e-9 if solver != "CG" else 1e-5), history.u
        if solver == "CG" and not np.array_equal(history.time, reference.time):
            bound, u = 1e-4, at_times(reference, history)
        assert np.abs(u - reference.u[: len(u)]).max(initial=0.0) <= bound * size + 1e-11 * extent, solver
        asked = [step.controls for step in reference.model.steps]
        to_floor = any(each.residual_relative is None and each.residual_absolute is None for each in asked)
        if to_floor and solver != "CG":  # counts are those of round-off
            assert history.iterations.sum() == pytest.approx(reference.iterations.sum(), rel=0.05), solver
        elif solver != "CG" and not any("only to round-off" in notice for notice in reference.notices):
            differing = history.iterations != reference.iterations
            assert np.count_nonzero(differing) <= 0.01 * len(differing), solver
            assert np.abs(history.iterations - reference.iterations).max(initial=0) <= 1, solver


STATIC_NET = "*STATIC, DIRECT\n0.1, 1."


def heavy(deck):
    """A static net: ten steps of load."""
    return deck.replace("*DYNAMIC, DIRECT\n0.002, 0.04", STATIC_NET)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("deck", [net(14, 10.0), heavy(net(14, 10.0))], ids=["motion", "statics"])
def test_kept_factors_change_no_answer(deck, library, monkeypatch):
    """Tight criterion, loose linear solves: the motion is the same, the counts nearly."""
    reference = run_text(deck, solver="SUPERLU")
    made = []
    whole = sparse.DirectSolver._factor
    monkeypatch.setattr(sparse.DirectSolver, "_factor", lambda self, *rest: made.append(1) or whole(self, *rest))
    monkeypatch.setattr(sparse, "SMALLEST_KEPT", 0)
    history = run_text(deck, solver=library)
    assert np.abs(history.u - reference.u).max() < 1e-9 * np.abs(reference.u).max()
    assert len(made) < 0.5 * reference.iterations.sum()
    assert history.iterations.sum() <= 1.3 * reference.iterations.sum() + 5


@pytest.mark.parametrize("kept", [0, 10**9], ids=["kept factors", "exact solves"])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.sampled
def test_indefinite_tangents_are_solved(library, kept, monkeypatch):
    """Compressed bars beyond buckling: no Cholesky, no positive curvature, the same motion as with a pivoting band."""
    deck = net(8, -150.0, "0.02, 0.1")
    monkeypatch.setattr(sparse, "SMALLEST_KEPT", kept)
    reference, history = run_text(deck, solver="BAND"), run_text(deck, solver=library)
    assert np.abs(history.u - reference.u).max() < 1e-8
    assert reference.elements[-1, :, 3].min() < -100.0


@pytest.mark.parametrize("library", LIBRARIES)
def test_unsymmetric_tangents_are_solved(library):
    """Viscous bars."""
    deck = net(6, 10.0).replace("*DENSITY", "*DAMPING, BETA=0.01\n*DENSITY")
    reference, history = run_text(deck, solver="BAND"), run_text(deck, solver=library)
    assert np.abs(history.u - reference.u).max() < 1e-12
    assert np.array_equal(history.iterations, reference.iterations)


def test_unknown_solver_is_refused():
    with pytest.raises(CommandError, match="no solver 'choleski'; there are AUTO, CHAIN, BAND"):
        run_text(TREE, solver="choleski")


@pytest.mark.skipif(find_spec("pypardiso") is not None, reason="it is installed")
def test_missing_library_is_refused():
    with pytest.raises(CommandError, match="pip install"):
        run_text(TREE, solver="PARDISO")
