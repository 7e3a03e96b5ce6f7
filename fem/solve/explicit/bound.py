"""Bounds of the stiffness of nodes, from which ``driver`` and ``blocks`` bound the fastest frequency."""

from __future__ import annotations

import math

from fem.arrays import Floats
from fem.compiled import inner_kernel, kernel
from fem.solve.newton.groups import Nodes


@inner_kernel
def largest_eigenvalue(a: float, b: float, c: float, ab: float, ac: float, bc: float) -> float:
    """Largest eigenvalue of the symmetric matrix [a ab ac; ab b bc; ac bc c]. Source: Smith, Comm. ACM 4 (1961) 168."""
    mean = (a + b + c) / 3.0
    a, b, c = a - mean, b - mean, c - mean
    size = math.sqrt((a * a + b * b + c * c + 2.0 * (ab * ab + ac * ac + bc * bc)) / 6.0)
    if size == 0.0:
        return mean
    determinant = a * (b * c - bc * bc) - ab * (ab * c - bc * ac) + ac * (ab * bc - b * ac)
    angle = math.acos(min(max(0.5 * determinant / size**3, -1.0), 1.0)) / 3.0
    return mean + 2.0 * size * math.cos(angle)


@kernel
def fraction_of(other: int, nodes: Nodes) -> float:
    """2 if the other node can move, else 1; ``other`` is its first dof."""
    for c in range(3):
        if nodes.dof_kind[other + c] != 0:
            return 2.0
    return 1.0


@inner_kernel
def square_of_node(i: int, inverse: Floats, xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> float:
    """Largest omega^2 of node i with this stiffness and the inverse (3n,) of its mass."""
    x, y, z = math.sqrt(inverse[3 * i]), math.sqrt(inverse[3 * i + 1]), math.sqrt(inverse[3 * i + 2])
    return largest_eigenvalue(x * x * xx, y * y * yy, z * z * zz, x * y * xy, x * z * xz, y * z * yz)
