"""``fem.pendulum``: the deck of a pendulum of N links, as text that can be read, changed and run.

The given numbers are ``*PARAMETER`` lines, from which the deck computes the joints, so that ``--set`` can change every
length, mass, angle and speed. A quantity that is the same for all links is one parameter (``length``), otherwise
one per link (``length_1``, ``length_2``, ...).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fem.commands.arguments import add_force, add_list, not_negative, number, positive_count
from fem.commands.files import write_new
from fem.errors import CommandError


def pendulum(
    links: int,
    *,
    length: float | Sequence[float] = 1.0,
    mass: float | Sequence[float] = 1.0,
    angles: float | Sequence[float] = 30.0,
    speeds: float | Sequence[float] = (),
    absolute: bool = False,
    body: str = "bar",
    gravity: float = 9.81,
    time: float = 10.0,
    dt: float = 1e-3,
    integrator: str = "",
    damping: float = 0.0,
    output: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Write the deck of a pendulum, for ``fem.run``, ``fem.sweep`` and others; its numbers are ``*PARAMETER``.

    links         how many there are
    length, mass  of the links: one number for all, or one for each
    angles        initial angles [degrees]: the first from the downward vertical, the others from the previous link
    speeds        initial rates of these angles [degrees per unit of time]; none: at rest
    absolute      angles and speeds are measured from the vertical
    body          ``bar``: uniform slender rods; ``point``: point masses on massless rods;
                  ``centre``: masses at the centres of massless rods;
                  ``elastic:EA``, ``point:EA``, ``centre:EA``: elastic bars of this stiffness
    gravity       acceleration along -z
    time, dt      duration and increment
    integrator    TIME INTEGRATOR of the deck; empty: ENERGY MOMENTUM
    damping       drag of the air, linear in the velocity: force damping m v on every mass m [1/time]
    output        file of the deck; None: ``pendulum_<links>.inp`` in the current folder
    force         overwrite a file with other content

    Raises
    ------
    CommandError  a number is out of range, or the file exists and has other content.

    >>> deck = pendulum(2, angles=[90, 0], time=0.1)
    >>> len(fem.run(deck))
    101
    """
    form, stiffness = body_of(body)
    given = {"length": length, "mass": mass, "angles": angles, "speeds": speeds}
    lengths, masses, turns, rates = (per_link(values, links, name) for name, values in given.items())
    found = Pendulum(lengths, masses, turns, rates, absolute, form, stiffness, gravity, time, dt, integrator, damping)
    target = Path(f"pendulum_{links}.inp") if output is None else Path(output)
    return write_new(target, deck_text(found).encode(), force)


INTEGRATOR = "ENERGY MOMENTUM"
HEADING = """\
*HEADING
Pendulum of {links}: {what}
SI units: m, kg, s, N; angles in degrees, speeds in degrees per second
** (other consistent units are possible: remove SI above, and figures show no units)
**
** x to the right, z upwards. Node 1 is the fixed joint, node i + 1 the lower end of link i.
** Angles: counter-clockwise from the downward vertical, {since}.
** Speeds: rates of these angles.
** Any parameter can be changed for one run:  python -m fem run DECK --set gravity=1.62
**
"""
STEP = """\
**
*STEP, NLGEOM, NAME=SWING
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
<dt>, <time>
*DLOAD
{elements}, GRAV, <gravity>, 0., 0., -1.
*NODE PRINT, NSET=JOINTS
U, V, A, RF
*EL PRINT, ELSET=LINKS
E, S, N, T
*END STEP
"""


def deck_text(pendulum: Pendulum) -> str:
    parts = (heading_lines, parameter_lines, mesh_lines, property_lines, condition_lines, step_lines)
    return "".join(f"{line}\n" for part in parts for line in part(pendulum))


# ---------------------------------------------------------------------------------------------- parts of the deck
def heading_lines(pendulum: Pendulum) -> list[str]:
    """The heading: the pendulum and the conventions of its angles."""
    what = BODIES[pendulum.body] + (", inextensible" if pendulum.stiffness is None else ", elastic")
    since = "each from the vertical" if pendulum.absolute else "from the second link on, relative to the previous link"
    links = f"{pendulum.links} link{'s' * (pendulum.links > 1)}"
    return HEADING.format(links=links, what=what, since=since).splitlines()


