"""Validation of set distances: torch-fidelity and prdc on the same features; coverage of intervals.

Features of many kinds: sizes, widths, spectra, shifts, far from the origin, of low rank, with duplicates
within a side, and with pictures that are on both sides. The latter are often exactly at the edge of a ball,
where prdc's rounding errors decide; density and coverage of these are compared with the definition instead,
on scipy's distances from differences. Coverage of intervals is of the expected value at the number of
pictures, which is the mean over the simulated studies; of the extrapolated distance it is of the
populations' distance.
"""

import contextlib
import io
from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from backend.metrics.set_distances import Options, compare

Row = dict[str, object]
Sets = tuple[np.ndarray, np.ndarray]
_STUDIES = 200
_PICTURES = (50, 100, 300)
_SHARED = "a third of the fakes are reals"
METRICS = ("frechet", "kid", "precision", "recall", "density", "coverage")
_PROGRAMS = dict.fromkeys(("density", "coverage"), "prdc, or for copies of reals from the definition")


def run() -> dict:
    """Return largest differences from both programs, and least coverage of the intervals."""
    return {**_differences(), **_coverage(), **_extrapolated()}


def feature_sets(seed: int = 1) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names and features (float64) of reals and fakes."""
    rng = np.random.default_rng(seed)
    for n, m, d in ((60, 80, 1), (60, 80, 7), (1200, 1000, 3), (1500, 1100, 64), (1600, 1200, 200)):
        spectrum = np.arange(1, d + 1) ** -0.5
        reals, fakes = rng.standard_normal((n, d)) * spectrum, rng.standard_normal((m, d)) * spectrum
        size = f"{n} + {m} x {d}"
        yield f"one distribution, {size}", reals, fakes
        yield f"shifted, {size}", reals, 1.2 * fakes + 0.3 * spectrum
        yield f"not centred, {size}", reals + 5, 1.2 * fakes + 5.2
        yield f"not negative, {size}", np.abs(reals), np.abs(1.1 * fakes)
        yield f"small, {size}", 1e-3 * reals, 1.1e-3 * fakes
        shared = fakes.copy()
        shared[: m // 3] = reals[: m // 3]
        yield f"{_SHARED}, {size}", reals, shared
        yield f"duplicates, {size}", reals, np.repeat(fakes[: m // 2], 2, axis=0)
        if d > 3:
            project = rng.standard_normal((d // 2, d)) / d**0.5
            yield f"low rank, {size}", reals[:, : d // 2] @ project, 1.1 * fakes[:, : d // 2] @ project


def _differences() -> dict:
    largest: dict[str, dict[str, float]] = {name: {} for name in METRICS}
    for name, reals, fakes in feature_sets():
        found = compare(
            reals, fakes, Options(replicates=0, kid_subset_size=min(1000, len(reals), len(fakes)))
        )
        of_balls = (_by_definition if name.startswith(_SHARED) else _of_prdc)(reals, fakes)
        for metric, theirs in {**_of_torch_fidelity(reals, fakes), **of_balls}.items():
            ours = found[metric]["value"]
            largest[metric][name] = abs(ours - theirs) / max(1.0, abs(theirs))
    return {
        f"{metric}: difference from {_PROGRAMS.get(metric, 'torch-fidelity')}, "
        f"largest of {len(differences)}": {
            "value": max(differences.values()), "agrees_if": "below 1e-6",
            "agrees": max(differences.values()) < 1e-6, "on": max(differences, key=differences.__getitem__),
        }
        for metric, differences in largest.items()
    }  # fmt: skip


def _of_torch_fidelity(reals: np.ndarray, fakes: np.ndarray) -> dict[str, float]:
    import torch
    from torch_fidelity.metric_fid import fid_features_to_statistics, fid_statistics_to_metric
    from torch_fidelity.metric_kid import kid_features_to_metric
    from torch_fidelity.metric_prc import prc_features_to_metric

    first, second = torch.as_tensor(fakes), torch.as_tensor(reals)
    size = min(1000, len(reals), len(fakes))
    statistics = [fid_features_to_statistics(each) for each in (first, second)]
    if reals.shape[1] == 1:
        statistics = [{**each, "sigma": each["sigma"].reshape(1, 1)} for each in statistics]
    kernel = kid_features_to_metric(first, second, kid_subset_size=size, verbose=False)
    shares = prc_features_to_metric(first, second, verbose=False)
    return {
        "frechet": fid_statistics_to_metric(*statistics, verbose=False)["frechet_inception_distance"],
        "kid": kernel["kernel_inception_distance_mean"],
        "precision": shares["precision"],
        "recall": shares["recall"],
    }


def _of_prdc(reals: np.ndarray, fakes: np.ndarray) -> dict[str, float]:
    from prdc import compute_prdc

    with contextlib.redirect_stdout(io.StringIO()):
        found = compute_prdc(reals, fakes, nearest_k=5)
    return {"density": float(found["density"]), "coverage": float(found["coverage"])}


def _by_definition(reals: np.ndarray, fakes: np.ndarray) -> dict[str, float]:
    radii = np.sort(cdist(reals, reals))[:, 5]
    is_inside = cdist(reals, fakes) < radii[:, None]
    return {"density": float(is_inside.sum() / 5 / len(fakes)), "coverage": float(is_inside.any(1).mean())}


def population(name: str, count: int, rng: np.random.Generator) -> Sets:
    """Return features of so many reals and fakes."""
    spectrum = np.arange(1, 33) ** -0.5
    if name == "mixture":
        centres = np.random.default_rng(5).standard_normal((10, 32)) * 1.5
        reals = centres[rng.integers(10, size=count)] + rng.standard_normal((count, 32)) * spectrum
        missing = centres[rng.integers(7, size=count)] + rng.standard_t(5, (count, 32)) * spectrum * 0.8
        return reals, missing
    if name == "decaying":
        reals, fakes = rng.standard_normal((2, count, 32)) * spectrum
        return reals, 0.9 * fakes + 0.1 * spectrum
    scale, shift = {"same": (1.0, 0.0), "near": (1.1, 0.1), "far": (0.7, 0.5)}[name]
    reals, fakes = rng.standard_normal((2, count, 8))
    return reals, scale * fakes + shift


def _coverage() -> dict:
    """Return the coverage of 95% intervals; `python -m validate set_distances` prints a table."""
    rows = [
        covered(name, count) for name in ("same", "near", "far", "decaying", "mixture") for count in _PICTURES
    ]
    print(as_markdown(rows))  # noqa: T201
    return {
        f"coverage of the 95% interval of {metric}, least of {len(rows)} ({_STUDIES} studies each)": {
            "value": min(row[metric] for row in rows), "agrees_if": "at least 0.8",
            "agrees": min(row[metric] for row in rows) >= 0.8,
            "mean": float(np.mean([row[metric] for row in rows])),
        }
        for metric in METRICS
    }  # fmt: skip


def covered(name: str, count: int, studies: int = _STUDIES) -> Row:
    """Return the share of simulated studies whose interval contains the metric's expected value."""
    rng = np.random.default_rng(1)
    found = [compare(*population(name, count, rng), Options(replicates=60, seed=i)) for i in range(studies)]
    row: Row = {"population": name, "pictures": count}
    for metric in METRICS:
        answered = [each[metric] for each in found if each[metric]["ci"]]
        expected = np.mean([each["value"] for each in answered])
        row[metric] = float(np.mean([each["ci"][0] <= expected <= each["ci"][1] for each in answered]))
    return row


