"""Conditions of an overhead line and what limits them, as rows of a table whose headings have the units."""

from __future__ import annotations

import csv
import re
from argparse import ArgumentTypeError
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fem.commands.arguments import number
from fem.errors import CommandError, unknown

ICE = 913.0
"""kg/m^3: 57 lb/ft^3 of NESC."""
FREEZING_F = 32.0
UNITS: dict[str, dict[str, float]] = {
    "length": {"m": 1.0, "ft": 0.3048},
    "thickness": {"mm": 1e-3, "in": 0.0254},
    "density": {"kg/m3": 1.0, "lb/ft3": 16.018463},
    "pressure": {"Pa": 1.0, "psf": 47.880259},
    "load": {"N/m": 1.0, "lb/ft": 14.593903},
    "force": {"N": 1.0, "kN": 1e3, "lb": 4.4482216},
    "share": {"% RTS": 0.01},
    "temperature": {"C": 1.0, "F": 5.0 / 9.0},
}
SI = {"length": "m", "thickness": "mm", "pressure": "Pa", "load": "N/m", "force": "N", "temperature": "C"}
US = {"length": "ft", "thickness": "in", "pressure": "psf", "load": "lb/ft", "force": "lb", "temperature": "F"}
LIMITS = {
    "horizontal tension limit": ("force", "share"),
    "tension limit": ("force", "share"),
    "average tension limit": ("force", "share"),
    "sag limit": ("length",),
    "clearance limit": ("length",),
}
"""What limits a condition, and the kinds of its units; tension: the larger of both ends; average: of that and
the horizontal one, which is what tables of Alcoa's program print."""
COLUMNS: dict[str, tuple[str, ...]] = {
    **{"temperature": ("temperature",), "ice": ("thickness",), "ice density": ("density",), "wind": ("pressure",)},
    **{"k": ("load",), **LIMITS},
}
WORDS = ("name", "district", "state", "creep")
DISTRICTS: dict[str, tuple[Any, ...]] = {
    "NESC HEAVY": ("F", 0.0, 0.5 * 0.0254, 4.0 * 47.880259, 0.30 * 14.593903, ICE),
    "NESC MEDIUM": ("F", 15.0, 0.25 * 0.0254, 4.0 * 47.880259, 0.20 * 14.593903, ICE),
    "NESC LIGHT": ("F", 30.0, 0.0, 9.0 * 47.880259, 0.05 * 14.593903, ICE),
    "CSA SEVERE": ("C", -20.0, 0.019, 400.0, 0.0, 900.0),
    "CSA HEAVY": ("C", -20.0, 0.0125, 400.0, 0.0, 900.0),
    "CSA MEDIUM A": ("C", -20.0, 0.0065, 400.0, 0.0, 900.0),
    "CSA MEDIUM B": ("C", -20.0, 0.0125, 300.0, 0.0, 900.0),
}
"""Temperature, ice [m], wind [Pa], K [N/m], density of ice. NESC C2, tables 250-1 and 251-1, as reprinted by Douglass &
Thrash (see ``fem/lines/conductors.py``); CSA C22.3 No. 1, deterministic loads (no reprint was found to compare)."""
ACTING = ("temperature", "ice", "wind", "k", "ice density")
"""What a district gives, in its order."""
STATES = ("initial", "final")


class Limit(NamedTuple):
    """kind: of ``LIMITS``; value in SI, or a share of the strength; state in which it holds, initial or final."""

    kind: str
    value: float
    state: str
    is_share: bool


class Condition(NamedTuple):
    """temperature [C], ice [m] of a density [kg/m3], wind [Pa], extra load K [N/m]; is_creep: ten years pass at it."""

    name: str
    temperature: float
    ice: float = 0.0
    wind: float = 0.0
    extra: float = 0.0
    ice_density: float = ICE
    limits: tuple[Limit, ...] = ()
    is_creep: bool = False

    @property
    def is_bare(self) -> bool:
        return not (self.ice or self.wind or self.extra)


def celsius(value: float, unit: str) -> float:
    return (value - FREEZING_F) * 5.0 / 9.0 if unit == "F" else value


def shown(value: Any, kind: str, units: Mapping[str, str]) -> Any:
    """A number in SI (temperatures in C), or an array, in other units."""
    if units[kind] == "F":
        return value * 1.8 + FREEZING_F
    return value / UNITS[kind][units[kind]]


class Heading(NamedTuple):
    """A column: what it is, its unit, the kind of that."""

    name: str
    unit: str = ""
    kind: str = ""


