"""Where lines can snap taut, how long increments may be that show it, and what is said of longer ones."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.forces.bars import bar
from fem.forces.bars.laws import RIGID, TABLE
from fem.model import Controls, Dynamic
from fem.model.snaps import FOLLOW, SHARE, expected_peaks, follows_snaps
from fem.solve.clock import SHARP
from fem.solve.newton import groups
from fem.solve.step_system import StepSystem

SHOWN = 0.5
"""Increments up to this part of L0/c show the front of a snap: peaks within 3 % of their limit on the mesh."""


def squares_of(stage: StepSystem) -> Floats:
    """(m,) omega^2 of each bar against the masses of its free ends."""
    constants, nodes = stage.bars.constants, stage.bars.nodes
    stiffness = constants[bar.AREA] * constants[bar.YOUNG] * constants[bar.INV_LENGTH]
    free = stage.nodes.dof_kind.reshape(-1, 3).any(axis=1)
    mass = stage.system.mass
    with np.errstate(divide="ignore", invalid="ignore"):
        compliance = np.where(free & (mass > 0.0), 1.0 / mass, 0.0)
    return np.asarray(stiffness * (compliance[nodes[:, 0]] + compliance[nodes[:, 1]]))


def passing_times(stage: StepSystem) -> Floats:
    """(m,) what a wave needs through each bar that can snap; inf for the others.

    Those can snap that carry less in compression than in tension, and have a modulus and masses to pull at.
    sqrt(2)/omega: within a chain, whose nodes have the mass of a bar each, that is L0/c.
    """
    kinds, constants = stage.bars.kinds[:, 1], stage.bars.constants
    elastic = (kinds != RIGID) & (kinds != TABLE) & (constants[bar.MINUS] < constants[bar.PLUS])
    times = np.full(len(kinds), np.inf)
    if elastic.any():
        squares = squares_of(stage)
        able = elastic & (squares > 0.0)
        times[able] = np.sqrt(2.0 / squares[able])
    return times


def watch_snaps(stage: StepSystem, controls: Controls, procedure: Dynamic) -> None:
    """Let the march tell of snaps that increments are too long for, where these do not follow them."""
    shortest = float(passing_times(stage).min(initial=np.inf))
    if shortest < np.inf and not follows_snaps(procedure, controls):
        stage.limits[[groups.SNAP, groups.FRONT]] = SHARE, SHOWN * shortest * (1.0 + SHARP)


def snap_notice(stage: StepSystem, procedure: Dynamic, dt: float) -> str:
    """What increments of dt do to the peaks of lines that snap taut; nothing where they show them."""
    time = passing_times(stage)
    fastest = int(time.argmin()) if len(time) else 0
    if stage.limits[groups.SNAP] == 0.0 or dt <= SHOWN * time[fastest] * (1.0 + SHARP):
        return ""
    shown, waves = SHOWN * float(time[fastest]), dt / float(time[fastest])
    name = stage.system.model.mesh.named(stage.system.label_of_bar(fastest))
    return (
        f"lines can go slack here: an increment of {dt:.3g} is {waves:.3g} times what a wave needs through element "
        f"{name} (L0/(c dt) = {1.0 / waves:.3g}). Should a line snap taut, its peaks "
        f"{expected_peaks(procedure, waves)}; increments up to {shown:.3g} show them within 3 %; {FOLLOW}"
    )
