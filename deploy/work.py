"""What the function `work` runs: jobs, one after the other, until none is left or its time is nearly over.

Lambda ends an invocation after 15 minutes. A job that runs by then is taken again by the next one when its
lease has expired, and fails after some tries (`backend.jobs.queue`), so that it ends in any case.
"""

import logging
import os
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from backend.foundation.file_permissions import make_folder
from backend.foundation.timestamps import utc_now
from backend.jobs import queue
from backend.jobs.work import runner
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir, replace_private
from backend.stores.opening import open_store
from deploy import api, study_locks
from deploy.bucket_downloads import remove_made
from deploy.bucket_jobs import with_pictures
from deploy.edge_copies import EdgeCopies
from deploy.s3_upload import parse_place

_PAYING = "pay"
"""It needs the panel's token, which only the function `panel` may read: a worker that has it pays."""
LEAST_S = 450
"""No job is begun with less time left, half of an invocation's: one that Lambda ends loses a try."""
log = logging.getLogger("openhype")


def handle(event: Mapping[str, Any], context: Any) -> dict[str, int]:
    """Do the jobs that wait; return how many were done, and how many uploads expired.

    Raises:
        ValueError: the event is not the one of the schedule.
    """
    if event.get("task") != "work":
        raise ValueError("this function takes the task 'work' only")
    worker = make_worker(os.environ)
    worker.enqueue_due()
    done = 0
    for _ in worker.run_until_idle(lambda: context.get_remaining_time_in_millis() > 1000 * LEAST_S):
        done += 1
    downloads = api.place_of_downloads(os.environ)
    queue.forget(worker.store, utc_now(), partial(remove_made, downloads) if downloads else lambda job: None)
    expired = worker.uploads.expire(utc_now()) if worker.uploads else 0
    return {"jobs": done, "expired": expired}


def make_worker(environment: Mapping[str, str]) -> Worker:
    """Return the worker that the environment variables configure.

    Raises:
        InvalidInput: a variable is missing, or has an invalid value.
    """
    data = DataDir(Path(environment["OPENHYPE_DATA"]))
    # An instance does one invocation at a time: this is left by one that was ended.
    shutil.rmtree(data.root / "scratch", ignore_errors=True)
    _keep_keys(environment, data)
    store = open_store(environment["OPENHYPE_STORE"], data.root)
    place = parse_place(environment["OPENHYPE_IMAGES"])
    distribution = environment.get("OPENHYPE_DISTRIBUTION")
    copies = EdgeCopies(distribution) if distribution else None
    downloads = api.place_of_downloads(environment)
    return Worker(
        store,
        data,
        find=lambda kind: with_pictures(kind, runner(kind), place, copies, downloads),
        leaves_files_at=str(downloads or ""),
        may_begin=partial(study_locks.reserve, store),
        leaves=frozenset({_PAYING}),
        uploads=api.bucket_uploads(environment, store, data),
        url=environment.get("OPENHYPE_URL"),
        publish=api.publisher(environment),
        say=log.info,
    )


def _keep_keys(environment: Mapping[str, str], data: DataDir) -> None:
    """Store the deployment's keys, as they are now, in the data directory, unless it alone has them."""
    if not environment.get("OPENHYPE_KEYS") and data.has_keys():
        return
    make_folder(data.root, is_first=True)
    replace_private(data.root / "keys.json", api.keys_text(environment))
