"""Tests between models over people and pictures: by hand, and how often they err."""

import numpy as np
import pytest

from backend.analysis import repeated
from backend.analysis.comparisons import Moments, games_howell, welch
from backend.analysis.crossed_tests import Part, Sampled, over_pictures, within_evaluators
from backend.analysis.designs import Crossing
from backend.scoring import score_answers
from validate.studies import InfinityPopulation, multi_model_study

GROUPS = {
    "a": np.array([50.0, 52, 47, 55]),
    "b": np.array([40.0, 49, 38]),
    "c": np.array([31.0, 30, 36, 29, 33]),
}


def sampled(values, *pictures):
    return Sampled(values.mean(), (Part(values.var(ddof=1) / len(values), len(values) - 1), *pictures))


def test_where_pictures_add_nothing_it_is_welchs_test_and_games_and_howells_pairs():
    found = over_pictures({name: sampled(values) for name, values in GROUPS.items()}, 0.95)

    theirs = welch(Moments.of(GROUPS))
    assert [found["F"], *found["df"], found["p"]] == pytest.approx([theirs["F"], *theirs["df"], theirs["p"]])
    for ours, other in zip(found["pairs"], games_howell(GROUPS, 0.95), strict=True):
        assert (ours["a"], ours["b"]) == (other["a"], other["b"])
        assert [ours["p"], *ours["ci"]] == pytest.approx([other["p"], *other["ci"]])
    assert not found["advised"]


def test_pictures_widen_the_pairs_and_are_advised_from_a_tenth_of_the_variance():
    def found_of(share):
        models = {}
        for name, values in GROUPS.items():
            own = sampled(values)
            models[name] = sampled(values, Part(own.variance * share / (1 - share), 2))
        return over_pictures(models, 0.95)

    few, many = found_of(0.09), found_of(0.11)

    assert (few["advised"], many["advised"]) == (False, True)
    assert many["share_of_pictures"] == pytest.approx(dict.fromkeys(GROUPS, 0.11))
    for plain, wide in zip(few["pairs"], found_of(0.6)["pairs"], strict=True):
        assert wide["ci"][1] - wide["ci"][0] > plain["ci"][1] - plain["ci"][0]


def test_models_that_do_not_vary_are_left_out_of_the_test():
    still = Sampled(50.0, (Part(0.0, 5),))

    assert over_pictures({"a": still, "b": sampled(GROUPS["b"])}, 0.95) is None


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_equal_models_are_told_apart_as_seldom_as_promised():
    """100 studies of four like models, 30 people each, 30 shared pictures a side: ANOVA errs in a third."""
    rng, errors = np.random.default_rng(6), {"over_pictures": 0, "anova": 0}
    population = InfinityPopulation(0.3, people=0.3, pictures=0.8, leaning=0, pool=30)
    for _ in range(100):
        scores = score_answers(multi_model_study(population, 4, 30, rng))
        for test in errors:
            errors[test] += scores[test]["p"] < 0.05

    assert errors["over_pictures"] / 100 < 0.12
    assert errors["anova"] / 100 > 0.18


@pytest.mark.parametrize("each_judges", [1.0, 0.6])
def test_equal_models_of_the_same_evaluators_are_told_apart_as_seldom_as_promised(each_judges):
    """60 studies of three like models and 20 people: of all models the paired tests alone err in a fourth."""
    rng, errors = np.random.default_rng(5), {"over": 0, "alone": 0}
    population = InfinityPopulation(0.3, people=0.3, pictures=0.8, leaning=0, pool=30)
    for _ in range(60):
        scores = score_answers(multi_model_study(population, 3, 20, rng, each_judges))
        for test, pairs in (("over", scores["over_pictures"]["pairs"]), ("alone", scores["pairs"])):
            errors[test] += any(pair["p"] < 0.05 for pair in pairs)

    assert errors["over"] / 60 < 0.12
    assert errors["alone"] > errors["over"]


def test_without_pictures_the_pairs_within_evaluators_are_the_paired_ones():
    values = np.array([[50.0, 40, 31], [52, 49, 30], [47, 38, 36], [55, 41, 29]])
    crossing = Crossing(["a", "b", "c"], values, np.ones(values.shape, bool))
    nothing = {name: sampled(values[:, place]) for place, name in enumerate(crossing.models)}

    found = within_evaluators(crossing, nothing, 0.95)

    paired = repeated.pairs(crossing, 0.95)
    for ours, theirs in zip(found["pairs"], paired, strict=True):
        assert [ours["p"], ours["df"], *ours["ci"]] == pytest.approx([theirs["p"], 3, *theirs["ci"]])
    assert found["share_of_pictures"] == dict.fromkeys("abc", 0.0)
    assert not found["advised"]


def test_a_picture_part_adds_to_the_variance_of_a_paired_difference():
    """Differences 1, 3, 2, 6: variance of their mean 14/3/4 = 7/6; with 5/6 by pictures of one model, 2.

    Degrees of freedom: 2^2 / ((7/6)^2 / 3 + (5/6)^2 / 9).
    """
    values = np.array([[11.0, 10], [13, 10], [22, 20], [26, 20]])
    crossing = Crossing(["a", "b"], values, np.ones(values.shape, bool))
    models = {"a": sampled(values[:, 0], Part(5 / 6, 9)), "b": sampled(values[:, 1])}

    found = within_evaluators(crossing, models, 0.95)

    pair = found["pairs"][0]
    assert pair["t"] == pytest.approx(3 / 2**0.5)
    assert pair["df"] == pytest.approx(4 / ((7 / 6) ** 2 / 3 + (5 / 6) ** 2 / 9))
    assert found["share_of_pictures"] == pytest.approx({"a": 5 / 12, "b": 5 / 12})
    assert found["advised"]


def test_answers_that_name_no_pictures_have_no_such_test():
    rng = np.random.default_rng(6)
    answers = multi_model_study(InfinityPopulation(0.3, pool=30), 2, 5, rng)
    answers.texts.pop("stimulus")

    assert score_answers(answers)["over_pictures"] is None
