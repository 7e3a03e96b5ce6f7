"""Derivatives of harmonic motions: a closed form, differences of runs, resonances, files."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.compiled.choice import is_plain
from fem.deck import deck_reader
from fem.model import Model
from fem.runs.record import Requests, Response, SilentSink
from fem.solve.loop import Run, begin
from fem.study.sensitivity.derivatives import Derivatives, differentiating
from fem.study.sensitivity.duals import NoDerivative
from fem.study.sensitivity.harmonic import Harmonics, harmonics_of
from fem.study.sensitivity.uncertain import representative
from tests.sensitivity.decks import STRING

pytestmark = pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")
K, M, C, F = 100.0, 1.5, 2.0, 3.0
RESONANCE = np.sqrt(K / M) / (2.0 * np.pi)
OSCILLATOR = """*PARAMETER
k = 100.
m = 1.5
c = 2.
first = 0.5
count = 3
*NODE
1, 0., 0., 0.
2, 2., 0., 0.
*ELEMENT, TYPE=SPRINGA, ELSET=SPRING
1, 1, 2
*ELEMENT, TYPE=DASHPOTA, ELSET=DASHPOT
2, 1, 2
*ELEMENT, TYPE=MASS, ELSET=MASS
3, 2
*SPRING, ELSET=SPRING

<k>
*DASHPOT, ELSET=DASHPOT

