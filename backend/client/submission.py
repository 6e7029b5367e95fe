"""Handles of what the server works on: a submission to a leaderboard study, and a job."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.client.connection import Connection, segment
from backend.client.errors import JobFailed, PicturesMissing, Refused, TimedOut, Withdrawn
from backend.foundation.errors import TooMany, Unavailable

SCORED, REFUSED, WITHDRAWN, AWAITING = "scored", "refused", "withdrawn", "awaiting_pictures"
LOG_ODDS = "log-odds"
"""Unit of strengths in tournaments, which the API gives as ''."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 30.0
"""Between two looks at a submission; people take hours."""


@dataclass(frozen=True)
class Result:
    """The score of a submission. `unit` is `percent`, `ms` or `log-odds`."""

    score: float
    ci: tuple[float, float] | None
    """Its interval; None if it has none yet."""
    unit: str
    evaluators: int
    """Evaluators whose answers are in it."""
    wanted: int
    """Evaluators that the study asks for."""


@dataclass(frozen=True)
class Waiting:
    """How to wait between two looks. Injected, so that tests do not wait."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def until(self, look: Callable[[], bool], timeout_s: float | None, what: Callable[[], str]) -> None:
        """Look until `look` returns True; a server that cannot be reached is asked again later.

        Raises:
            TimedOut: the time is over before.
        """
        began, pause = self.clock(), _FIRST_WAIT_S
        while True:
            try:
                if look():
                    return
            except (Unavailable, TooMany):
                if timeout_s is not None and self.clock() - began >= timeout_s:
                    raise
            left = None if timeout_s is None else timeout_s - (self.clock() - began)
            if left is not None and left <= 0:
                raise TimedOut(f"{what()} after {timeout_s:g} s")
            self.sleep(pause if left is None else min(pause, left))
            pause = min(2 * pause, _LONGEST_WAIT_S)


class Submission:
    """A model's pictures that were submitted to a study. `id` finds it again, from any machine."""

    def __init__(
        self,
        connection: Connection,
        data: Mapping[str, Any],
        waiting: Waiting | None = None,
        is_rehearsal: bool = False,
    ):
        self._connection = connection
        self._waiting = waiting or Waiting()
        self._data = dict(data)
        self._query = "?simulated=true" if is_rehearsal else ""

    def __repr__(self) -> str:
        return f"Submission({self.id!r}, study={self.study!r}, model={self.model!r}, state={self.state!r})"

    @property
    def data(self) -> dict[str, Any]:
        """All that the server said of it when it was last looked at."""
        return dict(self._data)

    @property
    def id(self) -> str:
        """Its id."""
        return self._data["submission"]

    @property
    def study(self) -> str:
        """The study that it is submitted to."""
        return self._data["study"]

    @property
    def model(self) -> str:
        """The model's name, as it was submitted."""
        return self._data["model"]

    @property
    def digest(self) -> str:
        """The digest of its pictures."""
        return self._data["digest"]

    @property
    def state(self) -> str:
        """Its state when it was last looked at: `awaiting_pictures`, `queued`, `checking`, `refused`,
        `collecting`, `scored` or `withdrawn`."""
        return self._data["state"]

    @property
    def reason(self) -> str | None:
        """Why it is in its state, if there is a reason."""
        return self._data.get("reason")

    @property
    def is_closed(self) -> bool:
        """Whether nothing more will come by itself: it has its score, was refused, or was withdrawn."""
        return self.state in (REFUSED, WITHDRAWN) or (self.state == SCORED and self.so_far is not None)

    def status(self) -> dict[str, Any]:
        """Ask the server, and return all that it says of the submission."""
        return self._read(is_patient=True)

    def wait(self, timeout: float | None = None) -> "Submission":
        """Wait until it is scored, refused or withdrawn, at most `timeout` seconds; return itself.

        Raises:
            TimedOut: it is not, after that time. PicturesMissing: the server waits for its pictures.
        """
        self._waiting.until(self._look, timeout, self._where)
        return self

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the score, at most `timeout` seconds, and return it; 0 looks once.

        Raises:
            TimedOut: there is none after that time. PicturesMissing: the server waits for its pictures.
            Refused: they were refused; the message has the server's reason. Withdrawn: it was withdrawn.
        """
        self.wait(timeout)
        if self.state == REFUSED:
            raise Refused(f"{self.model} was refused: {self.reason or 'no reason was given'}")
        if self.state == WITHDRAWN:
            raise Withdrawn(f"{self.model} was withdrawn")
        result = self.so_far
        assert result is not None  # or it would still wait
        return result

    @property
    def so_far(self) -> Result | None:
        """The score when it was last looked at; None if there was none."""
        result = self._data.get("result")
        if not result or result.get("score") is None:
            return None
        low_high = result.get("ci")
        ci = (low_high[0], low_high[1]) if low_high else None
        unit = result["unit"] or LOG_ODDS
        return Result(result["score"], ci, unit, result["evaluators"], result["wanted"])

    def withdraw(self) -> "Submission":
        """Withdraw it, and return itself."""
        self._data = dict(self._connection.post(f"{_path_of(self.id)}/withdraw", {}, repeatable=True))
        return self

    def _look(self) -> bool:
        if not self.is_closed:
            self._read(is_patient=False)
        if self.state == AWAITING:
            raise PicturesMissing(
                f"{self.model}: {self.reason or 'its pictures are missing'}; submit it again"
            )
        return self.is_closed

    def _read(self, is_patient: bool) -> dict[str, Any]:
        self._data = dict(self._connection.get(f"{_path_of(self.id)}{self._query}", is_patient))
        return dict(self._data)

    def _where(self) -> str:
        return f"{self.model} is {self.state}"


def _path_of(submission: str) -> str:
    return f"/api/submissions/{segment(submission)}"


class Job:
    """Work of the server that takes a while, such as making a study from uploads."""

    def __init__(self, connection: Connection, job: str, waiting: Waiting | None = None):
        self._connection, self.id = connection, job
        self._waiting = waiting or Waiting()
        self._data: dict[str, Any] = {"state": "queued"}

    def __repr__(self) -> str:
        return f"Job({self.id!r}, state={self.state!r})"

    @property
    def state(self) -> str:
        """`queued`, `running`, `done`, `failed` or `cancelled`, when it was last looked at."""
        return self._data["state"]

    def status(self) -> dict[str, Any]:
        """Ask the server, and return all that it says of the job."""
        return self._read(is_patient=True)

    def result(self, timeout: float | None = None) -> dict[str, Any]:
        """Wait until the job is done, at most `timeout` seconds, and return its result.

        Raises:
            TimedOut: it is not, after that time. JobFailed: it failed or was cancelled.
        """
        self._waiting.until(self._look, timeout, lambda: f"job {self.id} is {self.state}")
        if self.state != "done":
            raise JobFailed(
                f"job {self.id} {self.state}: {self._data.get('reason') or 'no reason was given'}"
            )
        return self._data.get("result") or {}

    def _look(self) -> bool:
        return self._read(is_patient=False)["state"] in ("done", "failed", "cancelled")

    def _read(self, is_patient: bool) -> dict[str, Any]:
        self._data = dict(self._connection.get(f"/api/jobs/{segment(self.id)}", is_patient))
        return dict(self._data)
