"""Submissions: what is stored of them, and the writes by which they are made and changed.

All submissions of a member to a study are one entry of the store, changed by conditional writes: two of one
name at once, or two beyond the limit, cannot both succeed, and a request that is sent again finds what it
made. Only facts are stored; the state is derived (`states.py`).
"""

import hmac
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from backend.administration.study_spec import check_models
from backend.competitions import names
from backend.competitions.submission_limit import check_limit
from backend.competitions.terms import CompetitionRecord, check_open
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.names import clean
from backend.foundation.timestamps import stamp
from backend.stores.store import Store
from backend.stores.updates import update
from backend.studies.competition_books import SUBMISSION_IDS, submissions_of

MOST = 1000
"""Submissions of a member to a study: they are one entry of the store."""
_LONGEST_MODEL = 100
_LONGEST_REASON = 1000
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Submission:
    """What is known of a submission. Times are UTC, ISO 8601; '' for what did not happen."""

    id: str
    study: str
    member: str
    model: str
    """As its member calls it."""
    called: str
    """What it is called within the study."""
    digest: str
    created_at: str
    upload: str = ""
    pictures_at: str = ""
    """When its pictures were handed over to be checked."""
    sent: int = 0
    """How often the pictures were handed over to be checked: again only after a fault of the server."""
    checking_at: str = ""
    refused_at: str = ""
    reason: str = ""
    """Why it was refused."""
    joined_at: str = ""
    notes: tuple[str, ...] = ()
    """What the intake noted about its pictures."""
    withdrawn_at: str = ""

    @property
    def holds_name(self) -> bool:
        """Whether no other pictures can be submitted under its name."""
        return not self.refused_at and (not self.withdrawn_at or bool(self.joined_at))

    @property
    def is_to_be_checked(self) -> bool:
        """Whether its pictures are here, and it has neither joined nor been refused or withdrawn."""
        return bool(self.upload) and not (self.joined_at or self.refused_at or self.withdrawn_at)

    @property
    def is_try(self) -> bool:
        """Whether it counts among the tries: it was neither refused nor withdrawn before it joined."""
        return self.holds_name


def submit(
    store: Store,
    key: bytes,
    study: Study,
    competition_of: CompetitionRecord,
    member: str,
    model: str,
    digest: str,
    now: datetime,
    is_own_study: bool = False,
    has_failed: Callable[[Submission], bool] = lambda one: False,
) -> tuple[Submission, bool]:
    """Return a member's submission of a model, and whether it is new.

    Args:
        key: the server's, with which ids are made.
        is_own_study: whether the member is a researcher, to whom dates and limits do not apply.
        has_failed: whether the check of a submission failed by a fault of the server, or was cancelled.

    Raises:
        InvalidInput: the name or the digest is not valid.
        Conflict: `not_open`; `model_taken`, the name has other pictures, or is another model's;
            `limit_reached`.
    """
    model = clean(model)
    called = model if is_own_study else f"{member} {model}"
    check_models([model])
    if len(called) > _LONGEST_MODEL:
        raise InvalidInput(
            f"model must be at most {_LONGEST_MODEL - len(member) - 1} characters long, not {len(model)}"
        )
    if not _DIGEST.fullmatch(digest):
        raise InvalidInput(f"digest must be the 64 hexadecimal digits of SHA-256, not {digest!r}")
    made = Submission(
        _id(key, study, member, model, digest), study.name, member, model, called, digest, stamp(now)
    )
    is_new = False

    def rule(own: Sequence[Submission]) -> Sequence[Submission] | None:
        nonlocal is_new
        is_new = False
        if _again(own, made):
            return None
        for one in own:
            if one.holds_name and one.model.casefold() == model.casefold():
                raise Conflict(
                    f"{one.model} was submitted on {one.created_at[:10]} with other pictures, and a "
                    "submission never changes; give these a name of their own",
                    code="model_taken",
                )
        if not is_own_study:
            check_open(competition_of.terms, now)
            check_limit([one for one in own if not has_failed(one)], competition_of.terms.limit, now)
        if len(own) >= MOST:
            raise Conflict(
                f"there are {MOST:,} submissions of yours, the most there can be", code="limit_reached"
            )
        is_new = True
        return [*own, made]

    if known := _again(of_member(store, study, member), made):
        return known, False
    if rule(of_member(store, study, member)) is not None:  # what is refused leaves nothing in the store
        claim_name(store, study, made)
    # first, so that every submission can be found by its id; without a submission it is found by nobody
    update(store, SUBMISSION_IDS, made.id, lambda _: {"study": study.name, "member": member})
    after = _changed(store, study, member, rule)
    return _again(after, made) or made, is_new


