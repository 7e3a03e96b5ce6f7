"""Decks for other codes: what our own readers make of them, and what is refused."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.codes.export import CODES, FEATURES, Writing, files_for, forms_of
from fem.codes.from_moordyn import convert
from fem.codes.twin import DIFFERENCES, points_of, times_of, twin_of
from fem.deck import parse_deck, read_deck
from fem.lines.hanging import green_stretch, log_stretch
from fem.model import PARTS, Amplitude
from fem.model.curves import Follow
from fem.model.mesh import BARS, KINDS, REEVED
from tests.codes import decks_of_codes as decks
from tests.codes.decks_of_codes import MOTIONS

ROOT = Path(__file__).resolve().parents[2]
DECKS = sorted((ROOT / "inputs").glob("*.inp"))
SWING = """*HEADING
two bars, a spring between dofs, a support that moves
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.3
*NSET, NSET=ENDS
3
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
7, 3
*SPRING, ELSET=GROUND
3
40.
*ELEMENT, TYPE=SPRINGA, ELSET=STAY
9, 1, 3
*SPRING, ELSET=STAY, NONLINEAR

-10., -0.5
0., 0.
90., 0.6
*MATERIAL, NAME=STEEL
*ELASTIC
5.E3
*DENSITY
2.
*DAMPING, BETA=0.002
{cable}
*SOLID SECTION, ELSET=BARS, MATERIAL=STEEL, STRAIN=ENGINEERING
0.5
*REST LENGTH
2, 1.03
*INITIAL CONDITIONS, TYPE=STRESS
1, 30.
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 3, 0.4
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2, 2, 0.05
*AMPLITUDE, NAME=UP
0., 0., 0.2, 1., 1., 1.
*BOUNDARY
1, 1, 2
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT, ALPHA=-0.1
0.01, 0.4
*CONTROLS, RESI_GLOB_RELA=1.E-10
*BOUNDARY, AMPLITUDE=UP
1, 3, 3, 0.2
*DLOAD
BARS, GRAV, 9.81, 0., 0., -1.
*CLOAD, AMPLITUDE=UP
3, 1, 2.
3, 3, -1.
*NODE PRINT, NSET=ENDS
U
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
0.02, 0.2
*BOUNDARY, OP=NEW
1, 1, 2
*END STEP
"""


def motion_of(text: str) -> np.ndarray:
    return fem.run(parse_deck(text)).u


def test_calculix_deck_is_the_same_motion():
    """Springs along lines with masses at their ends are bars, in every law and every step; to the residual, 1e-8."""
    model = parse_deck(SWING.format(cable=""))
    files, notes = files_for("calculix", model)
    assert [note.split(":")[0] for note in notes] == ["dashpots, BETA"] * 2  # a velocity at the start, a moved support
    assert np.abs(motion_of(files["deck_calculix.inp"]) - fem.run(model).u).max() < 1e-7


def test_damping_of_cables_is_noted():
    _, notes = files_for("calculix", parse_deck(SWING.format(cable="*NO COMPRESSION")))
    assert any("slack" in note for note in notes)


@pytest.mark.parametrize("name", ["sdnl100", "slack_cable"])
def test_calculix_deck_of_a_shipped_deck(name):
    """GREEN strain and one-point mass of stiff bars: forces differ by 1.5 times the strain, 1e-7 and up to 0.03."""
    model = read_deck(ROOT / f"inputs/{name}.inp")
    files, notes = files_for("calculix", model)
    assert [note.split(":")[0] for note in notes] == ["strain"]
    ours, its = fem.run(model), fem.run(parse_deck(files[f"{name}_calculix.inp"]))
    limit = {"sdnl100": 1e-5, "slack_cable": 0.003}[name]
    node = int(model.mesh.node_labels[-1])
    apart = its.of_node(node)[-1] - ours.of_node(node)[-1]
    assert ours.time[-1] == pytest.approx(its.time[-1], rel=1e-12)
    assert 0.0 < np.abs(apart).max() < limit


@pytest.mark.parametrize(("name", "stretched"), [("GREEN", green_stretch), ("LOG", log_stretch)])
def test_a_strain_that_other_codes_do_not_have_is_noted_with_its_difference(name, stretched):
    """(s^2 - 1) s/2 = e + 1.5 e^2 and ln(s)/s = e - 1.5 e^2, to second order in e = s - 1."""
    load = np.array([1e-4])
    elongation = stretched(load) - 1.0
    assert (load - elongation) / elongation**2 == pytest.approx([DIFFERENCES[name]], rel=1e-3)
    text = decks.deck(*decks.SWING, decks.moves("", 0.3, 1.0)).replace("STRAIN=ENGINEERING", f"STRAIN={name}")
    _, notes = files_for("opensees", parse_deck(text))
    assert notes[0] == f"strain: {name} in the deck, elongation over length here; forces differ by 1.5 times the strain"


def test_increments_that_divide_their_step_leave_none_of_no_length():
    """2.1/0.3 is 7.000000000000001."""
    assert times_of(2.0, 2.1, 0.3) == pytest.approx(np.linspace(2.0, 4.1, 8), rel=1e-15)


def test_opensees_weighs_the_end_of_an_increment():
    """Chung & Hulbert (1993) weigh its start, by (2 rho - 1)/(rho + 1) the inertia and by rho/(rho + 1) the forces."""
    text = SWING.format(cable="").replace(
        "TIME INTEGRATOR=HHT, ALPHA=-0.1", "TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.8"
    )
    script = files_for("opensees", parse_deck(text))[0]["deck_opensees.py"]
    (found,) = re.findall(r"'GeneralizedAlpha', ([\d.]+), ([\d.]+)", script)
    assert list(map(float, found)) == pytest.approx([1.0 - 0.6 / 1.8, 1.0 - 0.8 / 1.8], rel=1e-12)


def test_points_of_curves_are_at_total_times():
    curve = Follow(Amplitude("A", points=((0.0, 0.0), (0.2, 1.0), (1.5, 0.5))), 3.0)
    assert sorted(points_of(curve, np.array([3.0, 3.5, 4.0]))) == pytest.approx([3.0, 3.2, 4.0])


def test_numbers_fit_the_columns_of_calculix():
    text = files_for("calculix", read_deck(ROOT / "inputs/slack_chain.inp"))[0]["slack_chain_calculix.inp"]
    words = [
        word.strip() for line in text.splitlines() if line[:1].isdigit() or line[:1] == "-" for word in line.split(",")
    ]
    assert max(map(len, words)) <= 20


def test_abaqus_deck_is_read_back():
    model = read_deck(ROOT / "inputs/cable_net.inp")
    text = files_for("abaqus", model)[0]["cable_net_abaqus.inp"]
    assert not re.search("STRAIN=|MASS=LUMPED|TIME INTEGRATOR|RESI_GLOB|STARTING", text)
    assert "*DYNAMIC, DIRECT, ALPHA=0.0" in text
    back = parse_deck(text)
    assert back.mesh.node_sets.keys() == model.mesh.node_sets.keys()
    assert np.abs(fem.run(back).u - fem.run(model).u).max() < 1e-9


BEAMS = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0.2, 0.
3, 2., 0.2, 0.3
*ELEMENT, TYPE=B31, ELSET=LINE
1, 1, 2
2, 2, 3
*BEAM GENERAL SECTION, ELSET=LINE, DENSITY=7.{flag}
{numbers}

1e3, 400.
*BOUNDARY
1, ENCASTRE
*STEP, NLGEOM
*STATIC
1., 1.
*CLOAD
3, 3, 0.01
*NODE PRINT, NSET=ALL
U, SKT, SM
*EL PRINT, ELSET=LINE
T
*END STEP
"""


