"""What the function `panel` makes of a panel that cannot be read: an error, by which its alarm is raised."""

from types import SimpleNamespace

import pytest

from backend.foundation.timestamps import stamp, utc_now
from backend.panels.api import PanelUnreached, TokenRefused
from backend.recruitment import panel_health, recruit
from backend.stores.opening import open_store
from deploy import tasks

from .. import sample_studies as studies


class Unreadable:
    """A watch over a panel that could not be read since some minutes."""

    panel = SimpleNamespace(name="prolific")

    def __init__(self, store, minutes, error):
        self.store, self.at, self.error = store, stamp(utc_now() - minutes * tasks.FAILING / 5), error

    def reconcile_all(self):
        if self.error:
            panel_health.failed(self.store, "faces", self.error, self.at)
        else:
            panel_health.succeeded(self.store, "faces", self.at)


@pytest.fixture
def store(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/a.db", tmp_path)
    study = studies.study(panel="prolific")
    store.add_study(study, studies.pool(study))
    store.write_entry(recruit.book("faces"), "prolific", 0, {"panel_study": "p1"})
    yield store
    store.close()


@pytest.mark.parametrize("error", [PanelUnreached("no answer"), TokenRefused("401")])
def test_a_panel_that_cannot_be_read_for_minutes_is_an_error_of_the_function(store, error):
    with pytest.raises(PanelUnreached, match="the panel of faces cannot be read since 0:05:00 or longer"):
        tasks._recruitment(store, Unreadable(store, 6, error), {})


@pytest.mark.parametrize(("minutes", "error"), [(4, PanelUnreached("no answer")), (600, None)])
def test_a_short_failure_and_one_that_is_over_are_none(store, minutes, error):
    tasks._recruitment(store, Unreadable(store, minutes, error), {})
