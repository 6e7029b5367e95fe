"""A set of pairs or triplets made from photographs, in the layout of BAPPS, and how they were made.

The layout is that of Zhang et al. (CVPR 2018): folders `ref`, `p0` and `p1` for triplets, `p0`
and `p1` for pairs, with equal file names. Each item has a random generator of its own, from the seed and its
number, so that the files do not depend on the number of cores.
"""

import csv
import io
import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from backend.foundation.csv_formulas import escape_formula
from backend.foundation.errors import Conflict, InvalidInput, brief
from backend.foundation.printable import printable
from backend.stimuli import refusals
from backend.stimuli.crops import Crop, deal_crops
from backend.stimuli.distortions import Distortion, Step, apply, draw_sequence, named
from backend.stimuli.distortions.sequences import WHOLE_RANGE
from backend.stimuli.estimates import announced
from backend.stimuli.folders import Finding, Source, scan
from backend.stimuli.images import MIN_SIDE_PX, BadPicture, encode, load, upright_size
from backend.stimuli.parallel import cores, in_parallel

Kind = Literal["triplets", "pairs"]
FOLDERS: dict[str, tuple[str, ...]] = {"triplets": ("ref", "p0", "p1"), "pairs": ("p0", "p1")}
"""Folders of each kind; the first has the undistorted crops."""
TABLE = "distortions.csv"
COLUMNS = (
    "item", "file", "photograph", "left_px", "top_px", "is_subtle", "step", "distortion", "parameters"
)  # fmt: skip
"""Columns of the table, which has a row for each step of each file, and one for each undistorted file."""
SUBTLE_POSITIONS = (0.0, 0.25)
"""Positions of the magnitude of a subtle pair's one distortion, of 0 (mildest) to 1 (strongest)."""
LONGEST = 4
MOST = 1_000_000
LARGEST_PX = 2048
_ITEM = 3
"""Part of the seeds of items; crops.py has others."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_FEWEST, _JOB = 4, 128
"""Fewest and most items made at a time from a photograph, which is decoded each time."""
_TRIES, _PLACES = 10, 20
"""Draws of distortions for a crop, and crops, before a photograph is given up."""
_DIGITS = 6


@dataclass(frozen=True)
class SetOptions:
    """What is made of the photographs.

    Raises:
        InvalidInput: a value is out of range.
    """

    kind: Kind = "triplets"
    count: int = 100
    size_px: int = 64
    seed: int = 0
    name: str = "traditional"
    longest: int = 2
    """Most distortions in a sequence."""
    subtle: float = 0.3
    """Probability (0 to 1) that a pair has one distortion of `SUBTLE_POSITIONS`; triplets have none."""
    only: tuple[str, ...] = ()
    """Names of distortions or sub-types to draw from; empty for all."""
    short_side_px: int | None = None
    """Short side to which larger photographs are scaled down before they are cropped; None for no scaling."""

    def __post_init__(self) -> None:
        if self.kind not in FOLDERS:
            raise InvalidInput(f"kind must be {' or '.join(FOLDERS)}, not {self.kind!r}")
        _check_whole("count", self.count, 1, MOST)
        _check_whole("size", self.size_px, MIN_SIDE_PX, LARGEST_PX)
        _check_whole("longest", self.longest, 1, LONGEST)
        if self.seed < 0:
            raise InvalidInput(f"seed must be 0 or more, not {brief(self.seed)}")
        if not 0 <= self.subtle <= 1:
            raise InvalidInput(f"subtle must be a share from 0 to 1, not {self.subtle}")
        if self.short_side_px is not None and self.short_side_px < self.size_px:
            raise InvalidInput(
                f"photographs with a short side of {self.short_side_px} px have no crops of {self.size_px} px"
            )
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(
                "the name of a set must be letters, digits, dots, hyphens and underscores, and begin with a "
                f"letter or digit, not {self.name!r}"
            )
        named(self.only)

    @property
    def distortions(self) -> tuple[Distortion, ...]:
        return named(self.only)


@dataclass(frozen=True)
class MadeSet:
    """The result of `make_set`."""

    folder: Path
    photographs: int
    most_of_one: int
    """Most crops that one photograph gave."""
    subtle: int
    """Number of subtle pairs."""
    notes: tuple[str, ...]
    """What was left out of the folder of photographs."""


@dataclass(frozen=True)
class _Photographs:
    """The photographs of a folder that can be used, with their sizes, and what was left out."""

    sizes: dict[Source, tuple[int, int]]
    no_pictures: tuple[str, ...]
    left_out: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class _Job:
    """Some items of one photograph."""

    source: Source
    items: tuple[tuple[int, Crop], ...]
    folder: Path
    options: SetOptions


@dataclass(frozen=True)
class _Item:
    """One item that was made, or why it could not be."""

    number: int
    rows: str = ""
    """Its rows of the table."""
    is_subtle: bool = False
    finding: Finding | None = None


def make_set(
    photographs: Path,
    out: Path,
    options: SetOptions,
    *,
    skip_bad: bool = False,
    workers: int | None = None,
    progress: Callable[..., Iterable] | None = None,
    say: Callable[[str], Any] | None = None,
) -> MadeSet:
    """Write a set into the folder `options.name` of `out`, all of it or nothing.

    Args:
        photographs: folder of photographs, or of sub-folders with photographs.
        skip_bad: whether to leave out photographs that cannot be read or are smaller than the crops.
        workers: number of processes; default, one a core.
        progress: wraps an iterable: `progress(items, total, label)`.
        say: called with an estimate of the time, if it is long.

    Raises:
        Conflict: the folder of the set exists and is not empty.
        InvalidInput: there are no photographs, too few places, or files that cannot be used; names them.
    """
    folder = out / options.name
    _check_out(photographs, folder)
    photographs_read = _usable_photographs(photographs, options, skip_bad, progress)
    with _new_folder(folder) as partial:
        for name in FOLDERS[options.kind]:
            (partial / name).mkdir()
        while True:
            crops = deal_crops(
                [*photographs_read.sizes.values()], options.count, options.size_px, options.seed
            )
            jobs = _jobs([*photographs_read.sizes], crops, partial, options)
            items = _made(jobs, options, workers, progress, say)
            broken = tuple({item.finding: None for item in items if item.finding})
            if not broken:
                break
            photographs_read = _without(photographs, photographs_read, broken, skip_bad)
        _write_table(partial / TABLE, items)
    each = Counter(crop.photograph for crop in crops)
    notes = tuple(refusals.left_out_notes(photographs_read.no_pictures, (), photographs_read.left_out))
    return MadeSet(folder, len(each), max(each.values()), sum(item.is_subtle for item in items), notes)


def _check_out(photographs: Path, folder: Path) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        raise Conflict(f"{printable(folder)} is not empty; choose another folder, or another --name")
    if folder.exists() and not folder.is_dir():
        raise Conflict(f"{printable(folder)} is a file; choose another folder, or another --name")
    if folder.resolve().is_relative_to(photographs.resolve()):
        raise InvalidInput(
            f"{printable(folder)} lies inside the folder of the photographs, {printable(photographs)}, and "
            "would be taken for photographs next time; choose a folder outside"
        )


def _usable_photographs(
    photographs: Path, options: SetOptions, skip_bad: bool, progress: Callable | None
) -> _Photographs:
    """Return the photographs of a folder, by their headers alone."""
    scanned = scan(photographs, {}, "the photographs")
    refusals.check(scanned.of_folders, [], "")
    sizes: dict[Source, tuple[int, int]] = {}
    unfit, no_pictures = scanned.of_files, [*scanned.no_pictures]
    sources = scanned.sources
    for source in progress(sources, len(sources), "photographs") if progress else sources:
        try:
            sizes[source] = _cropped_size(source.path, options)
        except BadPicture as error:
            if error.kind in ("no picture", "empty") and not source.path.suffix:
                no_pictures.append(printable(source.path))
            else:
                unfit.append(Finding(error.kind, printable(source.path), error.why))
    return _without(photographs, _Photographs(sizes, tuple(no_pictures)), unfit, skip_bad)


def _without(
    photographs: Path, photographs_read: _Photographs, bad: Sequence[Finding], skip_bad: bool
) -> _Photographs:
    """Return the photographs but for bad ones; raise Refused unless bad ones are to be left out."""
    if not skip_bad:
        refusals.check([], bad, "")
    names = {finding.what for finding in bad}
    sizes = {
        source: size for source, size in photographs_read.sizes.items() if printable(source.path) not in names
    }
    if not sizes:
        notes = "; ".join(
            refusals.left_out_notes(photographs_read.no_pictures, (), (*photographs_read.left_out, *bad))
        )
        raise InvalidInput(f"{printable(photographs)} has no photograph that can be used: {notes}")
    return _Photographs(sizes, photographs_read.no_pictures, (*photographs_read.left_out, *bad))


def _cropped_size(path: Path, options: SetOptions) -> tuple[int, int]:
    """Return the size (px) of a photograph as it is cropped; raise BadPicture if it is too small."""
    size = _scaled(upright_size(path), options.short_side_px)
    if min(size) < options.size_px:
        raise BadPicture(
            path,
            "small",
            f"has {size[0]} x {size[1]} pixels, and needs {options.size_px} or more on each side for a crop; "
            "nothing is scaled up",
        )
    return size


def _scaled(size: tuple[int, int], short_side_px: int | None) -> tuple[int, int]:
    """Return a size with a short side of at most `short_side_px`."""
    if short_side_px is None or min(size) <= short_side_px:
        return size
    width, height = (max(round(side * short_side_px / min(size)), short_side_px) for side in size)
    return width, height


def _jobs(sources: Sequence[Source], crops: Sequence[Crop], folder: Path, options: SetOptions) -> list[_Job]:
    """Return the items of each photograph, in parts that occupy all cores."""
    of_each = defaultdict(list)
    for number, crop in enumerate(crops):
        of_each[crop.photograph].append((number, crop))
    most = min(max(-(-len(crops) // (4 * cores())), _FEWEST), _JOB)
    return [
        _Job(sources[photograph], tuple(items[start : start + most]), folder, options)
        for photograph, items in sorted(of_each.items())
        for start in range(0, len(items), most)
    ]


def _made(
    jobs: Sequence[_Job],
    options: SetOptions,
    workers: int | None,
    progress: Callable | None,
    say: Callable[[str], Any] | None,
) -> list[_Item]:
    """Return all items in order, having written their files."""
    text = f"{options.count:,} {options.kind} will take {{}}"
    with in_parallel(_make, jobs, workers, chunk=1) as results:
        making = (item for items in results for item in items)
        tracked = announced(making, options.count, say, text, first=_JOB)
        items = progress(tracked, options.count, options.kind) if progress else tracked
        return sorted(items, key=lambda item: item.number)


def _make(job: _Job) -> list[_Item]:
    """Make the items of one photograph; runs in a worker process."""
    try:
        picture, _ = load(job.source.path)
        size = _scaled(picture.size, job.options.short_side_px)
        if size != picture.size:
            picture = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3)
    except BadPicture as error:
        finding = Finding(error.kind, printable(job.source.path), error.why)
        return [_Item(number, finding=finding) for number, _ in job.items]
    return [_made_item(picture, job, number, crop) for number, crop in job.items]


def _made_item(photograph: Image.Image, job: _Job, number: int, crop: Crop) -> _Item:
    """Write the files of one item, and return its rows of the table."""
    options = job.options
    rng = np.random.default_rng([options.seed, _ITEM, number])
    is_subtle = options.kind == "pairs" and rng.random() < options.subtle
    for place in _places(crop, photograph.size, options.size_px, rng):
        picture = _cut(photograph, place, options.size_px)
        drawn = _drawn(picture, options, is_subtle, rng)
        if drawn is not None:
            break
    else:
        raise InvalidInput(
            f"{printable(job.source.path)}: none of {_PLACES} positions is changed by "
            f"{', '.join(options.only) or 'any distortion'}; choose other distortions, or leave it out"
        )
    rows, stem = io.StringIO(), f"{number:0{_DIGITS}}"
    writer = csv.writer(rows, lineterminator="\n")
    for folder, (steps, made) in zip(FOLDERS[options.kind], [((), picture), *drawn], strict=True):
        file = f"{folder}/{stem}.png"
        (job.folder / file).write_bytes(encode(Image.fromarray(made), "png"))
        of_file = (stem, file, job.source.relative, place.left_px, place.top_px, int(is_subtle))
        writer.writerows([*map(escape_formula, of_file), *row] for row in _rows(steps))
    return _Item(number, rows.getvalue(), is_subtle)


def _places(crop: Crop, size: tuple[int, int], side_px: int, rng: np.random.Generator) -> Iterator[Crop]:
    """Yield a crop, then others of the same photograph, for crops that distortions leave as they are."""
    yield crop
    for _ in range(_PLACES - 1):
        left, top = (int(rng.integers(length - side_px + 1)) for length in size)
        yield Crop(crop.photograph, left, top)


def _cut(photograph: Image.Image, place: Crop, side_px: int) -> np.ndarray:
    left, top = place.left_px, place.top_px
    return np.asarray(photograph.crop((left, top, left + side_px, top + side_px)))


def _drawn(
    picture: np.ndarray, options: SetOptions, is_subtle: bool, rng: np.random.Generator
) -> list[tuple[tuple[Step, ...], np.ndarray]] | None:
    """Return the distorted pictures of an item with their steps, or None if no draw makes all different."""
    longest, positions = (1, SUBTLE_POSITIONS) if is_subtle else (options.longest, WHOLE_RANGE)
    wanted = len(FOLDERS[options.kind]) - 1
    for _ in range(_TRIES):
        sequences = [draw_sequence(rng, longest, positions, options.distortions) for _ in range(wanted)]
        made = [apply(picture, steps) for steps in sequences]
        if len({one.tobytes() for one in (picture, *made)}) == wanted + 1:
            return list(zip(sequences, made, strict=True))
    return None


def _rows(steps: Sequence[Step]) -> list[tuple[int, str, str]]:
    """Return the last columns of a file's rows."""
    texts = [" ".join(f"{name}={value}" for name, value in step.values.items()) for step in steps]
    rows = [(i, step.name, text) for i, (step, text) in enumerate(zip(steps, texts, strict=True), start=1)]
    return rows or [(0, "", "")]


def _write_table(path: Path, items: Sequence[_Item]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(COLUMNS) + "\n")
        file.writelines(item.rows for item in items)


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Yield a hidden folder to fill, which becomes `folder` after the block, or is removed if it fails."""
    missing = [parent for parent in folder.parents if not parent.exists()]
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    try:
        partial.mkdir(parents=True)
        yield partial
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        raise


def _check_whole(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidInput(f"{name} must be a whole number from {least} to {most:,}, not {brief(value)}")
