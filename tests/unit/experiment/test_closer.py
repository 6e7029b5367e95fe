"""2AFC: what a session shows, on which sides, and what is refused."""

from collections import Counter
from random import Random

import pytest
from scipy.stats import binomtest, chi2_contingency, chisquare

from backend.experiment import sampling
from backend.experiment.judgment import Turn
from backend.experiment.judgments.closer import JUDGMENT
from backend.experiment.records import CHECK, PRACTICE, TEST, Stimulus
from backend.experiment.session import Picture
from backend.foundation.errors import InvalidInput

from .. import triplet_studies as studies


def session(of, stimuli, turn=0, seed=1):
    rng = Random(seed)
    blocks, spares = JUDGMENT.draw(of, sampling.pool_of(stimuli), Turn(of.conditions[0], turn, rng, rng))
    assert spares == ()
    return blocks


def trials(blocks):
    for block in blocks:
        yield from zip(
            block.stimuli, block.truths, block.models, map(block.kind, range(len(block.stimuli))), strict=True
        )


def items_by_key(stimuli):
    return {frozenset(each.name.split(" ")): each for each in stimuli}


def test_a_session_shows_triplets_of_all_sets_with_sentinels_among_them_and_the_reference_in_the_middle():
    of = studies.study()
    stimuli = studies.pool(of)
    known = items_by_key(stimuli)

    shown = list(trials(session(of, stimuli)))

    assert Counter(kind for *_, kind in shown) == {TEST: 8, CHECK: 3}
    for names, truth, model, kind in shown:
        item = known[frozenset(names.split(" "))]
        ref, p0, p1 = item.name.split(" ")
        left, middle, right = names.split(" ")
        assert middle == ref
        assert (model, kind == CHECK) == (item.model, item.role == CHECK)
        closer = {"": "", "p0": p0, "p1": p1}[item.truth]
        assert {"left": left, "right": right, "": ""}[truth] == closer
    assert len({model for _, _, model, kind in shown if kind == TEST}) == 2


def test_over_ten_thousand_trials_sides_are_even_and_independent_of_truth_kind_and_place():
    # 960 sessions of 8 + 3 trials; each test is at 0.1%, so that a fair coin of this seed passes
    of = studies.study()
    stimuli = studies.pool(of)
    known = items_by_key(stimuli)
    sides, by_kind, by_truth, places, by_set = Counter(), Counter(), Counter(), Counter(), Counter()
    for turn in range(960):
        for place, (names, _, model, kind) in enumerate(trials(session(of, stimuli, turn, seed=turn))):
            item = known[frozenset(names.split(" "))]
            left = "p0" if names.startswith(item.name.split(" ")[1]) else "p1"
            sides[left] += 1
            by_kind[kind, left] += 1
            by_set[model, left] += 1
            if kind == CHECK:
                by_truth[item.truth, left] += 1
                places[place] += 1

    assert sum(sides.values()) == 960 * 11 > 10_000
    assert binomtest(sides["p0"], sum(sides.values())).pvalue > 0.001
    assert chi2_contingency(_table(by_kind, (TEST, CHECK), ("p0", "p1"))).pvalue > 0.001
    assert chi2_contingency(_table(by_truth, ("p0", "p1"), ("p0", "p1"))).pvalue > 0.001
    assert chi2_contingency(_table(by_set, ("traditional", "cnn", ""), ("p0", "p1"))).pvalue > 0.001
    assert chisquare([places[place] for place in range(11)]).pvalue > 0.001


def _table(counts, rows, columns):
    return [[counts[row, column] for column in columns] for row in rows]


def test_blocks_share_the_triplets_and_the_sentinels_and_practice_comes_first():
    of = studies.study(images=6, blocks=3, picture_checks=6, practice_images=4, triplets=40)
    blocks = session(of, studies.pool(of, triplets=40))

    assert [len(block.stimuli) for block in blocks] == [4, 8, 8, 8]
    assert blocks[0].is_practice
    assert {kind for *_, kind in trials(blocks[:1])} == {PRACTICE}
    for block in blocks[1:]:
        assert Counter(kind for *_, kind in trials([block])) == {TEST: 6, CHECK: 2}
    shown = [names for names, *_ in trials(blocks)]
    assert len({frozenset(names.split(" ")) for names in shown}) == len(shown)


