"""Planned looks: when a study is analysed while it runs, and what ends it."""

from collections.abc import Sequence

from backend.experiment.planned_looks import APART, OBRIEN_FLEMING, SPENDINGS, PlannedLooks, aim_of
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.setting_groups import Group, setting
from backend.foundation.errors import under
from backend.foundation.frozen import dataclass

LOOKS = ("looks", "aim", "spending", "looks_hide_scores")
"""These settings, which methods name whose scores are compared at looks (`Method.takes`)."""


@dataclass(frozen=True)
class LookSettings(Group):
    """The plan of looks, which is fixed at the first real evaluator; none by default."""

    looks: tuple[int, ...] = setting(
        (),
        "planned looks: finished evaluators of each model at which the study is analysed, and may stop, "
        "such as `15,20,25,30`; the last is `evaluators`; empty: none; not with designs `between`",
        by_method=True,
        label="Planned looks",
        asked=13,
        meaning=(
            "Evaluators of each model at which the study is analysed, and may stop, such as 15,20,25,30. "
            "The last is the number of evaluators. Empty: everybody takes part."
        ),
    )
    aim: str = setting(
        APART,
        "when the study stops at a look: `apart`, `apart=neighbours`, `apart=MODEL`, `ranks=R`, "
        "`half-width=H`, "
        "`equal-within=M` or `futility=D`, numbers in the score's unit",
        by_method=True,
        label="What ends the study at a look",
        meaning=(
            "apart: all pairs of models differ significantly (or, after an equals sign, neighbours in the "
            "order of scores, or one model and the others). With an equals sign and a number: half-width, of "
            "every interval; equal-within, all pairs are shown to be equal by that margin; futility, as "
            "apart, or such a difference would hardly be found any more."
        ),
    )
    spending: str = setting(
        OBRIEN_FLEMING,
        "how the error is spread over the looks: `obrien-fleming`, `obrien-fleming-whole` or `pocock`",
        by_method=True,
        choices=SPENDINGS,
        choice_labels=("O’Brien-Fleming, each side", "O’Brien-Fleming, the whole level", "Pocock"),
        label="How the error is spread over the looks",
        meaning="How much of the 5% error may be spent at early looks: little, or with Pocock much.",
    )

    looks_hide_scores: bool = setting(
        False,
        "scores of real sessions are shown only once a look has ended the study; before, its decided looks",
        by_method=True,
        label="Scores hidden until a look ends the study",
        meaning="Until a look has ended the study, nobody sees scores, only what decided looks found.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        with under("settings", "aim"):
            aim = aim_of(self.aim)
        if self.looks:
            with under("settings", "looks"):
                PlannedLooks(self.looks, aim, self.spending)
        elif self.aim != APART:
            raise invalid_setting("aim goes with looks, such as looks=15,20,25,30", "aim", "looks")

        if self.looks_hide_scores and not self.looks:
            raise invalid_setting(
                "looks_hide_scores goes with looks, such as looks=15,20,25,30", "looks_hide_scores", "looks"
            )

    @property
    def plan(self) -> PlannedLooks | None:
        return PlannedLooks(self.looks, aim_of(self.aim), self.spending) if self.looks else None

    def check_aim(self, models: Sequence[str], unit: str) -> None:
        """Raise InvalidInput if the plan's aim cannot be one of these models, whose scores have this unit."""
        if self.plan:
            with under("settings", "aim"):
                self.plan.aim.check(models, unit)
