"""What is shown of evaluators: by hand, and that nothing is left out."""

import numpy as np
import pytest
from scipy import stats

from backend.analysis.quality import evaluator_table
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_rows import answers_of


def row(evaluator, truth, response, stimulus="", rt=None, model="m"):
    return {
        "model": model, "evaluator": evaluator, "truth": truth, "response": response,
        "stimulus": stimulus, "rt": rt,
    }  # fmt: skip


def table_of(rows):
    answers = answers_of(rows, "infinity")
    return evaluator_table(answers, values_by_model(answers))


def wrong_on(evaluator, wrong, of=10):
    return [row(evaluator, "fake", "real" if i < wrong else "fake") for i in range(of)]


def test_one_evaluator_by_hand():
    rows = [
        row("a", "fake", "fake"),
        row("a", "fake", "real"),
        row("a", "real", "real"),
        row("a", "real", "real"),
    ]

    (found,) = table_of(rows)

    assert (found["value"], found["accuracy"], found["fakes_error"], found["reals_error"]) == (
        25,
        0.75,
        0.5,
        0,
    )
    assert found["said_fake"] == 0.25
    # P(3 or 4 of 4 heads) = 5 / 16
    assert found["guessing_p"] == pytest.approx(5 / 16)
    assert (found["z"], found["agreement"], found["rt_median_ms"], found["fast"]) == (None,) * 4


@pytest.mark.parametrize("as_text", [False, True])
def test_who_was_told_of_equal_answers_is_counted_by_the_flags(as_text):
    flags = [(), ("same_answer_notice",), ("mistimed", "same_answer_notice"), ("not_same_answer_notice",)]
    rows = [{**one, "flags": words} for one, words in zip(wrong_on("a", 1, of=4), flags, strict=True)]
    rows += [{**one, "flags": ()} for one in wrong_on("b", 1, of=4)]
    if as_text:
        rows = [{**one, "flags": " ".join(one["flags"])} for one in rows]

    found = table_of(rows)

    assert {row["evaluator"]: row["same_answer_notices"] for row in found} == {"a": 2, "b": 0}
    assert [row["same_answer_notices"] for row in table_of(wrong_on("a", 1))] == [0]


@pytest.mark.parametrize("right", [0, 1, 37, 100])
def test_the_guessing_test_agrees_with_scipy(right):
    (found,) = table_of(wrong_on("a", 100 - right, of=100))

    theirs = stats.binomtest(right, 100, alternative="greater").pvalue
    assert found["guessing_p"] == pytest.approx(theirs, rel=1e-9)


def test_z_is_the_distance_from_the_others_in_their_deviations():
    # the others: 10, 20, 30: mean 20, SD 10
    found = table_of([*wrong_on("a", 5), *wrong_on("b", 1), *wrong_on("c", 2), *wrong_on("d", 3)])

    assert found[0]["z"] == pytest.approx(3.0)


def test_others_who_all_agree_give_no_z():
    found = table_of([*wrong_on("a", 5), *wrong_on("b", 1), *wrong_on("c", 1)])

    assert found[0]["z"] is None


def test_response_times_are_told_where_they_are():
    times = [row("a", "fake", "fake", rt=ms) for ms in (100, 500, 900, None)]

    a, b = table_of([*times, row("b", "fake", "fake")])

    assert (a["rt_median_ms"], a["rt_total_ms"], a["fast"]) == (500, 1500, pytest.approx(1 / 3))
    assert (b["rt_median_ms"], b["rt_total_ms"], b["fast"]) == (None, None, None)


def test_agreement_is_with_the_others_on_the_same_images_beyond_chance():
    """Of four images a and b call the same two fake, c the other two."""
    calls = {"a": "ffrr", "b": "ffrr", "c": "rrff"}
    sides = {"f": "fake", "r": "real"}
    rows = [
        row(who, "fake", sides[call], stimulus=f"s{i}")
        for who, said in calls.items()
        for i, call in enumerate(said)
    ]

    found = {one["evaluator"]: one["agreement"] for one in table_of(rows)}

    # a: one of two others agrees on every image: 1/2, and 1/2 by chance; c: nobody does
    assert found == pytest.approx({"a": 0.0, "b": 0.0, "c": -0.5})


def test_an_evaluator_does_not_agree_with_themselves():
    rows = [row("a", "fake", "fake", stimulus=f"s{i}") for i in (0, 0, 1, 1)]

    (found,) = table_of(rows)

    assert found["agreement"] is None


def test_one_who_guesses_agrees_with_nobody_beyond_chance():
    rng = np.random.default_rng(3)
    rates = rng.random(100)
    rows = [
        row(f"e{i}", "fake", "fake" if rng.random() < (0.5 if i == 0 else rate) else "real", stimulus=f"s{j}")
        for i in range(12)
        for j, rate in enumerate(rates)
    ]

    guesser, *others = table_of(rows)

    assert abs(guesser["agreement"]) < 0.1
    assert min(other["agreement"] for other in others) > abs(guesser["agreement"])
