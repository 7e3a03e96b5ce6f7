"""W5: 10,000 one-bar pendulums whose support shakes by different amounts, as lanes of one march."""

from __future__ import annotations

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.decks import FOLDER
from benchmarks.jobs import GRAVITY, PERIOD, Job

MODELS = 10_000
INCREMENTS = 1000
LARGEST = 0.05
"""Metres of support motion of the last model; the first one has none."""
OMEGA = 5.0
CHECKED = 5
"""Models that are run alone, too."""
TOLERANCE = 1e-9
"""Metres between a lane and the same model alone."""
PASSES = 3


def deck_text(shake: float = LARGEST, increments: int = INCREMENTS) -> str:
    """The pendulum of W1 with a pin that moves vertically by SHAKE sin(OMEGA t)."""
    dt = PERIOD / 400
    limit = Job("W1", 1, dt, increments).residual_limit
    return f"""*HEADING
Benchmark W5: one of {MODELS} pendulums (python -m benchmarks W5)
*PARAMETER
SHAKE = {shake!r}
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*NSET, NSET=TIP
2
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
*SOLID SECTION, ELSET=BARS, MATERIAL=CABLE, MASS=LUMPED, STRAIN=ENGINEERING
1.
*MATERIAL, NAME=CABLE
*ELASTIC
1e8
*DENSITY
1.
*AMPLITUDE, NAME=SHAKING, DEFINITION=PERIODIC
1, {OMEGA!r}, 0., 0.
0., 1.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM, EXTRAPOLATION=PARABOLIC
*DYNAMIC, DIRECT
{dt!r}, {dt * increments!r}
*CONTROLS, RESI_GLOB_MAXI={limit!r}
*BOUNDARY, AMPLITUDE=SHAKING
1, 3, 3, <SHAKE>
*DLOAD
BARS, GRAV, {GRAVITY!r}, 0., 0., -1.
*NODE PRINT, NSET=TIP, FREQUENCY=100
U
*END STEP
"""


def models(deck: Path, count: int) -> list[Any]:
    """One for each amplitude."""
    from fem.deck import deck_reader

    read = deck_reader(deck, ["SHAKE"])
    return [read({"SHAKE": float(by)}) for by in np.linspace(0.0, LARGEST, count)]


def measure(count: int = MODELS, increments: int = INCREMENTS) -> dict[str, float]:
    """Seconds of the march alone (wall and processor), of the whole ensemble and of the sweep from deck to table, and
    how far lanes are from runs."""
    import fem
    from fem.study.lanes import run
    from fem.study.lanes.pack import WIDTH

    with TemporaryDirectory() as folder:
        deck = Path(folder) / "W5.inp"
        deck.write_text(deck_text(increments=increments), encoding="utf-8")
        everything = models(deck, count)
        for every in (0, increments):  # compile, or load: what sweeps take, and what is timed alone
            list(run.march_together(everything[:8], every))
        swept = []
        for number in range(PASSES):
            output = Path(folder) / f"pass{number}"
            began = time.perf_counter()
            fem.sweep(deck, {"SHAKE": np.linspace(0.0, LARGEST, count)}, output=output, workers=1)
            swept.append(time.perf_counter() - began)
    march = run.march_all
    marching: list[tuple[float, float]] = []

    def timed(*arguments: Any) -> bool:
        wall, processor = time.perf_counter(), time.process_time()
        is_done = march(*arguments)
        marching.append((time.perf_counter() - wall, time.process_time() - processor))
        return is_done

    whole = []
    run.march_all = timed
    try:
        for _ in range(PASSES):
            began = time.perf_counter()
            results = list(run.march_together(everything, max(1, increments // 10)))
            whole.append(time.perf_counter() - began)
    finally:
        run.march_all = march
    places = {number: (marched, lane) for marched in results for number, lane in marched.numbers.items()}
    chosen = np.linspace(0, count - 1, min(CHECKED, count)).astype(int)
    distance = 0.0
    for number in set(chosen.tolist()) & set(places):
        (marched, lane), alone = places[number], fem.run(everything[number], output_every=max(1, increments // 10))
        shown = marched.rows.motion[:, 0, :, :, lane // WIDTH, lane % WIDTH]
        distance = max(distance, float(np.abs(shown - alone.motion[:, 0, marched.rows.nodes]).max()))
    wall, processor = (sorted(series)[len(series) // 2] for series in zip(*marching, strict=True))
    advanced = count * increments
    return {
        "march_seconds": wall,
        "march_processor_seconds": processor,
        "whole_seconds": sorted(whole)[len(whole) // 2],
        "sweep_seconds": sorted(swept)[len(swept) // 2],
        "iterations": float(np.mean([marched.solves[lane] for marched, lane in places.values()]) / increments),
        "millions_per_core": advanced / processor / 1e6,
        "in_lanes": float(len(places)),
        "distance": distance,
    }


def report(count: int = MODELS, increments: int = INCREMENTS) -> tuple[str, bool]:
    """A line for the reader, and whether the lanes' answers are those of single runs."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    found = measure(count, increments)
    is_right = found["distance"] <= TOLERANCE
    return (
        f"W5: {count} pendulums, {increments} increments each: {found['millions_per_core']:.1f} million increments/s "
        f"per core ({found['iterations']:.2f} solves each; march {found['march_seconds']:.3f} s, with packing "
        f"{found['whole_seconds']:.2f} s, fem.sweep from deck to table {found['sweep_seconds']:.2f} s; "
        f"{found['in_lanes']:.0f} models as lanes; lane - run alone "
        f"{found['distance']:.1e} m, {'ok' if is_right else 'WRONG'}; load average {load:.1f})",
        is_right,
    )


def write_deck() -> Any:
    """Write the deck; its path."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "W5.inp"
    path.write_text(deck_text(), encoding="utf-8")
    return path
