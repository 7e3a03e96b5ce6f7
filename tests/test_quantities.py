"""The table of quantities: every line of it can be asked for, and every output shows the same numbers."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import fem
from fem.assembly.system import assemble
from fem.forces.families import element_values
from fem.model.quantities import ELEMENTAL, NODAL, QUANTITIES, RECORDED, Quantity, Values
from fem.runner import run_to_files
from fem.runs.fields import read_field, read_list

DECK = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.5
3, 2., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BARS
4, 1, 2
5, 2, 3
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1e-4
*MATERIAL, NAME=M
*ELASTIC
1e8
*DENSITY
7800.
*AQUA
-10., 0.2, 9.81, 1000.
0.3, 0., 0., 0.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.05
*DLOAD
BARS, GRAV, 9.81, 0., 0., -1.
*CLOAD
3, 1, 2.
{requests}*END STEP
"""
CARDS = {"NODE": "NSET=ALL", "EL": "ELSET=BARS"}


def asked(kind: str, names: str) -> str:
    """PRINT and FILE requests of a kind."""
    names = names.replace(", TF", ",\nTF")  # a data line holds at most 16 entries
    return "".join(f"*{kind} {medium}, {CARDS[kind]}\n{names}\n" for medium in ("PRINT", "FILE"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A run that asks for every quantity by name: its folder and its history."""
    folder = tmp_path_factory.mktemp("quantities")
    names = {kind: [each.name for each in table] for kind, table in QUANTITIES.items()}
    rows = {kind: [", ".join(its[k : k + 16]) for k in range(0, len(its), 16)] for kind, its in names.items()}
    requests = "".join(asked(kind, "\n".join(lines)) for kind, lines in rows.items())
    deck = folder / "all.inp"
    deck.write_text(DECK.format(requests=requests))
    run_to_files(deck, folder / "out", quiet=True)
    return folder / "out", fem.run(deck)


def test_the_table_fits_the_record():
    """Kernels write vectors of nodes and numbers of elements; names, columns and fields tell quantities apart."""
    for kind, table in QUANTITIES.items():
        recorded = table[: RECORDED[kind]]
        assert all(each.derived is None and each.axes == ("123" if kind == "NODE" else "") for each in recorded)
        assert all(each.derived is not None and not each.swept for each in table[RECORDED[kind] :])
        assert {what for each in table for what in each.swept} <= {"end", "min", "max"}
        for names in ([each.name for each in table], [each.field for each in table]):
            assert len(names) == len(set(names))
        columns = [column for each in table for column in each.columns]
        assert len(columns) == len(set(columns))


@pytest.mark.parametrize("quantity", [*NODAL, *ELEMENTAL], ids=lambda quantity: quantity.name)
def test_every_output_has_the_same_numbers(ran, quantity):
    folder, history = ran
    kind, file, label = ("NODE", "nodes.csv", 3) if quantity in NODAL else ("EL", "elements.csv", 5)
    find = history.of_node if kind == "NODE" else history.of_element
    expected = find(label, quantity.name).reshape(len(history), -1)
    with (folder / file).open() as text:
        lines = [line for line in csv.DictReader(text) if line["node" if kind == "NODE" else "element"] == str(label)]
    printed = np.array([[float(line[column]) for column in quantity.columns] for line in lines])
    assert np.array_equal(printed, expected)
    place = 2 if kind == "NODE" else 1
    fields = [read_field(path)[quantity.field][place] for _, path in read_list(folder / "all.pvd")]
    assert np.array_equal(np.array(fields).reshape(len(expected), -1), expected)


@pytest.mark.parametrize("quantity", [*NODAL, *ELEMENTAL], ids=lambda quantity: quantity.name)
def test_decks_ask_by_name_column_or_alias(quantity):
    kind = "NODE" if quantity in NODAL else "EL"
    for name in filter(None, (quantity.name, *quantity.columns, *quantity.aliases)):
        model = fem.parse_deck(DECK.format(requests=asked(kind, name.lower())))
        assert {request.variables for request in model.steps[0].outputs} == {(quantity.name,)}
        is_own = quantity.is_extension and name not in quantity.aliases
        assert any(f"of {quantity.name}" in text for text in model.extensions) == is_own


def test_what_follows_is_computed_when_asked_for():
    """Derived quantities see recorded and other derived ones, the model and whose values they are."""
    calls = []

    def doubled(values: Values) -> np.ndarray:
        calls.append(values.indices.tolist())
        return 2.0 * values["E"]

    table = (
        Quantity("E", "e", ""),
        Quantity("D", "d", "", derived=doubled),
        Quantity("Q", "q", "", derived=lambda values: values["D"] ** 2 + len(values.model.mesh.node_labels)),
    )
    values = Values(table, fem.parse_deck(DECK.format(requests="")), np.array([1]), [np.full((3, 1), 5.0)])
    assert not calls
    assert np.array_equal(values["Q"], np.full((3, 1), 103.0)) and values.columns("Q").shape == (3, 1, 1)
    assert values["D"] is values["D"] and calls == [[1]]
    with pytest.raises(KeyError):
        values["X"]


def test_nothing_but_the_named_and_the_usual_is_written(tmp_path):
    """Quantities that nobody asks for change no file."""
    deck = tmp_path / "usual.inp"
    deck.write_text(DECK.format(requests="*NODE PRINT\n*EL PRINT\n"))
    run_to_files(deck, tmp_path / "out", quiet=True)
    assert (tmp_path / "out" / "nodes.csv").read_text().startswith("step,increment,time,node,U1,U2,U3\n")
    assert (tmp_path / "out" / "elements.csv").read_text().startswith("step,increment,time,element,E,S,N,T\n")
    field = read_field(read_list(tmp_path / "out" / "usual.pvd")[0][1])
    assert {"displacement", "velocity", "acceleration", "reaction", "strain", "N", "T"} < set(field)
    assert set(field) - {"ALL", "BARS", "SPRINGS"} == {
        "coordinates", "connectivity", "offsets", "types", "node", "element", "section", "radius", "displacement",
        "velocity", "acceleration", "reaction", "strain", "N", "T",
    }  # fmt: skip


def test_coordinates_are_those_of_the_moving_nodes(ran):
    """COORD is X + U, by definition: the straight bars keep their length as far as their strain says (S = E e)."""
    _, history = ran
    for label in (1, 2, 3):
        assert np.array_equal(history.of_node(label, "coord"), history.positions(label))
    start, end = history.of_node(1, "COORD"), history.of_node(2, "COORD")
    length = np.linalg.norm(end - start, axis=1)
    assert length == pytest.approx(length[0] * np.sqrt(1.0 + 2.0 * history.of_element(4, "E")), rel=1e-12)


LOADED = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1e-4
*MATERIAL, NAME=M
*ELASTIC
1e9
*AMPLITUDE, NAME=WAVE, TIME=TOTAL TIME
0., 0., 1., 0.5, 4., 2.
*BOUNDARY
1, 1, 3
2, 2, 3
3, 1, 3
*STEP, NLGEOM
*STATIC, DIRECT
0.25, 1.
*NODE PRINT, NSET=ALL
RF, CF, TF
*END STEP
*STEP, NLGEOM
*STATIC, DIRECT
0.25, 1.
*CLOAD
2, 1, 1000.
2, 1, -400.
3, 1, 50.
*END STEP
*STEP, NLGEOM
*STATIC, DIRECT
0.25, 1.
*CLOAD, AMPLITUDE=WAVE
2, 1, 100.
*END STEP
*STEP, NLGEOM
*STATIC, DIRECT
0.25, 1.
*CLOAD, OP=NEW
*END STEP
"""


def test_cf_is_the_concentrated_load_and_tf_the_reaction_with_it(tmp_path):
    """CF is what *CLOAD says, by Abaqus' rules of ramps, amplitudes and removal; TF at a fixed node is what it takes
    from the bar, CF = TF at a free one; loads on one dof add."""
    deck = tmp_path / "loaded.inp"
    deck.write_text(LOADED)
    history = fem.run(deck)
    run_to_files(deck, tmp_path / "out", quiet=True)
    free, fixed = (history.of_node(label, "CF")[:, 0] for label in (2, 3))
    for step, ramp in enumerate((lambda t: 0.0 * t, lambda t: t - 1.0, lambda t: 0.0 * t + 1.0, lambda t: 4.0 - t), 1):
        rows = history.of_step(step)
        assert fixed[rows] == pytest.approx(50.0 * ramp(history.time[rows]), abs=1e-12)
    assert free[history.of_step(2)] == pytest.approx(600.0 * (history.time[history.of_step(2)] - 1.0))
    third = history.of_step(3)  # along the points (1, 0.5), (4, 2): half the time
    assert free[third] == pytest.approx(50.0 * history.time[third])
    assert free[-1] == 0.0
    pull = history.of_element(2, "T")
    assert history.of_node(3, "TF")[:, 0] == pytest.approx(pull, rel=1e-9, abs=1e-9)
    assert np.array_equal(history.of_node(2, "TF"), history.of_node(2, "CF") + history.of_node(2, "RF"))
    again = fem.load(tmp_path / "out")
    assert np.array_equal(again.of_node(2, "CF"), history.of_node(2, "CF"))
    assert history.to_xarray().CF.sel(node=2, axis=1).values.tolist() == free.tolist()


def test_cf_follows_the_load_factor_of_riks(tmp_path):
    """CF in RIKS is the factor times the load, in tables and fields; also when a later step holds what it reached."""
    riks = (
        LOADED[: LOADED.index("*STEP")]
        + """*STEP, NLGEOM
*STATIC, RIKS
0.1, 1., , , 0.7
*CLOAD
2, 1, 1000.
*NODE PRINT, NSET=ALL
CF
*NODE FILE
CF
*END STEP
*STEP, NLGEOM
*STATIC, DIRECT
1., 1.
*END STEP
"""
    )
    deck = tmp_path / "riks.inp"
    deck.write_text(riks)
    run_to_files(deck, tmp_path / "out", quiet=True)
    history = fem.load(tmp_path / "out")
    first = history.of_step(1)
    load = history.of_node(2, "CF")[:, 0]
    assert load[first] == pytest.approx(1000.0 * history.load_factor[first], rel=1e-12) and load[-1] > 699.0
    fields = [read_field(path)["concentrated force"][1, 0] for _, path in read_list(tmp_path / "out" / "riks.pvd")]
    assert fields[-1] == pytest.approx(load[-1], rel=1e-12)


def test_who_asks_for_cf_of_a_bottom_is_told_its_name(tmp_path):
    """CF was that force in earlier versions; with CFORCE nothing has to be said."""
    bed = "*SEABED, ELEVATION=-5.\n1e5, 0., 0.1\n*BOUNDARY"
    for names, is_told in (("CF", True), ("CF, CFORCE", False), ("CFORCE", False)):
        text = DECK.replace("*BOUNDARY", bed, 1).format(requests=asked("NODE", names))
        assert any("is CFORCE" in notice for notice in fem.parse_deck(text).notices) == is_told


def test_sets_beyond_those_that_fields_show_are_told(tmp_path, capsys):
    """32 of each kind are arrays; without fields nothing is left out of them."""
    sets = "".join(f"*NSET, NSET=N{n}\n1\n" for n in range(40))
    deck = tmp_path / "many.inp"
    deck.write_text(DECK.format(requests="*NODE PRINT\n").replace("*MATERIAL", sets + "*MATERIAL", 1))
    for vtk in (True, False):
        run_to_files(deck, tmp_path / f"out{vtk}", vtk=vtk)
        assert ("32 of 4" in capsys.readouterr().out) == vtk


def test_a_second_branch_pulls_as_the_first_where_nobody_says_otherwise():
    """In models with pulleys rows have a fifth number: T2 of bars, springs and point masses is their T."""
    system = assemble(fem.parse_deck(DECK.format(requests="")))
    rng = np.random.default_rng(5)
    u, v = 1e-3 * rng.standard_normal((2, system.size))
    thermal = np.zeros((2, len(system.bars.nodes)))
    values, wide = (np.full((len(system.family), columns), 7.0) for columns in (4, 5))
    for each in (values, wide):
        element_values(system.family, u, v, system.bars, system.springs, system.families, *thermal, system.state, each)
    assert values[:, 3].any() and np.array_equal(wide[:, :4], values) and np.array_equal(wide[:, 4], values[:, 3])
