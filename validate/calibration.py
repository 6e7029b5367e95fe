"""Validation of the calibration of LPIPS: known weights recovered, coins, and the reference implementation.

Made-up triplets have independent channels in three layers. Judges have known weights: each vote prefers `p1`
with chance Phi(log(d0 / d1) / sigma), d the distances by the judge's weights. It needs torch and the package
`lpips`; without them this part has no results.
"""

import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from backend.analysis.agreement import two_afc
from backend.analysis.agreement.votes import TWO_AFC, Votes
from backend.metrics.calibration import schedule
from backend.metrics.calibration.calibrate import Calibration, Options, calibrate
from backend.metrics.calibration.start import UNIFORM, start_of
from backend.metrics.calibration.vectors import Vectors, moments, vectors_of
from backend.metrics.calibration.weights_file import weights_bytes
from backend.metrics.pairs.lpips_weights import read_linear, read_trunk

Row = dict[str, object]
LAYERS = (8, 12, 20)
_SIGMA = 0.3
_SEEDS = 5
_COINS = 100
_TRIPLETS_OF_COINS = 150
_POSITIONS = 60


def run() -> dict[str, Row]:
    """Return the results by name; none without torch and lpips."""
    if not find_spec("torch") or not find_spec("lpips"):
        print("calibration: skipped; install torch and lpips", file=sys.stderr)  # noqa: T201
        return {}
    return {**_recovery(), **_coins(), **_reference_steps(), **_dropout(), **_file()}


def made_up(triplets: int, rng: np.random.Generator) -> Vectors:
    """Return vectors of triplets: independent channels, times a common strength of each distortion."""
    shape = (triplets, 2, sum(LAYERS))
    strength = rng.gamma(2, 0.5, (triplets, 2, 1))
    phi = 0.05 * strength * rng.gamma(1, 1, shape)
    values = np.stack([phi, 2 * phi**2 / _POSITIONS], axis=2).astype(np.float32)
    return vectors_of(LAYERS, values)


