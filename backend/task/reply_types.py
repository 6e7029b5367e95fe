"""Types of the replies to evaluators' pages, declared once.

`replies.py` returns objects of these types, `web/openapi.py` describes them, and the page's types are
generated from that.
"""

from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from backend.experiment.judgments import METHODS
from backend.experiment.questionnaire import KINDS, TIMES

if TYPE_CHECKING:
    # The records carry these as texts that were checked on the way in, and a type checker knows no Literal
    # of values that are computed. The document of the API lists the values.
    Currency = str
    Truth = str
    Method = str
    Unit = str
    CommentWanted = str
    MarkWanted = str
    Kind = str
    Time = str
else:
    Currency = Annotated[
        Literal["USD", "GBP"],
        Meta(description="Currency of all amounts, which are in its cents (for GBP, pence)"),
    ]
    Truth = Literal["real", "fake"]
    Method = Literal[tuple(METHODS)]
    Unit = Literal["percent", "ms"]
    CommentWanted = Literal["none", "optional", "required"]
    MarkWanted = Literal["none", "click", "box"]
    Kind = Literal[KINDS]
    Time = Literal[TIMES]
TimeLimits = Literal["all", "some", "none"]
Contact = Annotated[
    str, Meta(description="Contact of evaluators: an e-mail address, a URL or a text; may be empty")
]


class Consent(TypedDict):
    version: str
    text: str


class Pay(TypedDict):
    base_usd_cents: int
    bonus_usd_cents: int


class Retainer(TypedDict):
    usd_cents: int
    minutes: int


class Effort(TypedDict):
    """What a study demands of its evaluators, and what it pays."""

    minutes: float
    pay: Pay
    images: int


class QualificationOffer(Effort):
    study: str
    title: str


Language = Annotated[str, Meta(description="Language of the page, or `choose`: evaluators choose")]
OwnTexts = Annotated[
    dict[str, dict[str, str]],
    Meta(description="The researcher's texts in place of the page's own, by language and key"),
]


class Spoken(TypedDict):
    """The language of a page, and its texts."""

    language: Language
    texts: OwnTexts


class Clip(TypedDict):
    """What all clips of a study have in common."""

    codec: str
    """As WebCodecs names it."""
    frames: int
    fps: list[int]
    """Frames a second, as numerator and denominator."""
    width: int
    height: int


class PublicStudy(Effort):
    """What a visitor may know of a study."""

    study: str
    kind: Literal["study", "qualification"]
    title: str
    language: Language
    texts: OwnTexts
    method: Method
    judgment: str
    """What is asked; the page has a module of this name."""
    answers: list[str]
    """The answers that the study allows."""
    medium: str
    """What is shown; the page has a module of this name."""
    clip: Clip | None
    """Of clips, their form; null with pictures."""
    consent: Consent
    contact: Contact
    keep_days: float
    """Days for which panel parameters and devices are stored; 0: as long as the study."""
    currency: Currency
    retainer: Retainer | None
    """Pay for waiting: usd_cents a minute, minutes at most."""
    trial_shows: Literal["picture", "pair", "triplet"]
    """What `images` and `practice` count."""
    practice: int
    """Practice pictures before the first block, in no other count."""
    blocks: int
    feedback: bool
    half_real: bool
    """Whether exactly half of the pictures are real; else each is by chance."""
    size_px: int
    flashes: bool
    """Whether any picture is shown for a limited time."""
    flash_warning: bool
    """Whether to warn of flashes: pictures or masks change within a second."""
    refresh_hz: list[float]
    repeat_visits: bool
    debrief: bool
    demonstration: bool
    """Whether it shows what the task is like, rather than measures."""
    """Whether a finished session is shown its result and the truth of its pictures."""
    shared_computer: bool
    panel_parameters: list[str]
    person_parameters: list[str]
    """Parameters whose values differ between people's links."""
    signature_parameter: str | None
    """Parameter of the link that carries the panel's signature; null where none is."""
    panel_home: str | None
    """Address of the panel for people who cannot take part; null where none is known."""
    preview: list[str] | None
    """Parameter and value that mark a visit which only looks."""
    qualification: QualificationOffer | None
    pass_share: float | None
    paused: NotRequired[Annotated[bool, Meta(description="Whether no new session is opened for now")]]