def heading_of(text: str, place: str) -> Heading:
    """``ice [mm]``. CommandError: there is no such column, or its unit is missing or unknown."""
    match = re.fullmatch(r"\s*([A-Za-z ]+?)\s*(?:\[\s*(.*?)\s*\])?\s*", text)
    name, unit = (match[1].lower(), match[2] or "") if match else (text.strip(), "")
    if name in WORDS:
        return Heading(name)
    if name not in COLUMNS:
        raise CommandError(f"{place}: {unknown('column', text.strip(), (*WORDS, *COLUMNS)).args[0]}")
    for kind in COLUMNS[name]:
        for known in UNITS[kind]:
            if unit.replace(" ", "").lower() == known.replace(" ", "").lower():
                return Heading(name, known, kind)
    units = ", ".join(known for kind in COLUMNS[name] for known in UNITS[kind])
    raise CommandError(f"{place}: column {text.strip()!r} needs its unit in brackets, one of {units}: {name} [...]")


def read_conditions(cases: str | Path | Sequence[Mapping[str, Any]]) -> tuple[list[Condition], dict[str, str]]:
    """Rows of a CSV table, or mappings with the same headings; and the units of the answer. CommandError: not so."""
    if isinstance(cases, str | Path):
        path = Path(cases)
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [(number, row) for number, row in enumerate(csv.reader(file), 1) if any(map(str.strip, row))]
        if len(lines) < 2:
            raise CommandError(f"{path} has no conditions below its headings")
        heads = headings_of(lines[0][1], f"{path}:{lines[0][0]}")
        table = []
        for number, row in lines[1:]:
            if len(row) > len(heads):
                raise CommandError(f"{path}:{number}: {len(row)} cells below {len(heads)} headings")
            table.append((f"{path}:{number}", dict(zip(heads, row, strict=False))))
    else:
        table = []
        for number, given in enumerate(cases, 1):
            place = f"condition {number}"
            table.append((place, dict(zip(headings_of(given, place), map(str, given.values()), strict=True))))
    units = US if any(head.unit == "F" for _, row in table for head in row) else SI
    found = [condition_of(place, row, number) for number, (place, row) in enumerate(table, 1)]
    creep = [place for (place, _), condition in zip(table, found, strict=True) if condition.is_creep]
    if len(creep) > 1:
        raise CommandError(f"{creep[1]}: creep is yes twice: the ten years of creep belong to one condition")
    return found, units


def headings_of(texts: Iterable[str], place: str) -> list[Heading]:
    """CommandError: a column is given twice; limits may be, in other units."""
    heads = [heading_of(text, place) for text in texts]
    for head in heads:
        if sum(other == head if head.name in LIMITS else other.name == head.name for other in heads) > 1:
            raise CommandError(f"{place}: column {head.name} is given twice")
    return heads


def condition_of(place: str, cells: Mapping[Heading, str], row: int) -> Condition:
    """One row. CommandError: a cell is no number, or a number is missing or cannot be."""
    words = {head.name: text.strip() for head, text in cells.items() if head.name in WORDS}
    values: list[tuple[Heading, float]] = []
    for head, text in cells.items():
        if head.name in WORDS or not text.strip():
            continue
        where = f"{place}: column {head.name} [{head.unit}]"
        try:
            value = number(text.strip())
        except ArgumentTypeError as error:
            raise CommandError(f"{where}: {error}") from None
        is_low = value <= 0.0 if head.name in LIMITS else value < 0.0 and head.kind != "temperature"
        if is_low:
            raise CommandError(f"{where}: a number {'above' if head.name in LIMITS else 'of at least'} 0, got {text}")
        is_warmth = head.kind == "temperature"
        values.append((head, celsius(value, head.unit) if is_warmth else value * UNITS[head.kind][head.unit]))
    given = {head.name: value for head, value in values if head.name not in LIMITS}
    if district := words.get("district", ""):
        if district.upper() not in DISTRICTS:
            if district.upper().replace(" ", "").startswith(("EN50341", "IEC60826", "ASCE74")):
                hint = "its loads are those of a map or of a national annex: give temperature, ice and wind in columns"
                raise CommandError(f"{place}: {district} has no loads of its own; {hint}")
            raise CommandError(f"{place}: {unknown('district', district, DISTRICTS).args[0]}")
        if own := given.keys() & set(ACTING):
            raise CommandError(f"{place}: {district} has its own {', '.join(sorted(own))}: leave those cells empty")
        unit, warmth, *others = DISTRICTS[district.upper()]
        given |= dict(zip(ACTING, (celsius(warmth, unit), *others), strict=True))
    if "temperature" not in given:
        raise CommandError(f"{place}: no temperature: give temperature [C] or [F], or a district")
    state = words.get("state", "").lower() or STATES[0]
    if state not in STATES:
        raise CommandError(f"{place}: state {words['state']!r} is not one of initial, final")
    creep = words.get("creep", "").lower()
    if creep not in ("", "yes", "no"):
        raise CommandError(f"{place}: creep {words['creep']!r} is not yes or no")
    limits = [Limit(head.name, value, state, head.kind == "share") for head, value in values if head.name in LIMITS]
    name = words.get("name") or words.get("district") or f"condition {row}"
    ice, wind, extra = (given.get(what, 0.0) for what in ACTING[1:4])
    density = given.get("ice density", ICE)
    return Condition(name, given["temperature"], ice, wind, extra, density, tuple(limits), creep == "yes")
