"""Prescribed motion of supports: displacement, velocity and acceleration, all three consistent and exact.

Every supported dof belongs to a group with one curve c(t); with its own base, rate and value
    DISPLACEMENT  u = base + value c(t)
    VELOCITY      u = base + value int c,              v = value c
    ACCELERATION  u = base + rate (t - t0) + value iint c,  v = rate + value int c,  a = value c
and the derivatives of these. Rules from step to step as for loads (``assembly/cases.py``). Nodes that are pinned to a
rigid body follow its six dofs (``assembly/bodies.py``); the three rotations are stored after the dofs of all nodes.
Rotations of a free body are held by components of its axes, three nodes that rotate with it (``model/free_bodies.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints, copy_of
from fem.assembly.bodies import Body
from fem.assembly.cases import Span, carried, follow
from fem.assembly.system import System
from fem.errors import ModelError
from fem.model import Boundary, Model, Step
from fem.model.curves import SHORT, Constant, Curve, Ramp, derivatives, evaluate, rows_at
from fem.model.free_bodies import components_that_hold

FREE, IMPLICIT, PINNED = -1, 0, 1
"""Groups of free dofs, of dofs that are fixed because no element moves them, and, in models with rigid bodies, of those
that follow one."""
KINDS = {"DISPLACEMENT": 0, "VELOCITY": 1, "ACCELERATION": 2, "FIXED": 0}
FEW = 6
"""Up to this number of dofs, at few times, Python floats are faster than arrays."""
MOST_TURNED = 0.75
"""Largest displacement of a body's vector, over its length (44 degrees), for which components can hold a rotation."""


