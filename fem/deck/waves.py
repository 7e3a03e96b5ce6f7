"""``*WAVE``: regular waves, seas, components and records of other programs; ``*RAO``: how they move a vessel, as rows
of the deck or a table of another program. Values that depend on the water are computed when all cards are read.

TABLE and ELEVATION become regular waves when they are read. The surface eta(t_j) of a record of n samples, dt apart, is
the sum of its Fourier components (rfft),

    eta(t) = mean + sum of a_m cos(omega_m (t - t_0) + arg c_m),   omega_m = 2 pi m/(n dt),   a_m = 2 |c_m|/n

(half of it where omega_m dt = pi), which is a cos(-omega t + phase) with phase = omega t_0 - arg c. This sum is
compared with the record.

``*RAO, FORMAT=WAMIT``: lines ``PER, BETA, I, MOD, PHA, RE, IM`` of a ``.4`` file. There waves run at BETA from +x,
motions are Re(a (RE + i IM) e^(i omega t)) in a wave a cos(omega t) at the origin, so that PHA is a lead, and those of
rotations are in radians, times LENGTH (WAMIT's ULEN) over a: WAMIT User Manual 7.4, sections 3.4 and 5.2. So are its
files of a tanker, an FPSO and a semi-submersible in the repository cybergalactic/MSS: in the longest waves, following,
surge lags behind the crest by 90 degrees, heave is 1, pitch leads by 90; in waves towards port roll lags by 90.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Floats, distinct
from fem.deck.amplitudes import points_of_file
from fem.deck.cards import Card, Row
from fem.deck.columns import NumberLines, columns_of
from fem.deck.draft import Draft
from fem.deck.kinds import AMOUNT, ANY, POSITIVE_NUMBER, whole, word_of
from fem.deck.parameters import filler, traced_in
from fem.deck.source import Mistake, Place, listing, squeezed
from fem.deck.table import DataLine, Parameters, Value, keyword
from fem.model import Airy, Jonswap, Rao, RigidBody, Water
from fem.model.surroundings import STRETCHINGS, VERTICAL, breaking, components_of
from fem.model.vessels import ERROR, HOLD, MOTIONS, NOISE, OUTSIDE

FOREIGN = {
    "STOKES": "Stokes' waves are not supported",
    "GRIDDED": "waves on a grid are not supported",
    "USER": "waves of a user's routine are not supported",
}
MOST_COMPONENTS, LARGEST_SEED = 100_000, 2**64 - 1
NOT_UNIT = 2e-3
BY = ("PERIOD", "FREQUENCY", "OMEGA")
PHASES = ("LAG", "LEAD")
OF_ALL = Parameters(
    RAMP=Value("ramp", AMOUNT, default=0.0, is_ours=True),
    STRETCHING=Value("stretching", word_of(*STRETCHINGS), default=VERTICAL, shown=True, is_ours=True),
)
OF_SEAS = Parameters(
    SEED=Value("seed", whole(0, LARGEST_SEED), default=None, is_ours=True),
    COMPONENTS=Value("count", whole(1, MOST_COMPONENTS), default=200, shown=True, is_ours=True),
)
RECORD = Parameters(
    {
        "HEADING": Value("heading", ANY, default=0.0),
        "SHORTEST PERIOD": Value("shortest", POSITIVE_NUMBER, default=0.0),
        "LONGEST PERIOD": Value("longest", POSITIVE_NUMBER, default=np.inf),
        "TOLERANCE": Value("tolerance", POSITIVE_NUMBER, default=0.05),
    }
)
PLACE = ("X", "Y")
OWN = {
    "AIRY": ("WAVE PERIOD", *PLACE),
    "JONSWAP": tuple(OF_SEAS),
    "TABLE": ("BY", "PHASE", *PLACE),
    "ELEVATION": (*RECORD, "COLUMN", "TIME COLUMN", *PLACE),
}
"""Parameters of each type, beside those of all."""
ALONG = tuple(Value("direction", ANY, what, 0.0) for what in ("cos x", "cos y"))
REGULAR = {
    size: DataLine(
        f"amplitude, {size}, phase, cos x, cos y",
        Value("amplitude", AMOUNT, "the amplitude"),
        Value("size", POSITIVE_NUMBER, f"the {size}"),
        Value("phase", ANY, "the phase", 0.0),
        *ALONG,
    )
    for size in ("wavelength", "period")
}
SEA = DataLine(
    "Hs, Tp, gamma, cos x, cos y, lowest, highest omega/omega_p",
    Value("height", POSITIVE_NUMBER, "the significant height Hs"),
    Value("period", POSITIVE_NUMBER, "the peak period Tp"),
    Value("gamma", POSITIVE_NUMBER, "gamma", 3.3),
    *ALONG,
    Value("low", POSITIVE_NUMBER, "the lowest frequency over that of the peak", 0.5),
    Value("high", POSITIVE_NUMBER, "the highest frequency over that of the peak", 4.0),
)
OURS = (*dict.fromkeys(name for names in OWN.values() for name in names if name != "WAVE PERIOD"), *OF_ALL)
COLUMNS = {
    "amplitude": ("AMPLITUDE", "AMP"),
    **{by: (by,) for by in BY},
    "phase": ("PHASE", "PHA"),
    "heading": ("HEADING", "DIRECTION", "BETA"),
}
"""Things in the columns of a table, and the names that these may have."""
UNEVEN = 0.01
"""Of the interval between two samples: by so much they may be off their instants."""
SMALL = 1e-12
MOST_CHECKED = 1000
"""Samples at which a record is held against its waves."""


def direction(row: Row, at: int, given: tuple[float, float], nowhere: str, hint: str) -> tuple[float, float]:
    """A horizontal direction, 1, 0 where both of its entries, from ``at`` on, are blank."""
    if not row.field(at).text and not row.field(at + 1).text:
        return 1.0, 0.0
    if given[0] == 0.0 and given[1] == 0.0:
        raise Mistake(row.field(at).place, nowhere, hint)
    return given


def is_unit(along: tuple[float, float]) -> bool:
    """Its length is 1, but for what is left out of decimals."""
    return not abs(along[0] * along[0] + along[1] * along[1] - 1.0) > NOT_UNIT


@keyword("WAVE", "model", needs=("TYPE",), takes=("WAVE PERIOD", *OURS), plus=OURS)
def wave(card: Card, draft: Draft) -> None:
    """AIRY: lines ``amplitude, length or period, phase, cos x, cos y``; JONSWAP: one of a sea; TABLE: ``amplitude,
    period, phase, heading``; ELEVATION: ``time, elevation``."""
    asked = card.field("TYPE").text.upper()
    if asked in FOREIGN:
        hint = "TYPE=AIRY is for regular first-order waves, JONSWAP for an irregular sea"
        raise Mistake(card.field("TYPE").place, FOREIGN[asked], hint)
    kind = card.word("TYPE", tuple(OWN), "AIRY")
    for name in filter(card.has, dict.fromkeys(name for names in OWN.values() for name in names)):
        if name not in OWN[kind]:
            owners = listing(each for each, names in OWN.items() if name in names)
            raise Mistake(card.parameters[squeezed(name)].place, f"{name} is for TYPE={owners}")
    given = OF_ALL.read(card, draft)
    if kind != "AIRY":
        draft.extension(f"*WAVE, TYPE={kind}")
    if kind == "JONSWAP":
        if not card.has("SEED"):
            hint = "for example SEED=1: it determines the random phases of the components, the same in every run"
            raise card.mistake("*WAVE, TYPE=JONSWAP needs SEED=", hint)
        given |= OF_SEAS.read(card, draft)
        row = draft.single_row(card, SEA.text)
        given |= SEA.read(row, draft)
        if given["high"] <= given["low"]:
            message = f"the highest frequency, {given['high']:g}, is not above the lowest, {given['low']:g}"
            raise Mistake(row.field(6).place, message)
        draft.waves.append((Jonswap(**given | {"direction": towards(row, given["direction"], draft)}), card))
        return
    given["place"] = card.number("X"), card.number("Y")
    is_period = kind != "AIRY" or card.flag("WAVE PERIOD")
    if kind == "AIRY":
        line, found = REGULAR["period" if is_period else "wavelength"], []
        for row in draft.rows(card):
            *numbers, along = line.read(row, draft).values()
            found.append((*numbers, *towards(row, along, draft)))
        rows: Any = tuple(found)
    else:
        with np.errstate(all="ignore"):  # ``check_waves`` refuses what is out of range
            rows = (tabulated if kind == "TABLE" else recorded)(card, draft)
    draft.waves.append((Airy(rows, is_period, **given), card))


def towards(row: Row, along: tuple[float, float], draft: Draft) -> tuple[float, float]:
    """cos x, cos y in fields 3 and 4."""
    along = direction(row, 3, along, "the waves have no direction", "cos x, cos y is a unit vector, for example 1, 0")
    if not is_unit(along):
        draft.notice("*WAVE: cos x, cos y is not a unit vector: only its direction is used")
    return along


def tabulated(card: Card, draft: Draft) -> Any:
    """Rows of AIRY, with periods, from ``amplitude, period, phase, heading``, or columns of these names."""
    table = columns_of(card)
    if not table.names and not 2 <= table.width <= 4:
        raise Mistake(table.place(0, 0), f"expected amplitude, period, phase, heading, got {table.width} entries")
    columns = table.assigned(COLUMNS) or dict(zip(("amplitude", "size", "phase", "heading"), range(4), strict=True))
    amplitude = amounts(table, columns, "amplitude")
    period = 2.0 * np.pi / frequencies(card, table, columns)
    phase, heading = (
        np.array(table.numbers(columns[what], f"the {what}") if columns.get(what, 9) < table.width else 0.0 * period)
        for what in ("phase", "heading")
    )
    lag = phase if card.word("PHASE", PHASES, "LAG") == "LAG" else -phase
    b = np.radians(heading)
    return tuple(map(tuple, np.column_stack([amplitude, period, lag, np.cos(b), np.sin(b)]).tolist()))


def amounts(table: NumberLines, columns: Mapping[str, int], what: str, hint: str = "") -> Floats:
    """The numbers of a column that must be there, none of them negative."""
    if what not in columns:
        raise table.mistake(f"the table has no column with the {what}{table.named()}")
    found = np.array(table.numbers(columns[what], f"the {what}"))
    for at in np.flatnonzero(found < 0.0)[:1].tolist():
        raise Mistake(table.place(at, columns[what]), f"the {what} must not be negative, got {found[at]:g}", hint)
    return found


def frequencies(card: Card, table: NumberLines, columns: Mapping[str, int]) -> Floats:
    """Circular frequencies from the column of periods or frequencies: of its name, or ``size``, as BY= has it."""
    named = [by for by in BY if by in columns]
    by = card.word("BY", BY, named[0] if named else "PERIOD")
    if len(named) > 1 or (named and by not in named):
        raise card.mistake(f"BY={by}, and the table has a column of {listing(map(str.lower, named), 'and')}")
    what, at = "period" if by == "PERIOD" else "frequency", columns.get(by, columns.get("size"))
    given = amounts(table, {} if at is None else {what: at}, what)
    for row in np.flatnonzero(given == 0.0)[:1].tolist():
        raise Mistake(table.place(row, at or 0), f"the {what} must be positive, got 0")
    return 2.0 * np.pi / given if by == "PERIOD" else given * (2.0 * np.pi if by == "FREQUENCY" else 1.0)


def recorded(card: Card, draft: Draft) -> Any:
    """Rows of AIRY, with periods, from a record ``time, elevation``."""
    time, eta = points_of_file(card, "*WAVE, TYPE=ELEVATION", draft).T
    given, where = RECORD.read(card, draft), card.file.place if card.file else card.place
    count = len(time)
    if count < 4 or np.ptp(eta) == 0.0:
        raise Mistake(where, "the record holds no waves: it has " + (f"{count} samples" if count < 4 else "one level"))
    dt = interval(time, where)
    mean = float(eta.mean())
    found = np.fft.rfft(eta - mean)[1:] * 2.0 / count
    omega = 2.0 * np.pi / (count * dt) * np.arange(1, len(found) + 1)
    found[-1] *= 0.5 if count % 2 == 0 else 1.0
    size = np.abs(found)
    kept = (omega * given["longest"] >= 2.0 * np.pi) & (omega * given["shortest"] <= 2.0 * np.pi)
    kept &= size > SMALL * size.max()
    count_kept = int(kept.sum())
    if not 0 < count_kept <= MOST_COMPONENTS:
        hint = "SHORTEST PERIOD= and LONGEST PERIOD= say which periods count"
        raise Mistake(where, f"the record has {count_kept} waves, and 1 to {MOST_COMPONENTS} may be", hint)
    omega, size, phase = omega[kept], size[kept], omega[kept] * time[0] - np.angle(found[kept])
    some = np.linspace(0, count - 1, min(count, MOST_CHECKED)).astype(np.int64)
    sums = np.array([size @ np.cos(phase - omega * t) for t in time[some].tolist()])
    off = float(np.sqrt(np.mean((eta[some] - mean - sums) ** 2)) / eta.std())
    periods = f"{2.0 * np.pi / omega[-1]:.4g} to {2.0 * np.pi / omega[0]:.4g}"
    if off > given["tolerance"]:
        message = f"waves with periods of {periods} differ from the record by {off:.3g} of its standard deviation"
        raise Mistake(where, message, f"wider cut-offs, or TOLERANCE= above {given['tolerance']:g}")
    height = 4.0 * np.sqrt(0.5 * size @ size)
    draft.notice(
        f"*WAVE, TYPE=ELEVATION: {count_kept} waves with periods of {periods}, Hs {height:.4g}; their sum differs from "
        f"the record by {off:.2g} of its standard deviation; its mean, {mean:.3g}, is left out; the sea repeats itself "
        f"after {count * dt:.6g}"
    )
    b = np.radians(np.full(count_kept, given["heading"]))
    rows = np.column_stack([size, 2.0 * np.pi / omega, np.degrees(phase), np.cos(b), np.sin(b)])
    return tuple(map(tuple, rows.tolist()))


def interval(time: Floats, where: Place) -> float:
    """Between samples of a record; Mistake where they are not evenly spaced."""
    count = len(time)
    dt = float(time[-1] - time[0]) / (count - 1)
    late = np.abs(time - time[0] - dt * np.arange(count))
    if not late.max() <= UNEVEN * dt:
        at = int(late.argmax())
        message = f"samples are not evenly spaced: {time[at]:g}, where {dt:g} from one to the next makes "
        raise Mistake(where, message + f"{time[0] + dt * at:g}", "interpolate the record at equal intervals")
    return dt


def check_waves(draft: Draft) -> None:
    """They are on water with a depth and a weight, and stretched in one way; statics does not know them."""
    for each, card in draft.waves if not draft.has_failed("AQUA") else ():
        with draft.guard():
            if draft.water is None:
                raise card.mistake("waves need water, and the deck has no *AQUA", "give *AQUA before the first step")
            if draft.water.seabed == draft.water.level:
                raise card.mistake("*AQUA has no depth: seabed and still level are equal, so there can be no waves")
            if draft.water.gravity == 0.0:
                raise card.mistake("waves need g, which is 0 in *AQUA")
            if each.stretching != draft.waves[0][0].stretching:
                other = draft.waves[0][0].stretching
                raise card.mistake(f"STRETCHING={each.stretching}, but {other} in another *WAVE: use one")
            if text := check_sizes(each, card, draft.water):
                draft.notice(text)
    if draft.waves and any(step.static for step in draft.steps):
        draft.notice("*STATIC: waves do not act there, only the current does")


LARGEST = 1e30
"""Of omega, k and amplitude, and of 1/omega and 1/k: their products are numbers still."""


def check_sizes(wave: Airy | Jonswap, card: Card, water: Water) -> str:
    """What breaks of the waves, if anything. Mistake: there is no such wave, and nothing can be computed with its
    numbers."""
    traced = next((number for _, number in traced_in((wave, water))), None)
    if traced is None:
        if message := out_of_range(wave, water):
            raise card.mistake(message, "check the units of sizes, periods and *AQUA")
        return breaking(wave, water)
    if fill := filler((wave, water)):
        traced.course.require(lambda values: is_sound(*fill(values)))
    return ""


def is_sound(wave: Airy | Jonswap, water: Water) -> bool:
    """Its waves can be computed with, and none of them breaks."""
    return not (out_of_range(wave, water) or breaking(wave, water))


def out_of_range(wave: Airy | Jonswap, water: Water) -> str:
    """What cannot be computed with; empty where all can."""
    try:
        with np.errstate(all="ignore"):
            found = components_of((wave,), water)
    except (OverflowError, AssertionError):  # its equations do not hold
        found = np.full((1, 5), np.nan)
    omega, k, amplitude = found[:, :3].T
    is_known = (np.maximum(omega, k) < LARGEST) & (np.minimum(omega, k) > 1.0 / LARGEST) & (amplitude < LARGEST)
    if is_known.all():
        return ""
    at = int(np.argmin(is_known))
    numbers = f"amplitude {amplitude[at]:.3g}, circular frequency {omega[at]:.3g}, wave number {k[at]:.3g}"
    return f"waves are out of range ({numbers})"


RAO = Parameters(
    OUTSIDE=Value("outside", word_of(*OUTSIDE), default=ERROR),
    SYMMETRY=Value("symmetry", word_of("NONE", "XZ"), default="NONE"),
    FORMAT=Value("format", word_of("TABLE", "WAMIT"), default="TABLE"),
    LENGTH=Value("length", POSITIVE_NUMBER, default=1.0),
    BODY=Value("body", whole(), default=1),
)
OF_TABLES, OF_WAMIT = ("BY", "PHASE"), ("LENGTH", "BODY")
ENTRIES = ("size", "heading", *MOTIONS, *(f"{motion} phase" for motion in MOTIONS))
SPELLINGS = {
    **{by: (by,) for by in BY},
    "size": ("PERIODORFREQUENCY",),
    "heading": COLUMNS["heading"],
    **{motion: (motion.upper(), f"{motion}amp".upper(), f"{motion}amplitude".upper()) for motion in MOTIONS},
    **{f"{motion} phase": (f"{motion}phase".upper(), f"{motion}pha".upper()) for motion in MOTIONS},
}
WAMIT = ("PER", "BETA", "I", "MOD", "PHA", "RE", "IM")
ALIKE = 1e-3
"""Largest difference of MOD, PHA and RE, IM, which WAMIT writes with six digits, over the largest of a motion."""
MIRRORED = (0.0, 180.0, 0.0, 180.0, 0.0, 180.0)
"""Degrees by which phases change from waves at one side of the bow to those at the other."""
Placed: TypeAlias = tuple[tuple[float, ...], Place]
"""A row of ``Rao``, and its place."""


@keyword("RAO", "model", RAO, needs=("NAME",), takes=OF_TABLES, extension="*RAO")
def rao(card: Card, draft: Draft) -> None:
    """``period, heading``, six amplitudes, six phases; columns of these names; or WAMIT's."""
    name = draft.declare(card, "RAO")
    draft.raos[name] = Rao(name, ())
    given, table = RAO.read(card, draft), columns_of(card)
    is_wamit = given["format"] == "WAMIT"
    card.refuse(OF_TABLES if is_wamit else OF_WAMIT, f"does not belong to FORMAT={given['format']}")
    lines = list(of_wamit(table, given["length"], given["body"], draft) if is_wamit else of_columns(card, table))
    if given["symmetry"] == "XZ":
        for motion in (1, 3, 5):  # sway, roll, yaw
            most = ALIKE * max(row[2 + motion] for row, _ in lines)
            for row, place in lines:
                if row[1] % 180.0 == 0.0 and row[2 + motion] > most:
                    what = f"{MOTIONS[motion]} of {row[2 + motion]:g} in waves along the vessel, which has SYMMETRY=XZ"
                    raise Mistake(place, what)
        # in waves from the other side sway, roll and yaw have the opposite sign
        for (omega, heading, *rest), place in [line for line in lines if line[0][1] % 180.0 > 0.0]:
            lags = [lag + turned for lag, turned in zip(rest[6:], MIRRORED, strict=True)]
            lines.append(((omega, 360.0 - heading, *rest[:6], *lags), place))
    known: set[tuple[float, float]] = set()
    for (omega, heading, *_), place in lines:
        if (omega, heading) in known:
            what = f"a second row for the period {2.0 * math.pi / omega:g} and the heading {heading:g}"
            raise Mistake(place, what + " (SYMMETRY=XZ made the first)" * (given["symmetry"] == "XZ"))
        known.add((omega, heading))
    draft.raos[name] = Rao(name, tuple(sorted(row for row, _ in lines)), given["outside"])


