"""A paused study takes nobody new, and lets go on who has begun."""

import threading

from backend.studies.pausing import is_paused, set_paused

from .. import sample_studies as studies

AT = "2026-01-01T00:00:00.000Z"


def test_a_paused_study_refuses_new_sessions_and_runs_those_under_way(world):
    world.add(studies.study(images=8))
    player = world.player()

    set_paused(world.store, "faces", True, AT)

    refused = world.open()
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "study_paused")
    assert player.play()["complete"] is True
    assert world.http.get("/api/studies/faces").json["paused"] is True


def test_a_study_that_goes_on_takes_evaluators_again(world):
    world.add(studies.study(images=8))

    changes = [set_paused(world.store, "faces", is_to_pause, AT) for is_to_pause in (True, True, False)]

    assert changes == [True, False, True]
    assert world.open().status_code == 201
    assert world.http.get("/api/studies/faces").json["paused"] is False


def test_a_pause_of_one_study_is_none_of_another(world):
    world.add(studies.study(images=8))
    world.add(studies.study("hands", images=8))

    set_paused(world.store, "hands", True, AT)

    assert world.open("faces").status_code == 201


def test_many_who_press_at_once_change_it_once(world):
    world.add(studies.study(images=8))
    gate, changed = threading.Barrier(8), []

    def press():
        gate.wait()
        changed.append(set_paused(world.store, "faces", True, AT))

    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(changed) == 1
    assert is_paused(world.store, "faces")
