"""``*FORM FINDING``: found decks do not move, forces and lengths give the form back, closed forms; what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fem
from fem.cli import main
from fem.model.facts import loads_of, stretches

HEAD = "*NODE\n{nodes}*ELEMENT, TYPE=T3D2, ELSET=ALL\n{elements}*MATERIAL, NAME=M\n*ELASTIC\n1e6\n{density}"
SECTION = "*SOLID SECTION, ELSET=ALL, MATERIAL=M, STRAIN={strain}\n1.\n*BOUNDARY\n{held}"
STEP = "*STEP, NLGEOM\n*STATIC\n1., 1.\n{loads}*END STEP\n"


def deck(x, bars, held, cards, strain="ENGINEERING", loads="", density=""):
    """held: (node from 0, dof); cards: (type, values of bars from the first on, or one)"""
    nodes = "".join(f"{k + 1}, {a!r}, {b!r}, {c!r}\n" for k, (a, b, c) in enumerate(np.asarray(x, float).tolist()))
    elements = "".join(f"{k + 1}, {i + 1}, {j + 1}\n" for k, (i, j) in enumerate(np.asarray(bars).tolist()))
    text = HEAD.format(nodes=nodes, elements=elements, density=density)
    text += SECTION.format(strain=strain, held="".join(f"{node + 1}, {dof}\n" for node, dof in held))
    for kind, values in cards:
        every = np.broadcast_to(values, len(bars)).tolist()
        text += f"*FORM FINDING, TYPE={kind}\n"
        text += "".join(f"{k + 1}, {value!r}\n" for k, value in enumerate(every) if not np.isnan(value))
    return text + STEP.format(loads=loads)


def found(*what, **options):
    return fem.parse_deck(deck(*what, **options))


def net(size=5):
    """A net of size x size nodes, held at the corners, two of which are 2 high; bars, inside or at an edge."""
    x = np.array([(i, j, 0.0) for i in range(size) for j in range(size)])
    label = np.arange(size * size).reshape(size, size)
    pairs = [(label[i, j], label[i, j + 1]) for i in range(size) for j in range(size - 1)]
    pairs += [(label[i, j], label[i + 1, j]) for i in range(size - 1) for j in range(size)]
    bars = np.array(pairs)
    ends = x[bars]
    edge = ((ends[:, :, :2] == 0).all(axis=1) | (ends[:, :, :2] == size - 1).all(axis=1)).any(axis=1)
    corners = [0, size - 1, size * (size - 1), size * size - 1]
    x[[0, -1], 2] = 2.0
    return x, bars, [(node, dof) for node in corners for dof in (1, 2, 3)], edge


X, BARS, HELD, EDGE = net()


@st.composite
def nets(draw):
    """Random densities above zero, loads, strain measure."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    q = random.uniform(10.0, 1000.0, len(BARS))
    loads = "*CLOAD\n" + "".join(f"{k}, {dof}, {random.normal() * 50.0:.6f}\n" for k in (7, 13) for dof in (1, 2, 3))
    return q, draw(st.sampled_from(["", loads])), draw(st.sampled_from(["ENGINEERING", "GREEN", "LOG"]))


@settings(max_examples=8)
@given(nets())
def test_a_form_that_was_found_does_not_move(case):
    """And has the forces q L, whatever the strain measure."""
    q, loads, strain = case
    model = found(X, BARS, HELD, [("FORCE DENSITY", q)], strain=strain, loads=loads)
    history = fem.run(model)
    assert np.abs(history.u[-1]).max() < 1e-9 * 4.0
    x = model.mesh.coordinates
    length = np.linalg.norm(x[BARS[:, 1]] - x[BARS[:, 0]], axis=1)
    np.testing.assert_allclose(history.elements[-1, :, 3], q * length, rtol=1e-8)


@settings(max_examples=8)
@given(nets(), st.floats(0.01, 100.0))
def test_forces_and_lengths_of_a_form_give_it_back(case, scale):
    """And a multiple of densities and loads has the same form."""
    q, _, strain = case
    first = found(X, BARS, HELD, [("FORCE DENSITY", q)], strain=strain).mesh.coordinates
    length = np.linalg.norm(first[BARS[:, 1]] - first[BARS[:, 0]], axis=1)
    near = first + 0.0
    again = found(near, BARS, HELD, [("FORCE", q * length)], strain=strain).mesh.coordinates
    np.testing.assert_allclose(again, first, atol=1e-9)
    mixed = [("FORCE DENSITY", q), ("FORCE", np.where(EDGE, q * length, np.nan))]
    np.testing.assert_allclose(found(near, BARS, HELD, mixed).mesh.coordinates, first, atol=1e-9)
    more = found(X, BARS, HELD, [("FORCE DENSITY", scale * q)], strain=strain).mesh.coordinates
    np.testing.assert_allclose(more, first, atol=1e-11)


