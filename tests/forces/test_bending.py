"""Lines that bend against closed forms, which share no code with them, and laws that hold for any of them."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.assembly.system import assemble
from fem.forces.bending import BENDING, bent
from fem.forces.families import FAMILIES
from tests.forces.families.test_families import asked
from validation.references import elastica

STIFF = 1e7


def line(
    bars: int, steps: str, *, extra: str = "", young: float = STIFF, density: float = 0.0, damping: str = "",
    order: int = 1, clamp: str = "1, ENCASTRE",
) -> str:  # fmt: skip
    """A line of length 1 and EI = 1 along x, clamped at node 1; order -1: elements run the other way."""
    nodes = "\n".join(f"{i + 1}, {i / bars!r}, 0, 0" for i in range(bars + 1))
    elements = "\n".join(
        f"{i + 1}, {i + 1}, {i + 2}" if order > 0 else f"{bars - i}, {i + 2}, {i + 1}" for i in range(bars)
    )
    inertia = 1.0 / young
    return f"""*NODE, NSET=ALL
{nodes}
*NSET, NSET=END
{bars + 1}
*ELEMENT, TYPE=B31, ELSET=LINE
{elements}
*BEAM GENERAL SECTION, ELSET=LINE, DENSITY={density!r}
1., {inertia!r}, 0., {inertia!r}, 0.

