"""The callback of Lightning and the logging to W&B and trackio, with stand-ins for the three packages."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import json, sys
import numpy as np
import openhype, tracking, trackio, wandb
from late_scores import LateScores
from lightning.pytorch import LightningModule, Trainer
from lightning_callback import HumanEvaluation


class Submission:
    def __init__(self, model):
        self.id, self.model, self.state, self.looks = model, model, "collecting", 0

    @property
    def is_closed(self):
        self.looks += 1
        return self.looks > 2

    def result(self):
        if self.model == "gan@4":
            raise openhype.Refused("gan@4 was refused: too few")
        return openhype.Result(float(self.model.partition("@")[2]), (1.0, 9.0), "percent", 30, 30)


class Client:
    '''Loses the first submission of step 2, as a server that is away does.'''

    def __init__(self):
        self.made, self.lost = {}, 1

    def submit(self, study, *, model, images):
        assert len(list(images.iterdir())) == 3
        if self.lost:
            self.lost -= 1
            raise openhype.Unavailable("away")
        return self.made.setdefault(model, Submission(model))

    def submission(self, name):
        return self.made[name]


class Logger:
    def __init__(self):
        self.rows = []

    def log_metrics(self, metrics, step=None):
        self.rows.append([step, metrics["human/score"]])


def sample(module):
    assert isinstance(module, LightningModule)
    return np.zeros((3, 8, 8, 3), np.uint8)


def run(folder, **options):
    client, logger = Client(), Logger()
    callback = HumanEvaluation(LateScores(client, "faces", "gan", folder, 0.0), sample, every=2, wait_s=10)
    Trainer(callbacks=[callback], logger=[logger], **options).fit(LightningModule(), range(12))
    return sorted(client.made), logger.rows


found = {
    "lightning": run("one", accumulate_grad_batches=2),
    "other": run("two", is_global_zero=False),
    "gan": run("three", optimisers=3, global_step=7),
}
for kind in ("wandb", "trackio"):
    log = tracking.logger(kind, "openhype", "gan")
    for step in (30, 10, 20):
        log(step, openhype.Result(float(step), None, "percent", 30, 30))
found["wandb"] = [[row["human/step"], row["human/score"]] for row in wandb.ROWS]
found["defined"] = wandb.DEFINED
found["trackio"] = [[step, metrics["human/score"]] for step, metrics in trackio.ROWS]
print(json.dumps(found))
"""


def test_late_scores_are_logged_once_at_their_steps(tmp_path):
    places = (ROOT, ROOT / "examples", Path(__file__).parent / "stand_ins")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    made, rows = found["lightning"]
    assert made == ["gan@2", "gan@4", "gan@6"]  # 12 batches, two of which make one step
    assert sorted(rows) == [[2, 2.0], [6, 6.0]]
    assert "gan@4 was refused: too few" in done.stderr
    assert found["other"] == [[], []]
    # from step 7 on, three at a time, the first batch at or after each second step
    assert found["gan"][0] == sorted(f"gan@{7 + 3 * batch}" for batch in range(1, 13))
    assert found["wandb"] == [[30, 30.0], [10, 10.0], [20, 20.0]]
    assert found["defined"] == {"human/step": None, "human/*": "human/step"}
    assert found["trackio"] == [[30, 30.0], [10, 10.0], [20, 20.0]]
