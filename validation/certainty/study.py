"""Runs the questions in processes side by side and judges bars: do they hold the truth, are they needlessly wide?

A bar *holds* where |value - truth| <= bar. It is *wide* where it is more than ten times the true error, and more than
``NEGLIGIBLE`` of the number: nobody minds a bar in the tenth digit.

    python -m validation.certainty.study [plain|long] [aside] [afresh] [GROUP ...]

``plain``: by the plain recipe; ``long``: as of long runs; ``aside``: shows misses among questions kept aside, too;
``afresh``: other questions.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

import fem
from fem.study.certainty.companions import Companions
from fem.study.certainty.error_bars import bars_from
from validation.certainty import flows, impacts, lines, motions, plain
from validation.certainty.question import Question

GROUPS: dict[str, tuple[Callable[[np.random.Generator], Question], int]] = {
    "oscillators": (motions.oscillator, 26),
    "springs with tables": (motions.table_spring, 14),
    "rows of masses": (motions.row_of_masses, 16),
    "pendulums on rods": (motions.rod_pendulum, 22),
    "two to five rods": (motions.n_links, 18),
    "elastic pendulums": (motions.elastic_pendulum, 24),
    "stiff bars": (motions.stiff_pendulum, 12),
    "bounces on a cable": (motions.bounce_on_cable, 20),
    "slack pendulums": (motions.slack_pendulum, 14),
    "nets": (motions.net, 24),
    "chains": (motions.chain, 24),
    "spring pendulums": (motions.spring_pendulum, 14),
    "modes of strings": (lines.string_modes, 12),
    "modes of lattices": (lines.lattice_modes, 6),
    "modes of bars": (lines.rod_modes, 12),
    "modes of sagging cables": (lines.sagged_modes, 10),
    "modes of hanging chains": (lines.hung_modes, 6),
    "catenaries": (lines.catenary, 26),
    "rope in a stream": (lines.towed_rope, 6),
    "waves in bars": (lines.axial_wave, 14),
    "fronts in bars": (lines.axial_front, 8),
    "rungs in waves": (flows.moored_rung, 12),
    "rungs in a chain": (flows.hanging_rungs, 14),
    "caught by a rope": (impacts.caught, 18),
    "balls on tables": (impacts.bouncing, 10),
    "shaken strings": (impacts.shaken, 10),
    "rows beside impacts": (impacts.beside, 14),
}
"""Name -> how a question is drawn, and how many are."""
KEPT_ASIDE = 4
"""One question in so many was never looked at while the bars were made."""
WIDE, NEGLIGIBLE, ROUND_OFF = 10.0, 1e-7, 1e-12
SEED = 31
AFRESH = 1000
"""Numbers of questions that were drawn for the first time when all was done begin there."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One number: what the run says, its bar, and the truth."""

    group: str
    number: int
    about: str
    name: str
    truth: float
    value: float
    bar: float
    reason: str = ""

    @property
    def error(self) -> float:
        return abs(self.value - self.truth)

    @property
    def slack(self) -> float:
        """Of round-off in truth and value."""
        return ROUND_OFF * max(abs(self.truth), abs(self.value), 1e-3)

    @property
    def is_held(self) -> bool:
        return self.error <= self.bar + self.slack

    @property
    def is_wide(self) -> bool:
        return self.bar > WIDE * self.error and self.bar > NEGLIGIBLE * max(abs(self.truth), abs(self.value))

    @property
    def is_aside(self) -> bool:
        return self.number % KEPT_ASIDE == KEPT_ASIDE - 1


def draw(group: str, number: int) -> Question:
    """A question by the number of its group; the same on every machine."""
    place = list(GROUPS).index(group)
    return GROUPS[group][0](np.random.default_rng((SEED, place, number)))


def real_bars(question: Question) -> dict[str, tuple[float, float]]:
    """Those of ``fem.error_bars``."""
    found = fem.error_bars(fem.parse_deck(question.deck), processes=1, mesh=question.has_mesh)
    return {name: (float(found.value(name)), float(found.bar(name))) for name in question.truths}


