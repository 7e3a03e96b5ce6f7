"""Options of ``fem sweep``, ``converge``, ``lyapunov``, ``sections``, ``basins``, ``continue``, ``orbits``, ``fit``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from fem.commands import arguments as option


def add_sweep(commands: Any) -> None:
    sweep = commands.add_parser(
        "sweep", help="solve a deck for many parameter sets and collect the results in one table"
    )
    where = "folder of the table (default: results/<deck name>_sweep); an interrupted sweep is continued there"
    option.add_sweep(sweep, where)
    text = "parameter sets, one per line, below a line of *PARAMETER names (or initial values); instead of --vary; "
    text += "columns case, seeds, probability or occurrences make them load cases"
    sweep.add_argument("--cases", metavar="FILE.csv", type=Path, help=text)
    text = "also mean, std, extremes and Tz of time series (T of element 12, U3 of node 5) of each run, and a figure"
    sweep.add_argument("--record", metavar="T_e12[,U3_n5]", help=text)
    text = "of the complete table (default: csv); npy: for numpy.load; parquet: needs pyarrow (extra parquet)"
    sweep.add_argument("--format", choices=("csv", "npy", "parquet"), default="csv", help=text)
    option.add_window(sweep)
    option.add_curve(sweep)
    text = "time for which the largest value of each case and each number is estimated, from its seeds or its peaks"
    sweep.add_argument("--duration", metavar="D", type=option.positive, help=text)
    text = (
        "also compute the error bar of each largest value, from companions of each run (three to four times the work)"
    )
    sweep.add_argument("--error-bars", action="store_true", help=text)
    text = "scatter diagram for the total damage: CSV with varied parameters and their probability or occurrences"
    sweep.add_argument("--occurrences", metavar="FILE.csv", type=Path, help=text)
    sweep.set_defaults(command=option.late("fem.study.files:write_sweep", is_whole=True))


def add_converge(commands: Any) -> None:
    search = commands.add_parser(
        "converge", help="find increments and a mesh for a wanted accuracy, and write the deck that has it"
    )
    what = "number that is to be accurate, as max:T_e12, min:U3_n5, mean:T_e1, U1_n2@3.5, frequency_1_1; repeatable"
    search.add_argument("--want", metavar="max:T_e12", action="append", required=True, help=what)
    what = "the accuracy, a part of the number itself (default: 1%%)"
    search.add_argument("--within", metavar="1%", type=option.percent, default=0.01, help=what)
    option.add_deck(search)
    option.add_output(search, "deck to write (default: <deck name>_converged.inp)", "FILE.inp")
    what = "longest time that the runs of one round may take, as estimated from the round before (default: 3600 s)"
    search.add_argument("--limit", metavar="SECONDS", type=option.positive, default=3600.0, help=what)
    most = "largest number of processes (default: one per processor)"
    search.add_argument("--workers", metavar="N", type=option.workers, help=most)
    search.set_defaults(command=option.late("fem.study.certainty.converge:write_converged", is_told=True))


def add_chaos(commands: Any) -> None:
    chaos = commands.add_parser("lyapunov", help="compute Lyapunov exponents of the motion in the last step of a deck")
    chaos.add_argument(
        "--time", type=option.positive, metavar="T", help="length of the last step (default: the deck's)"
    )
    what = "number of exponents, the largest first (default: 1)"
    chaos.add_argument("--exponents", type=option.positive_count, metavar="K", default=1, help=what)
    what = (
        "tangent: from the tangent maps of increments and impacts; two: from two neighbouring motions, for explicit "
        "steps, IMPACT=MOREAU and large nets (default: tangent)"
    )
    chaos.add_argument("--method", choices=("tangent", "two"), default="tangent", help=what)
    what = "increments between two orthonormalisations (default: 10; with --method two: 400)"
    chaos.add_argument("--every", type=option.positive_count, metavar="N", help=what)
    what = "fraction of the time that is left out at the start (default: 0.2)"
    chaos.add_argument("--transient", type=option.fraction, metavar="FRACTION", default=0.2, help=what)
    what = (
        "check the effect of dt by a second run at dt/2 (twice the work of the first) of one parameter set in ten "
        "(sample), of all (dt), or of none (default: sample)"
    )
    chaos.add_argument("--error", choices=("sample", "dt", "none"), default="sample", help=what)
    chaos.set_defaults(command=option.late("fem.study.files:write_lyapunov", is_whole=True))
    poincare = commands.add_parser(
        "sections", help="compute stroboscopic sections, the period of the motion, bifurcation diagrams"
    )
    of_section = "period of the section, or a *PARAMETER with that value (default: the period of the deck's amplitude)"
    poincare.add_argument("--period", type=option.time_or_name, metavar="T", help=of_section)
    what = "number of periods (default: 400)"
    poincare.add_argument("--cycles", type=option.positive_count, metavar="N", default=400, help=what)
    what = "number of points of the section, taken in the last periods (default: 128)"
    poincare.add_argument("--points", type=option.positive_count, metavar="N", default=128, help=what)
    what = (
        "displacement or velocity of a printed node (U1_n2), or force of an element (T_e1), or the largest in a set at "
        "each instant (T_TOPS), for the table of a sweep (default: the displacement that varies most)"
    )
    poincare.add_argument("--what", metavar="U1_n2", default="", help=what)
    poincare.set_defaults(command=option.late("fem.study.files:write_sections", is_whole=True))
    for command in (chaos, poincare):
        option.add_sweep(command, "folder of tables and figures")
    starts = commands.add_parser(
        "basins", help="find the attractor that each initial state leads to (basins of attraction)"
    )
    starts.add_argument("--period", type=option.time_or_name, metavar="T", help=of_section)
    what = "periods before the first check whether the motion has settled (default: 20)"
    starts.add_argument("--transient", type=option.positive_count, metavar="N", default=20, help=what)
    what = "periods after which a motion that has not settled counts as aperiodic (default: 200)"
    starts.add_argument("--cycles", type=option.positive_count, metavar="N", default=200, help=what)
    what = "points closer than this fraction of the model's size are the same (default: 1e-3)"
    starts.add_argument("--tolerance", type=option.fraction, metavar="FRACTION", default=1e-3, help=what)
    what = "effect of dt: repeat one start in twenty at dt/2 (a tenth of the work), or none (default: sample)"
    starts.add_argument("--error", choices=("sample", "none"), default="sample", help=what)
    starts.set_defaults(command=option.late("fem.study.files:run_basins", is_whole=True))
    option.add_sweep(starts, "folder of the tables and the figure", required=True, name="--grid")


def add_branches(commands: Any) -> None:
    follow = commands.add_parser("continue", help="follow a motion as a parameter rises and falls (hysteresis)")
    add_common(follow, required=True)
    follow.add_argument("--back", action="store_true", help="then return, from the last value to the first")
    what = "left out at each value before the section (default: 100)"
    follow.add_argument("--transient", type=option.count, metavar="N", default=100, help="periods " + what)
    what = "number of points of the section at each value, one per period (default: 64)"
    follow.add_argument("--points", type=option.positive_count, metavar="N", default=64, help=what)
    what = "method for the exponent: the tangent map, two motions (for ropes and stops), or none (default: tangent)"
    follow.add_argument("--method", choices=("tangent", "two", "none"), default="tangent", help=what)
    follow.set_defaults(command=option.late("fem.study.files:write_continuation", is_whole=True))
    search = commands.add_parser(
        "orbits", help="find stable and unstable periodic orbits, their branches and bifurcations"
    )
    add_common(search, required=False)
    what = "period of the orbits, in periods of the excitation (default: 1)"
    search.add_argument("--multiple", type=option.positive_count, metavar="K", default=1, help=what)
    what = "periods to run from the deck's initial state to the first guess (default: 0, the initial state itself)"
    search.add_argument("--transient", type=option.count, metavar="N", default=0, help=what)
    what = "follow branches that start at bifurcations, and branches of these, to this depth (default: 1)"
    search.add_argument("--depth", type=option.count, metavar="N", default=1, help=what)
    search.set_defaults(command=option.late("fem.study.files:write_orbits", is_whole=True))


def add_common(command: argparse.ArgumentParser, required: bool) -> None:
    what = "values of a *PARAMETER, both ends included, in the order in which they are computed"
    form = "NAME=first:last:count"
    command.add_argument("--vary", metavar=form, action="append", required=required, default=[], help=what)
    what = "period of the excitation, or a *PARAMETER with that value (default: the period of the deck's amplitude)"
    command.add_argument("--period", type=option.time_or_name, metavar="T", help=what)
    what = (
        "displacement or velocity of a printed node (U1_n2), or force of an element (T_e1), or the largest in a set at "
        "each instant (T_TOPS), for the table (default: the displacement that varies most)"
    )
    command.add_argument("--what", metavar="U1_n2", default="", help=what)
    option.add_deck(command)
    option.add_output(command, "folder of the table and the figure")
    command.add_argument("--quiet", action="store_true", help="print errors only")


def add_fit(commands: Any) -> None:
    command = commands.add_parser("fit", help="find parameters of a deck from measured series, with intervals")
    option.add_deck(command)
    what = "CSV files with time and columns named as in the tables (T_e12, U3_n5)"
    command.add_argument("records", metavar="DATA.csv", type=Path, nargs="*", help=what)
    what = "a *PARAMETER and its bounds; may be repeated; by its logarithm where high/low >= 10, else as it is"
    command.add_argument("--vary", metavar="NAME=low:high[:log|:linear]", action="append", required=True, help=what)
    what = "a file with parameters of its run alone; may be repeated"
    form: dict[str, Any] = {"metavar": "FILE.csv:NAME=VALUE,...", "type": option.file_with_values, "default": []}
    command.add_argument("--record", action="append", help=what, **form)
    what = "a line for each run: its parameters, and statistics of it (T_e12_max, also _min, _mean, _std, _Tz)"
    command.add_argument("--cases", metavar="FILE.csv", type=Path, help=what)
    what = "standard deviation of the errors of a column (default: from the residuals); may be repeated"
    command.add_argument("--sigma", metavar="T_e12=0.5", type=option.assignment, action="append", default=[], help=what)
    what = "starting points: the deck's values, then others between the bounds (default: 1)"
    command.add_argument("--starts", metavar="N", type=option.positive_count, default=1, help=what)
    what = "leave out this fraction of the records, or of the time of a single one, and compare it afterwards"
    command.add_argument("--hold-out", metavar="FRACTION", type=option.fraction, default=0.0, help=what)
    what = "times of the records count from the start of this step (default: total time)"
    command.add_argument("--step", metavar="N", type=option.positive_count, help=what)
    what = "leave out values before this time in statistics; a time, or a *PARAMETER"
    command.add_argument("--from", dest="start", metavar="T", type=option.time_or_name, default=0.0, help=what)
    what = "derivatives from the runs themselves, as of fem run --sensitivity, not from differences of runs"
    command.add_argument("--gradients", action="store_true", help=what)
    command.add_argument("--workers", metavar="N", type=option.workers, help="largest number of processes")
    command.add_argument("--write", metavar="FITTED.inp", type=Path, help="write the deck with the values found")
    option.add_output(command, "folder of tables and figure (default: results/<deck name>_fit)")
    command.add_argument("--quiet", action="store_true", help="print errors only")
    command.set_defaults(command=option.late("fem.study.fit:write_fit", is_whole=True))
