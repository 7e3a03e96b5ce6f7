"""When explicit steps close their energy balance, look at their stability, and how sharply they know its limit."""

from __future__ import annotations

import numpy as np
import pytest

from fem.errors import NoConvergence
from fem.solve.explicit import driver
from fem.solve.explicit.driver import critical_increment, fastest_square
from fem.solve.step_system import loading
from tests.solve.test_explicit import explicit_chain, limit_of
from tests.solve.test_linear_policies import step_run_of

CHAIN = explicit_chain(40, 1e-4, 0.1, young=1e4)


def march(step_run):
    """Through the whole step."""
    step_run.open()
    while not step_run.clock.is_finished:
        step_run.advance()


def test_stability_is_looked_at_every_200_increments(monkeypatch):
    """Of 1000: five times. Where the increment has become too long the run stops at the next look."""
    looks: list[int] = []
    step_run = step_run_of(CHAIN)
    monkeypatch.setattr(driver.Explicit, "_is_too_long", lambda *_: looks.append(1) or len(looks) == 8)
    march(step_run)
    assert len(looks) == 5
    step_run = step_run_of(CHAIN)
    with pytest.raises(NoConvergence, match=r"step 1 stopped at t = 0\.04: the structure has become stiffer"):
        march(step_run)


def test_energy_balances_are_closed_every_fifty_increments(monkeypatch):
    """Where nothing makes work depend on the path in between; where supports move, in all."""
    step_run = step_run_of(CHAIN)
    assert isinstance(step_run.marcher, driver.Explicit)
    increments = np.arange(1, 1001)
    motion = step_run.progress.motion
    chunk = loading(step_run.stage, motion, np.arange(1001) * 1e-4, np.full(1000, 1e-4))
    monkeypatch.setattr(step_run.schedule, "rows_due", lambda *_: np.zeros(1000, np.bool_))
    due = step_run.marcher.due(step_run, chunk)
    assert increments[due].tolist() == list(range(50, 1001, 50))
    moving = chunk._replace(support_dofs=np.zeros(1, np.int64))
    assert step_run.marcher.due(step_run, moving).all()


def fastest(bars: int, extra: str = "") -> tuple[float, int, float]:
    """omega_max^2 of a chain by Lanczos' iteration, how many products it took, and the critical increment."""
    step_run = step_run_of(explicit_chain(bars, 1e-8, 1e-7, young=1e4, material=extra))
    explicit, stage, motion = step_run.marcher, step_run.stage, step_run.progress.motion
    assert isinstance(explicit, driver.Explicit)
    thermal = loading(stage, motion, np.zeros(2), np.ones(1)).thermal_end[0]
    products: list[int] = []
    honest = driver.multiply
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "multiply", lambda *given: products.append(1) or honest(*given))
        _, node = driver.bound_of(stage, explicit.taut, explicit.moved, motion, thermal, 0.0, driver.FAR)
        square = fastest_square(stage, explicit.moved, node)
    limit = critical_increment(stage, explicit.taut, explicit.moved, motion, thermal, 0.0).dt
    return square, len(products), limit


@pytest.mark.parametrize("bars", [30, 60, 400])
def test_the_fastest_mode_is_known_to_a_ten_thousandth_of_its_square_in_eighty_products(bars):
    """From below. The spectrum of long chains ends densely: the iteration is ended by what five steps still gain."""
    square, products, _ = fastest(bars)
    exact = 4.0 / limit_of(bars, 1e4) ** 2
    assert -1e-12 <= 1.0 - square / exact < 1e-3
    assert products <= 80
    if bars == 30:
        assert 1.0 - square / exact < 1e-7 and products < 3 * bars


@pytest.mark.parametrize("damping", [1e-6, 1e-3, 1.0])
def test_the_critical_increment_of_a_damped_bar_is_found_in_twenty_rounds(damping):
    """2/omega (sqrt(1 + 4 xi^2) - 2 xi), xi = beta omega/2, from the undamped one on."""
    omega = 2.0 / limit_of(1, 1e4)
    found = fastest(1, f"*DAMPING, BETA={damping!r}")[2]
    share = 0.5 * damping * omega
    exact = 2.0 / omega * (1.0 / (np.sqrt(1.0 + 4.0 * share**2) + 2.0 * share))
    assert found == pytest.approx(exact, rel=1e-8)
