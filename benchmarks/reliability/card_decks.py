"""Small decks with cards that chains alone do not need: lines that run, bottoms, rope laws, water, wind, parts."""

from __future__ import annotations

from benchmarks.reliability.going_on_decks import ELASTIC, OUTPUT, SEA, SLACK, SWING, dynamic, hanging, step

OFF = "*CONTROLS, ENERGY DRIFT=OFF\n"
RISE = "*AMPLITUDE, NAME=RISE\n0., 0., 1., 1.\n"
WEIGHTS = """*ELEMENT, TYPE=MASS, ELSET=WEIGHTS
{labels}
*MASS, ELSET=WEIGHTS
{mass}
"""


def wound(count: int) -> str:
    """A load on a rope: hauled by a winch, kept at a tension, let be."""
    heavy = WEIGHTS.format(labels="11, 2", mass="200.")
    motion = dynamic("HHT", 0.005, count)
    steps = step(motion, OFF + "*WINCH, AMPLITUDE=RISE\nLINE, -0.05\n")
    steps += step(motion, "*WINCH, TENSION\nLINE, 2500., 0.2\n") + step(motion)
    steps = steps.replace("LINE, GRAV", "WEIGHTS, GRAV")
    return f"""*NODE, NSET=NALL
1, 0., 0., 0.
2, 0.2, 0., -4.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
{heavy}*MATERIAL, NAME=M
*ELASTIC
1e11
*DENSITY
8000.
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.25e-4
*BOUNDARY
1, 1, 3
2, 2
{RISE}{steps}"""


def over_a_pulley(count: int) -> str:
    """Two loads on a rope over a pulley that rubs."""
    loads = WEIGHTS.format(labels="11, 1\n12, 3", mass="30.")
    steps = step(dynamic("HHT", 0.004, count), OFF) + step(dynamic("BACKWARD EULER", 0.004, count), OFF)
    steps = steps.replace("LINE, GRAV", "WEIGHTS, GRAV").replace("S, E, N, T", "T, T2")
    return f"""*NODE, NSET=NALL
1, 0., 0., -4.
2, 0., 0., 0.
3, 0., 0., -2.
*ELEMENT, TYPE=PULLEY, ELSET=LINE
1, 1, 2, 3
{loads}*MATERIAL, NAME=M
*ELASTIC
1e8
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1e-4
*PULLEY, ELSET=LINE
0.2
*BOUNDARY
2, 1, 3
1, 1, 2
3, 1, 2
{steps}"""


def in_a_current(count: int) -> str:
    """A line with vortices: phases, and means of its motion across the current."""
    water = "*AQUA\n-9., 9., 9.81, 1025.\n0.5, 0.2, 0., -9.\n0.8, 0.1, 0., 9.\n*VIV, ELSET=LINE\n0.1, 0.9\n"
    return hanging(SLACK, step(dynamic("HHT", 0.01, count), OFF), water)


HILL = "-9, -9, -0.15\n9, -9, -0.1\n-9, 9, -0.1\n9, 9, -0.05\n"


def on_a_bottom(count: int) -> str:
    """A chain that falls on the bottom and on a cylinder, and comes to rest."""
    bottoms = "*SEABED, ELSET=LINE, ELEVATION=-0.1\n1e5, 100., 0.1\n0.4\n"
    bottoms += "*RIGID CYLINDER, ELSET=LINE, RADIUS=0.1, FRICTION=ALL\n0.5, 0., -0.12, 0., 1., 0.\n"
    bottoms += "1e5, 10., 0.1\n0.2, 0.3, 1e-3\n"
    steps = step(dynamic("HHT", 0.002, count), OFF) + step(dynamic("ENERGY MOMENTUM", 0.002, count), OFF)
    return hanging(SLACK, steps, bottoms)