def of_columns(card: Card, table: NumberLines) -> Iterator[Placed]:
    columns = table.assigned(SPELLINGS)
    if not columns:
        if table.width != len(ENTRIES):
            what = "period, heading, six amplitudes and six phases"
            place = table.place(0, min(table.width, len(ENTRIES)) - 1)
            raise Mistake(place, f"expected {what}, got {table.width} entries")
        columns = dict(zip(ENTRIES, range(table.width), strict=True))
    omega = frequencies(card, table, columns)
    if "heading" not in columns:
        raise table.mistake(f"the table has no column with the heading{table.named()}")
    heading = np.array(table.numbers(columns["heading"], "the heading")) % 360.0
    values = np.zeros((12, len(omega)))
    for number, motion in enumerate(MOTIONS):
        phase = f"{motion} phase"
        if (motion in columns) != (phase in columns):
            raise table.mistake(f"the table has one of amplitude and phase of {motion} alone{table.named()}")
        if motion in columns:
            values[number] = amounts(table, columns, motion, "use a phase of 180 degrees for the opposite sign")
            values[6 + number] = table.numbers(columns[phase], f"the {phase}")
    if card.word("PHASE", PHASES, "LAG") == "LEAD":
        values[6:] *= -1.0
    for row, line in zip(np.column_stack([omega, heading, values.T]).tolist(), table.lines, strict=True):
        yield tuple(row), table.row(*line).place


