"""Where winches stand when a step begins, and what it says of those that begin elsewhere: a jump of natural length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fem.arrays import Floats
from fem.model import Model
from fem.model.curves import Follow, evaluate
from fem.model.loads import Winch
from fem.model.steps import Step

NO_JUMP = 1e-9
"""Changes below this fraction of the natural length are round-off of times."""
LISTED = 5


def jumps(model: Model) -> Iterator[tuple[int, Floats, Floats]]:
    """Of the deck alone, for each step: its number, where winches stand before it and at its start, both (elements, 2).

    NaN where an earlier run, whose state the first step begins with, may have left them.
    """
    stands = np.full((len(model.mesh.element_labels), 2), 0.0 if model.earlier is None else np.nan)
    follows: dict[tuple[int, int], tuple[float, Follow]] = {}
    begin = 0.0
    for number, step in enumerate(model.steps, start=1):
        end, start, last = begin + step.procedure.period, stands.copy(), stands.copy()
        for winch in step.winches:
            if winch.is_tension:
                continue
            elements, leg = model.mesh.elements_of(winch.target), winch.end - 1
            start[elements, leg] = stands[elements, leg] if step.winds else winch.value
            last[elements, leg] = winch.value
            for element in elements.tolist():
                follows.pop((element, leg), None)
                if winch.amplitude is not None:
                    follows[element, leg] = winch.value, follow(model, winch, begin)
        for at, (value, curve) in follows.items():
            start[at], last[at] = value * evaluate(curve, np.array([begin, end]))
        yield number, stands, start
        follows = {at: each for at, each in follows.items() if each[1].amplitude.time != "STEP TIME"}
        begin, stands = end, last


def follow(model: Model, winch: Winch, begin: float) -> Follow:
    """The curve of a winch in a step."""
    amplitude = model.amplitudes[winch.amplitude or ""]
    return Follow(amplitude, begin if amplitude.time == "STEP TIME" else 0.0)


def told_of_jump(model: Model, step: Step, stands: Floats, start: Floats) -> str:
    """What a step makes of winches that begin elsewhere than where they stand; nothing where none does.

    stands, start  (elements, 2) changes of natural length before the step and at its start
    """
    stiffness, length = stiffness_of(model), natural_lengths(model)
    change = start - stands
    jumping = (np.abs(change) > NO_JUMP * length[:, None]).any(axis=1)
    if not jumping.any():
        return ""
    force = np.where(jumping, stiffness * np.abs(change).sum(axis=1) / length, -1.0)
    worst = int(force.argmax())
    end = int(np.abs(change[worst]).argmax())
    names = model.mesh.element_names[jumping]
    listed = ", ".join(map(str, names[:LISTED])) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
    moved = change[worst, end]
    effect = "makes" if moved < 0.0 else "takes off"
    remedy = "let its AMPLITUDE begin there (it counts from the start of the run), or leave it out"
    if not step.winds:
        remedy = "without AMPLITUDE=STEP on *STEP, a winch runs evenly over it"
    return (
        f"*WINCH changes the length of element {listed} at once where the step begins: by {moved:.6g} of element "
        f"{model.mesh.element_names[worst]}, from {stands[worst, end]:.6g}, where the winch stands, to "
        f"{start[worst, end] + 0.0:.6g}; that {effect} {force[worst]:.4g} of tension (EA dL/L0) before anything moves. "
        f"Meant? Else {remedy}"
    )


def stiffness_of(model: Model) -> Floats:
    """(k,) EA of elements with a section; else 0."""
    found = np.zeros(len(model.mesh.element_labels))
    for section in model.sections:
        found[model.mesh.elements_of(section.element_set)] = section.area * (
            model.materials[section.material].young or 0.0
        )
    return found


def natural_lengths(model: Model) -> Floats:
    """(k,) at the start of the run; of a rope over a pulley both branches; 1 of elements without length."""
    legs, owner = model.mesh.legs
    apart = np.linalg.norm(np.diff(model.mesh.coordinates[legs], axis=1)[:, 0], axis=1)
    lengths: Floats = np.bincount(owner, apart, len(model.mesh.element_labels)).astype(float)
    for rest in model.rest_lengths:
        lengths[model.mesh.elements_of(rest.target)] = rest.whole
    return np.where(lengths > 0.0, lengths, 1.0)
