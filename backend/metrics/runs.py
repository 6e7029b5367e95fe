"""Runs of metrics: from a study, folders or files of features to plain data, one run for each extractor."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend.experiment.judgments import judgment_of
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.metrics.extractors import DEFAULT, extractor_named
from backend.metrics.extractors.feature_extractor import FeatureExtractor
from backend.metrics.feature_files import read_features, write_features
from backend.metrics.features import Extractor, Features
from backend.metrics.picture_features import features_of
from backend.metrics.picture_sets import PictureSet, folder_sets, study_sets
from backend.metrics.set_distances import Options
from backend.metrics.set_metrics import measured, picture_notes, sizes_of
from backend.stimuli.refusals import left_out_notes
from backend.stores.datadir import DataDir
from backend.stores.store import Store

FEATURES = ".npz"
Side = str | None
"""A model; None for the reals."""


@dataclass(frozen=True)
class Plan:
    """How metrics are computed."""

    cache: Path
    """Folder of the cache of features."""
    options: Options = field(default_factory=Options)
    extractors: Sequence[str] = ()
    """Names; () for the default."""
    weights: Sequence[Path] = ()
    """Files, for those extractors that need one, in their order."""
    skip_bad: bool = False
    """Whether to leave out files that cannot be read as pictures."""
    save_to: Path | None = None
    """Folder into which features are also written."""
    progress: Callable[..., Iterable] | None = None
    """Wraps an iterable: `progress(items, total, label)`."""
    say: Callable[[str], Any] = print
    """Called with remarks while it runs."""


def study_runs(
    plan: Plan, store: Store, data: DataDir, study: Study
) -> tuple[list[dict[str, Any]], list[PictureSet]]:
    """Return the runs over the pictures that evaluators of a study judge, and these pictures.

    Raises:
        InvalidInput, Conflict, NotInstalled: as in `study_sets`, `extractor_named` and `features_of`.
    """
    extractors = _opened(plan)
    sets = study_sets(store, data, study)
    are_reals_judged = judgment_of(study.protocol.method).judges_reals(study.protocol)
    notes = () if are_reals_judged else ("the reals took no part in this tournament: nobody judged them",)
    return [_run(plan, extractor, sets, {}, notes) for extractor in extractors], sets


def folder_runs(plan: Plan, places: Mapping[Side, Path], extractor_name: str = "") -> list[dict[str, Any]]:
    """Return the runs over folders of pictures, or files of features.

    Args:
        places: the folder or file of each side.
        extractor_name: what to call the extractor of files that do not say.

    Raises:
        InvalidInput, NotFound, NotInstalled: as in `folder_sets`, `read_features`, `extractor_named` and
            `features_of`; or options do not fit what is given.
    """
    files = {side: place for side, place in places.items() if place.suffix == FEATURES or place.is_file()}
    folders = {side: place for side, place in places.items() if side not in files}
    if extractor_name and not files:
        raise InvalidInput("--extractor-name is for files of features, and folders are given")
    if (plan.extractors or plan.weights) and not folders:
        raise InvalidInput(
            "--extractor and --weights are for folders; files of features were extracted already"
        )
    if folders and files and len(plan.extractors) > 1:
        raise InvalidInput(
            "files of features are of one extractor; with them give --extractor once, or never"
        )
    read = {side: read_features(place, extractor_name) for side, place in files.items()}
    if not folders:
        return [_measured(plan, {side: read[side] for side in places}, "")]
    extractors = _opened(plan)
    sets = folder_sets(folders)
    return [_run(plan, extractor, sets, read, ()) for extractor in extractors]


def _opened(plan: Plan) -> list[FeatureExtractor]:
    """Return the extractors that are asked for; those whose names have a kind get the weights, in order."""
    names, weights = plan.extractors or (DEFAULT,), list(plan.weights)
    opened = [extractor_named(name, weights.pop(0) if ":" in name and weights else None) for name in names]
    if weights:
        raise InvalidInput(
            f"no extractor is left that takes the weights {weights[0]}; name it with --extractor"
        )
    hashes = [each.identity.hash for each in opened]
    for each in opened:
        if hashes.count(each.identity.hash) > 1:
            raise InvalidInput(f"the extractor {each.identity.name} is named twice")
    return opened


def _run(
    plan: Plan,
    extractor: FeatureExtractor,
    sets: Sequence[PictureSet],
    read: Mapping[Side, Features],
    notes: Sequence[str],
) -> dict[str, Any]:
    """Return the run of one extractor over sets of pictures, and over sides whose features are read."""
    for side in read.values():  # before the work is done
        if side.extractor.hash != extractor.identity.hash:
            raise InvalidInput(
                f"{side.source} has features of {side.extractor.name} ({side.extractor.short_hash}), and "
                f"folders are extracted with {extractor.identity.name} ({extractor.identity.short_hash}); "
                "give all sides as files, or all as folders"
            )
    paths = [path for each in sets for path in each.paths]
    extraction = features_of(paths, extractor, plan.cache, plan.progress, plan.say, skip_bad=plan.skip_bad)
    known = len(extraction.paths) - extraction.extracted + len(extraction.left_out)
    plan.say(
        f"{extractor.identity.name}: {len(extraction.paths):,} pictures, features of {known:,} kept from "
        "before"
    )
    features, shown, start, used = dict(read), {}, 0, set(extraction.paths)
    for each in sets:
        kept = [i for i, path in enumerate(each.paths) if path in used]
        rows = slice(start, start := start + len(kept))
        if not kept:
            raise InvalidInput(f"{each.source} has no picture that can be read")
        classes = tuple(each.classes[i] for i in kept) if each.classes else ()
        features[each.model] = Features(extraction.values[rows], extractor.identity, classes, each.source)
        shown[each.model] = extraction.shown[rows]
    run = _measured(plan, features, extractor.about)
    more = [*notes, *picture_notes(shown), *left_out_notes((), (), extraction.left_out)]
    return {**run, "picture_px": sizes_of(extraction.shown), "notes": [*more, *run["notes"]]}


def _measured(plan: Plan, features: Mapping[Side, Features], about: str) -> dict[str, Any]:
    if plan.save_to is not None:
        _save(plan, plan.save_to, features)
    models = {side: each for side, each in features.items() if side is not None}
    return {"picture_px": "", **measured(features[None], models, plan.options, about, plan.progress)}


def _save(plan: Plan, save_to: Path, features: Mapping[Side, Features]) -> None:
    """Write the features of each side into a file that is named after extractor and side."""
    for side, each in features.items():
        folder = save_to / _folder_name(each.extractor)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{'real' if side is None else f'model-{side}'}{FEATURES}"
        write_features(path, each)
        plan.say(str(path))


def _folder_name(extractor: Extractor) -> str:
    """Return a name for a folder, by name and hash, that leads nowhere else whatever a file says."""
    return f"{re.sub(r'[^A-Za-z0-9._+-]+', '-', extractor.name).lstrip('.-')}-{extractor.short_hash}".lstrip(
        "-"
    )
