"""WebKit as WebKitGTK has it, in its MiniBrowser, over WebDriver."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import ActionChains, Remote, WebKitGTKOptions
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection

from tests.ports import free_port

from . import program
from .page import NotEvaluated, Page
from .processes import await_port, display, running

_REPLY_WITHIN_S = 60
_KEYS = {"Enter": Keys.ENTER, "Space": " "}


class WebKit:
    """A driver that starts a browser for each set of pages, with storage of its own."""

    def __init__(self, address: str, size: tuple[int, int]):
        self._address, self._size = address, size

    @contextmanager
    def fresh(self) -> Iterator[Callable[[], "WebKitPage"]]:
        """Give what opens pages that share storage with each other, and with nothing before."""
        options = WebKitGTKOptions()
        options.binary_location = program("WebKit", "libwebkit2gtk-4.1-0")
        options.add_argument("--automation")
        config = ClientConfig(remote_server_addr=self._address, timeout=_REPLY_WITHIN_S)
        driver = Remote(RemoteConnection(client_config=config), options=options)
        try:
            driver.set_window_rect(0, 0, *self._size)
            unused = [driver.current_window_handle]
            yield lambda: self._open(driver, unused)
        finally:
            driver.quit()

    @staticmethod
    def _open(driver: Remote, unused: list[str]) -> "WebKitPage":
        if unused:
            return WebKitPage(driver, unused.pop())
        driver.switch_to.new_window("window")
        return WebKitPage(driver, driver.current_window_handle)


class WebKitPage(Page):
    """A tab."""

    def __init__(self, driver: Remote, handle: str):
        super().__init__()
        self._driver, self._handle = driver, handle

    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        """Do nothing: the driver reports nothing by itself."""

    def goto(self, url: str) -> None:
        self._window().get(url)

    def reload(self) -> None:
        self._window().refresh()

    def evaluate(self, expression: str) -> Any:
        try:
            value = self._window().execute_script(f"return JSON.stringify({expression})")
        except WebDriverException as error:
            raise NotEvaluated(f"{expression}: {error.msg}") from error
        return None if value is None else json.loads(value)

    def screenshot(self, path: Path | None = None) -> bytes:
        picture = self._window().get_screenshot_as_png()
        if path:
            path.write_bytes(picture)
        return picture

    def _press(self, key: str) -> None:
        ActionChains(self._window()).send_keys(_KEYS.get(key, key)).perform()

    def _click_at(self, x: int, y: int) -> None:
        actions = ActionBuilder(self._window())
        actions.pointer_action.move_to_location(x, y).click()
        actions.perform()

    def _window(self) -> Remote:
        if self._driver.current_window_handle != self._handle:
            self._driver.switch_to.window(self._handle)
        return self._driver


@contextmanager
def webkit(width_px: int, height_px: int) -> Iterator[WebKit]:
    """Run WebKit's driver, on a display that nobody sees."""
    port = free_port()
    with (
        TemporaryDirectory(prefix="webkit-", ignore_cleanup_errors=True) as home,
        display(width_px, height_px) as screen,
        # Containers often forbid what its sandbox needs; the pages are our own.
        running(
            [program("WebKit", "webkit2gtk-driver"), f"--port={port}"],
            DISPLAY=screen,
            HOME=home,
            WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS="1",
            LIBGL_ALWAYS_SOFTWARE="1",
        ) as process,
    ):
        await_port(port, process)
        yield WebKit(f"http://127.0.0.1:{port}", (width_px, height_px))
