"""Point masses on links: Newton's equations, integrated by scipy's DOP853 to 1e-12, and what is asked of the motion.

A link of natural length L pulls its two ends together with the force T along it. With the stretch r = l/L, the strain e
and the rate l' of its length l:

    GREEN  T = EA r (r^2 - 1)/2,   ENGINEERING  T = EA (r - 1),   LOG  T = EA ln(r)/r,   + c l' of a dashpot beside it

A cable pulls only where r > 1. A link with a table has the force of its elongation l - L, straight between the points,
flat outside. A *rod* keeps its length: d.d = L^2 derived twice gives d.(a_j - a_i) = - w.w and with it the multipliers
of all rods. A node is pushed by m g, - alpha m v, a harmonic force, springs and dashpots to the ground, and by water.
Held nodes move as a (1 - cos(w t)) along one axis.

Water (Morison, horizontal rungs of length b across the plane x-z): drag 1/2 rho Cd D b |w| w with the velocity w of the
water less that of the rung, both in the plane. Airy's wave of height H: phi = H g/(2 omega) cosh(k (z + d))/cosh(k d)
sin(k x - omega t), below the surface z = 0. Integration starts again where a cable becomes taut or slack, or a table
has a corner. Source: Hairer, Norsett, Wanner I (the integrator); Dean, Dalrymple 1991, ch. 3; Crisfield 1, ch. 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar

Array = NDArray[np.float64]
ACCURACY = 1e-12
MOST_EVENTS = 2000
LOOKS = 10
"""Instants per step of the integrator at which an extreme is looked for."""


@dataclass(frozen=True, slots=True)
class Link:
    """Between nodes ``first`` and ``second``, counted from 0.

    strain     GREEN, ENGINEERING, LOG; or ROD, of constant length (the stiffness is not used)
    is_cable   carries no compression;  damping: of a dashpot beside it [force time/length]
    table      rows (force, elongation), in place of the stiffness E A
    """

    first: int
    second: int
    length: float
    stiffness: float = 0.0
    strain: str = "ENGINEERING"
    is_cable: bool = False
    damping: float = 0.0
    table: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """Spring and dashpot from one axis (0, 1, 2) of a node to the ground, at rest at the start."""

    node: int
    axis: int
    stiffness: float
    damping: float = 0.0


@dataclass(frozen=True, slots=True)
class Harmonic:
    """Of a held node: displacement size (1 - cos(omega t)); of a free one: force size sin(omega t)."""

    node: int
    axis: int
    size: float
    omega: float


@dataclass(frozen=True, slots=True)
class Water:
    """Still, or with a wave of this height and period that runs along x; depth; current along x.

    drag  (n,) 1/2 rho Cd D b of each node [force time^2/length^2]
    """

    drag: tuple[float, ...]
    height: float = 0.0
    period: float = 1.0
    depth: float = 50.0
    gravity: float = 9.81
    current: float = 0.0

    @property
    def number(self) -> float:
        """k of omega^2 = g k tanh(k d)."""
        omega = 2.0 * np.pi / self.period
        deep = omega**2 / self.gravity
        top = deep * 2.0 + 2.0 * omega / np.sqrt(self.gravity * self.depth)
        return float(
            brentq(lambda k: self.gravity * k * np.tanh(k * self.depth) - omega**2, 0.5 * deep, top, xtol=1e-15)
        )

    def velocity(self, k: float, t: float, x: Array) -> Array:
        """(n, 3) of the water at places (n, 3)."""
        v = np.zeros_like(x)
        v[:, 0] = self.current
        if self.height:
            omega = 2.0 * np.pi / self.period
            size = 0.5 * self.height * self.gravity * k / omega / np.cosh(k * self.depth)
            phase, up = k * x[:, 0] - omega * t, k * (x[:, 2] + self.depth)
            v[:, 0] += size * np.cosh(up) * np.cos(phase)
            v[:, 2] += size * np.sinh(up) * np.sin(phase)
        return v


@dataclass(frozen=True)
class Masses:
    """n nodes at rest lengths or not: mass (n,), 0 where held; places and velocities (n, 3)."""

    mass: tuple[float, ...]
    places: tuple[tuple[float, float, float], ...]
    links: tuple[Link, ...] = ()
    velocities: tuple[tuple[float, float, float], ...] = ()
    gravity: float = 9.81
    alpha: float = 0.0
    grounds: tuple[Ground, ...] = ()
    motions: tuple[Harmonic, ...] = ()
    pushes: tuple[Harmonic, ...] = ()
    water: Water | None = None

    @property
    def free(self) -> NDArray[np.intp]:
        """Indices of nodes that have mass."""
        return np.flatnonzero(np.array(self.mass))


@dataclass
class Motion:
    """Pieces of a motion between events: (start, end, dense solution, sides of corners) each."""

    model: Equations
    pieces: list[tuple[float, float, Any, tuple[bool, ...]]] = field(default_factory=list)
    steps: list[Array] = field(default_factory=list)

    def state(self, t: float) -> Array:
        """Free places and velocities (2, f, 3), flat."""
        for start, end, solution, above in self.pieces:
            if t <= end or end == self.pieces[-1][1]:
                self.model.above = list(above)
                return np.asarray(solution(max(t, start)))
        raise ValueError(f"no motion at t = {t:g}")

    def value(self, name: str, t: float) -> float:
        """``U3_n2``, ``V1_n2``, ``T_e1``, ``kinetic``, ``strain`` at a time; nodes and links count from 1."""
        return self.model.number(name, t, self.state(t))

    def extreme(self, name: str, sign: float) -> tuple[float, float, float]:
        """Instant and value of the largest (sign 1) or smallest (-1), and how much it is ahead of any other peak."""
        looks = np.concatenate(
            [np.linspace(a, b, LOOKS, endpoint=False) for steps in self.steps for a, b in pairwise(steps)]
        )
        looks = np.append(looks, self.pieces[-1][1])
        values = sign * np.array([self.value(name, t) for t in looks])
        inner = (values[1:-1] >= values[:-2]) & (values[1:-1] > values[2:])
        peaks = np.flatnonzero(np.concatenate([[values[0] > values[1]], inner, [values[-1] > values[-2]]]))
        best = peaks[values[peaks].argmax()]
        others = [values[p] for p in peaks if p != best and abs(looks[p] - looks[best]) > 0.02 * (looks[-1] - looks[0])]
        ahead = float(values[best] - max(others)) if others else float(np.ptp(values))
        if best in (0, len(looks) - 1):
            return float(looks[best]), float(sign * values[best]), 0.0
        found = minimize_scalar(
            lambda t: -sign * self.value(name, t),
            bounds=(looks[best - 1], looks[best + 1]),
            method="bounded",
            options={"xatol": 1e-10 * (looks[-1] - looks[0])},
        )
        return float(found.x), float(-sign * found.fun), ahead


class Equations:
    """The equations of motion of ``Masses``."""

    def __init__(self, masses: Masses) -> None:
        self.masses, self.free = masses, masses.free
        self.m = np.array(masses.mass)
        self.x0 = np.array(masses.places)
        links = masses.links
        self.elastic = [k for k, link in enumerate(links) if link.strain != "ROD"]
        self.rods = [k for k, link in enumerate(links) if link.strain == "ROD"]
        self.ends = np.array([(link.first, link.second) for link in links], int).reshape(-1, 2)
        self.length, self.stiffness, self.damping = (
            np.array([getattr(link, name) for link in links]) for name in ("length", "stiffness", "damping")
        )
        self.is_cable = np.array([link.is_cable for link in links], bool)
        self.measure = np.array([link.strain for link in links])
        self.corners = [
            (k, limit)
            for k, link in enumerate(links)
            for limit in ([0.0] if link.is_cable else [elongation for _, elongation in link.table])
        ]
        self.above = [True] * len(self.corners)
        """On which side of its corner each link is: laws are continued past corners up to the event."""
        self.number_of_wave = masses.water.number if masses.water and masses.water.height else 0.0

    # ------------------------------------------------------------------------------------------ kinematics, forces
    def kinematics(self, t: float, y: Array) -> tuple[Array, Array, Array]:
        """Places and velocities (n, 3) of all nodes, accelerations of held ones."""
        x, v, a = self.x0.copy(), np.zeros_like(self.x0), np.zeros_like(self.x0)
        for each in self.masses.motions:
            turn = each.omega * t
            x[each.node, each.axis] += each.size * (1.0 - np.cos(turn))
            v[each.node, each.axis] += each.size * each.omega * np.sin(turn)
            a[each.node, each.axis] += each.size * each.omega**2 * np.cos(turn)
        half = len(y) // 2
        x[self.free], v[self.free] = y[:half].reshape(-1, 3), y[half:].reshape(-1, 3)
        return x, v, a

    def pulls(self, x: Array, v: Array) -> tuple[Array, Array, Array]:
        """T (k,) of elastic links, dashpots included (0 of rods), unit vectors and lengths of all."""
        d = x[self.ends[:, 1]] - x[self.ends[:, 0]]
        long = np.sqrt(np.einsum("ij,ij->i", d, d))
        n = d / long[:, None]
        r = long / self.length
        with np.errstate(invalid="ignore"):
            force = self.stiffness * np.select(
                [self.measure == "GREEN", self.measure == "LOG", self.measure == "ENGINEERING"],
                [0.5 * r * (r * r - 1.0), np.log(r) / r, r - 1.0],
                0.0,
            )
        for corner, (k, _) in enumerate(self.corners):
            link = self.masses.links[k]
            if link.is_cable:
                force[k] = force[k] if self.above[corner] else 0.0
        for k, link in enumerate(self.masses.links):
            if link.table:
                passed = sum(above for above, (other, _) in zip(self.above, self.corners, strict=True) if other == k)
                force[k] = _on_piece(link.table, passed, long[k] - link.length)
        return force, n, long

    def forces(self, t: float, x: Array, v: Array) -> tuple[Array, Array, Array]:
        """(n, 3) on the nodes but those of rods; T of the elastic links without their dashpots; unit vectors."""
        masses = self.masses
        pull, n, _ = self.pulls(x, v)
        rate = np.einsum("ij,ij->i", n, v[self.ends[:, 1]] - v[self.ends[:, 0]])
        along = (pull + self.damping * rate)[:, None] * n
        f = -masses.alpha * self.m[:, None] * v
        f[:, 2] -= self.m * masses.gravity
        np.add.at(f, self.ends[:, 0], along)
        np.add.at(f, self.ends[:, 1], -along)
        for each in masses.grounds:
            way = x[each.node, each.axis] - self.x0[each.node, each.axis]
            f[each.node, each.axis] -= each.stiffness * way + each.damping * v[each.node, each.axis]
        for push in masses.pushes:
            f[push.node, push.axis] += push.size * np.sin(push.omega * t)
        if masses.water:
            w = masses.water.velocity(self.number_of_wave, t, x) - v
            f += np.array(masses.water.drag)[:, None] * np.linalg.norm(w, axis=1)[:, None] * w
        return f, pull, n

    def solve(self, t: float, y: Array) -> tuple[Array, Array, tuple[Array, Array, Array]]:
        """Accelerations (n, 3) and T (k,) of all links; kinematics."""
        x, v, a = self.kinematics(t, y)
        f, pull, n = self.forces(t, x, v)
        a[self.free] = f[self.free] / self.m[self.free, None]
        if self.rods:
            ends = self.ends[self.rods]
            d = x[ends[:, 1]] - x[ends[:, 0]]
            w = v[ends[:, 1]] - v[ends[:, 0]]
            q, count = len(self.rods), len(self.m)
            g = np.zeros((q, count, 3))
            rows = np.arange(q)
            g[rows, ends[:, 1]] += d
            g[rows, ends[:, 0]] -= d
            inverse = np.zeros(count)
            inverse[self.free] = 1.0 / self.m[self.free]
            left = np.einsum("ink,n,jnk->ij", g, inverse, g)
            right = -np.einsum("ij,ij->i", w, w) - np.einsum("ink,nk->i", g, a)
            multiplier = np.linalg.solve(left, right)
            a = a + inverse[:, None] * np.einsum("q,qnk->nk", multiplier, g)
            pull = pull.copy()
            pull[self.rods] = -multiplier * np.linalg.norm(d, axis=1)
        return a, pull, (x, v, n)

    def rates(self, t: float, y: Array) -> Array:
        a, _, _ = self.solve(t, y)
        return np.concatenate((y[len(y) // 2 :], a[self.free].ravel()))

    # ------------------------------------------------------------------------------------------------- the motion
    def watch(self, corner: int) -> Callable[[float, Array], float]:
        """Elongation of a link less that at a corner of its law; an event where it changes its side."""
        k, limit = self.corners[corner]
        first, second = self.ends[k]

        def event(t: float, y: Array) -> float:
            x, _, _ = self.kinematics(t, y)
            return float(np.linalg.norm(x[second] - x[first]) - self.length[k] - limit)

        event.terminal = True  # type: ignore[attr-defined]
        event.direction = -1.0 if self.above[corner] else 1.0  # type: ignore[attr-defined]
        return event

    def _sides(self, t: float, y: Array) -> None:
        """On which sides of their corners links are; at a corner, to which they go."""
        x, v, _ = self.kinematics(t, y)
        for corner, (k, _) in enumerate(self.corners):
            i, j = self.ends[k]
            ahead = self.watch(corner)(t, y)
            rate = float((x[j] - x[i]) @ (v[j] - v[i]))
            self.above[corner] = ahead > 0.0 or (ahead == 0.0 and rate >= 0.0)

    def motion(self, end: float) -> Motion:
        """From rest, or the given velocities, at t = 0 up to the end."""
        v0 = np.array(self.masses.velocities) if self.masses.velocities else np.zeros_like(self.x0)
        y, t, found = np.concatenate((self.x0[self.free].ravel(), v0[self.free].ravel())), 0.0, Motion(self)
        scale = float(np.ptp(self.x0, axis=0).max()) or 1.0
        self._sides(t, y)
        for _ in range(MOST_EVENTS):
            events = [self.watch(corner) for corner in range(len(self.corners))]
            solution = solve_ivp(
                self.rates,
                (t, end),
                y,
                "DOP853",
                events=events or None,
                dense_output=True,
                rtol=ACCURACY,
                atol=ACCURACY * scale,
                max_step=end / 50.0,
            )
            if solution.status < 0:
                raise RuntimeError(solution.message)
            found.pieces.append((t, float(solution.t[-1]), solution.sol, tuple(self.above)))
            found.steps.append(solution.t)
            for corner, at in enumerate(solution.t_events or []):
                self.above[corner] ^= len(at) > 0
            t, y = float(solution.t[-1]), solution.y[:, -1]
            if t >= end:
                return found
        raise RuntimeError(f"more than {MOST_EVENTS} events before t = {t:g}")

    def number(self, name: str, t: float, y: Array) -> float:
        """One number of a state, as ``Motion.value`` names it."""
        if name in ("kinetic", "strain"):
            x, v, _ = self.kinematics(t, y)
            if name == "kinetic":
                return float(0.5 * np.sum(self.m[:, None] * v * v))
            return self._stored(x)
        letter, axis = name[0], name[1]
        item = int(name.split("_")[1][1:]) - 1
        if letter == "T":
            return float(self.solve(t, y)[1][item])
        x, v, _ = self.kinematics(t, y)
        return (
            float(x[item, int(axis) - 1] - self.x0[item, int(axis) - 1])
            if letter == "U"
            else float(v[item, int(axis) - 1])
        )

    def _stored(self, x: Array) -> float:
        """Energy of links without a table: L EA times e^2/2 of GREEN and ENGINEERING, (ln r)^2/2 of LOG."""
        total = 0.0
        d = x[self.ends[:, 1]] - x[self.ends[:, 0]]
        r = np.linalg.norm(d, axis=1) / self.length
        for k in self.elastic:
            e = {"GREEN": 0.5 * (r[k] ** 2 - 1.0), "LOG": np.log(r[k]), "ENGINEERING": r[k] - 1.0}[str(self.measure[k])]
            total += 0.0 if self.is_cable[k] and e < 0.0 else 0.5 * self.length[k] * self.stiffness[k] * e * e
        for each in self.masses.grounds:
            total += 0.5 * each.stiffness * (x[each.node, each.axis] - self.x0[each.node, each.axis]) ** 2
        return float(total)


def _on_piece(table: tuple[tuple[float, float], ...], piece: int, elongation: float) -> float:
    """Force of a table on the straight piece after ``piece`` of its points; flat outside."""
    if piece in (0, len(table)):
        return table[min(piece, len(table) - 1)][0]
    (f0, s0), (f1, s1) = table[piece - 1], table[piece]
    return f0 + (f1 - f0) * (elongation - s0) / (s1 - s0)
