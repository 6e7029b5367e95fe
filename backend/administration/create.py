"""Creation of a study from folders of images: a complete stored study, or nothing at all.

Images are prepared in a separate folder and moved into place on success; the study is stored last, so
that a stored study always has its images.
"""

import dataclasses
import errno
import re
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from backend.administration import catalogues
from backend.experiment import panel as panels
from backend.experiment import protocol as protocols
from backend.experiment import sampling, unscored
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.panel import PanelRecord
from backend.experiment.records import CHECK, PRACTICE, Stimulus, Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound, StoreFailed
from backend.foundation.names import clean
from backend.foundation.permissions import private, share
from backend.foundation.printable import printable
from backend.foundation.text_files import read_text
from backend.foundation.timestamps import stamp
from backend.panels.signed_links import check_installed
from backend.stimuli.media import MEDIA
from backend.stimuli.medium import Refused
from backend.stores.datadir import DataDir
from backend.stores.store import Store
from backend.studies import lifecycle

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_MODEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9 ._@+-]{0,98}[A-Za-z0-9._@+-])?")
_MASKS = 64
"""Masks per study: enough that four per trial never become familiar, few enough to load fast."""


@dataclass(frozen=True)
class StudySpec:
    """A study as ordered by a researcher."""

    name: str
    kind: str
    method: str
    real: Path
    models: tuple[tuple[str, Path], ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    masks: Path | None = None
    practice: Path | None = None
    """Folder with sub-folders `real` and `fake` of the pictures for practice; None to set some aside."""
    checks: Path | None = None
    """The same for attention checks."""
    equalise: tuple[str, ...] = ()
    skip_bad: bool = False
    strict: bool = False
    seed: int = 0


def read_spec(path: Path) -> StudySpec:
    """Return the study described by a TOML file; its relative paths start at the file's folder.

    Raises:
        InvalidInput: names the file and the entry that is missing, unknown or of a wrong type.
    """
    data = _read_toml(path)
    known = {
        "name",
        "kind",
        "method",
        "real",
        "models",
        "settings",
        "masks",
        "practice",
        "checks",
        "equalise",
        "skip_bad",
        "strict",
        "panel",
        "texts",
    }
    unknown, missing = sorted(set(data) - known), sorted({"name", "real", "models"} - set(data))
    if unknown or missing:
        problem = f"has unknown entries {unknown}" if unknown else f"lacks the entries {missing}"
        raise InvalidInput(f"{path} {problem}; it may have {sorted(known)}")
    for name, kind in {"models": dict, "settings": dict, "texts": dict, "equalise": list}.items():
        if name in data and not isinstance(data[name], kind):
            raise InvalidInput(f"{path}: {name} must be a {'list' if kind is list else 'table'}")
    here = path.parent
    settings = with_texts(data.get("settings", {}), here)
    if "texts" in data:
        settings["texts"] = data["texts"]
    if "panel" in data:
        settings["panel"] = read_panel(str(data["panel"]), here)
    return StudySpec(
        name=str(data["name"]),
        kind=data.get("kind", "study"),
        method=data.get("method", "infinity"),
        real=here / str(data["real"]),
        models=tuple((model, here / str(folder)) for model, folder in data["models"].items()),
        settings=settings,
        masks=here / str(data["masks"]) if data.get("masks") else None,
        practice=here / str(data["practice"]) if data.get("practice") else None,
        checks=here / str(data["checks"]) if data.get("checks") else None,
        equalise=tuple(map(str, data.get("equalise", ()))),
        skip_bad=bool(data.get("skip_bad", False)),
        strict=bool(data.get("strict", False)),
    )


def with_texts(settings: Mapping[str, Any], here: Path = Path()) -> dict[str, Any]:
    """Return settings with each `@FILE` replaced by the text of the file; `@@` escapes a leading `@`.

    Raises:
        NotFound: there is no such file.
        InvalidInput: the file is not readable text.
    """
    found = dict(settings)
    for name in protocols.TEXTS & set(settings):
        if isinstance(settings[name], Mapping):  # the table of texts
            continue
        value = str(settings[name])
        if value.startswith("@@"):
            found[name] = value[1:]
        elif value.startswith("@"):
            found[name] = read_text(here / value[1:]).strip()
    return found


def read_panel(text: str, here: Path = Path()) -> PanelRecord:
    """Return the panel called `text`, or the one described by the TOML file at `text`.

    Raises:
        InvalidInput: there is no such panel or file, or an entry is invalid.
        NotInstalled: the panel signs its links, and the library for verifying signatures is missing.
    """
    if not text.endswith(".toml"):
        return panels.named(text)
    path = here / text
    data = _read_toml(path)
    record = panels.from_json(data, str(path))
    if record.signature:
        check_installed()
    return record


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"{path} must be TOML: {error}") from None


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
    spec, trimmed = _with_clean_names(spec)
    protocol = _checked(store, spec)
    for note in catalogues.untranslated(protocol) if say else ():
        say(f"note: {note}")
    try:
        with data.making(spec.name) as partial:
            return _made(
                store,
                data,
                spec,
                trimmed,
                protocol,
                stamp(now),
                partial / "pictures",
                progress,
                publish,
                say,
            )
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise StoreFailed(
            f"the disk of {data.root} is full; nothing of the study {spec.name} was left there; free some "
            "space, or choose another data directory with --data DIR"
        ) from None


