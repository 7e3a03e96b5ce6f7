"""Cables and bars that hang in any network, above planes, under dead loads: the state of least energy, from any start.

Members that only pull, with weights and buoyancy on their nodes and frictionless planes below, have an energy that is
convex in the positions of the nodes: there is one equilibrium, found from any start. Newton's method on that energy
still needs hundreds of steps if members are stiff. Here forces are separate unknowns, with a cone for each member:

    w(T) >= |d|,  T >= |f|,  w(T) T - d.f -> 0     d = x_j - x_i, w its length under the tension T, f its force
    N/K - depth >= 0,  N >= 0,  their product -> 0  of a node above a plane

which is solved by an interior-point method with the scaling of Nesterov and Todd: only the products are nonlinear, so
stiff, slack, folded and rotating members make no difference; it takes 20 to 40 linear solves. Sources: Nesterov & Todd,
SIAM J. Optim. 8 (1998) 324-364; Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010, section 4.

Friction on a plane with a given limit F (Tresca) has a convex energy, too, and is one more cone for each node:

    w >= |s|,  F >= |f|,  w F - s.f -> 0        s = d - gamma f/F, the slip of a node d off its anchor along the plane
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.lines.hanging import Line, LineError, chords, green_stretch, log_stretch

MOST_SOLVES = 150
MOST_LAST = 40
BALANCED, NEAR, NEAR_RUBBING, CLOSED = 1e-6, 1e-6, 1e-8, 1e-10
"""Residual forces over all loads, and products over loads and length, at which the interior-point method ends, smaller
with friction, because sticking nodes move little; products allowed for slack members."""
SETTLED = 1e-9
"""Residual forces over all loads, and errors of lengths over their mean, after polishing."""
CAUTION = 1e-6
"""Stiffness over loads and length that holds nodes during polishing."""
NEARLY, NEARER = 0.95, 0.995
"""Part of the distance to the boundary of a cone that a step may use, and in the end to that of a number."""
SIGNS = np.array([1.0, -1.0, -1.0, -1.0])


class Rubs(NamedTuple):
    """k nodes with friction on planes, with limits independent of the normal force.

    nodes   (k,)
    along   (k, 3, 3)  onto two directions along the plane; the third row is 0
    anchor  (k, 3)     position without friction
    limit   (k,)       of the force, above 0
    slip    (k,)       displacement at which it is reached
    """

    nodes: Ints
    along: Floats
    anchor: Floats
    limit: Floats
    slip: Floats


class Network(NamedTuple):
    """n nodes, m members that only pull, c contacts of nodes with planes, k nodes that rub.

    places     (n, 3)   positions of supported nodes, initial ones of the others
    load       (n, 3)   dead loads
    ends       (m, 2)   nodes of each member
    members             their natural length, stiffness and strain measures; the weights are not used
    touching   (c,)     nodes above planes
    normal     (c, 3)   of the planes, upwards
    depth      (c,)     of nodes below their plane at ``places``
    ground     (c,)     force over depth
    freedom    (3n, r)  sparse: motion of nodes by r free numbers
    rubs                none without friction
    clings     (n,)     stiffness of springs to ``places``; empty: none
    """

    places: Floats
    load: Floats
    ends: Ints
    members: Line
    touching: Ints
    normal: Floats
    depth: Floats
    ground: Floats
    freedom: Any
    rubs: Rubs = Rubs(np.zeros(0, np.int64), np.zeros((0, 3, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0))
    clings: Floats = np.zeros(0)

    def loads_at(self, places: Floats) -> Floats:
        """(n, 3) loads, with the forces of the springs to ``places``."""
        return self.load - self.clings[:, None] * (places - self.places) if len(self.clings) else self.load.copy()


class Rest(NamedTuple):
    """A network at rest. places (n, 3);  tension (m,), 0 where slack;  push (c,) of planes on nodes;  solves."""

    places: Floats
    tension: Floats
    push: Floats
    solves: int


def free_nodes(held: Flags) -> Any:
    """``Network.freedom`` of nodes of which some are held in all directions."""
    from scipy.sparse import eye_array

    return eye_array(3 * len(held), format="csc")[:, np.flatnonzero(np.repeat(~held, 3))]


def relax(net: Network) -> Rest:
    """The network in equilibrium. LineError: none was found."""
    scale = float(np.abs(net.load).sum())
    if not 0.0 < scale < np.inf:
        raise LineError("without loads its shape is not determined")
    state = _first(net, scale)
    size, near = float(net.members.length.mean()), NEAR_RUBBING if len(net.rubs.nodes) else NEAR
    for solves in range(MOST_SOLVES):
        gaps = _gaps(net, state)
        off = float(np.abs(net.freedom.T @ gaps.force.ravel()).max(initial=0.0)) / scale
        loose = max(float(np.abs(each).max(initial=0.0)) for each in gaps[1:]) / size
        left = state.product() / (scale * size)
        if not off + loose + left < np.inf:
            break
        if max(off, loose) < BALANCED and left < near:
            return _finished(net, state, scale, solves)
        with np.errstate(all="ignore"):  # NaN ends the search above
            state = _step(net, state, gaps)
    raise LineError("no equilibrium was found: its members cannot carry the loads to the supports")


class _State(NamedTuple):
    """A state inside all cones.

    way, pull  (m, 4)  (w, d) and (T, -f) of each member;  slid, rub (k, 4)  (w, s) and (F, -f) of what rubs
    push, room (c,)    N and N/K - depth;  last: of the last step
    """

    places: Floats
    way: Floats
    pull: Floats
    slid: Floats
    rub: Floats
    push: Floats
    room: Floats
    last: float

    def product(self) -> float:
        """Mean of the products that must vanish."""
        total = (self.way * self.pull).sum() + (self.slid * self.rub).sum() + self.push @ self.room
        return float(total) / (len(self.way) + len(self.slid) + len(self.push))


_Pair: TypeAlias = tuple[Floats, Floats]


class _Gaps(NamedTuple):
    """Errors of the linear relations: balance (n, 3), ways (m, 3), lengths (m,), slips (k, 3), depths (c,)."""

    force: Floats
    way: Floats
    length: Floats
    slid: Floats
    depth: Floats


def _first(net: Network, scale: float) -> _State:
    size, members, contacts = float(net.members.length.mean()), len(net.ends), len(net.touching)
    way, pull = np.zeros((2, members, 4))
    pull[:, 0] = scale
    way[:, 0] = chords(net.members, pull[:, 0]) + size
    push = np.full(contacts, scale / max(contacts, 1))
    slid, rub = np.zeros((2, len(net.rubs.nodes), 4))
    slid[:, 0], rub[:, 0] = size * scale / net.rubs.limit, net.rubs.limit
    return _State(net.places, way, pull, slid, rub, push, np.full(contacts, size), 0.0)


def _off_anchors(rubs: Rubs, places: Floats) -> Floats:
    """(k, 3) d of nodes with friction, in their own directions."""
    return np.asarray(np.einsum("kij,kj->ki", rubs.along, places[rubs.nodes] - rubs.anchor))


def _soft(rubs: Rubs) -> Floats:
    """(k, 1) displacement over force of sticking nodes."""
    return np.asarray((rubs.slip / rubs.limit)[:, None])


def _gaps(net: Network, state: _State) -> _Gaps:
    force = net.loads_at(state.places)
    np.add.at(force, net.ends[:, 1], state.pull[:, 1:])
    np.subtract.at(force, net.ends[:, 0], state.pull[:, 1:])
    np.add.at(force, net.touching, state.push[:, None] * net.normal)
    np.add.at(force, net.rubs.nodes, np.einsum("kji,kj->ki", net.rubs.along, state.rub[:, 1:]))
    slid = _off_anchors(net.rubs, state.places) + _soft(net.rubs) * state.rub[:, 1:] - state.slid[:, 1:]
    way = state.places[net.ends[:, 1]] - state.places[net.ends[:, 0]] - state.way[:, 1:]
    length = chords(net.members, state.pull[:, 0]) - state.way[:, 0]
    depth = net.depth - ((state.places - net.places)[net.touching] * net.normal).sum(axis=1)
    return _Gaps(force, way, length, slid, state.push / net.ground - depth - state.room)


def _step(net: Network, state: _State, gaps: _Gaps) -> _State:
    """One Newton step of the scaled system, as far as cones allow."""
    target = (0.15 if state.last > 0.9 else 0.4 if state.last > 0.5 else 0.9) * state.product()
    give = _compliance(net.members, state.pull[:, 0])
    stiff = _scaled(state, give)
    right = target * state.pull * SIGNS / _square(state.pull)[:, None] - state.way
    right[:, 0] -= gaps.length
    right[:, 1:] -= gaps.way
    push_right = target / state.push - state.room - gaps.depth
    soft = state.room / state.push + 1.0 / net.ground
    free = np.einsum("kij,kj->ki", stiff, right)
    scaling = _scaling(state.slid, state.rub)
    sticks = np.asarray(np.linalg.inv(scaling[:, 1:, 1:] + _soft(net.rubs)[:, :, None] * np.eye(3)), np.float64)
    slid_right = target * state.rub * SIGNS / _square(state.rub)[:, None] - state.slid
    rub_free = np.einsum("kij,kj->ki", sticks, slid_right[:, 1:] - gaps.slid)
    members, contacts = (stiff[:, 1:, 1:], free[:, 1:]), (1.0 / soft, push_right / soft)
    moves = _solved(net, gaps.force, members, contacts, (sticks, rub_free))
    off = np.einsum("kij,kj->ki", net.rubs.along, moves[net.rubs.nodes])
    rub = np.zeros_like(state.rub)
    rub[:, 1:] = rub_free - np.einsum("kij,kj->ki", sticks, off)
    slid = slid_right - np.einsum("kij,kj->ki", scaling, rub)
    along = moves[net.ends[:, 1]] - moves[net.ends[:, 0]]
    pull = free - np.einsum("kij,kj->ki", stiff[:, :, 1:], along)
    way = np.column_stack([give * pull[:, 0] + gaps.length, along + gaps.way])
    rise = (moves[net.touching] * net.normal).sum(axis=1)
    push = (push_right - rise) / soft
    room = push / net.ground + rise + gaps.depth
    reach = min(_to_cone(state.way, way), _to_cone(state.pull, pull), _to_zero(state.push, push))
    reach = min(reach, _to_cone(state.slid, slid), _to_cone(state.rub, rub))
    part = min(1.0, NEARLY * min(reach, _to_zero(state.room, room)))
    changes = moves, way, pull, slid, rub, push, room
    moved = [before + part * change for before, change in zip(state[:-1], changes, strict=True)]
    return _State._make([*moved, part])


def _square(cone: Floats) -> Floats:
    """Lorentz' square (m,), positive inside; as a product, which keeps its digits near the boundary."""
    size = np.sqrt((cone[:, 1:] ** 2).sum(axis=1))
    return np.asarray(np.maximum((cone[:, 0] - size) * (cone[:, 0] + size), np.finfo(float).tiny))


