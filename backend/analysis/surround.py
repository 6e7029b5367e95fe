"""In how many responses pictures, their surround or the texts were not as the protocol says, and how.

The task page stores it with each response: the columns `surround` and `translated`, and two flags of `flags`.
"""

from typing import Any

import numpy as np

from backend.analysis.table.response_table import Answers

_FLAGS = ("resized", "not_whole")


def altered(answers: Answers) -> list[dict[str, Any]]:
    """Return `altered` (a word), `responses`, and `share` of all (0 to 1), the most frequent first."""
    counts = {**_counts(answers, "surround"), **_counts(answers, "flags", _FLAGS)}
    translated = sum(_counts(answers, "translated").values())
    if translated:
        counts["translated"] = translated
    order = sorted(counts, key=lambda word: (-counts[word], word))
    total = len(answers.model.codes)
    return [{"altered": word, "responses": counts[word], "share": counts[word] / total} for word in order]


def _counts(answers: Answers, name: str, wanted: tuple[str, ...] | None = None) -> dict[str, int]:
    """Return the number of responses by each word of a column; {} if the table lacks it."""
    column = answers.texts.get(name)
    if column is None:
        return {}
    counts: dict[str, int] = {}
    for cell, count in zip(column.names, np.bincount(column.codes, minlength=len(column.names)), strict=True):
        for word in cell.split():
            if count and (wanted is None or word in wanted):
                counts[word] = counts.get(word, 0) + int(count)
    return counts
