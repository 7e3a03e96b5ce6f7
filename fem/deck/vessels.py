"""``*RAO``: how waves move a vessel, as rows of the deck or a table of another program.

FORMAT=WAMIT: lines ``PER, BETA, I, MOD, PHA, RE, IM`` of a ``.4`` file. There waves run at BETA from +x, motions are
Re(a (RE + i IM) e^(i omega t)) in a wave a cos(omega t) at the origin, so that PHA is a lead, and those of rotations
are in radians, times LENGTH (WAMIT's ULEN) over a: WAMIT User Manual 7.4, sections 3.4 and 5.2. So are its files of a
tanker, an FPSO and a semi-submersible in the repository cybergalactic/MSS: in the longest waves, following, surge lags
behind the crest by 90 degrees, heave is 1, pitch leads by 90; in waves towards port roll lags by 90.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from fem.arrays import Floats, distinct
from fem.deck.cards import Card
from fem.deck.columns import Columns, columns_of
from fem.deck.draft import Draft
from fem.deck.kinds import POSITIVE_NUMBER, whole, word_of
from fem.deck.source import Mistake, Place, listing
from fem.deck.table import Parameters, Value, keyword
from fem.deck.waves import BY, COLUMNS, PHASES, amounts, frequencies
from fem.model import Rao, RigidBody
from fem.model.surroundings import components_of
from fem.model.vessels import ERROR, HOLD, MOTIONS, NOISE, OUTSIDE

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
"""Of the largest of a motion: by so much MOD, PHA and RE, IM may differ, which WAMIT writes with six digits."""
MIRRORED = (0.0, 180.0, 0.0, 180.0, 0.0, 180.0)
"""Degrees by which phases change from waves at one side of the bow to those at the other."""
Line: TypeAlias = tuple[tuple[float, ...], Place]
"""A row of ``Rao``, and where it stands."""


@keyword("model", RAO, needs=("NAME",), takes=OF_TABLES, extension="*RAO")
def rao(card: Card, draft: Draft) -> None:
    """``period, heading``, six amplitudes, six phases; columns of these names; or WAMIT's."""
    name = draft.declare(card, "RAO")
    draft.raos[name] = Rao(name, ())
    given, table = RAO.read(card, draft), columns_of(card)
    is_wamit = given["format"] == "WAMIT"
    for other in OF_TABLES if is_wamit else OF_WAMIT:
        if card.has(other):
            raise Mistake(card.field(other).place, f"{other} does not belong to FORMAT={given['format']}")
    lines = list(of_wamit(table, given["length"], given["body"], draft) if is_wamit else of_columns(card, table))
    if given["symmetry"] == "XZ":
        for motion in (1, 3, 5):  # sway, roll, yaw
            most = ALIKE * max(row[2 + motion] for row, _ in lines)
            for row, place in lines:
                if row[1] % 180.0 == 0.0 and row[2 + motion] > most:
                    what = f"{MOTIONS[motion]} of {row[2 + motion]:g} in waves along the vessel, which has SYMMETRY=XZ"
                    raise Mistake(place, what)
        # in waves from the other side sway, roll and yaw change their sign
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


def of_columns(card: Card, table: Columns) -> Iterator[Line]:
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


def of_wamit(table: Columns, length: float, body: int, draft: Draft) -> Iterator[Line]:
    """Rows of the six motions of a body; what lines leave out is 0."""
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
    """The tables of vessels know the waves of the deck, or say what is done without; bodies: as they are built."""
    if draft.mistakes or not draft.raos:
        return
    try:
        with np.errstate(all="ignore"):
            sea = components_of(tuple(each for each, _ in draft.waves), draft.water)
    except (OverflowError, AssertionError):  # no wave is known by such a number
        draft.report(draft.waves[0][1].mistake("waves are out of range"))
        return
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
