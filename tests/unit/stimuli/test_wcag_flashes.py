"""Flashes are counted as WCAG 2.2 defines them: by change, colour, second and area.

Hand-worked values: a field is 341 x 256 CSS px, a quarter of it 21,824 px, or 1,364 cells of 4 px,
between 36 x 36 (1,296) and 37 x 37 (1,369).
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiment.judgments.real_or_fake import TIME
from backend.experiment.judgments.same_or_different import JND
from backend.stimuli import wcag_flashes
from backend.stimuli.wcag_flashes import Flashes, State

STAGE = 96
"""Cells across a stage of 384 px."""
BLACK, WHITE, GRAY = (0, 0, 0), (255, 255, 255), (128, 128, 128)
RED, DARK_ORANGE, BLUE = (255, 0, 0), (255, 128, 0), (0, 0, 255)
NONE = Flashes(0, 0, 0, 0)


def flat(colour, cells=STAGE):
    return wcag_flashes.state_of(np.full((1, 1, 3), colour, dtype=np.uint8), cells)


def lit(luminance, cells=STAGE):
    """A state of gray light, even or by cell."""
    field = np.broadcast_to(np.asarray(luminance, dtype=np.float32), (cells, cells))
    return State(field, np.full_like(field, 0.1978), np.full_like(field, 0.4683), np.zeros(field.shape, bool))


def patch(*places, cells=STAGE):
    """A dark stage with white squares at (row, column, side)."""
    field = np.zeros((cells, cells))
    for row, column, side in places:
        field[row : row + side, column : column + side] = 1
    return lit(field, cells)


def alternating(a, b, hz, seconds=2):
    """`hz` flashes a second: twice as many changes."""
    count = int(2 * hz * seconds) + 1
    return [(a, b)[i % 2] for i in range(count)], [500 * i / hz for i in range(count)]


def quick(*states):
    """States that follow each other within a second."""
    return list(states), [10.0 * i for i in range(len(states))]


def time_protocol(**changes):
    return TIME.changed(**changes)


def trial(protocol, picture, masks, exposure_ms=100):
    return wcag_flashes.flashes(*wcag_flashes.timeline(protocol, [picture], masks, exposure_ms))


@pytest.mark.parametrize(
    ("colour", "luminance"),
    [(BLACK, 0), (WHITE, 1), (RED, 0.2126), ((0, 255, 0), 0.7152), (GRAY, 0.2159), ((10, 10, 10), 0.00304)],
)
def test_relative_luminance_is_of_linear_srgb(colour, luminance):
    # ((128 / 255 + 0.055) / 1.055) ** 2.4 = 0.2159; 10 / 255 / 12.92 = 0.00304
    assert flat(colour, 1).luminance[0, 0] == pytest.approx(luminance, abs=1e-4)


@pytest.mark.parametrize("hz", [1, 3, 4, 15])
def test_black_and_white_by_turns_flash_at_their_rate(hz):
    assert wcag_flashes.flashes(*alternating(flat(BLACK), flat(WHITE), hz)) == Flashes(hz, 0, hz, 0)


@pytest.mark.parametrize(("brighter", "count"), [(0.3999, 0), (0.4, 1), (0.4001, 1)])
def test_a_change_counts_from_a_tenth_of_white(brighter, count):
    assert wcag_flashes.flashes(*quick(lit(0.3), lit(brighter), lit(0.3))).general == count


@pytest.mark.parametrize(("darker", "count"), [(0.80, 0), (0.79, 1)])
def test_a_change_counts_where_the_darker_state_is_below_080(darker, count):
    assert wcag_flashes.flashes(*quick(lit(darker), lit(0.95), lit(darker))).general == count


def test_a_rise_alone_is_no_flash_and_a_rise_by_steps_is_one_change():
    assert wcag_flashes.flashes(*quick(lit(0.1), lit(0.5))) == NONE
    assert wcag_flashes.flashes(*quick(lit(0.2), lit(0.26), lit(0.32), lit(0.2))).general == 1


@pytest.mark.parametrize(
    ("other", "colour", "count"),
    [
        (GRAY, RED, 1),  # u'v' (0.4507, 0.5229) and (0.1978, 0.4683): 0.259 apart
        (BLACK, RED, 1),
        (RED, GRAY, 1),
        (GRAY, DARK_ORANGE, 0),  # 1 / 1.2159 = 0.82 is a saturated red; (0.3194, 0.5389): 0.141 apart
        (DARK_ORANGE, RED, 0),  # both saturated reds, 0.132 apart
        (BLUE, DARK_ORANGE, 1),  # (0.1754, 0.1579): far apart
        (BLUE, (255, 150, 0), 0),  # as far, but 1 / 1.3050 = 0.77 is no saturated red
        (GRAY, BLUE, 0),
    ],
)
def test_a_red_flash_is_a_saturated_red_far_from_what_it_alternates_with(other, colour, count):
    assert wcag_flashes.flashes(*quick(flat(other), flat(colour), flat(other))).red == count


def test_red_flashes_are_counted_where_luminance_hardly_changes():
    # 0.2126 and 0.2159
    assert wcag_flashes.flashes(*alternating(flat(GRAY), flat(RED), 5)) == Flashes(0, 5, 0, 5)


def test_no_two_saturated_reds_of_srgb_are_far_enough_apart_to_flash():
    shares = [(1 - rest, rest * g, rest * (1 - g)) for rest in (0, 0.1, 0.2) for g in np.linspace(0, 1, 21)]
    # encoded again: the inverse of the sRGB formula
    linear = np.array(shares)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    states = [flat(np.round(255 * colour)) for colour in encoded]

    uv = np.array([(state.u[0, 0], state.v[0, 0]) for state in states])
    assert np.linalg.norm(uv[:, None] - uv, axis=-1).max() < 0.2


@pytest.mark.parametrize(("side", "over"), [(36, 0), (37, 4)])
def test_a_patch_counts_from_a_quarter_of_a_field(side, over):
    found = wcag_flashes.flashes(*alternating(patch(), patch((10, 10, side)), 4))

    assert found == Flashes(over, 0, 4, 0)


@pytest.mark.parametrize(
    ("second", "over"),
    [((156, 156, 30), 0), ((0, 40, 30), 4), ((0, 55, 30), 4), ((55, 0, 30), 0), ((33, 0, 30), 4)],
)
def test_patches_add_up_within_a_field_of_85_by_64_cells_and_not_across_the_stage(second, over):
    found = wcag_flashes.flashes(*alternating(patch(cells=192), patch((0, 0, 30), second, cells=192), 4))

    assert found.general == over


def test_a_stage_under_a_quarter_of_a_field_never_goes_over():
    # 36 cells of 4 px: 144 x 144 = 20,736 of 21,824 px
    assert wcag_flashes.flashes(*alternating(flat(BLACK, 36), flat(WHITE, 36), 10)) == Flashes(0, 0, 10, 0)
    # the same cells enlarged to 148 x 148 = 21,904 px
    assert wcag_flashes.flashes(*alternating(flat(BLACK, 36), flat(WHITE, 36), 10), 148 / 36).general == 10


def test_places_that_flash_in_turn_add_up():
    left, right, dark = patch((0, 0, 40)), patch((50, 50, 40)), patch()

    found = wcag_flashes.flashes(*quick(dark, left, dark, left, dark, right, dark, right, dark))

    assert found == Flashes(4, 0, 2, 0)


def test_small_places_that_flash_against_each_other_are_one_area():
    one, other = patch((0, 0, 30)), patch((0, 30, 30))  # 900 cells each

    assert wcag_flashes.flashes(*alternating(one, other, 4)).general == 4


def test_small_places_that_flash_a_change_apart_are_one_area():
    one, other, dark = patch((0, 0, 30)), patch((0, 30, 30)), patch()

    # changes of the one: 1, 2, 3, 4; of the other: 2, 3, 4, 5
    assert wcag_flashes.flashes(*quick(dark, one, other, one, other, dark)).general == 2


def test_a_pattern_finer_than_a_cell_does_not_flash():
    board = np.indices((384, 384)).sum(axis=0) % 2
    pixels = np.repeat((255 * board).astype(np.uint8)[..., None], 3, axis=2)
    a, b = (wcag_flashes.state_of(x, STAGE) for x in (pixels, 255 - pixels))

    assert wcag_flashes.flashes(*alternating(a, b, 10)) == NONE
    assert a.luminance == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("size", [1, 3, 7, 20, 50])
def test_cells_hold_the_light_of_their_pixels(size):
    pixels = np.random.default_rng(size).integers(0, 256, (size, size, 3), dtype=np.uint8)
    cells = 7

    averaged = wcag_flashes.state_of(pixels, cells).luminance

    single = wcag_flashes.state_of(pixels, size).luminance
    edges = [i * size // cells for i in range(cells)] + [size]
    for row, column in itertools.product(range(cells), repeat=2):
        part = single[
            edges[row] : max(edges[row + 1], edges[row] + 1),
            edges[column] : max(edges[column + 1], edges[column] + 1),
        ]
        assert averaged[row, column] == pytest.approx(part.mean(), abs=1e-5)


def test_picture_and_four_masks_reach_three_flashes_and_six_masks_four():
    black, white = flat(BLACK), flat(WHITE)

    assert trial(TIME, white, [black, white, black, white]).general == 3
    assert trial(TIME, white, [black, white] * 2 + [black]).general == 3
    assert trial(TIME, white, [black, white] * 3).general == 4


def test_masks_like_their_picture_add_no_flash():
    white = flat(WHITE)

    assert trial(TIME, white, [white] * 4) == Flashes(1, 0, 1, 0)


def test_what_lies_more_than_a_second_apart_is_not_added_up():
    black, white = flat(BLACK), flat(WHITE)
    slow = time_protocol(mask_ms=300)  # changes at 0, 100, 400, 700, 1000, 1300, 1600, 1900 ms

    assert trial(slow, white, [black, white] * 3).general == 2
    assert trial(time_protocol(mask_ms=100), white, [black, white] * 3).general == 4


def test_trials_without_a_pause_between_them_are_strung_together():
    flash = flat(WHITE)
    hasty = time_protocol(countdown_from=0, feedback=False, mask_count=0)

    # 20 ms up and 200 ms to answer: onsets at 0, 220, 440, 660, 880 ms
    assert trial(hasty, flash, [], exposure_ms=20).general == 5
    assert trial(TIME, flash, [], exposure_ms=20).general == 1


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_the_count_is_that_of_trying_every_choice_of_peaks_and_valleys(luminances):
    states = [lit(value, 1) for value in luminances]

    found = wcag_flashes.flashes(*quick(*states)).general_anywhere

    assert found == _by_trying(np.float32(luminances))


def _by_trying(values):
    """The most pairs of opposing changes, by going through all choices of states."""
    best = 0
    for count in range(3, len(values) + 1):
        for chosen in itertools.combinations(values, count):
            steps = np.diff(chosen)
            is_large = (abs(steps) >= 0.1 - 1e-6) & (np.minimum(chosen[1:], chosen[:-1]) < 0.8)
            if is_large.all() and (steps[1:] * steps[:-1] < 0).all():
                best = max(best, len(steps) // 2)
    return best


@given(st.floats(0, 1), st.integers(2, 20))
def test_a_constant_stage_never_flashes(luminance, count):
    assert wcag_flashes.flashes(*quick(*[lit(luminance, 40)] * count)) == NONE


@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.floats(0, 1))
def test_more_contrast_never_gives_fewer_flashes(seed, count, weaker):
    # Below 0.8, where a brighter state never stops a change from counting.
    fields = np.random.default_rng(seed).uniform(0, 0.79, (count, 40, 40))

    full, faint = (wcag_flashes.flashes(*quick(*(lit(f, 40) for f in fields * c))) for c in (1, weaker))

    assert full.general >= faint.general
    assert full.general_anywhere >= faint.general_anywhere


EXPOSURE_MS = st.floats(10, 1000)


@given(st.integers(0, 2**32 - 1), st.integers(0, 8), st.floats(4, 400), EXPOSURE_MS, EXPOSURE_MS)
def test_a_shorter_exposure_never_gives_fewer_flashes(seed, masks, mask_ms, one_ms, other_ms):
    picture, *rest = (lit(f, 40) for f in np.random.default_rng(seed).uniform(0, 1, (masks + 1, 40, 40)))
    protocol = time_protocol(mask_ms=mask_ms)

    short, long = (trial(protocol, picture, rest, ms) for ms in sorted((one_ms, other_ms)))

    assert all(a >= b for a, b in zip(short, long, strict=True))


def test_a_check_tells_the_worst_trial_and_how_many_are_over():
    black, white = flat(BLACK), flat(WHITE)
    calm, wild = ([white], [white] * 6), ([white], [black, white] * 3)

    found = wcag_flashes.check(TIME, [calm, calm, wild])

    assert (found.trials, found.over, found.exposure_ms) == (3, 1, 100)
    assert found.worst == Flashes(4, 0, 4, 0)
    assert "up to 4 general and 0 red flashes a second" in wcag_flashes.verdict(found)
    assert "OVER THE THRESHOLD in 1 of 3 sampled trials at 100 ms" in wcag_flashes.verdict(found)
    assert "mask_count" in wcag_flashes.verdict(found)


def test_a_check_within_the_threshold_says_so():
    small = patch((0, 0, 20))
    found = wcag_flashes.check(TIME, [([small], [patch(), small] * 3)])

    assert wcag_flashes.verdict(found) == (
        "photosensitivity: at most 1 general and 0 red flashes a second over a quarter of a 10-degree field "
        "in 1 sampled trials at 100 ms (WCAG 2.2, 2.3.1 allows 3): within the threshold, with up to 4 in "
        "smaller places"
    )


def test_two_pictures_a_second_each_flash_once_in_any_second_and_quick_ones_more_often():
    white = flat(WHITE)

    # gray, white, gray, white, gray: two rises and two falls, of which one each lie within any second
    calm = JND.changed(countdown_ms=2000)
    slow = wcag_flashes.flashes(*wcag_flashes.timeline(calm, [white, white], [], 1000))
    quick = wcag_flashes.flashes(*wcag_flashes.timeline(calm.changed(gap_ms=50), [white, white], [], 50))

    assert (slow.general, quick.general) == (1, 2)


def test_a_pair_is_shown_with_the_stage_in_between():
    white, black = flat(WHITE), flat(BLACK)

    states, starts_ms = wcag_flashes.timeline(JND.changed(countdown_ms=2000), [white, black], [], 1000)

    levels = [round(float(state.luminance[0, 0]), 2) for state in states]
    assert levels == [0.22, 1.0, 0.22, 0.0, 0.22]
    assert starts_ms == [0, 2200, 3200, 3450, 4450]


def test_two_small_pictures_side_by_side_flash_over_the_field_that_holds_both():
    """Each alone is 96 x 96 px, 11% of a field of 341 x 256; both are 21%, and three are 32%."""
    cells = 96 // wcag_flashes.CELL_CSS
    dark, bright = flat(BLACK, cells), flat(WHITE, cells)

    def most(count):
        states = [wcag_flashes.beside([state] * count) for state in (dark, bright) * 5]
        return wcag_flashes.flashes(states, [50.0 * i for i in range(10)]).general

    assert wcag_flashes.beside([dark, bright]).luminance.shape == (cells, 2 * cells + 2)
    assert [most(1), most(2)] == [0, 0]
    assert most(3) > 3
