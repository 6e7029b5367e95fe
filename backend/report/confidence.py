"""Report section on confidence: how well it tells fakes from reals, and right answers from wrong ones."""

from collections.abc import Mapping
from typing import Any

from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Row, Section, Table
from backend.report.models import MOST_DESCRIBED, remaining_note

OVERALL = "all models"
_SHOWN_MODELS = 9
"""Maximum number of models in a figure; the tables have all models."""


def section(view: FindingsView) -> Section | None:
    """Return the section on confidence; None if evaluators were not asked how sure they were."""
    data = view.findings.get("confidence")
    if not data:
        return None
    rows = [dict(row) for row in data["models"]]
    if not rows:
        return Section("confidence", "Confidence", tuple(f"{note}." for note in data["notes"]))
    everything = [*rows, {"model": OVERALL, **data["overall"]}] if data["overall"] else rows
    figures = [_calibration(view, rows[:_SHOWN_MODELS], everything)]
    if any(row["curve"] for row in rows):
        figures.insert(0, _curves(view, rows[:_SHOWN_MODELS], everything))
    return Section(
        "confidence",
        "Confidence",
        (_meaning(data["scales"]),),
        model_notes=tuple((row["model"], _model_note(view, row)) for row in rows[:MOST_DESCRIBED]),
        more_paragraphs=remaining_note(len(rows)),
        tables=(_scores(view, everything), _calibration_errors(view, everything)),
        figures=tuple(figures),
        notes=(*(f"{formatting.capital(note)}." for note in data["notes"]), *_notes(view)),
    )


def _meaning(scales: list[Mapping[str, Any]]) -> str:
    named = [
        "a slider from 0 to 100" if row["points"] == 101 else f"{row['points']} points" for row in scales
    ]
    return (
        f"Evaluators said how sure they were, on {formatting.listing(named)}. The lowest confidence is read "
        "as a guess (50%), the highest as certainty (100%), and those between in equal steps; so read, it is "
        "held against the share of right answers. Overconfidence is the former less the latter."
    )


def _model_note(view: FindingsView, row: Row) -> str:
    parts = []
    if row["roc"]["area"] is not None:
        area, ci = row["roc"]["area"], row["roc"]["ci"]
        interval = f", {view.level} interval {_area_interval(ci)}" if ci else ""
        parts.append(
            f"in {formatting.share(area)} of pairs a fake was rated more surely fake than a real picture "
            f"(area {formatting.coefficient(area)}{interval})"
        )
    parts.append(
        f"evaluators were {formatting.share(row['probability'])} sure and {formatting.share(row['right'])} "
        f"right, {_calibrated(row['overconfidence'], row['overconfidence_ci'])}"
    )
    score, weighted = (formatting.amount(row[key], "percent") for key in ("score", "weighted_score"))
    parts.append(f"the error of {score} is {weighted} if answers count by how sure they were")
    return f"{'; '.join(parts)}."


def _area_interval(ci: list[float]) -> str:
    return f"{formatting.coefficient(ci[0])} to {formatting.coefficient(ci[1])}"


def _calibrated(over: float, ci: list[float] | None) -> str:
    points = formatting.amount(abs(100 * over), "points")
    if ci is None:
        return f"a difference of {points}, without interval"
    if ci[0] <= 0 <= ci[1]:
        ends = formatting.interval([100 * end for end in ci], "points")
        return f"neither over- nor underconfidence shown ({ends})"
    ends = formatting.interval(sorted(abs(100 * end) for end in ci), "points")
    return f"{'over' if over > 0 else 'under'}confident by {points} ({ends})"


def _share_with_ci(key: str, ci: str) -> Any:
    """Return a function that formats a share in percent, followed by its interval."""

    return lambda row: formatting.share_estimate(row[key], row[ci])


def _with_ci(key: str, ci: str) -> Any:
    return lambda row: formatting.estimate(row[key], row[ci])


def _scores(view: FindingsView, rows: list[dict[str, Any]]) -> Table:
    keys = ("model", "evaluators", "answers", "score", "score_ci", "weighted_score", "weighted_score_ci",
            "difference", "difference_ci", "brier", "brier_ci")  # fmt: skip
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("error (%)", _with_ci("score", "score_ci")),
        Column("weighted by confidence (%)", _with_ci("weighted_score", "weighted_score_ci")),
        Column("difference (points)", _with_ci("difference", "difference_ci")),
        Column("Brier score", lambda row: formatting.coefficient_estimate(row["brier"], row["brier_ci"], 3)),
        Column("answers", lambda row: f"{row['answers']:,}"),
    )
    flat = [{key: row[key] for key in keys} for row in rows]
    caption = f"Error, plain and weighted by confidence, with {view.level} intervals"
    return Table("confidence", caption, columns, flat, alone=view.alone)


