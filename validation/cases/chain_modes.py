"""Modes of a long plumb chain, whose axial vibrations are up to 1e16 times as stiff as its swing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import plumb_chain

NAME = "chain_modes"
TITLE = "modes of a long hanging chain about its loaded state"
SOURCE = (
    "Lattice: flexibility of the sideways motion alone (validation/references/plumb_chain.py); continuum: Bernoulli's "
    "zeros of J0. Deck inputs/chain_modes.inp."
)
LONG = False

LENGTH, MASS, AXIAL_STIFFNESS, GRAVITY = 1.0, 1.0, 1e8, 9.81
LINKS = (40, 95, 190, 400)


def run(folder: Path) -> Outcome:
    """Four modes of four chains, the longest by sparse factors, against the lattice; two of them: to the continuum."""
    found = {links: fem.run(tools.deck("chain_modes", {"links": links})).modes[0].frequency for links in LINKS}
    rows = []
    for links, frequency in found.items():
        exact = plumb_chain.lattice(links, LENGTH, MASS, AXIAL_STIFFNESS, GRAVITY)[:4]
        why = "independent: singular values of the lattice's flexibility; equilibrium to 1e-12 of the weight"
        target = Target(f"{links} links: largest relative difference of four frequencies", 0.0, "absolute", why, 3e-12)
        rows.append(Row(target, float(np.abs(frequency / exact - 1.0).max()) if len(frequency) == 4 else np.nan))
    extrapolated = found[190] + (found[190] - found[95]) / 3.0
    for mode, limit in ((1, 8e-8), (2, 9e-7)):
        why = "analytic: zeros of J0; the stretch, 5e-8, and three times the fourth-order term left, 3e-7 of mode 2"
        exact = plumb_chain.continuum(mode, LENGTH, GRAVITY)
        target = Target(f"frequency [1/s], mode {mode}, extrapolated to a continuum", exact, "relative", why, limit)
        rows.append(Row(target, float(extrapolated[mode - 1])))
    return Outcome(tuple(rows))