def known_weights(rng: np.random.Generator) -> np.ndarray:
    """Return weights of a judge, of which a third is 0."""
    weights = rng.gamma(1, 1, sum(LAYERS))
    weights[rng.permutation(len(weights))[: len(weights) // 3]] = 0
    return weights / weights.mean() * 0.1


def votes_of_judges(chance: np.ndarray, votes: int, rng: np.random.Generator, evaluators: int = 20) -> Votes:
    """Return votes on triplets of two sets, each for `p1` with the triplet's chance."""
    triplets = len(chance)
    return Votes(
        TWO_AFC,
        tuple(f"{i:06}" for i in range(triplets)),
        ("cnn", "traditional"),
        np.arange(triplets) * 2 // triplets,
        np.repeat(np.arange(triplets), votes),
        (rng.random((triplets, votes)) < chance[:, None]).ravel().astype(float),
        np.concatenate([rng.permutation(evaluators)[:votes] for _ in range(triplets)]),
    )


def chance_by(weights: np.ndarray, vectors: Vectors) -> np.ndarray:
    """Return the chance that a judge with these weights prefers `p1`."""
    d0, d1 = vectors.distances(weights).T
    return ndtr(np.log(d0 / d1) / _SIGMA)


def references(triplets: int) -> list[str]:
    """Return references of which each has two triplets."""
    return [f"{i // 2}" for i in range(triplets)]


def held_out(found: Calibration) -> dict[str, Any]:
    """Return the agreement on held-out triplets of the average of the sets: metrics, human, and pair."""
    (data,) = (row["agreement"] for row in found.data["shares"] if row["share"] == "held-out")
    last = data["columns"][-1]["column"]
    return {
        **{row["metric"]: row["score"] for row in data["metrics"] if row["column"] == last},
        "human": next(row["unbiased"] for row in data["human"] if row["column"] == last),
        "ci": next(row["ci"] for row in data["pairs"] if row["column"] == last),
    }


def _recovery() -> dict[str, Row]:
    found: dict[str, Row] = {}
    for triplets, votes, most in ((500, 5, 0.4), (2_000, 5, 0.2), (8_000, 5, 0.12), (8_000, 2, 0.15)):
        cosines, errors, behind, ahead = [], [], [], []
        for seed in range(_SEEDS if triplets < 8_000 else 2):
            rng = np.random.default_rng([40, triplets, votes, seed])
            vectors, truth = made_up(triplets, rng), known_weights(rng)
            chance = chance_by(truth, vectors)
            given = votes_of_judges(chance, votes, rng)
            made = calibrate(
                given, references(triplets), vectors, start_of(UNIFORM, LAYERS, seed), Options(seed=seed)
            )
            weights = np.concatenate(made.weights).astype(float)
            scale = weights @ truth / (weights @ weights)
            errors.append(np.linalg.norm(scale * weights - truth) / np.linalg.norm(truth))
            cosines.append(weights @ truth / np.linalg.norm(weights) / np.linalg.norm(truth))
            fresh = made_up(100_000, np.random.default_rng([41, seed]))
            own, ours, equal = (
                100 * two_afc.score(*fresh.distances(of).T, chance_by(truth, fresh))
                for of in (truth, weights, np.ones_like(truth))
            )
            behind.append(own - ours)
            ahead.append(ours - equal)
        name = f"calibration: relative error of known weights, {triplets:,} triplets of {votes} votes"
        found[name] = _row(float(np.mean(errors)), most, f"<= {most} (mean of {len(errors)} seeds)") | {
            "cosine": float(np.mean(cosines)),
            "points_below_known_weights": float(np.mean(behind)),
            "points_above_equal_weights": float(np.mean(ahead)),
        }
    return found


def _coins() -> dict[str, Row]:
    """Return the mean held-out score, and the mean ceiling, of judges that toss coins, less 50."""
    scores, ceilings, wrongly = [], [], 0
    for seed in range(_COINS):
        rng = np.random.default_rng([42, seed])
        vectors = made_up(_TRIPLETS_OF_COINS, rng)
        votes = votes_of_judges(np.full(_TRIPLETS_OF_COINS, 0.5), 3, rng)
        options = Options(seed=seed)
        start = start_of(UNIFORM, LAYERS, seed)
        found = held_out(calibrate(votes, references(_TRIPLETS_OF_COINS), vectors, start, options))
        scores.append(found["calibrated"])
        ceilings.append(found["human"])
        wrongly += bool(found["ci"] and found["ci"][0] > 0)
    rows = {}
    for name, values in (("held-out score", scores), ("human ceiling", ceilings)):
        error = np.std(values, ddof=1) / np.sqrt(_COINS)
        rows[f"calibration: {name} of judges that toss coins, less 50 (points)"] = _row(
            abs(np.mean(values) - 50), 3 * error, f"<= 3 SE ({_COINS} studies, SE {error:.2f})"
        )
    rows["calibration: coins by which the result is called better than before"] = _row(
        wrongly / _COINS, 0.06, f"<= 0.06 ({_COINS} studies, nominally 0.025)"
    )
    return rows


def _network() -> Any:
    """Return the reference's AlexNet with random weights of the trunk, and linear layers without dropout."""
    import lpips
    import torch

    torch.manual_seed(3)
    return lpips.LPIPS(net="alex", pretrained=False, pnet_rand=True, use_dropout=False, verbose=False)


def _saved(state: dict[str, Any], folder: str, name: str) -> Path:
    import torch

    path = Path(folder) / name
    torch.save(state, path)
    return path


def _pictures(triplets: int) -> list[np.ndarray]:
    rng = np.random.default_rng(8)
    base = rng.integers(0, 256, (triplets, 64, 64, 3))
    return [base, *(np.clip(base + rng.integers(-90, 91, base.shape), 0, 255) for _ in range(2))]


def _tensor(pictures: np.ndarray) -> Any:
    import torch

    return torch.from_numpy((pictures / 127.5 - 1).astype(np.float32).transpose(0, 3, 1, 2).copy())


def _prepared(triplets: int) -> tuple[Any, list[Any], Vectors]:
    """Return the reference's network, its input of triplets, and our vectors of them."""
    network, pictures = _network(), _pictures(triplets)
    with tempfile.TemporaryDirectory() as folder:
        trunk = read_trunk(_saved(network.net.state_dict(), folder, "trunk.pth"), "alex")
    values = moments(trunk, pictures)
    return network, [_tensor(part) for part in pictures], vectors_of(trunk.net.widths, values)


def _reference_steps() -> dict[str, Row]:
    """Compare weights after steps on vectors with those of the reference's loss and network on pictures."""
    import lpips
    import torch

    from backend.metrics.calibration.fit import Run

    triplets, steps = 50, 12
    network, parts, vectors = _prepared(triplets)
    share = np.random.default_rng(9).integers(0, 3, triplets) / 2
    layers = [getattr(network, f"lin{i}") for i in range(5)]
    start = np.concatenate([layer.model[-1].weight.detach().numpy().ravel() for layer in layers])
    rows = np.arange(triplets)
    ours = Run(vectors, share, rows, rows, start, replace(schedule.paper(triplets), dropout=0.0), 5)
    other = Run(vectors, share, rows, rows, start, replace(schedule.paper(triplets), dropout=0.0), 5)
    ours.fit_ranker()
    loss = lpips.BCERankingLoss()
    for own, theirs in zip(other.layers, loss.net.parameters(), strict=True):
        theirs.data = own.detach().reshape(theirs.shape).clone()
    linear = [parameter for layer in layers for parameter in layer.parameters()]
    adam = torch.optim.Adam([*linear, *loss.net.parameters()], lr=1e-4, betas=(0.5, 0.999))
    judged = torch.from_numpy(share.astype(np.float32)).reshape(-1, 1, 1, 1)
    for step in range(steps):
        ours.step(min(step, 5))  # the first epochs, at the full rate
        batch = next(other.order)
        d0, d1 = (network(parts[0][batch], parts[side][batch]) for side in (1, 2))
        adam.zero_grad()
        loss(d0, d1, judged[batch] * 2 - 1).mean().backward()
        adam.step()
        for each in linear:
            each.data.clamp_(min=0)
    theirs = np.concatenate([each.detach().numpy().ravel() for each in linear])
    gap = np.abs(ours.weights.detach().numpy() - theirs).max()
    return {
        f"calibration: weights after {steps} steps without dropout, less the reference's on pictures": _row(
            gap, 1e-5, "<= 1e-5"
        ),
        "calibration: how far these steps moved the weights": {
            "value": float(np.abs(theirs - np.maximum(start, 0)).max()),
            "agrees_if": ">= 1e-4",
            "agrees": bool(np.abs(theirs - np.maximum(start, 0)).max() >= 1e-4),
        },
    }


def _dropout() -> dict[str, Row]:
    """Compare the mean and SD of distances under the reference's dropout with those of the normal noise."""
    import lpips
    import torch

    draws, triplets = 2000, 2
    network, parts, vectors = _prepared(triplets)
    weights = [torch.rand(1, channels, 1, 1) / 10 for channels in vectors.layers]
    torch.manual_seed(1)
    with torch.no_grad():
        one = network.net.forward(network.scaling_layer(parts[0]))
        two = network.net.forward(network.scaling_layer(parts[1]))
        unit = [[*map(lpips.normalize_tensor, of)] for of in (one, two)]
        apart = [(first - second) ** 2 for first, second in zip(*unit, strict=True)]
        drop = torch.nn.Dropout()
        sums = [
            sum((drop(each) * of).sum(1).mean((1, 2)) for each, of in zip(apart, weights, strict=True))
            for _ in range(draws)
        ]
    theirs = torch.stack(sums).double().numpy()
    flat = torch.cat([each.flatten() for each in weights]).double().numpy()
    mean, sd = vectors.phi0 @ flat, np.sqrt(vectors.psi0 @ flat**2)
    return {
        "calibration: mean distance under dropout, less ours (relative)": _row(
            np.abs(theirs.mean(axis=0) / mean - 1).max(), 0.01, f"<= 1% ({draws} draws)"
        ),
        "calibration: SD of distances under dropout, less ours (relative)": _row(
            np.abs(theirs.std(axis=0) / sd - 1).max(), 0.05, f"<= 5% ({draws} draws)"
        ),
    }


def _file() -> dict[str, Row]:
    """Compare our distances by a file of weights with those of the package that loads it."""
    import lpips
    import torch

    network, parts, vectors = _prepared(8)
    rng = np.random.default_rng(2)
    layers = [rng.gamma(0.5, 0.1, channels).astype(np.float32) for channels in vectors.layers]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alex.pth"
        path.write_bytes(weights_bytes(layers))
        loaded = lpips.LPIPS(net="alex", pnet_rand=True, model_path=str(path), verbose=False)
        again = read_linear(path, "alex")
    loaded.net.load_state_dict(network.net.state_dict())
    with torch.no_grad():
        theirs = [loaded(parts[0], parts[side]).numpy().ravel() for side in (1, 2)]
    ours = vectors.distances(np.concatenate(layers).astype(float)).T
    same = all(np.array_equal(one, two) for one, two in zip(layers, again, strict=True))
    return {
        "calibration: distances of the package lpips with our file, less ours": _row(
            np.abs(ours - theirs).max(), 1e-5, f"<= 1e-5 (distances of {ours.mean():.2f})"
        ),
        "calibration: layers of our file that we read back otherwise": _row(0 if same else 1, 0, "0"),
    }


def _row(value: float, most: float, agrees_if: str) -> Row:
    return {"value": float(value), "agrees_if": agrees_if, "agrees": bool(value <= most)}
