"""Self-stress, mechanisms and verdicts: laws of random structures, then closed forms and published numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import fem
from fem.cli import main
from fem.errors import CommandError, ModelError
from tests.structures.made import SIMPLEX, deck, prism, six_struts, square

EVERY = (1, 2, 3)


def judged(*structure, **options):
    return fem.rigidity(fem.parse_deck(deck(*structure, **options)))


@st.composite
def structures(draw):
    """Positions, bars, force densities, supports and equations of random structures."""
    count = draw(st.integers(2, 6))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    x = random.normal(size=(count, 3))
    if draw(st.booleans()):
        x[:, 2] = 0.0
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    bars = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=12, unique=True))
    dofs = [(node, dof) for node in range(count) for dof in EVERY]
    held = draw(st.lists(st.sampled_from(dofs), max_size=2 * count, unique=True))
    used = {node for bar in bars for node in bar}
    tied = [dof for dof in dofs if dof not in held and dof[0] in used]
    ties = springs = ""
    if len(tied) >= 2 and draw(st.booleans()):
        (first, a), (last, b), factor = tied[0], tied[-1], draw(st.sampled_from([-1.0, 0.5]))
        ties = f"*EQUATION\n2\n{first + 1}, {a}, 1., {last + 1}, {b}, {factor}\n"
    if tied and draw(st.booleans()):
        node, dof = tied[0]
        springs = f"*ELEMENT, TYPE=SPRING1, ELSET=S\n100, {node + 1}\n*SPRING, ELSET=S\n{dof}\n50.\n"
    return x, np.array(bars), random.normal(size=len(bars)), held, ties + springs


@settings(max_examples=40)
@given(structures())
def test_counts_of_maxwell_and_calladine(structure):
    """And the vectors are what their names say, for any structure."""
    x, bars, q, held, ties = structure
    found = judged(x, bars, q, held, between=ties)
    s, m, rigid = found.sizes
    dofs, members = found.found.rigid.shape[0], len(found.elements)
    assert dofs - members == m + rigid - s
    assert max(found.residuals) < 1e-7
    assert found.states.shape == (members, s)
    if s:
        np.testing.assert_allclose(np.abs(found.states).max(axis=0), 1.0, rtol=1e-12)
    both = np.concatenate([found.found.mechanisms, found.found.rigid], axis=1)
    np.testing.assert_allclose(both.T @ both, np.eye(m + rigid), atol=1e-7)


@settings(max_examples=20)
@given(structures(), st.integers(0, 10**6))
def test_the_answer_turns_with_the_structure(structure, seed):
    """Free structures: counts, stiffness, verdict."""
    x, bars, q, *_ = structure
    turn = Rotation.random(random_state=seed)
    one, other = judged(x, bars, q), judged(turn.apply(x) + 3.0, bars, q)
    assert (one.sizes, one.verdict) == (other.sizes, other.verdict)
    np.testing.assert_allclose(one.stiffness, other.stiffness, atol=1e-6)
    if np.isfinite(one.least):
        assert other.least == pytest.approx(one.least, rel=1e-6, abs=1e-6)


CASES = {
    "T-prism": (prism(), (1, 1, 6), None, "super-stable"),
    "prism 4": (prism(4), (1, 3, 6), None, "super-stable"),
    "prism 5": (prism(5), (1, 5, 6), None, "super-stable"),
    "prism 6": (prism(6), (1, 7, 6), None, "super-stable"),
    "six struts": (six_struts(), (1, 1, 6), 4.0, "super-stable"),
    "star prism": (prism(5, 2, 1, 1.0), (1, 5, 6), -0.6237, "unstable"),
    "square": (square(), (1, 1, 6), 4.0, "super-stable"),
    "square reversed": ((*square()[:2], -square()[2]), (1, 1, 6), -4.0, "unstable"),
}


@pytest.mark.parametrize("name", CASES)
def test_known_structures(name):
    """Prototype of the same formulas in numpy; Connelly and Terrell for prisms, Pellegrino for the counts."""
    structure, sizes, least, verdict = CASES[name]
    found = judged(*structure)
    assert (found.sizes, found.verdict) == (sizes, verdict)
    if least is not None:
        assert found.stiffness[0] == pytest.approx(least, abs=5e-5)
    way = np.sign(found.force) * np.sign(found.states[:, 0])
    assert (way == 1.0).all()  # struts are negative


def test_the_prestress_of_a_prism_scales():
    x, bars, q = prism()
    assert judged(x, bars, 2000.0 * np.sqrt(3.0) * q).stiffness == pytest.approx([10800.0], rel=1e-9)


@pytest.mark.parametrize("tension", [5.0, -5.0, 0.0])
def test_two_collinear_bars(tension):
    """K = 2 N/L across them."""
    x, held = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]), [(node, dof) for node in (0, 2) for dof in EVERY]
    found = judged(x, np.array([(0, 1), (1, 2)]), [tension, tension], held)
    assert found.sizes == (1, 2, 0)
    np.testing.assert_allclose(found.stiffness, 2.0 * tension, rtol=1e-9)
    assert (
        found.verdict == {5.0: "super-stable", -5.0: "unstable", 0.0: "loose: 2 mechanisms without stiffness"}[tension]
    )


@pytest.mark.parametrize(("degrees", "least"), [(0.01, 5.7e-5), (1.0, 5.7e-3)])
def test_a_prism_that_is_drawn_wrong_nearly_has_a_state_of_self_stress(degrees, least):
    found = judged(*prism(off=np.radians(degrees)))
    assert found.sizes == (0, 0, 6)
    assert found.found.near == 1
    assert found.found.singular[11] / found.found.singular[0] == pytest.approx(least, rel=0.01)
    assert "nearly 1 and 1" in str(found)


def test_the_simplex_of_feron():
    """Feron et al. 2023: S -1, 0.393, 0.681 and S_a 602, -237, -410 N/mm; more digits from the prototype."""
    found = fem.rigidity(fem.parse_deck(SIMPLEX))
    assert found.sizes == (1, 1, 0)
    np.testing.assert_allclose(found.states[[0, 3, 9], 0], [-1.0, 0.3934, 0.6812], atol=1e-4)
    np.testing.assert_allclose(found.sensitivity[0, [0, 3, 9]], [602.43, -236.97, -410.36], rtol=2e-5)


def test_the_prestressed_simplex_of_feron_is_super_stable():
    """1 kN in the state of self-stress; the stiffness of the mechanism by the prototype."""
    bare = fem.rigidity(fem.parse_deck(SIMPLEX))
    x, bars = bare.place, bare.model.mesh.element_nodes
    length = np.linalg.norm(x[bars[:, 1]] - x[bars[:, 0]], axis=1)
    held = [(0, 1), (0, 3), (1, 1), (1, 2), (1, 3), (2, 3)]
    found = judged(x, bars, 1000.0 * bare.states[:, 0] / length, held, young=1e7)
    assert (found.sizes, found.verdict) == ((1, 1, 0), "super-stable")
    assert found.stiffness[0] == pytest.approx(0.5290, abs=5e-5)


DECKS = Path(__file__).parents[2] / "validation" / "structures"
SHARED = {"tsg_half_tbar": (1, 0, 0), "tsg_dbar": (1, 0, 1), "star_dome_riks": (3, 0, 0), "tsg_tower_modes": (2, 2, 0)}


@pytest.mark.parametrize("name", SHARED)
def test_published_structures(name):
    """TsgFEM's examples and the star dome of Levy and Spillers: counts by the prototype."""
    assert fem.rigidity(DECKS / f"{name}.inp").sizes == SHARED[name]


