"""The protocol: every number of the experiment, in one record stored with the study that uses it.

Defaults are those of the papers (HYPE, Zhou et al. 2019: sections 2.1 to 2.3). Each setting is declared here,
or by the judgment that brings it (`Protocol.judgment`); `settings.py` has them by name.
"""

import dataclasses
import re
from dataclasses import fields
from typing import Any, Self

from backend.experiment import fixed_exposures, languages, money
from backend.experiment import panel as panels
from backend.experiment.panel import PanelRecord
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.setting_groups import FLASHES, QUALIFICATIONS, Group, JudgmentSettings
from backend.experiment.setting_groups import setting as _setting
from backend.experiment.staircase import NAMED_RULES, StaircaseRule
from backend.foundation.errors import brief, under
from backend.foundation.frozen import dataclass

MADE_MASKS = ("texture", "phase")
"""Kinds of masks that are generated from a study's own stimuli."""
OWN_MASKS = "own"
"""Kind of masks that the researcher supplied."""

_LONGEST_CONTACT = 200
_SMALLEST_PX = 16
_A_SECOND_MS = 1000

_CONSENT = """\
You are invited to take part in a study of {about}.

You will see {task}. You do not need to know anything beforehand.

We keep your answers, how long they took, whether you left this page meanwhile, and technical details about \
your screen. We do not ask for your name. The answers are used for research and may be published \
without anything that points to you.

Taking part is voluntary. You can stop at any time by closing this page. You are given a link with which \
you can withdraw, then or later: your answers are deleted, and what you earned is paid all the same."""


def consent(task: str, about: str = "how realistic computer-made pictures look") -> str:
    """Return the consent text of a method whose evaluators see, and do, what `task` says."""
    return _CONSENT.format(about=about, task=task)


MOST_MODELS = 1000
"""Most models of a session; a method whose sessions show all models has this as its default."""
WITHIN, BETWEEN = "within", "between"
"""Whether an evaluator judges all classes of a study, or one; and at all its exposures, or at one."""
RANDOM_DRAW = "random"
DRAWS_BY_NEED = ("least-seen", "uncertain")
"""Rules by which a part of a session's pictures is drawn."""
EXACT_BALANCE, CHANCE_BALANCE = "session", "people"
"""Unit within which half the stimuli are real: each block of a session, or a pair of evaluators."""

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


