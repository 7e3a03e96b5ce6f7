"""Decks with parts and instances: those in ``parts/`` have flat twins, and the numbers of both are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import fem
from fem.arrays import same
from fem.deck import deck_reader, parse_deck, read_deck, write_deck
from fem.errors import DeckError
from fem.show.checking import check

TWINS = sorted(path for path in (Path(__file__).parent / "parts").glob("*.inp") if not path.stem.endswith(".flat"))
NAMED = pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
NUMBERS = ("time", "u", "v", "a", "reactions", "elements", "energy")


def twin_of(path: Path) -> Path:
    """The same structure without parts."""
    return path.with_suffix(".flat.inp")


def test_there_are_many() -> None:
    assert len(TWINS) >= 12


@NAMED
def test_a_deck_with_parts_has_the_numbers_of_its_flat_twin(path: Path) -> None:
    own, twin = fem.run(read_deck(path)), fem.run(read_deck(twin_of(path)))
    assert abs(own.u).max() > 1e-3
    for name in NUMBERS:
        assert np.array_equal(getattr(own, name), getattr(twin, name)), name
    assert [modes.frequency.tolist() for modes in own.modes] == [modes.frequency.tolist() for modes in twin.modes]


@NAMED
def test_check_says_the_same_of_both(path: Path) -> None:
    """Same sizes, masses, periods and findings; labels and names of sets apart."""
    heads = ("nodes ", "elements ", "extent ", "mass ")
    own, twin = (
        [line for line in str(check(each)).splitlines() if line.startswith(heads)] for each in (path, twin_of(path))
    )
    assert own == twin and len(own) == len(heads)


@NAMED
def test_written_flat_and_read_again(path: Path) -> None:
    """The deck of the model is flat and has its labels; only where they come from is no longer known."""
    model = read_deck(path)
    again = parse_deck(write_deck(model))
    assert again == model and model.mesh.instances and not again.mesh.instances


MATERIAL = "*MATERIAL, NAME=M\n*ELASTIC\n1e6\n*DENSITY\n1e3\n"
PART = """*PART, NAME=BAR
*NODE
1, 0, 0
2, 1, 0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1, 1, 2
*NSET, NSET=LEFT
1
*SOLID SECTION, ELSET=ALL, MATERIAL=M
1e-2
*END PART
"""
TWO = "*ASSEMBLY\n*INSTANCE, NAME=A, PART=BAR\n*END INSTANCE\n*INSTANCE, NAME=B, PART=BAR\n0, 1\n*END INSTANCE\n"
USES = """*ELEMENT, TYPE=SPRINGA, ELSET=E
1, A.1, B.2
*SPRING, ELSET=E

