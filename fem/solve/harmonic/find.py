"""The harmonic motions of a ``*STEADY STATE DYNAMICS`` step, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fem.arrays import Complexes, Ints
from fem.assembly.equations import expand
from fem.errors import ModelError
from fem.forces.bar import PULL, P
from fem.forces.families import FAMILIES, FIRST
from fem.model import SteadyState
from fem.runs.record import Response
from fem.solve.harmonic.small import Small, small_motions
from fem.solve.harmonic.solve import MOST, Acting, answer_at, largest
from fem.solve.harmonic.superposed import superposed
from fem.solve.harmonic.values import Bars, element_values, going_slack, node_values
from fem.solve.modes.find import modes_of
from fem.solve.newton.groups import Motion
from fem.solve.step_system import StepSystem, loading_at

BALANCED = 1e-3
"""Fraction of the largest force up to which a state counts as one of rest."""
ALLOWED = 1e-3
"""Fraction of the largest force that may lie outside the modes without a notice."""


def responses(
    stage: StepSystem, motion: Motion, acting: Acting, procedure: SteadyState, asked: tuple[int, Ints, Ints],
    say: Callable[[str], None],
) -> Iterator[Response]:  # fmt: skip
    """Those at all frequencies, confirmed by their residuals; others are left out, and named.

    asked  number of the step, indices of nodes and of elements;  say: is told what a reader must know
    """
    step, nodes, elements = asked
    refuse_memories(stage.system.family[:, 0])
    is_known = stage.system.family[elements, 0] < FIRST
    elements, unknown = elements[is_known], int(np.count_nonzero(~is_known))
    instant = loading_at(stage, motion, acting.time)
    found = modes_of(stage, motion, instant, procedure.modes) if procedure.modes else None
    frequencies = procedure.frequencies(found.omega / (2.0 * np.pi) if found else ())
    omegas = 2.0 * np.pi * frequencies
    small = small_motions(stage, motion, instant, float(omegas[0]))
    if small.transform.shape[1] == 0:
        raise ModelError("*STEADY STATE DYNAMICS: no dof is free")
    superposition = superposed(small, found, procedure) if found else None
    small = superposition.small if superposition else small
    unbalance = unbalanced(small)
    bars, guess = Bars(small), np.zeros(small.shapes.shape[1], complex)
    failed, slack, beyond = list[float](), dict[int, float](), list[tuple[float, float]]()
    for frequency, omega in zip(frequencies.tolist(), omegas.tolist(), strict=True):
        load, given = acting.load(frequency), passed_on(small, acting.given(frequency))
        if superposition:
            load, given = superposition.about(load, given, omega)
        answer = answer_at(small, omega, load, given, guess)
        if not answer.is_confirmed:
            failed.append(frequency)
            guess = np.zeros_like(guess)
            continue
        guess = answer.x
        of_bars = bars.values(small, answer)
        for bar in going_slack(small, bars, of_bars).tolist():
            slack.setdefault(bar, frequency)
        beyond.append((answer.residual, frequency))
        moved, pulled = node_values(small, answer, omega), element_values(small, of_bars, answer, omega)
        known = step, frequency, answer.iterations, answer.residual
        yield Response(*known, nodes, moved[:, nodes], elements, pulled[elements])
    more = f"*STEADY STATE DYNAMICS: {unknown} elements have no amplitudes in the tables" if unknown else ""
    for text in filter(
        None, (unbalance, left_out(failed), outside(beyond) if superposition else "", over_slack(stage, slack), more)
    ):
        say(text)


def outside(residuals: list[tuple[float, float]]) -> str:
    """That modes leave a good part of the forces unbalanced; residuals: with their frequencies."""
    worst, frequency = max(residuals, default=(0.0, 0.0))
    if worst <= ALLOWED:
        return ""
    return (
        f"*STEADY STATE DYNAMICS: at frequency {frequency:.6g} the modes leave {worst:.2g} of the largest force "
        "unbalanced: more modes, or DIRECT"
    )


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
