"""How people voted on items (triplets, pairs): shares, majorities, reliability, sentinels.

A vote is one for `p1` (2AFC) or for `same` (JND), as in `votes.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from backend.analysis import reliability
from backend.analysis.agreement.votes import order_of_set
from backend.analysis.distributions.binomial import clopper_pearson
from backend.analysis.table.response_table import Answers


def sets_of(answers: Answers) -> list[str]:
    """Return the sets in the order in which the paper prints them."""
    return sorted(answers.model.names, key=lambda name: order_of_set(str(name)))


def item_table(answers: Answers, level: float) -> list[dict[str, Any]]:
    """Return a row for each item, sets in order, the most divided items first.

    `share` (0 to 1) is that of votes which count, and `ci` Clopper and Pearson's interval (1934).

    Args:
        answers: in the form of `ShareScores.counted`.
    """
    names = answers.texts.get("stimulus")
    if names is None:
        return []
    size = len(names.names)
    keys = answers.model.codes.astype(np.int64) * size + names.codes
    items, place = np.unique(keys, return_inverse=True)
    votes = np.bincount(place)
    counting = np.bincount(place, answers.error).astype(int)
    cis = clopper_pearson(counting, votes, level)
    share = counting / votes
    rows = [
        {
            "set": answers.model.names[key // size],
            "item": names.names[key % size],
            "votes": int(votes[i]),
            "votes_for": int(counting[i]),
            "share": float(share[i]),
            "ci": cis[i],
        }
        for i, key in enumerate(items.tolist())
    ]
    return sorted(
        rows, key=lambda row: (order_of_set(str(row["set"])), abs(row["share"] - 0.5), str(row["item"]))
    )


def set_table(
    answers: Answers, rows: Sequence[Mapping[str, Any]], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return a row for each set: its items, their votes, those without a majority, and the reliability.

    `reliability` is that of the items' shares between halves of the evaluators (`reliability.of_images`), or
    None.

    Args:
        rows: the result of `item_table`.
    """
    found = []
    for name in sets_of(answers):
        own = [row for row in rows if row["set"] == name]
        if not own:
            continue
        votes = [row["votes"] for row in own]
        code = list(answers.model.names).index(name)
        found.append(
            {
                "set": name,
                "items": len(own),
                "votes": sum(votes),
                "fewest_votes": min(votes),
                "median_votes": float(np.median(votes)),
                "most_votes": max(votes),
                "single": sum(count == 1 for count in votes),
                "undecided": sum(2 * row["votes_for"] == row["votes"] for row in own),
                "unanimous": sum(row["votes_for"] in (0, row["votes"]) and row["votes"] > 1 for row in own),
                "share": float(np.mean([row["share"] for row in own])),
                "reliability": reliability.of_images(answers, code, rng),
            }
        )
    return found


def sentinels(answers: Answers, first: str, second: str) -> dict[str, Any] | None:
    """Return how sentinels were answered, by their right answer, and how well people told them apart.

    With H the share of `second` where it is right, and F where `first` is, d' = z(H) - z(F) and
    c = -(z(H) + z(F)) / 2, from all answers together, counts corrected by the log-linear rule
    (Hautus, 1995). It is the distance of both kinds on the axis on which people decide, not that of single
    pictures, for which the rule of the decision would have to be known (Macmillan and Creelman, 2005, 9).

    Returns:
        None without sentinels. Else `rows`, each with `truth`, `shown`, `right` and `share`; and `d_prime`
        and `criterion`, None unless both kinds were shown.
    """
    everybody = answers.unexcluded or answers
    counts = {
        truth: [sum(cell) for cell in zip(*everybody.checks_by_truth.get(truth, {}).values(), strict=True)]
        for truth in (first, second)
    }
    known = {truth: cells for truth, cells in counts.items() if cells and cells[1]}
    if not known:
        return None
    rows = [
        {"truth": truth, "right": right, "shown": shown, "share": right / shown}
        for truth, (right, shown) in known.items()
    ]
    d_prime = criterion = None
    if len(known) == 2:
        hits, false = counts[second][0], counts[first][1] - counts[first][0]
        z = [
            float(ndtri((part + 0.5) / (shown + 1)))
            for part, shown in ((hits, counts[second][1]), (false, counts[first][1]))
        ]
        d_prime, criterion = z[0] - z[1], -(z[0] + z[1]) / 2
    return {"rows": rows, "d_prime": d_prime, "criterion": criterion}
