"""Error bars hold the error, are about as wide, and say what they come from."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fem
from fem import cli
from fem.runs.read import open_results
from fem.runs.record import Event
from fem.runs.run_record import COMPLETED
from fem.show.curves import displacements
from fem.show.page import PageTable
from fem.show.report import accuracy
from fem.study.certainty import companions
from fem.study.certainty.companions import Companions
from fem.study.certainty.error_bars import bars_from, completed, estimate, grows_exponentially
from fem.study.certainty.numbers import AT_REST, highest, round_offs, scales
from fem.study.question import Answer
from fem.study.tracks import Track, table_names
from tests.forces.families.lines import reeved

OSCILLATOR = """*PARAMETER
dt = 0.05
scheme = 0
*NODE
{a}, 0., 0., 0.
*ELEMENT, TYPE=SPRING1, ELSET=S
{b}, {a}
*SPRING, ELSET=S
1
{k}
*ELEMENT, TYPE=MASS, ELSET=M
{c}, {a}
*MASS, ELSET=M
1.
*BOUNDARY
{a}, 2, 3
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
{a}, 1, 1.
*STEP
*DYNAMIC, DIRECT{scheme}
<dt>, 3.
*CONTROLS, ENERGY DRIFT=OFF
*NODE PRINT
U, V
*END STEP
"""


def oscillator(scheme="", labels=(1, 1, 2)):
    a, b, c = labels
    return fem.parse_deck(OSCILLATOR.format(a=a, b=b, c=c, k=4.0, scheme=scheme).replace("scheme = 0\n", ""))


@pytest.mark.parametrize(("scheme", "order"), [("", 2), (", TIME INTEGRATOR=BACKWARD EULER", 1)])
def test_oscillator(scheme, order):
    """u = cos(omega t), omega = 2: the estimate is the error to the next order, the bar holds it everywhere."""
    bars = fem.error_bars(oscillator(scheme), processes=1)
    series = bars.series("U1_n1")
    error = series["value"] - np.cos(2.0 * series["time"])
    assert (np.abs(error) <= series["bar"] + 1e-14).all()
    assert bars.order("U1_n1") == order
    estimated, own = bars.error("U1_n1")
    assert abs(estimated - error[-1]) <= own < (0.02 if order == 2 else 0.3) * abs(error[-1])
    assert np.median(series["bar"][1:] / np.abs(error[1:])) < (1.3 if order == 2 else 2.5)
    assert bars.parts("U1_n1")["residual"] < 1e-12


def test_extremes_between_rows():
    """The largest row misses the peak 1 at t = pi; the bar covers that."""
    bars = fem.error_bars(oscillator(), processes=1)
    assert 1.0 - bars.value("min:U1_n1") > 1.0
    assert abs(bars.value("min:U1_n1") + 1.0) <= bars.bar("min:U1_n1") < 0.02
    assert abs(bars.value("instant:min:U1_n1") - 0.5 * np.pi) <= bars.bar("instant:min:U1_n1") < 0.06


@given(st.lists(st.floats(0.1, 1.0), min_size=2, max_size=6), st.floats(-0.5, 1.5))
def test_parabolas_have_their_peak(steps, part):
    """In all intervals, the first and the last included; none where the peak is outside."""
    time = np.append(0.0, np.cumsum(steps))
    at = part * time[-1]
    row, instant, peak, peak_instant = highest(time, 2.0 - (time - at) ** 2)
    assert row == (2.0 - (time - at) ** 2).max() and instant in time
    if 0.0 <= at <= time[-1]:
        assert peak == pytest.approx(2.0) and peak_instant == pytest.approx(at, abs=1e-6)
    elif at < -1e-6 or at > time[-1] + 1e-6:
        assert peak == row and peak_instant == instant


def test_sizes_are_those_of_a_quantity_over_all_nodes_axes_and_rows():
    mesh = fem.read_deck("inputs/sdnl100.inp").mesh
    names = ("U1_n1", "U3_n2", "V1_n2", "T_e1", "kinetic", "strain")
    values = np.array([[0.0, 0.0, 2.0, 5.0, 0.5, 1.0], [0.0, -0.3, -4.0, 3.0, 0.25, 8.0]])
    assert scales(values, names, mesh).tolist() == [0.3, 0.3, 4.0, 5.0, 8.0, 8.0]
    assert scales(0.0 * values, names, mesh)[0] == AT_REST * np.ptp(mesh.coordinates, axis=0).max()


def test_labels_do_not_matter():
    one, other = (fem.error_bars(oscillator(labels=labels), processes=1) for labels in ((1, 1, 2), (70, 5, 3)))
    np.testing.assert_array_equal(one.series("U1_n1")["bar"], other.series("U1_n70")["bar"])
    with pytest.raises(KeyError, match="U1_n70"):
        one.value("U1_n70")


def test_sdnl100_knows_how_wrong_it_is(tmp_path, capsys):
    """The angle after three quarters of the period is wrong by 0.0746 rad (closed form: U1 = -1 there); over three
    periods the motion is not converged from before 1.2 T on."""
    bars = fem.error_bars("inputs/sdnl100.inp", processes=1)
    error, own = bars.error("U1_n2@1.2558")
    assert abs(error - (bars.value("U1_n2@1.2558") + 1.0)) < 3.0 * own
    assert -error == pytest.approx(0.075, abs=1e-3)
    assert bars.missing["mesh"] == "no bar is a piece of a line"
    text = Path("inputs/sdnl100_3periods.inp").read_text().replace("ENERGY DRIFT=0.1", "ENERGY DRIFT=OFF")
    long = tmp_path / "long.inp"
    long.write_text(text)
    assert cli.main(["run", str(long), "--error-bars", "--no-vtk", "--output", str(tmp_path / "long")]) == 0
    [told] = re.findall(r"not converged \(30 % or more\) from time (\S+) on", capsys.readouterr().out)
    assert 1.0 < float(told) / 1.67431710 < 1.2


def test_mesh_of_a_hanging_cable():
    """SSNL114A, 20 bars: mid-span sag of the smooth cable -6.352 m (published), of 20 bars -6.354236."""
    bars = fem.error_bars("inputs/ssnl114a.inp", processes=1)
    assert 6.354236 - 6.352 <= bars.bar("U3_n11") < 10.0 * (6.354236 - 6.352)
    assert "part of that of the mesh" in bars.missing["residual"]
    assert np.isnan(bars.parts("U3_n11")["dt"])
    assert np.isnan(fem.error_bars("inputs/ssnl114a.inp", mesh=False).parts("U3_n11")["mesh"])


def test_a_loose_criterion_is_seen_in_statics():
    """A mass on a bar from rest at an angle to its load: U = root of the equilibrium, by bisection of the length.

    The last iteration of the run goes beyond a thousandth of its criterion of 1e-2.
    """
    text = """*NODE
