"""The page in the bucket: its files as the server of one machine serves them."""

from collections.abc import Callable
from typing import Any

from backend.web import assets, headers
from deploy.s3_upload import Place, missing_files, upload

_PAGES = ("index.html", "root.html", "timing.html", "wait.html", "withdraw.html")


def pages() -> dict[str, bytes]:
    """Return the pages by their address; they load the version of `loaded`."""
    return {name: assets.page(name) for name in _PAGES}


def loaded() -> dict[str, bytes]:
    """Return what the pages load, by addresses that no other version has."""
    return {f"assets/{assets.version()}/{path.name}": path.read_bytes() for path in assets.files()}


def missing_page(place: Place, client: Any) -> list[str]:
    """Return the addresses at which something is not there, or other than it is to be."""
    return missing_files(place, {**pages(), **loaded()}, client)


def upload_page(place: Place, progress: Callable | None = None, client: Any = None) -> int:
    """Upload the page; return how many files were new.

    What pages load goes first, so that each page that is there finds it. Older versions stay for those who
    have an older page open.
    """
    return upload(place, loaded(), headers.KEPT_FOR_GOOD, progress, client) + upload(
        place, pages(), headers.ASKED_AGAIN, progress, client
    )
