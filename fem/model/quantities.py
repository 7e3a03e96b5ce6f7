"""Quantities of nodes, elements and the whole model: one table for decks, records, tables, fields, figures and sweeps.

A quantity that is computed from others is one line here, with ``derived``. One that only the solver knows is a line
without it, at the position where ``note_increment`` (nodes) or ``element_values`` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints, frozen
from fem.errors import unknown
from fem.model import Model
from fem.model.beams import Angles
from fem.model.curves import Constant, Follow, evaluate
from fem.model.facts import natural_lengths
from fem.model.free_bodies import fitted_rotation, rotation, rotation_vector, spin
from fem.model.surroundings import water_at
from fem.model.twists import find_twists, unit


@frozen
class Quantity:
    """A number, or a vector, of every node or of every element.

    name         as decks ask for it
    field        as VTK has it
    unit         formula of its unit (``length/time``)
    always       written with every request
    printed, filed  included in a PRINT or FILE request that names no quantity
    shown        in the fields of a step without any FILE request
    axes         of its components; empty: it is one number
    component    name of a component, without its axis; empty: ``name``
    aliases      other names of a single number in decks
    figure       name of its figure over time; empty: it has none of its own
    swept        what a sweep keeps of it: end, min, max; of recorded ones only
    is_extension  neither Abaqus nor CalculiX knows it
    derived      function that computes it from others; None: the solver records it
    at_ends      of elements: it needs ``ends``, the motion of their nodes, which is then recorded, too; of nodes:
                 that of the nodes at the other ends of their elements (``at``)
    """

    name: str
    field: str
    unit: str
    always: bool = False
    printed: bool = False
    filed: bool = False
    shown: bool = False
    axes: str = ""
    component: str = ""
    aliases: tuple[str, ...] = ()
    figure: str = ""
    swept: tuple[str, ...] = ()
    is_extension: bool = False
    derived: Callable[[Values], Floats] | None = None
    at_ends: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns in the tables; decks may request these, too."""
        return tuple(f"{self.component or self.name}{axis}" for axis in self.axes) or (self.name,)


def vector(name: str, field: str, unit: str, **more: object) -> Quantity:
    """Of nodes, with components 1, 2, 3."""
    return Quantity(name, field, unit, axes="123", **more)  # type: ignore[arg-type]


