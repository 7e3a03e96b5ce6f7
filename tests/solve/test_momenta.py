"""Linear and angular momentum of what nothing outside acts on, with every scheme; when they are lost, it is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fem
from fem.runs.record import SilentSink
from fem.study.trajectory import Trajectory
from tests.decks import run_text

SCHEMES = ("NEWMARK", "HHT, ALPHA=-0.2", "GENERALIZED ALPHA, RHO=0.5", "BACKWARD EULER", "ENERGY MOMENTUM")


def free(
    seed: int, dynamic: str, *, controls="", dt=2e-3, period=0.12, kinds=("bar", "cable", "rope", "rod")
) -> tuple[str, np.ndarray]:
    """Three to six masses in space, joined by a tree of bars of several kinds, some closed: deck, mass (n, n)."""
    random = np.random.default_rng(seed)
    count = int(random.integers(3, 7))
    places, mass = random.normal(size=(count, 3)), np.diag(random.uniform(0.3, 3.0, count))
    points, speeds, cards = mass.diagonal().copy(), random.normal(size=(count, 3)), []
    joined = [(int(random.integers(k)), k, kinds[random.integers(len(kinds))]) for k in range(1, count)]
    joined += [(0, count - 1, "spring")] if random.random() < 0.5 else []
    for number, (i, j, kind) in enumerate(joined, start=1):
        length = float(np.linalg.norm(places[j] - places[i]))
        if kind == "spring":
            cards += [
                f"*ELEMENT, TYPE=SPRINGA, ELSET=E{number}\n{number}, {i + 1}, {j + 1}\n*SPRING, ELSET=E{number}\n\n20."
            ]
            continue
        rule = ("LUMPED", "CONSISTENT")[random.integers(2)]
        material = {
            "bar": "*ELASTIC\n200.\n*DENSITY\n0.3\n*DAMPING, BETA=0.01",
            "cable": "*ELASTIC\n90.\n*DENSITY\n0.2\n*NO COMPRESSION",
            "rope": f"*INEXTENSIBLE, RESTITUTION={float(random.random())!r}\n*NO COMPRESSION",
            "rod": "*INEXTENSIBLE",
        }[kind]
        per_length = {"bar": 0.3, "cable": 0.2}.get(kind, 0.0) * length
        share = per_length / 6.0 if rule == "CONSISTENT" else 0.0
        mass[[i, j], [i, j]] += 0.5 * per_length - share
        mass[[i, j], [j, i]] += share
        cards += [
            f"*ELEMENT, TYPE=T3D2, ELSET=E{number}\n{number}, {i + 1}, {j + 1}\n*MATERIAL, NAME=M{number}\n{material}"
        ]
        cards += [f"*SOLID SECTION, ELSET=E{number}, MATERIAL=M{number}, MASS={rule}\n1."]
        if kind == "rope":
            cards += [f"*REST LENGTH\nE{number}, {length * random.uniform(1.0, 1.05)!r}"]
    rods = [(i, j) for i, j, kind in joined if kind == "rod"]
    rows = np.zeros((len(rods), 3 * count))
    for row, (i, j) in zip(rows, rods, strict=True):
        row[3 * j : 3 * j + 3], row[3 * i : 3 * i + 3] = places[j] - places[i], places[i] - places[j]
    along = np.linalg.solve(np.kron(mass, np.eye(3)), rows.T)
    speeds -= (along @ np.linalg.solve(rows @ along, rows @ speeds.ravel())).reshape(-1, 3)
    cards += [
        f"*ELEMENT, TYPE=MASS, ELSET=P{k}\n{100 + k}, {k}\n*MASS, ELSET=P{k}\n{float(points[k - 1])!r}"
        for k in range(1, count + 1)
    ]
    nodes = [f"{k}, " + ", ".join(map(repr, place)) for k, place in enumerate(places.tolist(), start=1)]
    starts = [f"{k + 1}, {c + 1}, {float(speeds[k, c])!r}" for k in range(count) for c in range(3)]
    asked = [f"*CONTROLS, {controls}"] if controls else []
    cards = [
        "*NODE", *nodes, *cards, "*INITIAL CONDITIONS, TYPE=VELOCITY", *starts,
        "*STEP, NLGEOM, INC=100000", f"*DYNAMIC, DIRECT, {dynamic}", f"{dt!r}, {period!r}", *asked,
        "*NODE PRINT", "U, V", "*END STEP", "",
    ]  # fmt: skip
    return "\n".join(cards), mass


def drifts(history, mass) -> tuple[float, float]:
    """The largest change of linear and of angular momentum, over those of all nodes."""
    x, v = (field.reshape(len(field), -1, 3) for field in (history.u, history.v))
    x = x + history.mesh.coordinates
    p = np.einsum("ij,kjc->kic", mass, v)
    linear, angular = p.sum(axis=1), np.cross(x, p).sum(axis=1)
    sizes = np.linalg.norm(p, axis=2).sum(axis=1).max(), np.linalg.norm(np.cross(x, p), axis=2).sum(axis=1).max()
    return np.abs(linear - linear[0]).max() / sizes[0], np.abs(angular - angular[0]).max() / sizes[1]


def told(history) -> list[str]:
    return [notice for notice in history.notices if "momentum is off" in notice]


TIGHT = "RESI_GLOB_RELA=1E-11, ENERGY DRIFT=OFF"


@pytest.mark.parametrize("scheme", [*SCHEMES, "EXPLICIT"])
@settings(max_examples=6)
@given(st.integers(0, 10**6))
def test_what_is_free_keeps_its_momenta(scheme, seed):
    """Linear momentum with each scheme, and with IMPACT=EVENT; angular with those whose forces act in the middle of
    increments. The others lose less than 1e-4 of it in 60 increments."""
    if scheme == "EXPLICIT":
        deck, mass = free(seed, scheme, kinds=("bar", "cable", "rod"))
        deck = deck.replace("MASS=CONSISTENT", "MASS=LUMPED")
        mass = np.diag(mass.sum(axis=1))
    else:
        deck, mass = free(seed, f"TIME INTEGRATOR={scheme}", controls=TIGHT)
    history = run_text(deck)
    linear, angular = drifts(history, mass)
    assert linear < 1e-12
    assert angular < (
        1e-9 if scheme in ("ENERGY MOMENTUM", "EXPLICIT") else 1e-2 if scheme == "BACKWARD EULER" else 1e-4
    )
    assert not told(history)


@settings(max_examples=6)
@given(st.integers(0, 10**6), st.sampled_from([("bar", "rope"), ("rope", "rod"), ("bar", "cable", "rope", "rod")]))
def test_stepping_over_impacts_keeps_momenta_and_books(seed, kinds):
    deck, mass = free(seed, "TIME INTEGRATOR=NEWMARK", controls=TIGHT + ", IMPACT=MOREAU", period=0.06, kinds=kinds)
    history = run_text(deck)
    linear, angular = drifts(history, mass)
    assert linear < 1e-12 and angular < (1e-12 if any("Moreau" in notice for notice in history.notices) else 1e-4)
    assert np.abs(history.energy_error).max() < 1e-9 * history.energy[0, 0] or "Moreau" not in str(history.notices)
    assert not told(history)


@pytest.mark.parametrize("scheme", SCHEMES[:4])
def test_angular_momentum_that_a_scheme_loses_has_its_order(scheme):
    """A quarter of the increment: a sixteenth of the loss, of BACKWARD EULER a quarter."""
    lost = []
    for dt in (4e-3, 1e-3):
        deck, mass = free(8, f"TIME INTEGRATOR={scheme}", controls=TIGHT, dt=dt, period=0.4, kinds=("bar",))
        lost.append(drifts(run_text(deck), mass)[1])
    assert lost[1] < lost[0] * (0.3 if scheme == "BACKWARD EULER" else 0.08)


BODY = """*NODE
1, 0, 0, 0
2, 0.7, -0.3, 0.9
3, 1.9, 0.4, 0.2
*NSET, NSET=TIED
2
*ELEMENT, TYPE=MASS, ELSET=M
1, 1
2, 3
*MASS, ELSET=M
3.
*ELEMENT, TYPE=ROTARYI, ELSET=R
3, 1
*ROTARY INERTIA, ELSET=R
1., 2., 2.5
*RIGID BODY, REF NODE=1, TIE NSET=TIED
*ELEMENT, TYPE=T3D2, ELSET=LINE
4, 2, 3
*MATERIAL, NAME=M
*ELASTIC
50.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*INITIAL CONDITIONS, TYPE=VELOCITY
1, 1, 0.3
1, 4, 0.5
1, 5, 3.
3, 2, -2.
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM
0.01, 1.
*NODE PRINT
U, V
*END STEP
"""


def opened(text: str) -> Trajectory:
    trajectory = Trajectory(fem.parse_deck(text), SilentSink())
    trajectory.open()
    return trajectory


def test_a_body_that_pulls_at_a_mass_keeps_all_six():
    watch = opened(BODY).last.momenta
    assert len(watch.kept.moved) == len(watch.kept.spins) == 3
    history = run_text(BODY)
    total = 3.0 * (history.of_node(1, "v") + history.of_node(3, "v"))
    np.testing.assert_allclose(total, np.broadcast_to(total[0], total.shape), atol=1e-11)
    assert not told(history)


GROUND = "*ELEMENT, TYPE=SPRING1, ELSET=G\n90, 1\n*SPRING, ELSET=G\n2\n5."
ACROSS = "*ELEMENT, TYPE=SPRING2, ELSET=G\n90, 1, 2\n*SPRING, ELSET=G\n2, 2\n5."


@pytest.mark.parametrize(
    ("more", "loads", "shifts", "turns"),
    [
        ("", "", 3, 3),
        ("*BOUNDARY\n1, 1", "", 2, 1),
        ("*BOUNDARY\n1, 1, 3", "", 0, 0),
        (GROUND, "", 2, 0),
        (ACROSS, "", 3, 0),
        ("*EQUATION\n2\n1, 1, 1., 2, 1, -1.", "", 3, 0),
        ("*EQUATION\n2\n1, 1, 1., 2, 1, 1.", "", 2, 0),
        ("", "*CLOAD\n1, 1, 2.\n1, 2, 1.", 2, 0),
        ("", "*DLOAD\nEALL, GRAV, 9.81, 0., -0.6, 0.8", 2, 3),
        ("", "*DLOAD\nP1, GRAV, 9.81, 0., 0., -1.", 2, 0),
    ],
)  # fmt: skip
def test_what_acts_from_outside_is_left_out(more, loads, shifts, turns):
    """Along a support or a load nothing stays; weight turns nothing; springs, ties and loads with a direction do."""
    deck, _ = free(3, "TIME INTEGRATOR=NEWMARK", kinds=("bar",))
    model, speeds = deck.split("*INITIAL CONDITIONS, TYPE=VELOCITY\n")
    sets = sorted({line.partition("ELSET=")[2] for line in model.splitlines() if line.startswith("*ELEMENT")})
    step = speeds[speeds.index("*STEP") :].replace("*NODE PRINT", f"{loads}\n*NODE PRINT" if loads else "*NODE PRINT")
    deck = "\n".join([model + f"*ELSET, ELSET=EALL\n{', '.join(sets)}", *filter(None, [more]), step])
    kept = opened(deck).last.momenta.kept
    assert ((len(kept.moved), len(kept.spins)) if kept else (0, 0)) == (shifts, turns)


def test_damping_by_mass_is_from_outside():
    deck, _ = free(3, "TIME INTEGRATOR=NEWMARK", kinds=("bar",))
    assert opened(deck.replace("BETA=0.01", "ALPHA=0.1")).last.momenta.kept is None


def test_momentum_that_is_lost_is_told_once():
    """Long increments of BACKWARD EULER lose angular momentum; a push that nothing explains is linear."""
    deck, mass = free(2, "TIME INTEGRATOR=BACKWARD EULER", controls="ENERGY DRIFT=OFF", dt=0.02, period=4.0)
    history = run_text(deck)
    assert drifts(history, mass)[1] > 5e-3
    (notice,) = told(history)
    assert "the angular momentum is off by 1" in notice and "ENERGY MOMENTUM keeps it" in notice
    trajectory = opened(free(3, "TIME INTEGRATOR=NEWMARK", kinds=("bar",))[0])
    watch, progress = trajectory.last.momenta, trajectory.progress
    assert watch.look(progress) == ""
    progress.motion.v[:3] += 1e-2
    assert "the linear momentum is off by" in watch.look(progress) and watch.look(progress) == ""