def names_of(quantity: str, values: Sequence[object]) -> list[str]:
    """Parameter that holds the quantity of each link: one for all where they are equal."""
    if len(set(values)) == 1:
        return [quantity] * len(values)
    return [f"{quantity}_{i + 1}" for i in range(len(values))]


def parameter_lines(pendulum: Pendulum) -> list[str]:
    """The given numbers, then the joints: x_i, z_i and, with speeds, their velocities vx_i, vz_i."""
    given = {"gravity": pendulum.gravity, "time": pendulum.time, "dt": pendulum.dt}
    columns = [pendulum.lengths, pendulum.masses, pendulum.angles, pendulum.speeds]
    names = [names_of(quantity, values) for quantity, values in zip(QUANTITIES, columns, strict=True)]
    for column, values in zip(names, columns, strict=True):
        given |= dict(zip(column, values, strict=True))
    length, mass, angle, speed = names
    lines = ["*PARAMETER", *(f"{name} = {float(value)!r}" for name, value in given.items())]
    if pendulum.stiffness is not None:
        lines.append(f"EA = {float(pendulum.stiffness)!r}")
    if pendulum.damping:
        lines += ["** drag of the air: a force damping*m*v on every mass m", f"damping = {float(pendulum.damping)!r}"]
    if pendulum.body != "point":
        lines.append("** mass per length")
        pairs = dict.fromkeys(zip(density_names(pendulum), mass, length, strict=True))
        lines += [f"{density} = {m}/{of}" for density, m, of in pairs]
    lines.append("** angle of each link from the downward vertical [rad]")
    lines += turned("theta", angle, pendulum.absolute)
    lines.append("** joints")
    for i, of in enumerate(length, 1):
        lines += [f"x_{i} = {above('x', i)}{of}*sin(theta_{i})", f"z_{i} = {above('z', i, '-')}{of}*cos(theta_{i})"]
    if speed:
        lines.append("** angular speed of each link [rad per unit of time], velocities of the joints")
        lines += turned("omega", speed, pendulum.absolute)
        for i, of in enumerate(length, 1):
            lines.append(f"vx_{i} = {above('vx', i)}{of}*omega_{i}*cos(theta_{i})")
            lines.append(f"vz_{i} = {above('vz', i)}{of}*omega_{i}*sin(theta_{i})")
    return lines


def above(name: str, i: int, sign: str = "+") -> str:
    """The value of the link above and the sign of what comes; at the first link a minus sign at most."""
    return f"{name}_{i - 1} {sign} " if i > 1 else sign.strip("+")


def turned(name: str, given: Sequence[str], absolute: bool) -> list[str]:
    """Angles or speeds from the vertical, in radians."""
    before = ["" if absolute else above(name, i) for i in range(1, len(given) + 1)]
    return [f"{name}_{i} = {before[i - 1]}{parameter}*pi/180" for i, parameter in enumerate(given, 1)]


def density_names(pendulum: Pendulum) -> list[str]:
    """Mass per length of each link: one name where all are equal."""
    return names_of("density", list(zip(pendulum.lengths, pendulum.masses, strict=True)))


def mesh_lines(pendulum: Pendulum) -> list[str]:
    """Joints, links, and point masses numbered on from the links."""
    n = pendulum.links
    lines = ["**", "*NODE, NSET=JOINTS", "1, 0., 0., 0."]
    lines += [f"{i + 1}, <x_{i}>, 0., <z_{i}>" for i in range(1, n + 1)]
    lines += ["*ELEMENT, TYPE=T3D2, ELSET=LINKS", *(f"{i}, {i}, {i + 1}" for i in range(1, n + 1))]
    if pendulum.body == "point":
        lines += ["*ELEMENT, TYPE=MASS, ELSET=BOBS", *(f"{n + i}, {i + 1}" for i in range(1, n + 1))]
    return lines


