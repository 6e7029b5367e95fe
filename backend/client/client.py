"""`openhype.Client`: studies and submissions of a server from Python, such as from a training loop.

client = openhype.Client("https://study.example.org")         # the token is in OPENHYPE_TOKEN
submission = client.submit("faces", model="gan@4000", images=samples)
submission.result(timeout=3600).score
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.client.clips import sendable
from backend.client.connection import Connection, segment
from backend.client.pictures import picture_files
from backend.client.progress import Progress, progress_of
from backend.client.retries import Retries
from backend.client.sending import Archive, archive_of, send
from backend.client.submission import Job, Submission, Waiting
from backend.foundation.errors import InvalidInput, NotFound

URL, TOKEN, TOKEN_FILE = "OPENHYPE_URL", "OPENHYPE_TOKEN", "OPENHYPE_TOKEN_FILE"
"""Variables of the environment that name the server and the token."""


class Client:
    """A server of studies, with the token by which it knows the caller."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        patience: float = 180.0,
        simulated: bool = False,
        waiting: Waiting | None = None,
        retries: Retries | None = None,
    ):
        """Connect to nothing yet.

        Args:
            url: such as https://study.example.org; without it, the variable OPENHYPE_URL.
            token: without it, the variable OPENHYPE_TOKEN, or the content of the file in OPENHYPE_TOKEN_FILE.
            timeout: seconds without a sign of the server after which a connection counts as lost.
            patience: seconds for which a server that cannot be reached is tried again.
            simulated: have results counted over simulated evaluators in place of real ones, for a rehearsal.
            waiting: how to wait for results (tests).
            retries: in place of `patience`.

        Raises:
            InvalidInput: there is no address or no token, or one that is none.
        """
        address = url or os.environ.get(URL)
        if not address:
            raise InvalidInput(f"the address of the server is missing; give url, or set {URL}")
        self._connection = Connection(
            address, token or environment_token(), retries or Retries(patience_s=patience), timeout
        )
        self._waiting, self._is_rehearsal = waiting or Waiting(), simulated

    def __repr__(self) -> str:
        return f"Client({self._connection.url!r})"

    def submit(
        self, study: str, *, model: str, images: Any, progress: Progress | bool | None = None
    ) -> Submission:
        """Submit a model's pictures or clips to a leaderboard study; return once they are with the server.

        Called again with the same model and the same pictures, also from another process after a crash, it
        continues where it stopped, and gives the same submission.

        Args:
            images: a folder, or an iterable of pictures: PIL images, numpy arrays (uint8, height x width x
                3), bytes of picture files, paths. Of clips: bytes or paths of video files or of `.clip`
                files. Videos that the server does not read are encoded on this machine, if it has PyAV.
            progress: called with bytes done and all; True for a bar of tqdm.

        Raises:
            Conflict: the name is taken by other pictures. LimitReached: no more submissions for now.
            NotAllowed, NotFound, InvalidInput, Unavailable: as their names say.
        """
        with (
            picture_files(images) as given,
            sendable(
                given, lambda: self._recipe(study), progress_of(progress, f"{model}: encoding")
            ) as files,
        ):
            archive = archive_of(files)
            data = self._connection.post(
                f"{_study(study)}/submissions", {"model": model, "digest": archive.digest}, repeatable=True
            )
            if data["needs_pictures"]:
                upload = self._send(archive, progress, model)
                path = f"/api/submissions/{segment(data['submission'])}/pictures"
                data = self._connection.post(path, {"upload": upload}, repeatable=True)
        return self._handle(data)

    def _recipe(self, study: str) -> dict[str, Any] | None:
        """Return how the clips of a study are made; None for a study of pictures."""
        return self._connection.get(f"{_study(study)}/submissions")["clips"]

    def submission(self, submission: str) -> Submission:
        """Return a submission by its id, as the server has it now."""
        found = self._submission({"submission": submission})
        found.status()
        return found

    def submissions(self, study: str) -> list[Submission]:
        """Return the caller's submissions to a study; a researcher's are all."""
        listed = self._connection.get(f"{_study(study)}/submissions")["submissions"]
        return [self._handle(data) for data in listed]

    def create(
        self,
        name: str,
        *,
        real: Any = None,
        models: Mapping[str, Any] | None = None,
        items: Mapping[str, Any] | None = None,
        practice: Any = None,
        checks: Any = None,
        masks: Any = None,
        method: str = "infinity",
        kind: str = "study",
        preprocess: Sequence[str] = (),
        skip_bad: bool = False,
        strict: bool = False,
        flat: bool = False,
        pages: Sequence[Mapping[str, Any]] = (),
        questions: Sequence[Mapping[str, Any]] = (),
        progress: Progress | bool | None = None,
        **settings: Any,
    ) -> Job:
        """Have the server make a study; return once the pictures are with it. Needs a researcher's token.

        Called again with the same arguments, it gives the same job.

        Args:
            real, models, items, masks: pictures as in `submit`; models and items by name.
            practice, checks: folders with sub-folders `real` and `fake`.
            kind: `study` or `qualification`.
            pages, questions: as in a study.toml.
            settings: as of `openhype create --set`, and `panel`.
        """
        sides = {"real": real, "practice": practice, "checks": checks, "masks": masks}
        sent = {
            side: None if given is None else self._upload(given, progress, side)
            for side, given in sides.items()
        }
        body = {
            "name": name,
            "kind": kind,
            "method": method,
            **sent,
            "models": [
                {"model": model, "upload": self._upload(images, progress, model)}
                for model, images in (models or {}).items()
            ],
            "items": [
                {"set": each, "upload": self._upload(images, progress, each)}
                for each, images in (items or {}).items()
            ],
            "settings": settings,
            "preprocess": [*preprocess],
            "skip_bad": skip_bad,
            "strict": strict,
            "flat": flat,
            "pages": [*map(dict, pages)],
            "questions": [*map(dict, questions)],
        }
        made = self._connection.post("/api/studies", body, repeatable=True)
        return Job(self._connection, made["job"], self._waiting)

    def job(self, job: str) -> Job:
        """Return a job by its id."""
        handle = Job(self._connection, job, self._waiting)
        handle.status()
        return handle

    def status(self, study: str) -> dict[str, Any]:
        """Return how far a study is, as `openhype status --json` does."""
        return self._connection.get(f"{_study(study)}/status")

    def scores(self, study: str) -> dict[str, Any]:
        """Return the scores of a study, as `openhype score --json` does."""
        return self._connection.get(f"{_study(study)}/scores")

    def _handle(self, data: Mapping[str, Any]) -> Submission:
        """Return the handle of a submission that a reply describes."""
        submission = self._submission(data)
        if self._is_rehearsal:  # the reply has the score of real evaluators
            submission.status()
        return submission

    def _submission(self, data: Mapping[str, Any]) -> Submission:
        return Submission(self._connection, data, self._waiting, self._is_rehearsal)

    def _upload(self, images: Any, progress: Progress | bool | None, label: str) -> str:
        with picture_files(images) as files:
            return self._send(archive_of(files), progress, label)

    def _send(self, archive: Archive, progress: Progress | bool | None, label: str) -> str:
        return send(self._connection, archive, progress_of(progress, label))


def environment_token() -> str:
    """Return the token that the environment names, '' if it names none.

    Raises:
        NotFound: OPENHYPE_TOKEN_FILE names a file that cannot be read.
    """
    if token := os.environ.get(TOKEN):
        return token
    return token_of(Path(path)) if (path := os.environ.get(TOKEN_FILE)) else ""


def token_of(path: Path) -> str:
    """Return the token in a file.

    Raises:
        NotFound: it cannot be read.
    """
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise NotFound(f"the file of the token, {path}, cannot be read") from None


def _study(name: str) -> str:
    return f"/api/studies/{segment(name)}"
