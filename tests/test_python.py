"""``import fem``: the examples of all its functions run, tables are what pandas takes, what is shown fits a screen."""

from __future__ import annotations

import csv
import doctest
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.arrays import Columns
from fem.model.quantities import NODAL
from tests.sweeping.swings import write_swing

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = sorted(name for name in fem.__all__ if inspect.isfunction(getattr(fem, name)))
NAMES = sorted(set(fem.__all__) - {"__version__"})
NODES = [quantity.name for quantity in NODAL]
OF_WATER = ("FV", "FA", "FE")
"""A deck without water cannot ask for them."""
ASKED = [name for name in NODES if name not in OF_WATER]
DRY = "\n".join(", ".join(ASKED[k : k + 16]) for k in range(0, len(ASKED), 16))
EVERYTHING = f"*NODE PRINT, NSET=BOTH\n{DRY}\n*EL PRINT, ELSET=BAR\nE, S, N, T\n"


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """A pendulum that prints everything, its files in ``out`` beside the deck."""
    folder = tmp_path_factory.mktemp("swing")
    deck = write_swing(folder, "*NODE PRINT, NSET=TIP\nU\n*EL PRINT, ELSET=BAR\nT\n", EVERYTHING)
    deck.write_text(deck.read_text().replace("*STEP", "*NSET, NSET=BOTH\n1, 2\n*STEP", 1))
    return fem.run(deck, output=folder / "out"), folder / "out"


LONG = {"report", "fit", "gradient"}
"""Examples of 4 s and more; ``tests/reports``, ``tests/sweeping/test_fit.py`` and ``tests/sensitivity`` do the same."""


@pytest.mark.long_cases("History", "lyapunov", "sensitivity")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in ("fem", *NAMES)]
)
def test_examples_run(name, tmp_path, monkeypatch):
    """Every public name has one, as a reader types it beside a clone's ``inputs``."""
    shutil.copytree(ROOT / "inputs", tmp_path / "inputs")
    monkeypatch.chdir(tmp_path)
    thing = fem if name == "fem" else getattr(fem, name)
    (found,) = doctest.DocTestFinder(recurse=False).find(thing, name, globs={"fem": fem, name: thing})
    assert found.examples
    said: list[str] = []
    assert doctest.DocTestRunner().run(found, out=said.append).failed == 0, "".join(said)


@pytest.mark.long
def test_nothing_heavy_is_imported_before_it_is_used():
    """Rooms have other names than functions: importing one leaves the function where it was."""
    heavy = "{'numpy', 'scipy', 'numba', 'matplotlib', 'rich'} & set(sys.modules)"
    text = f"import sys, fem, fem.cli; assert not {heavy}, {heavy}\n"
    text += "import fem.show.checking, fem.lines.pendulums, fem.show.plot, fem.study.sections\n"
    text += f"assert all(callable(getattr(fem, name)) for name in {FUNCTIONS})"
    subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True)


@pytest.mark.parametrize("name", ["increments", "nodes", "elements"])
def test_tables_of_a_history_are_those_of_the_files(history, name):
    motion, folder = history
    with (folder / f"{name}.csv").open(newline="") as file:
        heads, *rows = csv.reader(file)
    table = motion.table(name)
    written = {head: column for head, column in table.items() if not head.startswith(OF_WATER)}
    assert list(written) == heads and len(rows) > 20
    assert np.array_equal(np.column_stack(list(written.values())), np.array(rows, float))


def test_pandas_takes_tables_as_they_are(history, tmp_path):
    pandas = pytest.importorskip("pandas")
    sweep = fem.sweep(write_swing(tmp_path), {"length": [1.0, 2.0]})
    for table in (sweep, history[0].table("nodes")):
        frame = pandas.DataFrame(table)
        assert list(frame.columns) == list(table) and len(frame) == len(next(iter(table.values())))


def test_what_is_shown_fits_a_screen(history, tmp_path):
    long = Columns({f"U1_{node}_end": np.zeros(3) for node in range(500)})
    sweep = fem.sweep(write_swing(tmp_path), {"length": [1.0, 0.0]}, history=True)
    net = fem.read_deck(ROOT / "inputs" / "cable_net.inp")
    for thing in (history[0], history[0].model, long, sweep, net):
        assert len(repr(thing)) < 800 and len(repr(thing).splitlines()) <= 6
    assert "1 of 2 parameter sets failed" in repr(sweep) and "..." in repr(long)
    assert "2 nodes" in repr(history[0]) and "node sets: TIP, BOTH" in repr(history[0].model)


def test_a_name_that_is_not_there_is_answered_by_those_that_are(history):
    motion, _ = history
    for wrong, names in (
        (lambda: motion.of_node(7), "there is no node 7; there are 1, 2"),
        (lambda: motion.of_node(2, "W"), f"no quantity W; there are {', '.join(NODES)}"),
        (lambda: motion.of_element(5), "no element 5; there is only 1"),
        (lambda: motion.of_element(1, "F"), "no quantity F; there are E, S, N, T"),
        (lambda: motion.of_energy("heat"), "no energy heat; there are kinetic, strain"),
        (lambda: motion.table("node"), "no table node; there are increments, nodes, elements"),
        (lambda: motion.table("nodes")["U4"], "no column U4; there are step, increment, time, node, U1"),
        (lambda: motion.mesh.nodes_of("tips"), "no node set tips; there are TIP, BOTH"),
    ):
        with pytest.raises(KeyError, match=names):
            wrong()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_explained(name):
    """Where an editor shows it: at the start of a line of the docstring, or after a semicolon, never within text."""
    thing, names = getattr(fem, name), r"((?:\w+, )*\w+)"
    text = inspect.getdoc(thing).partition(">>> ")[0]
    lists = re.findall(rf"^{names}  +\S|;\s+{names}: |^{names}  ?as for|^{names}: as in", text, re.MULTILINE)
    assert set(inspect.signature(thing).parameters) <= {
        each for found in lists for each in ", ".join(found).split(", ")
    }


def test_what_a_program_holds_says_what_it_is(tmp_path):
    """Decks, runs in progress and prepared ones, in a line or a few."""
    prepared = fem.prepare("inputs/driven_crane.inp")
    assert repr(prepared) == "Prepared inputs/driven_crane.inp: run(parameters), model(parameters)"
    assert repr(prepared.model()).startswith("Model of inputs/driven_crane.inp: ")
    with fem.stepper("inputs/driven_crane.inp") as sim:
        sim.advance(0.1)
        assert repr(sim) == "Stepper of inputs/driven_crane.inp: time 1.1, in progress; inputs: TROLLEY=0, HOIST=0"
    assert "time 1.1, closed" in repr(sim)
