"""``fem fit``: its intervals hold the values of made records; Bergdahl's chain is fitted on half of its runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.signal import lfilter

import fem
from fem.validation import Outcome, Row, Target
from validation import tools
from validation.references.bergdahl import FORCES

NAME = "fit"
TITLE = "parameters from measurements: intervals that hold the truth; a measured chain, fitted on half of its runs"
SOURCE = (
    "Statistics: 95 % of intervals hold the truth. Published: Bergdahl, Palm, Eskilsson & Lindahl, J. Mar. Sci. Eng. 4 "
    "(2016) 5, validation/references/bergdahl.py. Decks inputs/circled_weight.inp, inputs/bergdahl.inp."
)
LONG = True
TRUTH = {"EA": 21000.0, "density": 1150.0, "Cd": 1.35}
BOUNDS = {"EA": (5e3, 1e5), "density": (800.0, 1500.0), "Cd": (0.3, 4.0)}
ERRORS = {"T_e1": 2.0, "U1_n5": 0.01}
RECORDS, SEEDS = 10, 20
BINOMIAL = "of 600 intervals that are independent between fits, 0.95 +- 0.009 (binomial), three times that"
CHAIN = {"Cd": (1.0, 6.0), "Ca": (1.0, 10.0), "mu": (0.05, 1.0)}
MESH = {"turns": 6.0, "dt": 0.0003125}
CABLEDYN = "CableDyn at nominal values, all runs: 1.58 N"


def held(memory: float) -> tools.Array:
    """(RECORDS * SEEDS, 3) intervals that hold the truth, with errors e = memory e_before + noise."""
    deck, found = tools.INPUTS / "circled_weight.inp", []
    for record in range(RECORDS):
        own = {"period": 1.6 + 0.2 * record, "radius": 0.3 + 0.03 * record}
        history = fem.run(deck, parameters=TRUTH | own)
        moves = history.of_step(2) & (history.increment > 0)
        exact = {"T_e1": history.of_element(1, "T")[moves], "U1_n5": history.of_node(5)[moves, 0]}
        for seed in range(SEEDS):
            rng = np.random.default_rng((record, seed))
            columns = {"time": history.time[moves] - 1.0}
            for name, values in exact.items():
                noise = lfilter(
                    [np.sqrt(1.0 - memory**2)], [1.0, -memory], rng.normal(0.0, ERRORS[name], len(values) + 200)
                )
                columns[name] = values + noise[200:]
            table = fem.fit(deck, [(columns, own)], BOUNDS, step=2, workers=1).table
            truth = np.array([TRUTH[name] for name in table["parameter"]])
            found.append((table["low"] <= truth) & (truth <= table["high"]))
    return np.array(found)


def run(folder: Path) -> Outcome:
    """Coverage with independent and with correlated errors; every second run of the chain left out."""
    rows = [
        Row(Target(f"share of 95 % intervals that hold the truth, {name}", 0.95, "absolute", BINOMIAL, 0.027),
            float(held(memory).mean()))
        for name, memory in (("independent errors", 0.0), ("errors correlated by 0.8", 0.8))
    ]  # fmt: skip
    cases = folder / "bergdahl.csv"
    lines = (f"{period},{radius},{measured}\n" for (period, radius), (measured, _) in FORCES.items())
    cases.write_text("T,r,T_e66_max\n" + "".join(lines))
    found = fem.fit(
        tools.INPUTS / "bergdahl.inp", vary=CHAIN, cases=cases, parameters=MESH, hold_out=0.5, start="settled"
    )
    inside, outside = found.rms["T_e66_max"]
    rows.append(
        Row(Target("Bergdahl's chain: rms of largest forces left out [N]", 0.0, "absolute", CABLEDYN, 1.58), outside)
    )
    return Outcome(tuple(rows), {}, (f"Fitted runs: {inside:.2f} N.", *str(found).splitlines(), *found.notices))
