"""Explicit increments of large models of bars, in blocks of nodes that threads share.

Between two increments whose energies are closed nothing is asked but the motion. A block then does all of an increment
in one pass over its own nodes: the forces of all bars that end there, the acceleration, the displacements at the end of
the next increment. Bars between two blocks are evaluated in both. With w = v + dt/2 a in the middle of increments

    w1 = (w + dt/2 a1) + dt1/2 a1,    u2 = u1 + dt1 w1,

which is the rule of ``leapfrog`` without a in memory. Each sum has the order of its block: not a bit depends
on the number of threads, nor on which increments are closed.

In memory a bar is its two nodes, its reference vector and 1/L0: the rest it has in common with a run of bars.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fem.arrays import Flags, Floats, Index, Ints
from fem.compiled import bound, called_kernel, exact_kernel, inner_kernel, kernel
from fem.compiled.workers import processors
from fem.forces.bar import (
    AREA,
    BASE_CONSTANT,
    INV_LENGTH,
    MINUS,
    ONE,
    PLUS,
    REF,
    STARTING,
    STRESS0,
    STRIP,
    TWO,
    YOUNG,
    stiffening,
)
from fem.forces.laws import BILINEAR, ENGINEERING, GREEN, Elasticity, elastic_stress, measure
from fem.solve.explicit.leapfrog import close_apart
from fem.solve.newton import groups
from fem.solve.newton.evaluate import combine
from fem.solve.newton.groups import CONTROL, Loading, Nodes, Passage
from fem.solve.step_system import StepSystem

NODES = 8192
"""Of a block: its forces, and what it reads twice, stay in the cache of one processor."""
SHORT = 32
"""Runs of fewer bars than this, on average, have too little in common."""
COMMON = np.array([AREA, YOUNG, PLUS, MINUS, STRESS0, STARTING])
"""Constants of all bars of a run."""


class Blocks(NamedTuple):
    """Bars as blocks of nodes have them. b blocks, r runs of bars with all in common, q bars, some of them twice.

    nodes      (b + 1,)  first node of each block, and one past the last
    starts     (b + 1,)  first run of each block, likewise
    runs       (r, 3)    strain measure, first bar, one past the last
    common     (r, 7)    ``COMMON``, and area over modulus for the energy, of a bar between two blocks half of it
    ends       (q, 2)    int32: nodes of the bars
    own        (4, q)    reference vectors, 1/L0
    gap        (q,)      base constants; empty: all are 0
    """

    nodes: Ints
    starts: Ints
    runs: Ints
    common: Floats
    ends: NDArray[np.int32]
    own: Floats
    gap: Floats


class ThreadRoom(NamedTuple):
    """What a thread writes on: numbers of a strip of bars; forces, or stiffness, of the nodes of a block and of one
    more, for all others."""

    strip: Floats
    force: Floats
    stiffness: Floats


@inner_kernel
def take(first: int, last: int, ends: NDArray[np.int32], u: Floats, strip: Floats) -> None:
    """Differences u_j - u_i of the bars first..last."""
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(number)
        i, j = np.uintp(3 * ends[e, 0]), np.uintp(3 * ends[e, 1])
        strip[0, s] = u[j] - u[i]
        strip[1, s] = u[j + ONE] - u[i + ONE]
        strip[2, s] = u[j + TWO] - u[i + TWO]


@inner_kernel
def strain_of(kind: int, has_gap: bool, e: Index, s: Index, blocks: Blocks, strip: Floats) -> tuple[float, float]:
    """Strain of bar e by its difference s, and its slope over Green's; ``kind`` and ``has_gap`` are literals."""
    own, wx, wy, wz = blocks.own, strip[0, s], strip[1, s], strip[2, s]
    gap = blocks.gap[e] if has_gap else 0.0
    green = gap + own[0, e] * wx + own[1, e] * wy + own[2, e] * wz + 0.5 * (wx * wx + wy * wy + wz * wz)
    green *= own[3, e] * own[3, e]
    _, strain, _, slope, _ = measure(kind, green, green, 0.0, 0.0)
    return strain, slope


