"""The data directory's keys: made once, private, never lost silently."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.datadir import DataDir
from backend.errors import InvalidInput


def test_processes_that_start_at_once_get_the_same_keys(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: DataDir(tmp_path).keys(), range(16)))

    assert len(keys) == 1


def test_the_keys_are_for_their_owner_only(tmp_path):
    DataDir(tmp_path).keys()

    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600


def test_broken_keys_are_not_replaced(tmp_path):
    (tmp_path / "keys.json").write_text("{}")

    with pytest.raises(InvalidInput, match="restore it from a backup"):
        DataDir(tmp_path).keys()


def test_the_environment_can_set_the_researchers_key(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENHYPE_KEY", "mine")

    assert DataDir(tmp_path).keys().researcher == "mine"
