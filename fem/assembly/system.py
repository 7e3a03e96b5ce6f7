"""The assembled model: everything about elements that does not change from step to step, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.bodies import Body
from fem.forces.bars import bar
from fem.forces.bars.bar import Bars
from fem.forces.bars.blocks import blocks_of
from fem.forces.bars.laws import BILINEAR
from fem.forces.bars.strain import GREEN, LINEAR, MEASURES
from fem.forces.families import FAMILIES, FIRST, Groups, acting, massive_ones, write_masses
from fem.forces.springs import Springs
from fem.model import Expansion, Model

BAR_FAMILY, SPRING_FAMILY, MASS_FAMILY, PULLEY_FAMILY = 0, 1, 2, -1
"""``PULLEY_FAMILY``: ropes over pulleys, until their family has taken them."""
NOTHING = (bar.AREA, bar.YOUNG, bar.STRESS0, bar.VISCOUS, bar.STARTING, bar.COMPLIANCE)
"""Constants of a bar that is gone are zero."""


@dataclass(frozen=True, slots=True)
class System:
    """The assembled model. n nodes, m bars (axial elements), s springs between dofs, k elements in all.

    bars, springs   arrays the kernels read, families the groups of all others (``forces/families.py``) or None
    is_passive      nothing but bars, springs and dashpots acts;  has_flow: a force may not come from stored energy
    state           (s,) what families remember before anything has moved
    touching        (q, 2) nodes and states of contact forces
    pairs           (p, 2) nodes that springs and families couple: those of ``Tangent``
    mass            (n,)    diagonal nodal mass, per direction
    directed_mass   (n, 9)  mass that families add to nodes, row by row, renewed as they move (empty: none);
                    (n + p, 9): and between the nodes of ``pairs``
    damping         (n,)    its mass-proportional damping
    family          (k, 2)  of each element: family that its force comes from, and index in it
    bar_index       (k,)    of each element: its bar, -1 where it has none; a bar whose force a family gives is still
                            its length and its mass
    element_nodes   (k, 2)  node indices (the same twice for one-node elements); of ropes over pulleys their two ends
    element_mass    (k,)    total mass of each element; element_damping (k,): its mass-proportional damping
    volume          (k,)    reference volume of each bar, 0 for others
    gone            (k,)    elements that have broken or been removed: in their places in all arrays, but without force,
                            stiffness, mass and volume
    shed            (c,)    nonstructural masses that are off
    planar          (n,)    nodes of T2D2 bars, held in z
    expansions      (index of bars, law) pairs with thermal expansion
    equations       as in the model, with dof = 3 * node + axis
    bodies          rigid ones, whose pinned nodes are supports
    node_index, element_index   label -> index
    """

    model: Model
    coordinates: Floats
    labels: Ints
    bars: Bars
    springs: Springs
    families: Groups
    is_passive: bool
    has_flow: bool
    pairs: Ints
    state: Floats
    touching: Ints
    mass: Floats
    directed_mass: Floats
    damping: Floats
    family: Ints
    bar_index: Ints
    element_nodes: Ints
    element_labels: Ints
    element_mass: Floats
    element_damping: Floats
    volume: Floats
    gone: Flags
    shed: Flags
    planar: Flags
    expansions: tuple[tuple[Ints, Expansion], ...]
    equations: tuple[tuple[tuple[int, float], ...], ...]
    bodies: tuple[Body, ...]
    node_index: dict[int, int]
    element_index: dict[int, int]

    @property
    def size(self) -> int:
        """Number of dofs, free or not."""
        return 3 * len(self.coordinates)

    @property
    def inertia(self) -> Floats:
        """(3n,) diagonal of the mass matrix: 0 where a dof has no mass at all."""
        by_node = np.repeat(self.mass, 3)
        return by_node + self.directed_mass[: len(self.mass), ::4].ravel() if len(self.directed_mass) else by_node

    @property
    def length0(self) -> Floats:
        """(m,) unstressed lengths of the bars."""
        return np.asarray(1.0 / self.bars.constants[bar.INV_LENGTH])

    @property
    def gone_bars(self) -> Ints:
        """Indices of the bars among the elements that are gone."""
        bars: Ints = self.bar_index[self.gone & (self.bar_index >= 0)]
        return bars

    @property
    def given_bars(self) -> Ints:
        """Indices of the bars whose force a family gives."""
        bars: Ints = self.bar_index[(self.family[:, 0] >= FIRST) & (self.bar_index >= 0)]
        return bars

    @property
    def idle(self) -> Flags:
        """(n,) nodes without any element, equation or link."""
        idle = np.ones(len(self.labels), np.bool_)
        legs, owner = self.model.mesh.legs
        idle[legs[~self.gone[owner]].ravel()] = False
        for terms in self.equations:
            idle[[dof // 3 for dof, _ in terms]] = False
        idle[[node for pair in self.model.links for node in pair]] = False
        for plane in self.model.planes:
            idle[plane.pairs(self.model.mesh)] = False
        return idle

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

    def label_of_bar(self, index: int) -> int:
        """Element label of a bar; 0 for what is no element."""
        found = np.flatnonzero(self.bar_index == index)
        return int(self.element_labels[found[0]]) if len(found) else 0

    def name_bar(self, index: int) -> str:
        """``element 7``, or what joins two nodes without being an element."""
        label = self.label_of_bar(index)
        if label:
            return f"element {self.model.mesh.named(label)}"
        first, second = self.labels[self.bars.nodes[index]]
        if self.bars.kinds[index, 0] == LINEAR:
            return f"node {second} at the *STOP PLANE of node {first}"
        return f"*MPC LINK of nodes {first} and {second}"

    def node_at_plane(self, index: int) -> int:
        """Label of the node that a bar keeps above a plane; 0 for other bars."""
        return int(self.labels[self.bars.nodes[index, 1]]) if self.bars.kinds[index, 0] == LINEAR else 0


def silent(bars: Bars, index: Ints) -> Bars:
    """The same bars, some of them without force and stiffness."""
    if not len(index):
        return bars
    constants, kinds = bars.constants.copy(), bars.kinds.copy()
    constants[np.ix_(np.array(NOTHING), index)] = 0.0
    kinds[index] = GREEN, BILINEAR  # whose slope is finite wherever their nodes go
    bars = bars._replace(constants=constants, kinds=kinds, blocks=blocks_of(kinds, constants))
    return bars._replace(rods=np.setdiff1d(bars.rods, index))


def absent(bars: Bars, index: Ints) -> Bars:
    """The same bars, some of them without force, stiffness and mass."""
    bars = silent(bars, index)
    if len(index) and len(bars.off_mass):
        off_mass, off_damping = bars.off_mass.copy(), bars.off_damping.copy()
        off_mass[index], off_damping[index] = 0.0, 0.0
        bars = bars._replace(off_mass=off_mass, off_damping=off_damping)
    return bars


def linearised(bars: Bars, u: Floats) -> Bars:
    """The same bars, geometrically linear about the configuration u (3n,): strains e_b + slope_b (E - E_b).

    Springs and dashpots along a line keep the direction they have in that configuration. Planes are linear as they are.
    """
    planes = np.flatnonzero(bars.kinds[:, 0] == LINEAR)
    constants, kinds = bars.constants.copy(), bars.kinds.copy()
    place = u.reshape(-1, 3)
    w = place[bars.nodes[:, 1]] - place[bars.nodes[:, 0]]
    reference = constants[bar.REF : bar.REF + 3].T
    square = constants[bar.INV_LENGTH] ** 2
    green = (constants[bar.BASE_CONSTANT] + (reference * w).sum(axis=1) + 0.5 * (w * w).sum(axis=1)) * square
    stretch = np.sqrt(1.0 + 2.0 * green)
    measures = [kinds[:, 0] == MEASURES["ENGINEERING"], kinds[:, 0] == MEASURES["LOG"]]
    strain = np.select(measures, [2.0 * green / (1.0 + stretch), 0.5 * np.log1p(2.0 * green)], green)
    slope = np.select(measures, [1.0 / stretch, 1.0 / stretch**2], 1.0)
    constants[bar.CONJUGATE] = np.where(measures[1], 1.0 / stretch, 1.0)
    base = reference + w
    constants[bar.BASE : bar.BASE + 3] = base.T
    constants[bar.BASE_SLOPE] = slope
    constants[bar.BASE_CONSTANT] = strain - slope * (base * w).sum(axis=1) * square
    constants[:, planes] = bars.constants[:, planes]
    kinds[:, 0] = LINEAR
    return bars._replace(constants=constants, kinds=kinds, blocks=blocks_of(kinds, constants))


def with_families(system: System) -> System:
    """The same with the groups of all families, the nodes they couple, and the elements whose force they give."""
    if not any(one.wanted(system.model) for one in FAMILIES):
        return system
    owns, given = list[Any](), list[Ints]()
    pairs, state, family, touching = system.pairs, system.state, system.family, system.touching
    for place, one in enumerate(FAMILIES):
        own = one.assemble(system.model, system, len(pairs), len(state))
        owns.append(own)
        pairs = np.ascontiguousarray(np.concatenate([pairs, one.pairs(own)]))
        state = np.concatenate([state, one.states(own)])
        touching = np.concatenate([touching, one.touching(own)])
        elements = one.elements(own)
        family[elements, 0], family[elements, 1] = FIRST + place, np.arange(len(elements))
        given.append(system.bar_index[elements])
    families = tuple(owns)
    if not acting(families):
        return system
    index = np.concatenate(given)
    system = replace(system, bars=silent(system.bars, index[index >= 0]))
    mass = first_masses(families, system, pairs, state)
    system = replace(system, families=families, is_passive=False, has_flow=True, pairs=pairs)
    return replace(system, state=state, touching=touching, directed_mass=mass)


def first_masses(families: tuple[Any, ...], system: System, pairs: Ints, state: Floats) -> Floats:
    """(n, 9) mass that families give to nodes in the reference position, (n + p, 9) with that between the nodes of
    ``pairs`` where it couples any; empty where there is none.
    """
    if not massive_ones(families):
        return system.directed_mass
    massive = [(family, own) for family, own in acting(families) if family.mass is not None]
    couples = any(len(family.pairs(own)) for family, own in massive if family.couples)
    block, size = np.zeros((len(system.labels) + couples * len(pairs), 9)), system.size
    write_masses(families, 0.0, system.coordinates.reshape(size), np.zeros(size), state, block)
    return block
