"""A study as its researcher sees and changes it through the API."""

import dataclasses
import gzip
import json
import threading
import time

import pytest

from backend.experiment.panel import PRIVATE, PRIVATE_LINK
from backend.foundation.errors import NotFound
from backend.jobs.queue import jobs
from backend.studies.pausing import is_paused
from backend.studies.waiting_room import begin
from backend.web import session_routes
from backend.web.monitor import Watch
from backend.web.openapi import operations
from backend.web.server import in_background

from .. import sample_studies as studies
from ..jobs.ordered import signed_panel
from .members import signed_in
from .researcher import Researcher

SMALL = {"images": 8, "blocks": 1, "evaluators": 2}


@pytest.fixture
def me(world):
    return Researcher(world)


@pytest.fixture
def study(world):
    return world.add(studies.study(**SMALL))


@pytest.fixture
def visitor(world):
    """A browser in which the researcher has signed in."""
    return signed_in(world, world.data.keys().researcher)


def test_the_list_and_the_record_tell_what_is_there(world, me, study):
    world.player().play()
    world.player().begin()

    (line,) = me.get("studies")["studies"]
    record = me.get("studies/faces/record")

    assert (line["study"], line["kind"], line["begun"], line["paused"]) == ("faces", "study", True, False)
    assert sum(row["finished"] for row in line["models"]) == 1
    assert (record["sessions_finished"], record["sessions_wanted"], record["finished"]) == (1, 4, False)
    assert record["begun"]
    assert record["begun_at"]
    assert record["settings"]["images"] == 8
    assert {"images", "evaluators"} <= {*record["settings_changed"]}
    assert (record["links"]["evaluators"], record["links"]["results"], record["links"]["console"]) == (
        "http://localhost/s/faces", "http://localhost/results/faces", "http://localhost/console/studies/faces",
    )  # fmt: skip
    assert record["panel"] == {
        "name": study.protocol.admission.panel.name, "pays": True, "recruits": True, "has_token": False,
        "caution": "",
    }  # fmt: skip
    assert record["recruited"] is None
    assert record["owed_usd_cents"] == me.get("studies/faces/live")["owed_usd_cents"] > 0


def test_a_long_list_reads_no_session_by_itself(world, me, study):
    for i in range(100):
        world.store.add_study(dataclasses.replace(study, name=f"more-{i}"), [])
    world.player().begin()
    read, session = [], world.store.session
    world.store.session = lambda name: (read.append(name), session(name))[1]

    counts = []
    for _ in range(2):
        assert len(me.get("studies")["studies"]) == 101
        counts.append(len(read))

    assert counts == [0, 0]


def test_nobody_is_wanted_for_a_model_that_was_withdrawn(world, me):
    made = studies.study(**SMALL)
    world.add(dataclasses.replace(made, closed=made.models[:1]))

    (line,) = me.get("studies")["studies"]

    assert [(row["model"], row["wanted"]) for row in line["models"]] == [
        (f"{made.models[0]} (withdrawn)", 0),
        *((model, 2) for model in made.models[1:]),
    ]
    assert me.get("studies/faces/record")["sessions_wanted"] == sum(row["wanted"] for row in line["models"])


def test_settings_are_told_in_the_form_that_they_are_set_in(world, me):
    texts = {"answer.fake": 'AI, = "x"\n\\', "de": {"answer.fake": "KI"}}
    world.add(studies.study(**SMALL, texts=texts, reasons=["odd, hands", "sky"], consent_text="a\n\nb" * 50))
    world.add(studies.study("flashes", method="time", images=8, blocks=1, start_exposure_ms=400))

    for study in ("faces", "flashes"):
        record = me.get(f"studies/{study}/record")
        known = {name: text for name, text in record["settings_typed"].items() if text}
        told = {name: text for name, text in known.items() if name in record["settings"]}
        assert me.post(f"studies/{study}/set", {"settings": told})["changed"] == []
    assert (known["start_exposure_ms"], known["staircase"][:36]) == (
        "400",
        "right_to_descend:3,down_ms:30,up_ms:",
    )


def test_what_has_not_changed_is_not_sent_again(world, me, study):
    first = world.http.get("/api/studies/faces/sessions", headers=me.headers)

    again = {**me.headers, "If-None-Match": first.headers["ETag"]}
    assert world.http.get("/api/studies/faces/sessions", headers=again).status_code == 304
    world.player()
    assert world.http.get("/api/studies/faces/sessions", headers=again).status_code == 200


