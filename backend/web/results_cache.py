"""What was computed last for each study, kept while nothing has changed."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Kept:
    """The newest value of each key; the keys used last are kept."""

    def __init__(self, most: int = 8):
        self._most = most
        self._values: OrderedDict[Hashable, tuple[str, Any]] = OrderedDict()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: str, make: Callable[[], Any]) -> Any:
        """Return the value of `key` at `version`, made at most once even when many ask together."""
        with self._lock:
            mine = self._locks.setdefault(key, threading.Lock())
        with mine:
            with self._lock:
                kept = self._values.get(key)
            value = kept[1] if kept and kept[0] == version else make()
            with self._lock:
                self._values[key] = (version, value)
                self._values.move_to_end(key)
                while len(self._values) > self._most:
                    gone, _ = self._values.popitem(last=False)
                    self._locks.pop(gone, None)
            return value
