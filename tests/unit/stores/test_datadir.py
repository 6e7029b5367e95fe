"""The data directory's keys: made once, private, never lost silently."""

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
