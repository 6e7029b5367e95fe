"""Runs of one study against each other: by analysis of variance, by scipy, by simulation, and bad input."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from backend.analysis.comparisons.run_contrasts import RunScore, contrast
from backend.analysis.distributions.inference import mean_of
from backend.analysis.judgment_scores import scores_of
from backend.analysis.replication import Run, replication
from backend.analysis.scores import Options
from backend.analysis.table.response_rows import answers_of
from backend.foundation.errors import InvalidInput
from validate.grid import cells
from validate.replication import as_markdown, of_changes, of_judgment, of_shares, votes

HUMAN = Path(__file__).resolve().parents[4] / "shared" / "data" / "human-realism"


def rows_of(wrong, model="m", who="e", stimulus=lambda j: f"s{j}", **more):
    """Return rows of a table of wrong answers to fakes, (evaluators, images)."""
    return [
        {
            "model": model, "evaluator": f"{who}{i}", "truth": "fake",
            "response": "real" if is_wrong else "fake", "stimulus": stimulus(j), **more,
        }
        for i, line in enumerate(wrong)
        for j, is_wrong in enumerate(line)
    ]  # fmt: skip


def run(name, rows, method="infinity", **more):
    return Run(name, answers_of(rows, method), **more)


def tables(seed=2, people=(7, 9), images=12):
    """Return wrong answers of two runs to the same images, whose difficulty differs a little by run."""
    rng = np.random.default_rng(seed)
    alike = rng.random(images)
    return [rng.random((count, images)) < 0.6 * alike + 0.4 * rng.random(images) for count in people]


def mean_squares(wrong):
    """Return means of images and the mean square of the rest of a two-way layout without replication."""
    table = wrong.astype(float)
    people, images = table.shape
    rest = table - table.mean(0) - table.mean(1)[:, None] + table.mean()
    return table.mean(0), (rest**2).sum() / ((people - 1) * (images - 1))


def pictures_of(one, other):
    found = [
        scores_of("infinity").run_scores(answers_of(rows_of(wrong), "infinity"), 0.95)["m"]
        for wrong in (one, other)
    ]
    return contrast(found, (-1.0, 1.0), 0.95)


def test_where_all_saw_all_it_is_the_interaction_of_analysis_of_variance():
    """In points squared, Var_j(difference of means) - MS rest / people of each run, over the images."""
    one, other = next(pair for pair in map(tables, range(20)) if pictures_of(*pair).pictures.variance > 0)
    (first, rest), (second, other_rest) = map(mean_squares, (one, other))
    interaction = np.var(second - first, ddof=1) - rest / len(one) - other_rest / len(other)

    found = pictures_of(one, other)

    assert found.pictures.variance == pytest.approx(1e4 * interaction / 12, rel=1e-9)


def test_what_pictures_do_alike_in_both_runs_cancels():
    rng = np.random.default_rng(1)
    hard = np.repeat([0.05, 0.95], 10)  # half fool nearly everybody, in both runs
    first, second = (rng.random((20, 20)) < hard for _ in range(2))
    score = scores_of("infinity").run_scores(answers_of(rows_of(first), "infinity"), 0.95)["m"]

    of_score = contrast([score], [1.0], 0.95).pictures.variance

    assert pictures_of(first, second).pictures.variance < 0.02 * of_score


def test_pictures_of_one_run_alone_count_whole():
    one, other = tables(4)
    runs = [
        scores_of("infinity").run_scores(
            answers_of(rows_of(wrong, stimulus=lambda j, name=name: f"{name}{j}"), "infinity"), 0.95
        )["m"]
        for name, wrong in (("a", one), ("b", other))
    ]

    both = contrast(runs, (-1.0, 1.0), 0.95).pictures.variance

    assert both == pytest.approx(sum(contrast([each], [1.0], 0.95).pictures.variance for each in runs))


def test_without_names_of_stimuli_it_is_welchs_test():
    rng = np.random.default_rng(5)
    one, other = (rng.random((count, 60)) < rng.beta(2, 3, (count, 1)) for count in (12, 25))

    (row,) = replication(
        [run(name, rows_of(wrong, stimulus=lambda j: "")) for name, wrong in (("a", one), ("b", other))]
    )["differences"]

    theirs = stats.ttest_ind(100 * other.mean(1), 100 * one.mean(1), equal_var=False)
    assert (row["t"], row["df"]) == pytest.approx((theirs.statistic, theirs.df))
    assert row["of"] == "evaluators"
    assert (row["shared"], row["stimuli"]) == (None, None)


def test_the_trend_of_three_runs_is_the_slope_of_a_line_times_its_length():
    scores = [
        rng.random((8, 30)) < share
        for rng, share in zip(map(np.random.default_rng, range(3)), (0.2, 0.5, 0.4), strict=True)
    ]
    found = replication([run(name, rows_of(wrong)) for name, wrong in zip("abc", scores, strict=True)])

    slope = np.polyfit([0, 1, 2], [100 * wrong.mean() for wrong in scores], 1)[0]
    assert found["trend"][0]["change"] == pytest.approx(2 * slope)
    assert [(row["a"], row["b"]) for row in found["differences"]] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_verdicts_say_changed_equivalent_or_not_decided():
    rng = np.random.default_rng(8)

    def verdict(first, second, people, margin):
        wrong = [rng.random((people, 100)) < share for share in (first, second)]
        runs = [run(name, rows_of(table)) for name, table in zip("ab", wrong, strict=True)]
        return replication(runs, margin=margin)["differences"][0]["verdict"]

    assert verdict(0.2, 0.5, 20, 5) == "changed"
    assert verdict(0.3, 0.3, 60, 8) == "equivalent"
    assert verdict(0.3, 0.35, 4, 5) == "undecided"
    assert verdict(0.3, 0.37, 60, 20) == "changed_within_margin"


def test_scores_in_ms_are_tested_for_equivalence_within_a_margin_only_if_one_is_given():
    rng = np.random.default_rng(3)
    rows = [
        [
            {"model": "m", "evaluator": f"{name}{i}", "truth": ("real", "fake")[t % 2], "stimulus": f"s{t}",
             "response": "fake", "block": 0, "trial_index": t, "exposure_ms": 100 + int(rng.integers(400))}
            for i in range(6) for t in range(30)
        ]
        for name in "ab"
    ]  # fmt: skip
    runs = [run(name, own, "time") for name, own in zip("ab", rows, strict=True)]

    without, with_one = replication(runs), replication(runs, margin=2000.0)

    assert without["unit"] == "ms"
    assert without["differences"][0]["equivalence"]["p_holm"] is None
    assert without["differences"][0]["equivalence"]["equivalent_within"] > 0
    assert with_one["differences"][0]["verdict"] in ("equivalent", "changed_within_margin")


def bad_runs():
    one, other = tables()
    a, b = rows_of(one), rows_of(other, who="o")
    yield [run("a", a)], "two runs or more are compared, and there is only a"
    yield [run("a", a), run("a", b)], "a is named twice"
    yield (
        [run("a", a), run("b", rows_of(other, model="n"))],
        "no model was judged in two of these runs: a has m; b has n",
    )
    yield (
        [run("a", a), run("b", rows_of(other, stimulus=lambda j: f"t{j}"))],
        "a and b have no stimulus in common",
    )
    same = rows_of(one, session="s1")
    yield [run("a", same), run("b", same)], "a and b have 1 sessions in common, such as s1"
    nobody = replace(run("b", b), answers=answers_of(b, "infinity"))
    empty = replace(
        nobody.answers,
        model=replace(nobody.answers.model, codes=np.zeros(0, np.int32)),
        is_fake=np.zeros(0, bool),
    )
    yield [run("a", a), Run("b", empty)], "b has no responses to compare"
    exposed = [{**row, "exposure_ms": 100} for row in b]
    yield [run("a", a), run("b", exposed, "exposures")], "a of HYPE-infinity and b of"


@pytest.mark.parametrize(("runs", "message"), [*bad_runs()])
def test_what_are_no_runs_of_one_study_is_refused(runs, message):
    with pytest.raises(InvalidInput, match=message):
        replication(runs)


def test_a_margin_in_points_is_below_50():
    one, other = tables()

    with pytest.raises(InvalidInput, match="margin must be between 0 and 50"):
        replication([run("a", rows_of(one)), run("b", rows_of(other))], margin=50)


def test_a_model_that_one_run_lacks_is_told_and_the_others_are_compared():
    one, other = tables()
    more = rows_of(one, model="n", who="x")

    found = replication([run("a", rows_of(one)), run("b", [*rows_of(other), *more])])

    assert [row["model"] for row in found["differences"]] == ["m"]
    assert "a has no responses on n" in found["notes"]


def test_one_evaluator_is_told_to_be_too_few():
    one, other = tables(people=(1, 9))

    found = replication([run("a", rows_of(one)), run("b", rows_of(other))])

    assert found["differences"] == []
    assert any(
        note.startswith("a: m cannot be tested, which takes two evaluators") for note in found["notes"]
    )


def test_pools_say_that_runs_are_of_one_study_though_nobody_saw_the_same_picture():
    one, other = tables()
    pool = frozenset(f"{name}{j}" for name in "st" for j in range(12))
    runs = [
        run(name, rows_of(wrong, stimulus=lambda j, name=name: f"{name}{j}"), pool=pool)
        for name, wrong in (("s", one), ("t", other))
    ]

    assert replication(runs)["differences"][0]["shared"] == 0


@pytest.mark.slow("simulates a few hundred pairs of runs")
def test_simulated_runs_are_found_changed_or_equivalent_as_seldom_as_promised():
    """At 5%, of 300 studies of ten people about 15 may err: 99.9% of such counts are below 29."""
    rng = np.random.default_rng(1)
    cell = next(cell for cell in cells("infinity") if cell.people == 10 and cell.pool == 100)

    found = of_shares(cell, 300, rng)

    assert max(found["false_change"], found["false_equal"]) < 29 / 300
    assert found["covers"] > 1 - 29 / 300


def test_a_run_of_the_validation_is_tabulated():
    cell = next(cell for cell in cells("infinity") if cell.people == 5)
    row = of_shares(cell, 2, np.random.default_rng(1))
    pairs = of_judgment(next(cells("pair")), 1, np.random.default_rng(1))

    text = as_markdown([(cell, row), (next(cells("pair")), pairs)])

    assert "| infinity, 1 cells | runs are equivalent within as much as scores differ |" in text
    assert text.count("| pair, 1 cells |") == 1


@pytest.mark.parametrize("judgment", ["2AFC", "JND"])
def test_simulated_votes_have_the_share_of_their_cell_and_runs_the_change(judgment):
    rng = np.random.default_rng(1)
    cell = replace(next(cells(judgment)), people=200, pool=None, share=0.3, shape="normal")

    (score,) = scores_of(judgment.lower()).model_rows(votes(cell, rng, 0.0), Options())
    row = of_changes(replace(cell, people=20), 40, rng)

    assert score["score"] == pytest.approx(30, abs=2)
    assert row["change"] == pytest.approx(5, abs=2.5)
    assert row["covers"] > 0.8 > row["false_equal"]


@pytest.mark.skipif(not HUMAN.exists(), reason="the data are not here")
def test_random_halves_of_published_answers_agree():
    """555 people on 22 models, split in two at random ten times: of 220 tests each at 5% few err."""
    rng, false, tested = np.random.default_rng(1), 0, 0
    by_model: dict[str, list[float]] = {}
    for path in sorted(HUMAN.glob("*.csv")):
        for person in csv.DictReader(path.read_text().splitlines()):
            by_model.setdefault(person["model"], []).append(100 * float(person["err_rt"]))
    for _ in range(10):
        for numbers in by_model.values():
            order = rng.permutation(numbers)
            halves = [RunScore(mean_of(order[half::2])) for half in (0, 1)]
            tested, false = tested + 1, false + (contrast(halves, (-1.0, 1.0), 0.95).p() < 0.05)

    assert tested == 220
    assert false / tested < 0.1
