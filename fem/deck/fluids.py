"""Water and wind: ``*AQUA``, ``*DRAG LAW``, ``*MARINE GROWTH``, and their loads on bars; ``*WIND``: mean wind with
turbulence of a given spectrum, or a measured wind.

Values that depend on the water are computed when all cards are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats
from fem.deck.cards import AT_LEAST_1, NOT_NEGATIVE, Card, Row, read_row
from fem.deck.columns import NumberLines, columns_of, lines_in
from fem.deck.draft import Draft
from fem.deck.kinds import AMOUNT, ANY, ELEMENT_SET, POSITIVE_NUMBER, name_of, number, whole, word_of
from fem.deck.source import Mistake, Place, listing
from fem.deck.table import NEEDED, DataLine, Parameters, Value, keyword, keyword_line
from fem.deck.waves import LARGEST_SEED, check_waves, direction, interval, is_unit
from fem.model import DragLaw, FluidLoad, MarineGrowth, Mesh, VortexLift, Water, Wind
from fem.model.gusts import SPECTRA, Gusts, Velocities
from fem.model.mesh import BARS
from fem.model.notices import warning

STREAM = ("vx", "vy", "vz", "the elevation")
NOT_FIELDS = "velocities that vary with x and y are not supported; expected vx, vy, vz, elevation"


def once(card: Card, known: object) -> None:
    if known is not None:
        raise card.mistake(f"the deck has two *{card.keyword}")


def rising(rows: Sequence[tuple[Row, tuple[float, ...]]], at: int, what: str) -> tuple[Any, ...]:
    """The data lines sorted by their entry ``at``; Mistake if two lines have the same value there."""
    found = sorted(rows, key=lambda pair: pair[1][at])
    for (_, one), (row, other) in pairwise(found):
        if other[at] <= one[at]:
            raise Mistake(row.place, f"two lines have the same {what}, {other[at]:g}")
    return tuple(numbers for _, numbers in found)


AQUA = DataLine(
    "seabed elevation, still level, g, density",
    Value("seabed", what="the elevation of the seabed"),
    Value("level", what="the still level"),
    Value("gravity", AMOUNT, "g"),
    Value("density", AMOUNT, "the density"),
)
OF_WATER = Parameters(AMPLITUDE=Value("amplitude", name_of("amplitude"), default=None, is_ours=True))


@keyword("AQUA", "model", OF_WATER)
def aqua(card: Card, draft: Draft) -> None:
    """``AQUA``, then lines ``vx, vy, vz, elevation`` of the current."""
    once(card, draft.water)
    amplitude, draft.tide = OF_WATER.read(card, draft), card.place
    rows = list(draft.rows(card))
    given = AQUA.read(rows[0], draft)
    if given["seabed"] > given["level"]:
        raise Mistake(rows[0].place, f"the seabed at {given['seabed']:g} is above the still level, {given['level']:g}")
    current = []
    for row in rows[1:]:
        if len(row) > 4:
            raise Mistake(row.field(4).place, NOT_FIELDS)
        current.append((row, tuple(row.number(at, what, 0.0) for at, what in enumerate(STREAM))))
    draft.water = Water(**given, **amplitude, current=rising(current, 3, "elevation"))


@keyword("DRAG LAW", "model", needs=("NAME",), takes=("BY",), extension="*DRAG LAW")
def drag_law(card: Card, draft: Draft) -> None:
    """``speed, force per length``, from 0, 0; BY=ANGLE: ``angle, C_D, C_L``."""
    name = draft.declare(card, "drag law")
    if card.word("BY", ("SPEED", "ANGLE"), "SPEED") == "ANGLE":
        turns = []
        for row in draft.rows(card):
            row.end(3, "angle, C_D, C_L")
            turns.append((row, tuple(row.number(at, what) for at, what in enumerate(("the angle", "C_D", "C_L")))))
        found = rising(turns, 0, "angle")
        if len(found) < 2 or not found[-1][0] - found[0][0] < 360.0:
            raise card.mistake(f"drag law {name} needs at least two angles within less than 360 degrees")
        draft.drag_laws[name] = DragLaw(name, found, True)
        return
    rows: list[tuple[Row, tuple[float, ...]]] = []
    for row in draft.rows(card):
        row.end(2, "speed, force per length")
        rows.append((row, (row.amount(0, "the speed"), row.amount(1, "the force per length"))))
    law = rising(rows, 0, "speed")
    lines = {numbers: row.place for row, numbers in rows}
    if law[0][0] > 0.0:
        law = ((0.0, 0.0), *law)
    elif law[0][1] != 0.0:
        raise Mistake(lines[law[0]], f"the force at speed 0 must be 0, got {law[0][1]:g}")
    if len(law) < 2:
        raise card.mistake(f"drag law {name} has no force at any speed but 0")
    if law[-1][1] < law[-2][1]:
        raise Mistake(lines[law[-1]], "the force decreases at the end of the law", "its last slope is extrapolated")
    draft.drag_laws[name] = DragLaw(name, law)


MARINE_GROWTH = Parameters(ELSET=Value("element_set", ELEMENT_SET), DIAMETER=Value("diameter", POSITIVE_NUMBER))


@keyword("MARINE GROWTH", "model", MARINE_GROWTH, extension="*MARINE GROWTH")
def marine_growth(card: Card, draft: Draft) -> None:
    """``thickness, density, elevation``."""
    given = MARINE_GROWTH.read(card, draft)
    rows: list[tuple[Row, tuple[float, ...]]] = []
    for row in draft.rows(card):
        row.end(3, "thickness, density, elevation")
        thickness, density = row.amount(0, "the thickness"), row.amount(1, "the density of the growth")
        rows.append((row, (row.number(2, "the elevation", 0.0), thickness, density)))
    draft.growths.append((MarineGrowth(**given, rows=rising(rows, 0, "elevation")), card.place))


FIELDS = {
    "FDD": ("Cd or a drag law", "alpha_R", "A_c", "A_w"),
    "WDD": ("Cd or a drag law", "alpha_R", "A_x", "A_y"),
    "FLD": ("a drag law by angle", "alpha_R", "the angle of the ice", "A_x", "A_y"),
    "FDT": ("Ct", "alpha_R", "h", "A_c", "A_w"),
    "FI": ("C_M", "C_A", "A_w", "C_At"),
    "PB": (),
}
"""Entries after elements, label, M and D on a data line."""
STREAMS = {"FDD": 6, "WDD": 6, "FDT": 7, "FLD": 7}
IN_WIND = ("WDD", "FLD")
"""Loads of wind, not of water."""


def fluid_load(row: Row, kind: str, amplitude: str | None, is_current: bool, draft: Draft) -> FluidLoad:
    row.end(4 + len(FIELDS[kind]), ", ".join(("elements", kind, "M", "D", *FIELDS[kind])))
    blame_absent_fluid(row, kind, draft)
    target = draft.target(row.field(0), "element")
    magnitude, diameter = row.number(2, "the magnitude M", 1.0), row.amount(3, "the diameter D", positive=True)
    load = FluidLoad(target, kind, magnitude, diameter, amplitude=amplitude, is_current=is_current)
    if kind == "PB":
        return load
    if kind == "FI":
        if row.field(4).text and not row.field(5).text:
            raise Mistake(row.field(5).place, "C_M without C_A", "C_A = C_M - 1 is what inviscid flow gives")
        total, added = row.amount(4, "C_M"), row.amount(5, "C_A")
        along = row.amount(7, "C_At") if row.field(7).text else None
        name = row.field(6)
        if name.text:
            draft.use("amplitude", name.name("an amplitude"), name.place)
            if not draft.waves:
                draft.ignore("A_w of FI (there are no waves)")
        flow = None, name.text.upper() or None
        return replace(load, coefficient=total, added=added, added_along=along, streams=flow)
    field = row.field(4)
    coefficient: float | str
    if kind == "FDT" or field.is_number() or not field.text:
        coefficient = row.amount(4, FIELDS[kind][0])
    else:
        coefficient = field.name("a drag law")
        draft.use("drag law", coefficient, field.place)
    if kind == "FLD":
        load = replace(load, angle=row.number(6, FIELDS[kind][2], 0.0))
        if not isinstance(coefficient, str):
            raise Mistake(field.place, "FLD needs the name of a *DRAG LAW, BY=ANGLE, got a number")
    exponent = row.number(6, "the exponent h", 2.0, AT_LEAST_1) if kind == "FDT" else 2.0
    follows = row.amount(5, "alpha_R", 1.0)
    found: list[str | None] = []
    for at in (STREAMS[kind], STREAMS[kind] + 1):
        its = row.field(at)
        found.append(its.name("an amplitude") if its.text else None)
        if its.text:
            draft.use("amplitude", found[-1] or "", its.place)
    if found[1] and kind not in IN_WIND and not draft.waves:
        draft.ignore(f"A_w of {kind} (there are no waves)")
    own = draft.water.amplitude if draft.water is not None and kind not in IN_WIND else None
    streams = found[0] or own, found[1]
    return replace(load, coefficient=coefficient, follows=follows, exponent=exponent, streams=streams)


def blame_absent_fluid(row: Row, kind: str, draft: Draft) -> None:
    card, fluid = ("WIND", draft.wind) if kind in IN_WIND else ("AQUA", draft.water)
    if fluid is None and not draft.has_failed(card):
        message = f"{kind} acts in {'wind' if kind in IN_WIND else 'water'}, and the deck has no *{card}"
        raise Mistake(row.field(1).place, message, f"give *{card} before the first step")
    if fluid is not None and fluid.density == 0.0:
        raise Mistake(row.field(1).place, f"{kind} acts in a fluid, and the density of *{card} is 0")


@keyword("D ADDED MASS", "step")
def added_mass(card: Card, draft: Draft) -> None:
    """``elements, FI, D, C_A``: in ``*FREQUENCY``."""
    if not draft.open_step.modes:
        message = "*D ADDED MASS belongs to a *FREQUENCY step, below *FREQUENCY"
        raise card.mistake(message, "for *DYNAMIC give FI in *DLOAD")
    for row in draft.rows(card):
        with draft.guard():
            row.end(4, "elements, FI, D, C_A")
            label = row.field(1)
            if label.text.upper() != "FI":
                raise Mistake(label.place, f"expected FI, got '{label.text}'", "elements, FI, D, C_A")
            blame_absent_fluid(row, "FI", draft)
            target = draft.target(row.field(0), "element")
            diameter, added = row.amount(2, "the diameter D", positive=True), row.amount(3, "C_A")
            draft.open_step.fluid_loads.append((FluidLoad(target, "ADDED MASS", 1.0, diameter, added=added), row.place))


def check_fluids(draft: Draft, mesh: Mesh) -> None:
    """Checks that loads and growth act on bars, that no bar has a load twice in a step, or two growths."""
    is_bar = mesh.is_of(*BARS)
    check_waves(draft)
    tide = draft.amplitudes.get((draft.water.amplitude if draft.water else None) or "")
    if tide is not None and draft.tide is not None and (tide.definition == "USER" or tide.time != "TOTAL TIME"):
        what, hint = "runs in step time", "a current continues from step to step: TIME=TOTAL TIME of *AMPLITUDE"
        if tide.definition == "USER":
            what, hint = "is set during the run", "name it in *DLOAD FDD and FDT: FV does not include it"
        draft.report(Mistake(draft.tide, f"amplitude {tide.name} of *AQUA {what}", hint))
    grown = np.zeros(len(is_bar), np.bool_)
    for growth, place in draft.growths:
        with draft.guard():
            grown |= spoken(draft, mesh, growth.element_set, place, is_bar, grown, "*MARINE GROWTH", "twice")
    shed = np.zeros(len(is_bar), np.bool_)
    for lift, place in draft.vortices:
        with draft.guard():
            shed |= spoken(draft, mesh, lift.element_set, place, is_bar, shed, "*VIV", "twice")
            check_lift(draft, lift, place)
    given = [load for step in draft.steps for load, _ in step.fluid_loads]
    if any(load.kind == "FI" for load in given) and any(load.streams[0] for load in given if load.kind not in IN_WIND):
        what = "the acceleration of a varying current (unlike that of waves) exerts no force"
        draft.notice(f"FI and an amplitude of the current: {what}")
    kinds = set[str]()
    for step in draft.steps:
        asked = {name for request in step.outputs for name in request.variables} & {"FV", "FA", "FE"}
        if asked and draft.water is None and not draft.has_failed("AQUA"):
            message = f"{listing(sorted(asked), 'and')} are quantities of water, and the deck has no *AQUA"
            draft.report(Mistake(step.place, message))
        taken: dict[str, Flags] = {}
        for load, place in step.fluid_loads:
            with draft.guard():
                before = taken.setdefault(load.kind, np.zeros(len(is_bar), np.bool_))
                found = spoken(draft, mesh, load.target, place, is_bar, before, load.kind, "twice in this step")
                before |= found
                law = draft.drag_laws.get(load.coefficient) if isinstance(load.coefficient, str) else None
                if law is not None and law.is_by_angle != (load.kind == "FLD"):
                    which = "BY=ANGLE" if load.kind == "FLD" else "by speed"
                    raise Mistake(place, f"{load.kind} needs a *DRAG LAW {which}, and {law.name} is none")
                if load.kind == "PB" and draft.water is not None and not draft.mistakes:  # mesh complete
                    height = mesh.coordinates[mesh.element_nodes[found], mesh.up] - draft.water.level
                    if np.any((np.ptp(height, axis=1) == 0.0) & (np.abs(height[:, 0]) < load.diameter)):
                        what = "they are fully wet or fully dry, so that their buoyancy jumps there"
                        draft.notice(f"PB on horizontal bars at the surface: {what}")
        kinds |= {load.kind for load, _ in step.fluid_loads}
        if step.modes and "FI" in kinds:
            draft.notice("*FREQUENCY: FI of earlier steps adds no mass; use *D ADDED MASS")


def check_lift(draft: Draft, lift: VortexLift, place: Place) -> None:
    """Vortices need a current without waves, and schemes that know the acceleration at the start of an increment."""
    if lift.band >= lift.centre:
        raise Mistake(place, f"the band {lift.band:g} of *VIV must be narrower than its centre {lift.centre:g}")
    if draft.water is None and not draft.has_failed("AQUA"):
        raise Mistake(place, "*VIV needs *AQUA with a current")
    if draft.waves:
        raise Mistake(place, "*VIV acts in a current only: it cannot be combined with *WAVE", "remove one of them")
    for at, step in enumerate(draft.steps, start=1):
        if step.dynamic and step.dynamic.integrator == "CENTRAL DIFFERENCE":
            raise Mistake(place, f"*VIV cannot be combined with EXPLICIT of step {at}", "use an implicit integrator")


def spoken(
    draft: Draft, mesh: Mesh, target: str | int, place: object, is_bar: Flags, before: Flags, what: str, how: str
) -> Flags:
    """(k,) elements that a line names. Mistake if one is no bar, or is in ``before``."""
    found = np.zeros(len(is_bar), np.bool_)
    known = target in mesh.element_sets if isinstance(target, str) else target in mesh.element_labels
    if known:
        found[mesh.elements_of(target)] = True
    messages = f"{what} acts on bars (T3D2, T2D2), and element {{}} is none", f"element {{}} has {what} {how}"
    for wrong, message in zip((found & ~is_bar, found & before), messages, strict=True):
        if wrong.any():
            label = draft.as_written(mesh.element_labels[int(wrong.argmax())])
            raise Mistake(place, message.format(label))  # type: ignore[arg-type]
    return found


WIND = DataLine(
    "air density, reference height, cx, cy, ix, iy, alpha",
    Value("density", AMOUNT, "the density of air"),
    Value("reference", POSITIVE_NUMBER, "the reference height"),
    *(Value("speeds", ANY, what, 1.0) for what in ("cx", "cy")),
    *(Value("direction", ANY, what, 0.0) for what in ("ix", "iy")),
    Value("power", AMOUNT, "alpha", 1.0 / 7.0),
)
OF_GUSTS = Parameters(
    TYPE=Value("spectrum", word_of(*SPECTRA), is_ours=True),
    SEED=Value("seed", whole(0, LARGEST_SEED), is_ours=True),
    DURATION=Value("duration", POSITIVE_NUMBER, is_ours=True),
    CUTOFF=Value("cutoff", POSITIVE_NUMBER, is_ours=True),
    RAMP=Value("ramp", AMOUNT, default=0.0, is_ours=True),
)
VELOCITY = "VELOCITY"
STRAIGHT = 1e-6
"""Largest distance of a place from the line of the places, relative to the length of that line."""
GUSTS = DataLine(
    "I_u, I_v, I_w, L_u, L_v, L_w, C_y, C_z",
    Value("intensity", AMOUNT, "the turbulence intensity I_u"),
    *(Value("intensity", AMOUNT, f"the turbulence intensity {name}", 0.0) for name in ("I_v", "I_w")),
    *(Value("length", AMOUNT, f"the length scale {name}", 0.0) for name in ("L_u", "L_v", "L_w")),
    Value("decay", AMOUNT, "the decay of coherence C_y", 16.0),
    Value("decay", AMOUNT, "the decay of coherence C_z", 10.0),
)


@keyword("WIND", "model", takes=tuple(OF_GUSTS), plus=tuple(OF_GUSTS))
def wind(card: Card, draft: Draft) -> None:
    """``WIND``, with TYPE then ``GUSTS``, or with TYPE=VELOCITY places and ``time, u, v, w`` at each of them."""
    once(card, draft.wind)
    is_gusty, measured = any(map(card.has, OF_GUSTS)), None
    if is_gusty and card.word("TYPE", (*SPECTRA, VELOCITY), SPECTRA[0]) == VELOCITY:
        row, measured = measured_wind(card, draft)
        is_gusty = False
    elif card.file:
        raise card.mistake(f"*WIND takes a file with TYPE={VELOCITY} only")
    else:
        row, *more = draft.rows(card) if is_gusty else [draft.single_row(card, WIND.text)]
    given = WIND.read(row, draft)
    along, hint = given["direction"], "ix, iy is a unit vector, for example 1, 0"
    given["direction"] = direction(row, 4, along, "the wind has no direction", hint)
    if not is_unit(given["direction"]):
        draft.notice("*WIND: ix, iy is not a unit vector: speeds are multiplied by its length")
    draft.wind = Wind(**given, gusts=measured)
    if is_gusty:
        draft.wind = replace(draft.wind, gusts=gusts_of(card, more, float(np.hypot(*given["speeds"])), draft))


def measured_wind(card: Card, draft: Draft) -> tuple[Row, Velocities]:
    """The line of the wind, and a table over time at the places that follow it; a file has the table alone."""
    card.refuse(("SEED", "DURATION", "CUTOFF"), f"is for the spectra of *WIND, not for TYPE={VELOCITY}")
    row, lines, table = parted(card)
    places = np.array([[line.number(at, "xyz"[at]) for at in range(3)] for line in lines] or [[0.0] * 3])
    found = Velocities(*velocities_of(table, len(places)), places, card.number("RAMP", bound=NOT_NEGATIVE))
    way = places[-1] - places[0]
    off = np.abs(places - places[0] - found.along[:, None] * way).max()
    if not ((np.diff(found.along) > 0.0).all() and off <= STRAIGHT * float(np.linalg.norm(way))):
        hint = "the wind is linear from one to the next: a mast, or stations along a line"
        raise Mistake(lines[1].place, "places must follow each other on a straight line", hint)
    count = found.velocities.shape[1]
    draft.notice(f"*WIND, TYPE={VELOCITY}: {count} samples; the wind repeats itself after {found.duration:.6g}")
    return row, found


def parted(card: Card) -> tuple[Row, list[Row], NumberLines]:
    """The line of the wind; the lines of places, with three numbers each (none: uniform wind); the table."""
    own = tuple(piece for piece in card.pieces if not card.file or piece.source is card.place.source)
    rows = (read_row(source, line, card.values, card.instances) for source, line in lines_in(own))
    if (first := next(rows, None)) is None:
        raise card.mistake(f"*WIND, TYPE={VELOCITY} needs a line {WIND.text}")
    lines = list(takewhile(lambda row: len(row) == 3 and row.field(0).is_number(), rows))
    source, line, _ = (lines or [first])[-1].place
    at = next(at for at, each in enumerate(own) if each.source is source and each.start <= line < each.stop)
    rest = (own[at]._replace(start=line + 1), *own[at + 1 :])
    if card.file and any(lines_in(rest)):
        raise card.mistake(f"*WIND, TYPE={VELOCITY} has lines x, y, z of places beside its file, and no others")
    tables = tuple(piece for piece in card.pieces if piece not in own) if card.file else rest
    return first, lines, columns_of(replace(card, pieces=tables))


def velocities_of(table: NumberLines, count: int) -> tuple[Floats, float]:
    """(count, k, 3) velocities from a table, and its interval; missing columns v and w are 0."""
    names = [f"{what}{place if count > 1 else ''}" for place in range(1, count + 1) for what in "uvw"]
    columns = table.assigned({"time": ("TIME", "T"), **{name: (name.upper(),) for name in names}})
    if not columns:
        if table.width != 1 + 3 * count:
            expected = f"expected time and u, v, w of {count} place{'s' * (count > 1)}, got {table.width} entries"
            raise Mistake(table.place(0, 0), expected)
        columns = dict(zip(("time", *names), range(table.width), strict=True))
    if lost := [name for name in ("time", *names[::3]) if name not in columns]:
        raise table.mistake(f"the table has no column {listing(lost, 'and')}{table.named()}")
    time = np.array(table.numbers(columns["time"], "the time"))
    if len(time) < 4 or time[0] != 0.0:
        raise table.mistake(f"a record of wind has at least 4 samples from time 0 on, got {len(time)} from {time[0]:g}")
    values = [table.numbers(columns[name], name) if name in columns else [0.0] * len(time) for name in names]
    return np.array(values).reshape(count, 3, -1).swapaxes(1, 2).copy(), interval(time, table.place(0, 0))


DAVENPORTS = 1200.0
UNITS = 1.0, 100.0, 1000.0, 1e-3, 1.0 / 0.3048, 1.0 / 0.0254
"""One metre in m, cm, mm, km, feet, inches."""


def with_its_length(gusts: Gusts, draft: Draft) -> Gusts:
    """Davenport's spectrum does not depend on height: its length is 1200 m, in the unit of the deck if recognised."""
    given = [length for length in gusts.length if length]
    stated = next(
        (length for length in given if np.isclose(length, DAVENPORTS * np.array(UNITS), rtol=1e-3).any()), 0.0
    )
    if other := [length for length in given if length != stated]:
        what = f"the spectrum has the length scale {stated or DAVENPORTS:g}, {other[0]:g} does not count"
        draft.notice(warning(f"*WIND, TYPE=DAVENPORT: {what}; leave L out, or use KAIMAL or VON KARMAN"))
    return replace(gusts, length=(stated or DAVENPORTS,) * 3)


