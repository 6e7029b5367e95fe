"""A study is deleted whole or not at all, and only when nobody is owed anything or under way."""

import os
import pty
import secrets
import shutil
import subprocess
import sys
import threading
from contextlib import closing, suppress

import pytest
from click.testing import CliRunner

from backend.administration import delete as delete_module
from backend.administration.copy import copy
from backend.administration.delete import contents, delete
from backend.administration.spec_checks import check_qualification
from backend.cli import main
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.handlers import create_app
from backend.payment import accounts, manual
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from backend.studies import lifecycle
from backend.studies.pausing import set_paused
from backend.task.eligibility import issue_links

from .. import sample_studies as studies
from ..conftest import World
from ..killed import killed_at_each_write

P1, P2, P3 = ({"PROLIFIC_PID": f"p{i}"} for i in (1, 2, 3))


@pytest.fixture
def world(each_world):
    return each_world


@pytest.fixture
def study(world):
    """A study with its files, that pays nothing."""
    made = world.add(studies.study(images=8, evaluators=3, bonus_usd_cents=0))
    with_files(world, made)
    return made


def with_files(world, study):
    folder = world.data.images(study.name)
    folder.mkdir(parents=True)
    for stimulus in world.store.stimuli(study.name):
        (folder / stimulus.name).write_bytes(b"a picture")


def removed(world, name="faces", **options):
    study = world.store.study(name, even_deleted=True)
    delete(options.pop("store", world.store), world.data, study, world.clock(), **options)


def assert_gone(world, name="faces"):
    """Look for a study wherever it may be found."""
    key = {"Authorization": f"Bearer {world.data.keys().researcher}"}
    for path in (f"/api/studies/{name}", f"/api/studies/{name}/status", f"/api/studies/{name}/scores"):
        assert world.http.get(path, headers=key).status_code == 404
    for simulated in (False, True):
        assert world.open(name).json["error"]["code"] == "unknown_study"
        assert list(world.store.sessions(name, simulated)) == []
        assert world.store.finished(name, simulated) == (0, "")
        assert world.store.taken(name, "", simulated) == {}
    with pytest.raises(NotFound, match="there is no study"):
        world.store.study(name, even_deleted=True)
    assert list(world.store.stimuli(name)) == []
    assert not world.data.images(name).exists()


def test_everything_of_a_study_goes_and_a_running_server_says_that_there_is_none(world, study):
    for _ in range(2):
        world.player().play()
        world.player(simulated=True).play()
    late = world.player()
    late.begin()
    world.clock.move(minutes=61)
    held = contents(world.store, world.data, study)

    removed(world)

    assert (held.sessions, held.simulated, held.responses, held.files) == (3, 2, 16, 180)
    assert_gone(world)
    reply = late.post("answers", late.body())
    assert (reply.status_code, reply.json["error"]["code"]) == (404, "unknown_session")
    with pytest.raises(NotFound, match="there is no study 'faces'"):
        removed(world)


def test_another_study_is_left_alone(world, study):
    world.add(studies.study("hands", images=8))
    for name in ("faces", "hands"):  # files that a server made for downloading have answers in them
        world.data.downloads(name).mkdir(parents=True)
        (world.data.downloads(name) / "1-responses.csv").write_text("answers")
    world.player("hands").play()
    set_paused(world.store, "hands", True, "2026")

    removed(world)

    assert not world.data.downloads("faces").exists()
    assert world.data.downloads("hands").exists()
    assert world.store.finished("hands")[0] == 1
    assert world.http.get("/api/studies/hands").json["paused"] is True


