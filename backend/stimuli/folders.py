"""Scan of a researcher's folders by file names only, before any file is opened.

Nothing is raised here: problems are collected, to be reported together with those found in the files.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from backend.experiment.records import CHECK, PRACTICE, REAL, TRUTHS
from backend.foundation.errors import Keys
from backend.foundation.names import composed, is_set_aside
from backend.foundation.printable import printable
from backend.stimuli.file_names import FileText, file_name, handed_on
from backend.stimuli.images import ENDINGS, OTHER_PICTURES, BadKind, is_picture

_NAMED = 5
_ROLES = {"practice": "practice", "check": "attention-check"}
"""Roles of pictures that no scored trial shows, as messages call them."""
_REMEDY = ", or have sub-folders ignored with --flat"
_ENTRIES = {PRACTICE: "practice", CHECK: "checks"}
"""Entries of an order that name the folders of these roles."""


@dataclass(frozen=True)
class Source:
    """One file of a researcher's folder."""

    path: Path
    model: str | None
    class_: str
    relative: str
    """Printable path, relative to the side's folder."""
    role: str = ""
    """`practice` or `check` for a picture that no scored trial shows; the model of its fakes is ''."""
    side: str = REAL
    """What notes call the side's folder."""

    @property
    def keys(self) -> Keys:
        """The entry of an order that names its folder."""
        return keys_of(self.model, self.role)

    @property
    def name(self) -> FileText:
        """Its path as typed, and within its side."""
        return file_name(self.path, f"{self.side}/{self.relative}")


FindingKind = (
    Literal["folder", "format", "dead link", "duplicate", "both sides"]
    | Literal["unpaired", "same stem", "sizes", "both sets", "foreign", "form"]
    | BadKind
)


@dataclass(frozen=True)
class Finding:
    """A problem with a folder or a file."""

    kind: FindingKind
    what: str
    """The problem of a folder, as a sentence, or the printable name of a file with a problem."""
    why: str = ""
    keys: Keys = ()
    """The entry of an order that names the folder."""

    @property
    def handed_on(self) -> "Finding":
        """The same, with files named as in notes."""
        return replace(self, what=handed_on(self.what), why=handed_on(self.why))


@dataclass(frozen=True)
class Scan:
    """The result of a scan."""

    sources: tuple[Source, ...]
    classes: tuple[str, ...]
    findings: tuple[Finding, ...]
    no_pictures: tuple[str, ...]
    """Files that are not images, by their names."""

    @property
    def of_folders(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.kind == "folder"]

    @property
    def of_files(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.kind != "folder"]


@dataclass
class _Side:
    """The reals, or a model: its folder and what was found in it."""

    what: str
    model: str | None
    folder: Path
    role: str = ""
    reals: str = REAL
    flat: bool | None = None
    may_be_stimulus: Callable[[Path], bool] | None = None
    plain: list[Source] = field(default_factory=list)
    grouped: list[Source] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    no_pictures: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        if self.role:
            return f"{_ENTRIES.get(self.role, self.role)}/{self.folder.name}"
        return self.model or self.reals

    @property
    def remedy(self) -> str:
        """What else can be done about sub-folders; "" where there is no choice."""
        return _REMEDY if self.flat is False else ""

    def file(self, path: Path) -> FileText:
        """Return the name of a file or folder in it."""
        return file_name(path, f"{self.name}/{path.relative_to(self.folder)}")

    @property
    def sources(self) -> list[Source]:
        return self.plain + self.grouped

    @property
    def classes(self) -> set[str]:
        return {source.class_ for source in self.sources}

    @property
    def title(self) -> str:
        return f"the folder of {self.what}, {printable(self.folder)},"

    def refuse(self, problem: str) -> None:
        self.findings.append(Finding("folder", problem, keys=keys_of(self.model, self.role)))


def keys_of(model: str | None, role: str) -> Keys:
    """Return the entry of an order that names the folder of a model's pictures, or of the reals (None)."""
    if role:
        return (_ENTRIES.get(role, role),)
    return ("real",) if model is None else ("models", model)


