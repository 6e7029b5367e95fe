"""A study moves between stores with all its answers, again and again, and writes over nothing."""

import dataclasses
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from backend.administration import retention
from backend.administration.copy import copy
from backend.cli import main
from backend.commands.simulated_evaluators import simulate
from backend.competitions import submissions
from backend.competitions.terms import Limit, Terms, competition_of, set_terms
from backend.experiment import session as sessions
from backend.experiment.records import FAKE, Stimulus
from backend.foundation.errors import Conflict, NotFound
from backend.payment import accounts
from backend.responses.export import export
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.studies import lifecycle, pausing, places_given_back
from backend.studies.competition_books import names_of
from backend.task.eligibility import PEOPLE
from backend.task.withdrawal import withdraw

from .. import sample_studies as studies
from ..people import served, take_part_all
from ..stores.test_contract import AT, response

LATER = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def stores(table, tmp_path):
    """A store in SQLite and one in DynamoDB."""
    opened = [open_store(url, tmp_path) for url in ("sqlite:///copied.db", table)]
    yield opened
    for store in opened:
        store.close()


_OTHER_WAY = pytest.mark.slow("the same copy in the other direction")


@pytest.fixture(params=[pytest.param("to the table", marks=_OTHER_WAY), "from the table"])
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


@pytest.mark.parametrize("erased_at", ["source", "target"])
def test_a_session_whose_personal_data_were_erased_at_either_store_is_copied_again_without_them(
    pair, erased_at
):
    source, target = pair
    made(source)
    with_answers(source, 3)
    session = dataclasses.replace(source.session("s1"), panel={"PROLIFIC_PID": "p1"})
    source.restore(dataclasses.replace(session, id="s2"), source.cursor("s1"), source.responses("s1"))
    copy(source, target, "faces")
    with_answers(source, 4, "s2")
    store = {"source": source, "target": target}[erased_at]
    retention.apply(
        store, retention.due(store, store.study("faces"), datetime(2036, 1, 1, tzinfo=UTC), 1), LATER
    )

    copy(source, target, "faces")

    assert target.session("s2").panel == {}
    assert [len(target.responses(id)) for id in ("s1", "s2")] == [3, 4]


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


def admitted(store, session_id, key, answers=3):
    """Have a person with a claim and an entry of participation answer some trials."""
    with_answers(store, answers, session_id, key=key)
    store.claim("faces", key, session_id)
    store.write_entry(PEOPLE, key, 0, {"studies": {"faces": session_id}, "opened": {"faces": [AT]}})


def everything_of(store):
    """Return what a store holds of the study, as plain data, without versions and the names of payers."""
    books = ("withdrawn", PEOPLE, "links faces", "given back faces", "control", "retainers", "retainer faces",
             "screened out faces", "recruitment faces", "ledger/faces", "payments/faces")  # fmt: skip
    study = store.study("faces")
    return {
        "study": dataclasses.replace(study, version=0),
        "sessions": [
            (session, cursor, store.responses(session.id)) for session, cursor in store.sessions("faces")
        ],
        "claims": [store.claimed("faces", key) for key in ("ann", "bob", "eve")],
        **{book: {entry.key: dict(entry.data) for entry in store.entries(book)} for book in books},
    }


def test_who_withdrew_at_the_source_is_erased_at_the_target_and_not_brought_back(pair):
    source, target = pair
    made(source)
    for session_id, key in (("s1", "ann"), ("s2", "bob")):
        admitted(source, session_id, key)
    copy(source, target, "faces")
    withdraw(source, source.study("faces"), "s1", AT)

    for _ in range(2):
        done = copy(source, target, "faces")
        assert [session.id for session, _ in target.sessions("faces")] == ["s2"]
        assert target.entry("withdrawn", "s1").data["is_erased"] is True
        assert (done.sessions, done.written) == (1, 0)


def test_who_withdrew_at_the_target_is_not_brought_back(pair):
    source, target = pair
    made(source)
    admitted(source, "s1", "ann")
    copy(source, target, "faces")
    withdraw(target, target.study("faces"), "s1", AT)
    with_answers(source, 5)

    done = copy(source, target, "faces")

    assert (done.sessions, list(target.sessions("faces"))) == (0, [])
    with pytest.raises(NotFound):
        target.session("s1")