def _check_contact(contact: str) -> None:
    is_line = contact.isprintable() and contact == contact.strip() and len(contact) <= _LONGEST_CONTACT
    if not is_line or ("://" in contact and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", contact)):
        raise invalid_setting(
            f"contact must be an e-mail address, a URL as https://lab.example/faces, or a line of at most "
            f"{_LONGEST_CONTACT} characters, not {contact!r}",
            "contact",
        )


@dataclass(frozen=True)
class StimulusSettings(Group):
    """What is shown: number, design, size and format of the stimuli."""

    images: int = _setting(
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
    blocks: int = _setting(
        1,
        "blocks a session; with `infinity` and classes, one block a class",
        1,
        50,
        fixes_evaluators=True,
        label="Blocks of a session",
    )
    class_design: str = _setting(
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
    models_per_session: int = _setting(
        1,
        "models whose fakes one evaluator judges: 1, as in the papers, or several or all of the study's, in "
        "equal parts beside the same reals (with `time`, one model a block); `evaluators` are then those who "
        "judge each model",
        1,
        MOST_MODELS,
        label="Models that an evaluator judges",
    )
    balance: str = _setting(
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
    spare_images: int = _setting(
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
    draw: str = _setting(
        RANDOM_DRAW,
        "how the pictures of a session are sampled: `random`; or, by what `openhype draw` last found, "
        "`least-seen`: those with the fewest answers, `uncertain`: those that need more evaluators; of "
        "these two, scores use the random share alone (`infinity`)",
        choices=(RANDOM_DRAW, *DRAWS_BY_NEED),
        meaning=(
            "How the pictures of a session are chosen: at random, or by need, as the study’s page last found "
            "it. By need, scores of HYPE-infinity use the share chosen at random alone."
        ),
        label="How pictures are chosen",
        choice_labels=("at random", "those with the fewest answers", "those that need more evaluators"),
    )
    draw_random_share: float = _setting(
        0.5,
        "with `draw` other than `random`, share of each session's pictures sampled at random",
        0,
        1,
        label="Share chosen at random",
        meaning=(
            "Where pictures are not all chosen at random: the share of each session's pictures that "
            "is, 0 to 1."
        ),
    )
    size_px: int = _setting(
        256,
        "width and height that pictures are brought to; `0`, with `2afc` and `jnd`: those that they have",
        0,
        2048,
        label="Width and height of pictures (px)",
        asked=5,
        fixed="the pictures were made at this size",
        meaning="Pictures of both sides are brought to this size.",
    )
    largest_css_px: int = _setting(
        0,
        "largest width (CSS px) at which pictures are shown; 0: 512, and 768 for pictures of over 512 px",
        0,
        2048,
        label="Largest width on the screen (px)",
    )
    image_format: str = _setting(
        "auto",
        "`webp`, `png`, `jpeg:QUALITY`, or `auto`: webp (lossless) up to 256 px, above jpeg:95",
        choices=("auto", "webp", "png", "jpeg:95"),
        is_open=True,
        fixed="the pictures were written in this format",
        label="File format of pictures",
        choice_labels=("automatic", "WebP, lossless", "PNG", "JPEG, quality 95"),
        meaning="Automatic: WebP (lossless) up to 256 px, above that JPEG of quality 95.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.size_px < _SMALLEST_PX:
            raise invalid_setting(
                f"size_px must be from {_SMALLEST_PX} to 2048, not {self.size_px}", "size_px"
            )
        if self.draws_by_need and not self.draw_random_share:
            raise invalid_setting(
                f"with draw={self.draw}, draw_random_share must be above 0, such as 0.5: scores use the "
                "random share alone",
                "draw_random_share",
                "draw",
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
    def draws_by_need(self) -> bool:
        """Whether a part of each session's pictures is drawn by a rule."""
        return self.draw != RANDOM_DRAW

    @property
    def trials(self) -> int:
        """Number of trials of a complete session."""
        return self.images * self.blocks


@dataclass(frozen=True)
class UnscoredSettings(Group):
    """Trials that are shown to evaluators but not scored: practice and attention checks."""

    practice_images: int = _setting(
        0,
        "practice pictures before the first block, half of them real, always with feedback; neither scored "
        "nor paid by answer; from `--practice DIR`, or set aside from the study's pictures",
        0,
        200,
        meaning=(
            "Pictures of the practice before the first block, half of them real, always with feedback; "
            "neither scored nor paid by answer. They are the study’s practice pictures, or are set aside "
            "from its others."
        ),
        label="Practice pictures",
    )
    picture_checks: int = _setting(
        0,
        "attention checks a session by pictures of `--checks DIR`, whose truth is beyond doubt, half of them "
        "real; among the scored pictures and not scored; not with `time`",
        0,
        200,
        meaning=(
            "Attention checks in a session by pictures whose truth is beyond doubt, half of them real. "
            "They stand among the scored pictures and are not scored; HYPE-time has none."
        ),
        label="Attention checks by pictures",
    )
    instructed_checks: int = _setting(
        0,
        "attention checks a session by an instruction, which says which answer to give, half of them real",
        0,
        200,
        label="Attention checks by instructions",
    )

    @property
    def checks(self) -> int:
        """Number of attention checks of a session."""
        return self.picture_checks + self.instructed_checks


@dataclass(frozen=True)
class ExclusionSettings(Group):
    """The rule by which evaluators are left out of the primary scores; scores without it stand beside."""

    exclude_checks_below: float = _setting(
        0,
        "leave out of the primary scores who gets a smaller share of the attention checks right",
        0,
        1,
        label="Least share of attention checks answered right",
    )
    exclude_faster_ms: float = _setting(
        0,
        "leave out of the primary scores whose median response time is shorter",
        0,
        10000,
        label="Least median response time (ms)",
    )

    @property
    def is_declared(self) -> bool:
        """Whether there is a rule."""
        return self.exclude_checks_below > 0 or self.exclude_faster_ms > 0


@dataclass(frozen=True)
class TimingSettings(Group):
    """How stimuli are flashed."""

    staircase: StaircaseRule | None = _setting(
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
    exposures_ms: fixed_exposures.Exposures = _setting(
        (),
        "1 to 20 fixed exposures, separated by commas, from 4 to 60000 ms each; `unlimited` is shown until "
        "it is answered; of two pictures that stand side by side it is that of both, and else that of each",
        by_method=True,
        shapes_flashes=True,
        label="Exposures (ms)",
        asked=4,
        meaning="How long pictures are shown, such as 50, 100, 200; each time equally often.",
    )
    exposure_design: str = _setting(
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
    exposure_steps: str = _setting(
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
    min_refresh_hz: float = _setting(
        50,
        "slowest display that may show flashes",
        1,
        1000,
        used_by=FLASHES,
        label="Slowest display (Hz)",
    )
    max_refresh_hz: float = _setting(
        1000,
        "fastest display that may show flashes",
        1,
        1000,
        used_by=FLASHES,
        label="Fastest display (Hz)",
    )
    full_screen: bool = _setting(
        True,
        "show flashes in full screen, where the browser can",
        used_by=FLASHES,
        label="Full screen",
    )
    countdown_from: int = _setting(
        3,
        "first number of the countdown before a flash",
        0,
        10,
        used_by=FLASHES,
        shapes_flashes=True,
        label="First number of the countdown",
    )
    countdown_ms: float = _setting(
        500,
        "how long each number of the countdown is shown",
        50,
        5000,
        used_by=FLASHES,
        shapes_flashes=True,
        label="Time of each number (ms)",
    )
    masks: str = _setting(
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
    mask_count: int = _setting(
        4,
        "masks after a flash",
        0,
        20,
        used_by=FLASHES,
        shapes_flashes=True,
        label="Masks after a flash",
    )
    mask_ms: float = _setting(
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


@dataclass(frozen=True)
class PageSettings(Group):
    """Instructions, a third answer, and feedback to evaluators on their answers."""

    builtin_instructions: bool = _setting(
        True,
        "show the built-in instructions, after the study's own `[[pages]]` if any; false: only its own",
        meaning=(
            "Show the built-in instructions, after the study’s own pages if there are any; no: only its own."
        ),
        label="Built-in instructions",
    )
    not_sure: bool = _setting(
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
    feedback: bool = _setting(
        True,
        "show after each answer whether it was right; always true with a staircase, "
        "whose next exposure reveals it",
        shapes_flashes=True,
        label="Feedback after each answer",
    )
    feedback_ms: float = _setting(
        700,
        "how long the feedback is shown",
        0,
        10000,
        shapes_flashes=True,
        label="Time of the feedback (ms)",
    )
    shortest_answer_ms: float = _setting(
        300,
        "a press that begins sooner after the onset of the picture (of two in turn, the last) is ignored, "
        "and the next one counts; 0 for none",
        0,
        5000,
        label="Shortest answer (ms)",
    )
    same_answer_notice: int = _setting(
        20,
        "equal answers in a row after which an evaluator is asked, once a block, to take a moment with each "
        "picture; 0 for never",
        0,
        5000,
        label="Equal answers before a reminder",
    )
    debrief: bool = _setting(
        False,
        "at the end, show evaluators their result beside others', and what each of their pictures was; "
        "a person who returns, or hears of it, then knows pictures",
        label="Debriefing at the end",
    )


@dataclass(frozen=True)
class FollowUpSettings(Group):
    """What evaluators are asked besides the judgment itself, after it or (confidence) with it."""

    confidence: str = _setting(
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
    confidence_when: str = _setting(
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
    reasons: tuple[str, ...] = _setting(
        (),
        "reasons that evaluators can choose for an answer, several or none: 1 to 12, separated by vertical "
        "bars (in a study.toml, a list); `none`: not asked",
        meaning=(
            "Reasons that evaluators can choose for an answer, several or none: 1 to 12, separated by "
            "vertical bars. Empty: not asked."
        ),
        label="Reasons to choose from",
    )
    reasons_for: str = _setting(
        "fake",
        "answers after which reasons and comment are asked: `fake`, `real` or `all`",
        choices=(*_ANSWERS_ASKED, ALL),
        label="Answers after which reasons are asked",
        choice_labels=("fake", "real", "every answer"),
        meaning="Answers after which reasons and comment are asked.",
    )
    comment: str = _setting(
        "none",
        "a comment in the evaluator's own words: `none`, `optional` or `required`",
        choices=(NONE, OPTIONAL, REQUIRED),
        label="Comment",
        choice_labels=("not asked", "optional", "required"),
        meaning="A comment in the evaluator's own words.",
    )
    mark: str = _setting(
        "none",
        "where a picture that was called fake looks so: `none` (not asked), `click` (a point) or `box`; only "
        "without a time limit",
        choices=(NONE, CLICK, BOX),
        label="Marks where a picture looks fake",
        choice_labels=("not asked", "a point", "a box"),
        meaning="Where a picture that was called fake looks so; only without a time limit.",
    )
    mark_needed: str = _setting(
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


@dataclass(frozen=True)
class PaySettings(Group):
    """What evaluators earn. Money in cents of the currency."""

    currency: str = _setting(
        "USD",
        "currency of all pay: `USD`, or `GBP`, whose cents are pence",
        choices=tuple(money.CURRENCIES),
        label="Currency",
        choice_labels=("US dollars", "pounds sterling"),
        meaning="Currency of all pay.",
    )
    base_usd_cents: int = _setting(
        0,
        "pay for taking part, whatever the answers; where the panel pays and nothing is set, 100 for a "
        "qualification",
        0,
        100000,
        label="Pay for taking part (cents)",
        asked=6,
        meaning="Who finishes gets it, whatever the answers.",
    )
    bonus_usd_cents: int = _setting(
        0,
        "pay for each right answer; where the panel pays and nothing is set, 2 for a study",
        0,
        1000,
        label="Pay for each right answer (cents)",
        asked=7,
        meaning="It comes on top of that.",
    )
    target_wage_usd_cents: int = _setting(
        1200,
        "wage an hour that the study aims at; `openhype status` warns where the median is lower",
        0,
        100000,
        meaning=(
            "Wage an hour that the study aims at, in cents; the study’s page warns where the median is lower."
        ),
        label="Wage aimed at (cents an hour)",
    )
    retainer_usd_cents: int = _setting(
        0,
        "pay for each minute of waiting to be called (`/wait/NAME`); 0: nobody waits",
        0,
        1000,
        label="Pay for waiting (cents a minute)",
        meaning="Pay for each minute of waiting to be called; 0: nobody waits.",
    )
    retainer_minutes: int = _setting(
        30,
        "minutes of waiting that one person is paid for at most",
        1,
        600,
        label="Minutes of waiting that are paid",
    )
    retainer_budget_usd_cents: int = _setting(
        2000,
        "maximum total pay for waiting",
        0,
        1000000,
        label="Pay for waiting in all (cents)",
    )

    def __post_init__(self) -> None:
        with under("settings", "currency"):
            money.currency(self.currency)
        super().__post_init__()

    @property
    def is_paid(self) -> bool:
        """Whether evaluators are paid for taking part or for right answers."""
        return self.base_usd_cents > 0 or self.bonus_usd_cents > 0


@dataclass(frozen=True)
class LanguageSettings(Group):
    """The language of all that evaluators read, and the researcher's own texts."""

    language: str = _setting(
        "en",
        "language of the page: `en`, `de`, `es`, `fr`, `pt`, `ja`, `zh` (simplified), `ar`; or `choose`: the "
        "evaluator's browser decides, and the first screen lets them choose another",
        choices=(*languages.LANGUAGES, languages.CHOOSE),
        label="Language",
        asked=11,
        meaning="All that evaluators read is in it.",
        choice_labels=(*languages.LANGUAGES.values(), "each evaluator chooses"),
    )
    texts: tuple[languages.OwnText, ...] = _setting(
        (),
        "texts that replace the page's own, by key: the table `[texts]` of a study.toml, or `@FILE` with "
        "such a table",
        meaning="Texts that replace the page's own: on each line a key, =, and the text.",
        label="Texts of your own",
    )

    def __post_init__(self) -> None:
        with under("settings", "language"):
            languages.check_language(self.language)
        super().__post_init__()


@dataclass(frozen=True)
class ConsentSettings(Group):
    """What evaluators consent to."""

    title: str = _setting(
        "",
        "title that evaluators see",
        label="Title that evaluators see",
        asked=10,
        meaning="It stands above the first page.",
    )
    consent_text: str = _setting(
        "",
        "text evaluators agree to, paragraphs separated by empty lines; `@FILE` takes it from a file",
        is_long=True,
        asked=13,
        meaning=(
            "Evaluators agree to it as it stands here, unless you change it; empty lines separate its "
            "paragraphs. Where each chooses a language it is in that; one of your own is the same for all."
        ),
        label="Consent text",
    )
    consent_version: str = _setting(
        "1",
        "version of the consent text, stored with each session",
        label="Version of the consent text",
    )
    contact: str = _setting(
        "",
        "whom evaluators can write to, shown at consent, errors and end: an e-mail address, a URL or a text",
        label="Whom evaluators can write to",
        asked=9,
        meaning=(
            "An e-mail address, a web address or a text; it stands at the consent, with errors and at "
            "the end."
        ),
    )
    minutes: float = _setting(
        10,
        "how long a session takes, as shown to evaluators",
        0.1,
        1000,
        label="Minutes that a session takes",
        asked=8,
        meaning="Evaluators read it before they begin, and the wage an hour follows from it.",
    )
    keep_days: float = _setting(
        0,
        "days after a session's end for which the panel's parameters and the facts of devices are "
        "stored; `openhype retention` then deletes them; 0 stores them as long as the study",
        0,
        36500,
        meaning=(
            "Days after a session’s end for which the panel’s parameters and the facts of devices are "
            "stored; after that the study’s page can delete them. 0: as long as the study."
        ),
        label="Days that personal data are stored",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_contact(self.contact)


@dataclass(frozen=True)
class AdmissionSettings(Group):
    """Who is admitted, and how many."""

    panel: PanelRecord = _setting(
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
    evaluators: int = _setting(
        30,
        "finished sessions wanted for each model; with `class_design=between`, for each of its classes",
        1,
        100000,
        label="Evaluators for each model",
        asked=1,
        meaning="How many people are to finish for each model.",
    )
    abandon_after_minutes: float = _setting(
        60,
        "a session without a further answer for so long no longer keeps its participant slot",
        1,
        100000,
        label="Minutes of silence that free a participant slot",
    )
    begin_within_minutes: float = _setting(
        10,
        "a session without its first answer for so long no longer keeps its participant slot; it "
        "may still continue, unless another has the slot",
        1,
        100000,
        label="Minutes for the first answer",
    )
    early_ends: float = _setting(
        0.2,
        "sessions that may be closed early or withdrawn with pay before the study pauses itself, as a share "
        "of those wanted; at least one",
        0,
        100,
        label="Early ends before the study pauses",
    )
    repeat_visits: bool = _setting(
        False,
        "let the same browser take part again (demos, not studies)",
        label="Several visits from one browser",
    )
    shared_computer: bool = _setting(
        False,
        "several people take part at one computer, by a link that names nobody: let the next one begin",
        label="Several people at one computer",
    )
    qualification: str = _setting(
        "",
        "name of the qualification that evaluators must have passed",
        label="Qualification that is needed",
    )
    pass_share: float = _setting(
        0.65,
        "share of the reals, and of the fakes, right to pass; of the pairs, in a test of pairs",
        0,
        1,
        used_by=QUALIFICATIONS,
        label="Share right to pass",
    )
    valid_days: float = _setting(
        365,
        "days for which a pass admits to studies",
        0.01,
        100000,
        used_by=QUALIFICATIONS,
        label="Days for which a pass is valid",
    )
    retakes: bool = _setting(
        False,
        "let those who did not pass a qualification take it again",
        used_by=QUALIFICATIONS,
        label="Taking it again",
    )
    exclusive: bool = _setting(
        True,
        "admit nobody who took part in another study of this data directory",
        label="Only people new to this server",
        meaning="Admit nobody who took part in another study of this server.",
    )
    also_admit: str = _setting(
        "",
        "studies, separated by commas, whose evaluators an exclusive study admits nevertheless",
        label="Studies whose evaluators may come",
        meaning=("Studies, separated by commas, whose evaluators are admitted although only new people are."),
    )


@dataclass(frozen=True)
class Protocol:
    """The settings of a study, in groups. Times in ms, money in cents of its currency, shares 0 to 1."""

    method: str
    """A method of a judgment (`judgments`), which brings title and consent text."""
    stimuli: StimulusSettings = StimulusSettings()
    unscored: UnscoredSettings = UnscoredSettings()
    exclusion: ExclusionSettings = ExclusionSettings()
    timing: TimingSettings = TimingSettings()
    page: PageSettings = PageSettings()
    follow_ups: FollowUpSettings = FollowUpSettings()
    pay: PaySettings = PaySettings()
    admission: AdmissionSettings = AdmissionSettings()
    language: LanguageSettings = LanguageSettings()
    consent: ConsentSettings = ConsentSettings()
    judgment: JudgmentSettings = JudgmentSettings()
    """Those that the method's judgment brings."""

    def __post_init__(self) -> None:
        if self.page.debrief and self.admission.repeat_visits and self.pay.bonus_usd_cents:
            raise invalid_setting(
                "debrief reveals the truth of the pictures, so that a person who returns (repeat_visits) "
                "would be paid for knowing them; set bonus_usd_cents=0, or one of the two to false",
                "debrief",
                "repeat_visits",
                "bonus_usd_cents",
            )
        if self.has_flashes and self.follow_ups.mark != NONE:
            raise invalid_setting(
                f"mark={self.follow_ups.mark} does not go with a time limit: to be marked, the picture would "
                "have to be shown again, a second look after the flash; leave mark=none, or make the study "
                "with --method infinity",
                "mark",
                "exposures_ms",
            )
        fastest_hz = self.timing.max_refresh_hz
        if self.slowest_refresh_hz > fastest_hz:
            is_gap = self._shortest_fixed_ms == self.judgment.gap_ms
            name, what = ("gap_ms", "is") if is_gap else ("exposures_ms", "has an exposure")
            raise invalid_setting(
                f"{name} {what} shorter than a refresh: {fixed_exposures.label(self._shortest_fixed_ms)} ms, "
                f"and the fastest display admitted (max_refresh_hz, {fastest_hz:g} Hz) shows a picture for "
                f"{1000 / fastest_hz:.3g} ms at least",
                name,
                "max_refresh_hz",
            )

    @property
    def is_demonstration(self) -> bool:
        """Whether a study shows what the task is like, rather than measures: nobody is paid, and who comes
        again knows the truth of the pictures judged before.
        """
        return self.page.debrief and self.admission.repeat_visits and not self.pay.is_paid

    @property
    def has_staircase(self) -> bool:
        """Whether answers determine the exposures of later stimuli."""
        return self.timing.staircase is not None

    @property
    def has_exposures(self) -> bool:
        """Whether exposures follow from a staircase, or are fixed beforehand, if only as unlimited."""
        return self.has_staircase or bool(self.timing.exposures_ms)

    @property
    def shortest_exposure_ms(self) -> float | None:
        """Shortest exposure (ms) with a time limit; None if every stimulus is shown until it is answered."""
        rule = self.timing.staircase
        return fixed_exposures.shortest_ms(self.timing.exposures_ms) if rule is None else rule.min_ms

    @property
    def has_flashes(self) -> bool:
        """Whether any stimulus is shown for a limited time, and so exact to the refresh of a display."""
        return self.shortest_exposure_ms is not None

    @property
    def slowest_refresh_hz(self) -> float:
        """Refresh rate of the slowest display that can show the flashes.

        That is `min_refresh_hz`, unless a refresh of such a display is longer than a fixed exposure, or than
        the gap between two pictures.
        """
        if self._shortest_fixed_ms is None:
            return self.timing.min_refresh_hz
        needed_hz = 1000 / (fixed_exposures.REFRESH_MARGIN * self._shortest_fixed_ms)
        return max(self.timing.min_refresh_hz, int(10 * needed_hz) / 10)

    @property
    def _shortest_fixed_ms(self) -> float | None:
        """Shortest interval (ms) that is fixed in advance; None if there is none."""
        return fixed_exposures.shortest_ms((*self.timing.exposures_ms, self.judgment.gap_ms or None))

    @property
    def judged_phases(self) -> int:
        """Number of intervals of a flash, from its end, that decide whether it was seen as planned.

        They are the stimulus and its masks; of two pictures, the first, the gap and the second.
        """
        return (3 if self.judgment.gap_ms else 1) + self.timing.mask_count

    @property
    def has_quick_changes(self) -> bool:
        """Whether what is shown changes more than once a second, which photosensitive people should know.

        Without masks, exposures of a second or more give at most one flash in any second (WCAG 2.3.1 allows
        three), also where two pictures follow each other: of their four changes, no more than two lie
        within a second.
        """
        shortest = self.shortest_exposure_ms
        is_brief = shortest is not None and shortest < _A_SECOND_MS
        return self.has_staircase or is_brief or (self.has_flashes and self.timing.mask_count > 0)

    @property
    def arms(self) -> tuple[str, ...]:
        """The exposures of which each evaluator sees one, as text; () if each sees all, or none are fixed."""
        timing = self.timing
        if timing.exposure_design == WITHIN:
            return ()
        return tuple(map(fixed_exposures.label, timing.exposures_ms))

    def changed(self, **values: Any) -> Self:
        """Return this protocol with settings of any group replaced by name."""
        group_of = groups_of(self)
        groups: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            groups.setdefault(group_of[name], {})[name] = value
        return dataclasses.replace(
            self, **{name: dataclasses.replace(getattr(self, name), **own) for name, own in groups.items()}
        )


def groups_of(protocol: Protocol) -> dict[str, str]:
    """Return the group of each setting, in the order in which they are stored, exported and documented."""
    groups = [group.name for group in fields(protocol) if group.name != "method"]
    return {setting.name: group for group in groups for setting in fields(getattr(protocol, group))}


def values_of(protocol: Protocol) -> dict[str, Any]:
    """Return the method and all settings of a protocol, by name."""
    settings = {name: getattr(getattr(protocol, group), name) for name, group in groups_of(protocol).items()}
    return {"method": protocol.method, **settings}


def to_json(protocol: Protocol) -> dict[str, Any]:
    """Return the settings as plain data for the store, by name and without groups."""
    return {
        name: dataclasses.asdict(value) if isinstance(value, (StaircaseRule, PanelRecord)) else value
        for name, value in values_of(protocol).items()
    }
