"""Simulated evaluators who take part through the real HTTP API, many at a time.

The API reveals the truth to nobody before a response. A simulated evaluator reads it from the store, with
the researcher's key, in place of a person who sees it in the picture. With the same key its session is
opened as a simulated one, which counts, pays and limits nothing: trying out a study does not use it up.

The same seed on the same pictures gives the same responses: the evaluators are numbered, their sessions are
opened in that order, and each has its own random numbers. Later calls continue the numbering.
"""

import hashlib
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from backend.administration.clear import clear_outdated
from backend.experiment import sampling
from backend.experiment.judgment import Judgment, pictures_of
from backend.experiment.judgments import judgment_of
from backend.experiment.observer import ConstantObserver, Observer, parse_observer
from backend.experiment.random_answers import random_answers
from backend.experiment.records import CHECK, REAL, Session, Stimulus, Study
from backend.experiment.response_columns import number
from backend.experiment.session import Cursor
from backend.experiment.simulated_follow_ups import simulated_follow_ups
from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError
from backend.stores.datadir import DataDir
from backend.stores.store import Store
from backend.studies.tournament_counts import is_counted
from backend.task.picture_names import PictureNames
from backend.web.headers import TOKEN

_FRAME_MS = 1000 / 60
_SECONDS_TO_RETRY = 120
_SEED_BITS = 31
_DEFAULT_OBSERVER = "0.75"
_STRONGEST, _LARGEST_STRENGTH = 1.0, 20
_SURE_BY = 0.75
"""Accuracy by which confidence is simulated where an evaluator's own is not known."""
ATTENTION = 0.98
"""Probability (0 to 1) of a right answer to an attention check."""
Pictures = Mapping[str, Stimulus]
"""The pictures of a study, by the names that browsers receive."""


class Refused(OpenhypeError):
    """The server refused a request permanently (4xx)."""


class Client:
    """One evaluator's connection: JSON over one persistent connection, retried as the page does."""

    def __init__(self, url: str, seconds_to_retry: float = _SECONDS_TO_RETRY):
        parts = urlsplit(url)
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._address = (parts.hostname, parts.port)
        self._seconds_to_retry = seconds_to_retry
        self._connection: http.client.HTTPConnection | None = None

    def get(self, path: str) -> dict[str, Any]:
        return self._call("GET", path, None, None)

    def post(self, path: str, body: dict[str, Any], token: str | None = None) -> dict[str, Any]:
        return self._call("POST", path, body, token)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _call(self, verb: str, path: str, body: dict | None, token: str | None) -> dict[str, Any]:
        """Send until a reply arrives: the API stores a response once, however often it is sent."""
        until = time.monotonic() + self._seconds_to_retry
        pause = 0.05
        while True:
            try:
                status, reply = self._send(verb, path, body, token)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                status, reply = 0, {"error": {"code": "network", "message": str(error)}}
            if 200 <= status < 300:
                return reply
            if 400 <= status < 500 and status != 429:
                raise Refused(f"{path}: {reply['error']['message']}", code=reply["error"]["code"])
            if time.monotonic() > until:
                raise Conflict(f"{path}: no answer within {self._seconds_to_retry:g} s: {reply['error']}")
            time.sleep(pause)
            pause = min(2 * pause, 2)

    def _send(self, verb: str, path: str, body: dict | None, token: str | None) -> tuple[int, dict]:
        if self._connection is None:
            self._connection = self._kind(*self._address, timeout=30)
        data = b"" if body is None else json.dumps(body).encode()
        # CloudFront signs its requests to the functions: with the digest of the body, in Authorization.
        headers = {
            "Content-Type": "application/json",
            "X-Amz-Content-Sha256": hashlib.sha256(data).hexdigest(),
        }
        if token is not None:
            headers[TOKEN] = token
        self._connection.request(verb, path, data or None, headers)
        reply = self._connection.getresponse()
        text = reply.read()
        try:
            return reply.status, json.loads(text)
        except ValueError:
            message = f"the reply is not JSON (status {reply.status}): is openhype served there?"
        if reply.status < 500:
            raise Refused(f"{path}: {message}")
        return reply.status, {"error": {"code": "network", "message": message}}