def scan(
    real: Path,
    models: Mapping[str, Path],
    reals: str = "the reals",
    aside: Mapping[str, Path] = MappingProxyType({}),
    reals_name: str = REAL,
    flat: bool | None = None,
    may_be_stimulus: Callable[[Path], bool] | None = None,
) -> Scan:
    """Return the files to ingest, the classes, and the problems, from file names only.

    Args:
        reals: name of the images in `real`, for messages.
        aside: by role, folders with sub-folders `real` and `fake` of pictures that no scored trial shows.
        reals_name: what notes call the folder of these images.
        flat: whether files of sub-folders, at any depth, are of no class; None where nobody can choose it.
        may_be_stimulus: whether to read a file; default, whether it may be a picture.
    """
    form: dict[str, Any] = {"flat": flat, "may_be_stimulus": may_be_stimulus}
    sides = [
        _Side(reals, None, real, reals=reals_name, **form),
        *(_Side(f"model {name}", name, path, **form) for name, path in models.items()),
        *(
            _Side(
                f"{_ROLES.get(role, role)} {truth}s",
                None if truth == REAL else "",
                path / truth,
                role,
                **form,
            )
            for role, path in aside.items()
            for truth in TRUTHS
        ),
    ]
    there = [side for side in sides if _is_there(side)]
    readable = _apart(there)
    for side in readable:
        _read(side)
    _compare_classes(readable)
    named = {
        class_
        for side in readable
        for class_ in side.classes
        if not side.role and (side.model is None or not side.findings)
    }
    return Scan(
        tuple(source for side in sides for source in side.sources),
        tuple(sorted(named - {""})),
        tuple(finding for side in sides for finding in side.findings),
        tuple(name for side in sides for name in side.no_pictures),
    )


def _is_there(side: _Side) -> bool:
    if side.folder.is_dir():
        return True
    if side.folder.exists():
        side.refuse(f"{side.title} is not a folder")
    elif os.path.lexists(side.folder):
        side.refuse(f"{side.title} is a link that leads nowhere")
    else:
        side.refuse(f"{side.title} does not exist")
    return False


def _apart(sides: Sequence[_Side]) -> list[_Side]:
    """Return the sides to read: the first of those with the same folder, the inner ones of nested folders."""
    readable = []
    for number, side in enumerate(sides):
        same = [other for other in sides[:number] if side.folder.samefile(other.folder)]
        outer = [other for other in sides if _lies_inside(side.folder, other.folder)]
        for other, relation in [(other, "is the same as") for other in same] + [
            (other, "lies inside") for other in outer
        ]:
            side.refuse(
                f"{side.title} {relation} that of {other.what}, {printable(other.folder)}; "
                "each side needs a folder of its own"
            )
        if not same and not any(_lies_inside(other.folder, side.folder) for other in sides):
            readable.append(side)
    return readable


def _lies_inside(folder: Path, other: Path) -> bool:
    return any(parent.samefile(other) for parent in folder.resolve().parents)


def _read(side: _Side) -> None:
    """Sort a side's entries into images, classes, and others."""
    _read_folder(side, side.folder)
    if side.plain and side.grouped:
        side.refuse(
            f"{side.title} has both files ({side.plain[0].relative}) and sub-folders with files "
            f"({side.grouped[0].relative}); sub-folders are classes, so put every file into one, or "
            f"none{side.remedy}"
        )
    if side.role and side.grouped:
        side.refuse(
            f"{side.title} has a sub-folder with files ({side.grouped[0].relative}); pictures for practice "
            "and checks have no classes, so put them into the folder itself{side.remedy}"
        )
    if not side.sources and not side.findings:
        others = side.no_pictures[:_NAMED]
        strange = f" but {', '.join(others)}, which are no pictures" if others else ""
        side.refuse(f"{side.title} has no files{strange}")


def _read_folder(side: _Side, folder: Path) -> None:
    """Sort the entries of a folder whose files are of no class."""
    for entry in _entries(side, folder):
        if not entry.is_dir():
            _sort_in(side, entry, "", side.plain)
        elif _is_hidden(entry):
            side.no_pictures.append(side.file(entry))
        elif not _leads_up(side, entry):
            if side.flat:
                _read_folder(side, entry)
            elif _is_class(side, entry):
                _read_class(side, entry)


