"""Types of the requests and replies about jobs, drafts and the orders of studies."""

from typing import Annotated, Any, ClassVar, Literal, TypedDict

import msgspec
from msgspec import Meta, Struct

Name = Annotated[str, Meta(max_length=300)]
UploadId = Annotated[str, Meta(max_length=64, description="An upload that is complete")]


class Progress(TypedDict):
    """How far a job is."""

    what: str
    done: int
    total: int | None


class JobReply(TypedDict):
    """A job as its member sees it."""

    job: str
    kind: str
    study: str | None
    member: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: Progress | None
    reason: str | None
    """Why it failed."""
    result: dict[str, Any] | None
    """What it gave, or details of a failure, such as the `keys` of the entry at fault; null in lists."""
    created_at: str
    updated_at: str


class Jobs(TypedDict):
    """Jobs, the newest first."""

    jobs: list[JobReply]


class Enqueued(TypedDict):
    """A job was enqueued."""

    job: str
    """A job; `GET /api/jobs/{job}` tells how far it is."""


class ModelPictures(Struct, forbid_unknown_fields=True):
    """A model and the archive of its samples."""

    model: Name
    upload: UploadId


class SetPictures(Struct, forbid_unknown_fields=True):
    """A set of items and its archive."""

    set: Name
    upload: UploadId


class StudyBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """An order of a study: the entries of a study.toml, with uploads in place of folders."""

    allows_lines: ClassVar[bool] = True
    name: Name | None = None
    kind: Name | None = None
    method: Name | None = None
    real: UploadId | None = None
    models: Annotated[list[ModelPictures], Meta(max_length=500)] = []
    items: Annotated[list[SetPictures], Meta(max_length=500)] = []
    practice: UploadId | None = None
    checks: UploadId | None = None
    masks: UploadId | None = None
    settings: dict[str, Any] = {}
    panel: Name | dict[str, Any] | None = None
    """Its name, or a record of a panel."""
    texts: dict[str, Any] = {}
    preprocess: Annotated[list[Name], Meta(max_length=20)] = []
    skip_bad: bool = False
    strict: bool = False
    flat: bool = False
    """Whether sub-folders of a side are ignored, rather than classes."""
    pages: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []


class ModelGiven(Struct, forbid_unknown_fields=True, kw_only=True):
    """A model that joins a study."""

    model: Name
    upload: UploadId
    preprocess: Annotated[list[Name], Meta(max_length=20)] | None = None
    """The losses that its pictures go through; null: those of the study."""
    skip_bad: bool = False
    strict: bool = False


class DraftReply(TypedDict):
    """A draft of an order."""

    draft: str
    updated_at: str
    body: dict[str, Any]


class Duplicate(TypedDict):
    """A draft of a study like another one."""

    draft: str
    lacks: list[str]
    """Pictures, such as `models/gan`, that are not here as they were sent, or that another member sent."""


class Drafts(TypedDict):
    """A member's drafts, by their ids."""

    drafts: list[DraftReply]


def plain(body: StudyBody) -> dict[str, Any]:
    """Return an order as JSON data, without what was not given."""
    data = msgspec.to_builtins(body)
    return {name: value for name, value in data.items() if value not in (None, [], {}, False)}
