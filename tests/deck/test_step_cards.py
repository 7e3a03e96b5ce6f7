"""Steps, procedures, controls, supports, loads, output."""

from __future__ import annotations

import math

import pytest

from fem.deck import parse_deck
from fem.model import (
    Boundary,
    Controls,
    DistributedLoad,
    Dynamic,
    Frequency,
    FrequencyRange,
    NodalLoad,
    OutputRequest,
    Static,
    SteadyState,
    Temperature,
)
from tests.deck.decks import MODEL, parse, problems


def steps(text: str) -> tuple:
    return parse_deck(MODEL + text).steps


def step(procedure: str, head: str = "*STEP, NLGEOM", cards: str = "") -> object:
    return steps(f"{head}\n{procedure}{cards}*END STEP\n")[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*STATIC\n", Static()),
        ("*STATIC\n\n", Static()),
        ("*STATIC, DIRECT, SOLVER=PARDISO\n0.1, 2\n", Static(0.1, 2.0, direct=True)),
        ("*STATIC\n0.1, 2, 1e-5, 0.5\n", Static(0.1, 2.0, 1e-5, 0.5)),
        ("*STATIC\n, 2\n", Static(2.0, 2.0)),
        ("*DYNAMIC, ALPHA=0.\n0.1, 2\n", Dynamic(0.1, 2.0)),
        ("*DYNAMIC, DIRECT, TIME INTEGRATOR=newmark, BETA=0.3, GAMMA=0.55\n0.1, 2,\n",
         Dynamic(0.1, 2.0, direct=True, beta=0.3, gamma=0.55)),
        ("*DYNAMIC, INITIAL=NO, SINGULAR MASS=WARNING\n0.1, 2, , 0.2\n",
         Dynamic(0.1, 2.0, dt_max=0.2, initial_acceleration=False, singular_mass="WARNING", integrator="HHT")),
        ("*DYNAMIC, DIRECT\n0.1, 2\n", Dynamic(0.1, 2.0, direct=True)),
        ("*DYNAMIC, GAMMA=0.5\n0.1, 2\n", Dynamic(0.1, 2.0)),
        ("*DYNAMIC, ALPHA=-0.1\n0.1, 2\n", Dynamic(0.1, 2.0, integrator="HHT", alpha=-0.1)),
        ("*DYNAMIC, APPLICATION=TRANSIENT FIDELITY\n0.1, 2\n", Dynamic(0.1, 2.0, integrator="HHT", alpha=-0.05)),
        ("*DYNAMIC, application=Moderate Dissipation\n0.1, 2\n",
         Dynamic(0.1, 2.0, integrator="HHT", alpha=-0.41421, by_convergence=True)),
        ("*DYNAMIC, APPLICATION=MODERATE DISSIPATION, ALPHA=-0.1\n0.1, 2\n",
         Dynamic(0.1, 2.0, integrator="HHT", alpha=-0.1, by_convergence=True)),
        ("*DYNAMIC, APPLICATION=QUASI-STATIC\n0.1, 2\n",
         Dynamic(0.1, 2.0, integrator="BACKWARD EULER", by_convergence=True)),
        ("*DYNAMIC, DIRECT, APPLICATION=QUASI-STATIC\n0.1, 2\n",
         Dynamic(0.1, 2.0, direct=True, integrator="BACKWARD EULER")),
        ("*DYNAMIC, APPLICATION=QUASI-STATIC, TIME INTEGRATOR=NEWMARK\n0.1, 2\n", Dynamic(0.1, 2.0)),
        ("*DYNAMIC, TIME INTEGRATOR=HHT\n0.1, 2\n", Dynamic(0.1, 2.0, integrator="HHT", alpha=-0.05)),
        ("*DYNAMIC, TIME INTEGRATOR=HHT, ALPHA=0\n0.1, 2\n", Dynamic(0.1, 2.0, integrator="HHT", alpha=0.0)),
        ("*DYNAMIC, TIME INTEGRATOR=Generalized Alpha\n0.1, 2\n",
         Dynamic(0.1, 2.0, integrator="GENERALIZED ALPHA", rho=0.8)),
        ("*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0\n0.1, 2\n",
         Dynamic(0.1, 2.0, integrator="GENERALIZED ALPHA", rho=0.0)),
        ("*DYNAMIC, TIME INTEGRATOR=BACKWARD EULER\n0.1, 2\n", Dynamic(0.1, 2.0, integrator="BACKWARD EULER")),
        ("*FREQUENCY, EIGENSOLVER=LANCZOS\n5\n", Frequency(5)),
        ("*STEADY STATE DYNAMICS, DIRECT, INTERVAL=RANGE\n1, 0\n1, 2, 1\n*CLOAD\n3, 3, 1\n",
         SteadyState((FrequencyRange(1.0, 1.0), FrequencyRange(1.0, 2.0)))),
    ],
)  # fmt: skip
def test_procedures(text: str, expected: object) -> None:
    assert step(text).procedure == expected  # type: ignore[attr-defined]


