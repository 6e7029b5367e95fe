"""Files that are there as a whole or not at all."""

import os

import pytest

from backend.foundation import atomic_files
from backend.foundation.atomic_files import write_whole


def test_files_are_replaced_and_their_folders_made(tmp_path):
    old, new = tmp_path / "old", tmp_path / "a" / "b"
    old.write_bytes(b"old")

    write_whole({old: b"1", new: b"2"})

    assert (old.read_bytes(), new.read_bytes()) == (b"1", b"2")


def test_an_interrupted_write_leaves_nothing_half_written(tmp_path, monkeypatch):
    def interrupted(*paths):
        raise KeyboardInterrupt

    old = tmp_path / "old"
    old.write_bytes(b"old")
    monkeypatch.setattr(atomic_files.os, "replace", interrupted)

    with pytest.raises(KeyboardInterrupt):
        write_whole({old: b"new", tmp_path / "other": b"{}"})

    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert old.read_bytes() == b"old"


def test_a_pipe_is_written_into_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole({tmp_path / "pipe": b"a"})

        assert os.read(reader, 10) == b"a"
        assert [each.name for each in tmp_path.iterdir()] == ["pipe"]
    finally:
        os.close(reader)
