"""One session of a simulated evaluator, played through the HTTP API from consent to completion code."""

import hashlib
import http.client
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Any
from urllib.parse import urlsplit

from backend.experiment.judgment import Judgment
from backend.experiment.judgments import judgment_of
from backend.experiment.random_answers import random_answers
from backend.experiment.records import CHECK, Stimulus, Study
from backend.experiment.simulated_follow_ups import simulated_follow_ups
from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError
from backend.foundation.exchange_deadline import Deadline, TooLong, whole_body
from backend.task.requests import TOKEN

_FRAME_MS = 1000 / 60
_SECONDS_TO_RETRY = 120
_TIMEOUT_S = 30.0
_WHOLE_S = 60.0
"""Within which a whole reply has to be there."""
_MOST_REPLY_BYTES = 1 << 26
SURE_BY = 0.75
"""Accuracy by which confidence is simulated where an evaluator's own is not known."""
Pictures = Mapping[str, Stimulus]
"""The pictures of a study, by the names that browsers receive."""


class Refused(OpenhypeError):
    """The server refused a request permanently (4xx)."""


class Client:
    """One evaluator's connection: JSON over one persistent connection, retried as the page does."""

    def __init__(self, url: str, seconds_to_retry: float = _SECONDS_TO_RETRY, whole_s: float = _WHOLE_S):
        parts = urlsplit(url)
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._address = (parts.hostname or "", parts.port)
        self._seconds_to_retry, self._whole_s = seconds_to_retry, whole_s
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
            except (OSError, http.client.HTTPException, TooLong) as error:
                self.close()
                status, reply = 0, {"error": {"code": "network", "message": str(error)}}
            if 200 <= status < 300:
                return reply
            if 300 <= status < 500 and status != 429:
                raise Refused(f"{path}: {reply['error']['message']}", code=reply["error"]["code"])
            if time.monotonic() > until:
                raise Conflict(f"{path}: no answer within {self._seconds_to_retry:g} s: {reply['error']}")
            time.sleep(pause)
            pause = min(2 * pause, 2)

    def _send(self, verb: str, path: str, body: dict | None, token: str | None) -> tuple[int, dict]:
        if self._connection is None:
            self._connection = self._kind(*self._address, timeout=_TIMEOUT_S)
        data = b"" if body is None else json.dumps(body).encode()
        # CloudFront signs its requests to the functions: with the digest of the body, in Authorization.
        headers = {
            "Content-Type": "application/json",
            "X-Amz-Content-Sha256": hashlib.sha256(data).hexdigest(),
        }
        if token is not None:
            headers[TOKEN] = token
        with Deadline(self._whole_s) as deadline:
            deadline.over(self._connection).request(verb, path, data or None, headers)
            reply = self._connection.getresponse()
            text = whole_body(reply, _MOST_REPLY_BYTES)
            deadline.left_s()  # what was cut off looks like an end
        with suppress(ValueError, RecursionError, LookupError, TypeError):
            said = json.loads(text)
            if 200 <= reply.status < 300 or (said["error"]["code"] and said["error"]["message"]):
                return reply.status, said
        message = f"the reply is not JSON (status {reply.status}): is openhype served there?"
        if reply.status < 500 and reply.status != 429:  # Lambda's and CloudFront's own refusals are no JSON
            raise Refused(f"{path}: {message}")
        return reply.status, {"error": {"code": "network", "message": message}}


Answer = Callable[[str, str | None, float | None, list[Stimulus]], str]


def open_session(
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


def play(
    client: Client,
    study: Study,
    pictures: Pictures,
    answer: Answer,
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
                return judgment.simulated_answer(shown[0], names, SURE_BY, rng)
            return judgment.simulated_choice([0.0] * len(shown), study.protocol, rng)

    if follow is None:

        def follow(response: str, truth: str, name: str) -> dict[str, Any]:
            return simulated_follow_ups(
                study.protocol, response, response == truth, SURE_BY, Random(name), rng
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
                response = answer(truth, model, trial["exposure_ms"], stimulus)
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
    return {
        "lease": lease,
        "trial_index": trial["trial_index"],
        "stimulus": name,
        "response": response,
        "rt": 400.0,
        "exposure_ms": exposure,
        "shown_ms": None if frames is None else frames * _FRAME_MS,
        "frames": frames,
        "frame_ms": _FRAME_MS,
        "mask_ms": None if frames is None else [protocol.timing.mask_ms] * protocol.timing.mask_count,
        "flags": list(flags),
    }
