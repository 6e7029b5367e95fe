"""The HTTP door: bad input is told so, truth stays here, an answer counts once."""

import errno
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from backend.foundation.errors import StoreFailed
from backend.handlers import create_app
from backend.responses.study_data import study_rows
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web.progress import progress

from . import sample_studies as studies


@pytest.fixture
def player(world):
    world.add(studies.study(images=8))
    player = world.player()
    player.begin()
    return player


def test_a_session_is_played_to_its_completion_code(world):
    world.add(studies.study(images=8))

    done = world.player().play(right=lambda truth: truth == "real")

    assert done["complete"] is True
    assert (done["right"], done["answered"], done["earned_usd_cents"]) == (4, 8, 8)
    assert len(done["completion_code"]) == 10


def test_the_completion_code_stands_in_no_reply_before_the_last(world):
    world.add(studies.study(images=8))
    player = world.player()
    code = world.store.session(player.state["session"]).completion_code
    replies = [json.dumps(player.state), json.dumps(player.begin())]
    replies += [json.dumps(player.answer()) for _ in range(7)]

    last = player.answer()

    assert not any(code in reply for reply in replies)
    assert last["done"]["completion_code"] == code


def test_no_reply_before_an_answer_tells_truth_model_or_source(world):
    study = world.add(studies.study(images=8))
    player = world.player()

    public = world.http.get("/api/studies/faces").json
    assert public.pop("answers") == ["real", "fake"]  # the choices, in every study the same
    seen = json.dumps([player.state, player.begin(), public])

    assert not any(word in seen for word in (*study.models, '"real"', '"fake"', "truth", "source"))


def late_flash(**changes):
    timing = {
        "evidence": "element", "lateness_ms": 3.5,
        "planned_frames": [30, 6, 2], "achieved_frames": [30, 7, 2], "phase_ms": [500, 116.7, 33.3],
    }  # fmt: skip
    return {"timing": timing, "frames": 7, "frame_ms": 16.7, "shown_ms": 116.7, **changes}


def test_after_a_mistimed_flash_comes_a_spare_and_nothing_is_told(world):
    study = world.add(studies.study(method="time", images=8, blocks=1, spare_images=4))
    player = world.player()
    player.begin()
    body = player.body(**late_flash())

    reply = player.post("answers", body).json

    name = reply["replaced_by"].rpartition("/")[2]
    assert (reply["was_correct"], reply["earned_usd_cents"], reply["progress"]["answered"]) == (None, 0, 0)
    assert (reply["next"]["trial_index"], reply["next"]["exposure_ms"]) == (0, 500)
    assert (player.truths[name], name != body["stimulus"]) == (player.truths[body["stimulus"]], True)

    player.images[0], player.next = name, reply["next"]
    for _ in range(8):
        player.answer()
    assert player.post("answers", body).json == reply
    assert player.done["earned_usd_cents"] == 18
    assert (player.done["right"], player.done["answered"]) == (9, 9)
    assert len(list(study_rows(world.store, study))) == 8
    (replaced,) = study_rows(world.store, study, "replaced")
    assert (replaced["stimulus"], replaced["achieved_frames"]) == (
        player.stored(body["stimulus"]),
        (30, 7, 2),
    )
    mistimed = progress(world.store, study)["mistimed"]
    assert (mistimed["responses"], mistimed["share"]) == (1, 1 / 9)


