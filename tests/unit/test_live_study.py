"""Watching a study: the same numbers as asking once, at a price that evaluators do not feel."""

import pytest

from backend.report.build import study_report
from backend.responses.study_data import study_scores
from backend.web.monitor import Watch
from backend.web.progress import as_text, progress

from . import sample_studies as studies


class Counting:
    """A store that counts how often it is read."""

    def __init__(self, store):
        self._store, self.reads = store, []

    def __getattr__(self, name):
        self.reads.append(name)
        return getattr(self._store, name)


@pytest.fixture
def watched(world):
    study = world.add(studies.study(images=8, base_usd_cents=100))
    seconds = [0.0]
    store = Counting(world.store)
    return study, Watch(store, study, timer=lambda: seconds[0]), seconds, store


def test_it_tells_what_progress_and_scores_tell(world, watched):
    study, watch, _, _ = watched
    for i in range(5):
        world.player().play(right=lambda truth, i=i: (truth == "real") == (i % 2 == 0))
        world.clock.move(minutes=3)
    world.player()

    told = watch.with_scores(world.clock())

    scores = told.pop("scores")
    assert told == progress(world.store, study, world.clock())
    plain = study_scores(world.store, study)
    models = [{k: v for k, v in row.items() if k != "narrowing"} for row in scores["models"]]
    assert models == plain["models"]


def test_a_study_of_pairs_is_watched_and_has_a_report(world):
    settings = {"images": 8, "spare_images": 0}
    study = world.add(studies.study("sides", "pair", models=("gan",), **settings))
    for right in (8, 0, 8, 8, 6, 8):
        left = iter([True] * right + [False] * (8 - right))
        world.player("sides").play(right=lambda truth, left=left: next(left))
        world.clock.move(minutes=3)

    (row,) = Watch(world.store, study).with_scores(world.clock())["scores"]["models"]
    scores = study_scores(world.store, study)
    report = study_report(world.store, lambda *_: None, study, world.clock())

    errors = [0, 100, 0, 0, 25, 0]
    assert [point["score"] for point in row["narrowing"]] == [sum(errors[:5]) / 5, sum(errors) / 6]
    assert {name: cell for name, cell in row.items() if name != "narrowing"} == scores["models"][0]
    assert (row["score"], row["accuracy"]) == (pytest.approx(125 / 6), pytest.approx(100 - 125 / 6))
    assert {"sides", "fakes", "attrition"} <= {section.id for section in report.sections}


def test_the_interval_narrows_in_the_order_in_which_evaluators_finished(world):
    study = world.add(studies.study(images=8, models=("gan",)))
    for right in (8, 0, 8, 8, 6, 8):
        left = iter([True] * right + [False] * (8 - right))
        world.player().play(right=lambda truth, left=left: next(left))
        world.clock.move(minutes=3)

    (row,) = Watch(world.store, study).with_scores(world.clock())["scores"]["models"]

    errors = [0, 100, 0, 0, 25, 0]
    assert [point["evaluators"] for point in row["narrowing"]] == [5, 6]
    for point in row["narrowing"]:
        first = errors[: point["evaluators"]]
        assert point["score"] == pytest.approx(sum(first) / len(first))
        low, high = point["any_look"]
        assert low <= point["ci"][0] < point["score"] < point["ci"][1] <= high
    assert row["narrowing"][-1]["ci"] == row["interval"]["ci"]


def test_scores_are_computed_only_when_another_session_is_finished(world, watched):
    _, watch, seconds, store = watched
    world.player().play()
    watch.with_scores(world.clock())
    player = world.player()
    store.reads.clear()

    for _ in range(3):
        seconds[0] += 60
        watch.with_scores(world.clock())
    assert "answered" not in store.reads
    assert store.reads.count("session") == 1  # the new one, once

    player.play()
    seconds[0] += 60
    watch.with_scores(world.clock())
    assert "answered" in store.reads


@pytest.mark.parametrize("sessions", [1, 5])
def test_a_first_look_reads_sessions_all_at_once(world, watched, sessions):
    _, watch, _, store = watched
    for _ in range(sessions):
        world.player()

    told = watch.progress(world.clock())

    assert sum(row["active"] for row in told["models"]) == sessions
    assert [store.reads.count(name) for name in ("sessions", "cursors", "session", "cursor")] == [1, 0, 0, 0]


def test_who_looks_all_the_time_reads_only_now_and_then(world, watched):
    _, watch, seconds, store = watched
    world.player()
    watch.with_scores(world.clock())
    store.reads.clear()

    for _ in range(100):
        seconds[0] += 0.01
        watch.with_scores(world.clock())

    assert store.reads.count("cursors") == 1


def test_what_takes_long_is_done_seldom(world, watched):
    study, _, seconds, _ = watched

    class Slow(Counting):
        def sessions(self, name):
            seconds[0] += 2
            self.reads.append("sessions")
            return world.store.sessions(name)

    store = Slow(world.store)
    watch = Watch(store, study, timer=lambda: seconds[0])
    watch.with_scores(world.clock())
    for step in (39, 2):
        seconds[0] += step
        watch.with_scores(world.clock())

    assert store.reads.count("sessions") == 2  # 2 s of work buy 40 s of rest


def test_a_pause_is_seen_at_once(world, watched):
    from backend.studies.pausing import set_paused

    study, watch, _, _ = watched
    watch.with_scores(world.clock())
    set_paused(world.store, study.name, True, "2026")

    assert watch.with_scores(world.clock())["paused"] is True


def wage_of(world, minutes, **settings):
    study = world.add(
        studies.study(f"w{'-'.join(map(str, minutes))}", images=8, bonus_usd_cents=0, **settings)
    )
    for spent in minutes:
        player = world.player(study.name)
        world.clock.move(minutes=spent)
        player.play()
    return progress(world.store, study)


def test_the_wage_is_the_median_of_real_time(world):
    told = wage_of(world, (5, 10, 60), base_usd_cents=200)

    assert told["median_wage_usd_cents_an_hour"] == pytest.approx(1200)
    assert told["warnings"] == []


@pytest.mark.parametrize(
    ("minutes", "target", "warning"),
    [
        (16, 1200, "the median wage is $7.50 an hour, and the least that panels allow is $8.00"),
        (12, 1200, "the median wage is $10.00 an hour, and this study aims at $12.00"),
        (12, 900, None),
    ],
)
def test_a_wage_too_low_is_warned_of(world, minutes, target, warning):
    told = wage_of(world, (minutes,), base_usd_cents=200, target_wage_usd_cents=target)

    assert [text[: len(warning or "")] for text in told["warnings"]] == ([warning] if warning else [])
    assert (f"warning: {warning}" in as_text(told)) == bool(warning)


def test_a_study_that_pays_nothing_promises_no_wage(world):
    assert wage_of(world, (60,))["warnings"] == []
