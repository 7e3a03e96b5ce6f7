"""Machine code of kernels, to be read."""

from __future__ import annotations

from typing import Any

from numba.core.compiler_lock import global_compiler_lock

from fem.compiled.interpreted import Kind
from fem.compiled.kernel import kinds_of
from fem.compiled.native import kind_of_type, type_of
from fem.compiled.translate import argument_types, contexts, optimised, translated


def come_back(kinds: Kind) -> bool:
    """The kind of each argument is that of the type made for it."""
    return [kind_of_type(type_of(kind)) for kind in kinds] == list(kinds)


def assembly(kernel: Any, *arguments: Any) -> str:
    """Of a kernel for arguments like these."""
    kinds = kinds_of(arguments)
    with global_compiler_lock:
        _, module = optimised(kernel, kinds, translated(kernel, argument_types(kernel, kinds)))
        return str(contexts()[1].codegen()._tm.emit_assembly(module))
