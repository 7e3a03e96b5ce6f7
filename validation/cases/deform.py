"""Ropes between the hands of two robots, filmed: what four fitted numbers foretell of other motions of the same rope.

A rope is a slender tube of bars (``validation/tubes.py``), bent at rest as it lies on a table.
"""

from __future__ import annotations

import ast
import os
import pickle
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares
from scipy.signal import savgol_filter

import fem
from fem.errors import NoConvergence
from fem.study.validation import Outcome, Row, Target
from validation.tools import Array
from validation.tubes import Shape, Tube, angle_from, carried, shape, transported, tube, unit

NAME = "deform"
TITLE = "ropes moved by two robots, filmed: bending, damping and angles of hands fitted, other motions foretold"
SOURCE = (
    "Markers of the repository roahmlab/DEFORM (Chen et al., CoRL 2024, arXiv 2406.05931), which has no licence: clone "
    "it and set the environment variable DEFORM to its folder. Ropes 1 to 3, 8 of 56 training motions each, all 14 "
    "evaluation motions; described in docs/deform.md."
)
LONG = True
DATA = "DEFORM"
"""Environment variable: the folder of the repository."""
ROPES = (1, 2, 3)
FRAME = 0.01
"""Between two frames [s]."""
INCREMENTS = (1, 4)
"""Of the run, from frame to frame; the second where the first does not converge. Two change a motion by 0.1 mm."""
BEGINNING = 1.0
"""Of every second motion, to which all numbers are fitted first [s]."""
ANGLES, BEST = 6, 3
"""Of each hand that are tried, and pairs of them that a fit starts from."""
FITTED_MOTIONS = 8
PROCESSES = 2
BARS = 2
"""Between two markers."""
CORE = 5e3
"""EA over mass per length [m2/s2] of the bars from centre to centre, which have no BETA."""
TORSION = 0.5
"""GJ over EI."""
SLIM = 0.35
"""Radius of the tube over the longest of its bays."""
OUTSIDE = 0.1
"""Share of the mass that is at the corners of the tube."""
WINDOW = 9
"""Frames over which cubics smooth the held markers."""
MATERIAL = ("EI", "BETA")
START = {"EI": 0.05, "BETA": 0.08, "FIRST": 0.0, "LAST": 0.0}
"""The fit begins there, for each rope: EI over mass per length [m4/s2], BETA [s], angles of the hands [rad] (any)."""
OUTLIER = 0.03
"""Distance from which on differences count linearly in a fit [m]."""
STANDS_STILL = {1: 76.719, 2: 78.358, 3: 74.326}
"""Rope -> L1 error where it starts [mm]."""
FOUND = {
    1: ({"EI": 0.0245, "BETA": 0.0835, "FIRST": 1.88, "LAST": 4.68}, 28.9),
    2: ({"EI": 0.0760, "BETA": 0.0742, "FIRST": -0.28, "LAST": 0.96}, 16.6),
    3: ({"EI": 0.0852, "BETA": 0.0917, "FIRST": 2.65, "LAST": 3.59}, 14.4),
}
"""Rope -> the numbers of a fit (``START``), mean distance of markers [mm]."""
ROUGH = {1: 4.0}
"""Rope -> tolerances over those of others: by which numbers a search ends is chance where a sum of squares is rough."""
NETWORK = {1: 10.3, 2: 10.2, 3: 9.9}
"""Least L1 error in loss_record of the repository [mm]."""
SKIPPED = (
    "Skipped: the environment variable DEFORM is not set. Clone https://github.com/roahmlab/DEFORM (no licence, so not "
    "part of this project) and set DEFORM to its folder."
)


