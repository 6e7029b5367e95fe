"""Flask without what it does at each start and each request, and nothing here needs."""

from collections.abc import Callable
from typing import Any, NoReturn

from flask import Flask
from werkzeug.routing import Rule


class MatchedRule(Rule):
    """A route without werkzeug's two compiled functions that build its URL.

    They take most of the time in which an application starts, on AWS that of a first reply. `url_for` raises.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., Any]:
        return _no_url


class Application(Flask):
    """A Flask application of functions that are not asynchronous, which Flask asks of each at every call."""

    url_rule_class = MatchedRule

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func


def _no_url(self: Rule, **values: Any) -> NoReturn:
    raise NotImplementedError(f"no URL is built of the route {self.rule}; write its path out")
