"""``fem lyapunov``, ``sections`` and ``basins``: options here, heavy modules when a command is carried out."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from fem.commands.arguments import add_sweep, fraction, positive, positive_count, time_or_name

if TYPE_CHECKING:
    from fem.chaos.exponents import Lyapunov
    from fem.chaos.sections import Sections


def add_commands(commands: Any) -> None:
    """The three parsers."""
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


def lyapunov_command(options: argparse.Namespace) -> int:
    """``fem lyapunov``."""
    from fem.chaos.exponents import Lyapunov
    from fem.chaos.files import write_exponents

    asked = Lyapunov(options.time, options.exponents, options.method, options.every, options.transient, options.error)
    return swept(options, asked) if options.vary else write_exponents(options, asked)


def sections_command(options: argparse.Namespace) -> int:
    """``fem sections``."""
    from fem.chaos.files import write_section
    from fem.chaos.sections import Sections

    asked = Sections(options.period, options.cycles, options.points, options.what)
    if not options.vary:
        return write_section(options, asked)
    from fem.sweeping.grid import read_vary
    from fem.sweeping.sweep import first_of

    return swept(options, asked.decided(first_of(options.deck, dict(options.parameters), read_vary(options.vary))))


def basins_command(options: argparse.Namespace) -> int:
    """``fem basins``."""
    from fem.chaos.attractors.basins import basins_as_asked

    return basins_as_asked(options)


def swept(options: argparse.Namespace, asked: Lyapunov | Sections) -> int:
    """One row for each combination of parameters, then the figure."""
    from fem.chaos.files import write_diagram
    from fem.sweeping.sweep import sweep_as_asked

    return sweep_as_asked(
        options,
        lambda _: asked,
        lambda sweep, folder, plan: write_diagram(sweep, asked, folder, plan.model, options.quiet),
    )
