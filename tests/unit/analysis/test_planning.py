"""Plans: what an aim needs, by hand, by statsmodels, and by simulated studies that are scored."""

import json
import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, ndtr, ndtri

import openhype
from backend.analysis.distributions.inference import Component, Share, mean_of
from backend.analysis.planned_spreads import spreads_of, without_pilot
from backend.analysis.planning import plan as planning
from backend.analysis.planning.power import at_score, critical, evaluators_for, other_score, power, width
from backend.analysis.planning.spread import Spread
from backend.analysis.planning.tournament_spreads import as_answered, assumed
from backend.analysis.table.response_rows import answers_of
from backend.cli import main
from backend.experiment.judgments.real_or_fake import INFINITY, TIME
from backend.foundation.errors import InvalidInput
from backend.responses.export import export
from backend.scoring import score_answers
from validate.plans import CELLS, outcome

from .. import sample_studies as studies

PUBLISHED = {spread.model.removesuffix(" CelebA-64"): spread for spread in without_pilot(INFINITY)}
KNOWN = 1e9
"""Degrees of freedom of a variance that is known."""


def known(share, between, images, pictures=math.inf, picture_sd=0.0):
    """Return the spread of a population that is known: percent, and the pictures' SD in probits."""
    within = share * (100 - share)
    return Spread(
        "gan", share, images, 1 - share / 100, between, within, within / images, between + within / images,
        KNOWN, pictures=(pictures, pictures), of_picture=picture_variance(share, picture_sd),
        of_picture_df=KNOWN,
    )  # fmt: skip


def picture_variance(share, sd):
    """Return the variance between pictures (squared points) whose effects are Normal(0, sd) probits."""
    effects = np.random.default_rng(0).normal(0, sd, 10**6)
    return float((100 * ndtr(ndtri(share / 100) * math.sqrt(1 + sd**2) + effects)).var())


def rows_of(errors, images, model="gan", first=0):
    """Return responses of evaluators who are wrong on so many of their images."""
    return [
        {"model": model, "evaluator": f"{model}{first + i}", "truth": "fake" if k % 2 else "real"}
        | {"response": ("real" if k % 2 else "fake") if k < wrong else ("fake" if k % 2 else "real")}
        for i, (wrong, count) in enumerate(zip(errors, images, strict=True))
        for k in range(count)
    ]


def flashes(exposures_ms, model="gan"):
    """Return a block of three flashes for each evaluator, all at the evaluator's exposure."""
    return [
        {"model": model, "evaluator": f"e{i}", "truth": "fake", "response": "fake", "block": 0}
        | {"trial_index": k, "exposure_ms": ms}
        for i, ms in enumerate(exposures_ms)
        for k in range(3)
    ]


# Widths and power against simulated studies, scored as any study is


