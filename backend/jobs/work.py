"""What a kind of job gets, and the kinds: each a function `run(work, job)` that returns the result.

A kind must be safe to run again: its worker may be killed at any moment, also between what it did last and
the note that it is done.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput, Keys, OpenhypeError
from backend.foundation.timestamps import utc_now
from backend.jobs.queue import Job
from backend.stores.datadir import DataDir
from backend.stores.store import Store

if TYPE_CHECKING:
    from backend.administration.join import Newcomer
    from backend.uploads.uploads import Uploads

KINDS: Mapping[str, str] = {
    "agree": "backend.jobs.study_work:agree",
    "audit": "backend.jobs.intake_audit:run",
    "correlate": "backend.jobs.study_work:correlate",
    "create": "backend.jobs.create_study:run",
    "delete": "backend.jobs.study_work:delete",
    "download": "backend.web.download_files:run",
    "update_sampling": "backend.jobs.study_work:update_sampling",
    "join": "backend.competitions.join_job:run",
    "join_model": "backend.jobs.join_model:run",
    "live": "backend.web.live_job:run",
    "look": "backend.jobs.look:run",
    "metrics": "backend.jobs.study_work:metrics",
    "opinions": "backend.jobs.opinion_scores:run",
    "pay": "backend.jobs.study_work:pay",
    "replicate": "backend.jobs.replication:replicate",
    "rerun": "backend.jobs.replication:rerun",
    "simulate": "backend.jobs.simulate:run",
    "table": "backend.competitions.table_job:run",
}
"""By the kind of job, module and function; imported when a job of the kind runs."""


@dataclass(frozen=True)
class Work:
    """What a job may use."""

    store: Store
    data: DataDir
    uploads: "Uploads | None"
    """None where nothing can be uploaded."""
    url: str | None
    """Where the server of this store is reached from this machine; None if the worker was not told."""
    publish: Callable[[str, Path], Any] | None
    """Uploads a study's pictures (study, folder) to where browsers get them, if that is elsewhere."""
    say: Callable[[str], Any]
    progress: Callable[..., Iterable]
    """`progress(items, total, label)` wraps an iterable: the job's progress, and where it can be stopped."""
    folder: Path
    """A new folder of the job's own, removed when it has ended."""

    def join(self, study: Study, newcomer: "Newcomer", before_storing: Callable[[], Any]) -> Study:
        """Have a model join a study, as `join.join_in_turn` does."""
        from backend.administration.join import join_in_turn

        ways = {"progress": self.progress, "publish": self.publish, "say": self.say}
        return join_in_turn(
            self.store, self.data, study.name, newcomer, utc_now, before_storing=before_storing, **ways
        )


class Failed(OpenhypeError):
    """A job cannot be done; `details` are stored as its result, beside the reason, and `keys` with them."""

    def __init__(self, message: str, details: Mapping[str, Any] | None = None, keys: Keys = ()):
        super().__init__(message, keys=keys)
        self.details = {**(details or {}), **({"keys": [*keys]} if keys else {})} or None


def runner(kind: str) -> Callable[[Work, Job], Mapping[str, Any]]:
    """Return the function that does jobs of a kind.

    Raises:
        InvalidInput: there is no such kind, perhaps since a newer version enqueued it.
    """
    if kind not in KINDS:
        raise InvalidInput(f"no job is of the kind {kind!r}; update openhype where the worker runs")
    module, _, function = KINDS[kind].partition(":")
    return getattr(import_module(module), function)
