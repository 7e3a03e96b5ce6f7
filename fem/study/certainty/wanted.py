"""Error bars of a few numbers of long runs: only these are kept of each companion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fem.errors import CommandError, proposal
from fem.model import Model
from fem.model.quantities import ENERGIES
from fem.runner import drive
from fem.runs.record import Requests
from fem.runs.run_record import COMPLETED, Timing
from fem.show.series import number_of
from fem.study.certainty.companions import FINE, Companions, Motion
from fem.study.certainty.error_bars import ErrorBars
from fem.study.certainty.numbers import Curves, scales
from fem.study.question import Job
from fem.study.tracks import SeriesSink, Track, places_of
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


@dataclass(frozen=True, slots=True)
class Series(Motion):
    """Some numbers of the motion of one model."""

    names: tuple[str, ...] = ()
    places: tuple[tuple[int, ...], ...] = ()

    def sink(self, model: Model) -> SeriesSink:
        return SeriesSink(model, self.names, self.places)


class WantedBars(ErrorBars):
    """Error bars of the numbers of some series, with the names of ``ErrorBars``.

    tracks   of the run, "", and of its companions
    missing  name of a companion -> why its contribution is missing
    """

    def __init__(
        self, tracks: Mapping[str, Track], series: tuple[str, ...], missing: dict[str, str], companions: Companions
    ) -> None:
        mesh, printed = companions.model.mesh, frozenset(series)
        curves = {
            key: Curves(each.step, each.time, each.values, series, printed, scales(each.values, series, mesh))
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
    sink = SeriesSink(model, series, places_of(model, series))
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
