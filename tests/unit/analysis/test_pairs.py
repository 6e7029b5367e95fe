"""Sensitivity from pairs: formulas by hand, and known d' recovered with intervals that cover it."""

import math
from random import Random

import numpy as np
import pytest

from backend.analysis.judgment_scores import scores_of
from backend.analysis.pairs import accuracy, over_evaluators, sensitivity_of_pairs, sides
from backend.analysis.table.response_rows import answers_of
from backend.scoring import score

PEOPLE, PAIRS = 30, 60


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def rows(d_prime, bias=0.0, spread=0.0, seed=1, people=PEOPLE, pairs=PAIRS, model="gan"):
    """Return the rows of people who compare impressions of both sides, and add a bias to the left."""
    rng = Random(seed)
    made = []
    for person in range(people):
        own = rng.gauss(d_prime, spread)
        for trial in range(pairs):
            truth = rng.choice(["left", "right"])
            left = rng.gauss(own if truth == "left" else 0, 1) + bias
            right = rng.gauss(own if truth == "right" else 0, 1)
            made.append(
                {
                    "model": model,
                    "evaluator": f"{model} {person}",
                    "trial_index": trial,
                    "truth": truth,
                    "response": "left" if left > right else "right",
                }
            )
    return made


@pytest.mark.parametrize(
    ("error", "d_prime"),
    [
        (0.5, 0),
        (0.24, 0.9989),  # Macmillan and Creelman, 2005: p(c) = 0.76 is a d' of 1.00; R: sqrt(2) * qnorm(0.76)
        (0.1, 1.8124),  # R: sqrt(2) * qnorm(0.9)
        (0.6, -0.3583),  # R: sqrt(2) * qnorm(0.4)
        (0, None),
        (1, None),
    ],
)
def test_d_prime_of_a_share_of_pairs_judged_wrong(error, d_prime):
    found = sensitivity_of_pairs(error)

    assert found == (None if d_prime is None else pytest.approx(d_prime, abs=1e-4))


def test_an_interval_of_d_prime_is_that_of_the_accuracy_turned_over():
    found = accuracy(24, [0, 40])

    assert (found["accuracy"], found["accuracy_ci"]) == (76, [60, 100])
    assert found["d_prime_ci"] == [pytest.approx(0.3583, abs=1e-4), None]


def test_scores_carry_accuracy_and_d_prime():
    (row,) = score(rows(1.0), "pair")["models"]

    assert row["accuracy"] == pytest.approx(100 - row["score"])
    assert row["d_prime"] == pytest.approx(sensitivity_of_pairs(row["score"] / 100))
    assert row["d_prime_ci"][0] < row["d_prime"] < row["d_prime_ci"][1]


@pytest.mark.parametrize("d_prime", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_a_known_d_prime_is_recovered_and_covered_by_its_interval(d_prime):
    """Of 60 intervals of 95%, 57 cover; fewer than 51 do with a probability below 0.5% (binomial)."""
    found = [score(rows(d_prime, seed=seed), "pair")["models"][0] for seed in range(60)]

    mean = np.mean([row["d_prime"] for row in found])
    covered = sum(row["d_prime_ci"][0] <= d_prime <= row["d_prime_ci"][1] for row in found)
    assert mean == pytest.approx(d_prime, abs=0.03)
    assert np.mean([row["accuracy"] for row in found]) == pytest.approx(
        100 * phi(d_prime / math.sqrt(2)), abs=0.7
    )
    assert covered >= 51


def test_a_bias_to_the_left_lowers_accuracy_and_leaves_the_d_prime_of_both_sides():
    """With bias b the difference of impressions is shifted by b: c = b / sqrt(2)."""
    answers = answers_of(rows(1.0, bias=0.8, people=60, pairs=200), "pair")

    found = over_evaluators(answers, scores_of("pair").compared(answers), "gan", 0.95)

    assert found["evaluator_d_prime"] == pytest.approx(1.0, abs=0.06)
    assert found["criterion"] == pytest.approx(0.8 / math.sqrt(2), abs=0.05)
    pooled = sensitivity_of_pairs(float(answers.error.mean()))
    assert pooled < 0.9


def test_people_who_lean_to_a_side_are_counted():
    fair, leaning = rows(0, people=20), rows(0, bias=3.0, people=10, model="vae")

    found = sides(answers_of([*fair, *leaning], "pair"), 0.95)

    assert found["evaluators"] == 30
    assert 10 <= found["people"] <= 14
    assert found["said_right"] < found["real_right"]
