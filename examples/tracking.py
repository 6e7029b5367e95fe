"""Log late scores at the step that they belong to: to W&B, to trackio, or as lines of JSON.

W&B's own step only grows: a score of step 4,000 that arrives at step 9,000 would be dropped. So the scores
get a step of their own, by which their charts are drawn. trackio takes steps in any order.
"""

import json
import sys
from collections.abc import Callable

import openhype

Log = Callable[[int, openhype.Result], None]


def logger(kind: str, project: str, run: str) -> Log:
    """Return what logs a score at its step; `kind` is `wandb`, `trackio` or `print`."""
    return {"wandb": wandb_logger, "trackio": trackio_logger, "print": print_logger}[kind](project, run)


def wandb_logger(project: str, run: str) -> Log:
    """Log to a run of W&B, which is continued if it is there."""
    import wandb

    at = wandb.init(project=project, id=run, name=run, resume="allow")
    at.define_metric("human/step")
    at.define_metric("human/*", step_metric="human/step")
    return lambda step, result: at.log({"human/step": step, **_metrics(result)})


def trackio_logger(project: str, run: str) -> Log:
    """Log to a run of trackio, which is continued if it is there."""
    import trackio

    trackio.init(project=project, name=run, resume="allow")
    return lambda step, result: trackio.log(_metrics(result), step=step)


def print_logger(project: str, run: str) -> Log:
    """Print a line of JSON for each score."""

    def log(step: int, result: openhype.Result) -> None:
        sys.stdout.write(json.dumps({"step": step, **_metrics(result)}) + "\n")
        sys.stdout.flush()

    return log


def _metrics(result: openhype.Result) -> dict[str, float]:
    interval = {"human/low": result.ci[0], "human/high": result.ci[1]} if result.ci else {}
    return {"human/score": result.score, **interval, "human/evaluators": result.evaluators}
