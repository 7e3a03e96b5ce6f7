"""Model to arrays: everything about elements that does not change from step to step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.errors import ModelError
from fem.mechanics import bar
from fem.mechanics.bar import CONSTANTS, Bars
from fem.mechanics.laws import BILINEAR, TABLE
from fem.mechanics.mass import SHARES
from fem.mechanics.springs import Springs
from fem.mechanics.strain import ENGINEERING, LINEAR, MEASURES
from fem.model import BarSection, Dashpot, Expansion, Model, Spring
from fem.model.mesh import AXIAL

BAR_FAMILY, SPRING_FAMILY, MASS_FAMILY = 0, 1, 2


@dataclass(frozen=True, slots=True)
class System:
    """The assembled model. n nodes, m bars (axial elements), s springs between dofs, k elements in all.

    bars, springs   arrays the kernels read
    mass            (n,)    diagonal nodal mass, per direction
    damping         (n,)    its mass-proportional damping
    family          (k, 2)  of each element: family and index in it
    element_nodes   (k, 2)  node indices (the same twice for one-node elements)
    element_mass    (k,)    total mass of each element
    volume          (k,)    reference volume of each bar, 0 for others
    planar          (n,)    nodes of T2D2 bars, held in z
    expansions      (index of bars, law) pairs with thermal expansion
    equations       as in the model, with dof = 3 * node + axis
    node_index, element_index   label -> index
    """

    model: Model
    coordinates: Floats
    labels: Ints
    bars: Bars
    springs: Springs
    mass: Floats
    damping: Floats
    family: Ints
    element_nodes: Ints
    element_labels: Ints
    element_mass: Floats
    volume: Floats
    planar: Flags
    expansions: tuple[tuple[Ints, Expansion], ...]
    equations: tuple[tuple[tuple[int, float], ...], ...]
    node_index: dict[int, int]
    element_index: dict[int, int]

    @property
    def size(self) -> int:
        """Number of dofs, free or not."""
        return 3 * len(self.coordinates)

    @property
    def length0(self) -> Floats:
        """(m,) unstressed lengths of the bars."""
        return np.asarray(1.0 / self.bars.constants[:, bar.INV_LENGTH])

    def nodes_of(self, target: str | int) -> Ints:
        """Node indices of a set name or of one label."""
        if isinstance(target, str):
            return self.model.mesh.node_sets[target]
        return np.array([self.node_index[target]])

    def elements_of(self, target: str | int | None) -> Ints:
        """Element indices of a set name or of one label; None: all."""
        if target is None:
            return np.arange(len(self.family))
        if isinstance(target, str):
            return self.model.mesh.element_sets[target]
        return np.array([self.element_index[target]])

    def name_dof(self, dof: int) -> str:
        """``node 12 dof 3`` in the user's labels."""
        return f"node {self.labels[dof // 3]} dof {dof % 3 + 1}"


