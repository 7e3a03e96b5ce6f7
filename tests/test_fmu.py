"""Units for co-simulation, run by FMPy: the numbers of ``fem.stepper``, states, errors in our words; both versions."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.codes.fmu import DECK, DESCRIPTION, export_fmu, identifier
from fem.errors import CommandError

pytest.importorskip("pythonfmu3")
pytest.importorskip("pythonfmu")
fmpy = pytest.importorskip("fmpy")

TEXT = """*HEADING
A mass on a bar
*PARAMETER
area = 1e-4
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=M
2, 2
*MASS, ELSET=M
1.
*MATERIAL, NAME=STEEL
*ELASTIC
1e6
*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL
<area>
*AMPLITUDE, NAME=PULL, DEFINITION=USER
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 2.
*CLOAD, AMPLITUDE=PULL
2, 1, 1.
*NODE PRINT, NSET=ALL
U
*END STEP
"""
OUTPUTS = ["U1_n2", "RF1_n1", "T_e1", "kinetic"]
INTERVALS = (0.1, 0.05, 0.0333, 0.2)


@pytest.fixture
def deck(tmp_path):
    path = tmp_path / "mass on a bar.inp"
    path.write_text(TEXT.replace("*NODE\n", "*NODE, NSET=ALL\n", 1))
    return path


class Instance:
    """One instance in FMPy, by the names of its variables."""

    def __init__(self, path, folder, **start):
        about = fmpy.read_model_description(path)
        self.is_3 = about.fmiVersion == "3.0"
        self.places = {variable.name: variable.valueReference for variable in about.modelVariables}
        self.unit = fmpy.simulation.instantiate_fmu(str(folder), about, fmi_type="CoSimulation", debug_logging=True)
        for name, value in start.items():
            self.put(name, value)
        if self.is_3:
            self.unit.enterInitializationMode(startTime=0.0)
        else:
            self.unit.setupExperiment(startTime=0.0)
            self.unit.enterInitializationMode()
        self.unit.exitInitializationMode()
        self.save = self.unit.getFMUState if self.is_3 else self.unit.getFMUstate
        self.back = self.unit.setFMUState if self.is_3 else self.unit.setFMUstate

    def put(self, name, value):
        (self.unit.setFloat64 if self.is_3 else self.unit.setReal)([self.places[name]], [value])

    def get(self, name):
        return (self.unit.getFloat64 if self.is_3 else self.unit.getReal)([self.places[name]])[0]

    def step(self, time, interval, **inputs):
        for name, value in inputs.items():
            self.put(name, value)
        self.unit.doStep(time, interval)
        return [self.get(name) for name in OUTPUTS]


def close(*instances):
    for one in instances:
        one.unit.terminate()
        one.unit.freeInstance()


def stepped(sim, time, value):
    """What a unit does in a step, with the stepper itself."""
    sim["PULL"] = value
    sim.advance_to(time)
    return [sim.u(2)[0], sim.reaction(1)[0], sim.tension(1), sim.energies["kinetic"]]


@pytest.mark.parametrize("fmi", [3, 2])
def test_two_instances_give_the_numbers_of_the_stepper(deck, tmp_path, fmi):
    """Equal to the last bit, at instants on and off the grid of increments; one has another parameter."""
    path = export_fmu(deck, tmp_path / f"two{fmi}.fmu", OUTPUTS, fmi=fmi)
    folder = fmpy.extract(str(path), str(tmp_path / f"two{fmi}"))
    one, other = Instance(path, folder), Instance(path, folder, area=2e-4)
    time = 0.0
    with fem.stepper(deck) as sim, fem.stepper(deck, parameters={"area": 2e-4}) as wide:
        for number, interval in enumerate(INTERVALS):
            value = 3.0 * number
            found = one.step(time, interval, PULL=value), other.step(time, interval, PULL=-value)
            time += interval
            assert found == (stepped(sim, time, value), stepped(wide, time, -value))
    close(one, other)


def test_of_a_set_a_unit_gives_the_largest(deck, tmp_path):
    """Of a node that is held and one that is pushed to either side."""
    path = export_fmu(deck, tmp_path / "set.fmu", ["U1_all", *OUTPUTS])
    one, found = Instance(path, fmpy.extract(str(path), str(tmp_path / "set"))), []
    for number in range(4):
        moved, *_ = one.step(0.1 * number, 0.1, PULL=(-1.0) ** number * 300.0)
        assert one.get("U1_all") == max(0.0, moved)
        found.append(moved)
    close(one)
    assert min(found) < 0.0 < max(found)
    about = {each.name: each.description for each in fmpy.read_model_description(path).modelVariables}
    assert about["U1_all"] == "largest displacement of the nodes of ALL along x [length]"


@pytest.mark.parametrize("order", ["hold", "linear", "ahead"])
def test_inputs_are_taken_in_the_order_of_the_unit(deck, tmp_path, order):
    """A value u at the beginning of a step of h: at once, at its end, or u + h slope at its end; equal to the last bit,
    also after going back."""
    path = export_fmu(deck, tmp_path / f"{order}.fmu", OUTPUTS, input_order=order)
    one = Instance(path, fmpy.extract(str(path), str(tmp_path / order)), PULL=2.0)
    time, before = 0.0, (0.0, 2.0)
    with fem.stepper(deck) as sim:
        sim.jump("PULL", 2.0)
        for number, interval in enumerate(INTERVALS):
            value, kept = 2.0 + number**2, one.save()
            slope = (value - before[1]) / (time - before[0]) if order == "ahead" and number else 0.0
            found = one.step(time, interval, PULL=value)
            one.back(kept)
            assert found == one.step(time, interval, PULL=value)
            before, end = (time, value), time + interval
            if order == "hold":
                sim.jump("PULL", value)
                sim.advance_to(end)
                assert found == [sim.u(2)[0], sim.reaction(1)[0], sim.tension(1), sim.energies["kinetic"]]
            else:
                assert found == stepped(sim, end, value + interval * slope)
            time = end
    close(one)


def lateness(deck, tmp_path, order, interval):
    """Largest difference of U1_n2 from a run that is given the values of the ends of the steps, over the largest U1."""
    path = export_fmu(deck, tmp_path / f"{order}.fmu", ["U1_n2"], input_order=order, force=True)
    rows = [(t, 100.0 * (1.0 - math.cos(3.0 * t))) for t in np.linspace(0.0, 2.0, 2001).tolist()]
    signal = np.array(rows, [("time", float), ("PULL", float)])
    found = fmpy.simulate_fmu(str(path), stop_time=1.6, output_interval=interval, input=signal)["U1_n2"]
    with fem.stepper(deck) as sim:
        places = [sim.u(2)[0]]
        for k in range(round(1.6 / interval)):
            sim["PULL"] = 100.0 * (1.0 - math.cos(3.0 * interval * (k + 1)))
            sim.advance(interval)
            places.append(sim.u(2)[0])
    return float(np.abs(found - places).max() / np.abs(places).max())


@pytest.mark.long
def test_what_the_order_of_inputs_costs(deck, tmp_path):
    """A damped mass is pulled smoothly, in steps of 0.04 and 0.02: late by a step, by half a step, of second order."""
    deck.write_text(deck.read_text().replace("1e6\n", "1e6\n*DAMPING, BETA=0.02\n"))
    found = {order: [lateness(deck, tmp_path, order, h) for h in (0.04, 0.02)] for order in ("linear", "hold", "ahead")}
    (late, fine), (half, half_fine), (ahead, ahead_fine) = found.values()
    assert late / fine == pytest.approx(2.0, rel=0.1) and ahead / ahead_fine == pytest.approx(4.0, rel=0.2), found
    assert (half, half_fine) == pytest.approx((late / 2.0, fine / 2.0), rel=0.1) and ahead < 0.25 * late, found


def test_fmpy_takes_our_increment_where_it_is_told(deck, tmp_path):
    """As docs/reference/commands.md says of FMPy: the declared 0.01 s, doubled until 12 s have at most 1000 steps,
    whatever step_size is; output_interval as it is given. 0.02 for 0.01 is the coarser answer of ``linear``."""
    deck.write_text(deck.read_text().replace("0.01, 2.", "0.01, 12."))
    path = str(export_fmu(deck, tmp_path / "long.fmu", ["U1_n2"]))
    signal = np.array([(0.0, 0.0), (12.0, 1.0)], [("time", float), ("PULL", float)])
    steps = [
        float(np.diff(fmpy.simulate_fmu(path, stop_time=12.0, input=signal, **given)["time"]).max())
        for given in ({}, {"step_size": 0.01}, {"output_interval": 0.01})
    ]
    assert steps == pytest.approx([0.02, 0.02, 0.01])


@pytest.mark.parametrize("fmi", [3, 2])
def test_a_state_is_gone_back_to(deck, tmp_path, fmi):
    path = export_fmu(deck, tmp_path / f"back{fmi}.fmu", OUTPUTS, fmi=fmi)
    one = Instance(path, fmpy.extract(str(path), str(tmp_path / f"back{fmi}")))
    one.step(0.0, 0.1, PULL=2.0)
    kept = one.save()
    first = one.step(0.1, 0.1, PULL=5.0)
    one.back(kept)
    assert one.get("U1_n2") != first[0]
    assert one.step(0.1, 0.1, PULL=5.0) == first
    close(one)


@pytest.mark.parametrize("fmi", [3, 2])
def test_errors_are_those_of_fmi_with_our_words(deck, tmp_path, fmi, capsys):
    path = export_fmu(deck, tmp_path / f"wrong{fmi}.fmu", OUTPUTS, fmi=fmi)
    folder = fmpy.extract(str(path), str(tmp_path / f"wrong{fmi}"))
    with pytest.raises(Exception, match="ExitInitializationMode failed"):
        Instance(path, folder, area=-1.0)
    assert "the area must be positive, got -1" in capsys.readouterr().out
    one = Instance(path, folder)
    one.step(0.0, 1.9)
    with pytest.raises(Exception, match="DoStep failed"):
        one.step(1.0, 0.1)
    with pytest.raises(Exception, match="DoStep failed"):
        one.step(1.9, 0.2)
    said = capsys.readouterr().out
    assert "the unit is at 1.9" in said and "the deck ends at 2" in said
    close(one)


def test_what_the_unit_has(deck, tmp_path):
    """All USER amplitudes and all parameters, with the values of the deck or those that are given."""
    path = export_fmu(deck, tmp_path / "has.fmu", ["U1_2"], parameters={"area": 3e-4})
    variables = {each.name: each for each in fmpy.read_model_description(path).modelVariables}
    assert {name: each.causality for name, each in variables.items()} == {
        "time": "independent", "area": "parameter", "PULL": "input", "U1_2": "output",
    }  # fmt: skip
    told = {name: each.description for name, each in variables.items()}
    assert told["U1_2"] == "displacement of node 2 along x [length]" and "end of the next" in told["PULL"]
    assert float(variables["area"].start) == 3e-4 and float(variables["PULL"].start) == 0.0
    folder = tmp_path / "x"
    fmpy.extract(str(path), str(folder))
    assert (folder / "resources" / DECK / deck.name).read_bytes() == deck.read_bytes()
    assert json.loads((folder / "resources" / DESCRIPTION).read_text())["period"] == 2.0


@pytest.mark.parametrize("fmi", [3, 2])
def test_variables_say_what_they_are(deck, tmp_path, fmi):
    """In the units of the deck, or in SI where the heading says so."""
    deck.write_text(deck.read_text().replace("A mass on a bar", "A mass on a bar, SI units"))
    path = export_fmu(deck, tmp_path / "unit.fmu", [*OUTPUTS, "A3_n2"], fmi=fmi)
    told = {each.name: each.description for each in fmpy.read_model_description(path).modelVariables}
    assert [told[name] for name in (*OUTPUTS, "A3_n2")] == [
        "displacement of node 2 along x [m]", "reaction of node 1 along x [N]", "T of element 1 [N]",
        "energy: kinetic [J]", "acceleration of node 2 along z [m/s²]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"outputs": []}, "needs outputs"),
        ({"outputs": ["S_e1"]}, "T of elements"),
        ({"outputs": ["T_e7"]}, "no element 7"),
        ({"outputs": ["T_TOPS"]}, "no element set TOPS; there are BAR"),
        ({"outputs": ["S_BAR"]}, "T of elements"),
        ({"outputs": ["U4_n1"]}, "U4"),
        ({"outputs": ["U1_n2"], "inputs": ["PUSH"]}, "no amplitude with DEFINITION=USER PUSH; .*PULL"),
        ({"outputs": ["U1_n2", "U1_n2"]}, "two variables"),
        ({"outputs": ["U1_n2"], "input_order": "late"}, "no order of inputs 'late'"),
    ],
)
def test_what_a_unit_cannot_have_is_refused(deck, tmp_path, given, message):
    with pytest.raises(CommandError, match=message):
        export_fmu(deck, tmp_path / "no.fmu", **given)
    assert list(tmp_path.iterdir()) == [deck]


def test_included_files_come_along_and_decks_that_stand_still_are_refused(deck, tmp_path):
    (tmp_path / "a.inp").write_text(f"*INCLUDE, INPUT={deck.name}\n")
    path = export_fmu(tmp_path / "a.inp", tmp_path / "a.fmu", OUTPUTS)
    one = Instance(path, fmpy.extract(str(path), str(tmp_path / "x")))
    assert one.step(0.0, 0.1, PULL=1.0)[0] > 0.0
    close(one)
    deck.write_text(deck.read_text().replace("*DYNAMIC, DIRECT\n0.01, 2.", "*STATIC"))
    with pytest.raises(CommandError, match=r"last step is \*DYNAMIC"):
        export_fmu(deck, tmp_path / "no.fmu", OUTPUTS)


def test_the_command_writes_a_unit_and_no_file_of_the_user(deck, tmp_path, capsys):
    file = tmp_path / "1st crane.fmu"
    words = ["export", str(deck), "--to", "fmu", "--output", "T_e1,U1_n2", "--file", str(file)]
    assert main(words) == 0
    assert "1st crane.fmu (FMI 3)" in capsys.readouterr().out and file.stat().st_size > 1000
    assert main(words) == 2 and "--force" in capsys.readouterr().err
    assert main([*words, "--input-order", "ahead", "--force"]) == 0
    told = {each.name: each.description for each in fmpy.read_model_description(file).modelVariables}
    assert "last two values" in told["PULL"]
    assert main(["export", str(deck), "--to", "opensees", "--input-order", "hold"]) == 2
    assert "--input-order is for --to fmu" in capsys.readouterr().err
    assert identifier("1st crane") == "unit_1st_crane" and identifier("class") == "unit_class"
