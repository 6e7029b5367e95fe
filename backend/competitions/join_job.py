"""The job `join`: checks the pictures of a submission and has its model join the study.

It can be ended at any moment and run again: what a run did is seen from the study, which has the model or
has it not. A reason is worded for the submitter, who is to know nothing of others and of the reals' files.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.administration.join import Newcomer
from backend.competitions import submissions
from backend.competitions.submissions import Submission
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, NotInstalled
from backend.foundation.timestamps import utc_now
from backend.studies.closing import close_model
from backend.uploads.unpacking import unpack_pictures

if TYPE_CHECKING:
    from backend.jobs.queue import Job
    from backend.jobs.work import Work

KIND = "join"
_ADVICE = re.compile(r"; add pictures, or ask for fewer.*|, or leave it out with --skip-bad", re.DOTALL)


def run(work: "Work", job: "Job") -> Mapping[str, Any]:
    """Have the model of a submission join its study, or note why it is refused; return how it ended.

    Raises:
        OpenhypeError: a fault of the server, such as a full disk; the submission stays as it was.
    """
    study, one = submissions.submission(work.store, job.args["submission"], None)
    is_holder = _holds_its_name(work, study, one) and not _was_of_another(work, study, one)
    if is_holder and one.called in study.models:  # an earlier run ended after this
        return _joined(work, study, one)
    if one.withdrawn_at or one.refused_at or not one.upload:
        return {"submission": one.id, "ended": "withdrawn" if one.withdrawn_at else "refused"}
    one = submissions.check_begun(work.store, study, one, utc_now())
    folder = work.folder / "pictures"
    try:
        _check_wanted(work, one)
        _check_name(study, one, is_holder)
        unpack_pictures(work.uploads, one.upload, folder)
        study = _join(work, study, one, folder)
    except NotInstalled:  # of clips alone: the submitter cannot install it
        refused = "this server does not read videos; submit from a machine with PyAV (openhype[clips]), "
        submissions.refuse(work.store, study, one, f"{refused}which encodes them before", utc_now())
        return {"submission": one.id, "ended": "refused"}
    except InvalidInput as refused:
        submissions.refuse(work.store, study, one, _for_submitter(str(refused), folder), utc_now())
        return {"submission": one.id, "ended": "refused"}
    except _Withdrawn:
        return {"submission": one.id, "ended": "withdrawn"}
    return _joined(work, study, one)


class _Withdrawn(Exception):
    """A submission was withdrawn while it was checked."""


def _check_wanted(work: "Work", one: Submission) -> None:
    """Raise _Withdrawn if a submission was withdrawn meanwhile."""
    if submissions.submission(work.store, one.id, None)[1].withdrawn_at:
        raise _Withdrawn


def _for_submitter(reason: str, folder: Path) -> str:
    """Return a reason without paths of this server, and without advice that only a researcher can follow."""
    reason = reason.replace(f"{folder}/", "").replace(str(folder), "the archive")
    return _ADVICE.sub("", reason)


def _check_name(study: Study, one: Submission, is_holder: bool) -> None:
    """Raise InvalidInput if the name is another model's or another submission's, whosever it is."""
    if not is_holder or one.called.casefold() in {model.casefold() for model in study.models}:
        raise InvalidInput(f"no model can be called {one.model} in this study; choose another name")


def _holds_its_name(work: "Work", study: Study, one: Submission) -> bool:
    """Return whether a submission has the name of its model, claimed anew from one that was never stored.

    Of two requests at once, the one that was refused may have claimed the name last.
    """
    try:
        submissions.claim_name(work.store, study, one)
    except Conflict:
        return False
    return True


def _was_of_another(work: "Work", study: Study, one: Submission) -> bool:
    """Return whether another submission joined by this name: it was withdrawn too late to be kept out."""
    return any(
        other.joined_at and other.id != one.id and other.called.casefold() == one.called.casefold()
        for other in submissions.of_study(work.store, study)
    )


def _join(work: "Work", study: Study, one: Submission, folder: Path) -> Study:
    newcomer = Newcomer(one.called, folder, is_submitted=one.called != one.model)
    return work.join(study, newcomer, before_storing=lambda: _check_wanted(work, one))


def _joined(work: "Work", study: Study, one: Submission) -> Mapping[str, Any]:
    """Note that a model is in the study; close it if its submission was withdrawn meanwhile."""
    prefix = f"{one.called}: "
    notes = [note.removeprefix(prefix) for note in study.notes if note.startswith(prefix)]
    one = submissions.joined(work.store, study, one, notes, utc_now())
    if one.withdrawn_at:
        close_model(work.store, study, one.called)
        return {"submission": one.id, "ended": "withdrawn"}
    return {"submission": one.id, "ended": "joined"}
