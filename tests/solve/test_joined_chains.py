"""Forests of bars and pairs: elimination, band and iterations find what a dense solver finds, whatever K holds.

Kernels run as the Python functions they are: small systems of any numbers, made up by hypothesis.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from fem.arrays import Floats
from fem.assembly.equations import NOTHING
from fem.compiled.interpreted import rehearsal
from fem.forces.bar import ALPHA, CONSTANTS, GAP, GEOMETRIC, STORED, Bars, P, Q
from fem.forces.protocol import Tangent
from fem.linear.border import solve_with_border
from fem.linear.chain import JOINED, PINNED, Diagonal, LinearSystem, solve_unsymmetric_chain
from fem.linear.choice import find_tree, narrow_order, number_band, plan_of
from fem.linear.products import multiply, solve_bicgstab

NOBODY = Diagonal(np.zeros(3), np.zeros(0), 0.0, 0.0)


def bars_of(nodes: np.ndarray, rods: list[int]) -> Bars:
    """Bars of unit length, of which solvers want no more."""
    nothing = np.zeros(0)
    return Bars(
        nodes,
        np.zeros_like(nodes),
        nodes[:0],
        np.ones((CONSTANTS, len(nodes))),
        None,
        nothing,
        nothing,
        np.array(rods, int),
    )


@st.composite
def systems(draw, may_have_rods: bool):
    """Bars, pairs beside them (either way round, also twice) and pairs alone between the nodes of a forest."""
    count = draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    is_symmetric = draw(st.booleans())
    bars, pairs, rods = [], [], []
    for child in range(1, count):
        kind = draw(st.sampled_from(["root", "bar", "rod", "both", "both", "rod and pair", "pair", "pair", "two"]))
        ends = rng.permutation([child, rng.integers(child)])
        if kind in ("bar", "both", "two", "rod", "rod and pair"):
            if "rod" in kind and may_have_rods:
                rods.append(len(bars))
            bars.append(ends)
        for _ in range({"both": 1, "rod and pair": 1, "pair": 1, "two": 2}.get(kind, 0)):
            pairs.append(rng.permutation(ends))
    nodes = np.array(bars, np.int64).reshape(-1, 2)
    free = (rng.random(3 * count) > 0.15).astype(np.int64)
    free[:3] = draw(st.sampled_from([0, 1]))
    numbers = np.zeros((STORED, len(nodes)))
    numbers[ALPHA] = 10.0 ** rng.uniform(0, 6, len(nodes))
    numbers[GEOMETRIC] = rng.normal(size=len(nodes))
    numbers[P : P + 3] = rng.normal(size=(3, len(nodes)))
    numbers[Q : Q + 3] = numbers[P : P + 3]
    cross = rng.normal(size=(len(pairs), 18))
    block = rng.normal(size=(count, 3, 3))
    if is_symmetric:
        block += block.transpose(0, 2, 1)
        cross[:, 9:] = cross[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1).reshape(-1, 9)
    else:
        numbers[Q : Q + 3] += 0.3 * rng.normal(size=(3, len(nodes)))
    block += 12.0 * np.eye(3)  # inertia
    for rod in rods:
        numbers[ALPHA, rod], numbers[GAP, rod] = np.inf, rng.normal()
        numbers[Q : Q + 3, rod] = numbers[P : P + 3, rod]
    off = rng.normal(size=len(nodes)) if draw(st.booleans()) else np.zeros(0)
    pairs = np.array(pairs, np.int64).reshape(-1, 2)
    tangent = Tangent(nodes, numbers, off, block.reshape(-1, 9), pairs, cross)
    return tangent, bars_of(nodes, rods), free, rng.normal(size=3 * count)


def exactly(tangent: Tangent, bars: Bars, free: Floats, right: Floats) -> tuple[Floats, Floats, float]:
    """du and the multipliers of rods, by a dense matrix put together from what the parts mean; what round-off may
    change in any solution, by the condition of the matrix."""
    size, rods = len(free), bars.rods
    matrix = np.zeros((size, size))
    for node, own in enumerate(tangent.block):
        matrix[3 * node : 3 * node + 3, 3 * node : 3 * node + 3] += own.reshape(3, 3)
    gradients = np.zeros((len(rods), size))
    for e, (i, j) in enumerate(3 * tangent.ends):
        stretch, numbers = np.zeros((3, size)), tangent.bar_tangent[:, e]
        stretch[:, j : j + 3], stretch[:, i : i + 3] = np.eye(3), -np.eye(3)
        alpha = 0.0 if e in rods else numbers[ALPHA]
        inside = alpha * np.outer(numbers[P : P + 3], numbers[Q : Q + 3]) + numbers[GEOMETRIC] * np.eye(3)
        matrix += stretch.T @ inside @ stretch
        gradients[rods == e] = numbers[Q : Q + 3] @ stretch
        for a in range(3 if len(tangent.off) else 0):
            matrix[i + a, j + a] += tangent.off[e]
            matrix[j + a, i + a] += tangent.off[e]
    for (i, j), numbers in zip(3 * tangent.pairs, tangent.cross, strict=True):
        matrix[i : i + 3, j : j + 3] += numbers[:9].reshape(3, 3)
        matrix[j : j + 3, i : i + 3] += numbers[9:].reshape(3, 3)
    kept = np.flatnonzero(free)
    gradients = gradients[:, kept]
    whole = np.block([[matrix[np.ix_(kept, kept)], gradients.T], [gradients, np.zeros((len(rods), len(rods)))]])
    found = np.linalg.lstsq(whole, np.concatenate([right[kept], -tangent.bar_tangent[GAP, rods]]), rcond=None)[0]
    du = np.zeros(size)
    du[kept] = found[: len(kept)]
    doubt = 10.0 * np.finfo(float).eps * np.linalg.cond(whole) * np.abs(found).max(initial=0.0) if len(found) else 0.0
    return du, found[len(kept) :], float(doubt)


def eliminated(
    tangent: Tangent, bars: Bars, free: np.ndarray, right: np.ndarray
) -> tuple[bool, np.ndarray, np.ndarray]:
    """The same along the forest; whether all pivots were safe."""
    count = len(tangent.block)
    system: Any = SimpleNamespace(labels=range(count), equations=(), pairs=tangent.pairs, bars=bars, gone_bars=[])
    tree = find_tree(system, free)
    assert tree is not None
    du, tau = np.full(3 * count, np.nan), np.zeros(len(tangent.ends))
    pinned = np.full((count if len(bars.rods) else 0, PINNED), np.nan)
    with rehearsal():
        inverse = np.full((count, JOINED), np.nan)
        linear = LinearSystem(free.astype(float), tangent, tangent.block.copy(), right, inverse, pinned, du, tau)
        is_safe = solve_unsymmetric_chain(True, tree, NOBODY._replace(mass=np.zeros(3 * count)), linear)
    return is_safe, du, tau[bars.rods]


def is_held(tangent: Tangent, bars: Bars, free: np.ndarray) -> bool:
    """A rod has no end that is free to move along it."""
    ends = free.reshape(-1, 3)[bars.nodes[bars.rods]]
    return bool(np.any(ends.sum(axis=(1, 2)) < 4))


@settings(max_examples=25)
@given(systems(may_have_rods=False))
def test_any_forest_of_bars_and_pairs_has_one_answer(given):
    tangent, bars, free, right = given
    exact, _, doubt = exactly(*given)
    is_safe, du, _ = eliminated(*given)
    assert is_safe
    assert du == pytest.approx(exact, abs=1e-9 + doubt)
    system: Any = SimpleNamespace(
        labels=range(len(free) // 3), size=len(free), equations=(), pairs=tangent.pairs, bars=bars, gone_bars=[]
    )
    equation, width = number_band(system, free)
    plan = plan_of(np.concatenate([bars.nodes, tangent.pairs]), bars.rods, free, NOTHING, np.inf, equation)
    assert plan is not None
    rows, product = int(equation.max()) + 1, np.empty(len(free))
    with rehearsal():
        inverse, tau = np.zeros((len(tangent.block), 9)), np.zeros(len(tangent.ends))
        linear = LinearSystem(free.astype(float), tangent, tangent.block, right, inverse, np.zeros((0, 10)), du, tau)
        band, blocks = np.zeros((rows, 3 * width + 1)), np.zeros((plan.blocks, 9))
        assert solve_with_border(plan, bars, linear, blocks, band, np.zeros(rows))
        assert du == pytest.approx(exact, abs=1e-9 + doubt)
        multiply(tangent, tangent.block, free.astype(float), exact, product)
        assert product == pytest.approx(free * right, abs=1e-9 * max(1.0, np.abs(tangent.bar_tangent).max(initial=0.0)))
        if tangent.bar_tangent[ALPHA].max(initial=0.0) < 1e3:
            spent = solve_bicgstab(1e-13, linear, np.zeros((6, len(free))))
            if spent >= 0:
                assert du == pytest.approx(exact, abs=1e-9 + doubt)


@settings(max_examples=25)
@given(systems(may_have_rods=True))
def test_rods_beside_pairs_are_eliminated_too(given):
    tangent, bars, free, _ = given
    assume(not is_held(tangent, bars, free))
    exact, pulls, doubt = exactly(*given)
    is_safe, du, tau = eliminated(*given)
    assert is_safe
    assert du == pytest.approx(exact, abs=1e-8 + doubt)
    assert tau == pytest.approx(pulls, abs=1e-8 * max(1.0, np.abs(pulls).max(initial=0.0)) + doubt)


def test_pairs_that_close_a_ring_are_no_forest():
    """Three nodes, bars between two and two, a pair between the last and the first; beside a bar it closes nothing."""
    bars = bars_of(np.array([[0, 1], [1, 2]]), [])
    for pair, is_forest in (([2, 0], False), ([2, 1], True), ([1, 1], False)):
        system: Any = SimpleNamespace(labels=range(3), equations=(), pairs=np.array([pair]), bars=bars, gone_bars=[])
        assert (find_tree(system, np.ones(9, np.int64)) is not None) == is_forest


def test_a_pair_that_outgrows_its_nodes_is_not_eliminated():
    """Nodes of next to no stiffness and a strong pair: the matrix is regular, but half of its digits would be lost."""
    for own, is_safe in ((2.0, True), (1e-3, True), (1e-9, False)):
        tangent = Tangent(
            np.zeros((0, 2), np.int64), np.zeros((STORED, 0)), np.zeros(0), own * np.tile(np.eye(3).ravel(), (2, 1)),
            np.array([[0, 1]]), np.tile(np.eye(3).ravel(), 2)[None],
        )  # fmt: skip
        assert eliminated(tangent, bars_of(tangent.ends, []), np.ones(6, np.int64), np.arange(6.0))[0] == is_safe


@given(st.integers(1, 60), st.integers(0, 150), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_narrow_order_is_that_of_scipy(count, edges, seed):
    """Graphs with several parts, repeated edges, lonely nodes and edges from a node to itself."""
    pairs = np.random.default_rng(seed).integers(count, size=(edges, 2))
    graph = coo_array((np.ones(edges, np.int8), (pairs[:, 0], pairs[:, 1])), shape=(count, count)).tocsr()
    graph = ((graph + graph.T) != 0).tocsr()
    assert narrow_order(pairs, count).tolist() == reverse_cuthill_mckee(graph, symmetric_mode=True).tolist()
