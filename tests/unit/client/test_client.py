"""Calls of the client, against a server that answers as a test says."""

import pytest

import openhype
from backend.client.retries import Retries

from .scripted_server import Answer, refusal, scripted

AT_ONCE = Retries(10.0, sleep=lambda _: None)


def client_of(server, **options):
    return openhype.Client(server.url, "oh_1_secret", retries=AT_ONCE, **options)


def scored(score):
    result = {"score": score, "ci": None, "unit": "percent", "evaluators": 2, "wanted": 2}
    facts = {"submission": "s1", "study": "faces", "model": "gan", "member": "ada", "digest": "d"}
    return Answer(
        body={**facts, "state": "scored", "reason": None, "result": result, "needs_pictures": False}
    )


def test_an_order_whose_reply_is_lost_is_sent_again_for_the_server_knows_it():
    with scripted(Answer(body={"job": "j1"}, cut=True), Answer(body={"job": "j1"})) as server:
        job = client_of(server).create("faces", images=10)

    assert job.id == "j1"
    assert len({body for *_, body in server.seen}) == 1


def test_a_rehearsal_never_gives_the_score_of_real_evaluators(tmp_path):
    (tmp_path / "1.png").write_bytes(b"a picture")
    with scripted(
        scored(10.0), scored(90.0), Answer(body={"submissions": [scored(10.0).body]}), scored(90.0)
    ) as server:
        client = client_of(server, simulated=True)
        submitted = client.submit("faces", model="gan", images=tmp_path)
        (listed,) = client.submissions("faces")

    assert (submitted.result(0).score, listed.result(0).score) == (90.0, 90.0)
    assert [path.partition("?")[2] for _, path, _, _ in server.seen] == ["", "simulated=true"] * 2


@pytest.mark.parametrize("name", ["", None, 3, b"faces"])
def test_what_can_be_no_name_is_refused_before_anything_is_asked(name):
    with scripted() as server:
        client = client_of(server)
        for call in (client.status, client.submission, client.job, client.submissions):
            with pytest.raises(openhype.InvalidInput, match="must be a text"):
                call(name)


def test_a_name_is_one_segment_of_the_path_whatever_is_in_it():
    names = {"a/b?c#d": "a%2Fb%3Fc%23d", "é": "%C3%A9", "\ud800": "%5Cud800"}
    with scripted(*[refusal(404, "unknown_study")] * len(names)) as server:
        for name in names:
            with pytest.raises(openhype.NotFound):
                client_of(server).status(name)

    assert [path for _, path, _, _ in server.seen] == [
        f"/api/studies/{sent}/status" for sent in names.values()
    ]
