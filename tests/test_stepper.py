"""``fem.stepper``: the files of a run, byte for byte; back and on again; what is set belongs to the next instant."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.errors import CommandError
from fem.model import Amplitude, Dynamic, Model, Static
from fem.model.curves import GIVEN, Follow, evaluate, live_ones
from fem.solve import step_run
from fem.solve.newton.groups import NEED_SOLVE
from fem.solve.refill import Refill, reach
from fem.solve.step_run import StepRun

fits, repeat = Refill.fits, StepRun.repeat
KINDS = "DISPLACEMENT", "VELOCITY", "ACCELERATION"

ROOT = Path(__file__).resolve().parents[1]
FEW, MANY = 4, 400
"""Increments of the last step in the tests that are not long, and the most of those of whole decks, whose
motions are like that from there on."""
WHOLE = "string_sweep"
MOST = {WHOLE: 20_000, "ball_on_two_ropes": 2400, "string_pendulum_rope": 2400}
"""More: longer than any chunk of a march or block of a table; until ropes get slack for the first time."""


def with_motion(path: Path) -> bool:
    return any(isinstance(step.procedure, Dynamic) for step in fem.read_deck(path).steps)


DECKS = [path for path in sorted((ROOT / "inputs").glob("*.inp")) if "*DYNAMIC" in path.read_text().upper()]


def shortened(model: Model, increments: int) -> Model:
    """Up to its first dynamic step, that one with few increments."""
    number = next(k for k, step in enumerate(model.steps) if isinstance(step.procedure, Dynamic))
    step = model.steps[number]
    procedure = step.procedure
    assert isinstance(procedure, Dynamic)
    if procedure.dt:
        period = min(procedure.period, increments * procedure.dt)
    else:
        period = 1e-3 * procedure.period
    shorter = replace(step, procedure=replace(procedure, period=period))
    return replace(model, steps=(*model.steps[:number], shorter))


def instants_of(model: Model, apart: int) -> list[float]:
    """The end of every so many increments of the last step, where these are all known."""
    procedure = model.steps[-1].procedure
    start = 0.0
    for step in model.steps[:-1]:
        start += step.procedure.period
    end = start + procedure.period
    if not procedure.direct:
        return [end]
    count = max(1, round(procedure.period / procedure.dt))
    return [*(start + k * procedure.dt for k in range(apart, count, apart)), end]


def twins(model: Model, apart: int = 2) -> tuple[Model, Model, list[float], dict[str, np.ndarray]]:
    """The model with its amplitudes sampled as tables, the same with USER ones; instants, values there by name."""
    last = model.steps[-1]
    procedure = last.procedure
    assert isinstance(procedure, Dynamic | Static)
    start = sum(step.procedure.period for step in model.steps[:-1])
    entries = [*last.boundaries, *last.rotations, *last.nodal_loads, *last.distributed_loads, *last.winches]
    entries += [*last.temperatures, *last.fluid_loads]
    names = {each.amplitude for each in entries if each.amplitude}
    names |= {name for load in last.fluid_loads for name in load.streams if name}
    instants = instants_of(model, apart)
    tables, users, values = dict(model.amplitudes), dict(model.amplitudes), {}
    for name in names:
        amplitude = model.amplitudes[name]
        curve = Follow(amplitude, start if amplitude.time == "STEP TIME" else 0.0)
        found = evaluate(curve, np.array([start, *instants]))
        points = np.column_stack([[start, *instants], found])
        tables[name] = Amplitude(name, "TABULAR", "TOTAL TIME", points)
        users[name] = Amplitude(name, "USER", "TOTAL TIME", np.array([[0.0, found[0]]]))
        values[name] = found[1:]
    return replace(model, amplitudes=tables), replace(model, amplitudes=users), instants, values


def contents(folder: Path) -> dict[str, bytes]:
    """All files but ``run.json`` and the checkpoint, which say how it was driven."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in files.items()
        if name not in ("run.json", "checkpoint.npz", "checkpoint_before.npz")
    }


def assert_same(one: Path, other: Path) -> None:
    first, second = contents(one), contents(other)
    assert sorted(first) == sorted(second)
    assert [name for name, text in first.items() if second[name] != text] == []


