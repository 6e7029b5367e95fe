"""Scores, findings and reports of pairs, 2AFC and JND, on small sets that are worked by hand."""

import csv
import io
import json
from math import sqrt
from statistics import NormalDist

import pytest

from backend.analysis.judgment_scores import scores_of
from backend.analysis.table.response_rows import answers_of
from backend.foundation.errors import InvalidInput
from backend.report import page
from backend.report.compose import compose
from backend.report.context import FindingsView, SourceInfo
from backend.report.findings import findings
from backend.report.judgment_report import report_of
from backend.responses.readers import read_answers
from backend.scoring import score, score_answers
from tests.unit.response_rows import score_file

from .. import texts

Z = NormalDist().inv_cdf
INFO = SourceInfo("title", "source", "2026-01-01", "0")


def pairs(wrong_of, pictures=4):
    """Return rows of pairs of `gan`, as many on either side; each evaluator errs on the first ones."""
    rows = []
    for person, wrong in wrong_of.items():
        for i in range(pictures):
            truth, other = ("left", "right") if i % 2 else ("right", "left")
            fake, real = f"fake{i}.webp", f"real{(i + 1) % pictures}.webp"
            rows.append(
                {
                    "method": "pair",
                    "model": "gan",
                    "evaluator": person,
                    "truth": truth,
                    "response": other if i < wrong else truth,
                    "stimulus": f"{real} {fake}" if truth == "left" else f"{fake} {real}",
                    "trial_index": i,
                    "rt": 1000.0,
                }
            )
    return rows


def vote(person, item, side_of_p1, answer, **more):
    """Return a row of 2AFC: `answer` is the side that was called closer."""
    left, right = ("p1", "p0") if side_of_p1 == "left" else ("p0", "p1")
    set_, _, name = item.partition("/")
    files = {"p0": f"{name}a.webp", "p1": f"{name}b.webp"}
    return {
        "method": "2afc",
        "model": set_,
        "evaluator": person,
        "truth": "",
        "response": answer,
        "stimulus": f"{files[left]} {name}r.webp {files[right]}",
        "item": item,
        "left": left,
        "right": right,
        **more,
    }


def looked(person, item, answer, truth="", **more):
    """Return a row of JND."""
    return {
        "method": "jnd",
        "model": "" if truth else item.partition("/")[0],
        "evaluator": person,
        "truth": truth,
        "response": answer,
        "stimulus": f"{item}a {item}b",
        "item": "" if truth else item,
        "trial_kind": "check" if truth else "test",
        **more,
    }


TRIPLETS = [
    # s/1: p1, p1, p0 of three people; s/2: p1, p0; t/1: p0, p0 (people a, b); the sides differ
    vote("a", "s/1", "left", "left"),
    vote("b", "s/1", "right", "right"),
    vote("c", "s/1", "left", "right"),
    vote("a", "s/2", "right", "right"),
    vote("b", "s/2", "left", "right"),
    vote("a", "t/1", "left", "right"),
    vote("b", "t/1", "right", "left"),
    vote("c", "t/1", "right", "left"),
]
CHECKS = [
    looked("a", "k1", "same", "same"),
    looked("a", "k2", "same", "same"),
    looked("a", "k3", "different", "different"),
    looked("b", "k1", "different", "same"),
    looked("b", "k2", "same", "same"),
    looked("b", "k3", "different", "different"),
]
SEEN = [
    looked("a", "s/1", "same"),
    looked("a", "s/2", "different"),
    looked("b", "s/1", "same"),
    looked("b", "s/2", "same"),
    *CHECKS,
]


def found_of(rows, **options):
    return findings(answers_of(rows, rows[0]["method"]), **options)


