"""What every column of an exported data set holds, in words, with its unit: one meaning a name.

The same sentences stand in `dataset_description.json` of an export and in docs/data.md.
"""

from dataclasses import dataclass

from backend.experiment.response_columns import COLUMNS as RESPONSES

EVALUATORS = (
    "study", "method", "session", "model", "evaluator", "simulated", "responses", "value", "accuracy",
    "fakes_error", "reals_error", "said_fake", "guessing_p", "rt_median_ms", "rt_total_ms", "fast",
    "same_answer_notices",
)  # fmt: skip
"""Columns of the table of evaluators; what compares an evaluator with others is the report's."""
IMAGES = (
    "model", "generated", "image_path", "number_guesses", "number_guesses_generated", "soft_label", "error",
    "class",
)  # fmt: skip
EVENTS = ("study", "session", "evaluator", "event", "trial", "attempt", "time", "at")


@dataclass(frozen=True)
class Column:
    """A column: what it holds, and the unit or the form of its cells."""

    description: str
    unit: str = "text"


COLUMNS = {
    "study": Column("Name of the study"),
    "method": Column("HYPE-infinity (no time limit) or HYPE-time (staircase of exposures)", "infinity, time"),
    "session": Column("One evaluator's visit"),
    "model": Column("Generative model that the session judges"),
    "evaluator": Column("Random pseudonym of the evaluator; no panel's id"),
    "simulated": Column(
        "Whether the session is simulated, so that nobody looked at the pictures", "true, false"
    ),
    "block": Column("Place of the block in the session", "whole number from 0"),
    "trial_index": Column("Place of the trial in the session", "whole number from 0"),
    "stimulus": Column("Public file name of the picture, which says nothing about it"),
    "class": Column("Class of the picture, where the study has classes"),
    "truth": Column("What the picture is", "real, fake"),
    "response": Column("What the evaluator took it for", "real, fake"),
    "exposure_ms": Column("Exposure that the staircase asked for (HYPE-time)", "ms"),
    "shown_ms": Column("Exposure as measured (HYPE-time)", "ms"),
    "frames": Column("Refreshes of the display for which the picture stood (HYPE-time)", "whole number"),
    "frame_ms": Column("Time between refreshes of the display", "ms"),
    "mask_ms": Column("How long each mask stood, as measured (HYPE-time)", "ms, separated by spaces"),
    "rt": Column("Response time, from when the question could be answered", "ms"),
    "flags": Column(
        "What was out of order during the trial, or came in between", "words, separated by spaces"
    ),
    "at": Column("When the server stored the answer", "UTC, ISO 8601"),
    "attempt": Column("Pictures of this trial that were replaced before this one", "whole number from 0"),
    "evidence": Column(
        "How the shown times were measured (HYPE-time)",
        "element, worker_element, worker_video, worker, callback",
    ),
    "lateness_ms": Column("Latest change of what is shown, after the start of its refresh (HYPE-time)", "ms"),
    "planned_frames": Column(
        "Refreshes planned for each number of the countdown, the picture and each mask (HYPE-time)",
        "whole numbers, separated by spaces",
    ),
    "achieved_frames": Column(
        "Refreshes for which each of them stood (HYPE-time)", "whole numbers, separated by spaces"
    ),
    "phase_ms": Column("How long each of them stood, as measured (HYPE-time)", "ms, separated by spaces"),
    "shown_css_px": Column("Width at which the pictures of the block were shown", "CSS px"),
    "shown_px": Column("The same in pixels of the display", "whole number"),
    "browser": Column(
        "Engine of the evaluator's browser; empty where it is not known", "Chromium, Firefox, WebKit"
    ),
    "responses": Column("Answers of the evaluator that count", "count"),
    "value": Column(
        "The evaluator's value: share of wrong answers (HYPE-infinity), or modal exposure, averaged over "
        "blocks (HYPE-time)",
        "percent, or ms",
    ),
    "accuracy": Column("Share of right answers", "0 to 1"),
    "fakes_error": Column("Share of fakes taken for real", "0 to 1"),
    "reals_error": Column("Share of reals taken for fake", "0 to 1"),
    "said_fake": Column("Share of pictures called fake", "0 to 1"),
    "guessing_p": Column("Chance of as many right answers or more by tossing a coin", "0 to 1"),
    "rt_median_ms": Column("Median response time", "ms"),
    "rt_total_ms": Column("Sum of response times", "ms"),
    "fast": Column("Share of answers within 300 ms", "0 to 1"),
    "same_answer_notices": Column(
        "Runs of equal answers of which the page told the evaluator (flag same_answer_notice)",
        "count",
    ),
    "generated": Column("Whether the picture was made by the model", "true, false"),
    "image_path": Column("Public file name of the picture, as in `stimulus`"),
    "number_guesses": Column("Answers that the picture got", "count"),
    "number_guesses_generated": Column("Answers that called it fake", "count"),
    "soft_label": Column("Share of answers that called it fake", "0 to 1"),
    "error": Column("Share of answers that were wrong", "0 to 1"),
    "event": Column(
        "What happened on the page besides answering; the last six are told by flags",
        "focus, blur, fullscreenenter, fullscreenexit, hidden, left_full_screen, display_changed, "
        "display_stalled, interrupted, same_answer_notice",
    ),
    "trial": Column("The trial during which it happened, as in `trial_index`", "whole number from 0"),
    "time": Column(
        "When it happened, from the opening of the page; empty where only the trial is known", "ms"
    ),
}

FILES = {
    "": (RESPONSES, "responses of finished sessions: the file to score"),
    "unfinished": (RESPONSES, "responses of sessions that broke off"),
    "replaced": (RESPONSES, "answers to mistimed flashes, in whose place others stand"),
    "evaluators": (EVALUATORS, "one row an evaluator, from the file to score"),
    "images": (IMAGES, "one row an image and model, from the file to score"),
    "events": (EVENTS, "what happened on the page besides answers, in all sessions"),
}
"""By description in the file's name: columns, and what a row is."""
