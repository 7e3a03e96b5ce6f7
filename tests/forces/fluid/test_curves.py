"""Curves that kernels evaluate are those of the model, at every instant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem.forces.fluid.curves import gathered, value_at
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


@settings(max_examples=200, deadline=None)
@given(time=times)
def test_values_are_those_of_the_model(time):
    """The kernel as the Python function it is made of."""
    curves = gathered(CURVES)
    for c, curve in enumerate(CURVES):
        assert value_at.function(curves, c, time) == pytest.approx(evaluate(curve, np.array([time]))[0], abs=1e-12)
