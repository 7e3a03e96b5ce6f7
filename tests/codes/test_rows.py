"""Every marked row of the tables of what other codes do (docs/other_codes.md) is held by a test that runs the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FEWEST = 40
"""Rows that our import, export and ``compare`` depend on."""
HELD = {
    "OpenSees": {
        "begins_without_forces": ("a model that begins displaced",),
        "is_of_first_order_without_its_acceleration": (
            "Newmark begins with acceleration 0", "the same with loads", "`setNodeAccel -commit`",
        ),
        "moves_supports_without_velocity": ("a support that `sp` moves",),
        "path_is_nothing_after_its_end": ("`timeSeries Path` is 0", "`-useLast` has no", "`-useLast` works"),
        "trusses_are_damped_by_rayleigh_where_asked": ("trusses take no Rayleigh",),
        "hht_counts_from_the_other_end": ("HHT: alpha 1",),
        "takes_the_force_of_a_state_between": ("HHT and GeneralizedAlpha", "GeneralizedAlpha takes the inertia"),
        "trusses": ("`corotTruss` takes", "`Truss` is", "`-rho` is", "`-cMass 1` is"),
        "materials": ("`ElasticMultiLinear`", "`InitStrainMaterial`", "eta of `Elastic`"),
        "says_by_a_number_that_it_failed": ("`analyze` returns",),
        "codes_go_on_as_we_do": ("`zeroLength` extends", "nodes keep their velocities"),
    },
    "CalculiX": {
        "takes_constants_without_a_point_for_dofs": ("the constant of a spring",),
        "cuts_numbers_at_20_characters": ("numbers are cut",),
        "exit_code_is_0_for_a_missing_file_and_a_mechanism": (
            "the exit code is 0 where the input", "the exit code is 0 where the structure",
        ),
        "starts_right_but_for_dashpots": (
            "initial displacements", "initial velocities", "loads at t = 0", "forces of dashpots",
        ),
        "dashpots_do_not_feel_moving_supports": ("dashpots take the ends", "V of a moved support"),
        "notes_that_moving_supports_end_with_another_velocity": ("a moving support that ends",),
        "reactions_lack_the_inertia_of_masses_at_supports": ("RF leaves out",),
        "without_direct_has_no_control_of_accuracy": ("`*DYNAMIC` without DIRECT",),
        "alpha_is_minus_0_05_unless_given": ("ALPHA is -0.05",),
        "loads_and_tables": ("two curves at one dof", "`*AMPLITUDE` keeps", "tables of springs"),
        "pulls_masses_by_gravity": ("GRAV acts",),
        "trusses_diverge_in_motion": ("T3D2 becomes",),
    },
    "MoorDyn": {
        "gravity": ("g is 9.80665",),
        "bottom_is_by_the_diameter": ("the density of water", "kBot is multiplied"),
        "rests_after_all_steps_only": ("`0 TmaxIC` leaves", "the static solve ends", "`0 threshIC` takes"),
        "lines_begin_as_continuous_catenaries": ("lines begin as",),
        "friction_is_a_damper": ("FrictionCoefficient is", "mu W only"),
        "axial_drag_is_by_the_surface": ("CdAx refers",),
        "damps_slack_lines": ("BA acts",),
        "dashpot_beside_the_fast_spring": ("EA_s\\|EA_d with BA 0\\|BA_d",),
        "fast_spring_needs_its_dashpot": ("EA_s\\|EA_d with BA 0\\|0",),
        "fairten_is_the_force_on_the_point": ("FairTen of", "GetLineFairTen is"),
        "lines_do_not_push_and_bottoms_push_up": ("the bottom pushes", "lines do not push"),
        "rods_without_segments_have_no_length": ("a rod with NumSegs 0",),
        "differences_are_within_the_bars_or_explained": ("drag acts at nodes", "one g is"),
    },
}  # fmt: skip
"""Code -> test_CODE_..., or test_..., in this folder -> how its rows begin."""


def rows_of(code: str) -> list[str]:
    """Behaviours of marked rows."""
    page = (HERE.parents[1] / "docs/other_codes.md").read_text(encoding="utf-8")
    part = page[page.index("## What the codes do") :].split(f"### {code}\n")[1].split("\n### ")[0]
    return [row.removeprefix("| ✓ | ") for row in part.splitlines() if row.startswith("| ✓ | ")]


def test_there_are_enough():
    assert sum(len(rows_of(code)) for code in HELD) >= FEWEST


@pytest.mark.parametrize("code", HELD)
def test_marked_rows_have_tests(code):
    """Each row has one, and each test of a row is there."""
    rows, begun = rows_of(code), [words for its in HELD[code].values() for words in its]
    assert sorted(rows) == sorted(row for words in begun for row in rows if row.startswith(words))
    assert len(rows) == len(begun)
    text = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    tests = set(re.findall(r"^def (test_\w+)\(", text, re.M))
    assert [name for name in HELD[code] if not {f"test_{code.lower()}_{name}", f"test_{name}"} & tests] == []
