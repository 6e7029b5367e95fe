"""Creation of a study from folders of images: a complete stored study, or nothing at all.

Images are prepared in a separate folder and moved into place on success; the study is stored last, so
that a stored study always has its images.
"""

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from backend.administration import catalogues, intake_facts
from backend.administration.study_spec import (
    BY_OPTIONS,
    StudySpec,
    base_protocol,
    check_models,
    check_name,
    check_sources,
)
from backend.experiment import protocol as protocols
from backend.experiment import sampling, unscored
from backend.experiment.groups.timing import OWN_MASKS
from backend.experiment.judgment import Judgment, pictures_of
from backend.experiment.judgments import judgment_of
from backend.experiment.records import Stimulus, Study
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.settings import new_protocol
from backend.foundation.atomic_files import write_whole
from backend.foundation.errors import FULL, Conflict, InvalidInput, NotFound, StoreFailed, together, under
from backend.foundation.names import clean
from backend.foundation.permissions import private, share
from backend.foundation.printable import printable
from backend.foundation.syncing import sync, sync_all
from backend.foundation.timestamps import stamp
from backend.stimuli import item_folders
from backend.stimuli.media import MEDIA
from backend.stimuli.medium import Refused
from backend.stores.datadir import DataDir
from backend.stores.store import Store
from backend.studies import lifecycle

_MASKS = 64
"""Masks per study: enough that four per trial never become familiar, few enough to load fast."""


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
    spec, trimmed = _with_clean_names(spec)
    protocol = check(store, spec)
    if say:
        for note in catalogues.untranslated(protocol):
            say(f"note: {note}")
    try:
        with data.making(spec.name) as partial:
            _check_place(store, data, spec.name)
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
        if error.errno not in FULL:
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

    draft = _Draft(spec, protocol, created_at)
    judgment, study = draft.judgment, draft.study
    options = {
        **draft.options,
        "skip_bad": spec.skip_bad,
        "strict": spec.strict,
        "lacking": draft.lacking,
        "progress": progress,
        "say": say,
    }
    medium = MEDIA[judgment.medium]
    _check_masks(spec, protocol)
    with spec.at():
        try:
            if judgment.has_items:
                intake = medium.ingest_items(dict(spec.items), partial, **draft.item_options, **options)
            else:
                pictures = _reals(spec), dict(spec.models), partial
                intake = medium.ingest(*pictures, equalise=spec.equalise, flat=spec.flat, **options)
        except Refused as refused:
            where = _listed(data, spec.name, refused.everything)
            message = f"{refused}{f'; all are listed in {where}' if where else ''}"
            raise Refused(message, refused.everything, refused.keys, refused.also) from None
    if say and (where := _listed(data, spec.name, intake.left_out_untold)):
        say(f"all files that were left out are listed in {where}")
    intake = dataclasses.replace(intake, stimuli=draft.with_roles(intake.stimuli))
    pool = sampling.pool_of(intake.stimuli)
    study = dataclasses.replace(
        study,
        protocol=judgment.with_pool(protocol.changed(size_px=intake.size_px), pool, spec.settings),
        classes=intake.classes,
        notes=(*trimmed, *intake.notes),
    )
    of_pool = judgment.notes(study, pool)
    study = dataclasses.replace(study, notes=(*study.notes, *of_pool))
    study = _with_masks(study, spec, data, partial, intake, progress, say)
    study = _with_flash_note(study, spec, partial, intake)

    def store_facts() -> None:
        if not judgment.has_items:
            intake_facts.write(store, study, spec.equalise, intake.reals)

    _publish(store, data, study, intake.stimuli, partial, publish, store_facts)
    return study


