"""What numbers inside compiled loops decide, seen with the loops run as the Python functions that they are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fem.compiled.interpreted import rehearsal
from fem.forces import laws
from fem.forces.bar import INV_LENGTH
from fem.linear import chain as linear_chain
from fem.linear import factors, products
from fem.linear.choice import BAND
from fem.solve.explicit import leapfrog
from fem.solve.newton import gaps, groups, iterate, refine
from fem.solve.newton.arc import FAR, FARTHEST, METRIC, NUMBERS, RADIUS, strays
from fem.solve.newton.balance import has_drifted
from fem.solve.newton.estimate import judge
from fem.solve.newton.groups import ENERGY, LIMIT, MEMORY
from fem.solve.newton.iterate import is_converged
from tests.decks import run_text


@pytest.fixture(autouse=True)
def _python():
    with rehearsal():
        yield


def group(**members: Any) -> Any:
    """What kernels are given, as far as the test goes."""
    return SimpleNamespace(kind="group", **members)


# ------------------------------------------------------------------------------------------ Newton's iteration
def converges(norm: float, before: float, strain: float, *, floor: float, to_floor: bool, monkeypatch) -> tuple:
    """The third solve of an increment: whether it converged, and the flags. Scale of the residual: 1."""
    limits, memory = -np.ones(len(LIMIT)), np.zeros(len(MEMORY))
    limits[LIMIT.relative], limits[LIMIT.floor], limits[LIMIT.iterations] = 1e-6, floor, 50
    limits[LIMIT.to_floor] = float(to_floor)
    memory[MEMORY.previous], memory[MEMORY.previous_gap] = before, 1.0
    monkeypatch.setattr(iterate, "rod_strain", lambda bars, work: strain)
    good, flags = is_converged(limits, norm, 1.0, 3, group(), group(memory=memory), group())
    return bool(good), int(flags)


@pytest.mark.parametrize(("strain", "good"), [(0.9e-12, True), (1.1e-12, False)])
def test_rods_keep_their_lengths_to_a_billionth_of_a_thousandth(strain, good, monkeypatch):
    assert converges(1e-9, 1e-3, strain, floor=0.0, to_floor=False, monkeypatch=monkeypatch) == (good, 0)


@pytest.mark.parametrize(("norm", "flags"), [(0.91e-3, groups.AT_FLOOR), (0.89e-3, 0)])
def test_a_residual_above_its_limit_that_falls_by_less_than_a_tenth_is_round_off(norm, flags, monkeypatch):
    assert converges(norm, 1e-3, 0.0, floor=1.0, to_floor=False, monkeypatch=monkeypatch) == (flags > 0, flags)


@pytest.mark.parametrize(("norm", "floor", "good"), [
    (0.31e-9, 1.0, True), (0.29e-9, 1.0, False), (0.91e-9, 0.0, True), (0.89e-9, 0.0, False),
])  # fmt: skip
def test_iterating_to_round_off_ends_where_the_residual_no_longer_falls(norm, floor, good, monkeypatch):
    """Among residuals like the round-off of bar forces by less than to three tenths, above by less than a tenth."""
    assert converges(norm, 1e-9, 0.0, floor=floor, to_floor=True, monkeypatch=monkeypatch)[0] == good


@pytest.mark.parametrize(("norm", "strain", "good"), [
    (0.9e-16, 0.0, True), (1.1e-16, 0.0, False), (0.9e-16, 1.1e-16, False), (0.0, 0.0, True),
])  # fmt: skip
def test_iterating_to_round_off_ends_at_that_of_the_forces(norm, strain, good, monkeypatch):
    """Although the residual falls on, from 1e-9 to half of the last digit of the forces, which are 1."""
    assert converges(norm, 1e-9, strain, floor=0.0, to_floor=True, monkeypatch=monkeypatch)[0] == good


@pytest.mark.parametrize(("strain", "good"), [(0.9e-16, True), (1.1e-16, False)])
def test_iterating_to_round_off_closes_rods_to_theirs(strain, good, monkeypatch):
    assert converges(1e-9, 1e-9, strain, floor=0.0, to_floor=True, monkeypatch=monkeypatch)[0] == good


@pytest.mark.parametrize(("after", "remembered"), [(0, 1.0), (1, 0.95), (14, 0.95**14)])
def test_the_level_of_errors_fades_slowly(after, remembered):
    """To half of it in fourteen increments, less than a quarter of a period: the error is 0 in all of them."""
    memory, limits, nothing = np.zeros(len(MEMORY)), np.zeros(len(LIMIT)), np.zeros(3)
    memory[MEMORY.level], memory[MEMORY.last_dt], limits[LIMIT.time_error] = 1.0, 1.0, 1.0
    limits[LIMIT.least_size], limits[LIMIT.exponent] = 1.0, 3.0
    motion = group(memory=memory, u=nothing, origin=np.zeros((8, 3)), a=nothing, lagged=nothing)
    problem = group(nodes=group(mask=nothing), bars=group(rods=nothing))
    loading = group(dt=np.ones(1), thermal_end=np.zeros((1, 0)))
    for _ in range(after):
        trial = group(u=nothing, a=nothing, lagged=nothing, momentum=np.zeros(3))
        judge(group(lags=False, secant=True), limits, 0, problem, loading, motion, trial)
    assert memory[MEMORY.level] == pytest.approx(remembered)


@pytest.mark.parametrize(("length", "is_astray"), [(1.45, False), (1.55, True)])
def test_arcs_longer_than_one_and_a_half_radii_are_repeated(length, is_astray):
    """1/cos 48 degrees is 1.49: half of the square in the load factor, half in the displacements."""
    numbers = np.zeros(NUMBERS)
    numbers[RADIUS], numbers[METRIC], numbers[FAR], numbers[1] = 1.0, 1.0, FARTHEST, length / np.sqrt(2.0)
    ends = np.zeros(3), np.array([length / np.sqrt(2.0), 0.0, 0.0])
    assert strays(group(numbers=numbers), *ends) == is_astray


def drifted(error: float, strain: float, exchanged: float, force: float = 0.0, pull: float = 0.0) -> bool:
    """Energy error of a dof that has moved by 1, beside one with ``force`` and a rod of length 2 with ``pull``.

    Allowed is a tenth of what was exchanged.
    """
    energies, zero, constants = np.zeros(len(ENERGY)), np.zeros(2), np.full((INV_LENGTH + 1, 1), 0.5)
    energies[ENERGY.strain], energies[ENERGY.exchanged] = strain, exchanged
    moved, forces, multiplier = np.array([1.0, 0.0]), np.array([0.0, force]), np.array([pull / 2.0])
    motion = group(energies=energies, u=moved, v=zero, a=zero, force=forces, reaction=zero, multiplier=multiplier)
    nodes = group(mask=np.ones(2), mass=zero, dof_kind=np.ones(2))
    bars = group(rods=np.zeros(1, int), constants=constants)
    return bool(has_drifted(nodes, bars, motion, 0.1, error, 0.1))


@pytest.mark.parametrize(("error", "is_drift"), [(0.9e-4, False), (1.1e-4, True)])
def test_next_to_nothing_exchanged_is_no_measure_of_drift(error, is_drift):
    """A spring that stores the energy 1: a thousandth of the tenth of it always is allowed."""
    assert drifted(error, 1.0, 0.0) == is_drift


@pytest.mark.parametrize("travel", [0.0, 300.0])
@pytest.mark.parametrize(("mask", "kinetic"), [(1.0, 1.0), (0.0, 2.0)])
@pytest.mark.parametrize(("error", "is_drift"), [(0.99, False), (1.01, True)])
def test_motion_without_exchange_is_judged_by_what_moves_within_it(error, is_drift, mask, kinetic, travel):
    """Two masses of 1 that move apart at 2: of the energy 1 about their mean, or 2 about one that is held."""
    v, zero = np.array([travel, 0.0, 0.0, travel + 2.0, 0.0, 0.0]), np.zeros(6)
    motion = group(energies=np.zeros(len(ENERGY)), u=zero, v=v, a=zero, force=zero, reaction=zero)
    nodes = group(mask=np.array([mask, 1.0, 1.0, 1.0, 1.0, 1.0]), mass=np.ones(6), dof_kind=np.ones(6))
    bars = group(rods=np.zeros(0, int))
    assert has_drifted(nodes, bars, motion, 0.1, error * 0.1 * kinetic * 1.0005, 0.1) == is_drift


@pytest.mark.parametrize(("error", "is_drift"), [(0.9e-10, False), (1.1e-10, True)])
def test_round_off_of_a_travel_is_no_drift(error, is_drift):
    """Two masses of 1 that fly on side by side at 1, with the kinetic energy 1: nothing moves within that."""
    v, zero = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(6)
    energies = np.zeros(len(ENERGY))
    energies[ENERGY.kinetic] = 1.0
    motion = group(energies=energies, u=zero, v=v, a=zero, force=zero, reaction=zero)
    nodes, bars = group(mask=np.ones(6), mass=np.ones(6), dof_kind=np.ones(6)), group(rods=np.zeros(0, int))
    assert has_drifted(nodes, bars, motion, 0.1, error, 0.1) == is_drift


@pytest.mark.parametrize(("error", "is_drift"), [(0.9e-8, False), (1.1e-8, True)])
def test_round_off_of_large_forces_is_no_drift(error, is_drift):
    """A motion by 1, where there is a force of 1e6: whether it acts just there, forces that meet do not tell."""
    assert drifted(error, 0.0, 0.0, force=1e6) == is_drift


@pytest.mark.parametrize(("error", "is_drift"), [(1.9e-9, False), (2.1e-9, True)])
def test_round_off_of_rods_is_no_drift(error, is_drift):
    """A pull of 1e6 over the length 2 times a strain of 1e-15."""
    assert drifted(error, 0.0, 0.0, pull=1e6) == is_drift


# ------------------------------------------------------------------------------------------ rods
def solved(errors: list[float], enough: float, monkeypatch) -> tuple[bool, int]:
    """A linear solve with rods whose answers are off by ``errors``: whether it is believed, how often it was made."""
    made: list[float] = []
    monkeypatch.setattr(refine, "keep", lambda *_: None)
    monkeypatch.setattr(refine, "restore", lambda *_: None)
    monkeypatch.setattr(refine, "accumulate", lambda *_: None)
    monkeypatch.setattr(refine, "linear_system", lambda *_: None)
    monkeypatch.setattr(refine, "solve_with_border", lambda *_: True)
    monkeypatch.setattr(
        refine, "leave_rest", lambda *_: made.append(errors[min(len(made), len(errors) - 1)]) or made[-1]
    )
    work = group(tau=np.zeros(0), tangent=0, block=0, residual=0, band=0, blocks=0, unknowns=0, du=0)
    problem = group(solver=BAND, nodes=0, bars=0, tree=0, plan=0, equations=0)
    good = refine.solve_checked(False, enough, group(), problem, work)
    return bool(good), len(made)


@pytest.mark.parametrize(("errors", "good", "count"), [
    ([0.9e-10], True, 2), ([1.1e-10], False, 2),  # believed or not, where another solve does not help
    ([1e-3, 0.4e-3, 1e-15], True, 3), ([1e-3, 0.6e-3, 1e-15], False, 2),  # worth another solve or not
    ([10.0**-k for k in range(15)], False, 8),  # most solves
])  # fmt: skip
def test_answers_with_rods_are_refined_while_that_helps(errors, good, count, monkeypatch):
    assert solved(errors, 1e-14, monkeypatch) == (good, count)


def test_answers_that_are_printed_are_refined_to_round_off_and_others_as_newton_needs(monkeypatch):
    assert solved([1e-11, 1e-15], factors.ROUND_OFF, monkeypatch) == (True, 2)
    assert solved([1e-15, 1e-16], factors.ROUND_OFF, monkeypatch) == (True, 1)
    assert solved([1e-11, 1e-15], refine.TOWARDS, monkeypatch) == (True, 1)
    assert solved([1e-9, 1e-12], refine.TOWARDS, monkeypatch) == (True, 2)


# ------------------------------------------------------------------------------------------ explicit steps
@pytest.mark.parametrize(("apart", "is_regular"), [(1e-13, True), (1e-15, False)])
def test_rods_of_explicit_steps_depend_on_each_other_below_round_off(apart, is_regular):
    assert leapfrog.factor(1, np.array([[0.0, 1.0], [1.0, 1.0 + apart]])) == is_regular


@pytest.mark.parametrize(("strains", "kept", "passes"), [
    ([1e-3, 0.9e-14], True, 1),
    ([1e-3, 1.1e-14, 0.9e-14], True, 2),
    ([1e-3, 1e-8, 1e-12, 0.51e-12], True, 3),  # no longer falls, small enough
    ([1e-3, 1e-8, 1e-12, 0.49e-12, 0.49e-12], True, 4),  # falls on
    ([1e-3, 1e-8, 1.1e-12, 1.1e-12, 1e-15], True, 4),  # too large to be round-off
    ([1e-3, 1e-8, 1.1e-12], False, 60),
    ([2.0], False, 0),
])  # fmt: skip
def test_positions_of_explicit_rods_are_moved_until_strains_are_round_off(strains, kept, passes, monkeypatch):
    """At most sixty times, and not from beyond twice the length."""
    found, moves = iter(strains), []
    monkeypatch.setattr(leapfrog, "measure_gaps", lambda ties, bars, u: next(found, strains[-1]))
    monkeypatch.setattr(leapfrog, "push", lambda ties, bars, u: moves.append(1))
    monkeypatch.setattr(leapfrog, "turn", lambda ties, bars, u: True)
    work = group(u=np.zeros(3), v=np.zeros(3), du=np.zeros(3))
    assert leapfrog.keep_lengths(0.1, group(), group(), work) == kept
    assert len(moves) == passes


@pytest.mark.parametrize(("size", "is_finite"), [(1e299, True), (1e301, False)])
def test_energies_and_velocities_beyond_1e300_are_overflow(size, is_finite):
    assert leapfrog.is_finite(size, np.zeros(3)) == is_finite
    assert leapfrog.is_finite(0.0, np.array([size])) == is_finite


# ------------------------------------------------------------------------------------------ ropes, waiting pulls
@pytest.mark.parametrize(("gap", "has_left"), [(-0.9e-13, False), (-1.1e-13, True)])
def test_a_slack_rope_has_left_its_length_beyond_round_off(gap, has_left, monkeypatch):
    """From then on it may not be too long any more: what it was allowed ends."""
    monkeypatch.setattr(gaps, "gap_of", lambda e, u, bars: gap)
    monkeypatch.setattr(gaps, "rate_of", lambda e, u, v, bars: 0.0)
    constants = np.ones((40, 1))
    ropes = group(bars=np.zeros(1, np.int64), allowance=np.full(1, 1e-10))
    bars = group(kinds=np.array([[0, laws.BILINEAR]]), constants=constants)
    assert not gaps.changes(ropes, bars, 1.0, *np.zeros((4, 6)), np.zeros(1))
    assert ropes.allowance[0] == (0.0 if has_left else 1e-10)


@pytest.mark.parametrize(("mass", "waits"), [(500.0, False), (2000.0, True)])
def test_a_pull_waits_where_three_digits_would_be_lost(mass, waits, monkeypatch):
    """Three rods in line: a node that a rod ties to such a mass gives way along the next one by 1/(1 + m)."""
    waiting: list[int] = []
    honest = linear_chain.wait
    monkeypatch.setattr(linear_chain, "wait", lambda i, *rest: waiting.append(int(i)) or honest(i, *rest))
    run_text(ROW.format(mass=mass), solver="CHAIN")
    assert bool(waiting) == waits


ROW = """*NODE
1,0,0,0
2,0,0,-1
3,0,0,-2
4,0,0,-3
*ELEMENT, TYPE=T3D2, ELSET=R
1,1,2
2,2,3
3,3,4
*ELEMENT, TYPE=MASS, ELSET=P
4,2
5,3
*MASS, ELSET=P
1.
*ELEMENT, TYPE=MASS, ELSET=H
6,4
*MASS, ELSET=H
{mass!r}
*MATERIAL, NAME=M
*INEXTENSIBLE
*SOLID SECTION, ELSET=R, MATERIAL=M
1.
*BOUNDARY
1,1,3
2,2
3,2
4,2
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.01
*DLOAD
P, GRAV, 9.81, 0, 0, -1
*END STEP
"""


@pytest.mark.parametrize(("share", "taken"), [(0.5e-30, 1), (2e-30, 2)])
def test_bicgstab_gives_up_where_its_directions_have_nothing_in_common(share, taken, monkeypatch):
    """A turn by nearly a right angle: r.A r is the share of r.r; another solver does it."""
    matrix, made = np.zeros((3, 3)), []
    matrix[:2, :2] = [[share, 1.0], [-1.0, share]]

    def multiply(tangent, block, free, x, product):
        made.append(1)
        product[:] = matrix @ x

    monkeypatch.setattr(products, "diagonal_blocks", lambda *_: True)
    monkeypatch.setattr(products, "precondition", lambda inverse, r, z: z.__setitem__(slice(None), r))
    monkeypatch.setattr(products, "multiply", multiply)
    none, given = np.zeros(0), np.array([1.0, 0.0, 0.0])
    linear = group(tangent=0, block=none, inverse=none, free=np.ones(3), residual=given, du=np.zeros(3))
    spent = products.solve_bicgstab(1e-8, linear, np.zeros((6, 3)))
    assert spent == -1 and len(made) == taken
