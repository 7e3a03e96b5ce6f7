"""The numbers below ``*PARAMETER`` in the text of a deck: found, and changed where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fem.deck.lexical.fields import NUMBER
from fem.spans.text import rounded

ASSIGNMENT = re.compile(rf"(\s*([A-Za-z_]\w*)\s*=\s*)({NUMBER.pattern})(\s*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a line of the deck (from 0): its name, and the text of its value."""

    name: str
    line: int
    text: str

    @property
    def value(self) -> float:
        return float(self.text.upper().replace("D", "E"))


def parameters_of(text: str) -> list[Parameter]:
    """Those that are plain numbers; formulas follow from them."""
    found, is_inside = [], False
    for line, content in enumerate(text.splitlines()):
        if content.lstrip().startswith("**"):
            continue
        if content.lstrip().startswith("*"):
            is_inside = content.strip().upper().split(",")[0].replace(" ", "") == "*PARAMETER"
        elif is_inside and (match := ASSIGNMENT.fullmatch(content)):
            found.append(Parameter(match[2], line, match[3]))
    return found


def with_value(text: str, name: str, value: float) -> str:
    """The text with another number for a parameter; ``KeyError``: it has none of that name."""
    lines = text.splitlines(keepends=True)
    for parameter in parameters_of(text):
        if parameter.name == name:
            end = lines[parameter.line][len(lines[parameter.line].rstrip("\r\n")) :]
            match = ASSIGNMENT.fullmatch(lines[parameter.line].rstrip("\r\n"))
            assert match is not None
            lines[parameter.line] = f"{match[1]}{rounded(value)}{match[4]}{end}"
            return "".join(lines)
    raise KeyError(name)


def slider_range(value: float) -> tuple[float, float]:
    """Ends of a slider around a number: from nothing to twice it."""
    return (min(0.0, 2.0 * value), max(0.0, 2.0 * value)) if value else (-1.0, 1.0)
