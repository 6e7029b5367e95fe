"""Exposures, masks, and the displays that can show them."""

from backend.experiment import fixed_exposures
from backend.experiment.groups.stimuli import BETWEEN, WITHIN
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.setting_groups import FLASHES, Group, setting
from backend.experiment.staircase import NAMED_RULES, StaircaseRule
from backend.foundation.frozen import dataclass

MADE_MASKS = ("texture", "phase")
"""Kinds of masks that are generated from a study's own stimuli."""
OWN_MASKS = "own"
"""Kind of masks that the researcher supplied."""


@dataclass(frozen=True)
class TimingSettings(Group):
    """How stimuli are flashed."""

    staircase: StaircaseRule | None = setting(
        None,
        "rule of the exposures: `hype-2019`, `weighted-75`, or spelled out as "
        "`right_to_descend:3,down_ms:30,up_ms:10,start_ms:500,min_ms:100,max_ms:1000`",
        choices=tuple(NAMED_RULES),
        is_open=True,
        by_method=True,
        shapes_flashes=True,
        label="Rule of the exposures",
        choice_labels=("HYPE, 2019", "weighted steps, 75% right"),
        meaning=(
            "How exposures follow answers: that of HYPE (2019), or weighted steps that lead to 75% "
            "right answers."
        ),
    )
    exposures_ms: fixed_exposures.Exposures = setting(
        (),
        "1 to 20 fixed exposures, separated by commas, from 4 to 60000 ms each; `unlimited` is shown until "
        "it is answered; of two pictures that stand side by side it is that of both, and else that of each",
        by_method=True,
        shapes_flashes=True,
        label="Exposures (ms)",
        asked=4,
        meaning="How long pictures are shown, such as 50, 100, 200; each time equally often.",
    )
    exposure_design: str = setting(
        WITHIN,
        "with `exposures`, `within`: each evaluator sees all exposures in random order, each equally often; "
        "`between`: each sees one, and `evaluators` are wanted for each exposure of each model",
        choices=(WITHIN, BETWEEN),
        used_by=FLASHES,
        label="Exposures of one evaluator",
        choice_labels=("all of them", "one of them"),
        meaning=(
            "With fixed exposures: whether each evaluator sees all of them in random order, each "
            "equally often, or one; evaluators are then wanted for each exposure of each model."
        ),
    )
    exposure_steps: str = setting(
        "ms",
        "`ms`: exposures move by the rule's steps and the nearest refresh is shown, so that scores do not "
        "depend on the display; `frames`: they move in whole refreshes of the display",
        choices=("ms", "frames"),
        used_by=FLASHES,
        label="Unit of the steps",
        choice_labels=("milliseconds", "refreshes of the display"),
        meaning=(
            "Milliseconds: exposures move by the rule's steps and the nearest refresh is shown, so "
            "that scores do not depend on the display. Refreshes: they move in whole refreshes."
        ),
    )
    min_refresh_hz: float = setting(
        50,
        "slowest display that may show flashes",
        1,
        1000,
        used_by=FLASHES,
        label="Slowest display (Hz)",
    )
    max_refresh_hz: float = setting(
        1000,
        "fastest display that may show flashes",
        1,
        1000,
        used_by=FLASHES,
        label="Fastest display (Hz)",
    )
    full_screen: bool = setting(
        True,
        "show flashes in full screen, where the browser can",
        used_by=FLASHES,
        label="Full screen",
    )
    countdown_from: int = setting(
        3,
        "first number of the countdown before a flash",
        0,
        10,
        used_by=FLASHES,
        shapes_flashes=True,
        label="First number of the countdown",
    )
    countdown_ms: float = setting(
        500,
        "how long each number of the countdown is shown",
        50,
        5000,
        used_by=FLASHES,
        shapes_flashes=True,
        label="Time of each number (ms)",
    )
    masks: str = setting(
        "texture",
        "how masks are made from the pictures: `texture` (Portilla and Simoncelli) or `phase` (quick: "
        "scrambled phases); `own` is what a study with `--masks DIR` has",
        choices=MADE_MASKS,
        accepts=(*MADE_MASKS, OWN_MASKS),
        used_by=FLASHES,
        fixed="the masks were made like this",
        meaning=(
            "How masks are made from the pictures: as textures (Portilla and Simoncelli) or, quickly, by "
            "scrambling phases. Masks that are given with the pictures take their place."
        ),
        label="Kind of masks",
        choice_labels=("textures", "scrambled phases"),
    )
    mask_count: int = setting(
        4,
        "masks after a flash",
        0,
        20,
        used_by=FLASHES,
        shapes_flashes=True,
        label="Masks after a flash",
    )
    mask_ms: float = setting(
        30,
        "how long each mask is shown",
        4,
        1000,
        used_by=FLASHES,
        shapes_flashes=True,
        label="Time of each mask (ms)",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_refresh_hz > self.max_refresh_hz:
            raise invalid_setting(
                f"min_refresh_hz must not be above max_refresh_hz, "
                f"not {self.min_refresh_hz:g} and {self.max_refresh_hz:g}",
                "min_refresh_hz",
                "max_refresh_hz",
            )

    @property
    def steps_in_frames(self) -> bool:
        """Whether exposures change in whole refreshes of the evaluator's display."""
        return self.staircase is not None and self.exposure_steps == "frames"
