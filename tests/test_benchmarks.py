"""The benchmarks' decks read, run and give the stored answers; the tables hold together. Nothing is timed."""

from __future__ import annotations

import dataclasses
import math
from xml.etree import ElementTree

import numpy as np
import pytest

import fem
from benchmarks import gradients, kernels, lanes, lines, many, moorings, twisted_rod
from benchmarks.__main__ import chosen_jobs, main
from benchmarks.arrays import arrays_of
from benchmarks.decks import checked_labels, deck_text, write_deck
from benchmarks.jobs import GRAVITY, MANY_EXPLICIT, Job, critical_increment, jobs_of
from benchmarks.line_jobs import heaving, line_job
from benchmarks.measure import OURS, Outcome, Plan, missing_peers, reference_of, references, verdict_of
from benchmarks.ours import run
from benchmarks.output_cost import saving_deck
from benchmarks.peer_lines import elevation_text, frequencies_text
from benchmarks.reference import solve
from benchmarks.report import COLUMNS, csv_text, markdown, rows_of, write_report
from fem.deck import deck_reader
from fem.model.curves import Follow, evaluate
from fem.model.surroundings import water_at
from fem.study.points import read_vary

SMALL = [
    dataclasses.replace(jobs_of("W1")[0], increments=200),
    *jobs_of("W2", (10,)),
    *(dataclasses.replace(job, increments=min(10, job.increments)) for job in jobs_of("W3", (5,))),
    *(dataclasses.replace(job, increments=50) for job in jobs_of("W4", (6,))),
]


def names(job: Job) -> str:
    return job.slug


@pytest.mark.parametrize("job", SMALL, ids=names)
def test_deck_is_the_model_of_the_arrays(job):
    model, arrays = fem.parse_deck(deck_text(job)), arrays_of(job)
    mesh = model.mesh
    labels = np.asarray(mesh.node_labels)
    order = np.lexsort(np.asarray(mesh.coordinates).T)
    mine = np.asarray(mesh.coordinates)[order]
    assert mine == pytest.approx(arrays.coordinates[np.lexsort(arrays.coordinates.T)], abs=1e-12)
    assert sum(len(block.labels) for block in mesh.blocks) == len(arrays.bars) == job.bars
    for label, node in zip(checked_labels(job), (arrays.tip, arrays.probe), strict=True):
        place = np.asarray(mesh.coordinates)[labels == label][0]
        assert place == pytest.approx(arrays.coordinates[node], abs=1e-12)
    assert np.count_nonzero(~arrays.pinned) == job.free_nodes
    load = GRAVITY * np.linalg.norm(arrays.mass[~arrays.pinned])
    assert job.gravity_norm == pytest.approx(load, rel=1e-12)


@pytest.mark.long_cases("W1")
@pytest.mark.parametrize("job", SMALL, ids=names)
@pytest.mark.sampled(2)
def test_deck_runs_to_the_answer_of_the_independent_reference(job):
    mine = Outcome(job, OURS, [run(job)])
    assert verdict_of(mine, solve(job)) == "ok"


@pytest.mark.parametrize("job", [*jobs_of("W1"), *jobs_of("W2"), *jobs_of("W3")], ids=names)
def test_decks_of_any_size_are_short(job):
    assert len(deck_text(job)) < 3000
    assert f"RESI_GLOB_MAXI={job.residual_limit!r}" in deck_text(job)


def test_deck_of_the_output_cost_is_read():
    kinds = {request.kind for request in fem.parse_deck(saving_deck(SMALL[1])).steps[0].outputs}
    assert {"NODE PRINT", "NODE FILE"} <= kinds


def test_largest_deck_is_read():
    model = fem.parse_deck(deck_text(jobs_of("W2", (100_000,))[0]))
    assert sum(len(block.labels) for block in model.mesh.blocks) == 100_000


def test_residual_limit_implies_the_criterion_of_the_peers():
    for job in SMALL:
        worst = np.full((2 if not job.is_net else 3) * job.free_nodes, job.residual_limit)
        assert np.linalg.norm(worst) == pytest.approx(1e-8 * job.gravity_norm, rel=1e-12)


def test_critical_increment_of_a_long_chain():
    # sqrt(m l/EA): half the period over pi of the stiffest mode of an infinite chain, 0.1 sqrt(1/1e6)
    assert critical_increment("W2") == pytest.approx(1e-4, rel=1e-12)


