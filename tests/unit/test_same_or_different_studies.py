"""Same or different (JND) over HTTP: whole sessions on each store, and what is told of sentinels: nothing."""

import json
import time
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from sklearn.ensemble import RandomForestClassifier

from backend.administration.create import create
from backend.administration.revise import change_settings
from backend.administration.study_spec import StudySpec
from backend.commands.simulated_evaluators import Client
from backend.experiment.judgments.same_or_different import DIFFERENT, SAME
from backend.experiment.records import CHECK, PRACTICE, TEST
from backend.experiment.session import is_scored, picture_of
from backend.foundation.errors import InvalidInput
from backend.handlers import create_app
from backend.responses.study_data import study_rows
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web.server import in_background

from . import similarity_studies as studies

MISTIMED = {"flags": ["mistimed"]}


def added(world, sets=("cnn", "traditional"), **settings):
    study = studies.study(sets=sets, **settings)
    world.pools[study.name] = studies.pool(study)
    world.store.add_study(study, world.pools[study.name])
    return study


def play(player, response=lambda truth: truth or SAME, **facts):
    """Answer all of a session; return the replies with the kinds of their trials."""
    replies = []
    while player.done is None:
        block = player.begin()
        for _ in block["images"]:
            shown = player.images[player.next["trial_index"]]
            session = player.world.store.session(player.state["session"])
            kind = picture_of(session, player.stored(shown)).kind
            replies.append((kind, player.answer(response=response(player.truths[shown]), **facts)))
    return replies


def test_a_session_is_stored_and_its_rows_tell_what_was_shown(each_world):
    study = added(each_world)
    player = each_world.player("pairs")

    play(player)

    rows = list(study_rows(each_world.store, study))
    items = {stimulus.name: stimulus for stimulus in each_world.pools["pairs"]}
    assert Counter(row["trial_kind"] for row in rows) == {TEST: 16, CHECK: 10, PRACTICE: 4}
    for row in rows:
        item = items[row["stimulus"]]
        assert (row["item"], row["truth"], row["model"]) == (item.source, item.truth, item.model)
        assert (row["exposure_ms"], row["method"]) == (1000, "jnd")
    assert player.done["right"] is None
    assert player.done["answered"] == 26


def test_the_page_gets_the_times_of_the_pair(world):
    added(world, gap_ms=125)
    protocol = world.player("pairs").state["protocol"]
    public = world.http.get("/api/studies/pairs").json

    assert (protocol["gap_ms"], protocol["time_limits"], protocol["mask_count"]) == (125, "all", 0)
    assert (public["trial_shows"], public["images"], public["practice"]) == ("pair", 26, 4)
    assert (public["flashes"], public["flash_warning"], public["feedback"]) == (True, False, False)


@pytest.mark.parametrize("answer", [SAME, DIFFERENT])
def test_replies_to_sentinels_are_those_to_test_pairs(world, answer):
    added(world, base_usd_cents=300)
    replies = play(world.player("pairs"), lambda truth: answer)

    shapes = {TEST: set(), CHECK: set(), PRACTICE: set()}
    for kind, reply in replies[:-1]:  # the last one ends the session, whatever its kind
        counted = {"trial_index", "next", "progress"}
        shapes[kind].add(json.dumps({key: value for key, value in reply.items() if key not in counted}))
    assert shapes[TEST] == shapes[CHECK]
    assert len(shapes[TEST]) == 1
    assert '"was_correct": null' in shapes[TEST].pop()
    told = {reply["was_correct"] for kind, reply in replies if kind == PRACTICE}
    assert told == {True, False}


def test_mistimed_sentinels_are_replaced_as_test_pairs_are(each_world):
    added(each_world)
    player = each_world.player("pairs")
    seen, replies = Counter(), {TEST: set(), CHECK: set()}
    while player.done is None:
        block = player.begin()
        for _ in block["images"]:
            session = each_world.store.session(player.state["session"])
            place = player.next["trial_index"]
            before = picture_of(session, player.stored(player.images[place]))
            if before.kind != PRACTICE and seen[before.kind, before.truth] < 2:
                reply = player.answer(response=SAME, **MISTIMED)
                player.images[place] = " ".join(
                    url.rpartition("/")[2] for url in reply["replaced_by"].split(" ")
                )
                after = picture_of(session, player.stored(player.images[place]))
                assert (after.kind, after.truth, after.model) == (before.kind, before.truth, before.model)
                seen[before.kind, before.truth] += 1
                replies[before.kind].add((reply["was_correct"], reply["may_end"], reply["earned_usd_cents"]))
            player.answer(response=SAME)

    assert seen == {(TEST, ""): 2, (CHECK, SAME): 2, (CHECK, DIFFERENT): 2}
    assert replies[TEST] == replies[CHECK] == {(None, False, None)}
    cursor = each_world.store.cursor(player.state["session"])
    stored = each_world.store.responses(player.state["session"])
    assert (
        sum(not is_scored(each_world.store.session(player.state["session"]), cursor, each) for each in stored)
        == 6
    )


