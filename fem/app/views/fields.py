"""Fields of forms: text that is read as a number, with words below it where it is none. Nothing is clipped."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from nicegui import ui

from fem.commands.arguments import number

Check = Callable[[float], str]
"""What is wrong with a number; empty: nothing."""


def read_number(text: object, check: Check | None = None, is_optional: bool = False) -> tuple[float | None, str]:
    """The number of a text, and what is wrong with it."""
    shown = str(text if text is not None else "").strip()
    if not shown:
        return None, "" if is_optional else "a number is missing"
    try:
        value = number(shown)
    except argparse.ArgumentTypeError as error:
        return None, str(error)
    wrong = check(value) if check else ""
    return (None, wrong) if wrong else (value, "")


def positive(value: float) -> str:
    return "" if value > 0.0 else f"must be above zero, got {value:g}"


def not_negative(value: float) -> str:
    return "" if value >= 0.0 else f"must not be negative, got {value:g}"


def whole(least: int, most: int, what: str) -> Check:
    """A whole number between two others."""

    def check(value: float) -> str:
        if value != int(value):
            return f"must be a whole number, got {value:g}"
        return "" if least <= value <= most else f"from {least} to {most} {what}, got {value:.12g}"

    return check


class NumberField:
    """A field for one number; ``value`` is None where there is none, or what is there is wrong."""

    def __init__(
        self, label: str, text: str = "", *, check: Check | None = None, unit: str = "", is_optional: bool = False,
        on_change: Callable[[], Any] = lambda: None, hint: str = "",
    ) -> None:  # fmt: skip
        self.label, self._check, self._is_optional = label, check, is_optional
        self.input = ui.input(label, value=text, on_change=lambda: on_change(), validation=self._wrong)
        self.input.props("dense outlined stack-label hide-bottom-space inputmode=decimal").classes("fem-field")
        if unit:
            self.input.props(f'suffix="{unit}"')
        if hint:
            self.input.tooltip(hint)

    def _wrong(self, text: object) -> str | None:
        return read_number(text, self._check, self._is_optional)[1] or None

    @property
    def wrong(self) -> str:
        """What is wrong with the value, if anything."""
        return self._wrong(self.input.value) or ""

    @property
    def value(self) -> float | None:
        return read_number(self.input.value, self._check, self._is_optional)[0]

    def set(self, text: str) -> None:
        """Other text, as if it had been typed."""
        self.input.value = text
