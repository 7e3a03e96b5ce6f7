"""Tables as ``pandas.DataFrame``, arrays with named axes as ``xarray.Dataset``; both libraries are of an extra."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from fem.arrays import Columns, Floats
from fem.errors import CommandError, lacks
from fem.model import Model
from fem.model.quantities import ELEMENTAL, NODAL, Quantity
from fem.results.frames.units import says_si, si_unit, unit_of

AXES = ("time", "node", "axis")


def library(name: str) -> Any:
    """A library of the extra ``notebook``. CommandError: it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise CommandError(lacks(name, "notebook")) from None


def frame_of(table: Columns, is_si: bool, parameters: Collection[str] = ()) -> Any:
    """A table as ``pandas.DataFrame``; in SI ``attrs["units"]`` has the unit of each column that has one.

    parameters  columns whose units nobody knows, whatever they are called
    """
    frame = library("pandas").DataFrame(table)
    known = [name for name in table if is_si and name not in parameters]
    frame.attrs["units"] = {name: unit for name in known if (unit := si_unit(name))}
    return frame


def dataset_of(model: Model, increments: Columns, motion: Floats, elements: Floats) -> Any:
    """All that a history records, over time, node and axis, or time and element; in SI every variable has its unit."""
    mesh, is_si = model.mesh, says_si(model.heading)

    def described(quantity: Quantity) -> dict[str, str]:
        unit = unit_of(quantity.unit, is_si) if is_si else ""
        return {"long_name": quantity.field} | ({"units": unit} if unit else {})

    counts = {name: ("time", values) for name, values in increments.items() if name != "time"}
    recorded = NODAL[: motion.shape[1]]
    nodal = {each.name: (AXES, motion[:, k], described(each)) for k, each in enumerate(recorded)}
    axes = ("time", "element")
    recorded = ELEMENTAL[: elements.shape[2]]
    elemental = {each.name: (axes, elements[:, :, k], described(each)) for k, each in enumerate(recorded)}
    coordinates = {
        "time": ("time", increments["time"], {"units": "s"} if is_si else {}),
        "node": mesh.node_labels,
        "axis": [1, 2, 3],
        "element": mesh.element_labels,
        "X": (AXES[1:], mesh.coordinates, {"long_name": "reference position"} | ({"units": "m"} if is_si else {})),
    }
    found = library("xarray").Dataset(nodal | elemental | with_units(counts, is_si), coordinates)
    return found.assign_attrs(heading="\n".join(model.heading), source=model.source)


def with_units(variables: Mapping[str, tuple[Any, np.ndarray]], is_si: bool) -> dict[str, tuple[Any, ...]]:
    """Variables of a data set with what is known of their units."""
    units = {name: {"units": unit} for name in variables if is_si and (unit := si_unit(name))}
    return {name: (*variable, units.get(name, {})) for name, variable in variables.items()}


def grid_of(table: Columns, names: Iterable[str], is_si: bool) -> Any:
    """A sweep as a data set over its parameters: one axis for each, in their order."""
    values = {name: np.array(list(dict.fromkeys(table[name].tolist()))) for name in names}
    shape = tuple(map(len, values.values()))
    columns = {name: (tuple(values), column.reshape(shape)) for name, column in table.items() if name not in values}
    return library("xarray").Dataset(with_units(columns, is_si), values)
