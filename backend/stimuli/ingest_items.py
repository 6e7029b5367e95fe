"""Ingest of items, pairs or triplets of pictures: a pool of uniform files, or one message and no files left.

All pictures of a study are brought to one size, format, length and metadata, so that nothing but the picture
tells the parts of an item, its set, or an item of known answer. A public name is random even for pictures
that are equal, such as those of an identical pair: equal names would be an answer. Each core processes one
item at a time, so that memory grows only by the list of items.
"""

import hashlib
import secrets
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from backend.experiment.made_items import MadeItems
from backend.experiment.records import Stimulus
from backend.foundation.errors import InvalidInput
from backend.stimuli import refusals
from backend.stimuli.file_metadata import keep_uniform
from backend.stimuli.file_names import FileText, first_of, joined
from backend.stimuli.folders import Finding
from backend.stimuli.images import (
    BadPicture,
    encode,
    loaded,
    process,
    resolve_format,
    suffix_of,
    upright_size,
)
from backend.stimuli.item_folders import ItemSource, scan_items, shown
from backend.stimuli.medium import Intake, Refused
from backend.stimuli.parallel import results_of

OWN_SIZE = 0
"""As `size_px`: pictures stay as large as they are."""
_SIZES = (16, 2048)
_FIRST = 64
"""Number of items that are measured to estimate the time of all."""
_NAMED = 3
_BYTES = 16


@dataclass(frozen=True)
class _Job:
    source: ItemSource
    out: str
    size_px: int
    image_format: str
    key: bytes
    changes: tuple[str, ...] = ()
    """For an item that is made: what is done to the file of each part."""
    seed: int = 0


@dataclass(frozen=True)
class _Made:
    source: ItemSource
    names: tuple[str, ...] = ()
    digest: bytes = b""
    """Equal for items whose pictures are equal."""
    finding: Finding | None = None


Size = tuple[int, int]


