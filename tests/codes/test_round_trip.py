"""What ``fem export`` wrote for MoorDyn, CalculiX and Abaqus is read back as the same model: masses, number of bars,
their forces and strains at rest, or where the motion begins."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.assembly.system import assemble
from fem.codes.export import CODES, Writing, files_for
from fem.codes.from_moordyn import convert
from fem.codes.twin import twin_of
from fem.errors import FemError
from fem.model import Model
from fem.model.mesh import BARS

INPUTS = Path(fem.__file__).parents[1] / "inputs"
CARRYING = (*BARS, "SPRINGA")
TARGETS = {"moordyn": "_moordyn.txt", "calculix": "_calculix.inp", "abaqus": "_abaqus.inp"}
DECKS = {
    "moordyn": "bergdahl catenary circled_weight hanging_chain moored_platform moving_support pendulum_lumped "
    "pendulum_one_point rod_consistent sdnl100 sdnl100_3periods slack_chain",
    "calculix": "axial_bar cable_net catenary damped_cable hanging_chain moving_support pendulum_lumped "
    "pendulum_one_point rod_consistent sdnl100 sdnl100_3periods slack_cable slack_chain ssnl105a_nlgeom",
    "abaqus": "axial_bar cable_net hanging_chain helical_spring inclined_roller moving_support net_brake "
    "pendulum_lumped slack_cable springs_dashpots ssnl105a ssnl105a_nlgeom ssnl114a yielding_brake",
}
"""All shipped decks that a target can express."""
CASES = [(f"{name}.inp", code) for code, names in DECKS.items() for name in names.split()]


def can_be_exported(name: str, code: str) -> bool:
    try:
        files_for(code, fem.read_deck(INPUTS / name))
    except FemError:
        return False
    return True


def read_back(model: Model, code: str, folder: Path) -> tuple[Model, list[str]]:
    files, notes = files_for(code, model)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (path,) = (folder / name for name in files if name.endswith(TARGETS[code]))
    if code != "moordyn":
        return fem.read_deck(path), notes
    convert(path, folder / "back.inp")
    return fem.read_deck(folder / "back.inp"), notes


def mass_of(model: Model, code: str, is_back: bool) -> float:
    """Of the whole; or, as no others get any, of nodes that are free (CalculiX: at some time; MoorDyn: at the end)."""
    mass = assemble(model).mass
    held = np.zeros((len(mass), 3), np.bool_)
    if code != "abaqus" and is_back:
        for each in model.boundaries:
            held[model.mesh.nodes_of(each.target), each.dof - 1] = True
    elif code != "abaqus":
        twin = twin_of(Writing(CODES[code], model))
        held[:] = ~twin.free[:, None]
        if code == "moordyn":
            held[np.divmod(list(twin.stages[-1].held), 3)] = True
    return float(mass[~held.all(axis=1)].sum())


def at_rest(model: Model, code: str) -> dict[str, np.ndarray]:
    """Tensions and strains of all bars and springs, each sorted: at the end of the first static step (MoorDyn's: of the
    last), or at the start of the motion if there are none. CalculiX's second criterion compares with displacements,
    which are 0 where a deck begins in equilibrium."""
    steps = [*takewhile(lambda step: step.static, model.steps)][: None if code == "moordyn" else 1]
    is_static = bool(steps)
    if not is_static:
        dynamic = model.steps[0].dynamic
        steps = [replace(model.steps[0], procedure=replace(dynamic, period=3 * dynamic.dt))]
    steps = [replace(step, controls=replace(step.controls, correction_relative=None)) for step in steps]
    history = fem.run(replace(model, steps=tuple(steps)))
    labels = [label for block in model.mesh.blocks if block.kind in CARRYING for label in block.labels.tolist()]
    row = -1 if is_static else 0
    return {name: np.sort([history.of_element(label, name)[row] for label in labels]) for name in ("T", "E")}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "code"), CASES)
def test_an_export_that_is_read_is_the_same_model(name: str, code: str, tmp_path: Path) -> None:
    """Strains of bars, which springs of CalculiX do not have. Where a note says that their measure is another one,
    forces differ by less than twice the strain. Forces except of dampers in motion: elements of their own there."""
    model = fem.read_deck(INPUTS / name)
    back, notes = read_back(model, code, tmp_path)
    assert mass_of(back, code, True) == pytest.approx(mass_of(model, code, False), rel=1e-9)
    ours, theirs = at_rest(model, code), at_rest(back, code)
    assert len(ours["T"]) == len(theirs["T"]) > 0
    is_other = any(note.startswith("strain") for note in notes)
    is_damped = code == "calculix" and not model.steps[0].static and any(one.beta for one in model.materials.values())
    near = max(1e-6, 2.0 * np.abs(ours["E"]).max() * is_other)
    for what in ["E"] * (code != "calculix" and not is_other) + ["T"] * (not is_damped):
        assert theirs[what] == pytest.approx(ours[what], rel=near, abs=near * max(np.abs(ours[what]).max(), 1e-6))


@pytest.mark.long
def test_no_deck_that_can_be_exported_is_missing() -> None:
    found = {(path.name, code) for path in INPUTS.glob("*.inp") for code in TARGETS if can_be_exported(path.name, code)}
    assert found == set(CASES)
