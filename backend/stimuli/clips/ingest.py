"""Ingest of folders of clips: a pool of uniform stimuli, or one message with all problems and no files left.

All files are probed first: rate and length follow from them. Then each clip is read, brought to that form
and encoded, both sides by one recipe, a core at a time, so that memory does not grow with the folders.
"""

import hashlib
import secrets
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from math import floor
from pathlib import Path
from random import Random
from statistics import median
from types import MappingProxyType
from typing import Any

from backend.experiment.records import REAL, ClipForm, Stimulus
from backend.foundation import optional_packages
from backend.foundation.errors import InvalidInput, NotInstalled, reason
from backend.foundation.frozen import dataclass
from backend.foundation.names import VIDEO_ENDINGS
from backend.stimuli import refusals
from backend.stimuli.clips import audit, encoding, foreign_files, sources
from backend.stimuli.clips.clip_file import (
    SUFFIX,
    ClipHead,
    codec_of,
    content_of,
    pad,
    written,
)
from backend.stimuli.clips.sources import ClipFacts, SourceFrame
from backend.stimuli.file_metadata import keep_uniform
from backend.stimuli.file_names import handed_on
from backend.stimuli.folders import Finding, Scan, Source, scan
from backend.stimuli.images import (
    ENDINGS,
    BadPicture,
    Preprocessing,
    is_picture,
    lossy,
    resolve_format,
    square_of,
)
from backend.stimuli.ingest import Made, check_names, checked_preprocessing, sides_of, sorted_out, stimulus_of
from backend.stimuli.medium import Intake
from backend.stimuli.parallel import results_of

MAX_DECODED_BYTES, _BYTES_A_PIXEL = foreign_files.MAX_FILE_BYTES, 4
"""Of the frames of a trial's clips, as pages hold them; a page that would need more refuses to begin."""
_MOST_READ, _LEAST_READ = 50, 1000
"""Frames of a source that are decoded for each one that is shown: a hostile file may have a million."""
MIN_FRAMES = 2
_MUCH_SHORTER = 0.75
"""Length of the shortest clip, as a share of the median, from which its name is told."""
_SAMPLED = 4
"""Clips of each side that are encoded in part, to find the recipe that keeps all sides good."""
_SAMPLED_FRAMES = 12
_STATED_RATES = (
    *(Fraction(rate) for rate in (5, 8, 10, 12, 15, 16, 20, 24, 25, 30, 48, 50, 60)),
    *(Fraction(rate * 1000, 1001) for rate in (24, 30, 60)),
)
"""Rates that files usually have; one measured within 0.02% of it is taken for it."""


@dataclass(frozen=True)
class _Job:
    source: Source
    facts: ClipFacts
    out: Path | None
    head: ClipHead
    quality: int
    key: bytes
    losses: Preprocessing
    skip_s: float
    """How much is left out at the start."""

    @property
    def seconds(self) -> float:
        """How much of the clip is read."""
        return self.head.frames * self.head.fps[1] / self.head.fps[0]


def _check_installed() -> None:
    if find_spec("av") is None:
        missing = optional_packages.not_installed("reading clips", "av")
        raise NotInstalled(
            f"{missing}; or make the study, or let the model join, from a machine that has it, by "
            "commands with the store of this one"
        )


def is_candidate(path: Path) -> bool:
    """Return whether a file in a folder of clips is read: a video, a `.clip`, an animated picture."""
    suffix = path.suffix.lower()
    return (
        suffix == SUFFIX or suffix in VIDEO_ENDINGS or suffix in ENDINGS or (not suffix and is_picture(path))
    )