MOVES: dict[str, object] = {"always": True, "printed": True, "swept": ("end", "min", "max")}
NODAL = [
    vector("U", "displacement", "length", filed=True, shown=True, figure="displacements", **MOVES),
    vector("V", "velocity", "length/time", filed=True, shown=True, figure="velocities"),
    vector("A", "acceleration", "length/time²", filed=True, shown=True, figure="accelerations"),
    vector("RF", "reaction", "force", filed=True, shown=True, swept=("end",)),
    # recorded only if there are contacts with the seabed, and if nodes are loaded
    vector("CFORCE", "contact force", "force", derived=lambda of: np.zeros_like(of["U"])),
    vector("CF", "concentrated force", "force", derived=lambda of: np.zeros_like(of["U"])),
    # recorded only if equations tie nodes: there it is the force of the tie, too
    vector("EF", "end force", "force", derived=lambda of: of["RF"], is_extension=True),
    # recorded only if lines twist
    vector("SKT", "curvatures and twist", "1/length", component="SK", derived=lambda of: np.zeros_like(of["U"])),
    vector("SMT", "moments and torque", "force length", component="SM", derived=lambda of: np.zeros_like(of["U"])),
    vector("SPT", "spins and twist angle", "", component="SP", derived=lambda of: np.zeros_like(of["U"])),
    vector("SDT", "director", "", component="SD", derived=lambda of: np.zeros_like(of["U"])),
    vector("TF", "total force", "force", derived=lambda of: of["RF"] + of["CF"]),
    vector(
        "COORD", "position", "length", component="COOR", figure="positions", derived=lambda of: of.coordinates + of["U"]
    ),
    vector("FV", "fluid velocity", "length/time", derived=lambda of: of.water[1]),
    vector("FA", "fluid acceleration", "length/time²", derived=lambda of: of.water[2]),
    Quantity("FE", "surface elevation", "length", derived=lambda of: of.water[0]),
    vector("RM", "moment", "force length", derived=lambda of: moments(of)),
    Quantity("SK", "curvature", "1/length", derived=lambda of: of.bends[0]),
    Quantity("SM", "bending moment", "force length", derived=lambda of: of.bends[1]),
    vector("UR", "rotation", "", derived=lambda of: of.turns[0], figure="rotations"),
    vector("VR", "angular velocity", "1/time", derived=lambda of: of.turns[1]),
    Quantity("TE", "end tension", "force", derived=lambda of: np.linalg.norm(of.pull, axis=-1), is_extension=True),
    Quantity("DECL", "declination", "degrees", derived=lambda of: pull_angles(of)[0], is_extension=True),
    Quantity("AZIM", "azimuth", "degrees", derived=lambda of: pull_angles(of)[1], is_extension=True),
]
SHOWN: Any = {"printed": True, "filed": True, "shown": True}
ELEMENTAL = [
    Quantity("E", "strain", "", aliases=("E11",), **SHOWN),
    Quantity("S", "stress", "force/length²", printed=True, filed=True, aliases=("S11",)),
    Quantity("N", "N", "force", is_extension=True, **SHOWN),
    Quantity("T", "T", "force", aliases=("SF", "SF1"), is_extension=True, swept=("end", "min", "max"), **SHOWN),
    # recorded only if ropes run over pulleys; otherwise the tensions at both ends are equal
    Quantity("T2", "T2", "force", is_extension=True, derived=lambda of: of["T"]),
    # recorded only if bars may yield
    Quantity("PE", "plastic strain", "", aliases=("PE11",), derived=lambda of: np.zeros_like(of["E"])),
    Quantity("PEEQ", "sum of plastic strains", "", derived=lambda of: np.zeros_like(of["E"])),
]
QUANTITIES = {"NODE": NODAL, "EL": ELEMENTAL}
"""By the first word of the cards that ask for them. ``fem.register`` appends to them."""
RECORDED = {kind: len([each for each in table if each.derived is None]) for kind, table in QUANTITIES.items()}
"""Number of quantities that the solver records; they stand before the derived ones."""
CONCENTRATED = [each.name for each in NODAL].index("CF")
"""Index of CF among the quantities of nodes."""
HARMONIC = {kind: tuple(each.name for each in table if each.derived is None) for kind, table in QUANTITIES.items()}
"""Quantities whose amplitude and phase ``*STEADY STATE DYNAMICS`` computes."""
PHASED = {"PU": "U", "PRF": "RF", "PHE": "E", "PHS": "S"}
"""Abaqus' names of amplitude and phase together."""
ENERGIES = {"kinetic": "ALLKE", "strain": "ALLSE", "potential": "", "external_work": "ALLWK", "dissipated": ""}
ENERGIES["energy_error"] = "ETOTAL"
"""Of the whole model: columns of ``increments.csv``, and as what decks ask for them."""
WHOLE = [Quantity(name, name, "energy") for name in ENERGIES]


CONTACT, BENDING = RECORDED["NODE"], CONCENTRATED + 2
"""Index of CFORCE, and of SKT, which SMT, SPT and SDT follow."""


def recorded_rows(touches: bool, is_loaded: bool, is_tied: bool, twists: bool) -> int:
    """Number of quantities of nodes that a run records; touches: there are contacts, is_loaded: there is ``*CLOAD``,
    is_tied: there are equations between dofs, twists: lines twist."""
    if twists:
        return BENDING + 4
    return CONCENTRATED + 1 + is_tied if is_loaded or is_tied else RECORDED["NODE"] + touches


def recorded_values(model: Model) -> int:
    """Number of quantities of elements that a run records: T2 with pulleys, PE and PEEQ with bars that may yield."""
    return RECORDED["EL"] + (3 if model.yields else int(model.mesh.has_pulleys))


def unrecorded(model: Model) -> set[str]:
    """Quantities of elements that have no meaning in a model, and stand in no table of all."""
    return ({"PE", "PEEQ"} if not model.yields else set()) | ({"T2"} if not model.mesh.has_pulleys else set())


def pull_angles(of: Values) -> tuple[Floats, Floats]:
    """Declination and azimuth (..., p) in degrees of the pull of a line on what holds its end: from upwards (0) over
    horizontal (90) to downwards (180); from x towards y, -180 to 180."""
    up = of.model.mesh.up
    x, y, z = (of.pull[..., axis] + 0.0 for axis in ((0, 1, 2) if up == 2 else (2, 0, 1)))
    return np.degrees(np.arctan2(np.hypot(x, y), z)), np.degrees(np.arctan2(y, x) if up == 2 else np.arctan2(x, y))