def test_who_sees_no_flash_is_asked_after_five_and_may_end_the_session(each_world):
    world = each_world
    study = world.add(studies.study(method="time", images=8, blocks=1, spare_images=30))
    player = world.player()
    player.begin()
    asked = []
    for _ in range(11):
        reply = player.post("answers", player.body(**late_flash())).json
        asked.append(reply["may_end"])
        player.images[0], player.next = reply["replaced_by"].rpartition("/")[2], reply["next"]

    end = {"lease": player.state["lease"]}
    replies = [player.post("end", end) for _ in range(2)]  # the first reply may be lost

    assert [i for i, is_asked in enumerate(asked, 1) if is_asked] == [5, 10]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert replies[0].json == replies[1].json
    done = replies[0].json["done"]
    assert (done["complete"], done["answered"], len(done["completion_code"])) == (False, 11, 10)
    assert done["earned_usd_cents"] == 22
    assert [cursor.state for _, cursor in world.store.sessions(study.name)] == ["ended"]
    assert player.post("answers", player.body(**late_flash())).json["error"]["code"] == "closed"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [({"lease": 1}, 409, "not_mistimed"), ({"lease": 2}, 409, "stale_lease"), ({}, 400, "invalid"),
     ({"lease": "1"}, 400, "invalid")],
)  # fmt: skip
def test_a_session_is_not_ended_for_the_asking(world, body, status, code):
    world.add(studies.study(method="time", images=8, blocks=1, spare_images=30))
    player = world.player()
    player.begin()

    refused = player.post("end", body)

    assert (refused.status_code, refused.json["error"]["code"]) == (status, code)
    assert player.answer()["done"] is None


def test_another_answer_to_a_replaced_picture_is_refused(world):
    world.add(studies.study(method="time", images=8, blocks=1, spare_images=4))
    player = world.player()
    player.begin()
    player.post("answers", player.body(**late_flash()))

    other = player.post("answers", player.body(right=False, **late_flash()))

    assert (other.status_code, other.json["error"]["code"]) == (409, "answer_conflict")


@pytest.mark.parametrize(
    ("timing", "message"),
    [
        ([], "timing must be an object or null, not a list"),
        ({}, "timing.evidence must be a short lower-case word, not null"),
        ({"evidence": "element", "planned_frames": [1]}, "timing.achieved_frames must be a list"),
        (
            {
                "evidence": "x",
                "lateness_ms": 0,
                "planned_frames": [1],
                "achieved_frames": [1, 2],
                "phase_ms": [],
            },
            "as many planned_frames as achieved_frames",
        ),
        (
            {
                "evidence": "x",
                "lateness_ms": 0,
                "planned_frames": [1.5],
                "achieved_frames": [1],
                "phase_ms": [1],
            },
            "timing.planned_frames[0] must be a whole number from 0, not 1.5",
        ),
    ],
)
def test_a_timing_of_another_form_is_refused(world, timing, message):
    world.add(studies.study(method="time", images=8, blocks=1, spare_images=4))
    player = world.player()
    player.begin()

    reply = player.post("answers", player.body(timing=timing))

    assert (reply.status_code, message in reply.json["error"]["message"]) == (400, True)


def test_the_same_answer_again_gets_the_same_reply_however_late(player):
    bodies, replies = [], []
    for i in range(5):
        bodies.append(player.body(right=i != 1))
        replies.append(player.answer(right=i != 1))

    again = [player.post("answers", body).json for body in bodies]

    assert again == replies
    assert len(player.world.store.responses(player.state["session"])) == 5


def test_a_different_answer_to_an_answered_trial_is_refused(player):
    body = player.body(right=True)
    player.answer(right=True)

    reply = player.post("answers", {**body, "response": "fake" if body["response"] == "real" else "real"})

    assert (reply.status_code, reply.json["error"]["code"]) == (409, "answer_conflict")


def test_eight_copies_of_an_answer_at_once_are_stored_once_and_get_one_reply(player):
    for _ in range(8):
        body = player.body()
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _, b=body: post_apart(player, b), range(8)))
        player.next = replies[0].json["next"]

        assert {reply.status_code for reply in replies} == {200}
        assert all(reply.json == replies[0].json for reply in replies)
    assert len(player.world.store.responses(player.state["session"])) == 8


def post_apart(player, body):
    """Post from a client of its own, as another connection would."""
    return player.world.app.test_client().post(
        f"/api/sessions/{player.state['session']}/answers",
        json=body,
        headers={"Authorization": f"Bearer {player.token}"},
    )


