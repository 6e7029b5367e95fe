"""Files as one stream: as in tests/unit/file_streams.json, whole, in parts and in ranges."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.client.file_stream import list_of
from backend.client.pictures import PictureFile
from backend.client.sending import Archive, archive_of
from backend.foundation.errors import InvalidInput

from ..uploads.streams import PART_BYTES, checksums, parts_of, stream_of

VECTORS = json.loads((Path(__file__).parents[1] / "file_streams.json").read_text("utf-8"))
STREAMS = [pytest.param(each, id=each["why"]) for each in VECTORS["streams"]]


def content(path, size):
    seed = hashlib.sha256(path.encode()).digest()
    return (seed * (size // 32 + 1))[:size]


def written(folder, files):
    """Write files (contents by path) under names that any disk takes, in an order of no meaning."""
    for number, path in enumerate(files):
        (folder / str(number)).write_bytes(files[path])
    return [PictureFile(path, folder / str(number), len(files[path])) for number, path in enumerate(files)]


@pytest.mark.parametrize("vector", STREAMS)
def test_a_stream_is_the_list_and_the_contents(vector, tmp_path):
    files = {path: content(path, size) for path, size in vector["files"].items()}

    archive = archive_of(written(tmp_path, files))

    whole = archive.read(0, archive.size)
    assert archive.listed.decode() == vector["list"]
    assert (archive.size, hashlib.sha256(whole).hexdigest()) == (vector["bytes"], vector["sha256"])
    assert whole == stream_of(files)
    assert archive.parts == tuple(checksums([whole]))


def test_parts_are_of_five_mib(tmp_path):
    files = {"b.png": content("b", 2 * PART_BYTES), "a.png": content("a", 700)}

    archive = archive_of(written(tmp_path, files))

    expected = parts_of(stream_of(files))
    assert [archive.part(number) for number in range(len(archive.parts))] == expected
    assert archive.parts == tuple(checksums(expected))


@given(
    st.dictionaries(
        st.text("aZ.é\U0001f600-/", min_size=1, max_size=70), st.integers(0, 300), min_size=1, max_size=5
    ),
    st.integers(1, 700),
)
def test_any_ranges_make_up_the_stream(tmp_path_factory, sizes, step):
    files = {path: content(path, size) for path, size in sizes.items()}
    given = sorted(
        written(tmp_path_factory.mktemp("files"), files), key=lambda file: file.name.encode("utf-16-be")
    )
    archive = Archive(tuple(given), list_of((file.name, file.size) for file in given))

    ranges = [archive.read(start, start + step) for start in range(0, archive.size, step)]

    assert b"".join(ranges) == stream_of(files)
    assert {len(each) for each in ranges[:-1]} <= {step}


@pytest.mark.parametrize("path", VECTORS["refused"])
def test_a_path_that_cannot_be_sent_is_refused(path, tmp_path):
    with pytest.raises(InvalidInput, match="cannot be sent"):
        archive_of(written(tmp_path, {path: b"x"}))


@pytest.mark.parametrize("now", [2, 4])
def test_a_file_that_changed_is_reported(now, tmp_path):
    archive = archive_of(written(tmp_path, {"a.png": b"abc"}))
    (tmp_path / "0").write_bytes(bytes(now))

    with pytest.raises(InvalidInput, match=rf"a\.png had 3 bytes when the upload began, and has {now} now"):
        archive.part(0)