class TestRefusals:
    def test_while_anybody_is_owed_and_until_that_is_paid(self, world, tmp_path):
        study = world.add(studies.study(images=8, base_usd_cents=100, bonus_usd_cents=2, panel="link"))
        world.player().play()

        with pytest.raises(Conflict, match=r"1 evaluator is owed \$1.16: pay first \(`openhype pay faces`\)"):
            removed(world)
        manual.write_list(world.store, study, tmp_path / "owed.csv", world.clock())
        manual.mark_paid(world.store, study, tmp_path / "owed.csv", world.clock)
        removed(world)

        assert_gone(world)

    def test_while_a_place_at_the_panel_is_not_approved(self, world, study):
        world.player(panel={"PROLIFIC_PID": "p1", "SESSION_ID": "s1"}).play()

        with pytest.raises(Conflict, match="1 evaluator is owed the approval of a submission at the panel"):
            removed(world)

    def test_what_somebody_who_withdrew_is_owed_counts(self, world):
        world.add(studies.study(images=8, base_usd_cents=100))
        player = world.player()
        player.begin()
        player.answer()
        path, _, secret = player.state["withdrawal_url"].partition("#")
        url = f"/api/sessions/{path.rpartition('/')[2]}/withdrawal"
        world.http.post(url, json={}, headers={"Authorization": f"Bearer {secret}"})

        with pytest.raises(Conflict, match="1 evaluator is owed"):
            removed(world)

    def test_while_waiting_was_not_paid(self, world, tmp_path):
        world.add(studies.study("test", kind="qualification", images=20, base_usd_cents=0))
        world.add(studies.study(images=8, qualification="test", retainer_usd_cents="10"))
        gate = world.player("test")
        gate.play()
        set_paused(world.store, "faces", True, "2026")
        wait = world.http.post("/api/studies/faces/waits", json={"qualification_token": gate.token}).json[
            "token"
        ]
        world.clock.move(seconds=10)
        url = f"/api/studies/faces/waits/{wait.partition('.')[0]}/signs"
        signed = {"is_visible": True, "is_here": True}
        world.http.post(url, json=signed, headers={"Authorization": f"Bearer {wait}"})

        with pytest.raises(Conflict, match="1 person is paid to wait for the study"):
            removed(world)
        world.clock.move(minutes=10)
        with pytest.raises(Conflict, match=r"1 evaluator is owed \$0.10"):
            removed(world)
        study = world.store.study("faces")
        manual.write_list(world.store, study, tmp_path / "owed.csv", world.clock())
        manual.mark_paid(world.store, study, tmp_path / "owed.csv", world.clock)
        removed(world)

        assert_gone(world)
        assert len(list(world.store.entries("retainer faces"))) == 1

    def test_while_somebody_is_under_way(self, world, study):
        player = world.player()
        player.begin()

        with pytest.raises(Conflict, match=r"1 session is in progress: .* silent for 60 minutes"):
            removed(world)

        assert player.answer()["trial_index"] == 0
        assert world.http.get("/api/studies/faces").status_code == 200

    @pytest.mark.parametrize(
        ("state", "is_free"), [("published", False), ("decided", False), ("stopped", True)]
    )
    def test_while_it_recruits(self, world, study, state, is_free):
        recruited = studies.recruitment(state=state, panel_study="s1")
        world.store.write_entry("recruitment faces", "prolific", 0, recruited)

        if is_free:
            removed(world)
            assert_gone(world)
            return
        with pytest.raises(Conflict, match=r"it recruits at prolific: .*`openhype recruit faces --stop`"):
            removed(world)

    def test_while_a_study_asks_for_it_as_its_qualification(self, world):
        world.add(studies.study("test", kind="qualification", images=20))
        world.add(studies.study(images=8, qualification="test"))

        with pytest.raises(Conflict, match="it is the qualification of faces"):
            removed(world, "test")
        removed(world)
        removed(world, "test")

        assert world.store.studies() == []

    def test_all_reasons_are_told_at_once(self, world):
        world.add(studies.study(images=8))
        world.player().play()
        world.player()

        with pytest.raises(
            Conflict, match=r"cannot be deleted: 1 evaluator is owed .*; 1 session is in progress"
        ):
            removed(world)


def test_a_study_that_is_refused_at_the_last_moment_is_found_again(world, study):
    class Coming:
        """A store in which somebody begins just before the study is marked."""

        def __init__(self, store):
            self.store, self.is_first = store, True

        def __getattr__(self, name):
            return getattr(self.store, name)

        def change_study(self, changed):
            if self.is_first:
                self.is_first = False
                world.player().begin()
            self.store.change_study(changed)

    with pytest.raises(Conflict, match="1 session is in progress"):
        removed(world, store=Coming(world.store))

    assert world.http.get("/api/studies/faces").status_code == 200
    assert world.store.study("faces").deleted_at == ""
    assert len(list(world.store.sessions("faces"))) == 1


