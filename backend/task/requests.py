"""Types of the requests of browsers, declared once; `converted` checks them, the OpenAPI document shows them.

Nothing past this module meets a wrong type, a NaN, or an overlong text.
"""

import json
import math
import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, overload

import msgspec
from msgspec import Meta, Struct

from backend.experiment.judgments import ANSWERS, either
from backend.experiment.panel import OUTCOMES
from backend.experiment.questionnaire import MOST_QUESTIONS, TIMES
from backend.experiment.records import Interaction, Timing
from backend.experiment.response_columns import FACTS, Kind
from backend.experiment.session import Posted
from backend.foundation.conversion import converted, named
from backend.foundation.errors import InvalidInput

T = TypeVar("T")
TOKEN = "X-Openhype-Token"
"""The header of a request's token; `Authorization` is CloudFront's in its requests to the functions."""
MAX_BODY_BYTES = 64 * 1024
_MAX_FACTS_BYTES = 4096
"""Limit on the facts a browser sends of its device or display; our page sends a tenth of it."""
_DIGITS_OF_WHOLE = 19
_DIGITS_OF_MS = 3
_MAX_ENTRIES = 40
_MAX_FLOAT = 1.7e308  # just below the largest float, 1.798e308
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and halves of surrogate pairs."""
_UNPRINTABLE_IN_LINES = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""The same without the line feed."""

Whole = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Text = Annotated[str, Meta(max_length=300)]
Number = Annotated[int, Meta(ge=0, lt=10**9)] | Annotated[float, Meta(ge=0, lt=1e9)]
Word = Annotated[str, Meta(pattern="^[a-z0-9_-]{1,32}$", extra={"expected": "a short lower-case word"})]
Plain = Annotated[
    bool | int | Annotated[float, Meta(ge=-_MAX_FLOAT, le=_MAX_FLOAT)] | Text | None,
    Meta(extra={"expected": "a short text, a finite number, true or false"}),
]
QuestionAnswer = Annotated[
    Annotated[str, Meta(max_length=2000)]
    | int
    | Annotated[float, Meta(ge=-_MAX_FLOAT, le=_MAX_FLOAT)]
    | Annotated[list[Text], Meta(max_length=100)]
    | None,
    Meta(extra={"expected": "a text, a finite number, or a list of choices"}),
]
Facts = Annotated[dict[Text, Plain], Meta(max_length=_MAX_ENTRIES)]
Numbers = Annotated[
    list[Number],
    Meta(max_length=_MAX_ENTRIES, extra={"expected": f"a list of at most {_MAX_ENTRIES} numbers"}),
]
Wholes = Annotated[list[Whole], Meta(max_length=_MAX_ENTRIES)]
Panel = Annotated[
    dict[Text, Text], Meta(max_length=_MAX_ENTRIES, description="Parameters of the panel's link")
]
Signature = Annotated[
    Annotated[str, Meta(max_length=4096)] | None,
    Meta(
        description="The token in the panel's link (JWT) that vouches for the person, or the pass that "
        "`admission` gave for it, where the study asks for one; it is not stored",
        extra={"is_secret": True},  # it is a credential
    ),
]
if TYPE_CHECKING:  # a type checker knows no Literal of values that are computed
    Outcome = str
    Time = str
    JudgmentAnswer = str
else:
    Outcome = Literal[tuple(name for name in OUTCOMES if name != "done")]
    Time = Literal[TIMES]
    JudgmentAnswer = Literal[ANSWERS]


class Admission(Struct, frozen=True, kw_only=True):
    """Request at the beginning of a visit."""

    panel: Panel = {}
    signature: Signature = None


class WaitBegin(Admission, frozen=True, kw_only=True):
    """Request to begin waiting."""

    qualification_token: str | None = None


class Exit(WaitBegin, frozen=True, kw_only=True):
    """Request to leave before taking part."""

    outcome: Outcome


