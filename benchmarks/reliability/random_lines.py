"""Random lines: does each of them start in equilibrium? ``python -m benchmarks.reliability.random_lines [COUNT]``.

20 to 200 bars, 1.0001 to 3 times as long as the distance of the ends, E A from 5 to 1e7 times the weight; hanging free,
or over a level bottom, from one end on it or from two above. Each is laid, and brought to rest by
one increment of ``*STATIC`` with plain Newton to 1e-8; what counts is the linear solves that takes.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

import fem
from fem.errors import FemError

MOST_SOLVES = 16
SUNK = 1e-4
"""How deep a line lies in the bottom by its weight, in its lengths."""


def random_line(rng: np.random.Generator, most_bars: int = 200) -> str:
    """The deck of one; what the generator draws does not depend on what kind of line comes of it."""
    bars, span = int(rng.integers(20, most_bars + 1)), 10 ** rng.uniform(0.5, 3.2)
    rise, slack, weight = span * rng.uniform(-0.8, 2.0), 10 ** rng.uniform(-4, 0.3), 10 ** rng.uniform(0, 4)
    chord = float(np.hypot(span, rise))
    length = chord * (1 + slack)
    stiffness, depth = weight * length * 10 ** rng.uniform(0.7, 7), rng.uniform(0.01, 0.3) * chord
    kind = rng.choice(["hanging", "from the bottom", "over the bottom"])
    if kind == "hanging":
        return deck(bars, span, rise, length, stiffness, weight, "")
    rise = abs(rise) if kind == "from the bottom" else rise
    below = 0.0 if kind == "from the bottom" else depth - min(0.0, rise)
    bottom = f"*SEABED, ELSET=LINE, ELEVATION={-below!r}\n{weight / (SUNK * length)!r}, 0., 1.\n"
    return deck(bars, span, rise, length, stiffness, weight, bottom)


def deck(bars: int, span: float, rise: float, length: float, stiffness: float, weight: float, bottom: str) -> str:
    """Loads at once, one increment."""
    return f"""*NODE
1, 0., 0., 0.
{bars + 1}, {span!r}, 0., {rise!r}
*NGEN, LINE=CATENARY
1, {bars + 1}, 1, {length!r}
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}
{bottom}*NSET, NSET=ALL, GENERATE
1, {bars + 1}
*MATERIAL, NAME=M
*ELASTIC
{stiffness!r}
*DENSITY
{weight!r}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
{bars + 1}, 1, 3
ALL, 2
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC, DIRECT
1., 1.
*CONTROLS, RESI_GLOB_RELA=1e-8, ITER_GLOB_MAXI=50
*DLOAD
LINE, GRAV, 1., 0., 0., -1.
*END STEP
"""


def starts(count: int, seed: int = 7, most_bars: int = 200) -> tuple[Counter[int], list[str]]:
    """How many lines need how many solves, and what is said of those that find no equilibrium."""
    rng, solves, failed = np.random.default_rng(seed), Counter[int](), []
    for number in range(count):
        try:
            solves[int(fem.run(fem.parse_deck(random_line(rng, most_bars))).iterations[-1])] += 1
        except FemError as error:
            failed.append(f"line {number}: {error}")
    return solves, failed


if __name__ == "__main__":
    found, bad = starts(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    print(", ".join(f"{number} of {solves} solves" for solves, number in sorted(found.items())))
    print(f"{len(bad)} without equilibrium", *bad, sep="\n")
    sys.exit(bool(bad))
