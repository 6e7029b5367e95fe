"""Evaluators and images as samples: by hand, and how often the interval holds over both."""

import numpy as np
import pytest

from backend.analysis.crossing import crossed, crossed_interval
from backend.answers import answers_of


def rows_of(wrong, stimulus=lambda i, j: f"s{j}"):
    """Return rows of a table of wrong answers to fakes, (evaluators, images)."""
    return [
        {
            "model": "m", "evaluator": f"e{i}", "truth": "fake", "response": "real" if is_wrong else "fake",
            "stimulus": stimulus(i, j),
        }
        for i, line in enumerate(wrong)
        for j, is_wrong in enumerate(line)
    ]  # fmt: skip


def found_of(wrong, **options):
    return crossed(answers_of(rows_of(wrong, **options), "infinity"), 0)


def test_two_evaluators_of_two_images_by_hand():
    # both wrong on the first, right on the second: residuals +-1/2, weights 1/2, products 1/16 an image,
    # two images, both orders of the pair: 4/16, over n (n - 1) = 2
    found = found_of([[1, 0], [1, 0]])

    assert (found.mean, found.of_evaluators, found.of_images) == (0.5, 0.0, 0.125)


def test_images_that_nobody_else_saw_add_nothing():
    wrong = np.random.default_rng(0).integers(2, size=(5, 8))

    found = found_of(wrong, stimulus=lambda i, j: f"{i}-{j}")

    assert found.of_images == 0
    assert found.images == 40


def test_answers_without_an_image_are_nobody_elses():
    wrong = [[1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 1, 1]]

    some = found_of(wrong, stimulus=lambda i, j: f"s{j}" if j < 2 else "")

    assert some.images == 2
    assert some.of_images < found_of(wrong).of_images
    assert (
        crossed(answers_of(rows_of(wrong, stimulus=lambda i, j: "" if i + j else "x"), "infinity"), 0).images
        == 1
    )


def test_an_image_that_one_evaluator_judged_twice_is_shared_with_nobody():
    wrong = np.random.default_rng(0).integers(2, size=(4, 10))

    assert found_of(wrong, stimulus=lambda i, j: f"{i}-{j // 2}").of_images == 0


def test_one_evaluator_has_no_interval():
    assert crossed_interval(answers_of(rows_of([[1, 0, 1]]), "infinity"), 0, 0.95) is None


def test_nobody_wrong_has_an_interval_and_no_share():
    found = crossed_interval(answers_of(rows_of(np.zeros((3, 20), int)), "infinity"), 0, 0.95)

    assert found["ci"][0] == 0 < found["ci"][1] < 100
    assert found["share_of_images"] is None


def test_the_interval_holds_over_new_evaluators_and_new_images():
    """200 studies of 20 evaluators who all see the same 40 images; images differ a lot.

    The truth is the mean over all images. An interval over evaluators alone holds it far too seldom.
    """
    rng = np.random.default_rng(1)
    holds = {"crossed": 0, "evaluators": 0}
    for _ in range(200):
        rates = np.clip(rng.beta(1, 1.5, 40) + rng.normal(0, 0.05, (20, 1)), 0.01, 0.99)
        wrong = rng.random(rates.shape) < rates
        low, high = crossed_interval(answers_of(rows_of(wrong), "infinity"), 0, 0.95)["ci"]
        holds["crossed"] += low <= 40 <= high
        means = 100 * wrong.mean(axis=1)
        holds["evaluators"] += abs(means.mean() - 40) <= 2.093 * means.std(ddof=1) / 20**0.5

    assert holds["crossed"] / 200 == pytest.approx(0.95, abs=0.035)
    assert holds["evaluators"] / 200 < 0.8


def test_the_images_share_is_what_they_put_in():
    """Rates uniform on (0, 1), 10 images, 200 alike evaluators: images 1/12/10, evaluators 1/6/10/200."""
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(40):
        wrong = rng.random((200, 10)) < rng.random(10)
        found = found_of(wrong)
        shares.append((found.of_images, found.of_evaluators))
    images, people = np.mean(shares, axis=0)

    # residuals about the mean of ten images: 9/10 of their variance is left
    assert images == pytest.approx(1 / 12 / 10 * 0.9, rel=0.15)
    assert people == pytest.approx(1 / 6 / 10 / 200, rel=0.1)
