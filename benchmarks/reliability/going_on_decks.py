"""Small decks of all that lives through a run: schemes, rods, ropes, arcs, automatic increments, several steps."""

from __future__ import annotations

import re

LINKS = 6
OUTPUT = """*NODE PRINT, NSET=NALL, FREQUENCY=3
U, V, A, RF
*EL PRINT, ELSET=LINE, FREQUENCY=2
S, E, N, T
*NODE FILE, FREQUENCY=7
U
"""
ELASTIC = "*ELASTIC\n2e4\n*DENSITY\n1."
SLACK = "*ELASTIC\n2e4\n*NO COMPRESSION\n*DENSITY\n1.\n*DAMPING, ALPHA=0.1, BETA=1e-5"
ROD = "*INEXTENSIBLE\n*DENSITY\n1."
ROPE = "*INEXTENSIBLE, RESTITUTION=0.4\n*NO COMPRESSION\n*DENSITY\n1."
SEA = "*AQUA\n-3., 0.05, 9.81, 1.\n0.2, 0.1, 0., 0.\n*WAVE, TYPE=JONSWAP, SEED=5, COMPONENTS=30\n0.1, 0.9\n"
WET = "LINE, FDD, 1., 0.4, 1.2\nLINE, FI, 1., 0.4, 2., 1.\nLINE, PB, 1., 0.4\n"
SWING = "*AMPLITUDE, NAME=SWING, DEFINITION=PERIODIC\n1, 9., 0., 0.\n0., 1.\n"


def hanging(material: str, steps: str, extra: str = "", section: str = "", height: float = 0.12) -> str:
    """A chain of links that is let go from a zigzag, pinned at its first node."""
    nodes = "".join(f"{i + 1}, {0.16 * i!r}, 0., {height * (i % 2)!r}\n" for i in range(LINKS + 1))
    bars = "".join(f"{i + 1}, {i + 1}, {i + 2}\n" for i in range(LINKS))
    return f"""*NODE, NSET=NALL
{nodes}*ELEMENT, TYPE=T3D2, ELSET=LINE
{bars}*MATERIAL, NAME=M
{material}
*SOLID SECTION, ELSET=LINE, MATERIAL=M{section}
1.
*BOUNDARY
1, 1, 3
NALL, 2
{extra}{steps}"""


def step(procedure: str, cards: str = "", output: str = OUTPUT) -> str:
    """One step under gravity."""
    return f"*STEP, NLGEOM\n{procedure}\n*DLOAD\nLINE, GRAV, 9.81, 0., 0., -1.\n{cards}{output}*END STEP\n"


def dynamic(integrator: str, dt: float, count: int, direct: str = "DIRECT, ") -> str:
    """Its two lines; ``count`` increments of ``dt`` where they are equal."""
    return f"*DYNAMIC, {direct}TIME INTEGRATOR={integrator}\n{dt!r}, {dt * count!r}"


def floor(friction: float) -> str:
    """Cards of a plane below all nodes but the first."""
    return (
        "*NODE\n99, 0., 0., -0.2\n*BOUNDARY\n99, 1, 3\n*NSET, NSET=LOW, GENERATE\n2, 7\n"
        f"*STOP PLANE, REF NODE=99, NSET=LOW, RESTITUTION=0.3, FRICTION={friction!r}\n0., 0., 1.\n"
    )


def tethered(count: int) -> str:
    """A node on springs that a load moves to and fro, tied to two places by ropes, in small increments of statics."""
    return f"""*NODE, NSET=NALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 0., 0., 0.5
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 3, 2
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
11, 2
*SPRING, ELSET=GROUND
1
10.
*ELEMENT, TYPE=SPRING1, ELSET=UP
12, 2
*SPRING, ELSET=UP
3
10.
*MATERIAL, NAME=M
{ROPE}
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
3, 1, 3
2, 2
{SWING}*STEP, NLGEOM
*STATIC, DIRECT
{1.0 / count!r}, 1.
*CLOAD, AMPLITUDE=SWING
2, 1, 3.
2, 3, -1.
{OUTPUT}*END STEP
"""


def arch(count: int) -> str:
    """Two bars that snap through, followed by the arc length; the last step lets go."""
    riks = f"*STATIC, RIKS\n{1.0 / count!r}, 1., , {3.0 / count!r}"
    output = OUTPUT.replace("FREQUENCY=7", "FREQUENCY=3")
    return f"""*NODE, NSET=NALL
1, -10., 0., 0.
2, 10., 0., 0.
3, 0., 0., 1.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 3
2, 3, 2
*MATERIAL, NAME=M
*ELASTIC
1000.
*DENSITY
1.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
2.
*BOUNDARY
1, 1, 3
2, 1, 3
3, 1, 2
*STEP, NLGEOM, INC=100000
{riks}
*CLOAD
3, 3, -1.5
{output}*END STEP
*STEP, NLGEOM
{dynamic("NEWMARK", 0.01, count)}
*END STEP
"""


