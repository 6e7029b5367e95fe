"""What is asked after an answer: confidence, marks, reasons, comments."""

from backend.experiment.setting_errors import invalid_setting
from backend.experiment.setting_groups import Group, setting
from backend.foundation.errors import brief
from backend.foundation.frozen import dataclass

NONE, OPTIONAL, REQUIRED = "none", "optional", "required"
SLIDER, AFTER, WITH, CLICK, BOX, ALL = "slider", "after", "with", "click", "box", "all"
MOST_POINTS, SLIDER_POINTS = 7, 101
"""Points of confidence at most, and the values from 0 to 100 of a slider."""
_ANSWERS_ASKED = ("fake", "real")
_MOST_REASONS, _LONGEST_REASON = 12, 80
BETWEEN_REASONS = "|"


def _check_reasons(reasons: tuple[str, ...]) -> None:
    if len(reasons) > _MOST_REASONS:
        raise invalid_setting(f"reasons must be at most {_MOST_REASONS}, not {len(reasons)}", "reasons")
    for reason in reasons:
        is_line = reason.isprintable() and reason == reason.strip() and BETWEEN_REASONS not in reason
        if not is_line or not 1 <= len(reason) <= _LONGEST_REASON:
            raise invalid_setting(
                f"reasons must be of 1 to {_LONGEST_REASON} printable characters each, without "
                f"{BETWEEN_REASONS}, not {brief(reason)}",
                "reasons",
            )
    if twice := [reason for i, reason in enumerate(reasons) if reason in reasons[:i]]:
        raise invalid_setting(
            f"reasons must differ from each other; {brief(twice[0])} is there twice", "reasons"
        )


@dataclass(frozen=True)
class FollowUpSettings(Group):
    """What evaluators are asked besides the judgment itself, after it or (confidence) with it."""

    confidence: str = setting(
        "none",
        "how sure evaluators are of each answer: `none` (not asked), a number of points from `2` to `7`, or "
        "`slider` (0 to 100)",
        choices=(NONE, *map(str, range(2, MOST_POINTS + 1)), SLIDER),
        label="Confidence in each answer",
        choice_labels=(
            "not asked",
            "2 points",
            "3 points",
            "4 points",
            "5 points",
            "6 points",
            "7 points",
            "slider, 0 to 100",
        ),
        meaning=("How sure evaluators are of each answer: by a number of points, or by a slider."),
    )
    confidence_when: str = setting(
        "after",
        "`after`: asked once the answer is given; `with`: one press gives answer and confidence, by a row of "
        "points for each answer",
        choices=(AFTER, WITH),
        label="When confidence is asked",
        choice_labels=("after the answer", "with the answer"),
        meaning=(
            "After the answer is given; or with it: one press gives answer and confidence, by a row "
            "of points for each answer."
        ),
    )
    reasons: tuple[str, ...] = setting(
        (),
        "reasons that evaluators can choose for an answer, several or none: 1 to 12, separated by vertical "
        "bars (in a study.toml, a list); `none`: not asked",
        meaning=(
            "Reasons that evaluators can choose for an answer, several or none: 1 to 12, separated by "
            "vertical bars. Empty: not asked."
        ),
        label="Reasons to choose from",
    )
    reasons_for: str = setting(
        "fake",
        "answers after which reasons and comment are asked: `fake`, `real` or `all`",
        choices=(*_ANSWERS_ASKED, ALL),
        label="Answers after which reasons are asked",
        choice_labels=("fake", "real", "every answer"),
        meaning="Answers after which reasons and comment are asked.",
    )
    comment: str = setting(
        "none",
        "a comment in the evaluator's own words: `none`, `optional` or `required`",
        choices=(NONE, OPTIONAL, REQUIRED),
        label="Comment",
        choice_labels=("not asked", "optional", "required"),
        meaning="A comment in the evaluator's own words.",
    )
    mark: str = setting(
        "none",
        "where a picture that was called fake looks so: `none` (not asked), `click` (a point) or `box`; only "
        "without a time limit",
        choices=(NONE, CLICK, BOX),
        label="Marks where a picture looks fake",
        choice_labels=("not asked", "a point", "a box"),
        meaning="Where a picture that was called fake looks so; only without a time limit.",
    )
    mark_needed: str = setting(
        "optional",
        "`optional`: evaluators may mark no particular position; `required`: each has to mark one",
        choices=(OPTIONAL, REQUIRED),
        label="Whether a mark is needed",
        choice_labels=("optional", "required"),
        meaning="Whether evaluators may mark no particular place, or have to mark one.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_reasons(self.reasons)
        if self.confidence_when == WITH and self.confidence in (NONE, SLIDER):
            raise invalid_setting(
                f"confidence_when=with goes with 2 to {MOST_POINTS} points of confidence, not with "
                f"confidence={self.confidence}",
                "confidence_when",
                "confidence",
            )

    @property
    def confidence_points(self) -> int:
        """Number of values that confidence can take; 0 if it is not asked."""
        named = {NONE: 0, SLIDER: SLIDER_POINTS}
        return named[self.confidence] if self.confidence in named else int(self.confidence)

    @property
    def is_asking(self) -> bool:
        """Whether anything is asked besides the judgment."""
        return bool(self.reasons) or {self.confidence, self.comment, self.mark} != {NONE}
