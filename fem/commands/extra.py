"""Commands that others have registered (``fem.register``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Command(NamedTuple):
    """function  (deck, parameters, say) -> exit code, or nothing;  text: its line in ``fem --help``"""

    function: Callable[..., Any]
    text: str


EXTRA: dict[str, Command] = {}
"""By name."""
