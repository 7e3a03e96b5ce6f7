"""Bars whose law has a memory: their forces, which act along them, beside what stays with the bars (mass, length,
fluid). Laws of ropes, yielding, and struts that buckle."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import inner_kernel, kernel, single_kernel
from fem.forces import bar
from fem.forces.bar import AREA, BASE_CONSTANT, BASE_SLOPE, CONJUGATE, INV_LENGTH, REF, STARTING
from fem.forces.laws import LINEAR, MEASURES, measure, table_point, table_segment, write_values
from fem.forces.protocol import GIVEN, TAKEN, Family, Tangent, Trial, apart, component
from fem.forces.springs import Curve, table_rows

MEASURE, BASE, LAW, TENSION_ONLY = 0, 1, 2, 3
"""Columns of ``RopeBars.kinds``."""
STRAIGHT, ELASTIC, SHIFTED, SCALED = 0, 1, 2, 3
"""BASE, the quasi-static curve: a modulus; a table; tables of loading and unloading, that shifted or scaled."""
TABLE, PRONY, LAGGING, PLASTIC, BUCKLING = 0, 1, 2, 3, 4
"""LAW: nothing but the base; with branches beside it; with a dynamic stiffness before it; yielding; and buckling."""
LOADING, UNLOADING, BRANCH, STATE, BAR = 0, 2, 4, 6, 7
"""Columns of ``RopeBars.places``: first and count of table rows (loading, unloading) and branches; first state; bar,
by which its thermal strain is found, -1: it has none."""
YOUNG, RATIO, SHAPE, CONSTANT, SLOPE, VISCOSITY, FLOOR, THERE = range(8)
NUMBERS = 8
"""Columns of ``RopeBars.numbers``: modulus, permanent over largest strain, area below the scaled unloading curve,
dynamic stiffness (3), half of the least modulus, 0 for a bar that is gone."""
GROWTH, HASTE = RATIO, SHAPE
"""Of PLASTIC: what the yield stress gains, and the b by which it does."""
CRITICAL, RESIDUAL, FIRST, SECOND = SHAPE, CONSTANT, SLOPE, VISCOSITY
"""Of BUCKLING: critical stress, the one that is left in the end, X1, X2."""
STRAIN, LARGEST, SLOW, LOST, STRESS, STORED, PULL = 0, 1, 2, 3, 4, 5, 6
"""States: strain of the material (more than that of a slack bar), the largest of its quasi-static strains, the present
one, energy lost and stored (over the volume) and stress; then the stress of each branch."""
SUM, SET = LARGEST, SLOW
"""Of PLASTIC: sum of the plastic strains (PEEQ), plastic strain (PE); then its back stresses."""
SHORTER = SLOW
"""Of BUCKLING: the largest further shortening; its SUM is the plastic strain of tension."""
FAR = 1e3
"""Strain of the row that stands for the last slope of a table that goes on."""


class RopeBars(NamedTuple):
    """q bars.

    nodes (q, 2), elements (q,), kinds (q, 4), places (q, 8), numbers (q, NUMBERS): as the names of columns say
    constants (CONSTANTS, q)  as of any bar; the modulus is that of sudden changes
    table (rows, 3)  strain, stress, energy;  branches (b, 2)  modulus, time, or C, gamma of a back stress
    start (s,) states at first
    first            number of the first pair;  creeps: statics in which time passes (1, ``*VISCO``), or not
    is_arc           of an arc length (1), or not
    """

    nodes: Ints
    elements: Ints
    kinds: Ints
    places: Ints
    numbers: Floats
    constants: Floats
    table: Floats
    branches: Floats
    start: Floats
    first: int
    creeps: int
    is_arc: int


class PreparedLaw(NamedTuple):
    """One material: its base and law, its modulus, ratio and shape, curves, branches, and dynamic stiffness."""

    base: int
    law: int
    numbers: tuple[float, float, float]
    loading: list[tuple[float, float, float]]
    unloading: list[tuple[float, float, float]]
    branches: Floats
    dynamic: tuple[float, float, float]


def series_of(material: Any) -> tuple[float, Floats]:
    """Long-term modulus, and modulus and time (b, 2) of Maxwell branches beside it.

    A Kelvin series, strain_k' = (stress/E_k - strain_k)/time_k behind a spring E_0, has the relaxation of such
    branches: with v_k = (E_k time_k)^(-1/2) the rates are the eigenvalues of diag(1/time) + E_0 v v^T, symmetric, and
    a branch of rate r and vector p has the modulus E_0^2 (p.v)^2/r. Stored energies are equal, too. Source: W. N.
    Findley, J. S. Lai, K. Onaran, Creep and Relaxation of Nonlinear Viscoelastic Materials (1976), ch. 5.
    """
    law, instant, long_term = material.viscoelastic, material.instant_modulus, material.static_modulus
    fraction, time = np.array(law.rows).T
    if law.series == "PRONY":
        return long_term, np.column_stack([fraction * instant, time])
    v = np.sqrt(fraction / (instant * time))
    rate, vectors = np.linalg.eigh(np.diag(1.0 / time) + instant * np.outer(v, v))
    return long_term, np.column_stack([(instant * (v @ vectors)) ** 2 / rate, 1.0 / rate])


def going_on(curve: Curve) -> Curve:
    """The curve with one more row far away, on its last slope."""
    (s0, e0), (s1, e1) = curve[-2:]
    return (*curve, (s1 + (s1 - s0) / (e1 - e0) * (FAR - e1), FAR))


def prepared(material: Any) -> PreparedLaw:
    """Numbers of a material with a rope law."""
    none, branches = list[tuple[float, float, float]](), np.zeros((0, 2))
    given, lag, law = material.uniaxial, (0.0, 0.0, 0.0), TABLE
    if material.dynamic is not None:
        lag, law = (material.dynamic.constant, material.dynamic.slope, material.dynamic.viscosity), LAGGING
    if material.plastic is not None or material.buckling is not None:
        return of_yielding(material)
    if given is None:
        young = material.static_modulus
        if material.viscoelastic is not None:
            law, (young, branches) = PRONY, series_of(material)
        return PreparedLaw(STRAIGHT, law, (young, 0.0, 0.0), none, none, branches, lag)
    loading = going_on(given.loading) if given.is_extended or material.dynamic else given.loading
    if given.loading[0][1] >= 0.0 and not given.definition and material.compression_ratio == 1.0:
        loading = (*((-stress, -strain) for stress, strain in loading[:0:-1]), *loading)
    base, ratio, shape, unloading = of_unloading(given)
    return PreparedLaw(base, law, (0.0, ratio, shape), table_rows(loading), unloading, branches, lag)


def of_yielding(material: Any) -> PreparedLaw:
    """Numbers of a material that yields, or whose struts buckle."""
    of, weak, young = material.plastic, material.buckling, material.young
    loading, growth, branches = list[tuple[float, float, float]](), (0.0, 0.0), np.zeros((0, 2))
    if of is not None:
        (first, _), (second, strain) = of.rows[0], of.rows[-1]
        curve, back = (*of.rows, (second, strain + 1.0)), of.back
        if of.hardening == "KINEMATIC":
            curve, back = ((first, 0.0), (first, 1.0)), (((second - first) / strain, 0.0),)
        loading, growth, branches = table_rows(curve), of.growth, np.array(back, float).reshape(-1, 2)
    if weak is None:
        return PreparedLaw(STRAIGHT, PLASTIC, (young, *growth), loading, [], branches, (0.0, 0.0, 0.0))
    numbers = weak.stress * weak.residual, weak.first, weak.second
    return PreparedLaw(STRAIGHT, BUCKLING, (young, 0.0, weak.stress), loading, [], branches, numbers)


def of_unloading(given: Any) -> tuple[int, float, float, list[tuple[float, float, float]]]:
    """Base, ratio, shape and unloading rows: as they are where shifted, else from 0 to 1 both ways."""
    if given.definition == "SHIFTED CURVE":
        return SHIFTED, 0.0, 0.0, table_rows(going_on(given.unloading))
    if not given.definition:
        return ELASTIC, 0.0, 0.0, []
    (_, least), (stress, strain) = given.unloading[0], given.unloading[-1]
    rows = table_rows(tuple((s / stress, (e - least) / (strain - least)) for s, e in given.unloading))
    return SCALED, least / strain, rows[-1][2], rows


def gathered(model: Any, system: Any, pair: int, state: int) -> RopeBars:
    """All bars with rope laws; ``start`` is left open."""
    found, kinds, places, numbers = list[Ints](), list[Ints](), list[Ints](), [np.zeros((0, NUMBERS))]
    rows, branches = list[tuple[float, float, float]](), [np.zeros((0, 2))]
    for section in model.sections:
        material = model.materials[section.material]
        elements = model.mesh.element_sets[section.element_set]
        if not material.has_rope_law or not len(elements):
            continue
        ready, bars = prepared(material), system.bar_index[elements]
        counts = len(ready.loading), len(ready.unloading), len(ready.branches)
        begin = len(rows), len(rows) + counts[0], sum(map(len, branches))
        rows += ready.loading + ready.unloading
        branches.append(ready.branches)
        kind = MEASURES[section.strain], ready.base, ready.law, int(material.compression_ratio == 0.0)
        place = begin[0], counts[0], begin[1], counts[1], begin[2], counts[2], 0, -1
        numbers.append(np.tile((*ready.numbers, *ready.dynamic, 0.0, 0.0), (len(elements), 1)))
        numbers[-1][:, THERE] = ~system.gone[elements]
        numbers[-1][:, FLOOR] = -np.inf if ready.law == BUCKLING else 0.0
        found.append(elements)
        kinds.append(np.tile(kind, (len(elements), 1)))
        places.append(np.tile(place, (len(elements), 1)))
        if material.expansion is not None:
            places[-1][:, BAR] = bars
    elements = np.concatenate([np.zeros(0, np.int64), *found])
    all_places = np.concatenate([np.zeros((0, 8), np.int64), *places])
    remembered = PULL + all_places[:, BRANCH + 1]
    all_places[:, STATE] = state + np.cumsum(remembered) - remembered
    nodes, all_kinds = system.element_nodes[elements], np.concatenate([np.zeros((0, 4), np.int64), *kinds])
    constants, start = system.bars.constants[:, system.bar_index[elements]], np.zeros(int(remembered.sum()))
    tables = np.array(rows, float).reshape(-1, 3), np.concatenate(branches)
    of_bars = np.ascontiguousarray(nodes), elements, all_kinds, all_places, np.concatenate(numbers), constants.copy()
    return RopeBars(*of_bars, *tables, start, pair, 0, 0)


# The quasi-static curve: stress over strain, and what it remembers of the largest strain.
#
# SHIFTED: below the largest strain K the unloading curve U, through the origin, is shifted along the strain until it
# meets the loading curve F at K: stress U(x - p), U(K - p) = F(K); p(K) is the permanent strain. SCALED: the unloading
# curve is scaled in both directions: stress F(K) G((x - p)/(K - p)), p = ratio K. Reloading goes the same way back.
# What is stored is the area below the unloading curve; the rest of the area below F is lost while K grows:
# lost(K) = area of F up to K - area of the unloading curve up to K.
# Source: Abaqus 2016, Analysis User's Guide, 23.4.1 (uniaxial behaviour of fabrics).

BELOW = 1_000_000
"""Added to the number of a segment of the unloading curve."""


@inner_kernel
def strain_for(stress: float, first: int, count: int, table: Floats) -> float:
    """Strain at which a rising curve has a stress; beyond the table its last one."""
    low, high = first, first + count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle, 1] <= stress:
            low = middle
        else:
            high = middle
    part = (stress - table[low, 1]) / (table[high, 1] - table[low, 1])
    strain: float = table[low, 0] + min(part, 1.0) * (table[high, 0] - table[low, 0])
    return strain


@inner_kernel
def set_strain(b: int, largest: float, group: RopeBars) -> float:
    """Strain at which no quasi-static stress is left, after the largest strain."""
    kind = group.kinds[b, BASE]
    if kind < SHIFTED or largest <= 0.0:
        return 0.0
    if kind == SHIFTED:
        stress = table_point(largest, group.places[b, LOADING], group.places[b, LOADING + 1], group.table)[0]
        permanent: float = largest - strain_for(
            stress, group.places[b, UNLOADING], group.places[b, UNLOADING + 1], group.table
        )
        return permanent
    ratio: float = group.numbers[b, RATIO]
    return ratio * largest


@inner_kernel
def recoverable(b: int, largest: float, stress: float, group: RopeBars) -> float:
    """Energy stored where unloading begins, with that stress."""
    first, count = group.places[b, UNLOADING], group.places[b, UNLOADING + 1]
    if group.kinds[b, BASE] == SHIFTED:
        energy: float = table_point(strain_for(stress, first, count, group.table), first, count, group.table)[2]
        return energy
    shape: float = group.numbers[b, SHAPE]
    return stress * (largest - set_strain(b, largest, group)) * shape


@inner_kernel
def lost_so_far(b: int, largest: float, group: RopeBars) -> float:
    """Energy over the volume that has been lost when the largest strain was reached."""
    if group.kinds[b, BASE] < SHIFTED or largest <= 0.0:
        return 0.0
    stress, _, energy = table_point(largest, group.places[b, LOADING], group.places[b, LOADING + 1], group.table)
    lost: float = energy - recoverable(b, largest, stress, group)
    return lost


@inner_kernel
def quasi_static(b: int, x: float, largest: float, group: RopeBars) -> tuple[float, float, float, int]:
    """Stress, slope and stored energy at a strain, and a number of the straight piece it lies on."""
    kind, table = group.kinds[b, BASE], group.table
    if kind == STRAIGHT:
        young = group.numbers[b, YOUNG]
        return young * x, young, 0.5 * young * x * x, 0
    first, count = group.places[b, LOADING], group.places[b, LOADING + 1]
    below = kind >= SHIFTED and x < largest
    top, slope, energy = table_point(largest if below else x, first, count, table)
    if kind < SHIFTED or not below:
        piece = table_segment(x, first, count, table)
        return top, slope, energy if kind < SHIFTED else recoverable(b, x, top, group) if x > 0.0 else 0.0, piece
    first, count = group.places[b, UNLOADING], group.places[b, UNLOADING + 1]
    permanent = set_strain(b, largest, group)
    if largest <= 0.0 or x <= permanent:
        return 0.0, 0.0, 0.0, -BELOW
    if kind == SHIFTED:
        stress, slope, energy = table_point(x - permanent, first, count, table)
        return stress, slope, energy, BELOW + table_segment(x - permanent, first, count, table)
    span = largest - permanent
    part = (x - permanent) / span
    stress, slope, energy = table_point(part, first, count, table)
    return top * stress, top * slope / span, top * span * energy, BELOW + table_segment(part, first, count, table)


@inner_kernel
def green_strain(b: int, wx: float, wy: float, wz: float, group: RopeBars) -> float:
    """Of a bar whose end 2 has moved by w against its end 1; where strains are linear, along . w/L0^2."""
    constants = group.constants
    if group.kinds[b, MEASURE] == LINEAR:
        x, y, z = constants[bar.BASE, b], constants[bar.BASE + 1, b], constants[bar.BASE + 2, b]
        straight: float = constants[INV_LENGTH, b] ** 2 * (x * wx + y * wy + z * wz)
        return straight
    along = constants[REF, b] * wx + constants[REF + 1, b] * wy + constants[REF + 2, b] * wz
    gap = constants[BASE_CONSTANT, b] + along + 0.5 * (wx * wx + wy * wy + wz * wz)
    green: float = constants[INV_LENGTH, b] ** 2 * gap
    return green


@inner_kernel
def strains(b: int, green0: float, green1: float, group: RopeBars) -> tuple[float, float, float, float, float]:
    """``measure`` of a bar."""
    base, slope = group.constants[BASE_CONSTANT, b], group.constants[BASE_SLOPE, b]
    return measure(group.kinds[b, MEASURE], green0, green1, base, slope)


@inner_kernel
def strain_at(b: int, u: Floats, group: RopeBars) -> tuple[float, float, float]:
    """Green strain of a bar, the strain of its measure, and its slope over Green's."""
    wx, wy, wz = apart(3 * group.nodes[b, 0], 3 * group.nodes[b, 1], u)
    green = green_strain(b, wx, wy, wz, group)
    _, strain, slope, _, _ = strains(b, green, green, group)
    return green, strain, slope


