"""What a script or an installed package registers is read, written, solved, printed and refused as what is built in."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.compiled.interpreted import rehearsal
from fem.deck.kinds import POSITIVE_NUMBER
from fem.deck.table import DataLine, Form, Value
from fem.errors import CommandError, ModelError
from fem.forces.protocol import Family
from fem.solve.schemes import newmark

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "docs" / "soft_ground.py"
STIFFNESS, MASS, PULL = 50.0, 2.0, 10.0


REGISTER = fem.register


@contextmanager
def registering(monkeypatch, name, text):
    """The module of a script, and what it registers, until the block ends."""
    added = []

    def register(*names: object, **what: object) -> object:
        added.append(REGISTER(*names, **what))
        return added[-1]

    monkeypatch.setitem(sys.modules, name, module := type(sys)(name))
    monkeypatch.setattr(fem, "register", register, raising=False)
    try:
        exec(compile(text, name, "exec"), module.__dict__)
        yield module
    finally:
        for each in added:
            each.remove()


@pytest.fixture
def ground(monkeypatch):
    """The page's example."""
    with registering(monkeypatch, "soft_ground", EXAMPLE.read_text()) as module:
        yield module


def test_force_integrator_and_quantity_act_as_their_formulas_say(ground):
    """A mass on a spring, loaded at once: u = P/k (1 - cos wt); linear acceleration: period error (w dt)^2/24."""
    model = fem.parse_deck(ground.DECK)
    with rehearsal():
        history = fem.run(model)
    omega = (STIFFNESS / MASS) ** 0.5
    exact = PULL / STIFFNESS * (1.0 - np.cos(omega * history.time))
    assert history.of_node(1)[:, 1] == pytest.approx(exact, abs=1e-6)
    assert history.of_node(1, "SPEED") == pytest.approx(np.abs(history.of_node(1, "V")[:, 1]))
    assert np.abs(history.energy_error).max() < 1e-6 * PULL**2 / STIFFNESS


def test_decks_are_written_and_compared(ground):
    model = fem.parse_deck(ground.DECK)
    again = fem.parse_deck(fem.write_deck(model))
    assert again == model and again.others == (ground.SoftGround("ALL", STIFFNESS),)
    assert {"*SOFT GROUND", "*NODE PRINT of SPEED"} <= {*model.extensions}
    assert replace(model, others=()) != model


def test_a_secant_scheme_keeps_its_energy(ground):
    text = ground.DECK.replace("LINEAR ACCELERATION", "ENERGY MOMENTUM").replace("0.001,", "0.02,")
    with rehearsal():
        history = fem.run(fem.parse_deck(text))
    assert np.abs(history.energy_error).max() < 1e-12


def test_mistakes_in_the_deck_have_their_place(ground):
    for old, new, told in (
        ("NSET=ALL\n50.", "NSET=NONE\n50.", "there is no node set NONE"),
        ("\n50.", "\n-50.", "the stiffness must be positive"),
        ("*SOFT GROUND, NSET=ALL", "*SOFT GROUND", "*SOFT GROUND needs NSET="),
    ):
        with pytest.raises(fem.DeckError, match=told.replace("*", r"\*")):
            fem.parse_deck(ground.DECK.replace(old, new))


def test_what_is_removed_is_unknown_again(ground):
    with fem.register("THRICE", quantity=lambda of: 3.0 * of["U"], unit="length", axes="123"):
        assert fem.parse_deck(ground.DECK.replace("U, SPEED", "THRICE")).extensions
    ignored = "THRICE of *NODE PRINT"
    assert any(ignored in text for text in fem.parse_deck(ground.DECK.replace("U, SPEED", "U, THRICE")).notices)


def length_now(of):
    first, second = np.moveaxis(of.ends("COORD"), -2, 0)
    return np.linalg.norm(second - first, axis=-1)


