"""The compiler of kernels: our own method, or plain numba if that does not work with the installed version.

Kernels have a reference to it; the compilers themselves, which take long to import, are imported when needed. A sample
kernel with the features that all kernels use shows which method works.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, NamedTuple

from fem.arrays import Floats
from fem.compiled.choice import ABSENT, BROKEN, SUITED, WAIT, in_short, is_plain, take_plain, way
from fem.compiled.interpreted import Job, Kind
from fem.compiled.kernel import Kernel
from fem.compiled.store import Unit, stored, symbol_of
from fem.errors import CommandError


class LateCompiler:
    """``store.Compiler``, imported on first use."""

    def make(self, kernel: Kernel, kinds: Kind) -> Unit | None:
        """Compiles a unit; None: plain numba does it."""
        try:
            from fem.compiled.translate import build

            return build(kernel, kinds)
        except Exception:
            if fits():
                raise  # the kernel itself is wrong
        return None

    def call(self, kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
        """Runs a kernel compiled by plain numba."""
        from fem.compiled.dispatchers import call

        return call(kernel, arguments)

    def provide(self, name: str, kinds: Kind) -> Unit:
        """A unit called by machine code that was not compiled in advance."""
        from fem.compiled.digest import adopted
        from fem.compiled.workers import kernel_of

        if "<locals>" not in name:
            if way() != WAIT and kernel_of(name).may_be_kept(kinds):
                self.ask((name, kinds))
                self.wait_for((name, kinds))
            if unit := stored(name, kinds) or adopted(kernel_of(name), kinds):
                return unit
        from fem.compiled.translate import NEEDS, build

        known = NEEDS.get(symbol_of(name, kinds))
        return build(known[0] if known else kernel_of(name), kinds)

    def ask(self, job: Job) -> bool:
        """Request the compilation of a unit in the background; returns whether it is the first one."""
        from fem.compiled.background import compiler

        return compiler.ask(job)

    def wait_for(self, job: Job, seconds: float = math.inf) -> bool:
        """As ``Background.wait_for``."""
        from fem.compiled.background import compiler

        return compiler.wait_for(job, seconds)

    def complete(self) -> None:
        """Imports numba, for functions that this system's library lacks."""
        from fem.compiled.translate import contexts

        contexts()


@cache
def fits() -> bool:
    """Whether our method works with the installed numba, tested with a sample; if not, plain numba is used."""
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise CommandError(ABSENT.format(reason=error, suited=SUITED)) from error

    try:
        from fem.compiled.translate import make

        for kernel, kinds in SAMPLES:
            make(kernel, kinds)
    except Exception as error:
        take_plain(in_short(error))
    if is_plain():
        try:
            from fem.compiled.dispatchers import compile_plain

            for kernel, kinds in SAMPLES:
                compile_plain(kernel, kinds)
        except Exception as error:
            raise CommandError(BROKEN.format(reason=in_short(error), suited=SUITED)) from error
    return not is_plain()


FAST = frozenset({"contract", "reassoc"})


class ArgumentGroup(NamedTuple):
    """A group of arrays, one of them missing."""

    first: Floats
    second: None = None


@partial(Kernel, fast=FAST, inner=True, inline=True)
def product(x: Floats, y: Floats) -> float:
    """x.y"""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@partial(Kernel, fast=FAST, inner=True, inline=False)
def larger(x: float, y: float) -> tuple[float, bool]:
    """The larger one; whether it is the first."""
    return max(x, y), x > y


@partial(Kernel, fast=FAST, inner=False, inline=True)
def sample(x: Floats, group: ArgumentGroup, factor: float, number: int) -> tuple[float, bool]:
    """The larger one of factor x.first and a number."""
    found: tuple[float, bool] = larger(factor * product(x, group.first), number * 1.0)
    return found


ARRAY = ("array", "d", 1)
GROUP = ("group", ArgumentGroup.__module__, ArgumentGroup.__qualname__, (ARRAY, "none"))
SAMPLES = ((larger, ("float", "float")), (sample, (ARRAY, GROUP, "float", "int")))
"""Kernels, and kinds of their arguments."""
