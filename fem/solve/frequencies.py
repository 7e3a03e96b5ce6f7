"""The modes of a ``*FREQUENCY`` step, checked with the tangent of the state, and the notices about them.

They are computed from a ``Pencil`` (``modes.py``; ``unsymmetric_modes.py`` if K is not symmetric) and checked with the
full equation, with the forces of the tangent itself:

    K x - omega^2 M x + G^T tau = 0

Two modes of conjugate omega^2 stand in the table as two with the same frequency, the real part of omega, and the shapes
Re x and Im x: exp(+ s t) (Re x cos w t + Im x sin w t) grows, exp(- s t) (Re x cos w t - Im x sin w t) decays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Complexes, Flags, Floats, Ints
from fem.errors import ModelError
from fem.forces.bar import ALPHA, P, Q
from fem.forces.families import sliding_ones
from fem.runs.record import Modes
from fem.solve.modes import ROUNDING, Pencil, lowest_modes, pencil_of
from fem.solve.newton.groups import Loading, Motion
from fem.solve.start import evaluate_start
from fem.solve.step_system import StepSystem
from fem.solve.stiffness import largest, stiffness_of

BALANCED = 1e-6
"""Largest residual of a mode, as a fraction of its largest force, beside the rounding error of the stiffest bar."""


class Found(NamedTuple):
    """Confirmed modes by rising omega^2: their numbers, which leave out those that could not be confirmed.

    squares (k,) omega^2, complex in pairs;  shapes (n, k) over the independent dofs, x.M x = 1; of pairs, its parts
    failed  (f,) omega^2 of those not confirmed;  total, missing, massless: as ``Ladder`` has them
    """

    pencil: Pencil
    number: Ints
    squares: Floats | Complexes
    shapes: Floats
    failed: Floats
    total: int
    missing: int
    massless: int

    @property
    def omega(self) -> Floats:
        """(k,) natural frequencies [radians/time]; negative for unstable modes."""
        root = np.sqrt(self.squares.astype(complex))
        grown = np.sign(self.squares.real) * np.abs(root)
        return np.asarray(np.where(self.squares.imag == 0.0, grown, root.real))


def modes_of(stage: StepSystem, motion: Motion, instant: Loading, wanted: int) -> Found:
    """The ``wanted`` lowest modes about a state; massless directions have none. ModelError: nothing with mass is free.
    ``stage`` belongs to a step of small motions, whose tangent is static."""
    still = motion._replace(v=np.zeros_like(motion.v), force=motion.force.copy(), state=motion.state.copy())
    evaluate_start(stage, still, instant)
    pencil = pencil_of(stage)
    massless = 0
    squares: Floats | Complexes
    shapes: Floats | Complexes
    failed: Floats | Complexes
    if pencil.left is None:
        ladder = lowest_modes(pencil, wanted)
        squares, shapes, failed, total = ladder.squares, ladder.shapes, ladder.failed, ladder.total
        missing, massless = ladder.missing, ladder.massless
    else:
        from fem.solve.unsymmetric_modes import lowest_unsymmetric

        squares, shapes, failed, total, missing = lowest_unsymmetric(pencil, wanted)
    if total == 0:
        raise ModelError("*FREQUENCY: the rods leave no degree of freedom")
    is_good = are_balanced(stage, pencil, squares, shapes)
    lost = np.sort(np.concatenate([failed.real, squares.real[~is_good]]))
    squares, shapes = squares[is_good], shapes[:, is_good]
    parts = np.where(squares.imag > 0.0, shapes.imag, shapes.real)
    number = 1 + np.arange(len(squares)) + np.searchsorted(lost, squares.real)
    given = number <= wanted
    return Found(pencil, number[given], squares[given], parts[:, given], lost, total, missing, massless)


def are_balanced(stage: StepSystem, pencil: Pencil, squares: Floats | Complexes, shapes: Floats | Complexes) -> Flags:
    """Modes (n, k) that satisfy the full equation with the best forces of rods. The state is in ``stage.work``."""
    from scipy.sparse.linalg import splu

    whole, gradients, mass = stiffness_of(stage), pencil.gradients, pencil.mass
    bars = np.abs(whole.tangent.bar_tangent)
    stiffest = (bars[ALPHA] * bars[P : P + 3].sum(axis=0) * bars[Q : Q + 3].sum(axis=0)).max(initial=0.0)
    rods = splu((gradients @ gradients.T).tocsc()) if gradients.shape[0] else None
    good = np.zeros(len(squares), np.bool_)
    for k, (square, shape) in enumerate(zip(squares, shapes.T, strict=True)):
        u = pencil.transform @ shape
        inertia = square * (mass @ shape)
        parts = [pencil.transform.T @ whole.times(u), -inertia]
        sizes = [largest(whole.bar_forces(u)), largest(whole.rest @ u), largest(inertia)]
        for _ in range(2):
            if rods is None:
                break
            left = gradients @ sum(parts)
            parts.append(-(gradients.T @ (rods.solve(left.real) + 1j * rods.solve(left.imag))))
        sizes += [largest(part) for part in parts]
        allowed = BALANCED * max(sizes) + ROUNDING * stiffest * largest(u)
        good[k] = largest(sum(parts)) <= allowed
    return good


def find_modes(
    stage: StepSystem, motion: Motion, instant: Loading, wanted: int, step: int, time: float
) -> tuple[Modes, str]:
    """``modes_of`` for the table of a step, and a notice (or an empty text)."""
    found = modes_of(stage, motion, instant, wanted)
    full = np.asarray(found.pencil.transform @ found.shapes)
    peak = full[np.abs(full).argmax(axis=0), np.arange(full.shape[1])]
    second = np.flatnonzero(found.squares.imag > 0.0)
    peak[second] = peak[second - 1]
    mass = np.einsum("ik,ik->k", found.shapes, found.pencil.mass @ found.shapes)
    mass[found.squares.imag == 0.0] = 1.0
    omega = found.omega
    shapes = np.ascontiguousarray((full / peak).T.reshape(len(omega), len(full) // 3, 3)[:, : stage.system.shown])
    modes = Modes(step, time, found.number, omega / (2.0 * np.pi), omega, mass / peak**2, shapes)
    notices = _notices(found, wanted)
    if found.pencil.left is not None and (names := sliding_ones(stage.system.families)):
        notices.append(
            f"*FREQUENCY: friction in {' and '.join(names)} slides on one way in these modes, and not back; *DYNAMIC "
            "does both"
        )
    return modes, "; ".join(notices)


def _notices(ladder: Found, wanted: int) -> list[str]:
    """Notices about the table of frequencies."""
    notices, square = [], ladder.squares
    if 0 <= ladder.total < wanted:
        notices.append(f"*FREQUENCY: {wanted} modes asked for, the model has {ladder.total}")
    failed = 1 + np.arange(len(ladder.failed)) + np.searchsorted(square.real, ladder.failed)
    left_out = failed[failed <= wanted].tolist()
    if left_out:
        named = ", ".join(map(str, left_out))
        notices.append(
            f"*FREQUENCY: mode{'s' if len(left_out) > 1 else ''} {named} omitted: not confirmed by the residual; their "
            "stiffness is lost in the round-off of the stiffest parts"
        )
    if ladder.missing > 0:
        notices.append(f"*FREQUENCY: {ladder.missing} more modes lie among those given, but were not found")
    if ladder.missing < 0:
        notices.append("*FREQUENCY: could not check whether a mode is missing among those given")
    rigid = int((square == 0.0).sum())
    if rigid:
        notices.append(
            f"{rigid} mode{'s' if rigid > 1 else ''} of zero frequency: motions without stiffness (of a free body or a "
            "mechanism)"
        )
    growing = np.flatnonzero(square.imag > 0.0)
    if len(growing):
        named = ", ".join(
            f"{number} (by {rate:.4g})"
            for number, rate in zip(ladder.number[growing], np.sqrt(square[growing]).imag, strict=True)
        )
        notices.append(
            "*FREQUENCY: the state is unstable: a mode and the one before it have the same frequency and grow "
            f"(flutter), at rates [1/time] of mode {named}; their shapes are the real and the imaginary part"
        )
    if np.any((square.real < 0.0) & (square.imag == 0.0)) or ladder.massless:
        notices.append("the state is unstable: negative frequencies stand for growing motions")
    return notices
