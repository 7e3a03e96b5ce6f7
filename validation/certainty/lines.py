"""Decks of continuous lines: what errs is the mesh, too. Truth: closed forms of the continuum, shooting for modes."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from validation.certainty.motions import rounded
from validation.certainty.question import SCHEMES, SECOND_ORDER, Question, controls, increments, scheme
from validation.references import cable_modes, taut_string, water
from validation.references.catenary_pieces import Piece, hanging

RULES = ("LUMPED", "CONSISTENT", "ONE POINT")
MATERIAL = """*MATERIAL, NAME=M
*ELASTIC
{modulus:.17g}
*DENSITY
{density:.17g}
"""
STRAIGHT = """*HEADING
A line of the study of error bars, SI units
*NODE
1, 0., 0., 0.
{last}, {x:.17g}, 0., {z:.17g}
*NGEN, NSET=LINE
1, {last}, 1
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}, 1, 1
"""
REQUESTS = """*NODE PRINT, NSET=LINE
U, RF
*EL PRINT
T
*END STEP
"""


def _bars(random: Generator, fewest: int = 6, most: int = 48) -> int:
    """An even number."""
    return 2 * round(float(np.exp(random.uniform(np.log(fewest / 2), np.log(most / 2)))))


def string_modes(random: Generator) -> Question:
    """Frequencies of a taut string in a plane, held by an initial stress."""
    bars, length, mu = _bars(random, 8, 60), rounded(random, 1.0, 50.0), rounded(random, 0.01, 5.0)
    tension, rule = mu * rounded(random, 100.0, 1e4), str(random.choice(RULES))
    area, measure = 1e-4, str(random.choice(["GREEN", "ENGINEERING", "LOG"]))
    deck = STRAIGHT.format(last=bars + 1, x=length, z=0.0, bars=bars) + MATERIAL.format(
        modulus=1e4 * tension / area, density=mu / area
    )
    deck += f"*SOLID SECTION, ELSET=LINE, MATERIAL=M, MASS={rule}, STRAIN={measure}\n{area!r}\n"
    deck += f"*INITIAL CONDITIONS, TYPE=STRESS\nLINE, {tension / area:.17g}\n"
    deck += f"*BOUNDARY\n1, 1, 3\n{bars + 1}, 1, 3\nLINE, 2\n*STEP, NLGEOM\n*FREQUENCY\n4\n*END STEP\n"
    truths = {f"frequency_1_{k}": taut_string.continuum(k, length, tension, mu) for k in range(1, 5)}
    return Question(f"{bars} bars, {rule}", deck, True, truths)


def lattice_modes(random: Generator) -> Question:
    """The same string where its lumped masses are the model: differences, no continuum."""
    bars, length, mu = _bars(random, 6, 30), rounded(random, 1.0, 50.0), rounded(random, 0.01, 5.0)
    tension, rule = mu * rounded(random, 100.0, 1e4), str(random.choice(RULES))
    deck = STRAIGHT.format(last=bars + 1, x=length, z=0.0, bars=bars) + MATERIAL.format(
        modulus=1e8 * tension, density=mu * 1e4
    )
    deck += f"*SOLID SECTION, ELSET=LINE, MATERIAL=M, MASS={rule}\n1e-4\n"
    deck += f"*INITIAL CONDITIONS, TYPE=STRESS\nLINE, {tension * 1e4:.17g}\n"
    deck += f"*BOUNDARY\n1, 1, 3\n{bars + 1}, 1, 3\nLINE, 2\n*STEP, NLGEOM\n*FREQUENCY\n3\n*END STEP\n"
    truths = {f"frequency_1_{k}": taut_string.chain(k, bars, length, tension, mu, rule) for k in range(1, 4)}
    return Question(f"{bars} bars, {rule}, mesh is the model", deck, False, truths)


def rod_modes(random: Generator) -> Question:
    """Axial frequencies of a bar, held at one end or at both."""
    bars, length, rule = _bars(random, 6, 60), rounded(random, 0.5, 20.0), str(random.choice(RULES[:2]))
    modulus, density, both = rounded(random, 1e9, 2e11), rounded(random, 900.0, 8000.0), random.uniform() < 0.5
    speed = np.sqrt(modulus / density)
    deck = STRAIGHT.format(last=bars + 1, x=length, z=0.0, bars=bars) + MATERIAL.format(
        modulus=modulus, density=density
    )
    deck += f"*SOLID SECTION, ELSET=LINE, MATERIAL=M, MASS={rule}\n1e-3\n*BOUNDARY\nLINE, 2, 3\n1, 1\n"
    deck += f"{bars + 1}, 1\n" if both else ""
    deck += "*STEP, NLGEOM\n*FREQUENCY\n4\n*END STEP\n"
    truths = {f"frequency_1_{k}": float((2 * k - (not both)) * speed / (4.0 * length)) for k in range(1, 5)}
    return Question(f"{bars} bars, {rule}, {'both ends' if both else 'one end'} held", deck, True, truths)


def _sagging(random: Generator) -> tuple[float, float, float, float, float]:
    """Span, rise, natural length, weight per length, EA of a cable."""
    span, weight = rounded(random, 10.0, 400.0), rounded(random, 1.0, 200.0)
    rise = round(span * random.uniform(-0.3, 0.5), 2)
    length = round(float(np.hypot(span, rise)) * random.uniform(1.005, 1.4), 3)
    return span, rise, length, weight, weight * length * rounded(random, 30.0, 3e4)


def _solved(
    span: float, rise: float, length: float, weight: float, stiffness: float, load: float = 0.0
) -> tuple[float, float, float, np.ndarray]:
    """H, V at both ends, place of the middle of the natural length, of a catenary, with a load there."""
    half = Piece(0.5 * length, weight, stiffness, load), Piece(0.5 * length, weight, stiffness)
    chord = float(np.hypot(span, rise))
    slack = np.sqrt(max(length - chord, 1e-4 * chord) / chord)
    total = weight * length + load
    for factor in (0.2, 0.1, 0.4, 0.05, 0.8, 0.02, 1.6):
        try:
            found = hanging(half, (span, rise), (factor * total / slack, (rise / span * factor / slack - 0.5) * total))
        except ValueError:
            continue
        return found.level, found.first, found.last, found.joints[0]
    raise ValueError("no catenary")


def catenary(random: Generator) -> Question:
    """A slack elastic cable: forces at its ends, place of its middle; laid straight, or in equilibrium; with a load."""
    span, rise, length, weight, stiffness = _sagging(random)
    bars, laid = _bars(random), random.uniform() < 0.5
    load = 0.0 if laid or random.uniform() < 0.5 else float(f"{weight * length * random.uniform(0.1, 1.0):.3g}")
    level, first, last, middle = _solved(span, rise, length, weight, stiffness, load)
    deck = STRAIGHT.format(last=bars + 1, x=span, z=rise, bars=bars)
    if laid:
        deck = deck.replace("*NGEN, NSET=LINE\n", "*NGEN, NSET=LINE, LINE=CATENARY\n").replace(
            f"1, {bars + 1}, 1\n", f"1, {bars + 1}, 1, {length:.17g}\n"
        )
    deck += MATERIAL.format(modulus=stiffness / 1e-3, density=weight / 9.81 / 1e-3) + "*NO COMPRESSION\n"
    deck += "*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING\n1e-3\n"
    deck += "" if laid else f"*REST LENGTH\nLINE, {length / bars:.17g}\n"
    deck += f"*BOUNDARY\n1, 1, 3\n{bars + 1}, 1, 3\nLINE, 2\n"
    deck += "*STEP, NLGEOM, AMPLITUDE=STEP\n*STATIC, DIRECT\n1., 1.\n" if laid else "*STEP, NLGEOM\n*STATIC\n1., 1.\n"
    deck += f"{controls(random)}\n*DLOAD\nLINE, GRAV, 9.81, 0., 0., -1.\n"
    deck += f"*CLOAD\n{bars // 2 + 1}, 3, {-load:.17g}\n" if load else ""
    deck += REQUESTS
    truths = {"RF1_n1": -level, "RF3_n1": -first, f"RF3_n{bars + 1}": last}
    if not laid:
        truths[f"U3_n{bars // 2 + 1}"] = float(middle[1]) - 0.5 * rise
        truths[f"U1_n{bars // 2 + 1}"] = float(middle[0]) - 0.5 * span
    return Question(f"{bars} bars{', laid' if laid else ''}{', load' if load else ''}", deck, True, truths)


def sagged_modes(random: Generator) -> Question:
    """Frequencies in its plane of a cable that is laid in equilibrium."""
    span, rise, length, weight, stiffness = _sagging(random)
    length = round(float(np.hypot(span, rise)) * random.uniform(1.003, 1.08), 4)
    bars = _bars(random, 8, 60)
    level, first, _, _ = _solved(span, rise, length, weight, stiffness)
    found = cable_modes.frequencies(3, length, weight, stiffness, level, first, weight / 9.81)
    deck = STRAIGHT.format(last=bars + 1, x=span, z=rise, bars=bars)
    deck = deck.replace("*NGEN, NSET=LINE\n", "*NGEN, NSET=LINE, LINE=CATENARY\n").replace(
        f"1, {bars + 1}, 1\n", f"1, {bars + 1}, 1, {length:.17g}\n"
    )
    deck += MATERIAL.format(modulus=stiffness / 1e-3, density=weight / 9.81 / 1e-3)
    deck += "*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING\n1e-3\n"
    deck += f"*BOUNDARY\n1, 1, 3\n{bars + 1}, 1, 3\nLINE, 2\n*STEP, NLGEOM, AMPLITUDE=STEP\n*STATIC, DIRECT\n1., 1.\n"
    deck += "*DLOAD\nLINE, GRAV, 9.81, 0., 0., -1.\n" + REQUESTS + "*STEP, NLGEOM\n*FREQUENCY\n3\n*END STEP\n"
    return Question(f"{bars} bars, sag", deck, True, {f"frequency_2_{k}": float(f) for k, f in enumerate(found, 1)})


def hung_modes(random: Generator) -> Question:
    """A heavy chain that hangs from one end: Bessel's zeros (its own stretch is 1e-8)."""
    bars, length = _bars(random, 8, 60), rounded(random, 1.0, 100.0)
    deck = STRAIGHT.format(last=bars + 1, x=0.0, z=-length, bars=bars)
    deck += MATERIAL.format(modulus=1e8 * 1000.0 * 9.81 * length, density=1000.0)
    deck += (
        "*SOLID SECTION, ELSET=LINE, MATERIAL=M\n1e-3\n*BOUNDARY\n1, 1, 3\nLINE, 2\n*STEP, NLGEOM\n*STATIC\n1., 1.\n"
    )
    deck += "*CONTROLS, RESI_GLOB_RELA=1e-8\n*DLOAD\nLINE, GRAV, 9.81, 0., 0., -1.\n"
    deck += REQUESTS + "*STEP, NLGEOM\n*FREQUENCY\n3\n*END STEP\n"
    found = cable_modes.hung(3, length, 9.81)
    return Question(f"{bars} bars", deck, True, {f"frequency_2_{k}": float(f) for k, f in enumerate(found, 1)})


