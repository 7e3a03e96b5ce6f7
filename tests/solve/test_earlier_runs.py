"""``*RESTART, READ``: the steps of a new deck begin with the state of an earlier run, as if they stood in its deck."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fem
import fem.solve.checkpoint as checkpoint
from benchmarks.reliability.card_decks import card_decks
from benchmarks.reliability.going_on_decks import ROPE, SWING, dynamic, hanging, several, step, with_checkpoints
from fem.cli import main
from fem.deck import read_deck
from fem.errors import CommandError, DeckError
from fem.runner import run_to_files
from fem.runs import write as run_files
from fem.runs.checkpoint import changed_parts, digests_of, parts_of, read_checkpoint
from fem.runs.run_record import versions
from fem.solve.checkpoint import TYPES
from tests.solve.test_going_on import TWISTED, contents, crashing

WRITE = "*RESTART, WRITE\n"
READ = "*RESTART, READ"
END = "*END STEP\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def parts(deck: str) -> tuple[str, list[str]]:
    """The model, and the steps one by one."""
    model, *steps = re.split(r"(?m)^(?=\*STEP)", deck)
    return model, steps


def run(name: str, deck: str, earlier: str | None = None) -> None:
    Path(f"{name}.inp").write_text(deck)
    run_to_files(f"{name}.inp", name, quiet=True, earlier=earlier)


def rows(folder: str, table: str, first_step: int = 1) -> list[str]:
    """Lines of the steps from one on, which then count from 1."""
    found = []
    for line in Path(folder, table).read_text().splitlines()[1:]:
        number, rest = line.split(",", 1)
        if int(number) >= first_step:
            found.append(f"{int(number) - first_step + 1},{rest}")
    return found


def slack_then_taut(count: int) -> str:
    """Ropes that swing, with the first node driven from the second step on."""
    drive = "*BOUNDARY, AMPLITUDE=SWING\n1, 1, 1, 0.05\n"
    event = "*CONTROLS, IMPACT=EVENT, ENERGY DRIFT=OFF\n"
    first, second = (step(dynamic("NEWMARK", 0.004, count), event + extra) for extra in ("", drive))
    return hanging(ROPE, first + second, SWING)


DECKS = {"several": several(20), "ropes": slack_then_taut(30)} | card_decks(8)
DECKS |= {path.stem: path.read_text() for path in TWISTED[1:]}
SPLITS = [(name, last) for name, deck in DECKS.items() for last in range(1, len(parts(deck)[1]))]
WITHOUT_MODES = ("water and wind", 3), ("water and wind", 4)
"""Where the second deck would superpose modes that it does not look for."""


@pytest.mark.parametrize(("name", "last"), [each for each in SPLITS if each not in WITHOUT_MODES])
@pytest.mark.sampled(5)
def test_two_decks_are_as_good_as_one(name: str, last: int) -> None:
    """The steps up to ``last`` in one deck, the others in another: the same rows, digit for digit."""
    model, steps = parts(DECKS[name])
    run("whole", model + "".join(steps))
    run("first", model + WRITE + "".join(steps[:last]))
    run("second", f"{model}{READ}\n{''.join(steps[last:])}", earlier="first")
    tables = [path.name for path in Path("second").glob("*.csv")]
    assert any(rows("second", table) for table in tables)
    for table in tables:
        assert rows("second", table) == rows("whole", table, last + 1), table


FURTHER = f"*STEP, NLGEOM\n{dynamic('HHT', 0.001, 2)}\n*CONTROLS, ENERGY DRIFT=OFF\n*END STEP\n"


@pytest.mark.parametrize("name", DECKS)
@pytest.mark.sampled(4)
def test_a_step_without_cards_goes_on_from_any_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What winches, water and wind act on is that of the earlier run, at the end of a step and within it."""
    model, steps = parts(DECKS[name])
    kept: list[bytes] = []
    write = run_files.write_checkpoint

    def written(path: Path, *what: Any) -> None:
        write(path, *what)
        kept.append(path.read_bytes())

    monkeypatch.setattr(run_files, "write_checkpoint", written)
    run("first", with_checkpoints(model + "".join(steps), 7))
    monkeypatch.setattr(run_files, "write_checkpoint", write)
    seen = set[tuple[int, int]]()
    for number, content in enumerate(kept):
        Path("first/checkpoint.npz").write_bytes(content)
        read = checkpoint.handed_on(read_checkpoint(Path("first/checkpoint.npz"), versions(), TYPES))
        step, increment = list(read)[-1]
        seen |= set(read)
        run(f"second {number}", f"{READ}, STEP={step}, INC={increment}, END STEP\n{FURTHER}", earlier="first")
        assert rows(f"second {number}", "increments.csv")[-1].startswith("1,2,")
    assert {step for step, _ in seen} == set(range(1, len(steps) + 1))