def test_undamped_notice() -> None:
    def notices(line: str) -> str:
        return " ".join(parse_deck(f"{MODEL}*STEP, NLGEOM\n{line}\n0.1, 1\n*END STEP\n").notices)

    assert "ALPHA=-0.05" in notices("*DYNAMIC")
    assert notices("*DYNAMIC, ALPHA=0") == ""
    assert notices("*DYNAMIC, TIME INTEGRATOR=NEWMARK") == ""
    assert "small increments" in notices("*DYNAMIC, ALPHA=0, BETA=0.1")
    chosen = notices("*DYNAMIC, APPLICATION=MODERATE DISSIPATION")
    assert "HHT, ALPHA=-0.41421" in chosen and "at once" not in chosen and "undamped" not in chosen
    assert "BACKWARD EULER" in notices("*DYNAMIC, APPLICATION=QUASI-STATIC")
    assert "ALPHA=-0.2" in notices("*DYNAMIC, APPLICATION=TRANSIENT FIDELITY, ALPHA=-0.2")


@pytest.mark.parametrize(
    ("line", "fragment"),
    [
        ("*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=1.8", "RHO=1.8 lies outside"),
        ("*DYNAMIC, RHO=0.8", "RHO is for"),
        ("*DYNAMIC, TIME INTEGRATOR=HHT, ALPHA=0.1", "ALPHA=0.1 lies outside"),
        ("*DYNAMIC, TIME INTEGRATOR=ENERGY MOMENTUM, ALPHA=-0.1", "contradicts"),
        ("*DYNAMIC, ALPHA=-0.1, RHO=0.8", "RHO is for"),
        ("*DYNAMIC, TIME INTEGRATOR=BACKWARD EULER, GAMMA=0.6", "GAMMA is for"),
        ("*DYNAMIC, EXPLICIT, TIME INTEGRATOR=NEWMARK", "contradicts"),
        ("*DYNAMIC, EXPLICIT, APPLICATION=QUASI-STATIC", "contradicts"),
        ("*DYNAMIC, ALPHA=-0.1, APPLICATION=QUASI-STATIC", "contradicts"),
        ("*DYNAMIC, ALPHA=-0.1, TIME INTEGRATOR=NEWMARK", "contradicts"),
        ("*DYNAMIC, TIME INTEGRATOR=HHT, BETA=0.3", "BETA is for"),
        ("*DYNAMIC, BETA=0", "BETA must be positive"),
        ("*DYNAMIC, HAFTOL=much", "HAFTOL="),
    ],
)
def test_refused_dynamics(line: str, fragment: str) -> None:
    found = problems(f"{MODEL}*STEP, NLGEOM\n{line}\n0.1, 1\n*END STEP\n")
    assert len(found) == 1
    assert fragment in found[0].message


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("*DYNAMIC, ALPHA=-0.05, HAFTOL=1e3", "*DYNAMIC, HAFTOL: ignored; automatic increments follow TIME ERROR"),
        (
            "*DYNAMIC, HALFINC SCALE FACTOR=2.",
            "*DYNAMIC, HALFINC SCALE FACTOR: ignored; automatic increments follow TIME ERROR",
        ),
        ("*DYNAMIC, DIRECT, HAFTOL=1e3", "accepted but ignored: *DYNAMIC, HAFTOL"),
    ],
)
def test_half_increment_residuals_are_not_what_increments_go_by(line: str, start: str) -> None:
    model = parse_deck(f"{MODEL}*STEP\n{line}\n0.1, 1\n*END STEP\n")
    assert len([notice for notice in model.notices if notice.startswith(start)]) == 1
    assert model.steps[0].controls.time_error == 1e-4


