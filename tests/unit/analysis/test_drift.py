"""Drift over a session: recomputed, found where it is, and seldom where it is not."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from backend.analysis.drift import _ratio, drift
from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.response_table import take_rows
from validate.drift import STEADY, TIMED, UNTIMED, Sessions, rates

from .. import answered


def of_rows(rows, method="infinity"):
    return drift(answers_of(rows, method), 0.95)


def test_the_change_of_errors_is_the_mean_of_the_slopes_of_evaluators():
    """All have the same order of truths, so that scipy's one-sample t-test of plain slopes is the same."""
    rows = answered.infinity({"m": 0.3}, evaluators=12, seed=3)
    truth = np.tile([1.0, 0.0], 50)
    design = np.column_stack([np.linspace(0, 1, 100), truth, 1 - truth])
    wrong = np.reshape([row["truth"] != row["response"] for row in rows], (12, 100)).astype(float)
    slopes = 100 * np.linalg.lstsq(design, wrong.T)[0][0]
    expected = stats.ttest_1samp(slopes, 0)

    change = of_rows(rows)["change"]

    assert (change["of"], change["evaluators"], change["df"]) == ("error", 12, pytest.approx(11))
    assert change["estimate"] == pytest.approx(slopes.mean())
    assert (change["t"], change["p"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert change["ci"] == pytest.approx([*expected.confidence_interval()])


def test_reversing_the_order_of_blocks_reverses_the_change_of_thresholds():
    rows = answered.time({"m": 300}, evaluators=6)
    reversed_rows = [
        {**row, "trial_index": row["trial_index"] + 150 * (2 - 2 * row["block"])} for row in rows
    ]

    forwards, backwards = (of_rows(each, "time")["change"] for each in (rows, reversed_rows))

    assert forwards["t"] == pytest.approx(-backwards["t"])
    assert np.log1p(forwards["estimate"] / 100) == pytest.approx(-np.log1p(backwards["estimate"] / 100))


def test_of_all_orders_of_the_same_answers_none_depends_on_the_previous_one():
    """Without dependence, every order of the answers to pictures of one truth is as likely."""
    truths = ["real", "fake", "fake", "real", "fake", "real", "real", "fake"]
    orders = {(fakes, reals) for fakes in permutations("ffrr") for reals in permutations("frrr")}
    rows = []
    for who, (fakes, reals) in enumerate(sorted(orders)):
        said = {"fake": iter(fakes), "real": iter(reals)}
        for trial, truth in enumerate(truths):
            response = {"f": "fake", "r": "real"}[next(said[truth])]
            rows.append(
                {"model": "m", "evaluator": who, "trial_index": trial, "truth": truth, "response": response}
            )

    previous = of_rows(rows)["previous"]

    assert previous["evaluators"] == len(orders) == 24
    assert previous["estimate"] == pytest.approx(0, abs=1e-10)


def test_rows_may_come_in_any_order_and_trials_be_counted_by_block():
    answers = replace(TIMED, repeats=0.05).studies(1, 8, np.random.default_rng(1))[0]
    mixed = take_rows(answers, np.random.default_rng(2).permutation(len(answers)))
    by_block = replace(answers, numbers={"trial_index": answers.numbers["trial_index"] % 150})

    found = [drift(each, 0.95) for each in (answers, mixed, by_block)]

    for one in found[1:]:
        for name in ("change", "previous"):
            assert one[name]["t"] == pytest.approx(found[0][name]["t"])


def test_a_response_that_counts_for_several_models_is_one_response():
    answers = UNTIMED.studies(1, 8, np.random.default_rng(1))[0]
    every = np.arange(len(answers))
    again = take_rows(answers, np.repeat(every, 2), source=every)

    assert drift(again, 0.95) == drift(answers, 0.95)


def test_a_harder_model_in_the_second_half_is_no_drift():
    easy = answered.infinity({"easy": 0.1}, evaluators=20, seed=1)
    hard = answered.infinity({"hard": 0.5}, evaluators=20, seed=2)
    rows = [{**row, "evaluator": row["evaluator"][-2:]} for row in easy]
    rows += [
        {**row, "evaluator": row["evaluator"][-2:], "trial_index": row["trial_index"] + 100} for row in hard
    ]

    change = of_rows(rows)["change"]

    assert change["evaluators"] == 20
    assert [row["model"] for row in change["models"]] == ["easy", "hard"]
    assert change["ci"][0] < 0 < change["ci"][1]


def test_blocks_of_a_class_that_looks_fake_are_no_dependence():
    rng = np.random.default_rng(1)
    rows = [
        {
            "model": "m", "evaluator": who, "trial_index": trial, "truth": ("real", "fake")[trial % 2],
            "class": ("cat", "dog")[trial // 50],
            "response": ("real", "fake")[int(rng.random() < (0.2, 0.8)[trial // 50])],
        }
        for who in range(20)
        for trial in range(100)
    ]  # fmt: skip

    with_classes = of_rows(rows)["previous"]
    without = of_rows([{**row, "class": ""} for row in rows])["previous"]

    assert with_classes["p"] > 0.05
    assert without["p"] < 0.001


def test_what_cannot_be_estimated_is_none():
    rows = answered.time({"m": 300}, evaluators=3)
    one_block = of_rows([row for row in rows if row["block"] == 0], "time")
    alone = of_rows([row for row in rows if row["evaluator"] == "m-0"], "time")
    unordered = [{key: row[key] for key in row if key != "trial_index"} for row in answered.infinity()]

    assert one_block["change"] is None
    assert one_block["previous"]["evaluators"] == 3
    assert alone == {"change": None, "previous": None}
    assert of_rows(unordered) is None


@pytest.mark.parametrize("kept", [2, 3, 4])
def test_one_evaluator_with_all_of_the_information_is_not_enough(kept):
    """The others gave so few answers that nothing varies within them."""
    rows = answered.infinity({"m": 0.3}, evaluators=3)
    few = [row for row in rows if row["evaluator"] == "m-0" or row["trial_index"] < kept]

    found = of_rows(few)

    for one in found.values():
        assert one is None or np.isfinite([one["t"], one["df"], one["p"], *one["ci"]]).all()
    assert (
        of_rows([row for row in few if row["evaluator"] == "m-0" or row["trial_index"] < 1])["previous"]
        is None
    )


@pytest.mark.parametrize(
    ("sessions", "name", "expected"),
    [
        (replace(TIMED, change=-0.3), "change", 100 * (0.7 ** (2 / 3) - 1)),
        (replace(UNTIMED, change=0.2), "change", 20),
        (replace(TIMED, repeats=0.08, leaning=-1), "previous", 8),
        (replace(UNTIMED, repeats=-0.08), "previous", -8),
    ],
    ids=["practice", "fatigue", "repetition", "alternation"],
)
def test_drift_and_dependence_are_recovered(sessions, name, expected):
    """The middles of the first and the last of three blocks are two thirds of the session apart."""
    (answers,) = sessions.studies(1, 60, np.random.default_rng(4))

    found = drift(answers, 0.99)

    assert found[name]["p"] < 0.01
    assert found[name]["ci"][0] < expected < found[name]["ci"][1]


@pytest.mark.slow("simulates many studies")
def test_sessions_without_drift_are_seldom_said_to_have_it():
    """350 studies: the standard error of a share of 5% is 1.2%."""
    rng = np.random.default_rng(6)

    found = [rates(of, 30, 50, rng) for of in STEADY.values()]

    assert np.mean([row["change"] for row in found]) < 0.075
    assert np.mean([row["previous"] for row in found]) < 0.075


@pytest.mark.slow("simulates many studies")
@pytest.mark.parametrize(
    ("sessions", "name"),
    [
        (replace(TIMED, change=-0.2), "change"),
        (replace(UNTIMED, change=0.1), "change"),
        (replace(TIMED, repeats=0.03), "previous"),
    ],
    ids=["thresholds 20% lower", "10 points more errors", "3% repeated"],
)
def test_realistic_drift_is_found_by_30_evaluators(sessions: Sessions, name):
    assert rates(sessions, 30, 60, np.random.default_rng(7))[name] > 0.7


def test_evaluators_whose_slopes_no_answer_informs_have_none():
    assert _ratio(np.array([0.354, 0.354]), np.zeros(2), 0.95, is_log=False) is None
