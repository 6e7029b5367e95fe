"""Files of mixed sessions from elsewhere: recognised, scored within evaluators, and with published figures.

The shapes are those in which others publish: one row an answer, reals of no model in one of several ways.
"""

import csv
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, ttest_rel

from backend.analysis.error_rates import sides
from backend.analysis.table.response_rows import answers_of
from backend.cli import main
from backend.responses.readers import read_answers
from backend.scoring import score
from tests.unit.response_rows import score_file

WRONG = {"e1": {"a": (1, 4), "b": (3, 4), "real": (2, 8)}, "e2": {"a": (2, 4), "b": (2, 4), "real": (4, 8)},
         "e3": {"a": (2, 8), "b": (7, 8), "real": (2, 16)}}  # fmt: skip
"""Wrong answers of all answers, by evaluator and model."""
HEADER = ("evaluator", "session", "model", "class", "stimulus", "truth", "response")


def rows_of(wrong=WRONG, real="real", **more):
    """Return one row an answer; `real` is what the column model says of reals."""
    rows = []
    for evaluator, of in wrong.items():
        for model, (bad, count) in of.items():
            truth = "real" if model == "real" else "fake"
            for i in range(count):
                response = truth if i >= bad else {"real": "fake", "fake": "real"}[truth]
                name = real if model == "real" else model
                given = {"evaluator": evaluator, "model": name, "truth": truth, "response": response}
                rows.append({**given, **more})
    return rows


def written(folder, rows, header=HEADER):
    path = folder / "answers.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("real", ["real", "", "NA", "none", "Real", "FFHQ", "-"])
def test_the_errors_are_those_counted_by_hand_however_reals_are_marked(tmp_path, real):
    path = written(tmp_path, rows_of(real=real))

    found, scores = sides(read_answers(path), 0.95), score_file(path)

    assert {row["model"]: row["error"] for row in found["fakes"]} == pytest.approx(
        {"a": (25 + 50 + 25) / 3, "b": (75 + 50 + 87.5) / 3}
    )
    assert [(row["model"], row["responses"]) for row in found["reals"]] == [(None, 32)]
    assert found["reals"][0]["error"] == pytest.approx((25 + 50 + 12.5) / 3)
    assert found["reals"][0]["pooled"] == pytest.approx(100 * 8 / 32)
    assert {row["model"]: row["pooled"] for row in found["fakes"]} == pytest.approx({"a": 500 / 16, "b": 75})
    assert found["accuracy"]["accuracy"] == pytest.approx((100 * 10 / 16 + 50 + 100 * 21 / 32) / 3)
    assert found["accuracy"]["pooled"] == pytest.approx(100 * 39 / 64)
    assert found["accuracy"]["responses"] == scores["responses"] == 64
    assert (scores["design"], scores["pairs_method"], scores["balanced"]) == ("within", "paired", True)
    assert {row["model"]: row["score"] for row in scores["models"]} == pytest.approx(
        {"a": (25 + 50 + 18.75) / 3, "b": (50 + 50 + 50) / 3}
    )


def test_sensitivity_is_that_of_all_fakes_against_the_reals_once():
    found = sides(answers_of(rows_of(), "infinity"), 0.95)["detection"]

    hits, false = np.array([4, 4, 7]), np.array([2, 4, 2])
    fakes, reals = np.array([8, 8, 16]), np.array([8, 8, 16])
    z_hits, z_false = norm.ppf((hits + 0.5) / (fakes + 1)), norm.ppf((false + 0.5) / (reals + 1))
    assert (found["d_prime"], found["criterion"]) == pytest.approx(
        ((z_hits - z_false).mean(), -(z_hits + z_false).mean() / 2)
    )
    z_hits, z_false = norm.ppf(15.5 / 33), norm.ppf(8.5 / 33)
    assert found["pooled"] == pytest.approx(
        {"d_prime": z_hits - z_false, "criterion": -(z_hits + z_false) / 2}
    )


