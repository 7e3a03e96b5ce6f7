"""``run.json``: deck, settings and end of a run. Equal runs give equal bytes, except ``timing``."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.arrays import Floats
from fem.compiled.choice import installed
from fem.compiled.interpreted import work
from fem.model import Model, Step, outputs_in_force
from fem.model.facts import euler_loads
from fem.model.quantities import ENERGIES
from fem.model.surroundings import Seabed
from fem.runs.frames import Exchange, energies_of
from fem.runs.own import deck_entry, origin_of, read_record
from fem.runs.record import Event, Rows, SilentSink, StepStart, as_record
from fem.runs.schedule import target_indices, union

RUN_RECORD = "run.json"
PROPERTIES = ("sections", "springs", "dashpots", "masses", "seabeds", "cylinders", "waves")
SHOWN = 100
"""Most lines each way of a depth grid; the deck has all."""
RUNNING, COMPLETED, INTERRUPTED = "running", "completed", "interrupted"
LEFT = {"bifurcation": "past a bifurcation", "jump": "after a jump to another equilibrium"}
"""Event of a static path -> remark on a run that had one: its results may not be those of the structure."""
NOTE_EVERY = 2.0
"""Seconds between two records of a run in progress."""


@dataclass(slots=True)
class Totals:
    """Sums over a run; ``energies`` are those of the last increment, ``energy_drift`` its energy error beyond what
    numerical damping has taken; ``unloaded_residual``: the largest residual force of states without any load."""

    steps: int = 0
    increments: int = 0
    iterations: int = 0
    cutbacks: int = 0
    largest_residual_norm: float = 0.0
    unloaded_residual: float = 0.0
    largest_energy_error: float = 0.0
    energy_exchanged: float = 0.0
    numerical_dissipation: float = 0.0
    energy_drift: float = 0.0
    time: float = 0.0
    energies: dict[str, float] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)


DIFFER = "may differ from those of later runs: Python functions began this one, before there was machine code"


def ending(verdict: str, events: Mapping[str, int]) -> str:
    """A verdict, with remarks on a run that has completed."""
    said = [text for kind, text in LEFT.items() if events.get(kind)] if verdict == COMPLETED else []
    return ", ".join([verdict, *said])


def is_complete(verdict: str) -> bool:
    """Whether a run has reached its end, with or without remarks."""
    return verdict.partition(",")[0] == COMPLETED


class Timing:
    """Wall-clock seconds of the stages; ``write`` is time the solver spends on the console and waits for the
    thread that writes files, not counted in the others; ``python`` is processor time of kernels as Python
    functions, part of these."""

    def __init__(self) -> None:
        self._begun = self._mark = time.perf_counter()
        self._seconds = dict.fromkeys(("read", "assemble", "solve", "write"), 0.0)
        self._python = work.spent

    def mark(self, stage: str) -> None:
        """Adds the time since the last mark to this stage."""
        now = time.perf_counter()
        self._seconds[stage] += now - self._mark
        self._mark = now

    def total(self) -> float:
        return time.perf_counter() - self._begun

    def block(self) -> dict[str, Any]:
        seconds = {**self._seconds, "python": work.spent - self._python, "total": self.total()}
        found: dict[str, Any] = {stage: round(spent, 6) for stage, spent in seconds.items()}
        return found | ({"last_digits": DIFFER} if seconds["python"] > 0.0 else {})


class TotalsSink(SilentSink):
    """Adds up a run as it goes; ``note`` is called every few seconds. counts_exchange: the energy exchanged, too"""

    counts_exchange = True

    def __init__(self, model: Model, note: Callable[[], None] = lambda: None) -> None:
        self._model = model
        self._note, self._noted = note, time.monotonic()
        self.totals = Totals()
        self.notices: list[str] = []
        self.linear_solvers: list[str] = []
        self.acting: list[dict[str, Any] | None] = []
        self.sea_from = math.inf
        self._increment, self._exchange = 0, Exchange()

    def begin(self, start: StepStart) -> None:
        self._increment, self._exchange.start = 0, None
        self.totals.steps = start.step
        self.linear_solvers.append(start.solver)
        requests = outputs_in_force(self._model.steps, start.step - 1)
        prints = [each for each in requests if each.kind == "NODE PRINT" and "A" in each.variables]
        chosen = union([target_indices(self._model.mesh, request) for request in prints])
        acting = start.acting() if start.acting else None
        self.acting.append(as_record(acting, 2 * len(chosen) > len(self._model.mesh.node_labels)))

    def rows(self, rows: Rows) -> None:
        totals = self.totals
        if not len(rows.increment):
            return
        # Rows may omit increments that no request needs.
        totals.increments += int(rows.increment[-1]) - self._increment
        self.sea_from = rows.sea_from
        self._increment = int(rows.increment[-1])
        totals.iterations += int(rows.iterations.sum())
        totals.cutbacks += int(rows.cutbacks.sum())
        norms = rows.residual_norm if not rows.unloaded else rows.residual_norm[:-1]
        totals.largest_residual_norm = max(totals.largest_residual_norm, largest(norms))
        totals.unloaded_residual = max(totals.unloaded_residual, rows.unloaded)
        totals.largest_energy_error = max(totals.largest_energy_error, largest(rows.energy_error))
        if self.counts_exchange:
            self._exchange.add(energies_of(rows))
            totals.energy_exchanged = self._exchange.largest
        totals.numerical_dissipation = float(rows.numerical_dissipation[-1])
        totals.energy_drift = float(rows.energy_error[-1] + rows.numerical_dissipation[-1])
        totals.time = float(rows.time[-1])
        totals.energies = {name: float(getattr(rows, name)[-1]) for name in ENERGIES}
        if time.monotonic() - self._noted > NOTE_EVERY:
            self._note()
            self._noted = time.monotonic()

    def event(self, event: Event) -> None:
        self.totals.events[event.event] = self.totals.events.get(event.event, 0) + 1

    def notice(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)

    def keep(self, checkpoint: dict[str, Any]) -> None:
        lists = {name: list(getattr(self, name)) for name in LISTS}
        checkpoint["totals"] = {"sums": asdict(self.totals), "increment": self._increment, **lists}
        checkpoint["totals"]["start"] = self._exchange.start

    def resume(self, checkpoint: Mapping[str, Any], start: StepStart | None) -> None:
        state = checkpoint["totals"]
        self.totals, self._increment = Totals(**state["sums"]), state["increment"]
        self._exchange = Exchange(self.totals.energy_exchanged, state.get("start"))
        for name in LISTS:
            setattr(self, name, list(state[name]))


LISTS = ("notices", "linear_solvers", "acting")


def largest(values: Floats) -> float:
    """Largest magnitude; NaN if all values are NaN."""
    finite = np.abs(values[~np.isnan(values)])
    return float(finite.max()) if finite.size else math.nan


def record_of(
    folder: Path, model: Model, solver: str, progress: TotalsSink, verdict: str, timing: Mapping[str, Any]
) -> dict[str, Any]:
    """Content of ``run.json``, except the list of files."""
    return {
        "acting": progress.acting,
        "deck": deck_entry(model),
        "deck_folder": origin_of(model).seen_from(folder),
        "extensions": list(model.extensions),
        "linear_solvers": progress.linear_solvers,
        "notices": [*model.notices, *progress.notices],
        **({"sea_from": progress.sea_from} if model.waves and math.isfinite(progress.sea_from) else {}),
        "settings": settings(model, solver),
        "timing": dict(timing),
        "totals": asdict(progress.totals),
        "verdict": verdict,
        "versions": versions(),
    }


def struts_of(model: Model) -> dict[int, float]:
    """Labels of struts that bend, with their Euler loads."""
    loads = euler_loads(model)
    struts = np.flatnonzero(loads)
    return dict(zip(model.mesh.element_labels[struts].tolist(), loads[struts].tolist(), strict=True))


def settings(model: Model, solver: str) -> dict[str, Any]:
    """How the deck was understood: sizes, properties, and every step with all its defaults filled in."""
    mesh = model.mesh
    return {
        "heading": model.heading,
        **({"water": asdict(model.water)} if model.water else {}),
        "solver": solver,
        "nodes": len(mesh.node_labels),
        **({"instances": [each._asdict() for each in mesh.instances]} if mesh.instances else {}),
        "elements": {block.kind: len(block.labels) for block in mesh.blocks},
        "materials": [asdict(material) for material in model.materials.values()],
        **{name: list(map(property_of, getattr(model, name))) for name in PROPERTIES},
        **({"failures": list(map(asdict, model.failures))} if model.failures else {}),
        **({"struts": struts} if (struts := struts_of(model)) else {}),
        **({"stops": stops_of(model)} if stops_of(model) else {}),
        **({"planes": list(map(asdict, model.planes_at_rest))} if model.planes else {}),
        "updates": "halved where the residual does not fall" if model.seabeds or model.cylinders else "whole",
        "steps": [step_settings(model.steps, index) for index in range(len(model.steps))],
    }


def property_of(thing: Any) -> dict[str, Any]:
    """Its fields; of the grid of a seabed at most ``SHOWN`` lines each way."""
    if not isinstance(thing, Seabed):
        return asdict(thing)
    found = asdict(replace(thing, grid=None))
    del found["grid"]
    return found | ({"grid": thing.grid.thinned(SHOWN)} if thing.grid is not None else {})


def stops_of(model: Model) -> list[int]:
    """Labels of stops, which figures do not count as slack ropes."""
    ways = {name: each.is_inextensible and each.tension_ratio == 0.0 for name, each in model.materials.items()}
    sets = [model.mesh.element_sets[section.element_set] for section in model.sections if ways[section.material]]
    return [label for elements in sets for label in model.mesh.element_labels[elements].tolist()]


def step_settings(steps: tuple[Step, ...], index: int) -> dict[str, Any]:
    """One step; loads and supports as counts, output requests as they hold in it."""
    step = steps[index]
    gravity = [load for load in step.distributed_loads if load.kind == "GRAV"]
    as_they_are = ("name", "nlgeom", "max_increments", "extrapolation", "replaced")
    lists = ("boundaries", "nodal_loads", "distributed_loads", "temperatures")
    return {
        **{name: getattr(step, name) for name in as_they_are},
        "procedure": {"kind": type(step.procedure).__name__.upper(), **asdict(step.procedure)},
        "controls": asdict(step.controls),
        "gravity": [[load.value * axis for axis in load.direction] for load in gravity],
        "outputs": [asdict(request) for request in outputs_in_force(steps, index)],
        **{name: len(getattr(step, name)) for name in lists},
    }


def versions() -> dict[str, str | None]:
    """Versions of the libraries that can change digits."""
    others = {package: installed(package) or None for package in ("numpy", "scipy", "numba")}
    return {"fem": fem.__version__, "python": platform.python_version(), **others}


MOST_EARLIER = 1000
"""Longest chain of earlier runs that is searched for the model."""


def earlier_decks(folder: str | Path | None) -> list[tuple[Path, dict[str, float]]]:
    """Decks and parameters of the run in a folder and of the runs before it, as far as they are recorded."""
    found: list[tuple[Path, dict[str, float]]] = []
    place = None if folder is None else Path(folder)
    while place is not None and len(found) < MOST_EARLIER:
        try:
            record = read_record(place / RUN_RECORD) or {}
            deck, before = record["deck"], record.get("earlier")
            parameters = {name: float(value) for name, value in deck["parameters"].items()}
            found.append((place / record["deck_folder"] / deck["file"], parameters))
            place = place / before["folder"] if before else None
        except (ValueError, KeyError, TypeError, AttributeError):
            break
    return found
