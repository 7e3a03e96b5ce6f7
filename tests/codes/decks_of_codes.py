"""Decks of three kinds for comparisons with other codes: statics dry and in water, and motions.

Each has what the codes are known to treat in their own ways, and names the reason of what differs in each code that can
express it (``""``: nothing differs by more than the error bars).
"""

from __future__ import annotations

from typing import NamedTuple


class DeckOfCodes(NamedTuple):
    """A deck, and code -> the reasons that explain what differs there."""

    text: str
    reasons: dict[str, str]


PRINTS = """*CONTROLS, RESI_GLOB_RELA=1E-10, ENERGY DRIFT=OFF
{}*NODE PRINT
U
*EL PRINT, ELSET=C
T
*END STEP
"""
CABLE = "*NO COMPRESSION\n"
BETA = "*DAMPING, BETA=0.001\n"
STRESS = "*INITIAL CONDITIONS, TYPE=STRESS\nC, 1.E6\n"
LET_GO = "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n2, 1, 0.01\n2, 3, 0.1\n"
FAST = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, {}\n2, 3, 1.\n"
SINE = "*AMPLITUDE, NAME=A, DEFINITION=PERIODIC\n1, 30., 0., 0.\n0., 1.\n"
SMOOTH = "*AMPLITUDE, NAME=A, DEFINITION=SMOOTH STEP\n0., 0., 1., 0., {}, 1.\n"
AXIAL = "*ELEMENT, TYPE={0}, ELSET=D\n50, 1, 2\n*{1}, ELSET=D{2}\n\n{3}\n"
TABLE = AXIAL.format("SPRINGA", "SPRING", ", NONLINEAR", "-50., -0.05\n0., 0.\n100., 0.05")
DASHPOT = AXIAL.format("DASHPOTA", "DASHPOT", "", "50.")
MASS = "*ELEMENT, TYPE=MASS, ELSET=P\n101, 4\n*MASS, ELSET=P\n100.\n"
AQUA = "*AQUA\n-100., 0., {}, 1025.\n"
WATER = AQUA.format(9.81)
BED = "*SEABED, ELSET=C\n3.E4, 3.E3, 0.05\n"
ROUGH = BED + "0.5, 0.5\n"
WEIGHT = "*DLOAD\n, GRAV, 9.81, 0., 0., -1.\n"
WET = WEIGHT + "C, PB, 1., 0.05\n"
DRAG = "*DLOAD\nC, FDD, 1., 0.05, 1.2\nC, FDT, 1., 0.05, 0.1\nC, FI, 1., 0.05, 2., 1.\n"
PULLED = "*CLOAD\n2, 3, -20.\n"
NEWMARK = ", DIRECT, TIME INTEGRATOR=NEWMARK"

CORNERS = "1, 0., 0., {0}\n2, 10., 0., {0}\n3, 5., 8., {0}\n4, 5., 3., {1}"
LEGS = "1, 1, 4\n2, 2, 4\n3, 3, 4", "1, 1, 3\n2, 1, 3\n3, 1, 3"
TRIPOD = CORNERS.format("0.", "-3."), *LEGS
SUNK = CORNERS.format("-20.", "-24."), *LEGS
STRUT = "1, 0., 0., 0.\n2, 10., 0., 0.\n3, 5., 0., -13.\n4, 5., 0., -3.", LEGS[0], LEGS[1] + "\n4, 2"
SWING = "1, 0., 0., 0.\n2, 1., 0., 0.", "1, 1, 2", "1, 1, 3\n2, 2"
STRING = "1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.", "1, 1, 2\n2, 2, 3", "1, 1, 3\n3, 1, 3\n2, 2"


def deck(
    nodes: str, bars: str, held: str, *steps: str, model: str = "", material: str = "", strain: str = "ENGINEERING",
    young: float = 1e9, density: float = 2e4,
) -> str:  # fmt: skip
    """Bars of 1 cm^2."""
    return f"""*HEADING
SI units
*NODE, NSET=ALL
{nodes}
*ELEMENT, TYPE=T3D2, ELSET=C
{bars}
*MATERIAL, NAME=M
*ELASTIC
{young!r}
*DENSITY
{density!r}
{material}*SOLID SECTION, ELSET=C, MATERIAL=M, STRAIN={strain}
1.E-4
{model}*BOUNDARY
{held}
{"".join(steps)}"""


def line(first: str, last: str, length: float, bars: int = 10) -> tuple[str, str, str]:
    """Nodes, bars and supports of a line that the deck lays."""
    nodes = f"1, {first}\n{bars + 1}, {last}\n*NGEN, LINE=CATENARY, NSET=ALL\n1, {bars + 1}, 1, {length!r}"
    return nodes, f"1, 1, 2\n*ELGEN, ELSET=C\n1, {bars}", f"1, 1, 3\n{bars + 1}, 1, 3"


HANGING = line("0., 0., -50.", "80., 0., -10.", 95.0, 8)
LYING = line("0., 0., -100.", "80., 0., -60.", 95.0, 12)
CHAIN = line("0., 0., 0.", "8., 0., 0.", 10.0)
PLANE = *CHAIN[:2], CHAIN[2] + "\nALL, 2"


