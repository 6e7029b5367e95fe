"""All metrics of models against the reals, from the features of one extractor, as plain data.

A `run` has the identity of the extractor, the options, the sizes of samples, and for each model, and each
class where there are classes, what `set_distances.compare` returns. It is what `openhype metrics --json`
prints and what is kept with a study (`study_metrics.py`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.foundation.errors import InvalidInput
from backend.metrics.feature_cache import Shown
from backend.metrics.features import Extractor, Features, check_comparable
from backend.metrics.set_distances import Options, compare

CLUSTERED = ("f1_8", "f8")
"""Those without an interval over pictures."""
METRICS = ("frechet", "kid", "precision", "recall", "density", "coverage", *CLUSTERED)
SMALLER_IS_CLOSER = ("frechet", "kid")
_INCEPTION, _POOL3 = "torch-fidelity:inception-v3-compat", 2048
_NAMED = 5
_FEWEST = 2


def names_of(extractor: Extractor, dimensions: int) -> dict[str, str]:
    """Return what the metrics are called on these features.

    FID and KID (Frechet and kernel *Inception* distance) are distances of the features of one network, with
    its published weights; on any other features the same formulas are called what they are.
    """
    is_inception = extractor.name == _INCEPTION and dimensions == _POOL3
    frechet, kernel = ("FID", "KID") if is_inception else ("Frechet distance", "Kernel distance")
    return {
        "frechet": frechet,
        "kid": kernel,
        **{name: name.capitalize() for name in ("precision", "recall", "density", "coverage")},
        "f1_8": "F1/8",
        "f8": "F8",
    }


def measured(
    reals: Features,
    models: Mapping[str, Features],
    options: Options,
    about: str = "",
    progress: Callable[..., Iterable] | None = None,
) -> dict[str, Any]:
    """Return the run of one extractor: every model against the reals, over all classes and by class.

    Args:
        about: what the features are, in a sentence.
        progress: wraps an iterable: `progress(items, total, label)`.

    Raises:
        InvalidInput: features are of several extractors or widths, or of too few pictures.
    """
    for fakes in models.values():
        check_comparable(reals, fakes)
    for side in (reals, *models.values()):
        if len(side) < _FEWEST:
            raise InvalidInput(
                f"{side.source} has {counted(len(side), 'picture')}; distances need at least {_FEWEST} on "
                "each side"
            )
    more = {} if progress is None else {"progress": progress}
    extractor, dimensions = reals.extractor, reals.values.shape[1]
    names = names_of(extractor, dimensions)
    rows = [
        {"model": name, **compare(reals.values, fakes.values, options, **more)}
        for name, fakes in models.items()
    ]
    return {
        "extractor": {
            "name": extractor.name,
            "hash": extractor.hash,
            "short_hash": extractor.short_hash,
            "size": extractor.size,
            "about": about,
        },
        "names": names,
        "dimensions": dimensions,
        "options": asdict(options),
        "reals": len(reals),
        "models": rows,
        "classes": [
            {"class": class_, "models": rows}
            for class_ in _classes(reals, models)
            if (rows := _of_class(class_, reals, models, options, more))
        ],
        "notes": [*_class_notes(reals, models), *below_zero(rows, names["kid"])],
    }


def below_zero(rows: Iterable[Mapping[str, Any]], name: str) -> Iterator[str]:
    """Yield why an interval of the kernel distance begins at the estimate itself (`kernel_distance`).

    Args:
        name: what the kernel distance is called.
    """
    for row in rows:
        if row["kid"]["ci"] and row["kid"]["ci"][0] == row["kid"]["value"] < 0:
            yield (
                f"{name} of {row['model']}: the estimate is below 0 by chance, which no distance is, so that "
                "its interval begins at the estimate; its upper end says how large the distance may be"
            )


def picture_notes(shown: Mapping[str | None, Sequence[Shown]]) -> Iterator[str]:
    """Yield notes on pictures that are several times on one side, or on a model's side and among the reals.

    Args:
        shown: what the files of each side show, by model; None for the reals.
    """
    for model, pictures in shown.items():
        repeated = sum(count - 1 for count in Counter(each.key for each in pictures).values())
        if repeated:
            yield (
                f"{counted(repeated, 'picture')} of {_side(model)} repeat{'s' if repeated == 1 else ''} "
                "another "
                "one pixel by pixel; each counts"
            )
    reals = {each.key for each in shown.get(None, ())}
    for model, pictures in shown.items():
        copies = sum(each.key in reals for each in pictures) if model is not None else 0
        if copies:
            yield (
                f"{counted(copies, 'picture')} of {_side(model)} equal{'s' if copies == 1 else ''} a "
                "real pixel by "
                "pixel"
            )


def sizes_of(shown: Iterable[Shown]) -> str:
    """Return the sizes of pictures as text: `256 x 256 px`, or `64 x 64 to 512 x 512 px`."""
    sizes = sorted({(each.width * each.height, each.width, each.height) for each in shown})
    if not sizes:
        return ""
    (_, *least), (_, *most) = sizes[0], sizes[-1]
    ends = [f"{width} x {height}" for width, height in (least, most)]
    return f"{ends[0]} px" if len(sizes) == 1 else f"{ends[0]} to {ends[1]} px"


def values_of(run: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the values over all classes, by metric and then by model, as a correlation takes them."""
    name, numbers = run["extractor"]["name"].removeprefix("torch-fidelity:"), {}
    for metric in METRICS:
        label = f"{run['names'][metric]} ({name})"
        values = {row["model"]: row[metric]["value"] for row in run["models"]}
        numbers[label] = {model: value for model, value in values.items() if value is not None}
    beyond = {row["model"]: row["frechet"].get("extrapolated") for row in run["models"]}
    numbers[f"{run['names']['frechet']} ({name}, extrapolated)"] = {
        model: each["value"] for model, each in beyond.items() if each and each.get("value") is not None
    }
    return {label: values for label, values in numbers.items() if values}


