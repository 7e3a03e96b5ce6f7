"""Other codes are run from exported files, within a time limit; what they cannot do is a row with its reason."""

from __future__ import annotations

import csv
import os
import stat
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.codes.compare import RUN, CodeAnswer, Comparison
from fem.codes.export import files_for
from fem.codes.reasons import finer
from fem.deck import parse_deck
from fem.errors import CommandError
from fem.model import Dynamic
from tests.codes import decks_of_codes as decks
from tests.codes.installed import PYTHON, skip_without

DECK = """*HEADING
a bar swings, SI units
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1.E5
*DENSITY
2.
*SOLID SECTION, ELSET=BAR, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
2, 2
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
0.01, 0.2
*DLOAD
BAR, GRAV, 9.81, 0., 0., -1.
*NODE PRINT
U
*EL PRINT
T
*END STEP
"""
FAKE = """#!{python}
# Stands for a code: writes our own motion, the height of node 2 off by {off}
import csv, os, pathlib, sys, time
sys.path.insert(0, {root!r})
print("a line of output")
{before}
main = pathlib.Path(sys.argv[-1])
names = ["time", *(f"U{{a}}_n{{n}}" for n in (1, 2) for a in (1, 2, 3)), "T_e1"]
rows = [[0.01 * k, 0, 0, 0, -0.1 * k * k, 0, {off} - 0.2 * k, 3.0] for k in range(21)]
with open(main.with_suffix(".csv").name, "w", newline="") as stream:
    csv.writer(stream).writerows([names, *rows])
{after}
"""


@pytest.fixture
def deck(tmp_path):
    path = tmp_path / "swing.inp"
    path.write_text(DECK)
    return path


def program(folder: Path, name: str, off: float = 0.0, before: str = "", after: str = "") -> Path:
    path = folder / name
    path.write_text(FAKE.format(python=sys.executable, root=str(Path.cwd()), off=off, before=before, after=after))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.skipif(os.name != "posix", reason="programs by their first line")
def test_what_a_code_writes_is_compared_at_common_instants(deck, tmp_path):
    found = fem.compare(deck, ["opensees"], python=program(tmp_path, "fake", off=0.5), error_bars=False)
    rows = {row[2]: row for row in found.rows()}
    assert set(rows) == {"U1_n2", "U3_n2", "T_e1"}  # nothing else moves
    ours = fem.run(deck)
    apart = np.abs(0.5 - 0.2 * np.arange(21) - ours.of_node(2)[:, 2])
    size, end = np.abs(ours.of_node(2)[:, 2]).max(), ours.time[apart.argmax()]
    assert rows["U3_n2"][3] == 21 and rows["U3_n2"][4:7] == pytest.approx((size, apart.max(), end))
    assert rows["U3_n2"][7] == pytest.approx(np.sqrt(np.mean(apart**2)))


@pytest.mark.skipif(os.name != "posix", reason="programs by their first line")
def test_bars_are_those_of_the_compared_quantities(deck, tmp_path):
    """Error bars need energies, too, which are no quantities here; a code that is the same for dt/2 has bars of 0."""
    found = fem.compare(deck, ["opensees"], python=program(tmp_path, "fake", off=0.5))
    assert found.ours.shape == found.bars.shape == found.values["opensees"].shape == (len(found.time), len(found.names))
    ours = fem.run(deck)
    assert found.ours[:, found.names.index("U3_n2")] == pytest.approx(ours.of_node(2)[:, 2])
    rows = {row[2]: row for row in found.rows()}
    assert rows["U3_n2"][8] > 0.0 and rows["U3_n2"][9] == 0.0


