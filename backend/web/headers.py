"""What every file is sent with: its type, how long it may be kept, and what a browser may do with it.

One home for them: the server of one machine (`handlers.py`) sends them itself, and on AWS the bucket
and CloudFront do (`deploy/service.yaml`).
"""

from collections.abc import Iterable
from pathlib import PurePath

from backend.stimuli.media import TYPES

_POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
    "form-action {forms}; frame-ancestors {frames}"
)
PAGE = {
    "Content-Security-Policy": _POLICY.format(forms="'self'", frames="'none'"),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of the page, its files and the pictures."""

MODULE = {"Access-Control-Allow-Origin": "*"}
"""Of the page's modules besides: a sandboxed frame, which has no origin, loads some of them."""

API = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

RESULTS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cache-Control": "private, no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # `no-referrer` would take the origin from our own form
    "X-Content-Type-Options": "nosniff",
}
"""Of the results pages: nothing is loaded, and no script runs."""

KEPT_FOR_GOOD = "public, max-age=31536000, immutable"
"""Pictures, and what pages load (`assets.py`): another content has another address."""

ASKED_AGAIN = "no-cache"
"""Pages: a new version is there at once."""

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    **TYPES,
}


def page_of_panel(frame_origins: Iterable[str], form_origins: Iterable[str]) -> dict[str, str]:
    """Return the page's headers that let it stand in a panel's frame, and post to the panel."""
    frames = " ".join(frame_origins)
    policy = _POLICY.format(forms=" ".join(("'self'", *form_origins)), frames=frames or "'none'")
    # A framing page that is isolated itself would refuse a page that others may not load.
    resource = {"Cross-Origin-Resource-Policy": "cross-origin"} if frames else {}
    return {"Content-Security-Policy": policy, **resource}


def content_type(name: str) -> str:
    """Return the media type of a file of the page, or of a picture."""
    return _TYPES[PurePath(name).suffix]
