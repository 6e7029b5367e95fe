"""Simulated evaluators who take part through the real HTTP API, many at a time.

The API reveals the truth to nobody before a response. A simulated evaluator reads it from the store, with
the researcher's key, in place of a person who sees it in the picture. With the same key its session is
opened as a simulated one, which counts, pays and limits nothing: trying out a study does not use it up.

The same seed on the same pictures gives the same responses: the evaluators are numbered, their sessions are
opened in that order, and each has its own random numbers. Later calls continue the numbering.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any

from backend.administration.clear import clear_outdated
from backend.administration.simulated_pictures import (
    accuracy_at,
    picture_effects,
    strengths_of,
)
from backend.administration.simulated_sessions import SURE_BY, Client, Refused, open_session, play
from backend.experiment import sampling
from backend.experiment.judgment import pictures_of
from backend.experiment.judgments import judgment_of
from backend.experiment.not_sure import NOT_SURE
from backend.experiment.observer import PICTURE_SD, ConstantObserver, Observer, parse_observer
from backend.experiment.records import REAL, Session, Stimulus, Study
from backend.experiment.response_columns import number
from backend.experiment.session import Cursor
from backend.experiment.simulated_follow_ups import certainty, simulated_follow_ups
from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError
from backend.stores.store import Store
from backend.studies.tournament_counts import is_counted

_SEED_BITS = 31
_DEFAULT_OBSERVER = "0.75"
_STRONGEST, _LARGEST_STRENGTH = 1.0, 20
NOT_SURE_BELOW = 0.2
"""Certainty (0 to 1) below which simulated evaluators are not sure, where they may say so: at an accuracy of
75%, 16% of the answers."""
ATTENTION = 0.98
"""Probability (0 to 1) of a right answer to an attention check."""


def simulate(
    store: Store,
    name: str,
    observers: Mapping[str, str],
    *,
    url: str,
    key: str,
    evaluators: int | None = None,
    strengths: Mapping[str, str] = MappingProxyType({}),
    sd: float = 0.0,
    picture_sd: float = PICTURE_SD,
    seed: int = 0,
    at_once: int = 8,
    progress: Callable | None = None,
) -> int:
    """Run simulated evaluators through a study at a server; return how many finished.

    If the study requires a qualification, each evaluator first takes it and passes.

    Args:
        observers: by model (or `all`), an accuracy or a psychometric function as text.
        url: address of a server of this store.
        key: the server's researcher's key.
        evaluators: number to run; default: as many as the study wants, minus those already simulated.
        strengths: in a tournament, how real each model looks (log-odds), as text; `real`: the reals.
        sd: standard deviation between evaluators of the accuracy, or of each strength.
        picture_sd: standard deviation between the pictures of a model, in probits.
        progress: wraps an iterable: `progress(items, total, label)`. If it raises, evaluators who have begun
            finish, and no others begin.

    Raises:
        InvalidInput: the study does not have a model, or the server does not accept the key.
        Conflict: the simulated sessions were removed while they ran.
    """
    study = store.study(name)
    models, looks = checked(study, observers, strengths)
    clear_outdated(store, study)  # left by a change of settings that was killed
    existing = list(store.sessions(name, simulated=True))
    count = wanted(study, existing) if evaluators is None else evaluators
    with ThreadPoolExecutor(at_once) as pool:
        run = _Run(url, key, store, study, models, looks, sd, picture_sd, seed, len(existing))
        runs = [pool.submit(run.one, i) for i in range(count)]
        finished = as_completed(runs)
        try:
            for each in progress(finished, count, "evaluators") if progress else finished:
                each.result()
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if explanation := _explanation(error, name, url):
                raise explanation from None
            raise
    return count


def checked(
    study: Study, observers: Mapping[str, str], strengths: Mapping[str, str]
) -> tuple[dict[str, Observer], dict[str, float]]:
    """Return the observer of each model, and how real each looks in a tournament.

    Raises:
        InvalidInput: one is of no model, or does not go with the study's method.
    """
    if observers and is_counted(study):
        raise InvalidInput(
            "in a tournament no answer is right; give --strength MODEL=0.5 instead of --accuracy"
        )
    return _parse_observers(study, observers), parse_strengths(study, strengths)


@dataclass
class _Run:
    """The simulated evaluators of one call, numbered from 0."""

    base: str
    key: str
    store: Store
    study: Study
    observers: Mapping[str, Observer]
    strengths: Mapping[str, float]
    sd: float
    picture_sd: float
    seed: int
    first_number: int
    """How many were there before: the number of the first one among all."""
    turns: "_Turns" = field(default_factory=lambda: _Turns())

    def __post_init__(self):
        self.pictures = _Pictures(self.store, self.study)
        gate = self.study.protocol.admission.qualification
        self.qualification = self.store.study(gate) if gate else None
        self.gate_pictures = _Pictures(self.store, self.qualification) if self.qualification else {}

    def one(self, i: int) -> None:
        """Have an evaluator take part, having passed the qualification if there is one."""
        number = self.first_number + i
        rng, pictures = Random(f"{self.seed} {number}"), Random(f"pictures {self.seed} {number}")
        client = Client(self.base)
        try:
            opened = self._opened_in_turn(client, i, pictures)
            varied = {
                model: observer.varied(self.sd, rng) if self.sd else observer
                for model, observer in self.observers.items()
            }

            answers = judgment_of(self.study.protocol.method).answers
            may_doubt = self.study.protocol.page.not_sure
            accuracies = []

            def answer(
                truth: str, model: str | None, exposure_ms: float | None, shown: Sequence[Stimulus]
            ) -> str:
                observer = varied.get(model or "") or varied.get("all") or rng.choice([*varied.values()])
                accuracies.append(observer.accuracy(exposure_ms))
                effects = [self.pictures.effects.get(each.name, 0.0) for each in shown]
                right = accuracy_at(observer, exposure_ms, effects, self.picture_sd)
                response = ConstantObserver(right).answer(truth, None, rng, answers)
                is_unsure = may_doubt and certainty(response == truth, right, rng) < NOT_SURE_BELOW
                return NOT_SURE if is_unsure else response

            for_questions = Random(f"questions {self.seed} {number}")
            for_follow_ups = Random(f"follow-ups {self.seed} {number}")

            def attentive(right: str) -> str:
                accuracies.append(ATTENTION)
                return ConstantObserver(ATTENTION).answer(right, None, rng, answers)

            def follow(response: str, truth: str, name: str) -> dict[str, Any]:
                right, sure_by = response == truth, accuracies[-1]
                return simulated_follow_ups(
                    self.study.protocol, response, right, sure_by, Random(name), for_follow_ups
                )

            own = {model: rng.gauss(mean, self.sd) for model, mean in self.strengths.items()}
            judgment = judgment_of(self.study.protocol.method)

            def prefer(shown: list[Stimulus], names: Sequence[str]) -> str:
                if not judgment.has_items:
                    accuracies.append(SURE_BY)
                    looks = strengths_of(shown, own, self.pictures.effects, self.picture_sd)
                    return judgment.simulated_choice(looks, self.study.protocol, rng)
                set_ = shown[0].model or ""
                observer = varied.get(set_) or varied.get("all") or rng.choice([*varied.values()])
                accuracies.append(observer.accuracy(None))
                return judgment.simulated_answer(shown[0], names, accuracies[-1], rng)

            flags = ("simulated",)
            play(
                client,
                self.study,
                self.pictures,
                answer,
                opened,
                flags,
                for_questions,
                attentive,
                follow,
                prefer,
            )
        finally:
            client.close()

    def _opened_in_turn(self, client: Client, i: int, pictures: Random) -> dict[str, Any]:
        try:
            gate = self.qualification
            token = None if gate is None else self._pass_qualification(client, gate, pictures)
        except BaseException:
            with self.turns.after(i):
                raise
        with self.turns.after(i):
            return self._open(client, self.study, pictures, token)

    def _pass_qualification(self, client: Client, gate: Study, pictures: Random) -> str:
        """Take the study's qualification, all right, and return the token that proves it."""
        opened = self._open(client, gate, pictures, None)
        done = play(
            client,
            gate,
            self.gate_pictures,
            lambda truth, model, exposure_ms, shown: truth,
            opened,
            ("simulated",),
            Random(opened["token"]),
        )
        return done["token"]

    def _open(self, client: Client, study: Study, pictures: Random, token: str | None) -> dict[str, Any]:
        fields = {
            "device": {"simulated": True},
            "qualification_token": token,
            "simulated": True,
            "seed": pictures.getrandbits(_SEED_BITS),
        }
        return open_session(client, study, fields, self.key)


