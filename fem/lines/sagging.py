"""``fem.sag_tension``: sag and tension of a conductor in many conditions, when it is new and after years.

The stringing is the tightest one that satisfies all limits of tension, or, without these, the slackest one that
satisfies the limits of sag. The final state is after the heaviest load of the table or after ten years at the condition
of creep, whichever gives the larger sag at that condition. Conditions and limits are rows of a table with the units in
its headings.
"""

from __future__ import annotations

import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from fem.commands.arguments import number
from fem.commands.files import lines_of, table_rows, write_new
from fem.errors import CommandError, unknown
from fem.lines.conductors import (
    CatenaryShape,
    Conductor,
    Load,
    Memory,
    SpanState,
    StressCurves,
    length0_of,
    new,
    ruling_span,
    shape_of,
    state_of,
    stress,
    stretched,
)
from fem.lines.hanging import LineError, root
from fem.lines.spans import LineSection, rows, section_of

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
"""Limits of a condition, and the kinds of their units; tension: the larger of both ends; average: of that and the
horizontal one, as printed in tables of Alcoa's program."""
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
"""Columns that a district replaces, in its order."""
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
    """A number in SI (temperatures in C), or an array, converted to other units."""
    return value * 1.8 + FREEZING_F if units[kind] == "F" else value / UNITS[kind][units[kind]]


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
        lines = table_rows(path)
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


GRAVITY = 9.80665
"""Standard: a pound of weight is that of a pound of mass."""
CREEP_AT = 15.5556
"""Temperature [C] (60 F) of the ten years of creep, if no row states it."""
CHARTED = 0.5
"""Strain in percent at which charts of stress over strain end, unless the polynomial stops rising before."""


def conductor_of(section: LineSection) -> Conductor:
    """Core and wires of a section of the catalogue: its own curves, or those of its stranding (26/7).
    CommandError: the catalogue has no curves for it."""
    own = numbers_of(section.name)
    if not {"area", "wires", "core_wires"} <= own.keys():
        raise CommandError(f"section {section.name} has no curves of a core and wires in the catalogue; {which()} have")
    stranding = f"{own['wires'][0]:.0f}/{own['core_wires'][0]:.0f}"
    curves = own if "wires_initial" in own else numbers_of(stranding)
    materials = tuple(charted(curves, part) for part in ("core", "wires"))
    return Conductor(own["area"][0], materials, curves["reference"][0])


def numbers_of(name: str) -> dict[str, tuple[float, ...]]:
    """Quantity -> its factors by their powers, of one section of the catalogue."""
    found: dict[str, dict[int, float]] = {}
    for row in rows():
        if row["section"].lower() == name.lower():
            found.setdefault(row["quantity"], {})[int(row["power"])] = float(row["factor"])
    return {what: tuple(terms.get(k, 0.0) for k in range(max(terms) + 1)) for what, terms in found.items()}


def which() -> str:
    """Names of conductors with a core and wires."""
    return ", ".join(sorted(row["section"] for row in rows() if row["quantity"] == "core_wires"))


def charted(curves: Mapping[str, tuple[float, ...]], part: str) -> StressCurves:
    """Curves of core or wires, that end where a chart does, or where the initial one stops to rise."""
    initial, creep, final, expansion = (curves[f"{part}_{what}"] for what in ("initial", "creep", "final", "expansion"))
    slopes = [k * coefficient for k, coefficient in enumerate(initial)][1:]
    steps = [CHARTED * step / 1000 for step in range(1001)]
    falls = (x for x in steps if sum(slope * x**k for k, slope in enumerate(slopes)) <= 0.0)
    return StressCurves(initial, creep, final[0], expansion[0], next(falls, CHARTED))


class SagRow(NamedTuple):
    """A condition with its two states."""

    condition: Condition
    initial: SpanState
    final: SpanState