def test_who_withdraws_while_a_session_is_written_is_not_brought_back(pair):
    source, target = pair
    made(source)
    admitted(source, "s1", "ann")
    copy(source, target, "faces")
    with_answers(source, 5)
    restore = target.restore

    def withdrawn_first(*session):
        withdraw(target, target.study("faces"), "s1", AT)
        with suppress(Conflict):  # DynamoDB itself refuses what was erased
            restore(*session)

    target.restore = withdrawn_first
    copy(source, target, "faces")

    assert list(target.sessions("faces")) == []


def test_copying_again_after_each_change_gives_what_copying_once_gives(tmp_path):
    source, often, once = (open_store(f"sqlite:///{name}.db", tmp_path) for name in ("a", "b", "c"))
    made(source)
    study = source.study("faces")

    def recruit():
        source.write_entry("recruitment faces", "prolific", 0, studies.recruitment(panel_study="p1"))

    changes = [
        lambda: source.change_study(dataclasses.replace(study, version=2, settings_id="revised")),
        lambda: source.write_entry("links faces", "k1", 0, {}),
        lambda: lifecycle.begin(source, source.study("faces"), AT),
        lambda: admitted(source, "s1", "ann"),
        recruit,
        lambda: pausing.set_paused(source, "faces", True, AT),
        lambda: admitted(source, "s2", "bob", answers=10),
        lambda: places_given_back.note_given_back(source, study, source.session("s2"), "returned"),
        lambda: accounts.enter_all(source, source.study("faces"), LATER),
        lambda: with_answers(source, 6, "s1"),
        lambda: withdraw(source, source.study("faces"), "s1", AT),
        lambda: pausing.set_paused(source, "faces", False, "2027-01-01T00:00:00.000Z"),
        lambda: source.write_entry("retainers", "faces", 0, {"minutes": 7}),
        lambda: admitted(source, "s3", "eve"),
    ]

    for change in [lambda: None, *changes]:
        change()
        for _ in range(2):
            copy(source, often, "faces")
    copy(source, once, "faces")

    assert everything_of(often) == everything_of(once)
    of_source = everything_of(source)
    for same in ("study", "sessions", "claims", "control", "links faces", "recruitment faces", "retainers",
                 "given back faces", "ledger/faces"):  # fmt: skip
        assert everything_of(once)[same] == of_source[same], same
    assert {key: entry["studies"] for key, entry in everything_of(once)[PEOPLE].items()} == {
        "ann": {"faces": "s1"}, "bob": {"faces": "s2"}, "eve": {"faces": "s3"},
    }  # fmt: skip
    for store in (source, often, once):
        store.close()


def test_a_pause_that_was_changed_later_at_the_target_stays(pair):
    source, target = pair
    made(source)
    pausing.set_paused(source, "faces", True, AT)
    copy(source, target, "faces")
    pausing.set_paused(target, "faces", False, "2027-01-01T00:00:00.000Z")

    copy(source, target, "faces")

    assert pausing.is_paused(target, "faces") is False


def submit(store, model, digest="0", key=b"k"):
    study = store.study("faces")
    given = (competition_of(store, study), "ann", model, digest * 64, LATER)
    return submissions.submit(store, key, study, *given)


def holder(store, study, one):
    return store.entry(names_of(study.name), one.called.casefold()).data["submission"]


def joins(store, model):
    study = store.study("faces")
    grown = dataclasses.replace(
        study,
        models=(*study.models, model),
        joined=(*study.joined, len(study.models)),
        joined_at=(*study.joined_at, AT),
        notes=(*study.notes, f"{model} joined"),
        version=study.version + 1,
    )
    store.add_stimuli(grown, [Stimulus(f"{i:029x}{len(study.models)}aa.png", FAKE, model) for i in range(9)])


def test_terms_and_submissions_are_copied_and_the_same_pictures_are_the_same_submission(pair):
    source, target = pair
    made(source)
    terms = Terms("Faces", limit=Limit(2, 7), published=True)
    set_terms(source, source.study("faces"), terms, LATER)
    one, _ = submit(source, "gan@1")

    for _ in range(2):
        copy(source, target, "faces")

    study = target.study("faces")
    assert competition_of(target, study) == competition_of(source, study)
    assert submissions.of_study(target, study) == [one]
    assert submissions.submission(target, one.id, "ann")[1] == one
    assert holder(target, study, one) == one.id
    assert submit(target, "gan@1", key=b"of another server") == (one, False)
    with pytest.raises(Conflict, match="with other pictures"):
        submit(target, "gan@1", "1")


