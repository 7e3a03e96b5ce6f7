"""Composite lines in equilibrium: clump weights, buoys and buoyant sections, against elastic catenaries joined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references.catenary_pieces import Joined, Piece, hanging, lying
from validation.tools import Array

NAME = "composite_lines"
TITLE = "composite lines: a clump weight, a buoy, a lazy wave above and on the bottom"
SOURCE = (
    "Elastic catenaries (Irvine), joined at points found with scipy's root; lines clear of the bottom are "
    "extrapolated over the number of bars, those on it have 600 bars. No code is shared with fem."
)
LONG = False

GROUND, WIDTH, DEEP = 1e8, 1.0, -60.0
BARS = (20, 40, 80)
HEAVY, LIGHT = 900.0, -600.0
WAVE = (Piece(160.0, HEAVY, 4e8), Piece(120.0, LIGHT, 3e8), Piece(170.0, HEAVY, 4e8))
CLEAR = {
    "clump": ((Piece(120.0, 700.0, 2e8, 60e3), Piece(150.0, 400.0, 5e7)), (200.0, 120.0), (5e4, 2e4)),
    "buoy": ((Piece(110.0, 900.0, 2e8, -90e3), Piece(170.0, 300.0, 5e7)), (200.0, 130.0), (2e4, 2e4)),
    "lazy wave": ((Piece(60.0, HEAVY, 4e8), *WAVE[1:]), (200.0, 150.0), (2e4, 2e4)),
}
"""Pieces, end, and a guess of H and V at the first end."""
RESTING = (WAVE, (300.0, 150.0), (2e4, 80.0))
MANY = 200
"""Bars of each piece on the bottom."""


def run(folder: Path) -> Outcome:
    """Forces at the ends and places of the joints."""
    rows, shapes = [], {}
    for name, (pieces, end, guess) in CLEAR.items():
        exact = _numbers(hanging(pieces, end, guess))
        found = np.array([_found(pieces, end, bars, DEEP)[0] for bars in BARS])
        rows += _extrapolated(name, found, exact)
        shapes[name] = _found(pieces, end, BARS[0], DEEP)[1]
    pieces, end, guess = RESTING
    exact = _numbers(lying(pieces, end, guess))
    found, shapes["lazy wave on the bottom"] = _found(pieces, end, MANY, 0.0)
    rows += _rows("lazy wave on the bottom", found, exact, 5e-6, "elastic catenaries joined; 600 bars are 1.2e-6 off")
    return Outcome(tuple(rows), {"shapes": _figure(shapes)}, ())


def _numbers(joined: Joined) -> Array:
    """H, V at the first and at the last end, places of the joints in turn."""
    return np.array([joined.level, joined.first, joined.last, *joined.joints.ravel()])


def _found(pieces: tuple[Piece, ...], end: tuple[float, float], bars: int, bottom: float) -> tuple[Array, Array]:
    """The same numbers of a run, and its nodes (n+1, 2). Nothing but the line and the bottom loads its ends."""
    history = fem.run(fem.parse_deck(_deck(pieces, end, bars, bottom), name="composite_line"))
    order = np.argsort(history.mesh.node_labels)
    place = (history.mesh.coordinates + history.u[-1].reshape(-1, 3))[order][:, ::2]
    first, last = (history.of_node(label, "reactions")[-1] for label in (1, bars * len(pieces) + 1))
    lies = bottom == 0.0
    numbers = [-first[0], 0.0 if lies else -first[2], last[2], *place[bars:-1:bars].ravel()]
    return np.array(numbers), place


def _rows(name: str, found: Array, exact: Array, tolerance: float, source: str) -> list[Row]:
    """One row of forces, one of places, each over the largest of them."""
    forces, places = (float(np.abs(off).max()) for off in np.split(found - exact, [3]))
    return [
        Row(Target(f"{name}: forces at the ends, off over the largest", 0.0, "absolute", source, tolerance),
            forces / float(np.abs(exact[:3]).max())),
        Row(Target(f"{name}: joints, off over the farthest", 0.0, "absolute", source, tolerance),
            places / float(np.abs(exact[3:]).max())),
    ]  # fmt: skip


def _extrapolated(name: str, found: Array, exact: Array) -> list[Row]:
    """Of bars of no length, and the order by which they come there."""
    limit = found[-1] + (found[-1] - found[-2]) / 3.0
    order = float(tools.orders(np.abs(found[:, 0] - limit[0]))[0])
    why = "analytic: weights lumped at nodes"
    return [
        Row(Target(f"{name}: order of H in bar length", 2.0, "order", why, 5e-3), order),
        *_rows(name, limit, exact, 5e-8, "elastic catenaries joined (references/catenary_pieces.py)"),
    ]


def _figure(shapes: dict[str, Array]) -> Any:
    sheet, axes = tools.figure("Composite lines at rest", "x [m]", "z [m]")
    for (name, place), colour in zip(shapes.items(), (tools.BLUE, tools.ORANGE, tools.GREEN, tools.RED), strict=True):
        axes.plot(*place.T, color=colour, label=name)
    tools.legend(axes)
    return sheet


def _deck(pieces: tuple[Piece, ...], end: tuple[float, float], bars: int, bottom: float) -> str:
    """From a straight line; weights, some of them upwards, and loads of joints are loads of nodes."""
    ends = [bars * k + 1 for k in range(len(pieces) + 1)]
    text = [f"*NODE\n1, 0., 0., 0.\n{ends[-1]}, {end[0]!r}, 0., {end[1]!r}\n*NGEN\n1, {ends[-1]}"]
    loads = np.zeros(ends[-1] + 1)
    for k, (at, piece) in enumerate(zip(ends, pieces, strict=False)):
        text += [f"*ELEMENT, TYPE=T3D2\n{at}, {at}, {at + 1}\n*ELGEN, ELSET=P{k}\n{at}, {bars}"]
        text += [f"*REST LENGTH\nP{k}, {piece.length / bars!r}"]
        text += [f"*MATERIAL, NAME=M{k}\n*ELASTIC\n{piece.stiffness!r}\n*DENSITY\n1.\n*NO COMPRESSION"]
        text += [f"*SOLID SECTION, ELSET=P{k}, MATERIAL=M{k}, STRAIN=ENGINEERING\n1."]
        half = 0.5 * piece.weight * piece.length / bars
        loads[at : at + bars] -= half
        loads[at + 1 : at + bars + 1] -= half
        loads[at + bars] -= piece.load
    names = ", ".join(f"P{k}" for k in range(len(pieces)))
    text += [f"*ELSET, ELSET=LINE\n{names}\n*BOUNDARY\n1, 1, 3\n{ends[-1]}, 1, 3"]
    text += [f"*SEABED, ELSET=LINE, ELEVATION={bottom!r}\n{GROUND!r}, 0., {WIDTH!r}"]
    text += ["*STEP, NLGEOM, AMPLITUDE=STEP\n*STATIC\n1., 1.\n*CLOAD"]
    text += [f"{node}, 3, {float(loads[node])!r}" for node in range(1, ends[-1] + 1)]
    return "\n".join([*text, "*END STEP\n"])
