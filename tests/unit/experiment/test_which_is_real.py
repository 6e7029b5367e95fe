"""Pairs of a real and a fake: which are drawn, on which sides, and what passes a qualification."""

import dataclasses
import re
from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from backend.experiment import sampling
from backend.experiment.judgment import Turn, pictures_of
from backend.experiment.judgments import judgment_of
from backend.experiment.judgments.which_is_real import JUDGMENT, PAIR_QUALIFICATION, passing_by_guessing
from backend.experiment.records import Condition, Stimulus
from backend.experiment.session import Cursor, picture_of
from backend.foundation.errors import InvalidInput

from .. import sample_studies as studies
from ..stores.dynamodb.test_unscored_codec import stored_pool


def study(**settings):
    return studies.study(method="pair", **{"panel": "link", **settings})


def drawn(of, pool=None, seed=1, turn=0, models=("gan",), balance_rng=None):
    pool = sampling.pool_of(pool if pool is not None else studies.pool(of))
    condition = Condition(models) if models else None
    return JUDGMENT.draw(of, pool, Turn(condition, turn, Random(seed), balance_rng or Random(f"coin {seed}")))


def trials(blocks):
    return [
        trial for block in blocks for trial in zip(block.stimuli, block.truths, block.models, strict=True)
    ]


@pytest.mark.parametrize("balance", ["people", "session"])
def test_each_pair_is_a_real_beside_a_fake_of_the_model_and_none_is_repeated(balance):
    of = study(balance=balance, images=20, blocks=2, spare_images=6)
    stimuli = studies.pool(of)
    known = {stimulus.name: stimulus for stimulus in stimuli}

    blocks, spares = drawn(of, stimuli)

    assert [len(block.stimuli) for block in blocks] == [20, 20]
    assert sum(len(block.stimuli) for block in spares) == 6
    seen = []
    for shown, truth, model in trials((*blocks, *spares)):
        left, right = (known[name] for name in pictures_of(shown))
        assert {"left": (left, right), "right": (right, left)}[truth][0].model is None
        assert {left.model, right.model} == {None, model} == {None, "gan"}
        assert JUDGMENT.truth((left, right)) == truth
        seen += pictures_of(shown)
    assert len(set(seen)) == len(seen) == 2 * 46


def test_over_ten_thousand_trials_sides_are_even_and_independent_of_what_came_before():
    """Of 10,000 fair tosses 4 SDs from half are 200; so are those of equal consecutive pairs."""
    of = study(images=50)
    pool = studies.pool(of)

    sides = [[truth for _, truth, _ in trials(drawn(of, pool, seed)[0])] for seed in range(200)]

    lefts = sum(own.count("left") for own in sides)
    repeats = sum(a == b for own in sides for a, b in pairwise(own))
    assert abs(lefts - 5000) < 200
    assert abs(repeats - 4900) < 200
    counts = [own.count("left") for own in sides]
    variance = sum((count - 25) ** 2 for count in counts) / len(counts)
    assert 8.5 < variance < 17.5, "binomial: 12.5, and 4 SDs of its estimate from 200 are 5"


def test_two_consecutive_evaluators_see_as_many_left_as_right_in_orders_of_their_own():
    of = study(images=21)

    first, second = (
        [truth for _, truth, _ in trials(drawn(of, seed=turn, turn=turn, balance_rng=Random("same"))[0])]
        for turn in (0, 1)
    )

    assert first.count("left") + second.count("left") == 21
    assert [{"left": "right", "right": "left"}[side] for side in first] != second


@pytest.mark.parametrize(("images", "lefts"), [(20, {10}), (7, {3, 4})])
def test_with_balance_in_the_session_half_of_each_block_are_left(images, lefts):
    of = study(images=images, balance="session", blocks=2)
    pool = studies.pool(of)

    found = {
        block.truths.count("left") for seed in range(20) for block in drawn(of, pool, seed, turn=seed)[0]
    }

    assert found == lefts


def test_the_two_of_a_pair_are_of_one_class_and_the_classes_share_the_session():
    of = dataclasses.replace(study(images=10, spare_images=4), classes=("cat", "dog"))
    stimuli = studies.pool(of)
    known = {stimulus.name: stimulus for stimulus in stimuli}

    blocks, spares = drawn(of, stimuli)

    assert sorted((block.class_, len(block.stimuli)) for block in blocks) == [("cat", 5), ("dog", 5)]
    for block in (*blocks, *spares):
        assert {known[name].class_ for shown in block.stimuli for name in pictures_of(shown)} == {
            block.class_
        }


