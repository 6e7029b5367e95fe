"""Report section on constant stimuli: accuracy by exposure, thresholds, tests of exposures and of models."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.experiment.fixed_exposures import label
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import ALONE, Column, Figure, Row, Section, Table
from backend.report.exposures import functions_table
from backend.report.models import MOST_DESCRIBED, remaining_note

_SHOWN_MODELS = 9
"""Maximum number of panels of a figure; the tables have all models."""


def section(view: FindingsView) -> Section | None:
    """Return the section on fixed exposures; None for other methods."""
    if not view.has_fixed_exposures:
        return None
    models = view.models
    threshold = next((row["threshold"] for row in models if row["threshold"]), None)
    notes = [
        f"Accuracy is the share of right answers, averaged over evaluators, with the {view.level} interval "
        "of the scores. A model is told apart at an exposure if the whole interval is above 50%; fewer "
        "answers make wider intervals, so that a model that is not told apart may still be told by more "
        "evaluators. The intervals are those of single exposures.",
    ]
    if threshold:
        notes.append(
            "The function rises from 50% (guessing) to 1 less the lapse rate, as a logistic of log exposure, "
            "fitted to all answers with a time limit. The threshold is where it reaches "
            f"{formatting.share(threshold['at'])}; its interval is {ALONE}. Goodness of fit is the "
            "deviance against simulated data sets; a small p says that the function does not fit."
        )
    functions = {row["model"]: row["function"] for row in models if row.get("function")}
    accuracies = _accuracies(view, models)
    model_notes = tuple((row["model"], f"{apart(row)}.") for row in models)
    return Section(
        "exposures",
        "Accuracy by exposure",
        (
            "Every exposure was fixed beforehand and shown equally often. The longer people may look, the "
            "more of the pictures they judge right; a model is good if they need long, or never do better "
            "than guessing.",
        ),
        model_notes=model_notes[:MOST_DESCRIBED],
        more_paragraphs=remaining_note(len(models)),
        lead=accuracies,
        tables=(
            *([functions_table(functions, "answers")] if functions else []),
            _between_exposures(view, models),
            *([_between_models(view)] if len(models) > 1 else []),
        ),
        figures=(_figure(view, models[:_SHOWN_MODELS]),),
        notes=tuple(notes),
        brief=(accuracies, "\n".join(f"{model}: {text}" for model, text in model_notes)),
    )


def apart(row: Row) -> str:
    """Return in words from which exposure a model is told from real, and where its threshold is."""
    told, not_told, rows = row["told_from"], row["indistinguishable_up_to"], row["by_exposure"]
    if all(one["told_apart"] is None for one in rows):
        parts = ["one evaluator does not show how people differ"]
    elif not_told and not_told["exposure_ms"] == rows[-1]["exposure_ms"]:
        parts = ["not told from real at any exposure"]
    elif told and told["exposure_ms"] == rows[0]["exposure_ms"]:
        parts = ["told from real at every exposure"]
    else:
        parts = [f"not told from real up to {_exposure(not_told)}"] if not_told else []
        parts.append(f"told from {_exposure(told)}" if told else f"not told at {_exposure(rows[-1])}")
    if threshold := row["threshold"]:
        parts.append(f"{formatting.share(threshold['at'])} right {_at(threshold)}")
    return "; ".join(parts)


def _at(threshold: Mapping[str, Any]) -> str:
    """Return where a threshold is: `at 219 ms [180, 266]`, or `at or below 100 ms`."""
    if threshold["censored"] == "floor":
        return f"at or below {threshold['floor_ms']:g} ms"
    if threshold["censored"]:
        return f"at or above {threshold['ceiling_ms']:g} ms"
    return f"at {formatting.threshold(threshold, 'ms')}"


def _exposure(row: Row) -> str:
    """Return a fixed exposure with its unit: `50 ms`, or `unlimited`."""
    ms = row["exposure_ms"]
    return label(ms) if ms is None else f"{label(ms)} ms"


def _accuracies(view: FindingsView, models: Sequence[Row]) -> Table:
    rows = [{"model": row["model"], **one} for row in models for one in row["by_exposure"]]
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("exposure (ms)", lambda row: label(row["exposure_ms"])),
        Column("shown (ms)", lambda row: formatting.amount(row["shown_ms"])),
        Column("right (%)", lambda row: formatting.amount(row["accuracy"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"])),
        Column("fakes wrong (%)", lambda row: formatting.amount(row["fakes_error"])),
        Column("reals wrong (%)", lambda row: formatting.amount(row["reals_error"])),
        Column("told apart", lambda row: _yes(row["told_apart"]), is_number=False),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("answers", lambda row: f"{row['responses']:,}"),
    )
    caption = "Right answers by model and exposure"
    return Table("accuracy-by-exposure", caption, columns, rows, shown=60, alone=view.alone)


def _yes(value: bool | None) -> str:
    return formatting.NONE if value is None else "yes" if value else "no"


_PAIRS = (
    Column("less", lambda row: row["b"], is_number=False),
    Column("difference (points)", lambda row: formatting.amount(row["difference"])),
    Column("interval", lambda row: formatting.brackets(row["ci"])),
    Column("p", lambda row: formatting.bare_p(row["p"])),
)
"""Columns of a comparison of two; `a` stands before them."""


def _between_exposures(view: FindingsView, models: Sequence[Row]) -> Table:
    rows = [
        {"model": row["model"], "a": pair["b"], "b": pair["a"], **_turned(pair)}
        for row in models
        for pair in row["between_exposures"]["pairs"]
    ]
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("exposure (ms)", lambda row: row["a"], is_number=False),
        *_PAIRS,
    )
    caption = f"Accuracy of one exposure less that of another, {_test(models[0]['between_exposures'], view)}"
    return Table("exposure-pairs", caption, columns, rows, shown=60, alone="all")


def _between_models(view: FindingsView) -> Table:
    exposures = view.data["exposures"]
    rows = [
        {"exposure_ms": one["exposure_ms"], "a": pair["b"], "b": pair["a"], **_turned(pair)}
        for one in exposures
        for pair in one["pairs"]
    ]
    columns = (
        Column("exposure (ms)", lambda row: label(row["exposure_ms"])),
        Column("model", lambda row: row["a"], is_number=False),
        *_PAIRS,
    )
    caption = f"Accuracy on one model less that on another at each exposure, {_test(exposures[0], view)}"
    return Table("model-pairs-by-exposure", caption, columns, rows, shown=60, alone="all")


def _turned(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return a difference of accuracies, b less a, which is the difference of errors, a less b."""
    return {"difference": pair["difference"], "ci": pair["ci"], "p": pair["p"]}


