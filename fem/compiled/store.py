"""Units of machine code: stored in files, loaded into the process.

A unit is one object file with its description. Loading needs LLVM but not numba, whose import and cache would take most
of the time of a short run.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import math
import threading
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from fem.commands.files import read_file, write_file
from fem.compiled.folder import cache_folder, make_cache
from fem.errors import FemError, tell_once

UNKEPT = "compiled code cannot be stored in {folder}, so every start compiles it again: {reason}"
LACKING = "the machine code calls {names}, which this system does not have; delete {folder}, and it is compiled again"


@dataclass(frozen=True, slots=True)
class Unit:
    """Machine code of one kernel for arguments of certain kinds.

    symbol  name of the function that others call
    result  letters of the numbers it returns (``struct``): d, q, ?; empty for none
    needs   symbols of the units it calls, which are found at their first call (``find_late``)
    kinds   for compiling these if they are missing, as text: name of the kernel, kinds of its arguments
    others  functions of the mathematical library that it calls
    digest  hash of everything that determines the code (``digest.py``)
    code    the object file
    """

    symbol: str
    result: str
    needs: tuple[str, ...]
    kinds: str
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
    """Registers a unit, and writes it to disk, atomically."""
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
    """Whether the unit of a kernel for these kinds is on disk."""
    return _file(symbol_of(name, kinds)).is_file()


def sealed(unit: Unit) -> bytes:
    """The content of a file: a hash of the rest, the description of the code, the code."""
    about = asdict(unit)
    del about["code"], about["kinds"]
    rest = json.dumps(about).encode() + b"\n" + unit.kinds.encode() + b"\n" + unit.code
    return seal(rest, cache_folder().name).encode() + b"\n" + rest


def seal(content: bytes, folder: str) -> str:
    """A hash over content and name of its folder, so that units of other processors are not accepted."""
    return hashlib.sha256(folder.encode() + b"\n" + content).hexdigest()


def find(symbol: str) -> Unit | None:
    """A unit by its name; None: there is none."""
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
    Raises ValueError where a bit of it has changed."""
    mark, _, rest = content.partition(b"\n")
    if mark != seal(rest, folder).encode():
        raise ValueError("not what was written")
    head, kinds, code = rest.split(b"\n", 2)
    about = json.loads(head)
    needs, others = tuple(about["needs"]), tuple(about["others"])
    return Unit(about["symbol"], about["result"], needs, kinds.decode(), others, about["digest"], code)


def stored(name: str, kinds: Any) -> Unit | None:
    """The unit of a kernel for these kinds, if it exists."""
    return find(symbol_of(name, kinds))


def job_of(unit: Unit, symbol: str) -> tuple[str, Any]:
    """Name of the kernel and kinds of the arguments of a unit that another one calls."""

    def frozen(kinds: Any) -> Any:
        return tuple(map(frozen, kinds)) if isinstance(kinds, list) else kinds

    name, kinds = json.loads(unit.kinds)[unit.needs.index(symbol)]
    return name, frozen(kinds)


BODY = "_body"
"""Ending of the name of the function that other units call."""
FIND_LATE = "fem_find_late"
"""The function by which machine code finds the address of a unit at its first call."""


class Compiler(Protocol):
    """Makes missing code, at once or in the background (``compiler.LateCompiler``)."""

    def make(self, kernel: Any, kinds: Any) -> Unit | None: ...
    def call(self, kernel: Any, arguments: tuple[Any, ...]) -> Any: ...
    def provide(self, name: str, kinds: Any) -> Unit: ...
    def complete(self) -> None: ...
    def ask(self, job: tuple[str, Any]) -> bool: ...
    def wait_for(self, job: tuple[str, Any], seconds: float = math.inf) -> bool: ...


_loaded: set[str] = set()
_callers: dict[str, Unit] = {}
"""Symbol of a unit -> a unit that calls it."""
_compilers: list[Compiler] = []


class _Failure(threading.local):
    """Why a unit that machine code of this thread called is not available."""

    error: BaseException | None = None


_failure = _Failure()


def raise_failure() -> None:
    """Raises the error below machine code that has returned early, if there was one."""
    error, _failure.error = _failure.error, None
    if error is not None:
        raise error


@ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_char_p)
def find_late(name: bytes) -> int:
    """The address of a unit at its first call by machine code, because most runs need few of the possible units.
    0: it is not available, and the machine code returns at once."""
    symbol = name.decode()
    try:
        unit = find(symbol) or _compilers[0].provide(*job_of(_callers[symbol], symbol))
        return load(unit, _compilers[0], BODY)
    except BaseException as error:
        _failure.error = error
        return 0


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError):  # newer versions do that by themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.add_symbol(FIND_LATE, ctypes.cast(find_late, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def lacking(unit: Unit) -> list[str]:
    """Functions that a unit calls and that are missing in this library and in LLVM."""
    import llvmlite.binding as llvm

    return [name for name in unit.others if not llvm.address_of_symbol(name)]


def load(unit: Unit, compiler: Compiler, ending: str = "") -> int:
    """Loads a unit; returns the address of its entry or, with ``BODY``, of the function that other units call."""
    import llvmlite.binding as llvm

    engine = _engine()
    if lacking(unit):
        compiler.complete()
        if names := lacking(unit):  # LLVM would end the process
            raise FemError(LACKING.format(names=", ".join(names), folder=cache_folder()))
    with _lock:
        if unit.symbol not in _loaded:
            _loaded.add(unit.symbol)
            _compilers[:] = [compiler]
            _callers.update(dict.fromkeys(unit.needs, unit))
            engine.add_object_file(llvm.ObjectFileRef.from_data(unit.code))
            engine.finalize_object()
        return int(engine.get_function_address(unit.symbol + ending))