def written(folder, rows):
    """Return a responses file of rows."""
    heads = [*dict.fromkeys(name for row in rows for name in row)]
    file = io.StringIO()
    writer = csv.DictWriter(file, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path = folder / "r.csv"
    path.write_text(file.getvalue(), "utf-8")
    return path


def test_the_score_of_pairs_is_the_share_judged_wrong_with_accuracy_and_d_prime_beside_it():
    (row,) = score(pairs({"a": 1, "b": 1, "c": 1, "d": 1}), "pair")["models"]

    assert (row["score"], row["accuracy"]) == (25, 75)
    assert row["d_prime"] == pytest.approx(sqrt(2) * 0.6744897501960817)  # z(.75), any table of the normal
    low, high = row["interval"]["ci"]
    assert row["accuracy_ci"] == [pytest.approx(100 - high), pytest.approx(100 - low)]
    assert row["d_prime_ci"] == [pytest.approx(sqrt(2) * Z(1 - end / 100)) for end in (high, low)]


@pytest.mark.parametrize("wrong", [0, 4])
def test_all_right_and_all_wrong_have_no_finite_d_prime(wrong):
    (row,) = score(pairs({"a": wrong, "b": wrong}), "pair")["models"]

    assert row["score"] == 25 * wrong
    assert row["d_prime"] is None


def test_a_bias_to_one_side_is_told_apart_from_sensitivity():
    rows = [{**row, "response": "left"} for row in pairs({"a": 0, "b": 0}, pictures=40)]

    found = found_of(rows)

    sides = found["findings"]["sides"]
    assert (sides["said_right"], sides["real_right"]) == (0, 50)
    assert (sides["left_error"], sides["right_error"]) == (0, 100)
    assert (sides["people"], sides["evaluators"]) == (2, 2)
    (model,) = found["findings"]["models"]
    assert model["pairs"]["evaluator_d_prime"] == pytest.approx(0)
    # log-linear: H = F = .5 / 21
    assert model["pairs"]["criterion"] == pytest.approx(-Z(0.5 / 21))


def test_a_fake_is_counted_on_whatever_side_it_stood():
    found = found_of(pairs({"a": 1, "b": 2}))

    rows = {row["image_path"]: row for row in found["findings"]["fakes"]}
    assert {name: (row["pairs"], row["taken_for_real"]) for name, row in rows.items()} == {
        "fake0.webp": (2, 2),
        "fake1.webp": (2, 1),
        "fake2.webp": (2, 0),
        "fake3.webp": (2, 0),
    }


def test_votes_on_triplets_do_not_depend_on_the_sides():
    found = found_of(TRIPLETS)

    items = {row["item"]: (row["votes_for"], row["votes"]) for row in found["findings"]["items"]}
    assert items == {"s/1": (2, 3), "s/2": (1, 2), "t/1": (0, 3)}
    sets = {row["set"]: row for row in found["findings"]["sets"]}
    assert (sets["s"]["undecided"], sets["s"]["unanimous"], sets["t"]["unanimous"]) == (1, 0, 1)
    assert (sets["s"]["fewest_votes"], sets["s"]["median_votes"], sets["s"]["most_votes"]) == (2, 2.5, 3)


def test_agreement_of_people_counts_pairs_of_different_votes():
    found = found_of(TRIPLETS)

    people = {row["column"]: row for row in found["findings"]["people"]}
    # s/1: of 3 pairs of votes 1 agrees; s/2: of 1 pair none; t/1: all
    assert people["s"]["unbiased"] == pytest.approx(100 * (1 / 3 + 0) / 2)
    assert people["t"]["unbiased"] == pytest.approx(100)
    assert people["average"]["unbiased"] == pytest.approx(100 * (1 / 6 + 1) / 2)
    # (2/3)^2 + (1/3)^2 and 1/2
    assert people["s"]["as_printed"] == pytest.approx(100 * (5 / 9 + 1 / 2) / 2)
    assert people["s"]["oracle"] == pytest.approx(100 * (2 / 3 + 1 / 2) / 2)


def test_sets_of_triplets_are_not_compared_by_what_is_called_p1():
    scores = score(TRIPLETS, "2afc")

    shares = {row["model"]: row["score"] for row in scores["models"]}
    assert shares == {"s": pytest.approx(100 * (1 + 0.5 + 0) / 3), "t": 0}
    assert (scores["anova"], scores["pairs"], scores["over_pictures"]) == (None, [], None)
    assert "ttest" not in scores


def test_agreement_is_not_known_from_single_votes():
    rows = [vote(person, f"s/{person}", "left", "left") for person in "abc"]

    found = found_of(rows)
    report = report_of("2afc")

    assert found["findings"]["people"][0]["unbiased"] is None
    assert "No triplet has two votes" in texts.of_findings(found)
    assert "not known" in report.summary(FindingsView(found))


def test_the_share_of_same_leaves_sentinels_out():
    scores = score(SEEN, "jnd")

    (row,) = scores["models"]
    assert (row["model"], row["score"], row["responses"]) == ("s", 75, 4)
    assert scores["responses"] == 4


def test_sentinels_are_counted_by_their_right_answer():
    found = found_of(SEEN)["findings"]

    rows = {row["truth"]: (row["right"], row["shown"]) for row in found["sentinels"]["rows"]}
    assert rows == {"same": (3, 4), "different": (2, 2)}
    # log-linear: H = 2.5 / 3 and F = 1.5 / 5
    assert found["sentinels"]["d_prime"] == pytest.approx(Z(2.5 / 3) - Z(0.3))
    assert found["sentinels"]["criterion"] == pytest.approx(-(Z(2.5 / 3) + Z(0.3)) / 2)
    shares = {row["evaluator"]: row["share"] for row in found["attention"]["evaluators"]}
    assert shares == {"a": 1, "b": pytest.approx(2 / 3)}


def test_where_no_answer_is_right_evaluators_have_no_accuracy():
    for row in found_of(TRIPLETS)["findings"]["evaluators"]:
        assert (row["accuracy"], row["guessing_p"]) == (None, None)
        assert "said_fake" not in row
        assert 0 <= row["said_right"] <= 1


def test_the_rule_for_exclusion_and_simulated_sessions_concern_every_judgment():
    rows = [{**row, "excluded": row["evaluator"] == "c", "simulated": False} for row in TRIPLETS]
    simulated = [{**row, "evaluator": "x", "response": "left", "simulated": True} for row in rows]

    scores = score(rows + simulated, "2afc")

    assert scores["exclusion"]["evaluators"] == ["c"]
    assert {row["model"]: row["score"] for row in scores["models"]} == {"s": 75, "t": 0}
    assert {row["model"]: row["responses"] for row in scores["exclusion"]["without"]["models"]} == {
        "s": 5,
        "t": 3,
    }
    assert "8 responses of simulated sessions" in scores["notes"][-1]


@pytest.mark.parametrize(
    "rows", [pairs({"a": 1, "b": 2, "c": 0}), TRIPLETS, SEEN], ids=["pair", "2afc", "jnd"]
)
def test_a_file_scores_as_its_rows_do_and_has_a_report(tmp_path, rows):
    path = written(tmp_path, rows)

    of_file, of_rows = score_file(path), score(rows, rows[0]["method"])
    found = findings(read_answers(path, details=True))

    assert of_file == of_rows
    assert {name: cell for name, cell in found.items() if name != "findings"} == of_rows
    json.dumps(found, allow_nan=False)
    report = compose(found, INFO)
    assert [section.id for section in report.sections][-1] == "settings"
    assert "<svg" in page.html(report)
    assert texts.of_findings(found)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("pair,m,e,,left,p0,p1", "line 2: truth must be 'left' or 'right', not ''"),
        ("pair,m,e,real,left,p0,p1", "line 2: truth must be 'left' or 'right', not 'real'"),
        ("2afc,m,e,p0,left,p0,p1", "line 2: truth must be 'left', 'right' or '', not 'p0'"),
        ("2afc,m,e,,same,p0,p1", "line 2: response must be 'left' or 'right', not 'same'"),
        ("2afc,m,e,,tie,p0,p1", "line 2: response must be 'left' or 'right', not 'tie'"),
        ("2afc,,e,,left,p0,p1", "line 2: model must be a name, not ''"),
        ("2afc,m,e,,left,p0,p0", "left and right must be 'p0' and 'p1' in either order"),
        ("2afc,m,e,,left,p0,=cmd()", "right must be 'p0' or 'p1' in every response of 2AFC, not '=cmd()'"),
        ("2afc,m,e,,left,,", "left must be 'p0' or 'p1' in every response of 2AFC, not ''"),
        ("jnd,m,e,,tie,,", "line 2: response must be 'same' or 'different', not 'tie'"),
    ],
)  # fmt: skip
def test_what_is_no_answer_of_the_judgment_is_refused(tmp_path, cells, message):
    path = tmp_path / "r.csv"
    path.write_text(f"method,model,evaluator,truth,response,left,right\n{cells}\n", "utf-8")

    with pytest.raises(InvalidInput) as refusal:
        score_file(path)

    assert message in str(refusal.value)


