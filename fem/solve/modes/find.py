"""The modes of a ``*FREQUENCY`` step, and what is to be said of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import ModelError
from fem.results.record import Modes
from fem.solve.modes.lowest import Ladder, lowest_modes
from fem.solve.modes.pencil import Pencil, pencil_of
from fem.solve.newton.groups import Loading, Motion
from fem.solve.start import evaluate_start
from fem.solve.step_system import StepSystem


class Found(NamedTuple):
    """Confirmed modes by rising omega^2: their numbers, which leave out those that could not be confirmed.

    squares (k,) omega^2;  shapes (n, k) over the independent dofs, x.M x = 1
    """

    pencil: Pencil
    ladder: Ladder
    number: Ints
    squares: Floats
    shapes: Floats

    @property
    def omega(self) -> Floats:
        """(k,) natural frequencies [radians/time]; negative where a motion grows."""
        return np.asarray(np.sign(self.squares) * np.sqrt(np.abs(self.squares)))


def modes_of(stage: StepSystem, motion: Motion, instant: Loading, wanted: int) -> Found:
    """The ``wanted`` lowest modes about a state. Massless directions have no mode.

    ModelError: nothing with mass is free. The stage is that of a step of small motions, whose tangent is static.
    """
    still = motion._replace(v=np.zeros_like(motion.v), force=motion.force.copy(), state=motion.state.copy())
    evaluate_start(stage, still, instant)
    pencil = pencil_of(stage)
    ladder = lowest_modes(pencil, wanted)
    if ladder.total == 0:
        raise ModelError("*FREQUENCY: the rods leave nothing to move")
    number = 1 + np.arange(len(ladder.squares)) + np.searchsorted(ladder.failed, ladder.squares)
    given = number <= wanted
    return Found(pencil, ladder, number[given], ladder.squares[given], ladder.shapes[:, given])


def find_modes(
    stage: StepSystem, motion: Motion, instant: Loading, wanted: int, step: int, time: float
) -> tuple[Modes, str]:
    """``modes_of`` for the table of a step, and a notice (or nothing)."""
    found = modes_of(stage, motion, instant, wanted)
    full = np.asarray(found.pencil.transform @ found.shapes)
    peak = full[np.abs(full).argmax(axis=0), np.arange(full.shape[1])]
    omega = found.omega
    shapes = np.ascontiguousarray((full / peak).T.reshape(len(omega), len(full) // 3, 3))
    modes = Modes(step, time, found.number, omega / (2.0 * np.pi), omega, 1.0 / peak**2, shapes)
    return modes, "; ".join(_notices(found.ladder, found.squares, wanted))


def _notices(ladder: Ladder, square: Floats, wanted: int) -> list[str]:
    """What a reader of the table must know."""
    notices = []
    if 0 <= ladder.total < wanted:
        notices.append(f"*FREQUENCY: {wanted} modes asked for, the model has {ladder.total}")
    failed = 1 + np.arange(len(ladder.failed)) + np.searchsorted(ladder.squares, ladder.failed)
    left_out = failed[failed <= wanted].tolist()
    if left_out:
        named = ", ".join(map(str, left_out))
        notices.append(
            f"*FREQUENCY: mode{'s' if len(left_out) > 1 else ''} {named} left out: not confirmed by the residual; what "
            "holds them is lost in the rounding of what is stiffest"
        )
    if ladder.missing > 0:
        notices.append(f"*FREQUENCY: {ladder.missing} more modes were counted among those given, but not found")
    if ladder.missing < 0:
        notices.append("*FREQUENCY: whether a mode is missing among those given could not be found out")
    rigid = int((square == 0.0).sum())
    if rigid:
        notices.append(
            f"{rigid} mode{'s' if rigid > 1 else ''} of zero frequency: motions that meet no stiffness (of a free body "
            "or a mechanism)"
        )
    if np.any(square < 0.0) or ladder.massless:
        notices.append("the state is unstable: negative frequencies belong to growing motions")
    return notices
