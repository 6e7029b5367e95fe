"""Who may take part, and through which panel."""

from backend.experiment import panel as panels
from backend.experiment.panel import PanelRecord
from backend.experiment.setting_groups import QUALIFICATIONS, Group, setting
from backend.foundation.frozen import dataclass


@dataclass(frozen=True)
class AdmissionSettings(Group):
    """Who is admitted, and how many."""

    panel: PanelRecord = setting(
        panels.LINK,
        "where evaluators come from: `link`, `private`, `prolific`, `connect`, `sona`, `mturk`, or a "
        "record in a file (`--panel FILE.toml`)",
        choices=tuple(panels.BUILT_IN),
        is_open=True,
        label="Where evaluators come from",
        asked=12,
        meaning="You send links yourself, or a panel recruits people.",
        choice_labels=(
            "a link for everybody",
            "a link for each person",
            "Prolific",
            "CloudResearch Connect",
            "Sona Systems",
            "Amazon Mechanical Turk",
        ),
    )
    evaluators: int = setting(
        30,
        "finished sessions wanted for each model; with `class_design=between`, for each of its classes",
        1,
        100000,
        label="Evaluators for each model",
        asked=1,
        meaning="How many people are to finish for each model.",
    )
    abandon_after_minutes: float = setting(
        60,
        "a session without a further answer for so long no longer keeps its participant slot",
        1,
        100000,
        label="Minutes of silence that free a participant slot",
    )
    begin_within_minutes: float = setting(
        10,
        "a session without its first answer for so long no longer keeps its participant slot; it "
        "may still continue, unless another has the slot",
        1,
        100000,
        label="Minutes for the first answer",
    )
    early_ends: float = setting(
        0.2,
        "sessions that may be closed early or withdrawn with pay before the study pauses itself, as a share "
        "of those wanted; at least one",
        0,
        100,
        label="Early ends before the study pauses",
    )
    repeat_visits: bool = setting(
        False,
        "let the same browser take part again (demos, not studies)",
        label="Several visits from one browser",
    )
    shared_computer: bool = setting(
        False,
        "several people take part at one computer, by a link that names nobody: let the next one begin",
        label="Several people at one computer",
    )
    qualification: str = setting(
        "",
        "name of the qualification that evaluators must have passed",
        label="Qualification that is needed",
    )
    pass_share: float = setting(
        0.65,
        "share of the reals, and of the fakes, right to pass; of the pairs, in a test of pairs",
        0,
        1,
        used_by=QUALIFICATIONS,
        label="Share right to pass",
    )
    valid_days: float = setting(
        365,
        "days for which a pass admits to studies",
        0.01,
        100000,
        used_by=QUALIFICATIONS,
        label="Days for which a pass is valid",
    )
    retakes: bool = setting(
        False,
        "let those who did not pass a qualification take it again",
        used_by=QUALIFICATIONS,
        label="Taking it again",
    )
    exclusive: bool = setting(
        True,
        "admit nobody who took part in another study of this data directory",
        label="Only people new to this server",
        meaning="Admit nobody who took part in another study of this server.",
    )
    also_admit: str = setting(
        "",
        "studies, separated by commas, whose evaluators an exclusive study admits nevertheless",
        label="Studies whose evaluators may come",
        meaning=("Studies, separated by commas, whose evaluators are admitted although only new people are."),
    )
