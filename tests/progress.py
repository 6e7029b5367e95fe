"""Prints how many tests are done and how long the rest takes, in place of dots: `pytest -p tests.progress`.

The estimate is the time that the tests done so far took, weighted by what each took in the last run here
(pytest's cache); a test that has not run here counts as an average one. The lines are for people and for
logs: one every 10 s at a terminal, one every 30 s elsewhere.
"""

import sys
import time
from collections.abc import Mapping, Sequence

import pytest

_CACHED = "openhype/seconds"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # a worker of xdist tells its tests to the one that prints
        config.pluginmanager.register(_Progress(config), "openhype-progress")


def pytest_report_teststatus(report) -> tuple[str, str, str] | None:
    """Print nothing for a test that passed or was skipped."""
    if report.passed and report.when == "call":
        return "passed", "", ""
    return ("skipped", "", "") if report.skipped and not hasattr(report, "wasxfail") else None


class Estimate:
    """How long the tests that are left will take."""

    def __init__(self, tests: Sequence[str], before_s: Mapping[str, float]):
        known = [before_s[test] for test in tests if test in before_s]
        usual = sum(known) / len(known) if known else 1.0
        self._left = {test: before_s.get(test, usual) for test in tests}
        self._all = sum(self._left.values())
        self.count = len(self._left)

    @property
    def done(self) -> int:
        return self.count - len(self._left)

    def finish(self, test: str) -> None:
        self._left.pop(test, None)

    def left_s(self, passed_s: float) -> float | None:
        """Return the seconds that are left after `passed_s`, or None while hardly anything is done."""
        left = sum(self._left.values())
        share = 1 - left / self._all if self._all else 1.0
        return passed_s * (1 - share) / share if share > 0.02 else None


def words(estimate: Estimate, passed_s: float) -> str:
    """Return a line on what is done and what is left."""
    left_s = estimate.left_s(passed_s)
    if left_s is None:
        rest = "the time left is not known yet"
    elif left_s < 90:
        rest = f"about {round(left_s / 10) * 10} s left"
    else:
        rest = f"about {round(left_s / 60)} min left"
    return f"{estimate.done} of {estimate.count} tests, {rest}"


class _Progress:
    def __init__(self, config: pytest.Config):
        self._config = config
        self._every_s = 10 if sys.stdout.isatty() else 30
        self._took_s: dict[str, float] = {}
        self._estimate: Estimate | None = None
        self._began = self._printed = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids: Sequence[str]) -> None:
        if self._estimate is None:
            self._begin(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self._begin([item.nodeid for item in session.items])

    def _begin(self, tests: Sequence[str]) -> None:
        self._estimate = Estimate(tests, self._remembered())
        self._began = time.monotonic()
        self._print()

    def _remembered(self) -> dict[str, float]:
        cache = getattr(self._config, "cache", None)
        return cache.get(_CACHED, {}) if cache else {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._took_s[report.nodeid] = self._took_s.get(report.nodeid, 0.0) + report.duration
        if report.when == "teardown" and self._estimate is not None:
            self._estimate.finish(report.nodeid)
            if time.monotonic() > self._printed + self._every_s:
                self._print()

    def _print(self) -> None:
        self._printed = time.monotonic()
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None and self._estimate is not None:
            terminal.ensure_newline()
            terminal.write_line(words(self._estimate, self._printed - self._began))
            terminal.flush()

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self._config, "cache", None)
        if cache:
            rounded = {test: round(took_s, 2) for test, took_s in self._took_s.items()}
            cache.set(_CACHED, {**self._remembered(), **rounded})
