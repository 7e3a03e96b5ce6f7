"""Choice of the linear solver of a step, with the reason; order of elimination for trees, narrow bands, and the rest.

Nodes of equations and of rods are eliminated last: they are the *border*, whose matrix is pivoted (``border.py``). All
others are eliminated one by one, always the one with the fewest remaining neighbours, which then couple with each
other. Along a line that adds one block per node (two if it bends), up to the node that is tied to a body. In a band all
nodes belong to the border. Source: minimum degree; George & Liu, SIAM Rev. 31 (1989) 1-19.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import Equations
from fem.assembly.system import System
from fem.compiled import kernel
from fem.forces.bar import heads, rows_of
from fem.forces.protocol import NO_PAIRS
from fem.linear.factors import PARDISO, SUPERLU, library_for

# Linear solvers
EXTERNAL, CHAIN, BAND, CG, BICGSTAB, NO_SOLVE, UNSYMMETRIC_CHAIN, BORDER = 0, 1, 2, 3, 4, 5, 6, 7
CHAINS = (CHAIN, UNSYMMETRIC_CHAIN)

LEAF, FIRST = 1, 2


class Tree(NamedTuple):
    """Elimination order of a forest.

    sequence (n,)  nodes, leaves first
    parent   (n,)  node that takes over the equations of a node, -1 at a root
    link     (n,)  bar between a node and its parent, -1 at a root, or if only pairs join the two
    sign     (n,)  1.0 where that bar runs from the node to its parent, -1.0 where it runs back
    child    (n,)  the first child of a node, -1 for none (empty where there are no rods)
    sibling  (n,)  the next child of the same parent, -1 for none (likewise)
    pair     (n,)  the first pair of ``Tangent.pairs`` between a node and its parent, -1 for none (empty: no pairs)
    further  (p,)  the next pair between the same two nodes, -1 for none
    role     (n,)  LEAF: it has no children; FIRST: it is the first child of its parent to be eliminated
    """

    sequence: Ints
    parent: Ints
    link: Ints
    sign: Floats
    child: Ints
    sibling: Ints
    pair: Ints
    further: Ints
    role: Ints


BAND_WORK = 3e6
"""Largest (number of equations) * (half bandwidth)^2 for which the compiled band solver is chosen."""
SPARSE_START, SPARSE_NODE = 1e6, 1500.0
"""Cost of a direct solve outside compiled code in addition to its eliminations, in multiplications: once, and per
node."""
IN_CACHE = 50_000
"""Largest number of nodes of a chain whose arrays (some 600 bytes each in an elimination) fit a cache."""


FEW_NODES, KNOWN_TREES = 1000, 16
"""Of models up to this size so many trees are kept."""


@kernel
def _spread(first: Ints, neighbour: Ints, link: Ints, roots: Ints, sequence: Ints, parent: Ints, via: Ints) -> None:
    """Breadth-first over all components, from ``roots`` in order: sequence, parents and the bars to them."""
    reached = 0
    for r in range(roots.shape[0]):
        root = roots[r]
        if parent[root] != -2:
            continue
        parent[root] = -1
        via[root] = -1
        head = reached
        sequence[reached] = root
        reached += 1
        while head < reached:
            i = sequence[head]
            head += 1
            for k in range(first[i], first[i + 1]):
                j = neighbour[k]
                if parent[j] == -2:
                    parent[j] = i
                    via[j] = link[k]
                    sequence[reached] = j
                    reached += 1


def find_tree(system: System, free: Ints) -> Tree | None:
    """Elimination order where bars and pairs form a forest (paths, trees) and no equations couple nodes, nor ropes over
    pulleys three; else None.

    Pairs may stand beside one bar, or alone between two nodes.

    The root is half-way along the longest path from a supported node (or the first node): two independent eliminations
    then meet in the middle, which a processor executes in parallel. With more than ``IN_CACHE`` nodes memory is the
    limit, and one direction is faster. With rods the root is at a supported node: nodes beyond the outer end of a rod
    can then move along it, and only masses are added on the way.
    """
    if system.equations or len(heads(system.bars)) < len(system.bars.rods):
        return None
    parts = system.bars.nodes, system.pairs, system.gone_bars, free
    has_rods = len(system.bars.rods) > 0
    if len(system.labels) > FEW_NODES:
        return _tree(*parts, has_rods)
    return _known_tree(*(np.asarray(each, np.int64).tobytes() for each in parts), has_rods)


@lru_cache(KNOWN_TREES)
def _known_tree(nodes: bytes, pairs: bytes, gone: bytes, free: bytes, has_rods: bool) -> Tree | None:
    """``_tree``, which the rows of a sweep have in common; nobody writes to it."""
    of_nodes, of_pairs, of_gone, of_free = (np.frombuffer(each, np.int64) for each in (nodes, pairs, gone, free))
    return _tree(of_nodes.reshape(-1, 2), of_pairs.reshape(-1, 2), of_gone, of_free, has_rods)


def _tree(nodes: Ints, pairs: Ints, gone: Ints, free: Ints, has_rods: bool) -> Tree | None:
    """``find_tree`` from the nodes (m, 2) of bars, some of them gone, and of pairs (p, 2)."""
    count, bars = len(free) // 3, len(nodes)
    is_there = np.ones(bars, np.bool_)
    is_there[gone] = False
    if len(pairs):
        numbers = [each.min(axis=1) * count + each.max(axis=1) for each in (pairs, nodes[is_there])]
        alone = np.column_stack(np.divmod(np.setdiff1d(*numbers), count))  # nodes joined by pairs but not by a bar
        nodes, is_there = np.concatenate([nodes, alone]), np.concatenate([is_there, np.ones(len(alone), np.bool_)])
    (present,) = is_there.nonzero()
    ends = np.concatenate([nodes[present, 0], nodes[present, 1]])
    others = np.concatenate([nodes[present, 1], nodes[present, 0]])
    links = np.concatenate([present, present])
    order = ends.argsort(kind="stable")
    first = np.zeros(count + 1, np.int64)
    np.bincount(ends, minlength=count).cumsum(out=first[1:])
    roots = free.reshape(-1, 3).sum(axis=1).argsort(kind="stable")
    sequence, parent, via = np.zeros(count, np.int64), np.full(count, -2, np.int64), np.zeros(count, np.int64)
    _spread(first, others[order], links[order], roots, sequence, parent, via)
    if len(present) != np.count_nonzero(via >= 0):
        return None
    if count <= IN_CACHE and not has_rods:
        roots = np.concatenate([[_middle(sequence, parent)], roots])
        sequence, parent, via = np.zeros(count, np.int64), np.full(count, -2, np.int64), np.zeros(count, np.int64)
        _spread(first, others[order], links[order], roots, sequence, parent, via)
    (linked,) = (via >= 0).nonzero()
    sign = np.full(count, -1.0)
    sign[linked[nodes[via[linked], 0] == linked]] = 1.0
    leaves_first = np.ascontiguousarray(sequence[::-1])
    nobody = np.zeros(0, np.int64)
    children = _lists(parent, count) if has_rods else (nobody, nobody)
    child = np.where(parent[pairs[:, 0]] == pairs[:, 1], pairs[:, 0], pairs[:, 1])
    joining = _lists(child, count) if len(pairs) else (nobody, nobody)
    bar = np.where(via < bars, via, -1)
    return Tree(leaves_first, parent, bar, sign, *children, *joining, _roles(leaves_first, parent))


def _roles(sequence: Ints, parent: Ints) -> Ints:
    """Nodes without children, and nodes that are the first child of their parent in the sequence."""
    role = np.full(len(parent), LEAF, np.int64)
    children = sequence[parent[sequence] >= 0]
    role[parent[children]] = 0
    first = np.full(len(parent), -1, np.int64)
    first[parent[children[::-1]]] = children[::-1]  # the last one written remains
    role[first[first >= 0]] |= FIRST
    return role


def _lists(owner: Ints, count: int) -> tuple[Ints, Ints]:
    """Items with an owner (-1: none) as linked lists: the first item of each of ``count`` owners, the next one of
    the same. -1: end of the list."""
    first, further = np.full(count, -1, np.int64), np.full(len(owner), -1, np.int64)
    (owned,) = np.nonzero(owner >= 0)
    owned = owned[np.argsort(owner[owned], kind="stable")]
    is_first = np.diff(owner[owned], prepend=-1) != 0
    first[owner[owned[is_first]]] = owned[is_first]
    (later,) = np.nonzero(~is_first)
    further[owned[later - 1]] = owned[later]
    return first, further


def _middle(sequence: Ints, parent: Ints) -> int:
    """Half-way between the root and the node reached last: eliminated from there, a path has two ends to start at."""
    steps = [int(sequence[-1])]
    while parent[steps[-1]] >= 0:
        steps.append(int(parent[steps[-1]]))
    return steps[len(steps) // 2]


def narrow_order(pairs: Ints, count: int) -> Ints:
    """Nodes of a graph, whose edges are pairs (p, 2), in an order with a narrow band: reverse Cuthill-McKee.
    It is the order of ``scipy.sparse.csgraph``, whose import takes longer than the whole run of a small net."""
    keys = np.unique(np.concatenate([pairs, pairs[:, ::-1]]) @ np.array([count, 1]))
    owners, others = np.divmod(keys, count)
    starts, neighbours = np.searchsorted(owners, np.arange(count + 1)).tolist(), others.tolist()
    degrees = (np.bincount(owners, minlength=count) + np.bincount(owners[owners == others], minlength=count)).tolist()
    is_new, order = [True] * count, list[int]()
    for seed in np.argsort(np.array(degrees, np.int32)).tolist():
        reached = len(order)
        if is_new[seed]:
            is_new[seed] = False
            order.append(seed)
        while reached < len(order):
            node = order[reached]
            reached += 1
            found = [other for other in neighbours[starts[node] : starts[node + 1]] if is_new[other]]
            for other in found:
                is_new[other] = False
            order += sorted(found, key=degrees.__getitem__)
    return np.array(order[::-1], np.int64)


def number_band(system: System, free: Ints) -> tuple[Ints, int]:
    """Equation numbers by reverse Cuthill-McKee, and the half bandwidth.
    (3n + m,): of each dof (-1 fixed), then of the multiplier of each bar (-1: no rod)."""
    pairs = np.concatenate([system.bars.nodes, system.pairs])
    # Multipliers follow the nodes: vertices of the graph, and triples of unknowns of which one is used.
    rods, row, count = system.bars.rods, rows_of(system.bars), len(system.labels)
    behind, lengths = count + row, len(heads(system.bars))
    for end in range(2):
        pairs = np.concatenate([pairs, np.column_stack([system.bars.nodes[rods, end], behind])])
    total = count + lengths
    order = narrow_order(pairs, total)
    used = np.concatenate([free == 1, np.tile([True, False, False], lengths)])
    unknowns = (3 * order[:, None] + np.arange(3)).ravel()
    unknowns = unknowns[used[unknowns]]
    number = np.full(3 * total, -1, np.int64)
    number[unknowns] = np.arange(len(unknowns))
    equation = np.full(system.size + len(system.bars.nodes), -1, np.int64)
    equation[: system.size] = number[: system.size]
    equation[system.size + rods] = number[system.size :: 3][row]
    width = 0
    table = number.reshape(-1, 3)
    low = np.where(table >= 0, table, np.iinfo(np.int64).max).min(axis=1)
    high = table.max(axis=1)
    for i, j in ((0, 1), (1, 0), (0, 0)):
        if len(pairs):
            both = (high[pairs[:, i]] >= 0) & (high[pairs[:, j]] >= 0)
            width = max(width, int((high[pairs[:, i]] - low[pairs[:, j]])[both].max(initial=0)))
    alone = high >= 0
    width = max(width, int((high - low)[alone].max(initial=0)))
    return equation, width


class EliminationPlan(NamedTuple):
    """Order of the nodes inside, and the numbers of blocks.

    sequence (q,)   nodes inside, in the order of elimination
    first    (q+1,) of the neighbours of each that are left then: near (k,); K_ij of these, K_ji: blocks n + 2k, + 1
    target   blocks between each two of these neighbours, one node after the other
    own (n,), between (m + p, 2)  blocks K_ii of nodes; K_ij, K_ji of bars and pairs
    border (b,), rank (n,)  nodes, and the place of a node among them
    inner    (s, 2) positions of the nodes of each block between them: the last blocks but one, which is unused
    start (3b+1,), column, factor  dofs of the border as sums of its equations' unknowns: none where fixed
    multiplier (r,) unknowns that are those of rods
    number   (3n,)  equation of each dof in a band that is tried without row exchanges, -1 fixed; empty: another one
    """

    sequence: Ints
    first: Ints
    near: Ints
    target: Ints
    own: Ints
    between: Ints
    border: Ints
    rank: Ints
    inner: Ints
    start: Ints
    column: Ints
    factor: Floats
    multiplier: Ints
    number: Ints = np.zeros(0, np.int64)

    @property
    def blocks(self) -> int:
        """How many there are."""
        return len(self.own) + 2 * len(self.near) + len(self.inner) + 1


NOTHING = np.zeros(0, np.int64)
NO_PLAN = EliminationPlan(
    NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NO_PAIRS, NOTHING, NOTHING, NO_PAIRS, NOTHING, NOTHING, np.zeros(0),
    NOTHING,
)  # fmt: skip
"""For solvers without a plan."""
NARROWEST, WIDEST = 9, 16
"""Half widths of bands that are tried without row exchanges: of lines that twist it is 10."""
BLOCK, NODE = 27, 60
"""Multiplications for a product of two blocks, and for the rest of the work for a node."""


def plan_of(
    edges: Ints,
    rods: Ints,
    free: Ints,
    equations: Equations,
    most: float,
    equation: Ints | None = None,
    row: Ints | None = None,
) -> EliminationPlan | None:
    """Plan for the nodes of bars, then of pairs (m + p, 2), and those of rods; None beyond ``most`` multiplications.
    row (r,)    constraint of each rod (None: each has its own)
    free (3n,)  1 independent, 0 fixed, 2 dependent
    equation    (3n + m,) numbers of dofs and multipliers in a band, where all nodes are of the border"""
    count, row = len(free) // 3, np.arange(len(rods)) if row is None else row
    is_open = (free.reshape(-1, 3) != 0).any(axis=1)
    tied = np.concatenate([equations.slave, equations.master]) // 3
    border = np.unique(np.concatenate([tied, edges[rods].ravel()])) if equation is None else np.flatnonzero(is_open)
    rank = np.full(count, -1, np.int64)
    rank[border] = np.arange(len(border))
    is_left, work = (is_open & (rank < 0)).tolist(), 0.0
    if equation is None:
        (unknown,) = np.nonzero((free == 1) & (rank.repeat(3) >= 0))
        equation = np.full(3 * count + len(edges), -1, np.int64)
        equation[unknown], equation[3 * count + rods] = np.arange(len(unknown)), len(unknown) + row
        work = (equation.max(initial=-1) + 1) ** 3 / 3.0
    around: list[set[int]] = [set() for _ in is_left]
    for i, j in edges.tolist():
        if i != j and (is_left[i] or is_left[j]) and (is_left[i] or rank[i] >= 0) and (is_left[j] or rank[j] >= 0):
            around[i].add(j)
            around[j].add(i)
    waiting = [(len(around[node]), node, node) for node in range(count) if is_left[node]]
    heapify(waiting)
    sequence, first, near, turn = list[int](), [0], list[int](), count
    target, place = list[tuple[int, int]](), {(node, node): node for node in range(count) if is_left[node]}
    while waiting:
        degree, _, node = heappop(waiting)
        others = sorted(around[node])
        if not is_left[node] or degree != len(others):
            continue
        work += NODE + BLOCK * degree * (degree + 1)
        if work > most:
            return None
        is_left[node] = False
        sequence.append(node)
        for other in others:
            place[node, other], place[other, node] = count + 2 * len(near), count + 2 * len(near) + 1
            near.append(other)
            target += [(other, another) for another in others]
            around[other].update(others)
            around[other] -= {node, other}
            if is_left[other]:  # after its equals: lines alternate, which a processor executes in parallel
                turn += 1
                heappush(waiting, (len(around[other]), turn, other))
        first.append(len(near))
    if work > most:
        return None
    ends = [(i, j) for i, j in edges.tolist()]
    back, own = [(j, i) for i, j in ends], [(node, node) for node in range(count)]
    is_tied, begin = (rank >= 0).tolist(), count + 2 * len(near)
    inner = dict.fromkeys(each for each in [*own, *ends, *back, *target] if is_tied[each[0]] and is_tied[each[1]])
    place.update({each: begin + k for k, each in enumerate(inner)})

    def blocks(wanted: list[tuple[int, int]]) -> Ints:
        return np.array([place.get(each, begin + len(inner)) for each in wanted], np.int64)

    sums = {dof: [(k, 1.0)] for dof, k in enumerate(equation[: 3 * count].tolist()) if k >= 0}
    for k, slave in enumerate(equations.slave.tolist()):
        those = range(equations.start[k], equations.start[k + 1])
        sums[slave] = [(sums[m][0][0], equations.factor[t]) for t in those if (m := equations.master[t]) in sums]
    terms = [sums.get(dof, []) for dof in (3 * border[:, None] + np.arange(3)).ravel().tolist()]
    return EliminationPlan(
        np.array(sequence, np.int64),
        np.array(first, np.int64),
        np.array(near, np.int64),
        blocks(target),
        blocks(own),
        np.column_stack([blocks(ends), blocks(back)]),
        border,
        rank,
        rank[np.array([*inner], np.int64).reshape(-1, 2)],
        np.cumsum([0, *map(len, terms)]),
        np.array([k for each in terms for k, _ in each], np.int64),
        np.array([factor for each in terms for _, factor in each], float),
        equation[3 * count + rods],
    )


NAMES = {
    EXTERNAL: "direct",
    CHAIN: "chain",
    BAND: "band",
    CG: "conjugate gradients",
    BICGSTAB: "stabilised biconjugate gradients",
    NO_SOLVE: "none",
    UNSYMMETRIC_CHAIN: "chain",
    BORDER: "border",
}
"""Names of linear solvers in messages."""
UNSYMMETRIC = {CG: BICGSTAB, CHAIN: UNSYMMETRIC_CHAIN}
"""Their replacements for unsymmetric tangents."""
DIRECT_SOLVERS = ("DIRECT", SUPERLU, PARDISO)
SOLVERS = ("AUTO", "CHAIN", "BAND", "BORDER", "CG", *DIRECT_SOLVERS)
"""Values of the option; DIRECT leaves the choice of the library to the program."""

NO_TREE = Tree(NOTHING, NOTHING, NOTHING, np.zeros(0), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)
"""For solvers without an elimination tree."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The linear solver of a step: its number for the march, its data, and the reason for the choice.

    rows, width      of a band
    library, remark  library of direct solves, and its name in the record
    """

    solver: int
    tree: Tree
    rows: int
    width: int
    reason: str
    library: str
    remark: str
    plan: EliminationPlan = NO_PLAN

    @property
    def text(self) -> str:
        """The choice as the record of the run has it."""
        remark = f" ({self.remark})" if self.solver == EXTERNAL else ""
        return f"{NAMES[self.solver]}{remark}: {self.reason}"


def choose_solver(
    system: System, free: Ints, equations: Equations, may_iterate: bool, wanted: str, is_static: bool
) -> Choice:
    """Chain elimination for paths and trees in motion, a narrow band otherwise; nets in motion iterate.
    Statics pivots (tangents may be indefinite or nearly singular), so it uses neither the chain nor iterations."""
    count = int(np.count_nonzero(free == 1))
    direct = Choice(EXTERNAL, NO_TREE, 0, 0, "asked for", *library_for(wanted, count))
    edges, bars = np.concatenate([system.bars.nodes, system.pairs]), system.bars
    if wanted in DIRECT_SOLVERS:
        return direct
    if len(equations.slave) or wanted == "BORDER":
        most = np.inf if wanted == "BORDER" else SPARSE_START + SPARSE_NODE * len(system.labels)
        plan = plan_of(edges, bars.rods, free, equations, most, row=rows_of(bars))
        if plan is None or count == 0:
            return replace(direct, reason="equations couple dofs")
        rows = int(plan.column.max(initial=-1)) + 1 + len(heads(bars))
        reason = f"lines and a border of {rows} unknowns"
        return replace(direct, solver=BORDER, plan=plan, rows=rows, width=max(rows - 1, 0), reason=reason)
    if wanted == "CG" and may_iterate:
        return replace(direct, solver=CG)
    if wanted == "CHAIN" or (wanted == "AUTO" and not is_static):
        tree = find_tree(system, free)
        if tree is not None:
            if len(system.pairs):
                reason = "bars and other couplings of nodes form chains or trees"
                return replace(direct, solver=UNSYMMETRIC_CHAIN, tree=tree, reason=reason)
            return replace(direct, solver=CHAIN, tree=tree, reason="bars form chains or trees")
    if count == 0:
        return replace(direct, reason="no dof is free")
    equation, width = number_band(system, free)
    if wanted == "BAND" or count * float(width) ** 2 <= BAND_WORK:
        plan = plan_of(edges, bars.rods, free, equations, np.inf, equation) or NO_PLAN
        if system.twists is not None and not len(bars.rods) and NARROWEST <= width <= WIDEST < system.size:
            plan = plan._replace(number=equation[: system.size])
        reason = f"narrow band, half width {width}"
        return replace(direct, solver=BAND, plan=plan, rows=int(equation.max()) + 1, width=width, reason=reason)
    if may_iterate:
        return replace(direct, solver=CG, reason=f"half bandwidth {width}, symmetric, with inertia")
    return replace(direct, reason=f"half bandwidth {width} is too wide")
