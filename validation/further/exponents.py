"""Exponents of the string that goes slack, through its impacts: against amplitude, against frequency, by saltation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fem.study.exponents import Lyapunov, lyapunov
from fem.study.sweep import Sweep
from fem.study.validation import Row, Target
from validation import tools
from validation.further import bouncing
from validation.references import rope, rope_tangent

DRAG, TIME, INCREMENTS = 0.1, 400.0, 200.0
AMPLITUDES = tuple(0.25 * n for n in range(61))
SHAKES, RATIOS = (4.0, 8.0, 11.0), tuple(0.4 + 0.08 * n for n in range(21))
"""Of the figure against frequency: amplitudes, and frequencies over that of small swings."""
NATURAL = float(np.sqrt(9.8 / 5.0))
CHECKED = (
    (7.25, 0.1, 160, 40, 2000.0, 0.036),
    (10.5, 0.1, 160, 40, 2000.0, 0.056),
    (8.0, 0.5, 60, 20, 800.0, 1e-3),
    (10.0, 0.5, 160, 40, 2000.0, 0.013),
)
"""Amplitude and drag, cycles of the reference and of these how many before it counts, time of the run, tolerance.

That of a chaotic motion is two standard errors of the difference of two means, once measured: 0.010, 0.015 and 0.004 of
the reference from 120 cycles, 0.015, 0.024 and 0.005 of the run. The motion with A = 8 is periodic: three times what is
reached.
"""
SALTATION = "ODE: event-driven DOP853, saltation matrices of its own (references/rope_tangent.py)"
MODELS: dict[str, tuple[str, dict[str, float]]] = {
    "taut-slack rope": ("rope", {"beta": DRAG, "increments": INCREMENTS}),
    "spring, k2 = 0.01": ("spring", {"beta": DRAG, "k2": 0.01}),
}


def rows() -> list[Row]:
    """Exponents by the program's tangent map."""
    return [*of_rope(), *of_ball()]


def of_rope() -> list[Row]:
    """Against another code's."""
    found = []
    for amplitude, drag, cycles, skipped, time, tolerance in CHECKED:
        model = tools.deck("string_pendulum_rope", {"A": amplitude, "beta": drag, "increments": INCREMENTS})
        computed = lyapunov(model, time=time, method="tangent")
        exact, _ = rope_tangent.exponents(rope.Shaken(amplitude, drag=drag), 0.1, cycles, skipped)
        name = f"rope, A = {amplitude:g}, beta = {drag:g}: largest exponent, tangent map [1/s]"
        target = Target(name, float(exact[0]), "absolute", f"{SALTATION}; two means of chaos", tolerance)
        found.append(Row(target, float(computed.values[0])))
    return found


def of_ball() -> list[Row]:
    """Of the ball on a table: ln c once a period for both, where its multipliers are complex."""
    height, velocity = bouncing.bouncing_ball.start(bouncing.at(0.3))
    numbers = {"A": 0.3, "h": height, "v0": velocity, "dt": 0.01}
    computed = lyapunov(tools.deck("ball_on_table", numbers), time=100.0, method="tangent", exponents=2, every=2)
    law = float(np.log(bouncing.MODEL.restitution) / bouncing.MODEL.period)
    source = "analytic: saltation takes c^2 of the area at each impact, one a period"
    return [
        Row(Target("table, A = 0.3: sum of both exponents [1/s]", 2.0 * law, "absolute", source, 1e-9),
            float(np.sum(computed.values))),
        Row(Target("table, A = 0.3: largest exponent [1/s]", law, "absolute", f"{source}; mean of 80 periods", 3e-5),
            float(computed.values[0])),
    ]  # fmt: skip


def against_amplitude(folder: Path) -> tuple[Figure, str]:
    """Rope and spring."""
    asked, found = Lyapunov(TIME), {}
    for name, (deck, numbers) in MODELS.items():
        found[name] = tools.swept(deck, {"A": AMPLITUDES}, numbers, folder / f"further_work_{deck}", asked)
    return tools.exponents(
        f"Rope that goes slack, and spring that is soft in compression, β = {DRAG:g} kg/s", found
    ), remark(found)


def remark(found: dict[str, Sweep]) -> str:
    """Where they are chaotic, in words."""
    texts = []
    for name, part in found.items():
        at = ", ".join(f"{a:g}" for a in part["A"][part["chaotic"] == 1])
        texts.append(f"{name}: {at} (at most {np.nanmax(part['exponent_1']):.2f})")
    return f"Chaotic amplitudes of {len(AMPLITUDES)}, {TIME:g} s each. {'; '.join(texts)}."


def against_frequency(folder: Path) -> Figure:
    """The rope at three amplitudes."""
    omegas = tuple(ratio * NATURAL for ratio in RATIOS)
    numbers = {"beta": DRAG, "increments": INCREMENTS}
    found: Any = tools.swept(
        "rope", {"A": SHAKES, "omega": omegas}, numbers, folder / "further_work_omega", Lyapunov(TIME)
    )
    sheet, axes = tools.figure(f"Rope that goes slack, β = {DRAG:g} kg/s: exponents against frequency",
                               "ω / √(g/L)", "largest Lyapunov exponent [1/s]")  # fmt: skip
    for amplitude, colour, line in zip(SHAKES, (tools.BLUE, tools.RED, tools.GREEN), ("-", "--", "-."), strict=True):
        rows = found["A"] == amplitude
        ratio, exponent, error = found["omega"][rows] / NATURAL, found["exponent_1"][rows], found["error_1"][rows]
        axes.plot(ratio, exponent, line, marker=".", color=colour, linewidth=1.2, label=f"A = {amplitude:g} m")
        axes.fill_between(ratio, exponent - error, exponent + error, color=colour, alpha=0.15, linewidth=0)
    axes.axhline(0.0, color="black", linewidth=0.8)
    tools.legend(axes)
    return sheet