@dataclass(frozen=True, slots=True)
class SagTension:
    """Sag and tension of a span, or of the ruling span of several.

    span, rise    of the ends [m]; height of the first one over the ground
    spans         those of the section;  units: of the tables, kind -> symbol
    length0       of the span, without stress at the reference temperature of the conductor
    governing     the limit that says how it is strung;  is_creep_larger: final is after creep, else after the load
    """

    section: LineSection
    conductor: Conductor
    span: float
    rise: float
    height: float | None
    spans: tuple[float, ...]
    units: Mapping[str, str]
    gravity: float
    length0: float
    governing: str
    final: Memory
    is_creep_larger: bool
    load: str
    rows: tuple[SagRow, ...]

    def state(self, temperature: float, is_final: bool = False) -> SpanState:
        """Bare and without wind, at a temperature [C]."""
        memory = self.final if is_final else new(self.conductor)
        load = load_of(Condition("bare", temperature), self.section, self.conductor, self.gravity)
        return state_of(self.conductor, self.length0, self.span, self.rise, load, memory)

    def told(self, value: Any, kind: str) -> Any:
        """A number in SI (temperatures in C), or an array, converted to the units of the tables."""
        return shown(value, kind, self.units)

    def knee(self, is_final: bool = True, low: float = -50.0, high: float = 250.0) -> float | None:
        """Temperature [C] above which the wires carry no load; None: there is none between low and high."""
        wires, point = self.conductor.materials[-1], (self.final[-1] if is_final else None)

        def carries(temperature: float) -> bool:
            strain = self.state(temperature, is_final).strain
            warmth = temperature - self.conductor.reference
            return stress(wires, strain - wires.expansion * warmth, point) > 0.0

        if not carries(low) or carries(high):
            return None
        while high - low > 0.01:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if carries(middle) else (low, middle)
        return 0.5 * (low + high)

    def table(self) -> list[list[Any]]:
        """Headings with units, then a row for each condition."""
        of = self.units
        heads = ["name", f"temperature [{of['temperature']}]", f"ice [{of['thickness']}]", f"wind [{of['pressure']}]"]
        heads += [f"K [{of['load']}]", f"weight [{of['load']}]", "swing [degrees]"]
        for which in ("initial", "final"):
            heads += [f"{which} sag [{of['length']}]"]
            heads += [f"{which} {what} [{of['force']}]" for what in ("H", "average", "T first", "T last")]
        heads += ["tension [% RTS]"] * (self.section.strength > 0.0) + ["residual"]
        return [heads, *(self._cells(row) for row in self.rows)]

    def _cells(self, row: SagRow) -> list[Any]:
        condition, load, told = row.condition, row.initial.load, self.told
        cells: list[Any] = [condition.name, told(condition.temperature, "temperature")]
        cells += [told(condition.ice, "thickness"), told(condition.wind, "pressure")]
        cells += [told(load.extra, "load"), told(load.resultant, "load"), math.degrees(load.swing)]
        for state in (row.initial, row.final):
            forces = state.h, average(state.h, state.shape), state.shape.first, state.shape.last
            cells += [told(state.shape.sag, "length"), *(told(force, "force") for force in forces)]
        if self.section.strength:
            cells.append(100.0 * max(largest(row.initial.shape), largest(row.final.shape)) / self.section.strength)
        return [*cells, max(abs(row.initial.residual), abs(row.final.residual))]

    def stringing(self, temperatures: Sequence[float]) -> list[list[Any]]:
        """Tension of the new conductor, and the sag of each level span under it, over temperatures [C]."""
        of, told = self.units, self.told
        heads = [f"temperature [{of['temperature']}]", f"H [{of['force']}]"]
        heads += [f"sag of {told(span, 'length'):.6g} {of['length']} [{of['length']}]" for span in self.spans]
        lines: list[list[Any]] = [heads]
        for temperature in temperatures:
            state = self.state(temperature)
            rise = 0.0 if len(self.spans) > 1 else self.rise
            sags = (shape_of(state.h, span, rise, state.load).sag for span in self.spans)
            line = [told(temperature, "temperature"), told(state.h, "force")]
            lines.append([*line, *(told(sag, "length") for sag in sags)])
        return lines


def largest(shape: CatenaryShape) -> float:
    """Tension at the end that pulls more."""
    return max(shape.first, shape.last)


def average(h: float, shape: CatenaryShape) -> float:
    """Mean of that and the horizontal tension, as printed in tables of Alcoa's program."""
    return 0.5 * (h + largest(shape))