def judged(rng, model, people, images, effects):
    """Return a model's responses: evaluators with these shares judge some of the pictures."""
    rows = []
    for place, share in enumerate(people):
        for truth, other in (("fake", "real"), ("real", "fake")):
            mine = effects[truth]
            shown = rng.choice(len(mine), images // 2, replace=False)
            middle = ndtri(share) * math.sqrt(1 + effects["sd"] ** 2)
            wrong = rng.random(len(shown)) < ndtr(middle + mine[shown])
            rows += [
                {"model": model, "evaluator": f"{model}{place}", "truth": truth}
                | {"response": other if is_wrong else truth, "stimulus": f"{truth}/{model}/{k}"}
                for k, is_wrong in zip(shown.tolist(), wrong.tolist(), strict=True)
            ]
    return rows


def simulated(seed, spread, difference, evaluators, images, picture_sd, times):
    """Return the widths of the printed intervals, and how often the printed test finds the difference."""
    rng, widths, found = np.random.default_rng(seed), [], []
    other = at_score(spread, other_score(spread, difference))
    for _ in range(times):
        reals = rng.normal(0, picture_sd, int(spread.pictures[0]))
        rows = []
        for model, one in (("gan", spread), ("vae", other)):
            share, variance = one.score / 100, max(one.between, 1e-3) / 1e4
            size = share * (1 - share) / variance - 1
            people = np.clip(rng.beta(share * size, (1 - share) * size, evaluators), 1e-9, 1 - 1e-9)
            fakes = rng.normal(0, picture_sd, int(spread.pictures[1]))
            mine = judged(rng, model, people, images, {"fake": fakes, "real": reals, "sd": picture_sd})
            rows += [row | {"stimulus": row["stimulus"].replace(f"real/{model}", "real")} for row in mine]
        scores = score_answers(answers_of(rows, "infinity"), seed=1, iterations=100)
        low, high = next(one for one in scores["models"] if one["model"] == "gan")["interval"]["ci"]
        widths.append(high - low)
        found.append(scores["over_pictures"]["pairs"][0]["p"] < 0.05)
    return np.array(widths), float(np.mean(found))


@pytest.mark.parametrize(
    ("share", "between", "evaluators", "images", "pictures", "picture_sd", "difference", "times"),
    [
        (30, 60, 20, 50, 40, 0.6, 10, 60),
        *(
            pytest.param(*cell, marks=pytest.mark.slow("scores hundreds of simulated studies"))
            for cell in [
                (10, 62, 30, 100, 2000, 0.35, 6, 40),
                (50, 1, 12, 20, 100, 0.6, 15, 100),
                (50, 20, 8, 40, 20, 0.35, 16, 100),
                (30, 100, 40, 60, 60, 0.8, 9, 40),
                (5, 10, 15, 60, 300, 0.35, 5, 60),
            ]
        ),
    ],
)
def test_simulated_studies_have_the_planned_widths_and_power(
    share, between, evaluators, images, pictures, picture_sd, difference, times
):
    spread = known(share, between, images, pictures, picture_sd)

    widths, found = simulated(1, spread, difference, evaluators, images, picture_sd, times)

    error = 2.5 / math.sqrt(times) / 2
    assert found == pytest.approx(power(spread, difference, evaluators, images, 0.95), abs=0.03 + error)
    for assurance in (0.5, 0.8):
        planned = width(spread, evaluators, images, 0.95, assurance)
        # within 5% of the simulated width, by the share of intervals that are narrower
        assert (widths <= 1.05 * planned).mean() >= assurance - error
        assert (widths <= 0.95 * planned).mean() <= assurance + error


@given(st.floats(2, 60), st.floats(0, 300), st.integers(10, 200), st.integers(2, 400), st.floats(0.8, 0.99))
def test_a_width_is_that_of_the_printed_interval_if_nothing_is_left_to_chance(
    share, between, images, evaluators, level
):
    """With very many evaluators, what a study finds is what is true."""
    spread = replace(known(share, between, images), score=share)
    evaluators *= 1000

    found = width(spread, evaluators, images, level, 0.5)

    variance = (between + spread.within / images) / 1e4
    # Phi(z + e) = Phi(z) + phi(z) (e - z e^2 / 2): of an e of variance v, cumulants v phi^2, -3 z v^2 phi^3
    p, z = share / 100, float(ndtri(share / 100))
    third = -3 * z * (between / 1e4) ** 2 / stats.norm.pdf(z) + p * (1 - p) * (1 - 2 * p) / images**2
    people = Component(variance / evaluators, evaluators - 1.0, third / evaluators**2)
    low, high = Share(p, people, answers=evaluators * images).interval(level)
    assert found == pytest.approx(100 * (high - low), rel=0.02)


@pytest.mark.parametrize(("evaluators", "difference"), [(10, 10), (30, 5), (64, 5), (20, 8), (150, 2.5)])
def test_the_power_of_models_that_spread_alike_is_that_of_a_t_test(evaluators, difference):
    # 50 less half the difference, and 50 more: both have the same p (1 - p)
    spread = known(50 - difference / 2, 40, 100)
    sd = math.sqrt(spread.observed)

    df, shift = 2 * (evaluators - 1), difference / sd * math.sqrt(evaluators / 2)
    bar = stats.t.isf(0.025, df)
    theirs = stats.nct.sf(bar, df, shift) + stats.nct.cdf(-bar, df, shift)
    assert power(spread, difference, evaluators, 100, 0.95) == pytest.approx(theirs, abs=0.02)


@pytest.mark.parametrize(("level", "models"), [(0.95, 2), (0.99, 2), (0.95, 3), (0.9, 8)])
def test_critical_values_are_those_of_the_studentized_range(level, models):
    df = np.array([1.5, 2, 5, 11.3, 60, 1000])

    theirs = stats.studentized_range.ppf(level, models, df) / math.sqrt(2)
    assert critical(level, models, df) == pytest.approx(theirs, rel=2e-3)


@given(st.integers(2, 10**6), st.integers(2, 3000))
def test_the_fewest_evaluators_that_suffice_are_found_from_anywhere(fewest, start):
    assert evaluators_for(lambda count: count >= fewest, start) == fewest


def test_where_no_number_of_evaluators_suffices_there_is_none():
    assert evaluators_for(lambda count: False) is None


@given(st.sampled_from([*PUBLISHED]), st.floats(2, 20), st.floats(0.5, 0.95))
def test_the_planned_number_is_the_fewest_with_the_width(model, wanted, assurance):
    spread, aim = PUBLISHED[model], planning.Aim(wanted, assurance)

    (row,) = planning.plan([spread], "infinity", aim, planning.panel_costs("infinity"), most_images=4)["rows"]

    count = row["evaluators"]
    assert width(spread, count, 100, 0.95, assurance) <= wanted
    assert count == 2 or width(spread, count - 1, 100, 0.95, assurance) > wanted


@given(st.floats(2, 12), st.floats(0.5, 0.9), st.sampled_from([*PUBLISHED]))
def test_more_power_a_smaller_difference_or_more_models_need_no_fewer_evaluators(difference, wanted, model):
    def count(difference, wanted, models=2):
        spread = PUBLISHED[model]
        return evaluators_for(lambda n: power(spread, difference, n, 100, 0.95, models) >= wanted)

    base = count(difference, wanted)
    assert count(difference, wanted + 0.04) >= base
    assert count(difference * 0.9, wanted) >= base
    assert count(difference, wanted, 4) >= base


def test_the_other_model_has_the_score_at_which_evaluators_vary_more():
    assert other_score(known(30, 50, 100), 10) == 40
    assert other_score(known(60, 50, 100), 15) == 45
    assert other_score(known(3, 1, 100), 90) == 93
    assert other_score(known(45, 50, 100), 60) is None
    time = without_pilot(TIME)[0]
    assert other_score(time, 100) == pytest.approx(539.4)
    assert other_score(time, 700) is None


def test_variances_of_another_score_are_those_of_effects_in_probits():
    spread = known(10, 60, 100)
    other = at_score(spread, 40)

    assert other.within == pytest.approx(2400)
    assert other.between == pytest.approx(60 * (stats.norm.pdf(ndtri(0.4)) / stats.norm.pdf(ndtri(0.1))) ** 2)
    assert other.observed == pytest.approx(other.between + spread.sampled * 2400 / 900)
    time = without_pilot(TIME)[0]
    assert at_score(time, 2 * time.score).observed == pytest.approx(4 * time.observed)


# Pilots


def test_a_pilot_of_five_at_half_of_a_hundred_plans_its_own_kind_of_interval():
    """Evaluators who do not differ at all are no proof that evaluators do not differ."""
    rows = rows_of([50] * 5, [100] * 5)

    found = openhype.plan(rows, width=5)["rows"][0]

    low, high = openhype.score(rows)["models"][0]["interval"]["ci"]
    assert high - low > 8
    # independent answers alone: 4 * 1.96^2 * 25 * 100 / 5^2 / 100
    assert found["evaluators"] > 4 * 1.96**2 * 2500 / 25 / 100


@pytest.mark.slow("simulates pilots and the studies that are planned from them")
@pytest.mark.parametrize("people", [5, 8, 20])
def test_plans_from_pilots_reach_the_width_as_often_as_they_promise(people):
    rng, reached = np.random.default_rng(people), []
    for _ in range(120):
        (spread,) = spreads_of(
            answers_of(rows_of(rng.binomial(50, rng.beta(6, 14, people)), [50] * people), "infinity")
        )
        count = evaluators_for(lambda n, spread=spread: width(spread, n, 50, 0.95, 0.8) <= 10)
        values = rng.binomial(50, rng.beta(6, 14, count)) / 50
        mean = mean_of(values)
        low, high = Share(mean.value, mean.people, answers=50 * count).interval(0.95)
        reached.append(high - low <= 0.1)

    assert np.mean(reached) == pytest.approx(0.8, abs=0.03 + 2.5 * math.sqrt(0.16 / 120))


def shared_pilot(pictures, people=20, picture_sd=0.8):
    rng = np.random.default_rng(3)
    effects = {side: rng.normal(0, picture_sd, pictures) for side in ("fake", "real")}
    return judged(rng, "gan", np.full(people, 0.4), 2 * pictures, {**effects, "sd": picture_sd})


def test_where_shared_pictures_leave_the_interval_too_wide_no_number_of_evaluators_helps():
    made = openhype.plan(shared_pilot(30), width=5)
    row = made["rows"][0]

    assert row["pictures"] == pytest.approx(30)
    assert (row["evaluators"], row["usd"], row["best"]) == (None, None, None)
    assert "the shared pictures alone make the interval" in row["why_none"]
    more = openhype.plan(shared_pilot(30), width=5, pictures=2000)["rows"][0]
    assert more["evaluators"] is not None


@pytest.mark.parametrize("picture_sd", [0.8, 0.35])
def test_a_pilots_pictures_differ_as_they_did(picture_sd):
    spread = spreads_of(answers_of(shared_pilot(200, 40, picture_sd), "infinity"))[0]

    expected = math.sqrt(picture_variance(40, picture_sd))
    assert math.sqrt(spread.of_picture) == pytest.approx(expected, rel=0.12)
    assert 60 < spread.of_picture_df < 410


def test_a_pilot_without_shared_pictures_has_those_that_are_assumed():
    spread = spreads_of(answers_of(rows_of([30, 40, 35], [100] * 3), "infinity"))[0]

    assert spread.of_picture == pytest.approx(picture_variance(35, 0.35), rel=0.01)
    assert spread.of_picture_df == 10


def votes(method, people=12, items=40, share=0.3):
    """Return responses of pairs, 2AFC or JND that count with this share."""
    rng, rows = np.random.default_rng(4), []
    for person in range(people):
        for item in range(items):
            counts = rng.random() < share + rng.normal(0, 0.05)
            place = {"left": "real", "right": "fake"} if method == "pair" else {"left": "p0", "right": "p1"}
            answer = {"jnd": ("different", "same")}.get(method, ("left", "right"))[int(counts)]
            stimulus = f"real/{item} gan/{item}" if method == "pair" else f"{item}"
            rows.append(
                {"model": "gan", "evaluator": f"e{person}", "truth": "left" if method == "pair" else ""}
                | {"response": answer, "stimulus": stimulus, "item": f"{item}", **place, "method": method}
            )
    return rows


@pytest.mark.parametrize("method", ["pair", "2afc", "jnd"])
def test_other_shares_are_planned_from_a_pilot(method):
    rows = votes(method)

    plan = openhype.plan(rows, width=12)

    row, score = plan["rows"][0], openhype.score(rows)["models"][0]
    assert (plan["method"], plan["unit"]) == (method, "percent")
    assert row["score"] == pytest.approx(score["score"])
    low, high = score["interval"]["ci"]
    # the pilot's own interval has about the width that is planned for as many people
    (own,) = [width(one, 12, 40, 0.95, 0.5) for one in spreads_of(answers_of(rows, method))]
    assert own == pytest.approx(high - low, rel=0.25)


def test_items_of_a_set_are_its_own_so_that_they_count_in_a_difference():
    (spread,) = spreads_of(answers_of(votes("jnd"), "jnd"))

    assert spread.weights == (0, pytest.approx(1))
    assert spread.pictures == (math.inf, pytest.approx(40))
    # many evaluators: the items of both sets are left, and find 5 points less often than those of 4,000 would
    few, many = (power(spread.with_pictures(count), 5, 5000, 40, 0.95) for count in (40, 4000))
    assert few < 0.9 < many


def test_evaluators_of_all_sets_are_counted_once():
    rows = votes("jnd") + [
        row | {"model": "vae", "item": f"v{row['item']}", "stimulus": f"v{row['stimulus']}"}
        for row in votes("jnd", share=0.5)
    ]

    plan = openhype.plan(rows, width=12, most_images=4)

    assert [(row["images"], row["people"]) for row in plan["rows"]] == [
        (80, row["evaluators"]) for row in plan["rows"]
    ]


def test_a_difference_is_not_planned_where_there_is_no_test():
    with pytest.raises(InvalidInput, match="2AFC has no test between sets"):
        openhype.plan(votes("2afc"), difference=5)


# Tournaments, constant stimuli, and sessions of several models


def known_strengths(models, pairs, people=0.0, pictures=math.inf, of_picture=0.0):
    spread = assumed(models, pairs)
    return replace(
        spread, between=people, observed=people + spread.sampled, df=KNOWN, pictures=(math.inf, pictures),
        of_picture=of_picture, of_picture_df=KNOWN,
    )  # fmt: skip


@pytest.mark.parametrize("models", [2, 3, 7])
def test_a_strength_is_as_wide_as_the_information_of_answers_says(models):
    """By hand: N answers to all pairs alike inform of (K - 1) / (2 N / 4) (1 - 1 / K) for each strength."""
    evaluators, pairs = 4000, 30
    answers = evaluators * pairs

    found = width(known_strengths(models, pairs), evaluators, pairs, 0.95, 0.5)

    variance = 2 * (models - 1) / answers * (1 - 1 / models)
    assert found == pytest.approx(2 * stats.norm.isf(0.025) * math.sqrt(variance), rel=0.01)


def test_the_power_of_two_strengths_is_that_of_a_share_of_answers():
    """Of two models, a difference of 0.4 log-odds is a share of 0.5987 that is not one half."""
    evaluators, pairs = 400, 2

    found = power(known_strengths(2, pairs), 0.4, evaluators, pairs, 0.95)

    share = 1 / (1 + math.exp(-0.4))
    shift = 0.4 * math.sqrt(evaluators * pairs * share * (1 - share))
    assert found == pytest.approx(stats.norm.sf(1.96 - shift), abs=0.02)


def test_effects_of_one_side_move_answers_by_less_than_themselves():
    people, pictures = as_answered(0.3, 0.9)
    rng = np.random.default_rng(1)
    own = rng.normal(0, 0.9, 400)
    others = rng.normal(0, math.sqrt(0.9**2 + 2 * 0.3**2), 4000)
    moved = 4 * (expit(own[:, None] + others).mean(axis=1) - 0.5)

    assert pictures == pytest.approx(moved.var() * 0.81 / own.var(), rel=0.08)
    assert as_answered(0.001, 0.002) == pytest.approx((1e-6, 4e-6), rel=1e-3)
    assert people < 0.09


def played(models, evaluators, pairs, seed=3, people_sd=0.3):
    """Return a tournament of equal models, of which evaluators think differently by `people_sd`."""
    rng, rows = np.random.default_rng(seed), []
    names = [f"m{i}" for i in range(models)]
    for person in range(evaluators):
        own = rng.normal(0, people_sd, models)
        for _ in range(pairs):
            a, b = rng.choice(models, 2, replace=False)
            wins = rng.random() < expit(own[a] - own[b])
            shown = f"{names[a]}/{rng.integers(200)} {names[b]}/{rng.integers(200)}"
            rows.append(
                {"model": f"{names[a]}, {names[b]}", "left": names[a], "right": names[b], "truth": ""}
                | {"response": "left" if wins else "right", "method": "tournament"}
                | {"evaluator": f"e{person}", "stimulus": shown}
            )
    return rows


def test_a_tournament_is_planned_from_a_pilot_in_log_odds():
    rows = played(4, 24, 60)

    plan = openhype.plan(rows, width=0.5)

    score = openhype.score(rows)
    assert (plan["method"], plan["unit"], plan["aim"]["models"]) == ("tournament", "log-odds", 4)
    assert {row["model"]: row["score"] for row in plan["rows"]} == {
        row["model"]: pytest.approx(row["score"], abs=1e-6) for row in score["models"]
    }
    spreads = spreads_of(answers_of(rows, "tournament"))
    printed = np.mean([row["ci"][1] - row["ci"][0] for row in score["models"]])
    assert np.mean([width(one, 24, 60, 0.95, 0.5) for one in spreads]) == pytest.approx(printed, rel=0.1)
    assert min(spreads[0].pictures) == pytest.approx(200, rel=0.1)
    # every evaluator judges all models
    assert all(row["people"] == row["evaluators"] for row in plan["rows"])


def test_a_pilot_tells_how_much_evaluators_differ_in_what_they_think_of_a_model():
    (spread, *_) = spreads_of(answers_of(played(5, 150, 100, people_sd=0.8), "tournament"))

    assert spread.between == pytest.approx(as_answered(0.8, 0.0)[0], rel=0.2)
    assert (spread.df, spread.models) == (149 * 4, 5)


def test_more_contestants_or_ties_take_more_evaluators():
    base, more, ties, reals = (
        openhype.plan(method="tournament", difference=0.4, models=models, most_images=4, **options)["rows"][0]
        for models, options in (
            (3, {}), (6, {}), (3, {"ties": True}), (3, {"real_contestant": True}),
        )
    )  # fmt: skip

    assert min(more["evaluators"], ties["evaluators"], reals["evaluators"]) > base["evaluators"]


def at_exposures(seed=2, people=12):
    """Return answers at three exposures, at which a third, a fifth and a tenth are wrong."""
    rng, rows = np.random.default_rng(seed), []
    for person in range(people):
        for k in range(60):
            ms, share = [(50, 1 / 3), (100, 1 / 5), (None, 1 / 10)][k % 3]
            truth, other = ("fake", "real") if k % 2 else ("real", "fake")
            response = other if rng.random() < share else truth
            rows.append(
                {"model": "gan", "evaluator": f"e{person}", "truth": truth, "response": response}
                | {"exposure_ms": ms, "method": "exposures"}
            )
    return rows


def test_constant_stimuli_are_planned_at_all_exposures_and_at_each():
    rows = at_exposures()

    plan = openhype.plan(rows, width=12)

    assert [row["model"] for row in plan["rows"]] == [
        "gan", "gan at 50 ms", "gan at 100 ms", "gan without time limit",
    ]  # fmt: skip
    assert [row["images"] for row in plan["rows"]] == [60] * 4
    score = openhype.score(rows)["models"][0]
    every, *single = spreads_of(answers_of(rows, "exposures"))
    low, high = score["interval"]["ci"]
    assert width(every, 12, 60, 0.95, 0.5) == pytest.approx(high - low, rel=0.15)
    for spread, row in zip(single, score["by_exposure"], strict=True):  # twelve are skewed by chance
        assert width(spread, 12, 60, 0.95, 0.5) == pytest.approx(row["ci"][1] - row["ci"][0], rel=0.25)
    # an answer varies by the mean of p (1 - p) at each exposure
    shares = [100 - row["accuracy"] for row in score["by_exposure"]]
    assert every.within == pytest.approx(np.mean([p * (100 - p) for p in shares]), rel=0.01)
    only = openhype.plan(rows, difference=8)["rows"]
    assert [row["model"] for row in only] == ["gan"]


def test_a_session_of_several_models_has_fewer_answers_to_each():
    """By hand: half of a value is of 50 reals, half of 25 fakes: p (1 - p) (1 / 50 + 1 / 25) / 4."""
    spread = known(30, 40, 100).in_sessions_of(2)

    assert spread.sampling(100) == pytest.approx(2100 / 4 * (1 / 50 + 1 / 25))
    assert spread.sampling(100) == pytest.approx(known(30, 40, 100).sampling(100) * 3 / 2)
    assert spread.most_images == math.inf
    assert spread.with_pictures(40).most_images == 80


def test_the_power_within_evaluators_who_are_lenient_with_all_models_is_that_of_a_paired_t_test():
    alike = replace(known(45, 100, 100), models=2, alike=1.0)

    found = power(alike, 10, 12, 100, 0.95)

    # only the fakes' answers differ: 2 * 2475 / 4 / 25
    sd, df = math.sqrt(2 * 2475 / 4 / 25), 11
    shift, bar = 10 / sd * math.sqrt(12), stats.t.isf(0.025, df)
    assert found == pytest.approx(stats.nct.sf(bar, df, shift), abs=0.03)
    apart = replace(alike, alike=0.0)
    assert power(apart, 10, 12, 100, 0.95) < found
    assert width(apart, 12, 100, 0.95, 0.8) == width(alike, 12, 100, 0.95, 0.8)


def test_sessions_of_several_models_count_for_each():
    row = openhype.plan(difference=8, models=4, models_per_session=2, most_images=4)["rows"][3]

    assert row["people"] == 2 * row["evaluators"]
    assert row["usd"] == pytest.approx(row["people"] * (1 + 2 + 0.02 * 96.2))


def mixed_pilot(people=40):
    """Return sessions of 50 reals and 25 fakes of two models, with a common leniency."""
    rng, rows = np.random.default_rng(6), []
    for person in range(people):
        lenient = rng.normal(0, 0.5)
        for model, count in (("", 50), ("gan", 25), ("vae", 25)):
            truth, other = ("fake", "real") if model else ("real", "fake")
            for _ in range(count):
                wrong = rng.random() < ndtr(-0.5 + lenient)
                rows.append(
                    {"model": model, "evaluator": f"e{person}", "truth": truth}
                    | {"response": other if wrong else truth, "stimulus": f"{len(rows)}"}
                )
    return rows


def test_a_pilot_of_mixed_sessions_tells_what_evaluators_have_in_common():
    rows = mixed_pilot()

    spreads = spreads_of(answers_of(rows, "infinity"))

    assert [(one.models, round(one.images)) for one in spreads] == [(2, 100)] * 2
    assert spreads[0].alike > 0.75
    pair = openhype.score(rows)["models"]
    low, high = next(one for one in pair if one["model"] == "gan")["interval"]["ci"]
    (own,) = (one for one in spreads if one.model == "gan")
    assert width(own, 40, 100, 0.95, 0.5) == pytest.approx(high - low, rel=0.1)
    plan = openhype.plan(rows, difference=5)
    assert any(
        "is alike for all models of a session, as in the pilot" in text for text in plan["assumptions"]
    )


@pytest.mark.slow("scores hundreds of simulated studies")
@pytest.mark.parametrize("place", range(len(CELLS)))
def test_studies_of_other_methods_have_the_planned_widths_and_power(place):
    row = outcome(CELLS[place](), 60, place)

    assert row["width planned"] == pytest.approx(row["width"], rel=0.1)
    assert row["power planned"] == pytest.approx(row["power"], abs=0.03 + 2.5 * max(row["error"], 0.02))


# The parts of the spread, and the best number of images


def test_the_published_sds_give_the_bootstrap_sds_of_the_papers():
    # HYPE, tables 2 and 3: 1.3, 0.9, 1.6, 0.6, 2.4, 1.8 with 30 evaluators
    assert [round(math.sqrt(spread.observed / 30 * 29 / 30), 1) for spread in without_pilot(INFINITY)] == [
        1.3, 0.9, 1.5, 0.5, 2.4, 1.8,
    ]  # fmt: skip


def test_the_variance_of_began_splits_as_by_hand():
    # 8.4^2 * 30 / 29 = 72.993, of which 10 * 90 / 100 = 9 by images
    began = replace(PUBLISHED["BEGAN"], of_picture=0.0)

    assert (began.between, began.within) == (pytest.approx(63.993, abs=1e-3), pytest.approx(900))
    assert began.sd_at(100) == pytest.approx(8.4 * math.sqrt(30 / 29))
    assert began.sd_at(25) == pytest.approx(math.sqrt(63.993 + 36), rel=1e-5)


def test_progans_evaluators_differ_no_less_than_their_samples_of_images():
    # 4.8^2 * 30 / 29 = 23.83 is less than 40.3 * 59.7 / 100 = 24.06
    progan = replace(PUBLISHED["ProGAN"], of_picture=0.0)

    assert (progan.between, progan.is_clipped) == (0, True)
    assert progan.sd_at(100) == pytest.approx(math.sqrt(40.3 * 59.7 / 100))


@pytest.mark.slow("simulates many evaluators to know a variance's bias")
def test_the_parts_of_a_pilots_spread_are_unbiased():
    rng = np.random.default_rng(5)
    observed = []
    for _ in range(300):
        shares = rng.beta(3, 7, 30)  # variance 3 * 7 / (100 * 11) = 190.9 squared percentage points
        seen = rng.choice([20, 60], 30)
        spread = spreads_of(answers_of(rows_of(rng.binomial(seen, shares), seen), "infinity"))[0]
        observed.append(spread.observed - spread.sampled)

    # what images add is a little too much, p (1 - p) of the mean for the mean of p (1 - p): by 190.9 / 30
    assert np.mean(observed) == pytest.approx(190.9 - 6.4, abs=3 * np.std(observed) / math.sqrt(300))


# Whole plans


def test_a_plan_costs_what_it_says_by_hand():
    row = openhype.plan(width=5, fee=50)["rows"][0]

    # $1.00, 100 images of 6 s at $12 an hour = $2.00, 49.3 right answers at 2 cents
    count = row["evaluators"]
    assert row["pay_usd"] == pytest.approx(count * 3.986)
    assert row["fee_usd"] == pytest.approx(count / 2 * 3.986)
    assert row["usd"] == pytest.approx(count * 1.5 * 3.986)
    # waves of ten, 660 s each
    assert row["hours"] == pytest.approx(math.ceil(count / 10) * 660 / 3600)


def test_with_the_pay_of_the_papers_an_evaluator_costs_two_dollars():
    # HYPE 4.3: $60 for 30 evaluators
    row = openhype.plan(width=5, hourly_usd_cents=0)["rows"][0]

    assert row["usd"] / row["evaluators"] == pytest.approx(2, abs=0.03)


def test_the_best_plan_has_the_same_aim_at_the_least_cost():
    for row in openhype.plan(width=5)["rows"]:
        best, spread = row["best"], PUBLISHED[row["model"].removesuffix(" CelebA-64")]
        assert width(spread, best["evaluators"], best["images"], 0.95, 0.8) <= 5
        assert best["usd"] == min(each["usd"] for each in row["by_images"])
        assert best["saving_usd"] == pytest.approx(row["usd"] - best["usd"])


@pytest.mark.slow("plans by the studentized range")
def test_a_plan_for_several_models_is_of_all_pairs_and_is_paid_for_all_of_them():
    two, four = (openhype.plan(difference=5, models=count)["rows"][0] for count in (2, 4))

    assert four["evaluators"] > two["evaluators"]
    assert four["usd"] / two["usd"] == pytest.approx(2 * four["evaluators"] / two["evaluators"])


def test_both_aims_together_take_the_larger_number():
    row = openhype.plan(width=3, difference=8)["rows"][0]

    assert row["evaluators"] == max(row["evaluators_for"].values()) == row["evaluators_for"]["width"]


def test_a_time_plan_has_no_best_number_of_images_and_says_so():
    plan = openhype.plan(method="time", width=100, assurance=0.5)

    # 35.7 ms with 30 evaluators is 195.54 between them; (2 * 1.959964 * 195.54 / 100)^2 = 58.8, with
    # n - 1 and Student's quantile 63; and the papers' SDs may have been too small
    assert 61 <= plan["rows"][0]["evaluators"] <= 66
    assert [row["best"] for row in plan["rows"]] == [None] * 6
    assert any("no best number of images" in text for text in plan["assumptions"])


def test_a_time_pilot_is_planned_from_in_milliseconds():
    plan = openhype.plan(flashes([100, 200, 300]), width=100)

    assert (plan["method"], plan["unit"]) == ("time", "ms")
    assert plan["rows"][0]["sd"] == pytest.approx(100)


def test_from_evaluators_of_a_time_pilot_who_all_agree_no_number_follows():
    row = openhype.plan(flashes([100, 100]), width=100, difference=50)["rows"][0]

    assert (row["evaluators"], row["evaluators_for"]) == (None, {"width": None, "difference": None})
    assert row["why_none"] == "all evaluators have one value, from which no number of evaluators follows"


def test_impossible_differences_and_widths_say_why():
    row = openhype.plan(difference=60)["rows"][0]
    assert row["why_none"] == "no score differs by 60 points from 50.7, scores being from 0 to 100"
    row = openhype.plan(width=1e-9, pictures=10**6)["rows"][3]
    assert "make the interval" in row["why_none"] or "more than 1,000,000 evaluators" in row["why_none"]


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width must be a number above 0, not 0"),
        ({"width": math.nan}, "width must be a number above 0, not nan"),
        ({"difference": -1}, "difference must be a number above 0, not -1"),
        ({"width": 5, "power": 1}, "power must be between 0 and 1, such as 0.8, not 1"),
        ({"width": 5, "level": 95}, "level must be between 0 and 1"),
        ({"difference": 5, "models": 1}, "models that are to differ must be 2 or more, not 1"),
        ({"width": 5, "images": 33}, "images must be an even number from 2, half of them being real, not 33"),
        ({"width": 5, "method": "time", "images": 30}, "images go with shares"),
        ({"width": 5, "method": "time", "models_per_session": 2}, "images go with shares.* of one model"),
        ({"width": 1, "method": "tournament", "models": 1}, "a tournament has two models or more, not 1"),
        ({"width": 5, "method": "both"}, "method must be 'infinity', 'time' or 'tournament', not 'both'"),
        ({"width": 5, "fee": -0.1}, "a fee must be in percent, such as 42.8, not -0.1"),
        ({"width": 5, "fee": 0.428}, "would be less than one percent; for a share of 0.428 write 42.8"),
        ({"width": 5, "assurance": 1}, "assurance must be between 0 and 1"),
        ({"width": 5, "pictures": 1}, "pictures must be 2 or more of each side, not 1"),
        ({"width": 5, "pictures": 40, "images": 90}, "40 pictures a side are too few for 90 images"),
        ({"width": 5, "wage": 3}, "costs are base_usd_cents, .*, not wage"),
    ],
)
def test_what_makes_no_plan_is_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        openhype.plan(**options)


