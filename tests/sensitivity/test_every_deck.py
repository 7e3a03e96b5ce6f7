"""Derivatives of every deck of ``inputs/`` that has parameters, against central differences of runs.

Compared are copies of the decks. Differences are no reference unless their runs are iterated to round-off, have the
same increments, and stay neighbours. So all increments of a copy are equal, also where those of the deck are automatic
(how they are chosen is not differentiated), and each motion is cut off after ``MOST`` increments, or a number of its
own. Where more is changed, a comment at the deck says so.

Up to three parameters of a deck, and up to thirty of the numbers that it prints, are drawn at random, the name of the
deck being the seed; they are compared at all instants. Differences are taken with smaller and smaller steps, and known
to what they change from one step to the next, whatever the derivatives are: a number that is not known to the tolerance
fails, too, and so does a parameter that changes no number.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fem.compiled.choice import is_plain
from fem.deck import deck_reader, read_model
from fem.errors import FemError
from fem.model import Model, Step
from fem.model.named import number_named
from fem.study.certainty.numbers import scales
from fem.study.sensitivity.derivatives import Derivatives, differentiated
from fem.study.sensitivity.duals import NoDerivative
from fem.study.tracks import Track, table_names, tracked
from tests.sensitivity.decks import march_as_ropes_do

pytestmark = [pytest.mark.long, pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")]
INPUTS = Path("inputs")
TOLERANCE, ASSEMBLED = 1e-6, 1e-2
"""Of the largest derivative of a quantity (of all nodes or elements, in the whole copy). The first row of a run is not
solved for: its numbers are those of the assembly, which is differenced. In bars of steel their strains, 1e-6, have the
round-off of places, 1e-16 of the size of the model, over 2e-5, the step of these differences."""
ROUND_OFF = 3e-11
"""The largest derivative times the parameter, over the largest number, that may be round-off."""
CHANGED = 1e-5
"""The least derivative times the parameter, over the largest number, of one that is changed."""
MOST, NUMBERS, PARAMETERS = 40, 30, 3
STEPS = 1e-3 * 0.25 ** np.arange(-2, 6)
"""Of differences, over the parameter."""
TINY = 1e-300


@dataclass(frozen=True)
class Copy:
    """What is compared of a deck.

    by      parameters that change numbers of the model, of which some are drawn
    most    increments of a motion; increments: of an automatic static step
    given   other values of parameters
    numbers  of those that are printed, drawn
    tolerance  of derivatives
    """

    by: str
    most: int = MOST
    increments: int = 4
    given: Mapping[str, float] = field(default_factory=dict)
    numbers: int = NUMBERS
    tolerance: float = TOLERANCE


DECKS = {
    "ball_on_table": Copy("A c g m omega h", most=300),
    "ball_on_two_ropes": Copy("X Y Z omega alpha m g", most=1000),
    "bergdahl": Copy("r stiffness mass Cd Ct Ca mu T"),
    "bouncing_ball": Copy("A f c phi g", most=300),
    "broken_wire": Copy("length"),
    "cable_net": Copy("area prestress blow"),
    "cantilever": Copy("load"),
    # softer: strains of 1e-9 have round-off
    "catenary": Copy("span rise length stiffness weight gravity", given={"stiffness": 1e9}),
    # not slip: it changes velocities by 4e-5 of themselves, and differences are known to 1e-5 of that
    "chain_on_bottom": Copy("height along friction lateral", most=600),
    "circled_weight": Copy("EA density Cd radius period diameter"),
    # a rope that rubs in its karabiners
    "climbing_fall": Copy("above m mu EA", most=300, given={"mu": 0.2}),
    "crane": Copy("L a g m"),
    "cradle": Copy("theta L m g", most=700),
    "damped_cable": Copy("beta speed"),
    "driven_fairleads": Copy("radius depth anchor length surge heave roll yaw"),
    "galloping": Copy("wind angle"),
    "galloping_spans": Copy("wind angle push"),
    "grown_riser": Copy("tension"),
    "guyed_mast": Copy("tension EA"),
    "heave_compensation": Copy("omega rho"),
    "ice_drop": Copy("area tighten ice"),
    "iced_span": Copy("length thickness air beta"),
    # the accelerations with which a motion begins are differenced, and so are tensions until they are forgotten
    "lazy_wave": Copy("heave span upper buoyant lower modules EA EI", tolerance=3e-6),
    "lazy_wave_laid": Copy("length heave period", tolerance=1e-5),
    "lift_stop": Copy("speed m length", most=3000),
    # not EA: it changes tensions by 2e-4 of themselves, and differences are known to 1e-4 of that; by EI to 1e-6
    "measured_wave": Copy("free gravity EI mass float marker", tolerance=3e-6),
    "moored_buoy": Copy("offset"),
    "moored_platform": Copy("surge heave slow fast side"),
    "moored_spar": Copy("draught chain push ballast hull"),
    # another heading: 150 degrees are a row of the RAO, at which slopes jump
    "moored_vessel": Copy("Hs Tp heading far", given={"heading": 147.0}, tolerance=3e-6),
    # in the plane of the net nothing moves but by round-off: out of it are numbers of each kind
    "net_brake": Copy("mass speed force", most=900, numbers=99),
    "parting_line": Copy("tension mass", numbers=99),
    "pendulum_lumped": Copy("period"),
    "pendulum_one_point": Copy("period"),
    "rod_consistent": Copy("period"),
    "rope_on_drum": Copy("mu back"),
    "sdll135e": Copy("pull"),
    "sdnl138": Copy("low high"),
    "sea_state": Copy("Hs Tp"),
    "slack_cable": Copy("side"),
    "slack_chain": Copy("length stiffness mass load beta"),
    "splash_zone": Copy("Hs Tp load"),
    "string_pendulum_rigid": Copy("A beta m theta0 L g"),
    "string_pendulum_rope": Copy("A L m theta0 beta omega g c", most=1600, given={"c": 0.3}),
    "string_pendulum_spring": Copy("A k beta m theta0 L g"),
    "string_pendulum_starts": Copy("A beta m theta0 L g"),
    "string_sweep": Copy("from to L N EA m alpha F"),
    "strumming_cable": Copy("speed", most=300),
    "towed_rope": Copy("speed"),
    "turned_hose": Copy("bottom"),
    "twin_lines": Copy("mass stiffness length gravity"),
    "twisted_cable": Copy("R"),
    "two_driven_rods": Copy("X omega"),
    "winch_energy_momentum": Copy("angle length"),
    "yielding_brake": Copy("mass speed EA force", most=400),
    "zip_line": Copy("m EA drop", most=200),
}


def equal_increments(step: Step, its: Copy) -> Step:
    """A step of a copy."""
    controls = replace(
        step.controls, residual_relative=None, residual_absolute=None, correction_relative=None, energy_drift=None
    )
    step = replace(step, controls=controls, max_increments=None)
    if step.small_motion:
        return step
    timed = step.timed
    if timed.is_static:
        dt = timed.dt if timed.direct else timed.period / its.increments
        return replace(step, procedure=replace(timed, dt=dt, direct=True, dt_min=None, dt_max=None))
    count = min(round(timed.period / timed.dt), its.most)
    timed = replace(timed, period=count * timed.dt, direct=True, by_convergence=False, dt_min=None, dt_max=None)
    return replace(step, procedure=timed)


class Reader:
    """Copies of a deck for values of its parameters."""

    def __init__(self, name: str, its: Copy, by: Sequence[str]) -> None:
        self._read, self._its = deck_reader(INPUTS / f"{name}.inp", by), its

    def __call__(self, values: Mapping[str, float]) -> Model:
        model = self._read({**self._its.given, **values})
        return replace(model, steps=tuple(equal_increments(each, self._its) for each in model.steps))


@dataclass
class Differences:
    """Central differences of a copy by a parameter, with smaller and smaller steps.

    found  (c,) each number's best derivatives (k, c), and how far they are from those before them
    """

    read: Reader
    values: Mapping[str, float]
    name: str
    names: Sequence[str]

    @property
    def scale(self) -> float:
        return abs(self.values[self.name]) or 1.0

    def central(self, step: float) -> tuple[np.ndarray, np.ndarray]:
        """(k, c) of numbers over time, (f,) of frequencies."""
        h = step * self.scale
        values = [{**self.values, self.name: self.values[self.name] + side * h} for side in (1.0, -1.0)]
        high, low = (tracked(self.read(each), self.names) for each in values)
        return tuple((a - b) / (2.0 * h) for a, b in zip(self.parts(high), self.parts(low), strict=True))

    @staticmethod
    def parts(track: Track) -> tuple[np.ndarray, np.ndarray]:
        return track.values, np.array(list(track.frequencies.values()))

    def best(self, size: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Derivatives of fourth order, and their uncertainty: each the difference of two with steps that differ by a
        factor of four. Ends when all are known to a tenth of the tolerance; ``size`` (2,) of numbers."""
        rough: list[tuple[np.ndarray, ...]] = []
        fine: list[tuple[np.ndarray, ...]] = []
        best: list[np.ndarray] = []
        apart: list[np.ndarray] = []
        for step in STEPS.tolist():
            try:
                rough.append(self.central(step))
            except FemError:  # the ends of such a step are no decks
                rough, fine = [], []
                continue
            if len(rough) > 1:
                fine.append(tuple((16.0 * b - a) / 15.0 for a, b in zip(rough[-2], rough[-1], strict=True)))
            if len(fine) < 2:
                continue
            off = [np.abs(b - a) for a, b in zip(fine[-2], fine[-1], strict=True)]
            off = [each[1:].max(axis=0, initial=0.0) if each.ndim == 2 else each for each in off]
            if not best:
                best, apart = [each.copy() for each in fine[-1]], off
            for kind, each in enumerate(off):
                better = each < apart[kind]
                best[kind][..., better], apart[kind][better] = fine[-1][kind][..., better], each[better]
            if all(
                np.all(each <= 0.1 * TOLERANCE * its) for each, its in zip(apart, self.sizes(best, size), strict=True)
            ):
                break
        return best, apart

    def sizes(self, best: Sequence[np.ndarray], size: Sequence[np.ndarray]) -> list[np.ndarray]:
        """(c,), (f,) what differences are compared with."""
        families = [number.family if number.kind else "" for number in map(number_named, self.names)]
        largest = np.abs(best[0]).max(axis=0, initial=0.0)
        of = np.array([largest[[other == family for other in families]].max() for family in families])
        floor = ROUND_OFF / TOLERANCE / self.scale
        return [np.maximum(of, floor * size[0]), np.maximum(np.abs(best[1]), floor * size[1])]


