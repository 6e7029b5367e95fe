"""Permanent deletion of a study with its sessions, responses, stimuli and masks.

First the study is marked, so that no server finds it any more: no session is opened from then on, and an
evaluator who is just being admitted is refused. Then a second check looks for debts and open sessions;
if there are any, the mark is removed. Then sessions are deleted, then files, and the record last. If
interrupted, the next call resumes.

The books retain, under pseudonyms, what was owed and paid, what was sent to the panel, and who took part,
so that exclusive studies still refuse them. The panel's ids, which are stored no longer than a study, are
erased. The name of a study that a real evaluator had begun is never reused.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from backend.administration import intake_facts, retention
from backend.experiment.judgment import pictures_of
from backend.experiment.money import format_money
from backend.experiment.records import Study
from backend.foundation.counted_nouns import counted
from backend.foundation.errors import Conflict, NotFound
from backend.foundation.timestamps import stamp
from backend.metrics import study_metrics
from backend.payment import accounts
from backend.payment.ledger import PARTS
from backend.stores.datadir import DataDir
from backend.stores.store import Entry, Stale, Store
from backend.studies import (
    competition_books,
    confirmations,
    item_turns,
    lifecycle,
    look_records,
    unfilled_links,
    waiting_room,
    withdrawals,
)
from backend.studies.pausing import forget as forget_pause
from backend.studies.retainer import is_waiting
from backend.task import withdrawal
from backend.task.eligibility import PEOPLE, links_of


@dataclass(frozen=True)
class Contents:
    """The contents of a study that would be deleted."""

    sessions: int
    simulated: int
    responses: int
    """Of real sessions."""
    files: int
    """Stimulus and mask files in the data directory."""


def contents(store: Store, data: DataDir, study: Study) -> Contents:
    real = [cursor for _, cursor in store.sessions(study.name)]
    folder = data.images(study.name)
    return Contents(
        sessions=len(real),
        simulated=sum(1 for _ in store.sessions(study.name, simulated=True)),
        responses=sum(cursor.trial_index + cursor.voided_answers for cursor in real),
        files=sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0,
    )


def check(store: Store, study: Study, now: datetime) -> None:
    """Raise Conflict if a study cannot be deleted now, with all obstacles and what to do about them."""
    withdrawal.finish(store)
    elsewhere = accounts.funds(store, study.name)[1].paid_from
    hindering = [
        *(_unknown_to(store, study, now, elsewhere) if elsewhere else _owed(store, study, now)),
        *_waiting(store, study, now),
        *_under_way(store, study, now),
        *([] if elsewhere else _recruiting(store, study)),
        *_asked_for(store, study),
    ]
    if hindering:
        raise Conflict(f"study {study.name} cannot be deleted: {'; '.join(hindering)}")


def delete(
    store: Store,
    data: DataDir,
    study: Study,
    now: datetime,
    remove_uploaded: Callable[[str], Any] | None = None,
    progress: Callable | None = None,
) -> None:
    """Delete a study; resumes an interrupted deletion.

    Args:
        study: may be one whose deletion has begun.
        remove_uploaded: removes a study's images from where browsers get them, if that is elsewhere.
        progress: wraps an iterable: `progress(items, total, label)`.

    Raises:
        Conflict: as for `check`.
    """
    with data.locked("publish"):  # else a study of that name being created would lose its images
        is_here = _has_pictures_here(store, data, study)  # asked first: who deletes it too removes the names
        try:
            study = mark(store, study, now)
            if not lifecycle.is_decided(store, study):
                _forget_who_saw_nothing(store, study.name)
                lifecycle.decide(store, study, stamp(now))
            retention.apply(store, retention.all_of(store, study), now)
            sessions = [
                session.id
                for simulated in (False, True)
                for session, _ in store.sessions(study.name, simulated)
            ]
            for session in progress(sessions, len(sessions), "sessions") if progress else sessions:
                store.erase_session(session)
            if is_here:
                _remove_pictures(store, data, study)
            data.clear_making()
            data.joining(study.name).unlink(missing_ok=True)
            study_metrics.remove(data, study.name)
            data.remove_downloads(study.name)
            if remove_uploaded is not None:
                remove_uploaded(study.name)
            _remove_record(store, study)
        except NotFound:
            if is_here and lifecycle.is_decided(store, study):  # it was deleted meanwhile, from elsewhere
                _remove_pictures(store, data, study)
            raise


def _has_pictures_here(store: Store, data: DataDir, study: Study) -> bool:
    """Return whether the folder of a study's name is its own, not that of such a study in another store."""
    names = (name for stimulus in store.stimuli(study.name) for name in pictures_of(stimulus.name))
    return any((data.images(study.name) / name).exists() for name in (*study.masks, *names))


def _remove_pictures(store: Store, data: DataDir, study: Study) -> None:
    """Remove a study's folder, unless a copy of the study in another store has it, too."""
    if others := {*data.sharers(study.name)} - {store.url}:
        data.note_sharers(study.name, others)
        return
    data.unpublished(study.name).unlink(missing_ok=True)  # left by a creation that was killed at its end
    if data.images(study.name).exists():
        data.put_away(study.name)


