"""The interval of each model's score with the stated coverage, and further results of HYPE-time.

The percentile bootstrap of the papers remains in the results as `ci`; `bootstrap.doubts` reports
when it is too narrow.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from backend.analysis.comparisons.crossed_tests import Sampled, over_pictures, within_evaluators
from backend.analysis.comparisons.means import are_comparable
from backend.analysis.crossing import Crossed, crossed, shared_reals
from backend.analysis.distributions.bootstrap import doubts, percentile_coverage
from backend.analysis.distributions.inference import NEGLIGIBLE, Component, Share, as_of_share, mean_of
from backend.analysis.table.designs import BETWEEN, crossing_of, design_of
from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers
from backend.analysis.time_scores import times_of, variance_of_pictures


def score_details(answers: Answers, values: Mapping[str, Values], level: float) -> dict[str, dict[str, Any]]:
    """Return by model `interval` (None for one evaluator), and for HYPE-time `threshold` and `blocks`.

    An interval is plain data: `ci` (percent or ms), `method`, what it is `of`, `df` (None if infinite), the
    number of `pictures` seen, `pictures_df` and the `share_of_pictures` of the variance (None if answers name
    no stimuli), `percentile_covers`, the coverage of the percentile interval with this number of evaluators,
    and `why` that interval is too narrow (None if there is no reason).
    """
    if not answers.has_shares:
        details = times_of(answers, values, level)
    else:
        details = {
            model: {"interval": _of_shares(answers, code, values[model], level)}
            for code, model in enumerate(answers.model.names)
        }
    for code, model in enumerate(answers.model.names):
        if details[model]["interval"] is not None:
            details[model]["interval"] |= _percentile(answers, code, values[model], details[model], level)
    return details


def between_models(
    answers: Answers,
    values: Mapping[str, Values],
    groups: Mapping[str, Any],
    beside: Mapping[str, Mapping[str, Any]],
    level: float,
    margin: float,
) -> dict[str, Any] | None:
    """Return the test between models over evaluators and stimuli, as `crossed_tests.over_pictures`.

    None if answers name no stimuli, or no test is possible.

    Args:
        groups: values of the models that enter tests (percent or ms).
        beside: the result of `score_details`.
        margin: margin of equivalence in percentage points; HYPE-time is tested against none.
    """
    is_between = design_of(answers).kind == BETWEEN
    groups = {model: numbers for model, numbers in groups.items() if beside[model]["interval"]}
    if len(groups) < 2 or (is_between and not are_comparable(groups)):
        return None
    codes = {model: answers.model.names.index(model) for model in groups}
    if any(beside[model]["interval"]["pictures"] is None for model in groups):
        return None
    if not answers.has_shares:
        sampled = {model: _sampled_times(numbers, beside[model]) for model, numbers in groups.items()}
    else:
        common = shared_reals(answers, [*codes.values()])
        crossings = {model: crossed(answers, code) for model, code in codes.items()}
        sampled = {
            model: _sampled_shares(share, found, common, answers.source is not None)
            for model, found in crossings.items()
            if (share := share_of(answers, codes[model], values[model])) is not None
            and found is not None  # as of every model whose interval says `pictures`
        }
    points = margin if answers.has_shares else None
    if is_between:
        return over_pictures(sampled, level, points)
    return within_evaluators(crossing_of(answers, values, [*groups]), sampled, level, points)


def _sampled_shares(share: Share, crossed: Crossed, common: float, do_share_reals: bool) -> Sampled:
    fakes = Component(max(0.0, crossed.fakes.variance), crossed.fakes.df)
    pictures = fakes + Component(max(0.0, crossed.of_reals - common), crossed.pictures.df)
    people = as_of_share(share.people, share.value, share.answers).times(100)
    score, pictures = 100 * share.value, pictures.times(100)
    moving = 100 * crossed.fakes_error if do_share_reals else score
    return Sampled(score, people, pictures, 1e4 * crossed.of_answers, moving)


def _sampled_times(values: np.ndarray, beside: Mapping[str, Any]) -> Sampled:
    people, interval = mean_of(values), beside["interval"]
    extra = Component(variance_of_pictures(people, interval), interval["pictures_df"])
    return Sampled(people.value, people.people, extra)


def share_of(answers: Answers, code: int, values: Values) -> Share | None:
    """Return a model's share (0 to 1) and what is random in it; None for one evaluator.

    Args:
        values: of the model's evaluators, in percent.
    """
    if len(values) < 2:
        return None
    strata = answers.strata_of(np.flatnonzero(answers.judges.model == code))
    mean, crossing = mean_of(values.numbers / 100, strata), crossed(answers, code)
    pictures = None if crossing is None else crossing.pictures
    return Share(mean.value, mean.people, pictures, answers=_independent(answers, code))


def _of_shares(answers: Answers, code: int, values: Values, level: float) -> dict[str, Any] | None:
    share, of_both = share_of(answers, code, values), crossed(answers, code)
    if share is None:
        return None
    df = share.widest(level).df
    return {
        "ci": [100 * end for end in share.interval(level)],
        "method": "wilson",
        "of": "evaluators" if share.pictures is None else "evaluators and pictures",
        "df": None if df == float("inf") else df,
        "pictures": of_both and of_both.images,
        "pictures_df": share.pictures and share.pictures.df,
        "share_of_pictures": share.share_of_pictures,
    }


def _independent(answers: Answers, code: int) -> float:
    """Return the effective number of answers: that of equally weighted ones with the same variance.

    It is their actual number unless evaluators saw different numbers or sides are balanced. With a share u of
    answers `not_sure`, errors of mean p have the variance p (1 - p) - u / 4: then it is as many more answers
    as give the same variance if each is right or wrong.
    """
    mine = answers.of_model[code]
    weight = answers.weight[mine]
    count = float(weight.sum() ** 2 / (weight**2).sum())
    if answers.not_sure is None:
        return count
    mean = float(weight @ answers.error[mine] / weight.sum())
    whole, halves = mean * (1 - mean), float(weight @ answers.not_sure[mine] / weight.sum()) / 4
    return count * whole / (whole - halves) if whole > halves else count


def _percentile(
    answers: Answers, code: int, values: Values, found: Mapping[str, Any], level: float
) -> dict[str, Any]:
    """Return the coverage of the percentile interval, and why it is too narrow."""
    responses = int(answers.judges.seen[answers.judges.model == code].sum())
    reasons = doubts(values.numbers, responses, answers.has_shares, level)
    interval = found["interval"]
    share = interval["share_of_pictures"]
    if share is not None and share >= NEGLIGIBLE:
        reasons.append(f"{100 * share:.0f}% of the variance is the pictures', which evaluators share")
    if interval["method"] == "population":
        blocks = found["blocks"]
        bound = "shortest" if blocks["at_floor"] >= blocks["at_ceiling"] else "longest"
        share = blocks["at_floor"] + blocks["at_ceiling"]
        reasons.append(f"{100 * share:.0f}% of blocks are at the {bound} exposure")
    return {
        "percentile_covers": percentile_coverage(len(values), level),
        "why": "; ".join(reasons) or None,
    }
