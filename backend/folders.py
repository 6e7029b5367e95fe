"""What the names in a researcher's folders tell, before any file is opened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.errors import InvalidInput
from backend.images import SUFFIXES

_IGNORED = {"thumbs.db", "desktop.ini", "__macosx"}
_NAMED = 5


@dataclass(frozen=True)
class Source:
    """One file of a researcher's folder."""

    path: Path
    model: str | None
    class_: str
    relative: str


@dataclass(frozen=True)
class Scan:
    """What the names in the folders tell, before any file is opened."""

    sources: tuple[Source, ...]
    classes: tuple[str, ...]
    odd: tuple[str, ...]
    """Files that are no pictures by their names, with the reason."""


def scan(real: Path, models: Mapping[str, Path]) -> Scan:
    """Return the files to take in and the classes, having read names only.

    Raises:
        InvalidInput: a folder is missing, empty, or inside another; classes do not match.
    """
    sides = [("the reals", None, real), *((f"model {name}", name, path) for name, path in models.items())]
    for what, _, folder in sides:
        if not folder.is_dir():
            state = "is not a folder" if folder.exists() else "does not exist"
            raise InvalidInput(f"the folder of {what}, {folder}, {state}")
    _check_apart(sides)
    found, odd = {}, []
    for what, model, folder in sides:
        found[what], strange = _files(what, model, folder)
        odd += strange
    expected = {source.class_ for source in found["the reals"]}
    for what, _, folder in sides:
        classes = {source.class_ for source in found[what]}
        if classes != expected:
            raise InvalidInput(
                f"{what} in {folder} has {_classes(classes)}, the reals have {_classes(expected)}; "
                "every model needs the classes of the reals"
            )
    sources = tuple(source for side in found.values() for source in side)
    return Scan(sources, tuple(sorted(expected - {""})), tuple(odd))


def _check_apart(sides: Sequence[tuple[str, str | None, Path]]) -> None:
    resolved = [(what, folder.resolve()) for what, _, folder in sides]
    for what, folder in resolved:
        for other_what, other in resolved:
            if what == other_what:
                continue
            if folder.samefile(other) or any(parent.samefile(other) for parent in folder.parents):
                relation = "is the same as" if folder.samefile(other) else "lies inside"
                raise InvalidInput(
                    f"the folder of {what}, {folder}, {relation} that of {other_what}, {other}; "
                    "each side needs a folder of its own"
                )


def _files(what: str, model: str | None, folder: Path) -> tuple[list[Source], list[str]]:
    """Return the files of a side, and those that are no pictures by their names."""
    plain, grouped, odd = [], [], []
    for entry in _entries(folder):
        if not entry.is_dir():
            _sort_in(Source(entry, model, "", entry.name), plain, odd)
            continue
        for path in _entries(entry):
            if path.is_dir():
                raise InvalidInput(
                    f"the folder of {what}, {folder}, has a folder in a folder, {path}; sub-folders are "
                    "classes and hold files only"
                )
            _sort_in(Source(path, model, entry.name, f"{entry.name}/{path.name}"), grouped, odd)
    if plain and grouped:
        raise InvalidInput(
            f"the folder of {what}, {folder}, has both files ({plain[0].relative}) and sub-folders with "
            f"files ({grouped[0].relative}); sub-folders are classes, so put every file into one, or none"
        )
    if not plain and not grouped:
        strange = f" but what are no pictures: {'; '.join(odd[:_NAMED])}" if odd else ""
        raise InvalidInput(f"the folder of {what}, {folder}, has no files{strange}")
    return plain or grouped, odd


def _entries(folder: Path) -> list[Path]:
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be read: {error.strerror}") from None
    return [path for path in found if not path.name.startswith(".") and path.name.lower() not in _IGNORED]


def _sort_in(source: Source, pictures: list[Source], odd: list[str]) -> None:
    suffix = source.path.suffix.lower()
    if not source.path.is_file():
        odd.append(f"{source.path} is no file that can be read")
    elif suffix and suffix not in SUFFIXES:
        odd.append(f"{source.path} has the ending {suffix}")
    else:
        pictures.append(source)


def _classes(classes: set[str]) -> str:
    named = sorted(classes - {""})
    if not named:
        return "no classes"
    return f"the classes {', '.join(named[:_NAMED])}{' …' if len(named) > _NAMED else ''}"
