"""Taut or slack: which bars of a stage are ropes, and the stage for given states of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem.arrays import Flags, Ints
from fem.assembly.system import System
from fem.errors import ModelError
from fem.mechanics.bar import MINUS, Bars
from fem.mechanics.blocks import blocks_of
from fem.mechanics.laws import BILINEAR, RIGID
from fem.model import Controls
from fem.solve.stage import Stage, prepare

FEW = 20
"""Up to this many ropes events are located in time, unless the deck says otherwise."""
MOST_KEPT = 64
"""Stages of different states that are kept ready."""


def ropes_of(system: System) -> Ints:
    """Indices of the bars that are ropes (all of them rods as assembled)."""
    bars = system.bars
    return np.flatnonzero((bars.kinds[:, 1] == RIGID) & (bars.constants[MINUS] == 0.0))


def locates_events(controls: Controls, ropes: Ints) -> bool:
    """EVENT rather than MOREAU."""
    return controls.impact == "EVENT" or (controls.impact == "AUTO" and len(ropes) <= FEW)


def with_states(bars: Bars, ropes: Ints, taut: Flags) -> Bars:
    """The same bars, taut ropes being rods and slack ones bars without modulus. taut (r,)."""
    kinds = bars.kinds.copy()
    kinds[ropes, 1] = np.where(taut, RIGID, BILINEAR)
    return bars._replace(
        kinds=kinds, blocks=blocks_of(kinds, bars.constants), rods=np.flatnonzero(kinds[:, 1] == RIGID)
    )


def stages_of(stage: Stage, controls: Controls, wanted: str) -> Stages | None:
    """The stages of a step with ropes whose events are located; None without ropes.

    ModelError where the step cannot have ropes.
    """
    ropes = ropes_of(stage.system)
    if len(ropes) == 0 or stage.is_explicit:  # which refuses all that keep their length
        return None
    if stage.is_dynamic and not locates_events(controls, ropes):
        return None
    if not stage.is_dynamic:
        raise ModelError(f"{stage.system.name_bar(int(ropes[0]))} is a rope: ropes are for *DYNAMIC steps only")
    return Stages(stage, ropes, controls, wanted)


def without_pulls(bars: Bars, ropes: Ints) -> Bars:
    """The same bars, ropes being none of the rods: nothing but Moreau-Jean time stepping makes them pull."""
    return bars._replace(rods=np.setdiff1d(bars.rods, ropes))


class Stages:
    """The stage of a step for any states of its ropes, made when first asked for."""

    def __init__(self, stage: Stage, ropes: Ints, controls: Controls, wanted: str) -> None:
        self.first, self.ropes, self.controls, self.wanted = stage, ropes, controls, wanted
        self._kept: dict[bytes, Stage] = {}

    def of(self, taut: Flags) -> Stage:
        """For these states (r,)."""
        key = np.packbits(taut).tobytes()
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._make(taut)
        stage = self._kept[key]
        stage.nodes = self.first.nodes
        return stage

    def _make(self, taut: Flags) -> Stage:
        first = self.first
        system = replace(first.system, bars=with_states(first.system.bars, self.ropes, taut))
        bars = with_states(first.bars, self.ropes, taut)
        return prepare(system, first.environment, bars, first.scheme, self.controls, self.wanted)
