"""Bars with rope laws: their forces, which act along them, beside what stays with the bars (mass, length, fluid)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel
from fem.forces.bars.strain import LOG, measure
from fem.forces.protocol import TAKEN, Family, Tangent, Trial, component
from fem.forces.ropelaws.curves import green_strain, rest_of
from fem.forces.ropelaws.group import (
    ALONG,
    AREA,
    BRANCH,
    FLOOR,
    INSTANT,
    INVERSE,
    LAW,
    LOST,
    MEASURE,
    PRONY,
    PULL,
    STARTING,
    STATE,
    STORED,
    STRESS,
    TABLE,
    TENSION_ONLY,
    THERE,
    RopeBars,
    gathered,
)
from fem.forces.ropelaws.laws import behind, with_branches, without_time

SMALL = 1e-6
"""Below this fraction of the starting tension it is that which makes the tangent regular."""


def assemble(model: Any, system: Any, pair: int, state: int) -> RopeBars:
    """All bars with rope laws."""
    own = gathered(model, system, pair, state)
    own.start[:] = first_states(own, model, system, state)
    return own


def first_states(own: RopeBars, model: Any, system: Any, state: int) -> Floats:
    """(s,) bars that have long been as they are at the start: displaced as given, relaxed, and loaded before."""
    u = np.zeros(system.size)
    for given in model.initial_conditions:
        if given.kind == "DISPLACEMENT":
            u[3 * system.nodes_of(given.target) + given.dof - 1] = given.value
    past = np.zeros(len(system.family))
    for section in model.sections:
        law = model.materials[section.material].uniaxial
        past[model.mesh.element_sets[section.element_set]] = law.largest if law else 0.0
    start = np.zeros(len(own.start))
    for index, element in enumerate(own.elements.tolist()):
        first = own.places[index, STATE] - state
        start[first : first + PULL] = rest_of(own, index, u, float(past[element]))
    return start


@called_kernel
def evaluate(trial: Trial, own: RopeBars, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all bars; the energy they store."""
    energy = 0.0
    for b in range(own.nodes.shape[0]):
        energy += pull(b, trial, own, force, tangent)
    return energy


@inner_kernel
def pull(b: int, trial: Trial, own: RopeBars, force: Floats, tangent: Tangent) -> float:
    """One bar; writes its states. As ``bars/bar.py`` has it, with the stress of a law in place of E e."""
    n, u, u0 = own.numbers, trial.u1, trial.u0
    if n[b, THERE] == 0.0:
        return keep(b, trial, own)
    i, j, inverse = 3 * own.nodes[b, 0], 3 * own.nodes[b, 1], n[b, INVERSE]
    wx, wy, wz = u[j] - u[i], u[j + 1] - u[i + 1], u[j + 2] - u[i + 2]
    q = (n[b, ALONG] + wx, n[b, ALONG + 1] + wy, n[b, ALONG + 2] + wz)
    green = green_strain(b, wx, wy, wz, own)
    p, green0, half = q, green, 1.0
    if trial.secant:
        wx, wy, wz = u0[j] - u0[i], u0[j + 1] - u0[i + 1], u0[j + 2] - u0[i + 2]
        p = 0.5 * (q[0] + n[b, ALONG] + wx), 0.5 * (q[1] + n[b, ALONG + 1] + wy), 0.5 * (q[2] + n[b, ALONG + 2] + wz)
        green0, half = green_strain(b, wx, wy, wz, own), 0.5
    strain0, strain1, slope1, slope, curvature = measure(own.kinds[b, MEASURE], green0, green, 0.0, 0.0)
    dt, law = trial.time1 - trial.time0, own.kinds[b, LAW]
    is_relaxed = trial.rate == 0.0 and dt > 0.0 and own.creeps == 0
    if law == TABLE:
        stress, modulus = without_time(b, strain1, trial, own)
    elif law == PRONY:
        stress, modulus = with_branches(b, strain0, strain1, dt, is_relaxed, trial, own)
    else:
        stress, modulus = behind(b, strain0, strain1, dt, is_relaxed, trial, own)
    modulus = max(modulus, n[b, FLOOR])
    area, volume = n[b, AREA], n[b, AREA] / inverse
    normal = area * stress * slope
    along = area * (modulus * slope1 * slope + stress * (curvature if trial.secant else 2.0 * curvature))
    alpha = trial.weight * along * inverse * inverse * inverse
    starting = 0.0 if trial.secant else n[b, STARTING]
    is_idle = abs(normal) < SMALL * starting
    across = trial.weight * half * inverse * (starting if is_idle else normal)
    if is_idle and trial.rate == 0.0:  # statics finds the way out of the slack that a permanent strain has left
        alpha = trial.weight * area * max(modulus, n[b, INSTANT]) * slope1 * slope1 * inverse * inverse * inverse
    add(b, i, j, normal * inverse, alpha, across, p, q, own, force, tangent)
    state = trial.state1
    trial.power[TAKEN] += volume * (state[own.places[b, STATE] + LOST] - trial.state0[own.places[b, STATE] + LOST])
    stored: float = volume * state[own.places[b, STATE] + STORED]
    is_found = state[own.places[b, STATE] + LOST] == state[own.places[b, STATE] + LOST]
    return stored if is_found else math.inf


