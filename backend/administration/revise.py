"""Changes to the settings of a study that no real evaluator has begun, without recreating its files.

The record is replaced by one conditional write, which fails once the study is begun. If an evaluator opens
a session at that moment, either the session is first and the change is refused, or it runs under the new
settings. Simulated sessions of the previous settings are cleared, so that no score mixes the two.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from backend.administration import catalogues
from backend.administration.clear import clear_outdated
from backend.administration.setting_list import typed_settings
from backend.administration.spec_checks import check_medium, check_qualification
from backend.experiment import protocol as protocols
from backend.experiment.judgment import pictures_of
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.protocol import Protocol
from backend.experiment.records import Study
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.settings import named_settings, with_settings
from backend.foundation.errors import Conflict, under
from backend.stores.datadir import DataDir
from backend.stores.replaced_values import check_replaced
from backend.stores.store import Store
from backend.stores.updates import retried
from backend.studies import lifecycle
from backend.task import replies

_FIXED = {
    "method": "the methods show pictures in different ways",
    **named_settings(lambda each: each.fixed),
}
"""Settings that determined a study's files, and why."""
_FLASH_NOTE = "photosensitivity: "


@dataclass(frozen=True)
class Change:
    """The result of a change."""

    before: Study
    study: Study
    cleared: int
    """How many simulated sessions of the previous settings were removed."""

    def changed(self) -> dict[str, tuple[Any, Any]]:
        """Return the values before and after of each setting that changed."""
        return _differences(self.before.protocol, self.study.protocol)

    def new_notes(self) -> list[str]:
        """Return the added notes for readers of the scores."""
        return [note for note in self.study.notes if note not in self.before.notes]


def change_settings(
    store: Store,
    data: DataDir,
    name: str,
    settings: Mapping[str, Any],
    replaces: Mapping[str, str] | None = None,
) -> Change:
    """Change settings (name to text or value) of a study, and return the result.

    If interrupted, nothing has changed, or only simulated sessions remain that no score includes.

    Args:
        replaces: the values that are replaced, as `typed_settings` returns them; None for whichever.

    Raises:
        NotFound: there is no such study.
        InvalidInput: an unknown setting, one that determined the study's files, or an invalid value.
        Conflict: a real evaluator has begun the study; `changed`: a value is another by now.
    """

    def change() -> tuple[Study, Study]:
        study = store.study(name)
        _check_not_begun(study)
        after = _revised(store, data, study, settings)
        if after is not study:
            check_replaced(replaces or {}, typed_settings(study.protocol))
            store.change_study(after)
        return study, after

    before, after = retried(change, f"study {name} is being changed from several programs at once")
    return Change(before, after, clear_outdated(store, after))


def _check_not_begun(study: Study) -> None:
    """Raise Conflict if an evaluator has seen the settings, or was promised something under them."""
    if study.begun_at:
        raise Conflict(
            f"study {study.name} was opened to real evaluators on {study.begun_at[:10]}, so that its "
            f"settings stay as they are; copy it (`openhype rerun {study.name}`), and change the copy"
        )


def _revised(store: Store, data: DataDir, study: Study, settings: Mapping[str, Any]) -> Study:
    """Return the study with changed settings; the same object if none differs."""
    _check_free(study, settings)
    wanted = with_settings(
        study.protocol, {name: value for name, value in settings.items() if name not in _FIXED}
    )
    wanted = catalogues.in_its_language(wanted, settings, study.protocol, study.medium)
    if not _differences(study.protocol, wanted):
        return study
    judgment = judgment_of(wanted.method)
    judgment.check(wanted, study.kind)
    wanted.looks.check_aim(study.models, method_named(wanted.method).unit)
    check_medium(study.medium, wanted)
    if wanted.has_flashes and wanted.timing.mask_count and not study.masks:
        raise invalid_setting(
            f"study {study.name} was made without masks, so that mask_count stays 0; {_ANEW}", "mask_count"
        )
    qualification = wanted.admission.qualification
    if qualification != study.protocol.admission.qualification and qualification:
        with under("settings", "qualification"):
            check_qualification(store, study.kind, qualification)
    after = replace(study, protocol=wanted)
    after = replace(after, protocol=_with_consent_version(study, after, "consent_version" in settings))
    pool = store.pool(study.name)
    if {*settings} & {*named_settings(lambda each: each.fixes_evaluators)}:
        after = replace(after, protocol=judgment.with_pool(after.protocol, pool, settings))
    judgment.check_pool(after, pool)
    notes = _notes(store, data, study, after)
    return replace(after, version=study.version + 1, settings_id=lifecycle.new_settings_id(), notes=notes)


