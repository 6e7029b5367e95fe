"""Submissions of clips, to a server that reads videos and to one without PyAV."""

import io
import sys
from pathlib import Path

import pytest

pytest.importorskip("av")

import openhype
from backend.client.clips import sendable
from backend.client.pictures import picture_files
from backend.stimuli.clips.clip_file import read
from tests.unit.stimuli.clips.made_clips import moving, write_animation, write_video

RECIPE = {
    "frames": 6,
    "fps": [12, 1],
    "width": 32,
    "height": 32,
    "quality": 6,
    "skip_seconds": 0.0,
    "preprocess": [],
    "reads_videos": False,
}
ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "backend" / "commands" / "demo_clips" / "real"


@pytest.fixture
def videos(tmp_path):
    for i in range(3):
        write_video(tmp_path / "sora" / f"{i}.mp4", moving(i, 6))
    return tmp_path / "sora"


def sent(images, recipe, progress=lambda done, total: None):
    """Return the files that are sent, by name."""
    with picture_files(images) as given, sendable(given, lambda: recipe, progress) as files:
        return {file.name: file.path.read_bytes() for file in files}


def test_videos_are_sent_as_they_are_to_a_server_that_reads_them(videos):
    files = sent(videos, RECIPE | {"reads_videos": True})

    assert files == {path.name: path.read_bytes() for path in videos.iterdir()}


def test_videos_are_encoded_here_in_the_form_of_the_study_if_the_server_reads_none(videos):
    steps = []

    files = sent(videos, RECIPE, lambda *step: steps.append(step))

    assert sorted(files) == ["0.clip", "1.clip", "2.clip"]
    heads = {read(data)[0] for data in files.values()}
    assert [(head.frames, head.fps, head.width) for head in heads] == [(6, (12, 1), 32)]
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert sent(videos, RECIPE) == files  # a submission is known by its files


def test_two_videos_of_one_name_keep_apart(videos):
    write_video(videos / "0.mkv", moving(7, 6))

    files = sent(videos, RECIPE)

    assert len(files) == 4
    assert {"0.clip", "1.clip", "2.clip"} < {*files}


def test_animations_and_bytes_of_videos_are_clips_too(videos, tmp_path):
    animated = write_animation(tmp_path / "a.webp", moving(9, 8)).read_bytes()

    files = sent([animated, (videos / "0.mp4").read_bytes()], RECIPE)

    assert sorted(files) == ["000000.clip", "000001.clip"]


def test_encoded_clips_are_sent_as_they_are(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    clip = (DEMO / "00.clip").read_bytes()

    assert sent([clip], RECIPE) == {"000000.clip": clip}


def test_pictures_ask_the_server_nothing(tmp_path):
    moving(1, 1)[0].save(written := io.BytesIO(), "PNG")
    with (
        picture_files([written.getvalue()]) as given,
        sendable(given, lambda: pytest.fail("the server was asked"), lambda done, total: None) as files,
    ):
        assert files == given


def test_a_video_for_a_study_of_pictures_is_refused_before_it_is_sent(videos):
    with pytest.raises(openhype.InvalidInput, match=r"\.mp4 is a clip, and the study shows pictures"):
        sent(videos, None)


def test_a_video_that_cannot_be_encoded_is_named_as_it_was_given(videos):
    (videos / "bad.mp4").write_bytes(b"\0" * 500)
    write_video(videos / "short.mp4", moving(1, 2))

    with pytest.raises(openhype.InvalidInput) as refused:
        sent(videos, RECIPE)

    assert "(bad.mp4 is broken or cut off, or no clip: " in str(refused.value)
    assert "(short.mp4 is shorter than 0.5 s)" in str(refused.value)


def test_without_pyav_on_both_sides_it_is_said_where_to_get_it(videos, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)

    with pytest.raises(openhype.OpenhypeError, match=r"does not read; .*'openhype\[clips\]'"):
        sent(videos, RECIPE)
