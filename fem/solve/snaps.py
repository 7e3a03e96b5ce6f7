"""Where lines can snap taut, how long increments may be that show it, and what is said of longer ones."""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats
from fem.forces.bars import bar
from fem.forces.bars.laws import RIGID, TABLE
from fem.model import Controls, Dynamic
from fem.model.snaps import FOLLOW, SHARE, expected_peaks, follows_snaps
from fem.solve.clock import SHARP, Clock
from fem.solve.newton import groups
from fem.solve.step_system import StepSystem

SHOWN = 0.5
"""Increments up to this part of L0/c show the front of a snap: peaks within 3 % of their limit on the mesh."""
PASSAGES = 4.0
"""So often the front runs through its line while increments follow it: there and back twice. After once there and back
long increments still met fronts, and made peaks of them that were 8 % too high."""


def squares_of(stage: StepSystem) -> Floats:
    """(m,) omega^2 of each bar against the masses of its free ends."""
    constants, nodes = stage.bars.constants, stage.bars.nodes
    stiffness = constants[bar.AREA] * constants[bar.YOUNG] * constants[bar.INV_LENGTH]
    free = stage.nodes.dof_kind.reshape(-1, 3).any(axis=1)
    mass = stage.system.mass
    with np.errstate(divide="ignore", invalid="ignore"):
        compliance = np.where(free & (mass > 0.0), 1.0 / mass, 0.0)
    return np.asarray(stiffness * (compliance[nodes[:, 0]] + compliance[nodes[:, 1]]))


def can_snap(stage: StepSystem) -> Flags:
    """(m,) bars that carry less in compression than in tension, and have a modulus and masses to pull at."""
    kinds, constants = stage.bars.kinds[:, 1], stage.bars.constants
    elastic = (kinds != RIGID) & (kinds != TABLE) & (constants[bar.MINUS] < constants[bar.PLUS])
    return np.asarray(elastic & (squares_of(stage) > 0.0))


def passing_times(stage: StepSystem) -> Floats:
    """(m,) what a wave needs through each bar that can snap; inf for the others.

    sqrt(2)/omega: within a chain, whose nodes have the mass of a bar each, that is L0/c.
    """
    with np.errstate(divide="ignore"):
        return np.where(can_snap(stage), np.sqrt(2.0 / squares_of(stage)), np.inf)


def watch_snaps(stage: StepSystem, controls: Controls, procedure: Dynamic, clock: Clock) -> None:
    """Let the march find snaps that increments are too long for, and refuse these where SNAP asks for it."""
    shortest = float(passing_times(stage).min(initial=np.inf))
    if shortest == np.inf:
        return
    shown, follows, share = SHOWN * shortest, 0.0, controls.snap or SHARE
    if follows_snaps(procedure, controls):
        follows = clock.follow(shown, PASSAGES * longest_passage(stage)) * (1.0 + SHARP)
    stage.limits[[groups.SNAP, groups.FRONT, groups.FOLLOWS]] = share, shown * (1.0 + SHARP), follows


def longest_passage(stage: StepSystem) -> float:
    """What a wave needs through the longest line: between the two nodes that are farthest apart, exact for trees."""
    from scipy.sparse import csr_array  # of no use to a start where nothing can snap
    from scipy.sparse.csgraph import connected_components, dijkstra

    time, count = passing_times(stage), len(stage.system.labels)
    able = np.isfinite(time)
    first, last = stage.bars.nodes[able].T
    ways = csr_array((time[able], (first, last)), shape=(count, count))
    part = connected_components(ways, directed=False)[1]
    sources = first[np.unique(part[first], return_index=True)[1]]
    distance = np.zeros(count)
    for _ in range(2):
        distance = dijkstra(ways, directed=False, indices=sources, min_only=True)
        distance[~np.isfinite(distance)] = -1.0
        order = np.lexsort((distance, part))
        farthest = order[np.append(part[order][1:] != part[order][:-1], True)]
        sources = farthest[distance[farthest] >= 0.0]
    return float(distance.max())


def snap_notice(stage: StepSystem, procedure: Dynamic, dt: float) -> str:
    """What increments of dt do to the peaks of lines that snap taut; nothing where they show them."""
    time = passing_times(stage)
    fastest = int(time.argmin()) if len(time) else 0
    if not len(time) or dt <= SHOWN * time[fastest] * (1.0 + SHARP):
        return ""
    shown, waves = SHOWN * float(time[fastest]), dt / float(time[fastest])
    if stage.limits[groups.FOLLOWS] > 0.0:
        return (
            f"lines can go slack here: where one snaps taut, increments of {stage.limits[groups.FOLLOWS]:.3g} follow "
            "the front of the snap, twice through the line and back (SNAP of *CONTROLS)"
        )
    name = stage.system.model.mesh.named(stage.system.label_of_bar(fastest))
    return (
        f"lines can go slack here: an increment of {dt:.3g} is {waves:.3g} times what a wave needs through element "
        f"{name} (L0/(c dt) = {1.0 / waves:.3g}). Should a line snap taut, its peaks "
        f"{expected_peaks(procedure, waves)}; increments up to {shown:.3g} show them within 3 %; {FOLLOW}"
    )