def _axial(random: Generator, kind: str) -> Question:
    """A bar that is held at one end and pulled at the other, without change of geometry."""
    length, modulus, density = rounded(random, 1.0, 20.0), rounded(random, 1e9, 2e11), rounded(random, 900.0, 8000.0)
    bars, area = _bars(random, 10, 60), 1e-3
    name, card = scheme(random, tuple(SCHEMES) if kind != "STEP" else SECOND_ORDER)
    speed = float(np.sqrt(modulus / density))
    passage = length / speed
    omega = float(f"{2.0 * np.pi / passage * random.uniform(0.05, 0.35):.4g}")
    end = float(f"{passage * random.uniform(1.2, 6.0):.4g}")
    size = modulus * area * 1e-5
    dt = increments(random, 4.0 * passage, end, 40.0, 400.0)
    if name == "EXPLICIT":
        dt = end / int(np.ceil(end / min(dt, 0.8 * length / bars / speed)))
    rule = "LUMPED" if name == "EXPLICIT" else str(random.choice(RULES[:2]))
    deck = STRAIGHT.format(last=bars + 1, x=length, z=0.0, bars=bars) + MATERIAL.format(
        modulus=modulus, density=density
    )
    deck += f"*SOLID SECTION, ELSET=LINE, MATERIAL=M, MASS={rule}, STRAIN=ENGINEERING\n{area!r}\n"
    deck += "*BOUNDARY\nLINE, 2, 3\n1, 1\n"
    table = {"SINE": "0., 0.\n0., 1.", "SOFT": "0., 1.\n-1., 0."}
    if kind != "STEP":
        deck += f"*AMPLITUDE, NAME=P, DEFINITION=PERIODIC\n1, {omega:.17g}, {table[kind]}\n"
    deck += f"*STEP, NLGEOM=NO, INC=10000000\n{card}\n{dt:.17g}, {end:.17g}\n{controls(random)}\n"
    deck += f"*CLOAD{', AMPLITUDE=P' if kind != 'STEP' else ''}\n{bars + 1}, 1, {size:.17g}\n" + REQUESTS
    at = dt * int(random.integers(round(end / dt) // 2, round(end / dt)))

    def exact(x: float, t: float) -> tuple[float, float]:
        return cable_modes.driven_end(x, t, length, modulus * area, speed, (size, omega, kind))

    truths = {f"U1_n{bars + 1}": exact(length, end)[0], f"U1_n{bars // 2 + 1}": exact(0.5 * length, end)[0]}
    truths[f"U1_n{bars + 1}@{at!r}"] = exact(length, at)[0]
    if kind != "STEP":
        truths["RF1_n1"] = -exact(0.0, end)[1]
    else:
        tops = np.linspace(0.0, end, 20001)
        truths[f"max:U1_n{bars + 1}"] = max(
            exact(length, float(t))[0]
            for t in (*tops, *(2.0 * passage * np.arange(1, 4)[2.0 * passage * np.arange(1, 4) < end]))
        )
    return Question(f"{name}, {bars} bars, c dt/h = {speed * dt / length * bars:.2g}", deck, True, truths)


def axial_wave(random: Generator) -> Question:
    """Pulled by a harmonic force, which begins with a corner or smoothly."""
    return _axial(random, str(random.choice(["SINE", "SOFT"])))


def axial_front(random: Generator) -> Question:
    """Pulled at once: an undamped front runs to and fro."""
    return _axial(random, "STEP")


def towed_rope(random: Generator) -> Question:
    """A weightless rope between two boats across a stream: catenary of the stream."""
    leg, speed, half = _bars(random, 6, 40), rounded(random, 0.3, 2.5), 30.0
    reach = round(half * random.uniform(1.1, 1.8), 3)
    side = float(np.sqrt(reach**2 - half**2))
    push = 0.5 * 1025.0 * 0.03 * 1.2 * speed**2
    tension, _ = water.towed_rope(2.0 * reach, 2.0 * half, push)
    modulus = 1e10 * tension / 1e3
    deck = f"""*HEADING
A rope across a stream, SI units
*NODE
1, 0., 0., -5.
{leg + 1}, {side:.17g}, {half:.17g}, -5.
{2 * leg + 1}, 0., {2.0 * half:.17g}, -5.
*NGEN, NSET=LINE
1, {leg + 1}, 1
{leg + 1}, {2 * leg + 1}, 1
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, {2 * leg}, 1, 1
*MATERIAL, NAME=M
*ELASTIC
{modulus:.17g}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*AQUA
-100., 0., 9.81, 1025.
{speed:.17g}, 0., 0., 0.
*BOUNDARY
1, 1, 3
{2 * leg + 1}, 1, 3
*STEP, NLGEOM
*STATIC, DIRECT
1., 1.
*CONTROLS, RESI_GLOB_RELA=1.E-9
*DLOAD
LINE, FDD, 1., 0.03, 1.2
{REQUESTS}"""
    slope = float(np.arctan(np.sinh(half * push / tension)))
    truths = {"RF2_n1": -tension * float(np.cos(slope)), "RF1_n1": -tension * float(np.sin(slope))}
    truths[f"U1_n{leg + 1}"] = water.towed_rope(2.0 * reach, 2.0 * half, push)[1] - side
    return Question(f"{2 * leg} bars", deck, True, truths)