def ingest_items(
    sets: Mapping[str, Path],
    out: Path,
    *,
    parts: Sequence[str],
    size_px: int = OWN_SIZE,
    aside: Mapping[str, Path] = MappingProxyType({}),
    answers: Sequence[str] = (),
    made: Sequence[MadeItems] = (),
    image_format: str = "auto",
    skip_bad: bool = False,
    strict: bool = False,
    lacking: Callable[[Sequence[Stimulus], Sequence[str]], str] | None = None,
    rng: Random | None = None,
    workers: int | None = None,
    progress: Callable[..., Iterable] | None = None,
    say: Callable[[str], Any] | None = None,
) -> Intake:
    """Process the pictures of all items of the sets into `out`, uniform in everything but what they show.

    An item with a picture that cannot be used is refused, or left out, as a whole. One that repeats another
    of its set is left out, with a note.

    Args:
        sets: folder of each set (`item_folders.sets_of`).
        out: folder for the results, created here; removed again if anything fails.
        parts: the parts of an item, in the order of names in the pool.
        size_px: width and height to which pictures are brought; `OWN_SIZE`: that of all of them.
        aside: by role, folders of items whose right answer is known, in sub-folders named by it.
        answers: these answers, in terms of the parts.
        made: items to make from references, the first parts of items drawn at random.
        skip_bad: whether to leave out items that cannot be used as well.
        strict: whether to refuse duplicates.
        lacking: returns what a pool (stimuli, classes) lacks, as a sentence; "" if it is sufficient.
        rng: source of the key for names and of what is made, for a pool that can be recreated; default, the
            system's randomness.
        workers: number of processes; default, one a core.
        progress: wraps an iterable: `progress(items, total, label)`.
        say: called with an estimate of the time, if it is long.

    Raises:
        Refused: names all folders and items that are not as expected, and what to do.
    """
    scanned = scan_items(sets, parts, aside, answers)
    most = [_stimulus(_Made(source, (str(i),))) for i, source in enumerate(scanned.sources)]
    most += [stimulus for kind in made for stimulus in kind.stimuli]
    lack = lacking(most, ()) if lacking and not scanned.folders else ""
    refusals.check(scanned.folders, [], lack)
    seen = results_of(_measured, scanned.sources, "sizes", workers, progress)
    bad = [*scanned.items, *(picture for picture in seen if isinstance(picture, Finding))]
    sizes = {
        source: size
        for source, size in zip(scanned.sources, seen, strict=True)
        if not isinstance(size, Finding)
    }
    refusals.check([], [] if skip_bad else bad, "", refusals.ITEMS)
    chosen_px, notes = _size(sizes.values(), size_px)
    chosen = resolve_format(image_format, chosen_px)
    key = rng.randbytes(32) if rng else secrets.token_bytes(32)
    jobs = [_Job(source, str(out), chosen_px, chosen, key) for source in sizes]
    out.mkdir(parents=True)
    try:
        done = results_of(_make, jobs, "items", workers, progress, say, _FIRST)
        good, duplicates, torn = _sorted_out([item for item in done if item.names])
        bad += [*(item.finding for item in done if item.finding), *torn]
        refusals.check([], [*(() if skip_bad else bad), *(duplicates if strict else ())], "", refusals.ITEMS)
        if not good:
            raise InvalidInput("no item is left; see the items that were left out", keys=("items",))
        wanted = _made_jobs(made, good, jobs[0], rng or Random(secrets.randbits(64)))
        good += results_of(_make, wanted, "known answers", workers, progress)
        stimuli = tuple(sorted(map(_stimulus, good), key=lambda stimulus: stimulus.name))
        refusals.check([], [], lacking(stimuli, ()) if lacking else "")
        kept = [name for item in good for name in item.names]
        keep_uniform(out, (name for item in done for name in item.names), kept, progress)
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    left_out, untold = refusals.left_out_lines(scanned.no_pictures, [*duplicates, *bad])
    return Intake(
        stimuli,
        (),
        chosen,
        (*notes, *refusals.handed_on_notes(scanned.no_pictures, duplicates, bad, refusals.ITEMS)),
        left_out,
        untold,
        chosen_px,
        unusable=(*bad, *duplicates),
    )


def _measured(source: ItemSource) -> Size | Finding:
    """Return the size of an item's pictures; runs in a worker process."""
    sizes = []
    for path in source.files:
        try:
            sizes.append(upright_size(Path(path)))
        except BadPicture as error:
            return _bad(error, path, source)
    if len(set(sizes)) > 1:
        each = (
            joined(shown(path), f" {width} x {height}")
            for path, (width, height) in zip(source.files, sizes, strict=True)
        )
        return Finding("sizes", source.name, joined("(", joined(*each, by=", "), ")"), source.keys)
    return sizes[0]


def _bad(error: BadPicture, path: FileText, source: ItemSource) -> Finding:
    why = joined("(", shown(path), f" {error.why})")
    return Finding(error.kind, source.name, why, source.keys)


def _size(sizes: Iterable[Size], size_px: int) -> tuple[int, list[str]]:
    """Return the width and height of pictures, and notes; pictures of several sizes have none of their own.

    Raises:
        Refused: pictures have several sizes, or one that cannot be shown, and none is given.
    """
    counts = Counter(sizes)
    cropped = sum(count for (width, height), count in counts.items() if width != height)
    notes = [f"the pictures of {cropped:,} items were cropped to squares"] if cropped else []
    if size_px != OWN_SIZE or not counts:
        resized = sum(count for size, count in counts.items() if min(size) != size_px)
        if resized and counts:
            notes.append(
                f"the pictures of {resized:,} items were brought to {size_px} px, which changes distortions "
                "such as noise and blur"
            )
        return size_px or _SIZES[0], notes
    sides = Counter(
        {side: sum(n for size, n in counts.items() if min(size) == side) for side in map(min, counts)}
    )
    if len(sides) > 1:
        first = ", ".join(f"{side} px: {count:,} items" for side, count in sides.most_common(_NAMED))
        raise Refused(
            f"pictures have several sizes ({first}{', …' if len(sides) > _NAMED else ''}); items are shown "
            "at their own size, for another changes distortions such as noise and blur; bring all to one "
            "size, or have it done with --size PX",
            (),
            ("settings", "size_px"),
            [("items",)],
        )
    (side,) = sides
    low, high = _SIZES
    if not low <= side <= high:
        raise Refused(
            f"pictures of {side} px cannot be shown as they are; choose --size from {low} to {high}",
            (),
            ("settings", "size_px"),
            [("items",)],
        )
    return side, notes


