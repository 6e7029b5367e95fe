"""The exact packages of each stage on each runtime: names, versions and hashes, without addresses.

`deploy` installs nothing else, so that the same code gives the same package on every machine.
"""

from collections.abc import Mapping
from pathlib import Path

from backend.foundation.errors import InvalidInput

FOLDER = Path(__file__).with_name("locks")
RUNTIMES = ((3, 11), (3, 12), (3, 13), (3, 14))
"""Versions of Python that Lambda has."""

Python = tuple[int, int]

_GLIBC: Mapping[Python, int] = {(3, 11): 26}
"""Minor version of glibc (2.x) on Lambda, by Python version: Amazon Linux 2 up to 3.11, then AL2023."""
_GLIBC_NEWEST = 34
_OLD_TAGS = {5: "manylinux1", 12: "manylinux2010", 17: "manylinux2014"}
"""Names of wheels' platforms (PEP 600) from before they were named by the version of glibc."""


def glibc(python: Python) -> int:
    """Return the minor version of glibc (2.x) in Lambda's system for a version of Python."""
    return _GLIBC.get(python, _GLIBC_NEWEST)


def platforms(python: Python) -> list[str]:
    """Return the platforms of compiled wheels that Lambda's system can run, oldest first."""
    minors = range(5, glibc(python) + 1)
    old = [name for minor in minors if (name := _OLD_TAGS.get(minor))]
    return [f"{name}_x86_64" for name in (*old, *(f"manylinux_2_{minor}" for minor in minors))]


def pip_options(python: Python) -> list[str]:
    """Return pip's options for Lambda's system, whatever the machine is on which it runs."""
    chosen = [option for platform in platforms(python) for option in ("--platform", platform)]
    version = ["--python-version", f"{python[0]}.{python[1]}", "--implementation", "cp"]
    return [*chosen, *version, "--only-binary", ":all:"]


def name_of(stage: str, python: Python) -> str:
    return f"python{python[0]}.{python[1]}-{stage}.txt"


def path_of(stage: str, python: Python) -> Path:
    """Return the lock of a stage.

    Raises:
        InvalidInput: there is none for this version of Python.
    """
    path = FOLDER / name_of(stage, python)
    if not path.is_file():
        known = ", ".join(f"{major}.{minor}" for major, minor in RUNTIMES)
        raise InvalidInput(
            f"there is no lock of {stage} for Python {python[0]}.{python[1]}, only for {known}; "
            "deploy with one of these, or add it in deploy/locks.py and run: python -m deploy.renew_locks"
        )
    return path
