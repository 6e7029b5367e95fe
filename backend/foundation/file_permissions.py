"""Access to a data directory: its owner only, or also a group, if the folder is shared deliberately.

The database and the keys contain panels' data about people, debts, and secrets. New folders are accessible
to their owner only (0700), new files too (0600). A folder counts as deliberately shared with its group if
other users have no access to it, or if it has the setgid bit; what is created inside is then shared too.

File systems without such permissions (FAT, some network drives) refuse to change them; this is reported,
and nothing fails.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from backend.foundation.syncing import sync

_ALL = 0o777
_GROUP = 0o070
_OTHERS = 0o007
_OURS = re.compile(
    r"images|cache|metrics|jobs|uploads|keys\.json|.+\.secret|openhype\.db(-wal|-shm|-journal)?|.+-files\.txt|\..+\.lock|\.keys\.json-.+"
    r"|sign-in\.html|addresses\.json|\.addresses\.json-.+"
)
"""Names that openhype creates in a data directory."""


def group_of(folder: Path) -> int:
    """Return the group's permission bits of a folder that is deliberately shared with its group, else 0."""
    mode = folder.stat().st_mode
    is_on_purpose = not mode & _OTHERS or mode & stat.S_ISGID
    return mode & _GROUP if is_on_purpose else 0


def make_folder(folder: Path, is_first: bool = False) -> None:
    """Create a folder and its missing parents, for their owner alone or also for the group.

    Args:
        is_first: whether it is a data directory, which is not shared merely because its parent is.
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
    sync(folder.parent)


def share(folder: Path) -> None:
    """Share a folder with the group if its parent is deliberately shared."""
    with suppress(OSError):
        if group := group_of(folder.parent):
            folder.chmod(0o700 | group | stat.S_ISGID)


def private(path: str, flags: int) -> int:
    """Open a file, as an opener for `open`; a new one is private to its owner, or shared if its folder is."""
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
    """Revoke other users' access, as to copied or unpacked files; yield messages that report it.

    Args:
        root: the data directory. If it contains files of others, its own permissions do not change, and only
            the files of openhype in it are closed.
        database: the store's file, which need not be in the data directory; SQLite's own files are beside it.
    """
    files = _files_of(database) if database else []
    inside = set(root.iterdir()) if root.is_dir() else set()
    ours = {path for path in inside if _OURS.fullmatch(path.name)} | set(files)
    is_all_ours = root.is_dir() and inside <= ours
    closed: list[Path] = []
    open_still: list[Path] = []
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
    names = (database.name, *(f"{database.name}-{what}" for what in ("wal", "shm", "journal")))
    return [path for name in names if (path := database.with_name(name)).exists()]


def _close(path: Path, chmod: Callable[[Path, int], None]) -> bool | None:
    """Revoke others' access to a path; return whether that succeeded, or None if it was closed already."""
    try:
        before = path.stat()
        allowed = 0o700 | (group_of(path) if path.is_dir() else group_of(path.parent))
        wanted = stat.S_IMODE(before.st_mode) & (allowed | ~_ALL)
        if wanted == stat.S_IMODE(before.st_mode):
            return None
        chmod(path, wanted)
        return not path.stat().st_mode & _OTHERS
    except FileNotFoundError:  # deleted in the meantime
        return None
    except OSError:
        return False


def _named(paths: list[Path]) -> str:
    first, others = paths[0], len(paths) - 1
    return f"{first} (and {others} more)" if others else str(first)
