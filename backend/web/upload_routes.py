"""Routes by which members send archives in parts."""

from typing import Annotated, BinaryIO, Literal, TypedDict, cast

from flask import abort, request
from msgspec import Meta, Struct

from backend.client.file_stream import PART_BYTES
from backend.foundation.errors import NotFound
from backend.members.roles import SUBMITTER
from backend.task.requests import MAX_BODY_BYTES, Whole
from backend.uploads import uploads
from backend.uploads.uploads import MOST_PARTS, MOST_URLS, PartUrl, Upload, Uploads
from backend.web import headers
from backend.web.authorisation import caller
from backend.web.context import Context
from backend.web.proxies import address_of
from backend.web.routing import BYTES, Routes, as_declared

_LONGEST_NUMBER = 5


class UploadBegin(Struct, frozen=True):
    """Request to begin an upload."""

    format: Literal["files", "zip"]
    """`files`: a line `BYTES PATH` for each file, an empty line, and their contents in this order."""
    bytes: Annotated[int, Meta(ge=1)]
    """Length of the archive."""
    parts: Annotated[
        list[Annotated[str, Meta(max_length=8)]],
        Meta(
            max_length=MOST_PARTS,
            description=f"CRC-32 (hex) of each part of {PART_BYTES} bytes, the last of which may be shorter",
        ),
    ]


class UploadState(TypedDict):
    """An upload as it stands."""

    upload: str
    digest: str
    """SHA-256 of the checksums of the parts; hex."""
    state: Literal["receiving", "complete"]
    part_bytes: int
    missing: list[int]
    """Numbers of parts still to be sent, from 0."""
    expires_at: str


class PartsWanted(Struct, frozen=True):
    """Request for the addresses of parts."""

    parts: Annotated[list[Whole], Meta(max_length=MOST_URLS)]


class PartAddress(TypedDict):
    """Where to send a part by PUT."""

    part: int
    url: str
    """A path of this server, or a URL of S3 that expires within an hour."""
    headers: dict[str, str]
    """To be sent with it."""


class PartAddresses(TypedDict):
    """Where to send parts."""

    urls: list[PartAddress]


route = Routes(SUBMITTER)


@route(
    "POST /api/uploads",
    "404 409 413 503",
    status=201,
    also={200: ("It was begun before", UploadState)},
    most_bytes=2 * MAX_BODY_BYTES,
)
def begin_upload(context: Context, begun: UploadBegin) -> tuple[UploadState, int]:
    """Begin an upload, or continue the one of the same content.

    Returns:
        It is begun.
    """
    received, now = _received(context), context.clock()
    received.expire(now)
    upload = received.begin(caller().name, begun.format, begun.bytes, begun.parts, now)
    return _state(upload), 201 if upload.is_new else 200


@route("GET /api/uploads/{upload}")
def upload_state(context: Context, upload: str) -> UploadState:
    """How far an upload of one's own is.

    Returns:
        The upload.
    """
    return _state(_own(context, upload))


@route("POST /api/uploads/{upload}/urls", "409 413 503", is_audited=False)
def part_urls(context: Context, upload: str, wanted: PartsWanted) -> PartAddresses:
    """Where to send parts, at most 32 at a time.

    Returns:
        An address for each.
    """
    _own(context, upload)
    return {"urls": [_address(each) for each in _received(context).urls(upload, wanted.parts)]}


@route("PUT /api/uploads/{upload}/parts/{part}", "400 413 415 503", is_audited=False, media=BYTES)
def send_part(context: Context, upload: str, part: str) -> UploadState:
    """Send a part: in any order, and again where that is not certain.

    Returns:
        The upload.
    """
    if not (part.isascii() and part.isdecimal() and len(part) <= _LONGEST_NUMBER):
        abort(404)
    request.max_content_length = PART_BYTES + 1  # to see that there is no more
    _own(context, upload)
    sent = cast(BinaryIO, request.stream)
    return _state(_received(context).write(upload, int(part), sent, context.clock()))


@route("POST /api/uploads/{upload}/complete", "409 413 503")
def complete_upload(context: Context, upload: str) -> UploadState:
    """Close an upload whose parts are all there; again, it changes nothing.

    Returns:
        The upload.
    """
    _own(context, upload)
    return _state(_received(context).complete(upload, context.clock()))


@route("POST /api/uploads/{upload}/delete", "409 413")
def delete_upload(context: Context, upload: str) -> dict[str, str]:
    """Delete an upload.

    Returns:
        It is deleted.
    """
    _own(context, upload)
    _received(context).delete(upload)
    return {"upload": upload}


def _address(part: PartUrl) -> PartAddress:
    """Return where to send a part; to a path of this server with the member who may."""
    more = {headers.MEMBER: caller().name} if part.url.startswith("/") else {}
    return {"part": part.part, "url": address_of(part.url), "headers": {**part.headers, **more}}


def _received(context: Context) -> Uploads:
    if context.uploads is None:
        raise NotFound("this server does not receive uploads", code="no_uploads")
    return context.uploads


def _own(context: Context, upload: str) -> Upload:
    found = _received(context).upload(upload)
    if found.member != caller().name:
        raise uploads.unknown(upload)
    return found


def _state(upload: Upload) -> UploadState:
    return as_declared(
        UploadState, upload, upload=upload.id, part_bytes=PART_BYTES, missing=[*upload.missing]
    )
