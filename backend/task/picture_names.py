"""What a session's browser is sent of a picture besides its pixels: name and bytes that no other session has.

Whoever comes twice, or asks others, would else recognise pictures by their names. A stored name, of 128 bits,
is sealed by a permutation of all such names that belongs to the session: a Feistel network of four rounds
of HMAC-SHA256 (Luby and Rackoff, 1988). The server opens it with its key alone, and looks nothing up.
"""

import hmac
import re
import struct
import zlib

_NAME = re.compile(r"([0-9a-f]{32})(\.(?:png|jpg))")
_ROUNDS = range(4)
_HALF = 8
_PNG_START = b"\x89PNG\r\n\x1a\n"
_PNG_HEAD = 33
"""Bytes of a PNG before its second chunk: signature and IHDR."""
_JPEG_START = b"\xff\xd8"
_SALT = 16


class PictureNames:
    """The names and salts of pictures under a server's secret key."""

    def __init__(self, key: bytes):
        self._key = key

    def sealed(self, session: str, name: str) -> str:
        """Return the name under which a session's browser is sent the picture `name`.

        Raises:
            ValueError: `name` is none of a picture.
        """
        named = _NAME.fullmatch(name)
        if named is None:
            raise ValueError(f"{name!r} is no name of a picture")
        key, whole = self._of(session), bytes.fromhex(named[1])
        left, right = whole[:_HALF], whole[_HALF:]
        for i in _ROUNDS:
            left, right = right, _mixed(key, i, right, left)
        return (left + right).hex() + named[2]

    def opened(self, session: str, sealed: str) -> str | None:
        """Return the stored name behind a name as `sealed` gives it; None where it has no such form."""
        named = _NAME.fullmatch(sealed)
        if named is None:
            return None
        key, whole = self._of(session), bytes.fromhex(named[1])
        left, right = whole[:_HALF], whole[_HALF:]
        for i in reversed(_ROUNDS):
            left, right = _mixed(key, i, left, right), left
        return (left + right).hex() + named[2]

    def salted(self, session: str, name: str, data: bytes) -> bytes:
        """Return a picture's file with 16 bytes of the session's own, which decoders skip.

        All files become longer by the same length. One that is neither PNG nor JPEG stays as it is.
        """
        salt = hmac.digest(self._of(session), f"salt {name}".encode(), "sha256")[:_SALT]
        if data.startswith(_PNG_START):
            body = b"opSt" + salt
            chunk = struct.pack(">I", _SALT) + body + struct.pack(">I", zlib.crc32(body))
            return b"".join((data[:_PNG_HEAD], chunk, memoryview(data)[_PNG_HEAD:]))
        if data.startswith(_JPEG_START):
            comment = b"\xff\xfe" + struct.pack(">H", len(salt) + 2) + salt
            return b"".join((_JPEG_START, comment, memoryview(data)[len(_JPEG_START) :]))
        return data

    def _of(self, session: str) -> bytes:
        return hmac.digest(self._key, f"pictures of {session}".encode(), "sha256")


def _mixed(key: bytes, i: int, half: bytes, other: bytes) -> bytes:
    pad = hmac.digest(key, bytes([i]) + half, "sha256")
    return (int.from_bytes(other) ^ int.from_bytes(pad[:_HALF])).to_bytes(_HALF)