@pytest.mark.parametrize("name", ["winches", "water and wind"])
def test_what_only_the_second_deck_acts_on_begins_as_it_is(name: str) -> None:
    """A first step without winches and flows, in a deck of its own: the motion is the same but for round-off."""
    model, steps = parts(DECKS[name])
    plain = step(dynamic("HHT", 0.002, 8), "*CONTROLS, ENERGY DRIFT=OFF\n")
    plain = plain.replace("LINE, GRAV", "WEIGHTS, GRAV") if "WEIGHTS" in model else plain
    further = steps[0].replace("*STEP, NLGEOM\n", "*STEP, NLGEOM, EXTRAPOLATION=NO\n")
    run("whole", model + plain.replace("*STEP, NLGEOM", "*STEP, NLGEOM, EXTRAPOLATION=NO") + further)
    run("first", model + WRITE + plain)
    run("second", f"{model}{READ}\n{further}", earlier="first")
    for table in ("nodes.csv", "elements.csv"):
        found, wanted = (np.loadtxt(rows(*of), delimiter=",") for of in (("second", table), ("whole", table, 2)))
        scale = np.abs(wanted).max(axis=0)
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-6 * scale.max(), err_msg=table)


@pytest.mark.parametrize("integrator", ["NEWMARK", "ENERGY MOMENTUM"])
def test_a_step_may_be_left_early(integrator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """END STEP: as if the earlier step had ended there."""
    model, (short, _) = parts(slack_then_taut(12).replace("NEWMARK", integrator))
    _, (long, further) = parts(slack_then_taut(16).replace("NEWMARK", integrator))
    run("short", model + WRITE + short)
    # the state at increment 12 is the last one kept of a run that goes on to 16
    monkeypatch.setattr(checkpoint.Checkpoints, "ended", lambda *_: None)
    run("long", model + "*RESTART, WRITE, FREQUENCY=12\n" + long)
    run("after short", f"{model}{READ}, STEP=1\n{further}", earlier="short")
    run("after long", f"{model}{READ}, STEP=1, INC=12, END STEP\n{further}", earlier="long")
    for table in ("increments.csv", "nodes.csv", "elements.csv", "events.csv"):
        assert rows("after long", table) == rows("after short", table)
    record = json.loads(Path("after long/run.json").read_text())
    assert (record["earlier"]["step"], record["earlier"]["increment"]) == (1, 12)
    with pytest.raises(CommandError, match=r"increment 12 is not the end of step 1 of long/.*END STEP"):
        run("other", f"{model}{READ}, STEP=1, INC=12\n{further}", earlier="long")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("2e4", "3e4", r"\*MATERIAL, NAME=M"),
        ("LINE, 200.", "LINE, 201.", r"\*INITIAL CONDITIONS"),
        ("3, 0.32,", "3, 0.33,", r"\*NODE"),
        ("NALL, 2\n", "NALL, 2\n3, 1\n", r"\*BOUNDARY before the first step"),
        ("MATERIAL=M\n1.", "MATERIAL=M\n2.", r"\*SOLID SECTION"),
        ("*AMPLITUDE", "*NSET, NSET=NEW\n2\n*AMPLITUDE, NAME=OTHER\n0., 0., 1., 1.\n*AMPLITUDE", ""),
    ],
)
def test_a_changed_model_is_refused_by_name(old: str, new: str, what: str) -> None:
    """Sets and amplitudes may be added, as in Abaqus."""
    model, steps = parts(several(8))
    run("first", model + WRITE + steps[0])
    second = f"{model.replace(old, new)}{READ}\n{steps[1]}"
    if not what:
        run("second", second, earlier="first")
        return
    with pytest.raises(CommandError, match=rf"the model is not that of first/checkpoint\.npz: {what} changed"):
        run("second", second, earlier="first")


def test_states_that_are_not_held_are_refused_with_those_that_are() -> None:
    model, steps = parts(several(8))
    run("first", model + WRITE + steps[0])
    for wish in ("STEP=2", "STEP=1, INC=3"):
        with pytest.raises(
            CommandError, match=r"does not contain the state that .* names; it contains STEP=1, INC=\d+$"
        ):
            run("second", f"{model}{READ}, {wish}\n{steps[1]}", earlier="first")


def test_the_card_and_the_option_need_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    """No command takes a deck that continues for one that starts from nothing."""
    model, steps = parts(several(8))
    run("first", model + WRITE + steps[0])
    Path("second.inp").write_text(f"{model}{READ}\n{steps[2]}")
    assert main(["run", "second.inp", "--quiet"]) == 2
    assert "fem run DECK --from FOLDER names its folder" in capsys.readouterr().err
    assert main(["run", "first.inp", "--from", "first", "--quiet", "--output", "other"]) == 2
    assert "--from needs *RESTART, READ in the deck" in capsys.readouterr().err
    assert main(["run", "second.inp", "--from", "nowhere", "--quiet"]) == 2
    assert "nowhere contains no checkpoint.npz: the earlier run needs *RESTART, WRITE" in capsys.readouterr().err
    assert main(["lyapunov", "second.inp", "--quiet"]) == 2
    assert "other commands cannot continue from it" in capsys.readouterr().err
    assert main(["run", "second.inp", "--from", "first", "--output", "second", "--quiet"]) == 0


