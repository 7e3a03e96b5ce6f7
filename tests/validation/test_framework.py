"""``fem.study.validation``: targets, finding cases, report, exit codes."""

import csv
import math
import sys

import pytest

from fem.commands import example
from fem.errors import CommandError
from fem.study import validation
from fem.study.validation import Row, Target, validate

CASE = """
from fem.study.validation import Outcome, Row, Target
NAME, TITLE, SOURCE = "{name}", "a title", "a source"
LONG = {long}

def run(folder):
    {body}
"""
MET = 'return Outcome((Row(Target("q", 2.0, "relative", "analytic", 0.1), 2.1),), {}, ("a remark",))'
MISSED = 'return Outcome((Row(Target("q", 2.0, "relative", "analytic", 0.1), 2.3),))'
FIGURE = """from matplotlib.figure import Figure
    sheet = Figure()
    sheet.add_subplot().plot([0, 1])
    return Outcome((Row(Target("n", 3, "exact", "published"), 3),), {"line": sheet})"""


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with validation/cases, made the current one; returns a function that adds a case."""
    cases = tmp_path / "validation" / "cases"
    cases.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def add(name, body, long=False):
        (cases / f"{name}.py").write_text(CASE.format(name=name, body=body, long=long))
        return tmp_path

    return add


@pytest.mark.parametrize(
    ("kind", "value", "tolerance", "computed", "met"),
    [
        ("relative", -2.0, 0.1, -2.19, True),
        ("relative", -2.0, 0.1, -2.21, False),
        ("absolute", 0.0, 1e-3, -9e-4, True),
        ("absolute", 0.0, 1e-3, 2e-3, False),
        ("exact", 9, 0.0, 9, True),
        ("exact", 9, 0.0, 8, False),
        ("order", 2.0, 0.05, 1.96, True),
        ("order", 2.0, 0.05, 1.9, False),
        ("relative", 1.0, 0.1, math.nan, False),
        ("exact", 9, 0.0, math.nan, False),
    ],
)
def test_target_kinds(kind, value, tolerance, computed, met):
    assert Target("q", value, kind, "source", tolerance).is_met(computed) is met


def test_target_refuses_nonsense():
    with pytest.raises(ValueError, match="kind"):
        Target("q", 1.0, "roughly", "source")
    with pytest.raises(ValueError, match="zero"):
        Target("q", 0.0, "relative", "source", 0.1)


def test_ratio_is_a_difference_where_the_target_is_zero():
    assert Row(Target("q", 4.0, "relative", "s", 0.1), 2.0).ratio == 0.5
    assert Row(Target("q", 0.0, "absolute", "s", 0.1), 2.0).ratio == 2.0


def test_met_targets_give_0_and_a_report(clone, capsys):
    root = clone("good", MET)
    assert validate([], None) == 0
    text = (root / "results" / "validation" / "report.md").read_text()
    assert "| q | 2 | 2.1 | 1.05 | 0.1 relative | ok | analytic |" in text
    assert "a remark" in text
    printed = capsys.readouterr().out
    assert "good: a title" in printed
    assert "1 case, 1 target, 1 met; all met" in printed


def test_a_missed_target_gives_3_and_stops_no_other(clone, tmp_path, capsys):
    clone("bad", MISSED)
    clone("good", MET)
    assert validate([], tmp_path / "out") == 3
    with (tmp_path / "out" / "report.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["case"], row["verdict"]) for row in rows] == [("bad", "missed"), ("good", "ok")]
    assert float(rows[0]["computed"]) == 2.3
    assert "MISSED in: bad" in capsys.readouterr().out


def test_a_case_that_raises_is_missed_with_its_reason(clone, tmp_path, capsys):
    clone("broken", 'raise RuntimeError("no such solver")')
    assert validate(["broken"], tmp_path / "out") == 3
    assert "RuntimeError: no such solver (broken.py:7)" in capsys.readouterr().out
    assert "no such solver" in (tmp_path / "out" / "report.md").read_text()
    assert "no such solver" in (tmp_path / "out" / "report.csv").read_text()


def test_a_case_that_cannot_be_imported_is_missed(clone, tmp_path):
    root = clone("good", MET)
    (root / "validation" / "cases" / "torn.py").write_text("def run(:\n")
    assert validate(["torn", "good"], tmp_path / "out") == 3


def test_figures_are_written_and_shown(clone, tmp_path):
    clone("drawn", FIGURE)
    assert validate(["drawn"], tmp_path / "out") == 0
    assert (tmp_path / "out" / "drawn_line.png").read_bytes().startswith(b"\x89PNG")
    assert "![line](drawn_line.png)" in (tmp_path / "out" / "report.md").read_text()


def test_long_cases_run_by_name_or_with_all(clone, tmp_path, capsys):
    clone("good", MET)
    clone("slow", MISSED, long=True)
    assert validate([], tmp_path / "a") == 0
    assert validate(["slow"], tmp_path / "b") == 3
    assert validate(["all"], tmp_path / "c") == 3


def test_unknown_case_is_answered_with_the_nearest(clone):
    clone("good", MET)
    with pytest.raises(CommandError, match=r"there is no validation case 'godo'; did you mean good\?") as error:
        validate(["godo"], None)
    assert error.value.exit_code == 2
    with pytest.raises(CommandError, match="there is only good"):
        validate(["zzz"], None)


def test_without_the_cases_the_reason_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(example, "PACKAGE", tmp_path / "site" / "fem")
    with pytest.raises(CommandError, match="the installation is incomplete") as error:
        validate([], None)
    assert error.value.exit_code == 2


def test_every_case_of_the_project_is_complete():
    cases = validation.find_root() / "validation" / "cases"
    names = validation.available(cases.parent.parent)
    assert {"sdnl100", "ssnl114a", "ssnl105a", "sdll135e", "sdnl138", "hanging_chain", "axial_bar"} <= set(names)
    for name in names:
        case = validation.load_case(name, cases / f"{name}.py")
        assert name == case.NAME
        assert case.TITLE and case.SOURCE and callable(case.run)
        assert isinstance(case.LONG, bool)


def test_references_never_import_the_program():
    references = validation.find_root() / "validation" / "references"
    for path in references.glob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        imports = [line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))]
        assert set(imports) <= {*sys.stdlib_module_names, "numpy", "scipy", "validation"}, path.name
