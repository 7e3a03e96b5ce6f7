"""``fem plot``: the figures of a run, from its files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from matplotlib import rc_context
from matplotlib.figure import Figure

from fem.errors import CommandError
from fem.pictures.figures.joints import joints
from fem.pictures.figures.ledger import energies, iterations
from fem.pictures.figures.links import angles, links
from fem.pictures.figures.nodes import accelerations, displacements, velocities
from fem.pictures.figures.phase import phase, phase_angles
from fem.pictures.figures.reactions import reactions
from fem.pictures.folder import Missing, Results, open_results

Drawing: TypeAlias = Callable[[Results], Figure]
WHAT: dict[str, tuple[Drawing, ...]] = {
    "energy": (energies,),
    "iterations": (iterations,),
    "nodes": (displacements, velocities, accelerations),
    "links": (angles, links),
    "reactions": (reactions, joints),
    "phase": (phase, phase_angles),
}
"""What ``--what`` offers; a figure has the name of its function."""
METADATA = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Without software and date in the file, equal runs give equal bytes."""
DPI = 150


def write_plots(folder: Path) -> None:
    """What ``run --plot`` draws: energies, iterations, displacements, as far as the run has them."""
    results = open_results(folder)
    for draw in (energies, iterations, displacements):
        with contextlib.suppress(Missing):
            save(draw(results), folder / f"{draw.__name__}.png")


def plot(folder: Path, what: str | None, form: str, output: Path | None) -> None:
    """Draw the figures asked for, or all that the run has data for; says what was written, skipped and why.

    CommandError: no results, or nothing of what was asked for can be drawn.
    """
    results = open_results(folder)
    target = output or folder
    if target.exists() and not target.is_dir():
        raise CommandError(f"{target} is not a folder")
    if results.remark:
        print(f"note: {results.remark}")
    drawings = [draw for name in ([what] if what else WHAT) for draw in WHAT[name]]
    reasons = []
    for draw in drawings:
        try:
            figure = draw(results)
        except Missing as missing:
            reasons.append(f"no {draw.__name__.replace('_', ' ')}: {missing}")
        else:
            target.mkdir(parents=True, exist_ok=True)
            path = target / f"{draw.__name__}.{form}"
            save(figure, path)
            source = figure.get_label()
            print(f"{path} (from {source})" if source else path, flush=True)
    if len(reasons) == len(drawings):
        raise CommandError("\n".join(reasons))
    print("".join(f"{reason}\n" for reason in reasons), end="")


def save(figure: Figure, path: Path) -> None:
    """Write a figure; equal figures give equal bytes."""
    with rc_context({"svg.hashsalt": "fem", "svg.fonttype": "none", "pdf.fonttype": 42}):
        figure.savefig(path, dpi=DPI, metadata=METADATA[path.suffix[1:]])