def of_wamit(table: NumberLines, length: float, body: int, draft: Draft) -> Iterator[Placed]:
    """Rows of the six motions of a body; missing motions are 0."""
    if table.width != len(WAMIT):
        raise Mistake(table.place(0, 0), f"expected {listing(WAMIT, 'and')}, got {table.width} entries")
    numbers = np.array([table.numbers(at, f"{name} of WAMIT") for at, name in enumerate(WAMIT)]).T
    period, _, mode, size, phase, real, imaginary = numbers.T
    answer, own = real + 1j * imaginary, mode - 6.0 * (body - 1)
    off = np.abs(size * np.exp(1j * np.radians(phase)) - answer)
    for each in distinct(mode):
        off[mode == each] /= ALIKE * size[mode == each].max() + NOISE * size.max() or 1.0
    for bad, column, message in (
        (period <= 0.0, 0, "PER must be positive: *RAO does not take the limits of long and short waves"),
        ((mode < 1.0) | (mode % 1.0 != 0.0), 2, "I is the number of a mode, from 1 on"),
        (off > 1.0, 3, "MOD and PHA disagree with RE and IM"),
    ):
        for row in np.flatnonzero(bad)[:1].tolist():
            hint = "RE = MOD cos PHA, IM = MOD sin PHA, in degrees" if column == 3 else ""
            raise Mistake(table.place(row, column), f"{message}, got {numbers[row, column]:g}", hint)
    if missing := [name for number, name in enumerate(MOTIONS, 1) if number not in own]:
        if len(missing) == len(MOTIONS):
            raise table.mistake(f"the table has no motions of body {body}, I {6 * body - 5} to {6 * body}")
        draft.notice(f"*RAO: the table has no {listing(missing, 'or')}, which remain 0")
    is_own = (own >= 1.0) & (own <= 6.0)
    if not is_own.all():
        draft.notice(f"*RAO: motions of other bodies than {body} are ignored (BODY=)")
    amplitude = np.abs(answer) * np.where(own > 3.0, math.degrees(1.0) / length, 1.0)
    lags = -np.degrees(np.angle(answer))
    found: dict[tuple[float, float], tuple[int, Floats]] = {}
    for row in np.flatnonzero(is_own).tolist():
        per, beta, motion = period[row], numbers[row, 1], int(own[row]) - 1
        _, values = found.setdefault((per, beta % 360.0), (row, np.full((2, 6), np.nan)))
        if not np.isnan(values[0, motion]):
            raise Mistake(table.place(row, 2), f"a second line for PER {per:g}, BETA {beta:g}, I {mode[row]:g}")
        values[:, motion] = amplitude[row], lags[row]
    lines = list(table.lines)
    for (per, beta), (first, values) in found.items():
        numbers_of = 2.0 * math.pi / float(per), float(beta), *np.nan_to_num(values).ravel().tolist()
        yield numbers_of, table.row(*lines[first]).place


