"""What bars carry without becoming stiffer: it moves and weighs as their own mass does, goes and comes with steps."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.deck import parse_deck, write_deck
from fem.errors import DeckError
from fem.runner import run_to_files
from tests.solve.ensembles import run_alone, run_ensemble
from tests.solve.test_lanes import PENDULUM

SPAN = """\
*NODE, NSET=ALL
1, 0, 0, 0
2, 1, 0, 0.2
3, 2.5, 0, -0.1
4, 4, 0, 0.3
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
3, 3, 4
*ELSET, ELSET=ICED
2, 3
*MATERIAL, NAME=BARE
*ELASTIC
5e4
*DENSITY
{bare}
*DAMPING, ALPHA=0.3
*MATERIAL, NAME=CLAD
*ELASTIC
5e4
*DENSITY
{clad}
*DAMPING, ALPHA=0.3
*SOLID SECTION, ELSET=FIRST, MATERIAL=BARE, MASS={rule}
0.02
*SOLID SECTION, ELSET=ICED, MATERIAL=CLAD, MASS={rule}
0.02
*ELSET, ELSET=FIRST
1
*REST LENGTH
BARS, 1.1
{masses}*BOUNDARY
1, 1, 3
4, 1, 3
ALL, 2
"""
STEP = """\
*STEP, NLGEOM, INC=10000, AMPLITUDE=STEP
{procedure}
*CONTROLS, RESI_GLOB_RELA=1e-11
*DLOAD
BARS, GRAV, 9.81, 0., 0., -1.
{change}*NODE PRINT, NSET=ALL
U, V, RF
*END STEP
"""
STATIC = "*STATIC, DIRECT\n1., 1."
CARRIED, AREA = 3.0, 0.02
PER_LENGTH = f"*NONSTRUCTURAL MASS, ELSET=ICED, UNITS=MASS PER LENGTH, NAME=ICE\n{CARRIED}\n"


def span(*steps: str, masses: str = PER_LENGTH, rule: str = "LUMPED", clad: float = 50.0) -> fem.Model:
    return parse_deck(SPAN.format(bare=50.0, clad=clad, rule=rule, masses=masses) + "".join(steps))


def step(procedure: str = STATIC, change: str = "") -> str:
    if procedure.startswith("*FREQUENCY"):
        return f"*STEP, NLGEOM\n{procedure}\n{change}*END STEP\n"
    return STEP.format(procedure=procedure, change=change)


def change(what: str) -> str:
    return f"*MODEL CHANGE, TYPE=NONSTRUCTURAL MASS, {what}\nICE\n"


@pytest.mark.parametrize(
    ("procedure", "rule"),
    [
        ("*DYNAMIC, DIRECT\n0.002, 0.2", "CONSISTENT"),
        ("*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.002, 0.2", "ONE POINT"),
        ("*DYNAMIC, DIRECT, EXPLICIT\n0.002, 0.2", "LUMPED"),
        ("*FREQUENCY\n3", "CONSISTENT"),
    ],
)
def test_it_is_as_if_the_bars_were_denser(procedure, rule):
    """By the mass rule of their section, with weight and damping; given per length, or as the total of the set."""
    total = f"*NONSTRUCTURAL MASS, ELSET=ICED, UNITS=TOTAL MASS\n{CARRIED * 2 * 1.1}\n"
    denser = fem.run(span(step(), step(procedure), masses="", rule=rule, clad=50.0 + CARRIED / AREA))
    for masses in (PER_LENGTH, total):
        found = fem.run(span(step(), step(procedure), masses=masses, rule=rule))
        assert found.u == pytest.approx(denser.u, abs=1e-9)
        assert found.energy == pytest.approx(denser.energy, abs=1e-9)
        if found.modes:
            assert found.modes[0].frequency == pytest.approx(denser.modes[0].frequency, rel=1e-12)


def test_it_falls_off_and_takes_its_energy_along():
    """Places and velocities stay; its kinetic and potential energy are work from outside, and the books close."""
    swing = "*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.002, 0.2"
    history = fem.run(span(step(swing), step(swing, change("REMOVE")), masses=PER_LENGTH.replace("3.0", "9.0")))
    before, after = (int(np.flatnonzero(history.of_step(number))[at]) for number, at in ((1, -1), (2, 0)))
    for fields in (history.u, history.v):
        assert np.array_equal(fields[before], fields[after])
    u, v = history.u[before].reshape(-1, 3), history.v[before].reshape(-1, 3)
    shares = np.array([0.0, 0.5, 1.0, 0.5]) * 9.0 * 1.1
    kinetic, potential = 0.5 * shares @ (v**2).sum(axis=1), 9.81 * shares @ u[:, 2]
    lost = history.of_energy("external_work")[before] - history.of_energy("external_work")[after]
    assert lost == pytest.approx(kinetic + potential, rel=1e-9)
    assert kinetic > 0.01 * abs(lost)
    assert np.abs(history.energy_error).max() < 1e-10 * np.abs(history.of_energy("strain")).max()


def test_it_comes_and_goes():
    """Off from the start, put on, shed, put on again: each time the statics with and without it."""
    changes = (change("REMOVE"), change("ADD"), change("REMOVE"), change("ADD"))
    history = fem.run(span(*(step(change=each) for each in changes)))
    z = [history.of_node(3)[history.of_step(number)][-1, 2] for number in (1, 2, 3, 4)]
    assert z[:2] == pytest.approx(z[2:], abs=1e-9)
    assert z[1] < z[0] - 0.01


def test_geometrically_linear_steps_lose_it_too():
    """Their bars are those of the first of them, with coupling masses of their own."""
    linear = step("*DYNAMIC, DIRECT\n0.002, 0.02").replace("NLGEOM", "NLGEOM=NO")
    modes = step("*FREQUENCY\n3", change("REMOVE")).replace("NLGEOM", "NLGEOM=NO")
    found = fem.run(span(linear, modes, rule="CONSISTENT")).modes[0].frequency
    bare = fem.run(span(linear, modes.replace(change("REMOVE"), ""), rule="CONSISTENT", masses="")).modes[0].frequency
    assert found == pytest.approx(bare, rel=1e-12)


def test_decks_are_written_with_it_and_runs_go_on_without_it(tmp_path):
    """A run that goes on from the end of the step in which it fell off does not have it, either."""
    swing = "*DYNAMIC, DIRECT\n0.002, 0.1"
    shed = step(swing, change("REMOVE"))
    model = span(step(), shed, step(swing))
    assert parse_deck(write_deck(model)) == model
    (tmp_path / "first.inp").write_text("*RESTART, WRITE\n" + write_deck(span(step(), shed)))
    run_to_files(tmp_path / "first.inp", tmp_path / "first")
    (tmp_path / "second.inp").write_text("*RESTART, READ\n" + step(swing))
    second = fem.run(tmp_path / "second.inp", earlier=tmp_path / "first")
    whole = fem.run(model)
    assert np.array_equal(second.u[-1], whole.u[-1])


def test_ensembles_tell_their_masses_apart():
    """In SIMD lanes, too: models that differ in nothing else."""
    masses = [PER_LENGTH.replace("3.0", repr(mass)).replace("ELSET=ICED", "ELSET=BAR") for mass in (0.5, 2.0, 6.0)]
    models = [fem.parse_deck(PENDULUM.replace("*AMPLITUDE", f"{each}*AMPLITUDE", 1)) for each in masses]
    for model, found in zip(models, run_ensemble(models), strict=True):
        assert found.in_lanes
        alone = run_alone(model, 1)
        assert found.rows.motion[:, 0] == pytest.approx(alone.rows.motion[:, 0], abs=1e-8)


@pytest.mark.parametrize(
    ("masses", "changed", "expected"),
    [
        (PER_LENGTH.replace("3.0", "-1."), "", "the mass is negative: -1"),
        (PER_LENGTH.replace("PER LENGTH", "PER VOLUME"), "", "expected UNITS= MASS PER LENGTH or TOTAL MASS"),
        (PER_LENGTH.replace("NAME", "AMPLITUDE"), "", "AMPLITUDE of *NONSTRUCTURAL MASS is not supported"),
        (PER_LENGTH, change("REMOVE").replace("ICE", "ICED"), "there is no nonstructural mass ICED"),
        (PER_LENGTH, 2 * change("REMOVE"), "nonstructural mass ICE has been removed before"),
        (PER_LENGTH, change("ADD"), "nonstructural mass ICE is present already"),
    ],
)
def test_mistakes_are_told(masses, changed, expected):
    with pytest.raises(DeckError, match=expected.replace("*", r"\*")):
        span(step(change=changed), masses=masses)
