"""From a study's stored facts to rows of the responses file, and on to scores.

The truth of a row is the server's own, from the session's plan. Only finished sessions are scored;
sessions that broke off, and answers to mistimed flashes, are kept and exported apart from them.
"""

from collections.abc import Iterator
from typing import Any

from backend.errors import InvalidInput
from backend.records import Study
from backend.session import is_scored, picture_of
from backend.shown import on_shown
from backend.stores import Store

_STATES = {
    "scored": ("finished",),
    "unfinished": ("active", "ended"),
    "replaced": ("active", "ended", "finished"),
}
"""Who gave a place back at the panel takes the answers along: they are in none."""


def study_rows(store: Store, study: Study, which: str = "scored") -> Iterator[dict[str, Any]]:
    """Yield one row a response, in the columns of the responses file, session by session.

    Args:
        which: `scored`; `unfinished`, those of sessions that broke off; or `replaced`, the answers to
            mistimed flashes, for which others stand.
    """
    for session, cursor in store.sessions(study.name):
        if cursor.state not in _STATES[which]:
            continue
        for response in store.responses(session.id):
            if is_scored(session, cursor, response) == (which == "replaced"):
                continue
            picture = picture_of(session, response.stimulus)
            yield {
                "study": study.name,
                "method": study.protocol.method,
                "session": session.id,
                "model": session.model or picture.model or "",
                "evaluator": session.evaluator,
                "class": picture.class_,
                "truth": picture.truth,
                **vars(response),
                **(vars(response.timing) if response.timing else {}),
            }


def study_scores(store: Store, study: Study, exposures: str = "nominal", **options: Any) -> dict[str, Any]:
    """Return the scores of a study, as `scoring.score` gives them.

    Args:
        exposures: `nominal`, or `shown` (HYPE-time).

    Raises:
        InvalidInput: a qualification, no session is finished yet, or shown exposures of HYPE-infinity.
    """
    from backend.answers import answers_of
    from backend.scoring import score_answers

    if study.kind == "qualification":
        raise InvalidInput(f"{study.name} is a qualification; it admits evaluators and gives no scores")
    if not any(cursor.state == "finished" for _, cursor in store.sessions(study.name)):
        raise InvalidInput(
            f"study {study.name} has no finished session yet; "
            f"`openhype status {study.name}` shows how far it is"
        )
    answers = answers_of(study_rows(store, study), study.protocol.method)
    return score_answers(on_shown(answers) if exposures == "shown" else answers, **options)