def property_lines(pendulum: Pendulum) -> list[str]:
    """Materials, sections (area 1: E A and the mass per length are given) and point masses."""
    is_rigid = pendulum.stiffness is None
    law, strain = (["*INEXTENSIBLE"], "") if is_rigid else (["*ELASTIC", "<EA>"], ", STRAIN=ENGINEERING")
    drag = ", ALPHA=<damping>" if pendulum.damping else ""
    if pendulum.body != "point":
        law += [f"*DAMPING{drag}"] if drag else []
        lines: list[str] = []
        rule = "ONE POINT" if pendulum.body == "centre" else "CONSISTENT"
        for density, name, cards in groups(density_names(pendulum), "LINKS", "LINK", 0):
            lines += [*cards, f"*MATERIAL, NAME={name}", *law, "*DENSITY", f"<{density}>"]
            lines += [f"*SOLID SECTION, ELSET={name}, MATERIAL={name}, MASS={rule}{strain}", "1."]
        return lines
    lines = ["*MATERIAL, NAME=MASSLESS", *law, "*SOLID SECTION, ELSET=LINKS, MATERIAL=MASSLESS" + strain, "1."]
    for mass, name, cards in groups(names_of("mass", pendulum.masses), "BOBS", "BOB", pendulum.links):
        lines += [*cards, f"*MASS, ELSET={name}{drag}", f"<{mass}>"]
    return lines


def groups(names: Sequence[str], whole: str, single: str, before: int) -> list[tuple[str, str, list[str]]]:
    """Parameter, element set, cards that make the set: the whole, or one per element, numbered on from ``before``."""
    if len(set(names)) == 1:
        return [(names[0], whole, [])]
    made = [(name, f"{single}_{i}", str(before + i)) for i, name in enumerate(names, 1)]
    return [(name, elements, [f"*ELSET, ELSET={elements}", label]) for name, elements, label in made]


def condition_lines(pendulum: Pendulum) -> list[str]:
    """The fixed joint, the plane of the motion, velocities at the start."""
    lines = ["*BOUNDARY", "1, 1, 3", "JOINTS, 2"]
    if pendulum.speeds:
        lines.append("*INITIAL CONDITIONS, TYPE=VELOCITY")
        for i in range(1, pendulum.links + 1):
            lines += [f"{i + 1}, 1, <vx_{i}>", f"{i + 1}, 3, <vz_{i}>"]
    return lines


def step_lines(pendulum: Pendulum) -> list[str]:
    """The lines of the *STEP: the motion, and what is printed for figures."""
    elements = "BOBS" if pendulum.body == "point" else "LINKS"
    return STEP.format(integrator=pendulum.integrator or INTEGRATOR, elements=elements).splitlines()


BODIES = {
    "bar": "uniform slender bars",
    "point": "point masses at the ends of massless bars",
    "centre": "masses at the centres of massless bars",
}
QUANTITIES = ("length", "mass", "angle", "speed")


@dataclass(frozen=True, slots=True)
class Pendulum:
    """What ``pendulum`` is given, one number for each of N links; they move in the plane x, z (up).

    angles     at t = 0 [degrees], counter-clockwise; speeds: their rates, empty: at rest
    body       bar, point or centre;  stiffness  E A of every link; None: rods without stretch

    Raises CommandError on lists of different lengths and numbers out of their range.
    """

    lengths: tuple[float, ...]
    masses: tuple[float, ...]
    angles: tuple[float, ...]
    speeds: tuple[float, ...] = ()
    absolute: bool = False
    body: str = "bar"
    stiffness: float | None = None
    gravity: float = 9.81
    time: float = 10.0
    dt: float = 1e-3
    integrator: str = ""
    damping: float = 0.0

    def __post_init__(self) -> None:
        counts = [len(values) for values in (self.lengths, self.masses, self.angles, self.speeds or self.angles)]
        if len(set(counts)) > 1 or not self.lengths:
            listed = ", ".join(f"{n} of {name}" for n, name in zip(counts, QUANTITIES, strict=True))
            raise CommandError(f"one value per link is needed, got {listed}")
        if self.body not in BODIES:
            raise CommandError(f"a body of a pendulum is {' or '.join(BODIES)}, not {self.body!r}")
        stiffness = () if self.stiffness is None else (self.stiffness,)
        for name, values in (("length", self.lengths), ("mass", self.masses), ("stiffness EA", stiffness)):
            for value in values:
                if value <= 0.0:
                    raise CommandError(f"a {name} must be positive, got {value:g}")
        if not self.damping >= 0.0:
            raise CommandError(f"the damping must not be negative, got {self.damping:g}")
        if not 0.0 < self.dt <= self.time:
            message = f"the increment must be positive and at most the time, got {self.dt:g} and {self.time:g}"
            raise CommandError(message)

    @property
    def links(self) -> int:
        return len(self.lengths)


