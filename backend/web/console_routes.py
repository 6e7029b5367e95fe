"""The page of the researcher's console: one page without data for every path under `/console`.

The page reads and changes everything through the documented routes under `/api/`, which authorise each
request themselves; so anybody may load the page.
"""

from collections.abc import Callable, Iterable
from urllib.parse import quote

from flask import Flask, Response

from backend.web import headers

PATH = "/console"


def path_of_study(study: str) -> str:
    return f"{PATH}/studies/{quote(study, safe='')}"


def add_pages(app: Flask, page: Callable[[], Response], upload_origins: Iterable[str] = ()) -> None:
    """Add `/console` and all paths under it.

    Args:
        page: returns the empty page.
        upload_origins: other origins that take the parts of uploads, such as a bucket's.
    """
    sent = page_headers(upload_origins)

    @app.get(PATH)
    @app.get(f"{PATH}/")
    @app.get(f"{PATH}/<path:path>")
    def console(path: str = "") -> Response:
        reply = page()
        reply.headers.update(sent)
        return reply


def page_headers(upload_origins: Iterable[str] = ()) -> dict[str, str]:
    """Return the headers of the page; `upload_origins` as in `add_pages`."""
    connected = " ".join(("'self'", *upload_origins))
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        f"connect-src {connected}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return {**headers.RESULTS, "Content-Security-Policy": policy, "Cache-Control": headers.REVALIDATE}
