"""What the creation of a study would find in its pictures: its first steps, without a study made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.administration.draft import Draft
from backend.administration.spec_checks import check_names, protocol_of, with_clean_names
from backend.administration.study_spec import StudySpec
from backend.experiment.records import CLIPS, Stimulus
from backend.foundation.errors import InvalidInput
from backend.stimuli.media import MEDIA


def check_pictures(spec: StudySpec, stimuli: Sequence[Stimulus] | None) -> None:
    """Check the settings of a specification, and that pictures suffice for them, without reading any.

    Args:
        stimuli: as `Examined.stimuli` has them, by whatever names; None if they are not known.

    Raises:
        InvalidInput: an invalid setting, or what the pictures lack.
    """
    with spec.at():
        draft = Draft.of(spec, protocol_of(spec))
        if stimuli is None:
            return
        classes = sorted({stimulus.class_ for stimulus in stimuli} - {""})
        if lack := draft.lacking([*stimuli, *draft.made_stimuli], classes):
            raise InvalidInput(lack)


@dataclass(frozen=True)
class Examined:
    """What the creation of a study would find in its pictures."""

    survey: Any
    """A `stimuli.ingest.Survey`; of items and clips, the `Intake` of those that can be used."""
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
    spec, _ = with_clean_names(spec)
    with spec.at():
        check_names(spec)
        draft = Draft.of(spec, protocol_of(spec))
    options = {**draft.sides, "progress": progress, "say": say}
    medium = MEDIA[draft.study.medium]
    if draft.judgment.has_items or draft.study.medium == CLIPS:
        ingest = medium.ingest_items if draft.judgment.has_items else medium.ingest
        intake = ingest(out=scratch / "items", skip_bad=True, **options)
        given = tuple(each for each in intake.stimuli if not each.role or each.role in spec.aside)
        return Examined(intake, given, _mask_problems(spec), draft.lacking(intake.stimuli, ()))
    from backend.stimuli.ingest import survey

    examined = survey(out=None, **options)
    folders = [finding.what for finding in examined.folders]
    lack = "" if folders else draft.lacking(examined.stimuli, examined.classes)
    return Examined(examined, examined.stimuli, (*folders, *_mask_problems(spec)), lack)


def _mask_problems(spec: StudySpec) -> tuple[str, ...]:
    """Return what is wrong with the researcher's own masks."""
    from backend.stimuli.masks import check_masks

    try:
        if spec.masks is not None:
            check_masks(spec.masks)
    except InvalidInput as error:
        return (str(error),)
    return ()
