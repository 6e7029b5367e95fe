"""Fixed exposures: how they are given, dealt to the trials of a session, and checked on answering."""

import dataclasses
from collections import Counter
from random import Random

import pytest

from backend.experiment import protocol as protocols
from backend.experiment import sampling
from backend.experiment import session as sessions
from backend.experiment.fixed_exposures import label, parse_exposures, written
from backend.experiment.judgment import Turn
from backend.experiment.judgments.real_or_fake import JUDGMENT
from backend.experiment.records import FAKE, REAL, Condition
from backend.experiment.settings import from_json
from backend.experiment.unscored import set_aside
from backend.foundation.errors import Conflict, InvalidInput

from .. import sample_studies as studies
from .test_session import AT, posted


def study(exposures="50,100,250,unlimited", **settings):
    return studies.study(method="exposures", exposures_ms=exposures, **settings)


def drawn(of, seed=1, condition=None, each=200):
    pool = sampling.pool_of(studies.pool(of, each=each))
    condition = condition or of.conditions[0]
    rng = Random(seed)
    return JUDGMENT.draw(of, pool, Turn(condition, 0, rng, rng))


def by_side(blocks):
    return Counter(
        (truth, model, ms)
        for block in blocks
        for truth, model, ms in zip(block.truths, block.models, block.exposures_ms, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "exposures"),
    [
        ("50,100,unlimited", (50, 100, None)),
        (" unlimited , 1000,50 ", (50, 1000, None)),
        ("4,60000", (4, 60000)),
        ("16.6667", (16.667,)),
        ([50, 100.0, "unlimited"], (50, 100, None)),
    ],
)
def test_exposures_are_given_as_text_or_list_and_put_in_order(text, exposures):
    assert parse_exposures(text) == exposures
    assert parse_exposures(written(exposures)) == exposures


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "must name an exposure"),
        ([], "must name an exposure"),
        ("50,,100", "must be numbers of ms from 4 to 60000, or 'unlimited'"),
        ("-50", "not '-50'"),
        ("0", "from 4 to 60000"),
        ("3.9", "from 4 to 60000"),
        ("60001", "from 4 to 60000"),
        ("nan", "not 'nan'"),
        ("inf", "not 'inf'"),
        ("10^400", r"not '10\^400'"),
        ("1e400", "from 4 to 60000"),
        ("9" * 5000, "from 4 to 60000"),
        ([10**400], "from 4 to 60000"),
        ([True], "from 4 to 60000"),
        ("\ud800", "from 4 to 60000"),
        ("<b>50</b>", "from 4 to 60000"),
        ("50,50", "each exposure once, and has 50 twice"),
        ("50,50.0001", "each exposure once, and has 50 twice"),
        ("unlimited,unlimited", "has unlimited twice"),
        (",".join(map(str, range(50, 71))), "must name 1 to 20 exposures, not 21"),
    ],
)
def test_bad_exposures_are_refused(value, message):
    with pytest.raises(InvalidInput, match=message):
        study(value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exposures": "5", "max_refresh_hz": "144"}, "an exposure shorter than a refresh: 5 ms.*6.94 ms"),
        ({"exposure_design": "across"}, "must be one of within, between, not 'across'"),
        ({"staircase": "hype-2019"}, "staircase goes with method 'time'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(InvalidInput, match=message):
        study(**settings)


@pytest.mark.parametrize("method", ["infinity", "time"])
def test_other_methods_have_no_fixed_exposures(method):
    with pytest.raises(InvalidInput, match="exposures_ms goes with methods 'exposures', 'jnd' and 'pair'"):
        studies.study(method=method, exposures_ms="50")
    with pytest.raises(InvalidInput, match="exposure_design=between goes with exposures_ms"):
        studies.study(method=method, exposure_design="between")


@pytest.mark.parametrize(
    ("exposures", "slowest_hz"),
    [("50,unlimited", 50), ("16,100", 59.5), ("13", 73.2), ("8", 119), ("unlimited", 50)],
)
def test_the_shortest_exposure_decides_which_displays_can_show_it(exposures, slowest_hz):
    # 1000 ms / (1.05 x 16 ms) = 59.5: a display of 60 Hz shows 16.7 ms
    assert study(exposures).protocol.slowest_refresh_hz == slowest_hz


@pytest.mark.parametrize(
    ("exposures", "masks", "warned"),
    [("50,unlimited", 0, True), ("1000,5000", 0, False), ("1000,5000", 4, True), ("unlimited", 4, False)],
)
def test_flashes_are_warned_of_where_anything_changes_within_a_second(exposures, masks, warned):
    assert study(exposures, mask_count=masks).protocol.has_quick_changes == warned


def test_stored_settings_are_read_as_they_were():
    made = study("50,250,unlimited", exposure_design="between").protocol

    assert from_json(protocols.to_json(made)) == made


@pytest.mark.parametrize("seed", range(5))
def test_every_exposure_is_shown_equally_often_with_reals_and_with_fakes(seed):
    blocks, _ = drawn(study(images=40), seed)

    assert by_side(blocks) == {
        **{(REAL, None, ms): 5 for ms in (50, 100, 250, None)},
        **{(FAKE, "gan", ms): 5 for ms in (50, 100, 250, None)},
    }


@pytest.mark.parametrize("seed", range(20))
def test_what_does_not_divide_differs_by_one_at_most_also_over_blocks_and_models(seed):
    of = study("50,100,250,500", images=42, blocks=3, models_per_session=2)
    blocks, _ = drawn(of, seed)

    for block in blocks:
        sides = {(truth, model) for truth, model, _ in by_side([block])}
        for side in sides:
            counts = [by_side([block])[(*side, ms)] for ms in (50, 100, 250, 500)]
            assert max(counts) - min(counts) <= 1
    session = Counter(ms for block in blocks for ms in block.exposures_ms)
    assert max(session.values()) - min(session.values()) <= 2


def test_the_order_of_exposures_cannot_be_predicted():
    places = Counter()
    for seed in range(400):
        (block,), _ = drawn(study("50,unlimited", images=8), seed, each=20)
        places.update(place for place, ms in enumerate(block.exposures_ms) if ms is None)

    # each place is unlimited in half of 400 sessions: within 5 standard deviations (10 each)
    assert all(150 < places[place] < 250 for place in range(8))


@pytest.mark.parametrize("balance", ["session", "people"])
def test_the_exposure_tells_nothing_of_the_truth(balance):
    fakes, shown = Counter(), Counter()
    for seed in range(300):
        (block,), _ = drawn(study("50,100,unlimited", images=14, balance=balance), seed, each=20)
        for truth, ms in zip(block.truths, block.exposures_ms, strict=True):
            shown[ms] += 1
            fakes[ms] += truth == FAKE

    # 1,400 trials an exposure: half within 5 standard deviations (.0134 each)
    assert all(abs(fakes[ms] / shown[ms] - 0.5) < 5 * 0.0134 for ms in shown)


def test_between_evaluators_each_exposure_is_a_condition_and_capacity_counts_them():
    of = study("50,250,unlimited", exposure_design="between", evaluators=10)

    assert [condition.name for condition in of.conditions] == [
        "gan/50", "gan/250", "gan/unlimited", "vae/50", "vae/250", "vae/unlimited",
    ]  # fmt: skip
    assert (of.sessions_a_condition, of.evaluators_wanted, of.evaluators_a_group) == (10, 60, 30)
    for condition in of.conditions:
        (block,), _ = drawn(of, condition=condition)
        assert {label(ms) for ms in block.exposures_ms} == {condition.arm}
        assert set(block.models) == {None, *condition.models}


def test_a_full_study_says_of_what():
    of = study("50,100", exposure_design="between")

    with pytest.raises(Conflict, match="every exposure of every model has its 1 evaluators"):
        sampling.choose_condition(
            {c.name: 1 for c in of.conditions}, of.conditions, dict.fromkeys(of.wanted, 1), Random(1)
        )


def test_too_few_fakes_for_the_exposures_are_told_with_the_way_out():
    of = study("50,100,250,500,unlimited", images=8)
    pool = sampling.pool_of(studies.pool(of))

    assert sampling.lack(of, pool) == (
        "with 5 exposures_ms, each evaluator needs 5 fakes of each model or more, and has 4; "
        "--set images=10, or exposure_design=between"
    )
    assert sampling.lack(study("50,100,250,500,unlimited", images=10), pool) == ""


class Played:
    """A session of fixed exposures, played by the state machine."""

    def __init__(self, **settings):
        self.study = study(images=8, **settings)
        self.session = studies.session(self.study, model="gan")
        self.cursor = sessions.opening(self.study.protocol, AT, self.session)

    def begin(self, block=0):
        display = {"refresh_hz": 60.0, "frame_ms": 16.667}
        protocol = self.study.protocol
        self.cursor = sessions.begin_block(self.session, protocol, self.cursor, 1, block, display, AT)

    def answer(self, **changes):
        given = posted(self.session, self.cursor, **changes)
        response, self.cursor = sessions.answer(self.session, self.study.protocol, self.cursor, given, AT)
        return response


def test_a_session_goes_through_its_planned_exposures_also_over_blocks():
    played = Played(blocks=2)
    responses = []

    for block in range(2):
        assert played.cursor.exposure_ms == played.session.blocks[block].exposures_ms[0]
        played.begin(block)
        responses += [played.answer() for _ in range(8)]

    planned = [ms for block in played.session.blocks for ms in block.exposures_ms]
    assert [response.exposure_ms for response in responses] == planned
    assert played.cursor.state == "finished"
    past = sessions.replay(played.session, played.study.protocol, played.cursor, responses[:5])
    assert past.exposure_ms == planned[5]


def test_an_answer_to_another_exposure_is_refused():
    played = Played()
    played.begin()

    other = 999.0 if played.cursor.exposure_ms is None else None
    with pytest.raises(Conflict, match="shows another picture, or this one for"):
        played.answer(exposure_ms=other)


@pytest.mark.parametrize("how", ["mistimed", "resumed"])
def test_a_flash_is_replaced_at_its_exposure_and_an_unlimited_picture_is_not(how):
    played = Played(exposures="100,unlimited")
    played.begin()
    for _ in range(8):
        before, voids = played.cursor, len(played.cursor.voids)
        if how == "mistimed":
            played.answer(flags=("mistimed",))
        else:
            played.cursor = sessions.resume(played.session, played.study.protocol, played.cursor, AT)
        is_flash = before.exposure_ms is not None
        assert len(played.cursor.voids) - voids == is_flash
        if is_flash:
            assert (played.cursor.exposure_ms, played.cursor.trial_index) == (100, before.trial_index)
        if played.cursor.trial_index == before.trial_index:
            played.answer()

    assert played.cursor.state == "finished"


def test_a_display_too_slow_for_the_shortest_exposure_is_refused():
    played = Played(exposures="8,100")

    with pytest.raises(Conflict, match="needs a display of 119 to 1000 Hz, and this one has 60"):
        played.begin()


def test_the_condition_of_a_session_names_its_exposure():
    of = study("50,unlimited", exposure_design="between")
    session = dataclasses.replace(studies.session(study(images=8)), arm="unlimited")

    assert session.condition == Condition(("gan",), "", "unlimited").name == of.conditions[1].name


def test_practice_and_checks_are_dealt_exposures_of_their_own():
    of = study("50,100", images=8, practice_images=4, instructed_checks=4)
    stimuli = set_aside(studies.pool(of), of.protocol.unscored, Random(1))

    turn = Turn(of.conditions[0], 0, Random(1), Random(1))
    blocks, _ = JUDGMENT.draw(of, sampling.pool_of(stimuli), turn)

    kinds = Counter(
        (block.kind(place), ms) for block in blocks for place, ms in enumerate(block.exposures_ms)
    )
    numbers = {"practice": 2, "test": 4, "instructed": 2}
    assert kinds == {(kind, ms): count for kind, count in numbers.items() for ms in (50, 100)}


def test_checks_by_pictures_need_time():
    JUDGMENT.check(study("unlimited", picture_checks=4).protocol, "study")

    with pytest.raises(InvalidInput, match="picture_checks do not go with a time limit"):
        JUDGMENT.check(study("50,unlimited", picture_checks=4).protocol, "study")


def test_a_flash_is_not_shown_again_to_be_marked():
    assert study("unlimited", mark="click").protocol.follow_ups.mark == "click"

    with pytest.raises(InvalidInput, match="mark=click does not go with a time limit"):
        study("50,unlimited", mark="click")
