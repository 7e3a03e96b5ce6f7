"""Lines at rest: every node in equilibrium, every bar as long as its tension makes it, the ends in their places."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem.lines.hanging import MEASURES, Line, LineError, Shape, hang, natural_length, reversed_line
from fem.lines.resting import Bottom, lay


def line_of(bars: int, length: float, stiffness: float, weight: float, strain: str = "ENGINEERING") -> Line:
    """A uniform line; weight per natural length."""
    own = np.full(bars, length / bars)
    load = np.convolve(0.5 * weight * own, [1.0, 1.0])
    is_green, is_log = (np.full(bars, strain == name) for name in ("GREEN", "LOG"))
    return Line(own, np.full(bars, stiffness), load, is_green, is_log)


def hung(line: Line) -> Shape:
    """Between the ends that tests of natural lengths have."""
    return hang(line, 28.0, 6.0)


def check_bars(line: Line, shape: Shape, tolerance: float = 1e-10) -> None:
    """Lengths of taut bars give their tension by the definitions of the measures; slack bars are not too long."""
    s = np.hypot(*shape.vectors.T) / line.length
    log = np.log(np.maximum(s, 0.1)) / np.maximum(s, 0.1)
    strain = np.where(line.is_green, 0.5 * (s**2 - 1) * s, np.where(line.is_log, log, s - 1))
    taut = shape.tension > 0
    elastic = np.where(np.isfinite(line.stiffness), strain - shape.tension / line.stiffness, s - 1)
    assert np.abs(elastic[taut]).max(initial=0.0) < tolerance
    assert s[~taut].max(initial=0.0) <= 1 + 1e-12


def balance(line: Line, shape: Shape) -> np.ndarray:
    """(n-1, 2) forces of bars and weights on the nodes between the ends."""
    force = shape.tension[:, None] * shape.vectors / np.maximum(np.hypot(*shape.vectors.T), 1e-300)[:, None]
    return np.diff(force, axis=0) - line.weight[1:-1, None] * np.array([0.0, 1.0])


@st.composite
def hanging(draw: st.DrawFn) -> tuple[Line, float, float]:
    """One to three pieces, some of them buoyant, taut or slack, any heights, also straight below."""
    pieces = draw(st.integers(1, 3))
    parts = [
        line_of(
            draw(st.integers(2, 20)),
            draw(st.floats(5, 50)),
            10 ** draw(st.floats(2.5, 8)),
            draw(st.sampled_from([-3.0, 0.3, 1.0, 10.0])) if k else draw(st.floats(0.5, 20)),
            draw(st.sampled_from(["ENGINEERING", "GREEN"])),
        )
        for k in range(pieces)
    ]
    load = np.zeros(1)
    for part in parts:
        load = np.concatenate([load[:-1], [load[-1] + part.weight[0]], part.weight[1:]])
    joined = Line(
        *(np.concatenate([part[k] for part in parts]) if k != 2 else load for k in range(5))  # type: ignore[arg-type]
    )
    span = draw(st.sampled_from([0.0, 1.0])) * draw(st.floats(0, 1)) * joined.length.sum()
    return joined, span, draw(st.floats(-0.9, 0.9)) * joined.length.sum()


@given(hanging())
@settings(max_examples=25)
def test_hanging_lines_are_in_equilibrium(given_line):
    line, span, rise = given_line
    shape = hang(line, span, rise)
    size = max(line.scale, shape.tension.max())
    assert np.abs(balance(line, shape)).max() < 1e-10 * size
    near = 1e-9 if span else 1e-4  # straight above each other: a bar may be just about to lean
    assert shape.places[-1] == pytest.approx([span, rise], abs=near * line.length.sum())
    check_bars(line, shape)


def test_a_bar_that_all_but_lies_level_leans_as_it_must():
    """Its force is 1e-10 of the weight, and 2e-5 of that points down, as much as the other bar is stretched."""
    line = Line(np.full(2, 2.5), np.full(2, 1e5), np.array([1.25, 2.5, 1.25]), np.zeros(2, bool), np.zeros(2, bool))
    assert hang(line, 2.5, 2.5).places[-1] == pytest.approx([2.5, 2.5], abs=1e-13)


@given(hanging())
@settings(max_examples=15)
def test_a_line_begins_at_either_end(given_line):
    line, span, rise = given_line
    shape, other = hang(line, span, rise), hang(reversed_line(line), span, -rise)
    if shape.slack == other.slack == 0.0:
        assert other.places[::-1] - other.places[-1] == pytest.approx(
            shape.places * [-1, 1] + [[0, 0]], abs=2e-6 * line.length.sum()
        )


def elastic_catenary(h: float, up: float, length: float, stiffness: float, weight: float) -> tuple[float, float]:
    """Distance and height of the upper end, where (h, up) pulls. Irvine, Cable Structures (1981), ch. 2."""
    low = up - weight * length
    span = h * length / stiffness + h / weight * (math.asinh(up / h) - math.asinh(low / h))
    rise = (up**2 - low**2) / (2 * stiffness * weight) + (math.hypot(h, up) - math.hypot(h, low)) / weight
    return span, rise


@pytest.mark.parametrize(("h", "up"), [(300.0, 700.0), (50.0, 260.0), (900.0, 900.0)])
def test_finer_chains_tend_to_the_elastic_catenary(h, up):
    """The force at the end, of second order in the length of a bar."""
    length, stiffness, weight = 100.0, 2e4, 5.0
    span, rise = elastic_catenary(h, up, length, stiffness, weight)
    errors = []
    for bars in (40, 80, 160):
        line = line_of(bars, length, stiffness, weight)
        errors.append(abs(hang(line, span, rise).pull(line, -1) - math.hypot(h, up)))
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.02)
    assert errors[-1] < 1e-3 * up


def test_bars_that_keep_their_length_reach_so_far_and_no_farther():
    line = line_of(30, 10.0, np.inf, 2.0)
    shape = hang(line, 8.0, 3.0)
    assert np.hypot(*shape.vectors.T) == pytest.approx(line.length, rel=1e-14)
    assert np.abs(balance(line, shape)).max() < 1e-11 * shape.tension.max()
    with pytest.raises(LineError, match=r"its natural length 10 is shorter than the distance 10\.5"):
        hang(line, 10.5, 0.0)
    with pytest.raises(LineError, match="no weight"):
        hang(line_of(5, 10.0, 1e3, 0.0), 5.0, 0.0)


def test_a_stretch_beyond_which_logarithmic_strain_pulls_no_harder():
    """T = E A ln(s)/s has its largest value at s = e: a line that would need more has no equilibrium of this law."""
    line = line_of(20, 10.0, 100.0, 1.0, "LOG")
    check_bars(line, hang(line, 20.0, 0.0))
    with pytest.raises(LineError, match="more than e times"):
        hang(line, 40.0, 0.0)


BOTTOMS = {
    "flat": Bottom(0.0), "up": Bottom(0.0, math.radians(8)), "down": Bottom(0.0, math.radians(-5)),
    "rough": Bottom(0.0, math.radians(5), 0.4), "below both": Bottom(9.0), "below, rising": Bottom(12.0, 0.05, 0.2),
}  # fmt: skip


@pytest.mark.parametrize("strain", ["ENGINEERING", "GREEN"])
@pytest.mark.parametrize("name", BOTTOMS)
@pytest.mark.parametrize("longer", [1.02, 1.1, 1.3, 1.9])
@pytest.mark.sampled
def test_lines_on_a_bottom_are_in_equilibrium(name, longer, strain):
    """What bars and weights leave goes into the bottom: along its normal, and no more than friction allows along it."""
    bottom, span, rise = BOTTOMS[name], 60.0, 24.0
    line = line_of(53, longer * math.hypot(span, rise), 1e6, 40.0, strain)
    shape = lay(line, span, rise, bottom)
    normal = np.array([-math.sin(bottom.slope), math.cos(bottom.slope)])
    along = np.array([math.cos(bottom.slope), math.sin(bottom.slope)])
    left, height = -balance(line, shape), bottom.height(shape.places[1:-1])
    press, rub = left @ normal, left @ along
    touches, tol = height < 1e-8, 1e-8 * max(line.scale, shape.tension.max())
    assert height.min() > -1e-8
    assert np.abs(left[~touches]).max(initial=0.0) < tol
    assert press.min() > -tol and press[touches] == pytest.approx(
        shape.load[1:-1][touches] * math.cos(bottom.slope), abs=tol
    )
    is_taut = np.minimum(shape.tension[1:], shape.tension[:-1]) > 0
    assert rub[is_taut] == pytest.approx(-bottom.friction * press[is_taut], abs=tol)  # held towards the first node
    assert shape.places[-1] == pytest.approx([span, rise], abs=1e-8)
    check_bars(line, shape, 1e-9)
    assert (shape.slack > 0.0) == bool((shape.tension == 0.0).any())


def test_a_line_on_the_bottom_begins_at_either_end():
    line, bottom = line_of(40, 75.0, 1e6, 40.0), Bottom(0.0, 0.06, 0.3)
    other = Bottom(20.0 - 60.0 * math.tan(0.06), -0.06, 0.3)
    one, turned = lay(line, 60.0, 20.0, bottom), lay(line, 60.0, -20.0, other)
    assert turned.tension[::-1] == pytest.approx(one.tension, abs=1e-6)
    assert (turned.vectors * [1, -1])[::-1] == pytest.approx(one.vectors, abs=1e-8)


def test_resting_nodes_sink_by_their_weight_over_the_stiffness():
    line = line_of(40, 75.0, 1e6, 40.0)
    rigid, soft = lay(line, 60.0, 20.0, Bottom(0.0)), lay(line, 60.0, 20.0, Bottom(0.0, 0.0, 0.0, np.full(41, 1e4)))
    sunk = (rigid.places - soft.places)[1:-1, 1]
    assert sunk == pytest.approx(rigid.load[1:-1] / 1e4, abs=1e-12) and sunk.max() > 7e-3
    assert soft.places[[0, -1]] == pytest.approx(rigid.places[[0, -1]], abs=1e-12)


@pytest.mark.parametrize("slope", [0.3, -0.2])
def test_on_a_slope_weights_press_along_its_normal_and_pull_along_it(slope):
    """A node sinks along the normal by W cos/k. From one lying bar to the next T grows by W (sin + mu cos)."""
    high, bottom = 60.0 * math.tan(slope) + 9.0, Bottom(0.0, slope, 0.1)
    line = line_of(40, 1.01 * math.hypot(60.0, high), 1e6, 40.0)
    rigid, soft = lay(line, 60.0, high, bottom), lay(line, 60.0, high, bottom._replace(stiffness=np.full(41, 1e4)))
    lying = np.flatnonzero((rigid.load[1:-1] == line.weight[1:-1]) & (rigid.tension[:-1] > 0.0))
    assert len(lying) > 2
    sunk = bottom.height(rigid.places) - bottom.height(soft.places)
    assert sunk[1 + lying] == pytest.approx(line.weight[1 + lying] * math.cos(slope) / 1e4, rel=1e-9)
    grown = rigid.tension[1 + lying] - rigid.tension[lying]
    assert grown == pytest.approx(line.weight[1 + lying] * (math.sin(slope) + 0.1 * math.cos(slope)), rel=1e-6)


def test_an_end_that_lies_on_the_bottom_is_held_along_it_only():
    """The bottom carries the weight of its node; the other end carries what does not lie."""
    line = line_of(40, 65.0, 1e6, 40.0)
    shape = lay(line, 60.0, 20.0, Bottom(0.0))
    assert shape.pull(line, 0) == pytest.approx(shape.tension[0], rel=1e-12) and shape.tension[0] > 1.0
    up = (line.weight - shape.load).sum()
    assert shape.pull(line, -1) == pytest.approx(math.hypot(shape.tension[0], up), rel=1e-9)


def test_ends_below_the_bottom_are_refused():
    with pytest.raises(LineError, match="its first node lies 1 below the seabed"):
        lay(line_of(10, 30.0, 1e6, 1.0), 10.0, 5.0, Bottom(-1.0))


def test_slack_bars_stay_slack_where_nodes_sink_unlike_the_ends_that_are_held():
    """They were pulled by what they sank: a slack line on a slope began with 75 kN in its first bars."""
    line = line_of(300, 324.0, 1e9, 2900.0)
    slope, rise = math.radians(12.0), 95.0
    bottom = Bottom(0.0, slope, 0.4, np.full(301, 1e6 * 0.2 * 1.08))
    shape = lay(line, 300.0, rise, bottom)
    far = np.hypot(*shape.vectors.T)
    slack = np.flatnonzero(shape.tension == 0.0)
    assert len(slack) > 100
    assert (far[slack[:-1]] <= line.length[slack[:-1]]).all()
    assert shape.vectors.sum(axis=0) == pytest.approx([300.0, rise], abs=1e-9)


@pytest.mark.parametrize("slope", [0.0, 5.0, -4.0])
def test_lines_with_buoyant_parts_lie_at_rest_on_the_bottom_in_several_places(slope):
    """Every node is in balance: pulls of its bars by their law, its weight, the push of the bottom."""
    line = line_of(60, 150.0, 1e7, 100.0)
    line.weight[[20, 40]] -= 1900.0
    steep = math.radians(slope)
    stiffness = np.full(61, 1e6)
    shape = lay(line, 120.0, 25.0, Bottom(0.0, steep, 0.0, stiffness))
    check_bars(line, shape, 1e-6)
    pulls = shape.tension[:, None] * shape.vectors / np.hypot(*shape.vectors.T)[:, None]
    push = shape.load[1:-1, None] * np.array([-math.sin(steep) * math.cos(steep), math.cos(steep) ** 2])
    rest = np.diff(pulls, axis=0) + push - np.column_stack([np.zeros(59), line.weight[1:-1]])
    assert np.abs(rest).max() < 1e-8 * line.scale
    touching = np.flatnonzero(shape.load[1:-1] > 0.0)
    assert np.diff(touching).max() > 1
    assert shape.places[-1] == pytest.approx([120.0, 25.0], abs=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("stiffness", [2e3, 1e8, np.inf])
@pytest.mark.sampled
def test_lengths_that_are_asked_for_give_what_was_asked(measure, stiffness):
    """Any line's own figures lead back to its length (the shorter one of two)."""
    line = line_of(25, 31.0, stiffness, 5.0)
    value = MEASURES[measure](line, hung(line))

    def laid(length: float) -> tuple[Line, Shape]:
        made = line_of(25, length, stiffness, 5.0)
        return made, hung(made)

    found = natural_length(laid, 0.0, 28.0, 6.0, measure, value)
    assert found == pytest.approx(31.0, rel=1e-9)


def test_tensions_below_the_least_are_refused_with_the_least():
    def make(length: float) -> Line:
        return line_of(25, length, 1e6, 5.0)

    def laid(length: float) -> tuple[Line, Shape]:
        return make(length), hung(make(length))

    with pytest.raises(
        LineError, match=r"a tension of 10 at its last node is not possible: the least is (\S+)"
    ) as told:
        natural_length(laid, 0.0, 28.0, 6.0, "TENSION", 10.0)
    least = float(str(told.value).split()[-1])
    tried = [MEASURES["TENSION"](make(length), hang(make(length), 28.0, 6.0)) for length in np.linspace(29, 60, 40)]
    assert least <= min(tried) < least * 1.01
    with pytest.raises(LineError, match=r"no natural length gives 1e\+09, however short"):
        natural_length(lambda length: laid(40.0 + length), 40.0, 28.0, 6.0, "TENSION", 1e9)