class Opening(WaitBegin, frozen=True, kw_only=True):
    """Request to open a session after consent."""

    consent_version: Text
    device: Facts = {}
    simulated: bool = False
    """A simulated session counts, pays and limits nothing; it needs the researcher's key."""
    seed: Whole | None = None
    """Of the pictures of a simulated session."""

    def __post_init__(self) -> None:
        _check_size("device", self.device)
        if self.seed is not None and not self.simulated:
            raise ValueError("a seed goes with a simulated session only")


class Sign(Struct, frozen=True):
    """Heartbeat of a person who waits."""

    is_visible: bool
    is_here: bool


class BlockBegin(Struct, frozen=True):
    """Request to begin a block, with facts of the display."""

    lease: Whole
    block: Whole
    display: Facts = {}

    def __post_init__(self) -> None:
        _check_size("display", self.display)


class QuestionAnswers(Struct, frozen=True):
    """Answers to the researcher's questions before or after the task, by their names."""

    allows_lines: ClassVar[bool] = True
    lease: Whole
    when: Time
    answers: Annotated[dict[Text, QuestionAnswer], Meta(max_length=MOST_QUESTIONS)] = {}
    declined: bool = False
    """The evaluator chose not to answer the questions after the task."""


class End(Struct, frozen=True):
    """Request to end a session early."""

    lease: Whole


class PostedTiming(Struct, frozen=True):
    """Measured timing of a flash; see `records.Timing`."""

    evidence: Word
    planned_frames: Wholes
    achieved_frames: Wholes
    phase_ms: Numbers
    lateness_ms: Number

    def __post_init__(self) -> None:
        counts = len(self.planned_frames), len(self.achieved_frames), len(self.phase_ms)
        if len(set(counts)) > 1:
            raise ValueError(
                "timing must have as many planned_frames as achieved_frames and phase_ms, "
                f"not {counts[0]}, {counts[1]} and {counts[2]}"
            )


class PostedInteraction(Struct, frozen=True):
    """What an evaluator did on the page besides answering; see `records.Interaction`."""

    event: Literal["focus", "blur", "fullscreenenter", "fullscreenexit"]
    time_ms: Number


class _Answer(Struct, frozen=True, kw_only=True):
    lease: Whole
    trial_index: Whole
    stimulus: Text
    response: Annotated[JudgmentAnswer, Meta(extra={"expected": either(ANSWERS)})]
    exposure_ms: Number | None = None
    shown_ms: Number | None = None
    frames: Whole | None = None
    frame_ms: Number | None = None
    mask_ms: Numbers | None = None
    rt: Number | None = None
    flags: Annotated[
        list[Word], Meta(max_length=_MAX_ENTRIES, extra={"expected": "a list of short lower-case words"})
    ] = []
    timing: PostedTiming | None = None
    interactions: Annotated[list[PostedInteraction], Meta(max_length=_MAX_ENTRIES)] = []


_FACT: dict[Kind, Any] = {
    Kind.TEXT: Text,
    Kind.WHOLE: Whole,
    Kind.NUMBER: Number,
    Kind.TRUTH_VALUE: bool,
    Kind.LIST: Numbers,
    Kind.WHOLES: Wholes,
}
Answer = msgspec.defstruct(
    "Answer",
    [(name, _FACT[column.kind] | None, None) for name, column in FACTS.items()],
    bases=(_Answer,),
    frozen=True,
    kw_only=True,
)
"""A response, with the fields that `response_columns` declares."""


class PanelEvent(Struct, frozen=True):
    """A Prolific event; its other fields are ignored."""

    event_type: str
    resource_id: str


