"""Statics of lines that Newton's method does not find by itself: it begins anew from the state of least energy.

Cables with dead loads above planes have one equilibrium without friction (``lines/network.py``), which is
found from any start. What a stream or water does to them is taken as a load at the place that was found last, until
both agree. Friction, and all the rest, is left to the march: what is laid is where it begins, not its answer.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.assembly.constraints import reduction
from fem.forces.bars import bar
from fem.forces.bars.laws import BILINEAR
from fem.forces.bars.strain import ENGINEERING, GREEN, LOG
from fem.forces.families import FAMILIES, acting
from fem.forces.fluid.group import FLUID
from fem.forces.fluid.inertia import ADDED_MASS
from fem.forces.seabed import SEABED
from fem.forces.surfaces import DEPTH, NORMAL, RADIUS, STIFFNESS, Contacts
from fem.lines.line import Line, LineError
from fem.lines.network import Network, relax
from fem.solve.newton.evaluate import evaluate_instant
from fem.solve.newton.groups import Loading, Motion
from fem.solve.step_system import StepSystem

PASSES = 12
"""Of what follows from where the line is: streams, water."""
AGREED = 1e-2
"""Part of all loads by which these may still change at the end."""
LAID = (
    "Newton's method did not get there from the state it began in; it went on from the equilibrium of the cables "
    "without friction, which is found from any start"
)


def may_be_laid(stage: StepSystem) -> bool:
    """Statics of cables, fluid and planes alone."""
    bars, system = stage.bars, stage.system
    kinds = {(int(strain), int(law)) for strain, law in bars.kinds}
    known = {(strain, BILINEAR) for strain in (GREEN, ENGINEERING, LOG)}
    constants, there = bars.constants, _standing(stage)
    others = any(family not in (SEABED, FLUID, ADDED_MASS) for family, _ in acting(system.families))
    contacts = _contacts(stage)
    return bool(
        not stage.is_dynamic
        and len(bars.nodes)
        and kinds <= known
        and not others
        and not len(system.springs.dofs)
        and not system.expansions
        and not constants[bar.STRESS0].any()
        and (constants[bar.YOUNG] * constants[bar.PLUS] > 0.0)[there].all()
        and (constants[bar.MINUS][there] == 0.0).all()
        and (contacts is None or not contacts.numbers[:, RADIUS].any())
    )


def laid(stage: StepSystem, motion: Motion, chunk: Loading, increment: int) -> Floats | None:
    """(3n,) displacement at which cables are at rest at the end of an increment; None where none is found."""
    place, work = stage.nodes.place, stage.work
    u = motion.u.copy()
    if len(chunk.support_dofs):
        u[chunk.support_dofs] = chunk.support_u[increment]
    dead = np.asarray(chunk.factors[increment + 1] @ chunk.vectors).reshape(-1, 3)
    time, thermal = float(chunk.time[increment + 1]), chunk.thermal_end[0]
    work.u[:] = u
    pushed, found = _pushed(stage, motion, time, thermal), False
    for attempt in range(PASSES):
        try:
            rest = relax(_network(stage, u, dead + pushed))
        except LineError:
            break
        u, found = rest.places.ravel() - place, True
        work.u[:] = u
        before, part = pushed, 1.0 if attempt < PASSES // 3 else 0.5
        pushed = before + part * (_pushed(stage, motion, time, thermal) - before)
        if np.abs(pushed - before).max() <= AGREED * np.abs(dead).max():
            break
    return np.asarray(u) if found else None


def _standing(stage: StepSystem) -> Floats:
    """(m,) whether bars are there at all."""
    return np.asarray(stage.bars.constants[bar.AREA] > 0.0)


def _contacts(stage: StepSystem) -> Contacts | None:
    found = [own for family, own in acting(stage.system.families) if family is SEABED]
    return found[0] if found else None


def _pushed(stage: StepSystem, motion: Motion, time: float, thermal: Floats) -> Floats:
    """(n, 3) force of streams and water at the trial displacement."""
    owns = stage.system.families
    if owns is None:
        return np.zeros((len(stage.system.labels), 3))
    apart = tuple(
        own._replace(nodes=own.nodes[:0]) if family is SEABED else own
        for family, own in zip(FAMILIES, owns, strict=True)
    )
    constants = stage.bars.constants.copy()
    constants[bar.AREA] = 0.0
    bars = stage.bars._replace(constants=constants)
    evaluate_instant(
        stage.coefficients, 1.0, time, thermal, stage.problem._replace(bars=bars, families=apart), motion, stage.work
    )
    return np.asarray(-stage.work.force.reshape(-1, 3))


def _network(stage: StepSystem, u: Floats, load: Floats) -> Network:
    """The model as a network, about a displacement that supports have."""
    places = (stage.nodes.place + u).reshape(-1, 3)
    there = _standing(stage)
    constants = stage.bars.constants[:, there]
    strain, stiffness = stage.bars.kinds[there, 0], constants[bar.YOUNG] * constants[bar.AREA]
    length = 1.0 / constants[bar.INV_LENGTH]
    members = Line(length, stiffness, np.zeros(0), strain == GREEN, strain == LOG)
    contacts = _contacts(stage)
    nodes, normal, depth, ground = np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0), np.zeros(0)
    if contacts is not None:
        lies = contacts.numbers[:, STIFFNESS] > 0.0
        numbers, nodes = contacts.numbers[lies], contacts.nodes[lies]
        normal, ground = numbers[:, NORMAL:RADIUS], numbers[:, STIFFNESS]
        depth = numbers[:, DEPTH] - (normal * u.reshape(-1, 3)[nodes]).sum(axis=1)
    freedom = reduction(stage.nodes.dof_kind, stage.equations)
    return Network(places, load, stage.bars.nodes[there], members, nodes, normal, depth, ground, freedom)
