"""Layers without training; `torch` is imported when they are called, since it imports this module."""

import sys
import types

import numpy as np


class Module:
    def __call__(self, x):
        return self.forward(x)

    def parameters(self):
        return iter(())


class Linear(Module):
    def __init__(self, in_features, out_features):
        self.weight = (
            np.random.default_rng(in_features).standard_normal((out_features, in_features)) / in_features
        )

    def forward(self, x):
        return sys.modules["torch"].Tensor(x.numpy() @ self.weight.T)

    def parameters(self):
        return iter([self.weight])


class Sigmoid(Module):
    def forward(self, x):
        return sys.modules["torch"].Tensor(1 / (1 + np.exp(-x.numpy())))


class Sequential(Module):
    def __init__(self, *modules):
        self.modules = modules

    def forward(self, x):
        for module in self.modules:
            x = module(x)
        return x

    def parameters(self):
        return (parameter for module in self.modules for parameter in module.parameters())


def mse_loss(input, target):
    assert input.shape == target.shape
    return sys.modules["torch"].Tensor(np.mean((input.numpy() - target.numpy()) ** 2))


functional = types.SimpleNamespace(mse_loss=mse_loss)
