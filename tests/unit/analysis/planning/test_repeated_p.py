"""Repeated p-values against the errors of the plan of which they are the inverse."""

import pytest

from backend.analysis.planning.looks import LookPlan, aim_of
from backend.analysis.planning.repeated_p import repeated_p

LOOKS = (10, 15, 20, 25, 30)


@pytest.mark.parametrize("spending", ["obrien-fleming", "obrien-fleming-whole", "pocock"])
@pytest.mark.parametrize("aim", ["apart", "equal-within=5"])
def test_a_nominal_error_has_the_error_of_its_plan_as_repeated_p(spending, aim):
    plan = LookPlan((10, 20, 30), aim_of(aim), spending)
    stricter = LookPlan((10, 20, 30), aim_of(aim), spending, level=0.99)

    for look in (1, 2, 3):
        assert repeated_p(plan, plan.errors[look - 1], look) == pytest.approx(0.05, rel=1e-12)
        assert repeated_p(plan, stricter.errors[look - 1], look) == pytest.approx(0.01, rel=2e-3)


def test_of_a_single_look_p_is_the_nominal_one():
    assert repeated_p(LookPlan((30,)), 0.0123, 1) == pytest.approx(0.0123, rel=1e-6)


def test_the_same_p_tells_less_at_an_early_look():
    """Boundaries of O'Brien and Fleming's shape are far out at first: p = .01 is nothing at a third."""
    plan = LookPlan(LOOKS)
    early, middle, late = (repeated_p(plan, 0.01, look) for look in (1, 3, 5))

    assert early > 0.2
    assert early > middle > late > 0.01