class OnlyNumbers(pickle.Unpickler):
    """Reads lists of numbers; whatever a file wants to import is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"a file of markers asks for {module}.{name}; only lists of numbers are read")


class Motion(NamedTuple):
    """A recorded motion, ready to be run.

    name     of its file
    markers  (frames, n, 3) places [m]
    table    (n, 3) the markers of the rope at rest on a table [m]
    """

    name: str
    markers: Array
    table: Array

    def run(self, numbers: Mapping[str, float]) -> Array:
        """(frames - 2, sections, 3) places of the line from the third frame on."""
        start = beginning(self.markers, self.table)
        for increments in INCREMENTS:
            text = "\n".join(cards(start, numbers, increments)) + "\n"
            deck = fem.parse_deck(text, parameters={name: numbers[name] for name in MATERIAL}, name=self.name)
            try:
                history = fem.run(deck)
            except NoConvergence:
                if increments == INCREMENTS[-1]:
                    raise
                continue
            break
        moved = history.u.reshape(len(history.time), -1, 4, 3)[:, :, 0] + start.line.centres
        inside = moved[increments::increments]
        hands = start.driven[1 : len(inside) + 1]
        return np.concatenate([hands[:, :1], inside, hands[:, -1:]], axis=1)

    def away(self, places: Array) -> Array:
        """(frames - 2, n, 3) computed minus measured places of the markers."""
        return np.asarray(places[:, line_of(self.markers.shape[1])] - self.markers[2:])

    def first(self, seconds: float) -> Motion:
        """The beginning of it."""
        return self._replace(markers=self.markers[: 2 + round(seconds / FRAME)])


def motions(folder: Path, rope: int, kind: str) -> list[Motion]:
    """All of ``train`` or ``eval``, in the order of their numbers."""
    files = sorted((folder / "data_set" / f"DLO{rope}" / kind).glob("*.pkl"), key=lambda file: int(file.stem))
    if not files:
        raise FileNotFoundError(f"{DATA}={folder} has no data_set/DLO{rope}/{kind}/*.pkl")
    table = on_table(folder / "train_DEFORM.py", rope)
    return [motion(file, table) for file in files]


def motion(file: Path, table: Array) -> Motion:
    """A file holds frames of three lists: x, y, z of the markers."""
    with file.open("rb") as stream:
        return Motion(file.stem, np.array(OnlyNumbers(stream).load(), float).transpose(0, 2, 1), table)


def on_table(program: Path, rope: int) -> Array:
    """(n, 3) places [m] of the markers of a rope that lies on a table, all at one height.

    They are the first numbers that the training program of the repository gives to a ``rest_vert``, once per rope.
    """
    assigned = (
        each.value
        for each in ast.walk(ast.parse(program.read_text()))
        if isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") == "rest_vert"
    )
    laid = [places for tree in assigned if (places := first_table(tree)) is not None]
    if len(laid) < rope:
        raise ValueError(f"{program} has {len(laid)} shapes of ropes at rest (rest_vert); rope {rope} needs one more")
    places = laid[rope - 1]
    return np.column_stack([places[:, :2], np.full(len(places), places[:, 2].mean())])


def first_table(tree: ast.AST) -> Array | None:
    """(n, 3) numbers of the first tuple of tuples in an expression; None without."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Tuple) and all(isinstance(row, ast.Tuple) for row in each.elts):
            return np.array(ast.literal_eval(each), float)
    return None


# ------------------------------------------------------------------------------------------------------- start
class Start(NamedTuple):
    """What a deck of a motion is written from; sections are those of the tube, from hand to hand.

    line    its sections in the second frame
    speeds  (sections, 3) of the centres
    bars    the tube, with the natural lengths of the rope on the table
    radius  of the tube [m]
    driven  (frames - 1, 4, 3) smoothed places of the held markers
    sides   (frames - 1, 2, 3) side of the first and of the last section, carried along in time without twist
    """

    line: Shape
    speeds: Array
    bars: Tube
    radius: float
    driven: Array
    sides: Array


def line_of(count: int) -> Any:
    """Node of each of the markers on the line: one bar in a hand, BARS between two markers."""
    return np.concatenate([[0], np.cumsum([1, *[BARS] * (count - 3), 1])])


