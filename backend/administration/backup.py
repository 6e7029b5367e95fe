"""Backups of a data directory: a snapshot of the database, the keys, stimulus files and kept metrics.

A backup is a folder. Its `backup.json` lists every file with size and SHA-256; it is replaced last and
atomically, so that an interrupted backup leaves the previous one intact. No file that it lists is written
again: what has changed is stored beside it under another name. Stimulus files never change once a study is
created: the next backup into the same folder copies only new ones.
"""

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from backend import __version__
from backend.foundation.atomic_files import is_live, temporary_folder
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.syncing import sync, sync_all
from backend.foundation.timestamps import stamp
from backend.stimuli.estimates import tracked
from backend.stores import sqlite
from backend.stores.datadir import DataDir
from backend.stores.store import RESTORES, Store

MANIFEST = "backup.json"
_FORM = 1
_CHUNK_BYTES = 2**20
_UNLISTED = re.compile(r"openhype-.*|.*\.[0-9a-f]{8}|\..*\.partial")
"""Names of files that an earlier or an interrupted backup may leave."""

Progress = Callable[..., Iterable]


@dataclass(frozen=True)
class Backup:
    """The contents of a backup."""

    taken_at: str
    counts: Mapping[str, int]
    """Studies, sessions, responses and entries (of the ledger, for example) in the database."""
    files: int
    copied: int
    """Files written this time; the others were there from an earlier backup."""


def back_up(
    database: Path, data: DataDir, folder: Path, now: datetime, progress: Progress | None = None
) -> Backup:
    """Write a backup of `database` and of the images and keys of `data` into `folder`.

    Responses may arrive meanwhile: every one acknowledged before the call is in the backup. What was
    written is read back and checked before the backup counts.

    Raises:
        NotFound: there is no such database, or an image of a study is missing.
        Conflict: `folder` holds something other than a backup of the same data directory.
        StoreFailed: the database cannot be read, or its copy is damaged.
    """
    if not database.is_file():
        raise NotFound(f"there is no database {database} to back up; is --data right?")
    keys = data.keys()
    owner = hashlib.sha256(keys.hashing).hexdigest()
    _manifest(folder, owner)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _locked(folder):
        return _write(database, data, folder, owner, now, progress)


def _write(
    database: Path, data: DataDir, folder: Path, owner: str, now: datetime, progress: Progress | None
) -> Backup:
    before = _manifest(folder, owner)
    name = f"openhype-{secrets.token_hex(4)}.db"
    (counts,) = [
        sqlite.snapshot(database, copy) for copy in tracked([folder / name], 1, "database", progress)
    ]
    files = {name: _described(folder / name)}
    copied = 1
    wanted = [(data.root / "keys.json", "keys.json"), *_pictures(folder / name, data)]
    for source, place in tracked(wanted, len(wanted), "files", progress):
        known = before["files"].get(place)
        if known is None or not _looks_same(folder / _stored(place, known), known, source):
            other = {"stored": f"{place}.{secrets.token_hex(4)}"} if known else {}
            known = {**_copied(source, folder / _stored(place, other)), **other}
            copied += 1
        files[place] = known
    taken_at = stamp(now)
    manifest = {
        "form": _FORM,
        "openhype": __version__,
        "taken_at": taken_at,
        "of": owner,
        "database": name,
        "counts": counts,
        "files": files,
    }
    stored = {folder / _stored(place, known) for place, known in files.items()}
    _sync_folders(folder)
    _replace(folder / MANIFEST, json.dumps(manifest, indent=1))
    outdated = {folder / _stored(place, known) for place, known in before["files"].items()}
    outdated |= {path for path in folder.rglob("*") if path.is_file() and _UNLISTED.fullmatch(path.name)}
    for path in outdated - stored:
        path.unlink(missing_ok=True)
    return Backup(taken_at, counts, len(files), copied)


def restore(
    folder: Path,
    data: DataDir,
    now: datetime,
    progress: Progress | None = None,
    prepare: Callable[[Store], Any] = lambda _: None,
) -> Backup:
    """Restore the data directory `data` from a backup; each file's SHA-256 is verified.

    The restore is recorded in the database: payments may have been made after the backup was taken.

    Args:
        prepare: changes what is in the store before anybody else sees it.

    Raises:
        NotFound: `folder` holds no backup, or a file of it is missing.
        InvalidInput: a file is damaged, or the backup was written by a newer openhype.
        Conflict: the data directory is not empty.
    """
    manifest = _read(folder)
    root = data.root
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise Conflict(f"{root} is not empty; restore into a new folder, or move what is there away first")
    root.parent.mkdir(parents=True, exist_ok=True)
    for left in root.parent.glob(f".{root.name}-*"):
        is_live(left)  # one whose process was killed is removed
    files = manifest["files"]
    with temporary_folder(root.with_name(f".{root.name}-{secrets.token_hex(8)}")) as fresh:
        for place in tracked(sorted(files), len(files), "files", progress):
            target = fresh / ("openhype.db" if place == manifest["database"] else place)
            source = folder / _stored(place, files[place])
            if not source.is_file():
                raise NotFound(f"{source} is missing from the backup; take another backup")
            if _copied(source, target)["sha256"] != files[place]["sha256"]:
                raise InvalidInput(f"{source} is damaged: its SHA-256 differs; take another backup")
        with closing(sqlite.SqliteStore(fresh / "openhype.db")) as store:
            store.write_entry(RESTORES, stamp(now), 0, {"taken_at": manifest["taken_at"]})
            prepare(store)
        _sync_folders(fresh)
        if root.exists():
            root.rmdir()
        fresh.rename(root)
        sync(root.parent)
    return Backup(manifest["taken_at"], manifest["counts"], len(files), len(files))


