"""A deck, numbers of it that are known, and what its error bars have to cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from validation.references.masses import Equations, Masses

SCHEMES = {
    "NEWMARK": "*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK",
    "HHT": "*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT, ALPHA={alpha:.17g}",
    "GENERALIZED ALPHA": "*DYNAMIC, DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA, RHO={rho:.17g}",
    "ENERGY MOMENTUM": "*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM",
    "BACKWARD EULER": "*DYNAMIC, DIRECT, TIME INTEGRATOR=BACKWARD EULER",
    "EXPLICIT": "*DYNAMIC, DIRECT, EXPLICIT",
}
IMPLICIT = tuple(SCHEMES)[:5]
SECOND_ORDER = tuple(SCHEMES)[:4]
LOOSE = 1e-3
AREA = 1e-3
MASS, DASHPOT, GROUND = 1000, 2000, 3000
"""Labels of point masses, of dashpots beside links, of springs and dashpots to the ground begin there."""


@dataclass(frozen=True)
class Question:
    """Some numbers of one deck, and their true values.

    has_mesh  its bars stand for a continuous line, of which the truth is; otherwise bars and masses are the model
    truths    name as ``fem.error_bars`` has it -> value
    """

    name: str
    deck: str
    has_mesh: bool
    truths: dict[str, float]
    remark: str = field(default="", compare=False)


def scheme(random: Generator, among: Sequence[str] = IMPLICIT) -> tuple[str, str]:
    """Name of an integrator and its card; BACKWARD EULER comes half as often as others."""
    weights = np.array([0.5 if name == "BACKWARD EULER" else 1.0 for name in among])
    name = str(random.choice(np.array(among), p=weights / weights.sum()))
    alpha, rho = -round(float(random.uniform(0.02, 0.33)), 2), round(float(random.uniform(0.0, 1.0)), 2)
    return name, SCHEMES[name].format(alpha=alpha, rho=rho)


def controls(random: Generator) -> str:
    """Residual criterion: by default, or a loose one. The watch over energy is off: runs go on to their end."""
    given = f"RESI_GLOB_RELA={LOOSE:.17g}, " if random.uniform() < 0.25 else ""
    return f"*CONTROLS, {given}ENERGY DRIFT=OFF"


def increments(random: Generator, period: float, duration: float, fewest: float = 15.0, most: float = 400.0) -> float:
    """dt, a whole part of the duration: between ``fewest`` and ``most`` of them in a period, evenly over logarithms."""
    divisions = np.exp(random.uniform(np.log(fewest), np.log(most)))
    return float(duration / max(int(np.ceil(duration / period * divisions)), 8))


def mass_deck(masses: Masses, step: str, springs: bool = False, beneath: Iterable[str] = ()) -> str:
    """Cards of point masses on links; ``springs``: links are SPRINGA; ``beneath``: cards of the step."""
    lines = ["*HEADING", "A deck of the study of error bars, SI units", "*NODE, NSET=ALL"]
    lines += [f"{n}, {x:.17g}, {y:.17g}, {z:.17g}" for n, (x, y, z) in enumerate(np.array(masses.places).tolist(), 1)]
    lines += _links(masses, springs)
    for n, mass in enumerate(masses.mass, 1):
        alpha = f", ALPHA={masses.alpha:.17g}" if masses.alpha else ""
        if mass:
            lines += [
                f"*ELEMENT, TYPE=MASS, ELSET=M{n}",
                f"{MASS + n}, {n}",
                f"*MASS, ELSET=M{n}{alpha}",
                f"{mass:.17g}",
            ]
    lines += _grounds(masses)
    for n in (np.flatnonzero(np.array(masses.mass) == 0.0) + 1).tolist():
        moving = {each.axis for each in masses.motions if each.node == n - 1}
        lines += ["*BOUNDARY", *(f"{n}, {axis + 1}" for axis in range(3) if axis not in moving)]
    if np.any(masses.velocities):
        lines += ["*INITIAL CONDITIONS, TYPE=VELOCITY"]
        lines += [
            f"{n}, {axis}, {v:.17g}" for n, row in enumerate(masses.velocities, 1) for axis, v in enumerate(row, 1) if v
        ]
    for k, each in enumerate(masses.motions):
        lines += [f"*AMPLITUDE, NAME=MOVE{k}, DEFINITION=PERIODIC", f"1, {each.omega:.17g}, 0., 1.", "-1., 0."]
    for k, each in enumerate(masses.pushes):
        lines += [f"*AMPLITUDE, NAME=PUSH{k}, DEFINITION=PERIODIC", f"1, {each.omega:.17g}, 0., 0.", "0., 1."]
    lines += ["*STEP, NLGEOM, INC=10000000", *step.splitlines(), *beneath]
    for k, each in enumerate(masses.motions):
        lines += [
            f"*BOUNDARY, AMPLITUDE=MOVE{k}",
            f"{each.node + 1}, {each.axis + 1}, {each.axis + 1}, {each.size:.17g}",
        ]
    for k, each in enumerate(masses.pushes):
        lines += [f"*CLOAD, AMPLITUDE=PUSH{k}", f"{each.node + 1}, {each.axis + 1}, {each.size:.17g}"]
    if masses.gravity:
        lines += ["*DLOAD", *(f"M{n}, GRAV, {masses.gravity:.17g}, 0., 0., -1." for n in masses.free + 1)]
    return "\n".join([*lines, "*NODE PRINT, NSET=ALL", "U, V, RF", "*EL PRINT", "T", "*END STEP", ""])


def _links(masses: Masses, springs: bool) -> list[str]:
    """Bars of one material each, springs, dashpots."""
    lines = []
    for k, link in enumerate(masses.links, 1):
        ends = f"{link.first + 1}, {link.second + 1}"
        if springs or link.table:
            if (
                abs(np.linalg.norm(np.subtract(masses.places[link.second], masses.places[link.first])) - link.length)
                > 1e-12
            ):
                raise ValueError("springs have the distance of their nodes as their length")
            lines += [f"*ELEMENT, TYPE=SPRINGA, ELSET=L{k}", f"{k}, {ends}"]
            rows = [f"{force:.17g}, {way:.17g}" for force, way in link.table] or [
                f"{link.stiffness / link.length:.17g}"
            ]
            lines += [f"*SPRING, ELSET=L{k}{', NONLINEAR' if link.table else ''}", "", *rows]
        else:
            law = ["*INEXTENSIBLE"] if link.strain == "ROD" else ["*ELASTIC", f"{link.stiffness / AREA:.17g}"]
            law += ["*NO COMPRESSION"] if link.is_cable else []
            measure = "" if link.strain == "ROD" else f", STRAIN={link.strain}"
            lines += [f"*ELEMENT, TYPE=T3D2, ELSET=L{k}", f"{k}, {ends}", f"*MATERIAL, NAME=L{k}", *law]
            lines += [f"*SOLID SECTION, ELSET=L{k}, MATERIAL=L{k}{measure}", f"{AREA:.17g}"]
            lines += ["*REST LENGTH", f"L{k}, {link.length:.17g}"] if link.strain != "ROD" else []
        if link.damping:
            lines += [f"*ELEMENT, TYPE=DASHPOTA, ELSET=D{k}", f"{DASHPOT + k}, {ends}"]
            lines += [f"*DASHPOT, ELSET=D{k}", "", f"{link.damping:.17g}"]
    return lines


def _grounds(masses: Masses) -> list[str]:
    lines = []
    for k, each in enumerate(masses.grounds, 1):
        for kind, size in (("SPRING", each.stiffness), ("DASHPOT", each.damping)):
            if size:
                label = GROUND + 2 * k + (kind == "DASHPOT")
                lines += [f"*ELEMENT, TYPE={kind}1, ELSET=G{label}", f"{label}, {each.node + 1}"]
                lines += [f"*{kind}, ELSET=G{label}", f"{each.axis + 1}", f"{size:.17g}"]
    return lines


def wanted(
    masses: Masses, end: float, dt: float, random: Generator, pool: Sequence[str], count: int = 4
) -> dict[str, float]:
    """True values of some of the numbers of a pool: at the end, at an earlier row, largest, smallest, and when.

    The instant of an extreme is asked for only where no other peak comes near it.
    """
    motion = Equations(masses).motion(end)
    rows, found = round(end / dt), dict[str, float]()
    for name in random.permutation(np.array(pool))[:count].tolist():
        kind = len(found) % 4 if len(found) else 0
        if kind == 0:
            found[name] = motion.value(name, end)
        elif kind == 1:
            at = dt * int(random.integers(rows // 3, rows))
            found[f"{name}@{at!r}"] = motion.value(name, at)
        else:
            extreme = "max" if kind == 2 or name[0] == "T" else "min"
            at, value, ahead = motion.extreme(name, 1.0 if extreme == "max" else -1.0)
            found[f"{extreme}:{name}"] = value
            if ahead > 0.05 * abs(value) and kind == 2:
                found[f"instant:{extreme}:{name}"] = at
    return found