@pytest.mark.skipif(os.name != "posix", reason="programs by their first line")
@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"before": "time.sleep(60)"}, "failed", "not done after 0.5 s"),
        ({"before": "raise SystemExit('no such element')"}, "failed", "exit code 1: no such element"),
        ({"before": "import openseespy_absent", "after": ""}, "failed", "openseespy_absent"),
        ({"before": "raise ModuleNotFoundError(\"No module named 'openseespy'\")"}, "missing", "compare"),
        ({"before": "raise SystemExit"}, "failed", "no such file"),
    ],
)
def test_a_code_that_fails_is_a_row_with_its_reason(deck, tmp_path, change, status, said):
    found = fem.compare(
        deck, ["opensees"], python=program(tmp_path, "fake", **change), time_limit=0.5, error_bars=False
    )
    ((code, which, *_, reason),) = found.rows()
    assert (code, which) == ("opensees", status) and said in reason.lower()


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_what_a_code_has_started_ends_with_it(deck, tmp_path):
    child = "import subprocess; pathlib.Path({!r}).write_text(str(subprocess.Popen(['sleep', '60']).pid))"
    note = tmp_path / "pid"
    fem.compare(deck, ["opensees"], python=program(tmp_path, "fake", before=child.format(str(note))), error_bars=False)
    state, end = Path(f"/proc/{note.read_text()}/stat"), time.monotonic() + 5.0
    while state.exists() and state.read_text().split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.01)


def test_missing_programs_and_unknown_codes(deck, monkeypatch):
    monkeypatch.setenv("PATH", "")
    found = fem.compare(deck, ["calculix", "moordyn"], python="no_such_python", error_bars=False)
    reasons = {row[0]: (row[1], row[-1]) for row in found.rows()}
    assert reasons["calculix"] == ("missing", "ccx is not on PATH (Debian: calculix-ccx)")
    assert reasons["moordyn"] == ("missing", "there is no program no_such_python")
    with pytest.raises(CommandError, match="Abaqus is not run by fem compare"):
        fem.compare(deck, ["abaqus"])


def test_refused_features_are_rows(deck, tmp_path):
    deck.write_text(DECK.replace("*DLOAD", "*CLOAD\n2, 1, 3.\n*DLOAD"))
    (row,) = fem.compare(deck, ["moordyn"], error_bars=False).rows()
    assert row[1] == "refused" and "line 21: loads at nodes (CLOAD)" in row[-1]


def test_within_bars():
    instants, ours = np.array([0.0, 1.0, 2.0]), np.array([[0.0], [1.0], [2.0]])
    its = np.array([[0.05], [1.3], [2.1]])
    answer = CodeAnswer("opensees", "done", "", ("U1_n2",), np.column_stack([instants, its]))
    bars, own = np.full((3, 1), 0.1), np.array([[0.0], [0.1], [np.nan]])
    found = Comparison(
        ("U1_n2",), instants, ours, bars, (answer,), {"opensees": answer.at(["U1_n2"], instants)}, {"opensees": own}
    )
    (row,) = found.rows()
    assert row[5:7] == (pytest.approx(0.3), 1.0) and row[8:11] == (0.1, 0.1, pytest.approx(2.0 / 3.0))


def test_values_between_instants_only_where_none_are_common():
    answer = CodeAnswer("moordyn", "done", "", ("a",), np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]))
    assert np.isnan(answer.at(["a"], np.array([0.5, 1.0, 2.0, 3.0]))[:, 0]).tolist() == [True, False, False, True]
    assert answer.at(["a", "b"], np.array([0.25, 0.75]))[:, 0].tolist() == [0.5, 1.5]


def test_halved_increments_give_rows_at_the_same_instants():
    model = parse_deck(DECK)
    (step,) = finer(model, 2).steps
    assert isinstance(step.procedure, Dynamic) and step.procedure.dt == 0.005
    assert {each.every for each in step.outputs} == {2}


@pytest.mark.skipif(os.name != "posix", reason="programs by their first line")
def test_command(deck, tmp_path, capsys):
    fake, folder = program(tmp_path, "fake"), tmp_path / "out"
    where = ["--with", "opensees", "--python", str(fake), "--no-error-bars", "--output", str(folder)]
    assert main(["compare", str(deck), *where]) == 0
    assert "opensees   U3_n2" in capsys.readouterr().out
    head, *rows = csv.reader((folder / "comparison.csv").open(newline=""))
    assert head[0] == "code" and {row[2] for row in rows} == {"U1_n2", "U3_n2", "T_e1"}
    series = list(csv.reader((folder / "series.csv").open(newline="")))
    assert len(series) == 22 and series[0][:2] == ["time", "fem:U1_n1"]
    assert (folder / "comparison.png").read_bytes()[:4] == b"\x89PNG"


