"""The draft becomes a Model, or a DeckError."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fem.deck import conditions, steps
from fem.deck.beams import check_beams
from fem.deck.draft import EMPTY, Draft, as_given
from fem.deck.fluids import check_fluids
from fem.deck.free_bodies import release
from fem.deck.loads import check_winches
from fem.deck.lookup import build_mesh, check_uses
from fem.deck.materials import blame_rope_laws, build_materials
from fem.deck.scanner import DeckFiles
from fem.deck.sections import build_properties
from fem.deck.source import Mistake, Place
from fem.deck.surfaces import build_cylinders, build_planes, build_seabeds
from fem.deck.vessels import check_vessels
from fem.model import BarSection, Dashpot, Mesh, Model, PointMass, RotaryInertia, Spring


def build_model(draft: Draft, end: Place) -> Model:
    """Look everything up, judge the whole; ``end``: the last line of the deck, blamed for what is missing."""
    if draft.catenaries:
        from fem.deck.catenary import lay_lines

        lay_lines(draft)
    draft.card = None
    release(draft)
    mesh = build_mesh(draft)
    check_uses(draft)
    properties = build_properties(draft, mesh)
    sections = tuple(entry for entry in properties if isinstance(entry, BarSection))
    springs = tuple(entry for entry in properties if isinstance(entry, Spring))
    used = {section.material for section in sections}
    materials = build_materials(draft, used)
    of_bars = [material for name, material in materials.items() if name in used]
    steps.blame_steps_without_ropes(draft, of_bars)
    steps.blame_perturbations(draft, of_bars, springs)
    blame_rope_laws(draft, of_bars)
    steps.blame_short_files(draft)
    steps.blame_integrals(draft)
    equations = conditions.build_equations(draft, mesh)
    links = conditions.build_links(draft, mesh)
    conditions.check_supports(draft, mesh)
    bodies = conditions.build_bodies(draft, mesh)
    check_beams(draft, mesh)
    conditions.check_bars(draft, mesh)
    conditions.check_pulleys(draft, mesh)
    check_winches(draft, mesh, materials)
    conditions.check_masses(draft)
    conditions.check_removals(draft, mesh)
    check_fluids(draft, mesh)
    check_vessels(draft, bodies)
    seabeds, cylinders, planes = build_seabeds(draft, mesh), build_cylinders(draft, mesh), build_planes(draft, mesh)
    if not draft.mistakes:
        blame_missing(draft, mesh, end)
    draft.raise_problems()
    coupled = {term[0] for equation in equations for term in equation.terms} | {node for pair in links for node in pair}
    references = [*(body.node for body in bodies), *(plane.node for plane in planes)]
    coupled |= {int(mesh.nodes_of(node)[0]) for node in references}
    notice_idle_nodes(draft, mesh, coupled)
    built: dict[str, Any] = {
        "materials": materials,
        "sections": sections,
        "springs": springs,
        "dashpots": tuple(entry for entry in properties if isinstance(entry, Dashpot)),
        "masses": tuple(entry for entry in properties if isinstance(entry, PointMass)),
        "inertias": tuple(entry for entry in properties if isinstance(entry, RotaryInertia)),
        "seabeds": seabeds,
        "cylinders": cylinders,
        "equations": equations,
        "links": links,
        "bodies": bodies,
        "planes": planes,
        "steps": tuple(map(steps.build_step, draft.steps)),
        "laid": tuple(draft.laid),
    }
    model = Model(mesh, **as_given(draft, EMPTY.keys() - built.keys()), **built)
    axes = {node: turned for name, turned in draft.axes for node in mesh.node_sets[name].tolist()}
    if axes:
        labels = mesh.node_labels
        first = min(axes)
        draft.notice(
            f"*TRANSFORM: U, V, A and RF of node {labels[first]} in its axes are those of node {labels.max() + 1}"
            + (", and so on" if len(axes) > 1 else "")
        )
    return conditions.in_axes(model, axes)


def blame_missing(draft: Draft, mesh: Mesh, end: Place) -> None:
    hint = "fem run DECK --from FOLDER takes the model from the deck of the earlier run, if it still exists; else "
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
    idle = np.ones(len(mesh.node_labels), dtype=bool)
    for block in mesh.blocks:
        idle[block.connectivity] = False
    idle[list(coupled)] = False
    count = int(idle.sum())
    if count:
        label = draft.as_written(mesh.node_labels[idle][0])
        draft.notice(f"{count} node{'s' * (count > 1)} belong{'s' * (count == 1)} to no element, the first is {label}")


def with_origin(model: Model, draft: Draft, parameters: dict[str, float], source: str, files: DeckFiles) -> Model:
    """Where the model came from, and what the reader has to say."""
    ignored = ["accepted but ignored: " + ", ".join(draft.ignored)] if draft.ignored else []
    return replace(
        model,
        parameters=parameters,
        source=source,
        digest=files.digest(),
        files=tuple(map(str, files.paths)),
        notices=(*draft.notices, *ignored),
        extensions=tuple(draft.extensions),
    )
