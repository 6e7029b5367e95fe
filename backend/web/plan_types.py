"""Requests and replies of the routes that plan studies, declared once."""

from typing import Annotated, Any, ClassVar, Literal, TypedDict

from msgspec import Meta, Struct, field

from backend.administration.setting_forms import SettingField
from backend.task.reply_types import Currency
from backend.web.job_types import StudyBody
from backend.web.money_types import Percent

Positive = Annotated[float, Meta(gt=0, le=1e6, extra={"expected": "a number above 0"})]
Share = Annotated[float, Meta(ge=1e-6, le=1 - 1e-6, extra={"expected": "a number between 0 and 1"})]
Images = Annotated[int, Meta(ge=2, le=1_000_000)]


class PlanWish(Struct):
    """A study as it is set, and an aim; null for the default."""

    allows_lines: ClassVar[bool] = True
    method: Annotated[str, Meta(max_length=40)] = "infinity"
    """As of `create`, or `qualification`."""
    models: Annotated[int, Meta(ge=1, le=1000)] = 1
    settings: Annotated[dict[str, Any], Meta(max_length=200)] = {}
    width: Positive | None = None
    """Of the interval of a score: percentage points, ms, or log-odds (tournaments)."""
    difference: Positive | None = None
    """Between two models, to be found significant."""
    power: Share = 0.8
    assurance: Share = 0.8
    """Probability that an interval is no wider."""
    level: Share = 0.95
    pictures: Images | None = None
    """Of each model and of reals, to draw from; null: those of `order`, else the papers', or the pilot's."""
    order: StudyBody | None = None
    """The order that is planned, with complete uploads: what an audit found in them binds its settings."""
    pilot: Annotated[str, Meta(max_length=128)] | None = None
    """A study to take SDs from."""
    pilot_simulated: bool = False
    fee_percent: Percent | None = None
    """The panel's fee; null: its higher one if it pays, else none."""
    vat_percent: Percent = "0"


class StudyResources(TypedDict):
    """What a study takes as it is set; money in cents of its currency, and at most."""

    sessions: int
    """0 for a qualification, which has no number."""
    evaluators_a_model: int
    looks: list[int]
    """Evaluators of each model at planned looks; empty without."""
    trials_a_session: int
    hours: float
    """Of all evaluators."""
    base_usd_cents: int
    largest_bonus_usd_cents: int
    wage_usd_cents_an_hour: float
    """A panel that pays counts whole minutes."""
    target_wage_usd_cents_an_hour: int
    session_usd_cents: int
    """With fees."""
    pay_usd_cents: int
    fees_usd_cents: int
    total_usd_cents: int
    fee_percent: str
    vat_percent: str
    currency: Currency


class ScorePrecision(TypedDict):
    """How precise the score of a model would be."""

    model: str
    """Whose evaluators are taken as an example."""
    score: float
    sd: float
    width: float | None
    """Of the interval of a score, not exceeded with the assurance."""
    power: float | None
    """0 to 1, to find the difference; null if no score differs so much."""
    why_none: str | None
    """Why there is no width."""


class StudyPrecision(TypedDict):
    """What scores could tell with as many evaluators as are set."""

    unit: Literal["percent", "ms", "log-odds"]
    level: float
    assurance: float
    difference: float
    """0 where no test compares models."""
    test: Literal["two", "all"]
    """Of two models, or of all pairs of more."""
    evaluators: int
    source: Literal["papers", "pilot", "simulated"]
    """`simulated`: of a tournament, evaluators who differ as simulated ones do."""
    rows: list[ScorePrecision]


class PlanMade(TypedDict):
    method: str
    title: str
    models: int
    study: StudyResources
    precision: StudyPrecision | None
    """Null where spreads are not known."""
    why_none: str | None
    """Why `aim` is null, and `precision` gives no row."""
    aim: dict[str, Any] | None
    """What the aim needs, as `openhype plan --json` prints it; null as `precision`."""
    warnings: list[str]


