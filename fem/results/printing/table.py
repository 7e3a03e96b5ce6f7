"""One CSV file that grows by whole lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fem.arrays import Floats
from fem.files.whole import GrowingFile
from fem.results.digits import NUMBER, WHOLE, lines

COUNTED = frozenset(("step", "increment", "iterations", "cutbacks", "node", "element", "mode"))
"""Columns of whole numbers."""


def kinds_of(columns: Sequence[str]) -> np.ndarray:
    """(1, c) kinds of cells by the names of their columns."""
    return np.array([[WHOLE if name in COUNTED else NUMBER for name in columns]], np.uint8)


class Table:
    """One CSV file, which must not exist, or is cut back to ``size`` bytes.

    Nothing waits in a buffer, so a killed run loses no finished line.
    """

    def __init__(self, path: Path, columns: Sequence[str], size: int | None = None) -> None:
        self.columns = tuple(columns)
        self.kinds = kinds_of(columns)
        self._file = GrowingFile(path, size)
        if size is None:
            self.add_line(",".join(columns))

    @property
    def size(self) -> int:
        """Bytes written."""
        return self._file.size

    def add(self, numbers: Floats, kinds: np.ndarray | None = None) -> None:
        """Append lines: numbers (k, c), kinds of cells (p, c) for line 0, p, 2p, ..., as the columns' names if None."""
        if len(numbers):
            self._write(lines(numbers, self.kinds if kinds is None else kinds))

    def add_line(self, text: str) -> None:
        """Append one line of text."""
        self._write(text.encode() + b"\n")

    def close(self) -> None:
        self._file.close()

    def _write(self, content: bytes | memoryview) -> None:
        self._file.add(content)
