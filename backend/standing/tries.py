"""The limit of submissions: how many of a submitter's models are judged within some days.

A submission counts from when its pictures are here; before that, for a day, so that nobody can begin more
than are left. One that is refused, that fails, or that is withdrawn before it joined the study, costs none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from backend.foundation.errors import Conflict
from backend.foundation.timestamps import readable, stamp
from backend.standing.terms import Limit

_AWAITED_FOR = timedelta(days=1)


class Counted(Protocol):
    """What the limit needs to know of a submission."""

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
    """Return what is used of a limit by a submitter's submissions."""
    since, awaited_since = stamp(now - timedelta(days=limit.days)), stamp(now - _AWAITED_FOR)
    times = sorted(
        one.pictures_at or one.created_at
        for one in own
        if one.is_try and (one.pictures_at > since if one.pictures_at else one.created_at > awaited_since)
    )
    left = max(limit.count - len(times), 0)
    if left:
        return Tries(len(times), left, None)
    ends = datetime.fromisoformat(times[len(times) - limit.count]) + timedelta(days=limit.days)
    return Tries(len(times), 0, stamp(ends))


def check_limit(own: Sequence[Counted], limit: Limit | None, now: datetime) -> None:
    """Raise Conflict (`limit_reached`) if a submitter has no try left."""
    if limit is None:
        return
    tries = tries_of(own, limit, now)
    if tries.left == 0 and tries.next_at:
        raise Conflict(
            f"{limit.count} of your models can be judged in {limit.days} days, and {tries.used} are; the "
            f"next one from {readable(tries.next_at)}",
            code="limit_reached",
        )


def number_of(own: Sequence[Counted], one: Counted) -> int | None:
    """Return which try a submission is, from 1; None if it costs none."""
    counted = sorted((each for each in own if each.is_try), key=lambda each: each.created_at)
    return counted.index(one) + 1 if one in counted else None