def beginning(markers: Array, table: Array) -> Start:
    """The line begins on a spline through the markers of the second frame.

    Velocities are differences of the first two frames, without what would stretch the line. The first and last two
    markers are held as recorded.
    """
    first, second = markers[:2]
    count = len(second)
    arcs, nodes = arc_lengths(second), line_of(count)
    along = np.interp(np.arange(nodes[-1] + 1), nodes, arcs)
    places, speeds = CubicSpline(arcs, second)(along), CubicSpline(arcs, (second - first) / FRAME)(along)
    markers_held, held = [0, 1, count - 2, count - 1], nodes[[0, 1, -2, -1]]
    driven = savgol_filter(markers[1:, markers_held], WINDOW, 3, axis=0)
    time = FRAME * np.arange(len(driven))
    places[held], speeds[held] = driven[0], CubicSpline(time, driven)(0.0, 1)
    speeds = without_stretch(places, speeds, held)
    hands = unit(driven[:, [1, 3]] - driven[:, [0, 2]])
    line = shape(places[1:-1], hands[0, 0], hands[0, 1], horizontal(hands[0, 0]))
    sides = np.stack([carried(line.sides[0], hands[:, 0]), carried(line.sides[-1], hands[:, 1])], axis=1)
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
    radius = SLIM * lengths[1:-1].max()
    rest = at_rest(table, nodes, lengths)
    return Start(line, speeds[1:-1], tube(rest, radius, TORSION), radius, driven, sides)


