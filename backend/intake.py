"""Folders in, a pool of uniform pictures out; or one clear message and nothing left behind.

All cores work, one picture each at a time, so that memory does not grow with the folders.
"""

import hashlib
import secrets
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from backend.differences import differences
from backend.errors import InvalidInput
from backend.folders import Source, scan
from backend.images import (
    Equalise,
    SourceFacts,
    parse_equalise,
    process,
    resolve_format,
    suffix_of,
)
from backend.parallel import in_parallel
from backend.records import FAKE, REAL, Stimulus
from backend.uniform import make_uniform

_NAMED = 5


@dataclass(frozen=True)
class Intake:
    """What came of the folders."""

    stimuli: tuple[Stimulus, ...]
    classes: tuple[str, ...]
    image_format: str
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


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
    problem: str = ""


def take_in(
    real: Path,
    models: Mapping[str, Path],
    out: Path,
    *,
    size_px: int,
    image_format: str = "auto",
    equalise: Sequence[str] = (),
    skip_bad: bool = False,
    rng: Random | None = None,
    workers: int | None = None,
    progress: Callable[..., Iterable] | None = None,
) -> Intake:
    """Bring all pictures of the folders into `out`, alike in all but what they show.

    A public name is a keyed hash of the finished picture: it depends neither on the truth nor on
    the order of the files, and tells nothing that the picture does not.

    Args:
        real: folder of the real pictures; sub-folders are classes.
        models: folder of each model's samples, by the model's name.
        out: folder for the results, made here; removed again if anything fails.
        skip_bad: leave unreadable and duplicate files out instead of refusing.
        rng: where the names' key comes from, for a pool that can be made again with the same names;
            default, the system's randomness.
        workers: processes; default, one a core.
        progress: wraps an iterable: `progress(items, total, label)`.

    Raises:
        InvalidInput: names the folder or files that are not as expected, and what to do.
    """
    chosen = resolve_format(image_format, size_px)
    losses = _checked_losses(equalise, size_px)
    scanned = scan(real, models)
    if scanned.odd and not skip_bad:
        raise InvalidInput(_listed(scanned.odd, "is not a picture", "are not pictures"))
    key = rng.randbytes(32) if rng else secrets.token_bytes(32)
    jobs = [_Job(source, out, size_px, chosen, losses, key) for source in scanned.sources]
    out.mkdir(parents=True)
    try:
        made = list(_tracked(in_parallel(_make, jobs, workers), len(jobs), "pictures", progress))
        good, left_out = _sorted_out(made, skip_bad)
        kept = {item.name for item in good}
        for name in {item.name for item in made if item.name} - kept:
            (out / name).unlink()
        _make_uniform(out, good, progress)
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    left_out = (*scanned.odd, *left_out)
    stimuli = tuple(sorted((_stimulus(item) for item in good), key=lambda stimulus: stimulus.name))
    notes = (*differences(_sides(good), size_px, losses), *_left_out_note(left_out))
    return Intake(stimuli, scanned.classes, chosen, notes, left_out)


def _make(job: _Job) -> _Made:
    """Make one picture; runs in a worker process."""
    try:
        data, facts = process(job.source.path, job.size_px, job.image_format, job.losses)
    except InvalidInput as error:
        return _Made(job.source, problem=str(error))
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


def _sorted_out(made: list[_Made], skip_bad: bool) -> tuple[list[_Made], tuple[str, ...]]:
    """Return the good pictures and the reasons for leaving out the others.

    The same finished picture has the same name. One that stands on several sides is neither real
    nor fake and goes; one repeated on a side counts once.

    Raises:
        InvalidInput: there are unreadable or duplicate files, and they are not to be skipped.
    """
    unreadable = [item.problem for item in made if item.problem]
    by_name: dict[str, list[_Made]] = defaultdict(list)
    for item in made:
        if not item.problem:
            by_name[item.name].append(item)
    duplicates = [
        f"{other.source.path} shows the same picture as {first.source.path}"
        for first, *others in by_name.values()
        for other in others
    ]
    if unreadable and not skip_bad:
        raise InvalidInput(_listed(unreadable, "cannot be read", "cannot be read"))
    if duplicates and not skip_bad:
        raise InvalidInput(_listed(duplicates, "is a duplicate", "are duplicates"))
    good = [items[0] for items in by_name.values() if len({item.source.model for item in items}) == 1]
    kept = {item.name for item in good}
    torn = [
        f"{items[0].source.path} stands on several sides"
        for name, items in by_name.items()
        if name not in kept
    ]
    return good, (*unreadable, *duplicates, *torn)


def _listed(problems: Sequence[str], one: str, many: str) -> str:
    what = f"1 file {one}" if len(problems) == 1 else f"{len(problems)} files {many}"
    return f"{what}: {_shown(problems)}; fix or remove them, or leave them out with --skip-bad"


def _shown(problems: Sequence[str]) -> str:
    more = f"; and {len(problems) - _NAMED} more" if len(problems) > _NAMED else ""
    return "; ".join(problems[:_NAMED]) + more


def _make_uniform(out: Path, good: list[_Made], progress: Callable | None) -> None:
    """Give every file one length, mode and time."""
    if not good:
        raise InvalidInput("no picture is left; see the files that were left out")
    paths = [out / item.name for item in good]
    make_uniform(paths, _tracked(paths, len(paths), "making uniform", progress))


def _stimulus(item: _Made) -> Stimulus:
    source = item.source
    truth = REAL if source.model is None else FAKE
    return Stimulus(item.name, truth, source.model, source.class_, source.relative)


def _sides(good: list[_Made]) -> dict[str | None, list[SourceFacts]]:
    sides = defaultdict(list)
    for item in good:
        sides[item.source.model].append(item.facts)
    return sides


def _left_out_note(left_out: tuple[str, ...]) -> Iterator[str]:
    if left_out:
        files = "1 file was" if len(left_out) == 1 else f"{len(left_out)} files were"
        yield f"{files} left out: {_shown(left_out)}"
