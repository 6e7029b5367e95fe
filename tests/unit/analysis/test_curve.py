"""Figure 4: the interval's width against the number of evaluators."""

from fractions import Fraction

import numpy as np
import pytest

from backend.analysis.distributions.bootstrap import exact, lattice_of
from backend.analysis.planning.costs import Costs
from backend.analysis.planning.interval_width import width_curve
from backend.analysis.table.evaluator_values import Values

COSTS = Costs()


def values(numbers):
    return Values([*range(len(numbers))], np.array([float(n) for n in numbers]), lattice_of(numbers))


def test_each_width_is_that_of_as_many_evaluators_drawn():
    numbers = [Fraction(k) for k in (10, 20, 35, 50, 42)]

    rows = width_curve(values(numbers), 500, 0.7, 0.95, COSTS)

    assert [row["evaluators"] for row in rows] == [*range(10, 125, 5)]
    thirty = next(row for row in rows if row["evaluators"] == 30)
    interval = exact(numbers, 30)
    assert (thirty["std"], thirty["width"]) == (interval.std, interval.high - interval.low)


def test_thirty_evaluators_of_100_images_cost_60_dollars_when_all_are_right():
    rows = width_curve(values([Fraction(10), Fraction(20)]), 200, 1.0, 0.95, COSTS)

    # HYPE 4.3: $60 at 30 evaluators; 100 images at 2 cents
    assert next(row for row in rows if row["evaluators"] == 30)["usd"] == pytest.approx(60)


def test_values_on_no_lattice_have_a_normal_width_near_the_exact_one():
    numbers = np.random.default_rng(0).normal(30, 8, 40)

    rough = width_curve(values([*numbers]), 4000, 0.7, 0.95, COSTS)
    near = width_curve(values([Fraction(round(n * 10), 10) for n in numbers]), 4000, 0.7, 0.95, COSTS)

    assert [row["width"] for row in rough] == pytest.approx([row["width"] for row in near], rel=0.02)


def test_one_evaluator_has_no_curve_and_alike_ones_no_width():
    assert width_curve(values([Fraction(1)]), 100, 0.7, 0.95, COSTS) is None
    assert width_curve(values([Fraction(1)] * 3), 300, 0.7, 0.95, COSTS)[0]["width"] == 0
