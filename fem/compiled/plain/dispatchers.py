"""Kernels by plain numba, ``FEM_COMPILER=numba``: the same functions, each a numba dispatcher that calls the others.

It needs nothing but numba's documented decorator. Answers are equal to round-off; a start takes about a second longer,
as numba has to be imported, and calls are slower. So it is what remains where the installed numba does not fit
``translate``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba.core import types
from numba.extending import typeof_impl

import fem.lanes.boxes
import fem.lanes.decisions  # noqa: F401  what kernels may do with lanes
from fem.compiled.folder import cache_folder
from fem.compiled.kernel import Kernel, Kind, kinds_of
from fem.compiled.kinds import type_of

CONFIG: Any = numba.config


@contextmanager
def kept_in_our_folder() -> Iterator[None]:
    """numba asks where to keep machine code when a function is declared."""
    before, CONFIG.CACHE_DIR = CONFIG.CACHE_DIR, str(cache_folder())
    try:
        yield
    finally:
        CONFIG.CACHE_DIR = before


def dispatcher(kernel: Kernel) -> Any:
    """numba's function of a kernel."""
    return _dispatcher(kernel, kernel.function)


@cache
def _dispatcher(kernel: Kernel, function: Callable[..., Any]) -> Any:
    """With the function it has now: that of all forces changes with the families."""
    options: dict[str, Any] = {"fastmath": set(kernel.fast), "forceinline": kernel.inline, "_nrt": False}
    on_disk = kernel.__module__.startswith("fem.")
    with kept_in_our_folder():
        return numba.njit(cache=on_disk, error_model="numpy", nogil=True, **options)(function)


@typeof_impl.register(Kernel)
def type_of_kernel(value: Kernel, context: Any) -> Any:
    """A kernel that another one calls."""
    return types.Dispatcher(dispatcher(value))


def compile_plain(kernel: Kernel, kinds: Kind) -> None:
    """Compile a kernel for arguments of these kinds, or take it from disk."""
    dispatcher(kernel).compile(types_of(kernel, kinds))


def types_of(kernel: Kernel, kinds: Kind) -> tuple[Any, ...]:
    """numba's types of arguments; those that are left out are compiled in, as their defaults."""
    left_out = list(kernel.signature.parameters.values())[len(kinds) :]
    return (*map(type_of, kinds), *(types.Omitted(parameter.default) for parameter in left_out))


def is_in_memory(kernel: Kernel, kinds: Kind) -> bool:
    """A kernel has code for arguments of these kinds."""
    return types_of(kernel, kinds) in dispatcher(kernel).overloads


def call(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """Run it."""
    kinds_of(arguments)  # what our own machine code does not take is an error here, too
    return dispatcher(kernel)(*arguments)
