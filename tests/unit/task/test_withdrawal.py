"""Withdrawing deletes the answers and leaves what is owed, whenever the process dies."""

import json
from urllib.parse import urlsplit

import pytest

from backend.experiment import panel as records
from backend.experiment.session import mark_returned
from backend.foundation.errors import InvalidInput
from backend.handlers import create_app
from backend.payment import accounts
from backend.responses.export import export
from backend.responses.study_data import study_rows, study_scores, version
from backend.studies import withdrawals
from backend.task import withdrawal
from backend.web.monitor import Watch
from backend.web.progress import progress

from .. import sample_studies as studies

PANEL = {"PROLIFIC_PID": "person-77", "STUDY_ID": "panel-study", "SESSION_ID": "submission-1"}
AT = "2026-01-02T00:00:00.000Z"


def secret(player):
    return urlsplit(player.state["withdrawal_url"]).fragment


def ask(world, player, verb="post", key=None, http=None):
    path = f"/api/sessions/{player.state['session']}/withdrawal"
    headers = {"Authorization": f"Bearer {key or secret(player)}"}
    return getattr(http or world.http, verb)(path, headers=headers)


@pytest.fixture
def done(world):
    world.add(studies.study(images=8, evaluators=1, models=("gan",), base_usd_cents=100))
    player = world.player(panel=PANEL)
    player.play()
    return player


def test_the_link_tells_first_what_would_be_deleted(world, done):
    reply = ask(world, done, "get").json

    assert (reply["is_withdrawn"], reply["answers"], reply["study"]) == (False, 8, "faces")
    assert len(world.store.responses(done.state["session"])) == 8


def test_the_link_tells_what_was_agreed_to_until_it_is_withdrawn_and_the_way_to_the_panel(world):
    panel = records.BUILT_IN["prolific"]
    world.add(studies.study(images=2, models=("gan",), consent_text="We keep answers.", panel=panel))
    player = world.player(panel=PANEL)
    player.play()

    reply, after = (ask(world, player, verb).json for verb in ("get", "post"))

    assert reply["agreed"]["consent"]["text"] == "We keep answers."
    assert after["agreed"] is None
    assert (reply["panel_home"], after["panel_home"]) == (panel.home, panel.home)
    assert panel.home == "https://app.prolific.com/submissions"


def test_after_withdrawal_no_answer_is_left_anywhere(world, done, tmp_path):
    study = world.store.study("faces")

    reply = ask(world, done).json

    assert reply["is_withdrawn"] is True
    assert list(world.store.sessions("faces")) == []
    assert world.store.responses(done.state["session"]) == []
    assert list(study_rows(world.store, study)) == []
    with pytest.raises(InvalidInput, match="no finished session"):
        study_scores(world.store, study)
    files = export(world.store, study, tmp_path / "out")
    assert not any(done.state["session"] in path.read_text() for path in files)


def test_what_is_left_is_what_pay_needs_and_nothing_that_was_answered(world, done):
    ask(world, done)

    (entry,) = withdrawals.withdrawn(world.store, "faces")

    assert entry.key == done.state["session"]
    drawn = ("secret_hash", "evaluator", "completion_code")
    assert {name: value for name, value in entry.data.items() if name not in drawn} == {
        "study": "faces", "models": ["gan"], "state": "finished", "answered": 8,
        "base_usd_cents": 100, "bonus_usd_cents": 16, "at": "2026-01-01T00:00:00.000Z", "is_erased": True,
        "panel": PANEL,
    }  # fmt: skip
    assert entry.data["completion_code"] == done.done["completion_code"]


def test_status_tells_how_many_withdrew_and_what_is_owed_all_the_same(world, done):
    study = world.store.study("faces")
    owed = progress(world.store, study)["owed_usd_cents"]

    ask(world, done)

    after = progress(world.store, study)
    assert (after["owed_usd_cents"], owed) == (116, 116)
    assert after["withdrawn"] == {"sessions": 1, "owed_usd_cents": 116}
    assert (after["responses"], after["models"][0]["finished"]) == (0, 0)


def test_the_place_is_free_for_somebody_else_and_not_for_the_same_person(world, done):
    assert world.open(panel={"PROLIFIC_PID": "other"}).json["error"]["code"] == "study_full"

    ask(world, done)

    again = world.open(panel=PANEL)
    assert (again.status_code, again.json["error"]["code"]) == (409, "withdrawn")
    assert world.open(panel={"PROLIFIC_PID": "other"}).status_code == 201


