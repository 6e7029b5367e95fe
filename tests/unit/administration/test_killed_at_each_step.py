"""Deletions, backups, restores killed at each step: studies stay whole, and the next call finishes."""

import itertools
import os
import shutil
from contextlib import closing, suppress

import pytest
from PIL import Image

from backend.administration import join
from backend.administration.backup import back_up, restore
from backend.administration.copy import copy
from backend.administration.delete import delete
from backend.administration.draft import Draft, Making
from backend.administration.publication import publish
from backend.administration.study_spec import StudySpec
from backend.experiment.records import FAKE, Stimulus
from backend.foundation.errors import Conflict, NotFound
from backend.stimuli.medium import Intake
from backend.stores.datadir import DataDir
from backend.stores.sqlite import SqliteStore

from .. import sample_studies as studies
from ..killed_steps import killed_at_each_step
from .test_backup import NOW

NAMES = ("face", "faces", "faces-2")


class Home:
    """A data directory with studies whose names begin alike, two pictures each, and a backup of it."""

    def __init__(self, root):
        self.root, self.backup = root, root / "backup"
        self.data = DataDir(root / "data")
        self.database = self.data.root / "openhype.db"

    def store(self):
        return closing(SqliteStore(self.database))

    def pictures(self):
        """Return the pictures of each study in the store, None for those that are missing."""
        with self.store() as store:
            return {
                study.name: {s.name: self.data.picture(study.name, s.name) for s in store.stimuli(study.name)}
                for study in store.studies()
            }

    def images(self):
        return sorted(path.name for path in (self.data.root / "images").iterdir())

    def back_up(self, folder=None):
        return back_up(self.database, self.data, folder or self.backup, NOW)


@pytest.fixture
def homes(tmp_path):
    """Makes copies of one home, in folders of their own."""
    first = Home(tmp_path / "first")
    first.data.keys()
    with first.store() as store:
        for seed, name in enumerate(NAMES):
            study = studies.study(name, models=("gan",))
            pool = studies.pool(study, each=1, seed=seed)
            first.data.images(name).mkdir(parents=True)
            for stimulus in pool:
                (first.data.images(name) / stimulus.name).write_bytes(stimulus.name.encode())
            store.add_study(study, pool)
    first.back_up()
    count = itertools.count()

    def copied():
        root = tmp_path / str(next(count))
        shutil.copytree(first.root, root)
        return Home(root)

    return copied


def assert_restores(home, folder, names=NAMES):
    restored = Home(home.root / "restored")
    restore(folder, restored.data, NOW)
    restored.database = restored.data.root / "openhype.db"
    pictures = restored.pictures()
    assert sorted(pictures) == sorted(names)
    assert all(content == name.encode() for of in pictures.values() for name, content in of.items())
    shutil.rmtree(restored.data.root)


def deleted(home):
    with home.store() as store:
        delete(store, home.data, store.study("faces", even_deleted=True), NOW)


def test_a_deletion_leaves_no_folder_and_no_study_without_its_pictures(homes):
    for home in killed_at_each_step(deleted, homes):
        assert all(content for of in home.pictures().values() for content in of.values())

        with suppress(NotFound):  # it is done
            deleted(home)

        assert home.images() == ["face", "faces-2"]
        assert sorted(home.pictures()) == ["face", "faces-2"]
        assert all(content for of in home.pictures().values() for content in of.values())


def test_a_backup_leaves_the_one_before_and_the_next_succeeds(homes):
    def changed():
        home = homes()
        keys = home.data.root / "keys.json"
        keys.write_text(f"{keys.read_text()} ")
        deleted(home)
        return home

    for home in killed_at_each_step(Home.back_up, changed):
        names = sorted(home.pictures())
        is_new = "faces/" not in (home.backup / "backup.json").read_text()
        assert_restores(home, home.backup, names if is_new else NAMES)

        home.back_up()

        assert_restores(home, home.backup, names)
        assert len([*home.backup.glob("openhype-*")]) == 1


@pytest.mark.slow("kills a process at each of its steps")
def test_a_first_backup_is_done_again(homes):
    for home in killed_at_each_step(lambda home: home.back_up(home.root / "new"), homes):
        home.back_up(home.root / "new")

        assert_restores(home, home.root / "new")
        assert not [*(home.root / "new").rglob(".*")]