def with_memories(count: int) -> str:
    """Two ropes that creep under loads, and then swing."""
    loads = WEIGHTS.format(labels="11, 2\n12, 4", mass="20.")
    creep = f"*VISCO\n{1.0 / count!r}, 1., , {2.0 / count!r}"
    steps = step(creep) + step(dynamic("HHT", 0.002, count), OFF + "*CLOAD, AMPLITUDE=SWING\n2, 3, 50.\n")
    steps = steps.replace("LINE, GRAV", "WEIGHTS, GRAV")
    return f"""*NODE, NSET=NALL
1, 0., 0., 0.
2, 0., 0., -10.
3, 5., 0., 0.
4, 5., 0., -10.
*ELEMENT, TYPE=T3D2, ELSET=LAGS
1, 1, 2
*ELEMENT, TYPE=T3D2, ELSET=SERIES
2, 3, 4
*ELSET, ELSET=LINE
LAGS, SERIES
{loads}*MATERIAL, NAME=LAGS
*UNIAXIAL, LARGEST STRESS=300.
*LOADING DATA, TYPE=PERMANENT DEFORMATION
0., 0.
200., 0.013
500., 0.0225
*UNLOADING DATA, DEFINITION=SHIFTED CURVE
0., 0.
200., 0.0055
500., 0.012
*DYNAMIC STIFFNESS
5e4, 23., 1e5
*DENSITY
0.1
*NO COMPRESSION
*MATERIAL, NAME=SERIES
*ELASTIC, MODULI=INSTANTANEOUS
2e4
*VISCOELASTIC, TIME=KELVIN
0.2, 0.3
0.1, 2.
*DENSITY
0.1
*NO COMPRESSION
*SOLID SECTION, ELSET=LAGS, MATERIAL=LAGS, STRAIN=ENGINEERING, STARTING TENSION=10.
1.
*SOLID SECTION, ELSET=SERIES, MATERIAL=SERIES, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
3, 1, 3
2, 1, 2
4, 1, 2
{SWING}{steps}"""


def in_water_and_wind(count: int) -> str:
    """Taut chain, grown over and iced, in waves and wind; modes with added mass; harmonic motion of both kinds."""
    around = f"{SEA}*WIND\n1.2, 5., 0., 0., 1., 0.\n*DRAG LAW, NAME=F\n1, 3\n2, 9\n"
    around += "*MARINE GROWTH, ELSET=LINE, DIAMETER=0.4\n0., 1.3, -3.\n0.05, 1.3, 0.\n"
    around += "*NONSTRUCTURAL MASS, ELSET=LINE, UNITS=MASS PER LENGTH, NAME=ICE\n0.2\n"
    taut = "7, 1, 3\n*INITIAL CONDITIONS, TYPE=STRESS\nLINE, 200.\n"
    wet = "LINE, FDD, 1., 0.4, F\nLINE, FDT, 1., 0.4, 0.1\nLINE, FI, 1., 0.4, 2., 1.\nLINE, PB, 1., 0.4\n"
    # the first guess does not depend on which deck the loads stand in
    rest = step("*STATIC\n0.2, 1.", wet + "LINE, WDD, 1., 0.1, 1.2\n", OUTPUT.replace("FREQUENCY=7", "FREQUENCY=3"))
    motion = step(dynamic("HHT", 0.004, count), OFF + "*MODEL CHANGE, TYPE=NONSTRUCTURAL MASS, REMOVE\nICE\n")
    motion = motion.replace("*STEP, NLGEOM", "*STEP, NLGEOM, EXTRAPOLATION=PARABOLIC")
    modes = "*STEP, NLGEOM\n*FREQUENCY\n3\n*D ADDED MASS\nLINE, FI, 0.4, 1.\n*END STEP\n"
    harmonic = "*STEP, NLGEOM\n*STEADY STATE DYNAMICS, DIRECT\n0.1, 3., 4\n*CLOAD\n3, 3, 0.1\n"
    harmonic += "*NODE PRINT, NSET=NALL\nPU\n*EL PRINT\nT\n*END STEP\n"
    parted = harmonic.replace(", DIRECT", "").replace("*CLOAD", "*MODAL DAMPING\n1, 3, 0.02\n*CLOAD")
    dry = around[: around.index("*WAVE")] + around[around.index("*WIND") :]  # a spectrum has no harmonic motion
    return hanging(ELASTIC, rest + motion + modes + harmonic + parted, taut + dry, height=0.0)


