"""Groups of models of mixed sessions: which models one evaluator judges, if not all of them.

With M of K models a session, each model should be in as many groups as any other, and each pair of models
in about as many: only evaluators who judged both make a difference more precise than their own models'
scores. If all pairs are in equally many groups, this is a balanced incomplete block design (Yates, 1936). The
groups here are cyclic (John, 1966): from a first group of the numbers 0 to K - 1, the others follow by
adding 1, 2, … modulo K, so that each model is in as many as any other by construction. The first groups are
found one number at a time, each the one whose differences from those before are rarest so far. This gives
{0, 1, 3} for 3 of 7 models and {0, 1, 3, 9} for 4 of 13, in which all pairs are in equally many groups; for
2 of K models, all pairs.

More groups connect more pairs, but each group needs a whole number of sessions, so that models may get more
evaluators than are wanted. Groups are added while this is at most a tenth. Where even the first cycle needs
more (14 of 15 models are in 14 groups each, which 30 evaluators are no multiple of), there are fewer groups
than a cycle has: each takes the models that are in the fewest groups so far, so that a model is in at most
one more than another, and of these the ones that were together least often.

A model that joins later adds groups and changes none: it is in as many of its own as each model of before was
in at the beginning, and the models beside it there change from group to group.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice, permutations
from math import comb

MOST_GROUPS = 60
"""Maximum number of groups, unless there are more models: stores count the sessions of each."""
_SURPLUS = 0.1
"""Evaluators of a model beyond the wanted ones, as a share of these, that are accepted to connect pairs."""
_MOST_CANDIDATES = 2_000
"""Groups of a newcomer from which the next is chosen."""
_MOST_STEPS = 100_000
"""Maximum number of comparisons to find a first group; above, it is 0, 1, … M - 1."""


@lru_cache(maxsize=256)
def model_groups(models: tuple[str, ...], size: int, evaluators: int) -> tuple[tuple[str, ...], ...]:
    """Return the groups of models that sessions show; each model is in equally many, or in one more.

    Args:
        size: number of models in a session, at least 1; from `len(models)` on, all are in one group.
        evaluators: finished sessions wanted for each model.
    """
    count = len(models)
    if size >= count > 0:
        return (models,)
    if size == 1:
        return tuple((model,) for model in models)
    chosen: list[tuple[int, ...]] = []
    best, evenness = chosen, (count**2, 0)
    for orbit, pairs in _orbits(count, size):
        chosen = [*chosen, *orbit]
        of_each = len(chosen) * size // count
        if best and (len(chosen) > max(MOST_GROUPS, count) or of_each > evaluators):
            break
        surplus = -(-evaluators // of_each) * of_each - evaluators
        imbalance = (pairs.count(0), max(pairs) - min(pairs))
        if not best or (surplus <= _SURPLUS * evaluators and imbalance < evenness):
            best, evenness = chosen, imbalance
        if imbalance == (0, 0):
            break
    least = -(-evaluators * count // size)
    if _sessions(len(best), len(best) * size // count, evaluators) > (1 + _SURPLUS) * least:
        best = _few_groups(count, size, evaluators) or best
    return tuple(tuple(models[number] for number in group) for group in best)


def _sessions(groups: int, of_each: int, evaluators: int) -> int:
    """Return how many sessions give each model its evaluators, if each is in `of_each` groups or more."""
    return groups * -(-evaluators // of_each)


def _few_groups(count: int, size: int, evaluators: int) -> list[tuple[int, ...]]:
    """Return the groups that need the fewest sessions; empty if none are found in reasonable time.

    Of those that need as many, they are the largest number of groups.
    """
    numbers = {of_each: -(-of_each * count // size) for of_each in range(1, evaluators + 1)}
    possible = min(max(MOST_GROUPS, count), comb(count, size))
    sizes = sorted(
        (_sessions(groups, of_each, evaluators), -groups)
        for of_each, groups in numbers.items()
        if groups <= possible and groups * size * count <= _MOST_STEPS
    )
    tried = (_even_groups(count, size, -groups) for _, groups in sizes)
    return next((groups for groups in tried if groups), [])


def _even_groups(count: int, size: int, groups: int) -> list[tuple[int, ...]]:
    """Return different groups such that no model is in two more than another; empty if the search ends."""
    together = [[0] * count for _ in range(count)]
    used, chosen = [0] * count, set[tuple[int, ...]]()
    order: list[tuple[int, ...]] = []
    for _ in range(groups):
        group: list[int] = []
        beside = [0] * count
        while len(group) < size:
            free = sorted(set(range(count)).difference(group), key=lambda n: (used[n], beside[n], n))
            is_last = len(group) + 1 == size
            added = next((n for n in free if not is_last or tuple(sorted([*group, n])) not in chosen), None)
            if added is None or used[added] > min(used) + 1:
                return []
            group.append(added)
            beside = [sum(pair) for pair in zip(beside, together[added], strict=True)]
        for a, b in permutations(group, 2):
            together[a][b] += 1
        for number in group:
            used[number] += 1
        order.append(tuple(sorted(group)))
        chosen.add(order[-1])
    return order if max(used) - min(used) <= 1 else []


@lru_cache(maxsize=256)
def all_groups(
    models: tuple[str, ...], size: int, evaluators: int, joined: tuple[int, ...]
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of a study that models joined: those of its first models, then each newcomer's.

    Where sessions show all models there is one group, of all.

    Args:
        joined: how many models there were each time before one joined.
    """
    first = models[: joined[0]] if joined else models
    if not joined or size >= len(first):
        return model_groups(models, size, evaluators)
    each = groups_of_each(models, size, evaluators, joined)
    newcomers = (group for count in joined for group in _newcomers(models[: count + 1], size, each))
    return (*model_groups(first, size, evaluators), *newcomers)