@inner_kernel
def law_of_run(r: int, compliance: float, blocks: Blocks) -> Elasticity:
    """Numbers of the law of the bars of run r."""
    common = blocks.common
    return Elasticity(common[r, 1], common[r, 4], common[r, 2], common[r, 3], compliance, 0.0, 0.0, 0.0, 0.0)


@inner_kernel
def pull(kind: int, has_gap: bool, r: int, first: int, last: int, blocks: Blocks, strip: Floats) -> None:
    """Forces on the nodes j of the bars first..last of run r, in place of their differences."""
    own, area, law = blocks.own, blocks.common[r, 0], law_of_run(r, 0.0, blocks)
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(number)
        strain, slope = strain_of(kind, has_gap, e, s, blocks, strip)
        along = area * elastic_stress(BILINEAR, False, strain, strain, law, None)[0] * slope * own[3, e]
        x, y, z = own[0, e] + strip[0, s], own[1, e] + strip[1, s], own[2, e] + strip[2, s]
        strip[0, s], strip[1, s], strip[2, s] = along * x, along * y, along * z


@inner_kernel
def stored(kind: int, has_gap: bool, r: int, first: int, last: int, blocks: Blocks, strip: Floats) -> float:
    """Energy of the bars first..last of run r, by their differences: that part of it which is the block's."""
    energy = 0.0
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(number)
        strain, _ = strain_of(kind, has_gap, e, s, blocks, strip)
        law = law_of_run(r, blocks.common[r, 6] / blocks.own[3, e], blocks)
        energy += elastic_stress(BILINEAR, False, strain, strain, law, None)[2]
    return energy


@inner_kernel
def put(first: int, last: int, node: int, count: int, ends: NDArray[np.int32], strip: Floats, force: Floats) -> None:
    """Adds the forces of the bars first..last to those of their nodes, from ``node`` on; behind the last one of
    ``count`` is the place of all others."""
    zero, beyond = np.uintp(node), np.uintp(count)
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(number)
        i = np.uintp(3) * min(np.uintp(ends[e, 0]) - zero, beyond)
        j = np.uintp(3) * min(np.uintp(ends[e, 1]) - zero, beyond)
        force[i] -= strip[0, s]
        force[i + ONE] -= strip[1, s]
        force[i + TWO] -= strip[2, s]
        force[j] += strip[0, s]
        force[j + ONE] += strip[1, s]
        force[j + TWO] += strip[2, s]


@inner_kernel
def add_run(
    kind: int, has_gap: bool, r: int, node: int, count: int, blocks: Blocks, u: Floats, desk: ThreadRoom
) -> None:
    """Adds the forces of run r, strip by strip."""
    for first in range(blocks.runs[r, 1], blocks.runs[r, 2], STRIP):
        last = min(first + STRIP, blocks.runs[r, 2])
        take(first, last, blocks.ends, u, desk.strip)
        pull(kind, has_gap, r, first, last, blocks, desk.strip)
        put(first, last, node, count, blocks.ends, desk.strip, desk.force)


@inner_kernel
def energy_of_run(kind: int, has_gap: bool, r: int, blocks: Blocks, u: Floats, desk: ThreadRoom) -> float:
    """The energy of run r."""
    energy = 0.0
    for first in range(blocks.runs[r, 1], blocks.runs[r, 2], STRIP):
        last = min(first + STRIP, blocks.runs[r, 2])
        take(first, last, blocks.ends, u, desk.strip)
        energy += stored(kind, has_gap, r, first, last, blocks, desk.strip)
    return energy


