"""Ropes do not push, whatever integrator moves them and however their supports leave them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from tests.decks import run_text
from tests.solve.test_ropes import EVENT_SCHEMES, lengths
from tests.solve.test_ropes_together import swing

IMPLICIT = (*EVENT_SCHEMES, "BACKWARD EULER")


class Hung(NamedTuple):
    """Masses (node: mass) on ropes below nodes that move up and down; ``more``: what else there is."""

    nodes: tuple[tuple[float, float, float], ...]
    ropes: tuple[tuple[int, int], ...]
    masses: dict[int, float]
    supports: tuple[int, ...] = (1,)
    more: str = ""


class Shake(NamedTuple):
    """How supports move (constant; cosine, sine), in which increments, and how much comes back from impacts."""

    constant: float
    wave: str
    omega: float
    height: float
    dt: float
    restitution: float


ROD = "*ELEMENT, TYPE=T3D2, ELSET=B\n8, 2, 3\n*MATERIAL, NAME=B\n*INEXTENSIBLE\n*SOLID SECTION, ELSET=B, MATERIAL=B\n"
SPRING = "*ELEMENT, TYPE=SPRINGA, ELSET=K\n90, 2, 3\n*SPRING, ELSET=K\n\n400.\n"
BELOW = ((0.0, 0.0, 0.0), (0.1, 0.0, -1.0), (0.3, 0.0, -1.7))
MODELS = {
    "one": Hung(((0.0, 0.0, 0.0), (0.3, 0.0, -1.0)), ((1, 2),), {2: 1.0}),
    "V": Hung(((-0.5, 0.0, 0.0), (0.1, 0.0, -1.0), (0.6, 0.0, 0.0)), ((1, 2), (3, 2)), {2: 1.0}, (1, 3)),
    "two": Hung(((0.0, 0.0, 0.0), (0.2, 0.0, -1.0), (0.2, 0.3, -2.0)), ((1, 2), (2, 3)), {2: 1.0, 3: 0.5}),
    "spring": Hung(BELOW, ((1, 2),), {2: 0.3, 3: 1.0}, more=SPRING),
    "rod": Hung(BELOW, ((1, 2),), {2: 0.3, 3: 1.0}, more=ROD + "1.\n"),
}
SLOW = Shake(0.0, "0., 1.", 4.0, 1.5, 0.01, 0.0)
FAST = Shake(-1.0, "1., 0.", 6.0, 0.5, 0.02, 0.5)


def deck_of(model: Hung, shake: Shake, integrator: str, period: float = 1.5) -> str:
    """The model in motion."""
    lines = ["*NODE", *(f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(model.nodes, 1))]
    lines += ["*ELEMENT, TYPE=T3D2, ELSET=R", *(f"{k}, {i}, {j}" for k, (i, j) in enumerate(model.ropes, 1))]
    for node, mass in model.masses.items():
        lines += [f"*ELEMENT, TYPE=MASS, ELSET=M{node}", f"{100 + node}, {node}", f"*MASS, ELSET=M{node}", f"{mass!r}"]
    lines += ["*MATERIAL, NAME=H", f"*INEXTENSIBLE, RESTITUTION={shake.restitution!r}", "*NO COMPRESSION"]
    lines += ["*SOLID SECTION, ELSET=R, MATERIAL=H", "1.", *model.more.splitlines()]
    lines += ["*BOUNDARY", *(f"{k}, 1, 2" for k in model.supports), "*AMPLITUDE, NAME=S, DEFINITION=PERIODIC"]
    lines += [f"1, {shake.omega!r}, 0., {shake.constant!r}", shake.wave, "*STEP, NLGEOM"]
    lines += [f"*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}", f"{shake.dt!r}, {period!r}"]
    lines += ["*CONTROLS, ENERGY DRIFT=OFF, RESI_GLOB_RELA=1e-10", "*BOUNDARY, AMPLITUDE=S"]
    lines += [f"{k}, 3, 3, {shake.height!r}" for k in model.supports]
    lines += ["*DLOAD", *(f"M{node}, GRAV, 9.81, 0., 0., -1." for node in model.masses), "*END STEP"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_a_rope_left_by_its_support_does_not_push(integrator):
    """The string pendulum whose support falls faster than its mass is slack from the first increment on."""
    history = run_text(swing(half=None, integrator=integrator, period=0.5))
    pull = history.of_element(1, "T")
    assert np.all(pull == 0.0)
    assert lengths(history, np.array([[0, 1]])).max() < 5.0 * (1.0 + 1e-9)


@pytest.mark.parametrize("shake", [SLOW, FAST], ids=["slow", "fast"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.sampled
def test_laws_below_shaken_supports(integrator, name, shake):
    """No rope pushes or is too long, all of them leave their length; what impacts take is what is dissipated."""
    model = MODELS[name]
    history = run_text(deck_of(model, shake, integrator))
    pulls = np.array([history.of_element(k, "T") for k in range(1, len(model.ropes) + 1)])
    assert pulls.min() >= 0.0
    assert pulls.max() > 0.0
    distance = lengths(history, np.array(model.ropes) - 1)
    assert (distance / distance[0]).max() < 1.0 + 1e-9
    assert distance.min() < 0.99 * distance[0].min()
    loss = np.array([event.energy_loss for event in history.events])
    assert loss.min() >= 0.0
    assert abs(loss.sum() - history.energy[-1, 4]) < 1e-9 * max(1.0, loss.sum())


@pytest.mark.long
@pytest.mark.parametrize("name", ["one", "two", "rod"])
def test_backward_euler_leaves_with_first_order(name):
    """Ropes go slack at about t = 0.15 to 0.18; a fine NEWMARK is the judge before the first impact."""
    model, end = MODELS[name], 0.5
    judge = run_text(deck_of(model, SLOW._replace(dt=1.0 / 3200.0), "NEWMARK", end))
    assert {event.event for event in judge.events if event.time > 0.02} == {"slack"}
    off = []
    for count in (80, 160, 320):
        history = run_text(deck_of(model, SLOW._replace(dt=1.0 / count), "BACKWARD EULER", end))
        off.append(np.abs(history.u[-1] - judge.u[-1]).max())
    assert np.all(np.abs(np.log2(np.divide(off[:-1], off[1:])) - 1.0) < 0.15)
    assert off[-1] < 0.1
