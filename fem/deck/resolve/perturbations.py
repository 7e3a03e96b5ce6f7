"""Linear perturbations: those that are what an ordinary step is."""

from __future__ import annotations

from collections.abc import Iterable

from fem.deck.draft import Draft
from fem.deck.lexical.source import Mistake
from fem.model import Frequency, Material, Spring, Static

REFUSED = "PERTURBATION of *STEP is not supported: every step is a full nonlinear step"
HINT = "*FREQUENCY gives modes about a loaded state"


def blame_perturbations(draft: Draft, materials: Iterable[Material], springs: Iterable[Spring]) -> None:
    """PERTURBATION may stand where it changes nothing: with ``*FREQUENCY``, and in a deck of one linear ``*STATIC``.

    materials: those of sections. The response of any other linear perturbation would not enter the steps after it.
    """
    is_linear = len(draft.steps) == 1 and not any(spring.table for spring in springs)
    is_linear &= all(m.compression_ratio == m.tension_ratio == 1.0 and not m.is_inextensible for m in materials)
    for step in draft.steps:
        is_static = isinstance(step.procedure, Static) and not step.procedure.riks
        if step.perturbation is None or step.blamed or isinstance(step.procedure, Frequency):
            continue
        if not (is_static and is_linear):
            draft.report(Mistake(step.perturbation, REFUSED, HINT))
