"""Scores formatted as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.experiment.fixed_exposures import label
from backend.experiment.judgments import method_named
from backend.report.formatting import UNITS, verdict

SIMULATED = "SIMULATED sessions: nobody looked at the pictures"
_PAIRS = {"tukey": "Tukey", "paired": "paired, Holm", "clustered": "Welch over evaluators, Holm"}


def as_table(scores: Mapping[str, Any]) -> str:
    """Return scores as text for a terminal."""
    unit = UNITS[scores["unit"]]
    lines = [SIMULATED] if scores["simulated"] else []
    lines += [
        method_named(scores["method"]).score,
        *_columns(scores, unit),
        *_legend(scores),
        *_by_exposure(scores),
    ]
    anova = scores["anova"]
    if anova is not None:
        df = ", ".join(f"{each:.0f}" if each == int(each) else f"{each:.1f}" for each in anova["df"])
        name = "Wald test" if scores["design"] == "mixed" else "ANOVA"
        lines.append(f"{name}: F({df}) = {anova['F']:.2f}, {p_text(anova['p'])}")
    lines += _pairs(scores, unit)
    lines += _exclusion(scores, unit)
    settings = scores["settings"]
    if settings["bootstrap"] != "exact":
        lines.append(f"intervals: Monte Carlo, {settings['iterations']} iterations, seed {settings['seed']}")
    lines += [f"warning: {text}" for text in scores["warnings"]]
    return "\n".join([*lines, *(f"note: {text}" for text in scores["notes"])])


def _exclusion(scores: Mapping[str, Any], unit: str) -> Iterator[str]:
    """Yield whom a declared rule left out, and the scores without it."""
    exclusion = scores.get("exclusion")
    if not exclusion:
        return
    counts = (f"{row['excluded']} of {row['evaluators']} of {row['model']}" for row in exclusion["models"])
    yield (
        f"after exclusion by the rule declared with the study: {exclusion['excluded']} of "
        f"{exclusion['people']} evaluators left out ({', '.join(counts)}); without exclusion:"
    )
    yield from _columns(exclusion["without"], unit)


def _pairs(scores: Mapping[str, Any], unit: str) -> Iterator[str]:
    """Yield the pairs of the advised test: the one over stimuli too, if their variance is not negligible."""
    over, pairs, name = scores.get("over_pictures"), scores["pairs"], _PAIRS[scores["pairs_method"]]
    if over is not None:
        share = max(over["share_of_pictures"].values())
        read = ", read this one" if over["advised"] else ""
        test = "too few evaluators for a test of all models"
        if over["F"] is not None:
            test = f"F({over['df'][0]}, {over['df'][1]:.4g}) = {over['F']:.2f}, {p_text(over['p'])}"
        what = "score" if scores["design"] == "between" else "difference"
        yield (
            f"over evaluators and pictures: {test} "
            f"(pictures are up to {100 * share:.0f}% of the variance of a {what}{read})"
        )
        if over["advised"]:
            name = "over pictures too" if scores["design"] == "between" else "over pictures too, Holm"
            pairs = over["pairs"]
    for pair in pairs:
        differs = pair["p"] < 1 - scores["settings"]["level"]
        yield (
            f"{pair['a']} - {pair['b']}: {pair['difference']:.1f}{unit} "
            f"[{pair['ci'][0]:.1f}, {pair['ci'][1]:.1f}], {name} {p_text(pair['p'])}: {verdict(differs)}"
        )


def _columns(scores: Mapping[str, Any], unit: str) -> Iterator[str]:
    """Yield the header of the table of models, and one line per model."""
    level = f"{100 * scores['settings']['level']:g}% interval"
    width = max(5, *(len(row["model"]) for row in scores["models"]))
    has_interval = "balanced" in scores or any(row["interval"] for row in scores["models"])
    more = _of_pairs if "d_prime" in scores["models"][0] else _nothing_more
    if "balanced" in scores:
        more = _of_times if unit != "%" else _of_balanced_shares if scores["balanced"] else _of_shares
    head = [
        f"{'model':<{width}}",
        f"{'score':>9}",
        *([f"{level:>18}"] if has_interval else []),
        f"{'percentile (paper)':>18}",
        f"{'SD':>7}",
    ]
    yield "  ".join([*head, *more(None), "evaluators", "responses"])
    for row in scores["models"]:
        interval = row["interval"]
        std = "" if row["std"] is None else f"{row['std']:.2f}"
        cells = [f"{row['model']:<{width}}", f"{row['score']:.1f}{unit}".rjust(9)]
        cells += [f"{'' if interval is None else span(interval['ci']):>18}"] if has_interval else []
        cells.append(f"{span(row['ci']):>18}")
        yield "  ".join(
            [*cells, f"{std:>7}", *more(row), f"{row['evaluators']:>10}", f"{row['responses']:>9}"]
        )


def _by_exposure(scores: Mapping[str, Any]) -> Iterator[str]:
    """Yield each model's accuracy at each fixed exposure, and from which one it is told from real."""
    if scores["method"] != "exposures":
        return
    width = max(5, *(len(row["model"]) for row in scores["models"]))
    level = f"{100 * scores['settings']['level']:g}% interval"
    heads = (f"{'model':<{width}}", f"{'exposure':>12}", f"{'right':>6}", f"{level:>16}", *_of_shares(None))
    yield "  ".join([*heads, "told apart"])
    for row in scores["models"]:
        for one in row["by_exposure"]:
            told = one["told_apart"]
            cells = [
                f"{row['model']:<{width}}",
                f"{exposure(one):>12}",
                f"{one['accuracy']:.1f}%".rjust(6),
                f"{span(one['ci']):>16}",
                *_of_shares(one),
                f"{'' if told is None else 'yes' if told else 'no':>10}",
            ]
            yield "  ".join(cells)
    for row in scores["models"]:
        yield f"{row['model']}: {apart(row)}"


