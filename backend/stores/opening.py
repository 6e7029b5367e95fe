"""Opening a store by its URL: SQLite on one machine, DynamoDB on AWS."""

from pathlib import Path

from backend.foundation.errors import InvalidInput
from backend.stores.store import Store


def is_there(url: str, data: Path) -> bool:
    """Return whether a store may exist at `url`: for SQLite, whether its file exists."""
    path = sqlite_path(url, data)
    return path is None or path.exists()


def open_store(url: str, data: Path) -> Store:
    """Open the store at `url`; a relative `sqlite:///` path is relative to the data directory.

    `dynamodb://TABLE` takes the options `region`, `endpoint` (an emulator) and `expire_days` after a
    question mark.

    Raises:
        InvalidInput: the URL names no known kind of store.
    """
    if url.startswith("dynamodb://"):
        from backend.stores.dynamodb.store import DynamoStore

        return DynamoStore.open(url)
    path = sqlite_path(url, data)
    if path is None:
        raise InvalidInput(
            "a store's URL must be of the form sqlite:///openhype.db or dynamodb://TABLE?region=REGION, "
            f"not {url!r}"
        )
    from backend.stores.sqlite import SqliteStore

    return SqliteStore(path)


def sqlite_path(url: str, data: Path) -> Path | None:
    """Return the file of the database at `url`, or None if the URL is not that of a file."""
    prefix = "sqlite:///"
    return data / url.removeprefix(prefix) if url.startswith(prefix) and url != prefix else None
