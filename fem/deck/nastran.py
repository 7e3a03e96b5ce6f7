"""Bulk data of Nastran: grids with their coordinate systems; rods, bars and beams between two of them.

All three formats: free (commas), small (8 columns), large (16 columns, a star behind the name), with continuations.
Grids may be given in rectangular, cylindrical and spherical systems, and these in others. Cards that are not read are
named: ``said``.

Source: MSC Nastran, Quick Reference Guide: GRID, GRDSET, CORD1R to CORD2S, CROD, CONROD, CTUBE, CBAR, CBEAM.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.deck.mesh_file import MeshFile

RODS, BEAMS = ("CROD", "CTUBE", "CONROD"), ("CBAR", "CBEAM")
SYSTEMS = tuple(f"CORD{at}{kind}" for at in (1, 2) for kind in "RCS")
KNOWN = {*RODS, *BEAMS, *SYSTEMS, "GRID", "GRDSET"}
NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[ED]?([+-]\d+)|[ED](\d+))?")
"""1., .5, -3.E+2, 1.5-3: a sign alone begins an exponent."""
MOST = 100_000_000
"""Labels are smaller than this."""


class BulkCard(NamedTuple):
    """One card; ``fields`` without the name."""

    line: int
    name: str
    fields: list[str]

    def error(self, what: str) -> ValueError:
        return ValueError(f"line {self.line}: {what}")

    def text(self, at: int) -> str:
        return self.fields[at] if at < len(self.fields) else ""

    def integer(self, at: int, what: str, default: int | None = None, low: int = 1) -> int:
        text = self.text(at)
        if not text and default is not None:
            return default
        if not re.fullmatch(r"[+-]?\d+", text) or not low <= int(text) < MOST:
            raise self.error(f"expected {what}, a whole number, in field {at + 2} of {self.name}, got {text!r}")
        return int(text)

    def number(self, at: int) -> float:
        """Field ``at`` as a number, 0 if blank."""
        found = NUMBER.fullmatch(text := self.text(at) or "0")
        value = float(f"{found[1]}e{found[2] or found[3] or 0}") if found else math.nan
        if not math.isfinite(value):
            raise self.error(f"expected a number in field {at + 2} of {self.name}, got {text!r}")
        return value

    def place(self, at: int) -> Floats:
        return np.array([self.number(at + axis) for axis in range(3)])


def cards_of(text: str) -> Iterator[BulkCard]:
    """All cards of the bulk data, in order. ValueError: a line has too many fields."""
    lines = [line.partition("$")[0].rstrip().upper() for line in text.splitlines()]
    begins = [at for at, line in enumerate(lines) if re.match(r"\s*BEGIN\s+BULK", line)]
    card: BulkCard | None = None
    for number, line in enumerate(lines[begins[0] + 1 :] if begins else lines, begins[0] + 2 if begins else 1):
        if line.lstrip().startswith("ENDDATA"):
            break
        if not line:
            continue
        if "," in line:
            head, *fields = (each.strip() for each in line.split(","))
            width = 4 if "*" in head else 8
            if len(fields) > width + 1:
                raise ValueError(f"line {number}: {len(fields)} fields behind the first, where {width + 1} can be")
        else:
            line = line.expandtabs(8)
            head, width = line[:8].strip(), 4 if "*" in line[:8] else 8
            step = 64 // width
            fields = [line[8 + step * at : 8 + step * (at + 1)].strip() for at in range(width)]
        fields = [*fields[:width], *[""] * (width - len(fields))]
        if card is not None and (not head or head[0] in "+*"):
            card.fields.extend(fields)
            continue
        if card is not None:
            yield card
        card = BulkCard(number, head.rstrip("*").strip(), fields)
    if card is not None:
        yield card


class Places:
    """Coordinates of grids and coordinate systems in the basic system."""

    def __init__(self, cards: list[BulkCard]) -> None:
        self.default = next((card for card in cards if card.name == "GRDSET"), BulkCard(0, "GRDSET", []))
        self.grids: dict[int, BulkCard] = {}
        self.given: dict[int, tuple[BulkCard, int]] = {}
        self.found: dict[int, tuple[str, Floats, Floats]] = {0: ("R", np.zeros(3), np.eye(3))}
        self.open: list[int] = []
        for card in cards:
            if card.name == "GRID":
                if self.grids.setdefault(card.integer(0, "the grid"), card) is not card:
                    raise card.error(f"grid {card.text(0)} is defined twice")
            elif card.name in SYSTEMS:
                for at in (0, 4) if card.name[4] == "1" and card.text(4) else (0,):
                    number = card.integer(at, "the coordinate system")
                    if self.given.setdefault(number, (card, at)) != (card, at):
                        raise card.error(f"coordinate system {number} is defined twice")

    def of_grid(self, number: int, card: BulkCard) -> Floats:
        """(3,) coordinates of a grid that a card refers to."""
        if number not in self.grids:
            raise card.error(f"there is no grid {number}")
        own = self.grids[number]
        return self.globally(own.integer(1, "CP", self.default.integer(1, "CP", 0, 0), 0), own.place(2), own)

    def globally(self, number: int, x: Floats, card: BulkCard) -> Floats:
        """(3,) global coordinates of a point given in a system; angles are in degrees."""
        kind, origin, axes = self.system(number, card)
        if kind == "C":
            turn = math.radians(x[1])
            x = np.array([x[0] * math.cos(turn), x[0] * math.sin(turn), x[2]])
        elif kind == "S":
            down, turn = math.radians(x[1]), math.radians(x[2])
            x = x[0] * np.array([math.sin(down) * math.cos(turn), math.sin(down) * math.sin(turn), math.cos(down)])
        return np.asarray(origin + x @ axes)

    def system(self, number: int, card: BulkCard) -> tuple[str, Floats, Floats]:
        """Kind, origin, axes (rows): A is the origin, z points to B, and C lies in the half plane of x and z."""
        if number in self.found:
            return self.found[number]
        if number not in self.given:
            raise card.error(f"there is no coordinate system {number}")
        if number in self.open:
            raise card.error(f"coordinate system {number} is given in itself")
        self.open.append(number)
        own, at = self.given[number]
        if own.name[4] == "1":
            a, b, c = (self.of_grid(own.integer(at + k, "a grid"), own) for k in (1, 2, 3))
        else:
            inner = own.integer(1, "RID", 0, 0)
            a, b, c = (self.globally(inner, own.place(k), own) for k in (2, 5, 8))
        third, across = b - a, np.cross(b - a, c - a)
        axes = np.array([np.cross(across, third), across, third])
        sizes = np.linalg.norm(axes, axis=1)
        if not (sizes > 0.0).all():
            raise own.error(f"the three points of coordinate system {number} lie on a line")
        self.found[number] = own.name[5], a, axes / sizes[:, None]
        self.open.pop()
        return self.found[number]


def read(path: Path) -> MeshFile:
    """The lines of a file. ValueError: it cannot be read, with the line."""
    cards = list(cards_of(path.read_text(encoding="utf-8", errors="replace")))
    for card in cards:
        if card.name.startswith("INCLUDE"):
            raise card.error("INCLUDE is not supported: put the bulk data into one file")
    places = Places(cards)
    points = np.array([places.of_grid(number, card) for number, card in places.grids.items()]).reshape(-1, 3)
    rows = {number: row for row, number in enumerate(places.grids)}
    ends, labels, sets = list[list[int]](), list[int](), dict[str, list[int]]()
    for card in (card for card in cards if card.name in (*RODS, *BEAMS)):
        first = 1 if card.name == "CONROD" else 2
        pair = [card.integer(first + at, "a grid") for at in (0, 1)]
        for grid in pair:
            if grid not in rows:
                raise card.error(f"there is no grid {grid}")
        if card.name in BEAMS and any(card.number(at) for at in range(10, 16)):
            raise card.error(f"{card.name} with offsets is not supported: give it grids on its axis")
        sets.setdefault(card.name, []).append(len(ends))
        if first == 2:
            property_of = card.integer(1, "the property", card.integer(0, "the element"))
            sets.setdefault(f"PID{property_of}", []).append(len(ends))
        labels.append(card.integer(0, "the element"))
        ends.append([rows[grid] for grid in pair])
    lines, own = np.array(ends, np.int64).reshape(-1, 2), {name: np.array(rows) for name, rows in sets.items()}
    said, numbers = left_out(cards, places), (np.array([*rows], np.int64), np.array(labels, np.int64))
    return MeshFile(points, lines, {}, own, {}, said, *numbers)


def left_out(cards: list[BulkCard], places: Places) -> list[str]:
    """Notices of cards that are ignored."""
    names = {card.name for card in cards}
    said = [f"{name} become T3D2, bars without bending" for name in BEAMS if name in names]
    turned = [card.text(0) for card in places.grids.values() if (card.text(5) or places.default.text(5) or "0") != "0"]
    if turned:
        said.append(
            f"displacements and loads of grid {turned[0]} and {len(turned) - 1} more, with CD, are in global axes"
        )
    if any(card.text(6) or places.default.text(6) for card in places.grids.values()):
        said.append("supports of GRID (PS) are left out")
    others = Counter(card.name for card in cards if card.name not in KNOWN)
    counted = ", ".join(f"{name} ({count})" for name, count in sorted(others.items()))
    return said + ([f"cards that are not read: {counted}"] if counted else [])