def snapping(count: int) -> str:
    """Two bars that snap through under a load that rises: automatic increments, cut back again and again."""
    few = "*STATIC\n0.2, 1., 1e-6, 0.33333\n*CONTROLS, ITER_GLOB_MAXI=16"
    return re.sub(r"\*STATIC, RIKS\n.*", few, arch(count)).replace("3, 3, -1.5", "3, 3, -3.")


def doubled(count: int) -> str:
    """Ropes that are there twice: pulls that the motion does not tell apart are shared."""
    twice = "".join(f"{LINKS + i + 1}, {i + 1}, {i + 2}\n" for i in range(2))
    deck = hanging(
        ROPE, step(dynamic("NEWMARK", 0.6 / count, 2 * count), "*CONTROLS, IMPACT=EVENT, ENERGY DRIFT=OFF\n")
    )
    return deck.replace("*MATERIAL", f"{twice}*MATERIAL", 1)


def net(cells: int, count: int, integrator: str = "NEWMARK", static: str = "") -> str:
    """A square net of pretensioned cables with a load that jumps."""
    side = cells + 1
    nodes = "".join(f"{side * i + j + 1}, {float(i)!r}, {float(j)!r}, 0.\n" for i in range(side) for j in range(side))
    ends = [(side * i + j, side * i + j + 1) for i in range(side) for j in range(cells)]
    ends += [(side * i + j, side * (i + 1) + j) for i in range(cells) for j in range(side)]
    bars = "".join(f"{e + 1}, {a + 1}, {b + 1}\n" for e, (a, b) in enumerate(ends))
    rim = sorted({*range(1, side + 1), *range(side * cells + 1, side * side + 1)})
    return f"""*NODE, NSET=NALL
{nodes}*ELEMENT, TYPE=T3D2, ELSET=LINE
{bars}*MATERIAL, NAME=M
*ELASTIC
1e5
*DENSITY
1.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*INITIAL CONDITIONS, TYPE=STRESS
LINE, 100.
*BOUNDARY
{"".join(f"{label}, 1, 3{chr(10)}" for label in rim)}{static}*STEP, NLGEOM
{dynamic(integrator, 0.01, count)}
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=NALL, FREQUENCY=5
U
*END STEP
"""


def several(count: int) -> str:
    """Equilibrium in rising heat, modes, a motion with the support driven, equilibrium at rest, modes again."""
    static = step("*STATIC\n0.05, 1., , 0.1", "*TEMPERATURE\nNALL, 5.\n")
    drive = "*BOUNDARY, AMPLITUDE=SWING\n1, 1, 1, 0.05\n"
    motion = step(dynamic("BACKWARD EULER", 0.004, count), drive)
    rest = f"*STEP, NLGEOM\n*STATIC\n0.1, 1.\n*BOUNDARY\n1, 1, 1, 0.1\n{OUTPUT}*END STEP\n"
    modes = "*STEP, NLGEOM\n*FREQUENCY\n3\n*END STEP\n"
    taut = f"{LINKS + 1}, 1, 3\n*INITIAL CONDITIONS, TYPE=STRESS\nLINE, 200.\n"
    return hanging(f"{ELASTIC}\n*EXPANSION\n1e-5", static + modes + motion + rest + modes, taut + SWING, height=0.0)


def broken(material: str, size: int, first: str, second: str, controls: str) -> str:
    """Links part at the start of a step, within one, and by their pull; those behind them fall."""
    dt = 2e-4 if material == SLACK else 1.2 / size
    steps = step(dynamic(first, dt, size), controls) + step(dynamic(second, dt, size), "*MODEL CHANGE, REMOVE\n2\n")
    steps = steps.replace("DIRECT, TIME INTEGRATOR=CENTRAL DIFFERENCE", "DIRECT, EXPLICIT")
    limits = f"*FAILURE, TYPE=TIME\n5, {0.4123 * dt * size!r}\n*FAILURE, TYPE=TENSION\n4, 5.\n3, 12.\n"
    return hanging(material, steps, limits)


