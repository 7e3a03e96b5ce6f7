"""Decks of point masses on springs, bars, cables and rods: the mesh is the model, what errs is time and residual.

Truth: ``validation.references.masses`` (DOP853 at 1e-12 of Newton's equations), and Jacobi's elliptic functions.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from validation.certainty import question
from validation.certainty.question import Question, controls, increments, mass_deck, scheme, wanted
from validation.references import pendulum
from validation.references.masses import Ground, Harmonic, Link, Masses

Place = tuple[float, float, float]
MEASURES = ("GREEN", "ENGINEERING", "LOG")
ORIGIN = (0.0, 0.0, 0.0)


def rounded(random: Generator, low: float, high: float) -> float:
    """Evenly over logarithms, with three digits: decks that people could have written."""
    return float(f"{np.exp(random.uniform(np.log(low), np.log(high))):.3g}")


def _at(x: float, z: float, y: float = 0.0) -> Place:
    return (float(x), float(y), float(z))


def _asked(
    random: Generator, masses: Masses, period: float, duration: float, pool: list[str], *, springs: bool = False,
    among: tuple[str, ...] = question.IMPLICIT, fewest: float = 15.0, most: float = 400.0, dt_max: float = np.inf,
) -> Question:  # fmt: skip
    """A deck with a scheme, increments and a residual criterion by chance, and numbers of it."""
    name, card = scheme(random, among)
    dt = increments(random, period, duration, fewest, most)
    if name == "EXPLICIT":
        dt = float(duration / int(np.ceil(duration / min(dt, dt_max))))
    step = f"{card}\n{dt:.17g}, {duration:.17g}\n{controls(random)}"
    truths = wanted(masses, duration, dt, random, pool)
    return Question(f"{name}, T/{period / dt:.0f}", mass_deck(masses, step, springs), False, truths)


def oscillator(random: Generator) -> Question:
    """One or two masses on springs and dashpots to the ground and between them, free or pushed."""
    count = int(random.integers(1, 3))
    m = [rounded(random, 0.5, 20.0) for _ in range(count)]
    k = [rounded(random, 50.0, 5e3) for _ in range(count)]
    grounds = tuple(Ground(n, 0, k[n], round(random.uniform(0.0, 0.2) * np.sqrt(k[n] * m[n]), 3)) for n in range(count))
    places = tuple(_at(1.5 * n, 0.0) for n in range(count))
    links = (Link(0, 1, 1.5, 1.5 * rounded(random, 20.0, 2e3)),) if count == 2 else ()
    omega = float(np.sqrt(max(kk / mm for kk, mm in zip(k, m, strict=True))))
    pushes = (Harmonic(0, 0, rounded(random, 5.0, 100.0), round(omega * random.uniform(0.2, 1.6), 2)),)
    speed = tuple(_at(round(random.uniform(-1.0, 1.0), 2), 0.0) for _ in range(count))
    masses = Masses(tuple(m), places, links, speed, 0.0, 0.0, grounds, (), pushes if random.uniform() < 0.6 else ())
    period = 2.0 * np.pi / omega
    pool = [f"{what}1_n{n + 1}" for n in range(count) for what in "UV"] + ["kinetic"]
    end = round(period * random.uniform(1.0, 6.0), 3)
    deck = _asked(random, masses, period, end, pool, springs=True, among=tuple(question.SCHEMES), dt_max=0.1 * period)
    return _held(deck, count)


def _held(asked: Question, count: int) -> Question:
    """Across the line the masses do not move: no stiffness is there."""
    rows = "\n".join(f"{n}, 2, 3" for n in range(1, count + 1))
    text = asked.deck.replace("*STEP, NLGEOM", f"*BOUNDARY\n{rows}\n*STEP, NLGEOM", 1)
    return Question(asked.name, text, asked.has_mesh, asked.truths)


def table_spring(random: Generator) -> Question:
    """A mass on a spring with a table: soft, then stiff; or with a gap."""
    m, k = rounded(random, 0.5, 5.0), rounded(random, 50.0, 500.0)
    soft, edge = float(random.choice([0.0, 0.1, 0.4])), round(random.uniform(0.02, 0.08), 3)
    steep = k * float(random.choice([1.0, 4.0, 10.0]))
    far = edge + 0.5
    table = tuple((round(s * (soft * k * edge + (abs(e) > edge) * steep * (far - edge)), 9), e)
                  for s, e in ((-1, -far), (-1, -edge), (1, edge), (1, far)))  # fmt: skip
    link = Link(0, 1, 1.0, table=table)
    speed = round(random.uniform(0.5, 2.0), 2)
    masses = Masses(
        (0.0, m), (ORIGIN, _at(1.0, 0.0)), (link,), (ORIGIN, _at(speed, 0.0)), 0.0, round(random.uniform(0, 1), 2)
    )
    period = 2.0 * np.pi * np.sqrt(m / steep) + 4.0 * edge / speed
    end = round(period * random.uniform(0.6, 2.5), 3)
    asked = _asked(
        random,
        masses,
        period,
        end,
        ["U1_n2", "V1_n2", "T_e1", "kinetic"],
        among=tuple(question.SCHEMES),
        dt_max=0.05 * period,
    )
    return _held(asked, 2)


def row_of_masses(random: Generator) -> Question:
    """A row of equal masses on bars along one line, one end held, the other pulled or let go: its own lattice modes."""
    n = int(random.integers(4, 16))
    k, m = rounded(random, 1e3, 1e5), rounded(random, 0.1, 2.0)
    links = tuple(
        Link(j, j + 1, 1.0, k, "ENGINEERING", False, rounded(random, 0.01, 0.3) * np.sqrt(k * m)) for j in range(n)
    )
    omega = 2.0 * np.sqrt(k / m) * np.sin(np.pi / (4 * n + 2))
    period, size = float(2.0 * np.pi / omega), rounded(random, 0.001, 0.02) * k
    pushes = (Harmonic(n, 0, size, round(omega * random.uniform(0.3, 2.5), 3)),)
    masses = Masses((0.0, *([m] * n)), tuple(_at(j, 0.0) for j in range(n + 1)), links, (), 0.0, 0.0, (), (), pushes)
    end = round(period * random.uniform(0.5, 1.5), 4)
    pool = [f"U1_n{n + 1}", f"V1_n{n // 2 + 1}", "T_e1", f"U1_n{n // 2 + 1}", f"T_e{n // 2}"]
    asked = _asked(
        random, masses, period, end, pool, among=tuple(question.SCHEMES), fewest=20.0, dt_max=0.5 / np.sqrt(k / m)
    )
    return _held(asked, n + 1)


def rod_pendulum(random: Generator) -> Question:
    """A point mass on a rod, let go at an angle: elliptic functions."""
    length, mass, g = rounded(random, 0.3, 5.0), rounded(random, 0.2, 20.0), float(random.choice([9.81, 1.62]))
    theta0 = round(random.uniform(0.2, 2.6), 2)
    omega0 = pendulum.point_mass(length, g)
    period = pendulum.period(omega0, theta0)
    start = _at(length * np.sin(theta0), -length * np.cos(theta0))
    masses = Masses((0.0, mass), (ORIGIN, start), (Link(0, 1, length, strain="ROD"),), (), g)
    name, card = scheme(random)
    end = round(period * random.uniform(0.3, 3.0), 3)
    dt = increments(random, period, end)
    rows = round(end / dt)
    at = dt * int(random.integers(rows // 3, rows))

    def state(t: float) -> tuple[float, float, float]:
        theta, rate = pendulum.motion(np.array([t]), omega0, theta0)
        x, z = length * np.sin(theta[0]), -length * np.cos(theta[0])
        return x - start[0], z - start[2], float(pendulum.tension(theta[0], rate[0], length, mass, g))

    x, z, pull = state(end)
    truths = {"U1_n2": x, "U3_n2": z, f"U1_n2@{at!r}": state(at)[0], "T_e1": pull}
    if end > 0.3 * period:
        truths["max:T_e1"] = mass * g * (3.0 - 2.0 * np.cos(theta0))
        if end < 0.7 * period:
            truths["instant:max:T_e1"] = 0.25 * period
    step = f"{card}\n{dt:.17g}, {end:.17g}\n{controls(random)}"
    return Question(f"{name}, T/{period / dt:.0f}", mass_deck(masses, step), False, truths)


def n_links(random: Generator) -> Question:
    """Two to five rods with masses, hung from each other, from modest angles."""
    n = int(random.integers(2, 6))
    lengths = [rounded(random, 0.3, 1.5) for _ in range(n)]
    angles = random.uniform(-0.9, 0.9, n) if n == 2 else random.uniform(-0.5, 0.5, n)
    x = np.concatenate([[0.0], np.cumsum(lengths * np.sin(angles))])
    z = np.concatenate([[0.0], -np.cumsum(lengths * np.cos(angles))])
    m = [0.0, *(rounded(random, 0.5, 4.0) for _ in range(n))]
    places = tuple(_at(a, b) for a, b in zip(x, z, strict=True))
    own = [float(np.hypot(x[k + 1] - x[k], z[k + 1] - z[k])) for k in range(n)]
    masses = Masses(tuple(m), places, tuple(Link(k, k + 1, own[k], strain="ROD") for k in range(n)))
    period = float(2.0 * np.pi * np.sqrt(min(lengths) / 9.81) / (1.0 + 0.3 * n))
    end = round(period * random.uniform(1.0, 3.0), 3)
    pool = [f"U1_n{n + 1}", f"U3_n{n + 1}", "T_e1", "U1_n2", f"V1_n{n + 1}"]
    return _asked(random, masses, period, end, pool)


def elastic_pendulum(random: Generator, cable: bool = False) -> Question:
    """A mass on one elastic bar in all three measures, let go at an angle with a stretch; planar or spherical."""
    length, m = rounded(random, 0.5, 3.0), rounded(random, 0.5, 5.0)
    ratio = rounded(random, 2.2, 12.0)
    swing = np.sqrt(9.81 / length)
    stiffness = float(f"{(ratio * swing) ** 2 * m * length:.4g}")
    theta = random.uniform(0.2, 1.4)
    stretch = 1.0 + m * 9.81 / stiffness * random.uniform(0.0, 1.5)
    place = _at(length * stretch * np.sin(theta), -length * stretch * np.cos(theta))
    speed = _at(0.0, 0.0, round(random.uniform(-1.0, 1.0), 2) if random.uniform() < 0.4 else 0.0)
    link = Link(0, 1, length, stiffness, str(random.choice(MEASURES)), cable)
    masses = Masses((0.0, m), (ORIGIN, place), (link,), (ORIGIN, speed), 9.81, round(random.uniform(0.0, 0.3), 2))
    period = float(2.0 * np.pi / (ratio * swing))
    end = round(2.0 * np.pi / swing * random.uniform(0.4, 1.6), 3)
    pool = ["U1_n2", "U3_n2", "T_e1", "V3_n2", "kinetic", "strain"]
    return _asked(random, masses, period, end, pool, among=tuple(question.SCHEMES), dt_max=0.1 * period)


def stiff_pendulum(random: Generator) -> Question:
    """A mass on a stiff bar, whose own vibration no increment resolves; the truth is its limit, the rod (to 1e-7)."""
    length, m, theta0 = 1.0, rounded(random, 0.5, 3.0), round(random.uniform(0.5, 1.7), 2)
    start = _at(length * np.sin(theta0), -length * np.cos(theta0))
    link = Link(0, 1, length, 1e9, str(random.choice(MEASURES)))
    masses = Masses((0.0, m), (ORIGIN, start), (link,))
    omega0 = pendulum.point_mass(length, 9.81)
    period = pendulum.period(omega0, theta0)
    name, card = scheme(random)
    end = round(period * random.uniform(0.4, 1.0), 3)
    dt = increments(random, period, end, 25.0, 400.0)
    theta, rate = pendulum.motion(np.array([end, dt * (round(end / dt) // 2)]), omega0, theta0)
    x, z = length * np.sin(theta), -length * np.cos(theta)
    truths = {"U1_n2": x[0] - start[0], "U3_n2": z[0] - start[2], "V1_n2": length * rate[0] * np.cos(theta[0])}
    truths[f"U1_n2@{dt * (round(end / dt) // 2)!r}"] = x[1] - start[0]
    step = f"{card}\n{dt:.17g}, {end:.17g}\n*CONTROLS, RESI_GLOB_RELA=1e-6, ITER_GLOB_MAXI=100, ENERGY DRIFT=OFF"
    return Question(
        f"{name}, T/{period / dt:.0f}", mass_deck(masses, step), False, {k: float(v) for k, v in truths.items()}
    )


def bounce_on_cable(random: Generator) -> Question:
    """A mass falls into an elastic cable, vertically: free fall, half a swing, free fall."""
    length, m = rounded(random, 1.0, 10.0), rounded(random, 1.0, 80.0)
    stiffness = m * 9.81 * rounded(random, 5.0, 80.0)
    drop = round(random.uniform(0.05, 0.9) * length, 3)
    link = Link(
        0,
        1,
        length,
        stiffness,
        str(random.choice(MEASURES)),
        True,
        rounded(random, 0.02, 0.1) * np.sqrt(stiffness / length * m) if random.uniform() < 0.4 else 0.0,
    )
    masses = Masses((0.0, m), (ORIGIN, _at(0.0, drop - length)), (link,), (), 9.81)
    swing = float(2.0 * np.pi * np.sqrt(m * length / stiffness))
    end = round(np.sqrt(2.0 * drop / 9.81) + swing * random.uniform(0.35, 1.3), 3)
    pool = ["U3_n2", "T_e1", "V3_n2", "kinetic"]
    asked = _asked(random, masses, swing, end, pool, among=tuple(question.SCHEMES), dt_max=0.05 * swing)
    return _held_line(asked)


def _held_line(asked: Question) -> Question:
    text = asked.deck.replace("*STEP, NLGEOM", "*BOUNDARY\n2, 1, 2\n*STEP, NLGEOM", 1)
    return Question(asked.name, text, asked.has_mesh, asked.truths)


def slack_pendulum(random: Generator) -> Question:
    """The same cable at an angle: slack and taut in the plane."""
    return elastic_pendulum(random, cable=True)


def net(random: Generator) -> Question:
    """Two to five masses between three or four corners, of bars or cables in any measure, let go from near rest."""
    count, corners = int(random.integers(2, 6)), int(random.integers(3, 5))
    turn = 2.0 * np.pi * np.arange(corners) / corners
    held = [_at(3.0 * np.cos(a), 0.0, 3.0 * np.sin(a)) for a in turn]
    inner = [
        _at(*row) for row in np.round(random.uniform(-1.2, 1.2, (count, 3)) * [1.0, 0.3, 1.0] - [0.0, 0.6, 0.0], 2)
    ]
    places, measure, m = [*held, *inner], str(random.choice(MEASURES)), rounded(random, 0.5, 4.0)
    stiffness, cables = m * 9.81 * rounded(random, 20.0, 200.0), random.uniform() < 0.4
    pairs = [(c, corners + (c % count)) for c in range(corners)]
    pairs += [(corners + j, corners + (j + 1) % count) for j in range(count if count > 2 else 1)]
    pairs += [(int(random.integers(corners)), corners + j) for j in range(count)]
    links = []
    for i, j in sorted({(min(p), max(p)) for p in pairs}):
        far = float(np.linalg.norm(np.subtract(places[i], places[j])))
        natural = round(far * random.uniform(0.9, 1.06 if cables else 0.99), 4)
        links.append(Link(i, j, natural, stiffness, measure, cables))
    masses = Masses(
        (*([0.0] * corners), *([m] * count)), tuple(places), tuple(links), (), 9.81, round(random.uniform(0.0, 1.0), 2)
    )
    shortest = min(link.length for link in links)
    period = float(2.0 * np.pi / np.sqrt(3.0 * stiffness / shortest / m))
    end = round(period * random.uniform(2.0, 6.0), 4)
    first = corners + 1
    pool = [f"U3_n{first}", f"U1_n{first + 1}", "T_e1", f"U2_n{first}", f"V3_n{first + 1}", "kinetic"]
    return _asked(random, masses, period, end, pool, among=tuple(question.SCHEMES), dt_max=0.1 * period)


def chain(random: Generator) -> Question:
    """Three to twenty masses on elastic bars or cables between two supports, one of which moves."""
    n = int(random.integers(3, 21))
    link, m = rounded(random, 0.3, 1.0), rounded(random, 0.2, 2.0)
    stiffness = m * (n + 1) * 9.81 * rounded(random, 20.0, 100.0)
    slack = random.uniform(1.02, 1.5)
    span = link * (n + 1) / slack
    s = np.linspace(0.0, 1.0, n + 2)
    sag = 0.5 * span * np.sqrt(1.5 * (slack - 1.0))
    z = -4.0 * sag * s * (1.0 - s)
    places = tuple(_at(a, b) for a, b in zip(np.round(span * s, 4), np.round(z, 4), strict=True))
    far = [float(np.linalg.norm(np.subtract(places[k + 1], places[k]))) for k in range(n + 1)]
    measure = str(random.choice(MEASURES))
    cables = n <= 6 and random.uniform() < 0.5
    brake = float(f"{random.uniform(0.0, 0.2) * np.sqrt(stiffness / link * m):.3g}")
    links = tuple(
        Link(k, k + 1, round(far[k] * 0.999, 5), stiffness, measure, cables, 0.0 if cables else brake)
        for k in range(n + 1)
    )
    slow = float(np.sqrt(9.81 / (sag + 0.1)))
    omega = round(slow * random.uniform(0.5, 2.0), 3)
    motions = (Harmonic(n + 1, int(random.choice([0, 2])), round(0.05 * span * random.uniform(0.3, 1.5), 3), omega),)
    masses = Masses((0.0, *([m] * n), 0.0), places, links, (), 9.81, round(random.uniform(0.3, 2.0), 2), (), motions)
    fast = float(np.pi / np.sqrt(stiffness / link / m))
    period = 2.0 * np.pi / slow
    end = round(period * random.uniform(0.25, 0.6), 3)
    middle = n // 2 + 1
    pool = [f"U3_n{middle}", f"U1_n{middle}", "T_e1", f"V3_n{middle}", f"T_e{n + 1}", "U1_n2"]
    return _asked(
        random,
        masses,
        fast,
        end,
        pool,
        fewest=12.0,
        most=80.0,
        among=tuple(question.SCHEMES),
        dt_max=0.5 * fast / np.pi,
    )


def spring_pendulum(random: Generator) -> Question:
    """A mass on a SPRINGA below a support that moves along the horizontal or up and down."""
    m = rounded(random, 0.5, 3.0)
    k = m * 9.81 * rounded(random, 4.0, 40.0)
    theta = round(random.uniform(0.1, 1.0), 2)
    place = _at(np.sin(theta), -np.cos(theta))
    far = float(np.linalg.norm(place))
    omega = round(np.sqrt(9.81) * random.uniform(0.4, 1.7), 2)
    motions = (Harmonic(0, int(random.choice([0, 2])), round(random.uniform(0.02, 0.25), 3), omega),)
    masses = Masses(
        (0.0, m),
        (ORIGIN, place),
        (Link(0, 1, far, k * far),),
        (),
        9.81,
        round(random.uniform(0.0, 0.5), 2),
        (),
        motions,
    )
    period = float(2.0 * np.pi * np.sqrt(m / k))
    end = round(2.0 * np.pi / np.sqrt(9.81) * random.uniform(0.5, 1.5), 3)
    pool = ["U1_n2", "U3_n2", "T_e1", "V1_n2"]
    return _asked(random, masses, period, end, pool, springs=True, among=tuple(question.SCHEMES), dt_max=0.1 * period)