{young!r}, {young!r}
{damping}
*BOUNDARY
{clamp}
{extra}
{steps}"""


STATIC = """*STEP, NLGEOM
*STATIC
0.25, 1.
*CONTROLS, RESI_GLOB_RELA=1e-9
{load}
*NODE PRINT, NSET=ALL
U, SK, SM
*END STEP
"""


def tip(bars: int, load: str, **options: float) -> np.ndarray:
    """w, u and the moment at the clamp."""
    history = fem.run(fem.parse_deck(line(bars, STATIC.format(load=load), **options)))
    end = history.of_node(bars + 1)[-1]
    return np.array([-end[2], -end[0], history.of_node(1, "SM")[-1]])


@pytest.mark.parametrize("tip_load", [1.0, 10.0])
def test_a_cantilever_converges_to_the_elastica_as_the_square_of_the_bars(tip_load):
    """Extrapolated: 1e-5; the moment at the clamp is load times lever exactly. EA/EI is 1e7."""
    w, u, _ = elastica.cantilever(tip_load)
    coarse, fine = (tip(bars, f"*CLOAD\nEND, 3, {-tip_load}") for bars in (10, 20))
    errors = np.abs([coarse[:2] - (w, u), fine[:2] - (w, u)])
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    assert (4.0 * fine[:2] - coarse[:2]) / 3.0 == pytest.approx((w, u), abs=2e-5 * tip_load)
    assert fine[2] == pytest.approx(tip_load * (1.0 - fine[1]), rel=1e-6)


def beam(x: list[float], supports: str, load: str, soft: int = 0) -> fem.Model:
    """A straight beam, EI = 1; soft: so many elements from its first end have half of it."""
    lines = ["*NODE", *(f"{at}, {place!r}" for at, place in enumerate(x, 1)), "*ELEMENT, TYPE=B31"]
    lines += [f"{at}, {at}, {at + 1}" for at in range(1, len(x))]
    for name, first, last, inertia in (("SOFT", 1, soft, 5e-8), ("STIFF", soft + 1, len(x) - 1, 1e-7)):
        if last >= first:
            lines += [f"*ELSET, ELSET={name}, GENERATE", f"{first}, {last}", f"*BEAM GENERAL SECTION, ELSET={name}"]
            lines += [f"1., {inertia!r}, 0., {inertia!r}, 0.", "", "1e7, 1e7"]
    return fem.parse_deck("\n".join([*lines, "*BOUNDARY", supports, "*STEP", "*STATIC", load, "*END STEP\n"]))


@pytest.mark.parametrize(
    "x", [[0, 1], [0, 0.5, 1], [0, 0.3, 0.65, 1], [1, 0.75, 0.5, 0.25, 0], [0.1 * k for k in range(11)]]
)
def test_a_straight_clamped_beam_of_few_elements_is_exact_for_small_angles(x):
    """P L^3/(3 EI) and the moment P L at the clamp, of however many elements, even or not."""
    model = beam(x, "1, ENCASTRE", f"*CLOAD\n{len(x)}, 3, 1e-4")
    history = fem.run(model)
    assert history.of_node(len(x))[-1][2] == pytest.approx(1e-4 / 3.0, rel=1e-6)
    assert not [notice for notice in model.notices if "elements B31" in notice]
    assert history.of_node(1, "SM")[-1] == pytest.approx(1e-4, rel=1e-6)


def test_a_clamped_beam_of_two_sections_is_exact_for_small_angles():
    """The inner half has half the EI: P (2 (1 - 1/8) + 1/8)/3, the integral of (L - x)^2/EI."""
    model = beam([0.0, 0.25, 0.5, 0.75, 1.0], "1, ENCASTRE", "*CLOAD\n5, 3, 1e-4", soft=2)
    exact = 1e-4 * (2.0 * (1.0 - 0.125) + 0.125) / 3.0
    assert fem.run(model).of_node(5)[-1][2] == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    ("supports", "compliance"),
    [("1, ENCASTRE\n{0}, ENCASTRE", 1 / 192), ("1, 1, 3\n{0}, 1, 3", 1 / 48), ("1, ENCASTRE\n{0}, 1, 3", 7 / 768)],
)
def test_the_error_of_few_elements_is_told(supports, compliance):
    """A load in the middle of a span: what is told is no less than the error, which falls as 1/n^2."""
    for count in (2, 4, 8, 40):
        model = beam(
            [k / count for k in range(count + 1)], supports.format(count + 1), f"*CLOAD\n{count // 2 + 1}, 3, 1e-4"
        )
        error = 100.0 * (fem.run(model).of_node(count // 2 + 1)[-1][2] / (1e-4 * compliance) - 1.0)
        told = [float(notice.split("up to ")[1].split(" %")[0]) for notice in model.notices if "B31: its" in notice]
        assert 0.0 < error <= 1.02 * (told[0] if told else 5.0)
        assert bool(told) == (count < 8) or count == 8


@pytest.mark.parametrize("middle", ["", "\n11, 3"])
@pytest.mark.parametrize("loaded", [[11], range(2, 21)])
def test_nothing_is_told_of_planes_and_of_loads_on_all_nodes(loaded, middle):
    """A line all of whose nodes are held in its plane has as many elements between corners as without that."""
    plane = "\n".join(f"{node}, 2" for node in range(2, 21))
    load = "*CLOAD\n" + "\n".join(f"{node}, 3, 1e-4" for node in loaded)
    model = beam([k / 20 for k in range(21)], f"1, 1, 3\n21, 1, 3\n{plane}{middle}", load)
    assert not [notice for notice in model.notices if "B31: its" in notice]


def test_a_beam_that_is_clamped_resists_across():
    """``fem check`` has nothing to say of a load across it; of one across a beam between hinges it has."""
    for supports, is_held in (("1, ENCASTRE", True), ("1, 1, 3", False)):
        found = fem.check(beam([0.0, 1.0], supports, "*CLOAD\n2, 3, 1e-4")).findings
        assert any("nothing resists" in text for text in found) != is_held


def test_a_cantilever_under_its_own_weight():
    w, u, _ = elastica.cantilever(0.0, 1.0)
    coarse, fine = (tip(bars, "*DLOAD\nLINE, GRAV, 1., 0, 0, -1", density=1.0) for bars in (10, 20))
    assert (4.0 * fine[:2] - coarse[:2]) / 3.0 == pytest.approx((w, u), abs=1e-5)


@pytest.mark.parametrize("tension", [30.0, -6.0])
def test_modes_of_a_pinned_line_under_tension_and_compression(tension):
    """Exactly those of the chain, whose error to the stiff string is of second order."""
    bars = 12
    steps = f"""*STEP, NLGEOM
*STATIC
1., 1.
*CLOAD
END, 1, {tension}
*END STEP
*STEP, NLGEOM
*FREQUENCY
4
*END STEP
"""
    extra = "*BOUNDARY\nALL, 2\nEND, 3"
    model = fem.parse_deck(line(bars, steps, extra=extra, density=1.0, clamp="1, 1, 3"))
    found = fem.run(model).modes[0]
    exact = [elastica.jointed_string(n, bars, 1.0, tension, 1.0, 1.0) for n in range(1, 5)]
    assert found.frequency[:4] == pytest.approx(exact, rel=1e-5)


@pytest.mark.long
def test_a_column_buckles_by_riks_onto_the_elastica():
    """Under its load and a thousandth of it across; the load that holds a deflection of 0.2 L."""
    angle = 0.73
    ratio, w, _ = elastica.buckled(angle)
    loads = {}
    for bars in (10, 20):
        step = f"""*STEP, NLGEOM, INC=200