@kernel
def rest_of(group: RopeBars, b: int, u: Floats, past: float) -> tuple[float, float, float, float, float, float]:
    """States of a relaxed bar at displacement u that has borne the stress ``past``: STRAIN to STORED."""
    _, strain, _ = strain_at(b, u, group)
    if group.kinds[b, LAW] >= PLASTIC:
        elastic = group.numbers[b, YOUNG] * (max(strain, 0.0) if group.kinds[b, TENSION_ONLY] == 1 else strain)
        return strain, 0.0, 0.0, 0.0, elastic, 0.5 * elastic * elastic / group.numbers[b, YOUNG]
    largest = max(strain, 0.0)
    if group.kinds[b, BASE] >= SHIFTED and past > 0.0:
        largest = max(largest, strain_for(past, group.places[b, LOADING], group.places[b, LOADING + 1], group.table))
    # A slack rope: the material has no stress and its strain, more than that of the bar, goes its own way.
    if group.kinds[b, TENSION_ONLY] == 1 and group.kinds[b, LAW] != TABLE:
        strain = max(strain, set_strain(b, largest, group))
    stress, _, stored, _ = quasi_static(b, strain, largest, group)
    return strain, largest, strain, 0.0, stress, stored


@inner_kernel
def faded(z: float) -> tuple[float, float, float]:
    """exp(-z), (1 - exp(-z))/z and (1 - (1 - exp(-z))/z)/z of z >= 0; where nothing is left of a branch: z = inf."""
    if z == math.inf:
        return 0.0, 0.0, 0.0
    if z < 1e-3:
        rest = 0.5 - z * (1.0 / 6.0 - z * (1.0 / 24.0 - z * (1.0 / 120.0 - z / 720.0)))
        mean = 1.0 - z * rest
        return 1.0 - z * mean, mean, rest
    mean = -math.expm1(-z) / z
    return math.exp(-z), mean, (1.0 - mean) / z


