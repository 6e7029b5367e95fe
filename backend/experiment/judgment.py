"""What evaluators are asked to judge: the seam between a kind of judgment and everything that plays it.

A judgment says what a trial shows, what may be answered, which answer is right, and how an evaluator's
answers become a value. Sessions, stores, replies, payment and export know a trial by its stimulus, its right
answer, its model and its class alone. A stimulus of several pictures is written as their names, separated by
spaces.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from backend.experiment.protocol import Protocol
from backend.experiment.records import Condition, PlannedBlock, Session, Stimulus, Study
from backend.experiment.response_columns import Column
from backend.experiment.sampling import Pool
from backend.experiment.session import Cursor
from backend.foundation.errors import InvalidInput

if TYPE_CHECKING:
    from random import Random

Plan = tuple[tuple[PlannedBlock, ...], tuple[PlannedBlock, ...]]
"""The blocks of a session, and the stimuli that replace mistimed ones."""


@dataclass(frozen=True)
class Method:
    """A way to ask for a judgment."""

    title: str
    """As people write it, such as `HYPE-infinity`."""
    score: str
    """What the score is, as a heading."""
    unit: str
    """Of values and scores: `percent` or `ms`."""
    protocol: Protocol
    """The settings that a study begins from."""


class Judgment(ABC):
    """A kind of judgment; `frontend/judgment_<name>.js` is its side of the page."""

    name: ClassVar[str]
    methods: ClassVar[Mapping[str, Method]]
    """By name, as `openhype create --method` takes it."""
    medium: ClassVar[str] = "picture"
    """What its stimuli are, as `stimuli/media` has it."""
    answers: ClassVar[tuple[str, ...]]
    """What may be answered: lower-case words."""
    source: ClassVar[str]
    """Where the methods are described, as papers cite it."""
    question: ClassVar[str]
    """What evaluators are asked, to stand after `Answers to the question`."""
    columns: ClassVar[Mapping[str, Column]] = {}
    """Columns of the responses file that hold something else here than `response_columns` says."""
    has_report: ClassVar[bool] = False
    """Whether `analysis` and `report` have its tables; otherwise scores are means of evaluators' values."""

    def check(self, protocol: Protocol, kind: str) -> None:
        """Refuse settings that this judgment does not have; `kind` is that of the study.

        Raises:
            InvalidInput: names the setting.
        """
        title = self.methods[protocol.method].title
        if kind == "qualification":
            raise InvalidInput(f"{title} has no qualifications; make a study")
        if protocol.page.debrief:
            raise InvalidInput(f"{title} has no debrief; leave debrief=false")

    @abstractmethod
    def lack(self, study: Study, pool: Pool) -> str:
        """Return what a pool lacks for one session, and what to do about it; "" where it is enough."""

    def check_pool(self, study: Study, pool: Pool) -> None:
        """Refuse a pool that is too small for one session of `study`.

        Raises:
            InvalidInput: what `lack` returns.
        """
        if message := self.lack(study, pool):
            raise InvalidInput(message)

    def notes(self, study: Study, pool: Pool) -> list[str]:
        """Return what a reader of the scores should know of a pool."""
        return []

    @abstractmethod
    def draw(
        self,
        study: Study,
        pool: Pool,
        condition: Condition | None,
        rng: "Random",
        coin: "Random",
        is_second: bool,
    ) -> Plan:
        """Return what a session shows.

        Args:
            condition: what the evaluator judges; None for a qualification.
            coin: shared by two evaluators of the condition, one after the other.
            is_second: whether this is the second of the two.
        """

    @abstractmethod
    def truth(self, shown: Sequence[Stimulus]) -> str:
        """Return the right answer to a trial that shows these pictures, in their order."""

    @abstractmethod
    def value(self, method: str, rows: Sequence[Mapping[str, Any]]) -> Fraction | float:
        """Return an evaluator's value, in the method's unit.

        Args:
            rows: the evaluator's responses, with the columns of the responses file.
        """

    def qualification_result(self, session: Session, protocol: Protocol, cursor: Cursor) -> dict[str, Any]:
        """Return how a qualification went; only for judgments that have them (`check`)."""
        raise NotImplementedError(f"{self.name} has no qualifications")


def pictures_of(stimulus: str) -> list[str]:
    """Return the names of the pictures that a trial shows, in their order."""
    return stimulus.split(" ")