def claim_name(store: Store, study: Study, one: Submission) -> None:
    """Give a submission the name of its model; again, it changes nothing.

    Raises:
        Conflict: `model_taken`, a model or another submission has the name.
    """
    names.claim(store, study, one.called, one.model, one.id, lambda other: _holds_name(store, study, other))


def _again(own: Sequence[Submission], made: Submission) -> Submission | None:
    """Return the submission of the model and pictures of `made`, also if another server made its id."""
    return next((one for one in own if (one.model, one.digest) == (made.model, made.digest)), None)


def of_member(store: Store, study: Study, member: str) -> tuple[Submission, ...]:
    """Return the submissions of a member to a study, the earliest first."""
    entry = store.entry(submissions_of(study.name), member)
    return _submissions(study, member, entry.data if entry else None)


def of_study(store: Store, study: Study) -> list[Submission]:
    """Return all submissions to a study, by member."""
    return [
        one
        for entry in store.entries(submissions_of(study.name))
        for one in _submissions(study, entry.key, entry.data)
    ]


def submission(store: Store, submission_id: str, member: str | None) -> tuple[Study, Submission]:
    """Return a submission and its study.

    Args:
        member: whose it must be; None for anybody's.

    Raises:
        NotFound: there is none, or it is another's: in the same words.
    """
    entry = store.entry(SUBMISSION_IDS, submission_id)
    if entry is not None and member in (None, entry.data["member"]):
        try:
            study = store.study(entry.data["study"])
        except NotFound:
            raise _unknown(submission_id) from None
        for one in of_member(store, study, entry.data["member"]):
            if one.id == submission_id:
                return study, one
    raise _unknown(submission_id)


def change(
    store: Store, study: Study, one: Submission, rule: Callable[[Submission], Submission | None]
) -> Submission:
    """Change what is stored of a submission, and return it.

    Args:
        rule: returns what is to be stored; None to leave it as it is.
    """

    def changed(own: Sequence[Submission]) -> Sequence[Submission] | None:
        now = next((each for each in own if each.id == one.id), None)
        after = rule(now) if now else None
        return None if after is None else [after if each.id == one.id else each for each in own]

    return _submission_of(_changed(store, study, one.member, changed), one.id)


def job_key(one: Submission) -> str:
    """Return the key of the job that checks a submission's pictures as they were last handed over."""
    return f"{one.id} {one.sent}"


def give_pictures(
    store: Store,
    study: Study,
    competition_of: CompetitionRecord,
    one: Submission,
    upload: str,
    now: datetime,
    has_failed: Callable[[Submission], bool],
) -> Submission:
    """Note that the pictures of a submission are here, to be checked; again, it changes nothing.

    Args:
        has_failed: as for `submit`; a check that failed is done once more.

    Raises:
        Conflict: `limit_reached`, since more was submitted in the meantime.
    """
    is_own_study = one.called == one.model

    def rule(own: Sequence[Submission]) -> Sequence[Submission] | None:
        known = next((each for each in own if each.id == one.id), None)
        if known is None or known.withdrawn_at or known.refused_at or known.joined_at:
            return None
        if known.upload and not has_failed(known):  # or another request had it done again
            return None
        if not is_own_study:
            others = [each for each in own if each.id != one.id and not has_failed(each)]
            check_limit(others, competition_of.terms.limit, now)
        after = replace(known, upload=upload, pictures_at=stamp(now), sent=known.sent + 1, checking_at="")
        return [after if each.id == one.id else each for each in own]

    return _submission_of(_changed(store, study, one.member, rule), one.id)


