"""A cache of limited size that drops the oldest values first."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """The values stored last, by session or another key. Safe to use from many threads."""

    def __init__(self, size: int):
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str) -> T | None:
        with self._lock:
            return self._kept.get(key)

    def put(self, key: str, value: T) -> None:
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def drop(self, key: str) -> None:
        with self._lock:
            self._kept.pop(key, None)
