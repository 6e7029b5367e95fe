"""A HYPE-infinity visit in Chromium, from the link to the last page: the page's own files it loads."""

import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image
from playwright.sync_api import Page, Response, sync_playwright

from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web.server import in_background
from tests import browser
from tests.unit import sample_studies as studies

_IMAGES = 8
_UNTIL_SEEN_MS = 400  # a press within shortest_answer_ms of the picture is ignored


def own_files() -> dict[str, int]:
    """Return the sizes (bytes, uncompressed) of the files that the browser received, by name.

    The page itself and what it loads count; pictures and replies of the API do not. The study has the
    default settings but for its number of images, which does not change what is loaded.
    """
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        data = DataDir(Path(folder))
        store = open_store("sqlite:///openhype.db", data.root)
        study = studies.study("faces", images=_IMAGES, panel="link")
        pool = studies.pool(study)
        store.add_study(study, pool)
        images = data.images(study.name)
        images.mkdir(parents=True)
        for stimulus in pool:
            Image.new("RGB", (study.protocol.stimuli.size_px,) * 2).save(images / stimulus.name)
        chromium = playwright.chromium.launch(**browser.launch_options())
        page = chromium.new_page(locale="en-US")
        received: list[Response] = []
        page.on("response", lambda reply: received.append(reply))
        with in_background(create_app(store, data, data.keys())) as url:
            page.goto(f"{url}/s/{study.name}")
            _play(page)
            page.wait_for_load_state("networkidle")
            bodies = {urlsplit(reply.url).path: reply for reply in received}
            sizes = {_name(path): len(reply.body()) for path, reply in bodies.items() if _is_own(path)}
        chromium.close()
        store.close()
    return sizes


def _play(page: Page) -> None:
    for screen in ("consent", "instructions"):
        page.click(f"body[data-screen={screen}] main .primary")
    for _ in range(_IMAGES):
        page.wait_for_selector("body[data-screen=question] .choices button:enabled")
        page.wait_for_timeout(_UNTIL_SEEN_MS)
        page.keyboard.press("f")
        page.wait_for_selector("body[data-screen=feedback]")
        page.wait_for_selector("body:not([data-screen=feedback])")
        if page.get_attribute("body", "data-screen") == "break":
            page.click("main .primary")
    page.wait_for_selector("body[data-screen=done] .withdrawal")


def _is_own(path: str) -> bool:
    return path.startswith(("/assets/", "/s/"))


def _name(path: str) -> str:
    return path.rpartition("/")[2]