def test_peers_get_the_waves_of_our_sea(tmp_path):
    """Both of their files give the elevation of ours at x = 0."""
    job = line_job("sea:5:0.1:60")
    model, waves = fem.parse_deck(lines.deck_text(job)), np.loadtxt(lines.write_waves(job, tmp_path / "waves.txt"))
    time, eta = np.loadtxt(elevation_text(job, waves).splitlines()).T
    ours, _, _ = water_at(model.waves, model.water, 2, np.zeros((len(time), 1, 3)), time)
    assert eta == pytest.approx(ours[:, 0], abs=1e-10)
    omega, real, imaginary = np.loadtxt(frequencies_text(waves).splitlines()).T
    sines = ((real + 1j * imaginary) * np.exp(1j * np.outer(time, omega))).imag.sum(axis=1)
    assert sines == pytest.approx(eta, abs=1e-10) and omega[0] == 0.0


@pytest.mark.long
def test_kernels_can_be_asked(monkeypatch):
    """What they are asked with is theirs today."""
    monkeypatch.setattr(kernels, "CALLS", 1)
    found = {**kernels.evaluation(), **kernels.seas(), **kernels.marches()}
    assert len(found) == 15 and min(found.values()) > 0.0


def test_ensembles_are_no_jobs():
    assert [job.name for job in chosen_jobs(["W4", "W5"], [5], "")] == ["W4 W2 5", "W4 W3 5"]


def test_explicit_reference_is_near_the_implicit_one():
    explicit, implicit = (
        solve(Job("W2", 10, dt, round(0.02 / dt), explicit=kind)) for dt, kind in ((5e-5, True), (1e-4, False))
    )
    assert explicit["tip"] == pytest.approx(implicit["tip"], abs=1e-6)


def test_stored_references_belong_to_jobs():
    known = references()
    for job in [*jobs_of("W1"), *jobs_of("W2", (10, 1000)), *jobs_of("W3", (30, 100))]:
        assert reference_of(job, known)
        assert not reference_of(dataclasses.replace(job, increments=7), known)


def outcome(program: str, seconds: float, tip: float = 0.0) -> Outcome:
    """Two runs of W2 10 with a made-up answer."""
    energies = {"kinetic": 2.0, "strain": 0.5, "potential": -2.5}
    answer = {"tip": [tip, 0.0, 0.0], "probe": [0.0] * 3, "energies": energies, "iterations": 400, "peak_mib": 50.0}
    runs = [{**answer, "seconds": factor * seconds, "best": seconds, "variant": ""} for factor in (1.0, 3.0)]
    return Outcome(jobs_of("W2", (10,))[0], program, runs)


def test_rows_hold_ratios_costs_and_differences():
    slow = outcome("OpenSees", 0.04, tip=3e-10)
    slow.runs[0]["notes"] = ["round-off"]
    rows = rows_of([outcome(OURS, 0.004), slow, Outcome(slow.job, "Exudyn", failed="over 120 s")], {})
    assert [row["ratio"] for row in rows] == ["-", "10", "-"]
    assert rows[0]["us/(element iteration)"] == "2.0000"  # 0.008 s, 400 iterations, 10 bars
    assert rows[0]["ns/(bar increment)"] == "4e+03"
    assert rows[0]["u - OpenSees"] == "3.0e-10"
    assert rows[0]["answer"] == "ok (OpenSees)"
    assert rows[1]["variant"] == "round-off floor"
    assert rows[2]["solve s"] == "over 120 s"
    assert rows[2]["answer"] == "failed"


def test_wrong_answers_are_called_wrong():
    right = outcome(OURS, 1.0).answer
    assert verdict_of(outcome(OURS, 1.0, tip=2e-9), right) == "WRONG: u by 2.0e-09"
    bad = outcome(OURS, 1.0)
    bad.runs[0]["energies"] = {"kinetic": 2.0, "strain": 0.5, "potential": math.nan}
    assert verdict_of(bad, right).startswith("WRONG: energy")
    assert verdict_of(outcome(OURS, 1.0), {}) == "no reference"


def test_report_is_markdown_and_csv(tmp_path):
    rows = rows_of([outcome(OURS, 0.004)], {})
    paths = write_report(tmp_path / "new", rows, ["a remark"], 0.5)
    text = paths[0].read_text(encoding="utf-8")
    assert markdown(rows) in text
    assert "- a remark" in text
    assert csv_text(rows).splitlines()[0].split(",") == list(COLUMNS)
    assert len(markdown(rows).splitlines()) == 3


def test_missing_peer_is_reported(tmp_path):
    nowhere = Plan(peers=("OpenSees",), peer_python=str(tmp_path / "python"))
    assert list(missing_peers(nowhere)) == ["OpenSees"]


def test_decks_are_written_on_demand(tmp_path, capsys):
    path = write_deck(SMALL[1], tmp_path)
    assert fem.read_deck(path).heading
    assert "*AMPLITUDE" in lanes.deck_text()
    assert main(["W5", "--decks"]) == 0
    assert "W5.inp" in capsys.readouterr().out


