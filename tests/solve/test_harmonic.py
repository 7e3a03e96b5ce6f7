"""*STEADY STATE DYNAMICS against closed forms, against quadrature of the drag over a cycle; modes against all dofs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
from fem.deck import write_deck
from fem.show.plot import plot

LINEAR = "*STEP, NLGEOM\n*STEADY STATE DYNAMICS, DIRECT, FREQUENCY SCALE=LINEAR\n"


def amplitudes(text: str, label: int, name: str = "U") -> tuple[np.ndarray, np.ndarray, fem.History]:
    """Frequencies and complex amplitudes (f, 3) of a node."""
    history = fem.run(fem.parse_deck(text))
    place = history.mesh.node_labels.tolist().index(label)
    found = [each.motion["U V A RF".split().index(name), place] for each in history.responses]
    return np.array([each.frequency for each in history.responses]), np.array(found), history


def of_element(history: fem.History, label: int, name: str = "T") -> np.ndarray:
    """(f,) complex amplitudes."""
    place = history.mesh.element_labels.tolist().index(label)
    return np.array([each.values[place, "ESNT".index(name)] for each in history.responses])


ONE_DOF = """
*NODE
1, 0., 0., 0.
2, 2., 0., 0.
*ELEMENT, TYPE=SPRINGA, ELSET=SPRING
1, 1, 2
*ELEMENT, TYPE=DASHPOTA, ELSET=DASHPOT
2, 1, 2
*ELEMENT, TYPE=MASS, ELSET=MASS
3, 2
*SPRING, ELSET=SPRING

100.
*DASHPOT, ELSET=DASHPOT

