"""``*WAVE``: regular waves, and seas made of them. What they need of the water is known when all cards are read."""

from __future__ import annotations

from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake
from fem.model import Airy, Jonswap, Static
from fem.model.surroundings.waves import STRETCHINGS, VERTICAL

KINDS = ("AIRY", "JONSWAP")
FOREIGN = {
    "STOKES": "Stokes' waves are not supported",
    "GRIDDED": "waves on a grid are not supported",
    "USER": "waves of a user's routine are not supported",
}
OF_AIRY, OF_SEAS = ("WAVE PERIOD",), ("SEED", "COMPONENTS")
MOST_COMPONENTS, LARGEST_SEED = 100_000, 2**64 - 1
NOT_UNIT = 2e-3
REGULAR, IRREGULAR = "amplitude, {}, phase, cos x, cos y", "Hs, Tp, gamma, cos x, cos y, lowest, highest omega/omega_p"


@keyword(
    "model", needs=("TYPE",), takes=(*OF_AIRY, *OF_SEAS, "RAMP", "STRETCHING"), plus=(*OF_SEAS, "RAMP", "STRETCHING")
)
def wave(card: Card, draft: Draft) -> None:
    """AIRY: lines ``amplitude, length or period, phase, cos x, cos y``; JONSWAP: one of a sea."""
    asked = card.field("TYPE").text.upper()
    if asked in FOREIGN:
        hint = "TYPE=AIRY has regular waves of first order, JONSWAP a sea of them"
        raise Mistake(card.field("TYPE").place, FOREIGN[asked], hint)
    is_sea = card.word("TYPE", KINDS, KINDS[0]) == "JONSWAP"
    for name in OF_AIRY if is_sea else OF_SEAS:
        if card.has(name):
            raise Mistake(card.parameters[name.replace(" ", "")].place, f"{name} belongs to TYPE={KINDS[not is_sea]}")
    ramp = card.amount("RAMP")
    stretching = card.word("STRETCHING", STRETCHINGS, VERTICAL)
    if is_sea:
        draft.extension("*WAVE, TYPE=JONSWAP")
        draft.waves.append((sea(card, draft, ramp, stretching), card))
        return
    is_period = card.flag("WAVE PERIOD")
    rows = tuple(regular(row, "period" if is_period else "wavelength", draft) for row in draft.rows(card))
    draft.waves.append((Airy(rows, is_period, ramp, stretching), card))


def regular(row: Row, size: str, draft: Draft) -> tuple[float, float, float, float, float]:
    """A line of AIRY."""
    row.end(5, REGULAR.format(size))
    return (
        row.amount(0, "the amplitude"), row.amount(1, f"the {size}", positive=True),
        row.number(2, "the phase", 0.0), *direction(row, draft),
    )  # fmt: skip


def sea(card: Card, draft: Draft, ramp: float, stretching: str) -> Jonswap:
    """The line of JONSWAP."""
    if not card.has("SEED"):
        hint = "SEED=1, say, chooses jitters and phases of the components: the same ones in every run"
        raise card.mistake("*WAVE, TYPE=JONSWAP needs SEED=", hint)
    seed = card.field("SEED").integer("SEED=", 0, LARGEST_SEED)
    count = card.field("COMPONENTS").integer("COMPONENTS=", 1, MOST_COMPONENTS) if card.has("COMPONENTS") else 200
    row = draft.single_row(card, IRREGULAR)
    row.end(7, IRREGULAR)
    height = row.amount(0, "the significant height Hs", positive=True)
    period = row.amount(1, "the peak period Tp", positive=True)
    gamma = row.amount(2, "gamma", 3.3, positive=True)
    low = row.amount(5, "the lowest frequency over that of the peak", 0.5, positive=True)
    high = row.amount(6, "the highest frequency over that of the peak", 4.0, positive=True)
    if high <= low:
        raise Mistake(row.field(6).place, f"the highest frequency, {high:g}, is not above the lowest, {low:g}")
    return Jonswap(height, period, seed, count, gamma, direction(row, draft), low, high, ramp, stretching)


def direction(row: Row, draft: Draft) -> tuple[float, float]:
    """cos x, cos y in fields 3 and 4."""
    along = row.number(3, "cos x", 0.0), row.number(4, "cos y", 0.0)
    if not row.field(3).text and not row.field(4).text:
        return 1.0, 0.0
    size = along[0] * along[0] + along[1] * along[1]
    if size == 0.0:
        raise Mistake(row.field(3).place, "the waves have no direction", "cos x, cos y is a unit vector, say 1, 0")
    if abs(size - 1.0) > NOT_UNIT:
        draft.notice("*WAVE: cos x, cos y is no unit vector: only its direction counts")
    return along


def check_waves(draft: Draft) -> None:
    """They are on water with a depth and a weight, and stretched in one way; statics does not know them."""
    for each, card in draft.waves if not draft.has_failed("AQUA") else ():
        with draft.guard():
            if draft.water is None:
                raise card.mistake("waves are on water, and the deck has no *AQUA", "give *AQUA before the first step")
            if draft.water.seabed == draft.water.level:
                raise card.mistake("*AQUA has no depth: the seabed is at the still level, and no wave fits between")
            if draft.water.gravity == 0.0:
                raise card.mistake("waves need g, which is 0 in *AQUA")
            if each.stretching != draft.waves[0][0].stretching:
                other = draft.waves[0][0].stretching
                raise card.mistake(f"STRETCHING={each.stretching}, and {other} in another *WAVE: the sea is one")
    if draft.waves and any(isinstance(step.procedure, Static) for step in draft.steps):
        draft.notice("*STATIC: waves do not act there, only the stream does")
