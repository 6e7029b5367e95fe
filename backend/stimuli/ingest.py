"""Ingest of image folders: a pool of uniform stimuli, or one message with all problems and no files left.

Each core processes one image at a time, so that memory does not grow with the folders.
"""

import hashlib
import secrets
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from backend.experiment.records import CHECK, FAKE, REAL, Stimulus
from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.stimuli.confounds import differences, treatments
from backend.stimuli.estimates import announced
from backend.stimuli.file_metadata import make_uniform
from backend.stimuli.folders import Finding, Source, scan
from backend.stimuli.images import (
    BadPicture,
    Equalise,
    SourceFacts,
    parse_equalise,
    process,
    resolve_format,
    suffix_of,
)
from backend.stimuli.medium import Intake, Refused
from backend.stimuli.parallel import in_parallel

_FIRST = 64
"""Number of images that are measured to estimate the time of all."""
_NAMED = 3
_ALL_NAMED = 5
"""Up to this many files of a kind are all named; of more, only the first few are."""
_KINDS = {
    "gone": ("is gone", "are gone"),
    "dead link": ("is a link that leads nowhere", "are links that lead nowhere"),
    "forbidden": ("may not be read for lack of permission", "may not be read for lack of permission"),
    "empty": ("is empty", "are empty"),
    "no picture": ("has a picture's ending but holds none", "have a picture's ending but hold none"),
    "format": ("is a picture in a format that is not read", "are pictures in formats that are not read"),
    "unsupported": ("has levels or colours that are not read", "have levels or colours that are not read"),
    "broken": ("is cut off or damaged", "are cut off or damaged"),
    "large": ("is too large", "are too large"),
    "small": ("is too small", "are too small"),
    "both sides": ("appears on more than one side", "appear on more than one side"),
    "duplicate": ("is a duplicate", "are duplicates"),
}
"""Kinds of refused files in the order of messages, each worded for one file and for several."""


@dataclass(frozen=True)
class _Job:
    source: Source
    out: Path
    size_px: int
    image_format: str
    losses: Equalise
    key: bytes


@dataclass(frozen=True)
class _Made:
    source: Source
    name: str = ""
    facts: SourceFacts | None = None
    finding: Finding | None = None


def ingest(
    real: Path,
    models: Mapping[str, Path],
    out: Path,
    *,
    size_px: int,
    aside: Mapping[str, Path] = MappingProxyType({}),
    image_format: str = "auto",
    equalise: Sequence[str] = (),
    skip_bad: bool = False,
    strict: bool = False,
    lacking: Callable[[Sequence[Stimulus], Sequence[str]], str] | None = None,
    rng: Random | None = None,
    workers: int | None = None,
    progress: Callable[..., Iterable] | None = None,
    say: Callable[[str], Any] | None = None,
) -> Intake:
    """Process all images of the folders into `out`, uniform in everything but what they show.

    A public name is a keyed hash of the processed image: it depends neither on the truth nor on
    the order of the files, and reveals nothing that the image does not. Files that are not images,
    and images that repeat one of the same side, are left out, with a note.

    Args:
        real: folder of the real images; sub-folders are classes.
        models: folder of each model's samples, by the model's name.
        out: folder for the results, created here; removed again if anything fails.
        aside: by role, folders of pictures that no scored trial shows, with sub-folders `real` and `fake`.
        skip_bad: whether to leave out unreadable files, and images that are on several sides, as well.
        strict: whether to refuse duplicates.
        lacking: returns what a pool (stimuli, classes) lacks, as a sentence; "" if it is sufficient.
        rng: source of the key for names, for a pool that can be recreated with the same names;
            default, the system's randomness.
        workers: number of processes; default, one a core.
        progress: wraps an iterable: `progress(items, total, label)`.
        say: called with an estimate of the time, if it is long.

    Raises:
        Refused: names all folders and files that are not as expected, and what to do.
    """
    chosen = resolve_format(image_format, size_px)
    losses = _checked_losses(equalise, size_px)
    scanned = scan(real, models, aside=aside)
    key = rng.randbytes(32) if rng else secrets.token_bytes(32)
    jobs = [_Job(source, out, size_px, chosen, losses, key) for source in scanned.sources]
    out.mkdir(parents=True)
    try:
        making = announced(
            in_parallel(_make, jobs, workers),
            len(jobs),
            say,
            f"{len(jobs):,} pictures will take {{}}",
            first=_FIRST,
        )
        made = list(_tracked(making, len(jobs), "pictures", progress))
        good, duplicates, torn = _sorted_out([item for item in made if item.name])
        bad, unnamed = _unreadable(made)
        folders = [finding for finding in scanned.findings if finding.kind == "folder"]
        files = [*(finding for finding in scanned.findings if finding.kind != "folder"), *bad, *torn]
        stimuli = tuple(sorted((_stimulus(item) for item in good), key=lambda stimulus: stimulus.name))
        check_findings(
            folders,
            [*(() if skip_bad else files), *(duplicates if strict else ())],
            lacking(stimuli, scanned.classes) if lacking and not folders else "",
        )
        kept = {item.name for item in good}
        for name in {item.name for item in made if item.name} - kept:
            (out / name).unlink()
        _make_uniform(out, good, progress)
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    no_pictures = (*scanned.no_pictures, *unnamed)
    notes = (
        *differences(_sides(good), size_px, losses),
        *treatments(_sides(good)),
        *_marked_checks(good, size_px, losses),
        *left_out_notes(no_pictures, duplicates, files),
    )
    left_out = (
        *(f"{name}: is no picture" for name in no_pictures),
        *map(_line, [*duplicates, *files]),
    )
    groups = [no_pictures, *_by_kind([*duplicates, *files]).values()]
    untold = left_out if any(len(group) > _ALL_NAMED for group in groups) else ()
    return Intake(stimuli, scanned.classes, chosen, notes, left_out, untold)