def _classes(reals: Features, models: Mapping[str, Features]) -> list[str]:
    sides = [reals, *models.values()]
    if not all(side.classes for side in sides):
        return []
    return sorted({name for side in sides for name in side.classes} - {""})


def _of_class(
    class_: str, reals: Features, models: Mapping[str, Features], options: Options, more: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the metrics of the models that have pictures of a class, as the reals do."""
    ours = reals.of_class(class_)
    rows = []
    for name, fakes in models.items():
        theirs = fakes.of_class(class_)
        if ours and theirs and min(len(ours), len(theirs)) >= _FEWEST:
            rows.append({"model": name, **compare(ours.values, theirs.values, options, **more)})
    return rows


def _class_notes(reals: Features, models: Mapping[str, Features]) -> Iterator[str]:
    """Yield notes on classes that some side lacks."""
    if not reals.classes and not any(fakes.classes for fakes in models.values()):
        return
    ours = Counter(reals.classes)
    for name, fakes in models.items():
        theirs = Counter(fakes.classes)
        apart = sorted({*ours} ^ {*theirs})
        if apart:
            yield (
                f"model {name} and the reals have different classes ({_listed(apart)}); "
                "metrics by class are of those that both have"
            )
        small = sorted(
            each for each in ({*ours} & {*theirs}) - {""} if min(ours[each], theirs[each]) < _FEWEST
        )
        if small:
            yield (
                f"model {name} or the reals have fewer than {_FEWEST} pictures of some classes "
                f"({_listed(small)}); no metrics are given for these"
            )


def _listed(classes: Sequence[str]) -> str:
    return f"{', '.join(classes[:_NAMED])}{' …' if len(classes) > _NAMED else ''}"


def _side(model: str | None) -> str:
    return "the reals" if model is None else f"model {model}"
