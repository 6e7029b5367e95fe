"""Submissions of clips to a leaderboard study of clips, as strangers send them."""

import io
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.stimuli.clips.clip_file import read, strip_of, written
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from ..stimuli.clips.made_clips import moving, write_video
from .test_submissions import Site

CLIPS = Path(__file__).resolve().parents[3] / "backend" / "commands" / "demo_clips"


def clips(model, change=lambda data: data, count=8):
    return {f"{i}.clip": change((CLIPS / model / f"{i:02}.clip").read_bytes()) for i in range(count)}


def headed(**changes):
    """Return a function that changes the head of a clip's file."""

    def change(data):
        head, frames = read(data)
        return written(replace(head, **changes), frames[: changes.get("frames")], strip_of(data))

    return change


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    given = ["create", "faces", "--real", f"{CLIPS}/real", "--model", f"base={CLIPS}/stutter"]
    given += ["--data", f"{folder}/data", "--set", "images=8", "--set", "spare_images=0"]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.output
    return folder / "data"


@pytest.fixture
def site(made, tmp_path):
    shutil.copytree(made, tmp_path / "data")
    data = DataDir(tmp_path / "data")
    store = open_store("sqlite:///openhype.db", data.root)
    site = Site(store, data)
    site.set_terms()
    yield site
    store.close()


def test_encoded_clips_join_without_pyav(site, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)

    found = site.submit("wobble", clips("wobble"))

    assert found["state"] == "collecting", found
    assert site.store.study("faces").models == ("base", "ann@lab.example wobble")
    files = [*site.data.images("faces").glob("*.clip")]
    assert len(files) == 32
    assert len({path.stat().st_size for path in files}) == 1


def test_videos_are_encoded_by_the_server(site, tmp_path):
    pytest.importorskip("av")
    for i in range(4):
        write_video(tmp_path / "sora" / f"{i}.mp4", moving(i, 36, (176, 176)), 24)

    found = site.submit("sora", {path.name: path.read_bytes() for path in (tmp_path / "sora").iterdir()})

    assert found["state"] == "collecting", found
    assert len({read(path.read_bytes())[0] for path in site.data.images("faces").glob("*.clip")}) == 1


def test_submitters_learn_how_clips_are_made_and_whether_the_server_reads_videos(site, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)

    assert site.ask("/api/studies/faces/submissions").json["clips"] == {
        "frames": 36,
        "fps": [24, 1],
        "width": 176,
        "height": 176,
        "quality": 0,
        "skip_seconds": 0,
        "preprocess": [],
        "reads_videos": False,
    }


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({f"{i}.mp4": b"ftyp" for i in range(8)}, "this server does not read videos; submit from a"),
        (clips("wobble", lambda data: data[: len(data) // 4]), "are no clips as openhype writes them"),
        (clips("wobble", headed(codec="av01.0.04M.08")), "each fails: its codec must be 'vp09.00.10.08'"),
        (clips("wobble", headed(width=178)), "has 176 x 176 px, and the head says 178 x 176"),
        (clips("wobble", headed(frames=12)), "each has 12 frames at 24 a second, 176 x 176 px, and those of"),
        (clips("wobble", headed(fps=(25, 1))), "each has 36 frames at 25 a second"),
        (clips("wobble") | {"a.png": b"?"}, "(a.png fails: others are .clip files, and all of a study"),
        (clips("stutter"), "some of the pictures show the same as pictures that study faces has already"),
        ({"0.png": b"?"}, "study faces shows clips, and the folder of model"),
    ],
)
def test_what_cannot_be_used_is_refused_with_one_reason(site, monkeypatch, files, reason):
    monkeypatch.setitem(sys.modules, "av", None)

    found = site.submit("bad", files)

    assert found["state"] == "refused"
    assert reason in found["reason"]
    assert found["try"] is None


def test_stills_for_a_study_of_clips_are_refused(site):
    moving(1, 1)[0].save(still := io.BytesIO(), "PNG")

    found = site.submit("stills", {f"{i}.png": still.getvalue() for i in range(4)})

    assert "study faces shows clips, and the folder of model ann@lab.example stills holds" in found["reason"]
