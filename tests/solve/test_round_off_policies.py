"""What small numbers decide about masses, loads, mechanisms and rods at the start of a step, and how steps end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import fem
from fem.errors import ModelError
from fem.model import Controls
from fem.solve import start
from fem.solve.clock import refuse_endless
from fem.solve.newton.groups import MEMORY
from fem.solve.rods import _null_vector
from fem.solve.statics import mechanisms
from fem.solve.step_system import limits_of, loading
from tests.decks import COLUMN, run_text, step
from tests.solve.test_linear_policies import step_run_of


# ------------------------------------------------------------------------------------------ mass
@pytest.mark.parametrize("is_dense", [True, False])
@pytest.mark.parametrize(("share", "is_singular"), [(2e-12, False), (0.5e-12, True)])
def test_a_direction_with_a_billionth_of_a_thousandth_of_the_mass_has_none(share, is_singular, is_dense, monkeypatch):
    """Two dofs that nearly share their mass (sum and difference have 1 + c and 1 - c), or nearly all of it."""
    pivot = 0.5 * share if not is_dense else share
    matrix = np.array([[1.0, 1.0 - pivot], [1.0 - pivot, 1.0]])
    monkeypatch.setattr(start, "dense_mass", lambda stage: matrix)
    monkeypatch.setattr(start, "mass_matrix", lambda stage: csr_array(matrix))
    monkeypatch.setattr(start, "reduction", lambda free, links: csr_array(np.eye(2)))
    monkeypatch.setattr(start, "DENSE", 300 if is_dense else 0)
    none = np.zeros(0, np.int64)
    links = SimpleNamespace(slave=none, master=none, factor=np.zeros(0), start=np.zeros(1, np.int64))
    bars, nodes = SimpleNamespace(off_mass=np.ones(1)), SimpleNamespace(mass_pairs=none)
    stage: Any = SimpleNamespace(equations=links, bars=bars, nodes=nodes)
    a, right = np.zeros(2), np.array([2.0 - pivot, 2.0 - pivot])
    singular = start._solve_mass(stage, right, np.ones(2, np.int64), a)
    assert (len(singular) > 0) == is_singular
    if not is_singular:
        assert a == pytest.approx([1.0, 1.0], rel=1e-3)


@pytest.mark.parametrize(("size", "far"), [(1.0, 1e-12), (1e3, 1e-9), (1e-6, 1e-12)])
def test_lengths_below_a_billionth_of_a_thousandth_of_the_coordinates_are_round_off(size, far):
    """Of the coordinates, or of 1."""
    system: Any = SimpleNamespace(coordinates=np.array([[0.0, 0.0, -size], [0.5 * size, 0.0, 0.0]]))
    assert start.no_length(system) == pytest.approx(far)


def test_the_first_iterative_solve_is_four_digits_better_than_what_it_starts_from():
    """Then Newton's iteration says how good they have to be."""
    step_run = step_run_of(COLUMN + step("*CLOAD\n3, 3, 1."))
    start.evaluate_start(step_run.stage, step_run.progress.motion, loading_of(step_run))
    start.open_energies(step_run.stage, step_run.progress.motion, loading_of(step_run), True)
    assert 1e-5 <= step_run.progress.motion.memory[MEMORY.forcing] <= 1e-3


def loading_of(step_run: Any) -> Any:
    return loading(step_run.stage, step_run.progress.motion, np.zeros(2), np.ones(1))


# --------------------------------------------------------------------------------- unrestrained directions, mechanisms
@pytest.mark.parametrize(("share", "is_loose"), [(0.9e-14, True), (1.1e-14, False)])
def test_a_direction_with_round_off_of_the_stiffness_of_its_node_is_loose(share, is_loose):
    found = mechanisms._free_null_space(np.array([share, 1.0, 1.0]), np.eye(3), 1.0, np.ones(3, np.bool_))
    assert found.tolist() == ([[1.0, 0.0, 0.0]] if is_loose else [])


@pytest.mark.parametrize(("load", "is_loaded"), [(0.9e-12, False), (1.1e-12, True)])
def test_round_off_of_loads_does_not_load_a_unrestrained_direction(load, is_loaded):
    """A component of a load along the bars: sines and cosines are written with 16 digits at best."""
    text = COLUMN + step(f"*CLOAD\n3, 3, 1.\n2, 1, {load!r}")
    assert any("kept in place: node 2 dof 1" in notice for notice in run_text(text).notices) != is_loaded


@pytest.mark.parametrize(("share", "is_mechanism"), [(0.9e-12, True), (1.1e-12, False)])
def test_a_mechanism_has_no_more_than_round_off_of_the_largest_stiffness(share, is_mechanism, monkeypatch):
    monkeypatch.setattr(mechanisms, "softest", lambda stage, motion, now: (4, share))
    stage: Any = SimpleNamespace(system=SimpleNamespace(name_dof=lambda dof: "node 2 dof 2"), loose="")
    motion: Any = None
    if is_mechanism:
        with pytest.raises(ModelError, match="the model is a mechanism: node 2 dof 2 can move"):
            mechanisms.refuse_mechanism(stage, motion, 0.0, 1)
    else:
        mechanisms.refuse_mechanism(stage, motion, 0.0, 1)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize(("left", "depends"), [(2e-11, False), (0.5e-11, True)])
def test_rods_in_line_to_some_millionths_repeat_each_other(left, depends, form):
    """Two rows at a small angle d: 1 - cos d = d^2/2 of the smaller eigenvalue of C C^T is left."""
    angle = np.sqrt(2.0 * left)
    rows = form(np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]]))
    assert (_null_vector(rows) is not None) == depends


# ------------------------------------------------------------------------------------------ the course of a step
def test_iterating_to_round_off_may_end_at_a_millionth_only():
    """CORRECTION alone asks for it: what no longer falls above 1e-6 of the forces is no equilibrium."""
    bars = step_run_of(COLUMN + step("*CLOAD\n3, 3, 1.")).stage.bars
    given = limits_of(Controls(residual_relative=None), bars)
    assert given[0] == pytest.approx(1e-6) and given[6] == 1.0
    assert limits_of(Controls(residual_relative=1e-3), bars)[0] == 1e-3


@pytest.mark.parametrize(("dt", "is_refused"), [(2e-9, False), (0.5e-9, True)])
def test_increments_are_some_thousand_times_the_round_off_of_total_time(dt, is_refused):
    """Steps that end at 1000 with increments of 1e-9: their times have 16 digits, of which the increment has four."""
    procedure = fem.model.Dynamic(dt, 1e3 * dt, direct=True)
    if is_refused:
        with pytest.raises(ModelError, match="are lost to round-off"):
            refuse_endless(1, procedure, 1e3)
    else:
        refuse_endless(1, procedure, 1e3)


def test_a_path_without_an_end_stops_after_ten_thousand_arcs():
    """Without INC= of *STEP."""
    riks = step("*CLOAD\n3, 3, -1.", options=", RIKS", data="1e-9, 1., 1e-12, 1e-9").replace(
        ", NLGEOM=YES", ", NLGEOM=YES"
    )
    assert step_run_of(COLUMN.replace("3,1,2", "3,1,2\n2,1,2") + riks).most == 10_000
