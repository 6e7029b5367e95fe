"""Panels: where evaluators come from, what is told of them, and how they are paid.

A panel is reached in two ways. The page meets it as parameters in a link and an address to go back to
(`experiment/panel.py`); the researcher's commands meet it as the interface here. A panel without an API,
such as a link sent to colleagues, has the first only.

Money is in hundredths (cents or pence) of the currency of the workspace that pays. A *submission* is one
person's place in a panel's study.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from typing import Protocol as Interface

from backend.foundation.errors import OpenhypeError

Status = Literal[
    "reserved", "active", "awaiting_review", "approved", "partially_approved", "rejected", "returned",
    "timed_out", "screened_out", "processing",
]  # fmt: skip
"""Where a submission stands, whatever way an endpoint spells it; `processing` where it is not known."""

COMPLETABLE: tuple[Status, ...] = ("reserved", "active", "timed_out")
"""States in which the panel may still be told that a person is done."""

StudyState = Literal["draft", "scheduled", "publishing", "active", "paused", "closed", "unknown"]
"""Where a panel's study stands: `closed` where it takes in nobody any more, done or stopped."""


class PanelRefused(OpenhypeError):
    """The panel answered that it will not do this; asked again, it will not either."""


class TokenRefused(PanelRefused):
    """The panel does not accept the token for this, and so nothing was learned of what it was asked."""


class NotThere(PanelRefused):
    """The panel does not know what was named; it may have been made a moment ago."""


class PanelUnsure(OpenhypeError):
    """The panel was asked, and no answer came: it may have done it, or may not."""


class PanelUnreached(OpenhypeError):
    """The request never left, or the panel said that it was too busy: it has not done it."""


@dataclass(frozen=True)
class Submission:
    """What the panel says of one person's place."""

    id: str
    participant: str
    """'' where the panel does not tell."""
    status: Status
    started_at: str = ""
    bonuses_cents: tuple[int, ...] = ()
    """Every bonus that the panel says was paid; a fixed screen-out payment is among them."""
    code: str = ""
    """The completion code that was entered."""
    completed_at: str = ""
    is_asked_to_return: bool = False
    studies: tuple[str, ...] = ()
    """The panel's study, and that of which it is a part; () where the panel does not tell."""


@dataclass(frozen=True)
class ScreenOut:
    """A fixed payment by the panel itself to people who are screened out."""

    reward_cents: int
    slots: int
    """After so many the panel pauses the study."""


@dataclass(frozen=True)
class Recruitment:
    """What is asked of a panel: one study of its own, whatever the number of models."""

    name: str
    title: str
    description: str
    url: str
    """Of the task page, without the panel's parameters."""
    places: int
    minutes: float
    reward_cents: int
    codes: dict[str, str]
    """Completion codes by what they say: `done`, `no_consent`, `unfit_device`, `screened_out`, `fault`."""
    filters: Sequence[dict[str, Any]] = ()
    project: str = ""
    """Which wallet pays; '' leaves it to the panel."""
    is_signed: bool = False
    """The panel signs its links."""
    screen_out: ScreenOut | None = None


@dataclass(frozen=True)
class Workspace:
    """A wallet at the panel, and the projects that it pays for, as (id, title)."""

    id: str
    title: str
    projects: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Balance:
    """What a workspace has left to spend."""

    currency: str
    available_cents: int


@dataclass(frozen=True)
class Wages:
    """What the panel asks for an hour at least, and what it advises."""

    least_cents: int
    fair_cents: int


@dataclass(frozen=True)
class Cost:
    """What a study costs."""

    currency: str
    rewards_cents: int
    """Rewards and screen-out payments."""
    bonuses_cents: int
    fees_cents: int
    tax_cents: int

    @property
    def total_cents(self) -> int:
        return self.rewards_cents + self.bonuses_cents + self.fees_cents + self.tax_cents


@dataclass(frozen=True)
class Bonus:
    """One person's bonus."""

    submission: str
    cents: int


@dataclass(frozen=True)
class Rehearsal:
    """A copy of a draft that only test participants can take part in."""

    id: str
    url: str


@dataclass(frozen=True)
class Hook:
    """A subscription to the panel's events."""

    id: str
    is_enabled: bool
    deliveries: Mapping[str, int] = field(default_factory=dict)
    """How many of the latest events, by what became of them."""


class Panel(Interface):
    """A panel with an API.

    Every call raises `PanelRefused` (as `TokenRefused` or `NotThere` where that is why), `PanelUnsure`
    or `PanelUnreached`; only calls that may be repeated without harm are repeated inside. Safe to use
    from many threads.
    """

    name: str

    def workspaces(self) -> list[Workspace]: ...

    def balance(self, workspace: str) -> Balance: ...

    def wages(self, workspace: str, currency: str, filters: Sequence[Mapping[str, Any]] = ()) -> Wages:
        """Return the wages that the panel asks for with these filters."""

    def create(self, order: Recruitment) -> str:
        """Make the panel's study, not yet published; return its id. Finds the one made before by its name."""

    def state(self, study: str) -> StudyState:
        """Return where a study stands now."""

    def change(self, study: str, action: Literal["publish", "pause", "start", "stop"]) -> None:
        """Publish, pause, go on with or stop a study; done already is no error."""

    def set_places(self, study: str, places: int) -> None:
        """Raise the number of places; it can only grow. A study that was closed is open again."""

    def set_slots(self, study: str, code: str, screen_out: ScreenOut) -> None:
        """Raise the number of screen-outs that are paid for."""

    def cost(self, study: str, is_projected: bool = False) -> Cost:
        """Return what a study costs as it stands; projected, once every place and slot is taken."""

    def submissions(self, study: str) -> Iterator[Submission]:
        """Yield all places that were ever taken, in the order in which they were."""

    def submission(self, id: str, is_urgent: bool = False) -> Submission:
        """Return one place with its bonuses, as it stands now.

        Args:
            is_urgent: somebody is waiting for the answer; it is asked once.
        """

    def complete(self, submission: str, code: str) -> None:
        """Say that a person is done; done already is no error."""

    def approve(self, submissions: Sequence[str]) -> None:
        """Have rewards paid; approved already is no error. The panel may take its time over it."""

    def ask_to_return(self, submission: str, reason: str) -> None:
        """Ask a person to give a place back."""

    def propose_bonuses(self, study: str, bonuses: Sequence[Bonus]) -> str:
        """Hand in bonuses and return the payment's id; nobody is paid yet."""

    def pay_bonuses(self, payment: str) -> None:
        """Pay what was handed in. Not idempotent: done twice, it pays twice."""

    def add_test_participant(self, email: str) -> str:
        """Make a participant who is for trying studies; return the id."""

    def test(self, study: str) -> Rehearsal:
        """Publish a copy of a draft to the test participants."""
