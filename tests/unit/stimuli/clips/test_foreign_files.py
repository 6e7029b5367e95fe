import json
import struct
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from backend.foundation.errors import InvalidInput
from backend.stimuli.clips.clip_file import MAGIC, EncodedFrame, content_of, read, strip_of, written
from backend.stimuli.clips.foreign_files import checked

ROOT = Path(__file__).resolve().parents[4]
CLIP = (ROOT / "backend" / "commands" / "demo_clips" / "real" / "00.clip").read_bytes()
HEAD, FRAMES = read(CLIP)
STRIP = strip_of(CLIP)


@pytest.fixture(params=["with PyAV", "without PyAV"], autouse=True)
def installed(request, monkeypatch):
    if request.param == "without PyAV":
        monkeypatch.setitem(sys.modules, "av", None)
    else:
        pytest.importorskip("av")


def file(tmp_path, data):
    path = tmp_path / "a.clip"
    path.write_bytes(data)
    return path


def of(**changes):
    return written(replace(HEAD, **changes), FRAMES, STRIP)


def stated(**facts):
    """Return a file whose head says what `written` would refuse."""
    head = json.dumps(asdict(HEAD) | facts).encode()
    at = len(MAGIC) + 4
    (length,) = struct.unpack_from("<I", CLIP, len(MAGIC))
    return MAGIC + struct.pack("<I", len(head)) + head + CLIP[at + length :]


def with_frame(i, data, is_key=False):
    frames = [*FRAMES]
    frames[i] = EncodedFrame(data, is_key)
    return written(HEAD, frames, STRIP)


def test_a_file_of_openhype_is_taken_as_it_is(tmp_path):
    head, frames, strip = checked(file(tmp_path, CLIP + b"padding"))

    assert (head, frames) == (HEAD, FRAMES)
    assert strip.startswith(b"\xff\xd8")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no file of a clip"),
        (CLIP[: len(CLIP) // 3], "is cut off or damaged"),
        (of(codec="avc1.42001f"), r"its codec must be 'vp09\.00\.10\.08', not 'avc1"),
        (of(width=178), "has 176 x 176 px, and the head says 178 x 176"),
        (of(width=100_000), "its head says 36 frames, 24/1 a second, 100000 x 176 px"),
        (stated(fps=[0, 1]), "its head says 36 frames, 0/1 a second"),
        (stated(fps=[24, 0]), "its head says 36 frames, 24/0 a second"),
        (stated(frames=0), "its head says 0 frames"),
        (stated(frames=10**12), "its head says 1000000000000 frames, more than 100,000"),
        (stated(frames=37), "is cut off or damaged|is not VP9"),
        (stated(fps=float("inf")), "is cut off or damaged"),
        (stated(width=float("inf")), "is cut off or damaged"),
        (with_frame(3, b""), "frame 4 of 36 is not VP9"),
        (with_frame(3, b"\0" * 50), "frame 4 of 36 is not VP9"),
        (with_frame(3, b"\x84" + FRAMES[3].data[1:]), "frame 4 of 36 holds a frame that is not shown"),
        (with_frame(3, FRAMES[3].data + b"\xc0\0\xc0"), "frame 4 of 36 holds a frame that is not shown"),
        (with_frame(3, FRAMES[3].data, is_key=True), "is a key frame, or should be one"),
        (with_frame(3, FRAMES[0].data), "is a key frame, or should be one"),
        (with_frame(0, FRAMES[0].data[:6], is_key=True), "is not VP9 with the colours of BT.709"),
    ],
)
def test_a_file_that_lies_is_refused(tmp_path, data, message):
    with pytest.raises(InvalidInput, match=message):
        checked(file(tmp_path, data))


@pytest.mark.parametrize(
    "data",
    [
        content_of(CLIP),
        *(
            written(HEAD, FRAMES, strip)
            for strip in (b"", b"no picture", b"\xff\xd8" + b"\0" * 100, STRIP[:200])
        ),
    ],
)
def test_a_wrong_film_strip_is_drawn_anew_or_refused(tmp_path, data):
    path = file(tmp_path, data)

    if sys.modules.get("av", ...) is None:
        with pytest.raises(InvalidInput, match="its film strip"):
            checked(path)
    else:
        assert checked(path)[2].startswith(b"\xff\xd8")


def test_frames_that_cannot_be_decoded_are_found_where_pyav_is(tmp_path):
    data = with_frame(5, FRAMES[5].data[:2] + b"\xff" * 200)

    if sys.modules.get("av", ...) is not None:
        with pytest.raises(InvalidInput, match="be decoded"):
            checked(file(tmp_path, data))
