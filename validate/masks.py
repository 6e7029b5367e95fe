"""Validation of texture masks by plenoptic's Portilla-Simoncelli statistics, and against its synthesis.

plenoptic (https://plenoptic.org) measures 4 scales, 4 orientations, neighbourhoods of 7; its loss, the one
that its documentation uses for synthesis, is the root of the summed squared differences of the statistics
(gray pictures, 0 to 1). Controls: scrambled phases, another picture's mask, and the picture itself shifted
by some pixels, whose loss shows the resolution of the measure.
"""

import contextlib
import io
import os
import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from PIL import Image

from backend.stimuli.masks.phase import scramble
from backend.stimuli.masks.texture import synthesise
from validate.sources import SIDE, sources

_RACED = ("chelsea", "gravel", "coffee", "camera", "brick")
_MOST_SECONDS = 90
_LBFGS = {
    "max_iter": 10,
    "max_eval": 10,
    "history_size": 100,
    "line_search_fn": "strong_wolfe",
    "lr": 1,
}
"""The optimiser of plenoptic's own example for this model."""


def run() -> dict:
    """Return plenoptic's losses of our masks, and both programs' times, on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return {**_losses(), **_race()}
    finally:
        os.sched_setaffinity(0, cores)


def _losses() -> dict:
    model = _model()
    pictures = {name: _gray(picture) for name, picture in sources().items()}
    masks = {name: _mask(picture) for name, picture in pictures.items()}
    names = list(pictures)
    loss = {
        name: {
            "mask": _loss(model, masks[name], picture),
            "colour_mask": _loss(model, _gray(_mask(sources()[name])), picture),
            "moved": _loss(model, np.roll(picture, (40, 71), (0, 1)), picture),
            "phase": _loss(model, scramble(picture, np.random.default_rng(1)), picture),
            "another": _loss(model, masks[names[i - 1]], picture),
        }
        for i, (name, picture) in enumerate(pictures.items())
    }

    def share(kind: str, of: str, worst: Callable = max) -> float:
        return worst(row[kind] / row[of] for row in loss.values())

    return {
        "plenoptic's loss of a gray mask / of scrambled phases, worst of ten": {
            "value": share("mask", "phase"), "agrees_if": "below 0.1", "agrees": share("mask", "phase") < 0.1,
            "loss": loss,
        },
        "plenoptic's loss of a gray mask / of another picture's mask, worst of ten": {
            "value": share("mask", "another"), "agrees_if": "below 0.1",
            "agrees": share("mask", "another") < 0.1,
        },
        "plenoptic's loss of a gray mask / of the picture itself, moved, median of ten": {
            "value": share("mask", "moved", median), "agrees_if": "below 3",
            "agrees": share("mask", "moved", median) < 3,
        },
        "plenoptic's loss of a colour mask in gray / of scrambled phases, worst of ten": {
            "value": share("colour_mask", "phase"), "agrees_if": "below 0.3",
            "agrees": share("colour_mask", "phase") < 0.3,
        },
    }  # fmt: skip


def _race() -> dict:
    pictures = sources()
    rows = {name: _raced(_gray(pictures[name])) for name in _RACED}
    ratio = median(row["plenoptic_s"] / row["ours_s"] for row in rows.values())
    return {
        "plenoptic's time to the loss of our mask / our time, one core, median of five": {
            "value": ratio, "agrees_if": "at least 1", "agrees": ratio >= 1, "runs": rows,
        },
    }  # fmt: skip


def _raced(picture: np.ndarray) -> dict:
    """Return both times (s) to the same loss; plenoptic's has a limit, and then is a lower bound."""
    began = time.perf_counter()
    mask = _mask(picture)
    ours_s = time.perf_counter() - began
    goal = _loss(_model(), mask, picture)
    plenoptic_s, reached = _plenoptic_to(goal, picture)
    return {"ours_s": ours_s, "plenoptic_s": plenoptic_s, "loss": goal, "plenoptic_loss": reached}


def _plenoptic_to(goal: float, picture: np.ndarray) -> tuple[float, float]:
    import plenoptic
    import torch

    plenoptic.set_seed(0)
    image, model = _tensor(picture), _model()
    loss = plenoptic.loss.portilla_simoncelli_loss_factory(model, image)
    began = time.perf_counter()
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metamer = plenoptic.Metamer(image, model, loss_function=loss)
        metamer.setup(optimizer=torch.optim.LBFGS, optimizer_kwargs=_LBFGS)
        reached = float("inf")
        while reached > goal and time.perf_counter() - began < _MOST_SECONDS:
            metamer.synthesize(max_iter=1)
            with torch.no_grad():
                reached = float(loss(model(metamer.metamer), model(image)))
    return time.perf_counter() - began, reached


def _mask(picture: np.ndarray) -> np.ndarray:
    return synthesise(picture, np.random.default_rng(1))


def _gray(picture: np.ndarray) -> np.ndarray:
    luma = np.asarray(Image.fromarray(picture).convert("L"))
    return np.repeat(luma[..., None], 3, axis=2)


def _model():
    import plenoptic
    import torch

    torch.set_num_threads(1)
    return plenoptic.models.PortillaSimoncelli((SIDE, SIDE))


def _tensor(picture: np.ndarray):
    import torch

    return torch.as_tensor(picture[..., 0] / 255, dtype=torch.float32)[None, None]


def _loss(model, mask: np.ndarray, picture: np.ndarray) -> float:
    import plenoptic
    import torch

    image = _tensor(picture)
    with torch.no_grad():
        loss = plenoptic.loss.portilla_simoncelli_loss_factory(model, image)
        return float(loss(model(_tensor(mask)), model(image)))
