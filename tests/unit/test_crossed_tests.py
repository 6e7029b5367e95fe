"""Tests between models over people and pictures: by hand, and how often they err."""

import numpy as np
import pytest

from backend.analysis.comparisons import Moments, games_howell, welch
from backend.analysis.crossed_tests import Part, Sampled, over_pictures
from backend.scoring import score_answers
from validate.studies import Shares, together

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


def test_equal_models_are_told_apart_as_seldom_as_promised():
    """100 studies of four like models, 30 people each, 30 shared pictures a side: ANOVA errs in a third."""
    rng, errors = np.random.default_rng(6), {"over_pictures": 0, "anova": 0}
    world = Shares(0.3, people=0.3, pictures=0.8, leaning=0, pool=30)
    for _ in range(100):
        scores = score_answers(together(world, 4, 30, rng))
        for test in errors:
            errors[test] += scores[test]["p"] < 0.05

    assert errors["over_pictures"] / 100 < 0.12
    assert errors["anova"] / 100 > 0.18


def test_answers_that_name_no_pictures_have_no_such_test():
    rng = np.random.default_rng(6)
    answers = together(Shares(0.3, pool=30), 2, 5, rng)
    answers.texts.pop("stimulus")

    assert score_answers(answers)["over_pictures"] is None
