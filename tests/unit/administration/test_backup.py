"""A backup holds every answer of its moment, outlives its own death, and is checked when it is restored."""

import fcntl
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.administration import backup
from backend.administration.backup import back_up, restore
from backend.experiment import session as sessions
from backend.foundation.errors import Conflict, InvalidInput, NotFound, StoreFailed
from backend.stores.datadir import DataDir
from backend.stores.sqlite import SqliteStore
from backend.stores.store import RESTORES

from .. import sample_studies as studies
from ..stores.test_contract import response

NOW = datetime(2026, 1, 2, tzinfo=UTC)


class Place:
    """A data directory with one study whose pictures are a few bytes each, and a folder for backups."""

    def __init__(self, root):
        self.data, self.folder = DataDir(root / "data"), root / "backup"
        self.database = self.data.root / "openhype.db"
        self.data.keys()
        self.store = SqliteStore(self.database)
        self.study = studies.study(images=6, spare_images=4)
        self.pool = studies.pool(self.study, each=6)
        self.pictures = self.data.images("faces")
        self.pictures.mkdir(parents=True)
        for stimulus in self.pool:
            (self.pictures / stimulus.name).write_bytes(stimulus.name.encode())
        self.store.add_study(self.study, self.pool)

    def back_up(self, folder=None):
        return back_up(self.database, self.data, folder or self.folder, NOW)

    def answer(self, session_id, count, seen=None):
        session = studies.session(self.study, self.pool, session_id=session_id)
        cursor = sessions.opening(self.study.protocol, studies.CREATED_AT)
        self.store.add_session(session, cursor)
        for i in range(count):
            cursor = replace(cursor, version=cursor.version + 1, trial_index=i + 1)
            self.store.append(session_id, cursor.version - 1, cursor, response(i))
            if seen is not None:
                seen.append((session_id, i))

    def manifest(self):
        return json.loads((self.folder / "backup.json").read_text())


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.store.close()


def answers_in(root):
    with closing(sqlite3.connect(root / "openhype.db")) as db:
        return set(db.execute("SELECT session, trial_index FROM responses"))


def test_a_restored_backup_has_study_answers_ledger_pictures_and_keys(place, tmp_path):
    place.answer("s1", 4)
    place.store.write_entry("accounts faces", "s1", 0, {"owed": 300})

    done = place.back_up()
    restore(place.folder, DataDir(tmp_path / "new"), NOW)

    new = DataDir(tmp_path / "new")
    assert done.counts == {"studies": 1, "sessions": 1, "responses": 4, "entries": 1}
    assert new.keys() == place.data.keys()
    with closing(SqliteStore(new.root / "openhype.db")) as store:
        assert store.study("faces") == place.study
        assert store.responses("s1") == place.store.responses("s1")
        assert store.entry("accounts faces", "s1").data == {"owed": 300}
        assert [entry.data for entry in store.entries(RESTORES)] == [{"taken_at": "2026-01-02T00:00:00.000Z"}]
    for stimulus in place.pool:
        assert (new.images("faces") / stimulus.name).read_bytes() == stimulus.name.encode()


def test_backups_taken_while_fifty_sessions_answer_hold_what_was_acknowledged(place, tmp_path):
    acknowledged = []
    evaluators = [threading.Thread(target=place.answer, args=(f"s{i}", 20, acknowledged)) for i in range(50)]
    for evaluator in evaluators:
        evaluator.start()
    moments = []
    while any(evaluator.is_alive() for evaluator in evaluators) or not moments:
        before = set(acknowledged)
        place.back_up(tmp_path / f"backup-{len(moments)}")
        moments.append(before)
    for evaluator in evaluators:
        evaluator.join()
    assert len(acknowledged) == 1000

    for i, before in enumerate(moments):
        restore(tmp_path / f"backup-{i}", DataDir(tmp_path / f"new-{i}"), NOW)
        restored = answers_in(tmp_path / f"new-{i}")
        assert before <= restored <= set(acknowledged)


def test_a_backup_does_not_hold_up_answers(place):
    with closing(sqlite3.connect(place.database)) as other:
        other.execute("BEGIN IMMEDIATE")

        done = place.back_up()

        other.rollback()
    assert done.counts["studies"] == 1


