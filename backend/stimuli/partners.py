"""Partners: stimuli of one source, such as a real clip and the fakes that models made from its first frame.

With `pairing=source` these stand side by side. Partners are files of the same path within the folders of
their sides, whatever their endings. The names of partners in the pool begin with the same digits, a random
number of their source, which says nothing about what is real. So the i-th name of each side is of the same
source, in whatever store, and a session is drawn without reading where the files came from.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from backend.experiment.records import Stimulus
from backend.experiment.setting_errors import problem_of
from backend.foundation.counted_nouns import counted, some_of
from backend.foundation.names import VIDEO_ENDINGS, composed
from backend.stimuli.clips.clip_file import SUFFIX
from backend.stimuli.images import ENDINGS

_DIGITS = 16
"""Hexadecimal digits of the source at the beginning of a name, as many as are left for what it shows."""
_KNOWN = {*ENDINGS, *VIDEO_ENDINGS, SUFFIX}

Side = str | None
"""A model, or None for the reals."""


def source_of(stimulus: Stimulus) -> str:
    """Return the path of a stimulus within its folder, without its ending; partners have the same one."""
    stem, ending = os.path.splitext(stimulus.source)
    return composed(stem if ending.lower() in _KNOWN else stimulus.source)


def alone(stimuli: Iterable[Stimulus], sides: Sequence[Side]) -> dict[str, str]:
    """Return the sources that not every side has once, and why: the first such side."""
    counts = Counter((source_of(each), each.model) for each in stimuli if each.model in sides)
    begins: dict[str, str] = {}
    for source in sorted({source for source, _ in counts}):
        for side in sides:
            if (count := counts[source, side]) != 1 and source not in begins:
                files = counted(count, "file") if count else "no usable file"
                begins[source] = f"{files} of {_title(side)}"
    return begins


def lack(begins: Mapping[str, str], sides: Sequence[Side], also: str = "") -> str:
    """Return that sources have no partners on all sides, and what to do; `also` is what else can be done."""
    named = some_of([f"{source} ({why})" for source, why in begins.items()])
    return problem_of(
        f"pairing=source shows files of the same name together, and {counted(len(begins), 'name')} cannot be "
        f"used, of which {some_of([*map(_title, sides)])} must each have one file: {named}; rename, add or "
        f"remove files{also}",
        "pairing",
    )


def _title(side: Side) -> str:
    return side or "the reals"


def renamed(stimulus: Stimulus, beginnings: Mapping[str, str]) -> Stimulus:
    """Return a stimulus with a name that begins as is given for its source."""
    return replace(stimulus, name=beginnings[source_of(stimulus)] + stimulus.name[_DIGITS:])


def beginning(name: str) -> str:
    """Return how the name of a stimulus begins, and those of its partners."""
    return name[:_DIGITS]


def by_source(
    stimuli: Iterable[Stimulus], sides: Sequence[Side], folders: Sequence[Path]
) -> dict[str, dict[str, Path]]:
    """Return the file of each source by the side's name, sources in one order; each side has its folder."""
    stimuli = sorted(stimuli, key=source_of)
    return {
        _title(side): {source_of(each): folder / each.name for each in stimuli if each.model == side}
        for side, folder in zip(sides, folders, strict=True)
    }
