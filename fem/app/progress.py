"""How far a run is, from the files it writes while it goes on."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fem.files import open_regular
from fem.runs.own import read_record
from fem.runs.run_record import RUN_RECORD

COLUMNS: dict[str, type] = dict.fromkeys(("step", "increment", "iterations"), int)
COLUMNS |= dict.fromkeys(("time", "residual_norm", "energy_error"), float)
"""What is told of the last line of ``increments.csv``."""
TAIL = 4096
"""Bytes at the end of a table in which its last line is."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The last increment of a run; ``fraction`` of the time of all steps, None where it is not known."""

    step: int = 0
    steps: int = 0
    increment: int = 0
    time: float = 0.0
    iterations: int = 0
    residual_norm: float = 0.0
    energy_error: float = 0.0
    fraction: float | None = None
    verdict: str = ""

    def said(self) -> str:
        """In a line of words."""
        where = f"step {self.step} of {self.steps}, increment {self.increment}, time {self.time:.6g}"
        how = f"{self.iterations} iterations, residual {self.residual_norm:.1e}, energy error {self.energy_error:.1e}"
        return f"{where}, {how}"


def progress_of(folder: Path) -> Progress | None:
    """Of the run in a folder; None where nothing is written yet."""
    record = read_record(folder / RUN_RECORD)
    if not record:
        return None
    steps, row = record.get("settings", {}).get("steps", []), last_row(folder / "increments.csv")
    found = Progress(steps=len(steps), verdict=str(record.get("verdict", "")))
    whole = sum(float(step.get("procedure", {}).get("period") or 0.0) for step in steps)  # a frequency step takes none
    try:
        numbers: dict[str, Any] = {name: read(row[name]) for name, read in COLUMNS.items() if name in row}
    except ValueError:  # a table of another program
        return found
    return replace(found, fraction=min(1.0, numbers.get("time", 0.0) / whole) if whole > 0.0 else None, **numbers)


def last_row(path: Path) -> dict[str, str]:
    """The last whole line of a table by its columns, numbers as they stand; nothing without one."""
    try:
        with open_regular(path) as file:
            head = file.readline(TAIL)
            start = file.tell()
            file.seek(max(start, os.fstat(file.fileno()).st_size - TAIL))
            lines = file.read().split(b"\n")[:-1]  # what follows the last end of a line is not whole
    except OSError:
        return {}
    columns = head.decode(errors="replace").strip().split(",")
    cells = lines[-1].decode(errors="replace").split(",") if lines else []
    is_whole = len(cells) == len(columns)
    return {name: cell for name, cell in zip(columns, cells, strict=True) if cell} if is_whole else {}
