"""The studentized range against scipy, a printed table, and the t distribution."""

import numpy as np
import pytest
from scipy import stats

from backend.analysis.distributions.studentized_range import isf, sf
from backend.foundation.errors import InvalidInput


@pytest.mark.parametrize("groups", [2, 3, 10, 100])
@pytest.mark.parametrize("df", [1, 2, 28, 116, 5000])
def test_tails_agree_with_scipy(groups, df):
    q = np.array([0.05, 2.0, 4.5, 12.0])

    assert sf(q, groups, df) == pytest.approx(stats.studentized_range.sf(q, groups, df), abs=1e-8)


@pytest.mark.parametrize(
    ("p", "groups", "df", "printed"),
    [(0.05, 3, 10, 3.877), (0.05, 4, 20, 3.958), (0.05, 10, 60, 4.646), (0.01, 5, 30, 5.048)],
)
def test_critical_values_are_those_of_the_tables(p, groups, df, printed):
    """Printed tables of the studentized range, such as Pearson and Hartley (1970), table 29."""
    assert isf(p, groups, np.array(df)) == pytest.approx(printed, abs=6e-4)


@pytest.mark.parametrize("df", [3.0, 30.0, 900.0])
def test_the_range_of_two_is_a_t_of_two_sides_far_into_the_tail(df):
    q = np.array([0.1, 3.0, 10.0, 25.0])

    assert sf(q, 2, df) == pytest.approx(2 * stats.t.sf(q / np.sqrt(2), df), rel=1e-9)


def test_many_degrees_of_freedom_are_solved_as_one_alone():
    df = np.linspace(3.3, 58, 400)

    together = isf(0.05, 7, df)

    assert together[::57] == pytest.approx([float(isf(0.05, 7, np.array(one))) for one in df[::57]], rel=1e-8)


def test_no_range_and_an_infinite_one_have_the_probabilities_they_must():
    assert sf(np.array([0.0, np.inf]), 5, 20.0) == pytest.approx([1.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("groups", [2, 3, 40, 780])
@pytest.mark.parametrize("df", [1.0, 2.5, 30.0, 1e6])
def test_a_quantile_has_the_tail_asked_for_at_every_level(groups, df):
    for p in (0.999, 0.5, 0.05, 0.001, 1e-6):
        assert float(sf(isf(p, groups, np.array(df)), groups, df)) == pytest.approx(p, rel=1e-9)


def test_a_tail_too_thin_to_be_told_is_refused():
    with pytest.raises(InvalidInput, match="no studentized range of 3 groups is exceeded with a probability"):
        isf(1e-13, 3, np.array(1.0))