def load_of(condition: Condition, section: LineSection, conductor: Conductor, gravity: float) -> Load:
    """Weights of conductor and ice, wind on both."""
    ring = math.pi * condition.ice * (section.diameter + condition.ice)
    weight = (section.mass + condition.ice_density * ring) * gravity
    wind = condition.wind * (section.diameter + 2.0 * condition.ice)
    return Load(weight, wind, condition.extra, condition.temperature - conductor.reference)


class Stringing:
    """A span whose unstressed length is to be found."""

    def __init__(self, section: LineSection, conductor: Conductor, ends: tuple[float, float], gravity: float) -> None:
        self.section, self.conductor, self.gravity = section, conductor, gravity
        self.span, self.rise = ends

    def load(self, condition: Condition) -> Load:
        return load_of(condition, self.section, self.conductor, self.gravity)

    def state(self, length0: float, condition: Condition, memory: Memory | None = None) -> SpanState:
        """LineError names the condition."""
        try:
            memory = memory or new(self.conductor)
            return state_of(self.conductor, length0, self.span, self.rise, self.load(condition), memory)
        except LineError as error:
            raise LineError(f"{condition.name}: {error}") from None

    def memory(self, length0: float, heaviest: Condition, creep: Condition) -> tuple[Memory, bool]:
        """State after years, and whether creep gives the larger sag."""
        loaded = self.state(length0, heaviest)
        by_load = stretched(self.conductor, loaded.strain, loaded.load.warmth, False)
        crept = tuple(each._replace(initial=each.creep) for each in self.conductor.materials)
        aged = self.conductor._replace(materials=crept)
        rested = state_of(aged, length0, self.span, self.rise, self.load(creep), new(aged))
        by_creep = stretched(self.conductor, rested.strain, rested.load.warmth, True)
        bare = creep._replace(ice=0.0, wind=0.0, extra=0.0)
        sags = [self.state(length0, bare, memory).shape.sag for memory in (by_load, by_creep)]
        return (by_creep, True) if sags[1] > sags[0] else (by_load, False)

    def horizontal(self, condition: Condition, limit: Limit, height: float | None) -> float:
        """Horizontal tension at which a limit is reached exactly. CommandError: it is impossible."""
        load, value = self.load(condition), limit.value
        if limit.is_share:
            if not self.section.strength:
                raise CommandError(f"{condition.name}: the strength of {self.section.name} is not known: give a force")
            value *= self.section.strength
        if limit.kind == "horizontal tension limit":
            return value
        if limit.kind == "clearance limit":
            if height is None:
                raise CommandError(f"{condition.name}: a clearance needs the heights of the ends (--first, --last)")
            if load.wind:
                raise CommandError(f"{condition.name}: a clearance is for a conductor without wind")
        measure: dict[str, Callable[[float, CatenaryShape], float]] = {
            "tension limit": lambda h, shape: largest(shape),
            "average tension limit": average,
            "sag limit": lambda h, shape: shape.sag,
            "clearance limit": lambda h, shape: (height or 0.0) - shape.lowest,
        }
        scale = load.resultant * math.hypot(self.span, self.rise)

        def excess(log_h: float) -> float:
            h = math.exp(log_h)
            return measure[limit.kind](h, shape_of(h, self.span, self.rise, load)) - value

        # Tensions at the ends have a minimum over h: search above it.
        low = 0.42 * scale if limit.kind in TENSIONS else 0.01 * scale
        try:
            return math.exp(root(excess, math.log(low), math.log(1e4 * scale)))
        except LineError:
            raise CommandError(f"{condition.name}: no tension gives its {limit.kind}") from None

    def length(
        self, condition: Condition, limit: Limit, height: float | None, later: Callable[[float], tuple[Memory, bool]]
    ) -> float:
        """The unstressed length with which a limit is reached exactly; later: final state of the materials for a
        length."""
        h = self.horizontal(condition, limit, height)
        try:
            found = length0_of(self.conductor, h, self.span, self.rise, self.load(condition), new(self.conductor))
        except LineError as error:
            raise LineError(f"{condition.name}: the conductor cannot carry its {limit.kind}: {error}") from None
        if limit.state == "initial":
            return found

        def excess(length0: float) -> float:
            return self.state(length0, condition, later(length0)[0]).h - h

        step, long, short = 2e-4 * found, found, found
        for _ in range(40):
            if excess(short) >= 0.0:
                return root(excess, short, long) if short < long else found
            long, short = short, short - step
        raise LineError("no stringing is tight enough for this in the final state")


