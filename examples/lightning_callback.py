"""A callback of Lightning that has people judge samples, and logs their scores at the right step.

    scores = LateScores(openhype.Client(patience=0), study="faces", run="gan", folder="samples")
    trainer = Trainer(callbacks=[HumanEvaluation(scores, sample, every=1000)], logger=WandbLogger())

`sample` takes the module and returns numpy arrays (uint8, height x width x 3). Loggers that come with
Lightning take late steps: WandbLogger logs the step as a metric, `trainer/global_step`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from late_scores import LateScores
from lightning.pytorch import Callback, LightningModule, Trainer

import openhype


class HumanEvaluation(Callback):
    """Submits samples every `every` optimiser steps, from the first process alone.

    A batch may take several steps, as in a GAN with two optimisers: what counts is the first batch after.
    """

    def __init__(
        self,
        scores: LateScores,
        sample: Callable[[LightningModule], Iterable],
        every: int,
        wait_s: float = 86_400,
    ):
        """Wait up to `wait_s` seconds for late scores once the training is over."""
        self._scores, self._sample, self._every, self._wait_s = scores, sample, every, wait_s
        self._sampled_at = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Count from where the training begins, such as at a checkpoint."""
        self._sampled_at = trainer.global_step

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Submit if it is time to, and log what has arrived."""
        step = trainer.global_step
        if not trainer.is_global_zero:
            return
        if step // self._every > self._sampled_at // self._every:
            self._sampled_at = step
            self._scores.add(step, self._sample(pl_module))
        self._log(trainer, self._scores.arrived())

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Wait for the scores that are still to come."""
        if trainer.is_global_zero:
            self._log(trainer, self._scores.wait(self._wait_s))

    def _log(self, trainer: Trainer, arrived: Iterable[tuple[int, openhype.Result]]) -> None:
        for step, result in arrived:
            metrics = {"human/score": result.score, "human/evaluators": float(result.evaluators)}
            if result.ci:
                metrics |= {"human/low": result.ci[0], "human/high": result.ci[1]}
            for logger in trainer.loggers:
                logger.log_metrics(metrics, step=step)
