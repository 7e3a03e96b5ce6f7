"""Each deck in ``bad/`` ends with the problems it must give: ``** expect: line:column message[; hint]``.

And a small dose of ``fuzz.py``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fem.deck import read_deck
from fem.errors import DeckError
from tests.deck.fuzz import fuzz, fuzz_bytes

DECKS = sorted((Path(__file__).parent / "bad").glob("*.inp"))
EXPECTED = re.compile(r"^\*\* expect: (\d+):(\d+) (.*)$", re.MULTILINE)


def test_there_are_many() -> None:
    assert len(DECKS) >= 140


@pytest.mark.parametrize("path", DECKS, ids=lambda path: path.stem)
def test_bad_deck(path: Path) -> None:
    expected = [(int(line), int(column), text) for line, column, text in EXPECTED.findall(path.read_text())]
    assert expected
    with pytest.raises(DeckError) as caught:
        read_deck(path)
    problems = caught.value.problems
    assert [(p.line, p.column) for p in problems] == [(line, column) for line, column, _ in expected]
    for problem, (line, _, text) in zip(problems, expected, strict=True):
        assert text in f"{problem.message}; {problem.hint}"
        assert problem.text == path.read_text().splitlines()[line - 1]


def test_five_mistakes_in_one_go() -> None:
    path = Path(__file__).parent / "bad" / "five_mistakes.inp"
    with pytest.raises(DeckError) as caught:
        read_deck(path)
    assert len(caught.value.problems) == 5
    assert str(caught.value).count(": error: ") == 5


@pytest.mark.long
def test_mutated_decks() -> None:
    reads, _ = fuzz(600, 20240602)
    assert reads > 10


@pytest.mark.long
def test_broken_bytes(tmp_path: Path) -> None:
    assert fuzz_bytes(200, 1, tmp_path) > 150
