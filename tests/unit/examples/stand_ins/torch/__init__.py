"""As much of torch as examples/pytorch_loop.py uses, on numpy; what it does not know, it has not.

Signatures are those of torch 2.13. Gradients are none: an optimiser only checks that there was a backward
pass since its gradients were set to zero.
"""

import contextlib

import numpy as np

from torch import nn, optim  # noqa: F401

_global = np.random.default_rng(0)


def manual_seed(seed):
    global _global
    _global = np.random.default_rng(seed)


class Generator:
    def __init__(self, device="cpu"):
        self.rng = np.random.default_rng(0)

    def manual_seed(self, seed):
        self.rng = np.random.default_rng(seed)
        return self


class Tensor:
    def __init__(self, values):
        self._values = np.asarray(values)

    shape = property(lambda self: self._values.shape)

    def __rmul__(self, number):
        return Tensor(number * self._values)

    def round(self):
        return Tensor(np.round(self._values))

    def byte(self):
        assert self._values.min() >= 0
        assert self._values.max() <= 255
        return Tensor(self._values.astype(np.uint8))

    def reshape(self, *shape):
        return Tensor(self._values.reshape(shape))

    def permute(self, *dims):
        return Tensor(self._values.transpose(dims))

    def expand(self, *sizes):
        whole = [size if size != -1 else self._values.shape[-1] for size in sizes]
        return Tensor(np.broadcast_to(self._values, whole))

    def cpu(self):
        return self

    def numpy(self):
        return self._values

    def backward(self):
        assert self._values.shape == (), "grad can be implicitly created only for scalar outputs"
        optim.HAS_GRADIENTS[0] = True


def randn(*size, generator=None):
    return Tensor((generator.rng if generator else _global).standard_normal(size))


def rand(*size, generator=None):
    return Tensor((generator.rng if generator else _global).random(size))


no_grad = contextlib.nullcontext
