"""Decks of three kinds in the codes that are installed: what differs beyond the error bars has a known reason.

A reason is measured: the run that it changes is repeated. Expected is that the largest difference falls by so much.
"""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.codes.compare import (
    ENDS_EARLY,
    REASON_COLUMNS,
    RUN,
    CodeAnswer,
    Comparison,
    Explained,
    answer_of,
    explanations,
)
from fem.codes.export import CODES
from fem.codes.reasons import REASONS, same
from fem.deck import parse_deck
from fem.model import Model
from fem.study.tracks import tracked
from tests.codes.decks_of_codes import (
    BETA,
    CABLE,
    DRY,
    FAST,
    IN_WATER,
    LET_GO,
    MOTIONS,
    NEWMARK,
    PRINTS,
    SWING,
    WEIGHT,
    deck,
    moves,
)
from tests.codes.installed import PYTHON, skip_without

DECKS = DRY | IN_WATER | MOTIONS
CASES = [(name, code) for name, one in DECKS.items() for code in one.reasons]
LONG = (
    "a line is dragged: moordyn", "a damped cable goes slack: calculix", "buoyancy by another g: moordyn",
    "a hanging chain: moordyn", "a support that moves: calculix", "thrown, with a dashpot: calculix",
    "an end is moved: moordyn",
)  # fmt: skip
"""Of 0.7 s and more of processor time."""
EXPLAINED = 0.75
"""Of the largest difference; four times as many bars leave a quarter where the order is the first."""
LESS = 0.3
"""Beside other reasons."""


def best(found: Comparison) -> dict[str, float]:
    """Reason -> the part that it explains of the largest difference of U or T, the larger one."""
    first: dict[tuple[str, str], float] = {}
    for row in found.reasons():
        each = dict(zip(REASON_COLUMNS, row, strict=True))
        first.setdefault((each["reason"], each["quantity"][0]), each["explains"])
    return {reason: max(part for (other, _), part in first.items() if other == reason) for reason, _ in first}


def test_there_are_twenty_one():
    assert len(DECKS) == 21 and min(map(len, (DRY, IN_WATER, MOTIONS))) >= 5


@pytest.mark.long_cases(*LONG)
@pytest.mark.parametrize(("name", "code"), CASES, ids=[f"{name}: {code}" for name, code in CASES])
def test_differences_are_within_the_bars_or_explained(name, code):
    skip_without(code)
    found = fem.compare(parse_deck(DECKS[name].text), [code], python=PYTHON)
    assert {row[1] for row in found.rows()} == {"done"}, found.rows()
    named = set(filter(None, DECKS[name].reasons[code].split(", ")))
    assert bool(found.beyond(code)) == bool(found.tried) == bool(named), str(found)
    assert {reason for reason, part in best(found).items() if part > EXPLAINED} - {"together"} == named
    assert not named or any(found.agrees(code, each.beyond_error) for each in found.tried if not each.failed)
    assert all(f"reason: {code}, {reason}: " in str(found) for reason in named)


TABLE = """#!{python}
# Stands for a code: its table is there, whatever it is given
import pathlib, shutil, sys
shutil.copy({table!r}, pathlib.Path(sys.argv[-1]).with_suffix(".csv").name)
"""


def test_cables_side_by_side_have_dashpots_of_their_own():
    """Between the same nodes: those of both were counted for the last of them."""
    skip_without("opensees")
    first, bars, held = SWING
    material, fast = BETA + CABLE, FAST.format(-2.0)
    text = deck(first, f"{bars}\n2, 1, 2", held, moves(WEIGHT), model=fast, material=material)
    rows = fem.compare(parse_deck(text), ["opensees"], python=PYTHON).reasons()
    explained = {row[2]: row[5] for row in rows if row[1] == "damping"}
    assert {"T_e1", "T_e2"} <= explained.keys() and min(explained.values()) > 0.999


def test_increments_are_the_reason_where_bars_yield_in_statics():
    """Ours end at the peaks of the load, after 1 and 3 of 5; equal ones of 0.4 miss the first, where the bar yields."""
    skip_without("opensees")
    law = "*PLASTIC\n2.E6, 0.\n4.E6, 0.1\n"
    cycle = "*AMPLITUDE, NAME=A\n0., 0., 1., 1., 3., -1., 5., 0.9\n"
    load = "*CLOAD, AMPLITUDE=A\n2, 1, 220.\n"
    static = f"*STEP, NLGEOM, INC=1000\n*STATIC\n0.4, 5.\n{PRINTS.format(load)}"
    text = deck(*SWING[:2], "1, 1, 3\n2, 2, 3", static, model=cycle, material=law)
    found = fem.compare(parse_deck(text), ["opensees"], python=PYTHON)
    assert any("automatic in the deck" in note for note in found.answers[0].notes)
    assert best(found)["increments"] > 0.999


