"""Submissions of a training run: whatever the server refuses, the training goes on."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import openhype

_PATH = Path(__file__).resolve().parents[3] / "examples" / "late_scores.py"
IMAGES = np.zeros((3, 8, 8, 3), np.uint8)


@pytest.fixture(scope="module")
def late_scores():
    spec = importlib.util.spec_from_file_location("late_scores", _PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Client:
    """A server that refuses everything with one error, or what is in `refused` alone."""

    def __init__(self, error, refused=None):
        self.error, self.refused, self.seen = error, refused, []

    def submit(self, study, *, model, images):
        self.seen.append((model, sorted(path.name for path in images.iterdir())))
        if self.refused in (None, model):
            raise self.error
        return Submission(model)

    def submission(self, name):
        return Submission(name)


class Submission:
    state, is_closed = "scored", True

    def __init__(self, model):
        self.id = self.model = model

    def result(self):
        return openhype.Result(30.0, None, "percent", 2, 2)


def test_a_token_that_expired_ends_no_training_and_is_raised_in_the_end(late_scores, tmp_path, caplog):
    expired = openhype.NotAllowed("the token has expired", "expired_token")
    scores = late_scores.LateScores(Client(expired), "faces", "gan", tmp_path, 0.0)

    scores.add(20, IMAGES)
    assert list(scores.arrived()) == []
    scores.add(40, IMAGES)

    assert caplog.text.count("the token has expired") == 3
    with pytest.raises(openhype.NotAllowed, match="the token has expired"):
        list(scores.wait(60))
    renewed = late_scores.LateScores(Client(None, "nothing"), "faces", "gan", tmp_path, 0.0)
    assert [step for step, _ in renewed.wait(60)] == [20, 40]


def test_a_name_that_is_taken_holds_up_no_other_step(late_scores, tmp_path, caplog):
    taken = openhype.Conflict("gan@20 was submitted with other pictures", "model_taken")
    scores = late_scores.LateScores(Client(taken, "gan@20"), "faces", "gan", tmp_path, 0.0)

    scores.add(20, IMAGES)
    scores.add(40, IMAGES)

    assert [step for step, _ in scores.wait(60)] == [40]
    assert "gan@20 was submitted with other pictures" in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        openhype.NotFound("there is no submission 's1'", "unknown_submission"),
        openhype.InvalidInput("there are no files in step-20"),
        openhype.Conflict("you have 200 uploads, the most that are possible at a time", "quota"),
    ],
)
def test_a_step_that_cannot_be_submitted_holds_up_no_other_and_is_raised_in_the_end(
    late_scores, tmp_path, caplog, error
):
    scores = late_scores.LateScores(Client(error, "gan@20"), "faces", "gan", tmp_path, 0.0)
    scores.add(20, IMAGES)
    scores.add(40, IMAGES)

    assert [step for step, _ in scores.arrived()] == [40]

    assert f"step 20: {error}" in caplog.text
    scores.add(60, IMAGES)
    waiting = scores.wait(60)
    assert next(waiting)[0] == 60
    with pytest.raises(type(error), match=str(error)):
        next(waiting)


def test_pictures_left_by_a_run_that_died_are_not_mixed_with_new_ones(late_scores, tmp_path):
    left = tmp_path / ".step-20"
    left.mkdir()
    (left / "00009.png").write_bytes(b"old")
    client = Client(None, "nothing")

    late_scores.LateScores(client, "faces", "gan", tmp_path).add(20, IMAGES)

    assert client.seen == [("gan@20", ["00000.png", "00001.png", "00002.png"])]