def test_sessions_come_in_pages_that_neither_lose_nor_repeat_one(world, me):
    """Also while others are opened, and with withdrawn ones: a page begins after a line of the one before."""
    world.add(studies.study(**{**SMALL, "evaluators": 9}))
    ids = [world.player().state["session"] for _ in range(3)]
    simulated = world.player(simulated=True).state["session"]
    me.post(f"studies/faces/sessions/{ids[0]}/withdraw")
    me.post(f"studies/faces/sessions/{ids[1]}/withdraw")
    seen, before = [], ""

    for _ in range(4):
        page = me.get(f"studies/faces/sessions?limit=1{before}")
        seen += [line["session"] for line in page["sessions"]]
        before = f"&before={page['next']}"
        world.clock.move(seconds=1)
        world.player()

    whole = me.get("studies/faces/sessions")
    assert (sorted(seen), page["next"]) == (sorted([*ids, simulated]), None)
    assert {*seen[2:]} == {ids[0], ids[1]}
    assert (len(whole["sessions"]), whole["count"], whole["next"]) == (8, 8, None)


def test_a_session_is_found_by_a_part_of_its_id_or_pseudonym_on_whatever_page(world, me, study):
    first, *_ = (world.player().state["session"] for _ in range(3))
    (line,) = (each for each in me.get("studies/faces/sessions")["sessions"] if each["session"] == first)

    for part in (first, first[3:9].upper(), line["evaluator"]):
        found = me.get(f"studies/faces/sessions?limit=1&find={part}")
        assert (found["sessions"], found["count"], found["next"]) == ([line], 1, None)
    assert me.get("studies/faces/sessions?find=nobody!")["sessions"] == []
    for query in ("limit=0", "limit=501", "before=x", "before=", "find=" + "x" * 201):
        assert me.get(f"studies/faces/sessions?{query}", 400)["error"]["code"] == "invalid"


def test_what_is_read_is_compressed_if_that_saves_anything(world, me, study):
    def got(path, **headers):
        return world.http.get(f"/api/{path}", headers={**me.headers, **headers})

    plain, small = got("studies/faces/record"), got("me", **{"Accept-Encoding": "gzip"})
    packed = got("studies/faces/record", **{"Accept-Encoding": "gzip, br"})

    assert (plain.content_encoding, small.content_encoding, packed.content_encoding) == (None, None, "gzip")
    assert json.loads(gzip.decompress(packed.data)) == plain.json
    assert all("Accept-Encoding" in each.vary for each in (plain, packed))
    assert len(packed.data) < len(plain.data) / 2


def test_replies_to_what_is_posted_are_compressed_too(world, me):
    wanted = {"pictures": 1000, "evaluators": [*range(1, 21)]}

    def sent(**headers):
        return world.http.post("/api/costs", json=wanted, headers={**me.headers, **headers})

    plain, packed = sent(), sent(**{"Accept-Encoding": "gzip, br"})
    assert (plain.content_encoding, packed.content_encoding) == (None, "gzip")
    assert json.loads(gzip.decompress(packed.data)) == plain.json


def test_costs_of_a_stored_study_are_those_of_its_files(world, me, study):
    names = [one.name for one in world.store.stimuli("faces")]
    world.data.images("faces").mkdir(parents=True)
    for name in names:
        (world.data.images("faces") / name).write_bytes(bytes(1_000_000))

    (own,) = me.post("costs", {"study": "faces"})["studies"]

    assert own["pictures"] == len(names)
    assert own["session_bytes"] == pytest.approx(1e6 * study.protocol.stimuli.trials, rel=0.1)
    assert own["total_usd"] == pytest.approx(sum(own["services"].values()))
    refused = world.http.post("/api/costs", json={"study": "none"}, headers=me.headers)
    assert refused.status_code == 404


def test_a_paused_study_admits_nobody_until_it_is_resumed(world, me, study):
    assert me.post("studies/faces/pause") == {"paused": True, "changed": True}
    assert me.post("studies/faces/pause") == {"paused": True, "changed": False}
    assert world.open().status_code == 409
    assert me.post("studies/faces/resume") == {"paused": False, "changed": True}
    assert world.open().status_code == 201


def test_calling_opens_a_study_and_tells_how_many_waited(world, me):
    study = world.add(studies.study(retainer_usd_cents=5, **SMALL))
    me.post("studies/faces/pause")
    begin(world.store, study, "", {"PROLIFIC_PID": "p1"}, world.clock().timestamp())

    assert me.get("studies/faces/record")["waiting"] == 1
    assert me.post("studies/faces/admit-waiting") == {"paused": False, "notified": 1}


