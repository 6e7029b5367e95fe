"""The picture files of items, pairs or triplets, by item name: of a study, an export, or a tree of folders.

Items are named as in the votes on them (`traditional/000123`), so that distances and votes can be joined.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.analysis.agreement.votes import JND, KINDS, TWO_AFC, Votes
from backend.experiment.judgment import pictures_of
from backend.experiment.records import Stimulus, Study
from backend.foundation.csv_formulas import unescape_formula
from backend.foundation.csv_tables import read_rows
from backend.foundation.errors import InvalidInput, NotFound
from backend.foundation.names import composed
from backend.foundation.printable import printable
from backend.responses.bapps_export import FOLDER
from backend.responses.reading.bapps import ITEMS, ITEMS_BYTES, PARTS
from backend.responses.reading.distances import listed
from backend.stimuli.images import SUFFIXES
from backend.stimuli.item_folders import scan_items
from backend.stores.datadir import DataDir

_REF, _DISTORT = "ref", "distort"
_DEPTH = 3
"""A tree may be named from the folder of a set up to the folder that holds `2afc`."""


@dataclass(frozen=True)
class ItemPictures:
    """The picture files of items."""

    kind: str
    """`2afc` (reference, p0, p1) or `jnd` (p0, p1)."""
    files: Mapping[str, tuple[Path, ...]]
    """By item: the file of each part."""
    source: str
    """Where they come from, for messages."""

    def of(self, votes: Votes) -> "ItemPictures":
        """Return those of the items with votes, in the order of `votes.items`.

        Raises:
            InvalidInput: an item has no pictures, or the pictures are of the other kind.
        """
        names = votes.items
        if votes.kind != self.kind:
            raise InvalidInput(f"{self.source} has pictures for {self.kind}, but the votes are {votes.kind}")
        if missing := [name for name in names if name not in self.files]:
            raise InvalidInput(
                f"{self.source} has no pictures of {len(missing):,} of {len(names):,} items with votes: "
                f"{listed(missing)}"
            )
        return ItemPictures(self.kind, {name: self.files[name] for name in names}, self.source)


def pictures_of_study(data: DataDir, study: Study, pool: Iterable[Stimulus]) -> ItemPictures:
    """Return the pictures of a study's scored items, as evaluators see them.

    Raises:
        InvalidInput: the study has neither pairs nor triplets.
        NotFound: the data directory does not have its pictures.
    """
    kind = study.protocol.method
    if kind not in KINDS:
        raise InvalidInput(
            f"study {study.name} is of the method {kind}; distances are those of pairs or triplets "
            f"({' and '.join(KINDS)})"
        )
    folder = data.images(study.name)
    if not folder.is_dir():
        raise NotFound(
            f"the pictures of study {study.name} are not in {printable(data.root)}; name with --data the "
            "data directory in which it was created"
        )
    named = [(item.source, item.name) for item in pool if not item.role]
    files = {name: tuple(folder / each for each in pictures_of(stimulus)) for name, stimulus in sorted(named)}
    return ItemPictures(kind, files, f"study {study.name}")


def pictures_at(path: Path) -> ItemPictures:
    """Return the pictures of an export (`openhype export --bapps`), or of a tree of items.

    Trees are those of `openhype create --items`: folders `ref`, `p0`, `p1`, or `p0`, `p1`, of one set or of
    several, as in BAPPS, or the folders of NIGHTS.

    Raises:
        NotFound: there is nothing of this name.
        InvalidInput: it has no pictures of items, or some that do not belong together.
    """
    path = Path(path)
    if not path.exists():
        raise NotFound(f"{printable(path)} does not exist")
    if not path.is_dir():
        raise InvalidInput(
            f"{printable(path)} has no pictures; name the study, its export with pictures "
            "(openhype export NAME -o DIR --bapps), or a folder of pairs or triplets"
        )
    if (path / "data").is_dir():
        return _exported(path)
    return _tree(path)


def pictures_of_two(first: Path, second: Path) -> ItemPictures:
    """Return the pairs of pictures of one name (without its ending) in two folders, or of two files.

    Raises:
        NotFound: a path does not exist.
        InvalidInput: a picture has no counterpart, or a folder has two of one name.
    """
    for path in (first, second):
        if not path.exists():
            raise NotFound(f"{printable(path)} does not exist")
    source = f"{printable(first)} and {printable(second)}"
    if first.is_dir() != second.is_dir():
        raise InvalidInput(f"{source} must be two pictures or two folders")
    if not first.is_dir():
        return ItemPictures(JND, {printable(second.name): (first, second)}, source)
    names = [_stems(first), _stems(second)]
    for ours, theirs, other in ((names[0], names[1], second), (names[1], names[0], first)):
        if alone := [stem for stem in ours if stem not in theirs]:
            raise InvalidInput(
                f"{printable(ours[alone[0]])} has no picture {alone[0]} in {printable(other)}; files pair by "
                f"their names without endings ({len(alone):,} without)"
            )
    if not names[0]:
        raise InvalidInput(f"{printable(first)} has no pictures")
    return ItemPictures(JND, {stem: (path, names[1][stem]) for stem, path in names[0].items()}, source)


def _stems(folder: Path) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.suffix.lower() not in SUFFIXES:
            continue
        stem = composed(printable(path.stem))
        if stem in paths:
            raise InvalidInput(f"{printable(path)} and {printable(paths[stem])} have one name")
        paths[stem] = path
    return paths


def _exported(folder: Path) -> ItemPictures:
    """Return the pictures that an export has beside its responses, by the study's names of items."""
    table = folder / FOLDER / ITEMS
    if not table.is_file():
        raise InvalidInput(
            f"{printable(folder)} is an export without pictures; export them with openhype export NAME -o "
            f"{printable(folder)} --bapps, or name the study itself"
        )
    of_tree = _tree(folder / FOLDER)
    columns = ("set", "stem", "item")
    rows = read_rows(table, columns, ITEMS_BYTES)
    cells = ([unescape_formula(row[column]) for column in columns] for _, row in rows)
    names = {composed(f"{set_}/{stem}"): item for set_, stem, item in cells}
    files = {names[name]: files for name, files in of_tree.files.items() if name in names}
    return ItemPictures(of_tree.kind, files, printable(folder))