@inner_kernel
def keep(b: int, trial: Trial, own: RopeBars) -> float:
    """A bar that is gone: what it has lost stays in the books."""
    first = own.places[b, STATE]
    for s in range(first, first + PULL + own.places[b, BRANCH + 1]):
        trial.state1[s] = trial.state0[s]
    return 0.0


@inner_kernel
def add(
    b: int, i: int, j: int, tension: float, alpha: float, across: float, p: tuple[float, float, float],
    q: tuple[float, float, float], own: RopeBars, force: Floats, tangent: Tangent,
) -> None:  # fmt: skip
    """Tension p on node j, minus that on i; alpha p q^T + across I on jj and ii, minus that on ij and ji."""
    block, cross, pair = tangent.block, tangent.cross, own.first + b
    for a in range(3):
        pa = component(p, a)
        force[j + a] += tension * pa
        force[i + a] -= tension * pa
        if block.shape[0] == 0:
            continue
        for c in range(3):
            qc = component(q, c)
            slope = alpha * pa * qc + (across if a == c else 0.0)
            block[i // 3, 3 * a + c] += slope
            block[j // 3, 3 * a + c] += slope
            cross[pair, 3 * a + c] -= slope
            cross[pair, 9 + 3 * a + c] -= slope


@called_kernel
def values(own: RopeBars, index: int, u: Floats, v: Floats, state: Floats, row: Floats) -> None:
    """E, S, N, T as of any bar; the strain is that of the bar, the stress that of the last good increment."""
    i, j = 3 * own.nodes[index, 0], 3 * own.nodes[index, 1]
    green = green_strain(index, u[j] - u[i], u[j + 1] - u[i + 1], u[j + 2] - u[i + 2], own)
    kind: int = own.kinds[index, MEASURE]
    stress: float = state[own.places[index, STATE] + STRESS]
    _, strain, slope, _, _ = measure(kind, green, green, 0.0, 0.0)
    stress *= own.numbers[index, THERE]
    normal = own.numbers[index, AREA] * stress
    row[0], row[1] = strain, stress
    row[3] = normal * slope * math.sqrt(1.0 + 2.0 * green)
    row[2] = row[3] if kind == LOG else normal


def stored_in(own: RopeBars, index: int, u: Floats, state: Floats) -> float:
    """Energy of one bar."""
    numbers = own.numbers[index]
    return float(numbers[AREA] / numbers[INVERSE] * state[own.places[index, STATE] + STORED])


def trouble(own: RopeBars, system: Any, u: Floats, state: Floats) -> str:
    """Which bar has not found its slow strain."""
    for index, element in enumerate(own.elements.tolist()):
        is_lost = np.isnan(state[own.places[index, STATE] + LOST])
        if is_lost and np.isfinite(u.reshape(-1, 3)[own.nodes[index]]).all():
            name = system.model.mesh.element_names[element]
            return f"no strain is found by which element {name} lags behind (*DYNAMIC STIFFNESS) in this increment."
    return ""


def stiffest(own: RopeBars, place: Floats, u: Floats, dt: float) -> RopeBars:
    """Those that are slack now are as stiff as at once."""
    numbers = own.numbers.copy()
    numbers[:, FLOOR] = np.where(own.kinds[:, TENSION_ONLY] == 1, numbers[:, INSTANT], 0.0)
    return own._replace(numbers=numbers)


ROPE_LAWS = Family(
    "rope laws",
    assemble,
    evaluate,
    values,
    wanted=lambda model: any(material.has_rope_law for material in model.materials.values()),
    pairs=lambda own: own.nodes,
    states=lambda own: own.start,
    elements=lambda own: own.elements,
    in_step=lambda own, system, environment: own._replace(creeps=int(environment.creeps)),
    smooth=False,
    stiffest=stiffest,
    size=lambda own: float((own.numbers[:, AREA] * own.numbers[:, INSTANT]).max(initial=0.0)),
    stored=stored_in,
    trouble=trouble,
)
