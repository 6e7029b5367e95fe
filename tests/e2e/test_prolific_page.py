"""The page "Run it on Prolific", done as it stands there: its commands, against a fake Prolific."""

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from PIL import Image, ImageOps

from backend.commands.simulated_evaluators import Client
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.task.picture_names import PictureNames
from tests import prolific
from tests.prolific import Books

pytestmark = pytest.mark.slow("runs each command of the page in a process of its own")

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "prolific.md"
MODELS = ("gan", "vae")


def commands():
    """Return the commands of the page's shell blocks, in order, `openhype` ones only."""
    text = "".join(re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)).replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines() if line.startswith("openhype ")]


class Researcher:
    """Somebody at a terminal who types what the page says; only addresses and numbers are another's."""

    def __init__(self, folder, fake, url):
        token = folder / "prolific-token"
        token.write_text(fake.token + "\n")
        self.folder, self.url = folder, url
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PROLIFIC_TOKEN_FILE": str(token),
            "OPENHYPE_PROLIFIC_URL": f"{fake.url}/api/v1/",
        }
        self.said = []

    def types(self, words):
        done = subprocess.run(self.command(words), cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=120)  # fmt: skip
        assert done.returncode == 0, (words, done.stderr)
        self.said.append(done.stdout + done.stderr)
        return done.stdout

    def command(self, words):
        changed = {"https://study.example.org": self.url, "30": "2", "120": "5", "400": "50", "800": "60"}
        words = [changed.get(word, word) for word in words[1:]]
        if words[0] == "create":
            words += ["--set", "images=4", "--size", "64"]
        return [sys.executable, "-m", "backend", *words]


def play(books, store, keys, place):
    """Take part as an evaluator who is always right, until the page says goodbye."""
    books.start(place.id)
    url = books.link(place.id)
    client = Client(url)
    panel = {"PROLIFIC_PID": place.participant, "STUDY_ID": place.study, "SESSION_ID": place.id}
    opened = client.post("/api/studies/faces/sessions", {"consent_version": "1", "panel": panel})
    path, token = f"/api/sessions/{opened['state']['session']}", opened["token"]
    names = PictureNames(keys.hashing)
    truths = {names.sealed(path.split("/")[3], s.name): s.truth for s in store.stimuli("faces")}
    block = client.post(f"{path}/blocks", {"lease": 1, "block": 0}, token)
    for trial, image in enumerate(block["images"]):
        name = image.rpartition("/")[2]
        answer = {"lease": 1, "trial_index": trial, "stimulus": name, "response": truths[name], "flags": []}
        reply = client.post(f"{path}/answers", answer, token)
    client.close()
    return reply["done"]


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_the_page_leads_from_a_study_to_paid_evaluators(folders, tmp_path, port):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "real").symlink_to(folders / "real")
    (tmp_path / "images" / "gan").symlink_to(folders / "gan")
    (tmp_path / "images" / "vae").mkdir()
    for path in (folders / "gan").iterdir():
        with Image.open(path) as picture:
            ImageOps.mirror(picture).save(tmp_path / "images" / "vae" / path.name)
    steps = commands()
    at = {word: [step for step in steps if step[1] == word] for word in ("create", "serve", "recruit", "pay")}
    with prolific.running(Books(fee=Fraction(428, 1000))) as fake:
        researcher = Researcher(tmp_path, fake, f"http://127.0.0.1:{port}")
        create, serve = at["create"][0], at["serve"][0]
        researcher.types(create)
        served = [port_of(word, port) for word in researcher.command(serve)]
        with subprocess.Popen(
            served, cwd=tmp_path, env=researcher.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as server:
            try:
                until(lambda: answers(port), "the server did not start")
                places = recruit_and_play(researcher, fake.books, at["recruit"], tmp_path)
                until(lambda: {p.status for p in places} == {"AWAITING REVIEW"}, "not all were reported")
                plan, *_ = [researcher.types(step) for step in (*at["pay"], *at["pay"])]
                scores = [researcher.types(step) for step in steps if step[1] in ("score", "export")]
            finally:
                server.terminate()
                log = server.stdout.read().decode()

    paid = fake.books.paid()
    assert paid == {(p.id, kind): cents for p in places for kind, cents in (("reward", 200), ("bonus", 8))}
    assert "faces" in plan
    assert "gan" in scores[0]
    for secret in (fake.token, *(p.id for p in places), *(p.participant for p in places)):
        assert secret not in log + "".join(researcher.said)


def recruit_and_play(researcher, books, steps, folder):
    """Follow the commands of `recruit`; people come once it is published."""
    planned, done, *others = [step for step in steps if "--watch" not in step]
    assert "nothing was done" in researcher.types(planned)
    assert books.studies == {}
    researcher.types(done)
    (study,) = books.studies
    for step in others:
        researcher.types(step)
    assert books.study(study)["total_available_places"] == 5
    data = DataDir(folder / "openhype-data")
    store = open_store("sqlite:///openhype.db", data.root)
    places = [books.take(study) for _ in range(2 * len(MODELS))]
    for place in places:
        assert (
            play(books, store, data.keys(), place)["redirect_url"] == "https://app.prolific.com/submissions"
        )
    store.close()
    return places


def port_of(word, port):
    return {"8000": str(port), "0.0.0.0": "127.0.0.1"}.get(word, word)


def answers(port):
    try:
        with urlopen(f"http://127.0.0.1:{port}/api/openapi.json", timeout=60) as reply:
            return reply.status == 200
    except (URLError, ConnectionError):
        return False


def until(is_so, what, seconds=120):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.05)
