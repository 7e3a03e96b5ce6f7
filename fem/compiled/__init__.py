"""Compiled functions: the decorators that make them, their machine code on disk and in memory, the compiler.

``kernel.py`` calls, ``store.py`` keeps and loads, ``folder.py`` says where; only these are imported when everything is
compiled. ``translate.py`` (numba, LLVM) makes machine code, ``workers.py`` in several processes.
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
"""Fast-math flags of kernels: none of them lets the compiler assume that there are no NaN."""
COMPILER = LateCompiler()


def kernel(function: Function) -> Function:
    """Compile on first call, scalar errors as in numpy, kept on disk.

    Kernels own no memory: no array can be allocated in one, and passing groups of arrays costs nothing. Other kernels
    inline it, which spares calls with dozens of arguments. Python's lock is free meanwhile, so that results are written
    while the march goes on.
    """
    return cast(Function, Kernel(function, FAST, inner=False, inline=True, compiler=COMPILER))


def shared_kernel(function: Function) -> Function:
    """A kernel that is called, not inlined, by other kernels as well as by Python: as large as the march.

    Its annotation says what it returns.
    """
    return cast(Function, Kernel(function, FAST, inner=False, inline=False, compiler=COMPILER))


def inner_kernel(function: Function) -> Function:
    """A kernel that only other kernels call, as part of them.

    The arrays it is given lie apart: none that it writes is given twice (``tests/test_architecture.py``). So its loops
    run on vectors without a look at where memory lies.
    """
    return cast(Function, Kernel(function, FAST, inner=True, inline=True, compiler=COMPILER))


def called_kernel(function: Function) -> Function:
    """An inner kernel that is called, not inlined: for what few models need or what takes long anyway.

    It is compiled by itself, beside those that call it; its annotation says what it returns.
    """
    return cast(Function, Kernel(function, FAST, inner=True, inline=False, compiler=COMPILER))


def number_kernel(function: Function) -> Function:
    """An inner kernel that may take its operands for numbers; the caller looks for NaN in what comes of it.

    Maxima then run on vectors, and products with a known zero fall away.
    """
    return cast(Function, Kernel(function, FAST | {"nnan"}, inner=True, inline=True, compiler=COMPILER))


def exact_kernel(function: Function) -> Function:
    """A kernel without fast-math flags: to the last bit what numpy's loops over arrays give."""
    return cast(Function, Kernel(function, frozenset(), inner=False, inline=True, compiler=COMPILER))


def bound(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """A call of a kernel with these arguments (``Kernel.bound``)."""
    return cast(Kernel, function).bound(*arguments)


def is_compiled(function: Callable[..., Any], *arguments: Any) -> bool:
    """A kernel has code for arguments like these, in memory or on disk: calling it takes no compilation."""
    called = cast(Kernel, function)
    if thread.is_python or way() == PYTHON:
        return False
    if is_plain():
        from fem.compiled.dispatchers import is_in_memory

        return is_in_memory(called, kinds_of(arguments))
    in_memory = any(variant.fits(arguments) for variant in called.variants)  # in a tenth of the time
    return in_memory or stored(called.name, kinds_of(arguments)) is not None


def is_compiled_in_time(function: Callable[..., Any], *arguments: Any) -> bool:
    """``is_compiled``, or calling it compiles here, or the compiler in the background has made it soon enough."""
    if is_compiled(function, *arguments) or way() or is_plain():
        return True
    return comes_in_time((cast(Kernel, function).name, kinds_of(arguments)), COMPILER)