def test_a_copy_brings_along_what_was_submitted_joined_and_changed_since(pair):
    source, target = pair
    made(source)
    lifecycle.begin(source, source.study("faces"), AT)
    set_terms(source, source.study("faces"), Terms("Faces"), LATER)
    one, _ = submit(source, "gan@1")
    copy(source, target, "faces")

    submissions.refuse(source, source.study("faces"), one, "too few", LATER)
    two, _ = submit(source, "gan@1", "2")
    joins(source, two.called)
    submissions.joined(source, source.study("faces"), two, ["a note"], LATER)
    set_terms(source, source.study("faces"), Terms("Faces again"), LATER.replace(hour=1))
    for _ in range(2):
        copy(source, target, "faces")

    study = target.study("faces")
    assert study.models == source.study("faces").models
    assert list(target.stimuli("faces")) == list(source.stimuli("faces"))
    assert submissions.of_study(target, study) == submissions.of_study(source, study)
    assert holder(target, study, two) == two.id
    assert competition_of(target, study).terms.title == "Faces again"


def test_what_got_further_at_the_target_stays(pair):
    source, target = pair
    made(source)
    set_terms(source, source.study("faces"), Terms("Faces"), LATER)
    one, _ = submit(source, "gan@1")
    copy(source, target, "faces")
    study = target.study("faces")
    submissions.refuse(target, study, one, "too few", LATER)
    two, _ = submit(target, "gan@1", "2")
    set_terms(target, study, Terms("Faces again"), LATER.replace(hour=1))

    copy(source, target, "faces")

    assert [each.reason for each in submissions.of_study(target, study)] == ["too few", ""]
    assert holder(target, study, two) == two.id
    assert competition_of(target, study).terms.title == "Faces again"


def test_a_model_that_joined_at_the_target_alone_ends_a_copy(pair):
    source, target = pair
    made(source)
    copy(source, target, "faces")
    joins(target, "dit")

    with pytest.raises(Conflict, match="or it was changed there since"):
        copy(source, target, "faces")


def test_participation_in_other_studies_at_the_target_stays(pair):
    source, target = pair
    made(source)
    admitted(source, "s1", "ann")
    target.write_entry(PEOPLE, "ann", 0, {"studies": {"cats": "s7"}, "opened": {}})

    copy(source, target, "faces")

    assert target.entry(PEOPLE, "ann").data["studies"] == {"cats": "s7", "faces": "s1"}


def test_a_study_that_was_begun_at_the_target_is_not_revised_by_a_copy(pair):
    source, target = pair
    made(source)
    copy(source, target, "faces")
    lifecycle.begin(target, target.study("faces"), AT)
    source.change_study(dataclasses.replace(source.study("faces"), version=2, settings_id="revised"))

    with pytest.raises(Conflict, match="the target has another study faces"):
        copy(source, target, "faces")


def test_a_copy_of_a_copy_does_not_pay(tmp_path):
    names = ["sqlite:///a.db", "sqlite:///b.db", "sqlite:///c.db"]
    stores = dict(zip("abc", (open_store(name, tmp_path) for name in names), strict=True))
    url = dict(zip("abc", names, strict=True))
    made(stores["a"])
    lifecycle.begin(stores["a"], stores["a"].study("faces"), AT)
    admitted(stores["a"], "s1", "ann", answers=10)

    def copied(one, other):
        return copy(stores[one], stores[other], "faces", names=(url[one], url[other])).paid_from

    assert [copied("a", "b"), copied("b", "c"), copied("b", "c")] == [url["a"]] * 3
    assert [copied("b", "a"), copied("c", "a")] == ["", ""]  # the one that pays still does
    accounts.check_paid_here(stores["a"], "faces")
    for name in "bc":
        with pytest.raises(Conflict, match="is paid from"):
            accounts.check_paid_here(stores[name], "faces")
    for store in stores.values():
        store.close()


def test_the_command_tells_what_it_did(stores, table, tmp_path):
    made(stores[0])
    with_answers(stores[0], 2)
    command = ["copy", "faces", "--from", "sqlite:///copied.db", "--to", table, "--data", str(tmp_path)]

    done = CliRunner().invoke(main, command)

    assert (done.exit_code, done.output) == (0, "faces: 1 sessions, 1 of them written\n")
    assert stores[1].responses("s1") == stores[0].responses("s1")