def test_times_of_all_intervals_are_stored_and_an_uneven_gap_is_replaced(each_world):
    study = added(each_world, practice_images=0)
    player = each_world.player("pairs")
    player.begin()
    planned = [30, 60, 15, 60]

    def flash(achieved):
        return {
            "shown_ms": 1000.5,
            "frames": achieved[1],
            "frame_ms": 16.667,
            "mask_ms": [],
            "timing": {
                "evidence": "element",
                "lateness_ms": 0.25,
                "planned_frames": planned,
                "achieved_frames": achieved,
                "phase_ms": [500.25, 1000.5, 16.667 * achieved[2], 1000.25],
            },
        }

    wrong = player.answer(response=SAME, **flash([30, 60, 16, 60]))
    place = player.next["trial_index"]
    player.images[place] = " ".join(url.rpartition("/")[2] for url in wrong["replaced_by"].split(" "))
    right = player.answer(response=SAME, **flash(planned))

    assert right["replaced_by"] is None
    (replaced,) = study_rows(each_world.store, study, "replaced")
    (row,) = study_rows(each_world.store, study, "unfinished")
    assert (row["shown_ms"], row["frames"], row["achieved_frames"]) == (1000.5, 60, (30, 60, 15, 60))
    assert row["phase_ms"] == (500.25, 1000.5, pytest.approx(250.005), 1000.25)
    assert replaced["achieved_frames"] == (30, 60, 16, 60)


def test_after_a_reload_a_sentinel_is_another_as_a_test_pair_is(world):
    added(world, practice_images=0, picture_checks=8, images=8)
    player = world.player("pairs")
    seen = set()
    while seen != {TEST, CHECK}:
        player.begin()
        session = world.store.session(player.state["session"])
        before = player.stored(player.images[player.next["trial_index"]])
        kind = picture_of(session, before).kind
        if kind not in seen:  # each reload takes a spare, of which there are few
            player.lease = player.post("resume", {}).json["state"]["lease"]
            player.begin()
            after = player.stored(player.images[player.next["trial_index"]])
            assert before != after
            assert picture_of(session, after).kind == kind
            seen.add(kind)
        player.answer(response=SAME)


def test_settings_change_before_anyone_has_begun(world):
    added(world)

    after = change_settings(world.store, world.data, "pairs", {"gap_ms": "500"}).study

    assert after.protocol.judgment.gap_ms == 500
    with pytest.raises(InvalidInput, match="shows no masks"):
        change_settings(world.store, world.data, "pairs", {"mask_count": "4"})


@contextmanager
def served(folder, count=240, **settings):
    """Serve a study of pairs with one session; its sentinels are made from them."""
    rng = np.random.default_rng(5)
    for part in ("p0", "p1"):
        (folder / "traditional" / part).mkdir(parents=True)
    for i in range(count):
        pixels = rng.integers(0, 256, (8, 8, 3)).repeat(4, 0).repeat(4, 1)
        for part, change in (("p0", 0), ("p1", rng.integers(-9, 9, (32, 32, 3)))):
            picture = Image.fromarray((pixels + change).clip(0, 255).astype("uint8"))
            picture.save(folder / "traditional" / part / f"{i:06}.png")
    store, data = open_store("sqlite:///a.db", folder), DataDir(folder)
    settings = {"images": 160, "practice_images": 0, "spare_images": 4, **settings}
    spec = StudySpec("s", "study", "jnd", items=(("", folder / "traditional"),), settings=settings)
    create(store, data, spec, datetime.now(UTC))
    with in_background(create_app(store, data, data.keys())) as url:
        yield url, store
    store.close()


@pytest.mark.slow("trains a classifier")
def test_a_classifier_learns_nothing_of_sentinels_from_all_but_the_pixels(tmp_path):
    with served(tmp_path, picture_checks=160) as (url, store):
        client, http = Client(url), HTTPConnection(urlsplit(url).netloc)
        opened = client.post("/api/studies/s/sessions", {"consent_version": "1"})
        session, token = opened["state"]["session"], opened["token"]
        path = f"/api/sessions/{session}"
        block = client.post(f"{path}/blocks", {"lease": 1, "block": 0}, token)
        planned = store.session(session).blocks[0]
        features, labels, headers, all_names = [], [], set(), []
        for place, images in enumerate(block["images"]):
            sizes, times = [], []
            for image in images.split(" "):
                began = time.perf_counter()
                http.request("GET", image)
                reply = http.getresponse()
                sizes.append(len(reply.read()))
                times.append(time.perf_counter() - began)
                headers.add(tuple((key, value) for key, value in reply.getheaders() if key != "Date"))
            shown = [image.rpartition("/")[2] for image in images.split(" ")]
            all_names += shown
            posted = {
                "lease": 1,
                "trial_index": place,
                "stimulus": " ".join(shown),
                "response": "same",
                "flags": [],
            }
            began = time.perf_counter()
            client.post(f"{path}/answers", {**posted, "exposure_ms": 1000.0}, token)
            times.append(time.perf_counter() - began)
            letters = [int(letter, 16) for name in shown for letter in name[:32]]
            features.append([place, *sizes, *times, *letters])
            labels.append(planned.kind(place) == CHECK)
        client.close()
        http.close()
    features, labels = np.array(features), np.array(labels)
    train = np.arange(len(labels)) % 2 == 0
    forest = RandomForestClassifier(200, random_state=1).fit(features[train], labels[train])

    assert labels.sum() == 160
    # 160 guesses: standard deviation 0.040; four of them
    assert abs(forest.score(features[~train], labels[~train]) - 0.5) < 0.16
    assert len(headers) == 1
    assert len(set(features[:, 1]) | set(features[:, 2])) == 1
    assert len(set(all_names)) == len(all_names) == 640
