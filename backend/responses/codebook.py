"""Codebook of an exported data set: the meaning and unit of every column; a name has one meaning everywhere.

The same sentences are in `dataset_description.json` of an export and in docs/data.md.
"""

from collections.abc import Collection

from backend.experiment.judgment import Judgment
from backend.experiment.records import TRUTHS
from backend.experiment.response_columns import COLUMNS as RESPONSES
from backend.experiment.response_columns import Column

EVALUATORS = (
    "study", "method", "session", "model", "evaluator", "simulated", "responses", "value", "accuracy",
    "fakes_error", "reals_error", "said_fake", "not_sure", "guessing_p", "rt_median_ms", "rt_total_ms",
    "fast", "same_answer_notices", "language", "person_at_computer",
    "translated_before", "checks", "checks_right", "excluded",
)  # fmt: skip
"""Columns of the table of evaluators; comparisons with other evaluators are in the report only."""
IMAGES = (
    "model", "generated", "image_path", "number_guesses", "number_guesses_generated", "soft_label", "error",
    "class",
)  # fmt: skip
_REAL_OR_FAKE = {"fakes_error", "reals_error"}
"""Columns of the table of evaluators that only real or fake has."""
ITEMS = ("model", "item", "stimulus", "votes")
"""Columns of the table of items, before the counts of each vote."""
EVENTS = ("study", "session", "evaluator", "event", "trial", "attempt", "time", "at")


COLUMNS = {
    **RESPONSES,
    "responses": Column("Answers of the evaluator that count", "count"),
    "value": Column(
        "The evaluator's value: share of wrong answers (HYPE-infinity, constant stimuli), or modal exposure, "
        "averaged over blocks (HYPE-time)",
        "percent, or ms",
    ),
    "accuracy": Column("Share of right answers; here and below, `not_sure` counts as half of one", "0 to 1"),
    "fakes_error": Column("Share of fakes taken for real", "0 to 1"),
    "reals_error": Column("Share of reals taken for fake", "0 to 1"),
    "said_fake": Column("Share of pictures called fake", "0 to 1"),
    "not_sure": Column("Share of answers `not_sure`, in studies that allow it (`not_sure=true`)", "0 to 1"),
    "guessing_p": Column(
        "Chance of as many right answers or more by tossing a coin, answers `not_sure` left out", "0 to 1"
    ),
    "rt_median_ms": Column("Median response time", "ms"),
    "rt_total_ms": Column("Sum of response times", "ms"),
    "fast": Column("Share of answers within 300 ms", "0 to 1"),
    "same_answer_notices": Column(
        "Runs of equal answers for which the page showed a notice (flag same_answer_notice)",
        "count",
    ),
    "language": Column(
        "Language that the page was in, in studies whose evaluators choose it (`language=choose`)",
        "code of two letters",
    ),
    "person_at_computer": Column(
        "Which person it was at a computer where several take part (`shared_computer=true`), from 1", "count"
    ),
    "translated_before": Column(
        "What a machine had translated the page to when consent was given; empty if nothing was seen of it",
        "language (BCP 47), or unknown",
    ),
    "checks": Column("Attention checks that the evaluator answered", "count"),
    "checks_right": Column("Attention checks that were answered right", "count"),
    "generated": Column("Whether the picture was made by the model", "true, false"),
    "image_path": Column("Public file name of the picture, as in `stimulus`"),
    "number_guesses": Column("Answers that the picture got", "count"),
    "number_guesses_generated": Column("Answers that called it fake; `not_sure` is half of one", "count"),
    "soft_label": Column("Share of answers that called it fake", "0 to 1"),
    "error": Column("Share of answers that were wrong", "0 to 1"),
    "event": Column(
        "What happened on the page besides answering; the last eight follow from flags",
        "focus, blur, fullscreenenter, fullscreenexit, hidden, left_full_screen, resized, not_whole, "
        "display_changed, display_stalled, interrupted, same_answer_notice",
    ),
    "trial": Column("The trial during which it happened, as in `trial_index`", "whole number from 0"),
    "time": Column(
        "When it happened, from the opening of the page; empty where only the trial is known", "ms"
    ),
}

FILES: dict[str, tuple[Collection[str], str]] = {
    "": (RESPONSES, "responses of finished sessions: the file to score"),
    "unfinished": (RESPONSES, "responses of sessions that broke off"),
    "replaced": (RESPONSES, "answers to mistimed flashes, which were replaced, and to pictures shown again"),
    "evaluators": (EVALUATORS, "one row an evaluator, from the file to score"),
    "images": (IMAGES, "one row an image and model, from the file to score"),
    "events": (EVENTS, "what happened on the page besides answers, in all sessions"),
}
"""The columns and contents of each file of real or fake, by the description in its name."""
_VOTES = "one row for each pair or triplet that was judged, from the file to score"


def files_of(judgment: Judgment) -> dict[str, tuple[Collection[str], str]]:
    files = dict(FILES)
    if judgment.answers == TRUTHS:
        return files
    del files["images"]
    said = f"said_{judgment.answers[1]}"
    evaluators = [said if name == "said_fake" else name for name in EVALUATORS if name not in _REAL_OR_FAKE]
    if not judgment.has_truth:
        evaluators = [name for name in evaluators if name not in ("accuracy", "guessing_p")]
    files["evaluators"] = (evaluators, FILES["evaluators"][1])
    if judgment.votes:
        votes = [f"votes_{word}" for word in judgment.votes]
        shown = [name for name in ITEMS if name != "item" or judgment.has_items]
        files["items"] = ([*shown, *votes], _VOTES)
    return files


def columns_of(judgment: Judgment) -> dict[str, Column]:
    """Return the meaning of every column in the files of a judgment."""
    if judgment.answers == TRUTHS:
        return {**COLUMNS, **judgment.columns}
    second = judgment.answers[1]
    return {
        **COLUMNS,
        "value": Column(f"The evaluator's value: {_value(judgment)}", "percent"),
        f"said_{second}": Column(f"Share of answers that were {second}", "0 to 1"),
        **judgment.columns,
        "votes": Column("Answers that count", "count"),
        **{f"votes_{word}": Column(f"Those for {word}", "count") for word in judgment.votes},
    }


def _value(judgment: Judgment) -> str:
    """Return what a judgment's score is, such as `share of pairs judged wrong`."""
    (method, *_) = judgment.methods.values()
    return method.score.partition(", ")[2] or method.score
