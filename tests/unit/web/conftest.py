"""A server on which something of each kind is there, for tests of all routes."""

import pytest

from backend.competitions import submissions
from backend.competitions.terms import Terms, set_terms
from backend.jobs import queue

from .. import sample_studies as studies
from .members import as_member, tokens_of_all


@pytest.fixture
def there(world):
    """The tokens of all, and the names of what is there, by the parameter of a path."""
    world.add(studies.study(images=8))
    player = world.player()
    player.play()
    held = tokens_of_all(world)
    upload = world.http.post(
        "/api/uploads",
        json={"format": "files", "bytes": 1024, "parts": ["0" * 8]},
        headers=as_member(held["submitter"]),
    )
    study = world.store.study("faces")
    record = set_terms(world.store, study, Terms("Faces", published=True), world.clock())
    member = "a-submitter"
    sent, _ = submissions.submit(
        world.store, b"key", study, record, member, "gan", upload.json["digest"], world.clock()
    )
    args = {"submission": sent.id}
    job = queue.enqueue(world.store, "join", "faces", member, args, world.clock())
    drafted = world.http.post("/api/drafts/x", json={"name": "a"}, headers=as_member(held["researcher"]))
    assert drafted.status_code == 200, drafted.json
    names = {
        "submission": sent.id,
        "job": job.id,
        "draft": "x",
        "study": "faces",
        "session": player.state["session"],
        "member": "a-submitter",
        "token": held["submitter"].split("_")[1],
        "upload": upload.json["upload"],
        "part": "1",
        "method": "infinity",
    }
    return {**held, "session": player.token}, names
