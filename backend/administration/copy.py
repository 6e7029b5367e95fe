"""Copying a study with its responses from one store to another.

An interrupted copy can be repeated, and a study that has progressed can be copied again: copying twice gives
what copying once after the source's last change gives. Nothing at the target is lost: a study or a session
that differs is refused. Sessions that were withdrawn at either store are not copied, and are erased at the
target.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from backend.administration import intake_facts, ledger_copies
from backend.experiment import browsers
from backend.experiment.records import Response, Session, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, NotFound
from backend.payment import accounts
from backend.stores.store import Store, study_if_any
from backend.stores.updates import update
from backend.studies import (
    competition_books,
    item_turns,
    lifecycle,
    look_records,
    pausing,
    places_given_back,
    waiting_room,
)
from backend.studies.withdrawals import BOOK as WITHDRAWN
from backend.studies.withdrawals import withdrawn
from backend.task.eligibility import PEOPLE, links_of


@dataclass(frozen=True)
class Copied:
    """The result of a copy."""

    sessions: int
    """All sessions of the study, real and simulated."""
    written: int
    """Those that were new, or had progressed since."""
    paid_from: str
    """The store that pays, if it is not the target."""


def copy(
    source: Store,
    target: Store,
    name: str,
    progress: Callable[..., Iterable] | None = None,
    names: tuple[str, str] = ("another store", "another store"),
    moves: bool = False,
) -> Copied:
    """Copy the study `name` with its pool, sessions, responses, admission, pause state, ledger, and,
    of a leaderboard study, terms and submissions.

    Args:
        names: names of source and target for error messages about which of them pays.
        moves: whether the target takes over payment.

    Raises:
        NotFound: the source has no such study.
        Conflict: the target has another study of that name, or had one that was deleted, or has other
            responses in one of its sessions; or both stores pay the study.
    """
    study = source.study(name)
    _copy_study(source, target, study)
    intake_facts.copy(source, target, study)
    competition_books.copy(source, target, study)
    if study.begun_at:  # before anything is there that could be paid twice
        ledger_copies.copy_ledger(source, target, name, names)
    ledger_copies.copy_withdrawals(source, target, name)
    gone = {entry.key for store in (source, target) for entry in withdrawn(store, name)}
    count = written = 0
    sessions = chain(source.answered(name), source.answered(name, simulated=True))
    for session, cursor, responses in progress(sessions, None, "sessions") if progress else sessions:
        if session.id in gone:
            continue
        count += 1
        if _is_behind(target, session, cursor, responses):
            written += _restore(target, session, cursor, responses)
        _copy_claim(source, target, session)
    _copy_admission(source, target, name)
    item_turns.copy(source, target, study)
    look_records.copy(source, target, study)
    if moves:
        ledger_copies.move_ledger(source, target, name, names)
    elif study.begun_at:
        ledger_copies.copy_ledger(source, target, name, names)
    waiting_room.copy(source, target, name)
    return Copied(count, written, accounts.funds(target, name)[1].paid_from)


def _copy_study(source: Store, target: Store, study: Study) -> None:
    stimuli = list(source.stimuli(study.name))
    existing = study_if_any(target, study.name)
    if existing is None:
        lifecycle.check_name(target, study.name)
        target.add_study(replace(study, version=1), stimuli)
        return
    is_same = _with_course(existing, study) == study
    is_revised = (
        not existing.begun_at
        and existing.created_at == study.created_at
        and existing.settings_id != study.settings_id
    )
    is_earlier = not is_same and _is_earlier(existing, study)
    before = [each for each in stimuli if each.model in (None, *existing.models)] if is_earlier else stimuli
    if not (is_same or is_revised or is_earlier) or list(target.stimuli(study.name)) != before:
        raise Conflict(
            f"the target has another study {study.name}, made at {existing.created_at}, and this one was "
            f"made at {study.created_at}, or it was changed there since it was copied; nothing was copied"
        )
    if not is_same:
        existing = replace(_with_course(study, existing), version=existing.version + 1)
        target.add_stimuli(existing, [each for each in stimuli if each not in {*before}])
    if study.begun_at:
        lifecycle.begin(target, existing, study.begun_at)


def _is_earlier(existing: Study, study: Study) -> bool:
    """Return whether the target has the study from before models joined it or were closed."""
    as_before = replace(
        study,
        models=study.models[: len(existing.models)],
        joined=study.joined[: len(existing.joined)],
        joined_at=study.joined_at[: len(existing.joined_at)],
        closed=study.closed[: len(existing.closed)],
        notes=study.notes[: len(existing.notes)],
    )
    return _with_course(existing, study) == as_before


def _with_course(study: Study, other: Study) -> Study:
    """Return a study with the version of another, and how far that one is."""
    names = ("version", "begun_at", "looks_digest", "looks_done", "ended", "ended_at", "newcomer_looks")
    return replace(study, **{name: getattr(other, name) for name in names})


def _is_behind(target: Store, session: Session, cursor: Cursor, responses: list[Response]) -> bool:
    """Return whether the target lacks something of a session.

    Raises:
        Conflict: neither side's responses are a prefix of the other's.
    """
    try:
        existing, stored = target.cursor(session.id), target.responses(session.id)
    except NotFound:
        return True
    common = min(len(stored), len(responses))
    other = any(existing.questions.get(when, given) != given for when, given in cursor.questions.items())
    at_target = target.session(session.id)
    if other or not _is_same(at_target, session) or stored[:common] != responses[:common]:
        raise Conflict(
            f"session {session.id} has other answers at the target; it was left as it is, and the copy ended"
        )
    if session == _redacted(session) != at_target:
        target.redact_session(session.id, session.panel, session.device)
    return existing.version < cursor.version and len(stored) <= len(responses)


def _is_same(one: Session, other: Session) -> bool:
    """Return whether two sessions are one, of which either store may have erased the personal data since."""
    erased = _redacted(one)
    return one == other or (erased == _redacted(other) and erased in (one, other))


def _redacted(session: Session) -> Session:
    return replace(session, panel={}, device=browsers.retained(session.device))


def _restore(target: Store, session: Session, cursor: Cursor, responses: list[Response]) -> bool:
    """Store a session at the target, unless it is withdrawn there meanwhile; return whether it is stored."""
    if target.entry(WITHDRAWN, session.id) is None:
        target.restore(_as_at(target, session), cursor, responses)
    if target.entry(WITHDRAWN, session.id) is None:
        return True
    target.erase_session(session.id)
    return False


def _as_at(target: Store, session: Session) -> Session:
    """Return a session without the personal data that were erased at the target."""
    try:
        erased, existing = _redacted(session), target.session(session.id)
    except NotFound:
        return session
    return existing if existing == erased else session


def _copy_admission(source: Store, target: Store, study: str) -> None:
    """Copy what decides who may begin: participation, private links, the pause, and lost places."""
    for entry in source.entries(PEOPLE):
        if study in entry.data.get("studies", {}):
            update(target, PEOPLE, entry.key, _with_participation(study, entry.data["studies"][study]))
            holder = source.claimed(study, entry.key)
            if holder and target.claimed(study, entry.key) is None:  # of a session that was withdrawn
                target.claim(study, entry.key, holder)
    lost = (book(study) for book in places_given_back.BOOKS)
    for book in (links_of(study), *lost):
        for entry in source.entries(book):
            update(target, book, entry.key, _unless_known(entry.data))
    pausing.copy(source, target, study)


def _unless_known(data: Mapping[str, Any]) -> Callable[[Mapping[str, Any] | None], Mapping[str, Any] | None]:
    return lambda now: data if now is None else None


def _with_participation(study: str, session_id: str) -> Callable[[Mapping[str, Any] | None], Any]:
    def rule(now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        known = now or {"studies": {}, "opened": {}}
        if study in known["studies"]:
            return None
        return {**known, "studies": {**known["studies"], study: session_id}}

    return rule


def _copy_claim(source: Store, target: Store, session: Session) -> None:
    """Copy an evaluator's claim, unless a session known only to the target holds it there."""
    key = session.evaluator_key
    if key is None or source.claimed(session.study, key) != session.id:
        return
    holder = target.claimed(session.study, key)
    if holder is not None and holder != session.id:
        try:
            source.session(holder)
        except NotFound:
            return
    target.claim(session.study, key, session.id, instead_of=holder)
