"""The reference implementation of 2AFC and JND, run unchanged on the same data: its scores and its loader.

It needs a clone of github.com/richzhang/PerceptualSimilarity, named by the environment variable
PERCEPTUAL_SIMILARITY, and what that imports: torch, torchvision, scipy, tqdm, IPython. Without it this part
has no results. Its functions sort distances by an unstable sort, so distances with ties are compared by
their ranks in our documented order, and the reference's own result must lie within the range of all orders.
"""

import io
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from backend.analysis.agreement import jnd, two_afc
from backend.analysis.agreement.item_agreement import agreement
from backend.analysis.agreement.votes import JND, TWO_AFC, Votes
from backend.experiment.records import Stimulus
from backend.responses.bapps_export import export_bapps
from backend.responses.reading.bapps import JUDGMENTS, PARTS, read_bapps

Row = dict[str, object]
_GRIDS = 300
_ITEMS, _EVALUATORS, _VOTES, _SIZE_PX = 37, 12, 5, 64


def run() -> dict[str, Row]:
    """Return the results by name; none without a clone of the reference."""
    clone = os.environ.get("PERCEPTUAL_SIMILARITY")
    if not clone:
        print("bapps_reference: skipped; set PERCEPTUAL_SIMILARITY to a clone", file=sys.stderr)  # noqa: T201
        return {}
    sys.path.insert(0, clone)
    return {**_formulas(), **_loader()}


class _Batches:
    """What the reference's functions take for a data loader."""

    def __init__(self, batches: Iterable[dict[str, Any]]) -> None:
        self._batches = [*batches]

    def load_data(self) -> list[dict[str, Any]]:
        return self._batches


def _formulas() -> dict[str, Row]:
    """Return differences on random grids: distances and shares of few values, so that ties are common."""
    apart = {"2AFC score": 0.0, "JND area": 0.0, "JND area of tied distances, by rank": 0.0}
    outside = 0
    for seed in range(_GRIDS):
        rng = np.random.default_rng(seed)
        items, votes = int(rng.integers(2, 60)), int(rng.integers(1, 6))
        share = rng.integers(0, votes + 1, items) / votes
        tied, free = rng.integers(0, 8, (2, items)) / 4, rng.random(items)
        ours = two_afc.score(*tied, share)
        apart["2AFC score"] = max(apart["2AFC score"], abs(ours - _reference_2afc(*tied, share)))
        if not share.any():
            continue
        gap = abs(jnd.area(free, share) - _reference_jnd(free, share))
        apart["JND area"] = max(apart["JND area"], gap)
        rank = np.empty(items)
        rank[np.argsort(tied[0], kind="stable")] = np.arange(items)
        gap = abs(jnd.area(tied[0], share) - _reference_jnd(rank, share))
        name = "JND area of tied distances, by rank"
        apart[name] = max(apart[name], gap)
        low, high = jnd.range_of_ties(tied[0], share)
        outside += not low - 1e-12 <= _reference_jnd(tied[0], share) <= high + 1e-12
    rows = {
        f"reference implementation: {name} ({_GRIDS} random grids)": _row(gap, 1e-12, "<= 1e-12")
        for name, gap in apart.items()
    }
    name = "reference implementation: JND areas of tied distances outside the range of all orders"
    return {**rows, name: _row(outside, 0, "0")}


def _reference_2afc(d0: np.ndarray, d1: np.ndarray, share: np.ndarray) -> float:
    import lpips
    import torch

    batch = {
        "ref": torch.zeros(len(d0), dtype=torch.float64),
        "p0": torch.from_numpy(d0),
        "p1": torch.from_numpy(d1),
        "judge": torch.from_numpy(share),
    }
    return float(lpips.score_2afc_dataset(_Batches([batch]), lambda reference, other: other)[0])


def _reference_jnd(distance: np.ndarray, share: np.ndarray) -> float:
    import lpips
    import torch

    batch = {
        "p0": torch.from_numpy(distance),
        "p1": torch.from_numpy(distance),
        "same": torch.from_numpy(share),
    }
    return float(lpips.score_jnd_dataset(_Batches([batch]), lambda first, second: first)[0])


def _loader() -> dict[str, Row]:
    """Return what the reference's loader reads of an exported tree, and its scores of a squared distance."""
    found: dict[str, Row] = {}
    for kind in (TWO_AFC, JND):
        votes, pool, pictures = _study(kind)
        with tempfile.TemporaryDirectory() as folder:
            export_bapps(votes, pool, pictures.get, Path(folder))
            root = Path(folder) / "bapps"
            read = [*_loaded(root, kind, votes.sets)]
            again = read_bapps(root)
            ours, theirs = _scores(again, read), [score for _, _, score in read]
        wrong = sum(
            _is_unlike(votes, pool, pictures, kind, name, batch)
            for name, batches, _ in read
            for batch in batches
        )
        count = sum(len(batch["p0"]) for _, batches, _ in read for batch in batches)
        found[f"reference loader: {kind} items of an exported tree whose pictures or share differ"] = _row(
            wrong + abs(count - len(votes.items)), 0, f"0 of {len(votes.items)}"
        )
        found[f"reference loader: {kind} score of a squared distance, less ours"] = _row(
            float(np.abs(np.array(ours) - theirs).max()), 1e-9, "<= 1e-9"
        )
        found[f"{kind} shares read back from an exported tree, less those of the votes"] = _row(
            float(np.abs(again.share - votes.share).max()), 1e-7, "<= 1e-7 (32-bit floats)"
        )
    return found


