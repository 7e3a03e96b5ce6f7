"""Loads and temperatures as fields times curves, and their continuation from one step to the next.

Abaqus' rules: a load that a step does not mention continues along its amplitude if that is in total time, else at the
value it had. A new value replaces the old one (OP=MOD); OP=NEW removes all loads of the family first. Without an
amplitude a ``*STATIC`` step ramps linearly from the old value to the new one (removal included), a ``*DYNAMIC`` step
applies it at once, unless ``*STEP, AMPLITUDE=`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from fem.arrays import Flags, Floats
from fem.model import Model
from fem.model.curves import Constant, Curve, Follow, Live, Ramp, evaluate


@dataclass(frozen=True, slots=True)
class Case:
    """``field`` (items, components) times a curve of total time."""

    field: Floats
    curve: Curve


@dataclass(frozen=True, slots=True)
class Entry:
    """One load of the deck, as a field of values on the items it names (mask: items for which it has a value)."""

    field: Floats
    mask: Flags
    amplitude: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """Times of a step, and whether loads without an amplitude ramp in it."""

    start: float
    end: float
    ramps: bool

    def rise(self, first: float, last: float) -> Curve:
        """Curve of a value without amplitude, from ``first`` to ``last`` in this step."""
        return Ramp(self.start, self.end, first, last) if self.ramps and first != last else Constant(last)


def follow(model: Model, name: str, span: Span) -> Follow | Live:
    if name in model.driven:
        return model.driven[name]
    amplitude = model.amplitudes[name]
    return Follow(amplitude, span.start if amplitude.time == "STEP TIME" else 0.0)


def carried(curve: Curve, span: Span) -> Curve:
    """Continuation of a curve of an earlier step in this one if the step does not mention the load."""
    if isinstance(curve, Constant | Live) or (isinstance(curve, Follow) and curve.amplitude.time != "STEP TIME"):
        return curve
    return Constant(float(evaluate(curve, np.array([span.start]))[0]))


def advance(
    cases: Iterable[Case], entries: Iterable[Entry], replaces_all: bool, span: Span, model: Model
) -> tuple[Case, ...]:
    """Cases of one family in a step, from those of the step before and the step's own entries."""
    entries, old = tuple(entries), tuple(cases)
    if not entries and not old:
        return ()
    shape = (entries[0].field if entries else old[0].field).shape
    touched = np.zeros(shape, np.bool_)
    driven = np.zeros(shape, np.bool_)
    for entry in entries:
        touched |= entry.mask
        if entry.amplitude is not None:
            driven |= entry.mask
    result: list[Case] = []
    for case in old:
        keeps = np.zeros(shape, np.bool_) if replaces_all else ~touched
        _append(result, Case(np.where(keeps, case.field, 0.0), carried(case.curve, span)))
        if span.ramps:
            value = float(evaluate(case.curve, np.array([span.start]))[0])
            _append(result, Case(np.where(keeps | driven, 0.0, case.field), span.rise(value, 0.0)))
    for entry in entries:
        curve = span.rise(0.0, 1.0) if entry.amplitude is None else follow(model, entry.amplitude, span)
        _append(result, Case(entry.field, curve))
    total: dict[Curve, Case] = {}  # cases of the same curve added up; constants become one case of curve 1
    for case in result:
        if isinstance(case.curve, Constant):
            case = Case(case.field * case.curve.value, Constant(1.0))
        known = total.get(case.curve)
        total[case.curve] = case if known is None else replace(known, field=known.field + case.field)
    return tuple(total.values())


def _append(result: list[Case], case: Case) -> None:
    if np.any(case.field) and case.curve != Constant(0.0):
        result.append(case)
