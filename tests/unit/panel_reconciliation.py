"""Synchronization of a study with its panel in one call: places are read, then reports are sent."""

from collections import Counter

from backend.experiment.records import Study
from backend.panels.api import Panel
from backend.recruitment.sync import read, report
from backend.stores.store import Store


def reconcile(store: Store, panel: Panel, study: Study, now: str) -> Counter[str]:
    """Synchronize all sessions of a study with the panel; return counts of what was done.

    Args:
        now: the time, in the stored format.
    """
    done, reports = read(store, panel, study, now)
    for each in reports:
        done[report(panel, study, each)] += 1
    return done
