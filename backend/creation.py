"""Making a study: folders of pictures in, a stored study out, or nothing at all.

Pictures are made in a folder of their own and moved into place when all is well; the study is
stored last, so that a name in the store always has its pictures.
"""

import dataclasses
import re
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import backend.panels.record as panels
from backend import protocol as protocols
from backend import sampling
from backend.analysis.names import clean
from backend.datadir import DataDir
from backend.errors import Conflict, InvalidInput, NotFound
from backend.panels.record import PanelRecord
from backend.panels.signed import check_installed
from backend.records import Study
from backend.stamps import stamp
from backend.stores import Store

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,99}")
_MASKS = 64
"""Masks made for a study: enough that four a trial never become familiar, few enough to load fast."""


@dataclass(frozen=True)
class Order:
    """A study as a researcher asks for it."""

    name: str
    kind: str
    method: str
    real: Path
    models: tuple[tuple[str, Path], ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    masks: Path | None = None
    equalise: tuple[str, ...] = ()
    skip_bad: bool = False
    seed: int = 0


def read_order(path: Path) -> Order:
    """Return the study that a TOML file describes; its relative paths start at the file's folder.

    Raises:
        InvalidInput: names the file and the entry that is missing, unknown or of a wrong type.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path} could not be read as TOML: {error}") from None
    known = {"name", "kind", "method", "real", "models", "settings", "masks", "equalise", "skip_bad", "panel"}
    unknown, missing = sorted(set(data) - known), sorted({"name", "real", "models"} - set(data))
    if unknown or missing:
        problem = f"has unknown entries {unknown}" if unknown else f"lacks the entries {missing}"
        raise InvalidInput(f"{path} {problem}; it may have {sorted(known)}")
    for name, kind in {"models": dict, "settings": dict, "equalise": list}.items():
        if name in data and not isinstance(data[name], kind):
            raise InvalidInput(f"{path}: {name} must be a {'list' if kind is list else 'table'}")
    here = path.parent
    settings = dict(data.get("settings", {}))
    if "panel" in data:
        settings["panel"] = read_panel(str(data["panel"]), here)
    return Order(
        name=str(data["name"]),
        kind=data.get("kind", "study"),
        method=data.get("method", "infinity"),
        real=here / str(data["real"]),
        models=tuple((model, here / str(folder)) for model, folder in data["models"].items()),
        settings=settings,
        masks=here / str(data["masks"]) if data.get("masks") else None,
        equalise=tuple(map(str, data.get("equalise", ()))),
        skip_bad=bool(data.get("skip_bad", False)),
    )


def read_panel(text: str, here: Path = Path()) -> PanelRecord:
    """Return the panel called `text`, or the one that the TOML file at `text` describes.

    Raises:
        InvalidInput: no such panel or file, or an entry that is not as expected.
        NotInstalled: the panel signs its links, and there is nothing to verify signatures with.
    """
    if not text.endswith(".toml"):
        return panels.named(text)
    path = here / text
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path} could not be read as TOML: {error}") from None
    record = panels.from_json(data, str(path))
    if record.signature:
        check_installed()
    return record


def create(
    store: Store,
    data: DataDir,
    order: Order,
    now: datetime,
    progress: Any = None,
    publish: Callable[[str, Path], Any] | None = None,
) -> Study:
    """Make the study that `order` asks for and return it as stored.

    Args:
        publish: brings the pictures (study, folder) to where browsers get them, if that is another place.

    Raises:
        InvalidInput: a name, setting, folder or file is not as expected; nothing is left behind.
        Conflict: a study of that name exists.
    """
    from backend.intake import take_in

    order, trimmed = _with_clean_names(order)
    protocol = _checked(store, order)
    partial = data.partial()
    try:
        intake = take_in(
            order.real,
            dict(order.models),
            partial,
            size_px=protocol.size_px,
            image_format=protocol.image_format,
            equalise=order.equalise,
            skip_bad=order.skip_bad,
            rng=Random(order.seed),
            progress=progress,
        )
        study = Study(
            name=order.name,
            kind=order.kind,
            models=tuple(name for name, _ in order.models),
            protocol=protocol,
            created_at=stamp(now),
            classes=tuple(intake.classes),
            notes=(*trimmed, *intake.notes),
        )
        pool = sampling.pool_of(intake.stimuli)
        sampling.check_pool(study, pool)
        if study.kind == "study" and (note := sampling.pool_note(study, pool)):
            study = dataclasses.replace(study, notes=(*study.notes, note))
        study = _with_masks(study, order, data, partial, intake, progress)
        study = _with_flash_note(study, order, partial, intake)
        _publish(store, data, study, intake.stimuli, partial, publish)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return study


def _with_clean_names(order: Order) -> tuple[Order, list[str]]:
    """Return the order with models' names as they are compared, and a note on each that was not."""
    models = tuple((clean(name), folder) for name, folder in order.models)
    notes = [
        f"the model {name!r} is called {after!r}"
        for (name, _), (after, _) in zip(order.models, models, strict=True)
        if name != after
    ]
    return dataclasses.replace(order, models=models), notes


def _checked(store: Store, order: Order) -> protocols.Protocol:
    """Return the protocol of an order whose names, settings and qualification are in order."""
    if not _NAME.fullmatch(order.name):
        raise InvalidInput(
            "a study's name must be 1 to 63 lower-case letters, digits and hyphens, starting with a letter "
            f"or digit, not {order.name!r}"
        )
    _check_models([name for name, _ in order.models])
    if order.name in {study.name for study in store.studies()}:
        raise Conflict(f"a study {order.name} exists already; choose another name")
    base = _base(order)
    protocol = protocols.with_settings(base, order.settings)
    if order.kind == "qualification" and protocol.debrief:
        raise InvalidInput(
            "a qualification must not have debrief=true: who takes it again, or hears of it, would know "
            "the answers"
        )
    if protocol.masks == protocols.OWN_MASKS and order.masks is None:
        raise InvalidInput("masks of one's own come from a folder: --masks DIR")
    if order.masks is not None:
        protocol = dataclasses.replace(protocol, masks=protocols.OWN_MASKS)
    if protocol.qualification:
        _check_qualification(store, order, protocol.qualification)
    return protocol


def _base(order: Order) -> protocols.Protocol:
    if order.kind not in ("study", "qualification"):
        raise InvalidInput(f"kind must be 'study' or 'qualification', not {order.kind!r}")
    if order.kind == "qualification":
        return protocols.QUALIFICATION
    bases = {"infinity": protocols.INFINITY, "time": protocols.TIME}
    if order.method not in bases:
        raise InvalidInput(f"method must be 'infinity' or 'time', not {order.method!r}")
    return bases[order.method]


def _check_models(names: Sequence[str]) -> None:
    if not names:
        raise InvalidInput("a study needs at least one model: --model NAME=FOLDER")
    for name in names:
        if not _MODEL.fullmatch(name):
            raise InvalidInput(f"a model's name must be letters, digits, spaces and . _ @ + -, not {name!r}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(f"two models are called {twice[0]!r}; each needs a name of its own")
    by_fold: dict[str, str] = {}
    for name in names:
        other = by_fold.setdefault(name.casefold(), name)
        if other != name:
            raise InvalidInput(f"the models {other!r} and {name!r} differ in case alone; rename one of them")


def _check_qualification(store: Store, order: Order, name: str) -> None:
    try:
        kind = store.study(name).kind
    except NotFound:
        kind = None
    if kind != "qualification" or order.kind == "qualification":
        raise InvalidInput(
            f"a study's qualification must be a qualification that exists, and {name!r} is not one; "
            f"make it with `openhype qualification {name} …`"
        )


def _with_masks(
    study: Study, order: Order, data: DataDir, partial: Path, intake: Any, progress: Any
) -> Study:
    from backend import masks

    if study.protocol.method != "time" or study.protocol.mask_count == 0:
        return study
    if order.masks is not None:
        names = masks.take_in_masks(
            order.masks, partial, size_px=study.protocol.size_px, image_format=intake.image_format
        )
    else:
        rng = Random(f"masks {order.seed}")
        pictures = sorted(partial / stimulus.name for stimulus in intake.stimuli)
        names = masks.make_masks(
            rng.sample(pictures, min(_MASKS, len(pictures))),
            partial,
            _MASKS,
            kind=study.protocol.masks,
            rng=rng,
            image_format=intake.image_format,
            cache=data.cache("masks"),
            progress=progress,
        )
    return dataclasses.replace(study, masks=tuple(names))


def _with_flash_note(study: Study, order: Order, partial: Path, intake: Any) -> Study:
    from backend import photosensitivity

    if study.protocol.method != "time":
        return study
    pictures = [stimulus.name for stimulus in intake.stimuli]
    return dataclasses.replace(
        study, notes=(*study.notes, photosensitivity.note(study, pictures, partial, order.seed))
    )


def _publish(
    store: Store, data: DataDir, study: Study, stimuli: Any, partial: Path, publish: Callable | None
) -> None:
    """Move the pictures into place and store the study, one process at a time."""
    place = data.images(study.name)
    with data.locked("publish"):
        if study.name in {stored.name for stored in store.studies()}:
            raise Conflict(f"a study {study.name} exists already; choose another name")
        if place.exists():  # left by a creation that died here: no study of that name is stored
            shutil.rmtree(place)
        partial.rename(place)
        if publish is not None:
            publish(study.name, place)
        store.add_study(study, stimuli)