def test_an_answer_before_its_block_was_begun_is_refused(world):
    world.add(studies.study(images=8))
    player = world.player()
    session = world.store.session(player.state["session"])
    player.images[0] = session.blocks[0].stimuli[0]

    reply = player.post("answers", player.body())

    assert (reply.status_code, reply.json["error"]["code"]) == (409, "out_of_order")


def test_another_sessions_token_opens_nothing(world, player):
    other = world.player()

    reply = player.post("answers", player.body(), token=other.token)

    assert (reply.status_code, reply.json["error"]["code"]) == (403, "wrong_token")


@pytest.mark.parametrize("token", ["", "x", "x.y", "."])
def test_a_token_that_is_none_is_refused(player, token):
    reply = player.world.http.post(
        f"/api/sessions/{player.state['session']}/resume",
        json={},
        headers={"Authorization": f"Bearer {token}"},
    )

    assert reply.status_code == 403


def test_a_reload_takes_over_and_the_older_tab_is_told(player):
    body = player.body()

    resumed = player.post("resume", {}).json["state"]
    reply = player.post("answers", body)

    assert resumed["next"] == player.next
    assert resumed["block_begun"] is True
    assert (reply.status_code, reply.json["error"]["code"]) == (409, "stale_lease")


def test_a_flashed_picture_is_not_issued_again_after_a_reload(world):
    world.add(studies.study(method="time", images=8, blocks=2))
    player = world.player()
    before = player.begin()["images"]
    player.answer()

    player.lease = player.post("resume", {}).json["state"]["lease"]
    after = player.begin()["images"]

    assert before[1] not in after
    assert after[1:] == before[2:]
    assert player.play()["complete"] is True


def test_a_session_that_was_reloaded_often_goes_on_and_a_second_sight_is_not_scored(world):
    study = world.add(studies.study(method="time", images=8, blocks=1, spare_images=2, base_usd_cents=50))
    player = world.player()
    player.begin()
    player.answer()

    states = [player.post("resume", {}).json["state"] for _ in range(40)]
    player.lease, player.next = states[-1]["lease"], states[-1]["next"]
    player.play()

    scored, others = ([*study_rows(world.store, study, which)] for which in ("scored", "replaced"))
    assert player.done["complete"] is True
    assert player.done["earned_usd_cents"] == 50 + 2 * 8
    assert [row["trial_index"] for row in scored] == [0, 2, 3, 4, 5, 6, 7]
    assert [(row["trial_index"], row["flags"]) for row in others] == [(1, ("shown_again",))]


def test_without_feedback_replies_tell_neither_right_nor_earnings_until_the_end(world):
    world.add(studies.study(images=8, feedback="false"))
    player = world.player()
    player.begin()

    replies = [player.answer() for _ in range(8)]

    assert {(reply["was_correct"], reply["earned_usd_cents"]) for reply in replies[:7]} == {(None, None)}
    assert replies[7]["done"]["earned_usd_cents"] == 16


def test_where_chance_decides_two_evaluators_of_a_model_see_half_and_half_together(world):
    world.add(studies.study(images=20, models=("gan",), balance="people"), each=40)
    blocks = [world.store.session(world.player().state["session"]).blocks[0] for _ in range(8)]

    reals = [block.truths.count("real") for block in blocks]

    assert [reals[i] + reals[i + 1] for i in range(0, 8, 2)] == [20] * 4
    assert len(set(reals)) > 1
    assert world.http.get("/api/studies/faces").json["half_real"] is False


def test_without_feedback_no_reply_tells_how_many_answers_in_a_row_were_right(world):
    world.add(studies.study(images=8, feedback="false"))
    player = world.player()

    replies = [player.state, player.begin(), *(player.answer() for _ in range(8))]

    told = [reply["next"]["right_in_a_row"] for reply in replies if reply["next"]]
    assert told == [None] * 9


