"""Sending an archive: what the server has is not sent again, and nothing else than what was announced."""

import json

import pytest

from backend.client.connection import Connection
from backend.client.pictures import picture_files
from backend.client.retries import Retries
from backend.client.sending import archive_of, send
from backend.foundation.errors import InvalidInput

from .scripted_server import Answer, refusal, scripted


@pytest.fixture
def archive(tmp_path):
    (tmp_path / "1.png").write_bytes(b"before")
    with picture_files(tmp_path) as files:
        yield archive_of(files)


def begun(archive, *missing):
    return Answer(
        body={
            "upload": "u",
            "digest": archive.digest,
            "state": "receiving",
            "part_bytes": 5242880,
            "missing": [*missing],
        }
    )


URLS = Answer(body={"urls": [{"part": 0, "url": "/api/uploads/u/parts/0", "headers": {}}]})


def sent(archive, *answers):
    """Send an archive to a server with these answers; return what it was asked."""
    with scripted(*answers) as server:
        assert send(Connection(server.url, "oh_1_x", Retries(0)), archive, lambda *_: None) == "u"
        return [f"{verb} {path}" for verb, path, _, _ in server.seen]


@pytest.mark.parametrize(
    "failure",
    [refusal(400, "wrong_part"), refusal(404, "unknown_upload")],
)
def test_a_part_that_was_damaged_on_its_way_or_has_no_upload_any_more_is_sent_again(archive, failure):
    asked = sent(archive, begun(archive, 0), URLS, failure, begun(archive, 0), URLS, Answer(), Answer())

    assert asked.count("PUT /api/uploads/u/parts/0") == 2
    assert asked[-1] == "POST /api/uploads/u/complete"


def test_a_part_that_is_damaged_each_time_is_told_in_the_servers_words(archive):
    damaged = [begun(archive, 0), URLS, refusal(400, "wrong_part", "part 0 must have the CRC-32 a, not b")]

    with pytest.raises(InvalidInput, match="part 0 must have the CRC-32 a, not b"):
        sent(archive, *damaged * 4)


def test_a_file_that_changes_after_it_was_announced_is_not_sent(archive, tmp_path):
    (tmp_path / "1.png").write_bytes(b"aftern")

    with (
        scripted(begun(archive, 0), URLS) as server,
        pytest.raises(InvalidInput, match="a file has changed while it was sent"),
    ):
        send(Connection(server.url, "oh_1_x", Retries(0)), archive, lambda *_: None)

    assert [verb for verb, *_ in server.seen] == ["POST", "POST"]
    assert json.loads(server.seen[0][3])["parts"] == list(archive.parts)
