"""The noncentral t against mpmath, the central one, and itself turned round."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from backend.analysis.comparisons.means import pair_effects, student
from backend.analysis.distributions.noncentral_t import cdf, sf, shift_where
from backend.foundation.errors import InvalidInput

VECTORS = json.loads((Path(__file__).parents[1] / "effect_size_vectors.json").read_text("utf-8"))["rows"]
SHIFTS = st.floats(-60, 60)
DFS = st.sampled_from([1.0, 2.0, 3.5, 8.0, 58.0, 1000.0, 1e6])


def groups_of(d, count):
    """Return two groups of so many with a pooled SD of 1 whose means are `d` apart."""
    base = np.arange(count, dtype=float)
    base = (base - base.mean()) / base.std(ddof=1)
    return {"a": base + d, "b": base}


@pytest.mark.parametrize(("d", "count", "level", "low", "high"), VECTORS)
def test_the_interval_of_an_effect_size_is_the_one_by_mpmath(d, count, level, low, high):
    effect = student(groups_of(d, count), level)["effect"]

    assert effect["d"] == pytest.approx(d, abs=1e-12)
    assert effect["d_ci"] == pytest.approx([low, high], rel=1e-9, abs=1e-9)


def test_an_effect_near_zero_has_the_interval_of_its_own_tails():
    # d = .045 of 2 and 15 evaluators: a series gave +-1.939
    some = groups_of(0.0, 15)
    some["a"] = some["a"].mean() + 0.7 * np.array([-1.0, 1.0])
    pooled = math.sqrt((some["a"].var(ddof=1) + 14) / 15)
    some["a"] += 0.045 * pooled

    effect = student(some, 0.99)["effect"]

    assert effect["d"] == pytest.approx(0.045)
    assert effect["d_ci"] == pytest.approx([-1.8948704, 1.9833843], abs=1e-7)


def test_the_effects_of_all_pairs_are_those_of_each_alone():
    rng = np.random.default_rng(4)
    groups = {str(i): rng.normal(i, 1 + i, 3 + 2 * i) for i in range(5)} | {"flat": np.full(4, 3.0)}

    pairs = pair_effects(groups, 0.9)

    for pair in pairs:
        two = {name: groups[name] for name in (pair["a"], pair["b"])}
        assert {key: pair[key] for key in ("d", "g")} == pytest.approx(
            {key: student(two, 0.9)["effect"][key] for key in ("d", "g")}, rel=1e-12
        )
        assert pair["d_ci"] == pytest.approx(student(two, 0.9)["effect"]["d_ci"], rel=1e-9)
    assert len(pairs) == 15


@example(2.8808255372329984e-09, 1.0)
@given(st.floats(-40, 40), DFS)
def test_without_a_shift_it_is_students_t(t, df):
    # Next to 0 SciPy returns 0.5 for few degrees of freedom; there the tail is half minus density times t.
    expected = 0.5 - t * stats.t.pdf(0, df) if abs(t) < 1e-6 else stats.t.sf(t, df)
    assert float(sf(t, df, 0.0)) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@given(SHIFTS, DFS, SHIFTS)
def test_the_tails_are_all_there_is_and_mirror_each_other(t, df, shift):
    assert float(sf(t, df, shift) + cdf(t, df, shift)) == pytest.approx(1, abs=1e-10)
    assert float(cdf(t, df, shift)) == pytest.approx(float(sf(-t, df, -shift)), abs=1e-15)


@given(st.floats(-1e4, 1e4), DFS.filter(lambda df: df >= 2), st.floats(0.0005, 0.9995))
def test_the_shift_found_has_the_tail_asked_for(t, df, above):
    found = float(shift_where(above, t, df))

    assert float(sf(t, df, found)) == pytest.approx(above, rel=1e-7)


@pytest.mark.parametrize(
    ("t", "df", "shift"),
    [(math.nan, 5, 0), (1, math.inf, 0), (1, 5, math.nan), (1, 0.5, 0), (math.inf, 5, 0)],
)
def test_what_has_no_probability_is_refused_rather_than_nan(t, df, shift):
    with pytest.raises(InvalidInput, match="a noncentral t needs finite numbers and 1 degree of freedom"):
        sf(t, df, shift)


def test_a_probability_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="a probability must be between 0 and 1, not 1"):
        shift_where(1, 2.0, 5.0)
