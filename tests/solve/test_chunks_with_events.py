"""Chunks of increments go on through events of ropes, and the instants of these are those of Brent's method."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
from fem.compiled import bound
from fem.deck import read_deck
from fem.runs.history import BALANCED
from fem.runs.record import SilentSink
from fem.solve import state, step_run
from fem.solve.outcome import TENSION
from fem.solve.ropes.events import zero_between
from fem.study.trajectory import Trajectory, advance_to

DECK = Path(__file__).resolve().parents[2] / "inputs" / "string_pendulum_rope.inp"
SHORT = {"A": 10.0, "increments": 60, "periods": 2}


class Kept(SilentSink):
    """Keeps chunks of rows, and events."""

    hears_rows = True

    def __init__(self):
        self.chunks, self.events = [], []

    def rows(self, rows):
        self.chunks.append(rows)

    def event(self, event):
        self.events.append(event)

    def of(self, name):
        return np.concatenate([getattr(rows, name) for rows in self.chunks])


@pytest.fixture
def marched(monkeypatch):
    """A function that moves a pendulum on a rope, in chunks of at most some increments."""
    monkeypatch.setattr(step_run, "CHUNK_SECONDS", math.inf)  # kernels may be Python functions

    def march(most):
        run = Trajectory(read_deck(DECK, SHORT), Kept())
        run.open()
        while not run.last.clock.is_finished:
            run.progress.few = 1000
            advance_to(run.last, run.progress.increment + most)
        return run.sink

    return march


def test_a_chunk_goes_on_through_events(marched):
    whole, parts = marched(1000), marched(7)
    assert len(whole.events) > 3
    assert len(whole.chunks) == 2 and len(parts.chunks) > 120 // 7  # that of increment 0 is one of them
    assert whole.events == parts.events
    for name in ("time", "motion", "element_values", "kinetic", "dissipated", "iterations", "energy_error"):
        assert np.array_equal(whole.of(name), parts.of(name)), name


def test_arrays_of_a_march_are_looked_up_once(marched, monkeypatch):
    """Of chunks, trials and parts of increments, taut and slack: not at every event."""
    looked_up = []
    monkeypatch.setattr(state, "bound", lambda *call: looked_up.append(call) or bound(*call))
    assert len(marched(1000).events) > 3
    assert len(looked_up) <= 6


def test_an_event_belongs_to_the_increment_in_which_it_happens(marched):
    found = marched(1000)
    time, increments = found.of("time"), [each.increment for each in found.events]
    assert increments == sorted(increments) and increments[-1] > increments[0]
    for each in found.events:
        assert time[max(each.increment - 1, 0)] <= each.time <= time[each.increment]


def test_rows_of_a_sweep_are_those_of_single_runs():
    amplitudes = [0.0, 8.0, 13.0]
    fixed = {name: value for name, value in SHORT.items() if name != "A"}
    table = fem.sweep(DECK, {"A": amplitudes}, workers=1, parameters=fixed)
    for row, amplitude in enumerate(amplitudes):
        run = fem.run(DECK, parameters={**fixed, "A": amplitude})
        assert table["verdict"][row] == "completed"
        assert table["U3_2_end"][row] == run.motion[-1, 0, 1, 2]
        assert table["U1_2_max"][row] == run.motion[:, 0, 1, 0].max()
        assert table["T_1_max"][row] == run.elements[:, 0, TENSION].max()
        assert table["dissipated_end"][row] == run.energy[-1, BALANCED.index("dissipated")]
        assert table["iterations_total"][row] == run.iterations.sum()


def root_of(f, low, high, sharp):
    """Root and the places where f was evaluated: of SciPy, and of the program."""
    theirs, ours = [], []
    given = {"xtol": sharp, "rtol": 1e-14, "maxiter": 200, "disp": False}
    root = brentq(lambda x: (theirs.append(x), f(x))[1], low, high, **given)
    found = zero_between(lambda x: (ours.append(x), f(x))[1], (low, f(low)), (high, f(high)), sharp)
    return (root, theirs[2:]), (found, ours)  # SciPy begins with both ends


@pytest.mark.parametrize("bent", [lambda x: math.copysign(abs(x) ** 0.5, x), lambda x: x**3, lambda x: x > 0.3])
def test_roots_are_those_of_brents_method_to_the_last_bit(bent):
    generator, found = np.random.default_rng(1), 0
    for _ in range(300):
        a, b, c = (generator.normal(size=3) * 10.0 ** generator.uniform(-3, 3, size=3)).tolist()
        low, within, high = sorted(generator.uniform(-1, 1, 3).tolist())

        def f(x, a=a, b=b, c=c, within=within):
            return a * (x - within) + b * x * x * math.sin(x - within) + c * (bent(x) - bent(within))

        if f(low) * f(high) < 0.0:
            theirs, ours = root_of(f, low, high, 10.0 ** generator.uniform(-13, -6))
            assert ours == theirs
            found += 1
    assert found > 100


def test_a_run_with_events_imports_no_scipy():
    parameters = {**SHORT, "periods": 1}
    code = f"import sys, fem; h = fem.run({str(DECK)!r}, parameters={parameters}); assert h.events"
    code += "; print([name for name in sys.modules if name.startswith('scipy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
