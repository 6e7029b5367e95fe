"""Cache of masks in a folder; an incomplete or damaged file counts as missing.

An entry's name is a hash of everything that determines its mask, and its content starts with a digest of
the rest. Entries are written atomically, so that processes may write and read without locks; two processes
that make the same entry write the same bytes.
"""

import hashlib
import io
import os
import secrets
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from backend.foundation.file_permissions import make_folder
from backend.stimuli.images import encode

_DIGEST = 32


def key_of(picture: np.ndarray, *settings: object) -> str:
    """Return the name of the entry for a mask of these pixels under these settings, including the seed."""
    digest = hashlib.blake2b(repr((picture.shape, settings)).encode(), digest_size=_DIGEST)
    digest.update(np.ascontiguousarray(picture).tobytes())
    return digest.hexdigest()


def cached(folder: Path | None, key: str, make: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the mask under `key`, made and stored if it is missing or damaged; without a folder, made."""
    if folder is None:
        return make()
    path = folder / key[:2] / key
    masks = _read(path)
    if masks is None:
        masks = make()
        _write(path, masks)
    return masks


def _read(path: Path) -> np.ndarray | None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    digest, body = data[:_DIGEST], data[_DIGEST:]
    if hashlib.blake2b(body, digest_size=_DIGEST).digest() != digest:
        return None
    with Image.open(io.BytesIO(body), formats=["PNG"]) as picture:
        return np.asarray(picture)


def _write(path: Path, mask: np.ndarray) -> None:
    body = encode(Image.fromarray(mask), "png")
    make_folder(path.parent)
    partial = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        partial.write_bytes(hashlib.blake2b(body, digest_size=_DIGEST).digest() + body)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
