"""Pictures for the sample studies: real ones out of scikit-learn, fakes from models fitted to them.

The reals are its 1,797 handwritten digits (UCI), and patches of its two photographs. The models are
real generative models, fitted here in seconds, of clearly different quality.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

DIGIT_MODELS = {
    "pixels": "each pixel drawn on its own from the digits' pixels there",
    "gaussian": "a Gaussian on the digits' first 20 principal components",
    "kernel-density": "a kernel density estimate of each digit on its principal components",
}
PATCH_MODELS = {
    "spectrum": "a Gaussian random field with a patch's spectrum and colours",
    "gaussian": "a Gaussian on the patches' first 60 principal components",
    "quilt": "small squares of one photograph, quilted where they fit best",
}
_DIGIT_PX = 64
_FAKES = 600
_PATCH_PX = 96
_PATCHES = 300
_LIVELY = 35
"""Standard deviation a patch needs; bare sky shows nothing that could be judged."""


def write_digits(out: Path, seed: int) -> dict:
    """Write the digits and three models' fakes as PNG; return {'real': folder, 'models': {name: folder}}."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(seed)
    bunch = load_digits()
    digits, labels = bunch.data, bunch.target
    fakes = {
        "pixels": _independent_pixels(digits, _FAKES, rng),
        "gaussian": _gaussian(digits, 20, _FAKES, rng),
        "kernel-density": _kernel_density(digits, labels, _FAKES, rng),
    }
    draw = lambda row: _digit(row)  # noqa: E731
    folders = {name: _write(out / name, map(draw, rows)) for name, rows in fakes.items()}
    return {"real": _write(out / "real", map(draw, digits)), "models": folders}


def write_patches(out: Path, seed: int) -> dict:
    """Write patches of photographs and three models' fakes as PNG; returns as `write_digits`."""
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(seed)
    photographs = [np.asarray(image) for image in load_sample_images().images]
    reals = _cut(photographs, _PATCHES, rng)
    makers: dict[str, Callable] = {
        "spectrum": lambda: (_random_field(reals[rng.integers(len(reals))], rng) for _ in range(_PATCHES)),
        "gaussian": lambda: _gaussian_patches(reals, _PATCHES, rng),
        "quilt": lambda: _lively_quilts(photographs, _PATCHES, rng),
    }
    folders = {name: _write(out / name, make()) for name, make in makers.items()}
    return {"real": _write(out / "real", reals), "models": folders}


def _independent_pixels(rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    chosen = rng.integers(len(rows), size=(count, rows.shape[1]))
    return np.take_along_axis(rows, chosen, axis=0)


def _gaussian(rows: np.ndarray, components: int, count: int, rng: np.random.Generator) -> np.ndarray:
    mean, basis, scale = _principal(rows, components)
    return mean + (rng.standard_normal((count, len(scale))) * scale) @ basis


def _kernel_density(rows: np.ndarray, labels: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from a kernel density estimate within each digit: a digit, moved along its kind's variation."""
    made = []
    for label in np.arange(count) % 10:
        same = rows[labels == label]
        mean, basis, scale = _principal(same, 25)
        weights = (same[rng.integers(len(same))] - mean) @ basis.T
        made.append(mean + (weights + 0.25 * scale * rng.standard_normal(len(scale))) @ basis)
    return np.array(made)


def _principal(rows: np.ndarray, components: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, basis (components, features) and standard deviations of the first components."""
    mean = rows.mean(axis=0)
    _, sizes, basis = np.linalg.svd(rows - mean, full_matrices=False)
    return mean, basis[:components], sizes[:components] / np.sqrt(len(rows))


def _digit(row: np.ndarray) -> np.ndarray:
    """Return a digit as ink on paper; every side has the 17 grey levels of the originals."""
    levels = np.clip(np.round(row.reshape(8, 8)), 0, 16)
    small = Image.fromarray((255 - levels * 255 / 16).astype(np.uint8))
    return np.asarray(small.resize((_DIGIT_PX, _DIGIT_PX), Image.Resampling.BICUBIC))


def _cut(photographs: list[np.ndarray], count: int, rng: np.random.Generator) -> np.ndarray:
    """Return patches (count, px, px, 3), half of each photograph, no two at one place."""
    patches, taken = [], set()
    while len(patches) < count:
        which = len(patches) % len(photographs)
        photograph = photographs[which]
        y = int(rng.integers((photograph.shape[0] - _PATCH_PX) // 4)) * 4
        x = int(rng.integers((photograph.shape[1] - _PATCH_PX) // 4)) * 4
        patch = photograph[y : y + _PATCH_PX, x : x + _PATCH_PX]
        if (which, y, x) in taken or patch.std() < _LIVELY:
            continue
        taken.add((which, y, x))
        patches.append(patch)
    return np.array(patches)


def _random_field(patch: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    from backend.masks.phase import scramble

    return scramble(patch, rng)


def _gaussian_patches(patches: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    rows = patches.reshape(len(patches), -1).astype(float)
    made = _gaussian(rows, 60, count, rng)
    return np.clip(np.round(made), 0, 255).astype(np.uint8).reshape(count, *patches.shape[1:])


def _lively_quilts(photographs: list[np.ndarray], count: int, rng: np.random.Generator) -> list[np.ndarray]:
    made = []
    while len(made) < count:
        quilt = _quilt(photographs[len(made) % len(photographs)], rng)
        if quilt.std() >= _LIVELY:
            made.append(quilt)
    return made


def _quilt(photograph: np.ndarray, rng: np.random.Generator, block: int = 32, overlap: int = 8) -> np.ndarray:
    """Return a patch of squares from one photograph, each the best fit of 200 tried, edges blended.

    After image quilting (Efros and Freeman, 2001), with a blend in place of the minimum-error cut.
    """
    step = block - overlap
    canvas = np.zeros((_PATCH_PX + block, _PATCH_PX + block, 3))
    weight = _edge_weights(block, overlap)
    for y in range(0, _PATCH_PX, step):
        for x in range(0, _PATCH_PX, step):
            there = canvas[y : y + block, x : x + block].copy()
            ramp = np.ones((block, block))
            if y:
                ramp = np.minimum(ramp, weight[:, None])
            if x:
                ramp = np.minimum(ramp, weight[None, :])
            best = _best_square(photograph, there, ramp < 1, block, rng)
            canvas[y : y + block, x : x + block] = there * (1 - ramp[..., None]) + best * ramp[..., None]
    return np.round(canvas[:_PATCH_PX, :_PATCH_PX]).astype(np.uint8)


def _edge_weights(block: int, overlap: int) -> np.ndarray:
    return np.minimum((np.arange(block) + 0.5) / overlap, 1)


def _best_square(
    photograph: np.ndarray, there: np.ndarray, where: np.ndarray, block: int, rng: np.random.Generator
) -> np.ndarray:
    ys = rng.integers(photograph.shape[0] - block, size=200)
    xs = rng.integers(photograph.shape[1] - block, size=200)
    squares = np.stack([photograph[y : y + block, x : x + block] for y, x in zip(ys, xs, strict=True)])
    if not where.any():
        return squares[0].astype(float)
    errors = ((squares[:, where] - there[where]) ** 2).sum(axis=(1, 2))
    return squares[int(errors.argmin())].astype(float)


def _write(folder: Path, pictures) -> Path:
    """Write pictures as PNG, leaving out any that came before."""
    folder.mkdir(parents=True)
    seen = set()
    for picture in pictures:
        data = picture.tobytes()
        if data not in seen:
            seen.add(data)
            Image.fromarray(picture).save(folder / f"{len(seen):05d}.png")
    return folder
