"""A deployment of version 0.1 is brought to this version while people are in the middle of sessions.

`stored/midway.json.gz` is the table that the packaged function of version 0.1 left, with people at several
points of their sessions, and what their pages hold. Those pages stay open, and go on with the requests of
version 0.1: the token in `Authorization`, and no digest of the body.
"""

import http.client
import json
from random import Random
from urllib.parse import urlsplit

import boto3
import pytest

from backend.commands.simulated_evaluators import Client, Refused
from backend.experiment import session as sessions
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from tests import dynamodb, function
from tests.cloudfront import Cloudfront, serving

from ..people import take_part_all
from ..stores.test_stored_before import as_item, unpacked


@pytest.fixture(scope="module")
def emulator():
    running = dynamodb.dynalite()
    yield running
    running.stop()


@pytest.fixture
def midway():
    return json.loads(unpacked("midway.json.gz"))


@pytest.fixture
def upgraded(emulator, midway, tmp_path, monkeypatch):
    """The deployment's address and store, with this version's function, open to requests without a digest."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "nobody")
    table = f"midway-{tmp_path.name}"[:60]
    create_table(emulator.url(table))
    client = boto3.client("dynamodb", endpoint_url=emulator.endpoint, region_name=dynamodb.REGION)
    for item in midway["items"]:
        client.put_item(TableName=table, Item=as_item(item))
    (tmp_path / "keys.json").write_text(midway["keys"])
    environment = {
        "OPENHYPE_STORE": emulator.url(table),
        "OPENHYPE_DATA": str(tmp_path),
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nobody",
    }
    instances = [function.Function("api", environment) for _ in range(2)]
    store = open_store(emulator.url(table), tmp_path)
    with serving(Cloudfront("no-bucket", {"api": instances}, is_signed=False)) as url:
        yield url, store
    store.close()
    for instance in instances:
        instance.close()


class EarlierPage:
    """A page of version 0.1 that has been open since before the upgrade."""

    def __init__(self, url, held):
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        self.held, self.sent = held, []

    def post(self, path, body):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.held['token']}"}
        self.connection.request("POST", f"{self.held['path']}/{path}", json.dumps(body), headers)
        reply = self.connection.getresponse()
        content = json.loads(reply.read())
        assert reply.status == 200, content
        return content

    def finish(self, of):
        """Answer what is left of the session; return what the last reply tells of its end."""
        rng, lease, left = Random(self.held["token"]), self.held["lease"], list(self.held["left"])
        trial, done = self.held["next"], None
        while done is None:
            if not left:
                begin = {"lease": lease, "block": trial["block"], "display": {"refresh_hz": 60}}
                left = [url.rpartition("/")[2] for url in self.post("blocks", begin)["images"]]
            body = answer(of, lease, trial, left.pop(0), rng.choice(("real", "fake")))
            reply = self.post("answers", body)
            assert self.post("answers", body) == reply  # sent again, as after a lost reply
            self.sent.append(body["response"])
            trial, done = reply["next"], reply["done"]
        self.connection.close()
        return done


def answer(of, lease, trial, name, response):
    """Return the body of a response as version 0.1 sent it."""
    exposure, timing = trial["exposure_ms"], of.protocol.timing
    frames = None if exposure is None else max(1, round(exposure * 60 / 1000))
    return {
        "lease": lease,
        "trial_index": trial["trial_index"],
        "stimulus": name,
        "response": response,
        "rt": 400.0,
        "exposure_ms": exposure,
        "shown_ms": frames and frames * 1000 / 60,
        "frames": frames,
        "frame_ms": 1000 / 60,
        "mask_ms": frames and [timing.mask_ms] * timing.mask_count,
        "flags": [],
    }


@pytest.mark.slow("packages are built by pip")
def test_pages_of_before_finish_on_the_new_function_and_the_study_fills_up(upgraded, midway, tmp_path):
    url, store = upgraded
    under_way = [held for held in midway["people"] if not held["is_done"]]
    assert {held["study"] for held in under_way} == {"faces", "flashes"}

    for name, wanted in (("faces", 8), ("flashes", 6)):
        study = store.study(name)
        pages = [EarlierPage(url, held) for held in under_way if held["study"] == name]
        newcomers = wanted - len([held for held in midway["people"] if held["study"] == name])
        codes = [page.finish(study)["completion_code"] for page in pages]
        take_part_all(url, store, study, DataDir(tmp_path), newcomers, is_sealed=False)
        with pytest.raises(Refused, match=r"every model has its [34] evaluators"):
            take_part_all(url, store, study, DataDir(tmp_path), 1, seed=1, is_sealed=False)

        rows = {session.id: (session, cursor, answers) for session, cursor, answers in store.answered(name)}
        assert (len(rows), store.finished(name)[0], len(set(codes))) == (wanted, wanted, len(pages))
        for session, cursor, answers in rows.values():
            replayed = sessions.replay(session, study.protocol, cursor, answers)
            assert (cursor.state, cursor.state, cursor.right) == ("finished", replayed.state, replayed.right)
        for page in pages:
            session, _, answers = rows[page.held["path"].rpartition("/")[2]]
            assert session.completion_code in codes
            assert [each.response for each in answers[page.held["answered"] :]] == page.sent


@pytest.mark.slow("packages are built by pip")
def test_a_page_of_before_that_is_loaded_again_goes_on_where_it_was(upgraded, midway):
    url, store = upgraded
    held = next(held for held in midway["people"] if held["answered"] > 0 and not held["is_done"])
    client = Client(url)

    state = client.post(f"{held['path']}/resume", {"display": {}}, held["token"])["state"]
    client.close()

    assert state["next"]["trial_index"] == held["answered"]
    EarlierPage(url, held | {"lease": state["lease"], "next": state["next"], "left": []}).finish(
        store.study(held["study"])
    )
    assert store.cursor(held["path"].rpartition("/")[2]).state == "finished"
