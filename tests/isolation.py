"""Keep the tests apart from whoever runs them: from the environment, the data directory, the signals.

`tests/conftest.py` calls this before anything is collected, in each worker too, so that neither a server
of a session fixture nor any other child process sees what was removed. HOME stays, as do the variables of
pip, npm and Playwright, which say how this machine installs packages.
"""

import os
import signal
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REMOVED_PREFIXES = (
    "OPENHYPE_",
    "PROLIFIC_",
    "AWS_",
    "BOTO_",
    "BOTOCORE_",
    "FLASK_",
    "GIT_",  # those of a hook, which would send every `git` to that hook's repository
    "INITIAL_NO_AUTH_",  # moto's
    "MATPLOTLIB",
    "MOTO_",
    "MPL",
    "TQDM_",
    "WERKZEUG_",
    "ZAPPA_",
)
"""What the product reads, and what the packages read that it and its tests are made of."""
REMOVED = (
    "COLUMNS",
    "FORCE_COLOR",
    "LINES",
    "NETRC",
    "NO_COLOR",
    "PWDEBUG",
    "PYTHONWARNINGS",
    "SOURCE_DATE_EPOCH",
    "TEST_PROXY_MODE",
    "TEST_SERVER_MODE",
)
NO_AWS_ACCOUNT = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""Without these, boto3 finds the profiles of the home directory and the role of a virtual machine."""
LOOPBACK = "127.0.0.1,localhost,::1"
DATA = "openhype-data"
"""The data directory that commands take by default, in the working directory."""


def clear(environment: MutableMapping[str, str]) -> None:
    """Remove whatever leads the product to data, accounts or servers, or changes what it prints."""
    for name in list(environment):
        if name.startswith(REMOVED_PREFIXES) or name in REMOVED:
            del environment[name]
    environment.update(NO_AWS_ACCOUNT)
    for name in ("no_proxy", "NO_PROXY"):  # servers of tests are reached directly; pip may need the proxy
        environment[name] = ",".join(filter(None, [environment.get(name), LOOPBACK]))


def guard_data(*folders: Path) -> None:
    """Fail whatever touches the default data directory of one of these folders, from now on."""
    guarded = [str(folder.resolve() / DATA) for folder in folders]

    def check(event: str, arguments: tuple) -> None:
        if event not in _EVENTS or not arguments or _is_relative_to_a_folder(event, arguments):
            return
        if _is_inside(arguments[0], guarded):
            raise RuntimeError(
                f"a test touches the data of whoever runs it: {event} {arguments[0]}; "
                "give it --data, or a working directory of its own"
            )

    sys.addaudithook(check)


_EVENTS = {
    "open": None,
    "os.listdir": None,
    "os.mkdir": 2,
    "os.remove": 1,
    "os.rename": 2,
    "os.scandir": None,
    "shutil.rmtree": 1,
    "sqlite3.connect": None,
}
"""What is watched: audit events, and which of their arguments are `dir_fd`, from there on."""


def _is_relative_to_a_folder(event: str, arguments: tuple) -> bool:
    """Return whether a call gave an open folder that its path begins at (`dir_fd`).

    What removes a tree names the folders in it so. For "open" only the name is known, so that opening a
    folder that is called like the data directory is no reason to fail.
    """
    if event == "open":
        return arguments[:2] == (DATA, None)
    first = _EVENTS[event]
    return first is not None and any(isinstance(fd, int) and fd >= 0 for fd in arguments[first:])


def _is_inside(path: object, guarded: list[str]) -> bool:
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not isinstance(path, str | os.PathLike) or DATA not in (text := os.fspath(path)):
        return False
    whole = os.path.abspath(text.removeprefix("file:"))
    return any(whole == folder or whole.startswith((folder + os.sep, folder + "?")) for folder in guarded)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have the processes that start in the block end at a Ctrl-C, even where this one ignores it.

    A job in the background of a script (`make test &`) ignores SIGINT, and what it starts inherits that.
    A signal that is caught is set back to its default in new processes.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
