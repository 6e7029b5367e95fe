"""Panels: where evaluators come from, what is told of them, and how they are paid.

A panel is reached in two ways. The page meets it as parameters in a link and an address to go back to
(`record.py`); the researcher's commands meet it as the interface here. A panel without an API, such as
a link sent to colleagues, has the first only.

Money is in US cents inside. A *submission* is one person's place in a panel's study.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from typing import Protocol as Interface

from backend.errors import OpenhypeError

Status = Literal[
    "reserved", "active", "awaiting_review", "approved", "partially_approved", "rejected", "returned",
    "timed_out", "screened_out", "processing",
]  # fmt: skip
"""Where a submission stands, whatever way an endpoint spells it."""


class PanelRefused(OpenhypeError):
    """The panel answered that it will not do this; asked again, it will not either."""


class PanelUnsure(OpenhypeError):
    """The panel was asked, and no answer came: it may have done it, or may not."""


class PanelUnreached(OpenhypeError):
    """The request never left, or the panel said that it was too busy: it has not done it."""


@dataclass(frozen=True)
class Submission:
    """What the panel says of one person's place."""

    id: str
    participant: str
    status: Status
    started_at: str = ""
    bonuses_usd_cents: tuple[int, ...] = ()
    """Every bonus that the panel says was paid."""


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
    reward_usd_cents: int
    codes: dict[str, str]
    """Completion codes by what they say: `done`, `no_consent`, `unfit_device`, `screened_out`, `fault`."""
    filters: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class Bonus:
    """One person's bonus."""

    submission: str
    usd_cents: int


class Panel(Interface):
    """A panel with an API.

    Every call raises `PanelRefused`, `PanelUnsure` or `PanelUnreached`; only calls that may be
    repeated without harm are repeated inside.
    """

    name: str

    def create(self, order: Recruitment) -> str:
        """Make the panel's study, not yet published; return its id. Finds the one made before by its name."""

    def change(self, study: str, action: Literal["publish", "pause", "start", "stop"]) -> None:
        """Publish, pause, go on with or stop a study; done already is no error."""

    def is_closed(self, study: str) -> bool:
        """Return whether the panel offers no place any more, not even one that is given back."""

    def set_places(self, study: str, places: int) -> None:
        """Raise the number of places; it can only grow. A study that was closed is open again."""

    def cost_usd_cents(self, study: str) -> int:
        """Return what the study costs as it stands, with fees."""

    def submissions(self, study: str) -> Iterator[Submission]:
        """Yield all places that were ever taken."""

    def submission(self, id: str) -> Submission:
        """Return one place with its bonuses, as it stands now."""

    def complete(self, submission: str, code: str) -> None:
        """Say that a person is done; done already is no error."""

    def approve(self, submission: str) -> None:
        """Pay a submission's reward; approved already is no error."""

    def propose_bonuses(self, study: str, bonuses: Sequence[Bonus]) -> str:
        """Hand in bonuses and return the payment's id; nobody is paid yet."""

    def pay_bonuses(self, payment: str) -> None:
        """Pay what was handed in. Not idempotent: done twice, it pays twice."""