def largest(deck: str, code: str) -> tuple[float, float, list[str]]:
    """Differences of U over the largest U, of T over the largest T, and the notes."""
    found = fem.compare(parse_deck(deck), [code], python=PYTHON, error_bars=False)
    assert {row[1] for row in found.rows()} == {"done"}, found.rows()
    rows = {kind: [row for row in found.rows() if row[2].startswith(kind)] for kind in "UT"}
    u, t = (max((r[5] for r in its), default=0.0) / max((r[4] for r in its), default=1.0) for its in rows.values())
    return u, t, list(found.answers[0].notes)


@pytest.mark.parametrize("code", RUN)
def test_installed_codes_agree(deck, code):
    """Same mass, strain and scheme: CalculiX prints 7 digits; MoorDyn has steps of its own, ours is wrong by dt."""
    skip_without(code)
    found = fem.compare(deck, [code], python=PYTHON, error_bars=False)
    limit = {"calculix": 1e-6, "opensees": 1e-7, "moordyn": 2e-3}[code]
    assert {row[1] for row in found.rows()} == {"done"}
    assert max(row[5] for row in found.rows() if row[2].startswith("U")) < limit


DISPLACED = DECK.replace("*STEP", "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n2, 1, 0.01\n2, 3, 0.1\n*STEP", 1)
SPRINGS = """*ELEMENT, TYPE=DASHPOTA, ELSET=D
3, 1, 2
*DASHPOT, ELSET=D

5.
*ELEMENT, TYPE=SPRING1, ELSET=G
4, 2
*SPRING, ELSET=G, NONLINEAR
3
-10., -0.05
0., 0.
30., 0.1
*ELEMENT, TYPE=DASHPOT1, ELSET=H
5, 2
*DASHPOT, ELSET=H
3
4.
*MATERIAL"""
FAST = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 0.5\n2, 3, 1.\n*STEP"
SHAKEN = (
    DECK.replace("1, 1, 3", "1, 1, 2", 1)
    .replace("*DENSITY", "*DAMPING, BETA=0.001\n*DENSITY")
    .replace("*STEP", "*AMPLITUDE, NAME=A, DEFINITION=PERIODIC\n1, 30., 0., 0.\n0., 1.\n*STEP", 1)
    .replace("*DLOAD", "*BOUNDARY, AMPLITUDE=A\n1, 3, 3, 0.02\n*DLOAD")
)


@pytest.mark.parametrize(
    "change",
    [
        DISPLACED,
        DISPLACED.replace("*MATERIAL", SPRINGS, 1).replace("*STEP", FAST, 1),
        DISPLACED.replace("STRAIN=ENGINEERING", "STRAIN=ENGINEERING, MASS=CONSISTENT"),
        SHAKEN,
        SHAKEN.replace("STRAIN=ENGINEERING", "STRAIN=ENGINEERING, MASS=CONSISTENT"),
        SHAKEN.replace(", DEFINITION=PERIODIC\n1, 30., 0., 0.\n0., 1.", "\n0., 0., 0.1, 1."),
    ],
    ids=[
        "displaced",
        "springs and dashpots",
        "consistent",
        "moved support",
        "moved support, consistent",
        "amplitude that ends before",
    ],
)
def test_opensees_begins_as_we_do(change):
    """The same discrete problem from the same state: equal but for the residuals of both, 1e-8 and 1e-6 of forces."""
    skip_without("opensees")
    text = change.replace("*DLOAD", "*CONTROLS, RESI_GLOB_RELA=1e-10\n*DLOAD")
    u, t, _ = largest(text, "opensees")
    assert u < 1e-7 and t < 1e-6


