"""The keyword reference knows what the reader knows, no more and no less; that of Python has all names."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

import fem
from docs.keywords import OF_SCANNER, PAGE, errors, examples, page, reference, stated, written
from docs.lines import DOCS
from fem.commands.reference import keyword_help, sections
from fem.deck import KEYWORDS
from fem.errors import CommandError

NAMES = sorted(written())


def test_every_keyword_of_the_reader_is_there():
    assert set(NAMES) == {*KEYWORDS, *OF_SCANNER}


def test_every_parameter_is_there():
    for name, entry in written().items():
        own = stated(name)
        assert set(entry) <= {"chapter", "does", "parameters", "data", "example"}, name
        assert set(entry.get("parameters", {})) == {*own.takes, *own.needs} - {""}, name
        assert entry["does"].endswith("."), name


def test_every_keyword_has_an_example():
    """From a deck of ``inputs``, which ``test_examples.py`` runs; in words only where none has it."""
    assert [name for name in NAMES if (name in examples()) == ("example" in written()[name])] == []


@pytest.mark.long
def test_errors_are_those_of_the_reader():
    """Nearly every keyword has some; text is text, and an ending card can only be misplaced."""
    without = {name for name in NAMES if not errors().get(name)}
    assert without <= {"HEADING"}


def test_the_page_has_a_section_for_each():
    text = reference()
    assert all(f"\n### *{name}\n" in text for name in NAMES)
    assert "/tests/" not in text  # no message has a path of this machine


def test_the_page_of_a_clone_is_what_the_program_says():
    """``python -m docs.keywords`` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.long
def test_fem_help_describes_every_keyword():
    """In words of the page alone, each in a line of a terminal, its parameters and its example among them."""
    assert set(sections()) == {*NAMES, "QUANTITIES"}
    for name in NAMES:
        for spelled in ([name], ["*" + name.lower()], name.title().split()):
            said: list[str] = []
            keyword_help(spelled, said.append)
            (text,) = said
            assert text.startswith(f"*{name}\n") and "](" not in text and "```" not in text
            assert all(f"`{each}`" in text for each in written()[name].get("parameters", {}))
            assert "\n    *" + name in text or name == "PARAMETER"
    keyword_help(say=said.append)
    assert all(f"*{name}`" in " ".join(said[1].split()) for name in NAMES)
    with pytest.raises(CommandError, match=r"there is no keyword \*NODEPRINT; did you mean NODE PRINT\?"):
        keyword_help(["nodeprint"])


def test_fem_help_keeps_bars_of_formulas():
    """Only those of tables divide cells."""
    said: list[str] = []
    keyword_help(["PLASTIC"], said.append)
    assert "|de|" in said[0] and "| ISOTROPIC" not in said[0]


def test_fem_help_answers_at_once():
    """It starts nothing that computes."""
    text = "import sys; from fem.cli import main; main(['help', 'dload']); assert 'numpy' not in sys.modules"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", text], cwd=PAGE.parents[2], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3


def test_every_name_of_the_package_is_there():
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    missing = [name for name in fem.__all__ if name != "__version__" and f":: {name}\n" not in page]
    assert not missing
