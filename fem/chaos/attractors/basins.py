"""``fem.basins`` and ``fem basins``: a sweep over starts, and the attractors found in its table."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np

from fem.arrays import Floats, Ints
from fem.chaos.attractors.files import write_basins
from fem.chaos.attractors.orbits import Basins, look_at
from fem.chaos.attractors.settling import Settling
from fem.chaos.sections import SAME
from fem.errors import CommandError
from fem.model import Model
from fem.sweeping.grid import make_grid
from fem.sweeping.row import layout_of
from fem.sweeping.sweep import Plan, Sweep, carry_out, computed, make_plan, sweep_as_asked
from fem.sweeping.table import sweep_folder

MOST = 100
"""Attractors that are told from each other."""


def basins(
    deck: str | Path,
    grid: Mapping[str, Iterable[float]],
    *,
    parameters: Mapping[str, float] | None = None,
    period: float | str | None = None,
    transient: int = 20,
    cycles: int = 200,
    tolerance: float = SAME,
    output: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
) -> Basins:
    """Which attractor each start of the last step of a deck ends on.

    deck        path of the ``.inp``
    grid        name -> values; ``U1_2``: start displacement 1 of node 2, ``V1_2``: start velocity, else a
                ``*PARAMETER`` of the deck
    parameters  other ``*PARAMETER`` values to override, the same for all starts
    period      time between two points of a section, or the ``*PARAMETER`` that has it; None: that of the deck's
                PERIODIC amplitude
    transient   periods before which no section has settled; cycles: periods after which a start is aperiodic
    tolerance   distance of points that are the same, as a fraction of the size of the model
    output, workers, scheduler, force  as of ``sweep``: the same basins in the same folder go on where they stopped

    Runs that never settle are one attractor, of period 0. A run that fails has a verdict in ``sweep``.

    Raises
    ------
    CommandError  as ``sweep``; the increments do not divide the period; there are more than 100 attractors

    >>> found = basins("inputs/string_pendulum_rigid.inp", {"theta0": [0.5, 3.1]}, parameters={"A": 0.0, "beta": 1.0})
    >>> found.attractor.tolist(), found.attractors[0].kind
    ([1, 1], 'rest')
    """

    def ask(model: Model) -> Settling:
        return settling_of(model, period, transient, cycles, tolerance)

    plan = make_plan(deck, make_grid(grid), parameters, False, ask)
    layout = plan.layout
    own = output and sweep_folder(output, plan.model, plan.identity, layout.kind, layout.figures, force)
    with own or nullcontext():
        compute = partial(computed, plan, workers=workers, scheduler=scheduler)
        found = basins_in(carry_out(plan, own or None, compute, False), plan)
        if own:
            write_basins(found, own.path, plan.model)
    return found


def basins_as_asked(options: Namespace) -> int:
    """``fem basins``."""

    def ask(model: Model) -> Settling:
        return settling_of(model, options.period, options.transient, options.cycles, options.tolerance)

    def draw(sweep: Sweep, folder: Path, plan: Plan) -> None:
        found = basins_in(sweep, plan)
        write_basins(found, folder, plan.model)
        if not options.quiet:
            print("\n".join([*map(str, found.attractors), f"           and {', '.join(plan.layout.figures)}"]))

    return sweep_as_asked(options, ask, draw)


def settling_of(model: Model, period: float | str | None, transient: int, cycles: int, tolerance: float) -> Settling:
    """The question. CommandError: no nodes are printed, or the numbers make no sense."""
    labels = layout_of(model).nodes
    if not labels:
        raise CommandError("the deck prints no nodes: *NODE PRINT says whose positions tell attractors apart")
    if not 1 <= transient <= cycles or not 0.0 < tolerance < 1.0:
        raise CommandError("basins need 1 <= transient <= cycles, and a tolerance between 0 and 1")
    return Settling(labels, period, transient, cycles, tolerance)


def basins_in(sweep: Sweep, plan: Plan) -> Basins:
    """The attractors in a table, the one of most starts first."""
    asked = plan.layout
    assert isinstance(asked, Settling)
    points = np.column_stack([sweep[f"{name}_point"] for name in asked.state]) / asked.scale(plan.model)
    kind = grouped(np.where(sweep.failed, -1, sweep["period"]), points, 2.0 * asked.tolerance)
    sizes = np.bincount(kind[kind >= 0])
    order = np.argsort(-sizes, kind="stable")
    number = np.zeros(len(kind), np.int64)
    attractors = []
    for place, old in enumerate(order, 1):
        members = np.flatnonzero(kind == old)
        number[members] = place
        model = plan.read({**plan.fixed, **plan.grid.point(int(members[0]))})
        row = {name: float(sweep[name][members[0]]) for name in asked.columns()}
        attractors.append(look_at(asked, model, row, place, len(members) / len(kind)))
    return Basins(sweep.parameters, number, np.asarray(sweep["period"]), tuple(attractors), sweep)


def grouped(period: Ints, points: Floats, near: float) -> Ints:
    """(k,) attractors from 0 on, -1 where a run failed: equal periods and points (k, c) that are near each other."""
    kind = np.full(len(period), -1)
    for number in range(MOST):
        left = np.flatnonzero((kind < 0) & (period >= 0))
        if not len(left):
            return kind
        first = left[0]
        alike = (period[left] == 0) | (np.abs(points[left] - points[first]).max(axis=1) <= near)
        kind[left[alike & (period[left] == period[first])]] = number
    if not np.any((kind < 0) & (period >= 0)):
        return kind
    raise CommandError(
        f"the starts end on more than {MOST} attractors: more --transient lets them settle, a larger --tolerance "
        "takes what is near for the same (the finished runs are kept)"
    )
