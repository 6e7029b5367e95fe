"""Paid waiting: which time on the waiting page counts, and what is owed for it.

Qualified people wait on a page and are called when a study starts, so that responses arrive within
minutes (Bernstein et al., 2011, on retainers). An interval counts if the page was visible at both ends,
the ends are not far apart, the person has recently confirmed their presence, and had not been told before
that there is nothing to wait for. Times are seconds of the epoch.
"""

import dataclasses
from math import ceil

from backend.experiment.protocol import Protocol
from backend.foundation.frozen import dataclass

BEAT_SECONDS = 10
"""Interval between the page's heartbeats."""
_LONGEST_GAP_SECONDS = 45
_ASK_AFTER_SECONDS = 300
_GRACE_SECONDS = 60


@dataclass(frozen=True)
class Wait:
    """One person's wait for a study."""

    evaluator: str
    """A random pseudonym, used for this wait only."""
    qualified_by: str
    """The session in which the qualification was passed."""
    panel: dict[str, str]
    secret_hash: str
    seen_at: float
    confirmed_at: float
    was_visible: bool = True
    was_in_vain: bool = False
    """Whether the person was told last that the study is open, or complete."""
    seconds: float = 0.0
    """Counted so far."""
    minutes: int = 0
    """Owed so far: granted from the study's budget."""


def beat(wait: Wait, at: float, is_visible: bool, is_here: bool, is_in_vain: bool = False) -> Wait:
    """Return the wait after a heartbeat.

    Args:
        is_here: the person answered “still here?”.
        is_in_vain: there is nothing to wait for any more, as the answer to this heartbeat says.
    """
    gap = at - wait.seen_at
    counts = is_visible and wait.was_visible and not wait.was_in_vain and gap <= _LONGEST_GAP_SECONDS
    counts = counts and at - wait.confirmed_at <= _ASK_AFTER_SECONDS + _GRACE_SECONDS
    return dataclasses.replace(
        wait,
        seen_at=max(at, wait.seen_at),
        confirmed_at=at if is_here else wait.confirmed_at,
        was_visible=is_visible,
        was_in_vain=is_in_vain,
        seconds=wait.seconds + max(gap, 0) * counts,
    )


def asks(wait: Wait, at: float) -> bool:
    """Return whether to ask the person whether they are still there."""
    return at - wait.confirmed_at >= _ASK_AFTER_SECONDS


def minutes_due(wait: Wait, protocol: Protocol) -> int:
    """Return how many more minutes are owed; a started minute is paid."""
    return max(min(ceil(wait.seconds / 60), protocol.pay.retainer_minutes) - wait.minutes, 0)


def minutes_in_budget(protocol: Protocol) -> int:
    """Return how many minutes of waiting the study's budget covers in total."""
    price = protocol.pay.retainer_usd_cents
    return protocol.pay.retainer_budget_usd_cents // price if price else 0


def is_waiting(wait: Wait, at: float) -> bool:
    """Return whether the person's page is open and visible, as far as is known."""
    return wait.was_visible and at - wait.seen_at <= _LONGEST_GAP_SECONDS