def vessel(size: int) -> str:
    """A chain whose first node moves with a body that turns, and that waves move, in two steps."""
    body = "*NODE\n50, -1., 0., 1.\n*NSET, NSET=PIN\n1\n"
    body += "*RIGID BODY, REF NODE=50, PIN NSET=PIN, RAO=BOX, HEADING=20.\n*AQUA\n-9., -5., 9.81, 1.\n"
    body += "*WAVE, TYPE=TABLE, RAMP=0.03\n0.02, 0.5, 40., 20.\n0.01, 0.3, 0., 20.\n"
    names = "period, heading, surge, surge phase, pitch, pitch phase\n"
    body += f"*RAO, NAME=BOX\n{names}0.2, 0, 1, 90, 9, -90\n0.9, 0, 1, 90, 9, 0\n"
    spline = SWING.replace("PERIODIC", "SPLINE, TIME=TOTAL TIME").replace(
        "1, 9., 0., 0.\n0., 1.", "0, 0, .1, .3, .3, -1, 1, 1"
    )
    turns = "*BOUNDARY, AMPLITUDE=SWING\n50, 1, 1, 0.05\n50, 5, 5, 0.1\n"
    off = "*CONTROLS, ENERGY DRIFT=OFF\n"  # increments are long for the bars
    steps = step(dynamic("NEWMARK", 0.002, size), turns + off) + step(dynamic("HHT", 0.002, size))
    return hanging(SLACK, steps, body + spline).replace("1, 1, 3\nNALL, 2\n", "50, 1, 3\n")


def decks(size: int) -> dict[str, str]:
    """By name; ``size``: about the number of increments of each."""
    drive = "*BOUNDARY, AMPLITUDE=SWING\n1, 1, 1, 0.05\n"
    points = "*TIME POINTS, NAME=POINTS\n0.02\n0.0503\n0.11\n0.2\n"
    at_points = "*NODE PRINT, NSET=NALL, TIME POINTS=POINTS\nU, V\n*NODE FILE, TIME POINTS=POINTS\nU\n"
    event, moreau = (f"*CONTROLS, IMPACT={how}, ENERGY DRIFT=OFF\n" for how in ("EVENT", "MOREAU"))
    off = "*CONTROLS, ENERGY DRIFT=OFF\n"
    return {
        "newmark": hanging(ELASTIC, step(dynamic("NEWMARK", 0.002, size), drive + off), SWING),
        "automatic": hanging(
            SLACK, step(dynamic("HHT", 0.0005, 4 * size, ""), off, at_points), points, ", MASS=CONSISTENT"
        ),
        "rods": hanging(ROD, step(dynamic("GENERALIZED ALPHA", 0.004, size), off)),
        "secant rods": hanging(ROD, step(dynamic("ENERGY MOMENTUM", 0.004, size), drive), SWING),
        "several": several(size),
        "ropes": hanging(ROPE, step(dynamic("NEWMARK", 1.2 / size, size), event)),
        "ropes stepped over": hanging(ROPE, step(dynamic("NEWMARK", 1.2 / size, size), moreau + drive), SWING),
        "ropes at rest": tethered(size),
        "arc": arch(size),
        "explicit": hanging(SLACK, step(dynamic("CENTRAL DIFFERENCE", 1e-4, 10 * size), drive + off), SWING),
        "explicit rods": hanging(ROD, step(dynamic("CENTRAL DIFFERENCE", 1e-3, 4 * size), off)),
        "net": net(8, size // 2),
        "snapping": snapping(size),
        "doubled ropes": doubled(size),
        "drifting": hanging(SLACK, step(dynamic("HHT", 0.05, size), "*CONTROLS, ENERGY DRIFT=OFF\n")),
        "broken": broken(SLACK, size, "HHT", "CENTRAL DIFFERENCE", off),
        "broken ropes": broken(ROPE, size, "NEWMARK", "ENERGY MOMENTUM", event),
        "floor": hanging(ROD, step(dynamic("NEWMARK", 0.6 / size, size), event), floor(0.0)),
        "rough floor": hanging(ELASTIC, step(dynamic("NEWMARK", 0.6 / size, size), drive), SWING + floor(0.5)),
        "vessel": vessel(size),
        "sea": hanging(SLACK, step(dynamic("HHT", 0.002, size), WET + off), SEA),
        "damped": hanging(SLACK, step(dynamic("ENERGY MOMENTUM", 0.002, size), off), "", ", STARTING TENSION=1."),
    }


def with_checkpoints(deck: str, every: int) -> str:
    """The deck, with a checkpoint every so many increments."""
    return deck.replace("*STEP", f"*RESTART, WRITE, FREQUENCY={every}\n*STEP", 1)
