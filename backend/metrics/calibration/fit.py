"""The fit: non-negative weights of channels, with a small network that turns two distances into a vote.

A triplet's distances are d0 = sum_c w_c phi0_c and d1 = sum_c w_c phi1_c. The ranking network takes
(d0, d1, d0 - d1, d0 / (d1 + 0.1), d1 / (d0 + 0.1)) through two layers of 32 units with LeakyReLU(0.2) to the
chance that `p1` is preferred, and the loss is the cross entropy with the share of votes that prefer it. After
each step of Adam, negative weights become 0 (Zhang et al., 2018, appendix B, and their code, which differs
from the paper in the inputs).

Dropout: the reference drops each entry of the differences (channel and position) with chance p and divides
the rest by 1 - p. The mean over positions then has the mean phi_c and the variance p / (1 - p) psi_c, psi_c
the mean of the squared entries over the number of positions. Here each channel gets normal noise of that mean
and variance, independently for p0 and p1: the first two moments are the reference's, the shape is not.

It runs on one thread, so that a seed gives the same weights on every run.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.metrics.calibration.schedule import Schedule
from backend.metrics.calibration.vectors import Vectors

if TYPE_CHECKING:
    import torch

_HIDDEN = 32
_SLOPE = 0.2
_EPSILON = 0.1
_BETA2 = 0.999
_ROWS = 20_000
"""Triplets whose loss is computed at once."""


@dataclass(frozen=True)
class Look:
    """Losses and 2AFC scores (0 to 1), without dropout, after so many steps."""

    step: int
    train_loss: float
    validation_loss: float
    train_score: float
    validation_score: float


@dataclass(frozen=True)
class Fit:
    """The result of a fit."""

    weights: np.ndarray
    """Shape (channels,): all 0 or more."""
    step: int
    """The step whose weights these are."""
    curve: tuple[Look, ...]


def fit(
    vectors: Vectors,
    share: np.ndarray,
    train: np.ndarray,
    validation: np.ndarray,
    start: np.ndarray,
    schedule: Schedule,
    seed: int,
    progress: Callable[..., Iterable] | None = None,
) -> Fit:
    """Return weights fitted on the triplets `train`; `validation` decides when to stop.

    Args:
        share: shape (triplets,), the share of votes that prefer `p1`.
        train, validation: indices of triplets.
        start: shape (channels,), the weights to begin with.
        progress: wraps the steps, such as a progress bar; called with `total` and `label`.

    Raises:
        InvalidInput: the loss is not a finite number.
    """
    with _one_thread():
        run = Run(vectors, share, train, validation, start, schedule, seed)
        steps = range(schedule.steps)
        run.fit_ranker()
        run.look(0)
        for step in progress(steps, total=len(steps), label="steps") if progress else steps:
            run.step(step)
            done = step + 1
            if (done % schedule.check_every == 0 or done == schedule.steps) and run.look(done):
                break
    return run.result()


class Run:
    """The state of a fit: weights, ranking network, optimizer, and the best weights so far.

    `layers` has weight and bias of each layer of the ranking network.
    """

    def __init__(
        self,
        vectors: Vectors,
        share: np.ndarray,
        train: np.ndarray,
        validation: np.ndarray,
        start: np.ndarray,
        schedule: Schedule,
        seed: int,
    ) -> None:
        import torch

        self.schedule, self.train, self.validation = schedule, train, validation
        self.random = torch.Generator().manual_seed(seed)
        self.share = torch.from_numpy(share.astype(np.float32))
        self.phi = [torch.from_numpy(each) for each in (vectors.phi0, vectors.phi1)]
        self.psi = [torch.from_numpy(each) for each in (vectors.psi0, vectors.psi1)]
        self.weights = torch.tensor(start, dtype=torch.float32, requires_grad=True)
        self.layers = _ranker(self.random)
        self.optimizer: Any = None
        self.order: Iterator[Any] = self._batches()
        self.curve: list[Look] = []
        self.best = self.weights.detach().clone()
        self.best_step, self.best_loss, self.looks_since = 0, np.inf, 0

    def fit_ranker(self) -> None:
        """Fit the ranking network alone, to the distances of the start."""
        self._optimize(self.layers, self.schedule.ranker_rate)
        for _ in range(self.schedule.ranker_steps):
            self._descend()
        self._optimize([self.weights, *self.layers], self.schedule.rate)

    def step(self, step: int) -> None:
        import torch

        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.rate_at(step, self._steps_per_epoch)
        self._descend()
        with torch.no_grad():
            self.weights.clamp_(min=0)

    def look(self, step: int) -> bool:
        """Record losses and scores; return whether the fit is to stop."""
        train, validation = self._evaluated(self.train), self._evaluated(self.validation)
        if not np.isfinite([train[0], validation[0]]).all():
            raise InvalidInput(
                f"the loss is not a finite number after {step:,} steps; start from smaller weights "
                "(--start), or with a lower learning rate (--rate)"
            )
        self.curve.append(Look(step, train[0], validation[0], train[1], validation[1]))
        if not self.schedule.is_stopping_early or validation[0] < self.best_loss:
            self.best = self.weights.detach().clone()
            self.best_step, self.best_loss, self.looks_since = step, validation[0], 0
            return False
        self.looks_since += 1
        return self.looks_since >= (self.schedule.patience or 0)

    def result(self) -> Fit:
        return Fit(self.best.numpy().astype(float), self.best_step, tuple(self.curve))

    @property
    def _steps_per_epoch(self) -> int:
        return -(-len(self.train) // self.schedule.batch)

    def _optimize(self, parameters: list[Any], rate: float) -> None:
        import torch

        betas = (self.schedule.beta1, _BETA2)
        self.optimizer = torch.optim.Adam(parameters, lr=rate, betas=betas)

    def _batches(self) -> Iterator[Any]:
        """Yield batches of indices; each epoch takes every triplet once, in a new order."""
        import torch

        train = torch.from_numpy(self.train)
        while True:
            order = train[torch.randperm(len(train), generator=self.random)]
            yield from order.split(self.schedule.batch)

    def _descend(self) -> None:
        import torch

        batch = next(self.order)
        d0, d1 = (self._distances(side, batch, has_noise=True) for side in (0, 1))
        share = self.share[batch]
        if self.schedule.is_swapping:
            is_swapped = torch.rand(len(batch), generator=self.random) < 0.5
            d0, d1 = torch.where(is_swapped, d1, d0), torch.where(is_swapped, d0, d1)
            share = torch.where(is_swapped, 1 - share, share)
        loss = _loss(self.layers, d0, d1, share).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def _distances(self, side: int, rows: Any, has_noise: bool) -> Any:
        import torch

        phi = self.phi[side][rows]
        dropout = self.schedule.dropout
        if has_noise and dropout:
            sd = (self.psi[side][rows] * (dropout / (1 - dropout))).sqrt()
            phi = phi + sd * torch.randn(phi.shape, generator=self.random)
        return phi @ self.weights

    def _evaluated(self, rows: np.ndarray) -> tuple[float, float]:
        """Return loss and 2AFC score of triplets, without dropout."""
        import torch

        loss = credit = 0.0
        with torch.no_grad():
            for part in torch.from_numpy(rows).split(_ROWS):
                d0, d1 = (self._distances(side, part, has_noise=False) for side in (0, 1))
                share = self.share[part]
                loss += float(_loss(self.layers, d0, d1, share).sum())
                sign = (d1 < d0).float() - (d0 < d1).float()
                credit += float((0.5 + sign * (share - 0.5)).sum())
        return loss / len(rows), credit / len(rows)


def _ranker(random: "torch.Generator") -> list[Any]:
    """Return weights and biases of the ranking network, drawn as torch draws those of such layers."""
    import torch

    layers = []
    for inputs, outputs in ((5, _HIDDEN), (_HIDDEN, _HIDDEN), (_HIDDEN, 1)):
        bound = inputs**-0.5
        for shape in ((outputs, inputs), (outputs,)):
            layers.append(((2 * torch.rand(shape, generator=random) - 1) * bound).requires_grad_())
    return layers


def _loss(layers: list[Any], d0: Any, d1: Any, share: Any) -> Any:
    """Return the cross entropy of each triplet."""
    import torch
    from torch.nn import functional

    x = torch.stack([d0, d1, d0 - d1, d0 / (d1 + _EPSILON), d1 / (d0 + _EPSILON)], dim=1)
    for weight, bias in zip(layers[:-2:2], layers[1:-2:2], strict=True):
        x = functional.leaky_relu(x @ weight.T + bias, _SLOPE)
    logit = (x @ layers[-2].T + layers[-1])[:, 0]
    return functional.binary_cross_entropy_with_logits(logit, share, reduction="none")


@contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
