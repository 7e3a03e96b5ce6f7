"""Lines that twist: closed forms with the order of the error, and a cable that throws a loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import torsion

NAME = "twisted_cable"
TITLE = "torsion of lines: closed forms, and a cable that throws a loop"
SOURCE = (
    "Castigliano (quarter circle), Kirchhoff rod by shooting (45-degree bend), compliance of a helix, torsional modes, "
    "buckling between clamps, the localised shape of an endless rod (Coyne 1990). Deck inputs/twisted_cable.inp."
)
LONG = False
BARS = (10, 20)


def rod(
    places: np.ndarray,
    section: str,
    young: float,
    shear: float,
    supports: str,
    steps: str,
    n1: str = "",
    flag: str = "",
) -> fem.History:
    """A line through places; supports and steps may contain <END>, its last node."""
    nodes = "\n".join(f"{i + 1}, " + ", ".join(repr(float(x)) for x in place) for i, place in enumerate(places))
    elements = "\n".join(f"{i}, {i}, {i + 1}" for i in range(1, len(places)))
    text = f"""*NODE, NSET=ALL
{nodes}
*ELEMENT, TYPE=B31, ELSET=LINE
{elements}
*BEAM GENERAL SECTION, ELSET=LINE, DENSITY=1.{flag}
{section}
{n1}
{young!r}, {shear!r}
*BOUNDARY
{supports}
{steps}
*END STEP
"""
    return fem.run(fem.parse_deck(text.replace("<END>", str(len(places)))))


def static(acting: str, increment: float = 1.0) -> str:
    return (
        f"*STEP, NLGEOM\n*STATIC\n{increment}, 1.\n*CONTROLS, RESI_GLOB_RELA=1e-9\n{acting}\n"
        "*NODE PRINT, NSET=ALL\nU, RF, SMT"
    )


def arc(radius: float, angle: float, bars: int) -> np.ndarray:
    f = np.linspace(0.0, angle, bars + 1)
    return radius * np.column_stack([np.cos(f), np.sin(f), 0.0 * f])


def quarter(bars: int) -> float:
    push = 1e-5
    loads = static(f"*CLOAD\n<END>, 3, {push!r}")
    found = rod(arc(1.0, np.pi / 2.0, bars), "1e3, 1e-3, 0., 1e-3, 1e-3", 1e3, 800.0, "1, ENCASTRE", loads)
    return float(found.of_node(bars + 1)[-1][2]) / torsion.quarter_circle(push, 1.0, 1.0, 0.8) - 1.0


def bend(bars: int) -> float:
    """The largest error of the tip over the radius."""
    x, y, z = arc(100.0, np.pi / 4.0, bars).T
    places, sixth = np.column_stack([y, 100.0 - x, z]), 1.0 / 6.0
    worst = 0.0
    for load, exact in torsion.BEND.items():
        loads, section = static(f"*CLOAD\n<END>, 3, {load!r}", 0.25), f"1., {sixth / 2!r}, 0., {sixth / 2!r}, {sixth!r}"
        tip = places[-1] + rod(places, section, 1e7, 5e6, "1, ENCASTRE", loads).of_node(bars + 1)[-1]
        worst = max(worst, float(np.linalg.norm(tip - np.array(exact))) / 100.0)
    return worst


def spring(bars: int) -> float:
    """Four turns, ``bars`` bars each."""
    f, d, young, move = np.linspace(0.0, 8.0 * np.pi, 4 * bars + 1), 0.1, 1e6, 1e-4
    places = np.column_stack([0.5 * np.cos(f), 0.5 * np.sin(f), 0.1 * f / (2.0 * np.pi)])
    area, inertia, shear = 0.25 * np.pi * d * d, np.pi * d**4 / 64.0, young / 2.6
    section = f"{area!r}, {inertia!r}, 0., {inertia!r}, {2.0 * inertia!r}"
    loads = static(f"*BOUNDARY\n<END>, 3, 3, {move!r}")
    found = rod(places, section, young, shear, "1, ENCASTRE\n<END>, ENCASTRE", loads).of_node(4 * bars + 1, "RF")[-1][2]
    stiff = young * inertia, shear * 2.0 * inertia, young * area
    return float(found) / move / torsion.spring_stiffness(0.5, 0.1, 4, *stiff) - 1.0


def frequency(bars: int) -> float:
    places = np.column_stack([np.linspace(0.0, 1.0, bars + 1), *np.zeros((2, bars + 1))])
    steps = "*STEP, PERTURBATION\n*FREQUENCY\n1"
    found = rod(places, "1e4, 0.1, 0., 0.2, 8e-4", 1e3, 1e3, "1, ENCASTRE\nALL, 1, 3", steps)
    return float(found.modes[0].omega[0]) / torsion.torsional_frequency(1, 1.0, 0.8, 0.3) - 1.0


def critical(square: Callable[[float], float], exact: float, at: tuple[float, ...] = (0.9, 0.95, 0.98)) -> float:
    """Load at which the square of the lowest frequency vanishes, over ``exact``: by the polynomial of the square of the
    load over it through the loads ``at``, at which the line is stable."""
    squares = [square(one * exact) for one in at]
    return float(np.sqrt(np.polyval(np.polyfit(squares, np.square(at), len(at) - 1), 0.0)))


def lowest(
    places: np.ndarray, section: str, shear: float, supports: str, acting: str, dt: float = 1.0, **more: str
) -> float:
    """omega^2 of the first mode about the state of rest under what acts; E = 1e4."""
    steps = static(acting, dt) + "\n*END STEP\n*STEP, NLGEOM\n*FREQUENCY\n1"
    return float(rod(places, section, 1e4, shear, supports, steps, **more).modes[0].omega[0]) ** 2


def straight(bars: int) -> np.ndarray:
    return np.column_stack([np.linspace(0.0, 1.0, bars + 1), *np.zeros((2, bars + 1))])


def clamped(tension: float, bars: int) -> float:
    """EI = 1, GJ = 0.8, EA = 1e8 so that the tension changes no length."""
    exact = torsion.CLAMPED[tension]

    def square(moment: float) -> float:
        acting = f"*CLOAD\n<END>, 1, {tension!r}\n*BOUNDARY\n<END>, 4, 4, {moment / 0.8!r}"
        return lowest(straight(bars), "1e4, 1e-4, 0., 1e-4, 1e-4", 8e3, "1, ENCASTRE\n<END>, 2, 6", acting)

    return critical(square, exact) - 1.0


def ring(bars: int) -> float:
    """A ring that is cut in the middle of a bar, both ends clamped there and one turned: EI = 1, GJ = 0.8. A node
    opposite stays in the plane: the ring could turn about the clamps, its bars spinning back, without any force."""
    f = np.pi * (2.0 * np.arange(bars) + 1.0) / bars
    corners = np.column_stack([np.sin(f), 1.0 - np.cos(f), 0.0 * f]) / (2.0 * np.pi * np.cos(np.pi / bars))
    cut = 0.5 * (corners[:1] + corners[-1:])
    places = np.vstack([cut, corners, cut]).round(12)  # both ends along x

    def square(turn: float) -> float:
        acting = f"*BOUNDARY\n<END>, 4, 4, {turn!r}"
        ends, flag = f"1, ENCASTRE\n<END>, ENCASTRE\n{bars // 2 + 1}, 3", ", STRAIGHT AT REST"
        return lowest(places, "1e2, 1e-4, 0., 1e-4, 1e-4", 8e3, ends, acting, 0.1, flag=flag)

    return critical(square, torsion.ring_turn(1.0, 0.8), (0.6, 0.75, 0.85, 0.92)) - 1.0


def strip(bars: int) -> float:
    """EI1 = 1e4 EI2, GJ = 0.6 EI2, pushed along its wide side."""

    def square(load: float) -> float:
        acting = f"*CLOAD\n<END>, 3, {-load!r}"
        return lowest(straight(bars), "1e4, 1., 0., 1e-4, 1e-4", 6e3, "1, ENCASTRE", acting, n1="0., 1., 0.")

    return critical(square, torsion.strip_load(1.0, 1e4, 1.0, 0.6)) - 1.0


def helix(bars: int) -> float:
    """Four turns, ``bars`` bars each, of a straight rod that clamps hold on a helix; its force along the axis.
    Radius 1, pitch angle 30 degrees, EI = 1, GJ = 2.5, one end turned until the torque is 0.5. Short bars have the
    directions of the helix at its ends, the first one along x."""
    slope, torque, shear = np.pi / 6.0, 0.5, 2.5
    length = 8.0 * np.pi / np.cos(slope)
    s = np.linspace(0.0, length, 4 * bars + 1)
    short = 1e-3 * s[1]
    s = np.concatenate([[0.0, short], s[1:-1], [length - short, length]])
    f = s * np.cos(slope)
    places = np.column_stack([np.cos(f), np.sin(f), s * np.sin(slope)])
    first = places[1] - places[0]
    first /= np.linalg.norm(first)
    second = np.cross(first, [1.0, 0.0, 0.0])
    axes = np.array([first, second, np.cross(first, second)])
    axes[1] /= np.linalg.norm(axes[1])
    axes[2] /= np.linalg.norm(axes[2])
    acting = static(f"*BOUNDARY\n1, 4, 4, {float(-torque * length / shear)!r}", 0.1)
    places = ((places - places[0]) @ axes.T).round(15)
    ends, flag = "1, ENCASTRE\n<END>, ENCASTRE", ", STRAIGHT AT REST"
    found = rod(places, "1e4, 1., 0., 1., 1.", 1.0, shear, ends, acting, flag=flag)
    force = axes[:, 2] @ found.of_node(len(s), "RF")[-1]
    return float(force) / torsion.helix_force(1.0, slope, 1.0, torque) - 1.0


PARTS = {
    "quarter circle, deflection": (quarter, 2e-3, "analytic: second order, 1.2e-3 with 20 bars"),
    "45-degree bend, tip over R": (bend, 4e-4, "Kirchhoff rod by shooting: 2.1e-4"),
    "helical spring, stiffness": (spring, 5e-2, "compliance of the helix: 2.9e-2 with 20 bars a turn"),
    "rod on a helix, force along its axis": (helix, 3e-2, "Kirchhoff; CableDyn, VALIDATION.md, T-7: 0.058013"),
    "first torsional frequency": (frequency, 5e-4, "analytic: 2.6e-4"),
    "strip, load that buckles it sideways": (strip, 3e-3, "Prandtl: second order, 1.1e-3 in the prototype"),
    "ring, turn of an end that buckles it": (ring, 3e-2, "Michell, 2 pi sqrt(3) EI/GJ: 1.5e-2"),
}
PARTS |= {
    f"clamped, torque that buckles it at T = {tension:g} EI/L^2": (
        partial(clamped, tension),
        4e-2,
        "Greenhill's equation",
    )
    for tension in torsion.CLAMPED
}


def run(folder: Path) -> Outcome:
    rows: list[Row] = []
    sheet, axes = tools.figure("Errors of lines that twist", "bars (a turn, of the spring)", "relative error")
    for name, (error, allowed, why) in PARTS.items():
        errors = np.abs([error(bars) for bars in BARS])
        rows.append(Row(Target(f"{name}: error with {BARS[-1]} bars", 0.0, "absolute", why, allowed), errors[-1]))
        near = 0.3 if error in (ring, strip, helix) else 0.15
        why = f"of second order in the length of bars; {near} for the next term, and for where a square vanishes"
        rows.append(Row(Target(f"{name}: order", 2.0, "order", why, near), float(tools.orders(errors)[-1])))
        axes.loglog(BARS, errors, "o-", label=name)
    axes.set_xticks(BARS, list(map(str, BARS)))
    axes.xaxis.set_minor_formatter("")
    tools.legend(axes)
    history = fem.run(tools.deck("twisted_cable"))
    why = "localised shape of an endless rod, held by end shortening and turns; 60 bars: second order"
    torque, pull = float(history.of_node(1, "SMT")[-1][2]), -float(history.of_node(1, "RF")[-1][0])
    rows.append(Row(Target("loop: torque", 1.6, "relative", why, 1e-2), torque))
    rows.append(Row(Target("loop: tension", 1.0, "relative", why, 1e-1), pull))
    shape, (along, across) = tools.panels("A twisted cable that is let in", "x", "y", "z")
    for row in np.searchsorted(history.time, [8.0, 16.0, 24.0, 32.0, 101.0]):
        x, y, z = places_at(history, int(row)).T
        along.plot(x, y, label=f"t = {history.time[row]:.0f}")
        across.plot(x, z)
    tools.legend(along)
    return Outcome(tuple(rows), {"errors": sheet, "loop": shape})


def places_at(history: fem.History, row: int) -> np.ndarray:
    """(n, 3) places of all nodes."""
    return np.asarray(history.mesh.coordinates + history.u[row].reshape(-1, 3))
