"""The data directory's keys: made once, private, never lost silently."""

import hashlib
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.foundation.errors import InvalidInput
from backend.stores.datadir import DataDir


def test_processes_that_start_at_once_get_the_same_keys(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: DataDir(tmp_path).keys(), range(16)))

    assert len(keys) == 1


def test_the_keys_are_for_their_owner_only(tmp_path):
    DataDir(tmp_path).keys()

    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "restore it from a backup"),
        (b"[1]", "restore it from a backup"),
        (b"\xa8", r"keys\.json line 1: must be UTF-8 text, not the byte 0xa8"),
    ],
)
def test_broken_keys_are_not_replaced(tmp_path, data, message):
    (tmp_path / "keys.json").write_bytes(data)

    with pytest.raises(InvalidInput, match=message):
        DataDir(tmp_path).keys()


def test_the_environment_can_set_the_researchers_key(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENHYPE_KEY", "mine")

    assert DataDir(tmp_path).keys().researcher == "mine"


def test_a_replaced_key_leaves_its_digest_and_the_hashing_key(tmp_path):
    data = DataDir(tmp_path)
    before = data.keys()

    data.replace_researcher_key()

    after = data.keys()
    assert after.researcher != before.researcher
    assert after.hashing == before.hashing
    assert after.ended == (hashlib.sha256(before.researcher.encode()).hexdigest(),)
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600


def test_keys_that_are_replaced_at_the_same_time_end_one_after_the_other(tmp_path):
    first = DataDir(tmp_path).keys()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: DataDir(tmp_path).replace_researcher_key(), range(8)))

    ended = DataDir(tmp_path).keys().ended
    assert len(set(ended)) == 8
    assert ended[0] == hashlib.sha256(first.researcher.encode()).hexdigest()


def test_a_replacement_that_is_killed_leaves_the_key_as_it_was(tmp_path, monkeypatch):
    before = DataDir(tmp_path).keys()

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        DataDir(tmp_path).replace_researcher_key()

    assert DataDir(tmp_path).keys() == before


def test_a_key_of_the_environment_is_not_replaced_in_the_file(tmp_path, monkeypatch):
    before = DataDir(tmp_path).keys()
    monkeypatch.setenv("OPENHYPE_KEY", "mine")

    with pytest.raises(InvalidInput, match="OPENHYPE_KEY is the researcher's key here"):
        DataDir(tmp_path).replace_researcher_key()

    monkeypatch.delenv("OPENHYPE_KEY")
    assert DataDir(tmp_path).keys() == before


@pytest.mark.parametrize(("age_s", "is_kept"), [(0, True), (-60, True), (1000, False), (-3600, False)])
def test_a_file_to_download_goes_in_its_time_also_if_the_clock_was_ahead_when_it_was_made(
    tmp_path, age_s, is_kept
):
    data = DataDir(tmp_path)
    file = data.downloads("faces") / "one"
    file.parent.mkdir(parents=True)
    file.write_text("answers")
    made = file.stat().st_mtime - age_s
    os.utime(file, (made, made))

    data.expire_downloads()

    assert file.exists() is is_kept
