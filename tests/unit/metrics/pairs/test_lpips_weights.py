"""Trunks and linear layers are found under the names of several programs; anything else is refused."""

import hashlib
from dataclasses import replace
from itertools import count, pairwise

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.metrics.pairs import lpips_weights
from backend.metrics.pairs.lpips_weights import PUBLISHED, read_linear, read_parts, read_trunk
from backend.metrics.pairs.nets import ALEX, NETS, SQUEEZE, VGG

NAMES = {
    "torchvision": "features.{}",
    "lpips": "net.slice1.{}",
    "a checkpoint": "state_dict.module.features.{}",
    "the features alone": "{}",
}
FIRE = ((3, 64, 16, 64), (4, 128, 16, 64), (6, 128, 32, 128), (7, 256, 32, 128), (9, 256, 48, 192),
        (10, 384, 48, 192), (11, 384, 64, 256), (12, 512, 64, 256))  # fmt: skip
"""Place, channels, narrow channels, and half of the output's channels."""


def shapes_of(net=ALEX):
    """Return the shapes of torchvision's kernels by name, written down independently of the code."""
    if net is ALEX:
        places, sides, widths = (0, 3, 6, 8, 10), (11, 5, 3, 3, 3), (3, 64, 192, 384, 256, 256)
    elif net is VGG:
        places = (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)
        sides, widths = (3,) * 13, (3, 64, 64, 128, 128, *(256,) * 3, *(512,) * 6)
    else:
        parts = {"squeeze": lambda i, n, w: (n, i, 1, 1), "expand1x1": lambda i, n, w: (w, n, 1, 1),
                 "expand3x3": lambda i, n, w: (w, n, 3, 3)}  # fmt: skip
        fire = {f"{place}.{part}": of(*sizes) for place, *sizes in FIRE for part, of in parts.items()}
        return {"0": (64, 3, 3, 3), **fire}
    channels = pairwise(widths)
    return {
        str(place): (outer, inner, side, side)
        for place, side, (inner, outer) in zip(places, sides, channels, strict=True)
    }


def trunk_arrays(net=ALEX, names="torchvision", seed=3, scale=1.0):
    """Return a random trunk as arrays by name, as torchvision orders their axes."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, shape in shapes_of(net).items():
        found[NAMES[names].format(f"{name}.weight")] = (scale * rng.normal(size=shape)).astype("f4")
        found[NAMES[names].format(f"{name}.bias")] = (scale * rng.normal(size=shape[0])).astype("f4")
    return found


def linear_arrays(net=ALEX, seed=4):
    rng = np.random.default_rng(seed)
    return {f"lin{i}.model.1.weight": rng.random((1, c, 1, 1)).astype("f4") for i, c in enumerate(net.widths)}


_numbers = count()


def written(folder, arrays, name=""):
    """Write arrays as torch.save does, where PyTorch is installed; return the path."""
    torch = pytest.importorskip("torch")
    path = folder / (name or f"weights{next(_numbers)}.pth")
    torch.save({key: torch.from_numpy(np.array(array)) for key, array in arrays.items()}, path)
    return path


@pytest.mark.parametrize(
    ("net", "names"), [(VGG, "torchvision"), *((net, names) for net in (ALEX, SQUEEZE) for names in NAMES)]
)
def test_a_trunk_is_the_same_under_the_names_of_every_program(names, net, tmp_path):
    arrays = trunk_arrays(net)

    found = read_trunk(written(tmp_path, trunk_arrays(net, names)), net.name)

    assert {f"features.{name}": each.shape for name, each in found.layers.state_dict().items()} == {
        name: each.shape for name, each in arrays.items()
    }
    assert all(
        np.array_equal(each.numpy(), arrays[f"features.{name}"])
        for name, each in found.layers.state_dict().items()
    )
    kernels = [each.transpose(2, 3, 1, 0) for each in arrays.values() if each.ndim == 4]
    assert found.hash == lpips_weights.hash_of(
        [*kernels, *(each for each in arrays.values() if each.ndim == 1)]
    )
    assert not found.is_published


def test_a_trunk_is_the_published_one_by_its_values_or_by_its_file(tmp_path, monkeypatch):
    path = written(tmp_path, trunk_arrays())
    digest, digits = read_trunk(path, "alex").hash, hashlib.sha256(path.read_bytes()).hexdigest()[:8]

    for changed_net in (replace(ALEX, published=digest), replace(ALEX, example=f"alex-owt-{digits}.pth")):
        monkeypatch.setattr(lpips_weights, "NETS", {"alex": changed_net})
        assert read_trunk(path, "alex").is_published


def test_the_rest_of_a_network_is_ignored(tmp_path):
    arrays = {**trunk_arrays(), "classifier.1.weight": np.full((2, 2), np.nan)}

    assert read_trunk(written(tmp_path, arrays), "alex").net is ALEX


def test_one_file_may_have_trunk_and_linear_layers(tmp_path):
    found = read_parts(written(tmp_path, {**trunk_arrays(VGG), **linear_arrays(VGG)}))

    assert (found.trunk.net, found.linear.net) == (VGG, "vgg")


def test_linear_layers_are_read_in_64_bits(tmp_path):
    found = read_linear(written(tmp_path, linear_arrays(SQUEEZE)), "squeeze")

    assert [weights.shape for weights in found] == [(width,) for width in SQUEEZE.widths]
    assert {weights.dtype for weights in found} == {np.dtype(np.float64)}
    assert np.array_equal(found[6], linear_arrays(SQUEEZE)["lin6.model.1.weight"].ravel())


def test_the_state_of_a_whole_lpips_module_names_its_linear_layers_twice(tmp_path):
    once = linear_arrays()
    twice = {**once, **{f"lins.{name.removeprefix('lin')}": array for name, array in once.items()}}

    assert read_parts(written(tmp_path, twice)).linear.hash == read_parts(written(tmp_path, once)).linear.hash


def test_the_version_of_unknown_linear_layers_is_unknown(tmp_path):
    assert read_parts(written(tmp_path, linear_arrays())).linear.version == ""
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
    "NaN in a kernel": (changed(trunk_arrays(), "features.3.weight", one(np.nan)), "3.weight of the"),
    "infinity in a bias": (changed(trunk_arrays(), "features.0.bias", one(np.inf)), "0.bias of the"),
    "a number beyond 32 bits": (
        changed(trunk_arrays(), "features.0.bias", lambda array: one(1e300)(array.astype("f8"))),
        "0.bias of the trunk has NaN or infinity",
    ),
    "a missing kernel": (
        changed(trunk_arrays(), "features.3.weight", None),
        "expected the convolutions of AlexNet, VGG16 .* got 9 tensors, the first of shape 64 x 3 x 11 x 11",
    ),
    "a kernel of three axes": (
        changed(trunk_arrays(), "features.3.weight", lambda array: array[0]), "got 10 tensors, the first"
    ),
    "another network": ({"features.0.weight": np.ones((8, 3, 7, 7))}, "got 1 tensors"),
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

    with pytest.raises(InvalidInput, match=rf"weights\.pth.*{why}"):
        read_parts(written(tmp_path, arrays, "weights.pth"))


def test_weights_of_another_network_are_refused(tmp_path):
    trunk, linear = written(tmp_path, trunk_arrays()), written(tmp_path, linear_arrays())

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
