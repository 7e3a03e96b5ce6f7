"""Values of command line options, with messages that say what was expected, and the options that commands share."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

Value = TypeVar("Value", int, float)


def checked(read: Callable[[str], Value], is_valid: Callable[[Value], bool], what: str) -> Callable[[str], Value]:
    """The type of an option: what ``read`` makes of its text."""

    def value(text: str) -> Value:
        with suppress(ValueError):
            found = read(text)
            if is_valid(found):
                return found
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")

    return value


def whole(text: str) -> int:
    """A whole number written in digits only."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError
    return int(text)


count = checked(whole, lambda number: True, "a whole number")
positive_count = checked(whole, lambda number: number > 0, "a whole number of at least 1")
workers = checked(whole, lambda number: 0 < number < 10**9, "a number of processes (1, 2, ...)")
port = checked(whole, lambda number: 0 < number < 65_536, "a port from 1 to 65535")
positive = checked(float, lambda number: 0.0 < number < math.inf, "a positive number")
not_negative = checked(float, lambda number: 0.0 <= number < math.inf, "a number that is zero or positive")
blocks = checked(whole, lambda number: number > 1, "a number of at least 2")
fraction = checked(float, lambda number: 0.0 <= number < 1.0, "a fraction, 0 or more and below 1")


def percent(text: str) -> float:
    """``1%`` as a fraction; the sign is required, so that nobody means 1 % by 0.01 and gets 0.01 %."""
    number = text.strip().removesuffix("%")
    with suppress(ValueError):
        if number != text.strip() and 0.0 < float(number) < 100.0:
            return float(number) / 100.0
    raise argparse.ArgumentTypeError(f"{text!r} is not an accuracy in percent, such as 1% or 0.1%")


def names(text: str) -> tuple[str, ...]:
    """Names of parameters between commas."""
    found = tuple(part.strip() for part in text.split(","))
    if not all(part.isidentifier() for part in found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of parameters such as EA,Cd")
    return found


def time_or_name(text: str) -> float | str:
    """A time above zero, or the name of a ``*PARAMETER`` that is one."""
    return text if text[:1].isalpha() and text.isidentifier() else positive(text)


def folder_name(text: str) -> Path:
    """A folder that has a name: an empty one would be the current folder by accident."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return Path(text)


def add_list(command: argparse.ArgumentParser, option: str, form: str, text: str, **options: Any) -> None:
    """An option with numbers between commas, as many as its form shows (LIST: any); the first may be negative.
    options  of ``add_argument``"""
    count = 0 if form == "LIST" else form.count(",") + 1

    def numbers(value: str) -> tuple[float, ...]:
        parts = value.split(",")
        if count and len(parts) != count:
            raise argparse.ArgumentTypeError(f"{value!r} is not of the form {form}")
        return tuple(number(part) for part in parts)

    command._negative_number_matcher = re.compile(r"^-\.?\d")
    command.add_argument(option, metavar=form, type=numbers, help=text, **options)


def add_deck(command: argparse.ArgumentParser) -> None:
    """The deck, and ``--set NAME=VALUE``, repeatable."""
    command.add_argument("deck", metavar="DECK", type=Path, help="input deck (.inp)")
    pair: dict[str, Any] = {"metavar": "NAME=VALUE", "type": assignment, "action": "append", "default": []}
    command.add_argument("--set", dest="parameters", **pair, help="override a *PARAMETER of the deck; may be repeated")


def add_output(command: argparse.ArgumentParser, where: str, what: str = "DIR") -> None:
    """``--output DIR`` and ``--force``."""
    command.add_argument("--output", metavar=what, type=folder_name, help=where)
    add_force(command)


def add_force(command: argparse.ArgumentParser) -> None:
    text = "write into a folder that has other files, too, and replace those named like results; never an input file"
    command.add_argument("--force", action="store_true", help=text)


def add_sweep(command: argparse.ArgumentParser, where: str, required: bool = False, name: str = "--vary") -> None:
    values = (
        "values of a *PARAMETER or of an initial value (U1_n2: displacement 1 of node 2, V1_n2: its velocity), both "
        "ends included, or NAME=value,value,...; repeat the option for all combinations"
    )
    form = "NAME=first:last:count"
    command.add_argument(name, dest="vary", metavar=form, action="append", required=required, default=[], help=values)
    add_deck(command)
    add_output(command, where)
    most = "largest number of processes or threads (default: one per processor)"
    command.add_argument("--workers", metavar="N", type=workers, help=most)
    command.add_argument(
        "--scheduler", metavar="WHERE", help="compute with Dask: local, or tls://host:port (or tcp://, not encrypted)"
    )
    command.add_argument("--quiet", action="store_true", help="print errors only")


def assignment(text: str) -> tuple[str, float]:
    """``NAME=VALUE`` as a pair; Fortran's D exponent is understood."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (equals and name and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, number(value, f"{value!r} in {text!r}")


def file_with_values(text: str) -> tuple[Path, dict[str, float]]:
    """``run3.csv:period=1.6,r=0.2`` as a pair of file and values by name."""
    file, _, own = text.rpartition(":")
    if not (file and own):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form FILE.csv:NAME=VALUE,...")
    return Path(file), dict(assignment(part) for part in own.split(","))


def strength(text: str) -> tuple[str, float]:
    """``SET=FORCE`` as a pair, the set in capitals; ``FORCE`` alone with an empty set, which means all."""
    name, value = assignment(text) if "=" in text else ("", number(text))
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a force above zero")
    return name.upper(), value


def number(text: str, shown: str = "") -> float:
    """A finite number; Fortran's D exponent is understood. ``shown``: what messages quote in place of the text."""
    try:
        value = float(text.upper().replace("D", "E"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown or repr(text)} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{shown or repr(text)} is not a finite number")
    return value


def add_curve(command: Any) -> None:
    """``--slope``, ``--constant``, ``--strength`` and ``--goodman``: cycles to failure."""
    text = "m and K of N = K range^-m (N: cycles to failure; range in the units of the series)"
    command.add_argument("--slope", metavar="m", type=positive, help=text)
    command.add_argument("--constant", metavar="K", type=positive, help=text)
    text = "breaking load: the curve is a T-N curve, N = K (range/MBL)^-m"
    command.add_argument("--strength", metavar="MBL", type=positive, help=text)
    text = "count each cycle with the range/(1 - mean/S) that does the same damage about a mean of zero (Goodman)"
    command.add_argument("--goodman", metavar="S", type=positive, help=text)


def add_window(command: Any) -> None:
    """``--step`` and ``--from``: which values count."""
    command.add_argument("--step", metavar="N", type=positive_count, help="use this step only (default: all steps)")
    text = "leave out values before this total time"
    command.add_argument("--from", dest="start", metavar="T", type=number, default=-math.inf, help=text)


def at(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def late(
    place: str | Callable[..., Any], is_told: bool = False, is_whole: bool = False
) -> Callable[[argparse.Namespace], int]:
    """A command: a function, or the one at a place, imported when it is carried out, given the options by name.
    is_told  and ``say``;  is_whole: the options as they are, instead"""

    def command(options: argparse.Namespace) -> int:
        given = values_of(options) | ({"say": at("fem.runs.console:say")} if is_told else {})
        run = at(place) if isinstance(place, str) else place
        found = run(options) if is_whole else run(**given)
        return found if isinstance(found, int) else 0

    return command


def values_of(options: argparse.Namespace) -> dict[str, Any]:
    """The options of a command by the names of its function's arguments."""
    return {name: value for name, value in vars(options).items() if name != "command"}