def of_parts(count: int) -> str:
    """Two instances of a part, tied by equations, with all that stands beside bars; all kinds of output."""
    steps = f"""*STEP, NLGEOM, INC=1000
{dynamic("NEWMARK", 0.004, count)}
{OFF}*DLOAD
, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=NALL
U
*ENERGY PRINT
*EL FILE, FREQUENCY=4
S
*OUTPUT, HISTORY, FREQUENCY=3
*NODE OUTPUT, NSET=NALL
U
*ELEMENT OUTPUT, ELSET=MORE
S
*ENERGY OUTPUT
ALLKE
*END STEP
"""
    return f"""*HEADING
Two parts
*PART, NAME=LINK
*NODE, NSET=ENDS
1, 0., 0., 0.
5, 1., 0., 0.1
*NGEN, NSET=ENDS
1, 5
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELGEN, ELSET=BAR
1, 4
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*END PART
*ASSEMBLY, NAME=BOTH
*INSTANCE, NAME=UPPER, PART=LINK
*END INSTANCE
*INSTANCE, NAME=LOWER, PART=LINK
1., 0., 0.1
*END INSTANCE
*NODE, NSET=NALL
101, 0.5, 0., 1.
102, 2., 0., 0.5
103, 2.5, 0., 0.5
104, 3.5, 0., 0.5
107, 3.5, 0., 2.
*NODE, NSET=FILLED
105, 3., 0., 1.
106, 3., 0., 2.
*NFILL, NSET=NALL
FILLED, FILLED, 1, 1
*ELEMENT, TYPE=T3D2, ELSET=MORE
101, 101, 102
102, 102, 103
*ELEMENT, TYPE=DASHPOTA, ELSET=DAMPS
103, 102, 104
*ELEMENT, TYPE=SPRINGA, ELSET=SPRINGS
105, 103, 104
{WEIGHTS.format(labels="104, 102", mass="0.5")}*EQUATION
2
LOWER.1, 1, 1., UPPER.5, 1, -1.
2
LOWER.1, 2, 1., UPPER.5, 2, -1.
2
LOWER.1, 3, 1., UPPER.5, 3, -1.
*END ASSEMBLY
*SOLID SECTION, ELSET=MORE, MATERIAL=STRUT
1.
*DASHPOT, ELSET=DAMPS

0.5
*SPRING, ELSET=SPRINGS

50.
*REST LENGTH
102, 0.49
*MATERIAL, NAME=M
{ELASTIC}
*MATERIAL, NAME=STRUT
*ELASTIC
1e4
*NO TENSION
*DENSITY
1.
*TRANSFORM, NSET=FILLED
1., 1., 0., -1., 1., 0.
*BOUNDARY
UPPER.1, PINNED
101, 1, 3
104, 1, 3
107, 1, 3
FILLED, 1, 3
*MPC
LINK, 103, 107
{steps}{steps}"""


def that_bends(count: int) -> str:
    """A clamped rod of two sections with a free body at its end, that falls."""
    output = OUTPUT.replace("U,", "U, SK, SM, UR,")
    steps = step(dynamic("HHT", 0.01, count), OFF, output)
    steps += step(dynamic("NEWMARK", 0.01, count), "*CLOAD\n9, 2, 0.1\n", output)
    return f"""*NODE, NSET=NALL
1, 0., 0., 0.
7, 1.2, 0., 0.
*NGEN, NSET=NALL
1, 7, 1
*NODE, NSET=NALL
9, 1.3, 0., -0.1
*NSET, NSET=TIED
7
*ELEMENT, TYPE=B31, ELSET=ROOT
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=B31, ELSET=TIP
3, 3, 4
4, 4, 5
5, 5, 6
6, 6, 7
*ELSET, ELSET=LINE
ROOT, TIP, BODY
*MATERIAL, NAME=M
*ELASTIC
1e7
*DENSITY
1000.
*DAMPING, BETA=1e-3
*BEAM SECTION, ELSET=ROOT, MATERIAL=M, SECTION=PIPE
0.02, 0.005
*BEAM GENERAL SECTION, ELSET=TIP, MATERIAL=M
8e-4, 1e-7, 0., 1e-7
*ELEMENT, TYPE=MASS, ELSET=BODY
10, 9
*MASS, ELSET=BODY
0.05
*ELEMENT, TYPE=ROTARYI, ELSET=INERTIA
11, 9
*ROTARY INERTIA, ELSET=INERTIA
1e-3, 1e-3, 2e-3
*RIGID BODY, REF NODE=9, PIN NSET=TIED
*BOUNDARY
1, ENCASTRE
9, 4
9, 6
{steps}"""


