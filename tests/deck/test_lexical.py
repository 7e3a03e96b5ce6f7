"""Lines, blanks, case, quotes, comments, encodings, numbers: the same deck however it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fem.deck import parse_deck, read_deck
from fem.errors import DeckError
from tests.deck.decks import GOOD, MATERIAL, MESH, MODEL, STEP, parse, problems

SMALL = GOOD[0]
TORTURES = {
    "crlf": SMALL.replace("\n", "\r\n"),
    "cr": SMALL.replace("\n", "\r"),
    "bom": "\ufeff" + SMALL,
    "lower case": SMALL.lower(),
    "mixed case": SMALL.title(),
    "blank lines": SMALL.replace("\n", "\n\n   \n\t\n"),
    "comments": SMALL.replace("\n", "\n** comment, with, commas \u00e9\n   ** indented\n**\n"),
    "indented": "  " + SMALL.replace("\n", "\n   "),
    "trailing commas": SMALL.replace("0\n", "0,\n").replace("2e11", "2e11,").replace("1, 1, 2", "1, 1, 2 ,"),
    "blanks around commas": SMALL.replace(",", "  ,\t "),
    "blanks around equals": SMALL.replace("=", " = "),
    "no blanks": SMALL.replace(" ", ""),
    "continued keyword": SMALL.replace("*ELEMENT, TYPE=T3D2, ", "*ELEMENT,\n** between\n   TYPE=T3D2,\n   "),
    "quoted names": SMALL.replace("ELSET=BARS", 'ELSET="bars"').replace("NAME=STEEL", 'NAME="Steel"'),
    "fortran exponents": SMALL.replace("2e11", "2.D+11").replace("1e-4", "0.1d-3"),
    "plus signs": SMALL.replace("2, 1, 0", "+2, +1., +0"),
    "parameter": "*PARAMETER\nyoung = 2e11\nn = 2\n" + SMALL.replace("2e11", "<Young>").replace("2, 1, 0", "<n>, 1, 0"),
    "blank in keyword": SMALL.replace("*SOLID SECTION", "* Solid   Section").replace("*END STEP", "*ENDSTEP"),
    "no last newline": SMALL.rstrip("\n"),
    "steps last card": SMALL.replace("*END STEP\n", "*END STEP\n** the end\n\n"),
    "model cards in any order": MATERIAL + "*BOUNDARY\n1, 1, 3\n" + MESH[MESH.index("*ELEMENT") :]
    + MESH[: MESH.index("*ELEMENT")] + STEP.format("*CLOAD\n3, 3, -10\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", TORTURES)
def test_same_model(name: str) -> None:
    assert parse_deck(TORTURES[name]) == parse_deck(SMALL)


@pytest.mark.parametrize("content", [b"*HEADING\n\xff\xfe caf\xe9 \x80\n", b"** \xc3\x28\n", b"\xef\xbb\xbf** bom\n"])
def test_any_bytes_in_comments_and_titles(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "deck.inp"
    path.write_bytes(content + SMALL.encode())
    assert read_deck(path).mesh == parse_deck(SMALL).mesh


def test_utf16_is_named(tmp_path: Path) -> None:
    path = tmp_path / "deck.inp"
    path.write_bytes(SMALL.encode("utf-16"))
    with pytest.raises(DeckError, match="UTF-16"):
        read_deck(path)


def test_names_keep_blanks_and_commas_in_quotes() -> None:
    model = parse('*NSET, NSET="My set, B"\n1\n', '*CLOAD\n"my SET, b", 1, 1\n')
    assert model.mesh.node_sets["MY SET, B"].tolist() == [0]
    assert model.steps[0].nodal_loads[0].target == "MY SET, B"


def test_sixteen_entries_are_fine() -> None:
    model = parse("*NSET, NSET=X\n" + ", ".join(["1", "2", "3", "1"] * 4) + "\n")
    assert model.mesh.node_sets["X"].tolist() == [0, 1, 2]


def test_heading_and_titles() -> None:
    model = parse_deck("*HEADING\n a, b = <c>\nline 2\n" + SMALL.replace("NLGEOM\n", "NLGEOM\nfirst, title\n"))
    assert model.heading == ("a, b = <c>", "line 2")
    assert model.steps[0].title == ("first, title",)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7.0),
        ("-2**2", -4.0),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("(1 + 2) * 3", 9.0),
        ("10 / 4", 2.5),
        ("8 - 4 - 2", 2.0),
        ("16 / 4 / 2", 2.0),
        ("--3", 3.0),
        ("SQRT(16.) + cos(0)", 5.0),
        ("1.5D2 + .5", 150.5),
        ("exp(log(3))", 3.0),
        ("2 * PI", 6.283185307179586),
        ("a * A", 4.0),
        ("1" + "+1" * 500, 501.0),
    ],
)
def test_arithmetic(expression: str, value: float) -> None:
    model = parse_deck(f"*PARAMETER\na = 2\nx = {expression}\n" + SMALL)
    assert model.parameters["x"] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("expression", "column", "fragment"),
    [
        ("1 / 0", 7, "division by zero"),
        ("0 ** -1", 7, "division by zero"),
        ("1 +", 8, "got the end"),
        ("(1", 7, "expected ')'"),
        ("1 2", 7, "expected an operator"),
        ("sqrt(-1)", 5, "no finite real value"),
        ("log(0)", 5, "no finite real value"),
        ("exp(1000)", 5, "no finite real value"),
        ("1e308 * 10", 11, "too large"),
        ("1e999", 5, "too large"),
        ("sqrt 4", 10, "expected '('"),
        ("2 = 3", 7, "has no meaning"),
        ("'a'", 5, "has no meaning"),
        ("-" * 3000 + "1", 46, "nested deeper"),
        ("2" + "**2" * 3000, 128, "nested deeper"),
        ("", 4, "got the end"),
    ],
)
def test_arithmetic_mistakes(expression: str, column: int, fragment: str) -> None:
    found = problems(f"*PARAMETER\nx = {expression}\n" + SMALL)
    assert [(p.line, p.column) for p in found] == [(2, column)]
    assert fragment in found[0].message


@pytest.mark.long
def test_nothing_long_takes_long() -> None:
    for text in ("<" + " " * 200_000, "*NODE" + ", a" * 100_000, "*PARAMETER\nx = 1" + "+1" * 100_000, "," * 200_000):
        assert problems(text + "\n" + SMALL)
    many = "".join(f"*NSET, NSET=S{n}\n1\n" for n in range(3000))
    assert len(problems(MODEL + many + STEP.format("*CLOAD\n" + "".join(f"T{n}, 1, 1\n" for n in range(100))))) == 50


def test_sets_of_sets_do_not_explode() -> None:
    names = "".join(f"*NSET, NSET=S{n}\n" + f"S{n - 1}, " * 15 + f"S{n - 1}\n" for n in range(1, 40))
    assert parse("*NSET, NSET=S0\n1, 2\n" + names).mesh.node_sets["S39"].tolist() == [0, 1]


def test_at_most_fifty_problems_in_reading_order() -> None:
    found = problems("".join(f"*NONSENSE{n}\n" for n in range(200)) + MODEL)
    assert len(found) == 50
    assert [p.line for p in found] == list(range(1, 51))


def test_problem_shows_line_and_caret() -> None:
    text = str(problems(SMALL.replace("2, 1, 0", "2, 1, zero"))[0])
    assert text == ("deck:3:7: error: expected the y coordinate (a number), got 'zero'\n    2, 1, zero\n          ^")


@pytest.mark.parametrize(
    "text", ["", "\n", "\x00", "*", "**", "*\n", ",", "\ufeff", "*,", "*=", '"', "* *", "*NODE,", "<x>"]
)
def test_hardly_a_deck(text: str) -> None:
    assert problems(text)


def test_what_only_looks_like_a_decimal_comma_is_read() -> None:
    """Labels with zeros before them, pairs without blanks, numbers behind a number with a point."""
    mesh = "*NODE\n0001,0.,0.,0.\n02,1,0,0\n3,2.,00,0.\n*ELEMENT, TYPE=SPRINGA, ELSET=E1\n1,01,02\n2,02,03\n"
    mesh += "*SPRING, ELSET=E1\n\n1\n"
    step = STEP.format("")
    assert parse_deck(mesh + step).mesh.coordinates[1:, 0].tolist() == [1.0, 2.0]
    amplitude = "*AMPLITUDE, NAME=A\n0,0, 1,1, 2,0\n"
    assert parse_deck(mesh + amplitude + step).amplitudes["A"].points.tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]


def test_decimal_commas_in_large_blocks_and_tables_are_refused(tmp_path: Path) -> None:
    """Where numpy reads, and in tables of other programs."""
    block = "*NODE\n" + "".join(f"{n}, {n}.5, 0.\n" for n in range(1, 50))
    assert "0,05 is read as two entries" in str(problems(block.replace("7, 7.5, 0.", "7, 0,05"))[0])
    (tmp_path / "motion.csv").write_text("0,00, 1\n1,05, 2\n")
    deck = tmp_path / "deck.inp"
    deck.write_text(block + "*AMPLITUDE, NAME=A, INPUT=motion.csv, COLUMN=2\n")
    with pytest.raises(DeckError, match="0,00 is read as two entries"):
        read_deck(deck)
