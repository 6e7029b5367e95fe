"""Creation of a study from folders of images: a complete stored study, or nothing at all.

Images are prepared in a separate folder and moved into place on success; the study is stored last, so
that a stored study always has its images.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.administration import catalogues, draft, publication
from backend.administration.draft import Draft, Making
from backend.administration.spec_checks import check, with_clean_names
from backend.administration.study_spec import BY_OPTIONS, StudySpec, check_sources
from backend.experiment.records import Study
from backend.foundation.errors import FULL, StoreFailed
from backend.foundation.file_permissions import private
from backend.foundation.timestamps import stamp
from backend.stimuli.medium import Refused
from backend.stores.datadir import DataDir
from backend.stores.store import Store


def create(
    store: Store,
    data: DataDir,
    spec: StudySpec,
    now: datetime,
    progress: Any = None,
    publish: Callable[[str, Path], Any] | None = None,
    say: Callable[[str], Any] | None = None,
) -> Study:
    """Create the study described by `spec` and return it as stored.

    Args:
        publish: uploads the images (study, folder) to where browsers get them, if that is elsewhere.
        say: called with a message before each long task.

    Raises:
        InvalidInput: an invalid name, setting, folder or file; nothing is left behind.
        Conflict: a study of that name exists, or is being created.
        StoreFailed: the disk is full; nothing is left behind.
    """
    check_sources(spec.method, spec.real is not None, bool(spec.items), BY_OPTIONS)
    spec, renamed = with_clean_names(spec)
    made = Draft.of(spec, check(store, spec), stamp(now), renamed)
    if say:
        for note in catalogues.untranslated(made.study.protocol):
            say(f"note: {note}")
    with _full_disk_reported(data, spec.name), data.making(spec.name) as folder:
        making = Making(store, data, folder / "pictures", progress, say, publish)
        for step in STEPS:
            made = step(made, making)
    return made.study


def _take_in(made: Draft, making: Making) -> Draft:
    """Take in the pictures; files too many for a message, refused or left out, are listed in a file."""
    data, study = making.data, made.study.name
    try:
        made = draft.take_in(made, making)
    except Refused as refused:
        where = _listed(data, study, refused.everything)
        message = f"{refused}{f'; all are listed in {where}' if where else ''}"
        raise Refused(message, refused.everything, refused.keys, refused.also) from None
    if making.say and (where := _listed(data, study, made.intake.left_out_untold)):
        making.say(f"all files that were left out are listed in {where}")
    return made


STEPS: Sequence[Callable[[Draft, Making], Draft]] = (
    publication.check_place,
    draft.check_masks,
    _take_in,
    draft.match_sources,
    draft.set_aside,
    draft.fit_to_pool,
    draft.add_masks,
    draft.note_flashes,
    draft.word_notes,
    publication.publish,
)
"""How a study is made once its settings are checked."""


@contextmanager
def _full_disk_reported(data: DataDir, study: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise StoreFailed(
            f"the disk of {data.root} is full; nothing of the study {study} was left there; free some "
            "space, or choose another data directory with --data DIR"
        ) from None


def _listed(data: DataDir, study: str, lines: Sequence[str]) -> Path | None:
    """Write a list too long for a message to the data directory and return its file, or None."""
    if not lines:
        return None
    path = data.root / f"{study}-files.txt"
    try:
        with open(path, "w", encoding="utf-8", opener=private) as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError:  # a full disk must not hide the message itself
        return None
    return path
