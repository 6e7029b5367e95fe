from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.foundation.errors import InvalidInput
from backend.stimuli.distortions import TRADITIONAL, apply, draw_sequence, named
from backend.stimuli.distortions.distortion import Choice, Seed, Step, Uniform
from backend.stimuli.distortions.lab import colour_difference
from tests.unit.stimuli.distortions.pictures import photograph

ALL = tuple(TRADITIONAL.values())


def test_the_distortions_are_those_of_the_papers_table():
    # Zhang et al. (CVPR 2018), table 2, left; section 2.1 counts 20
    assert [(one.sub_type, one.name) for one in ALL] == [
        ("photometric", "lightness_shift"), ("photometric", "color_shift"), ("photometric", "contrast"),
        ("photometric", "saturation"), ("noise", "uniform_white_noise"), ("noise", "gaussian_white_noise"),
        ("noise", "gaussian_pink_noise"), ("noise", "gaussian_blue_noise"),
        ("noise", "gaussian_colored_noise"), ("noise", "checkerboard_artifact"), ("blur", "gaussian_blur"),
        ("blur", "bilateral_filtering"), ("spatial", "shifting"), ("spatial", "affine_warp"),
        ("spatial", "homography"), ("spatial", "linear_warping"), ("spatial", "cubic_warping"),
        ("spatial", "ghosting"), ("spatial", "chromatic_aberration"), ("compression", "jpeg"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", TRADITIONAL)
def test_a_magnitude_farther_up_its_range_is_farther_from_the_picture(name):
    picture, one = photograph(), TRADITIONAL[name]

    def difference(position):
        """Over random directions and seeds, which are the same at every position."""
        steps = [one.draw(position, np.random.default_rng(seed)) for seed in range(8)]
        return np.mean([colour_difference(picture, apply(picture, [step])).mean() for step in steps])

    found = [difference(position) for position in (0, 0.25, 0.5, 0.75, 1)]
    assert found == sorted(found)
    assert found[-1] > 2.5 * found[0] > 0


@pytest.mark.parametrize("name", TRADITIONAL)
@given(position=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_parameters_stay_within_their_ranges(name, position, seed):
    one = TRADITIONAL[name]

    values = dict(one.draw(position, np.random.default_rng(seed)).values)

    ends = sorted([one.magnitude.mildest, one.magnitude.strongest])
    assert ends[0] <= values.pop(one.magnitude.name) <= ends[1]
    for other in one.others:
        value = values.pop(other.name)
        match other:
            case Uniform():
                assert other.low <= value <= other.high
            case Choice():
                assert value in other.values
            case Seed():
                assert 0 <= value < 2**32
    assert values == {}


def test_every_distortion_and_length_comes_up_equally_often():
    rng, draws = np.random.default_rng(1), 4000

    drawn = [draw_sequence(rng, longest=2) for _ in range(draws)]

    assert Counter(map(len, drawn))[1] == pytest.approx(draws / 2, abs=4 * np.sqrt(draws / 4))
    counts = Counter(step.name for steps in drawn for step in steps)
    total = counts.total()
    assert set(counts) == set(TRADITIONAL)
    assert max(abs(count - total / 20) for count in counts.values()) < 4 * np.sqrt(total / 20)


def test_the_distortions_of_a_sequence_differ_and_stand_in_any_order():
    drawn = [draw_sequence(np.random.default_rng(seed), longest=3) for seed in range(3000)]

    names = [tuple(step.name for step in steps) for steps in drawn]
    assert all(len({*one}) == len(one) for one in names)
    assert {("jpeg", "gaussian_blur"), ("gaussian_blur", "jpeg")} <= {one[:2] for one in names}
    assert {len(one) for one in names} == {1, 2, 3}


def test_there_are_no_longer_sequences_than_distortions():
    only = named(["jpeg"])

    assert {len(draw_sequence(np.random.default_rng(i), 4, among=only)) for i in range(20)} == {1}


def test_positions_bound_the_magnitudes():
    only = named(["gaussian_blur"])
    magnitude = only[0].magnitude

    drawn = [draw_sequence(np.random.default_rng(i), 1, (0, 0.25), only) for i in range(100)]

    assert max(steps[0].values["sd_px"] for steps in drawn) <= magnitude.at(0.25)
    assert min(steps[0].values["sd_px"] for steps in drawn) >= magnitude.at(0)


def test_steps_are_applied_in_order_on_8_bits():
    picture = photograph()
    dark = Step("lightness_shift", {"lightness": 90.0, "direction": -1})
    bright = Step("lightness_shift", {"lightness": 60.0, "direction": 1})

    assert np.ptp(apply(picture, [dark, bright]), axis=(0, 1)).max() < np.ptp(picture, axis=(0, 1)).min() / 2
    assert (apply(picture, [dark, bright]) == apply(apply(picture, [dark]), [bright])).all()
    assert (apply(picture, [dark, bright]) != apply(picture, [bright, dark])).any()
    assert (apply(picture, []) == picture).all()


@pytest.mark.parametrize("name", TRADITIONAL)
@pytest.mark.parametrize("shape", [(8, 8, 3), (9, 33, 3), (64, 64, 3)])
@pytest.mark.parametrize("level", [0, 255])
def test_every_distortion_takes_every_picture(name, shape, level):
    picture = np.full(shape, level, np.uint8)

    for seed in range(3):
        made = apply(picture, [TRADITIONAL[name].draw(1, np.random.default_rng(seed))])
        assert (made.shape, made.dtype) == (shape, np.uint8)


def test_distortions_are_named_by_themselves_or_by_sub_type():
    assert [one.name for one in named(["blur", "jpeg"])] == ["gaussian_blur", "bilateral_filtering", "jpeg"]
    assert named([]) == ALL
    with pytest.raises(InvalidInput, match="there is no distortion 'blurr'; there are the sub-types photom"):
        named(["blurr"])
