"""What `demo` adds to `serve`: the start page, the creation of the sample studies, and the browser."""

import threading
import webbrowser
from pathlib import Path
from typing import Any

import click

from backend.commands.demo_making import Making
from backend.commands.demo_page import FRONT, add_pages
from backend.commands.demo_studies import write_folders
from backend.commands.setup import Setup, progress_bar, terminal_bar
from backend.foundation.addresses import study_page
from backend.stimuli.demo_photographs import check_installed

_EACH = 60
"""Pictures in a folder of the README's example, whose sessions show 50 of a side."""


def write_example(out: Path) -> None:
    """Write the folders that the README's next commands name, and say what is in them."""
    check_installed()
    for folder in write_folders(out, _EACH, progress_bar):
        click.echo(str(folder))
    click.echo(
        f"{_EACH} pictures each: photographs as reals, and textures made of photographs in place of samples; "
        "a score of them says nothing about StyleGAN or BEGAN"
    )


class StartPage:
    """The start page of a server.

    Raises:
        NotInstalled: the photographs for the sample studies are not installed.
    """

    front = FRONT

    def __init__(self, setup: Setup, is_opened: bool):
        self._data, self._is_opened = setup.data, is_opened
        self._making = Making(setup.store, setup.url, setup.data, self._tell)
        if self._making.is_needed:
            check_installed()
        self._base = ""
        self._bar: Any = None

    def start(self, app: Any, base: str) -> None:
        """Add the start page to `app`, open it, and start to create missing studies."""
        self._base = base
        add_pages(app, self._data, self._making)
        click.echo(f"start page: {base}/")
        self._making.start()
        if self._is_opened:
            threading.Thread(target=webbrowser.open, args=(f"{base}/",), daemon=True).start()

    def stop(self) -> None:
        """Stop creating studies; this resumes at the next start."""
        self._making.stop()

    def _tell(self, study: str, share: float) -> None:
        if self._bar is None or self._bar.desc != f"making {study}":
            form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"
            self._bar = terminal_bar(total=100, bar_format=form)
            self._bar.set_description_str(f"making {study}")
        self._bar.update(100 * share - self._bar.n)
        if share >= 1:
            self._bar.close()
            click.echo(f"study {study}: {study_page(self._base, study)}")
