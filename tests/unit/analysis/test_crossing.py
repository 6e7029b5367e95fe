"""Evaluators and images as samples: by hand, and how often the interval holds over both."""

import json

import numpy as np
import pytest

from backend.analysis.crossing import crossed, shared_reals
from backend.analysis.distributions.inference import df_of_parts
from backend.analysis.score_intervals import score_details
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_rows import answers_of
from backend.report.findings import findings
from validate.studies import InfinityPopulation


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


def interval_of(answers):
    return score_details(answers, values_by_model(answers), 0.95)["m"]["interval"]


def test_two_evaluators_of_two_images_by_hand():
    # both wrong on the first, right on the second: residuals +-1/2, weights 1/2. Products on one image: 1/16
    # in both orders of the pair, 2/8 for two images. On different images: -1/16 each, mean -1/4 of the
    # weights' product. Centred: 2/8 + 2/8 = 1/2, over n (n - 1) = 2. The same by Clark: the variance of the
    # two images' means, 1/2, over two images
    found = found_of([[1, 0], [1, 0]])

    assert (found.mean, found.people.variance, found.pictures.variance) == (0.5, 0.0, 0.25)


def test_where_all_saw_all_it_is_the_mean_squares_of_two_way_analysis_of_variance():
    """Clark (1973): (MS of images - MS of the rest) / (evaluators * images)."""
    wrong = np.random.default_rng(2).random((7, 12)) < np.random.default_rng(3).random(12)
    table = wrong.astype(float)
    rest = table - table.mean(0) - table.mean(1)[:, None] + table.mean()
    images = 7 * table.mean(0).var(ddof=1)
    residual = (rest**2).sum() / (6 * 11)

    found = found_of(wrong)

    assert found.pictures.variance == pytest.approx((images - residual) / (7 * 12), rel=1e-9)
    assert found.people.variance == pytest.approx(table.mean(1).var(ddof=1) / 7, rel=1e-9)


def test_equal_evaluators_leave_the_interval_of_independent_answers():
    # six people, two of ten wrong each, on images of their own: p = 0.2, 60 answers, t(5) = 2.5706
    wrong = [[1, 1, 0, 0, 0, 0, 0, 0, 0, 0]] * 6

    found = interval_of(answers_of(rows_of(wrong, lambda i, j: f"{i}-{j}"), "infinity"))

    assert found["ci"] == pytest.approx([10.0, 35.9], abs=0.05)


def test_a_few_hard_images_leave_few_degrees_of_freedom():
    # 50 images add 1 each: twice 50^2 over a variance of 0 is bounded by 49; one of them adds 50:
    # sum 99, squares about the mean 1.98: 49 * 0.98^2 + 48.02^2 = 2353, times 50/49 is 2401
    assert df_of_parts(np.ones(50)) == 49
    assert df_of_parts(np.array([1.0] * 49 + [50])) == pytest.approx(2 * 99**2 / 2401, rel=1e-3)


def test_reals_that_two_models_share_have_their_covariance_by_hand():
    # one evaluator of each model, both wrong on the first of two reals, right on the second: residuals
    # +-1/2, weights 1/2: 1/16 on each; on different reals -1/16 each. Centred: 2/16 + 2/16
    rows = [
        {"model": model, "evaluator": model, "truth": "real", "response": said, "stimulus": stimulus}
        for model in ("a", "b")
        for stimulus, said in (("x", "fake"), ("y", "real"))
    ]

    assert shared_reals(answers_of(rows, "infinity"), [0, 1]) == pytest.approx(0.25)


def test_images_that_nobody_else_saw_add_nothing():
    wrong = np.random.default_rng(0).integers(2, size=(5, 8))

    found = found_of(wrong, stimulus=lambda i, j: f"{i}-{j}")

    assert found.pictures.variance == 0
    assert found.images == 40


def test_answers_without_an_image_are_nobody_elses():
    wrong = [[1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 1, 1]]

    some = found_of(wrong, stimulus=lambda i, j: f"s{j}" if j < 2 else "")

    assert some.images == 2
    assert (
        crossed(answers_of(rows_of(wrong, stimulus=lambda i, j: "" if i + j else "x"), "infinity"), 0).images
        == 1
    )


def test_an_image_that_one_evaluator_judged_twice_is_shared_with_nobody():
    wrong = np.random.default_rng(0).integers(2, size=(4, 10))

    assert found_of(wrong, stimulus=lambda i, j: f"{i}-{j // 2}").pictures.variance == 0


def test_one_evaluator_has_no_interval():
    assert interval_of(answers_of(rows_of([[1, 0, 1]]), "infinity")) is None


def test_nobody_wrong_has_an_interval_and_no_share():
    found = interval_of(answers_of(rows_of(np.zeros((3, 20), int)), "infinity"))

    assert found["ci"][0] == 0 < found["ci"][1] < 100
    assert found["share_of_pictures"] is None


def test_60_shared_images_and_112_people_make_the_interval_twice_as_wide():
    """As in real data with that design: an interval over people alone is half as wide as it should be."""
    answers = InfinityPopulation(0.35, people=0.35, pictures=0.5, pool=30).study(
        112, np.random.default_rng(4)
    )

    low, high = interval_of(answers)["ci"]

    means = 100 * answers.judges.wrong / answers.judges.seen
    assert (high - low) / (2 * 1.9814 * means.std(ddof=1) / 112**0.5) == pytest.approx(2, abs=0.5)


@pytest.mark.slow("simulates many studies")
def test_the_interval_holds_over_new_evaluators_and_new_images():
    """200 studies of 20 evaluators who all see the same 40 images; images differ a lot.

    The truth is the mean over all images. An interval over evaluators alone holds it far too seldom.
    """
    rng = np.random.default_rng(1)
    holds = {"crossed": 0, "evaluators": 0}
    for _ in range(200):
        rates = np.clip(rng.beta(1, 1.5, 40) + rng.normal(0, 0.05, (20, 1)), 0.01, 0.99)
        wrong = rng.random(rates.shape) < rates
        low, high = interval_of(answers_of(rows_of(wrong), "infinity"))["ci"]
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
        shares.append((found.pictures.variance, found.people.variance))
    images, people = np.mean(shares, axis=0)

    assert images == pytest.approx(1 / 12 / 10, rel=0.15)
    assert people == pytest.approx(1 / 6 / 10 / 200, rel=0.1)


def test_degrees_of_freedom_without_end_are_none_since_json_has_no_infinity():
    # 9, 10, 10, 10 of 20 wrong: they differ less than independent answers would
    wrong = [[1] * right + [0] * (20 - right) for right in (9, 10, 10, 10)]
    answers = answers_of(rows_of(wrong, lambda i, j: f"{i}-{j}"), "infinity")

    assert interval_of(answers)["df"] is None
    json.dumps(findings(answers), default=list, allow_nan=False)
