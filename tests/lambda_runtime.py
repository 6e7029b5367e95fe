"""Lambda's runtime for the instances of one stage: `python -S -I lambda_runtime.py FOLDER FD`.

It knows nothing but FOLDER, the unpacked zip. For each message on the socket FD, which has the handler, the
environment, and descriptors for events, replies and the log, it forks one instance. The first one tells
which modules it imported; all later ones find those that are not ours imported, and start in a tenth of the
time. Nothing of an instance is shared but that: each imports the handler itself, in its own environment.
"""

import ctypes
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module

LONGEST = 1 << 16
OURS = ("deploy", "handler", "zappa", "zappa_settings")
"""What reads its environment when it is imported."""
PR_SET_CHILD_SUBREAPER = 36
"""Source: linux/prctl.h."""


class Context:
    """What Lambda hands a handler beside the event."""

    get_remaining_time_in_millis = staticmethod(lambda: 600_000)


def main() -> None:
    folder, asked = sys.argv[1], socket.socket(fileno=int(sys.argv[2]))
    sys.path.insert(0, folder)
    os.chdir(folder)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for instances
    is_ready = False
    while True:
        message, descriptors, _, _ = socket.recv_fds(asked, LONGEST, 3)
        if not message:
            return
        told, telling = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asked.close()
            os.close(told)
            be_instance(json.loads(message), *descriptors, telling)
            os._exit(0)  # as Lambda ends one: nothing is cleaned up
        for descriptor in (*descriptors, telling):
            os.close(descriptor)
        asked.sendall(b"%d\n" % pid)
        with os.fdopen(told) as names:
            if not is_ready:
                is_ready = imported(names.read().split())


def be_instance(about: dict, events: int, replies: int, log: int, telling: int) -> None:
    """Reply to events, one a line, until there are no more; what the function prints goes to the log."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what it starts stays below it, to be frozen with it
    os.dup2(events, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout = sys.stderr
    os.environ.clear()
    os.environ.update(about["environment"])
    module, _, name = about["handler"].rpartition(".")
    handle = getattr(import_module(module), name)
    with suppress(BrokenPipeError):  # only the first one is listened to
        os.write(telling, " ".join(sorted(sys.modules)).encode())
    os.close(telling)
    replying = os.fdopen(replies, "w", closefd=False)  # its end says that the process has ended
    for line in sys.stdin:
        replying.write(json.dumps(handle(json.loads(line), Context), ensure_ascii=False) + "\n")
        replying.flush()


def imported(names: list[str]) -> bool:
    """Import modules that are not ours; return whether there were any."""
    for name in names:
        if name.partition(".")[0] not in OURS:
            with suppress(ImportError):  # some are known by a name that only their package gives them
                import_module(name)
    return bool(names)


main()
