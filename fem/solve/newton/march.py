"""The one Newton loop: every implicit scheme, statics included, every model size, every linear solver.

A scheme is a row of numbers (``solve/schemes``). With u the unknown at t_{n+1} and values without index at t_n:

    v1 = VU (u1 - u)/dt + VV v + VA dt a,    a1 = AU (u1 - u)/dt^2 + AV v/dt + AA a
    WM M a1 + (1 - WM) M a + WF f1 + (1 - WF) f + C (WC v1 + (1 - WC) v) = f_ext, weighted in time by the caller

``march`` walks a chunk of increments and Newton iterations. Where the linear solver is not compiled code it *returns*
NEED_SOLVE with residual and tangent filled in; the caller writes ``du`` and calls again with the same ``control``.
A failed increment leaves ``Motion`` at its last good state, so that every retry starts clean.

Convergence, counts and the norm are those of Code_Aster's DYNA_NON_LINE: the test comes after each solve,
``iterations`` counts solves (the prediction included, ITER_GLOB), |R|_inf over free dofs is compared with
RESI_GLOB_RELA * D (``scale_of``).
"""

from __future__ import annotations

from fem.arrays import Floats, Ints
from fem.compiled import kernel
from fem.mechanics.bar import Bars
from fem.mechanics.links import Links
from fem.mechanics.springs import Springs
from fem.solve.linear.band import assemble_band, solve_band
from fem.solve.linear.chain import Tree, solve_chain
from fem.solve.linear.krylov import solve_cg
from fem.solve.newton.groups import (
    BAND,
    CG,
    CHAIN,
    DONE,
    DRIFT,
    DRIFT_SHARE,
    FORCING,
    INCREMENT,
    ITERATION,
    ITERATIONS,
    L_NORM,
    LAST_RESIDUAL,
    LOADS_VANISHED,
    NEED_SOLVE,
    NOT_CONVERGED,
    NOT_FINITE,
    PREVIOUS,
    RELATIVE,
    SMALLEST_SCALE,
    SPENT,
    WAITING,
    WM,
    WORST,
    Loading,
    Motion,
    Nodes,
    Record,
    Scratch,
)  # fmt: skip
from fem.solve.newton.iterate import (
    begin,
    correct,
    evaluate,
    is_converged,
    next_forcing,
    residual,
    scale_of,
    worst,
)  # fmt: skip
from fem.solve.newton.ledger import close_increment, has_drifted, note_increment
from fem.solve.newton.tangent import lift, nodal_blocks

HUGE = 1e300
"""Forces and energies beyond this are overflow."""


@kernel
def solve_compiled(
    solver: int, scheme: Floats, dt: float, nodes: Nodes, bars: Bars, springs: Springs, tree: Tree, equation: Ints,
    memory: Floats, work: Scratch,
) -> bool:  # fmt: skip
    """One linear solve by a compiled solver; False where it must be done outside, tangent blocks then filled."""
    nodal_blocks(scheme, dt, nodes, springs, work)
    if solver == CHAIN:
        if solve_chain(
            tree, nodes.open, work.store, work.off, work.block, work.residual, work.inverse, work.reduced, work.du
        ):
            return True
        nodal_blocks(scheme, dt, nodes, springs, work)
    elif solver == BAND:
        width = (work.band.shape[1] - 1) // 3
        assemble_band(
            width,
            equation,
            bars.nodes,
            work.store,
            work.off,
            work.block,
            springs.dofs,
            work.spring_stiffness,
            work.band,
        )
        if solve_band(width, equation, work.residual, work.band, work.reduced, work.du):
            return True
    elif solver == CG:
        spent = solve_cg(
            bars.nodes, work.store, work.off, work.block, springs, work.spring_stiffness, nodes.open, memory[FORCING],
            work.residual, work.inverse, work.krylov, work.du,
        )  # fmt: skip
        memory[SPENT] += max(spent, 0)
        return bool(spent >= 0)
    return False


@kernel
def march(
    control: Ints, scheme: Floats, secant: bool, limits: Floats, extrapolation: int, solver: int, nodes: Nodes,
    bars: Bars, springs: Springs, links: Links, tree: Tree, equation: Ints, loading: Loading, motion: Motion,
    work: Scratch, record: Record,
) -> int:  # fmt: skip
    """Advance through the increments of ``loading`` from ``control``; returns why it stopped.

    DONE           all increments are done
    NEED_SOLVE     write ``work.du`` for ``work.residual`` and call again
    NOT_CONVERGED  ``control[INCREMENT]`` spent its iterations; NOT_FINITE: it met NaN or overflow.
                   ``motion`` is the state at its start, ``control[WORST]`` the dof of the largest residual
    DRIFT          the energy error left its band in increment ``control[INCREMENT] - 1``, which is complete
    """
    memory = motion.memory
    while control[INCREMENT] < loading.dt.shape[0]:
        k = control[INCREMENT]
        dt = loading.dt[k]
        thermal = loading.thermal[min(k + 1, loading.thermal.shape[0] - 1)]
        if control[WAITING] == 0:
            begin(scheme, extrapolation, k, dt, nodes, bars, links, loading, motion, work)
            control[ITERATION] = 0
        strain, norm, scale, flags = 0.0, 0.0, 0.0, 0
        good = False
        while True:
            if control[WAITING] == 0:
                strain = evaluate(scheme, secant, dt, motion.u, bars, springs, thermal, work)
                norm = residual(scheme, nodes, bars, links, work)
                if control[ITERATION] == 0:
                    if loading.support_dofs.shape[0] > 0:
                        lift(scheme, dt, nodes, bars, springs, links, work)
                elif not (norm < HUGE and abs(strain) < HUGE):  # also true for NaN
                    return NOT_FINITE
                else:
                    if limits[RELATIVE] >= 0.0:
                        scale = scale_of(scheme, dt, nodes, bars, work)
                    good, flags = is_converged(limits, norm, scale, control[ITERATION], motion, work)
                    if good or control[ITERATION] >= limits[ITERATIONS]:
                        break
                    memory[FORCING] = next_forcing(norm, memory[PREVIOUS])
                memory[PREVIOUS] = norm
                if not solve_compiled(solver, scheme, dt, nodes, bars, springs, tree, equation, memory, work):
                    control[WAITING] = 1
                    return NEED_SOLVE
            control[WAITING] = 0
            if not correct(scheme, dt, nodes, links, work):
                return NOT_FINITE
            control[ITERATION] += 1
        if limits[RELATIVE] < 0.0:
            scale = scale_of(scheme, dt, nodes, bars, work)
        if not good:
            control[WORST] = worst(work.residual)
            record.ledger[k, L_NORM] = norm / scale if scale > 0.0 else norm
            return NOT_CONVERGED
        if flags != LOADS_VANISHED:
            memory[LAST_RESIDUAL] = norm
            if scale > 0.0 and not 0.0 < memory[SMALLEST_SCALE] < scale:
                memory[SMALLEST_SCALE] = scale
        error = close_increment(scheme, k, strain, nodes, bars, springs, links, loading, motion, work)
        note_increment(k, control[ITERATION], norm, scale, flags, error, bars, springs, thermal, motion, record)
        control[INCREMENT] += 1
        if scheme[WM] != 0.0 and has_drifted(motion, error, limits[DRIFT_SHARE]):
            return DRIFT
    return DONE
