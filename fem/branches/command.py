"""``fem continue`` and ``fem orbits``: options here, heavy modules when the command is carried out."""

from __future__ import annotations

import argparse
from typing import Any

from fem.commands.arguments import add_deck, add_output, count, positive_count, time_or_name


def add_commands(commands: Any) -> None:
    """The two parsers."""
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
    """What both take."""
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


def continue_command(options: argparse.Namespace) -> int:
    """``fem continue``."""
    from fem.branches.files import write_continuation

    return write_continuation(options)


def orbits_command(options: argparse.Namespace) -> int:
    """``fem orbits``."""
    from fem.branches.files import write_orbits

    return write_orbits(options)
