"""Packages that only some commands need, and how to install them into the current environment.

The command names the packages themselves, so that it works for a clone, a wheel and an index alike.
"""

import re
import shlex
import sys
from importlib.util import find_spec

from backend.foundation.errors import NotInstalled

_EXTRA_OF = {
    "av": "clips",
    "skimage": "demo",
    "matplotlib": "report",
    "requests": "prolific",
    "jwt": "signed",
    "cryptography": "signed",
    "boto3": "aws",
    "botocore": "aws",
    "zappa": "deploy",
    "torch_fidelity": "metrics",
    "torch": "calibrate",
}
"""By imported module: the extra of pyproject.toml that installs it."""


def check(what: str, *modules: str) -> None:
    """Raise NotInstalled if a module that `what` needs is missing."""
    for module in modules:
        if find_spec(module) is None:
            raise not_installed(what, module)


def not_installed(what: str, module: str) -> NotInstalled:
    """Return the error that `what` needs a module, with the command that installs it."""
    return NotInstalled(f"{what} needs {module}, which is not installed; run: {install_command(module)}")


def install_command(module: str) -> str:
    """Return the command that installs a module, with the rest of its extra."""
    names = requirements(_EXTRA_OF[module]) if module in _EXTRA_OF else [module]
    return shlex.join([sys.executable, "-m", "pip", "install", *names])


def requirements(extra: str) -> list[str]:
    """Return the packages of an extra in pip's syntax; `openhype[extra]` if openhype is not installed."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        asked = requires("openhype") or []
    except PackageNotFoundError:
        return [f"openhype[{extra}]"]
    names = []
    for name, _, marker in (text.partition(";") for text in asked):
        if re.search(rf"""extra == ['"]{extra}['"]""", marker):
            inner = re.fullmatch(r"openhype\[(\w+)\]", name.strip())
            names += requirements(inner[1]) if inner else [name.strip()]
    return names
