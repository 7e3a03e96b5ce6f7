"""The quasi-static curve of a rope: stress over strain, and what it remembers of the largest strain.

SHIFTED: below the largest strain K the unloading curve U, through the origin, is shifted along the strain until it
meets the loading curve F at K: stress U(x - p), U(K - p) = F(K); p(K) is the permanent strain. SCALED: the unloading
curve is scaled in both directions: stress F(K) G((x - p)/(K - p)), p = ratio K. Reloading goes the same way back.
What is stored is the area below the unloading curve; the rest of the area below F is lost while K grows:
lost(K) = area of F up to K - area of the unloading curve up to K.
Source: Abaqus 2016, Analysis User's Guide, 23.4.1 (uniaxial behaviour of fabrics).
"""

from __future__ import annotations

import math

from fem.arrays import Floats
from fem.compiled import inner_kernel, kernel
from fem.forces.bars.laws import table_point, table_segment
from fem.forces.bars.strain import measure
from fem.forces.ropelaws.group import (
    ALONG,
    BASE,
    GAP,
    INVERSE,
    LAW,
    LOADING,
    MEASURE,
    RATIO,
    SHAPE,
    SHIFTED,
    STRAIGHT,
    TABLE,
    TENSION_ONLY,
    UNLOADING,
    YOUNG,
    RopeBars,
)

BELOW = 1_000_000
"""Added to the number of a segment of the unloading curve."""


@inner_kernel
def inverse(stress: float, first: int, count: int, table: Floats) -> float:
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
def set_strain(b: int, largest: float, own: RopeBars) -> float:
    """Strain at which no quasi-static stress is left, after the largest strain."""
    kind = own.kinds[b, BASE]
    if kind < SHIFTED or largest <= 0.0:
        return 0.0
    if kind == SHIFTED:
        stress = table_point(largest, own.places[b, LOADING], own.places[b, LOADING + 1], own.table)[0]
        permanent: float = largest - inverse(stress, own.places[b, UNLOADING], own.places[b, UNLOADING + 1], own.table)
        return permanent
    ratio: float = own.numbers[b, RATIO]
    return ratio * largest


@inner_kernel
def recoverable(b: int, largest: float, stress: float, own: RopeBars) -> float:
    """Energy stored where unloading begins, with that stress."""
    first, count = own.places[b, UNLOADING], own.places[b, UNLOADING + 1]
    if own.kinds[b, BASE] == SHIFTED:
        energy: float = table_point(inverse(stress, first, count, own.table), first, count, own.table)[2]
        return energy
    shape: float = own.numbers[b, SHAPE]
    return stress * (largest - set_strain(b, largest, own)) * shape


@inner_kernel
def lost_so_far(b: int, largest: float, own: RopeBars) -> float:
    """Energy over the volume that has been lost when the largest strain was reached."""
    if own.kinds[b, BASE] < SHIFTED or largest <= 0.0:
        return 0.0
    stress, _, energy = table_point(largest, own.places[b, LOADING], own.places[b, LOADING + 1], own.table)
    lost: float = energy - recoverable(b, largest, stress, own)
    return lost


@inner_kernel
def quasi_static(b: int, x: float, largest: float, own: RopeBars) -> tuple[float, float, float, int]:
    """Stress, slope and stored energy at a strain, and a number of the straight piece it lies on."""
    kind, table = own.kinds[b, BASE], own.table
    if kind == STRAIGHT:
        young = own.numbers[b, YOUNG]
        return young * x, young, 0.5 * young * x * x, 0
    first, count = own.places[b, LOADING], own.places[b, LOADING + 1]
    below = kind >= SHIFTED and x < largest
    top, slope, energy = table_point(largest if below else x, first, count, table)
    if kind < SHIFTED or not below:
        piece = table_segment(x, first, count, table)
        return top, slope, energy if kind < SHIFTED else recoverable(b, x, top, own) if x > 0.0 else 0.0, piece
    first, count = own.places[b, UNLOADING], own.places[b, UNLOADING + 1]
    permanent = set_strain(b, largest, own)
    if largest <= 0.0 or x <= permanent:
        return 0.0, 0.0, 0.0, -BELOW
    if kind == SHIFTED:
        stress, slope, energy = table_point(x - permanent, first, count, table)
        return stress, slope, energy, BELOW + table_segment(x - permanent, first, count, table)
    span = largest - permanent
    share = (x - permanent) / span
    stress, slope, energy = table_point(share, first, count, table)
    return top * stress, top * slope / span, top * span * energy, BELOW + table_segment(share, first, count, table)


@inner_kernel
def green_strain(b: int, wx: float, wy: float, wz: float, own: RopeBars) -> float:
    """Of a bar whose end 2 has moved by w against its end 1."""
    along = own.numbers[b, ALONG] * wx + own.numbers[b, ALONG + 1] * wy + own.numbers[b, ALONG + 2] * wz
    green: float = own.numbers[b, INVERSE] ** 2 * (own.numbers[b, GAP] + along + 0.5 * (wx * wx + wy * wy + wz * wz))
    return green


@kernel
def rest_of(own: RopeBars, b: int, u: Floats, past: float) -> tuple[float, float, float, float, float, float]:
    """States of a relaxed bar at displacement u that has borne the stress ``past``: STRAIN to STORED."""
    i, j = 3 * own.nodes[b, 0], 3 * own.nodes[b, 1]
    green = green_strain(b, u[j] - u[i], u[j + 1] - u[i + 1], u[j + 2] - u[i + 2], own)
    strain = measure(own.kinds[b, MEASURE], green, green, 0.0, 0.0)[1]
    largest = max(strain, 0.0)
    if own.kinds[b, BASE] >= SHIFTED and past > 0.0:
        largest = max(largest, inverse(past, own.places[b, LOADING], own.places[b, LOADING + 1], own.table))
    if own.kinds[b, TENSION_ONLY] == 1 and own.kinds[b, LAW] != TABLE:
        strain = max(strain, set_strain(b, largest, own))
    stress, _, stored, _ = quasi_static(b, strain, largest, own)
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
