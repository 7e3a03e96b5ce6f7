"""The text of a deck with other increments; comments, parameters, includes and all else stay as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fem.deck.kinds import number
from fem.model import Static, Step


def with_increments(text: str, steps: Sequence[Step]) -> str:
    """The text with the increments of these steps, one for each ``*STEP`` in it.

    Only cards as they are usually written are changed, and only in this text, not in what it includes: whoever asks
    has to read the result, and to compare it.
    """
    lines = text.split("\n")
    rest, step, found = iter(steps), None, False
    for k, line in enumerate(lines):
        name = line.partition(",")[0].strip().upper()
        if name == "*STEP":
            step = next(rest, None)
            if step is not None and step.max_increments:
                lines[k] = re.sub(r"(?i)(\bINC\s*=\s*)\d+", rf"\g<1>{step.max_increments}", line)
        elif name.startswith("*") and not name.startswith("**"):
            found = name in ("*DYNAMIC", "*STATIC")
        elif found and step is not None and line.strip() and not name.startswith("**"):
            lines[k], found = with_numbers(line, step), False
    return "\n".join(lines)


def with_numbers(line: str, step: Step) -> str:
    """The data line of a procedure: increment, period, smallest and largest increment; what is blank stays blank."""
    procedure = step.procedure
    if isinstance(procedure, Static) and not procedure.creeps:
        return line  # no time passes in it
    fields = line.split(",")
    for place, name in ((0, "dt"), (2, "dt_min"), (3, "dt_max")):
        value = getattr(procedure, name, None)
        if place < len(fields) and fields[place].strip() and value is not None:
            space = " " if fields[place].startswith(" ") else ""
            fields[place] = space + number(value)
    return ",".join(fields)
