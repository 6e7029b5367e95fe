"""Metrics kept with a study, in `metrics/STUDY.json` of the data directory: the runs of
`set_metrics.measured`.

A file is replaced as a whole. It counts only for the study that it was made for: one that was created later
under the name has none, and of models that joined since nothing is said. A file that cannot be read counts
as none, as `openhype metrics STUDY` makes it anew.
"""

import hashlib
import json
import os
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from backend import __version__
from backend.experiment.records import Study
from backend.foundation.file_permissions import make_folder, private
from backend.foundation.timestamps import stamp
from backend.stores.datadir import DataDir

if TYPE_CHECKING:
    from backend.metrics.picture_sets import PictureSet

_FORM = 1


class _Value(msgspec.Struct):
    value: float | None
    ci: tuple[float, float] | None = None


class _Frechet(_Value):
    extrapolated: _Value | None = None


class _Row(msgspec.Struct):
    model: str
    reals: int
    fakes: int
    frechet: _Frechet
    kid: _Value
    precision: _Value
    recall: _Value
    density: _Value
    coverage: _Value


class _Class(msgspec.Struct):
    class_: str = msgspec.field(name="class")
    models: list[_Row]


class _Run(msgspec.Struct):
    """The parts of a run that readers rely on."""

    extractor: dict[str, str]
    names: dict[str, str]
    options: dict[str, Any]
    dimensions: int
    reals: int
    models: list[_Row]
    classes: list[_Class]
    notes: list[str]
    pictures: dict[str, str]
    picture_px: str
    computed_at: str


def stored_runs(data: DataDir, study: Study) -> list[dict[str, Any]]:
    """Return the kept runs of a study, one for each extractor, with the models that the study has."""
    try:
        stored = msgspec.json.decode(data.metrics(study.name).read_bytes())
        is_ours = stored["form"] == _FORM and stored["created_at"] == study.created_at
        runs = stored["runs"] if is_ours else []
        msgspec.convert(runs, list[_Run])
    except (OSError, msgspec.MsgspecError, KeyError, TypeError, ValueError):
        return []
    return [_of_models(run, study.models) for run in runs]


def stored_metrics(data: DataDir, study: Study) -> dict[str, dict[str, float]]:
    """Return the kept values of a study, by metric and then by model, as `FindingsOptions` takes them."""
    return metrics_of(stored_runs(data, study))


def metrics_of(runs: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the values of runs, by metric and then by model; extractors of one name are told apart."""
    from backend.metrics.set_metrics import values_of

    names = Counter(run["extractor"]["name"] for run in runs)
    by_metric: dict[str, dict[str, float]] = {}
    for run in runs:
        extractor = run["extractor"]
        if names[extractor["name"]] > 1:
            extractor = {**extractor, "name": f"{extractor['name']} {extractor['short_hash']}"}
        by_metric.update(values_of({**run, "extractor": extractor}))
    return by_metric


def version(data: DataDir, study: str) -> str:
    """Return a text that changes whenever the kept metrics of a study do; '' if there are none."""
    try:
        return hashlib.blake2b(data.metrics(study).read_bytes(), digest_size=8).hexdigest()
    except OSError:
        return ""


def keep(
    data: DataDir,
    study: Study,
    runs: Sequence[Mapping[str, Any]],
    sets: "Sequence[PictureSet]",
    now: datetime,
) -> list[dict[str, Any]]:
    """Store runs of a study beside those of other extractors; return all that are kept now.

    Kept runs of the same extractor are replaced, and what was computed from other pictures is dropped.

    Args:
        runs: with `picture_px`, the sizes of the pictures.
        sets: the pictures of the reals and of each model now.
    """
    pictures = {("real" if each.model is None else f"model {each.model}"): _digest(each) for each in sets}
    made = [{**run, "pictures": pictures, "computed_at": stamp(now), "openhype": __version__} for run in runs]
    with data.locked("metrics"):
        hashes = {run["extractor"]["hash"] for run in made}
        others = [
            run
            for run in stored_runs(data, study)
            if run["extractor"]["hash"] not in hashes and run["pictures"] == pictures
        ]
        all_runs = [*others, *made]
        kept = {"form": _FORM, "study": study.name, "created_at": study.created_at, "runs": all_runs}
        _replace(data, study.name, json.dumps(kept, allow_nan=False))
    return all_runs


def remove(data: DataDir, study: str) -> None:
    """Remove the kept metrics of a study, if there are any."""
    with suppress(FileNotFoundError, NotADirectoryError):
        data.metrics(study).unlink()


def _of_models(run: Mapping[str, Any], models: Sequence[str]) -> dict[str, Any]:
    def among(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [row for row in rows if row["model"] in models]

    return {
        **run,
        "models": among(run["models"]),
        "classes": [{**each, "models": among(each["models"])} for each in run["classes"]],
    }


def _digest(pictures: "PictureSet") -> str:
    """Return a hash of the names of pictures, which are keyed hashes of what they show."""
    names = "\n".join(sorted(path.name for path in pictures.paths))
    return hashlib.blake2b(names.encode(), digest_size=16).hexdigest()


def _replace(data: DataDir, study: str, text: str) -> None:
    path = data.metrics(study)
    make_folder(path.parent)
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        with open(partial, "x", encoding="utf-8", opener=private) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
