"""Requests and replies of leaderboard studies, submissions and competitions."""

from typing import Annotated, ClassVar, Literal, TypedDict

from msgspec import Meta, Struct

from backend.task.requests import MAX_BODY_BYTES

Time = Annotated[
    str | None,
    Meta(description="A day such as 2026-01-31, or a time with its offset; null for none"),
]
Counts = Annotated[Literal["best", "last"], Meta(description="Which model of a submitter is in the table")]
Unit = Annotated[Literal["percent", "ms", ""], Meta(description="'' for log-odds")]
State = Literal["awaiting_pictures", "queued", "checking", "refused", "collecting", "scored", "withdrawn"]
Interval = Annotated[list[float] | None, Meta(description="Ends of the 95% interval")]
MAX_TERMS_BYTES = 2 * MAX_BODY_BYTES


class LimitGiven(Struct, frozen=True):
    """How many models of a submitter are judged within any period of so many days."""

    count: Annotated[int, Meta(ge=1, le=1000)]
    days: Annotated[int, Meta(ge=1, le=3660)]


class TermsSeen(Struct, frozen=True):
    """The terms of a leaderboard study; what is left out is as by default."""

    allows_lines: ClassVar[bool] = True
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    about: Annotated[str, Meta(max_length=5000)] = ""
    opens_at: Time = None
    closes_at: Time = None
    embargo_until: str | None = None
    """Before this nothing of any model is published; as the other times."""
    limit: LimitGiven | None = None
    counts: Counts = "best"
    submitters: (
        Literal["all"] | Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=1000)]
    ) = "all"
    """`all`, or the names of the members who may submit."""
    published: bool = False


class TermsGiven(TermsSeen, frozen=True):
    """Request to make a study a leaderboard study, or to change its terms; what is left out is as by
    default."""

    replaces: TermsSeen | Literal["none"] | None = None
    """The terms that are replaced, `none` if there were none: refused if they are others by now."""


class SubmissionGiven(Struct, frozen=True):
    """Request to submit a model."""

    model: Annotated[str, Meta(min_length=1, max_length=100)]
    digest: Annotated[str, Meta(min_length=64, max_length=64)]
    """That of the upload of its pictures."""


class PicturesGiven(Struct, frozen=True):
    """Request to have the pictures of a submission checked, which were uploaded before."""

    upload: Annotated[str, Meta(min_length=1, max_length=64)]


class OpenTimes(TypedDict):
    """When a leaderboard study takes models in, and shows their scores; null for no limit."""

    opens_at: str | None
    closes_at: str | None
    embargo_until: str | None


class LimitFacts(TypedDict):
    """How many models of a submitter are judged within any period of so many days."""

    count: int
    days: int


class TermsChange(TypedDict):
    """Terms that were changed later."""

    at: str
    terms: list[str]


class TermsFacts(OpenTimes):
    """A leaderboard study and its terms."""

    study: str
    title: str
    about: str
    limit: LimitFacts | None
    counts: Counts
    submitters: str | list[str]
    published: bool
    since: str
    changes: list[TermsChange]
    protocol: str
    """The text whose SHA-256 is published: canonical JSON."""
    protocol_sha256: str


class SubmissionResult(TypedDict):
    """The result of a submission; `score` and `ci` are null until all wanted evaluators have finished."""

    score: float | None
    ci: Interval
    unit: Unit
    evaluators: int
    wanted: int


SubmissionFacts = TypedDict(
    "SubmissionFacts",
    {
        "submission": str,
        "study": str,
        "model": str,
        "member": str,
        "digest": str,
        "state": State,
        "reason": str | None,
        "created_at": str,
        "state_at": Annotated[str, Meta(description="Since when it is in this state")],
        "try": Annotated[int | None, Meta(description="Which try it is; null if it costs none")],
        "notes": Annotated[list[str], Meta(description="What the intake noted about the pictures")],
        "result": SubmissionResult | None,
        "needs_pictures": bool,
    },
)


class TriesLeft(TypedDict):
    """What is left of the limit."""

    count: int
    days: int
    used: int
    left: int
    next_at: str | None
    """When another one is free, if none is left now."""


class ClipRecipe(TypedDict):
    """How clips of a study are made, by which a submitter can encode videos that the server does not read."""

    frames: int
    fps: Annotated[list[int], Meta(description="Frames a second, as numerator and denominator")]
    width: int
    height: int
    quality: Annotated[int, Meta(description="Constant quality of libvpx; 0 for an unknown one")]
    skip_seconds: Annotated[float, Meta(description="Left out at the start")]
    preprocess: list[str]
    reads_videos: Annotated[bool, Meta(description="Whether the server takes videos themselves")]


class SubmissionList(OpenTimes):
    """The caller's submissions, or for a researcher everybody's; and on what terms the caller submits."""

    submissions: list[SubmissionFacts]
    counts: Counts
    limit: TriesLeft | None
    """null for no limit."""
    clips: ClipRecipe | None
    """null for a study of pictures."""


class OpenStudy(OpenTimes):
    """A leaderboard study that takes models of the caller in."""

    study: str
    title: str
    about: str
    counts: Counts
    limit: TriesLeft | None
    """null for no limit."""


class OwnSubmissions(TypedDict):
    """All submissions of the caller, and where it may submit."""

    studies: list[OpenStudy]
    submissions: list[SubmissionFacts]


class CompetitionEntry(OpenTimes):
    """A competition in the list of all."""

    study: str
    title: str
    method: str


class CompetitionList(TypedDict):
    """All competitions."""

    competitions: list[CompetitionEntry]


class JudgedModel(TypedDict):
    """A row of the table of a competition."""

    ranks: list[int] | None
    """Best and worst rank that the intervals allow, right for all at once."""
    model: str
    submitter: str | None
    """null for a model of the organisers."""
    score: float
    ci: Interval
    evaluators: int
    look: int | None
    """The planned look, from 1, that ended its sessions; null without planned looks."""
    submitted_at: str | None
    joined_at: str | None
    judged_from: str
    """The day on which its first evaluator began."""
    judged_until: str
    """The day on which its last evaluator finished."""
    tries: int | None
    """Models of the submitter that have been judged."""
    cost_usd_cents: int
    """What the evaluators earned, without a panel's fees."""


class ProtocolHash(TypedDict):
    """The hash of what is done with every model, and what it covers."""

    sha256: str
    covers: list[str]


class CompetitionLooks(TypedDict):
    """The plan of looks by which every model is judged, so that it has no more evaluators than it needs."""

    looks: list[int]
    """Evaluators of the model at each look; the last one ends its sessions."""
    aim: str
    ends_when: str
    """The aim as a clause."""
    digest: str
    """SHA-256 of the plan."""


class CompetitionFacts(OpenTimes):
    """A competition, and its table after the embargo."""

    study: str
    title: str
    about: str
    method: str
    method_title: str
    score: str
    unit: Unit
    level: float
    since: str
    is_under_embargo: bool
    limit: LimitFacts | None
    counts: Counts
    is_open_to_all: bool
    changes: list[TermsChange]
    evaluators_wanted: int
    """Of each model; with planned looks, at most."""
    looks: CompetitionLooks | None
    """Null without planned looks."""
    currency: str
    protocol: ProtocolHash
    models: list[JudgedModel]
    made_at: str | None