def _calibration_errors(view: FindingsView, rows: list[dict[str, Any]]) -> Table:
    keys = ("model", "probability", "right", "overconfidence", "overconfidence_ci", "calibration_error")
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("confidence (%)", lambda row: formatting.amount(100 * row["probability"])),
        Column("right (%)", lambda row: formatting.amount(100 * row["right"])),
        Column("overconfidence (points)", _share_with_ci("overconfidence", "overconfidence_ci")),
        Column("calibration error (points)", lambda row: formatting.amount(100 * row["calibration_error"])),
    )
    caption = f"Confidence against the share of right answers, with {view.level} intervals"
    flat = [{key: row[key] for key in keys} for row in rows]
    return Table("overconfidence", caption, columns, flat, alone=view.alone)


def _areas(view: FindingsView, rows: list[dict[str, Any]]) -> Table:
    flat = [
        {
            "model": row["model"],
            **{
                f"{kind}_{key}": row[kind][key]
                for kind in ("roc", "type_2")
                for key in ("area", "ci", "own", "own_ci", "why")
            },
        }
        for row in rows
    ]

    def area(kind: str, key: str, ci: str) -> Any:
        return lambda row: formatting.coefficient_estimate(row[f"{kind}_{key}"], row[f"{kind}_{ci}"], 3)

    columns = [
        Column("model", lambda row: row["model"], is_number=False),
        Column("fakes from reals", area("roc", "area", "ci")),
        Column("the same, mean of evaluators", area("roc", "own", "own_ci")),
        Column("right from wrong", area("type_2", "area", "ci")),
        Column("the same, mean of evaluators", area("type_2", "own", "own_ci")),
    ]
    if any(row["roc_why"] or row["type_2_why"] for row in flat):
        columns.append(Column("remark", _remark, is_number=False))
    caption = f"Areas under the ROC curves of confidence, with {view.level} intervals"
    return Table("confidence_areas", caption, tuple(columns), flat, alone=view.alone)


def _remark(row: Row) -> str:
    texts = [
        f"{what}: {row[key]}"
        for what, key in (("fakes from reals", "roc_why"), ("right from wrong", "type_2_why"))
        if row[key]
    ]
    return "; ".join(texts)


def _curves(view: FindingsView, rows: list[dict[str, Any]], everything: list[dict[str, Any]]) -> Figure:
    drawn = [row for row in rows if row["curve"]]

    areas = ", ".join(f"{row['model']} {formatting.coefficient(row['roc']['area'])}" for row in drawn)
    return Figure(
        "roc",
        "ROC curves of confidence",
        "ROC curves: answers and confidence together rate pictures from surely real to surely fake; each "
        "point is a rating, counted as “fake” from there on. The dashed line is guessing.",
        f"Curves from lower left to upper right, with areas: {areas}.",
        lambda width_in: figures.confidence.curves(drawn, width_in),
        _areas(view, everything),
    )


def _calibration(view: FindingsView, rows: list[dict[str, Any]], everything: list[dict[str, Any]]) -> Figure:
    flat = [{"model": row["model"], **level} for row in everything for level in row["levels"]]
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("confidence", lambda row: row["level"], is_number=False),
        Column("read as", lambda row: formatting.share(row["probability"])),
        Column("answers", lambda row: f"{row['answers']:,}"),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column(f"right (%), {view.level} interval", _share_with_ci("right", "ci")),
    )
    caption = "Right answers by confidence"
    table = Table("calibration", caption, columns, flat, shown=120, alone=view.alone)

    ends = ", ".join(
        f"{row['model']} from {formatting.share(row['levels'][0]['right'])} to "
        f"{formatting.share(row['levels'][-1]['right'])}"
        for row in rows
    )
    return Figure(
        "calibration",
        "Calibration of confidence",
        "Calibration: the share of right answers by confidence (larger discs: more answers), with "
        f"{view.level} intervals. On the dashed line people are right as often as their "
        "confidence says; below it they are overconfident.",
        f"Right answers from the lowest to the highest confidence: {ends}.",
        lambda width_in: figures.confidence.calibration(rows, width_in),
        table,
    )


def _notes(view: FindingsView) -> tuple[str, ...]:
    return (
        "The area is the share of pairs of a fake and a real picture, of any two evaluators, in which the "
        "fake was rated more surely fake, ties counted half; its interval is Obuchowski’s, with the "
        "variance of shared pictures. The mean of evaluators compares each evaluator’s ratings with their "
        "own only. The second pair of areas is the same for the confidence of right and of wrong answers; it "
        "depends on how hard the pictures are.",
        "The weighted error is the sum of the confidences (50 to 100%) of wrong answers over that of all "
        "answers, averaged over evaluators; it is our own definition. The calibration error is the mean "
        "distance from the dashed line, which few answers make larger. The Brier score is the mean squared "
        "error of the probability that a picture is fake; saying 50% always gives .25. Intervals in this "
        f"section are over {view.sampled}.",
    )
