"""The page in the bucket: its files as the server of one machine serves them."""

from collections.abc import Callable
from pathlib import Path

from backend import headers
from backend.uploads import Place, upload

FRONTEND = Path(__file__).resolve().parents[1] / "frontend"
_AT_THE_TOP = ("index.html", "root.html", "timing.html", "wait.html", "withdraw.html")


def page_files() -> dict[str, Path]:
    """Return the files of the page by their address, those of `/assets/` and those at the top."""
    found = {path.name: path for path in FRONTEND.iterdir() if path.is_file()}
    tops = {name: found.pop(name) for name in _AT_THE_TOP}
    return {**tops, **{f"assets/{name}": path for name, path in found.items() if _is_asset(name)}}


def _is_asset(name: str) -> bool:
    return Path(name).suffix in (".js", ".css", ".svg")


def upload_page(place: Place, progress: Callable | None = None) -> int:
    """Upload the page; return how many files were new."""
    return upload(place, page_files(), headers.ASKED_AGAIN, progress)
