"""Distances between the pictures of items, by item, as `openhype agree --metric` reads them."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from backend.analysis.agreement.votes import TWO_AFC
from backend.foundation.csv_formulas import escape_formula
from backend.metrics.pairs.batches import Progress, measured
from backend.responses.item_pictures import ItemPictures

if TYPE_CHECKING:
    import numpy as np

    from backend.metrics.pairs.distances import Distance

_COLUMNS = {True: ("d0", "d1"), False: ("d",)}


def distances_of(
    pictures: ItemPictures, distances: "Sequence[Distance]", progress: Progress | None = None
) -> "dict[str, np.ndarray]":
    """Return the distances by name: shape (items, 2) for d0 and d1 of triplets, (items,) for pairs.

    Raises:
        InvalidInput: as in `metrics.pairs.batches.measured`.
    """
    distances_by_name = measured(pictures.files, distances, progress)
    if pictures.kind == TWO_AFC:
        return distances_by_name
    return {name: values[:, 0] for name, values in distances_by_name.items()}


def as_csv(pictures: ItemPictures, by_metric: "Mapping[str, np.ndarray]", is_named: bool = False) -> str:
    """Return distances as CSV with the columns `item, d0, d1` (triplets) or `item, d` (pairs).

    Numbers are written so that reading returns the same ones.

    Args:
        is_named: put the name of the distance in a column before these.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    first = ("distance",) if is_named else ()
    writer.writerow([*first, "item", *_COLUMNS[pictures.kind == TWO_AFC]])
    for name, values in by_metric.items():
        for item, row in zip(pictures.files, values.reshape(len(values), -1).tolist(), strict=True):
            writer.writerow([*((name,) if is_named else ()), escape_formula(item), *map(repr, row)])
    return stream.getvalue()
