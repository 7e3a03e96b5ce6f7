"""What the numbers decide that say when a solver does something else: just below, nothing; just above, it does."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fem.linear import factors
from fem.linear.choice import CG, EXTERNAL
from fem.model import Controls, Dynamic, Static
from fem.solve.clock import Clock, ErrorClock, Progress, expected_increments, first_chunk, increments
from fem.solve.newton import groups
from fem.solve.newton.groups import LIMIT, MEMORY, ROW
from fem.solve.outcome import jumps_of
from fem.solve.schemes import SCHEMES
from fem.solve.statics.riks import ArcClock
from fem.solve.step_system import Patience

NONE = np.zeros(0)


# ------------------------------------------------------------------------------------------ increments
@pytest.mark.parametrize(("beyond", "count"), [(0.0, 10), (0.9e-9, 10), (-0.9e-9, 10), (1.1e-9, 11), (0.3, 11)])
def test_times_closer_than_a_billionth_of_an_increment_are_the_same(beyond, count):
    procedure = Dynamic(0.25, 2.5 + 0.25 * beyond, direct=True)
    assert expected_increments(procedure) == count
    times, steps = increments(Clock(procedure, Controls(), 0.0, NONE).plan(50))
    assert len(steps) == count and times[-1] == procedure.period


@pytest.mark.parametrize(("iterations", "grows"), [(1, True), (7, True), (8, False)])
def test_two_increments_of_seven_solves_in_a_row_let_the_next_ones_grow(iterations, grows):
    clock = Clock(Static(0.01, 1.0), Controls(), 0.0, NONE)
    for time, solves in ((0.01, 7), (0.02, 8), (0.03, 7), (0.04, iterations)):
        assert clock.dt == 0.01
        clock.advance(time, 1, solves)
    assert clock.dt == (pytest.approx(0.01 * Controls().growth_factor) if grows else 0.01)


def error_clock(level: float) -> ErrorClock:
    """Trapezoidal rule, dt = 0.01; ``level``: local error of such an increment, as a share of what is allowed."""
    scheme = SCHEMES["NEWMARK"](Dynamic(1.0, 1.0))
    stage: Any = SimpleNamespace(
        limits=np.zeros(len(LIMIT)), coefficients=scheme.coefficients,
        system=SimpleNamespace(coordinates=np.array([[0.0, 1.0, 0.0], [3.0, 2.0, 0.0]]), is_grounded=True),
    )  # fmt: skip
    motion: Any = SimpleNamespace(memory=np.zeros(len(MEMORY)))
    clock = ErrorClock(Dynamic(0.01, 1.0, dt_min=1e-6, dt_max=1.0), Controls(), 0.0, NONE, stage, motion)
    clock.memory[MEMORY.level] = level / 0.01 ** float(clock.limits[LIMIT.exponent])
    return clock


GROWTH = 0.5 / 1.2**3
"""Share of the allowed error that is half of it in an increment 1.2 times as long: it goes with dt^3."""


@pytest.mark.parametrize(
    ("share", "longer"),
    [(0.99 * GROWTH, 1.2 * 0.99 ** (-1 / 3)), (1.01 * GROWTH, 1.0), (0.79, 1.0), (0.81, (0.5 / 0.81) ** (1 / 3))],
)
def test_increments_change_where_it_is_worth_it_and_aim_at_half_the_allowed_error(share, longer):
    clock = error_clock(share)
    clock.advance(0.01, 1, 3)
    assert clock.dt == pytest.approx(0.01 * longer, rel=1e-9)


@pytest.mark.parametrize(
    ("share", "shorter"), [(0.51, 0.9), (4.0, 0.5), (0.5 * 0.101**-3, 0.101), (0.5 * 0.09**-3, 0.1)]
)
def test_a_refused_increment_is_shortened_by_a_tenth_at_least_and_to_a_tenth_at_most(share, shorter):
    clock = error_clock(share)
    assert clock.cut(groups.TOO_LONG)
    assert clock.dt == pytest.approx(0.01 * shorter, rel=1e-3)


def test_motions_below_a_millionth_of_the_model_are_no_measure_of_errors():
    assert error_clock(1.0).limits[LIMIT.least_size] == pytest.approx(1e-6 * 10**0.5)


@pytest.mark.parametrize(
    ("spent", "is_full", "chunk"),
    [(0.09, True, 400), (0.09, False, 100), (0.11, True, 100), (0.39, True, 100), (0.41, True, 50)],
)
def test_chunks_take_about_a_fifth_of_a_second(spent, is_full, chunk):
    progress = Progress(None, chunk=100)  # type: ignore[arg-type]
    progress.pace(spent, is_full)
    assert progress.chunk == chunk


def test_first_chunk_of_a_large_model_is_short():
    """At 5 microseconds for an element or node, a fifth of a second."""
    for count, chunk in ((2, 16_384), (100, 400), (10_000, 4), (100_000, 1)):
        system: Any = SimpleNamespace(family=range(count // 2), labels=range(count // 2))
        assert first_chunk(system) == chunk


@pytest.mark.parametrize(
    ("iterations", "longer"), [(5, 1.0), (4, np.sqrt(5 / 4)), (6, np.sqrt(5 / 6)), (1, 2.0), (99, 0.5)]
)
def test_arcs_aim_at_five_solves(iterations, longer):
    """Ramm's rule, sqrt(wanted/taken), within a factor of two."""
    arc: Any = None
    clock = ArcClock(Static(0.1, 1.0), Controls(), 0.0, arc)
    clock.advance(0.1, 1, iterations)
    assert clock.dt == pytest.approx(0.1 * longer)


