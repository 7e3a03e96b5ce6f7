"""The work of reading a deck grows with its size, not with the square of it."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable

import pytest

from fem.deck import parse_deck, source
from fem.errors import MAX_PROBLEMS, DeckError

MESH = "*NODE, NSET=ALL\n1, 0., 0., 0.\n2, 1., 0., 0.\n*ELEMENT, TYPE=T3D2, ELSET=BAR\n1, 1, 2\n"
REST = (
    "*MATERIAL, NAME=M\n*ELASTIC\n2e9\n*DENSITY\n7800.\n*SOLID SECTION, ELSET=BAR, MATERIAL=M\n1e-4\n"
    "*BOUNDARY\n1, 1, 3\n{}*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.1, 0.2\n{}*END STEP\n"
)


def deck(top: str = "", mesh: str = "", model: str = "", step: str = "", end: str = "") -> str:
    return top + MESH + mesh + REST.format(model, step) + end


def many(count: int, line: Callable[[int], str]) -> str:
    return "".join(map(line, range(count)))


DECKS: dict[str, Callable[[int], str]] = {
    "parameter lines": lambda n: deck(top="*PARAMETER\nx = 1\n" + many(n, lambda k: f"x{k} = {k} + x\n")),
    "parameter cards": lambda n: deck(top=many(n, lambda k: f"*PARAMETER\nx{k} = {k}\n")),
    "parameters and sets": lambda n: deck(mesh=many(n, lambda k: f"*PARAMETER\nx{k} = 1\n*NSET, NSET=N{k}\n<x{k}>\n")),
    "unknown names": lambda n: deck(top="*PARAMETER\n" + many(n, lambda k: f"x{k} = y{k}\n")),
    "unknown parameters": lambda n: deck(
        top="*PARAMETER\n" + many(n, lambda k: f"x{k} = {k}\n"), step="*CLOAD\n" + many(n, lambda k: f"2, 1, <y{k}>\n")
    ),
    "sets": lambda n: deck(mesh=many(n, lambda k: f"*NSET, NSET=N{k}\n1, 2\n")),
    "sets of sets": lambda n: deck(mesh="*ELSET, ELSET=N\n1\n" + many(n, lambda k: f"*ELSET, ELSET=N{k}\nN\n")),
    "a growing set, copied": lambda n: deck(mesh=many(n, lambda k: "*NSET, NSET=A\n1\n*NSET, NSET=B\nA\n")),
    "a growing unsorted set, copied": lambda n: deck(
        mesh=many(n, lambda k: "*NSET, NSET=A, UNSORTED\n1\n*NSET, NSET=B\nA\n")
    ),
    "sets that do not exist": lambda n: deck(mesh=many(n, lambda k: f"*NSET, NSET=N{k}\nX{k}\n")),
    "materials nobody uses": lambda n: deck(model=many(n, lambda k: f"*MATERIAL, NAME=M{k}\n*ELASTIC\n1.\n")),
    "amplitudes": lambda n: deck(model=many(n, lambda k: f"*AMPLITUDE, NAME=A{k}\n0., 0., 1., 1.\n")),
    "supports": lambda n: deck(model="*BOUNDARY\n1, 1\n" * n),
    "loads": lambda n: deck(step="*CLOAD\n2, 1, 1.\n" * n),
    "linear steps": lambda n: deck(end="*STEP, NLGEOM=NO\n*DYNAMIC, DIRECT\n0.1, 0.2\n*END STEP\n" * n),
    "comments with one asterisk": lambda n: deck(mesh="* comment\n" * n),
    "unknown keywords": lambda n: deck(mesh=many(n, lambda k: f"*FOO{k}\n1, 2\n")),
    "misspelt keywords": lambda n: deck(mesh=many(n, lambda k: f"*NSETT, NSET=N{k}\n1, 2\n")),
    "wrong numbers": lambda n: deck(step="*CLOAD\n" + "2, 1, x\n" * n),
}


def read(text: str) -> None:
    try:
        parse_deck(text)
    except DeckError as error:
        assert 0 < len(error.problems) <= MAX_PROBLEMS


def seconds(text: str) -> float:
    """Processor time, apart from collecting garbage, of which other tests may have left much."""
    gc.disable()
    try:
        began = time.process_time()
        read(text)
        return time.process_time() - began
    finally:
        gc.enable()


@pytest.mark.long_cases(
    "a growing set, copied", "amplitudes", "comments with one asterisk", "parameter lines", "unknown names"
)
@pytest.mark.parametrize("kind", DECKS)
@pytest.mark.sampled(5)
def test_four_times_the_deck_takes_about_four_times_the_work(kind):
    """Sixteen times for what is quadratic; the best of some tries, as others use the machine, too."""
    text, larger = DECKS[kind](400), DECKS[kind](1600)
    ratios = []
    while len(ratios) < 5 and min(ratios, default=100.0) > 7.0:
        ratios.append(seconds(larger) / seconds(text))
    assert min(ratios) <= 7.0


@pytest.mark.long_cases("a growing set, copied")
@pytest.mark.parametrize("kind", ["parameter cards", "parameter lines", "a growing set, copied"])
def test_four_times_the_deck_takes_about_four_times_the_memory(kind):
    peaks = []
    for count in (250, 1000):
        text = DECKS[kind](count)
        tracemalloc.start()
        read(text)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= 6.0 * peaks[0]


@pytest.mark.parametrize("kind", ["unknown names", "unknown parameters", "sets that do not exist", "unknown keywords"])
def test_hints_are_looked_for_where_they_are_shown(kind, monkeypatch):
    asked = []
    monkeypatch.setattr(source, "nearest", lambda *arguments: asked.append(arguments))
    read(DECKS[kind](2000))
    assert 0 < len(asked) <= MAX_PROBLEMS


def test_parameters_are_known_from_their_line_on():
    """A card sees what stood above it, however much the table has grown since."""
    early = "*NSET, NSET=EARLY\n<late>\n"
    with pytest.raises(DeckError, match="unknown parameter <late>; define it on a"):
        parse_deck(deck(mesh=early + "*PARAMETER\nlate = 1\n"))
    with pytest.raises(DeckError, match="unknown name 'late'"):
        parse_deck(deck(top="*PARAMETER\nearly = late\nlate = 1\n"))
    with pytest.raises(DeckError, match="defined twice"):
        parse_deck(deck(top="*PARAMETER\nx = 1\n*PARAMETER\nx = 2\n"))
    assert parse_deck(deck(top="*PARAMETER\nlate = 1\n", mesh=early)).parameters == {"late": 1.0}


def test_a_set_that_is_defined_too_late_is_said_to_be():
    text = deck(mesh="*NSET, NSET=A\nB\n*NSET, NSET=B\n1\n")
    with pytest.raises(DeckError, match="there is no node set B above this line; it is defined further down"):
        parse_deck(text)


def test_reading_ends_at_so_many_mistakes(monkeypatch):
    """Those found so far are reported, in reading order."""
    monkeypatch.setattr("fem.deck.draft.MAX_COLLECTED", 10)
    with pytest.raises(DeckError) as caught:
        parse_deck(deck(step="*CLOAD\n" + "2, 1, x\n" * 30))
    lines = [problem.line for problem in caught.value.problems]
    assert len(lines) == 10 and lines == sorted(lines)
