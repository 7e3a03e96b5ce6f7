"""``fem plot``: the figures of a run, from its files."""

from __future__ import annotations

import contextlib
import tempfile
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from typing import TypeAlias

from matplotlib.figure import Figure

from fem.arrays import Say
from fem.commands.files import is_marked
from fem.errors import CommandError, listed
from fem.runs.history import History
from fem.runs.own import FEW, check_file, deck_name, others, usable_folder
from fem.runs.read import Missing, Results, open_results
from fem.show.curves import MOTIONS, displacements, energies, iterations, load_factor, reactions, response
from fem.show.links import angles, joints, links, phase, phase_angles
from fem.show.shapes import buckling, curvature, envelope, modes, shapes, tension, touchdown
from fem.show.style import UNDATED, save

Drawing: TypeAlias = Callable[[Results], Figure]
WHAT: dict[str, tuple[Drawing, ...]] = {
    "energy": (energies,),
    "iterations": (iterations,),
    "nodes": MOTIONS,
    "links": (angles, links),
    "reactions": (reactions, joints),
    "phase": (phase, phase_angles),
    "tension": (tension, envelope, shapes),
    "curvature": (curvature,),
    "touchdown": (touchdown,),
    "response": (response,),
    "modes": (modes,),
    "buckling": (buckling,),
    "load_factor": (load_factor,),
}
"""Values of ``--what``; a figure has the name of its function."""
MAGNIFIED: dict[Drawing, Callable[[Results, float | None], Figure]] = {shapes: shapes, modes: modes, buckling: buckling}
"""Figures of shapes, which take the scale of displacements as an argument."""


def write_plots(folder: Path) -> None:
    """Draws the figures of ``run --plot``: energies, iterations, displacements, as far as there are data."""
    results = open_results(folder)
    for draw in (energies, iterations, displacements):
        with contextlib.suppress(Missing):
            save(draw(results), folder / f"{draw.__name__}.png", results.mark)


class Pictures(list[Path]):
    """Files of figures; a notebook shows what is in them."""

    def _repr_html_(self) -> str:
        return "".join(map(shown, filter(Path.is_file, self)))


def shown(path: Path) -> str:
    """A picture as HTML, with its content; a file that browsers do not show in a page, as its name."""
    if path.suffix == ".pdf":
        return f"<p>{escape(str(path))}</p>"
    kind, content = {".svg": "svg+xml"}.get(path.suffix, "png"), b64encode(path.read_bytes()).decode()
    return f'<img alt="{escape(path.stem)}" style="max-width: 100%" src="data:image/{kind};base64,{content}">'


@cache
def unnamed() -> tempfile.TemporaryDirectory[str]:
    """Where files go that nobody gave a folder; it ends with the program."""
    return tempfile.TemporaryDirectory(prefix="fem-")


def folder_with(run: str | Path | History) -> Path:
    """The results folder of a run, which is written where there is only its motion."""
    if not isinstance(run, History):
        return Path(run)
    from fem.runs.replay import write_history

    folder = Path(tempfile.mkdtemp(dir=unnamed().name)) / deck_name(run.model)
    write_history(run, folder)
    return folder


def plot(
    folder: str | Path | History,
    what: str | None = None,
    *,
    format: str = "png",
    output: str | Path | None = None,
    scale: float | None = None,
    force: bool = False,
    say: Say = lambda text: None,
) -> Pictures:
    """Draw the requested figures of a run, or all for which it has data. Returns the files written, a list of paths,
    which a notebook shows as pictures. ``history.plot()`` is the same.

    folder  results folder of a run (``fem.run(deck, output=folder)``), or the ``History`` of one
    what    one of ``WHAT``: energy, iterations, nodes, links, reactions, phase, tension, curvature, touchdown,
            response, modes, buckling, load_factor
    format  png, svg or pdf
    output  folder of the figures; None: that of the run; of a ``History`` one that ends with the program
    scale   factor on displacements in the figures of shapes and modes; None: 1, for displacements of shapes that are
            too small to be seen as much as shows them
    force   write into a folder with other files, and overwrite those of the same names
    say     function that receives messages: what is written, what is not, and why

    Raises
    ------
    CommandError  there are no results, no requested figure can be drawn, or it would overwrite other files.

    >>> _ = fem.run("inputs/sdnl100.inp", output="results/plotted")
    >>> [path.name for path in plot("results/plotted", "energy")]
    ['energies.png']
    """
    for name, value, known in (("figure", what or "energy", WHAT), ("format", format, UNDATED)):
        if value not in known:
            raise CommandError(f"there is no {name} {value!r}; there are {', '.join(known)}")
    folder = folder_with(folder)
    results, target = open_results(folder), Path(output or folder)
    drawings = [draw for name in ([what] if what else WHAT) for draw in WHAT[name]]
    if scale not in (None, 1.0) and not set(drawings) & set(MAGNIFIED):
        where = "the figures of shapes (--what tension) and modes"
        raise CommandError(f"--scale magnifies displacements in {where}, not of {what}")
    is_elsewhere = usable_folder(target).is_dir() and not target.samefile(results.folder)
    strangers = [file for file in others(target) if not is_marked(target / file)] if is_elsewhere else []
    if strangers and not force:
        raise CommandError(
            f"{target} contains other files ({listed(strangers, FEW)}); nothing was drawn: choose a folder with "
            "--output FOLDER, or use --force"
        )
    for draw in drawings:
        file = f"{draw.__name__}.{format}"
        check_file(target / file, (), force, is_marked(target / file, results.mark))
    if results.remark:
        say(f"note: {results.remark}")
    reasons, written = [], Pictures()
    for draw in drawings:
        try:
            figure = MAGNIFIED[draw](results, scale) if draw in MAGNIFIED else draw(results)
        except Missing as missing:
            reasons.append(f"no {draw.__name__.replace('_', ' ')}: {missing}")
        else:
            target.mkdir(parents=True, exist_ok=True)
            path = target / f"{draw.__name__}.{format}"
            save(figure, path, results.mark)
            written.append(path)
            source = figure.get_label()
            say(f"{path} (from {source})" if source else str(path))
    if len(reasons) == len(drawings):
        raise CommandError("\n".join(reasons))
    for reason in reasons:
        say(reason)
    return written