def test_rows_of_one_evaluator_have_no_interval_and_a_report():
    found = found_of(pairs({"a": 1}))

    assert found["models"][0]["interval"] is None
    assert found["models"][0]["d_prime_ci"] is None
    compose(found, INFO)


def test_names_of_markup_are_shown_as_text():
    rows = [{**row, "model": "<b>$x_1$</b>"} for row in pairs({"<i>a": 1, "b": 2})]

    html = page.html(compose(found_of(rows), INFO))

    assert "<b>$x_1$" not in html
    assert "<i>a" not in html


@pytest.mark.parametrize(
    ("rows", "model"),
    [
        (pairs({f"e{i}": i % 3 for i in range(6)}), "gan"),
        ([vote(f"e{i}", "s/1", "left", "left" if i % 3 else "right") for i in range(6)], "s"),
        ([looked(f"e{i}", "s/1", "same" if i % 3 else "different") for i in range(6)], "s"),
    ],
    ids=["pair", "2afc", "jnd"],
)
def test_while_a_study_runs_its_score_is_shown_by_evaluators(rows, model):
    answers = answers_of(rows, rows[0]["method"])
    ended = {f"e{i}": f"2026-01-01T00:00:0{9 - i}" for i in range(6)}

    steps = scores_of(answers.method).narrowing(answers, model, ended)

    last_five = [row for row in rows if row["evaluator"] != "e0"]  # who finished last
    assert [step["evaluators"] for step in steps] == [5, 6]
    assert steps[0]["score"] == pytest.approx(score(last_five, answers.method)["models"][0]["score"])
    assert steps[1]["score"] == pytest.approx(score(rows, answers.method)["models"][0]["score"])


