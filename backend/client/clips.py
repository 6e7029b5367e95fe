"""Videos that a caller gives, encoded on this machine as the clips of the study are if the server reads none.

A process of its own encodes them: this one may be a training, which has no room for it, and need not have the
packages that only encoding uses.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from backend.client.pictures import PictureFile, picture_files
from backend.client.progress import Progress
from backend.foundation.errors import InvalidInput, NotInstalled
from backend.foundation.names import VIDEO_ENDINGS

_ENCODED = ".clip"
_ANIMATED = ((b"GIF8", 0), (b"ANIM", 64), (b"acTL", 64))
"""Bytes with which pictures that may move say so, and how far from their beginning they may stand."""
_ENCODER = "backend.stimuli.clips.submitted_videos"


@contextlib.contextmanager
def sendable(
    files: Sequence[PictureFile], recipe_of: Callable[[], Mapping[str, Any] | None], progress: Progress
) -> Iterator[tuple[PictureFile, ...]]:
    """Give the files to send: those given, or clips encoded of them.

    Args:
        recipe_of: asks the server how clips of the study are made; None for a study of pictures. It is asked
            only if files are clips, or may be.

    Raises:
        InvalidInput: the study shows pictures and files are videos, or a video cannot be encoded.
        NotInstalled: neither the server nor this machine can encode videos.
    """
    clips = [file for file in files if _suffix(file) in (_ENCODED, *VIDEO_ENDINGS)]
    others = (file for file in files if _suffix(file) != _ENCODED)
    moving = [file for file in others if _suffix(file) in VIDEO_ENDINGS or _is_animated(file)]
    recipe = recipe_of() if clips or moving else None
    if recipe is None and clips:
        raise InvalidInput(f"{clips[0].name} is a clip, and the study shows pictures")
    if recipe is None or recipe["reads_videos"] or not moving:
        yield tuple(files)
        return
    if find_spec("av") is None:
        raise NotInstalled(
            f"{moving[0].name} is a video, which the server does not read; submit from a machine with PyAV, "
            f"which encodes it before: {sys.executable} -m pip install 'openhype[clips]'"
        )
    with tempfile.TemporaryDirectory(prefix="openhype-") as folder:
        _encode(files, recipe, Path(folder), progress)
        with picture_files(folder) as encoded:
            yield encoded


def _suffix(file: PictureFile) -> str:
    return Path(file.name).suffix.lower()


def _is_animated(file: PictureFile) -> bool:
    try:
        with file.path.open("rb") as opened:
            start = opened.read(100)
    except OSError as error:
        raise InvalidInput(f"{file.path} cannot be read: {error.strerror}") from None
    return any(-1 < start.find(mark) <= most for mark, most in _ANIMATED)


def _encode(
    files: Sequence[PictureFile], recipe: Mapping[str, Any], folder: Path, progress: Progress
) -> None:
    order = {
        "files": {file.name: str(file.path.resolve()) for file in files},
        "recipe": dict(recipe),
        "out": str(folder),
    }
    root = str(Path(__file__).resolve().parents[2])
    program = f"import sys; sys.path.insert(0, {root!r}); from {_ENCODER} import run; run()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(order))
        process.stdin.close()
        told: dict[str, Any] = {}
        for line in process.stdout:
            told = json.loads(line)
            if "done" in told:
                progress(told["done"], told["total"])
    if process.returncode or "error" in told:
        raise InvalidInput(told.get("error") or f"encoding ended with status {process.returncode}")