@pytest.mark.parametrize(
    "words",
    [
        "APPLICATION=QUASI-STATIC",
        "APPLICATION=MODERATE DISSIPATION",
        "DIRECT, TIME INTEGRATOR=BACKWARD EULER",
        "ALPHA=-0.2",
    ],
)
def test_schemes_that_abaqus_has_are_read_back(words):
    """They were HHT with another ALPHA, and increments that follow the error."""
    model = parse_deck(decks.deck(*decks.SWING, decks.moves(decks.WEIGHT, words=f", {words}")))
    files, notes = files_for("abaqus", model)
    assert parse_deck(files["deck_abaqus.inp"]).steps[0].procedure == model.steps[0].procedure
    assert not any(note.startswith("scheme") for note in notes)


def test_beams_of_abaqus_are_read_back():
    """n1, J, E and G; a round section gets a direction across its bars, which changes nothing."""
    for numbers in ("1., 0.01, 0., 0.01, 0.02", "1., 0.01, 0., 0.03, 0.02\n0., 0.1, 1."):
        text = BEAMS.format(flag="", numbers=numbers)
        model = parse_deck(text.replace("\n\n1e3", "\n1e3") if "0.03" in numbers else text, name="beams.inp")
        text = files_for("abaqus", model)[0]["beams_abaqus.inp"]
        assert "*BEAM GENERAL SECTION, SECTION=GENERAL, ELSET=LINE, DENSITY=7" in text
        assert not re.search("SKT|SM|COUPLING|STRAIN=|MASS=", text)
        assert np.abs(fem.run(parse_deck(text)).u - fem.run(model).u).max() < 1e-9


