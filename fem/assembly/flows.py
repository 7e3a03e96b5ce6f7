"""Loads of water and wind in force, and how they pass from one step to the next: by the rules of ``cases``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.assembly.cases import Case, Entry, Span, advance, carried, follow
from fem.assembly.system import System
from fem.model import FluidLoad, Model, Step
from fem.model.curves import Constant, Curve
from fem.model.surroundings import growth_of

ADDED = "ADDED MASS"


@dataclass(frozen=True, slots=True)
class Flow:
    """Fluid loads of one kind and equal parameters: ``load``, of no target, amplitude and magnitude.

    streams  the amplitudes of its stream;  cases: M of the elements, (k, 1)
    """

    load: FluidLoad
    streams: tuple[Curve, Curve]
    cases: tuple[Case, ...]

    def diameter(self, system: System) -> Floats:
        """(k,) D of the elements; in water with what has grown on them."""
        grown = 0.0 if self.load.kind == "WDD" else 2.0 * growth_of(system.model.mesh, system.model.growths)[0]
        return self.load.diameter + grown + np.zeros(len(system.family))


def buoyancy_cases(system: System, flows: Iterable[Flow]) -> list[Case]:
    """(n, 3) forces on bars that are wholly wet, half to each node; those per current length are not among them."""
    found, water, up = list[Case](), system.model.water, system.model.mesh.up
    for flow in flows:
        if flow.load.kind == "PB" and not flow.load.is_current and water is not None:
            is_bar = (system.bar_index >= 0) & ~system.gone
            volume = np.zeros(len(is_bar))
            volume[is_bar] = (
                0.25 * np.pi * flow.diameter(system)[is_bar] ** 2 * system.length0[system.bar_index[is_bar]]
            )
            for case in flow.cases:
                lift = np.zeros((len(volume), 3))
                lift[:, up] = water.density * water.gravity * volume * case.field[:, 0]
                found.append(Case(lift, case.curve))
    return found


def advance_flows(before: Iterable[Flow], system: System, step: Step, span: Span) -> tuple[Flow, ...]:
    """Flows of a step, from those of the step before and the step's own loads."""
    model, replaces_all = system.model, "DLOAD" in step.replaced
    given = [(load, *_key(load, model, span)) for load in step.fluid_loads]
    known: dict[Any, tuple[Case, ...]] = {}
    for flow in before:
        if flow.load.kind != ADDED:
            first, second = flow.streams
            known[flow.load, (carried(first, span), carried(second, span))] = flow.cases
    for _, *key in given:
        known.setdefault(tuple(key), ())
    found = []
    for key, cases in known.items():
        entries = [_entry(system, load, tuple(own) == key) for load, *own in given if load.kind == key[0].kind]
        acting = advance(cases, entries, replaces_all, span, model)
        found += [Flow(key[0], key[1], acting)] if acting else []
    return tuple(found)


def _key(load: FluidLoad, model: Model, span: Span) -> tuple[FluidLoad, tuple[Curve, Curve]]:
    """What tells one flow from another."""
    streams = [Constant(1.0) if name is None else follow(model, name, span) for name in load.streams]
    return replace(load, target="", magnitude=1.0, amplitude=None, streams=(None, None)), (streams[0], streams[1])


def _entry(system: System, load: FluidLoad, is_own: bool) -> Entry:
    """Its M where it speaks; where another one of its kind speaks, nothing is left of it."""
    mask = np.zeros((len(system.family), 1), np.bool_)
    mask[system.elements_of(load.target)] = True
    return Entry(np.where(mask, load.magnitude if is_own else 0.0, 0.0), mask, load.amplitude)