SHARES = {"bar": (1.0 / 3.0, 0.5), "point": (1.0, 1.0), "centre": (0.25, 0.5)}
"""Of the mass of a link, about its upper joint: moment of inertia over m L^2, place of the centre over L."""


def coefficients(pendulum: Pendulum) -> tuple[list[list[float]], list[float]]:
    """M (N, N) and G (N,) of the equations of rigid links in angles from the vertical, with drag c v m:

    sum_j M_ij [cos(theta_i - theta_j) (theta_j'' + c theta_j') + sin(theta_i - theta_j) theta_j'^2]
        + g G_i sin(theta_i) = 0
    """
    inertia, centre = SHARES[pendulum.body]
    beyond = [sum(pendulum.masses[i + 1 :]) for i in range(pendulum.links)]
    lengths, masses = pendulum.lengths, pendulum.masses

    def entry(i: int, j: int) -> float:
        outer = max(i, j)
        return lengths[i] * lengths[j] * ((inertia if i == j else centre) * masses[outer] + beyond[outer])

    links = range(pendulum.links)
    weight = [lengths[i] * (centre * masses[i] + beyond[i]) for i in links]
    return [[entry(i, j) for j in links] for i in links], weight


def per_link(values: float | Sequence[float], links: int, name: str) -> tuple[float, ...]:
    """One value per link from one for all or ``links`` values; none from none. Raises CommandError."""
    import numpy as np  # help on the options does without it

    given: tuple[float, ...] = tuple(np.ravel(values).tolist())
    if len(given) not in (0, 1, links):
        message = f"{name} has {len(given)} values for {links} link{'s' * (links > 1)}"
        raise CommandError(f"{message}; give one for all, or one per link")
    return given * links if len(given) == 1 else given


def body_of(text: str) -> tuple[str, float | None]:
    """``bar``, ``point``, ``centre``, ``elastic:EA``... as body and axial stiffness. Raises CommandError."""
    kind, colon, number = text.strip().lower().partition(":")
    if kind not in (*BODIES, "elastic") or (kind == "elastic" and not colon):
        raise CommandError(f"unknown body {text!r}; known are bar, point, centre, elastic:EA, point:EA and centre:EA")
    try:
        stiffness = float(number) if colon else None
    except ValueError:
        stiffness = math.nan
    if stiffness is not None and not 0.0 < stiffness < math.inf:
        raise CommandError(f"the axial stiffness EA in {text!r} must be a positive number")
    return "bar" if kind == "elastic" else kind, stiffness


BODY = (
    "bar: rigid slender bars (default); point: masses on massless rods; centre: masses at their centres; "
    "elastic:EA, point:EA, centre:EA: the same with elastic links of stiffness EA"
)
ANGLES = "initial angles [degrees]: the first from the vertical, each other from the previous link (default: 30)"
SPEEDS = "initial rates of these angles [degrees per second] (default: 0)"


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--links", metavar="N", type=positive_count, required=True, help="number of links")
    add_list(command, "--length", "LIST", "length of the links [m]: one for all, or N (default: 1)")
    add_list(command, "--mass", "LIST", "mass of the links [kg] (default: 1)")
    add_list(command, "--angles", "LIST", ANGLES)
    add_list(command, "--speeds", "LIST", SPEEDS)
    command.add_argument("--absolute", action="store_true", help="measure all angles and speeds from the vertical")
    command.add_argument("--body", help=BODY)
    command.add_argument("--gravity", metavar="G", type=number, help="gravity, along -z [m/s^2] (default: 9.81)")
    command.add_argument("--time", metavar="T", type=number, help="duration [s] (default: 10)")
    command.add_argument("--dt", metavar="DT", type=number, help="increment [s] (default: 1e-3)")
    command.add_argument("--integrator", metavar="NAME", help="TIME INTEGRATOR of the deck (default: ENERGY MOMENTUM)")
    drag = "drag of the air: a force C m v on every mass m [1/s] (default: 0)"
    command.add_argument("--damping", metavar="C", type=not_negative, help=drag)
    command.add_argument("--output", metavar="FILE.inp", type=Path, help="deck to write (default: pendulum_<N>.inp)")
    add_force(command)
    command.add_argument("--run", action="store_true", help="run the deck, too; results in results/<deck name>")
