"""Rods in line: where links follow each other's direction, tensions are as right as between links at any angle.

Judges are minimal coordinates (``validation/references/links.py``), the equations of motion that what is printed has to
fit, and other linear solvers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import fem
from fem.study.exponents import lyapunov
from tests.decks import run_text
from validation.references.links import Chain, describe, solve

GRAVITY = 9.81
INTEGRATORS = ("NEWMARK", "HHT", "GENERALIZED ALPHA", "BACKWARD EULER", "ENERGY MOMENTUM", "EXPLICIT")


@dataclass(frozen=True)
class Links:
    """Links that hang from node 0 or each other: link k joins node ``parent[k]`` with node k + 1.

    places (n + 1, 3), velocities (n + 1, 3);  density (n,) per length, points (n + 1,) masses at the nodes;
    young (n,) modulus of elastic links, 0: rod;  held: supported nodes
    """

    places: np.ndarray
    parent: np.ndarray
    velocities: np.ndarray
    density: np.ndarray
    points: np.ndarray
    young: np.ndarray
    held: tuple[int, ...] = (0,)
    rule: str = "LUMPED"
    is_plane: bool = False

    @property
    def ends(self) -> np.ndarray:
        return np.column_stack([self.parent, np.arange(1, len(self.places))])

    @property
    def masses(self) -> np.ndarray:
        return self.density * np.linalg.norm(self.places[self.ends[:, 1]] - self.places[self.ends[:, 0]], axis=1)

    @property
    def mass(self) -> np.ndarray:
        """(n + 1, n + 1), per direction."""
        own, other = {"LUMPED": (1 / 2, 0.0), "CONSISTENT": (1 / 3, 1 / 6), "ONE POINT": (1 / 4, 1 / 4)}[self.rule]
        matrix = np.diag(self.points)
        for (i, j), m in zip(self.ends, self.masses, strict=True):
            matrix[[i, j], [i, j]] += own * m
            matrix[[i, j], [j, i]] += other * m
        return matrix

    def deck(self, integrator: str, dt: float, increments: int, material: str = "", tolerance: float = 1e-11) -> str:
        count = len(self.places)
        lines = ["*NODE, NSET=ALL"]
        lines += [f"{k + 1}, " + ", ".join(map(repr, place.tolist())) for k, place in enumerate(self.places)]
        for k, (i, j) in enumerate(self.ends, 1):
            law = f"*ELASTIC\n{float(self.young[k - 1])!r}" if self.young[k - 1] else f"*INEXTENSIBLE{material}"
            dense = f"*DENSITY\n{float(self.density[k - 1])!r}\n" if self.density[k - 1] else ""
            lines.append(
                f"*ELEMENT, TYPE=T3D2, ELSET=E{k}\n{k}, {i + 1}, {j + 1}\n*MATERIAL, NAME=M{k}\n{law}\n{dense}"
                f"*SOLID SECTION, ELSET=E{k}, MATERIAL=M{k}, MASS={self.rule}\n1."
            )
        for k in np.flatnonzero(self.points).tolist():
            lines.append(
                f"*ELEMENT, TYPE=MASS, ELSET=P{k}\n{1000 + k}, {k + 1}\n*MASS, ELSET=P{k}\n{float(self.points[k])!r}"
            )
        lines += ["*BOUNDARY", *(f"{k + 1}, 1, 3" for k in self.held), *(["ALL, 2"] if self.is_plane else [])]
        lines.append("*INITIAL CONDITIONS, TYPE=VELOCITY")
        lines += [f"{k + 1}, {c + 1}, {float(self.velocities[k, c])!r}" for k in range(count) for c in range(3)]
        weights = f", GRAV, {GRAVITY}, 0., 0., -1."
        rule = "EXPLICIT" if integrator == "EXPLICIT" else f"TIME INTEGRATOR={integrator}"
        lines += ["*STEP, NLGEOM", f"*DYNAMIC, DIRECT, {rule}", f"{dt!r}, {dt * increments!r}"]
        lines += [f"*CONTROLS, RESI_GLOB_RELA={tolerance!r}, ENERGY DRIFT=OFF", "*DLOAD", weights, "*END STEP"]
        return "\n".join(lines) + "\n"


def links_of(directions: np.ndarray, parent: np.ndarray | None = None, **others: object) -> Links:
    """Links of unit length with these directions, of unit density, at rest unless told otherwise."""
    count = len(directions)
    parent = np.arange(count) if parent is None else parent
    places = np.zeros((count + 1, 3))
    for k in range(count):
        places[k + 1] = places[parent[k]] + directions[k]
    given = {"velocities": np.zeros((count + 1, 3)), "density": np.ones(count), "points": np.zeros(count + 1)}
    return Links(places, parent, **{**given, "young": np.zeros(count), **others})  # type: ignore[arg-type]


def swinging(theta: np.ndarray, omega: float, **others: object) -> Links:
    """A plane chain at these angles from the downward vertical, all links turning alike."""
    along = np.column_stack([np.sin(theta), 0.0 * theta, -np.cos(theta)])
    across = np.column_stack([np.cos(theta), 0.0 * theta, np.sin(theta)])
    velocities = np.concatenate([np.zeros((1, 3)), np.cumsum(omega * across, axis=0)])
    return links_of(along, velocities=velocities, is_plane=True, **others)


def tensions(history: fem.History, model: Links) -> np.ndarray:
    return history.elements[:, : len(model.parent), 3]


def by_node(values: np.ndarray) -> np.ndarray:
    return values.reshape(*values.shape[:-1], -1, 3)


JITTER = np.random.default_rng(1).standard_normal(50)
ANGLES = {
    "five at thirty degrees": np.full(5, np.pi / 6),
    "hanging": np.zeros(20),
    "horizontal": np.full(12, np.pi / 2),
    "upside down": np.full(4, np.pi),
    "folded back": np.array([0.4, 0.4, 0.4 + np.pi, 0.4 + np.pi, 0.4]),
    "off line by 1e-9": 1.0 + 1e-9 * JITTER[:30],
    "off line by 1e-6": 1.0 + 1e-6 * JITTER[:30],
    "off line by 1e-3": 1.0 + 1e-3 * JITTER,
}


@pytest.mark.parametrize("angles", ANGLES)
@pytest.mark.parametrize("integrator", ["NEWMARK", "EXPLICIT"])
@pytest.mark.sampled
def test_tensions_are_those_of_minimal_coordinates(angles, integrator):
    """With the angles and rates of every increment, Lagrange's equations give its tensions."""
    theta = ANGLES[angles]
    count, is_explicit = len(theta), integrator == "EXPLICIT"
    masses = {"density": np.zeros(count), "points": np.append(0.0, np.ones(count))} if is_explicit else {}
    model = swinging(theta, 1.7, rule="LUMPED" if is_explicit else "CONSISTENT", **masses)
    history = run_text(model.deck(integrator, 1e-3, 12))
    d = np.diff(model.places + by_node(history.u), axis=1)
    turn = np.arctan2(d[..., 0], -d[..., 2])
    rate = np.diff(by_node(history.v), axis=1)
    omega = rate[..., 0] * np.cos(turn) + rate[..., 2] * np.sin(turn)
    chain = Chain(np.ones(count), np.ones(count), turn[0], omega[0], points=is_explicit, gravity=GRAVITY)
    exact = describe(chain, turn, omega).tension
    np.testing.assert_allclose(tensions(history, model), exact, rtol=0.0, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("material", ["", "\n*NO COMPRESSION"], ids=["rods", "ropes"])
@pytest.mark.parametrize("solver", ["AUTO", "BAND", "DIRECT"])
def test_five_links_in_line_pull_as_in_their_exact_motion(material, solver):
    """Slender bars at 30 degrees that set off together at 100 degrees a second; as ropes they stay taut."""
    model = swinging(np.full(5, np.pi / 6), np.radians(100.0), rule="CONSISTENT")
    history = run_text(model.deck("NEWMARK", 1e-3, 60, material), solver=solver)
    chain = Chain(np.ones(5), np.ones(5), np.full(5, np.pi / 6), np.full(5, np.radians(100.0)), gravity=GRAVITY)
    exact = solve(chain, history.time).tension
    assert exact[1, 0] == pytest.approx(75.68469515, abs=1e-8)
    np.testing.assert_allclose(tensions(history, model), exact, rtol=0.0, atol=5e-4)  # second order in dt = 0.001
    assert len(history.events) == 0


def random_links(seed: int, *, has_extremes: bool = False) -> Links:
    """Chains, trees and chains on two supports, most links in line with the one before, or nearly, or folded back."""
    generator = np.random.default_rng(seed)
    count, is_plane = int(generator.integers(2, 25)), bool(generator.random() < 0.5)
    is_tree, on_two = seed % 3 == 1, seed % 3 == 2
    parent = np.arange(count)
    if is_tree:
        parent = np.array([k if generator.random() < 0.7 else generator.integers(0, k + 1) for k in range(count)])

    def any_direction() -> np.ndarray:
        one: np.ndarray = generator.standard_normal(3) * (1.0, 0.0 if is_plane else 1.0, 1.0)
        return one / np.linalg.norm(one)

    before = [any_direction()]  # of the link above each node
    bend = int(generator.integers(1, count)) if count > 1 else 0
    for k in range(count):
        along, chance = before[parent[k]], generator.random()
        if k == bend or chance > 0.9:
            along = any_direction()
        elif chance > 0.8:
            along = -along
        elif chance > 0.6:
            along = along + 10.0 ** generator.uniform(-9, -2) * any_direction()
        before.append(along / np.linalg.norm(along))
    spread = 6.0 if has_extremes else 1.0
    rule = ("LUMPED", "CONSISTENT", "ONE POINT")[generator.integers(3)]
    young = np.where(generator.random(count) < 0.3, 10.0 ** generator.uniform(0, 6, count), 0.0) * (seed % 2)
    points = np.where(generator.random(count + 1) < 0.3, 10.0 ** generator.uniform(-spread, spread, count + 1), 0.0)
    model = links_of(
        np.array(before[1:]), parent, density=10.0 ** generator.uniform(-spread, spread, count), young=young,
        points=np.where(points == 0.0, 1.0, points) if rule == "ONE POINT" else points, rule=rule, is_plane=is_plane,
        held=(0, count) if on_two else (0,),
    )  # fmt: skip
    if on_two:
        return model
    spins = np.concatenate([np.zeros((1, 3)), 2.0 * generator.standard_normal((count, 3))])
    velocities = np.zeros_like(model.places)
    for k, (i, j) in enumerate(model.ends):
        spins[j] = spins[i] if k > 0 and generator.random() < 0.5 else spins[j]
        spin = spins[j] * ((0.0, 1.0, 0.0) if is_plane else (1.0, 1.0, 1.0))
        velocities[j] = velocities[i] + np.cross(spin, model.places[j] - model.places[i])
    return replace(model, velocities=velocities)


def rest_of(model: Links, history: fem.History, row: int) -> float:
    """Largest share of M a + G^T lambda = f and G a = - |v_j - v_i|^2 that printed u, v, a and T leave."""
    place = model.places + by_node(history.u[row])
    v, a = by_node(history.v[row]), by_node(history.a[row])
    i, j = model.ends.T
    d, inertia = place[j] - place[i], model.mass @ a
    length = np.linalg.norm(d, axis=1)
    weight = model.points + 0.5 * np.bincount(model.ends.ravel(), np.repeat(model.masses, 2), len(place))
    pull = tensions(history, model)[row][:, None] * d / length[:, None]
    force = np.zeros_like(place)
    np.add.at(force, i, pull)
    np.add.at(force, j, -pull)
    force[:, 2] -= GRAVITY * weight
    free = np.ones_like(place, bool)
    free[list(model.held)] = False
    free[:, 1] &= not model.is_plane
    size = np.zeros(len(place))
    np.add.at(size, model.ends.ravel(), np.repeat(np.abs(pull).max(axis=1), 2))
    size += GRAVITY * weight + np.abs(model.mass) @ np.abs(a).max(axis=1)
    rest = (np.abs(inertia - force) * free / size[:, None]).max()
    rods = model.young == 0.0
    turn, rate = ((v[j] - v[i]) ** 2).sum(axis=1), (d * (a[j] - a[i])).sum(axis=1)
    about = turn + length * (np.linalg.norm(a[i], axis=1) + np.linalg.norm(a[j], axis=1) + GRAVITY)
    return float(max(rest, (np.abs(rate + turn) / about)[rods].max(initial=0.0)))


def largest_difference(one: np.ndarray, other: np.ndarray) -> float:
    """Relative to the largest."""
    return float(np.abs(one - other).max() / (np.abs(other).max() or 1.0))


@pytest.mark.parametrize("seed", range(15))
def test_what_is_printed_fits_the_equations_of_motion(seed):
    """Accelerations and tensions balance every node and keep every length, whatever the mass rule."""
    model = random_links(seed)
    model = replace(model, young=np.zeros_like(model.young))
    history = run_text(model.deck("NEWMARK", 1e-3, 3, tolerance=1e-13))
    assert max(rest_of(model, history, row) for row in range(4)) < 1e-9


@pytest.mark.parametrize("seed", range(15))
def test_masses_of_every_size(seed):
    """The same with masses of 1e-6 to 1e6 side by side, where no Newton loop leaves a residual."""
    model = random_links(200 + seed, has_extremes=True)
    model = replace(model, young=np.zeros_like(model.young))
    for rule in ("CONSISTENT", "LUMPED"):
        one = replace(model, rule=rule)
        history = run_text(one.deck("EXPLICIT" if rule == "LUMPED" else "NEWMARK", 1e-4, 3))
        assert max(rest_of(one, history, row) for row in range(4 if rule == "LUMPED" else 1)) < 1e-12


@pytest.mark.parametrize("seed", range(36))
@pytest.mark.sampled(9)
def test_solvers_agree(seed):
    """Block elimination against the pivoting band and the sparse saddle matrix, on links of any kind and integrator."""
    integrator = INTEGRATORS[seed % 6]
    model = random_links(100 + seed)
    if integrator == "EXPLICIT":
        model = replace(model, rule="LUMPED", young=np.zeros_like(model.young), points=model.points + 1.0)
    text = model.deck(integrator, 1e-3, 8)
    histories = [run_text(text, solver=solver) for solver in ("CHAIN", "BAND", "DIRECT")]
    for other in histories[1:]:
        for name in ("u", "v", "a", "reactions"):
            assert largest_difference(getattr(histories[0], name), getattr(other, name)) < 1e-9, name
        assert largest_difference(tensions(histories[0], model), tensions(other, model)) < 1e-9


def test_tensions_between_two_supports():
    """Straight runs with one kink: every rod passes its pull on until the kink, which takes both ends' constraints."""
    down, up = np.array([0.6, 0.0, -0.8]), np.array([0.8, 0.0, 0.6])
    model = links_of(np.concatenate([np.tile(down, (9, 1)), np.tile(up, (12, 1))]), held=(0, 21), rule="CONSISTENT")
    histories = [run_text(model.deck("NEWMARK", 1e-3, 5), solver=solver) for solver in ("CHAIN", "BAND", "DIRECT")]
    assert rest_of(model, histories[0], 5) < 1e-12
    for other in histories[1:]:
        assert largest_difference(tensions(histories[0], model), tensions(other, model)) < 1e-12


def test_rods_on_a_slide():
    """The last rod is horizontal and ends on a vertical slide: its end gives nothing along it, so its pull waits."""
    model = links_of(np.array([[0.0, 0.0, -1.0]] * 3 + [[1.0, 0.0, 0.0]]))
    text = model.deck("NEWMARK", 1e-3, 5).replace("*INITIAL", "5, 1, 2\n*INITIAL")
    histories = [run_text(text, solver=solver) for solver in ("CHAIN", "BAND", "DIRECT")]
    assert np.abs(tensions(histories[0], model)[-1]).min() > 1e-6
    for other in histories[1:]:
        assert largest_difference(tensions(histories[0], model), tensions(other, model)) < 1e-12


def test_perturbations_of_links_in_line():
    """A hanging chain without damping: phase space keeps its volume, the exponents add up to nothing."""
    model = swinging(np.zeros(4), 0.3, rule="CONSISTENT")
    found = lyapunov(fem.parse_deck(model.deck("NEWMARK", 0.01, 2000)), exponents=8)
    assert found.values.sum() == pytest.approx(0.0, abs=1e-3)
