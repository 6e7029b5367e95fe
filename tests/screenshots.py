"""The README's picture of the demo: the start page, a picture to judge, and the end.

With `openhype demo --no-browser` running: `python -m tests.screenshots [URL]` writes docs/task.png.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser import launch_options

OUT = Path(__file__).resolve().parent.parent / "docs" / "task.png"
PANEL = {"width": 620, "height": 620}
GAP_PX = 12
GAP_COLOUR = "#d5d2cc"
_TRIAL = 6
"""The trial that is shown."""


def main(url: str) -> None:
    """Play a session at `url` and write the picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())
        panels = _panels(browser.new_page(viewport=PANEL), url)
        browser.close()
    width, height = PANEL["width"], PANEL["height"]
    whole = Image.new("RGB", (len(panels) * (width + GAP_PX) - GAP_PX, height), GAP_COLOUR)
    for i, panel in enumerate(panels):
        whole.paste(panel, (i * (width + GAP_PX), 0))
    whole.save(OUT, optimize=True)


def _panels(page: Page, url: str) -> list[Image.Image]:
    page.goto(url)
    page.wait_for_selector("#examples li:last-child img")
    for study in ("photos", "flashes"):
        page.wait_for_selector(f"a#play-{study}", timeout=300_000)
    panels = [_panel(page)]
    page.click("#play-photos")
    for screen in ("consent", "instructions"):
        page.wait_for_selector(f"body[data-screen={screen}] .primary")
        page.keyboard.press("Enter")
    trial = 0
    while page.wait_for_selector("body:is([data-screen=question], [data-screen=done])"):
        if page.get_attribute("body", "data-screen") == "done":
            break
        trial += 1
        if trial == _TRIAL:
            panels.append(_panel(page))
        page.keyboard.press("f" if trial % 3 else "r")
        page.wait_for_selector("body:not([data-screen=question])")
        page.wait_for_selector("body:not([data-screen=feedback])")
    page.wait_for_selector(".gallery img")
    page.wait_for_timeout(500)
    return [*panels, _panel(page)]


def _panel(page: Page) -> Image.Image:
    page.mouse.move(0, 0)
    page.wait_for_timeout(200)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000/")
