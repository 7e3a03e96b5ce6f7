"""``python -m benchmarks moorings [PART ...] [--peer-python PYTHON]``: the work of a mooring engineer beside other
programs, in one run.

offsets    forces over offsets, end tensions, 6 x 6 stiffness of two public moorings (``public_moorings``); MoorPy
ends       TE of their fairleads at rest and in motion; FairTen of MoorDyn's output file
bottom     a depth grid: a chain across a ridge, by its closed form; lines over hills, MoorDyn; what 10^6 points cost
vortices   a cable across a current: one mode, and several in a current that grows along it; MoorDyn
polyester  Syrope working curves under waves on slow cycles; MoorDyn
extremes   Gumbel and Pareto distributions of largest values; pyextremes

PYTHON is an interpreter with moorpy, moordyn and pyextremes; what it lacks is left out, with the reason. Each row has a
limit; the exit code is 1 where a difference is beyond it.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.process import run_process
from benchmarks.public_moorings import BARS, MOORDYN, TURNED
from validation.references import ridge

LIMIT = 900.0
"""Seconds that a peer may take."""
GRAVITY, WATER = 9.80665, 1025.0


class Row(NamedTuple):
    """A number of ours, that of a peer, their difference as a fraction, and how much that may be."""

    part: str
    what: str
    ours: float
    peer: str
    theirs: float
    off: float
    limit: float


class MissingPeerError(Exception):
    """A peer is not installed, or failed."""


class Asked(NamedTuple):
    """Whom to ask: the interpreter, and a folder for files."""

    python: str
    folder: Path

    def answer(self, peer: str, **job: Any) -> dict[str, Any]:
        path = self.folder / "job.json"
        path.write_text(json.dumps({"peer": peer, **job}), encoding="utf-8")
        found = run_process([self.python, "-m", "benchmarks.peer_moorings", str(path)], LIMIT)[0]
        if "failed" in found:
            raise MissingPeerError(f"{peer}: {found['failed']}")
        return found


def over(ours: float, theirs: float) -> float:
    """Their difference over theirs."""
    return abs(ours / theirs - 1.0)


def imported(path: Path) -> str:
    """The deck that ``fem import moordyn`` writes of a file."""
    from fem.codes.from_moordyn import convert

    convert(path, path.with_suffix(".inp"), force=True)
    return path.with_suffix(".inp").read_text(encoding="utf-8")


def offsets(asked: Asked) -> Iterable[Row]:
    """At rest, 10 m in surge, and moved and turned by ``TURNED``."""
    from scipy.spatial.transform import Rotation

    import fem

    turn = np.degrees(Rotation.from_euler("xyz", TURNED[3:]).as_rotvec())
    places = {"at rest": (0.0,) * 6, "10 m in surge": (10.0, 0.0, 0.0, 0.0, 0.0, 0.0), "moved and turned": TURNED}
    for name, (system, bars) in BARS.items():
        path = asked.folder / "public.txt"
        path.write_text(MOORDYN.format(**system, bars=bars, bed="3.0e6"))
        peer = asked.answer(
            "moorpy", file=str(path), gravity=GRAVITY, density=WATER, depth=200.0, at=[*places.values()]
        )
        imported(path)
        ours = fem.mooring(
            path.with_suffix(".inp"), vessel="COUPLED", about=(0.0, 0.0, 0.0),
            at=[[*at[:3], *(turn if at is TURNED else at[3:])] for at in places.values()],
        ).others  # fmt: skip
        for k, place in enumerate(places):
            force, stiffness = np.array(peer["force"][k]), np.array(peer["stiffness"][k])
            largest = int(np.abs(force[:3]).argmax())
            off = np.abs(ours[k].force - force)[:3].max() / abs(force[largest])
            yield Row(
                "offsets", f"{name}, {place}: force [N]", ours[k].force[largest], "MoorPy", force[largest], off, 5e-3
            )
            ends, theirs = ours[k].lines[:, 1], np.array(peer["ends"][k])
            worst = int(np.abs(ends / theirs - 1.0).argmax())
            off = over(ends[worst], theirs[worst])
            yield Row("offsets", f"{name}, {place}: end tension [N]", ends[worst], "MoorPy", theirs[worst], off, 5e-3)
            size = np.sqrt(stiffness.diagonal())
            differences = np.abs(ours[k].stiffness - stiffness) / np.outer(size, size)
            i, j = np.unravel_index(differences.argmax(), differences.shape)
            yield Row(
                "offsets", f"{name}, {place}: K{i + 1}{j + 1}, of all entries the one furthest off, over "
                f"sqrt(K{i + 1}{i + 1} K{j + 1}{j + 1})", ours[k].stiffness[i, j], "MoorPy", stiffness[i, j],
                differences.max(), 5e-3,
            )  # fmt: skip


SECONDS, EVERY, SETTLED = 120.0, 0.01, 30.0
"""Of fairleads that move; seconds between two places; what is left out at first."""


def surge_and_heave(t: np.ndarray) -> np.ndarray:
    """(k, 3) displacement: 4 m in 60 s, 2 m in 12 s, from rest within 20 s."""
    grows = np.where(t < 20.0, 0.5 - 0.5 * np.cos(np.pi * t / 20.0), 1.0)
    return np.column_stack(
        [4.0 * grows * np.sin(2 * np.pi * t / 60.0), 0.0 * t, 2.0 * grows * np.sin(2 * np.pi * t / 12.0)]
    )


def ends(asked: Asked) -> Iterable[Row]:
    """Of the line that is the most loaded, over the last 90 of 120 s."""
    import fem

    time_ = np.arange(0.0, SECONDS + 0.5 * EVERY, EVERY)
    for name, (system, bars) in BARS.items():
        path = asked.folder / "moving.txt"
        text = MOORDYN.format(**system, bars=bars, bed="3.0e6").replace("3.0e5 cbot", (
            "3.0e5 cbot\n9.80665 g\n0.1 dtOut\n1 writeLog\n0.5 CFL\nrk4 tScheme\n1e-5 threshIC\n2000 TmaxIC\n"
            "4 CdScaleIC\n--- OUTPUTS ---\nFairTen1\nFairTen2\nFairTen3"
        ))  # fmt: skip
        path.write_text(text.replace("-1 0", "-0.3 0", 1))
        deck = imported(path).replace("<dt>, <time>, , <dt>", f"0.05, {SECONDS}, , 0.05").replace(
            "COORD, RF", "COORD, TE"
        )  # fmt: skip
        curves, moved = "", ""
        for axis, values in enumerate(surge_and_heave(time_[::10]).T):
            rows = "\n".join(f"{t:.12g}, {u:.12g}" for t, u in zip(time_[::10], values, strict=True))
            curves += f"*AMPLITUDE, NAME=Q{axis}, TIME=STEP TIME, DEFINITION=SPLINE\n{rows}\n"
            moved += f"*BOUNDARY, AMPLITUDE=Q{axis}\nCOUPLED, {axis + 1}, {axis + 1}, 1.\n"
        last = deck.rindex("*END STEP")
        deck = deck[:last] + moved + deck[last:]
        history = fem.run(fem.parse_deck(deck.replace("** at rest", f"{curves}** at rest", 1)))
        mesh = history.model.mesh
        tops = [int(mesh.node_labels[node]) for node in mesh.node_sets["COUPLED"]]
        rest = np.array([mesh.coordinates[node] for node in mesh.node_sets["COUPLED"]])
        places = (rest[None] + surge_and_heave(time_)[:, None]).reshape(len(time_), -1)
        peer = asked.answer("moordyn", file=str(path), places=places.tolist(), every=EVERY, nodes=[])
        channels = peer["channels"]
        late = history.of_step(3) & (history.time - history.time[history.of_step(3)][0] >= SETTLED)
        began = history.time[history.of_step(3)][0]
        even = np.arange(SETTLED, SECONDS, 0.1)
        series = {top: np.interp(even, history.time[late] - began, history.of_node(top, "TE")[late]) for top in tops}
        line = max(tops, key=lambda top: float(series[top].max()))
        theirs = np.interp(even, channels["Time"], channels[f"FairTen{tops.index(line) + 1}"])
        first = history.of_node(line, "TE")[np.flatnonzero(history.of_step(2))[-1]]
        start = channels[f"FairTen{tops.index(line) + 1}"][0]
        yield Row("ends", f"{name}: TE at rest [N]", first, "MoorDyn", start, over(first, start), 5e-3)
        for what, mean in (("largest", np.max), ("least", np.min), ("mean", np.mean)):
            pair = float(mean(series[line])), float(mean(theirs))
            yield Row("ends", f"{name}: {what} TE in motion [N]", pair[0], "MoorDyn", pair[1], over(*pair), 0.02)


RIDGE = ridge.Ridge(middle=150.0, half=50.0, slope=0.2, rounding=5.0, width=400.0, height=80.0)
CROSSING = """*NODE
1, 0., 0., 0.
{last}, 400., 0., 80.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}
*NGEN, LINE=CATENARY, NSET=ALL
1, {last}, 1, 438.
*MATERIAL, NAME=M
*ELASTIC
1e12
*NO COMPRESSION
*DENSITY
1e4
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1e-2
*SEABED, ELSET=LINE, POINTS=10
-50., -20., 0.
-50., 30., 0.
100., -20., 0.
100., 30., 0.
150., -20., 10.
150., 30., 10.
200., -20., 0.
200., 30., 0.
500., -20., 0.
500., 30., 0.
1e7, 0., 0.5
*BOUNDARY
1, 1, 3
{last}, 1, 3
ALL, 2
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
1., 1.
*DLOAD
LINE, GRAV, 10., 0., 0., -1.
*NODE PRINT
COORD, RF, TE
*EL PRINT
T
*END STEP
"""
"""A chain of 1000 N/m over a ridge of 10 m."""
HILLS = 1000.0, 4.0
"""Wavelength along x and y, and height of hills in which the lines of OC4 lie, in metres."""
POINTS, JOB = 1000, "platform:50:0.1:3600"
"""Lines of a grid along x and y; the run whose cost is measured: three lines for an hour."""


def hills(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(k, l) heights of the bottom."""
    length, height = HILLS
    return -200.0 + 0.5 * height * (1.0 - np.cos(2 * np.pi * x[:, None] / length) * np.cos(2 * np.pi * y / length))


