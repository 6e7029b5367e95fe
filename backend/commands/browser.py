"""The browser of the person at the terminal, where a one-time link is opened."""

import sys
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape

from backend.foundation.file_permissions import private
from backend.stores.datadir import DataDir

_PAGE = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={link}">\n'


def has_screen(environment: Mapping[str, str]) -> bool:
    """Return whether a person is at this terminal, on a machine with a screen."""
    is_remote = "SSH_CONNECTION" in environment
    has_display = sys.platform == "darwin" or "DISPLAY" in environment or "WAYLAND_DISPLAY" in environment
    return sys.stdout.isatty() and has_display and not is_remote


@contextmanager
def shown(link: str, data: DataDir) -> Iterator[None]:
    """Open a link that signs in in a browser, while its server runs.

    The browser is given a file of the data directory that leads there: other users of the machine can read
    the commands that run, and would use the link first.
    """
    page = data.root / "sign-in.html"
    with open(page, "w", encoding="utf-8", opener=private) as file:
        file.write(_PAGE.format(link=escape(link)))
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
    try:
        yield
    finally:
        page.unlink(missing_ok=True)