def test_settings_change_until_somebody_begins(world, me, study):
    world.simulate()
    reply = me.post("studies/faces/set", {"settings": {"images": 10, "title": "Which?\nReal"}})

    assert [(each["setting"], each["after"]) for each in reply["changed"]] == [
        ("images", 10), ("title", "Which?\nReal"), ("consent_version", "2"),
    ]  # fmt: skip
    assert reply["cleared"] == 1
    world.open(consent_version="2")
    message = me.refused("studies/faces/set", {"settings": {"images": 12}}, 409, "conflict")
    assert "settings stay as they are" in message


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"nonsense": 1}, "no setting is called 'nonsense'"),
        ({"images": 10**400}, "images must be"),
        ({"images": "nine"}, "images must be a whole number"),
        ({"images": None}, "images must be a number, a text, true or false"),
        ({"title": ["a"]}, "title must be a number, a text"),
        ({"title": "\ud800"}, "half of a surrogate pair"),
        ({"size_px": 128}, "size_px of study faces stays"),
        ({"panel": {"name": "x", "nope": 1}}, "unknown entry 'nope'"),
        ({"panel": signed_panel("https://127.1/keys")}, "is not public"),
        ({"panel": signed_panel("http://localhost:9/keys")}, "is not public"),
        ({"contact": "javascript://x"}, "contact must be"),
        ({"images": {"$gt": 1}}, "images must be a number, a text"),
    ],
)
def test_a_wrong_setting_is_named_and_nothing_changes(world, me, study, settings, told):
    assert told in me.refused(
        "studies/faces/set", {"settings": {"evaluators": 9, **settings}}, 400, "invalid"
    )
    assert world.store.study("faces") == study


