"""Whether the panel can be read and told things: kept in the store, so that all who look can be told.

While it cannot, places that are returned are not seen, nobody is reported as done, and newcomers cannot be
checked. Sessions that are open or finished are left alone.
"""

import logging
from dataclasses import asdict, dataclass, replace

from backend.foundation.timestamps import readable
from backend.panels.api import TokenRefused
from backend.stores.store import Store
from backend.stores.updates import update

_BOOK = "panel health"
log = logging.getLogger("openhype")


@dataclass(frozen=True)
class Health:
    """What is known of the panel of a study; times UTC, ISO 8601, '' where it never was so."""

    read_at: str = ""
    """When it was last read well, about; from then on what it says is not known."""
    failing_since: str = ""
    is_refused: bool = False
    """Whether it refuses the token, so that nothing helps but another one."""
    reason: str = ""
    told_at: str = ""
    """When the log last said so."""

    @property
    def warning(self) -> str:
        """What to tell a researcher; '' where all is well."""
        if not self.failing_since:
            return ""
        since = readable(self.failing_since)
        last = f"; it was last read at {readable(self.read_at)}" if self.read_at else ""
        if self.is_refused:
            return (
                f"Prolific refuses the token since {since}{last}: returned places are not seen, "
                "nobody is reported as done or paid, and nobody new is let in; put a valid token into "
                "PROLIFIC_TOKEN, or the file that PROLIFIC_TOKEN_FILE names, and start `openhype serve` again"
            )
        return (
            f"Prolific could not be read since {since}{last}: returned places are not seen, and "
            f"nobody is reported as done; it is tried again ({self.reason})"
        )


def health(store: Store, study: str) -> Health:
    """Return what is known of the panel that a study recruits from."""
    entry = store.entry(_BOOK, study)
    return Health(**entry.data) if entry else Health()


def succeeded(store: Store, study: str, at: str) -> None:
    """Write down that the panel was read well, once a minute."""
    before = health(store, study)
    if before.failing_since:
        log.warning("the panel of %s can be read again", study)
    if before.failing_since or before.read_at[:_MINUTE] != at[:_MINUTE]:
        _write(store, study, Health(read_at=at))


def failed(store: Store, study: str, error: Exception, at: str) -> None:
    """Write down that the panel could not be read, and say so in the log, loudly where it refuses the token.

    Said at once, and again every hour.
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