def test_killed_at_any_write_the_next_call_finishes(world, study):
    for i in range(2):
        world.player(panel={"PROLIFIC_PID": f"p{i}"}).play()
        world.player(simulated=True).play()
    world.open(panel=P3)
    world.clock.move(minutes=61)
    issue_links(world.store, b"k", "faces", 2)

    was_marked = False
    for writes in killed_at_each_write(world.store, lambda store: removed(world, store=store)):
        if writes == 0:
            continue
        was_marked = True
        assert world.http.get("/api/studies/faces").status_code == 404
        assert world.open().json["error"]["code"] == "unknown_study"
        with pytest.raises(
            Conflict, match=r"a study faces is being deleted; finish that with `openhype delete"
        ):
            lifecycle.check_name(world.store, "faces")

    assert was_marked
    assert_gone(world)
    assert {entry.key for entry in world.store.entries("links faces")} == set()
    world.add(studies.study("hands", images=8))
    for i in range(2):
        reply = world.open("hands", panel={"PROLIFIC_PID": f"p{i}"})
        assert reply.json["error"]["code"] == "took_part_before"
    assert world.open("hands", panel=P3).status_code == 201


def test_killed_among_the_pictures_the_next_call_finishes(world, study):
    folder = world.data.images("faces")
    sub = folder / "half"
    sub.mkdir()

    def broken(name):
        raise OSError("the bucket burns")

    with pytest.raises(OSError, match="burns"):
        removed(world, remove_uploaded=broken)
    folder.mkdir()
    for name in (world.pools["faces"][5].name, "left.png"):
        (folder / name).write_bytes(b"a picture")
    asked = []
    removed(world, remove_uploaded=asked.append)

    assert asked == ["faces"]
    assert_gone(world)


def test_pictures_of_a_study_of_the_same_name_in_another_store_stay(world, study):
    folder = world.data.images("faces")
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / f"{1:032x}.png").write_bytes(b"a picture of the other study")

    removed(world)

    assert [path.read_bytes() for path in folder.iterdir()] == [b"a picture of the other study"]


@pytest.mark.parametrize(
    "step", [(delete_module, "mark"), (lifecycle, "begin_deletion")], ids=lambda of: of[1]
)
def test_pictures_go_though_the_study_is_deleted_from_elsewhere_meanwhile(world, study, monkeypatch, step):
    now, found, does = world.clock(), world.store.study("faces"), getattr(*step)
    elsewhere = type(world.data)(world.data.root / "elsewhere")

    def late(*order):
        monkeypatch.undo()
        delete(world.store, elsewhere, found, now)
        return does(*order)

    monkeypatch.setattr(*step, late)

    with suppress(NotFound):
        delete(world.store, world.data, found, now)

    assert_gone(world)