def owed(world):
    """What the ledger says is owed, by the panel's id of the person."""
    accounts.enter_all(world.store, world.store.study("faces"), world.clock())
    found = accounts.accounts(world.store, "faces").values()
    return [(a.participant, a.why, a.base_usd_cents, a.bonus_usd_cents) for _, a in found]


def test_what_was_earned_is_in_the_ledger_once_with_the_panels_id(world, done):
    before = owed(world)

    ask(world, done)
    ask(world, done)

    assert owed(world) == before == [("person-77", "finished", 100, 16)]


def test_a_session_under_way_is_owed_in_part_by_the_ledger_too(world):
    world.add(studies.study(images=8, base_usd_cents=100))
    player = world.player(panel=PANEL)
    player.begin()
    for right in (True, True, False):
        player.answer(right)

    ask(world, player)

    assert owed(world) == [("person-77", "withdrawn", 38, 4)]


def test_a_session_whose_place_was_given_back_is_owed_nothing(world, done):
    session_id = done.state["session"]
    cursor = world.store.cursor(session_id)
    world.store.move(session_id, cursor.version, mark_returned(cursor, AT))

    ask(world, done)

    assert owed(world) == []
    assert progress(world.store, world.store.study("faces"))["owed_usd_cents"] == 0


def test_withdrawing_twice_says_the_same(world, done):
    first, second, looked = ask(world, done), ask(world, done), ask(world, done, "get")

    assert first.json == second.json == looked.json
    assert len(list(withdrawals.withdrawn(world.store, "faces"))) == 1


def test_in_the_middle_of_a_session_it_counts_what_was_right_so_far(world):
    world.add(studies.study(images=8, base_usd_cents=100))
    player = world.player()
    player.begin()
    for right in (True, True, False):
        player.answer(right)

    ask(world, player)

    (entry,) = withdrawals.withdrawn(world.store, "faces")
    kept = {name: entry.data[name] for name in ("state", "answered", "base_usd_cents", "bonus_usd_cents")}
    assert kept == {"state": "active", "answered": 3, "base_usd_cents": 38, "bonus_usd_cents": 4}


@pytest.mark.parametrize("is_same_server", [True, False])
@pytest.mark.parametrize("path", ["resume", "blocks", "answers"])
def test_the_old_token_is_told_kindly(world, path, is_same_server):
    world.add(studies.study(images=8))
    player = world.player()
    player.begin()
    body = {"resume": {}, "blocks": {"lease": 1, "block": 0}, "answers": player.body()}[path]
    here = create_app(world.store, world.data, world.data.keys(), world.clock).test_client()
    ask(world, player, http=world.http if is_same_server else here)

    reply = player.post(path, body)

    assert (reply.status_code, reply.json["error"]["code"]) == (409, "withdrawn")


@pytest.mark.parametrize("key", ["x" * 64, "é", "00"])
def test_a_link_that_is_not_whole_withdraws_nothing(world, done, key):
    path = f"/api/sessions/{done.state['session']}/withdrawal"
    reply = world.http.post(path, headers={"Authorization": f"Bearer {key}"})

    assert (reply.status_code, reply.json["error"]["code"]) == (403, "wrong_link")
    assert len(world.store.responses(done.state["session"])) == 8


def test_neither_the_token_nor_anothers_link_withdraws_a_session(world, done):
    world.add(studies.study("hands", images=8))
    other = world.player("hands")

    assert ask(world, done, key=done.token).status_code == 403
    assert ask(world, done, key=secret(other)).status_code == 403


def test_a_link_to_a_session_that_never_was_is_404(world):
    made = withdrawal.secret_of(world.data.keys().hashing, "nobody")

    for verb in ("get", "post"):
        reply = getattr(world.http, verb)(
            "/api/sessions/nobody/withdrawal", headers={"Authorization": f"Bearer {made}"}
        )
        assert (reply.status_code, reply.json["error"]["code"]) == (404, "unknown_session")


class Killed(BaseException):
    """The process has died."""