def mark(store: Store, study: Study, now: datetime) -> Study:
    """Hide a study from all readers, check that it can be deleted, and return it; `delete` does the rest.

    Raises:
        Conflict: as for `check`; the study is then visible as before.
    """
    if lifecycle.is_decided(store, study):
        return study
    check(store, study, now)
    study = lifecycle.begin_deletion(store, study, stamp(now))
    try:
        check(store, study, now)
    except Conflict:
        lifecycle.end_deletion(store, study)
        raise
    return study


def _remove_record(store: Store, study: Study) -> None:
    """Delete what a new study of the same name would otherwise find, and the record last."""
    for entry in list(store.entries(links_of(study.name))):
        store.erase_entry(links_of(study.name), entry.key)
    forget_pause(store, study.name)
    unfilled_links.forget(store, study.name)
    intake_facts.erase(store, study)
    store.erase_entry(lifecycle.ATTEMPTS, study.name)
    confirmations.forget(store, study)
    competition_books.erase(store, study)
    look_records.erase(store, study)
    for simulated in (False, True):
        item_turns.erase(store, study, simulated)
    if not lifecycle.was_deleted(store, study.name):
        store.erase_entry(accounts.FUNDS, study.name)
    store.remove_study(study.name)


def _forget_who_saw_nothing(store: Store, name: str) -> None:
    """Remove a study from the records of people who opened a session of it and saw no stimulus.

    From then on everyone who has it in their record took part in it, even if its sessions are gone.
    """
    for entry in list(store.entries(PEOPLE)):
        person: Entry | None = entry
        while person is not None and (session := person.data["studies"].get(name)) is not None:
            if _has_seen(store, name, session):
                break
            left = {study: of for study, of in person.data["studies"].items() if study != name}
            with suppress(Stale):  # another study was opened just now
                store.write_entry(PEOPLE, person.key, person.version, {**person.data, "studies": left})
                break
            person = store.entry(PEOPLE, person.key)


def _has_seen(store: Store, name: str, session: str) -> bool:
    if store.entry(withdrawals.BOOK, session) is not None:
        return True
    try:
        return store.cursor(session).blocks_begun > 0
    except NotFound:  # it expired before a block was begun; or another process deletes the study too
        return lifecycle.was_deleted(store, name)


def _owed(store: Store, study: Study, now: datetime) -> list[str]:
    unpaid = [
        account for account in accounts.plain_accounts(store, study, now).values() if not account.is_paid
    ]
    if not unpaid:
        return []
    left = sum(
        account.usd_cents(part)
        for account in unpaid
        for part in PARTS
        if getattr(account, part) in ("owed", "intended")
    )
    what = (
        format_money(left, study.protocol.pay.currency)
        if left
        else "the approval of a submission at the panel"
    )
    return [
        f"{counted(len(unpaid), 'evaluator')} {_is(unpaid)} owed {what}: pay first "
        f"(`openhype pay {study.name}`), or say why it is not to be paid (`--close EVALUATOR=REASON`)"
    ]


def _unknown_to(store: Store, study: Study, now: datetime, elsewhere: str) -> list[str]:
    """List debts that the paying store may not know of, if the ledger here is a copy."""
    count = sum(1 for _ in accounts.newly_owed(store, study, now))
    known = accounts.accounts(store, study.name).values()
    count += sum(account.is_withdrawn and not account.is_paid for _, account in known)
    if not count:
        return []
    return [
        f"{counted(count, 'evaluator')} of sessions here {'is' if count == 1 else 'are'} not in the copied "
        f"ledger (copy the study to {elsewhere}, pay there, and copy it back)"
    ]


def _waiting(store: Store, study: Study, now: datetime) -> list[str]:
    count = sum(is_waiting(wait, now.timestamp()) for _, wait in waiting_room.waits(store, study.name))
    if not count:
        return []
    people = "1 person is" if count == 1 else f"{count} people are"
    return [f"{people} paid to wait for the study (try again when nobody waits)"]


def _under_way(store: Store, study: Study, now: datetime) -> list[str]:
    since = stamp(now - timedelta(minutes=study.protocol.admission.abandon_after_minutes))
    active = [
        cursor
        for _, cursor in store.sessions(study.name)
        if cursor.state == "active" and cursor.last_at >= since
    ]
    if not active:
        return []
    return [
        f"{counted(len(active), 'session')} {_is(active)} in progress: stop new sessions "
        f"(`openhype pause {study.name}`), and wait until they are finished, or silent for "
        f"{study.protocol.admission.abandon_after_minutes:g} minutes"
    ]


def _recruiting(store: Store, study: Study) -> list[str]:
    open_at = [
        entry.key
        for entry in store.entries(lifecycle.recruitment_book(study.name))
        if entry.data["state"] != "stopped"
    ]
    return [f"it recruits at {panel}: end that (`openhype recruit {study.name} --stop`)" for panel in open_at]


def _asked_for(store: Store, study: Study) -> list[str]:
    names = [other.name for other in store.studies() if other.protocol.admission.qualification == study.name]
    return [f"it is the qualification of {', '.join(names)} (delete that first)"] if names else []


def _is(conditions: list[Any]) -> str:
    return "is" if len(conditions) == 1 else "are"
