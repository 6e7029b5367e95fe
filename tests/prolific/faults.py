"""What goes wrong between a caller and the fake: connections that drop, and answers of another kind."""

import re
from dataclasses import dataclass

BEFORE, AFTER, UNREACHED = "before", "after", "unreached"


@dataclass
class Fault:
    """What goes wrong with calls that fit, after `skip` of them went well, `times` times."""

    method: str
    path: str
    how: str | int
    """`unreached`: no connection is made; `before` or `after`: it drops before or after the call is handled;
    or a status."""
    skip: int = 0
    times: int = 1
    delay_s: float = 0.0
    headers: tuple = ()
    handles: bool = False
    """Whether the call is handled although the reply is the status given."""

    @property
    def is_handled(self):
        return self.how == AFTER or self.handles

    def reply(self):
        error = {"status": self.how, "error_code": 140000, "title": "Out of order", "detail": "Out of order"}
        return self.how, {"error": error}, self.headers


class Faults:
    """Faults to come, and the calls that were made."""

    def __init__(self, lock):
        self._lock = lock
        self.planned, self.calls, self.weather = [], [], None
        """`weather`: called with each (method, path), returns a Fault or None."""

    def add(self, method, path, how, **options):
        with self._lock:
            self.planned.append(Fault(method, path, how, **options))

    def clear(self):
        with self._lock:
            self.planned.clear()
            self.weather = None

    def meet(self, method, path):
        """Return the fault that a call meets, or None."""
        with self._lock:
            self.calls.append(f"{method} {path}")
            for fault in self.planned:
                if fault.method == method and re.search(fault.path, path) and fault.times > 0:
                    if fault.skip > 0:
                        fault.skip -= 1
                        return None
                    fault.times -= 1
                    return fault
            return self.weather(method, path) if self.weather else None
