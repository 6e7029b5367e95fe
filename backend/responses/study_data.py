"""Rows of the responses file, and scores, from the stored facts of a study.

The truth of a row is the server's own, from the session's plan. Only finished sessions are scored;
interrupted sessions, and responses to mistimed flashes, are stored and exported separately. Real and
simulated sessions are never combined: a caller requests one kind or the other.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backend import __version__
from backend.experiment.browsers import engine_of, language_of, person_at_computer, translated_to
from backend.experiment.exclusion import Answered, is_excluded
from backend.experiment.groups.exclusion import ExclusionSettings
from backend.experiment.groups.stimuli import RANDOM_SAMPLING
from backend.experiment.judgment import item_key
from backend.experiment.judgments import judgment_of
from backend.experiment.protocol import to_json
from backend.experiment.records import TEST, Response, Session, Study
from backend.experiment.session import CLOSED_EARLY, LAPSED, Cursor, is_scored, picture_of
from backend.foundation.errors import InvalidInput
from backend.stores.store import Store
from backend.studies.withdrawals import answered_of, withdrawn

if TYPE_CHECKING:
    from backend.analysis.table.response_table import Answers

_STATES = {
    "scored": ("finished",),
    "unfinished": ("active", LAPSED, *CLOSED_EARLY),
    "replaced": ("active", LAPSED, *CLOSED_EARLY, "finished"),
}
"""Sessions whose submission was returned are excluded from every data set."""


def study_rows(
    store: Store, study: Study, which: str = "scored", simulated: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield one row per response, with the columns of the responses file, session by session.

    Args:
        which: `scored`; `unfinished`, of sessions that are not finished; or `replaced`, responses to
            mistimed flashes, which were replaced by later ones, and to pictures that were shown again.
        simulated: yield the rows of simulated sessions instead of real ones.
    """
    judgment = judgment_of(study.protocol.method)
    items = {item_key(item.name): item for item in store.stimuli(study.name)} if judgment.has_items else {}
    for session, cursor, responses in answered_of(store, study, simulated):
        if cursor.state not in _STATES[which]:
            continue
        sizes = {block: _size(cursor, block) for block in range(len(session.blocks))}
        models = {block: _model(study, session, block) for block in range(len(session.blocks))}
        by_need, sampling = session.sampled_by_need, study.protocol.stimuli.sampling
        rule = study.protocol.exclusion
        whose = {
            "study": study.name,
            "method": study.protocol.method,
            "session": session.id,
            "evaluator": session.evaluator,
            "simulated": session.is_simulated,
            "browser": engine_of(session.device),
            "language": language_of(session.device),
            "person_at_computer": person_at_computer(session.device),
            "translated_before": translated_to(session.device),
            "excluded": _is_excluded(rule, session, cursor, responses) if rule.is_declared else None,
        }
        for response in responses:
            if is_scored(session, cursor, response) == (which == "replaced"):
                continue
            picture = picture_of(session, response.stimulus)
            stored = dict(vars(response))
            facts = stored.pop("facts")
            if "confidence" in facts:
                facts = {**facts, "confidence_points": study.protocol.follow_ups.confidence_points}
            yield {
                **whose,
                "model": picture.model or (models[response.block] if picture.kind == TEST else ""),
                "class": picture.class_,
                "truth": picture.truth,
                "trial_kind": picture.kind,
                **stored,
                **(vars(response.timing) if response.timing else {}),
                **sizes[response.block],
                **facts,
                **(
                    {"sampling": sampling if response.stimulus in by_need else RANDOM_SAMPLING}
                    if sampling != RANDOM_SAMPLING
                    else {}
                ),
                **judgment.row(picture, items.get(item_key(response.stimulus))),
            }


def _is_excluded(
    rule: ExclusionSettings, session: Session, cursor: Cursor, responses: Sequence[Response]
) -> bool:
    """Return whether a study's rule leaves a session out of the primary scores."""
    final = [response for response in responses if is_scored(session, cursor, response)]
    pictures = [picture_of(session, response.stimulus) for response in final]
    answers = [
        Answered(picture.kind, response.response == picture.truth, response.rt)
        for picture, response in zip(pictures, final, strict=True)
    ]
    return is_excluded(rule, answers)


def _model(study: Study, session: Session, block: int) -> str:
    """Return the model that the reals of a block belong to; "" if the session's models share them."""
    planned = session.blocks[block]
    models = {
        model
        for offset, model in enumerate(planned.models)
        if model is not None and planned.kind(offset) == TEST
    }
    if study.protocol.has_staircase and len(models) == 1:
        return models.pop()
    return session.model or ""


def _size(cursor: Cursor, block: int) -> dict[str, Any]:
    """Return the width of a block's stimuli at its beginning; None if the page did not report it."""
    display = cursor.displays[block] if block < len(cursor.displays) else {}
    return {name: display.get(name) for name in ("shown_css_px", "shown_px")}


def version(store: Store, study: Study, simulated: bool = False) -> str:
    """Return a hash that changes whenever the scores of a study may have changed."""
    count, newest = store.finished(study.name, simulated)
    withdrawals = sum(1 for _ in withdrawn(store, study.name))
    facts = (__version__, study.name, study.created_at, study.version, simulated, count, newest, withdrawals)
    return hashlib.sha256("\n".join(map(str, facts)).encode()).hexdigest()[:24]


def study_answers(store: Store, study: Study, simulated: bool = False) -> "Answers":
    """Return the scored responses of a study.

    Args:
        simulated: return those of simulated sessions, which are otherwise excluded from all scores.

    Raises:
        InvalidInput: `study` is a qualification, no session is finished yet.
    """
    from backend.analysis.reasons import listed
    from backend.analysis.table.response_rows import answers_of

    method = study.protocol.method
    answers = answers_of(scored_rows(store, study, simulated), method, simulated)
    return replace(answers, reasons=listed(to_json(study.protocol)))


def scored_rows(store: Store, study: Study, simulated: bool) -> Iterator[dict[str, Any]]:
    """Return the rows to score.

    Raises:
        InvalidInput: `study` is a qualification, or no session is finished yet.
    """
    if study.kind == "qualification":
        raise InvalidInput(f"{study.name} is a qualification; it admits evaluators and gives no scores")
    if not store.finished(study.name, simulated)[0]:
        raise InvalidInput(_nothing_finished(store, study, simulated))
    return study_rows(store, study, simulated=simulated)


def _nothing_finished(store: Store, study: Study, simulated: bool) -> str:
    if simulated:
        return (
            f"study {study.name} has no finished simulated session; make some with "
            f"`openhype simulate {study.name}`"
        )
    rehearsed = store.finished(study.name, simulated=True)[0]
    if rehearsed:
        return (
            f"study {study.name} has no finished session of a real evaluator yet; {rehearsed} simulated "
            "ones are finished: ask for them with --simulated, at the server with ?simulated=true"
        )
    return (
        f"study {study.name} has no finished session yet; `openhype status {study.name}` shows how far it is"
    )


def study_scores(
    store: Store, study: Study, exposures: str = "nominal", simulated: bool = False, **options: Any
) -> dict[str, Any]:
    """Return the scores of a study, as computed by `scoring.score_answers`.

    Args:
        exposures: `nominal`, or `shown` (HYPE-time).
        simulated: as in `study_answers`.

    Raises:
        InvalidInput: `study` is a qualification, no session is finished yet, or `exposures` is `shown` and
            the method has no timed exposures.
    """
    from backend.scoring import score_answers

    return score_answers(study_answers(store, study, simulated), exposures, **options)
