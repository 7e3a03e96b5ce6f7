"""Ropes between the hands of two robots, filmed: what two fitted numbers foretell of other motions of the same rope."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares
from scipy.signal import savgol_filter

import fem
from fem.validation import Outcome, Row, Target
from validation.tools import Array

NAME = "deform"
TITLE = "ropes moved by two robots, filmed: EI and damping fitted, other motions foretold"
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
INCREMENTS = 2
"""Of the run, from frame to frame: with one the first fails for some stiff ropes, later ones are the same to 0.1 mm."""
FITTED_MOTIONS = 8
BARS = 2
"""Between two markers."""
AXIAL, CORE = 10.0, 5e3
"""EA over mass per length [m2/s2]: of the bars that bend and have BETA, and of those beside them, without BETA."""
WINDOW = 9
"""Frames over which cubics smooth the held markers."""
START = {"EI": 0.05, "BETA": 0.05}
"""The fit begins there, for each rope: EI over mass per length [m4/s2], BETA [s]."""
OUTLIER = 0.03
"""Distance from which on differences count linearly in a fit [m]."""
STANDS_STILL = {1: 76.719, 2: 78.358, 3: 74.326}
"""Rope -> L1 error where it starts [mm]."""
FOUND = {1: (0.0217, 0.0940, 38.8), 2: (0.0713, 0.0436, 20.6), 3: (0.0876, 0.0455, 22.8)}
"""Rope -> EI over mass per length [m4/s2], BETA [s], mean distance of markers [mm]."""
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
    deck     text with the parameters EI and BETA; starts at the second frame
    nodes    (n,) those of the markers
    """

    name: str
    markers: Array
    deck: str
    nodes: Any

    def run(self, numbers: Mapping[str, float]) -> Array:
        """(frames - 2, nodes, 3) places of all nodes from the third frame on."""
        history = fem.run(fem.parse_deck(self.deck, parameters=numbers, name=f"motion {self.name}"))
        moved = history.u.reshape(len(history.time), -1, 3) + history.mesh.coordinates
        return np.asarray(moved[INCREMENTS::INCREMENTS])

    def away(self, places: Array) -> Array:
        """(frames - 2, n, 3) computed minus measured places of the markers."""
        return np.asarray(places[:, self.nodes] - self.markers[2:])


def motions(folder: Path, rope: int, kind: str) -> list[Motion]:
    """All of ``train`` or ``eval``, in the order of their numbers."""
    files = sorted((folder / "data_set" / f"DLO{rope}" / kind).glob("*.pkl"), key=lambda file: int(file.stem))
    if not files:
        raise FileNotFoundError(f"{DATA}={folder} has no data_set/DLO{rope}/{kind}/*.pkl")
    return [motion(file) for file in files]


def motion(file: Path) -> Motion:
    """A file holds frames of three lists: x, y, z of the markers."""
    with file.open("rb") as stream:
        markers = np.array(OnlyNumbers(stream).load(), float).transpose(0, 2, 1)
    return Motion(file.stem, markers, *deck_of(markers))


# --------------------------------------------------------------------------------------------------------- deck
def deck_of(markers: Array) -> tuple[str, Any]:
    """Deck of a motion (frames, n, 3), and the nodes of the markers.

    The first and last two markers are held as recorded, and the rigid bars between them hold the directions. The line
    starts on a spline through the markers of the second frame; velocities are differences of the first two frames,
    without what would stretch the line.
    """
    first, second = markers[:2]
    count = len(second)
    arcs = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(second, axis=0), axis=1))])
    parts = np.array([1, *[BARS] * (count - 3), 1])
    nodes = np.concatenate([[0], np.cumsum(parts)])
    along = np.interp(np.arange(nodes[-1] + 1), nodes, arcs)
    places, speeds = CubicSpline(arcs, second)(along), CubicSpline(arcs, (second - first) / FRAME)(along)
    markers_held, held = [0, 1, count - 2, count - 1], nodes[[0, 1, -2, -1]]
    driven = savgol_filter(markers[1:, markers_held], WINDOW, 3, axis=0)
    time = FRAME * np.arange(len(driven))
    places[held], speeds[held] = driven[0], CubicSpline(time, driven)(0.0, 1)
    speeds = without_stretch(places, speeds, held)
    return "\n".join(cards(places, speeds, held, time, driven)) + "\n", nodes


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


