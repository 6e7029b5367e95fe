"""Studies that sample a part of their pictures by need, from the plan to the score, over every store."""

from collections import Counter
from random import Random

import pytest
from click.testing import CliRunner

from backend.analysis.table.response_rows import answers_of
from backend.cli import main
from backend.experiment import sampling
from backend.experiment.groups.stimuli import ADAPTIVE_SAMPLING
from backend.experiment.judgments import real_or_fake
from backend.experiment.settings import with_settings
from backend.foundation.errors import InvalidInput
from backend.report.findings import findings
from backend.report.study_findings import study_findings
from backend.responses.export import export
from backend.responses.sampling_needs import refresh
from backend.responses.study_data import study_rows, study_scores
from backend.scoring import score
from backend.studies import picture_needs
from backend.web import progress
from tests.unit.response_rows import read_responses, score_file

from . import sample_studies as studies

AT = "2026-01-02T00:00:00.000Z"


def by_need(sampling="least-seen", **settings):
    return studies.study(sampling=sampling, **{"images": 20, "spare_images": 0, "evaluators": 30, **settings})


def drawn(study, pool, seed=1):
    rng = Random(seed)
    reals = sampling.real_counts(study, rng, False)
    return sampling.draw_session(study, pool, study.conditions[0], rng, reals)[0][0]


def pool_with(study, lists, each=60):
    return sampling.Pool(
        **{
            name: getattr(sampling.pool_of(studies.pool(study, each=each)), name)
            for name in ("reals", "fakes")
        },
        needs=lists,
    )


LISTS = {(None, ""): range(12), ("gan", ""): range(40, 60), ("vae", ""): range(12)}


def test_a_share_is_drawn_at_random_and_the_rest_from_the_lists_and_both_are_told_apart():
    study = by_need(random_sampling_share=0.55)
    pool = pool_with(study, LISTS)

    block = drawn(study, pool)

    assert len(set(block.stimuli)) == 20
    listed = {pool.reals[""][i] for i in LISTS[None, ""]} | {
        pool.fakes["gan"][""][i] for i in LISTS["gan", ""]
    }
    chosen = [block.stimuli[i] for i in block.by_need]
    assert set(chosen) <= listed
    assert Counter(block.truths[i] for i in block.by_need) == {"real": 4, "fake": 4}  # 0.45 of 10, down


def test_places_of_pictures_drawn_by_need_are_random():
    study = by_need()
    pool = pool_with(study, LISTS)

    places = Counter(i for seed in range(2000) for i in drawn(study, pool, seed).by_need)

    assert len(places) == 20
    assert all(abs(count - 1000) < 5 * 22.4 for count in places.values())  # five SDs of 2000 tosses


def test_the_random_share_is_drawn_from_the_whole_pool_alike():
    study = by_need()
    pool = pool_with(study, LISTS)
    counts = Counter()
    for seed in range(3000):
        block = drawn(study, pool, seed)
        counts.update(name for i, name in enumerate(block.stimuli) if i not in block.by_need)

    names = [*pool.reals[""], *pool.fakes["gan"][""]]
    assert all(abs(counts[name] - 250) < 5 * 15.2 for name in names)  # 3000 sessions, 5 of 60 a side


def test_a_list_that_is_too_short_is_made_up_at_random():
    study = by_need()

    block = drawn(study, pool_with(study, {**LISTS, (None, ""): (3,)}))

    assert len(set(block.stimuli)) == 20
    assert Counter(block.truths[i] for i in block.by_need) == {"real": 5, "fake": 5}


@pytest.mark.parametrize("lists", [{}, {("vae", ""): range(9)}])
def test_without_lists_all_are_random(lists):
    study = by_need()

    assert drawn(study, pool_with(study, lists)) == drawn(studies.study(images=20), pool_with(study, {}))


def test_small_pools_are_dealt_to_their_end():
    study = by_need(images=40)

    block = drawn(study, pool_with(study, {(None, ""): range(20), ("gan", ""): range(20)}, each=20))

    assert len(set(block.stimuli)) == 40


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampling": "seldom"}, "sampling must be one of random, least-seen, uncertain, not 'seldom'"),
        ({"sampling": "uncertain", "random_sampling_share": 0}, "random_sampling_share must be above 0"),
        ({"random_sampling_share": 1.5}, "random_sampling_share must be from 0 to 1, not 1.5"),
        ({"random_sampling_share": "nan"}, "random_sampling_share must be finite"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InvalidInput, match=message):
        with_settings(real_or_fake.INFINITY, settings)


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (
            by_need(method="time", blocks=1),
            r"sampling=least-seen goes with HYPE-infinity \(--method infinity\)",
        ),
        (by_need(blocks=2), "sampling=least-seen goes with blocks=1, not 2"),
        (by_need(kind="qualification"), "sampling=least-seen is for studies"),
    ],
)
def test_studies_that_cannot_draw_by_need_are_refused(study, message):
    import re

    assert re.search(message, sampling.lack(study, sampling.pool_of(studies.pool(study, each=200))))