def test_a_round_beam_has_its_first_axis_across_all_bars_in_abaqus():
    """n1 along a bar is no direction of its section."""
    text = BEAMS.format(flag="", numbers="1., 0.01, 0., 0.01, 0.02")
    lines = files_for("abaqus", parse_deck(text))[0]["deck_abaqus.inp"].splitlines()
    n1 = np.array(lines[2 + next(k for k, line in enumerate(lines) if "BEAM GENERAL" in line)].split(","), float)
    for way in ([1.0, 0.2, 0.0], [1.0, 0.0, 0.3]):
        assert abs(n1 @ way) < 0.5 * np.linalg.norm(way)


def test_loads_that_end_with_their_step_are_removed_in_calculix():
    """It keeps those of the step before unless it is told otherwise."""
    loaded = decks.moves("*CLOAD\n2, 1, 5.\n"), decks.moves("").replace("*NODE PRINT", "*CLOAD, OP=NEW\n*NODE PRINT", 1)
    text = files_for("calculix", parse_deck(decks.deck(*decks.SWING, *loaded)))[0]["deck_calculix.inp"]
    first, second = text.split("*STEP")[1:]
    assert re.search(r"^\*CLOAD, OP=NEW, AMPLITUDE=\w+\n2, 1, 5", first, re.M)
    assert re.search(r"^\*CLOAD, OP=NEW\n\*", second, re.M) and second.count("CLOAD") == 1


@pytest.mark.parametrize(
    ("flag", "numbers", "why"),
    [
        (", COUPLING=0.1", "1., 0.01, 0., 0.01, 0.02", "beams of Abaqus do not couple"),
        (", STRAIGHT AT REST", "1., 0.01, 0., 0.01, 0.02", "at rest as they are drawn"),
        (", STRAIGHT AT REST", "1., 0.01, 0., 0.01, 0.", "lines that bend: Abaqus cannot express this"),
    ],
)
def test_beams_that_abaqus_has_not_are_refused(flag, numbers, why):
    with pytest.raises(fem.FemError, match=why):
        files_for("abaqus", parse_deck(BEAMS.format(flag=flag, numbers=numbers)))


MOORING = (ROOT / "inputs/moored_platform.inp").read_text()