class Dying:
    """A store whose process dies before or after one of its writes."""

    WRITES = ("move", "write_entry", "erase_session")

    def __init__(self, store, at):
        self._store, self._left = store, at

    def __getattr__(self, name):
        real = getattr(self._store, name)
        if name not in self.WRITES:
            return real

        def write(*args):
            self._count()
            result = real(*args)
            self._count()
            return result

        return write

    def _count(self):
        if self._left == 0:
            raise Killed
        self._left -= 1


@pytest.mark.parametrize("at", range(13))
def test_killed_at_any_point_all_or_nothing_is_lost_and_it_is_finished_later(world, done, at):
    study, session_id = world.store.study("faces"), done.state["session"]
    tag = version(world.store, study)

    try:
        withdrawal.withdraw(Dying(world.store, at), study, session_id, AT)
        was_killed = False
    except Killed:
        was_killed = True

    entry = world.store.entry(withdrawals.BOOK, session_id)
    counted = len(list(study_rows(world.store, study)))
    owed = progress(world.store, study)["owed_usd_cents"]
    assert owed == 116
    assert counted == (8 if entry is None else 0)
    assert (version(world.store, study) == tag) == (entry is None)
    assert was_killed == (at < 12)  # six writes, before and after each

    withdrawal.finish(world.store)
    assert len(world.store.responses(session_id)) == (8 if entry is None else 0)
    assert ask(world, done).json["is_withdrawn"] is True
    assert world.store.responses(session_id) == []
    (left,) = withdrawals.withdrawn(world.store, "faces")
    assert (left.data["bonus_usd_cents"], left.data["is_erased"]) == (16, True)
    assert world.open(panel=PANEL).json["error"]["code"] == "withdrawn"


def test_who_died_while_withdrawing_at_the_start_does_not_begin_anew(world):
    world.add(studies.study(images=8))
    player = world.player(panel=PANEL)
    with pytest.raises(Killed):
        withdrawal.withdraw(Dying(world.store, 4), world.store.study("faces"), player.state["session"], AT)

    assert world.open(panel=PANEL).json["error"]["code"] == "withdrawn"
    assert player.post("resume", {}).json["error"]["code"] == "withdrawn"


def test_no_answer_of_an_open_tab_slips_in_after_what_is_owed_was_counted(world):
    study = world.add(studies.study(images=8))
    player = world.player()
    player.begin()
    with pytest.raises(Killed):
        withdrawal.withdraw(Dying(world.store, 4), study, player.state["session"], AT)

    reply = player.post("answers", player.body())

    assert reply.json["error"]["code"] == "stale_lease"


def test_a_withdrawn_qualification_admits_to_nothing(world):
    world.add(studies.study("gate", kind="qualification", images=8))
    world.add(studies.study(images=8, qualification="gate"))
    gate = world.player("gate", panel=PANEL)
    gate.play()
    assert world.open(panel=PANEL).status_code == 201

    ask(world, gate)

    assert world.open("gate", panel=PANEL).json["error"]["code"] == "withdrawn"
    assert world.open(panel={**PANEL}, token=gate.token).json["error"]["code"] == "withdrawn"


def test_a_demo_lets_in_again_who_withdrew(world):
    world.add(studies.study(images=8, repeat_visits=True))
    ask(world, world.player(panel=PANEL))

    assert world.open(panel=PANEL).status_code == 201


def test_whoever_watches_sees_the_session_go(world, done):
    seconds = [0]
    watch = Watch(world.store, world.store.study("faces"), timer=lambda: seconds[0])
    before = watch.with_scores(world.clock())
    seconds[0] = 60

    ask(world, done)

    after = watch.with_scores(world.clock())
    assert before["scores"]["models"][0]["evaluators"] == 1
    assert (after["scores"], after["withdrawn"]["sessions"]) == (None, 1)


def test_what_was_agreed_to_can_be_read_again(world, done):
    session = world.store.session(done.state["session"])
    protocol = world.store.study(session.study).protocol

    told = world.http.get("/api/studies/faces").json["consent"]

    assert told == {"version": session.consent_version, "text": protocol.consent.consent_text}


def test_the_link_is_no_part_of_an_export_or_of_status(world, done, tmp_path):
    study = world.store.study("faces")
    files = export(world.store, study, tmp_path / "out")

    texts = [path.read_text() for path in files] + [json.dumps(progress(world.store, study))]

    assert not any(secret(done) in text for text in texts)