def test_equal_forces_meet_in_the_point_of_fermat():
    x = [(0, 0, 0), (4, 0, 0), (1, 3, 0), (1.5, 1.5, 0)]
    held = [(node, dof) for node in range(3) for dof in (1, 2, 3)] + [(3, 3)]
    model = found(x, [(0, 3), (1, 3), (2, 3)], held, [("FORCE", 100.0)])
    point = model.mesh.coordinates[3]
    np.testing.assert_allclose(point[:2], [1.302169479252, 1.046745781122], atol=1e-11)
    ways = model.mesh.coordinates[:3] - point
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    np.testing.assert_allclose(ways @ ways.T, 1.5 * np.eye(3) - 0.5, atol=1e-11)  # 120 degrees


def test_a_chain_of_equal_densities_is_a_parabola():
    x = np.array([(k, 0.0, 0.0) for k in range(11)])
    held = [(node, dof) for node in (0, 10) for dof in (1, 2, 3)]
    loads = "*CLOAD\n" + "".join(f"{k}, 3, -100.\n" for k in range(2, 11))
    model = found(x, [(k, k + 1) for k in range(10)], held, [("FORCE DENSITY", 500.0)], loads=loads)
    z = model.mesh.coordinates[:, 2]
    np.testing.assert_allclose(z[:6], [0.0, -0.9, -1.6, -2.1, -2.4, -2.5], atol=1e-12)
    assert np.abs(fem.run(model).u[-1]).max() < 1e-9


@pytest.mark.parametrize(
    ("kind", "middle", "second"),
    [
        ("FORCE DENSITY", (2.0, 0.329818641923, 1.0), (1.097427245888, 1.097427245888, 1.238095238095)),
        ("FORCE", (2.0, 0.392731374856, 1.0), (1.0, 1.0, 1.277218057183)),
    ],
)
def test_a_net_between_four_corners(kind, middle, second):
    """Density 5 at the edges; density or force 1 inside. The prototype of the same formulas."""
    inside = np.where(EDGE, np.nan, 1.0)
    x = found(X, BARS, HELD, [("FORCE DENSITY", np.where(EDGE, 5.0, np.nan)), (kind, inside)]).mesh.coordinates
    np.testing.assert_allclose(x[10], middle, atol=1e-11)
    np.testing.assert_allclose(x[6], second, atol=1e-11)


def test_given_lengths_are_reached():
    """A kite of two bars of length 2 in a plane, pulled down by its load."""
    x, held = [(0, 0, 0), (2, 0, 0), (1, 0, -1)], [(k, dof) for k in (0, 1) for dof in (1, 2, 3)] + [(2, 2)]
    model = found(x, [(0, 2), (1, 2)], held, [("LENGTH", 2.0)], loads="*CLOAD\n3, 3, -10.\n")
    np.testing.assert_allclose(model.mesh.coordinates[2], [1.0, 0.0, -np.sqrt(3.0)], atol=1e-10)
    np.testing.assert_allclose(fem.run(model).elements[-1, :, 3], 10.0 / np.sqrt(3.0), rtol=1e-8)


def test_weight_follows_the_natural_lengths():
    loads = "*DLOAD\nALL, GRAV, 9.81, 0., 0., -1.\n"
    model = found(X, BARS, HELD, [("FORCE DENSITY", 500.0)], loads=loads, density="*DENSITY\n2.\n")
    assert model.mesh.coordinates[12, 2] < 0.9
    assert np.abs(fem.run(model).u[-1]).max() < 1e-9
    bare = deck(X, BARS, HELD, [("FORCE DENSITY", 500.0)], loads=loads, density="*DENSITY\n2.\n")
    light = fem.parse_deck(bare.replace("DENSITY\n1, 5", "DENSITY, LOADS=NONE\n1, 5"))
    assert light.mesh.coordinates[12, 2] == pytest.approx(1.0)


@pytest.mark.parametrize("strain", ["ENGINEERING", "GREEN", "LOG"])
def test_natural_lengths_of_struts_and_cables(strain):
    load = np.array([-0.15, -1e-3, 0.0, 1e-6, 0.2])
    kinds = np.full(len(load), strain, object)
    np.testing.assert_allclose(loads_of(stretches(load, kinds), kinds), load, atol=1e-15)


