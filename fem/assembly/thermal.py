"""Thermal strain of bars from nodal temperatures."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.assembly.system import System
from fem.model import Expansion


def coefficient(expansion: Expansion, temperature: Floats) -> Floats:
    """alpha at given temperatures: linear between the rows, constant outside."""
    rows = np.array(expansion.rows, float)
    order = np.argsort(rows[:, 1], kind="stable")
    return np.asarray(np.interp(temperature, rows[order, 1], rows[order, 0]))


def thermal_strain(system: System, temperature: Floats, initial: Floats) -> Floats:
    """(k, m) thermal strain of the bars for nodal temperatures (k, n) that started from ``initial`` (n,).

    e_th = alpha(T) (T - ZERO) - alpha(T_0) (T_0 - ZERO), T the mean of both ends, as Abaqus defines it.
    """
    strain = np.zeros((temperature.shape[0], len(system.bars.nodes)))
    for bars, expansion in system.expansions:
        i, j = system.bars.nodes[bars, 0], system.bars.nodes[bars, 1]
        now = 0.5 * (temperature[:, i] + temperature[:, j])
        start = 0.5 * (initial[i] + initial[j])
        strain[:, bars] = coefficient(expansion, now) * (now - expansion.zero)
        strain[:, bars] -= coefficient(expansion, start) * (start - expansion.zero)
    return strain