def _scaling(way: Floats, pull: Floats) -> Floats:
    """(m, 4, 4) of Nesterov and Todd, that maps pull to way."""
    square_way, square_pull = _square(way), _square(pull)
    way, pull = way / np.sqrt(square_way)[:, None], pull / np.sqrt(square_pull)[:, None]
    middle = np.sqrt(0.5 * (1.0 + (way * pull).sum(axis=1)))
    point = (way + pull * SIGNS) / (2.0 * middle)[:, None]
    turned = 2.0 * point[:, :, None] * point[:, None, :] - np.diag(SIGNS)
    return np.asarray(np.sqrt(square_way / square_pull)[:, None, None] * turned)


def _scaled(state: _State, give: Floats) -> Floats:
    """(m, 4, 4) inverse of the scaling that maps pull to way, and the compliance along the member beside it."""
    inverse = _scaling(state.pull, state.way)
    first = inverse[:, :, 0]
    less = give / (1.0 + give * first[:, 0])
    return np.asarray(inverse - less[:, None, None] * first[:, :, None] * first[:, None, :])


def _solved(net: Network, force: Floats, members: _Pair, contacts: _Pair, rubs: _Pair, held: float = 0.0) -> Floats:
    """(n, 3) moves that restore equilibrium; LineError: none do. Pairs: stiffness, and forces without moves."""
    (blocks, pulls), (ground, pushes), (sticks, rub_pulls) = members, contacts, rubs
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.linalg import splu

    right = force.copy()
    np.add.at(right, net.ends[:, 1], pulls)
    np.subtract.at(right, net.ends[:, 0], pulls)
    np.add.at(right, net.touching, pushes[:, None] * net.normal)
    along = net.rubs.along
    np.add.at(right, net.rubs.nodes, np.einsum("kji,kj->ki", along, rub_pulls))
    dofs = (3 * net.ends[:, :, None] + np.arange(3)).reshape(-1, 6)
    both = np.block([[blocks, -blocks], [-blocks, blocks]])
    below = 3 * np.concatenate([net.touching, net.rubs.nodes])[:, None] + np.arange(3)
    normal = ground[:, None, None] * net.normal[:, :, None] * net.normal[:, None, :]
    normal = np.concatenate([normal, np.einsum("kji,kjl,klm->kim", along, sticks, along)])
    rows = np.concatenate([np.repeat(dofs, 6, axis=1).ravel(), np.repeat(below, 3, axis=1).ravel()])
    columns = np.concatenate([np.tile(dofs, (1, 6)).ravel(), np.tile(below, (1, 3)).ravel()])
    entries = np.concatenate([both.ravel(), normal.ravel()])
    whole = coo_array((entries, (rows, columns)), shape=(right.size, right.size)).tocsc()
    stays = diags_array(held + (np.repeat(net.clings, 3) if len(net.clings) else np.zeros(right.size)), format="csc")
    matrix = (net.freedom.T @ (whole + stays) @ net.freedom).tocsc()
    options = {"SymmetricMode": True}
    try:
        factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError:
        raise LineError("some of its nodes are not connected to a support") from None
    return np.asarray(net.freedom @ factor.solve(net.freedom.T @ right.ravel())).reshape(-1, 3)


