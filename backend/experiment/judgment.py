"""Judgments: the interface between what evaluators are asked and the code that runs a study.

A judgment defines what a trial shows, which answers are allowed, which one is right, and how an evaluator's
answers become a value. Sessions, stores, replies, payment and export use only a trial's stimulus, right
answer, model and class. A stimulus of several pictures is written as their names, separated by spaces.
"""

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from backend.experiment.groups.follow_ups import ALL, NONE
from backend.experiment.groups.stimuli import BETWEEN
from backend.experiment.made_items import MadeItems
from backend.experiment.not_sure import NOT_SURE
from backend.experiment.protocol import Protocol
from backend.experiment.records import PICTURES, Condition, PlannedBlock, Session, Stimulus, Study
from backend.experiment.response_columns import Column
from backend.experiment.sampling import Pool
from backend.experiment.session import Cursor, Picture
from backend.experiment.setting_errors import invalid_setting
from backend.foundation.errors import InvalidInput
from backend.foundation.frozen import dataclass

if TYPE_CHECKING:
    from random import Random

PLACE_COLUMNS = ("item", "left", "right")
"""Columns that only judgments of several pictures have."""

Refusal = tuple[bool, str, tuple[str, ...]]
"""Whether settings are wrong, what to say after the method's title, and which entries are meant."""
UNSCORED = (
    "practice_images",
    "picture_checks",
    "instructed_checks",
    "exclude_checks_below",
    "exclude_faster_ms",
)
"""The settings of trials that are not scored, and of exclusion."""
NO_QUALIFICATIONS = "has no qualifications; make a study"
Plan = tuple[tuple[PlannedBlock, ...], tuple[PlannedBlock, ...]]
"""The blocks of a session, and the spare stimuli that replace mistimed ones."""


@dataclass(frozen=True)
class Turn:
    """Whose session is drawn, and the random generators to draw it with."""

    condition: Condition | None
    """What the evaluator judges; None for a qualification."""
    number: int
    """Number of sessions of the condition before this one."""
    rng: "Random"
    balance_rng: "Random"
    """It gives two consecutive evaluators of the condition the same numbers."""

    @property
    def is_second(self) -> bool:
        """Whether the evaluator is the second of two who share `balance_rng`."""
        return self.number % 2 == 1


@dataclass(frozen=True)
class Planning:
    """How studies of a method are planned (`analysis/planning/plan.py`)."""

    difference: float | None = None
    """Between two models, in the score's unit, to ask for at first; None where no test compares models."""
    without_pilot: Literal["papers", "simulated", ""] = ""
    """Whose evaluators a plan takes as an example without a pilot; '' for nobody's."""
    image_seconds: float = 6.0
    """Typical time that an image takes."""
    right_usd_cents: float = 2.0
    """Typical pay for each right answer."""
    fewest_models: int = 1
    is_halved: bool = False
    """Whether half of a session's images are real, so that their number is even."""


@dataclass(frozen=True)
class Method:
    """A method that asks for a judgment, such as HYPE-infinity."""

    title: str
    """Name for display, such as `HYPE-infinity`."""
    score: str
    """Description of the score, used as a heading."""
    unit: str
    """Unit of values and scores: `percent` or `ms`; '' for log-odds."""
    protocol: Protocol
    """The default settings of a study, with the title and the consent text of this method."""
    qualification: Protocol | None = None
    """The default settings of a qualification; None if there are no qualifications of this method."""
    label: str = ""
    """What the console calls it; '' for its title."""
    meaning: str = ""
    """What the console says of it: what evaluators do, and what comes out."""
    is_common: bool = False
    """Whether the console offers it first, since most studies choose among it and its like."""
    takes: tuple[str, ...] = ()
    """The settings that it has of those which only some methods have (`Declared.by_method`)."""
    needs_columns: tuple[str, ...] = ()
    """Columns that its responses files need besides `response_columns.NEEDED`."""
    numbers_scored: tuple[str, ...] = ()
    """Columns of numbers that its scores use."""
    planning: Planning | None = None
    """None if its studies are not planned by precision and power."""

    def __post_init__(self) -> None:
        if not (self.protocol.consent.title and self.protocol.consent.consent_text):
            raise ValueError(f"the protocol of {self.title} must have a title and a consent_text")

    def has(self, name: str) -> bool:
        """Return whether a setting that only some methods have is one of this method."""
        return name in self.takes or name in vars(self.protocol.judgment)

    @property
    def has_exposures(self) -> bool:
        """Whether responses are scored by their exposures: of a staircase, or fixed beforehand."""
        return "exposure_ms" in self.needs_columns

    @property
    def has_fixed_exposures(self) -> bool:
        """Whether responses are scored by exposures that are fixed beforehand."""
        return self.has_exposures and not self.has("staircase")


