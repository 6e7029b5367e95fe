"""Tests between models over people and pictures: by hand, and how often they err."""

import numpy as np
import pytest

from backend.analysis.comparisons import repeated
from backend.analysis.comparisons.crossed_tests import Sampled, over_pictures, within_evaluators
from backend.analysis.comparisons.means import Moments, games_howell, welch
from backend.analysis.distributions.inference import Component, Estimate, mean_of
from backend.analysis.table.designs import Crossing
from backend.analysis.table.response_table import Answers, Coded
from backend.foundation.errors import InvalidInput
from backend.scoring import score_answers
from validate.studies import InfinityPopulation, TimePopulation, multi_model_study

GROUPS = {
    "a": np.array([50.0, 52, 47, 55]),
    "b": np.array([40.0, 49, 38]),
    "c": np.array([31.0, 30, 36, 29, 33]),
}


def sampled(values, pictures=None, of_answers=None):
    mean = mean_of(values)
    return Sampled(mean.value, mean.people, pictures, of_answers)


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
            own = mean_of(values).people.variance
            models[name] = sampled(values, Component(own * share / (1 - share), 2))
        return over_pictures(models, 0.95)

    few, many = found_of(0.09), found_of(0.11)

    assert (few["advised"], many["advised"]) == (False, True)
    assert many["share_of_pictures"] == pytest.approx(dict.fromkeys(GROUPS, 0.11))
    for plain, wide in zip(few["pairs"], found_of(0.6)["pairs"], strict=True):
        assert wide["ci"][1] - wide["ci"][0] > plain["ci"][1] - plain["ci"][0]


def test_models_that_do_not_vary_are_left_out_of_the_test():
    still = Sampled(50.0, Component(0.0, 5))

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
    models = {"a": sampled(values[:, 0], Component(5 / 6, 9)), "b": sampled(values[:, 1])}

    found = within_evaluators(crossing, models, 0.95)

    pair = found["pairs"][0]
    assert pair["t"] == pytest.approx(3 / 2**0.5)
    assert pair["df"] == pytest.approx(4 / ((7 / 6) ** 2 / 3 + (5 / 6) ** 2 / 9))
    assert found["share_of_pictures"] == pytest.approx({"a": 5 / 12, "b": 5 / 12})
    assert found["advised"]


@pytest.mark.parametrize("is_within", [False, True])
def test_equivalence_and_effects_are_those_of_the_pairs_own_errors_in_any_order_of_the_models(is_within):
    values = np.array([[50.0, 40, 31], [52, 49, 30], [47, 38, 36], [55, 41, 29]])
    pictures = (Component(1.5, 6), Component(2.0, 9), Component(0.0, 3))

    def pairs_of(order):
        names = ["abc"[place] for place in order]
        models = {
            name: sampled(values[:, place], pictures[place], 2400.0)
            for name, place in zip(names, order, strict=True)
        }
        crossing = Crossing(names, values[:, order], np.ones(values.shape, bool))
        found = within_evaluators(crossing, models, 0.95, 5) if is_within else over_pictures(models, 0.95, 5)
        return {frozenset((row["a"], row["b"])): row for row in found["pairs"]}

    ahead, behind = pairs_of([0, 1, 2]), pairs_of([2, 1, 0])

    for (a, b), pair in (((0, 1), "ab"), ((0, 2), "ac"), ((1, 2), "bc")):
        row, other = ahead[frozenset(pair)], behind[frozenset(pair)]
        apart = values[:, a] - values[:, b]
        people = (apart.var(ddof=1) if is_within else values[:, [a, b]].var(axis=0, ddof=1).sum()) / 4
        error = np.sqrt(people + pictures[a].variance + pictures[b].variance)
        # third cumulants: of each model's values, or of the paired differences if that is farther from 0
        cubes = np.array([((v - v.mean()) ** 3).sum() / 3 / 16 for v in (*values[:, [a, b]].T, apart)])
        third = cubes[0] - cubes[1]
        third = cubes[2] if is_within and abs(cubes[2]) > abs(third) else third
        own = Estimate(apart.mean(), Component(error**2, row["df"], third))
        assert row["equivalence"]["p"] == pytest.approx(own.p_below(5))
        assert row["effect"]["d"] == pytest.approx(apart.mean() / np.sqrt(2400))
        assert other["equivalence"]["p_holm"] == pytest.approx(row["equivalence"]["p_holm"])
        assert other["effect"]["d_ci"] == pytest.approx([-end for end in row["effect"]["d_ci"][::-1]])


def test_scores_have_equivalence_and_effects_but_hype_time_has_no_margin_in_points():
    infinity = score_answers(
        multi_model_study(InfinityPopulation(0.3, pool=30), 2, 8, np.random.default_rng(6)), margin=3
    )
    time = time_study()

    (pair,) = infinity["over_pictures"]["pairs"]
    assert pair["equivalence"]["margin"] == 3
    assert pair["effect"]["sd"] == pytest.approx(45, rel=0.05)
    (pair,) = score_answers(time)["over_pictures"]["pairs"]
    assert (pair["equivalence"]["margin"], pair["equivalence"]["p"], pair["effect"]) == (None, None, None)
    assert pair["equivalence"]["equivalent_within"] > abs(pair["difference"])


def time_study():
    """Return responses to two models of HYPE-time, of six people each, who see the same pictures."""
    rng = np.random.default_rng(1)
    parts = [TimePopulation(ms, pictures=0.3, pool=90, trials=60).study(6, rng) for ms in (200, 600)]
    first, second = (part.texts["stimulus"] for part in parts)
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("is_fake", "said_fake", "block", "exposure_ms")
    }
    person = np.concatenate([part.evaluator.codes + 6 * place for place, part in enumerate(parts)])
    image = np.concatenate([first.codes, second.codes + len(first.names)])
    return Answers(
        "time",
        Coded(np.repeat(np.arange(2, dtype=np.int32), len(parts[0])), ["a", "b"]),
        Coded(person.astype(np.int32), [f"e{i}" for i in range(12)]),
        **joined,
        texts={"stimulus": Coded(image, [f"p{i}" for i in range(len(first.names) + len(second.names))])},
    )


@pytest.mark.parametrize("margin", [0, 50, float("nan")])
def test_a_margin_of_equivalence_without_a_sense_is_refused(margin):
    answers = multi_model_study(InfinityPopulation(0.3, pool=30), 2, 5, np.random.default_rng(6))

    with pytest.raises(InvalidInput, match="margin must be between 0 and 50 percentage points"):
        score_answers(answers, margin=margin)


@pytest.mark.parametrize(("people", "rate"), [(1, 0.3), (2, 0.3), (5, 1e-9)])
def test_too_few_or_equal_evaluators_have_neither_equivalence_nor_effects(people, rate):
    answers = multi_model_study(InfinityPopulation(rate, pool=30), 2, people, np.random.default_rng(6))

    over = score_answers(answers)["over_pictures"]

    assert (over is not None) == (people == 2)
    if over is not None:
        assert 0 < over["pairs"][0]["equivalence"]["p"] < 1


def test_answers_that_name_no_pictures_have_no_such_test():
    rng = np.random.default_rng(6)
    answers = multi_model_study(InfinityPopulation(0.3, pool=30), 2, 5, rng)
    answers.texts.pop("stimulus")

    assert score_answers(answers)["over_pictures"] is None
