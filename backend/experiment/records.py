"""Stored data as frozen records: studies, stimuli, sessions, responses.

Records hold facts: what was shown, for how long, what was answered. Whether an answer was right
and what it is worth is derived (`session.py`, `scoring.py`), never taken from the browser.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from backend.experiment.groups.stimuli import BETWEEN
from backend.experiment.model_groups import all_groups, groups_of_each
from backend.experiment.protocol import Protocol
from backend.experiment.questionnaire import Page, Question
from backend.foundation.frozen import dataclass

Truth = Literal["real", "fake"]
REAL: Truth = "real"
FAKE: Truth = "fake"
TRUTHS = (REAL, FAKE)
TEST, PRACTICE, CHECK, INSTRUCTED = "test", "practice", "check", "instructed"
"""Kinds of trials: scored; practice; attention checks by a picture beyond doubt, or by an instruction."""
TRIAL_KINDS = (TEST, PRACTICE, CHECK, INSTRUCTED)
_BYTES_PER_SESSION, _BYTES_PER_TRIAL = 4000, 130
"""A trial takes a name of 88 bytes, and references to it, to its truth and to its model."""


@dataclass(frozen=True)
class Stimulus:
    """One stimulus of a study's pool. `name` is its public file name, which reveals nothing about it.

    In studies of similarity it is an item, a pair or triplet of pictures: `name` has their names, in the
    order of their parts (`ref p0 p1`, or `p0 p1`), separated by spaces, and `model` is the set that it
    belongs to.
    """

    name: str
    truth: str
    """`real` or `fake`; of an item, the right answer in terms of its parts (`p0`, `same`), '' if none is."""
    model: str | None
    """The model that generated it; None for a real image."""
    class_: str = ""
    """The sub-folder that contained it; '' if the study has no classes."""
    source: str = ""
    """Path of the researcher's file, relative to the given folder; never leaves the server."""
    role: str = ""
    """`practice` or `check` for a stimulus that no scored trial shows; '' for all others. Such a stimulus has
    no class, and a fake from a folder of its own has the model ''."""


@dataclass(frozen=True)
class Condition:
    """What one evaluator of a study judges: a model or several, all classes or one, all exposures or one."""

    models: tuple[str, ...]
    class_: str = ""
    """'' for all classes, or if there are none."""
    arm: str = ""
    """The exposure, as text (`fixed_exposures.label`); '' for all, or if none are fixed."""

    @property
    def name(self) -> str:
        """Name by which stores count its sessions; unique, as no model has a comma, and no class a slash."""
        return "/".join(filter(None, (", ".join(self.models), self.class_, self.arm)))


PICTURES, CLIPS = "picture", "clip"
"""Media of studies, names in `stimuli/media`."""


@dataclass(frozen=True)
class ClipForm:
    """What all clips of a study have in common."""

    frames: int
    fps: tuple[int, int]
    """Frames a second, as numerator and denominator."""
    width: int
    height: int
    """Pixels, both even."""
    quality: int
    """At which all were encoded, so that those that join are (`stimuli/clips/encoding.py`); 0: unknown."""

    @property
    def seconds(self) -> float:
        """How long a clip plays."""
        return self.frames * self.fps[1] / self.fps[0]

    @property
    def described(self) -> str:
        rate = self.fps[0] / self.fps[1]
        return f"{self.frames} frames at {rate:.5g} a second, {self.width} x {self.height} px"


