"""Values of command line options, with messages that say what was expected."""

from __future__ import annotations

import argparse
import math
from pathlib import Path


def is_whole(text: str) -> bool:
    """Digits only."""
    return text.isascii() and text.isdigit()


def count(text: str) -> int:
    """A whole number, 0 or more."""
    if not is_whole(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def workers(text: str) -> int:
    """1, 2, ..."""
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes (1, 2, ...)")
    return int(text)


def positive_count(text: str) -> int:
    """A whole number above zero."""
    if not is_whole(text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def positive(text: str) -> float:
    """A finite number above zero."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above zero")
    return number


def folder_name(text: str) -> Path:
    """A folder that has a name: an empty one would be the current folder by accident."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the folder has no name")
    return Path(text)


def add_force(command: argparse.ArgumentParser) -> None:
    """``--force``."""
    text = "replace files of the program's names where others are, too; files that are read are never written over"
    command.add_argument("--force", action="store_true", help=text)


def add_set(command: argparse.ArgumentParser) -> None:
    """``--set NAME=VALUE``, repeatable."""
    command.add_argument(
        "--set",
        dest="parameters",
        metavar="NAME=VALUE",
        type=assignment,
        action="append",
        default=[],
        help="override a *PARAMETER of the deck; repeat for more",
    )


def assignment(text: str) -> tuple[str, float]:
    """``NAME=VALUE`` as a pair; Fortran's D exponent is understood."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (equals and name and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, number(value, f"{value!r} in {text!r}")


def number(text: str, shown: str = "") -> float:
    """A finite number; Fortran's D exponent is understood. ``shown``: what messages quote in place of the text."""
    try:
        value = float(text.upper().replace("D", "E"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown or repr(text)} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{shown or repr(text)} is not a finite number")
    return value
