"""Dealing of crops to photographs: how many each gives, and where they lie, at random and without repeats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from backend.foundation.errors import InvalidInput

_ORDER, _PLACES = 1, 2
"""Parts of seeds, so that the order of photographs and the places in them are independent."""


@dataclass(frozen=True)
class Crop:
    """A square of one photograph."""

    photograph: int
    """Position in the list of photographs."""
    left_px: int
    top_px: int


def deal_crops(sizes: Sequence[tuple[int, int]], count: int, side_px: int, seed: int) -> list[Crop]:
    """Return `count` different crops, spread evenly over photographs.

    In every round each photograph gives one crop, in random order, as long as it has another place. Crops of
    one photograph may overlap. With a larger count the first crops stay the same.

    Args:
        sizes: width and height of each photograph (px), at least `side_px`.

    Raises:
        InvalidInput: the photographs have fewer places.
    """
    across = [width - side_px + 1 for width, _ in sizes]
    places = [columns * (height - side_px + 1) for columns, (_, height) in zip(across, sizes, strict=True)]
    if sum(places) < count:
        raise InvalidInput(
            f"{count:,} crops of {side_px} px were asked for, but {_photographs(len(sizes))} only "
            f"{sum(places):,} positions for one; ask for fewer, for smaller ones, or bring more photographs"
        )
    left = {i: _shuffled(total, np.random.default_rng([seed, _PLACES, i])) for i, total in enumerate(places)}
    crops: list[Crop] = []
    for number in _rounds(left, seed):
        place = next(left[number], None)
        if place is None:
            del left[number]
        else:
            top, at = divmod(place, across[number])
            crops.append(Crop(number, at, top))
        if len(crops) == count:
            return crops
    return crops


def _rounds(left: dict[int, Iterator[int]], seed: int) -> Iterator[int]:
    """Yield the photographs that are left again and again, in another order each time."""
    rng = np.random.default_rng([seed, _ORDER])
    while left:
        yield from rng.permutation([*left]).tolist()


def _shuffled(total: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield 0 to total - 1 in random order, by a Fisher-Yates shuffle that stores only what it moved."""
    moved: dict[int, int] = {}
    for i in range(total):
        j = int(rng.integers(i, total))
        here = moved.pop(i, i)
        if j == i:
            yield here
        else:
            yield moved.get(j, j)
            moved[j] = here


def _photographs(count: int) -> str:
    return "the one photograph has" if count == 1 else f"the {count:,} photographs have"
