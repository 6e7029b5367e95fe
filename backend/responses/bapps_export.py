"""Export of votes and pictures in the layout of the BAPPS data set, for the loaders of published code.

`bapps/2afc/val/NAME/{ref,p0,p1}/000000.png` with `judge/000000.npy`, or `bapps/jnd/val/NAME/{p0,p1}` with
`same/000000.npy`: the share of votes for `p1`, or for `same` (`reading.bapps`). Items are numbered in the
order of their names, so that the files of all folders pair by sorted position, and ties of distances stand
in the same order as in the study. `bapps/items.csv` says which item a number is, from how many
votes, and whether these are simulated.
"""

import csv
import io
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from backend.analysis.agreement.votes import Votes
from backend.experiment.judgment import pictures_of
from backend.experiment.records import Stimulus
from backend.foundation.csv_formulas import escape_formula
from backend.foundation.errors import InvalidInput, NotFound
from backend.foundation.names import clean
from backend.foundation.printable import printable
from backend.responses.reading.bapps import ITEMS, JUDGMENTS, PARTS, share_bytes
from backend.responses.reading.distances import listed

FOLDER = "bapps"
COLUMNS = ("set", "stem", "item", "votes", "votes_for", "share", "simulated")
Read = Callable[[str], bytes | None]
"""Reads a picture by its name; None if it is not there."""


@dataclass(frozen=True)
class Exported:
    """What was written, and what was left out."""

    folder: Path
    items: int
    unjudged: tuple[str, ...]
    """Items without a vote."""


@dataclass(frozen=True)
class _Item:
    """An item with votes, under the number that it gets in its set."""

    set: str
    stem: str
    name: str
    pictures: tuple[str, ...]
    votes: int
    votes_for: int

    @property
    def share(self) -> float:
        return self.votes_for / self.votes


def export_bapps(
    votes: Votes,
    pool: Iterable[Stimulus],
    read: Read,
    out: Path,
    progress: Callable[..., Iterable] | None = None,
) -> Exported:
    """Write the layout into `out/bapps`, replacing an earlier one; an error leaves an earlier one as it was.

    Args:
        pool: the study's items; those for practice and checks are left out.
        progress: wraps an iterable, such as a progress bar; called with the items, `total` and `label`.

    Raises:
        InvalidInput: a picture is broken, or the pictures of an item differ in size.
        NotFound: a picture is not there.
    """
    by_name = {item.source: item for item in pool if not item.role}
    items = _numbered(votes, by_name)
    partial, final = out / f".{FOLDER}.partial", out / FOLDER
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for item in progress(items, total=len(items), label="bapps") if progress else items:
            _write_item(read, votes.kind, item, partial)
        (partial / ITEMS).write_text(_table(items, votes.is_simulated), "utf-8")
        shutil.rmtree(final, ignore_errors=True)
        os.replace(partial, final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Exported(final, len(items), tuple(sorted({*by_name} - {*votes.items})))


def _numbered(votes: Votes, pool: dict[str, Stimulus]) -> list[_Item]:
    """Return the items with votes in order, numbered from 0 within each set."""
    if missing := [name for name in votes.items if name not in pool]:
        raise InvalidInput(f"votes are on items that the study does not have: {listed(missing)}")
    assert votes.count is not None  # known of a study's votes, which are single ones
    shares, counts, rows, numbers = votes.share, votes.count, [], dict.fromkeys(votes.sets, 0)
    for i, name in enumerate(votes.items):
        of_set = votes.sets[votes.set_of[i]]
        count = int(counts[i])
        stem, numbers[of_set] = f"{numbers[of_set]:06}", numbers[of_set] + 1
        rows.append(
            _Item(of_set, stem, name, tuple(pictures_of(pool[name].name)), count, round(shares[i] * count))
        )
    return rows


def _write_item(read: Read, kind: str, item: _Item, root: Path) -> None:
    folder = root / kind / "val" / _folder_name(item.set)
    parts = PARTS[kind]
    if len(item.pictures) != len(parts):
        raise InvalidInput(f"item {item.name} must have {len(parts)} pictures, not {len(item.pictures)}")
    sizes = {}
    for part, picture in zip(parts, item.pictures, strict=True):
        data = read(picture)
        if data is None:
            raise NotFound(f"the picture {picture} of item {item.name} is not in the data directory")
        (folder / part).mkdir(parents=True, exist_ok=True)
        sizes[part] = _write_png(data, folder / part / f"{item.stem}.png", item.name)
    if len({*sizes.values()}) > 1:
        each = ", ".join(f"{part} {width} x {height}" for part, (width, height) in sizes.items())
        raise InvalidInput(f"the pictures of item {item.name} must have one size, not {each}")
    (folder / JUDGMENTS[kind]).mkdir(parents=True, exist_ok=True)
    (folder / JUDGMENTS[kind] / f"{item.stem}.npy").write_bytes(share_bytes(item.share))


def _write_png(data: bytes, path: Path, item: str) -> tuple[int, int]:
    """Write a stored picture as PNG with the same pixels, and return its width and height."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            pixels = picture.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise InvalidInput(f"a picture of item {item} cannot be read: {error}") from None
    pixels.save(path, "PNG")
    return pixels.size


def _folder_name(name: str) -> str:
    """Return a set's name as a folder's, or refuse it."""
    if name in ("", ".", "..") or "/" in name or "\\" in name or clean(name) != name:
        raise InvalidInput(f"the set {printable(name)} cannot be the name of a folder")
    return name


def _table(items: Iterable[_Item], is_simulated: bool) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in items:
        cells = (getattr(item, column) for column in ("set", "stem", "name", "votes", "votes_for", "share"))
        writer.writerow([*map(escape_formula, cells), str(is_simulated).lower()])
    return file.getvalue()
