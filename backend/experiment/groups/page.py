"""What the page shows besides stimuli."""

from backend.experiment.setting_groups import Group, setting
from backend.foundation.frozen import dataclass


@dataclass(frozen=True)
class PageSettings(Group):
    """Instructions, a third answer, and feedback to evaluators on their answers."""

    builtin_instructions: bool = setting(
        True,
        "show the built-in instructions, after the study's own `[[pages]]` if any; false: only its own",
        meaning=(
            "Show the built-in instructions, after the study’s own pages if there are any; no: only its own."
        ),
        label="Built-in instructions",
    )
    not_sure: bool = setting(
        False,
        "evaluators can also answer that they are not sure; that counts as half an error, is paid as half a "
        "right answer, and its share is reported beside the score; not with `confidence`",
        by_method=True,
        meaning=(
            "Evaluators can also answer that they are not sure. That counts as half an error, is paid as "
            "half a right answer, and its share is reported beside the score; not with `confidence`."
        ),
        label="“Not sure” as an answer",
    )
    feedback: bool = setting(
        True,
        "show after each answer whether it was right; always true with a staircase, "
        "whose next exposure reveals it",
        shapes_flashes=True,
        label="Feedback after each answer",
    )
    feedback_ms: float = setting(
        700,
        "how long the feedback is shown",
        0,
        10000,
        shapes_flashes=True,
        label="Time of the feedback (ms)",
    )
    shortest_answer_ms: float = setting(
        300,
        "a press that begins sooner after the onset of the picture (of two in turn, the last) is ignored, "
        "and the next one counts; 0 for none",
        0,
        5000,
        label="Shortest answer (ms)",
    )
    same_answer_notice: int = setting(
        20,
        "equal answers in a row after which an evaluator is asked, once a block, to take a moment with each "
        "picture; 0 for never",
        0,
        5000,
        label="Equal answers before a reminder",
    )
    debrief: bool = setting(
        False,
        "at the end, show evaluators their result beside others', and what each of their pictures was; "
        "a person who returns, or hears of it, then knows pictures",
        label="Debriefing at the end",
    )
