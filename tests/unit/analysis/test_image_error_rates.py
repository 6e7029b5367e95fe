"""The table of images: counted by hand, and reconciling with the evaluators'."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from backend.analysis.image_error_rates import COLUMNS, image_table
from backend.analysis.table.recognition import recognised
from backend.analysis.table.response_rows import answers_of


def row(evaluator, stimulus, truth, response, model="m"):
    return {
        "model": model,
        "evaluator": evaluator,
        "truth": truth,
        "response": response,
        "stimulus": stimulus,
    }


def test_images_are_counted_by_hand_the_most_fooling_first():
    rows = [
        row("a", "f1", "fake", "fake"), row("b", "f1", "fake", "real"),
        row("a", "f2", "fake", "real"), row("b", "f2", "fake", "real"),
        row("a", "r1", "real", "fake"), row("b", "r1", "real", "real"),
    ]  # fmt: skip

    table = image_table(answers_of(rows, "infinity"))

    assert tuple(table[0]) == COLUMNS
    assert [tuple(image.values())[:-1] for image in table] == [
        ("m", True, "f2", 2, 0, 0.0, 1.0),
        ("m", True, "f1", 2, 1, 0.5, 0.5),
        ("m", False, "r1", 2, 1, 0.5, 0.5),
    ]


@pytest.mark.parametrize(("wrong", "guesses"), [(0, 5), (3, 10), (7, 7)])
def test_the_interval_is_clopper_and_pearsons(wrong, guesses):
    rows = [row(f"e{i}", "f", "fake", "real" if i < wrong else "fake") for i in range(guesses)]

    (image,) = image_table(answers_of(rows, "infinity"))

    theirs = stats.binomtest(wrong, guesses).proportion_ci(0.95, method="exact")
    assert image["ci"] == pytest.approx([theirs.low, theirs.high], abs=1e-9)


answer = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from(["1", "2", "3"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from("mn"),
)


@given(st.lists(answer, min_size=1, max_size=60))
def test_it_reconciles_with_the_evaluators(some):
    sides = ["real", "fake"]
    rows = [
        row(who, f"{fake}{image}", sides[fake], sides[said], model) for who, image, fake, said, model in some
    ]
    answers = answers_of(rows, "infinity")

    table = image_table(answers)

    assert sum(image["number_guesses"] for image in table) == answers.judges.seen.sum()
    wrong = sum(round(image["error"] * image["number_guesses"]) for image in table)
    assert wrong == answers.judges.wrong.sum()


def test_answers_that_do_not_name_their_image_are_in_no_row():
    rows = [row("a", "f1", "fake", "fake"), row("b", "", "fake", "real"), row("c", np.nan, "fake", "real")]

    (image,) = image_table(answers_of(rows, "infinity"))

    assert (image["image_path"], image["number_guesses"]) == ("f1", 1)
    assert image_table(answers_of([row("a", "", "fake", "fake")], "infinity")) == []


def test_an_image_shown_with_two_models_has_a_row_in_each():
    rows = [row("a", "r1", "real", "fake", "m"), row("b", "r1", "real", "real", "n")]

    assert [(image["model"], image["error"]) for image in image_table(answers_of(rows, "infinity"))] == [
        ("m", 1.0), ("n", 0.0),
    ]  # fmt: skip


def test_a_real_image_that_counts_for_several_models_has_one_row_of_no_model():
    rows = [
        *(row("a", f"f-{model}", "fake", "fake", model) for model in ("m", "n")),
        *(row(who, "r1", "real", said, "") for who, said in (("a", "fake"), ("b", "real"))),
        row("b", "f-m", "fake", "real", "m"),
        row("b", "f-n", "fake", "real", "n"),
    ]
    answers = recognised(answers_of(rows, "infinity"))

    table = image_table(answers)

    assert len(answers) == 8  # each real counts for both models
    assert [(image["model"], image["image_path"], image["number_guesses"]) for image in table] == [
        ("m", "f-m", 2),
        ("n", "f-n", 2),
        ("", "r1", 2),
    ]
