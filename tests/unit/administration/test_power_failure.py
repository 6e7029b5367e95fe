"""After a power failure the disk has what was synced: before a study is stored, all of its files are."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.administration.backup import back_up, restore
from backend.administration.create import create
from backend.administration.join import Newcomer, join
from backend.administration.study_spec import StudySpec
from backend.foundation.atomic_files import write_whole
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def fill(folder, seed, levels=256):
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for i in range(8):
        Image.fromarray(rng.integers(0, levels, (16, 16, 3), np.uint8)).save(folder / f"{i}.png")
    return folder


class Disk:
    """What was synced: a file with its content of that moment, a folder with its names."""

    def __init__(self, monkeypatch):
        self._synced, self._fsync = {}, os.fsync
        monkeypatch.setattr("os.fsync", self._sync)

    def _sync(self, descriptor):
        self._fsync(descriptor)
        self._synced[os.fstat(descriptor).st_ino] = _content(Path(f"/proc/self/fd/{descriptor}"))

    def lacks(self, root, but=(".none",)):
        """List what a power failure would take of a folder with all in it, and of the name of the folder."""
        there = [path for path in root.rglob("*") if not path.relative_to(root).parts[0].startswith(but)]
        return sorted(str(path.relative_to(root.parent)) for path in (root, *there) if not self._has(path))

    def _has(self, path):
        return self._synced.get(path.stat().st_ino) == _content(path)


def _content(path):
    return sorted(os.listdir(path)) if path.is_dir() else path.read_bytes()


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


@pytest.fixture
def store(tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path / "data")
    yield store
    store.close()


def study_of(tmp_path):
    folders = fill(tmp_path / "real", 1, 2), (("gan", fill(tmp_path / "gan", 2, 2)),)
    return StudySpec("faces", "study", "infinity", *folders, {"images": 8, "size_px": 16})


def noting(monkeypatch, store, name, disk, folder):
    """Note what the disk lacks at the moment of a write of the store."""
    lacking, write = [], getattr(store, name)

    def noted(*arguments):
        lacking.append(disk.lacks(folder, (".partial-",)))
        return write(*arguments)

    monkeypatch.setattr(store, name, noted)
    return lacking


def test_a_study_is_stored_after_its_files_and_all_folders_above_them(tmp_path, disk, store, monkeypatch):
    data = DataDir(tmp_path / "data")
    lacking = noting(monkeypatch, store, "add_study", disk, data.root / "images")

    create(store, data, study_of(tmp_path), NOW)

    assert lacking == [[]]


def test_a_model_is_stored_after_its_files_and_those_that_it_makes_longer(tmp_path, disk, store, monkeypatch):
    data = DataDir(tmp_path / "data")
    create(store, data, study_of(tmp_path), NOW)
    before = {path: path.stat().st_size for path in data.images("faces").iterdir()}
    lacking = noting(monkeypatch, store, "add_stimuli", disk, data.root / "images")

    join(store, data, "faces", Newcomer("vae", fill(tmp_path / "vae", 3)), NOW)

    assert lacking == [[]]
    assert all(path.stat().st_size > size for path, size in before.items())


def test_keys_and_files_written_whole_are_on_the_disk(tmp_path, disk):
    data = DataDir(tmp_path / "data")

    data.keys()
    data.keep_secret("webhook", "word")
    write_whole({data.root / "one.txt": b"1", data.root / "two.txt": b"2"})

    assert disk.lacks(data.root) == []


def test_a_restored_data_directory_is_on_the_disk_before_anybody_can_write_to_it(tmp_path, disk, store):
    data = DataDir(tmp_path / "data")
    create(store, data, study_of(tmp_path), NOW)
    back_up(data.root / "openhype.db", data, tmp_path / "backup", NOW)

    restore(tmp_path / "backup", DataDir(tmp_path / "restored"), NOW)

    assert disk.lacks(tmp_path / "restored", ("openhype.db",)) == []
    assert (tmp_path / "restored" / "openhype.db").stat().st_size > 0


def test_a_backup_is_on_the_disk_with_all_folders(tmp_path, disk, store):
    data = DataDir(tmp_path / "data")
    create(store, data, study_of(tmp_path), NOW)

    back_up(data.root / "openhype.db", data, tmp_path / "backup", NOW)
    shutil.rmtree(data.root / "images")

    assert disk.lacks(tmp_path / "backup", ("openhype-",)) == []
