"""States of ropes: which bars of a stage are ropes, and the stage for given states, taut or slack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.system import System
from fem.errors import ModelError
from fem.forces.bar import BASE, FRICTION, INV_LENGTH, MINUS, PLUS, Bars, blocks_of, whole
from fem.forces.laws import BEYOND, BILINEAR, LEG, LINEAR, RIGID
from fem.model import Controls
from fem.solve.newton.gaps import gaps
from fem.solve.rods import SAME_LENGTH
from fem.solve.schemes import Scheme
from fem.solve.step_system import StepSystem, with_bars

FEW = 20
"""Up to this many ropes events are located in time, unless the deck says otherwise."""
LENGTHS = 1e12
"""Largest ratio of lengths of bars beside ropes: beyond it the shorter length is lost in rounding."""
MOST_KEPT = 64
"""Number of stages of different states that are kept."""


def ropes_of(system: System) -> Ints:
    """Indices of the bars that are ropes or stops (all assembled as rods); over pulleys those of their first leg."""
    bars = system.bars
    one_sided = (bars.constants[MINUS] == 0.0) | (bars.constants[PLUS] == 0.0)
    return np.flatnonzero((bars.kinds[:, 1] == RIGID) & one_sided & (bars.kinds[:, 0] != BEYOND))


def can_change(bars: Bars, index: Ints, dof_kind: Ints) -> Flags:
    """(r,) bars whose length may change: an end is free, or for linear bars free along them."""
    every, own = whole(bars, index), np.arange(len(index))
    free = (dof_kind != 0).reshape(-1, 3)[bars.nodes[every]].any(axis=1)
    along = (bars.kinds[every, 0, None] != LINEAR) | (bars.constants[BASE : BASE + 3, every].T != 0.0)
    owner = np.concatenate([own, own[bars.kinds[index, 0] == LEG]])
    return np.bincount(owner, (free & along).any(axis=1), minlength=len(index)) > 0.0


def steps_over_impacts(controls: Controls, scheme: Scheme, bars: Bars, ropes: Ints) -> bool:
    """Whether a step with these ropes uses Moreau-Jean time stepping (MOREAU) and not EVENT, which has no friction."""
    over_pulleys = bool(np.any(bars.kinds[:, 0] == LEG))
    is_wanted = controls.impact == "MOREAU" or (controls.impact == "AUTO" and len(ropes) > FEW and not over_pulleys)
    rubs = bool(np.any(bars.constants[FRICTION, ropes]))
    wanted = scheme.coefficients.wm != 0.0 and len(ropes) > 0 and (is_wanted or rubs)
    if wanted and over_pulleys:
        why = "*STOP PLANE with FRICTION" if rubs else "IMPACT=MOREAU"
        raise ModelError(
            f"{why} steps over impacts, which inextensible ropes over pulleys do not: use IMPACT=EVENT and planes "
            "without friction, or *ELASTIC ropes"
        )
    return wanted


def stepping_notice(controls: Controls, integrator: str, count: int) -> str:
    """Notice: Moreau-Jean time stepping replaces the integrator of the step, and why."""
    why = "IMPACT=MOREAU: "
    if controls.impact == "AUTO" and count <= FEW:
        why = "*STOP PLANE has FRICTION, so IMPACT=MOREAU was chosen: "
    elif controls.impact == "AUTO":
        why = (
            f"{count} ropes are more than {FEW}, so IMPACT=MOREAU was chosen (*CONTROLS, IMPACT=EVENT locates events): "
        )
    return f"{why}Moreau-Jean time stepping, of first order, replaces TIME INTEGRATOR={integrator}"


def with_states(bars: Bars, ropes: Ints, taut: Flags) -> Bars:
    """The bars, with taut ropes as rods and slack ones without modulus. taut (r,)."""
    kinds = bars.kinds.copy()
    kinds[whole(bars, ropes), 1] = BILINEAR
    kinds[whole(bars, ropes[taut]), 1] = RIGID
    rods = np.flatnonzero(kinds[:, 1] == RIGID)
    return bars._replace(kinds=kinds, blocks=blocks_of(kinds, bars.constants), rods=rods)


def refuse_ropes(system: System, ropes: Ints, what: str, is_dynamic: bool) -> None:
    """ModelError: the method of a step does not support ropes, or lengths of bars beside ropes differ too much.
    what: name of that method; empty if it supports them"""
    over = np.flatnonzero(system.bars.kinds[:, 0] == LEG)
    if len(over) and is_dynamic and what:
        raise ModelError(
            f"{system.name_bar(int(over[0]))} is an inextensible rope over a pulley, which {what} does not support: "
            "use an implicit integrator, or *ELASTIC"
        )
    if what and len(ropes):
        kind = "rope" if system.bars.constants[PLUS, ropes[0]] != 0.0 else "stop"
        raise ModelError(
            f"{system.name_bar(int(ropes[0]))} is a {kind}, which {what} does not support: remove that, or make it "
            "elastic (*ELASTIC with *NO COMPRESSION)"
        )
    length = 1.0 / system.bars.constants[INV_LENGTH]
    if len(ropes) and length.max() > LENGTHS * length.min():
        longest, shortest = int(length.argmax()), int(length.argmin())
        raise ModelError(
            f"{system.name_bar(longest)} is {length[longest]:.3g} long, {system.name_bar(shortest)} "
            f"{length[shortest]:.3g}: with ropes, whose lengths are kept to round-off, this ratio is too large. Look "
            "for a coordinate with a wrong exponent"
        )


def stages_of(stage: StepSystem, wanted: str) -> Stages | None:
    """The stages of a static step with ropes, or of one whose events are located; None if no rope is a rod."""
    ropes = ropes_of(stage.system)
    is_any = len(ropes) > 0 and np.isin(ropes, stage.system.bars.rods).any()
    return Stages(stage, ropes, wanted) if is_any else None


def without_pulls(bars: Bars, ropes: Ints) -> Bars:
    """The bars without ropes among the rods: only Moreau-Jean time stepping applies their forces."""
    return bars._replace(rods=np.setdiff1d(bars.rods, ropes))


def gaps_of(bars: Bars, index: Ints, u: Floats) -> Floats:
    """(r,) gaps (l^2 - L0^2)/2 of some bars at u, of stops minus that."""
    found = np.zeros(len(index))
    gaps(index, bars, u, found)
    return found


def positions(rods: Ints, ropes: Ints) -> Ints:
    """(r,) index of each rope among ``rods``, -1 for none."""
    place = np.minimum(np.searchsorted(rods, ropes), max(len(rods) - 1, 0))
    if len(rods) == 0:
        return np.full(len(ropes), -1)
    return np.where(rods[place] == ropes, place, -1)


def as_they_are(bars: Bars, ropes: Ints, u: Floats) -> Bars:
    """The bars about the state u: ropes at their length are rods, shorter ones are absent."""
    if len(ropes) == 0:
        return bars
    square = 1.0 / bars.constants[INV_LENGTH, ropes] ** 2
    return with_states(bars, ropes, gaps_of(bars, ropes, u) > -SAME_LENGTH * square)


class Stages:
    """The stages of a step for all states of its ropes, made on demand."""

    def __init__(self, stage: StepSystem, ropes: Ints, wanted: str) -> None:
        self.first, self.ropes, self.wanted, self.coefficients = stage, ropes, wanted, stage.coefficients
        self._kept: dict[bytes, StepSystem] = {}

    @property
    def made(self) -> list[tuple[Flags | None, StepSystem]]:
        """The stages made, in order, each with its states (r,)."""
        return [(np.frombuffer(key, np.bool_).copy(), stage) for key, stage in self._kept.items()]

    def make(self, states: Sequence[Flags]) -> None:
        """Makes the stages for these states, and removes all others."""
        kept, self._kept = self._kept, {}
        for taut in states:
            key = taut.tobytes()
            self._kept[key] = kept[key] if key in kept else self._make(taut)

    def of(self, taut: Flags) -> StepSystem:
        """The stage for these states (r,)."""
        key = taut.tobytes()
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._make(taut)
        stage = self._kept[key]
        stage.nodes, stage.limits = self.first.nodes, self.first.limits
        stage.coefficients = self.coefficients
        return stage

    def _make(self, taut: Flags) -> StepSystem:
        first = self.first
        bars = with_states(first.bars, self.ropes, taut)
        is_same = np.array_equal(bars.rods, first.bars.rods) and np.array_equal(bars.kinds, first.bars.kinds)
        if is_same and first.is_dynamic:  # in statics each has its own ``nodes``
            return first
        is_linear = first.bars is not first.system.bars
        system = replace(first.system, bars=with_states(first.system.bars, self.ropes, taut) if is_linear else bars)
        return with_bars(first, system, bars, self.wanted)
