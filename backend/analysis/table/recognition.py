"""Normalization of responses from other sources, so that they are scored correctly.

Names: `a ` and `a` are the same. Reals that belong to no model (the cell is empty, or says `real`): an
evaluator judged them together with the fakes of one or several models, and they count for each of these.
Sides of unequal size: if evaluators saw far more reals than fakes, a share of wrong answers would be mostly
that of reals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from backend.analysis.table.response_table import Answers, Coded, distinct, take_rows
from backend.foundation.counted_nouns import some_of
from backend.foundation.names import are_clean, clean, doubtful_people, rounded_names

NO_MODEL = frozenset({"", "real", "reals", "none", "null", "nan", "na", "n/a", "-"})
"""Values of the column `model` for a real image that belongs to no model; case is ignored."""
UNEQUAL = 1.5
"""Ratio of the answers on the two sides above which a plain share would be mostly that of one side."""
_NAMED = ("model", "evaluator", "session", "stimulus", "class", "item", "left", "right")


def recognised(answers: Answers) -> Answers:
    """Return responses in the form in which they are scored; `notes` lists the changes.

    Answers without anything to change are returned as they are.
    """
    answers, notes = _cleaned(answers)
    notes += [*_twins(answers.model.names), *doubtful_people(answers.evaluator.names)]
    notes += [*rounded_names(answers.model.names, "models")]
    if not answers.is_real_or_fake:
        return replace(answers, notes=(*answers.notes, *notes)) if notes else answers
    answers, more = _with_shared_reals(_with_own_blocks(answers))
    notes += more
    is_balanced = _are_sides_unequal(answers)
    if is_balanced:
        notes.append(
            "reals and fakes differ in number, so the score is balanced: the mean of the errors on fakes and "
            "on reals; plain_score is the share of all answers that were wrong"
        )
    if not notes:
        return answers
    return replace(answers, notes=(*answers.notes, *notes), is_balanced=is_balanced)


def _cleaned(answers: Answers) -> tuple[Answers, list[str]]:
    columns = {"model": answers.model, "evaluator": answers.evaluator, **answers.texts}
    changed: dict[str, Coded] = {}
    notes = []
    for name in _NAMED:
        if name not in columns:
            continue
        column, examples = _merged(columns[name])
        if examples:
            changed[name] = column
            count = f"{len(examples)} name{'s' if len(examples) != 1 else ''}"
            notes.append(
                f"{count} in the column {name} stood in white space or in another form of Unicode; "
                f"{examples[0]!r} is taken for {clean(examples[0])!r}"
            )
    if not changed:
        return answers, []
    texts = {name: changed.get(name, column) for name, column in answers.texts.items()}
    model, evaluator = (changed.get(name, columns[name]) for name in ("model", "evaluator"))
    return replace(answers, model=model, evaluator=evaluator, texts=texts), notes


def _merged(column: Coded) -> tuple[Coded, list[str]]:
    """Return a column with clean and unique names, and the names that were not clean."""
    if are_clean(column.names):
        return column, []
    cleaned = [clean(name) for name in column.names]
    examples = [
        name for name, text in zip(column.names, cleaned, strict=True) if name is not text and name != text
    ]
    if not examples:
        return column, []
    places = {name: place for place, name in enumerate(dict.fromkeys(cleaned))}
    code = np.array([places[name] for name in cleaned], np.int32)
    return Coded(code[column.codes], [*places]), examples


def _twins(models: Sequence[Any]) -> list[str]:
    """Return notes on models whose names differ in case only."""
    by_fold: dict[str, list[str]] = {}
    for name in models:
        by_fold.setdefault(str(name).casefold(), []).append(str(name))
    twins = [" and ".join(map(repr, sorted(names))) for names in by_fold.values() if len(names) > 1]
    return [f"the models {some_of(twins)} differ in case alone; they are scored apart"] if twins else []


def _with_own_blocks(answers: Answers) -> Answers:
    """Return answers in which blocks of two sessions of one evaluator and model differ (HYPE-time)."""
    session = answers.texts.get("session")
    if answers.block is None or session is None or not len(answers):
        return answers
    blocks, sessions = int(answers.block.max()) + 1, len(session.names)
    own = answers.block.astype(np.int64) * sessions + session.codes
    judge = answers.judges.of_response.astype(np.int64)
    in_blocks = len(np.unique(judge * blocks + answers.block))
    if len(np.unique(judge * (blocks * sessions) + own)) == in_blocks:
        return answers
    return replace(answers, block=distinct(own, blocks * sessions)[1])


def _with_shared_reals(answers: Answers) -> tuple[Answers, list[str]]:
    """Return answers in which reals of no model are repeated for each model that was judged with them.

    That is in the same session, or by the same evaluator if the session has no fakes or is not named.
    """
    orphaned = _orphaned(answers)
    if not orphaned.any():
        return answers, []
    is_orphan = orphaned[answers.model.codes]
    people = answers.evaluator.codes.astype(np.int64)
    session = answers.texts.get("session")
    visits = people if session is None else people * len(session.names) + session.codes
    rows, models = _paired(visits, answers.model.codes, is_orphan, len(answers.model.names))
    alone = np.setdiff1d(np.flatnonzero(is_orphan), rows)
    is_left = np.zeros(len(answers), bool)
    is_left[alone] = True
    more = _paired(people, answers.model.codes, is_orphan, len(answers.model.names), is_left)
    rows, models = np.concatenate([rows, more[0]]), np.concatenate([models, more[1]])
    own = np.flatnonzero(~is_orphan)
    index = np.concatenate([own, rows])
    order = np.argsort(index, kind="stable")
    model = np.concatenate([answers.model.codes[own], models])[order]
    shared = take_rows(answers, index[order], Coded(model.astype(np.int32), answers.model.names))
    names = [str(answers.model.names[code]) for code in np.flatnonzero(orphaned).tolist()]
    return shared, [*_said(names, np.unique(rows), rows, int(is_orphan.sum()))]


def _said(names: list[str], used: np.ndarray, rows: np.ndarray, count: int) -> Iterator[str]:
    called = " or ".join("an empty cell" if not name else repr(name) for name in names)
    times = len(rows) / len(used) if len(used) else 0
    yield (
        f"{len(used):,} answers to reals of no model (column model: {called}) count for each model that the "
        f"evaluator judged beside them, {times:.3g} on average"
    )
    if count > len(used):
        yield (
            f"{count - len(used):,} answers to reals of no model are left out: their evaluators judged no "
            "fakes"
        )


def _orphaned(answers: Answers) -> np.ndarray:
    """Return for each model name whether it marks reals that belong to no model.

    Such a name has no fakes, and either is one of `NO_MODEL`, or each of its evaluators judged fakes of a
    model that has no reals of its own.
    """
    count = len(answers.model.names)
    fakes = np.bincount(answers.model.codes[answers.is_fake], minlength=count)
    without_fakes = fakes == 0
    if not without_fakes.any() or not answers.is_fake.any():
        return np.zeros(count, bool)
    reals = np.bincount(answers.model.codes[~answers.is_fake], minlength=count)
    says_so = np.array([str(name).strip().casefold() in NO_MODEL for name in answers.model.names])
    orphaned: np.ndarray = without_fakes & says_so
    if (without_fakes & ~says_so).any():
        judged = np.zeros(len(answers.evaluator.names), bool)
        only_fakes = (fakes > 0) & (reals == 0)
        judged[answers.evaluator.codes[only_fakes[answers.model.codes]]] = True
        has_others = np.bincount(answers.model.codes[~judged[answers.evaluator.codes]], minlength=count)
        orphaned |= without_fakes & (has_others == 0)
    return orphaned


def _paired(
    visits: np.ndarray, model: np.ndarray, is_orphan: np.ndarray, models: int, among: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, model) for each orphan and each model of fakes that was judged in the same visit.

    Args:
        among: mask of the orphans to pair; default, all.
    """
    visit_codes, visit = distinct(visits, int(visits.max()) + 1)
    pairs = np.unique(visit[~is_orphan].astype(np.int64) * models + model[~is_orphan])
    first = np.searchsorted(pairs, np.arange(len(visit_codes) + 1, dtype=np.int64) * models)
    rows = np.flatnonzero(is_orphan if among is None else among)
    begins, counts = first[visit[rows]], np.diff(first)[visit[rows]]
    place = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
    return np.repeat(rows, counts), pairs[place] % models


def _are_sides_unequal(answers: Answers) -> bool:
    """Return whether the median evaluator of any model saw far more of one side than of the other."""
    if not answers.has_shares:
        return False
    judges = answers.judges
    for code in range(len(answers.model.names)):
        mine = judges.model == code
        fakes, reals = judges.fakes[mine], judges.reals[mine]
        both = (fakes > 0) & (reals > 0)
        if both.any():
            middle = float(np.median(np.log(fakes[both] / reals[both])))
            if abs(middle) > np.log(UNEQUAL) + 1e-12:
                return True
    return False