def test_moordyn_file_is_imported_as_the_same_lines(tmp_path):
    model = parse_deck(MOORING, {"time": 1.0}, name="platform.inp")
    files, _ = files_for("moordyn", model)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    convert(tmp_path / "platform_moordyn.txt", tmp_path / "back.inp")
    back = read_deck(tmp_path / "back.inp")
    order = np.lexsort(model.mesh.coordinates.round(6).T), np.lexsort(back.mesh.coordinates.round(6).T)
    assert np.abs(model.mesh.coordinates[order[0]] - back.mesh.coordinates[order[1]]).max() < 1e-3
    assert {(bed.elevation, bed.stiffness, bed.damping, bed.width) for bed in back.seabeds} == {
        (-200.0, 3e6, 3e4, 0.333)
    }
    ours, its = ({load.kind: load for step in each.steps for load in step.fluid_loads} for each in (model, back))
    assert ours.keys() == its.keys()
    for kind, load in ours.items():
        same = ("diameter", "added", "added_along") if kind == "FI" else ("diameter", "coefficient")
        for field in same:
            assert (getattr(its[kind], field) or 0.0) == pytest.approx(getattr(load, field) or 0.0)
    assert its["PB"].magnitude == ours["PB"].magnitude == 1.0
    gravity = {load.value for step in back.steps for load in step.distributed_loads}
    assert sorted(gravity) == [pytest.approx(9.80665)]


KNOWN = {
    *"DEBUT FIN LIRE_MAILLAGE AFFE_MODELE DEFI_MATERIAU AFFE_MATERIAU AFFE_CHAR_MECA AFFE_CARA_ELEM".split(),
    *"DEFI_LIST_REEL DYNA_NON_LINE STAT_NON_LINE IMPR_RESU DEFI_FONCTION _F".split(),
}
"""Commands: the first ones and ``_F`` are those of astest/sdnl100a.comm."""


@pytest.mark.parametrize("name", ["sdnl100", "slack_cable", "pendulum_lumped"])
def test_code_aster_file_is_consistent(name):
    """It cannot be run: it is Python, calls known commands, and names what is in the mesh or above. N_INIT of cables is
    obligatory (catalogues of versions 14 to 17)."""
    files, _ = files_for("code_aster", read_deck(ROOT / f"inputs/{name}.inp"))
    mesh, text = files[f"{name}_code_aster.mail"], files[f"{name}_code_aster.comm"]
    tree = ast.parse(text)
    calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert calls <= KNOWN
    assert text.count("SECTION=") == text.count("N_INIT=") > 0
    made = set()
    for statement in tree.body:
        used = {
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        assert used - KNOWN <= made
        made |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} - KNOWN
    assert max(map(len, made)) <= 8
    groups = set(re.findall(r"^GROUP_(?:MA|NO)\n(\S+)", mesh, re.M))
    asked = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and str(node.value).startswith("FEM_")
    }
    assert asked and asked <= groups
    assert mesh.endswith("FIN\n") and mesh.count("FINSF") == len(
        re.findall(r"^(TITRE|COOR_3D|SEG2|POI1|GROUP_..)$", mesh, re.M)
    )


def test_code_aster_has_the_numbers_of_its_own_test():
    text = files_for("code_aster", read_deck(ROOT / "inputs/sdnl100.inp"))[0]["sdnl100_code_aster.comm"]
    for part in ("E=100000000.0", "RHO=1.0", "EC_SUR_E=1.0", "SECTION=1.0, N_INIT=5000.0", "JUSQU_A=1.6744, NOMBRE=40"):
        assert part in text
    assert "RELATION='CABLE', DEFORMATION='GROT_GDEP'" in text and "RESI_GLOB_RELA=1e-06, ITER_GLOB_MAXI=100" in text


def write_or_refuse(paths: list[Path]) -> None:
    written = 0
    for path in paths:
        model = read_deck(path)
        for code in CODES:
            try:
                files, _ = files_for(code, model)
            except fem.DeckError as error:
                for problem in error.problems:
                    text = Path(problem.file).read_text().splitlines()[problem.line - 1]
                    assert problem.text == text or (problem.line, problem.text) == (1, ""), (path, problem)
                continue
            written += 1
            for name, text in files.items():
                if name.endswith((".py", ".comm")):
                    compile(text, name, "exec")
    assert 2 * written >= len(paths)


def test_decks_are_written_or_refused_by_their_lines():
    write_or_refuse(
        [ROOT / f"inputs/{name}.inp" for name in ("sdnl138", "crane", "two_parts", "pendulum_lumped", "towed_rope")]
    )


@pytest.mark.long
def test_all_shipped_decks_are_written_or_refused_by_their_lines():
    write_or_refuse(DECKS)


