"""Machine code of an earlier version is taken over where nothing that it follows from has changed, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import fem.compiled.lanes
from fem.compiled import digest, folder, store, translate
from fem.compiled.choice import is_plain
from fem.compiled.digest import adopted, digest_of
from fem.compiled.kernel import Kernel
from fem.forces.laws import bilinear
from tests.compiled.test_cache import fresh  # noqa: F401

TEXT = """
def outer(x: Floats) -> float:
    \"\"\"Words.\"\"\"
    return inner(x[0]) + LIMIT
"""
INNER = """
def inner(y: float) -> float:
    return 2.0 * y
"""
KINDS = (("array", "d", 1),)


def kernel_from(text: str, known: dict[str, Any], **options: Any) -> Kernel:
    exec("from __future__ import annotations\n" + text, known)
    name = text.split("def ")[1].split("(")[0]
    return Kernel(known[name], options.get("fast", frozenset()), options.get("inner", False), inline=True)


def digest_from(text: str = TEXT, inner: str = INNER, limit: Any = 1.0, fast: Any = frozenset()) -> str:
    known: dict[str, Any] = {"__name__": "fem.somewhere", "LIMIT": limit}
    known["inner"] = kernel_from(inner, {"__name__": "fem.somewhere"}, fast=fast, inner=True)
    return digest_of(kernel_from(text, known), KINDS)


def test_words_and_places_do_not_count():
    assert digest_from() == digest_from("\n\n" + TEXT.replace("Words", "Other words"))


@pytest.mark.parametrize(
    "change",
    [
        {"text": TEXT.replace("x[0]", "x[1]")},
        {"text": TEXT.replace(" + ", " - ")},
        {"inner": INNER.replace("2.0", "3.0")},
        {"inner": INNER.replace("y: float) -> float", "y: float = 1.0) -> float")},
        {"limit": 2.0},
        {"limit": 1},
        {"fast": frozenset({"nnan"})},
    ],
)
def test_whatever_changes_code_counts(change):
    assert digest_from(**change) != digest_from()


def test_fields_of_groups_and_values_in_modules_count(monkeypatch):
    class Pair(NamedTuple):
        first: Any
        second: Any

    class Turned(NamedTuple):
        second: Any
        first: Any

    known = {"__name__": "fem.somewhere"}
    kernel = kernel_from(INNER, known)
    monkeypatch.setattr("tests.compiled.test_digest.Group", Pair, raising=False)
    kinds = (("group", __name__, "Group", ("float", "float")),)
    before = digest_of(kernel, kinds)
    monkeypatch.setattr("tests.compiled.test_digest.Group", Turned, raising=False)
    assert digest_of(kernel, kinds) != before

    monkeypatch.setattr(fem.compiled.lanes, "LEVEL", 1.0, raising=False)
    text = "def inner(y: float) -> float:\n    return choose.LEVEL * y\n"
    kernel = kernel_from(text, {"__name__": "fem.somewhere", "choose": fem.compiled.lanes})
    before = digest_of(kernel, KINDS)
    monkeypatch.setattr(fem.compiled.lanes, "LEVEL", 2.0)
    assert digest_of(kernel, KINDS) != before


@pytest.mark.skipif(is_plain(), reason="machine code of ours")
def test_an_unchanged_kernel_is_not_compiled_again(fresh: Path, monkeypatch):  # noqa: F811
    """Another version of the program has a folder of its own; code is copied from the one before."""

    def versions() -> Iterator[str]:
        yield from ("1" * 16, "2" * 16)

    names = versions()
    monkeypatch.setattr(folder, "source_key", lambda: next(names))
    kernel, kinds = as_kernel(bilinear), ("float",) * 5
    made = translate.build(kernel, kinds)
    folder.cache_folder.cache_clear()
    monkeypatch.setattr(store, "_made", {})
    monkeypatch.setattr(translate, "make", lambda *given: pytest.fail("compiled again"))
    assert translate.build(kernel, kinds) == made
    assert folder.cache_folder().name.endswith("2" * 16) and store.is_kept(kernel.name, kinds)

    monkeypatch.setattr(store, "_made", {})
    monkeypatch.setattr(folder, "source_key", lambda: "3" * 16)
    folder.cache_folder.cache_clear()
    monkeypatch.setattr(digest, "machine_key", lambda: "another processor")
    assert adopted(kernel, kinds) is None


def as_kernel(function: Any) -> Kernel:
    assert isinstance(function, Kernel)
    return function
