"""Make units of machine code: translate from Python to LLVM (numba), link, optimise and emit (LLVM).

A unit is one kernel with all that is inlined into it. numba would optimise and emit every function; here this is done
for whole units only (``build``). Kernels call each other without numba's dispatchers: an inlined kernel is
translated where it is called, a ``called_kernel`` is only declared there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from llvmlite.ir.transforms import Visitor
from numba.core import compiler, cpu, fastmathpass, funcdesc, registry, targetconfig, types, typing
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.cpu_options import FastMathOptions
from numba.core.typing import mathdecl
from numba.core.typing.context import BaseContext
from numba.core.typing.templates import fold_arguments, signature
from numba.extending import models, register_model, typeof_impl

import fem.compiled.duals  # noqa: F401  what kernels may do with lanes and dual numbers
from fem.commands.files import turn
from fem.compiled.choice import is_plain
from fem.compiled.digest import adopted, digest_of
from fem.compiled.folder import cache_folder
from fem.compiled.handover import LOWERED, TYPED, homed, placed
from fem.compiled.interpreted import Kind
from fem.compiled.kernel import Kernel
from fem.compiled.native import (
    ITEMS,
    body_module,
    data_models,
    entry_module,
    kind_of_type,
    late_module,
    result_letters,
    returned,
    type_of,
)
from fem.compiled.singly import WIDE, has_duals, of_one, singly, widths_of
from fem.compiled.store import BODY, FIND_LATE, Unit, keep, stored, symbol_of


class CodePart(JITCodeLibrary):
    """Code of one function, to be linked into others."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class Codegen(JITCPUCodegen):
    _library_class = CodePart


def fast_flags() -> frozenset[str]:
    """Fast-math flags of the kernel that is being translated."""
    flags: Any = targetconfig.ConfigStack.top_or_none()
    return frozenset(flags.fastmath.flags if flags else ())


class RememberedFunction(types.Function):
    """A function of numba's with a cache of call types: numba tries dozens of templates for every sum.

    Its code depends on the flags of the caller; numba would use the one it found last.
    """

    def __init__(self, template: Any) -> None:
        self.calls: dict[Any, Any] = {}
        self.codes: dict[Any, Any] = {}
        super().__init__(template)

    def augment(self, other: Any) -> Any:
        """With the templates of another one."""
        return RememberedFunction(self.templates + other.templates) if other.typing_key == self.typing_key else None

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Signature for these types of arguments."""
        flags = fast_flags()
        key = tuple(args), tuple(dict(kws).items()), flags
        found: Any = self.calls.get(key)
        if found is None:
            found = self.calls[key] = super().get_call_type(context, args, kws)
            self.codes[found.args, flags] = super().get_impl_key(found)
        return found

    def get_impl_key(self, sig: Any) -> Any:
        """Key of the code of a call."""
        return self.codes.get((sig.args, fast_flags())) or super().get_impl_key(sig)


register_model(RememberedFunction)(models.OpaqueModel)


class Typing(BaseContext):
    """numba's types of scalars, tuples and single items of arrays.

    Without operators on whole arrays, which would be tried for every sum of two numbers.
    """

    def load_additional_registries(self) -> None:
        """Mathematical functions."""
        self.install_registry(mathdecl.registry)
        self.install_registry(TYPED)

    def unify_pairs(self, first: Any, second: Any) -> Any:
        """As numba's; also named tuples of one class, member by member: plain numbers beside dual ones."""
        found = super().unify_pairs(first, second)
        if found is not None or not isinstance(first, types.NamedTuple) or not isinstance(second, types.NamedTuple):
            return found
        if first.instance_class is not second.instance_class:
            return None
        kinds = [self.unify_pairs(one, other) for one, other in zip(first.types, second.types, strict=True)]
        return None if None in kinds else types.NamedTuple(kinds, first.instance_class)

    def insert_global(self, gv: Any, gty: Any) -> None:
        """The type of a global value."""
        super().insert_global(gv, RememberedFunction(gty.templates) if type(gty) is types.Function else gty)


class FastSelects(Visitor):
    """Fast-math flags for selections between two numbers, which numba omits: otherwise maxima would not use vectors."""

    def __init__(self, flags: frozenset[str]) -> None:
        self.flags = flags

    def visit_Instruction(self, instruction: Any) -> None:
        if instruction.opname == "select" and instruction.type == ir.DoubleType():
            instruction.flags.extend(self.flags)


