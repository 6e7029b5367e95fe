"""Names of a pool's stimuli in pages: 16 bytes per picture, read a page at a time.

A side of a pool (the reals, or a model's fakes, of one class) has its names in order, `NAMES_PER_PAGE` in
each page but its last. A session shows some hundred stimuli of perhaps a million, so that a store which
reads pages on demand needs few of them, and one that keeps all of them needs 17 bytes per stimulus.
"""

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import overload

from backend.experiment.sampling import Pool

NAMES_PER_PAGE = 240
"""A page of usual names, with its keys, stays below the 4 KB that one read unit of DynamoDB pays for."""
_PAGES_AT_ONCE = 100
_USUAL = re.compile(r"[0-9a-f]{32}(\.[a-z0-9]{1,8})")
"""A 128-bit hash with an extension; other names are stored as text."""
_HASH = 16
_AS_TEXT = b"\0"
_SEVERAL = 0x80
"""Added to the number of pictures of each stimulus, if they are several; the suffix follows."""
_BYTES_PER_PAGE, _BYTES_PER_SIDE = 100, 1000
"""Memory that a page and a side take besides their names."""

Pages = Callable[[Iterable[int]], Mapping[int, bytes]]
"""Returns packed pages by their numbers."""


class PackedNames(Sequence[str]):
    """Names in `packed` bytes, as `pack_names` returns them."""

    def __init__(self, packed: bytes):
        self._packed = packed
        has_several = packed[0] >= _SEVERAL
        self._pictures = packed[0] - _SEVERAL if has_several else 1
        head = 1 + has_several
        length = packed[head - 1]
        self._suffix = packed[head : head + length].decode()
        self._start = head + length
        self._text: list[str] | None = json.loads(zlib.decompress(packed[1:])) if length == 0 else None

    def __len__(self) -> int:
        if self._text is not None:
            return len(self._text)
        return (len(self._packed) - self._start) // (self._pictures * _HASH)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[str]: ...
    def __getitem__(self, i: int | slice) -> str | Sequence[str]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if self._text is not None:
            return self._text[i]
        first = self._start + self._pictures * _HASH * range(len(self))[i]
        starts = range(first, first + self._pictures * _HASH, _HASH)
        return " ".join(self._packed[start : start + _HASH].hex() + self._suffix for start in starts)


def pack_names(names: Sequence[str]) -> bytes:
    """Return names encoded; hashes with one extension take 16 bytes each.

    So do those of stimuli of several pictures, if all stimuli have as many.
    """
    pictures = [name.split(" ") for name in names]
    usual = [_USUAL.fullmatch(picture) for own in pictures for picture in own]
    suffixes = {str(match[1]) for match in usual if match}
    counts = set(map(len, pictures))
    if len(suffixes) != 1 or None in usual or len(counts) != 1:
        return _AS_TEXT + zlib.compress(json.dumps(names, separators=(",", ":")).encode(), 9)
    (suffix,), (count,) = suffixes, counts
    head = bytes([_SEVERAL + count]) if count > 1 else b""
    hashes = bytes.fromhex("".join(picture[:32] for own in pictures for picture in own))
    return head + bytes([len(suffix)]) + suffix.encode() + hashes


class PagedNames(Sequence[str]):
    """The names of one side, from the page `first_page` on; see `sampling.Names`."""

    def __init__(self, pages: Pages, first_page: int, count: int):
        self._pages, self._first_page, self._count = pages, first_page, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[str]: ...
    def __getitem__(self, i: int | slice) -> str | Sequence[str]:
        if isinstance(i, slice):
            return self.several(range(self._count)[i])
        return self.several([range(self._count)[i]])[0]

    def __iter__(self) -> Iterator[str]:
        step = _PAGES_AT_ONCE * NAMES_PER_PAGE
        for start in range(0, self._count, step):
            yield from self.several(range(start, min(start + step, self._count)))

    def several(self, places: Sequence[int]) -> list[str]:
        """Return the names at the indices `places`; their pages are read at once."""
        split = [divmod(place, NAMES_PER_PAGE) for place in places]
        packed = self._pages({self._first_page + page for page, _ in split})
        opened = {page: PackedNames(data) for page, data in packed.items()}
        return [opened[self._first_page + page][i] for page, i in split]


def pages_of(names: Sequence[str]) -> Iterator[bytes]:
    for start in range(0, len(names), NAMES_PER_PAGE):
        yield pack_names(names[start : start + NAMES_PER_PAGE])


def page_count(names: int) -> int:
    """Return the number of pages that so many names take."""
    return -(-names // NAMES_PER_PAGE)


class SideBuilder:
    """Collects the names of one side, in order, as packed pages."""

    def __init__(self) -> None:
        self.pages: list[bytes] = []
        self.count = 0
        self._pending: list[str] = []

    def add(self, name: str) -> None:
        self._pending.append(name)
        self.count += 1
        if len(self._pending) == NAMES_PER_PAGE:
            self.finish()

    def finish(self) -> None:
        """Pack the last page; to be called once all names are added."""
        if self._pending:
            self.pages.append(pack_names(self._pending))
            self._pending = []


def held_pool(rows: Iterable[tuple[str, str, str | None, str, str]]) -> Pool:
    """Return a pool that is kept in memory, 17 bytes per stimulus.

    Args:
        rows: name, truth, model (None for a real), class and role of each stimulus, in the order of the
            names.
    """
    sides: dict[tuple[str, str | None, str, str], SideBuilder] = {}
    for name, truth, model, class_, role in rows:
        key = (truth, model, class_, role)
        side = sides.get(key)
        if side is None:
            side = sides[key] = SideBuilder()
        side.add(name)
    pages: list[bytes] = []
    placed = []
    for key, side in sides.items():
        side.finish()
        placed.append((key, len(pages), side.count))
        pages += side.pages
    return pool_of_sides(placed, held_pages(pages), held_bytes(pages, len(placed)))


def held_pages(pages: Sequence[bytes]) -> Pages:
    """Return what reads pages that are in memory."""
    return lambda numbers: {number: pages[number] for number in numbers}


def held_bytes(pages: Sequence[bytes], sides: int) -> int:
    """Return about how many bytes of memory pages and sides take."""
    return sum(map(len, pages)) + _BYTES_PER_PAGE * len(pages) + _BYTES_PER_SIDE * sides


def pool_of_sides(
    sides: Iterable[tuple[tuple[str, str | None, str, str], int, int]], pages: Pages, memory_bytes: int
) -> Pool:
    """Return a pool of sides.

    Args:
        sides: (truth, model (None for reals), class, role), first page and number of names of each.
    """
    reals: dict[str, PagedNames] = {}
    fakes: dict[str, dict[str, PagedNames]] = {}
    aside: dict[str, list[tuple[str, str | None, PagedNames]]] = {}
    for (truth, model, class_, role), first_page, count in sides:
        names = PagedNames(pages, first_page, count)
        if role:
            aside.setdefault(role, []).append((truth, model, names))
        else:
            by_class = reals if model is None else fakes.setdefault(model, {})
            by_class[class_] = names
    return Pool(reals, fakes, memory_bytes, aside=aside)