def moments(of: Values) -> Floats:
    """Moments about the reference nodes of rigid bodies: of the reactions at pinned nodes, of free bodies of those
    at the ends of their axes, which do not move with the node; of clamps in space on their lines (``clamped``); zero
    at other nodes."""
    found, mesh = np.zeros_like(of["RF"]), of.model.mesh
    if of.model.bends:
        at, own = clamped(of)
        for column, place in enumerate(at.tolist()):
            found[..., place, :] += own[..., column, :]
    for body in (*of.model.bodies, *of.model.free_bodies):
        (node,) = np.isin(of.indices, mesh.nodes_of(body.node)).nonzero()
        if node.size and (body.corners is None or body.axes):
            pinned = of.indices.searchsorted(mesh.nodes_of(body.axes or body.pinned))
            middle = of.coordinates[node] if body.axes else of["COORD"][..., node, :]
            arms = of["COORD"][..., pinned, :] - middle
            found[..., node, :] = np.cross(arms, of["RF"][..., pinned, :]).sum(axis=-2, keepdims=True)
    return found


def clamped(of: Values) -> tuple[Ints, Floats]:
    """Places among the nodes of k clamps in space, and their moments (..., k, 3) on their lines, without BETA.

    They are dE/d(rotation of the clamp): with ``forces/twist.py``, p = M1 A + M2 B, f = phi/|kb| and n along kb
    - f p - (1 - f) (p.n) n + M/2 t1 x kb + (f (p x kb).t1/2 - M) t1. A clamp within a line that twists is left out:
    the tables have the moments of one of its sides only.
    """
    mesh, angles, twisted = of.model.mesh, angles_of(of.model).among(of.indices), twisted_at(of.model)
    (own,) = np.nonzero(angles.nodes[:, 0] < 0)
    _, node, after = angles.nodes[own].T
    twists = np.isin(node, twisted)
    own = own[~twists | (np.bincount(angles.nodes[:, 1])[node] == 1)] if len(own) else own
    _, node, after = angles.nodes[own].T
    twists, at = np.isin(node, twisted), of.indices.searchsorted(node)
    t1 = unit(mesh.coordinates[after] - mesh.coordinates[node])
    t2 = unit(of["COORD"][..., of.indices.searchsorted(after), :] - of["COORD"][..., at, :])
    cosine = (t1 * t2).sum(axis=-1, keepdims=True)
    kb = 2.0 * np.cross(t1, t2) / (1.0 + cosine)
    size = np.linalg.norm(kb, axis=-1, keepdims=True)
    n = np.divide(kb, size, out=np.zeros_like(kb), where=size > 0.0)
    phi, torque = 2.0 * np.arctan(size / 2.0), np.zeros_like(size)
    f, p = np.divide(phi, size, out=np.ones_like(size), where=size > 0.0), phi / angles.softness[own, None] * n
    if twists.any():
        moments, half, d = of["SMT"][..., at, :], 0.5 * of["SPT"][..., at, 2:], of["SDT"][..., at, :]
        a = np.cos(half) * d - np.sin(half) * np.cross(t2, d)
        a = a - (a * t1).sum(axis=-1, keepdims=True) / (1.0 + cosine) * (t1 + t2)
        way = np.where(mesh.element_nodes[angles.bars[own, 1], 0] == node, 1.0, -1.0)[:, None]
        whole = way * moments[..., :1] * a + moments[..., 1:2] * np.cross(t1, a)
        p, torque = np.where(twists[:, None], whole, p), np.where(twists[:, None], moments[..., 2:], torque)
    across = f * p + (1.0 - f) * (p * n).sum(axis=-1, keepdims=True) * n
    along = 0.5 * (np.cross(f * p, kb) * t1).sum(axis=-1, keepdims=True) - torque
    return at, 0.5 * torque * np.cross(t1, kb) - across + along * t1


_angles: list[tuple[Model, Angles]] = []
"""Angles of the latest model, kept because every chunk of increments needs them."""


