"""Random rods: is the tangent map the difference of two runs? ``python -m benchmarks.reliability.random_rods [N]``.

Chains, trees and nets of up to seven nodes in space: rods, ropes and elastic bars between masses that differ by a
factor of 30, one or two supports of which the first moves, dampers, in every second one a stop with any restitution,
every integrator that has a tangent map. The motion starts away from the deck's own state, as fast as it takes for its
ropes to be taut; on the way some go slack and become taut again. Two laws, for one direction each:

    change of the state       what the tangent map makes of a change of the start is what the motions that start there
                              and at minus that make of it, over their distance: all displacements, all velocities
    change of coordinates     a state is read in the coordinates in which it was written

Differences are central, of two lengths, extrapolated to none, of neighbours to which the same happens in the same
increments. Motions with events are listed apart: two kinds of them have no exact derivative
(``fem/study/variation/saltation.py``), and where a stop is met some thirty times neighbours soon are no longer close.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

import fem
from fem.arrays import Flags, Floats
from fem.errors import CommandError, FemError
from fem.forces.bar import senses
from fem.runs.record import Event, SilentSink, StepStart
from fem.solve.rope_states import gaps_of
from fem.solve.ropes.instants import Switched
from fem.study.strobe import State, Strobe

SCHEMES = (
    "NEWMARK",
    "NEWMARK, BETA=0.3025, GAMMA=0.6",
    "HHT, ALPHA=-0.1",
    "GENERALIZED ALPHA, RHO=0.6",
    "BACKWARD EULER",
    "ENERGY MOMENTUM",
)
KINDS = ("rod", "rod", "rope", "bar")
MATERIALS = """*MATERIAL, NAME=ROD
*INEXTENSIBLE
*MATERIAL, NAME=ROPE
*INEXTENSIBLE
*NO COMPRESSION
*MATERIAL, NAME=BAR
*ELASTIC
400.
*DAMPING, BETA=0.01
*MATERIAL, NAME=STOP
*INEXTENSIBLE, RESTITUTION={restitution}
*NO TENSION
"""
PERIOD, INCREMENTS = 0.25, 20
RESTITUTIONS = 0.0, 0.7, 1.0
APART = 1e-5
"""Step of differences: its fourth power times derivatives, and round-off over it, are 1e-9 and less."""
AWAY, PACES, SWAY, DRIVE = 0.03, (0.2, 1.0, 3.0, 6.0), 0.1, 5.0
"""How far from the deck's own state a motion starts, with which velocities, the first at which all ropes are taut or
away from their length; way and frequency of the support."""
TOUCHING = 1e-5
"""Gap (l^2 - L0^2)/2 [m^2] from which on a slack rope is at its length."""
MOST_APART = 1e-6
"""What the two derivatives may differ by, as a fraction of the largest number in them."""


def random_deck(rng: np.random.Generator) -> str:
    """The deck of one: a chain, a tree, or a net, which hangs from a second support and has bars across."""
    shape, count = rng.choice(["chain", "tree", "net"]), int(rng.integers(3, 8))
    places, edges = [np.zeros(3)], []
    for node in range(1, count):
        above = node - 1 if shape == "chain" else int(rng.integers(0, node))
        way = rng.normal(size=3) * [0.5, 0.5, 0.3] - [0.0, 0.0, 1.0]
        places.append(places[above] + rng.uniform(0.5, 1.2) * way / np.linalg.norm(way))
        edges.append((str(rng.choice(KINDS)), above, node))
    held = [0]
    if shape == "net":
        places.append(places[-1] + np.array([*rng.uniform(0.5, 1.0, 2), 0.8]))
        held.append(count)
        edges += [("rope" if rng.random() < 0.5 else "bar", count - 1, count), ("bar", 0, count - 1)]
    if rng.random() < 0.5:  # a stop that is soon met, or not
        places.append(places[-1 - len(held) + 1] + np.array([0.05, 0.0, -0.6]))
        held.append(len(places) - 1)
        edges.append(("stop", count - 1, len(places) - 1))
    return written(rng, np.array(places), edges, held)


def written(rng: np.random.Generator, places: Floats, edges: list[tuple[str, int, int]], held: list[int]) -> str:
    """All of it as text."""
    lines = ["*NODE, NSET=ALL", *(f"{n + 1}, {', '.join(map(repr, p.tolist()))}" for n, p in enumerate(places))]
    for kind in sorted({kind for kind, *_ in edges}):
        lines.append(f"*ELEMENT, TYPE=T3D2, ELSET={kind}")
        lines += [f"{n + 1}, {i + 1}, {j + 1}" for n, (name, i, j) in enumerate(edges) if name == kind]
        lines += [f"*SOLID SECTION, ELSET={kind}, MATERIAL={kind}", "1."]
        lines += ["*REST LENGTH", f"{kind}, 0.55"] if kind == "stop" else []
    for node in sorted(set(range(len(places))) - set(held)):
        number = 100 + node
        lines += [f"*ELEMENT, TYPE=MASS, ELSET=M{node}", f"{number}, {node + 1}"]
        lines += [f"*MASS, ELSET=M{node}, ALPHA={rng.uniform(0.0, 0.8)!r}", repr(float(10 ** rng.uniform(-1.0, 0.5)))]
    lines += ["*ELEMENT, TYPE=DASHPOT1, ELSET=DAMPER", "200, 2", "*DASHPOT, ELSET=DAMPER", "1", "0.3"]
    materials = MATERIALS.format(restitution=rng.choice(RESTITUTIONS))
    lines += [materials + "*BOUNDARY", *(f"{node + 1}, 1, 3" for node in held)]
    shift = rng.normal(size=3) * SWAY
    lines += ["*AMPLITUDE, NAME=A, DEFINITION=PERIODIC", f"1, {DRIVE!r}, 0., -1.", "1., 0.5"]
    lines += ["*STEP, NLGEOM, INC=100000", f"*DYNAMIC, DIRECT, TIME INTEGRATOR={rng.choice(SCHEMES)}"]
    lines += [f"{PERIOD / INCREMENTS!r}, {PERIOD!r}", "*CONTROLS, ENERGY DRIFT=OFF, RESI_GLOB_MAXI=1.E-11"]
    lines += ["*BOUNDARY, AMPLITUDE=A", *(f"1, {n + 1}, {n + 1}, {x!r}" for n, x in enumerate(shift.tolist()))]
    return "\n".join([*lines, "*DLOAD", ", GRAV, 9.81, 0., 0., -1.", "*NODE PRINT, NSET=ALL", "U, V", "*END STEP", ""])


Found = tuple[list[tuple[int, int, str]], float, float]
"""What happened to ropes and stops, and in which increment; misfits of the two laws."""


class Tape(SilentSink):
    """What happened to ropes and stops in the last motion."""

    def begin(self, start: StepStart) -> None:
        self.events: list[tuple[int, int, str]] = []

    def event(self, event: Event) -> None:
        self.events.append((event.increment, event.element, event.event))


def misfits(strobe: Strobe, tape: Tape, rng: np.random.Generator) -> Found:
    """What happened to ropes and stops; misfits of the two laws, as fractions of the largest number.

    CommandError: it happened otherwise to a neighbour.
    """
    strobe.scale = (1.0, 1.0)
    first = strobe.begin()
    push = rng.normal(size=(2, len(first.u))) * strobe.last.stage.nodes.mask
    for pace in PACES:
        chart = strobe.chart(State(first.u + AWAY * push[0], first.v + pace * push[1], made_taut(strobe, first)))
        if not starts_at_a_kink(strobe, chart.base):
            break
    else:
        raise CommandError("a rope or stop is at its length and slack: there is no derivative on both sides")
    y = rng.normal(size=len(chart))
    y /= np.linalg.norm(y)
    strobe.begin(chart.base)
    [tangent] = strobe.vary(np.array([chart.moves(y)]))
    strobe.march()
    happened = tape.events

    def central(step: float) -> tuple[Floats, Floats]:
        starts = [strobe.begin(chart.base.moved(chart.moves(y), way)) for way in (step, -step)]
        ends = []
        for each in starts:
            ends.append(strobe.go(each))
            if tape.events != happened:
                raise CommandError("ropes or stops of a neighbour do something else: there is no derivative in reach")
        ways = [np.array([one.u - other.u, one.v - other.v]) / (2.0 * step) for one, other in (starts, ends)]
        return chart.directions(*ways[0]), ways[1]

    (start, end), (start_2, end_2) = central(APART), central(2.0 * APART)
    end, start = (4.0 * end - end_2) / 3.0, (4.0 * start - start_2) / 3.0
    return happened, float(np.abs(tangent - end).max() / np.abs(end).max()), float(np.abs(start - y).max())


def made_taut(strobe: Strobe, start: State) -> Flags | None:
    """Its ropes all at their length."""
    ropes = strobe.last.at_start
    if not isinstance(ropes, Switched) or start.taut is None:
        return None
    return start.taut | (senses(ropes.stages.first.bars, ropes.stages.ropes) > 0.0)


def starts_at_a_kink(strobe: Strobe, start: State) -> bool:
    """A rope or stop that has its length and does not hold."""
    ropes = strobe.last.at_start
    if not isinstance(ropes, Switched) or start.taut is None:
        return False
    gap = gaps_of(ropes.stages.first.bars, ropes.stages.ropes, start.u)
    return bool((~start.taut & (gap > -TOUCHING)).any())


def study(numbers: Iterable[int], seed: int = 11) -> Iterator[tuple[str, str, Found]]:
    """Deck, what kept it from being judged (or nothing), misfits of the two laws."""
    for number in numbers:
        rng = np.random.default_rng((seed, number))
        text = random_deck(rng)
        try:
            tape = Tape()
            yield text, "", misfits(Strobe(fem.parse_deck(text), PERIOD, sink=tape), tape, rng)
        except FemError as error:
            yield text, f"{type(error).__name__}: {error}", ([], np.nan, np.nan)


if __name__ == "__main__":
    trials = list(study(range(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)))
    left = Counter(why.split(":")[0] for _, why, _ in trials if why)
    for has_events in (False, True):
        judged = np.array([found[1:] for _, why, found in trials if not why and bool(found[0]) == has_events])
        what = "with events of ropes and stops" if has_events else "without events"
        worst = judged.max(axis=0, initial=0.0)
        print(f"{len(judged)} {what}: misfits up to {worst[0]:.2g} of the state, {worst[1]:.2g} of its coordinates")
    beyond = [n for n, (_, why, found) in enumerate(trials) if not why and max(found[1:]) > MOST_APART]
    bad = [n for n in beyond if not trials[n][2][0]]
    schemes = (trials[n][0].split("INTEGRATOR=")[1].split("\n")[0] for n in beyond if n not in bad)
    print(f"with events beyond {MOST_APART:g}: {dict(Counter(schemes))}")
    print(f"{len(bad)} without events beyond {MOST_APART:g}: {bad}; not judged: {dict(left)}")
    sys.exit(bool(bad))
