"""The books of leaderboard studies, whose rules are in `backend/competitions/`; here for copies and
deletion."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from backend.experiment.records import Study
from backend.stores.store import Store
from backend.stores.updates import update

COMPETITIONS = "competitions"
"""The book of the terms on which models are submitted, by study."""
SUBMISSION_IDS = "submission_ids"
"""The book of whose and of which study a submission is, by its id."""
TABLES = "competition_tables"
"""The book of published tables, by study."""


def submissions_of(study: str) -> str:
    """Return the book of a study's submissions, one entry for each member."""
    return f"submissions {study}"


def names_of(study: str) -> str:
    """Return the book of which submission has a name of a model, by the name in lower case."""
    return f"submission_names {study}"


def copy(source: Store, target: Store, study: Study) -> None:
    """Copy the terms and submissions of a study, unless those of the target have got further.

    Tables are not copied, since they are made from the responses; pictures that were sent and wait to be
    checked are in no store.
    """
    terms = source.entry(COMPETITIONS, study.name)
    if terms is None or terms.data["created_at"] != study.created_at:
        return
    for entry in source.entries(submissions_of(study.name)):
        if entry.data["created_at"] != study.created_at:
            continue
        for one in entry.data["submissions"]:
            record = {"study": study.name, "member": entry.key}
            update(target, SUBMISSION_IDS, one["id"], partial(_replaced, record))
        update(target, submissions_of(study.name), entry.key, partial(_with, entry.data))
    for entry in source.entries(names_of(study.name)):

        def named(now: Mapping[str, Any] | None, given: Mapping[str, Any] = entry.data) -> Any:
            if now is not None and _is_of(now, given) and not source.entry(SUBMISSION_IDS, now["submission"]):
                return None
            return given

        update(target, names_of(study.name), entry.key, named)
    given_terms = terms.data
    update(
        target,
        COMPETITIONS,
        study.name,
        lambda now: None if _changed_at(now) > _changed_at(given_terms) else given_terms,
    )


def _replaced(given: Mapping[str, Any], _: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return given


def _is_of(now: Mapping[str, Any] | None, given: Mapping[str, Any]) -> bool:
    """Return whether an entry of the target is of the same study as that of the source."""
    return now is not None and now["created_at"] == given["created_at"]


def _changed_at(terms: Mapping[str, Any] | None) -> str:
    if terms is None:
        return ""
    return terms["changes"][-1]["at"] if terms["changes"] else terms["since"]


def _with(given: Mapping[str, Any], now: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return a member's submissions at the target and at the source, each as it is where it got furthest."""
    known = {one["id"]: one for one in now["submissions"]} if now and _is_of(now, given) else {}
    for one in given["submissions"]:
        if one["id"] not in known or _how_far(one) > _how_far(known[one["id"]]):
            known[one["id"]] = one
    return {**given, "submissions": sorted(known.values(), key=lambda one: one["created_at"])}


def _how_far(one: Mapping[str, Any]) -> tuple[int, int, bool]:
    ends = sum(name in one for name in ("refused_at", "joined_at", "withdrawn_at"))
    return ends, one["sent"], "checking_at" in one


def erase(store: Store, study: Study) -> None:
    """Erase the terms, submissions, their names and tables of a study."""
    book = submissions_of(study.name)
    for entry in list(store.entries(book)):
        for submission in entry.data["submissions"]:
            store.erase_entry(SUBMISSION_IDS, submission["id"])
        store.erase_entry(book, entry.key)
    for entry in list(store.entries(names_of(study.name))):
        store.erase_entry(names_of(study.name), entry.key)
    store.erase_entry(TABLES, study.name)
    store.erase_entry(COMPETITIONS, study.name)
