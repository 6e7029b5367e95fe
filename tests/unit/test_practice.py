"""Practice does not help: what a browser sees of a picture, but its pixels, is new in each session.

A person with a perfect memory keeps everything that a browser was ever sent of a picture: address, name,
every part of the address, length, headers, the bytes as a whole, the place in the order; and the truth, which
feedback tells after each answer. In a later session this person answers by memory where there is any.
"""

import hashlib
import io
from datetime import UTC, datetime
from random import Random

import numpy as np
import pytest
from PIL import Image

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.handlers import create_app
from backend.stimuli.media import TYPES
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

EACH = 24
IMAGES = 40
SESSIONS = 8


@pytest.fixture(
    params=[
        "webp",
        pytest.param("png", marks=pytest.mark.slow("the same with a format that is used less")),
        pytest.param("jpeg:90", marks=pytest.mark.slow("the same with a format that is used less")),
    ]
)
def site(request, tmp_path):
    """A study whose pool is not much larger than a session, and its server."""
    rng = np.random.default_rng(3)
    for side in ("real", "fake"):
        (tmp_path / side).mkdir()
        for i in range(EACH):
            pixels = rng.integers(0, 256, (32, 32, 3)).astype("uint8")
            Image.fromarray(pixels).save(tmp_path / side / f"{i}.png")
    store, data = open_store("sqlite:///a.db", tmp_path), DataDir(tmp_path)
    settings = {"images": IMAGES, "size_px": 32, "spare_images": 4, "image_format": request.param}
    order = StudySpec("s", "study", "infinity", tmp_path / "real", (("m", tmp_path / "fake"),), settings)
    create(store, data, order, datetime.now(UTC))
    app = create_app(store, data, data.keys())
    yield app.test_client(), store, data
    store.close()


def traces(url, place, reply):
    """Yield everything that a browser can tell of a picture without looking at it."""
    yield "address", url
    for part in url.split("/")[3:]:  # "", "i" and the study come before
        yield "part of the address", part
        yield "name without an ending", part.partition(".")[0]
    yield "bytes", hashlib.sha256(reply.data).hexdigest()
    yield "place", place
    for name, value in reply.headers:
        yield f"header {name}", value


class Person:
    """Somebody with a perfect memory, who takes part again and again by an open link."""

    def __init__(self, http, seed=1):
        self.http, self.rng, self.memory = http, Random(seed), {}

    def take_part(self):
        """Return the share of right answers, and that of pictures of which something told one apart."""
        opened = self.http.post("/api/studies/s/sessions", json={"consent_version": "1"}).json
        path = f"/api/sessions/{opened['state']['session']}"
        headers = {"Authorization": f"Bearer {opened['token']}"}
        block = self.http.post(f"{path}/blocks", json={"lease": 1, "block": 0}, headers=headers).json
        right, known, learned = 0, 0, []
        for place, url in enumerate(block["images"]):
            with self.http.get(url) as reply:
                assert reply.status_code == 200
                seen = list(traces(url, place, reply))
            answer = self.by_memory(seen)
            known += answer is not None
            answer = answer or self.by_place(place)
            body = {"lease": 1, "trial_index": place, "stimulus": url.rpartition("/")[2], "response": answer}
            told = self.http.post(f"{path}/answers", json=body, headers=headers)
            assert told.status_code == 200, told.json
            right += told.json["was_correct"]
            other = {"real": "fake", "fake": "real"}[answer]
            learned.append((seen, answer if told.json["was_correct"] else other))
        for seen, truth in learned:
            for trace in seen:
                self.memory.setdefault(trace, []).append(truth)
        return right / len(block["images"]), known / len(block["images"])

    def by_place(self, place):
        """Return what stood more often at a place of the order, else a guess."""
        truths = self.memory.get(("place", place), [])
        reals, fakes = truths.count("real"), truths.count("fake")
        if reals == fakes:
            return self.rng.choice(("real", "fake"))
        return "real" if reals > fakes else "fake"

    def by_memory(self, seen):
        """Return what stood behind a trace whenever it was seen, in at most one place a session; else None.

        A trace that many pictures of a session share, such as a length, tells nothing apart.
        """
        for kind, value in seen:
            truths = self.memory.get((kind, value), [])
            if kind != "place" and 0 < len(truths) <= SESSIONS and len(set(truths)) == 1:
                return truths[0]
        return None


def test_a_perfect_memory_of_all_but_pixels_recognises_nothing(site):
    http, _, _ = site
    person = Person(http)

    shares = [person.take_part() for _ in range(SESSIONS)]

    assert [known for _, known in shares] == [0] * SESSIONS
    later = [right for right, _ in shares[1:]]
    # 280 guesses: standard deviation 0.030; four of them
    assert abs(sum(later) / len(later) - 0.5) < 0.12


def test_the_pictures_are_the_same_pixels_in_every_session_and_of_one_length(site):
    http, _, data = site
    stored = {
        Image.open(path).convert("RGB").tobytes()
        for path in data.images("s").iterdir()
        if path.suffix in TYPES
    }
    lengths = set()

    for _ in range(2):
        opened = http.post("/api/studies/s/sessions", json={"consent_version": "1"}).json
        headers = {"Authorization": f"Bearer {opened['token']}"}
        path = f"/api/sessions/{opened['state']['session']}/blocks"
        for url in http.post(path, json={"lease": 1, "block": 0}, headers=headers).json["images"]:
            with http.get(url) as reply:
                lengths.add((len(reply.data), reply.headers["Content-Length"]))
                with Image.open(io.BytesIO(reply.data)) as picture:
                    picture.load()
                    assert picture.convert("RGB").tobytes() in stored

    assert len(lengths) == 1
