"""What the rope laws act on: bars, their numbers, tables and branches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.forces.bars import bar
from fem.forces.bars.strain import MEASURES
from fem.forces.springs import Curve, table_rows

MEASURE, BASE, LAW, TENSION_ONLY = 0, 1, 2, 3
"""Columns of ``RopeBars.kinds``."""
STRAIGHT, ELASTIC, SHIFTED, SCALED = 0, 1, 2, 3
"""BASE, the quasi-static curve: a modulus; a table; tables of loading and unloading, that shifted or scaled."""
TABLE, PRONY, LAGGING = 0, 1, 2
"""LAW: nothing but the base; with branches beside it; with a dynamic stiffness before it."""
LOADING, UNLOADING, BRANCH, STATE = 0, 2, 4, 6
"""Columns of ``RopeBars.places``: first and count of table rows (loading, unloading) and branches; first state."""
INVERSE, AREA, GAP, ALONG, YOUNG, RATIO, SHAPE, CONSTANT, SLOPE, VISCOSITY, STARTING, FLOOR = 0, 1, 2, 3, *range(6, 14)
INSTANT, THERE = 14, 15
NUMBERS = 16
"""Columns of ``RopeBars.numbers``: 1/L0, area, gap (|D|^2 - L0^2)/2 of the reference, D (3), modulus, permanent over
largest strain, area below the scaled unloading curve, dynamic stiffness (3), starting tension, least modulus,
that of sudden changes, 0 for a bar that is gone."""
STRAIN, LARGEST, SLOW, LOST, STRESS, STORED, PULL = 0, 1, 2, 3, 4, 5, 6
"""States: strain of the material (more than that of a slack bar), the largest of its quasi-static strains, the present
one, energy lost and stored (over the volume) and stress; then the stress of each branch."""
FAR = 1e3
"""Strain of the row that stands for the last slope of a table that goes on."""


class RopeBars(NamedTuple):
    """q bars.

    nodes (q, 2), elements (q,), kinds (q, 4), places (q, 7), numbers (q, NUMBERS): as the names of columns say
    table (rows, 3)  strain, stress, energy;  branches (b, 2)  modulus, time;  start (s,) states at first
    first            number of the first pair;  creeps: statics in which time passes (1, ``*VISCO``), or not
    """

    nodes: Ints
    elements: Ints
    kinds: Ints
    places: Ints
    numbers: Floats
    table: Floats
    branches: Floats
    start: Floats
    first: int
    creeps: int


class Prepared(NamedTuple):
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
    """With a last row far away, on the last slope."""
    (s0, e0), (s1, e1) = curve[-2:]
    return (*curve, (s1 + (s1 - s0) / (e1 - e0) * (FAR - e1), FAR))


def prepared(material: Any) -> Prepared:
    """Numbers of a material with a rope law."""
    none, branches = list[tuple[float, float, float]](), np.zeros((0, 2))
    given, lag, law = material.uniaxial, (0.0, 0.0, 0.0), TABLE
    if material.dynamic is not None:
        lag, law = (material.dynamic.constant, material.dynamic.slope, material.dynamic.viscosity), LAGGING
    if given is None:
        young = material.static_modulus
        if material.viscoelastic is not None:
            law, (young, branches) = PRONY, series_of(material)
        return Prepared(STRAIGHT, law, (young, 0.0, 0.0), none, none, branches, lag)
    loading = going_on(given.loading) if given.is_extended or material.dynamic else given.loading
    if given.loading[0][1] >= 0.0 and not given.definition and material.compression_ratio == 1.0:
        loading = (*((-stress, -strain) for stress, strain in loading[:0:-1]), *loading)
    base, ratio, shape, unloading = of_unloading(given)
    return Prepared(base, law, (0.0, ratio, shape), table_rows(loading), unloading, branches, lag)


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
    found, kinds, places, numbers = list[Ints](), list[Ints](), list[Ints](), list[Floats]()
    rows, branches = list[tuple[float, float, float]](), [np.zeros((0, 2))]
    for section in model.sections:
        material = model.materials[section.material]
        elements = model.mesh.element_sets[section.element_set]
        if not material.has_rope_law or not len(elements):
            continue
        ready, bars = prepared(material), system.bar_index[elements]
        of_bars = system.bars.constants[:, bars]
        counts = len(ready.loading), len(ready.unloading), len(ready.branches)
        begin = len(rows), len(rows) + counts[0], sum(map(len, branches))
        rows += ready.loading + ready.unloading
        branches.append(ready.branches)
        kind = MEASURES[section.strain], ready.base, ready.law, int(material.compression_ratio == 0.0)
        place = begin[0], counts[0], begin[1], counts[1], begin[2], counts[2], 0
        own = np.zeros((len(elements), NUMBERS))
        own[:, INVERSE], own[:, GAP] = of_bars[bar.INV_LENGTH], of_bars[bar.BASE_CONSTANT]
        own[:, AREA], own[:, THERE] = of_bars[bar.AREA], ~system.gone[elements]
        own[:, ALONG : ALONG + 3] = of_bars[bar.REF : bar.REF + 3].T
        own[:, YOUNG : VISCOSITY + 1], own[:, STARTING] = (*ready.numbers, *ready.dynamic), of_bars[bar.STARTING]
        own[:, INSTANT] = of_bars[bar.YOUNG]
        found.append(elements)
        kinds.append(np.tile(kind, (len(elements), 1)))
        places.append(np.tile(place, (len(elements), 1)))
        numbers.append(own)
    elements = np.concatenate([np.zeros(0, np.int64), *found])
    all_places = np.concatenate([np.zeros((0, 7), np.int64), *places])
    remembered = PULL + all_places[:, BRANCH + 1]
    all_places[:, STATE] = state + np.cumsum(remembered) - remembered
    return RopeBars(
        np.ascontiguousarray(system.element_nodes[elements]),
        elements,
        np.concatenate([np.zeros((0, 4), np.int64), *kinds]),
        all_places,
        np.concatenate([np.zeros((0, NUMBERS)), *numbers]),
        np.array(rows, float).reshape(-1, 3),
        np.concatenate(branches),
        np.zeros(int(remembered.sum())),
        pair,
        0,
    )