def that_yields(count: int) -> str:
    """A bar that yields under a load and swings back, held by a connector."""
    pull = RISE + step(f"*STATIC, DIRECT\n{1.0 / count!r}, 1.", OFF + "*CLOAD, AMPLITUDE=RISE\n2, 1, 420.\n")
    swing = step(dynamic("HHT", 0.0005, count), OFF + "*CLOAD, OP=NEW\n2, 1, -150.\n")
    steps = (pull + swing).replace("LINE, GRAV", "WEIGHTS, GRAV")
    return f"""*NODE, NSET=NALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 1., 1., 0.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELEMENT, TYPE=CONN3D2, ELSET=TIE
2, 3, 2
*CONNECTOR SECTION, ELSET=TIE, BEHAVIOR=SOFT
AXIAL,
*CONNECTOR BEHAVIOR, NAME=SOFT
*CONNECTOR ELASTICITY, COMPONENT=1
600.,
{WEIGHTS.format(labels="11, 2", mass="2.")}*MATERIAL, NAME=M
*ELASTIC
2e5
*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS
250., 30e3, 300.
*CYCLIC HARDENING, PARAMETERS
250., 60., 8.
*DENSITY
0.1
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*ELEMENT, TYPE=T3D2, ELSET=STRUT
4, 3, 2
*MATERIAL, NAME=WEAK
*ELASTIC
1e5
*BUCKLING STRENGTH
100.
*SOLID SECTION, ELSET=STRUT, MATERIAL=WEAK, STRAIN=ENGINEERING
0.1
*BOUNDARY
1, 1, 3
3, 1, 3
2, 3
{steps}"""


def formed(count: int) -> str:
    """A chain whose form is found, and a truss that may buckle, loaded; its factors; then it swings."""
    loads = "*CLOAD, AMPLITUDE=RISE\n2, 3, -100.\n"
    steps = RISE + step(f"*STATIC, DIRECT\n{1.0 / count!r}, 1.", loads) + step("*BUCKLE\n1", "*CLOAD\n2, 3, -1.\n")
    steps += step(dynamic("HHT", 0.0005, count), OFF)
    return f"""*NODE, NSET=NALL
1, 0., 0., 0.
2, 1., 0., 0.1
3, 2., 0., 0.
11, 0., 1., 0.
12, 1., 1., 0.2
13, 2., 1., 0.1
14, 3., 1., 0.
*ELEMENT, TYPE=T3D2, ELSET=TRUSS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=T3D2, ELSET=CHAIN
11, 11, 12
12, 12, 13
13, 13, 14
*ELSET, ELSET=LINE
TRUSS, CHAIN
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
1000.
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1e-3
*FORM FINDING, TYPE=FORCE DENSITY, LOADS=NONE
CHAIN, 500.
*BOUNDARY
1, 1, 3
3, 1, 3
2, 2
11, 1, 3
14, 1, 3
{steps}"""


def card_decks(size: int) -> dict[str, str]:
    """By name; ``size``: about the number of increments of each step."""
    return {
        "winches": wound(size),
        "pulley": over_a_pulley(size),
        "bottom": on_a_bottom(size),
        "depth grid": on_a_bottom(size).replace("ELEVATION=-0.1\n", f"POINTS=4\n{HILL}"),
        "rope laws": with_memories(size),
        "vortices": in_a_current(size),
        "water and wind": in_water_and_wind(size),
        "parts": of_parts(size),
        "bending, a free body": that_bends(size),
        "torsion": that_bends(size).replace("0., 1e-7\n", "0., 2e-7, 1e-7\n0., 0.3, 1.\n, 4e6\n"),
        "yielding": that_yields(size),
        "form finding, buckling": formed(size),
    }