*STATIC, RIKS
0.05, 1., , , , MIDDLE, 3, {-w!r}
*CLOAD
END, 1, {-(np.pi**2)!r}
MIDDLE, 3, -0.01
*END STEP
"""
        extra = f"*NSET, NSET=MIDDLE\n{bars // 2 + 1}\n*BOUNDARY\nALL, 2\nEND, 3"
        history = fem.run(fem.parse_deck(line(bars, step, extra=extra, clamp="1, 1, 3", young=1e6)))
        loads[bars] = history.load_factor[-1]
        assert -history.of_node(bars // 2 + 1)[-1, 2] == pytest.approx(w, rel=1e-6)
    assert (4.0 * loads[20] - loads[10]) / 3.0 == pytest.approx(ratio, rel=2e-3)


def moved(seed: int) -> tuple[fem.Model, np.ndarray]:
    model = fem.parse_deck(line(4, STATIC.format(load=""), extra="*BOUNDARY\nEND, 1", young=10.0, clamp="1, 1, 3"))
    return model, 0.1 * np.random.default_rng(seed).normal(size=15)


def turned(angle: float, axis: np.ndarray) -> np.ndarray:
    k = np.cross(np.eye(3), -axis)
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k)


@pytest.mark.parametrize("seed", range(3))
def test_the_force_turns_with_the_line_and_has_no_moment(seed):
    """At an instant; the force of an increment has no moment about its mean place."""
    model, u = moved(seed)
    system = assemble(model)
    place = system.coordinates + u.reshape(-1, 3)
    turn = turned(1.1, np.array([2.0, -1.0, 2.0]) / 3.0)
    rigid = (place @ turn.T - system.coordinates).ravel()
    still = np.zeros_like(u)
    energy, force, _ = asked(system, still, u, still, secant=False, rate=1.0)
    again, other, _ = asked(system, still, rigid, still, secant=False, rate=1.0)
    assert again == pytest.approx(energy, rel=1e-12)
    assert other.reshape(-1, 3) == pytest.approx(force.reshape(-1, 3) @ turn.T, abs=1e-12 * np.abs(force).max())
    start = moved(seed + 10)[1]
    _, mean, _ = asked(system, start, u, still, secant=True, rate=1.0)
    middle = place - 0.5 * (u - start).reshape(-1, 3)
    for x, f in ((place, force), (middle, mean)):
        assert np.cross(x, f.reshape(-1, 3)).sum(axis=0) == pytest.approx(0.0, abs=1e-12 * np.abs(f).max())


@pytest.mark.parametrize("size", [1e-3, 0.1, 0.3])
def test_the_force_of_an_increment_does_the_work_of_the_energy(size):
    model, _ = moved(0)
    system = assemble(model)
    u0, u1 = size * np.random.default_rng(2).normal(size=(2, 15))
    still = np.zeros(15)
    _, force, _ = asked(system, u0, u1, still, secant=True, rate=1.0)
    before, after = (asked(system, u, u, still, secant=False, rate=1.0)[0] for u in (u0, u1))
    assert force @ (u1 - u0) == pytest.approx(after - before, abs=1e-13 * (after + before) + 1e-14)


@pytest.mark.parametrize("phi", [0.0, 1e-9, 1e-4, 0.0999, 0.1001, 1.0, 2.5, 3.0])
def test_energy_and_force_at_any_angle(phi):
    """k phi^2/2, and k phi over the length of the bar across it."""
    model = fem.parse_deck(line(2, STATIC.format(load=""), clamp="1, 1, 3"))
    system = assemble(model)
    u, still = np.zeros(9), np.zeros(9)
    u[6:] = 0.5 * (np.cos(phi) - 1.0), 0.5 * np.sin(phi), 0.0
    energy, force, _ = asked(system, still, u, still, secant=False, rate=1.0)
    assert energy == pytest.approx(0.5 / 0.5 * phi**2, rel=1e-7, abs=1e-30)
    across = np.array([-np.sin(phi), np.cos(phi)]) @ force[6:8]
    assert across == pytest.approx(phi / 0.5 / 0.5, rel=1e-7, abs=1e-14)


def test_numbering_and_direction_of_elements_change_nothing():
    load = "*CLOAD\nEND, 3, -3.\nEND, 2, 1."
    assert tip(8, load, order=-1) == pytest.approx(tip(8, load), rel=1e-9)


def test_a_folded_line_is_an_error_with_its_place():
    load = "*BOUNDARY\nEND, 1, 1, -1.\nEND, 3, 3, 0.001"
    deck = line(2, STATIC.format(load=load), clamp="1, 1, 3\n2, 1, 3", young=1e3)
    with pytest.raises(fem.NoConvergence, match="the line is folded back at node 2"):
        fem.run(fem.parse_deck(deck))


DYNAMIC = """*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
{dt!r}, {period!r}
*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF
*END STEP
"""
SHAKEN = "*INITIAL CONDITIONS, TYPE=VELOCITY\nEND, 3, 1.\nEND, 2, 0.5"


def test_bars_of_a_line_may_be_rods():
    """The limit of bars that stretch, to which these come as 1/EA."""
    load = "*CLOAD\nEND, 3, -3.\nEND, 1, 2."
    rods = tip(8, load, damping="*INEXTENSIBLE")
    errors = [np.abs(tip(8, load, young=young) - rods).max() for young in (1e4, 1e5)]
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.02)


@pytest.mark.parametrize("law", ["", "*INEXTENSIBLE"])
def test_energy_momentum_keeps_the_energy_of_bending(law):
    steps = DYNAMIC.format(integrator="ENERGY MOMENTUM", dt=0.02, period=1.0)
    history = fem.run(fem.parse_deck(line(4, steps, extra=SHAKEN, young=1e3, density=1.0, damping=law)))
    total = history.energy @ [1.0, 1.0, 1.0, -1.0, 1.0]
    assert history.of_energy("strain").max() > 0.02
    assert total == pytest.approx(total[0], rel=1e-8)


def test_beta_damps_a_mode_as_it_says():
    """Of a clamped line whose bars hardly stretch: damping ratio beta omega/2, by what is left after ten periods."""
    beta = 8e-3
    deck = line(
        6, DYNAMIC.format(integrator="NEWMARK", dt=0.02, period=3.6), young=1e5, density=1.0,
        extra="*INITIAL CONDITIONS, TYPE=VELOCITY\nEND, 3, 0.05", damping=f"*DAMPING, BETA={beta!r}",
    )  # fmt: skip
    model = fem.parse_deck(deck)
    history = fem.run(model)
    omega = 2.0 * np.pi * fem.frequencies(model, 1).frequency[0]
    total = history.of_energy("kinetic") + history.of_energy("strain")
    first, last = 89, 180  # a period; the higher modes have died by then
    rate = np.log(total[first] / total[last]) / (history.time[last] - history.time[first])
    assert rate == pytest.approx(beta * omega**2, rel=0.05)


def test_what_a_broken_bar_stored_in_its_angles_leaves_with_it():
    steps = (
        STATIC.format(load="*CLOAD\nEND, 3, -1.")
        + """*STEP, NLGEOM
