"""CloudFront as the template describes it, on a port of loopback: behaviours, route, headers, two origins.

Functions are sent Function URL events; files come from the bucket. What it knows of paths, headers and times
it reads from `deploy/service.yaml`, so that a mistake there is one here.

Requests to functions meet AWS' limits: their length, that of replies, their number a second, and the time for
a reply, after which a GET is sent again. Their refusals are no JSON.
"""

import hashlib
import queue
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from tests import aws, function, node


class Cloudfront:
    """The distribution: what a request is answered with."""

    def __init__(
        self,
        bucket: str,
        functions: Mapping[str, Sequence[function.Function]],
        most_a_second: float = 10,
        timeout_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        """
        Args:
            functions: the instances of each function, as many as it has concurrency.
            most_a_second: requests that each of them takes a second. Source: "Lambda quotas".
            timeout_s: for a reply, in place of the template's.
            clock: of the seconds in which requests are counted.
        """
        self._clock = clock
        resources = aws.template("service", "panel" in functions)["Resources"]
        self._resources = resources
        self._config = resources["Distribution"]["Properties"]["DistributionConfig"]
        self._origins = {origin["Id"]: origin for origin in self._config["Origins"]}
        self._bucket = bucket
        self._s3 = boto3.client("s3", config=Config(max_pool_connections=32))
        self._idle: dict[str, queue.Queue] = {}
        self._most = {stage: most_a_second * len(instances) for stage, instances in functions.items()}
        self._latest: dict[str, deque[float]] = {stage: deque() for stage in functions}
        self._lock, self._timeout_s = threading.Lock(), timeout_s
        self.counts: Counter[str] = Counter()
        """How often each limit was met."""
        for stage, instances in functions.items():
            self._idle[stage] = queue.Queue()
            for instance in instances:
                self._idle[stage].put(instance)
        self._routed = lru_cache(maxsize=None)(self._route)
        self._errors: dict[str, tuple[float, tuple[int, dict[str, str], bytes]]] = {}
        self._error_seconds = {
            each["ErrorCode"]: each["ErrorCachingMinTTL"]
            for each in self._config.get("CustomErrorResponses", [])
        }

    def reply(
        self, method: str, target: str, sent: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body.

        Errors are cached, whatever their Cache-Control says but for some statuses. Source: "Control how long
        CloudFront caches errors", CloudFront's developer guide.
        """
        if method not in ("GET", "HEAD"):
            return self._fresh(method, target, sent, body)
        until, cached = self._errors.get(target, (0.0, None))
        if cached is not None and time.monotonic() < until:
            return cached
        reply = status, headers, _ = self._fresh(method, target, sent, body)
        is_private = status in _HEED_CACHE_CONTROL and "no-store" in headers.get("Cache-Control", "")
        if status in _CACHED_ERRORS and not is_private:
            seconds = self._error_seconds.get(status, _ERROR_SECONDS)
            self._errors[target] = (time.monotonic() + seconds, reply)
        return reply

    def _fresh(
        self, method: str, target: str, sent: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        path = urlsplit(target).path
        behaviour = self._behaviour(path)
        if method not in behaviour["AllowedMethods"]:
            return 403, {"Content-Type": "text/html"}, b"not allowed here"
        origin = behaviour["TargetOriginId"]
        if origin == "files":
            routed = self._routed(path) if behaviour.get("FunctionAssociations") else {"uri": path}
            if "statusCode" in routed:
                made = {name: value["value"] for name, value in routed["headers"].items()}
                return routed["statusCode"], made, b""
            file = routed["uri"]
            status, headers, data = self._file(self._origins[origin]["OriginPath"] + file)
        else:
            if "OriginAccessControlId" in self._origins[origin]:
                if not _can_be_signed(method, sent, body):
                    return 403, {"Content-Type": "application/json"}, _WRONG_SIGNATURE
                sent = {**_but(sent, "authorization"), "Authorization": "AWS4-HMAC-SHA256 Credential=…"}
            if (
                "OriginRequestPolicyId" not in behaviour
            ):  # what is cached: neither queries nor viewers' headers
                target, sent = path, {**_compressions(sent), "X-Amz-Cf-Id": "x"}
            status, headers, data = self._asked(origin, method, target, sent, body)
        return status, self._with_policy(behaviour, headers), data

    def _behaviour(self, path: str) -> dict[str, Any]:
        for behaviour in self._config["CacheBehaviors"]:
            pattern = re.escape(behaviour["PathPattern"]).replace(r"\*", ".*").replace(r"\?", ".")
            if re.fullmatch(pattern, path):
                return behaviour
        return self._config["DefaultCacheBehavior"]

    def _route(self, path: str) -> dict[str, Any]:
        """Return the request with the path of a file, or a response that needs no file."""
        code = self._resources["Route"]["Properties"]["FunctionCode"]
        return node.evaluate(f"{code}; handler({{request: {{uri: {path!r}}}}})")

    def _file(self, path: str) -> tuple[int, dict[str, str], bytes]:
        try:
            found = self._s3.get_object(Bucket=self._bucket, Key=path.lstrip("/"))
        except ClientError:  # whoever may not list is not told that there is none
            return 403, {"Content-Type": "application/xml"}, b"<Error><Code>AccessDenied</Code></Error>"
        headers = found["ResponseMetadata"]["HTTPHeaders"]
        kept = ("content-type", "cache-control", "etag", "last-modified", "server")
        return 200, {name.title(): headers[name] for name in kept if name in headers}, found["Body"].read()

    def _asked(self, stage, method, target, sent, body) -> tuple[int, dict[str, str], bytes]:
        event = function.function_url_event(method, target, _but(sent, "host"), body)
        if function.size_of(event) > function.MOST_BYTES:
            return self._refused(413, "Payload Too Large")
        for _ in range(_ATTEMPTS if method in ("GET", "HEAD") else 1):
            if not self._is_within_rate(stage):
                return self._refused(429, "Too Many Requests")
            if (reply := self._in_time(stage, event)) is not None:
                break
            self.counts["timeouts"] += 1
        else:
            return self._refused(504, "Gateway Timeout")
        if "statusCode" not in reply:  # the function failed
            return self._refused(502, "Bad Gateway")
        headers = {
            name: value for name, value in (reply.get("headers") or {}).items() if name != "Set-Cookie"
        }
        if reply.get("cookies"):
            headers["Set-Cookie"] = reply["cookies"]
        return reply["statusCode"], headers, function.body_of(reply)

    def _refused(self, status: int, reason: str) -> tuple[int, dict[str, str], bytes]:
        self.counts[reason] += 1
        return status, {"Content-Type": "text/html"}, f"<h1>{status} {reason}</h1>".encode()

    def _is_within_rate(self, stage: str) -> bool:
        """Return whether a function takes one more request in this second, and count it if so."""
        with self._lock:
            latest, now = self._latest[stage], self._clock()
            while latest and latest[0] <= now - 1:
                latest.popleft()
            if len(latest) >= self._most[stage]:
                return False
            latest.append(now)
            return True

    def _in_time(self, stage: str, event: dict[str, Any]) -> dict[str, Any] | None:
        """Return a function's reply, or None if it takes too long: the instance is busy until it replies."""
        idle, reply = self._idle[stage], Future[dict[str, Any]]()
        instance = idle.get()

        def invoke() -> None:
            try:
                reply.set_result(instance.invoke(event))
            except Exception as error:  # noqa: BLE001 - raised where the reply is waited for
                reply.set_exception(error)
            finally:
                idle.put(instance)

        threading.Thread(target=invoke, daemon=True).start()
        timeout_s = self._timeout_s or self._origins[stage]["CustomOriginConfig"]["OriginReadTimeout"]
        with suppress(TimeoutError):
            return reply.result(timeout_s)
        return None

    def _with_policy(self, behaviour: Mapping[str, Any], headers: dict[str, str]) -> dict[str, str]:
        name = behaviour["ResponseHeadersPolicyId"]["Ref"]
        policy = self._resources[name]["Properties"]["ResponseHeadersPolicyConfig"]
        removed = {
            item["Header"].lower() for item in policy.get("RemoveHeadersConfig", {"Items": []})["Items"]
        }
        kept = {key: value for key, value in headers.items() if key.lower() not in removed}
        for item in policy.get("CustomHeadersConfig", {"Items": []})["Items"]:
            kept[item["Header"]] = item["Value"]
        security = policy["SecurityHeadersConfig"]
        if "ContentSecurityPolicy" in security:
            kept["Content-Security-Policy"] = security["ContentSecurityPolicy"]["ContentSecurityPolicy"]
        if "ContentTypeOptions" in security:
            kept["X-Content-Type-Options"] = "nosniff"
        if "ReferrerPolicy" in security:
            kept["Referrer-Policy"] = security["ReferrerPolicy"]["ReferrerPolicy"]
        seconds = security["StrictTransportSecurity"]["AccessControlMaxAgeSec"]
        kept["Strict-Transport-Security"] = f"max-age={seconds}; includeSubDomains"
        return kept


_ATTEMPTS = 3
"""How often a GET is sent to an origin that does not reply in time.

Source: "Origin settings: connection attempts, response timeout", CloudFront's developer guide.
"""
_ERROR_SECONDS = 10
"""How long an error is cached unless the template says otherwise."""
_CACHED_ERRORS = frozenset({400, 403, 404, 405, 410, 414, 416, *range(500, 505)})
_HEED_CACHE_CONTROL = (404, 410, 414, 501)
_WRONG_SIGNATURE = (
    b'{"message":"The request signature we calculated does not match the signature you provided."}'
)


def _can_be_signed(method: str, sent: Mapping[str, str], body: bytes) -> bool:
    """Return whether a request has what CloudFront's signature needs: the digest of its body, if it has one.

    Source: "Restrict access to an AWS Lambda function URL origin", CloudFront's developer guide.
    """
    given = {name.lower(): value for name, value in sent.items()}.get("x-amz-content-sha256")
    return method in ("GET", "HEAD") or given == hashlib.sha256(body).hexdigest()


def _compressions(sent: Mapping[str, str]) -> dict[str, str]:
    """Return the header of a viewer's compressions as CloudFront sends it on where the cache knows them."""
    accepted = next((value for name, value in sent.items() if name.lower() == "accept-encoding"), "")
    return {"Accept-Encoding": "gzip"} if "gzip" in accepted else {}


def _but(sent: Mapping[str, str], removed: str) -> dict[str, str]:
    return {name: value for name, value in sent.items() if name.lower() != removed}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cloudfront: Cloudfront

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, data = self.cloudfront.reply(self.command, self.path, dict(self.headers), body)
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection"):
                for each in value if isinstance(value, list) else [value]:
                    self.send_header(name, each)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _any  # noqa: N815 - names of http.server

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 2048


@contextmanager
def serving(cloudfront: Cloudfront) -> Iterator[str]:
    """Answer requests as `cloudfront` does; gives the address."""
    handler = type("Handler", (_Handler,), {"cloudfront": cloudfront})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
