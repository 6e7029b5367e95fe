"""Constant stimuli: what simulated evaluators do is recovered, and told in words that hold."""

import math

import numpy as np
import pytest

from backend.analysis.constant_stimuli import function_of
from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.response_table import Answers, Coded
from backend.experiment.observer import PsychometricObserver
from backend.foundation.errors import InvalidInput
from backend.report.constant_stimuli import apart
from backend.scoring import score, score_answers

from .. import texts

EXPOSURES = (50.0, 100.0, 250.0, 1000.0, math.inf)
TRUE = {"gan": PsychometricObserver(300, slope=2, lapse=0.1), "vae": PsychometricObserver(90, slope=3)}


def simulated(rng, models=TRUE, evaluators=30, each=20, exposures=EXPOSURES, between=False, sd=0.25):
    """Return answers of evaluators whose log thresholds vary with `sd`, half of the pictures fake.

    Args:
        each: pictures at each exposure.
        between: whether each evaluator sees one exposure, of which `each` times as many pictures.
    """
    columns = {name: [] for name in ("model", "evaluator", "ms", "fake", "right")}
    person = 0
    for code, observer in enumerate(models.values()):
        for i in range(evaluators):
            own = np.array([exposures[i % len(exposures)]] if between else exposures)
            ms = np.repeat(own, each * len(exposures) // len(own))
            scale = math.exp(rng.normal(0, sd))
            p = [observer.accuracy(None if x == math.inf else x / scale) for x in ms]
            columns["ms"].append(ms)
            columns["fake"].append(np.arange(len(ms)) % 2 == 0)
            columns["right"].append(rng.random(len(ms)) < p)
            columns["model"].append(np.full(len(ms), code))
            columns["evaluator"].append(np.full(len(ms), person))
            person += 1
    found = {name: np.concatenate(parts) for name, parts in columns.items()}
    return Answers(
        "exposures",
        Coded(found["model"].astype(np.int32), list(models)),
        Coded(found["evaluator"].astype(np.int32), [f"e{i}" for i in range(person)]),
        found["fake"],
        found["fake"] == found["right"],
        exposure_ms=found["ms"],
    )


def mean_accuracy(observer, ms, sd=0.25):
    """Return the accuracy (percent) over a population of evaluators."""
    scales = np.exp(np.random.default_rng(1).normal(0, sd, 20000))
    if ms == math.inf:
        return 100 * observer.accuracy(None)
    return 100 * float(np.mean([observer.accuracy(ms / scale) for scale in scales[:2000]]))


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_intervals_of_accuracy_cover_the_population(between):
    truth = {ms: mean_accuracy(TRUE["gan"], ms) for ms in EXPOSURES}
    rng, inside, total = np.random.default_rng(3), 0, 0

    for _ in range(60):
        answers = simulated(rng, {"gan": TRUE["gan"]}, evaluators=40, between=between)
        for row in score_answers(answers)["models"][0]["by_exposure"]:
            ms = math.inf if row["exposure_ms"] is None else row["exposure_ms"]
            inside += row["ci"][0] <= truth[ms] <= row["ci"][1]
            total += 1

    # 300 intervals of 95%: within 4 standard deviations (1.3% each) below, all of them above
    assert inside / total > 0.95 - 4 * 0.0126


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_thresholds_are_recovered_and_their_intervals_cover():
    # the function with a lapse of .1 reaches .75 at 300 ms times (5/3)**(1/2)
    truth, rng = 300 * (0.25 / 0.15) ** 0.5, np.random.default_rng(4)
    inside, logs = 0, []

    for _ in range(60):
        answers = simulated(rng, {"gan": TRUE["gan"]}, exposures=(50, 100, 200, 400, 800, 1600), sd=0)
        fit = function_of(answers, 0, 0.95, 0.75)
        inside += fit["ci"][0] <= truth <= fit["ci"][1]
        logs.append(math.log(fit["threshold_ms"] / truth))

    assert abs(np.mean(logs)) < 0.03
    assert inside / 60 > 0.95 - 4 * 0.028  # binomial, 60 intervals


def test_each_exposure_of_each_model_is_scored_as_if_it_were_alone():
    answers = simulated(np.random.default_rng(1))
    found = score_answers(answers)

    assert [row["model"] for row in found["models"]] == ["gan", "vae"]
    for row in found["models"]:
        code = answers.model.names.index(row["model"])
        assert [one["exposure_ms"] for one in row["by_exposure"]] == [50, 100, 250, 1000, None]
        for one in row["by_exposure"]:
            ms = math.inf if one["exposure_ms"] is None else one["exposure_ms"]
            mine = (answers.model.codes == code) & (answers.exposure_ms == ms)
            assert one["accuracy"] == pytest.approx(100 * (1 - answers.error[mine].mean()))
            fakes = mine & answers.is_fake
            assert one["fakes_error"] == pytest.approx(100 * answers.error[fakes].mean())
            assert one["responses"] == 600
        assert row["score"] == pytest.approx(100 - np.mean([one["accuracy"] for one in row["by_exposure"]]))
        low, high = row["threshold"]["ci"]
        assert low <= {"gan": 387, "vae": 90}[row["model"]] <= high
    assert [one["exposure_ms"] for one in found["exposures"]] == [50, 100, 250, 1000, None]
    assert found["exposures"][2]["pairs"][0]["p"] < 1e-6  # 250 ms: 67% of gan's and 98% of vae's are right


@pytest.mark.parametrize(("between", "method", "df"), [(False, "paired", 4), (True, "tukey", 4)])
def test_exposures_are_compared_within_evaluators_or_between_them(between, method, df):
    row = score_answers(simulated(np.random.default_rng(1), between=between))["models"][0]

    tests = row["between_exposures"]
    assert tests["pairs_method"] == method
    assert tests["anova"]["df"][0] == pytest.approx(df, rel=0.5)
    pair = next(pair for pair in tests["pairs"] if {pair["a"], pair["b"]} == {"50", "unlimited"})
    means = {one["exposure_ms"]: one["accuracy"] for one in row["by_exposure"]}
    sign = 1 if pair["a"] == "50" else -1
    assert pair["difference"] == pytest.approx(sign * (means[None] - means[50]))


def test_where_a_model_is_told_from_real_is_said():
    def observers(low, high):
        return {"gan": PsychometricObserver(low, slope=8, lapse=high)}

    def said(models, **options):
        return apart(score_answers(simulated(np.random.default_rng(2), models, sd=0, **options))["models"][0])

    assert said(observers(20, 0)).startswith("told from real at every exposure; 75% right at or below 50 ms")
    assert said(observers(1e6, 0.5)) == "not told from real at any exposure; 75% right at or above 1000 ms"
    assert said(observers(240, 0)).startswith(
        "not told from real up to 100 ms; told from 250 ms; 75% right at "
    )
    assert said(observers(50, 0), exposures=(50.0, math.inf)).endswith("exposure")  # two: no function
    assert said(observers(50, 0), evaluators=1).startswith("one evaluator does not show how people differ")


def test_a_model_that_passes_for_real_more_than_reals_is_not_told_apart():
    answers = simulated(np.random.default_rng(2), {"gan": PsychometricObserver(1, slope=8, lapse=0.7)}, sd=0)
    row = score_answers(answers)["models"][0]

    assert all(one["ci"][1] < 50 and one["told_apart"] is False for one in row["by_exposure"])
    assert row["told_from"] is None


ROW = {"model": "gan", "evaluator": "e", "truth": "real", "response": "real"}


@pytest.mark.parametrize("cell", [None, "", "unlimited", float("nan"), " unlimited "])
def test_an_exposure_without_limit_may_be_empty_or_named(cell):
    answers = answers_of([{**ROW, "exposure_ms": cell}, {**ROW, "exposure_ms": "50"}], "exposures")

    assert answers.exposure_ms.tolist() == [math.inf, 50]


@pytest.mark.parametrize("cell", [0, -5, "0", "abc", "inf", math.inf, "nan", "1e400", True])
def test_other_exposures_are_refused(cell):
    with pytest.raises(InvalidInput, match="row 1: exposure_ms must be a number above 0, or empty"):
        score([{**ROW, "exposure_ms": cell if cell is not True else "True"}], "exposures")


def test_the_table_of_a_terminal_has_every_exposure():
    text = texts.of_scores(simulated(np.random.default_rng(1)))

    assert "Constant stimuli" in text
    assert sum(" unlimited " in line for line in text.splitlines()) == 2
    assert "gan: not told from real" in text or "gan: told from" in text