1, -1., 0., 0.
2, 0., 0., 0.
3, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e6
*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN=ENGINEERING
1e-3
*REST LENGTH
BARS, 0.98
*BOUNDARY
1, 1, 3
3, 1, 3
2, 2
*STEP, NLGEOM
*STATIC, DIRECT
1., 1.
*CONTROLS, RESI_GLOB_RELA=1e-2
*CLOAD
2, 3, -300.
*NODE PRINT
U
*END STEP
"""
    bars = fem.error_bars(fem.parse_deck(text), processes=1)
    low, high = 0.0, 2.0
    for _ in range(200):  # 2 EA (l/L0 - 1) u/l = 300
        u = 0.5 * (low + high)
        low, high = (u, high) if 2e3 * (np.hypot(1.0, u) / 0.98 - 1.0) * u / np.hypot(1.0, u) < 300.0 else (low, u)
    error = abs(bars.value("U3_n2") + low)
    assert 1e-12 < error <= bars.bar("U3_n2") < 1e-2


def test_richardson_is_exact_for_one_term():
    """y(h) = y + C h^p: the error is C h^p, and is certain of itself."""
    for order in (1.0, 2.0):
        runs = [np.array([[5.0 + 3.0 * (0.1 / n) ** order]]) for n in (1, 2, 4)]
        for run in runs:  # whichever of the three it is
            found = estimate(run, runs, *np.full((2, 1, 1), np.nan), scale=np.array([5.0]), noise=np.zeros(1))
            assert found.error.item() == pytest.approx(run.item() - 5.0)
            assert found.own.item() < 1e-12
            assert found.order.item() == order


@pytest.mark.parametrize("stiffness", [1e9, 1e12])
def test_what_turning_a_stiff_pendulum_changes_is_round_off(stiffness):
    text = f"""*ELEMENT, TYPE=T3D2, ELSET=B
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=P
2, 2
*MASS, ELSET=P
1
*MATERIAL, NAME=M
*ELASTIC
{stiffness}
*SOLID SECTION, ELSET=B, MATERIAL=M
1
*REST LENGTH
B, 1
*BOUNDARY
1, 1, 3
*STEP, NLGEOM, INC=1000
*DYNAMIC, DIRECT, ALPHA=0
0.002, 0.5
*CONTROLS, RESI_GLOB_RELA=1E-11
*DLOAD
P, GRAV, 9.81, 0, 0, -1
*NODE PRINT
U
*END STEP
"""
    model = fem.parse_deck("*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n" + text)
    turned = fem.run(fem.parse_deck("*NODE\n1, 0, 0, 0\n2, 0.6, 0.8, 0\n" + text))
    off = np.abs(fem.run(model).of_element(1, "T") - turned.of_element(1, "T")).max()
    _, noise = round_offs(("U3_n2", "T_e1"), np.array([1.0, 30.0]), model)
    assert 0.1 * noise < off <= noise


def test_two_runs_bound_a_smooth_error():
    """Of second order: the estimate is exact, whichever two of three runs there are."""
    runs = [np.array([[5.0 + 3.0 * (0.1 / n) ** 2]]) for n in (1, 2, 4)]
    none = np.full((1, 1), np.nan)
    for three in ([none, *runs[1:]], [*runs[:2], none]):
        found = estimate(runs[1], three, none, none, scale=np.array([5.0]), noise=np.zeros(1))
        assert found.error.item() == pytest.approx(3.0 * 0.05**2) and found.own.item() > found.error.item()
        assert np.isnan(found.order.item())


def test_exponential_growth_is_not_that_of_a_phase():
    time = np.linspace(0.0, 20.0, 400)
    assert grows_exponentially(time, 1e-8 * np.exp(0.8 * time))
    assert not grows_exponentially(time, 1e-3 * time**2)


def test_failed_companions_leave_the_run():
    """A companion that fails contributes up to then, and ``missing`` says from when on it does not."""
    companions = Companions(fem.read_deck("inputs/sdnl100.inp"))
    history = fem.run("inputs/sdnl100.inp")
    whole = companions.run(history, 1)
    bars, half = bars_from(history, companions, whole), whole["dt/2"].history
    cut = replace(half, **{each: getattr(half, each)[:40] for each in ("step", "time", "dt", "values")})
    answers = {"dt/2": Answer(1, "no convergence", (), cut), "2 dt": Answer(0, "no convergence", ())}
    short = bars_from(history, companions, answers)
    assert short.missing["dt/2"] == f"no convergence (from time {half.time[39]:.6g} on)"
    assert short.missing["2 dt"] == "no convergence" and short.lacks_increments
    assert np.isnan(short.bar("U1_n2")) and np.isfinite(bars.bar("U1_n2"))
    assert short.bar("U1_n2@0.4186") > bars.bar("U1_n2@0.4186")
    assert short.value("U1_n2") == bars.value("U1_n2")


def test_command(tmp_path, capsys, monkeypatch):
    """Tables keep their columns and get those of errors; ``fem.load``, figures and the report read them."""
    out = tmp_path / "run"
    assert cli.main(["run", "inputs/sdnl100.inp", "--error-bars", "--no-vtk", "--output", str(out)]) == 0
    said = capsys.readouterr().out
    assert "what limits the accuracy" in said
    assert "no contribution of mesh" in said
    value, _, wrong, _, own = next(line for line in said.splitlines() if "U1_n2@" in line).split()[1:6]
    assert 0.07 < -float(wrong) < 0.1 and 0.0 < float(own) < 0.2 * abs(float(wrong)) and float(value) < 0.0
    head, *lines = (out / "nodes.csv").read_text().splitlines()
    names = head.split(",")
    row = dict(zip(names, lines[30].split(","), strict=True))
    assert float(row["U1"]) == pytest.approx(-1.0745, abs=1e-4)
    assert 0.0746 < float(row["U1_err"]) < 0.1
    plain = fem.run("inputs/sdnl100.inp", output=tmp_path / "plain")
    assert head.startswith((tmp_path / "plain" / "nodes.csv").read_text().partition("\n")[0] + ",U1_err")
    np.testing.assert_array_equal(fem.load(out).of_node(2), plain.of_node(2))
    record = json.loads((out / "run.json").read_text())["error_bars"]
    assert {line["limited_by"] for line in record["limits"]} >= {"dt"}
    assert record["missing"] == {"mesh": "no bar is a piece of a line"}
    blocks = [block for block in accuracy(record, True) if isinstance(block, PageTable)]
    assert [len(block.rows) for block in blocks] == [len(record["limits"])]
    assert all(panel.collections for panel in displacements(open_results(out)).axes)
    assert cli.main(["run", "inputs/sdnl100.inp", "--error-bars", "--no-vtk", "--quiet", "--output", str(out)]) == 0
    assert (out / "nodes.csv").read_text().splitlines() == [head, *lines]
    where = ["--continue", "--output", str(out)]  # complete: bars are made from the text of its tables
    assert cli.main(["run", "inputs/sdnl100.inp", "--error-bars", "--no-vtk", "--quiet", *where]) == 0
    assert (out / "nodes.csv").read_text().splitlines() == [head, *lines]


STRING = """*NODE
1, 0., 0., 0.
7, 6., 0., 0.
*NGEN
1, 7
*ELEMENT, TYPE=T3D2, ELSET=STRING
1, 1, 2
*ELGEN, ELSET=STRING
1, 6
*MATERIAL, NAME=M
*ELASTIC
1000.
*DENSITY
1.
*SOLID SECTION, ELSET=STRING, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
7, 1, 3
*INITIAL CONDITIONS, TYPE=STRESS
STRING, 100.
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 1.2
*DLOAD
STRING, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, FREQUENCY={every}
U, V
*END STEP
"""


def test_rows_that_are_printed_less_often_have_bars_of_mesh_and_dt(tmp_path):
    """Increments of companions are not instants of these rows: bars are about those of a run that prints every one."""
    tables = []
    for every in (1, 3, 7):
        deck, out = tmp_path / f"every{every}.inp", tmp_path / f"{every}"
        deck.write_text(STRING.format(every=every))
        assert cli.main(["run", str(deck), "--error-bars", "--no-vtk", "--quiet", "--output", str(out)]) == 0
        tables.append(np.genfromtxt(out / "nodes.csv", delimiter=",", names=True))
    whole, *sparse = tables
    for table in sparse:
        rows = [np.flatnonzero((whole["time"] == each["time"]) & (whole["node"] == each["node"]))[0] for each in table]
        for name in ("U3_err", "V3_err"):
            ratio = table[name][table["time"] > 0.0] / whole[name][rows][table["time"] > 0.0]
            assert np.nanmin(ratio) > 0.5 and np.nanmax(ratio) < 2.0, name


def test_modes_alone(tmp_path):
    """Tables in which nothing has a bar stay as they are; frequencies have one."""
    for out, option in (("plain", []), ("bars", ["--error-bars"])):
        given = ["run", "inputs/chain_modes.inp", "--no-vtk", "--quiet", "--output", str(tmp_path / out)]
        assert cli.main([*given, *option]) == 0
    assert (tmp_path / "bars/elements.csv").read_text() == (tmp_path / "plain/elements.csv").read_text()
    limits = json.loads((tmp_path / "bars/run.json").read_text())["error_bars"]["limits"]
    assert sum(line["name"].startswith("frequency") and line["bar"] > 0.0 for line in limits) == 4


HELD_STRING = """*NODE
1,0,0,0
2,1,0,0
3,2,0,0
*ELEMENT, TYPE=T3D2, ELSET=B
1,1,2
2,2,3
*MATERIAL, NAME=M
*ELASTIC
100.
*DENSITY
1.
*SOLID SECTION, ELSET=B, MATERIAL=M
1.
*INITIAL CONDITIONS, TYPE=STRESS
B, 5.
*BOUNDARY
1,1,3
3,1,3
*STEP
*FREQUENCY
3
*END STEP
"""


def test_frequencies_without_a_step_before(tmp_path):
    """No step has increments, and no number has rows."""
    deck = tmp_path / "string.inp"
    deck.write_text(HELD_STRING)
    assert cli.main(["run", str(deck), "--no-vtk", "--quiet", "--error-bars", "--output", str(tmp_path / "out")]) == 0
    limits = json.loads((tmp_path / "out/run.json").read_text())["error_bars"]["limits"]
    assert [line["name"] for line in limits] == ["frequency_1_1", "frequency_1_2", "frequency_1_3"]


def test_bars_of_one_run_are_not_written_into_the_tables_of_another(tmp_path, capsys, monkeypatch):
    """Between the run and its companions the folder is free: what another run has written there meanwhile stays."""
    command = ["run", "inputs/sdnl100.inp", "--quiet", "--no-vtk", "--output", str(tmp_path)]

    def meanwhile(*of, **how):
        assert cli.main(command) == 0
        return completed(*of, **how)

    monkeypatch.setattr("fem.study.certainty.files.completed", meanwhile)
    assert cli.main([*command, "--error-bars"]) == 2
    assert f"{tmp_path} was written by another run meanwhile" in capsys.readouterr().err
    assert "_err" not in (tmp_path / "nodes.csv").read_text()


def test_no_bars_for_a_run_that_continues():
    model = replace(fem.read_deck("inputs/sdnl100.inp"), earlier=fem.model.EarlierState())
    with pytest.raises(fem.CommandError, match="continues another"):
        fem.error_bars(model)


def test_bars_that_memory_has_no_room_for_are_refused(tmp_path, capsys, monkeypatch):
    """From Python after the run, which tells how many increments there are; the command before it."""
    out, room = tmp_path / "run", 1.9 * companions.BYTES_EACH * 3 * 40  # of 40 increments not even three numbers
    monkeypatch.setattr(companions, "machine_memory", lambda: room)
    with pytest.raises(fem.CommandError, match="numbers at 41 increments need about"):
        fem.error_bars("inputs/sdnl100.inp")
    assert cli.main(["run", "inputs/sdnl100.inp", "--error-bars", "--output", str(out)]) == 2
    assert "print sets of fewer nodes" in capsys.readouterr().err
    assert not out.exists()


def test_rows_beside_an_impact_may_lie_on_its_other_side():
    """Three runs have the impact just after a row, and extrapolate to the row itself: its bar covers the jump."""
    model = oscillator()
    companions = Companions(model, names=("V1_n1",))

    def track(parts, impact):
        time = np.linspace(0.0, 1.0, round(1.0 / (0.01 * parts)) + 1)
        values = np.where(time < impact, -1.0, 1.0)[:, None]
        step, events = np.ones(len(time), np.int64), (Event(1, 1, impact, 1, "impact"),)
        return Track(model, ("V1_n1",), step, time, np.full(len(time), 0.01 * parts), values, (), events)

    answers = {name: Answer(0, COMPLETED, (), track(parts, at)) for name, parts, at in OTHERS}
    series = bars_from(track(1.0, 0.5003), companions, answers).series("V1_n1")
    beside = np.abs(series["time"] - 0.5) < 1e-9
    assert series["value"][beside].item() == -1.0 and 2.0 <= series["bar"][beside].item() < 2.5
    assert series["bar"][~beside].max() < 1e-9


OTHERS = (("2 dt", 2.0, 0.5012), ("dt/2", 0.5, 0.500075))


def test_statistics_have_bars():
    """Over a whole number of half periods of cos(2 t): mean 0, deviation 1/sqrt(2), damage of one range 2 by 2^3."""
    text = (
        OSCILLATOR.format(a=1, b=1, c=2, k=4.0, scheme="").replace("scheme = 0\n", "").replace(", 3.", f", {np.pi!r}")
    )
    bars = fem.error_bars(fem.parse_deck(text.replace("dt = 0.05", f"dt = {np.pi / 64.0!r}")), processes=1)
    for name, truth in (("mean:U1_n1", 0.0), ("std:U1_n1", 0.5**0.5), ("damage:3:U1_n1", 8.0)):
        assert abs(bars.value(name) - truth) <= bars.bar(name) < 0.02 * max(truth, 1.0), name
    with pytest.raises(fem.CommandError, match="write damage:3:T_e12"):
        bars.value("damage:steep:U1_n1")


def test_the_largest_in_a_set_has_bars():
    """Of cos(2 t) and cos(3 t), of two masses that know nothing of each other."""
    text = OSCILLATOR.format(a=1, b=1, c=2, k=4.0, scheme="").replace("scheme = 0\n", "")
    other = (
        "*ELEMENT, TYPE=MASS, ELSET=M\n6, 5\n*ELEMENT, TYPE=SPRING1, ELSET=OTHER\n7, 5\n*SPRING, ELSET=OTHER\n1\n9.\n"
    )
    for line, more in (
        ("1, 0., 0., 0.\n", "5, 0., 0., 0.\n*NSET, NSET=BOTH\n1, 5\n"),
        ("2, 1\n", other),
        ("1, 2, 3\n", "5, 2, 3\n"),
        ("1, 1, 1.\n", "5, 1, 1.\n"),
    ):
        assert text.count("\n" + line) == 1
        text = text.replace("\n" + line, "\n" + line + more)
    bars = fem.error_bars(fem.parse_deck(text), processes=1)
    series = bars.series("U1_BOTH")
    assert (series["value"] == np.maximum(*(bars.series(f"U1_n{label}")["value"] for label in (1, 5)))).all()
    error = series["value"] - np.maximum(np.cos(2.0 * series["time"]), np.cos(3.0 * series["time"]))
    assert (np.abs(error) <= series["bar"] + 1e-14).all()
    assert np.median(series["bar"][1:] / np.abs(error[1:])) < 3.0
    least = series["value"].argmin()
    assert bars.value("min:U1_both") == series["value"][least] == bars.value(f"U1_BOTH@{series['time'][least]:.12g}")
    assert 0.0 < bars.bar("min:U1_both") < 0.05
    for name, words in (
        ("mean:U1_TIPS", "there is no node set TIPS; there is only BOTH"),
        ("T2_M", "there is no number"),
    ):
        with pytest.raises(KeyError, match=words):
            bars.value(name)


def test_longer_increments_that_fail_are_replaced():
    companions = Companions(fem.read_deck("inputs/sdnl100.inp"))
    history = fem.run("inputs/sdnl100.inp")
    answers = companions.run(history, 1)
    failed = {**answers, "2 dt": answers["2 dt"]._replace(verdict="no convergence", history=None)}
    assert completed(history, companions, failed, 1).levels == ["", "dt/2", "dt/4"]


def test_a_companion_that_has_blown_up_is_not_taken():
    """Bars are those without it, and what it would have shown is named; energies of twice the run's are believed."""
    model = oscillator()
    companions, history = Companions(model), fem.run(model)
    whole = companions.run(history, 1)
    name = next(iter(whole))
    track = whole[name].history
    energies = [at for at, each in enumerate(track.names) if each in ("kinetic", "strain", "energy_error")]

    def grown(factor):
        values = track.values.copy()
        values[-5:, energies] *= factor
        return {**whole, name: whole[name]._replace(history=replace(track, values=values))}

    bars, without = (
        bars_from(history, companions, answers)
        for answers in (grown(1e4), {key: answer for key, answer in whole.items() if key != name})
    )
    assert "it is not taken" in bars.missing[name] and name not in bars.tracks
    assert bars.bar("U1_n1") == without.bar("U1_n1")
    assert name in bars_from(history, companions, grown(2.0)).tracks


