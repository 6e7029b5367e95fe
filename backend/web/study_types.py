"""Requests and replies of the routes of one study, declared once."""

from typing import Annotated, Any, ClassVar, Literal, TypedDict

from msgspec import Meta, Struct

from backend.experiment.observer import PICTURE_SD
from backend.foundation.addresses import Reach
from backend.task.reply_types import Currency, Method
from backend.task.requests import Text, Whole
from backend.web.progress_types import StudyLine

_MOST_LINKS = 10_000
_MOST_SETTINGS = 200

Count = Annotated[int, Meta(ge=1, le=100_000)]
Share = Annotated[float, Meta(ge=0, le=1)]
At = Annotated[str, Meta(description="UTC, ISO 8601; empty if it has not happened")]
Accuracy = Annotated[
    Annotated[float, Meta(ge=0, le=1)] | Text,
    Meta(
        description="A share of right answers, or as text `dprime=1.2` or "
        "`threshold=250,slope=3,lapse=0.02,guess=0.5`",
        extra={"expected": "a number from 0 to 1 or a text such as 'dprime=1.2'"},
    ),
]
Strength = Annotated[
    Annotated[float, Meta(ge=-20, le=20)],
    Meta(description="Log-odds", extra={"expected": "a number from -20 to 20"}),
]


class Settings(Struct):
    """Settings to change, by name; values as numbers, truth values, lists or texts."""

    allows_lines: ClassVar[bool] = True
    settings: Annotated[dict[str, Any], Meta(max_length=_MOST_SETTINGS)]
    replaces: Annotated[dict[str, str], Meta(max_length=_MOST_SETTINGS)] | None = None
    """Values that are replaced, as in the record's `settings_typed`: refused if one is another by now."""


class Deletion(Struct):
    confirm: Annotated[str, Meta(max_length=128)]
    """The study's name."""


class LinksWanted(Struct):
    count: Annotated[int, Meta(ge=1, le=_MOST_LINKS)]


class Simulation(Struct):
    evaluators: Count | None = None
    """Null: as many as the study wants, less those simulated before."""
    accuracy: Annotated[dict[Text, Accuracy], Meta(max_length=1000)] = {}
    """By model, or `all`."""
    strength: Annotated[dict[Text, Strength], Meta(max_length=1000)] = {}
    """In a tournament: how real a model looks, or `real`."""
    sd: Annotated[float, Meta(ge=0, le=0.5)] = 0.0
    picture_sd: Annotated[float, Meta(ge=0, le=2)] = PICTURE_SD
    """SD between the pictures of a model, in probits."""
    seed: Whole | None = None


class SamplingUpdate(Struct):
    simulated: bool = False


class RetentionWanted(Struct):
    keep_days: Annotated[float, Meta(ge=0, le=36500)] | None = None
    """In place of the study's own setting; 0: nothing is deleted."""


class StudyListed(StudyLine):
    """A study in the list, with what tells it from others."""

    created_at: At
    begun: bool
    owed_usd_cents: int
    currency: Currency


class StudyLines(TypedDict):
    studies: list[StudyListed]


class PrivateLinks(TypedDict):
    required: bool
    """Whether a study admits people with private links only."""
    issued: int


class StudyLinks(TypedDict):
    evaluators: str
    """The open link to the task."""
    reach: Reach
    """From where it can be reached: this computer, its own network, or anywhere."""
    qr: str | None
    """Its QR code, a data URI; null if only this computer reaches it."""
    wait: str | None
    """Where people are paid to wait; null if nobody is."""
    results: str
    console: str
    """The study's page in the console."""
    private: PrivateLinks


class PanelFacts(TypedDict):
    name: str
    pays: bool
    """Whether evaluators are paid through it."""
    recruits: bool
    """Whether this server can recruit at it."""
    has_token: bool
    """Whether the server has a token for its API."""
    caution: str


class RecruitedFacts(TypedDict):
    """A recruitment as it is stored; codes are left out."""

    panel: str
    state: Literal["decided", "published", "paused", "full", "stopped"]
    at_panel: str
    """As the panel was last read; may be empty."""
    places: int
    url: str
    budget_usd_cents: int | None
    rehearsal_url: str | None


class StudyRecord(TypedDict):
    """All that a page on a study needs at once."""

    study: str
    kind: Literal["study", "qualification"]
    method: Method
    title: str
    """The method's name for display."""
    medium: str
    """What its stimuli are: `picture` or `clip`."""
    models: list[str]
    has_items: bool
    """Whether these are sets of pairs or triplets, on which evaluators vote."""
    classes: list[str]
    created_at: At
    begun_at: At
    begun: bool
    """Whether settings stay as they are, for a person saw them."""
    paused: bool
    finished: bool
    """Whether all sessions that are wanted are finished."""
    evaluators_wanted: int
    """Of each model or group of models."""
    sessions_wanted: int
    sessions_finished: int
    sessions_simulated: int
    """Finished simulated ones."""
    sessions_withdrawn: int
    waiting: int
    """People who wait to be called."""
    currency: Currency
    owed_usd_cents: int
    """What evaluators earned, paid or not, without fees."""
    settings: dict[str, Any]
    """All settings, by name."""
    settings_typed: dict[str, str]
    """All settings as texts, in the form that `POST …/set` takes."""
    settings_changed: list[str]
    """Those that differ from the method's defaults."""
    notes: list[str]
    warnings: list[str]
    links: StudyLinks
    panel: PanelFacts
    recruited: RecruitedFacts | None
    paid_from: str
    """The store that pays, if this one's ledger is a copy."""
    is_competition: bool
    """Whether members may submit models to it."""
    join_problem: str
    """Why no model can join it, as a clause; empty if one can."""
    sampling_update: Literal["pictures", "pairs"] | None
    """What `POST …/update-sampling` does: select pictures, or count the pairs of a tournament."""
    downloads: list[str]
    """Names of the files that this study has."""


class PausedOrNot(TypedDict):
    paused: bool
    changed: bool


class WaitingAdmitted(TypedDict):
    paused: bool
    notified: int
    """People who waited."""


class SettingChange(TypedDict):
    setting: str
    before: Any
    after: Any


class SettingsChanged(TypedDict):
    changed: list[SettingChange]
    cleared: int
    """Simulated sessions of the settings before, removed."""
    notes: list[str]
    """New notes for readers of the scores."""


class Cleared(TypedDict):
    cleared: int


class Contents(TypedDict):
    """What would be deleted."""

    sessions: int
    simulated: int
    responses: int
    files: int
    obstacle: str | None
    """Why it cannot be deleted now."""


class Links(TypedDict):
    links: list[str]
    """One a person; only their hashes are stored."""


class SessionLine(TypedDict):
    session: str
    evaluator: str
    """A random pseudonym."""
    models: list[str]
    state: Literal["active", "abandoned", "finished", "ended", "returned", "withdrawn"]
    simulated: bool
    opened_at: At
    last_at: At
    answers: int
    language: str


class Sessions(TypedDict):
    """A page of a study's sessions."""

    sessions: list[SessionLine]
    count: int
    """How many sessions were found, on all pages."""
    next: str | None
    """The `before` of the next page; null if this is the last."""


class WithdrawnSession(TypedDict):
    session: str
    state: Literal["withdrawn"]
    owed_usd_cents: int
    """What stays owed for it."""


class RetentionDue(TypedDict):
    study: str
    keep_days: float
    due: int
    """Sessions and waits with personal data that are old enough."""
    text: str


class RetentionDone(TypedDict):
    study: str
    deleted: int
