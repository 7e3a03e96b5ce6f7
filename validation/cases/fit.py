"""``fem fit``: its intervals hold the values of made records; Bergdahl's chain is fitted on half of its runs."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import fem
from fem.runs.console import say
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.made_records import RECORDS, held
from validation.references.bergdahl import FORCES

NAME = "fit"
TITLE = "parameters from measurements: intervals that hold the truth; a measured chain, fitted on half of its runs"
SOURCE = (
    "Statistics: 95 % of intervals hold the truth. Published: Bergdahl, Palm, Eskilsson & Lindahl, J. Mar. Sci. Eng. 4 "
    "(2016) 5, validation/references/bergdahl.py. Decks inputs/circled_weight.inp, inputs/bergdahl.inp."
)
LONG = True
MEMORIES = {"independent errors": 0.0, "errors correlated by 0.8": 0.8}
BINOMIAL = "of 300 intervals that are independent between fits, 0.95 +- 0.0126 (binomial), about twice that"
CHAIN = {"Cd": (1.0, 6.0), "Ca": (1.0, 10.0), "mu": (0.05, 1.0)}
MESH = {"turns": 6.0, "dt": 0.0003125}
"""A quarter of an hour of processor time; with 4 turns and 0.0025 s (three minutes) largest forces are too rough: 1.9 N
of what is left out."""
CABLEDYN = "CableDyn at nominal values, all runs: 1.58 N"


def run(folder: Path) -> Outcome:
    """Coverage with independent and with correlated errors; every second run of the chain left out."""
    rows = []
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for name, memory in MEMORIES.items():
            shares = []
            for record, its in enumerate(pool.map(held, range(RECORDS), [memory] * RECORDS), 1):
                say(f"record {record} of {RECORDS}, {name}: {its.sum()} of {its.size} intervals hold the true values")
                shares.append(its.mean(axis=0))
            target = Target(f"share of 95 % intervals that hold the truth, {name}", 0.95, "absolute", BINOMIAL, 0.027)
            rows.append(Row(target, float(np.mean(shares))))
    cases = folder / "bergdahl.csv"
    lines = (f"{period},{radius},{measured}\n" for (period, radius), (measured, _) in FORCES.items())
    cases.write_text("T,r,T_e66_max\n" + "".join(lines))
    deck, half = tools.INPUTS / "bergdahl.inp", {"hold_out": 0.5, "start": "settled"}
    found = fem.fit(deck, vary=CHAIN, cases=cases, parameters=MESH, **half, say=lambda text: say(f"chain: {text}"))
    inside, outside = found.rms["T_e66_max"]
    rows.append(
        Row(Target("Bergdahl's chain: rms of largest forces left out [N]", 0.0, "absolute", CABLEDYN, 1.58), outside)
    )
    return Outcome(tuple(rows), {}, (f"Fitted runs: {inside:.2f} N.", *str(found).splitlines(), *found.notices))
