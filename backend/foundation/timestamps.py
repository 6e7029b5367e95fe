"""Timestamps, as stored and as displayed."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    return datetime.now(UTC)


def readable(at: str) -> str:
    """Return a stored timestamp as displayed, to the minute: 2026-01-31 09:05 UTC."""
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def stamp(at: datetime) -> str:
    """Return a time as a stored timestamp: UTC, ISO 8601, milliseconds; later times sort later."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