def angles_of(model: Model) -> Angles:
    if not _angles or _angles[0][0] is not model:
        _angles[:] = [(model, model.angles(natural_lengths(model.mesh, model.rest_lengths)))]
    return _angles[0][1]


_twisted: list[tuple[Model, Ints]] = []
"""Nodes of angles that twist of the latest model."""


def twisted_at(model: Model) -> Ints:
    """Nodes (rising) with angles that twist."""
    if not _twisted or _twisted[0][0] is not model:
        found = find_twists(model)
        nodes = np.zeros(0, np.int64) if found is None else np.unique(model.bent_at[0][found.angles, 1])
        _twisted[:] = [(model, nodes)]
    return _twisted[0][1]


def says_si(heading: Iterable[str]) -> bool:
    """Whether the heading contains the word SI: only then the units of the deck are known."""
    return any(re.search(r"\bSI\b", str(line)) for line in heading)


def in_newtons(force: float, model: Model) -> str:
    """A force for a message, with its unit if the heading states it."""
    return f"{force:.4g}" + (" N" if says_si(model.heading) else "")


def meant(kind: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Quantities that a request (NODE PRINT, EL PRINT, NODE FILE, EL FILE) means, with or without names in it."""
    family, medium = kind.split()
    table = QUANTITIES[family]
    wanted = frozenset(names) or {each.name for each in table if (each.printed if medium == "PRINT" else each.filed)}
    return frozenset(each.name for each in table if each.always or each.name in wanted)


class Values:
    """Quantities of p nodes or elements by name: (..., p, 3) of vectors, (..., p) of single numbers.

    model    whose nodes or elements they are
    indices  (p,) which of them, rising; with reference nodes of rigid bodies all that are pinned to these, with nodes
             of lines that bend their neighbours
    time     total time, or times (k,);  sea_from: total time at which ramps of waves begin
    nodes    of elements: those of nodes at the same instants, for ``ends``

    >>> Values(NODAL, model, np.array([2]), [u, v, a, rf])["U"]
    """

    def __init__(
        self, table: Sequence[Quantity], model: Model, indices: Ints, recorded: Iterable[Floats],
        time: Floats | float = 0.0, sea_from: float = 0.0, nodes: Values | None = None,
    ) -> None:  # fmt: skip
        self.model, self.indices, self.time, self.sea_from, self.nodes = model, indices, time, sea_from, nodes
        self._table = {quantity.name: quantity for quantity in table}
        self._found = dict(zip(self._table, recorded, strict=False))

    def __getitem__(self, name: str) -> Floats:
        """Values of a quantity. Raises KeyError, with the list of quantities, for an unknown name."""
        if name not in self._table:
            raise unknown("quantity", name, self._table)
        if name not in self._found:
            derived = self._table[name].derived
            assert derived is not None, f"{name} has not been recorded"
            self._found[name] = derived(self)
        return self._found[name]

    def ends(self, name: str) -> Floats:
        """(..., p, 2, 3) a vector of the nodes at both ends of elements. KeyError: unknown, or not recorded there (only
        a quantity with ``at_ends`` may ask for it)."""
        ends = self.model.mesh.element_nodes[self.indices]
        if self.nodes is None or not np.isin(ends, self.nodes.indices).all():
            raise KeyError(f"{name} is not recorded at the ends of these elements")
        return self.nodes[name][..., self.nodes.indices.searchsorted(ends), :]

    def at(self, name: str, nodes: Ints) -> Floats:
        """(..., q, 3), or (..., q) of single numbers: a quantity at other nodes (q,), indices; NaN at those that are
        not recorded (only a quantity with ``at_ends`` has the nodes at the other ends of elements)."""
        place = np.minimum(self.indices.searchsorted(nodes), len(self.indices) - 1)
        axis = -2 if self._table[name].axes else -1
        found = np.moveaxis(np.take(self[name], place, axis).astype(float), axis, 0)
        found[self.indices[place] != nodes] = np.nan
        return np.moveaxis(found, 0, axis)

    @property
    def coordinates(self) -> Floats:
        """(p, 3) reference positions of the nodes."""
        return self.model.mesh.coordinates[self.indices]

    @cached_property
    def pull(self) -> Floats:
        """(..., p, 3) force of lines on what holds them at the nodes: support, body or load."""
        return -(self["EF"] + self["CF"])

    @cached_property
    def water(self) -> tuple[Floats, Floats, Floats]:
        """Elevation of the surface (..., p), velocity and acceleration of the water (..., p, 3) at the nodes; zeros
        without water."""
        model, u = self.model, self["U"]
        if model.water is None:
            return np.zeros_like(u[..., 0]), np.zeros_like(u), np.zeros_like(u)
        tide = model.water.amplitude
        curve = Constant(1.0) if tide is None else Follow(model.amplitudes[tide], 0.0)
        stream = evaluate(curve, np.atleast_1d(self.time)).reshape(np.shape(self.time))
        return water_at(model.waves, model.water, model.mesh.up, self["COORD"], self.time, stream, self.sea_from)

    @cached_property
    def bends(self) -> Floats:
        """(2, ..., p) curvature and moment of bending lines, at a clamp within one the larger of the two; else 0."""
        model, indices = self.model, self.indices
        angles = angles_of(model).among(indices)
        place = np.zeros((*self["COORD"].shape[:-2], len(model.mesh.node_labels), 3))
        place[..., indices, :] = self["COORD"]
        phi, at = angles.bent(model.mesh.coordinates, place), indices.searchsorted(angles.nodes[:, 1])
        found = np.zeros((2, *self["U"].shape[:-1]))
        for one, over in zip(found, (angles.length, angles.softness), strict=True):
            np.maximum.at(one.T, at, (phi / over).T)
        twisted = twisted_at(model)
        if len(twisted):
            there = np.isin(indices, twisted)
            found[0, ..., there] = np.hypot(self["SKT"][..., 0], self["SKT"][..., 1])[..., there].T
            found[1, ..., there] = np.hypot(self["SMT"][..., 0], self["SMT"][..., 1])[..., there].T
        return found

    @cached_property
    def turns(self) -> tuple[Floats, Floats]:
        """Rotation vectors and angular velocities of rigid bodies at their reference nodes; zero at other nodes.
        NaN for driven bodies whose nodes lie on a line: nothing shows how these turn about it."""
        turns, rates = np.zeros_like(self["U"]), np.zeros_like(self["U"])
        mesh = self.model.mesh
        for body in (*self.model.bodies, *self.model.free_bodies):
            (node,) = np.isin(self.indices, mesh.nodes_of(body.node)).nonzero()
            if node.size:
                own = np.union1d(self.model.nodes_on(body), mesh.nodes_of(body.node))
                points = mesh.node_sets[body.corners] if body.corners else own
                start, at = mesh.coordinates[points], self.indices.searchsorted(points)
                places, corners = start + self["U"][..., at, :], start - start.mean(axis=0)
                fitted = rotation(corners, places) if body.corners else fitted_rotation(corners, places)
                if fitted is None:
                    turns[..., node, :] = rates[..., node, :] = np.nan
                    continue
                turns[..., node, :] = rotation_vector(fitted)[..., None, :]
                rates[..., node, :] = spin(places, self["V"][..., at, :])[..., None, :]
        return turns, rates

    def columns(self, name: str) -> Floats:
        """(k, p, c) values at k instants, in the columns of the tables (further axes stay behind)."""
        return self[name] if self._table[name].axes else self[name][:, :, None]


def with_neighbours(model: Model, nodes: Ints) -> Ints:
    """Sorted node indices, with all nodes that quantities of nodes depend on there."""
    if any(each.at_ends for each in NODAL):
        ends = model.mesh.element_nodes
        nodes = np.union1d(nodes, ends[np.isin(ends, nodes).any(axis=1)])
    return model.with_pinned(nodes)


def values_of(
    model: Model, nodes: Ints, motion: Floats, elements: Ints, element_values: Floats, energies: Iterable[Floats] = (),
    time: Floats | float = 0.0, sea_from: float = 0.0,
) -> dict[str, Values]:  # fmt: skip
    """Recorded numbers by kind: nodes (n), elements (e), and energies (empty key) with p = 1.
    nodes (p,), elements (q,)  indices;  motion (r, ..., p, 3), element_values (s, ..., q), energies (..., 1)"""
    of_nodes = Values(NODAL, model, nodes, motion, time, sea_from)
    of_elements = Values(ELEMENTAL, model, elements, element_values, time, sea_from, of_nodes)
    return {"n": of_nodes, "e": of_elements, "": Values(WHOLE, model, np.zeros(1, np.int64), energies)}
