"""The page's files in the bucket, identical to those that `openhype serve` serves."""

from collections.abc import Callable
from typing import Any

from backend.web import assets, headers
from deploy.s3_upload import Place, missing_files, upload

_PAGES = ("root.html", "timing.html", "wait.html", "withdraw.html")


def pages() -> dict[str, bytes]:
    """Return the HTML pages by path; they load the version of the files that `loaded` returns.

    Functions serve the others themselves: the page of a study, and the researcher's pages.
    """
    return {name: assets.page(name) for name in _PAGES}


def loaded() -> dict[str, bytes]:
    """Return the files that the pages load, by paths unique to this version."""
    return {f"assets/{assets.version()}/{assets.name(path)}": assets.served(path) for path in assets.files()}


def missing_page(place: Place, client: Any) -> list[str]:
    """Return the paths of files that are missing from the bucket or differ there."""
    return missing_files(place, {**pages(), **loaded()}, client)


def upload_page(place: Place, progress: Callable | None = None, client: Any = None) -> int:
    """Upload the page; return how many files were new or changed.

    The files that pages load are uploaded first, so that an uploaded page always finds them. Older versions
    are retained for evaluators who have an older page open.
    """
    return upload(place, loaded(), headers.IMMUTABLE, progress, client) + upload(
        place, pages(), headers.REVALIDATE, progress, client
    )
