"""Error bars of a few numbers of long runs: only these are kept of each companion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.refined import Refined
from fem.errors import CommandError, proposal
from fem.model import Model
from fem.model.quantities import ENERGIES
from fem.runner import drive
from fem.runs.record import Event, Modes, Requests, Rows, SilentSink
from fem.runs.run_record import COMPLETED, Timing
from fem.show.series import number_of
from fem.study.certainty.companions import FINE, Companions, Motion
from fem.study.certainty.error_bars import ErrorBars
from fem.study.certainty.numbers import Curves, scales
from fem.study.question import Job
from fem.study.row import place_of
from fem.study.workers import on_this_machine

KINDS = ("max", "min", "mean", "instant", "event")


def checked(wanted: str, model: Model) -> tuple[str, str]:
    """A number as ``ErrorBars`` names it, and the series that it is of, empty for frequencies and events.

    CommandError: the model has no such number; it says which ones there are.
    """
    name, rest = wanted.strip(), wanted.strip()
    head, colon, after = name.partition(":")
    if colon:
        if head not in KINDS:
            raise CommandError(f"{name!r}: there is no {head!r} of a number; {proposal(head, KINDS)}")
        rest = after
        if head == "instant":
            which, _, rest = after.partition(":")
            if which not in ("max", "min"):
                raise CommandError(f"{name!r}: write instant:max:T_e12 or instant:min:T_e12")
    if head == "event" or name.startswith("frequency_"):
        return name, ""
    inner, at, instant = rest.partition("@")
    if at and colon:
        raise CommandError(f"{name!r}: a number at an instant is T_e12@2.5, without {head}:")
    if at:
        try:
            float(instant)
        except ValueError:
            raise CommandError(f"{name!r}: {instant!r} is not a time; write T_e12@2.5") from None
    if inner in ENERGIES:
        return name, inner
    column, kind, label = number_of(inner)
    labels = model.mesh.element_labels if kind == "e" else model.mesh.node_labels
    if label not in labels:
        what = "element" if kind == "e" else "node"
        raise CommandError(f"{name!r}: there is no {what} {label}; {proposal(str(label), map(str, labels.tolist()))}")
    series = f"{column}_{kind}{label}"
    return name[: len(name) - len(rest)] + series + at + instant, series


@dataclass(eq=False)
class Followed(SilentSink):
    """What is kept of a run: some numbers over time, frequencies, events, all that a ``History`` is asked for here.

    names   of the numbers;  places: of each, node or element indices over which its mean is taken
    """

    model: Model
    names: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]
    modes_found: list[Modes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    parts: list[tuple[Ints, Floats, Floats, Floats]] = field(default_factory=list)

    def rows(self, rows: Rows) -> None:
        if not len(rows.time):
            return
        found: dict[str, Any] = {"n": rows.of_nodes(self.model), "e": rows.of_elements(self.model)}
        columns = []
        for name, places in zip(self.names, self.places, strict=True):
            if name in ENERGIES:
                columns.append(getattr(rows, name))
                continue
            column, kind, _ = number_of(name)
            quantity, _, axis = place_of(column, kind)
            columns.append(found[kind].columns(quantity)[:, list(places), axis].mean(axis=1))
        values = np.column_stack(columns) if columns else np.zeros((len(rows.time), 0))
        self.parts.append((np.full(len(rows.time), rows.step), rows.time.copy(), rows.dt.copy(), values.copy()))

    def modes(self, modes: Modes) -> None:
        self.modes_found.append(modes)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def history(self) -> Track:
        empty = [(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros((0, len(self.names))))]
        step, time, dt, values = map(np.concatenate, zip(*(self.parts or empty), strict=True))
        return Track(self.model, step, time, dt, values, tuple(self.modes_found), tuple(self.events))


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Rows (k,) of a run with some numbers (k, c); its modes and events."""

    model: Model
    step: Ints
    time: Floats
    dt: Floats
    values: Floats
    modes: tuple[Modes, ...]
    events: tuple[Event, ...]

    def of_step(self, step: int) -> Flags:
        return np.equal(self.step, step)


@dataclass(frozen=True, slots=True)
class Series(Motion):
    """Some numbers of the motion of one model."""

    names: tuple[str, ...] = ()
    places: tuple[tuple[int, ...], ...] = ()

    def sink(self, model: Model) -> Followed:
        return Followed(model, self.names, self.places)


class WantedBars(ErrorBars):
    """Error bars of the numbers of some series, with the names of ``ErrorBars``.

    tracks   of the run, "", and of its companions
    missing  name of a companion -> why its contribution is missing
    """

    def __init__(
        self, tracks: Mapping[str, Track], series: tuple[str, ...], missing: dict[str, str], companions: Companions
    ) -> None:
        extent = float(np.ptp(companions.model.mesh.coordinates, axis=0).max(initial=0.0))
        curves = {
            key: Curves(
                each.step, each.time, each.values, series, frozenset(series), scales(each.values, series, extent)
            )
            for key, each in tracks.items()
        }
        self.missing, self.companions, self.increments = missing, companions, len(tracks[""].time)
        self._curves = curves.pop("")
        self._others = curves
        self._histories = tracks  # type: ignore[assignment]
        self._place = {name: place for place, name in enumerate(series)}

    def __repr__(self) -> str:
        return f"WantedBars of {', '.join(self._place)}: {self.increments} rows"


def wanted_bars(
    model: Model, series: tuple[str, ...], solver: str = "AUTO", processes: int | None = None
) -> WantedBars:
    """As ``fem.error_bars``, for runs too long to be kept. Raises what ``fem.run`` raises for the model itself."""
    companions = Companions(model, solver=solver)
    sink = Followed(model, series, places_of(model, series))
    drive(model, Requests(solver, record_all=True, fields=False), None, Timing(), None, sink)
    plain, missing = sink.history(), dict(companions.missing)
    models = companions.models(plain)  # type: ignore[arg-type]
    fine = companions.fine if FINE in models else None
    asked = {
        name: Series(1, solver, series, places_of(model, series, fine if name == FINE else None)) for name in models
    }
    tracks = {"": plain}
    for name, (verdict, track) in followed(models, asked, processes).items():
        if verdict != COMPLETED:
            missing[name] = verdict
        else:
            tracks[name] = track
    return WantedBars(tracks, series, missing, companions)


def followed(
    models: Mapping[str, Model], asked: Mapping[str, Series], processes: int | None
) -> dict[str, tuple[str, Track]]:
    """Verdict and series of each of some models, in processes side by side where that is sooner."""
    names = list(models)
    jobs = (Job(point, models[name], asked[name], True) for point, name in enumerate(names))
    answers: list[Any] = [each for some in on_this_machine(jobs, len(names), processes) for each in some]
    return {names[each.point]: (each.verdict, each.history) for each in answers}


def places_of(model: Model, names: Sequence[str], fine: Refined | None = None) -> tuple[tuple[int, ...], ...]:
    """Indices of the node or element of each series; of both halves of an element in a finer model."""
    found: list[tuple[int, ...]] = []
    for name in names:
        if name in ENERGIES:
            found.append(())
            continue
        _, kind, label = number_of(name)
        labels = model.mesh.element_labels if kind == "e" else model.mesh.node_labels
        index = int(np.flatnonzero(labels == label)[0])
        found.append(tuple(fine.halves[index].tolist()) if fine is not None and kind == "e" else (index,))
    return tuple(found)