@called_kernel
def block_forces(b: int, blocks: Blocks, u: Floats, desk: ThreadRoom) -> None:
    """Forces of the nodes of block b, from the first place of ``desk.force`` on.
    It is not inlined: whether an increment is closed is not to change a bit of them."""
    node, count, has_gaps = blocks.nodes[b], blocks.nodes[b + 1] - blocks.nodes[b], blocks.gap.shape[0] > 0
    for k in range(3 * count + 3):
        desk.force[k] = 0.0
    for r in range(blocks.starts[b], blocks.starts[b + 1]):
        if blocks.runs[r, 0] == GREEN and has_gaps:
            add_run(GREEN, True, r, node, count, blocks, u, desk)
        elif blocks.runs[r, 0] == GREEN:
            add_run(GREEN, False, r, node, count, blocks, u, desk)
        elif has_gaps:
            add_run(ENGINEERING, True, r, node, count, blocks, u, desk)
        else:
            add_run(ENGINEERING, False, r, node, count, blocks, u, desk)


@called_kernel
def block_energy(b: int, blocks: Blocks, u: Floats, desk: ThreadRoom) -> float:
    """Energy stored in the bars of block b, of those that it shares half."""
    energy = 0.0
    for r in range(blocks.starts[b], blocks.starts[b + 1]):
        if blocks.runs[r, 0] == GREEN:
            energy += energy_of_run(GREEN, blocks.gap.shape[0] > 0, r, blocks, u, desk)
        else:
            energy += energy_of_run(ENGINEERING, blocks.gap.shape[0] > 0, r, blocks, u, desk)
    return energy


# Bounds of the stiffness of nodes, from which ``driver``, too, bounds the fastest frequency.
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


@inner_kernel
def add_stiffness(
    kind: int, has_gap: bool, r: int, b: int, nodes: Nodes, blocks: Blocks, u: Floats, desk: ThreadRoom
) -> None:
    """Adds the part of run r to the bound of the stiffness of nodes of block b (``block_square``)."""
    ends, own, common, strip = blocks.ends, blocks.own, blocks.common, desk.strip
    zero, beyond = blocks.nodes[b], blocks.nodes[b + 1] - blocks.nodes[b]
    area, stiffest, starting = common[r, 0], max(common[r, 2], common[r, 3]), common[r, 5]
    law = Elasticity(common[r, 1], common[r, 4], stiffest, stiffest, 0.0, 0.0, 0.0, 0.0, 0.0)
    for first in range(blocks.runs[r, 1], blocks.runs[r, 2], STRIP):
        last = min(first + STRIP, blocks.runs[r, 2])
        take(first, last, ends, u, strip)
        for e in range(first, last):
            s, inverse = e - first, own[3, e]
            gap = blocks.gap[e] if has_gap else 0.0
            x, y, z = strip[0, s], strip[1, s], strip[2, s]
            green = (gap + own[0, e] * x + own[1, e] * y + own[2, e] * z + 0.5 * (x * x + y * y + z * z)) * inverse**2
            _, strain, slope1, slope, curvature = measure(kind, green, green, 0.0, 0.0)
            stress, modulus, _, _ = elastic_stress(BILINEAR, False, strain, strain, law, None)
            along = abs(2.0 * area * (modulus * slope1 * slope + stress * curvature)) * inverse**3
            across = abs(stiffening(area * stress * slope, starting)) * inverse
            px, py, pz = own[0, e] + x, own[1, e] + y, own[2, e] + z
            for end in range(2):
                node, fraction = ends[e, end] - zero, fraction_of(3 * ends[e, 1 - end], nodes)
                place = node if 0 <= node < beyond else beyond
                block = desk.stiffness[place]
                block[0] += fraction * (along * px * px + across)
                block[1] += fraction * along * px * py
                block[2] += fraction * along * px * pz
                block[3] += fraction * (along * py * py + across)
                block[4] += fraction * along * py * pz
                block[5] += fraction * (along * pz * pz + across)


