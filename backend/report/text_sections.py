"""Sections of findings as lines of text for a terminal, by title, in the order of a report."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from backend.analysis.crossed_model import UNDECIDED_WIDTH
from backend.experiment.judgments import judgment_of
from backend.foundation.counts import counted
from backend.report import metrics
from backend.report.formatting import SPREADS, UNITS, outcome
from backend.report.formatting import listed_counts as listed
from backend.report.text_tables import p_text

_FEW = 3
"""Maximum number of images shown per model; JSON has all."""


def between_models(scores: Mapping[str, Any]) -> dict[str, Iterable[str]]:
    """Return the lines of the sections on further tests between models, by title."""
    found = scores["findings"]
    return {"Between models": _between(found), "Effect of each pair (Hedges' g)": _effects(found)}


def on_metrics(scores: Mapping[str, Any]) -> dict[str, Iterable[str]]:
    """Return the lines of the section on automatic metrics, by title; {} for a judgment of items."""
    if "metrics" not in scores["findings"]:
        return {}
    return {metrics.TITLE: metrics.as_lines(scores["findings"]["metrics"], level_of(scores))}


def on_evaluators(scores: Mapping[str, Any]) -> dict[str, Iterable[str]]:
    """Return the lines of the sections on evaluators, which every judgment has, by title."""
    found, unit = scores["findings"], UNITS[scores["unit"]]
    return {
        "Evaluators to look at": _evaluators(found, f"said_{judgment_of(scores['method']).answers[1]}"),
        "Attention checks": _attention(found, level_of(scores)),
        "By browser": _browsers(found, unit),
        "Who began and who finished": _attrition(found),
    }


def votes(sets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the votes on the items of each set; rows are those of `item_votes.set_table`."""
    for row in sets:
        found = row["reliability"]
        halves = "" if not found or found["full"] is None else f", reliability {found['full']:.2f}"
        yield (
            f"{row['set']}: {counted(row['items'], 'item')}, {row['fewest_votes']} to {row['most_votes']} "
            f"votes each (median {row['median_votes']:g}), {row['undecided']} without a majority{halves}"
        )