def ingest(
    real: Path,
    models: Mapping[str, Path],
    out: Path,
    *,
    size_px: int,
    fps: float = 0,
    seconds: float = 0,
    skip: float = 0,
    at_once: int = 1,
    preprocess: Sequence[str] = (),
    image_format: str = "auto",
    reals_name: str = REAL,
    flat: bool | None = None,
    aside: Mapping[str, Path] = MappingProxyType({}),
    skip_bad: bool = False,
    strict: bool = False,
    lacking: Callable[[Sequence[Stimulus], Sequence[str]], str] | None = None,
    rng: Random | None = None,
    workers: int | None = None,
    progress: Callable[..., Iterable] | None = None,
    say: Callable[[str], Any] | None = None,
    form: ClipForm | None = None,
) -> Intake:
    """Bring all clips of the folders to one form in `out`, uniform in everything but what they show.

    A public name is a keyed hash of the encoded frames: it depends neither on the truth nor on the order of
    the files.

    Args:
        out: folder for the results, created here; removed again if anything fails.
        size_px: width and height of the results, even.
        fps: frames a second; 0 for the rate that most files have.
        seconds: length; 0 for that of the shortest.
        skip: seconds left out at the start of every clip.
        at_once: clips of a trial, which a page holds decoded.
        image_format: of masks.
        form: that of a study's clips, for those that join it; it decides size, rate, length and quality.
        preprocess, skip_bad, strict, lacking, rng, reals_name, flat, aside, workers, progress, say: as of
            `ingest.ingest`.

    Raises:
        Refused: names all folders and files that are not as expected, and what to do.
        NotInstalled: PyAV is missing; files that openhype made (`.clip`) are taken in without it.
    """
    wanted = _Wanted(size_px, fps, seconds, skip, checked_preprocessing(preprocess, size_px), at_once, form)
    scanned = scan(real, models, aside=aside, reals_name=reals_name, flat=flat, may_be_stimulus=is_candidate)
    check_names(scanned, skip_bad, lacking)
    work = _Work(out, rng.randbytes(32) if rng else secrets.token_bytes(32), workers, progress, say)
    try:
        out.mkdir(parents=True)
        has_made = any(source.path.suffix.lower() == SUFFIX for source in scanned.sources)
        taken = _copied(scanned, wanted, work) if has_made else _encoded(scanned, wanted, work)
        good, duplicates, torn = sorted_out([item for item in taken.made if item.name])
        files = [*scanned.of_files, *taken.bad, *torn]
        stimuli = tuple(sorted(map(stimulus_of, good), key=lambda stimulus: stimulus.name))
        refusals.check(
            scanned.of_folders,
            [*(() if skip_bad else files), *(duplicates if strict else ())],
            lacking(stimuli, scanned.classes) if lacking and not scanned.of_folders else "",
        )
        if not good or taken.form is None:
            raise InvalidInput("no clip is left; see the files that were left out")
        kept = [item.name for item in good]
        keep_uniform(out, (item.name for item in taken.made), kept, progress, pad)
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    left_out, untold = refusals.left_out_lines(scanned.no_pictures, [*duplicates, *files], "clip")
    notes = _notes(good, taken.form, wanted)
    return Intake(
        stimuli,
        scanned.classes,
        resolve_format(image_format, size_px),
        (*notes, *refusals.handed_on_notes(scanned.no_pictures, duplicates, files)),
        left_out,
        untold,
        taken.form.width,
        unusable=tuple(files),
        clip=taken.form,
    )


@dataclass(frozen=True)
class _Wanted:
    """The form that is asked for."""

    size_px: int
    fps: float
    seconds: float
    skip: float
    losses: Preprocessing
    at_once: int
    form: ClipForm | None


@dataclass(frozen=True)
class _Work:
    """Where clips are written, and how."""

    out: Path
    key: bytes
    workers: int | None
    progress: Callable[..., Iterable] | None
    say: Callable[[str], Any] | None


@dataclass(frozen=True)
class _Taken:
    """What became of the files."""

    made: Sequence[Made]
    bad: Sequence[Finding]
    form: ClipForm | None
    """None if no file can be used."""


def _encoded(scanned: Scan, wanted: _Wanted, work: _Work) -> _Taken:
    """Bring all files to one form, and encode them."""
    _check_installed()
    if wanted.size_px % 2:
        raise InvalidInput(
            "clips need an even number of pixels, since colours are stored for 2 x 2 of them: size_px must "
            f"be {wanted.size_px - 1} or {wanted.size_px + 1}, not {wanted.size_px}",
            keys=("settings", "size_px"),
        )
    probed = results_of(_probe, scanned.sources, "reading clips", work.workers, work.progress, chunk=4)
    usable = {item.source: item.facts for item in probed if item.facts is not None}
    bad = [item.finding for item in probed if item.finding]
    if not usable:
        return _Taken((), bad, None)
    form = wanted.form or _form(wanted, [*usable.values()])
    _check_memory(form, wanted.at_once)
    short = [source for source, facts in usable.items() if _is_short(facts, form, wanted.skip)]
    used = {source: facts for source, facts in usable.items() if source not in short}
    head = _head(form)
    if not form.quality:
        form = replace(form, quality=_quality(used, head, wanted, work))
    jobs = [
        _Job(source, facts, work.out, head, form.quality, work.key, wanted.losses, wanted.skip)
        for source, facts in used.items()
    ]
    made = results_of(_make, jobs, "clips", work.workers, work.progress, work.say, chunk=1)
    bad += [item.finding for item in made if item.finding]
    return _Taken(made, [*bad, *(_short(source, form, wanted.skip) for source in short)], form)


