"""Distances by name, and by batch: which weights they take, and what files of pictures may be."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.foundation.errors import InvalidInput, NotFound, NotInstalled
from backend.metrics.pairs import batches, distances, lpips_weights
from backend.metrics.pairs.batches import measured
from backend.metrics.pairs.distances import DEFAULT, NAMES, Distance, distances_named
from backend.metrics.pairs.nets import VGG
from backend.metrics.pairs.pixels import l2

from .test_lpips_weights import linear_arrays, trunk_arrays, written


@pytest.fixture(scope="module")
def alex(tmp_path_factory):
    """A file of a random AlexNet."""
    return written(tmp_path_factory.mktemp("weights"), trunk_arrays())


@pytest.fixture(scope="module")
def linear(tmp_path_factory):
    """A file of random linear layers."""
    return written(tmp_path_factory.mktemp("weights"), linear_arrays())


def saved(folder, pictures, suffix="png"):
    """Write pictures of an item; return their paths."""
    paths = []
    for picture in pictures:
        paths.append(folder / f"{len([*folder.iterdir()]):04}.{suffix}")
        Image.fromarray(picture).save(paths[-1])
    return paths


def random_pictures(count, height=40, width=33, seed=1):
    return [*np.random.default_rng(seed).integers(0, 256, (count, height, width, 3), dtype=np.uint8)]


def brightness(parts):
    """Return differences of mean levels, in place of a network."""
    first, *others = (part.mean(axis=(1, 2, 3)) for part in parts)
    return np.stack([other - first for other in others], axis=1)


def test_distances_of_items_are_those_of_their_pictures_whatever_the_batches(tmp_path, monkeypatch):
    sizes = [(40, 33)] * 5 + [(64, 64)] * 2 + [(40, 33)]
    pictures = {f"i{i}": random_pictures(3, *size, seed=i) for i, size in enumerate(sizes)}
    files = {item: saved(tmp_path, parts) for item, parts in pictures.items()}
    chosen = [Distance("brightness", "", brightness, is_network=True), *distances_named(["l2"])]
    monkeypatch.setattr(batches, "_BATCH_PIXELS", 2 * 40 * 33)
    seen = []

    def progress(items, total, label):
        seen.append((label, total))
        return items

    found = measured(files, chosen, progress)

    assert [*found] == ["brightness", "l2"]
    assert seen == [("sizes", 8), ("distances", 3 + 2 + 1)]
    for i, (first, *others) in enumerate(pictures.values()):
        assert found["brightness"][i] == pytest.approx([each.mean() - first.mean() for each in others])
        assert found["l2"][i].tolist() == [l2(first, other) for other in others]


def test_lpips_takes_trunk_and_linear_layers_from_the_files(alex, linear, tmp_path):
    from backend.metrics.pairs.lpips import lpips

    parts = random_pictures(3)
    of_net, weights = lpips_weights.read_trunk(alex, "alex"), lpips_weights.read_linear(linear, "alex")

    found = measured({"i": saved(tmp_path, parts)}, distances_named(["lpips-alex"], [alex, linear]))

    assert np.array_equal(found["lpips-alex"], lpips(of_net, weights, [part[None] for part in parts]))


def test_equal_pictures_have_equal_distances_in_every_batch(alex, tmp_path):
    parts = random_pictures(2)
    files = {f"i{i}": saved(tmp_path, [parts[0], parts[0], *random_pictures(1, seed=i)]) for i in range(4)}
    files["twins"] = saved(tmp_path, [parts[0], parts[1], parts[1]])

    found = measured(files, distances_named([*DEFAULT, "baseline-alex"], [alex]))

    assert {name: values[:4, 0].max() for name, values in found.items()} == {
        "l2": 0, "psnr": -200, "ssim": 0, "baseline-alex": 0
    }  # fmt: skip
    assert all(values[4, 0] == values[4, 1] for values in found.values())


def test_pytorch_is_asked_for_at_once_where_it_is_missing():
    if find_spec("torch"):
        pytest.skip("PyTorch is installed")
    with pytest.raises(NotInstalled, match="LPIPS needs torch, which is not installed; run: "):
        distances_named(["l2", "baseline-squeeze"], [Path("gone.pth")])


def test_version_and_hashes_of_the_weights_are_described(alex, linear, monkeypatch):
    unknown = distances_named(["lpips-alex"], [alex, linear])[0].description
    digest = lpips_weights.read_parts(linear).linear.hash
    monkeypatch.setattr(lpips_weights, "PUBLISHED", {digest: ("alex", "0.0")})
    published = distances_named(["lpips-alex"], [alex, linear])[0].description
    trunk = lpips_weights.read_trunk(alex, "alex").hash
    baseline = distances_named(["baseline-alex"], [alex], "0.0")[0].description

    of_trunk = f"trunk AlexNet, not recognised as the published one (sha256 {trunk[:12]})"
    assert unknown == f"LPIPS v0.1; linear layers not published ones (sha256 {digest[:12]}); {of_trunk}"
    assert published == f"LPIPS v0.0; linear layers as published (sha256 {digest[:12]}); {of_trunk}"
    assert baseline == f"without linear layers, input of LPIPS v0.0; {of_trunk}"


def test_the_version_decides_on_the_scale_of_the_input(alex, linear, tmp_path):
    files = {"i": saved(tmp_path, random_pictures(2))}

    new, old = (
        measured(files, distances_named(["lpips-alex"], [alex, linear], version))["lpips-alex"]
        for version in ("0.1", "0.0")
    )

    assert abs(new - old) > 1e-3


def test_linear_layers_of_their_own_count_before_those_that_come_with_a_trunk(linear, tmp_path):
    both = written(tmp_path, {**trunk_arrays(), **linear_arrays(seed=9)})

    alone, chosen = (distances_named(["lpips-alex"], files)[0] for files in ([both], [both, linear]))

    assert lpips_weights.read_parts(linear).linear.hash[:12] in chosen.description
    assert lpips_weights.read_parts(both).linear.hash[:12] in alone.description


def refused(names, weights=(), **options):
    with pytest.raises((InvalidInput, NotFound)) as found:
        distances_named(names, weights, **options)
    return str(found.value)


def test_weights_that_are_missing_too_many_or_of_no_use_are_refused(alex, linear, tmp_path, monkeypatch):
    vgg = written(tmp_path, {f"lin{i}": np.ones(n) for i, n in enumerate(VGG.widths)})

    assert "lpips-alex needs the trunk AlexNet, for example torchvision's alexnet-" in refused(["lpips-alex"])
    assert "lpips-alex needs the linear layers for AlexNet, for" in refused(["lpips-alex"], [alex])
    assert "from one file, not from" in refused(["lpips-alex"], [alex, alex, linear])
    assert "linear layers for VGG16, which none of lpips-alex uses" in refused(
        ["lpips-alex"], [alex, linear, vgg]
    )
    assert "lpips-vgg needs the trunk VGG16" in refused(["lpips-vgg"], [vgg])
    assert "ssim have no weights; leave --weights" in refused(["ssim"], [alex])
    assert "ssim have no weights" in refused(["ssim"], version="0.0")
    assert "there is no distance 'lpips'; there are l2, psnr, ssim" in refused(["ssim", "lpips"])
    assert "gone.pth is not there" in refused(["lpips-alex"], [Path("gone.pth")])
    digest = lpips_weights.read_parts(linear).linear.hash
    monkeypatch.setattr(lpips_weights, "PUBLISHED", {digest: ("alex", "0.1")})
    assert "--lpips-version is 0.0, but the linear layers are the published ones of v0.1" in refused(
        ["lpips-alex"], [alex, linear], version="0.0"
    )


def test_every_name_is_known():
    assert distances.NAMES == NAMES
    assert {*DEFAULT} < {*NAMES}


def test_pictures_of_an_item_with_two_sizes_are_refused_before_anything_is_computed(tmp_path):
    files = {"a/1": saved(tmp_path, random_pictures(2)), "a/2": []}
    files["a/2"] = saved(tmp_path, [*random_pictures(1), *random_pictures(1, 33, 40)])

    with pytest.raises(
        InvalidInput, match=r"item a/2 must have one size, not 33 x 40 \(.*\) and 40 x 33 \(.*\); bring"
    ):
        measured(files, distances_named(["l2"]))


@pytest.mark.parametrize("content", [b"", b"no picture", None, "half"])
def test_a_file_that_is_no_picture_is_named(content, tmp_path):
    good, bad = saved(tmp_path, random_pictures(2))
    if content is None:
        bad.unlink()
    else:
        bad.write_bytes(bad.read_bytes()[:900] if content == "half" else content)

    with pytest.raises(InvalidInput, match=bad.name):
        measured({"i": (good, bad)}, distances_named(["l2"]))


def test_a_picture_that_is_too_small_for_a_distance_is_named(tmp_path, alex):
    files = {"set/7": saved(tmp_path, random_pictures(2, 30, 30))}

    with pytest.raises(InvalidInput, match="item set/7: MS-SSIM needs"):
        measured(files, distances_named(["ms-ssim"]))
    with pytest.raises(InvalidInput, match="item set/7: LPIPS with AlexNet needs pictures of 31 px"):
        measured(files, distances_named(["baseline-alex"], [alex]))


def test_pictures_are_compared_upright_in_srgb_and_on_white(tmp_path):
    (first,) = random_pictures(1)
    turned = Image.fromarray(np.rot90(first))
    exif = turned.getexif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    turned.save(tmp_path / "turned.png", exif=exif)
    Image.fromarray(first).save(tmp_path / "plain.png")
    files = {"i": (tmp_path / "plain.png", tmp_path / "turned.png")}

    assert measured(files, distances_named(["l2"]))["l2"].tolist() == [[0.0]]
