"""``fem.check`` and ``python -m fem check``: what a deck describes, and what looks wrong in it. Nothing is solved.

Everything here follows from the ``Model`` alone. Numbers carry the deck's own units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fem.checking.bars import collect_bars
from fem.checking.description import describe, describe_step
from fem.checking.findings import CHECKS
from fem.deck import read_model
from fem.model import Model


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Lines of text; as ``str`` the whole report.

    description  counts, extent, mass, lengths, the stiffest bar, the steps
    extensions   cards and parameters that neither Abaqus nor CalculiX has
    notices      what the reader accepted without effect
    findings     what looks wrong
    """

    description: tuple[str, ...]
    extensions: tuple[str, ...]
    notices: tuple[str, ...]
    findings: tuple[str, ...]

    def __repr__(self) -> str:
        parts = (
            ("extensions used (neither Abaqus nor CalculiX reads them)", self.extensions, "none"),
            ("notices", self.notices, "none"),
            ("what looks wrong", self.findings, "nothing found"),
        )
        lines = [*self.description]
        for heading, texts, otherwise in parts:
            lines += ["", heading, *(f"  {text}" for text in texts or (otherwise,))]
        return "\n".join(lines)


def check(deck: str | Path | Model, *, parameters: Mapping[str, float] | None = None) -> Report:
    """Describe the model of a deck and list what looks wrong.

    deck        path of the ``.inp``, or a ``Model``
    parameters  values that override the deck's ``*PARAMETER``

    Raises
    ------
    CommandError  there is no such file.
    DeckError     the deck has errors.

    >>> found = check("inputs/sdnl100.inp")
    >>> print(found.findings[0][:51])
    step 1: dt = 0.04186 is 133 periods of bar 1; the t
    """
    model = read_model(deck, parameters)
    bars = collect_bars(model)
    title = f": {model.heading[0].strip()}" if model.heading else ""
    lines = [f"{model.source or 'model'}{title}", *describe(model, bars), "", "steps"]
    lines += [f"  {describe_step(number, step, bars)}" for number, step in enumerate(model.steps, start=1)]
    found = [text for look in CHECKS for text in look(model, bars)]
    return Report(tuple(lines), model.extensions, model.notices, tuple(found))
