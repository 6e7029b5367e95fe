"""A process that is killed at one step after another: before it writes, syncs, moves or removes a file."""

import os
import sqlite3
import sys

_STEPS = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate", "os.utime"}
KILLED, ENDED, FAILED = 9, 0, 3


def killed_at_each_step(run, prepare):
    """Yield what `prepare()` returned, after a process that ran `run` of it was killed at one more step.

    That of the run that came to its end is the last.
    """
    step, code = 0, KILLED
    while code == KILLED:
        given = prepare()
        code = _killed(run, given, step)
        assert code in (KILLED, ENDED), (
            f"the process ended with {code} instead of being killed at step {step}"
        )
        yield given
        step += 1


def _killed(run, given, step):
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            _die_at(step)
            run(given)
            code = ENDED
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _die_at(step):
    left = [step]

    def count():
        left[0] -= 1
        if left[0] < 0:
            os._exit(KILLED)

    def audit(event, arguments):
        if event in _STEPS or (event == "open" and _writes(arguments)):
            count()

    os.fsync = lambda descriptor: count()  # what is written survives a kill also without that
    connect = sqlite3.connect
    sqlite3.connect = lambda *given, **more: connect(*given, **{**more, "factory": _counting(count)})
    sys.addaudithook(audit)


def _writes(arguments):
    path, _, flags = arguments
    return isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) and str(path) != os.devnull


def _counting(count):
    class Counting(sqlite3.Connection):
        """A connection of which each commit is a step."""

        def execute(self, sql, *values):
            if sql == "COMMIT":
                count()
            return super().execute(sql.replace("synchronous = FULL", "synchronous = OFF"), *values)

        def backup(self, *given, **more):
            count()
            super().backup(*given, **more)

    return Counting
