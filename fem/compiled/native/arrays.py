"""Arrays as machine code sees them: where their numbers begin, and the shape; they are C-contiguous.

numba's own arrays have owners, sizes and strides, too: seven words for one axis in place of two, in every group that is
handed from kernel to kernel, which was a third of the time of a translation.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import Registry
from numba.np.arrayobj import fix_integer_index

ITEMS = Registry("items and shapes of arrays")
"""All that kernels do with arrays."""
NO_MORE = "kernels take items and rows of arrays: no slices, no loops over an array, a, b = x[0], x[1] for a, b = x"


class ArrayModel(models.StructModel):
    """Pointer to the first item, shape."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("data", types.CPointer(kind.dtype)), ("shape", types.UniTuple(types.intp, kind.ndim))]
        super().__init__(manager, kind, members)


def data_models() -> Any:
    """numba's, but for arrays."""
    manager = default_manager.copy()
    manager.register(types.Array, ArrayModel)
    return manager


def make_array(context: Any, builder: Any, kind: Any, data: Any, sides: list[Any]) -> Any:
    """The array that begins there."""
    array = cgutils.create_struct_proxy(kind)(context, builder)
    array.data = data
    array.shape = cgutils.pack_array(builder, sides, context.get_value_type(types.intp))
    return array._getvalue()


def _sides(builder: Any, kind: Any, array: Any) -> list[Any]:
    return [builder.extract_value(array, (1, axis)) for axis in range(kind.ndim)]


def _address(context: Any, builder: Any, kind: Any, array: Any, index_kind: Any, index: Any) -> Any:
    """Pointer to an item, or with fewer indices to the first one below."""
    several = isinstance(index_kind, types.BaseTuple)
    kinds = index_kind.types if several else [index_kind]
    if not all(isinstance(each, types.Integer) for each in kinds):
        raise TypeError(NO_MORE)
    given = cgutils.unpack_tuple(builder, index) if several else [index]
    place = context.get_constant(types.intp, 0)
    for axis, side in enumerate(_sides(builder, kind, array)):
        place = builder.mul(place, side) if axis else place
        if axis < len(kinds):
            one = fix_integer_index(context, builder, kinds[axis], given[axis], side)
            place = builder.add(place, one) if axis else one
    return builder.gep(builder.extract_value(array, 0), [place])


@ITEMS.lower_getattr(types.Array, "shape")
def _shape(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return builder.extract_value(array, 1)


@ITEMS.lower_getattr(types.Array, "size")
def _size(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    size = context.get_constant(types.intp, 1)
    for side in _sides(builder, kind, array):
        size = builder.mul(size, side)
    return size


@ITEMS.lower(operator.getitem, types.Array, types.Integer)
@ITEMS.lower(operator.getitem, types.Array, types.BaseTuple)
def _getitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, index_kind = sig.args
    address = _address(context, builder, kind, args[0], index_kind, args[1])
    result = sig.return_type
    if isinstance(result, types.Array):
        return make_array(context, builder, result, address, _sides(builder, kind, args[0])[-result.ndim :])
    return context.unpack_value(builder, kind.dtype, address)


@ITEMS.lower(operator.setitem, types.Array, types.Any, types.Any)
def _setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, index_kind, value_kind = sig.args
    address = _address(context, builder, kind, args[0], index_kind, args[1])
    context.pack_value(builder, kind.dtype, context.cast(builder, args[2], value_kind, kind.dtype), address)
    return context.get_dummy_value()


@ITEMS.lower("getiter", types.Array)
def _iterate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    raise TypeError(NO_MORE)
