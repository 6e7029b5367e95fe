"""Removal of a study's simulated sessions only; evaluators may take part meanwhile.

A simulated evaluator who is still answering receives the error that there is no such session.
"""

from collections.abc import Callable
from dataclasses import replace

from backend.experiment.records import Session, Study
from backend.stores.store import Store
from backend.studies import item_turns


def clear_simulated(store: Store, study: str) -> int:
    """Erase all simulated sessions of a study permanently; return how many there were.

    If interrupted, call it again to remove the rest.
    """
    return _clear(store, study, lambda session: True)


def clear_outdated(store: Store, study: Study) -> int:
    """Erase the simulated sessions that were opened under settings other than the study's current ones."""
    return _clear(store, study.name, lambda session: session.settings_id != study.settings_id)


def _clear(store: Store, study: str, is_to_go: Callable[[Session], bool]) -> int:
    count, settings = 0, set()
    for session, _ in store.sessions(study, simulated=True):
        if is_to_go(session):
            store.erase_session(session.id)
            settings.add(session.settings_id)
            count += 1
    for settings_id in settings:
        item_turns.erase(store, replace(store.study(study), settings_id=settings_id), simulated=True)
    return count
