"""Whether evaluators change over a session, and whether an answer depends on the one before.

Fatigue and practice change thresholds (HYPE-time) or errors (other methods) over a session; a habit makes an
answer depend on the previous one (Fründ, Wichmann and Macke, 2014, Journal of Vision 14(7):9). Both are
slopes within evaluators and conditions, sum U / sum D over evaluators, with U = sum w (x - mean) y and
D = sum w (x - mean)^2. Their variance is over evaluators, with the correction and the degrees of freedom of
Bell and McCaffrey (2002), since evaluators near a bound of the staircase give little information.

In a staircase, exposures depend on earlier answers. So the change is that of what each evaluator's
psychometric function leaves unexplained, over blocks: without drift these might have come in any order, and
the slope is as often below 0 as above. Answers are compared with the previous ones among answers to stimuli
of one truth and of similar exposure, so that what the previous answer did to the exposure is held constant;
of one class too, where classes come in blocks.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import Component, Estimate
from backend.analysis.models import population
from backend.analysis.table.response_table import Answers, distinct
from backend.analysis.time_scores import Times, accuracies

_GROUPS = 6
"""Number of groups of similar exposure, by evaluator. Of biased evaluators with steep functions, one group
gave 30% false alarms at .05, three to ten 4%."""
_NOTHING = 1e-9
"""Relative information, or standard error, up to which it is treated as rounding error."""
_MOST_LOG = math.log(1e6)
"""Log ratio of thresholds beyond which there is none to estimate, as of functions without slope."""
Terms = tuple[np.ndarray, np.ndarray]
"""The parts of each response given in U and in D."""


@dataclass(frozen=True)
class _Ordered:
    """Responses given, in the order of sessions; arrays of shape (responses given,)."""

    index: np.ndarray
    """Index among all answers."""
    session: np.ndarray
    is_next: np.ndarray
    """Whether the previous response is of the same session and block."""
    time: np.ndarray
    """From 0 to 1, place of the block in the session (HYPE-time), or of the trial."""


def drift(answers: Answers, level: float) -> dict[str, Any] | None:
    """Return the change over a session, and the dependence of an answer on the previous one.

    Returns:
        `change`: of thresholds from the first block to the last, in percent (HYPE-time, `of` `threshold`), or
        of the share of wrong answers from the first trial to the last, in points (`of` `error`); `previous`:
        how much more often an answer is `fake` after `fake` than after `real`, in points. Both have
        `estimate`, `ci`, `t`, `df`, `p` (two-sided, uncorrected), the number of `evaluators`, and `models`,
        the same by model; they are None where there is nothing to estimate, as of one block or one
        evaluator. None if the order of responses is unknown (no `trial_index`).
    """
    ordered = _ordered(answers)
    if ordered is None:
        return None
    is_timed = not answers.has_shares
    change = _by_model(answers, ordered, _change(answers, ordered, level), level, is_timed)
    return {
        "change": change and {"of": "threshold" if is_timed else "error", **change},
        "previous": _by_model(answers, ordered, _previous(answers, ordered), level, False),
    }


def _ordered(answers: Answers) -> _Ordered | None:
    trial = answers.numbers.get("trial_index")
    if trial is None or np.isnan(trial).any():
        return None
    column, block = answers.texts.get("session"), answers.block
    session = _cells(answers.evaluator.codes, *([] if column is None else [column.codes]))
    run = _cells(session, *([] if block is None else [block]))
    first = np.full(int(run.max()) + 1, np.inf)
    np.minimum.at(first, run, trial)  # blocks are in the order of their first trials
    given = answers.first_of_source
    index = given[np.lexsort((trial[given], run[given], first[run[given]], session[given]))]
    session, run = session[index], run[index]
    is_next = np.r_[False, run[1:] == run[:-1]]
    step = np.arange(len(index)) if block is None else np.cumsum(~is_next)
    starts = np.searchsorted(session, np.arange(session[-1] + 1))
    last = np.r_[starts[1:], len(index)] - 1
    time = (step - step[starts][session]) / np.maximum(step[last] - step[starts], 1)[session]
    return _Ordered(index, session, is_next, time)


def _change(answers: Answers, ordered: _Ordered, level: float) -> Terms:
    cell, y, weight = [answers.judges.of_response], answers.error, np.ones(len(answers))
    if not answers.has_shares:
        y, weight = _of_functions(answers, level)
    else:
        cell.append(answers.is_fake)
    y, weight = y[ordered.index], weight[ordered.index]
    x = _centred(ordered.time, _cells(ordered.session, *(each[ordered.index] for each in cell)), weight)
    return x * y, weight * x**2


def _of_functions(answers: Answers, level: float) -> Terms:
    """Return for each answer the slope of its log likelihood in the log threshold, and the information."""
    times, slope, information = Times(answers, level), np.zeros(len(answers)), np.zeros(len(answers))
    for code, mine in enumerate(answers.of_model):
        if np.count_nonzero(answers.judges.model == code) > 1:
            fitted = times.population(code)
            right = np.clip(accuracies(answers, code, fitted), population.GUESS, 1 - _NOTHING)
            rise = population.rise_at(right, fitted.slope, fitted.lapse) / (right * (1 - right))
            slope[mine] = rise * (answers.error[mine] - (1 - right))
            information[mine] = rise**2 * right * (1 - right)
    return slope, information


def _previous(answers: Answers, ordered: _Ordered) -> Terms:
    index, later = ordered.index, np.flatnonzero(ordered.is_next)
    said, judge = answers.said[index], answers.judges.of_response[index]
    groups = _exposure_groups(answers, ordered), _classes(answers, ordered)
    cell = _cells(ordered.session, judge, answers.is_fake[index], *groups)
    x = _centred(said[later - 1], cell[later], np.ones(len(later)))
    # An answer that is y of one pair and x of another makes U too low by the variance over the pairs
    size, pairs = np.bincount(cell), np.maximum(np.bincount(cell[later], minlength=cell.max() + 1), 1)
    variance = np.bincount(cell, _centred(said, cell, np.ones(len(cell))) ** 2) / np.maximum(size - 1, 1)
    is_both = cell[later - 1] == cell[later]
    terms = np.zeros((2, len(index)))
    terms[:, later] = x * said[later] + is_both * (variance / pairs)[cell[later]], x**2
    return terms[0], terms[1]


def _classes(answers: Answers, ordered: _Ordered) -> np.ndarray:
    """Return the class of each response's stimulus if classes come in blocks, else one for all."""
    column, later = answers.texts.get("class"), np.flatnonzero(ordered.is_next)
    codes = np.zeros(len(ordered.index), int) if column is None else column.codes[ordered.index]
    return codes if 2 * np.count_nonzero(codes[later] == codes[later - 1]) > len(later) else codes * 0


