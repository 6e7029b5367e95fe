"""The archive of a folder: as `tarfile` writes it (tests/unit/tar_vectors.json), read from anywhere."""

import base64
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.client.tar_stream import FileChanged, digest_of, header, layout, part_ranges, read

VECTORS = json.loads((Path(__file__).parents[1] / "tar_vectors.json").read_text("utf-8"))
ARCHIVES = [pytest.param(each, id=each["why"]) for each in VECTORS["archives"]]


def content(path, size):
    seed = hashlib.sha256(path.encode()).digest()
    return (seed * (size // 32 + 1))[:size]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def opener(sizes):
    return lambda path: io.BytesIO(content(path, sizes[path]))


@pytest.mark.parametrize("vector", VECTORS["headers"], ids=lambda vector: vector["path"][:10])
def test_headers_are_those_of_tarfile(vector):
    assert header(vector["path"], vector["bytes"]) == base64.b64decode(vector["header"])


@pytest.mark.parametrize("vector", ARCHIVES)
def test_an_archive_is_that_of_tarfile(vector):
    sizes = {file["path"]: file["bytes"] for file in vector["files"]}

    made = layout(sizes.items())

    whole = b"".join(read(made, 0, made.size, opener(sizes)))
    assert [entry.path for entry in made.entries] == vector["order"]
    assert (made.size, sha256(whole)) == (vector["bytes"], vector["sha256"])


@pytest.mark.parametrize("vector", ARCHIVES)
def test_parts_and_digest_follow_from_the_files(vector):
    sizes = {file["path"]: file["bytes"] for file in vector["files"]}
    made = layout(sizes.items())

    parts = [
        sha256(b"".join(read(made, *each, opener(sizes))))
        for each in part_ranges(made.size, vector["part_bytes"])
    ]

    assert (parts, digest_of(parts)) == (vector["parts"], vector["digest"])


@pytest.mark.parametrize("vector", ARCHIVES)
def test_any_range_can_be_read(vector):
    sizes = {file["path"]: file["bytes"] for file in vector["files"]}
    made = layout(sizes.items())

    for each in vector["ranges"]:
        assert sha256(b"".join(read(made, *each["range"], opener(sizes)))) == each["sha256"]


@given(
    st.dictionaries(
        st.lists(st.text("aZ.é\U0001f600-", min_size=1, max_size=70), min_size=1, max_size=3)
        .map("/".join)
        .filter(lambda path: not {".", ".."} & set(path.split("/"))),
        st.integers(0, 1200),
        min_size=1,
        max_size=5,
    ),
    st.integers(1, 2000),
)
def test_pieces_make_up_an_archive_that_tarfile_reads(sizes, step):
    made = layout(sizes.items())

    pieces = (b"".join(read(made, *each, opener(sizes))) for each in part_ranges(made.size, step))

    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
        found = {member.name: archive.extractfile(member).read() for member in archive}
    assert found == {path: content(path, size) for path, size in sizes.items()}


@pytest.mark.parametrize("path", VECTORS["refused"])
def test_a_path_that_cannot_be_sent_is_refused(path):
    with pytest.raises(ValueError, match="cannot be sent"):
        layout([(path, 1)])


@pytest.mark.parametrize("files", [[], [("a", 1), ("a", 2)], [("a", 8**11)], [("a", -1)]])
def test_what_makes_no_archive_is_refused(files):
    with pytest.raises(ValueError, match=r"no files|stands twice|at most 8589934591"):
        layout(files)


@pytest.mark.parametrize("now", [2, 4])
def test_a_file_that_changed_is_reported(now):
    made = layout([("a.png", 3)])

    with pytest.raises(FileChanged, match=r"a\.png had 3 bytes when the upload began, and has"):
        list(read(made, 0, made.size, lambda _: io.BytesIO(bytes(now))))
