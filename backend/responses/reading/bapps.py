"""The layout of the BAPPS data set: `NAME/{ref,p0,p1}/STEM.png` with `judge/STEM.npy`, or `same/STEM.npy`.

A judge file is an array of one 32-bit float, the share of votes for `p1` (2AFC) or for `same` (JND). The
loader of the reference code (richzhang/PerceptualSimilarity) pairs the files of a set's folders by their
sorted positions; here their stems must be equal too.
"""

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from backend.analysis.agreement.votes import JND, TWO_AFC, Votes, votes_of_shares
from backend.analysis.table.response_table import truth_value
from backend.foundation.csv_tables import read_rows
from backend.foundation.errors import InvalidInput, NotFound, reason
from backend.foundation.names import composed, is_set_aside
from backend.foundation.npy_header import NoHeader, read_npy_header
from backend.foundation.printable import printable

JUDGMENTS = {TWO_AFC: "judge", JND: "same"}
"""Folder of the judgments by kind."""
PARTS = {TWO_AFC: ("ref", "p0", "p1"), JND: ("p0", "p1")}
"""Folders of the pictures by kind, in the order of an item's parts."""
ITEMS = "items.csv"
"""Table of an exported tree, at its root, which says whether its votes are simulated."""
ITEMS_BYTES = 1 << 28
_DEPTH = 3
"""A tree may be named from `2afc/val/NAME` up to the folder that holds `2afc`."""
_MOST_BYTES = 4096
_FIRST_BYTES = 128
_FLOAT_BYTES = 4


def is_bapps(folder: Path) -> bool:
    """Return whether a folder is a set, or holds sets, in the layout of BAPPS."""
    return any(_sets(folder, name) for name in JUDGMENTS.values())


def read_bapps(folder: Path, votes_per_item: int | None = None) -> Votes:
    """Return the judgments of a tree: of one set, or of all sets of one kind.

    Args:
        votes_per_item: number of votes behind each share, which the files do not tell (5 in the 2AFC
            validation sets of BAPPS, 2 in its training sets, 3 in its JND sets).

    Raises:
        NotFound: there are no judgments.
        InvalidInput: there are both kinds, two sets of one name, files that do not pair, or a judge file
            that is not one share.
    """
    folders = {kind: _sets(folder, name) for kind, name in JUDGMENTS.items()}
    kinds = [kind for kind, sets in folders.items() if sets]
    if not kinds:
        raise NotFound(
            f"{printable(folder)} has no judgments in the layout of BAPPS, which are in NAME/judge/*.npy "
            "(2AFC) or NAME/same/*.npy (JND)"
        )
    if len(kinds) > 1:
        first, second = (printable(folders[kind][0].parent) for kind in kinds)
        raise InvalidInput(f"{printable(folder)} has 2AFC and JND judgments; name {first} or {second}")
    (kind,) = kinds
    names = [each.name for each in folders[kind]]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        places = [printable(each.parent) for each in folders[kind] if each.name == twice[0]]
        raise InvalidInput(f"the set {twice[0]} is there twice; name one of {', '.join(places)}")
    shares = {each.name: read_set(each, kind) for each in folders[kind]}
    items = {
        name: {composed(f"{name}/{stem}"): share for stem, share in of.items()} for name, of in shares.items()
    }
    votes = votes_of_shares(kind, items, votes_per_item)
    return replace(votes, is_simulated=_is_simulated(folder))


def _is_simulated(folder: Path) -> bool:
    """Return whether the table of an exported tree, in `folder` or above it, says so."""
    root = folder.absolute()
    tables = (place / ITEMS for place in (root, *root.parents[:_DEPTH]))
    table = next(filter(_is_exported, tables), None)
    return table is not None and any(
        truth_value(row["simulated"]) for _, row in read_rows(table, ("simulated",), ITEMS_BYTES)
    )


def _is_exported(table: Path) -> bool:
    """Return whether a file is the table of an exported tree, by its first line, not another of its name."""
    try:
        with table.open("rb") as file:
            return b"simulated" in file.read(_FIRST_BYTES).replace(b"\0", b"")  # UTF-16 is refused later
    except OSError:
        return False


def read_set(folder: Path, kind: str) -> Mapping[str, float]:
    """Return the shares of a set's items by stem.

    Raises:
        InvalidInput: as in `read_bapps`.
    """
    name = JUDGMENTS[kind]
    judged = _stems(folder / name)
    if not judged:
        raise InvalidInput(f"{printable(folder / name)} has no *.npy file")
    for part in PARTS[kind]:
        if (folder / part).is_dir():
            _check_pairs(folder, name, judged, part, _stems(folder / part))
    return {stem: read_share(path) for stem, path in judged.items()}


def read_share(path: Path) -> float:
    """Return the share (0 to 1) in a judge file.

    Raises:
        InvalidInput: the file is not an array of one 32-bit float from 0 to 1.
    """
    shown = printable(path)
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{shown} cannot be read: {reason(error)}") from None
    stream = io.BytesIO(data)
    try:
        header = read_npy_header(stream)
    except NoHeader:
        raise InvalidInput(f"{shown} must be a file of numpy (.npy) with one 32-bit float") from None
    shape, dtype = header.shape, header.dtype
    if dtype.newbyteorder("=") != np.dtype(np.float32) or shape != (1,):
        raise InvalidInput(f"{shown} must hold one 32-bit float, shape (1,), not {dtype} of shape {shape}")
    body = stream.read()
    if len(body) != _FLOAT_BYTES:
        raise InvalidInput(f"{shown} must have {_FLOAT_BYTES} bytes after its header, not {len(body)}")
    share = float(np.frombuffer(body, dtype)[0])
    if not 0 <= share <= 1:
        raise InvalidInput(f"{shown} must hold a share from 0 to 1, not {share:g}")
    return share


def share_bytes(share: float) -> bytes:
    """Return the content of a judge file."""
    stream = io.BytesIO()
    np.save(stream, np.array([share], "<f4"), allow_pickle=False)
    return stream.getvalue()


def _sets(folder: Path, name: str) -> list[Path]:
    """Return the folders of sets, those with a folder of judgments, at most `_DEPTH` levels down."""
    levels = ["*/" * depth + name for depth in range(_DEPTH + 1)]
    return sorted(
        path.parent.absolute() if depth == 0 else path.parent
        for depth, pattern in enumerate(levels)
        for path in folder.glob(pattern)
        if path.is_dir()
    )


def _stems(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by stem, sorted by name as the reference's loader sorts them."""
    is_judgment = folder.name in JUDGMENTS.values()
    paths = sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and not is_set_aside(path.name) and (path.suffix == ".npy" or not is_judgment)
    )
    stems: dict[str, Path] = {}
    for path in paths:
        stem = composed(path.stem)
        if stem in stems:
            raise InvalidInput(f"{printable(path)} and {printable(stems[stem])} have one stem")
        stems[stem] = path
    return stems


def _check_pairs(
    folder: Path, name: str, judged: Mapping[str, Path], part: str, pictures: Mapping[str, Path]
) -> None:
    without = [stem for stem in judged if stem not in pictures]
    if without:
        raise InvalidInput(
            f"{printable(judged[without[0]])} has no picture {without[0]} in {printable(folder / part)}; "
            f"files pair by their stems ({len(without):,} without)"
        )
    unjudged = [stem for stem in pictures if stem not in judged]
    if unjudged:
        raise InvalidInput(
            f"{printable(pictures[unjudged[0]])} has no judgment {unjudged[0]}.npy in "
            f"{printable(folder / name)}; files pair by their stems ({len(unjudged):,} without)"
        )
