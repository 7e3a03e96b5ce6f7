"""Reuse of units compiled for another version of the program, if everything that determines their code is unchanged.

An edit of one file makes a new folder (``folder.py``); unchanged units are copied from the old one. The hash covers the
bytecode of a kernel and of all that is inlined into it, the values of globals in them, the fields of groups, and the
machine with its compiler; comments, docstrings and line numbers do not matter. Of other units that it calls only the
interface matters.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
from collections.abc import Iterator, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from fem.commands.files import is_safe_folder
from fem.compiled.folder import cache_folder, surroundings
from fem.compiled.interpreted import Kind, has_lanes
from fem.compiled.kernel import Kernel
from fem.compiled.store import Unit, keep, read_unit, symbol_of


def adopted(kernel: Kernel, kinds: Kind) -> Unit | None:
    """The unit of a kernel for these kinds from the folder of another version, if any."""
    here, symbol = cache_folder(), symbol_of(kernel.name, kinds)
    with contextlib.suppress(OSError):
        others = [path.parent for path in here.parent.glob(f"kernels-*/{symbol}.unit") if path.parent != here]
        digest = digest_of(kernel, kinds) if others else ""
        for folder in filter(is_safe_folder, others):
            unit = read_unit(folder, symbol)
            if unit is not None and unit.digest == digest:
                keep(unit, on_disk=True)
                return unit
    return None


def digest_of(kernel: Kernel, kinds: Kind) -> str:
    """Hash of everything that determines the machine code of a kernel for arguments of these kinds."""
    found = hashlib.sha256(machine_key().encode())
    for line in (*fields_in(kinds), *traces_of(kernel, has_lanes(kinds), set())):
        found.update(f"{line}\n".encode(errors="backslashreplace"))
    return found.hexdigest()


@cache
def machine_key() -> str:
    """Hash of the machine, and of the sources of the compiler."""
    key = hashlib.sha256("\n".join(surroundings()).encode(errors="backslashreplace"))
    package = Path(__file__).parents[1]
    for path in sorted((package / "compiled").glob("*.py")):
        key.update(path.read_bytes())
    return key.hexdigest()


def fields_in(kinds: Kind) -> Iterator[str]:
    """Groups among arguments, with their fields."""
    if isinstance(kinds, tuple) and kinds[:1] == ("group",):
        group = attrgetter(kinds[2])(importlib.import_module(kinds[1]))
        yield f"{kinds[1]}.{kinds[2]}{getattr(group, '_fields', '')}"
    if isinstance(kinds, tuple):
        for kind in kinds:
            yield from fields_in(kind)


def traces_of(kernel: Kernel, whole: bool, seen: set[str]) -> Iterator[str]:
    """A kernel and what is inlined into it, each once; ``whole``: all that it calls."""
    if kernel.name in seen:
        return
    is_first = not seen
    seen.add(kernel.name)
    function = kernel.function
    ways = kernel.inner, kernel.inline, kernel.is_single
    yield f"{kernel.name} {sorted(kernel.fast)} {ways} {function.__defaults__}"
    yield f"{kernel.signature} {function.__annotations__.get('return')}"
    if not (kernel.inline or is_first or whole):
        return
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    yield from traces_of_code(function.__code__, known, whole, seen)


def traces_of_code(code: CodeType, known: dict[str, Any], whole: bool, seen: set[str]) -> Iterator[str]:
    """Bytecode, and the values of the names in it."""
    yield f"{code.co_code.hex()} {code.co_varnames} {code.co_names} {code.co_freevars}"
    for constant in code.co_consts[1:]:  # the first one is the docstring, if there is one
        if isinstance(constant, CodeType):
            yield from traces_of_code(constant, known, whole, seen)
        else:
            yield repr(constant)
    if code.co_consts and not isinstance(code.co_consts[0], str | None):
        yield repr(code.co_consts[0])
    for name in (*code.co_names, *code.co_freevars):
        if name in known:
            yield from traces_of_value(name, known[name], code.co_names, whole, seen)


def traces_of_value(name: str, value: Any, attributes: Sequence[str], whole: bool, seen: set[str]) -> Iterator[str]:
    """A global value that a kernel uses; of a module the attributes that it may use."""
    if isinstance(value, Kernel):
        yield from traces_of(value, whole, seen)
    elif isinstance(value, ModuleType):
        yield f"{name} {value.__name__}"
        for attribute in attributes if value.__name__.startswith("fem") else ():
            if hasattr(value, attribute):
                yield from traces_of_value(attribute, getattr(value, attribute), (), whole, seen)
    elif isinstance(value, type):
        yield f"{name} {value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    elif callable(value):
        yield f"{name} {getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    else:
        yield f"{name} {value!r}"
