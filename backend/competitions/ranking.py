"""The published table of a competition: the models that all wanted evaluators have judged.

Who submits several models stands in it once, with the best or the last of them, as the terms say. The best of
several is chosen by their scores, so that its score is somewhat too high for it, and so is that of the last
if its submitter saw the scores of those before and stopped at a good one. The number of tries stands beside
it, and the ranges of ranks allow for all models that have been judged.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from backend.competitions.progress import Progress
from backend.competitions.submissions import Submission
from backend.competitions.terms import Terms
from backend.experiment.judgments import method_named
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.stores.store import Store

LEVEL = 0.95


def scored_rows(store: Store, study: Study, simulated: bool = False) -> dict[str, dict[str, Any]]:
    """Return the rows of the scores by model; none before a session is finished."""
    from backend.analysis.judgment_scores import scores_of
    from backend.analysis.scores import Options
    from backend.responses.study_data import study_answers

    if not store.finished(study.name, simulated)[0]:
        return {}
    how = scores_of(study.protocol.method)
    try:
        answers = how.sampled(study_answers(store, study, simulated))
        return {row["model"]: row for row in how.model_rows(answers, Options(level=LEVEL))}
    except InvalidInput:  # the only finished sessions were withdrawn, or leave models of a tournament apart
        return {}


def table_rows(
    study: Study,
    terms: Terms,
    submissions: Sequence[Submission],
    progress: Progress,
    scores: Mapping[str, Mapping[str, Any]],
    judged: Collection[str],
) -> list[dict[str, Any]]:
    """Return the rows of the published table, the best score first.

    Args:
        scores: rows of the scores of all models, by model.
        judged: the models that all wanted evaluators have judged.
    """
    from backend.analysis.judgment_scores import scores_of

    of_model = {one.called: one for one in submissions if one.holds_name}
    by_member: dict[str, list[Submission]] = {}
    shown: list[tuple[str, Submission | None, int | None]] = []
    for model in study.models:
        if model not in judged or model in study.closed:
            continue
        one = of_model.get(model)
        if one is None or one.called == one.model:  # the researcher's own
            shown.append((model, None, None))
        elif not one.withdrawn_at:
            by_member.setdefault(one.member, []).append(one)
    for own in by_member.values():
        if terms.counts == "last":
            chosen = max(own, key=lambda one: (one.created_at, one.id))
        else:
            chosen = max(own, key=lambda one: (scores[one.called]["score"], one.created_at))
        shown.append((chosen.called, chosen, len(own)))
    shown.sort(key=lambda each: (-scores[each[0]]["score"], each[0]))
    in_order = [scores[model] for model, _, _ in shown]
    chosen_of = sum(tries or 1 for _, _, tries in shown)
    ranges = scores_of(study.protocol.method).rank_ranges(in_order, LEVEL, chosen_of, len(scores))
    joined = dict(zip(study.models[len(study.first_models) :], study.joined_at, strict=True))
    return [
        {
            "ranks": None if ranks is None else [*ranks],
            "model": one.model if one else model,
            "submitter": _public(one.member) if one else None,
            "score": row["score"],
            "ci": interval_of(row),
            "evaluators": row["evaluators"],
            "look": study.look_that_ended(model),
            "submitted_at": one.created_at if one else None,
            "joined_at": joined.get(model),
            "judged_from": progress[model].first_at[:10],  # days: when somebody took part is theirs
            "judged_until": progress[model].last_at[:10],
            "tries": tries,
            "cost_usd_cents": round(progress[model].usd_cents),
        }
        for (model, one, tries), row, ranks in zip(shown, in_order, ranges, strict=True)
    ]


def interval_of(row: Mapping[str, Any]) -> list[float] | None:
    """Return the ends of the interval of a row of the scores; None for one evaluator."""
    return (row.get("interval") or {}).get("ci") or row.get("ci")


def unit_of(study: Study) -> str:
    """Return the unit of a study's scores: `percent`, `ms`, or '' for log-odds."""
    return method_named(study.protocol.method).unit


def _public(member: str) -> str:
    """Return a member's name as it is published: of an e-mail address what stands before the @."""
    return member.partition("@")[0]