def _test(tests: Mapping[str, Any], view: FindingsView) -> str:
    names = {
        "tukey": "by Tukey's test",
        "paired": "within evaluators (p by Holm, intervals by Bonferroni)",
        "clustered": "with evaluators as clusters (p by Holm, intervals by Bonferroni)",
    }
    return f"{names[tests['pairs_method']]}, with {view.level} intervals"


def _figure(view: FindingsView, models: Sequence[Row]) -> Figure:
    drawn = {row["model"]: {"points": row["by_exposure"], "function": row.get("function")} for row in models}

    return Figure(
        "accuracy-by-exposure",
        "Accuracy by exposure",
        f"Right answers at each exposure with {view.level} intervals, and the fitted function. The diamond "
        "is the threshold with its interval; the dashed line is guessing.",
        " ".join(_described(models)),
        lambda width_in: figures.constant_stimuli.accuracies(drawn, width_in),
        _accuracies(view, models),
    )


def _described(models: Sequence[Row]) -> Iterator[str]:
    for row in models:
        first, last = row["by_exposure"][0], row["by_exposure"][-1]
        yield (
            f"{row['model']}: {formatting.amount(first['accuracy'], 'percent')} right at {_exposure(first)}, "
            f"{formatting.amount(last['accuracy'], 'percent')} at {_exposure(last)}."
        )
