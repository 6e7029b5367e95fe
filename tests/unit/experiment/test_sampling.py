"""Sampling: half and half, no repeats, the whole pool, between subjects."""

from collections import Counter
from random import Random

import pytest

from backend.experiment import sampling
from backend.experiment.judgments.real_or_fake import JUDGMENT
from backend.experiment.records import FAKE, REAL, Condition
from backend.foundation.errors import Conflict, InvalidInput

from .. import sample_studies as studies


def drawn(study, model="gan", seed=1, each=400):
    return drawn_from(sampling.pool_of(studies.pool(study, each=each)), study, model, seed)


def drawn_from(pool, study, model="gan", seed=1, class_=""):
    rng, condition = Random(seed), Condition((model,), class_) if model else None
    return sampling.draw_session(study, pool, condition, rng, sampling.real_counts(study, rng, False))


@pytest.mark.parametrize("seed", range(5))
def test_half_of_every_block_is_real_and_nothing_comes_twice(seed):
    blocks, spares = drawn(studies.study(method="time"), seed=seed)

    shown = [name for block in (*blocks, *spares) for name in block.stimuli]

    assert [len(block.stimuli) for block in blocks] == [150, 150, 150]
    assert all(Counter(block.truths) == {REAL: 75, FAKE: 75} for block in blocks)
    assert len(set(shown)) == len(shown) == 510


def test_a_session_shows_fakes_of_its_model_only():
    blocks, spares = drawn(studies.study(), model="vae")

    assert {model for block in (*blocks, *spares) for model in block.models} == {None, "vae"}


def test_the_order_of_truths_is_random():
    places = Counter()
    for seed in range(400):
        (block,), _ = drawn(studies.study(images=10), seed=seed, each=30)
        places.update(i for i, truth in enumerate(block.truths) if truth == REAL)

    # each place is real in half of 400 draws: within 5 standard deviations (10 each)
    assert all(150 < places[i] < 250 for i in range(10))


def counting(truths):
    """Return the share of right answers of who sees nothing, and says what fewer of were shown so far."""
    left, right = {REAL: len(truths) / 2, FAKE: len(truths) / 2}, 0.0
    for truth in truths:
        ahead = left[REAL] - left[FAKE]
        right += 0.5 if ahead == 0 else float(truth == (REAL if ahead > 0 else FAKE))
        left[truth] -= 1
    return right / len(truths)


@pytest.mark.parametrize(("balance", "expected"), [("session", 0.5578), ("people", 0.5)])
def test_counting_answers_helps_only_where_exactly_half_are_real(balance, expected):
    study = studies.study(balance=balance)
    pool = sampling.pool_of(studies.pool(study, each=300))
    shares = [counting(drawn_from(pool, study, seed=seed)[0][0].truths) for seed in range(1000)]

    # the SD of a session's share is 0.05 or less, that of the mean of 1000 is 0.0016
    assert sum(shares) / len(shares) == pytest.approx(expected, abs=0.006)


def test_two_evaluators_with_the_same_coin_see_half_and_half_together():
    study = studies.study(method="time", balance="people")

    pairs = [[sampling.real_counts(study, Random(s), late) for late in (False, True)] for s in range(200)]

    assert all([a + b for a, b in zip(*pair, strict=True)] == [150] * 3 for pair in pairs)
    first = [count for pair in pairs for count in pair[0]]
    # tosses of a coin: mean 75 and SD 6.12 over 600 blocks
    assert sum(first) / len(first) == pytest.approx(75, abs=1)
    assert (sum((n - 75) ** 2 for n in first) / len(first)) ** 0.5 == pytest.approx(6.12, abs=0.6)
    assert min(first) >= 75 - 19
    assert max(first) <= 75 + 19


def test_a_pool_has_to_be_enough_for_more_of_one_side_where_chance_decides():
    study = studies.study(balance="people")

    assert sampling.lack(study, sampling.pool_of(studies.pool(study, each=65))) == ""
    assert "64 of 65 reals" in sampling.lack(study, sampling.pool_of(studies.pool(study, each=64)))


def test_the_whole_pool_is_drawn_from():
    seen = set()
    for seed in range(300):
        blocks, _ = drawn(studies.study(images=20), seed=seed, each=60)
        seen.update(blocks[0].stimuli)

    assert len(seen) == 120


def test_a_qualification_draws_its_fakes_equally_from_all_models():
    study = studies.study(kind="qualification", models=("a", "b", "c", "d"))

    (block,), _ = drawn(study, model=None)

    assert Counter(block.models) == {None: 50, "a": 13, "b": 13, "c": 12, "d": 12} or sorted(
        count for model, count in Counter(block.models).items() if model
    ) == [12, 12, 13, 13]


