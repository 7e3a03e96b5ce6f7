"""Files and console lines of ``fem continue`` and ``fem orbits``."""

from __future__ import annotations

import sys
from argparse import Namespace

import numpy as np

from fem.branches.continuation import WAY, Continuation, continue_folder, follow_plan, followed
from fem.branches.figures import both_ways, branches
from fem.branches.orbits import Orbits, Search
from fem.chaos.figures import phase_plane
from fem.chaos.files import begin_anew, folder_of, tidy_points, write_table
from fem.files.whole import lines_of, replace_file
from fem.model import Model
from fem.pictures.style import save_png
from fem.results.console import as_note, say
from fem.results.frames import says_si
from fem.results.run_record import RESULTS, deck_name
from fem.runner import load
from fem.sweeping.grid import read_vary
from fem.sweeping.sweep import carry_out, first_of


def write_continuation(options: Namespace) -> int:
    """The table as a sweep has it, ``points.csv`` (a row for each point of a section), ``continue.png``."""
    asked = Continuation(options.period, options.transient, options.points, options.what, options.method)
    values, parameters = read_vary(options.vary), dict(options.parameters)
    asked = asked.decided(first_of(options.deck, parameters, values))
    plan = follow_plan(options.deck, values, options.back, parameters, asked)
    own = continue_folder(options.output, plan, options.force)
    with own:
        found = carry_out(plan, own, lambda missing: followed(plan, asked, own.path, missing), not options.quiet)
        names = [WAY, found.names[1], "n", asked.what or "value"]
        write_table(own.path / asked.figures[0], names, tidy_points(found, asked.points))
        save_png(both_ways(found, asked, says_si(plan.model.heading)), own.path / asked.figures[1])
    if not options.quiet:
        print(f"           and {', '.join(asked.figures[:2])}")
    if failures := found.failures():
        say(f"fem: error: {failures}", sys.stderr)
    return 3 if failures else 0


def write_orbits(options: Namespace) -> int:
    """``orbits.csv`` and ``orbits.png``; without ``--vary`` also the motion, ``orbit.csv``."""
    asked = Search(options.period, options.multiple, options.transient, options.what, options.depth)
    grid = read_vary(options.vary) if options.vary else None
    model = load(options.deck, dict(options.parameters))
    options.output = options.output or RESULTS / f"{deck_name(model)}_{asked.kind}"
    names = ("orbits.csv", "orbits.png", "orbit.csv")
    with folder_of(options, model, asked, names) as own:
        found = asked.find(options.deck, dict(options.parameters), grid)
        begin_anew(own, model, asked)
        replace_file(own.path / names[0], lines_of([list(found), *zip(*map(texts, found.values()), strict=True)]))
        if grid is None:
            section = found.orbits[0].section
            table = np.column_stack([section.track_time, section.track])
            write_table(own.path / names[2], ["time", *section.columns], table)
            save_png(phase_plane(section, says_si(model.heading)), own.path / names[1])
        else:
            save_png(branches(found, says_si(model.heading)), own.path / names[1])
    if not options.quiet:
        tell(found, model)
        print(f"written    in {own.path}: {', '.join(names[: 3 if grid is None else 2])}")
    return 0


def texts(column: np.ndarray) -> list[str]:
    """Cells with all their digits."""
    return [value if isinstance(value, str) else repr(value) for value in column.tolist()]


def tell(found: Orbits, model: Model) -> None:
    """What came of it, on the console."""
    for text in (*model.notices, *found.notices):
        print(as_note(text))
    if not found.name:
        print(found.orbits[0])
        return
    for text in found.bifurcations():
        print(text)
    worst = found["residual"].max()
    print(f"{len(found.orbits)} orbits on {found['branch'].max()} branches, all with |P(z) - z| <= {worst:.2g}")
