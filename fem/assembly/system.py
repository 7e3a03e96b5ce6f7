"""The assembled model: all properties of elements that are constant within steps, as arrays.

It is built in one pass over the mesh, then over the properties of each element set.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Indices, Ints
from fem.assembly.bodies import Body, bodies_of, planes_of
from fem.errors import ModelError
from fem.forces import bar
from fem.forces.bar import CONSTANTS, MASS_FRACTIONS, Bars, blocks_of
from fem.forces.families import FAMILIES, FIRST, Groups, acting, are_viscous, massive_ones, write_masses
from fem.forces.laws import BEYOND, BILINEAR, ENGINEERING, GREEN, LEG, LINEAR, MEASURES, RIGID, TABLE, law_of
from fem.forces.protocol import PULLED, Family
from fem.forces.springs import Curve, Springs, table_rows
from fem.model import BarSection, Dashpot, Expansion, Model, Spring
from fem.model.facts import added_mass_per_length, given_lengths, of_sections
from fem.model.free_bodies import mass_between, second_moments
from fem.model.mesh import AXIAL, Label
from fem.model.quantities import BENDING, CONTACT
from fem.model.twists import NoTwist, Twists, coupled, find_twists

BAR_FAMILY, SPRING_FAMILY, MASS_FAMILY, PULLEY_FAMILY = 0, 1, 2, -1
"""``PULLEY_FAMILY``: ropes over pulleys until they are assigned to their own family of forces."""
NOTHING = (bar.AREA, bar.YOUNG, bar.STRESS0, bar.VISCOUS, bar.STARTING, bar.COMPLIANCE)
"""Constants that become zero when a bar is removed."""
OF_SECTION = np.array([bar.AREA, bar.YOUNG, bar.PLUS, bar.MINUS, bar.STARTING, bar.RESTITUTION])
"""Constants of a section that hold for both legs of a rope over a pulley."""


@dataclass(frozen=True, slots=True)
class System:
    """The assembled model. n nodes, m bars (axial elements), s springs between dofs, k elements in all.

    bars, springs   arrays the kernels read, families the groups of all others (``forces/families.py``) or None
    is_passive      there are only bars, springs and dashpots;  has_flow: some force is not the gradient of an energy
    state           (s,) initial values of the families' state variables
    touching        (q, 3) nodes, quantities and first states of vectors that families note
    pairs           (p, 2) nodes that springs and families couple: those of ``Tangent``
    mass            (n,)    diagonal nodal mass, per direction
    directed_mass   (n, 9)  mass that families add to nodes, row by row, renewed as they move (empty: none);
                    (n + p, 9): and between the nodes of ``pairs``
    damping         (n,)    its mass-proportional damping
    family          (k, 2)  of each element: family that its force comes from, and index in it
    bar_index       (k,)    of each element: its bar, -1 where it has none; if a family computes its force, the bar
                            still has its length and mass
    element_nodes   (k, 2)  node indices (the same twice for one-node elements); of ropes over pulleys their two ends
    element_mass    (k,)    total mass of each element; element_damping (k,): its mass-proportional damping
    volume          (k,)    reference volume of each bar, 0 for others
    gone            (k,)    elements that have broken or been removed: still in all arrays, but without force,
                            stiffness, mass and volume
    shed            (c,)    nonstructural masses that are removed
    planar          (n,)    nodes of T2D2 bars, held in z
    expansions      (index of bars, law) pairs with thermal expansion
    twists          of lines that twist: behind the nodes of the mesh follows one for each spin, whose first
                    component is the spin times a radius; None: nothing twists
    equations       as in the model, with dof = 3 * node + axis
    bodies          rigid bodies, whose pinned nodes are supported
    node_index, element_index   label -> index
    """

    model: Model
    coordinates: Floats
    labels: Ints
    bars: Bars
    springs: Springs
    has_flow: bool
    pairs: Ints
    mass: Floats
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
    node_index: Indices
    element_index: Indices
    twists: Twists | None = None
    families: Groups = None
    is_passive: bool = True
    state: Floats = field(default_factory=lambda: np.zeros(0))
    touching: Ints = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    directed_mass: Floats = field(default_factory=lambda: np.zeros((0, 9)))

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
    def initial_motion(self) -> tuple[Floats, Floats]:
        """u and v (3n,) of the initial conditions of the model."""
        fields = {"DISPLACEMENT": np.zeros(self.size), "VELOCITY": np.zeros(self.size)}
        for each in self.model.initial_conditions:
            if each.kind in fields:
                fields[each.kind][3 * self.nodes_of(each.target) + each.dof - 1] = each.value
        return fields["DISPLACEMENT"], fields["VELOCITY"]

    def lengths_of(self, elements: Ints | Flags) -> Floats:
        """(q,) unstressed lengths of elements that have a bar."""
        return np.asarray(self.length0[self.bar_index[elements]])

    @property
    def gone_bars(self) -> Ints:
        """Indices of the bars among the elements that are gone."""
        return np.asarray(self.bar_index[self.gone & (self.bar_index >= 0)])

    @property
    def given_bars(self) -> Ints:
        """Indices of the bars whose force a family gives."""
        return np.asarray(self.bar_index[(self.family[:, 0] >= FIRST) & (self.bar_index >= 0)])

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
        idle[self.shown :] = False
        return idle

    @property
    def shown(self) -> int:
        """Number of nodes of the mesh, without those of spins."""
        return len(self.model.mesh.node_labels)

    @property
    def grounded(self) -> Flags:
        """(n,) nodes on which something external acts besides supports: a spring or damper to the ground, or a family
        of forces that declares this (then all nodes)."""
        found = self.damping > 0.0
        found[self.springs.dofs[self.springs.dofs[:, 1] < 0, 0] // 3] = True
        return found | any(family.grounded for family, _ in acting(self.families))

    @property
    def is_grounded(self) -> bool:
        """Whether anything external acts on the model besides its supports, even on a single node."""
        return bool(self.grounded.any() or np.count_nonzero(~self.idle) < 2)

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
        if dof // 3 in (corners := self.model.corners):
            return f"the rigid body of node {corners[dof // 3]}"
        if dof // 3 >= self.shown:
            return str(self.labels[dof // 3])
        return f"node {self.labels[dof // 3]} dof {dof % 3 + 1}"

    def label_of_bar(self, index: int) -> int:
        """Element label of a bar; 0 for what is no element."""
        found = np.flatnonzero(self.bar_index == index)
        return int(self.element_labels[found[0]]) if len(found) else 0

    def name_bar(self, index: int) -> str:
        """``element 7``, or the name of a connection that is not an element."""
        label = self.label_of_bar(index)
        if label:
            return f"element {self.model.mesh.named(label)}"
        first, second = self.labels[self.bars.nodes[index]]
        if self.bars.kinds[index, 0] == LINEAR:
            return f"node {second} at the *STOP PLANE of node {first}"
        return f"*MPC LINK of nodes {first} and {second}"

    def node_at_plane(self, index: int) -> int:
        """Label of the node of a bar that represents a contact with a plane; 0 for other bars."""
        return int(self.labels[self.bars.nodes[index, 1]]) if self.bars.kinds[index, 0] == LINEAR else 0


def silent(bars: Bars, index: Ints) -> Bars:
    """The bars, with force and stiffness of some of them set to zero."""
    if not len(index):
        return bars
    constants, kinds = bars.constants.copy(), bars.kinds.copy()
    constants[np.ix_(np.array(NOTHING), index)] = 0.0
    kinds[index] = GREEN, BILINEAR  # their slope is finite for all positions of the nodes
    bars = bars._replace(constants=constants, kinds=kinds, blocks=blocks_of(kinds, constants))
    return bars._replace(rods=np.setdiff1d(bars.rods, index))


def absent(bars: Bars, index: Ints) -> Bars:
    """The bars, with force, stiffness and mass of some of them set to zero."""
    bars = silent(bars, index)
    if len(index) and len(bars.off_mass):
        off_mass, off_damping = bars.off_mass.copy(), bars.off_damping.copy()
        off_mass[index], off_damping[index] = 0.0, 0.0
        bars = bars._replace(off_mass=off_mass, off_damping=off_damping)
    return bars


def linearised(bars: Bars, u: Floats) -> Bars:
    """The same bars, geometrically linear about the configuration u (3n,): strains e_b + slope_b (E - E_b).

    Springs and dashpots along a line keep their direction in that configuration. Planes are linear already.
    """
    planes = np.flatnonzero(bars.kinds[:, 0] == LINEAR)
    kinds, place = bars.kinds.copy(), u.reshape(-1, 3)
    w = place[bars.nodes[:, 1]] - place[bars.nodes[:, 0]]
    constants = bar.linear_constants(bars.constants, kinds[:, 0], w)
    constants[:, planes] = bars.constants[:, planes]
    kinds[:, 0] = LINEAR
    return bars._replace(constants=constants, kinds=kinds, blocks=blocks_of(kinds, constants))


def noted(family: Family, group: Any) -> Ints:
    """(q, 3) nodes, quantities and first states of the vectors among the states of a family; elements, PULLED, and the
    state that is part of their T."""
    rows = [(node, CONTACT, first) for node, first in family.touching(group).tolist()]
    for node, first, spins, director in family.bending(group).tolist():
        rows += [(node, BENDING + k, state) for k, state in enumerate((first, first + 3, spins, director))]
    rows += [(element, PULLED, state) for element, state in family.pulling(group).tolist()]
    return np.array(rows, np.int64).reshape(-1, 3)


def with_families(system: System) -> System:
    """The system with the groups of all families, the nodes they couple, and the elements whose force they compute."""
    if not any(one.wanted(system.model) for one in FAMILIES):
        return system
    groups, given = list[Any](), list[Ints]()
    pairs, state, family, touching = system.pairs, system.state, system.family, system.touching
    for place, one in enumerate(FAMILIES):
        group = one.assemble(system.model, system, len(pairs), len(state))
        groups.append(group)
        pairs = np.ascontiguousarray(np.concatenate([pairs, one.pairs(group)]))
        state = np.concatenate([state, one.states(group)])
        touching = np.concatenate([touching, *(own for own in (noted(one, group),) if len(own))])
        elements = one.elements(group)
        family[elements, 0], family[elements, 1] = FIRST + place, np.arange(len(elements))
        given.append(system.bar_index[elements])
    families = tuple(groups)
    if not acting(families):
        return system
    index = np.concatenate(given)
    system = replace(system, bars=silent(system.bars, index[index >= 0]))
    mass = system.directed_mass
    if massive_ones(families):  # evaluated in the reference position
        massive = [(family, own) for family, own in acting(families) if family.mass is not None]
        couples = any(len(family.pairs(own)) for family, own in massive if family.couples)
        mass, size = np.zeros((len(system.labels) + couples * len(pairs), 9)), system.size
        write_masses(families, 0.0, system.coordinates.reshape(size), np.zeros(size), state, mass)
    system = replace(system, families=families, is_passive=False, has_flow=True, pairs=pairs)
    return replace(system, state=state, touching=touching, directed_mass=mass)


def twists_of(model: Model) -> Twists | None:
    """The lines of a model that twist. ModelError: one needs torsion and has none."""
    try:
        return find_twists(model)
    except NoTwist as error:
        raise ModelError(f"the line of element {model.mesh.element_names[error.bar]}: {error}") from None


def assemble(model: Model, gone: Flags | None = None, shed: Flags | None = None) -> System:
    """Arrays of a model; elements that are gone (k,) keep their places, with zero properties.
    shed  (c,) which of its nonstructural masses are removed
    ModelError: a bar has no length."""
    builder = _Builder(model, gone, shed)
    for section in model.sections:
        builder.add_section(section)
    for spring in model.springs:
        builder.add_spring(spring, spring.stiffness, 0.0, spring.table)
    for dashpot in model.dashpots:
        builder.add_spring(dashpot, 0.0, dashpot.coefficient)
    for point in model.masses:
        builder.add_mass(model.mesh.element_sets[point.element_set], point.mass, point.alpha)
    builder.add_initial_stress()
    builder.add_free_bodies()
    return builder.system()


class _Builder:
    """Arrays under construction; bars in element order until ``system`` sorts them by kind."""

    def __init__(self, model: Model, gone: Flags | None, shed: Flags | None) -> None:
        mesh = model.mesh
        self.model, self.mesh = model, mesh
        self.twists = twists_of(model)
        count, total = len(mesh.node_labels), sum(len(block.labels) for block in mesh.blocks)
        count += len(self.twists.bars) if self.twists else 0
        self.labels = mesh.element_labels
        self.gone = np.zeros(total, np.bool_) if gone is None else gone.copy()
        self.shed = np.zeros(len(model.nonstructural), np.bool_) if shed is None else shed
        self.family = np.zeros((total, 2), np.int64)
        self.nodes = mesh.element_nodes
        self.planar = np.zeros(count, np.bool_)
        others = {"MASS": MASS_FAMILY, "ROTARYI": MASS_FAMILY, "PULLEY": PULLEY_FAMILY}
        families = dict.fromkeys(AXIAL, BAR_FAMILY) | others
        numbers = [families.get(block.kind, SPRING_FAMILY) for block in mesh.blocks]
        self.family[:, 0] = np.repeat(numbers, [len(block.labels) for block in mesh.blocks])
        for family in set(numbers):
            chosen = self.family[:, 0] == family
            self.family[chosen, 1] = np.arange(np.count_nonzero(chosen))
        self.planar[self.nodes[mesh.is_of("T2D2")]] = True
        self.axial = np.flatnonzero(self.family[:, 0] == BAR_FAMILY)
        links = np.array(model.links, np.int64).reshape(-1, 2)
        constant = of_sections(model, lambda section, material: float(material.is_inextensible)) > 0.0
        self.reeved = np.flatnonzero(constant & (mesh.pulley_nodes >= 0))
        pulleys = np.repeat(mesh.pulley_nodes[self.reeved], 2)
        legs = np.column_stack([pulleys, self.nodes[self.reeved].ravel()])
        self.family[self.reeved, 0] = BAR_FAMILY
        self.family[self.reeved, 1] = len(self.axial) + len(links) + 2 * np.arange(len(self.reeved))
        is_whole = len(self.axial) == total and not len(links)
        self.ends = self.nodes if is_whole else np.concatenate([self.nodes[self.axial], links, legs])
        self.constants, self.kinds = self._geometry()
        if model.planes:
            ends, constants = planes_of(model)  # stops between planes and nodes, after all other bars
            self.kinds = np.concatenate([self.kinds, np.tile([LINEAR, RIGID], (len(ends), 1))])
            self.ends = np.concatenate([self.ends, ends])
            self.constants = np.concatenate([self.constants, constants], axis=1)
        given = given_lengths(mesh, model.rest_lengths)[self.axial]
        (chosen,) = np.nonzero(~np.isnan(given))
        length, given = 1.0 / self.constants[bar.INV_LENGTH, chosen], given[chosen]
        self.constants[bar.BASE_CONSTANT, chosen] = 0.5 * (length - given) * (length + given)
        self.constants[bar.INV_LENGTH, chosen] = 1.0 / given
        legs = self.family[self.reeved, 1, None] + np.arange(2)  # each has the whole L0 and half of the elongation
        apart = (1.0 / self.constants[bar.INV_LENGTH, legs]).sum(axis=1, keepdims=True)
        given = given_lengths(mesh, model.rest_lengths)[self.reeved, None]
        given = np.where(np.isnan(given), apart, given)
        self.constants[bar.INV_LENGTH, legs] = 1.0 / given
        self.constants[bar.BASE_CONSTANT, legs] = 0.5 * (apart - given)
        self.mass, self.damping = np.zeros(count), np.zeros(count)
        self.off_mass, self.off_damping = np.zeros(len(self.ends)), np.zeros(len(self.ends))
        self.element_mass, self.element_damping, self.volume = np.zeros(total), np.zeros(total), np.zeros(total)
        self.ruled = np.zeros(total, np.bool_)
        springs = int(np.count_nonzero(self.family[:, 0] == SPRING_FAMILY))
        self.dofs = np.full((springs, 2), -1, np.int64)
        self.spring_constants = np.zeros((springs, 4))
        self.table: list[tuple[float, float, float]] = []
        self.expansions: list[tuple[Ints, Expansion]] = []

    def _geometry(self) -> tuple[Floats, Ints]:
        """Constants with reference vectors and lengths filled in, and kinds, of the axial elements."""
        nodes = self.ends
        vector = self.mesh.coordinates[nodes[:, 1]] - self.mesh.coordinates[nodes[:, 0]]
        with np.errstate(over="ignore"):
            length = np.sqrt((vector**2).sum(axis=1))
        is_length = (length > 0.0) & np.isfinite(length)
        if not is_length.all():
            wrong = int(is_length.argmin())
            what = "no length: its two nodes are at the same place" if length[wrong] == 0.0 else "no finite length"
            raise ModelError(f"{self._name(wrong)} has {what}")
        constants = np.zeros((CONSTANTS, len(nodes)))
        constants[bar.REF : bar.REF + 3] = vector.T
        constants[bar.INV_LENGTH] = 1.0 / length
        constants[bar.AREA] = 1.0
        constants[bar.PLUS] = constants[bar.MINUS] = 1.0
        kinds = np.zeros((len(nodes), 2), np.int64)
        kinds[:, 0] = ENGINEERING
        kinds[len(self.axial) :] = (GREEN, RIGID)  # *MPC: rods without mass, behind the elements
        return constants, kinds

    def _name(self, index: int) -> str:
        if index < len(self.axial):
            return f"element {self.mesh.element_names[self.axial[index]]}"
        leg = index - len(self.axial) - len(self.model.links)
        if 0 <= leg < 2 * len(self.reeved):
            return f"element {self.mesh.element_names[self.reeved[leg // 2]]}"
        first, second = self.mesh.node_names[self.ends[index]]
        what = "*MPC LINK" if self.kinds[index, 0] == GREEN else "*STOP PLANE"
        return f"{what} of nodes {first} and {second}"

    def _close_legs(self) -> None:
        """Makes ropes of constant length over pulleys two bars with the section of their element."""
        head = self.family[self.reeved, 1]
        self.constants[np.ix_(OF_SECTION, head + 1)] = self.constants[np.ix_(OF_SECTION, head)]
        self.kinds[head], self.kinds[head + 1] = (LEG, RIGID), (BEYOND, RIGID)

    def add_section(self, section: BarSection) -> None:
        elements = self.mesh.element_sets[section.element_set]
        elements = elements[self.family[elements, 0] == BAR_FAMILY]
        chosen = self.family[elements, 1]
        material = self.model.materials[section.material]
        young = 0.0 if material.is_inextensible else material.instant_modulus
        if young is None:
            raise ModelError(f"material {material.name} has no *ELASTIC modulus")
        constants = self.constants
        constants[bar.AREA, chosen] = section.area
        constants[bar.YOUNG, chosen] = young
        constants[bar.PLUS, chosen] = material.tension_ratio
        constants[bar.MINUS, chosen] = material.compression_ratio
        self._set(bar.VISCOUS, chosen, material.beta * young)
        self._set(bar.STARTING, chosen, section.starting_tension)
        self._set(bar.RESTITUTION, chosen, material.restitution)
        self.ruled[elements] = material.has_rope_law
        law, *numbers = law_of(material)
        self.kinds[chosen] = (GREEN if law == RIGID else MEASURES[section.strain], law)
        for place, number in enumerate(numbers):
            self._set(bar.OF_LAW + place, chosen, number)
        self.volume[elements] = ~self.gone[elements] * section.area / constants[bar.INV_LENGTH, chosen]
        bar_mass = material.density * self.volume[elements]
        if self.model.growths or self.model.nonstructural:
            length = np.zeros(len(self.labels))
            length[self.axial] = 1.0 / constants[bar.INV_LENGTH, : len(self.axial)]
            there = (mass for mass, is_off in zip(self.model.nonstructural, self.shed, strict=True) if not is_off)
            added = added_mass_per_length(self.model, there, length)[elements]
            bar_mass += ~self.gone[elements] * added / constants[bar.INV_LENGTH, chosen]
        self.element_mass[elements] = bar_mass
        diagonal, off = MASS_FRACTIONS[section.mass_rule]
        for end in range(2):
            np.add.at(self.mass, self.nodes[elements, end], diagonal * bar_mass)
            if material.alpha:  # zeros that are not written take no memory
                self.element_damping[elements] = material.alpha * bar_mass
                np.add.at(self.damping, self.nodes[elements, end], material.alpha * diagonal * bar_mass)
        if off:
            self.off_mass[chosen] = off * bar_mass
            self.off_damping[chosen] = material.alpha * off * bar_mass
        if material.expansion is not None:
            self.expansions.append((chosen, material.expansion))

    def _set(self, row: int, chosen: Ints, value: float) -> None:
        """Sets a constant of bars that is mostly zero: where it is, its row takes no memory."""
        if value or self.constants[row, chosen].any():
            self.constants[row, chosen] = value

    def add_spring(self, item: Spring | Dashpot, stiffness: float, coefficient: float, table: Curve = ()) -> None:
        """Springs (with a table: nonlinear) and dashpots, axial or between dofs."""
        elements = self.mesh.element_sets[item.element_set]
        chosen, nodes = self.family[elements, 1], self.nodes[elements]
        new = table_rows(table) if table else []
        first, rows = len(self.table) if new else 0, len(new)
        self.table += new
        for end, dof in enumerate(item.dofs):
            self.dofs[chosen, end] = 3 * nodes[:, end] + dof - 1
        if item.dofs:
            self.spring_constants[chosen] = np.outer(~self.gone[elements], (stiffness, coefficient, first, rows))
        else:
            # a bar of unit area with engineering strain: N = k (l - L0) + c dl/dt
            length = 1.0 / self.constants[bar.INV_LENGTH, chosen]
            self.constants[bar.YOUNG, chosen] = stiffness * length
            self.constants[bar.VISCOUS, chosen] = coefficient * length
            self.kinds[chosen] = (ENGINEERING, TABLE if rows else BILINEAR)
            self.constants[bar.OF_LAW, chosen], self.constants[bar.OF_LAW + 1, chosen] = first, rows

    def add_mass(self, elements: Ints, mass: float, alpha: float) -> None:
        masses = mass * ~self.gone[elements]
        self.element_mass[elements], self.element_damping[elements] = masses, alpha * masses
        np.add.at(self.mass, self.nodes[elements, 0], masses)
        np.add.at(self.damping, self.nodes[elements, 0], alpha * masses)

    def add_initial_stress(self) -> None:
        for condition in self.model.initial_conditions:
            if condition.kind == "STRESS":
                elements = self.mesh.elements_of(condition.target)
                chosen = self.family[elements, 1]
                for wrong, why in (
                    (self.ruled[elements], "has a rope law: give it a *REST LENGTH instead of an initial stress"),
                    (self.kinds[chosen, 1] == RIGID, "is inextensible: it takes no initial stress"),
                    (self.kinds[chosen, 1] > RIGID, "has a law that allows no initial stress: give it a *REST LENGTH"),
                ):
                    if wrong.any() and condition.value != 0.0:
                        raise ModelError(f"{self._name(int(chosen[wrong][0]))} {why}")
                self.constants[bar.STRESS0, chosen] = condition.value

    def add_free_bodies(self) -> None:
        """Adds their rotary inertia; bars and springs within them get no force."""
        for body in self.model.free_bodies:
            mesh, model = self.mesh, self.model
            (element,) = np.flatnonzero(mesh.is_of("ROTARYI") & (self.nodes[:, 0] == mesh.nodes_of(body.node)[0]))
            (moments,) = (each.moments for each in model.inertias if element in mesh.element_sets[each.element_set])
            corners = mesh.node_sets[body.corners or ""]
            arms = mesh.coordinates[corners] - mesh.coordinates[corners].mean(axis=0)
            mass = mass_between(arms, second_moments(moments))
            self.mass[corners] += mass.diagonal()
            for i, j in combinations(range(len(corners)), 2):
                ends = {int(corners[i]), int(corners[j])}
                (link,) = (at for at, pair in enumerate(model.links) if set(pair) == ends)
                self.off_mass[len(self.axial) + link] += mass[i, j]
        members = self.family[self.model.members, 1]
        self.constants[np.ix_(np.array(NOTHING), members)], self.kinds[members] = 0.0, (GREEN, BILINEAR)

    def _refuse_overflow(self) -> None:
        """ModelError if a stiffness or a mass is too large or not a number."""
        constants = self.constants
        with np.errstate(over="ignore", invalid="ignore"):
            stiffness = constants[bar.AREA] * constants[bar.YOUNG] * constants[bar.INV_LENGTH] ** 2
            usable = np.isfinite(stiffness) & np.isfinite(constants).all(axis=0)
        if not usable.all():
            name = self._name(int(np.argmin(usable)))
            raise ModelError(f"{name}: its length, area, modulus or stress is too large to compute with")
        if not np.isfinite(self.mass).all():
            raise ModelError("the mass of a node is too large to compute with: look at densities, areas and *MASS")

    def _bars(self, table: Floats) -> Bars:
        """Bars sorted into runs of one kind; the elements' indices follow."""
        self._close_legs()
        self._refuse_overflow()
        young = self.constants[bar.YOUNG]
        volume = self.constants[bar.AREA] / self.constants[bar.INV_LENGTH]
        self.constants[bar.COMPLIANCE] = np.divide(volume, young, out=np.zeros(len(young)), where=young != 0.0)
        order = np.lexsort((np.minimum(self.kinds[:, 0], LEG), self.kinds[:, 1]))
        is_sorted = bool((order[1:] > order[:-1]).all())
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        with_bar = np.concatenate([self.axial, self.reeved])
        self.family[with_bar, 1] = rank[self.family[with_bar, 1]]
        self.expansions = [(rank[chosen], law) for chosen, law in self.expansions]
        ends, kinds, constants = self.ends, self.kinds, self.constants
        if not is_sorted:
            ends, kinds, constants = ends[order], kinds[order], constants[:, order]
        coupled = bool(self.off_mass.any())
        return Bars(
            nodes=np.ascontiguousarray(ends),
            kinds=kinds,
            blocks=blocks_of(kinds, constants),
            constants=np.ascontiguousarray(constants),
            table=table,
            off_mass=self.off_mass[order] if coupled else np.zeros(0),
            off_damping=self.off_damping[order] if coupled else np.zeros(0),
            rods=np.flatnonzero(kinds[:, 1] == RIGID),
        )

    def _add_spins(self, twists: Twists) -> None:
        """Adds the rotary inertia of bars about themselves, over r^2: their mass."""
        density, alpha = np.zeros((2, len(self.labels)))
        for section in self.model.sections:
            material, own = self.model.materials[section.material], self.mesh.element_sets[section.element_set]
            density[own], alpha[own] = material.density, material.alpha
        bars = twists.bars[twists.node < 0]
        spins = len(self.mesh.node_labels) + np.arange(len(bars))
        self.mass[spins] = density[bars] * self.volume[bars]
        self.damping[spins] = alpha[bars] * self.mass[spins]

    def _untwist(self, twists: Twists) -> None:
        """Half bars at ends that are free to spin carry no torque: of these EA is EA - C^2/GJ."""
        stiff = twists.stiffness[:, 2] > 0.0
        held = np.bincount(self.model.bent_at[1][twists.angles[stiff]].ravel() + 1, minlength=len(self.labels) + 1)[1:]
        for section in (each for each in self.model.sections if each.coupling):
            material = self.model.materials[section.material]
            elements = np.intersect1d(self.mesh.element_sets[section.element_set], twists.bars)
            free = 0.5 * (2 - held[elements])
            self.constants[bar.YOUNG, self.family[elements, 1]] *= 1.0 - free * coupled(section, material)

    def system(self) -> System:
        model, mesh = self.model, self.mesh
        if self.twists:
            self._untwist(self.twists)
        table = np.array(self.table, float).reshape(-1, 3)
        bars = self._bars(table)
        is_bar = self.family[:, 0] == BAR_FAMILY
        bar_index = np.where(is_bar, self.family[:, 1], -1)
        bars = absent(bars, bar_index[is_bar & self.gone])
        crossing = np.flatnonzero((self.dofs[:, 1] >= 0) & (self.dofs[:, 0] // 3 != self.dofs[:, 1] // 3))
        pair = np.full(len(self.dofs), -1, np.int64)
        pair[crossing] = np.arange(len(crossing))
        springs = Springs(self.dofs, self.spring_constants, table, pair)
        places, labels = np.ascontiguousarray(mesh.coordinates, float), mesh.node_names
        if self.twists:
            self._add_spins(self.twists)
            places = np.concatenate([places, places[self.nodes[self.twists.bars]].mean(axis=1)])
            names = (Label(-label, f"(spin of element {label})") for label in self.labels[self.twists.bars].tolist())
            labels = np.array([*labels.tolist(), *names], dtype=object)
        terms = (equation.terms for equation in model.equations)
        equations = tuple(tuple((3 * node + dof - 1, factor) for node, dof, factor in each) for each in terms)
        return with_families(
            System(
                model=model,
                coordinates=places,
                labels=labels,
                bars=bars,
                springs=springs,
                has_flow=are_viscous(bars, springs),
                pairs=np.ascontiguousarray(self.dofs[crossing] // 3),
                mass=self.mass,
                damping=self.damping,
                family=self.family,
                bar_index=bar_index,
                element_nodes=self.nodes,
                element_labels=mesh.element_names,
                element_mass=self.element_mass,
                element_damping=self.element_damping,
                volume=self.volume,
                gone=self.gone,
                shed=self.shed,
                planar=self.planar,
                expansions=tuple(self.expansions),
                equations=equations,
                bodies=bodies_of(model, len(labels)),
                twists=self.twists,
                node_index=Indices(mesh.node_labels),
                element_index=Indices(self.labels),
            )
        )