@dataclass(frozen=True)
class Study:
    """A study or a qualification: its name, its protocol, and the models it compares."""

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
    """Findings of the ingest that readers of the scores should know."""
    version: int = 1
    """Incremented by each change of this record, to guard against lost updates."""
    settings_id: str = ""
    """Id of the current settings; each change of settings gives a new one."""
    begun_at: str = ""
    """When the first real evaluator was about to be admitted, to wait or to be recruited; '' before.

    After that no setting changes.
    """
    deleted_at: str = ""
    """When its deletion began; '' if it is not being deleted."""
    pages: tuple[Page, ...] = ()
    """The researcher's own pages of instructions."""
    questions: tuple[Question, ...] = ()
    """The researcher's own questions before and after the task."""
    joined: tuple[int, ...] = ()
    """How many models there were each time before one joined; they stand last in `models`, in that order."""
    joined_at: tuple[str, ...] = ()
    """When each of these joined; UTC, ISO 8601."""
    closed: tuple[str, ...] = ()
    """Models that were withdrawn: no further sessions are opened for them. Only where sessions show one."""
    looks_digest: str = ""
    """SHA-256 of the plan of looks, stored when the study is begun; '' before, or without a plan."""
    looks_done: int = 0
    """How many looks were decided (`studies/look_records.py`)."""
    ended: tuple[str, ...] = ()
    """Models for which a look ended the sessions; all of them once the study has stopped."""
    ended_at: tuple[int, ...] = ()
    """Evaluators of each of these that the look had used."""
    newcomer_looks: tuple[int, ...] = ()
    """How many looks were decided of each model that joined, in that order; 0 of those beyond its end."""
    medium: str = PICTURES
    """What its stimuli are; one study has one medium."""
    clip: ClipForm | None = None
    """Of clips: their form."""

    @property
    def is_mixed(self) -> bool:
        """Whether the fakes of a session are of several models."""
        return self.protocol.stimuli.models_per_session > 1 and self.kind == "study"

    @property
    def model_groups(self) -> tuple[tuple[str, ...], ...]:
        """The groups of models whose fakes one session shows: each model alone, or in a mixed study several.

        Each model that the study was made with is in equally many groups, and so is each that joined, of
        those that came with it.
        """
        return all_groups(*self._grouping)

    @property
    def _grouping(self) -> tuple[tuple[str, ...], int, int, tuple[int, ...]]:
        size = self.protocol.stimuli.models_per_session if self.is_mixed else 1
        return self.models, size, self.protocol.admission.evaluators, self.joined

    @property
    def first_models(self) -> tuple[str, ...]:
        """The models that the study was made with."""
        return self.models[: self.joined[0]] if self.joined else self.models

    @property
    def newcomers(self) -> tuple[str, ...]:
        return self.models[len(self.first_models) :]

    @property
    def looks_of_newcomers(self) -> dict[str, int]:
        """How many looks were decided of each model that joined, which has looks of its own."""
        names = self.newcomers
        return dict(zip(names, (*self.newcomer_looks, *[0] * len(names)), strict=False))

    @property
    def has_stopped(self) -> bool:
        """Whether planned looks have ended the sessions of all models, but of those withdrawn."""
        return bool(self.ended) and {*self.models} <= {*self.ended, *self.closed}

    @property
    def first_have_ended(self) -> bool:
        """Whether a planned look has ended the sessions of all models that the study was made with."""
        return {*self.first_models} <= {*self.ended}

    @property
    def hides_scores(self) -> bool:
        """Whether scores of real sessions are hidden until a planned look ends the study."""
        return self.protocol.looks.looks_hide_scores and not self.has_stopped

    @property
    def at_last_look(self) -> "Study":
        """The study as it is if no look ends it before the last one."""
        last = max(len(self.protocol.looks.looks) - 1, 0)
        own = (last,) * len(self.newcomers)
        return dataclasses.replace(self, looks_done=last, newcomer_looks=own, ended=(), ended_at=())

    @property
    def most_evaluators(self) -> int:
        """Finished sessions wanted if no look ends a further model before its last one."""
        last = self.at_last_look
        done = self.looks_done if self.first_have_ended else last.looks_done
        return dataclasses.replace(
            self, looks_done=done, newcomer_looks=last.newcomer_looks
        ).evaluators_wanted

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the study for which sessions are opened; each evaluator judges one of them."""
        closed = {*self.closed, *self.ended}
        return tuple(one for one in self._all_conditions if closed.isdisjoint(one.models))

    @property
    def _all_conditions(self) -> tuple[Condition, ...]:
        """The conditions of the study, also those that were closed."""
        by_class = self.protocol.stimuli.class_design == BETWEEN and self.kind == "study"
        classes = (by_class and self.classes) or ("",)
        arms = (self.kind == "study" and self.protocol.arms) or ("",)
        return tuple(
            Condition(models, class_, arm)
            for models in self.model_groups
            for class_ in classes
            for arm in arms
        )

    @property
    def past_conditions(self) -> tuple[Condition, ...]:
        """The conditions that only sessions of before have; no new ones are opened for them.

        They are those of before a model joined, where sessions show all models, as in tournaments; and those
        of models that were withdrawn, or for which a look ended the sessions.
        """
        closed = {*self.closed, *self.ended}
        of_closed = (
            (one for one in self._all_conditions if not closed.isdisjoint(one.models)) if closed else ()
        )
        return (*(one for study in self._before for one in study.conditions), *of_closed)

    @property
    def _before(self) -> Iterator["Study"]:
        """Yield the study as it was each time before a model joined, if its sessions show all models."""
        if not self._shows_all:
            return
        for place, count in enumerate(self.joined):
            yield dataclasses.replace(
                self, models=self.models[:count], joined=self.joined[:place], joined_at=self.joined_at[:place]
            )

    @property
    def _shows_all(self) -> bool:
        return self.is_mixed and self.protocol.stimuli.models_per_session >= len(self.first_models)

    @property
    def sessions_a_condition(self) -> int:
        """Finished sessions wanted of each condition, so that each model is in as many as are wanted.

        With planned looks these are wanted until the next look, of the models that the study was made with.
        """
        looks = self.protocol.looks.looks if self.kind == "study" else ()
        place = min(self.looks_done - self.first_have_ended, len(looks) - 1)
        evaluators = looks[place] if looks else self.protocol.admission.evaluators
        return -(-evaluators // groups_of_each(*self._grouping))

    @property
    def wanted(self) -> dict[str, int]:
        """Finished sessions wanted of each condition, by its name; with planned looks until the next one."""
        looks, of_first = self.protocol.looks.looks, self.sessions_a_condition
        own = self.looks_of_newcomers if looks else {}
        return {
            one.name: looks[min(own[one.models[0]], len(looks) - 1)] if one.models[0] in own else of_first
            for one in self.conditions
        }

    @property
    def most_a_condition(self) -> int:
        """Finished sessions wanted of the condition of which the most are."""
        looks, own = self.protocol.looks.looks, max(self.newcomer_looks, default=0)
        return max(self.sessions_a_condition, looks[min(own, len(looks) - 1)] if looks and own else 0)

    @property
    def evaluators_wanted(self) -> int:
        """Finished sessions wanted, over all conditions; of models that a look ended, those that it used."""
        if self.is_mixed and self.ended:  # a look ends all models of mixed sessions at once
            return self.sessions_a_condition * len(self._all_conditions)
        return sum(self.wanted.values()) + sum(self.ended_at)

    def is_complete(self, finished: int) -> bool:
        """Return whether no further session is wanted beside so many that are finished."""
        return self.has_stopped if self.ended else finished >= self.evaluators_wanted

    def look_that_ended(self, model: str) -> int | None:
        """Return the planned look, from 1, that ended the sessions of a model; None if none has."""
        if model not in self.ended:
            return None
        used, looks = self.ended_at[self.ended.index(model)], self.protocol.looks.looks
        return min(sum(look < used for look in looks) + 1, len(looks))

    @property
    def evaluators_a_group(self) -> int:
        """Finished sessions wanted for each group of models, over all its conditions."""
        return self.sessions_a_condition * len(self._all_conditions) // max(len(self.model_groups), 1)

    @property
    def counted_groups(self) -> tuple[tuple[str, ...], ...]:
        """The groups of models of all sessions: those of `model_groups`, and those before models joined."""
        return (*self.model_groups, *(study.models for study in reversed([*self._before])))

    def group_label(self, models: Sequence[str]) -> str:
        """Return a group of models as a text: `all models` in qualifications, or if none is missing.

        The group of all models that there were before one joined is called after that one.
        """
        if len(models) == 1 and models[0] in self.closed:
            return f"{models[0]} (withdrawn)"
        if self._shows_all and len(models) in self.joined and tuple(models) == self.models[: len(models)]:
            return f"before {self.models[len(models)]} joined"
        is_all = self.kind == "qualification" or len(models) == len(self.models) > 1
        return "all models" if is_all else ", ".join(models)


@dataclass(frozen=True)
class PlannedBlock:
    """The stimuli of one block's trials, in order, with the right answers.

    A stimulus of several pictures is written as their names, separated by spaces.
    """

    stimuli: tuple[str, ...]
    truths: tuple[str, ...]
    """The right answers; '' where no answer is right or wrong."""
    models: tuple[str | None, ...]
    class_: str = ""
    by_need: tuple[int, ...] = ()
    """Indices of the stimuli that were drawn by the study's rule (`sampling`) rather than at random."""
    kinds: tuple[str, ...] = ()
    """The kind of each trial (`TRIAL_KINDS`); () if all are scored."""
    exposures_ms: tuple[float | None, ...] = ()
    """The fixed exposure of each trial, None without time limit; () if exposures are not fixed."""

    def kind(self, offset: int) -> str:
        """Return the kind of the trial at an index within the block."""
        return self.kinds[offset] if self.kinds else TEST

    @property
    def is_practice(self) -> bool:
        """Whether the block consists of practice trials; it is then the first one."""
        return bool(self.kinds) and self.kinds[0] == PRACTICE


