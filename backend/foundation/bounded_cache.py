"""A cache of limited size that drops the oldest values first."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """The values stored last, by session or another key. Safe to use from many threads.

    Args:
        size: how many values are kept; with `weight`, how much all of them may weigh. The value stored last
            is kept in any case.
        weight: what a value weighs, for example its bytes in memory; may not change while it is kept.
    """

    def __init__(self, size: int, weight: Callable[[T], int] = lambda _: 1):
        self._size, self._weight = size, weight
        self._total = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str) -> T | None:
        with self._lock:
            return self._values.get(key)

    def put(self, key: str, value: T) -> None:
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._total += self._weight(value)
            while self._total > self._size and len(self._values) > 1:
                _, oldest = self._values.popitem(last=False)
                self._total -= self._weight(oldest)

    def drop(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def _drop(self, key: str) -> None:
        if key in self._values:
            self._total -= self._weight(self._values.pop(key))