2.
*MASS, ELSET=MASS
1.5
*BOUNDARY
1, 1, 3
2, 2, 3
"""


def test_one_dof_with_a_dashpot() -> None:
    """u = f/(k + i w c - w^2 m), V = i w u, A = -w^2 u, RF = -(k + i w c) u (Clough and Penzien, ch. 3)."""
    loads = "0.5, 3., 6\n*CLOAD, REAL\n2, 1, 3.\n*CLOAD, LOAD CASE=2\n2, 1, 4.\n*END STEP\n"
    frequency, u, history = amplitudes(ONE_DOF + LINEAR + loads, 2)
    w = 2.0 * np.pi * frequency
    expected = (3.0 + 4.0j) / (100.0 + 2.0j * w - 1.5 * w**2)
    assert frequency.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    np.testing.assert_allclose(u[:, 0], expected, rtol=1e-9)
    for name, factor in (("V", 1j * w), ("A", -(w**2))):
        np.testing.assert_allclose(amplitudes(ONE_DOF + LINEAR + loads, 2, name)[1][:, 0], factor * expected, rtol=1e-9)
    held = amplitudes(ONE_DOF + LINEAR + loads, 1, "RF")[1][:, 0]
    np.testing.assert_allclose(held, -(100.0 + 2.0j * w) * expected, rtol=1e-9)
    np.testing.assert_allclose(of_element(history, 1), 100.0 * expected, rtol=1e-9)
    np.testing.assert_allclose(of_element(history, 2), 2.0j * w * expected, rtol=1e-9)
    np.testing.assert_allclose(of_element(history, 1, "E"), expected / 2.0, rtol=1e-9)


def test_springs_and_dashpots_of_dofs() -> None:
    """The same system: forces k u and i w c u."""
    text = ONE_DOF.replace("SPRINGA", "SPRING1").replace("DASHPOTA", "DASHPOT1").replace("1, 1, 2\n", "1, 2\n")
    text = text.replace("2, 1, 2\n", "2, 2\n").replace("=SPRING\n\n", "=SPRING\n1\n").replace("POT\n\n", "POT\n1\n")
    frequency, u, history = amplitudes(text + LINEAR + "0.5, 3., 6\n*CLOAD\n2, 1, 3.\n*END STEP\n", 2)
    w = 2.0 * np.pi * frequency
    np.testing.assert_allclose(u[:, 0], 3.0 / (100.0 + 2.0j * w - 1.5 * w**2), rtol=1e-9)
    np.testing.assert_allclose(of_element(history, 1), 100.0 * u[:, 0], rtol=1e-9)
    np.testing.assert_allclose(of_element(history, 2), 2.0j * w * u[:, 0], rtol=1e-9)


@pytest.mark.parametrize("strain", ["GREEN", "LOG", "ENGINEERING", "GREEN without NLGEOM", "LOG without NLGEOM"])
def test_slow_responses_of_stretched_bars_are_derivatives_of_statics(strain: str) -> None:
    """E, S, N and T of two bars that are stretched and turned by a fifth: central difference of two static states.
    Without NLGEOM: of bars shorter than their distance at the start."""
    model = (
        "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 1., 1., 0.\n*ELEMENT, TYPE=T3D2, ELSET=B\n1, 1, 2\n2, 3, 2\n"
        "*ELEMENT, TYPE=MASS, ELSET=P\n3, 2\n*MASS, ELSET=P\n1.\n*MATERIAL, NAME=M\n*ELASTIC\n100., 0.3\n"
        f"*SOLID SECTION, ELSET=B, MATERIAL=M, STRAIN={strain.split()[0]}\n2.\n*BOUNDARY\n1, 1, 3\n3, 1, 3\n2, 3\n"
    )
    is_linear = "without" in strain
    model += "*REST LENGTH\nB, 0.8\n" if is_linear else ""
    head = "*STEP, NLGEOM\n*STATIC\n0.25, 1.\n*CONTROLS, RESI_GLOB_RELA=1E-12\n*CLOAD\n"
    still = head + "2, 1, 40.\n2, 2, -50.\n*END STEP\n"
    slow = still + LINEAR + "1e-5, 1e-5, 1\n*CLOAD\n2, 1, 3.\n2, 2, 5.\n*END STEP\n"

    def found(text: str) -> fem.History:
        return fem.run(fem.parse_deck(model + (text.replace(", NLGEOM", "") if is_linear else text)))

    up, down = (found(f"{head}2, 1, {40 + 3 * h}\n2, 2, {-50 + 5 * h}\n*END STEP\n") for h in (1e-4, -1e-4))
    history = found(slow)
    for label in (1, 2):
        for name in "ESNT":
            expected = (up.of_element(label, name)[-1] - down.of_element(label, name)[-1]) / 2e-4
            assert of_element(history, label, name)[0].real == pytest.approx(expected, rel=1e-6), name


def test_amplitudes_are_functions_of_the_frequency_and_supports_move() -> None:
    """A support that moves by U drives u = (k + i w c) U/(k + i w c - w^2 m)."""
    amplitude = "*AMPLITUDE, NAME=RISE\n0., 0., 4., 8.\n"
    loads = "0.5, 3., 6\n*BOUNDARY, AMPLITUDE=RISE, IMAGINARY\n1, 1, 1, 0.1\n*END STEP\n"
    frequency, u, _ = amplitudes(amplitude + ONE_DOF + LINEAR + loads, 2)
    w = 2.0 * np.pi * frequency
    force = (100.0 + 2.0j * w) * 0.1j * 2.0 * frequency
    np.testing.assert_allclose(u[:, 0], force / (100.0 + 2.0j * w - 1.5 * w**2), rtol=1e-9)


PHASED = "*BOUNDARY, REAL\n1, 1, 1, 0.03\n*BOUNDARY, AMPLITUDE=RISE, IMAGINARY\n1, 1, 1, -0.04\n*END STEP\n"
"""0.03 - 0.04 i times twice the frequency."""


@pytest.mark.parametrize("is_modal", [False, True])
def test_real_and_imaginary_parts_of_a_support_add_up(is_modal: bool) -> None:
    """u = (k + i w c) U/(k + i w c - w^2 m) with a complex U, by all dofs and by the mode, in both orders; PU has its
    phase."""
    amplitude = "*AMPLITUDE, NAME=RISE\n0., 0., 4., 8.\n"
    way = MODES.format(modes=1) if is_modal else LINEAR
    cards = PHASED.replace("*END STEP\n", "").split("*B")[1:]
    for order in (cards, cards[::-1]):
        text = amplitude + ONE_DOF + way + "0.5, 3., 6\n" + "".join(f"*B{card}" for card in order) + "*END STEP\n"
        frequency, u, history = amplitudes(text, 2)
        w, moved = 2.0 * np.pi * frequency, 0.03 - 0.08j * frequency
        stiffness = 100.0 + 2.0j * w
        np.testing.assert_allclose(u[:, 0], stiffness * moved / (stiffness - 1.5 * w**2), rtol=1e-9)
        held = history.table("steady_nodes")
        at_support = np.array(held["node"]) == 1
        np.testing.assert_allclose(held["U1"][at_support], np.abs(moved), rtol=1e-12)
        np.testing.assert_allclose(held["U1_phase"][at_support], np.degrees(np.angle(moved)), rtol=1e-12)
    model = fem.parse_deck(text)
    assert fem.parse_deck(write_deck(model)) == model


def test_a_part_of_a_support_is_given_once() -> None:
    """Repeating it is fine, a contradiction is none the less one with the other part between."""
    deck = ONE_DOF + LINEAR + "0.5, 3., 6\n"
    again = PHASED.replace(", AMPLITUDE=RISE", "").replace("*END", "*BOUNDARY, REAL\n1, 1, 1, {}\n*END")
    assert fem.parse_deck(deck + again.format(0.03))
    with pytest.raises(fem.DeckError, match="node 1, dof 1 is prescribed twice"):
        fem.parse_deck(deck + again.format(0.05))
    with pytest.raises(fem.DeckError, match="node 1, dof 1 is prescribed twice"):
        fem.parse_deck(deck + again.format(0.03).replace("*BOUNDARY, IMAGINARY", "*BOUNDARY, FIXED, IMAGINARY", 1))


STRING = """
*NODE, NSET=ALL
1, 0., 0., 0.
21, 10., 0., 0.
*NGEN, NSET=ALL
1, 21
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=STRING
1, 20
*MATERIAL, NAME=WIRE
*ELASTIC
1.E11
*DENSITY
2000.
{damping}
*SOLID SECTION, ELSET=STRING, MATERIAL=WIRE, MASS=LUMPED, STRAIN={strain}
1.E-4
*INITIAL CONDITIONS, TYPE=STRESS
STRING, 4.E6
*BOUNDARY
1, 1, 3
21, 1, 3
*STEP, NLGEOM
*STATIC
*END STEP
"""


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING", "LOG"])
def test_taut_string_with_a_moving_end(strain: str) -> None:
    """u_j = U sin(j q)/sin(20 q), 2 (1 - cos q) = w^2 m h/T: sin(k x)/sin(k L) of masses on a string (Rayleigh,
    Theory of Sound, 120); to round-off of the stiffness, as bars along it are 25000 times as stiff."""
    move = "0.3, 5.3, 26\n*BOUNDARY\n21, 3, 3, 0.01\n*END STEP\n"
    frequency, _, history = amplitudes(STRING.format(damping="", strain=strain) + LINEAR + move, 21)
    q = 2.0 * np.arcsin(np.pi * frequency * np.sqrt(0.1 / 800.0))
    assert len(frequency) == 26
    order = np.argsort(history.mesh.node_labels)
    u = np.array([each.motion[0, order, 2] for each in history.responses])
    expected = 0.01 * np.sin(np.arange(21) * q[:, None]) / np.sin(20.0 * q[:, None])
    np.testing.assert_allclose(u.real, expected, rtol=1e-7, atol=1e-9)
    assert np.abs(u.imag).max() < 1e-10
    assert max(each.residual for each in history.responses) < 1e-9


@pytest.mark.parametrize(("mass", "coupling"), [("LUMPED", 0.0), ("CONSISTENT", 1 / 3), ("ONE POINT", 1 / 2)])
def test_stretching_of_damped_bars(mass: str, coupling: float) -> None:
    """Along the string: K (1 + i w BETA) u = w^2 (1 - i ALPHA/w) M u, tensions (1 + i w BETA) E A e; in closed form as
    above with a complex q, where M has (1 - coupling (1 - cos q)) m h of a mass rule."""
    alpha, beta = 20.0, 1e-3
    damping = f"*DAMPING, ALPHA={alpha}, BETA={beta}"
    move = "10., 300., 5\n*BOUNDARY\n21, 1, 1, 0.001\n*END STEP\n"
    deck = STRING.format(damping=damping, strain="ENGINEERING").replace("MASS=LUMPED", f"MASS={mass}")
    frequency, _, history = amplitudes(deck + LINEAR + move, 21)
    w, order = 2.0 * np.pi * frequency, np.argsort(history.mesh.node_labels)
    stiffness = 1e7 / 0.5 * (1.0 + 1j * w * beta)
    ratio = (w**2 - 1j * w * alpha) * 0.1 / stiffness
    q = 2.0 * np.arcsin(0.5 * np.sqrt(ratio / (1.0 + 0.5 * coupling * ratio) + 0j))
    u = np.array([each.motion[0, order, 0] for each in history.responses])
    expected = 0.001 * np.sin(np.arange(21) * q[:, None]) / np.sin(20.0 * q[:, None])
    np.testing.assert_allclose(u, expected, rtol=1e-8)
    np.testing.assert_allclose(of_element(history, 20), stiffness * (u[:, 20] - u[:, 19]), rtol=1e-8)


def test_resonances_are_the_natural_frequencies() -> None:
    """Beside them the undamped answer is in phase or opposed; at them it is left out, and said to be."""
    deck = STRING.format(damping="", strain="GREEN")
    modes = "*STEP, NLGEOM\n*FREQUENCY\n1\n*END STEP\n"
    first = float(fem.run(fem.parse_deck(deck + modes)).modes[0].frequency[0])
    line = "{}\n*CLOAD\n11, 3, 1.\n*END STEP\n"
    below, above = (amplitudes(deck + LINEAR + line.format(first * (1.0 + e)), 11)[1][0, 2] for e in (-1e-6, 1e-6))
    assert below.real > 0.0 > above.real
    assert below.real / -above.real == pytest.approx(1.0, abs=1e-2)


DRAGGED = """
*NODE, NSET=ALL
1, 0., 0., -25.
2, 4., 0., -25.
3, 0., 0., -35.
4, 4., 0., -35.
*ELEMENT, TYPE=T3D2, ELSET=PIPE
1, 1, 2
*ELEMENT, TYPE=SPRING2, ELSET=SPRINGS
2, 1, 3
3, 2, 4
*SPRING, ELSET=SPRINGS
3, 3
250.
*MATERIAL, NAME=STEEL
*ELASTIC
2.E11
*DENSITY
7850.
*SOLID SECTION, ELSET=PIPE, MATERIAL=STEEL, MASS=LUMPED
0.01
*AQUA
-50., 0., 9.81, 1025.
{current}
*BOUNDARY
1, 1, 2
2, 1, 2
3, 1, 3
4, 1, 3
*STEP, NLGEOM
*STATIC
*DLOAD
PIPE, FDD, 1., 0.2, 1.2
PIPE, FI, 1., 0.2, 2., 1.
*END STEP
"""
RESISTANCE = 0.5 * 1025.0 * 0.2 * 1.2 * 4.0
INERTIA = 7850.0 * 0.01 * 4.0 + 1025.0 * np.pi * 0.1**2 * 4.0


def harmonic_drag(speed: complex, current: float) -> complex:
    """First harmonic of -k |U - v| (U - v), v = Re(speed e^(i phi)), by fine quadrature."""
    phase = 2.0 * np.pi * (np.arange(20000) + 0.5) / 20000
    slip = current - np.real(speed * np.exp(1j * phase))
    return complex(-2.0 * RESISTANCE * np.mean(np.abs(slip) * slip * np.exp(-1j * phase)))


@pytest.mark.parametrize("current", [0.0, 0.3, 3.0])
def test_drag_is_that_of_a_cycle(current: float) -> None:
    """F_1 = 8/(3 pi) k |w u| i w u in still water; with a current, of first harmonics by quadrature. Through the
    resonance, 0.2 Hz, where drag alone limits the motion."""
    rows = f"0., 0., {current}, -50.\n0., 0., {current}, 0." if current else ""
    deck = DRAGGED.format(current=rows) + LINEAR + "0.1, 0.3, 5\n*CLOAD\nALL, 3, 200.\n*END STEP\n"
    frequency, u, history = amplitudes(deck, 1)
    assert len(frequency) == 5
    for f, found in zip(frequency, u[:, 2], strict=True):
        w = 2.0 * np.pi * f

        def left(size: float, w: float = w) -> float:
            in_still = 8.0 / (3.0 * np.pi) * RESISTANCE * (w * size) ** 2
            lost = abs(harmonic_drag(1j * w * size, current)) if current else in_still
            return abs((500.0 - w**2 * INERTIA) * size + 1j * lost) - 400.0

        size = brentq(left, 1e-6, 10.0, xtol=1e-12)
        assert abs(found) == pytest.approx(size, rel=1e-4)
        force = (500.0 - w**2 * INERTIA) * found + harmonic_drag(1j * w * found, current)
        assert force == pytest.approx(400.0, rel=3e-4)
    assert max(each.iterations for each in history.responses) < 30


PENDULUM = """
*NODE
1, 0., 0., 0.
2, 0., 0., -2.
*ELEMENT, TYPE=T3D2, ELSET=ROD
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*MASS, ELSET=BOB
3.
*MATERIAL, NAME=ROPE
*INEXTENSIBLE
{more}
*SOLID SECTION, ELSET=ROD, MATERIAL=ROPE
1.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*STATIC
*DLOAD
BOB, GRAV, 10., 0., 0., -1.
*END STEP
"""


@pytest.mark.parametrize("more", ["", "*NO COMPRESSION", "*NO TENSION"])
def test_pendulum_on_a_moving_support(more: str) -> None:
    """A rod, or a taut rope: u = U (g/L)/(g/L - w^2) across; along it the bob follows, T = -m w^2 U (phase 180). Of a
    strut that only pushes g is upwards."""
    move = "0.1, 0.6, 6\n*BOUNDARY\n1, 1, 1, 0.1\n1, 3, 3, 0.2\n*END STEP\n"
    text, g = PENDULUM.format(more=more), -10.0 if "TENSION" in more else 10.0
    frequency, u, history = amplitudes(text.replace("GRAV, 10.", f"GRAV, {g}") + LINEAR + move, 2)
    w = 2.0 * np.pi * frequency
    np.testing.assert_allclose(u[:, 0], 0.1 * g / 2.0 / (g / 2.0 - w**2), rtol=1e-9)
    np.testing.assert_allclose(u[:, 2], 0.2, rtol=1e-9)
    np.testing.assert_allclose(of_element(history, 1), -3.0 * w**2 * 0.2, rtol=1e-9)
    assert not any("slack" in text for text in history.notices)


def test_ropes_that_would_go_slack_are_named() -> None:
    """From m w^2 U > m g on, at the first such frequency."""
    move = "1., 2., 11\n*BOUNDARY\n1, 3, 3, 0.1\n*END STEP\n"
    *_, history = amplitudes(PENDULUM.format(more="*NO COMPRESSION") + LINEAR + move, 2)
    expected = next(f for f in np.linspace(1.0, 2.0, 11) if 0.1 * (2.0 * np.pi * f) ** 2 > 10.0)
    assert any(f"element 1 at frequency {expected:.6g}: they would go slack" in text for text in history.notices)
    *_, history = amplitudes(PENDULUM.format(more="") + LINEAR + move, 2)
    assert not any("slack" in text for text in history.notices)


def test_a_step_of_harmonic_motions_leaves_no_trace() -> None:
    """The next step begins where the one before ended, its supports and loads as they were."""
    move = "0.1, 0.6, 3\n*BOUNDARY\n1, 1, 1, 0.1\n*CLOAD\n2, 1, 7.\n*END STEP\n"
    after = "*STEP, NLGEOM\n*DYNAMIC, DIRECT, ALPHA=0.\n0.1, 0.5\n*END STEP\n"
    history = fem.run(fem.parse_deck(PENDULUM.format(more="") + LINEAR + move + after))
    assert np.abs(history.u[history.of_step(3)]).max() < 1e-12


MODES = """*STEP, NLGEOM
*FREQUENCY
{modes}
*END STEP
*STEP, NLGEOM
*STEADY STATE DYNAMICS, INTERVAL=RANGE, FREQUENCY SCALE=LINEAR
"""


def test_damping_of_a_mode() -> None:
    """u = f/(k + 2 i zeta w0 w m - w^2 m); on a moving support it acts on u - U (Clough and Penzien, ch. 3 and 12)."""
    free = ONE_DOF.replace("*DASHPOT, ELSET=DASHPOT\n\n2.", "*DASHPOT, ELSET=DASHPOT\n\n0.")
    rate = 2.0 * 0.03 * np.sqrt(100.0 / 1.5) * 1.5
    damping = "0.5, 3., 6\n*MODAL DAMPING, MODAL=DIRECT\n1, 1, 0.03\n"
    frequency, u, history = amplitudes(free + MODES.format(modes=1) + damping + "*CLOAD\n2, 1, 3.\n*END STEP\n", 2)
    w = 2.0 * np.pi * frequency
    np.testing.assert_allclose(u[:, 0], 3.0 / (100.0 + 1j * w * rate - 1.5 * w**2), rtol=1e-9)
    assert max(each.residual for each in history.responses) < 1e-12
    moved = MODES.format(modes=1) + damping + "*BOUNDARY\n1, 1, 1, 0.1\n*END STEP\n"
    found = amplitudes(free + moved, 2)[1][:, 0]
    np.testing.assert_allclose(found - 0.1, 0.15 * w**2 / (100.0 + 1j * w * rate - 1.5 * w**2), rtol=1e-9)


def test_all_modes_are_all_dofs() -> None:
    """Where *DAMPING couples modes, supports move and loads are out of phase; few modes are near, and say how near."""
    deck = STRING.format(damping="*DAMPING, ALPHA=2., BETA=1.E-4", strain="GREEN")
    line = "0.3, 20.3, 11\n*BOUNDARY\n21, 3, 3, 0.01\n*CLOAD\n7, 3, 3.\n*CLOAD, IMAGINARY\n9, 1, 100.\n*END STEP\n"
    expected = amplitudes(deck + LINEAR + line, 7)[1]
    *_, all_ = amplitudes(deck + MODES.format(modes=57) + line, 7)
    *_, some = amplitudes(deck + MODES.format(modes=20) + line, 7)
    place = all_.mesh.node_labels.tolist().index(7)
    for history, error in ((all_, 1e-9), (some, 1e-2)):
        u = np.array([each.motion[0, place] for each in history.responses])
        np.testing.assert_allclose(u, expected, rtol=0.0, atol=error * np.abs(expected).max())
    assert max(each.residual for each in all_.responses) < 1e-9
    assert not any("unbalanced" in text for text in all_.notices)
    assert any("the modes leave" in text for text in some.notices)


@pytest.mark.parametrize("current", [0.0, 0.3])
@pytest.mark.sampled(1)
def test_modes_feel_drag(current: float) -> None:
    """The two of a pipe on springs, at their resonance, as all dofs do."""
    rows = f"0., 0., {current}, -50.\n0., 0., {current}, 0." if current else ""
    deck, line = DRAGGED.format(current=rows), "0.1, 0.3, 5\n*CLOAD\nALL, 3, 200.\n1, 3, 50.\n*END STEP\n"
    expected, found = (amplitudes(deck + way + line, 1)[1] for way in (LINEAR, MODES.format(modes=2)))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_rayleigh_damping_of_modes_is_that_of_the_material() -> None:
    """ALPHA M of *DAMPING, and of all modes."""
    line = "0.3, 20.3, 11\n{}*CLOAD\n7, 3, 3.\n*END STEP\n"
    direct = STRING.format(damping="*DAMPING, ALPHA=2.", strain="GREEN") + LINEAR + line.format("")
    modal = "*MODAL DAMPING, RAYLEIGH\n1, 30, 2., 0.\n31, 57, 2., 0.\n"
    modes = STRING.format(damping="", strain="GREEN") + MODES.format(modes=57) + line.format(modal)
    expected, found = (amplitudes(text, 7)[1] for text in (direct, modes))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())


def test_natural_frequencies_part_the_range() -> None:
    """As in Abaqus: 5 points from each to the next one, dense at both; there damping alone holds the motion."""
    deck = STRING.format(damping="", strain="GREEN")
    steps = MODES.format(modes=6).replace(", INTERVAL=RANGE", "") + "1., 8., 5\n*MODAL DAMPING\n1, 6, 0.02\n"
    frequency, u, history = amplitudes(deck + steps + "*CLOAD\n11, 3, 1.\n*END STEP\n", 11)
    natural = np.unique(history.modes[0].frequency[history.modes[0].frequency < 8.0].round(9))
    assert np.isin(natural, frequency.round(9)).all() and len(frequency) >= 4 * (len(natural) + 1) + 1
    first = int(np.abs(frequency - natural[0]).argmin())
    stiffness = 10.0 / 2.0 * 200.0 * (2.0 * np.pi * natural[0]) ** 2 * 1e-3
    assert abs(u[first, 2]) == pytest.approx(1.0 / (2.0 * 0.02 * stiffness), rel=0.02)
    assert np.diff(frequency).min() > 1e-3  # double modes, up and sideways, are one: they differ by round-off


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PENDULUM.format(more=""), "tensions of rods"),
        (
            ONE_DOF.replace("3, 2\n*SPRING", "3, 2\n4, 1\n*SPRING").replace("1, 1, 3", "1, 2, 3"),
            "no static answer|no stiffness",
        ),
    ],
    ids=["rods", "free"],
)
def test_what_modes_cannot_do_is_said(text: str, words: str) -> None:
    with pytest.raises(fem.ModelError, match=words):
        amplitudes(text + MODES.format(modes=1) + "1.\n*CLOAD\n2, 1, 1.\n*END STEP\n", 2)


def test_what_is_not_at_rest_is_said() -> None:
    """No *STATIC step has balanced the weight."""
    text = PENDULUM.format(more="").replace("*STATIC", "*DYNAMIC, DIRECT, ALPHA=0.\n0.01, 0.01")
    text = text.replace("1, 1, 3\n*STEP", "1, 1, 3\n*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 3.\n*STEP", 1)
    *_, history = amplitudes(text + LINEAR + "1.\n*CLOAD\n2, 1, 1.\n*END STEP\n", 2)
    assert any("not at rest" in text for text in history.notices) == (abs(history.u).max() > 1e-2)


def test_nodes_of_rigid_bodies_turn() -> None:
    """Pitch q about y of a reference node moves a node at (3, 0, 2) by q (2, 0, -3); its spring follows."""
    text = """
