"""Rows of plain data, stored as columns of codes and built when they are read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_AT_ONCE = 4096


@dataclass(frozen=True)
class Part:
    """The values of one or several keys in every row."""

    codes: np.ndarray
    """Shape (rows,): the index of each row's value in `values`."""
    values: Sequence[Any]
    key: str = ""
    """The key of these values; if it is empty, each value is a mapping of several keys."""


class ColumnRows(Sequence):
    """A sequence of mappings that all have the same keys; equal to the list of them.

    For 400,000 stimuli, three arrays are stored instead of 400,000 mappings.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        """Store the parts that make up each row, in the order of its keys."""
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return len(self.parts[0].codes)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]

    def __getitem__(self, index: int | slice) -> Any:
        if not isinstance(index, slice):
            return self._row(int(part.codes[index]) for part in self.parts)
        return [
            self._row(codes)
            for codes in zip(*(part.codes[index].tolist() for part in self.parts), strict=True)
        ]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def _row(self, codes: Any) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for part, code in zip(self.parts, codes, strict=True):
            if part.key:
                row[part.key] = part.values[code]
            else:
                row |= part.values[code]
        return row