class FollowUps(TypedDict):
    """What is asked besides the judgment; posted together with the answer."""

    confidence_points: int
    """Values that `confidence` can take; 101 for a slider from 0; 0: not asked."""
    confidence_with: bool
    """Whether one press gives answer and confidence; else it is asked afterwards."""
    reasons: list[str]
    """In `Answer` they are numbers, from 1."""
    comment: CommentWanted
    why_after: list[str]
    """Answers after which reasons and comment are asked."""
    mark: MarkWanted
    where_after: list[str]
    """Answers after which the mark is asked."""
    mark_needed: bool


class StudyProtocol(TypedDict):
    """The parameters of the experiment that a page needs, the same in all sessions of a study."""

    method: Method
    countdown_from: int
    countdown_ms: float
    mask_count: int
    mask_ms: float
    gap_ms: float
    """Between the pictures of a trial, shown one after the other; 0: side by side."""
    feedback: bool
    feedback_ms: float
    full_screen: bool
    size_px: int
    shortest_answer_ms: float
    same_answer_notice: int
    builtin_instructions: bool
    clip_play: Literal["loop", "once"]
    """How clips without a time limit play."""
    clip_replays: int
    """How often a clip that plays once can be played again."""
    largest_css_px: float
    """The largest width of a picture, in CSS pixels."""
    half_real: bool
    follow_ups: FollowUps | None


class PageProtocol(StudyProtocol):
    """The parameters of the experiment that a page needs."""

    block_images: list[int]
    time_limits: TimeLimits
    """Which pictures of the session are shown for a limited time."""


class Next(TypedDict):
    """The next trial."""

    trial_index: int
    block: int
    exposure_ms: float | None
    right_in_a_row: int | None
    """Of the staircase; null in a study without feedback."""
    practice: bool
    """Whether it is practice, which is not scored and not paid."""


class Progress(TypedDict):
    answered: int
    """During practice: of the practice; afterwards without it."""
    total: int
    replaced: int
    """Pictures that were not shown properly and were replaced, though answered."""


class QualificationResult(TypedDict):
    passed: bool
    reals_right: NotRequired[Annotated[float, Meta(description="Share right; not in a test of pairs")]]
    fakes_right: NotRequired[float]
    right: NotRequired[Annotated[float, Meta(description="Share of the pairs right, in a test of pairs")]]
    needed: float
    may_retake: bool


class Form(TypedDict):
    action: str
    fields: dict[str, str]


class Done(TypedDict):
    """The result of a closed session."""

    complete: bool
    paid_in_part: bool
    """Closed early without enough flashes that the browser failed to show; the place is to be returned."""
    completion_code: str
    needs_code: bool
    """Whether anybody asks for the code: a panel, or who pays by hand."""
    redirect_url: str | None
    form: Form | None
    """To be posted by the page on completion, for panels that ask for it."""
    reported: bool
    """The server itself reports to the panel that the person is done."""
    earned_usd_cents: int
    right: int | None
    """Null where some trials have no right answer, which cannot be counted."""
    not_sure: int
    """Answers `not_sure`, each paid as half a right one."""
    answered: int
    qualification: QualificationResult | None


class InstructionPage(TypedDict):
    """A page of the researcher's own instructions; empty lines in its text separate paragraphs."""

    title: str
    text: str
    before_block: int
    """The block (from 0) before which it is shown."""


class ShownIf(TypedDict):
    """Condition of a question: its `question` is shown, and answered by one of `answers`."""

    question: str
    answers: list[str | int]


class Question(TypedDict):
    """A question of the researcher."""

    name: str
    kind: Kind
    text: str
    required: bool
    choices: list[str]
    min: float | None
    max: float | None
    step: float
    """Of numbers, from `min` or 0 on; 0 for any."""
    points: int
    """Of a scale, answered as 1 to `points`."""
    low: str
    high: str
    max_length: int
    """Characters of a text at most."""
    shown_if: ShownIf | None


class QuestionPage(TypedDict):
    title: str
    """May be empty."""
    questions: list[Question]


class OpenQuestions(TypedDict):
    """The questions to be answered now."""

    when: Time
    pages: list[QuestionPage]
    earlier: dict[str, str | float | list[str]]
    """Answers to the questions before the task, on which conditions may depend."""


class SessionProgress(TypedDict):
    """The current state of a session."""

    questions: NotRequired[
        Annotated[OpenQuestions, Meta(description="In studies with questions: those that are open now")]
    ]

    next: Next | None
    progress: Progress
    earned_usd_cents: int | None
    done: Done | None


