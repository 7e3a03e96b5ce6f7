"""A deck read by its outline is the deck read in full, whatever the parameters."""

from __future__ import annotations

import math
import operator
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fem
from fem.deck import catenary, deck_reader, read_deck, reader
from fem.deck.parameters import Course, Otherwise
from fem.lines.hanging import LineError
from tests.sweeping.swings import write_swing

SLOW = {
    "bergdahl", "moored_platform", "moored_vessel", "iced_span", "cradle", "driven_fairleads", "moored_spar",
    "lazy_wave", "measured_wave", "string_pendulum_spring", "lazy_wave_laid", "string_pendulum_starts", "parting_line",
    "string_pendulum_rigid", "ball_on_two_ropes", "catenary", "bouncing_ball", "splash_zone", "lift_stop", "crane",
    "circled_weight", "string_pendulum_rope", "string_sweep", "ridge_mooring", "moored_buoy",
}  # fmt: skip
"""Decks of many parameters or many nodes: 0.7 s and more of processor time each, and most of all others together."""
MANY = 6
"""Parameters."""
INPUTS = [
    pytest.param(path, id=path.stem, marks=pytest.mark.long if path.stem in SLOW else ())
    for path in sorted(Path("inputs").glob("*.inp"))
    if "*PARAMETER" in path.read_text()
]
FINITE = st.floats(-1e6, 1e6)
SHAKEN = """*PARAMETER
A = 0.1
B = 2*A - 1
C = 1/(A + 5)
ratio = 0.5
*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
<C>
*NO COMPRESSION, RATIO=<ratio>
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1.
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.1
*BOUNDARY
1, 1, 2
1, 3, 3, <A>
*CLOAD
2, 3, -<A>
2, 1, < B >
*DLOAD
BARS, GRAV, <A>, 0, 0, -1
*END STEP
"""


def answer(read, *arguments):
    """What a reader says: the model and where it came from, or all mistakes."""
    try:
        model = read(*arguments)
    except fem.FemError as error:
        return type(error), str(error)
    return model, model.parameters, model.source, model.digest, model.notices, model.extensions


@pytest.fixture
def shaken(tmp_path):
    path = tmp_path / "shaken.inp"
    path.write_text(SHAKEN)
    return path


@pytest.fixture
def lines_are_laid_once(monkeypatch):
    """Where lines lie takes long, is a function of numbers, and is asked for the same ones by both ways to read."""
    known = {}

    def once(place):
        lay = getattr(*place)

        def laid(*numbers):
            key = lay, pickle.dumps(numbers)
            if key not in known:
                try:
                    known[key] = lay(*numbers)
                except LineError as error:
                    known[key] = error
            if isinstance(known[key], LineError):
                raise known[key]
            return known[key]

        monkeypatch.setattr(*place, laid)

    once((catenary, "hang"))
    once((catenary, "lay"))


@pytest.mark.parametrize("path", INPUTS)
@pytest.mark.sampled(14)
def test_every_deck_reads_the_same_by_its_outline(path, lines_are_laid_once):
    """Of a deck of many parameters each has one or two of the values, and each value several of the parameters."""
    own = read_deck(path).parameters
    for number, (name, value) in enumerate(own.items()):
        read = deck_reader(path, [name])
        others = [2.0 * value, 0.99 * value, 0.0, -value, 1e300, 3.0 * value, 0.5]
        for other in (value, *(others[number % 4 :: 4] if len(own) > MANY else others)):
            some = {name.lower(): other}
            assert answer(read, some) == answer(read_deck, path, some), some


def test_only_the_first_sets_of_each_course_are_read(shaken, monkeypatch):
    readings = []

    def counted(*arguments, **of_read_deck):
        if not of_read_deck:
            readings.append(arguments[1])
        return read_file(*arguments, **of_read_deck)

    read_file = reader.read_file
    monkeypatch.setattr(reader, "read_file", counted)
    read = deck_reader(shaken, ["A", "ratio"])
    for a in [0.0, *np.linspace(0.1, 0.4, 20), *np.linspace(0.6, 4.0, 20)]:
        for ratio in (0.0, 0.25, 1.0):
            some = {"A": a, "ratio": ratio}
            assert answer(read, some) == answer(read_deck, shaken, some), some
    assert len(readings) <= 4


def test_places_of_nodes_follow_parameters(shaken, monkeypatch):
    """Those between them that are generated, too; where two nodes would meet the deck is read, and refused."""
    text = shaken.read_text().replace("2, 1, 0, 0\n", "11, <A>, 0, <C>\n*NGEN\n1, 11, 5\n")
    shaken.write_text(
        text.replace("1, 1, 2\n*MAT", "1, 1, 6\n2, 6, 11\n*MAT")
        .replace("\n2, 3, -", "\n6, 3, -")
        .replace("\n2, 1, <", "\n6, 1, <")
    )
    read = deck_reader(shaken, ["A"])
    first = read({"A": 0.2})
    monkeypatch.setattr(reader, "read_file", None)  # nothing is read any more
    for a in (0.1, 0.3, 7.0):
        model = read({"A": a})
        assert model.mesh.coordinates.dtype == np.float64 and model.mesh.coordinates.flags.c_contiguous
        assert model.mesh.coordinates == pytest.approx(np.outer([0.0, 1.0, 0.5], [a, 0.0, 1.0 / (a + 5.0)]))
    assert first.mesh.coordinates[1, 0] == 0.2


