"""Open questions of the forced string pendulum: two cables, a cradle, exponents, resonance, branches."""

from __future__ import annotations

from pathlib import Path

from fem.study.validation import Outcome
from validation.further import basins, bouncing, branches, cradles, exponents, periodic, toy, two_cables

NAME = "further_work"
TITLE = "open questions of the forced string pendulum: two cables, Newton's cradle, a table that moves"
SOURCE = (
    "V. Ciocanel, T. Witelski (2012), section 6 and figure 1. Nobody has published these: the targets are closed forms "
    "and event-driven integrators (validation/references). Decks inputs/ball_on_two_ropes.inp, cradle.inp, "
    "ball_on_table.inp and string_pendulum_*.inp. If interrupted, the same command continues."
)
LONG = True


def run(folder: Path) -> Outcome:
    """All themes."""
    cables = {name: two_cables.run(numbers) for name, numbers in two_cables.MOTIONS.items()}
    toys = {name: toy.run(amplitude) for name, amplitude in toy.AMPLITUDES.items()}
    rows = [row for name, history in cables.items() for row in two_cables.rows(name, history)]
    rows += [*cradles.rows(), *bouncing.rows(), *periodic.rows(), *toy.rows(toys), *exponents.rows(), *branches.rows()]
    over_amplitude, windows = exponents.against_amplitude(folder)
    up_and_down, others = branches.hysteresis(folder)
    figures = {
        "two_cables": two_cables.figure(cables),
        "cradle": cradles.figure(),
        "bouncing": bouncing.figure(),
        "toy": toy.figure(toys),
        "exponents": over_amplitude,
        "frequency": exponents.against_frequency(folder),
        "basins": basins.figure(folder),
        "hysteresis": up_and_down,
        "resonance": branches.resonance(folder),
    }
    return Outcome(tuple(rows), figures, (windows, others))
