"""Replies compressed for clients that accept it, which also fit into what a function may send.

CloudFront compresses only what it may cache (deploy/service.yaml): everything else is compressed here.
"""

import gzip

from flask import Response, request

SMALL_BYTES = 1000
"""Length up to which a reply fits into one packet, so that compressing it saves nothing."""


def compressed(reply: Response) -> Response:
    """Compress the content of a reply, unless it is short or its client does not accept gzip."""
    reply.vary.add("Accept-Encoding")
    if request.accept_encodings["gzip"] > 0 and len(reply.get_data()) > SMALL_BYTES:
        reply.set_data(gzip.compress(reply.get_data(), compresslevel=6, mtime=0))
        reply.headers["Content-Encoding"] = "gzip"
    return reply
