"""Uniform file metadata: files of one length, mode and time differ only in what they show."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from backend.stimuli.images import pad_to, padded_length

_TIME = 1_000_000_000
"""Modification time of every file, so that none reveals when it was made."""


def make_uniform(
    paths: Sequence[Path],
    tracked: Iterable[Path] | None = None,
    pad: Callable[[Path, int], object] = pad_to,
) -> None:
    """Give all files one length, mode and time.

    `tracked` may be `paths` under a progress bar; `pad` lengthens a file to a number of bytes.

    Several lengths hide the sides in no way that files themselves can have, not even if their shares are the
    same on both sides. A session draws without replacement: of a length that m files of each side have, it
    shows a reals and b fakes in proportion to m!/(m - a)! m!/(m - b)!, which a + b alone does not determine.
    So the truths that were told of a length tell those to come; pools of different counts tell more.
    """
    length = padded_length(max(path.stat().st_size for path in paths))
    for path in paths if tracked is None else tracked:
        pad(path, length)
        path.chmod(0o644)
        os.utime(path, (_TIME, _TIME))
