"""Split halves: recovered reliability, and halves that tell nothing."""

import numpy as np
import pytest

from backend.analysis import reliability
from backend.analysis.table.response_rows import answers_of


def seen_by(people, errors, rng, names=str):
    """Return rows of people who all saw the same fakes, wrong at the rates `errors`."""
    return [
        {
            "model": "m", "evaluator": f"e{i}", "truth": "fake", "stimulus": names(j),
            "response": "real" if rng.random() < error else "fake",
        }
        for i in range(people)
        for j, error in enumerate(errors)
    ]  # fmt: skip


def test_models_that_differ_as_much_as_means_of_30_scatter_are_half_reliable():
    """Models vary with SD 2, a mean of 16 evaluators of SD 8 scatters with SD 2: reliability 4 / (4 + 4)."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(60):
        groups = [rng.normal(rng.normal(50, 2), 8, 16) for _ in range(40)]
        found.append(reliability.of_models(groups, rng, splits=20)["full"])

    assert np.mean([full for full in found if full is not None]) == pytest.approx(0.5, abs=0.05)


def test_evaluators_who_agree_to_the_point_are_fully_reliable():
    groups = [np.full(4, 10.0), np.full(4, 20.0), np.full(5, 40.0)]

    assert reliability.of_models(groups, np.random.default_rng(0))["full"] == pytest.approx(1)


def test_two_models_or_single_evaluators_have_no_reliability():
    rng = np.random.default_rng(0)

    assert reliability.of_models([np.array([1.0, 2]), np.array([3.0, 4])], rng) is None
    assert reliability.of_models([np.array([1.0]), np.array([2.0]), np.array([3.0])], rng) is None
    assert reliability.of_models([np.full(4, 10.0)] * 3, rng) is None


def test_images_that_fool_at_their_own_rates_are_told_apart():
    """Rates uniform on (0, 1), 20 evaluators: variance 1/12 over 1/12 + 1/6/20 is 0.909."""
    rng = np.random.default_rng(2)
    answers = answers_of(seen_by(20, rng.random(400), rng), "infinity")

    found = reliability.of_images(answers, 0, rng)

    assert found["full"] == pytest.approx(1 / 12 / (1 / 12 + 1 / 6 / 20), abs=0.03)


def test_halves_that_disagree_have_no_reliability_to_step_up():
    """Two evaluators with opposite answers: r is -1 in every split."""
    rows = [
        {
            "model": "m", "evaluator": who, "truth": "fake", "stimulus": str(j),
            "response": "real" if (j % 2 == 0) == (who == "a") else "fake",
        }
        for who in "ab"
        for j in range(6)
    ]  # fmt: skip

    found = reliability.of_images(answers_of(rows, "infinity"), 0, np.random.default_rng(0))

    assert (found["half"], found["full"]) == (pytest.approx(-1), None)


def test_images_seen_once_or_without_a_name_tell_nothing():
    rng = np.random.default_rng(0)
    once = [row | {"stimulus": f"{row['evaluator']}-{row['stimulus']}"} for row in seen_by(4, [0.5] * 9, rng)]
    unnamed = [row | {"stimulus": ""} for row in once[1:]] + once[:1]

    for rows in (once, unnamed):
        assert reliability.of_images(answers_of(rows, "infinity"), 0, rng) is None
