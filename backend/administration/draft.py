"""A study in the making: one value, which each step of a creation returns with what it adds.

`create.STEPS` has the steps in their order. The audit of an order and a model that joins a study begin with
the same value.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from backend.administration import catalogues
from backend.administration.spec_checks import check_medium
from backend.administration.study_spec import StudySpec
from backend.experiment import sampling, unscored
from backend.experiment.judgment import Judgment, pictures_of
from backend.experiment.judgments import METHODS, judgment_of
from backend.experiment.protocol import Protocol
from backend.experiment.records import CLIPS, Stimulus, Study
from backend.foundation.counted_nouns import counted, some_of
from backend.foundation.errors import InvalidInput, Problem, together
from backend.stimuli.media import MEDIA
from backend.stimuli.medium import Intake
from backend.stores.datadir import DataDir
from backend.stores.store import Store
from backend.studies import lifecycle

_MASKS = 64
"""Masks per study: enough that four per trial never become familiar, few enough to load fast."""


@dataclass(frozen=True)
class Making:
    """Where a study is made, and who hears of it."""

    store: Store
    data: DataDir
    pictures: Path
    """The folder for its files, which `take_in` creates."""
    progress: Callable[..., Iterable] | None = None
    say: Callable[[str], Any] | None = None
    upload: Callable[[str, Path], Any] | None = None
    """Uploads the images (study, folder) to where browsers get them, if that is elsewhere."""


@dataclass(frozen=True)
class Draft:
    """A study in the making: what was ordered, the study as far as it is known, and its pictures."""

    spec: StudySpec
    study: Study
    intake: Intake = Intake((), (), "", (), ())

    @classmethod
    def of(
        cls, spec: StudySpec, protocol: Protocol, created_at: str = "", notes: Sequence[str] = ()
    ) -> "Draft":
        """Return the draft of a specification, without pictures.

        Raises:
            InvalidInput: its folders hold clips, which its method, or a setting, does not go with.
        """
        medium = _medium(spec, protocol)
        if medium == CLIPS:
            protocol = catalogues.in_its_language(protocol, spec.settings, medium=medium)
        study = Study(
            name=spec.name,
            kind=spec.kind,
            models=tuple(name for name, _ in (spec.items or spec.models)),
            protocol=protocol,
            created_at=created_at,
            settings_id=lifecycle.new_settings_id(),
            pages=spec.pages,
            questions=spec.questions,
            notes=tuple(notes),
            medium=medium,
        )
        return cls(spec, study)

    def changed(self, **fields: Any) -> "Draft":
        """Return the draft with other fields of its study."""
        return replace(self, study=replace(self.study, **fields))

    @property
    def judgment(self) -> Judgment:
        return judgment_of(self.study.protocol.method)

    @property
    def has_masks(self) -> bool:
        return self.study.protocol.has_flashes and self.study.protocol.timing.mask_count > 0

    @property
    def sides(self) -> dict[str, Any]:
        """Its folders of pictures, and the form that these are brought to, as the ingest takes them."""
        spec, judgment, shown = self.spec, self.judgment, self.study.protocol.stimuli
        form = {"size_px": shown.size_px, "image_format": shown.image_format, "aside": spec.aside}
        if judgment.has_items:
            made = judgment.made_items(self.study.protocol, [*spec.aside])
            answers, parts = judgment.item_answers, judgment.parts
            return form | {"sets": dict(spec.items), "parts": parts, "answers": answers, "made": made}
        if spec.real is None:
            raise InvalidInput(f"a study of method {spec.method} needs a folder of real images (--real DIR)")
        models = dict(spec.models)
        if self.study.medium == CLIPS:
            clips = self.study.protocol.clips
            form |= {"fps": clips.clip_fps, "seconds": clips.clip_seconds, "skip": clips.clip_skip_seconds}
            form |= {"at_once": judgment.pictures_a_trial}
        return form | {"real": spec.real, "models": models, "preprocess": spec.preprocess, "flat": spec.flat}

    @property
    def sides_by_source(self) -> Sequence[str | None]:
        """The sides, reals under None, that show files of one name together; () if files are not matched."""
        study = self.study
        if not study.protocol.stimuli.is_by_source:
            return ()
        return (*((None,) if self.judgment.judges_reals(study.protocol) else ()), *study.models)

    @property
    def made_stimuli(self) -> list[Stimulus]:
        """Stimuli in place of the items of known answer that the creation makes."""
        kinds = self.judgment.made_items(self.study.protocol, [*self.spec.aside])
        return [stimulus for kind in kinds for stimulus in kind.stimuli]

    def with_roles(self, stimuli: Sequence[Stimulus]) -> tuple[Stimulus, ...]:
        """Return a pool in which pictures are set aside from scored trials."""
        if self.judgment.has_items:
            return tuple(stimuli)
        rng = Random("aside")
        return unscored.set_aside(stimuli, self.study.protocol.unscored, rng, [*self.spec.aside])

    def lacking(self, stimuli: Sequence[Stimulus], classes: Sequence[str]) -> str:
        """Return what a pool lacks, as a sentence; "" if it is sufficient."""
        from backend.stimuli import partners

        if sides := self.sides_by_source:
            if (alone := partners.alone(stimuli, sides)) and not self.spec.skip_bad:
                return self._said(partners.lack(alone, sides, "; or leave these out with --skip-bad"))
            stimuli = [each for each in stimuli if partners.source_of(each) not in alone]
        marked = self.with_roles(stimuli)
        pool = sampling.pool_of(marked)
        complete = self.judgment.with_pool(self.study.protocol, pool, self.spec.settings)
        lack = self.judgment.lack(replace(self.study, protocol=complete, classes=tuple(classes)), pool)
        taken = sum(after.role != before.role for before, after in zip(stimuli, marked, strict=True))
        if lack and taken:
            aside = (
                f"{taken} pictures are set aside for practice and instructions, unless --practice DIR and "
                "--checks DIR have some"
            )
            return self._said(together([lack, aside]))
        return self._said(lack)

    def _said(self, problem: str) -> str:
        """Return a problem in the words of the medium."""
        said = MEDIA[self.study.medium].said(problem, self.study.models)
        return Problem(said, problem.keys, problem.also) if isinstance(problem, Problem) else said


def _medium(spec: StudySpec, protocol: Protocol) -> str:
    """Return the medium of the folders of an order, which its method must permit."""
    from backend.stimuli.clips.detection import medium_of

    medium, judgment = medium_of([*spec.folders.values()]), judgment_of(spec.method)
    with spec.at("real" if spec.real is not None else "items"):
        if medium not in judgment.media:
            able = ", ".join(name for name in METHODS if medium in judgment_of(name).media)
            raise InvalidInput(
                f"{judgment.methods[spec.method].title} (method {spec.method}) is for pictures, and the "
                f"folders hold clips; clips go with the methods {able}"
            )
    check_medium(medium, protocol)
    return medium


D = TypeVar("D", bound=Draft)


def check_masks(draft: Draft, making: Making) -> Draft:
    """Read the researcher's own masks before all pictures, so that they are not refused after those."""
    from backend.stimuli.masks import check_masks

    if draft.spec.masks is not None and draft.has_masks:
        with draft.spec.at("masks"):
            check_masks(draft.spec.masks)
    return draft


