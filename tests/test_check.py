"""``fem check``: the report and each kind of warning, from hand-made models."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.errors import CommandError, DeckError
from fem.model import (
    Amplitude,
    BarSection,
    Boundary,
    DistributedLoad,
    Dynamic,
    ElementBlock,
    Frequency,
    Material,
    Mesh,
    Model,
    NodalLoad,
    PointMass,
    RestLength,
    Static,
    Step,
    Winch,
)
from fem.show.checking import check, collect_bars
from tests.decks import chain

INPUTS = Path(__file__).resolve().parents[1] / "inputs"


def labels(*values):
    return np.array(values, np.int64)


def mesh(coordinates, *bars, extra=()):
    """Nodes 1, 2...; bars 11, 12... between node labels; extra: (kind, label, nodes)."""
    blocks = []
    if bars:
        pairs = np.array(bars, np.int64) - 1
        blocks.append(ElementBlock("T3D2", labels(*range(11, 11 + len(bars))), pairs))
    for kind, label, nodes in extra:
        blocks.append(ElementBlock(kind, labels(label), np.array([nodes], np.int64) - 1))
    count = sum(len(block.labels) for block in blocks)
    sets = {"BARS": np.arange(len(bars)), "ALL": np.arange(count), "REST": np.arange(len(bars), count)}
    nodes = np.array(coordinates, float)
    return Mesh(labels(*range(1, len(nodes) + 1)), nodes, tuple(blocks), {}, sets)


def model(steps=None, section=None, material=None, **changes):
    """Two steel bars in a V, sound in every respect."""
    step = Step(Static(), nlgeom=True, distributed_loads=(DistributedLoad("BARS", "GRAV", 9.81, (0, 0, -1)),))
    sound = Model(
        mesh=mesh([(0, 0, 0), (1, 0, -1), (2, 0, 0)], (1, 2), (2, 3)),
        materials={"STEEL": material or Material("STEEL", young=2e11, density=8000.0)},
        sections=(section or BarSection("BARS", "STEEL", 1e-4),),
        boundaries=(*(Boundary(node, dof) for node in (1, 3) for dof in (1, 2, 3)), Boundary(2, 2)),
        steps=steps or (step,),
        source="v.inp",
        heading=("two bars",),
    )
    return replace(sound, **changes)


def report(deck, **options):
    """As the command prints it."""
    return str(check(deck, **options))


def wrong(candidate):
    """The last part of the report."""
    return report(candidate).split("what looks wrong\n")[1]


def test_a_sound_model_gets_no_complaint():
    assert wrong(model()).strip() == "nothing found"


def test_counts_extent_and_mass():
    text = report(model())
    assert text.startswith("v.inp: two bars")
    assert "elements    2: 2 T3D2" in text
    assert "extent      x 0 .. 2, y 0 .. 0, z -1 .. 0" in text
    assert f"mass        {2 * 0.8 * np.sqrt(2):.6g}: bars LUMPED" in text
    assert "1: STATIC, dt 1, period 1, 1 automatic increment, NLGEOM" in text


def test_point_masses_are_counted():
    candidate = model(
        mesh=mesh([(0, 0, 0), (1, 0, -1), (2, 0, 0)], (1, 2), (2, 3), extra=[("MASS", 90, (2,))]),
        masses=(PointMass("REST", 5.0),),
    )
    assert "point masses 5" in report(candidate)
    assert "1 MASS" in report(candidate)


@pytest.mark.parametrize(
    ("rule", "matrix"), [("LUMPED", [[0.5, 0], [0, 0.5]]), ("CONSISTENT", [[1 / 3, 1 / 6], [1 / 6, 1 / 3]])]
)
def test_period_is_that_of_the_bars_own_matrices(rule, matrix):
    bars = collect_bars(model(section=BarSection("BARS", "STEEL", 1e-4, mass_rule=rule)))
    stiffness = 2e11 * 1e-4 / np.sqrt(2) * np.array([[1, -1], [-1, 1]])
    omega2 = np.linalg.eigvals(np.linalg.solve(bars.mass[0] * np.array(matrix), stiffness)).real.max()
    assert bars.period[0] == pytest.approx(2 * np.pi / np.sqrt(omega2), rel=1e-12)  # analytic: the eigenvalue itself


@pytest.mark.parametrize(("rule", "diagonal", "beside"), [("LUMPED", 0.5, 0.0), ("CONSISTENT", 1 / 3, 1 / 6)])
def test_period_counts_point_masses(rule, diagonal, beside):
    """A mass in the middle of two bars held at their other ends; it is shared by stiffness, sqrt(2) to 2."""
    lengths = np.array([np.sqrt(2.0), 2.0 * np.sqrt(2.0)])
    heavy = model(
        mesh=mesh([(0, 0, 0), (1, 0, -1), (3, 0, 1)], (1, 2), (2, 3), extra=[("MASS", 90, (2,))]),
        masses=(PointMass("REST", 50.0),),
        section=BarSection("BARS", "STEEL", 1e-4, mass_rule=rule),
    )
    bars = collect_bars(heavy)
    stiffness = 2e11 * 1e-4 / lengths
    omega2 = stiffness / (bars.mass * diagonal + 50.0 * stiffness / stiffness.sum())  # analytic: one dof each
    assert bars.period == pytest.approx(2.0 * np.pi / np.sqrt(omega2), rel=1e-12)
    # Along one line, where both bars act together, the model itself: the bound holds, and is met.
    whole = stiffness.sum() / (50.0 + diagonal * bars.mass.sum())
    assert whole <= omega2.max() * (1.0 + 1e-12)


def test_one_point_period_is_that_of_a_bar_held_at_one_end():
    bars = collect_bars(model(section=BarSection("BARS", "STEEL", 1e-4, mass_rule="ONE POINT")))
    omega = np.sqrt(2e11 * 1e-4 / np.sqrt(2) / (bars.mass[0] / 4))
    assert bars.period[0] == pytest.approx(2 * np.pi / omega, rel=1e-12)


def test_the_stiffest_bar_is_named_by_its_label():
    shorter = model(mesh=mesh([(0, 0, 0), (1, 0, -1), (1.1, 0, -0.9)], (1, 2), (2, 3)))
    assert "stiffest    bar 12: period" in report(shorter)


def test_massless_bars_have_no_period():
    assert "no elastic bar has mass" in report(model(material=Material("STEEL", young=2e11)))


def test_a_rod_without_modulus_is_described():
    assert "no elastic bar has mass" in report(model(material=Material("ROD", density=8000.0)))


def test_lengths_of_their_own_count_in_mass_and_stretch():
    """Two bars of sqrt(2), one of them cut to 1.25 and one to 1.5."""
    cut = model(rest_lengths=(RestLength(11, 1.25), RestLength(12, 1.5)))
    assert "bar length  1.25 (element 11) .. 1.5 (element 12)" in report(cut)
    assert "stretch     |D|/L0 - 1 = 0.131371 at most (element 11)" in report(cut)
    assert "mass        2.2:" in report(cut)


def test_nodes_attached_to_nothing():
    candidate = model(mesh=mesh([(0, 0, 0), (1, 0, -1), (2, 0, 0), (5, 5, 5)], (1, 2), (2, 3)))
    assert "nodes without elements: 4" in wrong(candidate)


def test_nodes_in_the_same_place():
    candidate = model(mesh=mesh([(0, 0, 0), (1, 0, -1), (1, 0, -1), (2, 0, 0)], (1, 2), (3, 4)))
    assert "same point, not connected: 2 and 3" in wrong(candidate)


def test_free_body_and_missing_supports():
    candidate = model(mesh=mesh([(0, 0, 0), (1, 0, -1), (2, 0, 0), (5, 0, 0), (6, 0, 0)], (1, 2), (2, 3), (4, 5)))
    assert "a free body without supports: nodes 4, 5" in wrong(candidate)
    assert "no supports" in wrong(model(boundaries=()))


def test_lengths_far_apart_and_doubled_bars():
    candidate = model(mesh=mesh([(0, 0, 0), (1, 0, -1), (5000, 0, 0)], (1, 2), (2, 3)))
    assert "times as long as bar 11" in wrong(candidate)
    doubled = model(mesh=mesh([(0, 0, 0), (1, 0, -1), (2, 0, 0)], (1, 2), (2, 3), (3, 2)))
    assert "bars 12 and 13, of the same section, connect the same two nodes" in wrong(doubled)


def test_no_loads_and_no_steps():
    assert "no loads" in wrong(model(steps=(Step(Static(), nlgeom=True),)))
    assert "no *STEP" in wrong(replace(model(), steps=()))
    assert "no loads" not in wrong(model(steps=(Step(Frequency(3), nlgeom=True),)))


@pytest.mark.parametrize(
    ("winch", "acts"),
    [(Winch("BARS", 0.1), True), (Winch("BARS", 0.0), False), (Winch(11, 0.0, is_tension=True), True)],
)
def test_winches_move_a_model(winch, acts):
    """One that gives no line holds still; one that keeps a tension, be it none, pays out or hauls in for it."""
    assert ("no loads" not in wrong(model(steps=(Step(Static(), nlgeom=True, winches=(winch,)),)))) == acts


def test_a_step_without_nlgeom_is_mentioned():
    assert "no NLGEOM" in wrong(model(steps=(replace(model().steps[0], nlgeom=False),)))


def dynamic(dt, integrator="NEWMARK", **more):
    return (Step(Dynamic(dt, 1.0, integrator=integrator), nlgeom=True, nodal_loads=(NodalLoad(2, 3, 1.0),)),)


def test_unresolved_axial_vibration():
    # c = 5000 m/s, L = 1.414 m: period pi L/c = 8.9e-4 s
    assert "make bar forces alternate" in wrong(model(steps=dynamic(1e-2)))
    assert "nothing found" in wrong(model(steps=dynamic(1e-2, "ENERGY MOMENTUM")))
    assert "nothing found" in wrong(model(steps=dynamic(1e-4)))
    assert "dt is 11.3 periods of the stiffest bar" in report(model(steps=dynamic(1e-2)))


@pytest.mark.parametrize(("dt", "is_told"), [(0.09, False), (0.11, True)])
def test_increments_of_a_twentieth_of_the_slowest_swing_do_not_show_it(dt, is_told):
    """Two bars of 0.5 hang from node 1: 2 pi sqrt(1/9.81) = 2.006 s. A model that does not hang does not swing."""
    weight = (DistributedLoad("ALL", "GRAV", 9.81, (0, 0, -1)),)
    steps = (Step(Dynamic(dt, 1.0, direct=True, integrator="ENERGY MOMENTUM"), nlgeom=True, distributed_loads=weight),)
    hung = {"mesh": mesh([(0, 0, 0), (0, 0, -0.5), (0, 0, -1)], (1, 2), (2, 3)), "steps": steps}
    pinned = tuple(Boundary(1, dof) for dof in (1, 2, 3))
    assert ("twentieth of the slowest swing period (about 2.01" in wrong(model(boundaries=pinned, **hung))) == is_told
    assert "swing" not in wrong(model(boundaries=(), **hung))
    automatic = replace(steps[0], procedure=Dynamic(dt, 1.0, integrator="HHT"))
    assert "swing" not in wrong(model(boundaries=pinned, **hung | {"steps": (automatic,)}))


def test_a_light_cable_with_a_bob_needs_no_increments_of_its_own_vibration():
    """0.8 kg of cable, 1000 kg below: 2 pi sqrt(1000.4/2e7) and 1/(sqrt(2) omega), not those of the cable alone."""
    cable = Material("STEEL", young=2e11, density=8000.0, compression_ratio=0.0)
    pinned = tuple(Boundary(1, dof) for dof in (1, 2, 3))
    hung = {"mesh": mesh([(0, 0, 0), (0, 0, -1)], (1, 2), extra=(("MASS", 99, [2]),)), "boundaries": pinned}
    bob = model(dynamic(2e-3), material=cable, masses=(PointMass("REST", 1000.0),), **hung)
    assert f"stiffest    bar 11: period {2 * np.pi * np.sqrt(1000.4 / 2e7):.6g}" in report(bob)
    shown = f"0.71/omega with its point masses = {np.sqrt(0.5 * 1000.4 / 2e7):.6g}"
    assert shown in report(bob) and "nothing found" in wrong(bob)
    equal = replace(bob.steps[0], procedure=Dynamic(6e-3, 1.0, direct=True))
    assert "is longer than 0.71/omega with its point masses = 0.005" in wrong(replace(bob, steps=(equal,)))
    alone = replace(bob, masses=(PointMass("REST", 0.0),))
    assert "alternate" in wrong(replace(alone, steps=dynamic(7e-3)))


@pytest.mark.parametrize(("dt", "is_told"), [(0.9e-3, False), (1.1e-3, True)])
def test_a_snap_that_is_shorter_than_an_increment(dt, is_told):
    """A mass on a line without mass stays for pi sqrt(m/k): k = 2e11 1e-4/1, m = 2.026."""
    rope = Material("STEEL", young=2e11, compression_ratio=0.0)
    hung = mesh([(0, 0, 0), (0, 0, -1)], (1, 2), extra=(("MASS", 99, [2]),))
    pinned = tuple(Boundary(1, dof) for dof in (1, 2, 3))
    masses = (PointMass("REST", 2e7 * (1e-3 / np.pi) ** 2),)
    candidate = model(dynamic(dt), material=rope, mesh=hung, boundaries=pinned, masses=masses)
    assert ("rebound on bar 11" in wrong(candidate)) == is_told
    assert "rebound" not in wrong(replace(candidate, materials={"STEEL": replace(rope, compression_ratio=1.0)}))


@pytest.mark.parametrize(
    ("moved", "is_told"),
    [(Boundary(3, 1, 0.1), True), (Boundary(3, 1, 0.1, "RISE"), False), (Boundary(3, 1, 0.1, "LATE"), True),
     (Boundary(3, 1, 0.1, kind="VELOCITY"), False), (Boundary(3, 1, 0.0), False)],
)  # fmt: skip
def test_prescribed_displacements_that_jump(moved, is_told):
    """At the start of a dynamic step; a static one ramps, and a later one that keeps the place does not jump."""
    curves = {"RISE": Amplitude("RISE", points=((0, 0), (1, 1))), "LATE": Amplitude("LATE", points=((0, 0.5), (1, 1)))}
    step = Step(Dynamic(1e-4, 1.0), nlgeom=True, boundaries=(moved,), nodal_loads=(NodalLoad(2, 3, 1.0),))
    found = wrong(model(steps=(step,), amplitudes=curves))
    assert ("step 1: the prescribed displacement of nodes 3 in direction 1 jumps" in found) == is_told
    ramp = replace(step, procedure=Static())
    kept = replace(step, boundaries=(Boundary(3, 1, 0.1),))
    assert "jumps" not in wrong(model(steps=(replace(ramp, boundaries=kept.boundaries), kept), amplitudes=curves))


def test_snap_time_of_a_line_that_can_go_slack():
    rope = Material("STEEL", young=2e11, density=8000.0, compression_ratio=0.0)
    candidate = model(steps=dynamic(2e-4, "ENERGY MOMENTUM"), material=rope)
    assert "snap time   L0/(2c) = 0.000141421 (bar 11 can go slack)" in report(candidate)
    assert "longer than L0/(2c)" not in wrong(candidate)  # the local error follows snaps
    equal = replace(candidate.steps[0], procedure=replace(candidate.steps[0].procedure, direct=True))
    assert "longer than L0/(2c) = 0.000141" in wrong(replace(candidate, steps=(equal,)))
    assert "L0/(2c)" not in report(model(steps=dynamic(2e-4, "ENERGY MOMENTUM")))


def test_straight_unstressed_chain():
    straight = mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], (1, 2), (2, 3))
    assert "nodes 2: loaded perpendicular to their bars" in wrong(model(mesh=straight))
    lent = BarSection("BARS", "STEEL", 1e-4, starting_tension=5000.0)
    assert wrong(model(mesh=straight, section=lent)).strip() == "nothing found"


def test_what_green_strain_makes_of_a_force_is_said():
    """l = 1.005 L0. GREEN: E A (e + e^2/2) l/L0; ENGINEERING: E A e; LOG: E A ln(l/L0) L0/l (docs/theory/bars.md)."""
    text = "*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT, TYPE=T3D2, ELSET=E\n1,1,2\n*MATERIAL, NAME=M\n*ELASTIC\n1e4\n"
    text += "*SOLID SECTION, ELSET=E, MATERIAL=M, STRAIN={}\n1.\n*BOUNDARY\n1,1,3\n2,2,3\n*STEP, NLGEOM=YES\n*STATIC\n"
    text += "*BOUNDARY\n2,1,1,0.005\n*EL PRINT, ELSET=E\nT\n*END STEP\n"
    green, plain, logarithmic = (
        fem.run(fem.parse_deck(text.format(strain))).of_element(1, "T")[-1]
        for strain in ("GREEN", "ENGINEERING", "LOG")
    )
    assert plain == pytest.approx(50.0, rel=1e-9)
    assert green / plain == pytest.approx(1.0075, abs=5e-5) and green / logarithmic == pytest.approx(1.015, abs=5e-4)
    assert "strain      GREEN: T at an elongation of 0.5 % is 0.75 %" in report(fem.parse_deck(text.format("GREEN")))
    assert "strain " not in report(fem.parse_deck(text.format("LOG")))


@pytest.mark.parametrize(
    ("material", "phrase"),
    [
        (Material("STEEL", young=210.0, density=1e-3), "E = 210 is low for Pa"),
        (Material("STEEL", young=2e11, density=7.85e6), "density 7.85e\\+06 is above"),
        (Material("STEEL", young=2e3, density=8000.0), "the weight of all bars would stretch"),
    ],
)
def test_slips_of_units(material, phrase):
    text = wrong(model(material=material))
    assert phrase.replace("\\", "") in text


def test_a_modulus_of_unit_areas_is_a_stiffness():
    """E = 10 with A = 1 is E A = 10 of a model without units; with another area it is a modulus."""
    soft = Material("STEEL", young=10.0, density=1e-6)
    assert "is low for Pa" not in wrong(model(material=soft, section=BarSection("BARS", "STEEL", 1.0)))
    assert "is low for Pa" in wrong(model(material=soft, section=BarSection("BARS", "STEEL", 0.5)))


def test_unused_material():
    candidate = model()
    assert "material SPARE is used by no section" in wrong(
        replace(candidate, materials={**candidate.materials, "SPARE": Material("SPARE", young=1e9)})
    )


def test_long_lists_are_cut():
    nodes = [(0, 0, 0), (1, 0, -1), (2, 0, 0), *((9.0, k, 0) for k in range(20))]
    assert "and 12 more" in wrong(model(mesh=mesh(nodes, (1, 2), (2, 3))))


def test_the_headline_deck():
    text = report(INPUTS / "sdnl100.inp")
    assert "sdnl100.inp: SDNL100" in text
    assert "bar 1: period 0.000314159 (ONE POINT mass, one end fixed)" in text
    assert "dt is 133 periods" in text
    assert "40 equal increments" in text
    assert "make bar forces alternate" in text  # true: it fails after 1.18 T
    assert "*SOLID SECTION, MASS" in text.split("extensions used")[1]


def test_parameters_reach_the_deck():
    assert "600 equal increments" in report(INPUTS / "rod_consistent.inp")
    assert "1200 equal increments" in report(INPUTS / "rod_consistent.inp", parameters={"increments": 800})


def test_missing_file_and_broken_deck(tmp_path):
    with pytest.raises(CommandError, match="does not exist"):
        check(tmp_path / "none.inp")
    broken = tmp_path / "broken.inp"
    broken.write_text("*NODES\n1, 0., 0., 0.\n")
    with pytest.raises(DeckError, match=r"\*NODE"):
        check(broken)


@pytest.mark.parametrize("deck", sorted(INPUTS.glob("*.inp")), ids=lambda path: path.stem)
@pytest.mark.sampled(26)
def test_every_example_can_be_checked(deck):
    assert "what looks wrong" in report(deck)


def test_free_nodes_without_mass_in_a_dynamic_step():
    text = "*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT, TYPE=T3D2, ELSET=E\n1,1,2\n*MATERIAL, NAME=M\n*ELASTIC\n1e4\n"
    text += "*SOLID SECTION, ELSET=E, MATERIAL=M\n1.\n*BOUNDARY\n1,1,3\n"
    text += "*STEP, NLGEOM=YES\n*DYNAMIC, DIRECT\n.01,1.\n*CLOAD\n2,1,1.\n*END STEP\n"
    assert "nodes 2: no mass" in report(fem.parse_deck(text))
    assert "no mass" not in report(fem.parse_deck(text.replace("*ELASTIC", "*DENSITY\n1.\n*ELASTIC")))


@pytest.mark.parametrize(("far", "is_told"), [(998.0, False), (2000.0, True)])
def test_bars_a_thousand_times_as_long_as_others_are_told(far, is_told):
    """The longest over the shortest, of 1: another unit, or a node that should be another."""
    candidate = model(mesh=mesh([(0, 0, 0), (0.6, 0, -0.8), (0.6 + far, 0, -0.8)], (1, 2), (2, 3)))
    assert ("times as long as bar 11" in wrong(candidate)) == is_told


@pytest.mark.parametrize(("periods", "is_told"), [(9.0, False), (11.0, True)])
def test_increments_of_ten_periods_leave_vibrations_unresolved(periods, is_told):
    """pi L/c of a lumped bar between two masses of its own."""
    dt = periods * np.pi * np.sqrt(2.0) / np.sqrt(2e11 / 8000.0)
    assert ("make bar forces alternate" in wrong(model(steps=dynamic(dt)))) == is_told


@pytest.mark.parametrize(
    ("material", "is_told"),
    [
        (Material("STEEL", young=0.9e3, density=1e-3), True),  # softer than gels
        (Material("STEEL", young=1.1e3, density=1e-3), False),
        (Material("STEEL", young=2e11, density=2.3e4), False),  # osmium
        (Material("STEEL", young=2e11, density=1.1e5), True),
        (Material("STEEL", young=3.5e6, density=8000.0), False),  # 2 sqrt(2) 8000 9.81/E is 6 %
        (Material("STEEL", young=1.5e6, density=8000.0), True),  # 15 %
    ],
)
def test_numbers_of_real_materials_in_si_are_not_blamed(material, is_told):
    text = wrong(model(material=material))
    assert any(word in text for word in ("is low for Pa", "is above that of any solid", "would stretch")) == is_told


@pytest.mark.filterwarnings("error")
def test_a_length_that_no_number_holds_is_refused(tmp_path):
    deck = tmp_path / "far.inp"
    deck.write_text(chain(1).replace("2, 0.1, 0, 0", "2, 1E200, 0, 0"))
    with pytest.raises(fem.ModelError, match="element 1 has no finite length"):
        check(deck)
