"""Smoke test of a real deployment: `python -m deploy.smoke https://….cloudfront.net STUDY --key KEY`.

It checks what no emulator shows: CloudFront's headers and caching, cold starts, and a session through the
Function URL. It opens one session in STUDY, answers its first trials, and stops there; use a small study
created for this purpose. It sends about a hundred requests, which cost well under a cent.
"""

import argparse
import hashlib
import http.client
import json
import secrets
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from backend.experiment.panel import PRIVATE_LINK
from backend.foundation.exchange_deadline import Deadline, whole_body
from backend.web import assets, headers

_TIMEOUT_S, _WHOLE_S, _MOST_REPLY_BYTES = 30.0, 60.0, 1 << 26
_TRIALS = 20
_AT_ONCE = 10
_HSTS = "Strict-Transport-Security"
_TOO_MANY = 429
_LOOKS, _BETWEEN_LOOKS_S = 60, 2.0
"""How often, and after what time, what is being computed is asked for again."""


class Site:
    """A deployment's address."""

    def __init__(self, url: str, whole_s: float = _WHOLE_S):
        split, self._whole_s = urlsplit(url), whole_s
        self._kind = http.client.HTTPSConnection if split.scheme == "https" else http.client.HTTPConnection
        self._address = split.netloc

    def ask(
        self, method: str, path: str, body: Any = None, token: str | None = None
    ) -> tuple[int, dict[str, str], bytes, float]:
        """Return status, headers, body, and the time (ms) from the request to the complete reply."""
        connection = self._kind(self._address, timeout=_TIMEOUT_S)
        content = b"" if body is None else json.dumps(body).encode()
        sent = {
            "Content-Type": "application/json",
            "X-Amz-Content-Sha256": hashlib.sha256(content).hexdigest(),
        }
        if token:
            sent[headers.TOKEN] = token
        began = time.perf_counter()
        try:
            with Deadline(self._whole_s) as deadline:
                deadline.over(connection).request(method, path, content or None, sent)
                reply = connection.getresponse()
                data = whole_body(reply, _MOST_REPLY_BYTES)
                deadline.left_s()  # what was cut off looks like an end
        finally:
            connection.close()
        return reply.status, dict(reply.getheaders()), data, 1000 * (time.perf_counter() - began)


def checks(site: Site, study: str, key: str | None) -> Iterator[tuple[str, bool, str]]:
    """Yield the name, outcome (True if passed) and details of each check."""
    yield from _page(site, study)
    yield from _session(site, study)
    yield _at_once(site, study)
    if key:
        for what in ("status", "scores"):
            status, data, ms = _made(site, f"/api/studies/{study}/{what}", key)
            fine = status == 200 or (what == "scores" and status == 400)  # 400: nobody has finished yet
            yield f"researcher's {what}", fine, f"{status} in {ms:.0f} ms: {data[:80].decode()}"


def _made(site: Site, path: str, key: str) -> tuple[int, bytes, float]:
    """Return status, content and milliseconds of a reply once it is there, or what came last."""
    for _ in range(_LOOKS):
        status, _, data, ms = site.ask("GET", path, token=key)
        if status != _TOO_MANY and b"being_made" not in data:
            break
        time.sleep(_BETWEEN_LOOKS_S)
    return status, data, ms


def _page(site: Site, study: str) -> Iterator[tuple[str, bool, str]]:
    cache_control = {
        f"/s/{study}": headers.REVALIDATE,
        f"/assets/{assets.version()}/task/main.js": headers.IMMUTABLE,
    }
    for path, cache in cache_control.items():
        status, sent, _, _ = site.ask("GET", path)
        wanted = {**headers.PAGE, "Cache-Control": cache}
        missing = [name for name, value in wanted.items() if _header(sent, name) != value]
        fine = status == 200 and not missing and bool(_header(sent, _HSTS))
        yield f"page {path}", fine, f"{status}, missing {missing}"
    status, _, _, _ = site.ask("GET", "/packages/")
    yield "packages are not served", status in (302, 403, 404), str(status)


