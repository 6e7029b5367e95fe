"""Per-session names and bytes of stimulus files, so that no two sessions share either.

Otherwise people who come twice, or compare notes, could recognise stimuli by their names. A stored name
(128 bits) is encrypted by a session-specific permutation of all such names: a Feistel network of four
rounds of HMAC-SHA256 (Luby and Rackoff, 1988). The server decrypts it with its key alone, without any
lookup.
"""

import hmac
import re
from functools import lru_cache

from backend.stimuli.media import TYPES, medium_of_file

_NAME = re.compile(rf"([0-9a-f]{{32}})({'|'.join(map(re.escape, TYPES))})")
_ROUNDS = range(4)
_HALF = 8
_SALT = 16
_SESSIONS_CACHED = 4096


def is_stored_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


class PictureNames:
    """Session-specific names and salts of stimulus files under a server's secret key."""

    def __init__(self, key: bytes):
        self._of = lru_cache(_SESSIONS_CACHED)(
            lambda session: hmac.digest(key, f"pictures of {session}".encode(), "sha256")
        )

    def sealed(self, session: str, name: str) -> str:
        """Return the encrypted name of the stimulus `name` for a session's browser.

        Raises:
            ValueError: `name` is not a stored name.
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
        """Return the stored name that `sealed` encrypted; None if the form is wrong."""
        named = _NAME.fullmatch(sealed)
        if named is None:
            return None
        key, whole = self._of(session), bytes.fromhex(named[1])
        left, right = whole[:_HALF], whole[_HALF:]
        for i in reversed(_ROUNDS):
            left, right = _mixed(key, i, left, right), left
        return (left + right).hex() + named[2]

    def salted(self, session: str, name: str, data: bytes) -> bytes:
        """Return a stimulus file with 16 session-specific bytes added, which decoders skip."""
        salt = hmac.digest(self._of(session), f"salt {name}".encode(), "sha256")[:_SALT]
        return medium_of_file(name).salted(data, salt)


def _mixed(key: bytes, i: int, half: bytes, other: bytes) -> bytes:
    pad = hmac.digest(key, bytes([i]) + half, "sha256")
    return (int.from_bytes(other) ^ int.from_bytes(pad[:_HALF])).to_bytes(_HALF)
