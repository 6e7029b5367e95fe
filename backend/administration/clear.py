"""Removal of a study's simulated sessions only; evaluators may take part meanwhile.

A simulated evaluator who is still answering receives the error that there is no such session.
"""

from collections.abc import Callable

from backend.experiment.records import Session, Study
from backend.stores.store import Store


def clear_simulated(store: Store, study: str) -> int:
    """Erase all simulated sessions of a study permanently; return how many there were.

    If interrupted, call it again to remove the rest.
    """
    return _clear(store, study, lambda session: True)


def clear_outdated(store: Store, study: Study) -> int:
    """Erase the simulated sessions that were opened under settings other than the study's current ones."""
    return _clear(store, study.name, lambda session: session.settings_id != study.settings_id)


def _clear(store: Store, study: str, is_to_go: Callable[[Session], bool]) -> int:
    count = 0
    for session, _ in store.sessions(study, simulated=True):
        if is_to_go(session):
            store.erase_session(session.id)
            count += 1
    return count
