"""``fem lyapunov`` and ``fem sections``: options here, heavy modules when the command is carried out."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fem.commands.arguments import add_force, add_set, folder_name, positive, positive_count, workers

if TYPE_CHECKING:
    from fem.chaos.exponents import Lyapunov
    from fem.chaos.sections import Sections
    from fem.model import Model
    from fem.sweeping.sweep import Sweep


def add_commands(commands: Any) -> None:
    """The two parsers."""
    chaos = commands.add_parser("lyapunov", help="Lyapunov exponents of the motion in the last step of a deck")
    chaos.add_argument("--time", type=positive, metavar="T", help="length of the last step (default: the deck's)")
    chaos.add_argument(
        "--exponents", type=positive_count, metavar="K", default=1, help="how many, the largest first (default: 1)"
    )
    chaos.add_argument(
        "--method",
        choices=("tangent", "two"),
        default="tangent",
        help="from the tangent map of every increment, or from two motions close to each other, for ropes, explicit "
        "steps and large nets (default: tangent)",
    )
    chaos.add_argument(
        "--every", type=positive_count, metavar="N", help="increments between two orthonormalisations (10; two: 400)"
    )
    chaos.add_argument(
        "--transient", type=share, metavar="SHARE", default=0.2, help="share of the time left out (default: 0.2)"
    )
    chaos.add_argument(
        "--error",
        choices=("sample", "dt", "none"),
        default="sample",
        help="what dt does to the exponents, from a second run at dt/2 (twice the work of the first) of one parameter "
        "set in ten and at least one, of all (dt), or of none (default: sample)",
    )
    chaos.set_defaults(command=lyapunov_command)
    poincare = commands.add_parser("sections", help="stroboscopic sections, period, bifurcation diagram")
    poincare.add_argument(
        "--period", type=positive, metavar="T", help="of the section (default: of the deck's amplitude)"
    )
    poincare.add_argument(
        "--cycles", type=positive_count, metavar="N", default=400, help="periods in all (default: 400)"
    )
    poincare.add_argument(
        "--points", type=positive_count, metavar="N", default=128, help="of the section, at the end (default: 128)"
    )
    poincare.add_argument(
        "--what", metavar="U1_2", default="", help="displacement or velocity of a printed node that a sweep keeps"
    )
    poincare.set_defaults(command=sections_command)
    for command in (chaos, poincare):
        command.add_argument("deck", metavar="DECK", type=Path, help="input deck (.inp)")
        command.add_argument(
            "--vary",
            metavar="NAME=first:last:count",
            action="append",
            default=[],
            help="values of a *PARAMETER, both ends included, or NAME=value,value,...; repeat for all combinations",
        )
        add_set(command)
        command.add_argument("--output", metavar="DIR", type=folder_name, help="folder of tables and figures")
        add_force(command)
        command.add_argument(
            "--workers", metavar="N", type=workers, help="at most N processes (default: all processors)"
        )
        command.add_argument("--scheduler", metavar="WHERE", help="compute with Dask: local, or tcp://host:port")
        command.add_argument("--quiet", action="store_true", help="print nothing but errors")


def share(text: str) -> float:
    """From 0 to below 1."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to below 1")
    return number


def lyapunov_command(options: argparse.Namespace) -> int:
    """``fem lyapunov``."""
    from fem.chaos.exponents import Lyapunov

    asked = Lyapunov(options.time, options.exponents, options.method, options.every, options.transient, options.error)
    if options.vary:
        return swept(options, asked)
    from fem.chaos.files import write_exponents

    return write_exponents(options.deck, dict(options.parameters), asked, options.output, options.quiet, options.force)


def sections_command(options: argparse.Namespace) -> int:
    """``fem sections``."""
    from fem.chaos.sections import Sections

    asked = Sections(options.period, options.cycles, options.points, options.what)
    if options.vary:
        return swept(options, asked)
    from fem.chaos.files import write_section

    return write_section(options.deck, dict(options.parameters), asked, options.output, options.quiet, options.force)


def swept(options: argparse.Namespace, asked: Lyapunov | Sections) -> int:
    """One row for each combination of parameters, then the figure."""
    from fem.chaos.files import write_diagram
    from fem.sweeping.sweep import sweep_as_asked

    def draw(sweep: Sweep, folder: Path, model: Model) -> None:
        write_diagram(sweep, asked, folder, model, options.quiet)

    found: Sweep = sweep_as_asked(options, lambda _: asked, draw)
    failures = found.failures()
    if failures:
        print(f"fem: error: {failures}", file=sys.stderr, flush=True)
    return 3 if failures else 0