PLANE = [(0, 0, 0), (2, 0, 0), (1, 1, 0), (1, 2, 0)]
ENDS = [(node, dof) for node in (0, 1) for dof in (1, 2, 3)]
ROOF = deck(PLANE[:3], [(0, 2), (1, 2)], ENDS, [("FORCE DENSITY", 1.0)])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (deck(PLANE, [(0, 2), (1, 2), (2, 3)], [(0, 1), (1, 1)], [("FORCE DENSITY", [1.0, 1.0, np.nan])]),
         "element 3 ends at a free node, but no density"),
        (deck(PLANE, [(0, 1), (2, 3)], ENDS, [("FORCE DENSITY", 1.0)]), "node 3, 4 is tied to no support"),
        (deck(PLANE[:3], [(0, 2), (1, 2)], ENDS, [("FORCE DENSITY", [1.0, -1.0])]), "leave the form free"),
        (deck([(0, 0, 0), (4, 0, 0), (2, 0.1, 0), (2, 1, 0)], [(0, 3), (1, 3), (2, 3)],
              [(k, d) for k in range(3) for d in (1, 2, 3)] + [(3, 3)], [("FORCE", [1.0, 1.0, 5.0])]),
         "shrink to nothing: element 3"),
        (ROOF.replace("*FORM", "*REST LENGTH\n1, 1.\n*FORM"), "so does another card"),
        (ROOF.replace("*ELASTIC\n1e6", "*INEXTENSIBLE"), "[*]ELASTIC as their only law"),
        (ROOF.replace("*SOLID", "*NO COMPRESSION\n*SOLID").replace(", 1.0", ", -1.0"), "presses cables.*: element 1,"),
        (deck(PLANE[:3], [(0, 2), (1, 2)], ENDS, [("LENGTH", -1.0)]), "expected a length above zero, got -1"),
    ],
)  # fmt: skip
def test_what_is_refused(text, why):
    with pytest.raises(fem.DeckError, match=why) as error:
        fem.parse_deck(text)
    assert error.value.problems[0].line > 1


def test_fem_form_writes_the_deck_and_a_table(tmp_path, capsys):
    path, other = tmp_path / "net.inp", tmp_path / "formed.inp"
    path.write_text(deck(X, BARS, HELD, [("FORCE DENSITY", np.where(EDGE, 5.0, 1.0))], strain="GREEN"))
    assert main(["form", str(path), "--output", str(other)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    drawn, placed = fem.parse_deck(deck(X, BARS, HELD, [], strain="GREEN")).mesh, fem.parse_deck(other.read_text()).mesh
    moved = np.linalg.norm(placed.coordinates - drawn.coordinates, axis=1)
    at = f"up to {moved.max():.4g} from where they were drawn (node {drawn.node_labels[moved.argmax()]})"
    assert f"nodes placed, {at}; N from" in told
    table = np.loadtxt(tmp_path / "formed.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(table[:, 4], np.where(EDGE, 5.0, 1.0), rtol=1e-9)
    np.testing.assert_array_equal(fem.read_deck(other).mesh.coordinates, fem.read_deck(path).mesh.coordinates)
    assert np.abs(fem.run(other).u[-1]).max() < 1e-9
    assert main(["form", str(path), "--output", str(path), "--force"]) == 2
    assert main(["form", str(other), "--output", str(tmp_path / "x.inp")]) == 2


def test_a_later_run_has_the_form_of_the_first_one(tmp_path):
    """``*RESTART, READ``: loads of the first step of the first run count, not those of the new one."""
    text = deck(X, BARS, HELD, [("FORCE DENSITY", 100.0)], loads="*CLOAD\n13, 3, -50.\n")
    first, second = tmp_path / "first.inp", tmp_path / "second.inp"
    first.write_text(text.replace("*STEP", "*RESTART, WRITE\n*STEP"))
    second.write_text("*RESTART, READ\n" + STEP.format(loads="*CLOAD\n13, 3, -80.\n"))
    fem.run(first, output=tmp_path / "one")
    history = fem.run(second, output=tmp_path / "two", earlier=tmp_path / "one")
    assert history.model.mesh.coordinates == pytest.approx(fem.read_deck(first).mesh.coordinates)
    assert history.of_node(13)[-1, 2] < -1e-3 and np.abs(history.u[0]).max() < 1e-9
