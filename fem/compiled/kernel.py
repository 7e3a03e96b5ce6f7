"""A compiled function: found by the kinds of its arguments, called with the place of a tuple of them.

Python never waits for the compiler's own machinery: a call looks only at the types of the arguments; that arrays have
the item type and the dimensions the code was made for is tested by the code itself (``entry``).
"""

from __future__ import annotations

import ctypes
import inspect
import struct
from collections.abc import Callable, Iterable, Set
from functools import cached_property
from itertools import count
from typing import Any, cast

import numpy as np

from fem.compiled.choice import PYTHON, is_plain, way
from fem.compiled.interpreted import Kind, call, inside, is_whole, takes, thread
from fem.compiled.store import Compiler, Unit, load, raise_failure, stored

DONE, OTHER_ARRAYS, FAILED = 0, 1, 2
"""Return codes of machine code: done; not compiled for such arrays; a unit that it calls is not available."""
MOST = 8
"""Words in a block for what a kernel returns, and for each leaf of its arguments."""
ITEMS = tuple.__basicsize__
"""Where the items of a tuple begin."""
NAMES = {bool: "bool", int: "int", float: "float", type(None): "none"}
LETTERS = {"b": "?7x", "i": "q", "u": "q", "f": "d"}
"""Format of numbers as arguments, in 64 bits each (``struct``), by ``dtype.kind``."""


def kind_of(value: Any) -> Kind:
    """The kind of one argument.
    Raises TypeError for types that kernels do not accept."""
    name = NAMES.get(type(value))
    if name is not None:
        return name
    if isinstance(value, np.ndarray):
        if not (value.flags.c_contiguous and value.flags.aligned):
            raise TypeError(f"kernels take C-contiguous arrays, not strides {value.strides} of shape {value.shape}")
        return ("array", value.dtype.char, value.ndim)
    if isinstance(value, tuple):
        group = type(value)
        return ("group", group.__module__, group.__qualname__, kinds_of(value))
    if isinstance(value, np.generic):
        return {"b": "bool", "i": "int", "u": "int", "f": "float"}[value.dtype.kind]
    return value.kind


def kinds_of(arguments: Iterable[Any]) -> Kind:
    return tuple(kind_of(argument) for argument in arguments)


def foreign(kinds: Kind) -> bool:
    """Whether a group among arguments of these kinds belongs to another package, whose code may be compiled in."""
    if isinstance(kinds, tuple) and kinds[:1] == ("group",):
        return not kinds[1].startswith(("fem.", "builtins")) or foreign(kinds[3])
    return isinstance(kinds, tuple) and any(foreign(kind) for kind in kinds)


