"""Data from elsewhere: names by several hands, reals of no model, sides that differ in number."""

import csv
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.recognition import recognised
from backend.analysis.table.response_rows import answers_of
from backend.foundation.errors import InvalidInput
from backend.responses.reading.responses_file import read_columns
from backend.scoring import score, score_answers

HEADER = ("session", "model", "evaluator", "truth", "response", "stimulus")


def row(model, evaluator, truth, is_wrong, session="", stimulus=""):
    other = {"real": "fake", "fake": "real"}[truth]
    return dict(
        zip(HEADER, (session, model, evaluator, truth, other if is_wrong else truth, stimulus), strict=True)
    )


def rows(model, evaluator, truth, wrong, count, **more):
    return [row(model, evaluator, truth, i < wrong, **more) for i in range(count)]


def written(folder, data):
    path = folder / "r.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(data)
    return path


def scores_of(data):
    return {each["model"]: each["score"] for each in score(data, "infinity")["models"]}


# Names


def test_names_are_read_without_the_white_space_around_them_and_that_is_said(tmp_path):
    data = [
        *rows("a ", "e1", "fake", 1, 2), *rows("a", " e1", "real", 0, 2),
        *rows("a", "e2", "fake", 2, 2), *rows("\u00a0a", "e2", "real", 0, 2),
    ]  # fmt: skip

    answers = recognised(read_columns(written(tmp_path, data), False))

    found = score_answers(answers)
    assert [(each["model"], each["score"], each["evaluators"]) for each in found["models"]] == [
        ("a", 37.5, 2)
    ]
    assert found["notes"] == [
        "2 names in the column model stood in white space or in another form of Unicode; 'a ' is taken "
        "for 'a'",
        "1 name in the column evaluator stood in white space or in another form of Unicode; ' e1' is taken "
        "for 'e1'",
    ]


def test_one_letter_in_two_forms_of_unicode_is_one():
    data = [*rows("caf\u00e9", "a", "fake", 1, 2), *rows("cafe\u0301", "b", "fake", 1, 2)]

    assert [*scores_of(data)] == ["caf\u00e9"]


def test_a_byte_order_mark_amid_a_file_is_no_part_of_a_name():
    data = [*rows("a", "e1", "fake", 1, 2), *rows("\ufeffa", "e2", "fake", 1, 2)]

    assert [*scores_of(data)] == ["a"]


def test_models_that_differ_in_case_alone_stay_apart_and_are_told_of():
    found = score([*rows("GAN", "a", "fake", 1, 2), *rows("gan", "b", "fake", 2, 2)], "infinity")

    assert len(found["models"]) == 2
    assert found["notes"] == ["the models 'GAN' and 'gan' differ in case alone; they are scored apart"]


