"""Answers of MoorPy, MoorDyn and pyextremes for ``python -m benchmarks moorings``, in a process of its own:
``python -m benchmarks.peer_moorings JOB.json`` prints them. The job names the program and its input."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import report


def moorpy(job: dict[str, Any]) -> dict[str, Any]:
    """Forces, end tensions and stiffness of a vessel that carries the coupled points of a file, at offsets in MoorPy's
    angles; the bottom is rigid and without friction."""
    import moorpy as package

    system = package.System(file=job["file"], g=job["gravity"], rho=job["density"], depth=job["depth"])
    vessel = system.addBody(-1, np.zeros(6))
    for point in system.pointList:
        if point.type == -1:
            vessel.attachPoint(point.number, point.r.copy())
    for line in system.lineList:
        line.cb = 0.0
    system.initialize()
    found: dict[str, Any] = {"force": [], "ends": [], "stiffness": []}
    for offset in job["at"]:
        vessel.setPosition(np.array(offset))
        for line in system.lineList:
            line.staticSolve()
        found["force"].append(vessel.getForces(lines_only=True).tolist())
        found["ends"].append([float(line.TB) for line in system.lineList])
        found["stiffness"].append(vessel.getStiffnessA(lines_only=True).tolist())
    return found


def moordyn(job: dict[str, Any]) -> dict[str, Any]:
    """Forces on the coupled points after each ``Step`` (k, points, 3), places (k, n, 3) of nodes of line 1, and what
    the output file has of each channel."""
    import moordyn as package

    path = Path(job["file"])
    os.chdir(path.parent)
    places, every = np.array(job["places"]), job["every"]
    system = package.Create(path.name)
    package.SetVerbosity(system, package.LEVEL_ERR)
    package.Init(system, places[0].tolist(), [0.0] * places.shape[1])
    line, forces, nodes = package.GetLine(system, 1), [], []
    for k, (here, there) in enumerate(pairwise(places)):
        forces.append(package.Step(system, here.tolist(), ((there - here) / every).tolist(), k * every, every))
        nodes.append([package.GetLineNodePos(line, node) for node in job["nodes"]])
    package.Close(system)
    written, channels = path.with_suffix(".out"), {}
    if written.exists():
        names, _, *rows = written.read_text().splitlines()
        channels = dict(zip(names.split(), np.array([row.split() for row in rows], float).T.tolist(), strict=True))
    return {"forces": np.reshape(forces, (len(forces), -1, 3)).tolist(), "nodes": nodes, "channels": channels}


def pyextremes(job: dict[str, Any]) -> dict[str, Any]:
    """What a generalised Pareto distribution of the peaks over a threshold, by maximum likelihood, expects to be
    exceeded once in so many times their time; mode and scale of a Gumbel distribution of largest values."""
    import pandas
    from pyextremes import EVA

    found: dict[str, Any] = {"pareto": [], "gumbel": []}
    for peaks, over in job["peaks"]:
        each = EVA(pandas.Series(peaks, index=pandas.date_range("2000-01-01", periods=len(peaks), freq="10s")))
        each.get_extremes(method="POT", threshold=sorted(peaks)[-over - 1], r="1s")
        each.fit_model(model="MLE", distribution="genpareto")
        size = pandas.Timedelta(seconds=10.0 * len(peaks))
        found["pareto"].append(float(each.get_return_value(job["longer"], return_period_size=size)[0]))
    for largest in job["largest"]:
        days = pandas.date_range("2000-01-01", periods=len(largest), freq="D")
        each = EVA(pandas.Series(largest, index=days))
        each.get_extremes(method="BM", block_size="1D")
        each.fit_model(model="MLE", distribution="gumbel_r")
        fit = each.model.fit_parameters
        found["gumbel"].append([float(fit["loc"]), float(fit["scale"])])
    return found


PEERS = {"moorpy": moorpy, "moordyn": moordyn, "pyextremes": pyextremes}


def main(path: str) -> None:
    """Packages print progress: that goes to stderr."""
    job = json.loads(Path(path).read_text(encoding="utf-8"))

    def run() -> dict[str, Any]:
        with redirect_stdout(sys.stderr):
            return PEERS[job["peer"]](job)

    report(run)


if __name__ == "__main__":
    main(sys.argv[1])
