"""Options of ``fem sweep``, ``lyapunov``, ``sections``, ``basins``, ``continue`` and ``orbits``.

Heavy modules are imported when a command is carried out.
"""

from __future__ import annotations

import argparse
import gc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fem.commands.arguments import (
    add_deck,
    add_output,
    add_sweep,
    count,
    fraction,
    positive,
    positive_count,
    time_or_name,
)
from fem.show.post import add_curve, add_window

if TYPE_CHECKING:
    from fem.study.exponents import Lyapunov
    from fem.study.sections import Sections


def add_commands(commands: Any) -> None:
    add_sweep_command(commands)
    add_chaos_commands(commands)
    add_branch_commands(commands)


def add_sweep_command(commands: Any) -> None:
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


def add_chaos_commands(commands: Any) -> None:
    chaos = commands.add_parser("lyapunov", help="Lyapunov exponents of the motion in the last step of a deck")
    chaos.add_argument("--time", type=positive, metavar="T", help="length of the last step (default: the deck's)")
    what = "how many, the largest first (default: 1)"
    chaos.add_argument("--exponents", type=positive_count, metavar="K", default=1, help=what)
    what = (
        "from the tangent map of every increment and of the impacts between them, or from two motions close to each "
        "other, for explicit steps, IMPACT=MOREAU and large nets (default: tangent)"
    )
    chaos.add_argument("--method", choices=("tangent", "two"), default="tangent", help=what)
    what = "increments between two orthonormalisations (10; two: 400)"
    chaos.add_argument("--every", type=positive_count, metavar="N", help=what)
    what = "fraction of the time left out (default: 0.2)"
    chaos.add_argument("--transient", type=fraction, metavar="FRACTION", default=0.2, help=what)
    what = (
        "what dt does to the exponents, from a second run at dt/2 (twice the work of the first) of one parameter set "
        "in ten and at least one, of all (dt), or of none (default: sample)"
    )
    chaos.add_argument("--error", choices=("sample", "dt", "none"), default="sample", help=what)
    chaos.set_defaults(command=lyapunov_command)
    poincare = commands.add_parser("sections", help="stroboscopic sections, period, bifurcation diagram")
    of_section = "of the section, or a *PARAMETER that has it (default: of the deck's amplitude)"
    poincare.add_argument("--period", type=time_or_name, metavar="T", help=of_section)
    what = "periods in all (default: 400)"
    poincare.add_argument("--cycles", type=positive_count, metavar="N", default=400, help=what)
    what = "of the section, at the end (default: 128)"
    poincare.add_argument("--points", type=positive_count, metavar="N", default=128, help=what)
    what = (
        "displacement or velocity of a printed node, or force T_1 of an element, that a sweep keeps (default: the "
        "displacement that moves most)"
    )
    poincare.add_argument("--what", metavar="U1_2", default="", help=what)
    poincare.set_defaults(command=sections_command)
    for command in (chaos, poincare):
        add_sweep(command, "folder of tables and figures")
    starts = commands.add_parser("basins", help="which attractor each start ends on")
    starts.add_argument("--period", type=time_or_name, metavar="T", help=of_section)
    what = "periods before which no section has settled (default: 20)"
    starts.add_argument("--transient", type=positive_count, metavar="N", default=20, help=what)
    what = "periods after which a start is aperiodic (default: 200)"
    starts.add_argument("--cycles", type=positive_count, metavar="N", default=200, help=what)
    what = "distance of points that are the same, as a fraction of the model's size (default: 1e-3)"
    starts.add_argument("--tolerance", type=fraction, metavar="FRACTION", default=1e-3, help=what)
    what = "what dt does: one start in twenty again at dt/2, a tenth of the work, or none (default: sample)"
    starts.add_argument("--error", choices=("sample", "none"), default="sample", help=what)
    starts.set_defaults(command=basins_command)
    add_sweep(starts, "folder of tables and the picture", required=True, name="--grid")


