"""Calibrated linear layers as a file of the reference's own format, which its package `lpips` loads.

`lpips.LPIPS(net="alex", model_path=FILE)` reads a state dict with `lin0.model.1.weight`, shape
(1, channels, 1, 1), and so on for each layer.
"""

import io
from collections.abc import Sequence

import numpy as np


def weights_bytes(layers: Sequence[np.ndarray]) -> bytes:
    """Return the content of a file of weights, given by layer, each of shape (channels,)."""
    import torch

    state = {
        f"lin{i}.model.1.weight": torch.from_numpy(layer.astype(np.float32).reshape(1, -1, 1, 1).copy())
        for i, layer in enumerate(layers)
    }
    stream = io.BytesIO()
    torch.save(state, stream)
    return stream.getvalue()
