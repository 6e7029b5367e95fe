"""The same study again: a new study with the stimuli, pictures, settings and questions of another one.

Sessions, answers, ledger and recruitment are not copied, nor are terms and submissions of a leaderboard
study: the new study has not begun, so that its settings, such as the panel, can still be changed. Models that
joined take part from the start, and withdrawn ones are left out. Whoever took part in one run is not admitted
to the next, as to any other study of the store (`task/eligibility.py`).
"""

import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.administration import intake_facts
from backend.administration.draft import Draft, Making
from backend.administration.publication import check_place, publish
from backend.administration.study_spec import StudySpec, check_name
from backend.experiment.judgments import judgment_of
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput, NotFound
from backend.foundation.timestamps import stamp
from backend.stimuli.medium import Intake
from backend.stores.datadir import DataDir
from backend.stores.store import Store, study_if_any
from backend.studies import lifecycle

_LONGEST_NAME = 60


def rerun(
    store: Store,
    data: DataDir,
    study: Study,
    name: str,
    now: datetime,
    progress: Callable[..., Iterable] | None = None,
    upload: Callable[[str, Path], Any] | None = None,
) -> Study:
    """Store a new study `name` like `study`, and return it.

    Args:
        upload: uploads the pictures (study, folder) to where browsers get them, if that is elsewhere.

    Raises:
        InvalidInput: an invalid name, or `study` is a qualification.
        Conflict: a study of that name exists, or is being made.
        NotFound: the pictures of `study` are not in the data directory.
    """
    check(store, study, name)
    source = data.images(study.name)
    if not source.is_dir():
        raise NotFound(
            f"the pictures of {study.name} are not in {data.root}; run this with the data directory in which "
            "it was made"
        )
    made = _draft(store, study, _again(study, name, stamp(now)))
    with data.making(name) as folder:
        making = Making(store, data, folder / "pictures", progress, None, upload)
        check_place(made, making)
        making.pictures.mkdir()
        files = sorted(source.iterdir())
        for file in progress(files, len(files), "pictures") if progress else files:
            shutil.copy2(file, making.pictures / file.name)
        return publish(made, making).study


def check(store: Store, study: Study, name: str) -> None:
    """Raise InvalidInput or Conflict if no study `name` like `study` can be made."""
    if study.kind == "qualification":
        raise InvalidInput(f"{study.name} is a qualification, which has no scores to compare; rerun a study")
    check_name(name)
    lifecycle.check_name(store, name)


def _draft(store: Store, study: Study, again: Study) -> Draft:
    """Return the new study with the pool, and the facts of the pictures' files, of the old one."""
    stimuli = tuple(each for each in store.stimuli(study.name) if each.model not in study.closed)
    spec = StudySpec(again.name, again.kind, study.protocol.method)
    intake = Intake(stimuli, study.classes, "", (), ())
    if not judgment_of(study.protocol.method).has_items:
        facts = intake_facts.read(store, study)
        spec, intake = replace(spec, preprocess=facts.preprocess), replace(intake, reals=facts.reals)
    return Draft(spec, again, intake)


def _again(study: Study, name: str, created_at: str) -> Study:
    return replace(
        study,
        name=name,
        models=tuple(model for model in study.models if model not in study.closed),
        created_at=created_at,
        version=1,
        settings_id=lifecycle.new_settings_id(),
        begun_at="",
        looks_digest="",
        looks_done=0,
        ended=(),
        ended_at=(),
        newcomer_looks=(),
        joined=(),
        joined_at=(),
        closed=(),
        notes=(*study.notes, f"runs the study {study.name} again, which was made at {study.created_at}"),
    )


def free_name(store: Store, name: str, ordered: Collection[str | None] = ()) -> str:
    """Return the name with the first number, from 2 on, that no study has, nor one that is `ordered`."""
    number = 2
    while (free := f"{name[:_LONGEST_NAME]}-{number}") in ordered or study_if_any(store, free):
        number += 1
    return free
