"""The application for a WSGI server that imports one: `deploy.api:app`, configured by the environment."""

import os
from pathlib import Path

from backend.datadir import DataDir
from backend.errors import InvalidInput
from backend.handlers import create_app
from backend.stores import open_store


def from_environment(environment):
    """Return the application that the environment describes.

    Raises:
        InvalidInput: OPENHYPE_STORE or OPENHYPE_DATA is not set.
    """
    for name in ("OPENHYPE_STORE", "OPENHYPE_DATA"):
        if not environment.get(name):
            raise InvalidInput(f"{name} is not set; see deploy/README.md")
    data = DataDir(Path(environment["OPENHYPE_DATA"]))
    return create_app(open_store(environment["OPENHYPE_STORE"], data.root), data, data.keys())


def __getattr__(name: str):
    """Make `app` when a server asks for it, and only then."""
    if name != "app":
        raise AttributeError(name)
    globals()["app"] = from_environment(os.environ)
    return globals()["app"]
