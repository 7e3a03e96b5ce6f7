"""Groups of arrays on their way between units of machine code: where they lie in memory, not member by member.

Within a unit a group is all its members, each in a register where LLVM likes. Between units that would be hundreds of
words for every call, and as much code at either end. So a unit is handed the place of a group in memory, and reads what
it uses; a group that came like this knows its place (``HomeType``), and so do its members that are groups, so that it
is handed on as one word. Only groups that a kernel makes itself are written to memory when they are handed over.

The groups of families are many, and few units look into them: they are one word everywhere (``ApartType``).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import Registry
from numba.core.typing.templates import AbstractTemplate, signature
from numba.core.typing.templates import Registry as Templates

LOWERED, TYPED = Registry("places of groups"), Templates()


class HomeType(types.NamedTuple):
    """A group that lies in memory. ``its``: its type without that."""

    def __init__(self, its: Any) -> None:
        super().__init__(tuple(map(homed, its)), its.instance_class)
        self.name, self.its = f"home({its})", its


class HomeModel(models.StructModel):
    """Its members, then its place."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [(f"f{k}", member) for k, member in enumerate(kind)]
        super().__init__(manager, kind, [*members, ("home", types.voidptr)])


class PlacedType(types.Type):
    """The place of a group of type ``its``: what other units are handed."""

    def __init__(self, its: Any) -> None:
        self.its = its
        super().__init__(f"placed({its})")


class ApartType(types.Type):
    """A tuple of groups that is never taken apart as a whole: its place."""

    def __init__(self, its: Any) -> None:
        self.its = its
        super().__init__(f"apart({its})")


def homed(its: Any) -> Any:
    """The type that a unit sees of an argument."""
    return HomeType(its) if type(its) is types.NamedTuple else its


def homeless(its: Any) -> Any:
    """The type of the same value where it lies nowhere."""
    if isinstance(its, HomeType):
        return its.its
    if type(its) is types.NamedTuple:
        return types.NamedTuple(tuple(map(homeless, its)), its.instance_class)
    return its


def placed(its: Any) -> Any:
    """The type in which another unit is handed an argument."""
    return PlacedType(homeless(its)) if isinstance(its, types.NamedTuple) else its


def written(context: Any, builder: Any, its: Any, value: Any) -> Any:
    """The place to which a tuple is written now."""
    value = without_homes(context, builder, its, value)
    room = cgutils.alloca_once(builder, value.type)
    builder.store(value, room)
    return builder.bitcast(room, cgutils.voidptr_t)


def without_homes(context: Any, builder: Any, its: Any, value: Any) -> Any:
    """A value as one of type ``homeless(its)``."""
    if homeless(its) == its:
        return value
    members = [without_homes(context, builder, member, builder.extract_value(value, k)) for k, member in enumerate(its)]
    return context.make_tuple(builder, homeless(its), members)


def read(context: Any, builder: Any, its: Any, place: Any) -> Any:
    """What a unit sees of a group, array or number of type ``its`` that lies at a place."""
    inside = builder.bitcast(place, context.get_value_type(its).as_pointer())
    if type(its) is not types.NamedTuple:
        return builder.load(inside)
    value = ir.Constant(context.get_value_type(homed(its)), ir.Undefined)
    for k, member in enumerate(its):
        value = builder.insert_value(value, read(context, builder, member, member_of(builder, inside, k)), k)
    return builder.insert_value(value, builder.bitcast(place, cgutils.voidptr_t), len(its))


def member_of(builder: Any, inside: Any, k: int) -> Any:
    """The place of a member of a tuple."""
    return cgutils.gep_inbounds(builder, inside, 0, k)


@LOWERED.lower_cast(HomeType, PlacedType)
def _hand_on(context: Any, builder: Any, kind: Any, to: Any, group: Any) -> Any:
    return builder.extract_value(group, len(kind))


@LOWERED.lower_cast(types.NamedTuple, PlacedType)
def _hand_over(context: Any, builder: Any, kind: Any, to: Any, group: Any) -> Any:
    return written(context, builder, kind, group)


@TYPED.register
class ApartItem(AbstractTemplate):
    """The type of groups[k]."""

    key = "static_getitem"

    def generic(self, args: Any, kws: Any) -> Any:
        groups, index = args
        return signature(homed(groups.its[index]), *args) if isinstance(groups, ApartType) else None


@LOWERED.lower("static_getitem", ApartType, types.IntegerLiteral)
def _item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    its = sig.args[0].its
    inside = builder.bitcast(args[0], context.get_value_type(its).as_pointer())
    return read(context, builder, its[args[1]], member_of(builder, inside, args[1]))


def register(manager: Any) -> None:
    """Tell numba how these types look in machine code."""
    manager.register(HomeType, HomeModel)
    for its in (PlacedType, ApartType):
        manager.register(its, models.OpaqueModel)
