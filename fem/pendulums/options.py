"""The options of ``fem pendulum``; those that are not given are left to ``write.py``."""

from __future__ import annotations

import argparse
from pathlib import Path

from fem.commands.arguments import add_force, add_list, number, positive_count

BODY = "bar: slender bars without stretch (default); point: masses on massless rods; elastic:EA, point:EA: with stretch"
ANGLES = "at the start [degrees]: the first from the downward vertical, each other from the previous link (default: 30)"
SPEEDS = "rates of these angles at the start [degrees per second] (default: at rest)"
INTEGRATOR = "TIME INTEGRATOR of the deck (default: ENERGY MOMENTUM)"


def add_options(command: argparse.ArgumentParser) -> None:
    """Options of ``fem pendulum``."""
    command.add_argument("--links", metavar="N", type=positive_count, required=True, help="number of links")
    add_list(command, "--length", "LIST", "of each link [m]: one for all, or N (default: 1)")
    add_list(command, "--mass", "LIST", "of each link [kg] (default: 1)")
    add_list(command, "--angles", "LIST", ANGLES)
    add_list(command, "--speeds", "LIST", SPEEDS)
    command.add_argument("--absolute", action="store_true", help="angles and speeds are those from the vertical")
    command.add_argument("--body", help=BODY)
    command.add_argument("--gravity", metavar="G", type=number, help="along -z [m/s^2] (default: 9.81)")
    command.add_argument("--time", metavar="T", type=number, help="duration [s] (default: 10)")
    command.add_argument("--dt", metavar="DT", type=number, help="increment [s] (default: 1e-3)")
    command.add_argument("--integrator", metavar="NAME", help=INTEGRATOR)
    where = "deck to write (default: pendulum_<N>.inp)"
    command.add_argument("--output", metavar="FILE.inp", type=Path, help=where)
    add_force(command)
    command.add_argument("--run", action="store_true", help="also run it, into results/<deck name>")