def test_a_difference_is_paired_and_half_of_that_of_the_errors_on_fakes():
    found = score(rows_of(), "infinity")

    by_hand = ttest_rel([25, 50, 25], [75, 50, 87.5])
    (pair,) = found["pairs"]
    sign = 1 if pair["a"] == "a" else -1
    assert pair["difference"] == pytest.approx(sign * (100 - 212.5) / 3 / 2)
    assert (pair["t"], pair["df"], pair["p"]) == pytest.approx((sign * by_hand.statistic, 2, by_hand.pvalue))
    assert found["ttest"]["p"] == pytest.approx(by_hand.pvalue)
    ends = by_hand.confidence_interval(0.95)
    assert sorted(pair["ci"]) == pytest.approx(sorted(sign * end / 2 for end in (ends.low, ends.high)))


def test_reals_of_a_model_each_are_given_by_model():
    wrong = {"e1": {"a": (1, 4)}, "e2": {"a": (2, 4)}, "e3": {"b": (1, 4)}, "e4": {"b": (0, 4)}}
    reals = [{**row, "truth": "real"} for row in rows_of(wrong)]

    found = sides(answers_of([*rows_of(wrong), *reals], "infinity"), 0.95)

    assert not found["are_reals_shared"]
    assert [(row["model"], row["responses"]) for row in found["reals"]] == [("a", 8), ("b", 8)]


def test_an_error_is_with_an_interval_over_pictures_where_these_are_named():
    rng = np.random.default_rng(4)
    rows = [
        {"evaluator": f"e{e}", "model": model, "truth": truth, "stimulus": f"{model}-{i}",
         "response": "real" if rng.random() < 0.4 else "fake"}
        for e in range(12) for model, truth in (("a", "fake"), ("b", "fake"), ("", "real"))
        for i in rng.permutation(30)[:15]
    ]  # fmt: skip

    found = sides(answers_of(rows, "infinity"), 0.95)

    for row in (*found["fakes"], *found["reals"], found["accuracy"]):
        assert row["of"] == "evaluators and pictures"
        value = row["accuracy"] if "accuracy" in row else row["error"]
        assert row["ci"][0] < value < row["ci"][1]


def test_one_evaluator_has_errors_without_interval():
    found = sides(answers_of(rows_of({"e1": WRONG["e1"]}), "infinity"), 0.95)

    assert [row["ci"] for row in found["fakes"]] == [None, None]
    assert (found["accuracy"]["accuracy"], found["accuracy"]["ci"]) == (62.5, None)


def test_some_of_the_models_for_each_evaluator_are_compared_over_evaluators(tmp_path):
    wrong = {
        f"e{i}": {first: (1 + i % 3, 6), then: (2 + i % 2, 6), "real": (i % 4, 12)}
        for i, (first, then) in enumerate([("a", "b"), ("b", "c"), ("a", "c")] * 4)
    }

    found = score_file(written(tmp_path, rows_of(wrong)))

    assert (found["design"], found["pairs_method"]) == ("mixed", "clustered")
    assert [pair["both"] for pair in found["pairs"]] == [4, 4, 4]
    assert [row["evaluators"] for row in found["models"]] == [8, 8, 8]
    assert found["responses"] == 12 * 24


def test_people_who_judged_one_model_beside_others_who_judged_two_are_compared_so():
    wrong = {f"e{i}": {"a": (i % 4, 6), "b": (i % 3, 6), "real": (i % 5, 12)} for i in range(6)}
    wrong |= {f"f{i}": {"a": (i % 4, 12), "real": (i % 3, 12)} for i in range(4)}

    found = score(rows_of(wrong), "infinity")

    assert (found["design"], found["pairs_method"], found["pairs"][0]["both"]) == ("mixed", "clustered", 6)


