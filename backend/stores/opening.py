"""Opening a store by its URL: SQLite on one machine, DynamoDB on AWS."""

from pathlib import Path

from backend.foundation.errors import InvalidInput
from backend.stores.store import Store


def is_there(url: str, data: Path) -> bool:
    """Tell whether a store may be at `url` already: whether its file is there, where it is one."""
    path = sqlite_path(url, data)
    return path is None or path.exists()


def open_store(url: str, data: Path) -> Store:
    """Open the store at `url`; a relative `sqlite:///` path lies in the data directory.

    `dynamodb://TABLE` may name `region`, `endpoint` (an emulator) and `expire_days` after a question mark.

    Raises:
        InvalidInput: the URL names no store that there is.
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
    """Return the file of the database at `url`, or None where the URL names none."""
    prefix = "sqlite:///"
    return data / url.removeprefix(prefix) if url.startswith(prefix) and url != prefix else None
