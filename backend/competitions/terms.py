"""The terms on which models are submitted to a leaderboard study: dates, limits, who may, what is
published."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from backend.competitions.protocol_hash import protocol_text
from backend.experiment.judgments import judgment_of
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.timestamps import readable, stamp, utc_now
from backend.stores.replaced_values import check_replaced
from backend.stores.store import Store, study_if_any
from backend.stores.updates import update
from backend.studies.competition_books import COMPETITIONS

ALL = "all"
_LONGEST_TITLE, _LONGEST_ABOUT, _MOST_SUBMITTERS = 200, 5000, 1000
_MOST_COUNT, _MOST_DAYS = 1000, 3660
_MOST_CHANGES = 50


@dataclass(frozen=True)
class Limit:
    """How many models a submitter may have judged."""

    count: int
    days: int
    """Within any period of so many days."""


@dataclass(frozen=True)
class Terms:
    """The terms of a leaderboard study. Times are UTC, ISO 8601; None for no limit."""

    title: str
    about: str = ""
    """Text for visitors; paragraphs are separated by empty lines."""
    opens_at: str | None = None
    closes_at: str | None = None
    embargo_until: str | None = None
    """Before this nothing is published of any model."""
    limit: Limit | None = None
    counts: Literal["best", "last"] = "best"
    """Which model of a submitter stands in the published table."""
    submitters: str | tuple[str, ...] = ALL
    """`all`, or the names of the members who may submit."""
    published: bool = False
    """Whether anyone may see the page of the competition."""


@dataclass(frozen=True)
class CompetitionRecord:
    """The record of a leaderboard study."""

    study: str
    created_at: str
    """That of its study: a later study of the same name does not inherit it."""
    terms: Terms
    since: str
    """When it became a leaderboard study."""
    changes: tuple[Mapping[str, Any], ...] = ()
    """What was changed later: `at` and the names of the changed terms, `terms`."""
    protocol: str = ""
    """The text of the study's protocol (`protocol_hash`)."""
    settings_id: str = ""
    """The version of the study's settings that the text is of."""

    def is_under_embargo(self, now: datetime) -> bool:
        """Return whether nothing of any model may be published yet."""
        return self.terms.embargo_until is not None and stamp(now) < self.terms.embargo_until

    def admits(self, member: str) -> bool:
        submitters = self.terms.submitters
        return submitters == ALL or member.lower() in {each.lower() for each in submitters}


def set_terms(
    store: Store, study: Study, terms: Terms, now: datetime, replaces: Terms | Literal["none", ""] = ""
) -> CompetitionRecord:
    """Make a study a leaderboard study, or change its terms; return the record.

    Args:
        replaces: the terms that are replaced, `none` if there were none; "" for whichever.

    Raises:
        InvalidInput: no model can join the study, or the terms are not valid.
        Conflict: `changed`: the terms are others by now.
    """
    if problem := judgment_of(study.protocol.method).join_problem(study):
        raise InvalidInput(f"{study.name} cannot be a leaderboard study: it {problem}")
    checked = _checked(terms)
    at = stamp(now)
    protocol = protocol_text(store, study)

    def rule(data: Mapping[str, Any] | None) -> Mapping[str, Any]:
        before = _record(study.name, data) if data and data["created_at"] == study.created_at else None
        if before is None or before.terms != checked:
            _check_replaced(replaces, before)
        if before is None:
            return _data(
                CompetitionRecord(study.name, study.created_at, checked, at, (), protocol, study.settings_id)
            )
        if before.settings_id != study.settings_id:
            before = replace(before, protocol=protocol, settings_id=study.settings_id)
        changed = [name for name, value in vars(checked).items() if value != getattr(before.terms, name)]
        changes = (*before.changes, {"at": at, "terms": changed})[-_MOST_CHANGES:]
        return _data(replace(before, terms=checked, changes=changes if changed else before.changes))

    update(store, COMPETITIONS, study.name, rule)
    return competition_of(store, study)


def _check_replaced(replaces: Terms | Literal["none", ""], before: CompetitionRecord | None) -> None:
    if replaces:
        shown = {"terms": "none"} if isinstance(replaces, str) else plain_terms(_checked(replaces))
        now = {"terms": before.terms.title, **plain_terms(before.terms)} if before else {"terms": "none"}
        check_replaced(shown, now)


