"""Roles of members, each of which permits what the ones before it do, and who made a request."""

from typing import Literal

from backend.foundation.frozen import dataclass

SUBMITTER, RESEARCHER, OWNER = ROLES = ("submitter", "researcher", "owner")


@dataclass(frozen=True)
class Member:
    """A person or program that uses the API."""

    name: str
    role: str
    token_id: str | None = None
    """The token that the request carried; None for the researcher's key, or a proxy's sign-on."""
    expires_at: str | None = None
    """When that token expires."""
    by: Literal["token", "cookie", "proxy"] = "token"
    """What showed who the member is."""

    def may(self, role: str) -> bool:
        """Return whether what needs `role` is permitted."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def may_manage(self, role: str) -> bool:
        """Return whether to add, remove and give tokens to members with `role` is permitted.

        An owner manages everybody, a researcher submitters only.
        """
        return self.role == OWNER or (self.role == RESEARCHER and role == SUBMITTER)
