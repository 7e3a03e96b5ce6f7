"""The local error of an increment: what its displacements differ by from those of a scheme of one order more.

With a(t) the acceleration, j its rate and theta dt the time by which the scheme's accelerations lag (averaged forces),
Taylor's expansion gives the displacement error of one increment, and h times the velocity error, as

    e = dt^2 |k - 1/2| |a_n| + C dt^2 |a_{n+1} - a_n| / (1 + theta (1 - h/dt)),      h: the increment before,
    k = (1 - AA)/AU,   theta = WC - WM,   C = |(1 + theta (1 - AA))/AU - 1/6| + |VU/AU + theta - 1/2|

For the trapezoidal rule this is dt^2/12 (a_{n+1} - a_n), of order dt^3; backward Euler has k = 1 and order dt^2.
beta = 1/6, whose displacement error is one order smaller, counts with the constant of the trapezoidal rule.
The largest component of e is compared with TIME ERROR times the largest displacement since the start of the step.

Source: Zienkiewicz & Xie, Earthquake Eng. Struct. Dyn. 20 (1991) 871-887, there for Newmark's family (beta - 1/6);
lag of accelerations: Erlicher, Bonaventura & Bursi, Comput. Mech. 28 (2002) 83-104.
"""

from __future__ import annotations

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel
from fem.solve.newton.groups import (
    CHANGE,
    EXPONENT,
    LAG,
    LAST_DT,
    LEAD,
    LEAST_SIZE,
    LEVEL,
    SHORTEST,
    SIZE,
    TIME_ERROR,
    Motion,
    Nodes,
    Scratch,
)  # fmt: skip
from fem.solve.schemes.coefficients import Coefficients

FADING = 0.95
"""Fraction of the level of errors that is remembered from one increment to the next: the rate of acceleration passes
through zero twice a period, where increments must not grow."""


def error_constants(row: Coefficients) -> tuple[float, float, float, float]:
    """|k - 1/2|, C, theta and the power of dt the estimate goes with, from the coefficients of a scheme."""
    lead = float((1.0 - row.aa) / row.au - 0.5)
    lead = abs(lead) if abs(lead) > 1e-9 else 0.0
    lag = float(row.wc - row.wm)
    shift = abs((1.0 + lag * (1.0 - row.aa)) / row.au - 1.0 / 6.0)
    change = float(max(shift, 1.0 / 12.0) + abs(row.vu / row.au + lag - 0.5))
    return lead, change, lag, 2.0 if lead else 3.0


@inner_kernel
def largest_error(limits: Floats, dt: float, last_dt: float, is_open: Floats, old: Floats, new: Floats) -> float:
    """Largest component of e at free dofs; old, new: accelerations of the recursion."""
    lead = limits[LEAD]
    change = limits[CHANGE] / (1.0 + limits[LAG] * (1.0 - last_dt / dt))
    value = 0.0
    for dof in range(old.shape[0]):
        value = max(value, is_open[dof] * (lead * abs(old[dof]) + change * abs(new[dof] - old[dof])))
    return dt * dt * value


@called_kernel
def is_too_long(
    scheme: Coefficients, limits: Floats, dt: float, nodes: Nodes, motion: Motion, work: Scratch
) -> tuple[bool, bool]:
    """Whether the increment must be taken again, shorter; and whether its error is too large, be it as it may.

    The level is the error over the allowed one over dt^p; its memory goes on where the increment stands.
    """
    memory = motion.memory
    size = max(memory[SIZE], limits[LEAST_SIZE])
    for dof in range(work.u.shape[0]):
        size = max(size, abs(work.u[dof] - motion.origin[dof]))
    old, new = (motion.lagged, work.lagged) if scheme.lags else (motion.a, work.a)
    error = largest_error(limits, dt, memory[LAST_DT], nodes.mask, old, new) / (limits[TIME_ERROR] * size)
    level = error / dt ** limits[EXPONENT]
    if error > 1.0 and dt > limits[SHORTEST]:
        memory[LEVEL] = max(level, memory[LEVEL])
        return True, True
    memory[LEVEL] = max(level, FADING * memory[LEVEL])
    memory[SIZE], memory[LAST_DT] = size, dt
    return False, error > 1.0
