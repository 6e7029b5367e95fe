"""The areas under precision and recall with fractional labels, worked by hand, and their derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from backend.analysis.agreement import jnd


def test_four_pairs_by_hand():
    # sorted by distance: same 1, 0, 1, 0. TP 1 1 2 2; precision 1, 1/2, 2/3, 1/2; recall 1/2 1/2 1 1.
    # Envelope 1, 2/3, 2/3, 1/2; recall grows by 1/2 at the first and at the third: 1/2 + 1/2 * 2/3
    distance, same = np.array([0.4, 0.1, 0.3, 0.2]), np.array([0.0, 1, 1, 0])

    assert jnd.area(distance, same) == pytest.approx(5 / 6)


def test_fractional_labels_by_hand():
    # same 1/3, 1, 2/3: T = 2; TP 1/3, 4/3, 2; precision 1/3, 2/3, 2/3; envelope 2/3 throughout
    assert jnd.area(np.array([1.0, 2, 3]), np.array([1 / 3, 1, 2 / 3])) == pytest.approx(2 / 3)


def test_it_is_not_the_area_without_the_envelope_nor_of_eleven_points():
    # same 0, 1, 1: precision 0, 1/2, 2/3. Without envelope (1/2 + 2/3) / 2; with it 2/3 at every recall
    same = np.array([0.0, 1, 1])
    # same 1, 0, 0, 1: precision 1, 1/2, 1/3, 1/2: (1 + 1/2) / 2; eleven points: (6 * 1 + 5 * 1/2) / 11
    other = np.array([1.0, 0, 0, 1])

    assert jnd.area(np.arange(3.0), same) == pytest.approx(2 / 3)
    assert jnd.area(np.arange(4.0), other) == pytest.approx(0.75)


def test_pairs_at_one_distance_stay_in_their_order():
    # all at one distance: the order of the arrays; same 0, 1 gives 1/2, same 1, 0 gives 1
    one = np.zeros(2)

    assert jnd.area(one, np.array([0.0, 1])) == pytest.approx(0.5)
    assert jnd.area(one, np.array([1.0, 0])) == pytest.approx(1)
    assert jnd.range_of_ties(one, np.array([0.0, 1])) == pytest.approx((0.5, 1))


def test_ties_stay_in_order_also_in_long_arrays():
    # an unstable sort mixes blocks of more than 16 equal values
    rng = np.random.default_rng(1)
    distance, same = np.repeat([2.0, 1.0], 500), rng.integers(0, 4, 1000) / 3

    found = jnd.area(distance, same)

    by_hand = np.concatenate([same[500:], same[:500]])
    assert found == jnd.area(np.arange(1000.0), by_hand)


def test_nobody_said_same_has_no_area():
    assert np.isnan(jnd.area(np.array([1.0, 2]), np.zeros(2)))


def test_everybody_said_same_is_a_perfect_area():
    assert jnd.area(np.array([2.0, 1]), np.ones(2)) == pytest.approx(1)


def test_average_precision_takes_a_tie_as_one_step():
    # same 1 at the distance 1; 0 and 1 at 2: precision 1, then 2/3 for the whole tie: (1 + 2/3) / 2
    distance, same = np.array([2.0, 1, 2]), np.array([0.0, 1, 1])

    assert jnd.average_precision(distance, same) == pytest.approx(5 / 6)
    assert jnd.average_precision(np.zeros(3), same) == pytest.approx(2 / 3)
    assert np.isnan(jnd.average_precision(distance, np.zeros(3)))


@given(st.integers(0, 999), st.integers(2, 40))
def test_average_precision_depends_on_no_order_of_ties(seed, pairs):
    rng = np.random.default_rng(seed)
    distance, same = rng.integers(0, 5, pairs) / 4, rng.integers(0, 4, pairs) / 3
    same[0] = 1
    order = rng.permutation(pairs)

    found = jnd.average_precision(distance, same)

    assert jnd.average_precision(distance[order], same[order]) == pytest.approx(found)
    # scikit-learn has no fractional labels, but weights: p votes for, 1 - p against
    labels, weights = np.repeat([1, 0], pairs), np.concatenate([same, 1 - same])
    assert found == pytest.approx(
        average_precision_score(labels, -np.tile(distance, 2), sample_weight=weights)
    )


def weighted_average_precision(distance, by_same, by_different):
    """Return the average precision where pairs have masses, by its definition in a loop."""
    found = 0.0
    for value in set(distance):
        down_to = distance <= value
        hits, misses = by_same[down_to].sum(), by_different[down_to].sum()
        found += by_same[distance == value].sum() / by_same.sum() * hits / (hits + misses)
    return found


def weighted_area(distance, by_same, by_different):
    """Return the area where pairs have masses, by its definition in a loop."""
    order = sorted(range(len(distance)), key=lambda i: distance[i])
    total, area, points, hits, seen = sum(by_same), 0.0, [], 0.0, 0.0
    for i in order:
        hits, seen = hits + by_same[i], seen + by_same[i] + by_different[i]
        points.append((by_same[i] / total, hits / seen))
    for place, (step, _) in enumerate(points):
        area += step * max(precision for _, precision in points[place:])
    return area


@pytest.mark.parametrize("area", [weighted_area, weighted_average_precision])
def test_the_derivatives_are_those_of_small_changes(area):
    rng = np.random.default_rng(3)
    distance, same = rng.random(40), rng.random(40)
    is_stepwise = area is weighted_average_precision
    if is_stepwise:
        distance = np.round(5 * distance)

    by_same, by_different = jnd.influence(distance, same, is_stepwise)

    step = 1e-6
    for k in range(40):
        moved = np.zeros(40)
        moved[k] = step
        slope = area(distance, same + moved, 1 - same) - area(distance, same - moved, 1 - same)
        assert by_same[k] == pytest.approx(slope / 2 / step, abs=1e-6)
        slope = area(distance, same, 1 - same + moved) - area(distance, same, 1 - same - moved)
        assert by_different[k] == pytest.approx(slope / 2 / step, abs=1e-6)
    assert same @ by_same + (1 - same) @ by_different == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("is_stepwise", [False, True])
@pytest.mark.parametrize(("pairs", "groups"), [(25, 25), (2000, 1000)])
def test_the_jackknife_leaves_each_pair_out_once(pairs, groups, is_stepwise):
    # 2,000 pairs: 2.5 million cells are 1,250 groups of pairs at most, so two pairs a group
    rng = np.random.default_rng(4)
    distance, same = rng.integers(0, 9, pairs) / 8, rng.integers(0, 4, pairs) / 3
    area = jnd.average_precision if is_stepwise else jnd.area

    found = jnd.jackknife(distance, same, is_stepwise)

    left = [np.arange(pairs) % groups != group for group in range(groups)]
    without = np.array([area(distance[own], same[own]) for own in left])
    assert found.without == pytest.approx(without)
    assert found.bias(1) == pytest.approx((groups - 1) * (without.mean() - area(distance, same)))
    variance = (groups - 1) / groups * ((without - without.mean()) ** 2).sum()
    assert jnd.jackknife_variance(found.without) == pytest.approx(variance)


def test_a_bias_of_the_stated_rate_is_estimated_exactly():
    def too_high_by(pairs):
        return 0.4 * pairs**-0.5

    found = jnd.Jackknife(0.3 + too_high_by(50), np.full(50, 0.3 + too_high_by(49)))

    assert found.bias(0.5) == pytest.approx(too_high_by(50))


def test_a_pair_without_which_nobody_said_same_is_not_left_out():
    assert jnd.jackknife(np.array([1.0]), np.ones(1)) is None
    assert jnd.jackknife(np.array([1.0, 2]), np.array([1.0, 0])) is None
    # same 0, 1, 0: 1/2; without the first 1, without the last 1/2, without the second none
    found = jnd.jackknife(np.arange(3.0), np.array([0.0, 1, 0]))
    assert found.without == pytest.approx([1, np.nan, 0.5], nan_ok=True)
    assert found.bias(1) == pytest.approx(2 * (0.75 - 0.5))