@called_kernel
def block_square(b: int, nodes: Nodes, blocks: Blocks, desk: ThreadRoom, inverse: Floats, u: Floats) -> float:
    """``driver.largest_square`` among the nodes of block b, where all cables are taut."""
    stiffness, first, largest = desk.stiffness, blocks.nodes[b], 0.0
    for i in range(stiffness.shape[0]):
        for k in range(6):
            stiffness[i, k] = 0.0
    for r in range(blocks.starts[b], blocks.starts[b + 1]):
        if blocks.runs[r, 0] == GREEN:
            add_stiffness(GREEN, blocks.gap.shape[0] > 0, r, b, nodes, blocks, u, desk)
        else:
            add_stiffness(ENGINEERING, blocks.gap.shape[0] > 0, r, b, nodes, blocks, u, desk)
    for i in range(blocks.nodes[b + 1] - first):
        xx, yy, zz = stiffness[i, 0], stiffness[i, 3], stiffness[i, 5]
        square = square_of_node(first + i, inverse, xx, yy, zz, stiffness[i, 1], stiffness[i, 2], stiffness[i, 4])
        if square > largest or square != square:
            largest = square
    return largest


@kernel
def find_squares(
    first: int, last: int, nodes: Nodes, blocks: Blocks, desk: ThreadRoom, inverse: Floats, u: Floats, squares: Floats
) -> None:
    """``block_square`` of the blocks first..last."""
    for b in range(first, last):
        squares[b] = block_square(b, nodes, blocks, desk, inverse, u)


@exact_kernel
def kick(dt: float, after: float, start: int, end: int, inverse: Floats, load: Floats, force: Floats, u: Floats,
         w: Floats, ahead: Floats) -> None:  # fmt: skip
    """Velocities in the next increment, and displacements at its end, of the dofs start..end: ``settle`` and
    ``set_out``, to the last bit."""
    for k in range(end - start):
        dof = start + k
        a = inverse[dof] * (load[dof] - force[k])
        v = w[dof] + 0.5 * dt * a
        w[dof] = v + 0.5 * after * a
        ahead[dof] = u[dof] + after * w[dof]


@exact_kernel
def settle(dt: float, start: int, end: int, inverse: Floats, load: Floats, force: Floats, w: Floats, a: Floats,
           whole: Floats) -> None:  # fmt: skip
    """Velocities and accelerations at the end of an increment, and the forces, of the dofs start..end."""
    for k in range(end - start):
        dof = start + k
        a[dof] = inverse[dof] * (load[dof] - force[k])
        w[dof] = w[dof] + 0.5 * dt * a[dof]
        whole[dof] = force[k]


@exact_kernel
def set_out(first: int, last: int, dt: float, blocks: Blocks, u: Floats, w: Floats, a: Floats, ahead: Floats) -> None:
    """Velocities in the middle of an increment dt into w, which has those at its start; displacements at its end."""
    for dof in range(3 * blocks.nodes[first], 3 * blocks.nodes[last]):
        w[dof] = w[dof] + 0.5 * dt * a[dof]
        ahead[dof] = u[dof] + dt * w[dof]


@kernel
def advance(
    first: int, last: int, dt: float, after: float, blocks: Blocks, desk: ThreadRoom, inverse: Floats, load: Floats,
    u: Floats, w: Floats, ahead: Floats,
) -> None:  # fmt: skip
    """From the displacements u at the end of an increment dt to those ``ahead`` at the end of the one after it, of the
    blocks first..last."""
    for b in range(first, last):
        block_forces(b, blocks, u, desk)
        kick(dt, after, 3 * blocks.nodes[b], 3 * blocks.nodes[b + 1], inverse, load, desk.force, u, w, ahead)


@kernel
def finish(
    first: int, last: int, dt: float, blocks: Blocks, desk: ThreadRoom, inverse: Floats, load: Floats, u: Floats,
    w: Floats, a: Floats, force: Floats, energies: Floats,
) -> None:  # fmt: skip
    """The end of an increment dt whose energy is closed: forces, accelerations, velocities into w, stored energies."""
    for b in range(first, last):
        block_forces(b, blocks, u, desk)
        settle(dt, 3 * blocks.nodes[b], 3 * blocks.nodes[b + 1], inverse, load, desk.force, w, a, force)
        energies[b] = block_energy(b, blocks, u, desk)


