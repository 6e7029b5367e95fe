import numpy as np
import pytest

from backend.stimuli.distortions.sequences import TRADITIONAL
from backend.stimuli.distortions.spatial import (
    affine_warp,
    chromatic_aberration,
    cubic_warping,
    ghosting,
    homography,
    linear_warping,
    random_field,
    shifted,
    shifting,
    whole_shift,
)
from tests.unit.stimuli.distortions.pictures import SIDE, coordinates, displacements, photograph

INSIDE = slice(14, -14)
"""Pixels that come from within the picture, under any warp of these tests."""
CORNERS = np.array([(0, 0), (0, SIDE - 1), (SIDE - 1, SIDE - 1), (SIDE - 1, 0)])


@pytest.mark.parametrize(
    ("distance_px", "angle_deg", "down", "right"),
    [(5, 0, 0, 5), (5, 90, 5, 0), (3, 180, 0, -3), (3, 270, -3, 0), (5, 53.13, 4, 3)],
)
def test_shifts_are_exact(distance_px, angle_deg, down, right):
    picture = photograph()

    made = shifting(picture.astype(np.float64), distance_px, angle_deg)

    there = made[8 + down : 48 + down, 8 + right : 48 + right]
    assert (there == picture[8:48, 8:48]).all()


def test_what_a_shift_uncovers_is_mirrored():
    row = np.array([10.0, 20, 30, 40, 50])[None, :, None] * np.ones((5, 5, 3))

    assert shifted(row, 0, 2)[0, :, 0].tolist() == [20, 10, 10, 20, 30]
    assert shifted(row, 0, -2)[0, :, 0].tolist() == [30, 40, 50, 50, 40]


def test_no_shift_of_the_range_leaves_the_picture_where_it_is():
    mildest = TRADITIONAL["shifting"].magnitude.mildest

    assert (0, 0) not in {whole_shift(mildest, angle) for angle in range(360)}


def test_a_ghost_is_a_faded_copy():
    picture = photograph().astype(np.float64)

    made = ghosting(picture, 0.3, 4, 90)

    assert made[4:] == pytest.approx(0.7 * picture[4:] + 0.3 * picture[:-4])


def test_chromatic_aberration_moves_red_and_blue_apart_and_leaves_green():
    picture = photograph().astype(np.float64)

    made = chromatic_aberration(picture, 2, 0)

    assert (made[..., 1] == picture[..., 1]).all()
    assert made[:, 10:50, 0] == pytest.approx(picture[:, 8:48, 0])
    assert made[:, 10:50, 2] == pytest.approx(picture[:, 12:52, 2])


@pytest.mark.parametrize("seed", range(5))
def test_an_affine_warp_is_linear_and_moves_the_farthest_corner_by_its_reach(seed):
    moved = displacements(affine_warp(coordinates(), 6, seed))[INSIDE, INSIDE].reshape(-1, 2)
    places = np.argwhere(np.ones((SIDE, SIDE)))[..., ::-1].reshape(SIDE, SIDE, 2)[INSIDE, INSIDE]
    terms = np.column_stack([places[..., ::-1].reshape(-1, 2) - (SIDE - 1) / 2, np.ones(len(moved))])

    fitted, *_ = np.linalg.lstsq(terms, moved[:, ::-1], rcond=None)

    assert moved[:, ::-1] == pytest.approx(terms @ fitted, abs=0.02)
    assert fitted[2] == pytest.approx([0, 0], abs=0.01)  # the centre stays
    at_corners = (CORNERS - (SIDE - 1) / 2) @ fitted[:2]
    assert np.linalg.norm(at_corners, axis=1).max() == pytest.approx(6, abs=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_a_homography_is_a_perspective_and_moves_the_farthest_corner_by_its_reach(seed):
    moved = displacements(homography(coordinates(), 8, seed))
    targets = np.argwhere(np.ones((SIDE, SIDE))).reshape(SIDE, SIDE, 2)[INSIDE, INSIDE].reshape(-1, 2)
    sources = targets - moved[INSIDE, INSIDE].reshape(-1, 2)

    # the direct linear transform: the null vector of equations that a perspective fulfils
    y, x = sources.T
    v, u = targets.T
    zero, one = np.zeros_like(y), np.ones_like(y)
    equations = np.concatenate(
        [
            np.stack([y, x, one, zero, zero, zero, -v * y, -v * x, -v], axis=-1),
            np.stack([zero, zero, zero, y, x, one, -u * y, -u * x, -u], axis=-1),
        ]
    )
    matrix = np.linalg.svd(equations)[2][-1].reshape(3, 3)

    def mapped(points):
        made = np.column_stack([points, np.ones(len(points))]) @ matrix.T
        return made[:, :2] / made[:, 2:]

    assert mapped(sources) == pytest.approx(targets, abs=0.05)
    assert np.linalg.norm(mapped(CORNERS) - CORNERS, axis=1).max() == pytest.approx(8, abs=0.1)


@pytest.mark.parametrize("cells", [2, 3, 5])
@pytest.mark.parametrize("order", [1, 3])
def test_a_field_of_displacements_is_as_long_as_its_reach(cells, order):
    field = random_field((SIDE, SIDE, 3), 5, cells, 1, order)

    assert np.linalg.norm(field, axis=-1).max() == pytest.approx(5)


def test_a_linear_field_bends_only_between_cells_and_a_cubic_one_everywhere():
    side, cells = 61, 4  # so that grid points are pixels: every 15
    bends = {
        order: abs(np.diff(random_field((side, side), 5, cells, 1, order), n=2, axis=1)) for order in (1, 3)
    }

    knots = np.zeros(side - 2, bool)
    knots[[14, 29, 44]] = True
    assert bends[1][:, ~knots].max() < 1e-9
    assert bends[1][:, knots].max() > 0.1
    assert (bends[3] > 1e-6).mean() > 0.95
    assert bends[3].max() < bends[1].max()


@pytest.mark.parametrize(("make", "order"), [(linear_warping, 1), (cubic_warping, 3)])
def test_warping_moves_the_picture_by_its_field(make, order):
    made = displacements(make(coordinates(), 3, 3, 7))

    expected = random_field((SIDE, SIDE), 3, 3, 7, order)
    assert made[INSIDE, INSIDE] == pytest.approx(expected[INSIDE, INSIDE], abs=0.02)


@pytest.mark.parametrize("name", ["affine_warp", "homography", "linear_warping", "cubic_warping"])
def test_no_warp_of_the_range_folds_the_picture(name):
    one = TRADITIONAL[name]
    for seed in range(40):
        values = one.draw(1, np.random.default_rng(seed)).values
        moved = displacements(one.function(coordinates(), **values))[INSIDE, INSIDE]

        (down_y, down_x), (right_y, right_x) = (np.gradient(moved[..., i]) for i in (0, 1))
        assert ((1 - down_y) * (1 - right_x) - down_x * right_y).min() > 0


def test_warps_of_a_grey_surface_change_nothing():
    grey = np.full((SIDE, SIDE, 3), 77.0)

    for name in ("affine_warp", "homography", "linear_warping", "cubic_warping", "shifting", "ghosting"):
        one = TRADITIONAL[name]
        assert one.function(grey, **one.draw(1, np.random.default_rng(1)).values) == pytest.approx(grey)
