"""Lines that touch a plane bottom, rigid or soft.

A leg leaves the bottom with the tension T along it; of the weight of the node there, the bottom carries a part and the
leg the rest, f in (0, 1]. So the size of a leg, its bars less 1 - f, is a continuous number, and the height of its
upper end increases with it. On the bottom tension decreases towards the first node by w (sin a + mu cos a) per node
(fully mobilised friction), down to 0; the distance of the ends increases with T: two nested root searches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Flags, Floats
from fem.lines.hanging import MOST_TURNS, TINY, Line, LineError, Shape, chords, hang, reversed_line, root
from fem.lines.network import Network, free_nodes, relax

TOUCHING = 1e-9
"""Distance from the bottom, over the length of the line, that counts as zero."""
SHORTER = 1e-6
"""Fraction by which bars without tension are shortened: at their exact length they would alternate between taut and
slack."""


SHORTEST = 1e-9
"""Motion of nodes, over the length of a line, below which it rests on a profile."""
HARD = 1e6
"""Stiffness of a rigid bottom below a line with buoyant parts, over its weight and length."""


MOST_PASSES = 60
"""Planes through the bottom below each node, until the line rests on it."""
Profile: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]


class Bottom(NamedTuple):
    """A plane, or a profile.

    depth      of the plane straight below the first node (0: that lies on it)
    slope      angle by which it rises towards the last node [rad]
    friction   coefficient along the line
    stiffness  (n+1,) force over penetration at each node; None: rigid
    profile    points (k, 2) -> (k,) depths g below it, (k, 2) gradients of g; None: the plane
    """

    depth: float
    slope: float = 0.0
    friction: float = 0.0
    stiffness: Floats | None = None
    profile: Profile | None = None

    def height(self, places: Floats) -> Floats:
        """(k,) distance of points (k, 2) from the bottom, positive above it."""
        if self.profile is not None:
            return -self.profile(places)[0]
        return np.asarray(math.cos(self.slope) * (places[:, 1] + self.depth) - math.sin(self.slope) * places[:, 0])


def lay(line: Line, span: float, rise: float, bottom: Bottom) -> Shape:
    """The line from (0, 0) to (span, rise) above a bottom. LineError: an end lies below it, or there is no equilibrium.
    On a soft bottom resting nodes sink by their normal weight over its stiffness."""
    near = TOUCHING * float(line.length.sum())
    ends = bottom.height(np.array([[0.0, 0.0], [span, rise]]))
    for height, name in zip(ends.tolist(), ("first", "last"), strict=True):
        if height < -near:
            raise LineError(f"its {name} node lies {-height:.6g} below the seabed")
    shape = _hanging(line, span, rise, bottom, near)
    if bottom.profile is not None:
        return _above(line, span, rise, bottom, bottom.profile) if shape is None else shape
    if shape is None and (line.weight[1:-1] < 0.0).any():
        return _anywhere(line, span, rise, bottom)
    if shape is None and ends[1] <= near < ends[0]:
        turned = bottom._replace(depth=bottom.depth + rise - span * math.tan(bottom.slope), slope=-bottom.slope)
        there = _touching(_Resting(reversed_line(line), span, -rise, turned, near))
        vectors = there.vectors[::-1] * np.array([1.0, -1.0])
        shape = there._replace(vectors=vectors, tension=there.tension[::-1], load=there.load[::-1])
    elif shape is None:
        shape = _touching(_Resting(line, span, rise, bottom, near))
    return _settled(line, shape, bottom)


def _hanging(line: Line, span: float, rise: float, bottom: Bottom, near: float) -> Shape | None:
    """The line if it hangs clear of the bottom, else None."""
    shape = hang(line, span, rise)
    return shape if bottom.height(shape.places[1:-1]).min(initial=near) > -near else None


def _anywhere(line: Line, span: float, rise: float, bottom: Bottom) -> Shape:
    """A line that touches the bottom in any number of places, because of buoyant parts; without friction."""
    straight = np.linspace(0.0, 1.0, len(line.weight))[:, None] * np.array([span, rise])
    normal = np.tile([-math.sin(bottom.slope), math.cos(bottom.slope)], (len(line.weight), 1))
    return _on_planes(line, straight, -bottom.height(straight), normal, bottom)


def _above(line: Line, span: float, rise: float, bottom: Bottom, profile: Profile) -> Shape:
    """A line above a profile: on the planes below its nodes, which follow them; without friction. LineError: they do
    not come to rest."""
    places = np.linspace(0.0, 1.0, len(line.weight))[:, None] * np.array([span, rise])
    for _ in range(MOST_PASSES):
        depth, slope = profile(places)
        size = np.sqrt((slope * slope).sum(axis=1))
        shape = _on_planes(line, places, depth / size, -slope / size[:, None], bottom, size * size)
        moved, places = np.abs(shape.places - places).max(), shape.places
        if moved <= SHORTEST * line.length.sum():
            return shape
    raise LineError(
        f"no equilibrium was found on the seabed: after {MOST_PASSES} passes nodes still move by {moved:.3g}"
    )


def _on_planes(
    line: Line, start: Floats, depth: Floats, normal: Floats, bottom: Bottom, firm: Floats | float = 1.0
) -> Shape:
    """A line whose nodes touch a plane each: depths (n+1,) at their first places (n+1, 2), normals (n+1, 2); firm:
    factor of the stiffness of the bottom."""
    count = len(line.weight)
    ground = np.full(count, HARD * line.scale / float(line.length.sum()))
    if bottom.stiffness is not None:
        ground = np.minimum(bottom.stiffness * firm, ground)
    inside = np.arange(1, count - 1)
    load = np.column_stack([np.zeros((count, 2)), -line.weight])
    places, ends = np.insert(start, 1, 0.0, axis=1), np.column_stack([np.arange(count - 1), np.arange(1, count)])
    contacts = inside, np.insert(normal, 1, 0.0, axis=1)[1:-1], depth[1:-1], ground[1:-1]
    freedom = free_nodes(np.isin(np.arange(count), (0, count - 1)))
    rest = relax(Network(places, load, ends, line, *contacts, freedom))
    pushed = np.zeros(count)
    pushed[1:-1] = rest.push / normal[1:-1, 1]
    slack = float(line.length[rest.tension == 0.0].sum())
    return Shape(np.diff(rest.places[:, ::2], axis=0), rest.tension, pushed, slack)


def _settled(line: Line, shape: Shape, bottom: Bottom) -> Shape:
    """Nodes sunk into a soft bottom; the ends stay."""
    if bottom.stiffness is None:
        return shape
    depth = math.cos(bottom.slope) * shape.load[1:-1] / bottom.stiffness[1:-1]
    places = shape.places
    places[1:-1] -= depth[:, None] * np.array([-math.sin(bottom.slope), math.cos(bottom.slope)])
    return shape._replace(vectors=_still_slack(line, shape.tension == 0.0, np.diff(places, axis=0), bottom))


def _still_slack(line: Line, slack: Flags, vectors: Floats, bottom: Bottom) -> Floats:
    """Rows of slack bars between nodes that have sunk differently: their slack is redistributed so that none is taut.
    A row without enough slack stays as it is."""
    along = np.array([math.cos(bottom.slope), math.sin(bottom.slope)])
    across = vectors @ np.array([-along[1], along[0]])
    turns = np.flatnonzero(np.diff(np.concatenate([[False], slack, [False]])))
    for first, last in turns.reshape(-1, 2).tolist():
        run = slice(first, last)
        longest = np.sqrt(np.maximum(line.length[run] ** 2 - across[run] ** 2, 0.0))
        spare = 1.0 - float((vectors[run] @ along).sum()) / longest.sum()
        if 0.0 < spare < 1.0 and (vectors[run] @ along > 0.0).all():
            more = (1.0 - spare) * longest - vectors[run] @ along
            vectors[run] += more[:, None] * along
    return vectors


def _touching(resting: _Resting) -> Shape:
    """The line with the tension that puts the last node in its place, or the line without tension."""
    scale, span = resting.line.scale, resting.span
    low, high = math.log(TOUCHING * scale), math.log(scale)
    if resting.reach(low) >= span:
        return resting.slack()
    for _ in range(MOST_TURNS):
        if resting.reach(high) > span:
            break
        high += 2.0
    found = resting.shape(root(lambda log_t: resting.reach(log_t) - span, low, high))
    if found is None or abs(found.vectors[:, 0].sum() - span) > 1e-6 * span + resting.near:
        raise LineError("no equilibrium was found on the seabed")
    return found


class _Resting:
    """The line for one pair of ends, the last above the bottom; unknown is the logarithm of the tension T."""

    def __init__(self, line: Line, span: float, rise: float, bottom: Bottom, near: float) -> None:
        self.line, self.span, self.rise, self.bottom, self.near = line, span, rise, bottom, near
        self.mirror = reversed_line(line)
        first, last = bottom.height(np.array([[0.0, 0.0], [span, rise]])).tolist()
        self.first, self.last = (max(first, 0.0) if first > near else 0.0), max(last, 0.0)
        self.count, self.cos, self.sin = len(line.length), math.cos(bottom.slope), math.sin(bottom.slope)
        self.rate = line.weight * (self.sin + bottom.friction * self.cos)

    def reach(self, log_t: float) -> float:
        """Horizontal distance of the last node from the first; too large if the legs need more bars than there are."""
        shape = self.shape(log_t)
        return 2.0 * self.span + self.near if shape is None else float(shape.vectors[:, 0].sum())

    def shape(self, log_t: float) -> Shape | None:
        """The line for a tension; None: it has too few bars."""
        pull = math.exp(log_t)
        right = self._size(pull, self.last)
        left = None if right is None else self._left(pull, right)
        if right is None or left is None:
            return None
        vectors, tension = np.zeros((self.count, 2)), np.zeros(self.count)
        bars, other = math.ceil(right), math.ceil(left)
        load = self.line.weight.copy()
        if bars:
            vectors[self.count - bars :], tension[self.count - bars :] = _leg(self.line, pull, right, self.bottom.slope)
            _lift(load[::-1], right)
        lying = slice(other, self.count - bars)
        tension[lying] = np.maximum(self._along(pull, right)[lying], 0.0)
        chord = chords(self.line, tension[lying], lying) * np.where(tension[lying] > 0.0, 1.0, 1.0 - SHORTER)
        vectors[lying] = chord[:, None] * np.array([self.cos, self.sin])
        if other:
            there = _leg(self.mirror, self._pull_left(pull, right, left), left, -self.bottom.slope)
            vectors[:other], tension[:other] = there[0][::-1] * np.array([1.0, -1.0]), there[1][::-1]
            _lift(load, left)
        return Shape(vectors, tension, load, float(self.line.length[lying][tension[lying] == 0.0].sum()))

    def _along(self, pull: float, right: float) -> Floats:
        """(n,) tension of each bar if it lay, between the leg on the right and the first node; it may still be
        negative."""
        bars = math.ceil(right)
        foot = self.count - bars
        lost = np.zeros(self.count + 1)
        lost[1:foot] = self.rate[1:foot]
        if foot < self.count:
            lost[foot] = (bars - right) * self.rate[foot]
        return np.asarray(pull - np.cumsum(lost[::-1])[::-1][1:])

    def _left(self, pull: float, right: float) -> float | None:
        """Size of the leg at the first node."""
        if not self.first:
            return 0.0 if right <= self.count else None
        most = float(self.count - math.ceil(right))

        def off(size: float) -> float:
            return _climb(self.mirror, self._pull_left(pull, right, size), size, -self.bottom.slope) - self.first

        return root(off, 0.0, most) if most > 0.0 and off(most) >= 0.0 else None

    def _pull_left(self, pull: float, right: float, left: float) -> float:
        """Tension along the bottom with which the leg at the first node leaves it."""
        other = math.ceil(left)
        along = self._along(pull, right)
        before = float(along[other]) if other < self.count else pull
        return max(before - (other - left) * float(self.rate[other]), TINY * self.line.scale)

    def _size(self, pull: float, height: float) -> float | None:
        """Bars of the leg at the last node, less the part of its lowest node that the bottom carries; None: too few."""
        if height <= self.near:
            return 0.0
        slope = self.bottom.slope
        if _climb(self.line, pull, float(self.count), slope) < height:
            return None
        return root(lambda size: _climb(self.line, pull, size, slope) - height, 0.0, float(self.count))

    def slack(self) -> Shape:
        """Vertical legs with a slack lowest bar; slack bars are distributed evenly over the bottom."""
        slope = self.bottom.slope
        sunk = self.line.weight / (np.inf if self.bottom.stiffness is None else self.bottom.stiffness)
        right = _plumb(self.line, self.last / self.cos, slope, sunk)
        left = _plumb(self.mirror, self.first / self.cos, -slope, sunk[::-1])
        bars, other = len(right.up), len(left.up)
        lying, tension = slice(other, self.count - bars), np.zeros(self.count)
        reach = self.cos * float(self.line.length[lying].sum()) + right.reach + left.reach
        part = min(self.span / reach, 1.0)
        vectors = part * self.line.length[:, None] * np.array([self.cos, self.sin])
        vectors[self.count - bars :], tension[self.count - bars :] = right.vectors(part, slope), right.tension
        vectors[:other] = left.vectors(part, -slope)[::-1] * np.array([1.0, -1.0])
        tension[:other] = left.tension[::-1]
        load = np.where(np.arange(self.count + 1) < other, 0.0, self.line.weight)
        load[self.count - bars + 1 :] = 0.0
        return Shape(vectors, tension, load, float(self.line.length[tension == 0.0].sum()))


class _Plumb(NamedTuple):
    """The last m bars of a line, straight down to the bottom, lowest first: that one is slack and may lean.
    up (m,) heights;  tension (m,);  reach: how far away the foot of the lowest may stand"""

    up: Floats
    tension: Floats
    reach: float

    def vectors(self, part: float, slope: float) -> Floats:
        """(m, 2) with the foot at a part of its reach."""
        vectors = np.column_stack([np.zeros(len(self.up)), self.up])
        vectors[:1] += part * self.reach * np.array([1.0, math.tan(slope)])
        return vectors


def _leg(line: Line, pull: float, size: float, slope: float) -> tuple[Floats, Floats]:
    """Vectors (m, 2) and tensions (m,) of the bars at the end of a line that have left the bottom, m >= size."""
    bars = math.ceil(size)
    first = len(line.length) - bars
    weight = line.weight[first:-1].copy()
    weight[:1] *= size - (bars - 1)
    along, up = pull * math.cos(slope), pull * math.sin(slope) + np.cumsum(weight)
    tension = np.hypot(along, up)
    length = chords(line, tension, slice(first, None)) / tension
    return np.column_stack([length * along, length * up]), tension


def _climb(line: Line, pull: float, size: float, slope: float) -> float:
    """Distance from the bottom that a leg gains."""
    vectors = _leg(line, pull, size, slope)[0]
    return float(math.cos(slope) * vectors[:, 1].sum() - math.sin(slope) * vectors[:, 0].sum())


def _lift(load: Floats, size: float) -> None:
    """Subtracts the weight that a leg carries from the loads on the bottom, counted from its end."""
    bars = math.ceil(size)
    load[:bars] = 0.0
    load[bars] *= bars - size


def _plumb(line: Line, height: float, slope: float, sunk: Floats) -> _Plumb:
    """A leg without tension at its foot, which will sink, on a bottom that rises towards it by an angle."""
    if height <= 0.0:
        return _Plumb(np.zeros(0), np.zeros(0), 0.0)
    for bars in range(1, len(line.length) + 1):
        first = len(line.length) - bars
        tension = np.concatenate([[0.0], np.cumsum(line.weight[first + 1 : -1])])
        up = chords(line, tension, slice(first, None))
        if up.sum() >= height + sunk[first]:
            up[0] -= up.sum() - height
            low, steep = float(up[0] + sunk[first]), math.tan(slope)
            inside = math.sqrt(max((1.0 + steep**2) * float(line.length[first]) ** 2 - low**2, 0.0))
            return _Plumb(up, tension, max((inside - steep * low) / (1.0 + steep**2), 0.0))
    raise LineError("no equilibrium was found: it does not reach the seabed")