def _copied(scanned: Scan, wanted: _Wanted, work: _Work) -> _Taken:
    """Take in files that openhype made, as they are: all must be of one form."""
    jobs = [(source, work.out, work.key) for source in scanned.sources]
    made = results_of(_copy, jobs, "clips", work.workers, work.progress, chunk=4)
    bad = [item.finding for item in made if item.finding]
    usable = [item for item in made if item.name]
    heads = [item.facts for item in usable]
    forms = [ClipForm(head.frames, head.fps, head.width, head.height, 0) for head in heads]
    form = wanted.form or next(iter(forms), None)
    if form is not None:
        _check_memory(form, wanted.at_once)
    good = []
    for item, own in zip(usable, forms, strict=True):
        if form is not None and replace(form, quality=0) != own:
            others = "those of the study" if wanted.form else "others"
            why = f"has {own.described}, and {others} have {form.described}"
            bad.append(Finding("form", item.source.name, why, item.source.keys))
        else:
            good.append(replace(item, facts=None))
    for name in {item.name for item in usable} - {item.name for item in good}:
        (work.out / name).unlink()
    return _Taken(good, bad, form)


def _copy(job: tuple[Source, Path, bytes]) -> Made:
    """Check a file that openhype made and copy what it shows; its head is in `facts`."""
    source, out, key = job
    try:
        if source.path.suffix.lower() != SUFFIX:
            raise InvalidInput(f"others are {SUFFIX} files, and all of a study must be, or none")
        head, frames, strip = foreign_files.checked(source.path)
    except (InvalidInput, OSError) as error:
        why = f"fails: {reason(error) if isinstance(error, OSError) else error}"
        return Made(source, finding=Finding("foreign", source.name, why, source.keys))
    data = written(head, frames, strip)
    name = hashlib.blake2b(content_of(data), digest_size=16, key=key).hexdigest() + SUFFIX
    (out / name).write_bytes(data)
    return Made(source, name, head)


def _notes(good: Sequence[Made], form: ClipForm, wanted: _Wanted) -> list[str]:
    sides = sides_of(good)
    if not sides:
        return [f"clips have {form.described}; they were made by openhype before"]
    notes = audit.notes(sides, form, fps_given=bool(wanted.fps), seconds_given=bool(wanted.seconds))
    return notes if wanted.seconds or wanted.form else [*notes, *_shortest_note(good)]


def _probe(source: Source) -> Made:
    """Read what a file holds; runs in a worker process."""
    try:
        return Made(source, facts=sources.probe(source.path))
    except BadPicture as error:
        return Made(source, finding=Finding(error.kind, source.name, error.why, source.keys))
    except OSError as error:
        return Made(
            source, finding=Finding("broken", source.name, f"cannot be read: {error.strerror}", source.keys)
        )


def _form(wanted: _Wanted, facts: Sequence[ClipFacts]) -> ClipForm:
    """Return the form to which clips are brought: at the rate of most, as long as the shortest."""
    size_px, fps = wanted.size_px, wanted.fps
    counts = Counter(stated_rate(one.fps) for one in facts)
    rate = stated_rate(fps) if fps else max(counts, key=lambda one: (counts[one], -one))
    if rate > 120:
        rate = Fraction(120)
    length = wanted.seconds or min(one.seconds for one in facts) - wanted.skip
    frames = floor(Fraction(length).limit_denominator(10_000) * rate + Fraction(1, 100))
    if frames < MIN_FRAMES:
        raise InvalidInput(
            f"a clip of {length:.3g} s has fewer than {MIN_FRAMES} frames at {float(rate):.3g} frames a "
            "second; give longer clips, or a higher rate by --set clip_fps=N",
            keys=("settings", "clip_seconds"),
        )
    return ClipForm(frames, (rate.numerator, rate.denominator), size_px, size_px, 0)


def _head(form: ClipForm) -> ClipHead:
    codec = codec_of(form.width, form.height, form.fps)
    return ClipHead(codec, form.frames, form.fps, form.width, form.height)


def stated_rate(fps: float) -> Fraction:
    """Return the rate that a measured one stands for: one that is usual, or one in whole thousandths."""
    usual = min(_STATED_RATES, key=lambda one: abs(float(one) - fps))
    return usual if abs(float(usual) / fps - 1) < 2e-4 else Fraction(round(fps * 1000), 1000)


def _check_memory(form: ClipForm, at_once: int) -> None:
    """Refuse a form that takes more memory than a page can have."""
    rate = form.fps[0] / form.fps[1]
    second = form.width * form.height * _BYTES_A_PIXEL * at_once * rate
    if second * form.seconds > MAX_DECODED_BYTES:
        what = "clips" if at_once == 1 else f"trials of {at_once} clips"
        raise InvalidInput(
            f"{what} of {form.seconds:.3g} s, {form.width} px and {rate:.3g} frames a second take "
            f"{second * form.seconds / 1e6:,.0f} MB once decoded, more than {MAX_DECODED_BYTES / 1e6:,.0f}; "
            f"shorten them by --set clip_seconds={floor(10 * MAX_DECODED_BYTES / second) / 10:g}, or make "
            "them smaller by --size PX",
            keys=("settings", "clip_seconds"),
            also=[("settings", "size_px")],
        )