def long_bars(question: Question) -> dict[str, tuple[float, float]]:
    """As of a run too long for one more companion where the order is not seen."""
    model = fem.parse_deck(question.deck)
    companions, history = Companions(model, question.has_mesh), fem.run(model)
    found = bars_from(history, companions, companions.run(history, 1))
    return {name: (float(found.value(name)), float(found.bar(name))) for name in question.truths}


def plain_bars(question: Question) -> dict[str, tuple[float, float]]:
    return plain.bars(fem.parse_deck(question.deck), list(question.truths))


RECIPES: dict[str, Callable[[Question], dict[str, tuple[float, float]]]] = {
    "plain": plain_bars,
    "long": long_bars,
    "real": real_bars,
}


def judge(group: str, number: int, recipe: str) -> list[Judged]:
    """All numbers of a question; one that cannot be run holds nothing, with its reason."""
    question = draw(group, number)
    try:
        found, reason = RECIPES[recipe](question), ""
    except Exception as error:
        found, reason = dict.fromkeys(question.truths, (math.nan, math.nan)), f"{type(error).__name__}: {error}"
    return [
        Judged(group, number, question.name, name, truth, *found[name], reason)
        for name, truth in question.truths.items()
    ]


def carry_out(
    recipe: str = "real",
    groups: Iterable[str] = GROUPS,
    count: int | None = None,
    workers: int | None = None,
    first: int = 0,
) -> list[Judged]:
    """Judge ``count`` questions (all) of some groups from number ``first`` on, in processes side by side."""
    asked = [
        (group, first + n, recipe) for group in groups for n in range(GROUPS[group][1] if count is None else count)
    ]
    if workers == 1:
        return [row for each in asked for row in judge(*each)]
    with ProcessPoolExecutor(workers or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        return [row for rows in pool.map(judge, *zip(*asked, strict=True), chunksize=1) for row in rows]


def table(rows: Sequence[Judged]) -> list[str]:
    """Markdown: one line for each group, then all of them, open and kept aside."""
    lines = ["| | cases | numbers | held | wide | median bar/error |", "|---|---|---|---|---|---|"]
    parts = {group: [row for row in rows if row.group == group] for group in GROUPS}
    parts |= {"**all**": list(rows), "**kept aside**": [row for row in rows if row.is_aside]}
    for name, some in parts.items():
        if some:
            lines.append(f"| {name} | {' | '.join(line_of(some))} |")
    return lines


def line_of(rows: Sequence[Judged]) -> list[str]:
    cases = len({(row.group, row.number) for row in rows})
    ratios = [row.bar / row.error for row in rows if row.error > row.slack and math.isfinite(row.bar)]
    middle = f"{np.median(ratios):.2g}" if ratios else "-"
    shares = (np.mean([getattr(row, what) for row in rows]) for what in ("is_held", "is_wide"))
    return [str(cases), str(len(rows)), *(f"{100.0 * share:.1f} %" for share in shares), middle]


def listed(row: Judged) -> str:
    """One miss, or one wide bar."""
    told = f"{row.group} {row.number} ({row.about}): {row.name} = {row.value:.9g}, truth {row.truth:.9g}, "
    return told + f"error {row.error:.3g}, bar {row.bar:.3g}" + (f"; {row.reason[:300]}" if row.reason else "")


def main(words: Sequence[str]) -> None:
    recipe, first = next((word for word in words if word in RECIPES), "real"), AFRESH if "afresh" in words else 0
    start = time.perf_counter()
    rows = carry_out(recipe, [word for word in words if word in GROUPS] or GROUPS, first=first)
    shown = [row for row in rows if not row.is_aside or "aside" in words]
    print("\n".join(table(rows)))
    print("\nmisses", *(listed(row) for row in shown if not row.is_held), sep="\n")
    print("\nwide", *(listed(row) for row in shown if row.is_wide), sep="\n")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