_ANEW = "make another study (`openhype create`)"


def _check_free(study: Study, settings: Mapping[str, Any]) -> None:
    """Refuse to change a setting that determined the study's files."""
    for name, why in _FIXED.items():
        is_same = name in settings and str(settings[name]) == str(_value(study.protocol, name))
        if name in settings and not is_same:
            raise invalid_setting(
                f"{name} of study {study.name} stays {_value(study.protocol, name)}, since {why}; {_ANEW}, "
                f"and remove this one (`openhype delete {study.name}`)",
                name,
            )


def _with_consent_version(before: Study, after: Study, is_given: bool) -> Protocol:
    """Return the new settings, with a new consent version if participants would agree to something else.

    This compares everything that visitors are shown before they agree, including pay and length. A page
    that was opened earlier cannot agree to what it does not show.
    """
    if _shown_before_consent(before) == _shown_before_consent(after):
        return after.protocol
    version = before.protocol.consent.consent_version
    if is_given and after.protocol.consent.consent_version == version:
        raise invalid_setting(
            f"consent_version must be another one than {version!r}, for what evaluators agree to is changed; "
            "leave it out to have the next one",
            "consent_version",
        )
    if is_given:
        return after.protocol
    return after.protocol.changed(consent_version=_next_version(version))


def _shown_before_consent(study: Study) -> dict[str, Any]:
    public = replies.public_study(study, None)
    qualification = study.protocol.admission.qualification
    return {**public, "consent": public["consent"]["text"], "qualification": qualification}


def _next_version(version: str) -> str:
    stem = version.rstrip("0123456789")
    number = version[len(stem) :]
    return f"{stem}{int(number) + 1}" if number else f"{version}-2"


def _notes(store: Store, data: DataDir, before: Study, after: Study) -> tuple[str, ...]:
    """Return the notes, with the one on flashes recomputed if the flash has changed."""
    shaping = named_settings(lambda each: each.shapes_flashes)
    if not after.protocol.has_flashes or shaping.keys().isdisjoint(
        _differences(before.protocol, after.protocol)
    ):
        return before.notes
    others = (note for note in before.notes if not note.startswith(_FLASH_NOTE))
    return (*others, _flash_note(store, data, after))


def _flash_note(store: Store, data: DataDir, study: Study) -> str:
    folder = data.images(study.name)
    files = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if judgment_of(study.protocol.method).has_items:
        shown = (stimulus.name for stimulus in store.stimuli(study.name))
        pictures = [name for name in shown if files.issuperset(pictures_of(name))]
    else:
        pictures = [*files.difference(study.masks)]
    if not pictures:
        return (
            f"{_FLASH_NOTE}NOT CHECKED since the settings were changed, for the pictures are not in "
            f"{folder.parent}; change them from the data directory that the study was made in"
        )
    from backend.stimuli import photosensitivity

    return photosensitivity.note(study, pictures, folder, seed=0)


def _differences(before: Protocol, after: Protocol) -> dict[str, tuple[Any, Any]]:
    old, new = protocols.values_of(before), protocols.values_of(after)
    return {name: (old[name], new[name]) for name in old if old[name] != new[name]}


def _value(protocol: Protocol, name: str) -> Any:
    return protocols.values_of(protocol)[name]
