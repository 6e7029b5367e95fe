"""Sensitivity from pairs: formulas by hand, and known d' recovered with intervals that cover it."""

import math
from random import Random

import numpy as np
import pytest

from backend.analysis.crossing import crossed, shared_reals
from backend.analysis.image_error_rates import image_table
from backend.analysis.judgment_scores import scores_of
from backend.analysis.pairs import accuracy, over_evaluators, sensitivity_of_pairs, sides
from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.response_table import BESIDE
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


def partner_rows(rng, pairs=20, people=20):
    """Return rows of people who judge the same pairs, each model's fake beside the real it was made from.

    A pair of either model is wrong with a probability of 0.2 or 0.8, of variance 0.09.
    """
    share = {(model, pair): rng.choice([0.2, 0.8]) for model in ("gan", "vae") for pair in range(pairs)}
    made = []
    for (model, pair), wrong in share.items():
        for person in range(people):
            shown, truth = [f"real{pair}", f"{model}{pair}"], "left"
            if rng.random() < 0.5:
                shown, truth = shown[::-1], "right"
            other = {"left": "right", "right": "left"}[truth]
            answer = other if rng.random() < wrong else truth
            evaluator = f"{model} {person}"
            made.append(
                {
                    "model": model,
                    "evaluator": evaluator,
                    "stimulus": " ".join(shown),
                    "truth": truth,
                    "response": answer,
                }
            )
    return made


def test_a_pair_of_one_source_is_random_once_and_not_once_on_each_side():
    """The mean over 20 pairs has the variance 0.09 / 20; over 40 studies its estimate has an SE of 3%."""
    rng, found = Random(2), []
    for _ in range(40):
        judged = scores_of("pair").counted(answers_of(partner_rows(rng), "pair"))
        found.append(crossed(judged, 0))

    assert np.mean([each.pictures.variance for each in found]) == pytest.approx(0.09 / 20, rel=0.1)
    assert {each.images for each in found} == {20}


def test_reals_that_stand_beside_several_fakes_of_a_model_are_a_side_of_their_own():
    rows_of = partner_rows(Random(2), pairs=4, people=3)
    changed = [{**row, "stimulus": row["stimulus"].replace("real1", "real0")} for row in rows_of]

    judged = [scores_of("pair").counted(answers_of(each, "pair")) for each in (rows_of, changed)]

    assert [BESIDE in each.texts for each in judged] == [False, True]


def test_models_whose_fakes_have_the_same_sources_share_them():
    """Difficulties that pairs of a source have in common cancel in a difference of models, though people
    differ: of pairs equally hard for both models, the reals have the whole variance in common.
    """
    rng = Random(3)
    hard = {pair: rng.choice([0.1, 0.9]) for pair in range(20)}
    made = [
        {
            "model": model,
            "evaluator": f"{model} {person}",
            "stimulus": f"real{pair} {model}{pair}",
            "truth": "left",
            "response": "right" if rng.random() < wrong else "left",
        }
        for model in ("gan", "vae")
        for person in range(40)
        for pair, wrong in hard.items()
    ]
    judged = scores_of("pair").counted(answers_of(made, "pair"))

    common = shared_reals(judged, [0, 1])

    assert common == pytest.approx(crossed(judged, 0).pictures.variance, rel=0.1)


def test_tables_of_pictures_name_the_fakes_of_each_source():
    answers = answers_of(partner_rows(Random(2), pairs=2, people=3), "pair")

    names = {*scores_of("pair").compared(answers).texts["stimulus"].names}

    assert {"gan0", "gan1", "vae0", "vae1"} <= names
    assert {row["image_path"] for row in image_table(scores_of("pair").compared(answers))} == {
        "gan0", "gan1", "vae0", "vae1",
    }  # fmt: skip
