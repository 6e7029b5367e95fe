"""The way of a session: every answer once, in order, right or wrong by the server's own truth."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.experiment import session as sessions
from backend.experiment.judgments.real_or_fake import JUDGMENT
from backend.experiment.records import Timing
from backend.experiment.session import Posted
from backend.foundation.errors import Conflict

from .. import sample_studies as studies

AT = "2026-01-01T00:00:02.000Z"
TIME = studies.study(method="time", images=8, blocks=2, spare_images=4)
INFINITY = studies.study(images=8, spare_images=4)


def begun(study, display=None):
    session = studies.session(study)
    cursor = sessions.opening(study.protocol, AT)
    return session, sessions.begin_block(session, study.protocol, cursor, 1, 0, display or {}, AT)


def posted(session, cursor, right=True, **changes):
    picture = sessions.stimulus_at(session, cursor, cursor.trial_index)
    wrong = "fake" if picture.truth == "real" else "real"
    base = Posted(
        lease=cursor.lease,
        trial_index=cursor.trial_index,
        stimulus=picture.stimulus,
        response=picture.truth if right else wrong,
        exposure_ms=cursor.exposure_ms,
        shown_ms=None,
        frames=None,
        frame_ms=None,
        mask_ms=None,
        rt=100.0,
        flags=(),
    )
    return dataclasses.replace(base, **changes)


def answered(study, session, cursor, right=True):
    return sessions.answer(session, study.protocol, cursor, posted(session, cursor, right), AT)


def test_three_right_answers_in_a_row_lower_the_next_exposure():
    session, cursor = begun(TIME)
    exposures = []

    for right in (True, True, True, False, True):
        _, cursor = answered(TIME, session, cursor, right)
        exposures.append(cursor.exposure_ms)

    assert exposures == [500, 500, 470, 480, 480]


def test_each_block_starts_at_the_start_exposure_and_has_to_be_begun():
    session, cursor = begun(TIME)
    for _ in range(8):
        _, cursor = answered(TIME, session, cursor)

    assert (cursor.exposure_ms, cursor.right_in_a_row) == (500, 0)
    with pytest.raises(Conflict, match="after its block was begun"):
        answered(TIME, session, cursor)


def test_an_answer_before_its_picture_was_issued_is_refused():
    session = studies.session(INFINITY)
    cursor = sessions.opening(INFINITY.protocol, AT)

    with pytest.raises(Conflict, match="trial 0 comes next, after its block was begun"):
        answered(INFINITY, session, cursor)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trial_index": 3}, "trial 0 comes next"),
        ({"lease": 7}, "goes on in another tab"),
        ({"stimulus": "f" * 32 + ".png"}, "trial 0 shows"),
        ({"exposure_ms": 100}, "for 500 ms, not"),
    ],
)
def test_an_answer_that_does_not_fit_the_open_trial_is_refused(changes, message):
    session, cursor = begun(TIME)

    with pytest.raises(Conflict, match=message):
        sessions.answer(session, TIME.protocol, cursor, posted(session, cursor, **changes), AT)


def test_the_last_answer_finishes_the_session_and_no_further_one_is_taken():
    session, cursor = begun(INFINITY)
    for _ in range(8):
        _, cursor = answered(INFINITY, session, cursor)

    assert cursor.state == "finished"
    with pytest.raises(Conflict, match="the session is closed"):
        sessions.answer(session, INFINITY.protocol, cursor, posted_anything(cursor), AT)


def posted_anything(cursor):
    return Posted(cursor.lease, cursor.trial_index, "x", "real", None, None, None, None, None, None, ())


def test_a_visit_that_takes_over_makes_the_older_one_stale():
    session, cursor = begun(INFINITY)
    before = posted(session, cursor)

    taken = sessions.resume(session, INFINITY.protocol, cursor, AT)

    with pytest.raises(Conflict, match="goes on in another tab"):
        sessions.answer(session, INFINITY.protocol, taken, before, AT)


def test_a_picture_that_may_have_been_flashed_is_replaced_by_a_spare_of_the_same_truth():
    session, cursor = begun(TIME)
    _, cursor = answered(TIME, session, cursor, right=False)
    before = sessions.stimulus_at(session, cursor, 1)

    resumed = sessions.resume(session, TIME.protocol, cursor, AT)

    after = sessions.stimulus_at(session, resumed, 1)
    assert after.stimulus != before.stimulus
    assert after.stimulus in session.spares[0].stimuli
    assert (after.truth, after.class_) == (before.truth, before.class_)
    assert resumed.exposure_ms == cursor.exposure_ms == 510


def test_without_a_time_limit_a_reload_shows_the_same_picture():
    session, cursor = begun(INFINITY)

    resumed = sessions.resume(session, INFINITY.protocol, cursor, AT)

    assert resumed.voids == ()


def test_no_spare_comes_twice_and_without_spares_the_picture_is_shown_again():
    session, cursor = begun(TIME)
    seen = {sessions.stimulus_at(session, cursor, 0).stimulus}
    for _ in range(2):
        cursor = sessions.resume(session, TIME.protocol, cursor, AT)
        seen.add(sessions.stimulus_at(session, cursor, 0).stimulus)

    again = sessions.resume(session, TIME.protocol, cursor, AT)
    much_later = cursor
    for _ in range(29):  # of a defect: 31 reloads ended a session with the whole base
        much_later = sessions.resume(session, TIME.protocol, much_later, AT)

    assert len(seen) == 3
    assert sessions.stimulus_at(session, again, 0) == sessions.stimulus_at(session, cursor, 0)
    assert (again.state, again.exposure_ms) == ("active", 500)
    assert (much_later.state, much_later.voids) == ("active", again.voids)


@pytest.mark.parametrize("flags", [(), ("mistimed",)])
def test_an_answer_to_a_second_sight_is_paid_and_neither_scored_nor_in_the_staircase(flags):
    session, cursor = begun(TIME)
    for _ in range(3):
        cursor = sessions.resume(session, TIME.protocol, cursor, AT)

    flash = flashed(session, cursor, flags=flags)
    response, after = sessions.answer(session, TIME.protocol, cursor, flash, AT)
    replayed = sessions.replay(session, TIME.protocol, after, [response])

    assert response.flags == (*flags, "shown_again")
    assert not sessions.is_scored(session, after, response)
    assert (after.trial_index, after.exposure_ms, after.right_in_a_row) == (1, 500, 0)
    assert (after.right, after.voided_answers, after.failed_flashes) == ({"checks": 1}, 0, 0)
    assert sessions.earned_usd_cents(TIME.protocol, after) == 2
    assert (replayed.trial_index, replayed.right) == (1, {"checks": 1})


def test_a_reload_between_blocks_costs_no_spare():
    session, cursor = begun(TIME)
    for _ in range(8):
        _, cursor = answered(TIME, session, cursor)

    assert sessions.resume(session, TIME.protocol, cursor, AT).voids == ()


@given(
    rights=st.lists(st.booleans(), min_size=1, max_size=16),
    reloads=st.dictionaries(st.integers(0, 15), st.integers(1, 5), max_size=4),
)
@settings(max_examples=60)
def test_the_cursor_is_what_a_replay_of_the_stored_answers_gives(rights, reloads):
    session, cursor = begun(TIME)
    stored = []
    for i, right in enumerate(rights):
        for _ in range(reloads.get(i, 0)):
            cursor = sessions.resume(session, TIME.protocol, cursor, AT)
        if i == 8:
            cursor = sessions.begin_block(session, TIME.protocol, cursor, cursor.lease, 1, {}, AT)
        response, cursor = answered(TIME, session, cursor, right)
        stored.append(response)

    past = sessions.replay(session, TIME.protocol, cursor, stored)

    same = ("trial_index", "exposure_ms", "right_in_a_row", "right", "state")
    assert [getattr(past, name) for name in same] == [getattr(cursor, name) for name in same]


@pytest.mark.parametrize(
    ("reals", "fakes", "passed"), [(33, 33, True), (32, 50, False), (50, 32, False), (50, 50, True)]
)
def test_a_qualification_needs_65_percent_of_both_sides(reals, fakes, passed):
    study = studies.study(kind="qualification")
    session = studies.session(study, model=None)
    cursor = dataclasses.replace(
        sessions.opening(study.protocol, AT), state="finished", right={"real": reals, "fake": fakes}
    )

    result = JUDGMENT.qualification_result(session, study.protocol, cursor)

    assert result["passed"] is passed


def test_pay_is_the_base_and_two_cents_for_each_right_answer():
    protocol = studies.study(base_usd_cents=100).protocol
    cursor = dataclasses.replace(sessions.opening(protocol, AT), right={"real": 30, "fake": 12})

    assert sessions.earned_usd_cents(protocol, cursor) == 100 + 2 * 42


def flashed(session, cursor, right=True, achieved=(30, 6), **changes):
    timing = Timing("element", 0.4, (30, 6), achieved, (500.0, 100.0))
    return posted(session, cursor, right, timing=timing, **changes)


def test_an_answer_to_a_mistimed_flash_is_stored_and_a_spare_takes_its_place_at_the_same_exposure():
    session, cursor = begun(TIME)
    before = sessions.stimulus_at(session, cursor, 0)

    response, after = sessions.answer(
        session, TIME.protocol, cursor, flashed(session, cursor, achieved=(30, 7)), AT
    )

    spare = sessions.stimulus_at(session, after, 0)
    assert (response.stimulus, response.attempt, response.timing.achieved_frames) == (
        before.stimulus, 0, (30, 7),
    )  # fmt: skip
    assert (after.trial_index, after.exposure_ms, after.right_in_a_row) == (0, 500, 0)
    assert spare.stimulus in session.spares[0].stimuli
    assert spare.truth == before.truth
    assert not sessions.is_scored(session, after, response)


@pytest.mark.parametrize(
    "flag", ["mistimed", "hidden", "left_full_screen", "resized", "not_whole", "display_changed"]
)
def test_what_the_page_flags_as_not_seen_is_replaced(flag):
    session, cursor = begun(TIME)

    _, after = sessions.answer(session, TIME.protocol, cursor, flashed(session, cursor, flags=(flag,)), AT)

    assert (after.trial_index, after.voided_answers, len(after.voids)) == (0, 1, 1)


def test_a_flash_as_planned_counts():
    session, cursor = begun(TIME)

    response, after = sessions.answer(session, TIME.protocol, cursor, flashed(session, cursor), AT)

    assert (after.trial_index, after.voided_answers) == (1, 0)
    assert sessions.is_scored(session, after, response)


@pytest.mark.parametrize(
    ("achieved", "is_voided"),
    [((30, 30, 30, 6, 2, 2, 1, 2), 0), ((30, 31, 29, 6, 2, 2, 1, 2), 0),
     ((30, 30, 30, 5, 2, 2, 1, 2), 1), ((30, 30, 30, 6, 2, 2, 1, 3), 1)],
)  # fmt: skip
def test_picture_and_masks_are_judged_and_not_the_countdown(achieved, is_voided):
    session, cursor = begun(TIME)
    planned = (30, 30, 30, 6, 2, 2, 1, 2)
    timing = Timing("element", 0.4, planned, achieved, tuple(1000 / 60 * frames for frames in achieved))

    _, after = sessions.answer(session, TIME.protocol, cursor, posted(session, cursor, timing=timing), AT)

    assert after.voided_answers == is_voided


def paid(**changes):
    study = studies.study(method="time", images=8, blocks=2, base_usd_cents=160, **changes)
    return study, *begun(study)


@pytest.mark.parametrize(
    ("spares", "flag", "state", "owed"),
    [
        (20, "mistimed", "ended", 160 + 2 * 11),  # 10 spares of a truth, so that 11 flashes fail
        (4, "mistimed", "ended", 160 + 2 * 3),  # all that there were spares for, and the first one
        (4, "hidden", "broken_off", 3 * 160 / 16 + 2 * 3),  # 3 of 16 trials
        (20, "hidden", "broken_off", 11 * 160 / 16 + 2 * 11),
        (20, "left_full_screen", "broken_off", 11 * 160 / 16 + 2 * 11),
        (20, "resized", "broken_off", 11 * 160 / 16 + 2 * 11),  # by pinch, zoom, or another window
        (20, "not_whole", "broken_off", 11 * 160 / 16 + 2 * 11),
        (20, "display_changed", "ended", 160 + 2 * 11),  # as engines without a graphics card measure it
    ],
)
def test_without_a_spare_left_the_whole_base_is_owed_if_the_browser_failed_to_show_them(
    spares, flag, state, owed
):
    study, session, cursor = paid(spare_images=spares)
    earned = []

    while cursor.state == "active":
        flash = flashed(session, cursor, achieved=(30, 7), flags=(flag,))
        _, cursor = sessions.answer(session, study.protocol, cursor, flash, AT)
        earned.append(sessions.earned_usd_cents(study.protocol, cursor))

    assert cursor.state == state
    assert sessions.owed_usd_cents(study.protocol, 16, cursor) == owed
    assert set(earned[:-1]) == {160}, "shown earlier, the bonus would tell the truth of the spare"


def after_mistimed(session, cursor, count, study, flag="mistimed"):
    for _ in range(count):
        flash = flashed(session, cursor, flags=(flag,))
        _, cursor = sessions.answer(session, study.protocol, cursor, flash, AT)
    return cursor


MANY_SPARES = studies.study(method="time", images=8, blocks=2, spare_images=20)


def test_after_five_mistimed_flashes_in_a_row_an_evaluator_may_end_and_is_paid():
    session, cursor = begun(MANY_SPARES)
    cursor = after_mistimed(session, cursor, 5, MANY_SPARES)

    ended = sessions.end(cursor, cursor.lease, AT)

    assert (ended.state, ended.voids) == ("ended", cursor.voids)
    assert ended.version == cursor.version + 1
    assert sessions.earned_usd_cents(MANY_SPARES.protocol, ended) == 10
    assert sessions.end(ended, cursor.lease, AT) is ended


def test_who_hides_five_flashes_and_ends_is_paid_by_the_share_that_was_answered():
    study, session, cursor = paid(spare_images=20)
    cursor = after_mistimed(session, cursor, 4, study)
    cursor = after_mistimed(session, cursor, 1, study, "hidden")

    ended = sessions.end(cursor, cursor.lease, AT)

    assert (ended.state, ended.failed_flashes) == ("broken_off", 4)
    assert sessions.owed_usd_cents(study.protocol, 16, ended) == 5 * 160 / 16 + 2 * 5
    assert sessions.end(ended, cursor.lease, AT) is ended


def test_flashes_that_failed_at_other_pictures_count_as_tried():
    study, session, cursor = paid(spare_images=20)
    cursor = after_mistimed(session, cursor, 4, study)
    _, cursor = sessions.answer(session, study.protocol, cursor, flashed(session, cursor), AT)
    cursor = after_mistimed(session, cursor, 4, study, "hidden")
    cursor = after_mistimed(session, cursor, 1, study)

    ended = sessions.end(cursor, cursor.lease, AT)

    assert (ended.state, ended.failed_flashes) == ("ended", 5)


@pytest.mark.parametrize(
    ("trial_index", "voided", "expected"), [(0, 0, False), (0, 1, True), (1, 0, True), (2, 3, True)]
)
def test_an_answer_counts_as_one_though_its_flash_was_mistimed(trial_index, voided, expected):
    cursor = sessions.opening(TIME.protocol, AT)

    has = sessions.has_answered(dataclasses.replace(cursor, trial_index=trial_index, voided_answers=voided))

    assert has == expected


def test_nobody_ends_a_session_whose_flashes_are_shown():
    session, cursor = begun(MANY_SPARES)
    cursor = after_mistimed(session, cursor, 4, MANY_SPARES)
    shown = flashed(session, cursor)
    _, next_trial = sessions.answer(session, MANY_SPARES.protocol, cursor, shown, AT)

    for stands, count in (
        (cursor, 4),
        (after_mistimed(session, next_trial, 4, MANY_SPARES), 4),
        (next_trial, 0),
    ):
        with pytest.raises(Conflict, match=f"in a row; here are {count}") as refused:
            sessions.end(stands, stands.lease, AT)
        assert refused.value.code == "not_mistimed"


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"lease": 2}, "stale_lease"), ({"state": "finished"}, "closed"), ({"state": "returned"}, "returned"),
     ({"lease": 2, "state": "ended"}, "stale_lease")],
)  # fmt: skip
def test_a_session_is_ended_early_only_where_it_goes_on(changes, code):
    session, cursor = begun(MANY_SPARES)
    cursor = after_mistimed(session, cursor, 5, MANY_SPARES)

    said = {"stale_lease": "in another tab", "closed": "is closed", "returned": "was returned"}[code]
    with pytest.raises(Conflict, match=said) as refused:
        sessions.end(dataclasses.replace(cursor, **changes), cursor.lease, AT)

    assert refused.value.code == code


@given(mistimed=st.lists(st.booleans(), min_size=1, max_size=16), rights=st.lists(st.booleans(), min_size=16))
@settings(max_examples=60)
def test_a_replay_counts_mistimed_answers_as_the_session_did(mistimed, rights):
    session, cursor = begun(TIME)
    stored = []
    for bad, right in zip(mistimed, rights, strict=False):
        if cursor.state != "active":
            break
        if cursor.blocks_begun == 1 and cursor.trial_index == 8:
            cursor = sessions.begin_block(session, TIME.protocol, cursor, cursor.lease, 1, {}, AT)
        flash = flashed(session, cursor, right, flags=("mistimed",) if bad else ())
        response, cursor = sessions.answer(session, TIME.protocol, cursor, flash, AT)
        stored.append(response)

    past = sessions.replay(session, TIME.protocol, cursor, stored)

    same = (
        "trial_index", "exposure_ms", "right_in_a_row", "right", "voided_answers", "voided_right",
        "failed_flashes",
    )  # fmt: skip
    assert [getattr(past, name) for name in same] == [getattr(cursor, name) for name in same]
    assert sum(sessions.is_scored(session, cursor, response) for response in stored) == cursor.trial_index


def test_exposures_move_in_ms_whatever_the_display():
    study = studies.study(method="time", images=8, blocks=2, min_exposure_ms=13)
    session, cursor = begun(study, {"frame_ms": 1000 / 75, "refresh_hz": 75})

    for right in (True, True, True, False):
        _, cursor = answered(study, session, cursor, right)

    assert cursor.exposure_ms == 480


def test_a_study_may_move_exposures_in_refreshes_of_the_display():
    study = studies.study(method="time", images=8, blocks=2, min_exposure_ms=13, exposure_steps="frames")
    session, cursor = begun(study, {"frame_ms": 1000 / 75, "refresh_hz": 75})
    exposures = [cursor.exposure_ms]

    for right in (True, True, True, False):
        _, cursor = answered(study, session, cursor, right)
        exposures.append(cursor.exposure_ms)

    # 500 ms are 37.5 refreshes of 13.333 ms, shown as 38; the steps are 1 up and 3 down
    assert [round(ms / 13.333, 6) for ms in exposures] == [38, 38, 38, 35, 36]


def test_a_display_that_tells_no_refresh_gets_the_rule_in_milliseconds():
    study = studies.study(method="time", images=8, blocks=2, min_exposure_ms=13, exposure_steps="frames")

    _, cursor = begun(study, {})

    assert cursor.exposure_ms == 500


@pytest.mark.parametrize(("rate", "admitted"), [(59.9, False), (60.1, True), (143.9, True), (165, False)])
def test_a_study_may_ask_for_a_refresh_rate(rate, admitted):
    study = studies.study(method="time", images=8, blocks=1, min_refresh_hz=60, max_refresh_hz=144)

    if admitted:
        assert begun(study, {"refresh_hz": rate})[1].blocks_begun == 1
    else:
        with pytest.raises(Conflict, match="needs a display of 60 to 144 Hz"):
            begun(study, {"refresh_hz": rate})
