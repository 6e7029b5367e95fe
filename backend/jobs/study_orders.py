"""The order of a study in a request: the entries of a study.toml, with uploads in place of folders."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from backend.administration.study_spec import StudySpec, check_models, spec_of_order
from backend.foundation.errors import InvalidInput, under
from backend.foundation.names import clean
from backend.foundation.printable import printable

T = TypeVar("T")
_FOLDERS = ("real", "practice", "checks", "masks")
_MOVED = ("panel", "texts")
"""Entries that are settings on the command line, and may be given as such; as tables they are entries."""
_WORDS = (
    (r"--set (\w+)=N", r"the setting \1"),
    (r"--set (\w+)=(\w+)", r"\1=\2"),
    (r"--preprocess (jpeg|size):", r"the step \1:"),
    (r"--preprocess", "preprocess"),
    (r"--skip-bad", "skip_bad"),
    (r"--strict", "strict"),
    (r"--flat", "flat"),
    (r"--(practice|checks|masks|real) DIR", r"pictures (\1)"),
    (r"--(practice|checks|masks)", r"pictures (\1)"),
    (r"--model NAME=(?:DIR|FOLDER)", "a model with its pictures"),
    (r"--size PX", "the setting size_px"),
    (r"--size\b", "the setting size_px"),
    (r"`openhype qualification (\S+) …`", r"a study of the kind qualification, called \1"),
    (r"a file with a record \(--panel FILE\.toml\)", "a record"),
    (r"\bthe file lacks", "the study lacks"),
    (r"\bstudy audit lacks", "the study lacks"),  # pictures are audited under a name of no study
    (r" in quotes\b", ""),
    (r"; all are listed in .*", ""),
    (r"in a study\.toml \(docs/study-file\.md\)", "(pages)"),
    (r"\[\[?(\w+)\]\]?", r"\1"),
)
"""What messages call options of the command line, and what an order calls them."""


@dataclass(frozen=True)
class StudyOrder:
    """An order: the entries of a study.toml, and the upload for each folder."""

    entries: Mapping[str, Any]
    uploads: Mapping[str, str]
    """The id of an upload by its folder, such as `models/gan`."""

    def spec(self, root: Path) -> StudySpec:
        """Return the specification, with pictures in folders of `root`.

        Raises:
            InvalidInput: names the entry that is missing, unknown or invalid.
        """
        return spec_of_order(self.entries, root)


def study_order(body: Mapping[str, Any]) -> StudyOrder:
    """Return the order in the body of a request, whose types are those of `web.job_types.StudyBody`.

    Raises:
        InvalidInput: two models, or sets of items, have one name, or cannot be called so.
    """
    entries = {name: value for name, value in body.items() if value not in (None, [], {}, "")}
    settings = dict(entries.pop("settings", {}))
    for name in _MOVED:
        if isinstance(settings.get(name), Mapping):
            entries.setdefault(name, settings.pop(name))
    if settings:
        entries["settings"] = settings
    uploads = {name: str(entries[name]) for name in _FOLDERS if name in entries}
    for entry, key, what in (("models", "model", "model"), ("items", "set", "set")):
        given = entries.pop(entry, [])
        if given:
            with under(entry):
                names = _names([each[key] for each in given], what)
            entries[entry] = {name: each["upload"] for name, each in zip(names, given, strict=True)}
            uploads |= {f"{entry}/{name}": upload for name, upload in entries[entry].items()}
    return StudyOrder(entries, uploads)


def first_within(entries: Iterable[T], most_bytes: int) -> list[T]:
    """Return the first entries of JSON data that take no more than some bytes together."""
    first: list[T] = []
    for entry in entries:
        most_bytes -= len(json.dumps(entry)) + 1
        if most_bytes < 0:
            break
        first.append(entry)
    return first


def in_words_of_order(message: str, root: Path | None = None) -> str:
    """Return a message in which options of the command line are called as in an order.

    Args:
        root: the folder of the pictures, which is left out of their paths: they are named as in notes.
    """
    for folder in () if root is None else (str(root), printable(root)):
        message = re.sub(rf"{re.escape(folder)}/((models|items)/)?", "", message).replace(
            folder, "the upload"
        )
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message


@contextmanager
def worded(root: Path | None = None) -> Iterator[None]:
    """Bring errors raised within the block into the words of orders."""
    try:
        yield
    except InvalidInput as error:
        message = in_words_of_order(str(error), root)
        raise InvalidInput(message, error.code, keys=error.keys, also=error.also) from None


def _names(names: Sequence[str], what: str) -> list[str]:
    cleaned = [clean(name) for name in names]
    check_models(cleaned, what)
    return cleaned
