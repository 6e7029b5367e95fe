"""The job `table`: makes the table of a large competition, away from the server that evaluators answer to."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.competitions.competition import Competitions
from backend.competitions.terms import competition_of
from backend.foundation.timestamps import utc_now

if TYPE_CHECKING:
    from backend.jobs.queue import Job
    from backend.jobs.work import Work


def run(work: "Work", job: "Job") -> Mapping[str, Any]:
    """Make the table of a study, keep it, and return how many models it has."""
    study = work.store.study(job.args["study"])
    made = Competitions(work.store, utc_now).make(study, competition_of(work.store, study))
    return {"models": len(made.rows)}