def _tree(root: Path) -> ItemPictures:
    named_sets = [*_sets(root, _DEPTH)]
    kinds = sorted({kind for kind, _ in named_sets})
    if not named_sets:
        raise InvalidInput(
            f"{printable(root)} has no pairs or triplets: no folders p0 and p1, with ref for triplets"
        )
    if len(kinds) > 1:
        each = " and ".join(printable(next(set_ for of, set_ in named_sets if of == kind)) for kind in kinds)
        raise InvalidInput(f"{printable(root)} has triplets and pairs; name {each} by itself")
    (kind,) = kinds
    sets: dict[str, Path] = {}
    for _, folder in named_sets:
        name = printable(folder.absolute().name)
        if name in sets:
            raise InvalidInput(f"the set {name} is there twice: {printable(sets[name])}, {printable(folder)}")
        sets[name] = folder
    return ItemPictures(kind, _scanned(sets, PARTS[kind], root), printable(root))


def _scanned(sets: Mapping[str, Path], parts: Sequence[str], root: Path) -> dict[str, tuple[Path, ...]]:
    scan = scan_items(sets, parts, {}, ())
    if problems := [*scan.folders, *scan.items]:
        first = problems[0]
        more = f" ({len(problems) - 1:,} more)" if len(problems) > 1 else ""
        raise InvalidInput(f"{printable(root)}: {first.what} {first.why}{more}")
    return {each.name: tuple(map(Path, each.files)) for each in scan.sources}


def _sets(folder: Path, depth: int) -> Iterator[tuple[str, Path]]:
    """Yield the kind and folder of each set, at most `depth` levels down, in the order of their names."""
    names = {entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith(".")}
    if _REF in names and {*PARTS[TWO_AFC], _DISTORT} & (names - {_REF}):
        yield TWO_AFC, folder
    elif {*PARTS[JND]} <= names:
        yield JND, folder
    elif depth:
        for name in sorted(names):
            yield from _sets(folder / name, depth - 1)
