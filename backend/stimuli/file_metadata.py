"""Uniform file metadata: files of one length, mode and time differ only in what they show."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from backend.stimuli.estimates import tracked
from backend.stimuli.images import pad_to, padded_length

_TIME = 1_000_000_000
"""Modification time of every file, so that none reveals when it was made."""


def make_uniform(
    paths: Sequence[Path],
    progress: Callable[..., Iterable] | None = None,
    pad: Callable[[Path, int], object] = pad_to,
) -> None:
    """Give all files one length, mode and time.

    `pad` lengthens a file to a number of bytes.

    Several lengths hide the sides in no way that files themselves can have, not even if their shares are the
    same on both sides. A session draws without replacement: of a length that m files of each side have, it
    shows a reals and b fakes in proportion to m!/(m - a)! m!/(m - b)!, which a + b alone does not determine.
    So the truths that were told of a length tell those to come; pools of different counts tell more.
    """
    length = padded_length(max(path.stat().st_size for path in paths))
    for path in tracked(paths, len(paths), "making uniform", progress):
        pad(path, length)
        path.chmod(0o644)
        os.utime(path, (_TIME, _TIME))


def keep_uniform(
    out: Path,
    made: Iterable[str],
    kept: Sequence[str],
    progress: Callable[..., Iterable] | None,
    pad: Callable[[Path, int], object] = pad_to,
) -> None:
    """Delete the files of `out` that were made and are not kept; give the kept ones one length and time."""
    for name in {*made} - {"", *kept}:
        (out / name).unlink()
    make_uniform([out / name for name in kept], progress, pad)