@dataclass(frozen=True)
class _Draft:
    """A study before its pictures are known, and what it asks of them."""

    spec: StudySpec
    protocol: protocols.Protocol
    created_at: str

    @cached_property
    def study(self) -> Study:
        """The study without classes, masks and notes."""
        spec = self.spec
        return Study(
            name=spec.name,
            kind=spec.kind,
            models=tuple(name for name, _ in (spec.items or spec.models)),
            protocol=self.protocol,
            created_at=self.created_at,
            settings_id=lifecycle.new_settings_id(),
            pages=spec.pages,
            questions=spec.questions,
        )

    @property
    def judgment(self) -> Judgment:
        """The judgment of its method."""
        return judgment_of(self.protocol.method)

    @property
    def options(self) -> dict[str, Any]:
        """Options of the ingest that do not depend on what is done with its result."""
        aside = self.spec.aside
        return {
            "size_px": self.protocol.stimuli.size_px,
            **({"aside": aside} if aside else {}),
            "image_format": self.protocol.stimuli.image_format,
        }

    @property
    def item_options(self) -> dict[str, Any]:
        """Further options of the ingest of items."""
        return {
            "parts": self.judgment.parts,
            "answers": self.judgment.item_answers,
            "made": self.judgment.made_items(self.protocol, [*self.spec.aside]),
        }

    @property
    def made_stimuli(self) -> list[Stimulus]:
        """Stimuli in place of the items of known answer that the creation makes."""
        kinds = self.judgment.made_items(self.protocol, [*self.spec.aside])
        return [stimulus for kind in kinds for stimulus in kind.stimuli]

    def with_roles(self, stimuli: Sequence[Stimulus]) -> tuple[Stimulus, ...]:
        """Return a pool in which pictures are set aside from scored trials."""
        if self.judgment.has_items:
            return tuple(stimuli)
        rng = Random("aside")
        return unscored.set_aside(stimuli, self.protocol.unscored, rng, [*self.spec.aside])

    def lacking(self, stimuli: Sequence[Stimulus], classes: Sequence[str]) -> str:
        """Return what a pool lacks, as a sentence; "" if it is sufficient."""
        marked = self.with_roles(stimuli)
        pool = sampling.pool_of(marked)
        complete = self.judgment.with_pool(self.protocol, pool, self.spec.settings)
        study = dataclasses.replace(self.study, protocol=complete, classes=tuple(classes))
        lack = self.judgment.lack(study, pool)
        taken = sum(after.role != before.role for before, after in zip(stimuli, marked, strict=True))
        if lack and taken:
            aside = (
                f"{taken} pictures are set aside for practice and instructions, unless --practice DIR and "
                "--checks DIR have some"
            )
            return together([lack, aside])
        return lack


def _reals(spec: StudySpec) -> Path:
    if spec.real is None:
        raise InvalidInput(f"a study of method {spec.method} needs a folder of real images (--real DIR)")
    return spec.real


def check_pictures(spec: StudySpec, stimuli: Sequence[Stimulus] | None) -> None:
    """Check the settings of a specification, and that pictures suffice for them, without reading any.

    Args:
        stimuli: as `Examined.stimuli` has them, by whatever names; None if they are not known.

    Raises:
        InvalidInput: an invalid setting, or what the pictures lack.
    """
    with spec.at():
        draft = _Draft(spec, _protocol(spec), "")
        if stimuli is None:
            return
        classes = sorted({stimulus.class_ for stimulus in stimuli} - {""})
        if lack := draft.lacking([*stimuli, *draft.made_stimuli], classes):
            raise InvalidInput(lack)


@dataclass(frozen=True)
class Examined:
    """What the creation of a study would find in its pictures."""

    survey: Any
    """A `stimuli.ingest.Survey`; of items, the `Intake` of those that can be used."""
    stimuli: tuple[Stimulus, ...]
    """The pool without items that the creation would make itself."""
    problems: tuple[str, ...]
    """What the creation would refuse, besides single files and too few pictures."""
    lack: str
    """What the pictures lack for the settings; "" if they suffice."""


def examine(
    spec: StudySpec, scratch: Path, progress: Any = None, say: Callable[[str], Any] | None = None
) -> Examined:
    """Return what the creation of a study would find in its pictures; no study is made.

    Args:
        scratch: a folder in which files may be written.

    Raises:
        InvalidInput: an invalid name or setting, or folders of items that cannot be read as such.
    """
    spec, _ = _with_clean_names(spec)
    with spec.at():
        _check_names(spec)
        draft = _Draft(spec, _protocol(spec), "")
    if draft.judgment.has_items:
        medium = MEDIA[draft.judgment.medium]
        options = {**draft.options, **draft.item_options, "skip_bad": True, "progress": progress, "say": say}
        intake = medium.ingest_items(dict(spec.items), scratch / "items", **options)
        given = tuple(each for each in intake.stimuli if not each.role or each.role in spec.aside)
        return Examined(intake, given, _mask_problems(spec), draft.lacking(intake.stimuli, ()))
    from backend.stimuli.ingest import survey

    found = survey(
        _reals(spec),
        dict(spec.models),
        None,
        equalise=spec.equalise,
        flat=spec.flat,
        progress=progress,
        say=say,
        **draft.options,
    )
    folders = [finding.what for finding in found.folders]
    lack = "" if folders else draft.lacking(found.stimuli, found.classes)
    return Examined(found, found.stimuli, (*folders, *_mask_problems(spec)), lack)