def blocks_of(stage: StepSystem) -> Blocks | None:
    """The bars of a step in blocks. None: they are few, or not plain elastic, or have too little in common, or other
    forces act than theirs and loads."""
    bars, system = stage.bars, stage.system
    acting = len(system.expansions) + len(stage.nodes.damping) + len(stage.equations.slave)
    plain = (
        (bars.blocks[:, 1] == BILINEAR) & np.isin(bars.blocks[:, 0], (GREEN, ENGINEERING)) & (bars.blocks[:, 4] == 0)
    )
    if acting or not (stage.is_crowd and plain.all()):
        return None
    constants, nodes = bars.constants, _bounds(len(system.labels))
    is_new = (bars.kinds[1:] != bars.kinds[:-1]).any(axis=1)
    for row in COMMON:
        is_new |= constants[row, 1:] != constants[row, :-1]
    heads = np.concatenate([[0], np.flatnonzero(is_new) + 1])
    if SHORT * len(heads) > len(bars.nodes):
        return None
    kinds = list(zip(bars.kinds[heads, 0].tolist(), *constants[np.ix_(COMMON, heads)].tolist(), strict=True))
    known = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    lengths = np.diff(np.append(heads, len(bars.nodes)))
    kind_of = np.repeat(np.array([known[kind] for kind in kinds], np.int32), lengths)
    block = (nodes.searchsorted(bars.nodes, "right") - 1).astype(np.int32)
    crossing = np.flatnonzero(block[:, 0] != block[:, 1])
    chosen = np.concatenate([np.arange(len(bars.nodes), dtype=np.int32), crossing.astype(np.int32)])
    key = 2 * (len(known) * np.concatenate([block[:, 0], block[crossing, 1]]) + kind_of[chosen])
    key[crossing] += 1
    key[len(bars.nodes) :] += 1
    order = np.argsort(key, kind="stable").astype(np.int32)
    key, chosen = key[order], chosen[order]
    firsts = np.concatenate([[0], np.flatnonzero(np.diff(key)) + 1])
    if SHORT * len(firsts) > len(chosen):
        return None
    of_run = key[firsts] // 2 % len(known)
    table = np.array(list(known))
    per_length = np.divide(table[:, 1], table[:, 2], out=np.zeros(len(table)), where=table[:, 2] != 0.0)
    own = np.concatenate([constants[REF : REF + 3], constants[[INV_LENGTH]]])[:, chosen]
    gap = constants[BASE_CONSTANT, chosen] if constants[BASE_CONSTANT].any() else np.zeros(0)
    return Blocks(
        nodes=nodes,
        starts=(key[firsts] // (2 * len(known))).searchsorted(np.arange(len(nodes))),
        runs=np.column_stack([table[of_run, 0].astype(np.int64), firsts, np.append(firsts[1:], len(chosen))]),
        common=np.column_stack([table[of_run, 1:], np.where(key[firsts] % 2, 0.5, 1.0) * per_length[of_run]]),
        ends=bars.nodes[chosen].astype(np.int32),
        own=np.ascontiguousarray(own),
        gap=gap,
    )


def _bounds(count: int) -> Ints:
    """(b + 1,) bounds of blocks of equally many nodes; an even number of blocks."""
    blocks = 2 * -(-count // (2 * NODES))
    return np.arange(blocks + 1) * count // blocks


def threads() -> int:
    """Number of threads of a march: the processors, or fewer where OMP_NUM_THREADS says so."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return min(processors(), max(int(given), 1)) if given.isdigit() else processors()


def give_back() -> None:
    """Returns freed memory to the system, where the C library can do that (glibc)."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class BlockThreads:
    """The threads that advance blocks, and what each of them calls."""

    def __init__(self, blocks: Blocks, inverse: Floats, stage: StepSystem) -> None:
        self.work = work = stage.work
        self.has_begun = False
        self.energies, self.squares = np.zeros((2, len(blocks.nodes) - 1))
        self.threads = min(threads(), len(self.energies))
        shares = np.arange(self.threads + 1) * len(self.energies) // self.threads
        # M a is needed at closed increments only: between them its array has the other displacements
        largest, (u, v, a, there) = int(np.diff(blocks.nodes).max()), (work.u, work.v, work.a, work.inertia)
        self.calls: dict[str, list[Callable[..., object]]] = {}
        for first, last in zip(shares[:-1].tolist(), shares[1:].tolist(), strict=True):
            desk = ThreadRoom(*groups.rooms((3, STRIP), 3 * largest + 3, (largest + 1, 6)))
            forces = blocks, desk, inverse, work.load
            of_thread: dict[str, tuple[Callable[..., None], Any]] = {
                "start": (set_out, (0.0, blocks, u, v, a, u)),
                "start aside": (set_out, (0.0, blocks, u, v, a, there)),
                "away": (advance, (0.0, 0.0, *forces, u, v, there)),
                "back": (advance, (0.0, 0.0, *forces, there, v, u)),
                "look": (find_squares, (stage.nodes, blocks, desk, inverse, u, self.squares)),
                "finish": (finish, (0.0, *forces, u, v, a, work.force, self.energies)),
            }
            for name, (its, arguments) in of_thread.items():
                its(0, 0, *arguments)  # loads its code
                self.calls.setdefault(name, []).append(partial(bound(its, first, last, *arguments), first, last))

    def march(self, control: Ints, closed: Flags, through: Passage) -> int:
        """``leapfrog`` through a chunk, to its end or to why it stops before."""
        loading, motion, work = through.loading, through.motion, self.work
        done, dt, factors = int(control[CONTROL.increment]), loading.dt.tolist(), loading.factors
        work.u[:], work.v[:], work.a[:] = motion.u, motion.v, motion.a
        if not self.has_begun:  # what the start of the step has needed
            self.has_begun = True
            give_back()
        ends = (done + np.flatnonzero(closed[done:])).tolist()
        with self._pool() as pool:
            for k in ends:
                if k == ends[0] or (factors[k + 1] != factors[k]).any():  # if they vary all increments are closed
                    combine(loading.vectors, factors, k + 1, work.load)
                strain = self._through(dt[done : k + 1], loading, k, pool)
                done, reason = k + 1, close_apart(k, strain, control, through)
                if reason != groups.DONE:
                    return reason
        return groups.DONE

    def largest_square(self, u: Floats) -> float:
        """Bound of omega^2 at displacements u, which become the trial ones, with all cables taut."""
        self.work.u[:] = u
        with self._pool() as pool:
            self._all(pool, "look")
        return float(self.squares.max())  # NaN where any is

    def _pool(self) -> ThreadPoolExecutor:
        """Of all threads but this one; a pool without any starts none."""
        return ThreadPoolExecutor(max(self.threads - 1, 1))

    def _through(self, dt: Sequence[float], loading: Loading, k: int, pool: ThreadPoolExecutor) -> float:
        """From the state in ``work`` through increments of these lengths to the end of increment k; its energy."""
        aside = len(dt) % 2 == 0  # they end in ``work.u``
        self._all(pool, "start aside" if aside else "start", dt[0])
        for before, after in pairwise(dt):
            self._all(pool, "back" if aside else "away", before, after)
            aside = not aside
        work, moving = self.work, loading.support_dofs  # where there are any, all increments are closed
        work.u[moving] = loading.support_u[k]
        self._all(pool, "finish", dt[-1])
        work.v[moving], work.a[moving] = loading.support_v[k], loading.support_a[k]
        return float(self.energies.sum())

    def _all(self, pool: ThreadPoolExecutor, name: str, *numbers: float) -> None:
        """Lets every thread do its part."""
        first, *others = self.calls[name]
        waiting = [pool.submit(call, *numbers) for call in others]
        first(*numbers)
        for one in waiting:
            one.result()