def test_sessions_are_shared_out_over_the_models(world):
    world.add(studies.study(images=8, evaluators=3))

    models = [world.store.session(world.player().state["session"]).model for _ in range(6)]

    assert sorted(models) == ["gan"] * 3 + ["vae"] * 3
    assert world.open().json["error"]["code"] == "study_full"


def test_the_place_of_a_silent_session_is_given_to_another(world):
    world.add(studies.study(images=8, evaluators=1))
    world.player(), world.player()

    world.clock.move(minutes=61)

    assert world.open().status_code == 201


def test_nobody_takes_part_twice_under_one_panel_id(world):
    world.add(studies.study(images=8))
    world.player(panel={"PROLIFIC_PID": "p1"}).play()

    reply = world.open(panel={"PROLIFIC_PID": "p1"})

    assert (reply.status_code, reply.json["error"]["code"]) == (409, "already_finished")
    assert world.open(panel={"PROLIFIC_PID": "p2"}).status_code == 201


def test_who_lost_a_session_before_any_picture_begins_anew(world):
    world.add(studies.study(images=8))
    world.player(panel={"PROLIFIC_PID": "p1"})

    again = world.player(panel={"PROLIFIC_PID": "p1"})
    again.begin()

    reply = world.open(panel={"PROLIFIC_PID": "p1"})
    assert (reply.status_code, reply.json["error"]["code"]) == (409, "already_started")


class TestQualification:
    @pytest.fixture(autouse=True)
    def studies(self, world):
        world.add(studies.study("test", kind="qualification", images=20, valid_days=30))
        world.add(studies.study(images=8, qualification="test"))

    def test_it_comes_first_and_who_passes_goes_on(self, world):
        first = world.open()
        token_holder = world.player("test")
        done = token_holder.play()

        reply = world.open(token=token_holder.token)

        assert first.json["stage"] == "qualification"
        assert first.json["qualification"]["study"] == "test"
        assert done["qualification"]["passed"] is True
        assert done["earned_usd_cents"] == 100
        assert reply.json["stage"] == "session"

    def test_who_fails_is_paid_and_told_and_not_admitted(self, world):
        player = world.player("test")
        done = player.play(right=lambda truth: truth == "real")

        reply = world.open(token=player.token)

        assert done["qualification"] == {
            "passed": False,
            "reals_right": 1.0,
            "fakes_right": 0.0,
            "needed": 0.65,
            "may_retake": False,
        }
        assert done["earned_usd_cents"] == 100
        assert (reply.status_code, reply.json["error"]["code"]) == (403, "not_qualified")

    def test_a_pass_admits_a_known_evaluator_from_any_browser_while_it_is_valid(self, world):
        world.player("test", panel={"PROLIFIC_PID": "p1"}).play()

        soon = world.open(panel={"PROLIFIC_PID": "p1"}).json["stage"]
        world.clock.move(days=31)
        late = world.open(panel={"PROLIFIC_PID": "p1"}).json["stage"]

        assert (soon, late) == ("session", "qualification")

    def test_an_unfinished_qualification_admits_nobody(self, world):
        player = world.player("test")
        player.begin()
        player.answer()

        assert world.open(token=player.token).json["stage"] == "qualification"


BAD_BODIES = {
    "not json": b"{",
    "a list": b"[]",
    "empty": b"",
    "latin": '{"response": "é"}'.encode("latin-1"),
    "nan": b'{"lease": NaN}',
    "deep": b"[" * 30000,
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
@pytest.mark.parametrize("route", ["answers", "blocks", "resume"])
def test_a_body_that_is_no_json_object_is_refused(player, route, body):
    reply = player.world.http.post(
        f"/api/sessions/{player.state['session']}/{route}",
        data=body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {player.token}"},
    )

    assert reply.status_code == 400
    assert "JSON" in reply.json["error"]["message"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("response", "maybe"),
        ("response", None),
        ("response", ["real"]),
        ("trial_index", "0"),
        ("trial_index", -1),
        ("trial_index", True),
        ("trial_index", 2**63),
        ("lease", 1.5),
        ("rt", "fast"),
        ("rt", -5),
        ("shown_ms", 1e300),
        ("flags", "late"),
        ("flags", ["<script>"]),
        ("mask_ms", [1, "x"]),
        ("mask_ms", [1] * 1000),
        ("stimulus", "x" * 5000),
        ("stimulus", None),
        ("frames", 1.5),
    ],
)
def test_a_wrong_type_is_named_and_nothing_is_stored(player, field, value):
    reply = player.post("answers", player.body(**{field: value}))

    assert reply.status_code == 400
    assert field in reply.json["error"]["message"]
    assert player.world.store.responses(player.state["session"]) == []


