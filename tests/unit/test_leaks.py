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
