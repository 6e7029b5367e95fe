"""The job `simulate`: simulated evaluators take part in a study, through the API of the server itself.

It has a number of finished sessions to reach, so that one whose worker was killed only goes on. Sessions
that it left unfinished are erased.
"""

from typing import Any

from backend.administration import simulated_evaluators
from backend.administration.killed_simulations import simulating
from backend.foundation.errors import NotFound
from backend.jobs.queue import Job
from backend.jobs.work import Failed, Work

_AT_ONCE = 4


def run(work: Work, job: Job) -> dict[str, Any]:
    """Simulate until as many sessions are finished as were asked for.

    Raises:
        Failed: the worker was not told of a server.
        OpenhypeError: as for `simulated_evaluators.simulate`.
    """
    name, args = job.study or "", job.args
    if work.url is None:
        raise Failed("simulated evaluators need a server to answer to, and none was named to this worker")
    if work.store.study(name).created_at != args["created_at"]:
        raise NotFound(f"study {name} was deleted, and another one has its name now", code="unknown_study")
    with simulating(work.store, work.data, name):
        left = args["until"] - work.store.finished(name, simulated=True)[0]
        if left > 0:
            simulated_evaluators.simulate(
                work.store,
                name,
                args["observers"],
                url=work.url,
                key=work.data.researcher_key(),
                evaluators=left,
                strengths=args["strengths"],
                sd=args["sd"],
                picture_sd=args["picture_sd"],
                seed=args["seed"],
                at_once=min(_AT_ONCE, left),
                progress=work.progress,
            )
    return {"evaluators": args["evaluators"]}
