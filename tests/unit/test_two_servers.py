"""Two servers on one store let in as many people as one would."""

import secrets
import threading

import pytest

from backend.handlers import create_app

from . import sample_studies as studies

EVALUATORS = 2


class Meeting:
    """The store as one server sees it, which waits for the others where sessions are counted first."""

    def __init__(self, store, barrier):
        self._store, self._barrier, self._has_met = store, barrier, False

    def __getattr__(self, name):
        return getattr(self._store, name)

    def taken(self, *arguments, **options):
        found = self._store.taken(*arguments, **options)
        if not self._has_met:
            self._has_met = True
            self._barrier.wait(timeout=30)
        return found


@pytest.mark.parametrize("servers", [2, 4])
def test_the_last_places_are_given_away_once(each_world, servers):
    world = each_world
    world.add(studies.study(models=("gan",), images=8, evaluators=EVALUATORS))
    world.player().play()
    barrier, codes = threading.Barrier(servers), []

    def visit(app):
        panel = {"PROLIFIC_PID": secrets.token_hex(12)}
        body = {"consent_version": "1", "panel": panel, "qualification_token": None}
        codes.append(app.test_client().post("/api/studies/faces/sessions", json=body).status_code)

    # made one after the other: routes are compiled, and CPython 3.11 cannot do that in two threads at once
    apps = [
        create_app(Meeting(world.store, barrier), world.data, world.data.keys(), world.clock)
        for _ in range(servers)
    ]
    threads = [threading.Thread(target=visit, args=(app,)) for app in apps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert codes.count(201) <= 1
    assert world.store.taken("faces", "")["gan"] <= EVALUATORS
    assert set(codes) <= {201, 409, 503}
    is_decided_by_one_writer = not hasattr(world.store, "_heads")
    assert 201 in codes or not is_decided_by_one_writer
