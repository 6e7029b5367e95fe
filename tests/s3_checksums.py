"""S3 that lists the checksums of parts, as AWS does and moto's server does not: a proxy in front of moto."""

import re
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

_NOT_PASSED_ON = frozenset(
    {"connection", "content-length", "date", "expect", "host", "server", "transfer-encoding"}
)


@contextmanager
def listing_checksums(moto: str) -> Iterator[str]:
    """Serve S3 in front of a moto server at the URL `moto`; gives the URL for AWS_ENDPOINT_URL_S3."""
    sent: dict[tuple[str, str], str] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            upload, part = self._asked("uploadId"), self._asked("partNumber")
            if part and (checksum := self.headers["x-amz-checksum-crc32"]):
                sent[upload, part] = checksum
            self._pass_on()

        def do_GET(self) -> None:
            self._pass_on()

        do_POST = do_DELETE = do_HEAD = do_OPTIONS = do_GET  # noqa: N815 - names of the standard library

        def _all(self) -> bytes:
            return self.rfile.read(int(self.headers["Content-Length"] or 0))

        def _chunks(self) -> Iterator[bytes]:
            while length := int(self.rfile.readline(), 16):
                yield self.rfile.read(length)
                self.rfile.readline()
            self.rfile.readline()

        def _asked(self, name: str) -> str:
            return parse_qs(urlsplit(self.path).query).get(name, [""])[0]

        def _pass_on(self) -> None:
            body = b"".join(self._chunks()) if self.headers["Transfer-Encoding"] else self._all()
            headers = {k: v for k, v in self.headers.items() if k.lower() not in _NOT_PASSED_ON}
            headers.setdefault("Content-Type", "application/octet-stream")  # else urllib says it is a form
            asked = urllib.request.Request(f"{moto}{self.path}", body or None, headers, method=self.command)
            try:
                with urllib.request.urlopen(asked, timeout=20) as reply:
                    self._reply(reply.status, reply.headers, reply.read())
            except HTTPError as error:
                with error:
                    self._reply(error.code, error.headers, error.read())

        def _reply(self, status: int, headers: Any, data: bytes) -> None:
            if b"<ListParts" in data:
                data = re.sub(rb"<PartNumber>(\d+)</PartNumber>", self._with_checksum, data)
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in _NOT_PASSED_ON:
                    self.send_header(name, value)
            length = headers["Content-Length"] if self.command == "HEAD" else len(data)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _with_checksum(self, found: re.Match) -> bytes:
            checksum = sent.get((self._asked("uploadId"), found[1].decode()), "")
            return found[0] + f"<ChecksumCRC32>{checksum}</ChecksumCRC32>".encode()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
