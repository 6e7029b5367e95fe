"""Marks: where pictures give themselves away, and on which of them evaluators agree.

A mark is a point or a box, in thousandths of a picture's width and height from its upper left. Each is turned
into a map on a grid: a point into a normal kernel (`KERNEL`), a box into its area. The heat map of a picture
is the sum of its marks' maps, each with a total of 1.

Agreement is that of two marks of different evaluators, the cosine of their maps (1 for the same place, 0 for
places that do not touch), averaged over the pairs of a picture's marks, and corrected for chance like kappa
(Cohen, 1960): (own - other) / (1 - other), where `other` is the average over pairs of one mark of the picture
and one of another picture. If everybody marks the middle of every picture, agreement is 0. Its p-value is
that of a randomization test: how often as many marks drawn from all pictures of the group agree as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from backend.analysis.table.response_table import Answers
from backend.experiment.response_columns import number
from backend.foundation.counted_nouns import counted

GRID = 30
"""Rows and columns of the grid of maps."""
KERNEL = 50.0
"""SD of the kernel of a point, in thousandths of the picture's width and height."""
FEWEST_MARKS = 3
"""Minimum number of marks of a picture for which agreement is reported."""
FEWEST_PICTURES = 3
"""Number of pictures that are reported of a group although their agreement may not be beyond chance."""
MOST_TELLING = 12
"""Maximum number of pictures that are reported as the most telling of a group."""
_DRAWS = 999
_MOST_DRAWN = 200
"""Maximum number of marks that are drawn at once; for pictures with more, p is a little too large."""
_AT_ONCE = 4096
_MOST_COMPARED = 2000
"""Maximum number of a group's marks that the randomization test draws from."""
_THIRDS = (("upper left", "top", "upper right"), ("left", "middle", "right"),
           ("lower left", "bottom", "lower right"))  # fmt: skip
WHERE = tuple(name for row in _THIRDS for name in row)
"""Names of the ninths of a picture, row by row."""


@dataclass(frozen=True)
class Mark:
    """A mark in thousandths of the picture's width and height; a point has no width and height."""

    x: float
    y: float
    width: float = 0.0
    height: float = 0.0


def parsed(text: str) -> Mark | None:
    """Return the mark that a cell contains, `x y` or `x y width height`; None if it contains none.

    A mark with a number below 0, or that reaches beyond the picture, is none.
    """
    numbers = [number(word) for word in str(text).split()]
    within = [each for each in numbers if each is not None and 0 <= each <= 1000]
    if len(numbers) not in (2, 4) or len(within) < len(numbers):
        return None
    mark = Mark(*within)
    inside = mark.x + mark.width <= 1000 and mark.y + mark.height <= 1000
    return mark if inside else None


