"""Cables and bars that hang in any network, above planes, under dead loads: the state of least energy, from any start.

Members that only pull, with weights and buoyancy on their nodes and frictionless planes below, have an energy that is
convex in the places of the nodes: there is one equilibrium, and no start is bad. Newton's method on that energy still
takes hundreds of steps where members are stiff. Here forces are unknowns of their own, a cone for each member:

    w(T) >= |d|,  T >= |f|,  w(T) T - d.f -> 0     d = x_j - x_i, w its length under the tension T, f its force
    N/K - depth >= 0,  N >= 0,  their product -> 0  of a node above a plane

which is solved by an interior-point method with the scaling of Nesterov and Todd: all but the products is linear, so
stiff, slack, folded and turning members are the same to it, in some 20 to 40 linear solves. Sources: Nesterov & Todd,
SIAM J. Optim. 8 (1998) 324-364; Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010, section 4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.lines.line import Line, LineError, chords, green_stretch, log_stretch

MOST_SOLVES = 150
MOST_LAST = 40
BALANCED, NEAR, CLOSED = 1e-6, 1e-6, 1e-10
"""Forces out of balance over all loads, and products over loads and length, where cones have done their work; products
that slack members may keep."""
SETTLED = 1e-9
"""Forces out of balance over all loads, and lengths over their mean, after polishing."""
CAUTION = 1e-6
"""Stiffness over loads and length with which nodes keep where they are while the last digits are found."""
NEARLY, NEARER = 0.95, 0.995
"""Part of the way to the boundary of a cone that a step goes, and at last to that of a number."""
SIGNS = np.array([1.0, -1.0, -1.0, -1.0])


class Network(NamedTuple):
    """n nodes, m members that only pull, c contacts of nodes with planes.

    places     (n, 3)   where nodes are held, or where to begin
    load       (n, 3)   dead loads
    ends       (m, 2)   nodes of each member
    members             their natural length, stiffness and strain measures; the weights are left alone
    touching   (c,)     nodes above planes
    normal     (c, 3)   of the planes, upwards
    depth      (c,)     of nodes below their plane at ``places``
    ground     (c,)     force over depth
    freedom    (3n, r)  sparse: motion of nodes by r free numbers
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
    """The network at rest. LineError: none was found."""
    scale = float(np.abs(net.load).sum())
    if not 0.0 < scale < np.inf:
        raise LineError("nothing loads it, so that its places are not determined")
    state = _first(net, scale)
    size = float(net.members.length.mean())
    for solves in range(MOST_SOLVES):
        gaps = _gaps(net, state)
        off = float(np.abs(net.freedom.T @ gaps.force.ravel()).max(initial=0.0)) / scale
        loose = max(float(np.abs(each).max(initial=0.0)) for each in (gaps.way, gaps.length, gaps.depth)) / size
        left = state.product() / (scale * size)
        if not off + loose + left < np.inf:
            break
        if max(off, loose) < BALANCED and left < NEAR:
            return _polished(net, state, scale, solves)
        state = _step(net, state, gaps)
    raise LineError("no equilibrium was found: its members cannot carry the loads to the nodes that are held")


class _State(NamedTuple):
    """Inside of all cones.

    way, pull  (m, 4)  (w, d) and (T, -f) of each member;  push, room (c,)  N and N/K - depth;  last: of the last step
    """

    places: Floats
    way: Floats
    pull: Floats
    push: Floats
    room: Floats
    last: float

    def product(self) -> float:
        """What is to vanish, on average."""
        total = (self.way * self.pull).sum() + self.push @ self.room
        return float(total) / (len(self.way) + len(self.push))


class _Gaps(NamedTuple):
    """What the linear relations are off by: balance (n, 3), ways (m, 3), lengths (m,), depths (c,)."""

    force: Floats
    way: Floats
    length: Floats
    depth: Floats


def _first(net: Network, scale: float) -> _State:
    size, members, contacts = float(net.members.length.mean()), len(net.ends), len(net.touching)
    way, pull = np.zeros((2, members, 4))
    pull[:, 0] = scale
    way[:, 0] = chords(net.members, pull[:, 0]) + size
    push = np.full(contacts, scale / max(contacts, 1))
    return _State(net.places, way, pull, push, np.full(contacts, size), 0.0)