def _made(
    store: Store,
    data: DataDir,
    spec: StudySpec,
    trimmed: Sequence[str],
    protocol: protocols.Protocol,
    created_at: str,
    partial: Path,
    progress: Any,
    publish: Callable[[str, Path], Any] | None,
    say: Callable[[str], Any] | None,
) -> Study:

    study = Study(
        name=spec.name,
        kind=spec.kind,
        models=tuple(name for name, _ in spec.models),
        protocol=protocol,
        created_at=created_at,
        settings_id=lifecycle.new_settings_id(),
    )

    judgment = judgment_of(protocol.method)
    aside = _aside(spec)

    def with_roles(stimuli: Sequence[Stimulus]) -> tuple[Stimulus, ...]:
        return unscored.set_aside(stimuli, protocol.unscored, Random(f"aside {spec.seed}"), [*aside])

    def lacking(stimuli: Sequence[Stimulus], classes: Sequence[str]) -> str:
        pool = sampling.pool_of(with_roles(stimuli))
        return judgment.lack(dataclasses.replace(study, classes=tuple(classes)), pool)

    try:
        intake = MEDIA[judgment.medium].ingest(
            spec.real,
            dict(spec.models),
            partial,
            size_px=protocol.stimuli.size_px,
            **({"aside": aside} if aside else {}),
            image_format=protocol.stimuli.image_format,
            equalise=spec.equalise,
            skip_bad=spec.skip_bad,
            strict=spec.strict,
            lacking=lacking,
            rng=Random(spec.seed),
            progress=progress,
            say=say,
        )
    except Refused as refused:
        where = _listed(data, spec.name, refused.everything)
        raise InvalidInput(f"{refused}{f'; all are listed in {where}' if where else ''}") from None
    if say and (where := _listed(data, spec.name, intake.left_out_untold)):
        say(f"all files that were left out are listed in {where}")
    intake = dataclasses.replace(intake, stimuli=with_roles(intake.stimuli))
    study = dataclasses.replace(study, classes=intake.classes, notes=(*trimmed, *intake.notes))
    of_pool = judgment.notes(study, sampling.pool_of(intake.stimuli))
    study = dataclasses.replace(study, notes=(*study.notes, *of_pool))
    study = _with_masks(study, spec, data, partial, intake, progress, say)
    study = _with_flash_note(study, spec, partial, intake)
    _publish(store, data, study, intake.stimuli, partial, publish)
    return study


def _aside(spec: StudySpec) -> dict[str, Path]:
    """Return the folders of pictures that no scored trial shows, by role."""
    given = {PRACTICE: spec.practice, CHECK: spec.checks}
    return {role: folder for role, folder in given.items() if folder is not None}


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


def _with_clean_names(spec: StudySpec) -> tuple[StudySpec, list[str]]:
    """Return the specification with models' names normalized, and a note on each that was changed."""
    models = tuple((clean(name), folder) for name, folder in spec.models)
    notes = [
        f"the model {name!r} is called {after!r}"
        for (name, _), (after, _) in zip(spec.models, models, strict=True)
        if name != after
    ]
    return dataclasses.replace(spec, models=models), notes


def _checked(store: Store, spec: StudySpec) -> protocols.Protocol:
    """Return the protocol of a specification after checking its names, settings and qualification."""
    if not _NAME.fullmatch(spec.name):
        raise InvalidInput(
            "a study's name must be 1 to 63 lower-case letters, digits and hyphens, starting with a letter "
            f"or digit, not {spec.name!r}"
        )
    _check_models([name for name, _ in spec.models])
    lifecycle.check_name(store, spec.name)
    base = _base(spec)
    protocol = protocols.new_protocol(base, spec.kind, spec.settings)
    protocol = catalogues.in_its_language(protocol, spec.settings)
    judgment_of(protocol.method).check(protocol, spec.kind)
    _check_aside(spec, protocol)
    if spec.kind == "qualification" and protocol.page.debrief:
        raise InvalidInput(
            "a qualification must not have debrief=true: a person who retakes it, or hears of it, would know "
            "the answers"
        )
    if protocol.timing.masks == protocols.OWN_MASKS and spec.masks is None:
        raise InvalidInput("your own masks are read from a folder: --masks DIR")
    if spec.masks is not None:
        protocol = protocol.changed(masks=protocols.OWN_MASKS)
    if protocol.admission.qualification:
        check_qualification(store, spec.kind, protocol.admission.qualification)
    return protocol


