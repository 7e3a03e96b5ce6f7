"""The law of damped cables and struts: what it may take, what it may not, and where it is continuous."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fem.compiled.interpreted import rehearsal
from fem.forces import laws

STRESS = st.floats(-100.0, 100.0)
RATIO = st.floats(0.0, 1.0)
ETA = 0.7


def stress(trial, viscous, plus, minus, reach=0.0):
    """Stress of a damped bar, viscous part included."""
    with rehearsal():  # as the Python function that it is
        elastic, drag = laws.damped_fractions(trial, viscous, ETA, reach, plus, minus)
    return elastic * trial + drag * viscous


@given(STRESS, STRESS)
def test_a_taut_cable_is_damped_in_full_but_never_pushes(trial, viscous):
    """S = max(E e + beta E de/dt, 0) while taut, 0 while slack; a strut is its mirror image."""
    expected = max(trial + viscous, 0.0) if trial >= 0.0 else 0.0
    assert stress(trial, viscous, 1.0, 0.0) == pytest.approx(expected, abs=1e-13)
    assume(trial != 0.0)
    assert stress(-trial, -viscous, 0.0, 1.0) == pytest.approx(-expected, abs=1e-13)


@given(STRESS, STRESS, RATIO)
def test_a_soft_string_lies_between_cable_and_bar(trial, viscous, ratio):
    """It is a bar of modulus ratio E beside a cable of modulus (1 - ratio) E, so RATIO -> 0 tends to a cable."""
    cable, bar = stress(trial, viscous, 1.0, 0.0), trial + viscous
    mixed = ratio * bar + (1.0 - ratio) * cable
    assert stress(trial, viscous, 1.0, ratio) == pytest.approx(mixed, rel=1e-12, abs=1e-12)


@given(STRESS, STRESS, RATIO, RATIO, st.floats(0.0, 10.0, allow_subnormal=False))
def test_damping_takes_energy_at_every_instant(trial, viscous, plus, minus, reach):
    elastic = (plus if trial >= 0.0 else minus) * trial
    damped = stress(trial, viscous, plus, minus, reach) - elastic
    assert damped * viscous >= -1e-12


@given(STRESS, STRESS, RATIO, RATIO)
def test_damping_takes_energy_in_every_secant(t0, t1, plus, minus):
    """The mean stress of an increment, viscous part included, does at least the work that is stored."""
    assume(abs(t1 - t0) > 1e-6)
    rise = t1 - t0  # modulus 1
    with rehearsal():
        elastic, modulus = laws.bilinear(t0, t1, 1.0, plus, minus)
        ends = t0, t1, laws.fraction(t1, plus, minus)
        kept, _ = laws.damped_secant(elastic, modulus, ends, ETA, rise, 1.0, plus, minus)
    assert (kept - elastic) * rise >= -1e-10


@given(st.floats(0.01, 100.0), st.floats(0.01, 10.0), RATIO)
def test_a_cable_that_becomes_taut_is_damped_without_a_jump(viscous, reach, ratio):
    """Through zero stress, and where the damping is in force in full: eta t/reach = w."""
    for trial in (0.0, viscous * reach / ETA):
        below, above = trial - 1e-9 * reach, trial + 1e-9 * reach
        assert stress(below, viscous, 1.0, ratio, reach) == pytest.approx(
            stress(above, viscous, 1.0, ratio, reach), abs=1e-7 * (1.0 + reach)
        )
    at_once = stress(viscous * reach / ETA + 1e-6, viscous, 1.0, ratio)
    assert stress(viscous * reach / ETA + 1e-6, viscous, 1.0, ratio, reach) == pytest.approx(at_once)
