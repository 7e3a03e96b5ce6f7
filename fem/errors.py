"""Everything that can go wrong on purpose: each failure has a type, and keeps what is known about it."""

from __future__ import annotations

import contextlib
import errno
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

MAX_PROBLEMS = 50
"""A deck reports at most this many errors in one go."""
MAX_NAMED = 30
"""Names that a message lists."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One error in a deck: its place, what is wrong, and a suggestion.

    >>> print(fem.Problem("net.inp", 7, 1, "there is no node 9", "9, 1, 3", "the last node is 8"))
    net.inp:7:1: error: there is no node 9; the last node is 8
        9, 1, 3
        ^
    """

    file: str
    line: int
    column: int
    message: str
    text: str = ""
    hint: str = ""
    included_from: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        """``file:line:column: error: message``, the line, a caret, the chain of including files."""
        where = f"{self.file}:{self.line}:{self.column}: error: {self.message}"
        if self.hint:
            where += f"; {self.hint}"
        lines = [where]
        if self.text:
            # Tabs and control characters would move the caret away from its column.
            shown = "".join(c if c.isprintable() else " " for c in self.text.rstrip("\r\n"))
            lines += ["    " + shown, "    " + " " * (self.column - 1) + "^"]
        lines += [f"    included from {file}:{line}" for file, line in self.included_from]
        return "\n".join(lines)


class FemError(Exception):
    """Base class of the program's errors; ``exit_code`` is the exit code of the command.

    >>> try:
    ...     fem.run("nowhere.inp")
    ... except fem.FemError as error:
    ...     print(error.exit_code, error)
    2 nowhere.inp does not exist
    """

    exit_code = 1


class DeckError(FemError):
    """The deck contains errors; ``problems`` lists them in the order of the deck.

    >>> try:
    ...     fem.parse_deck(open("inputs/sdnl100.inp").read().replace("*DENSITY", "*DENSTY"))
    ... except fem.DeckError as error:
    ...     print(error.problems[0].message)
    unknown keyword *DENSTY
    """

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ModelError(FemError):
    """The deck is correct but describes a model that cannot be solved (a mechanism, a node without mass, ...).

    >>> bar = fem.Builder("a bar without mass")
    >>> _ = bar.bars(bar.nodes([(0, 0, 0), (1, 0, 0)]), area=1e-4, modulus=1e9)
    >>> bar.dynamic(1.0, 0.1)
    >>> try:
    ...     fem.run(bar.model())
    ... except fem.ModelError as error:
    ...     print(str(error).partition(",")[0])
    model: step 1: the mass matrix of the free dofs is singular
    """

    exit_code = 2


class CommandError(FemError):
    """A command, or the function of the same name, cannot do what was requested (missing file, results of another
    deck, ...).

    >>> try:
    ...     fem.plot("inputs")
    ... except fem.CommandError as error:
    ...     print(error)
    inputs contains no results of a run: there is no run.json in it
    """

    exit_code = 2


class MachineError(FemError):
    """The machine cannot: its disk is full, its memory is spent. Neither the deck nor the program is to blame."""

    exit_code = 4


MISTAKES = "ENOENT EACCES EPERM ENOTDIR EISDIR EEXIST ENAMETOOLONG EROFS ELOOP EINVAL ENOTEMPTY".split()
"""What the system answers to a name that cannot be read or written; everything else is a fault of the machine."""


def from_system(error: OSError, what: str = "") -> FemError:
    """What the system refused, in one line that names the file."""
    reason = error.strerror or str(error)
    where = f"{what} {error.filename}".strip() if error.filename else what
    text = f"{where}: {reason}" if where else reason
    return CommandError(text) if errno.errorcode.get(error.errno or 0) in MISTAKES else MachineError(text)


def listed(names: Any, most: int = 6) -> str:
    """The first of many names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def lacks(package: str, extra: str) -> str:
    """What to do about a package that is not installed, of one of the extras of ``pyproject.toml``."""
    is_wheel = Path(__file__).with_name("shipped").is_dir()
    how = f'pip install "fem-cables[{extra}]"' if is_wheel else f"pip install -e '.[{extra}]' in the clone of fem"
    return f"the package {package} is not installed: {how}"


def unknown(what: str, name: object, known: Iterable[object]) -> KeyError:
    """For a name that is not there: those that are, or the first of them."""
    return KeyError(f"there is no {what} {name}; {those_there_are(known)}")


def those_there_are(known: Iterable[object]) -> str:
    first = [str(each) for each in islice(known, MAX_NAMED + 1)]
    listed = ", ".join(first[:MAX_NAMED]) + (", ..." if len(first) > MAX_NAMED else "")
    return f"there are {listed}" if len(first) > 1 else f"there is {f'only {listed}' if listed else 'none'}"


def proposal(name: str, known: Iterable[str]) -> str:
    """In place of a name that is not there: the one most like it, else those there are."""
    import difflib

    names = {each.upper(): each for each in known}
    close = difflib.get_close_matches(name.upper(), names, n=1)
    return f"did you mean {names[close[0]]}?" if close else those_there_are(names.values())


_told: set[str] = set()


def tell_once(text: str) -> None:
    """A note on stderr that no run is at fault for, once in a process: on stdout it would be part of the answers."""
    if text not in _told:
        _told.add(text)
        with contextlib.suppress(OSError, ValueError):  # nobody reads
            print(f"note: {text}", file=sys.stderr, flush=True)


class Stopped(KeyboardInterrupt):
    """A signal asked the process to end; treated as Ctrl-C is, with the exit code shells give."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def keep(error: BaseException, **found: object) -> None:
    """What an error ends stays readable: as attributes of it, which a note names."""
    vars(error).update(found)
    error.add_note(f"what was computed is in its attribute {', '.join(found)}")


class NoConvergence(FemError):
    """An increment did not converge; ``history`` holds the motion before it, if the caller keeps a history.

    verdict  the verdict in ``run.json``

    >>> try:
    ...     fem.run("inputs/sdnl100_3periods.inp")
    ... except fem.NoConvergence as error:
    ...     print(error.verdict)
    energy drift
    """

    exit_code = 3
    verdict = "no convergence"

    def __init__(self, message: str, history: Any = None) -> None:
        super().__init__(message)
        self.history = history


class EnergyDrift(NoConvergence):
    """The energy drift of a dynamic step exceeded its limit; ``history`` holds the motion so far.

    >>> try:
    ...     fem.run("inputs/sdnl100_3periods.inp")
    ... except fem.EnergyDrift as error:
    ...     print(f"{error.history.time[-1]:.3f}")
    1.967
    """

    verdict = "energy drift"


class OutOfIncrements(NoConvergence):
    """A step used up the increments that INC= allows; the motion so far is kept."""

    verdict = "out of increments"
