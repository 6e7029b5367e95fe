"""Scan of folders of items, pairs or triplets of pictures, by file names only.

Three layouts are read:

- one set: a folder for each part, `DIR/ref`, `DIR/p0`, `DIR/p1`, with one file name (without its ending) for
  the pictures of an item in all of them;
- several sets: `DIR/<set>/ref` and so on, as the BAPPS data set has them (Zhang et al., 2018). Its loader
  pairs files by their sorted places, which is the same, since its names are;
- triplets as the NIGHTS data set has them (Fu et al., 2023): `DIR/ref/xxx/yyy.png` and
  `DIR/distort/xxx/yyy_0.png`, `yyy_1.png`, or as its `data.csv` names them (`ref_path`, `left_path`,
  `right_path`).

Other files and folders beside those of the parts, such as `judge`, are ignored.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from backend.foundation.csv_tables import read_rows
from backend.foundation.errors import InvalidInput, Keys
from backend.foundation.names import clean, composed, is_set_aside
from backend.foundation.printable import printable
from backend.stimuli.file_names import FileText, file_name, handed_on, joined
from backend.stimuli.folders import Finding, keys_of
from backend.stimuli.images import ENDINGS, OTHER_PICTURES, is_picture
from backend.stimuli.medium import Refused

_NAMED = 5
_REF = "ref"
_DISTORT = "distort"
_INDEX = "data.csv"
_INDEX_COLUMNS = ("ref_path", "left_path", "right_path")
_INDEX_BYTES = 64 << 20
_OF_DISTORT = re.compile(r"(.+)_([01])", re.DOTALL)


@dataclass(frozen=True)
class ItemSource:
    """The files of one item."""

    set_: str
    stem: str
    """Printable name of the item within its set."""
    files: tuple[FileText, ...]
    """Path of each part, and what notes call it."""
    role: str = ""
    """`practice` or `check` for an item that no scored trial shows; it is then in no set."""
    truth: str = ""
    """The right answer, in terms of the parts, if it is known."""

    @property
    def name(self) -> str:
        """Name of the item in messages and in the researcher's data."""
        return f"{self.set_}/{self.stem}" if self.set_ else self.stem

    @property
    def keys(self) -> Keys:
        """The entry of an order that names the folder of its set."""
        return keys_of(None, self.role) if self.role else ("items", self.set_)


@dataclass
class ItemScan:
    """The items that were found, and what is wrong with folders and items."""

    sources: list[ItemSource] = field(default_factory=list)
    folders: list[Finding] = field(default_factory=list)
    items: list[Finding] = field(default_factory=list)
    no_pictures: list[str] = field(default_factory=list)
    entry: Keys = ()
    """The entry of an order that names the folder that is being read."""
    root: Path = Path()
    """The folder that is being read."""

    def file(self, path: str) -> FileText:
        """Return the path of a file in the folder that is being read, and what notes call it."""
        return FileText(path, "/".join([*map(str, self.entry[-1:]), os.path.relpath(path, self.root)]))

    def refuse(self, problem: str) -> None:
        self.folders.append(Finding("folder", problem, keys=self.entry))


def sets_of(given: Sequence[tuple[str, Path]], parts: Sequence[str]) -> list[tuple[str, Path]]:
    """Return each set with its folder, from folders that hold one set or several.

    Args:
        given: name of the set ('' for that of the folder), and folder.
        parts: the parts of an item, such as `ref`, `p0`, `p1`.

    Raises:
        Refused: a folder is none, or has not the folders of the parts; names all of them.
    """
    sets: list[tuple[str, Path]] = []
    problems: list[str] = []
    keys: list[Keys] = []
    for name, folder in given:
        try:
            sets += _sets_in(name, folder, parts)
        except InvalidInput as error:
            problems.append(str(error))
            keys.append((name,) if name else ())
    if problems:
        raise Refused("; ".join(problems), (), keys[0], keys[1:])
    return sets


def scan_items(
    sets: Mapping[str, Path], parts: Sequence[str], aside: Mapping[str, Path], answers: Sequence[str]
) -> ItemScan:
    """Return the items of all sets, and of the folders of known answers, in the order of their names.

    Args:
        sets: folder of each set, as `sets_of` returns them.
        aside: by role, folders with a sub-folder for each answer that is known to be right.
        answers: these answers.
    """
    scan = ItemScan()
    for name, folder in sets.items():
        scan.entry, scan.root = ("items", name), folder
        before = len(scan.sources) + len(scan.items)
        _read_set(scan, ItemSource(name, "", ()), folder, parts)
        if len(scan.sources) + len(scan.items) == before and not scan.folders:
            scan.refuse(f"the set {name}, {printable(folder)}, has no items")
    for role, folder in aside.items():
        scan.entry, scan.root = keys_of(None, role), folder
        _read_known(scan, role, folder, parts, answers)
    return scan