@dataclass(frozen=True)
class Session:
    """One evaluator's visit: fixed when it is opened, never changed afterwards."""

    id: str
    study: str
    models: tuple[str, ...]
    """The models judged; () for a qualification, which gives no scores."""
    evaluator: str
    """A random pseudonym; the only identifier of the person that is exported."""
    evaluator_key: str | None
    """Keyed hash of the panel's id for this person; None if the panel gives none."""
    secret_hash: str
    completion_code: str
    seed: int
    opened_at: str
    blocks: tuple[PlannedBlock, ...]
    spares: tuple[PlannedBlock, ...]
    """Stimuli that replace voided ones, a block for each class of the session."""
    panel: dict[str, str] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)
    consent_version: str = ""
    is_simulated: bool = False
    """Whether `openhype simulate` opened it, so that nobody saw the stimuli; decided by the server."""
    settings_id: str = ""
    """The `settings_id` of its study when it was opened."""
    class_: str = ""
    """The class that is judged, if evaluators judge one each; else ''."""
    arm: str = ""
    """The exposure (as text) that is judged, if evaluators judge one each; else ''."""

    @property
    def model(self) -> str | None:
        """The model judged; None if the fakes are of several."""
        return self.models[0] if len(self.models) == 1 else None

    @property
    def condition(self) -> str | None:
        """Name of its condition; None for a qualification, which has none."""
        return Condition(self.models, self.class_, self.arm).name if self.models else None

    @property
    def sampled_by_need(self) -> frozenset[str]:
        """The stimuli that were drawn by the study's rule rather than at random."""
        return frozenset(block.stimuli[i] for block in self.blocks for i in block.by_need)

    @property
    def memory_bytes(self) -> int:
        """About how much memory it takes, for caches."""
        planned = (*self.blocks, *self.spares)
        return _BYTES_PER_SESSION + _BYTES_PER_TRIAL * sum(len(block.stimuli) for block in planned)


@dataclass(frozen=True)
class Timing:
    """Measured timing of a flash: each number of the countdown, the stimulus and each mask, in order."""

    evidence: str
    """`element` (the browser's presentation times), `worker` or `callback` (times of frame callbacks),
    `worker_element` or `worker_video` (callbacks of the worker, verified by the page; `docs/timing.md`)."""
    lateness_ms: float
    """Largest delay, after the start of the refresh, of a callback that changed what is shown."""
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
    """One answered trial, as facts. Times in ms; None if the method or the browser has none."""

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
    """Number of stimuli of this trial that were voided before this one."""
    timing: Timing | None = None
    interactions: tuple[Interaction, ...] = ()
    """Those since the previous answer."""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Other facts that the page posted, by column (`response_columns.FACTS`)."""
