"""Where practice and attention checks stand in a session, and which settings go together."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from scipy.stats import chisquare

from backend.experiment import sampling, unscored
from backend.experiment.groups.unscored import UnscoredSettings
from backend.experiment.judgment import Turn
from backend.experiment.judgments import judgment_of
from backend.experiment.records import CHECK, INSTRUCTED, PRACTICE, TEST
from backend.foundation.errors import InvalidInput

from .. import sample_studies as studies
from .. import unscored_studies

OPPOSITE = {"real": "fake", "fake": "real"}


def drawn(study, seed, pool=None):
    pool = pool or sampling.pool_of(unscored_studies.stimuli(study))
    blocks, _ = judgment_of(study.protocol.method).draw(
        study, pool, Turn(study.conditions[0], 0, Random(seed), Random(seed))
    )
    return blocks


def trials(block):
    return [
        (block.stimuli[i], block.truths[i], block.models[i], block.kind(i)) for i in range(len(block.stimuli))
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_session_begins_with_practice_and_has_its_checks_between_scored_trials(seed):
    study = studies.study(images=20, practice_images=6, picture_checks=4, instructed_checks=2)

    practice, block = drawn(study, seed)

    assert Counter((truth, kind) for _, truth, _, kind in trials(practice)) == {
        ("real", PRACTICE): 3,
        ("fake", PRACTICE): 3,
    }
    kinds = [kind for *_, kind in trials(block)]
    assert Counter(kinds) == {TEST: 20, CHECK: 4, INSTRUCTED: 2}
    assert kinds[0] == TEST
    assert all(TEST in pair for pair in pairwise(kinds))
    assert Counter(truth for _, truth, _, kind in trials(block) if kind == TEST) == {"real": 10, "fake": 10}
    assert Counter(truth for _, truth, _, kind in trials(block) if kind == CHECK) == {"real": 2, "fake": 2}
    names = [name for part in (practice, block) for name in part.stimuli]
    assert len(set(names)) == len(names)


def test_scored_trials_are_as_without_practice_and_checks():
    plain = studies.study(images=20)
    study = studies.study(images=20, practice_images=6, picture_checks=4, instructed_checks=2)

    _, block = drawn(study, 3)

    (before,) = drawn(plain, 3)
    assert [trial for trial in trials(block) if trial[3] == TEST] == trials(before)
    assert before.kinds == ()


def test_unscored_trials_show_pictures_of_their_own_folders_and_scored_ones_never_do():
    study = studies.study(images=40, practice_images=8, picture_checks=8, instructed_checks=4)
    roles = {each.name: each.role for each in unscored_studies.stimuli(study)}
    of_kind = {TEST: "", PRACTICE: "practice", CHECK: "check", INSTRUCTED: "check"}

    for seed in range(30):
        for block in drawn(study, seed):
            assert all(roles[name] == of_kind[kind] for name, _, _, kind in trials(block))


def test_an_instruction_asks_for_what_the_picture_is_not_in_equal_parts():
    study = studies.study(images=40, instructed_checks=8)
    truths = {each.name: each.truth for each in unscored_studies.stimuli(study)}

    (block,) = drawn(study, 5)

    asked = [(answer, truths[name]) for name, answer, _, kind in trials(block) if kind == INSTRUCTED]
    assert Counter(asked) == {("real", "fake"): 4, ("fake", "real"): 4}


def test_checks_stand_after_each_scored_trial_equally_often_and_their_kinds_too():
    study = studies.study("s", "time", images=10, blocks=2, spare_images=4, instructed_checks=2)
    pool = sampling.pool_of(unscored_studies.stimuli(study))
    after, asked = Counter(), Counter()

    for seed in range(2000):
        scored = 0
        for block in drawn(study, seed, pool):
            for _, answer, _, kind in trials(block):
                scored += kind == TEST
                if kind != TEST:
                    after[scored] += 1
                    asked[scored <= 10, answer] += 1

    assert sorted(after) == [*range(1, 21)]
    assert chisquare([after[i] for i in range(1, 21)]).pvalue > 0.01
    assert chisquare([*asked.values()]).pvalue > 0.01


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("infinity", {"practice_images": 3}, "practice_images must be even, half of them being real, not 3"),
        ("infinity", {"picture_checks": -2}, "picture_checks must be from 0 to 200, not -2"),
        ("infinity", {"practice_images": "1e400"}, "practice_images must be a whole number"),
        ("infinity", {"exclude_checks_below": "nan"}, "exclude_checks_below must be finite"),
        ("infinity", {"exclude_checks_below": 0.8}, "exclude_checks_below needs attention checks"),
        ("infinity", {"images": 4, "picture_checks": 6}, "at most as many as the 4 scored pictures"),
        ("time", {"picture_checks": 2}, "picture_checks do not go with HYPE-time"),
        (
            "infinity",
            {"exclude_accuracy_below": 0.5},
            "nobody is excluded by right or wrong answers on the measured models",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(method, settings, message):
    def made():
        study = studies.study("s", method, **settings)
        judgment_of(method).check(study.protocol, study.kind)

    with pytest.raises(InvalidInput, match=message):
        made()


def test_a_qualification_has_no_rule_for_exclusion():
    study = studies.study(kind="qualification", instructed_checks=2, exclude_checks_below=0.5)

    with pytest.raises(InvalidInput, match="a qualification gives no scores"):
        judgment_of("infinity").check(study.protocol, study.kind)


def test_a_pool_that_lacks_pictures_for_practice_or_checks_is_refused_with_the_most_there_is():
    study = studies.study(practice_images=20, picture_checks=4, instructed_checks=22)
    pool = sampling.pool_of(unscored_studies.stimuli(study, aside=8))

    lack = unscored.lack(study, pool)

    assert lack == (
        "study faces lacks pictures for practice: it has 8 of 10 reals, 8 of 10 fakes; lower practice_images "
        "to at most 16, or make the study with more pictures (--practice DIR); "
        "study faces lacks pictures for attention checks: it has 8 of 13 reals, 8 of 13 fakes; lower "
        "picture_checks and instructed_checks to at most 16 in total, or make the study with more pictures "
        "(--checks DIR)"
    )
    assert unscored.lack(studies.study(), pool) == ""


def test_what_is_set_aside_is_half_real_from_all_models_alike_and_the_same_each_time():
    study = studies.study(models=("a", "b", "c"), classes=("cat", "dog"))
    pool = studies.pool(study, each=30)
    settings = UnscoredSettings(practice_images=12, instructed_checks=4)

    found = unscored.set_aside(pool, settings, Random(1))

    assert found == unscored.set_aside(pool, settings, Random(1))
    assert [each.name for each in found] == [each.name for each in pool]
    assert Counter((each.role, each.truth) for each in found if each.role) == {
        ("practice", "real"): 6,
        ("practice", "fake"): 6,
        ("check", "real"): 2,
        ("check", "fake"): 2,
    }
    fakes = Counter(each.model for each in found if each.role == "practice" and each.model)
    assert fakes == {"a": 2, "b": 2, "c": 2}


def test_nothing_is_set_aside_for_a_role_with_pictures_of_its_own():
    study = studies.study()
    pool = studies.pool(study, each=30)
    settings = UnscoredSettings(practice_images=12, picture_checks=2, instructed_checks=4)

    found = unscored.set_aside(pool, settings, Random(1), ["practice", "check"])

    assert found == tuple(pool)
