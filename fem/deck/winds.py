"""``*WIND``: mean wind, turbulence of a spectrum, and winds that were measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from fem.arrays import Floats
from fem.deck.cards import Card, Row, read_row
from fem.deck.columns import Columns, columns_of, lines_in
from fem.deck.draft import Draft
from fem.deck.kinds import AMOUNT, ANY, POSITIVE_NUMBER, Whole, number, word_of
from fem.deck.source import Mistake, listing
from fem.deck.table import NEEDED, Line, Parameters, Value, keyword, keyword_line
from fem.deck.waves import LARGEST_SEED, direction, interval, is_unit
from fem.model import Wind
from fem.model.gusts import SPECTRA, Gusts, Velocities

WIND = Line(
    "air density, reference height, cx, cy, ix, iy, alpha",
    Value("density", AMOUNT, "the density of air"),
    Value("reference", POSITIVE_NUMBER, "the reference height"),
    *(Value("speeds", ANY, what, 1.0) for what in ("cx", "cy")),
    *(Value("direction", ANY, what, 0.0) for what in ("ix", "iy")),
    Value("power", AMOUNT, "alpha", 1.0 / 7.0),
)
OF_GUSTS = Parameters(
    TYPE=Value("spectrum", word_of(*SPECTRA), is_ours=True),
    SEED=Value("seed", Whole(0, LARGEST_SEED), is_ours=True),
    DURATION=Value("duration", POSITIVE_NUMBER, is_ours=True),
    CUTOFF=Value("cutoff", POSITIVE_NUMBER, is_ours=True),
    RAMP=Value("ramp", AMOUNT, default=0.0, is_ours=True),
)
VELOCITY = "VELOCITY"
STRAIGHT = 1e-6
"""Of the way from the first place to the last: by so much others may be off it."""
GUSTS = Line(
    "I_u, I_v, I_w, L_u, L_v, L_w, C_y, C_z",
    Value("intensity", AMOUNT, "the turbulence intensity I_u"),
    *(Value("intensity", AMOUNT, f"the turbulence intensity {name}", 0.0) for name in ("I_v", "I_w")),
    Value("length", POSITIVE_NUMBER, "the length scale L_u"),
    *(Value("length", AMOUNT, f"the length scale {name}", 0.0) for name in ("L_v", "L_w")),
    Value("decay", AMOUNT, "the decay of coherence C_y", 16.0),
    Value("decay", AMOUNT, "the decay of coherence C_z", 10.0),
)


@keyword("model", takes=tuple(OF_GUSTS), plus=tuple(OF_GUSTS))
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
    for name in ("SEED", "DURATION", "CUTOFF"):
        if card.has(name):
            raise Mistake(card.field(name).place, f"{name} is for the spectra of *WIND, not for TYPE={VELOCITY}")
    row, lines, table = parted(card)
    places = np.array([[line.number(at, "xyz"[at]) for at in range(3)] for line in lines] or [[0.0] * 3])
    found = Velocities(*velocities_of(table, len(places)), places, card.amount("RAMP"))
    way = places[-1] - places[0]
    off = np.abs(places - places[0] - found.along[:, None] * way).max()
    if not ((np.diff(found.along) > 0.0).all() and off <= STRAIGHT * float(np.linalg.norm(way))):
        hint = "the wind is linear from one to the next: a mast, or stations along a line"
        raise Mistake(lines[1].place, "places must follow each other on a straight line", hint)
    count = found.velocities.shape[1]
    draft.notice(f"*WIND, TYPE={VELOCITY}: {count} samples; the wind repeats itself after {found.duration:.6g}")
    return row, found


def parted(card: Card) -> tuple[Row, list[Row], Columns]:
    """The line of the wind; those of places, three numbers each, none: everywhere; the table."""
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


def velocities_of(table: Columns, count: int) -> tuple[Floats, float]:
    """(count, k, 3) velocities of a table, and its interval; columns v and w may be missing, which are 0."""
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


def gusts_of(card: Card, rows: Sequence[Row], speed: float, draft: Draft) -> Gusts:
    """Turbulence about a mean speed."""
    for name, value in OF_GUSTS.items():
        if value.default is NEEDED and not card.has(name):
            raise card.mistake(f"turbulence of *WIND needs {name}=")
    if len(rows) != 1:
        raise card.mistake(f"*WIND, TYPE= needs two data lines, got {1 + len(rows)}", f"{WIND.text}; {GUSTS.text}")
    found = Gusts(**OF_GUSTS.read(card, draft), **GUSTS.read(rows[0], draft))
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


def once(card: Card, known: object) -> None:
    if known is not None:
        raise card.mistake(f"the deck has two *{card.keyword}")


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