MOST_TURNS = 10
TENSIONS = ("horizontal tension limit", "tension limit", "average tension limit")


def sag_tension(
    cases: str | Path | Sequence[Mapping[str, Any]],
    *,
    section: str | LineSection,
    spans: Sequence[float] = (),
    first: Sequence[float] | None = None,
    last: Sequence[float] | None = None,
    gravity: float = GRAVITY,
) -> SagTension:
    """Sag and tension of a conductor in all conditions of a table, when new and after years.

    cases    CSV table, or a sequence of mappings with its headings: name, temperature [C|F], ice [mm|in], ice density
             [kg/m3|lb/ft3], wind [Pa|psf], K [N/m|lb/ft], or in place of these a district (NESC HEAVY, CSA MEDIUM A);
             limits: horizontal tension limit, tension limit [N|kN|lb|% RTS], sag limit, clearance limit [m|ft]; state
             in which they hold (initial, final); creep (yes: the ten years pass at this condition). Results are in US
             units if a temperature is in F.
    section  name of a conductor of the catalogue, or a ``LineSection`` with that name
    spans    level spans of a section [m], computed as their ruling span; or, for one span,
    first, last  (x, y, z) of its ends [m], z above the ground
    gravity  acceleration along -z [m/s2]

    Raises
    ------
    CommandError  a row that cannot be read, no limit, limits that contradict each other, a conductor without curves, a
                  state that has no equilibrium or is beyond the published curves.

    >>> line = fem.sag_tension([{"temperature [C]": 15, "tension limit [% RTS]": 20}], section="drake", spans=[300])
    >>> print(f"{line.rows[0].final.shape.sag:.2f} m")
    7.13 m
    """
    conditions, units = read_conditions(cases)
    made = section if isinstance(section, LineSection) else section_of(section)
    conductor = conductor_of(made)
    span, rise, height = ends_of(spans, first, last)
    stringing = Stringing(made, conductor, (span, rise), gravity)
    try:
        length0, governing, new_states, (memory, is_creep_larger), load = strung_as(stringing, conditions, height)
        final = [stringing.state(length0, each, memory) for each in conditions]
    except LineError as error:
        raise CommandError(f"no sag and tension: {error}") from None
    return SagTension(
        made, conductor, span, rise, height, tuple(spans) or (span,), units, gravity, length0, governing, memory,
        is_creep_larger, load, tuple(map(SagRow, conditions, new_states, final)),
    )  # fmt: skip


def ends_of(
    spans: Sequence[float], first: Sequence[float] | None, last: Sequence[float] | None
) -> tuple[float, float, float | None]:
    """Span, rise, height of the first end. CommandError: neither spans nor ends, or both."""
    if spans and last is None and first is None:
        if not all(0.0 < span < math.inf for span in spans):
            raise CommandError(f"spans must be positive, got {', '.join(f'{span:g}' for span in spans)}")
        return ruling_span(spans), 0.0, None
    if spans or first is None or last is None or len(first) != 3 or len(last) != 3:
        raise CommandError("give the spans of a section, or both ends of a span: first and last, x, y, z each")
    span = math.hypot(last[0] - first[0], last[1] - first[1])
    if not 0.0 < span < math.inf:
        raise CommandError("one end of the span is vertically above the other")
    return span, last[2] - first[2], first[2]


def strung_as(
    stringing: Stringing, conditions: Sequence[Condition], height: float | None
) -> tuple[float, str, list[SpanState], tuple[Memory, bool], str]:
    """Unstressed length, the governing limit, states of the new conductor, final state of the materials (and whether
    by creep), the heaviest condition. CommandError: limits contradict each other."""
    limited = [(condition, limit) for condition in conditions for limit in condition.limits]
    if not limited:
        raise CommandError(f"no limit determines the stringing: give one of the columns {', '.join(TENSIONS)}, ...")
    creep = next((each for each in conditions if each.is_creep), Condition("creep", CREEP_AT))
    heaviest = max(range(len(conditions)), key=lambda place: stringing.load(conditions[place]).resultant)
    for _ in range(MOST_TURNS):
        later = partial(stringing.memory, heaviest=conditions[heaviest], creep=creep)
        lengths = [stringing.length(condition, limit, height, later) for condition, limit in limited]
        length0, governing = governed(limited, lengths)
        initial = [stringing.state(length0, each) for each in conditions]
        hardest = max(range(len(conditions)), key=lambda place: initial[place].shape.mean)
        if hardest == heaviest:
            return length0, governing, initial, later(length0), conditions[heaviest].name
        heaviest = hardest
    raise LineError("the condition with the largest tension alternates with the stringing: no solution was found")