class Context(cpu.CPUContext):
    """numba's target for the same, whose functions are never called from Python."""

    def load_additional_registries(self) -> None:
        """What kernels use of Python and numpy."""
        from numba.core import optional  # noqa: F401
        from numba.cpython import builtins, mathimpl, numbers, rangeobj, tupleobj  # noqa: F401
        from numba.np import arrayobj, npyimpl  # noqa: F401

        self.install_registry(mathimpl.registry)

    def init(self) -> None:
        """As numba's, with our code generator."""
        super().init()
        self._internal_codegen = Codegen("fem")
        self.data_model_manager = data_models()

    def refresh(self) -> None:
        """As numba does, with our arrays added."""
        super().refresh()
        self.install_registry(ITEMS)
        self.install_registry(LOWERED)

    def post_lowering(self, mod: Any, library: Any) -> None:
        """As numba's, without its memory manager."""
        if self.fastmath:
            fastmathpass.rewrite_module(mod, self.fastmath)
            FastSelects(fast_flags()).visit(mod)

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        """A key under which kernels find the function: numba needs a builtin one, which is never called."""
        library._ensure_finalized()
        return [].append


def type_of_default(value: Any) -> Any:
    """The type of an argument that is not given."""
    return types.unliteral(typing.typeof.typeof(value))


class KernelType(types.Callable, types.Dummy):
    """A kernel that another one calls."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.keys: dict[Any, Any] = {}
        super().__init__(f"kernel({kernel.name})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Signature for these arguments; translates the kernel if necessary."""
        folded = fold_arguments(
            self.kernel.signature,
            args,
            kws,
            lambda index, parameter, value: types.unliteral(value),
            lambda index, parameter, default: type_of_default(default),
            lambda index, parameter, values: types.StarArgTuple(values),
        )
        result, key, given = callee(self.kernel, tuple(folded))
        self.keys[given] = key
        return signature(result, *given).replace(pysig=self.kernel.signature)

    def get_call_signatures(self) -> Any:
        """Asked for by numba's error messages."""
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        """The key of its code."""
        return self.keys[sig.args]


@typeof_impl.register(Kernel)
def _type_of_kernel(value: Kernel, context: Any) -> Any:
    if is_plain():  # numba did not work after all
        from fem.compiled.dispatchers import type_of_kernel

        return type_of_kernel(value, context)
    return KernelType(value)


register_model(KernelType)(models.OpaqueModel)


UNROLL = "-unroll-threshold=4000"
"""Unroll loops over packs of known sides, whatever their size: only then do packs stay in registers.

Set once for the process: older versions of LLVM refuse a second time.
"""


@cache
def contexts() -> tuple[Any, Any]:
    """Typing and target context of all units."""
    llvm.set_option("fem", UNROLL)
    typing_context = Typing()
    return typing_context, Context(typing_context, "cpu")


@contextmanager
def as_target() -> Iterator[tuple[Any, Any]]:
    """Make our contexts those of numba's own functions, too, such as ``max`` of three numbers."""
    typing_context, target = contexts()
    numbas = registry.cpu_target
    with global_compiler_lock:
        before = numbas.typing_context, numbas.target_context
        numbas._toplevel_typing_context, numbas._toplevel_target_context = typing_context, target
        try:
            yield typing_context, target
        finally:
            numbas._toplevel_typing_context, numbas._toplevel_target_context = before


