"""Type aliases for the arrays that travel through the program (all C-contiguous)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Index: TypeAlias = int | np.uintp
"""Of an array, in kernels: unsigned where it came out of another array, as numba then asks for no negative ones."""