def governed(limited: Sequence[tuple[Condition, Limit]], lengths: Sequence[float]) -> tuple[float, str]:
    """The length that satisfies the limits, and the governing limit."""
    pulls = [place for place, (_, limit) in enumerate(limited) if limit.kind in TENSIONS]
    sags = [place for place in range(len(limited)) if place not in pulls]
    tightest = max(pulls, key=lambda place: lengths[place], default=-1)
    slackest = min(sags, key=lambda place: lengths[place], default=-1)
    if pulls and sags and lengths[tightest] > lengths[slackest] * (1.0 + 1e-12):
        one, other = (told(*limited[place]) for place in (tightest, slackest))
        raise CommandError(f"the limits contradict each other: with the {one} the {other} is violated")
    place = tightest if pulls else slackest
    return lengths[place], told(*limited[place])


def told(condition: Condition, limit: Limit) -> str:
    return f"{limit.state} {limit.kind} at {condition.name}"


ALONE = ("first", "last", "section", "gravity", "spans")
"""Options of ``fem line`` that are used here, too."""


def sag_tension_as_asked(cases: Path, **given: Any) -> SagTension:
    """``fem line --sag-tension``. CommandError: an option without effect."""
    if lost := sorted(given.keys() - set(ALONE)):
        raise CommandError(f"--sag-tension does not accept {', '.join('--' + name.replace('_', '-') for name in lost)}")
    if "section" not in given:
        raise CommandError(f"--sag-tension needs --section NAME, a conductor of the catalogue: {which()}")
    return sag_tension(cases, **given)


def told_lines(line: SagTension) -> list[str]:
    """Text for the console: the stringing, and both states of each condition."""
    of, told, knee = line.units, line.told, line.knee()
    many = f"ruling span of {len(line.spans)}: " if len(line.spans) > 1 else "span "
    creep = "ten years of creep" if line.is_creep_larger else f"{line.load}, creep is not a factor"
    above = "load throughout" if knee is None else f"no load above {told(knee, 'temperature'):.3g} {of['temperature']}"
    lines = [
        f"{line.section.name}, {many}{told(line.span, 'length'):.6g} {of['length']}, strung by the {line.governing}",
        f"final is after {creep}; the wires carry {above}",
        f"{'':24}{'temp.':>7} {'weight':>8} | {'initial':>8} {'':>9} {'':>9} | {'final':>8}",
        f"{'':24}{of['temperature']:>7} {of['load']:>8}"
        + 2 * f" | {'sag ' + of['length']:>8} {'H ' + of['force']:>9} {'T ' + of['force']:>9}",
    ]
    for condition, *states in line.rows:
        text = f"{condition.name[:23]:24}{told(condition.temperature, 'temperature'):7.1f}"
        text += f" {told(states[0].load.resultant, 'load'):8.3f}"
        for state in states:
            forces = (f"{told(force, 'force'):9.0f}" for force in (state.h, largest(state.shape)))
            text += f" | {told(state.shape.sag, 'length'):8.2f} {' '.join(forces)}"
        lines.append(text)
    return lines


def write_sag_tension(line: SagTension, path: Path, temperatures: Sequence[float], force: bool) -> list[Path]:
    """The tables: all conditions, and, with temperatures in their units, the stringing."""
    written = [write_new(path, lines_of(line.table()), force)]
    if temperatures:
        beside = path.with_name(f"{path.stem}_stringing.csv")
        table = line.stringing([celsius(each, line.units["temperature"]) for each in temperatures])
        written.append(write_new(beside, lines_of(table), force))
    return written
