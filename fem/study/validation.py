"""``python -m fem validate``: comparison of runs with published, analytic and independently computed numbers.

A case is a file ``validation/cases/<name>.py`` with ``NAME``, ``TITLE``, ``SOURCE``, ``LONG`` and
``run(folder) -> Outcome``. The reference solutions (``validation/references``) never import ``fem``.
``validation.json`` in the folder of a report lists the files of the program.
"""

from __future__ import annotations

import importlib.util
import io
import math
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from fem.commands.example import shipped
from fem.commands.files import PAPER, REPORT, replace_file, write_table
from fem.errors import CommandError, proposal
from fem.runs.console import in_lines, say
from fem.runs.own import Names, Origin, OwnFolder, listed_names

DEFAULT_OUTPUT = Path("results") / "validation"
KINDS = ("relative", "absolute", "exact", "order")
COLUMNS = ("target", "computed", "ratio", "tolerance", "verdict", "source")


@dataclass(frozen=True, slots=True)
class Target:
    """An expected number.

    kind       ``relative``: |computed / value - 1| <= tolerance;  ``absolute``: |computed - value| <= tolerance;
               ``exact``: equal (counts);  ``order``: an observed order of convergence, |computed - value| <= tolerance
    source     origin of the value (analytic, ODE, published, regression) and why the tolerance has its size
    """

    quantity: str
    value: float
    kind: str
    source: str
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"target kind {self.kind!r}: known are {', '.join(KINDS)}")
        if self.kind == "relative" and self.value == 0:
            raise ValueError(f"{self.quantity}: a relative tolerance needs a target other than zero")

    def is_met(self, computed: float) -> bool:
        """Whether ``computed`` lies within the tolerance; NaN never does."""
        if self.kind == "exact":
            return computed == self.value
        scale = abs(self.value) if self.kind == "relative" else 1.0
        return abs(computed - self.value) <= self.tolerance * scale


@dataclass(frozen=True, slots=True)
class Row:
    """A target and what the program computed for it."""

    target: Target
    computed: float

    @property
    def is_met(self) -> bool:
        return self.target.is_met(self.computed)

    @property
    def ratio(self) -> float:
        """Computed over target; their difference where the target is zero."""
        return self.computed / (self.target.value or 1.0)

    def cells(self) -> tuple[str, ...]:
        """Texts of ``COLUMNS``, for people."""
        target = self.target
        ratio = f"{self.ratio:.10g}" if target.value else f"{self.ratio:+.3g} (difference)"
        limit = "exact" if target.kind == "exact" else f"{target.tolerance:.2g} {target.kind}"
        verdict = "ok" if self.is_met else "MISSED"
        return (f"{target.value:.12g}", f"{self.computed:.12g}", ratio, limit, verdict, target.source)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results of a case.

    figures   name -> ``matplotlib.figure.Figure``; saved as ``<case>_<name>.png``
    remarks   sentences for the report
    """

    rows: tuple[Row, ...]
    figures: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A case that has been run; ``failure`` holds the reason when it could not be."""

    name: str
    title: str
    source: str
    outcome: Outcome
    seconds: float
    failure: str = ""

    @property
    def missed(self) -> int:
        return sum(not row.is_met for row in self.outcome.rows) + bool(self.failure)


def validate(cases: Sequence[str], output: Path | None = None, force: bool = False) -> int:
    """Run validation cases, print and write the report; 0 when every target is met, else 3.

    cases   names; none: all that are not long; ``all``: all
    output  folder of ``report.md``, ``report.csv`` and figures; None: ``results/validation/``
    force   replace files of these names in any folder

    Raises
    ------
    CommandError  no ``validation/`` folder, an unknown case, or a folder with other files.
    """
    root = find_root()
    chosen = choose(list(cases), root)
    folder = DEFAULT_OUTPUT if output is None else Path(output)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))  # cases import validation.references
    verdicts = []
    inputs = (*(root / "inputs").glob("*"), *(root / "validation").rglob("*.py"))
    # sweeps of cases have their own folders in that of the report, which is locked meanwhile
    names = Names(frozenset(("report.md", "report.csv", RECORD)), files_of(chosen))
    own = OwnFolder(folder, RECORD, Origin(Path("validation"), "", tuple(inputs)), names, owned_names, force)
    own.check()
    with own:
        write_record(own, chosen)
        own.clear(names.among(folder) - {RECORD})
        for name in chosen:
            verdict = run_case(name, root / "validation" / "cases" / f"{name}.py", folder)
            say(as_text(verdict))
            verdicts.append(verdict)
        write_report(verdicts, folder)
        write_record(own)
    say(f"\n{summary(verdicts)}\nreport: {folder / 'report.md'}")
    return 3 if any(verdict.missed for verdict in verdicts) else 0


# ------------------------------------------------------------------------------------------------- finding cases
def find_root() -> Path:
    """The folder that holds ``validation/cases``: the current one, else the one that came with the program."""
    for root in (Path.cwd(), shipped()):
        if (root / "validation" / "cases").is_dir():
            return root
    raise CommandError(f"no folder validation/cases in {Path.cwd()} or {shipped()}: the installation is incomplete")


def available(root: Path) -> list[str]:
    """Names of the cases, sorted; files that begin with an underscore are not cases."""
    return sorted(path.stem for path in (root / "validation" / "cases").glob("*.py") if path.stem[0] != "_")