# ------------------------------------------------------------------------------------------ linear solvers
@dataclass
class Choice:
    solver: int = CG
    remark: str = "a library"


@dataclass
class StepSystem:
    choice: Choice = field(default_factory=Choice)


def test_the_third_system_given_up_sends_all_to_the_direct_solver():
    told: list[str] = []
    stage: Any = StepSystem()
    patience = Patience(told.append)
    for refusals in range(1, 4):
        patience.note_refusal(stage)
        assert (stage.choice.solver == EXTERNAL) == (refusals == 3) == bool(told)
    assert told == [
        "conjugate gradients gave up on indefinite or stiff systems: a direct solver is used from here on (a library)"
    ]


@pytest.mark.parametrize(("spent", "is_direct"), [(1199.0, False), (1201.0, True)])
def test_more_than_120_iterations_a_solve_cost_more_than_factors(spent, is_direct):
    told: list[str] = []
    stage: Any = StepSystem()
    motion: Any = SimpleNamespace(memory=np.zeros(len(MEMORY)))
    motion.memory[MEMORY.spent] = spent
    Patience(told.append).judge(stage, motion, np.full((4, len(ROW)), 2.5))
    assert (stage.choice.solver == EXTERNAL) == is_direct == any("120 iterations a solve" in t for t in told)
    assert motion.memory[MEMORY.spent] == 0.0


def test_pardiso_is_taken_from_5000_equations_on(monkeypatch):
    monkeypatch.setattr(factors, "is_installed", lambda package: True)
    assert factors.library_for("AUTO", 4999)[0] == factors.SUPERLU
    assert factors.library_for("AUTO", 5000)[0] == factors.PARDISO
    monkeypatch.setattr(factors, "is_installed", lambda package: False)
    assert [("not installed" in factors.library_for("AUTO", n)[1]) for n in (4999, 5000)] == [False, True]


# ------------------------------------------------------------------------------------------ remarks
def test_a_static_increment_of_more_than_15_solves_may_have_jumped():
    increments = np.zeros((3, 11))
    increments[:, ROW.iterations] = 3, 15, 15
    assert jumps_of(increments, 0) == []
    increments[1, ROW.iterations] = 16
    ((many, text),) = jumps_of(increments, 40)
    assert many.tolist() == [False, True, False] and "42" in text and "16" in text
