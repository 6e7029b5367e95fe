"""Results that are computed once for all who ask, until their study changes."""

from collections.abc import Callable, Hashable
from threading import Condition
from typing import Any


def results_cache(size: int, weight: Callable[[Any], int] | None = None):
    """Return `get(key, make)`: what `make` returned for a key, computed once though many ask at once.

    The least recently used results are evicted. A key names a study and all that its result follows from.

    Args:
        size: how many results are kept; with `weight`, how much all of them may weigh.
        weight: what a result weighs, such as its bytes; one that weighs more than `size` is not kept.
    """
    from cachetools import LRUCache, cached  # not where evaluators' requests are answered alone

    @cached(LRUCache(size, weight), key=lambda key, make: key, condition=Condition())
    def get(key: Hashable, make: Callable[[], Any]) -> Any:
        return make()

    return get
