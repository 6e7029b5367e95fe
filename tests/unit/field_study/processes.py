"""Processes that may be killed at any step of theirs, and during which others run."""


class Killed(BaseException):
    """The process is gone: nothing of it runs on."""


CALLS = {
    "entry", "entries", "sessions", "write_entry", "move", "submissions", "submission", "approve", "complete",
    "create", "change", "revise", "set_places", "propose_bonuses", "pay_bonuses", "cost", "balance", "state",
    "restore", "claim",
}  # fmt: skip
_LISTS = ("entries", "sessions", "submissions")


class Mortal:
    """A store or panel around whose calls the process may end."""

    def __init__(self, inner, fate):
        self._inner, self._fate = inner, fate

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if name not in CALLS:
            return found

        def met(*arguments, **options):
            self._fate.meet()
            result = found(*arguments, **options)
            if name in _LISTS:
                result = list(result)
            self._fate.meet()
            return result

        return met


class Fate:
    """Ends a process after a number of steps, and has something happen after some; None does neither."""

    def __init__(self, left, meanwhile=None, event=None):
        self._left, self._meanwhile, self._event = left, meanwhile, event

    def meet(self):
        if self._meanwhile is not None:
            self._meanwhile -= 1
            if self._meanwhile < 0:
                self._meanwhile = None
                self._event()
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Killed