def leaves_of(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """The arguments, with groups and groups of groups replaced by their members."""
    return tuple(leaf for one in arguments for leaf in (leaves_of(one) if isinstance(one, tuple) else (one,)))


def lister(arguments: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """``leaves_of`` for arguments nested like these, as generated code: a small model spends much of its time on calls.
    It raises TypeError or ValueError for most others."""
    names, leaves = (f"m{number}" for number in count()), list[str]()

    def pattern(group: tuple[Any, ...]) -> str:
        found = []
        for member in group:
            is_nested = isinstance(member, tuple) and any(isinstance(one, tuple) for one in member)
            found.append(pattern(member) if is_nested else next(names))
            if not is_nested:
                leaves.append(f"*{found[-1]}" if isinstance(member, tuple) else found[-1])
        return f"[{', '.join(found)}]"

    known: dict[str, Any] = {}
    exec(f"def listed(group):\n    {pattern(arguments)} = group\n    return ({', '.join(leaves)},)", known)
    return cast(Callable[[tuple[Any, ...]], tuple[Any, ...]], known["listed"])


class Variant:
    """Machine code of a kernel for arguments of certain types."""

    def __init__(self, unit: Unit, address: int, arguments: tuple[Any, ...]) -> None:
        leaves = leaves_of(arguments)
        self.listed = lister(arguments)
        self.types = tuple(map(type, leaves))
        self.numbers = [k for k, leaf in enumerate(leaves) if isinstance(leaf, (bool, int, float, np.generic))]
        plain = (np.ndarray, np.generic, *NAMES)
        self.arrays = [(k, leaf.dtype.char, leaf.ndim) for k, leaf in enumerate(leaves) if isinstance(leaf, np.ndarray)]
        self.special = [(k, leaf.kind) for k, leaf in enumerate(leaves) if not isinstance(leaf, plain)]
        letters = [LETTERS[np.asarray(leaves[k]).dtype.kind] for k in self.numbers]
        self.pack = struct.Struct(f"={''.join(letters)}").pack
        self.code = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)(address)
        self.block = ctypes.c_int64 * (MOST * (1 + len(leaves)))
        self.read = struct.Struct(f"={unit.result.replace('?', '?7x')}").unpack_from

    def leaves(self, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The leaves of arguments if their types are those it was compiled for, as far as Python checks them."""
        try:
            leaves = self.listed(arguments)
        except (TypeError, ValueError):  # nested in another way
            return None
        if tuple(map(type, leaves)) != self.types:
            return None
        return leaves if not self.special or all(leaves[k].kind == kind for k, kind in self.special) else None

    def fits(self, arguments: tuple[Any, ...]) -> bool:
        """Whether it was compiled for such arguments, including their arrays."""
        leaves = self.leaves(arguments)
        if leaves is None:
            return False
        return all(leaves[k].dtype.char == char and leaves[k].ndim == ndim for k, char, ndim in self.arrays)

    def run(self, leaves: tuple[Any, ...]) -> tuple[bool, Any]:
        """Whether the arrays are of the types it was compiled for, and the result of the kernel."""
        return self.call(leaves)()

    def call(self, leaves: tuple[Any, ...]) -> Callable[..., tuple[bool, Any]]:
        """``run`` for constant arguments, except that the first numbers may be given anew.
        Addresses of arrays are read once: this keeps them alive, and numpy resizes no array with other references."""
        numbers, code, pack, read = [leaves[k] for k in self.numbers], self.code, self.pack, self.read
        packed, last, block = pack(*numbers), (), self.block()
        if self.special:
            arrays = {k: leaves[k].array for k, _ in self.special}
            leaves = tuple(arrays.get(k, leaf) for k, leaf in enumerate(leaves))
        first, room = id(leaves) + ITEMS, ctypes.addressof(block)

        def run(*given: Any) -> tuple[bool, Any]:
            nonlocal packed, last, first
            assert leaves
            if given != last:
                numbers[: len(given)] = last = given
                packed = pack(*numbers)
            if code(first, packed, room) != DONE:
                raise_failure()
                return False, None
            first, found = 0, read(block)
            return True, found if len(found) > 1 else found[0] if found else None

        return run


class Kernel:
    """A function that becomes machine code, with an entry for Python unless it is an ``inner`` one.

    fast      fast-math flags
    inline    into kernels that call it; else it is a separate unit that they call
    compiler  None: it is never called from Python
    is_single lanes call it one after the other
    """

    def __init__(
        self, function: Callable[..., Any], fast: Set[str], inner: bool, inline: bool, compiler: Compiler | None = None,
        is_single: bool = False,
    ) -> None:  # fmt: skip
        self.function, self.fast, self.inner, self.inline = function, fast, inner, inline
        self.compiler, self.is_single = compiler, is_single
        self.name = f"{function.__module__}:{function.__qualname__}"
        self.variants: list[Variant] = []
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__
        self.__wrapped__ = function

    @cached_property
    def signature(self) -> inspect.Signature:
        """Signature of the function, computed when needed."""
        return inspect.signature(self.function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Runs the machine code, after compilation or loading from disk; defaults are compiled in."""
        if named:
            arguments = self.signature.bind(*arguments, **named).args
        if thread.is_python:
            if thread.depth == 0 or not (self.inline or is_plain()):
                self.note(arguments)
            return inside(self.function, arguments)
        if self.inner:
            raise TypeError(f"{self.name} is an inner kernel, without an entry for Python: call it from a kernel")
        for variant in self.variants:
            leaves = variant.leaves(arguments)
            if leaves is not None:
                fits, result = variant.run(leaves)
                if fits:
                    return result
        return self.call_other(arguments)

    def bound(self, *arguments: Any) -> Callable[..., Any]:
        """A call with these arguments, of which the first numbers may be given anew, and arrays may change their
        content. Groups are unpacked only once, as soon as there is machine code in memory."""
        run: Callable[..., tuple[bool, Any]] | None = None

        def call(*given: Any) -> Any:
            nonlocal run
            for variant in self.variants if run is None and not thread.is_python else ():
                leaves = variant.leaves(arguments)
                run = run or (variant.call(leaves) if leaves is not None else None)
            fits, result = run(*given) if run else (False, None)
            return result if fits else self(*given, *arguments[len(given) :])  # the item type of an array has changed

        return call

    def call_other(self, arguments: tuple[Any, ...]) -> Any:
        """Run with arguments of new kinds: machine code from disk, the Python function, or code compiled now."""
        assert self.compiler is not None
        if is_plain():
            return self.compiler.call(self, arguments)
        kinds = kinds_of(arguments)
        job = self.name, kinds
        if not (is_whole(job) and self.load(arguments, kinds)):
            asked = self.compiler if self.may_be_kept(kinds) and way() != PYTHON else None
            if takes(job, asked):
                return call(job, asked, self.function, arguments)
            if self.unit(kinds) is None:
                return self.compiler.call(self, arguments)
            self.load(arguments, kinds)
        return self.variants[0].run(leaves_of(arguments))[1]

    def load(self, arguments: tuple[Any, ...], kinds: Kind) -> bool:
        """Loads a variant for these arguments, if its machine code exists."""
        unit = stored(self.name, kinds) if way() != PYTHON else None
        if unit is None:
            return False
        assert self.compiler is not None
        self.variants.insert(0, Variant(unit, load(unit, self.compiler), arguments))
        return True

    def note(self, arguments: tuple[Any, ...]) -> None:
        """Notes a separate unit that is called as a Python function."""
        if thread.seen is not None:
            key = self.name, *map(type, arguments)
            if key in thread.seen:
                return
            thread.seen.add(key)
        if thread.wanted is not None:
            thread.wanted[self.name, self.kinds(arguments)] = None

    def kinds(self, arguments: tuple[Any, ...]) -> Kind:
        """Kinds of arguments; those of a call by another unit are all of them."""
        if self.inner:
            bound = self.signature.bind(*arguments)
            bound.apply_defaults()
            arguments = bound.args
        return kinds_of(arguments)

    def may_be_kept(self, kinds: Kind) -> bool:
        """Its machine code may be stored: the kernel and the types of its arguments belong to this package."""
        return self.__module__.startswith("fem.") and not foreign(kinds)

    def unit(self, kinds: Kind) -> Unit | None:
        """The machine code for arguments of these kinds: from disk, else compiled now. None: plain numba does it."""
        assert self.compiler is not None
        return stored(self.name, kinds) or self.compiler.make(self, kinds)
