"""From Python's arrays of packs to those of kernels, for plain numba; machine code of ours reads them by itself."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils
from numba.extending import NativeValue, typeof_impl, unbox
from numba.np.numpy_support import from_dtype

from fem.lanes.arrays import Driven, Fixed, Lanes
from fem.lanes.types import CURVES, DrivenType, FixedType, LanesType


@typeof_impl.register(Lanes)
def _type_of_lanes(value: Lanes, context: Any) -> LanesType:
    return LanesType(*value.kind[1:])


@typeof_impl.register(Fixed)
def _type_of_fixed(value: Fixed, context: Any) -> FixedType:
    return FixedType(from_dtype(value.array.dtype), *value.kind[2:])


@typeof_impl.register(Driven)
def _type_of_driven(value: Driven, context: Any) -> DrivenType:
    return DrivenType(_type_of_lanes(value.values, context))


def _array(its: Any, holder: Any, name: str, c: Any) -> Any:
    """The array that is an attribute of an object."""
    found = c.pyapi.object_getattr_string(holder, name)
    array = c.unbox(its, found).value
    c.pyapi.decref(found)  # the object holds it
    return array


@unbox(LanesType)
def _unbox_lanes(its: LanesType, value: Any, c: Any) -> NativeValue:
    (array_type,) = its.arrays
    array = c.context.make_array(array_type)(c.context, c.builder, _array(array_type, value, "array", c))
    lanes = cgutils.create_struct_proxy(its)(c.context, c.builder)
    lanes.data = c.builder.bitcast(array.data, lanes.data.type)
    lanes.shape = cgutils.pack_array(c.builder, cgutils.unpack_tuple(c.builder, array.shape)[: its.ndim])
    return NativeValue(lanes._getvalue())


@unbox(FixedType)
def _unbox_fixed(its: FixedType, value: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


@unbox(DrivenType)
def _unbox_driven(its: DrivenType, value: Any, c: Any) -> NativeValue:
    driven = cgutils.create_struct_proxy(its)(c.context, c.builder)
    driven.values = _array(its.values, value, "values", c)
    driven.curves = _array(CURVES, value, "curves", c)
    return NativeValue(driven._getvalue())