def _make(job: _Job) -> _Made:
    """Process the pictures of one item; runs in a worker process."""
    source = job.source
    data = []
    for part, path in enumerate(source.files):
        try:
            data.append(_encoded(job, part, Path(path)))
        except BadPicture as error:
            return _Made(source, finding=_bad(error, path, source))
    identity = f"{source.role}/{source.truth}/{source.name}/{job.seed}"
    names = []
    for part, content in enumerate(data):
        unique = f"{identity}/{part}/".encode("utf-8", "surrogateescape") + content
        digest = hashlib.blake2b(unique, digest_size=_BYTES, key=job.key).hexdigest()
        names.append(f"{digest}{suffix_of(job.image_format)}")
        (Path(job.out) / names[-1]).write_bytes(content)
    digests = b"".join(hashlib.blake2b(content, digest_size=_BYTES).digest() for content in data)
    return _Made(source, tuple(names), hashlib.blake2b(digests, digest_size=_BYTES).digest())


def _encoded(job: _Job, part: int, path: Path) -> bytes:
    if not job.changes:
        return process(path, job.size_px, job.image_format)[0]
    from backend.stimuli.made_pictures import changed

    picture, _ = loaded(path, job.size_px)
    return encode(changed(picture, job.changes[part], job.seed + part), job.image_format)


def _sorted_out(made: Sequence[_Made]) -> tuple[list[_Made], list[Finding], list[Finding]]:
    """Return the items to use, those that repeat one of their set, and those that are in several sets."""
    by_digest: dict[bytes, list[_Made]] = defaultdict(list)
    for item in made:
        by_digest[item.digest].append(item)
    good, duplicates, torn = [], [], []
    for first, *others in by_digest.values():
        if all(_place_of(other) == _place_of(first) for other in others):
            good.append(first)
            duplicates += [
                Finding(
                    "duplicate",
                    other.source.name,
                    f"shows the same pictures as {first.source.name}",
                    other.source.keys,
                )
                for other in others
            ]
        else:
            others.sort(key=lambda other: _place_of(other) == _place_of(first))
            there = first_of([other.source.name for other in others])
            torn.append(
                Finding(
                    "both sets", first.source.name, f"shows the same pictures as {there}", first.source.keys
                )
            )
    return good, duplicates, torn


def _place_of(item: _Made) -> tuple[str, str, str]:
    return item.source.set_, item.source.role, item.source.truth


def _made_jobs(made: Sequence[MadeItems], good: Sequence[_Made], like: _Job, rng: Random) -> list[_Job]:
    """Return the jobs that make items, each from the reference of an item drawn at random."""
    scored = [item.source for item in good if not item.source.role]
    jobs = []
    for kind in made:
        few = kind.count > len(scored)
        drawn = rng.choices(scored, k=kind.count) if few else rng.sample(scored, kind.count)
        for source in drawn:
            reference = (source.files[0],) * len(kind.changes)
            own = ItemSource(
                "", f"made/{'-'.join(kind.changes)}/{source.name}", reference, kind.role, kind.truth
            )
            jobs.append(
                _Job(
                    own,
                    like.out,
                    like.size_px,
                    like.image_format,
                    like.key,
                    kind.changes,
                    rng.getrandbits(31),
                )
            )
    return jobs


def _stimulus(item: _Made) -> Stimulus:
    source = item.source
    return Stimulus(" ".join(item.names), source.truth, source.set_, "", source.name, source.role)