@cache
def callee(kernel: Kernel, arguments: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Return type and key of a kernel that another one calls with these types, and types of the passed arguments."""
    widths = [width for its in arguments for width in widths_of(its)] if kernel.is_single else []
    if widths:
        return callee_of_lanes(kernel, arguments, widths[0])
    if not kernel.inline:
        try:
            kinds = tuple(kind_of_type(its) for its in arguments)
        except KeyError:  # packs of lanes: part of the kernel that calls it
            pass
        else:
            its = declared(kernel, arguments, kinds)
            return its.restype, symbol_of(kernel.name, kinds), its.argtypes
    result = translated(kernel, arguments)
    return result.signature.return_type, result.entry_point, arguments


def callee_of_lanes(kernel: Kernel, arguments: tuple[Any, ...], width: int) -> tuple[Any, Any, Any]:
    """``callee`` of a kernel that lanes call one after the other."""
    alone = tuple(map(of_one, arguments))
    kinds = tuple(map(kind_of_type, alone))
    symbol, its = symbol_of(kernel.name, kinds), declared(kernel, alone, kinds)
    key = f"lanes {symbol} {arguments}"
    code = singly(symbol, its, width), key, (types.VarArg(types.Any),)
    contexts()[1].insert_func_defn([code])
    return WIDE[its.restype](width), key, arguments


NEEDS: dict[str, tuple[Kernel, Any, Any]] = {}
"""Units that those translated so far call, by their symbols: kernel, kinds of its arguments, descriptor."""


@cache
def declared(kernel: Kernel, arguments: tuple[Any, ...], kinds: Any) -> Any:
    """The descriptor of a unit that is called, not inlined."""
    symbol = symbol_of(kernel.name, kinds)
    its = {"modname": kernel.__module__, "qualname": kernel.__name__, "noalias": kernel.inner}
    its |= {"restype": returned(kernel.function), "argtypes": tuple(map(placed, arguments))}
    its |= {"args": list(kernel.signature.parameters), "unique_name": symbol}
    its |= {"native": True, "doc": "", "typemap": {}, "calltypes": {}, "kws": ()}
    description = funcdesc.FunctionDescriptor(**its, mangler=lambda *_, **__: symbol + BODY)
    NEEDS[symbol] = kernel, kinds, description
    contexts()[1].insert_user_function(symbol, description)
    return description


NEEDLESS = (
    "inline_closure_likes with_lifting make_function_op_code_to_jit_function inline_inlinables inline_overloads "
    "find_literally literal_unroll nopython_rewrites annotate_types dump_parfor_diagnostics"
).split()
"""numba's passes for closures, whole arrays and reports, which kernels do not use: a tenth of the time."""


class Pipeline(compiler.CompilerBase):
    """numba's passes without ``NEEDLESS``."""

    def define_pipelines(self) -> list[Any]:
        passes: Any = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        few = PassManager("kernels")
        for one, text in passes.passes:
            if one.name() not in NEEDLESS:
                few.add_pass(one, text)
        few.finalize()
        return [few]


@cache
def translated(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """numba's result for a kernel and argument types: signature, descriptor, library of LLVM code."""
    flags: Any = compiler.Flags()
    flags.error_model = "numpy"
    flags.fastmath = FastMathOptions(set(kernel.fast))
    # into kernels that call it, or into what other units call; of dual numbers that is too much code to optimise
    flags.forceinline = not any(map(has_duals, arguments))
    flags.release_gil = True
    flags.nrt = False
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.noalias = kernel.inner
    with as_target() as (typing_context, target):
        return compiler.compile_extra(
            typing_context, target, kernel.function, arguments, None, flags, {}, pipeline_class=Pipeline
        )


def build(kernel: Kernel, kinds: Kind) -> Unit:
    """The unit of a kernel for arguments of these kinds, compiled if missing."""
    if not kernel.may_be_kept(kinds):
        return stored(kernel.name, kinds) or make(kernel, kinds)
    with turn(cache_folder(), unit=symbol_of(kernel.name, kinds)):
        unit = stored(kernel.name, kinds) or adopted(kernel, kinds)  # another process may have compiled it meanwhile
        return unit or make(kernel, kinds)


def make(kernel: Kernel, kinds: Kind) -> Unit:
    """Compile one unit."""
    symbol = symbol_of(kernel.name, kinds)
    with global_compiler_lock:
        result = translated(kernel, tuple(map(homed, argument_types(kernel, kinds))))
        needs, module = optimised(kernel, kinds, result)
        others, code = emit(module)
    letters = "" if kernel.inner else result_letters(result.signature.return_type)
    called = json.dumps([(NEEDS[symbol][0].name, NEEDS[symbol][1]) for symbol in needs])
    unit = Unit(symbol, letters, needs, called, others, digest_of(kernel, kinds), code)
    keep(unit, on_disk=kernel.may_be_kept(kinds))
    return unit


def defaults_of(kernel: Kernel, kinds: Kind) -> list[Any]:
    """Values of the arguments that are not given."""
    return [parameter.default for parameter in kernel.signature.parameters.values()][len(kinds) :]


def argument_types(kernel: Kernel, kinds: Kind) -> tuple[Any, ...]:
    return *(type_of(kind) for kind in kinds), *(type_of_default(value) for value in defaults_of(kernel, kinds))


def optimised(kernel: Kernel, kinds: Kind, result: Any) -> tuple[tuple[str, ...], Any]:
    """The units that a unit calls, and its LLVM module: visible are its entry and, where others call it, its body."""
    _, target = contexts()
    symbol = symbol_of(kernel.name, kinds)
    library: Any = CodePart(target.codegen(), symbol)
    own = result.fndesc
    if not kernel.inline:
        own = declared(kernel, argument_types(kernel, kinds), kinds)
        if result.signature.return_type != own.restype:
            raise TypeError(f"{kernel.name} returns {result.signature.return_type}, not {own.restype} as annotated")
        library.add_ir_module(body_module(target, library, result, own))
    if not kernel.inner:
        library.add_ir_module(entry_module(target, library, own, symbol, defaults_of(kernel, kinds)))
    library._final_module.link_in(result.library._final_module.clone())
    module = library._final_module
    names = (function.name.removesuffix(BODY) for function in module.functions if function.is_declaration)
    needs = tuple(name for name in names if name in NEEDS)
    library.add_ir_module(late_module(target, library, {name: NEEDS[name][2] for name in needs}))
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name in (symbol, symbol + BODY) else "internal"
    CPUCodeLibrary._optimize_final_module(library)
    return needs, module


def emit(module: Any) -> tuple[tuple[str, ...], bytes]:
    """The functions of the mathematical library that a module calls, and its object file.
    Raises TypeError for a missing function: LLVM would end the process when the unit is loaded."""
    names = [function.name for function in module.functions if function.is_declaration]
    others = tuple(name for name in names if not name.startswith((FIND_LATE, "llvm.")))
    for name in others:
        if not llvm.address_of_symbol(name):
            raise TypeError(f"machine code would call {name}, which does not exist")
    return others, bytes(contexts()[1].codegen()._tm.emit_object(module))