def grid_text(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> str:
    """A grid in MoorDyn-C's form, which reads heights, below the surface negative."""
    heights = z.tolist()
    rows = [f"{a!r} {b!r} {heights[i][j]!r}" for i, a in enumerate(x.tolist()) for j, b in enumerate(y.tolist())]
    head = [f"{len(x)} {len(y)}", " ".join(map(repr, x.tolist())), " ".join(map(repr, y.tolist()))]
    return "\n".join([*head, *rows, ""])


def bottom(asked: Asked) -> Iterable[Row]:
    """The ridge has a closed form (``validation/references/ridge.py``)."""
    import fem

    exact, bars = ridge.rest(RIDGE, 1000.0, 438.0), 219
    history = fem.run(fem.parse_deck(CROSSING.format(bars=bars, last=bars + 1)))
    crest = max(history.of_element(bar, "T")[-1] for bar in range(bars // 4, bars // 2))
    found = {"at the anchor": (history.of_element(1, "T")[-1], exact.level), "on the crest": (crest, exact.crest)}
    found["end tension"] = float(history.of_node(bars + 1, "TE")[-1]), exact.top
    for what, pair in found.items():
        yield Row("bottom", f"chain across a ridge, {what} [N]", pair[0], "closed form", pair[1], over(*pair), 1e-3)
    yield from over_hills(asked)
    yield from cost(asked.folder)


def over_hills(asked: Asked) -> Iterable[Row]:
    """End tensions of OC4 at rest. MoorDyn's bottom pushes straight up: what lies on it has one tension, where ours
    also carries its weight along the slope, without friction w times the height."""
    import fem

    system, bars = BARS["OC4"]
    x = np.linspace(-1000.0, 1000.0, 81)
    (asked.folder / "hills.txt").write_text(grid_text(x, x, hills(x, x)))
    path = asked.folder / "on_hills.txt"
    text = MOORDYN.format(**system, bars=4 * bars, bed="3.0e6")
    text = text.replace(
        "200 WtrDpth", "hills.txt SeafloorFile\n9.80665 g\n0.3 CFL\nrk4 tScheme\n1e-6 threshIC\n3000 TmaxIC"
    )
    for x0, y0 in ((418.8, 725.383), (-837.6, 0.0), (418.8, -725.383)):
        height = 0.02 + float(hills(np.array([x0]), np.array([y0]))[0, 0])  # between grid lines hills are bilinear
        text = text.replace(f"{x0} {y0} -200.0", f"{x0} {y0} {height!r}")
    path.write_text(text.replace("-1 0", "-0.3 0", 1))
    history = fem.run(fem.parse_deck(imported(path), folder=asked.folder))
    mesh = history.model.mesh
    rest = np.array([mesh.coordinates[node] for node in mesh.node_sets["COUPLED"]])
    peer = asked.answer("moordyn", file=str(path), places=[rest.ravel().tolist()] * 3, every=0.01, nodes=[])
    theirs = np.linalg.norm(peer["forces"][-1], axis=1)
    last = np.flatnonzero(history.of_step(2))[-1]
    for k, node in enumerate(mesh.node_sets["COUPLED"]):
        ours = float(np.linalg.norm(history.of_node(int(mesh.node_labels[node]), "RF")[last]))
        yield Row("bottom", f"OC4 on hills, end tension of line {k + 1} [N]", ours, "MoorDyn", theirs[k],
                  over(ours, theirs[k]), 5e-3)  # fmt: skip


def cost(folder: Path) -> Iterable[Row]:
    """Processor time of the time loop above grids of 10^6 and of nine points and above a plane, all level, the least of
    five runs that take turns; what reading the large file takes of three such runs."""
    import fem
    from benchmarks.line_jobs import line_job
    from benchmarks.lines import deck_text

    job = line_job(JOB)
    texts = {"plane": deck_text(job)}
    for count in (3, POINTS):
        x = np.linspace(-2000.0, 2000.0, count)
        rows = np.column_stack([x, np.full((count, count), job.depth)]).tolist()
        head = ["--- level ---", f"nGridX {count}", f"nGridY {count}", " ".join(map(repr, x.tolist()))]
        (folder / f"{count}.txt").write_text("\n".join([*head, *(" ".join(map(repr, row)) for row in rows), ""]))
        texts[f"{count}"] = texts["plane"].replace("*SEABED, ELSET=LINE", f"*SEABED, ELSET=LINE, FILE={count}.txt")
    seconds, read = dict.fromkeys(texts, math.inf), dict.fromkeys(texts, math.inf)
    for _ in range(5):
        for name, deck in texts.items():
            began = time.process_time()
            model = fem.parse_deck(deck, folder=folder)
            parsed = time.process_time()
            fem.run(model)
            read[name] = min(read[name], parsed - began)
            seconds[name] = min(seconds[name], time.process_time() - parsed)
    grid, longer = seconds[f"{POINTS}"], 3.0 * seconds["plane"]
    reading = read[f"{POINTS}"] - read["plane"]
    for what, other in (("9 points", seconds["3"]), ("a plane", seconds["plane"])):
        yield Row("bottom", f"10^6 points, {JOB}: seconds of the time loop", grid, f"fem, {what}", other,
                  grid / other - 1.0, 0.05)  # fmt: skip
    yield Row("bottom", "10^6 points, three such runs: seconds with reading", longer + reading, "fem, without", longer,
              reading / longer, 0.05)  # fmt: skip


CABLE = """A cable across a current
--- LINE TYPES ---
LineType  Diam    MassDenInAir    EA       BA/-zeta      EI      Cd   Ca  CdAx   CaAx  Cl  dF  cF
(-)       (m)       (kg/m)        (N)       (N-s)      (n-m^2) (-)   (-)  (-)   (-)   (-) (-) (-)
cable     0.05      8.0           2.0e6     500.0       0.0    1.2   1.0  0.0   0.0   0.9  0.08  0.18
--- POINTS ---
Node      Type      X         Y         Z        M        V         CdA   CA
(-)       (-)      (m)       (m)       (m)      (kg)     (m^3)     (m^2)  (-)
1         Fixed    0.0        0       {low}       0        0          0     0
2         Coupled    0.0       0       -20.0       0        0          0     0
--- LINES ---
Line     LineType NodeA     NodeB  UnstrLen   NumSegs     Flags/Outputs
(-)      (-)       (-)       (-)    (m)         (-)          (-)
1        cable       {ends}         {length}     {bars}          p
--- SOLVER OPTIONS ---
9.81     g
1025     WtrDnsty
1        Currents
{dt}   dtM
170       WtrDpth
0.0      TmaxIC
--- need this line ---
"""
CURRENT = "current\nprofile\n(m) (m/s) (m/s)\n{low} {slow} 0 0\n-20.0 {fast} 0 0\n"
ONE_MODE = {"low": -40.0, "length": 19.9, "bars": 40, "slow": 0.5, "fast": 0.5}
MANY_MODES = {"low": -100.0, "length": 79.6, "bars": 80, "slow": 0.2, "fast": 0.8}
SAMPLED = 0.02
"""Seconds between two places of the cable."""


def across(asked: Asked, cable: dict[str, Any], seconds: float, starts: Sequence[int]) -> list[np.ndarray]:
    """(k, bars + 1) displacement across the current, of the last third of runs with an increment of 5 ms, from nodes
    with random velocities of 0.2 m/s across it; start 0: at rest."""
    import fem

    path, bars, found = asked.folder / "cable.txt", cable["bars"], []
    path.write_text(CABLE.format(**cable, ends="1 2", dt=5e-4))
    (asked.folder / "current_profile.txt").write_text(CURRENT.format(**cable))
    deck = imported(path).replace("<dt>, <time>, , <dt>", f"0.005, {seconds}")
    deck = deck.replace("*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4", "*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT")
    deck = deck.replace("TIME ERROR=5e-4, TENSION CHANGE=0.3, RESI_GLOB_RELA=1e-4", "ENERGY DRIFT=OFF")
    deck = deck.replace("*NODE PRINT, NSET=POINTS", "*NODE PRINT")
    for start in starts:
        speeds = 0.2 * np.random.default_rng(start).normal(size=bars - 1)
        rows = "".join(f"{1002 + k}, 2, {v!r}\n" for k, v in enumerate(speeds.tolist()))
        moving = f"*INITIAL CONDITIONS, TYPE=VELOCITY\n{rows}*AQUA" if start else "*AQUA"
        history = fem.run(fem.parse_deck(deck.replace("*AQUA", moving, 1)))
        late = history.time > 2.0 / 3.0 * seconds
        found.append(np.stack([history.of_node(1001 + k, "COORD")[late, 1] for k in range(bars + 1)], 1)[::4])
    return found


def across_by_moordyn(asked: Asked, cable: dict[str, Any], seconds: float, dt: float, is_turned: bool) -> np.ndarray:
    """The same; a line that is turned begins at its upper end."""
    path = asked.folder / "cable.txt"
    path.write_text(CABLE.format(**cable, ends="2 1" if is_turned else "1 2", dt=dt))
    (asked.folder / "current_profile.txt").write_text(CURRENT.format(**cable))
    steps, nodes = round(seconds / SAMPLED), [*range(cable["bars"] + 1)]
    places = [[0.0, 0.0, -20.0]] * (steps + 1)
    peer = asked.answer("moordyn", file=str(path), places=places, every=SAMPLED, nodes=nodes)
    y = np.array(peer["nodes"])[2 * steps // 3 :, :, 1]
    return y[:, ::-1] if is_turned else y


def frequency(y: np.ndarray) -> float:
    """Mean frequency of all nodes, weighted by their power."""
    power = (np.abs(np.fft.rfft((y - y.mean(0)) * np.hanning(len(y))[:, None], axis=0)) ** 2).sum(1)
    return float(power @ np.fft.rfftfreq(len(y), SAMPLED) / power.sum())


def vortices(asked: Asked) -> Iterable[Row]:
    """Several modes have several steady states, and the start decides between them: each of MoorDyn's, reached with
    increments of 1 and 0.5 ms, is compared with the nearest of ours."""
    (ours,), theirs = across(asked, ONE_MODE, 60.0, [0]), across_by_moordyn(asked, ONE_MODE, 60.0, 5e-4, False)
    pair = float(ours.std(0).max()), float(theirs.std(0).max())
    yield Row("vortices", "one mode, largest root mean square [m]", pair[0], "MoorDyn", pair[1], over(*pair), 0.02)
    pair = frequency(ours), frequency(theirs)
    yield Row("vortices", "one mode, frequency [Hz]", pair[0], "MoorDyn", pair[1], over(*pair), 0.01)
    states = across(asked, MANY_MODES, 240.0, [0, 1, 2])
    sizes = [state.std(0) for state in states]
    for dt, is_turned in ((1e-3, False), (5e-4, True)):
        theirs = across_by_moordyn(asked, MANY_MODES, 240.0, dt, is_turned)
        size = theirs.std(0)
        off = [float(np.linalg.norm(each - size) / np.linalg.norm(size)) for each in sizes]
        near = int(np.argmin(off))
        where = "from its upper end" if is_turned else "from its lower end"
        yield Row("vortices", f"many modes, line {where}: root mean square [m]; difference: that of all nodes",
                  float(np.sqrt((sizes[near] ** 2).mean())), "MoorDyn", float(np.sqrt((size**2).mean())), off[near],
                  0.05)  # fmt: skip
        pair = frequency(states[near]), frequency(theirs)
        yield Row("vortices", f"many modes, line {where}: frequency [Hz]", pair[0], "MoorDyn", pair[1], over(*pair),
                  0.02)  # fmt: skip


STRAINS = 2e-3 * np.arange(30)
ORIGINAL = 8.2e7 * STRAINS * (1.0 - 12.0 * STRAINS + 100.0 * STRAINS**2)
WORKING = {"QUADRATIC": (0.25, 0.8), "EXP": (0.2, 1.5), "LINEAR": (0.3, 0.0)}
ROPE = """One rope
--- LINE TYPES ---
LineType  Diam    MassDenInAir    EA                      BA/-zeta      EI      Can   Cat  Cdn   Cdt
(-)       (m)       (kg/m)        (-)                     (Pa-s/-)      (n-m^2) (-)   (-)  (-)   (-)
poly      0.203     40      SYROPE:syrope.dat|1.53e8|23.12  5.0e10|0   0.0    0.0   0.0   0.0  0.0
--- POINTS ---
Node      Type      X         Y         Z        M        V         CdA   CA
(-)       (-)      (m)       (m)       (m)      (kg)     (m^3)     (m^2)  (-)
1         Fixed    0.0        0       -5.0       0        0          0     0
2         Coupled  {far!r}      0       -5.0       0        0          0     0
--- LINES ---
Line     LineType NodeA     NodeB  UnstrLen   NumSegs     Flags/Outputs
(-)      (-)       (-)       (-)    (m)         (-)          (-)
1        poly       2         1     1.0          1          -
--- SYROPE IC ---
Line(s)   Tmax0    Tmean0
(-)        (N)      (N)
1       1.0e6     {mean!r}
--- SOLVER OPTIONS ---
0      g
0.05   dtM
70       WtrDpth
0.0    TmaxIC
--- need this line ---
"""
STRETCHED = """*NODE
1, 0., 0., 0.
2, {far!r}, 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*MATERIAL, NAME=M
{law}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*REST LENGTH
LINE, 1.
*AMPLITUDE, NAME=A, TIME=TOTAL TIME
{path}
*BOUNDARY
1, 1, 3
2, 1, 3
*STEP, NLGEOM, INC=10000000
*VISCO
0.25, {seconds}, , 0.25
*BOUNDARY, AMPLITUDE=A
2, 1, 1, 1.
*EL PRINT, ELSET=LINE
T
*END STEP
"""
PULLED, FAR = 4000.0, 1.014
"""Seconds; the place of the rope's end at first."""


def polyester(asked: Asked) -> Iterable[Row]:
    """Two slow cycles of the mean strain, the second of which goes beyond the largest so far, with waves of 12 s."""
    import fem
    from fem.codes.from_moordyn import law_lines
    from fem.codes.moordyn_files import read

    curve = "\n".join(f"{strain:.4f} {tension:.1f}" for strain, tension in zip(STRAINS, ORIGINAL, strict=True))
    (asked.folder / "owc.dat").write_text(f"---Polyester---\nStrain Tension\n(-) (N)\n{curve}")

    def way(t: np.ndarray) -> np.ndarray:
        mean = 0.003 * (1.0 - np.cos(4.0 * np.pi * t / PULLED)) + 0.004 * np.minimum(2.0 * t / PULLED, 1.0)
        return np.asarray(mean + 0.0008 * np.sin(2.0 * np.pi * t / 12.0))

    coarse, fine = np.arange(0.0, PULLED + 0.1, 0.25), np.arange(0.0, PULLED + 0.01, 0.05)
    path = "\n".join(f"{t!r}, {w!r}" for t, w in zip(coarse.tolist(), way(coarse).tolist(), strict=True))
    for form, (k1, k2) in WORKING.items():
        (asked.folder / "syrope.dat").write_text(f"owc.dat OWC\n{form} WCType\n{k1} k1\n{k2} k2\n")
        file = asked.folder / "rope.txt"
        file.write_text(ROPE.format(far=FAR, mean=9.3e5))
        moorings = read(file)
        made = moorings.types["poly"]
        law = "\n".join(law_lines(made, made.damping, moorings.largest[1]))
        history = fem.run(fem.parse_deck(STRETCHED.format(far=FAR, law=law, path=path, seconds=PULLED)))
        places = np.column_stack([FAR + way(fine), 0.0 * fine, -5.0 + 0.0 * fine])
        peer = asked.answer("moordyn", file=str(file), places=places.tolist(), every=0.05, nodes=[])
        theirs = np.linalg.norm(np.array(peer["forces"])[:, 0], axis=1)
        late = history.time > 500.0
        ours, other = history.of_element(1, "T")[late], np.interp(history.time[late], fine[1:], theirs)
        for what, pick in (("largest", np.argmax), ("least", np.argmin)):
            pair = float(ours[pick(ours)]), float(other[pick(other)])
            yield Row("polyester", f"{form}, {what} tension [N]", pair[0], "MoorDyn", pair[1], over(*pair), 5e-3)
        off = float(np.abs(ours - other).max() / other.max())
        yield Row("polyester", f"{form}, mean tension [N]; difference: the largest at any time",
                  float(ours.mean()), "MoorDyn", float(other.mean()), off, 5e-3)  # fmt: skip


STORMS, LONGER = 40, 20.0
"""Runs of which each has a largest value; how much longer the storm is than the run of which peaks are taken."""


def extremes(asked: Asked) -> Iterable[Row]:
    """Of the elevation of random seas of half an hour, bent as tensions are: x + 0.3 max(x, 0)^2. pyextremes fits both
    distributions by likelihood, ours is by moments for Gumbel's: with 40 values these differ by their scatter."""
    from fem.show.extremes import count_over, peaks_over, tail_extreme
    from fem.show.series import gumbel

    t, rng, largest, peaks, means = np.arange(0.0, 1800.0, 0.25), np.random.default_rng(11), [], [], []
    omega = np.linspace(0.35, 1.4, 400)
    power = (0.6 / omega) ** 5 * np.exp(-1.25 * (0.6 / omega) ** 4)
    size = np.sqrt(2.0 * power / power.sum())
    for _ in range(STORMS):
        x = (np.exp(1j * (np.outer(t, omega) + rng.uniform(0.0, 2.0 * np.pi, len(omega)))) @ size).real
        y = x + 0.3 * np.maximum(x, 0.0) ** 2
        largest.append(float(y.max()))
        peaks.append(peaks_over(y, float(y.mean())))
        means.append(float(y.mean()))
    job = [(its.tolist(), count_over(len(its))) for its in peaks[:5]]
    peer = asked.answer("pyextremes", peaks=job, largest=[largest], longer=LONGER)
    for k, theirs in enumerate(peer["pareto"]):
        ours = tail_extreme(peaks[k], means[k], LONGER).value
        yield Row("extremes", f"Pareto of {job[k][1]} peaks, sea {k + 1}, in {LONGER:g} times", ours, "pyextremes",
                  theirs, over(ours, theirs), 5e-3)  # fmt: skip
    (mode, beta), (theirs, scale) = gumbel(np.array(largest)), peer["gumbel"][0]
    pair = mode + beta * math.log(LONGER), theirs + scale * math.log(LONGER)
    yield Row("extremes", f"Gumbel of {STORMS} seas: in {LONGER:g} times the time", *pair[:1], "pyextremes", pair[1],
              over(*pair), 0.05)  # fmt: skip


PARTS: dict[str, Callable[[Asked], Iterable[Row]]] = {
    "offsets": offsets, "ends": ends, "bottom": bottom, "vortices": vortices, "polyester": polyester,
    "extremes": extremes,
}  # fmt: skip


def line_of(row: Row) -> str:
    """A row of the Markdown table."""
    verdict = "ok" if row.off <= row.limit else "BEYOND"
    numbers = f"{row.ours:.6g} | {row.peer} | {row.theirs:.6g} | {100.0 * row.off:.2g} % | {100.0 * row.limit:g} %"
    return f"| {row.part} | {row.what} | {numbers} | {verdict} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1: a difference is beyond its limit."""
    top = argparse.ArgumentParser(prog="benchmarks moorings", description="Moorings beside other programs.")
    top.add_argument("parts", metavar="PART", nargs="*", help=f"of {', '.join(PARTS)} (default: all)")
    top.add_argument("--peer-python", default=sys.executable, help="interpreter with moorpy, moordyn, pyextremes")
    options = top.parse_args(arguments)
    if unknown := [part for part in options.parts if part not in PARTS]:
        top.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    print("| part | number | fem | program | its answer | difference | limit | |\n|---|---|---|---|---|---|---|---|")
    beyond = 0
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                for row in PARTS[part](Asked(options.peer_python, Path(folder))):
                    print(line_of(row), flush=True)
                    beyond += not row.off <= row.limit
            except MissingPeerError as missing:
                print(f"{part}: left out: {missing}", flush=True)
    return int(beyond > 0)