def test_new_parts_of_decks_are_thought_of():
    """What a deck gains needs a row of ``FEATURES``, else it is left out silently: add it there, then here."""
    springs = {"SPRINGA", "SPRING1", "SPRING2", "DASHPOTA", "DASHPOT1", "DASHPOT2"}
    assert set(KINDS) == {*BARS, *REEVED, *springs, "MASS", "ROTARYI"}
    sea = {"seabeds", "cylinders", "water", "wind", "waves", "raos", "drag_laws", "growths", "vortices"}
    bodies = {"bodies", "free_bodies", "inertias", "planes", "rotations"}
    lines = {"sections", "springs", "dashpots", "masses", "nonstructural", "rest_lengths", "pulleys"}
    ties = {"links", "equations", "initial_conditions", "boundaries"}
    assert set(PARTS) == {*sea, *bodies, *lines, *ties, "others"}


def test_lists_of_codes_are_features():
    names = [feature.name for feature in FEATURES]
    assert len(set(names)) == len(names)
    for code in CODES.values():
        assert forms_of(code) and set(forms_of(code)) <= set(names)


def test_table_of_the_page_is_that_of_the_program():
    table = [line for line in (ROOT / "docs/other_codes.md").read_text().splitlines() if line.startswith("|")]
    for feature in FEATURES:
        cells = [forms_of(code).get(feature.name, "") for code in CODES.values()]
        assert f"| {feature.name} | {' | '.join(cells)} |" in table


@pytest.mark.parametrize(
    ("code", "name", "line", "said"),
    [
        ("calculix", "moored_platform", "*SEABED, ELSET=LINES", "seabed: CalculiX cannot express this"),
        ("opensees", "winch", None, "winches: OpenSees"),
        ("moordyn", "slack_cable", "*CLOAD", "loads at nodes (CLOAD): MoorDyn"),
        ("moordyn", "water_pendulum", None, "the g that gives MoorDyn their weight acts on buoyancy, too"),
        ("abaqus", "sdnl100", None, "ONE POINT: Abaqus"),
        ("code_aster", "cable_net", "*DAMPING, BETA=1.E-4", "damping BETA: Code_Aster"),
    ],
)
def test_refusals_name_the_line(code, name, line, said):
    with pytest.raises(fem.DeckError) as caught:
        files_for(code, read_deck(ROOT / f"inputs/{name}.inp"))
    assert any(said in problem.message and line in (None, problem.text) for problem in caught.value.problems)


def test_refusals_name_the_line_of_turned_axes(tmp_path):
    """Supports in axes of their own are equations; the deck has neither *MPC nor *EQUATION."""
    turned = "*NSET, NSET=T\n2\n*TRANSFORM, NSET=T\n1., 0., 1., 0., 1., 0.\n"
    (tmp_path / "deck.inp").write_text(decks.deck(*decks.SWING, decks.rests(decks.WEIGHT), model=turned))
    with pytest.raises(fem.DeckError) as caught:
        files_for("opensees", read_deck(tmp_path / "deck.inp"))
    assert [problem.text for problem in caught.value.problems] == ["*TRANSFORM, NSET=T"]


def test_moordyn_moves_supports_in_any_direction():
    """Along y only."""
    text = MOORING.replace("FAIRLEADS, 1, 1, <surge>", "FAIRLEADS, 2, 2, <surge>").replace(
        "FAIRLEADS, 3, 3, <heave>\n", ""
    )
    files, _ = files_for("moordyn", parse_deck(text.replace("*BOUNDARY, AMPLITUDE=HEAVE\n", "")))
    assert files["deck_moordyn.txt"].count("Coupled") == 3


def in_water(*steps: str) -> str:
    return decks.deck(*decks.HANGING, *steps, model=decks.WATER, material=decks.CABLE, density=5e4)


