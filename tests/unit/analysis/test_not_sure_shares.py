"""Answers `not_sure` in scores and all else that is formed of answers: half an error, and their share."""

import itertools

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import beta, binom, multinomial

from backend.analysis.confidence import confidence
from backend.analysis.detection import detection
from backend.analysis.image_error_rates import _counts, image_table
from backend.analysis.models import psychometric
from backend.analysis.models.psychometric import Trials
from backend.analysis.pairs import sides as pair_sides
from backend.analysis.quality import evaluator_table
from backend.analysis.reasons import reasons
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_rows import answers_of
from backend.foundation.errors import InvalidInput
from backend.responses.readers import read_answers
from backend.scoring import score

WORDS = {"infinity": ("real", "fake"), "exposures": ("real", "fake"), "pair": ("left", "right")}


def study(share, method="infinity", people=12, pictures=40, right=0.7, seed=1, models=("gan", "vae")):
    """Yield the rows of a study in which each answer is `not_sure` with a probability of `share`."""
    rng, words = np.random.default_rng(seed), WORDS[method]
    for model, person, picture in itertools.product(models, range(people), range(pictures)):
        truth, other = words[picture % 2], words[1 - picture % 2]
        decided = truth if rng.random() < right else other
        real, fake = f"real{picture}.png", f"{model}{picture}.png"
        shown = {"real": real, "fake": fake, "left": f"{real} {fake}", "right": f"{fake} {real}"}[truth]
        yield {
            "model": model,
            "evaluator": f"{model} {person}",
            "truth": truth,
            "response": "not_sure" if rng.random() < share else decided,
            "stimulus": shown,
            "trial_index": picture,
            "exposure_ms": (50, 100, 200, 400)[picture // 2 % 4] if method == "exposures" else None,
        }


def error(row):
    return {True: 0.0, False: 1.0}[row["response"] == row["truth"]] if row["response"] != "not_sure" else 0.5


@pytest.mark.parametrize("method", ["infinity", "exposures", "pair"])
@pytest.mark.parametrize("share", [0, 0.05, 0.25, 0.5, 0.9, 1])
def test_scores_count_it_as_half_an_error_and_tell_its_share_apart(method, share):
    rows = [*study(share, method)]

    scores = score(rows, method)

    for model in scores["models"]:
        own = [row for row in rows if row["model"] == model["model"]]
        assert model["score"] == pytest.approx(100 * np.mean([error(row) for row in own]))
        low, high = model["interval"]["ci"]
        assert 0 < low < model["score"] < high < 100
        assert model["ci"][0] <= model["score"] <= model["ci"][1]
        if method != "pair":
            of_sides = [
                np.mean([error(row) for row in own if row["truth"] == truth]) for truth in ("real", "fake")
            ]
            assert [model["reals_error"], model["fakes_error"]] == pytest.approx(
                [100 * each for each in of_sides]
            )
        if share:
            unsure = 100 * np.mean([row["response"] == "not_sure" for row in own])
            assert model["not_sure"] == pytest.approx(unsure)
            low, high = model["not_sure_ci"]
            assert 0 < low <= unsure <= high <= 100
        else:
            assert "not_sure" not in model
    count = sum(row["response"] == "not_sure" for row in rows)
    note = f"{count} of 960 answers are not_sure: each counts as half an error"
    assert scores["notes"] == ([note] if share else [])


def test_answers_that_are_all_not_sure_score_50():
    scores = score(study(1), "infinity")

    assert [row["score"] for row in scores["models"]] == [50, 50]
    assert [row["not_sure"] for row in scores["models"]] == [100, 100]


def test_values_keep_their_exact_lattice():
    answers = answers_of(study(0.3), "infinity")

    values = values_by_model(answers)["gan"]

    found = [float(whole * values.lattice.unit) for whole in values.lattice.whole]
    assert found == values.numbers.tolist()
    assert {2 * 40 * value / 100 % 1 for value in values.numbers} == {0}


def test_an_evaluator_who_is_never_sure_is_told_like_one_who_tosses_a_coin():
    rows = [
        {
            "model": "gan",
            "evaluator": who,
            "truth": truth,
            "response": response(truth),
            "stimulus": f"{i}{truth}",
        }
        for who, response in {
            "unsure": lambda truth: "not_sure",
            "real": lambda truth: "real",
            "able": lambda truth: truth,
        }.items()
        for i in range(10)
        for truth in ("real", "fake")
    ]
    answers = answers_of(rows, "infinity")

    unsure, real, able = evaluator_table(answers, values_by_model(answers))

    assert (unsure["value"], unsure["accuracy"], unsure["said_fake"], unsure["not_sure"]) == (50, 0.5, 0.5, 1)
    assert (real["value"], real["not_sure"]) == (50, 0)
    assert (unsure["guessing_p"], real["guessing_p"] > 0.5) == (1, True)
    assert able["guessing_p"] == pytest.approx(0.5**20)


def test_guessing_is_tested_among_the_decided_answers():
    rows = [
        {"model": "gan", "evaluator": "a", "truth": "real", "response": response}
        for response in ["real"] * 7 + ["fake"] * 2 + ["not_sure"] * 5
    ]
    answers = answers_of([*rows, {**rows[0], "truth": "fake", "response": "fake"}], "infinity")

    (row,) = evaluator_table(answers, values_by_model(answers))

    assert row["guessing_p"] == pytest.approx(binom.sf(8 - 1, 10, 0.5))
    assert row["accuracy"] == pytest.approx((8 + 2.5) / 15)


def test_sensitivity_is_formed_of_half_counts():
    rows = [*study(0.4, people=2, models=("gan",))]
    found = detection(answers_of(rows, "infinity"), 0, 0.95)

    each = []
    for person in ("gan 0", "gan 1"):
        said = {
            truth: sum(
                error(row) if truth == "real" else 1 - error(row)
                for row in rows
                if row["truth"] == truth and row["evaluator"] == person
            )
            for truth in ("fake", "real")
        }
        z_hits, z_false = (ndtri((said[truth] + 0.5) / 21) for truth in ("fake", "real"))
        each.append(z_hits - z_false)
    assert found["d_prime"] == pytest.approx(np.mean(each))


def test_a_picture_counts_half_an_answer_and_agrees_with_clopper_and_pearson_elsewhere():
    rows = [
        {"model": "gan", "evaluator": f"{i}", "truth": "fake", "response": response, "stimulus": name}
        for name, responses in {
            "a": ["real"] * 2 + ["not_sure"] + ["fake"] * 5,
            "b": ["real"] * 3 + ["fake"] * 5,
        }.items()
        for i, response in enumerate(responses)
    ]

    b, a = image_table(answers_of(rows, "infinity"))

    assert (a["number_guesses"], a["number_guesses_generated"], a["error"]) == (8, 5.5, 2.5 / 8)
    assert a["soft_label"] == 5.5 / 8
    assert a["ci"] == pytest.approx([beta.ppf(0.025, 2.5, 6.5), beta.ppf(0.975, 3.5, 5.5)])
    assert b["ci"] == pytest.approx([beta.ppf(0.025, 3, 6), beta.ppf(0.975, 4, 5)])


@pytest.mark.parametrize("number", [3, 8, 15])
@pytest.mark.parametrize("unsure", [0.1, 0.4, 0.9])
def test_the_interval_of_a_picture_covers_at_least_its_level(number, unsure):
    """Exactly, over all outcomes of a multinomial distribution."""
    outcomes = [(k, u, number - k - u) for k in range(number + 1) for u in range(number + 1 - k)]
    halves = np.array([2 * k + u for k, u, _ in outcomes])
    rows, place = _counts(np.zeros(len(halves), bool), np.full(len(halves), number), halves, 0.95)
    low, high = np.array([row["ci"] for row in rows])[place].T

    for wrong in np.linspace(0, 1 - unsure, 21):
        chance = multinomial.pmf(outcomes, number, [wrong, unsure, 1 - unsure - wrong])
        mean = wrong + unsure / 2
        assert chance[(low <= mean) & (mean <= high)].sum() >= 0.95


def test_a_psychometric_function_takes_it_as_half_a_right_answer():
    """Each answer twice, and for one that is not sure a right and a wrong one, has the same maximum."""
    rng = np.random.default_rng(3)
    ms = np.repeat([30.0, 60, 120, 240, 480], 40)
    right = rng.choice([0.0, 0.5, 1.0], len(ms), p=[0.1, 0.2, 0.7]) * (ms > 40) + 0.5 * (ms < 40)
    twice = np.concatenate([np.floor(right), np.ceil(right)])

    once = psychometric.fit(Trials.of(ms, right), level=None)
    both = psychometric.fit(Trials.of(np.tile(ms, 2), twice), level=None)

    assert once.threshold_ms == pytest.approx(both.threshold_ms, rel=1e-3)
    with pytest.raises(InvalidInput, match=r"right \(1, True\), wrong \(0, False\) or half of either"):
        Trials.of(ms, np.full(len(ms), 0.25))


def test_pairs_lean_to_a_side_by_decided_answers():
    rows = [*study(0.5, "pair", people=3, models=("gan",))]
    rows = [{**row, "response": "not_sure" if row["response"] == "left" else row["response"]} for row in rows]

    found = pair_sides(answers_of(rows, "pair"), 0.95)

    unsure = np.mean([row["response"] == "not_sure" for row in rows])
    assert found["said_right"] == pytest.approx(100 * (1 - unsure / 2))
    assert found["people"] == 3


def test_reasons_for_it_stand_apart_and_its_confidence_is_left_out():
    rows = [
        {**row, "reasons": 1 + i % 2, "confidence": 1 + i % 3, "confidence_points": 3}
        for i, row in enumerate(study(0.3, models=("gan",)))
    ]
    answers = answers_of(rows, "infinity")
    unsure = sum(row["response"] == "not_sure" for row in rows)

    found, sure = reasons(answers, 0.95), confidence(answers, 0.95)

    totals = {row["response"]: row["of"] for row in found["rows"]}
    assert totals["not_sure"] == unsure
    assert sum(totals.values()) == len(rows)
    assert sure["models"][0]["answers"] == len(rows) - unsure
    assert f"{unsure} confidences left out: the answer was not_sure" in sure["notes"]


@pytest.mark.parametrize(
    ("columns", "rest", "message"),
    [
        ("", "", None),
        ("method", "pair", "truth must be 'left' or 'right'"),
        ("exposure_ms,block,trial_index", "100,0,0", "response must be 'real' or 'fake', not"),
        ("method,exposure_ms,block,trial_index", "time,100,0,0", "response must be 'real' or 'fake', not"),
        ("method,exposure_ms", "exposures,100", None),
        ("method", "2afc", "truth must be"),
    ],
)
def test_files_may_have_it_in_the_methods_that_do(tmp_path, columns, rest, message):
    path = tmp_path / "r.csv"
    commas = [f",{each}" if each else "" for each in (columns, rest)]
    path.write_text(f"model,evaluator,truth,response{commas[0]}\ngan,a,fake, Not_Sure {commas[1]}\n")

    if message:
        with pytest.raises(InvalidInput, match=f"line 2: {message}"):
            read_answers(path)
    else:
        assert read_answers(path).error.tolist() == [0.5]


@pytest.mark.parametrize("method", ["time", "tournament", "2afc", "jnd"])
def test_rows_of_other_methods_refuse_it(method):
    row = {
        "model": "gan",
        "evaluator": "a",
        "truth": "",
        "response": "not_sure",
        "block": 0,
        "exposure_ms": 9,
    }
    row["truth"] = {"time": "fake", "tournament": ""}.get(method, "")

    with pytest.raises(InvalidInput, match=r"row 1: response must be .*, not 'not_sure'"):
        answers_of([row], method)


@pytest.mark.parametrize("word", ["unsure", "don't know", "not sure", "notsure"])
def test_no_other_word_is_taken_for_it(word):
    row = {"model": "gan", "evaluator": "a", "truth": "fake", "response": word}

    with pytest.raises(InvalidInput, match="response must be 'real', 'fake' or 'not_sure', not"):
        answers_of([row], "infinity")
