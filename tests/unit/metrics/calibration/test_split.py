"""Triplets are divided by reference picture, alike in every set, and by seed."""

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.metrics.calibration.split import Shares, split


def dealt(references, sets=None, shares=None, seed=0):
    return split(references, sets or ["one"] * len(references), shares or Shares(), seed)


@pytest.mark.parametrize("seed", [0, 1, 2**70])
def test_every_triplet_is_in_one_share_and_no_reference_in_two(seed):
    rng = np.random.default_rng(seed)
    references = [f"{each}" for each in rng.geometric(0.02, 400)]  # some have many triplets, most have few

    found = dict(dealt(references, seed=seed).items())

    assert sorted(np.concatenate([*found.values()])) == [*range(400)]
    of = [{references[i] for i in rows} for rows in found.values()]
    assert sum(map(len, of)) == len({*references})


def test_shares_have_the_sizes_asked_for_in_every_set():
    sets = ["cnn"] * 700 + ["blur"] * 300
    references = [f"{i // 2}" for i in range(1000)]

    found = dealt(references, sets, Shares(0.1, 0.3))

    for name, size in (("cnn", 700), ("blur", 300)):
        counts = [sum(sets[i] == name for i in rows) for _, rows in found.items()]
        assert counts == pytest.approx([0.6 * size, 0.1 * size, 0.3 * size], abs=3)


def test_sets_that_share_references_are_divided_together():
    references = [f"{i % 100}" for i in range(300)]
    sets = ["a"] * 100 + ["b"] * 100 + ["c"] * 100

    found = dealt(references, sets)

    assert [len(rows) for _, rows in found.items()] == [180, 60, 60]


def test_another_seed_divides_otherwise_and_the_same_seed_alike():
    references = [f"{i}" for i in range(200)]

    first, again, other = (dealt(references, seed=seed).held_out.tolist() for seed in (1, 1, 2))

    assert first == again != other


def test_the_order_and_names_of_items_do_not_matter():
    references = [f"{i}" for i in range(200)]

    found, backwards = dealt(references), dealt(references[::-1])

    assert {references[i] for i in found.held_out} == {references[199 - i] for i in backwards.held_out}


def test_few_triplets_are_refused():
    with pytest.raises(InvalidInput, match="needs votes on 100 triplets or more, not 99: about a thousand"):
        dealt([f"{i}" for i in range(99)])


def test_few_references_are_refused():
    with pytest.raises(
        InvalidInput, match=r"share has 0 triplets .* the 400 triplets have 2 different references"
    ):
        dealt([f"{i % 2}" for i in range(400)])


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0, 0.2), (0.2, 1), (float("nan"), 0.2), (-0.1, 0.2)])
def test_shares_that_leave_nothing_to_fit_are_refused(shares):
    with pytest.raises(InvalidInput, match="above 0 and together below 1"):
        Shares(*shares)
