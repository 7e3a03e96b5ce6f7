"""Elastic catenaries joined end to end, with forces at their joints, above nothing or from a level, smooth bottom.

Along a piece of weight w per natural length (below 0: buoyant) the horizontal force H is constant and the vertical one
grows, V1 = V0 + w L, with T^2 = H^2 + V^2 (Irvine, Cable Structures, MIT Press 1981, section 1.4):
  x1 - x0 = H L/(E A) + (H/w) [asinh(V1/H) - asinh(V0/H)],   z1 - z0 = (V1^2 - V0^2)/(2 E A w) + (T1 - T0)/w
A force P downwards at a joint raises V by P. H and V at the first end (or H and the length that lies, where V = 0
leaves the bottom) follow from the place of the last end: two equations, by MINPACK's hybrid method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Piece:
    """Natural length [m], weight per natural length [N/m], E A [N], force downwards at its last end [N]."""

    length: float
    weight: float
    stiffness: float
    load: float = 0.0


@dataclass(frozen=True, slots=True)
class Joined:
    """H, V at the first and at the last end [N];  joints (k-1, 2) [m];  natural length that lies [m]."""

    level: float
    first: float
    last: float
    joints: Array
    lying: float


def hanging(pieces: tuple[Piece, ...], end: tuple[float, float], guess: tuple[float, float]) -> Joined:
    """Pieces from (0, 0) to ``end``, clear of everything; guess: H and V at the first end. ValueError: none found."""
    level, first = _solved(lambda h, v: _walk(pieces, h, v)[0][-1] - end, guess)
    places, last = _walk(pieces, level, first)
    return Joined(level, first, last, places[:-1], 0.0)


def lying(pieces: tuple[Piece, ...], end: tuple[float, float], guess: tuple[float, float]) -> Joined:
    """The same where a part of the first piece lies at the height of its end; guess: H and the length of that part."""
    level, own = _solved(lambda h, s: _from_bottom(pieces, h, s)[0][-1] - end, guess)
    places, last = _from_bottom(pieces, level, own)
    return Joined(level, 0.0, last, places[:-1], own)


def _solved(miss: object, guess: tuple[float, float]) -> tuple[float, float]:
    """Both numbers, scaled by their guesses; the miss is checked."""
    scale = np.array(guess)
    found = root(lambda x: miss(*(x * scale)), np.ones(2), tol=1e-14)  # type: ignore[operator]
    if not np.abs(found.fun).max() < 1e-9:
        raise ValueError(f"no catenaries from this guess: they miss by {np.abs(found.fun).max():.2g} m")
    values = found.x * scale
    return float(values[0]), float(values[1])


def _from_bottom(pieces: tuple[Piece, ...], level: float, own: float) -> tuple[Array, float]:
    first = pieces[0]
    free = (Piece(first.length - own, first.weight, first.stiffness, first.load), *pieces[1:])
    places, last = _walk(free, level, 0.0)
    return places + [own * (1.0 + level / first.stiffness), 0.0], last


def _walk(pieces: tuple[Piece, ...], level: float, upright: float) -> tuple[Array, float]:
    """(k, 2) ends of the pieces; V at the last one."""
    place, places = np.zeros(2), []
    for piece in pieces:
        after = upright + piece.weight * piece.length
        pulls = np.hypot(level, [upright, after])
        turn = np.arcsinh(after / level) - np.arcsinh(upright / level)
        across = level * piece.length / piece.stiffness + level / piece.weight * turn
        rise = (after**2 - upright**2) / (2.0 * piece.stiffness) + pulls[1] - pulls[0]
        place = place + [across, rise / piece.weight]
        places.append(place)
        upright, last = after + piece.load, after
    return np.array(places), float(last)