def rests(loads: str, dt: float = 0.25) -> str:
    return f"*STEP, NLGEOM, AMPLITUDE=STEP, INC=1000\n*STATIC\n{dt!r}, 1.\n{PRINTS.format(loads)}"


def moves(loads: str, dt: float = 0.01, time: float = 0.5, words: str = NEWMARK) -> str:
    end = "" if "DIRECT" in words else f", , {dt!r}"
    return f"*STEP, NLGEOM, INC=100000\n*DYNAMIC{words}\n{dt!r}, {time!r}{end}\n{PRINTS.format(loads)}"


def of_codes(text: str, **reasons: str) -> DeckOfCodes:
    return DeckOfCodes(text, reasons)


def moored(last: str, shape: tuple[str, str, str], bed: str, dt: float, time: float) -> str:
    """A line in water whose end moves smoothly after one second."""
    steps = rests(WET, 1.0), moves(f"{DRAG}*BOUNDARY, AMPLITUDE=A\n{last}\n", dt, time)
    return deck(*shape, *steps, model=WATER + bed + SMOOTH.format(time), material=CABLE, young=1e8, density=5e4)


DRY = {
    "three cables and a mass": of_codes(
        deck(*TRIPOD, rests(WEIGHT), model=MASS, material=CABLE), opensees="", calculix="", moordyn=""
    ),
    "three soft cables": of_codes(
        deck(*TRIPOD, rests(WEIGHT), model=MASS, material=CABLE, strain="GREEN", young=2e8),
        opensees="strain", calculix="strain", moordyn="strain",
    ),
    "a string with a load": of_codes(deck(*STRING, rests(PULLED), model=STRESS), opensees="", calculix=""),
    "a support that is moved": of_codes(
        deck(*STRING, rests(f"*BOUNDARY\n3, 1, 1, 0.05\n{PULLED}"), model=STRESS + TABLE), opensees="", calculix=""
    ),
    "a hanging chain": of_codes(deck(*CHAIN, rests(WEIGHT, 1.0), material=CABLE), moordyn=""),
}  # fmt: skip
IN_WATER = {
    "a hanging line": of_codes(deck(*HANGING, rests(WET, 1.0), model=WATER, material=CABLE, density=5e4), moordyn=""),
    "a line on the bottom": of_codes(
        deck(*LYING, rests(WET, 1.0), model=WATER + BED, material=CABLE, density=5e4), moordyn=""
    ),
    "three lines and a sinker": of_codes(
        deck(*SUNK, rests(WET), model=MASS + WATER, material=CABLE, density=4e4), moordyn=""
    ),
    "buoyancy by another g": of_codes(
        deck(*HANGING, rests(WET, 1.0), model=AQUA.format(9.7), material=CABLE, density=5e4), moordyn="g"
    ),
    "a strut": of_codes(deck(*STRUT, rests(WET), model=MASS + WATER, density=5e4), moordyn="pushing"),
}
MOTIONS = {
    "let go": of_codes(deck(*SWING, moves(WEIGHT), model=LET_GO), opensees="", calculix=""),
    "thrown, with a dashpot": of_codes(
        deck(*SWING, moves(WEIGHT, 0.001, 0.05), model=DASHPOT + FAST.format(0.5)),
        opensees="", calculix="first increment",
    ),
    "a support that moves": of_codes(
        deck(*SWING, moves(f"*BOUNDARY, AMPLITUDE=A\n1, 1, 1, 0.02\n{WEIGHT}"), model=SINE, material=BETA),
        opensees="", calculix="moved supports",
    ),
    "damped by its mass": of_codes(
        deck(
            *SWING, moves(f"*BOUNDARY, AMPLITUDE=A\n1, 1, 1, 0.02\n{WEIGHT}"),
            model=SINE + FAST.format(0.5), material="*DAMPING, ALPHA=3.\n",
        ),
        opensees="",
    ),
    "automatic increments": of_codes(
        deck(*SWING, moves(WEIGHT, 0.05, 2.0, ", TIME INTEGRATOR=NEWMARK")),
        opensees="increments", calculix="increments",
    ),
    "a scheme that damps": of_codes(
        deck(*SWING, moves(WEIGHT, 0.05, 2.0, ", DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.2"), model=LET_GO),
        opensees="scheme",
    ),
    "without acceleration at the start": of_codes(
        deck(*SWING, moves(WEIGHT, 0.001, 0.1, words=f"{NEWMARK}, INITIAL=NO")), opensees="", calculix=""
    ),
    "a damped cable goes slack": of_codes(
        deck(*SWING, moves(WEIGHT), model=FAST.format(-2.0), material=BETA + CABLE),
        opensees="damping", calculix="damping",
    ),
    "a chain is released": of_codes(
        deck(*PLANE, rests(WEIGHT, 1.0), moves("*BOUNDARY, OP=NEW\n1, 1, 3\nALL, 2\n", 0.001, 0.3), material=CABLE),
        moordyn="start",
    ),
    "an end is moved": of_codes(moored("9, 1, 1, 2.", HANGING, "", 0.02, 2.0), moordyn="mesh"),
    "a line is dragged": of_codes(moored("13, 2, 2, 6.", LYING, ROUGH, 0.05, 6.0), moordyn="friction, mesh"),
}  # fmt: skip
