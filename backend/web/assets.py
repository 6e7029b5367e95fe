"""The page's files as served: with early texts, without comments, under a URL that changes when any does.

Modules import one another by relative URLs, so that the version in the URL of the first
(`/assets/VERSION/task/main.js`) is in those of all others too. Browsers then cache them permanently, and
revalidate only the page itself.
"""

import gzip
import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
VERSION = "version.txt"
"""In a package for Lambda: the version of the page's files, which stand in a bucket and not beside it."""
_KINDS = (".js", ".css", ".svg")
_ADDRESS = re.compile(r'\b(href|src)="/(assets/)?')
_VERSION_DIGITS = 12  # 48 bits: versions that are alike by chance are out of the question
_SERVING = tuple(Path(__file__).with_name(name) for name in ("comments.py", "embedded_texts.py"))


def files(folder: Path = FRONTEND) -> Iterator[Path]:
    """Yield the files that pages load, except images."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in _KINDS)


def name(path: Path) -> str:
    """Return the name by which pages load a file: its path below the folder of the page."""
    return path.relative_to(FRONTEND).as_posix()


def version(folder: Path = FRONTEND) -> str:
    """Return a version of 12 hexadecimal digits that changes with what is served of any file.

    What is served follows from the sources and from the modules that change them, so that these are what it
    digests.
    """
    if (written := folder / VERSION).is_file():
        return written.read_text("utf-8")
    return _version(tuple((path, *_stamp(path)) for path in (*_SERVING, *files(folder))))


def page(name: str, root: str = "") -> bytes:
    """Return an HTML file of the page with links to the current version, below the path `root`."""
    text, current = (FRONTEND / name).read_text("utf-8"), version()

    def address(link: re.Match[str]) -> str:
        return f'{link[1]}="{root}/{link[2]}{current}/' if link[2] else f'{link[1]}="{root}/'

    return _ADDRESS.sub(address, text).encode()


def served(path: Path) -> bytes:
    """Return a file as it is served, without comments; it is derived once, until the file changes."""
    return _served(path, *_stamp(path))


def compressed(path: Path) -> bytes:
    """Return a file as it is served, compressed by gzip, deterministically."""
    return _compressed(path, *_stamp(path))


def _stamp(path: Path) -> tuple[int, int]:
    """Return the modification time and size of a file, to detect changes."""
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=8)
def _version(stamped: tuple) -> str:
    digest = hashlib.sha256()
    for path, *_ in stamped:
        content = path.read_bytes()
        digest.update(f"{path.parent.name}/{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:_VERSION_DIGITS]


@lru_cache(maxsize=256)
def _served(path: Path, mtime_ns: int, size: int) -> bytes:
    # Not on the way of functions on AWS, which serve none.
    from backend.web.comments import without_comments
    from backend.web.embedded_texts import with_texts

    return without_comments(with_texts(path.read_text("utf-8")), path.suffix).encode()


@lru_cache(maxsize=256)
def _compressed(path: Path, mtime_ns: int, size: int) -> bytes:
    return gzip.compress(_served(path, mtime_ns, size), mtime=0)
