"""`openhype members`, as an owner uses it in an empty folder; and what copies and deletion do to members."""

import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from backend.administration import backup
from backend.administration.copy import copy
from backend.administration.delete import delete
from backend.cli import main
from backend.members import access, audit_log, memberships, tokens
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from .. import sample_studies as studies
from ..web.members import token


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(main, ["members", *arguments], prog_name="openhype")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_reading_makes_no_data_directory(empty_folder):
    assert "add members with" in run().stdout
    assert run("audit").stdout == "nobody has changed anything yet\n"
    assert list(empty_folder.iterdir()) == []


def test_from_a_new_member_to_a_revoked_token(empty_folder):
    run("add", "ada@lab.example", "--role", "researcher")
    text = run("token", "ada@lab.example", "--label", "laptop", "--days", "7").stdout.strip()
    listed = json.loads(run("--json").stdout)
    revoked = run("revoke", text)  # the whole token will do, as it stands in a leaked file
    shown = run().stdout

    data = DataDir(empty_folder / "openhype-data")
    assert [row["member"] for row in listed] == ["owner", "ada@lab.example"]
    assert [row["label"] for row in listed[1]["tokens"]] == ["laptop"]
    assert text not in (data.root / "openhype.db").read_bytes().decode("latin-1")
    assert "opens nothing any more" in revoked.stdout
    assert text[-43:] not in revoked.stdout
    assert "laptop: revoked at" in shown


def test_what_is_changed_is_in_the_audit_log_by_pages():
    run("add", "ada")
    run("token", "ada")
    run("remove", "ada")

    first = json.loads(run("audit", "--limit", "2", "--json").stdout)
    rest = json.loads(run("audit", "--before", first["next"], "--json").stdout)

    entries = [*first["entries"], *rest["entries"]]
    assert [entry["action"].rpartition(" ")[2] for entry in entries] == ["remove", "token", "add"]
    assert {(entry["member"], entry["status"]) for entry in entries} == {("owner", None)}
    assert entries[2]["target"] == "ada as submitter"
    assert f'--before "{first["next"]}"' in run("audit", "--limit", "2").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "<b>"), "a member's name must be"),
        (("add", "owner"), "is a member already"),
        (("remove", "owner"), "cannot be removed"),
        (("remove", "ada"), "there is no member 'ada'"),
        (("token", "ada"), "there is no member 'ada'"),
        (("token", "owner", "--days", "0"), "0 is not in the range 1<=x<=3650"),
        (("revoke", "x"), "there is no token 'x'"),
        (("audit", "--before", "x"), "must be the `next` of an earlier page"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_recorded_as_refused(arguments, message):
    run("add", "bob")

    refused = run(*arguments)

    assert refused.exit_code != 0
    assert message in refused.stderr
    entries = json.loads(run("audit", "--json").stdout)["entries"]
    assert [entry["outcome"] for entry in entries] in (["done"], ["refused", "done"])


def test_a_change_that_was_cut_off_is_shown_as_unknown(empty_folder):
    run("add", "bob")
    store = open_store("sqlite:///openhype.db", empty_folder / "openhype-data")
    audit_log.begin(
        store, datetime(2030, 1, 1, tzinfo=UTC), "ada", None, "POST /api/studies/{study}/pay", "faces"
    )
    store.close()

    first, second = run("audit").stdout.splitlines()

    assert first.endswith(
        "ada - POST /api/studies/{study}/pay faces: outcome unknown; it is under way, or the server ended "
        "before it was known"
    )
    assert second.endswith("owner - openhype members add bob as submitter")


def test_a_backup_has_the_members_and_a_restored_server_takes_their_tokens(world, empty_folder):
    world.add(studies.study(images=8), each=0)
    text = token(world, "ada", "researcher")
    audit_log.write(world.store, world.clock(), "ada", None, "POST /api/x", "", 200)

    backup.back_up(world.data.root / "openhype.db", world.data, empty_folder / "backup", world.clock())
    restored = DataDir(empty_folder / "restored")
    backup.restore(empty_folder / "backup", restored, world.clock())
    store = open_store("sqlite:///openhype.db", restored.root)

    assert access.member_of(store, restored.keys(), text, world.clock()).name == "ada"
    assert len(audit_log.page(store)[0]) == 1
    store.close()


def test_copying_and_deleting_a_study_leaves_members_where_they_are(world, empty_folder):
    study = world.add(studies.study(images=8))
    text = token(world, "ada", "researcher")
    target = open_store("sqlite:///other.db", empty_folder)

    copy(world.store, target, "faces")
    delete(world.store, world.data, study, world.clock())

    assert (len(memberships.memberships(target)), tokens.tokens(target)) == (1, [])
    assert access.member_of(world.store, world.data.keys(), text, world.clock()).name == "ada"
    target.close()


def test_a_new_key_takes_the_place_of_the_earlier_one_and_is_recorded(empty_folder):
    before = DataDir(empty_folder / "openhype-data").keys()

    said = run("new-key").stdout

    after = DataDir(empty_folder / "openhype-data").keys()
    assert (after.researcher != before.researcher, after.hashing) == (True, before.hashing)
    assert "keys.json; the earlier one ends once" in said
    assert after.researcher not in said
    assert "openhype members new-key" in run("audit").stdout
