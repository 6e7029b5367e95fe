"""The stimuli of a session: how many, of which models and classes, and how they are shown."""

from backend.experiment.setting_errors import invalid_setting
from backend.experiment.setting_groups import Group, setting
from backend.foundation.frozen import dataclass

MOST_MODELS = 1000
"""Most models of a session; a method whose sessions show all models has this as its default."""
WITHIN, BETWEEN = "within", "between"
"""Whether an evaluator judges all classes of a study, or one; and at all its exposures, or at one."""
RANDOM_SAMPLING = "random"
ADAPTIVE_SAMPLING = ("least-seen", "uncertain")
"""Rules by which a part of a session's pictures is drawn."""
RANDOM_PAIRING, SOURCE_PAIRING = "random", "source"
"""Which stimuli stand side by side: any, or those of one source (`stimuli/partners.py`)."""
EXACT_BALANCE, CHANCE_BALANCE = "session", "people"
"""Unit within which half the stimuli are real: each block of a session, or a pair of evaluators."""

_SMALLEST_PX = 16


@dataclass(frozen=True)
class StimulusSettings(Group):
    """What is shown: number, design, size and format of the stimuli."""

    images: int = setting(
        100,
        "trials a block (`infinity`: a session): pictures, half of them real; pairs (`pair`, `tournament`, "
        "`jnd`) or triplets (`2afc`)",
        2,
        5000,
        label="Pictures that an evaluator judges",
        asked=2,
        fixes_evaluators=True,
        meaning=(
            "One session has so many: pictures, half of them real; in pairs, tournaments and comparisons "
            "so many pairs or triplets."
        ),
    )
    blocks: int = setting(
        1,
        "blocks a session; with `infinity` and classes, one block a class",
        1,
        50,
        fixes_evaluators=True,
        label="Blocks of a session",
    )
    class_design: str = setting(
        WITHIN,
        "with classes (sub-folders), `within`: each evaluator judges all of them, in blocks of their own, as "
        "in the workshop paper; `between`: each judges one, and `evaluators` are wanted for each class of "
        "each model, as in the main paper's study of ImageNet",
        choices=(WITHIN, BETWEEN),
        label="Classes of one evaluator",
        choice_labels=("all classes", "one class"),
        meaning=(
            "With classes of pictures: whether each evaluator judges all of them, in blocks of their "
            "own, as in the workshop paper, or one, as in the main paper's study of ImageNet; "
            "evaluators are then wanted for each class of each model."
        ),
    )
    models_per_session: int = setting(
        1,
        "models whose fakes one evaluator judges: 1, as in the papers, or several or all of the study's, in "
        "equal parts beside the same reals (with `time`, one model a block); `evaluators` are then those who "
        "judge each model",
        1,
        MOST_MODELS,
        label="Models that an evaluator judges",
    )
    balance: str = setting(
        "session",
        "`session`: exactly half of each block is real, as in the papers; `people`: each picture is real or "
        "fake by chance, so that counting does not help, and evaluators in pairs see half and half; with "
        "`pair`, the same of the side of the real picture",
        choices=(EXACT_BALANCE, CHANCE_BALANCE),
        label="Real and fake in balance",
        choice_labels=("exactly, in each block", "by chance, evaluators in pairs"),
        meaning=(
            "Exactly half of each block is real, as in the papers; or each picture is real or fake by "
            "chance, so that counting does not help, and evaluators in pairs see half and half. With "
            "pairs, the same of the side of the real picture."
        ),
    )
    spare_images: int = setting(
        20,
        "spare pictures that replace voided ones, half of them real; with `pair`, pairs",
        0,
        1000,
        label="Spare pictures",
        meaning=(
            "Spare pictures that replace voided ones, half of them real; in pairs of real and fake, "
            "spare pairs."
        ),
    )
    sampling: str = setting(
        RANDOM_SAMPLING,
        "how the pictures of a session are sampled: `random`; or, by what `openhype update-sampling` last "
        "found, `least-seen`: those with the fewest answers, `uncertain`: those that need more evaluators; "
        "of these two, scores use the random share alone (`infinity`)",
        choices=(RANDOM_SAMPLING, *ADAPTIVE_SAMPLING),
        meaning=(
            "How the pictures of a session are chosen: at random, or by need, as the study’s page last found "
            "it. By need, scores of HYPE-infinity use the share chosen at random alone."
        ),
        label="How pictures are chosen",
        choice_labels=("at random", "those with the fewest answers", "those that need more evaluators"),
    )
    random_sampling_share: float = setting(
        0.5,
        "with `sampling` other than `random`, share of each session's pictures sampled at random",
        0,
        1,
        label="Share chosen at random",
        meaning=(
            "Where pictures are not all chosen at random: the share of each session's pictures that "
            "is, 0 to 1."
        ),
    )
    size_px: int = setting(
        256,
        "width and height that pictures are brought to; `0`, with `2afc` and `jnd`: those that they have",
        0,
        2048,
        label="Width and height of pictures (px)",
        asked=5,
        fixed="the pictures were made at this size",
        meaning="Pictures of both sides are brought to this size.",
    )
    largest_css_px: int = setting(
        0,
        "largest width (CSS px) at which pictures are shown; 0: 512, and 768 for pictures of over 512 px",
        0,
        2048,
        label="Largest width on the screen (px)",
    )
    image_format: str = setting(
        "auto",
        "`webp`, `png`, `jpeg:QUALITY`, or `auto`: webp (lossless) up to 256 px, above jpeg:95",
        choices=("auto", "webp", "png", "jpeg:95"),
        is_open=True,
        fixed="the pictures were written in this format",
        label="File format of pictures",
        choice_labels=("automatic", "WebP, lossless", "PNG", "JPEG, quality 95"),
        meaning="Automatic: WebP (lossless) up to 256 px, above that JPEG of quality 95.",
    )
    pairing: str = setting(
        RANDOM_PAIRING,
        "what stands side by side: `random`, or `source`: files of the same name in the folders of all "
        "sides, such as a real clip and the fakes that were made from its first frame",
        choices=(RANDOM_PAIRING, SOURCE_PAIRING),
        by_method=True,
        label="What stands side by side",
        choice_labels=("any two, at random", "two of the same source, by their file names"),
        meaning=(
            "Any two of one class; or files of the same name in the folders of all sides, such as a real "
            "clip and the fakes that were made from its first frame."
        ),
        fixed="files were matched by their names when the study was made",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.size_px < _SMALLEST_PX:
            raise invalid_setting(
                f"size_px must be from {_SMALLEST_PX} to 2048, not {self.size_px}", "size_px"
            )
        if self.is_adaptive and not self.random_sampling_share:
            raise invalid_setting(
                f"with sampling={self.sampling}, random_sampling_share must be above 0, such as 0.5: scores "
                "use the random share alone",
                "random_sampling_share",
                "sampling",
            )

    @property
    def shown_at_most_css_px(self) -> int:
        """Largest width (CSS px) at which stimuli are shown, in a window of any size."""
        return self.largest_css_px or (512 if self.size_px <= 512 else 768)

    @property
    def is_half_real(self) -> bool:
        """Whether exactly half of each block is real."""
        return self.balance == EXACT_BALANCE

    @property
    def is_adaptive(self) -> bool:
        """Whether a part of each session's pictures is chosen by need."""
        return self.sampling != RANDOM_SAMPLING

    @property
    def is_by_source(self) -> bool:
        """Whether stimuli of one source stand side by side."""
        return self.pairing == SOURCE_PAIRING

    @property
    def trials(self) -> int:
        """Number of trials of a complete session."""
        return self.images * self.blocks
