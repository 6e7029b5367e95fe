"""Requests and replies of the routes of members, tokens and the audit log."""

from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from msgspec import Meta, Struct

from backend.members.audit_log import AuditEntry
from backend.members.memberships import NAME
from backend.members.roles import ROLES
from backend.members.tokens import LONGEST_DAYS, LONGEST_LABEL

if TYPE_CHECKING:  # a type checker knows no Literal of values that are computed
    Role = str
else:
    Role = Literal[ROLES]
Name = Annotated[
    str,
    Meta(
        pattern=f"^{NAME}$",
        extra={
            "expected": "1 to 64 letters (a-z), digits or . _ @ + -, the first a letter or digit, such as "
            "ada@lab.example"
        },
    ),
]
Days = Annotated[
    int,
    Meta(
        ge=1,
        le=LONGEST_DAYS,
        description="After so many days it expires",
        extra={"expected": f"a whole number from 1 to {LONGEST_DAYS}"},
    ),
]
Secret = Annotated[str, Meta(max_length=300, extra={"expected": "a token", "is_secret": True})]


class SignIn(Struct, frozen=True):
    """Request to set the cookie that stands for a token."""

    token: Secret


class NewMember(Struct, frozen=True):
    """Request to add a member."""

    member: Name
    role: Role


class NewToken(Struct, frozen=True):
    """Request for a token of a member."""

    label: Annotated[str, Meta(max_length=LONGEST_LABEL)] = ""
    """What it is for."""
    days: Days = 365


class Me(TypedDict):
    """Who made the request."""

    member: str
    role: Role
    token: str | None
    """Id; null for the researcher's key and a proxy's sign-in."""
    expires_at: str | None
    by: Literal["token", "cookie", "proxy"]


class SignedIn(TypedDict):
    me: Me | None
    """Null if nobody is signed in."""
    reason: str | None
    """The code for which others are refused then, such as `expired_token`."""


class TokenFacts(TypedDict):
    """A token, without its secret."""

    token: str
    label: str
    created_at: str
    created_by: str
    expires_at: str
    revoked_at: str | None


class IssuedToken(TokenFacts):
    """A token that was just made."""

    secret: str
    """The token's text, which is not stored: shown this once."""


class MemberFacts(TypedDict):
    """A member, or somebody who was one."""

    member: str
    role: Role
    created_at: str | None
    """Null for whoever holds the researcher's key."""
    created_by: str | None
    removed_at: str | None


class MemberLine(MemberFacts):
    """A member with all tokens, also expired and revoked ones."""

    tokens: list[TokenFacts]


class Members(TypedDict):
    """The members whom the caller manages."""

    members: list[MemberLine]


class AuditPage(TypedDict):
    """Entries of the audit log, the latest first."""

    entries: list[AuditEntry]
    next: str | None
    """The `before` of the next page; null if this is the last."""
