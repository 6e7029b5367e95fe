"""Response headers of files: media type, caching, and security policy.

They are defined here only: the server of one machine (`handlers.py`) sends them itself, and on AWS the
bucket and CloudFront do (`deploy/service.yaml`).
"""

from collections.abc import Iterable
from pathlib import PurePath

from backend.stimuli.media import TYPES
from backend.task import requests

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
"""Headers of the page, its files and the stimuli."""

MODULE = {"Access-Control-Allow-Origin": "*"}
"""Added for the page's modules: a sandboxed frame, which has no origin, loads some of them."""

API = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def _without_script(images: str, cache: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src 'unsafe-inline'; img-src {images}; form-action 'none'; "
            "base-uri 'none'; frame-ancestors 'none'"
        ),
        "Cache-Control": cache,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


RESULTS = _without_script("data:", "private, no-cache")
"""Headers of the results pages, which load nothing."""

_FOR_A_MINUTE = "public, max-age=60, stale-while-revalidate=600"
DATA_FOR_ALL = {
    "Access-Control-Allow-Origin": "*",
    "Cache-Control": _FOR_A_MINUTE,
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of what is published for other sites' pages."""
IMAGE_FOR_ALL = {**DATA_FOR_ALL, "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
PAGE_FOR_ALL = _without_script("'self'", _FOR_A_MINUTE)
"""Headers of published pages, which have no script."""

HTTPS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}
"""For a server whose public address is https; its subdomains are others' affair."""

OF_ALL = "openhype_headers"
"""The name of a Flask application's extension with what the server itself has to send with its refusals."""
TOKEN = requests.TOKEN
MEMBER = "X-Openhype-Member"
"""The member for whom the sending page was loaded: another tab may have signed in as somebody else since."""
IMMUTABLE = "public, max-age=31536000, immutable"
"""For stimuli, and files that pages load (`assets.py`): different content has a different URL."""

REVALIDATE = "no-cache"
"""For pages: a new version takes effect at once."""

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    **TYPES,
}


def page_of_panel(frame_origins: Iterable[str], form_origins: Iterable[str]) -> dict[str, str]:
    """Return the page's headers that allow it in a panel's frame, and to post to the panel."""
    frames = " ".join(frame_origins)
    policy = _POLICY.format(forms=" ".join(("'self'", *form_origins)), frames=frames or "'none'")
    # A framing page that is isolated itself would refuse a page with a same-origin resource policy.
    resource = {"Cross-Origin-Resource-Policy": "cross-origin"} if frames else {}
    return {"Content-Security-Policy": policy, **resource}


def content_type(name: str) -> str:
    """Return the media type of a file of the page, or of a stimulus."""
    return _TYPES[PurePath(name).suffix]
