"""CloudFront as the template describes it, on a port of loopback: behaviours, route, headers, two origins.

Functions are sent Function URL events; files come from the bucket. What it knows of paths and headers it
reads from `deploy/service.yaml`, so that a mistake there is one here.
"""

import hashlib
import queue
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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

    def __init__(self, bucket: str, functions: Mapping[str, Sequence[function.Function]]):
        resources = aws.template("service", "panel" in functions)["Resources"]
        self._resources = resources
        self._config = resources["Distribution"]["Properties"]["DistributionConfig"]
        self._origins = {origin["Id"]: origin for origin in self._config["Origins"]}
        self._bucket = bucket
        self._s3 = boto3.client("s3", config=Config(max_pool_connections=32))
        self._idle: dict[str, queue.Queue] = {}
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
        if status >= 400 and not is_private:
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
                target, sent = path, {"Accept-Encoding": "gzip", "X-Amz-Cf-Id": "x"}
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
        idle = self._idle[stage]
        instance = idle.get()
        try:
            event = function.function_url_event(method, target, _but(sent, "host"), body)
            reply = instance.invoke(event)
        finally:
            idle.put(instance)
        headers = {
            name: value for name, value in (reply.get("headers") or {}).items() if name != "Set-Cookie"
        }
        if reply.get("cookies"):
            headers["Set-Cookie"] = reply["cookies"]
        return reply["statusCode"], headers, function.body_of(reply)

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


_ERROR_SECONDS = 10
"""How long an error is cached unless the template says otherwise."""
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
