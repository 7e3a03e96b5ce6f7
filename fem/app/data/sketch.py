"""A model before it is run, for the player of the page: mesh, supports, loads, sets; a line at rest."""

from __future__ import annotations

import numpy as np

from fem.app.data.panels import Panel
from fem.app.data.scene import Scene
from fem.arrays import Floats
from fem.checking.bars import collect_bars
from fem.checking.findings import supports
from fem.model import Model
from fem.model.mesh import BARS, REEVED
from fem.runs.frames import says_si, unit_of
from fem.runs.read import Missing

MOST_NODES = 20_000
FLAT = 1e-9


def sketch_of(model: Model, tension: Floats | None = None) -> bytes:
    """The mesh as it is in the deck; tension (bars,) colours one without pulleys. Missing: it has too many nodes."""
    mesh = model.mesh
    if len(mesh.node_labels) > MOST_NODES:
        raise Missing(f"{len(mesh.node_labels)} nodes are too many to be shown here before a run")
    ends, elements = mesh.legs
    lines, is_bar = ends[:, 0] != ends[:, 1], mesh.is_of(*BARS, *REEVED)[elements]
    bars, others = np.flatnonzero(lines & is_bar), np.flatnonzero(lines & ~is_bar)
    order = np.concatenate([bars, others])
    axes, held = plane_of(model), np.zeros((len(mesh.node_labels), 3), bool)
    for each in supports(model):
        held[mesh.nodes_of(each.target), each.dof - 1] = True
    fixed = np.flatnonzero(held[:, axes].all(axis=1)).tolist()
    is_si = says_si(model.heading)
    sets = mesh.element_sets.items()
    of_elements = {f"{name} (elements)": np.unique(ends[np.isin(elements, each)]) for name, each in sets}
    return Scene(
        np.zeros(1),
        mesh.coordinates[None],
        mesh.node_names.tolist(),
        mesh.element_names[elements[order]].tolist(),
        ends[order],
        axes,
        lambda formula: unit_of(formula, is_si) if is_si else "",
        up=mesh.up,
        values={} if tension is None else {"T": tension[None]},
        dashed=len(others),
        supports=fixed,
        loads=point_loads(model),
        planes=planes_of(model),
        sets=mesh.node_sets | of_elements,
    ).text()


def plane_of(model: Model) -> tuple[int, ...]:
    """Axes of the plane in which the mesh lies, with the vertical; all three where there is none."""
    x = model.mesh.coordinates
    extent = np.ptp(x, axis=0) if len(x) else np.zeros(3)
    flat = extent <= FLAT * max(float(extent.max()), np.finfo(float).tiny)
    for axis in (1, 0, 2):
        if flat[axis] and axis != model.mesh.up:
            return tuple(j for j in range(3) if j != axis)
    return (0, 1, 2)


def point_loads(model: Model) -> dict[int, list[float]]:
    """Node index -> direction of what pulls at it in the first step, weights of all apart."""
    if not model.steps or not model.steps[0].nodal_loads:
        return {}
    step = model.steps[0]
    loads = np.zeros((len(model.mesh.node_labels), 3))
    for load in step.nodal_loads:
        loads[model.mesh.nodes_of(load.target), load.dof - 1] += load.value
    return {int(node): loads[node].tolist() for node in np.flatnonzero(loads.any(axis=1))}


def planes_of(model: Model) -> list[tuple[float, str, bool]]:
    """The surface of the water, and level bottoms."""
    found = [(model.water.level, "#56B4E9", False)] if model.water else []
    return found + [(bed.elevation, "#a08050", True) for bed in model.seabeds]


def bar_tensions(model: Model) -> Floats:
    """(bars,) T of bars with ENGINEERING strain where they are, from their rest lengths; 0 where they are slack."""
    bars = collect_bars(model)
    x = model.mesh.coordinates[bars.connectivity]
    length = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
    return np.asarray(np.maximum(bars.young * bars.area * (length / bars.length0 - 1.0), 0.0))


REST = "natural length from the anchor"


def along(model: Model, tension: Floats) -> Panel:
    """T of the bars over the natural length, from the first end."""
    length = collect_bars(model).length0
    middle = np.cumsum(length) - 0.5 * length
    return Panel("tension at rest", "N", (("T", np.column_stack([middle, tension])),))


def said_of(model: Model) -> str:
    """Lengths and tensions in words, as the reader of decks tells them; in m and N."""
    return "\n".join(notice for notice in model.notices if "natural length" in notice)