def choose(wanted: list[str], root: Path) -> list[str]:
    """Cases to run, in the order asked for. Long ones run by name or with ``all`` only."""
    known = available(root)
    if not wanted:
        return [name for name in known if not is_long(root / "validation" / "cases" / f"{name}.py")]
    if any(name.lower() == "all" for name in wanted):
        return known
    chosen = []
    for name in wanted:
        stem = Path(name).stem.lower()
        if stem not in known:
            raise CommandError(f"there is no validation case {name!r}; {proposal(stem, known)}")
        if stem not in chosen:
            chosen.append(stem)
    return chosen


def is_long(path: Path) -> bool:
    """Whether the case says ``LONG = True``; read from its text, so that choosing runs no case."""
    return re.search(r"^ *LONG *= *True", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def load_case(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"validation_case_{name}", path)
    if spec is None or spec.loader is None:
        raise CommandError(f"{path} cannot be imported")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where data classes look for their module
    spec.loader.exec_module(module)
    return module


def run_case(name: str, path: Path, folder: Path) -> Verdict:
    """Runs one case. An exception counts as a failure of this case, with its reason, and does not stop others."""
    start = time.perf_counter()
    title, source = name, ""
    try:
        case = load_case(name, path)
        title, source = case.TITLE, case.SOURCE
        run: Callable[[Path], Outcome] = case.run
        outcome, failure = run(folder), ""
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        failure = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
        outcome = Outcome(())
    return Verdict(name, title, source, outcome, time.perf_counter() - start, failure)


# ------------------------------------------------------------------------------------------------------- report
def counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def summary(verdicts: Sequence[Verdict]) -> str:
    """One line: how many targets and cases, how many missed."""
    rows = [row for verdict in verdicts for row in verdict.outcome.rows]
    missed = [verdict.name for verdict in verdicts if verdict.missed]
    failed = sum(bool(verdict.failure) for verdict in verdicts)
    text = f"{counted(len(verdicts), 'case')}, {counted(len(rows), 'target')}, {sum(row.is_met for row in rows)} met"
    text += f", {counted(failed, 'case')} could not be run" if failed else ""
    return text + (f"; MISSED in: {', '.join(missed)}" if missed else "; all met")


def as_text(verdict: Verdict) -> str:
    """Results of a case, for the terminal."""
    lines = ["", f"{verdict.name}: {verdict.title} ({verdict.seconds:.1f} s)"]
    for row in verdict.outcome.rows:
        target, computed, ratio, limit, state, source = row.cells()
        numbers = f"target {target}  computed {computed}  ratio {ratio}  tolerance {limit}"
        lines += [f"  {state:<7} {row.target.quantity}", f"          {numbers}", f"          {source}"]
    lines += [f"  note: {remark}" for remark in verdict.outcome.remarks]
    if verdict.failure:
        lines.append(f"  MISSED: the case could not be run: {verdict.failure}")
    return "\n".join(in_lines(line, 10) for line in lines)


def as_markdown(verdict: Verdict) -> list[str]:
    state = "all targets met" if not verdict.missed else f"{verdict.missed} MISSED"
    lines = [f"## {verdict.name}: {verdict.title}", "", f"{state}, {verdict.seconds:.1f} s. {verdict.source}".strip()]
    if verdict.failure:
        lines += ["", f"**The case could not be run:** {_cell(verdict.failure)}"]
    if verdict.outcome.rows:
        lines += ["", "| quantity | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
        for row in verdict.outcome.rows:
            lines.append("| " + " | ".join(_cell(text) for text in (row.target.quantity, *row.cells())) + " |")
    for remark in verdict.outcome.remarks:
        lines += ["", remark]
    for name in verdict.outcome.figures:
        lines += ["", f"![{name.replace('_', ' ')}]({verdict.name}_{name}.png)"]
    return [*lines, ""]


def _cell(text: str) -> str:
    """Text that cannot break a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def write_report(verdicts: Sequence[Verdict], folder: Path) -> None:
    lines = ["# Validation", "", summary(verdicts) + ".", ""]
    lines += ["`ratio` is computed / target; where the target is zero it is the difference.", ""]
    for verdict in verdicts:
        lines += as_markdown(verdict)
        for name, figure in verdict.outcome.figures.items():
            picture = io.BytesIO()
            figure.savefig(picture, dpi=150, bbox_inches="tight", format="png")
            replace_file(folder / f"{verdict.name}_{name}.png", picture.getvalue())
    replace_file(folder / "report.md", "\n".join(lines).encode())
    table: list[tuple[str, ...]] = [("case", "quantity", "kind", *COLUMNS)]
    for verdict in verdicts:
        rows = list(verdict.outcome.rows)
        if verdict.failure:
            rows.append(Row(Target("the case runs", 1.0, "exact", verdict.failure), math.nan))
        for row in rows:
            target, state = row.target, "ok" if row.is_met else "missed"
            numbers = (repr(float(number)) for number in (target.value, row.computed, row.ratio, target.tolerance))
            table.append((verdict.name, target.quantity, target.kind, *numbers, state, target.source))
    write_table(folder / "report.csv", table[0], table[1:])


RECORD = "validation.json"


def write_record(own: OwnFolder, going_on: Sequence[str] = ()) -> None:
    """Lists the program's files in the folder of the report, with those of earlier runs; ``going_on``: and of running
    cases."""
    files = own.stale() | {RECORD}
    own.note({"deck": {"file": "validation", "sha256": ""}, "files": sorted(files), "going_on": list(going_on)})


def owned_names(record: Mapping[str, Any]) -> Names:
    """The files a record lists, and those that an aborted run may have written."""
    going_on = record.get("going_on")
    cases = files_of(map(str, going_on if isinstance(going_on, list) else ()))
    return Names(listed_names(record), cases, (REPORT, PAPER))


def files_of(cases: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((".", rf"{re.escape(name)}_.*\.(csv|png)") for name in cases)
