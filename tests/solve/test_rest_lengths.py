"""Bars of a length of their own: what they do does not depend on the coordinates in which the model is written down."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.errors import ModelError
from tests.decks import run_text

PLACES = np.array([[0, 0, 0], [1, 0, 0.1], [2, 0.2, 0], [1, 1, 0.3], [2.2, 1.1, 0]], float)
MOVED = np.array([[0, 0, 0], [0.1, -0.05, 0.2], [0, 0, 0], [-0.03, 0.06, 0.1], [0, 0, 0]], float)
PAIRS = ((0, 1), (1, 2), (0, 3), (1, 3), (3, 4), (2, 3), (4, 1))
PROCEDURES = {
    **{
        name: f"*DYNAMIC, DIRECT, TIME INTEGRATOR={name}\n0.005, 0.1"
        for name in ("NEWMARK", "HHT", "GENERALIZED ALPHA", "BACKWARD EULER", "ENERGY MOMENTUM")
    },
    "EXPLICIT": "*DYNAMIC, EXPLICIT, DIRECT\n0.002, 0.1",
    "AUTOMATIC": "*DYNAMIC\n0.005, 0.1",
    "LINEAR": "*DYNAMIC, DIRECT\n0.005, 0.1",
    "STATIC": "*STATIC\n0.25, 1.",
}


def net(name: str, *, strain: str, mass: str, is_moved: bool) -> str:
    """A truss that starts away from its unstressed shape: by initial displacements, or (is_moved) by its lengths."""
    places = PLACES + MOVED if is_moved else PLACES
    lines = ["*NODE, NSET=ALL", *(f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(places.tolist(), 1))]
    lines += ["*ELEMENT, TYPE=T3D2, ELSET=NET", *(f"{k}, {i + 1}, {j + 1}" for k, (i, j) in enumerate(PAIRS, 1))]
    lines += ["*MATERIAL, NAME=M\n*ELASTIC\n2e3\n*DENSITY\n3.\n*NO COMPRESSION, RATIO=0.4\n*DAMPING, BETA=1e-3"]
    lines += [f"*SOLID SECTION, ELSET=NET, MATERIAL=M, MASS={mass}, STRAIN={strain}\n1."]
    lines += ["*BOUNDARY\n1, 1, 3\n3, 1, 3\n5, 1, 3"]
    if is_moved:
        lengths = [float(np.linalg.norm(PLACES[j] - PLACES[i])) for i, j in PAIRS]
        lines += ["*REST LENGTH", *(f"{k}, {length!r}" for k, length in enumerate(lengths, 1))]
    else:
        lines += ["*INITIAL CONDITIONS, TYPE=DISPLACEMENT"]
        lines += [f"{k}, {c + 1}, {x!r}" for k, row in enumerate(MOVED.tolist(), 1) for c, x in enumerate(row) if x]
    nlgeom = "NO" if name == "LINEAR" else "YES"
    lines += [f"*STEP, NLGEOM={nlgeom}", PROCEDURES[name], "*CONTROLS, RESI_GLOB_RELA=1e-11, ENERGY DRIFT=OFF"]
    lines += [
        "*DLOAD\nNET, GRAV, 9.81, 0., 0., -1.",
        "*NODE PRINT, NSET=ALL\nCOORD, V, A, RF",
        "*EL PRINT, ELSET=NET\nE, S, N, T",
    ]
    return "\n".join([*lines, "*END STEP", ""])


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING", "LOG"])
@pytest.mark.parametrize("name", PROCEDURES)
@pytest.mark.sampled
def test_lengths_of_their_own_or_a_displaced_start_are_the_same(name, strain):
    """Motion, forces, strains, energies, to round-off of solves to 1e-11; the mass is that of the unstressed bars."""
    mass = "CONSISTENT" if name in ("NEWMARK", "ENERGY MOMENTUM") else "LUMPED"
    one, other = (run_text(net(name, strain=strain, mass=mass, is_moved=is_moved)) for is_moved in (False, True))
    x = [(history.mesh.coordinates + history.u.reshape(len(history.u), -1, 3)) for history in (one, other)]
    assert x[1] == pytest.approx(x[0], abs=1e-8)
    assert np.ptp(x[0], axis=0).max() > 0.01
    assert other.elements == pytest.approx(one.elements, rel=1e-6, abs=1e-6)
    assert other.reactions == pytest.approx(one.reactions, rel=1e-6, abs=1e-6)
    assert other.energy[:, 1] == pytest.approx(one.energy[:, 1], rel=1e-7)


STRING = """*NODE, NSET=ALL
1, 0., 0., 0.
9, 2., 0., 0.
*NGEN
1, 9
*ELEMENT, TYPE=T3D2, ELSET=STRING
1, 1, 2
*ELGEN, ELSET=STRING
1, 8
*MATERIAL, NAME=M
*ELASTIC
500.
*DENSITY
2.
*SOLID SECTION, ELSET=STRING, MATERIAL=M, STRAIN={strain}
1.
*REST LENGTH
STRING, {length!r}
*BOUNDARY
1, 1, 3
9, 1, 3
*STEP, NLGEOM=YES
*STATIC
1., 1.
*EL PRINT, ELSET=STRING
E, N, T
*END STEP
*STEP, NLGEOM=YES
*FREQUENCY
24
*END STEP
"""


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING", "LOG"])
def test_a_line_cut_too_short_is_a_string(strain):
    """T of each measure in closed form; transverse modes of a lattice, omega = 2 sqrt(T/(m h)) sin(n pi/2N), in pairs.

    Lattice: Goldstein, Classical Mechanics, sec. 13.1. m is the mass between two nodes, rho A L0 of the cut length.
    """
    length, h, n = 0.22, 0.25, 8
    s = h / length
    tension = {"GREEN": 250.0 * (s * s - 1) * s, "ENGINEERING": 500.0 * (s - 1), "LOG": 500.0 * np.log(s) / s}[strain]
    history = run_text(STRING.format(strain=strain, length=length))
    assert history.of_element(3, "T")[-1] == pytest.approx(tension, rel=1e-13)
    assert np.abs(history.u[-1]).max() < 1e-13
    found = np.sort(2 * np.pi * history.modes[0].frequency)
    expected = 2 * np.sqrt(tension / (2.0 * length * h)) * np.sin(np.arange(1, n) * np.pi / (2 * n))
    for omega in expected:
        assert np.sum(np.abs(found - omega) < 1e-9 * omega) >= 2, omega


HANGER = """*PARAMETER
rest = 1.0
*NODE, NSET=ALL
1, 0., 0., 0.
2, 0., 0., -0.5
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*MASS, ELSET=BOB
2.
*MATERIAL, NAME=M
{material}
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*REST LENGTH
LINE, <rest>
*BOUNDARY
1, 1, 3
2, 1, 2
{extra}*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
0.01, 0.5
*DLOAD
BOB, GRAV, 9.81, 0., 0., -1.
*END STEP
"""
ROPE, ROD = "*INEXTENSIBLE\n*NO COMPRESSION", "*INEXTENSIBLE"


@pytest.mark.parametrize(("impact", "time", "loss"), [("EVENT", 1e-9, 1e-9), ("MOREAU", 0.06, 0.1)])
def test_a_rope_longer_than_the_gap_falls_to_its_length(impact, time, loss):
    """Free fall through 0.5, then it stops the mass at once: t = sqrt(2 h/g), loss m g h (MOREAU: to first order)."""
    deck = HANGER.format(material=ROPE, extra="").replace("*DLOAD", f"*CONTROLS, IMPACT={impact}\n*DLOAD")
    history = run_text(deck)
    impacts = [event for event in history.events if event.event == "impact"]
    assert impacts[0].time == pytest.approx(np.sqrt(2 * 0.5 / 9.81), rel=time)
    assert sum(event.energy_loss for event in impacts) == pytest.approx(2.0 * 9.81 * 0.5, rel=loss)
    assert history.of_node(2)[-1, 2] == pytest.approx(-0.5, abs=1e-9)


@pytest.mark.parametrize(
    ("material", "rest", "message"),
    [
        (ROPE, 0.4, "is a rope of length 0.4, but its nodes are 0.5 apart"),
        (ROD, 0.4, r"has the constant length 0.4, but its nodes are 0.5 apart .* check \*REST LENGTH"),
        (ROD, 0.6, "has the constant length 0.6, but its nodes are 0.5 apart"),
    ],
)
def test_what_keeps_another_length_than_it_has_is_refused(material, rest, message):
    with pytest.raises(ModelError, match=message):
        run_text(HANGER.format(material=material, extra=""), rest=rest)


@pytest.mark.parametrize("procedure", ["*DYNAMIC, DIRECT", "*DYNAMIC, DIRECT, EXPLICIT"])
def test_a_rod_is_brought_to_its_length_by_initial_displacements(procedure):
    moved = "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n2, 3, -0.1\n"
    history = run_text(HANGER.format(material=ROD, extra=moved).replace("*DYNAMIC, DIRECT", procedure), rest=0.6)
    assert history.of_element(1, "T")[-1] == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert history.of_node(2)[:, 2] == pytest.approx(-0.1, abs=1e-12)


def test_energy_of_the_start_is_stored():
    """A bar of 0.4 in a gap of 0.5 begins with EA L0 e^2/2, e = 0.25, and ENERGY MOMENTUM keeps the whole."""
    deck = HANGER.format(material="*ELASTIC\n300.", extra="").replace(
        "DIRECT", "DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM"
    )
    history = run_text(deck.replace("BOB, GRAV, 9.81", "BOB, GRAV, 0."), rest=0.4)
    assert history.energy[0, 1] == pytest.approx(0.5 * 300.0 * 0.4 * 0.25**2, rel=1e-14)
    assert np.abs(history.energy_error).max() < 1e-10 * history.energy[0, 1]


def test_a_changed_rest_length_is_another_model():
    from fem.runs.checkpoint import changed_parts, digests_of

    one, other = (
        fem.parse_deck(HANGER.format(material="*ELASTIC\n300.", extra=""), {"rest": rest}) for rest in (0.9, 1.0)
    )
    assert changed_parts(digests_of(one), digests_of(other)) == ["*REST LENGTH"]
