"""Runs that were stopped and go on: the same bytes as without a break, whatever lives through them."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import fem
import fem.solve.checkpoint as checkpoint
from benchmarks.reliability.card_decks import card_decks
from benchmarks.reliability.going_on_decks import decks, net, with_checkpoints
from fem.assembly.environment import Environment
from fem.assembly.system import assemble
from fem.cli import main
from fem.commands.files import FolderLock, GrowingFile
from fem.deck import KEYWORDS
from fem.deck.source import squeezed
from fem.errors import CommandError
from fem.forces.families import FAMILIES, acting
from fem.linear.factors import is_installed
from fem.model.steps import Procedure
from fem.runner import run_to_files
from fem.runs import write as run_files
from fem.runs.fields import field_name
from fem.solve.checkpoint import Checkpoints
from fem.solve.schemes import SCHEMES
from fem.solve.step_run import StepRun

SIZE = 24
TWISTED = [Path(__file__).parents[2] / f"inputs/{name}.inp" for name in ("helical_spring", "crane_hook", "turned_hose")]
DECKS = decks(SIZE) | card_decks(SIZE // 3) | {path.stem: path.read_text() for path in TWISTED}
DECKS["helical_spring"] = DECKS["helical_spring"].replace("\n0.5, 1.\n", "\n0.1, 1.\n")


class Crash(Exception):
    """The process is gone."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def contents(folder: str) -> dict[str, bytes]:
    """All files of a run, ``run.json`` without its timing."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    record = json.loads(found["run.json"])
    del record["timing"]
    return found | {"run.json": json.dumps(record).encode()}


def write(deck: str, every: int | None = None) -> None:
    Path("deck.inp").write_text(deck if every is None else with_checkpoints(deck, every))


def crashing(monkeypatch: pytest.MonkeyPatch, at: int, deck: str = "deck.inp", **options: Any) -> int:
    """A run that ends as soon as checkpoint number ``at`` is written; how many were."""
    count, write_it = 0, run_files.write_checkpoint

    def counted(*what: Any) -> None:
        nonlocal count
        write_it(*what)
        count += 1
        if count == at:
            raise Crash

    monkeypatch.setattr(run_files, "write_checkpoint", counted)
    try:
        run_to_files(deck, "cut", quiet=True, **options)
    except Crash:
        assert count >= at
    monkeypatch.setattr(run_files, "write_checkpoint", write_it)
    return count


def assert_goes_on(monkeypatch: pytest.MonkeyPatch, seed: int, **options: Any) -> None:
    """``deck.inp``, stopped once or twice somewhere, ends as the whole run does."""
    chance = random.Random(seed)
    most = crashing(monkeypatch, 0, **options)
    shutil.rmtree("whole", ignore_errors=True)
    Path("cut").rename("whole")
    crashing(monkeypatch, chance.randint(1, most - 1), **options)
    assert contents("cut") != contents("whole")
    if chance.random() < 0.5:
        crashing(monkeypatch, 1, goes_on=True, **options)
    run_to_files("deck.inp", "cut", quiet=True, goes_on=True, **options)
    whole, cut = contents("whole"), contents("cut")
    assert [name for name in {*whole, *cut} if whole.get(name) != cut.get(name)] == []


@pytest.mark.parametrize("name", DECKS)
@pytest.mark.sampled(10)
def test_every_file_ends_with_the_same_bytes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(DECKS[name], every=random.Random(name).randint(1, 5))
    assert_goes_on(monkeypatch, seed=len(name))


TEXT = {"INCLUDE", "RESTART"}
"""Cards of text alone, tested below, and the card of checkpoints, which all these decks are given."""


def test_every_card_procedure_scheme_and_family_has_a_deck() -> None:
    """One that comes anew needs a deck here in which runs are stopped and go on."""
    cards, procedures, schemes, families = set[str](), set[type](), set[str](), set[str]()
    for deck in DECKS.values():
        cards |= {squeezed(name) for name in re.findall(r"(?m)^\*([A-Za-z ]+)", deck)}
        model = fem.parse_deck(deck)
        procedures |= {type(step.procedure) for step in model.steps}
        schemes |= {getattr(step.procedure, "integrator", "") or "NEWMARK" for step in model.steps}
        families |= {family.name for family, _ in acting(assemble(model).families)}
    assert [name for name in KEYWORDS if name not in TEXT and squeezed(name) not in cards] == []
    assert procedures == set(get_args(Procedure))
    assert schemes == set(SCHEMES)
    assert families == {family.name for family in FAMILIES}


def data_in(hint: Any, found: set[type]) -> set[type]:
    """Classes of frozen data that an annotation can lead to."""
    for part in get_args(hint):
        data_in(part, found)
    if is_dataclass(hint) and isinstance(hint, type) and hint not in found:
        found.add(hint)
        for inside in get_type_hints(hint).values():
            data_in(inside, found)
    return found


def test_all_data_that_steps_hand_on_can_be_read_again() -> None:
    assert data_in(Environment, set()) <= set(checkpoint.KINDS)


FACTORS = ["SUPERLU", pytest.param("PARDISO", marks=pytest.mark.skipif(not is_installed("pypardiso"), reason="extra"))]


@pytest.mark.parametrize("solver", FACTORS)
def test_kept_factors_go_on(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later solves depend on which tangent the factor is of, which is kept for several increments."""
    write(net(23, 8), every=1)
    assert_goes_on(monkeypatch, seed=23, solver=solver)


