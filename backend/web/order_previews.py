"""Previews of orders: the study that an order would make, of fewer pictures.

It is made in the preview's own store and folder, by a process of its own, since evaluators' requests would
wait for the work. Flashes have the quick kind of masks, as textures take minutes.
"""

import dataclasses
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path

from backend.administration.create import create
from backend.administration.study_spec import StudySpec, base_protocol
from backend.experiment.records import CLIPS
from backend.experiment.settings import new_protocol
from backend.foundation.errors import InvalidInput, Keys, NotFound, OpenhypeError
from backend.jobs.study_orders import StudyOrder, in_words_of_order
from backend.stores.datadir import DataDir
from backend.stores.sqlite import SqliteStore
from backend.uploads.pixel_limits import check_pixels
from backend.uploads.unpacking import unpack_upload
from backend.web.context import Context
from backend.web.previews import Preview, without_panel

_QUICK_MASKS = "phase"
_SPARE, _SPARE_CLIPS = 100, 4
"""Pictures, or clips, of a folder that are used besides two sessions'; clips take a second each."""


def make(preview: Preview, context: Context, ordered: StudyOrder) -> None:
    """Make the study of an order in a preview.

    Raises:
        InvalidInput: what the making of the study would refuse, in the words of orders.
        NotFound: an upload is no longer there.
    """
    root = preview.data.root
    pictures = root / "pictures"
    name = ordered.spec(pictures).settings.get("qualification")
    with suppress(NotFound):  # which the making of the study refuses
        if name:
            preview.add(context.store, context.data, context.store.study(name))
    for folder, upload in ordered.uploads.items():
        unpack_upload(context.uploads, upload, pictures / folder)
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        refusal = process.submit(_make, root, ordered, context.clock()).result()
    shutil.rmtree(pictures)
    if refusal:
        message, keys = refusal
        raise InvalidInput(in_words_of_order(message, pictures), keys=keys)


def _make(root: Path, ordered: StudyOrder, now: datetime) -> tuple[str, Keys] | None:
    """Make the study in a store of a preview; return why it cannot be made, and which entry that is about."""
    if hasattr(os, "sched_setaffinity"):  # the server keeps to one core
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    store = SqliteStore(root / "openhype.db")
    try:
        spec = _quick(ordered.spec(root / "pictures"))
        check_pixels(root / "pictures")
        study = create(store, DataDir(root), spec, now)
        store.change_study(dataclasses.replace(without_panel(study), version=study.version + 1))
    except OpenhypeError as error:
        return str(error), error.keys
    finally:
        store.close()
    return None


def _quick(spec: StudySpec) -> StudySpec:
    """Return a specification that takes little time to make; pictures that it does not need are removed."""
    from backend.stimuli.clips.detection import medium_of

    protocol = new_protocol(base_protocol(spec.kind, spec.method), spec.kind, spec.settings)
    sides = [one for one in (spec.real, *(folder for _, folder in spec.models)) if one is not None]
    spare = _SPARE_CLIPS if medium_of(sides) == CLIPS else _SPARE
    for folder in sides:
        _keep_first(folder, 2 * protocol.stimuli.trials + spare)
    if not protocol.has_flashes or spec.masks is not None:
        return spec
    return dataclasses.replace(spec, settings={**spec.settings, "masks": _QUICK_MASKS})


def _keep_first(folder: Path, count: int) -> None:
    """Remove all but the first files of a folder and of each folder in it."""
    for each in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        for path in sorted(path for path in each.iterdir() if path.is_file())[count:]:
            path.unlink()
