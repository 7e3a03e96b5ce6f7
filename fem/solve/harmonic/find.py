"""The harmonic motions of a ``*STEADY STATE DYNAMICS`` step, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fem.arrays import Complexes, Floats, Ints
from fem.errors import ModelError
from fem.forces.bars.bar import PULL, P
from fem.forces.equations import expand
from fem.forces.families import FAMILIES, FIRST
from fem.results.record import Response
from fem.solve.harmonic.acting import Acting
from fem.solve.harmonic.small import Small, small_motions
from fem.solve.harmonic.solve import MOST, answer_at, largest
from fem.solve.harmonic.values import Bars, element_values, going_slack, node_values
from fem.solve.newton.groups import Motion
from fem.solve.step_system import StepSystem, loading_at

BALANCED = 1e-3
"""Fraction of the largest force up to which a state counts as one of rest."""


def responses(
    stage: StepSystem, motion: Motion, acting: Acting, frequencies: Floats, asked: tuple[int, Ints, Ints],
    say: Callable[[str], None],
) -> Iterator[Response]:  # fmt: skip
    """Those at all frequencies, confirmed by their residuals; others are left out, and named.

    asked  number of the step, indices of nodes and of elements;  say: is told what a reader must know
    """
    step, nodes, elements = asked
    refuse_memories(stage.system.family[:, 0])
    is_known = stage.system.family[elements, 0] < FIRST
    elements, unknown = elements[is_known], int(np.count_nonzero(~is_known))
    omegas = 2.0 * np.pi * frequencies
    small = small_motions(stage, motion, loading_at(stage, motion, acting.time), float(omegas[0]))
    count = small.transform.shape[1]
    if count == 0:
        raise ModelError("*STEADY STATE DYNAMICS: no dof is free")
    unbalance = unbalanced(small)
    bars, guess = Bars(small), np.zeros(count, complex)
    failed, slack = list[float](), dict[int, float]()
    for frequency, omega in zip(frequencies.tolist(), omegas.tolist(), strict=True):
        given = passed_on(small, acting.given(frequency))
        answer = answer_at(small, omega, acting.load(frequency), given, guess)
        if not answer.is_confirmed:
            failed.append(frequency)
            guess = np.zeros(count, complex)
            continue
        guess = independent(small, answer.u - given)
        of_bars = bars.values(small, answer)
        for bar in going_slack(small, bars, of_bars).tolist():
            slack.setdefault(bar, frequency)
        moved, pulled = node_values(small, answer, omega), element_values(small, of_bars, answer, omega)
        known = step, frequency, answer.iterations, answer.residual
        yield Response(*known, nodes, moved[:, nodes], elements, pulled[elements])
    more = f"*STEADY STATE DYNAMICS: {unknown} elements have no amplitudes in the tables" if unknown else ""
    for text in filter(None, (unbalance, left_out(failed), over_slack(stage, slack), more)):
        say(text)


def refuse_memories(families: Ints) -> None:
    """ModelError where forces of elements follow what they remember; families (k,) of all elements."""
    known = (FAMILIES[number - FIRST] for number in sorted(set(families.tolist())) if number >= FIRST)
    names = [family.name for family in known if not family.smooth]
    if names:
        raise ModelError(
            f"*STEADY STATE DYNAMICS does not follow {' and '.join(names)}: what they remember changes within a cycle. "
            "*DYNAMIC does"
        )


def passed_on(small: Small, given: Complexes) -> Complexes:
    """The motion of supports with that of the dofs that equations make dependent on them."""
    parts = given.real.copy(), given.imag.copy()
    for part in parts:
        expand(small.stage.equations, part)
    return np.asarray(parts[0] + 1j * parts[1])


def independent(small: Small, u: Complexes) -> Complexes:
    """The independent dofs of (3n,)."""
    return np.asarray(u[small.stage.nodes.dof_kind == 1])


def unbalanced(small: Small) -> str:
    """That the state is not one of rest; nothing where it is."""
    left = small.transform.T @ (small.stage.work.load - small.cycle.still)
    bars = small.stage.work.tangent.bar_tangent
    pulls = np.abs(bars[PULL]) * np.sqrt((bars[P : P + 3] ** 2).sum(axis=0))
    share = largest(left) / (max(pulls.max(initial=0.0), largest(small.stage.work.load)) or 1.0)
    if share <= BALANCED:
        return ""
    return (
        f"*STEADY STATE DYNAMICS: the state is not at rest: {share:.2g} of its largest force is balanced by nothing; "
        "put a *STATIC step before it"
    )


def left_out(failed: list[float]) -> str:
    """The frequencies without an answer."""
    if not failed:
        return ""
    named = ", ".join(f"{each:.6g}" for each in failed[:6]) + (", ..." if len(failed) > 6 else "")
    return (
        f"*STEADY STATE DYNAMICS: {len(failed)} frequencies left out ({named}): not confirmed within {MOST} solves, as "
        "at a resonance that nothing damps"
    )


def over_slack(stage: StepSystem, slack: dict[int, float]) -> str:
    """That lines would go slack, which small motions about a state know nothing of."""
    if not slack:
        return ""
    first = min(slack, key=lambda bar: slack[bar])
    name = stage.system.name_bar(first)
    return (
        f"*STEADY STATE DYNAMICS: tension in {len(slack)} bars changes by more than it is, first in {name} at "
        f"frequency {slack[first]:.6g}: they would go slack, and the answer no longer holds; *DYNAMIC follows that"
    )