def test_nlgeom_sticks_and_its_absence_is_said() -> None:
    text = "".join(f"*STEP{extra}\n*STATIC\n*END STEP\n" for extra in ("", ", NLGEOM", "", ", NLGEOM=NO", ""))
    model = parse_deck(MODEL + text)
    assert [entry.nlgeom for entry in model.steps] == [False, True, True, False, False]
    linear = [notice.split()[1] for notice in model.notices if "geometrically linear" in notice]
    assert linear == ["1", "4", "5"]


def test_step_parameters() -> None:
    found = step("*STATIC\n", "*STEP, INC=7, NAME=Load 1, NLGEOM=YES, EXTRAPOLATION=LINEAR, AMPLITUDE=RAMP, UNSYMM=YES")
    assert (found.max_increments, found.name, found.extrapolation) == (7, "LOAD 1", "LINEAR")  # type: ignore[attr-defined]
    assert not step("*DYNAMIC, ALPHA=0\n1, 1\n", "*STEP, NLGEOM, AMPLITUDE=STEP").ramps  # type: ignore[attr-defined]
    assert not step("*STATIC\n", "*STEP, AMPLITUDE=STEP").ramps  # type: ignore[attr-defined]


def controls(cards: str) -> Controls:
    return step("*STATIC\n", cards=cards).controls  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("", Controls()),
        ("*CONTROLS, RESI_GLOB_RELA=1e-8, ITER_GLOB_MAXI=100\n", Controls(1e-8, max_iterations=100)),
        ("*CONTROLS, RESI_GLOB_MAXI=1e-3\n", Controls(None, 1e-3)),
        ("*CONTROLS, RESI_GLOB_MAXI=1e-3, RESI_GLOB_RELA=1e-6\n", Controls(1e-6, 1e-3)),
        ("*CONTROLS, ENERGY DRIFT=OFF\n", Controls(energy_drift=None)),
        ("*CONTROLS, ENERGY DRIFT=0.01\n", Controls(energy_drift=0.01)),
        ("*CONTROLS, TIME ERROR=OFF\n", Controls(time_error=None)),
        ("*CONTROLS, TIME ERROR=1e-6\n", Controls(time_error=1e-6)),
        ("*CONTROLS, TENSION CHANGE=0.3\n", Controls(tension_change=0.3)),
        ("*CONTROLS, TENSION CHANGE=OFF\n", Controls()),
        ("*CONTROLS, PARAMETERS=FIELD, FIELD=DISPLACEMENT\n1e-4, 0.02\n", Controls(1e-4, None, 0.02)),
        ("*CONTROLS, PARAMETERS=FIELD\n, 0.02\n", Controls(1e-6, None, 0.02)),
        ("*CONTROLS, PARAMETERS=TIME INCREMENTATION\n4, 8, 9, 16, 10, 4, , 5\n0.3, 0.5, 0.75, 0.85, , , 2\n",
         Controls(max_iterations=16, max_cutbacks=5, cut_factor=0.3, growth_factor=2.0)),
        ("*CONTROLS, PARAMETERS=TIME INCREMENTATION\n\n0.3\n", Controls(cut_factor=0.3)),
        ("*CONTROLS, RESI_GLOB_RELA=1e-8\n*CONTROLS, RESET\n", Controls()),
    ],
)  # fmt: skip
def test_controls(cards: str, expected: Controls) -> None:
    assert controls(cards) == expected


def test_energy_momentum_iterates_to_round_off_unless_told() -> None:
    def tolerances(cards: str) -> tuple[float | None, float | None]:
        found = step("*DYNAMIC, TIME INTEGRATOR=ENERGY MOMENTUM\n0.1, 2\n", cards=cards).controls  # type: ignore[attr-defined]
        return found.residual_relative, found.residual_absolute

    assert tolerances("") == (None, None)
    assert tolerances("*CONTROLS, ENERGY DRIFT=OFF\n") == (None, None)
    assert tolerances("*CONTROLS, RESI_GLOB_RELA=1e-9\n") == (1e-9, None)
    assert tolerances("*CONTROLS, RESI_GLOB_MAXI=1e-3\n") == (None, 1e-3)


