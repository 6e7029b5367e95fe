"""The cache of features: what was put is found by any process; damage costs time but changes no number."""

import os
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from backend.metrics.feature_cache import FeatureCache, PictureIndex, Shown, picture_key
from backend.metrics.features import Extractor

ONE, OTHER = Extractor("one", "a" * 64), Extractor("other", "b" * 64)
LATER = time.time_ns() + 10**15


def put(folder, **vectors):
    cache = FeatureCache(folder, ONE)
    cache.put({key.encode(): np.array(values, np.float32) for key, values in vectors.items()})
    cache.close()


def got(folder, *keys, extractor=ONE):
    return {
        key.decode(): values.tolist() for key, values in FeatureCache(folder, extractor).get(keys).items()
    }


def test_features_are_found_by_picture_and_extractor(tmp_path):
    put(tmp_path, x=[1, 2], y=[3, 4])

    assert got(tmp_path, b"x", b"z") == {"x": [1, 2]}
    assert got(tmp_path, b"x", extractor=OTHER) == {}
    assert [path.stat().st_mode & 0o077 for path in tmp_path.iterdir()] == [0]


def test_a_thousand_keys_are_found_at_once(tmp_path):
    put(tmp_path, **{str(i): [i] for i in range(1001)})

    assert got(tmp_path, *(str(i).encode() for i in range(2000))) == {str(i): [i] for i in range(1001)}


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_counts_as_empty_and_is_made_anew(tmp_path, content):
    put(tmp_path, x=[1])
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)

    assert got(tmp_path, b"x") == {}
    put(tmp_path, x=[2])

    assert got(tmp_path, b"x") == {"x": [2]}


def test_a_file_with_other_tables_is_made_anew(tmp_path):
    put(tmp_path, x=[1])
    (path,) = tmp_path.iterdir()
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE features (something TEXT)")
    other.close()

    assert got(tmp_path, b"x") == {}
    put(tmp_path, x=[2])

    assert got(tmp_path, b"x") == {"x": [2]}


def test_a_changed_number_is_not_taken_for_a_feature(tmp_path):
    put(tmp_path, x=[1, 2], y=[3, 4])
    (path,) = tmp_path.iterdir()
    with sqlite3.connect(path) as other:
        other.execute("UPDATE features SET vector = ? WHERE picture = ?", (b"\0" * 8, b"x"))
    other.close()

    assert got(tmp_path, b"x", b"y") == {"y": [3, 4]}


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")

    put(tmp_path / "file", x=[1])

    assert got(tmp_path / "file", b"x") == {}


def test_several_processes_write_at_once_and_nothing_is_lost(tmp_path):
    program = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from backend.metrics.feature_cache import FeatureCache; from backend.metrics.features import "
        "Extractor\n"
        "cache = FeatureCache(Path(sys.argv[1]), Extractor('one', 'a' * 64)); which = int(sys.argv[2])\n"
        "for i in range(10):\n"
        "    cache.put({f'{which} {i}'.encode(): np.array([which, i], np.float32)})\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, tmp_path, str(n)]) for n in range(3)]

    assert [each.wait(60) for each in running] == [0, 0, 0]
    keys = [f"{n} {i}".encode() for n in range(3) for i in range(10)]
    assert got(tmp_path, *keys) == {key.decode(): [*map(float, key.split())] for key in keys}


def test_a_file_is_known_until_it_changes(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"one")
    index = PictureIndex(tmp_path / "cache", "Pillow 1")
    shown = Shown(b"k" * 32, 8, 9)

    index.put({path: shown}, LATER)

    assert index.get([path, tmp_path / "none.png"]) == {path: shown}
    assert PictureIndex(tmp_path / "cache", "Pillow 2").get([path]) == {}
    before = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # same length, same time of change
    assert index.get([path]) == {}


def test_a_file_that_was_just_written_is_not_remembered(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"one")
    index = PictureIndex(tmp_path / "cache", "Pillow 1")

    index.put({path: Shown(b"k" * 32, 8, 9)}, time.time_ns())

    assert index.get([path]) == {}


def test_the_key_of_a_picture_is_that_of_its_pixels():
    wide, high = np.zeros((2, 3, 3), np.uint8), np.zeros((3, 2, 3), np.uint8)

    assert picture_key(wide) == picture_key(wide.copy(order="F"))
    assert picture_key(wide) != picture_key(high)
