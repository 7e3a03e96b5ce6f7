"""Make units of machine code: translate (numba), link, optimise and emit (LLVM)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock

from fem.compiled.folder import cache_folder
from fem.compiled.kernel import Kernel, Kind, foreign
from fem.compiled.kinds import result_letters, returned, type_of
from fem.compiled.native import entry_module
from fem.compiled.store import Unit, keep, stored, symbol_of
from fem.compiled.translate import BODY, NEEDS, Part, contexts, translated, type_of_default
from fem.files import turn

OURS = "fem_"


def build(kernel: Kernel, kinds: Kind) -> Unit:
    """The unit of a kernel for arguments of these kinds, and all units that it calls, made where they are missing."""
    with turn(cache_folder()):
        unit = stored(kernel.name, kinds)  # another process may have made it by now
        if unit is None:
            unit = make(kernel, kinds)
            for symbol in unit.needs:
                build(*NEEDS[symbol])
        return unit


def make(kernel: Kernel, kinds: Kind, tell: Callable[[], None] = lambda: None) -> Unit:
    """One unit; ``tell`` is called as soon as those that it calls are in ``NEEDS``."""
    symbol = symbol_of(kernel.name, kinds)
    with global_compiler_lock:
        result = translated(kernel, argument_types(kernel, kinds))
        tell()
        needs, others, code = emit(optimised(kernel, kinds, result))
    letters = "" if kernel.inner else result_letters(result.signature.return_type)
    unit = Unit(symbol, letters, needs, others, code)
    keep(unit, on_disk=kernel.__module__.startswith("fem.") and not foreign(kinds))
    return unit


def defaults_of(kernel: Kernel, kinds: Kind) -> list[Any]:
    """Values of the arguments that are not given."""
    return [parameter.default for parameter in kernel.signature.parameters.values()][len(kinds) :]


def argument_types(kernel: Kernel, kinds: Kind) -> tuple[Any, ...]:
    """Types of all arguments."""
    return *(type_of(kind) for kind in kinds), *(type_of_default(value) for value in defaults_of(kernel, kinds))


def optimised(kernel: Kernel, kinds: Kind, result: Any) -> Any:
    """LLVM module of a unit: visible are its entry and, where other units call it, its body."""
    _, target = contexts()
    symbol = symbol_of(kernel.name, kinds)
    library: Any = Part(target.codegen(), symbol)
    if not kernel.inner:
        library.add_ir_module(entry_module(target, library, result, symbol, defaults_of(kernel, kinds)))
    library._final_module.link_in(result.library._final_module.clone())
    module = library._final_module
    if not kernel.inline:
        promised = returned(kernel.function)
        if result.signature.return_type != promised:
            raise TypeError(f"{kernel.name} returns {result.signature.return_type}, not {promised} as annotated")
        module.get_function(result.fndesc.llvm_func_name).name = symbol + BODY
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name in (symbol, symbol + BODY) else "internal"
    CPUCodeLibrary._optimize_final_module(library)
    return module


def emit(module: Any) -> tuple[tuple[str, ...], tuple[str, ...], bytes]:
    """The units and the other functions that a module calls, and its object file.

    Raises TypeError for a function that is nowhere: LLVM would end the process when it is loaded.
    """
    names = [function.name for function in module.functions if function.is_declaration]
    needs = tuple(name.removesuffix(BODY) for name in names if name.startswith(OURS))
    others = tuple(name for name in names if not name.startswith((OURS, "llvm.")))
    for name in others:
        if not llvm.address_of_symbol(name):
            raise TypeError(f"machine code would call {name}, which does not exist")
    return needs, others, bytes(contexts()[1].codegen()._tm.emit_object(module))
