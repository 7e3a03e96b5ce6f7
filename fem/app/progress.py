"""How far a run is, from the files it writes while it goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fem.results.run_record import RUN_RECORD

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
    residual: float = 0.0
    energy_error: float = 0.0
    fraction: float | None = None
    verdict: str = ""

    def said(self) -> str:
        """In a line of words."""
        where = f"step {self.step} of {self.steps}, increment {self.increment}, time {self.time:.6g}"
        how = f"{self.iterations} iterations, residual {self.residual:.1e}, energy error {self.energy_error:.1e}"
        return f"{where}, {how}"


def progress_of(folder: Path) -> Progress | None:
    """Of the run in a folder; None where nothing is written yet."""
    record = record_of(folder)
    if record is None:
        return None
    periods = [period_of(step) for step in record.get("settings", {}).get("steps", [])]
    verdict, row = str(record.get("verdict", "")), last_row(folder / "increments.csv")
    try:
        time = float(row.get("time", 0.0))
        fraction = min(1.0, time / sum(periods)) if sum(periods) > 0.0 else None
        numbers: dict[str, float] = {name: int(row.get(name, 0)) for name in ("step", "increment", "iterations")}
        numbers |= {"time": time, "residual": float(row.get("residual_norm", 0.0))}
        numbers |= {"energy_error": float(row.get("energy_error", 0.0))}
    except ValueError:  # a table of another program
        return Progress(steps=len(periods), verdict=verdict)
    return Progress(steps=len(periods), fraction=fraction, verdict=verdict, **numbers)  # type: ignore[arg-type]


def record_of(folder: Path) -> dict[str, Any] | None:
    """``run.json`` of a folder; None where there is none, or none that can be read."""
    try:
        found = json.loads((folder / RUN_RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def period_of(step: dict[str, Any]) -> float:
    """Time that a step takes; a frequency step takes none."""
    return float(step.get("procedure", {}).get("period") or 0.0)


def last_row(path: Path) -> dict[str, str]:
    """The last whole line of a table by its columns, numbers as they stand; nothing without one."""
    try:
        with path.open("rb") as file:
            head = file.readline()
            start = file.tell()
            file.seek(max(start, path.stat().st_size - TAIL))
            lines = file.read().split(b"\n")[:-1]  # what follows the last end of a line is not whole
    except OSError:
        return {}
    columns = head.decode(errors="replace").strip().split(",")
    cells = lines[-1].decode(errors="replace").split(",") if lines else []
    is_whole = len(cells) == len(columns)
    return {name: cell for name, cell in zip(columns, cells, strict=True) if cell} if is_whole else {}
