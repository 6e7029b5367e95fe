import json
import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.foundation.errors import InvalidInput
from backend.stimuli.clips.clip_file import (
    MAGIC,
    ClipHead,
    EncodedFrame,
    content_of,
    pad,
    read,
    strip_of,
    written,
)
from backend.stimuli.media import MEDIA, medium_of_file

HEAD = ClipHead("vp09.00.10.08", 2, (24, 1), 64, 48)
FRAMES = [EncodedFrame(b"key", True), EncodedFrame(b"", False)]
FILE = written(HEAD, FRAMES, b"strip")


def test_a_file_has_the_bytes_of_the_format():
    head = b'{"codec":"vp09.00.10.08","fps":[24,1],"frames":2,"height":48,"width":64}'
    frames = b"\3\0\0\0\1key" + b"\0\0\0\0\0"
    strip = b"\5\0\0\0strip"

    assert b"OHCLIP1\n" + struct.pack("<I", len(head)) + head + frames + strip == FILE


@given(
    st.lists(st.binary(max_size=40), min_size=1, max_size=5), st.binary(max_size=30), st.binary(max_size=40)
)
def test_what_is_written_is_read_whatever_follows(datas, strip, rest):
    frames = [EncodedFrame(data, i == 0) for i, data in enumerate(datas)]
    head = ClipHead("vp09.00.10.08", len(frames), (30000, 1001), 2, 2)

    data = written(head, frames, strip)

    assert read(data + rest) == (head, frames)
    assert strip_of(data + rest) == strip
    assert content_of(data + rest) == content_of(data)


@pytest.mark.parametrize("length", range(len(MAGIC), len(FILE) - len(b"\5\0\0\0strip")))
def test_a_file_cut_off_anywhere_is_refused(length):
    with pytest.raises(InvalidInput, match=re.escape("x.clip is cut off or damaged")):
        read(FILE[:length], "x.clip")


def test_another_file_is_refused():
    with pytest.raises(InvalidInput, match="is no file of a clip"):
        read(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    "change", [{"frames": 3}, {"frames": "x"}, {"fps": [1]}, {"codec": None, "width": None}]
)
def test_a_head_that_does_not_fit_is_refused(change):
    head = json.dumps(vars(HEAD) | change).encode()
    data = MAGIC + struct.pack("<I", len(head)) + head + FILE[-20:-9]

    with pytest.raises(InvalidInput, match="is cut off or damaged"):
        read(data)


@pytest.mark.parametrize("frames", [FRAMES[:1], FRAMES[::-1]])
def test_a_clip_that_begins_without_a_key_frame_or_lacks_frames_is_not_written(frames):
    with pytest.raises(ValueError, match="expected 2 frames, the first a key frame"):
        written(HEAD, frames, b"")


def test_padding_and_salt_change_nothing_of_what_is_shown(tmp_path):
    path = tmp_path / "a.clip"
    path.write_bytes(FILE)

    pad(path, len(FILE) + 100)
    salted = medium_of_file(path.name).salted(path.read_bytes(), b"s" * 16)

    assert path.stat().st_size == len(FILE) + 100
    assert len(salted) == len(FILE) + 116
    assert read(salted) == (HEAD, FRAMES)
    assert MEDIA["clip"].content_key(path) != MEDIA["clip"].content_key(_other(tmp_path))


def _other(folder):
    path = folder / "b.clip"
    path.write_bytes(written(HEAD, [EncodedFrame(b"yek", True), FRAMES[1]], b"strip"))
    return path
