"""Folders in, a pool of uniform pictures out; or one clear message and nothing left behind.

All cores work, one picture each at a time, so that memory does not grow with the folders.
"""

import hashlib
import os
import secrets
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from backend.errors import InvalidInput
from backend.images import (
    Equalise,
    SourceFacts,
    pad_to,
    padded_length,
    parse_equalise,
    process,
    resolve_format,
    suffix_of,
)
from backend.records import FAKE, REAL, Stimulus

_IGNORED = {"thumbs.db", "desktop.ini"}
_NAMED = 5
_CHUNK = 16
_UNIFORM_TIME = 1_000_000_000
"""Modification time of every file, so that none tells when it was made."""


@dataclass(frozen=True)
class Intake:
    """What came of the folders."""

    stimuli: tuple[Stimulus, ...]
    classes: tuple[str, ...]
    image_format: str
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class _Source:
    path: Path
    model: str | None
    class_: str
    relative: str


@dataclass(frozen=True)
class _Made:
    source: _Source
    name: str
    length: int = 0
    digest: bytes = b""
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

    Args:
        real: folder of the real pictures; sub-folders are classes.
        models: folder of each model's samples, by the model's name.
        out: folder for the results, made here; removed again if anything fails.
        skip_bad: leave unreadable and duplicate files out instead of refusing.
        rng: where the public names come from; default, the system's randomness.
        progress: wraps an iterable: `progress(items, total, label)`.

    Raises:
        InvalidInput: names the folder or files that are not as expected, and what to do.
    """
    chosen = resolve_format(image_format, size_px)
    losses = parse_equalise(equalise)
    sources, classes = scan(real, models)
    names = _public_names(len(sources), suffix_of(chosen), rng)
    out.mkdir(parents=True)
    try:
        jobs = [
            (source, out / name, size_px, chosen, losses) for source, name in zip(sources, names, strict=True)
        ]
        made = list(_tracked(_in_parallel(_make, jobs, workers), len(jobs), "pictures", progress))
        good, left_out = _sorted_out(made, skip_bad)
        for item in made:
            if item not in good:
                (out / item.name).unlink(missing_ok=True)
        _make_uniform(out, list(good), progress)
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    stimuli = tuple(sorted((_stimulus(item) for item in good), key=lambda stimulus: stimulus.name))
    notes = (*_differences(list(good), size_px), *_left_out_note(left_out))
    return Intake(stimuli, classes, chosen, notes, left_out)


def scan(real: Path, models: Mapping[str, Path]) -> tuple[list[_Source], tuple[str, ...]]:
    """Return the files to take in and the classes, having read names only.

    Raises:
        InvalidInput: a folder is missing, empty, or inside another; classes do not match.
    """
    sides = [("the reals", None, real), *((f"model {name}", name, path) for name, path in models.items())]
    for what, _, folder in sides:
        if not folder.is_dir():
            state = "is not a folder" if folder.exists() else "does not exist"
            raise InvalidInput(f"the folder of {what}, {folder}, {state}")
    _check_apart(sides)
    found = {what: list(_files(what, model, folder)) for what, model, folder in sides}
    expected = {source.class_ for source in found["the reals"]}
    for what, _, folder in sides:
        classes = {source.class_ for source in found[what]}
        if classes != expected:
            raise InvalidInput(
                f"{what} in {folder} has {_classes(classes)}, the reals have {_classes(expected)}; "
                "every model needs the classes of the reals"
            )
    return [source for side in found.values() for source in side], tuple(sorted(expected - {""}))


def _files(what: str, model: str | None, folder: Path) -> Iterator[_Source]:
    plain, grouped = [], []
    for entry in sorted(folder.iterdir()):
        if _is_ignored(entry):
            continue
        if entry.is_dir():
            grouped += [
                _Source(path, model, entry.name, str(path.relative_to(folder)))
                for path in sorted(entry.iterdir())
                if not _is_ignored(path) and path.is_file()
            ]
        else:
            plain.append(_Source(entry, model, "", entry.name))
    if plain and grouped:
        raise InvalidInput(
            f"the folder of {what}, {folder}, has both files and sub-folders with files; sub-folders are "
            "classes, so put every file into one, or none"
        )
    if not plain and not grouped:
        raise InvalidInput(f"the folder of {what}, {folder}, has no files")
    return iter(plain or grouped)


def _is_ignored(path: Path) -> bool:
    return path.name.startswith(".") or path.name.lower() in _IGNORED


def _check_apart(sides: Sequence[tuple[str, str | None, Path]]) -> None:
    resolved = [(what, folder.resolve()) for what, _, folder in sides]
    for what, folder in resolved:
        for other_what, other in resolved:
            if what != other_what and folder.is_relative_to(other):
                relation = "is the same as" if folder == other else "lies inside"
                raise InvalidInput(
                    f"the folder of {what}, {folder}, {relation} that of {other_what}, {other}; "
                    "each side needs a folder of its own"
                )


def _classes(classes: set[str]) -> str:
    named = sorted(classes - {""})
    return (
        f"the classes {', '.join(named[:_NAMED])}{' …' if len(named) > _NAMED else ''}"
        if named
        else "no classes"
    )


def _public_names(count: int, suffix: str, rng: Random | None) -> list[str]:
    """Return names that say nothing: random, in an order that is random too."""
    draw = (lambda: f"{rng.getrandbits(128):032x}") if rng else (lambda: secrets.token_hex(16))
    return [draw() + suffix for _ in range(count)]


def _make(job: tuple[_Source, Path, int, str, Equalise]) -> _Made:
    """Make one picture; runs in a worker process."""
    source, target, size_px, image_format, losses = job
    try:
        data, facts = process(source.path, size_px, image_format, losses)
    except InvalidInput as error:
        return _Made(source, target.name, problem=str(error))
    target.write_bytes(data)
    digest = hashlib.blake2b(data, digest_size=16).digest()
    return _Made(source, target.name, len(data), digest, facts)


def _in_parallel(work: Callable, jobs: list, workers: int | None) -> Iterator[Any]:
    """Yield the results of `work` over `jobs` in their order, a bounded number under way."""
    workers = workers or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if workers == 1 or len(jobs) < 4 * _CHUNK:
        yield from map(work, jobs)
        return
    chunks = (jobs[i : i + _CHUNK] for i in range(0, len(jobs), _CHUNK))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            waiting = [pool.submit(_make_all, work, chunk) for chunk in islice(chunks, 4 * workers)]
            while waiting:
                yield from waiting.pop(0).result()
                waiting += [pool.submit(_make_all, work, chunk) for chunk in islice(chunks, 1)]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _make_all(work: Callable, chunk: list) -> list:
    return [work(job) for job in chunk]


def _tracked(items: Iterable, total: int, label: str, progress: Callable | None) -> Iterable:
    return progress(items, total, label) if progress else items


def _sorted_out(made: list[_Made], skip_bad: bool) -> tuple[dict[_Made, None], tuple[str, ...]]:
    """Return the good pictures and the reasons for the others.

    Raises:
        InvalidInput: there are unreadable or duplicate files, and they are not to be skipped.
    """
    unreadable = [item.problem for item in made if item.problem]
    by_digest: dict[bytes, list[_Made]] = defaultdict(list)
    for item in made:
        if not item.problem:
            by_digest[item.digest].append(item)
    repeated = [items for items in by_digest.values() if len(items) > 1]
    duplicates = [
        f"{other.source.path} shows the same picture as {items[0].source.path}"
        for items in repeated
        for other in items[1:]
    ]
    if not skip_bad:
        for problems, what in ((unreadable, "files cannot be read"), (duplicates, "files are duplicates")):
            if problems:
                raise InvalidInput(_listed(problems, what))
    # A picture that stands on both sides is neither real nor fake; one repeated on a side counts once.
    good = {items[0]: None for items in by_digest.values() if len({item.source.model for item in items}) == 1}
    both = [
        f"{items[0].source.path} stands on several sides"
        for items in repeated
        if len({item.source.model for item in items}) > 1
    ]
    return good, (*unreadable, *duplicates, *both)


def _listed(problems: list[str], what: str) -> str:
    shown = "; ".join(problems[:_NAMED])
    more = f"; and {len(problems) - _NAMED} more" if len(problems) > _NAMED else ""
    return f"{len(problems)} {what}: {shown}{more}; mend them, or leave them out with --skip-bad"


def _make_uniform(out: Path, good: list[_Made], progress: Callable | None) -> None:
    """Give every file one length, mode and time."""
    if not good:
        raise InvalidInput("no picture is left; see the files that were left out")
    length = padded_length(max(item.length for item in good))
    for item in _tracked(good, len(good), "making uniform", progress):
        path = out / item.name
        pad_to(path, length)
        path.chmod(0o644)
        os.utime(path, (_UNIFORM_TIME, _UNIFORM_TIME))


def _stimulus(item: _Made) -> Stimulus:
    source = item.source
    truth = REAL if source.model is None else FAKE
    return Stimulus(item.name, truth, source.model, source.class_, source.relative)


def _differences(good: list[_Made], size_px: int) -> Iterator[str]:
    """Yield what sets a model's files apart from the reals' that the pipeline cannot hide."""
    sides: dict[str | None, list[SourceFacts]] = defaultdict(list)
    for item in good:
        sides[item.source.model].append(item.facts)
    reals = sides.pop(None, [])
    for model, fakes in sides.items():
        if not reals:
            break
        ours, theirs = _formats(reals), _formats(fakes)
        if _is_lossy(reals) != _is_lossy(fakes):
            yield (
                f"the reals were {ours} and the fakes of {model} {theirs}: traces of compression can give "
                "them away; --equalise jpeg:90 puts both through the same loss"
            )
        small, large = sorted([_enlarged(reals, size_px), _enlarged(fakes, size_px)])
        if large >= 1.1 and large / small >= 1.1:
            lower = round(size_px / large)
            yield (
                f"the reals were enlarged {_enlarged(reals, size_px):.2g} times and the fakes of {model} "
                f"{_enlarged(fakes, size_px):.2g} times: sharpness can give them away; "
                f"--equalise size:{lower} brings both to one sharpness"
            )
        if abs(_share(reals, "has_colour") - _share(fakes, "has_colour")) > 0.05:
            yield (
                f"{100 * _share(reals, 'has_colour'):.0f}% of the reals and "
                f"{100 * _share(fakes, 'has_colour'):.0f}% of the fakes of {model} are in colour"
            )
        if abs(_share(reals, "has_alpha") - _share(fakes, "has_alpha")) > 0.05:
            yield (
                f"{100 * _share(reals, 'has_alpha'):.0f}% of the reals and "
                f"{100 * _share(fakes, 'has_alpha'):.0f}% of the fakes of {model} had transparency, now white"
            )


def _formats(side: list[SourceFacts]) -> str:
    return " and ".join(name for name, _ in Counter(facts.format for facts in side).most_common(2))


def _is_lossy(side: list[SourceFacts]) -> bool:
    return sum(facts.format in ("JPEG", "MPO", "WEBP") for facts in side) > len(side) / 2


def _enlarged(side: list[SourceFacts], size_px: int) -> float:
    """Return how many times the median picture was enlarged; 1 where it was made smaller."""
    return max(1.0, size_px / median(facts.short_side_px for facts in side))


def _share(side: list[SourceFacts], name: str) -> float:
    return sum(getattr(facts, name) for facts in side) / len(side)


def _left_out_note(left_out: tuple[str, ...]) -> Iterator[str]:
    if left_out:
        shown = "; ".join(left_out[:_NAMED])
        more = f"; and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        yield f"{len(left_out)} files were left out: {shown}{more}"
