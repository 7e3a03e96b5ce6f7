"""``fem sweep``: its options here, heavy modules when it is carried out."""

from __future__ import annotations

import argparse
import gc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fem.commands.arguments import add_sweep
from fem.show.post import add_curve, add_window

if TYPE_CHECKING:
    from fem.sweeping.recorded.record import Record
    from fem.sweeping.sweep import Plan, Sweep


def add_command(commands: Any) -> None:
    """The parser."""
    sweep = commands.add_parser("sweep", help="solve a deck for many parameter sets; one table of their results")
    where = "folder of the table (default: results/<deck name>_sweep); the same sweep in it goes on where it stopped"
    add_sweep(sweep, where)
    text = "parameter sets, one a line, below a line of *PARAMETER names (or starts), in place of --vary"
    sweep.add_argument("--cases", metavar="FILE.csv", type=Path, help=text)
    text = "also mean, std, extremes and Tz of numbers over time (T of element 12, U3 of node 5) in each run; a figure"
    sweep.add_argument("--record", metavar="T_e12[,U3_n5]", help=text)
    add_window(sweep)
    add_curve(sweep)
    text = "scatter diagram: CSV with parameters that are varied and their probability or occurrences; total damage"
    sweep.add_argument("--occurrences", metavar="FILE.csv", type=Path, help=text)
    sweep.set_defaults(command=sweep_command)


def sweep_command(options: argparse.Namespace) -> int:
    """``fem sweep``."""
    gc.set_threshold(100_000)
    from fem.errors import CommandError
    from fem.sweeping.grid import points_of
    from fem.sweeping.recorded.record import Record
    from fem.sweeping.recorded.scatter import read_scatter
    from fem.sweeping.row import layout_of
    from fem.sweeping.sweep import sweep_as_asked

    window = options.step, options.start, options.slope, options.constant
    if options.record is None:
        if window != (None, float("-inf"), None, None) or options.occurrences:
            raise CommandError("--step, --from, --slope, --constant and --occurrences are about numbers of --record")
        return sweep_as_asked(options)
    record = Record(options.record, *window)
    if options.occurrences:
        if record.slope is None:
            raise CommandError("--occurrences takes --slope m and --constant K of N = K range^-m, too")
        read_scatter(options.occurrences, points_of(options).columns())
    draw = partial(write_extremes, record=record, occurrences=options.occurrences, is_quiet=options.quiet)
    return sweep_as_asked(options, partial(layout_of, record=record), draw)


def write_extremes(
    sweep: Sweep, folder: Path, plan: Plan, record: Record, occurrences: Path | None, is_quiet: bool
) -> None:
    """The figure, and what a scatter diagram makes of the table."""
    import numpy as np

    from fem.show.style import save_png
    from fem.sweeping.recorded.scatter import extremes, life_of, read_scatter, write_lives
    from fem.sweeping.row import EXTREMES, LIFE, SCATTER

    found = {name: np.where(sweep.failed, np.nan, sweep[name]) for name in record.columns()}
    save_png(extremes(found, sweep.parameters, record.what, sweep.is_si), folder / EXTREMES)
    written, lives = [EXTREMES], []
    if occurrences is not None:
        scatter = read_scatter(occurrences, sweep.parameters)
        lives = [life_of(name, found, scatter, sweep.parameters) for name in record.what]
        write_lives(lives, scatter, folder / SCATTER, folder / LIFE)
        written += [SCATTER, LIFE]
    if not is_quiet:
        print(f"           and {', '.join(written)}")
        for life in lives:
            print(life)
