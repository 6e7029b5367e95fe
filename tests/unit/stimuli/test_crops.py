from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.foundation.errors import InvalidInput
from backend.stimuli.crops import deal_crops

SIZES = [(40, 30), (16, 16), (64, 17)]
PLACES = [25 * 15, 1, 49 * 2]


@given(count=st.integers(1, sum(PLACES)), seed=st.integers(0, 10**400))
def test_crops_differ_and_lie_in_their_photographs(count, seed):
    crops = deal_crops(SIZES, count, 16, seed)

    assert len(crops) == len(set(crops)) == count
    for crop in crops:
        width, height = SIZES[crop.photograph]
        assert 0 <= crop.left_px <= width - 16
        assert 0 <= crop.top_px <= height - 16


def test_photographs_give_equally_many_as_long_as_they_have_places():
    assert Counter(crop.photograph for crop in deal_crops(SIZES, 41, 16, 1)) == {0: 20, 1: 1, 2: 20}
    counts = Counter(crop.photograph for crop in deal_crops(SIZES, 200, 16, 1))
    assert counts == {0: 101, 1: 1, 2: 98}


def test_places_are_uniform():
    crops = [deal_crops([(20, 16)], 1, 16, seed)[0].left_px for seed in range(3000)]

    counts = np.bincount(crops, minlength=5)
    assert ((counts - 600) ** 2 / 600).sum() < 18.5  # chi-squared, 4 degrees of freedom, p = .001


def test_a_larger_count_begins_with_the_same_crops():
    assert deal_crops(SIZES, 300, 16, 5)[:100] == deal_crops(SIZES, 100, 16, 5)


def test_a_seed_decides_the_crops():
    assert deal_crops(SIZES, 50, 16, 5) != deal_crops(SIZES, 50, 16, 6)


def test_more_crops_than_there_are_places_are_refused():
    with pytest.raises(
        InvalidInput, match="475 crops of 16 px were asked for, but the 3 photographs have only 474 "
    ):
        deal_crops(SIZES, 475, 16, 1)
    with pytest.raises(InvalidInput, match="the one photograph has only 1 positions for one"):
        deal_crops([(16, 16)], 2, 16, 1)
