"""Records of ``inputs/circled_weight.inp`` with errors of measurement, and what ``fem.fit`` finds in them."""

import numpy as np
from scipy.signal import lfilter

import fem
from validation import tools

TRUTH = {"EA": 21000.0, "density": 1150.0, "Cd": 1.35}
BOUNDS = {"EA": (5e3, 1e5), "density": (800.0, 1500.0), "Cd": (0.3, 4.0)}
ERRORS = {"T_e1": 2.0, "U1_n5": 0.01}
RECORDS, SEEDS = 10, 10


def held(record: int, memory: float) -> tools.Array:
    """(SEEDS, 3) intervals of one record that hold the truth, with errors e = memory e_before + noise."""
    deck, own = tools.INPUTS / "circled_weight.inp", {"period": 1.6 + 0.2 * record, "radius": 0.3 + 0.03 * record}
    history, found = fem.run(deck, parameters=TRUTH | own), []
    moves = history.of_step(2) & (history.increment > 0)
    exact = {"T_e1": history.of_element(1, "T")[moves], "U1_n5": history.of_node(5)[moves, 0]}
    for seed in range(SEEDS):
        rng = np.random.default_rng((record, seed))
        columns = {"time": history.time[moves] - 1.0}
        for name, values in exact.items():
            raw = rng.normal(0.0, ERRORS[name], len(values) + 200)
            columns[name] = values + lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], raw)[200:]
        table = fem.fit(deck, [(columns, own)], BOUNDS, step=2, workers=1).table
        truth = np.array([TRUTH[name] for name in table["parameter"]])
        found.append((table["low"] <= truth) & (truth <= table["high"]))
    return np.array(found)
