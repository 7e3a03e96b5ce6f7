"""Points of a sweep that march together give the rows they give alone."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import fem
from fem.deck import parse_deck
from fem.runs.run_record import COMPLETED
from fem.study import workers
from fem.study.lanes.pack import sample, varied
from fem.study.points import make_grid
from fem.study.question import Job, columns_of, models_of
from fem.study.row import layout_of
from fem.study.sweep import jobs_of, make_plan
from fem.study.workers import march_block
from tests.solve.test_lanes import TIMED
from tests.sweeping.swings import SWING, write_swing

GRID = {"length": [0.0, *np.linspace(0.5, 2.0, 10)], "gravity": [1.0, 5.0, 9.81], "dt": [0.01, 0.005]}


SWAYING = TIMED
for old, new in (
    ("YOUNG = 1e5\n", "YOUNG = 100.\ngravity = 9.81\nlength = 1.\nrest = 0.99*length\n"),
    ("2, 1, 0, 0\n", "2, <length>, 0, 0\n"),
    ("*AMPLITUDE", "*REST LENGTH\nBAR, <rest>\n*AMPLITUDE"),
    ("80.4*dt", "20*dt"),
    ("9.81, 0,", "<gravity>, 0,"),
    ("*NODE PRINT, FREQUENCY=10\nU\n", "*NODE PRINT\nU\n*EL PRINT\nT\n"),
):
    assert old in SWAYING
    SWAYING = SWAYING.replace(old, new)


def test_a_sweep_in_lanes_gives_the_rows_of_single_runs(tmp_path, monkeypatch):
    """In the machine code of ``tests/solve/test_lane_extremes.py``."""
    deck = tmp_path / "swaying.inp"
    deck.write_text(SWAYING)
    grid = {"length": GRID["length"], "gravity": GRID["gravity"], "OMEGA": [2.5, 5.0]}
    record = fem.Record("T_e1,U3_n2", start=0.02, slope=3.0, constant=1e6)
    alone = fem.sweep(deck, grid, workers=1, history=True, record=record)
    marched = []

    def counted(jobs, may_compile):
        found = march_block(jobs, may_compile)
        marched.extend(found)
        return found

    monkeypatch.setattr(workers, "is_worth_compiling", lambda *_: True)
    monkeypatch.setattr(workers, "march_block", counted)
    together = fem.sweep(deck, grid, workers=1, record=record)
    assert len(marched) > 40
    assert (together["verdict"] == alone["verdict"]).all() and together.failed.sum() == 6
    for name in set(alone) - {"verdict"}:
        mine, its = together[name][~together.failed], alone[name][~alone.failed]
        size = np.nanmax(np.abs(its), initial=0.0)
        if name.startswith("energy_error"):  # a difference of energies
            size = np.abs(alone["potential_end"][~alone.failed]).max()
        crosses = not name.endswith("_Tz")  # so short a swing crosses its mean once
        assert mine == pytest.approx(its, rel=1e-11, abs=1e-12 * size, nan_ok=not crosses), name


@pytest.fixture
def is_not_compiled(monkeypatch):
    """The lanes of no shape are compiled."""
    monkeypatch.setattr("fem.study.lanes.run.is_compiled", lambda *_: False)


def test_a_shape_that_is_not_worth_its_compilation_marches_only_where_that_is_short(is_not_compiled, monkeypatch):
    model = parse_deck(SWING)
    jobs = [Job(point, model, layout_of(model)) for point in range(3)]
    assert len(march_block(jobs, may_compile=False)) == 3
    monkeypatch.setattr("fem.study.lanes.run.first_chunk", lambda system: 19)  # of 20 increments
    assert march_block(jobs, may_compile=False) == {}


SHAKEN = """*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, <omega>, 0., 0.
0., 1.
*STEP, NLGEOM"""
PREPARED = {
    "increments": ("", "", {"dt": np.linspace(0.001, 0.01, 12), "gravity": [1.0, 9.81]}),
    "geometry": ("", "", {"length": [0.0, *np.linspace(0.5, 2.0, 10)], "gravity": [5.0, 9.81]}),
    "supports": (
        "*STEP, NLGEOM",
        SHAKEN.replace("<omega>", "<length>"),
        {"length": np.linspace(0.5, 2.0, 8), "dt": [0.01, 0.005]},
    ),
    "damping": (
        "*DENSITY\n",
        "*DAMPING, ALPHA=<length>, BETA=<beta>\n*DENSITY\n",
        {"beta": [0.0, 0.001], "dt": [0.01, 0.005]},
    ),
    "lengths": ("", "", {"end": np.linspace(0.05, 0.2, 12), "dt": [0.01, 0.003]}),
    "moduli": ("1e6", "<length>", {"length": np.linspace(10.0, 1e4, 12)}),
    "starts": ("", "", {"V2_2": np.linspace(-1.0, 1.0, 6), "U1_2": [0.0, 1e-6]}),
    "pushed supports": (
        "*STEP, NLGEOM",
        SHAKEN.replace("<omega>", "9.81"),
        {"push": np.linspace(0.0, 0.3, 8), "dt": [0.01, 0.005]},
    ),
    "supports with a speed": (
        "*DLOAD",
        "*BOUNDARY, TYPE=VELOCITY\n1, 1, 1, <push>\n*DLOAD",
        {"push": np.linspace(-0.3, 0.3, 12)},
    ),
    "loads": (
        "*STEP, NLGEOM",
        SHAKEN.replace("<omega>", "9.81"),
        {"push": np.linspace(-1.0, 1.0, 6), "gravity": [-9.81, 0.0, 9.81]},
    ),
    "drift": ("*DLOAD", "*CONTROLS, ENERGY DRIFT=1e-9\n*DLOAD", {"dt": np.linspace(0.001, 0.04, 12)}),
}


@pytest.mark.parametrize("case", PREPARED)
def test_points_that_are_prepared_once_have_the_very_rows_of_single_runs(tmp_path, is_not_compiled, case):
    """To the last bit, in any order; what fails is left to a run of its own."""
    old, new, grid = PREPARED[case]
    deck = write_swing(tmp_path, old, new)
    if case == "moduli":
        deck.write_text(deck.read_text().replace("2, <length>, 0., 0.", "2, 1., 0., 0."))
    text = deck.read_text().replace("*PARAMETER\n", "*PARAMETER\nbeta = 0.\npush = 0.1\n")
    if case in ("supports", "pushed supports"):
        text = text.replace("*DLOAD", "*BOUNDARY, AMPLITUDE=SHAKE\n1, 1, 1, <push>\n*DLOAD")
    elif case == "loads":
        own = "*CLOAD\n2, 2, <push>\n*CLOAD, AMPLITUDE=SHAKE\n2, 1, <push>\n2, 2, 0.1\n*DLOAD\nBAR, BX, <push>\n"
        text = text.replace("*DLOAD", f"{own}*DLOAD")
    deck.write_text(text)
    record = None if case == "lengths" else fem.Record("U2_n2", start=0.02)
    plan = make_plan(deck, make_grid(grid), None, False, partial(layout_of, record=record))
    jobs = list(jobs_of(plan, list(range(len(plan.grid)))))
    alone = {job.point: job.solve() for job in jobs}
    for order in (jobs, jobs[::-1], jobs[::2] + jobs[1::2]):
        found = march_block(order, may_compile=False)
        assert 2 * len(found) >= len(jobs) or case == "drift"
        assert (len(found) < len(models_of(jobs))) == (case in ("drift", "damping"))
        for point, answer in found.items():
            assert alone[point].verdict == answer.verdict
            assert np.array_equal(alone[point].row, answer.row, equal_nan=True), point


def test_what_turns_out_to_be_another_shape_of_lanes_marches_one_by_one(tmp_path, monkeypatch):
    """Some of the points look as if their lanes were compiled, all of them are not."""
    monkeypatch.setattr("fem.study.lanes.run.is_compiled", lambda *_: True)
    monkeypatch.setattr("fem.study.lanes.run.march_all", lambda *_: False)
    grid = make_grid({"dt": [0.01, 0.02], "gravity": np.linspace(1.0, 9.81, 9)})
    jobs = list(jobs_of(make_plan(write_swing(tmp_path), grid, None, False), list(range(len(grid)))))
    found = march_block(jobs, may_compile=False)
    assert np.array_equal([found[job.point].row for job in jobs], [job.solve().row for job in jobs], equal_nan=True)


def test_rods_that_are_prepared_once_have_the_very_rows_of_single_runs(tmp_path, is_not_compiled):
    deck = tmp_path / "rods.inp"
    deck.write_text(RODS)
    grid = make_grid({"speed": np.linspace(-2.0, 2.0, 6), "slip": [0.0, 0.1], "width": [0.1, 0.3]})
    jobs = list(jobs_of(make_plan(deck, grid, None, False), list(range(len(grid)))))
    found = march_block(jobs, may_compile=False)
    assert len(found) == 12  # without slip
    for job in jobs:
        alone = job.solve()
        assert (alone.verdict == COMPLETED) == (job.point in found)
        assert job.point not in found or np.array_equal(alone.row, found[job.point].row)


RODS = """*PARAMETER
speed = 1.0
slip = 0.0
width = 0.3
across = speed*1.0
*NODE
1, 0, 0, 0
2, 0.6, 0, -0.8
3, 0.6, 0, -1.8
*ELEMENT, TYPE=T3D2, ELSET=RODS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=BOBS
3, 2
4, 3
*SOLID SECTION, ELSET=RODS, MATERIAL=RIGID
1
*MATERIAL, NAME=RIGID
*INEXTENSIBLE
*MASS, ELSET=BOBS, ALPHA=0.1
1
*AMPLITUDE, NAME=SWAY, DEFINITION=PERIODIC
1, 3, 0, 1
-1, 0
*BOUNDARY
1, 1, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
3, 1, <across>
3, 3, <slip>
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
0.01, 2
*CONTROLS, RESI_GLOB_RELA=1e-10
*BOUNDARY, AMPLITUDE=SWAY
1, 1, 1, <width>
*DLOAD
BOBS, GRAV, 9.81, 0, 0, -1
*NODE PRINT
U, V, RF
*EL PRINT
T
*END STEP
"""
TIMED_RODS = RODS.replace("*PARAMETER\n", "*PARAMETER\nend = 2.0\n").replace("0.01, 2\n", "0.01, <end>\n")


@pytest.mark.parametrize(
    ("text", "grid", "fails"),
    [
        (RODS, {"U1_3": [0.0, 0.01, 0.1], "V2_3": [0.0, 0.5]}, 4),  # rods that are not as long as they have to be
        (SWING.replace("*STEP, NLGEOM", "*STEP, NLGEOM, INC=15"), {"end": np.linspace(0.1, 0.2, 6)}, 3),
    ],
    ids=["lengths of rods", "INC"],
)
def test_what_a_run_of_its_own_refuses_does_not_march_with_others(tmp_path, is_not_compiled, text, grid, fails):
    deck = tmp_path / "refused.inp"
    deck.write_text(text)
    jobs = list(jobs_of(make_plan(deck, make_grid(grid), None, False), range(6)))
    found, alone = march_block(jobs, may_compile=False), [job.solve() for job in jobs]
    assert columns_of(jobs) and sum(answer.verdict != COMPLETED for answer in alone) == fails
    assert list(found) == [answer.point for answer in alone if answer.verdict == COMPLETED]
    assert all(np.array_equal(found[point].row, alone[point].row, equal_nan=True) for point in found)


def test_columns_whose_first_row_gives_other_arrays_than_were_assembled_are_not_taken():
    """As where another section, or a spring, has the bars of a material."""
    known = sample(parse_deck(SWING))
    address = ("materials", "STEEL", "young")
    assert varied(known, {address: np.array([1e6, 2e6])}, True)
    assert varied(known, {address: np.array([3e6, 2e6])}, True) is None


@pytest.mark.parametrize(
    ("cards", "address"),
    [
        ("*CLOAD\n2, 1, 0.\n*CLOAD\n2, 1, 1.\n", ("nodal_loads", 0)),  # added to the other one, which is found
        ("*CLOAD\n2, 1, 0.\n", ("nodal_loads", 0)),  # no load at all in the deck itself
        ("*BOUNDARY\n1, 1, 1, 0.\n*BOUNDARY\n1, 1, 1, 0.\n", ("boundaries", 0)),
        ("*BOUNDARY, FIXED\n1, 1, 1\n", ("boundaries", 0)),
    ],
)
def test_loads_and_supports_that_are_not_alone_are_added_up_or_left_to_assembly(cards, address):
    model = parse_deck(SWING.replace("*DLOAD", f"{cards}*DLOAD"))
    known, column = sample(model), np.linspace(0.0, 1.0, 3)
    found = varied(known, {("steps", 0, *address, "value"): column}, True)
    if found is not None:
        assert found[2].loads.vectors[0, 3] == 2.0 and "2, 1, 1." in cards
    else:
        assert "2, 1, 1." not in cards


def test_a_sweep_over_increments_that_is_broken_off_goes_on_to_the_same_bytes(tmp_path, is_not_compiled, monkeypatch):
    deck, grid = write_swing(tmp_path), {"dt": np.linspace(0.001, 0.01, 90)}
    whole = fem.sweep(deck, grid, workers=1, output=tmp_path / "whole")
    blocks = []

    def stops(jobs, may_compile):
        blocks.append(len(jobs))
        if len(blocks) > 1:
            raise KeyboardInterrupt
        return march_block(jobs, may_compile)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(workers, "march_block", stops)
        fem.sweep(deck, grid, workers=1, output=tmp_path / "broken")
    before = (tmp_path / "broken" / "sweep.csv").read_text().splitlines()
    assert 1 < len(before) < 91
    fem.sweep(deck, grid, workers=1, output=tmp_path / "broken")
    assert (tmp_path / "broken" / "sweep.csv").read_bytes() == (tmp_path / "whole" / "sweep.csv").read_bytes()
    assert whole["time_end"] == pytest.approx(20 * grid["dt"], rel=1e-12)


def test_only_models_that_print_the_same_nodes_march_together(tmp_path, is_not_compiled):
    deck = write_swing(tmp_path, "*NSET, NSET=TIP\n2\n", "*NSET, NSET=TIP\n<tip>\n")
    deck.write_text(deck.read_text().replace("*PARAMETER\n", "*PARAMETER\ntip = 2\n"))
    grid = {"tip": [2.0, 1.0], "gravity": np.linspace(1.0, 9.81, 8), "dt": [0.01, 0.005]}
    alone = fem.sweep(deck, grid, workers=1, history=True)
    together = fem.sweep(deck, grid, workers=1)
    for name in ("U3_2_end", "U2_2_end", "U2_2_min"):
        assert np.isnan(together[name][16:]).all()
        assert together[name] == pytest.approx(alone[name], rel=1e-12, nan_ok=True)


def test_only_models_whose_nodes_have_the_same_labels_march_together(tmp_path, is_not_compiled):
    deck = write_swing(tmp_path)
    text = deck.read_text().replace("2, <length>", "<tip>, <length>").replace("1, 1, 2", "1, 1, <tip>")
    text = text.replace("*NSET, NSET=TIP\n2\n", "*NSET, NSET=TIP\n<tip>\n").replace("\n2, 3\n", "\n<tip>, 3\n")
    deck.write_text(text.replace("*PARAMETER\n", "*PARAMETER\ntip = 2\n"))
    grid = {"tip": [2.0, 7.0], "gravity": np.linspace(1.0, 9.81, 8), "dt": [0.01, 0.005]}
    alone = fem.sweep(deck, grid, workers=1, history=True)
    together = fem.sweep(deck, grid, workers=1)
    assert np.isnan(alone["U2_2_end"][16:]).all() and not alone.failed.any()
    assert together["U2_2_end"] == pytest.approx(alone["U2_2_end"], rel=1e-12, nan_ok=True)


@pytest.mark.long
def test_rods_march_in_lanes_as_they_do_alone(tmp_path, monkeypatch):
    """Rods under a support that sways, for one second or two; those whose velocities would stretch a rod are left to
    their own runs. In the machine code of ``tests/solve/test_lane_counts.py``."""
    deck = tmp_path / "rods.inp"
    deck.write_text(TIMED_RODS)
    grid = {"speed": np.linspace(-2.0, 2.0, 12), "slip": [0.0, 0.1], "width": [0.1, 0.3], "end": [2.0, 1.0]}
    alone = fem.sweep(deck, grid, workers=1, history=True)
    monkeypatch.setattr(workers, "is_worth_compiling", lambda *_: True)
    marched = []

    def counted(jobs, may_compile):
        found = march_block(jobs, may_compile)
        marched.extend(found)
        return found

    monkeypatch.setattr(workers, "march_block", counted)
    together = fem.sweep(deck, grid, workers=1)
    assert len(marched) >= 46 and (alone.failed == (alone["slip"] != 0.0)).all()
    assert (together["verdict"] == alone["verdict"]).all()
    for name in set(alone) - {"verdict"}:
        mine, its = together[name][~together.failed], alone[name][~alone.failed]
        size = np.abs(alone["kinetic_end"][~alone.failed]).max() if "energy" in name else np.abs(its).max()
        assert mine == pytest.approx(its, rel=1e-8, abs=1e-9 * size), name


def test_starts_are_varied_as_parameters_are(tmp_path):
    """A start displacement and a start velocity in place of what the deck says; lengths stay those of the deck."""
    deck = write_swing(tmp_path, "*STEP", "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 0.5\n*STEP")
    found = fem.sweep(deck, {"V1_2": [0.25, 0.5], "u1_2": [0.0, 0.01], "gravity": [5.0]}, workers=1)
    assert found.names == ("V1_2", "U1_2", "gravity") and not found.failed.any()
    its = fem.sweep(deck, {"gravity": [5.0]}, workers=1)
    same = np.flatnonzero((found["V1_2"] == 0.5) & (found["U1_2"] == 0.0))
    assert found["U2_2_end"][same] == its["U2_2_end"] and len(set(found["U2_2_end"])) == 4
    said = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 0.25\n*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n2, 1, 0.01\n*STEP"
    other = fem.sweep(write_swing(tmp_path, "*STEP", said), {"gravity": [5.0]}, workers=1)
    assert found["U2_2_end"][1] == other["U2_2_end"][0]


@pytest.mark.parametrize("varied", [{"length": 9}, {"gravity": 9}, {"dt": 9}, {"end": 9}, {"length": 3, "end": 3}])
def test_columns_of_a_block_are_what_each_of_its_decks_has(tmp_path, varied):
    """Number by number, wherever in the model they stand."""
    grid = make_grid({name: np.linspace(0.01, 0.1, count) for name, count in varied.items()})
    plan = make_plan(write_swing(tmp_path), grid, None, False)
    jobs = list(jobs_of(plan, range(len(grid))))
    first, columns = columns_of(jobs)
    assert columns
    for place, job in enumerate(jobs):
        for address, column in columns.items():
            part = job.model
            for name in address:
                part = getattr(part, name) if isinstance(name, str) and hasattr(part, name) else part[name]
            assert part == column[place]
    assert first == jobs[0].model


def test_a_block_with_a_deck_that_reads_otherwise_is_read_deck_by_deck(tmp_path):
    """Here because one of them cannot be read at all."""
    deck = write_swing(tmp_path)
    deck.write_text(deck.read_text().replace("end = 20*dt", "end = sqrt(gravity)"))
    plan = make_plan(deck, make_grid({"gravity": [1.0, 2.0, -1.0]}), None, False)
    jobs = list(jobs_of(plan, range(3)))
    assert columns_of(jobs[:2]) and columns_of(jobs) is None
    assert list(models_of(jobs)) == [0, 1]
    assert "swing.inp:5: sqrt(-1) has no finite real value" in jobs[2].solve().verdict
