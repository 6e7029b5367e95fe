"""A store whose process is killed: from some write on nothing is done any more."""

from collections.abc import Iterator

WRITES = {
    "add_session", "change_study", "claim", "erase_entry", "erase_session", "move", "redact_session",
    "remove_study", "write_entry",
}  # fmt: skip


class Killed(BaseException):
    """The process is dead; nothing catches this but the test."""


class Dying:
    """A store that does so many writes, and is dead from the next one on."""

    def __init__(self, store, writes):
        self._store, self._left = store, writes

    def __getattr__(self, name):
        found = getattr(self._store, name)
        return self._counted(found) if name in WRITES else found

    def _counted(self, write):
        def done(*arguments, **options):
            if self._left <= 0:
                raise Killed
            self._left -= 1
            return write(*arguments, **options)

        return done


class Steps:
    """Kills a process before one of its steps: its store's writes, and its calls of a panel."""

    def __init__(self, left):
        self.left = left

    def of(self, inner, names):
        return Stepping(inner, names, self)


class Stepping:
    """A store or a panel, some of whose calls are steps."""

    def __init__(self, inner, names, steps):
        self._inner, self._names, self._steps = inner, names, steps

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        return self._step(found) if name in self._names else found

    def _step(self, call):
        def done(*arguments, **options):
            if self._steps.left <= 0:
                raise Killed
            self._steps.left -= 1
            found = call(*arguments, **options)
            return list(found) if isinstance(found, Iterator) else found

        return done


def killed_at_each_step(store, panel, calls, run):
    """Yield after each kill: `run(store, panel)` killed before its first step, its second, until its end."""
    count = 0
    while True:
        steps = Steps(count)
        try:
            run(steps.of(store, WRITES), steps.of(panel, calls))
        except Killed:
            yield count
            count += 1
        else:
            return


def killed_at_each_write(store, run):
    """Yield after each kill: `run(store)` with no write, with one, with two, until it comes to its end."""
    writes = 0
    while True:
        try:
            run(Dying(store, writes))
        except Killed:
            yield writes
            writes += 1
        else:
            return