def test_no_setting_reads_a_file_of_the_server(world, me, study, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("do not tell")

    me.post("studies/faces/set", {"settings": {"consent_text": f"@{secret}"}})

    assert world.store.study("faces").protocol.consent.consent_text == f"@{secret}"


def test_clearing_removes_simulated_sessions_only(world, me, study):
    world.player()
    world.simulate()

    assert me.post("studies/faces/clear") == {"cleared": 1}
    assert [line["simulated"] for line in me.get("studies/faces/sessions")["sessions"]] == [False]


def test_private_links_admit_one_person_each(world, me):
    study = studies.study(**SMALL)
    world.add(dataclasses.replace(study, protocol=study.protocol.changed(panel=PRIVATE)))

    links = me.post("studies/faces/links", {"count": 2}, 201)["links"]

    assert len({*links}) == 2
    address, _, token = links[0].partition("=")
    assert address == f"http://localhost/s/faces?{PRIVATE_LINK}"
    assert world.open(panel={PRIVATE_LINK: token}).status_code == 201
    assert world.open(panel={}).status_code == 403
    assert me.get("studies/faces/record")["links"]["private"] == {"required": True, "issued": 2}
    for count in (0, -1, 10**6, "2", 1.5):
        me.refused("studies/faces/links", {"count": count}, 400, "invalid")


def test_a_session_is_withdrawn_for_its_evaluator(world, me, study):
    done = world.player()
    done.play()
    session = done.state["session"]

    first = me.post(f"studies/faces/sessions/{session}/withdraw")
    again = me.post(f"studies/faces/sessions/{session}/withdraw")

    assert first == again
    assert (
        first["owed_usd_cents"] == 8 * study.protocol.pay.bonus_usd_cents + study.protocol.pay.base_usd_cents
    )
    with pytest.raises(NotFound, match="no session"):
        world.store.session(session)
    (line,) = me.get("studies/faces/sessions")["sessions"]
    assert (line["state"], line["answers"]) == ("withdrawn", 0)
    assert me.get("studies/faces/record")["sessions_withdrawn"] == 1


def test_only_real_sessions_of_the_study_itself_are_withdrawn(world, me, study):
    world.add(studies.study("dogs", **SMALL))
    other = world.player("dogs").state["session"]
    simulated = world.player(simulated=True).state["session"]

    me.refused(f"studies/faces/sessions/{other}/withdraw", {}, 404, "unknown_session")
    me.refused(f"studies/faces/sessions/{simulated}/withdraw", {}, 400, "invalid")
    me.refused("studies/faces/sessions/none/withdraw", {}, 404, "unknown_session")
    assert world.store.session(other)


def test_deleting_needs_the_name_and_refuses_what_is_owed(world, me, study):
    me.refused("studies/faces/delete", {"confirm": "face"}, 400, "invalid")
    world.player().play()
    assert "1 evaluator is owed" in me.get("studies/faces/contents")["obstacle"]
    assert "1 evaluator is owed" in me.refused("studies/faces/delete", {"confirm": "faces"}, 409, "conflict")
    assert me.get("studies")["studies"]


def test_a_deleted_study_is_gone_at_once_and_its_sessions_soon(world, me, study):
    session = world.player(simulated=True).state["session"]
    assert me.get("studies/faces/contents") == {
        "sessions": 0, "simulated": 1, "responses": 0, "files": 0, "obstacle": None,
    }  # fmt: skip

    job = me.post("studies/faces/delete", {"confirm": "faces"}, 202)["job"]

    me.get("studies/faces/record", 404)
    assert me.done(job).state == "done"
    with pytest.raises(NotFound, match="no session"):
        world.store.session(session)
    me.refused("studies/faces/delete", {"confirm": "faces"}, 404, "unknown_study")


def test_a_killed_deletion_goes_on_and_spares_a_new_study_of_the_name(world, me, study):
    me.post("studies/faces/delete", {"confirm": "faces"}, 202)
    again = me.post("studies/faces/delete", {"confirm": "faces"}, 202)["job"]
    oldest = jobs(world.store)[-1].id
    assert me.done(oldest).state == "done"
    world.clock.move(minutes=1)
    world.add(dataclasses.replace(study, created_at="2026-01-02T00:00:00+00:00"))

    assert me.done(again).state == "done"
    assert world.store.study("faces").created_at.startswith("2026-01-02")


def test_personal_data_are_deleted_when_they_are_old_enough(world, me):
    world.add(studies.study(keep_days=30, **SMALL))
    world.player(panel={"PROLIFIC_PID": "somebody"}).play()
    assert me.get("studies/faces/retention")["due"] == 0
    world.clock.move(days=31)

    assert me.get("studies/faces/retention")["due"] == 1
    assert me.get("studies/faces/retention?keep_days=0")["due"] == 0
    assert me.post("studies/faces/retention", {"keep_days": None}) == {"study": "faces", "deleted": 1}
    ((session, _),) = world.store.sessions("faces")
    assert session.panel == {}
    for days in ("nan", "inf", "-1", "1e400", "x" * 50):
        me.get(f"studies/faces/retention?keep_days={days}", 400)


def test_simulated_evaluators_answer_the_server_itself(world, me, study):
    with in_background(world.app) as url:
        job = me.job("studies/faces/simulate", {"evaluators": 3, "accuracy": {"all": 0.9}, "seed": 7}, url)
        rest = me.job("studies/faces/simulate", {}, url)

    assert (job.state, job.result) == ("done", {"evaluators": 3}), job.reason
    assert (rest.state, rest.result) == ("done", {"evaluators": 1}), rest.reason
    assert world.store.finished("faces", simulated=True)[0] == 4
    me.refused("studies/faces/simulate", {}, 409, "simulated_already")


def test_a_killed_simulation_only_goes_on(world, me, study):
    with in_background(world.app) as url:
        name = me.post("studies/faces/simulate", {"evaluators": 2}, 202)["job"]
        world.player(simulated=True).play()  # finished before its worker was killed

        assert me.done(name, url).state == "done"

    assert world.store.finished("faces", simulated=True)[0] == 2


def test_a_simulation_without_a_server_says_so(me, study):
    job = me.job("studies/faces/simulate", {"evaluators": 1})

    assert (job.state, "need a server" in job.reason) == ("failed", True)


@pytest.mark.parametrize(
    "body",
    [
        {"evaluators": 0},
        {"evaluators": 10**9},
        {"accuracy": {"nobody": 0.5}},
        {"accuracy": {"all": 2}},
        {"accuracy": {"all": "dprime=x"}},
        {"strength": {"gan": 1}},
        {"sd": 1},
        {"seed": -1},
        {"accuracy": [0.5]},
    ],
)
def test_a_simulation_that_makes_no_sense_is_refused_at_once(world, me, study, body):
    me.refused("studies/faces/simulate", body, 400, "invalid")
    assert jobs(world.store) == []


def test_pictures_that_need_evaluators_are_found_by_a_job(world, me):
    world.add(studies.study(sampling="least-seen", **SMALL))
    world.add(studies.study("plain", **SMALL))
    world.player().play()

    assert me.job("studies/faces/update-sampling").result["sessions"] == 1
    me.refused("studies/plain/update-sampling", {}, 400, "invalid")


class SlowWatch(Watch):
    """Computes scores only once it may."""

    def __init__(self, *args):
        super().__init__(*args)
        self.may = threading.Event()

    def _score(self):
        self.may.wait(10)
        return super()._score()


def test_scores_that_take_long_are_told_later_and_hold_nothing_up(world, study):
    for _ in range(2):
        world.player().play()
    watch = SlowWatch(world.store, study)

    first = watch.with_latest_scores(world.clock(), wait_s=0.01)
    again = watch.with_latest_scores(world.clock(), wait_s=0.01)
    watch.may.set()
    until = time.monotonic() + 60
    while watch.with_latest_scores(world.clock(), wait_s=0.1)["scores"] is None:
        assert time.monotonic() < until

    assert (first["scores"], again["scores"]) == (None, None)
    assert sum(row["finished"] for row in first["models"]) == 2


def test_who_asks_while_scores_are_computed_waits_for_them_too(world, study):
    for _ in range(2):
        world.player().play()
    watch = SlowWatch(world.store, study)
    first = watch.with_latest_scores(world.clock(), wait_s=0.01)
    soon = threading.Timer(0.2, watch.may.set)
    soon.start()

    again = watch.with_latest_scores(world.clock(), wait_s=60)

    soon.join()
    assert first["scores"] is None
    assert again["scores"]["models"]


def scored(http, study="faces"):
    """Return a study's live view once its scores are computed."""
    until = time.monotonic() + 60
    while (shown := http.get(f"/api/studies/{study}/live").json)["scores"] is None:
        assert time.monotonic() < until
    return shown


def test_list_and_live_view_tell_how_far_a_study_is(world, visitor):
    world.add(studies.study(images=8))
    world.player().play()

    listed = visitor.get("/api/studies").json["studies"]
    shown = scored(visitor)

    assert [(row["study"], sum(m["finished"] for m in row["models"])) for row in listed] == [("faces", 1)]
    assert (shown["responses"], shown["owed_usd_cents"]) == (8, 16)
    assert len(shown["scores"]["models"]) == 1


@pytest.mark.parametrize("evaluators", [1, 2, 6])
@pytest.mark.parametrize("method", ["infinity", "time"])
def test_scores_are_as_declared_from_the_first_evaluator_on(world, visitor, method, evaluators):
    world.add(studies.study(method=method, images=8, blocks=1, models=("gan",)))
    for i in range(evaluators):
        world.player().play(right=lambda truth, i=i: (truth == "real") == (i % 2 == 0))
        world.clock.move(minutes=3)

    shown = scored(visitor)  # held against its declaration by the world

    (row,) = shown["scores"]["models"]
    are_equal = evaluators == 1 or (method == "time" and row["std"] == 0)  # by chance, of two
    assert (row["evaluators"], row["interval"] is None) == (evaluators, are_equal)
    assert len(row["narrowing"]) == (2 if evaluators == 6 else 0)


def test_a_qualification_is_live_without_scores(world, visitor):
    world.add(studies.study("gate", kind="qualification", images=8))
    world.player("gate").play()

    shown = visitor.get("/api/studies/gate/live").json

    assert sum(row["finished"] for row in shown["models"]) == 1
    assert shown["scores"] is None


def test_a_live_view_that_has_not_changed_is_not_sent_again(world, study, visitor):
    first = visitor.get("/api/studies/faces/live")

    unchanged = {"If-None-Match": first.headers["ETag"]}
    same = visitor.get("/api/studies/faces/live", headers=unchanged)
    visitor.post("/api/studies/faces/pause", json={})
    other = visitor.get("/api/studies/faces/live", headers=unchanged)

    assert (same.status_code, same.data) == (304, b"")
    assert (other.status_code, other.json["paused"]) == (200, True)


def test_who_has_signed_in_pauses_and_resumes(world, study, visitor):
    paused = visitor.post("/api/studies/faces/pause", json={}).json
    was = is_paused(world.store, "faces")
    resumed = visitor.post("/api/studies/faces/resume", json={}).json

    assert (paused["paused"], was, resumed["paused"]) == (True, True, False)
    assert not is_paused(world.store, "faces")


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}],
)
@pytest.mark.parametrize("path", ["/api/studies/faces/pause", "/api/sign-out", "/api/sign-in"])
def test_another_sites_page_neither_pauses_nor_signs_out(world, study, visitor, headers, path):
    reply = visitor.post(path, json={}, headers=headers)

    assert reply.status_code == 403
    assert not is_paused(world.store, "faces")
    assert visitor.get("/api/studies").status_code == 200