def test_controls_stick() -> None:
    first = "*STEP, NLGEOM\n*STATIC\n*CONTROLS, RESI_GLOB_RELA=1e-8\n*END STEP\n"
    later = "*STEP\n*STATIC\n*END STEP\n"
    reset = "*STEP\n*STATIC\n*CONTROLS, RESET\n*END STEP\n"
    found = steps(first + later + reset)
    assert [entry.controls.residual_relative for entry in found] == [1e-8, 1e-8, 1e-6]


def test_supports() -> None:
    model = parse(
        "*BOUNDARY\nALL, 2\n1, 1, 3\n1, ENCASTRE\n2, xsymm\n3, YASYMM\n",
        "*BOUNDARY, AMPLITUDE=A\n3, 2, , 0.5\n*AMPLITUDE, NAME=A\n0, 1\n",
    )
    assert [(entry.target, entry.dof) for entry in model.boundaries] == [
        ("ALL", 2), (1, 1), (1, 2), (1, 3), (1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 3),
    ]  # fmt: skip
    assert model.steps[0].boundaries == (Boundary(3, 2, 0.5, "A"),)


def test_rotations_are_noted() -> None:
    model = parse("*BOUNDARY\n1, 1, 6\n2, 4\n")
    assert len(model.boundaries) == 3
    assert "rotations 4-6" in model.notices[-1]


def test_moving_supports_and_contradictions() -> None:
    repeated = "*BOUNDARY, TYPE=VELOCITY\nALL, 1, 1, 2\n3, 1, 1, 2\n"
    assert parse(step=repeated).steps[0].boundaries[0] == Boundary("ALL", 1, 2.0, None, "VELOCITY")
    text = MODEL + "*STEP, NLGEOM\n*STATIC\n*BOUNDARY\n3, 1, 1, 2\n*BOUNDARY, TYPE=VELOCITY\nALL, 1, 1, 2\n*END STEP\n"
    found = problems(text)
    assert len(found) == 1
    assert ":16" in found[0].hint and found[0].line == 18


def test_loads() -> None:
    found = parse(
        "*AMPLITUDE, NAME=A\n0, 1\n",
        "*CLOAD, AMPLITUDE=a\nALL, 1, 5\n3, 2, -1\n*DLOAD\nBARS, GRAV, 9.81, 0, 0, -2\n, GRAV, 1, 3, 4\n2, BX, 7\n"
        "*TEMPERATURE, OP=NEW\n*TEMPERATURE, OP=NEW\nALL, 30\n*CLOAD\n1, 1, 1\n",
    ).steps[0]
    assert found.nodal_loads == (NodalLoad("ALL", 1, 5.0, "A"), NodalLoad(3, 2, -1.0, "A"), NodalLoad(1, 1, 1.0))
    assert found.distributed_loads == (
        DistributedLoad("BARS", "GRAV", 9.81, (0.0, 0.0, -1.0)),
        DistributedLoad(None, "GRAV", 1.0, (0.6, 0.8, 0.0)),
        DistributedLoad(2, "BX", 7.0),
    )
    assert found.temperatures == (Temperature("ALL", 30.0),)
    assert found.replaced == {"TEMPERATURE"}


def test_directions_have_length_one_however_small_or_large() -> None:
    for text in ("1e-320, 1e-320, 0", "1e308, 1e308, 1e308", "1, 2, 3"):
        load = parse(step=f"*DLOAD\nBARS, GRAV, 1, {text}\n").steps[0].distributed_loads[0]
        assert math.hypot(*load.direction) == pytest.approx(1.0, abs=1e-15)


