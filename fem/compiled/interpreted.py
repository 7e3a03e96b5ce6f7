"""Kernels run as Python functions: until their machine code is ready, or to find which kernels are called.

A small model is done in less time than a compiler takes to begin. So a kernel without machine code runs as a Python
function while a process in the background compiles it (``background.py``), and the next call after that runs the
machine code: all state is data, so chunks of increments may be computed either way. Work that would take Python too
long waits for the machine code.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from fem.compiled.choice import PYTHON, WAIT, way
from fem.compiled.store import Compiler, stored

Kind = Any
"""What a compilation depends on: item type and dimensions of an array, class and members of a group."""
Job = tuple[str, Kind]
"""A unit of machine code: name of the kernel, kinds of its arguments."""
LONGEST = 10.0
"""Processor seconds of work as Python functions, done and expected, beyond which machine code is awaited."""
ENDING = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a process to end."""
STARTED = (
    "first run of this kind of model: it starts in Python while machine code is compiled in the background; later runs "
    "are faster"
)
PATIENCE = 60.0
"""Seconds for which a low-priority compiler is awaited: on a busy machine it may take many times as long."""
GRANTED = 240.0
"""Further processor seconds of work as Python functions before it is awaited again."""
TIRED = "the compiler is slow on this busy machine: going on without its machine code until that is there"
WAITING = "this would take long in Python: waiting for the compiler, about half a minute"


@dataclass(slots=True)
class Work:
    """Of this process: processor seconds spent in kernels as Python functions, and those ahead of it in the same way.

    granted it is awaited again only after more than this
    patient lanes, which need machine code, still wait for it
    notify  receives notices for the user, each once
    told    notices given already
    signal  a signal that asked the process to end, handled later: there is no more waiting
    """

    spent: float = 0.0
    ahead: float = 0.0
    granted: float = 0.0
    patient: bool = True
    notify: Callable[[str], None] | None = None
    told: set[str] = field(default_factory=set)
    signal: int = 0

    def is_long(self) -> bool:
        return self.spent >= self.granted and self.spent + self.ahead > LONGEST

    def say(self, text: str) -> None:
        if self.notify is not None and text not in self.told:
            self.told.add(text)
            self.notify(text)


work = Work()


class _Thread(threading.local):
    """Of a thread: kernels that it is in as Python functions, one in the other.

    is_python  kernels that are called now are Python functions, too
    wanted     units called so far, where that is asked
    seen       functions and types of arguments in it; None: all calls are looked at
    """

    depth = 0
    is_python = False
    wanted: dict[Job, None] | None = None
    seen: set[tuple[Any, ...]] | None = None


thread = _Thread()
parts: dict[Job, tuple[dict[Job, None], set[tuple[Any, ...]]]] = {}
"""Units that a kernel has called as Python functions, in the format of ``wanted`` and ``seen`` of a thread."""


def comes_in_time(job: Job, asked: Compiler) -> bool:
    """Machine code for lanes, whose models can run one by one, is there or comes within ``PATIENCE``. Once it has not,
    no other is waited for."""
    asked.ask(job)
    if work.patient and not stored(*job):
        work.say(WAITING)
        work.patient = asked.wait_for(job, PATIENCE)
        if not work.patient:
            work.say(TIRED)
    return work.patient or stored(*job) is not None


def takes(job: Job, asked: Compiler | None) -> bool:
    """Whether a kernel without machine code runs as a Python function now; its machine code is requested.
    asked: the compiler that makes it meanwhile, if any. Arrays of lanes need machine code."""
    chosen, is_lanes = way(), has_lanes(job[1])
    if chosen in (WAIT, PYTHON):
        return chosen == PYTHON and not is_lanes
    if asked and asked.ask(job) and not is_lanes:
        work.say(STARTED)
    if not (is_lanes or work.is_long()):
        return True
    if asked:
        work.say(WAITING)
        if not asked.wait_for(job, math.inf if is_lanes else PATIENCE):
            work.granted = work.spent + GRANTED
            work.say(TIRED)
            return True
    return False


def has_lanes(kinds: Kind) -> bool:
    """Whether packs of lanes are among arguments of these kinds: all kernels that get them are inlined, or called
    lane after lane."""
    return isinstance(kinds, tuple) and (kinds[:1] in (("lanes",), ("fixed",)) or any(map(has_lanes, kinds)))


def is_whole(job: Job) -> bool:
    """Whether machine code of all units that a kernel has called so far is ready."""
    return job not in parts or all(stored(*part) for part in list(parts[job][0]))


def call(job: Job, asked: Compiler | None, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a kernel as a Python function, from outside all kernels; machine code of units that it calls is requested.
    Signals that end the process are delayed until it is done, as with machine code, so that the state is consistent."""
    began = time.thread_time()
    wanted, seen = parts.setdefault(job, ({}, set()))
    known = len(wanted)
    thread.is_python, thread.wanted, thread.seen = True, wanted, seen
    try:
        with signals_held(), np.errstate(all="ignore"):
            return plain(inside(function, tuple(map(doubled, arguments))))
    finally:
        thread.is_python, thread.wanted, thread.seen = False, None, None
        work.spent += time.thread_time() - began
        if asked:
            for part in list(wanted)[known:]:
                asked.ask(part)


def inside(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a kernel as a Python function within another one.
    numpy's numbers divide by zero as compiled ones do."""
    thread.depth += 1
    try:
        return function(*[np.float64(one) if type(one) is float else one for one in arguments])
    finally:
        thread.depth -= 1


def doubled(value: Any) -> Any:
    """An argument with numpy's numbers instead of Python's."""
    if type(value) is float:
        return np.float64(value)
    if isinstance(value, tuple):
        members = map(doubled, value)
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    return value


def plain(result: Any) -> Any:
    """A result as machine code returns it: with Python's numbers."""
    if isinstance(result, tuple):
        return tuple(map(plain, result))
    return result.item() if isinstance(result, np.generic) else result


Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def signals_to(handler: Callable[[Handler, int, FrameType | None], None]) -> Iterator[None]:
    """Signals that end the process go to ``handler``, with whose they were; only those of the main thread."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in ENDING} if is_main else {}
    asked = {number: its for number, its in before.items() if callable(its)}
    for number, its in asked.items():
        signal.signal(number, partial(handler, its))
    try:
        yield
    finally:
        for number, its in asked.items():
            signal.signal(number, its)


@contextmanager
def signals_held() -> Iterator[None]:
    """Signals that end the process are handled at the end."""
    came: list[tuple[Handler, int, FrameType | None]] = []
    try:
        with signals_to(lambda *what: came.append(what)):
            yield
    finally:
        for its, number, frame in came[:1]:
            its(number, frame)


@contextmanager
def rehearsal() -> Iterator[dict[Job, None]]:
    """Run kernels of this thread as Python functions; collects which are called (name, kinds of the arguments)."""
    wanted: dict[Job, None] = {}
    before = thread.wanted, thread.is_python, thread.seen
    thread.wanted, thread.is_python, thread.seen = wanted, True, None
    try:
        with np.errstate(all="ignore"):
            yield wanted
    finally:
        thread.wanted, thread.is_python, thread.seen = before
