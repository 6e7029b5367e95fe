"""LPIPS: its formula from activations, the numbers of the package `lpips`, and its exact ties."""

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.metrics.pairs.lpips_weights import read_trunk
from backend.metrics.pairs.nets import ALEX, NETS, SQUEEZE, VGG

from .test_lpips_weights import linear_arrays, trunk_arrays, written

pytest.importorskip("torch")

import torch

from backend.metrics.pairs.lpips import lpips, normalised, squared_differences
from backend.metrics.pairs.trunk import activations, layers_of, scaled

PUBLISHED = {
    "alex": [(0.993959, 1.010097), (1.811982, 1.754088), (1.061958, 1.079350), (1.905342, 1.856529)],
    "vgg": [(0.717623, 0.740816), (1.311731, 1.356245), (0.560198, 0.576620), (1.044303, 1.075055)],
    "squeeze": [(0.732852, 0.750019), (1.235561, 1.274086), (0.725794, 0.735027), (1.235367, 1.260026)],
}  # fmt: skip
"""By net: distances of v0.1 and v0.0, with linear layers and without, of the two pairs of `pictures` by the
package lpips 0.1.4 with torch 2.13 and the weights of `trunk_arrays` and `linear_arrays`."""


@pytest.fixture(scope="module")
def trunk_of(tmp_path_factory):
    """Return the random trunk of a net."""
    found = {}

    def read(net):
        if net not in found:
            path = written(tmp_path_factory.mktemp(net.name), trunk_arrays(net, scale=0.05))
            found[net] = read_trunk(path, net.name)
        return found[net]

    return read


def pictures(count=3, height=40, width=33, seed=2):
    return np.random.default_rng(seed).integers(0, 256, (count, height, width, 3), dtype=np.uint8)


def linear(net):
    return [each.ravel().astype(float) for each in linear_arrays(net).values()]


@pytest.mark.parametrize("net", NETS.values(), ids=NETS)
def test_distances_are_those_of_the_package_lpips(net, trunk_of):
    pair = [pictures(2), pictures(2, seed=3)]

    found = [
        lpips(trunk_of(net), weights, pair, version)[:, 0]
        for version in ("0.1", "0.0")
        for weights in (linear(net), None)
    ]

    assert np.array(found) == pytest.approx(np.array(PUBLISHED[net.name]), rel=3e-6)


def test_the_distance_is_the_formula_of_the_paper(trunk_of):
    trunk, parts = trunk_of(SQUEEZE), [pictures(seed=seed) for seed in (2, 3, 4)]
    expected = np.zeros((3, 2))
    for item in range(3):
        layers = [[*activations(trunk, scaled(part[item : item + 1]))] for part in parts]
        for other in (1, 2):
            for layer, of in enumerate(linear(SQUEEZE)):
                first, second = (layers[i][layer][0].double().numpy() for i in (0, other))
                unit = [each / (np.linalg.norm(each, axis=0) + 1e-10) for each in (first, second)]
                apart = (unit[0] - unit[1]) ** 2
                expected[item, other - 1] += (apart * of[:, None, None]).sum(axis=0).mean()

    found = lpips(trunk, linear(SQUEEZE), parts)

    assert found.dtype == np.float64
    assert found == pytest.approx(expected, rel=1e-5)


def test_differences_of_channels_give_the_distance_for_any_weights(trunk_of):
    trunk, pair = trunk_of(ALEX), [pictures(seed=2), pictures(seed=3)]

    layers = [layer.mean((2, 3)).double().numpy() for (layer,) in squared_differences(trunk, pair)]

    assert [layer.shape for layer in layers] == [(3, width) for width in ALEX.widths]
    by_hand = sum(layer @ of for layer, of in zip(layers, linear(ALEX), strict=True))
    assert by_hand == pytest.approx(lpips(trunk, linear(ALEX), pair)[:, 0], rel=1e-5)
    without = sum(layer.sum(axis=1) for layer in layers)
    assert without == pytest.approx(lpips(trunk, None, pair)[:, 0], rel=1e-5)


@pytest.mark.parametrize("net", NETS.values(), ids=NETS)
def test_equal_pictures_have_no_distance_and_the_order_of_a_pair_does_not_matter(net, trunk_of):
    trunk, first, second = trunk_of(net), pictures(seed=2), pictures(seed=3)

    forth, back = lpips(trunk, None, [first, second]), lpips(trunk, None, [second, first])

    assert np.array_equal(lpips(trunk, None, [first, first, first]), np.zeros((3, 2)))
    assert np.array_equal(*lpips(trunk, None, [first, second, second]).T)
    assert np.array_equal(forth, back)
    assert (forth > 0).all()


def test_an_item_has_the_same_distance_alone_and_in_a_batch(trunk_of):
    trunk, first, second = trunk_of(ALEX), pictures(seed=2), pictures(seed=3)

    together = lpips(trunk, None, [first, second])

    alone = [lpips(trunk, None, [first[i : i + 1], second[i : i + 1]])[0] for i in range(3)]
    assert together == pytest.approx(np.array(alone), rel=1e-5)


def test_positions_without_any_activation_stay_zero():
    assert not normalised(torch.zeros(1, 3, 2, 2)).any()


def test_version_0_1_standardises_its_input_and_version_0_0_does_not():
    levels = np.array([[[[0, 127.5, 255]]]])

    assert scaled(levels, "0.0").tolist() == [[[[-1]], [[0]], [[1]]]]
    # (-1 + 0.030) / 0.458, (0 + 0.088) / 0.448, (1 + 0.188) / 0.450
    assert scaled(levels).ravel().tolist() == pytest.approx([-2.117904, 0.196429, 2.64], abs=1e-6)


@pytest.mark.parametrize("net", NETS.values(), ids=NETS)
def test_the_shortest_side_is_the_first_of_which_each_layer_has_an_output(net, trunk_of):
    def layers(side):
        return [layer.shape[1:] for layer in activations(trunk_of(net), torch.zeros(1, 3, side, side))]

    assert [channels for channels, _, _ in layers(net.min_side_px)] == [*net.widths]
    with pytest.raises(RuntimeError, match=r"too small|size"):
        layers(net.min_side_px - 1)


def test_pictures_that_are_too_small_are_refused(trunk_of):
    with pytest.raises(InvalidInput, match="needs pictures of 31 px or more on each side, not 40 x 30"):
        lpips(trunk_of(ALEX), None, [pictures(1, 30, 40)] * 2)


def test_layers_without_weights_take_no_memory():
    assert {each.device.type for each in layers_of(VGG).parameters()} == {"meta"}