PAIR = """*NODE
1, 0., 0., 0.
2, 0.3, 0., -1.
3, 1., 0., 0.
4, 1., 0.2, -1.
*ELEMENT, TYPE=SPRINGA, ELSET=S
1, 1, 2
2, 3, 4
*SPRING, ELSET=S

200.
*ELEMENT, TYPE=SPRING2, ELSET=Q
4, 2, 4
*SPRING, NONLINEAR, ELSET=Q
3, 3
-3., -0.2
0., 0.
1., 0.1
*ELEMENT, TYPE=MASS, ELSET=M
11, 2
12, 4
*MASS, ELSET=M
1.5
*BOUNDARY
1, 1, 3
3, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
0.01, 1.
*CONTROLS, RESI_GLOB_RELA=1E-10, ENERGY DRIFT=OFF
*DLOAD
, GRAV, 9.81, 0., 0., -1.
*NODE PRINT
U
*EL PRINT, ELSET=S
T
*END STEP
"""
STRUCK = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 3, 5.\n"
LET = decks.moves("*CLOAD, OP=NEW\n", 0.001, 0.05)
GOING_ON = {
    "a spring between dofs, with a table": PAIR,
    "velocities before statics": decks.deck(*decks.STRING, decks.rests(decks.PULLED), LET, model=decks.STRESS + STRUCK),
    "statics after a motion": decks.deck(
        *decks.STRING,
        decks.moves(decks.PULLED, 0.001, 0.01),
        decks.rests(decks.PULLED),
        LET,
        model=decks.STRESS,
        material=decks.BETA,
    ),
    "increments that do not divide a step": decks.deck(
        *decks.STRING, decks.rests(decks.PULLED), decks.moves("*CLOAD, OP=NEW\n", 0.003, 0.05), LET, model=decks.STRESS
    ),
}


DROPPED = decks.moves("*DLOAD\nP, GRAV, 9.81, 0., 0., -1.\n", 0.01, 3.0)
BUNGEE = decks.deck(
    *("1, 0., 0., 0.\n2, 3., 0., -9.", "1, 1, 2", "1, 1, 3", DROPPED), material=decks.CABLE, young=5e6, density=0.0,
    model=decks.MASS.replace("101, 4", "101, 2") + "*REST LENGTH\nC, 10.\n",
)  # fmt: skip
TINY = PAIR.replace("\n200.\n", "\n1.E-5\n").replace("\n1.5\n", "\n1.E-6\n").replace("0.01, 1.", "0.05, 4.")
TINY = TINY.replace("*SPRING, NONLINEAR, ELSET=Q\n3, 3\n-3., -0.2\n0., 0.\n1., 0.1", "*SPRING, ELSET=Q\n3, 3\n1.E-6")
TINY = TINY.replace("*DLOAD\n, GRAV, 9.81, 0., 0., -1.\n", "")
GOING_ON["forces of a micronewton without loads"] = TINY.replace(
    "*BOUNDARY", "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 0.5\n4, 3, 0.3\n*BOUNDARY"
)
GOING_ON["a cable that becomes four times as long"] = BUNGEE


@pytest.mark.parametrize("code", ["opensees", "calculix"])
@pytest.mark.parametrize("what", GOING_ON)
def test_codes_go_on_as_we_do(what, code):
    """From step to step: the same discrete problem, but for the residuals of both and the digits of CalculiX."""
    skip_without(code)
    u, t, _ = largest(GOING_ON[what], code)
    assert u < (1e-5 if code == "calculix" else 1e-8) and t < 1e-8


def test_calculix_notes_that_moving_supports_end_with_another_velocity():
    """A mass that is moved at 0.5 m/s for ten increments from rest, 0.1 s, then let go for 0.1 s, is at 0.1 m; in
    CalculiX 2.20, in which its velocity alternates between 1 and 0 m/s, at 0.05."""
    moved = decks.moves("*BOUNDARY, TYPE=VELOCITY\n2, 1, 1, 0.5\n", 0.01, 0.1)
    text = decks.deck(*decks.SWING, moved, decks.moves("*BOUNDARY, OP=NEW\n1, 1, 3\n2, 2\n", 0.01, 0.1), young=1.0)
    assert any("lets nodes go at rest, or with" in note for note in files_for("calculix", parse_deck(text))[1])
    skip_without("calculix")
    assert largest(text, "calculix")[0] == pytest.approx(0.5, abs=0.01)


def test_moordyn_has_the_tension_of_a_stretched_cable():
    """0.05 of strain at the start, and as much in motion; it was EA over the natural length in place of the length of
    the line, and that much less mass."""
    skip_without("moordyn")
    stretched = "*INITIAL CONDITIONS, TYPE=STRESS\nC, 5.E5\n"
    u, t, _ = largest(
        decks.deck(*decks.STRING, decks.moves(decks.WEIGHT, 0.0005, 0.2), model=stretched, young=1e7), "moordyn"
    )
    assert u < 1e-4 and t < 1e-4


