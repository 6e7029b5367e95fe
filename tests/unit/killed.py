"""A store whose process is killed: from some write on nothing is done any more."""

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