def gusts_of(card: Card, rows: Sequence[Row], speed: float, draft: Draft) -> Gusts:
    """Turbulence about a mean speed."""
    for name, value in OF_GUSTS.items():
        if value.default is NEEDED and not card.has(name):
            raise card.mistake(f"turbulence of *WIND needs {name}=")
    if len(rows) != 1:
        raise card.mistake(f"*WIND, TYPE= needs two data lines, got {1 + len(rows)}", f"{WIND.text}; {GUSTS.text}")
    found = Gusts(**OF_GUSTS.read(card, draft), **GUSTS.read(rows[0], draft))
    if found.spectrum == "DAVENPORT":
        found = with_its_length(found, draft)
    if speed == 0.0:
        raise card.mistake("turbulence needs a mean wind: cx or cy", "its standard deviation is I times that speed")
    for at, (size, length) in enumerate(zip(found.intensity, found.length, strict=True)):
        if size and not length:
            raise Mistake(rows[0].field(3 + at).place, f"gusts {'uvw'[at]} have no length scale")
    if not len(found.frequencies):
        raise card.mistake("no frequency is between 1/DURATION and CUTOFF", "give a longer DURATION")
    shares = ", ".join(f"{100.0 * share:.3g}" for share in found.shares(speed))
    draft.notice(f"*WIND: gusts between 1/DURATION and CUTOFF have {shares} % of the variances of their spectra")
    return found


def written_wind(wind: Wind) -> list[str]:
    """The card; a table that came from a file is written into it."""
    gusts = wind.gusts
    if not isinstance(gusts, Velocities):
        head = keyword_line("WIND", **(OF_GUSTS.written(gusts) if gusts else {}))
        return [head, WIND.written(wind), *([GUSTS.written(gusts)] if gusts else [])]
    size = gusts.velocities.shape[1]
    head = keyword_line("WIND", TYPE=VELOCITY, RAMP=number(gusts.ramp))
    rows = np.column_stack([gusts.dt * np.arange(size), gusts.velocities.swapaxes(0, 1).reshape(size, -1)]).tolist()
    places = gusts.places.tolist() if len(gusts.places) > 1 else []
    return [head, WIND.written(wind), *(", ".join(map(number, row)) for row in (*places, *rows))]
