"""The sets of pictures that metrics compare: the reals and each model's, of a study or in folders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.records import PICTURES, REAL, Stimulus, Study
from backend.foundation.counted_nouns import counted
from backend.foundation.errors import Conflict, InvalidInput
from backend.stimuli import refusals
from backend.stimuli.folders import Source, scan
from backend.stores.datadir import DataDir
from backend.stores.store import Store


@dataclass(frozen=True)
class PictureSet:
    """The pictures of one side."""

    model: str | None
    """None for the reals."""
    paths: tuple[Path, ...]
    classes: tuple[str, ...]
    """The class of each picture; () if there are none."""
    source: str
    """For messages."""


def study_sets(store: Store, data: DataDir, study: Study) -> list[PictureSet]:
    """Return the pictures that evaluators of a study judge, the reals first; none of practice and checks.

    Raises:
        InvalidInput: the study has items, clips, or no reals.
        Conflict: pictures are not in this data directory.
    """
    method = study.protocol.method
    if judgment_of(method).has_items:
        raise InvalidInput(
            f"study {study.name} is {method_named(method).title}: its pictures are pairs or triplets, "
            "not the "
            f"reals and fakes of models; compare distances of its pictures with people's answers: "
            f"`openhype distances {study.name}`, `openhype agree {study.name}`"
        )
    if study.medium != PICTURES:
        raise InvalidInput(
            f"metrics are of pictures, and study {study.name} shows {study.medium}s; give frames of them as "
            "folders: openhype metrics --real DIR --model NAME=DIR"
        )
    pool = [stimulus for stimulus in store.stimuli(study.name) if not stimulus.role]
    reals = [stimulus for stimulus in pool if stimulus.truth == REAL]
    if not reals:
        raise InvalidInput(
            f"study {study.name} ({method_named(method).title}) has no reals to compare its models "
            "with; give "
            "them as folders: openhype metrics --real DIR --model NAME=DIR"
        )
    _check_there(study.name, data.images(study.name), pool)
    sides = [
        (None, reals),
        *((model, [each for each in pool if each.model == model]) for model in study.models),
    ]
    return [_set_of(study, data, model, stimuli) for model, stimuli in sides]


def folder_sets(folders: Mapping[str | None, Path]) -> list[PictureSet]:
    """Return the pictures in folders, by model (None for the reals); sub-folders are classes.

    Raises:
        Refused: names all folders and files that are not as expected.
    """
    models = {model: folder for model, folder in folders.items() if model is not None}
    if None in folders:
        scanned = [scan(folders[None], models)]
    else:  # the reals are a file of features
        scanned = [scan(folder, {}, f"model {model}") for model, folder in models.items()]
    of_folders = [finding for each in scanned for finding in each.of_folders]
    refusals.check(of_folders, [finding for each in scanned for finding in each.of_files], "")
    sources: dict[str | None, Sequence[Source]]
    if None in folders:
        sources = {model: [each for each in scanned[0].sources if each.model == model] for model in folders}
    else:
        sources = {model: each.sources for model, each in zip(models, scanned, strict=True)}
    return [
        PictureSet(
            model,
            tuple(source.path for source in sources[model]),
            tuple(source.class_ for source in sources[model])
            if any(s.class_ for s in sources[model])
            else (),
            str(folder),
        )
        for model, folder in folders.items()
    ]


def _set_of(study: Study, data: DataDir, model: str | None, stimuli: Sequence[Stimulus]) -> PictureSet:
    folder = data.images(study.name)
    return PictureSet(
        model,
        tuple(folder / stimulus.name for stimulus in stimuli),
        tuple(stimulus.class_ for stimulus in stimuli) if study.classes else (),
        "the reals" if model is None else f"model {model}",
    )


def _check_there(study: str, folder: Path, pool: Sequence[Stimulus]) -> None:
    """Raise Conflict unless all pictures are in the folder."""
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    missing = sum(stimulus.name not in there for stimulus in pool)
    if missing:
        raise Conflict(
            f"{missing:,} of {counted(len(pool), 'picture')} of study {study} are not in {folder}; use "
            "the data "
            "directory that the study was made in (--data DIR), restore its backup, or copy the "
            "pictures from "
            "their bucket into that folder"
        )
