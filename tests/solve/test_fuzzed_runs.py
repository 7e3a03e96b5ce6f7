"""Decks with changed numbers and lines: a run ends well or with one of our errors, never with NaN or a traceback."""

from __future__ import annotations

import random
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.model import Perturbation

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
NUMBER = re.compile(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?")
VALUES = ("0", "-1", "1e-9", "1e9", "0.5", "2", "-0.3", "1e-3", "3", "100", "1e300")
MOST_INCREMENTS = 2000


def mutated(text: str, draw: random.Random) -> str:
    """One to three changed numbers, dropped or repeated lines."""
    lines = text.split("\n")
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(lines))
        numbers = list(NUMBER.finditer(lines[at]))
        if numbers and draw.random() < 0.8:
            hit = draw.choice(numbers)
            lines[at] = lines[at][: hit.start()] + draw.choice(VALUES) + lines[at][hit.end() :]
        elif draw.random() < 0.5:
            del lines[at]
        else:
            lines.insert(at, draw.choice(lines))
    return "\n".join(lines)


def is_short(model: fem.Model) -> bool:
    procedures = [step.procedure for step in model.steps if not isinstance(step.procedure, Perturbation)]
    return sum(procedure.period / procedure.dt for procedure in procedures) <= MOST_INCREMENTS


@pytest.mark.parametrize("seed", [2, 3, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 1, 4))])
def test_no_number_breaks_a_run(seed):
    draw = random.Random(seed)
    decks = [path.read_text(encoding="utf-8") for path in sorted(INPUTS.glob("*.inp"))]
    for _ in range(60):
        try:
            model = fem.parse_deck(mutated(draw.choice(decks), draw))
        except fem.DeckError:
            continue
        if not is_short(model):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                history = fem.run(model)
            except fem.FemError as error:
                assert str(error)
                continue
        for values in (history.u, history.v, history.a, history.energy, history.elements):
            assert np.isfinite(values).all()
