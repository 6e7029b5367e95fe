"""Jobs on studies whose pictures are in a bucket: an instance that does one has no picture of its own."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from backend.experiment.judgment import pictures_of
from backend.foundation.errors import NotFound, OpenhypeError
from backend.jobs.queue import Job
from backend.jobs.study_work import study_of
from backend.jobs.work import Work
from backend.jobs.worker import Runner
from backend.stores.datadir import DataDir
from backend.stores.store import Store, study_if_any
from deploy import study_locks
from deploy.bucket_downloads import deliver, remove_made
from deploy.bucket_pictures import BucketPictures, fetch_pictures
from deploy.s3_upload import Place, remove_folder, remove_pictures

_JOINING = frozenset({"join", "join_model"})
"""Kinds of jobs that add pictures to those of their study, and may make its files longer."""
_READING = _JOINING | {"metrics", "agree", "correlate"}
"""Kinds of jobs that read the pictures of their study."""
_OF_ANOTHER = {"rerun": "of", "correlate": "other"}
"""By kind of job, the argument with another study whose pictures it reads."""
_DOWNLOAD = "download"
_OF_MASKS, _OF_PICTURES = "masks.png", "site.zip"
"""Files to download that are made of many pictures of their study; others read a few, one by one."""
_DELETING = "delete"


class Copies(Protocol):
    """Copies of pictures elsewhere, such as `EdgeCopies`."""

    def remove(self, study: str, is_waited_for: bool = False) -> None: ...


@dataclass(frozen=True)
class _DataDir(DataDir):
    """The data directory of an instance, whose pictures are in the bucket."""

    read: Callable[[str, str], bytes | None]

    def picture(self, study: str, name: str) -> bytes | None:
        return self.read(study, name)


def with_pictures(
    kind: str, run: Runner, place: Place, copies: Copies | None = None, downloads: Place | None = None
) -> Runner:
    """Return a job that finds the pictures of its study in the data directory, and leaves none there.

    Pictures that a failed job has published are removed from the bucket. A file to download is moved there.

    Args:
        place: the folder of the bucket that browsers are served from.
        copies: what serves browsers in front of the bucket, if anything.
        downloads: the folder of the bucket that files to download are moved to.
    """

    def run_with_pictures(work: Work, job: Job) -> Mapping[str, Any]:
        images = work.data.root / "images"
        shutil.rmtree(images, ignore_errors=True)  # of a job before, whose study has changed perhaps
        try:
            if not job.study:
                return run(work, job)
            made = job.args.get("kind") if kind == _DOWNLOAD else None
            if kind in _READING or made in (_OF_MASKS, _OF_PICTURES):
                names = study_of(work, job).masks if made == _OF_MASKS else None
                fetch_pictures(place, job.study, work.data.images(job.study), names=names)
            if kind in _OF_ANOTHER:
                other = job.args[_OF_ANOTHER[kind]]["study"]
                fetch_pictures(place, other, work.data.images(other))
            publishing = _Publishing(work, job.study, place, copies if kind in _JOINING else None)
            publish = publishing.publish if work.publish else None
            data = _DataDir(work.data.root, BucketPictures(place).read) if kind == _DOWNLOAD else work.data
            try:
                result = run(replace(work, publish=publish, data=data), job)
            except BaseException:
                publishing.undo()
                raise
            if kind == _DOWNLOAD and downloads:
                _deliver(work, job, downloads)
            if kind == _DELETING and not _is_of_another(work.store, job):
                remove_pictures(place, job.study)
                if downloads:
                    remove_folder(downloads, job.study)
                if copies:
                    copies.remove(job.study)
                study_locks.release(work.store, job.study)
            return result
        finally:
            shutil.rmtree(images, ignore_errors=True)

    return run_with_pictures


@dataclass
class _Publishing:
    """Pictures on their way to the bucket, where browsers get them."""

    work: Work
    study: str
    place: Place
    copies: Copies | None
    added: frozenset[str] = field(default=frozenset(), init=False)
    """Names of pictures that were not there when the job began."""

    def __post_init__(self) -> None:
        self._before = _names_in(self.work.data.images(self.study))

    def publish(self, study: str, folder: Path) -> None:
        assert self.work.publish is not None  # `with_pictures` hands this on only then
        self.added = _names_in(folder) - self._before
        self.work.publish(study, folder)
        if self.copies:
            self.copies.remove(study, is_waited_for=True)

    def undo(self) -> None:
        """Remove what was published, but for what the study has by now; a failure leaves files too many."""
        if self.added:
            with suppress(OpenhypeError):
                left = self.added - _names_of(self.work.store, self.study)
                remove_pictures(self.place, self.study, names=left)


def _deliver(work: Work, job: Job, downloads: Place) -> None:
    """Move the file that a job made into the bucket, but not if its study is being deleted meanwhile.

    Raises:
        NotFound: it is.
    """
    deliver(downloads, work.data.downloads(job.study or "") / job.args["file"])
    try:
        study_of(work, job)
    except NotFound:
        remove_made(downloads, job)
        raise


def _is_of_another(store: Store, deleting: Job) -> bool:
    """Return whether another study has the name of one that an earlier run of its job has deleted."""
    study = study_if_any(store, deleting.study or "", even_deleted=True)
    return study is not None and study.created_at != deleting.args["created_at"]


def _names_in(folder: Path) -> frozenset[str]:
    return frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()


def _names_of(store: Store, name: str) -> set[str]:
    """Return the names of a study's files; none if there is no study."""
    study = study_if_any(store, name, even_deleted=True)
    if study is None:
        return set()
    return {*study.masks, *(name for each in store.stimuli(study.name) for name in pictures_of(each.name))}