def _gaps(net: Network, state: _State) -> _Gaps:
    force = net.load.copy()
    np.add.at(force, net.ends[:, 1], state.pull[:, 1:])
    np.subtract.at(force, net.ends[:, 0], state.pull[:, 1:])
    np.add.at(force, net.touching, state.push[:, None] * net.normal)
    way = state.places[net.ends[:, 1]] - state.places[net.ends[:, 0]] - state.way[:, 1:]
    length = chords(net.members, state.pull[:, 0]) - state.way[:, 0]
    depth = net.depth - ((state.places - net.places)[net.touching] * net.normal).sum(axis=1)
    return _Gaps(force, way, length, state.push / net.ground - depth - state.room)


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
    moves = _solved(net, gaps.force, stiff[:, 1:, 1:], free[:, 1:], 1.0 / soft, push_right / soft)
    along = moves[net.ends[:, 1]] - moves[net.ends[:, 0]]
    pull = free - np.einsum("kij,kj->ki", stiff[:, :, 1:], along)
    way = np.column_stack([give * pull[:, 0] + gaps.length, along + gaps.way])
    rise = (moves[net.touching] * net.normal).sum(axis=1)
    push = (push_right - rise) / soft
    room = push / net.ground + rise + gaps.depth
    reach = min(_to_cone(state.way, way), _to_cone(state.pull, pull), _to_zero(state.push, push))
    part = min(1.0, NEARLY * min(reach, _to_zero(state.room, room)))
    return _State(
        state.places + part * moves,
        state.way + part * way,
        state.pull + part * pull,
        state.push + part * push,
        state.room + part * room,
        part,
    )


def _square(cone: Floats) -> Floats:
    """Lorentz' square (m,), positive inside; as a product, which keeps its digits near the boundary."""
    size = np.sqrt((cone[:, 1:] ** 2).sum(axis=1))
    return np.asarray(np.maximum((cone[:, 0] - size) * (cone[:, 0] + size), np.finfo(float).tiny))


def _scaled(state: _State, give: Floats) -> Floats:
    """(m, 4, 4) inverse of the scaling that maps pull to way, and the compliance along the member beside it."""
    square_way, square_pull = _square(state.way), _square(state.pull)
    way, pull = state.way / np.sqrt(square_way)[:, None], state.pull / np.sqrt(square_pull)[:, None]
    middle = np.sqrt(0.5 * (1.0 + (way * pull).sum(axis=1)))
    point = SIGNS * (way + pull * SIGNS) / (2.0 * middle)[:, None]
    inverse = np.sqrt(square_pull / square_way)[:, None, None] * (
        2.0 * point[:, :, None] * point[:, None, :] - np.diag(SIGNS)
    )
    first = inverse[:, :, 0]
    less = give / (1.0 + give * first[:, 0])
    return np.asarray(inverse - less[:, None, None] * first[:, :, None] * first[:, None, :])


def _solved(
    net: Network, force: Floats, blocks: Floats, pulls: Floats, ground: Floats, pushes: Floats, held: float = 0.0
) -> Floats:
    """(n, 3) moves that balance; LineError where nothing does."""
    from scipy.sparse import coo_array, eye_array
    from scipy.sparse.linalg import splu

    right = force.copy()
    np.add.at(right, net.ends[:, 1], pulls)
    np.subtract.at(right, net.ends[:, 0], pulls)
    np.add.at(right, net.touching, pushes[:, None] * net.normal)
    dofs = (3 * net.ends[:, :, None] + np.arange(3)).reshape(-1, 6)
    both = np.block([[blocks, -blocks], [-blocks, blocks]])
    below = (3 * net.touching)[:, None] + np.arange(3)
    normal = ground[:, None, None] * net.normal[:, :, None] * net.normal[:, None, :]
    rows = np.concatenate([np.repeat(dofs, 6, axis=1).ravel(), np.repeat(below, 3, axis=1).ravel()])
    columns = np.concatenate([np.tile(dofs, (1, 6)).ravel(), np.tile(below, (1, 3)).ravel()])
    entries = np.concatenate([both.ravel(), normal.ravel()])
    whole = coo_array((entries, (rows, columns)), shape=(right.size, right.size)).tocsc()
    matrix = (net.freedom.T @ (whole + held * eye_array(right.size, format="csc")) @ net.freedom).tocsc()
    options = {"SymmetricMode": True}
    try:
        factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError:
        raise LineError("nothing holds some of its nodes") from None
    return np.asarray(net.freedom @ factor.solve(net.freedom.T @ right.ravel())).reshape(-1, 3)


