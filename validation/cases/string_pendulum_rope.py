"""What the paper of the forced string pendulum leaves open: exponents of the string that goes slack."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fem.study.exponents import Exponents, Lyapunov, lyapunov
from fem.study.sweep import Sweep
from fem.study.validation import Outcome, Row, Target
from validation import taut_slack, tools
from validation.references import rope

NAME = "string_pendulum_rope"
TITLE = "forced string pendulum: largest Lyapunov exponents of the taut-slack rope"
SOURCE = (
    "V. Ciocanel, T. Witelski (2012), section 6: 'More work can be done in determining the Lyapunov exponents of the "
    "DAE formulation for the string pendulum'. Decks inputs/string_pendulum_rope.inp (two motions) and _spring.inp "
    "(tangent map), beta = 0.1; 61 amplitudes, 800 s each, the first fifth left out; at rest at theta0 = 0.1. If "
    "interrupted, the same command continues."
)
LONG = True

AMPLITUDES = tuple(0.25 * n for n in range(61))
TIME, DRAG = 800.0, 0.1
SWEEPS: dict[str, tuple[str, dict[str, float], Lyapunov]] = {
    "taut-slack rope": ("rope", {"beta": DRAG, "increments": 200.0}, Lyapunov(TIME, method="two")),
    "spring, k2 = 0.01": ("spring", {"beta": DRAG, "k2": 0.01}, Lyapunov(TIME)),
}
CHECKED = {4.0: 0.003, 7.25: 0.06, 10.5: 0.08}
"""Amplitudes whose exponent is computed by the event-driven ODE, regular and in both windows of chaos, with tolerances:
the regular mean of 800 s; two standard errors of a difference of chaotic runs, each another one on every processor."""


def run(folder: Path) -> Outcome:
    """Both curves."""
    found = {name: swept(name, folder) for name in SWEEPS}
    string = found["taut-slack rope"]
    rows = [*windows(string), *independent(string), *eight()]
    title = f"Rope that goes slack, and spring that is soft in compression, β = {DRAG:g} kg/s"
    return Outcome(tuple(rows), {"fig": tools.exponents(title, found)}, (remark(found),))


def swept(name: str, folder: Path) -> Sweep:
    """One of the sweeps, in a folder of its own."""
    deck, fixed, asked = SWEEPS[name]
    return tools.swept(deck, {"A": AMPLITUDES}, fixed, folder / f"{NAME}_{deck}", asked)


def windows(found: Sweep) -> list[Row]:
    """The string has the windows of figure 8 for k2 towards 0, and decays like the rod elsewhere."""
    a, exponent, chaotic = found["A"], found["exponent_1"], found["chaotic"] == 1
    text = "published: section 2.1, figure 8 for k2 towards 0"
    below, above = chaotic & (a >= 5.0) & (a < 9.0), chaotic & (a >= 9.0)
    regular = "analytic: a string that stays taut attracts at half of beta/m, exponents at bifurcations lie above"
    return [
        Row(Target("there is an extra window of chaos below A = 9 [1: yes]", 1, "exact", text), float(below.any())),
        Row(Target("the window from A = 9 on is there [1: yes]", 1, "exact", text), float(above.any())),
        Row(Target("no chaos below A = 5 [1: yes]", 1, "exact", text), float(not chaotic[a < 5.0].any())),
        Row(
            Target("median exponent of regular amplitudes [1/s]", -0.5 * DRAG, "absolute", regular, 0.003),
            float(np.median(exponent[~chaotic])),
        ),
    ]


def independent(found: Sweep) -> list[Row]:
    """Exponents by two event-driven motions of another code."""
    rows = []
    for amplitude, tolerance in CHECKED.items():
        place = AMPLITUDES.index(amplitude)
        value = rope.exponent(rope.Shaken(amplitude, drag=DRAG), 0.1, 160, 40)
        source = "ODE: event-driven DOP853 (references/rope.py), 160 cycles; the mean of 800 s, or two standard errors"
        target = Target(f"largest exponent, A = {amplitude:g} [1/s]", value, "absolute", source, tolerance)
        rows.append(Row(target, float(found["exponent_1"][place])))
    return rows


def eight() -> list[Row]:
    """Figure 13, beta = 0.5, A = 8: the sign of both exponents; that of the rope, and at A = 10, by the ODE."""
    rows = []
    for name, sign, word in (("taut-slack rope", -1.0, "periodic"), ("spring, k2 = 0.01", 1.0, "chaotic")):
        found = two_motions(name, 8.0)
        value, error = float(found.values[0]), float(found.errors[0])
        judged = 0.0 if abs(value) <= error else float(np.sign(value))
        source = f"published: section 5, '{word}'"
        rows.append(Row(Target(f"fig. 13: sign of the largest exponent, A = 8, {name}", sign, "exact", source), judged))
    for amplitude, cycles, skipped, near in ((8.0, 60, 20, 0.001), (10.0, 160, 40, 0.01)):
        found = two_motions("taut-slack rope", amplitude)
        value = rope.exponent(rope.Shaken(amplitude), 0.1, cycles, skipped)
        source = (
            "ODE: two event-driven motions (references/rope.py); five times the difference of their means (2e-4, 2e-3)"
        )
        label = f"largest exponent of the rope, beta = 0.5, A = {amplitude:g} [1/s]"
        target = Target(label, value, "absolute", source, near)
        rows.append(Row(target, float(found.values[0])))
    return rows


def two_motions(name: str, amplitude: float) -> Exponents:
    """At beta = 0.5, where figures 11 to 14 are."""
    return lyapunov(taut_slack.model_of(name, amplitude, increments=400), time=TIME, method="two", every=100)


def remark(found: dict[str, Sweep]) -> str:
    """The windows in words."""
    texts = []
    for name, part in found.items():
        chaotic = part["chaotic"] == 1
        at = ", ".join(f"{a:g}" for a in part["A"][chaotic])
        texts.append(f"{name}: {at} (at most {part['exponent_1'].max():.2f})")
    return f"Chaotic amplitudes. {'; '.join(texts)}. Impacts take energy that the spring gives back: the rope is tamer."
