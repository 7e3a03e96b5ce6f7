"""The draft becomes a Model, or a DeckError.

Steps as a whole: procedures that cannot have ropes, linear perturbations, the frozen Step.

``*TRANSFORM``: supports, loads and equations of nodes in axes of their own.

Each such node gets another one that moves as it does, in its axes: u_node = sum of e_i u_i, three equations. What is
said of the dofs of the node is said of the other one, whose U, V, A and RF are therefore those of the node in its axes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.draft import Draft, StepDraft
from fem.deck.lexical.files import DeckFiles
from fem.deck.lexical.source import Mistake, Place
from fem.deck.resolve.constraints import (
    build_bodies,
    build_equations,
    build_links,
    check_bars,
    check_masses,
    check_pulleys,
    check_removals,
    check_supports,
)
from fem.deck.resolve.mesh import build_mesh, check_uses
from fem.deck.resolve.properties import build_materials, build_properties
from fem.deck.rope_laws import blame_rope_laws
from fem.deck.step_cards.controls import in_force
from fem.deck.step_cards.winches import check_winches
from fem.deck.surroundings.loads import check_fluids
from fem.deck.surroundings.planes import build_cylinders, build_planes, build_seabeds
from fem.model import (
    BarSection,
    Dashpot,
    Dynamic,
    Equation,
    InitialCondition,
    Material,
    Mesh,
    Model,
    Perturbation,
    PointMass,
    Spring,
    Static,
    SteadyState,
    Step,
)


def build_model(draft: Draft, end: Place) -> Model:
    """Look everything up, judge the whole; ``end``: the last line of the deck, blamed for what is missing."""
    if draft.catenaries:
        from fem.deck.model_cards.catenary import lay_lines

        lay_lines(draft)
    draft.card = None
    mesh = build_mesh(draft)
    check_uses(draft)
    properties = build_properties(draft, mesh)
    sections = tuple(entry for entry in properties if isinstance(entry, BarSection))
    springs = tuple(entry for entry in properties if isinstance(entry, Spring))
    used = {section.material for section in sections}
    materials = build_materials(draft, used)
    of_bars = [material for name, material in materials.items() if name in used]
    blame_steps_without_ropes(draft, of_bars)
    blame_perturbations(draft, of_bars, springs)
    blame_rope_laws(draft, of_bars)
    blame_short_files(draft)
    blame_integrals(draft)
    equations = build_equations(draft, mesh)
    links = build_links(draft, mesh)
    check_supports(draft, mesh)
    bodies = build_bodies(draft, mesh)
    check_bars(draft, mesh)
    check_pulleys(draft, mesh)
    check_winches(draft, mesh, materials)
    check_masses(draft)
    check_removals(draft, mesh)
    check_fluids(draft, mesh)
    seabeds, cylinders, planes = build_seabeds(draft, mesh), build_cylinders(draft, mesh), build_planes(draft, mesh)
    if not draft.mistakes:
        blame_missing(draft, mesh, end)
    draft.raise_problems()
    coupled = {term[0] for equation in equations for term in equation.terms} | {node for pair in links for node in pair}
    references = [*(body.node for body in bodies), *(plane.node for plane in planes)]
    coupled |= {int(mesh.nodes_of(node)[0]) for node in references}
    notice_idle_nodes(draft, mesh, coupled)
    model = Model(
        mesh=mesh,
        heading=tuple(draft.heading),
        materials=materials,
        sections=sections,
        springs=springs,
        dashpots=tuple(entry for entry in properties if isinstance(entry, Dashpot)),
        masses=tuple(entry for entry in properties if isinstance(entry, PointMass)),
        nonstructural=tuple(entry for entry, _ in draft.nonstructural),
        rest_lengths=tuple(entry for entry, _ in draft.rest_lengths),
        pulleys=tuple(entry for entry, _ in draft.pulleys),
        failures=tuple(entry for entry, _ in draft.failures),
        seabeds=seabeds,
        cylinders=cylinders,
        water=draft.water,
        wind=draft.wind,
        waves=tuple(entry for entry, _ in draft.waves),
        drag_laws=draft.drag_laws,
        growths=tuple(entry for entry, _ in draft.growths),
        amplitudes=draft.amplitudes,
        equations=equations,
        links=links,
        initial_conditions=tuple(condition for condition, _ in draft.initial),
        boundaries=tuple(entry for entry, _ in draft.boundaries),
        rotations=tuple(draft.rotations),
        bodies=bodies,
        planes=planes,
        time_points=draft.time_points,
        restart_every=draft.restart_every,
        earlier=draft.earlier,
        steps=tuple(map(build_step, draft.steps)),
    )
    axes = {node: turned for name, turned in draft.axes for node in mesh.node_sets[name].tolist()}
    if axes:
        labels = mesh.node_labels
        first = min(axes)
        draft.notice(
            f"*TRANSFORM: U, V, A and RF of node {labels[first]} in its axes are those of node {labels.max() + 1}"
            + (", and so on" if len(axes) > 1 else "")
        )
    return in_axes(model, axes)


def blame_missing(draft: Draft, mesh: Mesh, end: Place) -> None:
    """A deck needs nodes, elements and a step."""
    hint = "fem run DECK --from FOLDER takes the model from the deck of the earlier run, where that still is; else "
    hint = "" if draft.earlier is None else hint + "*INCLUDE it"
    for there, message in (
        (len(mesh.node_labels), "the deck has no *NODE"),
        (len(mesh.blocks), "the deck has no *ELEMENT"),
        (len(draft.steps), "the deck has no *STEP: there is nothing to solve"),
    ):
        if not there:
            draft.report(Mistake(end, message, hint))
            return


def notice_idle_nodes(draft: Draft, mesh: Mesh, coupled: set[int]) -> None:
    """Nodes no element, no equation and no link uses."""
    idle = np.ones(len(mesh.node_labels), dtype=bool)
    for block in mesh.blocks:
        idle[block.connectivity] = False
    idle[list(coupled)] = False
    count = int(idle.sum())
    if count:
        label = draft.as_written(int(mesh.node_labels[idle][0]))
        draft.notice(f"{count} node{'s' * (count > 1)} belong{'s' * (count == 1)} to no element, the first is {label}")


def with_origin(model: Model, draft: Draft, parameters: dict[str, float], source: str, files: DeckFiles) -> Model:
    """Where the model came from, and what the reader has to say."""
    ignored = ["accepted without effect: " + ", ".join(draft.ignored)] if draft.ignored else []
    return replace(
        model,
        parameters=parameters,
        source=source,
        digest=files.digest(),
        files=tuple(map(str, files.paths)),
        notices=(*draft.notices, *ignored),
        extensions=tuple(draft.extensions),
    )


EXPLICIT_HINT = (
    "leave out EXPLICIT: every other TIME INTEGRATOR finds the instants of few ropes (IMPACT=EVENT of *CONTROLS), "
    "IMPACT=MOREAU steps over the impacts of many; or make them elastic, *ELASTIC with *NO COMPRESSION"
)
RIKS_HINT = "leave out RIKS, or make them elastic, *ELASTIC with *NO COMPRESSION"
REFUSED = "PERTURBATION of *STEP is not supported: every step is a full nonlinear step"
MODES_HINT = "*FREQUENCY gives modes about a loaded state"
ROUNDED = 1e-6
"""Files write times with a few digits."""


def blame_steps_without_ropes(draft: Draft, materials: Iterable[Material]) -> None:
    """EXPLICIT and RIKS follow neither ropes nor stops. materials: those of sections"""
    limits = (m for m in materials if m.is_inextensible and 0.0 in (m.compression_ratio, m.tension_ratio))
    whose = [f"material {material.name}" for material in limits] + ["*STOP PLANE"] * bool(draft.planes)
    for step in draft.steps if whose else ():
        procedure, what, hint = step.procedure, "", ""
        if isinstance(procedure, Dynamic) and procedure.integrator == "CENTRAL DIFFERENCE":
            what, hint = "*DYNAMIC, EXPLICIT", EXPLICIT_HINT
        elif isinstance(procedure, Static) and procedure.riks:
            what, hint = "*STATIC, RIKS", RIKS_HINT
        if what and step.procedure_place:
            draft.report(Mistake(step.procedure_place, f"{what} does not follow ropes and stops ({whose[0]})", hint))


def blame_perturbations(draft: Draft, materials: Collection[Material], springs: Collection[Spring]) -> None:
    """PERTURBATION may stand where it changes nothing: with ``*FREQUENCY``, and in a deck of one linear ``*STATIC``.

    materials: those of sections. The response of any other linear perturbation would not enter the steps after it.
    """
    is_linear = len(draft.steps) == 1 and not any(spring.table for spring in springs) and not draft.planes
    is_linear &= all(m.compression_ratio == m.tension_ratio == 1.0 and not m.is_inextensible for m in materials)
    for step in draft.steps:
        is_static = isinstance(step.procedure, Static) and not step.procedure.riks
        is_harmless = isinstance(step.procedure, Perturbation) or (is_static and is_linear)
        if step.perturbation is not None and not step.blamed and not is_harmless:
            draft.report(Mistake(step.perturbation, REFUSED, MODES_HINT))


def blame_short_files(draft: Draft) -> None:
    """Amplitudes from files last as long as the steps they act in: those of total time to the end of the last step."""
    periods = [getattr(step.procedure, "period", 0.0) for step in draft.steps]
    for step, period in zip(draft.steps, periods, strict=True):
        if isinstance(step.procedure, SteadyState):  # its amplitudes are functions of the frequency
            continue
        entries: list[Any] = [entry for entry, _ in step.boundaries]
        entries += [entry for entry, _ in step.winches]
        entries += [*step.nodal_loads, *step.distributed_loads, *step.temperatures]
        for name in sorted({entry.amplitude for entry in entries} & draft.ends.keys()):
            place, last = draft.ends[name]
            end, of = (period, "the step") if draft.amplitudes[name].time == "STEP TIME" else (sum(periods), "the deck")
            if last < end * (1.0 - ROUNDED):
                message = f"the file of amplitude {name} ends at {last:g}, {of} at {end:g}"
                draft.report(Mistake(place, message, "PAST END=HOLD holds the last value"))


def blame_integrals(draft: Draft) -> None:
    """A SWEEP has no integral in closed form: it moves supports by their displacements alone."""
    for step in draft.steps:
        for entry, place in step.boundaries:
            amplitude = draft.amplitudes.get(entry.amplitude or "")
            if entry.kind in ("VELOCITY", "ACCELERATION") and amplitude and amplitude.definition == "SWEEP":
                message = f"amplitude {amplitude.name} is a SWEEP, which TYPE={entry.kind} cannot follow"
                draft.report(Mistake(place, message, "TYPE=DISPLACEMENT has exact velocities and accelerations"))


def build_step(draft: StepDraft) -> Step:
    """A step with its controls in force."""
    assert draft.procedure is not None and draft.controls is not None
    same = ("procedure", "nlgeom", "name", "title", "max_increments", "extrapolation", "amplitude")
    lists = ("rotations", "nodal_loads", "distributed_loads", "temperatures", "outputs")
    given: dict[str, Any] = {name: getattr(draft, name) for name in same}
    given |= {name: tuple(getattr(draft, name)) for name in lists}
    return Step(
        **given,
        controls=in_force(draft.controls, draft.procedure),
        replaced=frozenset(draft.replaced),
        boundaries=tuple(entry for entry, _ in draft.boundaries),
        removals=tuple(target for target, _ in draft.removals),
        winches=tuple(entry for entry, _ in draft.winches),
        shed=tuple(name for name, _ in draft.shed),
        put=tuple(name for name, _ in draft.put),
        fluid_loads=tuple(entry for entry, _ in draft.fluid_loads),
    )


SUFFIX = " IN AXES"


class _Nodes:
    """Which node holds the dofs of each; ``mesh``: with the added nodes, and the sets that are asked for."""

    def __init__(self, mesh: Mesh, axes: dict[int, Floats]) -> None:
        self.own = np.array(sorted(axes), np.int64)
        count = len(mesh.node_labels)
        self.place = np.arange(count)
        self.place[self.own] = count + np.arange(len(self.own))
        labels = np.append(mesh.node_labels, mesh.node_labels.max() + 1 + np.arange(len(self.own)))
        coordinates = np.concatenate([mesh.coordinates, mesh.coordinates[self.own]])
        self.mesh = replace(mesh, node_labels=labels, coordinates=coordinates, node_sets=dict(mesh.node_sets))

    def target(self, name: Any, beside: bool = False) -> Any:
        """The set or label that has the dofs of another one in their axes; ``beside``: and the nodes themselves."""
        nodes: Ints = np.zeros(0, np.int64) if name is None else self.mesh.nodes_of(name)
        if not np.isin(nodes, self.own).any():
            return name
        if isinstance(name, int):
            return int(self.mesh.node_labels[self.place[nodes[0]]])
        own = f"{name} AND{SUFFIX}" if beside else f"{name}{SUFFIX}"
        self.mesh.node_sets[own] = np.union1d(self.place[nodes], nodes if beside else nodes[:0])
        return own

    def moved(self, entries: tuple[Any, ...]) -> tuple[Any, ...]:
        """Supports or loads in axes."""
        return tuple(replace(entry, target=self.target(entry.target)) for entry in entries)

    def step(self, step: Step) -> Step:
        """A step whose supports, loads and tables know the axes."""
        outputs = tuple(
            replace(one, target=self.target(one.target, beside=True)) if one.kind.startswith("NODE") else one
            for one in step.outputs
        )
        boundaries, loads = self.moved(step.boundaries), self.moved(step.nodal_loads)
        return replace(step, boundaries=boundaries, nodal_loads=loads, outputs=outputs)


def in_axes(model: Model, axes: dict[int, Floats]) -> Model:
    """The model with nodes (by index) in axes of their own: rows e_1, e_2, e_3 of (3, 3), orthonormal."""
    if not axes:
        return model
    nodes = _Nodes(model.mesh, axes)
    equations = [
        replace(each, terms=tuple((int(nodes.place[node]), dof, factor) for node, dof, factor in each.terms))
        for each in model.equations
    ]
    for node in nodes.own.tolist():
        for k in range(3):
            parts = [(int(nodes.place[node]), i + 1, -float(axes[node][i, k])) for i in range(3) if axes[node][i, k]]
            equations.append(Equation(((node, k + 1, 1.0), *parts)))
    return replace(
        model,
        mesh=nodes.mesh,
        equations=tuple(equations),
        boundaries=nodes.moved(model.boundaries),
        initial_conditions=tuple(initial_in_axes(model, nodes, axes)),
        steps=tuple(map(nodes.step, model.steps)),
    )


def initial_in_axes(model: Model, nodes: _Nodes, axes: dict[int, Floats]) -> Iterator[InitialCondition]:
    """Displacements and velocities at the start, given along the global axes, turned for the added nodes."""
    found: dict[tuple[str, int], Floats] = {}
    for condition in model.initial_conditions:
        kind, named = condition.kind, np.zeros(0, np.int64)
        if kind in ("DISPLACEMENT", "VELOCITY"):
            named = model.mesh.nodes_of(condition.target)
        for node in np.intersect1d(named, nodes.own).tolist():
            found.setdefault((kind, node), np.zeros(3))[condition.dof - 1] = condition.value
        others = np.setdiff1d(named, nodes.own)
        if len(others) == len(named):
            yield condition
        elif len(others):
            name = f"{condition.target} NOT{SUFFIX}"
            nodes.mesh.node_sets[name] = others
            yield replace(condition, target=name)
    for (kind, node), vector in found.items():
        label = int(nodes.mesh.node_labels[nodes.place[node]])
        for dof in np.flatnonzero(turned := axes[node] @ vector).tolist():
            yield InitialCondition(kind, label, float(turned[dof]), dof + 1)
