"""When a request that failed is sent again: after how long, and until when.

Waits grow by doubling and are drawn at random below their bound ("full jitter", Brooker, 2015, AWS
Architecture Blog: Exponential Backoff And Jitter), so that many clients do not return at the same moment.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LONGEST_STATED_S = 3600.0


@dataclass(frozen=True)
class Retries:
    """How long and how often a request that may be repeated is sent again. Times in seconds."""

    patience_s: float = 180.0
    """From the first failure on; a server that starts again is back by then."""
    first_s: float = 0.5
    longest_s: float = 20.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random
    """Returns a number from 0 to below 1."""

    def pause_s(self, attempt: int, began: float, stated_s: float | None) -> float | None:
        """Return the wait before the attempt after `attempt` (0 is the first); None if patience is over.

        Args:
            began: when the first attempt failed, by the clock.
            stated_s: the wait that the server asked for; None if it named none.
        """
        bound = min(self.longest_s, self.first_s * 2 ** min(attempt, 30))
        pause = self.draw() * bound + self.first_s / 10
        if stated_s is not None:
            pause += min(stated_s, _LONGEST_STATED_S)
        return pause if self.clock() - began + pause <= self.patience_s else None


def stated_wait_s(header: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds of a header Retry-After, which has seconds or a date; None if it has neither."""
    if not header:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