class State(SessionProgress):
    """All that a page needs to continue a session."""

    withdrawal_url: str
    """Path of the page on which the evaluator can withdraw; its secret follows the #."""
    session: str
    study: str
    kind: Literal["study", "qualification"]
    currency: Currency
    lease: int
    stage: Literal["block", "done"]
    protocol: PageProtocol
    block_begun: bool
    pages: NotRequired[
        Annotated[list[InstructionPage], Meta(description="The researcher's own instructions, if any")]
    ]


class Resumed(TypedDict):
    state: State


class QualificationFirst(TypedDict):
    stage: Literal["qualification"]
    qualification: PublicStudy
    token: NotRequired[
        Annotated[str, Meta(description="Of the person's own test, which was begun elsewhere and is resumed")]
    ]


class Opened(TypedDict):
    stage: Literal["session"]
    token: str
    state: State


Admitted = TypedDict(
    "Admitted",
    {
        "admitted": Annotated[bool, Meta(description="False for a preview, which only looks")],
        "pass": Annotated[
            str | None,
            Meta(
                description="Replaces the panel's signature for a day: to be sent as "
                "`signature`; null if none is required"
            ),
        ],
        "token": NotRequired[
            Annotated[
                str,
                Meta(description="Of the person's own session, which was begun elsewhere and is resumed"),
            ]
        ],
    },
)


class ReturnLink(TypedDict):
    redirect_url: str | None


class StaircaseRule(TypedDict):
    right_to_descend: int
    down_ms: float
    up_ms: float
    start_ms: float
    min_ms: float
    max_ms: float
    grid_ms: float


class Block(TypedDict):
    """The stimuli of the current block, from the next trial on."""

    block: int
    first_trial_index: int
    images: list[str]
    masks: list[str]
    trial_masks: list[list[int]]
    """For each trial the places of its masks."""
    instructed: list[Truth | None]
    """For each trial the answer that it asks for, else null; empty if none asks for one."""
    staircase: StaircaseRule | None
    next: Next


class Confirmation(SessionProgress):
    """Confirmation of a stored response."""

    trial_index: int
    was_correct: bool | None
    right_answer: str | None
    """After the answer `not_sure`, where right and wrong are told; else null."""
    replaced_by: str | None
    may_end: bool
    """Whether to ask if the session is to end: several flashes in a row were mistimed."""
    block_finished: bool


class Withdrawal(TypedDict):
    study: str
    title: str
    language: Language
    texts: OwnTexts
    shown_language: str | None
    """Language that the session was shown in, if known."""
    contact: Contact
    is_withdrawn: bool
    answers: int
    """Answers that are there, or were."""
    is_open: bool
    """Whether the session was in progress."""
    panel_home: str | None
    """The panel's own page for its people; null if they came from none, or it has none."""
    agreed: PublicStudy | None
    """The study with the consent text that the evaluator agreed to; null once withdrawn."""


class Wait(TypedDict):
    """What is owed to a person who waits, and whether the study has started."""

    is_admitted: bool
    minutes: int
    earned_usd_cents: int
    asks: bool
    """Whether it is time to ask: still here?."""
    is_over: bool
    """Whether nothing more is paid for waiting."""
    beat_seconds: float


class BegunWait(Wait):
    token: str
    """For the heartbeats."""


class OtherEvaluators(TypedDict):
    evaluators: int
    mean: float | None
    values: list[float]
    """Lowest first."""


class Published(TypedDict):
    model: str
    data: str
    score: float


class JudgedPicture(TypedDict):
    url: str
    truth: Truth
    response: Literal["real", "fake", "not_sure"]


class Debrief(TypedDict):
    """The evaluator's own result beside others'. Scores are percent (`infinity`) or ms (`time`)."""

    method: Method
    unit: Unit
    score: float | None
    """The evaluator's value; null if a demonstration ended early."""
    fakes_error: float | None
    """Percent of the fakes judged wrong."""
    reals_error: float | None
    """Percent of the reals judged wrong."""
    model: str | None
    """The model that was judged, or the models."""
    others: OtherEvaluators
    """Of all others who finished with the same models."""
    published: list[Published]
    pictures: list[JudgedPicture]
    """Those that the session answered, in order."""


class Error(TypedDict):
    code: str
    message: str
    id: str
    """As in the server's log."""
    keys: NotRequired[
        Annotated[
            list[str | int],
            Meta(
                description="The entry of the body that is at fault, by the names and places (from 0) that "
                'lead to it in a study.toml: `["settings", "images"]`, `["models", "gan"]`'
            ),
        ]
    ]


class Refused(TypedDict):
    error: Error
