"""The sample studies: photographs from scikit-image, and textures that four models make from them.

`photos` is a HYPE-infinity study, `flashes` a HYPE-time study, `clips` a HYPE-infinity study of clips, which
come encoded (`demo_clips`). They are created once, at the first start of `openhype demo`, by the same
function as any study. `demo_making.py` runs this in a separate process.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.experiment.records import CLIPS, PICTURES
from backend.foundation.errors import Conflict
from backend.foundation.printable import printable
from backend.foundation.timestamps import utc_now
from backend.stores.datadir import DataDir
from backend.stores.store import Store
from backend.studies import lifecycle

_SEED = 2019
_CONSENT = """\
You will see photographs, and pictures that a computer made out of photographs: walls and gravel, fur and \
coins, tissue under a microscope, galaxies. Say of each picture which it is.

At the end you see how you did, beside those who played before and beside the published scores, and which \
pictures fooled you.

This is a sample study: nobody is paid, and your answers stay on the computer that runs it."""
_CONSENT_TO_CLIPS = """\
You will see short videos, one at a time: a camera that moves over photographs, and what computers make of \
that. Say of each which it is.

At the end you see how you did, beside those who played before, and which videos fooled you.

This is a sample study: nobody is paid, and your answers stay on the computer that runs it."""
_SETTINGS: Mapping[str, Any] = {
    "size_px": 256,
    "evaluators": 1000,
    "bonus_usd_cents": 0,
    "repeat_visits": True,
    "debrief": True,
    "panel": "link",
    "consent_text": _CONSENT,
}


@dataclass(frozen=True)
class Sample:
    """A sample study: its settings, and the number of pictures of each kind."""

    name: str
    method: str
    counts: Mapping[str | None, int]
    """By model; None for photographs."""
    settings: Mapping[str, Any]
    folder: Path | None = None
    """Where its clips are, in folders `real` and of the models; None for pictures, which are made."""

    @property
    def medium(self) -> str:
        return PICTURES if self.folder is None else CLIPS


SAMPLES = (
    Sample(
        "photos",
        "infinity",
        {None: 96, "portilla-simoncelli": 24, "quilting-40px": 24, "quilting-96px": 24},
        {**_SETTINGS, "title": "Real or computer-generated?", "images": 40, "minutes": 3},
    ),
    Sample(
        "flashes",
        "time",
        {None: 72, "random-phase": 30, "portilla-simoncelli": 30, "quilting-40px": 30},
        {
            **_SETTINGS,
            "title": "At a glance: real or computer-generated?",
            "images": 48,
            "blocks": 1,
            "spare_images": 12,
            # twice the steps of hype-2019, which converge to the same accuracy, for a third of its trials
            "staircase": "right_to_descend:3,down_ms:60,up_ms:20",
            "countdown_ms": 350,
            "masks": "phase",  # texture masks would take longer than everything else
            "minutes": 5,
        },
    ),
    Sample(
        "clips",
        "infinity",
        {None: 16, "shimmer": 8, "wobble": 8, "stutter": 8},
        {
            **_SETTINGS,
            "title": "Clips: filmed or generated?",
            "consent_text": _CONSENT_TO_CLIPS,
            "images": 16,
            "spare_images": 0,
            "minutes": 3,
        },
        Path(__file__).parent / "demo_clips",
    ),
)
EXAMPLES = (
    ("tissue", None),
    ("gravel", "portilla-simoncelli"),
    ("galaxies", "quilting-96px"),
    ("fur", None),
    ("brick", "quilting-40px"),
    ("coins", None),
)
"""Pictures of the start page (subject, model); they belong to no study."""
STAND_INS = {"real": None, "stylegan": "quilting-96px", "began": "random-phase"}
"""Folders of the README's example, and the kind of pictures that each gets; no picture is of the GANs."""

Report = Callable[[str, float], Any]
"""Called with the name of a sample study and its completed share, 0 to 1."""


def missing(store: Store, samples: Sequence[Sample] = SAMPLES) -> list[Sample]:
    """Return the sample studies that the store does not have, except those that were deleted."""
    existing = {study.name for study in store.studies(even_deleted=True)}
    return [sample for sample in wanted(store, samples) if sample.name not in existing]


def wanted(store: Store, samples: Sequence[Sample] = SAMPLES) -> list[Sample]:
    """Return the sample studies except those that were deleted after somebody had begun them."""
    return [sample for sample in samples if not lifecycle.was_deleted(store, sample.name)]


def example(data: DataDir, number: int) -> Path:
    """Return the path of an example, which may not exist yet."""
    return data.cache("demo") / "examples" / f"{number}.png"


def make_missing(store: Store, data: DataDir, report: Report, samples: Sequence[Sample] = SAMPLES) -> None:
    """Create the missing examples and sample studies.

    Pictures of an earlier, interrupted run are reused.
    """
    from backend.stimuli.demo_images import write_picture

    with data.locked("demo"):
        for number, (subject, model) in enumerate(EXAMPLES):
            path = example(data, number)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_picture(path, model, subject, (_SEED, 0, number))
        for number, sample in enumerate(samples, start=1):
            folder = data.cache("demo") / sample.name
            if missing(store, [sample]):
                _make(sample, _SEED + number, folder, store, data, report)
                report(sample.name, 1.0)
            shutil.rmtree(folder, ignore_errors=True)


def write_folders(out: Path, each: int, progress: Callable[..., Iterable] | None = None) -> list[Path]:
    """Write the folders of the README's example, all or none, and return them.

    Pictures of an earlier, interrupted run are reused.

    Args:
        each: number of pictures in each folder.
        progress: wraps an iterable: `progress(items, total, label)`.

    Raises:
        Conflict: there is something of that name.
    """
    from backend.stimuli.demo_images import write_pictures

    if out.exists():
        raise Conflict(f"{printable(out)} exists already; name another folder, or remove it")
    partial = out.absolute().with_name(f".{out.absolute().name}-partial")
    folders = write_pictures(partial, dict.fromkeys(STAND_INS.values(), each), _SEED, progress)
    for name, kind in STAND_INS.items():
        folders[kind].rename(partial / name)
    partial.rename(out)
    return [out / name for name in STAND_INS]


def _make(sample: Sample, seed: int, folder: Path, store: Store, data: DataDir, report: Report) -> None:
    from backend.stimuli.demo_images import write_pictures

    stages = _Stages(lambda share: report(sample.name, share))
    if sample.folder is None:
        folders = write_pictures(folder, sample.counts, seed, stages)
    else:
        folders = {model: sample.folder / (model or "real") for model in sample.counts}
    real = folders.pop(None)
    models = tuple((model, folders[model]) for model in sample.counts if model)
    spec = StudySpec(sample.name, "study", sample.method, real, models, sample.settings)
    create(store, data, spec, utc_now(), progress=stages)


class _Stages:
    """One completed share (0 to 1) over an unknown number of stages; the first takes most of the work.

    Called like a progress bar, `progress(items, total, label)`.
    """

    _FIRST = 0.8

    def __init__(self, tell: Callable[[float], Any]):
        self._tell = tell
        self._done, self._next = 0.0, self._FIRST

    def __call__(self, items: Iterable, total: int | None = None, label: str = "") -> Iterator:
        start, width = self._done, self._next
        for i, item in enumerate(items, start=1):
            yield item
            self._tell(start + width * min(i / (total or i), 1.0))
        self._done = start + width
        self._next = (1 - self._done) / 2
