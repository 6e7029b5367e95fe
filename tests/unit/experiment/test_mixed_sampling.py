"""Sampling of mixed sessions: balance within and between evaluators, and an order that tells nothing."""

import re
from collections import Counter
from random import Random

import pytest
from scipy.stats import chi2

from backend.experiment import sampling
from backend.experiment.records import Condition
from backend.experiment.session import _next_spare, opening, stimulus_at

from .. import sample_studies as studies

MODELS = ("a", "b", "c")
SESSIONS = 1000


def mixed(models=MODELS, size=None, **settings):
    return studies.study(models=models, models_per_session=size or len(models), **settings)


def drawn(study, count, each=200, seed=1):
    """Draw sessions of the study's first condition, as one after the other is opened."""
    pool, rng = sampling.pool_of(studies.pool(study, each=each)), Random(seed)
    for turn in range(count):
        balance_rng = Random(f"coin {turn // 2}")
        reals = sampling.real_counts(study, balance_rng, is_second=turn % 2 == 1)
        yield sampling.draw_session(study, pool, study.conditions[0], rng, reals, turn)


def models_of(blocks):
    return Counter(model for block in blocks for model in block.models if model)


def within(observed, expected, categories):
    """Return whether counts differ by no more than chance gives once in 100,000 times (chi-squared)."""
    statistic = sum((number - expected) ** 2 / expected for number in observed)
    return statistic < chi2.isf(1e-5, categories - 1)


@pytest.mark.parametrize(
    "settings", [{}, {"images": 98, "classes": ("cat", "dog", "owl")}, {"balance": "people"}]
)
def test_over_a_thousand_sessions_models_differ_by_one_trial_and_pictures_by_chance(settings):
    study, shown, per_model = mixed(**settings), Counter(), Counter()
    for blocks, _ in drawn(study, SESSIONS):
        of_session = models_of(blocks)
        assert set(of_session) == set(MODELS)
        assert max(of_session.values()) - min(of_session.values()) <= 1
        per_model += of_session
        for block in blocks:
            shown.update(zip(block.stimuli, block.models, strict=True))

    # The model that has one fake more changes in turn, so that not even chance is left between evaluators.
    assert max(per_model.values()) - min(per_model.values()) <= 1
    for model in (None, *MODELS):
        own = [count for (_, of), count in shown.items() if of == model]
        assert len(own) == 200 * max(len(study.classes), 1)
        assert within(own, sum(own) / len(own), len(own))


def test_each_of_five_models_is_shown_equally_often_by_pairs_of_models():
    study = mixed(("a", "b", "c", "d", "e"), size=2, images=90)
    pool, rng, taken, models = sampling.pool_of(studies.pool(study, each=60)), Random(2), Counter(), Counter()
    for _ in range(SESSIONS):
        condition = sampling.choose_condition(taken, study.conditions, None, rng)
        blocks, _ = sampling.draw_session(study, pool, condition, rng, [45], taken[condition.name])
        taken[condition.name] += 1
        models += models_of(blocks)
        assert sorted(models_of(blocks).values()) == [22, 23]

    assert set(taken.values()) == {100}
    assert set(models.values()) == {45 * SESSIONS / 5}


def test_the_place_in_the_order_tells_neither_truth_nor_model():
    study, places, after = mixed(images=60), Counter(), Counter()
    for blocks, _ in drawn(study, SESSIONS):
        (block,) = blocks
        places.update(enumerate(block.models))
        after.update(zip(block.models, block.models[1:], strict=False))

    for model, share in ((None, 1 / 2), *((model, 1 / 6) for model in MODELS)):
        of_place = [places[place, model] for place in range(60)]
        assert within(of_place, SESSIONS * share, 60)
    # given one picture's model, the next is any of the 59 others
    size = 59 * SESSIONS / 60 / 59
    for first, many in ((None, 30), *((model, 10) for model in MODELS)):
        for then, others in ((None, 30), *((model, 10) for model in MODELS)):
            expected = many * (others - (first == then)) * size
            assert abs(after[first, then] - expected) < 5 * expected**0.5


def test_a_hype_time_session_has_blocks_of_one_model_each_in_any_order():
    study, orders = mixed(method="time", images=20, blocks=6), Counter()
    for blocks, _ in drawn(study, 300):
        order = [set(block.models) - {None} for block in blocks]
        assert all(len(models) == 1 for models in order)
        letters = "".join(models.pop() for models in order)
        assert Counter(letters[:3]) == Counter(letters[3:]) == Counter("abc")
        orders[letters] += 1

    assert len(orders) == 36  # the second half is not in the order of the first
    assert within(orders.values(), 300 / 36, 36)


def test_with_classes_each_model_of_each_class_has_blocks_of_its_own():
    study = mixed(("a", "b"), method="time", images=20, blocks=4, classes=("cat", "dog"))
    for blocks, _ in drawn(study, 20):
        kinds = {(block.class_, *(set(block.models) - {None})) for block in blocks}
        assert kinds == {("cat", "a"), ("cat", "b"), ("dog", "a"), ("dog", "b")}