def _is_short(facts: ClipFacts, form: ClipForm, skip: float) -> bool:
    return facts.seconds - skip < form.seconds - 0.5 * form.fps[1] / form.fps[0]


def _shortest_note(good: Sequence[Made]) -> list[str]:
    """Return a note on a clip so short that all others lose much for it."""
    shortest = min(good, key=lambda item: item.facts.source.seconds)
    least = shortest.facts.source.seconds
    usual = median(item.facts.source.seconds for item in good)
    if least > _MUCH_SHORTER * usual:
        return []
    return [
        f"{handed_on(shortest.source.name)} has {least:.3g} s, and half of the clips {usual:.3g} s or more: "
        "all were cut to it; leave it out, or give the length by --set clip_seconds=S with --skip-bad"
    ]


def _short(source: Source, form: ClipForm, skip: float) -> Finding:
    return Finding("short", source.name, f"is shorter than {form.seconds + skip:.3g} s", source.keys)


def _quality(used: Mapping[Source, ClipFacts], head: ClipHead, wanted: _Wanted, work: _Work) -> int:
    """Return the quality of the shortest files whose frames are good on each side, from a sample of clips.

    Raises nothing for clips that cannot be read: they are found when they are made.
    """
    by_side: dict[str | None, list[Source]] = defaultdict(list)
    for source in used:
        by_side[source.model].append(source)
    sample = [each for side in by_side.values() for each in side[:: -(-len(side) // _SAMPLED)]]
    frames = min(_SAMPLED_FRAMES, head.frames)
    part = replace(head, frames=frames)
    for quality in encoding.QUALITIES[:-1]:
        jobs = [
            _Job(source, used[source], None, part, quality, b"", wanted.losses, wanted.skip)
            for source in sample
        ]
        made = results_of(_make, jobs, f"trying quality {quality}", work.workers, work.progress, chunk=1)
        ratios: dict[str | None, list[float]] = defaultdict(list)
        for item in made:
            if item.facts is not None:
                ratios[item.source.model] += item.facts.psnr_db
        if all(audit.good_share(side) >= encoding.GOOD_SHARE for side in ratios.values()):
            return quality
    return encoding.QUALITIES[-1]


def _make(job: _Job) -> Made:
    """Bring one clip to the form and encode it; runs in a worker process."""
    source, head = job.source, job.head
    try:
        looking = audit.Looking()
        packets, ratios = encoding.encoded(looking.seen(_timed(job)), head, job.quality)
        strip = looking.strip()
    except BadPicture as error:
        return Made(source, finding=Finding(error.kind, source.name, error.why, source.keys))
    data = written(head, packets, strip)
    name = hashlib.blake2b(content_of(data), digest_size=16, key=job.key).hexdigest() + SUFFIX
    if job.out is not None:
        (job.out / name).write_bytes(data)
    facts = audit.Shown(job.facts, looking.look(head.fps[0] / head.fps[1]), tuple(ratios), len(data))
    return Made(source, name, facts)


_EARLY_S = Fraction(1, 500)
"""By how much a frame may begin after the time at which it is shown: files round times to milliseconds."""


def _timed(job: _Job) -> Iterator[SourceFrame]:
    """Yield the frame that the source shows at each time of the head's rate, brought to its size.

    Raises:
        BadPicture: the file has no frames for the last twentieth, or cannot be decoded.
    """
    head, path = job.head, job.source.path
    times = (Fraction(i * head.fps[1], head.fps[0]) for i in range(head.frames))
    at, current, done = next(times), None, 0
    most = max(_LEAST_READ, round(_MOST_READ * (job.skip_s + job.seconds) * head.fps[0] / head.fps[1]))
    for i, frame in enumerate(sources.frames(path, job.skip_s + job.seconds)):
        if i >= most:
            raise BadPicture(
                path, "large", f"has more than {most:,} frames in {job.seconds:.3g} s; thin them out"
            )
        while current is not None and done < head.frames and at + _EARLY_S < frame.at_s - job.skip_s:
            current = _sized(current, job)
            yield current
            at, done = next(times, at), done + 1
        current = frame
    if current is None:
        raise BadPicture(path, "broken", "has no frame that can be decoded")
    if head.frames - done > max(2, head.frames // 20):
        raise BadPicture(path, "broken", f"is cut off: there are no frames after {float(at):.2f} s")
    for _ in range(head.frames - done):
        current = _sized(current, job)
        yield current


def _sized(frame: SourceFrame, job: _Job) -> SourceFrame:
    """Return a frame at the size of the study, once."""
    size_px = job.head.width
    if frame.is_sized:
        return frame
    return replace(frame, picture=lossy(square_of(frame.picture, size_px), job.losses), is_sized=True)
