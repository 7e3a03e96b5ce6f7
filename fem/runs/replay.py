"""The files of a run from its ``History``: what is drawn from files can be drawn of a motion in memory, too."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from fem.arrays import Ints
from fem.model import Model, OutputRequest, Step
from fem.model.quantities import ENERGIES, HARMONIC
from fem.runs.history import History
from fem.runs.record import Frame, Requests, Rows, StepStart
from fem.runs.run_record import COMPLETED, Timing
from fem.runs.schedule import MAX_FIELDS
from fem.runs.write import FanOut, InterruptGuard, RunFiles


def write_history(history: History, folder: Path) -> None:
    """Write the files of a run that prints everything of all nodes and elements. The folder must be new or empty."""
    model = replace(history.model, steps=tuple(printing(history.model, step) for step in history.model.steps))
    with closing(RunFiles(folder, model, Requests(), False, False)) as files:
        fan, timing = FanOut([files.progress], files.open, Timing(), InterruptGuard()), Timing()
        for notice in history.notices:
            fan.notice(notice)
        for number, step in enumerate(model.steps, 1):
            (places,) = np.nonzero(history.of_step(number))
            replay_step(history, number, step, places, fan)
        fan.close()
        files.finish(COMPLETED, timing)


def printing(model: Model, step: Step) -> Step:
    """The step with requests of everything that a history holds."""
    more = [("SK",)] * model.bends + [("UR", "VR")] * bool(model.free_bodies)
    nodes = HARMONIC["NODE"] + (() if step.small_motion else sum(more, ()))
    elements = HARMONIC["EL"] + (("T2",) if model.mesh.has_pulleys else ())
    requests = OutputRequest("NODE PRINT", variables=nodes), OutputRequest("EL PRINT", variables=elements)
    return replace(step, outputs=requests)


def replay_step(history: History, number: int, step: Step, places: Ints, fan: FanOut) -> None:
    """What a run says of a step, of the rows at these places."""
    period, start = step.procedure.period, float(history.time[places[0]]) if len(places) else 0.0
    count = int(history.increment[places].max(initial=0))
    if not (len(places) or step.small_motion):
        return  # the run ended before
    fan.begin(StepStart(number, step.name, type(step.procedure).__name__.upper(), start, period, count))
    if len(places):
        fan.rows(rows_of(history, number, places))
    every = max(1, -(-len(places) // MAX_FIELDS))
    for place in sorted({*places[::every].tolist(), *places[-1:].tolist()}):
        now = int(history.increment[place]), float(history.time[place])
        is_end = place == places[-1]
        values = history.motion[place], history.elements[place]
        fan.frame(Frame(number, *now, *values, is_end, True, history.sea_from))
    for event in history.events:
        if event.step == number:
            fan.event(event)
    for modes in history.modes:
        if modes.step == number:
            fan.modes(modes)
    for response in history.responses:
        if response.step == number:
            fan.response(response)


def rows_of(history: History, number: int, places: Ints) -> Rows:
    """The rows of a step; the last of them ends it."""
    energies = dict(zip(ENERGIES, [*history.energy[places].T, history.energy_error[places]], strict=True))
    kept = ("increment", "time", "dt", "iterations", "residual_norm", "cutbacks")
    u, factor = history.motion[places, 0], history.load_factor[places]
    return Rows(
        step=number,
        **{name: getattr(history, name)[places] for name in kept},
        **energies,
        numerical_dissipation=np.zeros(len(places)),
        largest_u=np.linalg.norm(u, axis=2).max(axis=1, initial=0.0),
        nodes=np.arange(u.shape[1]),
        motion=history.motion[places],
        elements=np.arange(history.elements.shape[1]),
        element_values=history.elements[places],
        is_end=True,
        load_factor=factor if np.isfinite(factor).any() else None,
        sea_from=history.sea_from,
    )
