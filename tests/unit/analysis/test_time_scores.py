"""What stands beside a score of HYPE-time: threshold, bounds, warnings, and what they say in a terminal."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import openhype
from backend.analysis.time_scores import for_skewed
from backend.responses.readers import read_answers, write_responses
from backend.scoring import score, score_answers
from validate.studies import InfinityPopulation, TimePopulation

from .. import answered, texts


def rows_of(thresholds, **columns):
    return [{**row, **columns} for row in answered.time(thresholds, evaluators=6)]


@pytest.fixture(scope="module")
def scores():
    return score(rows_of({"far": 2500, "mid": 400, "near": 30}), "time")


def test_every_score_has_its_threshold_and_its_blocks(scores):
    far, mid, near = scores["models"]

    assert [row["model"] for row in scores["models"]] == ["far", "mid", "near"]
    assert (near["threshold"]["censored"], near["threshold"]["ms"]) == ("floor", 100)
    assert (far["threshold"]["censored"], far["threshold"]["ms"]) == ("ceiling", 1000)
    assert mid["threshold"]["censored"] is None
    assert mid["threshold"]["ci"][0] < mid["threshold"]["ms"] < mid["threshold"]["ci"][1]
    assert near["blocks"]["at_floor"] > 0.9
    assert near["blocks"]["guessing_ms"] == pytest.approx(753, abs=10)
    assert near["interval"]["ci"][0] == 100 < near["interval"]["ci"][1] < 120
    json.dumps(scores, allow_nan=False)


def test_bounds_are_warned_of(scores):
    text = " ".join(scores["warnings"])

    assert "of the blocks of near are at the shortest exposure, 100 ms" in text
    assert "of the blocks of far reached the longest exposure, 1000 ms" in text
    assert re.search(r"someone who guesses scores about 7[456]\d ms", text)
    assert "of mid" not in text


def test_the_terminal_prints_the_interval_first_and_names_the_papers():
    text = texts.of_rows(rows_of({"far": 2500, "mid": 400, "near": 30}), "time")

    _, _, _, head, far, _, near, *rest = text.splitlines()
    assert head.index("95% interval") < head.index("percentile (paper)") < head.index("fitted threshold")
    assert " ≥ 1000 " in far
    assert " ≤ 100 " in near
    assert any("the typical evaluator is right in 63% of answers" in line for line in rest)


def test_one_evaluator_has_a_threshold_and_no_interval():
    (row,) = score(answered.time({"m": 300}, evaluators=1), "time")["models"]

    assert row["interval"] is None
    assert row["threshold"]["ci"] is None
    assert 100 < row["threshold"]["ms"] < 1000


def test_exposures_that_follow_no_rule_have_a_threshold_at_75_percent():
    rng = np.random.default_rng(1)
    rows = [{**row, "exposure_ms": float(rng.integers(20, 900))} for row in answered.time({"m": 250}, 4, 1)]

    (row,) = score(rows, "time")["models"]

    assert (row["threshold"]["at"], row["blocks"]["guessing_ms"]) == (0.75, None)
    assert row["interval"]["ci"][0] <= row["score"] <= row["interval"]["ci"][1]


def test_displays_of_several_rates_are_told_where_exposures_moved_in_refreshes():
    def on(frame_ms, evaluator):
        rows = answered.time({"m": 250}, evaluators=1)
        mine = {"evaluator": evaluator, "frame_ms": frame_ms}
        return [{**row, **mine, "exposure_ms": round(row["exposure_ms"] / 10) * frame_ms} for row in rows]

    mixed = score(on(16.667, "a") + on(6.944, "b"), "time")["warnings"]
    alike = score(on(16.667, "a") + on(16.667, "b"), "time")["warnings"]

    assert any("whole refreshes of displays from 60 to 144 Hz" in text for text in mixed)
    assert not any("refreshes" in text for text in alike)


@pytest.mark.slow("simulates many studies")
def test_steps_in_ms_are_scored_together_on_any_display():
    rows = [
        {**row, "frame_ms": (16.667, 6.944)[i % 2]}
        for i, row in enumerate(answered.time({"m": 250}, evaluators=3))
    ]

    assert not any("refresh" in text for text in score(rows, "time")["warnings"])
    low = [{**row, "exposure_ms": row["exposure_ms"] / 10} for row in rows]
    assert any("shown as one refresh" in text for text in score(low, "time")["warnings"])


def test_scores_on_shown_exposures_know_the_rule_that_asked_for_others():
    rows = rows_of({"m": 250}, frame_ms=16.667)
    for row in rows:
        row["frames"] = max(1, round(row["exposure_ms"] / 16.667))

    (row,) = openhype.score(rows, exposures="shown")["models"]

    assert row["threshold"]["at"] == pytest.approx(0.63, abs=0.001)
    assert (row["threshold"]["floor_ms"], row["threshold"]["ceiling_ms"]) == (100, 1000)


@pytest.mark.parametrize("quote", ["", '"a ""b"""'])
def test_a_file_is_scored_over_its_pictures_without_asking_for_details(tmp_path, quote):
    """A quoted cell sends the file to the careful reader."""
    rows = answered.infinity({"m": 0.4}, evaluators=5, images=40)
    path = tmp_path / "responses.csv"
    with path.open("w", newline="") as file:
        write_responses(({**row, "study": quote} for row in rows), file)

    answers = read_answers(path)

    (row,) = score_answers(answers)["models"]
    (same,) = openhype.score(rows)["models"]
    assert row["interval"] == same["interval"]
    assert row["interval"]["of"] == "evaluators and pictures"


