"""``fem.basins`` and ``fem basins``: a sweep over starts, the attractors in its table: do they rest, swing or turn?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import CommandError
from fem.model import Model
from fem.runs.console import as_note
from fem.study.attractors import Attractor, Basins, Settling, look_at
from fem.study.files import write_basins
from fem.study.points import make_grid
from fem.study.row import layout_of
from fem.study.sections import SAME
from fem.study.sweep import Plan, Sweep, carry_out, computed, make_plan, run_sweep

MOST = 100
"""The largest number of attractors."""
MOVED = 0.05
"""Fraction of the size of the model by which the section of an attractor may move between dt and dt/2."""


def basins(
    deck: str | Path,
    grid: Mapping[str, Iterable[float]],
    *,
    parameters: Mapping[str, float] | None = None,
    period: float | str | None = None,
    transient: int = 20,
    cycles: int = 200,
    tolerance: float = SAME,
    again: bool = True,
    output: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
) -> Basins:
    """The attractor that each initial state of the last step of a deck reaches.

    deck        path of the ``.inp``
    grid        name -> values; ``U1_2``: initial displacement 1 of node 2, ``V1_2``: its velocity; or a
                ``*PARAMETER`` of the deck
    parameters  other ``*PARAMETER`` values to override, the same for all initial states
    period      time between two points of a section, or the name of its ``*PARAMETER``; None: that of the deck's
                PERIODIC amplitude
    transient   periods before a section may count as settled; cycles: periods after which a motion is aperiodic
    tolerance   largest distance of points that count as the same, as a fraction of the size of the model
    again       repeat one initial state in twenty at dt/2; ``Basins.again`` has the results
    output, workers, scheduler, force  as for ``sweep``; an interrupted study in the same folder continues

    Runs that never settle count as one attractor, of period 0. A run that fails has a verdict in ``sweep``.

    Raises
    ------
    CommandError  as for ``sweep``; the increments do not divide the period; there are more than 100 attractors

    >>> found = basins("inputs/string_pendulum_rigid.inp", {"theta0": [0.5, 3.1]}, parameters={"A": 0.0, "beta": 1.0})
    >>> found.attractor.tolist(), found.attractors[0].kind
    ([1, 1], 'rest')
    """

    question_of = partial(
        settling_of, period=period, transient=transient, cycles=cycles, tolerance=tolerance, again=again
    )
    plan = make_plan(deck, make_grid(grid), parameters, False, question_of)
    own = plan.folder(output, force) if output else None
    with own or nullcontext():
        compute = partial(computed, plan, workers=workers, scheduler=scheduler)
        found = basins_in(carry_out(plan, own, compute, False), plan)
        if own:
            write_basins(found, own.path, plan.model)
    return found


def run_basins(options: Namespace) -> int:
    names = ("period", "transient", "cycles", "tolerance")
    settings = {name: getattr(options, name) for name in names} | {"again": options.error == "sample"}

    def draw(sweep: Sweep, folder: Path, plan: Plan) -> None:
        found = basins_in(sweep, plan)
        write_basins(found, folder, plan.model)
        if not options.quiet:
            print("\n".join([*map(str, found.attractors), f"           and {', '.join(plan.question.figures)}"]))
            if found.what_dt_does:
                print(as_note(found.what_dt_does))

    return run_sweep(options, partial(settling_of, **settings), draw)


def settling_of(
    model: Model, period: float | str | None, transient: int, cycles: int, tolerance: float, again: bool
) -> Settling:
    """The question. CommandError: no nodes are printed, or the numbers make no sense."""
    labels = layout_of(model).nodes
    if not labels:
        raise CommandError(
            "the deck prints no nodes: request *NODE PRINT of the nodes whose positions distinguish the attractors"
        )
    if not 1 <= transient <= cycles or not 0.0 < tolerance < 1.0:
        raise CommandError("basins need 1 <= transient <= cycles, and a tolerance between 0 and 1")
    return Settling(labels, period, transient, cycles, tolerance, again)


def basins_in(sweep: Sweep, plan: Plan) -> Basins:
    """The attractors in a table, the one of most starts first."""
    study = plan.question
    assert isinstance(study, Settling)
    points = np.column_stack([sweep[f"{name}_point"] for name in study.state]) / study.scale(plan.model)
    kind = grouped(np.where(sweep.failed, -1, sweep["period"]), points, 2.0 * study.tolerance)
    sizes = np.bincount(kind[kind >= 0])
    order = np.argsort(-sizes, kind="stable")
    number = np.zeros(len(kind), np.int64)
    attractors = []
    for place, old in enumerate(order, 1):
        members = np.flatnonzero(kind == old)
        number[members] = place
        model = plan.read({**plan.fixed, **plan.grid.point(int(members[0]))})
        row = {name: float(sweep[name][members[0]]) for name in study.columns()}
        attractors.append(look_at(study, model, row, place, len(members) / len(kind)))
    again = at_half(sweep, study, attractors, study.scale(plan.model), number)
    return Basins(sweep.parameters, number, np.asarray(sweep["period"]), tuple(attractors), again, sweep)


def at_half(sweep: Sweep, study: Settling, attractors: list[Attractor], scale: Floats, number: Ints) -> Ints:
    """(k,) number of the attractor on which each start ends at dt/2; 0: on none of these; -1: it did not run again.

    It is the nearest one of that period, no further than ``MOVED``: orbits themselves move a little with dt.
    """
    found = np.full(len(number), -1)
    if not study.again:
        return found
    points = np.column_stack([sweep[f"{name}_dt"] for name in study.state]) / scale
    for start in np.flatnonzero(np.isfinite(sweep["period_dt"])).tolist():
        period = sweep["period_dt"][start]
        apart = {
            of.number: 0.0 if period == 0 else float(np.abs(of.points / scale - points[start]).max(axis=1).min())
            for of in attractors
            if of.period == period
        }
        nearest = min(apart, key=lambda of: apart[of], default=0)
        found[start] = nearest if nearest and apart[nearest] <= MOVED else 0
    return found


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
        f"the starts end on more than {MOST} attractors: increase --transient, so that they settle, or --tolerance, so "
        "that points close to each other count as one (finished runs are kept)"
    )
