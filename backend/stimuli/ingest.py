"""Ingest of image folders: a pool of uniform stimuli, or one message with all problems and no files left.

Each core processes one image at a time, so that memory does not grow with the folders.
"""

import hashlib
import secrets
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from backend.experiment.records import CHECK, FAKE, REAL, Stimulus
from backend.foundation.errors import InvalidInput
from backend.stimuli import refusals
from backend.stimuli.confounds import Difference, cropped, differences, treatments
from backend.stimuli.file_metadata import keep_uniform
from backend.stimuli.file_names import first_of, joined
from backend.stimuli.folders import Finding, Scan, Source, scan
from backend.stimuli.images import (
    BadPicture,
    Preprocessing,
    SourceFacts,
    parse_preprocessing,
    process,
    resolve_format,
    suffix_of,
)
from backend.stimuli.medium import Intake
from backend.stimuli.parallel import results_of

_FIRST = 64
"""Number of images that are measured to estimate the time of all."""
_KEPT_FACTS = 500
"""Reals whose facts are returned, to compare with what is added to the study later."""
_SAME = "shows the same picture as "


@dataclass(frozen=True)
class _Job:
    source: Source
    out: Path | None
    size_px: int
    image_format: str
    losses: Preprocessing
    key: bytes


@dataclass(frozen=True)
class Made:
    """A file of a researcher, and what became of it."""

    source: Source
    name: str = ""
    """Of the file that was made; '' if it cannot be used."""
    facts: Any = None
    """Of a picture its `SourceFacts`."""
    finding: Finding | None = None


def ingest(
    real: Path,
    models: Mapping[str, Path],
    out: Path,
    *,
    skip_bad: bool = False,
    strict: bool = False,
    lacking: Callable[[Sequence[Stimulus], Sequence[str]], str] | None = None,
    progress: Callable[..., Iterable] | None = None,
    **options: Any,
) -> Intake:
    """Process all images of the folders into `out`, uniform in everything but what they show.

    A public name is a keyed hash of the processed image: it depends neither on the truth nor on
    the order of the files, and reveals nothing that the image does not. Files that are not images,
    and images that repeat one of the same side, are left out, with a note.

    Args:
        out: folder for the results, created here; removed again if anything fails.
        skip_bad: whether to leave out unreadable files, and images that are on several sides, as well.
        strict: whether to refuse duplicates.
        lacking: returns what a pool (stimuli, classes) lacks, as a sentence; "" if it is sufficient.
        options: the others of `survey`.

    Raises:
        Refused: names all folders and files that are not as expected, and what to do; before any file is
            opened, if their names tell.
    """
    check = partial(check_names, skip_bad=skip_bad, lacking=lacking)
    try:
        surveyed = survey(real, models, out, progress=progress, check_names=check, **options)
        refusals.check(
            surveyed.folders,
            [*(() if skip_bad else surveyed.files), *(surveyed.duplicates if strict else ())],
            lacking(surveyed.stimuli, surveyed.classes) if lacking and not surveyed.folders else "",
            besides=[difference.note for difference in surveyed.differences if difference.remedy],
        )
        if not surveyed.good:
            raise InvalidInput("no picture is left; see the files that were left out")
        kept = [item.name for item in surveyed.good]
        keep_uniform(out, (item.name for item in surveyed.made), kept, progress)
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    unusable = [*surveyed.duplicates, *surveyed.files]
    left_out, untold = refusals.left_out_lines(surveyed.no_pictures, unusable)
    reals = surveyed.sides.get(None, [])
    return Intake(
        surveyed.stimuli,
        surveyed.classes,
        surveyed.image_format,
        surveyed.notes,
        left_out,
        untold,
        surveyed.size_px,
        tuple(reals[:: _sampling_step(reals)]),
    )


