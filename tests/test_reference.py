"""The keyword reference knows what the reader knows, no more and no less; that of Python has all names."""

from __future__ import annotations

import pytest

import fem
from docs.keywords import OF_SCANNER, errors, examples, reference, stated, written
from docs.lines import DOCS
from fem.deck import KEYWORDS

NAMES = sorted(written())


def test_every_keyword_of_the_reader_is_there():
    assert set(NAMES) == {*KEYWORDS, *OF_SCANNER}


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_there(name):
    entry, own = written()[name], stated(name)
    assert set(entry) <= {"chapter", "does", "parameters", "data", "example"}
    assert set(entry.get("parameters", {})) == {*own.takes, *own.needs} - {""}
    assert entry["does"].endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_every_keyword_has_an_example(name):
    """From a deck of ``inputs``, which ``test_examples.py`` runs; in words only where none has it."""
    assert (name in examples()) != ("example" in written()[name])


def test_errors_are_those_of_the_reader():
    """Nearly every keyword has some; text is text, and an ending card can only be misplaced."""
    without = {name for name in NAMES if not errors().get(name)}
    assert without <= {"HEADING"}


def test_the_page_has_a_section_for_each():
    page = reference()
    assert all(f"\n### *{name}\n" in page for name in NAMES)
    assert "/tests/" not in page  # no message has a path of this machine


def test_every_name_of_the_package_is_there():
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    missing = [name for name in fem.__all__ if name != "__version__" and f":: {name}\n" not in page]
    assert not missing
