"""The options of ``fem pendulum``, and the file it writes."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from fem.commands.arguments import add_force, number, positive_count
from fem.errors import CommandError
from fem.files.whole import replace_file
from fem.pendulum.description import Pendulum, body_of, per_link
from fem.pendulum.text import deck_text

BODY = "bar: slender bars without stretch (default); point: masses on massless rods; elastic:EA, point:EA: with stretch"
ANGLES = "at the start [degrees]: the first from the downward vertical, each other from the previous link (default: 30)"
SPEEDS = "rates of these angles at the start [degrees per unit of time] (default: at rest)"

INTEGRATOR = "TIME INTEGRATOR of the deck (default: ENERGY MOMENTUM)"


def add_options(command: argparse.ArgumentParser) -> None:
    """Options of ``fem pendulum``."""
    command._negative_number_matcher = re.compile(r"^-\.?\d")  # a list may begin with a minus sign
    command.add_argument("--links", metavar="N", type=positive_count, required=True, help="number of links")
    add_list(command, "--length", (1.0,), "of each link: one for all, or N (default: 1)")
    add_list(command, "--mass", (1.0,), "of each link (default: 1)")
    add_list(command, "--angles", (30.0,), ANGLES)
    add_list(command, "--speeds", (), SPEEDS)
    command.add_argument("--absolute", action="store_true", help="angles and speeds are those from the vertical")
    command.add_argument("--body", default="bar", help=BODY)
    command.add_argument("--gravity", metavar="G", type=number, default=9.81, help="along -z (default: 9.81)")
    command.add_argument("--time", metavar="T", type=number, default=10.0, help="duration (default: 10)")
    command.add_argument("--dt", metavar="DT", type=number, default=1e-3, help="increment (default: 1e-3)")
    command.add_argument("--integrator", metavar="NAME", default="", help=INTEGRATOR)
    where = "deck to write (default: pendulum_<N>.inp)"
    command.add_argument("--output", metavar="FILE.inp", type=Path, help=where)
    add_force(command)
    command.add_argument("--run", action="store_true", help="also run it, into results/<deck name>")


def add_list(command: argparse.ArgumentParser, option: str, default: tuple[float, ...], text: str) -> None:
    """An option with one number for all links, or one per link."""
    command.add_argument(option, metavar="LIST", type=numbers, default=default, help=text)


def numbers(text: str) -> tuple[float, ...]:
    """Numbers separated by commas."""
    return tuple(number(part) for part in text.split(","))


def described(options: argparse.Namespace) -> Pendulum:
    """The pendulum asked for. Raises CommandError."""
    n = options.links
    body, stiffness = body_of(options.body)
    return Pendulum(
        per_link(options.length, n, "--length"), per_link(options.mass, n, "--mass"),
        per_link(options.angles, n, "--angles"), per_link(options.speeds, n, "--speeds") if options.speeds else (),
        options.absolute, body, stiffness, options.gravity, options.time, options.dt, options.integrator,
    )  # fmt: skip


def write_pendulum(pendulum: Pendulum, path: Path | None, force: bool = False) -> Path:
    """Write the deck to ``path`` or to ``pendulum_<N>.inp``; over a file of other content only with ``force``.

    Raises
    ------
    CommandError  the file exists and holds something else, or the path is no file.
    """
    content = deck_text(pendulum).encode()
    target = Path(f"pendulum_{pendulum.links}.inp") if path is None else path
    if target.is_dir():
        raise CommandError(f"{target} is a folder; --output names the deck to write")
    if os.path.lexists(target):
        if target.is_file() and target.read_bytes() == content:
            return target
        if not force:
            where = "--output FILE.inp says where to write, --force writes over it"
            raise CommandError(f"{target} exists and holds another deck; {where}")
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, content)
    return target
