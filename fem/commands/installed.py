"""What others add: commands that are registered (``fem.register``), installed packages with an entry point of the group
``fem``. These are imported only if a name is unknown without them, or ``--help`` lists all: they would slow down every
start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fem.errors import CommandError, DeckError


class Command(NamedTuple):
    """function  (deck, parameters, say) -> exit code, or nothing;  text: its line in ``fem --help``"""

    function: Callable[..., Any]
    text: str


EXTRA: dict[str, Command] = {}
"""Commands by name."""
DESCRIBED: dict[str, str] = {}
"""Keyword -> what ``fem help`` says of it."""
GROUP = "fem"
_loaded: list[bool] = []
_failed: list[str] = []
"""Why one of them could not be imported."""


def has_additions() -> bool:
    """Whether they have been imported, and there are any."""
    return any(_loaded) and not _failed


def load_installed(mistakes: CommandError | DeckError | None = None) -> bool:
    """Imports them, once; returns whether it was done now, and there are any.
    CommandError: one of them cannot be imported; with ``mistakes`` of a deck or a name: these, with a note of that."""
    if _loaded:
        if _failed and mistakes is not None and not getattr(mistakes, "__notes__", ()):
            mistakes.add_note(f"note: {_failed[0]}")
        return False
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    _loaded.append(len(found) > 0)
    for each in found:
        try:
            each.load()
        except Exception as error:
            reason = f"the installed addition {each.name} ({each.value}) cannot be loaded: {error}"
            _failed.append(reason)
            if mistakes is None:
                raise CommandError(reason) from error
            mistakes.add_note(f"note: {reason}")
            raise mistakes from error
    return _loaded[0]
