"""Verifies that a panel vouches for the person named by its link: a signed token (JWT, RFC 7519).

Only RS256 and ES256 are accepted, each with a key of its own type from the panel's published set (JWKS,
RFC 7517): the algorithm stated by a token cannot select anything else, so that neither `none` nor a
public key used as a shared secret passes. The token appears in no message, log or store.
"""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from backend.experiment.panel import Signature
from backend.foundation.errors import InvalidInput, NotAllowed, Unavailable
from backend.foundation.frozen import dataclass
from backend.foundation.optional_packages import check
from backend.foundation.public_fetch import check_public, fetched

_ALGORITHMS = {"RSA": "RS256", "EC": "ES256"}
"""The algorithm that each type of key may verify."""
_CURVE = "P-256"
_LEEWAY_S = 30
_KEPT_S = 3600
_ASKED_AGAIN_S = 60
"""Minimum time before the panel is asked again for a key that its set lacked."""
_TRIED_AGAIN_S = 10
"""Minimum time after a failed fetch: otherwise a panel that is down would delay every request."""
_AT_ONCE = 4
"""Panels that are asked at a time, of the 16 threads of a server; of those that failed before, one."""
_FETCH_S = 5
"""Within which the whole set of keys has to be there."""
_MAX_BYTES = 256 * 1024

Fetch = Callable[[str], bytes]


@dataclass(frozen=True)
class _Asked:
    """A panel's keys as last fetched; times in seconds."""

    at: float
    failed: bool
    keys: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    """Algorithm and key by `kid`."""
    keys_at: float = 0


class Signatures:
    """Verifies panels' signatures, with keys cached for an hour. Safe to use from many threads.

    One request at a time asks a panel, and few panels are asked at once; other requests do not wait for that:
    panels that do not reply would hold all threads of the server.
    """

    def __init__(self, clock: Callable[[], datetime], fetch: Fetch | None = None, own: str = ""):
        """
        Args:
            own: the address of keys that the operator of this server chose, which need not be public.
        """
        self._clock = clock
        self._fetch = fetch or (lambda source: _fetched(source, own))
        self._asked: dict[str, _Asked] = {}
        self._asking: set[str] = set()
        self._lock = threading.Lock()  # whether a panel is being asked is seen and noted in one step

    def check(self, signature: Signature, panel: Mapping[str, str], token: str | None) -> None:
        """Raise unless the panel vouches for a visitor.

        Raises:
            NotAllowed: `unsigned`.
            Unavailable: the panel's keys could not be fetched.
            NotInstalled: the library for verification is missing.
        """
        check_installed()
        if not token:
            raise _unsigned("the link lacks the panel's signature")
        claims = self._verified(signature, token)
        for parameter, paths in signature.claims.items():
            said = [_claim(claims, path) for path in paths.split(",")]
            if not panel.get(parameter) or any(value != panel[parameter] for value in said):
                raise _unsigned(f"the panel's signature is for another {parameter}")

    def _verified(self, signature: Signature, token: str) -> Mapping[str, Any]:
        import jwt

        # Times are checked below, against our own clock.
        options: jwt.types.Options = {
            "verify_exp": False,
            "verify_nbf": False,
            "verify_iat": False,
            "verify_aud": False,
        }
        try:
            algorithm, key = self._key(signature.keys, jwt.get_unverified_header(token).get("kid"))
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=signature.issuer or None,
                options=options,
            )
        except (jwt.PyJWTError, ValueError, RecursionError):  # PyJWT 2.8 lets the last two through
            raise _unsigned("the panel's signature does not hold") from None
        if signature.audience and not _is_for(claims.get("aud"), signature.audience):
            raise _unsigned("the panel's signature does not hold: it is for another tool")
        if not self._is_in_time(claims):
            raise _unsigned("the panel's signature has run out")
        return claims

    def _is_in_time(self, claims: Mapping[str, Any]) -> bool:
        now = self._clock().timestamp()
        ends, begins = claims.get("exp"), claims.get("nbf", 0)
        if not isinstance(ends, (int, float)) or not isinstance(begins, (int, float)):
            return False
        return begins - _LEEWAY_S <= now < ends + _LEEWAY_S

    def _key(self, source: str, kid: Any) -> tuple[str, Any]:
        """Return the algorithm and key called `kid`, asking the panel if it may be a new one."""
        if not isinstance(kid, str):
            raise _unsigned("the panel's signature names no key")
        key = self._fresh_key(source, kid)
        if key is None:
            self._begin(source)
            try:
                key = self._fresh_key(source, kid) or self._asked_for(source, kid)
            finally:
                self._asking.discard(source)
        if key is None:
            raise _unsigned("the panel's signature is by a key that the panel does not publish")
        return key

    def _begin(self, source: str) -> None:
        """Note that a panel is being asked; raise if it already is, or too many are."""
        with self._lock:
            asked = {one: self._asked.get(one) for one in (source, *self._asking)}
            failing = {one for one, last in asked.items() if last and last.failed}
            is_crowded = len(self._asking) >= _AT_ONCE or (source in failing and len(failing) > 1)
            if source in self._asking or is_crowded:
                raise Unavailable("the panel's keys are being fetched; try again in a moment")
            self._asking.add(source)

    def _fresh_key(self, source: str, kid: str) -> tuple[str, Any] | None:
        asked = self._asked.get(source)
        if asked is None or self._clock().timestamp() - asked.keys_at >= _KEPT_S:
            return None
        return asked.keys.get(kid)

    def _asked_for(self, source: str, kid: str) -> tuple[str, Any] | None:
        now = self._clock().timestamp()
        last = self._asked.get(source)
        if last is None or now - last.at >= (_TRIED_AGAIN_S if last.failed else _ASKED_AGAIN_S):
            try:
                last = _Asked(now, False, _keys(self._fetch(source)), now)
            except (OSError, ValueError, HTTPException):
                keys, kept_at = (last.keys, last.keys_at) if last else ({}, 0)
                last = _Asked(now, True, keys, kept_at)
            self._asked[source] = last
        if last.failed:
            raise Unavailable("the panel's keys could not be fetched; try again in a moment")
        return last.keys.get(kid)