def take_in(draft: D, making: Making) -> D:
    """Read all sides, refuse or leave out files, and write the others uniform in all but what they show."""
    medium, spec = MEDIA[draft.study.medium], draft.spec
    ingest: Callable[..., Intake] = medium.ingest_items if draft.judgment.has_items else medium.ingest
    with spec.at():
        intake = ingest(
            **draft.sides,
            out=making.pictures,
            skip_bad=spec.skip_bad,
            strict=spec.strict,
            lacking=draft.lacking,
            progress=making.progress,
            say=making.say,
        )
    return replace(draft, intake=intake)


def match_sources(draft: Draft, making: Making) -> Draft:
    """Leave out files without partners, and give partners names that begin alike, where they are matched."""
    from backend.stimuli import partners

    if not (sides := draft.sides_by_source):
        return draft
    alone = partners.alone(draft.intake.stimuli, sides)
    for stimulus in draft.intake.stimuli:
        if partners.source_of(stimulus) in alone:
            (making.pictures / stimulus.name).unlink()
    matched = [each for each in draft.intake.stimuli if partners.source_of(each) not in alone]
    begins = {source: secrets.token_hex(8) for source in {*map(partners.source_of, matched)}}
    draft = renamed(replace(draft, intake=replace(draft.intake, stimuli=tuple(matched))), making, begins)
    notes = [f"{counted(len(begins), 'source')}, matched by name, with one file of every side each"]
    if alone:
        notes.append(f"left out, since not every side has one file of it: {some_of([*alone])}")
    files = partners.by_source(draft.intake.stimuli, sides, [making.pictures] * len(sides))
    notes += MEDIA[draft.study.medium].notes_on_partners(files)
    return draft.changed(notes=(*draft.study.notes, *notes))


