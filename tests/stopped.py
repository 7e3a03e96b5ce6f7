"""Runs whose process is gone after a checkpoint, and that go on from there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fem.runner import run_to_files
from fem.runs import write as run_files

TABLES = ("increments.csv", "nodes.csv", "elements.csv")


class Crash(Exception):
    """The process is gone."""


def check_goes_on(monkeypatch: pytest.MonkeyPatch, tables: Sequence[str] = TABLES) -> None:
    """``deck.inp`` of this folder, run into ``whole``, and into ``cut`` up to its second checkpoint and on from there,
    has the same tables to the byte."""
    write, count = run_files.write_checkpoint, 0

    def stops(*what):
        nonlocal count
        write(*what)
        count += 1
        if count == 2:
            raise Crash

    run_to_files("deck.inp", "whole", quiet=True)
    with monkeypatch.context() as patch:
        patch.setattr(run_files, "write_checkpoint", stops)
        with pytest.raises(Crash):
            run_to_files("deck.inp", "cut", quiet=True)
    run_to_files("deck.inp", "cut", quiet=True, goes_on=True)
    for name in tables:
        assert Path("whole", name).read_bytes() == Path("cut", name).read_bytes(), name
