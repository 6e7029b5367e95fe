"""LPIPS: convolutions against naive ones, the distance against its formula on a tiny network."""

import numpy as np
import pytest
from scipy.signal import correlate

from backend.foundation.errors import InvalidInput
from backend.metrics.pairs.lpips import differences_from_first, lpips, normalised
from backend.metrics.pairs.trunk import (
    ALEX,
    NETS,
    VGG,
    Convolution,
    Net,
    Trunk,
    activations,
    convolved,
    pooled,
    scaled,
)

TINY = Net(
    "tiny", "tiny", (Convolution(4, 5, 2, 2), Convolution(6, 3, pool=3), Convolution(5, 3, is_compared=False),
                     Convolution(3, 3, pool=2)), (), "",
)  # fmt: skip


def tiny_trunk(seed=1):
    rng = np.random.default_rng(seed)
    kernels = tuple(rng.normal(size=shape).astype("f4") / 5 for shape in TINY.shapes)
    return Trunk(TINY, kernels, tuple(rng.normal(size=shape[-1]).astype("f4") for shape in TINY.shapes))


def pictures(count=3, height=30, width=27, seed=2):
    return np.random.default_rng(seed).integers(0, 256, (count, height, width, 3), dtype=np.uint8)


def naive(values, kernel, bias, stride, padding):
    """Return a convolution by scipy, one channel after the other, in 64-bit floats."""
    padded = np.pad(values.astype(float), ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    made = [
        sum(
            correlate(picture[..., i], kernel[..., i, o].astype(float), "valid")
            for i in range(kernel.shape[2])
        )
        + bias[o]
        for picture in padded
        for o in range(kernel.shape[3])
    ]
    made = np.array(made).reshape(len(values), kernel.shape[3], *made[0].shape)
    return made.transpose(0, 2, 3, 1)[:, ::stride, ::stride]


@pytest.mark.parametrize(("side", "stride", "padding"), [(11, 4, 2), (5, 1, 2), (3, 1, 1), (1, 1, 0)])
@pytest.mark.parametrize("block", [1, 1 << 24])
def test_a_convolution_equals_a_naive_one_whatever_the_size_of_its_blocks(
    side, stride, padding, block, monkeypatch
):
    monkeypatch.setattr("backend.metrics.pairs.trunk._COLUMN_BYTES", block)
    rng = np.random.default_rng(side)
    values = rng.normal(size=(2, 13, 18, 3)).astype("f4")
    kernel, bias = rng.normal(size=(side, side, 3, 4)).astype("f4"), rng.normal(size=4).astype("f4")

    found = convolved(values, kernel, bias, stride, padding)

    expected = naive(values, kernel, bias, stride, padding)
    assert found.dtype == np.float32
    assert found == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("side", [2, 3])
@pytest.mark.parametrize("height", [6, 7, 8])
def test_pooling_takes_the_maximum_of_each_square_that_fits(side, height):
    values = np.random.default_rng(height).normal(size=(2, height, 9, 3))

    found = pooled(values, side)

    rows, columns = range(0, height - side + 1, 2), range(0, 9 - side + 1, 2)
    expected = [
        [[v[r : r + side, c : c + side].max(axis=(0, 1)) for c in columns] for r in rows] for v in values
    ]
    assert np.array_equal(found, expected)


def test_the_distance_is_the_formula_of_the_paper():
    trunk, parts = tiny_trunk(), [pictures(seed=seed) for seed in (2, 3, 4)]
    weights = [np.random.default_rng(5).random(width) for width in TINY.widths]
    expected = np.zeros((3, 2))
    for item in range(3):
        layers = [[*activations(trunk, scaled(part[item : item + 1]))] for part in parts]
        for other in (1, 2):
            for layer, of in enumerate(weights):
                first, second = (layers[i][layer][0].astype(float) for i in (0, other))
                unit = [
                    each / (np.linalg.norm(each, axis=-1, keepdims=True) + 1e-10) for each in (first, second)
                ]
                expected[item, other - 1] += (((unit[0] - unit[1]) ** 2) * of).sum(axis=-1).mean()

    found = lpips(trunk, weights, parts)

    assert found.dtype == np.float64
    assert found == pytest.approx(expected, rel=1e-5)


def test_differences_of_channels_give_the_distance_for_any_weights():
    trunk, first, second = tiny_trunk(), pictures(seed=2), pictures(seed=3)
    weights = [np.random.default_rng(5).random(width) for width in TINY.widths]

    layers = [layer[:, 0] for layer in differences_from_first(trunk, [first, second])]

    assert [(layer.shape, layer.dtype) for layer in layers] == [((3, n), np.float64) for n in (4, 6, 3)]
    by_hand = sum(layer @ of for layer, of in zip(layers, weights, strict=True))
    assert by_hand == pytest.approx(lpips(trunk, weights, [first, second])[:, 0], rel=1e-12)
    without = sum(layer.sum(axis=1) for layer in layers)
    assert without == pytest.approx(lpips(trunk, None, [first, second])[:, 0], rel=1e-12)


def test_equal_pictures_have_no_distance_and_the_order_of_a_pair_does_not_matter():
    trunk, first, second = tiny_trunk(), pictures(seed=2), pictures(seed=3)

    forth, back = lpips(trunk, None, [first, second]), lpips(trunk, None, [second, first])

    assert np.array_equal(lpips(trunk, None, [first, first, first]), np.zeros((3, 2)))
    assert np.array_equal(*lpips(trunk, None, [first, second, second]).T)
    assert np.array_equal(forth, back)
    assert (forth > 0).all()


def test_an_item_has_the_same_distance_alone_and_in_a_batch():
    trunk, first, second = tiny_trunk(), pictures(seed=2), pictures(seed=3)

    together = lpips(trunk, None, [first, second])

    alone = [lpips(trunk, None, [first[i : i + 1], second[i : i + 1]])[0] for i in range(3)]
    assert together == pytest.approx(np.array(alone), rel=1e-6)


def test_positions_without_any_activation_stay_zero():
    assert np.array_equal(normalised(np.zeros((1, 2, 2, 3), np.float32)), np.zeros((1, 2, 2, 3)))


def test_version_0_1_standardises_its_input_and_version_0_0_does_not():
    levels = np.array([[[[0, 127.5, 255]]]])

    assert scaled(levels, "0.0").tolist() == [[[[-1, 0, 1]]]]
    # (-1 + 0.030) / 0.458, (0 + 0.088) / 0.448, (1 + 0.188) / 0.450
    assert scaled(levels)[0, 0, 0] == pytest.approx([-2.117904, 0.196429, 2.64], abs=1e-6)


def test_nets_are_those_of_the_paper():
    assert ALEX.widths == (64, 192, 384, 256, 256)
    assert VGG.widths == (64, 128, 256, 512, 512)
    # AlexNet: 31 -> 7 -> 3 -> 1 (11 x 11 with stride 4 and padding 2, then twice a maximum of 3 by 2)
    assert {name: net.min_side_px for name, net in NETS.items()} == {"alex": 31, "vgg": 16}


def test_pictures_that_are_too_small_are_refused():
    with pytest.raises(InvalidInput, match="needs pictures of 31 px or more on each side, not 40 x 30"):
        lpips(Trunk(ALEX, (), ()), None, [pictures(1, 30, 40)] * 2)
