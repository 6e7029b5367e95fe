"""A model that joins a running tournament: its pictures are taken in like those of the others, all or none.

Evaluators answer meanwhile. Files with new names come first, then pool and record change in one conditional
write, so that a session is planned from all models or from those before; sessions under way stay as they are.
Sessions of all models together are a condition of their own, of which `evaluators` finished sessions are
wanted, as of any; those of before remain and are scored with them.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.administration.study_spec import check_models
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.records import FAKE, Stimulus, Study
from backend.experiment.sampling import pool_of
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.names import clean
from backend.foundation.printable import printable
from backend.foundation.timestamps import stamp
from backend.stimuli.media import MEDIA
from backend.stimuli.medium import Refused
from backend.stores.datadir import DataDir
from backend.stores.store import Store
from backend.stores.updates import retried
from backend.studies.tournament_counts import is_counted

_NAMED = 3


@dataclass(frozen=True)
class Newcomer:
    """A model that is to join, and how its pictures are taken in."""

    model: str
    folder: Path
    equalise: tuple[str, ...] = ()
    skip_bad: bool = False
    strict: bool = False


def join(
    store: Store,
    data: DataDir,
    name: str,
    newcomer: Newcomer,
    now: datetime,
    progress: Callable[..., Iterable] | None = None,
    publish: Callable[[str, Path], Any] | None = None,
    say: Callable[[str], Any] | None = None,
) -> Study:
    """Add a model to the tournament `name` and return the study as stored.

    Args:
        publish: uploads the images (study, folder) to where browsers get them, if that is elsewhere.

    Raises:
        NotFound: there is no such study.
        InvalidInput: the study is no tournament, the model cannot be called so, or its pictures do not fit.
        Conflict: the study's pictures are not in this data directory, or it is being changed.
    """
    model = clean(newcomer.model)
    study = store.study(name)
    _check(study, model)
    there = data.images(name)
    if not there.is_dir():
        raise Conflict(
            f"the pictures of {name} are not in {there}; let the model join from the data directory that the "
            "study was made in (--data DIR)"
        )
    with data.making(name) as folder:
        new = folder / "pictures"
        stimuli, notes = _taken_in(study, store, replace(newcomer, model=model), new, progress, say)
        _check_new(study, store, there, new, stimuli, progress)
        _make_as_long(there, new)
        added = [there / stimulus.name for stimulus in stimuli]
        try:
            for path in added:
                os.replace(new / path.name, path)
            if publish is not None:
                publish(name, there)
            note = f"{model} joined on {stamp(now)[:10]}"
            return _grown(store, study, model, stimuli, (note, *(f"{model}: {each}" for each in notes)))
        except BaseException:
            if model not in _models_now(store, study):
                for path in added:
                    path.unlink(missing_ok=True)
            raise


def _check(study: Study, model: str) -> None:
    """Raise InvalidInput unless a model of this name can join the study."""
    if not is_counted(study):
        title = method_named(study.protocol.method).title
        raise InvalidInput(
            f"models can join a tournament, and {study.name} is {title}, whose evaluators judge the models "
            "that it was made with; make another study"
        )
    check_models([*study.models, model])


def _taken_in(
    study: Study, store: Store, newcomer: Newcomer, out: Path, progress: Any, say: Any
) -> tuple[tuple[Stimulus, ...], Sequence[str]]:
    """Return the pictures of a model, made like those of its study, and notes about them."""
    judgment, shown = judgment_of(study.protocol.method), study.protocol.stimuli
    model = newcomer.model
    grown = replace(study, models=(*study.models, model))

    def lacking(stimuli: Sequence[Stimulus], classes: Sequence[str]) -> str:
        if tuple(classes) != study.classes:
            return (
                f"model {model} has {_classes(classes)}, and study {study.name} has "
                f"{_classes(study.classes)}; give it the same sub-folders"
            )
        return judgment.lack(grown, pool_of([*store.stimuli(study.name), *_of(model, stimuli)]))

    try:
        intake = MEDIA[judgment.medium].ingest(
            newcomer.folder,
            {},
            out,
            size_px=shown.size_px,
            image_format=shown.image_format,
            equalise=newcomer.equalise,
            skip_bad=newcomer.skip_bad,
            strict=newcomer.strict,
            lacking=lacking,
            progress=progress,
            say=say,
        )
    except Refused as refused:
        raise InvalidInput(str(refused).replace("the reals", f"model {model}")) from None
    return tuple(_of(model, intake.stimuli)), intake.notes


def _of(model: str, stimuli: Iterable[Stimulus]) -> list[Stimulus]:
    return [replace(stimulus, truth=FAKE, model=model) for stimulus in stimuli]


def _classes(classes: Sequence[str]) -> str:
    return f"the classes {', '.join(classes)}" if classes else "no classes"


def _check_new(
    study: Study, store: Store, there: Path, new: Path, stimuli: Sequence[Stimulus], progress: Any
) -> None:
    """Raise InvalidInput if a picture shows the same as one that the study has.

    Their names say nothing of it, since they are made with another key.
    """
    known = {_pixels(new / stimulus.name): stimulus for stimulus in stimuli}
    names = [*store.stimuli(study.name)]
    same = [
        (known[pixels], old)
        for old in (progress(names, len(names), "comparing") if progress else names)
        if (pixels := _pixels(there / old.name)) in known
    ]
    if not same:
        return
    shown = "; ".join(
        f"{printable(mine.source)} shows the same picture as {printable(old.source)} of "
        f"{old.model or 'the reals'}"
        for mine, old in same[:_NAMED]
    )
    more = f"; and {len(same) - _NAMED} more" if len(same) > _NAMED else ""
    raise InvalidInput(f"{len(same)} of the new pictures are in study {study.name} already: {shown}{more}")


def _pixels(path: Path) -> bytes:
    """Return a hash of what a file shows, whatever it is padded with."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            shown = picture.convert("RGB")
            return hashlib.blake2b(shown.tobytes(), digest_size=16).digest()
    except FileNotFoundError:
        raise Conflict(
            f"the picture {path.name} is missing in {path.parent}; restore it from a backup first"
        ) from None


