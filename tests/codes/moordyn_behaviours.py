"""Small models for moordyn, run by themselves in a folder: writes what it does as JSON, name -> numbers."""

import json
import math
import sys
from pathlib import Path

import moordyn

TEXT = """A line
--- LINE TYPES ---
TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
rope {diameter} {mass} {ea} {ba} 0 {cd} 0.0 {cdax} 0.0
{rods}--- POINTS ---
ID Type X Y Z Mass Volume CdA CA
(#) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 {first} 0
2 {last} 0
--- LINES ---
ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs
(#) (name) (#) (#) (m) (-) (-)
1 rope {attached} 2 {length} {segments} -
--- OPTIONS ---
{dt} dtM
{depth} WtrDpth
{options}
--- OUTPUTS ---
FairTen1
--- END ---
"""
USUAL = {
    "diameter": 0.1, "mass": 100.0, "ea": "1e6", "ba": "1e4", "cd": 0.0, "cdax": 0.0, "segments": 10, "length": 10.0,
    "first": "Fixed 0 0 -40 0 0 0", "last": "Coupled 0 0 -29 0 0 0", "dt": "1e-3", "depth": 50.0, "options": "",
    "rods": "", "attached": "1",
}  # fmt: skip
RODS = """--- ROD TYPES ---
TypeName Diam Mass/m Cd Ca CdEnd CaEnd
(name) (m) (kg/m) (-) (-) (-) (-)
rod 0.1 100 0 0 0 0
--- RODS ---
ID RodType Attachment Xa Ya Za Xb Yb Zb NumSegs RodOutputs
(#) (name) (-) (m) (m) (m) (m) (m) (m) (-) (-)
1 rod Fixed 0 0 -40 2 0 -40 {} -
"""
NUMBER = [0]


def opened(place=None, **more):
    NUMBER[0] += 1
    name = f"line{NUMBER[0]}.txt"
    Path(name).write_text(TEXT.format(**USUAL | more))
    system = moordyn.Create(name)
    ends = list(place) if place else []
    moordyn.Init(system, ends, [0.0] * len(ends))
    return system


def node(system, k):
    return moordyn.GetLineNodePos(moordyn.GetLine(system, 1), k)


def moved(system, place, rate, time, dt=0.05):
    """Moves the coupled point at a steady rate; fairlead tensions."""
    found = []
    for k in range(round(time / dt)):
        now = [x + v * k * dt for x, v in zip(place, rate, strict=True)]
        moordyn.Step(system, now, rate, k * dt, dt)
        found.append(moordyn.GetLineFairTen(moordyn.GetLine(system, 1)))
    return found


def hanging(**more):
    """A weight of 1000 kg on a vertical line without mass or volume worth the name: elongation by g."""
    more = {"mass": 1e-3, "diameter": 1e-4, "options": "600 TmaxIC\n1e-12 threshIC\n0 WtrDnsty"} | more
    system = opened(first="Fixed 0 0 -10 0 0 0", last="Free 0 0 -20.0 1000 0 0", segments=1, **more)
    return (-10.0 - node(system, 1)[2]) / 10.0 - 1.0


def drawn(options):
    """Height of a free point of 1000 kg that is drawn 1 m above its place of rest."""
    system = opened(
        first="Fixed 0 0 -10 0 0 0", last="Free 0 0 -19.0 1000 0 0", segments=1, mass=1e-3, diameter=1e-4,
        options=options + "\n0 WtrDnsty\n9.81 g",
    )  # fmt: skip
    return node(system, 1)[2]


def friction(speed, options):
    """Tension of 20 m of line that is pulled along the bottom by an end."""
    system = opened(
        (20.0, 0.0, -50.0), first="Free 0 0 -50 0 0 0", last="Coupled 20 0 -50 0 0 0", length=20.0, ea="1e7", ba="-0.8",
        options=f"0 TmaxIC\n0.5 FrictionCoefficient\n9.81 g\n{options}", dt="2e-4",
    )  # fmt: skip
    found = moved(system, [20.0, 0.0, -50.0], [speed, 0.0, 0.0], 4.0)
    return sum(found[-20:]) / 20.0


def lying(**more):
    """Depth of the middle of a line below the bottom at 50."""
    system = opened(
        first="Fixed 0 0 -50 0 0 0", last="Fixed 10 0 -50 0 0 0", ba="1e5",
        options="600 TmaxIC\n1e-12 threshIC\n9.81 g\n1e5 kBot\n1e5 cBot", **{"ea": "1e3"} | more,
    )  # fmt: skip
    return -50.0 - node(system, 5)[2]


def along(cdax):
    """Force of the water on a taut line that is drawn along itself at 2 m/s."""
    system = opened(
        (10.0, 0.0, -10.0), first="Free 0 0 -10 0 0 0", last="Coupled 10 0 -10 0 0 0", options="0 TmaxIC\n1e-9 g",
        mass=10.0, cdax=cdax, ba="-0.8",
    )  # fmt: skip
    return moved(system, [10.0, 0.0, -10.0], [2.0, 0.0, 0.0], 20.0)[-1]


def slack_rate(ba):
    """Tension of a slack line of one segment whose end moves apart at 2 m/s."""
    system = opened(
        (0.0, 0.0, -31.0), last="Coupled 0 0 -31 0 0 0", segments=1, ba=ba, options="0 TmaxIC\n0 WtrDnsty\n1e-9 g",
        mass=1e-3, diameter=1e-4,
    )  # fmt: skip
    moordyn.Step(system, [0.0, 0.0, -31.0], [0.0, 0.0, 2.0], 0.0, 0.002)
    line = moordyn.GetLine(system, 1)
    return moordyn.GetLineFairTen(line), [moordyn.GetLineNodeTen(line, k) for k in (0, 1)]


