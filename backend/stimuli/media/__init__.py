"""The media that a judgment can show: each module of this folder defines one, as `MEDIUM`."""

import importlib
import pkgutil
from pathlib import PurePath

from backend.stimuli.medium import Medium

MEDIA: dict[str, Medium] = {
    found.name: importlib.import_module(f"{__name__}.{found.name}").MEDIUM
    for found in pkgutil.iter_modules(__path__)
}
"""Media by name."""
_OF_SUFFIX = {suffix: medium for medium in MEDIA.values() for suffix in medium.types}
TYPES = {suffix: kind for medium in MEDIA.values() for suffix, kind in medium.types.items()}
"""The media type of a study's files, by file extension."""


def medium_of_file(name: str) -> Medium:
    """Return the medium of a study's file.

    Raises:
        KeyError: no medium has files with this extension.
    """
    return _OF_SUFFIX[PurePath(name).suffix]
