"""Who may take part: once, in one study, and by a link that was given out."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.experiment.panel import MTURK, PRIVATE
from backend.studies.pausing import set_paused
from backend.task import eligibility, withdrawal
from backend.task.eligibility import issue_links
from backend.task.requests import Opening
from backend.web.progress import progress

from .. import sample_studies as studies

P1 = {"PROLIFIC_PID": "p1"}


def refusal(reply):
    return reply.status_code, reply.json["error"]["code"]


def admitted(world, study, panel):
    return world.http.post(f"/api/studies/{study}/admission", json={"panel": panel})


@pytest.fixture
def two(world):
    world.add(studies.study("faces", images=8))
    world.add(studies.study("glimpse", method="time", images=8, blocks=1))
    return world


def test_who_took_part_in_one_study_is_not_admitted_to_another(two):
    two.player("faces", panel=P1).play()

    assert refusal(admitted(two, "glimpse", P1)) == (403, "took_part_before")
    assert refusal(two.open("glimpse", panel=P1)) == (403, "took_part_before")
    assert refusal(two.open("glimpse", panel={"PROLIFIC_PID": " p1 "})) == (403, "took_part_before")
    assert two.open("glimpse", panel={"PROLIFIC_PID": "p2"}).status_code == 201
    assert len(list(two.store.sessions("glimpse"))) == 1


def test_a_person_whose_answers_were_erased_took_part_all_the_same(two):
    player = two.player("faces", panel=P1)
    player.play()
    withdrawal.withdraw(two.store, two.store.study("faces"), player.state["session"], "2026-01-02")

    assert refusal(two.open("glimpse", panel=P1)) == (403, "took_part_before")
    assert refusal(two.open("faces", panel=P1)) == (409, "withdrawn")


def test_a_session_whose_time_was_over_before_it_began_keeps_nobody_out(two):
    player = two.player("faces", panel=P1)
    two.store.erase_session(player.state["session"])  # as a store does that lets them expire

    assert two.open("glimpse", panel=P1).status_code == 201
    assert refusal(two.open("faces", panel=P1)) == (403, "took_part_before")


def test_an_open_session_keeps_its_person_until_it_is_given_up(two):
    player = two.player("faces", panel=P1)

    early = two.open("glimpse", panel=P1)
    two.clock.move(minutes=61)
    late = two.open("glimpse", panel=P1)

    assert refusal(early) == (403, "took_part_before")
    assert late.status_code == 201
    begin = player.post("blocks", {"lease": player.lease, "block": 0, "display": {}})
    assert refusal(begin) == (409, "returned")


@pytest.mark.parametrize(
    "settings", [{"exclusive": "false"}, {"also_admit": "other, faces"}, {"repeat_visits": "true"}]
)
def test_a_study_can_admit_those_of_another(world, settings):
    world.add(studies.study("faces", images=8))
    world.add(studies.study("sibling", images=8, **settings))
    world.player("faces", panel=P1).play()

    assert admitted(world, "sibling", P1).json == {"admitted": True, "pass": None}
    assert world.open("sibling", panel=P1).status_code == 201


def test_who_left_a_session_begins_again_elsewhere_where_visits_may_be_repeated(world):
    world.add(studies.study("demo", images=8, repeat_visits="true"))
    left = world.player("demo", panel=P1)
    left.post("blocks", {"lease": left.lease, "block": 0, "display": {}})

    for _ in range(2):  # in browsers that know of no session
        world.player("demo", panel=P1).play()

    states = sorted(cursor.state for _, cursor in world.store.sessions("demo"))
    assert states == ["active", "finished", "finished"]


def test_demos_and_qualifications_exclude_nobody(world):
    world.add(studies.study("demo", images=8, repeat_visits="true"))
    world.add(studies.study("test", kind="qualification", images=20))
    world.add(studies.study("faces", images=8))
    world.player("demo", panel=P1).play()
    world.player("test", panel=P1).play()

    assert world.open("faces", panel=P1).status_code == 201


def test_of_two_studies_opened_at_once_one_gets_the_person(world):
    names = [f"s{i}" for i in range(4)]
    for name in names:
        world.add(studies.study(name, images=8))
    for i in range(8):
        panel = {"PROLIFIC_PID": f"p{i}"}
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda name, p=panel: open_apart(world, name, p), names * 2))

        opened = {reply.json["state"]["study"] for reply in replies if reply.status_code == 201}
        assert len(opened) == 1
    open_sessions = [c for name in names for _, c in world.store.sessions(name) if c.state == "active"]
    assert len(open_sessions) == 8


def open_apart(world, study, panel):
    body = {"consent_version": "1", "panel": panel}
    return world.app.test_client().post(f"/api/studies/{study}/sessions", json=body)


class Killed(Exception):
    pass


class DiesIn:
    """A store whose process dies before the `n`th writing call."""

    def __init__(self, store, n):
        self._store, self._left = store, n

    def __getattr__(self, name):
        method = getattr(self._store, name)
        if name not in ("add_session", "claim", "write_entry", "move", "erase_session"):
            return method

        def writing(*args, **kwargs):
            self._left -= 1
            if self._left < 0:
                raise Killed
            return method(*args, **kwargs)

        return writing


@pytest.mark.parametrize("n", range(4))
def test_a_death_between_any_two_writes_of_an_opening_locks_nobody_out(two, n):
    from backend.task.service import TaskService

    opening = Opening(consent_version="1", panel=P1)
    dying = TaskService.over(DiesIn(two.store, n), two.data.keys().hashing, two.clock)
    died = False
    try:
        dying.opening.open("faces", opening)
    except Killed:
        died = True

    player = two.player("faces", panel=P1)
    player.begin()

    assert died == (n < 3)
    assert refusal(two.open("faces", panel=P1)) == (409, "already_started")
    assert refusal(two.open("glimpse", panel=P1)) == (403, "took_part_before")


def test_a_session_that_made_way_for_another_is_closed(two):
    first = two.player("faces", panel=P1)
    two.player("faces", panel=P1)

    reply = first.post("resume", {})

    assert refusal(reply) == (409, "returned")
    assert sum(two.store.taken("faces", "2020").values()) == 1


class TestRetakes:
    def fail(self, world, **settings):
        world.add(studies.study("test", kind="qualification", images=20, valid_days=30, **settings))
        world.add(studies.study("faces", images=8, qualification="test"))
        world.player("test", panel=P1).play(right=lambda truth: False)

    def test_a_test_that_was_not_passed_cannot_be_taken_again(self, world):
        self.fail(world)
        world.clock.move(days=31)

        assert refusal(world.open("faces", panel=P1)) == (403, "not_qualified")
        assert refusal(world.open("test", panel=P1)) == (409, "already_finished")

    def test_it_can_where_the_researcher_says_so(self, world):
        self.fail(world, retakes="true")

        assert world.open("faces", panel=P1).json["stage"] == "qualification"
        assert world.player("test", panel=P1).play()["qualification"]["passed"] is True
        assert world.open("faces", panel=P1).json["stage"] == "session"


class TestPrivateLinks:
    @pytest.fixture(autouse=True)
    def tokens(self, world):
        world.add(studies.study(images=8, panel=PRIVATE))
        world.add(studies.study("other", images=8, panel=PRIVATE))
        self.tokens = issue_links(world.store, world.data.keys().hashing, "faces", 2)

    def test_each_admits_one_person_once(self, world):
        world.player(panel={"link": self.tokens[0]}).play()

        assert refusal(world.open(panel={"link": self.tokens[0]})) == (409, "already_finished")
        assert world.open(panel={"link": self.tokens[1]}).status_code == 201

    @pytest.mark.parametrize("panel", [{}, {"link": "x"}, {"PROLIFIC_PID": "p1"}])
    def test_nothing_else_opens_the_study(self, world, panel):
        assert refusal(world.open(panel=panel)) == (403, "unknown_link")
        assert refusal(admitted(world, "faces", panel)) == (403, "unknown_link")

    def test_a_link_opens_its_own_study_only(self, world):
        assert refusal(world.open("other", panel={"link": self.tokens[0]})) == (403, "unknown_link")

    def test_tokens_are_nowhere_in_the_store(self, world, tmp_path):
        world.player(panel={"link": self.tokens[0]}).play()

        files = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        assert b"faces" in files
        assert not any(token.encode() in files for token in self.tokens)


FIRST_BLOCK = {"lease": 1, "block": 0, "display": {}}


def test_a_preview_opens_no_session(world):
    world.add(studies.study(images=8, panel=MTURK))
    panel = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}

    assert admitted(world, "faces", panel).json == {"admitted": False, "pass": None}
    assert refusal(world.open(panel=panel)) == (403, "preview")
    assert list(world.store.sessions("faces")) == []


@pytest.mark.parametrize("has_begun", [False, True])
def test_who_never_answers_gives_the_place_back_in_minutes_and_is_told_who_has_it(each_world, has_begun):
    world = each_world
    world.add(studies.study(models=("gan",), evaluators=1, images=2, spare_images=0, panel="link"))
    late = world.player()
    if has_begun:
        world.clock.move(minutes=5)
        late.begin()
    world.clock.move(minutes=9, seconds=59)
    assert refusal(world.open()) == (409, "study_full")

    world.clock.move(seconds=2)
    next_one = world.player()

    assert refusal(world.open()) == (409, "study_full")
    refused = late.post("answers", late.body()) if has_begun else late.post("blocks", FIRST_BLOCK)
    assert refusal(refused) == (409, "lapsed")
    next_one.begin()
    next_one.answer()
    assert next_one.answer()["done"]["complete"]


def test_who_begins_late_goes_on_if_nobody_has_the_place(each_world):
    world = each_world
    world.add(studies.study(models=("gan",), evaluators=1, images=2, spare_images=0, panel="link"))
    late = world.player()
    world.clock.move(minutes=11)

    late.begin()

    assert refusal(world.open()) == (409, "study_full")
    late.answer()
    assert late.answer()["done"]["complete"]


def test_a_person_whose_own_unseen_session_fills_the_study_gets_its_place(each_world):
    world = each_world
    world.add(studies.study(models=("gan",), evaluators=2, images=2, spare_images=0))
    other = world.player(panel={"PROLIFIC_PID": "p2"})
    lost = world.player(panel=P1)  # whose reply was lost, or who closed the tab

    assert admitted(world, "faces", P1).json["admitted"]
    assert refusal(admitted(world, "faces", {"PROLIFIC_PID": "p3"})) == (409, "study_full")
    again = world.player(panel=P1)

    assert again.state["session"] != lost.state["session"]
    assert refusal(world.open(panel={"PROLIFIC_PID": "p3"})) == (409, "study_full")
    again.begin()
    assert refusal(world.open(panel=P1)) == (409, "already_started")
    assert other.play()["complete"]
    again.answer()
    assert again.answer()["done"]["complete"]
    assert refusal(world.open(panel=P1)) == (409, "already_finished")
    assert refusal(world.open(panel={"PROLIFIC_PID": "p3"})) == (409, "study_full")


def test_whoever_answered_once_holds_the_place_for_as_long_as_before(each_world):
    world = each_world
    world.add(studies.study(models=("gan",), evaluators=1, images=2, spare_images=0, panel="link"))
    player = world.player()
    player.begin()
    player.answer()

    world.clock.move(minutes=59)
    assert refusal(world.open()) == (409, "study_full")
    world.clock.move(minutes=2)
    assert world.open().status_code == 201


def test_strangers_who_take_all_places_and_answer_nothing_shut_others_out_for_minutes_only(world):
    world.add(studies.study(evaluators=20, panel="link"))
    for _ in range(40):
        world.player()
    assert refusal(world.open()) == (409, "study_full")

    world.clock.move(minutes=10, seconds=1)

    assert [world.open().status_code for _ in range(40)] == [201] * 40


def test_a_full_study_is_said_before_consent_and_nothing_is_recorded(world):
    world.add(studies.study("faces", images=8, models=("gan",), evaluators=1))
    free = admitted(world, "faces", P1)
    world.player("faces", panel=P1).play()

    assert free.json == {"admitted": True, "pass": None}
    assert refusal(admitted(world, "faces", {"PROLIFIC_PID": "p2"})) == (409, "study_full")
    assert refusal(admitted(world, "faces", P1)) == (409, "already_finished")
    assert len(list(world.store.sessions("faces"))) == 1


def test_a_paused_study_is_said_before_consent(world):
    world.add(studies.study("faces", images=8))
    set_paused(world.store, "faces", True, "2026-01-01T00:00:00.000Z")

    assert refusal(admitted(world, "faces", P1)) == (409, "study_paused")


@pytest.mark.parametrize("panel", ["prolific", "connect", "mturk"])
@pytest.mark.parametrize("settings", [{"base_usd_cents": 50, "bonus_usd_cents": 0}, {}])
@pytest.mark.parametrize(
    "link", [{}, {"PROLIFIC_PID": "", "participantId": "", "workerId": ""}, {"id": "p1"}]
)
def test_nobody_comes_into_a_paid_study_of_a_panel_without_an_id(world, panel, settings, link):
    world.add(studies.study("faces", images=8, panel=panel, **settings))

    assert refusal(admitted(world, "faces", link)) == (403, "no_place")
    assert refusal(world.open(panel=link)) == (403, "no_place")
    assert list(world.store.sessions("faces")) == []


@pytest.mark.parametrize("settings", [{"panel": "link", "bonus_usd_cents": 2}, {"bonus_usd_cents": 0}])
def test_where_nobody_is_named_or_nothing_paid_everybody_may_come(world, settings):
    world.add(studies.study("faces", images=8, **settings))

    assert admitted(world, "faces", {}).status_code == 200
    assert world.open(panel={}).status_code == 201


def test_people_are_known_by_a_hash_alone(two):
    two.player("faces", panel={"PROLIFIC_PID": "canary-pid"}).play()

    (entry,) = two.store.entries(eligibility.PEOPLE)
    assert "canary-pid" not in entry.key + json.dumps(entry.data)


class TestLeaving:
    def leave(self, world, outcome, panel=P1, token=None, study="faces"):
        body = {"outcome": outcome, "panel": panel, "qualification_token": token}
        return world.http.post(f"/api/studies/{study}/exit", json=body)

    @pytest.fixture(autouse=True)
    def recruited(self, world):
        world.add(studies.study("test", kind="qualification", images=20))
        world.add(studies.study("faces", images=8, qualification="test"))
        codes = {"done": "D", "no_consent": "N", "unfit_device": "U", "screened_out": "S", "fault": "F"}
        world.store.write_entry("recruitment faces", "prolific", 0, studies.recruitment(codes=codes))

    @pytest.mark.parametrize(
        ("outcome", "code"), [("no_consent", "N"), ("unfit_device", "U"), ("fault", "F")]
    )
    def test_who_takes_no_part_goes_back_with_a_code_of_its_own(self, world, outcome, code):
        reply = self.leave(world, outcome).json

        assert reply == {"redirect_url": f"https://app.prolific.com/submissions/complete?cc={code}"}
        assert self.leave(world, outcome, panel={}).json == {"redirect_url": None}

    def test_the_code_for_done_is_not_to_be_had(self, world):
        assert self.leave(world, "done").status_code == 400
        assert self.leave(world, "nothing").status_code == 400

    def test_the_code_for_screened_out_needs_a_test_that_was_taken(self, world):
        before = self.leave(world, "screened_out")
        player = world.player("test", panel=P1)
        player.play(right=lambda truth: False)

        after = self.leave(world, "screened_out")

        assert before.status_code == 403
        assert after.json["redirect_url"].endswith("cc=S")
        assert self.leave(world, "screened_out", {"PROLIFIC_PID": "p9"}).status_code == 403
        token = self.leave(world, "screened_out", {"PROLIFIC_PID": "p1"}, player.token)
        assert token.json["redirect_url"].endswith("cc=S")

    def test_who_is_done_gets_the_code_that_the_panel_knows(self, world):
        world.player("test", panel=P1).play()

        done = world.player("faces", panel=P1).play()

        assert done["completion_code"] == "D"
        assert done["redirect_url"] == "https://app.prolific.com/submissions/complete?cc=D"

    def test_who_came_by_a_plain_link_does_not(self, world):
        world.add(studies.study("gift", images=8, bonus_usd_cents=0))
        recruited = studies.recruitment(codes={"done": "D"})
        world.store.write_entry("recruitment gift", "prolific", 0, recruited)

        done = world.player("gift", panel={}).play()

        assert done["completion_code"] != "D"
        assert done["redirect_url"] is None


@pytest.mark.parametrize("left", ["{{%PROLIFIC_PID%}}", "%7B%7B%25ID%25%7D%7D", "undefined", "[id]"])
@pytest.mark.parametrize("name", ["PROLIFIC_PID", "SESSION_ID", "STUDY_ID"])
def test_who_comes_by_a_link_that_the_panel_did_not_fill_in_is_nobody(world, name, left):
    world.add(studies.study("faces", images=8, panel="prolific"))
    link = {"PROLIFIC_PID": "p1", "SESSION_ID": "s1", "STUDY_ID": "t1", name: left}

    for _ in range(2):
        assert refusal(admitted(world, "faces", link)) == (403, "unfilled_link")
    assert refusal(world.open("faces", panel=link)) == (403, "unfilled_link")
    waits = world.http.post("/api/studies/faces/waits", json={"panel": link, "qualification_token": None})
    assert refusal(waits) == (403, "unfilled_link")

    assert not list(world.store.sessions("faces"))
    (warning,) = progress(world.store, world.store.study("faces"))["warnings"]
    assert f"({name} 4; the last at " in warning
    assert (
        "/s/faces?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        in warning
    )


def test_a_preview_that_names_nobody_yet_is_shown(world):
    world.add(studies.study("faces", images=8, panel="mturk"))
    preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "workerId": "${workerId}"}

    assert admitted(world, "faces", preview).json == {"admitted": False, "pass": None}
    assert refusal(world.open("faces", panel=preview)) == (403, "preview")
    assert progress(world.store, world.store.study("faces"))["warnings"] == []