def apart(row: Mapping[str, Any]) -> str:
    """Return in words from which exposure a model is told from real, and where its threshold is."""
    told, not_told, rows = row["told_from"], row["indistinguishable_up_to"], row["by_exposure"]
    if all(one["told_apart"] is None for one in rows):
        parts = ["one evaluator does not show how people differ"]
    elif not_told and not_told["exposure_ms"] == rows[-1]["exposure_ms"]:
        parts = ["not told from real at any exposure"]
    elif told and told["exposure_ms"] == rows[0]["exposure_ms"]:
        parts = ["told from real at every exposure"]
    else:
        parts = [f"not told from real up to {exposure(not_told)}"] if not_told else []
        parts.append(f"told from {exposure(told)}" if told else f"not told at {exposure(rows[-1])}")
    if threshold := row["threshold"]:
        parts.append(f"{100 * threshold['at']:.0f}% right {_at(threshold)}")
    return "; ".join(parts)


def exposure(row: Mapping[str, Any]) -> str:
    """Return a fixed exposure with its unit: `50 ms`, or `unlimited`."""
    ms = row["exposure_ms"]
    return label(ms) if ms is None else f"{label(ms)} ms"


def _at(threshold: Mapping[str, Any]) -> str:
    """Return where a threshold is: `at 219 ms [180, 266]`, `at or below 100 ms`."""
    text = fitted(threshold)
    return text if threshold["censored"] else f"at {text}"


def _nothing_more(row: Mapping[str, Any] | None) -> list[str]:
    return []


def _of_pairs(row: Mapping[str, Any] | None) -> list[str]:
    """Return a model's cells that only pairs have, or their headers if `row` is None."""
    if row is None:
        return ["accuracy", f"{'d-prime':>7}"]
    d_prime = row["d_prime"]
    return [f"{row['accuracy']:.1f}%".rjust(8), f"{'' if d_prime is None else f'{d_prime:.2f}':>7}"]


def _of_shares(row: Mapping[str, Any] | None) -> list[str]:
    """Return a model's cells that only HYPE-infinity has, or their headers if `row` is None."""
    if row is None:
        return ["fakes error", "reals error"]
    errors = (row["fakes_error"], row["reals_error"])
    return [f"{'' if error is None else f'{error:.1f}%':>11}" for error in errors]


def _of_balanced_shares(row: Mapping[str, Any] | None) -> list[str]:
    """Return the cells of `_of_shares` and, for a balanced score, the unweighted share of wrong responses."""
    return [*_of_shares(row), "all alike" if row is None else f"{row['plain_score']:.1f}%".rjust(9)]


def _of_times(row: Mapping[str, Any] | None) -> list[str]:
    """Return a model's cells that only HYPE-time has, or their headers if `row` is None."""
    if row is None:
        return [f"{'fitted threshold':>26}", "floor", "ceiling"]
    blocks = row["blocks"]
    shares = f"{100 * blocks['at_floor']:.0f}%", f"{100 * blocks['reached_ceiling']:.0f}%"
    return [f"{fitted(row['threshold']):>26}", f"{shares[0]:>5}", f"{shares[1]:>7}"]


def _legend(scores: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines that explain the columns."""
    intervals = [row["interval"] for row in scores["models"] if row["interval"]]
    if intervals:
        of = "evaluators alone; the responses do not name their pictures (column stimulus)"
        if any(one["pictures"] is not None for one in intervals):
            of = "evaluators and pictures"
        yield f"interval: over {of}; percentile (paper): the bootstrap over evaluators"
    if scores["method"] == "time":
        threshold = scores["models"][0]["threshold"]
        yield (
            f"fitted threshold: where the typical evaluator is right in {100 * threshold['at']:.0f}% of "
            f"answers; floor, ceiling: blocks at {threshold['floor_ms']:g} ms, blocks that reached "
            f"{threshold['ceiling_ms']:g} ms"
        )


def fitted(threshold: Mapping[str, Any]) -> str:
    """Return a fitted threshold: `at or below 100 ms`, `at or above 1000 ms`, or with its interval."""
    low, high = threshold["floor_ms"], threshold["ceiling_ms"]
    if threshold["censored"]:
        return f"at or below {low:g} ms" if threshold["censored"] == "floor" else f"at or above {high:g} ms"
    text = f"{threshold['ms']:.0f} ms"
    if threshold["ci"] is None:
        return text
    ends = (f"{'≤' if end <= low else '≥' if end >= high else ''}{end:.0f}" for end in threshold["ci"])
    return f"{text} [{', '.join(ends)}]"


def span(ci: Sequence[float] | None) -> str:
    """Return `48.2 to 53.1`; an empty string for no interval."""
    return "" if ci is None else f"{ci[0]:.1f} to {ci[1]:.1f}"


def p_text(value: float) -> str:
    """Return a p-value with two significant digits, such as `p = 0.023` or `p < 0.0001`."""
    if value > 0.99:
        return "p > 0.99"
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"