*NODE
1, 0., 0., 0.
2, 3., 0., 2.
3, 3., 0., 0.
*ELEMENT, TYPE=SPRINGA, ELSET=SPRING
1, 2, 3
*SPRING, ELSET=SPRING

100.
*NSET, NSET=PINNED
2
*RIGID BODY, REF NODE=1, PIN NSET=PINNED, ROTATION=RPY
*ELEMENT, TYPE=MASS, ELSET=MASS
2, 3
*MASS, ELSET=MASS
1.
*BOUNDARY
1, 1, 6
3, 1, 2
"""
    move = "0.5, 1., 2\n*BOUNDARY\n1, 5, 5, 0.01\n1, 1, 1, 0.1\n*END STEP\n"
    frequency, u, _ = amplitudes(text + LINEAR + move, 2)
    np.testing.assert_allclose(u, np.tile([0.1 + 0.02, 0.0, -0.03], (2, 1)), atol=1e-12)
    bob = amplitudes(text + LINEAR + move, 3)[1][:, 2]
    np.testing.assert_allclose(bob, -0.03 * 100.0 / (100.0 - (2.0 * np.pi * frequency) ** 2), rtol=1e-9)
    held = amplitudes(text + LINEAR + move, 1, "RF")[1][:, 2]  # the reference node carries what its body does
    np.testing.assert_allclose(held, 100.0 * (-0.03 - bob), rtol=1e-9)


def test_tied_dofs_and_a_bottom() -> None:
    """Two masses tied by *EQUATION on a bottom: 2 K a + 2 m (-w^2), a the width times half of a bar."""
    text = """
