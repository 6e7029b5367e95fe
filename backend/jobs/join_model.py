"""The job `join_model`: a model that a researcher adds to a study, from an upload.

It can be ended at any moment and run again: what a run did is seen from the study, which has the model or
has it not.
"""

from typing import Any

from backend.administration.join import Newcomer
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.jobs.create_study import unpack_all
from backend.jobs.queue import Job, jobs
from backend.jobs.study_orders import in_words_of_order
from backend.jobs.study_work import study_of
from backend.jobs.work import Failed, Work

KIND = "join_model"


def run(work: Work, mine: Job) -> dict[str, Any]:
    """Have the model join, or find that it did in an earlier run; return it with its notes.

    Raises:
        Failed: its pictures do not fit, or the study has another model of its name.
    """
    study, model = study_of(work, mine), mine.args["model"]
    if not _joined_before(work, study, mine):
        try:
            study = _join(work, study, mine)
        except InvalidInput as error:
            raise Failed(in_words_of_order(str(error), work.folder / "pictures")) from None
    prefix = f"{model}: "
    notes = [
        note.removeprefix(prefix) for note in study.notes if note.startswith((prefix, f"{model} joined"))
    ]
    return {"model": model, "notes": notes}


def _joined_before(work: Work, study: Study, mine: Job) -> bool:
    """Return whether an earlier run of this job had the model join, rather than another job before it."""
    model = mine.args["model"]
    if model not in study.models:
        return False
    at = dict(zip(study.models[len(study.models) - len(study.joined) :], study.joined_at, strict=True))
    is_since = at.get(model, "") >= mine.created_at
    others = (each for each in jobs(work.store, study.name) if each.kind == KIND and each.id != mine.id)
    return is_since and not any(each.state == "done" and each.args["model"] == model for each in others)


def _join(work: Work, study: Study, mine: Job) -> Study:
    args, folder = mine.args, work.folder / "pictures"
    unpack_all(work, {args["model"]: args["upload"]}, folder)
    newcomer = Newcomer(
        args["model"],
        folder / args["model"],
        None if args["preprocess"] is None else tuple(args["preprocess"]),
        args["skip_bad"],
        args["strict"],
    )
    # in the minutes before, another may have got its name
    return work.join(study, newcomer, before_storing=lambda: study_of(work, mine))
