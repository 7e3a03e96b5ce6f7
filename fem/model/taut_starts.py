"""Ropes over pulleys that start with a tension that differs from the one that their motion requires.

A rope of constant length has T = T_eq at the start: with g the derivative of its length by the places of its nodes,

    g a = - sum of (v_r^2 - (n v_r)^2)/l over the legs,    M a = f - g^T T

An elastic one oscillates about T_eq, with amplitude |T - T_eq| and period 2 pi sqrt(L0 / (E A g M^-1 g^T)), undamped.
Reported are ropes whose free nodes carry masses and no other elastic element; T follows from the law of the section.
"""

from __future__ import annotations

import math

import numpy as np

from fem.arrays import Flags, Floats
from fem.model import BarSection, Model
from fem.model.curves import Follow, evaluate
from fem.model.facts import natural_lengths, of_sections
from fem.model.notices import damps_waves, held_dofs

TOLD = 0.05
"""Differences of the tensions above this fraction of the larger one are reported."""
SLACK = 1e-9
"""Strain below which a rope starts slack: a rope that becomes taut with a jerk is not meant as an equilibrium."""
TURNS = 50


def told_of_starts(model: Model) -> str:
    """Notice of the oscillation with which the first step begins; empty without such ropes, or without motion."""
    procedure, mesh = model.steps[0].dynamic if model.steps else None, model.mesh
    if not (procedure and mesh.has_pulleys and model.earlier is None) or damps_waves(procedure):
        return ""
    held, (mass, force), motion = held_dofs(model), _loads(model), np.zeros((2, *mesh.coordinates.shape))
    for each in model.initial_conditions:
        if each.kind in ("DISPLACEMENT", "VELOCITY"):
            motion[int(each.kind == "VELOCITY"), mesh.nodes_of(each.target), each.dof - 1] = each.value
    place = mesh.coordinates + motion[0]
    ropes = np.flatnonzero((mesh.pulley_nodes >= 0) & _alone(model, mass, held))
    rows, turning, length = np.zeros((len(ropes), *mesh.coordinates.shape)), *np.zeros((2, len(ropes)))
    ends, pulleys = mesh.element_nodes[ropes], mesh.pulley_nodes[ropes]
    for end in ends.T:
        way, moves = (x[end] - x[pulleys] for x in (place, motion[1]))
        far = np.linalg.norm(way, axis=1)
        way = way / far[:, None]
        np.add.at(rows, (np.arange(len(ropes)), end), way)
        np.add.at(rows, (np.arange(len(ropes)), pulleys), -way)
        turning, length = turning + ((moves**2).sum(axis=1) - (way * moves).sum(axis=1) ** 2) / far, length + far
    inverse = np.where(held | (mass[:, None] <= 0.0), 0.0, 1.0 / np.where(mass > 0.0, mass, 1.0)[:, None])
    gradient = rows.reshape(len(ropes), place.size)
    compliance = gradient * inverse.ravel() @ gradient.T
    rest = natural_lengths(mesh, model.rest_lengths)[ropes]
    h = length / rest - 1.0
    (told,) = np.nonzero((np.diag(compliance) > 0.0) & (h >= -SLACK))
    right = (gradient @ (inverse * force).ravel() + turning)[told]
    needed = np.linalg.lstsq(compliance[np.ix_(told, told)], right, rcond=1e-12)[0]
    laws = [_law(model, element) for element in ropes[told].tolist()]
    pull = np.array([_pull(*law, at) for law, at in zip(laws, h[told].tolist(), strict=True)])
    off = np.where(needed > 0.0, np.abs(needed - pull) - TOLD * np.maximum(pull, needed), 0.0)
    if not (off > 0.0).any():
        return ""
    worst = int(off.argmax())
    k, law, count = told[worst], laws[worst], int((off > 0.0).sum()) - 1
    mended = length[k] / (1.0 + _stretch(law, needed[worst]))
    period = 2.0 * math.pi * math.sqrt(rest[k] / (law[0].area * law[1] * compliance[k, k]))
    return (
        f"the rope of element {mesh.element_names[ropes[k]]} starts {abs(needed[worst] - pull[worst]):.4g} away from "
        f"equilibrium: its tension is {pull[worst]:.4g}, its motion begins with {needed[worst]:.6g}"
        f"{f' (and so {count} more)' if count else ''}; T rings about that with period {period:.3g}, undamped. "
        f"It starts in equilibrium with *REST LENGTH {mended:.15g}; a rope that "
        "does not stretch is *INEXTENSIBLE"
    )