def arc_lengths(places: Array) -> Array:
    """(n,) from the first of the places on."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])


def at_rest(table: Array, nodes: Any, lengths: Array) -> Shape:
    """A spline through the markers on the table gives the directions of the bars, the start their lengths."""
    arcs = arc_lengths(table)
    laid = CubicSpline(arcs, table)(np.interp(np.arange(nodes[-1] + 1), nodes, arcs))
    bars = unit(np.diff(laid, axis=0))
    centres = np.concatenate([np.zeros((1, 3)), np.cumsum(bars[1:-1] * lengths[1:-1, None], axis=0)])
    return shape(centres, bars[0], bars[-1], np.array([0.0, 0.0, 1.0]))


def horizontal(normal: Array) -> Array:
    """(3,) across a hand, next to the y axis."""
    return unit(np.array([0.0, 1.0, 0.0]) - normal[1] * normal)


def without_stretch(places: Array, speeds: Array, held: Any) -> Array:
    """The nearest velocities that stretch no bar; those of the held nodes stay."""
    free = np.setdiff1d(np.arange(len(places)), held)
    bars = np.arange(held[1], held[2])
    axes = places[bars + 1] - places[bars]
    rates = np.zeros((len(bars), len(places), 3))
    rates[np.arange(len(bars)), bars], rates[np.arange(len(bars)), bars + 1] = -axes, axes
    change = np.linalg.lstsq(rates[:, free].reshape(len(bars), -1), (rates * speeds).sum(axis=(1, 2)), rcond=None)[0]
    speeds[free] -= change.reshape(-1, 3)
    return speeds


# -------------------------------------------------------------------------------------------------------- deck
def corners(start: Start, angles: Mapping[str, float]) -> tuple[Array, Array, Array]:
    """Places and velocities (sections, 4, 3) of all nodes, and the held ones over time (frames - 1, 2, 4, 3).

    The hands hold the rope at constant angles to sides that do not twist in time; between them it has settled.
    """
    line, radius = start.line, start.radius
    ends = np.array([angles["FIRST"], angles["LAST"]]) + turned(line)
    spread = start.bars.settled(line, np.linspace(ends[0], ends[1], len(line.centres)), radius)
    moved = start.driven[:, [1, 2]]
    hands = unit(start.driven[:, [1, 3]] - start.driven[:, [0, 2]])
    held = np.stack([Shape(moved[:, end], hands[:, end], start.sides[:, end]).nodes(
        np.full(len(moved), spread[-end]), radius) for end in range(2)], axis=1)  # fmt: skip
    places, instant = line.nodes(spread, radius), 1e-3 * FRAME
    time = FRAME * np.arange(len(moved))
    soon = [unit(line.normals[-end] + instant * CubicSpline(time, hands[:, end])(0.0, 1)) for end in range(2)]
    later = shape(line.centres + instant * start.speeds, *soon, transported(line.sides[0], line.normals[0], soon[0]))
    slip = angle_from(later.sides[-1], transported(line.sides[-1], line.normals[-1], soon[1]), soon[1])
    speeds = (later.nodes(spread + np.linspace(0.0, slip, len(spread)), radius) - places) / instant
    return places, speeds, held


def turned(line: Shape) -> Array:
    """(2,) angles of the horizontal directions across both hands, from the sides of the line."""
    ends = ((line.sides[end], horizontal(line.normals[end]), line.normals[end]) for end in (0, -1))
    return np.array([angle_from(*each) for each in ends])


def cards(start: Start, angles: Mapping[str, float], increments: int) -> list[str]:
    """The mass per length is 1: EI, EA and forces are over it, in SI units."""
    places, speeds, held = corners(start, angles)
    last = 4 * (len(places) - 1)
    length = np.linalg.norm(np.diff(start.line.centres, axis=0), axis=1).mean()
    ring = start.bars.areas[start.bars.kinds == "RING"][0]
    density = OUTSIDE * length / (ring * start.bars.lengths[start.bars.kinds == "RING"].sum() / len(places))
    lines = ["*HEADING", "A rope between two hands, as filmed", "*PARAMETER"]
    lines += [*(f"{name} = {START[name]}" for name in MATERIAL), "*NODE"]
    lines += [f"{node}, {x:.12g}, {y:.12g}, {z:.12g}" for node, (x, y, z) in enumerate(places.reshape(-1, 3), 1)]
    for kind, modulus, mass in (("BENT", "<EI>", 0.0), ("CORE", CORE, 1.0 - OUTSIDE), ("RING", "<EI>", density)):
        lines += [f"*MATERIAL, NAME={kind}", "*ELASTIC", f"{modulus}", "*DENSITY", f"{mass:.9g}"]
        lines += ["*DAMPING, BETA=<BETA>"] if kind == "BENT" else []
    lines += start.bars.cards()
    time, supports = FRAME * np.arange(len(held)), []
    for end, corner, axis in np.ndindex(held.shape[1:]):
        node = last * end + corner + 1
        lines += [f"*AMPLITUDE, NAME=A{node}-{axis}, DEFINITION=SPLINE"]
        moved = held[:, end, corner, axis] - held[0, end, corner, axis]
        lines += [f"{now:.9g}, {value:.9g}" for now, value in zip(time, moved, strict=True)]
        supports += [f"*BOUNDARY, AMPLITUDE=A{node}-{axis}", f"{node}, {axis + 1}, {axis + 1}, 1."]
    lines += ["*INITIAL CONDITIONS, TYPE=VELOCITY"]
    for node, speed in enumerate(speeds.reshape(-1, 3)[4:last], 5):
        lines += [f"{node}, {axis + 1}, {speed[axis]:.9g}" for axis in range(3)]
    lines += ["*STEP, NLGEOM, INC=10000, EXTRAPOLATION=PARABOLIC", "*DYNAMIC, DIRECT, ALPHA=-0.3, INITIAL=NO"]
    lines += [f"{FRAME / increments}, {time[-1]:.9g}", "*CONTROLS, ENERGY DRIFT=OFF, RESI_GLOB_RELA=1e-5", *supports]
    return [*lines, "*DLOAD", ", GRAV, 9.81, 0., 0., -1.", "*END STEP"]


# ------------------------------------------------------------------------------------------------ fit and errors
def fit(chosen: Sequence[Motion]) -> dict[str, float]:
    """EI over mass per length [m4/s2], BETA [s] and the angles of both hands: least squares of places of free markers.

    Angles are periodic, with several minima. So a grid of them is tried at the beginnings of some motions, then
    all numbers are fitted to these from the best angles, and to all whole motions from the best of those fits.
    """
    beginnings = [each.first(BEGINNING) for each in chosen[::2]]
    angles = 2.0 * np.pi / ANGLES * np.arange(ANGLES)
    around = [[*np.log([START["EI"], START["BETA"]]), first, last] for first in angles for last in angles]
    costs = [cost(beginnings, np.array(each)) for each in around]
    fits = [nearest(beginnings, np.array(around[each]), 10) for each in np.argsort(costs)[:BEST]]
    found = nearest(chosen, min(fits, key=lambda fit: float(fit.cost)).x, 20)
    if not found.success:
        raise RuntimeError(f"the fit has not converged in {found.nfev} steps: {found.message}")
    whole_turns = np.array([0.0, 0.0, 1.0, 1.0]) * 2.0 * np.pi * round(found.x[2] / (2.0 * np.pi))
    return named(found.x - whole_turns)


def named(values: Array) -> dict[str, float]:
    """Logarithms of EI and BETA, and two angles, as the numbers of a rope."""
    return dict(zip(START, [*np.exp(values[:2]).tolist(), *map(float, values[2:])], strict=True))


def misses(chosen: Sequence[Motion], values: Array) -> Array:
    """Computed minus measured coordinates of the free markers, 20 times a second [m]."""
    return np.concatenate([each.away(each.run(named(values)))[::5, 2:-2].ravel() for each in chosen])


def cost(chosen: Sequence[Motion], values: Array) -> float:
    """What least squares make small: beyond OUTLIER differences count linearly. Infinite if a run does not converge."""
    try:
        away = misses(chosen, values)
    except NoConvergence:
        return np.inf
    return float((np.sqrt(1.0 + (away / OUTLIER) ** 2) - 1.0).sum())


def nearest(chosen: Sequence[Motion], begin: Array, evaluations: int) -> Any:
    """Least squares from a beginning; slopes are differences over 0.02 of a logarithm or an angle [rad]."""
    known: dict[tuple[float, ...], Array] = {}

    def away(values: Array) -> Array:
        key = tuple(map(float, values))
        if key not in known:
            known[key] = misses(chosen, values)
        return known[key]

    def slopes(values: Array) -> Array:
        return np.column_stack([(misses(chosen, values + step) - away(values)) / 0.02 for step in 0.02 * np.eye(4)])

    return least_squares(away, begin, jac=slopes, loss="soft_l1", f_scale=OUTLIER, xtol=2e-3, ftol=1e-3,
                         max_nfev=evaluations)  # fmt: skip


def distance(away: Array) -> float:
    """Mean distance of the free markers over time [mm]."""
    return 1e3 * float(np.linalg.norm(away[:, 2:-2], axis=-1).mean())


def manhattan(away: Array) -> float:
    """Mean over time, all markers and the three axes of the differences [mm]: the L1 error of the repository."""
    return 1e3 * float(np.abs(away).mean())


def fitted(training: Sequence[Motion], others: Sequence[Motion]) -> tuple[dict[str, float], list[Array]]:
    """The numbers of a rope, and the places of its other motions that are computed with them."""
    numbers = fit(training)
    return numbers, [each.run(numbers) for each in others]


def run(folder: Path) -> Outcome:
    """Numbers and errors of each rope."""
    if not os.environ.get(DATA):
        return Outcome((), {}, (SKIPPED,))
    rows, remarks = [], []
    data = Path(os.environ[DATA])
    training = [motions(data, rope, "train") for rope in ROPES]
    chosen = [each[:: len(each) // FITTED_MOTIONS][:FITTED_MOTIONS] for each in training]
    others = [motions(data, rope, "eval") for rope in ROPES]
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        results = list(pool.map(fitted, chosen, others))
    for rope, recorded, (numbers, places) in zip(ROPES, others, results, strict=True):
        away = [each.away(computed) for each, computed in zip(recorded, places, strict=True)]
        still = np.mean([manhattan(each.markers[1] - each.markers[2:]) for each in recorded])
        expected, error = FOUND[rope]
        for what, value, kind, tolerance, found in (
            ("L1 error of a rope that stands still [mm]", STANDS_STILL[rope], "absolute", 0.01, still),
            ("EI over mass per length [m4/s2]", expected["EI"], "relative", 0.05, numbers["EI"]),
            ("BETA [s]", expected["BETA"], "relative", 0.05, numbers["BETA"]),
            ("angle of the first hand [rad]", expected["FIRST"], "absolute", 0.1, numbers["FIRST"]),
            ("angle of the last hand [rad]", expected["LAST"], "absolute", 0.1, numbers["LAST"]),
            ("distance of the markers, 14 motions [mm]", error, "absolute", 0.5, np.mean([*map(distance, away)])),
        ):
            source = "regression; the first says that the data are those of the page, the others that the fit is flat"
            wide = tolerance * ROUGH.get(rope, 1.0)
            rows.append(Row(Target(f"rope {rope}: {what}", value, kind, source, wide), float(found)))
        distances = [*map(distance, away)]
        spread = ", ".join(f"{each.name} {miss:.0f}" for each, miss in zip(recorded, distances, strict=True))
        remarks.append(
            f"Rope {rope}: median {np.median(distances):.1f} mm, L1 error {np.mean([*map(manhattan, away)]):.1f} mm, "
            f"with the network of the repository {NETWORK[rope]} mm at best; single motions [mm]: {spread}."
        )
    return Outcome(tuple(rows), {}, tuple(remarks))
