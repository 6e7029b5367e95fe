"""Who may read a data directory: its owner, or a group on purpose, whatever the umask."""

import os
import stat
import subprocess
import sys
from contextlib import closing

import pytest

from backend.foundation.file_permissions import make_folder, private, share, tighten
from backend.stores.datadir import DataDir
from backend.stores.sqlite import SqliteStore, snapshot

from .. import sample_studies as studies


@pytest.fixture(autouse=True, params=[0o000, 0o022, 0o002], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def modes(root):
    return {path.name: oct(mode(path)) for path in root.iterdir()}


def filled(root):
    """Make a data directory with a database in use, keys, a secret, a lock, a study's folder and a cache."""
    data = DataDir(root)
    data.keys()
    data.keep_secret("hook", "s")
    with closing(SqliteStore(root / "openhype.db")) as store:
        store.add_study(studies.study(), studies.pool(studies.study(), each=2))
        with data.making("faces"):
            make_folder(data.cache("masks"))
            found = modes(root)
    return found


OWNERS = {
    "openhype.db": "0o600", "openhype.db-wal": "0o600", "openhype.db-shm": "0o600", "keys.json": "0o600",
    "hook.secret": "0o600", ".making.lock": "0o600", "images": "0o700", "cache": "0o700",
}  # fmt: skip
GROUPS = {name: {"0o600": "0o660", "0o700": "0o2770"}[rights] for name, rights in OWNERS.items()}


def test_a_new_data_directory_is_its_owners_alone(tmp_path):
    found = filled(tmp_path / "data")

    assert mode(tmp_path / "data") == 0o700
    assert found == OWNERS


@pytest.mark.parametrize("given", [0o2770, 0o770, 0o2775], ids=oct)
def test_a_folder_that_is_a_groups_on_purpose_is_the_groups_inside_too(tmp_path, given):
    root = tmp_path / "data"
    root.mkdir()
    root.chmod(given)

    assert filled(root) == GROUPS


def test_a_folder_that_the_group_may_only_read_is_not_written_by_it(tmp_path):
    root = tmp_path / "data"
    root.mkdir()
    root.chmod(0o750)

    found = filled(root)

    assert found["openhype.db"] == found["openhype.db-wal"] == "0o640"
    assert found["images"] == "0o2750"


@pytest.mark.parametrize("given", [0o755, 0o777, 0o1777, 0o775], ids=oct)
def test_a_folder_that_all_may_read_makes_no_file_that_they_may(tmp_path, given):
    root = tmp_path / "data"
    root.mkdir()
    root.chmod(given)

    assert filled(root) == OWNERS


def test_a_data_directory_is_not_a_groups_because_the_one_above_is(tmp_path):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab").chmod(0o2770)

    found = filled(tmp_path / "lab" / "data")

    assert mode(tmp_path / "lab" / "data") & 0o077 == 0
    assert {rights[-2:] for rights in found.values()} == {"00"}


def test_the_copy_of_a_database_is_its_owners_from_its_first_byte(tmp_path):
    filled(tmp_path / "data")

    snapshot(tmp_path / "data" / "openhype.db", tmp_path / "copy.db")

    assert mode(tmp_path / "copy.db") == 0o600


def test_a_file_that_is_there_keeps_its_rights(tmp_path):
    (tmp_path / "list.csv").touch()
    (tmp_path / "list.csv").chmod(0o640)

    with open(tmp_path / "list.csv", "w", opener=private) as file:
        file.write("x")

    assert mode(tmp_path / "list.csv") == 0o640


def opened(root, rights):
    """Make a data directory as a copy may leave it."""
    filled(root)
    for path in [root, *root.iterdir()]:
        path.chmod(rights if path.is_dir() else rights & 0o666)
    return root


@pytest.mark.parametrize("rights", [0o755, 0o777, 0o775], ids=oct)
def test_what_all_could_read_is_closed_and_told_once(tmp_path, rights):
    root = opened(tmp_path / "data", rights)

    (note,) = tighten(root, root / "openhype.db")

    assert f"could read {root} (and " in note
    assert mode(root) == 0o700
    assert all(mode(path) & 0o077 == 0 for path in root.iterdir())
    assert list(tighten(root, root / "openhype.db")) == []


@pytest.mark.parametrize("rights", [0o750, 0o770, 0o2770], ids=oct)
def test_what_is_a_groups_on_purpose_is_left_to_it(tmp_path, rights):
    root = opened(tmp_path / "data", rights)

    assert list(tighten(root, root / "openhype.db")) == []
    assert mode(root / "openhype.db") == rights & 0o660


def test_the_setgid_bit_says_that_the_group_is_meant_but_not_all(tmp_path):
    root = opened(tmp_path / "data", 0o2775)

    (note,) = tighten(root, root / "openhype.db")

    assert "could read" in note
    assert mode(root) == 0o2770
    assert mode(root / "openhype.db") == 0o660


def test_a_folder_with_other_things_stays_as_it_is_and_what_is_ours_is_closed(tmp_path):
    root = opened(tmp_path / "data", 0o755)
    (root / "thesis.tex").touch()
    (root / "thesis.tex").chmod(0o644)

    assert len(list(tighten(root, root / "openhype.db"))) == 1
    assert (mode(root), mode(root / "thesis.tex")) == (0o755, 0o644)
    assert (mode(root / "openhype.db"), mode(root / "keys.json"), mode(root / "images")) == (
        0o600,
        0o600,
        0o700,
    )


def test_a_database_elsewhere_is_closed_too(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    elsewhere.chmod(0o755)
    (elsewhere / "answers.db").touch()
    (elsewhere / "answers.db").chmod(0o644)

    (note,) = tighten(tmp_path / "data", elsewhere / "answers.db")

    assert "answers.db" in note
    assert mode(elsewhere / "answers.db") == 0o600
    assert mode(elsewhere) == 0o755


def refuse(path, rights):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("chmod", [refuse, lambda path, rights: None], ids=["refused", "without effect"])
def test_where_rights_cannot_be_changed_that_is_told_and_nothing_fails(tmp_path, chmod):
    root = opened(tmp_path / "data", 0o755)

    (warning,) = tighten(root, root / "openhype.db", chmod)

    assert warning.startswith("warning: other users of this machine can read")


def test_without_a_data_directory_there_is_nothing_to_tell(tmp_path):
    assert list(tighten(tmp_path / "data", tmp_path / "data" / "openhype.db")) == []
    assert list(tighten(tmp_path / "data", None)) == []


def test_sharing_where_the_folder_is_gone_does_no_harm(tmp_path):
    share(tmp_path / "gone" / "images")


def test_serve_closes_what_all_could_read(tmp_path):
    root = opened(tmp_path / "data", 0o755)
    command = [sys.executable, "-m", "backend", "serve", "--port", "0", "--data", str(root)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while "stop with Ctrl-C" not in process.stdout.readline():
            assert process.poll() is None, process.stderr.read()
        process.terminate()
        _, told = process.communicate(timeout=30)

    assert f"note: other users of this machine could read {root}" in told
    assert mode(root) == 0o700