def test_pictures_that_evaluators_share_widen_the_interval_of_pairs():
    """Everybody errs on the same fake, whatever real stands beside it, or on the same real."""
    people = [f"e{i}" for i in range(12)]

    def rows(is_hard):
        found = pairs(dict.fromkeys(people, 0), pictures=8)
        for i, row in enumerate(found):
            real, fake = sorted(row["stimulus"].split(" "), reverse=True)
            if is_hard(real, fake, i):
                row["response"] = {"left": "right", "right": "left"}[row["truth"]]
        return found

    by_fake = score_answers(
        answers_of(rows(lambda real, fake, i: fake in ("fake0.webp", "fake1.webp")), "pair")
    )
    apart = score_answers(answers_of(rows(lambda real, fake, i: (i // 8 + i) % 4 == 0), "pair"))

    assert by_fake["models"][0]["score"] == apart["models"][0]["score"] == 25
    wide, narrow = (found["models"][0]["interval"] for found in (by_fake, apart))
    assert wide["ci"][1] - wide["ci"][0] > 1.5 * (narrow["ci"][1] - narrow["ci"][0])
    assert wide["share_of_pictures"] > 0.9


@pytest.mark.parametrize(
    ("contestants", "text"),
    [("abc", "2, each of all 3 models"), (["a", "b", "real"], "2, each of all 2 models and the reals")],
)
def test_the_reals_of_a_tournament_are_not_counted_among_its_models(contestants, text):
    rows = [
        {
            "method": "tournament",
            "model": left,
            "evaluator": person,
            "response": answer,
            "left": left,
            "right": right,
        }
        for person, answer in (("p", "left"), ("q", "right"))
        for left, right in zip(contestants, [*contestants[1:], contestants[0]], strict=True)
    ]

    report = compose(found_of(rows), INFO)

    assert dict(report.facts)["Evaluators"] == text