def test_reals_count_for_the_models_of_their_session_where_one_person_has_several():
    first = rows_of({"e1": {"a": (1, 4), "real": (0, 4)}, "e2": {"a": (0, 4), "real": (1, 4)}}, session="1")
    then = rows_of({"e1": {"b": (2, 4), "real": (4, 4)}, "e2": {"b": (3, 4), "real": (2, 4)}}, session="2")

    found = score([*first, *then], "infinity")

    assert found["design"] == "within"
    errors = {row["model"]: (row["fakes_error"], row["reals_error"]) for row in found["models"]}
    assert errors == {"a": (12.5, 12.5), "b": (62.5, 75.0)}


def test_blocks_of_two_sessions_of_one_person_are_apart(tmp_path):
    rows = [
        {"evaluator": evaluator, "session": session, "model": "a", "truth": "fake", "response": "fake",
         "block": 0, "trial_index": trial, "exposure_ms": ms}
        for evaluator in ("e1", "e2")
        for session, exposures in (("1", [500] * 3 + [470] * 2), ("2", [500] * 3 + [200] * 4))
        for trial, ms in enumerate(exposures)
    ]  # fmt: skip
    path = written(tmp_path, rows, (*HEADER, "block", "trial_index", "exposure_ms"))

    found = score_file(path)

    # modes of 500 and 200; as one block the mode would be 500
    assert found["models"][0]["score"] == 350
    assert score(rows, "time")["models"][0]["score"] == 350


def test_scores_by_class_are_of_mixed_sessions_too():
    from backend.report.findings import findings

    rows = [
        row
        for class_, add in (("cat", 0), ("dog", 2))
        for row in rows_of(
            {f"e{i}": {"a": (1 + add, 4), "b": (i % 2 + add, 4), "real": (2, 8)} for i in range(4)},
            **{"class": class_},
        )
    ]

    found = findings(answers_of(rows, "infinity"))

    by_class = {
        row["class"]: {one["model"]: (one["fakes_error"], one["reals_error"]) for one in row["models"]}
        for row in found["findings"]["classes"]
    }
    assert by_class == {
        "cat": {"a": (25, 25), "b": (12.5, 25)}, "dog": {"a": (75, 25), "b": (62.5, 25)}
    }  # fmt: skip


@pytest.mark.parametrize("real", ["real", ""])
def test_the_command_line_tells_each_error_once(tmp_path, real):
    path = written(tmp_path, rows_of(real=real))

    text = CliRunner().invoke(main, ["score", str(path), "--full"]).output
    data = json.loads(CliRunner().invoke(main, ["score", str(path), "--full", "--json"]).stdout)

    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert any(re.match(r"fakes of b taken for real 70\.8 \[.*\] 75\.0 ", line) for line in lines)
    reals = "reals, the same for all models, taken for fake 29.2 ["
    assert len([line for line in lines if line.startswith(reals)]) == 1
    assert any(re.match(r"all pictures judged right 59\.4 \[.* 64$", line) for line in lines)
    assert "Sensitivity (d′) and bias (c), all fakes against all reals; over evaluators alone" in lines
    assert data["findings"]["sides"]["fakes"][0]["model"] == data["models"][0]["model"]
    assert "Tukey" not in text


@given(
    st.lists(
        st.tuples(st.sampled_from("efgh"), st.sampled_from(["a", "b", ""]), st.booleans(), st.booleans()),
        min_size=6,
        max_size=60,
    )
)
def test_no_evaluator_of_several_models_ever_enters_a_test_between_subjects(found):
    rows = [
        {"evaluator": e, "model": model, "truth": "real" if is_real or not model else "fake",
         "response": "real" if said_real else "fake"}
        for e, model, is_real, said_real in found
    ]  # fmt: skip
    rows += [{"evaluator": e, "model": "a", "truth": "fake", "response": "real"} for e in "ef"]
    fakes = {(row["evaluator"], row["model"]) for row in rows if row["truth"] == "fake"}

    scores = score(rows, "infinity")

    if len(fakes) > len({evaluator for evaluator, _ in fakes}):
        assert scores["design"] in ("within", "mixed")
        assert scores["pairs_method"] in ("paired", "clustered")
