"""What kernels have compiled by: our own way to machine code, or plain numba where that does not fit.

Kernels are handed it; the compilers themselves, which take long to import, are looked for when they are needed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from fem.compiled.kernel import Kernel, Kind
from fem.compiled.plain.choose import ABSENT, BROKEN, SUITED, in_short, is_plain, take_plain
from fem.compiled.store import Unit
from fem.errors import CommandError


class LateCompiler:
    """``kernel.Compiler``, imported on first use."""

    def make(self, kernel: Kernel, kinds: Kind) -> Unit | None:
        """A unit; None: plain numba does it."""
        try:
            from fem.compiled.build import build

            return build(kernel, kinds)
        except Exception:
            if fits():
                raise  # it is the kernel
        return None

    def call(self, kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
        """Run a kernel by plain numba."""
        from fem.compiled.plain.dispatchers import call

        return call(kernel, arguments)

    def complete(self) -> None:
        """numba brings functions that this system's library lacks."""
        from fem.compiled.translate import contexts

        contexts()


@cache
def fits() -> bool:
    """Our way compiles with the installed numba, as seen on a sample; if not, plain numba does from now on."""
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise CommandError(ABSENT.format(reason=error, suited=SUITED)) from error
    from fem.compiled.plain.sample import SAMPLES

    try:
        from fem.compiled.build import make

        for kernel, kinds in SAMPLES:
            make(kernel, kinds)
    except Exception as error:
        take_plain(in_short(error))
    if is_plain():
        try:
            from fem.compiled.plain.dispatchers import compile_plain

            for kernel, kinds in SAMPLES:
                compile_plain(kernel, kinds)
        except Exception as error:
            raise CommandError(BROKEN.format(reason=in_short(error), suited=SUITED)) from error
    return not is_plain()