def check_installed() -> None:
    """Raise NotInstalled if the library for verifying signatures is missing."""
    check("signed entry", "jwt", "cryptography")


def check_posted(signature: Signature) -> None:
    """Raise unless the signature of a record that came through the API can be verified here.

    Raises:
        NotInstalled: the library for verification is missing.
        InvalidInput: the server of the keys has no public address.
    """
    check_installed()
    try:
        if not signature.keys.startswith("{"):
            check_public(signature.keys)
    except ValueError as error:
        raise InvalidInput(f"signature.keys: {error}", keys=("signature", "keys")) from None


def _keys(document: bytes) -> dict[str, tuple[str, Any]]:
    """Return algorithm and key by `kid`, for a set's keys of the accepted algorithms.

    Raises:
        ValueError: this is not a key set.
    """
    import jwt

    try:
        entries = json.loads(document)["keys"]
        usable = [entry for entry in entries if _is_usable(entry)]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no set of keys: {error}") from None
    keys = {}
    for entry in usable:
        algorithm = _ALGORITHMS[entry["kty"]]
        try:
            keys[entry["kid"]] = algorithm, jwt.PyJWK(entry, algorithm).key
        except (jwt.PyJWTError, ValueError):
            continue  # one broken key does not invalidate the others
    if not keys:
        raise ValueError("no key that could be used: the set may be cut short")
    return keys


def _is_usable(entry: Mapping[str, Any]) -> bool:
    algorithm = _ALGORITHMS.get(entry.get("kty", ""))
    return (
        algorithm is not None
        and isinstance(entry.get("kid"), str)
        and entry.get("alg", algorithm) == algorithm
        and entry.get("use", "sig") == "sig"
        and entry.get("crv", _CURVE) == _CURVE
    )


def _fetched(source: str, own: str) -> bytes:
    if source.startswith("{"):
        return source.encode()
    return fetched(source, _FETCH_S, _MAX_BYTES, is_trusted=source == own)


def _is_for(claimed: Any, audience: str) -> bool:
    """Return whether a token is for an audience; addresses are compared without their query."""
    said = claimed if isinstance(claimed, list) else [claimed]
    return any(isinstance(one, str) and _place(one) == _place(audience) for one in said)


def _place(address: str) -> tuple[str, ...]:
    """Return the parts of an address that must match: scheme, host and path; other text as a whole."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return (address,)
    if parts.scheme not in ("http", "https"):
        return (address,)
    return parts.scheme, parts.netloc.lower(), parts.path.rstrip("/")


def _claim(claims: Any, path: str) -> Any:
    for name in path.split("."):
        claims = claims.get(name) if isinstance(claims, Mapping) else None
    return claims


def _unsigned(message: str) -> NotAllowed:
    return NotAllowed(message, code="unsigned")
