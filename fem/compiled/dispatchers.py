"""Kernels by plain numba, ``FEM_COMPILER=numba``: the same functions, each a numba dispatcher that calls the others.

It only needs numba's documented decorator. Results are equal within rounding errors; a start takes about a second
longer, because numba must be imported, and calls are slower. It is used if the installed numba does not work with
``translate``.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

import numba
from numba.core import types
from numba.extending import typeof_impl

from fem.compiled.folder import cache_folder
from fem.compiled.interpreted import Handler, Kind, signals_to
from fem.compiled.kernel import Kernel, foreign, kinds_of
from fem.compiled.native import type_of

CONFIG: Any = numba.config


@contextmanager
def kept_in_our_folder() -> Iterator[None]:
    """Sets the folder for machine code, which numba reads when a function is declared."""
    before, CONFIG.CACHE_DIR = CONFIG.CACHE_DIR, str(cache_folder())
    try:
        yield
    finally:
        CONFIG.CACHE_DIR = before


class Disk(threading.local):
    """Whether code compiled by this thread may be stored: not with foreign code in it, which no key covers."""

    is_open = True


DISK = Disk()


@contextmanager
def kept_for(kinds: Kind) -> Iterator[None]:
    """Compile for arguments of these kinds."""
    before, DISK.is_open = DISK.is_open, not foreign(kinds)
    try:
        yield
    finally:
        DISK.is_open = before


@contextmanager
def nothing_lost() -> Iterator[None]:
    """Exceptions of signal handlers are raised at the end again: in callbacks of LLVM they would be lost or printed,
    and leave numba in an undefined state."""
    raised: list[BaseException] = []

    def noted(its: Handler, number: int, frame: FrameType | None) -> None:
        try:
            its(number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    def unraisable(found: Any) -> None:
        if found.exc_value not in raised:
            printed(found)

    try:
        with signals_to(noted):
            printed, sys.unraisablehook = sys.unraisablehook, unraisable
            try:
                yield
            finally:
                sys.unraisablehook = printed
    finally:
        if raised:
            raise raised[0]


def dispatcher(kernel: Kernel) -> Any:
    """numba's function of a kernel."""
    on_disk = DISK.is_open and kernel.__module__.startswith("fem.")
    return made(kernel.function, kernel.fast, kernel.inner, kernel.inline, on_disk)


@cache
def made(function: Callable[..., Any], fast: frozenset[str], inner: bool, inline: bool, on_disk: bool) -> Any:
    """numba's dispatcher of a function; its entry for Python, which unpacks groups, is a large part of the work."""
    options: dict[str, Any] = {"fastmath": set(fast), "forceinline": inline, "_nrt": False}
    options |= {"no_cpython_wrapper": inner, "no_cfunc_wrapper": True}
    with kept_in_our_folder():
        return numba.njit(cache=on_disk, error_model="numpy", nogil=True, **options)(function)


@typeof_impl.register(Kernel)
def type_of_kernel(value: Kernel, context: Any) -> Any:
    """A kernel that another one calls."""
    return types.Dispatcher(dispatcher(value))


def compile_plain(kernel: Kernel, kinds: Kind) -> None:
    """Compile a kernel for arguments of these kinds, or take it from disk."""
    with kept_for(kinds), nothing_lost():
        dispatcher(kernel).compile(types_of(kernel, kinds))


def types_of(kernel: Kernel, kinds: Kind) -> tuple[Any, ...]:
    """numba's types of arguments; those that are left out are compiled in, as their defaults."""
    left_out = list(kernel.signature.parameters.values())[len(kinds) :]
    given = (type_of(kind, apart=lambda its: its) for kind in kinds)
    return (*given, *(types.Omitted(parameter.default) for parameter in left_out))


def is_in_memory(kernel: Kernel, kinds: Kind) -> bool:
    """A kernel has code for arguments of these kinds."""
    with kept_for(kinds):
        return types_of(kernel, kinds) in dispatcher(kernel).overloads


def call(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """Run a kernel."""
    with kept_for(kinds_of(arguments)), nothing_lost():  # what our machine code refuses is an error here, too
        return dispatcher(kernel)(*arguments)
