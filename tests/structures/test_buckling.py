"""``*BUCKLE``: laws of random trusses and the dome, closed forms, published factors; what is refused and told."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import fem
from fem.solve import buckling
from tests.structures.made import deck, prism, square
from validation.references.torsion import clamped_determinant, strip_load

HERE = Path(__file__).parents[2] / "validation" / "structures"
TARGETS = json.loads((HERE / "targets.json").read_text())
BUCKLE = "*STEP, NLGEOM\n*BUCKLE\n{count}\n*CLOAD\n{loads}*END STEP\n"
FACTORS = ("star_dome_buckle", "von_mises_preloaded_buckle_engineering", "von_mises_preloaded_buckle_green")


def factors(text):
    """Factors, residuals, notices of a deck."""
    history = fem.run(fem.parse_deck(text))
    return history.buckling[-1].factor, history.buckling[-1].residual, history.notices


def dome(name="star_dome_buckle", **changes):
    text = (HERE / f"{name}.inp").read_text()
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    return text


@st.composite
def trusses(draw):
    """A top held by three to six bars, in compression or not: positions, bars, supports, load."""
    count = draw(st.integers(3, 6))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    feet = np.column_stack([random.normal(size=(count, 2)), np.zeros(count)])
    tops = np.array([[0.1, 0.2, 1.0], [0.4, -0.3, 1.6]])
    bars = [(k, count) for k in range(count)] + [(k, count + 1) for k in range(3)] + [(count, count + 1)]
    held = [(k, dof) for k in range(count) for dof in (1, 2, 3)]
    return np.concatenate([feet, tops]), np.array(bars), held, random.normal(size=(2, 3))


def found(x, bars, held, load, strain="ENGINEERING", count=6):
    lines = "".join(f"{len(x) - 1 + k}, {axis + 1}, {load[k, axis]!r}\n" for k in range(2) for axis in range(3))
    steps = BUCKLE.format(count=count, loads=lines.replace("np.float64(", "").replace(")", ""))
    return factors(deck(x, bars, np.zeros(len(bars)), held, strain=strain, steps=steps))


@settings(max_examples=15)
@given(trusses(), st.sampled_from(["GREEN", "ENGINEERING", "LOG"]), st.floats(1e-6, 1e6), st.integers(0, 10**6))
def test_factor_times_load_is_constant_and_turns(truss, strain, scale, seed):
    """Also factors far below 1, which other programs lose; positive ones first, all with small residuals."""
    x, bars, held, load = truss
    one, residual, _ = found(x, bars, held, load, strain)
    other, _, _ = found(x, bars, held, load * scale, strain)
    np.testing.assert_allclose(other * scale, one, rtol=1e-8)
    turn = Rotation.random(random_state=seed)
    np.testing.assert_allclose(found(turn.apply(x), bars, held, turn.apply(load), strain)[0], one, rtol=1e-6)
    back, _, _ = found(x, bars, held, -load, strain)
    np.testing.assert_allclose(np.sort(-back), np.sort(one), rtol=1e-8)  # all six
    assert residual.max() < 1e-9
    positive = one[one > 0.0]
    assert np.array_equal(one[: len(positive)], np.sort(positive))
    assert np.array_equal(one[len(positive) :], -np.sort(-one[one < 0.0]))


@pytest.mark.parametrize("name", FACTORS)
def test_targets(name):
    """Prototype; CalculiX 2.20 gives 3.206905 and 48.86910 for the dome."""
    given, residual, _ = factors(dome(name))
    np.testing.assert_allclose(given, TARGETS[name]["factors"], rtol=1e-8)
    assert residual.max() < 1e-9


def test_the_dome_with_engineering_strain():
    given, *_ = factors(dome(strain=("GREEN", "ENGINEERING")))
    np.testing.assert_allclose(given, TARGETS["star_dome_buckle"]["engineering"], rtol=1e-8)


@pytest.mark.parametrize(
    ("strain", "load", "first"),
    [
        ("engineering", 0.0, 1990.0743804), ("engineering", 100.0, 1484.346452), ("engineering", 370.0, 64.121454),
        ("engineering", 379.0, 12.330719), ("green", 0.0, 1970.3706737), ("green", 100.0, 1467.534776),
        ("green", 370.0, 53.170155), ("green", 379.0, 1.180857),
    ],
)  # fmt: skip
def test_two_bars_near_their_limit(strain, load, first):
    """Closed form without preload, 2 EA h^3/(b^2 L) and 2 EA h^3/L^3; the prototype with it (7 digits)."""
    text = dome(f"von_mises_preloaded_buckle_{strain}", load=("3, 3, -300", f"3, 3, {-load}"))
    assert factors(text)[0][0] == pytest.approx(first, rel=1e-7)


MAST = (np.array([[0.0, 0, 0], [0, 0, 10], [-10, 0, 0], [10, 0, 0]]), np.array([(0, 1), (2, 1), (3, 1)]))
GUYED = "*NO COMPRESSION\n*SOLID SECTION, ELSET=GUYS, MATERIAL=GUY, STRAIN=ENGINEERING\n1.\n"


def mast(young, tension=20e3, load=-1.0):
    """A mast on two guys in its plane; natural lengths for the tension of the guys."""
    push, length = tension * 2.0**0.5, 10.0 * 2.0**0.5
    lengths = (10.0 * young / (young - push), *2 * (length * 5e6 / (5e6 + tension),))
    return (
        "*NODE\n" + "".join(f"{k + 1}, {a!r}, {b!r}, {c!r}\n" for k, (a, b, c) in enumerate(MAST[0].tolist()))
        + "*ELEMENT, TYPE=T3D2, ELSET=MAST\n1, 1, 2\n*ELEMENT, TYPE=T3D2, ELSET=GUYS\n2, 3, 2\n3, 4, 2\n"
        + f"*MATERIAL, NAME=STEEL\n*ELASTIC\n{young!r}\n*SOLID SECTION, ELSET=MAST, MATERIAL=STEEL, "
        + f"STRAIN=ENGINEERING\n1.\n*MATERIAL, NAME=GUY\n*ELASTIC\n5e6\n{GUYED}*REST LENGTH\n"
        + "".join(f"{k + 1}, {value!r}\n" for k, value in enumerate(lengths))
        + "*BOUNDARY\n1, 1, 3\n3, 1, 3\n4, 1, 3\n2, 2\n"
        + BUCKLE.format(count=1, loads=f"2, 3, {load!r}\n")
    )  # fmt: skip


def test_a_guyed_mast():
    """Prototype: 3535850.128 with a stiff mast; guys of a soft one are slack before."""
    given, _, notices = factors(mast(2e10))
    assert given[0] == pytest.approx(3535850.128, rel=1e-8)
    assert not any("slack" in text for text in notices)
    (told,) = (text for text in factors(mast(2e8))[2] if "slack" in text)
    assert "cable 2 goes slack at factor" in told or "cable 3 goes slack at factor" in told


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING", "LOG"])
@pytest.mark.parametrize("before", [0.0, 2.0])
def test_bars_between_walls_buckle_when_they_are_heated(before, strain):
    """Two bars in a line of length 1 each, their joint held across by a spring: k + 2 N = 0, N = -EA alpha T; the
    temperature of the step is counted from the one before it."""
    text = f"""*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.\n*ELEMENT, TYPE=T3D2, ELSET=BARS\n1, 1, 2\n2, 2, 3