def as_markdown(rows: list[Row]) -> str:
    """Return the coverage in percent as a table."""
    lines = [f"| features | pictures | {' | '.join(METRICS)} |", "| --- " * (len(METRICS) + 2) + "|"]
    for row in rows:
        shares = " | ".join(f"{100 * row[metric]:.0f}" for metric in METRICS)
        lines.append(f"| {row['population']} | {row['pictures']} | {shares} |")
    return "\n".join(lines)


def _extrapolated() -> dict:
    rows = [_of_line(*each) for each in ((50, 32), (100, 32), (300, 32), (300, 128))]
    return {
        f"coverage of the extrapolated distance's 95% interval, least of {len(rows)}": {
            "value": min(row["coverage"] for row in rows), "agrees_if": "at least 0.9",
            "agrees": min(row["coverage"] for row in rows) >= 0.9, "rows": rows,
        }
    }  # fmt: skip


def _of_line(count: int, dimensions: int) -> Row:
    """Return coverage of the true distance, which is the sum of (sd1 - sd2)² + (m1 - m2)²."""
    rng = np.random.default_rng(1)
    spectrum = np.arange(1, dimensions + 1) ** -0.5
    truth = float(((0.1 * spectrum) ** 2 + (0.2 * spectrum) ** 2).sum())
    found = []
    for seed in range(_STUDIES):
        reals, fakes = rng.standard_normal((2, count, dimensions)) * spectrum
        options = Options(replicates=0, extrapolate=True, kid_subsets=1, seed=seed)
        found.append(compare(reals, 1.1 * fakes + 0.2 * spectrum, options)["frechet"])
    lines = [each["extrapolated"] for each in found]
    return {
        "pictures": count,
        "dimensions": dimensions,
        "true": truth,
        "mean": float(np.mean([line["value"] for line in lines])),
        "mean of the distance itself": float(np.mean([each["value"] for each in found])),
        "coverage": float(np.mean([line["ci"][0] <= truth <= line["ci"][1] for line in lines])),
    }