def test_a_class_for_each_evaluator_is_drawn_too():
    of = dataclasses.replace(study(images=10, class_design="between"), classes=("cat", "dog"))
    pool = sampling.pool_of(studies.pool(of))

    blocks, _ = JUDGMENT.draw(of, pool, Turn(Condition(("gan",), "dog"), 0, Random(1), Random(1)))

    assert [(block.class_, len(block.stimuli)) for block in blocks] == [("dog", 10)]


def test_spares_of_each_side_are_as_many_so_that_running_out_says_nothing():
    of = study(images=10, spare_images=12)

    for seed in range(20):
        _, spares = drawn(of, seed=seed)

        assert Counter(side for _, side, _ in trials(spares)) == {"left": 6, "right": 6}


def test_exposures_are_dealt_to_pairs_and_one_arm_has_one():
    of = study(images=12, exposures_ms="100,500,unlimited")
    blocks, _ = drawn(of)
    assert Counter(blocks[0].exposures_ms) == {100: 4, 500: 4, None: 4}

    arms = study(images=12, exposures_ms="100,500", exposure_design="between")
    pool = sampling.pool_of(studies.pool(arms))
    blocks, _ = JUDGMENT.draw(arms, pool, Turn(Condition(("gan",), arm="500"), 0, Random(1), Random(1)))
    assert set(blocks[0].exposures_ms) == {500}


def test_a_qualification_shows_fakes_of_all_models_in_equal_parts():
    of = studies.study(method="pair", kind="qualification", images=20, panel="link")

    blocks, _ = drawn(of, models=None)

    assert Counter(model for _, _, model in trials(blocks)) == {"gan": 10, "vae": 10}


@pytest.mark.parametrize(
    ("settings", "each", "message"),
    [
        ({"images": 60}, 50, "it has 50 of 60 reals, 50 of 60 fakes of gan, 50 of 60 fakes of vae"),
        ({"images": 60}, 50, "ask for fewer pairs: --set images=50$"),
        ({"images": 30, "blocks": 2}, 50, "a session of 60 pairs in 2 blocks"),
        ({"images": 30, "exposures_ms": "100"}, 33, "^$"),
        ({"images": 40, "exposures_ms": "100"}, 33, "fewer pairs: --set images=30$"),
        ({"images": 2, "exposures_ms": "100,200,300"}, 33, "needs 3 pairs or more, and has 2"),
        ({"class_design": "between"}, 60, "class_design=between needs classes"),
        ({"images": 2}, 1, "it has 1 of 2 reals, 1 of 2 fakes of gan, 1 of 2 fakes of vae; add pictures$"),
    ],
)
def test_a_pool_that_is_too_small_is_told_with_what_it_allows(settings, each, message):
    of = study(**settings)

    assert re.search(message, JUDGMENT.lack(of, sampling.pool_of(studies.pool(of, each))))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampling": "least-seen"}, "Pairs samples pairs at random; leave sampling=random"),
        ({"images": 2501}, "Pairs has at most 2500 pairs a block"),
        ({"spare_images": 501}, "Pairs has at most 500 spare pairs"),
        ({"debrief": "true"}, "Pairs has no debrief"),
        ({"mark": "click"}, "Pairs has no marks"),
        ({"comment": "optional"}, "Pairs has no answer 'fake'; set reasons_for=all"),
        ({"models_per_session": 2}, "Pairs shows one model a session"),
        ({"practice_images": 2}, "Pairs has no practice trials, attention checks"),
    ],
)
def test_what_it_does_not_have_is_refused(settings, message):
    of = study(**settings)

    with pytest.raises(InvalidInput, match=message):
        JUDGMENT.check(of.protocol, "study")


def test_a_test_without_time_limit_is_accepted_and_one_with_is_not():
    JUDGMENT.check(PAIR_QUALIFICATION, "qualification")

    with pytest.raises(InvalidInput, match="Pairs has no qualification with a time limit"):
        JUDGMENT.check(PAIR_QUALIFICATION.changed(exposures_ms=(100.0,)), "qualification")


@pytest.mark.parametrize(("settings"), [{"images": 21}, {"spare_images": 3}])
def test_pairs_may_be_odd_in_number_where_pictures_may_not(settings):
    JUDGMENT.check(study(**settings).protocol, "study")

    single = studies.study(**settings)
    with pytest.raises(InvalidInput, match=f"{next(iter(settings))} must be even"):
        judgment_of("infinity").check(single.protocol, "study")