def test_a_run_after_another_goes_on_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped in its turn, and continued; from Python as from the command line."""
    model, steps = parts(several(8))
    run("first", model + WRITE + steps[0])
    Path("second.inp").write_text(f"{model}{READ}\n*RESTART, WRITE, FREQUENCY=3\n{steps[2]}{steps[3]}")
    found = fem.run("second.inp", earlier="first", output="whole")
    assert found.time[0] == fem.run("first.inp").time[-1] > 0.0
    crashing(monkeypatch, 2, "second.inp", earlier="first")
    assert contents("cut") != contents("whole")
    run_to_files("second.inp", "cut", quiet=True, goes_on=True, earlier="first")
    assert contents("cut") == contents("whole")


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ("*RESTART, READ\n*RESTART, READ\n", "is given twice"),
        ("*RESTART, READ, INC=3\n", "INC= needs STEP="),
        ("*RESTART\n", "needs WRITE or READ"),
        ("*RESTART, READ, STEP=0\n", "a positive integer"),
    ],
)
def test_mistakes_in_the_card_are_told(cards: str, message: str) -> None:
    model, steps = parts(several(8))
    with pytest.raises(DeckError, match=message):
        fem.parse_deck(model + cards + steps[0])
    with pytest.raises(DeckError, match="after the first"):
        fem.parse_deck(model + steps[0].replace(END, f"{READ}\n{END}"))


@pytest.mark.parametrize("card", ["READ, END STEP, STEP=2, INC=5", "READ", "WRITE, FREQUENCY=4", "WRITE"])
def test_the_card_is_written_as_it_was_read(card: str) -> None:
    model, steps = parts(several(8))
    read = fem.parse_deck(f"{model}*RESTART, {card}\n{steps[0]}")
    assert fem.parse_deck(fem.deck.write_deck(read)) == read


def test_further_steps_alone_take_the_model_of_the_earlier_deck() -> None:
    """As Abaqus and CalculiX have it; also with parameters that the earlier run was given."""
    model, steps = parts(several(8))
    model = "*PARAMETER\nUNUSED = 1.\n" + model
    Path("first.inp").write_text(model + WRITE + steps[0])
    run_to_files("first.inp", "first", {"UNUSED": 2.0}, quiet=True)
    run("whole", f"{model}{READ}\n{steps[1]}", "first")
    run("alone", f"*HEADING\nmore\n{READ}\n{steps[1]}", "first")
    for table in ("increments.csv", "nodes.csv", "elements.csv"):
        assert Path("alone", table).read_bytes() == Path("whole", table).read_bytes()
    loaded = fem.load("alone")
    assert loaded.model == fem.read_deck("alone.inp", earlier=[(Path("first.inp"), {"UNUSED": 2.0})])
    assert not any("cannot be read" in notice for notice in loaded.notices)
    Path("first.inp").unlink()
    with pytest.raises(CommandError, match="the deck cannot be read"):
        fem.load("alone")
    with pytest.raises(DeckError, match=r"no \*NODE"):
        run("alone", f"{READ}\n{steps[1]}", "first")


def test_a_model_that_has_changed_meanwhile_is_refused() -> None:
    model, steps = parts(several(8))
    run("first", model + WRITE + steps[0])
    Path("first.inp").write_text(re.sub(r"(?m)^(\*DENSITY\n).*$", r"\g<1>123.", model) + WRITE + steps[0])
    with pytest.raises(CommandError, match="is not that of"):
        run("alone", f"{READ}\n{steps[1]}", "first")


def test_the_earlier_deck_and_its_includes_are_files_of_the_new_one() -> None:
    model, steps = parts(several(8))
    Path("model.inp").write_text(model)
    run("first", f"*INCLUDE, INPUT=model.inp\n{WRITE}{steps[0]}")
    Path("second.inp").write_text(f"{READ}\n{steps[1]}")
    read = fem.deck.read_deck("second.inp", earlier=[(Path("first.inp"), {})])
    assert [Path(name).name for name in read.files] == ["second.inp", "first.inp", "model.inp"]
    Path("model.inp").write_text(model + "** a remark\n")
    assert fem.deck.read_deck("second.inp", earlier=[(Path("first.inp"), {})]).digest != read.digest


FAIRLEADS = read_deck(Path(__file__).parents[2] / "inputs" / "driven_fairleads.inp")
CHANGEABLE = {
    "amplitudes", "heading", "time_points", "files", "digest", "restart_every", "parameters", "inherited", "notices",
    "steps", "earlier", "extensions", "failures", "source", "driven", "laid", "text", "given", "found",
}  # fmt: skip
"""Fields of a model that may differ in a run that goes on from another one."""


def test_a_restart_looks_at_every_field_of_a_model():
    """But at those that may change: a new kind of data is in one of the two lists."""
    seen = set()

    class Watched:
        def __getattr__(self, name):
            seen.add(name)
            return getattr(FAIRLEADS, name)

    parts_of(Watched())
    assert seen | CHANGEABLE == {each.name for each in dataclasses.fields(FAIRLEADS)} and not seen & CHANGEABLE


def test_another_rigid_body_is_seen():
    moved = dataclasses.replace(FAIRLEADS, bodies=FAIRLEADS.bodies[:-1])
    assert changed_parts(digests_of(FAIRLEADS), digests_of(moved)) == ["*RIGID BODY"]


def test_decks_of_further_steps_follow_each_other() -> None:
    """Three decks, of which the first alone has a mesh, and the second a set that the third asks for."""
    model, steps = parts(several(8))
    last = steps[1].replace("*END STEP", "*NODE PRINT, NSET=MORE\nU\n*END STEP")
    run("whole", f"{model}*NSET, NSET=MORE\n2\n{steps[0]}{steps[1]}{last}")
    run("first", model + WRITE + steps[0])
    run("second", f"*NSET, NSET=MORE\n2\n{READ}\n{WRITE}{steps[1]}", "first")
    run("third", f"{READ}\n{last}", "second")
    for table in ("increments.csv", "nodes.csv", "elements.csv"):
        assert rows("third", table) == rows("whole", table, 3)
    assert json.loads(Path("third", "run.json").read_text())["earlier"]["folder"] == "../second"


@pytest.mark.parametrize("alone", [True, False])
def test_lines_are_laid_as_in_the_first_deck(alone: bool) -> None:
    """Under the loads of its first step, with what falls off later, however many runs lie between."""
    model = (
        "*NODE, NSET=ENDS\n1, 0, 0, 0\n9, 10, 0, 0\n*NSET, NSET=NALL\nENDS\n*NGEN, LINE=CATENARY\n1, 9, 1, 11.\n"
        "*ELEMENT, TYPE=T3D2, ELSET=LINE\n"
        "1, 1, 2\n*ELGEN, ELSET=LINE\n1, 8\n*MATERIAL, NAME=M\n*ELASTIC\n1e6\n*DENSITY\n1.\n*NO COMPRESSION\n"
        "*SOLID SECTION, ELSET=LINE, MATERIAL=M\n1.\n*BOUNDARY\nENDS, 1, 3\n"
        "*NONSTRUCTURAL MASS, ELSET=LINE, UNITS=MASS PER LENGTH, NAME=ICE\n0.5\n"
        "*AQUA\n-50., 5., 9.81, 1000.\n"
    )
    first = step("*STATIC", "*DLOAD\nLINE, PB, 1., 0.01\n*CLOAD\n5, 3, -3.\n").replace(
        "*STEP", "*STEP, AMPLITUDE=STEP", 1
    )
    thaw = "*MODEL CHANGE, TYPE=NONSTRUCTURAL MASS, REMOVE\nICE\n*CONTROLS, ENERGY DRIFT=OFF\n"
    run("first", model + WRITE + first)
    for name, before, cards in (("second", "first", thaw), ("third", "second", "")):
        further = step(dynamic("HHT", 0.01, 3), cards).replace("*DLOAD\nLINE, GRAV, 9.81, 0., 0., -1.\n", "")
        run(name, f"{'' if alone else model}{READ}\n{WRITE}{further}", before)
    assert rows("third", "increments.csv")[-1].startswith("1,3,")


@pytest.mark.parametrize("alone", [True, False])
def test_ends_clamped_in_the_first_step_stay_so(alone: bool) -> None:
    """The directions that the first deck holds from its first step on are held in the next one."""
    bent = (Path(__file__).parents[2] / "inputs" / "cantilever.inp").read_text().replace("0.01, 1.", "0.01, 0.05")
    clamp = "*BOUNDARY\n1, ENCASTRE\n"
    model, (first, second) = parts(bent.replace(clamp, "", 1))
    first = first.replace("*CLOAD", f"{clamp}*CLOAD")
    second = second.replace("*END STEP", "*NODE PRINT, NSET=ROD\nU, SK, SM\n*END STEP")
    run("whole", model + first + second)
    run("first", model + WRITE + first)
    run("second", f"{'' if alone else model}{READ}\n{second}", "first")
    assert rows("second", "nodes.csv") == rows("whole", "nodes.csv", 2)