def parse_object(body: bytes, allows_lines: bool = False) -> dict[str, Any]:
    """Return the JSON object in `body`.

    Args:
        allows_lines: whether texts may have several lines.

    Raises:
        InvalidInput: not JSON, not an object, a number that is not valid JSON (NaN, Infinity), or a text
            that cannot be stored or printed.
    """
    try:
        data = json.loads(body, parse_constant=_no_constant, parse_int=_whole_number)
    except (ValueError, RecursionError):
        raise InvalidInput("the body must be a JSON object in UTF-8; it could not be read as JSON") from None
    if not isinstance(data, dict):
        raise InvalidInput(f"the body must be a JSON object, not {named(data)}")
    check_texts(data, _UNPRINTABLE_IN_LINES if allows_lines else _UNPRINTABLE)
    return data


def parse(body: bytes, declared: type[T]) -> T:
    """Return a request body as one of the types of this module.

    Raises:
        InvalidInput: names the field, what was expected and what came.
    """
    data = parse_object(body, getattr(declared, "allows_lines", False))
    made = converted(data, declared)
    _check_finite(data, "")
    return made


def posted(answer: Any) -> Posted:
    """Return an `Answer` as the session expects it; measured times (ms) are rounded to the microsecond."""
    timing = answer.timing
    return Posted(
        lease=answer.lease,
        trial_index=answer.trial_index,
        stimulus=answer.stimulus,
        response=answer.response,
        exposure_ms=answer.exposure_ms,
        shown_ms=_ms(answer.shown_ms),
        frames=answer.frames,
        frame_ms=_ms(answer.frame_ms),
        mask_ms=None if answer.mask_ms is None else tuple(map(_ms, answer.mask_ms)),
        rt=_ms(answer.rt),
        flags=tuple(answer.flags),
        timing=timing
        and Timing(
            timing.evidence,
            _ms(timing.lateness_ms),
            tuple(timing.planned_frames),
            tuple(timing.achieved_frames),
            tuple(map(_ms, timing.phase_ms)),
        ),
        interactions=tuple(Interaction(each.event, _ms(each.time_ms)) for each in answer.interactions),
        facts={name: fact for name in FACTS if (fact := getattr(answer, name)) is not None},
    )


@overload
def _ms(value: float) -> float: ...
@overload
def _ms(value: None) -> None: ...
@overload
def _ms(value: float | None) -> float | None: ...
def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS_OF_MS)


def _check_size(name: str, facts: dict[str, Any]) -> None:
    """Check the size of the facts sent by a browser, which are stored with each session as they are."""
    length = len(json.dumps(facts, ensure_ascii=False).encode())
    if length > _MAX_FACTS_BYTES:
        raise ValueError(f"{name} must be of at most {_MAX_FACTS_BYTES} bytes as JSON, not {length}")


def check_texts(value: Any, unprintable: re.Pattern[str] = _UNPRINTABLE) -> None:
    """Refuse texts that contain control characters or unpaired surrogates.

    JSON can encode the latter (`"\\ud800"`), and Python reads them; databases, hashes and terminals fail
    on them later, far from their sender.
    """
    if isinstance(value, str):
        if unprintable.search(value):
            raise InvalidInput(
                f"texts must be of letters, digits, signs and spaces, not {named(value)} with a control "
                "character or half of a surrogate pair"
            )
    elif isinstance(value, dict):
        for each in (*value, *value.values()):
            check_texts(each, unprintable)
    elif isinstance(value, list):
        for each in value:
            check_texts(each, unprintable)


def _whole_number(digits: str) -> float:
    """Parse an integer; one beyond any clock or counter becomes a float, infinite if need be.

    Python's integers are unbounded, and fail if one of hundreds of digits meets a float.
    """
    return int(digits) if len(digits) <= _DIGITS_OF_WHOLE else float(digits)


def _check_finite(value: Any, path: str) -> None:
    """Refuse what no type bounds and is beyond all floats, such as 1e999: JSON cannot store it again."""
    if isinstance(value, float) and math.isinf(value):
        raise InvalidInput(f"{path} must be from -{_MAX_FLOAT} to {_MAX_FLOAT}")
    if isinstance(value, (dict, list)):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            _check_finite(each, f"{path}.{name}" if path else f"{name}")


def _no_constant(name: str) -> None:
    raise ValueError(name)
