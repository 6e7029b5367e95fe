"""Scores of tournaments, which are log-odds: the API states their unit as an empty text."""

import pytest
from click.testing import CliRunner

from backend.cli import main

from .scripted_server import Answer, scripted

SCORED = {
    "submission": "s1",
    "study": "faces",
    "model": "gan",
    "member": "ada",
    "digest": "d",
    "state": "scored",
    "reason": None,
    "needs_pictures": False,
    "result": {"score": -0.414, "ci": [-0.9, 0.07], "unit": "", "evaluators": 30, "wanted": 30},
}


@pytest.mark.parametrize(
    ("least", "status", "said"),
    [
        ("-0.5", 0, "gan: scored, -0.41 log-odds (-0.90 to 0.07), 30 of 30 evaluators [s1]"),
        ("0", 1, "gan has -0.41 log-odds, less than the 0 log-odds asked for"),
    ],
)
def test_a_strength_is_printed_and_compared_with_the_one_asked_for(tmp_path, least, status, said):
    (tmp_path / "a.png").write_bytes(b"a picture")
    with scripted(Answer(body=SCORED)) as server:
        arguments = ["submit", "faces", "--model", f"gan={tmp_path}", "--url", server.url]
        done = CliRunner().invoke(
            main, [*arguments, "--wait", "--fail-under", least], env={"OPENHYPE_TOKEN": "oh_1_secret"}
        )

    assert done.exit_code == status
    assert said in done.output