def test_a_trial_that_stands_twice_is_found_whatever_is_around_the_name(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(
        'model,evaluator,truth,response,trial_index\nm,e,fake,fake,3\nm,"e ",fake,fake,3\n', "utf-8"
    )

    with pytest.raises(InvalidInput, match="line 3: trial_index 3 of e  is in the file twice"):
        read_columns(path, False)


# Reals of no model


def test_reals_of_no_model_count_for_each_model_judged_beside_them_by_hand():
    # fakes of a: 1 of 2 wrong, of b: 0 of 2; the 2 reals, 1 wrong, are both models'
    data = [
        *rows("a", "e1", "fake", 1, 2), *rows("b", "e1", "fake", 0, 2), *rows("", "e1", "real", 1, 2),
        *rows("a", "e2", "fake", 2, 2), *rows("b", "e2", "fake", 1, 2), *rows("", "e2", "real", 0, 2),
    ]  # fmt: skip

    found = score(data, "infinity")

    models = {each["model"]: each for each in found["models"]}
    assert {name: each["score"] for name, each in models.items()} == {"a": 50.0, "b": 25.0}
    assert {name: each["reals_error"] for name, each in models.items()} == {"a": 25.0, "b": 25.0}
    assert models["a"]["responses"] == 8
    assert found["responses"] == 12
    assert found["notes"] == [
        "4 answers to reals of no model (column model: an empty cell) count for each model that the "
        "evaluator judged beside them, 2 on average"
    ]


@pytest.mark.parametrize(
    "name", ["", "real", "Real ", "REALS", "none", "N/A", "-", "ffhq", None, float("nan")]
)
def test_reals_of_no_model_are_known_by_many_names(name):
    data = [*rows("a", "e1", "fake", 1, 4), *rows("b", "e1", "fake", 2, 4)]
    data += [*rows("a", "e2", "fake", 1, 4), *rows("b", "e2", "fake", 3, 4)]

    found = scores_of([*data, *rows(name, "e1", "real", 1, 4), *rows(name, "e2", "real", 1, 4)])

    assert found == {"a": 25.0, "b": pytest.approx(100 * (3 / 8 + 4 / 8) / 2)}


def test_a_model_of_which_people_saw_reals_alone_stays_a_model():
    data = [*rows("a", "e1", "fake", 1, 4), *rows("a", "e1", "real", 1, 4), *rows("b", "e2", "real", 1, 4)]

    assert scores_of(data) == {"a": 25.0, "b": 25.0}


def test_reals_are_shared_within_a_session_where_sessions_are_named():
    data = [
        *rows("a", "e", "fake", 0, 2, session="s1"), *rows("", "e", "real", 2, 2, session="s1"),
        *rows("b", "e", "fake", 0, 2, session="s2"), *rows("", "e", "real", 0, 2, session="s2"),
    ]  # fmt: skip

    assert scores_of(data) == {"a": 50.0, "b": 0.0}


def test_reals_of_a_session_without_fakes_go_to_all_models_of_the_evaluator():
    data = [*rows("a", "e", "fake", 0, 2, session="s1"), *rows("b", "e", "fake", 0, 2, session="s2")]

    assert scores_of([*data, *rows("", "e", "real", 2, 2, session="s3")]) == {"a": 50.0, "b": 50.0}


def test_reals_of_somebody_who_saw_no_fakes_are_left_out_and_that_is_said():
    data = [
        *rows("a", "e1", "fake", 1, 4),
        *rows("real", "e1", "real", 1, 4),
        *rows("real", "e2", "real", 1, 3),
    ]

    found = score(data, "infinity")

    assert [each["evaluators"] for each in found["models"]] == [1]
    assert "3 answers to reals of no model are left out: their evaluators judged no fakes" in found["notes"]


def test_a_fake_of_no_model_is_refused(tmp_path):
    data = [*rows("a", "e1", "fake", 1, 4), *rows("", "e1", "fake", 1, 1)]

    with pytest.raises(InvalidInput, match="row 5: model must be a name, not ''"):
        score(data, "infinity")
    with pytest.raises(InvalidInput, match="line 6: model must be a name, not ''"):
        read_columns(written(tmp_path, data), False)


people = st.integers(0, 4).map("p{}".format)
shared = st.lists(
    st.tuples(st.sampled_from("abc"), people, st.sampled_from(["real", "fake"]), st.booleans()),
    min_size=4,
    max_size=60,
)


@given(shared)
def test_shared_reals_score_as_if_they_were_doubled_by_hand(some):
    judged = {}
    for model, person, truth, _ in some:
        if truth == "fake":
            judged.setdefault(person, set()).add(model)
    some = [each for each in some if each[1] in judged]
    if not some:
        return
    given = [row("" if t == "real" else m, p, t, w) for m, p, t, w in some]
    doubled = [
        {**each, "model": model}
        for each in given
        for model in ([each["model"]] if each["model"] else sorted(judged[each["evaluator"]]))
    ]

    found, expected = score(given, "infinity"), score(doubled, "infinity")

    # models stand in the order of their first row
    for one in (found, expected):
        one |= {"notes": [], "responses": 0, "warnings": sorted(one["warnings"])}
    assert found == expected


@given(shared)
def test_a_file_and_its_rows_are_recognised_alike(tmp_path_factory, some):
    data = [row("" if t == "real" else m, p, t, w) for m, p, t, w in some]
    path = written(tmp_path_factory.getbasetemp(), data)

    def outcome(read):
        try:
            return score_answers(read())
        except InvalidInput as error:
            return str(error).partition(": ")[2]

    of_file = outcome(lambda: recognised(read_columns(path, False)))
    assert outcome(lambda: answers_of(data, "infinity")) == of_file


# Sides that differ in number


def test_a_score_of_far_more_reals_than_fakes_is_balanced_by_hand():
    # 15 reals, 3 wrong, to 5 fakes, 4 wrong: 20% and 80% are 50%, where 7 of 20 are 35%
    data = [
        each for e in ("e1", "e2") for each in (*rows("a", e, "fake", 4, 5), *rows("a", e, "real", 3, 15))
    ]

    found = score(data, "infinity")

    (model,) = found["models"]
    assert (model["score"], model["balanced_score"], model["plain_score"]) == (50.0, 50.0, 35.0)
    assert found["balanced"]
    assert "the score is balanced" in found["notes"][0]


def test_of_as_many_fakes_as_reals_both_scores_are_one_and_nothing_is_said():
    data = [*rows("a", "e1", "fake", 4, 50), *rows("a", "e1", "real", 7, 50)]

    found = score(data, "infinity")

    assert found["models"][0]["plain_score"] == found["models"][0]["balanced_score"] == 11.0
    assert (found["balanced"], found["notes"]) == (False, [])


def test_sides_that_differ_a_little_leave_the_score_that_of_all_answers():
    data = [*rows("a", "e1", "fake", 4, 40), *rows("a", "e1", "real", 30, 60)]

    assert scores_of(data) == {"a": 34.0}


def test_who_saw_one_side_only_has_the_error_on_that_side():
    data = [*rows("a", "e1", "fake", 1, 2), *rows("a", "e1", "real", 0, 8), *rows("a", "e2", "real", 2, 8)]

    # 50% and 0% are 25%; 25% of the reals alone
    assert scores_of(data) == {"a": 25.0}


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.integers(10, 30), st.floats(0, 1), st.floats(0, 1)),
        min_size=2,
        max_size=9,
    )
)
def test_balanced_values_lie_on_the_lattice_of_the_exact_bootstrap(some):
    data = [
        each
        for i, (fakes, reals, x, y) in enumerate(some)
        for each in (
            *rows("a", f"e{i}", "fake", round(x * fakes), fakes),
            *rows("a", f"e{i}", "real", round(y * reals), reals),
        )
    ]

    values = values_by_model(answers_of(data, "infinity"))["a"]

    expected = [50 * (round(x * f) / f + round(y * r) / r) for f, r, x, y in some]
    assert values.numbers == pytest.approx(expected)
    if values.lattice is not None:
        on_lattice = values.lattice.whole * float(values.lattice.unit)
        assert on_lattice == pytest.approx(expected, abs=1e-9)


