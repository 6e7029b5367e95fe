"""How far a study is, and its scores so far, as replies of the API have them.

`progress.py`, `monitor.py` and `responses/live_scores.py` create objects of these types.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from backend.task.reply_types import Currency, Method

Censored = Annotated[
    Literal["floor", "ceiling"] | None, Meta(description="The bound that it is at or beyond")
]


class ModelSessions(TypedDict):
    """Numbers of sessions by state, of a model or of a group of models that one session shows.

    A qualification has one row for all models.
    """

    model: str
    wanted: int
    """0 if no sessions are opened for them, or in a qualification."""
    active: int
    abandoned: int
    """Silent for long; they may still be resumed."""
    ended: int
    """Closed early."""
    returned: int
    """Their places were given back at the panel."""
    finished: int


class StudyLine(TypedDict):
    """A study in the list."""

    study: str
    kind: Literal["study", "qualification"]
    method: Method
    title: str
    """The method's name for display."""
    paused: bool
    evaluators_wanted: int
    """Of each model, or of each group of models that one session shows."""
    models: list[ModelSessions]
    simulated: int
    """Finished simulated sessions, in no other number."""


class MistimedInBrowser(TypedDict):
    browser: str
    """Its engine; empty where it is not known."""
    sessions: int
    responses: int
    mistimed: int
    share: float


class Mistimed(TypedDict):
    """Responses to mistimed flashes, which were replaced; `share` is 0 to 1."""

    responses: int
    share: float
    by_browser: list[MistimedInBrowser]


class Withdrawn(TypedDict):
    sessions: int
    owed_usd_cents: int


class Retained(TypedDict):
    """Number of people who wait to be called, and the amount owed for waiting."""

    waiting: int
    owed_usd_cents: int


class ScoreInterval(TypedDict):
    """The interval of a score over evaluators, and over stimuli if they are known."""

    ci: list[float]
    method: Literal["wilson", "student", "population"]
    of: Literal["evaluators", "evaluators and pictures"]
    df: float | None
    """Null where they are infinite."""
    pictures: int | None
    pictures_df: float | None
    share_of_pictures: float | None
    """Of the variance, 0 to 1."""
    percentile_covers: float
    """Share of percentile intervals, 0 to 1."""
    why: str | None
    """Why the percentile interval is too narrow."""


class ScoreSoFar(TypedDict):
    """A score after the first evaluators, with its interval and one that is valid at all looks together."""

    evaluators: int
    score: float
    ci: list[float]
    any_look: list[float | None]
    """An end that nothing bounds is null."""


class Threshold(TypedDict):
    """The exposure (ms) at which the share `at` (0 to 1) of responses is right."""

    ms: float
    ci: list[float | None] | None
    """A lower end below `floor_ms` is null, and an upper end above `ceiling_ms`."""
    censored: Censored
    at: float
    floor_ms: float
    ceiling_ms: float


class ModalBlocks(TypedDict):
    """Shares of blocks (0 to 1) whose modal exposure is at a bound."""

    count: int
    at_floor: float
    at_ceiling: float
    guessing_ms: float | None
    reached_ceiling: float


class ModelScore(TypedDict):
    """A model's score in percent or ms."""

    model: str
    score: float
    fakes_error: NotRequired[float | None]
    reals_error: NotRequired[float | None]
    plain_score: NotRequired[float]
    balanced_score: NotRequired[float]
    not_sure: NotRequired[Annotated[float, Meta(description="Percent of the answers, if any is `not_sure`")]]
    not_sure_ci: NotRequired[list[float] | None]
    std: float | None
    ci: list[float] | None
    """The percentile interval."""
    evaluators: int
    responses: int
    interval: ScoreInterval | None
    threshold: NotRequired[Threshold]
    blocks: NotRequired[ModalBlocks]
    narrowing: list[ScoreSoFar]


class LiveScores(TypedDict):
    method: Method
    unit: str
    models: list[ModelScore]
    warnings: list[str]


class LookPoint(TypedDict):
    """What a look found of a pair of models, or of the interval of one model."""

    of: list[str]
    """One or two models."""
    value: float | None
    """z of `p`, or the half-width of the 95% interval in the score's unit; null if nothing varies."""
    p: float | None
    """For all pairs together; null of half-widths."""
    state: str | None
    """`open`, `apart`, `equal` or `given up`; null of half-widths."""


class LookTaken(TypedDict):
    """A planned look that was decided."""

    look: int
    """From 1."""
    evaluators: float
    """Of each model that was still in question; the harmonic mean if a study was closed in between."""
    boundary: float | None
    """The z from which, or the half-width up to which, the aim is reached; null if nothing was tested."""
    decision: Literal["go on", "drop", "stop"]
    reason: str
    at: str
    """UTC, ISO 8601."""
    points: list[LookPoint]


class NewcomerLooks(TypedDict):
    """The looks of a model that joined a study."""

    model: str
    against: list[str]
    """The models that it is compared with; empty before its first look."""
    done: int
    """How many of its looks were decided."""
    stopped: bool
    """Whether one of them ended its sessions."""
    next: int | None
    """Its evaluators at the next look; null once they have ended."""
    boundary: list[float]
    """The boundary at each of its looks; of z, empty before the first was decided."""
    decided: list[LookTaken]


class LooksProgress(TypedDict):
    """A study's plan of looks, and how far it is."""

    looks: list[int]
    """Evaluators of each model at each look."""
    aim: str
    spending: str
    digest: str
    """SHA-256 of the plan, the same from the first evaluator on."""
    fixed_at: str
    """When the first evaluator came (UTC, ISO 8601); empty before."""
    done: int
    """How many looks were decided."""
    stopped: bool
    """Whether one of them ended the study."""
    ended: list[str]
    """Models that no longer get evaluators."""
    hides_scores: bool
    """Whether scores are hidden until a look ends the study."""
    unit: str
    """Of half-widths: `percent`, `ms` or `log-odds`."""
    boundary: list[float]
    """The boundary at each planned look; of z, empty before the first was decided."""
    decided: list[LookTaken]
    next: int | None
    """Evaluators of each model at the next look; null once the first models' looks have ended."""
    newcomers: list[NewcomerLooks]
    """Models that joined, with looks of their own: all whose looks go on, and the latest ten others."""


class StudyProgress(StudyLine):
    """Progress of a study."""

    responses: int
    flashes: bool
    """Whether pictures are flashed."""
    mistimed: Mistimed
    withdrawn: Withdrawn
    currency: Currency
    owed_usd_cents: int
    median_wage_usd_cents_an_hour: float | None
    target_wage_usd_cents_an_hour: float
    warnings: list[str]
    notes: list[str]
    looks: LooksProgress | None
    """Null without a plan of looks."""
    retainer: Retained | None
    """Null if a study pays nobody for waiting."""


class WatchedStudy(StudyProgress):
    """Live view of a study: its progress and its scores so far."""

    scores: LiveScores | None
    """Null before the first session is finished, or while the first are computed."""