class _Turns:
    """Admits numbered callers one at a time, in the order of their numbers, until one fails."""

    def __init__(self) -> None:
        self._next, self._changed = 0, threading.Condition()
        self._error: BaseException | None = None

    @contextmanager
    def after(self, number: int) -> Iterator[None]:
        """Wait for all lower numbers; admit the next one on exit.

        Raises:
            BaseException: that of the first caller who failed; a silent server holds that one only.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._next == number)
        try:
            if self._error is not None:
                raise self._error
            yield
        except BaseException as error:
            self._error = error
            raise
        finally:
            with self._changed:
                self._next += 1
                self._changed.notify_all()


def _parse_observers(study: Study, observers: Mapping[str, str]) -> dict[str, Observer]:
    unknown = sorted(set(observers) - set(study.models) - {"all"})
    if unknown:
        raise InvalidInput(
            f"study {study.name} has no model {unknown[0]!r}; it has {', '.join(study.models)}"
        )
    missing = [] if "all" in observers else [model for model in study.models if model not in observers]
    texts = {**observers, **dict.fromkeys(missing, _DEFAULT_OBSERVER)}
    divisor = judgment_of(study.protocol.method).d_prime_divisor
    return {model: parse_observer(text, divisor) for model, text in texts.items()}


def parse_strengths(study: Study, strengths: Mapping[str, str]) -> dict[str, float]:
    """Return how real each contestant looks, in log-odds; those not given are evenly spaced, in order.

    The first model looks least real; the reals look more real than all models.

    Raises:
        InvalidInput: the study is no tournament, has no such model, or a strength is no number.
    """
    if not is_counted(study):
        if strengths:
            raise InvalidInput(
                f"--strength is for tournaments, and {study.name} is none; give --accuracy MODEL=0.8"
            )
        return {}
    names = (*study.models, REAL)
    span = 2 * _STRONGEST / max(len(study.models) - 1, 1)
    by_model = {name: i * span - _STRONGEST for i, name in enumerate(names)}
    for name, value in strengths.items():
        if name not in by_model:
            raise InvalidInput(f"study {study.name} has no model {name!r}; it has {', '.join(names)}")
        strength = number(value)
        if strength is None or abs(strength) > _LARGEST_STRENGTH:
            raise InvalidInput(
                f"the strength of {name} must be a number of log-odds from -{_LARGEST_STRENGTH} to "
                f"{_LARGEST_STRENGTH}, not {value!r}"
            )
        by_model[name] = strength
    return by_model


class _Pictures(dict[str, Stimulus]):
    """The pictures of a study by their stored names; read again when a model has joined in the meantime."""

    def __init__(self, store: Store, study: Study):
        self._store, self._study = store, study.name
        super().__init__(self._read())

    def __missing__(self, name: str) -> Stimulus:
        there = self._read()
        if name not in there:
            raise KeyError(name)
        self.update(there)
        return there[name]

    def _read(self) -> dict[str, Stimulus]:
        stimuli = [*self._store.stimuli(self._study)]
        self.effects = picture_effects(stimuli)
        return {name: stimulus for stimulus in stimuli for name in pictures_of(stimulus.name)}


def wanted(study: Study, existing: list[tuple[Session, Cursor]]) -> int:
    """Return how many more simulated evaluators a study wants beside the `existing` ones."""
    if study.kind == "qualification":
        return 1
    return sampling.lacking(study.at_last_look, existing)


def _explanation(error: BaseException, name: str, base: str) -> OpenhypeError | None:
    """Return the error in the terms of who simulates, where the server's own say too little."""
    code = error.code if isinstance(error, Refused) else ""
    if code == "unknown_session":
        return Conflict(
            f"simulated sessions of {name} were removed while they were played, by `openhype clear`, "
            "`set` or `delete`; simulate again"
        )
    if code == "wrong_token":
        return InvalidInput(
            f"the server at {base} has another researcher's key; name its data directory with --data DIR, or "
            "give its key as OPENHYPE_KEY"
        )
    return None
