"""Record which tests execute which lines of the modules, and how long each test takes.

As a pytest plugin (`-p tests.mutation.lines`) it writes one file for each process into the folder that
`MUTATION_RECORDS` names. What a test's child processes execute is not seen.
"""

import json
import os
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tests.mutation import MODULES

FOLDER = "MUTATION_RECORDS"


class Recorder:
    """Runs coverage of the modules with the running test as its context."""

    def __init__(self, root: Path, folder: Path):
        import coverage

        self._root, self._folder = root, folder
        self._name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self._seconds: dict[str, float] = {}
        self._slow: list[str] = []
        self._coverage = coverage.Coverage(
            data_file=None, include=[str(root / module) for module in MODULES], config_file=False
        )
        self._coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self._coverage.switch_context(item.nodeid)
        if item.get_closest_marker("slow"):
            self._slow.append(item.nodeid)
        begun = time.monotonic()
        yield
        self._seconds[item.nodeid] = time.monotonic() - begun
        self._coverage.switch_context("")

    def pytest_unconfigure(self):
        self._coverage.stop()
        data = self._coverage.get_data()
        executed = {
            str(Path(file).relative_to(self._root)): data.contexts_by_lineno(file)
            for file in data.measured_files()
        }
        record = {"seconds": self._seconds, "slow": self._slow, "executed": executed}
        (self._folder / f"{self._name}.json").write_text(json.dumps(record), "utf-8")


def pytest_configure(config):
    """Begin to record, in workers of xdist as in a run without them."""
    is_controller = bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")
    if not is_controller:
        config.pluginmanager.register(Recorder(config.rootpath, Path(os.environ[FOLDER])))


class Records:
    """What was recorded, of all processes.

    Attributes:
        seconds: how long each test took, by its id.
        slow: the ids of the tests that are marked as slow.
    """

    def __init__(self, folder: Path):
        self.seconds: dict[str, float] = {}
        self.slow: set[str] = set()
        self._tests: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for file in sorted(folder.glob("*.json")):
            record = json.loads(file.read_text("utf-8"))
            self.seconds |= record["seconds"]
            self.slow |= set(record["slow"])
            for module, lines in record["executed"].items():
                for line, tests in lines.items():
                    self._tests[module][int(line)] |= {test for test in tests if test}

    def tests_of(self, module: str, lines: range) -> list[str]:
        """Return the tests that execute one of some lines, those of the module itself first, then the quick.

        Lines that run when the module is imported belong to each test that executes anything of it.
        """
        executed = self._tests[module]
        tests = set().union(*(executed.get(line, set()) for line in lines))
        tests = tests or set().union(*executed.values())
        own = f"test_{Path(module).name}"
        return sorted(tests, key=lambda test: (own not in test, self.seconds.get(test, 0.0), test))