def _sets_in(name: str, folder: Path, parts: Sequence[str]) -> list[tuple[str, Path]]:
    if not folder.is_dir():
        is_link = os.path.lexists(folder) and not folder.exists()
        what = "is a link that leads nowhere" if is_link else "is no folder"
        raise InvalidInput(f"{printable(folder)} {what if os.path.lexists(folder) else 'does not exist'}")
    if _is_set(folder, parts):
        return [(name or clean(printable(folder.resolve().name)), folder)]
    inner = [each for each in _sub_folders(folder) if _is_set(each, parts)]
    if not inner:
        raise InvalidInput(
            f"{printable(folder)} has neither {_folders_named(parts)} nor sub-folders that have them"
        )
    if name:
        raise InvalidInput(
            f"{printable(folder)} has several sets ({_some([printable(each.name) for each in inner])}), so "
            f"that {name}= cannot name it; leave the name out, or give the folder of each set"
        )
    return [(clean(printable(each.name)), each) for each in inner]


def _is_set(folder: Path, parts: Sequence[str]) -> bool:
    """Return whether a folder has that of any part, even if others are missing."""
    return any(os.path.lexists(folder / part) for part in parts)


def _sub_folders(folder: Path) -> Iterator[Path]:
    for name in sorted(os.listdir(folder)):
        if not is_set_aside(name) and (folder / name).is_dir():
            yield folder / name


def _read_known(
    scan: ItemScan, role: str, folder: Path, parts: Sequence[str], answers: Sequence[str]
) -> None:
    """Add the items of known answers: those in a sub-folder named by the answer."""
    there = [answer for answer in answers if (folder / answer).is_dir()]
    if not there:
        named = " or ".join(answers)
        scan.refuse(
            f"{printable(folder)} must have sub-folders named by the right answer, {named}, each with "
            f"{_folders_named(parts)}"
        )
    for answer in there:
        _read_set(scan, ItemSource("", "", (), role, answer), folder / answer, parts)


def _read_set(scan: ItemScan, of: ItemSource, folder: Path, parts: Sequence[str]) -> None:
    if len(parts) == 3 and (folder / _DISTORT).is_dir() and (folder / _REF).is_dir():
        _read_nights(scan, of, folder)
        return
    if _REF not in parts and (folder / _REF).is_dir():
        scan.refuse(
            f"{printable(folder)} has a folder {_REF}, as triplets have; pairs are in {_folders_named(parts)}"
        )
        return
    missing = [part for part in parts if not (folder / part).is_dir()]
    for part in missing:
        is_link = os.path.lexists(folder / part) and not (folder / part).exists()
        what = f"{part} is a link that leads nowhere" if is_link else f"lacks the folder {part}"
        scan.refuse(f"{printable(folder)}{':' if is_link else ''} {what}")
    if not missing:
        _pair(scan, of, parts, [_files(scan, folder / part) for part in parts])


def _read_nights(scan: ItemScan, of: ItemSource, folder: Path) -> None:
    """Add the triplets of a folder in the layout of NIGHTS, those of its data.csv if there is one."""
    if (folder / _INDEX).exists():
        try:
            _read_index(scan, of, folder)
        except InvalidInput as error:
            scan.refuse(str(error))
        return
    distorted: tuple[dict[str, list[FileText]], ...] = ({}, {})
    for stem, paths in _files(scan, folder / _DISTORT).items():
        named = _OF_DISTORT.fullmatch(stem)
        if named is None:
            scan.refuse(
                f"{printable(paths[0])} must be named as 000_0.png or 000_1.png, by reference and side"
            )
            return
        distorted[int(named[2])].setdefault(named[1], []).extend(paths)
    _pair(scan, of, (_REF, "distort _0", "distort _1"), [_files(scan, folder / _REF), *distorted])


