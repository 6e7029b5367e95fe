"""Names of an archive's entries: which are safe to write, which are skipped, which collide.

An archive is written by whoever sends it. A path in it may climb out of the folder into which it is
unpacked, be absolute, be one of Windows, or be the same as another on a file system without upper and lower
case.
"""

import re
import unicodedata
from collections.abc import Iterable

from backend.foundation.errors import InvalidInput
from backend.foundation.names import ADDED_BY_SYSTEMS
from backend.foundation.printable import escaped
from backend.uploads.archive_entries import bad_archive

LONGEST_STATED = 2048
"""Most bytes of a name in an archive, with steps such as `./` that its path is without."""
_MOST_PATH_BYTES, _MOST_NAME_BYTES, _MOST_FOLDERS = 1024, 255, 16
_DRIVE = re.compile(r"[A-Za-z]:(/|$)")
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SKIPPED = ADDED_BY_SYSTEMS | {".ds_store"}
"""Besides files whose names begin with `._`."""
_LONGEST_NAMED = 120


def refused(name: str, why: str) -> InvalidInput:
    """Return the error of an entry that is not unpacked."""
    shown = escaped(name if len(name) <= _LONGEST_NAMED else f"{name[:_LONGEST_NAMED]}…")
    return InvalidInput(f"the archive was not unpacked: its entry {shown!r} {why}", code="bad_archive")


def safe_path(name: str) -> str:
    """Return the relative path of an entry, without `.` and empty steps; '' for the folder itself.

    Raises:
        InvalidInput: `bad_archive`, if the entry cannot be written, or not inside its folder.
    """
    if _UNSTORABLE.search(name):
        raise refused(name, "has a control character or invalid text in its name")
    if "\\" in name or _DRIVE.match(name):
        raise refused(name, "has a path of Windows; names are separated by / and have no drive")
    if name.startswith("/"):
        raise refused(name, "has an absolute path")
    steps = [step for step in name.split("/") if step not in ("", ".")]
    if ".." in steps:
        raise refused(name, "climbs out of its folder by '..'")
    if len(steps) > _MOST_FOLDERS + 1:
        raise refused(name, f"lies in more than {_MOST_FOLDERS} folders inside each other")
    path = "/".join(steps)
    is_long = any(len(step.encode()) > _MOST_NAME_BYTES for step in steps)
    if is_long or len(path.encode()) > _MOST_PATH_BYTES:
        raise too_long(name)
    return path


def too_long(name: str) -> InvalidInput:
    """Return the error of an entry whose name or path is too long."""
    return refused(
        name, f"has a name of more than {_MOST_NAME_BYTES} bytes, or a path of more than {_MOST_PATH_BYTES}"
    )


def is_skipped(path: str) -> bool:
    """Return whether an entry is one that systems add, rather than one of its author's."""
    steps = path.split("/")
    return any(step.lower() in _SKIPPED for step in steps) or steps[-1].startswith("._")


def check_collisions(paths: Iterable[str], most_folders: int) -> None:
    """Check that no two files have one path, on file systems with and without upper and lower case.

    Args:
        most_folders: in which the files may lie; each takes memory here, and an inode of the disk.

    Raises:
        InvalidInput: `bad_archive`.
    """
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for path in paths:
        key = _folded(path)
        if key in files:
            raise refused(path, _same(path, files[key]))
        files[key] = path
        while cut := path.rpartition("/")[0]:
            path, key = cut, _folded(cut)
            if folders.setdefault(key, path) != path:
                raise refused(path, _same(path, folders[key]))
            if len(folders) > most_folders:
                raise bad_archive(f"its files lie in more than {most_folders} folders")
    if both := files.keys() & folders.keys():
        raise refused(files[min(both)], "is a file, and another entry lies in it as in a folder")


def wrapping_folder(paths: Iterable[str]) -> str:
    """Return the folder in which all files lie, with its slash; '' if there is none.

    An archive of a folder often begins with the folder itself.
    """
    first = {path.partition("/")[0] if "/" in path else "" for path in paths}
    return f"{first.pop()}/" if len(first) == 1 and "" not in first else ""


def _folded(path: str) -> str:
    folded = unicodedata.normalize("NFC", path).casefold()
    return unicodedata.normalize("NFC", folded)


def _same(path: str, other: str) -> str:
    if path == other:
        return "stands in it twice"
    return f"differs from {escaped(other)!r} only in upper and lower case or in how letters are encoded"