REST, OTHER_G = decks.rests(decks.WET, 1.0), "*DLOAD, OP=NEW\n, GRAV, 9., 0., 0., -1.\nC, PB, 1., 0.05\n"
NO_LIFT = "*DLOAD, OP=NEW\n, GRAV, 9.81, 0., 0., -1.\n"
RAISED = decks.deck(
    "1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.", "1, 1, 2\n2, 2, 3", "1, 1, 3\n3, 1, 3",
    decks.rests("*BOUNDARY\n2, 3, 3, 0.1\n"), decks.moves("*BOUNDARY, OP=NEW\n1, 1, 3\n3, 1, 3\n"), model=decks.STRESS,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (in_water(REST, decks.moves(OTHER_G)), "at the end of rest and in motion"),
        (in_water(REST, decks.moves(""), decks.moves(OTHER_G)), "at the end of rest and in motion"),
        (in_water(REST, decks.moves(""), decks.moves(decks.DRAG)), "FDD that changes from step to step"),
        (in_water(REST, decks.moves(NO_LIFT)), "PB that changes from step to step"),
        (in_water(REST, decks.moves(""), decks.moves("*BOUNDARY, OP=NEW\n1, 1, 3\n")), "during the motion"),
        (RAISED, "a node is held in some directions"),
    ],
    ids=["another weight", "later", "drag later", "without buoyancy", "let go in motion", "raised out of its plane"],
)
def test_what_changes_from_step_to_step_is_refused_for_moordyn(text, said):
    """Only the last step was looked at, and the plane of a net was taken for one that nothing leaves."""
    with pytest.raises(fem.DeckError, match=said):
        files_for("moordyn", parse_deck(text))


@pytest.mark.parametrize(("place", "axis"), [("{}, 0., 0.", 2), ("0., {}, 0.", 1)], ids=["x", "y"])
def test_moordyn_lets_chains_move_in_any_plane(place, axis):
    """Nodes that are held along x only were fixed."""
    nodes = "\n".join(f"{n}, {place.format(float(n))}" for n in (1, 2, 3))
    text = decks.deck(nodes, decks.STRING[1], f"1, 1, 3\n1, {axis}\n2, {axis}\n3, {axis}", decks.moves(decks.WEIGHT))
    points = files_for("moordyn", parse_deck(text))[0]["deck_moordyn.txt"].split("--- POINTS ---")[1]
    assert points.count("Free") == 2 and points.count("Fixed") == 1


def test_moordyn_moves_supports_by_the_times_of_their_steps():
    """A support is at 0.1 sin(3 t) after 1 s in 10 increments, and after 0.5 s more in 50: places stood 0.1 s apart."""
    sine = "*AMPLITUDE, NAME=A, DEFINITION=PERIODIC, TIME=TOTAL TIME\n1, 3., 0., 0.\n0., 1.\n"
    moved = "*BOUNDARY, AMPLITUDE=A\n9, 1, 1, 0.1\n"
    steps = REST, decks.moves(moved, 0.1, 1.0), decks.moves(moved, 0.01, 0.5)
    model = decks.deck(*decks.HANGING, *steps, model=decks.WATER + sine, material=decks.CABLE, density=5e4)
    script = files_for("moordyn", parse_deck(model))[0]["deck_moordyn.py"].replace("import moordyn", "")
    names = {}
    exec(script[: script.index("system = moordyn")], names)
    for time in (1.0, 1.7, 2.0, 2.25, 2.5):
        assert names["at"](time)[0] == pytest.approx(80.0 + 0.1 * np.sin(3.0 * time), abs=3e-5)
    assert names["END"] == 2.5


def test_last_increments_are_those_of_the_deck():
    """0.3 s of 1 s, and the last of 0.1 s; curves are known where increments end."""
    wave = "*AMPLITUDE, NAME=A, DEFINITION=PERIODIC\n1, 2., 0., 0.\n0., 1.\n"
    pushed = decks.moves("*CLOAD, AMPLITUDE=A\n2, 3, 1.\n", 0.3, 1.0)
    twin = twin_of(Writing("OpenSees", parse_deck(decks.deck(*decks.SWING, pushed, model=wave))))
    assert twin.stages[0].times == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.0]) and twin.stages[0].increments == 4
    ((times, values),) = twin.stages[0].loads.values()
    assert times == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.0]) and values == pytest.approx(np.sin(2.0 * np.array(times)))
    text = files_for("code_aster", parse_deck(decks.deck(*decks.SWING, decks.moves("", 0.25, 0.875))))[0]
    assert "INTERVALLE=(_F(JUSQU_A=0.75, NOMBRE=3), _F(JUSQU_A=0.875, NOMBRE=1))" in text["deck_code_aster.comm"]


