"""Folders, tables and console output of the commands of this package."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fem.commands.files import replace_file, write_table
from fem.deck import read_model
from fem.errors import CommandError
from fem.model import Model
from fem.model.quantities import says_si
from fem.runs.console import as_note, in_lines
from fem.runs.fields import Skeleton
from fem.runs.own import Names, OwnFolder, claim, deck_entry
from fem.runs.progress import Progress
from fem.study.basins import Basins, basins_in, settling_of
from fem.study.branches import Orbits, Search
from fem.study.certainty.recorded import recorded_of
from fem.study.continuation import WAY, Continuation, follow_plan, followed
from fem.study.exponents import Lyapunov, beyond_bar, running_rates
from fem.study.load_cases import write_load_cases
from fem.study.mooring import HEADINGS, LINE, MOTIONS, Moored, Mooring, direction, mooring
from fem.study.points import make_grid, points_of, read_vary
from fem.study.question import Study
from fem.study.rigidity import Rigidity, rigidity
from fem.study.row import EXTREMES, LIFE, SCATTER, Record
from fem.study.scatter import life_of, read_scatter, scatter_of, write_lives, write_seeds
from fem.study.sections import SAME, Sections, check_column
from fem.study.sweep import Plan, Scheduler, Sweep, carry_out, computed, first_of, make_plan, report_failures, run_sweep


def folder_of(options: Namespace, model: Model, study: Study, names: Sequence[str], of: str = "_one") -> OwnFolder:
    """``--output``, else ``results/<deck>_<kind>_one/``. CommandError: it holds what is not ours."""
    record = f"{study.kind}.json"
    return claim(model, options.output, record, Names(frozenset((record, *names))), study.kind + of, options.force)


def deck_of(model: Model, study: Study) -> dict[str, Any]:
    """The deck and the settings of a study, for its record."""
    return {"deck": deck_entry(model) | dict(study.settings)}


def draw(path: Path, figure: str, *what: Any) -> None:
    """Saves a figure of ``figures.py``. matplotlib is imported here only, because studies of short runs take no longer
    than it."""
    from fem.show.style import save_png
    from fem.study import figures

    save_png(getattr(figures, figure)(*what), path)


def write_extremes(
    sweep: Sweep, folder: Path, plan: Plan, record: Record, occurrences: Path | None, is_quiet: bool
) -> None:
    """Lives from a scatter diagram, statistics over seeds, load cases, then the figure."""
    found = {name: np.where(sweep.failed, np.nan, sweep[name]) for name in record.columns()}
    written, lives = [EXTREMES], []
    scatter = scatter_of(plan.grid) if occurrences is None else read_scatter(occurrences, sweep.parameters)
    if scatter is not None and record.slope is not None:
        lives = [life_of(name, found, scatter, sweep.parameters) for name in record.what]
        write_lives(lives, scatter, folder / SCATTER, folder / LIFE)
        written += [SCATTER, LIFE]
    if not is_quiet:
        print(f"           and {', '.join(written)}")
        for life in lives:
            print(life)
    table = sweep.over_cases()
    write_seeds(sweep, sweep.names, folder, is_quiet, is_listed=table is None)
    if table is not None:
        write_load_cases(table, folder, plan.form, is_quiet)
    if table is not None and len(set(table["case"].tolist())) <= MOST_CASES:
        draw(folder / EXTREMES, "expected_extremes", table, sweep.is_si)
    else:
        draw(folder / EXTREMES, "extremes", found, sweep.parameters, record.what, sweep.is_si)


MOST_CASES = 40
"""Number of cases whose names a figure has room for."""


def write_sweep(options: Namespace) -> int:
    """``fem sweep``: the table, with ``--record`` the figure of extremes, statistics over seeds."""
    curve = options.slope, options.constant, options.strength, options.goodman
    if options.record is None:
        asked = options.step, options.start, *curve, options.occurrences, options.duration, options.error_bars
        if asked != (None, float("-inf"), *6 * (None,), False):
            raise CommandError(
                "--step, --from, --slope, --constant, --occurrences, --duration and --error-bars need --record"
            )
        return run_sweep(options, draw=lambda sweep, folder, _: write_seeds(sweep, sweep.names, folder, options.quiet))
    record = Record(options.record, options.step, options.start, *curve, options.duration, options.error_bars)
    if options.occurrences:
        if options.cases and scatter_of(points_of(options)):
            raise CommandError(f"{options.cases} has shares of time already: use it without --occurrences")
        if record.slope is None:
            raise CommandError("--occurrences also needs --slope m and --constant K of N = K range^-m")
        read_scatter(options.occurrences, points_of(options).columns())
    draw = partial(write_extremes, record=record, occurrences=options.occurrences, is_quiet=options.quiet)
    return run_sweep(options, partial(recorded_of, record=record), draw)


ROWS = 200
"""Number of rows of the table of convergence."""


def write_lyapunov(options: Namespace) -> int:
    """Exponents of one model: printed; what they were after part of the time in ``convergence.csv`` and ``.png``.
    With ``--vary`` a table of them."""
    study = Lyapunov(options.time, options.exponents, options.method, options.every, options.transient, options.error)
    if options.vary:
        return swept(options, study)
    model = read_model(options.deck, dict(options.parameters))
    names = ("convergence.csv", "convergence.png")
    with folder_of(options, model, study, names) as own:
        folder = own.path
        found = study.measured(model, not options.quiet)
        verdict = "" if found.is_chaotic is None else ("regular", "chaotic")[found.is_chaotic]
        own.begin({**deck_of(model, study), "verdict": verdict, "in words": found.verdict})
        running = running_rates(found.growth[:, :-1], found.growth[:, -1], ROWS)
        numbered = [f"{what}_{n}" for what in ("exponent", "error") for n in range(1, study.count + 1)]
        write_table(folder / names[0], ["time", *numbered], np.column_stack(running).tolist())
        draw(folder / names[1], "convergence", *running, found.verdict, says_si(model.heading))
    if not options.quiet:
        print(found)
        if found.moved.any():
            print("note: dt matters: at dt/2 an exponent changes by more than its error bar; use smaller increments")
        elif study.again != "none" and np.isnan(found.dt_errors).all():
            print("note: the effect of dt is unknown: increments are not equal, or are chosen by the solver")
        print(in_lines(found.verdict, 2))
        print(f"written    in {folder}: convergence.csv, convergence.png")
    return 0


def write_sections(options: Namespace) -> int:
    """Section of one model: ``section.csv``, the motion of the last periods in ``track.csv``, ``section.png``.
    With ``--vary`` a table of them."""
    study = Sections(options.period, options.cycles, options.points, options.what)
    if options.vary:
        first = first_of(options.deck, dict(options.parameters), read_vary(options.vary))
        return swept(options, study.decided(first))
    model = read_model(options.deck, dict(options.parameters))
    check_column(model, study.what)
    with folder_of(options, model, study, ("section.csv", "track.csv", "section.png")) as own:
        folder = own.path
        section = study.section(model, not options.quiet)
        own.begin(deck_of(model, study))
        names = ["time", *section.columns]
        write_table(folder / "section.csv", names, np.column_stack([section.time, section.points]).tolist())
        write_table(folder / "track.csv", names, np.column_stack([section.track_time, section.track]).tolist())
        draw(folder / "section.png", "phase_plane", section, says_si(model.heading))
    if not options.quiet:
        print(f"period {section.period}, in periods of the excitation" if section.period else "aperiodic")
        print(f"written    in {folder}: section.csv, track.csv, section.png")
    return 0


def swept(options: Namespace, study: Lyapunov | Sections) -> int:
    """One row for each combination of parameters, then the figure."""
    return run_sweep(options, lambda _: study, partial(write_diagram, study=study, is_quiet=options.quiet))


def write_diagram(sweep: Sweep, folder: Path, _: Plan, study: Lyapunov | Sections, is_quiet: bool) -> None:
    """The figure of a sweep; of sections also the tidy table ``points.csv``, a row for each point."""
    written = study.figures
    if isinstance(study, Lyapunov):
        draw(folder / written[0], "exponents_against", sweep, sweep.is_si)
    else:
        draw(folder / written[1], "bifurcation", sweep, study, sweep.is_si)
        draw(folder / written[2], "peaks", sweep, study, sweep.is_si)
        names = [*sweep.names, "n", study.what or "value"]
        write_table(folder / written[0], names, tidy_points(sweep, study.points))
    if not is_quiet:
        print(f"           and {', '.join(written)}")
        if isinstance(study, Lyapunov):
            print("".join(as_note(text) + "\n" for text in notices(sweep, study)), end="")


def notices(sweep: Sweep, study: Lyapunov) -> list[str]:
    """Remarks on the table: parameter sets without a verdict, effect of dt."""
    open_ones = np.flatnonzero(np.isnan(sweep["chaotic"]) & ~sweep.failed)
    found = []
    if len(open_ones):
        named = "; ".join(sweep.named(int(row)) for row in open_ones[:3])
        more = f"; and {len(open_ones) - 3} more" if len(open_ones) > 3 else ""
        found.append(
            f"{len(open_ones)} of {len(sweep['point'])} parameter sets have no verdict ({named}{more}): the motion has "
            "not settled, or the verdict depends on dt; run longer (--time), or run one of them alone to see why"
        )
    return [*found, dt_notice(sweep, study.count)] if study.again != "none" else found


def dt_notice(sweep: Sweep, count: int) -> str:
    """Effect of dt, from the points that were repeated at dt/2."""
    values, errors, changes = (
        np.column_stack([sweep[f"{name}_{n}"] for n in range(1, count + 1)])
        for name in ("exponent", "error", "error_dt")
    )
    checked = int(np.isfinite(changes).any(axis=1).sum())
    moved = beyond_bar(changes, errors)
    (rows,) = np.nonzero(moved.any(axis=1))
    if not checked:
        return "the effect of dt is unknown: no parameter set could be repeated at dt/2"
    if not len(rows):
        return (
            f"at dt/2 no exponent changes by more than its error bar ({checked} of {len(changes)} parameter sets "
            "repeated)"
        )
    named = []
    for row in rows[:3]:
        n = int(np.argmax(moved[row]))
        named.append(
            f"{sweep.named(row)}: {values[row, n]:.4g} +- {errors[row, n]:.1g}; "
            f"{values[row, n] + changes[row, n]:.4g} at dt/2"
        )
    return (
        f"dt matters: for {len(rows)} of {checked} parameter sets repeated at dt/2 an exponent changes by more than "
        f"its error bar ({'; '.join(named)}); use smaller increments; --error dt checks all sets"
    )


def tidy_points(sweep: Sweep, count: int) -> Iterable[Sequence[float]]:
    """Rows: the parameters, number and value of each point of each section."""
    for row in range(len(sweep["point"])):
        values = [float(sweep[name][row]) for name in sweep.names]
        for n in range(1, count + 1):
            yield *values, float(n), float(sweep[f"point_{n}"][row])


def write_basins(found: Basins, folder: Path, model: Model) -> None:
    """``basins.csv``: each start, and where it ends at dt/2; ``attractors.csv``: a row for each point of each section.
    ``basins.png``: the picture."""
    starts = zip(*(values.tolist() for values in found.starts.values()), strict=True)
    again = ["" if number < 0 else number for number in found.again.tolist()]
    rows = zip(starts, found.attractor.tolist(), found.period.tolist(), again, strict=True)
    heads = [*found.starts, "attractor", "period", "attractor_dt"]
    write_table(folder / "basins.csv", heads, ([*start, *ends] for start, *ends in rows))
    columns = found.attractors[0].columns if found.attractors else ()
    heads = ["attractor", "period", "kind", "turns", "share", "point", *columns]
    table = [
        [of.number, of.period, of.kind, of.turns, of.share, n, *point]
        for of in found.attractors
        for n, point in enumerate(of.points.tolist(), 1)
    ]
    write_table(folder / "attractors.csv", heads, table)
    draw(folder / "basins.png", "picture", found, says_si(model.heading))


def basins(
    deck: str | Path | Model,
    grid: Mapping[str, Iterable[float]],
    *,
    parameters: Mapping[str, float] | None = None,
    period: float | str | None = None,
    transient: int = 20,
    cycles: int = 200,
    tolerance: float = SAME,
    again: bool = True,
    output: str | Path | None = None,
    workers: int | None = None,
    scheduler: Scheduler = None,
    force: bool = False,
    progress: Progress = False,
) -> Basins:
    """The attractor that each initial state of the last step of a deck reaches.

    deck        path of the ``.inp``, or a ``Model``, as for ``sweep``
    grid        name -> values; ``U1_2``: initial displacement 1 of node 2, ``V1_2``: its velocity; or a
                ``*PARAMETER`` of the deck
    parameters  other ``*PARAMETER`` values to override, the same for all initial states
    period      time between two points of a section, or the name of its ``*PARAMETER``; None: that of the deck's
                PERIODIC amplitude
    transient   periods before a section may count as settled; cycles: periods after which a motion is aperiodic
    tolerance   largest distance of points that count as the same, as a fraction of the size of the model
    again       repeat one initial state in twenty at dt/2; ``Basins.again`` has the results
    output, workers, scheduler, force, progress  as for ``sweep``; an interrupted study in the same folder continues

    Runs that never settle count as one attractor, of period 0. A run that fails has a verdict in ``sweep``.

    Raises
    ------
    CommandError  as for ``sweep``; the increments do not divide the period; there are more than 100 attractors

    >>> found = basins("inputs/string_pendulum_rigid.inp", {"theta0": [0.5, 3.1]}, parameters={"A": 0.0, "beta": 1.0})
    >>> found.attractor.tolist(), found.attractors[0].kind
    ([1, 1], 'rest')
    """

    question_of = partial(
        settling_of, period=period, transient=transient, cycles=cycles, tolerance=tolerance, again=again
    )
    plan = make_plan(deck, make_grid(grid), parameters, False, question_of)
    own = plan.folder(output, force) if output else None
    with own or nullcontext():
        compute = partial(computed, plan, workers=workers, scheduler=scheduler)
        found = basins_in(carry_out(plan, own, compute, False, progress), plan)
        if own:
            write_basins(found, own.path, plan.model)
    return found


def run_basins(options: Namespace) -> int:
    names = ("period", "transient", "cycles", "tolerance")
    settings = {name: getattr(options, name) for name in names} | {"again": options.error == "sample"}

    def draw(sweep: Sweep, folder: Path, plan: Plan) -> None:
        found = basins_in(sweep, plan)
        write_basins(found, folder, plan.model)
        if not options.quiet:
            print("\n".join([*map(str, found.attractors), f"           and {', '.join(plan.question.figures)}"]))
            if found.what_dt_does:
                print(as_note(found.what_dt_does))

    return run_sweep(options, partial(settling_of, **settings), draw)


def write_continuation(options: Namespace) -> int:
    """The table as a sweep has it, ``points.csv`` (a row for each point of a section), ``continue.png``."""
    wanted = Continuation(options.period, options.transient, options.points, options.what, options.method)
    plan = follow_plan(options.deck, read_vary(options.vary), options.back, dict(options.parameters), wanted)
    study = plan.question
    assert isinstance(study, Continuation)
    with plan.folder(options.output, options.force) as own:
        found = carry_out(plan, own, partial(followed, plan, own.path), not options.quiet)
        names = [WAY, found.names[1], "n", study.what or "value"]
        write_table(own.path / study.figures[0], names, tidy_points(found, study.points))
        draw(own.path / study.figures[1], "both_ways", found, study, says_si(plan.model.heading))
    if not options.quiet:
        print(f"           and {', '.join(study.figures[:2])}")
    return report_failures(found)


def write_orbits(options: Namespace) -> int:
    """``orbits.csv`` and ``orbits.png``; without ``--vary`` also the motion, ``orbit.csv``."""
    study = Search(options.period, options.multiple, options.transient, options.what, options.depth)
    grid = read_vary(options.vary) if options.vary else None
    model = read_model(options.deck, dict(options.parameters))
    names = ("orbits.csv", "orbits.png", "orbit.csv")
    with folder_of(options, model, study, names, of="") as own:
        found = study.find(options.deck, dict(options.parameters), grid, not options.quiet)
        own.begin(deck_of(model, study))
        write_table(own.path / names[0], list(found), zip(*(each.tolist() for each in found.values()), strict=True))
        if grid is None:
            section = found.orbits[0].section
            table = np.column_stack([section.track_time, section.track]).tolist()
            write_table(own.path / names[2], ["time", *section.columns], table)
            draw(own.path / names[1], "phase_plane", section, says_si(model.heading))
        else:
            draw(own.path / names[1], "branches", found, says_si(model.heading))
    if not options.quiet:
        print_orbits(found, model)
        print(f"written    in {own.path}: {', '.join(names[: 3 if grid is None else 2])}")
    return 0


def print_orbits(found: Orbits, model: Model) -> None:
    """Prints notices, then the orbit or the bifurcations."""
    for text in (*model.notices, *found.notices):
        print(as_note(text))
    if not found.name:
        print(found.orbits[0])
        return
    for text in found.bifurcations():
        print(text)
    worst = found["residual"].max()
    print(f"{len(found.orbits)} orbits on {found['branch'].max()} branches, all with |P(z) - z| <= {worst:.2g}")


RIGIDITY = ("rigidity.vtu", "self_stress.csv", "self_stress.png", "mechanisms.csv", "mechanisms.png", "sensitivity.csv")


def write_rigidity(options: Namespace) -> int:
    """Self-stress, mechanisms and verdict: printed; tables, figures and a field for ParaView of what there is."""
    model = read_model(options.deck, dict(options.parameters))
    own = claim(model, options.output, "rigidity.json", Names(frozenset(RIGIDITY)), "rigidity", options.force)
    with own:
        found = rigidity(model, after=options.after, tolerance=options.tolerance)
        s, m, rigid = found.sizes
        settings = {"after": options.after, "tolerance": options.tolerance}
        counts = {"states": s, "mechanisms": m, "rigid": rigid, "verdict": found.verdict}
        own.begin({"deck": deck_entry(model), "settings": settings, **counts, "singular": found.found.singular})
        write_members(own.path, found)
    for text in (*(() if options.quiet else model.notices), *found.notices):
        print(as_note(text))
    if not options.quiet:
        print(found)
        print(f"written    in {own.path}: {', '.join(sorted(own.names.among(own.path)))}")
    return 0


def write_members(folder: Path, found: Rigidity) -> None:
    """The tables, the field and the figures."""
    from fem.show.reading import places_of

    s, m, _ = found.sizes
    mesh = found.model.mesh
    states, modes = ([f"{what}_{n + 1}" for n in range(count)] for what, count in (("state", s), ("mechanism", m)))
    labels, is_si = found.elements.tolist(), says_si(found.model.heading)
    if s:
        for name, columns in (("self_stress.csv", found.states), ("sensitivity.csv", found.sensitivity.T)):
            rows = [[label, *row] for label, row in zip(labels, columns.tolist(), strict=True)]
            write_table(folder / name, ["element", *states], rows)
        draw(folder / "self_stress.png", "self_stress", found, is_si)
    if m:
        heads = [f"{name}_{axis}" for name in modes for axis in (1, 2, 3)]
        shapes = found.mechanisms.transpose(1, 0, 2).reshape(len(mesh.node_labels), -1).tolist()
        rows = [[label, *row] for label, row in zip(mesh.node_labels.tolist(), shapes, strict=True)]
        write_table(folder / "mechanisms.csv", ["node", *heads], rows)
        draw(folder / "mechanisms.png", "mechanisms", found, is_si)
    cells = np.full((len(mesh.element_labels), s + 1), np.nan)
    cells[places_of(found.elements, mesh.element_labels)] = np.column_stack([found.force, found.states])
    points = {"displacement": found.place - mesh.coordinates, **dict(zip(modes, found.mechanisms, strict=True))}
    values = dict(zip(["N", *states], cells.T, strict=True))
    replace_file(folder / "rigidity.vtu", Skeleton(found.model).field(0.0, points, values))


MOORING = ("mooring.csv", "lines.csv", "mooring.png", "K.npz", "M.npz", "K.mtx", "M.mtx", "dofs.csv")


def write_mooring(options: Namespace) -> int:
    """The mooring at rest, printed; tables and a figure over offsets; matrices."""
    model = read_model(options.deck, dict(options.parameters))
    own = claim(model, options.output, "mooring.json", Names(frozenset(MOORING)), "mooring", options.force)
    names = ("vessel", "about", "after", "offset", "points", "at", "modes")
    settings = {name: getattr(options, name) for name in names}
    settings["headings"] = HEADINGS if options.headings is None else options.headings
    with own:
        found = mooring(model, **settings)
        own.begin({"deck": deck_entry(model), "settings": settings, "stiffness": found.rest.stiffness.tolist()})
        write_offsets(own.path, found)
        if options.matrices:
            write_matrices(own.path, found)
    for text in dict.fromkeys((*model.notices, *found.notices)):
        print(as_note(text))
    print(found)
    print(f"written    in {own.path}: {', '.join(sorted(own.names.among(own.path)))}")
    return 0


def write_offsets(folder: Path, found: Mooring) -> None:
    """``mooring.csv``, ``lines.csv`` and, over offsets, the figure."""
    cells = [f"K{i}{j}" for i in range(1, 7) for j in range(1, 7)]
    places = ["heading", *MOTIONS]
    heads = [*places, "restoring", "energy", "F1", "F2", "F3", "M1", "M2", "M3", *cells]
    rows: list[list[Any]] = []
    lines: list[list[Any]] = []

    def note(heading: float | str, state: Moored, restoring: float | str, energy: float | str) -> None:
        place = [heading, *state.offset[:3].tolist(), *np.degrees(state.offset[3:]).tolist()]
        rows.append([*place, restoring, energy, *state.force.tolist(), *state.stiffness.ravel().tolist()])
        for *ends, row in zip(found.fairleads.tolist(), found.anchors.tolist(), state.lines.tolist(), strict=True):
            lines.append([*place, ends[0], ends[1] or "", *("" if np.isnan(x) else x for x in row)])

    for heading, path in found.paths.items():
        for state, energy in zip(path, found.energy[heading].tolist(), strict=True):
            note(heading, state, -float(state.force @ direction(heading)), energy)
    for state in (*([] if found.paths else [found.rest]), *found.others):
        note("", state, "", "")
    write_table(folder / "mooring.csv", heads, rows)
    write_table(folder / "lines.csv", [*places, "fairlead", "anchor", *LINE], lines)
    if found.paths:
        draw(folder / "mooring.png", "offsets", found, says_si(found.model.heading))


def write_matrices(folder: Path, found: Mooring) -> None:
    """K and M of lines and vessel, and what their rows are."""
    from io import BytesIO

    from scipy.io import mmwrite
    from scipy.sparse import save_npz

    for name, matrix in (("K", found.matrices.stiffness), ("M", found.matrices.mass)):
        for suffix, write in (("npz", save_npz), ("mtx", mmwrite)):
            file = BytesIO()
            write(file, matrix)
            replace_file(folder / f"{name}.{suffix}", file.getvalue())
    rows = [[row, *of] for row, of in enumerate(found.matrices.dofs.tolist())]
    rows += [[len(rows) + k, "vessel", what] for k, what in enumerate(MOTIONS)]
    write_table(folder / "dofs.csv", ["row", "node", "dof"], rows)