LAID = """*NODE
1, 0., 0., 0.
{n}, 8., 0., -3.
*NGEN, LINE=CATENARY, NSET=LINE
1, {n}, 1, 10.
*NSET, NSET=ENDS
1, {n}
*NSET, NSET=ALL
LINE, ENDS
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=E
1, {bars}, 1, 1
*MATERIAL, NAME=M
*ELASTIC
1.E7
*DENSITY
10.
*NO COMPRESSION
*SOLID SECTION, ELSET=E, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
ENDS, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC, DIRECT
1., 1.
*DLOAD
E, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=ALL
U, COORD
*END STEP
"""


def test_places_of_laid_lines_move_with_the_mesh(tmp_path):
    """The line is laid where it hangs: its bars move by nothing, and their joints lie off the catenary. Bars of COOR
    hold the distance from that of 128 bars (1/100 of the error), and are no more than ten times as long."""
    deck, out = tmp_path / "laid.inp", tmp_path / "out"
    deck.write_text(LAID.format(n=9, bars=8))
    assert cli.main(["run", str(deck), "--error-bars", "--no-vtk", "--quiet", "--output", str(out)]) == 0
    table = np.genfromtxt(out / "nodes.csv", delimiter=",", names=True)
    fine = fem.run(fem.parse_deck(LAID.format(n=129, bars=128)))
    order = np.argsort(fine.mesh.node_labels)[::16]
    places = (fine.mesh.coordinates + fine.u[-1].reshape(-1, 3))[order]
    last = table[table["time"] == 1.0]
    last = last[np.argsort(last["node"])][1:-1]
    for axis, name in ((0, "COOR1"), (2, "COOR3")):
        error = np.abs(last[name] - places[1:-1, axis])
        assert np.all(error <= last[f"{name}_err"]), name
        assert error.max() > 0.1 * last[f"{name}_err"].max() > 100.0 * last[f"U{axis + 1}_err"].max(), name


