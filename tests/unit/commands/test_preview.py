"""`openhype preview` as a user runs it: what it prints and serves, and what is left after a Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.stores.opening import open_store
from tests.isolation import interruptible

from .. import sample_studies as studies


def test_a_study_is_shown_until_a_ctrl_c_and_nothing_is_left(tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path / "data")
    store.add_study(faces := studies.study(images=8), studies.pool(faces))
    store.close()
    before = {*(tmp_path / "data").iterdir()}
    (temporary := tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "backend", "preview", "faces", "--no-browser"]
    environment = {**os.environ, "OPENHYPE_DATA": f"{tmp_path / 'data'}", "TMPDIR": f"{temporary}"}

    with interruptible():
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    said = [process.stdout.readline() for _ in range(2)]
    url = re.fullmatch(r"preview of faces: (http://127\.0\.0\.1:\d+/preview/\S+/s/faces)\n", said[0])[1]
    page = urllib.request.urlopen(url, timeout=30).read()
    is_open = any(temporary.iterdir())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    assert said[1] == "nothing is recorded; stop with Ctrl-C, which ends the preview\n"
    assert b"/assets/" in page
    assert (process.returncode, is_open) == (0, True)
    assert [*temporary.iterdir()] == []
    assert {*(tmp_path / "data").iterdir()} == before


def test_ctrl_c_stops_a_preview_that_has_just_said_so(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    store = open_store("sqlite:///openhype.db", tmp_path)
    store.add_study(faces := studies.study(images=8), studies.pool(faces))
    store.close()
    monkeypatch.setattr("backend.web.server.serve", interrupted)

    ended = CliRunner().invoke(main, ["preview", "faces", "--no-browser", "--data", f"{tmp_path}"])

    assert ended.exit_code == 0, ended.output


@pytest.mark.parametrize("name", ["none", ""])
def test_a_preview_of_no_study_says_so(tmp_path, name):
    shown = CliRunner().invoke(main, ["preview", name, "--data", f"{tmp_path}"], prog_name="openhype")

    assert shown.exit_code == 1
    assert f"there is no study {name!r}" in shown.stderr
    assert [*tmp_path.iterdir()] == []
