"""The markers that decide when a test runs: `slow` gives its reason, `alone` measures real time.

`make test` leaves slow tests out and `make test-all` runs them too. Tests that are marked `alone` run one at
a time: two at once would disturb each other's clocks.
"""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a slow marker that does not say why, and run slow tests first: none is waited for at the end.

    Raises:
        pytest.UsageError: a test is slow for no reason.
    """
    for item in items:
        for mark in item.iter_markers("slow"):
            if not _is_explained(mark):
                raise pytest.UsageError(
                    f'{item.nodeid}: a slow marker needs a reason: slow("builds packages")'
                )
    items.sort(key=lambda item: not any(item.iter_markers("slow")))


def _is_explained(mark: pytest.Mark) -> bool:
    return len(mark.args) == 1 and isinstance(mark.args[0], str) and " " in mark.args[0].strip()
