"""Nominal errors of looks at several pairs, and repeated p-values, of which they are the inverse."""

from pathlib import Path

import numpy as np
import pytest

from backend.analysis.planning.boundaries import boundaries, spent
from backend.analysis.planning.family_errors import family_errors, repeated_p
from backend.analysis.planning.looks import LookPlan
from backend.experiment.planned_looks import aim_of

LOOKS = (10, 15, 20, 25, 30)


def test_of_one_pair_they_are_those_of_the_plan():
    """The table of docs/planning.md: twice the tail beyond 3.7103, 2.9697, 2.5387, 2.2522, 2.0448."""
    for is_tukey in (True, False):
        found = family_errors(LookPlan(LOOKS), 2, is_tukey)

        assert found == pytest.approx([0.00021, 0.00298, 0.01113, 0.02431, 0.04088], abs=6e-6)


def test_of_a_single_look_they_are_the_whole_error():
    for models, is_tukey in ((2, True), (4, True), (12, True), (4, False)):
        assert family_errors(LookPlan((30,)), models, is_tukey) == pytest.approx([0.05], rel=1e-8)


def test_of_four_models_they_are_those_of_the_documentation():
    found = family_errors(LookPlan(LOOKS), 4, is_tukey=True)

    assert ", ".join(f"{error:.5f}"[1:] for error in found) in Path("docs/planning.md").read_text("utf-8")


def test_with_holms_each_pair_has_the_boundaries_of_its_part_of_the_error():
    fractions = np.array(LOOKS) / 30

    found = family_errors(LookPlan(LOOKS), 4, is_tukey=False)

    z = boundaries(fractions, spent(fractions, 0.05 / 6))
    alone = LookPlan(LOOKS, level=1 - 0.05 / 6)
    assert alone.bounds == pytest.approx(z)
    assert found == pytest.approx(6 * alone.errors)


def test_tukeys_are_between_one_pair_and_bonferronis():
    one, tukey, holm = (
        family_errors(LookPlan(LOOKS), *which) for which in ((2, True), (4, True), (4, False))
    )

    assert (holm[:-1] < tukey[:-1]).all()
    assert (tukey[:-1] < one[:-1]).all()
    assert one[-1] < tukey[-1] < 0.05


@pytest.mark.parametrize("spending", ["obrien-fleming", "obrien-fleming-whole", "pocock"])
@pytest.mark.parametrize(
    ("aim", "models", "is_tukey"),
    [("apart", 2, True), ("apart", 4, True), ("apart", 4, False), ("equal-within=5", 4, False)],
)
def test_a_nominal_error_has_the_error_of_its_plan_as_repeated_p(spending, aim, models, is_tukey):
    plan, stricter = (LookPlan((15, 20, 30), aim_of(aim), spending, level) for level in (0.95, 0.99))
    errors, smaller = (family_errors(one, models, is_tukey) for one in (plan, stricter))

    for look in (1, 2, 3):
        assert repeated_p(plan, models, is_tukey, errors[look - 1], look) == pytest.approx(0.05, rel=1e-9)
        assert repeated_p(plan, models, is_tukey, smaller[look - 1], look) == pytest.approx(0.01, rel=5e-3)


def test_of_a_single_look_p_is_the_nominal_one():
    assert repeated_p(LookPlan((30,)), 2, True, 0.0123, 1) == pytest.approx(0.0123, rel=1e-6)


def test_the_same_p_tells_less_at_an_early_look():
    """Boundaries of O'Brien and Fleming's shape are far out at first: p = .01 is nothing at a third."""
    early, middle, late = (repeated_p(LookPlan(LOOKS), 2, True, 0.01, look) for look in (1, 3, 5))

    assert early > 0.2
    assert early > middle > late > 0.01


def test_looks_that_begin_very_early_have_intervals_still():
    found = family_errors(LookPlan((5, 100)), 12, True)

    assert found[0] == 1e-7
