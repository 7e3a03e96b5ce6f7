"""Amplitudes from files: whatever the separators and the names above the columns, the same points are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from fem.deck import read_deck, write_deck
from fem.errors import DeckError
from fem.model import Amplitude
from tests.deck.decks import MODEL

POINTS = ((0.0, 1.5), (0.5, -2.0), (1.0, 3e-3))
STEP = "*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.1, {period}\n*CLOAD, AMPLITUDE=A\n3, 3, -10\n*END STEP\n"
TABLES = {
    "commas": ("t,x\n0,1.5\n.5,-2\n1,3e-3\n", ""),
    "blanks": ("0 1.5\n  0.5   -2.0\n\n1\t3D-3\n", ""),
    "semicolons": ('"t (s)";"x, y";"z"\n0;7;1.5\n0.5;7;-2\n1;7;0.003\n', ", COLUMN=Z"),
    "quoted": ('"t (s)";"x; y";"z"\n0;1.5;7\n0.5;-2;7\n1;0.003;7\n', ", COLUMN=2"),
    "comments": ("# made by hand\n#  time value \n0 1.5\n# gap\n0.5 -2\n1 0.003\n", ", TIME COLUMN=time, COLUMN=VALUE"),
    "numbers": ("1.5, 0,\n-2, 0.5,\n0.003, 1,\n", ", TIME COLUMN=2, COLUMN=1"),
    "pairs": ("0, 1.5, 0.5, -2\n1, 3e-3\n", ""),
    "parameter": ("t,x\n0,1.5\n.5,<low>\n1,3e-3\n", ""),
    "spline": ("time, value, more\n0, 1.5, 2\n0.5, -2, 2\n1, 0.003, 2\n", ", COLUMN=value, DEFINITION=SPLINE"),
}


def written(folder: Path, table: str, parameters: str, period: float = 1.0) -> Path:
    (folder / "motion.csv").write_text(table)
    path = folder / "deck.inp"
    card = f"*AMPLITUDE, NAME=A, INPUT=motion.csv{parameters}\n"
    path.write_text("*PARAMETER\nlow = -4/2\n" + MODEL + card + STEP.format(period=period))
    return path


@pytest.mark.parametrize(("table", "parameters"), TABLES.values(), ids=TABLES)
def test_one_amplitude_in_many_forms(table: str, parameters: str, tmp_path: Path) -> None:
    model = read_deck(written(tmp_path, table, parameters))
    definition = "SPLINE" if "SPLINE" in parameters else "TABULAR"
    assert model.amplitudes["A"] == Amplitude("A", definition, points=POINTS)
    again = tmp_path / "again.inp"
    again.write_text(write_deck(model))
    assert read_deck(again) == model


@pytest.mark.parametrize(
    ("table", "parameters", "line", "column", "message"),
    [
        ("t,x\n0,1\n1,nan\n", "", 3, 3, "expected the value (a number), got 'nan'"),
        ("t;x\n0;1\n1;2,5\n", "", 3, 3, "expected the value (a number), got '2,5'"),
        ("t,x\n0,1\n0.5,1e999\n1,2\n", "", 3, 5, "the value is out of range: '1e999'"),
        ("t x\n0 1\n 0 2\n1 3\n", "", 3, 2, "times must rise: 0 after 0"),
        ("t,x,y\n0,1,1\n1,2\n", ", COLUMN=2", 3, 4, "expected 3 entries as in the first line, got 2"),
        ("0,1,1\n1,2,3,4\n", ", COLUMN=2", 2, 7, "expected 3 entries as in the first line, got 4"),
        ("0, 1, 2, 3\n4, 5, 6\n", "", 2, 7, "got a time without a value"),
    ],
)
def test_mistakes_are_shown_where_they_stand(table, parameters, line, column, message, tmp_path):
    with pytest.raises(DeckError) as caught:
        read_deck(written(tmp_path, table, parameters))
    (problem,) = caught.value.problems
    assert Path(problem.file).name == "motion.csv"
    assert (problem.line, problem.column) == (line, column)
    assert message in problem.message


@pytest.mark.parametrize("table", ["", "time,value\n", "# nothing\n"])
def test_no_numbers(table, tmp_path):
    with pytest.raises(DeckError, match="the table has no line of numbers"):
        read_deck(written(tmp_path, table, ""))


def test_a_name_without_names_above_the_columns(tmp_path):
    with pytest.raises(DeckError, match="the columns of the table have no names"):
        read_deck(written(tmp_path, "0,1\n1,2\n", ", COLUMN=surge"))


def test_the_last_value_holds_where_that_is_asked_for(tmp_path):
    table = "0,1\n1,2\n"
    with pytest.raises(DeckError, match="the file of amplitude A ends at 1, the step at 3"):
        read_deck(written(tmp_path, table, "", period=3.0))
    with pytest.raises(DeckError, match="the file of amplitude A ends at 1, the deck at 3"):
        read_deck(written(tmp_path, table, ", TIME=TOTAL TIME", period=3.0))
    held = read_deck(written(tmp_path, table, ", PAST END=HOLD", period=3.0))
    assert held.amplitudes["A"].points[-1].tolist() == [1.0, 2.0]


def test_another_file_is_another_deck(tmp_path):
    first = read_deck(written(tmp_path, "0,1\n1,2\n", ""))
    assert read_deck(written(tmp_path, "0,1\n1,3\n", "")).digest != first.digest
    assert str(tmp_path / "motion.csv") in first.files


@pytest.mark.parametrize(
    "text",
    [
        "0,1\n0.5,2\n1,3\n",
        "0,1,\n\n  0.5 , 2 ,  \n 1.,+3.5",
        "0;1\n.5;-2e-3\n1;3\n",
        "0 1\n 5d-1\t2 \n1   3D0\n",
        "0,1\n01,2\n3,4\n",
        "0,1\n0,5,2\n3,4\n",
        "0,1\n1,true\n2,null\n",
        '0,1\n1,"5"\n2,6\n',
        "0,1\n1,nan\n2,3\n",
        "0,1\n1,1e999\n2,3\n",
        "0,1\n1,1_0\n2,3\n",
        "0,1\n1,0x1\n2,3\n",
        "0,1\n1,٣\n2,3\n",
        "0,1\n1\n2,3,3\n",
        "0;1\n1;2,5\n2;3\n",
        "0;1;2\n1;2,5\n2;3;4\n",
        "0,1\n1,[2]\n2,3\n",
        "0,1\n1 2,3\n2,3\n",
        "0,1\n\x0c1,2\n2,3\n",
        "0,1\n1,,\n2,3\n",
        "0,-0\n-0.5e1,2\n2,3\n",
        "0,1\n# later\n1,2\n",
        "t,x\n" + "".join(f"{n},{n / 7}\n" for n in range(60_000)),
        "t,x\n" + "".join(f"{n},{n / 7}\n" for n in range(60_000)) + "7,oh\n",
    ],
)
@pytest.mark.parametrize("where", ["file", "deck"])
@pytest.mark.sampled
def test_blocks_of_numbers_are_read_as_lines_are(text, where, tmp_path, monkeypatch):
    def answer() -> object:
        try:
            if where == "file":
                return read_deck(written(tmp_path, text, ", PAST END=HOLD")).amplitudes["A"]
            path = tmp_path / "deck.inp"
            path.write_text(MODEL + f"*AMPLITUDE, NAME=A\n{text.rstrip()}\n" + STEP.format(period=1.0))
            return read_deck(path).amplitudes["A"]
        except DeckError as error:
            return [(each.line, each.column, each.message) for each in error.problems]

    at_once = answer()
    monkeypatch.setattr("fem.deck.columns.numbers_at_once", lambda pieces, read: None)
    assert answer() == at_once
