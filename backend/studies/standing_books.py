"""The books of standing studies, whose rules are in `backend/standing/`; here so that deletion finds them."""

from backend.experiment.records import Study
from backend.stores.store import Store

STANDING = "standing"
"""The book of the terms on which models are submitted, by study."""
SUBMISSION_IDS = "submission_ids"
"""The book of whose and of which study a submission is, by its id."""
TABLES = "competition_tables"
"""The book of published tables, by study."""


def submissions_of(study: str) -> str:
    """Return the book of a study's submissions, one entry for each member."""
    return f"submissions {study}"


def names_of(study: str) -> str:
    """Return the book of which submission has a name of a model, by the name in lower case."""
    return f"submission_names {study}"


def erase(store: Store, study: Study) -> None:
    """Erase the terms, submissions, their names and tables of a study."""
    book = submissions_of(study.name)
    for entry in list(store.entries(book)):
        for submission in entry.data["submissions"]:
            store.erase_entry(SUBMISSION_IDS, submission["id"])
        store.erase_entry(book, entry.key)
    for entry in list(store.entries(names_of(study.name))):
        store.erase_entry(names_of(study.name), entry.key)
    store.erase_entry(TABLES, study.name)
    store.erase_entry(STANDING, study.name)
