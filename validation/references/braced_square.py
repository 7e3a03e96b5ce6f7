"""SSNL105A in full geometry: a pinned square with two tension-only diagonals, as five equations in five unknowns.

Nodes 01 (0,0) fixed, 02 (0,1), 03 (1,1) loaded by F along x, 04 (1,0) free along x only. GREEN bars,
N = E A (l^2 - L0^2)/(2 L0^2), cut off at zero in compression for the diagonals; force vectors N d/L0.
Source of the problem: Code_Aster astest/ssnl105a.comm; the equations are statics of pin-jointed bars.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import root

NODES = {"01": (0.0, 0.0), "02": (0.0, 1.0), "03": (1.0, 1.0), "04": (1.0, 0.0)}
BARS = ("01-02", "02-03", "03-04", "04-01", "01-03", "04-02")
CABLES = ("01-03", "04-02")
FREE = (("02", 0), ("02", 1), ("03", 0), ("03", 1), ("04", 0))


def solve(force: float, axial_stiffness: float) -> dict[str, float]:
    """N (conjugate to Green strain) of the six members under ``force`` at node 03."""

    def state(unknown):  # type: ignore[no-untyped-def]
        u = {node: np.zeros(2) for node in NODES}
        for (node, axis), value in zip(FREE, unknown, strict=True):
            u[node][axis] = value
        balance = {node: np.zeros(2) for node in NODES}
        balance["03"][0] = force
        normal = {}
        for bar in BARS:
            i, j = bar.split("-")
            reference, w = np.subtract(NODES[j], NODES[i]), u[j] - u[i]
            length0 = np.linalg.norm(reference)
            n = axial_stiffness * (reference @ w + w @ w / 2) / length0**2  # l^2 - L0^2 without cancellation
            n = max(n, 0.0) if bar in CABLES else n
            normal[bar] = float(n)
            balance[i] += n * (reference + w) / length0
            balance[j] -= n * (reference + w) / length0
        return np.array([balance[node][axis] for node, axis in FREE]), normal

    scale = force / axial_stiffness
    # Start: small-displacement solution of the braced square with the pulled diagonal alone.
    start = scale * np.array([1 + 2 * np.sqrt(2), 0.0, 1 + 2 * np.sqrt(2), -1.0, 0.0])
    found = root(lambda y: state(y * scale)[0] / force, start / scale, tol=1e-14)
    if np.abs(found.fun).max() > 1e-10:
        raise RuntimeError(f"no equilibrium found: {found.message}")
    return dict(state(found.x * scale)[1])