def _read_index(scan: ItemScan, of: ItemSource, folder: Path) -> None:
    """Add the triplets that data.csv lists.

    Raises:
        InvalidInput: names file, line and what was expected.
    """
    index = folder / _INDEX
    lines: dict[tuple[str, ...], int] = {}
    of_reference: Counter[str] = Counter()
    for line, row in read_rows(index, _INDEX_COLUMNS, _INDEX_BYTES):
        paths = [row[column] for column in _INDEX_COLUMNS]
        where = f"{printable(index)} line {line}"
        for column, path in zip(_INDEX_COLUMNS, paths, strict=True):
            if not path or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
                raise InvalidInput(
                    f"{where}: {column} must be a path within the folder, not {printable(path)!r}"
                )
        if (before := lines.setdefault(tuple(paths), line)) != line:
            raise InvalidInput(
                f"{where}: the triplet of {printable(paths[0])} is there already, in line {before}"
            )
        stem = printable(composed(str(PurePosixPath(paths[0]).with_suffix(""))).removeprefix(f"{_REF}/"))
        of_reference[stem] += 1
        own = stem if of_reference[stem] == 1 else f"{stem}_{of_reference[stem]}"
        files = [
            (part, [scan.file(_as_listed(folder, path))])
            for part, path in zip(_INDEX_COLUMNS, paths, strict=True)
        ]
        _add(scan, of, own, files)


def _as_listed(folder: Path, path: str) -> str:
    """Return the file of a path, which its folder may have in another form of Unicode."""
    forms = [folder / path, *(folder / unicodedata.normalize(form, path) for form in ("NFC", "NFD"))]
    return str(next(filter(Path.exists, forms), forms[0]))


def _pair(
    scan: ItemScan, of: ItemSource, parts: Sequence[str], files: Sequence[Mapping[str, list[FileText]]]
) -> None:
    """Add an item for each file name, whose pictures are those of this name in the folders of all parts."""
    for stem in sorted({stem for of_part in files for stem in of_part}):
        _add(
            scan,
            of,
            printable(stem),
            [(part, own.get(stem, [])) for part, own in zip(parts, files, strict=True)],
        )


def _add(scan: ItemScan, of: ItemSource, stem: str, files: Sequence[tuple[str, list[FileText]]]) -> None:
    item = ItemSource(of.set_, stem, tuple(paths[0] for _, paths in files if paths), of.role, of.truth)
    missing = [part for part, paths in files if not paths]
    there = [part for part, paths in files if paths]
    if missing:
        why = f"has {' and '.join(there)}, and no {' and no '.join(missing)}"
        scan.items.append(Finding("unpaired", item.name, why, item.keys))
    elif twice := [paths for _, paths in files if len(paths) > 1]:
        both = joined(*map(shown, twice[0]), by=" and ")
        scan.items.append(Finding("same stem", item.name, joined("has ", both), item.keys))
    elif problem := next(filter(None, (_problem(path) for path in item.files)), None):
        scan.items.append(Finding(problem.kind, item.name, problem.why, item.keys))
    else:
        scan.sources.append(item)


def shown(path: FileText) -> FileText:
    return file_name(path, handed_on(path))


def _problem(path: FileText) -> Finding | None:
    """Return what is wrong with a file, as far as its name and place tell."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix in OTHER_PICTURES:
        return Finding("format", path, joined("(", shown(path), f" has the ending {suffix})"))
    if os.path.islink(path) and not os.path.exists(path):
        return Finding("dead link", path, joined("(", shown(path), " leads nowhere)"))
    return None


def _files(scan: ItemScan, folder: Path) -> dict[str, list[FileText]]:
    """Return the pictures in a folder and its sub-folders, by their paths in it without endings."""
    files: dict[str, list[FileText]] = {}
    for inner, path in _walk(scan, str(folder), "", (os.path.realpath(folder),)):
        stem, suffix = os.path.splitext(inner)
        is_known = not suffix or suffix.lower() in ENDINGS
        if not is_known and not is_picture(path):
            scan.no_pictures.append(shown(scan.file(path)))
        else:
            stem = stem if is_known else inner  # `sample_cfg7.5` has no ending
            files.setdefault(composed(stem), []).append(scan.file(path))
    return files


def _walk(scan: ItemScan, folder: str, inner: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield path within the folder, and whole path, of each file, in order; links back up are refused."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        scan.refuse(f"{printable(folder)} cannot be read: {error.strerror}")
        return
    for entry in entries:
        name = f"{inner}{entry.name}"
        if is_set_aside(entry.name):
            continue
        if not entry.is_dir():
            yield name, entry.path
        elif (real := os.path.realpath(entry.path)) in above:
            scan.refuse(f"{printable(entry.path)} is a link back to a folder that it is in")
        else:
            yield from _walk(scan, entry.path, f"{name}/", (*above, real))


def _folders_named(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"the folders {', '.join(first)} and {last}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