def _mask_problems(spec: StudySpec) -> tuple[str, ...]:
    """Return what is wrong with the researcher's own masks."""
    from backend.stimuli.masks import check_masks

    try:
        if spec.masks is not None:
            check_masks(spec.masks)
    except InvalidInput as error:
        return (str(error),)
    return ()


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
    if spec.items:
        return _with_sets(spec), []
    models = tuple((clean(name), folder) for name, folder in spec.models)
    notes = [
        f"the model {name!r} is called {after!r}"
        for (name, _), (after, _) in zip(spec.models, models, strict=True)
        if name != after
    ]
    return dataclasses.replace(spec, models=models), notes


def _with_sets(spec: StudySpec) -> StudySpec:
    """Return the specification with each set of items and its folder.

    Raises:
        InvalidInput: a folder has no sets, or two sets have one name.
    """
    with spec.at("items"):
        sets = item_folders.sets_of(spec.items, judgment_of(spec.method).parts)
        check_models([name for name, _ in sets], "set")
    return dataclasses.replace(spec, items=tuple(sets))


def check(store: Store, spec: StudySpec) -> protocols.Protocol:
    """Return the protocol of a specification, of which all is checked but its pictures.

    Raises:
        InvalidInput: an invalid name or setting.
        Conflict: a study of that name exists.
    """
    with spec.at():
        _check_names(spec)
    with spec.at("name"):
        lifecycle.check_name(store, spec.name)
    with spec.at():
        protocol = _protocol(spec)
    if protocol.admission.qualification:
        with spec.at("settings", "qualification"):
            check_qualification(store, spec.kind, protocol.admission.qualification)
    return protocol


def _check_names(spec: StudySpec) -> None:
    with under("name"):
        check_name(spec.name)
    if not spec.items:
        with under("models"):
            check_models([name for name, _ in spec.models])
    elif spec.flat:
        raise InvalidInput(
            "flat ignores the sub-folders of reals and models; those of items are their parts and sets",
            keys=("flat",),
        )
    elif spec.equalise:
        raise InvalidInput(
            "`equalise` is for reals and fakes; items are shown as they are, with their distortions",
            keys=("equalise",),
        )


def _protocol(spec: StudySpec) -> protocols.Protocol:
    """Return the protocol of a specification after checking its settings by themselves."""
    protocol = new_protocol(base_protocol(spec.kind, spec.method), spec.kind, spec.settings)
    protocol = catalogues.in_its_language(protocol, spec.settings)
    judgment_of(protocol.method).check(protocol, spec.kind)
    if not protocol.stimuli.size_px and not spec.items:
        raise invalid_setting("size_px must be from 16 to 2048, not 0", "size_px")
    _check_aside(spec, protocol)
    if not protocol.page.builtin_instructions and not spec.pages:
        raise invalid_setting(
            "builtin_instructions=false leaves evaluators without instructions; write [[pages]] of your "
            "own in a study.toml (docs/study-file.md)",
            "builtin_instructions",
        )
    if spec.kind == "qualification" and protocol.page.debrief:
        raise invalid_setting(
            "a qualification must not have debrief=true: a person who retakes it, or hears of it, would know "
            "the answers",
            "debrief",
        )
    _check_form(spec, protocol)
    if protocol.timing.masks == OWN_MASKS and spec.masks is None:
        raise invalid_setting("your own masks are read from a folder: --masks DIR", "masks")
    if spec.masks is not None:
        protocol = protocol.changed(masks=OWN_MASKS)
    return protocol


def _check_form(spec: StudySpec, protocol: protocols.Protocol) -> None:
    """Raise InvalidInput if pictures cannot be brought to the form that is asked for."""
    from backend.stimuli.images import resolve_format
    from backend.stimuli.ingest import checked_losses

    resolve_format(protocol.stimuli.image_format, protocol.stimuli.size_px)
    checked_losses(spec.equalise, protocol.stimuli.size_px)


