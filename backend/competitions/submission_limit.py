"""The limit of submissions: how many of a submitter's models are judged within some days.

A submission counts from when its pictures are here; before that, for a day, so that nobody can begin more
than are left. One that is refused, that fails, or that is withdrawn before it joined the study, costs none.
Who sends the pictures of one again whose check failed begins a try then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from backend.competitions.terms import Limit
from backend.foundation.errors import Conflict
from backend.foundation.timestamps import readable, stamp

_AWAITED_FOR = timedelta(days=1)


class Counted(Protocol):
    """What the limit needs to know of a submission."""

    @property
    def id(self) -> str: ...
    @property
    def created_at(self) -> str: ...
    @property
    def pictures_at(self) -> str: ...
    @property
    def is_try(self) -> bool: ...


@dataclass(frozen=True)
class Tries:
    """What is used of a limit."""

    used: int
    left: int
    next_at: str | None
    """When another one is free, if none is left now."""


def tries_of(own: Sequence[Counted], limit: Limit, now: datetime) -> Tries:
    """Return what is used of a limit by a submitter's submissions, given without those that failed."""
    ends = sorted(end for one in own if one.is_try and (end := _counts_until(one, limit)) > now)
    left = max(limit.count - len(ends), 0)
    return Tries(len(ends), left, None if left else stamp(ends[len(ends) - limit.count]))


def _counts_until(one: Counted, limit: Limit) -> datetime:
    """Return until when a submission counts, unless its pictures come before that."""
    if one.pictures_at:
        return datetime.fromisoformat(one.pictures_at) + timedelta(days=limit.days)
    return datetime.fromisoformat(one.created_at) + _AWAITED_FOR


def check_limit(own: Sequence[Counted], limit: Limit | None, now: datetime) -> None:
    """Raise Conflict (`limit_reached`) if a submitter has no try left; `own` as for `tries_of`."""
    if limit is None:
        return
    tries = tries_of(own, limit, now)
    if tries.left == 0 and tries.next_at:
        raise Conflict(
            f"{limit.count} of your models can be judged in {limit.days} days, and {tries.used} are; the "
            f"next one from {readable(tries.next_at)}",
            code="limit_reached",
        )


def numbers_of(own: Sequence[Counted]) -> dict[str, int]:
    """Return which try each submission is, from 1, by its id; without those that cost none."""
    counted = sorted((each for each in own if each.is_try), key=lambda each: each.created_at)
    return {each.id: number for number, each in enumerate(counted, 1)}