@dataclass(frozen=True, slots=True)
class Supports:
    """Prescribed dofs of a step: of n nodes, and three rotations of each of b rigid bodies.

    group (3n + 3b,)         index into ``groups``, -1 for free dofs
    base, rate, value (3n + 3b,)  of each supported dof
    groups                   (order of the given quantity: 0 u, 1 v, 2 a; its curve)
    start                    time from which velocities are integrated
    at_sea                   waves move vessels (dynamic steps);  sea_from: total time at which their ramps begin
    """

    group: Ints
    base: Floats
    rate: Floats
    value: Floats
    groups: tuple[tuple[int, Curve], ...]
    start: float
    bodies: tuple[Body, ...] = ()
    at_sea: bool = False
    sea_from: float = math.inf
    _places: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)
    _numbers: dict[int, tuple[int, int, Curve, float, float, float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def size(self) -> int:
        """Number of dofs, 3n."""
        return len(self.group) - 3 * len(self.bodies)

    @property
    def supported(self) -> Flags:
        """(3n,) dofs whose motion is prescribed."""
        return self._held[0]

    @property
    def places(self) -> Floats:
        """(3n,) constant prescribed displacements; NaN for dofs that move or are free."""
        return self._held[1]

    @property
    def _held(self) -> tuple[Flags, Floats]:
        """Both of these."""
        if not self._places:
            places = [c.value if order == 0 and isinstance(c, Constant) else np.nan for order, c in self.groups]
            found = (self.base + self.value * np.array(places or [np.nan])[self.group])[: self.size]
            supported = np.asarray(self.group[: self.size] != FREE)
            found.flags.writeable = supported.flags.writeable = False
            self._places.append((supported, found))
        held: tuple[Flags, Floats] = self._places[0]
        return held

    def moving(self, u: Floats) -> Ints:
        """Dofs whose prescribed displacement varies, or differs from u."""
        supported, places = self._held
        moves = u != places
        for body in self.bodies:
            moves[body.dofs] = True
            if self.at_sea and len(body.ramps):
                moves[body.driven[:3]] = True
        moving: Ints = (supported & moves).nonzero()[0]
        return moving

    def motion(self, dofs: Ints, time: Floats, after: bool = False) -> tuple[Floats, Floats, Floats]:
        """u, v, a (k, c) of given supported dofs at given times; ``after``: right-hand derivatives."""
        u, v, a = self._motion(dofs, time, after, (0, 1, 2))
        return u, v, a

    def velocity_after(self, dofs: Ints, time: Floats) -> Floats:
        """v (k, c) of given supported dofs just after the times, equal to the one of ``motion``."""
        v: Floats = self._motion(dofs, time, True, (0, 1) if self.bodies else (1,))[-1]
        return v

    def _motion(self, dofs: Ints, time: Floats, after: bool, levels: tuple[int, ...]) -> Floats:
        """(level, k, c) u, v, a of given supported dofs."""
        if not self.bodies:
            return self.prescribed(dofs, time, after, levels)
        count, place = len(dofs), np.full(len(self.group), -1, np.int64)
        place[dofs] = np.arange(count)
        # motions of reference nodes are computed together with those of the dofs
        found = self.prescribed(np.concatenate([dofs, *(body.driven for body in self.bodies)]), time, after, levels)
        moved, ways = found[:, :, :count].copy(), np.zeros((3, len(time), 6))
        for number, body in enumerate(self.bodies):
            first = count + 6 * number
            ways[: len(levels)] = found[:, :, first : first + 6]
            ways[len(levels) :] = 0.0
            pinned = body.moved(ways, time, after, self.at_sea, self.sea_from)
            for own, its in ((body.driven, ways), (body.dofs, pinned)):
                at = place[own]
                if (asked := at >= 0).all():
                    moved[:, :, at] = its[: len(levels)]
                else:
                    moved[:, :, at[asked]] = its[: len(levels), :, asked.nonzero()[0]]
        return moved

    def prescribed(self, dofs: Ints, time: Floats, after: bool = False, levels: tuple[int, ...] = (0, 1, 2)) -> Floats:
        """(level, k, c) motion of dofs from ``*BOUNDARY`` alone, without rigid bodies and waves."""
        if len(time) <= SHORT and len(dofs) <= FEW:
            return self._of_few(dofs.tolist(), time, after, levels)
        group, count = self.group[dofs], len(levels)
        curves, counts = np.zeros((count, len(time), len(self.groups))), np.zeros(len(self.groups))
        for k in set(group.tolist()):
            order, curve = self.groups[k]
            counts[k] = order == 2
            if order > levels[0]:
                curves[:, :, k] = [evaluate(curve, time, level - order, after, self.start) for level in levels]
            elif not isinstance(curve, Constant):
                curves[:, :, k] = derivatives(curve, time, [level - order for level in levels], after)
            elif levels[0] == order:
                curves[0, :, k] = curve.value
        found: Floats = curves.take(group, axis=2)
        found *= self.value[dofs]
        rate = self.rate[dofs] * counts[group]
        for place, level in enumerate(levels):
            if level == 0:
                found[place] += self.base[dofs] + rate * (time - self.start)[:, None]
            elif level == 1:
                found[place] += rate
        return found

    def _of_few(self, dofs: list[int], time: Floats, after: bool, levels: tuple[int, ...]) -> Floats:
        """``prescribed`` of few dofs at few times, with Python floats; the result is identical to the last bit."""
        columns: dict[int, Sequence[Sequence[float]]] = {}
        found: list[float] = []
        first, times = levels[0], time.tolist()
        own = [self._numbers.get(dof) or self._of_one(dof) for dof in dofs]
        for k, order, curve, _, _, _ in own:
            if k not in columns:
                if order > first:
                    of = [evaluate(curve, time, each - order, after, self.start).tolist() for each in levels]
                    columns[k] = list(zip(*of, strict=True))
                elif isinstance(curve, Constant):
                    columns[k] = [[curve.value if each == order else 0.0 for each in levels]] * len(times)
                else:
                    columns[k] = rows_at(curve, times, [each - order for each in levels], after)
        for place, level in enumerate(levels):
            for row, now in enumerate(times):
                for k, _, _, base, value, rate in own:
                    each = columns[k][row][place] * value
                    if level == 0:
                        each += base + rate * (now - self.start)
                    found.append(each + rate if level == 1 else each)
        return np.array(found).reshape(len(levels), len(times), len(dofs))

    def _of_one(self, dof: int) -> tuple[int, int, Curve, float, float, float]:
        """Group of a dof, the order of what is given there, its curve, and the dof's base, value and rate."""
        k = self.group.item(dof)
        order, curve = self.groups[k]
        rate = self.rate.item(dof) * (order == 2)
        found = self._numbers[dof] = k, order, curve, self.base.item(dof), self.value.item(dof), rate
        return found

    def with_rotations(self, u: Floats, v: Floats, time: float) -> tuple[Floats, Floats]:
        """u and v (3n + 3b,): those of the nodes (3n,), then the rotations of the bodies at a time, without waves."""
        if not self.bodies:
            return u, v
        u, v = (np.concatenate([each, np.zeros(len(self.group) - self.size)]) for each in (u, v))
        for body in self.bodies:
            led = body.driven if self.at_sea and len(body.ramps) else body.driven[3:]
            place, rates, _ = self.prescribed(led, np.array([time]))
            u[led], v[led] = place[0], rates[0]
        return u, v


def jumps(supports: Sequence[Supports], u: Floats, time: float, size: float) -> Flags:
    """(k, 3n) dofs whose prescribed place just after a time differs from u (k, 3n), in k models with equal supported
    dofs. size: of the models, the scale of rounding errors"""
    of_value, of_rate = [], []
    for number, one in enumerate(supports):
        if number == 0 or one.groups != supports[number - 1].groups:
            factors = [evaluate(c, np.array([time]), -order, True, one.start)[0] for order, c in one.groups]
            rates = [(time - one.start) if order == 2 else 0.0 for order, _ in one.groups]
        of_value.append(factors)
        of_rate.append(rates)
    group = supports[0].group
    base, rate, value = (np.array([getattr(one, name) for one in supports]) for name in ("base", "rate", "value"))
    place = base + value * np.array(of_value)[:, group] + rate * np.array(of_rate)[:, group]
    for one, its in zip(supports, place, strict=True):
        for body in one.bodies:
            its[body.dofs] = one.motion(body.dofs, np.array([time]), after=True)[0][0]
    place = place[:, : supports[0].size]
    return np.asarray(supports[0].supported & (np.abs(place - u) > 1e-12 * max(1.0, size)))


def no_supports(system: System) -> Supports:
    """Only the dofs fixed by the element types: T2D2 nodes in z, and nodes without any element."""
    size, rotations = system.size, 3 * len(system.bodies)
    group = np.full(size + rotations, FREE, np.int64)
    held = np.zeros(size, np.bool_)
    held[2::3] = system.planar
    held |= np.repeat(system.idle, 3)
    if system.twists is not None:  # the spins of clamps, and all but the first component of each
        spins = held[3 * system.shown :].reshape(-1, 3)
        spins[:, 1:] = True
        spins[system.twists.node >= 0, 0] = True
    group[:size][held] = group[size:] = IMPLICIT
    for body in system.bodies:
        group[body.driven], group[body.dofs] = IMPLICIT, PINNED
    zero = np.zeros(len(group))
    groups = ((0, Constant(0.0)), (0, Constant(1.0)))
    return Supports(group, zero, zero, zero, groups if system.bodies else groups[:1], 0.0, system.bodies)


def advance_supports(system: System, before: Supports, step: Step, span: Span, u: Floats, v: Floats) -> Supports:
    """Supports of a step: those carried over, removed by OP=NEW, and the step's own."""
    u, v = before.with_rotations(u, v, span.start)
    if "BOUNDARY" in step.replaced:
        before = no_supports(system)
    base, rate = copy_of(before.base), copy_of(before.rate)
    groups: list[tuple[int, Curve]] = []
    for k, (order, curve) in enumerate(before.groups):
        dofs = np.flatnonzero(before.group == k)
        if order > 0:
            base[dofs], rate[dofs] = u[dofs], v[dofs]
        groups.append((order, carried(curve, span)))
    at_sea = bool(step.dynamic)
    old = Supports(before.group, base, rate, before.value, tuple(groups), span.start, before.bodies, at_sea)
    return _apply(system, old, (*step.boundaries, *step.rotations), span, u, v)


def initial_supports(system: System, model: Model, u: Floats) -> Supports:
    """Supports given before the first step; all zero-valued, so no time enters."""
    nothing = no_supports(system)
    u, v = nothing.with_rotations(u, np.zeros_like(u), 0.0)
    references = {*(body.node for body in model.bodies), *(body.axes for body in model.free_bodies)}
    turned = (each for each in model.rotations if each.target in references)  # the other rotations clamp lines
    boundaries = (*model.boundaries, *turned)
    return _apply(system, nothing, boundaries, Span(0.0, 1.0, ramps=False), u, v)


def support_columns(
    system: System, supports: Supports, step: Step, columns: Mapping[int, Floats]
) -> list[Supports] | None:
    """Supports of a model's first step for values (k,) of its boundary conditions, by their numbers. None where the
    values enter otherwise than times a curve or as a place: rotations, ramps, or two conditions for one dof."""
    if system.bodies or step.ramps:
        return None
    count = len(next(iter(columns.values())))
    parts = {name: np.repeat(getattr(supports, name)[None], count, axis=0) for name in ("base", "value")}
    told = np.zeros(len(supports.group), np.bool_)
    for number, boundary in enumerate(step.boundaries):
        dofs = dofs_of(system, boundary)
        if number in columns:
            if boundary.dof > 3 or boundary.kind == "FIXED":
                return None
            is_place = boundary.kind == "DISPLACEMENT" and boundary.amplitude is None
            parts["base" if is_place else "value"][:, dofs] = columns[number][:, None]
        elif told[dofs].any():
            return None
        told[dofs] |= number in columns
    return [replace(supports, base=base, value=value) for base, value in zip(*parts.values(), strict=True)]


def hold_idle(system: System, supports: Supports, u: Floats) -> Supports:
    """The supports, with nodes that have lost all their elements fixed at u; their loads go into the reactions."""
    (dofs,) = np.nonzero(np.repeat(system.idle, 3) & (supports.group[: supports.size] <= IMPLICIT))
    dofs = dofs[np.isin(dofs // 3, system.model.mesh.legs[0])]
    if not len(dofs):
        return supports
    group, base, rate, value = (getattr(supports, name).copy() for name in ("group", "base", "rate", "value"))
    group[dofs], base[dofs], rate[dofs], value[dofs] = len(supports.groups), u[dofs], 0.0, 0.0
    groups = (*supports.groups, (0, Constant(0.0)))
    return replace(supports, group=group, base=base, rate=rate, value=value, groups=groups)


def dofs_of(system: System, boundary: Boundary) -> Ints:
    """Dofs that a boundary condition prescribes: of nodes, a rotation of the rigid body with this reference node, or
    the spins of lines that are clamped at this node."""
    first = 3 * system.nodes_of(boundary.target)
    if boundary.dof <= 3:
        return first + boundary.dof - 1
    if len(spins := spins_at(system, boundary)):
        return 3 * (system.shown + spins)
    (body,) = (each for each in system.bodies if each.driven[0] == first[0])
    return body.driven[[boundary.dof - 1]]


def spins_at(system: System, boundary: Boundary) -> Ints:
    """Spins of clamps at the node of a boundary condition."""
    if system.twists is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.isin(system.twists.node, system.nodes_of(boundary.target)))


def value_of(system: System, boundary: Boundary) -> Floats | float:
    """The value of a boundary condition in the unit of its dofs: spins are lengths, along their bars."""
    if boundary.dof <= 3 or not len(spins := spins_at(system, boundary)):
        return boundary.value
    assert system.twists is not None
    first, second = system.element_nodes[system.twists.bars[spins]].T
    way = np.sign(system.coordinates[second] - system.coordinates[first])[:, boundary.dof - 4]
    return np.asarray(boundary.value * way * system.twists.radius[spins])


def hold_axes(system: System, axes: str, node: int, entries: list[Boundary], u: Floats) -> Iterator[Boundary]:
    """Supports of the axes of a free body some of whose rotations are held: at the present value (FIXED), or at zero.
    node  its reference node;  u (3n,).  ModelError: rotations to be held at zero are large"""
    nodes, place = system.nodes_of(axes), system.coordinates
    vectors, moved = place[nodes] - place[system.nodes_of(node)], u[: system.size].reshape(-1, 3)[nodes]
    rotations = [each.dof - 4 for each in entries]
    free = [axis for axis in range(3) if axis not in rotations]  # axes about which any rotation is allowed
    if entries[0].kind == "FIXED":
        vectors = vectors + moved
    elif np.abs(moved[:, free or [0, 1, 2]]).max() > MOST_TURNED * np.abs(vectors).max():
        what = f"the rigid body of node {node} has turned by more than 40 degrees, which no step takes back: "
        raise ModelError(what + "*BOUNDARY, FIXED holds its rotations as they are")
    for k, axis in components_that_hold(vectors, rotations):
        yield replace(entries[0], target=int(system.model.mesh.node_labels[nodes[k]]), dof=axis + 1)


def _apply(
    system: System, supports: Supports, boundaries: tuple[Boundary, ...], span: Span, u: Floats, v: Floats
) -> Supports:
    if not boundaries:
        return replace(supports, start=span.start)
    group = supports.group.copy()
    for body in system.model.free_bodies:
        turned = [each for each in boundaries if each.target == body.axes]
        if body.axes and turned:
            group[3 * system.nodes_of(body.axes)[:, None] + np.arange(3)] = FREE
            held = hold_axes(system, body.axes, body.node, turned, u)
            boundaries = (*(each for each in boundaries if each.target != body.axes), *held)
    base, rate, value = map(copy_of, (supports.base, supports.rate, supports.value))
    groups = list(supports.groups)
    # Like a dof of the IMPLICIT group, except that loads on it are allowed: they go into its reaction.
    known, of = {pair: k for k, pair in enumerate(groups) if k != IMPLICIT}, dict[tuple[str, str | None], int]()
    for boundary in boundaries:
        dofs, order, given = dofs_of(system, boundary), KINDS[boundary.kind], value_of(system, boundary)
        if boundary.amplitude is not None:
            base[dofs], rate[dofs], value[dofs] = (0.0 if order == 0 else u[dofs]), v[dofs], given
        elif boundary.kind == "FIXED":
            base[dofs], value[dofs] = u[dofs], 0.0
        elif order == 0 and span.ramps:
            base[dofs], value[dofs] = u[dofs], given - u[dofs]
        elif order == 0:
            base[dofs], value[dofs] = given, 0.0
        else:
            base[dofs], rate[dofs], value[dofs] = u[dofs], v[dofs], given
        if (boundary.kind, boundary.amplitude) not in of:
            pair = order, curve_of(system, boundary, span)
            if pair not in known:
                known[pair] = len(groups)
                groups.append(pair)
            of[boundary.kind, boundary.amplitude] = known[pair]
        group[dofs] = of[boundary.kind, boundary.amplitude]
    return replace(supports, group=group, base=base, rate=rate, value=value, groups=tuple(groups), start=span.start)


def curve_of(system: System, boundary: Boundary, span: Span) -> Curve:
    """What a boundary condition follows in its step, apart from its place and its value."""
    if boundary.amplitude is not None:
        return follow(system.model, boundary.amplitude, span)
    if boundary.kind == "FIXED" or (KINDS[boundary.kind] == 0 and not span.ramps):
        return Constant(0.0)
    return Ramp(span.start, span.end, 0.0, 1.0) if KINDS[boundary.kind] == 0 else span.rise(0.0, 1.0)
