"""Same or different (JND): test pairs, sentinels and training, which nothing but pictures tells apart."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from scipy import stats

from backend.experiment import protocol, sampling
from backend.experiment import session as sessions
from backend.experiment.judgments import real_or_fake
from backend.experiment.judgments.same_or_different import (
    DIFFERENT,
    JND,
    JUDGMENT,
    SAME,
    of_sentinels,
    of_training,
)
from backend.experiment.records import CHECK, PRACTICE, TEST, Timing
from backend.experiment.session import Posted
from backend.experiment.settings import from_json, with_settings
from backend.foundation.errors import InvalidInput

from .. import similarity_studies as studies

AT = "2026-01-01T00:00:00.000Z"
PAPER = {"images": 160, "picture_checks": 40, "practice_images": 10, "spare_images": 40}
FRAME_MS = 1000 / 60
PLANNED = (30, 60, 15, 60)
"""Refreshes at 60 Hz of the mark before, 1 s, 250 ms and 1 s."""


def kinds(session):
    return [block.kind(i) for block in session.blocks for i in range(len(block.stimuli))]


def truths(session, kind):
    return Counter(
        truth for block in session.blocks for i, truth in enumerate(block.truths) if block.kind(i) == kind
    )


def test_a_session_is_that_of_the_paper():
    # Zhang et al. 2018, 3.2: 160 pairs; 32 identical and 8 noisy sentinels; training of 4 same, 1 obvious
    # and 5 different pairs
    made = studies.study(**PAPER)
    session = studies.session(made, studies.pool(made, 300, 80))

    assert Counter(kinds(session)) == {TEST: 160, CHECK: 40, PRACTICE: 10}
    assert truths(session, TEST) == {"": 160}
    assert truths(session, CHECK) == {SAME: 32, DIFFERENT: 8}
    assert truths(session, PRACTICE) == {SAME: 4, DIFFERENT: 6}
    assert session.blocks[0].is_practice
    assert {ms for block in session.blocks for ms in block.exposures_ms} == {1000}


def test_the_default_is_the_paper_s_session_with_its_times():
    default = JND

    assert (default.stimuli.trials, default.unscored.picture_checks, default.unscored.practice_images) == (
        160,
        40,
        10,
    )
    assert (default.timing.exposures_ms, default.judgment.gap_ms, default.timing.mask_count) == (
        (1000,),
        250,
        0,
    )
    assert not default.page.feedback
    JUDGMENT.check(default, "study")


@pytest.mark.parametrize(("count", "same"), [(0, 0), (2, 1), (10, 8), (40, 32)])
def test_sentinels_of_any_number_have_both_answers(count, same):
    assert of_sentinels(count) == {SAME: same, DIFFERENT: count - same}


@pytest.mark.parametrize(("count", "same"), [(0, 0), (2, 1), (4, 2), (10, 4)])
def test_training_of_any_number_has_both_answers(count, same):
    assert of_training(count) == {SAME: same, DIFFERENT: count - same}


def test_no_pair_comes_twice_in_a_session_or_its_spares():
    session = studies.session(studies.study())

    names = [name for block in (*session.blocks, *session.spares) for name in block.stimuli]
    assert len(names) == len(set(names))


def test_every_pair_gets_as_many_judgments_as_any_other():
    made = studies.study(sets=("cnn", "traditional"), images=16)
    stimuli = studies.pool(made, each=40)
    judged = Counter(
        name
        for turn in range(15)  # 15 x 16 pairs: 3 judgments of each of 2 x 40
        for block in studies.session(made, stimuli, turn=turn).blocks
        for i, name in enumerate(block.stimuli)
        if block.kind(i) == TEST
    )

    assert Counter(judged.values()) == {3: 80}


def test_as_many_evaluators_are_wanted_as_three_judgments_a_pair_need():
    # 4,800 pairs x 3 judgments / 160 a session, as in the paper
    made = studies.study(**PAPER)
    complete = JUDGMENT.with_pool(made.protocol, sampling.pool_of(studies.pool(made, 4800)), {})

    assert complete.admission.evaluators == 90


def test_spares_are_pairs_of_the_session_s_sets_that_it_does_not_show():
    made = studies.study(sets=("cnn", "traditional"))
    session = studies.session(made)
    (spares,) = session.spares
    shown = {name for block in session.blocks for name in block.stimuli}

    assert Counter((spares.kind(i), spares.truths[i]) for i in range(len(spares.stimuli))) == {
        (TEST, ""): len(spares.stimuli) - 12,
        (CHECK, SAME): 6,
        (CHECK, DIFFERENT): 6,
    }
    assert len(spares.stimuli) - 12 in (6, 7)  # of each set in proportion, rounded up
    assert shown.isdisjoint(spares.stimuli)


def test_the_first_picture_is_always_p0():
    made = studies.study()
    stimuli = studies.pool(made)
    names = {stimulus.name for stimulus in stimuli}

    session = studies.session(made, stimuli)

    assert all(name in names for block in session.blocks for name in block.stimuli)


def test_sentinels_stand_anywhere_in_any_part():
    made = studies.study(images=16, blocks=2, picture_checks=8)
    stimuli = studies.pool(made)
    places, parts = Counter(), Counter()
    for seed in range(1500):
        session = studies.session(made, stimuli, seed)
        for number, block in enumerate(session.blocks[1:]):
            for place in range(len(block.stimuli)):
                places[place] += block.kind(place) == CHECK
                parts[number] += block.kind(place) == CHECK

    assert stats.chisquare([places[i] for i in range(20)]).pvalue > 1e-4
    assert parts[0] == parts[1]


def test_a_classifier_of_order_and_neighbours_finds_no_sentinel():
    made = studies.study(**PAPER)
    stimuli = studies.pool(made, 300, 80)
    is_check, features = [], []
    for seed in range(60):
        (block,) = studies.session(made, stimuli, seed).blocks[1:]
        kinds = [block.kind(i) == CHECK for i in range(len(block.stimuli))]
        for place in range(2, len(kinds)):
            is_check.append(kinds[place])
            features.append([1, place, place % 2, place % 5 == 0])

    weights, *_ = np.linalg.lstsq(np.array(features, float), np.array(is_check, float), rcond=None)
    score = np.array(features, float) @ weights
    area = stats.mannwhitneyu(score[np.array(is_check)], score[~np.array(is_check)])

    assert area.pvalue > 0.01


def test_a_pool_too_small_says_what_is_missing_and_what_to_do():
    made = studies.study()
    lack = JUDGMENT.lack(made, sampling.pool_of(studies.pool(made, each=10, known=2)))

    assert "lacks pairs for a session of 16: it has 10; add some, or ask for fewer: --set images=10" in lack
    assert "lacks sentinels: it has 2 of 8 same; lower picture_checks, or add pairs (--checks DIR)" in lack
    assert JUDGMENT.lack(made, sampling.pool_of(studies.pool(made, each=16, known=8))) == ""


def test_few_spares_are_a_note():
    made = studies.study()
    few = JUDGMENT.notes(made, sampling.pool_of(studies.pool(made, each=17, known=9)))

    assert "the pairs leave 1 spare test pairs, 1 spare same pairs a session, of 6 wanted" in few[-1]
    assert len(JUDGMENT.notes(made, sampling.pool_of(studies.pool(made)))) == 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"feedback": True}, "JND has no right answers to give feedback on"),
        ({"bonus_usd_cents": 1}, "JND has no right answers to pay for"),
        ({"debrief": True}, "JND has no debrief"),
        ({"balance": "people"}, "JND has no reals to balance"),
        ({"mask_count": 1}, "JND shows no masks"),
        ({"instructed_checks": 2}, r"JND has sentinels \(picture_checks\) instead of instructions"),
        ({"exposures_ms": "500,1000"}, "JND shows both pictures for one time in ms, .* not 500,1000"),
        ({"exposures_ms": "unlimited"}, "JND shows both pictures for one time in ms"),
        ({"exposure_design": "between"}, "JND has one exposure"),
        ({"class_design": "between"}, "JND has no classes, but sets"),
        ({"sampling": "uncertain"}, "JND shows the items with the fewest judgments first by itself"),
        ({"picture_checks": 200}, "picture_checks must be at most as many as the 160"),
        ({"comment": "optional", "reasons_for": "fake"}, "JND has no answer to which reasons belong"),
        ({"exclude_checks_below": 0.5, "picture_checks": 0}, "exclude_checks_below needs attention checks"),
    ],
)
def test_what_does_not_fit_is_refused(setting, message):
    made = with_settings(JND, setting)

    with pytest.raises(InvalidInput, match=message):
        JUDGMENT.check(made, "study")


def test_marks_and_qualifications_are_refused():
    with pytest.raises(InvalidInput, match="JND has no qualifications"):
        JUDGMENT.check(JND, "qualification")
    with pytest.raises(InvalidInput, match="mark=click does not go with a time limit"):
        with_settings(JND, {"mark": "click"})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"gap_ms": 0}, "gap_ms must be from 4 to 10000, not 0"),
        ({"gap_ms": 3}, "gap_ms must be from 4 to 10000, not 3"),
        ({"gap_ms": "nan"}, "gap_ms must be finite"),
        ({"gap_ms": 10001}, "gap_ms must be from 4 to 10000, not 10001"),
        ({"gap_ms": 4, "max_refresh_hz": 120}, "gap_ms is shorter than a refresh: 4 ms"),
        ({"staircase": "hype-2019"}, "staircase goes with method 'time'"),
    ],
)
def test_times_out_of_range_are_refused(setting, message):
    with pytest.raises(InvalidInput, match=message):
        with_settings(JND, setting)


def test_a_gap_is_for_two_pictures_only():
    with pytest.raises(InvalidInput, match="gap_ms goes with method 'jnd'"):
        with_settings(real_or_fake.INFINITY, {"gap_ms": 250})


def test_a_display_must_be_quick_enough_for_the_gap():
    # a refresh of 16 ms times the margin 1.05 is 59.5 Hz
    made = with_settings(JND, {"gap_ms": 16})

    assert made.slowest_refresh_hz == 59.5
    assert JND.slowest_refresh_hz == 50


def test_pictures_of_a_second_are_no_quick_changes_and_shorter_ones_are():
    assert not JND.has_quick_changes
    assert with_settings(JND, {"exposures_ms": 500}).has_quick_changes


def test_the_protocol_is_stored_and_read_again():
    made = with_settings(JND, {"gap_ms": 125.5})

    assert from_json(protocol.to_json(made)) == made


def begun(made, session=None):
    session = session or studies.session(made)
    cursor = sessions.opening(made.protocol, AT, session)
    return session, sessions.begin_block(session, made.protocol, cursor, 1, 0, {}, AT)


def posted(session, cursor, response=None, achieved=PLANNED, **changes):
    picture = sessions.stimulus_at(session, cursor, cursor.trial_index)
    timing = Timing("element", 0.4, PLANNED, achieved, tuple(FRAME_MS * n for n in achieved))
    facts = {
        "lease": cursor.lease,
        "trial_index": cursor.trial_index,
        "stimulus": picture.stimulus,
        "response": response or picture.truth or SAME,
        "exposure_ms": cursor.exposure_ms,
        "shown_ms": FRAME_MS * achieved[1],
        "frames": achieved[1],
        "frame_ms": FRAME_MS,
        "mask_ms": (),
        "rt": 400.0,
        "flags": (),
        "timing": timing,
        **changes,
    }
    return Posted(**facts)


def to_kind(made, session, cursor, kind):
    """Answer until a trial of a kind is open."""
    while True:
        block, offset = sessions.locate(session, cursor.trial_index)
        if cursor.blocks_begun <= block:
            cursor = sessions.begin_block(session, made.protocol, cursor, 1, block, {}, AT)
        if session.blocks[block].kind(offset) == kind:
            return cursor
        _, cursor = sessions.answer(session, made.protocol, cursor, posted(session, cursor), AT)


@pytest.mark.parametrize(
    ("achieved", "is_voided"),
    [
        ((30, 60, 15, 60), False),
        ((31, 60, 15, 60), False),
        ((30, 61, 15, 60), True),
        ((30, 60, 16, 60), True),
        ((30, 60, 15, 59), True),
    ],
)
def test_both_pictures_and_the_gap_are_judged_and_not_what_comes_before(achieved, is_voided):
    made = studies.study()
    session, cursor = begun(made)
    cursor = to_kind(made, session, cursor, TEST)

    _, after = sessions.answer(session, made.protocol, cursor, posted(session, cursor, achieved=achieved), AT)

    assert bool(after.voids) == is_voided


@pytest.mark.parametrize("kind", [TEST, CHECK])
@pytest.mark.parametrize("how", ["mistimed", "reload"])
def test_a_spare_of_its_own_kind_replaces_a_pair_that_was_not_seen_as_planned(kind, how):
    made = studies.study(sets=("cnn", "traditional"))
    for seed in range(5):
        session, cursor = begun(made, studies.session(made, seed=seed))
        cursor = to_kind(made, session, cursor, kind)
        before = sessions.stimulus_at(session, cursor, cursor.trial_index)
        if how == "mistimed":
            wrong = posted(session, cursor, flags=("mistimed",))
            _, after = sessions.answer(session, made.protocol, cursor, wrong, AT)
        else:
            after = sessions.resume(session, made.protocol, cursor, AT)
        spare = sessions.stimulus_at(session, after, after.trial_index)

        assert after.trial_index == cursor.trial_index
        assert spare.stimulus != before.stimulus
        assert (spare.kind, spare.truth, spare.model) == (before.kind, before.truth, before.model)


def test_training_is_shown_again_after_a_reload_and_not_replaced():
    made = studies.study()
    session, cursor = begun(made)

    after = sessions.resume(session, made.protocol, cursor, AT)

    assert after.voids == ()


@pytest.mark.parametrize("kind", [TEST, CHECK])
def test_spares_run_out_alike_for_every_kind(kind):
    made = studies.study()
    session, cursor = begun(made)
    cursor = to_kind(made, session, cursor, kind)
    count = 0

    while cursor.state == "active":
        wrong = posted(session, cursor, flags=("mistimed",))
        _, cursor = sessions.answer(session, made.protocol, cursor, wrong, AT)
        count += 1

    assert (cursor.state, count) == ("ended", 7)


def test_a_session_earns_the_base_whatever_is_answered():
    made = studies.study(base_usd_cents=300)
    earned = set()
    for response in (SAME, DIFFERENT):
        session, cursor = begun(made)
        while cursor.state == "active":
            block, _ = sessions.locate(session, cursor.trial_index)
            if cursor.blocks_begun <= block:
                cursor = sessions.begin_block(session, made.protocol, cursor, 1, block, {}, AT)
            _, cursor = sessions.answer(session, made.protocol, cursor, posted(session, cursor, response), AT)
            earned.add(sessions.earned_usd_cents(made.protocol, cursor))

    assert earned == {300}


def test_the_value_is_the_percentage_of_test_pairs_taken_for_the_same():
    rows = [
        {"trial_kind": TEST, "response": SAME, "truth": ""},
        {"trial_kind": TEST, "response": DIFFERENT, "truth": ""},
        {"trial_kind": "", "response": DIFFERENT, "truth": ""},
        {"trial_kind": CHECK, "response": SAME, "truth": SAME},
        {"trial_kind": PRACTICE, "response": SAME, "truth": SAME},
    ]

    assert float(JUDGMENT.value("jnd", rows)) == pytest.approx(100 / 3)


def test_the_same_seed_draws_the_same_session():
    made = studies.study()

    assert studies.session(made, seed=3) == studies.session(made, seed=3)
    assert studies.session(made, seed=3) != studies.session(made, seed=4)


@pytest.mark.parametrize("accuracy", [0, 0.3, 0.721, 1])
def test_simulated_evaluators_notice_as_often_as_they_are_told_and_agree_on_pairs(accuracy):
    made = studies.study()
    pairs = [pair for pair in studies.pool(made, each=400) if not pair.role]
    answers = np.array(
        [
            [
                JUDGMENT.simulated_answer(pair, pair.name.split(), accuracy, Random(f"{who} {pair.source}"))
                == DIFFERENT
                for pair in pairs
            ]
            for who in range(40)
        ]
    )

    assert answers.mean() == pytest.approx(accuracy, abs=0.04)
    if 0 < accuracy < 1:  # P varies by pair: z of standard deviation 1
        assert np.corrcoef(answers[:20].mean(0), answers[20:].mean(0))[0, 1] > 0.8


def test_sentinels_and_training_are_made_unless_the_researcher_gives_some():
    made = {}
    for each in JUDGMENT.made_items(JND, []):
        made[each.role, each.truth, each.changes] = each.count

    assert made == {
        (CHECK, SAME, ("none", "none")): 2 * 32 + 40,
        (CHECK, DIFFERENT, ("none", "heavy_noise")): 2 * 8 + 40,
        (PRACTICE, SAME, ("none", "none")): 4,
        (PRACTICE, DIFFERENT, ("none", "heavy_noise")): 1,
        (PRACTICE, DIFFERENT, ("none", "subtle")): 5,
    }
    assert {each.role for each in JUDGMENT.made_items(JND, [CHECK])} == {PRACTICE}
    assert JUDGMENT.made_items(with_settings(JND, {"picture_checks": 0, "practice_images": 0}), []) == []