def _loads(model: Model) -> tuple[Floats, Floats]:
    """(n,) masses, and (n, 3) dead loads at the start of the first step."""
    mesh, step = model.mesh, model.steps[0]
    own = of_sections(model, lambda section, material: section.area * material.density)
    own *= natural_lengths(mesh, model.rest_lengths)
    for point in model.masses:
        own[mesh.element_sets[point.element_set]] += point.mass
    legs, owner = mesh.legs
    share = np.linalg.norm(np.diff(mesh.coordinates[legs], axis=1)[:, 0], axis=1)
    total = np.bincount(owner, share, len(own))[owner]
    part = 0.5 * own[owner] * np.divide(share, total, out=np.ones_like(share), where=total > 0.0)
    mass, force = np.zeros(len(mesh.node_labels)), np.zeros(mesh.coordinates.shape)
    np.add.at(mass, legs, part[:, None])

    def at_start(amplitude: str | None) -> float:
        return 1.0 if amplitude is None else float(evaluate(Follow(model.amplitudes[amplitude], 0.0), np.zeros(1))[0])

    for load in step.distributed_loads:
        if load.kind == "GRAV":
            on = np.ones(len(owner), bool) if load.target is None else np.isin(owner, mesh.elements_of(load.target))
            pull = load.value * at_start(load.amplitude) * np.array(load.direction)
            np.add.at(force, legs[on], part[on, None, None] * pull)
    for each in step.nodal_loads:
        if each.dof <= 3:
            force[mesh.nodes_of(each.target), each.dof - 1] += each.value * at_start(each.amplitude)
    return mass, force


def _alone(model: Model, mass: Floats, held: Flags) -> Flags:
    """(k,) elastic ropes without friction and winches whose free nodes have masses and nothing else."""
    mesh, (legs, owner) = model.mesh, model.mesh.legs
    plain = np.concatenate([np.full(len(block.labels), block.kind in ("MASS", "PULLEY")) for block in mesh.blocks])
    tied = mass <= 0.0
    tied[legs[~plain[owner]].ravel()] = True
    tied[[node for equation in model.equations for node, _, _ in equation.terms]] = True
    tied[[node for pair in model.links for node in pair]] = True
    for plane in model.planes:
        tied[plane.pairs(mesh)[plane.distances(mesh) <= 0.0, 1]] = True
    for body in (*model.bodies, *model.free_bodies):
        tied[model.nodes_on(body)] = True
    loose = of_sections(model, lambda section, material: float((material.young or 0.0) > 0.0)) > 0.0
    loose[owner[(tied & ~held.all(axis=1))[legs].any(axis=1)]] = False
    loose[model.reach.wound] = False
    for pulley in model.pulleys:
        loose[mesh.elements_of(pulley.element_set)] &= pulley.friction == 0.0
    return loose


def _law(model: Model, element: int) -> tuple[BarSection, float, float]:
    """Section, E and initial stress of an element."""
    mesh, stress = model.mesh, 0.0
    for each in model.initial_conditions:
        if each.kind == "STRESS" and element in mesh.elements_of(each.target):
            stress = each.value
    section = [one for one in model.sections if element in mesh.elements_of(one.element_set)][-1]
    return section, float(model.materials[section.material].young or 0.0), stress


def _pull(section: BarSection, young: float, stress0: float, h: float) -> float:
    """Tension at the elongation h; 0 if it would be compression."""
    strain, slope = (h + 0.5 * h * h, 1.0 + h) if section.strain == "GREEN" else (h, 1.0)
    return max(section.area * (young * strain + stress0) * slope, 0.0)


def _stretch(law: tuple[BarSection, float, float], pull: float) -> float:
    """Elongation at which a rope has the tension ``pull``."""
    stiff, h = law[0].area * law[1], 0.0
    for _ in range(TURNS):
        change = (pull - _pull(*law, h)) / stiff
        h += change
        if abs(change) <= 1e-15 * abs(h):
            break
    return h
