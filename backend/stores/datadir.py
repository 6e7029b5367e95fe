"""The data directory of one machine: the database, the stimulus files, the keys.

`openhype-data/openhype.db`, `openhype-data/images/<study>/<name>`, `openhype-data/keys.json`;
`openhype-data/metrics/<study>.json`: automatic metrics of a study's pictures;
`openhype-data/cache/` holds results that can be recomputed, and may be removed at any time.
"""

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from backend.foundation.atomic_files import is_live, temporary_folder, write_whole
from backend.foundation.errors import Conflict, InvalidInput
from backend.foundation.file_permissions import make_folder, private
from backend.foundation.frozen import dataclass
from backend.foundation.syncing import sync
from backend.foundation.text_files import read_text

DOWNLOADS_KEPT_S = 900.0
"""Seconds for which a file to download is kept after it was made."""
_ABANDONED_S = 24 * 3600
"""Seconds after which nobody writes to a folder any more in which a file to download was being made."""


@dataclass(frozen=True)
class Keys:
    """The secrets of a data directory: the researcher's key, and the key that hashes panel ids."""

    researcher: str
    hashing: bytes
    ended: tuple[str, ...] = ()
    """Digests of the researcher's keys that were replaced, the earliest first."""


@dataclass(frozen=True)
class DataDir:
    """Paths inside a data directory. Nothing is created until it is needed.

    `root` is made absolute at construction: a relative path means the working directory of that moment,
    and libraries resolve relative paths against folders of their own.
    """

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", self.root.absolute())

    def named_within(self, message: str) -> str:
        """Return a message for others than this machine's user: files are named within the directory."""
        return message.replace(f"{self.root}/", "").replace(str(self.root), "the data directory")

    def images(self, study: str) -> Path:
        """Return the folder of a study's stimulus and mask files."""
        return self.root / "images" / study

    def picture(self, study: str, name: str) -> bytes | None:
        """Return the content of a stimulus file, or None if it is not here."""
        try:
            return (self.images(study) / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def unpublished(self, study: str) -> Path:
        """Return the marker file of a study whose images are in place but which is not stored yet.

        It names the attempt, which the store at hand knows: several stores may use this data directory, and
        a store may be moved, with another one made at its path.
        """
        return self.root / "images" / f".unpublished-{study}"

    def joining(self, study: str) -> Path:
        """Return the file that lists the pictures of a model that is joining a study at this moment."""
        return self.root / "images" / f".joining-{study}.json"

    def sharers(self, study: str) -> list[str]:
        """Return the URLs of the stores that have a study over the same pictures; [] if only one has."""
        note = self._sharers(study)
        return json.loads(note.read_bytes()) if note.exists() else []

    def note_sharers(self, study: str, urls: Iterable[str]) -> None:
        """Note the stores that have a study over the same pictures."""
        write_whole({self._sharers(study): json.dumps(sorted(urls)).encode()})

    def _sharers(self, study: str) -> Path:
        return self.root / "images" / f".stores-{study}.json"

    @contextmanager
    def making(self, study: str) -> Iterator[Path]:
        """Yield a new folder for a study that is being created; it is removed with its contents at the end.

        Folders left by creations that crashed are removed first: that of a live one is locked.

        Raises:
            Conflict: another process is creating a study of this name.
        """
        folder = self.root / "images" / f".partial-{study}-{secrets.token_hex(8)}"
        with ExitStack() as stack:
            with self.locked("making"):
                stack.enter_context(temporary_folder(folder))
                live = [other for other in self._making() if other != folder and is_live(other)]
                if any(other.name.rpartition("-")[0] == f".partial-{study}" for other in live):
                    raise Conflict(f"another process is making a study {study} at this moment")
            yield folder

    def put_away(self, study: str) -> None:
        """Move a study's pictures, in one step, to where `clear_making` removes them."""
        folder = self.images(study)
        os.replace(folder, folder.with_name(f".partial-{study}-{secrets.token_hex(8)}"))
        self._sharers(study).unlink(missing_ok=True)
        sync(folder.parent)

    def clear_making(self) -> None:
        """Remove the folders left by creations that crashed."""
        if left := self._making():
            with self.locked("making"):
                for folder in left:
                    is_live(folder)

    def _making(self) -> list[Path]:
        return [*(self.root / "images").glob(".partial-*")]

    def metrics(self, study: str) -> Path:
        """Return the file of the automatic metrics that are kept with a study."""
        return self.root / "metrics" / f"{study}.json"

    def cache(self, what: str) -> Path:
        """Return the cache folder for results of the kind `what`."""
        return self.root / "cache" / what

    def downloads(self, study: str) -> Path:
        """Return the folder of files that were made for downloading, which are kept for some minutes."""
        return self.cache("downloads") / study

    def remove_downloads(self, study: str) -> None:
        """Remove the files of a study that were made for downloading, for example since somebody withdrew.

        All go at once, also those that are being made: none can be completed in a folder that was renamed.
        """
        removed = self.downloads(f".removed-{secrets.token_hex(8)}")
        with suppress(OSError):  # there are none
            os.replace(self.downloads(study), removed)
        shutil.rmtree(removed, ignore_errors=True)

    def expire_downloads(self) -> None:
        """Remove such files in their time, and folders of killed workers; also those dated in the future."""
        now = time.time()
        for path in self.cache("downloads").glob("*/*"):
            with suppress(OSError):
                age_s = abs(now - path.stat().st_mtime)  # a clock that was ahead may have dated it
                if path.is_dir() and age_s > _ABANDONED_S:
                    shutil.rmtree(path)
                elif path.is_file() and age_s > DOWNLOADS_KEPT_S:
                    path.unlink()

    @contextmanager
    def locked(self, what: str) -> Iterator[None]:
        """Hold the lock named `what` against other processes on this machine."""
        make_folder(self.root, is_first=True)
        with open(self.root / f".{what}.lock", "w", opener=private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # the system releases it if the process is killed
            yield

    def researcher_key(self) -> str:
        """Return the researcher's key that the server of this directory requires.

        Raises:
            InvalidInput: the directory has no keys yet.
        """
        key = os.environ.get("OPENHYPE_KEY")
        if not key and not self.has_keys():
            raise InvalidInput(
                f"the server's researcher's key is needed, and there is no {self.root / 'keys.json'}; name "
                "its data directory with --data DIR, or give its key as OPENHYPE_KEY"
            )
        return key or self.keys().researcher

    def has_keys(self) -> bool:
        return (self.root / "keys.json").exists()

    def keys(self) -> Keys:
        """Return the keys, which are created at the first call.

        Two processes that start at once get the same keys: the file is created once, atomically.
        """
        path = self.root / "keys.json"
        if not path.exists():
            make_folder(self.root, is_first=True)
            _write_once(path, {"researcher": secrets.token_urlsafe(24), "hashing": secrets.token_hex(32)})
        return parse_keys(read_text(path), str(path))

    def replace_researcher_key(self) -> None:
        """Replace the researcher's key by a new one; of the earlier one a digest is kept.

        Raises:
            InvalidInput: OPENHYPE_KEY is set, which counts in place of the one that is stored.
        """
        if os.environ.get("OPENHYPE_KEY"):
            raise InvalidInput("OPENHYPE_KEY is the researcher's key here: change this variable, or unset it")
        with self.locked("keys"):
            before = self.keys()
            replace_private(
                self.root / "keys.json",
                json.dumps(
                    {
                        "researcher": secrets.token_urlsafe(24),
                        "hashing": before.hashing.hex(),
                        "ended": [*before.ended, digest_of_key(before.researcher)],
                    }
                ),
            )

    def secret(self, name: str) -> str:
        """Return the secret stored here under a name, or '' if there is none."""
        path = self.secret_file(name)
        return path.read_text().strip() if path.exists() else ""

    def keep_secret(self, name: str, secret: str) -> None:
        """Store a secret, replacing any earlier one, in a file that others cannot read."""
        make_folder(self.root, is_first=True)
        replace_private(self.secret_file(name), f"{secret}\n")

    def secret_file(self, name: str) -> Path:
        return self.root / f"{name}.secret"


def digest_of_key(researcher: str) -> str:
    """Return the digest by which a replaced researcher's key is recognised."""
    return hashlib.sha256(researcher.encode()).hexdigest()


def parse_keys(text: str, where: str) -> Keys:
    """Return the keys in `text`, read from `where`; OPENHYPE_KEY overrides the researcher's.

    Raises:
        InvalidInput: the text holds no keys.
    """
    keys = stored_keys(text, where)
    return replace(keys, researcher=os.environ.get("OPENHYPE_KEY") or keys.researcher)


def stored_keys(text: str, where: str) -> Keys:
    """Return the keys in `text`, read from `where`, as they are stored.

    Raises:
        InvalidInput: the text holds no keys.
    """
    try:
        stored = json.loads(text)
        return Keys(
            str(stored["researcher"]), bytes.fromhex(stored["hashing"]), tuple(stored.get("ended", ()))
        )
    except (ValueError, KeyError, TypeError):
        raise InvalidInput(
            f"{where} must hold the keys 'researcher' and 'hashing'; restore it from a backup, or "
            "move it away to have new keys made (evaluators known so far are then not recognised)"
        ) from None


def _write_once(path: Path, data: dict[str, str]) -> None:
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    _write_whole(temporary, json.dumps(data))
    try:
        os.link(temporary, path)  # fails if another process was first; a rename would replace the keys in use
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)
    sync(path.parent)


def replace_private(path: Path, text: str) -> None:
    """Write a file that others cannot read, which is whole at any time, replacing any earlier one."""
    _write_whole(temporary := path.with_name(f".{path.name}-{secrets.token_hex(8)}"), text)
    os.replace(temporary, path)
    sync(path.parent)


def _write_whole(path: Path, text: str) -> None:
    """Write and sync a new file that only its owner, or the group that owns the folder, can read."""
    try:
        with open(path, "x", opener=private) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError:  # such as a full disk
        path.unlink(missing_ok=True)
        raise