def renamed(draft: D, making: Making, begins: Mapping[str, str]) -> D:
    """Return the draft with stimuli, and their files, whose names begin as is given for their sources."""
    from backend.stimuli import partners

    new = {each.name: partners.renamed(each, begins) for each in draft.intake.stimuli}
    for name, stimulus in new.items():
        (making.pictures / name).rename(making.pictures / stimulus.name)
    stimuli = tuple(sorted(new.values(), key=lambda stimulus: stimulus.name))
    return replace(draft, intake=replace(draft.intake, stimuli=stimuli))


def set_aside(draft: Draft, making: Making) -> Draft:
    """Give a role to pictures for practice and instructions that have no folder of their own."""
    return replace(draft, intake=replace(draft.intake, stimuli=draft.with_roles(draft.intake.stimuli)))


def fit_to_pool(draft: Draft, making: Making) -> Draft:
    """Let the settings follow from the pool where they do, and note what it says of the study."""
    intake, study, judgment = draft.intake, draft.study, draft.judgment
    pool = sampling.pool_of(intake.stimuli)
    protocol = study.protocol.changed(size_px=intake.size_px)
    draft = draft.changed(
        protocol=judgment.with_pool(protocol, pool, draft.spec.settings),
        classes=intake.classes,
        clip=intake.clip,
        notes=(*study.notes, *intake.notes, *_bytes_notes(draft, making)),
    )
    return draft.changed(notes=(*draft.study.notes, *judgment.notes(draft.study, pool)))


def _bytes_notes(draft: Draft, making: Making) -> Iterator[str]:
    """Yield how much a session of clips loads, on which the wait of evaluators and costs depend."""
    if draft.study.medium == CLIPS and draft.intake.stimuli:
        each = (making.pictures / draft.intake.stimuli[0].name).stat().st_size / 1e6
        count = draft.study.protocol.stimuli.trials * draft.judgment.pictures_a_trial
        yield f"a session loads {each * count:.2g} MB: {count} clips of {each:.2g} MB each"


def add_masks(draft: Draft, making: Making) -> Draft:
    """Write the masks, the researcher's own or such as are made of the pictures of scored trials."""
    if not draft.has_masks:
        return draft
    if draft.spec.masks is None:
        return draft.changed(masks=tuple(_made_masks(draft, making)))
    from backend.stimuli.masks import ingest_masks

    form: dict[str, Any] = {
        "size_px": draft.study.protocol.stimuli.size_px,
        "image_format": draft.intake.image_format,
    }
    with draft.spec.at("masks"):
        return draft.changed(masks=tuple(ingest_masks(draft.spec.masks, making.pictures, **form)))


def _made_masks(draft: Draft, making: Making) -> Sequence[str]:
    from backend.stimuli.masks import make_masks

    rng = Random("masks")  # with the same sources in the same order, masks are found in the cache
    pictures = [
        making.pictures / name
        for stimulus in sorted(draft.intake.stimuli, key=lambda one: (one.model or "", one.source))
        if not stimulus.role
        for name in pictures_of(stimulus.name)
    ]
    sources = MEDIA[draft.study.medium].stills(
        rng.sample(pictures, min(_MASKS, len(pictures))), making.pictures.with_name("stills")
    )
    return make_masks(
        sources,
        making.pictures,
        _MASKS,
        kind=draft.study.protocol.timing.masks,
        rng=rng,
        image_format=draft.intake.image_format,
        cache=making.data.cache("masks"),
        progress=making.progress,
        say=making.say,
    )


def word_notes(draft: Draft, making: Making) -> Draft:
    study = draft.study
    return draft.changed(notes=tuple(MEDIA[study.medium].said(note, study.models) for note in study.notes))


def note_flashes(draft: Draft, making: Making) -> Draft:
    """Note how the pictures and masks flash, if the study flashes."""
    from backend.stimuli import photosensitivity

    study = draft.study
    if not study.protocol.has_flashes:
        return draft
    names = [stimulus.name for stimulus in draft.intake.stimuli]
    return draft.changed(notes=(*study.notes, photosensitivity.note(study, names, making.pictures, seed=0)))
