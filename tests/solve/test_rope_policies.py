"""What the numbers decide by which ropes are taut, pull and meet impacts: just below and just above each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fem.solve.newton import groups
from fem.solve.newton.groups import ENERGY
from fem.solve.rope_states import Stages
from fem.solve.ropes import moreau
from fem.solve.ropes.active import ActiveSet, enter
from fem.solve.ropes.complementarity import NoPulls, complementarity, independent, outside, shared
from fem.solve.ropes.events import Events, zero_between
from fem.solve.ropes.instants import Instant, Switched
from fem.solve.ropes.moreau import Law, Moreau
from fem.solve.ropes.watched import Watched
from tests.decks import run_text
from tests.solve.test_notices import ropes

RODS, ROPES = np.zeros(2, np.bool_), np.ones(2, np.bool_)


def bare(kind: type, **members: Any) -> Any:
    """An object with nothing but these members."""
    found = kind.__new__(kind)
    for name, value in members.items():
        setattr(found, name, value)
    return found


# ------------------------------------------------------------------------------------------ pulls at one instant
@pytest.mark.parametrize(("apart", "pulls"), [(1e-11, [1.0, 0.0]), (1e-13, [0.5, 0.5])])
def test_lengths_that_agree_to_round_off_share_their_pull(apart, pulls):
    """W = [[1, 1], [1, 1 + d]], whose small eigenvalue is d/2 against 2; the pull of the first alone is right, too."""
    found, _ = complementarity(np.array([[1.0, 1.0], [1.0, 1.0 + apart]]), np.ones(2), RODS)
    assert found == pytest.approx(pulls, abs=1e-3)


@pytest.mark.parametrize(("pull", "is_found"), [(1e7, True), (1e9, False)])
def test_pulls_that_are_a_hundred_million_times_too_large_are_round_off(pull, is_found):
    """Of two bars that are nearly in line one is pulled and one is pushed; loads are known to a millionth."""
    apart = 1e-9
    compliance, right = np.array([[1.0, 1.0], [1.0, 1.0 + apart]]), np.array([1.0, 1.0 + pull * apart])
    if is_found:
        assert complementarity(compliance, right, RODS, 1e-6)[0][1] == pytest.approx(pull, rel=1e-2)
    else:
        with pytest.raises(NoPulls):
            complementarity(compliance, right, RODS, 1e-6)


@pytest.mark.parametrize(("contradiction", "is_found"), [(1e-10, True), (4e-10, False)])
def test_conditions_are_fulfilled_to_a_ten_billionth_of_the_largest_load(contradiction, is_found):
    """Two bars in one place that would have to be of different length: half of the difference is left of each."""
    right = np.array([1.0, 1.0 + contradiction])
    if is_found:
        complementarity(np.ones((2, 2)), right, RODS)
    else:
        with pytest.raises(NoPulls):
            complementarity(np.ones((2, 2)), right, RODS)


@pytest.mark.parametrize(("load", "acts"), [(0.5e-12, False), (2e-12, True)])
def test_a_rope_that_is_loaded_by_round_off_does_not_act(load, acts):
    assert complementarity(np.eye(2), np.array([1.0, load]), ROPES)[1].tolist() == [True, acts]


# ------------------------------------------------------------------------------------------ ropes that repeat others
@pytest.mark.parametrize(("angle", "counts"), [(2e-8, True), (0.5e-8, False)])
def test_ropes_in_line_to_a_hundred_millionth_repeat_each_other(angle, counts):
    rows = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    assert enter(rows, np.array([True, False]), np.array([1]), None).tolist() == [True, counts]
    basis, _ = independent(rows, np.ones(2), ROPES, ROPES, np.array([True, False]))
    assert basis.tolist() == [True, counts]
    assert outside(rows, np.array([True, False]), np.array([False, True])).tolist() == [False, counts]


@pytest.mark.parametrize(("angle", "is_shared"), [(0.5e-9, True), (4e-9, False)])
def test_sharing_a_pull_changes_its_force_by_a_billionth_at_most(angle, is_shared):
    """One of two ropes in line has all the pull; the small angle between them is below what is told from none."""
    rows = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    found = shared(rows, np.array([0.0, 1.0]), ROPES, np.ones(2))
    assert found == pytest.approx([0.5, 0.5] if is_shared else [0.0, 1.0], abs=1e-6)


# ------------------------------------------------------------------------------------------ instants
class Pushed(Instant):
    """One rope of length 1 (v[0] is its rate) beside a motion of speed 1."""

    kinetic: float = 0.0

    @property
    def rate(self) -> Any:  # type: ignore[override]
        return self.motion.v[:1].copy()

    @rate.setter
    def rate(self, found: Any) -> None:
        assert found.tolist() == self.motion.v[:1].tolist()

    def __init__(self, rate: float) -> None:
        self.motion: Any = SimpleNamespace(v=np.array([rate, 1.0]), energies=np.zeros(len(ENERGY)))
        self.rods = np.zeros(1, np.int64)
        self.stage: Any = SimpleNamespace(rods=SimpleNamespace(inverse=np.ones(1)))
        self.network: Any = SimpleNamespace(compliance=np.eye(1), change=lambda pull: np.array([-pull[0], 0.0]))
        self.mine, self.at, self.one_sided = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.bool_)
        self.taut, self.basis, self.hidden = np.zeros(1, np.bool_), np.zeros(1, np.bool_), 0.0
        self.is_stop, self.blows = np.zeros(1, np.bool_), []

        self.near: Any = SimpleNamespace(rates=lambda: self.motion.v[:1], kinetic=lambda: 0.0)

    def collide(self, slowest: float = 0.0, restitution: float = 0.0) -> tuple[Any, Any, Any]:
        return self._collide(np.zeros(1, np.bool_), np.full(1, slowest), np.full(1, restitution), np.ones(1))


@pytest.mark.parametrize(("rate", "struck"), [(0.9e-10, False), (1.1e-10, True)])
def test_a_rope_that_arrives_a_ten_billionth_as_fast_as_others_move_meets_no_impact(rate, struck):
    stays, hit, _ = Pushed(rate).collide()
    assert (bool(stays[0]), bool(hit[0])) == (True, struck)


@pytest.mark.parametrize(("rate", "stays"), [(-0.9e-12, True), (-1.1e-12, False)])
def test_a_rope_whose_ends_keep_their_distance_to_round_off_stays_at_its_length(rate, stays, monkeypatch):
    monkeypatch.setattr(Pushed, "_solve", lambda self, chosen, right, one_sided, x: (np.zeros(1), chosen))
    assert bool(Pushed(rate).collide()[0][0]) == stays


def test_impacts_that_follow_from_each_other_end_after_twenty_with_one_that_takes_all(monkeypatch):
    """Something throws the rope back each time: the last impact has no restitution."""
    instant, pulls = Pushed(1.0), []
    honest = Pushed._apply

    def thrown(self, pull, rate):
        loss = honest(self, pull, rate)
        pulls.append(float(pull[0]))
        if self.motion.v[0] < 0.0:
            self.motion.v[0] = 1.0
        return loss

    monkeypatch.setattr(Pushed, "_apply", thrown)
    monkeypatch.setattr(Pushed, "_verify", lambda self, off, size: None)
    instant.collide(restitution=0.5)
    assert pulls == [1.5] * 20 + [1.0]


@pytest.mark.parametrize(("off", "is_right"), [(0.9e-7, True), (1.1e-7, False)])
def test_rates_of_lengths_are_right_to_a_ten_millionth_in_the_end(off, is_right):
    instant = Pushed(0.0)
    if is_right:
        instant._verify(np.array([off]), 1.0)
    else:
        with pytest.raises(NoPulls):
            instant._verify(np.array([off]), 1.0)


def test_the_search_for_an_instant_is_bounded():
    """A root is worth 200 trials at most, where bisection would halve the step a thousand times."""
    trials = []
    zero_between(lambda x: trials.append(x) or (1.0 if x > 1e-300 else -1.0), (0.0, -1.0), (1.0, 1.0), 0.0)
    assert 100 <= len(trials) <= 1000


# ------------------------------------------------------------------------------------------ events
@pytest.mark.parametrize("instant", [0.002, 0.1])
def test_tensions_are_interpolated_below_a_hundredth_of_an_increment(instant):
    """A tension that falls with the square of time, noise where increments are shorter; both instants are found."""
    events = bare(Events, step_run=SimpleNamespace(clock=SimpleNamespace(dt=0.5)), length=np.ones(1))
    events.states = SimpleNamespace(basis=np.ones(1, np.bool_), held=np.zeros(1))
    events.ropes = SimpleNamespace(allowance=np.zeros(1))
    events.step_run.progress = SimpleNamespace(motion=groups_of_nothing())

    def excess(now: float) -> np.ndarray:
        noise = 1e6 * np.sin(1e6 * now) if 0.0 < now < 0.0049 else 0.0
        return np.array([now**2 - instant**2 + noise])

    events.excess = lambda: excess(0.0)
    events.trial = lambda begin, end, read, *_: read(SimpleNamespace(excess=lambda: excess(end - begin)))
    step, which = events._first(0.0, 0.5)
    straight = instant**2 / 0.005  # of the chord up to a hundredth of the increment
    assert step == pytest.approx(straight if instant < 0.005 else instant, rel=1e-6) and which.all()


def groups_of_nothing() -> Any:
    """A motion that is only copied and restored."""
    return groups.Motion(*(np.zeros(1) for _ in groups.Motion._fields))


def test_messages_name_six_ropes():
    step_run = SimpleNamespace(system=SimpleNamespace(name_bar=str))
    watched = bare(Watched, step_run=step_run, ropes=SimpleNamespace(bars=np.arange(9)))
    assert watched.names(np.arange(9) < 6) == "0, 1, 2, 3, 4, 5"
    assert watched.names(np.arange(9) < 8) == "0, 1, 2, 3, 4, 5 and 2 more"


def test_stages_of_64_states_are_kept():
    made: list[int] = []
    nodes = SimpleNamespace(nodes=None, limits=None, coefficients=None)
    stages = bare(Stages, first=nodes, ropes=np.arange(8), coefficients=None, _kept={})
    stages._make = lambda taut: made.append(1) or SimpleNamespace(nodes=None, limits=None, coefficients=None)
    patterns = (np.arange(65)[:, None] >> np.arange(8)) % 2 == 1
    for _ in range(2):
        for taut in patterns[:64]:
            stages.of(taut)
    assert len(made) == 64
    stages.of(patterns[64])
    stages.of(patterns[0])
    assert len(made) == 66


def test_ropes_that_bounce_faster_than_a_thousandth_of_an_increment_stay_taut(monkeypatch):
    """The second impact within that time has no restitution, one after it does."""
    given: list[float] = []

    class Found(Exception):
        pass

    class Fake:
        def __init__(self, *_: Any) -> None: ...

        def run(self, let_go, stuck, held, slowest, restitution, length):
            given.append(float(restitution[0]))
            raise Found

    monkeypatch.setattr("fem.solve.ropes.instants.Instant", Fake)
    for before in (0.9e-3, 1.1e-3):
        one = np.zeros(1)
        switched = bare(
            Switched, taut=one > 0, length=one + 1.0, can_pull=one == 0, stuck=one > 0, let_go=one > 0, leaves=one > 0,
            restitution=one + 0.5, _near=lambda *_: None,
            step_run=SimpleNamespace(clock=SimpleNamespace(dt=1.0)), _gaps=lambda: np.zeros(1),
            states=SimpleNamespace(last_impact=one - before, bounces=one + 1.0, basis=one > 0, held=one),
            sense=one + 1.0,
        )  # fmt: skip
        with pytest.raises(Found):
            switched._change(SimpleNamespace(), 0.0, one > 0, one > 0)
    assert given == [0.0, 0.5]


@pytest.mark.parametrize(("gap", "leaves"), [(-0.9e-10, False), (-1.1e-10, True)])
def test_a_rope_that_repeats_others_is_slack_once_it_is_a_ten_billionth_shorter(gap, leaves):
    one = np.zeros(1)
    happened: list[str] = []
    events = bare(
        Events, taut=one == 0, length=one + 1.0, states=SimpleNamespace(basis=one > 0),
        _gaps=lambda: np.array([gap]),
        _happens=lambda now, r, what: happened.append(what), ropes=SimpleNamespace(allowance=one.copy()),
    )  # fmt: skip
    events._look_at_shared(0.0)
    assert happened == ["slack"] * leaves and bool(events.taut[0]) != leaves


# ------------------------------------------------------------------------------------------ statics
@pytest.mark.parametrize(("push", "gap", "off"), [
    (0.9e-10, 0.0, [False, False]), (1.1e-10, 0.0, [True, False]), (0.0, 0.9e-12, [False, False]),
    (0.0, 1.1e-12, [False, True]), (0.0, -1.0, [False, False]), (-1.0, 0.0, [False, False]),
])  # fmt: skip
def test_taut_ropes_push_and_slack_ones_are_too_long_beyond_round_off(push, gap, off):
    """Against the largest force and the length, in any units."""
    for unit in (1e-6, 1.0, 1e6):
        stages = SimpleNamespace(first=SimpleNamespace(nodes=SimpleNamespace(dof_kind=np.zeros(1))))
        active = bare(
            ActiveSet, stages=stages, length=np.full(2, unit), taut=np.array([True, False]), can_pull=ROPES,
            excess=lambda unit=unit: np.array([push, gap * unit**2]),
        )  # fmt: skip
        motion: Any = SimpleNamespace(force=np.array([unit]), reaction=np.zeros(1))
        assert (active._off(motion) > 0.0).tolist() == off


# ------------------------------------------------------------------------------------------ time stepping
@pytest.mark.parametrize(("rate", "arrives"), [(0.9e-10, False), (1.1e-10, True)])
def test_time_stepping_knows_no_impact_slower_than_a_ten_billionth_of_the_motion(rate, arrives):
    lengths: Any = SimpleNamespace(
        gradients=lambda near, u: (np.array([[1.0, 0.0]]), None),
        slips=lambda near, size: SimpleNamespace(contact=near[:0], rows=np.zeros((0, 2)), reduced=np.zeros((0, 2))),
        square=np.ones(1),
        is_linear=np.zeros(1, np.bool_),
        relative=lambda near, u: np.zeros(3),
    )
    one = np.ones(1, np.bool_)
    law = Law(lengths, np.zeros(1, np.int64), np.zeros(2), np.array([rate, 1.0]), ~one, one, np.zeros(1))
    assert bool(law.arrives[0]) == arrives


@pytest.mark.parametrize(("energy", "taken"), [(-0.004, -0.004), (-1.0, -0.005), (0.1, 0.1), (9.0, 0.5)])
def test_motion_is_given_a_hundredth_of_its_energy_back_at_most_and_loses_all_at_most(energy, taken, monkeypatch):
    """Of a mass 1 with the speed 1."""
    work = SimpleNamespace(v=np.array([1.0, 0.0, 0.0]), momentum=np.zeros(3))
    monkeypatch.setattr(moreau.evaluate, "multiply_masses", lambda problem, x, product: np.copyto(product, x))
    take: Any = moreau.take_from_motion
    assert take.function(energy, np.zeros(3), None, work) == pytest.approx(taken)
    assert 0.5 * work.v @ work.v == pytest.approx(0.5 - taken)


@pytest.mark.parametrize(("strain", "moves"), [(0.9e-11, 0), (1.1e-11, 1)])
def test_positions_are_corrected_to_a_hundred_billionth_of_a_length(strain, moves):
    """One rope along an axis; a correction that does nothing is given up after fifty."""
    for helps in (True, False):
        found: list[int] = []
        work = SimpleNamespace(u=np.array([strain]))
        lengths = SimpleNamespace(
            gaps=lambda u: u.copy(), square=np.ones(1), gradients=lambda near, u: (None, np.eye(1)),
            dofs=SimpleNamespace(
                spread=lambda x, found=found, helps=helps: (found.append(1), x if helps else 0.0 * x)[1]
            ),
        )  # fmt: skip
        moreau = bare(
            Moreau, stage=SimpleNamespace(work=work), lengths=lengths, one_sided=np.zeros(1, np.bool_),
            holds=np.zeros(1, np.bool_), _factor=lambda dt: lambda right: right,
        )  # fmt: skip
        assert moreau._correct(0.1) == (helps or moves == 0)
        assert len(found) == (moves if helps else 50 * moves)


@pytest.mark.parametrize(("strain", "pulls"), [(0.5e-6, True), (2e-6, False)])
def test_time_stepping_takes_ropes_as_taut_from_a_millionth_of_their_length_on(strain, pulls):
    """A mass at rest below its support, held back by so much: it is still at rest, or falls."""
    back = f"*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n101,3,{strain}\n*STEP"
    deck = ropes(1, "*CONTROLS, IMPACT=MOREAU\n").replace("*STEP", back, 1)
    deck = deck.replace("0.01, 0.02", "1e-6, 1e-6").replace("*DLOAD", "*EL PRINT, ELSET=R\nT\n*DLOAD")
    assert bool(run_text(deck).elements[-1, 0, 3] > 0.0) == pulls
