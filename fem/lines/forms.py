"""Form finding: positions of the free nodes of a net of bars in equilibrium, for given force densities q = N/L.

    D x = p,  D = C^T diag(q) C,  C the incidence of the bars

is linear, one system for each axis (Schek, Comput. Methods Appl. Mech. Eng. 3, 1974). Where forces or lengths are
given, q <- N/L, or q <- q L/L*, until q stands still.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints

STILL = 1e-13
"""Change of q, as a fraction of the largest, at which it stands still."""
MOST = 5000
"""Largest number of iterations."""
SINGULAR = 1e-4
"""Error of a known solution beyond which D is singular."""
COLLAPSED = 1e-6
"""Length of a bar, as a fraction of the extent of the net, below which it shrinks to nothing."""


class FormError(Exception):
    """There is no such form; ``bars`` are those that are to blame, ``nodes`` those that are free."""

    def __init__(self, message: str, bars: Ints | None = None, nodes: Ints | None = None) -> None:
        super().__init__(message)
        self.bars, self.nodes = bars, nodes


class Net(NamedTuple):
    """place (n, 3), held (n, 3) dofs that keep their places;  ends (m, 2) of the bars
    density, force, length (m,)  one of the three is given for each bar, the others are NaN"""

    place: Floats
    held: Flags
    ends: Ints
    density: Floats
    force: Floats
    length: Floats


class FoundForm(NamedTuple):
    """place (n, 3);  density, length (m,) of the bars;  iterations"""

    place: Floats
    density: Floats
    length: Floats
    iterations: int


def lengths_of(place: Floats, ends: Ints) -> Floats:
    return np.asarray(np.linalg.norm(place[ends[:, 1]] - place[ends[:, 0]], axis=1))


def placed(net: Net, density: Floats, load: Floats) -> Floats:
    """(n, 3) equilibrium for force densities (m,) and loads (n, 3). FormError: D is singular."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    i, j = net.ends.T
    count = len(net.place)
    places = np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i])
    values = np.concatenate([density, density, -density, -density])
    matrix = coo_array((values, places), shape=(count, count)).tocsr()
    found = net.place.copy()
    for kind in np.unique(net.held, axis=1).T:  # axes with the same free nodes share a factor
        (free,), axes = np.nonzero(~kind), np.flatnonzero((net.held == kind[:, None]).all(axis=0))
        if not len(free):
            continue
        own = matrix[free][:, free].tocsc()
        known = np.where(kind[:, None], net.place[:, axes], 0.0)
        right = load[free][:, axes] - (matrix @ known)[free]
        test = np.cos(np.arange(len(free)) * 1.234567) + 1.5
        try:
            solve = splu(own, permc_spec="MMD_AT_PLUS_A").solve
        except RuntimeError:
            raise FormError("D is singular", nodes=free) from None
        with np.errstate(all="ignore"):
            off = np.abs(solve(own @ test) - test).max()
            x = solve(right)
            x += solve(right - own @ x)
        if not off <= SINGULAR or not np.isfinite(x).all():
            raise FormError("D is singular", nodes=free)
        found[free[:, None], axes] = x
    return found


def find_form(net: Net, load: Floats) -> FoundForm:
    """The form under loads (n, 3). FormError: there is none."""
    by_force, by_length = ~np.isnan(net.force), ~np.isnan(net.length)
    now = np.where(by_force | by_length, 1.0, net.density)
    old = lengths_of(net.place, net.ends)
    now[by_force] = net.force[by_force] / np.where(old > 0.0, old, 1.0)[by_force]
    extent = float(np.ptp(net.place, axis=0).max()) or 1.0
    new = now
    for turn in range(MOST):
        now = new
        try:
            place = placed(net, now, load)
        except FormError:
            if turn == 0 or not by_length.any():
                raise
            raise FormError("the given lengths are not reached", bars=np.flatnonzero(by_length)[:3]) from None
        length = lengths_of(place, net.ends)
        gone = np.flatnonzero((length < COLLAPSED * extent) & ~by_length)
        if len(gone):
            raise FormError("bars shrink to nothing", bars=gone)
        if not (by_force.any() or by_length.any()):
            return FoundForm(place, now, length, 1)
        new = now.copy()
        new[by_force] = (net.force / np.where(length > 0.0, length, 1.0))[by_force]
        with np.errstate(over="ignore"):
            new[by_length] = (now * length / net.length)[by_length]
        if np.abs(new - now).max() <= STILL * np.abs(now).max():
            return FoundForm(place, now, length, turn + 1)
    worst = np.argsort(-np.abs(new - now) / np.abs(now))[:3]
    raise FormError(f"the force densities do not come to rest in {MOST} iterations", bars=worst)