def test_what_an_outline_cannot_serve_is_read(shaken):
    read = deck_reader(shaken, ["A", "ratio"])
    for a in (0.1, 0.2, -0.3, -5.0, -6.0, 0.3):  # a signed number after a sign, division by zero, negative density
        for ratio in (0.5, 2.0):
            some = {"A": a, "ratio": ratio}
            assert answer(read, some) == answer(read_deck, shaken, some), some
    assert answer(read, {"A": 0.1, "ratio": 0.5})[0].materials["M"].compression_ratio == 0.5
    with pytest.raises(fem.CommandError, match="not a finite number"):
        read({"A": math.nan, "ratio": 0.5})


def test_numbers_in_arrays_labels_and_fixed_parameters_are_read_anew(tmp_path):
    path = write_swing(tmp_path, "1, 1, 3\n", "<gravity>, 1, 3\n")
    for varied, sets in (
        ("length", [{"length": value} for value in (1.0, 2.0, 0.5)]),
        ("gravity", [{"gravity": value} for value in (1.0, 2.0, 9.81)]),
        ("dt", [{"dt": value, "gravity": g} for value in (0.01, 0.02) for g in (1.0, 2.0)]),
    ):
        read = deck_reader(path, [varied])
        for some in sets:
            assert answer(read, some) == answer(read_deck, path, some), some


NUMBER = re.compile(r"(?<![\w.<=])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.>])")
DECKS = [path for path in sorted(Path("inputs").glob("*.inp")) if path.stat().st_size < 4000]


@pytest.mark.long
@settings(max_examples=60)
@given(
    st.sampled_from(DECKS), st.integers(0, 10_000), st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, 1e30]), max_size=3)
)
def test_any_number_of_any_deck_may_be_varied(tmp_path_factory, path, place, factors):
    lines = path.read_text().split("\n")
    numbers = [(k, match) for k, line in enumerate(lines) if line[:2] != "**" for match in NUMBER.finditer(line)]
    k, match = numbers[place % len(numbers)]
    lines[k] = f"{lines[k][: match.start()]}<varied>{lines[k][match.end() :]}"
    deck = tmp_path_factory.getbasetemp() / "varied.inp"
    deck.write_text("\n".join(["*PARAMETER", "varied = 1", *lines]))
    read, value = deck_reader(deck, ["varied"]), float(match.group())
    for factor in (1.0, 1.25, *factors, 1.5):
        some = {"varied": factor * value}
        assert answer(read, some) == answer(read_deck, deck, some), (lines[k], some)


OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), FINITE, st.booleans()), max_size=5), FINITE, FINITE)
def test_traced_numbers_follow_their_parameters(steps, first, second):
    def work(x):
        for function, number, is_left in steps:
            x = function(x, number) if is_left else function(number, -abs(x))
        return x

    course = Course()
    try:
        traced, expected = work(course.parameter("A", first)), work(second)
    except ZeroDivisionError:
        return
    assert traced.value == work(first)
    assert traced.of({"A": second}) == expected


@given(st.sampled_from(COMPARISONS), FINITE, FINITE, FINITE)
def test_decisions_hold_for_the_values_that_decide_alike(function, first, second, limit):
    course = Course()
    assert function(course.parameter("A", first), limit) == function(first, limit)
    assert function(limit, course.parameter("A", first)) == function(limit, first)
    alike = function(second, limit) == function(first, limit) and function(limit, second) == function(limit, first)
    if alike:
        assert course.follow({"A": second}) == {"A": second}
    else:
        with pytest.raises(Otherwise):
            course.follow({"A": second})


def test_traced_numbers_refuse_what_leaves_no_trace():
    number = Course().parameter("A", 1.0)
    for look in (float, int, str, repr, hash, math.sqrt, math.isfinite, round, np.array, np.asarray, np.isfinite):
        with pytest.raises(TypeError):
            look(number)
    for look in (lambda x: f"{x:g}", lambda x: [1.0, 2.0][x], lambda x: {x}, lambda x: np.array([1.0, x])):
        with pytest.raises(TypeError):
            look(number)


def test_a_deck_that_has_been_read_is_read_again_without_its_file(tmp_path):
    """Where labels follow from a parameter, each reading is in full: from the text that was kept."""
    deck = tmp_path / "labels.inp"
    deck.write_text("*PARAMETER\ntip = 2\n*NODE\n1, 0., 0., 0.\n<tip>, 1., 0., 0.\n")
    read = deck_reader(deck, ["tip"])
    with pytest.raises(fem.DeckError) as first:
        read({"tip": 3.0})
    deck.unlink()
    with pytest.raises(fem.DeckError) as again:
        read({"tip": 4.0})
    assert str(first.value) == str(again.value) and "no file" not in str(again.value)
