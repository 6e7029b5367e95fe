"""Publication of a study that is made: its pictures are moved into their place, and it is stored last.

What belongs to a study is stored before it: a creation that is killed in between is made again. Images are
synced to the disk before, so that a power failure leaves no study without them.
"""

import shutil

from backend.administration import intake_facts
from backend.administration.draft import Draft, Making
from backend.administration.spec_checks import check_qualification
from backend.foundation.atomic_files import write_whole
from backend.foundation.errors import Conflict
from backend.foundation.file_permissions import share
from backend.foundation.syncing import sync, sync_all
from backend.studies import lifecycle


def check_place(draft: Draft, making: Making) -> Draft:
    """Raise Conflict if the folder of a study's pictures may be that of a study in another store."""
    study = draft.study.name
    place, mark = making.data.images(study), making.data.unpublished(study)
    is_left = mark.exists() and lifecycle.was_attempted(making.store, study, mark.read_text("utf-8"))
    if place.exists() and not is_left:
        raise Conflict(
            f"{place} holds the pictures of a study {study} that is not in this store; choose another name "
            "or data directory, or remove the folder if no store needs it"
        )
    return draft


def publish(draft: Draft, making: Making) -> Draft:
    """Move the images into place and store the study, one process at a time."""
    store, study = making.store, draft.study
    place, mark = making.data.images(study.name), making.data.unpublished(study.name)
    with making.data.locked("publish"):
        lifecycle.check_name(store, study.name)
        if study.protocol.admission.qualification:  # it may have been deleted in the meantime
            check_qualification(store, study.kind, study.protocol.admission.qualification)
        check_place(draft, making)
        if place.exists():
            shutil.rmtree(place)  # left by a creation with this store that crashed here
        attempt = lifecycle.new_attempt(store, study.name)
        write_whole({(made := making.pictures.with_name("mark")): attempt.encode()})
        made.rename(mark)
        sync(mark.parent)
        try:
            _move_and_store(draft, making)
        except BaseException as error:
            if isinstance(error, Conflict) or study.name not in {stored.name for stored in store.studies()}:
                shutil.rmtree(place, ignore_errors=True)
                mark.unlink()
            raise
        mark.unlink()
    return draft


def _move_and_store(draft: Draft, making: Making) -> None:
    study, pictures, place = draft.study, making.pictures, making.data.images(draft.study.name)
    sync_all([pictures, *pictures.iterdir()])
    pictures.rename(place)
    share(place)
    sync(place.parent)
    if making.upload is not None:
        making.upload(study.name, place)
    if not draft.judgment.has_items:
        intake_facts.write(making.store, study, draft.spec.preprocess, draft.intake.reals)
    making.store.add_study(study, draft.intake.stimuli)