def test_the_weights_of_an_evaluator_give_the_value():
    data = [*rows("a", "e1", "fake", 4, 5), *rows("a", "e1", "real", 3, 15), *rows("a", "e2", "real", 3, 4)]
    answers = answers_of(data, "infinity")

    by_judge = np.bincount(answers.judges.of_response, answers.weight * answers.error)

    assert by_judge == pytest.approx([0.5, 0.75])
    assert np.bincount(answers.judges.of_response, answers.weight) == pytest.approx([1, 1])


@pytest.mark.parametrize(
    ("people", "notes"),
    [
        (
            ["5.97E+23", "1.2E+15", "b"],
            ["2 of 3 evaluators have names such as '5.97E\\+23', as spreadsheets"],
        ),
        (["3", "3.0", "4", "b"], ["2 evaluators have names that are 1 as numbers, such as '3' and '3.0'"]),
        (["03", "3", "1e2", "100"], ["4 evaluators have names that are 2 as"]),
        (["5eb1", "e12", "a3", "17", "18"], []),
    ],
)
def test_names_that_programs_may_have_changed_are_told_with_their_number(people, notes):
    rows = [
        {"model": "m", "evaluator": who, "truth": truth, "response": truth}
        for who in people
        for truth in ("real", "fake")
    ]

    found = answers_of(rows, "infinity").notes

    assert len(found) == len(notes)
    assert all(re.match(note, text) for note, text in zip(notes, found, strict=True))
