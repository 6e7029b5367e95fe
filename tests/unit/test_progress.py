"""A run of tests says how long is left, and a slow test says why it is slow."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.markers import pytest_collection_modifyitems
from tests.progress import Estimate, words

ROOT = Path(__file__).resolve().parents[2]


def run(folder, test, *options):
    (folder / "conftest.py").write_text("from tests.markers import pytest_collection_modifyitems\n")
    (folder / "test_it.py").write_text(f"import pytest\n{test}\n")
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "tests.progress"]
    return subprocess.run([*command, *options, folder], cwd=ROOT, capture_output=True, text=True)


class Item:
    """A test that has one marker."""

    nodeid = "test_it.py::test_it"

    def __init__(self, marker):
        self.marker = marker

    def iter_markers(self, name):
        return [self.marker.mark] if self.marker.name == name else []


@pytest.mark.parametrize(
    "marker",
    [
        pytest.mark.slow,
        pytest.mark.slow(),
        pytest.mark.slow(""),
        pytest.mark.slow("slow"),
        pytest.mark.slow(reason="it is"),
    ],
)
def test_a_slow_marker_without_a_reason_is_refused(marker):
    with pytest.raises(pytest.UsageError, match=r"test_it\.py::test_it: a slow marker needs a reason"):
        pytest_collection_modifyitems([Item(marker)])

    items = [Item(pytest.mark.alone), Item(pytest.mark.slow("it sleeps"))]
    pytest_collection_modifyitems(items)
    assert [item.marker.name for item in items] == ["slow", "alone"]


@pytest.mark.slow("runs pytest in a process of its own; a test of the hook is above")
def test_a_run_with_a_slow_marker_without_a_reason_does_not_begin(tmp_path):
    ended = run(tmp_path, "@pytest.mark.slow\ndef test_it(): pass", "-p", "no:cacheprovider")

    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "test_it.py::test_it: a slow marker needs a reason" in ended.stderr


def test_a_run_says_what_is_done_and_prints_nothing_of_a_test_that_passed(tmp_path):
    tests = "\n@pytest.mark.slow('it sleeps')\ndef test_slow(): pass\ndef test_fast(): pass"

    ended = run(tmp_path, tests, "-m", "not slow", "-p", "no:cacheprovider")

    first, *_, last = ended.stdout.splitlines()
    assert first == "0 of 1 tests, the time left is not known yet"
    assert last.startswith("1 passed, 1 deselected in")


def test_the_time_left_follows_from_what_the_tests_took_before():
    estimate = Estimate(["long", "short", "new"], {"long": 30.0, "short": 10.0, "gone": 100.0})

    estimate.finish("short")

    # 10 of 30 + 10 + 20 s are done, a new test being an average one
    assert estimate.left_s(60) == pytest.approx(300)
    assert words(estimate, 60) == "1 of 3 tests, about 5 min left"
    assert words(estimate, 12) == "1 of 3 tests, about 60 s left"


def test_without_a_run_before_the_share_of_the_tests_decides():
    estimate = Estimate(["a", "b", "c", "d"], {})

    estimate.finish("a")

    assert estimate.left_s(10) == pytest.approx(30)