@dataclass(frozen=True)
class Survey:
    """What one pass over all files found; nothing is refused yet."""

    made: Sequence[Made]
    good: Sequence[Made]
    """The files to use."""
    duplicates: Sequence[Finding]
    files: Sequence[Finding]
    """Files that cannot be used, and images that are on several sides."""
    folders: Sequence[Finding]
    """Folders that are not as expected."""
    no_pictures: Sequence[str]
    classes: tuple[str, ...]
    image_format: str
    size_px: int
    losses: Preprocessing

    @cached_property
    def stimuli(self) -> tuple[Stimulus, ...]:
        """The pool, in the order of the names."""
        return tuple(sorted(map(stimulus_of, self.good), key=lambda stimulus: stimulus.name))

    @cached_property
    def sides(self) -> dict[str | None, list[SourceFacts]]:
        """The facts of the files that scored trials show, by model; those of the reals under None."""
        return sides_of(self.good)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """How models' files differ from the reals'."""
        return tuple(differences(self.sides, self.size_px, self.losses))

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            *(difference.note for difference in self.differences),
            *self.notes_beside_differences,
        )

    @property
    def notes_beside_differences(self) -> tuple[str, ...]:
        return (
            *treatments(self.sides),
            *cropped(self.sides),
            *_marked_checks(self.good, self.size_px, self.losses),
            *refusals.handed_on_notes(self.no_pictures, self.duplicates, self.files),
        )


def survey(
    real: Path,
    models: Mapping[str, Path],
    out: Path | None,
    *,
    size_px: int,
    reals_name: str = REAL,
    flat: bool | None = None,
    aside: Mapping[str, Path] = MappingProxyType({}),
    image_format: str = "auto",
    preprocess: Sequence[str] = (),
    rng: Random | None = None,
    workers: int | None = None,
    progress: Callable[..., Iterable] | None = None,
    say: Callable[[str], Any] | None = None,
    check_names: Callable[[Scan], Any] = lambda scanned: None,
) -> Survey:
    """Process all images of the folders as `ingest` does, and return all that was found.

    Args:
        real: folder of the real images; sub-folders are classes.
        models: folder of each model's samples, by the model's name.
        out: a new folder for the results; None to write nothing.
        size_px: width and height of the results.
        reals_name: what notes call the folder of the real images.
        flat: as of `folders.scan`.
        aside: by role, folders of pictures that no scored trial shows, with sub-folders `real` and `fake`.
        preprocess: losses that all images go through (`images.parse_preprocessing`).
        rng: source of the key for names, for a pool that can be recreated with the same names;
            default, the system's randomness.
        workers: number of processes; default, one a core.
        progress: wraps an iterable: `progress(items, total, label)`.
        say: called with an estimate of the time, if it is long.
        check_names: called with what the names of files tell, before any is opened; it may raise.
    """
    chosen = resolve_format(image_format, size_px)
    losses = checked_preprocessing(preprocess, size_px)
    scanned = scan(real, models, aside=aside, reals_name=reals_name, flat=flat)
    check_names(scanned)
    key = rng.randbytes(32) if rng else secrets.token_bytes(32)
    jobs = [_Job(source, out, size_px, chosen, losses, key) for source in scanned.sources]
    if out is not None:
        out.mkdir(parents=True)
    made = results_of(_make, jobs, "pictures", workers, progress, say, _FIRST)
    good, duplicates, torn = sorted_out([item for item in made if item.name])
    bad, unnamed = _unreadable(made)
    return Survey(
        made,
        good,
        duplicates,
        [*scanned.of_files, *bad, *torn],
        scanned.of_folders,
        (*scanned.no_pictures, *unnamed),
        scanned.classes,
        chosen,
        size_px,
        losses,
    )


def processed(folder: Path, what: str, size_px: int, image_format: str) -> list[bytes]:
    """Return the processed images of a folder that is not a side of a study; `what` names them in messages.

    Raises:
        Refused: names all files that are not as expected.
    """
    scanned = scan(folder, {}, what)
    made, bad = [], scanned.of_files
    for source in scanned.sources:
        try:
            made.append(process(source.path, size_px, image_format)[0])
        except BadPicture as error:
            bad.append(Finding(error.kind, source.name, error.why))
    unnamed = [[replace(finding, keys=()) for finding in some] for some in (scanned.of_folders, bad)]
    refusals.check(unnamed[0], unnamed[1], "")
    return made


def check_names(scanned: Scan, skip_bad: bool, lacking: Callable | None) -> None:
    """Refuse what the names of files tell, before any is opened."""
    most = [stimulus_of(Made(source, str(i))) for i, source in enumerate(scanned.sources)]
    lack = lacking(most, scanned.classes) if lacking and not scanned.of_folders else ""
    refusals.check(scanned.of_folders, [] if skip_bad else scanned.of_files, lack)


