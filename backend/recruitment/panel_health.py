"""Whether the panel can be read and written, recorded in the store for every reader.

While it cannot, returned places are not noticed, nobody is reported as done, and newcomers cannot be
checked. Sessions that are open or finished are not affected.
"""

import logging
from dataclasses import asdict, replace

from backend.foundation.frozen import dataclass
from backend.foundation.timestamps import readable
from backend.panels.api import TokenRefused
from backend.stores.store import Store
from backend.stores.updates import update

_BOOK = "panel health"
log = logging.getLogger("openhype")


@dataclass(frozen=True)
class Health:
    """The state of a study's panel; times are UTC, ISO 8601, '' for never."""

    read_at: str = ""
    """Approximate time of the last successful read; anything later at the panel is unknown."""
    failing_since: str = ""
    is_refused: bool = False
    """Whether it refuses the token, so that only another token helps."""
    reason: str = ""
    told_at: str = ""
    """When this was last logged."""

    @property
    def warning(self) -> str:
        """The warning for a researcher; '' if all is well."""
        if not self.failing_since:
            return ""
        since = readable(self.failing_since)
        last = f"; it was last read at {readable(self.read_at)}" if self.read_at else ""
        if self.is_refused:
            return (
                f"Prolific refuses the token since {since}{last}: returned submissions go unnoticed, "
                "nobody is reported as done or paid, and nobody new is admitted; put a valid token into "
                "PROLIFIC_TOKEN, or the file that PROLIFIC_TOKEN_FILE names, and start `openhype serve` again"
            )
        return (
            f"Prolific could not be read since {since}{last}: returned submissions go unnoticed, and "
            f"nobody is reported as done; retrying ({self.reason})"
        )


def health(store: Store, study: str) -> Health:
    entry = store.entry(_BOOK, study)
    return Health(**entry.data) if entry else Health()


def succeeded(store: Store, study: str, at: str) -> None:
    """Record a successful read of the panel, at most once a minute."""
    before = health(store, study)
    if before.failing_since:
        log.warning("the panel of %s can be read again", study)
    if before.failing_since or before.read_at[:_MINUTE] != at[:_MINUTE]:
        _write(store, study, Health(read_at=at))


def failed(store: Store, study: str, error: Exception, at: str) -> None:
    """Record that the panel could not be read, and log it, as an error if it refuses the token.

    Logged at once, and again every hour.
    """
    before, is_refused = health(store, study), isinstance(error, TokenRefused)
    after = replace(
        before, failing_since=before.failing_since or at, is_refused=is_refused, reason=str(error), told_at=at
    )
    is_known = (before.failing_since, before.is_refused) == (after.failing_since, is_refused)
    if is_known and before.told_at[:_HOUR] == at[:_HOUR]:
        return
    log.log(logging.ERROR if is_refused else logging.WARNING, "%s: %s", study, after.warning)
    _write(store, study, after)


_MINUTE, _HOUR = len("2026-01-01T00:00"), len("2026-01-01T00")


def _write(store: Store, study: str, after: Health) -> None:
    update(store, _BOOK, study, lambda _: asdict(after))