class _Tables:
    """Rows of all tabulated laws, one after the other, with the energy integrated from elongation 0."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, float, float]] = []

    def add(self, table: tuple[tuple[float, float], ...]) -> tuple[int, int]:
        """Append a table of (force, elongation), with a row at elongation 0; its first row and row count."""
        first = len(self.rows)
        force, x = np.array(table, float).T
        if not np.any(x == 0.0):
            place = int(np.searchsorted(x, 0.0))
            force, x = np.insert(force, place, np.interp(0.0, x, force)), np.insert(x, place, 0.0)
        piece = 0.5 * (force[1:] + force[:-1]) * np.diff(x)
        zero = int(np.flatnonzero(x == 0.0)[0])
        before = -np.cumsum(piece[:zero][::-1])[::-1]
        energy = np.concatenate([before, [0.0], np.cumsum(piece[zero:])])
        self.rows += list(zip(x.tolist(), force.tolist(), energy.tolist(), strict=True))
        return first, len(force)

    def array(self) -> Floats:
        return np.array(self.rows, float).reshape(-1, 3)


def assemble(model: Model) -> System:
    """Arrays of a model. ModelError where a bar has no length."""
    mesh = model.mesh
    count = len(mesh.node_labels)
    total = sum(len(block.labels) for block in mesh.blocks)
    family = np.zeros((total, 2), np.int64)
    nodes = np.zeros((total, 2), np.int64)
    planar = np.zeros(count, np.bool_)
    start, bar_count, spring_count = 0, 0, 0
    for block in mesh.blocks:
        stop = start + len(block.labels)
        nodes[start:stop] = block.connectivity[:, [0, -1]]
        if block.kind in AXIAL:
            family[start:stop, 0] = BAR_FAMILY
            family[start:stop, 1] = np.arange(bar_count, bar_count + stop - start)
            bar_count += stop - start
        elif block.kind == "MASS":
            family[start:stop] = (MASS_FAMILY, 0)
        else:
            family[start:stop, 0] = SPRING_FAMILY
            family[start:stop, 1] = np.arange(spring_count, spring_count + stop - start)
            spring_count += stop - start
        if block.kind == "T2D2":
            planar[block.connectivity.ravel()] = True
        start = stop

    tables = _Tables()
    axial = np.flatnonzero(family[:, 0] == BAR_FAMILY)
    constants, kinds = _bar_geometry(mesh.coordinates, nodes[axial], mesh.element_labels[axial])
    mass, damping = np.zeros(count), np.zeros(count)
    off_mass, off_damping = np.zeros(bar_count), np.zeros(bar_count)
    element_mass, volume = np.zeros(total), np.zeros(total)
    dofs = np.full((spring_count, 2), -1, np.int64)
    spring_constants = np.zeros((spring_count, 4))
    expansions: list[tuple[Ints, Expansion]] = []

    for section in model.sections:
        elements = mesh.element_sets[section.element_set]
        chosen = family[elements, 1]
        _set_section(model, section, chosen, constants, kinds)
        material = model.materials[section.material]
        size = constants[chosen, bar.AREA] / constants[chosen, bar.INV_LENGTH]
        volume[elements] = size
        bar_mass = material.density * size
        element_mass[elements] = bar_mass
        diagonal, off = SHARES[section.mass_rule]
        for end in range(2):
            np.add.at(mass, nodes[elements, end], diagonal * bar_mass)
            np.add.at(damping, nodes[elements, end], material.alpha * diagonal * bar_mass)
        off_mass[chosen] = off * bar_mass
        off_damping[chosen] = material.alpha * off * bar_mass
        if material.expansion is not None:
            expansions.append((chosen, material.expansion))
    for spring in model.springs:
        elements = mesh.element_sets[spring.element_set]
        chosen = family[elements, 1]
        first, rows = tables.add(spring.table) if spring.table else (0, 0)
        if spring.dofs:
            _set_dofs(dofs, chosen, nodes[elements], spring)
            spring_constants[chosen] = (spring.stiffness, 0.0, first, rows)
        else:
            _set_axial(constants, kinds, chosen, spring.stiffness, 0.0)
            if rows:
                kinds[chosen, 1] = TABLE
                constants[chosen, bar.FIRST], constants[chosen, bar.COUNT] = first, rows
    for dashpot in model.dashpots:
        elements = mesh.element_sets[dashpot.element_set]
        chosen = family[elements, 1]
        if dashpot.dofs:
            _set_dofs(dofs, chosen, nodes[elements], dashpot)
            spring_constants[chosen] = (0.0, dashpot.coefficient, 0, 0)
        else:
            _set_axial(constants, kinds, chosen, 0.0, dashpot.coefficient)
    for point in model.masses:
        elements = mesh.element_sets[point.element_set]
        element_mass[elements] = point.mass
        np.add.at(mass, nodes[elements, 0], point.mass)
        np.add.at(damping, nodes[elements, 0], point.alpha * point.mass)
    _set_initial_stress(model, family, constants)
    young = constants[:, bar.YOUNG]
    volume_of_bars = constants[:, bar.AREA] / constants[:, bar.INV_LENGTH]
    constants[:, bar.COMPLIANCE] = np.divide(volume_of_bars, young, out=np.zeros(bar_count), where=young > 0.0)

    table = tables.array()
    coupled = bool(np.any(off_mass))
    empty = np.zeros(0)
    return System(
        model=model,
        coordinates=np.ascontiguousarray(mesh.coordinates, float),
        labels=mesh.node_labels,
        bars=Bars(
            np.ascontiguousarray(nodes[axial]), kinds, constants, table,
            off_mass if coupled else empty, off_damping if coupled else empty,
        ),
        springs=Springs(dofs, spring_constants, table),
        mass=mass,
        damping=damping,
        family=family,
        element_nodes=nodes,
        element_labels=mesh.element_labels,
        element_mass=element_mass,
        volume=volume,
        planar=planar,
        expansions=tuple(expansions),
        equations=tuple(
            tuple((3 * node + dof - 1, factor) for node, dof, factor in equation.terms) for equation in model.equations
        ),
        node_index={label: index for index, label in enumerate(mesh.node_labels.tolist())},
        element_index={label: index for index, label in enumerate(mesh.element_labels.tolist())},
    )  # fmt: skip


def _bar_geometry(coordinates: Floats, nodes: Ints, labels: Ints) -> tuple[Floats, Ints]:
    """Constants with reference vectors and lengths filled in, and kinds, of the axial elements."""
    constants = np.zeros((len(nodes), CONSTANTS))
    vector = coordinates[nodes[:, 1]] - coordinates[nodes[:, 0]]
    length = np.sqrt((vector**2).sum(axis=1))
    if not np.all(length > 0.0):
        raise ModelError(f"element {labels[np.argmin(length)]} has no length: its two nodes are at the same place")
    constants[:, bar.REF : bar.REF + 3] = vector
    constants[:, bar.INV_LENGTH] = 1.0 / length
    constants[:, bar.AREA] = 1.0
    constants[:, bar.PLUS] = constants[:, bar.MINUS] = 1.0
    constants[:, bar.BASE : bar.BASE + 3] = vector
    constants[:, bar.BASE_SLOPE] = 1.0
    kinds = np.zeros((len(nodes), 2), np.int64)
    kinds[:, 0] = ENGINEERING
    return constants, kinds


def _set_section(model: Model, section: BarSection, chosen: Ints, constants: Floats, kinds: Ints) -> None:
    material = model.materials[section.material]
    if material.young is None:
        raise ModelError(f"material {material.name} has no *ELASTIC modulus")
    constants[chosen, bar.AREA] = section.area
    constants[chosen, bar.YOUNG] = material.young
    constants[chosen, bar.PLUS] = material.tension_ratio
    constants[chosen, bar.MINUS] = material.compression_ratio
    constants[chosen, bar.VISCOUS] = material.beta * material.young
    constants[chosen, bar.STARTING] = section.starting_tension
    kinds[chosen, 0] = MEASURES[section.strain]
    kinds[chosen, 1] = BILINEAR


def _set_axial(constants: Floats, kinds: Ints, chosen: Ints, stiffness: float, coefficient: float) -> None:
    """An axial spring or dashpot is a bar of unit area with engineering strain: N = k (l - L0) + c dl/dt."""
    length = 1.0 / constants[chosen, bar.INV_LENGTH]
    constants[chosen, bar.YOUNG] = stiffness * length
    constants[chosen, bar.VISCOUS] = coefficient * length
    kinds[chosen] = (ENGINEERING, BILINEAR)


def _set_dofs(dofs: Ints, chosen: Ints, nodes: Ints, item: Spring | Dashpot) -> None:
    dofs[chosen, 0] = 3 * nodes[:, 0] + item.dofs[0] - 1
    if len(item.dofs) == 2:
        dofs[chosen, 1] = 3 * nodes[:, 1] + item.dofs[1] - 1


def _set_initial_stress(model: Model, family: Ints, constants: Floats) -> None:
    for condition in model.initial_conditions:
        if condition.kind == "STRESS":
            elements = model.mesh.elements_of(condition.target)
            constants[family[elements, 1], bar.STRESS0] = condition.value


def linearised(bars: Bars, u: Floats) -> Bars:
    """The same bars, geometrically linear about the configuration u (3n,): strains e_b + slope_b (E - E_b).

    Springs and dashpots along a line keep the direction they have in that configuration.
    """
    constants, kinds = bars.constants.copy(), bars.kinds.copy()
    place = u.reshape(-1, 3)
    w = place[bars.nodes[:, 1]] - place[bars.nodes[:, 0]]
    reference = constants[:, bar.REF : bar.REF + 3]
    square = constants[:, bar.INV_LENGTH] ** 2
    green = ((reference * w).sum(axis=1) + 0.5 * (w * w).sum(axis=1)) * square
    stretch = np.sqrt(1.0 + 2.0 * green)
    measure = kinds[:, 0]
    strain = np.select(
        [measure == MEASURES["ENGINEERING"], measure == MEASURES["LOG"]],
        [2.0 * green / (1.0 + stretch), 0.5 * np.log1p(2.0 * green)],
        green,
    )
    slope = np.select(
        [measure == MEASURES["ENGINEERING"], measure == MEASURES["LOG"]], [1.0 / stretch, 1.0 / stretch**2], 1.0
    )
    base = reference + w
    constants[:, bar.BASE : bar.BASE + 3] = base
    constants[:, bar.BASE_SLOPE] = slope
    constants[:, bar.BASE_CONSTANT] = strain - slope * (base * w).sum(axis=1) * square
    kinds[:, 0] = LINEAR
    return bars._replace(constants=constants, kinds=kinds)
