"""Findings: everything in plain data, and a right answer at each edge."""

import json
import math

import pytest

from backend.analysis.table.response_rows import answers_of
from backend.foundation.errors import InvalidInput
from backend.report.findings import FindingsOptions, findings
from backend.scoring import score_answers

from .. import texts


def infinity(people, **more):
    """Return rows: people are (model, evaluator, wrong of 10 fakes, wrong of 10 reals)."""
    sides = ("fake", "real")
    return [
        {
            "model": model, "evaluator": who, "truth": truth,
            "response": sides[(truth == "fake") == (i < wrong)], "stimulus": f"{truth}-{model}-{i}", **more,
        }
        for model, who, *both in people
        for truth, wrong in zip(sides, both, strict=True)
        for i in range(10)
    ]  # fmt: skip


def timed(model, who, trace):
    return [
        {
            "model": model, "evaluator": who, "truth": "fake", "response": "fake" if ms > 300 else "real",
            "block": 0, "trial_index": i, "exposure_ms": ms,
        }
        for i, ms in enumerate(trace)
    ]  # fmt: skip


PEOPLE = [
    ("a", "1", 6, 5),
    ("a", "2", 7, 6),
    ("a", "3", 5, 4),
    ("b", "4", 1, 2),
    ("b", "5", 2, 3),
    ("b", "6", 0, 1),
]


def found_of(rows, method="infinity", findings_options=None, **options):
    found = findings(answers_of(rows, method), findings_options, **options)
    json.dumps(found, allow_nan=False)  # no NaN, nothing but plain data
    texts.of_findings(found)
    return found


def test_the_scores_are_those_of_the_contract_with_one_more_key():
    answers = answers_of(infinity(PEOPLE), "infinity")

    found = findings(answers)

    assert {name: value for name, value in found.items() if name != "findings"} == score_answers(answers)


def test_every_model_stands_in_the_order_of_the_scores():
    found = found_of(infinity(PEOPLE))

    assert [row["model"] for row in found["findings"]["models"]] == ["a", "b"]
    assert len(found["findings"]["evaluators"]) == 6
    assert len(found["findings"]["images"]) == 40


def test_the_degrees_of_freedom_are_explained():
    note = found_of(infinity(PEOPLE))["findings"]["anova_note"]

    assert note.startswith(
        "the degrees of freedom are 1 (2 models less 1) and 4 (6 evaluators less 2 models)"
    )


def test_pairs_of_games_and_howell_are_advised_where_models_vary_unlike():
    alike = found_of(infinity(PEOPLE))
    unlike = [("a", str(i), 5, 5 + i % 2) for i in range(12)] + [
        ("b", f"b{i}", i % 10, i % 9) for i in range(12)
    ]

    assert alike["findings"]["pairs_advised"] == "tukey"
    assert found_of(infinity(unlike))["findings"]["pairs_advised"] == "games_howell"


def test_metrics_are_correlated_and_models_without_one_named():
    people = [*PEOPLE, ("c", "7", 9, 9), ("c", "8", 9, 8), ("d", "9", 3, 3), ("d", "10", 4, 3)]

    (row,) = found_of(
        infinity(people), findings_options=FindingsOptions({"FID": {"a": 2.0, "b": 9.0, "c": 1.0}})
    )["findings"]["metrics"]

    assert (row["rho"], row["models"], row["without"]) == (-1.0, 3, ["d"])


def test_classes_are_scored_apart():
    rows = [
        *infinity(PEOPLE, **{"class": "cat"}),
        *infinity([("a", "1", 10, 10), ("a", "2", 10, 10)], **{"class": "dog"}),
    ]

    cat, dog = found_of(rows)["findings"]["classes"]

    assert (cat["class"], [row["model"] for row in cat["models"]]) == ("cat", ["a", "b"])
    assert (dog["class"], dog["models"][0]["score"]) == ("dog", 100.0)


def test_checkpoints_are_a_line():
    people = [(model.replace("a", "gan@4k").replace("b", "gan@1k"), *rest) for model, *rest in PEOPLE]

    (line,) = found_of(infinity(people))["findings"]["progress"]

    assert [point["at"] for point in line["points"]] == [1000, 4000]