def play(world, count):
    """Let people judge: of real pictures they take every third for fake."""
    for player in [world.player() for _ in range(count)]:
        answers = iter([True, True, False] * 100)
        player.play(right=lambda truth, answers=answers: truth == "fake" or next(answers))


_SLOW = pytest.mark.slow("fits the crossed model once more")


@pytest.mark.parametrize(
    "draw",
    [pytest.param(draw, marks=() if draw == "uncertain" else _SLOW) for draw in ADAPTIVE_SAMPLING],
)
def test_sessions_after_a_snapshot_draw_by_need_and_scores_use_the_rest(each_world, draw, tmp_path):
    world = each_world
    study = world.add(by_need(draw), each=40)
    play(world, 4)
    assert not any(session.sampled_by_need for session, _ in world.store.sessions("faces"))
    assert "until `openhype update-sampling faces`" in picture_needs.warning(world.store, study)

    refresh(world.store, study, AT)
    world.clock.move(minutes=2)
    play(world, 4)

    of_session = [len(session.sampled_by_need) for session, _ in world.store.sessions("faces")]
    assert sorted(of_session) == [0, 0, 0, 0, 10, 10, 10, 10]
    rows = [*study_rows(world.store, study)]
    assert Counter(row["sampling"] for row in rows) == {"random": 120, draw: 40}
    scores = study_scores(world.store, study)
    assert (
        scores["models"] == score([row for row in rows if row["sampling"] == "random"], "infinity")["models"]
    )
    assert "40 of 160 responses are to pictures of adaptive sampling" in scores["notes"][-1]
    found = study_findings(world.store, study, world.clock())["findings"]
    assert found["crossed_model"]["responses"] == 160
    assert sum(row["number_guesses"] for row in found["images"]) == 160
    path = export(world.store, study, tmp_path / "out")[0]
    assert score_file(path) == scores
    assert [row["sampling"] for row in read_responses(path)] == [row["sampling"] for row in rows]
    assert "4 finished sessions ago" in progress.progress(world.store, study)["warnings"][-1]


def test_the_least_seen_are_those_with_the_fewest_answers(world):
    study = world.add(by_need(), each=40)
    play(world, 4)
    seen = Counter((row["model"], row["truth"], row["stimulus"]) for row in study_rows(world.store, study))

    found = refresh(world.store, study, AT)

    assert found == picture_needs.read(world.store, study, simulated=False)
    pool = world.store.pool("faces")
    for model, names in (("gan", pool.fakes["gan"][""]), ("vae", pool.fakes["vae"][""])):
        chosen = found.sides[model, ""]
        counts = [seen[model, "fake", name] for name in names]
        assert len(chosen) == 40
        assert [counts[i] for i in chosen] == sorted(counts)


def test_the_snapshot_is_of_this_study_and_of_its_kind_of_sessions(world):
    study = world.add(by_need(), each=40)
    play(world, 2)
    refresh(world.store, study, AT)

    assert picture_needs.read(world.store, study, simulated=True) is None
    assert picture_needs.read(world.store, studies.replaced(study, created_at=AT), simulated=False) is None


def test_no_other_export_has_the_column(world, tmp_path):
    study = world.add(studies.study(images=4, spare_images=0), each=40)
    play(world, 1)

    path = export(world.store, study, tmp_path / "out")[0]

    assert "sampling" not in path.read_text("utf-8").splitlines()[0].split(",")
    assert '"sampling"' not in (tmp_path / "out" / "dataset_description.json").read_text("utf-8").replace(
        '"sampling": "random"', ""
    )


def test_a_study_that_draws_at_random_has_no_needs(world):
    study = world.add(studies.study(images=4, spare_images=0), each=40)
    play(world, 1)

    with pytest.raises(InvalidInput, match="samples all its pictures at random"):
        refresh(world.store, study, AT)


def test_a_score_needs_pictures_drawn_at_random():
    rows = [
        {"model": "m", "evaluator": "e", "truth": truth, "response": "real", "sampling": "uncertain"}
        for truth in ("real", "fake")
    ]

    with pytest.raises(InvalidInput, match="all pictures are from adaptive sampling"):
        score(rows, "infinity")


def test_a_column_of_this_name_with_other_words_changes_nothing():
    rows = [
        {"model": "m", "evaluator": f"e{i}", "stimulus": f"{truth}{i % 3}", "truth": truth, "response": said}
        for i in range(6)
        for truth in ("real", "fake")
        for said in ("real", "fake")
    ]

    plain = findings(answers_of(rows, "infinity"))

    assert findings(answers_of([{**row, "sampling": "lottery"} for row in rows], "infinity")) == plain


def test_the_command_says_how_many_and_refuses_what_has_no_needs(world):
    world.add(by_need(), each=40)

    def run(*arguments):
        return CliRunner().invoke(main, ["update-sampling", *arguments, "--data", str(world.data.root)])

    assert "no finished session" in run("faces").output
    play(world, 2)
    assert run("faces").output == (
        "faces: 120 pictures need evaluators most (sampling=least-seen, from 2 finished sessions); the next "
        "sessions choose from them\n"
    )
    assert "unknown" in run("nothing").output or "no study" in run("nothing").output
