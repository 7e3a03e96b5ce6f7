"""Winches in time: they run evenly without an amplitude, go on from where they stand, and say where they jump."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.runner import run_to_files
from fem.show.checking import check
from tests.forces.families.lines import reeved, wound

AMPLITUDES = """*AMPLITUDE, NAME=FIRST, TIME=TOTAL TIME
0., 0., 0.4, 1.
*AMPLITUDE, NAME=SECOND, TIME=TOTAL TIME
0.4, 0.1, 0.8, -0.05
*AMPLITUDE, NAME=FROM NOTHING
0., 0., 0.4, 1.
"""
STEP = """*STEP, NLGEOM{more}
*DYNAMIC, DIRECT
0.01, 0.4
*WINCH{amplitude}
{elements}, {change}
*NODE PRINT
U, V
*EL PRINT
E, S
*END STEP
"""
MODELS = {"bars": (wound(), "LINE"), "rope over a pulley": (reeved(), "ROPE")}


def deck(name: str, *steps: str) -> str:
    """A model of lines that run, with other steps."""
    text, elements = MODELS[name]
    model = text.split("*STEP")[0] + AMPLITUDES
    return model + "".join(each.replace("ELEMENTS", elements) for each in steps)


def step(change: float, amplitude: str = "", more: str = "") -> str:
    return STEP.format(more=more, amplitude=amplitude, elements="ELEMENTS", change=change)


@pytest.mark.parametrize("name", MODELS)
def test_without_an_amplitude_a_winch_runs_evenly_from_where_it_stands(name: str) -> None:
    """As one that two straight amplitudes tell the way: from 0 to 0.1, and from there to -0.05."""
    even = fem.run(fem.parse_deck(deck(name, step(0.1), step(-0.05))))
    told = deck(name, step(0.1, ", AMPLITUDE=FIRST"), step(1.0, ", AMPLITUDE=SECOND"))
    assert np.abs(even.u).max() > 0.02
    np.testing.assert_allclose(even.u, fem.run(fem.parse_deck(told)).u, rtol=0.0, atol=1e-12)
    assert not any("at once" in notice for notice in even.notices)


def told_by(text: str) -> tuple[list[str], list[str]]:
    """What a run and ``fem check`` say of jumps."""
    model = fem.parse_deck(text)
    noticed = [notice for notice in fem.run(model).notices if "*WINCH" in notice]
    return noticed, [line for line in check(model).findings if "*WINCH" in line]


@pytest.mark.parametrize(
    ("second", "number", "words"),
    [
        (step(0.05, ", AMPLITUDE=FROM NOTHING"), 2, ("by -0.1 of", "from 0.1, its value before, to 0", "makes")),
        (step(-0.05, "", ", AMPLITUDE=STEP"), 2, ("by -0.15 of", "remove AMPLITUDE=STEP")),
    ],
)
@pytest.mark.parametrize("name", MODELS)
def test_a_winch_that_jumps_is_named_with_the_tension_that_makes(
    name: str, second: str, number: int, words: tuple[str, ...]
) -> None:
    """EA dL/L0 of the element it makes most of; the same words before and while it runs."""
    noticed, checked = told_by(deck(name, step(0.1), second))
    assert len(noticed) == len(checked) == 1
    assert noticed[0].strip() == f"warning: {checked[0].strip()}"
    assert noticed[0].startswith(f"warning: step {number}: ")
    for each in words:
        assert each in noticed[0]


def test_the_tension_of_a_jump_is_its_own_stiffness_times_strain() -> None:
    text = deck("bars", step(0.1), step(0.05, ", AMPLITUDE=FROM NOTHING"))
    model = fem.parse_deck(text)
    shortest = np.linalg.norm(np.diff(model.mesh.coordinates[model.mesh.element_nodes[:2]], axis=1), axis=2).min()
    section = model.sections[0]
    young = model.materials[section.material].young
    assert young is not None
    force = young * section.area * 0.1 / shortest
    assert f"makes {force:.4g} of tension" in told_by(text)[0][0]


def test_a_winch_is_not_accused_where_it_goes_on() -> None:
    """Along an amplitude in total time, named again or not; after a hold; where statics turned it before."""
    whole = step(1.0, ", AMPLITUDE=SECOND"), step(0.1).replace("*WINCH\nELEMENTS, 0.1\n", "")
    static = step(0.1).replace("*DYNAMIC, DIRECT\n0.01, 0.4", "*STATIC\n0.4, 0.4")
    for steps in ((static, *whole), (step(0.1), *whole), (step(0.1), whole[1], step(0.1))):
        assert told_by(deck("bars", *steps)) == ([], [])


def test_a_restart_knows_where_the_winch_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two decks are as good as one; and what jumps there is told by the run, which alone can know."""
    monkeypatch.chdir(tmp_path)
    model = deck("bars")
    decks = {
        "first": model + "*RESTART, WRITE\n" + step(0.1),
        "second": model + "*RESTART, READ\n" + step(-0.05),
        "jumps": model + "*RESTART, READ\n" + step(0.05, ", AMPLITUDE=FROM NOTHING"),
    }
    for name, text in decks.items():
        Path(f"{name}.inp").write_text(text.replace("ELEMENTS", "LINE"))
        run_to_files(f"{name}.inp", name, quiet=True, earlier=None if name == "first" else "first")
    whole = fem.run(fem.parse_deck(deck("bars", step(0.1), step(-0.05))))
    second = np.loadtxt("second/nodes.csv", delimiter=",", skiprows=1)
    last = second[second[:, 1] == second[-1, 1]][:, 4:7]
    np.testing.assert_allclose(last, whole.u[-1].reshape(-1, 3), rtol=0.0, atol=1e-9)
    assert "from 0.1, its value before, to 0" in Path("jumps/run.json").read_text()
    parsed = fem.parse_deck(decks["jumps"].replace("ELEMENTS", "LINE"))
    assert not [line for line in check(parsed).findings if "*WINCH" in line]


def test_a_pendulum_that_is_hauled_in_keeps_its_action() -> None:
    """Analytic: energy over frequency stays where length changes slowly (Landau and Lifshitz, Mechanics, 49), so that
    the angle grows as length^(-3/4); what the winch does is in the balance, to round-off.
    """
    history = fem.run(Path(__file__).resolve().parents[3] / "inputs" / "winch_energy_momentum.inp")
    times = np.asarray(history.time)
    place = history.positions(2)
    length, angle = np.sqrt((place**2).sum(axis=1)), np.abs(np.arctan2(place[:, 0], -place[:, 2]))
    before, after = (times > 1.5) & (times < 8.0), times > 102.0
    assert length[before].mean() / length[after].mean() == pytest.approx(4.0, abs=0.05)
    for some in (before, after):  # slow: the first swing and the last
        grown = 0.05 * (8.0 / length[some][angle[some].argmax()]) ** 0.75
        assert angle[some].max() == pytest.approx(grown, rel=2e-3)
    lifted = 500.0 * 9.81 * 6.0
    assert np.abs(history.energy_error).max() < 2e-12 * lifted  # reached: 3e-13, as RESI_GLOB_RELA is 1e-12