def assemble(model: Any, system: Any, pair: int, state: int) -> RopeBars:
    """Initial states of its bars: relaxed at the initial displacement, after the given earlier load."""
    group, (u, _) = gathered(model, system, pair, state), system.initial_motion
    past = np.zeros(len(system.family))
    for section in model.sections:
        law = model.materials[section.material].uniaxial
        past[model.mesh.element_sets[section.element_set]] = law.largest if law else 0.0
    for index, element in enumerate(group.elements.tolist()):
        first = group.places[index, STATE] - state
        group.start[first : first + PULL] = rest_of(group, index, u, float(past[element]))
    return group


@single_kernel
def evaluate(trial: Trial, group: RopeBars, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all bars; the energy they store."""
    energy = 0.0
    for b in range(group.nodes.shape[0]):
        energy += pull(b, trial, group, force, tangent)
    return energy


@inner_kernel
def pull(b: int, trial: Trial, group: RopeBars, force: Floats, tangent: Tangent) -> float:
    """One bar: its forces as in ``bar.py``, the stress and states of its law (``stress_between``), and the books."""
    n, constants, u, u0 = group.numbers, group.constants, trial.u1, trial.u0
    if n[b, THERE] == 0.0:
        return keep(b, trial, group)
    i, j, inverse = 3 * group.nodes[b, 0], 3 * group.nodes[b, 1], constants[INV_LENGTH, b]
    wx, wy, wz = u[j] - u[i], u[j + 1] - u[i + 1], u[j + 2] - u[i + 2]
    turns = 0.0 if group.kinds[b, MEASURE] == LINEAR else 1.0
    at = bar.BASE if turns == 0.0 else REF
    dx, dy, dz = constants[at, b], constants[at + 1, b], constants[at + 2, b]
    q = (dx + turns * wx, dy + turns * wy, dz + turns * wz)
    green = green_strain(b, wx, wy, wz, group)
    p, green0, half = q, green, 1.0
    if trial.secant:
        wx, wy, wz = u0[j] - u0[i], u0[j + 1] - u0[i + 1], u0[j + 2] - u0[i + 2]
        p = 0.5 * (q[0] + dx + turns * wx), 0.5 * (q[1] + dy + turns * wy), 0.5 * (q[2] + dz + turns * wz)
        green0, half = green_strain(b, wx, wy, wz, group), 0.5
    strain0, strain1, slope1, slope, curvature = strains(b, green0, green, group)
    heat = trial.thermal[group.places[b, BAR]] if group.places[b, BAR] >= 0 else 0.0
    strain0, strain1 = strain0 - heat, strain1 - heat
    stress, modulus = stress_between(b, strain0, strain1, trial, group)
    modulus = max(modulus, n[b, FLOOR])
    area, volume = constants[AREA, b], constants[AREA, b] / inverse
    normal = area * stress * slope
    along = (1.0 if trial.secant else 2.0) * area * (modulus * slope1 * slope + stress * curvature)
    alpha = trial.weight * along * inverse * inverse * inverse
    starting = 0.0 if trial.secant else constants[STARTING, b]
    is_idle = abs(normal) < bar.IDLE * starting
    across = turns * trial.weight * half * inverse * bar.stiffening(normal, starting)
    if is_idle and trial.rate == 0.0:  # statics finds the way out of the slack that a permanent strain has left
        stiff = max(2.0 * modulus, constants[bar.YOUNG, b])
        alpha = trial.weight * area * stiff * slope1 * slope1 * inverse * inverse * inverse
    add(b, normal * inverse, alpha, across, p, q, group, force, tangent)
    state = trial.state1
    if group.places[b, BAR] >= 0:
        trial.power[GIVEN] += volume * heat_work(b, strain1 + heat, trial, group)
    trial.power[TAKEN] += volume * (state[group.places[b, STATE] + LOST] - trial.state0[group.places[b, STATE] + LOST])
    stored: float = volume * state[group.places[b, STATE] + STORED]
    is_found = state[group.places[b, STATE] + LOST] == state[group.places[b, STATE] + LOST]
    return stored if is_found else math.inf


@inner_kernel
def stress_between(b: int, start: float, end: float, trial: Trial, group: RopeBars) -> tuple[float, float]:
    """Stress and half of the modulus at the end of an increment (secant: those of the increment); writes the states.
    start, end  strains of the bar less the thermal one"""
    dt, law = trial.time1 - trial.time0, group.kinds[b, LAW]
    is_relaxed = trial.rate == 0.0 and dt > 0.0 and group.creeps == 0
    if law == TABLE:
        return without_time(b, end, trial, group)
    if law == PRONY:
        return with_branches(b, start, end, dt, is_relaxed, trial, group)
    if law == PLASTIC:
        return yielding(b, end, trial, group)
    if law == BUCKLING:
        return buckling(b, end, trial, group)
    return behind(b, start, end, dt, is_relaxed, trial, group)


# Heat, of TABLE and PLASTIC: the strain of the material is that of the bar less the thermal strain.
@inner_kernel
def heat_work(b: int, strain: float, trial: Trial, group: RopeBars) -> float:
    """Work over the volume of a change of the thermal strain: what the material has been stretched beyond the bar.
    strain  of the bar at the end. The stress is that of the force: the mean of both ends, where secant of the law"""
    first, state0, state1 = group.places[b, STATE], trial.state0, trial.state1
    rise = state1[first + STRAIN] - state0[first + STRAIN]
    beyond: float = rise - (strain - strain_at(b, trial.u0, group)[1])
    mean: float = 0.5 * (state0[first + STRESS] + state1[first + STRESS])
    if trial.secant and rise != 0.0:
        mean = (state1[first + STORED] - state0[first + STORED] + state1[first + LOST] - state0[first + LOST]) / rise
    return beyond * mean


@inner_kernel
def keep(b: int, trial: Trial, group: RopeBars) -> float:
    """A bar that is gone: what it has lost stays in the books."""
    first = group.places[b, STATE]
    for s in range(first, first + PULL + group.places[b, BRANCH + 1]):
        trial.state1[s] = trial.state0[s]
    return 0.0


@inner_kernel
def add(
    b: int, tension: float, alpha: float, across: float, p: Vector, q: Vector, group: RopeBars, force: Floats,
    tangent: Tangent,
) -> None:  # fmt: skip
    """Tension p on node j, minus that on i; alpha p q^T + across I on jj and ii, minus that on ij and ji."""
    block, cross, pair, i, j = tangent.block, tangent.cross, group.first + b, group.nodes[b, 0], group.nodes[b, 1]
    for a in range(3):
        pa = component(p, a)
        force[3 * j + a] += tension * pa
        force[3 * i + a] -= tension * pa
        if block.shape[0] == 0:
            continue
        for c in range(3):
            slope = alpha * pa * component(q, c) + (across if a == c else 0.0)
            block[i, 3 * a + c] += slope
            block[j, 3 * a + c] += slope
            cross[pair, 3 * a + c] -= slope
            cross[pair, 9 + 3 * a + c] -= slope


@single_kernel
def values(group: RopeBars, index: int, u: Floats, v: Floats, state: Floats, row: Floats) -> None:
    """E, S, N, T as of any bar; the strain is that of the bar, the stress that of the last good increment."""
    kind: int = group.kinds[index, MEASURE]
    first = group.places[index, STATE]
    green, strain, slope = strain_at(index, u, group)
    stress: float = state[first + STRESS] * group.numbers[index, THERE]
    stretch, conjugate = math.sqrt(1.0 + 2.0 * green), 1.0
    if kind == LINEAR:
        c, inverse = group.constants, group.constants[INV_LENGTH, index]
        x, y, z = c[bar.BASE, index], c[bar.BASE + 1, index], c[bar.BASE + 2, index]
        stretch = math.sqrt(x * x + y * y + z * z) * inverse
        conjugate = c[CONJUGATE, index]
    write_values(kind, strain, stress, group.constants[AREA, index], slope * stretch, conjugate, row)
    if row.shape[0] > 5 and group.kinds[index, LAW] == PLASTIC:
        row[5], row[6] = state[first + SET], state[first + SUM]
    if row.shape[0] > 5 and group.kinds[index, LAW] == BUCKLING:
        row[5] = state[first + SUM] - left_shorter(index, state[first + SHORTER], group)
        row[6] = state[first + SUM]


def stored_in(group: RopeBars, index: int, u: Floats, state: Floats) -> float:
    """Energy of one bar."""
    constants = group.constants[:, index]
    return float(constants[AREA] / constants[INV_LENGTH] * state[group.places[index, STATE] + STORED])


def trouble(group: RopeBars, system: Any, u: Floats, state: Floats) -> str:
    """Which bar has not found its slow or plastic strain."""
    for index, element in enumerate(group.elements.tolist()):
        is_lost = np.isnan(state[group.places[index, STATE] + LOST])
        if is_lost and np.isfinite(u.reshape(-1, 3)[group.nodes[index]]).all():
            name = system.model.mesh.element_names[element]
            is_plastic = group.kinds[index, LAW] >= PLASTIC
            what = "plastic strain (*PLASTIC)" if is_plastic else "delayed strain (*DYNAMIC STIFFNESS)"
            return f"no {what} is found for element {name} in this increment."
    return ""


def stiffest(group: RopeBars, place: Floats, u: Floats, dt: float) -> RopeBars:
    """The group with the instantaneous stiffness of bars that are slack, yield or buckle now."""
    numbers, softer = group.numbers.copy(), (group.kinds[:, TENSION_ONLY] == 1) | (group.kinds[:, LAW] >= PLASTIC)
    numbers[:, FLOOR] = np.where(softer, 0.5 * group.constants[bar.YOUNG], 0.0)
    return group._replace(numbers=numbers)


def in_step(group: RopeBars, system: Any, environment: Any) -> RopeBars:
    """Whether bars creep in statics, and their strains where a step is geometrically linear."""
    index = system.bar_index[group.elements]
    if len(index) and system.bars.kinds[index[0], 0] == LINEAR:
        w = (system.bars.constants[bar.BASE : bar.BASE + 3, index] - group.constants[REF : REF + 3]).T
        kinds, measures = group.kinds.copy(), group.kinds[:, MEASURE].copy()
        kinds[:, MEASURE] = LINEAR
        group = group._replace(kinds=kinds, constants=bar.linear_constants(group.constants, measures, w))
    return group._replace(creeps=int(environment.creeps), is_arc=int(environment.is_arc))


ROPE_LAWS = Family(
    "rope laws",
    assemble,
    evaluate,
    values,
    wanted=lambda model: any(material.has_rope_law for material in model.materials.values()),
    pairs=lambda group: group.nodes,
    states=lambda group: group.start,
    elements=lambda group: group.elements,
    in_step=in_step,
    smooth=False,
    stiffest=stiffest,
    size=lambda group: float((group.constants[AREA] * group.constants[bar.YOUNG]).max(initial=0.0)),
    stored=stored_in,
    trouble=trouble,
)


# Stress of a bar at the end of an increment, and what it remembers then.
#
# TABLE, without time: the quasi-static curve alone.
# PRONY: stress = E e + sum h_k, h_k' = E_k e' - h_k/time_k, solved exactly for a strain that goes straight from one end
# of the increment to the other: h1 = h0 exp(-z) + E_k (e1 - e0) (1 - exp(-z))/z, z = dt/time_k.
# Each stores h^2/(2 E_k).
# LAGGING: two springs in series, the slow one beside a dashpot. With the quasi-static strain q, at which the
# quasi-static curve Q has the mean stress, and the dynamic modulus K = a + b Q(q):
#
#     stress = Q(q) + K (e - q),    slow strain s = q - f(Q(q)),  f(Q) = ln(1 + b Q/a)/b,    viscosity s' = K (e - q)
#
# f is the strain of the fast spring under the mean stress, de = dQ/K. Stored: the area below Q, and
# Q (e - q) + K (e - q)^2/2. s1 - s0 = dt (t K1 (e1 - q1) + (1 - t) K0 (e0 - q0))/viscosity, with
# t = 1/(1 - exp(-z)) - 1/z, z = dt over the time of relaxation at the start: of second order, exact where Q is straight
# and b = 0, quiet where dt is long.
# PLASTIC: stress = E (e - ep). While |stress - sum a_k| = Y(p), p the sum of |plastic strains|, the plastic strain
# grows by n dp, n the sign; Y is a table and Q (1 - exp(-b p)), and da_k = C_k dep - gamma_k a_k dp. For a strain that
# goes straight from one end of the increment to the other all of it is solved exactly: n a1 = n a0 exp(-gamma x) +
# C (1 - exp(-gamma x))/gamma with x = the growth of p, which one equation gives. Stored: stress^2/(2 E) + sum
# a_k^2/(2 C_k); the rest of the work, Y dp + sum gamma_k a_k^2/C_k dp, is lost. A slack cable keeps its plastic strain.
# BUCKLING: the same in tension. A strut that bears its critical stress c bends: after a further shortening e it bears
# s(e) = r + (c - r) exp(-(X1 + X2 sqrt(e)) e); unloaded it is elastic, and shorter by g = c/E + e - s/E than before.
# Source: C. D. Hill, G. E. Blandford, S. T. Wang, J. Struct. Eng. 115 (1989) 900.
# Source: C. O. Frederick, P. J. Armstrong, Mater. High Temp. 24 (2007) 1; J. L. Chaboche, Int. J. Plasticity 2 (1986).
# Source of LAGGING: E. Falkenberg, V. Ahjem, L. Yang, Best practice for analysis of polyester rope mooring systems,
# OTC-27761
# (2017); Z. Wei, H. B. Bingham, Y. Shao, ESOMOOR D5.1 (2026); M. Hall, B. Duong, E. Lozon, IOWTC2023-119524.

CLOSE = 1e-6
"""Ends of an increment as near as this, over their strains, have the mean of their stresses."""
MOST = 200
SETTLED = 1e-15


@inner_kernel
def remember(
    first: int, strain: float, largest: float, slow: float, lost: float, stress: float, stored: float, trial: Trial
) -> None:
    """The states of a bar but those of its branches; lost: in this increment."""
    state = trial.state1
    state[first + STRAIN], state[first + LARGEST], state[first + SLOW] = strain, largest, slow
    state[first + LOST] = trial.state0[first + LOST] + lost
    state[first + STRESS], state[first + STORED] = stress, stored


@inner_kernel
def without_time(b: int, strain: float, trial: Trial, group: RopeBars) -> tuple[float, float]:
    """TABLE: stress (secant: mean over the increment) and modulus."""
    first = group.places[b, STATE]
    before, largest = trial.state0[first + STRAIN], trial.state0[first + LARGEST]
    stress, slope, stored, piece = quasi_static(b, strain, largest, group)
    most = max(largest, strain)
    lost = lost_so_far(b, most, group) - lost_so_far(b, largest, group) if most > largest else 0.0
    remember(first, strain, most, 0.0, lost, stress, stored, trial)
    if not trial.secant:
        return stress, 0.5 * slope
    earlier, _, had, piece0 = quasi_static(b, before, largest, group)
    rise = strain - before
    if piece == piece0 or abs(rise) <= CLOSE * (abs(strain) + abs(before)):
        return 0.5 * (stress + earlier), 0.5 * slope
    mean = (stored - had + lost) / rise
    return mean, (stress - mean) / rise


@inner_kernel
def with_branches(
    b: int, start: float, end: float, dt: float, is_relaxed: bool, trial: Trial, group: RopeBars
) -> tuple[float, float]:
    """PRONY: stress (secant: mean of both ends) and modulus; start, end: strains of the bar."""
    first, place, count = group.places[b, STATE], group.places[b, BRANCH], group.places[b, BRANCH + 1]
    young, before = group.numbers[b, YOUNG], trial.state0[first + STRAIN]
    modulus, left = young, young * before
    for k in range(count):
        keep, mean, _ = faded(math.inf if is_relaxed else dt / group.branches[place + k, 1])
        modulus += group.branches[place + k, 0] * mean
        left += keep * trial.state0[first + PULL + k]
    rise, slope = end - before, modulus
    if group.kinds[b, TENSION_ONLY] == 1 and left + modulus * rise < 0.0:
        rise, slope = -left / modulus, 0.0
    strain = before + rise
    stress = left + modulus * rise if slope != 0.0 else 0.0
    stored, lost = 0.5 * young * strain * strain, 0.0
    for k in range(count):
        stiff, pull0 = group.branches[place + k, 0], trial.state0[first + PULL + k]
        keep, mean, rest = faded(math.inf if is_relaxed else dt / group.branches[place + k, 1])
        pull = keep * pull0 + stiff * mean * rise
        trial.state1[first + PULL + k] = pull
        stored += 0.5 * pull * pull / stiff
        lost += rise * (pull0 * mean + stiff * rest * rise) - 0.5 * (pull - pull0) * (pull + pull0) / stiff
    stress0 = trial.state0[first + STRESS]
    if trial.secant:
        lost = 0.5 * (stress0 + stress) * (end - start) - (stored - trial.state0[first + STORED])
    remember(first, strain, 0.0, 0.0, lost, stress, stored, trial)
    return 0.5 * (stress0 + stress) if trial.secant else stress, 0.5 * slope


@inner_kernel
def nearer(
    x: float, value: float, wanted: float, slope: float, low: float, high: float, size: float
) -> tuple[float, float, float, bool]:
    """Newton's method between bounds, for a value that rises with x: both bounds, the next x, and whether it stays, to
    round-off of size + x."""
    low, high = (x, high) if value < wanted else (low, x)
    following = x + (wanted - value) / slope
    if not low < following < high and high - low < math.inf:
        following = 0.5 * (low + high)
    least = SETTLED * (size + abs(x))
    return low, high, following, abs(following - x) <= least or high - low <= least


@inner_kernel
def slow_strain(b: int, q: float, stress: float, group: RopeBars) -> float:
    """Quasi-static strain less that of the fast spring under the mean stress."""
    constant, slope = group.numbers[b, CONSTANT], group.numbers[b, SLOPE]
    fast: float = stress / constant
    if slope != 0.0 and stress > 0.0:
        fast = math.log1p(slope * stress / constant) / slope
    return q - fast


@inner_kernel
def stiffness_at(b: int, stress: float, group: RopeBars) -> tuple[float, float]:
    """Dynamic modulus at a mean stress, and its derivative by it."""
    if stress <= 0.0:
        return group.numbers[b, CONSTANT], 0.0
    return group.numbers[b, CONSTANT] + group.numbers[b, SLOPE] * stress, group.numbers[b, SLOPE]


@inner_kernel
def late_fraction(z: float) -> float:
    """1/(1 - exp(-z)) - 1/z."""
    if z < 1e-3:
        return 0.5 + z / 12.0
    return -1.0 / math.expm1(-z) - 1.0 / z


@inner_kernel
def drift(
    b: int, q: float, end: float, largest: float, late: float, is_slack: bool, group: RopeBars
) -> tuple[float, float]:
    """Slow strain, less ``late`` times the stress of the dashpot, over q; and its derivative."""
    stress, slope, _, _ = quasi_static(b, q, largest, group)
    modulus, more = stiffness_at(b, stress, group)
    value, rate = slow_strain(b, q, stress, group), 1.0 - slope / modulus
    if is_slack:
        return value + late * stress, rate + late * slope
    return value - late * modulus * (end - q), rate + late * (modulus - more * slope * (end - q))


@inner_kernel
def solve_slow(
    b: int, guess: float, end: float, largest: float, late: float, wanted: float, is_slack: bool, group: RopeBars
) -> float:
    """q where ``drift``, which rises, is as wanted: Newton between bounds; NaN where it is not found."""
    low, high, q, is_found = -math.inf, math.inf, guess, False
    for _ in range(MOST):
        value, rate = drift(b, q, end, largest, late, is_slack, group)
        low, high, q, is_found = nearer(q, value, wanted, rate, low, high, 1e-3)
        if is_found:
            return q
    return math.nan


@inner_kernel
def behind(
    b: int, start: float, end: float, dt: float, is_relaxed: bool, trial: Trial, group: RopeBars
) -> tuple[float, float]:
    """LAGGING: stress (secant: mean of both ends) and modulus; start, end: strains of the bar.
    Where q is not found it stays, and what is lost is NaN from there on: the run stops (``trouble``)."""
    first, ropes = group.places[b, STATE], group.kinds[b, TENSION_ONLY] == 1
    before, largest = trial.state0[first + STRAIN], trial.state0[first + LARGEST]
    q0, stress0 = trial.state0[first + SLOW], trial.state0[first + STRESS]
    mean, slope, stored0, _ = quasi_static(b, q0, largest, group)
    stiff, _ = stiffness_at(b, mean, group)
    q, chase, unfound = q0, 0.0, 0.0
    if is_relaxed:
        q, chase = (max(end, set_strain(b, max(largest, end), group)) if ropes else end), 1.0
    elif dt > 0.0:
        viscosity = group.numbers[b, VISCOSITY]
        part = late_fraction(dt * stiff / (viscosity * (1.0 - slope / stiff)))
        late = part * dt / viscosity
        wanted = slow_strain(b, q0, mean, group) + (1.0 - part) * dt / viscosity * (stress0 - mean)
        q = solve_slow(b, q0, end, largest, late, wanted, False, group)
        if q != q:
            q, unfound = q0, math.nan
        held, rise, _, _ = quasi_static(b, q, largest, group)
        fast, more = stiffness_at(b, held, group)
        if ropes and held + fast * (end - q) < 0.0:
            q = solve_slow(b, q, end, largest, late, wanted, True, group)
            if q != q:
                q, unfound = q0, math.nan
        else:
            chase = late * fast / (1.0 - rise / fast + late * (fast - more * rise * (end - q)))
    most = max(largest, q)
    mean, slope, stored, _ = quasi_static(b, q, most, group)
    stiff, more = stiffness_at(b, mean, group)
    ahead = end - q
    stress, modulus = mean + stiff * ahead, stiff + (slope + more * slope * ahead - stiff) * chase
    if ropes and (stress < 0.0 or (is_relaxed and end < q)):
        ahead, stress, modulus = -mean / stiff, 0.0, 0.0
    stored += mean * ahead + 0.5 * stiff * ahead * ahead
    had = trial.state0[first + STORED]
    if is_relaxed and not trial.secant:
        lost = lost_so_far(b, most, group) - lost_so_far(b, largest, group) + had - stored0
    else:
        along = end - start if trial.secant else q + ahead - before
        lost = 0.5 * (stress0 + stress) * along - (stored - had)
    remember(first, q + ahead, most, q, lost + unfound, stress, stored, trial)
    return 0.5 * (stress0 + stress) if trial.secant else stress, 0.5 * modulus


# At the surface, to round-off, a bar that is at rest is elastic; where an arc sets out, it goes on as it was.
ON_SURFACE = 1e-12
NEARLY_NONE = 1e-6
"""Fraction of the modulus that a bar without hardening has then: its structure may be a mechanism."""


@inner_kernel
def sets_out(trial: Trial, group: RopeBars) -> bool:
    """Whether this may be the first trial of an arc."""
    return group.is_arc == 1 and trial.time1 > trial.time0


@inner_kernel
def surface(b: int, x: float, n: float, trial: Trial, group: RopeBars) -> tuple[float, float, float]:
    """n times the stress at which the bar flows in the direction n once it has flown by x: that, its slope, and its
    integral from 0 to x."""
    first, place, count = group.places[b, STATE], group.places[b, BRANCH], group.places[b, BRANCH + 1]
    before = trial.state0[first + SUM]
    begin, rows = group.places[b, LOADING], group.places[b, LOADING + 1]
    value, slope, whole = table_point(before + x, begin, rows, group.table)
    whole -= table_point(before, begin, rows, group.table)[2]
    growth, haste = group.numbers[b, GROWTH], group.numbers[b, HASTE]
    if growth != 0.0:
        left = growth * math.exp(-haste * before)  # what it has still to gain
        keep, mean, _ = faded(haste * x)
        value, slope, whole = (
            value + growth - left * keep,
            slope + haste * left * keep,
            whole + growth * x - left * x * mean,
        )
    for k in range(count):
        stiff, gamma, back = (
            group.branches[place + k, 0],
            group.branches[place + k, 1],
            n * trial.state0[first + PULL + k],
        )
        keep, mean, rest = faded(gamma * x)
        value += keep * back + stiff * mean * x
        slope += keep * (stiff - gamma * back)
        whole += back * mean * x + stiff * rest * x * x
    return value, slope, whole


@inner_kernel
def flown(b: int, n: float, excess: float, trial: Trial, group: RopeBars) -> float:
    """x where the stress n (excess - E x) is on the surface: Newton between bounds; NaN where it is not found."""
    young: float = group.numbers[b, YOUNG]
    low, high, x, is_found = 0.0, excess / young, 0.0, False
    for _ in range(MOST):
        value, slope, _ = surface(b, x, n, trial, group)
        low, high, x, is_found = nearer(x, 0.0, excess - young * x - value, young + slope, low, high, 0.0)
        if is_found:
            return x
    return math.nan


@inner_kernel
def yielding(b: int, end: float, trial: Trial, group: RopeBars) -> tuple[float, float]:
    """PLASTIC: stress (secant: mean over the increment) and modulus.
    Where x is not found nothing flows, and what is lost is NaN from there on: the run stops (``trouble``)."""
    first, place, count = group.places[b, STATE], group.places[b, BRANCH], group.places[b, BRANCH + 1]
    young, state0 = group.numbers[b, YOUNG], trial.state0
    ep, p = state0[first + SET], state0[first + SUM]
    stress, modulus, lost, stored = young * (end - ep), young, 0.0, 0.0
    is_slack = group.kinds[b, TENSION_ONLY] == 1 and stress < 0.0
    back, x, n = 0.0, 0.0, 1.0
    for k in range(count):
        back += state0[first + PULL + k]
        stored += 0.5 * state0[first + PULL + k] ** 2 / group.branches[place + k, 0]
    if is_slack:
        stress, modulus = 0.0, 0.0
    else:
        n = 1.0 if stress >= back else -1.0
        limit = surface(b, 0.0, n, trial, group)[0]
        if n * stress > limit + ON_SURFACE * abs(limit):
            x = flown(b, n, n * stress, trial, group)
        elif sets_out(trial, group) and p > 0.0 and n * stress >= limit - ON_SURFACE * abs(limit):
            slope = surface(b, 0.0, n, trial, group)[1]
            modulus = max(young * slope / (young + slope), NEARLY_NONE * young)
    if x != x:
        x, lost = 0.0, math.nan
    if x > 0.0:
        value, slope, work = surface(b, x, n, trial, group)
        stress, modulus, lost = n * value, young * slope / (young + slope), work + stored
        ep, p = ep + n * x, p + x
    stored = 0.0
    for k in range(count):
        keep, mean, _ = faded(group.branches[place + k, 1] * x)
        own = keep * state0[first + PULL + k] + n * group.branches[place + k, 0] * mean * x
        trial.state1[first + PULL + k] = own
        stored += 0.5 * own * own / group.branches[place + k, 0]
    lost -= stored if x > 0.0 else 0.0
    stored += 0.5 * stress * stress / young
    remember(first, end, p, ep, lost, stress, stored, trial)
    return of_increment(first, end, stress, modulus, lost, trial)


@inner_kernel
def of_increment(
    first: int, end: float, stress: float, modulus: float, lost: float, trial: Trial
) -> tuple[float, float]:
    """Stress and half of the modulus at the end; secant: of the increment, from the work stored and lost in it."""
    if not trial.secant:
        return stress, 0.5 * modulus
    state0, before = trial.state0, trial.state0[first + STRAIN]
    stress0, rise = state0[first + STRESS], end - before
    if abs(rise) <= CLOSE * (abs(end) + abs(before)):
        return 0.5 * (stress + stress0), 0.5 * modulus
    mean_stress = (trial.state1[first + STORED] - state0[first + STORED] + lost) / rise
    return mean_stress, (stress - mean_stress) / rise


PANELS = 40
"""Panels of Simpson's rule for the work of a strut that buckles: errors of 1e-7 of it, in the books alone."""
GONE = 40.0
"""Exponent beyond which nothing is left."""


@inner_kernel
def softened(b: int, e: float, group: RopeBars) -> tuple[float, float]:
    """Stress that a strut bears after a further shortening, and its derivative."""
    rest, first, second = group.numbers[b, RESIDUAL], group.numbers[b, FIRST], group.numbers[b, SECOND]
    root = math.sqrt(e)
    left = (group.numbers[b, CRITICAL] - rest) * math.exp(-(first + second * root) * e)
    return rest + left, -left * (first + 1.5 * second * root)


@inner_kernel
def left_shorter(b: int, e: float, group: RopeBars) -> float:
    """Shortening that stays when a strut is unloaded after a further shortening."""
    young, critical = group.numbers[b, YOUNG], group.numbers[b, CRITICAL]
    shortening: float = e + (critical - softened(b, e, group)[0]) / young
    return shortening


@inner_kernel
def softening_work(b: int, e0: float, e1: float, group: RopeBars) -> float:
    """Integral of ``softened`` between two shortenings, by the root of e, over which it is smooth."""
    rest, first, second = group.numbers[b, RESIDUAL], group.numbers[b, FIRST], group.numbers[b, SECOND]
    low, high, work = math.sqrt(e0), math.sqrt(e1), 0.0
    if first > 0.0:
        high = min(high, math.sqrt(GONE / first))
    if second > 0.0:
        high = min(high, (GONE / second) ** (1.0 / 3.0))
    step = max(high - low, 0.0) / PANELS
    for k in range(PANELS + 1):
        t = low + k * step
        part = 1.0 if k == 0 or k == PANELS else 2.0 + 2.0 * (k % 2)
        work += part * 2.0 * t * math.exp(-(first + second * t) * t * t)
    whole: float = rest * (e1 - e0) + (group.numbers[b, CRITICAL] - rest) * work * step / 3.0
    return whole


@inner_kernel
def buckling(b: int, end: float, trial: Trial, group: RopeBars) -> tuple[float, float]:
    """BUCKLING: stress (secant: mean over the increment) and modulus, which is negative where the strut softens."""
    first, young, critical = group.places[b, STATE], group.numbers[b, YOUNG], group.numbers[b, CRITICAL]
    p, e = trial.state0[first + SUM], trial.state0[first + SHORTER]
    stress, modulus, lost = young * (end - p + left_shorter(b, e, group)), young, 0.0
    held = softened(b, e, group)[0]
    if group.places[b, LOADING + 1] > 0 and stress > surface(b, 0.0, 1.0, trial, group)[0] * (1.0 + ON_SURFACE):
        x = flown(b, 1.0, stress, trial, group)
        if x != x:
            x, lost = 0.0, math.nan
        value, slope, work = surface(b, x, 1.0, trial, group)
        stress, modulus, p, lost = value, young * slope / (young + slope), p + x, lost + work
    elif -stress > held * (1.0 + ON_SURFACE):
        further = max(p - end - critical / young, e)
        value, slope = softened(b, further, group)
        lost = softening_work(b, e, further, group) + 0.5 * (held - value) * (held + value) / young
        stress, modulus, e = -value, slope, further
    elif sets_out(trial, group) and e > 0.0 and -stress > held * (1.0 - ON_SURFACE):
        modulus = softened(b, e, group)[1]
    remember(first, end, p, e, lost, stress, 0.5 * stress * stress / young, trial)
    return of_increment(first, end, stress, modulus, lost, trial)