def kink(of):
    """Angle between the two bars at a node; 0 at ends of lines."""
    found = np.zeros(of["COORD"].shape[:-1])
    for place, node in enumerate(of.indices):
        beside = np.array([b if a == node else a for a, b in of.model.mesh.element_nodes if node in (a, b)])
        if len(beside) == 2:
            x, y = np.moveaxis(of.at("COORD", beside) - of["COORD"][..., place, None, :], -2, 0)
            found[..., place] = np.pi - np.arccos(
                (x * y).sum(-1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)
            )
    return found


def test_a_quantity_of_nodes_asks_for_those_beside_them(tmp_path):
    """The corner of two rods at right angles is the only node that is printed; the angle is that of all positions."""
    deck = tmp_path / "corner.inp"
    deck.write_text(
        """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 1, -1, 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
2, 2, 3
*NSET, NSET=CORNER
2
*MATERIAL, NAME=M
*ELASTIC
1e4
*DENSITY
100.
*SOLID SECTION, ELSET=BAR, MATERIAL=M
0.01
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.2
*DLOAD
BAR, GRAV, 9.81, 0, -1, 0
*NODE PRINT, NSET=CORNER
U, KINK
*END STEP
"""
    )
    with fem.register("KINK", quantity=kink, unit="", neighbours=True), rehearsal():
        history = fem.run(deck, output=tmp_path / "out")
    printed = np.genfromtxt(tmp_path / "out" / "nodes.csv", delimiter=",", names=True)
    first, corner, last = (
        history.of_node(node) + np.array(at) for node, at in ((1, (0, 0, 0)), (2, (1, 0, 0)), (3, (1, -1, 0)))
    )
    way, on = corner - first, last - corner
    turned = np.arctan2(way[:, 1], way[:, 0]) - np.arctan2(on[:, 1], on[:, 0])
    assert turned[0] == pytest.approx(np.pi / 2) and np.ptp(turned) > 0.1
    assert printed["KINK"] == pytest.approx(turned)
    with fem.register("KINK", quantity=kink, unit="", neighbours=True):
        assert history.of_node(2, "KINK") == pytest.approx(turned)


@pytest.mark.parametrize("request_of_nodes", ["*NODE PRINT, NSET=TIP\nU, V, A, RF\n", ""])
def test_a_quantity_of_elements_asks_for_those_of_their_ends(tmp_path, request_of_nodes):
    """E = (l^2 - L^2)/(2 L^2) of the Green strain, with the l that ends have: in tables and in memory, whatever is
    printed of nodes."""
    text = (
        (ROOT / "inputs" / "sdnl100.inp").read_text().replace("*NODE PRINT, NSET=TIP\nU, V, A, RF\n", request_of_nodes)
    )
    deck = tmp_path / "swing.inp"
    deck.write_text(text.replace("E, S, N, T", "E, REACH").replace("1.E8", "1.E3"))
    with fem.register("REACH", quantity=length_now, of="elements", unit="length"):
        history = fem.run(deck, output=tmp_path / "out")
        printed = fem.load(tmp_path / "out").table("elements")
        assert history.table("elements")["REACH"].tolist() == history.of_element(1, "REACH").tolist()
        assert printed["REACH"].tolist() == pytest.approx(history.of_element(1, "REACH").tolist(), abs=1e-14)
    strain = history.of_element(1, "E")
    assert np.ptp(strain) > 1e-3
    assert printed["REACH"] == pytest.approx(np.sqrt(1.0 + 2.0 * strain), abs=1e-14)


def test_other_codes_refuse_it_by_its_line(ground, tmp_path):
    deck = tmp_path / "ground.inp"
    deck.write_text(ground.DECK.replace("LINEAR ACCELERATION", "NEWMARK"))
    with pytest.raises(fem.DeckError, match=r"ground.inp:9:1: error: registered keywords .*: CalculiX cannot"):
        fem.export_deck(deck, "calculix", tmp_path)


@dataclass(frozen=True)
class Weight:
    value: float


LINE = DataLine("a number", Value("value", POSITIVE_NUMBER, "a number"))