class Judgment(ABC):
    """A kind of judgment; `frontend/task/judgment_<name>.js` implements it in the page."""

    name: ClassVar[str]
    methods: ClassVar[Mapping[str, Method]]
    """By the name that `openhype create --method` accepts."""
    trial_shows: ClassVar[Literal["picture", "pair", "triplet"]] = "picture"
    """What is counted as a trial where evaluators are told how many there are."""
    media: ClassVar[tuple[str, ...]] = (PICTURES,)
    """The media that its stimuli can have, names in `stimuli/media`."""
    answers: ClassVar[tuple[str, ...]]
    """The allowed answers, as lower-case words."""
    source: ClassVar[str]
    """Citation of the publication that describes the methods."""
    question: ClassVar[str]
    """What evaluators are asked, worded to follow `Answers to the question`."""
    columns: ClassVar[Mapping[str, Column]] = {}
    """Columns of the responses file whose contents differ from `response_columns`."""
    d_prime_divisor: ClassVar[float | None] = None
    """The share of right answers at sensitivity d' is Phi(d' / divisor); None if there is no such rule."""
    own_columns: ClassVar[tuple[str, ...]] = ()
    """Those of `PLACE_COLUMNS` that its rows have (`row`)."""
    parts: ClassVar[tuple[str, ...]] = ()
    """The parts of an item, such as `ref`, `p0`, `p1`, in the order of the names in the pool
    (`records.Stimulus`); () if the pool consists of reals and of models' fakes."""
    item_answers: ClassVar[tuple[str, ...]] = ()
    """The right answers that items with a known answer can have, in terms of their parts."""
    votes: ClassVar[tuple[str, ...]] = ()
    """The words of `vote`; () if an export has no table of votes."""
    counts_pairs: ClassVar[bool] = False
    """Whether sessions are planned from the answers so far (`studies/tournament_counts.py`)."""
    has_truth: ClassVar[bool] = True
    """Whether every scored trial has a right answer; else `truth` may be '', and scores count no errors."""

    @property
    def pictures_a_trial(self) -> int:
        """How many pictures, or clips, a trial shows."""
        return {"picture": 1, "pair": 2, "triplet": 3}[self.trial_shows]

    @property
    def has_items(self) -> bool:
        """Whether its pool consists of items, each a fixed pair or triplet of pictures."""
        return bool(self.parts)

    def made_items(self, protocol: Protocol, given: Sequence[str]) -> list[MadeItems]:
        """Return the items of known answer to make from the study's own references.

        Args:
            given: roles whose items the researcher supplies.
        """
        return []

    def with_pool(self, protocol: Protocol, pool: Pool, is_given: Container[str]) -> Protocol:
        """Return the settings of a new study with those that follow from its pool.

        Args:
            is_given: names of the settings that the researcher chose.
        """
        return protocol

    def check(self, protocol: Protocol, kind: str) -> None:
        """Check that this judgment supports the settings of a study of `kind`.

        Raises:
            InvalidInput: names what is not supported.
        """
        self.check_settings(protocol, kind)

    def check_settings(self, protocol: Protocol, kind: str, refusals: Sequence[Refusal] = ()) -> None:
        """Check what most judgments do not support, and the judgment's own `refusals`.

        Args:
            refusals: as for `refuse`.

        Raises:
            InvalidInput: names the first setting that is not supported.
        """
        method, asked = self.methods[protocol.method], protocol.follow_ups
        unscored = protocol.unscored
        is_unscored = bool(unscored.practice_images or unscored.checks or protocol.exclusion.is_declared)
        asks_why = asked.reasons or asked.comment != NONE
        refused = (
            (kind == "qualification" and not method.qualification, NO_QUALIFICATIONS, ("kind", "method")),
            (protocol.page.debrief, "has no debrief; leave debrief=false", ("debrief",)),
            (
                is_unscored,
                "has no practice trials, attention checks and rules for exclusion; leave them out",
                UNSCORED,
            ),
            (
                protocol.stimuli.models_per_session > 1,
                "shows one model a session; leave models_per_session=1",
                ("models_per_session",),
            ),
            (
                bool(asks_why) and asked.reasons_for not in (*self.answers, ALL),
                f"has no answer {asked.reasons_for!r}; set reasons_for=all",
                ("reasons_for", "reasons", "comment"),
            ),
            (asked.mark != NONE, "has no marks; leave mark=none", ("mark",)),
            *look_refusals(protocol, kind),
            *not_sure_refusals(protocol, kind),
            *refusals,
        )
        refuse(method.title, refused)

    def answers_of(self, protocol: Protocol) -> tuple[str, ...]:
        """Return the answers that a study with these settings allows."""
        return (*self.answers, NOT_SURE) if protocol.page.not_sure else self.answers

    def judges_reals(self, protocol: Protocol) -> bool:
        """Return whether evaluators see the reals of a study."""
        return True

    def possible_answers(self, method: str) -> tuple[str, ...]:
        """Return the answers that a method's responses can have, whatever the settings."""
        return (*self.answers, NOT_SURE) if self.methods[method].has("not_sure") else self.answers

    @abstractmethod
    def lack(self, study: Study, pool: Pool) -> str:
        """Return what a pool lacks for one session, and what to do about it; "" if it is sufficient."""

    def check_pool(self, study: Study, pool: Pool) -> None:
        """Check that a pool is large enough for one session of `study`.

        Raises:
            InvalidInput: the pool is too small; the message is that of `lack`.
        """
        if message := self.lack(study, pool):
            raise InvalidInput(message)

    def notes(self, study: Study, pool: Pool) -> list[str]:
        """Return notes on a pool for readers of the scores."""
        return []

    def join_problem(self, study: Study) -> str:
        """Return why no further model can join a study, worded to follow its name; "" if one can."""
        return (
            f"is {self.methods[study.protocol.method].title}, to which nothing can be added later: models "
            "join studies of real or fake, of pairs, and tournaments; make another study"
        )

    @abstractmethod
    def draw(self, study: Study, pool: Pool, turn: Turn) -> Plan:
        """Return the blocks and the spares of one session."""

    @abstractmethod
    def truth(self, shown: Sequence[Stimulus]) -> str:
        """Return the right answer to a trial that shows these stimuli in this order; "" if none is right."""

    def item_truth(self, item: Stimulus, names: Sequence[str]) -> str:
        """Return the right answer to a trial that shows an item's pictures in the order of `names`.

        Only for a judgment that `has_items`.
        """
        return item.truth

    def simulated_answer(self, item: Stimulus, names: Sequence[str], accuracy: float, rng: "Random") -> str:
        """Return a simulated evaluator's answer to a trial with an item of which no answer is right.

        Args:
            names: the item's pictures as shown.
            accuracy: probability (0 to 1), averaged over items, of the answer that most would give.
        """
        return rng.choice(self.answers)

    def row(self, picture: Picture, item: Stimulus | None) -> dict[str, Any]:
        """Return the columns of a response's row that only this judgment has, or has in another way.

        Args:
            picture: what the trial showed.
            item: the item that was shown, for a judgment that `has_items`.
        """
        return {}

    def contestants(self, study: Study) -> tuple[str, ...]:
        """Return the contestants of a study, its models first; only for a judgment that `counts_pairs`."""
        raise NotImplementedError(f"{self.name} counts no pairs")

    def outcome(self, model: str, answer: str) -> tuple[tuple[str, str], int]:
        """Return two contestants in alphabetical order, and for which an answer is: 0, 2, or 1 for neither.

        Only for a judgment that `counts_pairs`.

        Args:
            model: of the trial, in the plan.
        """
        raise NotImplementedError(f"{self.name} counts no pairs")

    def simulated_choice(self, strengths: Sequence[float], protocol: Protocol, rng: "Random") -> str:
        """Return a simulated evaluator's answer to a trial of which no answer is right.

        Args:
            strengths: how real each picture shown looks, in log-odds.
        """
        return rng.choice(self.answers_of(protocol))

    @abstractmethod
    def value(self, method: str, rows: Sequence[Mapping[str, Any]]) -> Fraction | float:
        """Return an evaluator's value, in the method's unit.

        Args:
            rows: the evaluator's responses, by column of the responses file.
        """

    def vote(self, row: Mapping[str, Any]) -> str:
        """Return an answer's vote, which does not depend on how the pictures were ordered.

        Args:
            row: a scored response, by column of the responses file.
        """
        return str(row["response"])

    def voted_on(self, row: Mapping[str, Any]) -> tuple[str, str]:
        """Return what a vote is on: the name of its item ('' without items), and its pictures."""
        return row.get("item") or "", item_key(row["stimulus"])

    def qualification_result(self, session: Session, protocol: Protocol, cursor: Cursor) -> dict[str, Any]:
        """Return the result of a qualification; only for judgments that support them (`check`)."""
        raise NotImplementedError(f"{self.name} has no qualifications")


