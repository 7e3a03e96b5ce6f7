"""The validation cases themselves: all but those that ``fem validate`` leaves out, too, meet their targets."""

import pytest

from fem.study import validation

ROOT = validation.find_root()
SLOW = {
    "rope_pendulum", "iced_span", "lines_bottom", "string_pendulum", "sea", "chaos_that_ends", "n_link",
    "mooring_response", "lazy_wave", "slack_chain", "two_driven_rods", "calcpad", "driven_ends", "moving_rope",
    "vessel", "structures", "chain_modes", "composite_lines", "springs_dashpots", "moving_support", "solfec",
    "rod_forces", "twisted_cable",
}  # fmt: skip
"""Of 23 to 0.7 s of processor time; all others together take 4."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in validation.choose([], ROOT)],
)
def test_case_meets_its_targets(name, tmp_path):
    verdict = validation.run_case(name, ROOT / "validation" / "cases" / f"{name}.py", tmp_path)
    assert not verdict.failure
    missed = [(row.target.quantity, row.target.value, row.computed) for row in verdict.outcome.rows if not row.is_met]
    assert missed == []


def test_the_slow_ones_exist():
    assert set(validation.choose([], ROOT)) >= SLOW
