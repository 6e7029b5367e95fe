"""Cells of a CSV as bytes: compared, looked up and turned into numbers without an object a cell.

Eight bytes of a cell are one 64-bit number, and numpy works on whole columns of them.
"""

from dataclasses import dataclass

import numpy as np

LONGEST = 256
"""Bytes of a cell; with longer ones the file is not plain."""
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(9)], np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_NUMBER_BYTES = np.isin(np.arange(256), np.frombuffer(b"0123456789.eE+-", np.uint8))


class NotPlain(Exception):
    """The careful reader has to read this file."""


@dataclass(frozen=True)
class Cells:
    """Some rows of one column: where each cell begins in the bytes, and how long it is."""

    data: np.ndarray
    """uint8, with `LONGEST` + 8 zeros behind the last row."""
    starts: np.ndarray
    lengths: np.ndarray

    def words(self) -> list[np.ndarray]:
        """Return the cells' bytes, eight a number, first the first eight; zeros behind a cell's end."""
        count = max(1, -(-int(self.lengths.max()) // 8))
        windows = np.ndarray((len(self.data) - 7,), "<u8", self.data, strides=(1,))
        return [
            windows[self.starts + 8 * j] & _MASKS[np.clip(self.lengths - 8 * j, 0, 8)] for j in range(count)
        ]

    def texts(self, rows: np.ndarray) -> list[str]:
        """Return the texts of some rows."""
        ends = self.starts + self.lengths
        return [self.data[self.starts[i] : ends[i]].tobytes().decode() for i in rows]

    def are(self, text: str) -> np.ndarray:
        """Tell of each cell whether it holds `text`, of eight bytes at most."""
        word = np.uint64(int.from_bytes(text.encode(), "little"))
        return (self.lengths == len(text)) & (self.words()[0] == word)

    def wholes(self) -> np.ndarray:
        """Return the whole numbers that cells of digits hold; -1 for an empty cell."""
        if self.lengths.max() > 8:
            raise NotPlain
        shift = (8 * (8 - self.lengths)).astype(np.uint64)
        digits = np.where(self.lengths > 0, self.words()[0], np.uint64(0)) << np.minimum(shift, np.uint64(63))
        expected = np.uint64(0x3030303030303030) << np.minimum(shift, np.uint64(63))
        high = np.uint64(0xF0F0F0F0F0F0F0F0)
        with np.errstate(over="ignore"):
            is_digits = (digits & high == expected) & (
                (digits + np.uint64(0x0606060606060606)) & high == expected
            )
            if not np.all(is_digits | (self.lengths == 0)):
                raise NotPlain
            # pairs, then fours, then all eight digits are joined, each by one multiplication
            number = (digits & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(2561) >> np.uint64(8)
            number = (number & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601) >> np.uint64(16)
            number = (number & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001) >> np.uint64(32)
        return np.where(self.lengths > 0, number.astype(np.int64), -1)

    def numbers(self) -> np.ndarray:
        """Return the decimal numbers that cells hold; NaN for an empty cell."""
        width = max(1, int(self.lengths.max()))
        places = self.starts[:, None] + np.arange(width)
        inside = np.arange(width) < self.lengths[:, None]
        letters = np.where(inside, self.data[places], 0)
        if not np.all(_NUMBER_BYTES[letters] | ~inside):
            raise NotPlain
        is_empty = self.lengths == 0
        letters[is_empty, 0] = ord("0")
        try:
            numbers = letters.astype(np.uint8).view(f"S{width}")[:, 0].astype(float)
        except ValueError:
            raise NotPlain from None
        if not np.isfinite(numbers).all():
            raise NotPlain
        numbers[is_empty] = np.nan
        return numbers


class Levels:
    """The different texts of a column, found block by block; codes in order of first appearance."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._keys = np.empty(0, np.uint64)
        self._codes = np.empty(0, np.int32)
        self._lengths = np.empty(0, np.int64)
        self._words = np.empty((0, 1), np.uint64)

    def codes(self, cells: Cells) -> np.ndarray:
        """Return the code of each cell, int32."""
        words = cells.words()
        key = words[0].copy()
        for j, word in enumerate(words[1:], start=1):
            key ^= word * (_MIX + np.uint64(2 * j))
        # a file mostly has the rows of an evaluator one after another: only changes are looked up
        changes = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        places = self._find(key[changes])
        if places is None:
            self._learn(cells, key[changes], changes, words)
            places = self._find(key[changes])
        codes = np.repeat(self._codes[places], np.diff(np.append(changes, len(key))))
        # two texts may share a key
        if (self._lengths[codes] != cells.lengths).any() or any(
            (self._words[codes, j] != word).any() for j, word in enumerate(words)
        ):
            raise NotPlain
        return codes

    def _find(self, key: np.ndarray) -> np.ndarray | None:
        if not len(self._keys):
            return None
        places = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return places if (self._keys[places] == key).all() else None

    def _learn(self, cells: Cells, key: np.ndarray, rows: np.ndarray, words: list[np.ndarray]) -> None:
        """Take in the texts of some rows, whose keys are `key`."""
        found, first = np.unique(key, return_index=True)
        place = np.searchsorted(self._keys, found)
        if len(self._keys):
            is_new = self._keys[np.minimum(place, len(self._keys) - 1)] != found
            found, first, place = found[is_new], first[is_new], place[is_new]
        in_order = np.argsort(first)
        codes = np.empty(len(first), np.int32)
        codes[in_order] = np.arange(len(self.texts), len(self.texts) + len(first))
        first = rows[first[in_order]]
        self.texts += cells.texts(first)
        new = np.stack([word[first] for word in words], axis=1)
        width = max(new.shape[1], self._words.shape[1])
        new, known = (np.pad(some, [(0, 0), (0, width - some.shape[1])]) for some in (new, self._words))
        self._words = np.concatenate([known, new])
        self._lengths = np.concatenate([self._lengths, cells.lengths[first]])
        self._keys, self._codes = np.insert(self._keys, place, found), np.insert(self._codes, place, codes)