*ELEMENT, TYPE=SPRING1, ELSET=SPRING\n3, 2\n*SPRING, ELSET=SPRING\n3\n0.1
*MATERIAL, NAME=M\n*ELASTIC\n1e6\n*EXPANSION\n1e-5
*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN={strain}\n1e-3\n*NSET, NSET=ALL\n1, 2, 3
*BOUNDARY\n1, 1, 3\n3, 1, 3\n2, 2
*STEP, NLGEOM\n*STATIC\n*TEMPERATURE\nALL, {before}\n*END STEP
*STEP, NLGEOM\n*BUCKLE\n1\n*TEMPERATURE\nALL, {before + 0.5}\n*END STEP
"""
    factor, residual, _ = factors(text)
    assert factor[0] == pytest.approx((0.1 / 2.0 / (1e3 * 1e-5) - before) / 0.5, rel=1e-6) and residual[0] < 1e-9


def test_no_factor_is_lost_by_lanczos(monkeypatch):
    """The pairs of the dome, which are equal but for the rounding of its coordinates, and all others."""
    text = dome(count=("*BUCKLE\n3", "*BUCKLE\n12"))
    exact, *_ = factors(text)
    monkeypatch.setattr(buckling, "DENSE", 0)
    given, residual, notices = factors(text)
    np.testing.assert_allclose(given, exact, rtol=1e-9)
    assert residual.max() < 1e-8
    assert not any("more lie" in text or "not counted" in text for text in notices)


def test_what_is_told():
    _, _, notices = factors(dome())
    assert any("snap through at a fraction" in text for text in notices)
    _, _, notices = factors(dome("von_mises_preloaded_buckle_green", count=("*BUCKLE\n2", "*BUCKLE\n5")))
    assert any("5 factors asked for, the model has 2" in text for text in notices)
    given, _, notices = factors(dome("von_mises_preloaded_buckle_green", load=("3, 3, -1\n", "3, 3, 1\n")))
    assert (given < 0.0).all()
    assert any("no positive factor" in text for text in notices)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (mast(2e10, tension=-1.0), "cables without tension .*, whose stiffness is undefined: element 2, 3"),
        (dome("von_mises_preloaded_buckle_green", load=("*STATIC\n0.02, 1.", "*DYNAMIC, DIRECT\n1e-4, 1e-4"),
              dense=("*SOLID", "*DENSITY\n1e3\n*SOLID")), "not in equilibrium"),
        (dome(load=("1, 3, -220.46", "8, 3, -220.46")), "the loads of the step change no force"),
        (dome(law=("*ELASTIC\n30000000", "*INEXTENSIBLE")), "rods and ropes have no stiffness"),
    ],
)  # fmt: skip
def test_what_is_refused(text, why):
    with pytest.raises(fem.ModelError, match=why):
        factors(text)


def test_a_state_that_is_unstable_already_is_refused():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [1, 1, 0], [1, -1, 0]])
    held = [(k, dof) for k in (0, 2, 3, 4) for dof in (1, 2, 3)]
    bars = np.array([(0, 1), (1, 2), (1, 3), (1, 4)])
    with pytest.raises(fem.ModelError, match="unstable already: its stiffness is negative in 1 direction"):
        factors(deck(x, bars, [-5.0] * 4, held, steps=BUCKLE.format(count=1, loads="2, 1, 1.\n")))


def test_the_step_leaves_nothing_behind_and_is_written(tmp_path):
    """A motion after it is the one without it; the deck, the tables and the figure come back."""
    path = tmp_path / "dome.inp"
    path.write_text(dome())
    history = fem.run(path, output=tmp_path / "out")
    loaded = fem.load(tmp_path / "out")
    np.testing.assert_array_equal(loaded.buckling[0].factor, history.buckling[0].factor)
    np.testing.assert_allclose(loaded.buckling[0].shapes, history.buckling[0].shapes)
    fem.plot(tmp_path / "out", "buckling")
    assert (tmp_path / "out" / "buckling.png").is_file()
    again = fem.parse_deck(fem.write_deck(fem.read_deck(path)))
    assert again.steps[0].buckling == fem.read_deck(path).steps[0].buckling
    pushed = "*STEP, NLGEOM\n*STATIC\n0.5, 1.\n*CLOAD\n1, 3, -50.\n*END STEP\n"
    steps = dome().partition("*STEP")
    both = fem.run(fem.parse_deck(steps[0] + pushed + "*STEP" + steps[2] + "*STEP, NLGEOM\n*STATIC\n*END STEP\n"))
    assert both.u[-1] == pytest.approx(fem.run(fem.parse_deck(steps[0] + pushed)).u[-1], abs=1e-9)


def test_the_factor_vanishes_where_the_path_has_its_limit():
    """P + lambda falls to the limit load of RIKS, 2 EA h^3/(3 sqrt(3) L^3) with GREEN."""
    limit = 2e6 * 0.1**3 / (3.0 * np.sqrt(3.0) * np.hypot(1.0, 0.1) ** 3)
    sums = [load + factors(dome("von_mises_preloaded_buckle_green", load=("3, 3, -300", f"3, 3, {-load}")))[0][0]
            for load in (0.0, 200.0, 350.0, 378.0, 379.19)]  # fmt: skip
    assert np.all(np.diff(sums) < 0.0)
    assert sums[-1] == pytest.approx(limit, abs=0.5)
    assert sums[-1] > limit


def pressed(structure, load, turn=None, steps="", count=4, held=()):
    """A structure under loads (n, 3), turned with them."""
    x, bars, q = structure
    turn = np.eye(3) if turn is None else turn
    rows = [
        f"{k + 1}, {a + 1}, {v!r}\n" for k, row in enumerate((load @ turn.T).tolist()) for a, v in enumerate(row) if v
    ]
    return factors(deck(x @ turn.T, bars, q, held, steps=steps + BUCKLE.format(count=count, loads="".join(rows))))


CORNERS = np.array([(1.0, 1, 0), (0, 0, 0), (-1, -1, 0), (0, 0, 0)])


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_free_square_that_is_pressed_along_its_diagonal(seed):
    """Sides (q = 1) and diagonals (-1) of equal E A: the sides lose q = sqrt(2) P/(2 + 2 sqrt(2)), and the mechanism
    (corners up and down), whose stiffness is 4 q, is soft at P = 2 + sqrt(2), but for strains of 1e-6. By hand."""
    turn = None if seed is None else Rotation.random(random_state=seed).as_matrix()
    found, residual, notices = pressed(square(), CORNERS, turn)
    assert found[0] == pytest.approx(2.0 + np.sqrt(2.0), rel=2e-6)
    assert residual.max() < 1e-8
    assert any("six rigid motions are free" in text for text in notices)
    assert not any("not counted" in text for text in notices)  # though factors 3 and 4 are equal


@pytest.mark.parametrize("dead", [-2.0, 2.0])
def test_dead_loads_in_balance_do_not_turn_a_free_body(dead):
    """Pulled or pressed before along the same diagonal: P + lambda as without, but for strains of 1e-6."""
    rows = "".join(f"{k}, {a}, {s * dead}\n" for k, s in ((1, 1.0), (3, -1.0)) for a in (1, 2))
    before = f"*STEP, NLGEOM\n*STATIC\n1., 1.\n*CLOAD\n{rows}*END STEP\n"
    found, *_ = pressed(square(), CORNERS, steps=before, count=1)
    assert dead + found[0] == pytest.approx(2.0 + np.sqrt(2.0), rel=1e-5)


def test_free_bodies_are_as_if_held_where_no_motion_turns_them():
    """A square whose plane is held: rotations in it are the only ones that change lengths of the second order."""
    flat = [(k, 3) for k in range(4)]
    free, _, notices = pressed(square(), CORNERS, held=flat, count=2)
    assert any("three rigid motions are free (translation along x, y; rotation about z" in text for text in notices)
    held, *_ = pressed(square(), CORNERS, held=[*flat, (0, 1), (0, 2), (2, 1)], count=2)
    assert len(free) == len(held) == 2 and (free > 1e5).all() and (held > 1e5).all()


@pytest.mark.parametrize(
    ("load", "motion"),
    [([(1, 0, 0), (0, 0, 0)], "translation along x"), ([(0, 1, 0), (0, -1, 0)], "rotation about z through")],
)
def test_free_bodies_need_loads_in_balance(load, motion):
    with pytest.raises(fem.ModelError, match=f"nothing holds the part with node 1 against {motion}"):
        pressed(prism(), np.concatenate([np.array(load, float), np.zeros((4, 3))]))


def test_a_hanging_line_is_held_by_its_load():
    """Its rotation about the support is a pendulum, no free motion: the factor turns the load."""
    x, bars = np.array([[0.0, 0, 0], [0, 0, -1], [0, 0, -2]]), np.array([(0, 1), (1, 2)])
    dead = "*STEP, NLGEOM\n*STATIC\n1., 1.\n*CLOAD\n3, 3, -10.\n*END STEP\n"
    up = np.array([(0.0, 0, 0), (0, 0, 0), (0, 0, 1)])
    found, _, notices = pressed((x, bars, np.zeros(2)), up, steps=dead, held=[(0, dof) for dof in (1, 2, 3)])
    assert found == pytest.approx([10.0] * 4, rel=1e-3)
    assert not any("rigid" in text for text in notices)


@pytest.mark.parametrize(
    ("end", "length"), [("", 2.0), ("*BOUNDARY\n11, 2, 6\n", 0.5), ("*BOUNDARY\n11, 2, 3\n", 0.6991557)]
)
def test_clamped_columns(end, length):
    """Euler's pi^2 EI/(length L)^2, each twice: a round section bends both ways. Some entries of the tangent are sums
    of rounding errors, which once counted as unsymmetric. With 10 bars to some percent. Less the load before."""
    text = (
        "*NODE\n1, 0., 0., 0.\n11, 1., 0., 0.\n*NGEN\n1, 11\n*ELEMENT, TYPE=B31\n1, 1, 2\n*ELGEN, ELSET=LINE\n1, 10\n"
        "*BEAM GENERAL SECTION, ELSET=LINE\n1., 1e-4, 0., 1e-4, 0.\n\n1e4, 4e3\n*BOUNDARY\n1, ENCASTRE\n" + end
        + "*STEP, NLGEOM\n*STATIC\n*CLOAD\n11, 1, -0.5\n*END STEP\n" + BUCKLE.format(count=2, loads="11, 1, -1.\n")
    )  # fmt: skip
    given, residual, _ = factors(text)
    np.testing.assert_allclose(given + 0.5, (np.pi / length) ** 2, rtol=3e-2)
    assert given[1] == pytest.approx(given[0], rel=1e-9)
    assert residual.max() < 1e-9


def test_a_column_that_is_twisted():
    """M = 2.5 EI/L from a step before: Greenhill's load between clamps, -35.1 EI/L^2 in place of -39.5, by the roots of
    ``clamped_determinant``; 2 % off with 10 bars, as without the torque."""
    text = (
        "*NODE\n1, 0., 0., 0.\n11, 1., 0., 0.\n*NGEN\n1, 11\n*ELEMENT, TYPE=B31\n1, 1, 2\n*ELGEN, ELSET=LINE\n1, 10\n"
        "*BEAM GENERAL SECTION, ELSET=LINE\n1., 1e-4, 0., 1e-4, 1e-4\n\n1e4, 5e3\n*BOUNDARY\n1, ENCASTRE\n11, 2, 6\n"
        "*STEP, NLGEOM\n*STATIC\n*BOUNDARY\n11, 4, 4, 5.\n*END STEP\n" + BUCKLE.format(count=1, loads="11, 1, -1.\n")
    )
    given, _, _ = factors(text)
    loads = np.linspace(30.0, 40.0, 401)
    exact = loads[np.argmin([abs(clamped_determinant(2.5, -load)) for load in loads])]
    assert given[0] == pytest.approx(exact, rel=3e-2)


def strip(bars, before=0.0, order=1, coupling=0.0):
    """First factor of a cantilever along x with EI1 = 1e4 EI2 and GJ = 0.6 EI2, pushed along z with ``before`` + 1."""
    ends = "1, 2" if order == 1 else "2, 1"
    text = (
        f"*NODE\n1, 0., 0., 0.\n{bars + 1}, 1., 0., 0.\n*NGEN\n1, {bars + 1}\n*ELEMENT, TYPE=B31\n1, {ends}\n"
        f"*ELGEN, ELSET=LINE\n1, {bars}\n*BEAM GENERAL SECTION, ELSET=LINE, COUPLING={coupling!r}\n"
        "1e4, 1., 0., 1e-4, 1e-4\n0., 1., 0.\n1e4, 6e3\n*BOUNDARY\n1, ENCASTRE\n"
    )
    load = f"*STEP, NLGEOM\n*STATIC\n*CLOAD\n{bars + 1}, 3, {-before!r}\n*END STEP\n" if before else ""
    given, residual, notices = factors(text + load + BUCKLE.format(count=2, loads=f"{bars + 1}, 3, -1.\n"))
    assert residual.max() < 1e-8
    assert not any("rigid" in notice for notice in notices)
    return given[0]


def test_a_strip_buckles_sideways_by_the_moments_of_the_step():
    """4.0126 sqrt(EI2 GJ)/L^2 (Prandtl), of second order; the load before counts as much; elements that run back."""
    exact = strip_load(1.0, 1e4, 1.0, 0.6)
    errors = np.array([strip(bars) / exact - 1.0 for bars in (10, 20)])
    assert abs(errors[1]) < 2e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    assert strip(10, order=-1) == pytest.approx(strip(10), rel=1e-9)
    assert 0.5 * exact + strip(10, before=0.5 * exact) == pytest.approx(strip(10), rel=1e-3)


def test_a_coupled_column_buckles_at_its_tension():
    """COUPLING between clamps: a push P alone turns nothing (the strain is uniform); Euler's load 4 pi^2 EI/L^2 at the
    tension EA e, though the torque is C e: with Greenhill's torque, by the roots of ``clamped_determinant``."""
    bars, coupling = 20, 300.0
    text = (
        f"*NODE\n1, 0., 0., 0.\n{bars + 1}, 1., 0., 0.\n*NGEN\n1, {bars + 1}\n*ELEMENT, TYPE=B31\n1, 1, 2\n"
        f"*ELGEN, ELSET=LINE\n1, {bars}\n*BEAM GENERAL SECTION, ELSET=LINE, STRAIN=ENGINEERING, COUPLING={coupling!r}\n"
        f"1., 1e-4, 0., 1e-4, 1e-3\n\n1e4, 1e4\n*BOUNDARY\n1, ENCASTRE\n{bars + 1}, 2, 6\n"
    )
    given, _, _ = factors(text + BUCKLE.format(count=1, loads=f"{bars + 1}, 1, -1.\n"))
    loads = np.linspace(20.0, 40.0, 2001)
    exact = loads[np.argmin([abs(clamped_determinant(coupling * load / 1e4, -load)) for load in loads])]
    assert exact < 39.4
    assert given[0] == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize("load", ["11, 1, -0.5", "11, 2, -0.01"])
def test_moments_of_bent_lines_without_torsion_are_told(load):
    text = (
        "*NODE\n1, 0., 0., 0.\n11, 1., 0., 0.\n*NGEN\n1, 11\n*ELEMENT, TYPE=B31\n1, 1, 2\n*ELGEN, ELSET=LINE\n1, 10\n"
        "*BEAM GENERAL SECTION, ELSET=LINE\n1., 1e-4, 0., 1e-4, 0.\n\n1e4, 4e3\n*BOUNDARY\n1, ENCASTRE\n"
        f"*STEP, NLGEOM\n*STATIC\n*CLOAD\n{load}\n*END STEP\n" + BUCKLE.format(count=1, loads="11, 1, -1.\n")
    )
    told = "changes of the moments of lines that bend, are bent before the step and do not twist are left out"
    assert any(told in notice for notice in factors(text)[2]) == ("2, -" in load)
