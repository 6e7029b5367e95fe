"""The page's files as they are sent: compressed, and at addresses that change when any of them does.

Modules name one another by relative addresses, so that a version in the address of the first
(`/assets/VERSION/main.js`) is in those of all others too. Browsers then keep them for good, and ask for the
page alone again.
"""

import gzip
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
_KINDS = (".js", ".css", ".svg")
_PREFIX = '"/assets/'
_VERSION_DIGITS = 12


def files(folder: Path = FRONTEND) -> Iterator[Path]:
    """Yield what pages load besides pictures."""
    return (path for path in sorted(folder.iterdir()) if path.suffix in _KINDS)


def version(folder: Path = FRONTEND) -> str:
    """Return a word of 12 hexadecimal digits that changes with the content of any file."""
    return _version(tuple((path, *_stamp(path)) for path in files(folder)))


def page(name: str) -> bytes:
    """Return an HTML file of the page that loads what is current."""
    text = (FRONTEND / name).read_text("utf-8")
    return text.replace(_PREFIX, f"{_PREFIX}{version()}/").encode()


def compressed(path: Path) -> bytes:
    """Return a file's content under gzip; the same bytes for the same content."""
    return _compressed(path, *_stamp(path))


def _stamp(path: Path) -> tuple[int, int]:
    """Return what tells of a file that it was changed."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=8)
def _version(stamped: tuple) -> str:
    digest = hashlib.sha256()
    for path, *_ in stamped:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:_VERSION_DIGITS]


@lru_cache(maxsize=256)
def _compressed(path: Path, mtime_ns: int, size: int) -> bytes:
    return gzip.compress(path.read_bytes(), mtime=0)
