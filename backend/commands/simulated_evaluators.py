"""Simulated evaluators at a server of their own, or at a running one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from backend.administration import simulated_evaluators
from backend.administration.killed_simulations import simulating
from backend.administration.simulated_sessions import Client, Refused
from backend.stores.datadir import DataDir
from backend.stores.store import Store

__all__ = ["Client", "Refused", "simulate"]


def simulate(
    store: Store,
    data: DataDir,
    name: str,
    observers: Mapping[str, str],
    *,
    url: str | None = None,
    **options: Any,
) -> int:
    """Run simulated evaluators through a study; return how many finished.

    Args:
        url: address of a running server; None for one of its own, over this store.
        options: as for `administration.simulated_evaluators.simulate`, whose errors it raises.
    """
    with _server(store, data, url) as (base, key), simulating(store, data, name):
        return simulated_evaluators.simulate(store, name, observers, url=base, key=key, **options)


@contextmanager
def _server(store: Store, data: DataDir, url: str | None) -> Iterator[tuple[str, str]]:
    """Yield the address of a server and its researcher's key."""
    if url is not None:
        yield url, data.researcher_key()
        return
    from backend.handlers import create_app
    from backend.web.server import in_background

    keys = data.keys()
    with in_background(create_app(store, data, keys)) as base:
        yield base, keys.researcher