def test_outputs() -> None:
    found = (
        parse(
            "*TIME POINTS, NAME=TP\n0.5, 1\n",
            "*NODE PRINT, NSET=ALL, FREQUENCY=3, TOTALS=YES\nU, V\nRF\n*EL PRINT, ELSET=BARS\nS, N\n*ENERGY PRINT\n"
            "*NODE FILE, TIME POINTS=TP\n*OUTPUT, FIELD, FREQUENCY=4\n"
            "*ELEMENT OUTPUT, ELSET=BARS\nT\n*NODE OUTPUT, NSET=ALL\nA\n",
        )
        .steps[0]
        .outputs
    )
    assert found == (
        OutputRequest("NODE PRINT", "ALL", ("U", "V", "RF"), 3),
        OutputRequest("EL PRINT", "BARS", ("S", "N")),
        OutputRequest("ENERGY PRINT"),
        OutputRequest("NODE FILE", times="TP"),
        OutputRequest("EL FILE", "BARS", ("T",), 4),
        OutputRequest("NODE FILE", "ALL", ("A",), 4),
    )


def test_generated_time_points_take_their_end_in() -> None:
    """0.3/0.1 is 2.9999999999999996; where the increment does not divide, the last is before the end."""
    found = parse("*TIME POINTS, NAME=TP, GENERATE\n0., 0.3, 0.1\n0.5, 1., 0.2\n").time_points["TP"]
    assert found == pytest.approx((0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9))


def test_bare_output_asks_for_the_defaults() -> None:
    field, history = "*OUTPUT, FIELD, VARIABLE=PRESELECT, FREQUENCY=10\n", "*OUTPUT, HISTORY, VARIABLE=PRESELECT\n"
    for cards in (field + history, history + field):
        found = {(r.kind, r.every) for r in parse(step=cards).steps[0].outputs}
        assert found == {("NODE FILE", 10), ("EL FILE", 10), ("ENERGY PRINT", 1)}
    model = parse(step=history)
    assert model.steps[0].outputs == (OutputRequest("ENERGY PRINT"),)
    assert any("VARIABLE=PRESELECT: the energies" in notice for notice in model.notices)
    assert parse(step="*OUTPUT, HISTORY, VARIABLE=PRESELECT, FREQUENCY=0\n*OUTPUT, HISTORY\n").steps[0].outputs == ()


def test_histories_ask_for_tables() -> None:
    """Single components mean their quantity, as they do for PRINT."""
    model = parse(
        step="*OUTPUT, HISTORY, TIME INTERVAL=0.25, TIME MARKS=NO\n*NODE OUTPUT, NSET=ALL\nU1, RF3, UCOM2\n"
        "*ELEMENT OUTPUT, ELSET=BARS\nS11, E11\n*ELEMENT OUTPUT, NSET=ALL\nS11\n*ENERGY OUTPUT\nALLKE, ALLIE\n"
        "*OUTPUT, HISTORY, NUMBER INTERVAL=4\n*NODE OUTPUT, NSET=ALL\nCOOR1\n*ENERGY OUTPUT, ELSET=BARS\nALLSE\n"
        "*OUTPUT, FIELD, NUMBER INTERVAL=9\n*NODE OUTPUT\nV3\n"
    )
    quarters = {"interval": 0.25, "marks": False}
    assert model.steps[0].outputs == (
        OutputRequest("NODE PRINT", "ALL", ("U", "RF"), **quarters),
        OutputRequest("EL PRINT", "BARS", ("S", "E"), **quarters),
        OutputRequest("ENERGY PRINT", None, ("ALLKE",), **quarters),
        OutputRequest("NODE PRINT", "ALL", ("COORD",), intervals=4),
        OutputRequest("NODE FILE", None, ("V",)),
    )
    (notice,) = [text for text in model.notices if text.startswith("accepted but ignored")]
    assert all(f"{what} of *" in notice for what in ("UCOM2", "ALLIE"))
    assert "*OUTPUT, NUMBER INTERVAL" in notice and "TIME INTERVAL" not in notice


@pytest.mark.parametrize("pace", ["FREQUENCY=2, TIME INTERVAL=1", "NUMBER INTERVAL=3, TIME INTERVAL=1"])
def test_a_history_has_one_pace(pace: str) -> None:
    (problem,) = problems(MODEL + f"*STEP\n*STATIC\n*OUTPUT, HISTORY, {pace}\n*END STEP\n")
    assert "exclude each other" in problem.message


@pytest.mark.parametrize("pace", ["TIME INTERVAL=0", "TIME INTERVAL=-1", "NUMBER INTERVAL=0", "TIME MARKS=MAYBE"])
def test_impossible_paces(pace: str) -> None:
    assert len(problems(MODEL + f"*STEP\n*STATIC\n*OUTPUT, HISTORY, {pace}\n*END STEP\n")) == 1