@pytest.mark.parametrize("name", many.STUDIES)
def test_rows_of_many_are_those_that_the_sweep_computes(name, tmp_path):
    study, deck = many.STUDIES[name], tmp_path / "deck.inp"
    deck.write_text(study.text(), encoding="utf-8")
    points = read_vary([words.removeprefix("--vary=") for words in study.vary(90)])
    cases = study.cases(90)
    assert len(points) == len(cases)
    for index, case in enumerate(cases):
        assert points.point(index) == pytest.approx(case, rel=1e-12)
    assert deck_reader(deck, list(cases[0]))(cases[-1]).steps[-1].outputs
    assert len(study.cases(study.rows)) == study.rows and 2 <= len(study.cases(many.FEW)) <= many.FEW
    if study.agreement < many.COARSE and "EXPLICIT" not in study.text():
        assert f"RESI_GLOB_RELA={many.LOOSE}" in study.text()


def test_explicit_rows_of_many_are_the_model_that_mujoco_gets():
    """Masses, lengths, increments; all values of EA are stable."""
    (axis,) = many.STUDIES["M2X"].axes(3)
    model, arrays = fem.parse_deck(many.explicit_text()), arrays_of(MANY_EXPLICIT)
    places = np.asarray(model.mesh.coordinates)[np.argsort(model.mesh.node_labels)]
    assert places == pytest.approx(arrays.coordinates, abs=1e-12)
    (step,) = model.steps
    assert (step.dynamic.dt, step.dynamic.period) == (MANY_EXPLICIT.dt, 0.4) and step.dynamic.direct
    assert {(one.strain, one.mass_rule, one.area) for one in model.sections} == {("ENGINEERING", "LUMPED", 1.0)}
    assert MANY_EXPLICIT.dt < critical_increment("W2") * math.sqrt(MANY_EXPLICIT.modulus / axis[2])


@pytest.mark.parametrize("name", ["M3", "M5L"])
def test_peers_of_many_get_the_motion_and_the_waves_of_the_deck(name, tmp_path):
    study, times = many.STUDIES[name], np.linspace(0.5, 20.0, 40)
    known, case = np.load(many.write_rows(name, 6, tmp_path)), study.cases(6)[-1]
    model = deck_reader(tmp_path / "waves.inp", list(case))(case)
    (driven,) = model.steps[-1].boundaries
    heave = Follow(model.amplitudes[driven.amplitude], 0.0)
    motion = [heaving(*known["heaves"][-1].tolist()).fairleads(t) for t in times]
    for order, rest in enumerate((-10.0, 0.0, 0.0)):
        moved = [parts[order][0, driven.dof - 1] - rest for parts in motion]
        assert moved == pytest.approx(driven.value * evaluate(heave, times, order), abs=1e-9)
    eta, _, _ = water_at(model.waves, model.water, 2, np.zeros((len(times), 1, 3)), times)
    omega, amplitude, phase = known["waves"][-1].T
    assert np.cos(phase - np.outer(times, omega)) @ amplitude == pytest.approx(eta[:, 0], abs=1e-9)


def test_table_of_many_has_the_middle_ratio_of_the_rounds():
    ours = many.Outcome("M1", OURS, 100, [20.0, 30.0, 60.0], 1.0)
    peer = many.Outcome("M1", "jax", 100, [10.0, 30.0, 15.0], 2.0, difference=1e-9)
    wrong = many.Outcome("M1", "jax", 100, [10.0, 30.0, 15.0], difference=1e-3)
    failed = many.Outcome("M1", "jax", 100, [], failed="over 120 s")
    lines = [line.split("|")[1:-1] for line in many.table([ours, peer, wrong, failed]).splitlines()]
    cells = [[cell.strip() for cell in line] for line in lines]
    assert cells[0] == list(many.COLUMNS)
    assert cells[2] == ["M1", "fem", "100", "30", "-", "1", "-", "-"]
    assert cells[3] == ["M1", "jax", "100", "15", "2", "2", "1.0e-09", "ok"]
    assert [line[-1] for line in cells[4:]] == ["WRONG", "failed: over 120 s"]


def test_numbers_of_many_are_compared_over_the_largest_of_their_kind():
    ours = [{"U1_2_end": "1e-6", "U1_2_min": "-2.0", "T_1_max": "10.0", "strain_end": "7.0"}] * 2
    its = {"U1_2_end": 0.0, "U1_2_min": -2.0, "T_1_max": 10.0, "strain_end": 5.0}
    assert many.difference(ours, {"first": its, "last": its}) == pytest.approx(5e-7)
    assert many.difference(ours, {"first": its, "last": {**its, "T_1_max": 8.0}}) == pytest.approx(0.25)