def drive(user: Model, output: Path, instants: list[float], values: dict[str, np.ndarray], detour: bool) -> None:
    """Through all instants; with a detour another way is tried first from the middle on."""
    with fem.stepper(user, output=output) as sim:
        assert not sim.is_finished
        kept = None
        for number, instant in enumerate(instants):
            if detour and number == len(instants) // 2:
                kept = sim.save()
                for name, its in values.items():
                    sim[name] = 0.9 * its[number]
                sim.advance_to(instant)
                sim.restore(kept)
            for name, its in values.items():
                sim[name] = its[number]
            sim.advance_to(instant)
        assert sim.is_finished
        assert len(sim.history()) > len(instants)


SLOW = {
    "lazy_wave_laid", "moored_vessel", "galloping_spans", "bergdahl", "moored_buoy", "slack_chain", "line_section",
    "driven_fairleads",
}  # fmt: skip
"""Decks of 0.6 s and more of processor time."""


@pytest.mark.long_cases("ball_on_table")
@pytest.mark.parametrize("path", [path for path in DECKS if path.stem not in SLOW][::3], ids=lambda path: path.stem)
def test_files_are_those_of_a_run(path: Path, tmp_path: Path) -> None:
    """Law: with inputs that are the deck's, also after going back, every file is that of ``fem.run``."""
    table, user, instants, values = twins(shortened(fem.read_deck(path), FEW))
    fem.run(table, output=tmp_path / "run")
    drive(user, tmp_path / "driven", instants, values, detour=True)
    assert_same(tmp_path / "run", tmp_path / "driven")


@pytest.mark.long
@pytest.mark.parametrize("path", DECKS, ids=lambda path: path.stem)
def test_files_of_whole_decks(path: Path, tmp_path: Path) -> None:
    """The same over the whole of the deck's motion, or ``MANY`` increments of it (``MOST``), of some without going
    back, too."""
    model = shortened(fem.read_deck(path), MOST.get(path.stem, MANY))
    table, user, instants, values = twins(model, apart=20 if path.stem == WHOLE else 2)
    try:
        fem.run(table, output=tmp_path / "run")
    except fem.NoConvergence:
        pytest.skip("the deck stops by itself")
    for detour in (True, False) if path in DECKS[::4] else (True,):
        drive(user, tmp_path / f"driven{detour}", instants, values, detour)
        assert_same(tmp_path / "run", tmp_path / f"driven{detour}")


CRANE = ROOT / "inputs" / "driven_crane.inp"