def test_a_row_names_the_item_and_what_stood_where():
    item = Stimulus("r.png a.png b.png", "", "cnn", "", "cnn/000007")

    row = JUDGMENT.row(Picture("b.png r.png a.png", "", "cnn", ""), item)

    assert row == {"item": "cnn/000007", "left": "p1", "right": "p0"}


def test_the_value_of_an_evaluator_is_the_share_of_answers_for_p1():
    rows = [
        {"left": "p0", "right": "p1", "response": "right"},
        {"left": "p1", "right": "p0", "response": "left"},
        {"left": "p1", "right": "p0", "response": "right"},
        {"left": "p0", "right": "p1", "response": "left"},
        {"left": "p0", "right": "p1", "response": "right"},
    ]

    assert JUDGMENT.value("2afc", rows) == 60  # p1, p1, p0, p0, p1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"feedback": True}, "2AFC has no right answers to give feedback on; leave feedback=false"),
        ({"bonus_usd_cents": 2}, "has no right answers to pay for; leave bonus_usd_cents=0"),
        ({"debrief": True}, "has no debrief; leave debrief=false"),
        ({"balance": "people"}, "has no reals to balance; leave balance=session"),
        ({"class_design": "between"}, "has no classes, but sets; leave class_design=within"),
        ({"sampling": "least-seen"}, "by itself; leave sampling=random"),
        ({"mark": "click"}, "has no marks; leave mark=none"),
        ({"comment": "optional", "reasons_for": "fake"}, "set reasons_for=all"),
        ({"instructed_checks": 2}, "leave instructed_checks=0"),
        ({"picture_checks": 9}, "must be at most as many as the 8 scored items of a session, not 9"),
        ({"picture_checks": 0}, "exclude_checks_below needs attention checks"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(InvalidInput) as refused:
        JUDGMENT.check(studies.study(**settings).protocol, "study")

    assert message in str(refused.value)


def test_time_limits_and_qualifications_are_refused():
    with pytest.raises(InvalidInput, match="exposures_ms goes with method"):
        studies.study(exposures_ms="100")
    with pytest.raises(InvalidInput, match="staircase goes with method 'time'"):
        studies.study(staircase="hype-2019")
    with pytest.raises(InvalidInput, match="has no qualifications"):
        JUDGMENT.check(studies.study().protocol, "qualification")


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ({}, {"triplets": 5}, "lacks triplets for a session of 8: it has 5; .* --set images=5"),
        ({"models_per_session": 1}, {}, "shows triplets of all 2 sets; set models_per_session to 2 or more"),
        ({"picture_checks": 8}, {"known": 3}, "has 6 triplets of known answer for picture_checks=8"),
    ],
)
def test_a_pool_that_is_too_small_is_refused(settings, options, message):
    of = studies.study(**settings)

    with pytest.raises(InvalidInput, match=message):
        JUDGMENT.check_pool(of, sampling.pool_of(studies.pool(of, **options)))


def test_who_is_paid_by_a_panel_gets_the_wage_aimed_at_for_taking_part():
    protocol = studies.study(panel="prolific").protocol

    # 6 minutes at $12 an hour
    assert (protocol.pay.base_usd_cents, protocol.pay.bonus_usd_cents) == (120, 0)


@pytest.mark.parametrize(("right", "excluded"), [(15, False), (14, False), (13, True)])
def test_fourteen_of_fifteen_sentinels_pass_the_default_rule(right, excluded):
    from backend.experiment.exclusion import Answered, is_excluded

    rule = JUDGMENT.methods["2afc"].protocol.exclusion
    answers = [Answered(CHECK, i < right, 900.0) for i in range(15)]

    assert is_excluded(rule, answers) is excluded
