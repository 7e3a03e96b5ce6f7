"""``python -m fem check``: what a deck describes, and what looks wrong in it. Nothing is solved.

Everything here follows from the ``Model`` alone. Numbers carry the deck's own units.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fem.check.bars import collect_bars
from fem.check.description import describe, describe_step
from fem.check.findings import CHECKS
from fem.errors import CommandError
from fem.model import Model


def check_deck(path: str | Path, parameters: Mapping[str, float] | None = None) -> str:
    """Read a deck and report on it.

    Raises
    ------
    CommandError  there is no such file.
    DeckError     the deck cannot be understood.
    """
    from fem.deck import read_deck

    if not Path(path).is_file():
        raise CommandError(f"{path} does not exist or is not a file")
    return report(read_deck(path, dict(parameters or {})))


def report(model: Model) -> str:
    """The whole report."""
    bars = collect_bars(model)
    title = f": {model.heading[0].strip()}" if model.heading else ""
    lines = [f"{model.source or 'model'}{title}", *describe(model, bars), "", "steps"]
    lines += [f"  {describe_step(number, step, bars)}" for number, step in enumerate(model.steps, start=1)]
    found = [text for look in CHECKS for text in look(model, bars)]
    parts = (
        ("extensions used (neither Abaqus nor CalculiX reads them)", model.extensions, "none"),
        ("notices", model.notices, "none"),
        ("what looks wrong", tuple(found), "nothing found"),
    )
    for heading, texts, otherwise in parts:
        lines += ["", heading, *(f"  {text}" for text in texts or (otherwise,))]
    return "\n".join(lines)
