"""Where the pages of a store are served, as the data directory knows it.

A server writes its address there while it runs, and a deployment until it is removed. A deployment also
writes its address into its own table, for other machines.
"""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from backend.stores.datadir import DataDir, replace_private
from backend.stores.store import Store

_FILE = "addresses.json"
_CONNECTED_WITHIN_S = 0.5
_BOOK, _DEPLOYMENT = "service", "deployment"


def write_address(data: DataDir, store_url: str, address: str | None, port: tuple[str, int] | None) -> None:
    """Store the address of a store's pages; None forgets it.

    Args:
        port: where a server of this machine listens, who serves nothing once nobody listens there; None for
            a deployment.
    """
    with data.locked("addresses"):
        addresses = _read(data)
        addresses.pop(store_url, None)
        if address is not None:
            addresses[store_url] = {"address": address, "port": port}
        replace_private(data.root / _FILE, json.dumps(addresses))


@contextmanager
def served(data: DataDir, store_url: str, address: str, port: tuple[str, int]) -> Iterator[None]:
    """Have a store's pages be known to be served at an address, until the end of the block.

    Nothing changes for a store that is deployed: evaluators come by the deployment.
    """
    mine = {"address": address, "port": [*port]}
    if _is_deployed(_read(data).get(store_url)):
        yield
        return
    write_address(data, store_url, address, port)
    try:
        yield
    finally:
        if _read(data).get(store_url) == mine:  # not that of a later server
            write_address(data, store_url, None, None)


def address_of(data: DataDir, store_url: str) -> str | None:
    """Return where a store's pages are served at this moment; None if that is not known."""
    entry = _read(data).get(store_url)
    if entry is None or not (_is_deployed(entry) or _is_listening(*entry["port"])):
        return None
    return str(entry["address"])


def note_deployment(store: Store, address: str | None) -> None:
    """Store in a table where its deployment serves the pages; None forgets it."""
    entry = store.entry(_BOOK, _DEPLOYMENT)
    if address is None:
        store.erase_entry(_BOOK, _DEPLOYMENT)
    elif entry is None or entry.data["address"] != address:
        store.write_entry(_BOOK, _DEPLOYMENT, entry.version if entry else 0, {"address": address})


def deployed_at(store: Store) -> str | None:
    """Return where the deployment of a table serves the pages; None if it has none."""
    entry = store.entry(_BOOK, _DEPLOYMENT)
    return str(entry.data["address"]) if entry else None


def _is_deployed(entry: Mapping[str, Any] | None) -> bool:
    return entry is not None and entry["port"] is None


def _read(data: DataDir) -> dict[str, Any]:
    path: Path = data.root / _FILE
    with suppress(OSError, ValueError):
        addresses: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return addresses
    return {}


def _is_listening(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), _CONNECTED_WITHIN_S).close()
    except OSError:
        return False
    return True
