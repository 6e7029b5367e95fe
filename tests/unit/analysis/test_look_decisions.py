"""Decisions of planned looks, from responses whose values are known."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from backend.analysis.judgment_scores import scores_of
from backend.analysis.look_decisions import decisions
from backend.analysis.planning.boundaries import stops
from backend.analysis.planning.looks import LookPlan
from backend.analysis.scores import Options
from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.response_table import filter_rows
from backend.cli import main
from backend.experiment.planned_looks import aim_of
from backend.responses.finishing_times import times_of_file
from backend.responses.readers import read_answers

IMAGES = 20


def wrong_counts(rate, count, seed):
    rng = np.random.default_rng(seed)
    return rng.binomial(IMAGES, np.clip(rng.normal(rate, 0.05, count), 0.02, 0.98)).tolist()


def rows_of(wrong_by_model):
    """Return responses whose evaluators finish in the order of the lists, one model after the other."""
    rows = []
    for m, (model, wrong) in enumerate(wrong_by_model.items()):
        for i, errors in enumerate(wrong):
            for k in range(IMAGES):
                truth = "fake" if k % 2 else "real"
                response = truth if k >= errors else {"fake": "real", "real": "fake"}[truth]
                at = f"2026-01-{i + 1:02}T{m:02}:00:{k:02}+00:00"
                stimulus = f"{model if k % 2 else 'real'}-{(i * 37 + k * 101) % 4999}"
                rows.append([model, f"{model}{i:03}", truth, response, stimulus, at])
    return rows


def written(tmp_path, rows, header=("model", "evaluator", "truth", "response", "stimulus", "at")):
    path = Path(tmp_path) / "responses.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def decided(path, looks=(5, 10, 15), aim="apart", **options):
    return decisions(read_answers(path, True), times_of_file(path), LookPlan(looks, aim_of(aim), **options))


FAR = {"gan": wrong_counts(0.2, 15, 1), "vae": wrong_counts(0.6, 15, 2)}
SAME = {"gan": wrong_counts(0.4, 15, 3), "vae": wrong_counts(0.4, 15, 4)}


def test_models_that_are_far_apart_stop_the_study_early(tmp_path):
    found = decided(written(tmp_path, rows_of(FAR)))

    last = found["looks"][-1]
    assert last["decision"] == "stop"
    assert last["evaluators"] == {"gan": last["evaluators"]["gan"], "vae": last["evaluators"]["gan"]}
    assert found["saved"] == 2 * (15 - last["evaluators"]["gan"]) > 0
    assert last["pairs"][0]["state"] == "apart"


def test_the_test_of_a_look_is_that_of_its_first_evaluators(tmp_path):
    found = decided(written(tmp_path, rows_of(SAME)))

    for look, n in zip(found["looks"], (5, 10, 15), strict=True):
        shares = [np.array(SAME[model][:n]) * 100 / IMAGES for model in ("gan", "vae")]
        (row,) = look["pairs"]
        assert abs(row["difference"]) == pytest.approx(abs(shares[0].mean() - shares[1].mean()))
        welch = stats.ttest_ind(*shares, equal_var=False).pvalue
        assert row["p"] == pytest.approx(welch, abs=0.05)  # pictures that happen to be shared widen it
    assert [look["decision"] for look in found["looks"]] == ["go on", "go on", "stop"]
    assert found["saved"] == 0


@pytest.mark.parametrize("models", [2, 3])
def test_the_repeated_interval_is_that_of_scores_at_the_level_of_the_look(models):
    names = ("gan", "vae", "wae")[:models]
    answers, times = answers_of_rows(
        rows_of({name: wrong_counts(0.4, 10, k) for k, name in enumerate(names)})
    )
    (look,) = decisions(answers, times, LookPlan((10, 20)))["looks"]

    scores = scores_of("infinity").overall(answers, Options(level=1 - look["error"]))

    wanted = {(row["a"], row["b"]): row["ci"] for row in scores["over_pictures"]["pairs"]}
    for row in look["pairs"]:
        assert row["repeated_ci"] == pytest.approx(wanted[row["a"], row["b"]], rel=1e-3)


def test_later_evaluators_and_the_order_of_rows_change_no_decision(tmp_path):
    rows = rows_of(FAR)
    whole = decided(written(tmp_path, rows))
    stopped_at = whole["looks"][-1]["evaluators"]["gan"]
    few = [row for row in rows if int(row[1][3:]) < stopped_at]

    shuffled = decided(written(tmp_path, [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]))
    fewer = decided(written(tmp_path, few))

    assert json.dumps(shuffled) == json.dumps(whole)  # in the same order too
    assert fewer == whole


def test_a_changed_answer_that_was_used_changes_the_hash_of_the_data(tmp_path):
    rows = rows_of(FAR)
    before = decided(written(tmp_path, rows))
    rows[0][3] = {"fake": "real", "real": "fake"}[rows[0][3]]

    after = decided(written(tmp_path, rows))

    assert after["data"] != before["data"]
    assert after["digest"] == before["digest"]


def test_the_next_look_says_how_many_evaluators_it_waits_for(tmp_path):
    found = decided(written(tmp_path, rows_of({"gan": SAME["gan"][:8], "vae": SAME["vae"][:12]})))

    assert len(found["looks"]) == 1
    assert found["stopped"] is None
    assert found["waits_for"] == {"gan": 2}


def test_a_model_apart_from_all_others_is_dropped_and_keeps_its_evaluators(tmp_path):
    three = {**SAME, "far": wrong_counts(0.9, 15, 5)[:10]}

    found = decided(written(tmp_path, rows_of(three)))

    decision, *_ = (look for look in found["looks"] if look["decision"] == "drop")
    assert decision["dropped"] == ["far"]
    assert found["looks"][-1]["evaluators"] == {"gan": 15, "vae": 15, "far": decision["evaluators"]["far"]}


def test_half_widths_drop_each_model_by_itself(tmp_path):
    found = decided(written(tmp_path, rows_of(FAR)), aim="half-width=10")

    assert found["stopped"]
    for row in found["looks"][-1]["scores"]:
        assert (row["ci"][1] - row["ci"][0]) / 2 <= 10


def test_equal_models_are_shown_to_be_equal_within_a_wide_margin(tmp_path):
    found = decided(written(tmp_path, rows_of(SAME)), aim="equal-within=20")

    assert found["looks"][-1]["pairs"][0]["state"] == "equal"


def test_a_pair_is_given_up_once_a_difference_would_hardly_be_found(tmp_path):
    equal = {"gan": SAME["gan"], "vae": SAME["gan"][::-1]}

    found = decided(written(tmp_path, rows_of(equal)), aim="futility=4")

    assert found["looks"][-1]["pairs"][0]["state"] == "given up"
    assert found["looks"][-1]["decision"] == "stop"


def test_p_under_stopping_counts_the_looks_before(tmp_path):
    found = decided(written(tmp_path, rows_of(SAME)))
    plan = LookPlan((5, 10, 15))
    z = stats.norm.isf(found["looks"][-1]["pairs"][0]["p"] / 2)

    assert found["stopped"]["p"] == pytest.approx(stops(plan.fractions, [*plan.bounds[:2], z]).rejects)


def answers_of_rows(rows):
    names = ("model", "evaluator", "truth", "response", "stimulus", "at")
    times = {row[1]: row[5] for row in rows}
    return answers_of([dict(zip(names, row, strict=True)) for row in rows], "infinity"), times


def looked_at_each_evaluator(answers, times, plan, models, step=1):
    """Return what is decided after every `step`-th evaluator; looks so far are read from their records."""
    ended = np.array([times[name] for name in answers.evaluator.names])[answers.evaluator.codes]
    seen = []
    for at in sorted({*ended})[step - 1 :: step]:
        recorded = json.loads(json.dumps(seen[-1]["looks"])) if seen else ()
        so_far = filter_rows(answers, ended <= at)
        seen.append(decisions(so_far, times, plan, models, with_bias=False, recorded=recorded))
    return seen


@given(st.integers(0, 10**6), st.sampled_from(["apart", "half-width=8", "futility=20", "ranks"]))
@settings(max_examples=4, deadline=None)
def test_looking_after_each_evaluator_changes_no_decision(seed, aim):
    rng = np.random.default_rng(seed)
    rates = dict(zip("abc", rng.uniform(0.2, 0.6, 3), strict=True))
    rows = rows_of({name: wrong_counts(rate, 7, seed + k) for k, (name, rate) in enumerate(rates.items())})
    plan, (answers, times) = LookPlan((5, 7), aim_of(aim)), answers_of_rows(rows)

    seen = [made["looks"] for made in looked_at_each_evaluator(answers, times, plan, tuple("abc"), 2)]
    shuffled, _ = answers_of_rows([rows[k] for k in rng.permutation(len(rows))])
    again = decisions(shuffled, times, plan, with_bias=False)["looks"]

    assert seen[0] == []
    for looks in seen:
        assert json.dumps(looks) == json.dumps(again[: len(looks)])


def test_a_look_waits_for_models_that_nobody_has_judged_yet(tmp_path):
    path = written(tmp_path, rows_of(FAR))

    found = decisions(read_answers(path, True), times_of_file(path), LookPlan((5, 10)), ("gan", "vae", "new"))

    assert (found["looks"], found["waits_for"]) == ([], {"new": 5})


def test_a_repeated_p_is_below_the_error_exactly_where_a_pair_is_apart(tmp_path):
    four = {f"m{k}": wrong_counts(rate, 15, 10 + k) for k, rate in enumerate((0.25, 0.4, 0.45, 0.6))}

    found = decided(written(tmp_path, rows_of(four)))

    states = {(row["a"], row["b"]): row["state"] for row in found["looks"][-1]["pairs"]}
    assert {*states.values()} == {"apart", "open"}
    for row in found["stopped"]["pairs"]:
        assert (row["repeated_p"] < 0.05) == (states[row["a"], row["b"]] == "apart")
        assert abs(row["bias"]) < 3
        assert 0.9 < row["covers"] < 0.99
    assert found["stopped"]["p"] is None


def test_a_pair_that_changes_its_order_stays_decided(tmp_path):
    """gan is ahead at the first look and behind at the second; the pair is given up at the first."""
    turns = {
        "gan": [3, 15, 4, 14, 10, 3, 15, 4, 14, 7],
        "vae": [15, 3, 14, 4, 9, 19, 19, 19, 19, 19],
        "far": [20, 19] * 5,
    }

    first, second = decided(written(tmp_path, rows_of(turns)), (5, 10, 30), "futility=5")["looks"]

    pairs = [{frozenset((row["a"], row["b"])): row for row in look["pairs"]} for look in (first, second)]
    both = frozenset(("gan", "vae"))
    assert pairs[0][both]["a"] != pairs[1][both]["a"]
    assert pairs[0][both]["state"] == pairs[1][both]["state"] == "given up"


def test_ranks_do_not_turn_round_with_a_pair_whose_records_are_read():
    """gan is apart from vae at the first look, and behind it, far from significance, at the second."""
    turns = {
        "gan": [3, 3, 4, 4, 3, 20, 20, 20, 20, 20, 20, 0, 20, 0, 20],
        "vae": [17, 17, 18, 17, 18, 0, 0, 0, 1, 0, 0, 20, 0, 20, 0],
        "wae": [1, 19, 5, 15, 3, 17, 7, 13, 2, 18, 1, 19, 5, 15, 3],
    }
    answers, times = answers_of_rows(rows_of(turns))
    plan = LookPlan((5, 10, 15), aim_of("ranks"), "pocock")

    seen = looked_at_each_evaluator(answers, times, plan, tuple(turns))[-1]["looks"]

    differences = [
        row["difference"] * (1 if row["a"] == "gan" else -1)
        for look in seen
        for row in look["pairs"]
        if {row["a"], row["b"]} == {"gan", "vae"}
    ]
    assert np.sign(differences).tolist() == [-1, 1, 1]
    assert {row["model"]: row["ranks"] for row in seen[-1]["scores"]}["gan"] == [2, 3]
    assert seen == decisions(answers, times, plan, with_bias=False)["looks"]


def test_evaluators_of_several_models_are_compared_within_and_none_is_dropped(tmp_path):
    rows = rows_of({"gan": SAME["gan"], "vae": [w + 3 for w in SAME["gan"]], "wae": SAME["gan"][::-1]})
    rows = [[row[0], f"p{int(row[1][3:]):02}", *row[2:]] for row in rows]

    path = written(tmp_path, rows)

    found = decided(path, aim="apart=vae")

    recorded = looked_at_each_evaluator(
        read_answers(path, True), times_of_file(path), LookPlan((5, 10, 15), aim_of("apart=vae")), (), 3
    )
    assert recorded[-1]["looks"] == found["looks"]
    assert found["looks"][-1]["decision"] == "stop"
    assert all(not look["dropped"] for look in found["looks"])
    assert found["looks"][-1]["evaluators"] == dict.fromkeys(("gan", "vae", "wae"), 15 - found["saved"])


def tournament(strengths, people, pairs, seed):
    """Return responses of people who prefer the stronger model with the logistic probability."""
    rng, rows = np.random.default_rng(seed), []
    for i in range(people):
        for k in range(pairs):
            left, right = rng.permutation([*strengths])[:2]
            wins = rng.random() < 1 / (1 + np.exp(strengths[right] - strengths[left]))
            at = f"2026-01-{i + 1:02}T00:{k:02}:00+00:00"
            rows.append(
                [
                    ", ".join(sorted((left, right))),
                    f"p{i:02}",
                    "",
                    "left" if wins else "right",
                    left,
                    right,
                    at,
                ]
            )
    return rows


def test_a_tournament_stops_once_its_ranks_are_known():
    rows = tournament({"a": 2.0, "b": 0.0, "c": -2.0}, 15, 30, 1)
    orders = (range(len(rows)), np.random.default_rng(0).permutation(len(rows)))
    header = ("model", "evaluator", "truth", "response", "left", "right", "method")
    data = [
        answers_of(
            [dict(zip(header, [*rows[k][:6], "tournament"], strict=True)) for k in order], "tournament"
        )
        for order in orders
    ]
    times = {row[1]: row[6] for row in sorted(rows, key=lambda row: row[6])}

    found, again = (decisions(one, times, LookPlan((5, 10, 15), aim_of("ranks"))) for one in data)

    assert found["looks"][-1]["decision"] == "stop"
    assert found["saved"] == 15 - found["looks"][-1]["evaluators"]["a"] > 0
    assert {row["model"]: row["ranks"] for row in found["looks"][-1]["scores"]} == {
        "a": [1, 1],
        "b": [2, 2],
        "c": [3, 3],
    }
    assert (again["data"], again["looks"]) == (found["data"], found["looks"])
    seen = looked_at_each_evaluator(data[1], times, LookPlan((5, 10, 15), aim_of("ranks")), tuple("abc"), 5)
    assert seen[-1]["looks"] == found["looks"]


@pytest.mark.parametrize(
    ("aim", "models", "message"),
    [
        ("apart", {"gan": SAME["gan"]}, "the aim apart compares models, and there is one, gan"),
        ("apart=wae", SAME, "apart= must name all, neighbours or a model (gan, vae), not 'wae'"),
        ("equal-within=60", SAME, "the margin must be below 50 points, not 60"),
    ],
)
def test_an_aim_that_the_answers_do_not_allow_is_refused(tmp_path, aim, models, message):
    path = written(tmp_path, rows_of(models))

    found = CliRunner().invoke(main, ["looks", str(path), "--plan", "5,10", "--aim", aim])

    assert found.exit_code == 1
    assert message in found.output


def test_a_file_without_times_is_refused(tmp_path):
    path = written(
        tmp_path, [row[:5] for row in rows_of(SAME)], ("model", "evaluator", "truth", "response", "stimulus")
    )

    found = CliRunner().invoke(main, ["looks", str(path), "--plan", "5,10"])

    assert found.exit_code == 1
    assert "has no column `at`, which says in which order evaluators finished" in found.output


def test_the_command_prints_what_json_has(tmp_path):
    path = written(tmp_path, rows_of(FAR))
    arguments = ["looks", str(path), "--plan", "5,10,15"]

    text, data = (CliRunner().invoke(main, [*arguments, *more]) for more in ([], ["--json"]))

    found = json.loads(data.stdout)
    assert f"stopped at look {found['stopped']['look']}; {found['saved']} evaluators fewer" in text.stdout
    assert found["digest"][:12] in text.stdout
