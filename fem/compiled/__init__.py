"""Compiled functions: the decorators that make them, their machine code on disk and in memory, the compiler.

``kernel.py`` calls machine code, ``store.py`` stores and loads it, ``folder.py`` determines the folder; only these are
imported when everything is compiled. ``translate.py`` (numba, LLVM) compiles, ``workers.py`` in several processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from fem.compiled.choice import PYTHON, is_plain, way
from fem.compiled.compiler import LateCompiler
from fem.compiled.interpreted import comes_in_time, thread
from fem.compiled.kernel import Kernel, kinds_of
from fem.compiled.store import stored

Function = TypeVar("Function", bound=Callable[..., Any])

FAST = frozenset({"contract", "reassoc", "nsz", "arcp"})
"""Fast-math flags of kernels: none of them allows the compiler to assume that there are no NaN."""
COMPILER = LateCompiler()


def kernel(function: Function) -> Function:
    """Compile on first call, scalar errors as in numpy, stored on disk.

    Kernels allocate no arrays, and passing groups of arrays to them costs nothing. Other kernels inline it, which saves
    calls with dozens of arguments. Python's lock is released meanwhile, so that results are written while the march
    continues.
    """
    return cast(Function, Kernel(function, FAST, inner=False, inline=True, compiler=COMPILER))


def shared_kernel(function: Function) -> Function:
    """A kernel that other kernels call without inlining, for large ones such as the march; Python may call it, too.

    Its annotation gives the return type.
    """
    return cast(Function, Kernel(function, FAST, inner=False, inline=False, compiler=COMPILER))


def inner_kernel(function: Function) -> Function:
    """A kernel that only other kernels call, inlined.

    Its array arguments do not overlap: none that it writes is passed twice (``tests/test_architecture.py``). So its
    loops use vector instructions without tests for overlap.
    """
    return cast(Function, Kernel(function, FAST, inner=True, inline=True, compiler=COMPILER))


def called_kernel(function: Function) -> Function:
    """An inner kernel that is called, not inlined: for features of few models, or for long computations.

    It is compiled separately from its callers; its annotation gives the return type.
    """
    return cast(Function, Kernel(function, FAST, inner=True, inline=False, compiler=COMPILER))


def single_kernel(function: Function) -> Function:
    """A called kernel of plain numbers, with any branches on them: lanes call it one after the other."""
    made = Kernel(function, FAST, inner=True, inline=False, compiler=COMPILER, is_single=True)
    return cast(Function, made)


def number_kernel(function: Function) -> Function:
    """An inner kernel that may assume its operands are numbers; the caller tests its results for NaN.

    Maxima then use vector instructions, and products with a known zero are removed.
    """
    return cast(Function, Kernel(function, FAST | {"nnan"}, inner=True, inline=True, compiler=COMPILER))


def exact_kernel(function: Function) -> Function:
    """A kernel without fast-math flags: its results are identical to those of numpy's loops."""
    return cast(Function, Kernel(function, frozenset(), inner=False, inline=True, compiler=COMPILER))


def bound(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """A call of a kernel with these arguments (``Kernel.bound``)."""
    return cast(Kernel, function).bound(*arguments)


def is_compiled(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether a kernel has code for such arguments, in memory or on disk, so that a call needs no compilation."""
    called = cast(Kernel, function)
    if thread.is_python or way() == PYTHON:
        return False
    if is_plain():
        from fem.compiled.dispatchers import is_in_memory

        return is_in_memory(called, kinds_of(arguments))
    in_memory = any(variant.fits(arguments) for variant in called.variants)  # in a tenth of the time
    return in_memory or stored(called.name, kinds_of(arguments)) is not None


def is_compiled_in_time(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether ``is_compiled``, or a call compiles here, or the compiler in the background will be ready soon enough."""
    if is_compiled(function, *arguments) or way() or is_plain():
        return True
    return comes_in_time((cast(Kernel, function).name, kinds_of(arguments)), COMPILER)
