"""Links that sign the owner in once, within ten minutes: for whoever can read the terminal of the server.

A link carries a code of 256 random bits. Only hashes are held, in the memory of the server that issued it, so
that a code opens no other server, and none that was started again.
"""

import hashlib
import re
import secrets
import threading
from datetime import datetime, timedelta

from backend.foundation.errors import NotAllowed
from backend.members.access import KEY_HOLDER
from backend.members.roles import Member

LASTS = timedelta(minutes=10)
FRAGMENT = "sign-in"
"""The name before the code in a link's fragment, which no browser sends with a request."""
_CODE = re.compile(r"once_[A-Za-z0-9_-]{43}")
_INSTEAD = "sign in with your token or the researcher's key, or start `openhype serve` again for a new link"


class SignInLinks:
    """The links that one server has issued."""

    def __init__(self) -> None:
        self._expiries: dict[bytes, datetime] = {}
        self._used: set[bytes] = set()
        self._lock = threading.Lock()  # looked up and used up in one step: a link signs in one person

    def issue(self, base: str, now: datetime) -> str:
        """Return a new link to the console of the server that browsers reach at `base`."""
        code = f"once_{secrets.token_urlsafe(32)}"
        with self._lock:
            self._expiries[_hash(code)] = now + LASTS
        return f"{base}/console#{FRAGMENT}={code}"

    def member(self, text: str, now: datetime) -> Member | None:
        """Return whom a link's code signs in, and use it up; None if the text is no such code.

        Raises:
            NotAllowed: `used_link`, or `expired_link`, which is also said of codes of another server.
        """
        if not _CODE.fullmatch(text):
            return None
        key = _hash(text)
        with self._lock:
            expiry = self._expiries.pop(key, None)
            if expiry is not None and now < expiry:
                self._used.add(key)
                return KEY_HOLDER
            is_used = key in self._used
        if is_used:
            raise NotAllowed(f"this link has signed somebody in already; {_INSTEAD}", code="used_link")
        raise NotAllowed(
            f"this link was valid for ten minutes, at the server that printed it; {_INSTEAD}",
            code="expired_link",
        )


def _hash(code: str) -> bytes:
    return hashlib.sha256(code.encode()).digest()