def test_curves_of_long_steps_have_fewer_points_and_a_note():
    wave = "*AMPLITUDE, NAME=A, DEFINITION=PERIODIC\n1, 2., 0., 0.\n0., 1.\n"
    pushed = "*CLOAD, AMPLITUDE=A\n2, 3, 1.\n"
    for time, noted in ((20.0, False), (30.0, True)):
        _, notes = files_for(
            "opensees", parse_deck(decks.deck(*decks.SWING, decks.moves(pushed, 1e-3, time), model=wave))
        )
        assert any("20000 points" in note and "30000 increments" in note for note in notes) == noted


def test_anchors_on_the_seabed_are_refused():
    anchored = BOTTOM.replace("*AQUA", "*INITIAL CONDITIONS, TYPE=ANCHOR\n5, 1, 0.1\n*AQUA")
    with pytest.raises(fem.DeckError, match="initial displacements"):
        files_for("moordyn", parse_deck(anchored.format(friction="0.5, 0.5")))


def test_opensees_gives_supports_their_velocity_at_the_start():
    """0.02 sin(30 t): 0.6, of which an amplitude knows nothing before its begin."""
    text = MOTIONS["a support that moves"].text
    script = files_for("opensees", parse_deck(text))[0]["deck_opensees.py"]
    names = {}
    exec(script[script.index("STEPS = [") : script.index("TABLE = ")], names)
    ((*_, moves),) = names["STEPS"]
    assert moves[0][6][0] == pytest.approx(0.6)


def test_supports_that_only_a_run_knows_are_refused():
    text = SWING.format(cable="").replace("*BOUNDARY, OP=NEW\n1, 1, 2", "*BOUNDARY, FIXED\n2, 1, 1")
    with pytest.raises(fem.DeckError, match="known after a run only"):
        files_for("opensees", parse_deck(text))


HEADINGS = (
    r"C:\Users\new \N{x} \" +",
    '"""',
    "coding: utf-7",
    "# -*- coding: utf-7 -*-",
    "FINSF",
    "--- LINES ---",
    "a\x0cb\x85c",
)
NAMES = (
    '"""+x+"""',
    "'''",
    "-c print(1)",
    "--help",
    "a\nprint(1)\n",
    "a\r*STEP",
    "\\",
    "$(x)",
    "§ 1; x",
    ".x",
    "\udc80",
)


def rest_of(name: str, text: str) -> object:
    """What is not said in comments: of Python its code, of other files all lines without a comment or a title."""
    if name.endswith((".py", ".comm")):
        return ast.dump(ast.parse(text.encode()))
    return [line for line in text.split("\n") if not line.startswith(("#", "**", "- "))]


def split_at(lines: list[str], first: str) -> tuple[list[str], list[str]]:
    return lines[: lines.index(first)], lines[lines.index(first) :]


@pytest.mark.parametrize("code", ["opensees", "calculix", "code_aster", "moordyn"])
def test_names_and_headings_are_never_code(code):
    """Whatever a deck is called, whatever its heading says: scripts do the same, and their files have plain names."""
    model = read_deck(ROOT / "inputs/sdnl100.inp")
    plain, _ = files_for(code, replace(model, heading=("plain",), source="plain.inp"))
    for heading, source in zip_longest(HEADINGS, NAMES, fillvalue="x"):
        odd = replace(model, heading=(heading, heading), source=f"somewhere/{source}.inp")
        files, _ = files_for(code, odd)
        stem = next(iter(files))[: len("plain") - len(next(iter(plain)))]
        assert re.fullmatch(r"\w[\w.-]*", stem)
        for (name, text), (own, expected) in zip(files.items(), plain.items(), strict=True):
            assert name == own.replace("plain", stem, 1)
            found, wanted = rest_of(own, text.replace(f"'{stem}_", "'plain_")), rest_of(own, expected)
            if own.endswith("calculix.inp"):  # the heading is text there
                heads, found = split_at(found, "*NODE, NSET=FEM_ALL")
                assert [line for line in heads if line.startswith("*")] == ["*HEADING"]
                wanted = split_at(wanted, "*NODE, NSET=FEM_ALL")[1]
            assert found == wanted, (source, heading)