def check_begun(store: Store, study: Study, one: Submission, now: datetime) -> Submission:
    """Note that the pictures of a submission are being checked."""
    return change(store, study, one, lambda known: replace(known, checking_at=stamp(now)))


def refuse(store: Store, study: Study, one: Submission, reason: str, now: datetime) -> Submission:
    """Note why a submission is refused; the first reason stays."""
    if len(reason) > _LONGEST_REASON:
        reason = f"{reason[: _LONGEST_REASON - 1]}…"

    def rule(known: Submission) -> Submission | None:
        if known.refused_at or known.joined_at or known.withdrawn_at:
            return None
        return replace(known, refused_at=stamp(now), reason=reason)

    return change(store, study, one, rule)


def joined(store: Store, study: Study, one: Submission, notes: Sequence[str], now: datetime) -> Submission:
    """Note that the model of a submission is in the study."""

    def rule(known: Submission) -> Submission | None:
        return None if known.joined_at else replace(known, joined_at=stamp(now), notes=tuple(notes))

    return change(store, study, one, rule)


def withdraw(store: Store, study: Study, one: Submission, now: datetime) -> Submission:
    """Note that a submission is withdrawn; again, it changes nothing.

    Raises:
        Conflict: `already_judged`, its check was begun in the meantime, after which a model cannot be taken
            out of a study whose sessions show several.
    """

    def rule(known: Submission) -> Submission | None:
        if known.withdrawn_at or known.refused_at:
            return None
        if study.is_mixed and (known.checking_at, known.joined_at) != (one.checking_at, one.joined_at):
            raise Conflict(
                f"the pictures of {one.model} are being checked by now, and it can no longer be taken out",
                code="already_judged",
            )
        return replace(known, withdrawn_at=stamp(now))

    return change(store, study, one, rule)


def _holds_name(store: Store, study: Study, submission_id: str) -> bool:
    try:
        _, holder = submission(store, submission_id, None)
    except NotFound:
        return False
    return holder.study == study.name and holder.holds_name


def _changed(
    store: Store,
    study: Study,
    member: str,
    rule: Callable[[Sequence[Submission]], Sequence[Submission] | None],
) -> tuple[Submission, ...]:
    def of_data(data: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        after = rule(_submissions(study, member, data))
        if after is None:
            return None
        return {"created_at": study.created_at, "submissions": [_plain(one) for one in after]}

    busy = "your submissions are being changed from several programs at once"
    entry = update(store, submissions_of(study.name), member, of_data, busy)
    return _submissions(study, member, entry.data if entry else None)


def _submission_of(own: Sequence[Submission], submission_id: str) -> Submission:
    for each in own:
        if each.id == submission_id:
            return each
    raise _unknown(submission_id)


def _plain(one: Submission) -> dict[str, Any]:
    """Return what is stored of a submission: what happened, without what follows from where it is stored."""
    facts = {name: value for name, value in asdict(one).items() if value or name == "sent"}
    return {name: value for name, value in facts.items() if name not in ("study", "member")}


def _submissions(study: Study, member: str, data: Mapping[str, Any] | None) -> tuple[Submission, ...]:
    if data is None or data["created_at"] != study.created_at:
        return ()
    return tuple(
        Submission(**{**facts, "notes": tuple(facts.get("notes", ()))}, study=study.name, member=member)
        for facts in data["submissions"]
    )


def _id(key: bytes, study: Study, member: str, model: str, digest: str) -> str:
    said = json.dumps(["submission", study.name, study.created_at, member, model, digest])
    return hmac.digest(key, said.encode(), sha256).hex()[:24]


def _unknown(submission_id: str) -> NotFound:
    return NotFound(f"there is no submission {submission_id!r}", code="unknown_submission")