@pytest.mark.parametrize(
    ("pairs", "share", "chance"),
    [
        (4, 0.75, 5 / 16),  # 3 or 4 of 4 right: 4 + 1 of 16 ways
        (4, 0.74, 5 / 16),
        (4, 1, 1 / 16),
        (4, 0, 1),
        (50, 0.65, 0.016420),  # R: pbinom(32, 50, 0.5, lower.tail = FALSE)
        (100, 0.65, 0.0017588),  # R: pbinom(64, 100, 0.5, lower.tail = FALSE)
    ],
)
def test_the_probability_of_passing_by_guessing(pairs, share, chance):
    assert passing_by_guessing(pairs, share) == pytest.approx(chance, rel=1e-4)


@pytest.mark.parametrize(("right", "passed"), [(13, True), (12, False)])
def test_a_share_of_the_pairs_passes_a_qualification_on_whichever_sides(right, passed):
    of = studies.study(method="pair", kind="qualification", images=20, panel="link")
    session = studies.session(of, model=None)

    result = JUDGMENT.qualification_result(
        session, of.protocol, Cursor(right={"left": right - 2, "right": 2}, state="finished")
    )

    assert result == {"passed": passed, "right": right / 20, "needed": 0.65, "may_retake": False}


def test_who_did_not_finish_has_not_passed():
    of = studies.study(method="pair", kind="qualification", images=20, panel="link")
    cursor = Cursor(right={"left": 20}, state="ended")

    assert not JUDGMENT.qualification_result(studies.session(of, model=None), of.protocol, cursor)["passed"]


def test_a_row_tells_what_stood_on_each_side():
    of = study(images=10)
    session = studies.session(of)

    for shown, truth, _ in trials(session.blocks):
        row = JUDGMENT.row(picture_of(session, shown), None)
        assert row == {
            "left": "real" if truth == "left" else "gan",
            "right": "real" if truth == "right" else "gan",
        }


def partners(classes=("",), models=("gan", "vae"), each=30):
    """Return a pool in which partners, of the same number on all sides, have names that begin alike."""
    rng = Random(5)
    stimuli = []
    for class_ in classes:
        for number in range(each):
            begins = f"{rng.getrandbits(64):016x}"
            for model in (None, *models):
                name = f"{begins}{rng.getrandbits(64):016x}.png"
                truth = "real" if model is None else "fake"
                stimuli.append(Stimulus(name, truth, model, class_, f"{number}.png"))
    return sorted(stimuli, key=lambda stimulus: stimulus.name)


@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize("classes", [(), ("cats", "dogs")])
def test_partners_stand_side_by_side_each_source_once_in_a_session(classes, is_stored):
    """A qualification shows fakes of both models, in blocks of a class each; names are in memory or pages."""
    of = studies.study("test", "pair", "qualification", classes=classes, images=12, blocks=2, spare_images=4)
    of = dataclasses.replace(of, protocol=of.protocol.changed(pairing="source"))
    stimuli = partners(classes or ("",))
    pool = stored_pool(stimuli).pool() if is_stored else sampling.pool_of(stimuli)
    models, sources = Counter(), []

    blocks, spares = JUDGMENT.draw(of, pool, Turn(None, 0, Random(3), Random(4)))

    for shown, truth, model in trials((*blocks, *spares)):
        left, right = pictures_of(shown)
        assert left[:16] == right[:16]
        by_name = {stimulus.name: stimulus for stimulus in stimuli}
        assert {by_name[left].model, by_name[right].model} == {None, model}
        assert JUDGMENT.truth((by_name[left], by_name[right])) == truth
        models[model] += 1
        sources.append(left[:16])
    assert len({*sources}) == len(sources) == (16 if classes else 28)
    assert models["gan"] == models["vae"]


def test_sources_are_drawn_evenly_and_sides_say_nothing():
    """In 600 sessions of 10 of 30 sources each is shown 200 times (SD 12), and real stands left in half."""
    of = study(pairing="source", images=10, spare_images=0)
    pool, shown, lefts = partners(models=("gan",)), Counter(), 0

    for seed in range(600):
        blocks, _ = drawn(of, pool, seed)
        for pair, truth, _ in trials(blocks):
            shown[pair[:16]] += 1
            lefts += truth == "left"

    assert 200 - 5 * 12 < min(shown.values()) <= max(shown.values()) < 200 + 5 * 12
    assert abs(lefts - 3000) < 4 * 39
