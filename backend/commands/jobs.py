"""The command `work`: a worker that does jobs of the store, such as studies made from uploads."""

import threading
from typing import TYPE_CHECKING, Any

import click

from backend.commands.setup import Setup, command, images_option, option, server_url

if TYPE_CHECKING:
    from backend.jobs.worker_process import WorkerProcess

_WAIT_S = {"sqlite": 1.0, "dynamodb": 5.0}
"""Seconds between looks at an empty queue; each is a read, which a table bills."""


@command()
@option("--until-idle", "End when no job waits.", bool)
@option(
    "--url",
    "The running server of this store, for jobs that need one, such as simulated evaluators.",
    callback=server_url,
)
@images_option("Where browsers get the pictures, if not from `openhype serve`; studies are uploaded there.")
@option("--beside", "The server with which to end.", int, "PID", hidden=True)
def work(setup: Setup, until_idle: bool, url: str | None, place: str | None, beside: int | None) -> None:
    """Do jobs, such as making studies from uploads; `openhype serve` starts a worker by itself."""
    from backend.foundation.child_processes import bound_memory, lower_priority
    from backend.jobs import worker_process as process
    from backend.jobs.worker import Worker
    from backend.web.server import log_times
    from deploy.s3_upload import publisher

    try:
        if not until_idle:
            process.interrupt_once()
            lower_priority()
            bound_memory()
            log_times()
        worker = Worker(
            setup.store,
            setup.data,
            uploads=_uploads(setup),
            url=url,
            publish=publisher(place),
            before_job=process.keeping_off(beside) if beside else lambda: None,
            lets_pass=not until_idle,
        )
        if beside:
            process.end_with_input()  # the server may have ended meanwhile
        if until_idle:
            for done in worker.run_until_idle():
                click.echo(
                    f"job {done.id} ({done.kind}): {done.state}{f': {done.reason}' if done.reason else ''}"
                )
        else:
            worker.run(threading.Event(), _WAIT_S[setup.url.partition(":")[0]])
    except KeyboardInterrupt:
        return


def worker_beside(setup: Setup, url: str) -> "WorkerProcess":
    """Return the worker of a server at `url`."""
    from backend.jobs.worker_process import WorkerProcess

    return WorkerProcess(["--data", str(setup.data.root), "--store", setup.url, "--url", url])


def _uploads(setup: Setup) -> Any:
    """Return the uploads of this data directory.

    Raises:
        InvalidInput: a limit on what is unpacked is invalid; no archive is to be refused for that.
    """
    import os

    from backend.uploads.limits import limits
    from backend.uploads.local_uploads import LocalUploads

    limits(os.environ)
    return LocalUploads(setup.data)
