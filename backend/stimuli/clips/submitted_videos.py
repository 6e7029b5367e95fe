"""Program that encodes videos by a study's recipe on the machine of their submitter, for `client/clips.py`.

It reads JSON from standard input, and writes lines of JSON: how far it is, then `error` if there was one.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from backend.experiment.records import ClipForm
from backend.foundation.errors import OpenhypeError
from backend.stimuli.clips.clip_file import SUFFIX, read, strip_of, written
from backend.stimuli.clips.ingest import ingest


def run() -> None:
    """Encode the videos of an order on standard input."""
    order = json.load(sys.stdin)
    try:
        with tempfile.TemporaryDirectory(prefix="openhype-") as folder:
            encode(order["files"], order["recipe"], Path(folder), Path(order["out"]))
    except (OpenhypeError, OSError) as error:
        _say({"error": str(error).replace(f"{folder}/videos/", "")})


def encode(files: Mapping[str, str], recipe: Mapping[str, Any], folder: Path, out: Path) -> None:
    """Write clips of the study's form to `out`, each by the path of its video.

    The same videos give the same files: a submission is known by them.

    Args:
        files: the paths of videos, by their paths within the submission.
        folder: empty, for files that are needed meanwhile.

    Raises:
        OpenhypeError: as of `ingest.ingest`.
    """
    for name, path in files.items():
        link = folder / "videos" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.symlink(path, link)
        except OSError:  # Windows, without a privilege for it
            shutil.copyfile(path, link)
    form = ClipForm(
        recipe["frames"], tuple(recipe["fps"]), recipe["width"], recipe["height"], recipe["quality"]
    )
    made = ingest(
        folder / "videos",
        {},
        folder / "clips",
        size_px=form.width,
        form=form,
        skip=recipe["skip_seconds"],
        preprocess=recipe["preprocess"],
        rng=Random("submission"),
        progress=_progress,
    )
    for stimulus in made.stimuli:
        data = (folder / "clips" / stimulus.name).read_bytes()
        to = (out / stimulus.source).with_suffix(SUFFIX)  # partners of a pair have one name
        if to.exists():
            to = out / f"{stimulus.source}{SUFFIX}"
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(written(*read(data), strip_of(data)))


def _progress(items: Iterable[Any], total: int, label: str) -> Iterator[Any]:
    for done, item in enumerate(items, start=1):
        yield item
        if label == "clips":
            _say({"done": done, "total": total})


def _say(told: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(told)}\n")
    sys.stdout.flush()
