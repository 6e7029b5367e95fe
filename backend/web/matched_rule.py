"""Routes by which requests are matched, and of which no URL is built."""

from collections.abc import Callable
from typing import Any, NoReturn

from werkzeug.routing import Rule


class MatchedRule(Rule):
    """A route without werkzeug's two compiled functions that build its URL.

    They take most of the time in which an application starts, on AWS that of a first reply. `url_for` raises.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., Any]:
        return _no_url


def _no_url(self: Rule, **values: Any) -> NoReturn:
    raise NotImplementedError(f"no URL is built of the route {self.rule}; write its path out")
