"""Type aliases for the arrays that travel through the program (all C-contiguous), and tables of them."""

from __future__ import annotations

import textwrap
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fem.errors import unknown

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Index: TypeAlias = int | np.uintp
"""Of an array, in kernels: unsigned where it came out of another array, as numba then asks for no negative ones."""


class Columns(dict[str, NDArray[Any]]):
    """A table: columns (k,) by name, in order. A ``dict``, as ``pandas.DataFrame`` wants it.

    KeyError: there is no such column; the message has those that there are.
    """

    def __missing__(self, name: str) -> NDArray[Any]:
        raise unknown("column", name, self)

    def __repr__(self) -> str:
        rows = len(next(iter(self.values()), ()))
        text = textwrap.shorten(f"{rows} rows of {', '.join(self)}", 400, placeholder=" ...")
        return textwrap.fill(text, 100, subsequent_indent="  ")
