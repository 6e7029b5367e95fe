"""Simulated evaluators who take part through the real HTTP API, many at a time.

The API tells nobody the truth before an answer. A simulated evaluator "sees" it as a person sees it
in the picture: it is read from the store, with the researcher's rights.
"""

import http.client
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from random import Random
from typing import Any
from urllib.parse import urlsplit

from backend.datadir import DataDir
from backend.errors import Conflict, InvalidInput, OpenhypeError
from backend.records import Study
from backend.stores import Store
from backend.withdrawal import sessions_of

_FRAME_MS = 1000 / 60
_SECONDS_TO_RETRY = 120


class Refused(OpenhypeError):
    """The server refused a request for good (4xx)."""


class Client:
    """One evaluator's connection: JSON over one kept-alive socket, retried as the page does."""

    def __init__(self, url: str, seconds_to_retry: float = _SECONDS_TO_RETRY):
        parts = urlsplit(url)
        self._address = (parts.hostname, parts.port or 80)
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
        """Send until an answer comes: the API keeps an answer once however often it is sent."""
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
            self._connection = http.client.HTTPConnection(*self._address, timeout=30)
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._connection.request(verb, path, None if body is None else json.dumps(body), headers)
        reply = self._connection.getresponse()
        return reply.status, json.loads(reply.read())


def take_part(
    client: Client,
    study: Study,
    truths: Mapping[str, tuple[str, str | None]],
    answer: Callable[[str, str | None, float | None], str],
    panel: dict[str, str] | None = None,
    qualification_token: str | None = None,
) -> dict[str, Any]:
    """Play one session from consent to completion code; return the reply's `done`.

    Args:
        truths: (truth, model) of each picture by its public name.
        answer: from (truth, model judged, exposure in ms or None) to 'real' or 'fake'.
    """
    opening = {
        "consent_version": study.protocol.consent_version,
        "panel": panel or {},
        "device": {"simulated": True},
        "qualification_token": qualification_token,
    }
    opened = client.post(f"/api/studies/{study.name}/sessions", opening)
    if opened["stage"] != "session":
        raise InvalidInput(
            f"study {study.name} asks for the qualification {study.protocol.qualification}, which "
            "simulated evaluators have to pass first"
        )
    state, token = opened["state"], opened["token"]
    path = f"/api/sessions/{state['session']}"
    trial, done = state["next"], None
    while done is None:
        begin = {"lease": state["lease"], "block": trial["block"], "display": {"refresh_hz": 60}}
        block = client.post(f"{path}/blocks", begin, token)
        model = _model_judged(block["images"], truths)
        for url in block["images"]:
            name = url.rpartition("/")[2]
            response = answer(truths[name][0], model, trial["exposure_ms"])
            posted = _posted(state["lease"], trial, name, response, study.protocol)
            reply = client.post(f"{path}/answers", posted, token)
            trial, done = reply["next"], reply["done"]
    return {**done, "token": token}


def simulate(
    store: Store,
    data: DataDir,
    name: str,
    observers: Mapping[str, str],
    *,
    evaluators: int | None = None,
    sd: float = 0.0,
    url: str | None = None,
    seed: int = 0,
    at_once: int = 8,
    progress: Callable | None = None,
) -> int:
    """Have simulated evaluators take part in a study; return how many finished.

    A study that asks for a qualification is preceded by it: each evaluator takes it and passes.

    Args:
        observers: by model (or `all`), an accuracy or a psychometric function as text.
        evaluators: in all; default, as many as the study still wants.
        sd: standard deviation of the accuracy between evaluators.
    """
    from backend.observer import parse_observer

    study = store.study(name)
    unknown = sorted(set(observers) - set(study.models) - {"all"})
    if unknown:
        raise InvalidInput(f"study {name} has no model {unknown[0]!r}; it has {', '.join(study.models)}")
    parsed = {model: parse_observer(text) for model, text in observers.items()}
    missing = [model for model in study.models if model not in parsed and "all" not in parsed]
    for model in missing:
        parsed[model] = parse_observer("0.75")
    count = _still_wanted(store, study) if evaluators is None else evaluators
    truths = {s.name: (s.truth, s.model) for s in store.stimuli(name)}
    with _served(store, data, url) as base, ThreadPoolExecutor(at_once) as pool:
        runs = [
            pool.submit(_one, base, store, study, truths, parsed, sd, Random(f"{seed} {i}"), f"{seed}-{i}")
            for i in range(count)
        ]
        finished = as_completed(runs)
        for run in progress(finished, count, "evaluators") if progress else finished:
            try:
                run.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return count


def _one(base, store, study, truths, observers, sd, rng, label) -> None:
    client = Client(base)
    try:
        token = _qualified(client, store, study, rng)
        varied = {model: seen.varied(sd, rng) if sd else seen for model, seen in observers.items()}

        def answer(truth: str, model: str | None, exposure_ms: float | None) -> str:
            observer = varied.get(model) or varied["all"]
            return observer.answer(truth, exposure_ms, rng)

        take_part(client, study, truths, answer, qualification_token=token)
    finally:
        client.close()


def _qualified(client: Client, store: Store, study: Study, rng: Random) -> str | None:
    """Take the study's qualification, all right, and return the token that proves it."""
    if not study.protocol.qualification:
        return None
    qualification = store.study(study.protocol.qualification)
    truths = {s.name: (s.truth, s.model) for s in store.stimuli(qualification.name)}
    done = take_part(client, qualification, truths, lambda truth, model, exposure_ms: truth)
    return done["token"]


def _model_judged(urls: list[str], truths: Mapping[str, tuple[str, str | None]]) -> str | None:
    models = {truths[url.rpartition("/")[2]][1] for url in urls} - {None}
    return models.pop() if len(models) == 1 else None


def _posted(lease: int, trial: dict, name: str, response: str, protocol: Any) -> dict[str, Any]:
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
        "mask_ms": [protocol.mask_ms] * protocol.mask_count if flashed else None,
        "flags": ["simulated"],
    }


def _still_wanted(store: Store, study: Study) -> int:
    if study.kind == "qualification":
        return 1
    finished = [
        session.model for session, cursor in sessions_of(store, study.name) if cursor.state == "finished"
    ]
    return sum(max(study.protocol.evaluators - finished.count(model), 0) for model in study.models)


@contextmanager
def _served(store: Store, data: DataDir, url: str | None):
    if url is not None:
        yield url
        return
    from backend.handlers import create_app
    from backend.server import in_background

    with in_background(create_app(store, data, data.keys())) as base:
        yield base