def _leads_up(side: _Side, folder: Path) -> bool:
    """Return whether a sub-folder is a link to a folder that it is in, which is refused."""
    try:
        inner = takewhile(lambda above: above != side.folder, folder.parents)
        if any(folder.samefile(above) for above in (*inner, side.folder, *side.folder.resolve().parents)):
            side.refuse(f"{side.title} has a link back to a folder that it is in, {printable(folder)}")
            return True
    except OSError:
        return True
    return False


def _is_class(side: _Side, folder: Path) -> bool:
    """Return whether a sub-folder can be a class: its name is plain text."""
    if printable(folder.name) != folder.name or folder.name != folder.name.strip():
        side.refuse(
            f"{side.title} has the class {printable(folder.name)!r}; a class must be named in plain text, "
            f"without blanks at its ends{side.remedy}"
        )
        return False
    return True


def _read_class(side: _Side, folder: Path) -> None:
    for path in _entries(side, folder):
        if not path.is_dir():
            _sort_in(side, path, composed(folder.name), side.grouped)
        elif _is_hidden(path):
            side.no_pictures.append(side.file(path))
        else:
            side.refuse(
                f"{side.title} has a folder in a folder, {printable(path)}; sub-folders are classes and hold "
                f"files only{side.remedy}"
            )


def _entries(side: _Side, folder: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(folder))
        os.stat(folder / ".")  # a folder may be listable but not accessible
    except OSError as error:
        side.refuse(f"{side.title} cannot be read: {printable(folder)}: {error.strerror}")
        return
    yield from (folder / name for name in names)


def _is_hidden(path: Path) -> bool:
    return is_set_aside(path.name)


def _sort_in(side: _Side, path: Path, class_: str, pictures: list[Source]) -> None:
    """Classify a file by its name; one without an extension may be an image."""
    suffix = path.suffix.lower()
    if path.is_symlink() and not path.exists() and not _is_hidden(path):
        side.findings.append(Finding("dead link", side.file(path), keys=keys_of(side.model, side.role)))
    elif _is_hidden(path) or not path.is_file() or not (side.may_be_stimulus or _may_be_picture)(path):
        side.no_pictures.append(side.file(path))
    elif suffix in OTHER_PICTURES and side.may_be_stimulus is None:
        why = f"has the ending {suffix}"
        side.findings.append(Finding("format", side.file(path), why, keys_of(side.model, side.role)))
    else:
        relative = printable(path.relative_to(side.folder))
        pictures.append(Source(path, side.model, class_, relative, side.role, side.name))


def _may_be_picture(path: Path) -> bool:
    """Return whether to read a file as an image; one with an unknown extension is opened."""
    suffix = path.suffix.lower()
    return not suffix or suffix in ENDINGS or is_picture(path)


def _compare_classes(sides: Sequence[_Side]) -> None:
    """Refuse sides whose classes are not those of the reals; those must not differ by case only."""
    reals = next((side for side in sides if side.model is None and not side.findings), None)
    if reals is None:
        return
    folded: dict[str, str] = {}
    for class_ in sorted(reals.classes):
        other = folded.setdefault(class_.casefold(), class_)
        if other != class_:
            reals.refuse(
                f"{reals.title} has the classes {other} and {class_}, which differ by case only; rename "
                f"one{reals.remedy}"
            )
    for side in sides:
        if side.role:
            continue
        if side.sources and not side.findings and side.classes != reals.classes:
            side.refuse(
                f"{side.what} in {printable(side.folder)} has {_listed(side.classes)}, the reals have "
                f"{_listed(reals.classes)}; every model needs the classes of the reals{side.remedy}"
            )


def _listed(classes: set[str]) -> str:
    named = sorted(classes - {""})
    if not named:
        return "no classes"
    return f"the classes {', '.join(named[:_NAMED])}{' …' if len(named) > _NAMED else ''}"