def test_the_next_backup_copies_only_what_is_new(place):
    first = place.back_up()
    place.answer("s1", 2)

    second = place.back_up()

    assert (first.copied, first.files) == (20, 20)
    assert second.copied == 1
    assert second.counts["responses"] == 2
    assert len(list(place.folder.glob("*.db"))) == 1


def test_a_picture_that_was_lost_from_the_backup_is_copied_again(place, tmp_path):
    place.back_up()
    (place.folder / "images/faces" / place.pool[0].name).unlink()

    done = place.back_up()

    assert done.copied == 2
    restore(place.folder, DataDir(tmp_path / "new"), NOW)


@pytest.mark.parametrize("after_ms", [0, 5, 10, 20, 40, 80])
def test_a_backup_that_is_killed_leaves_the_one_before(place, tmp_path, after_ms):
    place.answer("s1", 3)
    place.back_up()
    place.answer("s2", 3)
    program = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from backend.administration.backup import back_up; from backend.stores.datadir import DataDir\n"
        "data, folder = map(Path, sys.argv[1:]); print('ready', flush=True)\n"
        "while True: back_up(data / 'openhype.db', DataDir(data), folder, datetime.now(UTC))"
    )
    arguments = [sys.executable, "-c", program, str(place.data.root), str(place.folder)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(after_ms / 1000)
        os.kill(process.pid, signal.SIGKILL)

    restore(place.folder, DataDir(tmp_path / "new"), NOW)
    again = place.back_up()

    assert answers_in(tmp_path / "new") >= {("s1", 0), ("s1", 1), ("s1", 2)}
    assert again.counts["responses"] == 6
    assert [path.name for path in place.folder.glob("openhype-*")] == [place.manifest()["database"]]


def changed(place):
    """Change all that a backup can find changed: keys, metrics, a lost copy, a new study."""
    place.data.metrics("faces").write_text("new metrics")
    text = (place.data.root / "keys.json").read_text()
    (place.data.root / "keys.json").write_text(f"{text} ")
    (place.folder / "images/faces" / place.pool[0].name).write_bytes(b"shorter")
    study = replace(place.study, name="hands")
    place.store.add_study(study, studies.pool(study, each=6))


@pytest.mark.parametrize("files", range(7))
def test_a_backup_that_ends_early_leaves_all_files_of_the_one_before(place, tmp_path, monkeypatch, files):
    place.data.metrics("faces").parent.mkdir()
    place.data.metrics("faces").write_text("metrics")
    place.back_up()
    changed(place)
    damaged = place.folder / "images/faces" / place.pool[0].name
    left, copy = [files], backup._copied

    def copied(source, target):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return copy(source, target)

    monkeypatch.setattr(backup, "_copied", copied)
    with pytest.raises((KeyboardInterrupt, NotFound)):  # the pictures of the new study are missing
        place.back_up()
    monkeypatch.undo()
    damaged.write_bytes(place.pool[0].name.encode())  # the copy that the test had damaged
    restore(place.folder, DataDir(tmp_path / "new"), NOW)

    assert DataDir(tmp_path / "new").metrics("faces").read_text() == "metrics"
    assert len([*DataDir(tmp_path / "new").images("faces").iterdir()]) == len(place.pool)


def test_what_changed_is_in_the_next_backup_and_what_it_replaced_is_not(place, tmp_path):
    place.data.metrics("faces").parent.mkdir()
    for text in ("first", "the second", "the third one"):
        place.data.metrics("faces").write_text(text)
        place.back_up()
        (place.folder / "metrics" / ".faces.json.partial").write_text("left by a killed backup")

    place.back_up()
    restore(place.folder, DataDir(tmp_path / "new"), NOW)

    assert DataDir(tmp_path / "new").metrics("faces").read_text() == "the third one"
    assert len([*(place.folder / "metrics").iterdir()]) == 1


def test_what_a_killed_restore_left_goes_with_the_next(place, tmp_path):
    place.back_up()
    program = (
        "import os, signal, sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from backend.administration.backup import restore; from backend.stores.datadir import DataDir\n"
        "die = lambda store: os.kill(os.getpid(), signal.SIGKILL)\n"
        "restore(Path(sys.argv[1]), DataDir(Path(sys.argv[2])), datetime.now(UTC), prepare=die)"
    )
    subprocess.run([sys.executable, "-c", program, place.folder, tmp_path / "new"], check=False)
    left = [path.name for path in tmp_path.glob(".new-*")]

    restore(place.folder, DataDir(tmp_path / "new"), NOW)

    assert (len(left), [*tmp_path.glob(".new-*")]) == (1, [])


def test_two_backups_into_one_folder_do_not_mix(place):
    place.back_up()
    descriptor = os.open(place.folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)

    with pytest.raises(Conflict, match="another process writes a backup"):
        place.back_up()

    os.close(descriptor)


def test_a_first_backup_that_broke_off_is_done_again(place):
    place.back_up()
    (place.folder / "backup.json").unlink()

    assert place.back_up().counts["studies"] == 1


@pytest.mark.parametrize("what", ["database", "picture", "keys.json"])
def test_a_damaged_file_is_not_restored(place, tmp_path, what):
    place.back_up()
    names = {"database": place.manifest()["database"], "picture": f"images/faces/{place.pool[3].name}"}
    path = place.folder / names.get(what, what)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    with pytest.raises(InvalidInput, match="is damaged: its SHA-256 differs"):
        restore(place.folder, DataDir(tmp_path / "new"), NOW)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "data"]


