"""Routes by which members send archives in parts."""

from dataclasses import asdict
from typing import Annotated, BinaryIO, Literal, TypedDict, cast

from flask import Flask, abort, request
from msgspec import Meta, Struct

from backend.client.tar_stream import PART_BYTES
from backend.foundation.errors import NotFound
from backend.members.roles import SUBMITTER
from backend.task.requests import Whole
from backend.uploads import uploads
from backend.uploads.uploads import MOST_PARTS, MOST_URLS, Upload, Uploads
from backend.web.authorisation import caller
from backend.web.bodies import NoFields, body
from backend.web.body_limits import MAX_LIST_BYTES
from backend.web.context import Context
from backend.web.operations import BYTES, Operation, Operations

_LONGEST_NUMBER = 5


class UploadBegin(Struct, frozen=True):
    """Request to begin an upload."""

    format: Annotated[
        Literal["tar", "zip"],
        Meta(description="`tar`: uncompressed; a folder becomes one on the fly, always the same"),
    ]
    bytes: Annotated[int, Meta(ge=1, description="Length of the archive")]
    parts: Annotated[
        list[Annotated[str, Meta(max_length=64)]],
        Meta(
            max_length=MOST_PARTS,
            description=f"SHA-256 (hex) of each part of {PART_BYTES} bytes, the last of which may be shorter",
        ),
    ]


class UploadState(TypedDict):
    """An upload as it stands."""

    upload: str
    digest: Annotated[str, Meta(description="SHA-256 of the SHA-256 of the parts; hex")]
    state: Literal["receiving", "complete"]
    part_bytes: int
    missing: Annotated[list[int], Meta(description="Numbers of parts still to be sent, from 0")]
    expires_at: str


class PartsWanted(Struct, frozen=True):
    """Request for the addresses of parts."""

    parts: Annotated[list[Whole], Meta(max_length=MOST_URLS)]


class PartAddress(TypedDict):
    """Where to send a part by PUT."""

    part: int
    url: Annotated[str, Meta(description="A path of this server, or a URL of S3 that expires within an hour")]
    headers: Annotated[dict[str, str], Meta(description="To be sent with it")]


class PartAddresses(TypedDict):
    """Where to send parts."""

    urls: list[PartAddress]


_STATE = ("The upload", UploadState)
OPERATIONS: Operations = {
    "POST /api/uploads": Operation(
        "Begin an upload, or continue the one of the same content",
        {200: ("It was begun before", UploadState), 201: ("It is begun", UploadState)},
        "400 403 404 409 413 415 503",
        UploadBegin,
        role=SUBMITTER,
    ),
    "GET /api/uploads/{upload}": Operation(
        "How far an upload of one's own is", {200: _STATE}, "403 404", role=SUBMITTER
    ),
    "POST /api/uploads/{upload}/urls": Operation(
        f"Where to send parts, at most {MOST_URLS} at a time",
        {200: ("An address for each", PartAddresses)},
        "400 403 404 409 413 415 503",
        PartsWanted,
        role=SUBMITTER,
        is_audited=False,
    ),
    "PUT /api/uploads/{upload}/parts/{part}": Operation(
        "Send a part: in any order, and again where that is not certain",
        {200: _STATE},
        "400 403 404 413 415 503",
        role=SUBMITTER,
        is_audited=False,
        media=BYTES,
    ),
    "POST /api/uploads/{upload}/complete": Operation(
        "Close an upload whose parts are all there; again, it changes nothing",
        {200: _STATE},
        "400 403 404 409 413 415 503",
        NoFields,
        role=SUBMITTER,
    ),
    "POST /api/uploads/{upload}/delete": Operation(
        "Delete an upload",
        {200: ("It is deleted", dict[str, str])},
        "400 403 404 409 413 415",
        NoFields,
        role=SUBMITTER,
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes; without a place for uploads, each is answered 404."""

    def received() -> Uploads:
        if context.uploads is None:
            raise NotFound("this server does not receive uploads", code="no_uploads")
        return context.uploads

    def own(upload: str) -> Upload:
        found = received().upload(upload)
        if found.member != caller().name:
            raise uploads.unknown(upload)
        return found

    @app.post("/api/uploads")
    def begin_upload() -> tuple[dict, int]:
        begun, now = body(UploadBegin, MAX_LIST_BYTES), context.clock()
        received().expire(now)
        upload = received().begin(caller().name, begun.format, begun.bytes, begun.parts, now)
        return _state(upload), 201 if upload.is_new else 200

    @app.get("/api/uploads/<upload>")
    def upload_state(upload: str) -> dict:
        return _state(own(upload))

    @app.post("/api/uploads/<upload>/urls")
    def part_urls(upload: str) -> dict:
        wanted = body(PartsWanted)
        own(upload)
        return {"urls": [asdict(each) for each in received().urls(upload, wanted.parts)]}

    @app.put("/api/uploads/<upload>/parts/<part>")
    def send_part(upload: str, part: str) -> dict:
        if not (part.isascii() and part.isdecimal() and len(part) <= _LONGEST_NUMBER):
            abort(404)
        request.max_content_length = PART_BYTES + 1  # to see that there is no more
        own(upload)
        return _state(received().write(upload, int(part), cast(BinaryIO, request.stream), context.clock()))

    @app.post("/api/uploads/<upload>/complete")
    def complete_upload(upload: str) -> dict:
        body(NoFields)
        own(upload)
        return _state(received().complete(upload, context.clock()))

    @app.post("/api/uploads/<upload>/delete")
    def delete_upload(upload: str) -> dict:
        body(NoFields)
        own(upload)
        received().delete(upload)
        return {"upload": upload}


def _state(upload: Upload) -> dict:
    return {
        "upload": upload.id,
        "digest": upload.digest,
        "state": upload.state,
        "part_bytes": PART_BYTES,
        "missing": [*upload.missing],
        "expires_at": upload.expires_at,
    }
