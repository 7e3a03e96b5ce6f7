"""``fem fit`` and ``fem.fit``: parameters of a deck from measurements, with intervals, tested on what was left out."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Columns, Flags, Floats, Ints, Say
from fem.deck import read_model
from fem.deck.parameters import assigned
from fem.errors import CommandError, NoConvergence, proposal
from fem.files import lines_of, replace_file
from fem.model import Model
from fem.runner import Prepared
from fem.runs.console import as_note, say
from fem.runs.frames import says_si
from fem.runs.own import Names, OwnFolder, check_file
from fem.runs.run_record import RESULTS, as_json, deck_name, origin_of
from fem.show.style import save_png
from fem.study.figures import residuals
from fem.study.fitting import MOST_TRIALS, Misfit, Runs, Varied, certainty, in_words
from fem.study.measured import Given, Measured, Observed, read_cases, read_record
from fem.study.points import number
from fem.study.table import cells_of

FORM = "NAME=low:high, with :log or :linear behind it if wanted"
RECORD, TABLE, RESIDUALS, FIGURE = "fit.json", "fit.csv", "residuals.csv", "fit.png"
MOST_PASSES, KEPT = 6, 0.05
"""Fits with sigmas estimated from the residuals of the fit before; they end when none changes by this fraction."""
SCREENED = 10
"""Points between the bounds that are tried for each further start; the search starts from the best of them."""
LOG_RATIO = 10.0
"""From this ratio of its bounds on a parameter is varied by its logarithm."""
AT_BOUND, SAME, ROUGH = 1e-3, 1e-3, 0.5
"""Fraction of the way between bounds; of the sum of squares; ratio of second to first difference."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Parameters found by ``fem.fit``.

    parameters    name -> value
    table         fit.csv: value, 95 % interval (NaN at a bound, or where it is not determined), standard error, number
                  of independent measurements, bounds, which bound is reached
    correlation   (p, p) of the parameters; NaN at a bound
    undetermined  what the measurements cannot tell apart, in words
    sigma         column -> standard deviation used;  rms: column -> that of residuals, and of those left out of the fit
    residuals     residuals.csv: a row for each measurement
    starts        a row for each start: where its search ended, chi2 there; NaN where its runs fail
    search        checks and steps of the differences, number of runs, as in fit.json
    """

    parameters: dict[str, float]
    table: Columns
    correlation: Floats
    undetermined: tuple[str, ...]
    sigma: dict[str, float]
    rms: dict[str, tuple[float, float]]
    residuals: Columns
    starts: Columns
    search: dict[str, Any]
    is_converged: bool
    notices: tuple[str, ...]
    is_si: bool = False

    @property
    def words(self) -> str:
        """For the command line of ``fem run``."""
        return " ".join(f"--set {name}={value:.10g}" for name, value in self.parameters.items())

    def __str__(self) -> str:
        lines = ["parameter      value          95 % interval             independent measurements"]
        names = ("parameter", "value", "low", "high", "effective", "at_bound")
        for name, value, low, high, count, bound in zip(*(self.table[each].tolist() for each in names), strict=True):
            said = f"at its {bound} bound" if bound else f"{low:.6g} to {high:.6g}" if low < high else "not determined"
            lines.append(f"{name:<14} {value:<14.7g} {said:<25} " + (f"{count:.0f}" if count > 0.0 else ""))
        if len(self.parameters) > 1:
            lines.append("correlation    " + " ".join(f"{name:>9.9}" for name in self.parameters))
            for name, row in zip(self.parameters, self.correlation, strict=True):
                lines.append(f"{name:<14} " + " ".join(f"{value:9.3f}" for value in row))
        for column, (inside, outside) in self.rms.items():
            left_out = f", {outside:.4g} where left out of the fit" if np.isfinite(outside) else ""
            lines.append(f"{column:<14} rms residual {inside:.4g}{left_out}")
        return "\n".join([*map(str.rstrip, lines), *self.undetermined])


def fit(
    deck: str | Path,
    records: Iterable[Given] = (),
    vary: Mapping[str, tuple[float, float]] | Sequence[Varied] = (),
    *,
    cases: str | Path | None = None,
    parameters: Mapping[str, float] | None = None,
    sigma: Mapping[str, float] | None = None,
    starts: int = 1,
    hold_out: float = 0.0,
    step: int | None = None,
    start: float | str = 0.0,
    workers: int | None = None,
    say: Say = lambda text: None,
) -> Fit:
    """Find the parameters of a deck with which its runs agree best with measurements.

    deck        path of the ``.inp``
    records     CSV files with ``time`` and columns named as in the tables (``T_e12``, ``U3_n5``), or such columns by
                name; in a pair with the parameters of its run alone: ``("run3.csv", {"period": 1.6})``
    vary        name of a ``*PARAMETER`` -> (low, high); varied by its logarithm where high/low >= 10
    cases       CSV file with a line for each run: its parameters, and statistics such as ``T_e12_max``
    parameters  other values that override the deck's, in all runs
    sigma       column -> standard deviation of its errors; others are estimated from the residuals
    starts      number of starting points: the deck's values, then the best of ten times as many between the bounds
    hold_out    fraction of the records, or of the time of a single one, that is left out and compared afterwards
    step        times of the records count from the start of this step; None: total time
    start       time from which statistics count, or the ``*PARAMETER`` that holds it
    workers     largest number of processes; None: one per processor
    say         is told about each step of the search

    Raises
    ------
    CommandError   a record, a column, a parameter or bounds that make no sense, with file and line
    DeckError      the deck has errors with its own values
    NoConvergence  runs fail at all starts, or too often

    >>> found = fem.fit("inputs/circled_weight.inp", ["inputs/circled_weight.csv"], {"Cd": (0.3, 4.0)}, step=2,
    ...                 parameters={"EA": 21000.0, "density": 1150.0})
    >>> print(f"{found.parameters['Cd']:.2f}")
    1.34
    """
    model = read_model(deck, dict(parameters or {}))
    varied = checked_bounds(vary, model, parameters or {})
    if not 0.0 <= hold_out < 1.0:
        raise CommandError(f"a fraction of {hold_out:g} cannot be left out; expected 0 or more and below 1")
    measured = [read_record(given, n) for n, given in enumerate(records, 1)]
    measured += read_cases(cases) if cases is not None else []
    if not measured:
        raise CommandError("a fit needs measurements: a CSV file with time and columns such as T_e12, or --cases")
    prepared = Prepared(deck, parameters)
    for record in measured:
        for name in record.parameters:
            if parameter_of(model, name, f"{record.name}: ") in [one.name for one in varied]:
                raise CommandError(f"{record.name}: {name} is varied; it cannot have a value of its own, too")
        record.check(prepared.model(record.parameters), step)
    start = parameter_of(model, start, "--from: ") if isinstance(start, str) else start
    numbers = numbers_of(measured, hold_out)
    for name, value in (sigma or {}).items():
        if name not in numbers.names or not 0.0 < value < np.inf:
            why = f"{value:g} is not above zero" if name in numbers.names else proposal(name, numbers.names)
            raise CommandError(f"--sigma {name}={value:g}: expected a column and its standard deviation; {why}")
    questions = [Observed(record.columns, record.time, step, start) for record in measured]
    with ExitStack() as stack:
        runs = Runs(prepared, varied, [record.parameters for record in measured], questions, workers, stack)
        return replace(search(model, runs, numbers, sigma or {}, starts, say), is_si=says_si(model.heading))


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """All n measurements, record by record, row by row.

    record, column  (n,) which of ``records``, of ``names`` they belong to
    time            (n,) NaN of statistics
    is_used         (n,) False: left out
    """

    record: Ints
    column: Ints
    time: Floats
    measured: Floats
    is_used: Flags
    names: tuple[str, ...]
    records: tuple[str, ...]


def numbers_of(measured: Sequence[Measured], hold_out: float) -> Numbers:
    """Of several records every so many is left out, of a single one the end."""
    names = tuple(dict.fromkeys(name for record in measured for name in record.columns))
    parts = []
    for place, record in enumerate(measured):
        rows, width = record.values.shape
        is_left_out = int((place + 1) * hold_out + 1e-9) > int(place * hold_out + 1e-9)
        is_used = np.full(rows, not is_left_out) if len(measured) > 1 else np.arange(rows) < rows * (1.0 - hold_out)
        time = record.time if len(record.time) else np.full(rows, np.nan)
        columns = np.tile([names.index(name) for name in record.columns], rows)
        wide = (np.repeat(each, width) for each in (np.full(rows, place), time, is_used))
        parts.append((*wide, columns, record.values.ravel()))
    which, time, is_used, column, values = map(np.concatenate, zip(*parts, strict=True))
    return Numbers(which, column, time, values, is_used, names, tuple(record.name for record in measured))


def parameter_of(model: Model, name: str, place: str = "") -> str:
    """As the deck spells it. CommandError: there is no such parameter."""
    known = {each.upper(): each for each in model.parameters}
    if name.upper() not in known:
        raise CommandError(f"{place}the deck has no *PARAMETER {name}; {proposal(name, known.values())}")
    return known[name.upper()]


def between(name: str, low: float, high: float) -> Varied:
    return Varied(name, float(low), float(high), low > 0.0 and high >= LOG_RATIO * low)


def parse_vary(text: str) -> Varied:
    """``EA=1e6:1e9:log``."""
    name, _, right = (part.strip() for part in text.partition("="))
    low, high, scale, *more = [*right.split(":"), "", ""]
    if not (name and high) or scale not in ("", "log", "linear") or any(more):
        raise CommandError(f"{text!r} is not of the form {FORM}")
    found = between(name, number(low, text), number(high, text))
    return replace(found, is_log=scale == "log") if scale else found


def checked_bounds(
    vary: Mapping[str, tuple[float, float]] | Sequence[Varied], model: Model, fixed: Mapping[str, float]
) -> tuple[Varied, ...]:
    """CommandError: no such parameter, one that is set, or bounds that are none."""
    found: list[Varied] = []
    for one in [between(name, *ends) for name, ends in vary.items()] if isinstance(vary, Mapping) else vary:
        name = parameter_of(model, one.name)
        value, ends = model.parameters[name], f"{one.low:g} and {one.high:g}"
        if name.upper() in map(str.upper, fixed) or name in [other.name for other in found]:
            raise CommandError(f"parameter {name} is varied, and set or varied once more")
        if not (np.isfinite([one.low, one.high]).all() and one.low < one.high):
            raise CommandError(f"{name}: {ends} are not a lower and an upper bound")
        if one.is_log and not one.low > 0.0:
            raise CommandError(f"{name}: a logarithm needs bounds above zero, got {one.low:g}; write :linear")
        if not one.low <= value <= one.high:
            raise CommandError(
                f"{name}: the search starts at the deck's value {value:g}, which is not between {ends}; choose other "
                "bounds, or another value in the deck"
            )
        found.append(replace(one, name=name))
    if not found:
        raise CommandError(f"a fit needs a parameter to vary: --vary {FORM}")
    return tuple(found)


def search(model: Model, runs: Runs, numbers: Numbers, given: Mapping[str, float], starts: int, say: Say) -> Fit:
    """Fit from every start, then with sigmas from the residuals until they stay."""
    from scipy.optimize import least_squares
    from scipy.stats import qmc

    low, high, first = runs.box(model.parameters)
    used, column = np.flatnonzero(numbers.is_used), numbers.column[numbers.is_used]
    if len(used) <= len(low):
        raise CommandError(f"{len(used)} measurements cannot determine {len(low)} parameters and their intervals")
    its = Misfit(runs, np.unique(numbers.record[used]).tolist(), numbers.is_used, numbers.record, numbers.measured, say)
    groups = [column == n for n in range(len(numbers.names))]
    sigma = np.array([its.measured[group].std() or 1.0 if group.any() else 1.0 for group in groups])
    sigma = np.array([given.get(name, guess) for name, guess in zip(numbers.names, sigma, strict=True)])

    def descend(point: Floats) -> Any:
        its.restart(1.0 / sigma[column])
        at_noise = its.total_noise / float(np.linalg.norm(its.residuals(point))) / len(used) ** 0.5
        limits = {"ftol": min(max(1e-7, at_noise), 1e-2), "xtol": 1e-8, "max_nfev": MOST_TRIALS}
        return least_squares(its.residuals, point, its.jacobian, (low, high), x_scale="jac", **limits)

    others: list[Floats] = []
    if starts > 1:
        tried = [*(low + (high - low) * qmc.LatinHypercube(len(low), rng=1).random(SCREENED * (starts - 1)))]
        off = [np.sum((found / sigma[column]) ** 2) for found in its.differences(tried)]
        others = [tried[n] for n in np.argsort(off)[: starts - 1]]  # NaN is last
    ends = [descend(point) if its.begin(point) else None for point in (first, *others)]
    if not any(ends):
        raise NoConvergence(f"the runs fail at all starts of the fit; the first: {runs.first_failure}")
    rows = [(*runs.named(end.x).values(), 2.0 * end.cost) if end else (np.nan,) * (len(low) + 1) for end in ends]
    ended = Columns(dict(zip((*runs.named(first), "chi2"), np.array(rows).T, strict=True)))
    best = min((end for end in ends if end), key=lambda end: float(end.cost))
    its.begin(best.x)
    for _ in range(MOST_PASSES):
        off, before = its.residuals(best.x) * sigma[column], sigma.copy()
        for n, (name, group) in enumerate(zip(numbers.names, groups, strict=True)):
            if name not in given and group.any():
                free = group.sum() * (1.0 - len(low) / len(used))
                sigma[n] = max(float(np.sqrt(np.sum(off[group] ** 2) / free)), float(np.median(its.noise[group])))
        if len(sigma) == 1 or np.abs(np.log(sigma / before)).max() < KEPT:
            break
        best = descend(best.x)
    its.restart(1.0 / sigma[column])
    return conclusion(runs, numbers, given, its, sigma, best, ended)


def conclusion(
    runs: Runs, numbers: Numbers, given: Mapping[str, float], its: Misfit, sigma: Floats, best: Any, starts: Columns
) -> Fit:
    """Intervals, what is left out, and everything worth saying."""
    column, varied = numbers.column[numbers.is_used], runs.varied
    near = AT_BOUND * (its.high - its.low)
    bound = np.where(best.x - its.low < near, "lower", np.where(its.high - best.x < near, "upper", ""))
    (free,) = np.nonzero(bound == "")
    residual, (jacobian, bent) = its.residuals(best.x), its.central(best.x)
    factor = np.ones(len(residual))
    for n, name in enumerate(numbers.names):
        if name in given:
            factor[column == n] = max(1.0, float(np.mean(residual[column == n] ** 2)))
    half, std, effective = np.full((3, len(varied)), np.nan)
    correlation, words = np.full((len(varied),) * 2, np.nan), list[str]()
    if len(free):
        keys = (numbers.record * len(numbers.names) + numbers.column)[numbers.is_used]
        series = [np.flatnonzero(keys == key) for key in np.unique(keys)]
        found = certainty(jacobian[:, free], residual, series, factor, its.noise_of_derivatives[free])
        half[free] = np.where(found.is_vague, np.nan, found.half)
        std[free], effective[free], correlation[np.ix_(free, free)] = found.std, found.effective, found.correlation
        words = in_words(found.vague, [varied[n] for n in free.tolist()])
    values = runs.named(best.x)
    sides = [[one.value(at + sign * h) for one, at, h in zip(varied, best.x, half, strict=True)] for sign in (-1, 1)]
    slopes = [value if one.is_log else one.high - one.low for one, value in zip(varied, values.values(), strict=True)]
    heads = ("parameter", "value", "low", "high", "std", "effective", "lower_bound", "upper_bound", "at_bound")
    ends = [[one.low for one in varied], [one.high for one in varied]]
    table = (list(values), list(values.values()), *sides, std * slopes, effective, *ends, bound)
    [parts] = runs.values([best.x], range(len(numbers.records)))
    off = np.concatenate(parts) - numbers.measured
    rms = {}
    for n, name in enumerate(numbers.names):
        both = [off[(numbers.column == n) & (numbers.is_used == is_used)] for is_used in (True, False)]
        inside, outside = (float(np.sqrt(np.mean(part**2))) if len(part) else np.nan for part in both)
        rms[name] = inside, outside
    compared = {
        "record": np.array(numbers.records)[numbers.record],
        "time": numbers.time,
        "column": np.array(numbers.names)[numbers.column],
        "measured": numbers.measured,
        "computed": off + numbers.measured,
        "residual": off,
        "part": np.where(numbers.is_used, "fit", "left out"),
    }
    return Fit(
        values,
        Columns({name: np.array(cells) for name, cells in zip(heads, table, strict=True)}),
        correlation,
        tuple(words),
        dict(zip(numbers.names, sigma.tolist(), strict=True)),
        rms,
        Columns(compared),
        starts,
        {
            "observed over predicted decrease": its.checks,
            "difference steps": dict(zip(values, its.steps.tolist(), strict=True)),
            "second over first difference": dict(zip(values, bent.tolist(), strict=True)),
            "runs": runs.count,
        },
        best.status > 0,
        tuple(told(runs, its, best, starts, dict(zip(values, bound.tolist(), strict=True)), bent)),
    )


def told(runs: Runs, its: Misfit, best: Any, starts: Columns, bound: Mapping[str, str], bent: Floats) -> Iterator[str]:
    """Notices."""
    for (name, which), ratio in zip(bound.items(), bent, strict=True):
        if which:
            yield f"{name} is at its {which} bound: it has no interval, and the intervals of the others hold it there"
        elif ratio > ROUGH:
            yield f"the response to {name} is rough or strongly curved: its interval is uncertain"
    if best.status <= 0:
        yield f"the search was ended after {MOST_TRIALS} trials: the values are the best so far"
    if count := runs.failures.total():
        yield f"{count} runs failed (the first: {runs.first_failure}); each counted as ten times the largest residual"
    if its.is_central:
        yield "a sum of squares did not fall as predicted: later derivatives are from both sides"
    if len(chi2 := starts["chi2"]) > 1:
        same = np.count_nonzero(chi2 <= np.nanmin(chi2) * (1.0 + SAME))
        yield f"{same} of {len(chi2)} starts end at the smallest sum of squares"


def write_fit(options: Namespace) -> int:
    """``fem fit``: tables, record and figure; the exit code is 3 where the search did not converge."""
    given, quiet, fixed = vars(options), options.quiet, dict(options.parameters)
    model = read_model(options.deck, fixed)
    folder = options.output or RESULTS / f"{deck_name(model)}_fit"
    files = Names(frozenset((RECORD, TABLE, RESIDUALS, FIGURE)))
    if options.write:
        check_file(options.write, map(Path, model.files), options.force, False)
    same = ("cases", "starts", "hold_out", "step", "start", "workers")
    records = [*options.records, *options.record]
    own = OwnFolder(folder, RECORD, origin_of(model), files, force=options.force)
    own.check()
    bounds, others = [parse_vary(text) for text in options.vary], {name: given[name] for name in same}
    others |= {} if quiet else {"say": say}
    found = fit(options.deck, records, bounds, parameters=fixed, sigma=dict(options.sigma), **others)
    with own:
        own.clear(own.stale())
        deck = {"file": Path(model.source).name, "sha256": model.digest, "parameters": fixed}
        kept = (
            "parameters",
            "table",
            "correlation",
            "undetermined",
            "sigma",
            "rms",
            "starts",
            "is_converged",
            "notices",
        )
        about = {name: getattr(found, name) for name in kept}
        replace_file(own.path / RECORD, as_json({"deck": deck, **own.about(), **about, **found.search}))
        for name, table in ((TABLE, found.table), (RESIDUALS, found.residuals)):
            rows = zip(*(column.tolist() for column in table.values()), strict=True)
            cells = ([text if isinstance(text, str) else cells_of([text])[0] for text in row] for row in rows)
            replace_file(own.path / name, lines_of([list(table), *cells]))
        save_png(residuals(found.residuals, found.is_si), own.path / FIGURE)
    if options.write:
        write_deck_with(options.deck, {**fixed, **found.parameters}, options.write)
    if not quiet:
        print("".join(as_note(text) + "\n" for text in (*model.notices, *found.notices)), end="")
        print(found)
        print(f"as options     {found.words}")
        print(f"written        in {folder}: {', '.join(sorted(files.listed))}")
    return 0 if found.is_converged else NoConvergence.exit_code


def write_deck_with(deck: Path, values: Mapping[str, float], path: Path) -> None:
    """The deck with other values on its ``*PARAMETER`` lines. CommandError: they are not in the deck itself."""
    wanted = {name.upper(): value for name, value in values.items()}
    text = assigned(deck.read_text(encoding="utf-8", errors="surrogateescape"), wanted)
    replace_file(path, text.encode(errors="surrogateescape"))
    written = {name.upper(): value for name, value in read_model(path).parameters.items()}
    if missed := [name for name, value in wanted.items() if written.get(name) != value]:
        path.unlink()
        raise CommandError(f"--write: {', '.join(missed)} is not set in the deck itself; use --set, as printed")