def test_a_pilot_without_spread_is_refused():
    with pytest.raises(InvalidInput, match="a pilot needs a model with at least two evaluators"):
        openhype.plan(rows_of([5], [50]))
    with pytest.raises(InvalidInput, match="an evaluator of gan judged one image"):
        openhype.plan(rows_of([1, 5], [1, 50]))


# The command


@pytest.fixture
def run(tmp_path):
    def run(*args):
        result = CliRunner().invoke(main, ["plan", *map(str, args), "--data", str(tmp_path / "data")])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def pilot(tmp_path):
    rows = rows_of([10, 20, 30, 25], [100] * 4) + rows_of([40, 60, 50], [100] * 3, "vae")
    path = tmp_path / "pilot.csv"
    path.write_text("\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]), "utf-8")
    return path


def test_the_command_prints_what_the_notebook_gets(run, pilot):
    options = ["--pilot", pilot, "--difference", 10, "--models", 3, "--bonus-usd", 0.05, "--json"]

    printed = json.loads(run(*options).output)

    assert printed == json.loads(json.dumps(openhype.plan(pilot, difference=10, models=3, right_usd_cents=5)))


@pytest.mark.slow("a study is played, measured and scored whole")
def test_a_study_is_a_pilot_as_its_export_is(world, tmp_path):
    study = world.add(studies.study(images=20, spare_images=0, evaluators=4))
    rng = Random(1)
    for k in range(8):
        world.player().play(right=lambda truth, k=k: rng.random() > k / 10)
    export(world.store, study, tmp_path / "out")

    printed = CliRunner().invoke(
        main, ["plan", "--pilot", "faces", "--width", "8", "--json", "--data", str(tmp_path)]
    )

    plan = json.loads(printed.output)
    assert plan == json.loads(json.dumps(openhype.plan(tmp_path / "out", width=8)))
    assert {row["model"]: row["images"] for row in plan["rows"]} == {"gan": 20, "vae": 20}


def test_the_table_tells_the_plan_in_words(run):
    lines = run("--width", 5, "--fee", 20).output.splitlines()

    row = openhype.plan(width=5, fee=20)["rows"][0]
    aim = "a 95% interval at most 5 percentage points wide in 80% of studies"
    assert lines[0] == f"HYPE-infinity, {aim}; cost and hours for 1 model"
    assert lines[2].split()[2:5] == ["50.7", "7.02", "100"]
    assert lines[2].split()[5:7] == [f"{row['evaluators']}", f"${row['usd']:.2f}"]
    assert any("the panel takes 20% on top" in line for line in lines)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_is_written(run, tmp_path, suffix):
    done = run("--method", "time", "-o", tmp_path / f"plan.{suffix}")

    assert done.exit_code == 0
    head = (tmp_path / f"plan.{suffix}").read_bytes()[:4]
    assert head == {"svg": b"<?xm", "png": b"\x89PNG"}[suffix]


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["-o", "plan.gif"], 1, "a picture's name must end in .svg, .png or .pdf, not 'plan.gif'"),
        (["--pilot", "nothing.csv"], 1, "there is no file nothing.csv"),
        (["--pilot", "faces"], 1, "there is no study 'faces'"),
        (["--pilot", "faces", "--method", "time"], 2, "--method goes with the published SDs"),
        (["--width", "wide"], 2, "'wide' is not a valid float"),
        (["--width", "nan"], 2, "nan is not a finite number"),
        (["--fee", "0.428"], 2, "for a share of 0.428 write 42.8"),
        (["--fee", "nan"], 2, "a fee must be in percent, such as 42.8, not 'nan'"),
        (["--power", "1"], 2, "1.0 is not in the range"),
        (["--images", "33"], 1, "images must be an even number"),
    ],
)
def test_the_command_refuses_what_it_cannot_plan(run, options, status, message):
    done = run(*options)

    assert done.exit_code == status
    assert message in done.output


def test_what_is_drawn_has_a_line_for_each_model_and_the_wanted_width():
    from backend.report.figures.plan import draw_plan

    plan = openhype.plan(width=5)
    widths, costs = draw_plan(plan).axes

    lines = {line.get_label(): line for line in widths.get_lines()}
    label = f"StyleGAN CelebA-64 ({plan['rows'][0]['evaluators']})"
    point = plan["rows"][0]["curve"][3]
    drawn = lines[label].get_xydata()[3]
    assert drawn.tolist() == [point["evaluators"], point["width"]]
    stars = [line.get_xdata()[0] for line in costs.get_lines() if line.get_marker() == "*"]
    assert stars == [row["best"]["images"] for row in plan["rows"]]


def test_a_plan_that_nobody_can_reach_is_drawn_and_printed(run, tmp_path):
    done = run("--width", 5, "--pictures", 40, "-o", tmp_path / "plan.png")

    assert "none" in done.output
    assert "StyleGAN CelebA-64: the shared pictures alone make the interval" in done.output
