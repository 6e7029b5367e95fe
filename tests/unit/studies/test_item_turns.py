"""Turns of items over every store: judgments stay even whoever comes, leaves, or comes at once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.administration.clear import clear_simulated
from backend.administration.copy import copy
from backend.responses.study_data import study_rows
from backend.stores.opening import open_store
from backend.studies import item_turns
from backend.studies.item_turns import Turns
from backend.task import withdrawal

from .. import triplet_studies as studies

ITEMS = 20


def judgments(world, simulated=False):
    """Return the number of judgments of each item, by finished sessions."""
    study = world.store.study("sim")
    rows = study_rows(world.store, study, simulated=simulated)
    counts = Counter(row["item"] for row in rows if row["trial_kind"] == "test")
    every = [each.source for each in world.pools["sim"] if not each.role]
    return [counts[item] for item in every]


def test_judgments_differ_by_one_at_most_after_each_evaluator_and_are_as_many_as_wanted_at_the_end(
    each_world,
):
    study = studies.add(each_world, studies.study())
    assert study.evaluators_wanted == 5  # 20 * 2 / 8

    for _ in range(5):
        studies.Person(each_world).play()
        counts = judgments(each_world)
        assert max(counts) - min(counts) <= 1

    assert judgments(each_world) == [2] * ITEMS
    reply = each_world.open("sim")
    assert (reply.status_code, reply.json["error"]["code"]) == (409, "study_full")


def test_turns_of_abandoned_sessions_are_taken_again(each_world):
    studies.add(each_world, studies.study())
    studies.Person(each_world).play()
    studies.Person(each_world).play(trials=3)
    studies.Person(each_world)  # sees nothing
    studies.Person(each_world).play()

    each_world.clock.move(hours=2)
    for _ in range(3):
        studies.Person(each_world).play()

    assert judgments(each_world) == [2] * ITEMS


def test_a_withdrawn_session_gives_its_turn_back(each_world):
    studies.add(each_world, studies.study())
    people = [studies.Person(each_world) for _ in range(5)]
    for person in people:
        person.play()
    secret = withdrawal.secret_of(each_world.data.keys().hashing, people[1].id)
    path = f"/api/sessions/{people[1].id}/withdrawal"
    assert each_world.http.post(path, headers={"Authorization": f"Bearer {secret}"}).json["is_withdrawn"]

    each_world.clock.move(minutes=10)
    studies.Person(each_world).play()

    assert judgments(each_world) == [2] * ITEMS


def test_two_servers_never_give_the_same_turn(each_world):
    study = studies.add(each_world, studies.study(evaluators=1000))
    now = each_world.clock()
    servers = [Turns(each_world.store) for _ in range(3)]

    taken = [servers[i % 3].take(study, f"s{i}", False, i, now) for i in range(30)]

    assert sorted(taken) == list(range(30))


def test_many_at_once_get_turns_of_their_own(world):
    study = studies.add(world, studies.study(evaluators=1000))
    now, held = world.clock(), Turns(world.store)

    with ThreadPoolExecutor(16) as pool:
        taken = list(pool.map(lambda i: held.take(study, f"s{i}", False, i, now), range(200)))

    assert sorted(taken) == list(range(200))


def test_a_session_that_is_just_being_opened_keeps_its_turn(each_world):
    study = studies.add(each_world, studies.study())
    first = Turns(each_world.store).take(study, "not stored yet", False, 0, each_world.clock())

    second = Turns(each_world.store).take(study, "another", False, 0, each_world.clock())
    each_world.clock.move(minutes=5)
    third = Turns(each_world.store).take(study, "a third", False, 0, each_world.clock())

    assert (first, second, third) == (0, 1, 0)


@pytest.mark.parametrize("sessions", [1, 40])
def test_opening_reads_no_responses_and_no_turns_of_others_while_none_is_free(world, sessions):
    study = studies.add(world, studies.study(evaluators=1000))
    held = Turns(world.store)
    for i in range(sessions):
        held.take(study, f"s{i}", False, i, world.clock())
    calls = []
    held._store = _Watched(world.store, calls)

    held.take(study, "last", False, sessions, world.clock())

    assert calls == ["write_entry"]


class _Watched:
    """Notes the methods of a store that are called."""

    def __init__(self, store, calls):
        self._store, self._calls = store, calls

    def __getattr__(self, name):
        self._calls.append(name)
        return getattr(self._store, name)


def test_simulated_sessions_have_turns_of_their_own_which_go_with_them(world):
    study = studies.add(world, studies.study())
    for _ in range(3):
        studies.Person(world, key=world.data.keys().researcher, simulated=True)
    studies.Person(world)

    def books(simulated):
        return [entry.key for entry in world.store.entries(item_turns._turns_of(study, simulated))]

    assert (len(books(True)), books(False)) == (3, ["00000000"])
    clear_simulated(world.store, "sim")
    assert (books(True), len(books(False))) == ([], 1)


def test_sentinels_are_told_by_nothing_that_a_browser_receives(each_world):
    studies.add(each_world, studies.study(base_usd_cents=100))
    person = studies.Person(each_world)

    person.play(lambda names: "left" if names[0] < names[2] else "right")

    session, _ = next(iter(each_world.store.sessions("sim")))
    kinds = [session.blocks[0].kind(i) for i in range(11)]
    assert sorted(kinds) == ["check"] * 3 + ["test"] * 8
    replies = [
        {**{k: v for k, v in reply.items() if k not in ("trial_index", "next", "progress")}}
        for reply in person.replies[:-1]
    ]
    assert all(reply == replies[0] for reply in replies)
    assert replies[0]["was_correct"] is None
    assert replies[0]["earned_usd_cents"] is None
    assert person.block["instructed"] == []
    lengths = {len(urls) for urls in person.block["images"]}
    assert len(lengths) == 1
    assert person.replies[-1]["earned_usd_cents"] == 100


def test_a_copied_study_goes_on_with_the_next_turns(world, tmp_path):
    study = studies.add(world, studies.study())
    for _ in range(2):
        studies.Person(world).play()
    target = open_store("sqlite:///other.db", tmp_path)

    copy(world.store, target, "sim")
    taken = Turns(target).take(target.study("sim"), "next", False, 2, world.clock())
    target.close()

    assert taken == 2
    assert study.evaluators_wanted == 5


def test_an_answer_that_is_sent_again_is_stored_once_and_another_one_is_refused(each_world):
    studies.add(each_world, studies.study())
    person = studies.Person(each_world)
    person.begin()
    body = {
        "lease": person.state["lease"],
        "trial_index": 0,
        "stimulus": person.shown[0],
        "response": "left",
        "rt": 700.0,
        "exposure_ms": None,
        "flags": [],
    }
    headers = {"Authorization": f"Bearer {person.token}"}

    def post(**changes):
        path = f"/api/sessions/{person.id}/answers"
        return each_world.http.post(path, json={**body, **changes}, headers=headers)

    first, again, other = post(), post(), post(response="right")
    names = person.shown[0].split(" ")
    swapped = post(trial_index=1, stimulus=" ".join(reversed(names)))
    tie = post(trial_index=1, stimulus=person.shown[1], response="tie")

    assert (first.status_code, again.status_code, first.json) == (200, 200, again.json)
    assert (other.status_code, other.json["error"]["code"]) == (409, "answer_conflict")
    assert (swapped.status_code, swapped.json["error"]["code"]) == (409, "wrong_stimulus")
    assert (tie.status_code, tie.json["error"]["message"]) == (
        400,
        "response must be 'left' or 'right', not 'tie'",
    )
    assert len(each_world.store.responses(person.id)) == 1