def marks(answers: Answers, level: float, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return marks by group: the fakes of each model, and all reals; None if there are no marks.

    Args:
        level: a picture's agreement is beyond chance if its p is below 1 - level.
        rng: draws the marks of the randomization test.
    """
    column = answers.texts.get("mark")
    if column is None:
        return None
    boxes = [parsed(cell) for cell in column.names]
    is_written = np.array([bool(str(cell).strip()) for cell in column.names], bool)[column.codes]
    is_mark = np.array([mark is not None for mark in boxes], bool)[column.codes]
    once = answers.is_first
    used = is_mark & once & answers.said_fake
    notes = []
    if unreadable := int((is_written & once & ~is_mark).sum()):
        notes.append(f"{counted(unreadable, 'mark')} left out: no point or box within the picture")
    if others := int((is_mark & once & ~answers.said_fake).sum()):
        notes.append(f"{counted(others, 'mark')} left out: the picture was called real")
    if not used.any():
        return {"groups": [], "rows": [], "notes": notes} if notes else None
    groups, rows = [], []
    for model, mine in _groups(answers):
        index = np.flatnonzero(used & mine)
        if not len(index):
            continue
        own = [boxes[code] for code in column.codes[index]]
        groups.append({"model": model, **_group(answers, mine & once, index, own, level, rng)})
        rows += _rows(answers, model, index, own)
    return {"groups": groups, "rows": rows, "notes": notes}


def heat_map(own: Sequence[Mark]) -> np.ndarray:
    """Return the heat map of marks, shape (GRID, GRID), row 0 at the top; its sum is the number of marks."""
    heat = np.zeros(GRID * GRID)
    for maps in _batches(own):
        heat += (maps / maps.sum(axis=1, keepdims=True)).sum(axis=0)
    return heat.reshape(GRID, GRID)


def of_rows(rows: Iterable[dict[str, Any]]) -> list[Mark]:
    """Return the marks of rows as `marks` returns them."""
    return [Mark(row["x"], row["y"], row["width"] or 0.0, row["height"] or 0.0) for row in rows]


def ninths(heat: np.ndarray) -> list[float]:
    """Return the shares of a heat map in the ninths of the picture, in the order of `WHERE`."""
    side = (np.arange(GRID) + 0.5) * 3 // GRID
    which = (3 * side[:, None] + side[None, :]).astype(int)
    result: list[float] = (np.bincount(which.ravel(), heat.ravel(), 9) / heat.sum()).tolist()
    return result


def _groups(answers: Answers) -> Iterable[tuple[str | None, np.ndarray]]:
    for code, name in enumerate(answers.model.names):
        yield name, answers.is_fake & (answers.model.codes == code)
    yield None, ~answers.is_fake


def _group(
    answers: Answers,
    mine: np.ndarray,
    index: np.ndarray,
    own: Sequence[Mark],
    level: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    shares = ninths(heat_map(own))
    called = answers.said_fake & mine
    return {
        "marks": len(index),
        "called_fake": int(called.sum()),
        "evaluators": len(np.unique(answers.evaluator.codes[index])),
        "where": dict(zip(WHERE, shares, strict=True)),
        "pictures": _pictures(answers, mine, index, own, level, rng),
    }


def _pictures(
    answers: Answers,
    mine: np.ndarray,
    index: np.ndarray,
    own: Sequence[Mark],
    level: float,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return the most telling pictures first: those whose agreement is beyond chance, then the most marked.

    Pictures with fewer than `FEWEST_MARKS` marks are not returned, and of those whose agreement is not beyond
    chance only as many as make up `FEWEST_PICTURES`.
    """
    stimulus = answers.texts.get("stimulus")
    if stimulus is None:
        return []
    by_picture: dict[int, list[Mark]] = {}
    for code, is_named, mark in zip(stimulus.codes[index], answers.has_image[index], own, strict=True):
        if is_named:
            by_picture.setdefault(int(code), []).append(mark)
    guesses = np.bincount(stimulus.codes[mine], minlength=len(stimulus.names))
    called = np.bincount(stimulus.codes[mine & answers.said_fake], minlength=len(stimulus.names))
    chance = _Chance([*by_picture.values()], rng)
    pictures = []
    for code, some in by_picture.items():
        if len(some) < FEWEST_MARKS:
            continue
        agreement, p = chance.agreement(some)
        shares = ninths(heat_map(some))
        pictures.append(
            {
                "picture": stimulus.names[code],
                "marks": len(some),
                "called_fake": int(called[code]),
                "guesses": int(guesses[code]),
                "agreement": agreement,
                "p": p,
                "is_beyond_chance": p is not None and p < 1 - level,
                "where": WHERE[int(np.argmax(shares))],
                "share_there": max(shares),
            }
        )
    pictures.sort(
        key=lambda row: (not row["is_beyond_chance"], -row["marks"], -(row["agreement"] or 0), row["picture"])
    )
    beyond = sum(row["is_beyond_chance"] for row in pictures)
    return pictures[: max(FEWEST_PICTURES, min(beyond, MOST_TELLING))]


class _Chance:
    """Agreement of marks drawn from all of a group, which is what a picture's own is held against."""

    def __init__(self, pictures: Sequence[Sequence[Mark]], rng: np.random.Generator):
        group = [mark for some in pictures for mark in some]
        self._most = min(max(map(len, pictures)), _MOST_DRAWN)
        self._total, self._count, self._rng = np.zeros(GRID * GRID), len(group), rng
        for maps in _batches(group):
            self._total += _directions(maps).sum(axis=0)
        some: Sequence[int] | np.ndarray = range(len(group))
        if len(group) > _MOST_COMPARED:
            some = rng.choice(len(group), _MOST_COMPARED, replace=False)
        self._sample = [group[i] for i in some]

    @cached_property
    def _null(self) -> np.ndarray:
        """Sums of the products of pairs among the first 1, 2, … marks drawn, shape (draws, marks)."""
        maps = _directions(_maps(self._sample))
        products, is_pair = maps @ maps.T, np.tri(self._most, k=-1)
        drawn = np.empty((_DRAWS, self._most))
        for i in range(_DRAWS):
            chosen = self._rng.permutation(len(maps))[: self._most]
            drawn[i] = (products[chosen[:, None], chosen] * is_pair).sum(axis=1).cumsum()
        return drawn

    def agreement(self, own: Sequence[Mark]) -> tuple[float | None, float | None]:
        """Return a picture's agreement and its p; None if no other picture has marks, or all are alike."""
        count = len(own)
        if count == self._count:
            return None, None
        maps = _directions(_maps(own))
        mine = maps.sum(axis=0)
        other = float(mine @ (self._total - mine)) / (count * (self._count - count))
        if other > 1 - 1e-9:
            return None, None
        within = _mean_product(maps @ maps.T)
        drawn = min(count, self._null.shape[1])
        null = self._null[:, drawn - 1] / (drawn * (drawn - 1) / 2)
        p = (1 + int((null >= within - 1e-12).sum())) / (1 + _DRAWS)
        return (within - other) / (1 - other), p


def _directions(maps: np.ndarray) -> np.ndarray:
    """Return maps scaled to a length of 1, so that their products are cosines."""
    result: np.ndarray = maps / np.linalg.norm(maps, axis=1, keepdims=True)
    return result


def _mean_product(products: np.ndarray) -> float:
    """Return the mean of the products of two different marks."""
    count = len(products)
    return float((products.sum() - np.trace(products)) / (count * (count - 1)))


def _batches(own: Sequence[Mark]) -> Iterable[np.ndarray]:
    for start in range(0, len(own), _AT_ONCE):
        yield _maps(own[start : start + _AT_ONCE])


def _maps(own: Sequence[Mark]) -> np.ndarray:
    """Return each mark's map on the grid, shape (marks, GRID * GRID), not normalised."""
    x, y, width, height = np.array([(mark.x, mark.y, mark.width, mark.height) for mark in own], float).T
    across, down = _profile(x, width), _profile(y, height)
    result: np.ndarray = (down[:, :, None] * across[:, None, :]).reshape(len(own), -1)
    return result


def _profile(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return how much of a mark lies in each column (or row) of the grid, shape (marks, GRID).

    A box contributes the part of a cell that it covers. One that is narrower than the kernel counts as a
    point, as a box without width or height does.
    """
    edges = np.linspace(0, 1000, GRID + 1)
    low, high = edges[:-1], edges[1:]
    covered = np.minimum(high, (start + length)[:, None]) - np.maximum(low, start[:, None])
    middle = (low + high) / 2 - (start + length / 2)[:, None]
    point = np.exp(-0.5 * (middle / KERNEL) ** 2)
    return np.where((length > KERNEL)[:, None], np.maximum(covered, 0) / (high - low), point)


def _rows(
    answers: Answers, model: str | None, index: np.ndarray, own: Sequence[Mark]
) -> list[dict[str, Any]]:
    stimulus = answers.texts.get("stimulus")
    return [
        {
            "model": model,
            "truth": "real" if model is None else "fake",
            "picture": stimulus.names[stimulus.codes[i]] if stimulus else "",
            "evaluator": answers.evaluator.names[answers.evaluator.codes[i]],
            "x": mark.x,
            "y": mark.y,
            "width": mark.width or None,
            "height": mark.height or None,
        }
        for i, mark in zip(index.tolist(), own, strict=True)
    ]