@pytest.mark.skipif(os.name != "posix", reason="programs by their first line")
def test_what_a_code_has_otherwise_is_found_without_it(tmp_path, capsys):
    """It answers with our own motion of the deck with another strain; only that change of ours explains it."""
    text = deck(*SWING, moves(WEIGHT, 0.02, 0.4), young=1e8, strain="GREEN", model=LET_GO)
    track = tracked(parse_deck(text.replace("GREEN", "ENGINEERING")), ["U1_n2", "U3_n2", "T_e1"])
    table, fake, path, out = (tmp_path / name for name in ("table.csv", "fake", "swing.inp", "out"))
    rows = [["time", *track.names[:3]], *np.column_stack([track.time, track.values[:, :3]]).tolist()]
    table.write_text("\n".join(",".join(map(str, row)) for row in rows))
    fake.write_text(TABLE.format(python=sys.executable, table=str(table)))
    fake.chmod(0o700)
    path.write_text(text)
    assert main(["compare", str(path), "--with", "opensees", "--python", str(fake), "--output", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "reason: opensees, strain: elongation over length" in printed and "reasons.csv" in printed
    head, *found = csv.reader((out / "reasons.csv").open(newline=""))
    assert head == list(REASON_COLUMNS) and {(row[0], row[1]) for row in found} == {("opensees", "strain")}
    assert all(float(row[5]) > 0.999 and float(row[6]) == 1.0 for row in found)


def test_the_page_lists_the_reasons():
    """With the codes that they are tried for, in their order."""
    page = (Path(__file__).parents[2] / "docs/other_codes.md").read_text()
    rows = [line.split(" | ")[:2] for line in page[page.index("| reason | code |") :].split("\n\n")[0].splitlines()[2:]]
    its = (["all"] if len(each.codes) == len(RUN) else [CODES[code] for code in each.codes] for each in REASONS)
    assert rows == [[f"| {each.name}", ", ".join(codes)] for each, codes in zip(REASONS, its, strict=True)]


def unlike(words: str) -> tuple[Comparison, Model]:
    """A code that is 1 off at two instants, without bars; and the deck."""
    time, names, theirs, none = np.array([0.0, 0.1]), ("U1_n2",), np.ones((2, 1)), np.zeros((2, 1))
    answer = CodeAnswer("opensees", "done", "", names, np.column_stack([time, theirs]))
    found = Comparison(names, time, none, none, (answer,), {"opensees": theirs}, {"opensees": none})
    return found, parse_deck(deck(*SWING, moves(WEIGHT, 0.02, 0.1, words), strain="GREEN"))


def test_the_error_that_a_change_leaves_widens_the_bars():
    """0.4 of 1 is left, of which 0.3 may be the error of both."""
    found, _ = unlike(NEWMARK)
    apart = np.full((2, 1), 0.4)
    tried = [Explained("opensees", REASONS[0], apart, "", error) for error in (0.0, 0.3)]
    (whole,), (rest,) = (replace(found, bars=np.full((2, 1), 0.15), tried=(each,)).reasons() for each in tried)
    assert whole[3:7] == pytest.approx((1.0, 0.4, 0.6, 0.0)) and rest[3:7] == pytest.approx((1.0, 0.4, 0.6, 1.0))


def test_a_change_that_fails_is_a_row_with_its_reason():
    """And one that changes nothing is not tried."""
    found, model = unlike(NEWMARK)
    assert [each.reason.name for each in explanations(found, model, answer_of)] == ["strain"]
    short = replace(model, steps=tuple(replace(step, max_increments=1) for step in model.steps))
    (row,) = replace(found, tried=tuple(explanations(found, short, answer_of))).reasons()
    assert row[:4] == ("opensees", "strain", "U1_n2", 1.0) and np.isnan(row[4:7]).all() and "fem: " in row[7]


@pytest.mark.parametrize("ends", [True, False])
def test_a_changed_run_that_ends_early_explains_nothing(ends):
    """Of what a code lacks, nothing is known."""
    found, model = unlike(", DIRECT, TIME INTEGRATOR=HHT, ALPHA=-0.1")
    (answer,) = found.answers
    less = answer._replace(rows=answer.rows[: 1 if ends else 2])
    tried = {each.reason.its is not same: each for each in explanations(found, model, lambda *_, **options: less)}
    assert tried[True].reason.name == "scheme" and tried[True].failed == (ENDS_EARLY if ends else "")
    (row,) = (row for row in replace(found, tried=(tried[True],)).reasons())
    assert np.isnan(row[4:7]).all() == ends


RULED = deck(*SWING, moves(WEIGHT, 0.01, 0.3), strain="GREEN, MASS=CONSISTENT", young=1e8)
UNSEEN = {
    "start": (DECKS["without acceleration at the start"].text, "opensees"),
    "scheme": (DECKS["a scheme that damps"].text, "calculix"),
    "increment": (RULED, "moordyn"),
}


@pytest.mark.parametrize("reason", UNSEEN)
def test_reasons_of_what_the_bars_contain(reason):
    """Tried as if there were no bars, which are wide where our own increments make the difference, too. The mass rule
    of the deck is that of what is exported, and explains nothing."""
    text, code = UNSEEN[reason]
    skip_without(code)
    model = parse_deck(text)
    found = fem.compare(model, [code], python=PYTHON)
    found = replace(found, bars=np.zeros_like(found.bars), its_bars={code: np.zeros_like(found.bars)})
    run = partial(answer_of, python=PYTHON, time_limit=60.0)
    parts = best(replace(found, tried=tuple(explanations(found, model, run))))
    assert parts[reason] > LESS and parts[reason] == max(parts.values())
    assert parts.get("mass rule", 0.0) == 0.0 and ("mass rule" in parts) == (text == RULED)
