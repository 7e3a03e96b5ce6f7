"""One trial, the run it disturbs, and what every disturbed run has to leave behind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("increments.csv", "nodes.csv", "elements.csv", "events.csv")
BARS = 20
ENTRY = re.compile(rb'<DataSet timestep="([^"]*)"[^>]*file="([^"]*)"/>\n')


@dataclass
class Trial:
    """What was tried, how it ended in a word or two, and what was wrong with that."""

    kind: str
    end: str
    faults: list[str] = field(default_factory=list)


def deck(increments: int) -> str:
    """A chain of 20 bars that falls, with tables and fields."""
    nodes = "".join(f"{i + 1}, {0.1 * i!r}, 0., 0.\n" for i in range(BARS + 1))
    bars = "".join(f"{i + 1}, {i + 1}, {i + 2}\n" for i in range(BARS))
    return f"""*NODE, NSET=NALL
{nodes}*ELEMENT, TYPE=T3D2, ELSET=BAR
{bars}*MATERIAL, NAME=M
*ELASTIC
2e9
*DENSITY
7800.
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1e-4
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM
0.001, {0.001 * increments!r}
*DLOAD
BAR, GRAV, 9.81, 0., -1., 0.
*NODE PRINT, NSET=NALL, FREQUENCY=5
U, V
*EL PRINT, ELSET=BAR, FREQUENCY=5
T
*NODE FILE, FREQUENCY=20
U
*EL FILE, FREQUENCY=20
T
*END STEP
"""


def command(*words: str | Path) -> list[str]:
    """``fem``, with the interpreter that runs us."""
    return [sys.executable, "-m", "fem", *map(str, words)]


def environment() -> dict[str, str]:
    """Ours, with this program on the path; runs wait for machine code: their bytes are compared."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "FEM_COMPILER": os.environ.get("FEM_COMPILER", "wait")}


def reference(work: Path, increments: int) -> tuple[Path, float]:
    """An undisturbed run in ``work/whole``, and its seconds. What is not compiled yet is before."""
    (work / "long.inp").write_text(deck(increments))
    subprocess.run(command("warmup"), env=environment(), check=True, stdout=subprocess.DEVNULL, timeout=300)
    begun = time.monotonic()
    run = command("run", "long.inp", "--output", "whole", "--quiet")
    subprocess.run(run, cwd=work, env=environment(), check=True, timeout=300)
    return work / "whole", time.monotonic() - begun


def record_of(folder: Path) -> dict[str, Any]:
    """``run.json``."""
    found: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return found


def listed(folder: Path) -> list[tuple[bytes, str]]:
    """Times and files of the list of fields; none where there is no list."""
    path = folder / "long.pvd"
    return [(time, file.decode()) for time, file in ENTRY.findall(path.read_bytes())] if path.exists() else []


def faults_of_tables(folder: Path, whole: Path, may_be_cut: bool = False) -> list[str]:
    """Tables are the beginning of those of the whole run, in whole lines."""
    faults = []
    for name in TABLES:
        if not (folder / name).exists():
            continue
        content = (folder / name).read_bytes()
        if not (whole / name).read_bytes().startswith(content):
            faults.append(f"{name} is not as in the whole run")
        if content and not content.endswith(b"\n") and not may_be_cut:
            faults.append(f"{name} ends in half a line")
    return faults


def faults_of_fields(folder: Path, whole: Path, all_listed: bool = True) -> list[str]:
    """Listed fields are those of the whole run, none comes twice, and (unless killed) every one is listed."""
    entries = listed(folder)
    files = [file for _, file in entries]
    faults = [] if len({time for time, _ in entries}) == len(entries) else ["a time is listed twice"]
    known = {file: time for time, file in listed(whole)}
    for instant, file in entries:
        if known.get(file) != instant or (folder / file).read_bytes() != (whole / file).read_bytes():
            faults.append(f"{file} is not as in the whole run")
    there = sorted(f"vtu/{path.name}" for path in (folder / "vtu").glob("*.vtu"))
    missing = [file for file in files if file not in there]
    if missing or (all_listed and there != sorted(files)):
        faults.append(f"{len(there)} fields, {len(files)} listed")
    return faults


def faults_of_leftovers(folder: Path) -> list[str]:
    """Nothing of the machinery stays."""
    return [f"{path.name} is left" for path in folder.rglob("*") if ".fem-" in path.name or path.suffix == ".tmp"]


def faults_of_rerun(work: Path, output: Path, whole: Path) -> list[str]:
    """The same deck in the same folder gives the bytes of an undisturbed run."""
    run = command("run", "long.inp", "--output", output, "--quiet")
    done = subprocess.run(run, cwd=work, env=environment(), capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        return [f"the next run ends with {done.returncode}: {done.stderr.strip()[-200:]}"]
    contents = [
        {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file() and p.name != "run.json"}
        for place in (output, whole)
    ]
    return [] if contents[0] == contents[1] else ["the next run gives other bytes"]