@pytest.mark.parametrize("loads", [decks.WET, decks.WEIGHT], ids=["in water", "dry"])
def test_moordyn_rests_under_loads_that_were_ramped(loads):
    """Loads of a static step without AMPLITUDE=STEP, which were refused in water."""
    skip_without("moordyn")
    ramped = decks.rests(loads, 0.25).replace(", AMPLITUDE=STEP", "")
    u, t, _ = largest(
        decks.deck(*decks.HANGING, ramped, model=decks.WATER, material=decks.CABLE, density=5e4), "moordyn"
    )
    assert u < 1e-6 and t < 1e-6


def test_calculix_notes_what_it_leaves_out_of_dashpots():
    skip_without("calculix")
    u, _, notes = largest(SHAKEN, "calculix")
    assert u > 1e-5 and any("at moved supports for at rest" in note for note in notes)


RESTING = """*NODE, NSET=ENDS
1, 0., 0., 0.
2, 10., 0., 0.
3, 5., 8., 0.
*NODE
4, 5., 3., -3.
*ELEMENT, TYPE=T3D2, ELSET=C
1, 1, 4
2, 2, 4
3, 3, 4
*ELEMENT, TYPE=MASS, ELSET=P
4, 4
*MASS, ELSET=P
100.
*MATERIAL, NAME=M
*ELASTIC
1.E9
*DENSITY
1000.
*NO COMPRESSION
*SOLID SECTION, ELSET=C, MATERIAL=M, STRAIN=ENGINEERING
1.E-4
*BOUNDARY
ENDS, 1, 3
*STEP, NLGEOM
*STATIC
0.1, 1.
*DLOAD
C, GRAV, 9.81, 0., 0., -1.
P, GRAV, 9.81, 0., 0., -1.
*NODE PRINT
U
*EL PRINT
T
*END STEP
"""


def test_moordyn_comes_to_rest():
    """Three cables and a mass, drawn away from rest: displacements and tensions are ours."""
    skip_without("moordyn")
    u, t, notes = largest(RESTING, "moordyn")
    assert u < 1e-6 and t < 1e-6 and not any("not at rest" in note for note in notes)


MODES = "*STEP, NLGEOM\n*FREQUENCY\n2\n*END STEP\n"


def test_steps_that_only_look_are_left_out_and_named():
    """Modes before, between and after other steps; not one whose supports later steps go on with."""
    steps = DECK[DECK.index("*STEP") :]
    text = DECK.replace(steps, MODES + steps + MODES)
    (answer,) = fem.compare(parse_deck(text), ["moordyn"], error_bars=False).answers
    assert "(step 1, 3) are not compared" in answer.notes[-1]
    held = MODES.replace("*FREQUENCY", "*BOUNDARY\n2, 1\n*FREQUENCY")
    for name in ("calculix", "opensees"):
        (answer,) = fem.compare(parse_deck(DECK.replace(steps, held + steps)), [name], error_bars=False).answers
        assert answer.status == "refused" and "modes, harmonic response" in answer.reason


def test_differences_may_be_as_large_as_both_bars_and_a_repeated_instant_counts_by_its_last_row():
    """Ours with a bar of 0.2, theirs with 0.3: 0.45 is within, 0.55 is not. A step begins with a row of its own."""
    answer = CodeAnswer("opensees", "done", "", ("T_e1",), np.array([[0.0, 1.0], [1.0, 7.0], [1.0, 1.45], [2.0, 1.55]]))
    time, ours = np.array([0.0, 1.0, 2.0]), np.ones((3, 1))
    values = {"opensees": answer.at(["T_e1"], time)}
    assert values["opensees"][:, 0].tolist() == [1.0, 1.45, 1.55]
    found = Comparison(
        ("T_e1",), time, ours, np.full((3, 1), 0.2), (answer,), values, {"opensees": np.full((3, 1), 0.3)}
    )
    assert found.within("opensees", 0, found.apart("opensees")[:, 0]) == pytest.approx(2.0 / 3.0)
