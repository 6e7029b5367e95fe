"""What an evaluator's browser is told must not tell real from fake, nor the model of a fake.

Everything but the pixels goes into a classifier: address, length, headers, place in the block, time
to reply. It is trained on half of the pool and must guess on the other half.
"""

import time
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from sklearn.ensemble import RandomForestClassifier

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.commands.simulated_evaluators import Client
from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.task.picture_names import PictureNames
from backend.web.server import in_background

EACH = 150


@pytest.fixture
def site(tmp_path):
    """Serve a study whose reals are large JPEGs of noise and whose fakes are tiny, smooth PNGs."""
    with served(tmp_path, [("real", EACH, 90, "jpg"), ("fake", EACH, 16, "png")]) as found:
        yield found


@pytest.fixture
def mixed_site(tmp_path):
    """Serve a study of mixed sessions, whose models differ in size and format too."""
    sides = [("real", EACH, 90, "jpg"), ("fake", EACH // 2, 16, "png"), ("other", EACH // 2, 200, "webp")]
    with served(tmp_path, sides, models_per_session=2) as found:
        yield found


@contextmanager
def served(folder, sides, **settings):
    """Serve a study with one session of all pictures; a side is its name, number, width and format."""
    rng = np.random.default_rng(5)
    for side, count, size, suffix in sides:
        (folder / side).mkdir()
        for i in range(count):
            pixels = rng.integers(0, 256, (size, size, 3)).astype("uint8")
            Image.fromarray(pixels).save(folder / side / f"{side}-{i:04d}.{suffix}", comment=b"camera")
    store, data = open_store("sqlite:///a.db", folder), DataDir(folder)
    settings = {"images": 2 * EACH, "size_px": 32, "spare_images": 0, **settings}
    models = tuple((side, folder / side) for side, *_ in sides[1:])
    order = StudySpec("s", "study", "infinity", folder / "real", models, settings)
    create(store, data, order, datetime.now(UTC))
    with in_background(create_app(store, data, data.keys())) as url:
        yield url, store, PictureNames(data.keys().hashing)
    store.close()


def observed(url, store, names):
    """Play a session and return what was seen of each picture, and the truth that was not."""
    client, http = Client(url), HTTPConnection(urlsplit(url).netloc)
    opened = client.post("/api/studies/s/sessions", {"consent_version": "1"})
    path, token, lease = f"/api/sessions/{opened['state']['session']}", opened["token"], 1
    block = client.post(f"{path}/blocks", {"lease": lease, "block": 0}, token)
    session = opened["state"]["session"]
    made_by = {names.sealed(session, s.name): s.model for s in store.stimuli("s")}
    features, labels, headers = [], [], set()
    for place, image in enumerate(block["images"]):
        began = time.perf_counter()
        http.request("GET", image)
        reply = http.getresponse()
        body = reply.read()
        fetched = time.perf_counter()
        name = image.rpartition("/")[2]
        posted = {"lease": lease, "trial_index": place, "stimulus": name, "response": "real", "flags": []}
        client.post(f"{path}/answers", posted, token)
        answered = time.perf_counter()
        headers.add(tuple((k, v) for k, v in reply.getheaders() if k != "Date"))
        letters = [int(letter, 16) for letter in name[:32]]
        features.append([place, len(body), fetched - began, answered - fetched, *letters])
        labels.append(made_by[name] or "real")
    client.close()
    http.close()
    return np.array(features), np.array(labels), headers


def test_a_classifier_learns_nothing_from_all_but_the_pixels(site):
    features, labels, headers = observed(*site)

    # 150 guesses: standard deviation 0.041; four of them
    assert abs(guessed(features, labels == "real") - 0.5) < 0.165
    check_alike(features, headers)


@pytest.mark.slow("trains a classifier")
def test_in_a_mixed_session_it_learns_neither_truth_nor_model(mixed_site):
    features, labels, headers = observed(*mixed_site)

    assert np.unique(labels, return_counts=True)[1].tolist() == [75, 75, 150]
    assert abs(guessed(features, labels == "real") - 0.5) < 0.165
    fakes = labels != "real"
    # 75 guesses: standard deviation 0.058; four of them
    assert abs(guessed(features[fakes], labels[fakes]) - 0.5) < 0.231
    check_alike(features, headers)


def guessed(features, labels):
    """Return the accuracy of a classifier trained on every other picture, on the pictures in between."""
    train = np.arange(len(labels)) % 2 == 0
    forest = RandomForestClassifier(200, random_state=1).fit(features[train], labels[train])
    return forest.score(features[~train], labels[~train])


def check_alike(features, headers):
    assert len(headers) == 1
    assert {name for name, _ in headers.pop()} & {"ETag", "Last-Modified", "Content-Disposition"} == set()
    assert len(set(features[:, 1])) == 1


def lengths_in_sessions(lengths, count, drawn):
    """Return what a browser has of each picture's length in sessions of `drawn` pictures of each side.

    The truth of earlier pictures is known: each answer is told whether it was right. Features are position,
    length, its place among the session's, the sum of all lengths, how many of the session's pictures have the
    same length, and how many of those before were real, and fake.

    Args:
        lengths: bytes of each file of the pool, by side.
        count: sessions.
    """
    rng = np.random.default_rng(11)
    features, labels = [], []
    for _ in range(count):
        shown = [(side, each) for side in lengths for each in rng.choice(lengths[side], drawn, replace=False)]
        rng.shuffle(order := np.arange(len(shown)))
        sides, sizes = zip(*(shown[i] for i in order), strict=True)
        sizes, is_real = np.array([*map(int, sizes)]), np.array([side == "real" for side in sides])
        alike = sizes[:, None] == sizes[None, :]
        before = np.tri(len(sizes), k=-1, dtype=bool)
        features.append(
            np.column_stack([
                np.arange(len(sizes)), sizes, sizes.argsort().argsort() * (np.ptp(sizes) > 0),
                np.full(len(sizes), sizes.sum()), alike.sum(1),
                (alike & before)[:, is_real].sum(1), (alike & before)[:, ~is_real].sum(1),
            ])
        )  # fmt: skip
        labels.append(is_real)
    return np.array(features), np.array(labels)


def guessed_by_session(lengths, drawn, count=60):
    """Return the accuracy of a classifier trained on half of the sessions, in the other half."""
    features, labels = lengths_in_sessions(lengths, count, drawn)
    half = count // 2
    forest = RandomForestClassifier(60, min_samples_leaf=20, random_state=1)
    forest.fit(np.concatenate(features[:half]), np.concatenate(labels[:half]))
    return forest.score(np.concatenate(features[half:]), np.concatenate(labels[half:]))


def by_counting(counts):
    """Return the accuracy that earlier truths give by themselves, where all lengths are equal."""
    return guessed_by_session({side: [1] * n for side, n in counts.items()}, 50)


@pytest.mark.parametrize("counts", [{"real": 100, "fake": 60}, {"real": 60, "fake": 60}])
def test_lengths_within_whole_sessions_tell_no_side_whatever_the_pools_counts(tmp_path, counts):
    sides = [("real", counts["real"], 90, "jpg"), ("fake", counts["fake"], 16, "png")]
    with served(tmp_path, sides, images=100) as (_, store, _):
        files = DataDir(tmp_path).images("s")
        lengths = {"real": [], "fake": []}
        for stimulus in store.stimuli("s"):
            lengths[stimulus.truth].append((files / stimulus.name).stat().st_size)

    # 3,000 guesses: standard deviation 0.009; four of them
    assert guessed_by_session(lengths, 50) < by_counting(counts) + 0.036
    assert len({*lengths["real"], *lengths["fake"]}) == 1


@pytest.mark.parametrize(
    ("reals", "fakes", "levels"), [(100, 60, 60), (60, 60, 60), (500, 50, 60), (500, 50, 5)]
)
def test_lengths_matched_by_rank_would_tell_the_sides_to_that_classifier(reals, fakes, levels):
    """The more of a length were real, the fewer real ones of it are left, and not so of the other side."""
    counts = {"real": reals, "fake": fakes}
    rank = {side: np.arange(n) * levels // n for side, n in counts.items()}

    guessed = guessed_by_session({side: 20_000 + 1000 * ranks for side, ranks in rank.items()}, 50)

    assert guessed > by_counting(counts) + 0.036
