"""The numbers of the forms: where joints are, what dragging means, parameters in the text of a deck, fields."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fem
from fem.app.deck_text import (
    PRESETS,
    ROUNDING,
    directions,
    dragged,
    joints_of,
    judge,
    nearest_joint,
    parameters_of,
    with_value,
    write_copy,
)
from fem.app.equations import equations_of
from fem.app.scene import along, bar_tensions
from fem.deck import parse_deck
from fem.errors import CommandError
from fem.lines.pendulums import Pendulum, deck_text
from fem.lines.spans import LineSpan, section_of
from fem.lines.spans import deck_text as line_text

ANGLES = st.lists(st.floats(-170.0, 170.0), min_size=1, max_size=20)


@given(ANGLES, st.booleans())
def test_joints_are_where_the_deck_has_its_nodes(angles, is_absolute):
    lengths = [0.5 + 0.1 * link for link in range(len(angles))]
    pendulum = Pendulum(tuple(lengths), (1.0,) * len(angles), tuple(angles), absolute=is_absolute)
    nodes = parse_deck(deck_text(pendulum)).mesh.coordinates
    np.testing.assert_allclose(joints_of(lengths, angles, is_absolute), nodes[:, [0, 2]], atol=1e-12)


@given(ANGLES, st.booleans(), st.data())
def test_a_joint_dragged_to_where_it_is_turns_nothing(angles, is_absolute, data):
    lengths = [1.0] * len(angles)
    joint = data.draw(st.integers(1, len(angles)))
    x, z = joints_of(lengths, angles, is_absolute)[joint]
    found = dragged(lengths, angles, is_absolute, joint, x, z)
    assert (found - angles[joint - 1] + 180.0) % 360.0 - 180.0 == pytest.approx(0.0, abs=0.5 * ROUNDING + 1e-9)


@given(ANGLES, st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.data())
def test_a_dragged_link_points_to_where_it_is_pulled(angles, x, z, data):
    lengths = [1.0] * len(angles)
    joint = data.draw(st.integers(1, len(angles)))
    a, b = joints_of(lengths, angles, False)[joint - 1]
    turned = [*angles]
    turned[joint - 1] = dragged(lengths, angles, False, joint, x, z)
    direction = math.radians(directions(turned, False)[joint - 1])
    if (away := math.hypot(x - a, z - b)) > 1e-6:
        along = ((x - a) * math.sin(direction) - (z - b) * math.cos(direction)) / away
        assert along > math.cos(math.radians(ROUNDING))


def test_the_nearest_joint_is_taken_the_fixed_one_never():
    places = [(0.0, 0.0), (0.0, -1.0), (0.0, -2.0)]
    assert nearest_joint(places, 0.1, -1.9, 0.3) == 2
    assert nearest_joint(places, 0.0, 0.0, 0.3) is None
    assert nearest_joint([(0.0, 0.0), (1.0, 0.0), (0.0, 0.0), (1.0, 0.0)], 1.0, 0.0, 0.3) == 3  # folded: the outer one


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_pendulums_that_can_be_run(name):
    preset = PRESETS[name]
    assert len(preset.speeds) == preset.links  # the form shows all of them
    assert not [found for found in judge(deck_text(preset)).findings if found.is_error]


def test_the_example_sdnl100_is_sdnl100():
    """The tip where Code_Aster's deck has it, increment by increment."""
    mine = fem.run(parse_deck(deck_text(PRESETS["SDNL100"])))
    published = fem.run(Path(__file__).parents[2] / "inputs" / "sdnl100.inp")
    assert mine.time == pytest.approx(published.time, rel=1e-12)
    assert mine.of_node(2) == pytest.approx(published.of_node(2), abs=1e-4)


DECK = "*HEADING\nx = 1\n*PARAMETER\n** y = 2\nlength = 1.5D-1\narea=2\nboth = length*area\n*NODE\n1, 0.\n"


def test_parameters_are_the_plain_numbers_below_their_card():
    assert [(each.name, each.line, each.value) for each in parameters_of(DECK)] == [
        ("length", 4, 0.15),
        ("area", 5, 2.0),
    ]


@given(st.floats(-1e30, 1e30))
def test_a_parameter_changes_its_number_and_nothing_else(value):
    changed = with_value(DECK, "area", value)
    (length, area) = parameters_of(changed)
    assert (length.value, area.value) == (0.15, pytest.approx(value, rel=1e-11))
    assert with_value(changed, "area", 2.0).replace("area=2.0", "area=2") == DECK


