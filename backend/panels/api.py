"""The interface of a panel: recruiting evaluators, reporting on them, and paying them.

A panel is reached in two ways. The page sees it as parameters in a link and an address to return to
(`experiment/panel.py`); the researcher's commands see it as the interface here. A panel without an API,
such as a link sent to colleagues, has only the former.

Money is in hundredths (cents or pence) of the currency of the workspace that pays. A *submission* is one
person's place in a panel's study.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal
from typing import Protocol as Interface

from backend.foundation.errors import OpenhypeError
from backend.foundation.frozen import dataclass

Status = Literal[
    "reserved", "active", "awaiting_review", "approved", "partially_approved", "rejected", "returned",
    "timed_out", "screened_out", "processing",
]  # fmt: skip
"""Status of a submission, normalized across the panel's endpoints; `processing` if unknown."""

COMPLETABLE: tuple[Status, ...] = ("reserved", "active", "timed_out")
"""States in which the panel still accepts a report that a person is done."""

StudyState = Literal["draft", "scheduled", "publishing", "active", "paused", "closed", "unknown"]
"""State of a panel's study; `closed` if it admits nobody any more, completed or stopped."""


class PanelRefused(OpenhypeError):
    """The panel refused the request; repeating it will not help."""

    code = "panel_refused"


class TokenRefused(PanelRefused):
    """The panel does not accept the token for this request, so that nothing was learned about its object."""

    code = "panel_token_refused"


class NotThere(PanelRefused):
    """The panel does not know the named object, which may have been created a moment ago."""

    code = "not_at_panel"


class PanelUnsure(OpenhypeError):
    """No answer came to a request: the panel may or may not have carried it out."""

    code = "panel_unsure"


class PanelUnreached(OpenhypeError):
    """The request was never sent, or the panel was too busy: it was not carried out."""

    code = "panel_unreached"


@dataclass(frozen=True)
class Submission:
    """The panel's record of one person's place."""

    id: str
    participant: str
    """'' if the panel does not say."""
    status: Status
    started_at: str = ""
    bonuses_cents: tuple[int, ...] = ()
    """Every bonus that the panel lists as paid; a fixed screen-out payment is among them."""
    code: str = ""
    """The completion code that was entered."""
    completed_at: str = ""
    is_asked_to_return: bool = False
    studies: tuple[str, ...] = ()
    """The panel's study, and the one it is part of; () if the panel does not say."""


@dataclass(frozen=True)
class ScreenOut:
    """A fixed payment by the panel itself to people who are screened out."""

    reward_cents: int
    slots: int
    """After this many the panel pauses the study."""


@dataclass(frozen=True)
class Recruitment:
    """An order to a panel: one study of its own, whatever the number of models."""

    name: str
    title: str
    description: str
    url: str
    """Of the task page, without the panel's parameters."""
    places: int
    minutes: float
    reward_cents: int
    codes: dict[str, str]
    """Completion codes by meaning: `done`, `no_consent`, `unfit_device`, `screened_out`, `fault`."""
    filters: Sequence[dict[str, Any]] = ()
    project: str = ""
    """The wallet that pays; '' leaves it to the panel."""
    is_signed: bool = False
    """Whether the panel signs its links."""
    screen_out: ScreenOut | None = None


@dataclass(frozen=True)
class StudyLink:
    """Where a study at the panel sends people, and how many."""

    url: str
    """Of the task page, without the panel's parameters."""
    is_signed: bool
    places: int


@dataclass(frozen=True)
class Workspace:
    """A wallet at the panel, and the projects that it pays for, as (id, title)."""

    id: str
    title: str
    projects: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Balance:
    """The money that a workspace has left to spend."""

    currency: str
    available_cents: int


@dataclass(frozen=True)
class Wages:
    """The panel's minimum and recommended hourly wages."""

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
    """How many of the latest events, by delivery status."""


class Panel(Interface):
    """A panel with an API.

    Every call raises `PanelRefused` (as `TokenRefused` or `NotThere` if that is the reason),
    `PanelUnsure` or `PanelUnreached`; only calls that are safe to repeat are retried internally. Safe to
    use from many threads.
    """

    name: str

    def workspaces(self) -> list[Workspace]: ...

    def balance(self, workspace: str) -> Balance: ...

    def wages(self, workspace: str, currency: str, filters: Sequence[Mapping[str, Any]] = ()) -> Wages:
        """Return the panel's wages for a study with these filters."""

    def create(self, order: Recruitment) -> str:
        """Create the panel's study, unpublished; return its id. An earlier one is found by its name."""

    def revise(self, study: str, order: Recruitment) -> None:
        """Change an unpublished study to an order of the same wallet."""

    def discard(self, study: str) -> None:
        """Delete an unpublished study; no error if that was done already."""

    def link(self, study: str) -> StudyLink:
        """Return where a study sends people, as the panel has it."""

    def state(self, study: str) -> StudyState:
        """Return the current state of a study."""

    def change(self, study: str, action: Literal["publish", "pause", "start", "stop"]) -> None:
        """Publish, pause, resume or stop a study; no error if that was done already."""

    def set_places(self, study: str, places: int) -> None:
        """Raise the number of places, which cannot shrink. A closed study is reopened."""

    def set_slots(self, study: str, code: str, screen_out: ScreenOut) -> None:
        """Raise the number of screen-outs that are paid for."""

    def cost(self, study: str, is_projected: bool = False) -> Cost:
        """Return the current cost of a study, or with `is_projected` once every place and slot is taken."""

    def submissions(self, study: str) -> Iterator[Submission]:
        """Yield all places that were ever taken, in the order of taking."""

    def submission(self, id: str, is_urgent: bool = False) -> Submission:
        """Return the current record of one place with its bonuses.

        Args:
            is_urgent: somebody is waiting for the answer, so that the request is sent once.
        """

    def complete(self, submission: str, code: str) -> None:
        """Report that a person is done; no error if that was done already."""

    def approve(self, submissions: Sequence[str]) -> None:
        """Approve rewards; no error if approved already. The panel may process this later."""

    def ask_to_return(self, submission: str, reason: str) -> None:
        """Ask a person to return a place."""

    def propose_bonuses(self, study: str, bonuses: Sequence[Bonus]) -> str:
        """Submit bonuses and return the payment's id; nobody is paid yet."""

    def pay_bonuses(self, payment: str) -> None:
        """Pay submitted bonuses. Not idempotent: repeated, it pays twice."""

    def add_test_participant(self, email: str) -> str:
        """Create a participant for testing studies; return the id."""

    def test(self, study: str) -> Rehearsal:
        """Publish a copy of a draft to the test participants."""
