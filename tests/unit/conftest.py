"""A server without a socket: the application over a fresh store, and a clock that tests move."""

import os
import secrets
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from flask import request
from hypothesis import HealthCheck, settings

from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from backend.task.picture_names import PictureNames
from backend.task.reply_types import Refused
from backend.web import openapi

from . import sample_studies as studies
from .memory import MemoryStore

# How long an example takes is the machine's affair, the first one on a fresh machine above all.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("steady"), max_examples=25)


def pytest_configure(config):
    settings.load_profile("few" if config.option.markexpr == "not slow" else "steady")


@pytest.fixture(scope="session", autouse=True)
def one_core():
    """Have tests do all work in their own process: the other cores are other tests'."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sched_getaffinity", lambda process: {0}, raising=False)
        patch.setattr(os, "cpu_count", lambda: 1)
        yield


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now

    def move(self, **time):
        self.now += timedelta(**time)


def _as_declared(reply):
    """Check that a JSON reply is what its declaration says, no field more and none less."""
    if request.url_rule and request.path.startswith("/api/") and reply.is_json:
        if reply.status_code >= 400:
            declared = Refused
        else:
            rule = request.url_rule.rule.replace("<", "{").replace(">", "}")
            _, declared = openapi.operations()[f"{request.method} {rule}"].replies[reply.status_code]
        converted = msgspec.convert(reply.json, declared)
        assert msgspec.json.decode(msgspec.json.encode(converted)) == reply.json
    return reply


class World:
    """An application, its store and its clock, with shortcuts for what tests do over and over."""

    def __init__(self, store, data):
        self.store, self.data, self.clock = store, data, Clock()
        self.app = create_app(store, data, data.keys(), self.clock)
        self.app.after_request(_as_declared)
        self.http = self.app.test_client()
        self.pools = {}

    def add(self, study, each=60):
        self.pools[study.name] = studies.pool(study, each=each)
        self.store.add_study(study, self.pools[study.name])
        return study

    def truths(self, study):
        pool = self.pools.get(study) or self.store.stimuli(study)
        return {stimulus.name: stimulus.truth for stimulus in pool}

    def open(self, study="faces", panel=None, token=None, key=None, **more):
        if panel is None:  # somebody whom nobody knows
            panel = {"PROLIFIC_PID": secrets.token_hex(12)}
        body = {"consent_version": "1", "panel": panel, "qualification_token": token, **more}
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return self.http.post(f"/api/studies/{study}/sessions", json=body, headers=headers)

    def simulate(self, study="faces", **options):
        """Open a simulated session, as the researcher."""
        return self.open(study, key=self.data.keys().researcher, simulated=True, **options)

    def player(self, study="faces", simulated=False, **options):
        reply = (self.simulate if simulated else self.open)(study, **options)
        assert reply.status_code == 201, reply.json
        return Player(self, reply.json)


def names_of(urls):
    """Return the names of the pictures at some URLs, as a browser posts them."""
    return " ".join(url.rpartition("/")[2] for url in urls.split(" "))


class Player:
    """An evaluator who holds a session."""

    def __init__(self, world, opened):
        self.world, self.token, self.state = world, opened["token"], opened["state"]
        self.lease, self.next, self.done = self.state["lease"], self.state["next"], self.state["done"]
        self.truths = self._truths()
        self.images = {}

    def _truths(self):
        """Return the truths by the names that this session's browser knows, and by those that are stored."""
        stored, session = self.world.truths(self.state["study"]), self.state["session"]
        names = PictureNames(self.world.data.keys().hashing)

        def sealed(stimulus):
            return " ".join(names.sealed(session, name) for name in stimulus.split(" "))

        return {**stored, **{sealed(name): truth for name, truth in stored.items()}}

    def truth(self, shown):
        """Return what is right of a picture, or the side on which the real one of a pair stands."""
        if shown in self.truths:
            return self.truths[shown]
        of_each = [self.truths[name] for name in shown.split(" ")]
        return of_each[0] if len(of_each) == 1 else ("left", "right")[of_each.index("real")]

    def stored(self, shown):
        """Return the stored names of pictures that this session's browser knows by other ones."""
        names = PictureNames(self.world.data.keys().hashing)
        return " ".join(names.opened(self.state["session"], name) for name in shown.split(" "))

    def post(self, path, body, token=None):
        return self.world.http.post(
            f"/api/sessions/{self.state['session']}/{path}",
            json=body,
            headers={"Authorization": f"Bearer {token or self.token}"},
        )

    def begin(self, **display):
        display = {"refresh_hz": 60, **display}
        body = {"lease": self.lease, "block": self.next["block"], "display": display}
        reply = self.post("blocks", body)
        assert reply.status_code == 200, reply.json
        first = reply.json["first_trial_index"]
        names = [names_of(urls) for urls in reply.json["images"]]
        self.images.update(enumerate(names, start=first))
        return reply.json

    def body(self, right=True, **changes):
        name = self.images[self.next["trial_index"]]
        truth = self.truth(name)
        wrong = {"real": "fake", "fake": "real", "left": "right", "right": "left"}.get(truth, "different")
        base = {
            "lease": self.lease,
            "trial_index": self.next["trial_index"],
            "stimulus": name,
            "response": truth if right else wrong,
            "rt": 321.5,
            "exposure_ms": self.next["exposure_ms"],
            "flags": [],
        }
        return {**base, **changes}

    def answer(self, right=True, **facts):
        reply = self.post("answers", self.body(right, **facts))
        assert reply.status_code == 200, reply.json
        self.next, self.done = reply.json["next"], reply.json["done"]
        return reply.json

    def play(self, right=lambda truth: True):
        while self.done is None:
            self.begin()
            finished = False
            while not finished:
                truth = self.truth(self.images[self.next["trial_index"]])
                finished = self.answer(right(truth))["block_finished"]
        return self.done


@pytest.fixture
def world(tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path)
    yield World(store, DataDir(tmp_path))
    store.close()


_OTHER_STORES = pytest.mark.slow("the same on another store, which the contract of the stores covers")


@pytest.fixture(
    params=["sqlite", *(pytest.param(name, marks=_OTHER_STORES) for name in ("memory", "dynamodb"))]
)
def each_world(request, tmp_path):
    """A world over each kind of store."""
    if request.param == "memory":
        store = MemoryStore()
    elif request.param == "sqlite":
        store = open_store("sqlite:///openhype.db", tmp_path)
    else:
        url = request.getfixturevalue("dynalite").url(f"t{secrets.token_hex(6)}")
        create_table(url)
        store = open_store(url, tmp_path)
    yield World(store, DataDir(tmp_path))
    store.close()
