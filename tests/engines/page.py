"""A page of a driven browser, with those calls of Playwright's `Page` that tests in every engine use."""

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import TimeoutError

TIMEOUT_MS = 30_000
_PAUSE_S = 0.02
_SELECTOR = re.compile(r"(?P<css>.*?)(?::(?P<test>has-text|text-is)\('(?P<text>[^']*)'\))?")
_FOUND = """(([css, test, text]) => [...document.querySelectorAll(css)].find((element) => {
  const shown = element.innerText?.trim() ?? "";
  const isMeant = !test || (test === "text-is" ? shown === text : shown.includes(text));
  return isMeant && element.getClientRects().length && getComputedStyle(element).visibility === "visible";
}))(%s)"""
_CENTRE = """(() => {
  const element = %s;
  if (!element || element.disabled) return null;
  element.scrollIntoView({block: "nearest", behavior: "instant"});
  const {x, y, width, height} = element.getBoundingClientRect();
  const at = [Math.round(x + width / 2), Math.round(y + height / 2)];
  return element.contains(document.elementFromPoint(...at)) ? at : null;
})()"""
_STANDS = "`${document.body.dataset.screen}: ${document.body.innerText.slice(0, 300)}`"


class NotEvaluated(Exception):
    """An expression could not be evaluated: it threw, or the page was being loaded."""


class Keyboard:
    """Keys, pressed as a person does: the browser takes them for an act of the user."""

    def __init__(self, press: Callable[[str], None]):
        self.press = press


class Page(ABC):
    """What the engines have in common.

    Selectors are CSS, and may end in Playwright's `:has-text('...')` or `:text-is('...')`.
    """

    def __init__(self) -> None:
        self.keyboard = Keyboard(self._press)

    @abstractmethod
    def goto(self, url: str) -> None:
        """Load an address."""

    @abstractmethod
    def reload(self) -> None:
        """Load the same address again."""

    @abstractmethod
    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, as JSON can hold it.

        Raises:
            NotEvaluated: it threw, or there is no page yet.
        """

    @abstractmethod
    def screenshot(self, path: Path | None = None) -> bytes:
        """Return what is seen, as PNG; also write it to `path`."""

    @abstractmethod
    def _press(self, key: str) -> None:
        """Press and release a key: a character, `Enter` or `Space`."""

    @abstractmethod
    def _click_at(self, x: int, y: int) -> None:
        """Click, at CSS px of the window."""

    @abstractmethod
    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        """Call `handler` with what the page reports: `pageerror`, `console` or `request`."""

    def wait_for_timeout(self, ms: float) -> None:
        """Wait."""
        time.sleep(ms / 1000)

    def wait_for_selector(self, selector: str, timeout: float = TIMEOUT_MS) -> None:
        """Wait until an element is seen.

        Raises:
            TimeoutError: Playwright's; the message says what stood on the screen instead.
        """
        self._until(f"!!{_found(selector)}", selector, timeout)

    def inner_text(self, selector: str) -> str:
        """Return the text of an element as it is seen, once there is one."""
        self.wait_for_selector(selector)
        return self.evaluate(f"{_found(selector)}.innerText")

    def get_attribute(self, selector: str, name: str) -> str | None:
        """Return an attribute of an element, once there is one."""
        self.wait_for_selector(selector)
        return self.evaluate(f"{_found(selector)}.getAttribute({json.dumps(name)})")

    def click(self, selector: str) -> None:
        """Click the middle of an element, once it is seen, enabled, and nothing covers it."""
        self._click_at(*self._until(_CENTRE % _found(selector), f"{selector}, to be clicked", TIMEOUT_MS))

    def _until(self, expression: str, what: str, timeout_ms: float) -> Any:
        until = time.monotonic() + timeout_ms / 1000
        while True:
            with suppress(NotEvaluated):
                if found := self.evaluate(expression):
                    return found
            if time.monotonic() > until:
                raise TimeoutError(f"no {what} within {timeout_ms / 1000:g} s; there is {self._stands()}")
            time.sleep(_PAUSE_S)

    def _stands(self) -> str:
        try:
            return self.evaluate(_STANDS)
        except NotEvaluated as error:
            return f"no page: {error}"


def _found(selector: str) -> str:
    css, test, text = _SELECTOR.fullmatch(selector).group("css", "test", "text")
    return _FOUND % json.dumps([css or "*", test, text])