def cards(places: Array, speeds: Array, held: Any, time: Array, driven: Array) -> list[str]:
    """The mass per length is 1: EI, EA and forces are over it, in SI units."""
    last = len(places)
    lines = ["*HEADING", "A rope between two hands, as filmed", "*PARAMETER"]
    lines += [*(f"{name} = {value}" for name, value in START.items()), f"I = EI/{AXIAL}", "rigid = 1000 * I", "*NODE"]
    lines += [f"{node}, {x:.9g}, {y:.9g}, {z:.9g}" for node, (x, y, z) in enumerate(places, 1)]
    for name, kind, start, end, shift in (
        ("ROPE", "B31", held[1], held[2], 0), ("GRIPS", "B31", held[0], held[1], 0),
        ("GRIPS", "B31", held[2], held[3], 0), ("CORE", "T3D2", held[1], held[2], 1000),
    ):  # fmt: skip
        lines += [f"*ELEMENT, TYPE={kind}, ELSET={name}"]
        lines += [f"{shift + bar}, {bar}, {bar + 1}" for bar in range(start + 1, end + 1)]
    lines += ["*MATERIAL, NAME=ROPE", "*ELASTIC", f"{AXIAL}", "*DENSITY", "1.", "*DAMPING, BETA=<BETA>"]
    lines += ["*MATERIAL, NAME=CORE", "*ELASTIC", f"{CORE}", "*DENSITY", "0."]
    for name, inertia in (("ROPE", "<I>"), ("GRIPS", "<rigid>")):
        lines += [f"*BEAM GENERAL SECTION, ELSET={name}, MATERIAL=ROPE, STRAIN=ENGINEERING, STRAIGHT AT REST"]
        lines += [f"1., {inertia}, 0., {inertia}"]
    lines += ["*SOLID SECTION, ELSET=CORE, MATERIAL=CORE, STRAIN=ENGINEERING", "1."]
    supports = []
    for end, node in enumerate(held):
        for axis in range(3):
            lines += [f"*AMPLITUDE, NAME=A{end}{axis}, DEFINITION=SPLINE"]
            moved = driven[:, end, axis] - driven[0, end, axis]
            lines += [f"{now:.9g}, {value:.9g}" for now, value in zip(time, moved, strict=True)]
            supports += [f"*BOUNDARY, AMPLITUDE=A{end}{axis}", f"{node + 1}, {axis + 1}, {axis + 1}, 1."]
    lines += ["*INITIAL CONDITIONS, TYPE=VELOCITY"]
    for node in np.setdiff1d(np.arange(last), held):
        lines += [f"{node + 1}, {axis + 1}, {speeds[node, axis]:.9g}" for axis in range(3)]
    lines += ["*STEP, NLGEOM, INC=10000, EXTRAPOLATION=PARABOLIC", "*DYNAMIC, DIRECT, ALPHA=-0.3"]
    lines += [f"{FRAME / INCREMENTS}, {time[-1]:.9g}", "*CONTROLS, ENERGY DRIFT=OFF, RESI_GLOB_RELA=1e-5", *supports]
    return [*lines, "*DLOAD", ", GRAV, 9.81, 0., 0., -1.", "*END STEP"]


# ------------------------------------------------------------------------------------------------ fit and errors
def fit(chosen: Sequence[Motion]) -> dict[str, float]:
    """EI over mass per length [m4/s2] and BETA [s]: least squares of the places of free markers, 20 a second."""

    def misses(logarithms: Array) -> Array:
        numbers = dict(zip(START, np.exp(logarithms).tolist(), strict=True))
        away = [each.away(each.run(numbers))[::5, 2:-2].ravel() for each in chosen]
        return np.concatenate(away)

    begin = np.log(list(START.values()))
    found = least_squares(misses, begin, diff_step=0.01, loss="soft_l1", f_scale=OUTLIER, xtol=1e-3, ftol=1e-4,
                          max_nfev=20)  # fmt: skip
    if not found.success:
        raise RuntimeError(f"the fit has not converged in {found.nfev} steps: {found.message}")
    return dict(zip(START, np.exp(found.x).tolist(), strict=True))


def distance(away: Array) -> float:
    """Mean distance of the free markers over time [mm]."""
    return 1e3 * float(np.linalg.norm(away[:, 2:-2], axis=-1).mean())


def manhattan(away: Array) -> float:
    """Mean over time, all markers and the three axes of the differences [mm]: the L1 error of the repository."""
    return 1e3 * float(np.abs(away).mean())


def fitted(folder: Path, rope: int) -> tuple[dict[str, float], list[tuple[Motion, Array]]]:
    """The numbers of a rope, and its evaluation motions with the places that are computed with them."""
    training = motions(folder, rope, "train")
    numbers = fit(training[:: len(training) // FITTED_MOTIONS][:FITTED_MOTIONS])
    return numbers, [(each, each.run(numbers)) for each in motions(folder, rope, "eval")]


def run(folder: Path) -> Outcome:
    """Numbers and errors of each rope."""
    if not os.environ.get(DATA):
        return Outcome((), {}, (SKIPPED,))
    rows, remarks = [], []
    for rope in ROPES:
        numbers, computed = fitted(Path(os.environ[DATA]), rope)
        away = [each.away(places) for each, places in computed]
        still = np.mean([manhattan(each.markers[1] - each.markers[2:]) for each, _ in computed])
        stiffness, beta, expected = FOUND[rope]
        for what, value, kind, tolerance, found in (
            ("L1 error of a rope that stands still [mm]", STANDS_STILL[rope], "absolute", 0.01, still),
            ("EI over mass per length [m4/s2]", stiffness, "relative", 0.05, numbers["EI"]),
            ("BETA [s]", beta, "relative", 0.05, numbers["BETA"]),
            ("distance of the markers, 14 motions [mm]", expected, "absolute", 0.5, np.mean([*map(distance, away)])),
        ):
            source = "regression; the first says that the data are those of the page, the others that the fit is flat"
            rows.append(Row(Target(f"rope {rope}: {what}", value, kind, source, tolerance), float(found)))
        spread = ", ".join(f"{each.name} {distance(miss):.0f}" for (each, _), miss in zip(computed, away, strict=True))
        error = np.mean([*map(manhattan, away)])
        remarks.append(
            f"Rope {rope}: L1 error {error:.1f} mm, with the network of the repository {NETWORK[rope]} mm at best; "
            f"distances of single motions [mm]: {spread}."
        )
    return Outcome(tuple(rows), {}, tuple(remarks))
