"""Packages of others that add to the program: those with an entry point of the group ``fem``.

They are imported only where something is not known without them, so that a start does not look for them.
"""

from __future__ import annotations

from fem.errors import CommandError, DeckError

GROUP = "fem"
_loaded: list[bool] = []


def load_installed(mistakes: DeckError | None = None) -> bool:
    """Import them, the first time that it is asked for; whether that was now, and there are any.
    CommandError: one of them cannot be imported; where a deck has ``mistakes``, these, with a note of that."""
    if _loaded:
        return False
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    _loaded.append(len(found) > 0)
    for each in found:
        try:
            each.load()
        except Exception as error:
            reason = f"the installed addition {each.name} ({each.value}) cannot be loaded: {error}"
            if mistakes is None:
                raise CommandError(reason) from error
            mistakes.add_note(f"note: {reason}")
            raise mistakes from error
    return _loaded[0]