def _manifest(folder: Path, owner: str) -> dict[str, Any]:
    """Return the manifest of the existing backup in `folder`, or an empty one."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return {"files": {}}
    if folder.is_dir() and not (folder / MANIFEST).exists() and _is_remnant(folder):
        return {"files": {}}
    try:
        manifest = _read(folder)
    except (NotFound, InvalidInput):
        raise Conflict(f"{folder} must be a new folder or a backup, and it holds other things") from None
    if manifest["of"] != owner:
        raise Conflict(f"{folder} holds a backup of another data directory; choose another folder")
    return manifest


def _stored(place: str, known: Mapping[str, Any]) -> str:
    """Return the path within the backup at which a file of the data directory is stored."""
    stored: str = known.get("stored", place)
    return stored


def _is_remnant(folder: Path) -> bool:
    """Return whether a folder holds only the remnants of an interrupted first backup."""
    return all(
        path.name in ("keys.json", "images", "metrics", ".keys.json.partial", f".{MANIFEST}.partial")
        or (path.name.startswith("openhype-") and ".db" in path.name)
        for path in folder.iterdir()
    )


def _read(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        form, files = manifest["form"], manifest["files"]
        whole = files[manifest["database"]] and manifest["of"] and manifest["counts"] and manifest["taken_at"]
    except FileNotFoundError:
        raise NotFound(f"{folder} holds no backup: there is no {MANIFEST} in it") from None
    except (ValueError, KeyError, TypeError, OSError):
        raise InvalidInput(f"{folder / MANIFEST} cannot be read as a backup's list of files") from None
    if form != _FORM:
        raise InvalidInput(
            f"{folder} was written by another openhype (form {form}, this one reads {_FORM}); update openhype"
        )
    if not whole or any(
        not _is_inside(path) for place, known in files.items() for path in (place, _stored(place, known))
    ):
        raise InvalidInput(f"{folder / MANIFEST} names files outside of the backup")
    return manifest


def _is_inside(place: str) -> bool:
    path = Path(place)
    return not path.is_absolute() and ".." not in path.parts


def _pictures(database: Path, data: DataDir) -> Iterator[tuple[Path, str]]:
    """Yield each stimulus and mask file in the database: its path, and its path within a backup.

    The metrics that are kept with a study are among them.
    """
    for study, names in sqlite.pictures(database):
        if data.metrics(study).is_file():
            yield data.metrics(study), f"metrics/{study}.json"
        for name in names:
            yield data.images(study) / name, f"images/{study}/{name}"


def _looks_same(path: Path, known: Mapping[str, Any], source: Path) -> bool:
    """Return whether a copy is as it was written, and its source has not changed since."""
    try:
        there, here = path.stat(), source.stat()
    except OSError:
        return False
    return there.st_size == here.st_size == known["bytes"] and there.st_mtime_ns == here.st_mtime_ns


def _copied(source: Path, target: Path) -> dict[str, Any]:
    """Copy and sync a file with its time, readable by its owner only; return its size and SHA-256."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, size = hashlib.sha256(), 0
    partial = target.with_name(f".{target.name}.partial")
    try:
        reading = source.open("rb")
    except FileNotFoundError:
        raise NotFound(
            f"{source} is missing, though the database lists it; if its study has been deleted since, "
            "back up again"
        ) from None
    with reading, open(partial, "wb", opener=_private) as writing:
        while chunk := reading.read(_CHUNK_BYTES):
            digest.update(chunk)
            size += writing.write(chunk)
        writing.flush()
        os.fsync(writing.fileno())
    shutil.copystat(source, partial)
    partial.chmod(0o600)
    partial.replace(target)
    return {"bytes": size, "sha256": digest.hexdigest()}


def _described(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    with open(partial, "w", encoding="utf-8", opener=_private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync(path.parent)


def _sync_folders(root: Path) -> None:
    """Sync a folder, all folders in it, and the name of the folder."""
    sync_all([root.parent, root, *(path for path in root.rglob("*") if path.is_dir())])


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Allow one process at a time to write a backup into `folder`.

    Raises:
        Conflict: another process is writing one.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(f"another process writes a backup into {folder} at this moment") from None
        yield
    finally:
        os.close(descriptor)