def test_harmless_cards_go_into_one_notice() -> None:
    model = parse("*PREPRINT, ECHO=YES\n*RESTART, WRITE, FREQUENCY=3\n", "*FILE FORMAT, ASCII\n*ENERGY OUTPUT\nALLSE\n")
    (notice,) = [text for text in model.notices if text.startswith("accepted but ignored")]
    assert all(word in notice for word in ("*PREPRINT", "*FILE FORMAT", "*ENERGY OUTPUT"))
    assert model.restart_every == 3


@pytest.mark.parametrize(("card", "every"), [("", None), (", FREQUENCY=0", None), (", FREQUENCY=7", 7), (None, 0)])
def test_restart_asks_for_checkpoints(card: str | None, every: int | None) -> None:
    """Without FREQUENCY by wall time; 0 is none, as in Abaqus."""
    text = "*RESTART, WRITE\n" if card is None else f"*RESTART, WRITE{card}\n" * bool(card)
    assert parse(step=text).restart_every == every


def test_unused_nodes_are_noted() -> None:
    assert "1 node belongs to no element, the first is 8" in parse("*NODE\n8, 8\n").notices


def test_perturbations_that_change_nothing() -> None:
    """As Abaqus/CAE writes it: modes about the state reached, with the geometry of the steps before."""
    loaded = "*STEP, NLGEOM\n*STATIC\n*END STEP\n"
    modes = "*STEP, NAME=MODES, NLGEOM=NO, PERTURBATION\n*FREQUENCY, EIGENSOLVER=LANCZOS\n5, , , , ,\n*END STEP\n"
    found = steps(loaded + modes + "*STEP\n*STATIC\n*END STEP\n")
    assert found[1].procedure == Frequency(5)
    assert [each.nlgeom for each in found] == [True, True, True]
    assert step("*STATIC\n", "*STEP, PERTURBATION") == step("*STATIC\n", "*STEP, NLGEOM=NO")


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("*STEP, PERTURBATION\n*STATIC\n*END STEP\n*STEP\n*STATIC\n*END STEP\n", 8),
        ("*STEP, PERTURBATION\n*STATIC, RIKS\n0.1, 1\n*END STEP\n", 8),
        ("*STEP, PERTURBATION\n*DYNAMIC\n0.1, 1\n*END STEP\n", 8),
        ("*MATERIAL, NAME=M2\n*NO COMPRESSION\n*ELASTIC\n1.\n*STEP, PERTURBATION\n*STATIC\n*END STEP\n", 8),
    ],
)
def test_perturbations_that_would(text: str, column: int) -> None:
    model = MODEL.replace("MATERIAL=STEEL", "MATERIAL=M2") if "M2" in text else MODEL
    (problem,) = problems(model + text)
    assert "PERTURBATION of *STEP is not supported" in problem.message
    assert problem.column == column


def test_nlgeom_beside_perturbation_changes_nothing() -> None:
    """As Abaqus/CAE writes it in every step of a model whose geometry is nonlinear."""
    loaded, modes = "*STEP, NLGEOM\n*STATIC\n*END STEP\n", "*FREQUENCY\n5\n*END STEP\n"
    told = steps(loaded + "*STEP, NLGEOM=YES, PERTURBATION\n" + modes + "*STEP\n*STATIC\n*END STEP\n")
    assert told == steps(loaded + "*STEP\n" + modes + "*STEP\n*STATIC\n*END STEP\n")
    assert steps("*STEP, NLGEOM, PERTURBATION\n" + modes)[0].nlgeom  # about the initial stress
    assert step("*STATIC\n", "*STEP, NLGEOM, PERTURBATION") == step("*STATIC\n", "*STEP, NLGEOM=NO")


def test_element_output_at_nodes_is_that_of_the_elements() -> None:
    """CalculiX: ``*EL FILE, NSET=``; fields here hold every element."""
    model = parse("", "*EL FILE, NSET=ALL\nS\n")
    assert model.steps[0].outputs == (OutputRequest("EL FILE", None, ("S",)),)
    assert any("*EL FILE, NSET" in notice for notice in model.notices)
