"""A study moves between stores with all its answers, again and again, and writes over nothing."""

import dataclasses

import pytest
from click.testing import CliRunner

from backend.administration.copy import copy
from backend.cli import main
from backend.commands.simulated_evaluators import simulate
from backend.experiment import session as sessions
from backend.foundation.errors import Conflict, NotFound
from backend.responses.export import export
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from .. import sample_studies as studies
from ..people import served, take_part_all
from ..stores.test_contract import response


@pytest.fixture
def stores(table, tmp_path):
    """A store in SQLite and one in DynamoDB."""
    opened = [open_store(url, tmp_path) for url in ("sqlite:///copied.db", table)]
    yield opened
    for store in opened:
        store.close()


@pytest.fixture(params=["to the table", "from the table"])
def pair(request, stores):
    """The two, in both directions."""
    return stores if request.param == "to the table" else stores[::-1]


def played(store, tmp_path, evaluators=3):
    study = studies.study(images=10, evaluators=evaluators)
    store.add_study(study, studies.pool(study))
    simulate(store, DataDir(tmp_path), "faces", {"all": "0.7"}, evaluators=2)
    with served(store, tmp_path) as base:
        take_part_all(base, store, study, DataDir(tmp_path), 2 * evaluators)
    return store.study("faces")


def with_answers(store, count, session_id="s1", key=None, answer="real"):
    """Have a session of ten pictures answered up to `count` trials."""
    study = studies.study(images=10)
    session = dataclasses.replace(studies.session(study, session_id=session_id), evaluator_key=key)
    cursor = sessions.opening(study.protocol, studies.CREATED_AT)
    try:
        cursor = store.cursor(session_id)
    except NotFound:
        store.add_session(session, cursor)
    for i in range(cursor.version, count):
        after = dataclasses.replace(cursor, version=i + 1, trial_index=i + 1)
        store.append(session_id, i, after, response(i, answer))


def made(*stores):
    study = studies.study(images=10)
    for store in stores:
        store.add_study(study, studies.pool(study))


def test_a_copy_exports_the_same_to_the_byte(pair, tmp_path):
    study = played(pair[0], tmp_path)

    first, second = copy(*pair, "faces"), copy(*pair, "faces")

    for simulated in (False, True):
        files = [
            export(store, study, tmp_path / f"{i} {simulated}", simulated) for i, store in enumerate(pair)
        ]
        assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]
    assert pair[1].taken("faces", "2020") == {"gan": 3, "vae": 3}
    assert pair[1].finished("faces", simulated=True)[0] == 2
    assert ((first.sessions, first.written), (second.sessions, second.written)) == ((8, 8), (8, 0))


def test_a_copy_catches_up_with_what_went_on(pair):
    source, target = pair
    made(source)
    with_answers(source, 3)
    copy(source, target, "faces")

    with_answers(source, 8)
    done = copy(source, target, "faces")

    assert done.written == 1
    assert target.cursor("s1") == source.cursor("s1")
    assert target.responses("s1") == source.responses("s1")


def test_a_session_that_went_on_at_the_target_is_left(pair):
    source, target = pair
    made(source)
    with_answers(source, 3)
    copy(source, target, "faces")

    with_answers(target, 5)
    done = copy(source, target, "faces")

    assert done.written == 0
    assert len(target.responses("s1")) == 5


def test_other_answers_at_the_target_are_not_written_over(pair):
    source, target = pair
    made(source, target)
    with_answers(source, 3)
    with_answers(target, 2, answer="fake")

    with pytest.raises(Conflict, match="session s1 has other answers at the target"):
        copy(source, target, "faces")

    assert [stored.response for stored in target.responses("s1")] == ["fake", "fake"]


def test_another_study_of_the_same_name_is_not_written_over(pair):
    source, target = pair
    made(source)
    other = studies.study(images=20)
    target.add_study(other, studies.pool(other))

    with pytest.raises(Conflict, match="the target has another study faces"):
        copy(source, target, "faces")

    assert target.study("faces") == other


def test_evaluators_keep_their_places(pair):
    source, target = pair
    made(source)
    for session_id, previous in (("s1", None), ("s2", "s1")):
        with_answers(source, 0, session_id, key="ann")
        source.claim("faces", "ann", session_id, instead_of=previous)
    with_answers(source, 0, "s3", key="bob")
    source.claim("faces", "bob", "s3")
    target.claim("faces", "ann", "s1")
    target.claim("faces", "bob", "s9")

    copy(source, target, "faces")

    assert target.claimed("faces", "ann") == "s2"
    assert target.claimed("faces", "bob") == "s9"  # who took part at the target since


def test_the_command_tells_what_it_did(stores, table, tmp_path):
    made(stores[0])
    with_answers(stores[0], 2)
    command = ["copy", "faces", "--from", "sqlite:///copied.db", "--to", table, "--data", str(tmp_path)]

    done = CliRunner().invoke(main, command)

    assert (done.exit_code, done.output) == (0, "faces: 1 sessions, 1 of them written\n")
    assert stores[1].responses("s1") == stores[0].responses("s1")
