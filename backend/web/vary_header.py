"""What a reply depends on besides its address, so that no cache gives it to somebody else."""

from flask import Response, after_this_request

from backend.web import headers

_OWN = "private, no-cache"


def varies_with(*names: str) -> None:
    """Have the reply to the current request name headers of the request on which it depends."""

    @after_this_request
    def add(reply: Response) -> Response:
        reply.vary.update(names)
        return reply


def varies_with_member() -> None:
    """Say that the reply depends on who is signed in, or whose token was sent."""
    varies_with("Cookie", headers.TOKEN)


def is_of_host() -> None:
    """Say that the reply contains the host that the request named, and no shared cache may have it."""
    varies_with("Host")

    @after_this_request
    def keep_private(reply: Response) -> Response:
        if reply.cache_control.public:
            reply.headers["Cache-Control"] = _OWN
        return reply
