"""The checks of a specification before any picture is read, and the protocol that it amounts to."""

from dataclasses import replace

from backend.administration import catalogues
from backend.administration.study_spec import StudySpec, base_protocol, check_models, check_name
from backend.experiment.groups.follow_ups import NONE
from backend.experiment.groups.timing import OWN_MASKS
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.protocol import Protocol
from backend.experiment.records import CLIPS
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.settings import new_protocol
from backend.foundation.errors import InvalidInput, under
from backend.foundation.names import clean
from backend.foundation.printable import printable
from backend.stimuli import item_folders
from backend.stores.store import Store, study_if_any
from backend.studies import lifecycle


def check(store: Store, spec: StudySpec) -> Protocol:
    """Return the protocol of a specification, of which all is checked but its pictures.

    Raises:
        InvalidInput: an invalid name or setting.
        Conflict: a study of that name exists.
    """
    with spec.at():
        check_names(spec)
    with spec.at("name"):
        lifecycle.check_name(store, spec.name)
    with spec.at():
        protocol = protocol_of(spec)
    if protocol.admission.qualification:
        with spec.at("settings", "qualification"):
            check_qualification(store, spec.kind, protocol.admission.qualification)
    return protocol


def check_medium(medium: str, protocol: Protocol) -> None:
    """Raise InvalidInput if a setting does not go with the medium of a study."""
    if medium == CLIPS and protocol.follow_ups.mark != NONE:
        raise invalid_setting("marks are made on pictures; with clips leave mark=none", "mark")


def check_qualification(store: Store, kind: str, name: str) -> None:
    """Raise InvalidInput if a study of this kind cannot require the qualification `name`."""
    required = study_if_any(store, name)
    if required is None or required.kind != "qualification" or kind == "qualification":
        raise InvalidInput(
            f"a study's qualification must be a qualification that exists, and {name!r} is not one; "
            f"make it with `openhype qualification {name} …`"
        )


def check_names(spec: StudySpec) -> None:
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
    elif spec.preprocess:
        raise InvalidInput(
            "`preprocess` is for reals and fakes; items are shown as they are, with their distortions",
            keys=("preprocess",),
        )


def protocol_of(spec: StudySpec) -> Protocol:
    """Return the protocol of a specification after checking its settings by themselves."""
    protocol = new_protocol(base_protocol(spec.kind, spec.method), spec.kind, spec.settings)
    protocol = catalogues.in_its_language(protocol, spec.settings)
    judgment_of(protocol.method).check(protocol, spec.kind)
    if spec.models:
        unit = method_named(protocol.method).unit
        protocol.looks.check_aim([name for name, _ in spec.models], unit)
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


def _check_form(spec: StudySpec, protocol: Protocol) -> None:
    """Raise InvalidInput if pictures cannot be brought to the form that is asked for."""
    from backend.stimuli.images import resolve_format
    from backend.stimuli.ingest import checked_preprocessing

    resolve_format(protocol.stimuli.image_format, protocol.stimuli.size_px)
    checked_preprocessing(spec.preprocess, protocol.stimuli.size_px)


def _check_aside(spec: StudySpec, protocol: Protocol) -> None:
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


def with_clean_names(spec: StudySpec) -> tuple[StudySpec, list[str]]:
    """Return the specification with models' names normalized, and a note on each that was changed."""
    if spec.items:
        return _with_sets(spec), []
    models = tuple((clean(name), folder) for name, folder in spec.models)
    notes = [
        f"the model {name!r} is called {after!r}"
        for (name, _), (after, _) in zip(spec.models, models, strict=True)
        if name != after
    ]
    return replace(spec, models=models), notes


def _with_sets(spec: StudySpec) -> StudySpec:
    """Return the specification with each set of items and its folder.

    Raises:
        InvalidInput: a folder has no sets, or two sets have one name.
    """
    with spec.at("items"):
        sets = item_folders.sets_of(spec.items, judgment_of(spec.method).parts)
        check_models([name for name, _ in sets], "set")
    return replace(spec, items=tuple(sets))
