"""Removing the simulated sessions of a study, and nothing else; evaluators may take part meanwhile.

A simulated evaluator who is still answering is told that there is no such session.
"""

from backend.stores import Store


def clear_simulated(store: Store, study: str) -> int:
    """Erase all simulated sessions of a study, for good; return how many there were.

    Killed in between, it is done again with what is left.
    """
    count = 0
    for session, _ in store.sessions(study, simulated=True):
        store.erase_session(session.id)
        count += 1
    return count
