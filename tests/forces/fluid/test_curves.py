"""Curves that kernels evaluate are those of the model, at every instant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem.forces.curves import gathered, largest, value_at, with_zero
from fem.model import Amplitude
from fem.model.curves import Constant, Follow, Ramp, evaluate

times = st.floats(-3.0, 3.0)
CURVES = [
    Constant(-1.5),
    Ramp(0.5, 2.0, 3.0, -1.0),
    Follow(Amplitude("LINES", points=((0.0, 1.0), (0.3, 2.0), (1.1, -1.0))), 0.7),
    Follow(Amplitude("ONE", points=((0.2, 4.0),)), 0.0),
    Follow(Amplitude("SMOOTH", "SMOOTH STEP", points=((0.0, 0.0), (1.0, 2.0), (1.5, 1.0))), -0.4),
    Follow(Amplitude("SPLINE", "SPLINE", points=((0.0, 0.0), (0.4, 1.0), (1.0, -1.0), (1.6, 0.5), (2.0, 0.0))), 0.1),
    Follow(Amplitude("WAVES", "PERIODIC", omega=5.0, start=0.2, mean=0.3, fourier=((1.0, -2.0), (0.5, 0.25))), 0.6),
    Follow(Amplitude("MEAN", "PERIODIC", omega=5.0, mean=0.3), 0.6),
]


@settings(max_examples=60)
@given(time=times)
def test_values_are_those_of_the_model(time):
    """The kernel as the Python function it is made of."""
    curves = gathered(CURVES)
    for c, curve in enumerate(CURVES):
        assert value_at.function(curves, c, time) == pytest.approx(evaluate(curve, np.array([time]))[0], abs=1e-12)


@settings(max_examples=30)
@given(time=times)
def test_one_more_is_nothing(time):
    assert value_at.function(with_zero(gathered(CURVES)), len(CURVES), time) == 0.0
    assert value_at.function(with_zero(gathered(CURVES)), 1, time) == value_at.function(gathered(CURVES), 1, time)


@pytest.mark.parametrize("curve", CURVES)
def test_no_value_is_larger_than_the_largest(curve):
    """And some is, but of a series, whose terms need not have their largest values together."""
    values = np.abs(evaluate(curve, np.linspace(-3.0, 5.0, 20001)))
    assert values.max() <= largest(curve) * (1.0 + 1e-12)
    series = isinstance(curve, Follow) and len(curve.amplitude.fourier) > 1
    assert values.max() >= (0.75 if series else 1.0 - 1e-6) * largest(curve)