def step_response(ea, ba):
    """Tension of a line without mass just after it is pulled by 1 % within 0.02 s, and 2 s later."""
    system = opened(
        (0.0, 0.0, -30.0), last="Coupled 0 0 -30 0 0 0", segments=1, ea=ea, ba=ba, dt="1e-4",
        options="0 TmaxIC\n0 WtrDnsty\n1e-9 g", mass=1.0,
    )  # fmt: skip
    found = []
    for k in range(110):
        now, rate = min(k * 0.02, 0.02) / 0.02 * 0.1, 5.0 if k == 0 else 0.0
        moordyn.Step(system, [0.0, 0.0, -30.0 + now], [0.0, 0.0, rate], k * 0.02, 0.02)
        found.append(moordyn.GetLineFairTen(moordyn.GetLine(system, 1)))
    return found[1], found[-1]


def chain(options):
    """Sag of a chain of 10 segments, 100 m between supports 90 m apart, and of its polygon."""
    system = opened(
        first="Fixed 0 0 -10 0 0 0", last="Fixed 90 0 -10 0 0 0", length=100.0, ea="5e7", ba="0.0", mass=3.925,
        diameter=1e-3, depth=1e4, options=f"0 WtrDnsty\n9.81 g\n0 kBot\n0 cBot\n{options}",
    )  # fmt: skip
    return -10.0 - node(system, 5)[2]


def fairlead():
    """FairTen of the output file, GetLineFairTen, and the force on the coupled point, of a line in the air."""
    system = opened((30.0, 0.0, -10.0), last="Coupled 30 0 -10 0 0 0", length=45.0, segments=4, ea="1e7",
                    options="600 TmaxIC\n1e-9 threshIC\n0 WtrDnsty\n9.81 g")  # fmt: skip
    place = [30.0, 0.0, -10.0]
    force = moordyn.Step(system, place, [0.0] * 3, 0.0, 0.01)
    tension = moordyn.GetLineFairTen(moordyn.GetLine(system, 1))
    moordyn.Close(system)
    lines = Path(f"line{NUMBER[0]}.out").read_text().splitlines()
    return float(lines[-1].split()[1]), tension, math.sqrt(sum(x * x for x in force))


def pushed():
    """Tension of a line of one segment whose ends are nearer than its length."""
    system = opened(
        (0.0, 0.0, -31.0), last="Coupled 0 0 -31 0 0 0", segments=1, ba="0", mass=1e-3, diameter=1e-4,
        options="0 TmaxIC\n0 WtrDnsty\n1e-9 g",
    )  # fmt: skip
    moordyn.Step(system, [0.0, 0.0, -31.0], [0.0] * 3, 0.0, 0.002)
    return moordyn.GetLineFairTen(moordyn.GetLine(system, 1))


def on_a_slope():
    """Tension at the upper end, which is fixed, of 20 m of line on a bottom that rises by 20 degrees."""
    rise, along = math.tan(math.radians(20.0)), 20.0 * math.cos(math.radians(20.0))
    corners = "\n".join(f"{x} {y} {rise * x - 50.0!r}" for x in (-100, 100) for y in (-100, 100))
    Path("slope.txt").write_text(f"2 2\n-100 100\n-100 100\n{corners}\n")
    system = opened(
        first="Free 0 0 -50 0 0 0", last=f"Fixed {along!r} 0 {rise * along - 50.0!r} 0 0 0", length=20.0, ea="1e7",
        ba="-0.8", dt="2e-4",
        options="60 TmaxIC\n0 threshIC\n9.81 g\n3e5 kBot\n3e4 cBot\nslope.txt SeafloorFile",
    )  # fmt: skip
    return moordyn.GetLineFairTen(moordyn.GetLine(system, 1))


def on_a_rod(segments):
    """Where a line begins that is attached to end B of a fixed rod, 2 m from its end A."""
    return node(opened((0.0, 0.0, -29.0), rods=RODS.format(segments), attached="R1B", options="0 TmaxIC"), 0)[0]


found = {
    "rod": (on_a_rod(0), on_a_rod(1)),
    "pushed": pushed(),
    "slope": on_a_slope(),
    "fast spring alone": step_response("1e6|3e6", "0|0"),
    "gravity": (hanging(), hanging(options="600 TmaxIC\n1e-12 threshIC\n0 WtrDnsty\n9.81 g")),
    "drawn": (drawn("0 TmaxIC"), drawn("600 TmaxIC\n1e-9 threshIC"), drawn("60 TmaxIC\n0 threshIC")),
    "friction": (friction(0.01, ""), friction(0.1, ""), friction(0.1, "1e5 FricDamp")),
    "lying": (lying(), lying(diameter=0.2, mass=100.0 + 1025.0 * math.pi / 4.0 * (0.2**2 - 0.1**2))),
    "along": along(0.2),
    "slack rate": slack_rate("1e3"),
    "standard solid": step_response("1e6|3e6", "0|2e5"),
    "chain": (chain("0 TmaxIC"), chain("60 TmaxIC\n1.0 dtIC\n1e-4 threshIC"), chain("600 TmaxIC\n0 threshIC")),
    "fairlead": fairlead(),
}
Path(sys.argv[1]).write_text(json.dumps(found))
