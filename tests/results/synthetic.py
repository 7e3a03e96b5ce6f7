"""A made-up run: models and records without a solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem.model import BarSection, Dynamic, ElementBlock, Frequency, Material, Model, OutputRequest, PointMass, Step
from fem.model.mesh import Mesh
from fem.runs.record import Event, Frame, Modes, Rows, Sink, StepStart

ENERGIES = ("kinetic", "strain", "potential", "external_work", "dissipated", "energy_error")


def chain(nodes: int = 4, **changes: object) -> Model:
    """A hanging chain of bars with a point mass at its end; labels are neither dense nor rising."""
    labels = np.arange(nodes, 0, -1, dtype=np.int64) * 10
    x = np.arange(nodes, dtype=float)
    bars = np.stack([np.arange(nodes - 1), np.arange(1, nodes)], axis=1)
    mesh = Mesh(
        labels,
        np.stack([x, 0.25 * x, 0.0 * x], axis=1),
        (
            ElementBlock("T3D2", np.arange(1, nodes, dtype=np.int64) * 3, bars),
            ElementBlock("MASS", np.array([1000]), np.array([[nodes - 1]])),
        ),
        {"TIP": np.array([nodes - 1]), "ENDS": np.array([0, nodes - 1])},
        {"ROPE": np.arange(nodes - 1), "BOB": np.array([nodes - 1])},
    )
    model = Model(
        mesh,
        materials={"STEEL": Material("STEEL", young=2.1e11, density=7800.0)},
        sections=(BarSection("ROPE", "STEEL", 1e-4),),
        masses=(PointMass("BOB", 2.0),),
        steps=(Step(Dynamic(0.1, 1.0)),),
        source="decks/chain.inp",
        digest="f00d",
    )
    return replace(model, **changes)  # type: ignore[arg-type]


def with_outputs(*outputs: OutputRequest, steps: int = 1) -> Model:
    """The requests stand in the first step."""
    step = Step(Dynamic(0.1, 1.0), outputs=outputs)
    return chain(steps=(step, *(replace(step, outputs=()) for _ in range(steps - 1))))


def make_rows(
    model: Model, step: int, first: int, last: int, start: float = 0.0, dt: float = 0.1, is_end: bool = False
) -> Rows:
    """Increments first..last with all nodes and elements; values depend on the increment only."""
    n, m = len(model.mesh.node_labels), len(model.mesh.element_labels)
    increment = np.arange(first, last + 1)
    k = len(increment)
    wave = np.sin(increment[:, None] + np.arange(3 * n)[None, :] / 7.0).reshape(k, n, 3)
    ledger = {name: np.cos(increment / (j + 1.0)) / 3.0 for j, name in enumerate(ENERGIES)}
    return Rows(
        step=step,
        increment=increment,
        time=start + increment * dt,
        dt=np.where(increment > 0, dt, 0.0),
        iterations=np.where(increment > 0, 1 + increment % 4, 0),
        residual_norm=1e-7 / (1.0 + increment),
        cutbacks=np.zeros(k, np.int64),
        numerical_dissipation=np.zeros(k),
        largest_u=np.abs(wave).max(axis=(1, 2)),
        nodes=np.arange(n),
        motion=np.stack([wave, 2.0 * wave, 3.0 * wave, 4.0 * wave], axis=1),
        elements=np.arange(m),
        element_values=np.cos(increment[:, None] + np.arange(4 * m)[None, :]).reshape(k, m, 4),
        is_end=is_end,
        **ledger,
    )


def frame_of(rows: Rows, is_end: bool = False, for_vtk: bool = True) -> Frame:
    """The last of the rows as a whole field."""
    return Frame(
        rows.step,
        int(rows.increment[-1]),
        float(rows.time[-1]),
        rows.motion[-1],
        rows.element_values[-1],
        is_end,
        for_vtk,
    )


def play(model: Model, sink: Sink, increments: int = 10, chunk: int = 4, until: int | None = None) -> None:
    """Run every step of the model into a sink; ``until``: stop there, as after a failure, without closing."""
    start = 0.0
    for step, description in enumerate(model.steps, 1):
        if isinstance(description.procedure, Frequency):
            sink.begin(StepStart(step, None, "FREQUENCY", start, 0.0, None))
            sink.modes(make_modes(model, step, start))
            continue
        sink.begin(StepStart(step, None, "DYNAMIC", start, 1.0, increments))
        last = increments if until is None else until
        for first in range(0, last + 1, chunk):
            final = min(first + chunk - 1, last)
            is_end = final == increments
            rows = make_rows(model, step, first, final, start, 1.0 / increments, is_end)
            sink.rows(rows)
            sink.frame(frame_of(rows, is_end))
        if until is not None:
            return
        sink.event(Event(step, increments, start + 1.0, 3, "impact", 0.1))
        start += 1.0
    sink.close()


def make_modes(model: Model, step: int, time: float) -> Modes:
    """Two modes."""
    n = len(model.mesh.node_labels)
    shapes = np.linspace(-1.0, 1.0, 2 * n * 3).reshape(2, n, 3)
    omega = np.array([1.0, 3.0])
    return Modes(step, time, np.arange(1, 3), omega / (2.0 * np.pi), omega, np.array([0.5, 2.0 / 3.0]), shapes)