def test_with_classes_a_block_shows_one_class_and_every_class_has_its_block():
    study = studies.study(classes=("cat", "dog", "owl"), images=30)
    by_name = {s.name: s.class_ for s in studies.pool(study, each=400)}

    blocks, _ = drawn(study)

    assert sorted(block.class_ for block in blocks) == ["cat", "dog", "owl"]
    assert all({by_name[name] for name in block.stimuli} == {block.class_} for block in blocks)
    assert [len(block.stimuli) for block in blocks] == [10, 10, 10]


@pytest.mark.parametrize("method", ["infinity", "time"])
def test_between_classes_a_session_shows_one_class_in_full_sessions(method):
    study = studies.study(method=method, classes=("cat", "dog"), class_design="between")
    pool = studies.pool(study, each=400)
    by_name = {stimulus.name: stimulus for stimulus in pool}

    blocks, spares = drawn_from(sampling.pool_of(pool), study, class_="dog")

    assert [len(block.stimuli) for block in blocks] == {"infinity": [100], "time": [150] * 3}[method]
    assert all(Counter(block.truths)[REAL] * 2 == len(block.stimuli) for block in blocks)
    shown = [by_name[name] for block in (*blocks, *spares) for name in block.stimuli]
    assert {(each.model, each.class_) for each in shown} == {(None, "dog"), ("gan", "dog")}
    assert (
        len(set(shown)) == len(shown) == study.protocol.stimuli.trials + study.protocol.stimuli.spare_images
    )


def test_between_classes_each_class_must_be_enough_for_a_whole_session():
    study = studies.study(classes=("cat", "dog"), class_design="between")

    assert sampling.lack(study, sampling.pool_of(studies.pool(study, each=50))) == ""
    assert "49 of 50 reals of class cat" in sampling.lack(
        study, sampling.pool_of(studies.pool(study, each=49))
    )


@pytest.mark.parametrize(
    ("kind", "classes", "said"),
    [("study", (), "needs classes"), ("qualification", ("cat", "dog"), "shows pictures of all classes")],
)
def test_between_classes_is_refused_where_it_means_nothing(kind, classes, said):
    study = studies.study(kind=kind, classes=classes, class_design="between")

    assert said in sampling.lack(study, sampling.pool_of(studies.pool(study, each=400)))


def test_conditions_are_models_or_each_class_of_each_model():
    within = studies.study(classes=("cat", "dog"), evaluators=5)
    between = studies.study(classes=("cat", "dog"), class_design="between", evaluators=5)

    assert [each.name for each in within.conditions] == ["gan", "vae"]
    assert [each.name for each in between.conditions] == ["gan/cat", "gan/dog", "vae/cat", "vae/dog"]
    assert (within.evaluators_a_group, between.evaluators_a_group) == (5, 10)


A, B, C = Condition(("a",)), Condition(("b",)), Condition(("c",))


def of_each(count, *conditions):
    return {condition.name: count for condition in conditions}


def test_a_session_goes_to_the_condition_that_is_furthest_behind():
    chosen = sampling.choose_condition({"a": 3, "b": 1, "c": 2}, (A, B, C), of_each(30, A, B, C), Random(1))
    by_class = tuple(Condition(("a",), class_) for class_ in ("cat", "dog"))

    assert chosen == B
    taken, wanted = {"a/cat": 1, "a": 9}, of_each(30, *by_class)
    assert sampling.choose_condition(taken, by_class, wanted, Random(1)) == by_class[1]


def test_ties_between_conditions_fall_to_either():
    chosen = {sampling.choose_condition({}, (A, B), of_each(30, A, B), Random(seed)) for seed in range(20)}

    assert chosen == {A, B}


def test_a_full_study_takes_nobody():
    with pytest.raises(Conflict, match="every model has its 2 evaluators"):
        sampling.choose_condition({"a": 2, "b": 2}, (A, B), of_each(2, A, B), Random(1))
    with pytest.raises(Conflict, match="every class of every model has its 1 evaluators"):
        sampling.choose_condition({"a/cat": 1}, (Condition(("a",), "cat"),), {"a/cat": 1}, Random(1))


def test_a_pool_that_is_too_small_is_named_with_what_it_lacks():
    study = studies.study()
    pool = sampling.pool_of(studies.pool(study, each=12))

    with pytest.raises(InvalidInput, match="lacks pictures") as refused:
        JUDGMENT.check_pool(study, pool)

    assert str(refused.value) == (
        "study faces lacks pictures for a HYPE-infinity session of 100, half of them real: it has "
        "12 of 50 reals, 12 of 50 fakes of gan, 12 of 50 fakes of vae; add pictures, or ask for fewer: "
        "--set images=24 is the most for these"
    )


