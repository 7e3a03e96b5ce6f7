"""``fem post``: options here, heavy modules when a command is carried out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fem.commands.arguments import checked, folder_name, number, positive, positive_count, whole

blocks = checked(whole, lambda count: count > 1, "a number of at least 2")


def add_commands(commands: Any, late: Callable[..., Any]) -> None:
    """The three analyses. ``late`` makes a command of the place of its function."""
    post = commands.add_parser("post", help="analyse the tables of a run: fatigue cycles, statistics, ranges")
    questions = post.add_subparsers(metavar="ANALYSIS", required=True)
    text = "count the rainflow cycles (ASTM E1049) of time series, and compute their fatigue damage"
    rainflow = questions.add_parser("rainflow", help=text)
    add_curve(rainflow)
    text = "sort the cycles of the table into this number of equal ranges"
    rainflow.add_argument("--bins", metavar="N", type=positive_count, help=text)
    rainflow.set_defaults(command=late("fem.show.series:rainflow", is_told=True))
    stats = questions.add_parser(
        "stats", help="print mean, std, extremes, zero-crossing period and expected extremes of time series"
    )
    text = "also print the largest value expected in a duration D"
    stats.add_argument("--duration", metavar="D", type=positive, help=text)
    text = "also fit a Gumbel distribution to the largest values of this number of equal parts of the time"
    stats.add_argument("--blocks", metavar="N", type=blocks, help=text)
    stats.set_defaults(command=late("fem.show.series:stats", is_told=True))
    line = questions.add_parser("range", help="write minimum, mean and maximum along a line as a table and a figure")
    text = "set of the elements that form the line"
    line.add_argument("--set", dest="members", metavar="LINE", required=True, help=text)
    line.set_defaults(command=late("fem.show.shapes:line_range", is_told=True))
    series = "series from the tables: T of element 12, U3 of node 5; T_e1/A+SM_n1/W: a sum, here a stress"
    number_of_line = "T, or a number of the nodes such as SK or U3"
    asked = (rainflow, "T_e12[,U3_n5]", series), (stats, "T_e12[,U3_n5]", series), (line, "T", number_of_line)
    for question, what, text in asked:
        question.add_argument("folder", metavar="DIR", type=folder_name, help="folder with the results of a run")
        question.add_argument("--what", metavar=what, required=True, help=text)
        add_window(question)


def add_curve(command: Any) -> None:
    """``--slope``, ``--constant``, ``--strength`` and ``--goodman``: cycles to failure."""
    text = "m and K of N = K range^-m (N: cycles to failure; range in the units of the series)"
    command.add_argument("--slope", metavar="m", type=positive, help=text)
    command.add_argument("--constant", metavar="K", type=positive, help=text)
    text = "breaking load: the curve is a T-N curve, N = K (range/MBL)^-m"
    command.add_argument("--strength", metavar="MBL", type=positive, help=text)
    text = "count each cycle with the range/(1 - mean/S) that does the same damage about a mean of zero (Goodman)"
    command.add_argument("--goodman", metavar="S", type=positive, help=text)


def add_window(command: Any) -> None:
    """``--step`` and ``--from``: which values count."""
    command.add_argument("--step", metavar="N", type=positive_count, help="use this step only (default: all steps)")
    text = "leave out values before this total time"
    command.add_argument("--from", dest="start", metavar="T", type=number, default=-math.inf, help=text)
