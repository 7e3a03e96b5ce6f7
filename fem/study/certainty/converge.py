"""``fem converge``: increments and a mesh with which numbers of a deck have a wanted accuracy.

Error bars of a run say what dt and the mesh contribute. With errors a dt^p + b h^q, p observed, and q as soon as there
are two meshes, the next run is the cheapest one whose predicted bars are within the accuracy; its own bars decide.
Increments are divided by whole numbers and bars of lines are split in two; a deck is never made coarser.

A tension front on a line without internal damping is followed by oscillations on every mesh, whose peaks have no limit
(docs/peaks.md); with BETA the front has a finite width, which a fine enough mesh resolves. For lines that can go slack,
the parameters that determine peaks are varied one by one: damping, mass rule, contacts, time scheme.
Source: Roache, Verification and Validation in Computational Science and Engineering, 1998, ch. 5.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fem.arrays import Columns, Ints, Say
from fem.commands.files import write_new
from fem.deck import parse_deck, read_model, write_deck
from fem.deck.writer import with_increments
from fem.errors import CommandError, DeckError, NoConvergence, proposal
from fem.model import Model
from fem.model.facts import natural_lengths
from fem.model.named import WORDS, labels_of, members_named, number_named, series_named, set_named
from fem.model.notices import damps_waves
from fem.runner import verdict_of
from fem.runs.progress import Progress, showing
from fem.runs.run_record import COMPLETED
from fem.study.certainty.companions import FINE, Companions, NumbersOverTime, answered, stretched
from fem.study.certainty.error_bars import ErrorBars, bars_from, wanted_bars
from fem.study.certainty.numbers import asked, statistic
from fem.study.question import Job
from fem.study.refined import refined
from fem.study.trajectory import tightened

MOST_ROUNDS = 6
PARTS = 1, 2, 4, 5, 8, 10, 16, 20, 32
"""Allowed divisors of an increment in a round; at most ``UNSURE`` if its order is unknown."""
SPLITS, UNSURE = 2, 4
SPARE = 0.8
"""Predicted bars are at most this fraction of the accuracy."""
FALLS = 0.6
"""Bars count as not converging if a quarter of the increment on half the mesh does not reduce them to this fraction."""
MESH_ORDER = 0.5, 2.0
"""Limits of observed orders of the mesh; the larger one is the first guess."""
LONGEST = 3600.0
KINDS = ("max", "min", "mean", "std", "damage", "instant", "event")
"""Kinds of numbers, as in names of ``fem.error_bars``."""
DAMPING = 0.3
"""BETA over L0/c, as written by ``fem line``: the fraction of critical damping of one bar."""


def checked(wanted: str, model: Model) -> tuple[str, tuple[str, ...]]:
    """The name of a number as in ``ErrorBars``, and the series that it is of: several of a set, none of frequencies and
    events.

    CommandError: the model has no such number; the message lists those it has.
    """
    name = wanted.strip()
    head, of, inner, instant = asked(name)
    if ":" in name and head not in KINDS:
        raise CommandError(f"{name!r}: there is no {head!r} of a number; {proposal(head, KINDS)}")
    if head == "instant" and of not in ("max", "min"):
        raise CommandError(f"{name!r}: write instant:max:T_e12 or instant:min:T_e12")
    statistic(name)  # raises
    if head in ("event", "frequency"):
        return name, ()
    if "@" in inner:
        raise CommandError(f"{name!r}: a number at an instant is T_e12@2.5, without {head}:")
    if "@" in name:
        try:
            float(instant)
        except ValueError:
            raise CommandError(f"{name!r}: {instant!r} is not a time; write T_e12@2.5") from None
    if set_named(inner):
        return name.replace(inner, str(series_named(inner))), tuple(map(str, members_named(model.mesh, inner)))
    _, kind, label = number = number_named(inner)
    if kind and label not in (labels := labels_of(model.mesh, kind)):
        near = proposal(str(label), map(str, labels.tolist()))
        raise CommandError(f"{name!r}: there is no {WORDS[kind]} {label}; {near}")
    return name.replace(inner, str(number)), (str(number),)


class Refinement(NamedTuple):
    """Each increment in ``parts``, each bar of a line in 2**splits, residuals smaller by 10**decades."""

    parts: int = 1
    splits: int = 0
    decades: int = 0

    def then(self, other: Refinement) -> Refinement:
        return Refinement(self.parts * other.parts, self.splits + other.splits, self.decades + other.decades)


class Share(NamedTuple):
    """Bar of a number and its parts, over the wanted accuracy; observed orders, NaN if unknown."""

    bar: float
    dt: float
    mesh: float
    residual: float
    dt_order: float
    mesh_order: float

    def after(self, choice: Refinement) -> float:
        """The predicted bar."""
        of_dt = self.dt / choice.parts ** (1.0 if math.isnan(self.dt_order) else self.dt_order)
        order = MESH_ORDER[1] if math.isnan(self.mesh_order) else self.mesh_order
        return float(of_dt + self.mesh / 2.0 ** (order * choice.splits) + self.residual / 10.0**choice.decades)


def next_choice(shares: Sequence[Share], can_split: bool) -> Refinement:
    """The cheapest change with predicted bars within the accuracy; without any, the one with the smallest bar."""
    most = PARTS[-1] if all(math.isfinite(share.dt_order) for share in shares) else UNSURE
    decades = max(math.ceil(math.log10(max(10.0 * share.residual, 1.0))) for share in shares)
    choices = [
        Refinement(parts, splits, decades)
        for parts, splits in product(PARTS, range(SPLITS + 1 if can_split else 1))
        if parts * 2**splits <= most * 2
    ]

    def rank(choice: Refinement) -> tuple[float, float]:
        return max(SPARE, *(share.after(choice) for share in shares)), choice.parts * 4.0**choice.splits

    return min(choices if decades else choices[1:], key=rank)


def changed(model: Model, choice: Refinement) -> Model:
    """The model with other increments, mesh and residuals.

    A label stays with the piece that ends in the middle of the original bar: after the first division, a second half.
    """
    for division in range(choice.splits):
        fine = refined(model)
        model = fine.model if not division else with_second_halves(fine.model, fine.halves)
    if choice.parts > 1:
        model = stretched(model, 1.0 / choice.parts)
    return tightened(model, 0.1**choice.decades) if choice.decades else model


def with_second_halves(model: Model, halves: Ints) -> Model:
    """Labels of the two halves (k, 2) of each element exchanged: they have equal properties and loads."""
    labels = model.mesh.element_labels
    labels[halves] = labels[halves[:, ::-1]]
    ends = np.cumsum([len(block.labels) for block in model.mesh.blocks])[:-1]
    parts = zip(model.mesh.blocks, np.split(labels, ends), strict=True)
    return replace(model, mesh=replace(model.mesh, blocks=tuple(replace(block, labels=its) for block, its in parts)))


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """A choice, its model, its bars or how it failed; seconds of all its runs."""

    choice: Refinement
    model: Model
    bars: ErrorBars | None
    verdict: str
    seconds: float


@dataclass(eq=False)
class Rounds:
    """Rounds of runs until bars are small enough.

    names  numbers, and the series that each is of, as ``checked``;  why: it has failed;  is_slow: because of ``limit``
    """

    names: Mapping[str, tuple[str, ...]]
    within: float
    limit: float
    solver: str
    processes: int | None
    say: Say
    progress: Progress = False
    rounds: list[Round] = field(default_factory=list)
    why: str = ""
    is_slow: bool = False

    def run(self, model: Model) -> Round:
        """The last round; ``why`` is empty where it has the accuracy."""
        choice = Refinement()
        while True:
            last = self.round(changed(model, choice), choice)
            shares = [] if last.bars is None else [self.share(last, name) for name in self.names]
            if last.bars is not None and all(share.bar <= 1.0 for share in shares):
                return last
            if self.has_no_limit(shares) or len(self.rounds) == MOST_ROUNDS:
                self.why = f"not within {self.within:.3g} after {len(self.rounds)} rounds: {self.reached()}"
                return last
            more = next_choice(shares, FINE not in last.bars.missing) if last.bars else Refinement(UNSURE)
            choice, seconds = choice.then(more), last.seconds * more.parts * 2.0**more.splits
            if seconds > self.limit:
                self.is_slow, what = True, f"dt / {choice.parts} with {2**choice.splits} times the bars"
                self.why = (
                    f"{what} would take about {seconds:.0f} s, more than --limit {self.limit:g}: {self.reached()}"
                )
                return last

    def round(self, model: Model, choice: Refinement) -> Round:
        began = time.perf_counter()
        bars, verdict = None, ""
        try:
            names = tuple(dict.fromkeys(chain.from_iterable(self.names.values())))
            with showing(self.progress) as told:
                its = Companions(model, True, self.solver, names)
                number = len(self.rounds) + 1
                bars = wanted_bars(its, self.processes, lambda done, text: told.move(done, f"round {number}: {text}"))
        except NoConvergence as error:
            verdict = verdict_of(error)
        last = Round(choice, model, bars, verdict, time.perf_counter() - began)
        self.rounds.append(last)
        size = f"round {len(self.rounds)}: dt / {choice.parts}, {len(model.mesh.element_labels)} elements"
        size += f", residuals / 1e{choice.decades}" if choice.decades else ""
        numbers = verdict if bars is None else ", ".join(f"{name} = {self.told(last, name)}" for name in self.names)
        self.say(f"{size}: {numbers} ({last.seconds:.1f} s)")
        return last

    def share(self, of: Round, name: str) -> Share:
        """Bar and contributions of a number. CommandError: there is no such number, or it is zero."""
        bars, mesh_order = of.bars, math.nan
        assert bars is not None
        try:
            value, bar, parts = abs(bars.value(name)), bars.bar(name), bars.parts(name)
        except KeyError as error:
            raise CommandError(str(error.args[0])) from None
        if not value:
            raise CommandError(f"{name} is zero: no error is a fraction of that")
        for other in self.rounds:
            finer = of.choice.splits - other.choice.splits
            if finer > 0 and other.bars is not None and other.bars.parts(name)["mesh"] > 0.0 < parts["mesh"]:
                seen = math.log2(other.bars.parts(name)["mesh"] / parts["mesh"]) / finer
                mesh_order = min(max(seen, MESH_ORDER[0]), MESH_ORDER[1])
        known = {part: each / (self.within * value) if math.isfinite(each) else 0.0 for part, each in parts.items()}
        dt = known["dt"] + known["rows"]
        bar = bar / (self.within * value) if math.isfinite(bar) else math.inf
        order = bars.order(name) if dt > 0.0 else 1.0
        return Share(bar, dt, known["mesh"], known["residual"], order, mesh_order)

    def has_no_limit(self, shares: Sequence[Share]) -> bool:
        """Whether bars do not decrease, on a finer mesh with smaller increments, compared with the first ones."""
        last = self.rounds[-1]
        for first in self.rounds[:-1] if shares else []:
            parts, splits = last.choice.parts // first.choice.parts, last.choice.splits - first.choice.splits
            if first.bars is not None and parts >= UNSURE and (splits or FINE in first.bars.missing):
                before = [self.share(first, name).bar for name in self.names]
                pairs = zip(shares, before, strict=True)
                return any(share.bar > max(1.0, FALLS * old) for share, old in pairs)
        return False

    def told(self, of: Round, name: str) -> str:
        """Value and bar of a number, as text."""
        bars, share = of.bars, self.share(of, name)
        assert bars is not None
        value = bars.value(name)
        return f"{value:.6g} +- {share.bar * self.within * abs(value):.2g} ({100.0 * share.bar * self.within:.2g} %)"

    def reached(self) -> str:
        """The best result for each number, as text."""
        ended = [each for each in self.rounds if each.bars is not None]
        if not ended:
            return self.rounds[-1].verdict
        return ", ".join(f"{name} = {self.told(ended[-1], name)}" for name in self.names)


def undamped(model: Model) -> dict[str, float]:
    """Materials of elastic lines that can go slack and have no internal damping, and the BETA of 0.3 L0/c for each."""
    return {name: beta for name, beta in slack_lines(model).items() if not model.materials[name].beta}


def slack_lines(model: Model) -> dict[str, float]:
    """Materials of elastic lines that can go slack in a dynamic step, and the BETA of 0.3 L0/c for each."""
    if not any(step.dynamic for step in model.steps):
        return {}
    length = natural_lengths(model.mesh, model.rest_lengths)
    found: dict[str, float] = {}
    for section in model.sections:
        material = model.materials[section.material]
        its = length[model.mesh.element_sets[section.element_set]]
        is_elastic = bool(material.young) and not material.is_inextensible and material.density > 0.0
        if is_elastic and material.compression_ratio < 1.0 and len(its):
            passing = np.median(its) * math.sqrt(material.density / (material.young or 1.0))
            found[material.name] = min(found.get(material.name, math.inf), float(f"{DAMPING * float(passing):.3g}"))
    return found


def damped_model(model: Model, betas: Mapping[str, float]) -> Model:
    """The model with internal damping of these materials."""
    changed = {name: replace(model.materials[name], beta=beta) for name, beta in betas.items()}
    return replace(model, materials=dict(model.materials) | changed)


def variants(model: Model) -> dict[str, Model]:
    """Name of a change -> the model with this one change."""
    beta = {name: model.materials[name].beta for name in slack_lines(model)}
    found: dict[str, Model] = {}
    for factor in (0.0, 0.5, 2.0):
        if any(beta.values()):
            found[f"BETA x {factor:g}"] = damped_model(model, {name: factor * each for name, each in beta.items()})
    for rule in ("LUMPED", "CONSISTENT"):
        if any(section.mass_rule != rule for section in model.sections):
            sections = tuple(replace(section, mass_rule=rule) for section in model.sections)
            found[f"MASS={rule}"] = replace(model, sections=sections)

    def with_bed(**factors: float) -> Model:
        beds = (replace(bed, **{k: f * getattr(bed, k) for k, f in factors.items()}) for bed in model.seabeds)
        return replace(model, seabeds=tuple(beds))

    for text, name, factor in (
        ("stiffness of the seabed x 0.5", "stiffness", 0.5),
        ("stiffness of the seabed x 2", "stiffness", 2.0),
        ("damping of the seabed x 0", "damping", 0.0),
        ("damping of the seabed x 2", "damping", 2.0),
    ):
        if any(getattr(bed, name) for bed in model.seabeds):
            found[text] = with_bed(**{name: factor})
    if any(bed.axial or bed.lateral for bed in model.seabeds):
        found["friction of the seabed x 0"] = with_bed(axial=0.0, lateral=0.0)
    dynamic = [step.dynamic for step in model.steps if step.dynamic]
    if dynamic and all(each.integrator != "CENTRAL DIFFERENCE" for each in dynamic):
        is_damping = all(map(damps_waves, dynamic))
        found["ENERGY MOMENTUM" if is_damping else "GENERALIZED ALPHA, RHO=0.4"] = with_scheme(
            model, *(("ENERGY MOMENTUM", 0.8) if is_damping else ("GENERALIZED ALPHA", 0.4))
        )
    return found


def with_scheme(model: Model, integrator: str, rho: float) -> Model:
    steps = (
        replace(step, procedure=replace(step.dynamic, integrator=integrator, rho=rho)) if step.dynamic else step
        for step in model.steps
    )
    return replace(model, steps=tuple(steps))


def switches(
    model: Model,
    names: Mapping[str, tuple[str, ...]],
    solver: str = "AUTO",
    processes: int | None = None,
    progress: Progress = False,
) -> Columns:
    """Numbers of the model and of each variant: columns ``switch`` and the numbers; NaN where a variant fails.

    names  numbers by name, with the series that each is of
    """
    models = {"as the deck has it": model, **variants(model)}
    series = tuple(dict.fromkeys(chain.from_iterable(names.values())))
    motion = NumbersOverTime(series, solver)
    jobs = {name: Job(place, each, motion, True) for place, (name, each) in enumerate(models.items())}
    values = np.full((len(models), len(names)), np.nan)
    for row, answer in enumerate(map(answered(jobs, processes, progress).__getitem__, models)):
        if answer.verdict == COMPLETED:
            bars = bars_from(answer.history, Companions(model, names=series), {})
            values[row] = [bars.value(name) for name in names]
    return Columns({"switch": np.array(list(models)), **dict(zip(names, values.T, strict=True))})


@dataclass(frozen=True, eq=False)
class Converged:
    """A deck that has the accuracy: its text and model, its bars, the choice, and the search for it."""

    text: str
    model: Model
    bars: ErrorBars
    choice: Refinement
    search: Rounds


def converge(
    deck: str | Path | Model,
    want: str | Sequence[str],
    within: float = 0.01,
    parameters: Mapping[str, float] | None = None,
    *,
    limit: float = LONGEST,
    processes: int | None = None,
    solver: str = "AUTO",
    say: Say = lambda text: None,
    progress: Progress = False,
) -> Converged:
    """Find increments and a mesh with which numbers of a deck have a wanted accuracy.

    deck        path of the ``.inp``, or a ``Model``
    want        ``max:T_e12``, or several: names as those of ``fem.error_bars``
    within      the accuracy, as a fraction of each number
    parameters  values that override the deck's ``*PARAMETER``
    limit       seconds that the runs of one round may take, as estimated from the round before
    processes   at most so many; None: one per processor
    solver      as in ``fem.run``
    say         receives a line on each round
    progress    as for ``run``; the share is that of a round, as it is not known how many there will be

    Raises
    ------
    CommandError   the deck has no such number, or it is zero
    NoConvergence  the accuracy was not reached; the message says what was, and why not as far as it is seen

    >>> found = fem.converge("inputs/sdnl100.inp", "max:T_e1")
    >>> found.bars.bar("max:T_e1") < 0.01 * found.bars.value("max:T_e1")
    True
    """
    model = read_model(deck, parameters)
    if model.earlier is not None:
        raise CommandError("a run that continues another one is as wrong as that one: converge the earlier deck")
    if not 0.0 < within < 1.0:
        raise CommandError(f"the accuracy is {within:g}; expected a fraction between 0 and 1, as 0.01 for 1 %")
    names = dict(checked(name, model) for name in ([want] if isinstance(want, str) else want))
    search = Rounds(names, within, limit, solver, processes, say, progress)
    last = search.run(model)
    betas = undamped(model)
    if search.why and betas and not search.is_slow:
        given = ", ".join(f"BETA={beta:g} of {name}" for name, beta in betas.items())
        say(f"lines that can go slack have no internal damping; the same with {given}:")
        again = replace(search, rounds=[], why="")
        again.run(damped_model(model, betas))
        raise NoConvergence(
            f"no limit is seen: tension fronts on these lines are undamped ({search.why}); with {given} (*DAMPING) "
            + (f"also {again.why}" if again.why else f"it is {again.reached()}")
        )
    if search.why:
        raise NoConvergence(search.why)
    assert last.bars is not None
    head = [f"fem converge {model.source}"] + [f"{name} = {search.told(last, name)}" for name in names]
    text = "".join(f"** {line}\n" for line in head) + text_of(deck, last)
    return Converged(text, last.model, last.bars, last.choice, search)


def text_of(deck: str | Path | Model, last: Round) -> str:
    """Text of the deck of a round: its own text with other increments, if that reads as the model."""
    if isinstance(deck, Model) or last.choice.splits or last.choice.decades:
        return write_deck(last.model)
    path = Path(deck)
    text = with_increments(path.read_text(encoding="utf-8", errors="surrogateescape"), last.model.steps)
    try:
        return text if parse_deck(text, folder=path.parent) == last.model else write_deck(last.model)
    except DeckError:
        return write_deck(last.model)


def write_converged(
    deck: Path,
    want: Sequence[str],
    within: float,
    parameters: Sequence[tuple[str, float]],
    output: Path | None,
    limit: float,
    workers: int | None,
    force: bool,
    say: Say,
) -> int:
    """``fem converge``: the search, the parameters of peaks of lines that snap taut, and the deck."""
    found = converge(deck, want, within, dict(parameters), limit=limit, processes=workers, say=say, progress=True)
    names = found.search.names
    peaks = {name: of for name, of in names.items() if name[:4] in ("max:", "min:") and of[0][:2] == "T_"}
    if peaks and slack_lines(found.model):
        say("lines can go slack; what decides the peaks, one change at a time:")
        table = switches(found.model, peaks, processes=workers, progress=True)
        say(f"{'':32}" + "".join(f"{name:>16}" for name in peaks))
        for row, text in enumerate(table["switch"].tolist()):
            say(f"{text:32}" + "".join(f"{table[name][row]:16.6g}" for name in peaks))
    path = write_new(output or Path(f"{deck.stem}_converged.inp"), found.text.encode(errors="surrogateescape"), force)
    say(f"wrote {path}: " + found.search.reached())
    if found.choice.splits:
        pieces = 2**found.choice.splits
        say(f"each bar of a line is {pieces} now; its label belongs to the piece that ends in its middle")
    return 0
