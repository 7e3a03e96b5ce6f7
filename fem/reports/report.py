"""``fem report``: one HTML file of a folder of results, which can be handed on, shown without a network and printed."""

from __future__ import annotations

from pathlib import Path

from fem.arrays import Say
from fem.errors import CommandError
from fem.files.own import check_file, usable_folder
from fem.files.whole import REPORT, is_marked, replace_file
from fem.reports.page import Page

RECORDS = ("run.json", "sweep.json", "lyapunov.json", "sections.json", "validation.json")


def report(
    folder: str | Path, output: str | Path | None = None, *, force: bool = False, say: Say = lambda text: None
) -> Path:
    """Write the report of a run, a sweep, exponents, sections or a validation. The file that was written.

    folder  of the results
    output  file of the page; None: ``report.html`` in the folder
    force   write over a file that is not ours
    say     is told what is written

    Raises
    ------
    CommandError  no results, jinja2 is not installed (extra ``report``), or a file that is not ours is in the way.

    >>> _ = fem.run("inputs/sdnl100.inp", output="results/told")
    >>> fem.report("results/told").name
    'report.html'
    """
    page = page_of(Path(folder))
    path = Path(output) if output is not None else Path(folder) / REPORT
    check_file(path, (), force, is_marked(path, page.mark))
    usable_folder(path.parent)
    text = page.html()
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode(errors="replace"))
    say(f"{path} ({len(text) / 1e6:.1f} MB)")
    return path


def page_of(folder: Path) -> Page:
    """What is in a folder, by its record. CommandError: nothing that is ours."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder" if folder.exists() else f"{folder} does not exist")
    found = [name for name in RECORDS if (folder / name).is_file()]
    if not found:
        raise CommandError(f"{folder} holds no results: there is none of {', '.join(RECORDS)} in it")
    kind = found[0].removesuffix(".json")
    if kind == "run":
        from fem.reports.of_run import page_of_run

        return page_of_run(folder)
    from fem.reports.of_tables import page_of_one, page_of_sweep, page_of_validation

    if kind == "sweep":
        return page_of_sweep(folder)
    return page_of_validation(folder) if kind == "validation" else page_of_one(folder, kind)