class CostWish(Struct):
    """What studies take of AWS."""

    pictures: Annotated[int, Meta(ge=2, le=10_000_000)] = 2000
    evaluators: Annotated[
        list[Annotated[int, Meta(ge=1, le=10_000_000)]], Meta(min_length=1, max_length=20)
    ] = field(default_factory=lambda: [30, 1000])
    study: Annotated[str, Meta(max_length=200)] | None = None
    """One that is stored, with its own files, settings and evaluators; else usual ones."""


class MethodChoice(TypedDict):
    """What a study can be, as a person chooses."""

    method: str
    """As of `create`, or `qualification`."""
    title: str
    about: str
    """What evaluators do, and what comes out."""
    parts: list[str]
    """The folders of a set, if its pictures are sets of pairs or triplets; else reals and models."""
    is_common: bool
    """Whether most studies choose among it and its like."""
    unit: Literal["percent", "ms", "log-odds"]
    """Of scores."""
    difference: float | None
    """Between two models, in this unit, to ask a plan for at first; null where no test compares models."""
    without_pilot: Literal["papers", "simulated", ""]
    """Whose evaluators a plan takes as an example without a pilot; '' for nobody's."""


class SettingNames(TypedDict):
    """What forms call a setting and its choices."""

    label: str
    choices: dict[str, str]


class MethodChoices(TypedDict):
    methods: list[MethodChoice]
    settings: dict[str, SettingNames]
    """By the setting's name; messages of refusals have these names."""


class SettingFields(TypedDict):
    method: str
    title: str
    settings: list[SettingField]


class StudyCosts(TypedDict):
    """What a study costs on AWS, in US dollars."""

    method: str
    evaluators: int
    pictures: int
    session_bytes: float
    """Sent in a session: pictures or clips, the page and replies."""
    services: dict[str, float]
    total_usd: float


class Costs(TypedDict):
    studies: list[StudyCosts]
    region: str
    as_of: str


class MetricsWish(Struct):
    level: Share = 0.95
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    extrapolate: bool = False
    """Also extrapolate the Frechet distance to infinitely many pictures."""
    skip_bad: bool = False


class StoredMetrics(TypedDict):
    runs: list[dict[str, Any]]
    """As `openhype metrics --json` gives them, with `computed_at`."""


class RerunWish(Struct):
    name: Annotated[str, Meta(max_length=300)] | None = None
    """Of the new study; null: that of the old one with the next number."""


class RerunOrdered(TypedDict):
    """A study like another one is being made."""

    job: str
    """A job; `GET /api/jobs/{job}` tells how far it is."""
    study: str
    """The name of the new study."""


class ScheduleWish(Struct):
    days: Annotated[int, Meta(ge=0, le=3650)]
    """Between runs, from now on; 0 ends the schedule."""


class RerunSchedule(TypedDict):
    """When a study is made again by itself; null where it is not."""

    days: int | None
    next_at: str | None


class ReplicationWish(Struct):
    others: Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(min_length=1, max_length=19)]
    """The other runs, as names of studies in their order after this one."""
    margin: Positive | None = None
    """Difference from which on scores count as changed, in their unit; null: 5 percentage points."""
    level: Share = 0.95
    simulated: bool = False


class AgreementWish(Struct):
    distances: Annotated[list[Literal["l2", "psnr", "ssim", "ms-ssim"]], Meta(max_length=4)] = field(
        default_factory=lambda: ["l2", "psnr", "ssim"]
    )
    """Distances to score against people's votes."""
    level: Share = 0.95
    simulated: bool = False


class OpinionsWish(Struct):
    upload: Annotated[str, Meta(max_length=64)]
    """One file of opinion scores, and one of each metric, called after it."""
    level: Share = 0.95


class CorrelationWish(AgreementWish, kw_only=True):
    other: Annotated[str, Meta(max_length=300)]
    """A study of the other judgment: of JND with one of 2AFC, of 2AFC with one of JND."""
