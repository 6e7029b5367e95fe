"""Attrition: how many evaluators began each model, how many finished, and why the others did not.

A model is assigned when a session is opened, after consent and the check of the display, so an evaluator
who leaves earlier counts for no model. An evaluator began when the first block was sent. A responses file
has no record of dropouts; only a store has one.
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from backend.analysis.distributions.binomial import clopper_pearson
from backend.analysis.dropout import dropout_test
from backend.experiment.records import Study
from backend.experiment.session import BROKEN_OFF, LAPSED, Cursor
from backend.foundation.timestamps import stamp
from backend.payment.accounts import accounts
from backend.payment.ledger import UNMATCHED
from backend.stores.store import Store
from backend.studies.places_given_back import given_back
from backend.studies.withdrawals import sessions_of, withdrawn

REASONS = ("returned", "timed_out", "broke_off", "ended", "withdrawn")
"""Why an evaluator who began did not finish: the place was given back at the panel by the person, or because
the time ran out; there was no response for the study's `abandon_after_minutes`; the session was closed early
for lack of stimuli; the person withdrew."""


def attrition(
    store: Store, study: Study, now: datetime, level: float = 0.95, simulated: bool = False
) -> dict[str, Any]:
    """Return the attrition of a study as plain data.

    Returns:
        `models`, one row for each group of models that a session shows, with numbers of sessions: `opened`,
        `began`, `finished`, `under_way` and each of `REASONS`; and `left`, the share (0 to 1) that did not
        finish of those that began and are not under way, with its interval `ci`. `test`: result of
        `analysis.dropout`, whether these shares differ; None for a single row. `before`: number of
        submissions without a session that the panel may charge for, by reason.
    """
    counts: dict[str, Counter] = {study.group_label(models): Counter() for models in study.counted_groups}
    return_reasons = given_back(store, study)
    withdrawn_entries = [] if simulated else list(withdrawn(store, study.name))
    silent_since = stamp(now - timedelta(minutes=study.protocol.admission.abandon_after_minutes))
    for session, cursor in sessions_of(store, study, simulated, withdrawn_entries):
        if not session.models:
            continue
        counter = counts[study.group_label(session.models)]
        counter["opened"] += 1
        if cursor.blocks_begun:
            counter["began"] += 1
            counter[_outcome(cursor, return_reasons.get(session.id, "returned"), silent_since)] += 1
    for entry in withdrawn_entries:
        counter = counts[study.group_label(entry.data["models"])]
        counter["opened"] += 1
        # Of a withdrawn session only what pay needs is stored; responses show that a block was begun.
        if entry.data["answered"]:
            counter["began"] += 1
            counter["withdrawn"] += 1
    rows = [_row(model, counter, level) for model, counter in counts.items()]
    began = [row["began"] - row["under_way"] for row in rows]
    left = [count - row["finished"] for count, row in zip(began, rows, strict=True)]
    test = dropout_test(began, left, np.random.default_rng(0)) if rows else None
    return {"models": rows, "test": test, "before": {} if simulated else _before(store, study)}


def _outcome(cursor: Cursor, given_back: str, silent_since: str) -> str:
    if cursor.state == "active":
        return "broke_off" if cursor.last_at < silent_since else "under_way"
    labels = {"returned": given_back, LAPSED: "broke_off", BROKEN_OFF: "ended"}
    return labels.get(cursor.state, cursor.state)


def _row(model: str, counter: Counter, level: float) -> dict[str, Any]:
    known = counter["began"] - counter["under_way"]
    left = known - counter["finished"]
    names = ("opened", "began", "finished", "under_way", *REASONS)
    return {
        "model": model,
        **{name: counter[name] for name in names},
        "left": left / known if known else None,
        "ci": clopper_pearson(left, known, level) if known else None,
    }


def _before(store: Store, study: Study) -> dict[str, int]:
    """Return the number of submissions at the panel without a session, by reason."""
    counts = Counter(
        account.why for _, account in accounts(store, study.name).values() if account.is_unmatched
    )
    return {why: counts[why] for why in UNMATCHED if counts[why]}