def drawn(name: str, its: Copy) -> tuple[list[str], list[str]]:
    """Parameters of a deck, and numbers that it prints."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    by, names = its.by.split(), table_names(Reader(name, its, [])({}))
    some = [sorted(random.permutation(len(all_))[:most]) for all_, most in ((by, PARAMETERS), (names, its.numbers))]
    return [by[place] for place in some[0]], [names[place] for place in some[1]]


def compare(name: str, its: Copy) -> dict[str, tuple[float, float, float]]:
    """Of each parameter the largest difference from runs, and how far these are known, over what is allowed."""
    by, names = drawn(name, its)
    read = Reader(name, its, by)
    model = read({})
    found = differentiated(partial(Reader, name, its), model, by, {}, names)
    told: dict[str, tuple[float, float, float]] = {}
    size = sizes(found, names)
    for place, parameter in enumerate(by):
        wanted = Differences(read, found.parameters, parameter, names)
        best, apart = wanted.best(size)
        allowed = [its.tolerance * each + TINY for each in wanted.sizes(best, size)]
        slopes = np.array([slopes[place] for _, slopes in found.single.values()])
        off = [np.abs(found.slopes[..., place] - best[0]) / allowed[0], np.abs(slopes - best[1]) / allowed[1]]
        off[0][:1] *= its.tolerance / ASSEMBLED
        unsure = [each / most for each, most in zip(apart, allowed, strict=True)]
        moved = [np.abs(each) * wanted.scale / most for each, most in zip(best, size, strict=True)]
        told[parameter] = worst(off), worst(unsure), worst(moved)
    return told


def worst(parts: Sequence[np.ndarray]) -> float:
    """Multiple frequencies have no derivatives: NaN."""
    return max(float(np.nanmax(each, initial=0.0)) for each in parts)


def sizes(found: Derivatives, names: Sequence[str]) -> list[np.ndarray]:
    """(c,) largest number of each quantity, (f,) frequencies; at least what their round-off is a fraction of: of
    displacements the extent of the model, of energies the largest force over it."""
    values, mesh = found.track.values, found.track.model.mesh
    its = [number_named(name) for name in names]
    if not len(values):
        return [np.ones(len(names)), np.array([value for value, _ in found.single.values()])]
    size, extent = scales(values, names, mesh), float(np.ptp(mesh.coordinates, axis=0).max())
    force = max(
        (one for one, number in zip(size.tolist(), its, strict=True) if number.family in ("RF", "T")), default=0.0
    )
    least = {"U": extent, "E": 0.01, "": force * extent}
    size = np.maximum(size, [least.get(number.family if number.kind else "", 0.0) for number in its])
    return [size + TINY, np.array([value for value, _ in found.single.values()])]


BODIES = {"moored_buoy", "moored_spar"}
"""Decks with rods in water."""


@pytest.mark.parametrize("name", DECKS)
def test_derivatives_of_a_deck_equal_differences_of_runs(name, monkeypatch):
    if name in BODIES:
        march_as_ropes_do(monkeypatch)
    if "*WAVE" in (INPUTS / f"{name}.inp").read_text(encoding="utf-8"):
        monkeypatch.setattr("fem.study.sensitivity.run.COMMON", ())  # one compilation serves all decks in waves
    for parameter, (off, unsure, moved) in compare(name, DECKS[name]).items():
        assert moved > CHANGED, f"{parameter} changes nothing"
        assert unsure < 1.0, f"{parameter}: differences of runs do not decide"
        assert off < 1.0, parameter


REFUSED = {
    "chain_dropped": ("c", "IMPACT=MOREAU"),
    "chain_modes": ("links", "no derivative by links: .* expected the node label"),
    "coupled_line": ("bars", "no derivative by bars: .* expected the node label"),
    "hanging_chain": ("bars", "no derivative by bars: .* expected the node label"),
    "moving_rope": ("omega", "IMPACT=MOREAU"),
    "spinning_body": ("dt", "dt changes the number of increments"),
    "water_pendulum": ("dt", "dt changes the number of increments"),
}
"""Decks whose derivatives are refused: a parameter, and what is said."""
HARMONIC = {"mooring_response", "span_response"}
"""Decks whose parameters change harmonic motions alone: ``test_harmonic.py`` compares them."""
ONLY_DURATIONS = {"line_section", "ridge_mooring"}
"""Decks with automatic increments and no other parameters than how long these and the run are."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_deck_without_derivatives_says_why(name):
    by, why = REFUSED[name]
    model = read_model(INPUTS / f"{name}.inp")
    with pytest.raises(NoDerivative, match=why):
        differentiated(partial(deck_reader, INPUTS / f"{name}.inp"), model, [by], {}, table_names(model)[:1])


def test_no_deck_with_parameters_is_left_out():
    decks = {path.stem for path in INPUTS.glob("*.inp") if read_model(path).parameters}
    assert decks == {*DECKS, *REFUSED, *HARMONIC, *ONLY_DURATIONS}