def test_rounding_errors_of_lengths_are_no_prestress():
    """A square without diagonals whose natural lengths are its distances, but for 1e-16: no more than loose."""
    x, bars, q = square()
    turn = Rotation.random(random_state=4).as_matrix()
    assert judged(x @ turn.T, bars[:4], 1e-10 * q[:4], young=1e9).verdict.startswith("loose: 2 mechanisms")


def test_the_state_after_a_step():
    """A cable hangs in its tension: it turns about the line of its supports, and its tension stiffens the rest."""
    x = np.array([[k, 0.0, 0.0] for k in range(5)])
    held = [(node, dof) for node in (0, 4) for dof in EVERY]
    bars = np.array([(k, k + 1) for k in range(4)])
    steps = "*STEP, NLGEOM, NAME=DEAD\n*STATIC\n0.1, 1.\n*CLOAD\n3, 3, -1e4\n2, 3, -1e4\n4, 3, -1e4\n*END STEP\n"
    model = fem.parse_deck(deck(x, bars, [1e3] * 4, held, steps=steps))
    assert fem.rigidity(model).sizes == (1, 6, 0)
    for name in ("DEAD", "dead", 1):
        hung = fem.rigidity(model, after=name)
        assert hung.sizes == (0, 4, 1)
        assert hung.verdict == "super-stable"
        assert hung.force[0] > 2e4
    with pytest.raises(CommandError, match="there is no step 2; there are DEAD, 1"):
        fem.rigidity(model, after=2)


def test_what_is_not_counted_is_refused():
    with pytest.raises(ModelError, match="this model has lines of variable length"):
        fem.rigidity("inputs/pulley.inp")
    x = np.column_stack([np.arange(1100.0), np.zeros((1100, 2))])
    bars = np.column_stack([np.arange(1099), np.arange(1, 1100)])
    with pytest.raises(ModelError, match="at most 3000 free dofs and members, this model has 3300"):
        judged(x, bars, np.ones(1099))


def test_files_and_words(tmp_path, capsys):
    path = tmp_path / "prism.inp"
    path.write_text(deck(*prism()))
    assert main(["rigidity", str(path), "--output", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "1 state of self-stress, 1 mechanism, 6 rigid motions" in told
    assert "18 - 12 = 1 + 6 - 1" in told
    assert "verdict    super-stable" in told
    record = json.loads((tmp_path / "out" / "rigidity.json").read_text())
    assert (record["states"], record["verdict"]) == (1, "super-stable")
    tables = {name: np.loadtxt(tmp_path / "out" / f"{name}.csv", delimiter=",", skiprows=1)
              for name in ("self_stress", "mechanisms", "sensitivity")}  # fmt: skip
    found = fem.rigidity(path)
    np.testing.assert_array_equal(tables["self_stress"][:, 1], found.states[:, 0])
    np.testing.assert_array_equal(tables["mechanisms"][:, 1:], found.mechanisms[0])
    np.testing.assert_array_equal(tables["sensitivity"][:, 1], found.sensitivity[0])
    assert b'Name="mechanism_1"' in (tmp_path / "out" / "rigidity.vtu").read_bytes()
    assert {"self_stress.png", "mechanisms.png"} <= {each.name for each in (tmp_path / "out").iterdir()}


def test_check_has_a_line():
    assert "rigidity    1 state of self-stress, 1 mechanism, 6 rigid motions" in str(
        fem.check(fem.parse_deck(deck(*prism())))
    )
