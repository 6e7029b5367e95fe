"""What every file is sent with: its type, how long it may be kept, and what a browser may do with it.

One home for them: the server of one machine (`handlers.py`) sends them itself, and on AWS the bucket
and CloudFront do (`deploy/template.py`).
"""

from pathlib import PurePath

PAGE = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of the page, its files and the pictures."""

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
"""Pictures: another picture has another name."""

ASKED_AGAIN = "no-cache"
"""The page: a new version is there at once."""

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".png": "image/png",
    ".jpg": "image/jpeg",
}


def content_type(name: str) -> str:
    """Return the media type of a file of the page, or of a picture."""
    return _TYPES[PurePath(name).suffix]
