"""A pendulum or a falling chain in JAX, many at once: ``python -m benchmarks.peer_jax JOB FIRST LAST ROWS RELATIVE``.

JOB is M1 (over the period), M1D (over the duration) or M2 (over EA) of ``many.py``. What fem does is done for each row:
trapezoidal rule, Newton's method to fem's criterion (docs/theory/solvers.md), energies and their largest error,
extremes of the tip and of the first bar's tension. Bars of Green strain hang in a plane from a pin. Numbers of a row
are scalars, rows are vectors: ``vmap`` in batches that stay in the cache, one after the other (``lax.map``). The loop
of Newton's method ends when all rows of a batch have converged; those that have keep their values. One thread, float64.

RELATIVE is the residual over the largest of the forces with which an increment is done.

``python -m benchmarks.peer_jax gradients BARS DT INCREMENTS EA DENSITY LENGTH FILE``: a motion of ``gradients.py`` and
its derivatives, by forward differentiation of all iterations (``jacfwd``); one more than the criterion asks for, as
derivatives are one behind.

Prints the seconds of processor time of the computation (the middle one of three) and of its compilation, numbers of
the first and the last row.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.process import report

GRAVITY, MOST, SHORTEST = 9.81, 16, 1e-9
"""MOST: iterations of an increment; SHORTEST: seconds left that are an increment."""
BATCH = {"M1": 1000, "M1D": 1000, "M2": 128}
PASSES = 3
Number = Any
"""Traced."""
Numbers = tuple[Number, ...]
"""Of each dof: x of all nodes, then z."""


class State(NamedTuple):
    """Motion of a row; least and greatest U1, U3 of the tip and T of the first bar; largest energy; solves so far."""

    x: Numbers
    v: Numbers
    a: Numbers
    least: Numbers
    greatest: Numbers
    error: Number
    solves: Number


@dataclass(frozen=True)
class Chain:
    """Bars of one ``length`` and EA ``modulus``; ``masses`` at their ends, from the pin outwards; the criterion, and
    iterations beyond it."""

    length: Number
    masses: tuple[Number, ...]
    modulus: Number
    relative: float
    beyond: int = 0

    @property
    def bars(self) -> int:
        return len(self.masses)

    @property
    def mass(self) -> Numbers:
        return (*self.masses, *self.masses)

    @property
    def load(self) -> Numbers:
        return (*[0.0] * self.bars, *[-GRAVITY * mass for mass in self.masses])

    def pulls(self, x: Numbers) -> list[tuple[Number, Number, Number]]:
        """N/L and the direction times the length of each bar."""
        places = [(0.0, 0.0), *zip(x[: self.bars], x[self.bars :], strict=True)]
        found, square = [], self.length * self.length
        for (x0, z0), (x1, z1) in pairwise(places):
            dx, dz = x1 - x0, z1 - z0
            found.append((self.modulus * (dx * dx + dz * dz - square) / (2.0 * square) / self.length, dx, dz))
        return found

    def internal(self, pulls: Sequence[tuple[Number, Number, Number]]) -> Numbers:
        """Forces of the bars on the nodes, their signs turned."""
        fx, fz = [n * dx for n, dx, _ in pulls], [n * dz for n, _, dz in pulls]
        return tuple(here - beyond for f in (fx, fz) for here, beyond in zip(f, [*f[1:], 0.0], strict=True))

    def tension(self, x: Numbers) -> Number:
        n, dx, dz = self.pulls(x)[0]
        return n * jnp.sqrt(dx * dx + dz * dz)

    def energies(self, x: Numbers, v: Numbers) -> Numbers:
        """Kinetic, strain, potential."""
        strain = sum(0.5 * self.length**3 * n * n / self.modulus for n, _, _ in self.pulls(x))
        kinetic = sum(0.5 * mass * rate * rate for mass, rate in zip(self.mass, v, strict=True))
        return kinetic, strain, -sum(load * place for load, place in zip(self.load, x, strict=True))

    def correction(self, x: Numbers, residual: Numbers, inertia: Number) -> Numbers:
        """Solution with the effective tangent, ``inertia`` times masses on its diagonal: blocks (a, b; b, d), from the
        pin outwards and back. The block of bar e couples nodes e - 1 and e with its sign turned."""
        steep = self.modulus / self.length**3
        blocks = [(n + steep * dx * dx, steep * dx * dz, n + steep * dz * dz) for n, dx, dz in self.pulls(x)]
        inverse: list[Numbers] = []
        right: list[Numbers] = []
        for i, mass in enumerate(self.masses):
            beyond = blocks[i + 1] if i + 1 < self.bars else (0.0, 0.0, 0.0)
            a, b, d = (here + more for here, more in zip(blocks[i], beyond, strict=True))
            a, d, rx, rz = a + inertia * mass, d + inertia * mass, residual[i], residual[self.bars + i]
            if i:
                (p, q, s), (gx, gz), (oa, ob, od) = inverse[-1], right[-1], blocks[i]
                w = oa * p + ob * q, oa * q + ob * s, ob * p + od * q, ob * q + od * s
                a, b, d = a - w[0] * oa - w[1] * ob, b - w[0] * ob - w[1] * od, d - w[2] * ob - w[3] * od
                rx, rz = rx + w[0] * gx + w[1] * gz, rz + w[2] * gx + w[3] * gz
            scale = 1.0 / (a * d - b * b)
            inverse.append((d * scale, -b * scale, a * scale))
            right.append((rx, rz))
        found, ux, uz = [], 0.0, 0.0
        for i in reversed(range(self.bars)):
            (a, b, d), (rx, rz) = inverse[i], right[i]
            if i + 1 < self.bars:
                oa, ob, od = blocks[i + 1]
                rx, rz = rx + oa * ux + ob * uz, rz + ob * ux + od * uz
            ux, uz = a * rx + b * rz, b * rx + d * rz
            found.append((ux, uz))
        return tuple(part for axis in zip(*reversed(found), strict=True) for part in axis)


def largest(values: Sequence[Number]) -> Number:
    return reduce(jnp.maximum, map(jnp.abs, values))


def advance(chain: Chain, state: State, dt: Number) -> State:
    """One increment."""
    rate, curve, old = 4.0 / dt, 4.0 / (dt * dt), (state.x, state.v, state.a)

    def acceleration(x: Numbers) -> Numbers:
        return tuple(curve * (y - x0) - rate * v0 - a0 for y, x0, v0, a0 in zip(x, *old, strict=True))

    def residual(x: Numbers) -> tuple[Numbers, Number]:
        """The residual, and the largest part of it over its limit."""
        pulls = chain.pulls(x)
        forces, (n, dx, dz) = chain.internal(pulls), pulls[0]
        inertia = tuple(m * a for m, a in zip(chain.mass, acceleration(x), strict=True))
        left = tuple(p - i - f for p, i, f in zip(chain.load, inertia, forces, strict=True))
        moments = [rate * m * v for m, v in zip(chain.mass, state.v, strict=True)]
        sizes = [*forces, *chain.load, *inertia, n * dx, n * dz, *moments]
        return left, largest(left) / (chain.relative * largest(sizes))

    def iterate(carried: tuple[Any, ...]) -> tuple[Any, ...]:
        x, left, _, count = carried
        x = tuple(y + u for y, u in zip(x, chain.correction(x, left, curve), strict=True))
        return x, *residual(x), count + 1

    guess = tuple(x0 + dt * v0 + 0.5 * dt * dt * a0 for x0, v0, a0 in zip(*old, strict=True))
    begun = guess, *residual(guess), jnp.zeros((), jnp.int32)
    done = jax.lax.while_loop(lambda c: (c[2] > 1.0) & (c[3] < MOST), iterate, begun)
    for _ in range(chain.beyond):
        done = iterate(done)
    x, _, _, count = done
    a = acceleration(x)
    v = tuple(v0 + 0.5 * dt * (a0 + a1) for v0, a0, a1 in zip(state.v, state.a, a, strict=True))
    shown = watched(chain, x)
    return State(
        x, v, a, tuple(map(jnp.minimum, state.least, shown)), tuple(map(jnp.maximum, state.greatest, shown)),
        jnp.maximum(state.error, jnp.abs(sum(chain.energies(x, v)))), state.solves + count,
    )  # fmt: skip


def watched(chain: Chain, x: Numbers) -> Numbers:
    """U1, U3 of the tip, T of the first bar."""
    return x[chain.bars - 1] - chain.bars * chain.length, x[-1], chain.tension(x)


def start_of(chain: Chain) -> State:
    """Let go from the horizontal."""
    zero, count = 0.0 * chain.modulus, chain.bars
    return State(
        tuple(zero + x for x in (*[chain.length * (i + 1) for i in range(count)], *[0.0] * count)),
        (zero,) * 2 * count, (*[zero] * count, *[zero - GRAVITY] * count), (zero,) * 3, (zero,) * 3, zero,
        jnp.zeros((), jnp.int32),
    )  # fmt: skip


def run(chain: Chain, dt: Number, increments: int, end: Number | None = None) -> dict[str, Number]:
    """A row. With an ``end`` the last increment is shorter, and there are none beyond."""
    count = chain.bars

    def one(state: State, k: Number) -> tuple[State, None]:
        if end is None:
            return advance(chain, state, dt), None
        left = end - k * dt
        new = advance(chain, state, jnp.where(left > SHORTEST, jnp.minimum(dt, left), dt))
        return jax.tree_util.tree_map(lambda after, before: jnp.where(left > SHORTEST, after, before), new, state), None

    state, _ = jax.lax.scan(one, start_of(chain), jnp.arange(increments))
    kinetic, strain, potential = chain.energies(state.x, state.v)
    found = {"kinetic_end": kinetic, "strain_end": strain, "potential_end": potential, "solves": state.solves}
    names = f"U1_{count + 1}", f"U3_{count + 1}", "T_1"
    for name, *values in zip(names, watched(chain, state.x), state.least, state.greatest, strict=True):
        found |= {f"{name}_{what}": value for what, value in zip(("end", "min", "max"), values, strict=True)}
    return found | {"energy_error_largest": state.error}


def swing(period: Number, relative: float) -> dict[str, Number]:
    """M1: one and a half periods."""
    return run(Chain(1.0, (0.5,), 1e8 + 0.0 * period, relative), period / 400, 600)


def swing_for(duration: Number, relative: float) -> dict[str, Number]:
    """M1D: up to one and a half periods."""
    return run(Chain(1.0, (0.5,), 1e8 + 0.0 * duration, relative), 2.36784 / 400, 600, duration)


def fall(modulus: Number, relative: float) -> dict[str, Number]:
    """M2."""
    return run(Chain(0.1, (0.1,) * 9 + (0.05,), modulus, relative), 0.002, 200)


JOBS = {"M1": swing, "M1D": swing_for, "M2": fall}


def measure(job: str, values: np.ndarray, relative: float) -> dict[str, Any]:
    """Seconds of the rows of these values, and what they give."""
    jax.config.update("jax_enable_x64", True)
    batch = min(len(values), BATCH[job])
    rows = jnp.asarray(np.resize(values, (-(-len(values) // batch), batch)))
    each = jax.vmap(lambda value: JOBS[job](value, relative))
    began = time.process_time()
    program = jax.jit(lambda batches: jax.lax.map(each, batches)).lower(rows).compile()
    compiling, seconds = time.process_time() - began, []
    for _ in range(PASSES):
        began = time.process_time()
        table = {name: np.asarray(column).ravel() for name, column in program(rows).items()}
        seconds.append(time.process_time() - began)
    first, last = ({name: float(column[row]) for name, column in table.items()} for row in (0, len(values) - 1))
    spent = sorted(seconds)[PASSES // 2]
    return {"seconds": spent, "start": compiling, "version": jax.__version__, "first": first, "last": last}


def motion(by: Number, bars: int, dt: float, increments: int, beyond: int) -> Number:
    """(increments, 3) U1, U3 of the tip and T of the first bar, for EA, density and length of the whole."""
    modulus, density, whole = by
    mass = density * whole / bars
    chain = Chain(whole / bars, (mass,) * (bars - 1) + (0.5 * mass,), modulus, 1e-13, beyond)

    def one(state: State, _: Number) -> tuple[State, Number]:
        state = advance(chain, state, dt)
        return state, jnp.stack(watched(chain, state.x))

    return jax.lax.scan(one, start_of(chain), None, length=increments)[1]


def differentiate(bars: int, dt: float, increments: int, values: Sequence[float], path: str) -> dict[str, Any]:
    """Seconds of a motion, and of it with its derivatives, which are written to a file (increments, 3, 4)."""
    jax.config.update("jax_enable_x64", True)
    by, spent = jnp.array(values), {}

    def both(by: Number) -> tuple[Number, Number]:
        found = motion(by, bars, dt, increments, 1)
        return found, found

    programs = {
        "without": jax.jit(lambda by: motion(by, bars, dt, increments, 0)),
        "with": jax.jit(jax.jacfwd(both, has_aux=True)),
    }
    programs = {name: program.lower(by).compile() for name, program in programs.items()}
    for name, program in programs.items():
        seconds = []
        for _ in range(PASSES):
            began = time.process_time()
            found = jax.block_until_ready(program(by))
            seconds.append(time.process_time() - began)
        spent[name] = sorted(seconds)[PASSES // 2]
    slopes, own = found
    np.save(path, np.concatenate([np.asarray(own)[..., None], np.asarray(slopes)], axis=-1))
    return {**spent, "version": jax.__version__}


if __name__ == "__main__":
    if sys.argv[1] == "gradients":
        *words, file = sys.argv[2:]
        report(lambda: differentiate(int(words[0]), float(words[1]), int(words[2]), [*map(float, words[3:])], file))
        raise SystemExit
    name, low, high, count, limit = sys.argv[1:]
    report(lambda: measure(name, np.linspace(float(low), float(high), int(count)), float(limit)))