def sentinels(found: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield how sentinels were answered; `found` is that of `item_votes.sentinels`."""
    for row in found["rows"] if found else ():
        yield f"{row['truth']}: {row['right']} of {row['shown']} right ({100 * row['share']:.1f}%)"
    if found and found["d_prime"] is not None:
        yield f"told apart with d' {found['d_prime']:.2f}, c {found['criterion']:.2f}"


def real_or_fake_sections(scores: Mapping[str, Any]) -> dict[str, Iterable[str]]:
    """Return the lines of the sections of real or fake, by title."""
    found, unit, level = scores["findings"], UNITS[scores["unit"]], level_of(scores)
    return {
        f"Why the {level} interval is not the percentile one": _intervals(scores),
        "Against 50%": chance(found),
        f"Errors on fakes and on reals, and accuracy ({level} intervals)": _sides(found),
        f"Thresholds ({level} intervals)": _thresholds(found),
        "Sensitivity and bias, over evaluators": _detection(found),
        "Sensitivity and bias, over evaluators and pictures (crossed model)": _crossed_model(found),
        f"Confidence ({level} intervals over evaluators)": _confidence(found),
        "Quality of evaluators (crossed model)": _shrunk_evaluators(found),
        "Difficulty of images (crossed model)": _difficulties(found),
        **between_models(scores),
        **on_metrics(scores),
        "Over training": _progress(found, unit),
        "By class": _classes(found, unit),
        "Reliability (split halves, Spearman-Brown)": _reliability(found),
        "Most fooling images": _images(found),
        "Reasons": _reasons(found, 1 - scores["settings"]["level"]),
        "Marks": _marks(found),
        **on_evaluators(scores),
    }


def level_of(scores: Mapping[str, Any]) -> str:
    """Return the confidence level of the intervals, such as `95%`."""
    return f"{100 * scores['settings']['level']:g}%"


def _intervals(scores: Mapping[str, Any]) -> Iterator[str]:
    for row in scores["models"]:
        interval = row["interval"]
        if interval is None:
            continue
        share = interval["share_of_pictures"]
        part = (
            "" if share is None else f" ({interval['pictures']} pictures, {100 * share:.0f}% of the variance)"
        )
        why = f": {interval['why']}" if interval["why"] else ""
        yield f"{row['model']}: {interval['method']}, over {interval['of']}{part}{why}"


def chance(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tests of each model against 50%."""
    tested = [row for row in found["models"] if row.get("chance")]
    for row in tested:
        above, equal = row["chance"]["hyperrealism"], row["chance"]["equivalence"]
        p_above, p_equal = (
            p_text(test["p"]) + (f", Holm {p_text(test['p_holm'])}" if len(tested) > 1 else "")
            for test in (above, equal)
        )
        yield (
            f"{row['model']}: {row['chance']['verdict']} (above 50%: t({above['df']}) = {above['t']:.2f}, "
            f"{p_above}; within {equal['margin']:g} points: {p_equal})"
        )


def _sides(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the error on each side, accuracy, and d' and c over all responses; a real is counted once."""
    sides = found["sides"]
    if sides is None:
        return
    for row in sides["fakes"]:
        yield f"fakes of {row['model']}: {_share(row, 'error')}"
    for row in sides["reals"]:
        whose = "reals, the same for all models" if row["model"] is None else f"reals of {row['model']}"
        yield f"{whose}: {_share(row, 'error')}"
    yield f"accuracy: {_share(sides['accuracy'], 'accuracy')}"
    if detection := sides["detection"]:
        pooled = detection["pooled"]
        yield (
            f"all fakes against all reals: d' {detection['d_prime']:.2f}"
            f"{_brackets(detection['d_prime_ci'], 2)}, c {detection['criterion']:.2f}"
            f"{_brackets(detection['criterion_ci'], 2)}, from all responses together d' "
            f"{pooled['d_prime']:.2f}, c {pooled['criterion']:.2f}"
        )


def _share(row: Mapping[str, Any], name: str) -> str:
    """Return a mean over evaluators, its interval, and the share of all responses."""
    return (
        f"{row[name]:.1f}%{_brackets(row['ci'])}, of all responses {row['pooled']:.1f}% "
        f"({counted(row['evaluators'], 'evaluator')}, {counted(row['responses'], 'response')})"
    )


def _thresholds(found: Mapping[str, Any]) -> Iterator[str]:
    for row in found["models"]:
        if not (exposures := row.get("exposures")):
            continue
        model, threshold, pooled = row["model"], exposures["threshold_ms"], exposures["pooled"]
        reversal = exposures["reversal_ms"]
        yield f"{model}: mean of reversals {_ms(reversal['mean'], reversal['ci'])}"
        beyond = (
            f", {threshold['beyond']} of {threshold['fitted']} beyond the exposures"
            if threshold["beyond"]
            else ""
        )
        for kind, value, ci, rest in (
            ("median", threshold["median"], threshold["median_ci"], beyond),
            ("pooled", pooled["threshold_ms"], pooled["ci"], _fit(pooled["p"])),
        ):
            advised = ", advised" if threshold["advised"] == kind else ""
            yield f"{model}: {100 * threshold['at']:g}% right at {_ms(value, ci)} ({kind}{advised}{rest})"


def _detection(found: Mapping[str, Any]) -> Iterator[str]:
    for row in found["models"]:
        if detection := row["detection"]:
            side = _leaning(detection["criterion_ci"])
            yield (
                f"{row['model']}: d' {detection['d_prime']:.2f}{_brackets(detection['d_prime_ci'], 2)}, "
                f"c {detection['criterion']:.2f}{_brackets(detection['criterion_ci'], 2)} ({side})"
            )


def _crossed_model(found: Mapping[str, Any]) -> Iterator[str]:
    crossed = found["crossed_model"]
    if crossed is None:
        if found["crossed_model_note"]:
            yield found["crossed_model_note"]
        return
    for row in crossed["models"]:
        yield (
            f"{row['model']}: d' {row['d_prime']:.2f}{_brackets(row['d_prime_ci'], 2)}, "
            f"c {row['criterion']:.2f}{_brackets(row['criterion_ci'], 2)}"
        )
    for pair in crossed["pairs"]:
        yield f"{pair['a']} - {pair['b']}: d' {pair['difference']:.2f}{_brackets(pair['ci'], 2)}, uncorrected"
    spread = (
        f"{what} {crossed['sds'][effect]['sd']:.2f}{_brackets(crossed['sds'][effect]['ci'], 2)}"
        for effect, what in SPREADS.items()
    )
    yield f"standard deviations: {', '.join(spread)}"


def _confidence(found: Mapping[str, Any]) -> Iterator[str]:
    data = found.get("confidence")
    if data is None:
        return
    for row in (*data["models"], *([{"model": "all models", **data["overall"]}] if data["overall"] else [])):
        for kind, what in (("roc", "fakes from reals"), ("type_2", "right from wrong")):
            area = row[kind]
            number = "none" if area["area"] is None else f"{area['area']:.3f}{_brackets(area['ci'], 3)}"
            own = "" if area["own"] is None else f", mean of evaluators' own {area['own']:.3f}"
            why = f" ({area['why']})" if area["why"] else ""
            yield f"{row['model']}: area, {what}: {number}{own}{_brackets(area['own_ci'], 3)}{why}"
        yield (
            f"{row['model']}: error {row['score']:.1f}%{_brackets(row['score_ci'])}, weighted by confidence "
            f"{row['weighted_score']:.1f}%{_brackets(row['weighted_score_ci'])}; Brier score "
            f"{row['brier']:.3f}{_brackets(row['brier_ci'], 3)}"
        )
        over = row["overconfidence_ci"]
        yield (
            f"{row['model']}: confidence {100 * row['probability']:.1f}%, right {100 * row['right']:.1f}%: "
            f"overconfidence {100 * row['overconfidence']:+.1f} points"
            f"{_brackets(over and [100 * end for end in over])}; "
            + ", ".join(f"{one['level']}: {one['right']:.0%} right" for one in row["levels"])
        )
    yield from data["notes"]


def _reasons(found: Mapping[str, Any], alpha: float) -> Iterator[str]:
    for row in (found.get("reasons") or {"rows": ()})["rows"]:
        if not row["answers"]:
            continue
        sides = [
            f"{side} {100 * row[key]:.0f}%" for key, side in (("of_fakes", "fakes"), ("of_reals", "reals"))
            if row[key] is not None
        ]  # fmt: skip
        is_apart = row["p_holm"] is not None and row["p_holm"] < alpha
        more = "" if not is_apart else f": more for {'fakes' if row['difference'] > 0 else 'reals'}"
        tested = "" if row["p_holm"] is None else f", Holm {p_text(row['p_holm'])}{more}"
        yield (
            f"{row['model'] or 'all models'}, answer {row['response']}: {row['reason'] or 'none given'}: "
            f"{row['answers']} of {row['of']} ({', '.join(sides)}{tested})"
        )
    if comments := found.get("comments"):
        yield f"{counted(len(comments), 'comment')}: in the report's table, and in JSON"


def _marks(found: Mapping[str, Any]) -> Iterator[str]:
    data = found.get("marks")
    if data is None:
        return
    for group in data["groups"]:
        name = "real pictures" if group["model"] is None else group["model"]
        first = max(group["where"], key=lambda where: group["where"][where])
        yield f"{name}: {counted(group['marks'], 'mark')}, {group['where'][first]:.0%} in the {first}"
        for row in [row for row in group["pictures"] if row["is_beyond_chance"]][:_FEW]:
            yield (
                f"{name}: {row['picture']} called fake by {row['called_fake']} of {row['guesses']}, "
                f"{counted(row['marks'], 'mark')}, {row['share_there']:.0%} in the {row['where']}, agreement "
                f"{row['agreement']:.2f} ({p_text(row['p'])})"
            )
    yield from data["notes"]


def _shrunk_evaluators(found: Mapping[str, Any]) -> Iterator[str]:
    rows = found["crossed_model"] and found["crossed_model"]["by_evaluator"]
    if not rows:
        return
    able = sum(row["d_prime_ci"][0] > 0 for row in rows)
    leaning = [sum(_leaning(row["criterion_ci"]).endswith(side) for row in rows) for side in ("real", "fake")]
    yield (
        f"{able} of {counted(len(rows), 'evaluator')} told fakes from reals (interval of d' above 0); "
        f"{leaning[0]} lean to real, {leaning[1]} to fake"
    )
    for what, row in (("least", rows[-1]), ("most", rows[0])):
        yield (
            f"{what} sensitive: {row['evaluator']} of {', '.join(row['models'])}: "
            f"d' {row['d_prime']:.2f}{_brackets(row['d_prime_ci'], 2)}, "
            f"c {row['criterion']:.2f}{_brackets(row['criterion_ci'], 2)}"
        )


def _difficulties(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many pictures need more evaluators, and of each side the hardest and the easiest picture."""
    rows = found["crossed_model"] and found["crossed_model"]["by_picture"]
    if not rows:
        return
    needing = sum(row["needs_evaluators"] for row in rows)
    yield (
        f"{needing:,} of {len(rows):,} images need more evaluators: the interval includes 50% and is wider "
        f"than {100 * UNDECIDED_WIDTH:.0f} points"
    )
    for side, group in groupby(rows, lambda row: f"fakes of {row['model']}" if row["generated"] else "reals"):
        mine = [*group]
        needing = sum(row["needs_evaluators"] for row in mine)
        yield (
            f"{side}: {needing:,} of {len(mine):,} need more; hardest {_difficulty(mine[0])}, "
            f"easiest {_difficulty(mine[-1])}"
        )


def _difficulty(row: Mapping[str, Any]) -> str:
    ci = [100 * end for end in row["called_fake_ci"]]
    return f"{row['image_path']} called fake by {100 * row['called_fake']:.0f}%{_brackets(ci, 0)}"


def _leaning(ci: Sequence[float] | None) -> str:
    if ci is None or ci[0] <= 0 <= ci[1]:
        return "no leaning shown"
    return f"leaning to {'real' if ci[0] > 0 else 'fake'}"


def _between(found: Mapping[str, Any]) -> Iterator[str]:
    if found["anova_note"] is None:
        return
    effects, spread, welch = found["effects"], found["equal_spread"], found["welch"]
    if effects:
        yield f"eta squared {effects['eta_squared']:.3f}, omega squared {effects['omega_squared']:.3f}"
    yield f"ANOVA: {found['anova_note']}"
    if spread:
        advised = {"tukey": "Tukey's pairs hold", "games_howell": "read the pairs of Games and Howell"}
        yield (f"equal variances (Brown-Forsythe): {_f(spread)}; {advised[found['pairs_advised']]}")
    if welch:
        yield f"Welch's ANOVA: {_f(welch)}"
    if found["pairs_advised"] == "games_howell":
        for pair in found["games_howell"]:
            yield (
                f"{pair['a']} - {pair['b']}: {pair['difference']:.1f}{_brackets(pair['ci'])}, "
                f"Games-Howell {p_text(pair['p'])}"
            )


def _effects(found: Mapping[str, Any]) -> Iterator[str]:
    for pair in found["pair_effects"]:
        if pair["g"] is not None:
            yield f"{pair['a']} - {pair['b']}: {pair['g']:.2f}{_brackets(pair['g_ci'], 2)}"


def _progress(found: Mapping[str, Any], unit: str) -> Iterator[str]:
    for line in found["progress"]:
        points = (f"{point['score']:.1f}{unit} at {point['at']:g}" for point in line["points"])
        yield f"{line['model']}: {', '.join(points)}"


def _classes(found: Mapping[str, Any], unit: str) -> Iterator[str]:
    for row in found["classes"]:
        models = (f"{one['model']} {one['score']:.1f}{unit}{_brackets(_ci(one))}" for one in row["models"])
        yield f"{row['class']}: {', '.join(models)}"


def _reliability(found: Mapping[str, Any]) -> Iterator[str]:
    parts = [("of models' scores", found["reliability"])]
    parts += [(f"of images of {row['model']}", row.get("image_reliability")) for row in found["models"]]
    for what, reliability in parts:
        if reliability:
            full = "none" if reliability["full"] is None else f"{reliability['full']:.2f}"
            yield f"{what}: {full} (between halves {reliability['half']:.2f})"


def _end_of_model(images: Sequence[Mapping[str, Any]], start: int) -> int:
    model = images[start]["model"]
    return bisect_left(images, True, start, key=lambda image: image["model"] != model)


def _images(found: Mapping[str, Any]) -> Iterator[str]:
    images, start = found["images"], 0
    first: dict[str, list[Mapping[str, Any]]] = {row["model"]: [] for row in found["models"]}
    while start < len(images):  # images are grouped by model, fakes first
        model = images[start]["model"]
        stop = _end_of_model(images, start)
        first[model] = [image for image in images[start : min(start + _FEW, stop)] if image["generated"]]
        start = stop
    for row in found["models"]:
        for image in first[row["model"]]:
            guesses = image["number_guesses"]
            fooled = f"taken for real by {guesses - image['number_guesses_generated']} of {guesses}"
            yield f"{row['model']}: {image['image_path']} {fooled}"


def _evaluators(found: Mapping[str, Any], said: str) -> Iterator[str]:
    """Yield the evaluators who may have guessed or not looked; nobody is excluded from the scores."""
    notified = sum(row["same_answer_notices"] > 0 for row in found["evaluators"])
    if notified:
        yield (
            f"{notified} of {len(found['evaluators'])} were shown a notice of a run of equal answers "
            "(same_answer_notice)"
        )
    for row in found["evaluators"]:
        signs = []
        if row["fast"] is not None and row["fast"] > 0.1:
            signs.append(f"{100 * row['fast']:.0f}% of answers too fast")
        if row["z"] is not None and abs(row["z"]) > 3:
            signs.append(f"value {row['z']:+.1f} SD from the other evaluators")
        if row[said] in (0.0, 1.0):
            signs.append("the same answer to every image")
        if signs:
            yield f"{row['evaluator']} of {row['model']}: {'; '.join(signs)} (included in the scores)"


def _attention(found: Mapping[str, Any], level: str) -> Iterator[str]:
    checks = found["attention"]
    if not checks:
        return
    ci = _brackets([100 * end for end in checks["ci"]]) if checks["ci"] else ""
    yield (
        f"{100 * checks['share']:.1f}%{ci} right on average over {counted(checks['people'], 'evaluator')} "
        f"({checks['right']} of {checks['shown']} checks; {level} interval over evaluators)"
    )
    yield (
        f"all right: {checks['all_right']} of {checks['people']}, "
        f"{level} interval{_brackets([100 * end for end in checks['all_right_ci']])}%"
    )


def _browsers(found: Mapping[str, Any], unit: str) -> Iterator[str]:
    """Yield differences in score by browser engine, and shares of mistimed flashes."""
    browsers = found["browsers"] or {"engines": [], "test": None}
    for row in browsers["engines"]:
        against = (
            f", {row['difference']:+.1f}{unit}{_brackets(row['ci'])} against the others" if row["ci"] else ""
        )
        yield f"{row['browser'] or 'not known'}: {counted(row['evaluators'], 'evaluator')}{against}"
        if row["evidence"]:
            yield f"  shown times by {', '.join(f'{word} {x:.0%}' for word, x in row['evidence'].items())}"
    if test := browsers["test"]:
        yield f"do browsers differ, the models being equal? {_f(test)}"
    for row in found["mistimed"] or []:
        yield f"{row['browser'] or 'not known'}: {row['share']:.1%} of flashes mistimed and replaced"


def _attrition(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield dropout by model; for a responses file, a line that it is not known."""
    attrition = found["attrition"]
    if attrition is None:
        yield "not known: responses do not show who left; score the study itself, from its store"
        return
    for row in attrition["models"]:
        yield f"{row['model']}: {outcome(row)}"
    if attrition["before"]:
        yield f"before a model was drawn: {listed(attrition['before'])}"
    if test := attrition["test"]:
        how = "exact" if test["method"] == "exact" else f"{test['tables']:,} random tables"
        yield (
            f"do models lose evaluators at different rates? chi-squared({test['df']}) = "
            f"{test['statistic']:.2f}, {p_text(test['p'])} ({how})"
        )


def _ci(row: Mapping[str, Any]) -> Sequence[float] | None:
    return row["interval"] and row["interval"]["ci"]


def _f(test: Mapping[str, Any]) -> str:
    first, second = test["df"]
    return f"F({first:g}, {second:.4g}) = {test['F']:.2f}, {p_text(test['p'])}"


def _brackets(ci: Sequence[float | None] | None, digits: int = 1) -> str:
    if ci is None:
        return ""
    low, high = ("…" if end is None else f"{end:.{digits}f}" for end in ci)
    return f" [{low}, {high}]"


def _ms(value: float | None, ci: Sequence[float | None] | None) -> str:
    return "no exposure shown" if value is None else f"{value:.0f} ms{_brackets(ci, 0)}"


def _fit(p: float | None) -> str:
    return "" if p is None else f", goodness of fit {p_text(p)}"
