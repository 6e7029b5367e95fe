"""Scores against hand calculation, published tables, and what real people answered."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.scoring import score

from . import texts

HUMAN = Path(__file__).resolve().parents[3] / "shared" / "data" / "human-realism"


def rows(model, evaluator, wrong_fakes, wrong_reals, each=50):
    for truth, wrong in (("fake", wrong_fakes), ("real", wrong_reals)):
        for i in range(each):
            other = "real" if truth == "fake" else "fake"
            yield {
                "model": model, "evaluator": evaluator, "truth": truth,
                "response": other if i < wrong else truth,
            }  # fmt: skip


def time_rows(model, evaluator, blocks):
    for block, exposures in enumerate(blocks):
        for ms in exposures:
            yield {
                "model": model, "evaluator": evaluator, "truth": "real", "response": "real",
                "block": block, "exposure_ms": ms,
            }  # fmt: skip


def test_the_score_is_the_mean_share_of_wrong_answers_with_both_sides_apart():
    scores = score([*rows("m", "a", 40, 10), *rows("m", "b", 30, 20)], "infinity")

    (model,) = scores["models"]
    assert (model["score"], model["fakes_error"], model["reals_error"]) == (50.0, 70.0, 30.0)
    assert (model["evaluators"], model["responses"]) == (2, 200)


def test_real_and_fake_are_taken_in_any_case():
    made = [*rows("m", "a", 40, 10), *rows("m", "b", 30, 20)]
    loose = [row | {"truth": row["truth"].upper(), "response": f" {row['response'].title()}"} for row in made]

    assert score(loose, "infinity") == score(made, "infinity")


def test_a_score_above_50_percent_stays_above():
    scores = score([*rows("m", "a", 50, 45), *rows("m", "b", 50, 50)], "infinity")

    assert scores["models"][0]["score"] == 97.5
    assert scores["models"][0]["ci"] == [95.0, 100.0]


def test_a_time_score_is_the_mean_of_modes_with_ties_to_the_shortest():
    scores = score(
        [*time_rows("m", "a", [[500, 470, 470], [500, 470]]), *time_rows("m", "b", [[100], [110]])], "time"
    )

    # evaluator a: modes 470 and (tie) 470; b: 100 and 110
    assert scores["models"][0]["score"] == (470 + 105) / 2
    assert scores["unit"] == "ms"
    assert "fakes_error" not in scores["models"][0]


def test_the_standard_deviation_is_the_populations_over_the_root_of_n():
    scores = score([*rows("m", "a", 10, 10), *rows("m", "b", 20, 20)], "infinity")

    # values 20 and 40: population SD 10, over root 2
    assert scores["models"][0]["std"] == pytest.approx(10 / 2**0.5, rel=1e-12)


def test_models_stand_best_first_and_every_pair_is_compared():
    data = [*rows("low", "a", 1, 1), *rows("low", "b", 2, 1)]
    data += [*rows("high", "c", 20, 20), *rows("high", "d", 22, 20)]

    scores = score(data, "infinity")

    assert [model["model"] for model in scores["models"]] == ["high", "low"]
    (pair,) = scores["pairs"]
    assert (pair["a"], pair["b"], pair["difference"]) == ("high", "low", pytest.approx(38.5))
    assert scores["ttest"]["df"] == 2
    assert scores["ttest"]["t"] ** 2 == pytest.approx(scores["anova"]["F"])


def test_one_evaluator_has_a_score_and_no_interval():
    scores = score(rows("m", "a", 5, 5), "infinity")

    model = scores["models"][0]
    assert (model["score"], model["std"], model["ci"]) == (10.0, None, None)
    assert (scores["anova"], scores["pairs"]) == (None, [])


def test_constant_scores_give_no_nan():
    data = [row for m in "xy" for e in "ab" for row in rows(m, m + e, 5, 5)]

    scores = score(data, "infinity")

    assert scores["anova"] is None
    assert scores["models"][0]["ci"] == [10.0, 10.0]
    json.dumps(scores, allow_nan=False)


def test_a_model_whose_evaluators_all_agree_is_compared_like_any_other():
    data = [*rows("x", "a", 5, 5), *rows("x", "b", 5, 5), *rows("y", "c", 9, 5), *rows("y", "d", 9, 6)]

    scores = score(data, "infinity")

    # values 10, 10 and 14, 15: pooled variance (0 + 0.5) / 2, t = 4.5 / sqrt(0.25)
    assert scores["ttest"]["t"] == pytest.approx(4.5 / 0.25**0.5)


def test_no_rows_are_no_score():
    with pytest.raises(InvalidInput, match="no responses to score"):
        score([], "infinity")


def test_an_evaluator_of_two_models_is_warned_of():
    scores = score([*rows("x", "a", 5, 5), *rows("y", "a", 5, 5)], "infinity")

    assert any("judged more than one model" in text for text in scores["warnings"])


def test_an_evaluator_who_broke_off_is_warned_of_and_ones_like_the_others_are_not():
    whole = [row for i, e in enumerate("abc") for row in rows("x", e, 5 + i, 5)]

    assert score(whole, "infinity")["warnings"] == []
    (warning,) = score([*whole, *rows("x", "d", 2, 2, each=20)], "infinity")["warnings"]
    assert "1 evaluator of x gave less than half of the usual 100 responses" in warning


def test_a_model_with_one_evaluator_leaves_the_tests_of_the_others_standing():
    pair = [*rows("x", "a", 5, 5), *rows("x", "b", 9, 5), *rows("y", "c", 9, 9), *rows("y", "d", 20, 9)]
    alone = rows("z", "e", 1, 1)

    scores = score([*pair, *alone], "infinity")

    assert scores["anova"] == score(pair, "infinity")["anova"]
    assert len(scores["pairs"]) == 1
    assert scores["warnings"] == ["z has one evaluator and is left out of the tests"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"truth": "maybe"}, "row 1: truth must be 'real' or 'fake', not 'maybe'"),
        ({"response": None}, "row 1: response must be 'real' or 'fake', not None"),
        ({"evaluator": None}, "row 1: evaluator must be a name, not None"),
        ({"model": ""}, "row 1: model must be a name, not ''"),
        ({"block": None}, "row 1: block must be a whole number"),
        ({"exposure_ms": float("nan")}, "row 1: exposure_ms must be a number above 0"),
        ({"exposure_ms": None}, "row 1: exposure_ms must be a number above 0"),
    ],
)
def test_a_bad_row_is_refused(change, message):
    (row,) = time_rows("m", "a", [[500]])

    with pytest.raises(InvalidInput, match=message):
        score([row | change], "time")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "speed"}, "method must be 'infinity', 'time', 'exposures', .*, not 'speed'"),
        ({"level": 95}, "level must be between 0 and 1, such as 0.95, not 95"),
        ({"iterations": 0}, "iterations must be 1 or more, not 0"),
        ({"evaluators_drawn": -3}, "evaluators_drawn must be 1 or more, not -3"),
    ],
)
def test_an_option_out_of_range_is_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        score(rows("m", "a", 1, 1), **{"method": "infinity", **options})


def test_values_on_no_common_lattice_are_resampled_and_that_is_said():
    rng = np.random.default_rng(2)
    data = [row for i in range(5) for row in time_rows("m", f"e{i}", [[float(rng.uniform(100, 1000))]])]

    scores = score(data, "time")

    expected = {"bootstrap": "monte-carlo", "iterations": 10_000, "seed": 0}
    assert {name: scores["settings"][name] for name in expected} == expected
    assert "evaluators sampled with replacement, from 10,000 iterations with seed 0." in texts.of_rows(
        data, "time"
    )


def test_monte_carlo_is_there_on_request_and_says_its_seed():
    data = [row for i in range(10) for row in rows("m", f"e{i}", i, i)]

    exact = score(data, "infinity")
    drawn = score(data, "infinity", iterations=20000, seed=3)

    assert exact["settings"]["bootstrap"] == "exact"
    assert drawn["settings"] | {"level": 0, "evaluators_drawn": 0} == {
        "bootstrap": "monte-carlo", "iterations": 20000, "seed": 3, "level": 0, "evaluators_drawn": 0,
    }  # fmt: skip
    assert drawn["models"][0]["std"] == pytest.approx(exact["models"][0]["std"], rel=0.02)
    assert drawn["models"][0]["ci"] == pytest.approx(exact["models"][0]["ci"], abs=0.3)


def test_a_table_shows_every_model_with_its_interval():
    data = [row for i in range(10) for row in rows("gan", f"e{i}", i, i)]

    text = texts.of_rows(data, "infinity")

    assert "gan" in text
    assert "95% interval" in text


@pytest.mark.skipif(not HUMAN.exists(), reason="the human answers are not on this machine")
@pytest.mark.parametrize(
    ("name", "df", "f", "separable", "pairs"),
    [("cifar10", [12, 315], 87.475, 47, 78), ("ffhq256", [8, 218], 18.938, 20, 36)],
)
def test_real_people_are_scored_as_their_authors_counted(name, df, f, separable, pairs):
    """Answers of 555 people, from Stein et al. 2023 (dgm-eval): 100 fakes and 100 reals each."""
    with (HUMAN / f"{name}.csv").open() as file:
        people = list(csv.DictReader(file))
    data = [
        row
        for i, person in enumerate(people)
        for row in rows(
            person["model"],
            f"p{i}",
            round(100 * float(person["f_err_rt"])),
            round(100 * float(person["r_err_rt"])),
            each=100,
        )
    ]

    scores = score(data, "infinity")

    for model in scores["models"]:
        mine = [person for person in people if person["model"] == model["model"]]
        sides = {"score": "err_rt", "fakes_error": "f_err_rt", "reals_error": "r_err_rt"}
        for ours, theirs in sides.items():
            mean = 100 * sum(float(person[theirs]) for person in mine) / len(mine)
            assert model[ours] == pytest.approx(mean, abs=1e-9)
    assert scores["anova"]["df"] == df
    assert scores["anova"]["F"] == pytest.approx(f, abs=5e-4)
    assert len(scores["pairs"]) == pairs
    assert sum(pair["p"] < 0.05 for pair in scores["pairs"]) == separable
