"""The validation cases themselves: all but the long ones meet their targets."""

import pytest

from fem import validation

ROOT = validation.find_root()


@pytest.mark.parametrize("name", validation.choose([], ROOT))
def test_case_meets_its_targets(name, tmp_path):
    verdict = validation.run_case(name, ROOT / "validation" / "cases" / f"{name}.py", tmp_path)
    assert not verdict.failure
    missed = [(row.target.quantity, row.target.value, row.computed) for row in verdict.outcome.rows if not row.is_met]
    assert missed == []