def _exposure_groups(answers: Answers, ordered: _Ordered) -> np.ndarray:
    """Return the group of each response, by the rank of its exposure in the session."""
    if answers.exposure_ms is None:
        return np.zeros(len(ordered.index), int)
    _, ms = np.unique(answers.exposure_ms[ordered.index], return_inverse=True)
    cell = _cells(ordered.session, ms)
    counts = np.bincount(cell)
    sizes = np.bincount(ordered.session)
    below = (np.cumsum(counts) - counts)[cell] - (np.cumsum(sizes) - sizes)[ordered.session]
    result: np.ndarray = _GROUPS * below // sizes[ordered.session]
    return result


def _by_model(
    answers: Answers, ordered: _Ordered, terms: Terms, level: float, is_log: bool
) -> dict[str, Any] | None:
    judges, names = answers.judges, answers.model.names
    u, d = (np.bincount(judges.of_response[ordered.index], each, len(judges.model)) for each in terms)
    whole_u, whole_d = (np.bincount(judges.evaluator, each) for each in (u, d))
    everybody = _ratio(whole_u, whole_d, level, is_log)
    by_code = [
        _ratio(u[mine], d[mine], level, is_log) for mine in judges.model == np.arange(len(names))[:, None]
    ]
    models = [{"model": name, **found} for name, found in zip(names, by_code, strict=True) if found]
    return everybody and {**everybody, "models": models}


def _ratio(u: np.ndarray, d: np.ndarray, level: float, is_log: bool) -> dict[str, Any] | None:
    """Return sum(u) / sum(d) over evaluators; None if they do not vary, or fewer than two tell anything.

    Args:
        is_log: whether it is a log ratio, returned in percent; then None also if its interval has no bounds.
    """
    is_informative = np.abs(u) + d > _NOTHING * d.max(initial=0)
    u, d = u[is_informative], d[is_informative]
    if len(u) < 2 or d.max() >= (1 - _NOTHING) * math.fsum(d):
        return None
    total = math.fsum(d)
    slope, share = math.fsum(u) / total, d / total
    error = math.sqrt(math.fsum((u - slope * d) ** 2 / (1 - share))) / total
    if error < _NOTHING:
        return None
    part = share**2 / (1 - share)
    df = 1 / float((share**2).sum() + part.sum() ** 2 - (part**2).sum())
    test = Estimate(slope, Component(error**2, df)).t_test(level)
    ends = (slope, *test["ci"])
    if is_log and max(map(abs, ends)) > _MOST_LOG:
        return None
    estimate, *ci = (100 * (math.expm1(x) if is_log else x) for x in ends)
    return {"estimate": estimate, **test, "ci": ci, "evaluators": len(u)}


def _cells(first: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """Return codes from 0 of distinct combinations of codes, ordered by the first."""
    cell = np.zeros(len(first), np.int64)
    for codes in (first, *others):
        width = int(codes.max()) + 1
        _, cell = distinct(cell * width + codes, (int(cell.max()) + 1) * width)
    return cell


def _centred(x: np.ndarray, cell: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return `x` less its weighted mean in each cell."""
    whole = np.bincount(cell, weight)
    result: np.ndarray = x - (np.bincount(cell, weight * x) / np.where(whole > 0, whole, 1))[cell]
    return result
