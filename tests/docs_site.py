"""The documentation site; `python -m tests.docs_site [DIR]` builds it with a gallery, and checks links."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from tests import gallery

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs"
SITE = ROOT / "build" / "docs"
_ADDRESSES = {"href", "src", "srcset", "action", "poster"}


def build(site: Path, with_gallery: bool = True) -> None:
    """Build the site into a folder.

    Raises:
        SystemExit: there is a warning, a link that leads nowhere, or a page that loads a file from elsewhere.
    """
    doctrees = site.parent / f"{site.name}-doctrees"
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", doctrees, PAGES, site]
    if subprocess.run(sphinx).returncode:
        raise SystemExit("the documentation has warnings: see above")
    (site / "llms.txt").write_bytes((ROOT / "llms.txt").read_bytes())
    if with_gallery:
        gallery.write(site / "gallery")
    problems = broken_links(site, () if with_gallery else ("gallery/",))
    if problems:
        raise SystemExit("\n".join(problems))


class Page(HTMLParser):
    """The anchors of a page, the addresses that it links to, and those that a browser loads with it."""

    def __init__(self, file: Path):
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif name in _ADDRESSES and value:
                is_link = tag in ("a", "form") or (tag == "link" and ("rel", "stylesheet") not in attrs)
                (self.links if is_link else self.loaded).append(value)


def pages_of(site: Path) -> dict[Path, Page]:
    """Return the documentation's own pages, by file; those of the gallery have tests of their own."""
    return {file: Page(file) for file in sorted(site.glob("*.html"))}


def broken_links(site: Path, not_there: tuple[str, ...] = ()) -> list[str]:
    """Return what is wrong with the links of a site: missing files and anchors, and files from elsewhere.

    Args:
        site: the folder.
        not_there: beginnings of addresses that this site was built without.
    """
    pages = pages_of(site)
    return [
        f"{file.name}: {problem}"
        for file, page in pages.items()
        for address in (*page.links, *page.loaded)
        if not address.startswith(not_there or ("\0",))
        for problem in [_problem(address, file, pages, address in page.loaded)]
        if problem
    ]


def _problem(address: str, file: Path, pages: dict[Path, Page], is_loaded: bool) -> str | None:
    if urlsplit(address).scheme in ("http", "https", "mailto", "data"):
        is_foreign = is_loaded and not address.startswith("data:")
        return f"loads {address} from elsewhere; keep such files in docs/" if is_foreign else None
    path, anchor = urldefrag(address)
    target = (file.parent / unquote(urlsplit(path).path)).resolve() if path else file
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return f"{address} leads to no file"
    if target in pages and unquote(anchor) not in pages[target].anchors:
        return f"{address} leads to no anchor of {target.name}"
    return None


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else SITE)
