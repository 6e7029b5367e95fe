"""The area under precision and recall with fractional labels, worked by hand, and its derivatives."""

import numpy as np
import pytest

from backend.analysis import jnd


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


def test_the_derivatives_are_those_of_small_changes():
    rng = np.random.default_rng(3)
    distance, same = rng.random(40), rng.random(40)

    by_same, by_different = jnd.influence(distance, same)

    step = 1e-6
    for k in range(40):
        moved = np.zeros(40)
        moved[k] = step
        slope = weighted_area(distance, same + moved, 1 - same) - weighted_area(
            distance, same - moved, 1 - same
        )
        assert by_same[k] == pytest.approx(slope / 2 / step, abs=1e-6)
        slope = weighted_area(distance, same, 1 - same + moved) - weighted_area(
            distance, same, 1 - same - moved
        )
        assert by_different[k] == pytest.approx(slope / 2 / step, abs=1e-6)
    assert same @ by_same + (1 - same) @ by_different == pytest.approx(0, abs=1e-12)