@pytest.mark.parametrize(
    ("name", "what", "told"),
    [
        ("NEWMARK", {"integrator": newmark}, "there is an integrator NEWMARK already"),
        ("U", {"quantity": abs}, "there is a quantity U already"),
        ("SF", {"quantity": abs, "of": "elements"}, "there is a quantity SF already"),
        ("speed", {"quantity": abs}, "'speed' is no name for a quantity"),
        ("SPEED", {"quantity": abs, "of": "bars"}, "of nodes or of elements"),
        ("SEA BED", {"keyword": Form(Weight, line=LINE)}, "there is a keyword SEA BED already"),
        ("WEIGHT", {"keyword": Form(dict, line=LINE)}, "objects of a dataclass of its own"),
        ("run!", {"command": print}, "'run!' is no name for a command"),
        ("WEIGHT", {}, "register one of"),
        ("WEIGHT", {"command": print, "quantity": abs}, "register one of"),
        ("WEIGHT", {"force": Family("seabed", None, None)}, "there is a force seabed already"),
        ("WEIGHT", {"force": Family("weight", None, print)}, "evaluate has to be a @called_kernel"),
    ],
)
def test_what_cannot_be_registered_is_refused(name, what, told):
    with pytest.raises(CommandError, match=told):
        fem.register(name, **what)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("part * k\n", "part * k * 0.5\n", r"d F2 of node 1 / d u2 of node 1 = 25, where differences .* give 50"),
        ("* part * k\n", "* k\n", r"of a secant scheme: .* d u2 of node 1 = 50, where differences .* give 25"),
        ("nodes[m], 4]", "nodes[m], 3]", r"d F2 of node 1 / d u1 of node 1 = 50, where .* give 0"),
        ("0.5 * k * u * u", "k * u * u", r"its energy rises by .*: what does not come from the energy belongs to flow"),
    ],
)
def test_a_wrong_tangent_is_named_in_the_first_model(monkeypatch, old, new, told):
    text = EXAMPLE.read_text()
    assert text.count(old) == 1
    changed = registering(monkeypatch, "wrong_ground", text.replace(old, new))
    with changed as module, rehearsal(), pytest.raises(ModelError, match=told):
        fem.run(fem.parse_deck(module.DECK))


def test_a_check_finds_a_wrong_tangent(monkeypatch):
    text = EXAMPLE.read_text().replace("trial.weight * part * k", "trial.weight * k / 2")
    with registering(monkeypatch, "wrong_ground", text) as module:
        (found,) = [text for text in fem.check(fem.parse_deck(module.DECK)).findings if "refuses" in text]
    assert "the tangent has d F2 of node 1 / d u2 of node 1 = 25, where differences of the force give 50" in found


def installed(folder: Path, text: str) -> None:
    """A package with an entry point, as pip would leave it."""
    (folder / "soft_ground.py").write_text(text)
    info = folder / "soft_ground-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: soft-ground\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fem]\nground = soft_ground\n")


def fem_there(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(ROOT)!r}]; from fem.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_an_installed_package_is_found_where_something_is_not_known(tmp_path, ground):
    installed(tmp_path, EXAMPLE.read_text())
    (tmp_path / "deck.inp").write_text(ground.DECK)
    told = fem_there(tmp_path, "count", "deck.inp")
    assert (told.returncode, told.stdout) == (0, f"{len(ground.DECK.splitlines())} lines\n"), told.stderr
    checked = fem_there(tmp_path, "check", "deck.inp")
    assert checked.returncode == 0, checked.stderr
    helped = fem_there(tmp_path, "help", "soft", "ground")
    assert helped.returncode == 0, helped.stderr
    assert all(each in helped.stdout for each in ("springs along y", "NSET= (needed)", "Data line: the stiffness"))
    other = fem_there(tmp_path, "counts", "deck.inp")
    assert other.returncode == 2 and "did you mean count?" in other.stderr


