"""Calls of the client, against a server that answers as a test says."""

import openhype
from backend.client.retries import Retries

from .scripted_server import Answer, scripted

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