def take_part(
    client: Client,
    study: Study,
    pictures: Pictures,
    answer: Callable[[str, str | None, float | None], str],
    panel: dict[str, str] | None = None,
    qualification_token: str | None = None,
    names: PictureNames | None = None,
) -> dict[str, Any]:
    """Run one session from consent to completion code, as a real one; return the reply's `done`.

    Args:
        pictures: by their stored names.
        names: the server's picture names, if it gives each session different ones.
        answer: function from (right answer, model, exposure in ms or None) to a response; the model is that
            of the fake, or of the block's fakes, or None if these are of several.
    """
    fields = {"panel": panel or {}, "qualification_token": qualification_token}
    opened = _open_session(client, study, fields)
    if names is not None:
        session = opened["state"]["session"]
        pictures = {
            names.sealed(session, name): _sealed(what, names, session) for name, what in pictures.items()
        }
    return _play(client, study, pictures, answer, opened, (), Random(opened["token"]))


def simulate(
    store: Store,
    data: DataDir,
    name: str,
    observers: Mapping[str, str],
    *,
    evaluators: int | None = None,
    strengths: Mapping[str, str] = MappingProxyType({}),
    sd: float = 0.0,
    url: str | None = None,
    seed: int = 0,
    at_once: int = 8,
    progress: Callable | None = None,
) -> int:
    """Run simulated evaluators through a study; return how many finished.

    If the study requires a qualification, each evaluator first takes it and passes.

    Args:
        observers: by model (or `all`), an accuracy or a psychometric function as text.
        evaluators: number to run; default: as many as the study wants, minus those already simulated.
        strengths: in a tournament, how real each model looks (log-odds), as text; `real`: the reals.
        sd: standard deviation between evaluators of the accuracy, or of each strength.

    Raises:
        InvalidInput: the study does not have a model, or the server does not accept the researcher's key.
        Conflict: the simulated sessions were removed while they ran.
    """
    study = store.study(name)
    if observers and is_counted(study):
        raise InvalidInput(
            "in a tournament no answer is right; give --strength MODEL=0.5 in place of --accuracy"
        )
    models = _parse_observers(study, observers)
    looks = parse_strengths(study, strengths)
    clear_outdated(store, study)  # left by a change of settings that was killed
    existing = list(store.sessions(name, simulated=True))
    count = _still_wanted(study, existing) if evaluators is None else evaluators
    with _server(store, data, url) as (base, key), ThreadPoolExecutor(at_once) as pool:
        run = _Run(base, key, store, study, models, looks, sd, seed, len(existing))
        runs = [pool.submit(run.one, i) for i in range(count)]
        finished = as_completed(runs)
        for each in progress(finished, count, "evaluators") if progress else finished:
            try:
                each.result()
            except BaseException as error:
                pool.shutdown(wait=False, cancel_futures=True)
                if explanation := _explanation(error, name, base):
                    raise explanation from None
                raise
    return count


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
            accuracies = []

            def answer(truth: str, model: str | None, exposure_ms: float | None) -> str:
                observer = varied.get(model) or varied.get("all") or rng.choice([*varied.values()])
                accuracies.append(observer.accuracy(exposure_ms))
                return observer.answer(truth, exposure_ms, rng, answers)

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
                    accuracies.append(_SURE_BY)
                    return judgment.simulated_choice(shown, own, self.study.protocol, rng)
                set_ = shown[0].model or ""
                observer = varied.get(set_) or varied.get("all") or rng.choice([*varied.values()])
                accuracies.append(observer.accuracy(None))
                return judgment.simulated_answer(shown[0], names, accuracies[-1], rng)

            flags = ("simulated",)
            _play(
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
            token = self._pass_qualification(client, pictures) if self.qualification else None
        except BaseException:
            with self.turns.after(i):
                raise
        with self.turns.after(i):
            return self._open(client, self.study, pictures, token)

    def _pass_qualification(self, client: Client, pictures: Random) -> str:
        """Take the study's qualification, all right, and return the token that proves it."""
        gate = self.qualification
        opened = self._open(client, gate, pictures, None)
        done = _play(
            client,
            gate,
            self.gate_pictures,
            lambda truth, model, exposure_ms: truth,
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
        return _open_session(client, study, fields, self.key)


class _Turns:
    """Admits numbered callers one at a time, in the order of their numbers."""

    def __init__(self) -> None:
        self._next, self._changed = 0, threading.Condition()

    @contextmanager
    def after(self, number: int) -> Iterator[None]:
        """Wait for all lower numbers; admit the next one on exit, also after an exception."""
        with self._changed:
            self._changed.wait_for(lambda: self._next == number)
        try:
            yield
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
    found = {name: i * span - _STRONGEST for i, name in enumerate(names)}
    for name, value in strengths.items():
        if name not in found:
            raise InvalidInput(f"study {study.name} has no model {name!r}; it has {', '.join(names)}")
        strength = number(value)
        if strength is None or abs(strength) > _LARGEST_STRENGTH:
            raise InvalidInput(
                f"the strength of {name} must be a number of log-odds from -{_LARGEST_STRENGTH} to "
                f"{_LARGEST_STRENGTH}, not {value!r}"
            )
        found[name] = strength
    return found


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
        stimuli = self._store.stimuli(self._study)
        return {name: stimulus for stimulus in stimuli for name in pictures_of(stimulus.name)}


def _sealed(stimulus: Stimulus, names: PictureNames, session: str) -> Stimulus:
    """Return a stimulus with the names of its pictures that a session's browser gets."""
    return replace(
        stimulus, name=" ".join(names.sealed(session, name) for name in pictures_of(stimulus.name))
    )


def _open_session(
    client: Client, study: Study, fields: Mapping[str, Any], key: str | None = None
) -> dict[str, Any]:
    opening = {"consent_version": study.protocol.consent.consent_version, **fields}
    opened = client.post(f"/api/studies/{study.name}/sessions", opening, key)
    if opened["stage"] != "session":
        raise InvalidInput(
            f"study {study.name} asks for the qualification {study.protocol.admission.qualification}, which "
            "simulated evaluators have to pass first"
        )
    return opened


def _play(
    client: Client,
    study: Study,
    pictures: Pictures,
    answer: Callable[[str, str | None, float | None], str],
    opened: Mapping[str, Any],
    flags: tuple[str, ...],
    rng: Random,
    attentive: Callable[[str], str] = str,
    follow: Callable[[str, str, str], dict[str, Any]] | None = None,
    prefer: Callable[[list[Stimulus], Sequence[str]], str] | None = None,
) -> dict[str, Any]:
    """Respond to all questions and trials of a session; return the reply's `done`, with the session's token.

    Args:
        rng: draws the answers to the researcher's questions.
        attentive: function from the right answer to an attention check to a response; default, all right.
        follow: function from (response, right answer, name of the first picture in the pool) to what is
            posted with the response; default: what the study asks, drawn from `rng`.
        prefer: function from what a trial shows, and the names of its pictures, to a response, where none is
            right; default, at random.
    """
    judgment = judgment_of(study.protocol.method)
    if prefer is None:

        def prefer(shown: list[Stimulus], names: Sequence[str]) -> str:
            if judgment.has_items:
                return judgment.simulated_answer(shown[0], names, _SURE_BY, rng)
            return judgment.simulated_choice(shown, {}, study.protocol, rng)

    if follow is None:

        def follow(response: str, truth: str, name: str) -> dict[str, Any]:
            return simulated_follow_ups(
                study.protocol, response, response == truth, _SURE_BY, Random(name), rng
            )

    state, token = opened["state"], opened["token"]
    path = f"/api/sessions/{state['session']}"
    reply = _answer_questions(client, study, path, token, state, state, rng)
    trial, done = reply["next"], None
    while done is None:
        begin = {"lease": state["lease"], "block": trial["block"], "display": {"refresh_hz": 60}}
        block = client.post(f"{path}/blocks", begin, token)
        shown = [[url.rpartition("/")[2] for url in urls.split(" ")] for urls in block["images"]]
        of_block = _model_judged([pictures[name] for names in shown for name in names])
        asked = block["instructed"] or [None] * len(shown)
        for names, instruction in zip(shown, asked, strict=True):
            stimulus = [pictures[name] for name in names]
            model = _model_judged(stimulus) or of_block
            truth = instruction or _right_answer(judgment, stimulus, names)
            if instruction or stimulus[0].role == CHECK:
                response = attentive(truth)
            elif not truth:
                response = prefer(stimulus, names)
            else:
                response = answer(truth, model, trial["exposure_ms"])
            posted = _answer_body(state["lease"], trial, " ".join(names), response, study.protocol, flags)
            posted |= follow(response, truth, stimulus[0].name)
            reply = client.post(f"{path}/answers", posted, token)
            trial, done = reply["next"], reply["done"]
    _answer_questions(client, study, path, token, state, reply, rng)
    return {**done, "token": token}


def _right_answer(judgment: Judgment, shown: list[Stimulus], names: Sequence[str]) -> str:
    return judgment.item_truth(shown[0], names) if judgment.has_items else judgment.truth(shown)


def _answer_questions(
    client: Client,
    study: Study,
    path: str,
    token: str,
    state: Mapping[str, Any],
    reply: Mapping[str, Any],
    rng: Random,
) -> Mapping[str, Any]:
    """Answer the questions that a reply says are open, if any; return the latest reply."""
    if "questions" not in reply:
        return reply
    when, earlier = reply["questions"]["when"], reply["questions"]["earlier"]
    answers = random_answers(study.questions, when, earlier, rng)
    return client.post(
        f"{path}/questions", {"lease": state["lease"], "when": when, "answers": answers}, token
    )


def _model_judged(shown: list[Stimulus]) -> str | None:
    models = {picture.model for picture in shown if picture.model and picture.role != CHECK}
    return models.pop() if len(models) == 1 else None


def _answer_body(
    lease: int, trial: dict, name: str, response: str, protocol: Any, flags: tuple[str, ...]
) -> dict[str, Any]:
    exposure = trial["exposure_ms"]
    frames = None if exposure is None else max(1, round(exposure / _FRAME_MS))
    flashed = frames is not None
    return {
        "lease": lease,
        "trial_index": trial["trial_index"],
        "stimulus": name,
        "response": response,
        "rt": 400.0,
        "exposure_ms": exposure,
        "shown_ms": frames * _FRAME_MS if flashed else None,
        "frames": frames,
        "frame_ms": _FRAME_MS,
        "mask_ms": [protocol.timing.mask_ms] * protocol.timing.mask_count if flashed else None,
        "flags": list(flags),
    }


def _still_wanted(study: Study, existing: list[tuple[Session, Cursor]]) -> int:
    if study.kind == "qualification":
        return 1
    return sampling.lacking(study, existing)


def _explanation(error: BaseException, name: str, base: str) -> OpenhypeError | None:
    """Return the error in the terms of who simulates, where the server's own say too little."""
    code = error.code if isinstance(error, Refused) else ""
    if code == "unknown_session":
        return Conflict(
            f"simulated sessions of {name} were removed while they were played, by `openhype clear`, "
            "`set` or `delete`; simulate again"
        )
    if code == "wrong_key":
        return InvalidInput(
            f"the server at {base} has another researcher's key; name its data directory with --data DIR, or "
            "give its key as OPENHYPE_KEY"
        )
    return None


@contextmanager
def _server(store: Store, data: DataDir, url: str | None) -> Iterator[tuple[str, str]]:
    """Give the address of a server and its researcher's key; a server of our own where none is named."""
    if url is not None:
        yield url, data.researcher_key()
        return
    from backend.handlers import create_app
    from backend.web.server import in_background

    keys = data.keys()
    with in_background(create_app(store, data, keys)) as base:
        yield base, keys.researcher