def _to_cone(cone: Floats, change: Floats) -> float:
    """The largest step inside all cones (m, 4)."""
    a = change[:, 0] ** 2 - (change[:, 1:] ** 2).sum(axis=1)
    b = cone[:, 0] * change[:, 0] - (cone[:, 1:] * change[:, 1:]).sum(axis=1)
    c = _square(cone)
    inside = b * b - a * c
    root = np.sqrt(np.maximum(inside, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(b < 0.0, c / (root - b), np.where(a < 0.0, (-b - root) / a, np.inf))
    return float(np.where((a > 0.0) & (inside < 0.0), np.inf, reach).min(initial=np.inf))


def _to_zero(value: Floats, change: Floats) -> float:
    """The largest step with all numbers positive."""
    with np.errstate(divide="ignore"):
        return float(np.where(change < 0.0, -value / change, np.inf).min(initial=np.inf))


def _compliance(members: Line, tension: Floats) -> Floats:
    """dw/dT of each member."""
    load = tension / members.stiffness
    slope = np.ones_like(load)
    if members.is_green.any():
        slope = np.where(members.is_green, 2.0 / (3.0 * green_stretch(load) ** 2 - 1.0), slope)
    if members.is_log.any():
        s = np.minimum(log_stretch(load), 0.9 * np.e)
        slope = np.where(members.is_log, s * s / (1.0 - np.log(s)), slope)
    return np.asarray(members.length / members.stiffness * slope)


def _finished(net: Network, state: _State, scale: float, solves: int) -> Rest:
    """The polished solution; the friction of a node may be between sticking and sliding, and is kept."""
    try:
        return _polished(net, state, scale, solves)
    except LineError:
        if not len(net.rubs.nodes):
            raise
        return Rest(state.places, state.pull[:, 0], state.push, solves + MOST_LAST)


def _polished(net: Network, state: _State, scale: float, solves: int) -> Rest:
    """The last digits, with lengths themselves in place of cones: spare lengths keep theirs as numbers of their own.
    (w(T) + spare - |d|) = 0, T spare = target: that is none at last where members are taut, so that they obey their
    law, and next to nothing where they are slack, which keeps these in line."""
    size = float(net.members.length.mean())
    places, pull = state.places, np.concatenate([state.pull[:, 0], state.push])
    least = CLOSED * scale * size
    spare = np.concatenate([state.way[:, 0] - np.sqrt((state.way[:, 1:] ** 2).sum(axis=1)), state.room])
    spare, last = np.maximum(spare, least / pull), 1.0
    members, lowered = len(net.ends), state.product()
    for extra in range(MOST_LAST):
        ways = places[net.ends[:, 1]] - places[net.ends[:, 0]]
        far = np.sqrt((ways**2).sum(axis=1))
        along = ways / far[:, None]
        depth = net.depth - ((places - net.places)[net.touching] * net.normal).sum(axis=1)
        give = np.concatenate([_compliance(net.members, pull[:members]), 1.0 / net.ground])
        natural = np.concatenate([chords(net.members, pull[:members]), pull[members:] / net.ground])
        off = np.concatenate([far, depth]) + spare - natural
        force = _balance(net, net.loads_at(places), along, pull)
        rub_pulls, rubs = _rubbed(net.rubs, places, lowered if lowered > least else 0.0)
        np.add.at(force, net.rubs.nodes, np.einsum("kji,kj->ki", net.rubs.along, rub_pulls))
        is_taut = give * pull > spare
        wrong = float(np.abs(net.freedom.T @ force.ravel()).max(initial=0.0)) / scale
        closed = (pull * spare)[is_taut].max(initial=0.0) < CLOSED * least
        closed = closed and (lowered <= least or not len(rubs))
        if wrong < SETTLED and (np.abs(off) < np.where(is_taut, SETTLED, NEAR) * size).all() and closed:
            carried = np.where(is_taut, pull, 0.0)
            return Rest(places, carried[:members], carried[members:], solves + extra)
        lowered = max(0.1 * lowered, least) if last > 0.5 else lowered
        target = np.where(is_taut & (lowered <= least), 0.0, lowered)
        stiff = 1.0 / (give + spare / pull)
        more = stiff * (off + target / pull - spare)
        turn = (pull[:members] / far)[:, None, None] * (np.eye(3) - along[:, :, None] * along[:, None, :])
        blocks = stiff[:members, None, None] * along[:, :, None] * along[:, None, :] + turn
        given = (blocks, -more[:members, None] * along), (stiff[members:], more[members:])
        moves = _solved(net, force, *given, (rubs, np.zeros_like(rub_pulls)), held=CAUTION * scale / size)
        rise = (moves[net.touching] * net.normal).sum(axis=1)
        steps = np.concatenate([((moves[net.ends[:, 1]] - moves[net.ends[:, 0]]) * along).sum(axis=1), -rise])
        pulls = stiff * steps + more
        spares = (target - spare * pulls) / pull - spare
        last = min(1.0, NEARER * min(_to_zero(pull, pulls), _to_zero(spare, spares)))
        places, pull, spare = places + last * moves, pull + last * pulls, spare + last * spares
        if not np.isfinite(places).all():
            break
    raise LineError("no equilibrium was found: its members cannot carry the loads to the supports")


def _rubbed(rubs: Rubs, places: Floats, product: float) -> tuple[Floats, Floats]:
    """(k, 3) forces on nodes that rub, and (k, 3, 3) their stiffness, both in their own directions; rounded by a slip
    that is longer while products are above 0."""
    way = _off_anchors(rubs, places)
    far, slip = np.sqrt((way * way).sum(axis=1)), rubs.slip + product / rubs.limit
    reach = np.maximum(far, slip)
    stiff, toward = rubs.limit / reach, way / reach[:, None]
    turned = np.where(far >= slip, 1.0, 0.0)[:, None, None] * toward[:, :, None] * toward[:, None, :]
    return -stiff[:, None] * way, stiff[:, None, None] * (np.eye(3) - turned)


def _balance(net: Network, force: Floats, along: Floats, pull: Floats) -> Floats:
    """(n, 3) loads, pulls and pushes together."""
    members = len(net.ends)
    np.subtract.at(force, net.ends[:, 1], pull[:members, None] * along)
    np.add.at(force, net.ends[:, 0], pull[:members, None] * along)
    np.add.at(force, net.touching, pull[members:, None] * net.normal)
    return force