def test_without_pictures_the_terminal_says_that_people_alone_count():
    answers = InfinityPopulation(0.3, pool=30).study(6, np.random.default_rng(1))
    nameless = replace(answers, texts={})

    assert "may move with other people and pictures of the same kind" in texts.of_scores(answers)
    assert "The responses do not name their pictures, so that only people are" in texts.of_scores(nameless)


def test_pictures_that_are_shared_widen_the_interval_of_times():
    population = TimePopulation(250, pictures=0.8, pool=30, trials=60, blocks=1)
    answers = population.study(30, np.random.default_rng(2))

    (row,) = score_answers(answers)["models"]
    (alone,) = score_answers(replace(answers, texts={}))["models"]

    assert row["interval"]["share_of_pictures"] > 0.02
    wide, narrow = (one["interval"]["ci"][1] - one["interval"]["ci"][0] for one in (row, alone))
    assert wide > narrow


SKEWED = [
    TimePopulation(60, 0.1, shape="two groups"),
    TimePopulation(110, 0.6, shape="skewed"),
    TimePopulation(300, 0.6, shape="skewed"),
]


@pytest.mark.slow("simulates many studies")
@pytest.mark.parametrize("population", SKEWED, ids=lambda one: f"{one.shape} at {one.threshold_ms}")
def test_some_slow_people_among_quick_ones_are_covered(population):
    """120 studies of 30 people (SE 2%); an interval of normal thresholds alone covers 73 to 81%."""
    truth, rng, held = population.truth(), np.random.default_rng(4), 0

    for answers in population.studies(120, 30, rng):
        low, high = score_answers(answers)["models"][0]["interval"]["ci"]
        held += low <= truth <= high

    assert held / 120 > 0.89


@given(st.lists(st.floats(100, 1000), min_size=2, max_size=60), st.floats(0.1, 400))
def test_an_interval_is_only_extended_for_skewness_and_to_the_longer_tail(values, half):
    values = np.array(values)
    mean = values.mean()

    low, high = for_skewed(values, mean - half, mean + half)

    assert low <= mean - half
    assert high >= mean + half
    skewness = ((values - mean) ** 3).mean()
    if abs(skewness) > 1:  # of an interval that is extended to neither side, ends differ by rounding alone
        shorter, longer = (mean - low, high - mean)[:: 1 if skewness > 0 else -1]
        assert shorter == pytest.approx(half)
        assert longer >= shorter or longer == pytest.approx(half)


def test_an_interval_far_wider_than_the_values_is_not_extended():
    # bend = -1.1547 / 2 / 2 / 2: beyond 9 / 0.2887 standard errors the cube root is the nearer end
    low, high = for_skewed(np.array([951, 951, 951, 948.5]), 950.375 - 300, 950.375 + 300)

    assert (low, high) == pytest.approx((650.375, 1250.375))


def test_an_interval_ends_where_the_staircase_does():
    rows = [
        {**row, "evaluator": name}
        for name, ms in (("quick", 250), ("slow", 450))
        for row in answered.time({"m": ms}, evaluators=1)
    ]

    interval = score(rows, "time")["models"][0]["interval"]

    assert interval["method"] == "student"
    assert interval["ci"] == [100, 1000]
