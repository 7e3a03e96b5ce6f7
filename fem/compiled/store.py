"""Units of machine code: kept in files, loaded into the process.

A unit is one object file and what has to be known of it. Loading takes LLVM but not numba, whose import and whose own
cache would be most of a short run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fem.compiled.folder import cache_folder, make_cache
from fem.errors import FemError, tell_once
from fem.files import read_file, write_file

UNKEPT = "compiled code cannot be kept in {folder}, and every start compiles anew: {reason}"
LACKING = "the machine code calls {names}, which this system does not have; delete {folder} to have it made again"


@dataclass(frozen=True, slots=True)
class Unit:
    """Machine code of one kernel for arguments of certain kinds.

    symbol  name of the function that others call
    result  letters of the numbers it returns (``struct``): d, q, ?; empty for none
    needs   symbols of the units it calls
    others  functions of the mathematical library that it calls
    digest  hash of all that the code follows from (``digest.py``)
    code    the object file
    """

    symbol: str
    result: str
    needs: tuple[str, ...]
    others: tuple[str, ...]
    digest: str
    code: bytes


def symbol_of(name: str, kinds: Any) -> str:
    """Name of the unit of a kernel for arguments of these kinds."""
    digest = hashlib.sha256(repr((name, kinds)).encode()).hexdigest()[:24]
    return f"fem_{name.rpartition('.')[2].replace(':', '_')}_{digest}"


_made: dict[str, Unit] = {}
"""Units of this process, loaded from disk or just compiled."""
_lock = threading.RLock()


def _file(symbol: str) -> Path:
    return cache_folder() / f"{symbol}.unit"


def keep(unit: Unit, on_disk: bool) -> None:
    """Make a unit known, and write it to disk: under its name only when it is complete."""
    with _lock:
        _made[unit.symbol] = unit
    if not on_disk:
        return
    path = _file(unit.symbol)
    try:
        make_cache(path.parent)
        write_file(path, sealed(unit))
    except OSError as error:  # every process compiles for itself
        tell_once(UNKEPT.format(folder=path.parent, reason=error.strerror))


def is_kept(name: str, kinds: Any) -> bool:
    """The unit of a kernel for these kinds is on disk."""
    return _file(symbol_of(name, kinds)).is_file()


def sealed(unit: Unit) -> bytes:
    """The content of a file: the seal of all that follows, what has to be known of the code, the code."""
    about = asdict(unit)
    code: bytes = about.pop("code")
    rest = json.dumps(about).encode() + b"\n" + code
    return seal(rest, cache_folder().name).encode() + b"\n" + rest


def seal(content: bytes, folder: str) -> str:
    """A hash that only content made for a folder of this name has: units of other processors do not pass for ours."""
    return hashlib.sha256(folder.encode() + b"\n" + content).hexdigest()


def find(symbol: str) -> Unit | None:
    """A unit by its name; None where it is nowhere."""
    with _lock:
        if symbol not in _made:
            unit = read_unit(cache_folder(), symbol)
            if unit is None:
                return None
            _made[symbol] = unit
        return _made[symbol]


def read_unit(folder: Path, symbol: str) -> Unit | None:
    """The unit of this name in a folder; None where it is missing, damaged, of somebody else or of another name."""
    try:
        unit = unsealed(read_file(folder / f"{symbol}.unit"), folder.name)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return unit if unit.symbol == symbol else None


def unsealed(content: bytes, folder: str) -> Unit:
    """The unit in a file of a folder.

    Raises ValueError where a bit of it has changed.
    """
    mark, _, rest = content.partition(b"\n")
    if mark != seal(rest, folder).encode():
        raise ValueError("not what was written")
    head, _, code = rest.partition(b"\n")
    about = json.loads(head)
    return Unit(about["symbol"], about["result"], tuple(about["needs"]), tuple(about["others"]), about["digest"], code)


def stored(name: str, kinds: Any) -> Unit | None:
    """The unit of a kernel for these kinds where it, and all that it calls, is there."""
    parts = parts_of(symbol_of(name, kinds))
    return parts[0] if parts else None


def parts_of(symbol: str, find: Callable[[str], Unit | None] = find) -> list[Unit]:
    """A unit, all that it calls, and what that calls; empty where any of it is missing."""
    parts: dict[str, Unit] = {}
    waiting = [symbol]
    while waiting:
        part = find(waiting.pop())
        if part is None:
            return []
        parts[part.symbol] = part
        waiting += [other for other in part.needs if other not in parts]
    return list(parts.values())


_loaded: set[str] = set()


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError):  # newer versions do that by themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def lacking(parts: list[Unit]) -> list[str]:
    """Functions that units call and nobody has."""
    import llvmlite.binding as llvm

    return [name for part in parts for name in part.others if not llvm.address_of_symbol(name)]


def load(unit: Unit, complete: Callable[[], None]) -> int:
    """Put a unit and all that it calls in memory; the address of its entry. complete: brings what the system lacks."""
    import llvmlite.binding as llvm

    parts = parts_of(unit.symbol)
    engine = _engine()
    if lacking(parts):
        complete()
        if names := lacking(parts):  # LLVM would end the process
            raise FemError(LACKING.format(names=", ".join(names), folder=cache_folder()))
    with _lock:
        for part in parts:
            if part.symbol not in _loaded:
                _loaded.add(part.symbol)
                engine.add_object_file(llvm.ObjectFileRef.from_data(part.code))
        engine.finalize_object()
        return int(engine.get_function_address(unit.symbol))
