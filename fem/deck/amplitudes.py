"""``*AMPLITUDE`` and ``*TIME POINTS``."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.deck.cards import POSITIVE, Card, Field, Row
from fem.deck.columns import columns_of, plain_numbers
from fem.deck.draft import Draft
from fem.deck.source import Mistake, listing, squeezed
from fem.deck.table import keyword
from fem.model import Amplitude

DEFINITIONS = ("TABULAR", "EQUALLY SPACED", "SMOOTH STEP", "SPLINE", "PERIODIC", "SWEEP", "USER")
OF_FILES = ("COLUMN", "TIME COLUMN", "PAST END")
OWN = ("SPACING", *OF_FILES)
OTHERS = ("DECAY", "MODULATED", "ACTUATOR", "SOLUTIONDEPENDENT", "BUBBLE", "SPECTRUM", "PSDDEFINITION", "RAMP")
"""Definitions of Abaqus that are not supported, without blanks."""
MAX_INSTANTS = 100_000
TIMES = ("STEP TIME", "TOTAL TIME")
"""CalculiX writes ``TIME=TOTAL TIME``."""


@keyword(
    "AMPLITUDE",
    "anywhere",
    needs=("NAME",),
    ignores=("VARIABLE",),
    takes=("DEFINITION", "TIME", "VALUE", "SMOOTH", "FIXED INTERVAL", "BEGIN", "SHIFTX", "SHIFTY", *OWN),
    plus=OWN,
    unsupported=("USER",),
)
def amplitude(card: Card, draft: Draft) -> None:
    name = draft.declare(card, "amplitude")
    draft.amplitudes[name] = Amplitude(name, points=np.array([[0.0, 1.0]]))
    if card.has("DEFINITION") and squeezed(card.field("DEFINITION").text) in OTHERS:
        field, hint = card.field("DEFINITION"), f"{listing(DEFINITIONS, 'and')} are"
        raise Mistake(field.place, f"*AMPLITUDE, DEFINITION={field.text.upper()} is not supported", hint)
    definition, time = card.word("DEFINITION", DEFINITIONS, "TABULAR"), card.word("TIME", TIMES, "STEP TIME")
    check_options(card, definition)
    if definition in ("PERIODIC", "SWEEP"):
        card.refuse(("SHIFTX", "SHIFTY"), f"is for tables, not for DEFINITION={definition}")
        wave = periodic if definition == "PERIODIC" else swept
        draft.amplitudes[name] = wave(card, name, time, fields_of(card, draft))
        if definition == "SWEEP":
            draft.extension("*AMPLITUDE, DEFINITION=SWEEP")
        return
    if definition == "USER":
        card.refuse(("SHIFTX", "SHIFTY", "TIME"), "is for amplitudes defined in the deck, not for DEFINITION=USER")
        first = np.array([[0.0, first_of(name, card, draft)]])
        draft.amplitudes[name] = Amplitude(name, definition, "TOTAL TIME", first)
        return
    if definition == "EQUALLY SPACED":
        points = equally_spaced(card, draft)
    else:
        points = pairs_of(card, draft) if card.file is None else points_of_file(card, f"amplitude {name}", draft)
    points = points + np.array([card.number("SHIFTX"), card.number("SHIFTY")])
    if not np.isfinite(points).all():
        raise card.mistake("a shifted point of the amplitude is out of range")
    if definition == "SPLINE":
        with np.errstate(all="ignore"):
            steepest = np.abs(np.diff(points[:, 1]) / np.diff(points[:, 0])).max(initial=0.0)
        if not steepest < STEEPEST:
            raise card.mistake(f"the amplitude is out of range: a spline cannot be drawn with a slope of {steepest:g}")
        draft.extension("*AMPLITUDE, DEFINITION=SPLINE")
    kind = "TABULAR" if definition == "EQUALLY SPACED" else definition
    draft.amplitudes[name] = Amplitude(name, kind, time, points)
    if card.file is not None and not card.has("PAST END"):
        draft.ends[name] = card.file.place, float(points[-1, 0])


STEEPEST = 1e150
"""Largest slope of a spline, so that products of two slopes do not overflow."""


def fields_of(card: Card, draft: Draft, needed: bool = True) -> list[Field]:
    return [field for row in draft.rows(card, needed) for field in row.fields()]


def first_of(name: str, card: Card, draft: Draft) -> float:
    """First value of an amplitude that a program sets; 0 by default."""
    fields = fields_of(card, draft, needed=False)
    if len(fields) > 1:
        what, hint = "DEFINITION=USER takes one number, its initial value", "fem.stepper sets the later values"
        raise Mistake(fields[1].place, what, hint)
    if fields:
        draft.extension("*AMPLITUDE, DEFINITION=USER with an initial value")
    first = fields[0].number("the first value") if fields else 0.0
    draft.notice(f"amplitude {name} (DEFINITION=USER) keeps its initial value {first:g}, unless fem.stepper sets it")
    return first


def check_options(card: Card, definition: str) -> None:
    """Accepts VALUE and SMOOTH where they have no effect; FIXED INTERVAL and BEGIN only with EQUALLY SPACED."""
    if card.has("VALUE") and card.word("VALUE", ("RELATIVE", "ABSOLUTE"), "RELATIVE") == "ABSOLUTE":
        hint = "an amplitude multiplies the value of its load"
        raise Mistake(card.field("VALUE").place, "VALUE=ABSOLUTE is not supported", hint)
    if card.has("SMOOTH") and card.number("SMOOTH") != 0.0:
        hint = "remove SMOOTH, or give a smooth curve as points"
        raise Mistake(card.field("SMOOTH").place, "SMOOTH= other than 0 is not supported", hint)
    if definition != "EQUALLY SPACED":
        card.refuse(("FIXED INTERVAL", "BEGIN"), "is for DEFINITION=EQUALLY SPACED")
    if definition != "SWEEP":
        card.refuse(("SPACING",), "is for DEFINITION=SWEEP")
    if card.file is None or definition in ("EQUALLY SPACED", "PERIODIC", "SWEEP", "USER"):
        card.refuse(OF_FILES, "is for the columns of a file: INPUT=, DEFINITION=TABULAR, SMOOTH STEP or SPLINE")
    card.word("PAST END", ("HOLD",), "HOLD")


def pairs_of(card: Card, draft: Draft) -> Floats:
    """(n, 2) pairs of time and value, any number a line; times rise."""
    numbers = plain_numbers(card.pieces)
    if numbers is not None and len(numbers) and len(numbers) % 2 == 0 and (np.diff(numbers[::2]) > 0.0).all():
        return numbers.reshape(-1, 2)
    fields = fields_of(card, draft)
    if len(fields) % 2:
        raise Mistake(fields[-1].place, "expected pairs of time and value, got a time without a value")
    points: list[tuple[float, float]] = []
    for time, value in zip(fields[::2], fields[1::2], strict=True):
        point = (time.number("the time"), value.number("the value"))
        if points and point[0] <= points[-1][0]:
            raise Mistake(time.place, f"times must rise: {point[0]:g} after {points[-1][0]:g}")
        points.append(point)
    if not points:
        raise card.mistake("the amplitude has no points")
    return np.array(points)


def points_of_file(card: Card, what: str, draft: Draft) -> Floats:
    """(n, 2) time and value: two columns of a table; several pairs a line if the first line has them, as in Abaqus."""
    table = columns_of(card)
    given = [card.field(of) if card.has(of) else number for number, of in enumerate(("TIME COLUMN", "COLUMN"), 1)]
    if given == [1, 2] and not table.names and table.width > 2:
        fields = [field for source, line in islice(table.lines, 2) for field in table.row(source, line).fields()]
        times = [field.number("the time") for field in fields[::2]]
        if table.width % 2 == 0 and all(before < after for before, after in pairwise(times)):
            return pairs_of(card, draft)
    columns = [table.find(each) for each in given]
    if table.width > 2 and not card.has("COLUMN"):
        which = f"{columns[1] + 1} of {table.width}; COLUMN= chooses one{table.named()}"
        draft.notice(f"{what} takes column {which}")
    points = table.read((columns[0], columns[1]), ("the time", "the value"))
    back = np.flatnonzero(np.diff(points[:, 0]) <= 0.0)
    if len(back):
        before, after = points[back[0] : back[0] + 2, 0]
        raise Mistake(table.place(int(back[0]) + 1, columns[0]), f"times must rise: {after:g} after {before:g}")
    return points


def equally_spaced(card: Card, draft: Draft) -> Floats:
    """(n, 2) values at BEGIN, BEGIN + FIXED INTERVAL, ..."""
    if not card.has("FIXED INTERVAL"):
        raise card.mistake("DEFINITION=EQUALLY SPACED needs FIXED INTERVAL=")
    interval, begin = card.number("FIXED INTERVAL", bound=POSITIVE), card.number("BEGIN")
    values = plain_numbers(card.pieces)
    if values is None:
        values = np.array([field.number("the value") for field in fields_of(card, draft)])
    points = np.column_stack([begin + np.arange(len(values)) * interval, values])
    if not len(points):
        raise card.mistake("the amplitude has no values")
    if (np.diff(points[:, 0]) <= 0.0).any():
        raise Mistake(card.field("FIXED INTERVAL").place, "FIXED INTERVAL is too small for BEGIN: times do not rise")
    return points


def periodic(card: Card, name: str, time: str, fields: list[Field]) -> Amplitude:
    """``N, omega, t0, A0``, then A_1, B_1, A_2, B_2, ..."""
    if len(fields) < 4:
        raise card.mistake("DEFINITION=PERIODIC needs a first line N, omega, t0, A0")
    count = fields[0].integer("the number of terms N", low=0)
    omega, start, mean = fields[1].number("omega", POSITIVE), fields[2].number("t0"), fields[3].number("A0")
    terms = [field.number("A or B") for field in fields[4:]]
    if len(terms) != 2 * count:
        raise Mistake(fields[-1].place, f"expected {count} pairs A, B after the first line, got {len(terms)} numbers")
    pairs = tuple(zip(terms[::2], terms[1::2], strict=True))
    return Amplitude(name, "PERIODIC", time, omega=omega, start=start, mean=mean, fourier=pairs)


def swept(card: Card, name: str, time: str, fields: list[Field]) -> Amplitude:
    """``omega at t0, omega at its end, duration, t0, A0``, then ``A, B``; 0, but for B = 1, unless given."""
    if len(fields) < 3:
        raise card.mistake("DEFINITION=SWEEP needs a line: omega at the start, omega at the end, duration")
    if len(fields) > 7:
        raise Mistake(fields[7].place, "expected omega, omega, duration, t0, A0, A, B, got more numbers")
    whats = ("omega at the start", "omega at the end", "the duration", "t0", "A0", "A", "B")
    bounds = (POSITIVE,) * 3 + (None,) * 4
    numbers = [field.number(what, bound) for field, what, bound in zip(fields, whats, bounds, strict=False)]
    first, last, duration, start, mean, a, b = [*numbers, *(0.0, 0.0, 0.0, 1.0)[len(numbers) - 3 :]]
    is_logarithmic = card.word("SPACING", ("LINEAR", "LOGARITHMIC"), "LINEAR") == "LOGARITHMIC"
    wave: dict[str, Any] = {"omega": first, "omega_end": last, "duration": duration, "is_logarithmic": is_logarithmic}
    return Amplitude(name, "SWEEP", time, start=start, mean=mean, fourier=((a, b),), **wave)


@keyword("TIME POINTS", "anywhere", needs=("NAME",), takes=("GENERATE", "TIME"))
def time_points(card: Card, draft: Draft) -> None:
    """Instants of output; with GENERATE ``start, end, increment`` rows."""
    name = draft.declare(card, "time points")
    draft.time_points[name] = (0.0,)
    if card.word("TIME", TIMES, "STEP TIME") == "TOTAL TIME":
        raise Mistake(card.field("TIME").place, "TIME=TOTAL TIME is not supported for *TIME POINTS: give step times")
    instants: list[float] = []
    generate = card.flag("GENERATE")
    for row in draft.rows(card):
        for field in row.fields()[:1] if generate else row.fields():
            more = instants_between(row) if generate else [field.number("an instant")]
            if instants and more[0] <= instants[-1]:
                raise Mistake(field.place, f"instants must rise: {more[0]:g} after {instants[-1]:g}")
            instants += more
    draft.time_points[name] = tuple(instants)


def instants_between(row: Row) -> list[float]:
    """start, start + increment, ..., end."""
    row.end(3, "start, end, increment")
    start, end, increment = (row.number(at, what) for at, what in enumerate(("start", "end", "the increment")))
    if increment <= 0.0 or end < start:
        raise Mistake(row.field(2).place, "expected start <= end and a positive increment")
    intervals = (end - start) / increment
    if not intervals < MAX_INSTANTS:
        raise Mistake(row.place, f"more than {MAX_INSTANTS} instants")
    found = [start + number * increment for number in range(int(intervals + 1e-9) + 1)]
    if len(found) > 1 and found[1] <= found[0]:
        raise Mistake(row.field(2).place, "the increment is too small compared with the start")
    return found
