"""Tables of outcomes: Markdown for people, CSV for programs."""

from __future__ import annotations

import csv
import datetime
import io
import math
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import OURS, Outcome, reference_of, verdict_of

COLUMNS = (
    "job", "program", "solve s", "ratio", "best s", "best ratio", "whole s", "iterations", "us/(element iteration)",
    "ns/(bar increment)", "peak MiB", "u - reference", "u - OpenSees", "energy error", "answer", "runs", "spread",
    "variant",
)  # fmt: skip
"""``ratio``: the peer's solve time over ours; above 1 it is slower than fem. ``best``: of the fastest passes."""
HEADERS = {"us/(element iteration)": "us/(el it)", "ns/(bar increment)": "ns/(bar inc)"}


def number(value: float, form: str = ".3g") -> str:
    """A number, or a dash for none."""
    return "-" if math.isnan(value) else format(value, form)


def rows_of(outcomes: Sequence[Outcome], known: Mapping[str, Any]) -> list[dict[str, str]]:
    """One row per outcome of one job, ours first."""
    ours = next(outcome for outcome in outcomes if outcome.program == OURS)
    opensees = next((outcome.answer for outcome in outcomes if outcome.program == "OpenSees"), {})
    reference = reference_of(ours.job, dict(known))
    return [row_of(outcome, ours, reference, opensees, outcomes) for outcome in outcomes]


def row_of(
    outcome: Outcome, ours: Outcome, reference: dict[str, Any], opensees: dict[str, Any], others: Sequence[Outcome]
) -> dict[str, str]:
    """The cells of one outcome."""
    is_peer = outcome is not ours and bool(outcome.runs)
    remarks = [outcome.answer.get("variant", ""), "round-off floor" if outcome.answer.get("notes") else ""]
    cells = (
        outcome.job.name,
        outcome.program,
        number(outcome.seconds, ".4g") if outcome.runs else outcome.failed,
        number(outcome.seconds / ours.seconds if is_peer else math.nan),
        number(outcome.best, ".4g"),
        number(outcome.best / ours.best if is_peer else math.nan),
        number(outcome.whole),
        str(outcome.iterations or "-"),
        number(outcome.microseconds, ".4f"),
        number(outcome.nanoseconds),
        number(outcome.median("peak_mib"), ".0f"),
        number(outcome.distance(reference), ".1e"),
        number(outcome.distance(opensees) if outcome.program != "OpenSees" else math.nan, ".1e"),
        number(outcome.answer.get("energy_error", math.nan), ".1e"),
        verdict_of(outcome, reference, () if is_peer else others),
        str(len(outcome.runs)),
        number(outcome.spread, ".0%"),
        "; ".join(filter(None, remarks)),
    )
    return dict(zip(COLUMNS, cells, strict=True))


def markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """A table with aligned columns, so that it reads in a terminal, too."""
    return aligned([[HEADERS.get(name, name) for name in COLUMNS], *([row[name] for name in COLUMNS] for row in rows)])


def aligned(cells: Sequence[Sequence[str]]) -> str:
    """The same of any cells, the first line of which are the names of the columns."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def csv_text(rows: Sequence[Mapping[str, str]]) -> str:
    """The same as CSV."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def machine() -> str:
    """Processor, cores, system and Python in one line."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [
            line.partition(":")[2].strip() for line in information.read_text().splitlines() if "model name" in line
        ]
        processor = names[0] if names else processor
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{processor}, {os.cpu_count()} cores, {system}"


def occasion(load: float) -> str:
    """When and on what was measured, and the load average at the start."""
    now = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    return f"{now}; {machine()}; load average at the start {load:.2f}"


def write_report(folder: Path, rows: Sequence[Mapping[str, str]], remarks: Sequence[str], load: float) -> list[Path]:
    """``benchmarks.md`` and ``benchmarks.csv`` in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    head = [
        "# Benchmarks",
        f"{occasion(load)}; one thread, every run in a fresh process, programs"
        " in turn. `solve s`: time loop only, kernels warm, median; `ratio`: the peer's solve time over that of fem;"
        " `whole s`: the whole process of a cached `python -m fem run --no-vtk --quiet`.",
    ]
    text = "\n\n".join([*head, markdown(rows), *(f"- {remark}" for remark in remarks)]) + "\n"
    paths = [folder / "benchmarks.md", folder / "benchmarks.csv"]
    paths[0].write_text(text, encoding="utf-8")
    paths[1].write_text(csv_text(rows), encoding="utf-8")
    return paths