def _study(kind: str) -> tuple[Votes, list[Stimulus], dict[str, bytes]]:
    """Return random votes on items of two sets, the items, and their pictures."""
    rng = np.random.default_rng(7)
    sets = ("traditional", "cnn")
    names = tuple(f"{name}/{i:03}" for name in sets for i in range(_ITEMS))
    votes = Votes(
        kind,
        names,
        sets,
        np.repeat([0, 1], _ITEMS),
        np.repeat(np.arange(len(names)), _VOTES),
        rng.integers(0, 2, len(names) * _VOTES).astype(float),
        np.concatenate([rng.permutation(_EVALUATORS)[:_VOTES] for _ in names]),
    )
    pool, pictures = [], {}
    for item in names:
        base = rng.integers(40, 216, (_SIZE_PX, _SIZE_PX, 3))
        files = []
        for _ in PARTS[kind]:
            least = 0 if kind == TWO_AFC else 1  # equal pictures are ties, which the reference sorts anyhow
            noisy = base + rng.integers(-20, 21, base.shape) * rng.integers(least, 2)
            file = io.BytesIO()
            Image.fromarray(noisy.astype("uint8")).save(file, "WEBP", lossless=True)
            files.append(f"{rng.integers(1 << 62):032x}.webp")
            pictures[files[-1]] = file.getvalue()
        pool.append(Stimulus(" ".join(files), "", item.partition("/")[0], "", item))
    return votes, pool, pictures


def _loaded(root: Path, kind: str, sets: Iterable[str]) -> Iterator[tuple[str, list[dict[str, Any]], float]]:
    """Yield each set's name, the batches of the reference's loader, and the reference's score.

    At commit 082bb24 its `CreateDataLoader` gives `JNDDataset` a list of folders where that takes one, and
    fails for every tree; so for JND its data set is used directly.
    """
    import lpips
    import torch
    from data import data_loader
    from data.dataset.jnd_dataset import JNDDataset

    score = {TWO_AFC: lpips.score_2afc_dataset, JND: lpips.score_jnd_dataset}[kind]

    def distance(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return ((first.double() - second.double()) ** 2).mean(dim=(1, 2, 3))

    for name in sets:
        if kind == TWO_AFC:
            loader = data_loader.CreateDataLoader(
                f"val/{name}", dataroot=str(root), dataset_mode=kind, batch_size=10, nThreads=0
            )
        else:
            pairs = JNDDataset()
            pairs.initialize(str(root / kind / "val" / name))
            loader = _Batches(torch.utils.data.DataLoader(pairs, batch_size=10))
        yield name, [*loader.load_data()], float(score(loader, distance)[0])


def _scores(votes: Votes, read: Iterable[tuple[str, list[dict[str, Any]], float]]) -> list[float]:
    """Return our scores by set of the same distances."""

    def distance(batch: dict[str, Any], first: str, second: str) -> np.ndarray:
        return ((batch[first].numpy().astype(float) - batch[second].numpy()) ** 2).mean(axis=(1, 2, 3))

    batches = [batch for _, some, _ in read for batch in some]
    ends = [("ref", "p0"), ("ref", "p1")] if votes.kind == TWO_AFC else [("p0", "p1")]
    columns = [np.concatenate([distance(batch, *end) for batch in batches]) for end in ends]
    distances = np.stack(columns, axis=1) if votes.kind == TWO_AFC else columns[0]
    rows = agreement(votes, {"squared": distances})["metrics"]
    return [row["score"] / 100 for row in rows if row["column"] in votes.sets]


def _is_unlike(
    votes: Votes,
    pool: list[Stimulus],
    pictures: dict[str, bytes],
    kind: str,
    name: str,
    batch: dict[str, Any],
) -> int:
    """Return how many items of a batch have another picture, or another share, than the study."""
    wrong, judgment = 0, JUDGMENTS[kind]
    for i, path in enumerate(batch[f"{judgment}_path"]):
        place = votes.sets.index(name) * _ITEMS + int(Path(path).stem)
        files = pool[place].name.split(" ")
        is_like = np.isclose(float(batch[judgment][i]), votes.share[place], atol=1e-7)
        for part, file in zip(PARTS[kind], files, strict=True):
            pixels = np.asarray(Image.open(io.BytesIO(pictures[file])).convert("RGB"))
            seen = np.rint((batch[part][i].numpy().transpose(1, 2, 0) + 1) * 127.5)
            is_like &= np.array_equal(seen, pixels)
        wrong += not is_like
    return wrong


def _row(value: float, most: float, agrees_if: str) -> Row:
    return {"value": float(value), "agrees_if": agrees_if, "agrees": bool(value <= most)}
