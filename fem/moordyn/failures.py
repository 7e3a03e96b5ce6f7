"""Lines that part at a point (MoorDyn-F's section FAILURE): the bar beside the point breaks.

Source: MoorDyn, docs/inputs.rst, Failure: FailureID, Point, Line(s), FailTime, FailTen; what comes first, 0: never.
"""

from __future__ import annotations

from collections.abc import Mapping

from fem.moordyn.read import Moorings


def failure_lines(moorings: Moorings, ends: Mapping[tuple[int, int], int], begin: float) -> list[str]:
    """``*FAILURE`` cards. DeckError: they name what is not there, or cannot be.

    ends  (line, point) -> the bar of the line beside the point;  begin  total time at which MoorDyn's begins
    """
    found: dict[str, list[str]] = {"TIME": [], "TENSION": []}
    for row in moorings.failures:
        if len(row.words) < 5:
            raise row.error(f"a failure has 5 columns, this one {len(row.words)}", len(row.words))
        if row.words[1].upper().startswith("R"):
            raise row.error("failures at rods are not supported", 1, "use a point in place of the rod")
        point, lines = row.count(1, "the number of a point"), row.words[2].split(",")
        if len(lines) > 1:
            message = "lines that part from a point and stay together are not supported"
            raise row.error(message, 2, "one line in each failure: it parts from all others")
        line = row.count(2, "the number of a line")
        if (line, point) not in ends:
            raise row.error(f"line {line} does not end at point {point}", 2)
        time, tension = row.number(3, "the time"), row.number(4, "the tension")
        if time < 0.0 or tension < 0.0:
            raise row.error("time and tension must not be negative", 3)
        bar = ends[line, point]
        found["TIME"] += [f"{bar}, {begin + time!r}"] if time else []
        found["TENSION"] += [f"{bar}, {tension!r}"] if tension else []
    return [line for kind, its in found.items() if its for line in (f"*FAILURE, TYPE={kind}", *dict.fromkeys(its))]
