"""Trunks and linear layers are found under the names of several programs; anything else is refused."""

from pathlib import Path

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.metrics.pairs.lpips_weights import PUBLISHED, read_linear, read_parts, read_trunk
from backend.metrics.pairs.trunk import ALEX, NETS, VGG

FILES = Path(__file__).resolve().parents[1] / "files"
NAMES = {
    "torchvision": lambda net, i: f"features.{net.places[i]}.{{}}",
    "lpips": lambda net, i: f"net.slice1.{net.places[i]}.{{}}",
    "a checkpoint": lambda net, i: f"state_dict.module.features.{net.places[i]}.{{}}",
    "the features alone": lambda net, i: f"{net.places[i]}.{{}}",
    "flax": lambda net, i: f"{net.module}_0.Conv_{i}.{{}}",
}


def trunk_arrays(net=ALEX, names="torchvision", seed=3):
    """Return a random trunk as arrays by name; kernels as (out, in, height, width) but for flax."""
    rng = np.random.default_rng(seed)
    found = {}
    for i, shape in enumerate(net.shapes):
        name = NAMES[names](net, i)
        kernel = rng.normal(size=shape).astype("f4")
        is_flax = names == "flax"
        found[name.format("kernel" if is_flax else "weight")] = (
            kernel if is_flax else kernel.transpose(3, 2, 0, 1)
        )
        found[name.format("bias")] = rng.normal(size=shape[-1]).astype("f4")
    return found


def linear_arrays(net=ALEX, seed=4):
    rng = np.random.default_rng(seed)
    return {f"lin{i}.model.1.weight": rng.random((1, c, 1, 1)).astype("f4") for i, c in enumerate(net.widths)}


def written(folder, arrays, name="weights.npz"):
    np.savez(folder / name, **arrays)
    return folder / name


@pytest.mark.parametrize("names", NAMES)
def test_a_trunk_is_the_same_under_the_names_of_every_program(names, tmp_path):
    expected = read_trunk(written(tmp_path, trunk_arrays(), "torchvision.npz"), "alex")

    found = read_trunk(written(tmp_path, trunk_arrays(names=names)), "alex")

    assert [kernel.shape for kernel in found.kernels] == [*ALEX.shapes]
    assert found.hash == expected.hash
    assert all(np.array_equal(*pair) for pair in zip(found.kernels, expected.kernels, strict=True))


def test_the_rest_of_a_network_is_ignored(tmp_path):
    arrays = {**trunk_arrays(), "classifier.1.weight": np.full((2, 2), np.nan)}

    assert read_trunk(written(tmp_path, arrays), "alex").net is ALEX


def test_one_file_may_have_trunk_and_linear_layers(tmp_path):
    found = read_parts(written(tmp_path, {**trunk_arrays(VGG), **linear_arrays(VGG)}))

    assert (found.trunk.net, found.linear.net) == (VGG, "vgg")


@pytest.mark.parametrize("form", ["zip", "legacy"])
def test_linear_layers_in_the_format_of_the_lpips_package_are_read(form):
    found = read_linear(FILES / f"alex_linear_{form}.pth", "alex")

    assert [weights.shape for weights in found] == [(width,) for width in (64, 192, 384, 256, 256)]
    assert {weights.dtype for weights in found} == {np.dtype(np.float64)}


def test_the_state_of_a_whole_lpips_module_names_its_linear_layers_twice(tmp_path):
    once = linear_arrays()
    twice = {**once, **{f"lins.{name.removeprefix('lin')}": array for name, array in once.items()}}

    assert read_parts(written(tmp_path, twice)).linear.hash == read_parts(written(tmp_path, once)).linear.hash


def test_the_version_of_unknown_linear_layers_is_unknown():
    assert read_parts(FILES / "alex_linear_zip.pth").linear.version == ""
    assert sorted(PUBLISHED.values()) == [
        (net, version) for net in sorted(NETS) for version in ("0.0", "0.1")
    ]


def changed(arrays, name, change):
    made = {key: array.copy() for key, array in arrays.items()}
    if change is None:
        del made[name]
    else:
        made[name] = change(made[name])
    return made


def one(value):
    def change(array):
        array.reshape(-1)[1] = value
        return array

    return change


REFUSED = {
    "NaN in a kernel": (changed(trunk_arrays(), "features.3.weight", one(np.nan)), "kernel of convolution 2"),
    "infinity in a bias": (changed(trunk_arrays(), "features.0.bias", one(np.inf)), "bias of convolution 1"),
    "a number beyond 32 bits": (
        changed(trunk_arrays(), "features.0.bias", lambda array: one(1e300)(array.astype("f8"))),
        "bias of convolution 1 has NaN or infinity",
    ),
    "a missing kernel": (
        changed(trunk_arrays(), "features.3.weight", None),
        "expected the convolutions of AlexNet .* got 4 kernels and 5 biases, first kernel 11 x 11 x 3 x 64",
    ),
    "a kernel of three axes": (
        changed(trunk_arrays(), "features.3.weight", lambda array: array[0]), "got 5 kernels and 5 biases"
    ),
    "another network": ({"features.0.weight": np.ones((8, 3, 7, 7))}, "got 1 kernels and 0 biases"),
    "NaN in a linear layer": (changed(linear_arrays(), "lin2.model.1.weight", one(np.nan)), "layer 2 has"),
    "a negative linear weight": (
        changed(linear_arrays(), "lin2.model.1.weight", one(-0.25)),
        "linear layer 2 has 1 negative weights, the lowest -0.25",
    ),
    "a linear layer of another width": (
        changed(linear_arrays(), "lin1.model.1.weight", lambda array: array[:, 1:]),
        r"expected linear layers of 64, 192, 384, 256, 256 \(AlexNet\) or 64, .*, got 64, 191, 384",
    ),
    "a missing linear layer": (changed(linear_arrays(), "lin4.model.1.weight", None), "got 64, 192"),
    "two linear layers of one number": (
        {**linear_arrays(), "lins.1.model.1.weight": np.ones((1, 192, 1, 1))}, "linear layer 1 is there twice"
    ),
    "other arrays": ({"encoder.weight": np.ones((2, 2))}, "must have a trunk .* or linear layers"),
    "no arrays": ({}, "cannot be read as weights"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_arrays_that_are_not_the_weights_of_lpips_are_refused(case, tmp_path):
    arrays, why = REFUSED[case]

    with pytest.raises(InvalidInput, match=rf"weights\.npz.*{why}"):
        read_parts(written(tmp_path, arrays))


def test_weights_of_another_network_are_refused(tmp_path):
    trunk, linear = written(tmp_path, trunk_arrays()), FILES / "alex_linear_zip.pth"

    with pytest.raises(InvalidInput, match="must have the trunk VGG16; it has the trunk AlexNet"):
        read_trunk(trunk, "vgg")
    with pytest.raises(
        InvalidInput, match="must have the linear layers of LPIPS for VGG16; it has linear layers"
    ):
        read_linear(linear, "vgg")
    with pytest.raises(
        InvalidInput, match="must have the linear layers of LPIPS for AlexNet; it has the trunk"
    ):
        read_linear(trunk, "alex")
