"""Copying a study with its responses from one store to another.

An interrupted copy can be repeated, and a study that has progressed can be copied again. Nothing at the
target is lost: a study or a session that differs is refused.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain

from backend.administration import ledger_copies
from backend.experiment.records import Response, Session, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, NotFound
from backend.payment import accounts
from backend.stores.store import Store
from backend.studies import lifecycle


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
    """Copy the study `name` with its pool, sessions, responses, evaluators' claims, and its ledger.

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
    count = written = 0
    sessions = chain(source.answered(name), source.answered(name, simulated=True))
    for session, cursor, responses in progress(sessions, None, "sessions") if progress else sessions:
        count += 1
        if _is_behind(target, session, cursor, responses):
            target.restore(session, cursor, responses)
            written += 1
        _copy_place(source, target, session)
    if moves:
        ledger_copies.move_ledger(source, target, name, names)
    elif study.begun_at:
        ledger_copies.copy_ledger(source, target, name, names[0])
    return Copied(count, written, accounts.purse(target, name)[1].paid_from)


def _copy_study(source: Store, target: Store, study: Study) -> None:
    stimuli = list(source.stimuli(study.name))
    try:
        standing = target.study(study.name)
    except NotFound:
        lifecycle.check_name(target, study.name)
        target.add_study(replace(study, version=1), stimuli)
        return
    is_same = replace(standing, version=study.version, begun_at=study.begun_at) == study
    if is_same and study.begun_at:
        lifecycle.begin(target, standing, study.begun_at)
    if not is_same or list(target.stimuli(study.name)) != stimuli:
        raise Conflict(
            f"the target has another study {study.name}, made at {standing.created_at}, and this one was "
            f"made at {study.created_at}; nothing was copied"
        )


def _is_behind(target: Store, session: Session, cursor: Cursor, responses: list[Response]) -> bool:
    """Return whether the target lacks something of a session.

    Raises:
        Conflict: neither side's responses are a prefix of the other's.
    """
    try:
        standing, stored = target.cursor(session.id), target.responses(session.id)
    except NotFound:
        return True
    common = min(len(stored), len(responses))
    if target.session(session.id) != session or stored[:common] != responses[:common]:
        raise Conflict(
            f"session {session.id} has other answers at the target; it was left as it is, and the copy ended"
        )
    return standing.version < cursor.version and len(stored) <= len(responses)


def _copy_place(source: Store, target: Store, session: Session) -> None:
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
