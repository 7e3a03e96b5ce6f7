"""The modes of a ``*FREQUENCY`` step, and what is to be said of them."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.errors import ModelError
from fem.results.record import Modes
from fem.solve.modes.lowest import Ladder, lowest_modes
from fem.solve.modes.pencil import pencil_of
from fem.solve.step_system import StepSystem


def find_modes(stage: StepSystem, wanted: int, step: int, time: float) -> tuple[Modes, str]:
    """The ``wanted`` lowest modes and a notice (or nothing). Modes that could not be confirmed are left out.

    The tangent must have been evaluated into ``stage.work`` with a static row, at rest. Massless directions have no
    mode. ModelError where nothing with mass is free.
    """
    pencil = pencil_of(stage)
    ladder = lowest_modes(pencil, wanted)
    if ladder.total == 0:
        raise ModelError("*FREQUENCY: the rods leave nothing to move")
    number = 1 + np.arange(len(ladder.squares)) + np.searchsorted(ladder.failed, ladder.squares)
    given = number <= wanted
    square, number = ladder.squares[given], number[given]
    full = np.asarray(pencil.transform @ ladder.shapes[:, given])
    peak = full[np.abs(full).argmax(axis=0), np.arange(full.shape[1])]
    omega = np.sign(square) * np.sqrt(np.abs(square))
    shapes = np.ascontiguousarray((full / peak).T.reshape(len(square), len(full) // 3, 3))
    modes = Modes(step, time, number, omega / (2.0 * np.pi), omega, 1.0 / peak**2, shapes)
    return modes, "; ".join(_notices(ladder, square, wanted))


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