def test_without_a_sign_in_nobody_sees_or_pauses_a_study(world, study):
    replies = [
        world.http.get("/api/studies"),
        world.http.get("/api/studies/faces/live"),
        world.http.post("/api/studies/faces/pause", json={}),
    ]

    assert [(reply.status_code, reply.json["error"]["code"]) for reply in replies] == [(403, "no_token")] * 3
    assert not is_paused(world.store, "faces")


def test_a_long_list_of_sessions_is_read_seldom_and_anew_after_a_withdrawal():
    made, now = [], [0.0]

    def make(study):
        made.append(study)
        now[0] += 1.0  # a second to read it
        return [{}] * 501

    lists, study = session_routes.Lists(make, lambda: now[0]), studies.study()

    for _ in range(5):
        lists.get(study)
        now[0] += 2
    assert len(made) == 2  # the first, and one when it was known to be long
    lists.forget()
    lists.get(study)
    assert len(made) == 3


@pytest.mark.parametrize("path", ["record", "live", "sessions", "payments", "recruitment", "report.zip"])
def test_an_unknown_study_is_not_found(me, path):
    assert me.get(f"studies/none/{path}", 404)["error"]["code"] == "unknown_study"


def test_a_study_is_told_changed_and_deleted_in_every_store(each_world):
    me = Researcher(each_world)
    each_world.store.url = None
    each_world.add(studies.study(**SMALL))
    me.post("studies/faces/set", {"settings": {"images": 10}})
    played = each_world.player(simulated=True)
    played.play()
    me.post("studies/faces/pause")

    record = me.get("studies/faces/record")
    assert (record["settings"]["images"], record["sessions_simulated"], record["paused"]) == (10, 1, True)
    assert len(me.get("studies/faces/sessions")["sessions"]) == 1
    assert me.get("studies/faces/responses.csv?simulated=true").get_data().count(b"\n") == 11
    job = me.job("studies/faces/delete", {"confirm": "faces"})
    assert job.state == "done", job.reason
    assert me.get("studies") == {"studies": []}