def _check_aside(spec: StudySpec, protocol: protocols.Protocol) -> None:
    """Raise InvalidInput if a folder is given that no trial would show, or none for checks by pictures."""
    shown = protocol.unscored
    if spec.practice is not None and not shown.practice_images:
        raise InvalidInput(
            f"{printable(spec.practice)} has pictures for practice, and practice_images is 0; "
            "--set practice_images=N, or leave out --practice",
            keys=("practice",),
        )
    if spec.checks is not None and not shown.checks:
        raise InvalidInput(
            f"{printable(spec.checks)} has pictures for attention checks, and picture_checks is 0; "
            "--set picture_checks=N, or leave out --checks",
            keys=("checks",),
        )
    if shown.picture_checks and spec.checks is None and not spec.items:
        raise invalid_setting(
            "picture_checks need pictures whose truth is beyond doubt: --checks DIR, with sub-folders "
            "real and fake",
            "picture_checks",
        )


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


def _has_masks(protocol: protocols.Protocol) -> bool:
    return protocol.has_flashes and protocol.timing.mask_count > 0


def _check_masks(spec: StudySpec, protocol: protocols.Protocol) -> None:
    """Read the researcher's own masks before all pictures, so that they are not refused after those."""
    from backend.stimuli.masks import check_masks

    if spec.masks is not None and _has_masks(protocol):
        with spec.at("masks"):
            check_masks(spec.masks)


def _with_masks(
    study: Study, spec: StudySpec, data: DataDir, partial: Path, intake: Any, progress: Any, say: Any
) -> Study:
    from backend.stimuli import masks

    if not _has_masks(study.protocol):
        return study
    if spec.masks is not None:
        form = {"size_px": study.protocol.stimuli.size_px, "image_format": intake.image_format}
        with spec.at("masks"):
            names = masks.ingest_masks(spec.masks, partial, **form)
    else:
        rng = Random("masks")  # with the same sources in the same order, masks are found in the cache
        pictures = [
            partial / name
            for stimulus in sorted(intake.stimuli, key=lambda one: (one.model or "", one.source))
            if not stimulus.role
            for name in pictures_of(stimulus.name)
        ]
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

    if not study.protocol.has_flashes:
        return study
    pictures = [stimulus.name for stimulus in intake.stimuli]
    return dataclasses.replace(
        study, notes=(*study.notes, photosensitivity.note(study, pictures, partial, seed=0))
    )


def _check_place(store: Store, data: DataDir, study: str) -> None:
    """Raise Conflict if the folder of a study's pictures may be that of a study in another store."""
    place, mark = data.images(study), data.unpublished(study)
    is_left = mark.exists() and lifecycle.was_attempted(store, study, mark.read_text("utf-8"))
    if place.exists() and not is_left:
        raise Conflict(
            f"{place} holds the pictures of a study {study} that is not in this store; choose another name "
            "or data directory, or remove the folder if no store needs it"
        )


def _publish(
    store: Store,
    data: DataDir,
    study: Study,
    stimuli: Any,
    pictures: Path,
    publish: Callable | None,
    store_facts: Callable[[], None],
) -> None:
    """Move the images into place and store the study, one process at a time.

    What belongs to a study is stored before it: a creation that is killed in between is made again. Images
    are synced to the disk before, so that a power failure leaves no study without them.
    """
    place, mark = data.images(study.name), data.unpublished(study.name)
    with data.locked("publish"):
        lifecycle.check_name(store, study.name)
        if study.protocol.admission.qualification:  # it may have been deleted in the meantime
            check_qualification(store, study.kind, study.protocol.admission.qualification)
        _check_place(store, data, study.name)
        if place.exists():
            shutil.rmtree(place)  # left by a creation with this store that crashed here
        attempt = lifecycle.new_attempt(store, study.name)
        write_whole({(made := pictures.with_name("mark")): attempt.encode()})
        made.rename(mark)
        sync(mark.parent)
        try:
            sync_all([pictures, *pictures.iterdir()])
            pictures.rename(place)
            share(place)
            sync(place.parent)
            if publish is not None:
                publish(study.name, place)
            store_facts()
            store.add_study(study, stimuli)
        except BaseException as error:
            if isinstance(error, Conflict) or study.name not in {stored.name for stored in store.studies()}:
                shutil.rmtree(place, ignore_errors=True)
                mark.unlink()
            raise
        mark.unlink()
