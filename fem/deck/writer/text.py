"""Keyword lines, names and numbers as deck text."""

from __future__ import annotations

import re

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-+/]*", re.ASCII)


def number(value: float) -> str:
    """All digits; zero has no sign."""
    return repr(float(value) + 0.0)


def field(target: str | int | None) -> str:
    """A label, a set name (quoted where blanks or commas would be lost), or nothing."""
    text = "" if target is None else str(target)
    return f'"{text}"' if isinstance(target, str) and not PLAIN.fullmatch(target) else text


WORDS = frozenset({"DEFINITION", "TIME", "TYPE", "MASS", "TIME INTEGRATOR"})
"""Parameters whose values are fixed words, never quoted."""


def card(keyword: str, *flags: str, **parameters: str | int | float | None) -> str:
    """A keyword line; parameters that are None are left out."""
    pieces = [f"*{keyword}", *flags]
    for name, value in parameters.items():
        text = number(value) if isinstance(value, float) else value if name in WORDS else field(value)
        pieces += [] if value is None else [f"{name}={text}"]
    return ", ".join(pieces)


def rows_of(entries: list[str], width: int) -> list[str]:
    """Entries, ``width`` a line."""
    return [", ".join(entries[start : start + width]) for start in range(0, len(entries), width)]
