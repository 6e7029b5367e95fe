"""The crossed model: against simulation, importance sampling, and probit regression."""

import json
import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from backend.analysis.models import crossed_fit, crossed_model
from backend.analysis.models.crossed_fit import EFFECTS, fit
from backend.analysis.models.crossed_model import design_of
from backend.analysis.models.crossed_posterior import Design, Posterior
from backend.analysis.table.response_rows import answers_of

SDS = (0.3, 0.4, 0.4, 0.5)
SENSITIVITIES = {"weak": 1.5, "middle": 1.0, "strong": 0.2}


def rows(seed, mixed=False, people=60, trials=80, pool=150, sds=SDS):
    """Yield simulated responses: each evaluator judges one model, or all of them."""
    rng = np.random.default_rng(seed)
    models = list(SENSITIVITIES)
    of_reals = rng.normal(0, sds[2], pool)
    of_fakes = {model: rng.normal(0, sds[3], pool) for model in models}
    for j in range(people):
        readiness, skill = rng.normal(0, sds[0]), rng.normal(0, sds[1])
        judged = models if mixed else [models[j % 3]]
        between = {"reals": -0.6} if mixed else {"reals": -SENSITIVITIES[judged[0]] / 2}
        for side in (False, True):
            for k, i in enumerate(rng.permutation(pool)[: trials // 2]):
                model = judged[k % len(judged)]
                predictor = between["reals"] + readiness + (0.5 if side else -0.5) * skill
                predictor += SENSITIVITIES[model] + of_fakes[model][i] if side else of_reals[i]
                yield {
                    "model": model,
                    "evaluator": f"e{j}",
                    "stimulus": f"{model if side else 'real'}-{i}",
                    "truth": "fake" if side else "real",
                    "response": "fake" if rng.random() < ndtr(predictor) else "real",
                }


@pytest.fixture(scope="module")
def between():
    """The fit to people who judged one model each."""
    return fit(design_of(answers_of([*rows(5)], "infinity")))


@pytest.fixture(scope="module")
def mixed():
    """The fit to people who judged all models."""
    return fit(design_of(answers_of([*rows(5, mixed=True)], "infinity")))


@pytest.fixture(scope="module")
def estimates():
    """The estimates of people who judged all models, as plain data."""
    return crossed_model.crossed_model(answers_of([*rows(8, mixed=True)], "infinity"), 0.95)


@pytest.mark.parametrize(
    "judged", ["between", pytest.param("mixed", marks=pytest.mark.slow("fits the crossed model once more"))]
)
def test_what_was_simulated_is_recovered(judged, request):
    found = request.getfixturevalue(judged)

    for model, true in SENSITIVITIES.items():
        low, high = found.sensitivity(model).interval(0.999)
        assert low < true < high
        assert high - low < 1.2
    for effect, true in zip(EFFECTS, SDS, strict=True):
        middle, low, high = found.standard_deviation(effect, 0.999)
        assert low < true < high
        assert low < middle < high
    low, high = found.difference("weak", "strong").interval(0.999)
    assert low < 1.3 < high


def test_reals_have_a_mean_for_each_model_only_where_people_judged_one():
    between = design_of(answers_of([*rows(1, people=6)], "infinity"))
    mixed = design_of(answers_of([*rows(1, mixed=True, people=6)], "infinity"))

    assert {side for side in between.sides if not side[1]} == {(model, False) for model in SENSITIVITIES}
    assert [side for side in mixed.sides if not side[1]] == [("", False)]
    assert len(mixed.side) == 6 * 80  # reals are counted once, whatever models share them
    assert mixed.evaluators == 6


@pytest.mark.slow("fits the crossed model to thousands of answers")
def test_in_a_mixed_session_a_difference_is_that_of_the_fakes(mixed):
    difference = mixed.difference("weak", "strong")

    apart = mixed.sensitivity("weak").mean - mixed.sensitivity("strong").mean
    assert difference.mean == pytest.approx(apart)
    assert difference.sd < math.hypot(mixed.sensitivity("weak").sd, mixed.sensitivity("strong").sd)


@pytest.fixture(scope="module", params=[1.0, 0.5], ids=["decided", "some not sure"])
def small(request):
    """Three evaluators of two models, and seven pictures; all answers decided, or three `not_sure`."""
    is_fake = np.array([0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1], bool)
    return Design(
        sides=[("", False), ("a", True), ("b", True)],
        side=np.array([0, 0, 1, 2, 1, 0, 0, 1, 2, 0, 0, 2]),
        evaluator=np.repeat([0, 1, 2], 4),
        picture=np.array([0, 1, 2, 3, 4, 0, 1, 2, 5, 0, 6, 3]),
        is_fake=is_fake,
        said=np.array([0, 1, 1, 0, 1, 0, 0, 0, *[request.param] * 2, 0, request.param]),
        evaluators=3,
        pictures=7,
    )


def test_evidence_and_moments_are_those_of_importance_sampling(small):
    log_sds = np.log([0.5, 0.7, 0.6, 0.9])
    rng = np.random.default_rng(1)
    draws = 400_000
    sides = rng.normal(0, 2.0, (draws, 3))
    prior = (np.square(sides) * (1 / 2.0**2 - 1 / 5.0**2) / 2 + math.log(2.0 / 5.0)).sum(axis=1)
    people = rng.normal(0, 1, (draws, 2, 3)) * np.exp(log_sds[:2])[:, None]
    pictures = rng.normal(0, 1, (draws, 7)) * np.where(small.is_fake_picture, 0.9, 0.6)
    x = np.where(small.is_fake, 0.5, -0.5)
    predictor = sides[:, small.side] + people[:, 0, small.evaluator] + x * people[:, 1, small.evaluator]
    predictor += pictures[:, small.picture]
    of_each = small.said * log_ndtr(predictor) + (1 - small.said) * log_ndtr(-predictor)
    log_weight = of_each.sum(axis=1)
    weight = np.exp(log_weight + prior)

    state = Posterior(small).at(log_sds, close=1e-6)

    assert state.log_evidence == pytest.approx(math.log(weight.mean()), abs=0.05)
    share = weight / weight.sum()
    expected = share @ sides
    assert state.mean[:3] == pytest.approx(expected, abs=0.1)
    sd = np.sqrt(share @ (sides - expected) ** 2)
    assert np.sqrt(np.diagonal(state.cov)[:3]) == pytest.approx(sd, rel=0.06)
    for k, (mean, var) in enumerate(zip(*state.evaluators(3), strict=True)):
        expected = share @ people[:, k]
        assert mean == pytest.approx(expected, abs=0.03)
        assert np.sqrt(var) == pytest.approx(np.sqrt(share @ (people[:, k] - expected) ** 2), rel=0.06)
    assert state.picture_mean == pytest.approx(share @ pictures, abs=0.03)
    both = sides[:, small.side[3]] + pictures[:, 3]
    assert state.mean[small.side[3]] + state.picture_mean[3] == pytest.approx(share @ both, abs=0.1)
    var = state.cov[2, 2] + state.picture_var[3] + 2 * state.picture_sides[3, 2]
    assert math.sqrt(var) == pytest.approx(math.sqrt(share @ (both - share @ both) ** 2), rel=0.06)


def test_the_gradient_is_that_of_the_density(small):
    at = np.array([0.5, 0.7, 0.6, 0.9]) ** (1 / crossed_fit._POWER)
    posterior = Posterior(small)

    def density(roots):
        return crossed_fit.log_density(roots, crossed_fit._at(posterior, roots, 1e-7))

    slopes, _ = crossed_fit.gradient(small, at, crossed_fit._at(posterior, at, 1e-7))

    for k in range(4):
        step = np.zeros(4)
        step[k] = 0.003
        change = (density(at + step) - density(at - step)) / 0.006
        assert slopes[k] == pytest.approx(change, abs=5e-3)


@pytest.mark.slow("fits the crossed model to thousands of answers")
def test_without_differences_it_is_the_probit_of_each_side():
    answers = answers_of([*rows(4, sds=(0.0, 0.0, 0.0, 0.0))], "infinity")
    design = design_of(answers)

    found = fit(design)

    shares = np.bincount(design.side, design.said) / np.bincount(design.side)
    assert ndtr(found.sides) == pytest.approx(shares, abs=0.02)
    assert all(found.standard_deviation(effect, 0.95)[0] < 0.15 for effect in EFFECTS)


@pytest.mark.parametrize("response", ["fake", "real"])
def test_one_answer_for_everything_gives_finite_numbers(response):
    alike = [row | {"response": response} for row in rows(6, people=6, trials=20)]

    found = fit(design_of(answers_of(alike, "infinity")))

    assert np.isfinite(found.sides).all()
    assert np.isfinite(found.pictures).all()
    low, high = found.sensitivity("weak").interval(0.95)
    assert low < 0 < high


def test_responses_without_pictures_count_as_ones_to_pictures_that_nobody_else_saw():
    named = [*rows(7, people=9, trials=20)]
    unnamed = [{key: value for key, value in row.items() if key != "stimulus"} for row in named]

    design = design_of(answers_of(unnamed, "infinity"))

    assert (design.pictures, len(design.side)) == (180, 180)
    assert np.isfinite(fit(design).sides).all()


def test_estimates_are_plain_data_most_realistic_model_first(estimates):
    found = estimates

    assert [row["model"] for row in found["models"]] == ["strong", "middle", "weak"]
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [
        ("middle", "strong"),
        ("weak", "strong"),
        ("weak", "middle"),
    ]
    for row in (*found["models"], *found["pairs"], *found["sds"].values()):
        value = row.get("d_prime", row.get("difference", row.get("sd")))
        low, high = row.get("d_prime_ci") or row["ci"]
        assert low < value < high
    assert (found["evaluators"], found["responses"]) == (60, 4800)
    json.dumps(found, allow_nan=False)


def test_there_is_none_where_it_does_not_apply():
    named = [*rows(9, people=6, trials=20)]

    def found(rows):
        answers = answers_of(rows, "infinity")
        assert crossed_model.crossed_model_note(answers) is None
        return crossed_model.crossed_model(answers, 0.95)

    assert found([{key: value for key, value in row.items() if key != "stimulus"} for row in named]) is None
    assert found([row for row in named if row["evaluator"] == "e0"]) is None
    assert found([row for row in named if row["truth"] == "fake"]) is None
    assert found([row for row in named if row["truth"] == "real"]) is None
    assert found(named) is not None


def test_too_many_evaluators_are_said_to_be_too_many():
    pair = [{"model": "m", "stimulus": "a", "truth": truth, "response": truth} for truth in ("real", "fake")]
    many = answers_of(({**row, "evaluator": f"e{i}"} for i in range(601) for row in pair), "infinity")

    assert crossed_model.crossed_model(many, 0.95) is None
    assert crossed_model.crossed_model_note(many) == (
        "the crossed model is not fitted: there are 601 evaluators, and it is fitted to at most 600"
    )


def test_fakes_of_two_models_are_two_pictures_though_their_names_are_alike():
    alike = [
        row | {"stimulus": row["stimulus"].rpartition("-")[2]} if row["truth"] == "fake" else row
        for row in rows(10, people=12)
    ]

    apart = design_of(answers_of([*rows(10, people=12)], "infinity"))

    assert design_of(answers_of(alike, "infinity")).pictures == apart.pictures


@pytest.mark.slow("fits the crossed model to thousands of answers")
def test_pictures_are_shrunk_to_their_side_and_the_hardest_come_first(estimates):
    found = estimates["by_picture"]

    assert sum(row["number_guesses"] for row in found) == 4800
    assert list(dict.fromkeys((row["model"], row["generated"]) for row in found)) == [
        ("middle", True),
        ("strong", True),
        ("weak", True),
        ("", False),
    ]
    for model in ("weak", ""):
        mine = [row for row in found if row["model"] == model]
        chances = [row["called_fake"] for row in mine]
        assert chances == sorted(chances, reverse=model == "")
        raw = np.array([row["number_guesses_generated"] / row["number_guesses"] for row in mine])
        assert np.std(chances) < np.std(raw)
        assert np.corrcoef(chances, raw)[0, 1] > 0.8
    for row in found:
        low, high = row["called_fake_ci"]
        assert 0 < low < row["called_fake"] < high < 1
        assert row["needs_evaluators"] == (low <= 0.5 <= high and high - low > 0.3)
    assert 0 < sum(row["needs_evaluators"] for row in found) < len(found)


@pytest.mark.slow("fits the crossed model to thousands of answers")
def test_more_evaluators_decide_a_picture():
    few, many = ([*rows(11, mixed=True, people=people, pool=40)] for people in (10, 90))

    def needing(rows):
        found = crossed_model.crossed_model(answers_of(rows, "infinity"), 0.95)["by_picture"]
        return np.mean([row["needs_evaluators"] for row in found])

    assert needing(many) < needing(few) / 2


@pytest.mark.slow("fits the crossed model to thousands of answers")
def test_evaluators_are_shrunk_to_the_group_and_their_intervals_hold_what_was_simulated():
    names = [
        row | {"evaluator": f"{row['model']}-{row['evaluator']}"}
        for row in rows(12, sds=(0.3, 0.6, 0.4, 0.5))
    ]

    found = crossed_model.crossed_model(answers_of(names, "infinity"), 0.95)

    evaluators = found["by_evaluator"]
    assert len(evaluators) == 60
    means = {row["model"]: row["d_prime"] for row in found["models"]}
    for model in SENSITIVITIES:
        mine = [row for row in evaluators if row["models"] == [model]]
        assert [row["evaluator"].startswith(model) for row in mine] == [True] * 20
        assert np.mean([row["d_prime"] for row in mine]) == pytest.approx(means[model], abs=0.05)
        assert 0.3 < np.std([row["d_prime"] for row in mine]) < 0.8
    for row in evaluators:
        assert row["responses"] == 80
        assert row["d_prime_ci"][0] < row["d_prime"] < row["d_prime_ci"][1]
        assert row["criterion_ci"][0] < row["criterion"] < row["criterion_ci"][1]


def test_who_judged_only_fakes_has_no_sensitivity():
    some = [row for row in rows(9, people=12) if not (row["evaluator"] == "e0" and row["truth"] == "real")]

    found = crossed_model.crossed_model(answers_of(some, "infinity"), 0.95)

    assert sorted(row["evaluator"] for row in found["by_evaluator"]) == sorted(f"e{i}" for i in range(1, 12))
    assert found["evaluators"] == 12
    json.dumps(found, allow_nan=False)


@pytest.mark.slow("fits the crossed model to thousands of answers")
def test_a_model_whose_evaluators_saw_no_reals_has_no_sensitivity():
    some = [row for row in rows(9) if not (row["model"] == "weak" and row["truth"] == "real")]

    found = crossed_model.crossed_model(answers_of(some, "infinity"), 0.95)

    assert [row["model"] for row in found["models"]] == ["strong", "middle"]
