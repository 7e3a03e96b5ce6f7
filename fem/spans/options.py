"""The options of ``fem line``; those that are not given are left to ``write.py``."""

from __future__ import annotations

import argparse
from pathlib import Path

from fem.commands.arguments import add_force, add_list, not_negative, positive, positive_count

SECTION = "of the catalogue: R4-studless-142 (grade, chain, mm), studlink-76, wire-90, polyester-200, drake, dove, ..."
NUMBERS = (
    ("--EA", "stiffness", "E A of a line that is not in the catalogue [N]"),
    ("--mass", "mass", "its mass per natural length [kg/m]"),
    ("--diameter", "diameter", "its diameter, that of drag, too [m]"),
    ("--volume-diameter", "volume_diameter", "of a cylinder that displaces as much water (default: the diameter)"),
    ("--drag", "drag", "coefficient across the line, on the diameter (default: 1.2)"),
    ("--axial-drag", "axial_drag", "coefficient along the line, on its circumference (default: 0)"),
    ("--added-mass", "added_mass", "coefficient across the line, of the displaced water (default: 1)"),
)


def add_options(command: argparse.ArgumentParser) -> None:
    """Options of ``fem line``."""
    add_list(command, "--last", "X,Y,Z", "end that moves, the fairlead; z up, the surface at 0 [m]", required=True)
    add_list(command, "--first", "X,Y,Z", "other end, the anchor (default: 0,0,-depth)")
    made = command.add_argument_group("what the line is made of")
    made.add_argument("--section", metavar="NAME", help=SECTION)
    for option, name, text in NUMBERS:
        made.add_argument(option, dest=name, metavar="NUMBER", type=positive, help=text)
    shape = command.add_mutually_exclusive_group(required=True)
    shape.add_argument("--length", metavar="L", type=positive, help="natural length [m]")
    shape.add_argument("--tension", metavar="T", type=positive, help="or the tension at the last end [N]")
    shape.add_argument("--sag", metavar="S", type=positive, help="or the sag at half span [m]")
    command.add_argument("--depth", metavar="D", type=positive, help="of water, with a bottom (default: in air)")
    command.add_argument("--friction", metavar="MU", type=positive, help="coefficient of the bottom (default: 0)")
    add_list(command, "--stream", "VX,VY", "velocity of the current; in air of the wind at z = 10 [m/s]")
    add_list(command, "--motion", "AX,AY,AZ", "amplitudes of the last end, a cosine [m]")
    text = "or a CSV table with its motion: time, and columns named surge, sway, heave"
    command.add_argument("--record", metavar="FILE.csv", type=Path, help=text)
    command.add_argument("--period", metavar="P", type=positive, help="of the motion [s]")
    text = "internal damping, as a fraction of the critical one of a bar, where the end moves (default: 0.3; 0: none)"
    command.add_argument("--damping", metavar="Z", type=not_negative, help=text)
    command.add_argument("--bars", metavar="N", type=positive_count, help="number of bars (default: 50)")
    command.add_argument("--time", metavar="T", type=positive, help="duration of the motion (default: 10 periods)")
    command.add_argument("--dt", metavar="DT", type=positive, help="increment (default: period/200)")
    command.add_argument("--output", metavar="FILE.inp", type=Path, help="deck to write (default: line.inp)")
    add_force(command)
    text = "also run it, into results/<deck name>, and draw the tensions"
    command.add_argument("--run", action="store_true", help=text)