def _make(job: _Job) -> Made:
    """Process one image; runs in a worker process."""
    try:
        data, facts = process(job.source.path, job.size_px, job.image_format, job.losses)
    except BadPicture as error:
        return Made(job.source, finding=Finding(error.kind, job.source.name, error.why, job.source.keys))
    name = hashlib.blake2b(data, digest_size=16, key=job.key).hexdigest() + suffix_of(job.image_format)
    if job.out is not None:
        (job.out / name).write_bytes(data)
    return Made(job.source, name, facts)


def _size_of(step: str) -> int:
    return next(iter(parse_preprocessing([step]).sizes_px), 0)


def checked_preprocessing(preprocess: Sequence[str], size_px: int) -> Preprocessing:
    """Return the losses that pictures go through that are shown at `size_px`.

    Raises:
        InvalidInput: a step is unknown, or loses nothing at this size.
    """
    losses = parse_preprocessing(preprocess)
    for size in losses.sizes_px:
        if size >= size_px:
            raise InvalidInput(
                f"--preprocess size:{size} loses nothing where pictures are shown at {size_px} px; "
                f"choose a size below {size_px}",
                keys=("preprocess", [*map(_size_of, preprocess)].index(size)),
                also=[("settings", "size_px")],
            )
    return losses


def _unreadable(made: Sequence[Made]) -> tuple[list[Finding], list[str]]:
    """Return the files that cannot be read, and the files without an extension that are not images."""
    bad, no_pictures = [], []
    for item in made:
        if item.finding and item.finding.kind in ("no picture", "empty") and not item.source.path.suffix:
            no_pictures.append(item.finding.what)
        elif item.finding:
            bad.append(item.finding)
    return bad, no_pictures


def sorted_out(made: Sequence[Made]) -> tuple[list[Made], list[Finding], list[Finding]]:
    """Return the images to use, those that repeat one of the same side, and those that are on several sides.

    Equal processed images have equal names. An image on several sides is neither real nor fake, or of no
    particular model, and is removed from all of them; an image repeated on one side is used once.
    """
    by_name: dict[str, list[Made]] = defaultdict(list)
    for item in made:
        by_name[item.name].append(item)
    good, duplicates, torn = [], [], []
    for first, *others in by_name.values():
        name = first.source.name
        if all(_side_of(other) == _side_of(first) for other in others):
            good.append(first)
            duplicates += [
                Finding("duplicate", other.source.name, joined(_SAME, name), other.source.keys)
                for other in others
            ]
        else:
            keys = others[-1].source.keys  # the reals are first
            others.sort(key=lambda other: _side_of(other) == _side_of(first))  # those of another side first
            there = first_of([other.source.name for other in others])
            torn.append(Finding("both sides", name, joined(_SAME, there), keys))
    return good, duplicates, torn


def stimulus_of(item: Made) -> Stimulus:
    """Return a file as one of the pool."""
    source = item.source
    truth = REAL if source.model is None else FAKE
    return Stimulus(item.name, truth, source.model, source.class_, source.relative, source.role)


def _side_of(item: Made) -> tuple[str | None, str]:
    return item.source.model, item.source.role


def sides_of(good: Sequence[Made]) -> dict[str | None, list[Any]]:
    """Return the facts of the files that scored trials show, by model."""
    sides: dict[str | None, list[Any]] = defaultdict(list)
    for item in good:
        if not item.source.role and item.facts is not None:
            sides[item.source.model].append(item.facts)
    return sides


def _sampling_step(reals: Sequence[SourceFacts]) -> int:
    """Return the step at which a sample of at most `_KEPT_FACTS` is taken."""
    return -(-len(reals) // _KEPT_FACTS) or 1


def _marked_checks(good: Sequence[Made], size_px: int, losses: Preprocessing) -> Iterator[str]:
    """Yield what gives attention checks away beside what they show."""
    facts = {
        is_check: [item.facts for item in good if item.facts and (item.source.role == CHECK) == is_check]
        for is_check in (True, False)
    }
    if facts[True] and facts[False]:
        sides: dict[str | None, list[SourceFacts]] = {None: facts[False], "attention checks": facts[True]}
        for difference in differences(sides, size_px, losses):
            yield f"attention checks: {difference.note.replace('the reals', 'the other pictures')}"