@pytest.mark.parametrize("method", ["infinity", "time"])
def test_a_spare_is_of_the_model_and_truth_that_it_replaces(method):
    settings = {"images": 20, "spare_images": 18}
    study = mixed(method=method, **settings, **({"blocks": 3} if method == "time" else {}))
    blocks, spares = next(drawn(study, 1))
    assert models_of(spares) == dict.fromkeys(MODELS, 3)
    session = studies.session(study, model=None)
    session = studies.replaced(session, models=MODELS, blocks=blocks, spares=spares)
    cursor = opening(study.protocol, "")

    for trial, (truth, model) in enumerate(
        (truth, model) for block in blocks for truth, model in zip(block.truths, block.models, strict=True)
    ):
        at = studies.replaced(cursor, trial_index=trial)
        spare = studies.replaced(at, voids=((trial, _next_spare(session, at)),))
        found = stimulus_at(session, spare, trial)
        assert (found.truth, found.model) == (truth, model)


def test_a_fake_can_be_replaced_as_often_as_a_real_of_its_block():
    for each in (40, 33, 31):  # the pool has spares for all, some, few
        study = mixed(method="time", blocks=3, images=20, spare_images=30)
        blocks, spares = next(drawn(study, 1, each=each))
        session = studies.session(study, model=None)
        session = studies.replaced(session, models=MODELS, blocks=blocks, spares=spares)
        by_block = {}
        for trial, truth in enumerate(truth for block in blocks for truth in block.truths):
            cursor, times = studies.replaced(opening(study.protocol, ""), trial_index=trial), 0
            while spare := _next_spare(session, cursor):
                cursor, times = studies.replaced(cursor, voids=(*cursor.voids, (trial, spare))), times + 1
            by_block.setdefault(trial // 20, set()).add((truth, times))
        for outcomes in by_block.values():
            (times,) = {times for _, times in outcomes}
            assert outcomes == {("real", times), ("fake", times)}


def test_conditions_are_groups_of_models_and_want_evaluators_for_each_model():
    several = mixed(("a", "b", "c", "d"), size=2, evaluators=30)
    everything = mixed(evaluators=10)
    by_class = mixed(classes=("cat", "dog"), class_design="between", evaluators=10)

    assert [each.name for each in several.conditions] == ["a, b", "b, c", "c, d", "a, d", "a, c", "b, d"]
    assert (several.sessions_a_condition, several.evaluators_wanted, several.evaluators_a_group) == (
        10,
        60,
        10,
    )
    assert everything.conditions == (Condition(MODELS),)
    assert (everything.evaluators_wanted, everything.evaluators_a_group) == (10, 10)
    assert [each.name for each in by_class.conditions] == ["a, b, c/cat", "a, b, c/dog"]
    assert (by_class.evaluators_wanted, by_class.evaluators_a_group) == (20, 20)


@pytest.mark.parametrize(
    ("study", "each", "message"),
    [
        (mixed(size=4), 60, r"models_per_session must be at most 3, the number of .* \(a, b, c\), not 4"),
        (mixed(), 16, r"lacks pictures .* it has 16 of 50 reals, 16 of 17 fakes of a, 16 of 17 fakes of b, "
         r"16 of 17 fakes of c; .*--set images=32 is the most"),
        (mixed(images=4), 60, r"a session needs a fake of each of its 3 models, and one with images=4 has "
         r"only 2 fakes; --set images=6 or more"),
        (mixed(images=4, balance="people"), 60, r"images=4 has only 1 fakes; --set images=20 or more"),
        (mixed(images=4, classes=("cat", "dog")), 60, "only 2 fakes; --set images=6 or more"),
        (mixed(images=10), 2, "it has 2 of 5 reals; add pictures$"),
        (mixed(method="time", blocks=4, images=20), 60, r"each block of a HYPE-time session shows fakes of "
         r"one model, so that blocks must be a multiple of 3, not 4; --set blocks=6"),
        (mixed(method="time", blocks=3, images=20, classes=("cat", "dog")), 60, r"fakes of one model and one "
         r"of 2 classes, so that blocks must be a multiple of 6, not 3; --set blocks=6"),
        (mixed(method="time", blocks=3, images=60), 29, r"29 of 90 reals, 29 of 30 fakes of a"),
        (mixed(kind="qualification"), 60, "models_per_session is for studies: a qualification shows fakes of "
         "all its models"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_what_to_set(study, each, message):
    assert re.search(message, sampling.lack(study, sampling.pool_of(studies.pool(study, each=each))))


def test_the_settings_that_are_advised_are_accepted():
    for settings in (
        {"images": 6},
        {"images": 20, "balance": "people"},
        {"method": "time", "blocks": 6},
    ):
        study = mixed(**{"images": 10, **settings})
        assert sampling.lack(study, sampling.pool_of(studies.pool(study, each=60))) == ""
        list(drawn(study, 5, each=60))


def test_a_full_mixed_study_says_that_groups_are_full():
    with pytest.raises(Exception, match="every group of models has its 2 evaluators"):
        sampling.choose_condition({"a, b": 2}, (Condition(("a", "b")),), {"a, b": 2}, Random(1))
