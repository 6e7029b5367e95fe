"""Features of picture files: from the cache, or extracted on all cores and cached batch by batch.

A run that is interrupted continues where it was. Memory holds the features of all pictures, and as many
decoded pictures as are sent to the processes at a time.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import PIL

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.metrics.extractors.feature_extractor import FeatureExtractor
from backend.metrics.feature_cache import FeatureCache, PictureIndex, Shown, picture_key, read_time
from backend.stimuli import refusals
from backend.stimuli.estimates import announced, tracked
from backend.stimuli.folders import Finding
from backend.stimuli.images import BadPicture, load
from backend.stimuli.parallel import cores, in_parallel

_KEPT_AT = 256
"""Pictures after which features are written to the cache; those of a slow extractor after each batch."""
_FIRST = 64
_PENDING = 4
"""Batches of decoded pictures that may wait for others of their size."""
_DECODERS, _DECODED_CHUNK = 4, 4
"""Processes that only decode, and pictures sent to one at a time: these are in memory, decoded."""


@dataclass(frozen=True)
class Extraction:
    """The features of files."""

    paths: tuple[Path, ...]
    """The files in the order given, without those that cannot be read."""
    values: np.ndarray
    """Shape (files, dimensions), float32."""
    shown: tuple[Shown, ...]
    """What each file shows."""
    extracted: int
    """Files whose features were not in the cache."""
    left_out: tuple[Finding, ...] = ()
    """Files that cannot be read as pictures."""


@dataclass(frozen=True)
class _Read:
    """What a process made of a file: its features, or pixels to extract from, or why it cannot be read."""

    path: Path
    shown: Shown | None = None
    vector: np.ndarray | None = None
    pixels: np.ndarray | None = None
    finding: Finding | None = None


def features_of(
    paths: Sequence[Path],
    extractor: FeatureExtractor,
    cache: Path,
    progress: Callable[..., Iterable] | None = None,
    say: Callable[[str], Any] | None = None,
    workers: int | None = None,
    skip_bad: bool = False,
) -> Extraction:
    """Return the features of picture files, which are made upright sRGB as for a study, in their own size.

    Args:
        cache: folder of the cache.
        progress: wraps an iterable: `progress(items, total, label)`.
        say: called with an estimate of the time, if it is long.
        workers: number of processes; default, one a core.
        skip_bad: whether to leave out files that cannot be read.

    Raises:
        Refused: files cannot be read as pictures; the message names them.
        InvalidInput: none is left.
    """
    index = PictureIndex(cache, f"Pillow {PIL.__version__}")
    vectors = FeatureCache(cache, extractor.identity)
    findings: list[Finding] = []
    try:
        shown = index.get(paths)
        known = vectors.get({what.key for what in shown.values()})
        missing = [path for path in dict.fromkeys(paths) if path not in shown or shown[path].key not in known]
        if missing:
            run = _Run(extractor, index, vectors, read_time())
            text = f"features of {len(missing):,} pictures will take {{}}"
            with _read(missing, extractor, workers) as results:
                reads = announced(results, len(missing), say, text, first=_FIRST)
                findings = run.take(tracked(reads, len(missing), "features", progress))
            shown, known = {**shown, **run.shown}, {**known, **run.known}
    finally:
        index.close()
        vectors.close()
    refusals.check([], [] if skip_bad else findings, "")
    used = tuple(path for path in paths if path in shown)
    if not used:
        raise InvalidInput("no picture is left; see the files that were left out")
    values = np.stack([known[shown[path].key] for path in used])
    return Extraction(used, values, tuple(shown[path] for path in used), len(missing), tuple(findings))


def _read(
    paths: Sequence[Path], extractor: FeatureExtractor, workers: int | None
) -> AbstractContextManager[Iterator[_Read]]:
    if extractor.is_light:
        return in_parallel(partial(_extracted, extractor), paths, workers)
    return in_parallel(_decoded, paths, min(workers or cores(), _DECODERS), _DECODED_CHUNK)


def _extracted(extractor: FeatureExtractor, path: Path) -> _Read:
    """Return the features of a file; runs in a worker process."""
    read = _decoded(path)
    if read.pixels is None:
        return read
    return _Read(path, read.shown, extractor.extract([read.pixels])[0])


def _decoded(path: Path) -> _Read:
    """Return the pixels of a file; runs in a worker process."""
    try:
        picture, _ = load(path)
    except BadPicture as error:
        return _Read(path, finding=Finding(error.kind, printable(path), error.why))
    pixels = np.asarray(picture)
    return _Read(path, Shown(picture_key(pixels), picture.width, picture.height), pixels=pixels)


class _Run:
    """Takes what processes read, extracts where they did not, and writes both caches now and then."""

    def __init__(
        self, extractor: FeatureExtractor, index: PictureIndex, vectors: FeatureCache, began_at_ns: int
    ):
        self.shown: dict[Path, Shown] = {}
        self.known: dict[bytes, np.ndarray] = {}
        self._extractor, self._index, self._vectors, self._began = extractor, index, vectors, began_at_ns
        self._waiting: dict[tuple[int, ...], dict[bytes, np.ndarray]] = defaultdict(dict)
        self._new_shown: dict[Path, Shown] = {}
        self._new: dict[bytes, np.ndarray] = {}

    def take(self, reads: Iterable[_Read]) -> list[Finding]:
        """Take all files; return which cannot be read as pictures."""
        findings = []
        try:
            for read in reads:
                if read.finding:
                    findings.append(read.finding)
                elif read.shown:
                    self._take(read, read.shown)
            self._extract_all()
        finally:
            self._keep()
        return findings

    def _take(self, read: _Read, shown: Shown) -> None:
        self.shown[read.path] = self._new_shown[read.path] = shown
        key = shown.key
        if read.vector is not None:
            self._add(key, read.vector)
        elif read.pixels is not None and key not in self.known:
            self._wait(key, read.pixels)
        if len(self._new_shown) >= _KEPT_AT:
            self._keep()

    def _wait(self, key: bytes, pixels: np.ndarray) -> None:
        """Let a picture wait for others of its size, unless its features are cached under another path."""
        same_size = self._waiting[pixels.shape]
        same_size[key] = pixels
        if len(same_size) >= self._extractor.batch:
            self._extract(self._waiting.pop(pixels.shape))
        elif sum(map(len, self._waiting.values())) > _PENDING * self._extractor.batch:
            self._extract_all()

    def _extract_all(self) -> None:
        while self._waiting:
            self._extract(self._waiting.popitem()[1])

    def _extract(self, pictures: dict[bytes, np.ndarray]) -> None:
        cached = self._vectors.get(pictures)
        self.known.update(cached)
        left = {key: pixels for key, pixels in pictures.items() if key not in cached}
        if left:
            for key, vector in zip(left, self._extractor.extract([*left.values()]), strict=True):
                self._add(key, vector)
            self._keep()

    def _add(self, key: bytes, vector: np.ndarray) -> None:
        if not np.isfinite(vector).all():
            raise InvalidInput(
                f"the extractor {self._extractor.identity.name} gave features that are not finite numbers; "
                "are its weights damaged?"
            )
        self.known[key] = self._new[key] = vector

    def _keep(self) -> None:
        self._vectors.put(self._new)
        self._index.put(self._new_shown, self._began)
        self._new, self._new_shown = {}, {}
