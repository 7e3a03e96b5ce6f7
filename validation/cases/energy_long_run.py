"""Why ENERGY MOMENTUM is advised: energy of SDNL100 over 1, 10, 100 periods, and the spectra of all integrators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import amplification, sdnl100

NAME = "energy_long_run"
TITLE = "energy of SDNL100 over 1, 10 and 100 periods; damping and period error of the integrators"
SOURCE = (
    "Decks inputs/sdnl100.inp at T/40, ENERGY DRIFT=OFF, and one mass on a linear spring. The true energy error is 0; "
    "the pendulum exchanges 4.905 J. A run counts as lost when its energy error exceeds 10 % of that, or when "
    "Newton's iteration fails."
)
LONG = False

PERIODS = (1, 10, 100)
EXCHANGED = 9.81 / 2
Scheme = tuple[str, dict[str, Any], str, str]
SCHEMES: dict[str, Scheme] = {
    "Newmark": ("NEWMARK", {}, tools.RED, "-"),
    "HHT -0.1": ("HHT", {"alpha": -0.1}, tools.ORANGE, "--"),
    "generalized alpha 0.8": ("GENERALIZED ALPHA", {"rho": 0.8}, tools.BLUE, "-."),
    "backward Euler": ("BACKWARD EULER", {}, tools.GREY, ":"),
    "energy momentum": ("ENERGY MOMENTUM", {}, tools.GREEN, "-"),
}
THEORY: dict[str, Callable[[float], np.ndarray]] = {
    "Newmark": amplification.newmark,
    "HHT -0.1": lambda w: amplification.hht(w, -0.1),
    "generalized alpha 0.8": lambda w: amplification.chung_hulbert(w, 0.8),
    "backward Euler": amplification.backward_euler,
    "energy momentum": amplification.midpoint,
}
SHARES = (1 / 80, 1 / 40, 1 / 20, 1 / 10, 1 / 5)
OSCILLATOR = """*NODE
1, 0., 0., 0.
*ELEMENT, TYPE=SPRING1, ELSET=SPRING
1, 1
*SPRING, ELSET=SPRING
1
39.47841760435743
*ELEMENT, TYPE=MASS, ELSET=MASS
2, 1
*MASS, ELSET=MASS
1.
*BOUNDARY
1, 2, 3
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
1, 1, 1.
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
{dt!r}, {period!r}
*CONTROLS, ENERGY DRIFT=OFF, RESI_GLOB_RELA=1E-12
*END STEP
"""
"""A mass on a spring with a period of 1, let go at rest from 1."""


def run(folder: Path) -> Outcome:
    """All integrators, three lengths; spectra computed and from theory."""
    histories = {name: long_run(scheme) for name, scheme in SCHEMES.items()}
    spectra = {name: [measured(name, share) for share in SHARES] for name in SCHEMES}
    figures = {"energy": _energy_figure(histories), "spectra": _spectra_figure(spectra)}
    rows = [*_conserved(histories["energy momentum"]), *_losses(histories), *_agreement(spectra)]
    return Outcome(tuple(rows), figures, (_table(histories), _table_of_ends(histories)))


def long_run(scheme: Scheme) -> Any:
    """SDNL100 for a hundred printed periods at T/40 (its own tolerance; ENERGY MOMENTUM: to round-off)."""
    integrator, parameters, *_ = scheme
    model = tools.with_procedure(
        tools.deck("sdnl100"), 1, integrator=integrator, period=100 * sdnl100.PERIOD_PRINTED, **parameters
    )
    step = model.steps[0]
    residual = None if integrator == "ENERGY MOMENTUM" else step.controls.residual_relative
    controls = replace(step.controls, energy_drift=None, residual_relative=residual)
    try:
        return fem.run(replace(model, steps=(replace(step, controls=controls),)))
    except fem.NoConvergence as failure:
        return failure.history


def left_at(history: Any) -> float:
    """Time / T at which the energy error first passes 10 % of the exchanged energy; NaN: never."""
    gone = np.abs(history.energy_error) > 0.1 * EXCHANGED
    return float(history.time[gone.argmax()] / sdnl100.PERIOD_PRINTED) if gone.any() else float("nan")


def measured(name: str, share: float) -> tuple[float, float]:
    """Numerical damping ratio and period error of the program on the linear oscillator with dt = share * T.

    Three successive displacements x, y, z of a pure spiral obey z - 2 rho cos(phi) y + rho^2 x = 0: fitted over the
    whole run but its start, where spurious parts die out.
    """
    integrator, parameters, *_ = SCHEMES[name]
    model = fem.parse_deck(OSCILLATOR.format(dt=share, period=60 * share))
    u = fem.run(tools.with_procedure(model, 1, integrator=integrator, **parameters)).u[20:, 0]
    pairs = np.column_stack([u[1:-1], u[:-2]])
    trace, product = np.linalg.lstsq(pairs / np.abs(pairs).max(axis=1)[:, None], u[2:] / np.abs(pairs).max(axis=1))[0]
    radius = np.sqrt(-product)
    phase = np.arccos(trace / (2 * radius))
    return float(-np.log(radius) / phase), float(2 * np.pi * share / phase - 1)


def theory(name: str, share: float) -> tuple[float, float]:
    """The same from the published formulas."""
    w = 2 * np.pi * share
    return amplification.spectrum(THEORY[name](w), w)


def _conserved(history: Any) -> list[Row]:
    """ENERGY MOMENTUM: round-off, and the published table."""
    source = "analytic: the rule conserves energy; 1e-11 J is round-off of 4000 increments at EA = 1e8 N"
    error = float(np.abs(history.energy_error).max())
    rows = [Row(Target("largest energy error in 100 T, energy momentum [J]", 0.0, "absolute", source, 1e-11), error)]
    u = history.of_node(2)
    for increment, axis, value, kind, tolerance, _ in sdnl100.PUBLISHED:
        name = f"{'DX' if axis == 0 else 'DZ'}(N2), increment {increment}, energy momentum"
        source = "published: V5.02.100, section 4.1, its tolerance"
        rows.append(Row(Target(name, value, kind, source, tolerance), float(u[increment, axis])))
    return rows


def _losses(histories: dict[str, Any]) -> list[Row]:
    """Energies after one period that are known, and how long Newmark lasts."""
    source = "regression: prototype of the averaged-force form, two digits: half a unit of the second"
    rows = [
        Row(
            Target(f"energy error after one period, {name} [J]", value, "absolute", source, tolerance),
            float(histories[name].energy_error[40]),
        )
        for name, value, tolerance in (("HHT -0.1", -0.036, 2e-4), ("generalized alpha 0.8", -0.0026, 5e-5))
    ]
    source = "regression: prototype of the same method; half an increment of 0.025 T"
    target = Target("time / T at which the energy error of Newmark exceeds 10 %", 1.18, "absolute", source, 0.0125)
    return [*rows, Row(target, left_at(histories["Newmark"]))]


def _agreement(spectra: dict[str, list[tuple[float, float]]]) -> list[Row]:
    """Computed spectra against theory, at T/20."""
    rows = []
    at = SHARES.index(1 / 20)
    source = "analytic: eigenvalues of the amplification matrix; transient parts are still 1e-12"
    for name, found in spectra.items():
        for what, value, computed in zip(
            ("damping ratio", "period error"), theory(name, SHARES[at]), found[at], strict=True
        ):
            rows.append(Row(Target(f"{what}, {name}, T/20", value, "absolute", source, 5e-12), computed))
    return rows


def _table(histories: dict[str, Any]) -> str:
    """Energy errors at 1, 10, 100 periods in one sentence per integrator."""
    parts = []
    for name, history in histories.items():
        values = [
            f"{history.energy_error[40 * n]:.3g}" if len(history.time) > 40 * n else "ended before" for n in PERIODS
        ]
        parts.append(f"{name}: {', '.join(values)}")
    return (
        f"Energy error [J] of {EXCHANGED:.4g} J exchanged after {', '.join(map(str, PERIODS))} T. {'; '.join(parts)}."
    )


def _table_of_ends(histories: dict[str, Any]) -> str:
    """Which runs end or exceed an energy error of 10 %, and when."""
    parts = []
    for name, history in histories.items():
        left, ended = left_at(history), history.time[-1] / sdnl100.PERIOD_PRINTED
        text = "never" if np.isnan(left) else f"from {left:.3g} T on"
        if ended < 99.9:
            text += f", Newton fails at {ended:.3g} T"
        parts.append(f"{name}: {text}")
    return f"Energy error above 10 % of the exchanged energy: {'; '.join(parts)}."


def _energy_figure(histories: dict[str, Any]) -> Any:
    sheet, axes = tools.figure(
        "SDNL100 at T/40: true energy error", "time / T", "largest |energy error| so far / exchanged energy"
    )
    for name, history in histories.items():
        _, _, colour, line = SCHEMES[name]
        error = np.maximum.accumulate(np.abs(history.energy_error[1:])) / EXCHANGED
        time = history.time[1:] / sdnl100.PERIOD_PRINTED
        axes.loglog(time, np.maximum(error, 1e-17), line, color=colour, label=name, linewidth=1.8)
        if time[-1] < 99.9:
            axes.plot(time[-1], error[-1], "x", color=colour, markersize=9, markeredgewidth=2)
    axes.axhline(0.1, color="black", linewidth=0.8, linestyle=(0, (1, 3)))
    axes.text(100, 0.07, "10 %: limit of ENERGY DRIFT", fontsize=8, ha="right", va="top")
    if any(len(history.time) < len(histories["energy momentum"].time) for history in histories.values()):
        axes.plot([], [], "x", color="black", label="Newton fails")
    tools.legend(axes)
    return sheet


def _spectra_figure(spectra: dict[str, list[tuple[float, float]]]) -> Any:
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(10.0, 4.5), layout="constrained")
    fine = np.geomspace(0.01, 0.4, 80)
    for column, what in enumerate(("numerical damping ratio", "relative period error")):
        axes = sheet.add_subplot(1, 2, column + 1)
        axes.set(title=f"Linear oscillator: {what}", xlabel="increment / period", ylabel=what, xscale="log")
        axes.grid(True, color="#DDDDDD", linewidth=0.6)
        for name, (_, _, colour, line) in SCHEMES.items():
            width = 4.0 if name == "Newmark" else 1.6  # the energy momentum rule lies upon it
            values = [theory(name, share)[column] for share in fine]
            axes.plot(fine, values, line, color=colour, label=name, linewidth=width)
            axes.plot(SHARES, [pair[column] for pair in spectra[name]], "o", color=colour, markersize=4)
        axes.set_yscale("symlog", linthresh=1e-6 if column == 0 else 1e-4)
        axes.plot([], [], "o", color="black", label="computed")
    axes.plot([], [], "-", color="black", label="theory")
    tools.legend(axes)
    return sheet