def test_scale_of_many_is_a_table_and_a_figure(tmp_path):
    found = [(1004, many.Spent(0.1, 130.0)), (10_004, many.Spent(1.0, 140.0))]
    assert "| 10004      | 1   | 100      | 140 |" in many.scale_table(found)
    many.draw_scale(found, tmp_path / "scale.png")
    assert (tmp_path / "scale.png").read_bytes().startswith(b"\x89PNG")


def test_the_twisted_rod_that_mujoco_gets():
    """Its first edge lies across the clamp by half: with half a mass at the tip it weighs what the deck does."""
    bars = 10
    model = fem.parse_deck(twisted_rod.deck(bars, 0.01))
    (section,) = model.sections
    assert section.area * twisted_rod.LENGTH == pytest.approx(twisted_rod.SIDE**2 * math.pi / 2.0)
    rod = ElementTree.fromstring(twisted_rod.peer_text(bars, 1e-4)).find(".//flexcomp")
    points = np.array(rod.get("point").split(), float).reshape(-1, 3)
    assert 0.5 * (points[0] + points[1])[0] == pytest.approx(0.0, abs=1e-12)
    assert points[-1] == pytest.approx([1.0, 1.0, 0.0], abs=1e-12)
    each = float(rod.get("mass")) / (bars + 1)
    whole = twisted_rod.DENSITY * twisted_rod.SIDE**2 * twisted_rod.LENGTH
    assert each * (bars - 2 + 0.5 + 1.0) == pytest.approx(whole)


def test_moorings_leave_out_what_has_no_peer_and_fail_beyond_a_limit(monkeypatch, capsys):
    """The exit code is that of the limits; a part without its program says why."""
    assert main(["moorings", "offsets", "--peer-python", "no-such-python"]) == 0
    assert "offsets: left out: moorpy: cannot start" in capsys.readouterr().out
    rows = [moorings.Row("ends", "TE [N]", 1.0, "other", 1.0, off, 5e-3) for off in (4e-3, 6e-3, math.nan)]
    for row, code in zip(rows, (0, 1, 1), strict=True):
        monkeypatch.setitem(moorings.PARTS, "ends", lambda asked, row=row: [row])
        assert main(["moorings", "ends"]) == code
        assert ("BEYOND" in capsys.readouterr().out) == bool(code)


@pytest.mark.parametrize("name", gradients.STUDIES)
def test_decks_of_gradients_have_the_parameters_by_which_they_are_differentiated(name):
    """Each parameter changes the model, and so does each job; numbers that are asked for are printed."""
    study = gradients.STUDIES[name]
    model = fem.parse_deck(study.text())
    assert set(study.by) <= set(model.parameters)
    assert set(study.names) <= {f"{kind}{label}" for kind, label in names_in(model)}
    for parameter in study.by:
        value = model.parameters[parameter]
        other = fem.parse_deck(study.text(), {parameter: 1.1 * value})
        assert describe(other) != describe(model)


def names_in(model):
    for node in model.mesh.node_labels.tolist():
        yield from ((f"U{axis}_n", node) for axis in (1, 2, 3))
    for element in model.mesh.element_labels.tolist():
        yield "T_e", element


def describe(model):
    return repr((model.mesh.coordinates.tolist(), model.materials, model.steps, model.seabeds, model.sea.tolist()))


def test_falls_of_gradients_are_those_that_jax_gets():
    """Bars, increments and end of the motion; the length, which ``peer_jax.motion`` divides, too."""
    for bars, dt, increments in gradients.FALLS.values():
        model = fem.parse_deck(gradients.falling_text(bars, dt, increments), {"rho": 2.0, "length": 3.0})
        assert len(model.mesh.element_labels) == bars
        assert np.ptp(model.mesh.coordinates[:, 0]) == 3.0
        (step,) = model.steps
        assert step.dynamic.dt == dt and round(step.dynamic.period / dt) == increments


def test_table_of_gradients_has_the_middle_share_of_the_rounds():
    clocked = gradients.Clocked([(1.0, 2.0), (2.0, 3.0), (1.0, 4.0)], [(2.0, 5.0), (2.0, 4.0), (2.0, 8.0)])
    assert gradients.row_of("line", ("EA", "Cd"), clocked) == ["line", "EA, Cd", "1", "1.00", "0.50", "0.75"]


def test_derivatives_are_compared_over_the_largest_of_their_kind():
    its = np.ones((4, 3, 2))
    its[0, 0, 0], its[:, 2] = 10.0, 100.0
    ours = its.copy()
    ours[1, 1, 0] += 1e-6
    ours[2, 2, 1] += 1e-3
    assert gradients.differences(ours, its) == pytest.approx((1e-7, 1e-5))
