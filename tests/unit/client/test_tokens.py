"""Where `openhype submit` has its token from, as `openhype.Client` has."""

import pytest
from click.testing import CliRunner

from backend.cli import main

from .scripted_server import refusal, scripted


@pytest.mark.parametrize(
    ("option", "variables", "expected"),
    [
        ([], {"OPENHYPE_TOKEN": "oh_variable"}, "oh_variable"),
        ([], {"OPENHYPE_TOKEN_FILE": "file"}, "oh_file"),
        ([], {"OPENHYPE_TOKEN": "oh_variable", "OPENHYPE_TOKEN_FILE": "file"}, "oh_variable"),
        (["--token-file", "file"], {"OPENHYPE_TOKEN": "oh_variable"}, "oh_file"),
        (["--token-file", "-"], {"OPENHYPE_TOKEN": "oh_variable"}, "oh_typed"),
    ],
)
def test_the_option_counts_before_the_variables(tmp_path, monkeypatch, option, variables, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("oh_file\n")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.png").write_bytes(b"a picture")
    with scripted(refusal(404, "unknown_study")) as server:
        arguments = ["submit", "faces", "--model", "gan=images", "--url", server.url, *option]
        done = CliRunner().invoke(main, arguments, input="oh_typed\n", env=variables)

    assert done.exit_code == 1, done.output
    ((_, _, headers, _),) = server.seen
    assert headers["X-Openhype-Token"] == expected