@pytest.mark.slow("kills a process at each of its steps")
def test_a_restore_is_done_again_or_is_done(homes):
    def restored(home):
        restore(home.backup, DataDir(home.root / "again"), NOW)

    for home in killed_at_each_step(restored, homes):
        again = Home(home.root)
        again.data = DataDir(home.root / "again")
        again.database = again.data.root / "openhype.db"
        with suppress(Conflict):  # it is there
            restored(home)

        assert again.pictures() == home.pictures()
        assert not [*home.root.glob(".again*")]


def test_a_store_that_took_anothers_place_removes_none_of_its_pictures(homes, monkeypatch):
    """A creation dies once its study is stored; then another store is moved to that path."""
    home = homes()
    study = studies.study("hands", models=("gan",))
    pool = studies.pool(study, each=2)

    def published(store):
        made = home.root / "made"
        made.mkdir()
        for stimulus in pool:
            (made / stimulus.name).write_bytes(stimulus.name.encode())
        draft = Draft(StudySpec("hands", "study", "infinity"), study, Intake(tuple(pool), (), "png", (), ()))
        publish(draft, Making(store, home.data, made))

    with home.store() as store:
        mark = home.data.unpublished("hands")
        monkeypatch.setattr("pathlib.Path.unlink", lambda path, missing_ok=False: None)
        published(store)
        monkeypatch.undo()
    assert mark.exists()
    home.database.rename(home.data.root / "earlier.db")

    with home.store() as other, pytest.raises(Conflict, match="that is not in this store"):
        published(other)

    assert home.data.picture("hands", pool[0].name) == pool[0].name.encode()


def test_a_store_with_an_earlier_copy_of_a_study_removes_no_picture_of_a_model_that_joined(homes):
    home = homes()
    with home.store() as store, closing(SqliteStore(home.data.root / "other.db")) as other:
        study, new = store.study("faces"), home.root / "new"
        copy(store, other, "faces")
        stimulus = Stimulus("late.png", FAKE, "late", "", "late.png")
        new.mkdir()
        (new / stimulus.name).write_bytes(b"a picture")
        with join._in_place(store, home.data, study, "late", new, [stimulus.name]):
            join._grown(store, study, "late", [stimulus], (), NOW)
            mark = home.data.joining("faces").read_bytes()
        home.data.joining("faces").write_bytes(mark)  # as a join that is killed at its end leaves it

        join.clear_joining(other, home.data)
        assert home.data.picture("faces", stimulus.name) == b"a picture"

        join.clear_joining(store, home.data)
        assert home.data.picture("faces", stimulus.name) == b"a picture"
        assert not home.data.joining("faces").exists()


def test_a_first_backup_whose_list_was_half_written_is_done_again(homes):
    home = homes()
    home.back_up(home.root / "new")
    (home.root / "new" / "backup.json").rename(home.root / "new" / ".backup.json.partial")

    home.back_up(home.root / "new")

    assert_restores(home, home.root / "new")


@pytest.fixture
def synced(monkeypatch):
    """The files and folders that were synced to the disk, as inodes."""
    found = set()
    monkeypatch.setattr("os.fsync", lambda descriptor: found.add(os.fstat(descriptor).st_ino))
    return found


def unsynced(root, synced):
    """Return what is not synced of a folder; a database is, by SQLite."""
    paths = [root, *(path for path in root.rglob("*") if ".db" not in path.name)]
    return [path.name for path in paths if path.stat().st_ino not in synced]


def test_a_backup_and_what_is_restored_are_on_the_disk_with_all_folders(homes, synced):
    home = homes()
    home.back_up(home.root / "new")

    restore(home.root / "new", DataDir(home.root / "again"), NOW)

    assert unsynced(home.root / "new", synced) == []
    assert unsynced(home.root / "again", synced) == []
    assert home.root.stat().st_ino in synced


def test_pictures_that_are_replaced_by_longer_ones_are_on_the_disk_before(tmp_path, synced, monkeypatch):
    for name, size in (("there", 8), ("new", 32)):
        (tmp_path / name).mkdir()
        Image.effect_noise((size, size), 80).save(tmp_path / name / f"{name}.png")
    before, replace = (tmp_path / "there" / "there.png").stat().st_size, os.replace

    def replaced(source, target):
        assert source.stat().st_ino in synced
        replace(source, target)

    monkeypatch.setattr("os.replace", replaced)
    join._make_as_long(tmp_path / "there", tmp_path / "new")

    assert (tmp_path / "there" / "there.png").stat().st_size > before