*STATIC
1., 1.
*MODEL CHANGE, REMOVE
4
*CLOAD
END, 3, 0.
*END STEP
"""
    )
    model = fem.parse_deck(line(4, steps))
    history = fem.run(model)
    balance = history.energy @ [1.0, 1.0, 1.0, -1.0, 1.0]
    assert balance[-1] == pytest.approx(balance[1], abs=1e-9)
    group = assemble(model).families[FAMILIES.index(BENDING)]
    assert bent(group, history.u[-1].ravel())[-1] == pytest.approx(0.0, abs=1e-9) or history.u[-1, -1].any()


def test_a_line_that_bends_is_written_as_it_was_read():
    model = fem.parse_deck(line(3, STATIC.format(load="")))
    assert fem.parse_deck(fem.write_deck(model)) == model


def test_parts_bring_their_sections_with_them():
    head, rest = line(3, STATIC.format(load="*CLOAD\nA.END, 3, -1.")).split("*BOUNDARY\n1, ENCASTRE")
    rest = rest.replace(", NSET=ALL", ", NSET=A.ALL")
    instance = "*END PART\n*ASSEMBLY, NAME=WHOLE\n*INSTANCE, NAME=A, PART=LINE\n*END INSTANCE\n*END ASSEMBLY\n"
    deck = f"*PART, NAME=LINE\n{head}{instance}*BOUNDARY\nA.1, ENCASTRE{rest}"
    flat = tip(3, "*CLOAD\nEND, 3, -1.")
    history = fem.run(fem.parse_deck(deck))
    assert -history.u[-1].reshape(-1, 3)[-1, 2] == pytest.approx(flat[0], rel=1e-12)