def groups_of_each(models: tuple[str, ...], size: int, evaluators: int, joined: tuple[int, ...]) -> int:
    """Return how many groups each model is in, of those it was made or joined with; at least 1."""
    first = models[: joined[0]] if joined else models
    if joined and size >= len(first):
        return 1
    groups = model_groups(first, size, evaluators)
    return max(sum(map(len, groups)) // max(len(first), 1), 1)


def _newcomers(models: tuple[str, ...], size: int, count: int) -> Iterator[tuple[str, ...]]:
    """Yield `count` groups with the last model and others, each of these about equally often."""
    others, beside = len(models) - 1, size - 1
    used: Counter[int] = Counter()
    groups: set[tuple[int, ...]] = set()
    for _ in range(count):
        group = min(
            (group for group in _candidates(others, beside, used) if group not in groups),
            key=lambda group: sum(used[number] for number in group),
        )
        groups.add(group)
        used.update(group)
        yield (*(models[number] for number in group), models[-1])


def _candidates(count: int, size: int, used: Mapping[int, int]) -> Iterator[tuple[int, ...]]:
    """Yield groups of numbers that were used least; and, as these may be known, other ones."""
    for shift in range(count):
        order = sorted(range(count), key=lambda number: (used[number], (number - shift) % count))
        yield tuple(sorted(order[:size]))
    yield from islice(combinations(range(count), size), _MOST_CANDIDATES)


def _orbits(count: int, size: int) -> Iterator[tuple[list[tuple[int, ...]], list[int]]]:
    """Yield the groups of one first group after the other, all different.

    With each comes, for the differences 1 to K - 1, in how many groups so far two models that differ by it
    are.
    """
    together = [0] * count
    seen: set[tuple[int, ...]] = set()
    while True:
        first = _first_group(together, size)
        orbit = [*dict.fromkeys(tuple(sorted((n + by) % count for n in first)) for by in range(count))]
        if orbit[0] in seen:
            return
        seen.update(orbit)
        for difference, often in Counter((a - b) % count for a in first for b in first if a != b).items():
            together[difference] += often * len(orbit)
        yield orbit, [number // count for number in together[1:]]


def _first_group(together: Sequence[int], size: int) -> tuple[int, ...]:
    """Return a group with 0 whose differences are the rarest so far.

    Args:
        together: how often each difference, 0 to K - 1, occurs in the groups before.
    """
    count = len(together)
    if count * size**2 > _MOST_STEPS:
        return tuple(range(size))
    known, group = Counter(dict(enumerate(together))), [0]
    while len(group) < size:
        after = {
            number: {d: known[d] + count * often for d, often in _differences(number, group, count).items()}
            for number in range(count)
            if number not in group
        }
        added = min(after, key=lambda number: (max(after[number].values()), sum(after[number].values())))
        known |= Counter(after[added])
        group.append(added)
    return tuple(sorted(group))


def _differences(number: int, group: Sequence[int], count: int) -> Counter[int]:
    """Return how often each difference occurs between a number and those of a group, both ways."""
    return Counter(difference % count for other in group for difference in (number - other, other - number))