def _session(site: Site, study: str) -> Iterator[tuple[str, bool, str]]:
    status, _, data, ms = site.ask("GET", f"/api/studies/{study}")
    yield "the study, perhaps a cold start", status == 200, f"{status} in {ms:.0f} ms"
    if status != 200:
        return
    reply = json.loads(data)
    names = set(reply["panel_parameters"]) - {PRIVATE_LINK}
    panel = dict.fromkeys(names, f"smoke-{secrets.token_hex(8)}")  # ids unknown to any panel
    opening = {"consent_version": reply["consent"]["version"], "panel": panel, "device": {"smoke": True}}
    status, _, data, ms = site.ask("POST", f"/api/studies/{study}/sessions", opening)
    opened = json.loads(data)
    yield "a session opens", status == 201 and opened.get("stage") == "session", f"{status} in {ms:.0f} ms"
    if status != 201:
        return
    path, token = f"/api/sessions/{opened['state']['session']}", opened["token"]
    begin = {"lease": opened["state"]["lease"], "block": 0, "display": {"refresh_hz": 60}}
    status, _, data, ms = site.ask("POST", f"{path}/blocks", begin, token)
    block = json.loads(data)
    yield "a block begins", status == 200, f"{status} in {ms:.0f} ms"
    yield from _picture(site, block["images"][0].split(" ")[0])
    yield from _answers(site, path, token, begin["lease"], block)


def _picture(site: Site, path: str) -> Iterator[tuple[str, bool, str]]:
    site.ask("GET", path)
    status, sent, data, ms = site.ask("GET", path)
    fine = status == 200 and _header(sent, "Cache-Control") == headers.IMMUTABLE
    yield "a picture, cached permanently", fine, f"{status}, {len(data)} bytes in {ms:.0f} ms"
    cache = _header(sent, "X-Cache") or "no X-Cache"
    yield "served from CloudFront's cache the second time", "Hit" in cache, cache


def _answers(
    site: Site, path: str, token: str, lease: int, block: dict[str, Any]
) -> Iterator[tuple[str, bool, str]]:
    times, following, statuses = [], block["next"], []
    # The last one is never answered: a session that this check finished would be scored.
    for image in block["images"][:-1][:_TRIALS]:
        answer = {
            "lease": lease,
            "trial_index": following["trial_index"],
            "exposure_ms": following["exposure_ms"],
            "stimulus": image.rpartition("/")[2],
            "response": "real",
        }
        first = site.ask("POST", f"{path}/answers", answer, token)
        again = site.ask("POST", f"{path}/answers", answer, token)
        times.append(first[3])
        statuses += [first[0], again[0]]
        if first[0] != 200 or first[2] != again[2]:
            yield "an answer sent twice counts once", False, f"{first[2][:100]!r} and {again[2][:100]!r}"
            return
        following = json.loads(first[2])["next"]
    times_text = f"median {median(times):.0f} ms, slowest {max(times):.0f} ms"
    yield "answers, each sent twice, count once", set(statuses) == {200}, times_text


def _at_once(site: Site, study: str) -> tuple[str, bool, str]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        replies = list(pool.map(lambda _: site.ask("GET", f"/api/studies/{study}"), range(_AT_ONCE)))
    slowest = max(reply[3] for reply in replies)
    statuses = {reply[0] for reply in replies}
    return f"{_AT_ONCE} requests at once", statuses == {200}, f"{statuses}, slowest {slowest:.0f} ms"


def _header(sent: dict[str, str], name: str) -> str | None:
    return next((value for key, value in sent.items() if key.lower() == name.lower()), None)


def main(arguments: list[str] | None = None) -> int:
    """Print every check; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m deploy.smoke", description=__doc__.partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("study")
    parser.add_argument("--key", help="the researcher's key; checks status and scores as well")
    asked = parser.parse_args(arguments)
    failed = 0
    try:
        for what, fine, result in checks(Site(asked.url), asked.study, asked.key):
            failed += not fine
            sys.stdout.write(f"{'ok  ' if fine else 'FAIL'} {what}: {result}\n")
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
        failed += 1
        sys.stdout.write(f"FAIL {asked.url} does not answer as openhype does: {error!r}\n")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