def test_ten_megabytes_are_refused_unread(player):
    reply = player.post("answers", {"x": "y" * 10_000_000})

    assert reply.status_code == 413


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("get", "/api/studies/nobody"),
        ("post", "/api/studies/nobody/sessions"),
        ("get", "/api/nothing"),
        ("get", "/i/faces/..%2f..%2fkeys.json"),
        ("get", "/i/..%2f/keys.json"),
        ("get", "/assets/..%2fbackend%2fcli.py"),
        ("get", "/i/faces/" + "0" * 32 + ".png"),
    ],
)
def test_what_is_not_there_is_404_with_an_id_to_quote(world, verb, path):
    options = {"json": {"consent_version": "1"}} if verb == "post" else {}
    reply = getattr(world.http, verb)(path, **options)

    assert reply.status_code == 404
    assert len(reply.json["error"]["id"]) == 8


@pytest.mark.parametrize(
    ("path", "code"),
    [("/api/studies/nobody", "unknown_study"), (f"/i/faces/{0:032x}.png", "not_found")],
)
def test_a_refusal_stands_in_the_log_under_the_id_of_its_reply(world, caplog, path, code):
    reply = world.http.get(path)

    (line,) = [record.getMessage() for record in caplog.records]
    error = reply.json["error"]
    assert line == f"refused {error['id']}: GET {path} 404 {code}: {error['message']}"


@pytest.mark.parametrize("sent", ["x\r\nforged line", "x\x1b[2Jcleared", "x\u2028y", "x\u202ey", "x" * 5000])
def test_what_a_visitor_sends_makes_one_short_line_of_the_log(world, caplog, sent):
    world.http.get(f"/api/studies/{quote(sent)}")
    world.http.post("/api/studies/x/exit", json={"outcome": sent, "panel": {}})

    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 2
    assert all(line.isprintable() and len(line) < 1000 for line in lines)


class Failing:
    """A store in which nothing can be read."""

    def __init__(self, error):
        self._error = error

    def study(self, name):
        raise self._error

    def session(self, session_id):
        raise self._error

    def studies(self):
        raise self._error

    def entry(self, book, key):
        return None


def over(store, world):
    return create_app(store, world.data, world.data.keys(), world.clock).test_client()


def test_a_fault_stands_in_the_log_under_the_id_of_its_reply(world, caplog):
    reply = over(Failing(RuntimeError("the disk is on fire")), world).get("/api/studies/faces")

    (record,) = caplog.records
    assert reply.status_code == 500
    assert record.getMessage() == f"fault {reply.json['error']['id']}: GET /api/studies/faces"
    assert "the disk is on fire" in str(record.exc_info[1])


def test_what_fails_for_now_says_when_to_come_back(world):
    reply = over(Failing(StoreFailed("the disk is full")), world).get("/api/studies/faces")

    assert (reply.status_code, reply.json["error"]["code"]) == (503, "store_failed")
    assert 0 < int(reply.headers["Retry-After"]) <= 30


@pytest.mark.parametrize(
    "path", ["/api/studies/faces", "/api/studies/faces/export.zip", "/results/faces", "/api/studies"]
)
def test_a_full_disk_is_no_fault_and_names_no_file_of_the_server(world, path):
    full = OSError(errno.ENOSPC, "No space left on device", str(world.data.root / "cache" / "a"))
    key = {"Authorization": f"Bearer {world.data.keys().researcher}"}

    reply = over(Failing(full), world).get(path, headers=key)

    assert reply.status_code == 503
    assert "the disk is full" in reply.text
    assert str(world.data.root) not in reply.text


