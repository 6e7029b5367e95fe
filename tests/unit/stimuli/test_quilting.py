"""Image quilting: blocks of one photograph, that fit and are no copy."""

import numpy as np
import pytest

from backend.stimuli.quilting import _beyond_seam, quilt

SIDE, BLOCK, OVERLAP = 120, 32, 8


@pytest.fixture
def places():
    """A photograph that tells of each pixel where it is: rows in red, columns in green, noise in blue."""
    rows, columns = np.mgrid[:200, :200]
    noise = np.random.default_rng(1).integers(0, 256, (200, 200))
    return np.stack([rows, columns, noise], axis=-1).astype(np.uint8)


@pytest.mark.parametrize("shape", [(90, 130), (90, 130, 3)])
def test_a_texture_has_the_side_that_was_asked_for_and_the_photographs_channels(shape):
    photograph = np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8)

    made = quilt(photograph, SIDE, BLOCK, OVERLAP, np.random.default_rng(2))

    assert made.shape == (SIDE, SIDE, *shape[2:])
    assert made.dtype == np.uint8


def test_inside_a_block_the_photograph_is_whole(places):
    made = quilt(places, SIDE, BLOCK, OVERLAP, np.random.default_rng(2)).astype(int)

    step = BLOCK - OVERLAP
    for top in range(0, SIDE - BLOCK, step):
        for left in range(0, SIDE - BLOCK, step):
            inner = made[top + OVERLAP : top + step, left + OVERLAP : left + step]
            assert (np.diff(inner[..., 0], axis=0) == 1).all()
            assert (np.diff(inner[..., 1], axis=1) == 1).all()


def test_no_block_goes_on_where_its_neighbour_was_taken_from(places):
    made = quilt(places, SIDE, BLOCK, OVERLAP, np.random.default_rng(2)).astype(int)

    step, middle = BLOCK - OVERLAP, BLOCK // 2
    at = made[middle : SIDE - middle : step, middle : SIDE - middle : step, :2]
    right, down = np.diff(at, axis=1) - (0, step), np.diff(at, axis=0) - (step, 0)
    for moved in (right, down):
        assert (np.abs(moved).max(axis=-1) >= BLOCK // 2 - 1).all()


def test_blocks_are_drawn_where_they_fit():
    """Vertical stripes of 20 px: wherever a block fits, they go on through the whole texture."""
    stripes = np.tile((np.arange(300) // 10 % 2 * 200).astype(np.uint8), (300, 1))

    made = quilt(stripes, SIDE, BLOCK, OVERLAP, np.random.default_rng(2))

    assert (made == made[0]).mean() > 0.97


def test_the_seam_runs_where_the_difference_is_least():
    """By hand: the cheapest path from top to bottom is 0 + 1 + 0, through columns 2, 1, 0."""
    differences = np.array([[9.0, 9, 0], [9, 1, 9], [0, 9, 9]])

    weight = _beyond_seam(differences)

    assert weight.tolist() == [[0, 0, 0.5], [0, 0.5, 1], [0.5, 1, 1]]


def test_the_same_dice_give_the_same_texture(places):
    one, two = (quilt(places, SIDE, BLOCK, OVERLAP, np.random.default_rng(7)) for _ in range(2))

    assert (one == two).all()
