"""Find the browsers of the browser tests, or get them.

Chromium must be there: the system's, Playwright's, or Debian's. Firefox and WebKit are Debian's; their tests
skip where they are missing. `python -m tests.browser` installs what it can.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.engines import PROGRAMS, missing_packages

SYSTEM = "/usr/bin/chromium"
FLAGS = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]
_PATIENCE = [
    "-o",
    "Acquire::Retries=1",
    "-o",
    "Acquire::http::Timeout=20",
    "-o",
    "Acquire::https::Timeout=20",
]
"""Without a network `apt-get` ends soon."""


def launch_options() -> dict:
    """Return what Playwright's `launch` needs to start the browser that is there."""
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    options: dict = {"args": [*sandbox, *FLAGS]}
    if Path(SYSTEM).exists():
        options["executable_path"] = SYSTEM
    return options


def ensure() -> None:
    """Install what is missing: Chromium by Playwright or else from Debian, the others from Debian.

    Without Chromium there are no browser tests; the others are done without where they cannot be had.
    """
    if not _has_chromium() and not _install("chromium"):
        raise SystemExit(
            "no Chromium: install one (for example `apt-get install chromium`) and run this again"
        )
    for engine in PROGRAMS:
        packages = missing_packages(engine)
        if packages and not _install(*packages):
            sys.stderr.write(
                f"{engine} is not here, and its tests are skipped: apt-get install {' '.join(packages)}\n"
            )


def _has_chromium() -> bool:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return Path(SYSTEM).exists() or subprocess.call(command) == 0


def _install(*packages: str) -> bool:
    """Install Debian's packages, as root; return whether that went well."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["install", "-y", "--no-install-recommends", *packages]
    codes = [
        subprocess.call(["apt-get", "-qq", *_PATIENCE, *command], env=environment)
        for command in (["update"], install)  # what was known before may do where the update fails
    ]
    return codes[-1] == 0


if __name__ == "__main__":
    ensure()