def test_abaqus_headings_are_text():
    """Lines that break where ours do not would be cards."""
    model = read_deck(ROOT / "inputs/cable_net.inp")
    for heading in HEADINGS:
        text = files_for("abaqus", replace(model, heading=(heading,)))[0]["cable_net_abaqus.inp"]
        assert len(text.splitlines()) == text.count("\n") and parse_deck(text).mesh == model.mesh


def test_a_script_that_is_none_is_not_written(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fem.codes.opensees.body_of", lambda code: "def\n")
    with pytest.raises(fem.CommandError, match="would not be Python"):
        fem.export_deck(ROOT / "inputs/sdnl100.inp", "opensees")
    assert not [*tmp_path.iterdir()]


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deck = str(ROOT / "inputs/sdnl100.inp")
    assert main(["export", deck, "--to", "opensees", "--file", "there"]) == 0
    assert "wrote there/sdnl100_opensees.py" in capsys.readouterr().out
    assert main(["export", deck, "--to", "calculix", "--output", "U1_n2"]) == 2
    assert "--output is for --to fmu" in capsys.readouterr().err
    assert main(["export", deck, "--to", "abaqus"]) == 2
    assert "sdnl100.inp:20:1: error" in capsys.readouterr().err


def test_numbers_of_calculix_have_a_point():
    text = files_for("calculix", parse_deck(SWING.format(cable="").replace("40.\n", "1e-05\n")))[0]["deck_calculix.inp"]
    assert "\n1.e-05\n" in text and "\n1e-05" not in text


BOTTOM = """*NODE, NSET=ENDS
1, 0., 0., -50.
11, 80., 0., -50.
21, 150., 0., 0.
*NGEN
1, 11, 1
11, 21, 1
*ELEMENT, TYPE=T3D2, ELSET=C
1, 1, 2
*ELGEN, ELSET=C
1, 10
*ELEMENT, TYPE=T3D2, ELSET=R
11, 11, 12
*ELGEN, ELSET=R
11, 10
*MATERIAL, NAME=M
*ELASTIC
1.E8
*DENSITY
50.
*NO COMPRESSION
*SOLID SECTION, ELSET=C, MATERIAL=M, STRAIN=ENGINEERING
1.
*SOLID SECTION, ELSET=R, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
21, 1, 3
*AQUA
-50., 0., 9.81, 1025.
*SEABED, ELSET=C
3.E5, 3.E4, 0.08
0.5, 0.5
*SEABED, ELSET=R
3.E5, 3.E4, 0.08
{friction}
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
C, GRAV, 9.81, 0., 0., -1.
C, PB, 1., 0.08
R, GRAV, 9.81, 0., 0., -1.
R, PB, 1., 0.04
*END STEP
"""


def test_moordyn_has_one_bottom():
    """Force over area by the diameter: 3e5 0.08/0.08 and 3e5 0.08/0.04; friction is as stiff as the step bears."""
    files, notes = files_for("moordyn", parse_deck(BOTTOM.format(friction="0.5, 0.5")))
    options = {
        line.split()[1]: line.split()[0] for line in files["deck_moordyn.txt"].splitlines() if len(line.split()) == 2
    }
    assert float(options["kbot"]) == 6e5 and any("300000 to 600000" in note for note in notes)
    assert any(note.startswith("friction") for note in notes)
    rate = 0.5 * float(options["FricDamp"]) / (50.0 * 8.0)  # of the lightest node, between bars of 8 m
    assert rate * float(options["dtM"]) == pytest.approx(0.5, rel=0.01)
    with pytest.raises(fem.DeckError, match="MoorDyn has one"):
        files_for("moordyn", parse_deck(BOTTOM.format(friction="0.3, 0.3")))