def competition_of(store: Store, study: Study) -> CompetitionRecord:
    """Return the record of a leaderboard study.

    Raises:
        NotFound: the study is none.
    """
    entry = store.entry(COMPETITIONS, study.name)
    if entry is None or entry.data["created_at"] != study.created_at:
        raise NotFound(
            f"{study.name} takes no models in; `openhype competition {study.name}` makes it a leaderboard "
            "study",
            code="no_competition",
        )
    record = _record(study.name, entry.data)
    return (
        record
        if record.settings_id == study.settings_id
        else set_terms(store, study, record.terms, utc_now())
    )


def all_competitions(store: Store) -> list[tuple[Study, CompetitionRecord]]:
    """Return all leaderboard studies in the order of their names."""
    records = []
    for entry in store.entries(COMPETITIONS):
        study = study_if_any(store, entry.key)
        if study and entry.data["created_at"] == study.created_at:
            records.append((study, _record(entry.key, entry.data)))
    return records


def check_open(terms: Terms, now: datetime) -> None:
    """Raise Conflict (`not_open`) unless models may be submitted now."""
    at = stamp(now)
    if terms.opens_at and at < terms.opens_at:
        raise Conflict(f"submissions open on {readable(terms.opens_at)}; submit then", code="not_open")
    if terms.closes_at and at >= terms.closes_at:
        raise Conflict(f"submissions closed on {readable(terms.closes_at)}", code="not_open")


def _checked(terms: Terms) -> Terms:
    _check_text("title", terms.title, _LONGEST_TITLE, "")
    if not terms.title.strip():
        raise InvalidInput("title must say what the study is about, and is empty")
    _check_text("about", terms.about, _LONGEST_ABOUT, "\n")
    if terms.counts not in ("best", "last"):
        raise InvalidInput(f"counts must be 'best' or 'last', not {terms.counts!r}")
    if terms.limit and not (1 <= terms.limit.count <= _MOST_COUNT and 1 <= terms.limit.days <= _MOST_DAYS):
        raise InvalidInput(
            f"limit must be a count from 1 to {_MOST_COUNT} in 1 to {_MOST_DAYS} days, not "
            f"{terms.limit.count} in {terms.limit.days}"
        )
    if isinstance(terms.submitters, str) and terms.submitters != ALL:
        raise InvalidInput(f"submitters must be 'all' or a list of members, not {terms.submitters!r}")
    if len(terms.submitters) > _MOST_SUBMITTERS:
        raise InvalidInput(f"submitters may be at most {_MOST_SUBMITTERS} members; use 'all' for more")
    opens, closes = _time("opens_at", terms.opens_at), _time("closes_at", terms.closes_at)
    embargo = _time("embargo_until", terms.embargo_until)
    if opens and closes and closes <= opens:
        raise InvalidInput(f"closes_at must be after opens_at, and {closes} is not after {opens}")
    return replace(terms, opens_at=opens, closes_at=closes, embargo_until=embargo)


def _check_text(name: str, text: str, longest: int, allowed: str) -> None:
    if len(text) > longest:
        raise InvalidInput(f"{name} must be at most {longest:,} characters long, not {len(text):,}")
    if not all(each.isprintable() or each in allowed for each in text):
        raise InvalidInput(f"{name} must be text without control characters")


def _time(name: str, text: str | None) -> str | None:
    """Return a time, given with its offset or as a day, as it is stored."""
    if text is None or text == "":
        return None
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None and len(text) == len("2026-01-31"):
            time = time.replace(tzinfo=UTC)
        if time.tzinfo is None:
            raise ValueError
        return stamp(time.astimezone(UTC))
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name} must be a day such as 2026-01-31, or a time with its offset such as "
            f"2026-01-31T12:00:00Z, not {text!r}"
        ) from None


def _data(record: CompetitionRecord) -> dict[str, Any]:
    return {
        "created_at": record.created_at,
        "since": record.since,
        "terms": plain_terms(record.terms),
        "changes": [dict(change) for change in record.changes],
        "protocol": record.protocol,
        "settings_id": record.settings_id,
    }


def plain_terms(terms: Terms) -> dict[str, Any]:
    submitters = terms.submitters
    return {**asdict(terms), "submitters": submitters if isinstance(submitters, str) else [*submitters]}


def _record(study: str, data: Mapping[str, Any]) -> CompetitionRecord:
    terms = dict(data["terms"])
    submitters, limit = terms["submitters"], terms["limit"]
    terms["submitters"] = submitters if isinstance(submitters, str) else tuple(submitters)
    terms["limit"] = Limit(**limit) if limit else None
    return CompetitionRecord(
        study,
        data["created_at"],
        Terms(**terms),
        data["since"],
        tuple(data["changes"]),
        data["protocol"],
        data["settings_id"],
    )