<c>
*MASS, ELSET=MASS
<m>
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP, NLGEOM
*STEADY STATE DYNAMICS, DIRECT, FREQUENCY SCALE=LINEAR
<first>, 2.5, <count>
*CLOAD
2, 1, 3.
*NODE PRINT
U, V
*EL PRINT, ELSET=SPRING
T
*END STEP
"""
BY = ("k", "m", "c", "first")


class Kept(SilentSink):
    """Keeps what a run tells."""

    def __init__(self) -> None:
        self.responses: list[Response] = []
        self.notices: list[str] = []

    def response(self, response: Response) -> None:
        self.responses.append(response)

    def notice(self, text: str) -> None:
        self.notices.append(text)


class Settled(Run):
    settles = True


def iterated(model: Model) -> Model:
    """A model whose statics are iterated to round-off."""
    criteria = {"residual_relative": None, "residual_absolute": None}
    steps = (replace(step, controls=replace(step.controls, **criteria)) for step in model.steps)
    return replace(model, steps=tuple(steps))


def answers(model: Model) -> Harmonics:
    """Those of the harmonic step, to round-off."""
    kept = Kept()
    begin(Settled, iterated(model), kept, Requests(fields=False), None).run()
    (found,) = harmonics_of(model, kept.responses).values()
    return found


def derivatives(model: Model, by: list[str]) -> tuple[Derivatives, list[str]]:
    """With the notices of the run."""
    kept = Kept()
    solve, found = differentiating(partial(deck_reader, model), iterated(model), by, {}, [])
    solve(iterated(model), kept, Requests(fields=False))
    return found(), kept.notices


def exact(w: float) -> tuple[complex, np.ndarray]:
    """u = f/(k + i w c - w^2 m), and its derivatives by k, m, c and w (Clough and Penzien, Dynamics of Structures,
    ch. 3)."""
    stiffness = K + 1j * w * C - w * w * M
    by = np.array([1.0, -w * w, 1j * w, 1j * C - 2.0 * w * M])
    return F / stiffness, -F * by / stiffness**2


@pytest.mark.parametrize(("row", "at"), [(0, "0.5"), (1, "1.5"), (2, "")])
def test_an_oscillator_over_stiffness_mass_damping_and_frequency(row, at):
    """Below, near and above its resonance at 1.3; the second frequency moves by half of what the first one does."""
    found = fem.sensitivity(fem.parse_deck(OSCILLATOR), list(BY), ["max:amplitude_1:U1_n2"])
    w = 2.0 * np.pi * (0.5, 1.5, 2.5)[row]
    u, slopes = exact(w)
    slopes[3] *= 2.0 * np.pi * (1.0, 0.5, 0.0)[row]
    for name, factor, power in (("U1_n2", 1.0, 0), ("V1_n2", 1j * w, 1), ("T_e1", K, 0)):
        value, change = u * factor, slopes * factor
        change[3] += power * value / w * 2.0 * np.pi * (1.0, 0.5, 0.0)[row]
        if name == "T_e1":
            change[0] += u
        growth, suffix = change / value, f"@{at}" if at else ""
        assert found.value(f"amplitude_1:{name}{suffix}") == pytest.approx(abs(value), rel=1e-9)
        assert found.value(f"phase_1:{name}{suffix}") == pytest.approx(np.degrees(np.angle(value)), rel=1e-9)
        rates = dict(zip(BY, (abs(value) * growth.real).tolist(), strict=True))
        assert found.slope(f"amplitude_1:{name}{suffix}") == pytest.approx(rates, rel=1e-8, abs=1e-9 * abs(value))
        turns = dict(zip(BY, np.degrees(growth.imag).tolist(), strict=True))
        assert found.slope(f"phase_1:{name}{suffix}") == pytest.approx(turns, rel=1e-8, abs=1e-8)


def test_the_largest_amplitude_as_a_goal():
    """Of the three frequencies it is that at 1.5."""
    f = fem.gradient(fem.parse_deck(OSCILLATOR), "max:amplitude_1:U1_n2", ["k"])
    u, slopes = exact(3.0 * np.pi)
    value, slope = f()
    assert value == pytest.approx(abs(u), rel=1e-9)
    assert slope == pytest.approx([(slopes[0] / u).real * abs(u)], rel=1e-8)


@pytest.mark.parametrize("name", ["amplitude_2:U1_n2", "max:phase_1:U1_n2", "amplitude_1:U1_n7", "phase_1:T_e1@one"])
def test_harmonic_numbers_that_there_are_not_are_refused(name):
    found = fem.sensitivity(fem.parse_deck(OSCILLATOR), ["k"], [])
    with pytest.raises(fem.CommandError):
        found.value(name)


def test_a_parameter_that_changes_the_number_of_frequencies_is_refused():
    """The natural frequency, which divides the range, is at its lower end: with another stiffness it may be outside."""
    modes = "*STEP, NLGEOM\n*FREQUENCY\n1\n*END STEP\n*STEP, NLGEOM\n*STEADY STATE DYNAMICS, FREQUENCY SCALE"
    deck = OSCILLATOR.replace("*STEP, NLGEOM\n*STEADY STATE DYNAMICS, DIRECT, FREQUENCY SCALE", modes)
    deck = deck.replace("first = 0.5", f"first = {float(RESONANCE)!r}")
    with pytest.raises(NoDerivative, match="step 2: k changes the number of frequencies"):
        fem.sensitivity(fem.parse_deck(deck), ["k"], [])


def test_close_to_a_resonance_without_damping_it_is_told():
    """At distances of 1e-3, 1e-4 and 1e-5 of the resonance, and at it, where there is no answer. Of one mode they are
    exact where there are some."""
    frequency = [float(RESONANCE * (1.0 - off)) for off in (1e-3, 1e-4, 1e-5, 0.0)]
    lines = "\n".join(f"{each!r}, {each!r}, 1" for each in frequency)
    deck = OSCILLATOR.replace("c = 2.", "c = 0.").replace("<first>, 2.5, <count>", lines)
    found, notices = derivatives(fem.parse_deck(deck), ["k"])
    its = found.harmonics[1]
    assert its.frequency.tolist() == frequency[:3]
    slope = [found.of(f"amplitude_1:U1_n2@{each!r}")[1][0] for each in frequency[:3]]
    expected = [-F / (K - (2.0 * np.pi * each) ** 2 * M) ** 2 for each in frequency[:2]]
    assert slope[:2] == pytest.approx(expected, rel=1e-8)
    assert np.isnan(slope[2])
    told = [text for text in notices if "derivatives by k" in text]
    assert len(told) == 1
    assert "at frequency 1.29936 they are known to 0.0004 or better; at frequency 1.29948 there are none" in told[0]


MOORING = (
    ("bars = 24", "bars = 24\nEA = 6.E10\nCd = 1.2"), ("6.E10\n*D", "<EA>\n*D"), ("0.08, 1.2", "0.08, <Cd>"),
)  # fmt: skip
SPAN = (("force = 10.", "force = 10.\nEA = 3.475E7"), ("3.475E7\n*D", "<EA>\n*D"))


@pytest.mark.long  # compiles the march of dual numbers with water
@pytest.mark.parametrize(
    ("name", "changes", "by"),
    [
        pytest.param("mooring_response", MOORING, ["surge", "EA", "Cd"], id="mooring_response: drag"),
        pytest.param("span_response", SPAN, ["force", "damping", "EA"], id="span_response: modes"),
    ],
)
def test_a_deck_equals_differences_of_runs(name, changes, by):
    """Statics, then harmonic motions: to 1e-6 of the largest derivative of a quantity, and at each frequency to 1e-6 of
    the largest there or to the round-off of tensions: EA/L 1e-16 m, 1e-13 of them, over 2e-5, on both sides. EA moves
    natural frequencies, and frequencies between them."""
    text = Path(f"inputs/{name}.inp").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    found, notices = derivatives(fem.parse_deck(text), by)
    assert not any("derivatives" in each for each in notices)
    (its,) = found.harmonics.values()
    families = np.array([each.partition("_")[0].rstrip("123") for each in its.names])
    for place, parameter in enumerate(by):
        value, h = found.parameters[parameter], 1e-4
        runs = [answers(fem.parse_deck(text, {parameter: value * (1.0 + step * h)})) for step in (-2, -1, 1, 2)]
        expected = sum(a * run.values for a, run in zip((1, -8, 8, -1), runs, strict=True)) / (12.0 * h * value)
        moves = sum(a * run.frequency for a, run in zip((1, -8, 8, -1), runs, strict=True)) / (12.0 * h * value)
        slopes = its.slopes[..., place] * its.values
        assert np.abs(its.rates[:, place] - moves).max() <= 1e-8 * its.frequency.max() / value
        for family in np.unique(families):
            at = families == family
            off = np.abs(slopes - expected)[:, at].max(axis=1)
            size, largest = (np.abs(each[:, at]).max(axis=1) for each in (expected, its.values))
            assert off.max() <= 1e-6 * size.max(), (parameter, family)
            assert np.all(off <= 1e-6 * size + 5e-8 * largest / value), (parameter, family)
    assert any("max:amplitude" in each for each in representative(found))
    assert not any("U2" in each for each in representative(found))  # round-off


def test_the_command_writes_derivatives_of_harmonic_motions(tmp_path, capsys):
    deck, folder = tmp_path / "oscillator.inp", tmp_path / "out"
    deck.write_text(OSCILLATOR)
    asked = ["--sensitivity", "first", "--uncertain", "k=1%,m=20%", "--quiet"]
    assert main(["run", str(deck), "--output", str(folder), *asked]) == 0
    said = capsys.readouterr().out
    assert "at time, frequency" in said and "max:amplitude_1:U1_n2" in said
    rows = [line.split(",") for line in (folder / "sensitivity.csv").read_text().splitlines()]
    assert rows[0] == ["number", "value", "time", "first", "k", "m"]
    u, slopes = exact(3.0 * np.pi)
    largest = next([float(each) for each in row[1:]] for row in rows if row[0] == "max:amplitude_1:U1_n2")
    assert largest[:2] == pytest.approx([abs(u), 1.5], rel=1e-9)
    assert largest[3:] == pytest.approx(((slopes / u).real[:2] * abs(u)).tolist(), rel=1e-8)
    phase = next([float(each) for each in row[1:]] for row in rows if row[0] == "phase_1:U1_n2@1.5")
    assert phase[3:] == pytest.approx(np.degrees((slopes / u).imag[:2]).tolist(), rel=1e-8)
    head, *lines = (folder / "steady_elements_sensitivity.csv").read_text().splitlines()
    assert head.startswith("step,frequency,element,frequency_by_first,frequency_by_k,frequency_by_m,T_by_first,")
    assert [float(each) for each in lines[1].split(",")[:4]] == pytest.approx([1.0, 1.5, 1.0, 0.5], rel=1e-9)
    assert len((folder / "steady_nodes_sensitivity.csv").read_text().splitlines()) == 1 + 3 * 2
    limits = {line["number"]: line for line in json.loads((folder / "run.json").read_text())["uncertain"]["limits"]}
    assert limits["max:amplitude_1:U1_n2"]["limited_by"] == "m"
    assert limits["max:amplitude_1:U1_n2"]["curved"] == "m"  # it becomes a resonance
    assert main(["run", str(deck), "--output", str(folder), "--quiet"]) == 0
    assert not list(folder.glob("*sensitivity.csv"))


def test_at_its_natural_frequencies_a_string_is_similar_to_a_tighter_one():
    """With modal damping K - w^2 M + i w C is as the tension at the n-th natural frequency, whatever the mass is: there
    u ~ 1/T, its phase stays, and f ~ sqrt(T/m). Tensions of a straight string are round-off, which is no resonance."""
    step = "*STEP, NLGEOM\n*STEADY STATE DYNAMICS, FREQUENCY SCALE=LINEAR\n0.5, 1.5, 3\n*MODAL DAMPING\n1, 3, 0.02\n"
    deck = f"{STRING}{step}*CLOAD\n5, 3, 1.\n*NODE PRINT\nU\n*EL PRINT\nT\n*END STEP\n"
    found, notices = derivatives(fem.parse_deck(deck), ["T", "m"])
    assert not any("derivatives" in text for text in notices)
    assert [name for name in representative(found) if "amplitude" in name] == ["max:amplitude_2:U3_n5"]
    its = found.harmonics[2]
    for number in (1, 2):
        natural, rates, _ = found.of(f"frequency_1_{number}")
        row = int(np.abs(its.frequency - natural).argmin())
        assert its.frequency[row] == pytest.approx(natural, rel=1e-9)
        assert its.rates[row] == pytest.approx(rates, rel=1e-9)
        value, slopes, _ = found.of(f"amplitude_2:U3_n3@{natural!r}")
        assert slopes == pytest.approx([-value / 50.0, 0.0], rel=1e-8, abs=1e-8 * value)
        assert found.of(f"phase_2:U3_n3@{natural!r}")[1] == pytest.approx([0.0, 0.0], abs=1e-5)