*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=STEEL
*ELASTIC
2.E9
*DENSITY
1000.
*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL, MASS=LUMPED
0.01
*SEABED, ELSET=BAR, ELEVATION=0.
1.E5, 0., 0.05, 0.001
*EQUATION
2
2, 3, 1., 1, 3, -1.
*BOUNDARY
ALL, 1, 2
*STEP, NLGEOM
*STATIC
*DLOAD
BAR, GRAV, 10., 0., 0., -1.
*END STEP
"""
    frequency, u, _ = amplitudes(text + LINEAR + "1., 5., 3\n*CLOAD\n1, 3, 2.\n*END STEP\n", 2)
    w = 2.0 * np.pi * frequency
    np.testing.assert_allclose(u[:, 2], 2.0 / (1e5 * 0.05 - w**2 * 10.0), rtol=1e-8)


def test_a_range_with_bias_is_dense_at_its_ends() -> None:
    """Abaqus Analysis Guide, Direct-solution steady-state dynamic analysis: y = -1 + 2 (k - 1)/(n - 1), |y|^(1/p)."""
    model = fem.parse_deck(ONE_DOF + LINEAR + "1., 3., 5, 2.\n8.\n*CLOAD\n2, 1, 1.\n*END STEP\n")
    root = 0.5**0.5
    np.testing.assert_allclose(model.steps[0].procedure.frequencies(), [1.0, 2.0 - root, 2.0, 2.0 + root, 3.0, 8.0])
    text = ONE_DOF + LINEAR.replace("LINEAR", "LOGARITHMIC") + "1., 100., 3\n*CLOAD\n2, 1, 1.\n*END STEP\n"
    np.testing.assert_allclose(fem.parse_deck(text).steps[0].procedure.frequencies(), [1.0, 10.0, 100.0])


def test_tables_and_figure(tmp_path: Path) -> None:
    """A row for each frequency and node, or element: amplitudes, phases in degrees."""
    prints = "*NODE PRINT, NSET=BOB\nPU, PRF\n*EL PRINT, ELSET=SPRING\nPHS, T\n*END STEP\n"
    text = (
        ONE_DOF.replace("*BOUNDARY", "*NSET, NSET=BOB\n2\n*BOUNDARY")
        + LINEAR
        + "1., 2., 3\n*CLOAD, IMAGINARY\n2, 1, 5.\n"
    )
    (tmp_path / "one.inp").write_text(text + prints)
    history = fem.run(tmp_path / "one.inp", output=tmp_path / "out")
    names = (tmp_path / "out" / "steady_nodes.csv").read_text().splitlines()[0].split(",")
    assert names[:5] == ["step", "frequency", "node", "U1", "U1_phase"] and "RF3_phase" in names and "V1" not in names
    nodes = np.genfromtxt(tmp_path / "out" / "steady_nodes.csv", delimiter=",", names=True)
    w = 2.0 * np.pi * nodes["frequency"]
    expected = 5.0j / (100.0 + 2.0j * w - 1.5 * w**2)
    assert nodes["node"].tolist() == [2.0] * 3
    np.testing.assert_allclose(nodes["U1"], np.abs(expected), rtol=1e-9)
    np.testing.assert_allclose(nodes["U1_phase"], np.degrees(np.angle(expected)), rtol=1e-8)
    elements = np.genfromtxt(tmp_path / "out" / "steady_elements.csv", delimiter=",", names=True)
    np.testing.assert_allclose(elements["T"], 100.0 * np.abs(expected), rtol=1e-9)
    steady = np.genfromtxt(tmp_path / "out" / "steady.csv", delimiter=",", names=True)
    assert steady["iterations"].tolist() == [each.iterations for each in history.responses]
    assert steady["residual"].max() < 1e-12
    assert [path.name for path in plot(tmp_path / "out", "response")] == ["response.png"]