def test_a_parameter_that_is_not_there():
    with pytest.raises(KeyError):
        with_value(DECK, "both", 1.0)


GOOD = deck_text(Pendulum((1.0,), (1.0,), (30.0,)))


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [("1,5", "", 1.5), ("-1.5e-3", "", -1.5e-3), ("pi/2", "m", math.pi / 2), ("pi/2", "°/s", 90.0),
     (" 3/2*sqrt(4) ", "", 3.0), ("0,125", "", 0.125), ("1.5D1", "", 15.0)],
)  # fmt: skip
def test_numbers_of_forms_may_be_formulas(text, unit, value):
    pytest.importorskip("nicegui", reason="the page needs the extra app")
    from fem.app.outcome import read_number

    assert read_number(text, unit=unit) == (pytest.approx(value, rel=1e-15), "")


@pytest.mark.parametrize(
    ("text", "said"),
    [("1,000", "may be 1000 or 1.000"), ("1,000,000", "not a number"), ("2x", "not a number"), ("1/0", "by zero"),
     ("many", "unknown name"), ("1e999", "too large"), ("", "missing")],
)  # fmt: skip
def test_what_is_no_number_is_not_guessed(text, said):
    pytest.importorskip("nicegui", reason="the page needs the extra app")
    from fem.app.outcome import read_number

    number, wrong = read_number(text)
    assert number is None and said in wrong


def test_a_deck_is_judged_line_by_line():
    assert judge(GOOD).model is not None
    lines = GOOD.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("*DENSITY"))
    lines[place] = "*DENSTY"
    judged = judge("\n".join(lines))
    assert judged.model is None
    (finding,) = [each for each in judged.findings if each.line == place + 1]
    assert finding.is_error and "DENSITY" in finding.said()


def test_a_copy_of_a_deck_has_its_includes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "nodes.inp").write_text("*NODE, NSET=MORE\n7, 1., 0., 0.\n")
    text = GOOD.replace("*NODE, NSET=JOINTS", "*INCLUDE, INPUT=parts/nodes.inp\n*NODE, NSET=JOINTS")
    source = tmp_path / "deck.inp"
    source.write_text(text)
    judged = judge(text, "deck.inp", tmp_path)
    assert judged.model is not None
    (tmp_path / "copy").mkdir()
    copied = write_copy(text, tmp_path / "copy", "deck.inp", judged.model, source)
    assert judge(copied.read_text(), "deck.inp", copied.parent).model == judged.model


MOORED = LineSpan(
    (0.0, 0.0, -200.0), (800.0, 0.0, -14.0), section_of("R4-studless-142"), "tension", 2e6, 200.0, 1.0, bars=40
)


def test_a_line_at_rest_has_the_tension_asked_for():
    """Of the last bar less than at the end, by half of its weight in water at most."""
    model = judge(line_text(MOORED), "line.inp").model
    tension = bar_tensions(model)
    assert 0.98 * 2e6 < tension[-1] < 2e6
    assert any("natural length" in notice for notice in model.notices)
    points = along(model, tension).curves[0][1]
    assert np.all(np.diff(points[:, 0]) > 0.0) and points[-1, 1] == tension[-1]


def test_a_line_that_cannot_be_is_refused():
    with pytest.raises(CommandError, match="catalogue"):
        section_of("R9-studless")
    with pytest.raises(CommandError, match="the same point"):
        replace(MOORED, last=MOORED.first)


@pytest.mark.parametrize("body", ["bar", "point", "centre"])
def test_equations_are_well_formed_and_have_the_numbers_of_few_links(body):
    """Two equal links of 1 m and 3 kg: M11 is 3 + 3/3, 3/4 or 3 of its own mass."""
    for links in (1, 2, 6):
        pendulum = Pendulum(links * (1.0,), links * (3.0,), links * (10.0,), body=body, damping=0.1)
        text = equations_of(pendulum)
        whole = ElementTree.fromstring(f"<div>{text}</div>")
        numbers = [each.text for each in whole.iter("mn")]
        assert len([*whole.iter("mtd")]) == (links * (links + 1) if links <= 5 else 0)
        if links == 2:
            assert {"bar": "4", "point": "6", "centre": "3.75"}[body] in numbers
