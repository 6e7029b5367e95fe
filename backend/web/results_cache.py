"""A cache of computed results for each study, valid while nothing has changed."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class ResultsCache:
    """The latest value of each key; the least recently used keys are evicted."""

    def __init__(self, most: int = 8):
        self._most = most
        self._values: OrderedDict[Hashable, tuple[str, Any]] = OrderedDict()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: str, make: Callable[[], Any]) -> Any:
        """Return the value of `key` at `version`, computed at most once even with concurrent callers."""
        with self._lock:
            key_lock = self._locks.setdefault(key, threading.Lock())
        with key_lock:
            with self._lock:
                cached = self._values.get(key)
            value = cached[1] if cached and cached[0] == version else make()
            with self._lock:
                self._values[key] = (version, value)
                self._values.move_to_end(key)
                while len(self._values) > self._most:
                    evicted, _ = self._values.popitem(last=False)
                    self._locks.pop(evicted, None)
            return value