@pytest.mark.parametrize(
    "rows",
    [
        infinity(PEOPLE)[:1],  # one response
        infinity(PEOPLE[:1]),  # one evaluator
        infinity([*PEOPLE, ("c", "7", 3, 3)]),  # a model with one evaluator
        infinity([*PEOPLE, ("c", "7", 3, 3)])[:-19],  # whose evaluator gave one response
        infinity([("a", "1", 5, 5), ("a", "2", 5, 5), ("b", "3", 5, 5), ("b", "4", 5, 5)]),  # all constant
        infinity([("a", "1", 5, 5), ("a", "2", 5, 5), ("b", "3", 1, 5), ("b", "4", 5, 2)]),  # one constant
        infinity([("a", "1", 0, 0), ("a", "2", 0, 0)]),  # everything right
        infinity([("a", "1", 10, 10), ("a", "2", 10, 10)]),  # everything wrong
        infinity([("a", "1", 5, 5), ("b", "1", 4, 2), ("a", "2", 4, 4), ("b", "2", 4, 4)]),  # on two models
        infinity(PEOPLE, stimulus="", rt=math.nan),  # nothing but the needed columns
        infinity(PEOPLE, rt=math.inf),
        [row for row in infinity(PEOPLE) if row["truth"] == "fake"],  # one side only
    ],
)
def test_at_the_edges_there_is_a_right_answer(rows):
    found = found_of(rows)

    wrong = sum(row["truth"] != row["response"] for row in rows if row["model"] == "a")
    total = sum(row["model"] == "a" for row in rows)
    (a,) = [row for row in found["models"] if row["model"] == "a"]
    assert a["score"] == pytest.approx(100 * wrong / total)
    assert all(row["width"] is None or len(row["width"]) > 0 for row in found["findings"]["models"])


@pytest.mark.parametrize(
    "rows",
    [
        timed("m", "1", [500]),
        [*timed("m", "1", [500] * 40), *timed("m", "2", [500] * 40)],
        [*timed("m", "1", [100] * 40), *timed("m", "2", [100] * 40)],
        [*timed("m", "1", [500, 470, 200, 300] * 20), *timed("n", "2", [500, 200, 210, 100] * 20)],
    ],
)
def test_a_single_block_or_one_exposure_has_a_right_answer_too(rows):
    found = found_of(rows, "time")

    assert found["unit"] == "ms"
    (m,) = [row for row in found["findings"]["models"] if row["model"] == "m"]
    assert m["exposures"]["pooled"]["trials"] == sum(row["model"] == "m" for row in rows)


def test_a_score_above_50_percent_stays_above_and_is_tested():
    people = [("m", str(i), 8 + i % 2, 7 + i % 3) for i in range(6)]

    (model,) = found_of(infinity(people))["findings"]["models"]

    assert model["chance"]["hyperrealism"]["p"] < 0.05
    assert model["chance"]["verdict"] == "above 50%; not shown to be within 5 points of 50%"


def test_no_responses_are_refused():
    with pytest.raises(InvalidInput, match="there are no responses to score"):
        findings(answers_of([], "infinity"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0}, "margin must be between 0 and 50 percentage points, not 0"),
        ({"threshold_at": 0.5}, "threshold_at must be between 0.5 and 1, not 0.5"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        FindingsOptions(**options)


def test_the_order_of_rows_changes_no_score_test_or_count():
    rows = infinity(PEOPLE)

    here, there = found_of(rows), found_of(rows[::-1])

    for key in ("models", "anova", "pairs", "ttest"):
        assert there[key] == here[key]
    for key in ("effects", "welch", "equal_spread", "games_howell", "pair_effects"):
        assert there["findings"][key] == here["findings"][key]


def test_who_was_told_of_equal_answers_is_counted_in_the_sections_and_the_report():
    rows = infinity(PEOPLE)
    noticed = [{**row, "flags": "same_answer_notice" if i == 3 else ""} for i, row in enumerate(rows)]

    before, after = (texts.of_findings(found_of(some)) for some in (rows, noticed))

    assert "equal answers" not in before
    assert (
        "1 evaluator was asked to take a moment with each picture, after many equal answers in a row" in after
    )