def pulled(dt: float = 0.01, period: float = 1.0, **step: object) -> Model:
    """A mass of 2 kg on a bar of 200 N/m along x; USER amplitudes pull it (FORCE) and move its support (PLACE)."""
    mast = fem.Builder("a mass on a bar, driven")
    ends = mast.nodes([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    mast.bars(ends, area=1e-4, modulus=2e6, strain="ENGINEERING")
    mast.masses(ends[1], 2.0)
    mast.support(ends[0])
    mast.support(ends[1], 2, 3)
    mast.dynamic(period, dt, **step)
    mast.load(ends[1], (1.0, 0.0, 0.0), amplitude=mast.amplitude("FORCE"))
    mast.move(ends[0], 1, 1.0, amplitude=mast.amplitude("PLACE"))
    return mast.model()


def test_what_is_set_belongs_to_the_end_of_the_next_interval() -> None:
    with fem.stepper(pulled()) as sim:
        sim["place"] = 0.02
        assert sim["place"] == sim.inputs["PLACE"] == 0.0
        sim.advance(0.1)
        assert sim["PLACE"] == 0.02 and sim.time == pytest.approx(0.1, abs=1e-15)
        assert sim.u(1).tolist() == pytest.approx([0.02, 0.0, 0.0], abs=1e-15)
        assert sim.v(1)[0] == pytest.approx(0.2, rel=1e-12)  # the slope
        sim.advance(0.1)  # it stays
        assert sim.u(1)[0] == 0.02 and sim.v(1)[0] == 0.0
        history = sim.history()
    middle = history.of_node(1)[5, 0]
    assert middle == pytest.approx(0.01, rel=1e-12)  # along a straight line


def test_value_and_rate_is_the_cubic_of_hermite() -> None:
    """A cubic is its own interpolant: place, velocity and acceleration between the instants are exact."""

    def cubic(t: float) -> tuple[float, float, float]:
        return 0.3 * t**2 - 0.2 * t**3, 0.6 * t - 0.6 * t**2, 0.6 - 1.2 * t

    with fem.stepper(pulled()) as sim:
        for k in range(1, 6):
            place, rate, _ = cubic(0.2 * k)
            sim["PLACE"] = place, rate
            sim.advance_to(0.2 * k)
        history = sim.history()
    exact = np.array([cubic(t) for t in history.time[1:].tolist()])
    found = np.stack([history.of_node(1, name)[1:, 0] for name in "uva"], axis=1)
    assert found == pytest.approx(exact, abs=1e-12)


RODS = """*NODE
1, 0., 0., 0.
2, 0., 0., -1.
3, 0.6, 0., -1.8
*ELEMENT, TYPE=T3D2, ELSET=R
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*DENSITY
1.
*INEXTENSIBLE
*SOLID SECTION, ELSET=R, MATERIAL=M
1.
*AMPLITUDE, NAME=PLACE, DEFINITION=USER
*BOUNDARY
1, 1, 3
*STEP, NLGEOM, INC=1000000
*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}
{dt}, 2.
*BOUNDARY, AMPLITUDE=PLACE
1, 1, 1, 1.
*DLOAD
R, GRAV, 9.81, 0., 0., -1.
*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF
*END STEP
"""


@pytest.mark.parametrize("scheme", ["NEWMARK", "GENERALIZED ALPHA, RHO=0.8", "ENERGY MOMENTUM"])
def test_rods_follow_a_jump_with_second_order(scheme: str) -> None:
    """A swinging double pendulum whose support jumps by 0.3: halves of dt leave quarters of the error."""
    ends = []
    for count in (40, 80, 160):
        model = fem.parse_deck(RODS.format(scheme=scheme, dt=1.0 / count))
        with fem.stepper(model, history=False) as sim:
            sim.advance(0.5)
            before = sim.energies["external_work"]
            sim.jump("PLACE", 0.3)
            sim.advance(0.5)
            ends.append(sim.u(3))
            assert abs(sim.energies["external_work"] - before) > 0.1
            error = abs(sim.energies["energy_error"])
    first, second = (np.linalg.norm(one - other) for one, other in pairwise(ends))
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.15)
    assert error < (1e-8 if scheme == "ENERGY MOMENTUM" else 1e-3)


@pytest.mark.parametrize("scheme", ["NEWMARK", "ENERGY MOMENTUM"])
def test_a_rod_brings_its_node_to_the_nearest_place(scheme: str) -> None:
    """A hanging pendulum: the node is on the straight line from the new support to where it was; at rest (g dt)."""
    text = RODS.format(scheme=scheme, dt=1e-6).replace("3, 0.6, 0., -1.8\n", "").replace("2, 2, 3\n", "")
    with fem.stepper(fem.parse_deck(text), history=False) as sim:
        sim.jump("PLACE", 0.3)
        sim.advance(1e-6)
        place = np.array([0.0, 0.0, -1.0]) + sim.u(2)
        assert place == pytest.approx([0.3 - 0.3 / 1.09**0.5, 0.0, -1.0 / 1.09**0.5], abs=1e-10)
        assert np.abs(sim.v(2)).max() < 2e-5


def test_a_jump_is_at_once_and_its_energy_is_work_from_outside() -> None:
    """A force that jumps to F: x = F/k (1 - cos w t), from where it was at rest; dt^2 apart."""
    with fem.stepper(pulled(dt=0.002)) as sim:
        sim.advance(0.1)
        sim.jump("FORCE", 1.0)
        assert sim.inputs["FORCE"] == 1.0 and sim.tension(1) == 0.0
        for _ in range(5):
            sim.advance(0.1)
            assert sim.u(2)[0] == pytest.approx((1.0 - np.cos(10.0 * (sim.time - 0.1))) / 200.0, abs=1e-5)
        sim.jump("PLACE", 0.01)
        before = sim.u(2)[0]
        sim.advance(0.002)
        assert sim.u(1)[0] == 0.01
        assert sim.u(2)[0] == pytest.approx(before, abs=2e-4)  # it has mass
        assert abs(sim.energies["energy_error"]) < 1e-6


def test_velocity_that_is_set_is_integrated() -> None:
    """TYPE=VELOCITY: what is set is v, u its integral over all intervals since the start of the step."""
    text = fem.write_deck(pulled()).replace("*BOUNDARY, AMPLITUDE=PLACE", "*BOUNDARY, AMPLITUDE=PLACE, TYPE=VELOCITY")
    assert "VELOCITY" in text
    with fem.stepper(fem.parse_deck(text)) as sim:
        for value in (0.1, 0.3, 0.3, -0.1):
            sim["PLACE"] = value
            sim.advance(0.1)
        assert sim.v(1)[0] == pytest.approx(-0.1, rel=1e-12)
        sim.advance(0.1)
        whole = 0.1 * (0.05 + 0.2 + 0.3 + 0.1 - 0.1)
        assert sim.u(1)[0] == pytest.approx(whole, rel=1e-12)
        sim.jump("PLACE", 0.2)
        sim.advance(0.1)
        assert sim.u(1)[0] == pytest.approx(whole + 0.02, rel=1e-12) and sim.v(1)[0] == 0.2


def test_increments_end_at_every_instant() -> None:
    """Off the grid, too, which begins anew there; instants a round-off apart are one."""
    with fem.stepper(pulled()) as sim:
        for instant in (0.013, 0.1, 0.1 + 0.2, 0.55):
            sim.advance_to(instant)
            assert sim.time == pytest.approx(instant, abs=1e-14)
        assert sim.history().time[:4] == pytest.approx([0.0, 0.01, 0.013, 0.023])
    with fem.stepper(pulled()) as sim:
        for _ in range(10):
            sim.advance(0.1)
        assert sim.is_finished and len(sim.history()) == 101


def test_steps_before_and_after() -> None:
    """Those before ``step`` are run; the ends of steps are passed in one advance, too."""
    crane = fem.read_deck(CRANE)
    short = replace(crane.steps[1], procedure=replace(crane.steps[1].procedure, period=0.5))
    model = replace(crane, steps=(crane.steps[0], short, short))
    with fem.stepper(model, step=2) as sim:
        assert sim.time == 1.0
        assert sim.tension("ROPE") == pytest.approx([9.81 * (500.0 + 0.5 * 1.2 * 8.0)], rel=1e-9)
        sim["TROLLEY"] = 0.1
        sim.advance_to(1.75)
        assert sim.u(1)[0] == pytest.approx(0.1, rel=1e-12)
        sim.advance_to(2.0)
        assert sim.is_finished
        history = sim.history()
    assert set(history.step) == {1, 2, 3}
    rows = (history.time > 1.0) & (history.time < 1.75)
    assert history.of_node(1)[rows, 0] == pytest.approx((history.time[rows] - 1.0) / 7.5, rel=1e-9)


def test_winch_pays_out_what_is_set() -> None:
    """Amplitudes that kernels evaluate are set, too: the load sinks by what is paid out, and what the rope gives."""
    with fem.stepper(CRANE) as sim:
        for instant in (1.5, 2.0, 2.5):
            sim["HOIST"] = 0.1 * (instant - 1.0) ** 2, 0.2 * (instant - 1.0)  # so slowly that the rope stays taut
            sim.advance_to(instant)
            assert sim.tension(1) > 4000.0
            natural = 8.0 + sim["HOIST"]
            length = natural * (1.0 + sim.tension(1) / 1.5e7)  # T = EA (l/L0 - 1)
            assert sim.u(2)[2] == pytest.approx(8.0 - length, abs=1e-9)


def test_states_of_other_steps_and_the_end_are_gone_back_to() -> None:
    """Restore from the start, from within a step that is over, and from the end: the same numbers follow."""
    crane = fem.read_deck(CRANE)
    short = replace(crane.steps[1], procedure=replace(crane.steps[1].procedure, period=0.2))
    sim = fem.stepper(replace(crane, steps=(crane.steps[0], short, short)), step=2)

    def go_on(*instants: float) -> list[float]:
        found = []
        for instant in instants:
            sim["TROLLEY"] = 0.3 * (instant - 1.0)
            sim.advance_to(instant)
            found += [*sim.u(2), sim.tension(1), sim.energies["kinetic"]]
        return found

    kept = [sim.save()]
    whole = go_on(1.1)
    kept.append(sim.save())
    whole += go_on(1.25)
    kept.append(sim.save())
    whole += go_on(1.4)
    kept.append(sim.save())
    history = sim.history()
    assert sim.is_finished
    for number in (1, 0, 2, 3):
        sim.restore(kept[number])
        assert sim.is_finished == (number == 3)
        assert go_on(*[1.1, 1.25, 1.4][number:]) == whole[5 * number :]
        again = sim.history()
        assert np.array_equal(again.motion, history.motion) and np.array_equal(again.energy, history.energy)
    sim.close()


def test_fem_run_and_check_take_the_first_value_and_say_so() -> None:
    told = "amplitude TROLLEY (DEFINITION=USER) keeps its initial value 0, unless fem.stepper sets it"
    assert told in fem.check(CRANE).notices
    model = fem.read_deck(CRANE)
    short = replace(model.steps[1], procedure=replace(model.steps[1].procedure, period=0.5))
    history = fem.run(replace(model, steps=(model.steps[0], short)))
    assert told in history.notices
    assert np.abs(history.of_node(2)[:, 0]).max() == 0.0


def test_deck_is_written_back() -> None:
    model = fem.read_deck(CRANE)
    assert fem.parse_deck(fem.write_deck(model)) == model


def test_errors_say_what_is_wrong() -> None:
    with fem.stepper(pulled()) as sim:
        with pytest.raises(KeyError, match=r"(?s)WIND.*FORCE.*PLACE"):
            sim["WIND"] = 1.0
        with pytest.raises(KeyError, match="9"):
            sim.u(9)
        for wrong in (np.nan, np.inf, (1.0, np.nan), (1.0, 2.0, 3.0)):
            with pytest.raises(CommandError, match="finite"):
                sim["FORCE"] = wrong
        sim.advance(0.1)
        for back in (0.1, 0.05, np.nan):
            with pytest.raises(CommandError, match=r"not later than now|not finite"):
                sim.advance_to(back)
        with pytest.raises(CommandError, match="positive"):
            sim.advance(0.0)
        with pytest.raises(CommandError, match="ends at 1"):
            sim.advance(1.0)
        sim.advance_to(1.0)
        with pytest.raises(CommandError, match="has ended"):
            sim.advance(0.1)
        with pytest.raises(CommandError, match="has ended"):
            sim["FORCE"] = 1.0
    with pytest.raises(CommandError, match="2: the deck has 1"):
        fem.stepper(pulled(), step=2)


def test_after_an_error_what_was_reached_is_read_and_a_state_is_gone_back_to(tmp_path: Path) -> None:
    model = pulled(integrator="HHT")
    hard = replace(model.steps[0], controls=replace(model.steps[0].controls, max_iterations=1))
    sim = fem.stepper(replace(model, steps=(hard,)), output=tmp_path / "out")
    sim.advance(0.1)
    kept = sim.save()
    sim["PLACE"] = 1e6
    with pytest.raises(fem.NoConvergence) as error:
        sim.advance(0.1)
    assert len(error.value.history) == 11
    assert sim.time == pytest.approx(0.1) and sim.u(1)[0] == 0.0
    unheard = fem.stepper(replace(model, steps=(hard,)), history=False)
    unheard.advance(0.1)
    unheard["PLACE"] = 1e6
    with pytest.raises(fem.NoConvergence) as same:
        unheard.advance(0.1)
    assert str(same.value) == str(error.value) and unheard.time == sim.time
    with pytest.raises(CommandError, match="restore"):
        sim.advance(0.1)
    sim.restore(kept)
    sim.advance(0.1)
    assert len(sim.history()) == 21
    sim.close()
    assert fem.load(tmp_path / "out").time[-1] == pytest.approx(0.2)
    with pytest.raises(CommandError, match="closed"):
        sim.advance(0.1)


def test_rows_of_many_advances_are_joined() -> None:
    """Law: a history does not depend on how a run was cut into intervals."""
    with fem.stepper(pulled(dt=0.001)) as sim:
        for _ in range(600):
            sim.advance(0.001)
        single = sim.history()
    with fem.stepper(pulled(dt=0.001)) as sim:
        sim.advance(0.6)
        whole = sim.history()
    for name in ("time", "motion", "energy", "elements", "increment"):
        assert np.array_equal(getattr(single, name), getattr(whole, name)), name


def test_history_is_left_out_where_nobody_wants_it() -> None:
    with fem.stepper(pulled(), history=False) as sim:
        sim.advance(0.5)
        assert sim.u(1).tolist() == [0.0, 0.0, 0.0]
        with pytest.raises(CommandError, match="not stored"):
            sim.history()


@pytest.mark.parametrize("integrator", ["HHT", "ENERGY MOMENTUM"])
@pytest.mark.parametrize(("kind", "solver"), [*((kind, "AUTO") for kind in KINDS), ("DISPLACEMENT", "DIRECT")])
def test_chunks_in_arrays_that_are_there_have_the_same_numbers(kind, solver, integrator, monkeypatch) -> None:
    """Law: to the last bit as chunks in new arrays, whatever the inputs move and however they are set; and whether
    somebody hears of increments or not, also with linear solves outside the march.
    """
    text = fem.write_deck(pulled(period=2.0, integrator=integrator))
    text = text.replace("*BOUNDARY, AMPLITUDE=PLACE", f"*BOUNDARY, AMPLITUDE=PLACE, TYPE={kind}")
    model, used, alike = fem.parse_deck(text), [], []

    def driven(history: bool) -> tuple[fem.Stepper, list[np.ndarray]]:
        sim, found = fem.stepper(model, history=history, solver=solver), []
        for k in range(1, 31):
            sim["FORCE"] = np.sin(0.3 * k)
            sim["PLACE"] = 0.1 * np.sin(0.5 * k) if k % 3 else (0.1 * np.sin(0.5 * k), np.cos(0.5 * k))
            if k == 20:
                sim.jump("PLACE" if kind == "DISPLACEMENT" else "FORCE", 0.05)
            sim.advance(0.05 if k < 15 else 0.01)
            found += [*readings(sim), np.array([sim.time])]
        return sim, found

    monkeypatch.setattr(Refill, "fits", lambda self, *given: used.append(fits(self, *given)) or used[-1])
    monkeypatch.setattr(StepRun, "repeat", lambda self, *given: alike.append(repeat(self, *given)) or alike[-1])
    found, read = driven(history=True)
    assert used.count(True) > 15 and set(alike) == {None}
    unheard, numbers = driven(history=False)
    assert alike.count(step_run.QUIET if solver == "AUTO" else NEED_SOLVE) > 15 and alike.count(None) > 0
    monkeypatch.setattr(step_run, "refill_of", lambda *given: None)
    other, numbers_of_other = driven(history=True)
    for each, its, another in zip(read, numbers, numbers_of_other, strict=True):
        assert np.array_equal(each, its, equal_nan=True) and np.array_equal(each, another, equal_nan=True)
    assert unheard.notices == found.notices
    found, other = found.history(), other.history()
    assert np.array_equal(found.motion, other.motion) and np.array_equal(found.elements, other.elements)
    assert np.array_equal(found.energy, other.energy) and np.ptp(found.of_node(1)[:, 0]) > 0.001


def readings(sim: fem.Stepper) -> list[np.ndarray]:
    nodal = [read() for read in (sim.u, sim.v, sim.a, sim.reaction, sim.position)]
    return [*nodal, sim.tension(), np.array(list(sim.energies.values()))]


def test_whole_arrays_are_read_and_stay_as_they_are() -> None:
    """Law: of all nodes and elements at the end of the last interval, as its history has them, also where nothing is
    stored; what was read before does not change.
    """
    model = fem.read_deck(CRANE)
    places = model.mesh.coordinates
    with fem.stepper(model) as sim, fem.stepper(model, history=False) as bare:
        before, kept = readings(bare), bare.save()
        assert np.array_equal(before[-3], places + before[0])
        found = []
        for k in range(1, 9):
            for each in (sim, bare):
                each["TROLLEY"] = 0.01 * k**2, 0.2 * k
                each.advance(0.1)
            found.append((readings(bare), [each.copy() for each in readings(bare)], readings(sim)))
        history = sim.history()
        assert np.array_equal(found[-1][0][0], history.motion[-1, 0])
        assert np.array_equal(sim.position(2), places[1] + sim.u(2))
        assert sim.tension().tolist()[0] == sim.tension("ROPE").tolist()[0] == sim.tension(1)
        bare.restore(kept)
        assert all(map(np.array_equal, readings(bare), before))
    for now, copies, others in found:
        assert all(map(np.array_equal, now, copies)) and all(map(np.array_equal, now, others))


def test_run_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    """Law: stopped somewhere, taken up again with the same inputs: the same bytes."""
    text = fem.write_deck(fem.read_deck(CRANE)).replace("*STEP", "*RESTART, WRITE, FREQUENCY=7\n*STEP", 1)
    (tmp_path / "crane.inp").write_text(text.replace("0.01, 30.0", "0.01, 0.5"))

    def drive_on(sim: object, last: float) -> None:
        while sim.time < last - 1e-9:
            sim["TROLLEY"] = (0.5 * (sim.time + 0.05 - 1.0) ** 2, sim.time + 0.05 - 1.0)
            sim.advance(0.05)

    with fem.stepper(tmp_path / "crane.inp", output=tmp_path / "whole") as sim:
        drive_on(sim, 1.5)
        assert sim.is_finished
    with fem.stepper(tmp_path / "crane.inp", output=tmp_path / "cut") as sim:
        drive_on(sim, 1.3)
    with pytest.raises(CommandError, match=r"fem\.stepper True"):
        fem.runner.run_to_files(tmp_path / "crane.inp", tmp_path / "cut", goes_on=True)
    with fem.stepper(tmp_path / "crane.inp", output=tmp_path / "cut", goes_on=True) as sim:
        assert sim.time == pytest.approx(1.3, abs=1e-12)  # the interval under way was completed
        drive_on(sim, 1.5)
    first, second = contents(tmp_path / "whole"), contents(tmp_path / "cut")
    assert [name for name in first if first[name] != second[name]] == []


@pytest.mark.parametrize(
    ("deck", "cases"),
    [
        ("pendulum_lumped", [{"increments": 100}, {"Increments": 100, "duration": 0.5}, {"DURATION": 0.25}]),
        ("hanging_chain", [{"bars": 8}, {"bars": 6}, {"bars": 8}]),
    ],
)
def test_prepared_deck_is_run_as_by_fem_run(deck: str, cases: list[dict[str, float]]) -> None:
    """Law: to the last bit, notices included; also where the values change what the deck consists of."""
    path, (first, *others) = ROOT / "inputs" / f"{deck}.inp", cases
    prepared = fem.prepare(path, parameters=first)
    for values in ({}, *others):
        again = prepared.run(values)
        alone = fem.run(path, parameters={name.upper(): value for name, value in {**first, **values}.items()})
        assert again.model == alone.model and again.model.parameters == alone.model.parameters
        assert np.array_equal(again.motion, alone.motion) and np.array_equal(again.elements, alone.elements)
        assert again.notices == alone.notices
    with pytest.raises(CommandError, match=r"no \*PARAMETER WIDTH"):
        prepared.run({"width": 1.0})
    with pytest.raises(CommandError, match="a deck given by its path"):
        fem.prepare(prepared.model())


def test_a_step_that_begins_while_a_program_sets_counts_from_its_start():
    """An acceleration that rises from 2 to 5 in a second and then stays: v = 3.5 and x = 1.5 at the start of the step
    are no part of its integrals."""
    live = live_ones({"A": 2.0})["A"]
    live.begin(0.4)
    for now, then in ((0.4, 1.4), (1.4, 2.4)):
        live.numbers[GIVEN:] = 5.0, 0.0, 1.0
        reach(now, then, live.numbers[None])
        if now == 0.4:
            at = np.array([then])
            assert [evaluate(live, at, order, since=0.4)[0] for order in (-1, -2)] == pytest.approx([3.5, 1.5])
            live.begin(1.4)
    at = np.array([1.4, 2.4])
    assert evaluate(live, at, -1, since=1.4) == pytest.approx([0.0, 5.0], abs=1e-14)
    assert evaluate(live, at, -2, since=1.4) == pytest.approx([0.0, 2.5], abs=1e-14)
