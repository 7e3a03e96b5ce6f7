"""Functions of time that kernels evaluate: polynomials piece by piece, and Fourier series.

They represent ``model/curves`` exactly at every instant of a scheme.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel

DEGREE = 6
"""Number of coefficients of a piece: SMOOTH STEP has six."""


class Curves(NamedTuple):
    """Functions of time.

    spans   (c, 4)  of each: its first piece and their number, its first term and their number
    origins (c, 3)  origin of its own time; start and circular frequency of its series
    pieces  (p, 1 + DEGREE)  start of a piece in its own time, and its coefficients, counted from there
    terms   (t, 2)  of cosines and sines of 1, 2, ... times that frequency
    """

    spans: Ints
    origins: Floats
    pieces: Floats
    terms: Floats


def gathered(curves: Iterable[Any]) -> Curves:
    """Arrays of ``model/curves``, in order; amplitudes that a program sets during a run rewrite their rows."""
    curves = list(curves)
    spans, origins, pieces, terms = [], [], list[Any](), list[Any]()
    for breaks, coefficients, origin, start, omega, fourier in (curve.table() for curve in curves):
        spans.append((len(pieces), len(breaks) + 1, len(terms), len(fourier)))
        origins.append((origin, start, omega))
        for since, row in zip((-math.inf, *breaks), coefficients, strict=True):
            pieces.append((since, *row, *np.zeros(DEGREE - len(row))))
        terms += [tuple(pair) for pair in fourier]
    places, starts = np.array(spans, np.int64).reshape(-1, 4), np.array(origins, float).reshape(-1, 3)
    parts, waves = np.array(pieces, float).reshape(-1, 1 + DEGREE), np.array(terms, float).reshape(-1, 2)
    for curve, (first, *_) in zip(curves, spans, strict=True):
        if hasattr(curve, "copies"):
            curve.copies.append((weakref.ref(parts), first))
    return Curves(places, starts, parts, waves)


@inner_kernel
def value_at(curves: Curves, c: int, time: float) -> float:
    group = time - curves.origins[c, 0]
    low = curves.spans[c, 0]
    high = low + curves.spans[c, 1]
    while high - low > 1:
        middle = (low + high) // 2
        if curves.pieces[middle, 0] <= group:
            low = middle
        else:
            high = middle
    local = group - curves.pieces[low, 0] if low > curves.spans[c, 0] else 0.0
    value = 0.0
    for power in range(DEGREE, 0, -1):
        value = value * local + curves.pieces[low, power]
    phase = group - curves.origins[c, 1]
    for n in range(curves.spans[c, 3] if phase >= 0.0 else 0):
        angle = (n + 1) * curves.origins[c, 2] * phase
        term = curves.spans[c, 2] + n
        value += curves.terms[term, 0] * math.cos(angle) + curves.terms[term, 1] * math.sin(angle)
    return value


def with_zero(curves: Curves) -> Curves:
    """The same curves and a last one, which is 0."""
    span = np.array([[len(curves.pieces), 1, len(curves.terms), 0]])
    piece = np.append(-math.inf, np.zeros(DEGREE))[None]
    return Curves(
        np.concatenate([curves.spans, span]),
        np.concatenate([curves.origins, np.zeros((1, 3))]),
        np.concatenate([curves.pieces, piece]),
        curves.terms,
    )


def largest(curve: Any) -> float:
    """Bound of its magnitude at all times: that of its polynomials, and of each term of its series."""
    breaks, coefficients, _, _, _, fourier = curve.table()
    found = float(np.abs(coefficients[:, 0]).max())
    for width, row in zip(np.diff(breaks), coefficients[1:-1], strict=True):
        piece = np.polynomial.Polynomial(np.trim_zeros(row, "b") if row.any() else [0.0])
        turns = piece.deriv().roots() if piece.degree() > 1 else np.zeros(0)
        inside = turns.real[(turns.imag == 0.0) & (turns.real > 0.0) & (turns.real < width)]
        found = max(found, float(np.abs(piece(np.append(inside, width))).max()))
    return found + float(np.hypot(*np.asarray(fourier, float).reshape(-1, 2).T).sum())


def distinct(curves: Iterable[Any]) -> dict[Any, int]:
    """Number of each different curve."""
    return {curve: number for number, curve in enumerate(dict.fromkeys(curves))}
