"""A family of a file that couples the two nodes of bars: a steady wind, which pushes across a bar and lifts it.

With the bar d = x_j - x_i and the velocity w of its middle against that of the air, each of its nodes feels

    f = - DRAG (d.d w - d.w d) / 2  -  LIFT d x w / 2

None of it comes from a stored energy, and its tangent is not symmetric. The bars of the set WINDY feel it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel
from fem.forces.protocol import Family, Tangent, Trial

DRAG, LIFT = 0.9, 0.4
AIR = (0.8, 0.5, -0.3)


class Wind(NamedTuple):
    """nodes (q, 2) of the bars, place (q, 3) d in the reference state, first of their pairs."""

    nodes: Ints
    place: Floats
    first: int


def assemble(model: Any, system: Any, pair: int, state: int) -> Wind:
    """The bars of a model that the wind meets."""
    elements = model.mesh.element_sets.get("WINDY", np.zeros(0, np.int64))
    nodes = np.ascontiguousarray(system.element_nodes[elements])
    return Wind(nodes, system.coordinates[nodes[:, 1]] - system.coordinates[nodes[:, 0]], pair)


@called_kernel
def evaluate(trial: Trial, own: Wind, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents; nothing is stored."""
    u0, u1, v1 = trial.u0, trial.u1, trial.v1
    for q in range(own.nodes.shape[0]):
        ends = own.nodes[q]
        i, j = 3 * ends[0], 3 * ends[1]
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            da, db, dc = own.place[q, a], own.place[q, b], own.place[q, c]
            wa, wb, wc = -AIR[a], -AIR[b], -AIR[c]
            if trial.secant:
                da += 0.5 * (u0[j + a] - u0[i + a] + u1[j + a] - u1[i + a])
                db += 0.5 * (u0[j + b] - u0[i + b] + u1[j + b] - u1[i + b])
                dc += 0.5 * (u0[j + c] - u0[i + c] + u1[j + c] - u1[i + c])
                wa += 0.5 * trial.rate * (u1[j + a] - u0[j + a] + u1[i + a] - u0[i + a])
                wb += 0.5 * trial.rate * (u1[j + b] - u0[j + b] + u1[i + b] - u0[i + b])
                wc += 0.5 * trial.rate * (u1[j + c] - u0[j + c] + u1[i + c] - u0[i + c])
            else:
                da, db, dc = da + u1[j + a] - u1[i + a], db + u1[j + b] - u1[i + b], dc + u1[j + c] - u1[i + c]
                if trial.rate != 0.0:
                    wa, wb, wc = (
                        wa + 0.5 * (v1[j + a] + v1[i + a]),
                        wb + 0.5 * (v1[j + b] + v1[i + b]),
                        wc + 0.5 * (v1[j + c] + v1[i + c]),
                    )
            along = da * wa + db * wb + dc * wc
            square = da * da + db * db + dc * dc
            value = 0.5 * (DRAG * (square * wa - along * da) + LIFT * (db * wc - dc * wb))
            for end in range(2):
                force[3 * ends[end] + a] += value
                if flow.shape[0] > 0:
                    flow[3 * ends[end] + a] += value
            if tangent.block.shape[0] == 0:
                continue
            share = 0.5 * trial.weight * (0.5 if trial.secant else 1.0)
            turn = 0.25 * trial.weight * trial.rate
            for k in range(3):  # by d, then by w: their components in the order a, b, c
                d = da if k == 0 else db if k == 1 else dc
                w = wa if k == 0 else wb if k == 1 else wc
                by_d = DRAG * (2.0 * d * wa - w * da - (along if k == 0 else 0.0))
                by_d += LIFT * (0.0 if k == 0 else wc if k == 1 else -wb)
                by_w = DRAG * ((square if k == 0 else 0.0) - d * da) + LIFT * (0.0 if k == 0 else -dc if k == 1 else db)
                place = 3 * a + (a + k) % 3
                for end in range(2):
                    side = share * by_d if end == 1 else -share * by_d
                    tangent.block[ends[end], place] += side + turn * by_w
                    tangent.cross[own.first + q, 9 * end + place] += turn * by_w - side
    return 0.0


WIND = Family("wind", assemble, evaluate, pairs=lambda own: own.nodes, symmetric=False)