def add_branch_commands(commands: Any) -> None:
    follow = commands.add_parser("continue", help="follow a motion up and down in a parameter (hysteresis)")
    add_common(follow, required=True)
    follow.add_argument("--back", action="store_true", help="then down again, from the last value to the first")
    what = "at each value before the section (default: 100)"
    follow.add_argument("--transient", type=count, metavar="N", default=100, help="periods " + what)
    what = "of the section at each value, one a period (default: 64)"
    follow.add_argument("--points", type=positive_count, metavar="N", default=64, help=what)
    what = "of the exponent: from the tangent map, from two motions (ropes, stops), or none (default: tangent)"
    follow.add_argument("--method", choices=("tangent", "two", "none"), default="tangent", help=what)
    follow.set_defaults(command=continue_command)
    search = commands.add_parser("orbits", help="periodic orbits, stable or not; their branches and bifurcations")
    add_common(search, required=False)
    what = "periods of the drive after which orbits come back (default: 1)"
    search.add_argument("--multiple", type=positive_count, metavar="K", default=1, help=what)
    what = "periods from the deck's own start to the first guess (default: 0, the start itself)"
    search.add_argument("--transient", type=count, metavar="N", default=0, help=what)
    what = "how many times branches are left for those that begin at period doublings and branch points (default: 1)"
    search.add_argument("--depth", type=count, metavar="N", default=1, help=what)
    search.set_defaults(command=orbits_command)


def add_common(command: argparse.ArgumentParser, required: bool) -> None:
    what = "values of a *PARAMETER, both ends included, in the order in which they are gone through"
    form = "NAME=first:last:count"
    command.add_argument("--vary", metavar=form, action="append", required=required, default=[], help=what)
    what = "of the drive, a time or the *PARAMETER that has it (default: of the deck's amplitude)"
    command.add_argument("--period", type=time_or_name, metavar="T", help=what)
    what = "displacement or velocity of a printed node that the table keeps (default: the displacement that moves most)"
    command.add_argument("--what", metavar="U1_2", default="", help=what)
    add_deck(command)
    add_output(command, "folder of the table and the figure")
    command.add_argument("--quiet", action="store_true", help="print nothing but errors")


def sweep_command(options: argparse.Namespace) -> int:
    gc.set_threshold(100_000)
    from fem.errors import CommandError
    from fem.study.points import points_of
    from fem.study.row import Record, layout_of
    from fem.study.scatter import read_scatter
    from fem.study.seeds import write_seeds
    from fem.study.sweep import run_sweep

    window = options.step, options.start, options.slope, options.constant
    if options.record is None:
        if window != (None, float("-inf"), None, None) or options.occurrences:
            raise CommandError("--step, --from, --slope, --constant and --occurrences are about numbers of --record")
        return run_sweep(options, draw=lambda sweep, folder, _: write_seeds(sweep, sweep.names, folder, options.quiet))
    record = Record(options.record, *window)
    if options.occurrences:
        if record.slope is None:
            raise CommandError("--occurrences takes --slope m and --constant K of N = K range^-m, too")
        read_scatter(options.occurrences, points_of(options).columns())
    from fem.study.files import write_extremes

    draw = partial(write_extremes, record=record, occurrences=options.occurrences, is_quiet=options.quiet)
    return run_sweep(options, partial(layout_of, record=record), draw)


def lyapunov_command(options: argparse.Namespace) -> int:
    from fem.study.exponents import Lyapunov
    from fem.study.files import write_exponents

    study = Lyapunov(options.time, options.exponents, options.method, options.every, options.transient, options.error)
    return swept(options, study) if options.vary else write_exponents(options, study)


def sections_command(options: argparse.Namespace) -> int:
    from fem.study.files import write_section
    from fem.study.sections import Sections

    study = Sections(options.period, options.cycles, options.points, options.what)
    if not options.vary:
        return write_section(options, study)
    from fem.study.points import read_vary
    from fem.study.sweep import first_of

    return swept(options, study.decided(first_of(options.deck, dict(options.parameters), read_vary(options.vary))))


def basins_command(options: argparse.Namespace) -> int:
    from fem.study.basins import run_basins

    return run_basins(options)


def swept(options: argparse.Namespace, study: Lyapunov | Sections) -> int:
    """One row for each combination of parameters, then the figure."""
    from fem.study.files import write_diagram
    from fem.study.sweep import run_sweep

    return run_sweep(
        options,
        lambda _: study,
        lambda sweep, folder, plan: write_diagram(sweep, study, folder, plan.model, options.quiet),
    )


def continue_command(options: argparse.Namespace) -> int:
    from fem.study.files import write_continuation

    return write_continuation(options)


def orbits_command(options: argparse.Namespace) -> int:
    from fem.study.files import write_orbits

    return write_orbits(options)
