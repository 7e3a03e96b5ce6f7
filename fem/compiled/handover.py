"""Groups of arrays as arguments of units of machine code: passed by address, not member by member.

Within a unit a group consists of its members, which LLVM may keep in registers. Between units that would be hundreds of
words per call, and much code at both ends. So a unit gets the address of a group in memory, and reads the members that
it uses; such a group has its address as part of its value (``HomeType``), and so have its members that are groups, so
that it is passed on as one word. Only groups made by a kernel itself are written to memory for a call.

The groups of families are many, and few units use them: they are always passed as one word (``ApartType``).
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
    """A group in memory, with its address. ``its``: its type without it."""

    def __init__(self, its: Any) -> None:
        super().__init__(tuple(map(homed, its)), its.instance_class)
        self.name, self.its = f"home({its})", its


class HomeModel(models.StructModel):
    """Its members, then its place."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [(f"f{k}", member) for k, member in enumerate(kind)]
        super().__init__(manager, kind, [*members, ("home", types.voidptr)])


class PlacedType(types.Type):
    """The address of a group of type ``its``, as passed to other units."""

    def __init__(self, its: Any) -> None:
        self.its = its
        super().__init__(f"placed({its})")


class ApartType(types.Type):
    """A tuple of groups that is never unpacked as a whole: its address."""

    def __init__(self, its: Any) -> None:
        self.its = its
        super().__init__(f"apart({its})")


def homed(its: Any) -> Any:
    """The type that a unit sees of an argument."""
    return HomeType(its) if type(its) is types.NamedTuple else its


def homeless(its: Any) -> Any:
    """The type of the same value without an address."""
    if isinstance(its, HomeType):
        return its.its
    if type(its) is types.NamedTuple:
        return types.NamedTuple(tuple(map(homeless, its)), its.instance_class)
    return its


def placed(its: Any) -> Any:
    """The type of an argument as passed to another unit."""
    return PlacedType(homeless(its)) if isinstance(its, types.NamedTuple) else its


def written(context: Any, builder: Any, its: Any, value: Any) -> Any:
    """Writes a tuple to memory; returns its address."""
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
    """The value of a group, array or number of type ``its`` at an address."""
    inside = builder.bitcast(place, context.get_value_type(its).as_pointer())
    if type(its) is not types.NamedTuple:
        return builder.load(inside)
    value = ir.Constant(context.get_value_type(homed(its)), ir.Undefined)
    for k, member in enumerate(its):
        value = builder.insert_value(value, read(context, builder, member, member_of(builder, inside, k)), k)
    return builder.insert_value(value, builder.bitcast(place, cgutils.voidptr_t), len(its))


def member_of(builder: Any, inside: Any, k: int) -> Any:
    """The address of a member of a tuple."""
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
    """Registers the machine representation of these types with numba."""
    manager.register(HomeType, HomeModel)
    for its in (PlacedType, ApartType):
        manager.register(its, models.OpaqueModel)
