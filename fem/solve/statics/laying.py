"""Statics of lines for which Newton's method does not converge: it is restarted from the state of least energy.

Cables with dead loads above planes have one equilibrium without friction (``lines/network.py``), which is found from
any start. Forces of streams, water and springs are applied as loads at the positions found last, and the iteration is
repeated until both agree; so are forces on planes with static friction, and the friction limits that depend on them. If
such a load changes, its node is tied to its last position by a spring with the largest slope found: this does not
change the fixed point, and shortens the steps. Bending and compressive stiffness are ignored: the result is only the
initial guess of the march; if the march fails from there, it starts from a closer one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.equations import reduction
from fem.forces import bar, seabed
from fem.forces.added_mass import ADDED_MASS
from fem.forces.bending import BENDING, BENDING_DAMPING
from fem.forces.families import FAMILIES, acting
from fem.forces.fluid import FLUID
from fem.forces.laws import BILINEAR, ENGINEERING, GREEN, LOG, RIGID
from fem.lines.hanging import Line, LineError
from fem.lines.network import Network, Rubs, relax
from fem.solve.newton.evaluate import evaluate_instant
from fem.solve.newton.groups import Loading, Motion
from fem.solve.step_system import StepSystem

PASSES = 60
"""Largest number of iterations for loads that depend on positions: streams, water, forces on planes with friction."""
NO_ROPE = np.zeros(0, np.int64)
AGREED = (1e-2, 1e-3, 1e-4, 1e-6)
"""Changes of these loads, over the largest load, at which the march is tried, in turn."""
SHORT = 1e-2
"""Displacement over the length of a bar below which no slope of forces is computed."""
APART = (seabed.SEABED, BENDING, BENDING_DAMPING)
"""Families that are not loads: planes are part of the network, and cables have no bending stiffness."""
DEPTH_OF_MIXING = 5
"""Number of iterations from which the next one is extrapolated."""
SHORTEST = 1e-3
"""Least length of a bar without tension, over its length."""
FAINT = 1e-6
"""Friction below this fraction of the largest load is ignored."""
LAID = (
    "Newton's method did not converge from the initial state; it was restarted from the equilibrium of the cables, "
    "which is found from any state (with friction, from where they lay before the increment)"
)


def may_be_laid(stage: StepSystem, ropes: Ints = NO_ROPE) -> bool:
    """Whether the model has only cables, lines that the reader laid, linear springs between dofs, fluid and planes, and
    these ropes. Their bending and compressive stiffness is left to the march."""
    bars, system = stage.bars, stage.system
    strain, law = bars.kinds.T
    is_rope: Flags = np.isin(np.arange(len(law)), ropes)
    constants, there = bars.constants, _standing(stage)
    elastic = there & ~is_rope
    others = any(family not in (*APART, FLUID, ADDED_MASS) for family, _ in acting(system.families))
    beds = [own for family, own in acting(system.families) if family is seabed.SEABED]
    return bool(
        not stage.is_dynamic
        and len(bars.nodes)
        and ((law == BILINEAR) | is_rope).all()
        and ((strain == GREEN) | (strain == ENGINEERING) | (strain == LOG)).all()
        and not others
        and (system.springs.constants[:, 0] >= 0.0).all()
        and not system.springs.constants[:, 3].any()
        and (constants[bar.YOUNG] * constants[bar.PLUS] > 0.0)[elastic].all()
        and ((constants[bar.MINUS] == 0.0) | _hanging(stage))[there].all()
        and not any(own.numbers[:, seabed.RADIUS].any() for own in beds)
    )


def laid(stage: StepSystem, motion: Motion, chunk: Loading, increment: int) -> Iterator[Floats]:
    """(3n,) approximate equilibrium displacements of cables at the end of an increment, each closer than the last;
    none if there is no convergence."""
    place, work, lying = stage.nodes.place, stage.work, _lying(stage)
    u = motion.u.copy()
    if len(chunk.support_dofs):
        u[chunk.support_dofs] = chunk.support_u[increment]
    dead = np.asarray(chunk.factors[increment + 1] @ chunk.vectors).reshape(-1, 3)
    time, thermal = float(chunk.time[increment + 1]), chunk.thermal_end[min(increment + 1, len(chunk.thermal_end) - 1)]
    enough, short = float(np.abs(dead).max()), SHORT * float(stage.system.length0.mean())
    work.u[:] = u
    now = force = _pushed(stage, motion, time, thermal)
    limit, clings = np.zeros(len(lying.nodes)), np.zeros(len(force))
    tried: list[tuple[Floats, Floats]] = []
    wanted, is_new = list(AGREED), False
    for _ in range(PASSES):
        net = _network(stage, lying, u, dead + force, thermal)._replace(clings=clings)
        try:
            rest = relax(net._replace(rubs=_rubs(stage, lying, motion, net, limit, FAINT * enough)))
        except LineError:
            break
        way, u, is_new = rest.places - net.places, rest.places.ravel() - place, True
        work.u[:] = u
        assumed, before, drawn = force - clings[:, None] * way, now, clings[:, None] * u.reshape(-1, 3)
        now, rubbing = _pushed(stage, motion, time, thermal), _friction(stage, lying, motion, u) * rest.push
        off = max(np.abs(now - assumed).max(), np.abs(rubbing - limit).max(initial=0.0)) / enough
        if off <= wanted[0]:
            yield u
            wanted, is_new = [least for least in wanted if least < off], False
            if not wanted:
                return
        change = np.sqrt(((now - before) ** 2).sum(axis=1))
        steep = np.where(change > AGREED[0] * enough, change / np.maximum(np.sqrt((way**2).sum(axis=1)), short), 0.0)
        if (steep > clings).any():
            clings, tried, force, limit = np.maximum(clings, steep), [], now, rubbing
        else:
            given, got = (np.concatenate([(f + drawn).ravel(), r]) for f, r in ((assumed, limit), (now, rubbing)))
            tried.append((given, got))
            follow = _mixed(tried[-DEPTH_OF_MIXING:])
            force, limit = follow[: len(u)].reshape(-1, 3) - drawn, follow[len(u) :]
    if is_new:
        yield u


def _mixed(tried: list[tuple[Floats, Floats]]) -> Floats:
    """Next argument of the fixed-point iteration x = g(x), from pairs (x, g(x)): Anderson, J. ACM 12 (1965) 547."""
    given, got = (np.array(each) for each in zip(*tried, strict=True))
    off = got - given
    weights = np.linalg.lstsq(np.diff(off, axis=0).T, off[-1], rcond=1e-6)[0]
    return np.asarray(got[-1] - weights @ np.diff(got, axis=0))


class Lying(NamedTuple):
    """The c contacts of a network: nodes (c,), their neighbours on the line (c, 2), numbers (c, NUMBERS).
    anchors (c, 3)  indices of the states that are the displacements without friction"""

    nodes: Ints
    chord: Ints
    numbers: Floats
    anchors: Ints


def _lying(stage: StepSystem) -> Lying:
    """The contacts of a stage, possibly none."""
    for family, own in acting(stage.system.families):
        if family is seabed.SEABED:
            (lies,) = np.nonzero(own.numbers[:, seabed.STIFFNESS] > 0.0)
            anchors = (own.first + seabed.REMEMBERED * lies)[:, None] + np.arange(3)
            return Lying(own.nodes[lies], own.chord[lies], own.numbers[lies], anchors)
    nobody, chord, anchors = (np.zeros(shape, np.int64) for shape in (0, (0, 2), (0, 3)))
    return Lying(nobody, chord, np.zeros((0, seabed.NUMBERS)), anchors)


def _friction(stage: StepSystem, lying: Lying, motion: Motion, u: Floats) -> Floats:
    """(c,) static coefficients of friction of the contacts in the direction from their anchors to u."""
    numbers = lying.numbers
    way = _along(u.reshape(-1, 3)[lying.nodes] - motion.state[lying.anchors], numbers[:, seabed.NORMAL : seabed.RADIUS])
    chord = (stage.nodes.place + u).reshape(-1, 3)[lying.chord]
    chord = _along(chord[:, 1] - chord[:, 0], numbers[:, seabed.NORMAL : seabed.RADIUS])
    size = (way * way).sum(axis=1) * (chord * chord).sum(axis=1)
    square = np.divide((way * chord).sum(axis=1) ** 2, size, out=np.zeros_like(size), where=size > 0.0)
    mu = np.sqrt(numbers[:, seabed.AXIAL] ** 2 * square + numbers[:, seabed.LATERAL] ** 2 * (1.0 - square))
    return np.asarray(np.where((numbers[:, seabed.RUBS_IN_STATICS] != 0.0) & (numbers[:, seabed.SLIP] > 0.0), mu, 0.0))


def _along(way: Floats, normal: Floats) -> Floats:
    """(c, 3) components parallel to the planes."""
    return np.asarray(way - (way * normal).sum(axis=1)[:, None] * normal)


def _rubs(stage: StepSystem, lying: Lying, motion: Motion, net: Network, limit: Floats, least: float) -> Rubs:
    """Contacts whose friction is limited; (0,) limits: none."""
    (those,) = np.nonzero(limit > least)
    if len(those) == 0:
        return net.rubs
    nodes, normal = net.touching[those], net.normal[those]
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin(axis=1)])
    first /= np.sqrt((first * first).sum(axis=1))[:, None]
    along = np.stack([first, np.cross(normal, first), np.zeros_like(first)], axis=1)
    anchor = stage.nodes.place.reshape(-1, 3)[nodes] + motion.state[lying.anchors[those]]
    return Rubs(nodes, along, anchor, limit[those], lying.numbers[those, seabed.SLIP])


def _hanging(stage: StepSystem) -> Flags:
    """(m,) bars of lines that the reader laid."""
    model = stage.system.model
    labels = np.concatenate([np.zeros(0, np.int64), *(line.labels for line in model.laid)])
    return np.asarray(np.isin(model.mesh.node_labels, labels)[stage.bars.nodes].all(axis=1))


def _standing(stage: StepSystem) -> Flags:
    """(m,) whether bars exist (are not removed)."""
    return np.asarray(stage.bars.constants[bar.AREA] > 0.0)


def _pushed(stage: StepSystem, motion: Motion, time: float, thermal: Floats) -> Floats:
    """(n, 3) force of streams, water and springs at the trial displacement."""
    owns = stage.system.families
    apart = owns and tuple(
        own._replace(nodes=own.nodes[:0]) if family in APART else own
        for family, own in zip(FAMILIES, owns, strict=True)
    )
    constants, kinds = stage.bars.constants.copy(), stage.bars.kinds.copy()
    constants[bar.AREA], kinds[:, 1] = 0.0, BILINEAR
    blocks = bar.blocks_of(kinds, constants)
    bars = stage.bars._replace(constants=constants, kinds=kinds, blocks=blocks, rods=stage.bars.rods[:0])
    evaluate_instant(
        stage.coefficients, 1.0, time, thermal, stage.problem._replace(bars=bars, families=apart), motion, stage.work
    )
    return np.asarray(-stage.work.force.reshape(-1, 3))


def _network(stage: StepSystem, lying: Lying, u: Floats, load: Floats, thermal: Floats) -> Network:
    """The model as a network, at the displacement of its supports. Bars have the lengths at which thermal strain and
    initial stress leave them without tension: exact for small strains, and for STRAIN=ENGINEERING."""
    places = (stage.nodes.place + u).reshape(-1, 3)
    held = (stage.nodes.dof_kind == 0).reshape(-1, 3).all(axis=1)
    there = _standing(stage) & ~held[stage.bars.nodes].all(axis=1)
    constants = stage.bars.constants[:, there]
    strain, law = stage.bars.kinds[there].T
    young = np.where(law == RIGID, np.inf, constants[bar.YOUNG])
    stiffness = young * constants[bar.AREA]
    part = np.maximum(1.0 - constants[bar.STRESS0] / young + thermal[there], SHORTEST)
    members = Line(part / constants[bar.INV_LENGTH], part * stiffness, np.zeros(0), strain == GREEN, strain == LOG)
    normal, ground = lying.numbers[:, seabed.NORMAL : seabed.RADIUS], lying.numbers[:, seabed.STIFFNESS]
    depth = lying.numbers[:, seabed.DEPTH] - (normal * u.reshape(-1, 3)[lying.nodes]).sum(axis=1)
    freedom = reduction(stage.nodes.dof_kind, stage.equations)
    return Network(places, load, stage.bars.nodes[there], members, lying.nodes, normal, depth, ground, freedom)