def test_pictures_come_from_a_data_directory_named_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = DataDir(Path("openhype-data"))
    store = open_store("sqlite:///openhype.db", data.root)
    folder = data.images("faces")
    folder.mkdir(parents=True)
    (folder / f"{0:032x}.png").write_bytes(b"a picture")
    http = create_app(store, data, data.keys()).test_client()

    monkeypatch.chdir("/")
    with http.get(f"/i/faces/{0:032x}.png") as reply:
        got = (reply.status_code, reply.data)

    store.close()
    assert got == (200, b"a picture")


@pytest.mark.parametrize("route", ["status", "scores"])
@pytest.mark.parametrize("key", [None, "wrong", "é"])
def test_researcher_routes_need_the_key(world, route, key):
    world.add(studies.study(images=8))
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}

    assert world.http.get(f"/api/studies/faces/{route}", headers=headers).status_code == 403


def test_the_researcher_sees_progress_and_scores(world):
    world.add(studies.study(images=8))
    for _ in range(4):
        world.player().play(right=lambda truth: truth == "real")
    headers = {"Authorization": f"Bearer {world.data.keys().researcher}"}

    status = world.http.get("/api/studies/faces/status", headers=headers).json
    scores = world.http.get("/api/studies/faces/scores", headers=headers).json

    assert [row["finished"] for row in status["models"]] == [2, 2]
    assert status["owed_usd_cents"] == 4 * 8
    assert [row["score"] for row in scores["models"]] == [50.0, 50.0]
    assert [row["fakes_error"] for row in scores["models"]] == [100.0, 100.0]


def test_a_study_that_pays_nothing_tells_of_no_earnings(world):
    world.add(studies.study(images=4, bonus_usd_cents=0))
    player = world.player()
    player.begin()

    reply = player.answer()

    assert (player.state["earned_usd_cents"], reply["earned_usd_cents"]) == (None, None)


def test_the_api_describes_itself_and_every_route_is_in_it(world):
    from openapi_spec_validator import validate

    document = world.http.get("/api/openapi.json").json
    validate(document)

    served = {
        (rule.rule.replace("<", "{").replace(">", "}"), verb.lower())
        for rule in world.app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        for verb in rule.methods - {"HEAD", "OPTIONS"}
    }
    described = {(path, verb) for path, verbs in document["paths"].items() for verb in verbs}
    assert described == served


@pytest.mark.parametrize("path", ["/nothing", "/x/faces", "/s", "/w/a/b"])
def test_an_unknown_address_shows_a_page_to_people_and_data_to_programs(world, path):
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

    page, data = world.http.get(path, headers=browser), world.http.get(path)

    assert (page.status_code, page.mimetype) == (404, "text/html")
    assert b"main.js" in page.data
    assert data.json["error"]["code"] == "not_found"


@pytest.mark.parametrize("path", ["/s/", "/s/faces/more", "/s/a%00b"])
def test_below_the_pages_of_studies_everything_is_a_page_whatever_a_cache_sends_of_accept(world, path):
    for sent in ({}, {"Accept": "*/*"}, {"Accept": "text/html"}):
        page = world.http.get(path, headers=sent)

        assert (page.status_code, page.mimetype) == (404, "text/html")


@pytest.mark.parametrize("path", ["/s/faces/", "/wait/faces/", "/w/abc/"])
def test_a_slash_at_the_end_changes_no_page(world, path):
    assert world.http.get(path).data == world.http.get(path.rstrip("/")).data


@pytest.mark.parametrize("path", ["/api/nothing", "/assets/nothing.js", "/i/faces/nothing.webp"])
def test_what_pages_ask_for_is_never_a_page(world, path):
    assert world.http.get(path, headers={"Accept": "text/html"}).mimetype == "application/json"
