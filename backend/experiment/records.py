"""What is stored, as frozen records: studies, stimuli, sessions, responses.

Records hold facts: what was shown, for how long, what was answered. Whether an answer was right
and what it is worth is derived (`session.py`, `scoring.py`), never stored from a browser's word.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from backend.experiment.protocol import BETWEEN, Protocol

Truth = Literal["real", "fake"]
REAL: Truth = "real"
FAKE: Truth = "fake"
TRUTHS = (REAL, FAKE)


@dataclass(frozen=True)
class Stimulus:
    """One picture of a study's pool. `name` is its public file name and says nothing."""

    name: str
    truth: Truth
    model: str | None
    """The model that made it; None for a real image."""
    class_: str = ""
    """The sub-folder it came from; '' where a study has no classes."""
    source: str = ""
    """Path of the researcher's file, relative to the folder given; never leaves the server."""


@dataclass(frozen=True)
class Condition:
    """What one evaluator of a study judges: a model, and one class of it where evaluators judge one each."""

    model: str
    class_: str = ""
    """'' for all classes, or where there are none."""

    @property
    def name(self) -> str:
        """The condition's name, by which stores count its sessions; a class is a folder and has no slash."""
        return f"{self.model}/{self.class_}" if self.class_ else self.model


@dataclass(frozen=True)
class Study:
    """A study or a qualification: its name, its numbers, and the models it compares."""

    name: str
    kind: Literal["study", "qualification"]
    models: tuple[str, ...]
    protocol: Protocol
    created_at: str
    """UTC, ISO 8601."""
    classes: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    """Public file names of the study's masks."""
    notes: tuple[str, ...] = ()
    """What the intake found that a reader of the scores should know."""
    version: int = 1
    """Grows with each change of this record, and guards it against lost updates."""
    settings_id: str = ""
    """Names the protocol as it stands; every change of settings gives another. '' in older studies."""
    begun_at: str = ""
    """When the first real evaluator was about to be let in; '' before. From then on no setting changes."""
    deleted_at: str = ""
    """When its deletion began; '' in a study that stays."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What its evaluators judge, each one of these."""
        by_class = self.protocol.stimuli.class_design == BETWEEN and self.kind == "study"
        classes = (by_class and self.classes) or ("",)
        return tuple(Condition(model, class_) for model in self.models for class_ in classes)

    @property
    def evaluators_wanted(self) -> int:
        """Finished sessions wanted, over all conditions."""
        return self.protocol.admission.evaluators * len(self.conditions)

    @property
    def evaluators_a_model(self) -> int:
        """Finished sessions wanted of each model, over all its conditions."""
        return self.evaluators_wanted // max(len(self.models), 1)


@dataclass(frozen=True)
class PlannedBlock:
    """What the trials of one block show, in their order, with the right answers.

    A stimulus of several pictures is written as their names, separated by spaces.
    """

    stimuli: tuple[str, ...]
    truths: tuple[str, ...]
    """The right answers."""
    models: tuple[str | None, ...]
    class_: str = ""


@dataclass(frozen=True)
class Session:
    """One evaluator's visit: fixed when it is opened, never changed afterwards."""

    id: str
    study: str
    model: str | None
    """The model judged; None for a qualification, which mixes models."""
    evaluator: str
    """A random pseudonym; the only name that leaves in an export."""
    evaluator_key: str | None
    """Keyed hash of the panel's id for this person; None where the panel gives none."""
    secret_hash: str
    completion_code: str
    seed: int
    opened_at: str
    blocks: tuple[PlannedBlock, ...]
    spares: tuple[PlannedBlock, ...]
    """Pictures that take the place of voided ones, a block for each class of the session."""
    panel: dict[str, str] = field(default_factory=dict)
    device: dict = field(default_factory=dict)
    consent_version: str = ""
    is_simulated: bool = False
    """Whether `openhype simulate` opened it, so that nobody looked at the pictures; decided by the server."""
    settings_id: str = ""
    """That of its study when it was opened."""
    class_: str = ""
    """The one class judged where evaluators judge one each; else ''."""

    @property
    def condition(self) -> str | None:
        """The name of its condition; None for a qualification, which has none."""
        return None if self.model is None else Condition(self.model, self.class_).name


@dataclass(frozen=True)
class Timing:
    """What is known of a flash: of each number of the countdown, the picture and each mask, in order."""

    evidence: str
    """`element` (the browser's presentation times), `worker` or `callback` (times of frame callbacks)."""
    lateness_ms: float
    """The latest callback that changed what is shown, after the start of its refresh."""
    planned_frames: tuple[int, ...]
    achieved_frames: tuple[int, ...]
    phase_ms: tuple[float, ...]


@dataclass(frozen=True)
class Interaction:
    """What an evaluator did on the page besides answering."""

    event: str
    """`focus`, `blur`, `fullscreenenter` or `fullscreenexit`."""
    time_ms: float
    """Since the page was opened."""


@dataclass(frozen=True)
class Response:
    """One answered trial, as facts. Times in ms; None where a method or a browser has none."""

    trial_index: int
    block: int
    stimulus: str
    response: str
    exposure_ms: float | None
    shown_ms: float | None
    frames: int | None
    frame_ms: float | None
    mask_ms: tuple[float, ...] | None
    rt: float | None
    flags: tuple[str, ...]
    at: str
    """When the server stored it; UTC, ISO 8601."""
    attempt: int = 0
    """How many pictures of this trial were voided before this one."""
    timing: Timing | None = None
    interactions: tuple[Interaction, ...] = ()
    """Since the answer before."""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What else the page posted, by column (`response_columns.FACTS`)."""
