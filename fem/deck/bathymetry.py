"""Depth grids of ``*SEABED``: a file of MoorDyn or of rows x, y, z; in a deck, ``POINTS=`` rows x, y, z.

Forms of MoorDyn: of MoorDyn-C, counts of x and y, all x, all y, then x y z of all points, in any order; of MoorDyn-F
and MoorPy, a title, nGridX, nGridY, all x, then a line with y and the depths at all x for each y. Depths count from
z = 0.
Source: MoorDyn, docs/inputs.rst, Seafloor/Bathymetry File.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from fem.arrays import Floats, distinct
from fem.deck.cards import Card, Piece
from fem.deck.columns import NumberLines, columns_of, lines_in, numbers_at_once, numbers_in
from fem.deck.source import Mistake, Source
from fem.model.bathymetry import DepthGrid

HEAD = ("NGRIDX", "NGRIDY")
FORMS = "rows x, y, z, or a bathymetry file of MoorDyn or MoorPy"


def parted(card: Card, points: int) -> tuple[NumberLines | None, Card]:
    """The lines of a grid, None without one; the card with its other lines."""
    if card.file:
        if points:
            raise Mistake(card.field("POINTS").place, "POINTS= counts rows of the deck; a file has its own")
        own = tuple(piece for piece in card.pieces if piece.source is card.place.source)
        lines = tuple(piece for piece in card.pieces if piece not in own)
        return columns_of(replace(card, pieces=lines)), replace(card, pieces=own)
    if not points:
        return None, card
    last = next(islice(lines_in(card.pieces), points - 1, None), None)
    if last is None:
        raise Mistake(card.field("POINTS").place, f"expected {points} lines x, y, z, and those of *SEABED below them")
    source, line = last
    at = next(at for at, each in enumerate(card.pieces) if each.source is source and each.start <= line < each.stop)
    first = (*card.pieces[:at], card.pieces[at]._replace(stop=line + 1))
    rest = (card.pieces[at]._replace(start=line + 1), *card.pieces[at + 1 :])
    return columns_of(replace(card, pieces=first)), replace(card, pieces=rest)


def grid_of(table: NumberLines) -> DepthGrid:
    """The grid in the lines of a file."""
    head = [(source, line, source.lines[line - 1].split()) for source, line in islice(lines_in(table.card.pieces), 4)]
    if len(head) == 4 and [words[0].upper() for *_, words in head[1:3]] == list(HEAD):
        return of_rows(table, head)
    if len(head) > 3 and len(head[0][2]) == 2 and len(head[3][2]) == 3:
        sizes = [table.row(*head[0][:2]).field(at).integer("a number of points") for at in (0, 1)]
        if [len(words) for *_, words in head[1:3]] != sizes:
            raise Mistake(table.row(*head[1][:2]).field(0).place, f"expected lines of {sizes[0]} x and {sizes[1]} y")
        x, y, z = whole(below(table, *head[3][:2], 3), "xyz").T
        return of_points(table, x, y, -abs_depths(table, z))
    if table.width != 3:
        raise table.mistake(f"expected x, y, z in each line, got {table.width} entries", f"a grid has {FORMS}")
    return of_points(table, *whole(table, "xyz").T)


def of_rows(table: NumberLines, head: list[tuple[Source, int, list[str]]]) -> DepthGrid:
    """Of a title, the numbers of x and y, a line of all x, and a line for each y."""
    sizes = [table.row(source, line).field(1).integer(words[0]) for source, line, words in head[1:3]]
    source, line, words = head[3]
    own = below(table, source, line, len(words))
    x = whole(own._replace(pieces=(Piece(source, line, line + 1),)), ["x of a column"] * len(words))[0]
    if len(x) != sizes[0]:
        raise Mistake(table.row(source, line).field(0).place, f"expected {sizes[0]} x, got {len(x)}")
    own = below(table, source, line + 1, 1 + len(x))
    rows = whole(own, ["y", *["a depth"] * len(x)])
    if len(rows) != sizes[1]:
        raise table.mistake(f"expected {sizes[1]} lines of y and depths, got {len(rows)}")
    return ordered(own, x, rows[:, 0], -abs_depths(table, rows[:, 1:]).T)


def below(table: NumberLines, source: Source, line: int, width: int) -> NumberLines:
    """The lines of a file from one on, with blanks between numbers."""
    return NumberLines(table.card, (Piece(source, line, len(source.lines) + 1),), None, width, ())


def whole(table: NumberLines, whats: list[str] | str) -> Floats:
    """(n, width) all numbers; Mistake at what is no finite number."""
    found = numbers_at_once(table.pieces, lambda text: numbers_in(text, table.separator, table.width))
    if found is None:
        found = np.array([table.numbers(at, what) for at, what in enumerate(whats)]).T
    return found.reshape(-1, table.width)


def abs_depths(table: NumberLines, depths: Floats) -> Floats:
    """Depths, which some files have as heights."""
    if (depths > 0.0).any() and (depths < 0.0).any():
        raise table.mistake("some points have depths of the other sign", "depths count from the level of the water")
    return np.abs(depths)


def of_points(table: NumberLines, x: Floats, y: Floats, z: Floats) -> DepthGrid:
    """Of points in any order; Mistake where a point of the grid is missing or given twice."""
    lines, columns = distinct(x), distinct(y)
    at = np.searchsorted(lines, x) * len(columns) + np.searchsorted(columns, y)
    counts = np.bincount(at, minlength=len(lines) * len(columns))
    if (wrong := np.flatnonzero(counts != 1)).size:
        i, j = divmod(int(wrong[0]), len(columns))
        which = "no point" if counts[wrong[0]] == 0 else f"{counts[wrong[0]]} points"
        hint = "every x is combined with every y, once"
        raise table.mistake(f"the grid has {which} x = {lines[i]:.10g}, y = {columns[j]:.10g}", hint)
    heights = np.empty(len(z))
    heights[at] = z
    return ordered(table, lines, columns, heights.reshape(len(lines), -1))


def ordered(table: NumberLines, x: Floats, y: Floats, z: Floats) -> DepthGrid:
    for name, lines in (("x", x), ("y", y)):
        if len(lines) < 2 or (np.diff(lines) <= 0.0).any():
            what = f"has {len(lines)}" if len(lines) < 2 else "has some that do not rise"
            raise table.mistake(f"a grid needs at least two {name}, in rising order: this one {what}")
    return DepthGrid.of(x, y, z)