@pytest.mark.parametrize(("solver", "cells"), [("CG", 5), ("DIRECT", 5)])
def test_solvers_go_on(solver: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write(net(cells, 8), every=1)
    assert_goes_on(monkeypatch, seed=cells, solver=solver)


def test_all_at_once_has_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints by wall time, however often they come, change no byte, and none is left when the run is complete."""
    write(DECKS["several"])
    run_to_files("deck.inp", "whole", quiet=True)
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHORTEST", 0.0)
    assert crashing(monkeypatch, 0) > 10
    assert contents("cut") == contents("whole")
    assert not Path("cut/checkpoint.npz").exists()
    assert_goes_on(monkeypatch, seed=3)


def test_a_full_disk_takes_nothing_but_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no room for a table any more, which ends in half a row; with room again the run goes on."""
    write(DECKS["rods"], every=3)
    run_to_files("deck.inp", "whole", quiet=True)
    most = Path("whole/nodes.csv").stat().st_size // 2
    real = GrowingFile.add

    def add(self: GrowingFile, content: bytes | memoryview) -> None:
        if self.size + len(content) > most:
            real(self, bytes(content)[: most - self.size])
            raise OSError(errno.ENOSPC, "No space left on device", "nodes.csv")
        real(self, content)

    monkeypatch.setattr(GrowingFile, "add", add)
    assert main(["run", "deck.inp", "--output", "cut", "--quiet"]) == 4
    assert "No space left on device; the same command with --continue continues from" in capsys.readouterr().err
    monkeypatch.setattr(GrowingFile, "add", real)
    assert main(["run", "deck.inp", "--output", "cut", "--quiet", "--continue"]) == 0
    assert contents("cut") == contents("whole")


# ------------------------------------------------------------------------------------------------- nothing is forgotten
STEADY = {"work", "directed_mass", "ties", "whole", "sink", "_tangent", "opened", "opened_mass", "_kept", "is_compiled"}
STEADY |= {"recorded", "_room", "room", "desk", "node_index", "element_index", "marching", "planned", "_rods", "forms"}
STEADY |= {"marches", "_pieces", "_places", "_instants", "wide", "trials", "_gap"}
"""Attributes not looked into: scratch room, masses written anew before they are read, what belongs to the run, solvers
(tested above), whether machine code is there, what all records of a step share, labels looked up when asked for; calls
with their arrays, parts of increments, loads, places of rods and supports, what instants with the same ropes at their
length have in common, each used again only for the same ones."""


def leaves(thing: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """All numbers, texts and arrays that can be reached from an object of ours, copied."""
    if isinstance(thing, np.ndarray):
        yield path, (thing.dtype.str, thing.shape, thing.tobytes())
    elif isinstance(thing, (bool, int, float, str, bytes, np.generic)) or thing is None:
        yield path, repr(thing)
    elif id(thing) not in seen:
        seen.add(id(thing))
        if isinstance(thing, dict):
            inside = {str(key): value for key, value in thing.items()}
            yield f"{path} keys", list(inside)
        elif hasattr(thing, "_fields") and isinstance(thing, tuple):
            inside = thing._asdict()
        elif isinstance(thing, (list, tuple)):
            inside = {str(number): value for number, value in enumerate(thing)}
            yield f"{path} length", len(thing)
        elif type(thing).__module__.startswith("fem."):
            slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
            inside = {name: getattr(thing, name) for name in (*vars_of(thing), *slots)}
        else:
            return
        for name, value in inside.items():
            if name not in STEADY and not callable(value):
                yield from leaves(value, f"{path}.{name}", seen)


def vars_of(thing: Any) -> tuple[str, ...]:
    return (*getattr(thing, "__dict__", ()), *getattr(thing, "changing", ()))


def everything(step_run: StepRun) -> dict[str, Any]:
    return dict(leaves(step_run, "", set()))


@pytest.mark.parametrize("name", DECKS)
@pytest.mark.sampled(10)
def test_nothing_that_lives_is_forgotten(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has changed since a step began is among ``parts``; put back, all of it has the values it had."""
    seen: list[tuple[dict[str, Any], dict[str, Any]]] = []
    faults: list[str] = []
    look, chance, count = Checkpoints.look, random.Random(name), 0

    def compare(self: Checkpoints, step_run: StepRun) -> None:
        nonlocal count
        if step_run.clock.is_finished:
            kept = step_run.state()
            for state, then in seen:
                step_run.restore(state)
                back = everything(step_run)
                faults.extend(path for path in {*back, *then} if back.get(path) != then.get(path))
                count += 1
            step_run.restore(kept)
            seen.clear()
        elif chance.random() < 0.3:
            seen.append((step_run.state(), everything(step_run)))
        look(self, step_run)

    monkeypatch.setattr(Checkpoints, "look", compare)
    write(DECKS[name], every=1)
    run_to_files("deck.inp", "whole", quiet=True)
    assert count > 1 and faults == []


# ------------------------------------------------------------------------------------------------------ ends, refusals
def interrupted(monkeypatch: pytest.MonkeyPatch, number: int, after: int) -> int:
    """``fem run`` that gets a signal during a chunk; its exit code."""
    look, count = Checkpoints.look, 0

    def struck(self: Checkpoints, step_run: StepRun) -> None:
        nonlocal count
        count += 1
        if count == after:
            signal.raise_signal(number)
        look(self, step_run)

    monkeypatch.setattr(Checkpoints, "look", struck)
    code = main(["run", "deck.inp", "--output", "cut", "--quiet"])
    monkeypatch.setattr(Checkpoints, "look", look)
    return code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_keep_the_state(
    number: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Between chunks, with no *RESTART in the deck; the message says how to go on."""
    write(DECKS["ropes at rest"])
    run_to_files("deck.inp", "whole", quiet=True)
    assert interrupted(monkeypatch, number, after=9) == code
    assert "the same command with --continue continues from cut/checkpoint.npz" in capsys.readouterr().err
    assert 0 < len(Path("cut/increments.csv").read_bytes()) < len(Path("whole/increments.csv").read_bytes())
    assert main(["run", "deck.inp", "--output", "cut", "--continue"]) == 0
    assert "continuing after 9 increments, from time 0.375" in capsys.readouterr().out
    assert contents("cut") == contents("whole")


def test_a_complete_run_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    write(DECKS["newmark"], every=4)
    run_to_files("deck.inp", "cut", quiet=True)
    before = {path: path.stat().st_mtime_ns for path in Path("cut").rglob("*")}
    assert main(["run", "deck.inp", "--output", "cut", "--continue"]) == 0
    assert capsys.readouterr().out == "cut is complete\n"
    assert {path: path.stat().st_mtime_ns for path in Path("cut").rglob("*")} == before


def test_the_lock_of_a_run_killed_at_its_very_end_goes() -> None:
    """That of a living process stays."""
    write(DECKS["newmark"], every=4)
    run_to_files("deck.inp", "cut", quiet=True)
    lock = FolderLock(Path("cut"))
    lock.acquire()
    assert main(["run", "deck.inp", "--output", "cut", "--continue"]) == 0
    held = Path("cut/.fem-lock").read_bytes()
    lock.release()
    Path("cut/.fem-lock").write_bytes(held)
    assert main(["run", "deck.inp", "--output", "cut", "--continue"]) == 0
    assert not Path("cut/.fem-lock").exists()


def test_without_a_checkpoint_it_starts_anew(capsys: pytest.CaptureFixture[str]) -> None:
    write(DECKS["newmark"])
    run_to_files("deck.inp", "whole", quiet=True)
    assert main(["run", "deck.inp", "--output", "cut", "--continue"]) == 0
    assert capsys.readouterr().out.startswith("cut holds no checkpoint: the run starts from the beginning\n")
    assert contents("cut") == contents("whole")


def damage(content: bytes) -> bytes:
    """Nine bytes of what is kept: between its arrays the file has bytes without a meaning."""
    place = content.index(b"environment")
    return content[:place] + bytes(byte ^ 1 for byte in content[place : place + 9]) + content[place + 9 :]


CHANGES: dict[str, tuple[Callable[[], object], list[str], str]] = {
    "deck": (
        lambda: Path("deck.inp").write_text(Path("deck.inp").read_text() + "** more\n"), [],
        r"cut/checkpoint\.npz belongs to another deck: deck\.inp changed since; start without --continue",
    ),
    "include": (lambda: Path("part.inc").write_text("** other\n"), [], r"another deck: part\.inc changed since"),
    "parameter": (lambda: None, ["--set", "P=2"], r"another deck: <P> changed since"),
    "option": (lambda: None, ["--solver", "band"], r"to a run with --solver auto: start without"),
    "no fields": (lambda: None, ["--no-vtk"], r"to a run with --no-vtk False"),
    "damage": (
        lambda: [path.write_bytes(damage(path.read_bytes())) for path in Path("cut").glob("*.npz")], [],
        r"cut/checkpoint\.npz is damaged \(.+\): start without --continue",
    ),
    "table cut": (
        lambda: Path("cut/nodes.csv").write_bytes(Path("cut/nodes.csv").read_bytes()[:500]), [],
        r"nodes\.csv is shorter than it was at the checkpoint",
    ),
    "table gone": (lambda: Path("cut/nodes.csv").unlink(), [], r"nodes\.csv"),
    "field gone": (lambda: Path("cut/vtu/deck_00001.vtu").unlink(), [], r"deck_00001\.vtu is missing"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_what_has_changed_is_refused_by_name(
    what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change, options, message = CHANGES[what]
    Path("part.inc").write_text("** a part\n")
    write("*PARAMETER\nP = 1\n*INCLUDE, INPUT=part.inc\n" + DECKS["newmark"], every=4)
    crashing(monkeypatch, 4)
    change()
    assert main(["run", "deck.inp", "--output", "cut", "--continue", "--quiet", *options]) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize("hurt", [lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_a_run_goes_on_from_the_checkpoint_before(
    hurt: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a power cut has left nothing of the last one, or an empty file."""
    write(DECKS["newmark"], every=4)
    run_to_files("deck.inp", "whole", quiet=True)
    crashing(monkeypatch, 4)
    hurt(Path("cut/checkpoint.npz"))
    assert main(["run", "deck.inp", "--output", "cut", "--continue", "--quiet"]) == 0
    assert "the run continues from checkpoint_before.npz" in capsys.readouterr().err
    assert contents("cut") == contents("whole")


def test_one_of_the_two_is_always_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """After each writing: the last one, or the one before it, the tables that it counts, and the fields of a last one
    that is there, have been waited for."""
    synced, fates = dict[int, int](), []
    fsync, write_it = os.fsync, run_files.write_checkpoint

    def noted(number: int) -> None:
        fsync(number)
        synced[os.fstat(number).st_ino] = os.fstat(number).st_mtime_ns

    def is_there(path: Path) -> bool:
        return path.exists() and synced.get(path.stat().st_ino) == path.stat().st_mtime_ns

    def counted(path: Path, *what: Any, **how: Any) -> None:
        write_it(path, *what, **how)
        kept = [each for each in (path, path.with_name("checkpoint_before.npz")) if is_there(each)]
        assert kept, len(fates)
        fates.append(kept[0] == path)
        tables = [table for table in path.parent.glob("*.csv") if table.stat().st_size]
        assert all(table.stat().st_ino in synced for table in tables)
        if is_there(path):
            count = len(what[0]["fields"]["entries"])
            assert count and all(is_there(path.parent / field_name("deck", number)) for number in range(count))

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(run_files, "write_checkpoint", counted)
    times = itertools.count(0.0, 0.3)
    monkeypatch.setattr(run_files.time, "monotonic", lambda: next(times))
    write(DECKS["newmark"], every=1)
    run_to_files("deck.inp", "cut", quiet=True)
    assert 2 <= sum(fates) < len(fates) - 2


def test_a_folder_of_others_is_refused_as_ever() -> None:
    write(DECKS["newmark"])
    Path("cut").mkdir()
    Path("cut/notes.txt").touch()
    with pytest.raises(CommandError, match="contains other files"):
        run_to_files("deck.inp", "cut", goes_on=True)