def processed(folder: Path, what: str, size_px: int, image_format: str) -> list[bytes]:
    """Return the processed images of a folder that is not a side of a study; `what` names them in messages.

    Raises:
        Refused: names all files that are not as expected.
    """
    scanned = scan(folder, {}, what)
    made, bad = [], [finding for finding in scanned.findings if finding.kind != "folder"]
    for source in scanned.sources:
        try:
            made.append(process(source.path, size_px, image_format)[0])
        except BadPicture as error:
            bad.append(Finding(error.kind, printable(source.path), error.why))
    check_findings([finding for finding in scanned.findings if finding.kind == "folder"], bad, "")
    return made


def _make(job: _Job) -> _Made:
    """Process one image; runs in a worker process."""
    try:
        data, facts = process(job.source.path, job.size_px, job.image_format, job.losses)
    except BadPicture as error:
        return _Made(job.source, finding=Finding(error.kind, printable(job.source.path), error.why))
    name = hashlib.blake2b(data, digest_size=16, key=job.key).hexdigest() + suffix_of(job.image_format)
    (job.out / name).write_bytes(data)
    return _Made(job.source, name, facts)


def _checked_losses(equalise: Sequence[str], size_px: int) -> Equalise:
    losses = parse_equalise(equalise)
    for size in losses.sizes_px:
        if size >= size_px:
            raise InvalidInput(
                f"--equalise size:{size} loses nothing where pictures are shown at {size_px} px; "
                f"choose a size below {size_px}"
            )
    return losses


def _tracked(items: Iterable, total: int, label: str, progress: Callable | None) -> Iterable:
    return progress(items, total, label) if progress else items


def _unreadable(made: Sequence[_Made]) -> tuple[list[Finding], list[str]]:
    """Return the files that cannot be read, and the files without an extension that are not images."""
    bad, no_pictures = [], []
    for item in made:
        if item.finding and item.finding.kind in ("no picture", "empty") and not item.source.path.suffix:
            no_pictures.append(item.finding.what)
        elif item.finding:
            bad.append(item.finding)
    return bad, no_pictures


def _sorted_out(made: Sequence[_Made]) -> tuple[list[_Made], list[Finding], list[Finding]]:
    """Return the images to use, those that repeat one of the same side, and those that are on several sides.

    Equal processed images have equal names. An image on several sides is neither real nor fake, or of no
    particular model, and is removed from all of them; an image repeated on one side is used once.
    """
    by_name: dict[str, list[_Made]] = defaultdict(list)
    for item in made:
        by_name[item.name].append(item)
    good, duplicates, torn = [], [], []
    for first, *others in by_name.values():
        path = printable(first.source.path)
        if all(_side_of(other) == _side_of(first) for other in others):
            good.append(first)
            duplicates += [
                Finding("duplicate", printable(other.source.path), f"shows the same picture as {path}")
                for other in others
            ]
        else:
            there = ", ".join(printable(other.source.path) for other in others)
            torn.append(Finding("both sides", path, f"shows the same picture as {there}"))
    return good, duplicates, torn


