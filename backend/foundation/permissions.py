"""Who may read a data directory: its owner only, or a group where the folder is the group's on purpose.

Database and keys hold what panels tell of people, what is owed, and secrets. New folders are made for their
owner alone (0700), new files too (0600). A folder is taken to be its group's on purpose where others than the
group have no access to it, or where it has the setgid bit; what is made inside is then the group's too.

File systems without such rights (FAT, some network drives) refuse to change them: that is told, and nothing
fails.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

_ALL = 0o777
_GROUP = 0o070
_OTHERS = 0o007
_OURS = re.compile(
    r"images|cache|keys\.json|.+\.secret|openhype\.db(-wal|-shm|-journal)?|.+-files\.txt|\..+\.lock|\.keys\.json-.+"
)
"""What openhype makes in a data directory."""


def group_of(folder: Path) -> int:
    """Return the group's rights in a folder that is its group's on purpose, as bits of its mode, or 0."""
    mode = folder.stat().st_mode
    is_on_purpose = not mode & _OTHERS or mode & stat.S_ISGID
    return mode & _GROUP if is_on_purpose else 0


def make_folder(folder: Path, is_first: bool = False) -> None:
    """Make a folder and those above it where they are missing, for their owner alone or for the group.

    Args:
        is_first: whether it is a data directory, which is not its group's because the one above it is.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent, is_first)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return
    if not is_first:
        share(folder)


def share(folder: Path) -> None:
    """Give a folder to the group that the one above it belongs to on purpose."""
    with suppress(OSError):
        if group := group_of(folder.parent):
            folder.chmod(0o700 | group | stat.S_ISGID)


def private(path: str, flags: int) -> int:
    """Open a file, as an opener for `open`; a new one is its owner's, or also the group's of the folder."""
    try:
        descriptor = os.open(path, flags | os.O_EXCL, 0o600) if flags & os.O_CREAT else os.open(path, flags)
    except FileExistsError:
        return os.open(path, flags, 0o600)
    if flags & os.O_CREAT:
        with suppress(OSError):
            if group := group_of(Path(path).parent):
                os.fchmod(descriptor, 0o600 | group & 0o060)
    return descriptor


def tighten(
    root: Path, database: Path | None, chmod: Callable[[Path, int], None] = os.chmod
) -> Iterator[str]:
    """Take from others what an earlier version let them read; yield what there is to tell.

    Args:
        root: the data directory. Where other things than ours lie in it, it is left as it is, and only what
            is ours in it is closed.
        database: the store's file, which need not be in the data directory; SQLite's own files are beside it.
    """
    files = _files_of(database) if database else []
    inside = set(root.iterdir()) if root.is_dir() else set()
    ours = {path for path in inside if _OURS.fullmatch(path.name)} | set(files)
    is_all_ours = root.is_dir() and inside <= ours
    closed, open_still = [], []
    for path in [*([root] if is_all_ours else []), *sorted(ours)]:
        is_closed = _close(path, chmod)
        if is_closed is not None:
            (closed if is_closed else open_still).append(path)
    if closed:
        yield (
            f"note: other users of this machine could read {_named(closed)}, and no longer can; "
            "docs/backups.md says how a group shares a data directory"
        )
    if open_still:
        yield (
            f"warning: other users of this machine can read {_named(open_still)}, and that could not be "
            "changed; keep the data directory where it can"
        )


def _files_of(database: Path) -> list[Path]:
    """Return the files of a database that are there."""
    names = (database.name, *(f"{database.name}-{what}" for what in ("wal", "shm", "journal")))
    return [path for name in names if (path := database.with_name(name)).exists()]


def _close(path: Path, chmod: Callable[[Path, int], None]) -> bool | None:
    """Return whether a file or folder was closed to others, or None where it was closed already."""
    try:
        before = path.stat()
        allowed = 0o700 | (group_of(path) if path.is_dir() else group_of(path.parent))
        wanted = stat.S_IMODE(before.st_mode) & (allowed | ~_ALL)
        if wanted == stat.S_IMODE(before.st_mode):
            return None
        chmod(path, wanted)
        return not path.stat().st_mode & _OTHERS
    except FileNotFoundError:  # gone meanwhile
        return None
    except OSError:
        return False


def _named(paths: list[Path]) -> str:
    first, others = paths[0], len(paths) - 1
    return f"{first} (and {others} more)" if others else str(first)