@pytest.mark.long
def test_help_lists_the_commands_of_installed_packages(tmp_path):
    """Each way to ask for it; one that cannot be imported is named below, and takes nothing else away."""
    installed(tmp_path, EXAMPLE.read_text())
    for asked in ([], ["--help"], ["-h"]):
        assert "\n    count " in fem_there(tmp_path, *asked).stdout
    (tmp_path / "soft_ground.py").write_text("import nothing_of_this_name\n")
    told = fem_there(tmp_path, "--help")
    assert told.returncode == 0 and "\n    run " in told.stdout, told.stderr
    assert "note: the installed addition ground (soft_ground) cannot be loaded" in told.stdout


@pytest.mark.long
def test_a_quantity_alone_imports_an_installed_package(tmp_path):
    """In the deck, in a list of series, and beside a keyword of the same package, whichever comes first."""
    installed(tmp_path, EXAMPLE.read_text())
    text = (ROOT / "inputs" / "sdnl100.inp").read_text().replace("U, V, A, RF", "U, SPEED")
    (tmp_path / "deck.inp").write_text(text)
    (tmp_path / "both.inp").write_text(text.replace("*BOUNDARY", "*SOFT GROUND, NSET=TIP\n1e-3\n*BOUNDARY", 1))
    for deck in ("deck.inp", "both.inp"):
        checked = fem_there(tmp_path, "check", deck)
        assert "*NODE PRINT of SPEED" in checked.stdout, checked.stderr
    swept = fem_there(tmp_path, "sweep", "deck.inp", "--vary", "V3_n2=0,0.01", "--record", "SPEED_n2", "--workers", "1")
    assert swept.returncode == 0, swept.stderr
    assert "SPEED_n2_max" in (tmp_path / "results" / "deck_sweep" / "sweep.csv").read_text()


@pytest.mark.long
def test_a_quantity_that_is_not_known_does_not_stop_for_a_package_that_cannot_be_loaded(tmp_path):
    installed(tmp_path, "import nothing_of_this_name\n")
    (tmp_path / "deck.inp").write_text((ROOT / "inputs" / "sdnl100.inp").read_text().replace("U, V, A, RF", "U, SPEED"))
    told = fem_there(tmp_path, "check", "deck.inp")
    assert told.returncode == 0 and "SPEED of *NODE PRINT" in told.stdout
    assert "the installed addition ground (soft_ground) cannot be loaded" in told.stdout


@pytest.mark.long
def test_an_installed_package_that_cannot_be_loaded_is_named(tmp_path, ground):
    installed(tmp_path, "import nothing_of_this_name\n")
    (tmp_path / "deck.inp").write_text(ground.DECK)
    for command in ("check", "count"):
        told = fem_there(tmp_path, command, "deck.inp")
        assert told.returncode == 2
        assert "the installed addition ground (soft_ground) cannot be loaded: No module named" in told.stderr
        assert "Traceback" not in told.stderr


@pytest.mark.long
def test_the_mistakes_of_a_deck_come_before_an_addition_that_cannot_be_loaded(tmp_path):
    """Whether it is the addition that knows the card, or the card is misspelt, the deck says where it stands."""
    installed(tmp_path, "import nothing_of_this_name\n")
    deck = (ROOT / "inputs" / "sdnl100.inp").read_text().replace("*DENSITY", "*DENSTY")
    (tmp_path / "deck.inp").write_text(deck)
    told = fem_there(tmp_path, "run", "deck.inp")
    assert told.returncode == 2
    first, *_, last = told.stderr.splitlines()
    assert "error: unknown keyword *DENSTY; did you mean *DENSITY?" in first and "1 error in the deck" in told.stderr
    assert last.startswith("note: the installed addition ground (soft_ground) cannot be loaded: No module named")


@pytest.mark.long
def test_a_command_of_the_program_is_not_replaced(tmp_path):
    installed(tmp_path, "import fem\nfem.register('run', command=print)\n")
    told = fem_there(tmp_path, "count", "deck.inp")
    assert told.returncode == 2 and "fem run is a command of the program" in told.stderr
