"""Answers to questions after a session was packed are there, also if packing them fails."""

import dataclasses
import secrets

import pytest

from backend.experiment.questionnaire import Question
from backend.foundation.errors import StoreFailed
from backend.stores.dynamodb.store import DynamoStore, create_table
from backend.stores.opening import open_store

from ... import sample_studies as studies
from ..test_contract import AT, with_session

QUESTIONS = (Question("effort", "after", "scale", "How hard was it?"),)
ANSWERS = {"after": {"at": AT, "answers": {"effort": 3}}}


class Unpacking(DynamoStore):
    """A store whose process dies, or is throttled, before it packs a session."""

    def _pack(self, head, cursor):
        raise StoreFailed("the table is throttled")


@pytest.fixture
def url(dynalite):
    made = dynalite.url(f"t{secrets.token_hex(6)}")
    create_table(made)
    return made


def finished(url, tmp_path):
    """Store a session that is finished and packed, of a study with questions after the task."""
    store = open_store(url, tmp_path)
    study = dataclasses.replace(studies.study(images=10), questions=QUESTIONS)
    store.add_study(study, studies.pool(study, each=10))
    session, cursor = with_session(store)
    done = dataclasses.replace(cursor, version=1, state="finished", trial_index=10)
    store.move(session.id, 0, done)
    return store, session, done


@pytest.mark.parametrize("kind", [DynamoStore, Unpacking])
def test_answers_after_packing_are_among_the_sessions(url, tmp_path, kind):
    store, session, done = finished(url, tmp_path)
    answered = dataclasses.replace(done, version=2, questions=ANSWERS)

    other = kind.open(url)
    other.move(session.id, 1, answered)

    assert [cursor for _, cursor in store.sessions("faces")] == [answered]
    assert [cursor.questions for _, cursor, _ in store.answered("faces")] == [ANSWERS]
    assert store.finished("faces")[0] == 1
    assert store.taken("faces", AT) == {session.condition: 1}
    other.close()
    store.close()


def test_a_session_that_never_answered_is_read_as_it_is(url, tmp_path):
    store, session, done = finished(url, tmp_path)

    assert [cursor for _, cursor in store.sessions("faces")] == [done]
    store.erase_session(session.id)
    assert list(store.sessions("faces")) == []
    store.close()