def _check_aside(spec: StudySpec, protocol: protocols.Protocol) -> None:
    """Raise InvalidInput if a folder is given that no trial would show, or none for checks by pictures."""
    shown = protocol.unscored
    if spec.practice is not None and not shown.practice_images:
        raise InvalidInput(
            f"{printable(spec.practice)} has pictures for practice, and practice_images is 0; "
            "--set practice_images=N, or leave out --practice"
        )
    if spec.checks is not None and not shown.checks:
        raise InvalidInput(
            f"{printable(spec.checks)} has pictures for attention checks, and picture_checks is 0; "
            "--set picture_checks=N, or leave out --checks"
        )
    if shown.picture_checks and spec.checks is None:
        raise InvalidInput(
            "picture_checks need pictures whose truth is beyond doubt: --checks DIR, with sub-folders real "
            "and fake"
        )


def _base(spec: StudySpec) -> protocols.Protocol:
    if spec.kind not in ("study", "qualification"):
        raise InvalidInput(f"kind must be 'study' or 'qualification', not {spec.kind!r}")
    if spec.kind == "qualification":
        return protocols.QUALIFICATION
    return method_named(spec.method).protocol


def _check_models(names: Sequence[str]) -> None:
    if not names:
        raise InvalidInput("a study needs at least one model: --model NAME=FOLDER")
    for name in names:
        if not _MODEL.fullmatch(name):
            raise InvalidInput(
                "a model's name must be 1 to 100 letters, digits, spaces and . _ @ + -, starting with a "
                f"letter or digit and not ending with a space, not {name!r}"
            )
    folded: dict[str, str] = {}
    for name in names:
        if (other := folded.setdefault(name.casefold(), name)) is not name:
            how = "are called" if other == name else "differ by case only:"
            raise InvalidInput(f"two models {how} {other!r} and {name!r}; each needs a name of its own")


def check_qualification(store: Store, kind: str, name: str) -> None:
    """Raise InvalidInput if a study of this kind cannot require the qualification `name`."""
    try:
        found = store.study(name).kind
    except NotFound:
        found = None
    if found != "qualification" or kind == "qualification":
        raise InvalidInput(
            f"a study's qualification must be a qualification that exists, and {name!r} is not one; "
            f"make it with `openhype qualification {name} …`"
        )


def _with_masks(
    study: Study, spec: StudySpec, data: DataDir, partial: Path, intake: Any, progress: Any, say: Any
) -> Study:
    from backend.stimuli import masks

    if not study.protocol.is_timed or study.protocol.timing.mask_count == 0:
        return study
    if spec.masks is not None:
        names = masks.ingest_masks(
            spec.masks, partial, size_px=study.protocol.stimuli.size_px, image_format=intake.image_format
        )
    else:
        rng = Random(f"masks {spec.seed}")
        pictures = sorted(partial / stimulus.name for stimulus in intake.stimuli if not stimulus.role)
        names = masks.make_masks(
            rng.sample(pictures, min(_MASKS, len(pictures))),
            partial,
            _MASKS,
            kind=study.protocol.timing.masks,
            rng=rng,
            image_format=intake.image_format,
            cache=data.cache("masks"),
            progress=progress,
            say=say,
        )
    return dataclasses.replace(study, masks=tuple(names))


def _with_flash_note(study: Study, spec: StudySpec, partial: Path, intake: Any) -> Study:
    from backend.stimuli import photosensitivity

    if not study.protocol.is_timed:
        return study
    pictures = [stimulus.name for stimulus in intake.stimuli]
    return dataclasses.replace(
        study, notes=(*study.notes, photosensitivity.note(study, pictures, partial, spec.seed))
    )


def _publish(
    store: Store, data: DataDir, study: Study, stimuli: Any, pictures: Path, publish: Callable | None
) -> None:
    """Move the images into place and store the study, one process at a time."""
    place, mark = data.images(study.name), data.unpublished(study.name)
    with data.locked("publish"):
        lifecycle.check_name(store, study.name)
        if study.protocol.admission.qualification:  # it may have been deleted in the meantime
            check_qualification(store, study.kind, study.protocol.admission.qualification)
        if place.exists():
            if not mark.exists():
                raise Conflict(
                    f"{place} holds the pictures of a study {study.name} that is not in this store; choose "
                    "another name or data directory, or remove the folder if no store needs it"
                )
            shutil.rmtree(place)  # left by a creation that crashed here
        mark.touch()
        try:
            pictures.rename(place)
            share(place)
            if publish is not None:
                publish(study.name, place)
            store.add_study(study, stimuli)
        except BaseException as error:
            if isinstance(error, Conflict) or study.name not in {stored.name for stored in store.studies()}:
                shutil.rmtree(place, ignore_errors=True)
                mark.unlink()
            raise
        mark.unlink()
