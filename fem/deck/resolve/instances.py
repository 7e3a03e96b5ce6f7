"""Instances of parts: each is read into a draft of its own and joins the model, its names and labels told apart.

While the deck is read the labels of the n-th instance are far above all that may be written in a deck (``INSTANCE`` of
``lexical/fields.py``), so a label that is not qualified never means a node of an instance. The model has small ones.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fem.deck.draft import MOST_NAMED, OPENING, Draft, Instance
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import INSTANCE, MAX_LABEL, Labels
from fem.deck.lexical.source import Mistake
from fem.deck.mesh_draft import ElementTable, NodeTable
from fem.deck.resolve.mesh import ELEMENT_CARDS, NODE_CARDS, build_mesh, check_uses
from fem.model import Model, Static
from fem.model import mesh as model_mesh

MOST = 8000
"""Instances of one deck, so that their labels fit 64 bits while it is read."""


def read_instances(draft: Draft, read: Callable[[list[Card], Draft], None]) -> dict[str, Labels]:
    """Read all instances by ``read`` and put them into the draft; their labels by name."""
    labels: dict[str, Labels] = {}
    for number, instance in enumerate(draft.parts.instances, 1):
        if number > MOST:
            draft.report(Mistake(instance.place, f"the deck has more than {MOST} instances"))
            break
        own, before = draft.inner(), len(draft.mistakes)
        draft.instances[instance.name] = own
        read(instance.cards, own)
        for catenary in own.catenaries:
            message = "*NGEN, LINE=CATENARY stands in a part: what its bars are made of is known in the model only"
            draft.report(catenary.card.mistake(message, "give the nodes by *NODE, or write a flat deck"))
        draft.uses += [use for use in own.uses if use.family not in ("node", "element")]
        own.uses = [use for use in own.uses if use.family in ("node", "element")]
        build_mesh(own)
        check_uses(own)
        known: Container[int] = own.nodes.rows.keys() | own.elements.rows.keys()
        if len(draft.mistakes) > before or draft.has_failed(*OPENING):
            draft.failed.update(("PROPERTY", "NSET", "ELSET", *NODE_CARDS, *ELEMENT_CARDS))
            known = range(MAX_LABEL)
            own.nodes, own.elements, own.properties, own.equations, own.links = NodeTable(), ElementTable(), [], [], []
        join(draft, own, instance, number * INSTANCE)
        labels[instance.name] = Labels(number * INSTANCE, known)
    if draft.has_failed(*OPENING):
        labels[""] = Labels(0, range(MAX_LABEL))
    return labels


def join(draft: Draft, own: Draft, instance: Instance, added: int) -> None:
    """Put the content of an instance into the model's draft."""

    def qualified(target: str | int) -> str | int:
        return f"{instance.name}.{target}" if isinstance(target, str) else target + added

    for nodes in own.nodes.chunks:
        draft.nodes.add(nodes.labels + added, instance.position.applied(nodes.numbers), nodes.where)
    for elements in own.elements.chunks:
        draft.elements.add(elements.kind, elements.labels + added, elements.numbers + added, elements.where)
    for table, outer in ((own.node_sets, draft.node_sets), (own.element_sets, draft.element_sets)):
        for name, chunks in table.chunks.items():
            outer.chunks[f"{instance.name}.{name}"] = [chunk._replace(labels=chunk.labels + added) for chunk in chunks]
        outer.unsorted |= {f"{instance.name}.{name}" for name in table.unsorted}
    for entry in own.properties:
        name = f"{instance.name}.{entry.element_set}"
        value = None if entry.value is None else replace(entry.value, element_set=name)
        draft.properties.append(entry._replace(element_set=name, value=value))
    draft.equations += [tuple(t._replace(target=qualified(t.target)) for t in terms) for terms in own.equations]
    draft.links += [(qualified(first), qualified(second), place) for first, second, place in own.links]


def with_final_labels(model: Model, draft: Draft) -> Model:
    """The n-th instance's labels plus n - 1 times a power of ten above all labels; n times where others have labels."""
    if not draft.instances:
        return model
    written = np.concatenate([model.mesh.node_labels, model.mesh.element_labels])
    step, first = 10 ** len(str((written % INSTANCE).max())), int((written >= INSTANCE).all())
    if step * len(draft.instances) > MAX_LABEL:
        message = f"the labels of {len(draft.instances)} instances, below {step:g} each, are too large together"
        draft.report(Mistake(draft.parts.instances[-1].place, message))
        draft.raise_problems()

    def final(labels: Any) -> Any:
        number, own = np.divmod(labels, INSTANCE)
        return own + step * np.maximum(number - first, 0)

    mesh = model.mesh
    mesh = replace(
        mesh,
        node_labels=final(mesh.node_labels),
        blocks=tuple(replace(block, labels=final(block.labels)) for block in mesh.blocks),
        instances=tuple(
            model_mesh.Instance(instance.name, instance.part, step * (number - first))
            for number, instance in enumerate(draft.parts.instances, 1)
        ),
    )
    added = ", ".join(f"{each.name} {each.added}" for each in mesh.instances[:MOST_NAMED] if each.added)
    if added:
        more = ", ..." if len(mesh.instances) > MOST_NAMED else ""
        draft.notice(f"labels in tables and fields are those of the deck plus, by instance: {added}{more}")
    return with_targets(replace(model, mesh=mesh), lambda label: int(final(label)))


def with_targets(model: Model, final: Callable[[int], int]) -> Model:
    """The model with other labels where it names one."""

    def changed(entries: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(replace(e, target=final(e.target)) if isinstance(e.target, int) else e for e in entries)

    steps = []
    for step in model.steps:
        procedure = step.procedure
        if isinstance(procedure, Static) and procedure.riks is not None:
            procedure = replace(procedure, riks=changed([procedure.riks])[0])
        lists = ("boundaries", "rotations", "nodal_loads", "distributed_loads", "fluid_loads", "temperatures")
        entries: dict[str, Any] = {name: changed(getattr(step, name)) for name in lists}
        removals = tuple(final(each) if isinstance(each, int) else each for each in step.removals)
        steps.append(replace(step, procedure=procedure, removals=removals, **entries))
    return replace(
        model,
        boundaries=changed(model.boundaries),
        rotations=changed(model.rotations),
        rest_lengths=changed(model.rest_lengths),
        failures=changed(model.failures),
        bodies=tuple(replace(body, node=final(body.node)) for body in model.bodies),
        planes=tuple(replace(plane, node=final(plane.node)) for plane in model.planes),
        initial_conditions=changed(model.initial_conditions),
        steps=tuple(steps),
    )
