"""``fem.frequencies``: natural frequencies of a deck or a model, without a step that asks for them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from fem.errors import CommandError
from fem.model import Boundary, Frequency, Model, Static, Step
from fem.results.record import Modes
from fem.runner import load, run


def frequencies(
    deck: str | Path | Model,
    modes: int | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    solver: str = "AUTO",
) -> Modes:
    """The lowest modes about the state that the static steps at the beginning lead to, else about the start.

    Supports are held where they are then. Loads of other steps do not act: what stiffens by weight or tension needs its
    ``*STATIC`` step, as with ``*FREQUENCY``.

    deck        path of the ``.inp``, or a ``Model``
    modes       how many; None: as its first ``*FREQUENCY`` step says, else 10
    parameters  values that override the deck's ``*PARAMETER``

    What cannot be confirmed is left out, with a warning. Raises what ``fem.run`` raises.

    >>> fem.frequencies("inputs/chain_modes.inp", 3).frequency.round(3).tolist()
    [0.599, 1.376, 2.158]
    """
    model = load(deck, parameters)
    at_rest = list(takewhile(lambda step: isinstance(step.procedure, Static), model.steps))
    asked = [step.procedure.modes for step in model.steps if isinstance(step.procedure, Frequency)]
    count = modes if modes is not None else (*asked, 10)[0]
    if count < 1:
        raise CommandError(f"{count} modes; it has to be 1 or more")
    # Without a static step the first one says what is held; how it moves is left out.
    first = (*model.steps, Step(Static(), nlgeom=True))[0]
    boundaries, rotations = ((), ()) if at_rest else (still(first.boundaries), still(first.rotations))
    nlgeom = (at_rest or [first])[-1].nlgeom
    asking = Step(Frequency(count), nlgeom=nlgeom, boundaries=boundaries, rotations=rotations)
    history = run(replace(model, steps=(*at_rest, asking)), solver=solver)
    for notice in history.notices:
        if notice.startswith(f"step {len(at_rest) + 1}: "):
            warnings.warn(notice, stacklevel=2)
    return history.modes[-1]


def still(boundaries: Iterable[Boundary]) -> tuple[Boundary, ...]:
    """The same supports, at rest."""
    return tuple(replace(each, value=0.0, amplitude=None) for each in boundaries)
