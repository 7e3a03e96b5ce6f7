"""``fem run --uncertain``: bars of inputs, compared with runs whose inputs are drawn by chance."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.stats import norm, qmc

import fem
from fem.cli import main
from fem.runs.console import say
from fem.study.sensitivity.uncertain import numbers_at
from fem.study.validation import Outcome, Row, Target
from validation import tools

NAME = "uncertain"
TITLE = "bars of inputs: shares of sampled runs within them, for ten decks"
SOURCE = (
    "Statistics: of normal inputs whose ranges are 1.96 standard deviations to both sides, the bar holds 95 % of the "
    "runs, 1/1.96 of it 68.3 %. Decks of inputs/, 512 runs each (Sobol's sequence, scrambled with a fixed seed: such "
    "shares of a sum of three normal numbers are known to 1 %; of 400 points of a Latin hypercube, to 2 %)."
)
LONG = True
POWER = 9
"""Of two: the number of runs."""
SURE = 1.959964
DECKS: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    "catenary": ({"rise": 0.0, "stiffness": 1e7}, {"weight": 0.05, "length": 0.002, "stiffness": 0.02}),
    "grown_riser": ({}, {"tension": 0.05}),
    "cable_net": ({}, {"area": 0.03, "prestress": 0.04, "blow": 0.1}),
    "guyed_mast": ({}, {"tension": 0.03, "EA": 0.03}),
    "sdnl138": ({}, {"area": 0.05, "low": 0.05}),
    "two_driven_rods": ({}, {"X": 0.02, "omega": 0.005}),
    "damped_cable": ({}, {"beta": 0.05, "speed": 0.05}),
    "slack_cable": ({}, {"weight": 0.05, "side": 0.05}),
    "twin_lines": ({}, {"mass": 0.05, "stiffness": 0.02}),
    "sdll135e": ({}, {"pull": 0.1}),
}
"""Values that are set, and ranges as fractions of the values."""
WITHIN = 0.02


def run(folder: Path) -> Outcome:
    """The share of runs within each bar that is trusted, the worst of each deck; none is no result."""
    rows, told = list[Row](), list[str]()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for deck in DECKS:
            found = shares(deck, folder / deck, pool)
            for name, (whole, inner, curved) in found.items():
                told.append(
                    f"{deck} {name}: {whole:.3f} and {inner:.3f}" + (f", not linear in {curved}" if curved else "")
                )
                say(told[-1])
            trusted = [its for its in found.values() if not its[2]]
            told.append(f"{deck}: {len(trusted)} of {len(found)} numbers are linear in all inputs, and judged")
            say(told[-1])
            for place, aim in ((0, 0.95), (1, norm.cdf(1.0) - norm.cdf(-1.0))):
                worst = max((its[place] for its in trusted), key=lambda share: abs(share - aim), default=np.nan)
                target = Target(f"{deck}: share within {aim:.0%} bars", float(aim), "absolute", SOURCE, WITHIN)
                rows.append(Row(target, float(worst)))
    return Outcome(tuple(rows), {}, tuple(told))


def shares(deck: str, folder: Path, pool: ProcessPoolExecutor) -> dict[str, tuple[float, float, str]]:
    """Number -> shares of runs within its bar and within 1/1.96 of it; the inputs in which it is not linear."""
    path, (fixed, ranges) = tools.INPUTS / f"{deck}.inp", DECKS[deck]
    words = [word for name, value in fixed.items() for word in ("--set", f"{name}={value!r}")]
    asked = ",".join(f"{name}={100.0 * part:g}%" for name, part in ranges.items())
    main(["run", str(path), *words, "--uncertain", asked, "--output", str(folder), "--quiet"])
    limits = json.loads((folder / "run.json").read_text())["uncertain"]["limits"]
    names, known = [line["number"] for line in limits], fem.read_deck(path, fixed).parameters
    drawn = norm.ppf(qmc.Sobol(len(ranges), rng=1).random_base2(POWER)) / SURE
    points = [
        {**fixed, **{name: known[name] * (1.0 + ranges[name] * at) for name, at in zip(ranges, row, strict=True)}}
        for row in drawn.tolist()
    ]
    runs = pool.map(partial(numbers_at, path, names, solver="AUTO"), points, chunksize=16)
    values = np.array([[run[name] for name in names] for run in runs])
    found: dict[str, tuple[float, float, str]] = {}
    for line, column in zip(limits, values.T, strict=True):
        off = column - line["value"]
        if not np.ptp(column) > 1e-9 * np.abs(column).max():
            continue  # no input changes it
        inside = [np.mean((off >= -part * line["below"]) & (off <= part * line["above"])) for part in (1.0, 1.0 / SURE)]
        found[line["number"]] = float(inside[0]), float(inside[1]), line["curved"]
    return found