def check_vessels(draft: Draft, bodies: tuple[RigidBody, ...]) -> None:
    """Checks that the tables of vessels contain the waves of the deck, with notices of waves without effect."""
    if draft.mistakes or not draft.raos:
        return
    sea = components_of(tuple(each for each, _ in draft.waves), draft.water)
    rotations = (*draft.rotations, *(entry for step in draft.steps for entry in step.rotations))
    turned = {entry.target for entry in rotations if entry.value}
    for body, (_, card) in zip(bodies, draft.bodies, strict=True):
        if body.rao is None:
            continue
        own, place = draft.raos[body.rao], card.field("RAO").place
        if not len(sea):
            draft.notice(f"RAO={own.name} has no effect: the deck has no *WAVE")
        omega, energy = sea[:, 0], sea[:, 2] ** 2
        heading = np.degrees(sea[:, 4]) - body.heading
        _, is_off, is_turned = own.answer(omega, heading)
        if is_turned.any():
            known = ", ".join(f"{way:g}" for way in own.headings)
            message = f"waves run at {heading[is_turned][0] % 360.0:g} degrees from the bow, for which RAO {own.name} "
            hint = "SYMMETRY=XZ gives the other side"
            draft.report(Mistake(place, message + f"contains no data between its headings: {known}", hint))
        elif is_off.any():
            periods = 2.0 * np.pi / omega[is_off]
            share = energy[is_off].sum() / energy.sum()
            what = f"waves of {periods.min():.4g} to {periods.max():.4g}, {share:.2g} of the energy of the sea, are "
            what += f"not in RAO {own.name}"
            if own.outside == ERROR:
                hint = "OUTSIDE=ZERO ignores them; OUTSIDE=HOLD takes the nearest row of the table"
                draft.report(Mistake(place, what, hint))
            else:
                how = "as in the nearest row of the table" if own.outside == HOLD else "not at all"
                draft.notice(f"{what}: they move the vessel {how}")
        if body.node in turned:
            draft.notice(f"rotations of *BOUNDARY add to those by RAO {own.name}, whose heading stays {body.heading:g}")
        if len(sea) and body.rotation == "RPY" and body.heading % 180.0:
            draft.notice(
                f"RAO {own.name} turns the vessel about the axes of the model one after the other (ROTATION=RPY, the "
                "default), and its bow is not along x: products of its angles differ if the whole model is turned; "
                "ROTATION=VECTOR avoids that"
            )