def _to_cone(cone: Floats, change: Floats) -> float:
    """The step at which the first of the cones (m, 4) is left."""
    a = change[:, 0] ** 2 - (change[:, 1:] ** 2).sum(axis=1)
    b = cone[:, 0] * change[:, 0] - (cone[:, 1:] * change[:, 1:]).sum(axis=1)
    c = _square(cone)
    inside = b * b - a * c
    root = np.sqrt(np.maximum(inside, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(b < 0.0, c / (root - b), np.where(a < 0.0, (-b - root) / a, np.inf))
    return float(np.where((a > 0.0) & (inside < 0.0), np.inf, reach).min(initial=np.inf))


def _to_zero(value: Floats, change: Floats) -> float:
    """The step at which the first of positive numbers vanishes."""
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


def _polished(net: Network, state: _State, scale: float, solves: int) -> Rest:
    """The last digits, with lengths themselves in place of cones: spare lengths keep theirs as numbers of their own.

    (w(T) + spare - |d|) = 0, T spare = target: that is none at last where members are taut, so that they obey their
    law, and next to nothing where they are slack, which keeps these in line.
    """
    size = float(net.members.length.mean())
    places, pull = state.places, np.concatenate([state.pull[:, 0], state.push])
    least = CLOSED * scale * size
    spare = np.concatenate([state.way[:, 0] - np.sqrt((state.way[:, 1:] ** 2).sum(axis=1)), state.room])
    spare, last = np.maximum(spare, least / pull), 1.0
    members, lowered = len(net.ends), state.product()
    for extra in range(MOST_LAST):
        pass  # DBG
        ways = places[net.ends[:, 1]] - places[net.ends[:, 0]]
        far = np.sqrt((ways**2).sum(axis=1))
        along = ways / far[:, None]
        depth = net.depth - ((places - net.places)[net.touching] * net.normal).sum(axis=1)
        give = np.concatenate([_compliance(net.members, pull[:members]), 1.0 / net.ground])
        natural = np.concatenate([chords(net.members, pull[:members]), pull[members:] / net.ground])
        off = np.concatenate([far, depth]) + spare - natural
        force = _balance(net, along, pull)
        is_taut = give * pull > spare
        wrong = float(np.abs(net.freedom.T @ force.ravel()).max(initial=0.0)) / scale
        closed = (pull * spare)[is_taut].max(initial=0.0) < CLOSED * least
        if wrong < SETTLED and (np.abs(off) < np.where(is_taut, SETTLED, NEAR) * size).all() and closed:
            carried = np.where(is_taut, pull, 0.0)
            return Rest(places, carried[:members], carried[members:], solves + extra)
        lowered = max(0.1 * lowered, least) if last > 0.5 else lowered
        target = np.where(is_taut & (lowered <= least), 0.0, lowered)
        stiff = 1.0 / (give + spare / pull)
        more = stiff * (off + target / pull - spare)
        turn = (pull[:members] / far)[:, None, None] * (np.eye(3) - along[:, :, None] * along[:, None, :])
        blocks = stiff[:members, None, None] * along[:, :, None] * along[:, None, :] + turn
        held = CAUTION * scale / size
        moves = _solved(net, force, blocks, -more[:members, None] * along, stiff[members:], more[members:], held)
        rise = (moves[net.touching] * net.normal).sum(axis=1)
        steps = np.concatenate([((moves[net.ends[:, 1]] - moves[net.ends[:, 0]]) * along).sum(axis=1), -rise])
        pulls = stiff * steps + more
        spares = (target - spare * pulls) / pull - spare
        last = min(1.0, NEARER * min(_to_zero(pull, pulls), _to_zero(spare, spares)))
        places, pull, spare = places + last * moves, pull + last * pulls, spare + last * spares
        if not np.isfinite(places).all():
            break
    raise LineError("no equilibrium was found: its members cannot carry the loads to the nodes that are held")


def _balance(net: Network, along: Floats, pull: Floats) -> Floats:
    """(n, 3) loads, pulls and pushes together."""
    members = len(net.ends)
    force = net.load.copy()
    np.subtract.at(force, net.ends[:, 1], pull[:members, None] * along)
    np.add.at(force, net.ends[:, 0], pull[:members, None] * along)
    np.add.at(force, net.touching, pull[members:, None] * net.normal)
    return force
