"""Find a Chromium for the browser tests, or get one: the system's, Playwright's, or Debian's.

`python -m tests.browser` makes sure that there is one.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SYSTEM = "/usr/bin/chromium"
FLAGS = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]


def launch_options() -> dict:
    """Return what Playwright's `launch` needs to start the browser that is there."""
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    options: dict = {"args": [*sandbox, *FLAGS]}
    if Path(SYSTEM).exists():
        options["executable_path"] = SYSTEM
    return options


def ensure() -> None:
    """Install a browser where there is none: Playwright's own download, or else Debian's package."""
    if Path(SYSTEM).exists():
        return
    if subprocess.call([sys.executable, "-m", "playwright", "install", "chromium"]) == 0:
        return
    if shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=True)
        return
    raise SystemExit("no Chromium: install one (for example `apt-get install chromium`) and run this again")


if __name__ == "__main__":
    ensure()