1.
*NSET, NSET=S, INSTANCE=B
2, LEFT
*NSET, NSET=T
B.LEFT, A.1
*EQUATION
2
A.2, 1, 1., B.2, 1, -1.
*END ASSEMBLY
"""
STEP = "*STEP, NLGEOM\n*STATIC\n*DLOAD\n, GRAV, 10, 0, -1\n*END STEP\n"


def deck(assembly: str = "*END ASSEMBLY\n", rest: str = "") -> str:
    """Two bars, the assembly and what follows it added to."""
    return PART + TWO + assembly + MATERIAL + rest + STEP


def test_labels_and_their_names() -> None:
    """The first instance keeps its labels unless something stands in the assembly itself; the n-th follows above."""
    mesh = parse_deck(deck()).mesh
    assert mesh.node_labels.tolist() == [1, 2, 11, 12]
    assert mesh.element_labels.tolist() == [1, 11]
    assert [mesh.named(label) for label in (1, 2, 11, 12)] == ["A.1", "A.2", "B.1", "B.2"]
    mesh = parse_deck(deck("*NODE\n7, 5, 5\n*END ASSEMBLY\n")).mesh
    assert mesh.node_labels.tolist() == [11, 12, 21, 22, 7]
    assert [mesh.named(label) for label in (7, 12, 21)] == ["7", "A.2", "B.1"]
    assert sorted(mesh.element_sets) == ["A.ALL", "B.ALL"]


def test_labels_stand_where_labels_are_taken() -> None:
    """Supports, loads, arc length and initial conditions by ``INSTANCE.label``."""
    text = deck(rest="*BOUNDARY\nB.1, 1\n*INITIAL CONDITIONS, TYPE=VELOCITY\nA.2, 1, 3.\n").replace(
        "*STATIC\n", "*STATIC, RIKS\n0.1, 1, , , , B.2, 2, -0.1\n*CLOAD\nA.1, 1, 2.\n*TEMPERATURE\nB.2, 3.\n"
    )
    model = parse_deck(text.replace(", GRAV", "B.1, GRAV"))
    step = model.steps[0]
    assert [model.boundaries[0].target, model.initial_conditions[0].target] == [11, 2]
    assert [step.procedure.riks.target, step.nodal_loads[0].target, step.temperatures[0].target] == [12, 1, 12]
    assert step.distributed_loads[0].target == 11


def test_elements_of_instances_are_named_by_cards_of_every_kind() -> None:
    """Winches, rest lengths, failures, removals, and what stands in lists that no one has thought of here."""
    given = "*REST LENGTH\nB.1, 0.9\n*FAILURE, TYPE=TENSION\nB.1, 1e6\n"
    held = "*BOUNDARY\n" + "".join(f"{node}, 1, 3\n" for node in ("A.1", "A.2", "B.1", "B.2"))
    model = parse_deck(
        deck(rest=given + held).replace("*DLOAD\n", "*WINCH\nB.1, -0.1\n*MODEL CHANGE, REMOVE\nA.1\n*DLOAD\n")
    )
    step = model.steps[0]
    assert [model.rest_lengths[0].target, model.failures[0].target] == [11, 11]
    assert [step.winches[0].target, step.removals[0]] == [11, 1]
    assert fem.run(model).of_element(11, "T")[-1] != 0.0


def test_a_model_reads_the_same_with_parameters_traced() -> None:
    """A sweep puts numbers in where it can and reads anew where a shift of an instance follows from them."""
    path = next(path for path in TWINS if path.stem == "parameters")
    for varied in ("force", "span", "lift"):
        reader = deck_reader(path, [varied])
        for value in (1.5, 2.5):
            assert reader({varied: value}) == read_deck(path, {varied: value})


def test_a_sweep_has_the_numbers_of_the_flat_deck() -> None:
    path = next(path for path in TWINS if path.stem == "parameters")
    own, twin = (fem.sweep(each, {"force": [2.0, 4.0], "lift": [0.25, 0.5]}) for each in (path, twin_of(path)))
    assert len(own["point"]) == 4 and not own.failed.any() and same(dict(own), dict(twin))


BROKEN = [
    ("*INSTANCE, NAME=B, PART=BAR", "*INSTANCE, NAME=B, PART=@BOR", "there is no part BOR"),
    ("*INSTANCE, NAME=B, PART=BAR", "*INSTANCE, @NAM=B, PART=BAR", "has no parameter 'NAM'"),
    ("0, 1\n", "0, @x\n", "expected the shift"),
    ("1, 0, 0\n2", "1, @a, 0\n2", "expected the x coordinate"),
    ("1, 1, 2\n", "1, 1@\n", "expected node 2"),
    ("1, 1, 2\n", "1, 1, @4\n", "element 1 refers to node 4"),
    ("*NODE\n1", "@*NOD\n1", "unknown keyword *NOD"),
    ("*NSET, NSET=LEFT\n1", "*NSET, NSET=LEFT\n@5", "set LEFT: there is no node 5"),
    ("ELSET=ALL, MATERIAL=M", "ELSET=ALL, MATERIAL=@MM", "there is no material MM"),
    ("*ASSEMBLY\n", "*ASSEMBLY, @FOO\n", "*ASSEMBLY has no parameter 'FOO'"),
]


@pytest.mark.parametrize(("good", "bad", "message"), BROKEN)
def test_nothing_is_blamed_on_what_uses_a_broken_instance(good: str, bad: str, message: str) -> None:
    text = deck(USES, "*BOUNDARY\nA.1, 1, 3\nB.LEFT, 1\nS, 2\nT, 3\n*INITIAL CONDITIONS, TYPE=STRESS\nB.ALL, 1.\n")
    assert parse_deck(text).equations
    test_mistakes(text.replace(good, bad, 1), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (deck(rest="*BOUNDARY\n@C.1, 1\n"), "there is no instance 'C'"),
        (deck(rest="*BOUNDARY\n@A.9, 1\n"), "instance A has no node or element 9"),
        (
            deck(rest="*BOUNDARY\n@2, 1\n"),
            "there is no node 2; labels of instances need the name of the instance: A.2 or B.2",
        ),
        (deck(rest="*BOUNDARY\n@11, 1\n"), "there is no node 11"),
        (deck(rest="*BOUNDARY\n@A.LEF, 1\n"), "there is no node set A.LEF; did you mean A.LEFT?"),
        (deck(rest="*INITIAL CONDITIONS, TYPE=STRESS\n@A.2, 1\n"), "there is no element A.2"),
        (deck("*NSET, NSET=S, INSTANCE=@D\n1\n*END ASSEMBLY\n"), "there is no instance D"),
        (deck("*NSET, NSET=S, INSTANCE=A\n1, @5\n*END ASSEMBLY\n"), "set S: instance A has no node 5"),
        (deck("*NSET, NSET=S, INSTANCE=A, GENERATE\n@1, 5\n*END ASSEMBLY\n"), "set S: instance A has no node 3"),
        (
            deck("*NSET, NSET=S\n@1, A.1\n*END ASSEMBLY\n"),
            "there is no node 1; labels of instances need the name of the instance",
        ),
        (
            deck("*ELEMENT, TYPE=SPRINGA, ELSET=E\n1, A.1, @2\n*SPRING, ELSET=E\n\n1\n*END ASSEMBLY\n"),
            "refers to node 2",
        ),
        (deck("").replace("*ASS", "@*ASS"), "a *STEP follows: *END ASSEMBLY is missing"),
        ("@" + deck().replace("*END PART\n", ""), "an *ASSEMBLY follows: *END PART is missing"),
        (deck("@*INSTANCE, NAME=C, PART=BAR\n*END ASSEMBLY\n"), "*END ASSEMBLY follows: *END INSTANCE is missing"),
        (deck("*INSTANCE, NAME=C, PART=@BAT\n*END INSTANCE\n*END ASSEMBLY\n"), "no part BAT; did you mean BAR?"),
        (deck("*INSTANCE, NAME=@B, PART=BAR\n*END INSTANCE\n*END ASSEMBLY\n"), "instance B is defined twice"),
        (deck("@*INSTANCE, PART=BAR\n*END INSTANCE\n*END ASSEMBLY\n"), "*INSTANCE needs NAME="),
        (deck(rest="@*END PART\n").replace("*ASSEMBLY\n", "*ASSEMBLY, NAME=X\n", 1), "*END PART without *PART"),
        (deck("@*INSTANCE, NAME=C, PART=BAR\n*INSTANCE, NAME=D, PART=BAR\n*END INSTANCE\n*END ASSEMBLY\n"), "an *INST"),
        (deck("*INSTANCE, NAME=C, @INSTANCE=X, PART=BAR\n*END INSTANCE\n*END ASSEMBLY\n"), "is not supported"),
        (PART + deck().replace("NAME=BAR", "NAME=@BAR", 1), "part BAR is defined twice"),
        (deck() + "@*ASSEMBLY\n*END ASSEMBLY\n", "*ASSEMBLY comes after the first *STEP"),
        (deck("*INSTANCE, NAME=@3, PART=BAR\n*END INSTANCE\n*END ASSEMBLY\n"), "name of an instance is a number"),
        (deck("*END ASSEMBLY\n@*ASSEMBLY\n*END ASSEMBLY\n"), "the deck has a second *ASSEMBLY"),
        (deck("@*END INSTANCE\n*END ASSEMBLY\n"), "*END INSTANCE without *INSTANCE"),
        (PART + "@*INSTANCE, NAME=A, PART=BAR\n*END INSTANCE\n" + MATERIAL + STEP, "is outside the *ASSEMBLY"),
        (deck().replace("*NODE", "@*MATERIAL, NAME=N\n*NODE", 1), "*MATERIAL is inside the *PART of line 1"),
        (deck().replace("0, 1\n*END", "0, 1\n@1, 1, 1, 1, 1, 1, 9\n*END"), "two points of the axis are the same"),
        (deck().replace("0, 1\n*END", "0, 1\n0, 0, 0, 1, 1, 1, 9, @9\n*END"), "got an extra entry '9'"),
        (deck().replace("0, 1\n*END", "0, 1\n0, 0, 0, 1, 1, 1@\n*END"), "expected the angle in degrees (a number)"),
        (deck().replace("0, 1\n*END", "0, 1, 1\n0, 0, 0, 1, 1, 1, 9\n@3\n*END"), "takes two data lines"),
        (deck().replace("1, 1, 2\n*NSET", "1, 1, @3\n*NSET"), "element 1 refers to node 3, which does not exist"),
        (deck().replace("ELSET=ALL, MATERIAL", "ELSET=@AL, MATERIAL"), "there is no element set AL; did you mean ALL?"),
        (deck("@*RIGID BODY, REF NODE=1\n*END ASSEMBLY\n"), "*RIGID BODY"),
        (deck().replace("*NSET", "@*SURFACE, NAME=S\n*NSET", 1), "*SURFACE"),
        (
            deck()
            .replace("T3D2", "T2D2")
            .replace("1, 1, 2", "@1, 1, 2")
            .replace("0, 1\n*E", "0, 1\n, , , , 1, , 30\n*E"),
            "node B.2 of T2D2 element B.1 lies outside the plane z = 0",
        ),
        (
            deck()
            .replace("2, 1, 0", "900000000000000, 1, 0")
            .replace("1, 1, 2", "1, 1, 900000000000000")
            .replace("*INSTANCE, NAME=B", "@*INSTANCE, NAME=B"),
            "too large together",
        ),
        (deck().replace("T3D2", "@T3D3", 1), "element type 'T3D3' is not supported"),
        (deck().replace("*ELASTIC", "*ELASTIK".replace("*", "@*")), "unknown keyword *ELASTIK; did you mean *ELASTIC?"),
        (deck().replace("*NSET", "@*NSETT", 1), "unknown keyword *NSETT; did you mean *NSET?"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    """Each is said once, where it stands (@), and nothing is blamed on it, with however many instances."""
    at = text.index("@")
    with pytest.raises(DeckError) as caught:
        parse_deck(text.replace("@", ""))
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
    assert message in f"{problem.message}; {problem.hint}"


def test_a_part_without_instance_is_left_out_with_a_notice() -> None:
    model = parse_deck(PART.replace("NAME=BAR", "NAME=SPARE") + deck())
    assert "part SPARE has no *INSTANCE: it is ignored" in model.notices
    assert model.mesh == parse_deck(deck()).mesh


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.booleans())
def test_a_truss_cut_into_moved_parts_is_the_flat_truss(seed: int, pieces: int, has_own: bool) -> None:
    """Any rigid motion of any piece, taken back in the coordinates of its part; scipy's rotations are the judge."""
    random = np.random.default_rng(seed)
    counts = random.integers(2, 5, pieces)
    points = [random.normal(size=(count, 3)) for count in counts]
    flat, parts, assembly, names = [""] * 3, "", "*ASSEMBLY\n", []
    for piece, own in enumerate(points):
        shift, start, axis, degrees = *random.normal(size=(3, 3)), random.uniform(-720.0, 720.0)
        turn = Rotation.from_rotvec(np.radians(degrees) * axis / np.linalg.norm(axis))
        local = turn.inv().apply(own - start) + start - shift
        first = 100 * piece
        flat[0] += "".join(f"{first + at + 1}, {x!r}, {y!r}, {z!r}\n" for at, (x, y, z) in enumerate(own.tolist()))
        bars = [(at, at, at + 1) for at in range(1, len(own))]
        flat[1] += "".join(f"{first + a}, {first + b}, {first + c}\n" for a, b, c in bars)
        nodes = "".join(f"{at + 1}, {x!r}, {y!r}, {z!r}\n" for at, (x, y, z) in enumerate(local.tolist()))
        parts += f"*PART, NAME=P{piece}\n*NODE\n{nodes}*ELEMENT, TYPE=T3D2, ELSET=BARS\n"
        parts += "".join(f"{a}, {b}, {c}\n" for a, b, c in bars)
        parts += "*SOLID SECTION, ELSET=BARS, MATERIAL=M\n1e-2\n*END PART\n"
        line = [*start.tolist(), *(start + axis).tolist(), degrees]
        assembly += f"*INSTANCE, NAME=I{piece}, PART=P{piece}\n{', '.join(map(repr, shift.tolist()))}\n"
        assembly += f"{', '.join(map(repr, line))}\n*END INSTANCE\n"
        names += [(f"I{piece}.{at + 1}", first + at + 1) for at in range(len(own))]
    pairs = [(names[0], names[at]) for at in range(len(points[0]), len(names))]
    ties = ["*ELEMENT, TYPE=SPRINGA, ELSET=TIES\n", *(f"{{}}{n + 1}, {{}}, {{}}\n" for n in range(len(pairs)))]
    spring = "*SPRING, ELSET=TIES\n\n50.\n" if pairs else ""
    tied = "".join([ties[0], *(f"{900 + n}, {a[0]}, {b[0]}\n" for n, (a, b) in enumerate(pairs))]) if pairs else ""
    flat[2] = "".join([ties[0], *(f"{900 + n}, {a[1]}, {b[1]}\n" for n, (a, b) in enumerate(pairs))]) if pairs else ""
    own_node = "*NODE\n990, 9., 9., 9.\n" if has_own else ""
    step = "*BOUNDARY\n{}, 1, 3\n*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.001, 0.01\n*CLOAD\n{}, 1, 3.\n*END STEP\n"
    at, last = names[0], names[-1]
    text = parts + assembly + own_node + tied + spring + "*END ASSEMBLY\n" + MATERIAL + step.format(at[0], last[0])
    twin = f"*NODE\n{flat[0]}{own_node}*ELEMENT, TYPE=T3D2, ELSET=BARS\n{flat[1]}{flat[2]}{spring}{MATERIAL}"
    twin += "*SOLID SECTION, ELSET=BARS, MATERIAL=M\n1e-2\n" + step.format(at[1], last[1])
    one, other = parse_deck(text), parse_deck(twin)
    assert np.allclose(one.mesh.coordinates, other.mesh.coordinates, rtol=0.0, atol=1e-13 * 10.0)
    for left, right in zip(one.mesh.blocks, other.mesh.blocks, strict=True):
        assert np.array_equal(left.connectivity, right.connectivity)
    assert np.allclose(fem.run(one).u, fem.run(other).u, rtol=1e-7, atol=1e-12)