def without(pool, model, count):
    """Return a pool of which `count` pictures of a model are gone."""
    gone = {stimulus.name for stimulus in [s for s in pool if s.model == model][:count]}
    return sampling.pool_of([stimulus for stimulus in pool if stimulus.name not in gone])


@pytest.mark.parametrize(
    ("method", "kind", "classes", "each", "advice"),
    [
        ("infinity", "study", (), 19, "--set images=38 is the most"),
        ("infinity", "study", ("x", "y"), 19, "--set images=76 is the most"),
        ("infinity", "qualification", (), 30, "--set images=60 is the most"),
        # 3 blocks of 26: 39 a side, and 4 to spare; 1 block of 78: 39 and 4
        ("time", "study", (), 43, "--set images=26 or --set blocks=1 --set images=78 is the most"),
        # each class has up to 2 of the 3 blocks: 2 x 13 and 3 to spare; alone 27 and 3
        ("time", "study", ("x", "y"), 30, "--set images=26 or --set blocks=1 --set images=54 is the most"),
        ("time", "study", (), 3, "--set blocks=1 --set images=4 is the most"),
        ("infinity", "study", (), 1, "--set images=2 is the most"),
    ],
)
def test_the_most_that_a_small_pool_is_enough_for_is_named_and_gives_a_session(
    method, kind, classes, each, advice
):
    study = studies.study(method=method, kind=kind, classes=classes)
    pool = sampling.pool_of(studies.pool(study, each=each))

    message = sampling.lack(study, pool)

    assert advice in message
    for way in message.partition("ask for fewer: ")[2].partition(" is the most")[0].split(" or "):
        settings = dict(setting.split("=") for setting in way.removeprefix("--set ").split(" --set "))
        smaller = studies.study(method=method, kind=kind, classes=classes, **settings)
        assert sampling.lack(smaller, pool) == ""
        drawn_from(pool, smaller, None if kind == "qualification" else "gan")


def test_with_no_pictures_nothing_smaller_is_advised():
    study = studies.study()
    pool = without(studies.pool(study, each=1), "gan", 1)

    assert sampling.lack(study, pool).endswith(
        "it has 1 of 50 reals, 0 of 50 fakes of gan, 1 of 50 fakes of vae; add pictures"
    )


def test_a_qualification_of_several_blocks_needs_an_even_share_of_each_model_in_each_block():
    study = studies.study(kind="qualification", models=("a", "b", "c"), images=10, blocks=3)
    pool = studies.pool(study, each=60)

    # of 5 fakes a block a model may be asked for 2, so for 6 in all
    assert "5 of 6 fakes of a" in sampling.lack(study, without(pool, "a", 55))
    assert sampling.lack(study, without(pool, "a", 54)) == ""


@pytest.mark.parametrize(("each", "spares"), [(225, 0), (230, 5), (255, 30), (400, 30)])
def test_spares_are_what_the_blocks_leave(each, spares):
    study = studies.study(method="time")

    assert sampling.spares_left(study, sampling.pool_of(studies.pool(study, each=each))) == spares


@pytest.mark.parametrize(("method", "classes", "each"), [("time", ("x", "y"), 150), ("infinity", (), 50)])
def test_the_smallest_pool_that_passes_the_check_gives_a_session(method, classes, each):
    study = studies.study(method=method, classes=classes)
    pool = sampling.pool_of(studies.pool(study, each=each))

    JUDGMENT.check_pool(study, pool)
    blocks, _ = drawn_from(pool, study)

    assert sum(len(block.stimuli) for block in blocks) == study.protocol.stimuli.trials


@pytest.mark.parametrize(
    ("each", "words"),
    [
        (5000, None),
        (1000, "1,000 pictures a side, fewer than the paper's 5,000; intervals allow for"),
        (
            199,
            "few pictures: 199 a side, of which a session shows 50. "
            "More pictures (200) narrow the interval more than more people",
        ),
    ],
)
def test_pools_smaller_than_the_papers_are_told(each, words):
    study = studies.study()

    note = sampling.pool_note(study, sampling.pool_of(studies.pool(study, each=each)))

    assert note is None if words is None else words in note


def test_the_smallest_side_counts():
    study = studies.study()
    pool = sampling.Pool({"": range(6000)}, {"gan": {"": range(6000)}, "vae": {"": range(60)}})

    assert sampling.pool_note(study, pool).startswith("few pictures: 60 a side,")