def test_a_missing_file_is_not_restored(place, tmp_path):
    place.back_up()
    (place.folder / "keys.json").unlink()

    with pytest.raises(NotFound, match=r"keys\.json is missing from the backup"):
        restore(place.folder, DataDir(tmp_path / "new"), NOW)


def test_a_backup_is_not_restored_over_anything(place):
    place.back_up()

    with pytest.raises(Conflict, match="is not empty; restore into a new folder"):
        restore(place.folder, place.data, NOW)


def test_a_folder_with_other_things_is_left_alone(place):
    place.folder.mkdir()
    (place.folder / "thesis.tex").write_text("chapter 1")

    with pytest.raises(Conflict, match="must be a new folder or a backup"):
        place.back_up()

    assert [path.name for path in place.folder.iterdir()] == ["thesis.tex"]


def test_the_backup_of_another_data_directory_is_left_alone(place, tmp_path):
    place.back_up()
    other = Place(tmp_path / "other")

    with pytest.raises(Conflict, match="holds a backup of another data directory"):
        other.back_up(place.folder)

    other.store.close()


def test_nothing_is_restored_from_a_folder_without_a_backup(tmp_path):
    with pytest.raises(NotFound, match="holds no backup"):
        restore(tmp_path, DataDir(tmp_path / "new"), NOW)


@pytest.mark.parametrize("place_in", ["../out.png", "/tmp/out.png", "images/../../out.png"])
def test_a_list_of_files_cannot_lead_out_of_the_backup(place, tmp_path, place_in):
    place.back_up()
    manifest = place.manifest()
    manifest["files"][place_in] = manifest["files"]["keys.json"]
    (place.folder / "backup.json").write_text(json.dumps(manifest))

    with pytest.raises(InvalidInput, match="names files outside of the backup"):
        restore(place.folder, DataDir(tmp_path / "new"), NOW)


def test_a_damaged_database_is_told_and_the_backup_before_stays(place, tmp_path):
    place.answer("s1", 5)
    place.back_up()
    place.store.close()
    data = bytearray(place.database.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    place.database.write_bytes(data)

    with pytest.raises(StoreFailed, match=r"damaged|could not be copied"):
        place.back_up()

    place.store = SqliteStore(tmp_path / "any.db")
    restore(place.folder, DataDir(tmp_path / "new"), NOW)
    assert len(answers_in(tmp_path / "new")) == 5


def test_there_is_nothing_to_back_up_without_a_database(tmp_path):
    with pytest.raises(NotFound, match="there is no database"):
        back_up(tmp_path / "openhype.db", DataDir(tmp_path), tmp_path / "backup", NOW)

    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_can_read_a_backup(place):
    place.back_up()

    modes = {stat.S_IMODE(path.stat().st_mode) for path in place.folder.rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700
