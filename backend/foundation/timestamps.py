"""Times as they are stored."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def readable(at: str) -> str:
    """Return a time as it is stored for a person to read, to the minute: 2026-01-31 09:05 UTC."""
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def stamp(at: datetime) -> str:
    """Return a time as it is stored: UTC, ISO 8601, milliseconds; later times sort later."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