def _make_as_long(there: Path, new: Path) -> None:
    """Bring the files of two folders to one length, so that it tells none from another.

    Those that are served already are replaced one by one, in one step each.
    """
    from backend.stimuli.file_metadata import make_uniform

    old, mine = ([*folder.iterdir()] for folder in (there, new))
    sizes = [{path.stat().st_size for path in paths} for paths in (old, mine)]
    if sizes[0] == sizes[1] and len(sizes[0]) == 1:
        return
    copies = new.parent / "again"
    shutil.copytree(there, copies)
    make_uniform([*copies.iterdir(), *mine])
    for path in old:
        os.replace(copies / path.name, path)


def _grown(
    store: Store, study: Study, model: str, stimuli: Sequence[Stimulus], notes: Sequence[str]
) -> Study:
    """Store a study with its new model, whatever else in its record changed meanwhile."""

    def change() -> Study:
        now = store.study(study.name)
        if (now.created_at, now.models) != (study.created_at, study.models):
            raise Conflict(f"study {study.name} was changed meanwhile; nothing was added, try again")
        after = replace(
            now,
            models=(*now.models, model),
            joined=(*now.joined, len(now.models)),
            notes=(*now.notes, *notes),
            version=now.version + 1,
        )
        store.add_stimuli(after, stimuli)
        return after

    return retried(change, f"study {study.name} is being changed from several places at once")


def _models_now(store: Store, study: Study) -> Mapping[str, None]:
    try:
        now = store.study(study.name)
    except NotFound:
        return {}
    return dict.fromkeys(now.models if now.created_at == study.created_at else ())