def test_two_who_delete_at_once_leave_nothing_and_forget_nobody(world, study, monkeypatch):
    asks, both = delete_module._has_pictures_here, threading.Barrier(2)

    def asked_by_both(*order):
        found = asks(*order)
        both.wait(60)  # who comes after the other has ended does not delete at once with it
        return found

    monkeypatch.setattr(delete_module, "_has_pictures_here", asked_by_both)
    for i in range(6):
        world.player(panel={"PROLIFIC_PID": f"p{i}"}).play()
    now, found = world.clock(), world.store.study("faces")
    errors = []

    def run(data):
        try:
            delete(world.store, data, found, now)
        except NotFound as error:
            errors.append(error)

    elsewhere = type(world.data)(world.data.root / "elsewhere")  # another machine, without our lock
    threads = [threading.Thread(target=run, args=(data,)) for data in (world.data, elsewhere)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert_gone(world)
    world.add(studies.study("hands", images=8))
    codes = {world.open("hands", panel={"PROLIFIC_PID": f"p{i}"}).json["error"]["code"] for i in range(6)}
    assert codes == {"took_part_before"}


def test_an_opening_at_the_same_moment_is_turned_away_or_stops_the_deletion(world):
    outcomes = set()
    for i in range(12):
        name = f"s{i}"
        world.add(studies.study(name, images=8, evaluators=9, bonus_usd_cents=0))
        lifecycle.begin(world.store, world.store.study(name), "2026-01-01T00:00:00.000Z")
        replies, stop = [], threading.Event()

        def visit(name=name, replies=replies, stop=stop):
            http = world.app.test_client()
            while not stop.is_set() and len(replies) < 9:
                reply = http.post(f"/api/studies/{name}/sessions", json={"consent_version": "1"})
                replies.append(reply)
                if reply.status_code != 201:
                    return

        visitor = threading.Thread(target=visit)
        visitor.start()
        try:
            removed(world, name)
            outcome = "deleted"
        except Conflict:
            outcome = "refused"
        stop.set()
        visitor.join()
        outcomes.add(outcome)

        opened = [reply for reply in replies if reply.status_code == 201]
        there = [session.id for session, _ in world.store.sessions(name)]
        assert sorted(reply.json["state"]["session"] for reply in opened) == sorted(there)
        assert (outcome == "refused") >= bool(there)
        assert {reply.status_code for reply in replies} <= {201, 404}


class TestWhatStays:
    def test_what_was_paid_stays_in_the_ledger_without_the_panels_ids(self, world, tmp_path):
        study = world.add(studies.study(images=8, base_usd_cents=100, panel="connect"))
        world.player(panel={"participantId": "p1", "assignmentId": "a1", "projectId": "j1"}).play()
        manual.write_list(world.store, study, tmp_path / "owed.csv", world.clock())
        world.clock.move(days=1)
        manual.mark_paid(world.store, study, tmp_path / "owed.csv", world.clock)
        before = accounts.accounts(world.store, "faces")
        world.clock.move(days=1)

        removed(world)

        ((_, account),) = accounts.accounts(world.store, "faces").values()
        assert (account.base_usd_cents, account.bonus_usd_cents, account.is_paid) == (100, 16, True)
        assert [old.participant for _, old in before.values()] == ["p1"]
        assert (account.participant, account.submission) == ("", "")

    def test_who_took_part_is_known_and_who_only_looked_is_not(self, world, study):
        world.player(panel=P1).play()
        world.open(panel=P2)
        world.clock.move(minutes=61)
        removed(world)
        world.add(studies.study("hands", images=8))
        world.add(studies.study("feet", images=8, also_admit="faces"))

        assert world.open("hands", panel=P1).json["error"]["code"] == "took_part_before"
        assert world.open("hands", panel=P2).status_code == 201
        assert world.open("feet", panel=P1).status_code == 201

    def test_a_link_to_withdraw_says_that_nothing_is_left(self, world, study):
        kept, gone = world.player(panel=P1), world.player(panel=P2)
        for player in (kept, gone):
            player.play()
        links = [player.state["withdrawal_url"].partition("#") for player in (kept, gone)]
        ask = [
            (f"/api/sessions/{path.rpartition('/')[2]}/withdrawal", {"Authorization": f"Bearer {secret}"})
            for path, _, secret in links
        ]
        world.http.post(ask[1][0], json={}, headers=ask[1][1])

        removed(world)

        replies = [world.http.get(url, headers=headers) for url, headers in ask]
        assert (replies[0].status_code, replies[0].json["error"]["code"]) == (404, "unknown_session")
        assert (replies[1].json["is_withdrawn"], replies[1].json["title"]) == (True, "faces")
        (entry,) = world.store.entries("withdrawn")
        assert (entry.data["panel"], entry.data["answered"]) == ({}, 8)

    def test_the_name_of_a_study_that_was_begun_is_not_given_again(self, world, study, table, tmp_path):
        world.player().play()
        source = open_store(table, tmp_path)
        source.add_study(study, studies.pool(study))

        removed(world)

        with pytest.raises(Conflict, match="a study faces was deleted after evaluators had begun it"):
            lifecycle.check_name(world.store, "faces")
        with pytest.raises(Conflict, match="choose another name"):
            copy(source, world.store, "faces")
        source.close()

    def test_the_name_of_a_study_that_nobody_began_is_free_and_nothing_clings_to_it(self, world, study):
        world.player(simulated=True).play()
        set_paused(world.store, "faces", True, "2026")
        accounts.set_budget(world.store, "faces", 100)
        (token,) = issue_links(world.store, world.data.keys().hashing, "faces", 1)
        world.http.get("/api/studies/faces")

        removed(world)
        lifecycle.check_name(world.store, "faces")
        again = studies.replaced(
            studies.study(images=8, panel="private"), created_at="2027", settings_id="new"
        )
        world.store.add_study(again, pool := studies.pool(again, each=30, seed=9))
        drawn = world.simulate().json["state"]["session"]

        names = {stimulus.name for stimulus in pool}
        session = world.store.session(drawn)
        assert {name for block in session.blocks for name in block.stimuli} <= names
        assert world.http.get("/api/studies/faces").json["paused"] is False
        assert accounts.funds(world.store, "faces")[1].budget_usd_cents is None
        assert world.open(panel={"invite": token}).json["error"]["code"] == "unknown_link"
        with_files(world, again)
        removed(world)
        assert_gone(world)


def test_a_qualification_that_went_meanwhile_is_noticed_before_a_study_is_stored(world):
    world.add(studies.study("test", kind="qualification", images=20))
    check_qualification(world.store, "study", "test")
    removed(world, "test")

    with pytest.raises(InvalidInput, match="'test' is not one"):
        check_qualification(world.store, "study", "test")


def test_who_comes_while_the_pool_goes_is_turned_away(world, study):
    class Going:
        """A store whose study is deleted between the reading of its record and of its pool."""

        def __getattr__(self, name):
            return getattr(world.store, name)

        def pool(self, name):
            removed(world)
            return world.store.pool(name)

    http = create_app(Going(), world.data, world.data.keys(), world.clock).test_client()

    reply = http.post("/api/studies/faces/sessions", json={"consent_version": "1"})

    assert (reply.status_code, reply.json["error"]["code"]) == (404, "unknown_study")
    assert_gone(world)


class TestCommands:
    @pytest.fixture
    def run(self, tmp_path):
        store = open_store("sqlite:///openhype.db", tmp_path)
        study = studies.study(images=8, evaluators=2)
        store.add_study(study, studies.pool(study))
        store.close()
        return lambda *words: CliRunner().invoke(main, [*words, "--data", str(tmp_path)])

    def test_clear_removes_simulated_sessions_once_told_to(self, run):
        run("simulate", "faces")

        unasked = run("clear", "faces", "--simulated")
        done = run("clear", "faces", "--simulated", "--yes")
        again = run("clear", "faces", "--simulated")

        assert (unasked.exit_code, "there is no terminal to ask at; say --yes" in unasked.stderr) == (2, True)
        assert (done.exit_code, done.output) == (0, "removed 4 simulated sessions of faces\n")
        assert (again.exit_code, again.output) == (0, "faces has no simulated sessions\n")

    def test_clear_says_what_it_can_do(self, run):
        found = run("clear", "faces", "--yes")

        assert found.exit_code == 2
        assert "only simulated sessions can be cleared: openhype clear faces --simulated" in found.stderr

    def test_delete_in_a_script_repeats_the_name(self, run):
        run("simulate", "faces")

        unasked, wrong = run("delete", "faces"), run("delete", "faces", "--yes", "face")
        done, gone = run("delete", "faces", "--yes", "faces"), run("status", "faces")

        assert (unasked.exit_code, "say --yes faces" in unasked.stderr) == (2, True)
        assert (wrong.exit_code, "--yes repeats the name of the study" in wrong.stderr) == (2, True)
        assert done.exit_code == 0
        assert done.output.splitlines() == [
            "study faces: 0 sessions with 0 answers, 4 simulated sessions, 0 pictures and masks; what was "
            "owed and paid stays recorded",
            "faces is deleted",
        ]
        assert gone.exit_code == 1
        assert gone.stderr.startswith("openhype: there is no study 'faces' in ")

    @pytest.mark.parametrize(
        ("typed", "said", "is_deleted"),
        [
            (b"n\n", "Aborted!", False),
            (b"y\nface\n", "that is not its name", False),
            (b"y\nfaces\n", "faces is deleted", True),
        ],
    )
    def test_delete_on_a_terminal_asks_twice(self, run, tmp_path, typed, said, is_deleted):
        shown = on_terminal(["delete", "faces", "--data", str(tmp_path)], typed)

        assert said in shown
        assert (run("status", "faces").exit_code == 1) is is_deleted

    def test_clear_on_a_terminal_asks_once(self, run, tmp_path):
        run("simulate", "faces")

        kept = on_terminal(["clear", "faces", "--simulated", "--data", str(tmp_path)], b"n\n")
        gone = on_terminal(["clear", "faces", "--simulated", "--data", str(tmp_path)], b"y\n")

        assert "Remove 4 simulated sessions of faces?" in kept
        assert "removed 4 simulated sessions of faces" in gone


def on_terminal(words, typed):
    """Run a command on a terminal at which `typed` is typed; return what it shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "backend", *words], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # the other end is closed
        pass
    process.wait(timeout=60)
    os.close(ours)
    return shown.decode()


def test_a_table_keeps_nothing_of_a_deleted_study_but_what_is_told(dynalite, tmp_path):
    url = dynalite.url(f"t{secrets.token_hex(6)}")
    create_table(url)
    with closing(open_store(url, tmp_path)) as store:
        world = World(store, DataDir(tmp_path))
        world.add(studies.study(images=8, evaluators=9, bonus_usd_cents=0))
        issue_links(store, world.data.keys().hashing, "faces", 3)
        for simulated in (False, True):
            world.player(simulated=simulated).play()
        world.player().begin()
        world.player()
        set_paused(store, "faces", True, "2026")
        world.clock.move(days=1)

        removed(world)

        left = store._calls.client.scan(TableName=store._calls.table)["Items"]
    attributes = {}
    for item in left:
        place = item["p"]["S"].split()
        kind = " ".join(place[:2]) if place[0] == "book" else place[0]
        attributes.setdefault(kind, set()).update(item)
    who_took_part, bars = {"p", "s", "h"}, {"p", "s", "gone", "x"}  # bars: against late writes
    assert attributes.keys() == {"book deleted", "book people", "claim", "session"}
    assert (attributes["claim"], attributes["session"]) == (who_took_part, bars)


@pytest.mark.parametrize("first", ["openhype.db", "two.db"])
def test_pictures_stay_until_the_last_store_deletes_a_study_that_was_copied_over_them(tmp_path, first):
    one, data = open_store("sqlite:///openhype.db", tmp_path), DataDir(tmp_path)
    study = studies.study(images=8, bonus_usd_cents=0)
    one.add_study(study, studies.pool(study))
    one.close()
    (folder := data.images(study.name)).mkdir(parents=True)
    for stimulus in studies.pool(study):
        (folder / stimulus.name).write_bytes(b"a picture")
    count = len([*folder.iterdir()])

    def run(command, *arguments):
        told = CliRunner().invoke(main, [command, study.name, *arguments, "--data", str(tmp_path)])
        assert told.exit_code == 0, told.output
        return told.output

    two = ("--from", "sqlite:///openhype.db", "--to", "sqlite:///two.db")
    unknown = CliRunner().invoke(main, ["copy", "nobody", *two, "--data", str(tmp_path)])
    noted = data.sharers("nobody")
    run("copy", *two)
    run("copy", *two)
    last = {"openhype.db": "two.db", "two.db": "openhype.db"}[first]
    told = run("delete", "--yes", study.name, "--store", f"sqlite:///{first}")
    left = len([*folder.iterdir()])
    run("delete", "--yes", study.name, "--store", f"sqlite:///{last}")

    assert (unknown.exit_code, noted) == (1, [])
    assert f"its pictures stay in {folder}, for the copy of the study in sqlite:///{tmp_path}/{last}" in told
    assert (left, folder.exists(), data.sharers(study.name)) == (count, False, [])
    assert [path for path in folder.parent.iterdir() if study.name in path.name] == []
