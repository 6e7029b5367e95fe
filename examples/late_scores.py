"""Scores of checkpoints that arrive hours after the pictures were made, remembered across restarts.

The pictures of a step lie in a folder of their own, and `submissions.json` says what has become of them. So
neither a training run that dies nor a server that is away loses a step, and no step is submitted twice. What
the server refuses, such as a token that has expired, is logged and never ends the training.

Needs openhype (its wheel with `pip install --no-deps` will do) and pillow.
"""

import json
import logging
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image

import openhype

_AWAY = (openhype.Unavailable, openhype.TooMany, openhype.ServerFault)
_LOG = logging.getLogger("late_scores")


class LateScores:
    """The submissions of one training run to one study."""

    def __init__(
        self, client: openhype.Client, study: str, run: str, folder: Path | str, look_every_s: float = 30
    ):
        """Read what is known of the run from `folder`; a step is submitted as the model `run@step`."""
        self._client, self._study, self._run = client, study, run
        self._folder, self._look_every_s = Path(folder), look_every_s
        self._folder.mkdir(parents=True, exist_ok=True)
        self._book = self._folder / "submissions.json"
        self._steps: dict[str, dict] = json.loads(self._book.read_text()) if self._book.exists() else {}
        self._looked_at = -look_every_s
        self._failed: dict[int, openhype.OpenhypeError] = {}  # of the latest look

    def add(self, step: int, images: Iterable) -> None:
        """Write pictures (numpy arrays, uint8, height x width x 3) and submit them; a known step is left."""
        if str(step) in self._steps:
            return
        partial, samples = self._folder / f".step-{step}", self._folder / f"step-{step}"
        if not samples.exists():
            shutil.rmtree(partial, ignore_errors=True)  # of a run that died while it wrote them
            partial.mkdir()
            for index, image in enumerate(images):
                Image.fromarray(image).save(partial / f"{index:05d}.png")
            partial.rename(samples)
        self._remember(step, submission=None, is_closed=False)
        try:
            self._submit(step)
        except openhype.OpenhypeError as error:
            _LOG.error("step %s: %s; submitting it later", step, error)

    def arrived(self) -> Iterator[tuple[int, openhype.Result]]:
        """Yield each score once, with its step; the server is asked every `look_every_s` seconds at most."""
        if time.monotonic() - self._looked_at < self._look_every_s:
            return
        self._looked_at = time.monotonic()
        yield from self._new()

    def wait(self, timeout_s: float) -> Iterator[tuple[int, openhype.Result]]:
        """Yield the scores that are still to come, for as long as `timeout_s`.

        Steps that the server refuses, other than for their pictures, are tried again for as long as there are
        others to wait for; then the first such error is raised.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            yield from self._new()
            left = deadline - time.monotonic()
            if not set(self._open()) - self._failed.keys() or left <= 0:
                break
            time.sleep(min(self._look_every_s, left))
        for error in self._failed.values():
            raise error

    def _new(self) -> Iterator[tuple[int, openhype.Result]]:
        before, self._failed = self._failed, {}
        for step in self._open():
            try:
                submission = self._submission(step)
                if submission is None or not submission.is_closed:
                    continue
                result = submission.result()
            except _AWAY as error:
                _LOG.warning("%s; looking again later", error)
                return
            except openhype.OpenhypeError as error:
                if not _is_final(error):
                    self._failed[step] = error
                    if str(error) != str(before.get(step)):
                        _LOG.error("step %s: %s; trying again later", step, error)
                    continue
                _LOG.warning("step %s: %s", step, error)
            else:
                yield step, result
            self._remember(step, is_closed=True)  # after the caller has logged it

    def _open(self) -> list[int]:
        return sorted(int(step) for step, known in self._steps.items() if not known["is_closed"])

    def _submission(self, step: int) -> openhype.Submission | None:
        known = self._steps[str(step)]["submission"]
        submission = None if known is None else self._client.submission(known)
        if submission is None or submission.state == "awaiting_pictures":
            return self._submit(step)
        return submission

    def _submit(self, step: int) -> openhype.Submission | None:
        """Submit a step; return None if that has to wait."""
        model, samples = f"{self._run}@{step}", self._folder / f"step-{step}"
        try:
            submission = self._client.submit(self._study, model=model, images=samples)
        except (*_AWAY, openhype.LimitReached) as error:
            _LOG.warning("step %s: %s; submitting it later", step, error)
            return None
        self._remember(step, submission=submission.id)
        return submission

    def _remember(self, step: int, **facts: object) -> None:
        self._steps.setdefault(str(step), {}).update(facts)
        partial = self._book.with_suffix(".partial")
        partial.write_text(json.dumps(self._steps, indent=2))
        os.replace(partial, self._book)


def _is_final(error: openhype.OpenhypeError) -> bool:
    """Return whether a step will never have a score; other refusals, such as of a full quota, may pass."""
    return isinstance(error, (openhype.Refused, openhype.Withdrawn)) or error.code == "model_taken"