def not_sure_refusals(protocol: Protocol, kind: str) -> tuple[Refusal, ...]:
    """Return what the answer `not_sure` does not go with, for `refuse`."""
    allows = protocol.page.not_sure
    return (
        (
            allows and kind == "qualification",
            "has no answer not_sure in a qualification, where each answer is right or wrong; leave "
            "not_sure=false",
            ("not_sure", "kind"),
        ),
        (
            allows and protocol.follow_ups.confidence != NONE,
            "asks for doubt either by not_sure or by confidence, which says it in degrees; leave "
            "not_sure=false or confidence=none",
            ("not_sure", "confidence"),
        ),
    )


def look_refusals(protocol: Protocol, kind: str) -> tuple[Refusal, ...]:
    """Return what planned looks do not go with, for `refuse`."""
    is_planned, shown = bool(protocol.looks.looks), protocol.stimuli
    is_between = shown.class_design == BETWEEN or bool(protocol.arms)
    return (
        (
            is_planned and kind == "qualification",
            "has no looks in a qualification; leave them out",
            ("looks", "kind"),
        ),
        (
            is_planned and is_between,
            "counts the evaluators of a look for each model, not for each of its classes or exposures; leave "
            "class_design and exposure_design within, or looks empty",
            ("looks", "class_design", "exposure_design"),
        ),
    )


def refuse(title: str, refusals: Iterable[Refusal]) -> None:
    """Raise InvalidInput for the first setting that is wrong.

    Args:
        title: of the method.
        refusals: whether a setting is wrong, what to say after the title, and which settings are meant.
    """
    for is_wrong, message, names in refusals:
        if is_wrong:
            raise invalid_setting(f"{title} {message}", *names)


def pictures_of(stimulus: str) -> list[str]:
    """Return the names of the pictures of a stimulus, in order."""
    return stimulus.split(" ")


def item_key(stimulus: str) -> str:
    """Return a key of an item that is the same in whatever order its pictures are shown."""
    return " ".join(sorted(pictures_of(stimulus)))