def check_findings(folders: Sequence[Finding], files: Sequence[Finding], lack: str) -> None:
    """Raise Refused if there are problems, with all of them in one message."""
    problems = [finding.what for finding in folders]
    if files:
        problems.append(_summary(files))
        if any(finding.kind != "duplicate" for finding in files):
            problems[-1] += "; fix or remove what cannot be used, or leave it out with --skip-bad"
        else:
            problems[-1] += "; remove them, or leave them out by not asking for --strict"
    if lack:
        problems.append(lack)
    if problems:
        everything = [*(finding.what for finding in folders), *map(_line, files), *filter(None, [lack])]
        is_whole = all(len(group) <= _ALL_NAMED for group in _by_kind(files).values())
        raise Refused("; ".join(problems), () if is_whole else everything)


def _summary(files: Sequence[Finding]) -> str:
    """Return how many files have which problem, with the first files of each kind."""
    kinds = [
        f"{len(group)} {_KINDS[kind][len(group) > 1]} ({_first(group)})"
        for kind, group in _by_kind(files).items()
    ]
    if len(files) == 1:
        return f"1 file cannot be used: {kinds[0].removeprefix('1 ')}"
    return f"{len(files)} files cannot be used: {'; '.join(kinds)}"


def _by_kind(files: Sequence[Finding]) -> dict[str, list[Finding]]:
    groups = {kind: [finding for finding in files if finding.kind == kind] for kind in _KINDS}
    return {kind: group for kind, group in groups.items() if group}


def _first(group: Sequence[Finding]) -> str:
    """Return the names of the first files; if they are few, all names, each with its problem."""
    if len(group) > _ALL_NAMED:
        return f"{', '.join(finding.what for finding in group[:_NAMED])}, …"
    return "; ".join(f"{finding.what} {finding.why}".strip() for finding in group)


def _line(finding: Finding) -> str:
    kind = _KINDS[finding.kind][0]
    return f"{finding.what}: {kind}{f': {finding.why}' if finding.why else ''}"


def _make_uniform(out: Path, good: list[_Made], progress: Callable | None) -> None:
    """Give every file the same length, mode and time."""
    if not good:
        raise InvalidInput("no picture is left; see the files that were left out")
    paths = [out / item.name for item in good]
    make_uniform(paths, _tracked(paths, len(paths), "making uniform", progress))


def _stimulus(item: _Made) -> Stimulus:
    source = item.source
    truth = REAL if source.model is None else FAKE
    return Stimulus(item.name, truth, source.model, source.class_, source.relative, source.role)


def _side_of(item: _Made) -> tuple[str | None, str]:
    return item.source.model, item.source.role


def _sides(good: list[_Made]) -> dict[str | None, list[SourceFacts]]:
    """Return the facts of the files that scored trials show, by model."""
    sides = defaultdict(list)
    for item in good:
        if not item.source.role:
            sides[item.source.model].append(item.facts)
    return sides


def _marked_checks(good: list[_Made], size_px: int, losses: Equalise) -> Iterator[str]:
    """Yield what gives attention checks away beside what they show."""
    facts = {
        is_check: [item.facts for item in good if (item.source.role == CHECK) == is_check]
        for is_check in (True, False)
    }
    if facts[True] and facts[False]:
        sides = {None: facts[False], "attention checks": facts[True]}
        for note in differences(sides, size_px, losses):
            yield f"attention checks: {note.replace('the reals', 'the other pictures')}"


def left_out_notes(
    no_pictures: Sequence[str], duplicates: Sequence[Finding], files: Sequence[Finding]
) -> Iterator[str]:
    if no_pictures:
        which = (
            "1 file that is no picture was"
            if len(no_pictures) == 1
            else (f"{len(no_pictures)} files that are no pictures were")
        )
        more = ", …" if len(no_pictures) > _ALL_NAMED else ""
        yield f"{which} left out: {', '.join(no_pictures[:_ALL_NAMED])}{more}"
    if duplicates:
        which = "1 duplicate was" if len(duplicates) == 1 else f"{len(duplicates)} duplicates were"
        yield f"{which} left out: {_first(duplicates)}"
    for kind, group in _by_kind(files).items():
        which = "1 file was" if len(group) == 1 else f"{len(group)} files were"
        what = _KINDS[kind][len(group) > 1]
        yield f"{which} left out that {what}: {_first(group)}"