EDITS = {
    "set": (
        lambda value: {"settings": {"evaluators": value}},
        lambda value: {"evaluators": f"{value}"},
        lambda reply: reply["settings_typed"]["evaluators"],
        ("record", 2),
    ),
    "payments/budget": (
        lambda value: {"budget_usd_cents": value},
        lambda value: {"budget_usd_cents": value},
        lambda reply: reply["budget_usd_cents"],
        ("payments", None),
    ),
    "competition": (
        lambda value: {"title": f"Faces {value}"},
        lambda value: {"title": f"Faces {value}"} if value else "none",
        lambda reply: reply["title"].removeprefix("Faces "),
        ("competition", None),
    ),
}
"""By route that replaces stored values: its body, what it replaces, what is stored, where that is read."""


@pytest.mark.parametrize("route", EDITS)
def test_an_edit_from_outdated_values_is_refused_and_names_the_new_ones(me, study, route):
    """Two people edit what both have read; whoever comes second is told, whatever the edit is of."""
    body, replaced, stored, (source, first) = EDITS[route]
    path = f"studies/faces/{route}"

    me.post(path, {**body(30), "replaces": replaced(first)})
    message = me.refused(path, {**body(40), "replaces": replaced(first)}, 409, "changed")
    after_refusal = stored(me.get(f"studies/faces/{source}"))
    me.post(path, {**body(30), "replaces": replaced(first)})  # the same again, as after a lost reply
    me.post(path, {**body(40), "replaces": replaced(30)})
    me.post(path, body(50))  # a program that does not ask

    assert "30" in message
    assert str(after_refusal) == "30"
    assert str(stored(me.get(f"studies/faces/{source}"))) == "50"


def test_every_route_that_takes_values_to_replace_is_tried_with_outdated_ones():
    taken = {
        name
        for name, each in operations().items()
        if each.takes is not None and "replaces" in each.takes.__struct_fields__
    }

    assert taken == {f"POST /api/studies/{{study}}/{route}" for route in EDITS}