def test_water_and_second_ends_of_ropes_have_bars(tmp_path):
    """In a current that grows evenly with height by 0.1 a length FV1 is as uncertain as a tenth of COOR3."""
    deck, out = tmp_path / "laid.inp", tmp_path / "out"
    water = "*AQUA\n-20., 0., 9.81, 1025.\n0., 0., 0., -20.\n2., 0., 0., 0.\n*BOUNDARY"
    flows = "*DLOAD\nE, FDD, 1., 0.01, 1.2\n*NODE PRINT, NSET=ALL\nU, COORD, FV, FA, FE"
    text = LAID.format(n=9, bars=8).replace("0., 0., 0.\n9, 8., 0., -3.", "0., 0., -10.\n9, 8., 0., -13.")
    text = text.replace("*BOUNDARY", water).replace("*NODE PRINT, NSET=ALL\nU, COORD", flows)
    deck.write_text(text)
    assert cli.main(["run", str(deck), "--error-bars", "--no-vtk", "--quiet", "--output", str(out)]) == 0
    table = np.genfromtxt(out / "nodes.csv", delimiter=",", names=True)
    last = table[(table["time"] == 1.0) & ~np.isin(table["node"], [1, 9])]
    assert last["COOR3_err"].max() > 0.0 and {"FA1_err", "FE_err"} < set(table.dtype.names)
    np.testing.assert_allclose(last["FV1_err"], 0.1 * last["COOR3_err"], rtol=0.02)
    reeved_ = reeved().format(procedure="*STATIC\n1., 1.").replace("*EL PRINT\n", "*EL PRINT\nT2, ")
    assert any(name.startswith("T2_e") for name in table_names(fem.parse_deck(reeved_)))
